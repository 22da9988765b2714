/* LEAF's JSON: what is read is JSON for another parser, too. */
#include "base/json.h"
#include "target.h"

static void require_json(const uint8_t *data, size_t size) {
    json_error_t error;
    json_t *const json =
        json_loadb((const char *)data, size, JSON_DECODE_INT_AS_REAL, &error);
    target_require(json != NULL || error.line < 0 /* no memory */);
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const bool packed = size > 1 && data[0] == 0x1f && data[1] == 0x8b;
    if (target_read(data, size, (bb_read_options){.format = BB_FORMAT_LEAF}) && !packed)
        require_json(data, size);
    return 0;
}
