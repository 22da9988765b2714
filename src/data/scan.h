/* scan.h - decimal numbers out of a text buffer, fast and correctly rounded. */
#ifndef BB_DATA_SCAN_H
#define BB_DATA_SCAN_H

#include <endian.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Powers of ten that a long double of 64 bits holds exactly. */
enum { BB_SCAN_POWERS = 28 };
extern const long double bb_scan_power[BB_SCAN_POWERS];
/* Those that a double holds, and minus those. */
enum { BB_SCAN_TENS = 23 };
extern const double bb_scan_ten[2][BB_SCAN_TENS];

/* mantissa * 10^exponent when it can be rounded correctly in one step; false otherwise.
 *
 * Clinger 1990: below 2^53 and 10^22 both factors are exact, and one rounding follows.
 * Where a long double has 64 bits, it is so below 2^64 and 10^27, too, with a second
 * rounding to 53 bits; the two agree unless the first ended exactly in the middle
 * between two doubles. */
static inline bool bb_scan_scale(uint64_t mantissa, int exponent, double *out) {
    const int size = exponent < 0 ? -exponent : exponent;
    if (mantissa <= (uint64_t)1 << DBL_MANT_DIG && size < BB_SCAN_TENS) {
        const double power = bb_scan_ten[0][size];
        *out = exponent < 0 ? (double)mantissa / power : (double)mantissa * power;
        return true;
    }
    if (LDBL_MANT_DIG != 64 || size >= BB_SCAN_POWERS) return false;
    const long double power = bb_scan_power[size];
    const long double value =
        exponent < 0 ? (long double)mantissa / power : (long double)mantissa * power;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7ff) == 0x400) return false;
    *out = (double)value;
    return true;
}

enum { BB_SCAN_BEHIND = 8 }; /* bytes that may be read from the end of a text on */

/* Eight bytes, the first one lowest, digits as their values. */
static inline uint64_t bb_scan_word(const char *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return le64toh(v) ^ 0x3030303030303030;
}

/* The number that eight digits are, whose neighbours are put together three times. */
static inline uint64_t bb_scan_value(uint64_t v) {
    v = 10 * v + (v >> 8);
    v = (v & 0x000000ff000000ff) * 0x000f424000000064 +
        ((v >> 16) & 0x000000ff000000ff) * 0x0000271000000001;
    return v >> 32;
}

/* The value of up to eight digits at p, and how many there are, without a branch for
 * each. */
static inline unsigned bb_scan_digits(const char *p, uint64_t *value) {
    const uint64_t v = bb_scan_word(p);
    const uint64_t other =
        ((v + 0x0606060606060606) | v) & UINT64_C(0xf0f0f0f0f0f0f0f0);
    const unsigned count = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
    *value = count ? bb_scan_value(v << 8 * (8 - count)) : 0;
    return count;
}

/* Reads [+-]digits[.digits][e[+-]digits] at *at, moves *at behind it and returns true
 * if that could be done fast; otherwise nothing is said about what is there. Stops at a
 * 0, with BB_SCAN_BEHIND readable bytes from there on. */
static inline bool bb_scan_number(const char **at, double *out) {
    const char *p = *at;
    const bool negative = *p == '-';
    if (negative || *p == '+') p++;
    uint64_t mantissa = 0;
    const char *const start = p;
    for (unsigned digit; (digit = (unsigned)*p - '0') < 10; p++)
        mantissa = 10 * mantissa + digit;
    long digits = p - start, exponent = 0;
    if (*p == '.') {
        static const uint32_t power[] = {1,      10,      100,      1000,     10000,
                                         100000, 1000000, 10000000, 100000000};
        const char *const point = ++p;
        uint64_t more;
        unsigned count;
        do {
            count = bb_scan_digits(p, &more);
            mantissa = power[count] * mantissa + more;
            p += count;
        } while (count == 8);
        exponent = point - p;
        digits -= exponent;
    }
    if (digits < 1 || digits > 19) return false; /* 10^19 < 2^64 */
    if (*p == 'e' || *p == 'E') {
        p++;
        const bool down = *p == '-';
        if (down || *p == '+') p++;
        unsigned power = (unsigned)*p - '0';
        if (power > 9) return false;
        p++;
        for (unsigned digit; power < 1000 && (digit = (unsigned)*p - '0') < 10; p++)
            power = 10 * power + digit;
        exponent += down ? -(long)power : (long)power;
    }
    if (exponent < -BB_SCAN_POWERS || exponent > BB_SCAN_POWERS) return false;
    double value;
    if (!bb_scan_scale(mantissa, (int)exponent, &value)) return false;
    *out = negative ? -value : value;
    *at = p;
    return true;
}

