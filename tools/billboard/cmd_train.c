#include "flags.h"
#include "progress.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The command line, in its order. */
typedef struct line {
    cmd_flags flags;
    cmd_options given; /* names belong to flags */
    const char *data;
} line;

static error_t parse(int key, char *text, struct argp_state *state) {
    line *l = state->input;
    const char *name = cmd_flags_name(&l->flags, key);
    if (name) {
        cmd_options_add(&l->given, name, text);
        return 0;
    }
    if (key == ARGP_KEY_ARG && l->data) argp_error(state, "takes one DATA");
    if (key == ARGP_KEY_ARG) {
        l->data = text;
        return 0;
    }
    if (key == ARGP_KEY_NO_ARGS && !cmd_options_last(&l->given, "resume"))
        argp_error(state, "which DATA?");
    return ARGP_ERR_UNKNOWN;
}

static billboard_status read_line(int argc, char **argv, line *l) {
    const billboard_status status = cmd_flags_open(&l->flags);
    if (status) return status;
    const struct argp argp = {
        l->flags.option,
        parse,
        "DATA\n--resume FILE",
        "Trains one personal model for each task of DATA, jointly and privately, and "
        "writes the run directory RUN.\vExample: billboard train pupils.csv --task "
        "school --target score --epsilon 1 --train-fraction 0.7",
        NULL,
        NULL,
        NULL};
    argp_parse(&argp, argc, argv, 0, NULL, l);
    return l->given.failed ? cmd_fail(BILLBOARD_FAILED, "no memory for the flags")
                           : BILLBOARD_OK;
}

/* pupils.run for data/pupils.csv: here, and named after what was read. */
static billboard_status name_place(const char *data, billboard_job *job) {
    size_t end = strlen(data);
    while (end > 1 && data[end - 1] == '/') end--;
    size_t first = end;
    while (first > 0 && data[first - 1] != '/') first--;
    size_t stem = end - first;
    for (size_t k = 1; k < end - first; k++)
        if (data[first + k] == '.') stem = k;
    char *name = malloc(stem + sizeof ".run");
    if (!name) return cmd_fail(BILLBOARD_FAILED, "no memory for a name");
    memcpy(name, data + first, stem);
    memcpy(name + stem, ".run", sizeof ".run");
    const billboard_status status = billboard_job_set(job, "output", name);
    free(name);
    return status;
}

/* The library keeps a run in memory where no place is named; here there is one. */
static billboard_status need_place(const line *l, billboard_job *job) {
    billboard_answer *options = NULL;
    if (!l->data || cmd_options_last(&l->given, "output") ||
        cmd_options_last(&l->given, "resume"))
        return BILLBOARD_OK;
    billboard_status status = billboard_job_options(job, &options);
    if (!status && !billboard_answer_text(options, "output"))
        status = name_place(l->data, job);
    billboard_answer_free(options);
    return status;
}

static billboard_status make_job(const line *l, billboard_job **job) {
    billboard_status status = billboard_job_new(job);
    for (size_t k = 0; k < l->given.count && !status; k++)
        status =
            billboard_job_set(*job, l->given.option[k].name, l->given.option[k].value);
    return status ? status : need_place(l, *job);
}

static void warn(void *self, const char *text) {
    progress_close(self);
    fprintf(stderr, "billboard: warning: %s\n", text);
}

static bool joined; /* this process is a rank, which others know of */

/* What all ranks find wrong before they have joined, rank 0 says; a launcher ends all of
 * them when the first one does. */
static void let_rank_0_speak(void) {
    if (!joined) sleep(3);
}

/* Rank 0 alone speaks: what all ranks have to say, it says, too. Returns where messages
 * went, or -1. */
static int silence(void) {
    if (billboard_ranks_number() == 0) return -1;
    const int messages = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
        exit(BILLBOARD_FAILED);
    setvbuf(stderr, NULL, _IONBF, 0);
    atexit(let_rank_0_speak);
    return messages;
}

/* Rank 0 was lost, and this one speaks in its place. */
static void speak(int messages, const billboard_ranks *ranks) {
    if (messages < 0) return;
    if (ranks && billboard_ranks_speaks(ranks)) dup2(messages, STDERR_FILENO);
    close(messages);
}

static billboard_status run(const line *l, const billboard_job *job,
                            billboard_ranks *ranks, cmd_output *output) {
    progress bar = progress_open();
    billboard_watch watch = {sizeof watch, &bar, progress_watch, warn, NULL};
    billboard_data *data = NULL;
    billboard_result *result = NULL;
    billboard_status status =
        l->data ? billboard_data_from_file(l->data, &data) : BILLBOARD_OK;
    if (!status) {
        watch.stop = cmd_listen();
        status = billboard_job_run_ranks(job, data, NULL, &watch, ranks, &result);
        progress_close(&bar);
    }
    if (!status && result) {
        const billboard_answer *answer = billboard_result_answer(result);
        const bool json = billboard_answer_number(answer, "options.json") > 0.0;
        const char *place = billboard_answer_text(answer, "options.output");
        fputs(json ? billboard_answer_json(answer) : billboard_result_text(result),
              output->stream);
        if (json) putc('\n', output->stream);
        if (!json && place) fprintf(output->stream, "Written to %s.\n", place);
        output->wrap = !json;
    }
    billboard_result_free(result);
    billboard_data_free(data);
    return status;
}

int cmd_train(int argc, char **argv) {
    line l = {0};
    billboard_job *job = NULL;
    billboard_ranks *ranks = NULL;
    cmd_output output = {0};
    const int messages = silence();
    billboard_status status = read_line(argc, argv, &l);
    if (!status) status = make_job(&l, &job);
    if (!status) status = cmd_open(&output);
    if (!status) status = billboard_ranks_join(&ranks);
    joined = !status;
    if (!status) status = run(&l, job, ranks, &output);
    billboard_job_free(job);
    cmd_options_free(&l.given);
    cmd_flags_close(&l.flags);
    speak(messages, ranks);
    const int code = cmd_close(&output, status);
    billboard_ranks_leave(ranks, code);
    return code;
}
