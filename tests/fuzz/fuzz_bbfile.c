/* Billboard's own files. Bytes that begin with their magic are one as it is. Any others are
 * two bytes, low end first, that say how long the footer's JSON is, that JSON, and what
 * follows the first page; header and checksums are made to fit, so that what stands behind
 * them is looked at, too. */
#include "target.h"

#include <jansson.h>
#include <zlib.h>

enum { PAGE = 4096, BLOCK = 1 << 24, HEADER = 64 };

static uint32_t sum(const unsigned char *at, size_t bytes) {
    return (uint32_t)crc32_z(0, at, bytes);
}

static void put(unsigned char *at, uint64_t word, size_t bytes) {
    for (size_t k = 0; k < bytes; k++) at[k] = (unsigned char)(word >> 8 * k);
}

static void fix_sums(json_t *about, const unsigned char *file, size_t size) {
    const char *name;
    json_t *section;
    json_object_foreach(json_object_get(about, "sections"), name, section) {
        const size_t at = (size_t)json_integer_value(json_object_get(section, "at"));
        const size_t bytes =
            (size_t)json_integer_value(json_object_get(section, "bytes"));
        json_t *list = json_array();
        if (at <= size && bytes <= size - at && bytes)
            json_array_append_new(list,
                                  json_integer((json_int_t)sum(file + at, bytes)));
        json_object_set_new(section, "crc32", list);
    }
}

static void made(const uint8_t *data, size_t size) {
    size_t length = (size_t)data[0] | (size_t)data[1] << 8;
    if (length > size - 2) length = size - 2;
    json_t *about = json_loadb((const char *)data + 2, length, 0, NULL);
    const size_t body = size - 2 - length, at = PAGE + body;
    unsigned char *file = calloc(1, at);
    target_require(file);
    memcpy(file + PAGE, data + 2 + length, body);
    if (about) fix_sums(about, file, at);
    char *text = about ? json_dumps(about, 0) : NULL;
    const size_t footer = text ? strlen(text) : 0;
    file = realloc(file, at + footer + 1);
    target_require(file);
    if (text) memcpy(file + at, text, footer);
    memcpy(file,
           "\x89"
           "BBD\r\n\x1a\n",
           8);
    put(file + 8, 1, 4);
    put(file + 16, at, 8);
    put(file + 24, footer, 8);
    put(file + 32, sum(file + at, footer), 4);
    put(file + 36, sum(file, 36), 4);
    target_read(file, at + footer,
                (bb_read_options){.format = BB_FORMAT_BB,
                                  .multilabel = size % 3 == 0,
                                  .threads = 1,
                                  .memory = size % 2 ? 16 : 0});
    free(text);
    free(file);
    json_decref(about);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    if (data[0] == 0x89)
        target_read(data, size,
                    (bb_read_options){.format = BB_FORMAT_BB, .threads = 1});
    else
        made(data, size);
    return 0;
}
