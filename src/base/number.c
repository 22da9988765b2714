#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

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
