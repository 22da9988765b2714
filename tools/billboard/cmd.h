/* cmd.h - the subcommands of the program, and what they share.
 *
 * A command collects everything it has to say, and says it on stdout only when it has
 * succeeded; a failure is one message on stderr and leaves stdout empty. */
#ifndef BILLBOARD_CMD_H
#define BILLBOARD_CMD_H

#include "base/options.h"
#include "base/status.h"

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

/* Each gets its own arguments, argv[0] being "billboard train" and so on, and returns
 * the program's exit code. */
int cmd_info(int argc, char **argv);
int cmd_train(int argc, char **argv);
int cmd_evaluate(int argc, char **argv);
int cmd_predict(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_methods(int argc, char **argv);
int cmd_synth(int argc, char **argv);
int cmd_ledger(int argc, char **argv);
int cmd_audit(int argc, char **argv);
/* `billboard audit --method ...`, which cmd_audit hands over to. */
int cmd_audit_run(int argc, char **argv);
int cmd_account(int argc, char **argv);

/* Exit code of an audit that refuted a claim. */
enum { CMD_VIOLATED = 4 };

/* The columns of the terminal behind a file descriptor: COLUMNS, or what the terminal
 * says, or 80; 0 if it is no terminal. */
size_t cmd_width(int fd);

/* Says on stderr what went wrong; returns the exit code (docs/exit-codes.md). */
int cmd_failed(bb_status status);

/* Says on stderr that a ledger is locked; for bb_ledger_on_wait. */
void cmd_say_waiting(void *self, const char *path);

/* What a command will say on stdout. */
typedef struct cmd_output {
    FILE *stream;
    char *text;
    size_t size;
    bool wrap; /* text: break lines longer than the terminal behind stdout; a pipe or a
                  file gets them as they are */
} cmd_output;

BB_MUST_CHECK bb_status cmd_output_open(cmd_output *output);
BB_MUST_CHECK bb_status cmd_output_json(const cmd_output *output, const json_t *json);
/* Appends to a list, which becomes NULL when memory runs out (and stays NULL). */
void cmd_append(json_t **list, json_t *item);
/* Writes it to stdout unless status is a failure, which is reported instead. Frees the
 * output, and returns the exit code; ends by SIGPIPE, as other programs do, if nobody
 * reads it any more. */
int cmd_output_close(cmd_output *output, bb_status status);

#endif
