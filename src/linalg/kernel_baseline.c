#define BB_KERNEL bb_kernel_baseline
#include "linalg/kernel_body.h"
