/* options.h - one table of options drives flags, the JSON config file, --help, the
 * documentation, and the resolved options that results embed. */
#ifndef BB_BASE_OPTIONS_H
#define BB_BASE_OPTIONS_H

#include "base/status.h"

#include <jansson.h>

#include <stddef.h>

typedef enum bb_option_kind {
    BB_OPTION_REAL,   /* double; in [least, most] */
    BB_OPTION_AUTO,   /* double, or the word "auto", kept as NaN */
    BB_OPTION_COUNT,  /* uint64_t in [least, most] */
    BB_OPTION_FLAG,   /* bool; "true", "false", and as a flag without value true */
    BB_OPTION_CHOICE, /* int: the index in `choices`, "first|second|third" */
    BB_OPTION_TEXT    /* char *, owned by the struct; NULL when not given */
} bb_option_kind;

/* One option: where it lives in its struct, its default and range, and its words. A
 * real range is closed; `most` = INFINITY and `least` = -INFINITY are allowed. */
typedef struct bb_option {
    const char *name; /* "tolerance" */
    bb_option_kind kind;
    size_t offset;        /* offsetof(struct, field) */
    const char *fallback; /* default, as text; NULL for a text that is not given */
    double least, most;
    const char *choices;  /* CHOICE only */
    const char *argument; /* what --help calls the value, with its unit: "EPSILON" */
    const char *help;     /* one sentence */
} bb_option;

typedef struct bb_options {
    const bb_option *row;
    size_t count;
} bb_options;

/* Fills every field from the table's fallbacks, which every option but a text must
 * have. The struct must be zeroed. */
BB_MUST_CHECK bb_status bb_options_default(bb_options table, void *values);

/* What the option expects, in words: "a number in [0, 1]". Cut to `size` bytes. */
void bb_option_expects(const bb_option *option, char *words, size_t size);

/* Sets one option from text. BB_EUSAGE with one precise message (name, expected, found)
 * for an unknown name, a bad value, or a value out of range; then nothing changes.
 * Numbers are strict decimals (base/number.h). A NULL text is a flag without value.
 * `what` names the owner in messages: "train", "mp-lowrank". */
BB_MUST_CHECK bb_status bb_options_set(bb_options table, void *values, const char *what,
                                       const char *name, const char *text);

/* Sets every member of a JSON object (numbers, booleans and strings; null for a text
 * that is not given). All are checked before any is set: BB_EUSAGE changes nothing. */
BB_MUST_CHECK bb_status bb_options_set_json(bb_options table, void *values,
                                            const char *what, const json_t *object);

/* The resolved options as a new JSON object, in table order, which bb_options_set_json
 * takes back; NULL when out of memory (or a text is not UTF-8). */
json_t *bb_options_json(bb_options table, const void *values);

/* Frees the texts. */
void bb_options_free(bb_options table, void *values);

#endif
