/* names.h - a list of different names, found by name in constant time. */
#ifndef BB_DATA_NAMES_H
#define BB_DATA_NAMES_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bb_names {
    size_t count;
    char *text; /* all names, each with a zero behind it */
    size_t used, text_capacity;
    size_t *start; /* where each name begins in text */
    size_t start_capacity;
    uint32_t *slot; /* hash table: index + 1, 0 when free */
    size_t slots;   /* power of two, at most half of them used */
} bb_names;

/* A text as a number. */
uint64_t bb_names_hash(const char *text, size_t length);
/* The index of a name, or SIZE_MAX. */
size_t bb_names_find(const bb_names *names, const char *text, size_t length);
/* Adds a name unless it is there; *index is its place either way. At most 2^32 - 2. */
BB_MUST_CHECK bb_status bb_names_add(bb_names *names, const char *text, size_t length,
                                     size_t *index);
/* The same of several. */
BB_MUST_CHECK bb_status bb_names_add_all(bb_names *names, size_t count,
                                         char *const *name);
/* Valid until the next bb_names_add. */
const char *bb_names_at(const bb_names *names, size_t index);
/* Takes a zeroed list, too. */
void bb_names_free(bb_names *names);

/* The order of names everywhere: numbers in them by size (strverscmp). */
int bb_names_compare(const char *a, const char *b);

/* A copy as one block: `count` pointers and the strings behind them; free with free().
 */
BB_MUST_CHECK bb_status bb_names_copy(char ***out, size_t count, char *const *name);
BB_MUST_CHECK bb_status bb_names_list(char ***out, const bb_names *names);
/* The names prefix1, prefix2, ... in such a block. */
BB_MUST_CHECK bb_status bb_names_count(char ***out, size_t count, const char *prefix);

/* Splits "a,b,c" into names, without blanks around them; one with a comma is in quotes, as in
 * CSV: a,"b, or ""B""",c. BB_EUSAGE for an empty or doubled one; `option` is what the list is
 * called in the message. NULL gives an empty list. */
BB_MUST_CHECK bb_status bb_names_parse(bb_names *names, const char *list,
                                       const char *option);
/* Adds a name to such a list (NULL: an empty one), in quotes where it needs them; free with
 * free(). */
BB_MUST_CHECK bb_status bb_names_append(char **list, const char *name);

/* Is this whole text UTF-8 (as JSON output needs it)? */
bool bb_is_utf8(const char *text, size_t length);
/* One character as UTF-8; its length, 0 if there is no such character. */
size_t bb_utf8_encode(uint64_t character, char text[4]);

/* What nobody sees at the ends of a name or number: a space, a tab, the end of a line. */
bool bb_is_blank(char c);
/* Leaves out blanks at both ends. */
void bb_trim(const char **text, size_t *length);

/* Whether names are the same but for blanks at their ends. */
bool bb_names_trimmed_are_same(const char *a, const char *b);
/* Whether a shell takes a text for one word as it is, without quotes. */
bool bb_is_word(const char *text);

/* The number that a name is, of those that are told apart as doubles. */
bool bb_names_number(const char *name, double *value);

/* A cell's text for a message: quoted, cut after some characters, control characters
 * and what is not UTF-8 shown as '?'. */
enum { BB_SHOWN_BYTES = 64, BB_ALIKE_BYTES = 192 };
const char *bb_shown(char buffer[BB_SHOWN_BYTES], const char *text, size_t length);
/* `; "OTHER" is one, which differs ...' for the end of a message on `name', which is none of
 * these: the first of them that looks the same, but for blanks at its ends, the way a number is
 * written ("1.0" for "1") or the normal form of Unicode; "" where none does. is: "is one", "has
 * one". A guess: of letters that only one of them has in parts (an e and an accent) it does not
 * know which they make together. */
const char *bb_names_alike(char buffer[BB_ALIKE_BYTES], const bb_names *names,
                           const char *name, const char *is);
/* "a", "b", "c", ... for a message that says what there is: as many as `size` bytes hold. */
void bb_names_show(const bb_names *names, char *text, size_t size);

#endif
