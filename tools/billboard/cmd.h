/* cmd.h - the subcommands of the program, and what they share.
 *
 * A command collects everything it has to say, and says it on stdout only when it has
 * succeeded; a failure is one message on stderr and leaves stdout empty. Commands know
 * billboard.h and nothing else of Billboard. */
#ifndef BILLBOARD_CMD_H
#define BILLBOARD_CMD_H

#include <argp.h>
#include <billboard/billboard.h>
#include <stdbool.h>
#include <stdio.h>

/* Each gets its own arguments, argv[0] being "billboard train" and so on, and returns
 * the program's exit code. */
int cmd_info(int argc, char **argv);
int cmd_train(int argc, char **argv);
int cmd_tune(int argc, char **argv);
int cmd_evaluate(int argc, char **argv);
int cmd_predict(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_methods(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_synth(int argc, char **argv);
int cmd_ledger(int argc, char **argv);
int cmd_audit(int argc, char **argv);
/* `billboard audit --method ...`, which cmd_audit hands over to. */
int cmd_audit_run(int argc, char **argv);
int cmd_account(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_advise(int argc, char **argv);
int cmd_experiment(int argc, char **argv);
int cmd_silo(int argc, char **argv);
int cmd_curator(int argc, char **argv);
int cmd_helper(int argc, char **argv);
int cmd_policy(int argc, char **argv);
int cmd_identity(int argc, char **argv);

/* What both have: asks, with progress; and ends, saying whether a claim was refuted. Frees
 * the verdict. */
struct cmd_options;
struct cmd_output;
BILLBOARD_CHECK billboard_status cmd_audit_ask(const struct cmd_options *given,
                                               billboard_answer **verdict);
int cmd_audit_end(struct cmd_output *output, billboard_status status,
                  billboard_answer *verdict);

/* Exit code of an audit that refuted a claim. */
enum { CMD_VIOLATED = 4 };

/* The columns of the terminal behind a file descriptor: COLUMNS, or what the terminal
 * says, or 80; 0 if it is no terminal. */
size_t cmd_width(int fd);

/* Seconds since some moment, which go on evenly. */
double cmd_now(void);

/* Set by Ctrl-C, SIGTERM, SIGHUP and SIGUSR1 from this call on, for billboard_watch. */
const billboard_flag *cmd_listen(void);

/* Keeps a message of the program's own, in place of billboard_error(); returns the
 * status. */
billboard_status cmd_fail(billboard_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What went wrong: that message, or billboard_error(). */
const char *cmd_failure(void);
/* Says on stderr what went wrong; returns the exit code (docs/exit-codes.md). */
int cmd_say_failure(billboard_status status);

/* What stands behind a noun of so many: "1 row", "2 rows". */
static inline const char *cmd_plural(double count) {
    return count == 1.0 ? "" : "s";
}

/* Says something on stderr that is no failure; for billboard_watch. */
void cmd_notice(void *self, const char *text);

/* What an answer's `notes' say of rows that were read: each behind `before', on a line. */
void cmd_say_notes(const billboard_answer *answer, const char *before, FILE *stream);

/* What a command will say on stdout. */
typedef struct cmd_output {
    FILE *stream;
    char *text;
    size_t size;
    bool wrap; /* text: break lines longer than the terminal behind stdout; a pipe or a
                  file gets them as they are */
} cmd_output;

BILLBOARD_CHECK billboard_status cmd_open(cmd_output *output);
/* Writes it to stdout unless status is a failure, which is reported instead. Frees the
 * output, and returns the exit code; ends by SIGPIPE, as other programs do, if nobody
 * reads it any more. */
int cmd_close(cmd_output *output, billboard_status status);

/* Of row k of a table of options (billboard_options): "name", "argument", "help",
 * "choices" or "default_text"; NULL: it has none. */
const char *cmd_option_part(const billboard_answer *table, size_t k, const char *what);

/* Names and values of the command line, in its order. */
enum { CMD_LISTS = 4 };
typedef struct cmd_options {
    billboard_option *option;
    size_t count, room;
    char *list[CMD_LISTS]; /* what was said in several parts; NULL: nothing was */
    bool failed;           /* no memory */
} cmd_options;
/* A list that is given again (--ignore a --ignore b) goes on. */
void cmd_options_add(cmd_options *options, const char *name, const char *value);
/* The last value of this name; NULL: not given, or without one. */
const char *cmd_options_last(const cmd_options *options, const char *name);
void cmd_options_free(cmd_options *options);

#endif
