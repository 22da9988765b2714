/* What is said beforehand. */
#include "cli.h"

#include <math.h>

static void a_closed_gate_says_what_opens_it(void **state) {
    (void)state;
    json_t *a = cli_json("advise --json --tasks 139 --features 27 --epsilon 0.1");
    const double tasks = cli_number(a, "hope.tasks"),
                 epsilon = cli_number(a, "hope.epsilon");
    assert_true(cli_number(a, "hope.reach") < 1.0);
    assert_non_null(strstr(cli_text(a, "recommended.text"), "Nothing"));
    json_decref(a);
    a = cli_json("advise --json --tasks %.0f --features 27 --epsilon 0.1 --delta 1e-5",
                 tasks);
    assert_true(cli_number(a, "hope.reach") >= 1.0);
    json_decref(a);
    a = cli_json("advise --json --tasks 139 --features 27 --epsilon %.17g", epsilon);
    assert_close(cli_number(a, "hope.reach"), 1.0, 1e-6);
    json_decref(a);
}

/* What it says of a closed gate is what a run says before it starts, and does: nothing
 * is published. */
static void runs_agree(void **state) {
    (void)state;
    static const char *const figure[] = {"reach", "least", "tasks", "epsilon"};
    cli_ok("synth low-rank --tasks 100 --samples 6 --features 5 --seed 2 -o W.csv");
    cli_write("ranges.json", "{\"target\": [-40, 40], \"others\": [-1, 1]}");
    json_t *a = cli_json("advise W.csv --json");
    assert_close(cli_number(a, "tasks"), 100.0, 0.0);
    assert_close(cli_number(a, "features"), 5.0, 0.0);
    const double epsilon = cli_number(a, "hope.epsilon");
    json_decref(a);
    a = cli_json("advise W.csv --ignore x2,x5 --json");
    assert_close(cli_number(a, "features"), 3.0, 0.0);
    json_decref(a);
    a = cli_json("advise W.csv --doors 2 --json");
    assert_true(cli_number(a, "hope.epsilon") > 1.3 * epsilon);
    json_t *two =
        cli_json("train W.csv --json --doors 2 --scale ranges.json --epsilon 1 "
                 "-o doors");
    assert_close(cli_number(a, "hope.reach"), cli_number(two, "hope.reach"), 0.0);
    json_decref(two);
    json_decref(a);
    cli_result asked = cli("advise W.csv --delta 1e-7 --adjacency add-remove");
    if (!strstr(asked.out, "--epsilon 1 --delta 1e-07 --adjacency add-remove --scale"))
        fail_msg("%s%s", asked.out, asked.err);
    cli_free(&asked);
    for (int doors = 1; doors <= 2; doors++) {
        cli_result r = cli("advise W.csv --doors %d", doors);
        assert_int_equal(r.code, 0);
        assert_int_equal(strstr(r.out, "as 1, noise of one door)") != NULL, doors == 2);
        cli_free(&r);
    }
    cli_write("semicolons.csv", "task;a;b;y\n1;2;3;4\n2;3;4;5\n");
    a = cli_json("advise semicolons.csv --separator ';' --json");
    assert_close(cli_number(a, "features"), 2.0, 0.0);
    json_decref(a);
    for (int above = 0; above < 2; above++) {
        a = cli_json("train W.csv --json --epsilon %.6g --scale ranges.json -o r%d",
                     epsilon * (above ? 1.05 : 0.95), above);
        assert_int_equal(cli_number(a, "rounds") > 0.0, above);
        assert_int_equal(cli_at(a, "note") != json_null(), !above);
        json_t *b = cli_json("advise W.csv --json --rows 6 --epsilon %.6g",
                             epsilon * (above ? 1.05 : 0.95));
        for (size_t k = 0; k < 4; k++) {
            char at[40];
            snprintf(at, sizeof at, "hope.%s", figure[k]);
            assert_close(cli_number(a, at), cli_number(b, at), 0.0);
        }
        assert_string_equal(cli_text(a, "hope.text"), cli_text(b, "recommended.text"));
        json_decref(a);
        json_decref(b);
    }
    cli_result said =
        cli("train W.csv --epsilon %.6g --scale ranges.json -o said", epsilon * 0.5);
    static const char warned[] = "replace-one, sampling all: Nothing is to be gained "
                                 "at this budget, and nothing "
                                 "will be published";
    assert_int_equal(said.code, 0);
    assert_non_null(strstr(said.err, warned));
    assert_non_null(strstr(said.out, "beforehand: Nothing is to be gained"));
    cli_free(&said);
}

