#define BB_KERNEL       bb_kernel_avx2
#define BB_KERNEL_BYTES 32
#include "linalg/kernel_body.h"
