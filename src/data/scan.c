#include "data/scan.h"

#include "base/number.h"
#include "data/names.h"

#include <stddef.h>
#include <stdlib.h>
#include <strings.h>

const long double bb_scan_power[BB_SCAN_POWERS] = {
    1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
    1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
    1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};

const double bb_scan_ten[2][BB_SCAN_TENS] = {
    {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22},
    {-1e0,  -1e1,  -1e2,  -1e3,  -1e4,  -1e5,  -1e6,  -1e7,  -1e8,  -1e9,  -1e10, -1e11,
     -1e12, -1e13, -1e14, -1e15, -1e16, -1e17, -1e18, -1e19, -1e20, -1e21, -1e22}};

bool bb_scan_whole(const char *from, const char *to, double *out) {
    double value;
    if (!bb_scan_number(&from, &value) || from != to) return false;
    *out = value;
    return true;
}

enum { LONGEST_NUMBER = 1023 };

const char *const bb_scan_spelling[BB_SCAN_SPELLINGS] = {
    "", "NA", "N/A", "NaN", "-NaN", "null", "none", "?", "."};

size_t bb_scan_missing(const char *text, size_t length) {
    size_t k = 0;
    bb_trim(&text, &length);
    while (k < BB_SCAN_SPELLINGS &&
           (strlen(bb_scan_spelling[k]) != length ||
            strncasecmp(text, bb_scan_spelling[k], length) != 0))
        k++;
    return k;
}

static bool is_infinite(const char *text) {
    static const char *const word[] = {"inf",      "+inf",      "-inf",
                                       "infinity", "+infinity", "-infinity"};
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (strcasecmp(text, word[i]) == 0) return true;
    return false;
}

bb_cell bb_scan_cell(const char *text, size_t length, double *out) {
    char word[LONGEST_NUMBER + 1];
    *out = NAN;
    bb_trim(&text, &length);
    if (length > LONGEST_NUMBER || (length && memchr(text, '\0', length)))
        return BB_CELL_TEXT;
    memcpy(word, text, length);
    word[length] = '\0';
    if (bb_number_real(word, out)) return BB_CELL_NUMBER;
    if (bb_scan_missing(text, length) < BB_SCAN_SPELLINGS) return BB_CELL_MISSING;
    if (is_infinite(word)) return BB_CELL_INFINITE;
    /* digits that bb_number_real does not take are too many: 1e999 */
    const bool decimal = strspn(word, "+-0123456789.eE") == length;
    char *end;
    return decimal && isinf(strtod(word, &end)) && *end == '\0' ? BB_CELL_INFINITE
                                                                : BB_CELL_TEXT;
}

bool bb_scan_truth(const char *text, size_t length, double *out) {
    static const char *const word[] = {"no", "yes", "false", "true"};
    bb_trim(&text, &length);
    for (size_t k = 0; k < sizeof word / sizeof *word; k++)
        if (strlen(word[k]) == length && strncasecmp(text, word[k], length) == 0) {
            *out = k % 2 ? 1.0 : 0.0;
            return true;
        }
    return false;
}

bool bb_scan_comma(const char *text, size_t length) {
    bb_trim(&text, &length);
    if (length && (*text == '-' || *text == '+')) text++, length--;
    size_t commas = 0, k = 0;
    for (; k < length; k++) {
        const bool digit = text[k] >= '0' && text[k] <= '9';
        const bool comma = text[k] == ',', point = text[k] == '.';
        const bool between = k > 0 && k + 1 < length;
        if (!digit && !((comma || point) && between)) return false;
        commas += comma;
    }
    return commas > 0;
}

bool bb_scan_date(const char *text, size_t length) {
    static const char form[] = "0000-00-00";
    const size_t size = sizeof form - 1;
    bb_trim(&text, &length);
    if (length < size || (length > size && text[size] != ' ' && text[size] != 'T'))
        return false;
    for (size_t k = 0; k < size; k++) {
        const bool digit = text[k] >= '0' && text[k] <= '9';
        if (form[k] == '0' ? !digit : text[k] != form[k]) return false;
    }
    return true;
}
