#include "api/account.h"
#include "api/call.h"
#include "api/tables.h"
#include "base/memory.h"
#include "methods/registry.h"
#include "train/options.h"

#include <stdlib.h>
#include <string.h>

enum { EXPECTS_BYTES = 600 };

static const char *kind_name(bb_method_kind kind) {
    static const char *const name[] = {"alone", "open", "private"};
    return name[kind];
}

static const char *type_name(bb_option_kind kind) {
    static const char *const name[] = {"number", "number or auto", "count",
                                       "flag",   "choice",         "text"};
    return name[kind];
}

static json_t *text_or_null(const char *text) {
    return text ? json_string(text) : json_null();
}

static json_t *option_json(const bb_option *o, json_t *defaults) {
    const bool choice = o->kind == BB_OPTION_CHOICE;
    char expects[EXPECTS_BYTES];
    bb_option_expects(o, expects, sizeof expects);
    return json_pack("{s:s,s:s,s:O,s:o,s:s,s:o,s:o,s:s}", "name", o->name, "type",
                     type_name(o->kind), "default", json_object_get(defaults, o->name),
                     "choices", choice ? json_string(o->choices) : json_null(), "help",
                     o->help, "default_text", text_or_null(o->fallback), "argument",
                     text_or_null(o->argument), "expects", expects);
}

/* The rows of a table whose values have `size` bytes. */
static bb_status table_json(bb_options table, size_t size, json_t **out) {
    void *values = NULL;
    bb_status status = bb_allocate(&values, 1, size, "options");
    if (status) return status;
    status = bb_options_default(table, values);
    json_t *defaults = status ? NULL : bb_options_json(table, values);
    json_t *list = json_array();
    for (size_t k = 0; k < table.count && !status; k++)
        bb_json_append(&list, option_json(&table.row[k], defaults));
    json_decref(defaults);
    bb_options_free(table, values);
    free(values);
    *out = list;
    return status;
}

static json_t *losses_json(const bb_method *m) {
    json_t *list = json_array();
    for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_MULTILABEL; loss++)
        if (m->losses & (1U << loss))
            bb_json_append(&list, json_string(bb_loss_name((bb_loss)loss)));
    return list;
}

static bb_status method_json(const bb_method *m, json_t **out) {
    json_t *options = NULL;
    const bb_status status = table_json(m->options, m->options_size, &options);
    *out = json_pack("{s:s,s:s,s:s,s:b,s:b,s:b,s:b,s:b,s:o,s:o}", "name", m->name,
                     "kind", kind_name(m->kind), "summary", m->summary, "follows",
                     m->follows, "clustered", m->clustered, "related", m->related,
                     "linear", !(m->losses & BB_NETWORKS_ONLY), "networks",
                     (m->losses & BB_SUPPORTS_NETWORKS) != 0, "losses", losses_json(m),
                     "options", options);
    return status;
}

billboard_status billboard_methods(const char *name, billboard_answer **methods) {
    json_t *list = json_array();
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(methods, "billboard_methods", "methods");
    if (!status && name && !bb_method_find(name))
        status =
            bb_fail(BB_EUSAGE, "unknown method \"%s\"; see `billboard methods'", name);
    for (size_t i = 0; bb_method_at(i) && !status; i++) {
        json_t *method = NULL;
        if (name && bb_method_at(i) != bb_method_find(name)) continue;
        status = method_json(bb_method_at(i), &method);
        bb_json_append(&list, method);
    }
    json_t *all = json_pack("{s:o}", "methods", list);
    if (!status)
        status = bb_answer_open(methods, all);
    else
        json_decref(all);
    return bb_call_end(&call, status);
}

/* Options of train say where they belong in --help, too. */
static void add_places(json_t *list) {
    for (size_t k = 0; k < json_array_size(list); k++) {
        const bb_train_row *row = bb_train_row_of(k);
        const char key[] = {row->key, '\0'};
        json_object_update_new(
            json_array_get(list, k),
            json_pack("{s:o,s:o,s:b}", "group", text_or_null(row->group), "key",
                      text_or_null(row->key ? key : NULL), "public", row->is_public));
    }
}

static bb_status other_json(const char *of, json_t **list) {
    static const struct {
        const char *name;
        bb_option_table (*table)(void);
    } known[] = {{"advise", bb_advise_table},
                 {"tune", bb_tune_table},
                 {"convert", bb_convert_table},
                 {"synth", bb_synth_table},
                 {"experiment", bb_experiment_table},
                 {"audit", bb_audit_table},
                 {"audit-method", bb_audit_method_table}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const bb_option_table table = known[k].table();
        if (strcmp(of, known[k].name) == 0)
            return table_json(table.options, table.size, list);
    }
    return bb_fail(BB_EUSAGE,
                   "options are those of \"train\", \"tune\", \"account\", "
                   "\"advise\", \"convert\", \"synth\", \"experiment\", \"audit\" or "
                   "\"audit-method\", got \"%s\"",
                   of);
}

billboard_status billboard_options(const char *of, billboard_answer **options) {
    json_t *list = NULL;
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(options, "billboard_options", "options");
    if (!status) status = bb_call_given(of, "billboard_options", "of");
    if (!status && strcmp(of, "train") == 0) {
        status = table_json(bb_train_table(), sizeof(bb_train_options), &list);
        add_places(list);
    } else if (!status && strcmp(of, "account") == 0) {
        status = table_json(account_table(), sizeof(account_options), &list);
    } else if (!status) {
        status = other_json(of, &list);
    }
    json_t *all = json_pack("{s:o}", "options", list);
    if (!status)
        status = bb_answer_open(options, all);
    else
        json_decref(all);
    return bb_call_end(&call, status);
}