/* Effects are in the data's units, by name, and public; refused where they have none. */
static void effects_are_published(void **state) {
    (void)state;
    cli_ok("synth low-rank --tasks 3000 --samples 8 --features 3 --seed 4 -o E.csv");
    cli_write("wide.json", "{\"target\": [-12, 12], \"others\": [-3, 3]}");
    json_t *run = cli_json("train E.csv --json --epsilon 20 --seed 5 --scale wide.json "
                           "--report-effects -o effects");
    char *text = cli_read("effects/public/effects.json");
    json_t *file = json_loads(text, 0, NULL);
    assert_true(json_equal(file, cli_at(run, "effects")));
    assert_true(json_is_true(cli_at(file, "published")));
    const json_t *fixed = cli_at(file, "fixed");
    assert_int_equal(json_array_size(fixed), 4);
    assert_string_equal(cli_text(json_array_get(fixed, 3), "name"), "(intercept)");
    assert_true(cli_number(json_array_get(fixed, 0), "standard_error") > 0.0);
    assert_true(cli_number(file, "residual.standard_error") > 0.0);
    assert_true(cli_number(file, "random.slope_deviations.x1") >= 0.0);
    assert_non_null(
        strstr(cli_text(file, "random.slope.note"), "one variance for all"));
    assert_close(json_number_value(
                     json_array_get(cli_at(json_array_get(fixed, 0), "interval"), 1)),
                 cli_number(json_array_get(fixed, 0), "estimate") +
                     1.96 * cli_number(json_array_get(fixed, 0), "standard_error"),
                 1e-12);
    json_decref(file);
    json_decref(run);
    free(text);
    cli_ok("synth low-rank --tasks 100 --samples 8 --features 2 --seed 4 -o F.csv");
    cli_result few = cli("train F.csv --epsilon 3 --seed 5 --scale wide.json "
                         "--report-effects -o few");
    assert_non_null(
        strstr(few.out, "  (too few tasks, or too many columns, at this budget)"));
    assert_non_null(strstr(few.out, "  (without errors these may be far off"));
    cli_free(&few);
    text = cli_read("few/public/effects.json");
    file = json_loads(text, 0, NULL);
    fixed = cli_at(file, "fixed");
    for (size_t k = 0; k < 3; k++)
        assert_non_null(
            strstr(cli_text(json_array_get(fixed, k), "reason"), "too few"));
    assert_string_equal(cli_text(file, "residual.reason"), "the noise hides it");
    json_decref(file);
    free(text);
    cli_fails(2, "--scale",
              "train E.csv --epsilon 1 --standardize task --report-effects -o x");
    cli_fails(
        2, "--report-effects needs the target's public range, too",
        "train E.csv --epsilon 1 --scale '{\"others\": [-3, 3]}' --report-effects "
        "-o x");
    cli_fails(2, "mp-mixed",
              "train E.csv --epsilon 1 --method fedavg --scale wide.json "
              "--report-effects -o x");
}

/* A share is spent on what is told, and what is told has one. */
static void effects_and_their_share_go_together(void **state) {
    (void)state;
    cli_write("share.json", "{\"target\": [-12, 12], \"others\": [-3, 3]}");
    cli_ok("synth low-rank --tasks 100 --samples 8 --features 2 --seed 4 -o S.csv");
    cli_fails(2, "effects=0.3 is what --report-effects spends, which is not given",
              "train S.csv --epsilon 1 --scale share.json --set effects=.3 -o x");
    cli_fails(2, "effects=0.1 is what --report-effects spends",
              "train S.csv --epsilon 1 --scale share.json --phase mp-mixed,effects=.1 "
              "-o x");
    cli_fails(2, "--report-effects needs a part of the budget: effects=0 leaves none",
              "train S.csv --epsilon 1 --scale share.json --set effects=0 "
              "--report-effects -o x");
    json_t *run = cli_json("train S.csv --json --epsilon 1 --scale share.json --set "
                           "effects=0 -o without");
    assert_false(json_is_object(json_object_get(run, "effects")));
    json_decref(run);
}

