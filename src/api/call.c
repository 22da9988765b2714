#include "api/call.h"

#include "base/json.h"
#include "base/memory.h"
#include "linalg/linalg.h"

#include <stdlib.h>
#include <string.h>

const char *billboard_version(void) {
    return BB_VERSION;
}

int billboard_abi(void) {
    return BILLBOARD_ABI;
}

const char *billboard_error(void) {
    return bb_last_error();
}

billboard_status billboard_own_process(void) {
    return (billboard_status)bb_status_exit_code(bb_linalg_start());
}

bb_status bb_call_begin(bb_call *call, bool blas) {
    *call = (bb_call){0};
    /* glibc's "C" locale is static: nothing is allocated, and it need not be freed */
    const locale_t points = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!points) return bb_fail(BB_ENOMEM, "no memory for a locale");
    call->before = uselocale(points);
    const bb_status status = blas ? bb_linalg_borrow() : BB_OK;
    call->blas = blas && !status;
    return status;
}

billboard_status bb_call_end(bb_call *call, bb_status status) {
    if (call->blas) bb_linalg_return();
    if (call->before) {
        const locale_t points = uselocale(call->before);
        freelocale(points);
    }
    return (billboard_status)bb_status_exit_code(status);
}

bb_status bb_call_given(const void *argument, const char *function, const char *name) {
    return argument ? BB_OK : bb_fail(BB_EUSAGE, "%s: %s is NULL", function, name);
}

/* What the caller of `name` thinks that its struct has. */
static bb_status size_of(const void *given, const char *name, size_t *theirs) {
    const bb_status status = bb_call_given(given, name, "the struct");
    if (status) return status;
    memcpy(theirs, given, sizeof *theirs);
    if (*theirs >= sizeof *theirs) return BB_OK;
    return bb_fail(BB_EUSAGE, "%s: struct_size is %zu: set it to sizeof (%s)", name,
                   *theirs, name);
}

bb_status bb_call_struct(void *own, size_t size, const void *given, const char *name) {
    size_t theirs;
    const bb_status status = size_of(given, name, &theirs);
    if (status) return status;
    for (size_t k = size; k < theirs; k++)
        if (((const char *)given)[k])
            return bb_fail(BB_EUSAGE,
                           "%s: has %zu bytes, of which this library (%s) knows %zu, "
                           "and the others are not 0",
                           name, theirs, BB_VERSION, size);
    memset(own, 0, size);
    memcpy(own, given, theirs < size ? theirs : size);
    return BB_OK;
}

bb_status bb_call_give(void *given, const void *own, size_t size, const char *name) {
    size_t theirs;
    const bb_status status = size_of(given, name, &theirs);
    if (status) return status;
    if (theirs > size) memset((char *)given + size, 0, theirs - size);
    memcpy((char *)given + sizeof theirs, (const char *)own + sizeof theirs,
           (theirs < size ? theirs : size) - sizeof theirs);
    return BB_OK;
}

bb_status bb_call_options(bb_options table, void *values, const char *what,
                          const billboard_option *option, size_t options) {
    bb_status status = options ? bb_call_given(option, what, "the options") : BB_OK;
    for (size_t k = 0; k < options && !status; k++) {
        status = bb_call_given(option[k].name, what, "an option's name");
        if (!status)
            status =
                bb_options_set(table, values, what, option[k].name, option[k].value);
    }
    return status;
}

bb_status bb_watch_take(billboard_watch *own, const billboard_watch *watch) {
    *own = (billboard_watch){.struct_size = sizeof *own};
    return watch ? bb_call_struct(own, sizeof *own, watch, "billboard_watch") : BB_OK;
}

void bb_watch_say(const billboard_watch *watch, const char *what, uint32_t done,
                  uint32_t all) {
    if (watch->progress) watch->progress(watch->self, what, done, all);
}

bb_status bb_watch_progress(const billboard_watch *watch, const char *what,
                            uint32_t done, uint32_t all) {
    bb_watch_say(watch, what, done, all);
    return watch->stop && *watch->stop ? bb_fail(BB_EINTERRUPTED, "interrupted")
                                       : BB_OK;
}

bb_status bb_words_open(bb_words *words) {
    *words = (bb_words){0};
    words->stream = open_memstream(&words->text, &words->size);
    return words->stream ? BB_OK : bb_fail(BB_ENOMEM, "no memory for a text");
}

bb_status bb_words_close(bb_words *words, char **text) {
    const bool broken = ferror(words->stream);
    if (fclose(words->stream) || broken) {
        free(words->text);
        return bb_fail(BB_ENOMEM, "no memory for a text");
    }
    *text = words->text;
    return BB_OK;
}

void bb_json_append(json_t **list, json_t *item) {
    if (json_array_append_new(*list, item)) {
        json_decref(*list);
        *list = NULL;
    }
}
