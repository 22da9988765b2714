#include "cmd.h"
#include "progress.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    const char *path;
    long long
        tasks; /* that runs may have from now on; less than 0: may not; 0: as before */
    bool json;
} request;

static double number(const billboard_answer *a, const char *part, const char *name) {
    char path[60];
    snprintf(path, sizeof path, "%s%s%s", part, *part ? "." : "", name);
    return billboard_answer_number(a, path);
}

static const char *text(const billboard_answer *a, const char *part, const char *name) {
    char path[60];
    snprintf(path, sizeof path, "%s%s%s", part, *part ? "." : "", name);
    return billboard_answer_text(a, path);
}

/* The currency beside (epsilon, delta): its key, and the word for it; kind sum: NULL. */
typedef struct currency {
    const char *key, *word;
} currency;

static currency currency_of(const billboard_answer *a) {
    const char *kind = text(a, "", "kind");
    if (strcmp(kind, "gdp") == 0) return (currency){"mu_squared", "mu^2"};
    if (strcmp(kind, "rdp") == 0) return (currency){"rdp", "RDP"};
    return (currency){NULL, NULL};
}

static void print_pair(const billboard_answer *a, currency c, const char *title,
                       FILE *stream) {
    fprintf(stream, "%-11s epsilon %-10.6g delta %-*.6g", title,
            number(a, title, "epsilon"), c.key ? 10 : 0, number(a, title, "delta"));
    if (c.key) fprintf(stream, " %s %.6g", c.word, number(a, title, c.key));
    fputc('\n', stream);
}

static void print_entry(const billboard_answer *a, currency c, size_t k, FILE *stream) {
    char part[40];
    snprintf(part, sizeof part, "entries.%zu", k);
    fprintf(stream, "%s%4.0f  %s  %-7s  epsilon %-10.6g delta %-10.6g", k ? "" : "\n",
            number(a, part, "id"), text(a, part, "time"), text(a, part, "state"),
            number(a, part, "epsilon"), number(a, part, "delta"));
    if (c.key) fprintf(stream, " %s %.6g", c.word, number(a, part, c.key));
    fprintf(stream, " %s\n", text(a, part, "description"));
    const char *directory = text(a, part, "directory");
    if (directory) fprintf(stream, "      %s\n", directory);
}

static void print_text(const billboard_answer *a, FILE *stream) {
    const currency c = currency_of(a);
    const double order = number(a, "", "order");
    double tasks = number(a, "", "tasks");
    fprintf(stream, "population  %s: %.0f", text(a, "", "population"), tasks);
    for (size_t k = 0; k < billboard_answer_count(a, "also_tasks"); k++) {
        char at[40];
        snprintf(at, sizeof at, "also_tasks.%zu", k);
        tasks = billboard_answer_number(a, at);
        fprintf(stream, " or %.0f", tasks);
    }
    fprintf(stream, " task%s, %s, sampling: %s\n", cmd_plural(tasks),
            text(a, "", "adjacency"), text(a, "", "sampling"));
    fprintf(stream, "kind        %s", text(a, "", "kind"));
    if (!isnan(order)) fprintf(stream, ", order %.15g", order);
    fputc('\n', stream);
    print_pair(a, c, "budget", stream);
    print_pair(a, c, "spent", stream);
    if (c.key)
        fprintf(stream, "left        %s %.6g\n", c.word, number(a, "left", c.key));
    else
        print_pair(a, c, "left", stream);
    for (size_t k = 0; k < billboard_answer_count(a, "entries"); k++)
        print_entry(a, c, k, stream);
}

static void take_tasks(request *r, const char *text, struct argp_state *state) {
    char *end;
    errno = 0;
    r->tasks = strtoll(text, &end, 10);
    if (errno || end == text || *end || r->tasks == 0 || r->tasks == LLONG_MIN)
        argp_error(state, "--tasks: expected a number of tasks, or -M, got \"%s\"",
                   text);
}

/* Whoever has mistyped the number sees it, and how to take it back. */
static billboard_status change_tasks(const request *r, const billboard_watch *watch) {
    char text[120];
    const size_t tasks = (size_t)(r->tasks < 0 ? -r->tasks : r->tasks);
    const bool adds = r->tasks > 0;
    if (!tasks) return BILLBOARD_OK;
    const billboard_status status =
        adds ? billboard_ledger_tasks(r->path, tasks, watch)
             : billboard_ledger_not_tasks(r->path, tasks, watch);
    snprintf(
        text, sizeof text,
        "from now on it charges runs of %zu task%s, too: --tasks -%zu takes that back",
        tasks, cmd_plural((double)tasks), tasks);
    if (!status && adds) cmd_notice(NULL, text);
    return status;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    request *r = state->input;
    if (key == 'j')
        r->json = true;
    else if (key == 't')
        take_tasks(r, argument, state);
    else if (key == ARGP_KEY_ARG && !r->path)
        r->path = argument;
    else if (key == ARGP_KEY_ARG)
        argp_error(state, "takes one FILE");
    else if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "which FILE?");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

int cmd_ledger(int argc, char **argv) {
    static const struct argp_option option[] = {
        {"json", 'j', NULL, 0, "as one JSON object", 0},
        {"tasks", 't', "M", 0,
         "from now on runs of M tasks are charged to it, too: of the same tasks with "
         "some more or fewer, each still what it was; -M takes that back",
         0},
        {0}};
    const struct argp argp = {
        option,
        parse,
        "FILE",
        "Shows a population's privacy budget, and the runs that were charged to it: "
        "running; done; died, if its process ended before it was done; or unknown, if "
        "that cannot be seen from here. A run keeps its charge however it ends.",
        NULL,
        NULL,
        NULL};
    const billboard_watch watch = {.struct_size = sizeof watch, .warn = cmd_notice};
    request r = {0};
    billboard_answer *ledger = NULL;
    cmd_output output = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &r);
    billboard_status status = cmd_open(&output);
    if (!status) status = change_tasks(&r, &watch);
    if (!status) status = billboard_ledger(r.path, &watch, &ledger);
    if (!status && r.json)
        fprintf(output.stream, "%s\n", billboard_answer_json(ledger));
    else if (!status)
        print_text(ledger, output.stream);
    billboard_answer_free(ledger);
    return cmd_close(&output, status);
}
