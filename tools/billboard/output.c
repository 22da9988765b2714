#include "cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { USUAL_WIDTH = 80, LEAST_WIDTH = 20 };

size_t cmd_width(int fd) {
    const char *columns = getenv("COLUMNS");
    struct winsize size = {0};
    unsigned long width = 0;
    char *end;
    if (isatty(fd) != 1) return 0;
    if (columns && *columns >= '0' && *columns <= '9') {
        width = strtoul(columns, &end, 10);
        if (*end) width = 0;
    }
    if (!width && ioctl(fd, TIOCGWINSZ, &size) == 0) width = size.ws_col;
    if (!width) return USUAL_WIDTH;
    return width < LEAST_WIDTH ? LEAST_WIDTH : (size_t)width;
}

double cmd_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static char message[1024]; /* the program's own; "": billboard_error() */

billboard_status cmd_fail(billboard_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return status;
}

const char *cmd_failure(void) {
    const char *said = *message ? message : billboard_error();
    return *said ? said : "it failed";
}

int cmd_say_failure(billboard_status status) {
    fprintf(stderr, "billboard: %s\n", cmd_failure());
    return (int)status;
}

void cmd_notice(void *self, const char *text) {
    (void)self;
    fprintf(stderr, "billboard: %s\n", text);
}

void cmd_say_notes(const billboard_answer *answer, const char *before, FILE *stream) {
    const size_t notes = billboard_answer_count(answer, "notes");
    for (size_t k = 0; k < notes; k++) {
        char path[40];
        snprintf(path, sizeof path, "notes.%zu", k);
        fprintf(stream, "%s%s\n", before, billboard_answer_text(answer, path));
    }
}

billboard_status cmd_open(cmd_output *output) {
    *output = (cmd_output){0};
    output->stream = open_memstream(&output->text, &output->size);
    return output->stream ? BILLBOARD_OK
                          : cmd_fail(BILLBOARD_FAILED, "no memory for the output");
}

const char *cmd_option_part(const billboard_answer *table, size_t k, const char *what) {
    char path[60];
    snprintf(path, sizeof path, "options.%zu.%s", k, what);
    return billboard_answer_text(table, path);
}

/* Which list the option is; CMD_LISTS: none. */
static size_t list_of(const char *name) {
    static const char *const list[CMD_LISTS] = {"ignore", "features", "compare",
                                                "methods"};
    size_t k = 0;
    while (k < CMD_LISTS && strcmp(list[k], name) != 0) k++;
    return k;
}

/* What comes behind a list so far. */
static void go_on(cmd_options *o, char **list, const char **so_far, const char *more) {
    const size_t size = strlen(*so_far) + strlen(more) + 2;
    char *both = malloc(size);
    if (!both) {
        o->failed = true;
        return;
    }
    snprintf(both, size, "%s,%s", *so_far, more);
    free(*list);
    *so_far = *list = both;
}

static billboard_option *last(const cmd_options *o, const char *name) {
    for (size_t k = o->count; k-- > 0;)
        if (strcmp(o->option[k].name, name) == 0) return &o->option[k];
    return NULL;
}

void cmd_options_add(cmd_options *o, const char *name, const char *value) {
    const size_t list = list_of(name);
    billboard_option *before = list < CMD_LISTS ? last(o, name) : NULL;
    if (before) {
        go_on(o, &o->list[list], &before->value, value);
        return;
    }
    if (o->count == o->room) {
        const size_t room = o->room ? 2 * o->room : 16;
        billboard_option *more = realloc(o->option, room * sizeof *more);
        if (!more) {
            o->failed = true;
            return;
        }
        o->option = more;
        o->room = room;
    }
    o->option[o->count++] = (billboard_option){name, value};
}

const char *cmd_options_last(const cmd_options *o, const char *name) {
    const billboard_option *option = last(o, name);
    return option ? option->value : NULL;
}

void cmd_options_free(cmd_options *o) {
    for (size_t k = 0; k < CMD_LISTS; k++) free(o->list[k]);
    free(o->option);
    *o = (cmd_options){0};
}

/* How many bytes of the line, up to a blank between words, the terminal can show. UTF-8:
 * bytes that go on with a character take no column. */
static size_t fitting(const char *line, size_t length, size_t width) {
    size_t columns = 0, blank = 0;
    bool word = false;
    for (size_t k = 0; k < length; k++) {
        columns += ((unsigned char)line[k] & 0xc0) != 0x80;
        if (line[k] != ' ')
            word = true;
        else if (word)
            blank = k;
        if (columns > width && blank) return blank;
    }
    return length;
}

/* What goes on begins where the line does. */
static void put_wrapped(FILE *to, const char *line, size_t length, size_t width) {
    const size_t blanks = strspn(line, " "), indent = blanks < width / 2 ? blanks : 0;
    size_t take = fitting(line, length, width);
    fprintf(to, "%.*s\n", (int)take, line);
    while (take < length) {
        line += take + 1;
        length -= take + 1;
        take = fitting(line, length, width - indent);
        fprintf(to, "%*s%.*s\n", (int)indent, "", (int)take, line);
    }
}

/* Lines that are longer than a terminal are broken where that was asked for. */
static void put_answer(const cmd_output *output) {
    const size_t width = output->wrap ? cmd_width(STDOUT_FILENO) : 0;
    if (!width) {
        fwrite(output->text, 1, output->size, stdout);
        return;
    }
    for (const char *line = output->text; *line;) {
        const size_t length = strcspn(line, "\n");
        put_wrapped(stdout, line, length, width);
        line += length + (line[length] == '\n');
    }
}

/* The reader has left: main ignores SIGPIPE, so that no run dies of it half-way; now
 * that all is done, the program ends by it. */
static void end_by_sigpipe(void) {
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(SIGPIPE, &usual, NULL);
    raise(SIGPIPE);
}

int cmd_close(cmd_output *output, billboard_status status) {
    if (output->stream) {
        const bool broken = ferror(output->stream);
        if ((fclose(output->stream) || broken) && !status)
            status = cmd_fail(BILLBOARD_FAILED, "no memory for the output");
    }
    if (!status && output->size) {
        put_answer(output);
        const bool failed = fflush(stdout) || ferror(stdout);
        if (failed && errno == EPIPE) end_by_sigpipe();
        if (failed)
            status =
                cmd_fail(BILLBOARD_FAILED, "standard output: cannot be written: %s",
                         strerror(errno));
    }
    free(output->text);
    *output = (cmd_output){0};
    return status ? cmd_say_failure(status) : 0;
}
