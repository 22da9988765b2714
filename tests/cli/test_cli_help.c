/* What the program says of itself: help, the page of a method, the manual page, the command
 * to start with; and readers that leave early. */
#include "cli.h"

#include <signal.h>
#include <unistd.h>

static void make_world(void) {
    if (!cli_exists("W.csv"))
        cli_ok("synth low-rank --tasks 40 --samples 12 --features 5 --seed 2 -o W.csv");
}

static void says(const char *words, const char *line) {
    cli_result r = cli("%s", line);
    if (r.code || *r.err || !strstr(r.out, words))
        fail_msg("billboard %s: exit code %d, stderr \"%s\", no \"%s\" in \"%s\"", line,
                 r.code, r.err, words, r.out);
    cli_free(&r);
}

static void help_is_given_whoever_asks(void **state) {
    (void)state;
    says("usage: billboard COMMAND", "");
    says("usage: billboard COMMAND", "-h");
    says("usage: billboard COMMAND", "--help");
    says("--epsilon=EPSILON", "train -h");
    says("--epsilon=EPSILON", "help train");
    cli_fails(2, "no command \"tarin\"", "help tarin");
}

/* Every option with its default and range, every loss. */
static void a_method_has_a_page(void **state) {
    (void)state;
    says("mp-prior: a private prior", "methods mp-prior");
    says("losses  squared\n", "methods mp-prior");
    says("odds=RATIO\n", "methods mp-prior");
    says("expects a number in [1, 1e+09]; default 10\n", "methods mp-prior");
    says("needs groups of tasks: --cluster", "methods pmtl-clusters");
    says("needs relations of tasks: --graph", "methods pmtl-graph");
    says("goes on from another method", "methods finetune");
    json_t *j = cli_json("methods stl --json");
    assert_int_equal(json_array_size(cli_at(j, "methods")), 1);
    json_decref(j);
    cli_fails(2, "unknown method \"magic\"", "methods magic");
}

/* -- the manual page
 * -------------------------------------------------------------------------- */

/* As roff has it: "\-\-epsilon". */
static void assert_on_page(const char *page, const char *before, const char *name) {
    char text[200];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", before);
    for (; *name && used < sizeof text - 3; name++) {
        if (*name == '-') text[used++] = '\\';
        text[used++] = *name;
    }
    text[used] = '\0';
    if (!strstr(page, text)) fail_msg("\"%s\" is not in %s", text, BB_PAGE);
}

static void the_manual_page_has_everything(void **state) {
    (void)state;
    static const char *const command[] = {"info",    "train", "evaluate",
                                          "predict", "synth", "methods",
                                          "ledger",  "audit", "account"};
    char *page = cli_read(BB_PAGE), *line, name[64];
    for (size_t k = 0; k < sizeof command / sizeof *command; k++)
        assert_on_page(page, "\n.SS ", command[k]);
    cli_result help = cli("train --help");
    size_t options = 0;
    for (line = strstr(help.out, "  --"); line; line = strstr(line + 1, "  --")) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(line + 2, "=[ \n"), line + 2);
        if (strcmp(name, "--usage") != 0) assert_on_page(page, "", name);
        options++;
    }
    assert_true(options > 30);
    json_t *j = cli_json("methods --json");
    for (size_t k = 0; k < json_array_size(cli_at(j, "methods")); k++) {
        const json_t *m = json_array_get(cli_at(j, "methods"), k);
        snprintf(name, sizeof name, "\n.SS %s\n", cli_text(m, "name"));
        assert_non_null(strstr(page, name));
        for (size_t o = 0; o < json_array_size(cli_at(m, "options")); o++)
            assert_on_page(page, "\n.B ",
                           cli_text(json_array_get(cli_at(m, "options"), o), "name"));
    }
    json_decref(j);
    cli_free(&help);
    free(page);
}

