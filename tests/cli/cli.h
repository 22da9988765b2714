/* cli.h - runs the real program in a temporary folder, and looks at what it leaves. */
#ifndef BB_TESTS_CLI_H
#define BB_TESTS_CLI_H

#include "test.h"

#include <jansson.h>

#include <stdbool.h>
#include <sys/types.h>

/* Every test program works in a fresh folder, which is removed in the end. */
int cli_open(void **state);
int cli_close(void **state);

typedef struct cli_result {
    int code; /* exit code, or 128 + signal */
    char *out, *err;
} cli_result;

/* Runs `billboard` with these arguments, through the shell. */
cli_result cli(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_free(cli_result *result);

/* Runs and expects: success with nothing on stderr but doubts about the results, which
 * noise that nobody seeded may bring; or this exit code, nothing on
 * stdout, one line on stderr that begins with "billboard" and contains `words`. */
void cli_ok(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_fails(int code, const char *words, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Runs, expects success, and reads stdout as one JSON object. */
json_t *cli_json(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Starts without waiting; the arguments are separated by single spaces. */
pid_t cli_start(const char *arguments);
/* Waits; exit code or 128 + signal. */
int cli_wait(pid_t pid);

void cli_write(const char *path, const char *text);
char *cli_read(const char *path);
bool cli_exists(const char *path);
/* How many files or folders match a pattern. */
size_t cli_count(const char *pattern);
void cli_sleep(double seconds);

/* A member by its path: "test.nmse". */
json_t *cli_at(const json_t *json, const char *path);
double cli_number(const json_t *json, const char *path);
const char *cli_text(const json_t *json, const char *path);

#endif
