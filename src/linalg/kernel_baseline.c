#define BB_KERNEL       bb_kernel_baseline
#define BB_KERNEL_BYTES 16
#include "linalg/kernel_body.h"
