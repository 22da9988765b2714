/* Experiments: every shipped one at its smallest size, killed ones, users' own. */
#include "cli.h"

#include <signal.h>
#include <string.h>

/* Stand-ins for data sets that the repository has not: few rows, and few columns. */
static void make_set(const char *folder, const char *file, bool classes) {
    char path[100], command[120];
    snprintf(path, sizeof path, "data/%s/%s", folder, file);
    if (cli_exists(path)) return;
    snprintf(command, sizeof command, "mkdir -p data/%s", folder);
    assert_int_equal(system(command), 0);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("task,y,x1,x2,x3\n", f);
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 14; j++) {
            const double a = (i * 37 + j * 53) % 101 / 50.0 - 1.0,
                         b = (i * 11 + j * j * 29) % 101 / 50.0 - 1.0,
                         y = 20.0 + 5.0 * a - 3.0 * b + i % 3;
            fprintf(f, "%d,%.3f,%.3f,%.3f,1\n", i + 1, classes ? y > 21.0 : y, a, b);
        }
    assert_int_equal(fclose(f), 0);
}

/* A line a cell, and none of them failed. */
static void no_cell_failed(const char *folder) {
    char path[100];
    snprintf(path, sizeof path, "%s/cells.csv", folder);
    char *table = cli_read(path);
    size_t lines = 0;
    for (char *line = strtok(table, "\n"); line; line = strtok(NULL, "\n"), lines++)
        if (lines && line[strlen(line) - 1] != ',') fail_msg("%s: %s", path, line);
    assert_true(lines > 1);
    free(table);
}

static void all_that_are_shipped(void **state) {
    (void)state;
    make_set("school", "data.csv", false);
    make_set("lsoa2", "data.csv.gz", true);
    make_set("landmine", "data.csv", true);
    json_t *list = cli_json("experiment list --json");
    const json_t *all = cli_at(list, "experiments");
    assert_true(json_array_size(all) >= 19);
    for (size_t k = 0; k < json_array_size(all); k++) {
        const char *name = cli_text(json_array_get(all, k), "name");
        json_t *said = cli_json(
            "experiment %s --preset tiny --data data -o tiny-%s --json", name, name);
        char folder[80];
        snprintf(folder, sizeof folder, "tiny-%s", name);
        no_cell_failed(folder);
        assert_string_equal(cli_text(said, "experiment"), name);
        assert_true(json_array_size(cli_at(said, "means")) > 0);
        json_decref(said);
    }
    json_decref(list);
}

static void same_tables(const char *one, const char *other) {
    char command[300];
    snprintf(command, sizeof command,
             "for f in cells.csv means.csv results.json; do cmp %s/$f %s/$f || exit 1; "
             "done",
             one, other);
    assert_int_equal(system(command), 0);
}

/* Killed again and again, and then left alone: the tables of one that never was, which
 * ran on another number of threads. */
static void killed_ones_go_on(void **state) {
    (void)state;
    size_t killed = 0;
    cli_ok("experiment allocation --preset tiny --seeds 40 --threads 3 -o whole");
    for (int wait = 20;; wait += 7) {
        const pid_t pid = cli_start(
            "experiment allocation --preset tiny --seeds 40 --threads 1 -o parts");
        if (killed < 5) {
            cli_sleep(0.001 * wait);
            kill(pid, SIGKILL);
        }
        const int code = cli_wait(pid);
        if (code == 0) break;
        assert_int_equal(code, 128 + SIGKILL);
        killed++;
        if (cli_exists("parts/results.json")) break; /* it had all but ended */
    }
    assert_true(killed >= 2);
    same_tables("whole", "parts");
    /* what is there is not run again: more seeds keep the old ones */
    json_t *more =
        cli_json("experiment allocation --preset tiny --seeds 41 -o parts --json");
    assert_close(cli_number(more, "cells"), 41 * 12, 0.0);
    json_t *shown = cli_json("experiment show parts --json");
    assert_close(cli_number(shown, "cells"), 41 * 12, 0.0);
    assert_true(json_is_true(cli_at(shown, "complete")));
    json_decref(shown);
    json_decref(more);
}

/* Each panel says its own metric, and budgets by name, down to no noise, have places. */
static void panels_say_what_they_show(void **state) {
    (void)state;
    cli_write(
        "panels.json",
        "{\"seeds\": 1, \"data\": {"
        "\"numbers\": {\"world\": \"low-rank\", \"tasks\": 8, \"samples\": 6,"
        " \"features\": 3},"
        "\"tags\": {\"world\": \"multilabel\", \"tasks\": 8, \"samples\": 6,"
        " \"features\": 12, \"labels\": 4,"
        " \"options\": {\"loss\": \"multilabel\", \"classes\": 4}}},"
        "\"methods\": {\"pmtl\": {\"method\": \"pmtl\"}},"
        "\"sweep\": {\"epsilon\": {\"10\": {\"epsilon\": 10},"
        " \"no noise\": {\"mechanism\": \"none\"}}},"
        "\"figures\": [{\"title\": \"f\", \"x\": \"epsilon\", \"y\": \"test\"}]}");
    cli_ok("experiment panels.json -o panels");
    cli_ok("report panels --svg -o panels.svg");
    char *picture = cli_read("panels.svg");
    const char *numbers = strstr(picture, "nMSE on test rows"),
               *tags = strstr(picture, "F1 on test rows");
    assert_true(numbers && tags && numbers < tags);
    assert_non_null(strstr(picture, ">no noise<"));
    assert_null(strstr(picture, "cx=\"0.0\"")); /* a point off the picture */
    assert_null(strstr(picture, "cx=\"-"));
    free(picture);
}

