#include "base/options.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_BYTES = 512, NAME_MOST = 40 };

/* A parsed value of any kind; a text stays a text. */
typedef union value {
    double real;
    uint64_t count;
    bool flag;
    int choice;
} value;

static void *field(const bb_option *option, void *values) {
    return (char *)values + option->offset;
}

static const void *const_field(const bb_option *option, const void *values) {
    return (const char *)values + option->offset;
}

static const bb_option *find(bb_options table, const char *name) {
    for (size_t i = 0; i < table.count; i++)
        if (strcmp(table.row[i].name, name) == 0) return table.row + i;
    return NULL;
}

/* The length of the choice at `choices`, up to the next bar. */
static size_t choice_length(const char *choices) {
    return strcspn(choices, "|");
}

static bool parse_choice(const char *choices, const char *text, int *out) {
    const size_t length = strlen(text);
    for (int i = 0;; i++) {
        const size_t n = choice_length(choices);
        if (n == length && memcmp(choices, text, n) == 0) {
            *out = i;
            return true;
        }
        if (choices[n] == '\0') return false;
        choices += n + 1;
    }
}

static bool parse_flag(const char *text, bool *out) {
    const bool yes = strcmp(text, "true") == 0;
    if (!yes && strcmp(text, "false") != 0) return false;
    *out = yes;
    return true;
}

static bool in_range(const bb_option *option, double number) {
    return number >= option->least && number <= option->most;
}

static bool parse(const bb_option *option, const char *text, value *out) {
    switch (option->kind) {
    case BB_OPTION_AUTO:
        if (strcmp(text, "auto") == 0) {
            out->real = NAN;
            return true;
        }
        return bb_number_real(text, &out->real) && in_range(option, out->real);
    case BB_OPTION_REAL:
        return bb_number_real(text, &out->real) && in_range(option, out->real);
    case BB_OPTION_COUNT:
        return bb_number_count(text, &out->count) &&
               in_range(option, (double)out->count);
    case BB_OPTION_FLAG:
        return parse_flag(text, &out->flag);
    case BB_OPTION_CHOICE:
        return parse_choice(option->choices, text, &out->choice);
    case BB_OPTION_TEXT:
        return true;
    }
    return false;
}

void bb_option_expects(const bb_option *option, char *words, size_t size) {
    switch (option->kind) {
    case BB_OPTION_REAL:
        snprintf(words, size, "a number in [%g, %g]", option->least, option->most);
        return;
    case BB_OPTION_AUTO:
        snprintf(words, size, "a number in [%g, %g] or \"auto\"", option->least,
                 option->most);
        return;
    case BB_OPTION_COUNT:
        snprintf(words, size, "a whole number in [%.0f, %.0f]", option->least,
                 option->most);
        return;
    case BB_OPTION_FLAG:
        snprintf(words, size, "true or false");
        return;
    case BB_OPTION_CHOICE:
        snprintf(words, size, "one of %s", option->choices);
        return;
    case BB_OPTION_TEXT:
        snprintf(words, size, "a text");
        return;
    }
}

static bb_status store(const bb_option *option, void *values, value parsed,
                       const char *text) {
    void *const to = field(option, values);
    char *copy = NULL, *old;
    switch (option->kind) {
    case BB_OPTION_REAL:
    case BB_OPTION_AUTO:
        memcpy(to, &parsed.real, sizeof parsed.real);
        return BB_OK;
    case BB_OPTION_COUNT:
        memcpy(to, &parsed.count, sizeof parsed.count);
        return BB_OK;
    case BB_OPTION_FLAG:
        memcpy(to, &parsed.flag, sizeof parsed.flag);
        return BB_OK;
    case BB_OPTION_CHOICE:
        memcpy(to, &parsed.choice, sizeof parsed.choice);
        return BB_OK;
    case BB_OPTION_TEXT:
        break;
    }
    if (text) {
        const bb_status status = bb_duplicate(&copy, text, strlen(text));
        if (status) return status;
    }
    memcpy(&old, to, sizeof old);
    free(old);
    memcpy(to, &copy, sizeof copy);
    return BB_OK;
}

/* Parses `text` for the option; stores it unless `values` is NULL. */
static bb_status set_row(const bb_option *option, void *values, const char *what,
                         const char *text) {
    char words[WORDS_BYTES];
    value parsed = {0};
    if (!text && option->kind == BB_OPTION_FLAG) text = "true";
    if (text && parse(option, text, &parsed))
        return values ? store(option, values, parsed, text) : BB_OK;
    bb_option_expects(option, words, sizeof words);
    if (!text)
        return bb_fail(BB_EUSAGE, "%s: option \"%s\" expects %s, got nothing", what,
                       option->name, words);
    return bb_fail(BB_EUSAGE, "%s: option \"%s\" expects %s, got \"%s\"", what,
                   option->name, words, text);
}

/* How many letters have to be put in, left out or changed to get from a to b (Levenshtein
 * 1966), if names are not too long; a change of case counts, too. */
static size_t distance(const char *a, const char *b) {
    size_t row[NAME_MOST + 1];
    const size_t n = strlen(a), m = strlen(b);
    if (n > NAME_MOST || m > NAME_MOST) return SIZE_MAX;
    for (size_t j = 0; j <= m; j++) row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t change = corner + (a[i - 1] != b[j - 1]);
            const size_t add = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            corner = row[j];
            row[j] = change < add ? change : add;
        }
    }
    return row[m];
}

