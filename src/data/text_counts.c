#include "data/text_counts.h"

#include "data/names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bb_text_counts_add(size_t columns, bb_text_count *to, const bb_text_count *from) {
    for (size_t k = 0; k < columns; k++) {
        const bool both = to[k].unknown && from[k].unknown;
        to[k].differ |= from[k].differ | (both && to[k].other != from[k].other);
        if (from[k].unknown) to[k].other = from[k].other;
        to[k].texts += from[k].texts;
        to[k].unknown += from[k].unknown;
    }
}

void bb_text_counts_join(bb_text_counts *to, bb_text_counts *from) {
    if (to->columns == 0) {
        *to = *from;
        *from = (bb_text_counts){0};
        return;
    }
    if (from->columns == to->columns)
        bb_text_counts_add(to->columns, to->count, from->count);
    bb_text_counts_close(from);
}

void bb_text_counts_close(bb_text_counts *c) {
    free(c->name);
    free(c->count);
    *c = (bb_text_counts){0};
}

/* Whose other one needs no name. */
static bool is_one_of_two(const bb_text_count *c) {
    return c->levels == 1 && !c->differ;
}

bb_status bb_text_counts_say(const bb_text_counts *c, json_t **out) {
    json_t *list = json_array();
    bool failed = !list;
    for (size_t k = 0; k < c->columns; k++) {
        char shown[BB_SHOWN_BYTES], text[BB_SHOWN_BYTES + 120];
        const size_t unknown = c->count[k].unknown, texts = c->count[k].texts;
        if (!unknown || is_one_of_two(&c->count[k])) continue;
        snprintf(
            text, sizeof text,
            "column %s: %zu of %zu text%s %s no level of it, so %s zeros everywhere",
            bb_shown(shown, c->name[k], strlen(c->name[k])), unknown, texts,
            bb_plural((double)texts), unknown == 1 ? "is" : "are",
            unknown == 1 ? "it is" : "they are");
        failed = failed || json_array_append_new(list, json_string(text));
    }
    if (failed) {
        json_decref(list);
        return bb_fail(BB_ENOMEM, "no memory for what texts are no level");
    }
    *out = list;
    return BB_OK;
}
