#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_digits(const char *text) {
    while (*text >= '0' && *text <= '9') text++;
    return text;
}

static const char *skip_sign(const char *text) {
    return *text == '+' || *text == '-' ? text + 1 : text;
}

static bool is_decimal(const char *text) {
    const char *start = skip_sign(text), *at = skip_digits(start);
    ptrdiff_t digits = at - start;
    if (*at == '.') {
        const char *const after = skip_digits(++at);
        digits += after - at;
        at = after;
    }
    if (digits == 0) return false;
    if (*at == 'e' || *at == 'E') {
        start = skip_sign(at + 1);
        at = skip_digits(start);
        if (at == start) return false;
    }
    return *at == '\0';
}

bool bb_number_real(const char *text, double *out) {
    if (!is_decimal(text)) return false;
    /* strtod's decimal point is the locale's; glibc's "C" locale is static */
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) return false;
    const locale_t before = uselocale(c_locale);
    const double value = strtod(text, NULL);
    uselocale(before);
    freelocale(c_locale);
    if (!isfinite(value)) return false;
    *out = value;
    return true;
}

bool bb_number_count(const char *text, uint64_t *out) {
    uint64_t value = 0;
    if (*text == '\0' || *skip_digits(text) != '\0') return false;
    for (; *text; text++) {
        const uint64_t digit = (uint64_t)(*text - '0');
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = 10 * value + digit;
    }
    *out = value;
    return true;
}

/* -- writing -- */

__extension__ typedef unsigned __int128 wide;

enum { DIGITS = 17, MOST_POWER = 27 };
static const uint64_t ten_to_16 = 10000000000000000, ten_to_17 = 100000000000000000;
static const uint64_t five_to[MOST_POWER + 1] = {1,
                                                 5,
                                                 25,
                                                 125,
                                                 625,
                                                 3125,
                                                 15625,
                                                 78125,
                                                 390625,
                                                 1953125,
                                                 9765625,
                                                 48828125,
                                                 244140625,
                                                 1220703125,
                                                 6103515625,
                                                 30517578125,
                                                 152587890625,
                                                 762939453125,
                                                 3814697265625,
                                                 19073486328125,
                                                 95367431640625,
                                                 476837158203125,
                                                 2384185791015625,
                                                 11920928955078125,
                                                 59604644775390625,
                                                 298023223876953125,
                                                 1490116119384765625,
                                                 7450580596923828125};

/* mantissa * 2^two * 10^ten, whole, and whether what is cut off rounds it up: exactly, as
 * 53 bits times 5^27 are 116. */
static uint64_t scale(uint64_t mantissa, int two, int ten, bool *up) {
    const wide product = (wide)mantissa * five_to[ten];
    const int down = -(two + ten);
    *up = false;
    if (down <= 0) return (uint64_t)(product << -down);
    const uint64_t whole = (uint64_t)(product >> down);
    const wide rest = product - ((wide)whole << down), half = (wide)1 << (down - 1);
    *up = rest > half || (rest == half && whole % 2 == 1);
    return whole;
}

/* The 17 digits of a value from 1e-10 to 1e17, and the power of ten of the first one. */
static uint64_t digits_of(double value, int *power) {
    uint64_t bits;
    bool up;
    memcpy(&bits, &value, sizeof bits);
    const int two = (int)(bits >> 52) - 1075;
    const uint64_t one = (uint64_t)1 << 52, mantissa = (bits & (one - 1)) | one;
    /* of 2^(two + 52), which is it, or one less */
    *power = (int)floor((two + 52) * 0.30102999566398120);
    uint64_t whole = scale(mantissa, two, DIGITS - 1 - *power, &up);
    if (whole >= ten_to_17) {
        ++*power;
        whole = scale(mantissa, two, DIGITS - 1 - *power, &up);
    }
    whole += up;
    if (whole < ten_to_17) return whole;
    ++*power;
    return ten_to_16;
}

size_t bb_number_write(double value, char text[BB_NUMBER_BYTES]) {
    const double size = fabs(value);
    char digit[DIGITS], *to = text;
    int power, kept = DIGITS;
    if (!(size >= 1e-10 && size < 1e17))
        return (size_t)snprintf(text, BB_NUMBER_BYTES, "%.17g", value);
    uint64_t left = digits_of(size, &power);
    for (int k = DIGITS; k-- > 0; left /= 10) digit[k] = (char)('0' + left % 10);
    while (kept > 1 && digit[kept - 1] == '0') kept--;
    int before = power < -4 ? 1 : power + 1; /* digits before the point */
    if (value < 0) *to++ = '-';
    if (before <= 0) {
        memcpy(to, "0.0000", (size_t)(2 - before));
        to += 2 - before;
        before = kept;
    }
    for (int k = 0; k < kept || k < before; k++) {
        if (k == before) *to++ = '.';
        *to++ = k < kept ? digit[k] : '0';
    }
    if (power < -4) {
        memcpy(to, "e-", 2);
        to[2] = (char)('0' - power / 10);
        to[3] = (char)('0' - power % 10);
        to += 4;
    }
    *to = '\0';
    return (size_t)(to - text);
}