/* The name that may have been meant: at most a third of its letters are wrong; or NULL. */
static const char *nearest(bb_options table, const char *name) {
    const char *best = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < table.count; i++) {
        const char *known = table.row[i].name;
        const size_t far = distance(name, known);
        if (far >= least || far > (strlen(known) + 2) / 3) continue;
        least = far;
        best = known;
    }
    return best;
}

static bb_status unknown(bb_options table, const char *what, const char *name) {
    char known[WORDS_BYTES] = "", meant[NAME_MOST + 24] = "";
    size_t used = 0;
    const char *near = nearest(table, name);
    for (size_t i = 0; i < table.count && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s",
                                 i ? ", " : "", table.row[i].name);
    if (!table.count)
        return bb_fail(BB_EUSAGE, "%s: unknown option \"%s\"; there are none", what,
                       name);
    if (near) snprintf(meant, sizeof meant, "; the nearest is %s", near);
    return bb_fail(BB_EUSAGE, "%s: unknown option \"%s\"%s; known are %s", what, name,
                   meant, known);
}

bb_status bb_options_default(bb_options table, void *values) {
    bb_status status = BB_OK;
    for (size_t i = 0; i < table.count && !status; i++) {
        const bb_option *const option = &table.row[i];
        assert(option->fallback || option->kind == BB_OPTION_TEXT);
        if (!option->fallback)
            status = store(option, values, (value){0}, NULL);
        else
            status = set_row(option, values, "default", option->fallback);
    }
    return status;
}

bb_status bb_options_set(bb_options table, void *values, const char *what,
                         const char *name, const char *text) {
    assert(values);
    const bb_option *const option = find(table, name);
    if (!option) return unknown(table, what, name);
    return set_row(option, values, what, text);
}

/* One member; its value goes the way of the text that a flag would give. */
static bb_status set_member(const bb_option *option, void *values, const char *what,
                            const json_t *member) {
    if (json_is_string(member))
        return set_row(option, values, what, json_string_value(member));
    if (json_is_null(member) && option->kind == BB_OPTION_TEXT && !option->fallback)
        return values ? store(option, values, (value){0}, NULL) : BB_OK;
    char *const text = bb_json_text(member, 0);
    if (!text)
        return bb_fail(BB_ENOMEM, "%s: no memory for option \"%s\"", what,
                       option->name);
    bb_status status;
    if (option->kind == BB_OPTION_TEXT)
        status = bb_fail(BB_EUSAGE, "%s: option \"%s\" expects a text, got %s", what,
                         option->name, text);
    else
        status = set_row(option, values, what, text);
    free(text);
    return status;
}

bb_status bb_options_set_json(bb_options table, void *values, const char *what,
                              const json_t *object) {
    if (!json_is_object(object))
        return bb_fail(BB_EUSAGE, "%s: options must be a JSON object", what);
    /* first everything is checked, then everything is set */
    for (int pass = 0; pass < 2; pass++) {
        void *const to = pass ? values : NULL;
        const char *name;
        json_t *member;
        json_object_foreach((json_t *)(uintptr_t)object, name, member) {
            const bb_option *const option = find(table, name);
            const bb_status status = option ? set_member(option, to, what, member)
                                            : unknown(table, what, name);
            if (status) return status;
        }
    }
    return BB_OK;
}

static json_t *count_json(uint64_t count) {
    if (count <= INT64_MAX) return json_integer((json_int_t)count);
    char digits[24]; /* JSON integers end at 2^63 - 1 here: larger ones are texts */
    snprintf(digits, sizeof digits, "%" PRIu64, count);
    return json_string(digits);
}

static json_t *choice_json(const char *choices, int index) {
    for (; index > 0; index--) choices += choice_length(choices) + 1;
    return json_stringn(choices, choice_length(choices));
}

static json_t *field_json(const bb_option *option, const void *values) {
    const void *const from = const_field(option, values);
    value kept = {0};
    char *text;
    switch (option->kind) {
    case BB_OPTION_REAL:
    case BB_OPTION_AUTO:
        memcpy(&kept.real, from, sizeof kept.real);
        return isnan(kept.real) ? json_string("auto") : json_real(kept.real);
    case BB_OPTION_COUNT:
        memcpy(&kept.count, from, sizeof kept.count);
        return count_json(kept.count);
    case BB_OPTION_FLAG:
        memcpy(&kept.flag, from, sizeof kept.flag);
        return json_boolean(kept.flag);
    case BB_OPTION_CHOICE:
        memcpy(&kept.choice, from, sizeof kept.choice);
        return choice_json(option->choices, kept.choice);
    case BB_OPTION_TEXT:
        memcpy(&text, from, sizeof text);
        return text ? json_string(text) : json_null();
    }
    return NULL;
}

json_t *bb_options_json(bb_options table, const void *values) {
    json_t *const object = json_object();
    for (size_t i = 0; object && i < table.count; i++) {
        const bb_option *const option = &table.row[i];
        /* json_object_set_new takes NULL for a failure */
        if (json_object_set_new(object, option->name, field_json(option, values))) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

void bb_options_free(bb_options table, void *values) {
    for (size_t i = 0; i < table.count; i++)
        if (table.row[i].kind == BB_OPTION_TEXT) {
            char *old, *none = NULL;
            memcpy(&old, field(&table.row[i], values), sizeof old);
            free(old);
            memcpy(field(&table.row[i], values), &none, sizeof none);
        }
}
