#include "base/memory.h"
#include "cmd.h"
#include "eval/metrics.h"
#include "methods/registry.h"

#include <stdlib.h>
#include <string.h>

static const char *kind_name(bb_method_kind kind) {
    static const char *const name[] = {"alone", "open", "private"};
    return name[kind];
}

static const char *type_name(bb_option_kind kind) {
    static const char *const name[] = {"number", "number or auto", "count",
                                       "flag",   "choice",         "text"};
    return name[kind];
}

/* -- JSON -- */

static json_t *option_json(const bb_option *o, json_t *defaults) {
    const bool choice = o->kind == BB_OPTION_CHOICE;
    return json_pack("{s:s,s:s,s:O,s:o,s:s}", "name", o->name, "type",
                     type_name(o->kind), "default", json_object_get(defaults, o->name),
                     "choices", choice ? json_string(o->choices) : json_null(), "help",
                     o->help);
}

static json_t *options_json(bb_options table, json_t *defaults) {
    json_t *list = json_array();
    for (size_t k = 0; k < table.count; k++)
        cmd_append(&list, option_json(&table.row[k], defaults));
    return list;
}

static json_t *losses_json(const bb_method *m) {
    json_t *list = json_array();
    for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_MULTILABEL; loss++)
        if (m->losses & (1U << loss))
            cmd_append(&list, json_string(bb_loss_name((bb_loss)loss)));
    return list;
}

static bb_status method_json(const bb_method *m, json_t **out) {
    void *values = NULL;
    bb_status status = bb_allocate(&values, 1, m->options_size, "a method's options");
    if (status) return status;
    status = bb_options_default(m->options, values);
    json_t *defaults = status ? NULL : bb_options_json(m->options, values);
    if (!status)
        *out = json_pack("{s:s,s:s,s:s,s:b,s:b,s:o,s:o}", "name", m->name, "kind",
                         kind_name(m->kind), "summary", m->summary, "follows",
                         m->follows, "clustered", m->clustered, "losses",
                         losses_json(m), "options", options_json(m->options, defaults));
    json_decref(defaults);
    bb_options_free(m->options, values);
    free(values);
    return status;
}

/* All methods, or one. */
static bb_status print_json(const bb_method *only, const cmd_output *output) {
    json_t *list = json_array();
    bb_status status = BB_OK;
    for (size_t i = 0; bb_method_at(i) && !status; i++) {
        json_t *method = NULL;
        if (only && bb_method_at(i) != only) continue;
        status = method_json(bb_method_at(i), &method);
        cmd_append(&list, method);
    }
    json_t *all = json_pack("{s:o}", "methods", list);
    if (!status) status = cmd_output_json(output, all);
    json_decref(all);
    return status;
}

/* -- text -- */

static void print_option(const bb_option *o, FILE *stream) {
    const char *value = o->kind == BB_OPTION_CHOICE ? o->choices : o->argument;
    fprintf(stream, "    --set %s=%s", o->name, value && *value ? value : "true|false");
    if (o->fallback) fprintf(stream, " (default %s)", o->fallback);
    fprintf(stream, "\n        %s\n", o->help);
}

static void print_losses(const bb_method *m, FILE *stream) {
    const char *before = "";
    for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_MULTILABEL; loss++) {
        if (!(m->losses & (1U << loss))) continue;
        fprintf(stream, "%s%s", before, bb_loss_name((bb_loss)loss));
        before = ", ";
    }
}

static void print_text(FILE *stream) {
    for (size_t i = 0; bb_method_at(i); i++) {
        const bb_method *m = bb_method_at(i);
        fprintf(stream, "%s (%s; ", m->name, kind_name(m->kind));
        print_losses(m, stream);
        fprintf(stream, ")\n    %s\n", m->summary);
        for (size_t k = 0; k < m->options.count; k++)
            print_option(&m->options.row[k], stream);
        putc('\n', stream);
    }
    fputs("alone: shares nothing. open: shares everything in the clear, never private. "
          "private:\nshares only what the door has noised (--epsilon), or everything "
          "(--mechanism none).\n`billboard methods METHOD' says more of one.\n",
          stream);
}

/* -- the page of one method
 * ------------------------------------------------------------- */

static const char *kind_text(bb_method_kind kind) {
    static const char *const text[] = {
        "alone: shares nothing", "open: shares everything in the clear, never private",
        "private: shares only what the door has noised, with --epsilon; everything, "
        "with "
        "--mechanism none"};
    return text[kind];
}

static void page_option(const bb_option *o, FILE *stream) {
    char expects[600];
    bb_option_expects(o, expects, sizeof expects);
    fprintf(stream, "\n  %s=%s\n      %s\n      expects %s; default %s\n", o->name,
            o->argument && *o->argument ? o->argument : "VALUE", o->help, expects,
            o->fallback ? o->fallback : "none");
}

static void print_page(const bb_method *m, FILE *stream) {
    fprintf(stream, "%s: %s\n\nkind    %s\nlosses  ", m->name, m->summary,
            kind_text(m->kind));
    print_losses(m, stream);
    fputs("\n", stream);
    if (m->follows)
        fputs("        goes on from another method: --phase or --finetune\n", stream);
    if (m->clustered) fputs("        needs groups of tasks: --cluster\n", stream);
    fprintf(stream, m->options.count ? "\nOptions, each --set NAME=VALUE:\n"
                                     : "\nThere are no options.\n");
    for (size_t k = 0; k < m->options.count; k++)
        page_option(&m->options.row[k], stream);
    if (!m->follows)
        fprintf(stream, "\nExample: billboard train DATA --method %s%s%s%s -o RUN\n",
                m->name, m->losses & (1U << BB_LOSS_SQUARED) ? "" : " --loss logistic",
                m->clustered ? " --cluster COLUMN" : "",
                m->kind == BB_METHOD_PRIVATE ? " --epsilon 1" : "");
}

typedef struct request {
    const char *name; /* NULL: all */
    bool json;
} request;

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    if (key == 'j')
        r->json = true;
    else if (key == ARGP_KEY_ARG && !r->name)
        r->name = text;
    else if (key == ARGP_KEY_ARG)
        argp_error(state, "takes one METHOD");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

int cmd_methods(int argc, char **argv) {
    static const struct argp_option option[] = {
        {"json", 'j', NULL, 0, "as one JSON object", 0}, {0}};
    const struct argp argp = {option,
                              parse,
                              "[METHOD]",
                              "Lists the learning methods with their options and "
                              "defaults; or says everything of one.",
                              NULL,
                              NULL,
                              NULL};
    request r = {0};
    cmd_output output = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &r);
    const bb_method *only = r.name ? bb_method_find(r.name) : NULL;
    bb_status status = cmd_output_open(&output);
    if (!status && r.name && !only)
        status = bb_fail(BB_EUSAGE, "unknown method \"%s\"; see `billboard methods'",
                         r.name);
    if (!status && r.json) status = print_json(only, &output);
    if (!status && !r.json && only) print_page(only, output.stream);
    if (!status && !r.json && !only) print_text(output.stream);
    output.wrap = !r.json;
    return cmd_output_close(&output, status);
}