enum { TEXT_TASKS = 3000, TEXT_ROWS = 6 };
static const double text_slope = 0.5, text_level[3] = {0.4, 0.8, 0.1};

/* From -1 to 1. */
static double next_number(uint64_t *state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 33) / (double)(1U << 30) - 1.0;
}

/* y = .5 x + what the row's text has + the task's own and noise. */
static void write_texts(const char *path) {
    FILE *file = fopen(path, "w");
    uint64_t state = 5;
    assert_non_null(file);
    fputs("task,x,c,y\n", file);
    for (int row = 0; row < TEXT_TASKS * TEXT_ROWS; row++) {
        static double own;
        if (row % TEXT_ROWS == 0) own = 0.6 * next_number(&state);
        const double x = next_number(&state), at = next_number(&state);
        const int level = (at > 0.0) + (at > 0.6);
        const double y = text_slope * x + text_level[level] + own;
        fprintf(file, "%d,%.6f,%c,%.6f\n", row / TEXT_ROWS, x, "abc"[level],
                y + 0.5 * next_number(&state));
    }
    assert_int_equal(fclose(file), 0);
}

static void is_near(const json_t *row, const char *name, double truth) {
    const double error = cli_number(row, "standard_error");
    assert_string_equal(cli_text(row, "name"), name);
    assert_true(error > 0.0 && error < 0.05);
    assert_true(fabs(cli_number(row, "estimate") - truth) < 4.0 * error);
}

/* Levels of texts are against the first one, where every row has one, else against the
 * texts that have none, which is where the intercept then is. */
static void effects_of_texts_have_a_reference(void **state) {
    (void)state;
    write_texts("T.csv");
    cli_write("text.json", "{\"target\": [-3, 3], \"others\": [-1, 1]}");
    cli_write("all.json", "{\"c\": [\"a\", \"b\", \"c\"]}");
    cli_write("some.json", "{\"c\": [\"b\", \"c\"]}");
    static const char *const way[] = {"all", "some"};
    for (size_t k = 0; k < 2; k++) {
        json_t *run =
            cli_json("train T.csv --json --epsilon 20 --seed 5 --scale text.json "
                     "--categories %s.json --report-effects -o text-%s",
                     way[k], way[k]);
        const json_t *fixed = cli_at(run, "effects.fixed");
        assert_int_equal(json_array_size(fixed), 4);
        is_near(json_array_get(fixed, 0), "x", text_slope);
        for (size_t level = 1; level < 3; level++) {
            const json_t *one = json_array_get(fixed, level);
            is_near(one, level == 1 ? "c=b" : "c=c", text_level[level] - text_level[0]);
            const json_t *against = json_object_get(one, "against");
            assert_int_equal(against != NULL, k == 0);
            if (against) assert_string_equal(json_string_value(against), "c=a");
        }
        is_near(json_array_get(fixed, 3), "(intercept)", text_level[0]);
        assert_non_null(strstr(cli_text(run, "effects.intercept_at"),
                               k == 0 ? "first level" : "none of the levels"));
        json_decref(run);
    }
    char *text = cli_read("text-all/public/effects.csv");
    assert_non_null(strstr(text, "\nfixed effect against c=a,c=b,"));
    assert_int_equal(
        strncmp(text, "what,name,estimate,standard_error,lower,upper\n", 45), 0);
    free(text);
}

/* Without noise what columns say twice is told from what they say by rounding only. */
static void effects_without_noise_are_resolved_too(void **state) {
    (void)state;
    write_texts("N.csv");
    cli_write("text.json", "{\"target\": [-3, 3], \"others\": [-1, 1]}");
    json_t *run = cli_json("train N.csv --json --seed 5 --scale text.json "
                           "--mechanism none --categories '{\"c\": [\"a\", \"b\", "
                           "\"c\"]}' --report-effects -o noiseless");
    const json_t *fixed = cli_at(run, "effects.fixed");
    assert_int_equal(json_array_size(fixed), 4);
    for (size_t level = 1; level < 3; level++)
        is_near(json_array_get(fixed, level), level == 1 ? "c=b" : "c=c",
                text_level[level] - text_level[0]);
    assert_non_null(strstr(cli_text(run, "effects.intercept_at"), "first level"));
    json_decref(run);
}

