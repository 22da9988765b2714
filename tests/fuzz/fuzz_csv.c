#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    target_read(data, size, (bb_read_options){.format = BB_FORMAT_CSV});
    target_read(data, size,
                (bb_read_options){.format = BB_FORMAT_CSV, .multilabel = true});
    target_read(data, size,
                (bb_read_options){
                    .format = BB_FORMAT_CSV, .separator = ";", .missing = "indicator"});
    target_read(data, size,
                (bb_read_options){.format = BB_FORMAT_CSV,
                                  .separator = "tab",
                                  .missing = "drop-rows"});
    return 0;
}
