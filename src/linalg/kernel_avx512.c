#define BB_KERNEL bb_kernel_avx512
#include "linalg/kernel_body.h"