/* Names are whole in the table, and are as wide as they look. */
static void names_of_effects_are_whole(void **state) {
    (void)state;
    FILE *file = fopen("L.csv", "w");
    assert_non_null(file);
    fputs(
        "task,größe,mothers_education_in_years_before,mothers_education_in_years_after,"
        "y\n",
        file);
    for (int r = 0; r < 800; r++)
        fprintf(file, "%d,%.4f,%.4f,%.4f,%.4f\n", r / 4, sin(r * 1.7), cos(r * 0.9),
                sin(r * 7.1), sin(r * 1.7) + sin(r * 3.3));
    fclose(file);
    cli_result r = cli("train L.csv --epsilon 8 --scale '{\"target\": [-4, 4], "
                       "\"others\": 1}' --report-effects -o long");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "\n  größe                        "));
    assert_non_null(strstr(r.out, "\n  mothers_education_in_years_before "));
    assert_non_null(strstr(r.out, "\n  mothers_education_in_years_after "));
    cli_free(&r);
}

/* The intercept is where nothing is missing, not where half of everything is, also if a column
 * of the table has the name that would say so. */
static void effects_of_indicators_leave_the_intercept(void **state) {
    (void)state;
    static const char *const name[] = {"x_missing", "x_missing_2"};
    write_texts("M.csv");
    assert_int_equal(
        system("awk '{print $0 (NR == 1 ? \",x_missing\" : \",0\")}' M.csv "
               "> M2.csv"),
        0);
    cli_write("text.json", "{\"target\": [-3, 3], \"others\": [-1, 1]}");
    for (int k = 0; k < 2; k++) {
        json_t *run =
            cli_json("train M%s.csv --json --epsilon 20 --seed 5 --scale text.json "
                     "--categories '{\"c\": [\"b\", \"c\"]}' --missing indicator:x "
                     "--report-effects -o indicators%d",
                     k ? "2" : "", k);
        const json_t *fixed = cli_at(run, "effects.fixed");
        const size_t last = json_array_size(fixed) - 1;
        const json_t *intercept = json_array_get(fixed, last);
        assert_string_equal(cli_text(json_array_get(fixed, last - 1), "name"), name[k]);
        assert_string_equal(cli_text(intercept, "name"), "(intercept)");
        assert_true(fabs(cli_number(intercept, "estimate") - text_level[0]) < 0.1);
        assert_non_null(
            strstr(cli_text(run, "effects.intercept_at"), "with nothing missing"));
        json_decref(run);
    }
}

/* Slopes are of columns that vary within tasks; a range that has no room for the intercepts
 * is warned of. */
static void slopes_are_of_columns_that_vary(void **state) {
    (void)state;
    FILE *f = fopen("K.csv", "w");
    uint64_t random = 8;
    assert_non_null(f);
    fputs("task,x,kind,y\n", f);
    for (int i = 0; i < 1500; i++) {
        const double own = 2.0 * next_number(&random);
        for (int j = 0; j < 6; j++) {
            const double x = next_number(&random);
            fprintf(f, "%d,%.6f,%d,%.6f\n", i, x, i % 3 == 0,
                    x + own + 0.5 * next_number(&random));
        }
    }
    assert_int_equal(fclose(f), 0);
    static const char *const range[] = {"[-8, 8]", "[-2.5, 2.5]"};
    for (size_t k = 0; k < 2; k++) {
        json_t *run = cli_json("train K.csv --json --epsilon 20 --seed 5 --scale "
                               "'{\"target\": %s, \"columns\": {\"x\": [-1, 1], "
                               "\"kind\": [0, 1]}}' --report-effects -o kind%zu",
                               range[k], k);
        const json_t *slopes = cli_at(run, "effects.random.slope_deviations");
        assert_int_equal(json_object_size(slopes), 1);
        assert_non_null(json_object_get(slopes, "x"));
        assert_true(cli_number(run, "effects.random.varies_within.x") > 0.8);
        assert_true(cli_number(run, "effects.random.varies_within.kind") < 0.05);
        const json_t *warning = cli_at(run, "effects.warning");
        assert_int_equal(json_is_null(warning), k == 0);
        if (k == 1)
            assert_non_null(strstr(json_string_value(warning),
                                   "variances may be too small: tasks' intercepts"));
        json_decref(run);
    }
}

