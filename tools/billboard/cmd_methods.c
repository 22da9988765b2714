#include "cmd.h"

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

/* -- JSON
 * ------------------------------------------------------------------------------ */

static json_t *option_json(const bb_option *o, json_t *defaults) {
    json_t *about = json_pack("{s:s,s:s,s:O,s:s}", "name", o->name, "type",
                              type_name(o->kind), "default",
                              json_object_get(defaults, o->name), "help", o->help);
    if (about && o->kind == BB_OPTION_CHOICE)
        json_object_set_new(about, "choices", json_string(o->choices));
    return about;
}

static bb_status method_json(const bb_method *m, json_t *list) {
    void *values = calloc(1, m->options_size + 1);
    json_t *options = json_array(), *losses = json_array(), *defaults = NULL;
    bb_status status = values ? bb_options_default(m->options, values)
                              : bb_fail(BB_ENOMEM, "no memory for a method's options");
    if (!status) {
        defaults = bb_options_json(m->options, values);
        bb_options_free(m->options, values);
    }
    for (size_t k = 0; defaults && k < m->options.count; k++)
        json_array_append_new(options, option_json(&m->options.row[k], defaults));
    if (m->losses & BB_SUPPORTS_SQUARED)
        json_array_append_new(losses, json_string("squared"));
    if (m->losses & BB_SUPPORTS_LOGISTIC)
        json_array_append_new(losses, json_string("logistic"));
    if (!status && json_array_append_new(
                       list, json_pack("{s:s,s:s,s:s,s:O,s:O}", "name", m->name, "kind",
                                       kind_name(m->kind), "summary", m->summary,
                                       "losses", losses, "options", options)))
        status = bb_fail(BB_ENOMEM, "no memory for the output");
    json_decref(defaults);
    json_decref(options);
    json_decref(losses);
    free(values);
    return status;
}

static bb_status print_json(const cmd_output *output) {
    json_t *list = json_array(), *all = NULL;
    bb_status status = BB_OK;
    for (size_t i = 0; bb_method_at(i) && !status; i++)
        status = method_json(bb_method_at(i), list);
    all = json_pack("{s:o}", "methods", list);
    if (!status) status = cmd_output_json(output, all);
    json_decref(all);
    return status;
}

/* -- text
 * ------------------------------------------------------------------------------ */

static void print_text(FILE *stream) {
    for (size_t i = 0; bb_method_at(i); i++) {
        const bb_method *m = bb_method_at(i);
        fprintf(stream, "%s%s (%s; %s%s%s)\n    %s\n", i ? "\n" : "", m->name,
                kind_name(m->kind), m->losses & BB_SUPPORTS_SQUARED ? "squared" : "",
                m->losses == (BB_SUPPORTS_SQUARED | BB_SUPPORTS_LOGISTIC) ? ", " : "",
                m->losses & BB_SUPPORTS_LOGISTIC ? "logistic" : "", m->summary);
        for (size_t k = 0; k < m->options.count; k++) {
            const bb_option *o = &m->options.row[k];
            fprintf(stream, "    --set %s=%s%s%s%s\n        %s\n", o->name,
                    o->kind == BB_OPTION_CHOICE
                        ? o->choices
                        : (o->argument ? o->argument : "true|false"),
                    o->fallback ? " (default " : "", o->fallback ? o->fallback : "",
                    o->fallback ? ")" : "", o->help);
        }
    }
    fputs("\nalone: shares nothing. open: shares everything in the clear, never private. "
          "private:\nshares only what the door has noised (--epsilon), or everything "
          "(--mechanism none).\n",
          stream);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    bool *json = state->input;
    (void)text;
    if (key == 'j')
        *json = true;
    else if (key == ARGP_KEY_ARG)
        argp_error(state, "takes no arguments, got \"%s\"", text);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

int cmd_methods(int argc, char **argv) {
    static const struct argp_option option[] = {
        {"json", 'j', NULL, 0, "as one JSON object", 0}, {0}};
    const struct argp argp = {
        option, parse, NULL,
        "Lists the learning methods with their options and defaults.", NULL, NULL, NULL};
    bool json = false;
    cmd_output output;
    argp_parse(&argp, argc, argv, 0, NULL, &json);
    bb_status status = cmd_output_open(&output);
    if (!status && json) status = print_json(&output);
    if (!status && !json) print_text(output.stream);
    return cmd_output_close(&output, status);
}
