#include "linalg/kernel.h"

static int has_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd");
}

static int has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

const bb_kernel *bb_kernel_pick(void) {
    if (has_avx512()) return &bb_kernel_avx512;
    if (has_avx2()) return &bb_kernel_avx2;
    return &bb_kernel_baseline;
}

const char *const *bb_kernel_cores(void) {
    static const char *const avx512[] = {"SkylakeX", "Cooperlake", "Sapphirerapids",
                                         NULL};
    static const char *const avx2[] = {"Haswell", "Zen", NULL};
    if (has_avx512()) return avx512;
    if (has_avx2()) return avx2;
    return NULL;
}
