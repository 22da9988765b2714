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
    assert_string_equal(r.err, "");
    assert_null(strchr(r.out, '\r'));
    cli_free(&r);
}

/* Runs with stderr on a new terminal and collects what appears there. */
static int on_terminal(const char *line, char *seen, size_t size) {
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    /* a container or chroot without /dev/pts has no terminals to give */
    if (master < 0 || grantpt(master) || unlockpt(master)) skip();
    const char *name = ptsname(master);
    char shell[500];
    size_t used = 0;
    snprintf(shell, sizeof shell, "'%s' %s >.out 2>%s", BB_PROGRAM, line, name);
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

static void work_at_home_has_a_bar(void **state) {
    (void)state;
    static char seen[1 << 20];
    make_world();
    assert_int_equal(
        on_terminal("train W.csv --method stl --threads 1 -o alone", seen, sizeof seen),
        0);
    assert_non_null(strstr(seen, "stl: task 40 of 40 [###"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipe_gets_nothing),
        cmocka_unit_test(a_terminal_gets_a_bar),
        cmocka_unit_test(work_at_home_has_a_bar),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
