#include "cmd.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct command {
    const char *name, *title, *summary;
    int (*run)(int argc, char **argv);
} command;

static const command known[] = {
    {"info", "billboard info", "what is in a data set", cmd_info},
    {"train", "billboard train", "train one personal model per task, privately",
     cmd_train},
    {"tune", "billboard tune", "which options learn best, by rows that are held out",
     cmd_tune},
    {"evaluate", "billboard evaluate", "how good a run's models are on new data",
     cmd_evaluate},
    {"predict", "billboard predict", "predictions of a run's models for new data",
     cmd_predict},
    {"export", "billboard export", "one task's model, with the public half of its run",
     cmd_export},
    {"report", "billboard report", "what runs have reached, as a page", cmd_report},
    {"experiment", "billboard experiment", "reproduce a figure or table: many runs",
     cmd_experiment},
    {"methods", "billboard methods", "the learning methods and their options",
     cmd_methods},
    {"convert", "billboard convert",
     "write data to a file that is trained with in place", cmd_convert},
    {"synth", "billboard synth", "write a synthetic population", cmd_synth},
    {"ledger", "billboard ledger", "what a population's budget was spent on",
     cmd_ledger},
    {"audit", "billboard audit", "try to refute a claim of privacy", cmd_audit},
    {"advise", "billboard advise",
     "what can be hoped for at a size and budget, and what theory advises", cmd_advise},
    {"silo", "billboard silo", "take part in a run with the rows of this place",
     cmd_silo},
    {"curator", "billboard curator", "conduct a run of several silos", cmd_curator},
    {"helper", "billboard helper",
     "keep the second door of a run, so that nobody need trust its curator",
     cmd_helper},
    {"identity", "billboard identity",
     "keys of silos, curators and helpers, and a roster of them", cmd_identity},
    {"policy", "billboard policy", "what a silo agrees to", cmd_policy},
    {"account", "billboard account", "what a plan costs, before any data are touched",
     cmd_account},
};
enum { COMMANDS = sizeof known / sizeof *known };

static void list(FILE *stream) {
    fputs("usage: billboard COMMAND [ARGUMENT...]\n\n"
          "Trains one personal model for each task (hospital, school, phone) jointly, "
          "so that\nnothing about one task leaks to the others.\n\n",
          stream);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(stream, "  %-10s %s\n", known[i].name, known[i].summary);
    fputs(
        "\n`billboard COMMAND --help' explains a command, `billboard methods METHOD' a "
        "method;\n`billboard --version' says which this is.\n",
        stream);
}

static const command *find(const char *name) {
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(known[i].name, name) == 0) return &known[i];
    return NULL;
}

static int run(const command *c, int argc, char **argv) {
    char title[40], help[] = "--help";
    snprintf(title, sizeof title, "%s", c->title);
    argv[0] = title;
    if (argc > 1 && strcmp(argv[1], "-h") == 0) argv[1] = help;
    return c->run(argc, argv);
}

/* `billboard help' and `billboard help COMMAND'. */
static int help(const char *name) {
    char flag[] = "--help", *arguments[] = {NULL, flag, NULL};
    if (!name) {
        list(stdout);
        return fflush(stdout) ? 1 : 0;
    }
    const command *c = find(name);
    if (c) return run(c, 2, arguments);
    return cmd_say_failure(
        cmd_fail(BILLBOARD_USAGE, "help: there is no command \"%s\"", name));
}

/* A standard stream that is closed would lend its number to the next file opened, and
 * messages would go there. Standard output stays one that cannot be written. */
static void keep_standard_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

/* Nothing dies of a reader of its messages who leaves (cmd_close sees to stdout), or of a
 * file that may not grow: that is a failed write, with a message. */
static void ignore_failed_writes(void) {
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
}

static bool asks_for_help(const char *name) {
    return strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 ||
           strcmp(name, "-h") == 0;
}

int main(int argc, char **argv) {
    keep_standard_streams();
    ignore_failed_writes();
    argp_err_exit_status = BILLBOARD_USAGE;
    if (argc < 2) return help(NULL);
    if (strcmp(argv[1], "--version") == 0) {
        printf("billboard %s\n", billboard_version());
        return fflush(stdout) ? 1 : 0;
    }
    if (asks_for_help(argv[1])) return help(argc > 2 ? argv[2] : NULL);
    const command *c = find(argv[1]);
    if (!c)
        return cmd_say_failure(
            cmd_fail(BILLBOARD_USAGE,
                     "there is no command \"%s\"; see `billboard help'", argv[1]));
    const billboard_status status = billboard_own_process();
    return status ? cmd_say_failure(status) : run(c, argc - 1, argv + 1);
}
