/* pull.h - JSON (RFC 8259) out of a text, value by value, without keeping it.
 *
 * Whatever is wrong gives BB_EDATA with file, line and column (in bytes, from 1), what
 * was expected and what was found. */
#ifndef BB_DATA_PULL_H
#define BB_DATA_PULL_H

#include "data/text.h"

typedef struct bb_pull_parser {
    bb_text *text;
    size_t column; /* bytes of the line before `at` */
    size_t depth;  /* brackets that are open */
    char *string;  /* what bb_pull_string read last, as UTF-8 */
    size_t length, room;
    const void *reader; /* for `place` */
    /* Says in a few words what is being read, for messages; "" or " (user ...)". */
    void (*place)(const void *reader, char *text, size_t size);
} bb_pull_parser;

/* The next value's or bracket's first character, 0 where the text ends. */
BB_MUST_CHECK bb_status bb_pull_peek(bb_pull_parser *pull, char *next);
/* Takes the bracket '[' or '{'. */
BB_MUST_CHECK bb_status bb_pull_open(bb_pull_parser *pull, char bracket);
/* Is there one more item after the first `items` ones? Takes the comma before it, or
 * the bracket that closes. */
BB_MUST_CHECK bb_status bb_pull_more(bb_pull_parser *pull, char bracket, size_t items,
                                     bool *more);
/* Takes a string; no zero bytes inside, one behind it. */
BB_MUST_CHECK bb_status bb_pull_string(bb_pull_parser *pull);
/* Takes a member's name, as a string, and the colon. */
BB_MUST_CHECK bb_status bb_pull_key(bb_pull_parser *pull);
BB_MUST_CHECK bb_status bb_pull_number(bb_pull_parser *pull, double *value);
/* A number, or null as NAN. */
BB_MUST_CHECK bb_status bb_pull_number_or_null(bb_pull_parser *pull, double *value);
/* Takes any value and forgets it. */
BB_MUST_CHECK bb_status bb_pull_skip(bb_pull_parser *pull);
/* Nothing but spaces is left. */
BB_MUST_CHECK bb_status bb_pull_end(bb_pull_parser *pull);
/* Frees the string; the text stays open. */
void bb_pull_close(bb_pull_parser *pull);

#endif