/* Settings are chosen on seeds that are not reported, by what they reach there. */
static void settings_are_chosen(void **state) {
    (void)state;
    cli_write(
        "own.json",
        "{\"seeds\": 2, \"options\": {\"no-intercept\": true},"
        " \"data\": {\"w\": {\"world\": \"low-rank\", \"tasks\": 12, \"samples\": 8,"
        " \"features\": 4}},"
        " \"methods\": {\"alone\": {\"method\": \"stl\", \"tune\": {\"set.lambda\":"
        " [100, 0.01, 10000]}}}, \"sweep\": {\"data.samples\": [8, 30]}}");
    cli_ok("experiment own.json -o own");
    char *cells = cli_read("own/cells.csv");
    assert_non_null(strstr(cells, "w,alone,8,1,\"{\"\"set.lambda\"\": 0.01}\""));
    free(cells);
    json_t *shown = cli_json("experiment show own --json");
    const json_t *means = cli_at(shown, "means");
    assert_true(cli_number(json_array_get(means, 1), "mean") <
                cli_number(json_array_get(means, 0), "mean"));
    /* every option, those that nobody gave included, and the program's version */
    char *text = cli_read("own/results.json");
    json_t *results = json_loads(text, 0, NULL);
    const json_t *group = json_array_get(cli_at(results, "groups"), 1);
    assert_close(cli_number(group, "options.set.lambda"), 0.01, 0.0);
    assert_close(cli_number(group, "data.samples"), 30.0, 0.0);
    assert_string_equal(cli_text(group, "options.adjacency"), "replace-one");
    assert_int_equal(json_array_size(cli_at(group, "cells")), 2);
    assert_non_null(cli_text(results, "version"));
    /* of which commit the build is, with every cell; empty outside of a repository */
    const json_t *cell = json_array_get(cli_at(group, "cells"), 0);
    assert_true(json_is_string(json_object_get(cell, "commit")));
    json_decref(results);
    free(text);
    /* 2 groups: 3 candidates on 2 seeds, then 2 seeds */
    assert_close(cli_number(shown, "cells"), 2 * (3 * 2 + 2), 0.0);
    json_decref(shown);
}

/* Or, as papers do, by folds of the reported training rows (here there are no other ones);
 * and then nothing of it is private, and everything says so. */
static void settings_are_chosen_by_folds(void **state) {
    (void)state;
    char *rows = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&rows, &size);
    assert_non_null(to);
    fputs("task,y,a,b\n", to);
    for (int r = 0; r < 120; r++)
        fprintf(to, "t%d,%d,%d,%d\n", r / 10, 2 * (r % 7) - r % 3, r % 7, r % 3);
    assert_int_equal(fclose(to), 0);
    cli_write("rows.csv", rows);
    free(rows);
    cli_write("folds.json",
              "{\"seeds\": 2, \"options\": {\"no-intercept\": true, \"epsilon\": 5,"
              " \"standardize\": \"none\"},"
              " \"data\": {\"rows\": {\"file\": \"rows.csv\"}},"
              " \"tune\": {\"seeds\": 2, \"folds\": true},"
              " \"methods\": {\"fixed\": {\"method\": \"mp-lowrank\", \"rounds\": 2},"
              " \"chosen\": {\"method\": \"mp-lowrank\", \"rounds\": 2,"
              " \"tune\": {\"set.start-lambda\": [10000, 1e-6]}}}}");
    cli_ok("experiment folds.json --data . -o folds");
    json_t *shown = cli_json("experiment show folds --json");
    /* 1 group with 2 candidates on 2 seeds and 5 folds; 2 groups with 2 seeds */
    assert_close(cli_number(shown, "cells"), 2 * 2 * 5 + 2 * 2, 0.0);
    char *text = cli_read("folds/results.json");
    json_t *results = json_loads(text, 0, NULL);
    const json_t *groups = cli_at(results, "groups");
    const json_t *fixed = json_array_get(groups, 0),
                 *chosen = json_array_get(groups, 1);
    assert_close(cli_number(chosen, "options.set.start-lambda"), 1e-6, 0.0);
    assert_true(json_is_false(cli_at(fixed, "options.tuned-on-data")));
    assert_true(json_is_true(cli_at(chosen, "options.tuned-on-data")));
    const json_t *means = cli_at(shown, "means");
    static const char mark[] = "; not private: settings were chosen on these data";
    assert_null(strstr(cli_text(json_array_get(means, 0), "promise"), mark));
    assert_non_null(strstr(cli_text(json_array_get(means, 1), "promise"), mark));
    json_decref(results);
    json_decref(shown);
    free(text);
}

