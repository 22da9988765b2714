#include "cmd.h"
#include "progress.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 16, FIRST_KEY = 1000, JSON = 2000 };

typedef struct request {
    const char *option_name[MOST_ROWS]; /* of the option with key FIRST_KEY + k */
    cmd_options given;
    const char *word[2]; /* NAME; or list; or show DIR */
    size_t words;
    bool json;
} request;

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    if (key == 'o')
        cmd_options_add(&r->given, "output", text);
    else if (key >= FIRST_KEY && key < FIRST_KEY + MOST_ROWS)
        cmd_options_add(&r->given, r->option_name[key - FIRST_KEY], text);
    else if (key == JSON)
        r->json = true;
    else if (key == ARGP_KEY_ARG && r->words == 2)
        argp_error(state, "takes one experiment");
    else if (key == ARGP_KEY_ARG)
        r->word[r->words++] = text;
    else if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "which experiment? see `billboard experiment list'");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static void read_line(int argc, char **argv, const billboard_answer *table,
                      request *r) {
    struct argp_option option[MOST_ROWS + 2] = {0};
    const size_t rows = billboard_answer_count(table, "options");
    for (size_t k = 0; k < rows && k < MOST_ROWS; k++) {
        r->option_name[k] = cmd_option_part(table, k, "name");
        option[k] = (struct argp_option){
            .name = r->option_name[k],
            .key = strcmp(r->option_name[k], "output") == 0 ? 'o' : FIRST_KEY + (int)k,
            .arg = cmd_option_part(table, k, "argument"),
            .doc = cmd_option_part(table, k, "help")};
    }
    option[rows] = (struct argp_option){
        .name = "json", .key = JSON, .doc = "what it has come to as one JSON object"};
    const struct argp argp = {
        option,
        parse,
        "NAME|FILE.json\nlist\nshow DIR",
        "Runs an experiment: every data set with every method, option and seed that it "
        "names, on all processors. Interrupted or killed, the same command goes on. "
        "`list' "
        "has those that are shipped; `show' says what a folder has.",
        NULL,
        NULL,
        NULL};
    argp_parse(&argp, argc, argv, 0, NULL, r);
}

static const char *text_at(const billboard_answer *a, size_t k, const char *what) {
    char path[80];
    snprintf(path, sizeof path, "experiments.%zu.%s", k, what);
    const char *text = billboard_answer_text(a, path);
    return text ? text : "";
}

static void print_list(const billboard_answer *a, FILE *stream) {
    const size_t count = billboard_answer_count(a, "experiments");
    for (size_t k = 0; k < count; k++)
        fprintf(stream, "%s: %s (%s)\n", text_at(a, k, "name"), text_at(a, k, "title"),
                text_at(a, k, "source"));
}

/* One cell of the table of means; nothing where nothing is known. */
static void print_value(const billboard_answer *a, size_t k, const char *what,
                        FILE *stream) {
    char path[120];
    snprintf(path, sizeof path, "means.%zu.%s", k, what);
    const char *text = billboard_answer_text(a, path);
    const double number = billboard_answer_number(a, path);
    if (text)
        fputs(text, stream);
    else if (!isnan(number))
        fprintf(stream, "%.5g", number);
    else
        putc('-', stream);
}

static void print_means(const billboard_answer *a, FILE *stream) {
    static const char *const figure[] = {"column", "count", "mean",   "deviation",
                                         "least",  "most",  "promise"};
    enum { FIGURES = sizeof figure / sizeof *figure };
    const size_t columns = billboard_answer_count(a, "columns"),
                 lines = billboard_answer_count(a, "means");
    for (size_t c = 0; c < columns; c++) {
        char path[40];
        snprintf(path, sizeof path, "columns.%zu", c);
        fprintf(stream, "%s  ", billboard_answer_text(a, path));
    }
    for (size_t f = 0; f < FIGURES; f++)
        fprintf(stream, "%s%s", figure[f], f + 1 < FIGURES ? "  " : "\n");
    for (size_t k = 0; k < lines; k++) {
        for (size_t c = 0; c < columns; c++) {
            char path[40];
            snprintf(path, sizeof path, "labels.%zu", c);
            print_value(a, k, path, stream);
            fputs("  ", stream);
        }
        for (size_t f = 0; f < FIGURES; f++) {
            print_value(a, k, figure[f], stream);
            fputs(f + 1 < FIGURES ? "  " : "\n", stream);
        }
    }
}

static void print_state(const billboard_answer *a, FILE *stream) {
    const char *title = billboard_answer_text(a, "title"),
               *preset = billboard_answer_text(a, "preset");
    const double failed = billboard_answer_number(a, "failed");
    fprintf(stream, "%s: %s\n", billboard_answer_text(a, "experiment"),
            title ? title : "");
    const double cells = billboard_answer_number(a, "cells");
    fprintf(stream, "%.0f cell%s", cells, cmd_plural(cells));
    if (failed > 0.0)
        fprintf(stream, ", %.0f of them failed (cells.csv says why)", failed);
    if (preset) fprintf(stream, ", preset %s", preset);
    fprintf(stream, ", %.1f s of processors; tables in %s\n",
            billboard_answer_number(a, "seconds"), billboard_answer_text(a, "output"));
    if (billboard_answer_number(a, "complete") == 0.0)
        fputs("not complete: the command that began it goes on\n", stream);
    if (billboard_answer_count(a, "means")) print_means(a, stream);
}

static billboard_status ask(const request *r, billboard_answer **answer) {
    if (strcmp(r->word[0], "list") == 0 && r->words == 1)
        return billboard_experiments(NULL, answer);
    if (strcmp(r->word[0], "show") == 0) {
        if (r->words == 2) return billboard_experiments(r->word[1], answer);
        return cmd_fail(BILLBOARD_USAGE, "show which DIR?");
    }
    if (r->words == 2)
        return cmd_fail(BILLBOARD_USAGE, "takes one experiment, got \"%s\" and \"%s\"",
                        r->word[0], r->word[1]);
    progress bar = progress_open();
    const billboard_watch watch = {sizeof watch, &bar, progress_watch, NULL,
                                   cmd_listen()};
    const billboard_status status = billboard_experiment(
        r->word[0], r->given.option, r->given.count, &watch, answer);
    progress_close(&bar);
    return status;
}

int cmd_experiment(int argc, char **argv) {
    request r = {0};
    cmd_output output = {0};
    billboard_answer *table = NULL, *answer = NULL;
    billboard_status status = billboard_options("experiment", &table);
    if (!status) read_line(argc, argv, table, &r);
    if (!status && r.given.failed)
        status = cmd_fail(BILLBOARD_FAILED, "no memory for the options");
    if (!status) status = cmd_open(&output);
    if (!status) status = ask(&r, &answer);
    if (!status && r.json)
        fprintf(output.stream, "%s\n", billboard_answer_json(answer));
    else if (!status && billboard_answer_count(answer, "experiments"))
        print_list(answer, output.stream);
    else if (!status)
        print_state(answer, output.stream);
    billboard_answer_free(answer);
    billboard_answer_free(table);
    cmd_options_free(&r.given);
    return cmd_close(&output, status);
}
