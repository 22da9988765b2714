/* call.h - inside the room: what every function of billboard.h does at its beginning and
 * its end, so that nothing of a call is seen in its process. */
#ifndef BB_API_CALL_H
#define BB_API_CALL_H

#define BILLBOARD_EXPERIMENTAL /* all of billboard.h */

#include "base/options.h"
#include "base/status.h"

#include <jansson.h>

#include <billboard/billboard.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct bb_call {
    locale_t before; /* of this thread; (locale_t)0: it was not changed */
    bool blas;
} bb_call;

/* Numbers have points during the call, on this thread, whatever the host's locale is;
 * `blas`: BLAS has one thread. Goes with bb_call_end, also after a failure. */
BB_MUST_CHECK bb_status bb_call_begin(bb_call *call, bool blas);
/* Puts everything back; returns the public status. */
billboard_status bb_call_end(bb_call *call, bb_status status);

/* BB_EUSAGE that says that an argument of this function is NULL, or BB_OK. */
BB_MUST_CHECK bb_status bb_call_given(const void *argument, const char *function,
                                      const char *name);
/* Copies a struct of the caller's, whose first member is its size, into one of `size`
 * bytes here: what it does not have is 0. BB_EUSAGE if its size cannot be one. */
BB_MUST_CHECK bb_status bb_call_struct(void *own, size_t size, const void *given,
                                       const char *name);
/* And back: as much as the caller's has. */
BB_MUST_CHECK bb_status bb_call_give(void *given, const void *own, size_t size,
                                     const char *name);

/* Sets options from names and values, in their order; `what` names the place in messages.
 * BB_EUSAGE as bb_options_set. */
BB_MUST_CHECK bb_status bb_call_options(bb_options table, void *values,
                                        const char *what,
                                        const billboard_option *option, size_t options);

/* A copy of a caller's watch; NULL gives one that is silent. */
BB_MUST_CHECK bb_status bb_watch_take(billboard_watch *own,
                                      const billboard_watch *watch);
void bb_watch_say(const billboard_watch *watch, const char *what, uint32_t done,
                  uint32_t all);
/* The same; BB_EINTERRUPTED if it wants to stop. */
BB_MUST_CHECK bb_status bb_watch_progress(const billboard_watch *watch,
                                          const char *what, uint32_t done,
                                          uint32_t all);

/* An answer, which takes the JSON over, also on failure; NULL is BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_answer_open(billboard_answer **out, json_t *json);

/* A text that is written to a stream. */
typedef struct bb_words {
    FILE *stream;
    char *text;
    size_t size;
} bb_words;
BB_MUST_CHECK bb_status bb_words_open(bb_words *words);
/* The text, to be freed with free(). Closes the stream; BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_words_close(bb_words *words, char **text);

/* Appends to a list, which becomes NULL when memory runs out (and stays NULL). */
void bb_json_append(json_t **list, json_t *item);

#endif
