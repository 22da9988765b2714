#include "cmd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ROWS = 16,
    FIRST_KEY = 1000,
    TASK,
    TARGET,
    IGNORE,
    SEPARATOR,
    ALL,
    JSON,
    FIRST_ROW
};

typedef struct request {
    const char *name[MOST_ROWS]; /* of the option with key FIRST_ROW + k */
    cmd_options given, rows;     /* sizes and budget; how to read DATA */
    const char *path;
    bool all, json;
} request;

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    if (key >= FIRST_ROW && key < FIRST_ROW + MOST_ROWS) {
        cmd_options_add(&r->given, r->name[key - FIRST_ROW], text);
        return 0;
    }
    switch (key) {
    case TASK:
        cmd_options_add(&r->rows, "task", text);
        return 0;
    case TARGET:
        cmd_options_add(&r->rows, "target", text);
        return 0;
    case IGNORE:
        cmd_options_add(&r->rows, "ignore", text);
        return 0;
    case SEPARATOR:
        cmd_options_add(&r->rows, "separator", text);
        return 0;
    case ALL:
        r->all = true;
        return 0;
    case JSON:
        r->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (r->path) argp_error(state, "takes one DATA");
        r->path = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void read_line(int argc, char **argv, const billboard_answer *table,
                      request *r) {
    static const struct argp_option own[] = {
        {"task", TASK, "COLUMN", 0, "DATA's column that names a row's task", 0},
        {"target", TARGET, "COLUMN", 0, "DATA's column to predict", 0},
        {"ignore", IGNORE, "COLUMNS", 0, "DATA's columns that are left out", 0},
        {"separator", SEPARATOR, "CHARACTER", 0,
         "what separates DATA's columns: \",\" (default), \";\" or tab", 0},
        {"all", ALL, NULL, 0, "what every theorem advises, not the main text's only",
         0},
        {"json", JSON, NULL, 0, "as one JSON object", 0},
        {0}};
    struct argp_option option[MOST_ROWS + sizeof own / sizeof *own] = {0};
    const size_t rows = billboard_answer_count(table, "options");
    for (size_t k = 0; k < rows && k < MOST_ROWS; k++) {
        r->name[k] = cmd_option_part(table, k, "name");
        option[k] = (struct argp_option){.name = r->name[k],
                                         .key = FIRST_ROW + (int)k,
                                         .arg = cmd_option_part(table, k, "argument"),
                                         .doc = cmd_option_part(table, k, "help")};
    }
    memcpy(option + rows, own, sizeof own);
    const struct argp argp = {
        option,
        parse,
        "[DATA]",
        "Says beforehand, from sizes and budget, what can be hoped for, and what the "
        "theory of the published algorithms advises. Of DATA it uses how many tasks "
        "and "
        "columns there are.\vExample: billboard advise --tasks 2410 --features 5 "
        "--epsilon 1",
        NULL,
        NULL,
        NULL};
    argp_parse(&argp, argc, argv, 0, NULL, r);
}

/* -- sizes of a file -- */

static void add_size(request *r, const char *name, double value, char text[24]) {
    if (cmd_options_last(&r->given, name)) return;
    snprintf(text, 24, "%.0f", value);
    cmd_options_add(&r->given, name, text);
}

static billboard_status add_sizes(request *r, char text[2][24]) {
    billboard_data *data = NULL;
    billboard_answer *info = NULL;
    if (!r->path) return BILLBOARD_OK;
    billboard_status status = billboard_data_from_file(r->path, &data);
    if (!status) status = billboard_info(data, r->rows.option, r->rows.count, &info);
    if (!status) {
        add_size(r, "tasks", billboard_answer_number(info, "tasks"), text[0]);
        add_size(r, "features", billboard_answer_number(info, "features"), text[1]);
    }
    billboard_answer_free(info);
    billboard_data_free(data);
    return status;
}

/* -- words -- */

static double number(const billboard_answer *a, size_t k, const char *name) {
    char path[80];
    snprintf(path, sizeof path, "theory.algorithms.%zu.%s", k, name);
    return billboard_answer_number(a, path);
}

static double mean(const billboard_answer *a, const char *name) {
    char path[80];
    snprintf(path, sizeof path, "theory.mean_regularised.%s", name);
    return billboard_answer_number(a, path);
}

static const char *words(const billboard_answer *a, size_t k, const char *name) {
    char path[80];
    snprintf(path, sizeof path, "theory.algorithms.%zu.%s", k, name);
    return billboard_answer_text(a, path);
}

static void print_algorithm(const billboard_answer *a, size_t k, FILE *to) {
    const bool fast = number(a, k, "accelerated") > 0.0;
    fprintf(to, "%-15s %-9s %7.0f  %-18s %-9s ", words(a, k, "method"),
            fast ? "yes" : "no", number(a, k, "rounds"), words(a, k, "schedule"),
            words(a, k, "composition"));
    fprintf(to, "%-7.0f %-9.3g %-9.3g %.3g%s\n", number(a, k, "theorem"),
            number(a, k, "noise_multiplier"), number(a, k, "noise_over_signal"),
            number(a, k, "cost"), number(a, k, "void") > 0.0 ? " (says nothing)" : "");
}

static void print_mean(const billboard_answer *a, FILE *to) {
    fprintf(to, "pmtl: theorem %.0f, ", mean(a, "theorem"));
    if (isnan(mean(a, "step")))
        fputs("whose step needs losses with L > 2\n", to);
    else
        fprintf(
            to,
            "%.0f round%s of one local step of %.3g; its closed form asks for noise "
            "multiplier %.3g, %.3g is enough\n",
            mean(a, "rounds"), cmd_plural(mean(a, "rounds")), mean(a, "step"),
            mean(a, "noise_multiplier_published"), mean(a, "noise_multiplier"));
}

static void print_theory(const billboard_answer *a, bool all, FILE *to) {
    const size_t count = billboard_answer_count(a, "theory.algorithms");
    fprintf(to,
            "\nWhat the theorems of the published algorithms advise (%s losses, "
            "constants taken as 1%s):\n"
            "method          momentum   rounds  schedule           adds up   theorem "
            "noise     of signal M\n",
            words(a, 0, "losses"),
            billboard_answer_number(a, "doors") > 1.0 ? ", noise of one door" : "");
    for (size_t k = 0; k < count; k++)
        if (all || strcmp(words(a, k, "composition"), "optimal") == 0)
            print_algorithm(a, k, to);
    print_mean(a, to);
}

static void print(const billboard_answer *a, bool all, FILE *to) {
    const double tasks = billboard_answer_number(a, "tasks"),
                 features = billboard_answer_number(a, "features");
    fprintf(to,
            "%.0f task%s, %.0f feature%s, %s loss; ε %g, δ %g of a whole task, %s, "
            "sampling %s%s\n\n%s\nBegin with %s: %s\n",
            tasks, cmd_plural(tasks), features, cmd_plural(features),
            billboard_answer_text(a, "loss"), billboard_answer_number(a, "epsilon"),
            billboard_answer_number(a, "delta"), billboard_answer_text(a, "adjacency"),
            billboard_answer_text(a, "sampling"),
            billboard_answer_number(a, "doors") > 1.0 ? ", two doors" : "",
            billboard_answer_text(a, "recommended.text"),
            billboard_answer_text(a, "recommended.method"),
            billboard_answer_text(a, "recommended.command"));
    print_theory(a, all, to);
}

int cmd_advise(int argc, char **argv) {
    request r = {0};
    cmd_output output = {0};
    billboard_answer *table = NULL, *advice = NULL;
    char size[2][24];
    billboard_status status = billboard_options("advise", &table);
    if (!status) read_line(argc, argv, table, &r);
    if (!status) status = cmd_open(&output);
    if (!status) status = add_sizes(&r, size);
    if (!status && (r.given.failed || r.rows.failed))
        status = cmd_fail(BILLBOARD_FAILED, "no memory for the options");
    if (!status) status = billboard_advise(r.given.option, r.given.count, &advice);
    if (!status && r.json)
        fprintf(output.stream, "%s\n", billboard_answer_json(advice));
    else if (!status)
        print(advice, r.all, output.stream);
    billboard_answer_free(advice);
    billboard_answer_free(table);
    cmd_options_free(&r.given);
    cmd_options_free(&r.rows);
    return cmd_close(&output, status);
}
