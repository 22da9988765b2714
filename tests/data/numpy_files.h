/* numpy_files.h - .npy and .npz files, byte by byte. */
#ifndef BB_TESTS_DATA_NUMPY_FILES_H
#define BB_TESTS_DATA_NUMPY_FILES_H

#include "data/files.h"

typedef struct blob {
    unsigned char bytes[1 << 16];
    size_t size;
} blob;

static inline void blob_add(blob *b, const void *bytes, size_t size) {
    assert_true(b->size + size <= sizeof b->bytes);
    memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
}

static inline void blob_word(blob *b, unsigned long value, size_t width) {
    for (size_t i = 0; i < width; i++) {
        const unsigned char byte = (unsigned char)(value >> 8 * i);
        blob_add(b, &byte, 1);
    }
}

/* A .npy file of format version 1 or 2. */
static inline void npy(blob *b, int version, const char *type, const char *order,
                       const char *shape, const void *data, size_t size) {
    char header[256];
    const int length = snprintf(header, sizeof header,
                                "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n",
                                type, order, shape);
    b->size = 0;
    blob_add(b, "\x93NUMPY", 6);
    blob_word(b, (unsigned long)version, 2);
    blob_word(b, (unsigned long)length, version == 1 ? 2 : 4);
    blob_add(b, header, (size_t)length);
    blob_add(b, data, size);
}

/* The n numbers as elements of a type, in either byte order. */
static inline size_t encode(unsigned char *out, const char *type, const double *number,
                            size_t n) {
    const size_t width = (size_t)(type[2] - '0');
    for (size_t i = 0; i < n; i++) {
        unsigned char bytes[8] = {0};
        if (type[1] == 'f' && width == 4)
            memcpy(bytes, &(float){(float)number[i]}, 4);
        else if (type[1] == 'f')
            memcpy(bytes, &number[i], 8);
        else if (type[1] == 'i')
            memcpy(bytes, &(int64_t){(int64_t)number[i]},
                   8); /* little-endian machine */
        else
            memcpy(bytes, &(uint64_t){(uint64_t)number[i]}, 8);
        for (size_t k = 0; k < width; k++)
            out[i * width + k] = bytes[type[0] == '>' ? width - 1 - k : k];
    }
    return n * width;
}

/* A .npy of numbers. */
static inline void npy_numbers(blob *b, const char *type, const char *order,
                               const char *shape, const double *number, size_t n) {
    unsigned char bytes[1024];
    assert_true(8 * n <= sizeof bytes);
    npy(b, 1, type, order, shape, bytes, encode(bytes, type, number, n));
}

/* A ZIP archive in the making: members, then the directory. */
typedef struct zip {
    blob file, directory;
    unsigned long members;
} zip;

static inline void zip_add(zip *z, const char *name, const blob *member,
                           bool deflated) {
    static unsigned char packed[1 << 17];
    size_t size = member->size;
    memcpy(packed, member->bytes, size);
    if (deflated) {
        z_stream s = {0};
        assert_int_equal(deflateInit2(&s, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY),
                         Z_OK);
        s.next_in = (unsigned char *)(uintptr_t)member->bytes;
        s.avail_in = (unsigned)member->size;
        s.next_out = packed;
        s.avail_out = sizeof packed;
        assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
        size = s.total_out;
        deflateEnd(&s);
    }
    const unsigned long sum = crc32(0, member->bytes, (unsigned)member->size);
    const unsigned long where = z->file.size;
    const size_t length = strlen(name);
    blob_add(&z->file, "PK\3\4\x14\0\0\0", 8);
    blob_add(&z->directory, "PK\1\2\x14\3\x14\0\0\0", 10);
    for (int both = 0; both < 2; both++) {
        blob *const b = both ? &z->directory : &z->file;
        blob_word(b, deflated ? 8 : 0, 2);
        blob_word(b, 0, 4); /* date */
        blob_word(b, sum, 4);
        blob_word(b, size, 4);
        blob_word(b, member->size, 4);
        blob_word(b, length, 2);
    }
    blob_word(&z->file, 20, 2); /* as NumPy does: room for a 64-bit size */
    blob_add(&z->file, name, length);
    blob_add(&z->file, "\1\0\x10\0aaaaaaaabbbbbbbb", 20);
    blob_add(&z->file, packed, size);
    blob_add(&z->directory, "\0\0\0\0\0\0\0\0\0\0\0", 12);
    blob_word(&z->directory, where, 4);
    blob_add(&z->directory, name, length);
    z->members++;
}

static inline void zip_write(const zip *z, const char *path, blob *whole) {
    *whole = z->file;
    blob_add(whole, z->directory.bytes, z->directory.size);
    blob_add(whole, "PK\5\6\0\0\0\0", 8);
    blob_word(whole, z->members, 2);
    blob_word(whole, z->members, 2);
    blob_word(whole, z->directory.size, 4);
    blob_word(whole, z->file.size, 4);
    blob_word(whole, 0, 2);
    write_bytes(path, whole->bytes, whole->size);
}

#endif
