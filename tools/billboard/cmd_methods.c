#include "cmd.h"

#include <stdarg.h>
#include <string.h>

/* Where in the answer something of method i, or of its option k, is. */
enum { PATH = 80 };

__attribute__((format(printf, 2, 3))) static const char *text(const billboard_answer *a,
                                                              const char *format, ...) {
    char path[PATH];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    return billboard_answer_text(a, path);
}

__attribute__((format(printf, 2, 3))) static size_t count(const billboard_answer *a,
                                                          const char *format, ...) {
    char path[PATH];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    const double number = billboard_answer_number(a, path);
    return number > 0.0 ? (size_t)number : billboard_answer_count(a, path);
}

static bool is(const billboard_answer *a, size_t i, const char *what) {
    return count(a, "methods.%zu.%s", i, what) > 0;
}

/* -- all -- */

static void print_option(const billboard_answer *a, size_t i, size_t k, FILE *stream) {
    const char *choices = text(a, "methods.%zu.options.%zu.choices", i, k);
    const char *argument = text(a, "methods.%zu.options.%zu.argument", i, k);
    const char *value = choices ? choices : argument;
    const char *fallback = text(a, "methods.%zu.options.%zu.default_text", i, k);
    fprintf(stream, "    --set %s=%s", text(a, "methods.%zu.options.%zu.name", i, k),
            value && *value ? value : "true|false");
    if (fallback) fprintf(stream, " (default %s)", fallback);
    fprintf(stream, "\n        %s\n", text(a, "methods.%zu.options.%zu.help", i, k));
}

static void print_losses(const billboard_answer *a, size_t i, FILE *stream) {
    const size_t losses = count(a, "methods.%zu.losses", i);
    for (size_t k = 0; k < losses; k++)
        fprintf(stream, "%s%s", k ? ", " : "", text(a, "methods.%zu.losses.%zu", i, k));
}

static void print_text(const billboard_answer *a, FILE *stream) {
    for (size_t i = 0; i < count(a, "methods"); i++) {
        fprintf(stream, "%s (%s; ", text(a, "methods.%zu.name", i),
                text(a, "methods.%zu.kind", i));
        print_losses(a, i, stream);
        if (!is(a, i, "linear")) fputs("; networks", stream);
        fprintf(stream, ")\n    %s\n", text(a, "methods.%zu.summary", i));
        for (size_t k = 0; k < count(a, "methods.%zu.options", i); k++)
            print_option(a, i, k, stream);
        putc('\n', stream);
    }
    fputs("alone: shares nothing. open: shares everything in the clear, never private. "
          "private:\nshares only what the door has noised (--epsilon), or everything "
          "(--mechanism none).\n`billboard methods METHOD' says more of one.\n",
          stream);
}

/* -- the page of one -- */

static const char *kind_text(const char *kind) {
    if (strcmp(kind, "alone") == 0) return "alone: shares nothing";
    if (strcmp(kind, "open") == 0)
        return "open: shares everything in the clear, never private";
    return "private: shares only what the door has noised, with --epsilon; everything, "
           "with --mechanism none";
}

static void page_option(const billboard_answer *a, size_t k, FILE *stream) {
    const char *argument = text(a, "methods.0.options.%zu.argument", k);
    const char *fallback = text(a, "methods.0.options.%zu.default_text", k);
    fprintf(stream, "\n  %s=%s\n      %s\n      expects %s; default %s\n",
            text(a, "methods.0.options.%zu.name", k),
            argument && *argument ? argument : "VALUE",
            text(a, "methods.0.options.%zu.help", k),
            text(a, "methods.0.options.%zu.expects", k), fallback ? fallback : "none");
}

/* What an example must give. */
static const char *needs(const billboard_answer *a) {
    if (is(a, 0, "clustered")) return " --cluster COLUMN";
    if (!is(a, 0, "linear"))
        return " --loss softmax --net dense32,dense10 --image 28x28x1";
    return is(a, 0, "related") ? " --graph FILE" : "";
}

static void print_page(const billboard_answer *a, FILE *stream) {
    const char *name = text(a, "methods.0.name"), *kind = text(a, "methods.0.kind");
    const bool squared = strcmp(text(a, "methods.0.losses.0"), "squared") == 0;
    const size_t options = count(a, "methods.0.options");
    fprintf(stream, "%s: %s\n\nkind    %s\nlosses  ", name,
            text(a, "methods.0.summary"), kind_text(kind));
    print_losses(a, 0, stream);
    fputs("\n", stream);
    if (is(a, 0, "follows"))
        fputs("        goes on from another method: --phase or --finetune\n", stream);
    if (!is(a, 0, "linear")) fputs("        networks only: --net\n", stream);
    if (is(a, 0, "clustered"))
        fputs("        needs groups of tasks: --cluster\n", stream);
    if (is(a, 0, "related"))
        fputs("        needs relations of tasks: --graph\n", stream);
    fputs(options ? "\nOptions, each --set NAME=VALUE:\n" : "\nThere are no options.\n",
          stream);
    for (size_t k = 0; k < options; k++) page_option(a, k, stream);
    if (!is(a, 0, "follows"))
        fprintf(stream, "\nExample: billboard train DATA --method %s%s%s%s -o RUN\n",
                name, squared ? "" : " --loss logistic", needs(a),
                strcmp(kind, "private") == 0 ? " --epsilon 1" : "");
}

typedef struct request {
    const char *name; /* NULL: all */
    bool json;
} request;

static error_t parse(int key, char *argument, struct argp_state *state) {
    request *r = state->input;
    if (key == 'j')
        r->json = true;
    else if (key == ARGP_KEY_ARG && !r->name)
        r->name = argument;
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
    billboard_answer *methods = NULL;
    billboard_status status = cmd_open(&output);
    if (!status) status = billboard_methods(r.name, &methods);
    if (!status && r.json)
        fprintf(output.stream, "%s\n", billboard_answer_json(methods));
    else if (!status && r.name)
        print_page(methods, output.stream);
    else if (!status)
        print_text(methods, output.stream);
    billboard_answer_free(methods);
    output.wrap = !r.json;
    return cmd_close(&output, status);
}
