/* The same seed gives the same bytes for any number of threads, for every method that
 * the program has, every loss it supports, and with and without noise. */
#include "cli.h"

static void compare(const char *data, const char *method, const char *flags) {
    static int runs;
    char billboard[65] = "", models[65] = "";
    for (int threads = 1; threads <= 5; threads += threads == 1 ? 1 : 3) {
        json_t *j = cli_json("train %s --method %s %s --threads %d --json -o t%d", data,
                             method, flags, threads, runs++);
        if (threads == 1) {
            snprintf(billboard, sizeof billboard, "%s",
                     cli_text(j, "billboard_sha256"));
            snprintf(models, sizeof models, "%s", cli_text(j, "models_sha256"));
        } else if (strcmp(billboard, cli_text(j, "billboard_sha256")) != 0 ||
                   strcmp(models, cli_text(j, "models_sha256")) != 0) {
            fail_msg("%s %s: other bytes with %d threads", method, flags, threads);
        }
        json_decref(j);
    }
}

static bool supports(const json_t *method, const char *loss) {
    for (size_t k = 0; k < json_array_size(cli_at(method, "losses")); k++)
        if (!strcmp(json_string_value(json_array_get(cli_at(method, "losses"), k)),
                    loss))
            return true;
    return false;
}

/* What a method does not guess. */
static const char *given(const char *method) {
    return strcmp(method, "mp-instance") == 0
               ? " --set instance-epsilon=1 --set gradient-clip=1 --set clip=1"
               : "";
}

static void every_method(const char *loss, const char *data, const char *graph) {
    json_t *j = cli_json("methods --json");
    char flags[200];
    for (size_t k = 0; k < json_array_size(cli_at(j, "methods")); k++) {
        const json_t *m = json_array_get(cli_at(j, "methods"), k);
        const char *name = cli_text(m, "name");
        if (!supports(m, loss) || json_is_true(cli_at(m, "follows")) ||
            json_is_true(cli_at(m, "clustered")))
            continue; /* test_cli_phases.c has them */
        if (json_is_false(cli_at(m, "linear"))) continue;
        const bool is_private = strcmp(cli_text(m, "kind"), "private") == 0;
        const char *relations = json_is_true(cli_at(m, "related")) ? graph : "";
        snprintf(flags, sizeof flags, "--seed 5 --loss %s %s%s%s", loss, relations,
                 given(name), is_private ? " --epsilon 2" : "");
        compare(data, name, flags);
        if (!is_private) continue;
        snprintf(flags, sizeof flags, "--seed 5 --loss %s %s%s --mechanism none", loss,
                 relations, given(name));
        compare(data, name, flags);
    }
    json_decref(j);
}

static void squared(void **state) {
    (void)state;
    cli_ok("synth low-rank --tasks 70 --samples 12 --features 5 --seed 2 -o W.csv");
    every_method("squared", "W.csv", "--graph '[[1, 2, 1], [2, 5, 3], [7, 7, 1]]'");
    compare(
        "W.csv", "mp-lowrank",
        "--seed 5 --epsilon 1 --mechanism wishart-published --allow-broken-privacy");
}

static void logistic(void **state) {
    (void)state;
    FILE *file = fopen("L.csv", "w");
    assert_non_null(file);
    fputs("task,y,a,b,c\n", file);
    for (int j = 0; j < 900; j++) {
        const double a = sin(j * 1.7), b = cos(j * 0.9), c = sin(j * j * 0.3);
        fprintf(file, "t%d,%d,%.6f,%.6f,%.6f\n", j % 41,
                a + 0.5 * b + c > 0.2 * (j % 3), a, b, c);
    }
    fclose(file);
    every_method("logistic", "L.csv",
                 "--graph '[[\"t1\", \"t2\", 1], [\"t2\", \"t5\", 3]]'");
}

static void another_seed_gives_other_bytes(void **state) {
    (void)state;
    char first[65];
    cli_ok("synth low-rank --tasks 40 --samples 12 --features 5 --seed 2 -o V.csv");
    json_t *a =
        cli_json("train V.csv --method mp-groupsparse --epsilon 1 --seed 1 --json "
                 "-o s1");
    snprintf(first, sizeof first, "%s", cli_text(a, "billboard_sha256"));
    json_t *b =
        cli_json("train V.csv --method mp-groupsparse --epsilon 1 --seed 2 --json "
                 "-o s2");
    json_t *c =
        cli_json("train V.csv --method mp-groupsparse --epsilon 1 --json -o s3");
    json_t *d =
        cli_json("train V.csv --method mp-groupsparse --epsilon 1 --json -o s4");
    assert_string_not_equal(first, cli_text(b, "billboard_sha256"));
    assert_string_not_equal(cli_text(c, "billboard_sha256"),
                            cli_text(d, "billboard_sha256"));
    json_decref(a);
    json_decref(b);
    json_decref(c);
    json_decref(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squared),
        cmocka_unit_test(logistic),
        cmocka_unit_test(another_seed_gives_other_bytes),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