enum { BB_SCAN_BEFORE = 8 }; /* bytes that bb_scan_field may read before a cell */

/* The same for all of a cell, from .. to - 1. */
bool bb_scan_whole(const char *from, const char *to, double *out);

/* What bb_scan_whole does. Up to eight digits, and a point among them, take no branch for
 * each and no loop, and nothing of one cell waits for the one before: a processor has
 * several of them in work at once. */
static inline bool bb_scan_field(const char *from, const char *to, double *out) {
    const bool negative = *from == '-';
    const char *const first = from + negative;
    const size_t length = (size_t)(to - first);
    if (length - 1 >= 9) return bb_scan_whole(from, to, out);
    uint64_t digits = bb_scan_word(first);
    const uint64_t x = digits ^ 0x1e1e1e1e1e1e1e1e; /* 0 where the point is */
    const uint64_t points =
        (x - 0x0101010101010101) & ~x & UINT64_C(0x8080808080808080);
    const size_t whole = (size_t)__builtin_ctzll(points | UINT64_C(1) << 63) / 8;
    size_t behind = 0;
    if (points && whole < length) {
        behind = length - whole - 1;
        if (length == 1 || behind > 7) return bb_scan_whole(from, to, out);
        const uint64_t last = bb_scan_word(to - 8) & ~(~UINT64_C(0) >> 8 * behind);
        digits = last | (digits << 8 * (7 - whole) << 8 >> 8 * behind);
    } else {
        if (length == 9) return bb_scan_whole(from, to, out);
        digits <<= 8 * (8 - length);
    }
    const uint64_t other = (digits + 0x7676767676767676) | digits;
    if (other & UINT64_C(0x8080808080808080)) return bb_scan_whole(from, to, out);
    *out = (double)(int64_t)bb_scan_value(digits) / bb_scan_ten[negative][behind];
    return true;
}

/* What a cell of a table says. */
typedef enum bb_cell {
    BB_CELL_NUMBER,
    BB_CELL_MISSING,  /* empty, NA, NaN, ... */
    BB_CELL_INFINITE, /* inf, or too large for a double */
    BB_CELL_TEXT
} bb_cell;

/* How a missing value may be spelt, in capitals or not. Among texts `none' is one of them: it
 * is missing in columns of numbers alone. */
enum { BB_SCAN_NONE = 6, BB_SCAN_SPELLINGS = 9 };
extern const char *const bb_scan_spelling[BB_SCAN_SPELLINGS];
/* Which of these a cell between spaces is; BB_SCAN_SPELLINGS: another text. */
size_t bb_scan_missing(const char *text, size_t length);

/* Any number or other text, between spaces; *out is NAN unless it is a number. */
bb_cell bb_scan_cell(const char *text, size_t length, double *out);
/* A number with commas, 1,5 or 1.234,5 or 1,234,567.8; a date, 2012-08-01 with perhaps a time. */
bool bb_scan_comma(const char *text, size_t length);
bool bb_scan_date(const char *text, size_t length);
/* yes or true, which is 1, and no or false, 0, in capitals or not; false: another text. */
bool bb_scan_truth(const char *text, size_t length, double *out);

#endif
