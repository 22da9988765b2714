/* encode.h - numbers out of cells that are none: missing values and texts, by rules that
 * are public and look at one row at a time, so that they cost no privacy.
 *
 * Missing values (an empty cell, NA, NaN, null, and what else bb_scan_spelling has, but
 * `none' in columns of texts, where it is one of them):
 *   error       (default) are refused
 *   drop-rows   their rows are left out
 *   indicator   become 0 (in public ranges the middle: preprocess.h), and a further column
 *               NAME_missing (NAME_missing_2, ..., where another feature has that name) is 1
 *               there and 0 elsewhere; every column has one, or those of
 *               "indicator:NAME,NAME": which do may not depend on the data. Rows without a
 *               target are left out
 * Texts: a JSON file names their columns with all levels, {"city": ["Oslo", "Bergen"]};
 * each level is a column NAME=LEVEL, 1 in rows that have it and 0 elsewhere. A text that
 * is no level has zeros everywhere, and so has a missing value with `indicator`. Levels of
 * the target are the names of classes 0, 1, ...: another text is an error there.
 *
 * Features are the columns of numbers in their order, then those of levels, then those
 * that say what is missing. */
#ifndef BB_DATA_ENCODE_H
#define BB_DATA_ENCODE_H

#include "base/json.h"
#include "data/columns.h"

#include <stdbool.h>

typedef struct bb_levels {
    bb_names name;
    double *number; /* name.count: of those that are numbers; else NAN */
} bb_levels;

typedef struct bb_category {
    size_t column, first; /* of the file; its first level's feature */
    bb_levels level;
} bb_category;

typedef struct bb_encoding {
    bool drop; /* rows with a missing value are left out */
    size_t categories;
    bb_category *category;
    bb_levels classes; /* what the target's texts are; none: it is a number */
    size_t
        *indicator; /* columns: 1 + the feature that says it is missing, or 0; NULL */
    size_t binary;  /* so many last features are levels and indicators */
} bb_encoding;

/* The levels of texts, {"column": ["level", ...], ...}: a file's name, or the object
 * itself. BB_EDATA; to be freed with json_decref. Beside columns there may be the text
 * "source": "data" where nobody has said yet that they are public, else "public". */
BB_MUST_CHECK bb_status bb_levels_read(json_t **out, const char *categories);
bool bb_levels_from_data(const json_t *levels);
/* The levels of the target, which are the names of classes: a list, or NULL. */
const json_t *bb_levels_classes(const json_t *levels, const bb_read_options *options);
/* Of rows that are numbers already: the names of the target's classes and nothing else.
 * BB_EUSAGE, BB_EDATA. NULL: BB_OK. */
BB_MUST_CHECK bb_status bb_levels_only_classes(const char *categories,
                                               const bb_read_options *options);
/* BB_EUSAGE where they are such a draft, for whoever cannot pass on that they are: `what', for
 * the message. BB_EDATA. NULL: BB_OK. */
BB_MUST_CHECK bb_status bb_levels_public(const char *categories, const char *what);

/* Reads options->missing and ->categories, and gives *columns its features: names, and
 * the role of columns with levels. BB_EUSAGE for an unknown rule, BB_EDATA for a file
 * that is no such object, or names that are not there or not different. */
BB_MUST_CHECK bb_status bb_encoding_open(bb_encoding *encoding, const char *path,
                                         const bb_names *header,
                                         const bb_read_options *options,
                                         bb_columns *columns);
/* A row begins: x (columns->features) gets its zeros. */
void bb_encoding_begin(const bb_encoding *encoding, const bb_columns *columns,
                       double *x);
/* Which level a cell is: by its text, else, where both are numbers, by those, as "4.0" is
 * "4". SIZE_MAX: none of them. */
size_t bb_levels_find(const bb_levels *levels, const char *text, size_t length);
/* The levels of a column, NULL if it has none. */
const bb_category *bb_encoding_category(const bb_encoding *encoding, size_t column);
/* Notes a level; false: the text is none. */
bool bb_encoding_level(const bb_encoding *encoding, size_t column, const char *text,
                       size_t length, double *x);
/* Notes a missing value; false: the column has no indicator. */
bool bb_encoding_missing(const bb_encoding *encoding, size_t column, double *x);
/* Whether options->missing makes columns that say where others are missing. */
bool bb_encoding_indicates(const char *missing);
/* How many last ones of features that are called so (count) are levels and indicators, of a
 * table of which nothing else is known. BB_EDATA. */
BB_MUST_CHECK bb_status bb_encoding_binary(const bb_read_options *options, size_t count,
                                           char *const *feature, size_t *binary);
/* How many first characters of a feature's name are that of the column of which it says where
 * it is missing, 0: it is not called so; of those that are made so alone (bb_dataset.binary). */
size_t bb_encoding_tells_of(const char *name);
/* Takes a zeroed one, too. */
void bb_encoding_close(bb_encoding *encoding);

/* The character that an option names: "," (or NULL), ";", "tab". BB_EUSAGE. */
BB_MUST_CHECK bb_status bb_csv_separator(const char *option, char *separator);

#endif
