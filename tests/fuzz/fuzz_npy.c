/* .npz archives, and .npy tables with the task in column 0 and the target in column 1.
 */
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const bool archive = size > 1 && data[0] == 'P';
    target_read(data, size,
                (bb_read_options){.format = BB_FORMAT_NPY,
                                  .task = archive ? NULL : "0",
                                  .target = archive ? NULL : "1"});
    return 0;
}
