#include "cli.h"

#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { COMMAND_BYTES = 4096, MOST_ARGUMENTS = 64 };

static char folder[64];

int cli_open(void **state) {
    (void)state;
    strcpy(folder, "/tmp/billboard-cli-XXXXXX");
    return !mkdtemp(folder) || chdir(folder);
}

static int remove_one(const char *path, const struct stat *info, int type,
                      struct FTW *level) {
    (void)info, (void)type, (void)level;
    return remove(path);
}

int cli_close(void **state) {
    (void)state;
    return chdir("/") || nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* -- running
 * --------------------------------------------------------------------------- */

static cli_result run(const char *arguments) {
    char command[COMMAND_BYTES + 200];
    cli_result result = {0};
    snprintf(command, sizeof command, "'%s' %s >.out 2>.err </dev/null", BB_PROGRAM,
             arguments);
    const int status = system(command);
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.out = cli_read(".out");
    result.err = cli_read(".err");
    return result;
}

#define FORMATTED(buffer, format)                                                      \
    char buffer[COMMAND_BYTES];                                                        \
    do {                                                                               \
        va_list list;                                                                  \
        va_start(list, format);                                                        \
        vsnprintf(buffer, sizeof buffer, format, list);                                \
        va_end(list);                                                                  \
    } while (0)

cli_result cli(const char *format, ...) {
    FORMATTED(arguments, format);
    return run(arguments);
}

void cli_free(cli_result *result) {
    free(result->out);
    free(result->err);
}

/* Nothing, or doubts about the results: noise may have been large. */
static bool is_quiet(const char *err) {
    while (*err) {
        const char *end = strchr(err, '\n'), *doubt = strstr(err, "; likely ");
        if (!end || !doubt || doubt > end) return false;
        err = end + 1;
    }
    return true;
}

void cli_ok(const char *format, ...) {
    FORMATTED(arguments, format);
    cli_result r = run(arguments);
    if (r.code || !is_quiet(r.err))
        fail_msg("billboard %s: exit code %d, stderr: %s", arguments, r.code, r.err);
    cli_free(&r);
}

void cli_fails(int code, const char *words, const char *format, ...) {
    FORMATTED(arguments, format);
    cli_result r = run(arguments);
    const char *newline = strchr(r.err, '\n');
    if (r.code != code || *r.out || strncmp(r.err, "billboard", 9) != 0 ||
        !strstr(r.err, words) || !newline || newline[1])
        fail_msg("billboard %s: expected exit code %d and one line with \"%s\"; got "
                 "exit code %d, stdout \"%s\", stderr \"%s\"",
                 arguments, code, words, r.code, r.out, r.err);
    cli_free(&r);
}

json_t *cli_json(const char *format, ...) {
    FORMATTED(arguments, format);
    cli_result r = run(arguments);
    json_error_t error;
    if (r.code) fail_msg("billboard %s: exit code %d: %s", arguments, r.code, r.err);
    json_t *json = json_loads(r.out, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(json))
        fail_msg("billboard %s: no JSON object: %s: %s", arguments, error.text, r.out);
    cli_free(&r);
    return json;
}

pid_t cli_start(const char *arguments) {
    static char copy[COMMAND_BYTES], program[] = BB_PROGRAM;
    char *argument[MOST_ARGUMENTS + 2] = {program};
    size_t count = 1;
    snprintf(copy, sizeof copy, "%s", arguments);
    for (char *a = strtok(copy, " "); a && count <= MOST_ARGUMENTS;
         a = strtok(NULL, " "))
        argument[count++] = a;
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const int nothing = open("/dev/null", O_RDWR);
        dup2(nothing, STDIN_FILENO);
        dup2(open(".out", O_WRONLY | O_CREAT | O_TRUNC, 0666), STDOUT_FILENO);
        dup2(open(".err", O_WRONLY | O_CREAT | O_TRUNC, 0666), STDERR_FILENO);
        execv(program, argument);
        _exit(127);
    }
    return pid;
}

int cli_wait(pid_t pid) {
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* -- files
 * ----------------------------------------------------------------------------- */

void cli_write(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

char *cli_read(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s: cannot be opened", path);
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    char *text = calloc((size_t)size + 1, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    return text;
}

bool cli_exists(const char *path) {
    struct stat there;
    return lstat(path, &there) == 0;
}

size_t cli_count(const char *pattern) {
    glob_t found;
    const int status = glob(pattern, 0, NULL, &found);
    const size_t count = status ? 0 : found.gl_pathc;
    if (!status) globfree(&found);
    return count;
}

void cli_sleep(double seconds) {
    const struct timespec t = {(time_t)seconds, (long)(1e9 * fmod(seconds, 1.0))};
    nanosleep(&t, NULL);
}

/* -- JSON
 * ------------------------------------------------------------------------------ */

json_t *cli_at(const json_t *json, const char *path) {
    char name[64];
    while (json && *path) {
        const size_t length = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        json = json_object_get(json, name);
        path += length + (path[length] == '.');
    }
    return (json_t *)(uintptr_t)json;
}

double cli_number(const json_t *json, const char *path) {
    const json_t *at = cli_at(json, path);
    if (!json_is_number(at)) fail_msg("%s is no number", path);
    return json_number_value(at);
}

const char *cli_text(const json_t *json, const char *path) {
    const json_t *at = cli_at(json, path);
    if (!json_is_string(at)) fail_msg("%s is no text", path);
    return json_string_value(at);
}