/* Figures over rounds have a mean for each; neighbours on an axis are compared. */
static void rounds_and_neighbours(void **state) {
    (void)state;
    cli_write(
        "rounds.json",
        "{\"seeds\": 4, \"options\": {\"method\": \"mp-lowrank\", \"trace\": true,"
        " \"epsilon\": 5,\"no-intercept\": true, \"set\": {\"clip\": 50}},"
        " \"data\": {\"w\": {\"world\": \"low-rank\", \"tasks\": 12, \"samples\": 8,"
        " \"features\": 4}}, \"sweep\": {\"rounds\": [2, 3]},"
        " \"trace\": [\"test_nmse\"],"
        " \"compare\": [{\"column\": \"test\", \"axis\": \"rounds\"}],"
        " \"figures\": [{\"x\": \"round\", \"y\": \"test_nmse\"}]}");
    json_t *said = cli_json("experiment rounds.json -o rounds --json");
    const json_t *means = cli_at(said, "means");
    /* the end and each round, of both groups */
    assert_int_equal(json_array_size(means), (1 + 2) + (1 + 3));
    assert_close(cli_number(json_array_get(means, 0), "mean"),
                 cli_number(json_array_get(means, 2), "mean"), 1e-15);
    assert_int_equal(json_integer_value(json_array_get(
                         json_object_get(json_array_get(means, 6), "labels"), 2)),
                     3);
    char *text = cli_read("rounds/results.json");
    json_t *results = json_loads(text, 0, NULL);
    const json_t *compared = json_array_get(cli_at(results, "comparisons"), 0);
    assert_close(cli_number(compared, "from"), 2.0, 0.0);
    assert_close(cli_number(compared, "to"), 3.0, 0.0);
    const double p = cli_number(compared, "p");
    assert_true(p >= 1.0 / 70.0 - 1e-12 && p <= 1.0); /* of 8 choose 4 orders */
    json_decref(results);
    free(text);
    json_decref(said);
}

/* Plans are priced, too: the figures are those of `account`. */
static void plans_are_cells(void **state) {
    (void)state;
    cli_write("price.json",
              "{\"run\": \"account\", \"seeds\": 0, \"options\": {\"delta\": 1e-5,"
              " \"rounds\": 10}, \"sweep\": {\"epsilon\": [1, 2]},"
              " \"keep\": {\"noise\": \"noise_multiplier\"},"
              " \"figures\": [{\"x\": \"epsilon\", \"y\": \"noise\"}]}");
    json_t *said = cli_json("experiment price.json -o price --json"),
           *one = cli_json("account --epsilon 2 --delta 1e-5 --rounds 10 --json");
    assert_close(cli_number(json_array_get(cli_at(said, "means"), 1), "mean"),
                 cli_number(one, "noise_multiplier"), 0.0);
    json_decref(one);
    json_decref(said);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    cli_fails(2, "no experiment \"modells\"", "experiment modells -o x");
    cli_fails(2, "no experiment \"lst\"; known are accountants, allocation,",
              "experiment lst");
    cli_fails(2, "--output", "experiment models");
    cli_fails(2, "no preset \"huge\"; known are tiny, quick, full",
              "experiment models --preset huge -o x");
    cli_fails(2, "give --data DIR", "experiment school --preset tiny -o x");
    cli_fails(2, "no such file", "experiment school --preset tiny --data nowhere -o x");
    cli_fails(2, "show which DIR", "experiment show");
    cli_fails(1, "nowhere", "experiment show nowhere");
    cli_write("a.json", "{\"sweeps\": {}}");
    cli_fails(2, "no member \"sweeps\"", "experiment a.json -o x");
    cli_write("b.json", "{\"data\": {\"w\": {\"world\": \"flat\"}}, \"options\": "
                        "{\"method\": \"stl\"}}");
    cli_fails(2, "got \"flat\"", "experiment b.json -o x");
    cli_write("c.json", "{\"data\": {\"w\": {\"world\": \"low-rank\"}}, \"options\": "
                        "{\"method\": \"stl\", \"set\": {\"lamda\": 1}}}");
    cli_fails(2, "lamda", "experiment c.json -o x");
    cli_write("d.json", "{\"data\": {\"w\": {\"world\": \"low-rank\"}}, \"options\": "
                        "{\"method\": \"stl\", \"output\": \"run\"}}");
    cli_fails(2, "--output", "experiment d.json -o x");
    cli_write("e.json", "{\"run\": \"sing\"}");
    cli_fails(2, "cannot run \"sing\"", "experiment e.json -o x");
    assert_false(cli_exists("x"));
    cli_ok("experiment models --preset tiny -o x");
    cli_fails(2, "give another folder", "experiment allocation --preset tiny -o x");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_are_shipped),
        cmocka_unit_test(killed_ones_go_on),
        cmocka_unit_test(panels_say_what_they_show),
        cmocka_unit_test(settings_are_chosen),
        cmocka_unit_test(settings_are_chosen_by_folds),
        cmocka_unit_test(rounds_and_neighbours),
        cmocka_unit_test(plans_are_cells),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