/* An ICC that may be anything is none, and says why. */
static void an_icc_that_says_nothing_is_not_told(void **state) {
    (void)state;
    cli_ok("synth low-rank --tasks 100 --samples 8 --features 2 --seed 4 -o I.csv");
    cli_write("icc.json", "{\"target\": [-12, 12], \"others\": [-3, 3]}");
    cli_result said = cli("train I.csv --epsilon 3 --seed 5 --scale icc.json "
                          "--report-effects -o icc");
    assert_int_equal(said.code, 0);
    assert_non_null(strstr(said.out, "  ICC "));
    cli_free(&said);
    char *text = cli_read("icc/public/effects.json");
    json_t *file = json_loads(text, 0, NULL);
    assert_true(json_is_null(cli_at(file, "icc.estimate")));
    assert_true(json_is_null(cli_at(file, "icc.standard_error")));
    assert_true(json_is_string(cli_at(file, "icc.reason")));
    json_decref(file);
    free(text);
}

/* Without ranges the default method does without, in either way. */
static void ranges_can_be_done_without(void **state) {
    (void)state;
    cli_ok("synth low-rank --tasks 200 --samples 40 --features 3 --seed 6 -o Z.csv");
    const char *way[] = {"", "--standardize task "};
    for (size_t k = 0; k < 2; k++) {
        json_t *run = cli_json("train Z.csv --json --epsilon 3 %s"
                               "--train-fraction 0.8 -o z%zu",
                               way[k], k);
        assert_string_equal(cli_text(run, "method"), "mp-mixed");
        assert_true(cli_number(run, "rounds") > 0.0);
        assert_true(cli_number(run, "test.nmse") < 0.9);
        json_decref(run);
    }
}

/* Intervals are kept for those who ask, travel with a task's model, and hold about as
 * many targets as they should. */
static void predictions_have_intervals(void **state) {
    (void)state;
    cli_ok("synth low-rank --tasks 300 --samples 12 --features 4 --seed 3 -o I.csv");
    cli_write("near.json", "{\"target\": [-40, 40], \"others\": [-1, 1]}");
    json_decref(cli_json("train I.csv --epsilon 5 --scale near.json --seed 8 --json "
                         "--intervals -o kept"));
    cli_ok("predict kept I.test.csv --intervals 0.9 -o all.csv");
    char *said = cli_read("all.csv"), *data = cli_read("I.test.csv");
    double rows = 0.0, held = 0.0;
    for (const char *p = strchr(said, '\n') + 1, *y = strchr(data, '\n') + 1; *p;
         p = strchr(p, '\n') + 1, y = strchr(y, '\n') + 1) {
        double middle, low, high, target;
        assert_int_equal(sscanf(p, "%*[^,],%lf,%lf,%lf", &middle, &low, &high), 3);
        assert_int_equal(sscanf(y, "%*[^,],%lf", &target), 1);
        assert_true(low < middle && middle < high);
        held += low < target && target < high;
        rows++;
    }
    assert_true(held / rows > 0.86 && held / rows < 0.95);
    free(said);
    free(data);
    /* of another program, whose first column was rows */
    assert_int_equal(system("cp -r kept old && sed -i '1s/freedom/rows/' "
                            "old/operator/intervals.csv"),
                     0);
    cli_fails(1, "different columns",
              "predict old I.test.csv --intervals 0.9 -o none.csv");
    cli_fails(2, "expects a number in [0.001, 0.9999], got \"auto\"",
              "predict kept I.test.csv --intervals auto -o none.csv");
    cli_ok("export kept --task 7 -o seven");
    assert_true(cli_exists("seven/task/intervals.csv"));
    cli_ok("train I.csv --epsilon 5 --scale near.json -o bare");
    cli_fails(2, "--intervals", "predict bare I.test.csv --intervals 0.9 -o none.csv");
    cli_fails(2, "mp-mixed",
              "train I.csv --epsilon 5 --scale near.json --method mp-prior --intervals "
              "-o none");
}

