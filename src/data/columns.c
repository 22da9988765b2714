#include "data/columns.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The option is wrong, or, where a run has it, the file. */
static bb_status no_column(const char *path, const bb_names *header, const char *name,
                           const char *option, bool for_run) {
    char shown[BB_SHOWN_BYTES], all[400];
    bb_names_show(header, all, sizeof all);
    return bb_fail(for_run ? BB_EDATA : BB_EUSAGE,
                   "%s: no column %s for %s; the columns are %s", path,
                   bb_shown(shown, name, strlen(name)), option, all);
}

/* The column that an option names. */
static bb_status find(const char *path, const bb_names *header, const char *name,
                      const char *option, bool for_run, size_t *column) {
    *column = bb_names_find(header, name, strlen(name));
    return *column == SIZE_MAX ? no_column(path, header, name, option, for_run) : BB_OK;
}

/* Gives the columns of a comma-separated list a role; optional ones may be missing. */
static bb_status assign(bb_columns *c, const char *path, const bb_names *header,
                        const char *list, bb_role role, bool for_run) {
    const bool optional = role == BB_ROLE_IGNORED && for_run;
    const char *const option = role == BB_ROLE_IGNORED ? "--ignore" : "--features";
    bb_names names = {0};
    bb_status status = bb_names_parse(&names, list, option);
    for (size_t i = 0; !status && i < names.count; i++) {
        const char *const name = bb_names_at(&names, i);
        char shown[BB_SHOWN_BYTES];
        size_t column;
        status = find(path, header, name, option, for_run, &column);
        if (status && optional) {
            status = BB_OK;
            continue;
        }
        if (status) break;
        if (c->role[column] == BB_ROLE_TASK || c->role[column] == BB_ROLE_TARGET)
            status = bb_fail(BB_EUSAGE, "%s: column %s is the %s already", option,
                             bb_shown(shown, name, strlen(name)),
                             c->role[column] == BB_ROLE_TASK ? "task" : "target");
        c->role[column] = (unsigned char)role;
    }
    bb_names_free(&names);
    return status;
}

const char *bb_target_option(const bb_read_options *options) {
    return options->target ? options->target : "y";
}

static bb_status find_task_and_target(bb_columns *c, const char *path,
                                      const bb_names *header,
                                      const bb_read_options *options) {
    const char *const task = options->task ? options->task : "task";
    const char *const target = bb_target_option(options);
    bb_status status = find(path, header, task, "--task", options->for_run, &c->task);
    if (status) return status;
    status = find(path, header, target, "--target", options->for_run, &c->target);
    const bool optional = options->target_optional && !options->target;
    if (status && !optional && !options->target_ignored) return status;
    if (c->task == c->target)
        return bb_fail(BB_EUSAGE, "column \"%s\" cannot be both task and target",
                       target);
    c->role[c->task] = BB_ROLE_TASK;
    if (c->target != SIZE_MAX)
        c->role[c->target] = options->target_ignored ? BB_ROLE_IGNORED : BB_ROLE_TARGET;
    if (options->target_ignored) c->target = SIZE_MAX;
    return BB_OK;
}

static bb_status collect_features(bb_columns *c, const char *path,
                                  const bb_names *header) {
    bb_names names = {0};
    bb_status status = BB_OK;
    for (size_t k = 0; !status && k < c->count; k++) {
        if (c->role[k] != BB_ROLE_FEATURE) continue;
        const char *const name = bb_names_at(header, k);
        size_t index;
        status = bb_names_add(&names, name, strlen(name), &index);
    }
    if (!status && names.count == 0)
        status = bb_fail(BB_EDATA, "%s: no column is left to be a feature", path);
    if (!status) status = bb_names_list(&c->feature_name, &names);
    c->features = names.count;
    bb_names_free(&names);
    return status;
}

bb_status bb_columns_open(bb_columns *columns, const char *path, const bb_names *header,
                          bool row_names, const bb_read_options *options) {
    bb_columns c = {.count = header->count};
    bb_status status = bb_allocate(&c.role, c.count, 1, "columns");
    if (status) return status;
    if (options->features) memset(c.role, BB_ROLE_IGNORED, c.count);
    if (row_names) c.role[0] = BB_ROLE_IGNORED;
    status = find_task_and_target(&c, path, header, options);
    if (!status && options->features)
        status = assign(&c, path, header, options->features, BB_ROLE_FEATURE,
                        options->for_run);
    if (!status && options->ignore)
        status = assign(&c, path, header, options->ignore, BB_ROLE_IGNORED,
                        options->for_run);
    if (!status) status = collect_features(&c, path, header);
    if (status)
        bb_columns_close(&c);
    else
        *columns = c;
    return status;
}

void bb_columns_close(bb_columns *columns) {
    free(columns->role);
    free(columns->feature_name);
    *columns = (bb_columns){0};
}