static void the_manual_page_is_roff(void **state) {
    (void)state;
    static const char *const macro[] = {".\\\" ", ".TH ", ".SH ", ".SS ", ".PP\n",
                                        ".TP\n",  ".B ",  ".I ",  ".RI ", ".br\n"};
    char *page = cli_read(BB_PAGE);
    assert_non_null(strstr(page, "\n.TH BILLBOARD 1 "));
    for (char *line = page; *line; line += strcspn(line, "\n") + 1) {
        bool known = *line != '.' && *line != '\'';
        for (size_t k = 0; k < sizeof macro / sizeof *macro; k++)
            known = known || strncmp(line, macro[k], strlen(macro[k])) == 0;
        if (!known) fail_msg("unknown request %.40s", line);
    }
    free(page);
    if (system("command -v groff >/dev/null")) skip();
    assert_int_equal(system("groff -man -Tutf8 -ww '" BB_PAGE "' >.out 2>.err"), 0);
    char *err = cli_read(".err");
    assert_string_equal(err, "");
    free(err);
}

/* -- the command to start with
 * ---------------------------------------------------------------- */

/* What `info` says can be run as it stands. */
static void run_start(const char *arguments, const char *words) {
    json_t *j = cli_json("info %s --json", arguments);
    const char *start = cli_text(j, "start");
    if (!strstr(start, words)) fail_msg("no \"%s\" in \"%s\"", words, start);
    assert_int_equal(strncmp(start, "billboard ", 10), 0);
    cli_result r = cli("%s --force", start + 10);
    if (r.code) fail_msg("%s: exit code %d: %s", start, r.code, r.err);
    assert_non_null(strstr(r.out, "Guarantee: "));
    cli_free(&r);
    cli_result text = cli("info %s", arguments);
    assert_non_null(strstr(text.out, start));
    cli_free(&text);
    json_decref(j);
}

static void info_says_how_to_start(void **state) {
    (void)state;
    make_world();
    run_start("W.csv", "train W.csv --epsilon 1 ");
    FILE *file = fopen("it's.csv", "w");
    assert_non_null(file);
    fputs("school,the score,passed,a\n", file);
    for (int j = 0; j < 400; j++)
        fprintf(file, "%d,%g,%d,%g\n", j % 40, sin(j), j % 3 == 0, cos(j * 0.7));
    fclose(file);
    run_start("\"it's.csv\" --task school --target passed --ignore 'the score'",
              " --task school --target passed --ignore 'the score' --loss logistic "
              "--epsilon 1 ");
    run_start("\"it's.csv\" --task school --target 'the score'", "'it'\\''s.csv'");
    cli_write("none.csv", "task,a\n1,2\n1,3\n");
    json_t *j = cli_json("info none.csv --json");
    assert_true(json_is_null(cli_at(j, "start")));
    json_decref(j);
}

/* -- readers that leave
 * --------------------------------------------------------------------- */

/* The number of a pipe that nobody reads. */
static int broken_pipe(void) {
    int link[2];
    assert_int_equal(pipe(link), 0);
    close(link[0]);
    assert_in_range(link[1], 3, 9); /* the shell knows single digits only */
    return link[1];
}

static int run_shell(const char *format, int fd) {
    char line[1000];
    snprintf(line, sizeof line, format, BB_PROGRAM, fd);
    const int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* As `billboard methods | head -1` may: no message, and the end that others have. */
static void nobody_reads_the_answer(void **state) {
    (void)state;
    const int fd = broken_pipe();
    assert_int_equal(run_shell("'%s' methods >&%d 2>.err", fd), 128 + SIGPIPE);
    char *err = cli_read(".err");
    assert_string_equal(err, "");
    free(err);
    close(fd);
}

/* A warning that nobody reads does not end a run that has paid. */
static void nobody_reads_the_warnings(void **state) {
    (void)state;
    make_world();
    const int fd = broken_pipe();
    assert_int_equal(
        run_shell("'%s' train W.csv --method mp-prior --epsilon 1 --seed 1 "
                  "--ledger-kind sum --delta 0.1 -o deaf >.out 2>&%d",
                  fd),
        2); /* --ledger-kind without a ledger */
    assert_int_equal(
        run_shell("'%s' train W.csv --method mp-prior --epsilon 1 --seed 1 "
                  "--delta 0.1 -o deaf >.out 2>&%d",
                  fd),
        0);
    assert_true(cli_exists("deaf/public/statement.txt"));
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_is_given_whoever_asks),
        cmocka_unit_test(a_method_has_a_page),
        cmocka_unit_test(the_manual_page_has_everything),
        cmocka_unit_test(the_manual_page_is_roff),
        cmocka_unit_test(info_says_how_to_start),
        cmocka_unit_test(nobody_reads_the_answer),
        cmocka_unit_test(nobody_reads_the_warnings),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