static void rows_may_be_enough(void **state) {
    (void)state;
    json_t *a = cli_json("advise --json --tasks 50 --features 3 --rows 5000");
    assert_string_equal(cli_text(a, "recommended.method"), "stl");
    json_decref(a);
}

/* The noise that is named is that of `account`, round by round. */
static void noise_is_the_accountants(void **state) {
    (void)state;
    json_t *a = cli_json("advise --json --tasks 100000 --features 20 --strong 0.1");
    const json_t *list = cli_at(a, "theory.algorithms");
    assert_int_equal(json_array_size(list), 12);
    for (size_t k = 0; k < 12; k++) {
        const json_t *one = json_array_get(list, k);
        const bool sparse = strcmp(cli_text(one, "method"), "mp-groupsparse") == 0;
        json_t *price = cli_json(
            "account --json --epsilon 1 --delta 1e-6 --rounds %.0f --schedule %s "
            "--form %s --adjacency replace-one",
            cli_number(one, "rounds"), cli_text(one, "schedule"),
            sparse ? "square" : "outer");
        assert_relative(cli_number(one, "noise_multiplier"),
                        cli_number(price, "noise_multiplier"), 1e-6);
        json_decref(price);
    }
    json_decref(a);
}

static void trained(const char *options, char hash[80]) {
    json_t *run =
        cli_json("train W.csv --json --method mp-lowrank --epsilon 5 --seed 3 "
                 "--rounds 7 --standardize unit-rows --set clip=10 %s -o s "
                 "--force",
                 options);
    snprintf(hash, 80, "%s", cli_text(run, "billboard_sha256"));
    json_decref(run);
}

static void schedules_follow_the_momentum(void **state) {
    (void)state;
    static const char *const same[][2] = {
        {"--schedule advised", "--schedule power:0.4"},
        {"--schedule advised --set momentum=none", "--set momentum=none"},
        {"--schedule advised --set momentum=strong --set strong-convexity=0.25 --set "
         "step=1",
         "--schedule geometric:0.870550563 --set momentum=strong --set "
         "strong-convexity=0.25 --set step=1"}};
    char one[80], other[80];
    for (size_t k = 0; k < 3; k++) {
        trained(same[k][0], one);
        trained(same[k][1], other);
        assert_string_equal(one, other);
    }
    cli_fails(2, "advised",
              "train W.csv --method fedavg --epsilon 1 --schedule advised -o x");
}

static void sizes_must_be_known(void **state) {
    (void)state;
    cli_fails(2, "--features", "advise --tasks 3");
    cli_fails(2, "--smooth", "advise --tasks 3 --features 2 --strong 2");
    cli_fails(2, "tasks", "advise --tasks 0 --features 2");
    cli_fails(1, "none.csv", "advise none.csv");
}

int main(void) {
    const struct CMUnitTest test[] = {
        cmocka_unit_test(a_closed_gate_says_what_opens_it),
        cmocka_unit_test(runs_agree),
        cmocka_unit_test(effects_are_published),
        cmocka_unit_test(effects_and_their_share_go_together),
        cmocka_unit_test(slopes_are_of_columns_that_vary),
        cmocka_unit_test(effects_of_texts_have_a_reference),
        cmocka_unit_test(effects_without_noise_are_resolved_too),
        cmocka_unit_test(names_of_effects_are_whole),
        cmocka_unit_test(effects_of_indicators_leave_the_intercept),
        cmocka_unit_test(an_icc_that_says_nothing_is_not_told),
        cmocka_unit_test(ranges_can_be_done_without),
        cmocka_unit_test(predictions_have_intervals),
        cmocka_unit_test(rows_may_be_enough),
        cmocka_unit_test(noise_is_the_accountants),
        cmocka_unit_test(schedules_follow_the_momentum),
        cmocka_unit_test(sizes_must_be_known)};
    return cmocka_run_group_tests(test, cli_open, cli_close);
}
