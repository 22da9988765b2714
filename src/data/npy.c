/* npy.c - NumPy's .npy format, versions 1 to 3 (NEP 1). */
#include "data/npy.h"

#include "data/names.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEADER_MOST = 4096 };

static bb_status bad_header(const char *name, const char *what) {
    return bb_fail(BB_EDATA, "%s: %s", name, what);
}

/* What follows 'key': in the header's Python dictionary. */
static const char *value_of(const char *header, const char *key) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s':", key);
    const char *at = strstr(header, quoted);
    if (!at) return NULL;
    at += strlen(quoted);
    while (*at == ' ') at++;
    return at;
}

/* A tuple "(3, 4)", "(3,)": one or two sizes. */
static bool parse_shape(const char *at, bb_npy *array) {
    size_t size[2] = {1, 1}, rank = 0;
    if (!at || *at++ != '(') return false;
    while (*at != ')') {
        size_t value = 0;
        if (rank == 2 || *at < '0' || *at > '9') return false;
        for (; *at >= '0' && *at <= '9'; at++) {
            if (value > SIZE_MAX / 16) return false;
            value = 10 * value + (size_t)(*at - '0');
        }
        size[rank++] = value;
        if (*at == ',') at++;
        while (*at == ' ') at++;
    }
    array->rank = rank;
    array->rows = size[0];
    array->columns = size[1];
    return rank > 0;
}

/* A type such as '<f8', '|u1', '>i4', '<U12'. */
static bool parse_type(const char *at, bb_npy *array) {
    if (!at || *at++ != '\'' || !*at || !strchr("<>|=", *at)) return false;
    array->big_endian = *at++ == '>';
    array->kind = *at++;
    size_t digits = 0;
    for (array->width = 0; *at >= '0' && *at <= '9' && digits < 6; at++, digits++)
        array->width = 10 * array->width + (size_t)(*at - '0');
    if (*at != '\'') return false;
    const size_t w = array->width;
    switch (array->kind) {
    case 'f':
        return w == 4 || w == 8;
    case 'i':
    case 'u':
        return w == 1 || w == 2 || w == 4 || w == 8;
    case 'b':
        return w == 1;
    case 'U':
        array->width = 4 * w;
        return w > 0;
    case 'S':
        return w > 0;
    default:
        return false;
    }
}

static bb_status parse_header(bb_npy *array, const char *name, const char *header) {
    const char *const order = value_of(header, "fortran_order");
    if (!order || (strncmp(order, "True", 4) != 0 && strncmp(order, "False", 5) != 0))
        return bad_header(name, "the header of the NumPy array is damaged");
    array->fortran = *order == 'T';
    const char *const type = value_of(header, "descr");
    if (!parse_type(type, array)) {
        char shown[BB_SHOWN_BYTES];
        return bb_fail(BB_EDATA,
                       "%s: expected an array of numbers (f4 f8 i1..i8 u1..u8 bool), "
                       "found type %s",
                       name,
                       type ? bb_shown(shown, type, strcspn(type, ",}")) : "none");
    }
    if (!parse_shape(value_of(header, "shape"), array))
        return bad_header(name, "expected an array of one or two dimensions");
    return BB_OK;
}

bb_status bb_npy_open(bb_npy *array, const char *name, const unsigned char *bytes,
                      size_t size) {
    bb_npy a = {0};
    if (size < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return bad_header(name, "this is no NumPy array");
    const size_t begin = bytes[6] == 1 ? 10 : 12;
    size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (begin == 12) length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (bytes[6] < 1 || bytes[6] > 3 || length >= HEADER_MOST || size - begin < length)
        return bad_header(name, "the header of the NumPy array is damaged");
    char header[HEADER_MOST];
    memcpy(header, bytes + begin, length);
    header[length] = '\0';
    bb_status status = parse_header(&a, name, header);
    if (status) return status;
    const size_t left = size - begin - length;
    if (a.rows && a.columns && (a.rows > left / a.width / a.columns))
        return bb_fail(BB_EDATA,
                       "%s: cut off: %zu x %zu elements of %zu bytes are promised, %zu "
                       "bytes are there",
                       name, a.rows, a.columns, a.width, left);
    a.data = bytes + begin + length;
    *array = a;
    return BB_OK;
}

/* The bytes of a number as an integer, first byte least. */
static uint64_t bits_at(const bb_npy *a, const unsigned char *at) {
    uint64_t bits = 0;
    for (size_t i = 0; i < a->width; i++)
        bits = bits << 8 | at[a->big_endian ? i : a->width - 1 - i];
    return bits;
}

static const unsigned char *element(const bb_npy *a, size_t row, size_t column) {
    const size_t at = a->fortran ? column * a->rows + row : row * a->columns + column;
    return a->data + at * a->width;
}

static int64_t signed_of(const bb_npy *a, uint64_t bits) {
    assert(a->width >= 1 && a->width <= 8);
    const uint64_t sign = (uint64_t)1 << (8 * a->width - 1);
    return (int64_t)((bits ^ sign) - sign);
}

double bb_npy_number(const bb_npy *a, size_t row, size_t column) {
    const uint64_t bits = bits_at(a, element(a, row, column));
    if (a->kind == 'i') return (double)signed_of(a, bits);
    if (a->kind != 'f') return (double)bits;
    if (a->width == 4) {
        const uint32_t half = (uint32_t)bits;
        float number;
        memcpy(&number, &half, sizeof number);
        return (double)number;
    }
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static size_t unicode_text(const bb_npy *a, const unsigned char *at, char *text,
                           size_t size) {
    const bb_npy character = {.width = 4, .big_endian = a->big_endian};
    size_t used = 0, count = a->width / 4;
    while (count && bits_at(&character, at + 4 * (count - 1)) == 0) count--;
    for (size_t i = 0; i < count; i++) {
        char one[4];
        const size_t n = bb_utf8_encode(bits_at(&character, at + 4 * i), one);
        if (n == 0 || used + n > size || one[0] == '\0') return SIZE_MAX;
        memcpy(text + used, one, n);
        used += n;
    }
    return used;
}

size_t bb_npy_text(const bb_npy *a, size_t row, size_t column, char *text,
                   size_t size) {
    const unsigned char *const at = element(a, row, column);
    char digits[40];
    int length = -1;
    if (a->kind == 'U') return unicode_text(a, at, text, size);
    if (a->kind == 'S') {
        size_t count = a->width;
        while (count && at[count - 1] == 0) count--;
        if (count > size || (count && memchr(at, 0, count)) ||
            !bb_is_utf8((const char *)at, count))
            return SIZE_MAX;
        memcpy(text, at, count);
        return count;
    }
    if (a->kind == 'f') {
        const double value = bb_npy_number(a, row, column);
        if (isfinite(value)) length = snprintf(digits, sizeof digits, "%.17g", value);
    } else if (a->kind == 'i') {
        length = snprintf(digits, sizeof digits, "%lld",
                          (long long)signed_of(a, bits_at(a, at)));
    } else {
        length =
            snprintf(digits, sizeof digits, "%llu", (unsigned long long)bits_at(a, at));
    }
    if (length < 0 || (size_t)length > size) return SIZE_MAX;
    memcpy(text, digits, (size_t)length);
    return (size_t)length;
}
