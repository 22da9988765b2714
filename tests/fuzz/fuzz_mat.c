/* Whole files, which libmatio reads in a child process: whatever happens there, the
 * parent has a data set or a message. */
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    target_read(data, size, (bb_read_options){.format = BB_FORMAT_MAT});
    return 0;
}
