/* A file of arrays: whatever the bytes, it is refused with a message, or everything
 * that its header says can be read. */
#include "base/safetensors.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition) abort();
}

static void read_all(const bb_safetensors *file, size_t size) {
    static const char *const types[] = {"F64", "I64", "F32", "U32"};
    const char *name;
    json_t *entry;
    uint64_t bytes = 0;
    json_object_foreach(file->header, name, entry) {
        bb_tensor t = {.name = name};
        size_t type = 0, count = 1;
        if (strcmp(name, "__metadata__") == 0) continue;
        const json_t *shape = json_object_get(entry, "shape");
        const char *said = json_string_value(json_object_get(entry, "dtype"));
        while (strcmp(said, types[type]) != 0) type++;
        t.type = (bb_dtype)type;
        t.dimensions = json_array_size(shape);
        for (size_t k = 0; k < t.dimensions; k++) {
            t.shape[k] = (size_t)json_integer_value(json_array_get(shape, k));
            count *= t.shape[k];
        }
        count *= type < 2 ? 8 : 4;
        require(count <= size);
        void *const value = malloc(count ? count : 1);
        require(value && bb_safetensors_read(file, &t, value) == BB_OK);
        free(value);
        bytes += count;
    }
    require(file->data + bytes == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    bb_safetensors file = {0};
    FILE *const written = tmpfile();
    require(written && fwrite(data, 1, size, written) == size && !fflush(written));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(written));
    if (bb_safetensors_open(&file, path) == BB_OK)
        read_all(&file, size);
    else
        require(strlen(bb_last_error()) > 0 && !file.header);
    bb_safetensors_close(&file);
    fclose(written);
    return 0;
}
