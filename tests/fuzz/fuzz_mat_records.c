/* What the child process of the MATLAB reader tells its parent, were it gone mad. */
#include "data/mat.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bb_dataset out = {0};
    if (size == 0) return 0;
    FILE *const pipe = fmemopen((void *)(uintptr_t)data, size, "rb");
    target_require(pipe != NULL);
    const bool missing = data[size - 1] % 2;
    if (bb_mat_parent(pipe, "t.mat", "X", "Y", missing, &out) == BB_OK) {
        target_check(&out, missing);
        bb_dataset_free(&out);
    }
    fclose(pipe);
    return 0;
}
