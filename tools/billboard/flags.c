#include "flags.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_KEY = 1000, SET_KEY = 's', HELP_BYTES = 400 };

static const char *text(const cmd_flags *f, size_t row, const char *what) {
    char path[60];
    snprintf(path, sizeof path, "options.%zu.%s", row, what);
    return billboard_answer_text(f->table, path);
}

static int key_of(const cmd_flags *f, size_t row) {
    const char *letter = text(f, row, "key");
    return letter ? *letter : FIRST_KEY + (int)row;
}

static bool is_flag(const cmd_flags *f, size_t row) {
    return strcmp(text(f, row, "type"), "flag") == 0;
}

static void describe(const cmd_flags *f, size_t row, char *help) {
    const char *fallback = text(f, row, "default_text");
    const bool shown = fallback && !is_flag(f, row) && strcmp(fallback, "auto") != 0 &&
                       strcmp(fallback, "0") != 0;
    snprintf(help, HELP_BYTES, shown ? "%s (default %s)" : "%s", text(f, row, "help"),
             fallback);
}

/* Each row may have a heading; --set and the end come after them. */
static bool make_room(cmd_flags *f) {
    f->help = calloc(f->rows + 1, sizeof *f->help);
    f->option = calloc(2 * f->rows + 2, sizeof *f->option);
    bool whole = f->help && f->option;
    for (size_t k = 0; k < f->rows && whole; k++)
        whole = (f->help[k] = calloc(HELP_BYTES, 1)) != NULL;
    return whole;
}

static void fill(const cmd_flags *f) {
    size_t n = 0;
    int group = 0;
    for (size_t k = 0; k < f->rows; k++) {
        const char *title = text(f, k, "group");
        if (title) group++;
        if (title) f->option[n++] = (struct argp_option){.doc = title, .group = group};
        describe(f, k, f->help[k]);
        f->option[n++] = (struct argp_option){.name = text(f, k, "name"),
                                              .key = key_of(f, k),
                                              .arg = text(f, k, "argument"),
                                              .doc = f->help[k],
                                              .group = group};
        if (is_flag(f, k)) f->option[n - 1].arg = NULL;
    }
    f->option[n] = (struct argp_option){
        .name = "set",
        .key = SET_KEY,
        .arg = "KEY=VALUE",
        .doc = "an option of the method, see `billboard methods'; may be repeated",
        .group = 2};
}

billboard_status cmd_flags_open(cmd_flags *out) {
    cmd_flags f = {0};
    billboard_status status = billboard_options("train", &f.table);
    if (status) return status;
    f.rows = billboard_answer_count(f.table, "options");
    if (!make_room(&f)) {
        cmd_flags_close(&f);
        return cmd_fail(BILLBOARD_FAILED, "no memory for the flags");
    }
    fill(&f);
    *out = f;
    return BILLBOARD_OK;
}

void cmd_flags_close(cmd_flags *f) {
    for (size_t k = 0; f->help && k < f->rows; k++) free(f->help[k]);
    free(f->help);
    free(f->option);
    billboard_answer_free(f->table);
    *f = (cmd_flags){0};
}

const char *cmd_flags_name(const cmd_flags *f, int key) {
    if (key == SET_KEY) return "set";
    for (size_t k = 0; k < f->rows; k++)
        if (key_of(f, k) == key) return text(f, k, "name");
    return NULL;
}
