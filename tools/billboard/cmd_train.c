#include "base/memory.h"
#include "cmd_inside.h"
#include "flags.h"
#include "privacy/ledger/ledger.h"
#include "progress.h"
#include "train/train.h"

#include <signal.h>
#include <stdlib.h>

/* Set by Ctrl-C, SIGTERM or SIGHUP; the run ends before the next task works. */
static volatile sig_atomic_t stopped;

static void stop(int number) {
    (void)number;
    stopped = 1;
}

/* The second Ctrl-C ends the program at once. What the caller had ignored, as nohup does,
 * stays so. */
static void listen(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++)
        if (sigaction(signals[k], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[k], &action, NULL);
}

/* The command line, in its order. */
typedef struct line {
    bb_train_flag *flag;
    size_t flags, room;
    const char *data;
    bb_status status;
} line;

static error_t parse(int key, char *text, struct argp_state *state) {
    line *l = state->input;
    const char *name = cmd_flags_name(key);
    if (name) {
        if (!l->status)
            l->status =
                bb_grow(&l->flag, &l->room, l->flags + 1, sizeof *l->flag, "the flags");
        if (!l->status) l->flag[l->flags++] = (bb_train_flag){name, text};
        return 0;
    }
    if (key == ARGP_KEY_ARG && l->data) argp_error(state, "takes one DATA");
    if (key == ARGP_KEY_ARG) {
        l->data = text;
        return 0;
    }
    if (key == ARGP_KEY_NO_ARGS) argp_error(state, "which DATA?");
    return ARGP_ERR_UNKNOWN;
}

static bb_status read_line(int argc, char **argv, line *l) {
    cmd_flags flags = {0};
    const bb_status status = cmd_flags_open(&flags);
    if (status) return status;
    const struct argp argp = {
        flags.option,
        parse,
        "DATA",
        "Trains one personal model for each task of DATA, jointly and privately, and "
        "writes the run directory RUN.\vExample: billboard train pupils.csv --task "
        "school --target score --method mp-prior --epsilon 1 --train-fraction 0.7 "
        "-o run",
        NULL,
        NULL,
        NULL};
    argp_parse(&argp, argc, argv, 0, NULL, l);
    cmd_flags_close(&flags);
    return l->status;
}

static void say(void *self, const char *what) {
    progress_say(self, what);
}

static void warn(void *self, const char *text) {
    progress_close(self);
    fprintf(stderr, "billboard: warning: %s\n", text);
}

static void wait_for_ledger(void *self, const char *path) {
    progress_close(self);
    cmd_say_waiting(NULL, path);
}

int cmd_train(int argc, char **argv) {
    line l = {0};
    bb_train_request request = {0};
    bb_report report;
    cmd_output output = {0};
    progress bar = progress_open();
    const bb_watch watch = {&bar, say, progress_round, progress_home, warn, &stopped};
    bb_status status = read_line(argc, argv, &l);
    if (!status) status = bb_train_resolve(&request, l.flag, l.flags);
    if (!status) status = cmd_output_open(&output);
    if (!status) {
        listen();
        bb_ledger_on_wait(wait_for_ledger, &bar);
        status = bb_train_run(&request, l.data, &watch, &report);
        progress_close(&bar);
    }
    if (!status && request.options.json) {
        json_t *json = bb_report_json(&report);
        status = cmd_output_json(&output, json);
        json_decref(json);
    } else if (!status) {
        status = bb_report_text(&report, output.stream);
        output.wrap = true;
    }
    bb_train_request_free(&request);
    free(l.flag);
    return cmd_output_close(&output, status);
}
