#include "flags.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_KEY = 1000, SET_KEY = 's', HELP_BYTES = 400 };

static int key_of(size_t row) {
    const char letter = bb_train_row_of(row)->key;
    return letter ? letter : FIRST_KEY + (int)row;
}

static bool shows_default(const bb_option *o) {
    return o->fallback && o->kind != BB_OPTION_FLAG &&
           strcmp(o->fallback, "auto") != 0 && strcmp(o->fallback, "0") != 0;
}

static void describe(const bb_option *o, char *help) {
    if (shows_default(o))
        snprintf(help, HELP_BYTES, "%s (default %s)", o->help, o->fallback);
    else
        snprintf(help, HELP_BYTES, "%s", o->help);
}

bb_status cmd_flags_open(cmd_flags *out) {
    const bb_options table = bb_train_table();
    cmd_flags f = {.rows = table.count};
    size_t n = 0;
    int group = 0;
    bb_status status = bb_allocate(&f.help, f.rows, sizeof *f.help, "the flags");
    if (!status) /* each row may have a heading; --set and the end come after them */
        status = bb_allocate(&f.option, 2 * f.rows + 2, sizeof *f.option, "the flags");
    for (size_t k = 0; k < f.rows && !status; k++) {
        const bb_option *o = &table.row[k];
        const bb_train_row *row = bb_train_row_of(k);
        if (row->group) {
            group++;
            f.option[n++] = (struct argp_option){.doc = row->group, .group = group};
        }
        status = bb_allocate(&f.help[k], HELP_BYTES, 1, "the flags");
        if (status) break;
        describe(o, f.help[k]);
        f.option[n++] =
            (struct argp_option){.name = o->name,
                                 .key = key_of(k),
                                 .arg = o->kind == BB_OPTION_FLAG ? NULL : o->argument,
                                 .doc = f.help[k],
                                 .group = group};
    }
    if (status) {
        cmd_flags_close(&f);
        return status;
    }
    f.option[n] = (struct argp_option){
        .name = "set",
        .key = SET_KEY,
        .arg = "KEY=VALUE",
        .doc = "an option of the method, see `billboard methods'; may be repeated",
        .group = 2};
    *out = f;
    return BB_OK;
}

void cmd_flags_close(cmd_flags *f) {
    for (size_t k = 0; f->help && k < f->rows; k++) free(f->help[k]);
    free(f->help);
    free(f->option);
    *f = (cmd_flags){0};
}

const char *cmd_flags_name(int key) {
    const bb_options table = bb_train_table();
    if (key == SET_KEY) return "set";
    for (size_t k = 0; k < table.count; k++)
        if (key_of(k) == key) return table.row[k].name;
    return NULL;
}
