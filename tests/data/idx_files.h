/* idx_files.h - files in the IDX format, byte by byte. */
#ifndef BB_TESTS_DATA_IDX_FILES_H
#define BB_TESTS_DATA_IDX_FILES_H

#include "data/numpy_files.h"

/* An array of one of the types "|u1", "|i1", ">i2", ">i4", ">f4", ">f8". */
static inline void idx(blob *b, const char *type, size_t rank, const size_t *size,
                       const double *number, size_t n) {
    static const char *const known[] = {"|u1", "|i1", "", ">i2", ">i4", ">f4", ">f8"};
    unsigned char bytes[1024];
    unsigned char code = 8;
    while (strcmp(known[code - 8], type) != 0) code++;
    b->size = 0;
    blob_add(b, (unsigned char[]){0, 0, code, (unsigned char)rank}, 4);
    for (size_t i = 0; i < rank; i++)
        for (int shift = 24; shift >= 0; shift -= 8)
            blob_word(b, size[i] >> shift & 0xff, 1);
    assert_true(8 * n <= sizeof bytes);
    blob_add(b, bytes, encode(bytes, type, number, n));
}

static inline void write_idx(const char *name, const char *type, size_t rank,
                             const size_t *size, const double *number, size_t n) {
    static blob b;
    idx(&b, type, rank, size, number, n);
    write_bytes(name, b.bytes, b.size);
}

#endif
