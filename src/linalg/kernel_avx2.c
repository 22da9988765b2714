#define BB_KERNEL bb_kernel_avx2
#include "linalg/kernel_body.h"
