#define BB_KERNEL       bb_kernel_avx512
#define BB_KERNEL_BYTES 64
#include "linalg/kernel_body.h"
