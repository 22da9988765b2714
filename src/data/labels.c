#include "data/labels.h"

#include <stdio.h>

static size_t end_of(const bb_read_options *options) {
    return options->outputs ? options->outputs : BB_MOST_CLASSES;
}

/* The label that fills the whole of a list's part. */
static bool parse_label(const char *text, size_t length, size_t end, uint32_t *label) {
    size_t value = 0;
    if (length == 0) return false;
    for (size_t k = 0; k < length; k++) {
        if (text[k] < '0' || text[k] > '9') return false;
        value = 10 * value + (size_t)(text[k] - '0');
        if (value >= end) return false;
    }
    *label = (uint32_t)value;
    return true;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t';
}

bb_status bb_labels_take(bb_builder *b, const bb_read_options *options,
                         const char *text, size_t length, char separator,
                         char words[BB_LABELS_BYTES]) {
    const char *at = text, *end = text + length;
    bb_status status = BB_OK;
    *words = '\0';
    while (at < end && is_space(*at)) at++;
    while (end > at && is_space(end[-1])) end--;
    bool more = at < end;
    while (more && !status) {
        const char *const first = at;
        uint32_t label;
        while (at < end && *at != separator && !is_space(*at)) at++;
        const size_t n = (size_t)(at - first);
        if (!parse_label(first, n, end_of(options), &label)) {
            char shown[BB_SHOWN_BYTES];
            snprintf(words, BB_LABELS_BYTES, "expected a label from 0 to %zu, found %s",
                     end_of(options) - 1,
                     n ? bb_shown(shown, first, n) : bb_shown(shown, text, length));
            return BB_OK;
        }
        status = bb_builder_label(b, label);
        more = at < end;
        while (at < end && is_space(*at)) at++;
        if (at < end && *at == separator) at++;
        while (at < end && is_space(*at)) at++;
    }
    return status;
}

bb_status bb_labels_finish(bb_builder *b, const bb_read_options *options,
                           const char *path, bb_dataset *out) {
    size_t labels = 0;
    const bool none = b->multilabel && !options->outputs && b->listed == 0;
    if (none && !options->slice)
        return bb_fail(BB_EDATA, "%s: no row has a label", path);
    if (b->multilabel && !none)
        labels = options->outputs ? options->outputs : b->most_label + 1;
    const bb_status status = bb_builder_finish(b, out);
    if (!status) out->labels = labels;
    return status;
}
