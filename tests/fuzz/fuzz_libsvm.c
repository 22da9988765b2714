#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    target_read(data, size, (bb_read_options){.format = BB_FORMAT_LIBSVM});
    target_read(data, size,
                (bb_read_options){.format = BB_FORMAT_LIBSVM, .multilabel = true});
    return 0;
}
