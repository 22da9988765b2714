#include "flags.h"
#include "progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID = 5000, RANDOM, PUBLIC, NOT_PRIVATE, PRIVATE, RUNS, SHARE };

typedef struct request {
    cmd_flags flags; /* of train; names belong to it */
    cmd_options given, own;
    char *grid; /* all of --grid, joined */
    const char *data, *public_data;
    bool not_private, private, json;
} request;

static void add_grid(request *r, const char *text) {
    const size_t size = (r->grid ? strlen(r->grid) : 0) + strlen(text) + 2;
    char *both = malloc(size);
    if (both)
        snprintf(both, size, "%s%s%s", r->grid ? r->grid : "", r->grid ? ";" : "",
                 text);
    else
        r->own.failed = true;
    free(r->grid);
    r->grid = both;
}

/* What train has under the same name means something else here. */
static bool take_own(request *r, const char *name, const char *text) {
    if (strcmp(name, "method") == 0)
        cmd_options_add(&r->own, "methods", text);
    else if (strcmp(name, "seed") == 0 || strcmp(name, "threads") == 0 ||
             strcmp(name, "output") == 0)
        cmd_options_add(&r->own, name, text);
    else if (strcmp(name, "json") == 0)
        r->json = true;
    else
        return false;
    return true;
}

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    const char *name = cmd_flags_name(&r->flags, key);
    if (name) {
        if (!take_own(r, name, text)) cmd_options_add(&r->given, name, text);
        return 0;
    }
    switch (key) {
    case GRID:
        add_grid(r, text);
        return 0;
    case RANDOM:
        cmd_options_add(&r->own, "random", text);
        return 0;
    case PUBLIC:
        r->public_data = text;
        return 0;
    case NOT_PRIVATE:
        r->not_private = true;
        return 0;
    case PRIVATE:
        r->private = true;
        return 0;
    case RUNS:
        cmd_options_add(&r->own, "runs", text);
        return 0;
    case SHARE:
        cmd_options_add(&r->own, "share", text);
        return 0;
    case ARGP_KEY_ARG:
        if (r->data) argp_error(state, "takes one DATA");
        r->data = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Words for the options of train that mean something else here, or nothing. */
static struct argp_option reworded(struct argp_option option) {
    static const struct argp_option word[] = {
        {"method", 0, "METHODS", 0, "the methods to try, separated by commas", 0},
        {"seed", 0, "S", 0, "of what is drawn, and of the runs' noise (default 1)", 0},
        {"threads", 0, "N", 0, "runs at once; 0 takes as many as there are processors",
         0},
        {"output", 0, "FILE", 0, "write the best setting there, for train --config", 0},
        {"json", 0, NULL, 0, "as one JSON object", 0}};
    option.flags = OPTION_HIDDEN;
    option.group = 0;
    for (size_t k = 0; k < sizeof word / sizeof *word; k++)
        if (strcmp(option.name, word[k].name) == 0) {
            option.flags = 0;
            option.arg = word[k].arg;
            option.doc = word[k].doc;
        }
    return option;
}

static void parse_line(int argc, char **argv, const struct argp_option *train,
                       size_t count, request *r) {
    static const struct argp_option own[] = {
        {"grid", GRID, "NAME=VALUES", 0,
         "values to try, separated by commas, or LOW..HIGH, of an option of train or "
         "of "
         "a method; repeated: every combination",
         0},
        {"random", RANDOM, "N", 0,
         "draw N settings; without --grid the methods' own numbers, from a tenth to "
         "ten "
         "times their default",
         0},
        {"public", PUBLIC, "FILE", 0,
         "try settings on these rows, which anybody may see; DATA are not read", 0},
        {"private", PRIVATE, NULL, 0,
         "try settings on DATA inside the budget: the best of a random number of runs "
         "is "
         "published, as the run directory -o",
         0},
        {"runs", RUNS, "M", 0, "--private: runs on average (default 10)", 0},
        {"share", SHARE, "SHARE", 0,
         "--private: part of a run's budget for its score (default 0.1)", 0},
        {"not-private", NOT_PRIVATE, NULL, 0,
         "try settings on DATA: what is found, and every run with it, is not private",
         0}};
    enum { OWN = sizeof own / sizeof *own };
    struct argp_option *option = calloc(OWN + count + 1, sizeof *option);
    if (!option) {
        r->own.failed = true;
        return;
    }
    memcpy(option, own, sizeof own);
    size_t n = OWN;
    for (size_t k = 0; k < count; k++) /* headings are left out */
        if (train[k].name) option[n++] = reworded(train[k]);
    const struct argp argp = {
        option,
        parse,
        "DATA",
        "Tries settings of options of `billboard train' on rows of every task that are "
        "held out, five folds with successive halving, and says which learns best. All "
        "options of train that say what data are and how to learn can be given, for "
        "every setting.\vExample: billboard tune pupils.csv --task school --target "
        "score "
        "--method pmtl --epsilon 1 --scale ranges.json --grid rounds=2,5,10 --grid "
        "clip=10,100,1000 --not-private -o best.json",
        NULL,
        NULL,
        NULL};
    argp_parse(&argp, argc, argv, 0, NULL, r);
    free(option);
}

static billboard_status read_line(int argc, char **argv, request *r) {
    size_t count = 0;
    const billboard_status status = cmd_flags_open(&r->flags);
    if (status) return status;
    while (r->flags.option[count].name || r->flags.option[count].doc) count++;
    parse_line(argc, argv, r->flags.option, count, r);
    if ((r->public_data != NULL) + r->not_private + r->private > 1)
        return cmd_fail(BILLBOARD_USAGE,
                        "tune: one of --public, --private, --not-private, not both");
    if (r->public_data) cmd_options_add(&r->own, "data", "public");
    if (r->not_private) cmd_options_add(&r->own, "data", "not-private");
    if (r->private) cmd_options_add(&r->own, "data", "private");
    if (r->grid) cmd_options_add(&r->own, "grid", r->grid);
    if (!r->public_data && !r->data)
        return cmd_fail(BILLBOARD_USAGE, "tune: which DATA?");
    return r->own.failed || r->given.failed
               ? cmd_fail(BILLBOARD_FAILED, "no memory for the flags")
               : BILLBOARD_OK;
}

/* -- words -- */

static double number(const billboard_answer *a, size_t k, const char *name) {
    char path[100];
    snprintf(path, sizeof path, "tried.%zu.%s", k, name);
    return billboard_answer_number(a, path);
}

static const char *words(const billboard_answer *a, size_t k, const char *name) {
    char path[100];
    snprintf(path, sizeof path, "tried.%zu.%s", k, name);
    return billboard_answer_text(a, path);
}

/* `where` is "best" or "tried.3". */
static void print_flags(const billboard_answer *a, const char *where, FILE *to) {
    char path[100];
    snprintf(path, sizeof path, "%s.flags", where);
    const size_t count = billboard_answer_count(a, path);
    for (size_t f = 0; f < count; f++) {
        snprintf(path, sizeof path, "%s.flags.%zu.name", where, f);
        fprintf(to, " --%s", billboard_answer_text(a, path));
        snprintf(path, sizeof path, "%s.flags.%zu.value", where, f);
        fprintf(to, " %s", billboard_answer_text(a, path));
    }
}

static void print_tried(const billboard_answer *a, size_t k, FILE *to) {
    char where[40];
    snprintf(where, sizeof where, "tried.%zu", k);
    print_flags(a, where, to);
}

/* The better before the worse, of as many folds. */
static bool is_before(const billboard_answer *a, size_t k, size_t l) {
    const double folds = number(a, k, "folds") - number(a, l, "folds");
    const double loss = number(a, k, "loss") - number(a, l, "loss");
    if (folds != 0.0) return folds > 0.0;
    return loss < 0.0 || (loss == 0.0 && k < l);
}

static billboard_status print_table(const billboard_answer *a, FILE *to) {
    const size_t count = billboard_answer_count(a, "tried");
    size_t *order = calloc(count, sizeof *order);
    if (!order) return cmd_fail(BILLBOARD_FAILED, "no memory for a table");
    for (size_t k = 0; k < count; k++) {
        size_t at = k;
        for (; at && is_before(a, k, order[at - 1]); at--) order[at] = order[at - 1];
        order[at] = k;
    }
    fprintf(to, "folds  %-9s  ± s.e.   setting\n", billboard_answer_text(a, "metric"));
    for (size_t n = 0; n < count; n++) {
        const size_t k = order[n];
        const double error = number(a, k, "standard_error"); /* NAN of one fold */
        char loss[24] = "-", spread[24] = "-";
        if (number(a, k, "folds") > 0.0)
            snprintf(loss, sizeof loss, "%.5g", number(a, k, "loss"));
        if (isfinite(error)) snprintf(spread, sizeof spread, "%.2g", error);
        fprintf(to, "%5.0f  %-9s  %-8s", number(a, k, "folds"), loss, spread);
        print_tried(a, k, to);
        if (words(a, k, "failure")) fprintf(to, "  (%s)", words(a, k, "failure"));
        putc('\n', to);
    }
    free(order);
    return BILLBOARD_OK;
}

static billboard_status print(const billboard_answer *a, const char *path, FILE *to) {
    const size_t best = (size_t)billboard_answer_number(a, "best");
    const billboard_status status = print_table(a, to);
    if (status) return status;
    fputs("\nBest:", to);
    print_tried(a, best, to);
    if (path)
        fprintf(to, "\nWritten to %s: billboard train DATA --config %s", path, path);
    putc('\n', to);
    if (billboard_answer_number(a, "from_private_data") > 0.0)
        fputs("NOT PRIVATE: this was chosen by looking at the data, without any noise; "
              "runs with it say so (--tuned-on-data).\n",
              to);
    return BILLBOARD_OK;
}

/* Of the best of a random number of runs. */
static void print_found(const billboard_answer *a, FILE *to) {
    const double mu = billboard_answer_number(a, "mu.best_of");
    if (billboard_answer_text(a, "best.method")) {
        fputs("Best:", to);
        print_flags(a, "best", to);
        fprintf(
            to,
            "\nits score %.4g (error of held-out rows, 0 to 1; standard deviation of "
            "the noise in it %.2g)\n",
            billboard_answer_number(a, "best.score"),
            billboard_answer_number(a, "best.noise"));
        fprintf(to, "Published: %s\n", billboard_answer_text(a, "output"));
    } else {
        fputs("The number of runs was drawn as 0: nothing was published.\n", to);
    }
    fprintf(
        to,
        "The whole: ε %g, δ %g of a whole task, %s, sampling %s; the best of %.0f runs "
        "on average\n",
        billboard_answer_number(a, "epsilon"), billboard_answer_number(a, "delta"),
        billboard_answer_text(a, "adjacency"), billboard_answer_text(a, "sampling"),
        billboard_answer_number(a, "runs"));
    fprintf(
        to,
        "Each run has %.2g times the noise of a single one with this budget; if all "
        "were paid for, and the best chosen by the exponential mechanism, %.2g\n",
        billboard_answer_number(a, "mu.alone") / mu,
        billboard_answer_number(a, "mu.alone") /
            billboard_answer_number(a, "mu.composed"));
}

static billboard_status tune(const request *r, const billboard_job *job,
                             cmd_output *output) {
    progress bar = progress_open();
    const billboard_watch watch = {sizeof watch, &bar, progress_watch, cmd_notice,
                                   cmd_listen()};
    billboard_data *data = NULL;
    billboard_answer *best = NULL;
    billboard_status status =
        billboard_data_from_file(r->public_data ? r->public_data : r->data, &data);
    if (!status)
        status = billboard_tune(job, data, r->own.option, r->own.count, &watch, &best);
    progress_close(&bar);
    if (!status && r->json)
        fprintf(output->stream, "%s\n", billboard_answer_json(best));
    else if (!status && r->private)
        print_found(best, output->stream);
    else if (!status)
        status = print(best, cmd_options_last(&r->own, "output"), output->stream);
    billboard_answer_free(best);
    billboard_data_free(data);
    return status;
}

int cmd_tune(int argc, char **argv) {
    request r = {0};
    billboard_job *job = NULL;
    cmd_output output = {0};
    billboard_status status = read_line(argc, argv, &r);
    if (!status) status = cmd_open(&output);
    if (!status) status = billboard_job_new(&job);
    for (size_t k = 0; k < r.given.count && !status; k++)
        status =
            billboard_job_set(job, r.given.option[k].name, r.given.option[k].value);
    if (!status) status = tune(&r, job, &output);
    billboard_job_free(job);
    cmd_options_free(&r.given);
    cmd_options_free(&r.own);
    cmd_flags_close(&r.flags);
    free(r.grid);
    return cmd_close(&output, status);
}
