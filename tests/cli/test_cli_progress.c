/* Progress is for people: on a terminal there is a bar, in a pipe there is nothing. */
#include "cli.h"

#include <fcntl.h>
#include <sys/wait.h>

static const char command[] =
    "train W.csv --method mp-lowrank --epsilon 1 --rounds 2000 --threads 1 -o ";

static void make_world(void) {
    if (!cli_exists("W.csv"))
        cli_ok("synth low-rank --tasks 40 --samples 12 --features 5 --seed 2 -o W.csv");
}

static void a_pipe_gets_nothing(void **state) {
    (void)state;
    make_world();
    cli_result r = cli("%spipe", command);
    assert_int_equal(r.code, 0);
    assert_true(!*r.err || strstr(r.err, "; likely ")); /* doubts are not progress */
    assert_null(strchr(r.err, '\r'));
    assert_null(strchr(r.out, '\r'));
    cli_free(&r);
}

/* Runs with stderr, or stdout, on a new terminal and collects what appears there. */
static int with_terminal(const char *redirect, const char *line, char *seen,
                         size_t size) {
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    /* a container or chroot without /dev/pts has no terminals to give */
    if (master < 0 || grantpt(master) || unlockpt(master)) skip();
    const char *name = ptsname(master);
    char shell[500];
    size_t used = 0;
    size_t at = (size_t)snprintf(shell, sizeof shell, "'%s' %s ", BB_PROGRAM, line);
    snprintf(shell + at, sizeof shell - at, redirect, name);
    const int keep =
        open(name, O_RDWR | O_NOCTTY); /* so that reading never ends early */
    assert_true(keep >= 0);
    const pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", shell, (char *)NULL);
        _exit(127);
    }
    fcntl(master, F_SETFL, O_NONBLOCK);
    int status = 0;
    for (bool ended = false;;) {
        const ssize_t got = read(master, seen + used, size - 1 - used);
        if (got > 0) used += (size_t)got;
        if (got > 0) continue;
        if (ended) break;
        ended = waitpid(pid, &status, WNOHANG) == pid;
        cli_sleep(0.01);
    }
    seen[used] = '\0';
    close(keep);
    close(master);
    return WEXITSTATUS(status);
}

static int on_terminal(const char *line, char *seen, size_t size) {
    return with_terminal(">.out 2>%s", line, seen, size);
}

static void a_terminal_gets_a_bar(void **state) {
    (void)state;
    static char seen[1 << 20];
    char line[200];
    make_world();
    snprintf(line, sizeof line, "%sterminal", command);
    assert_int_equal(on_terminal(line, seen, sizeof seen), 0);
    assert_non_null(strstr(seen, "reading"));
    assert_non_null(strstr(seen, "round "));
    assert_non_null(strstr(seen, "###"));
    /* and the line is clean in the end */
    assert_string_equal(seen + strlen(seen) - 4, "\r\033[K");
    char *out = cli_read(".out");
    assert_null(strstr(out, "\033"));
    free(out);
}

/* How many runs a private search makes is told to nobody, not by steps of a bar either. */
static void a_private_search_has_no_bar(void **state) {
    (void)state;
    static char seen[2][1 << 20];
    char line[300];
    make_world();
    cli_write("ranges.json", "{\"target\": [-40, 40], \"others\": [-1, 1]}");
    for (int k = 0; k < 2; k++) {
        snprintf(
            line, sizeof line,
            "tune W.csv --scale ranges.json --method mp-prior --epsilon 2 --private "
            "--grid lambda=0.1,1 --runs %d --seed 1 -o found%d",
            k ? 12 : 3, k);
        assert_int_equal(on_terminal(line, seen[k], sizeof seen[k]), 0);
    }
    assert_non_null(strstr(seen[0], "searching"));
    assert_null(strstr(seen[0], " of "));
    assert_string_equal(seen[0], seen[1]);
}

static void work_at_home_has_a_bar(void **state) {
    (void)state;
    static char seen[1 << 20];
    make_world();
    assert_int_equal(
        on_terminal("train W.csv --method stl --threads 1 -o alone", seen, sizeof seen),
        0);
    assert_non_null(strstr(seen, "stl: task 40 of 40 [###"));
}

/* The longest of the lines that replaced each other. */
static size_t longest_line(const char *seen) {
    static const char new_line[] = "\r\033[K";
    size_t longest = 0;
    for (const char *line = strstr(seen, new_line); line;) {
        const char *next = strstr(line + 1, new_line);
        const size_t length =
            (next ? (size_t)(next - line) : strlen(line)) - strlen(new_line);
        if (length > longest) longest = length;
        line = next;
    }
    return longest;
}

/* Time passed and left; and no line reaches the last column, where some terminals begin
 * the next one. */
static void the_bar_fits_the_terminal(void **state) {
    (void)state;
    static char seen[1 << 20];
    char line[200];
    const char *const width[] = {"200", "80", "44", "30", "20"};
    make_world();
    for (size_t k = 0; k < sizeof width / sizeof *width; k++) {
        const size_t columns = strtoul(width[k], NULL, 10);
        assert_int_equal(setenv("COLUMNS", width[k], 1), 0);
        snprintf(line, sizeof line, "%sw%s", command, width[k]);
        assert_int_equal(on_terminal(line, seen, sizeof seen), 0);
        assert_true(longest_line(seen) < columns);
        assert_non_null(strstr(seen, "round "));
        if (columns >= 44) assert_non_null(strstr(seen, " 0:00 left"));
        if (columns >= 80) assert_non_null(strstr(seen, "##] 0:"));
    }
    assert_int_equal(unsetenv("COLUMNS"), 0);
}

/* The statement is broken between words on a terminal, and only there. */
static void the_statement_fits_the_terminal(void **state) {
    (void)state;
    static char seen[1 << 16];
    char line[200];
    size_t longest = 0;
    make_world();
    assert_int_equal(setenv("COLUMNS", "60", 1), 0);
    snprintf(line, sizeof line, "%swrapped", command);
    assert_int_equal(with_terminal(">%s 2>.err", line, seen, sizeof seen), 0);
    assert_int_equal(unsetenv("COLUMNS"), 0);
    const char *statement = strstr(seen, "Protected: ");
    assert_non_null(statement);
    for (const char *at = statement; *at;) {
        const size_t length = strcspn(at, "\r\n");
        size_t columns = 0;
        for (size_t k = 0; k < length; k++) columns += (at[k] & 0xc0) != 0x80;
        if (columns > longest) longest = columns;
        at += length + strspn(at + length, "\r\n");
    }
    assert_in_range(longest, 50, 60);
    char *file = cli_read("wrapped/public/statement.txt");
    assert_non_null(strstr(file, "from everybody who sees what is published, the other "
                                 "tasks together included.\n"));
    free(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipe_gets_nothing),
        cmocka_unit_test(a_terminal_gets_a_bar),
        cmocka_unit_test(a_private_search_has_no_bar),
        cmocka_unit_test(work_at_home_has_a_bar),
        cmocka_unit_test(the_bar_fits_the_terminal),
        cmocka_unit_test(the_statement_fits_the_terminal),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
