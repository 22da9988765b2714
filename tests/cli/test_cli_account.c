/* What a plan costs, asked of the real program. */
#include "cli.h"

#include <ctype.h>

static double number(const char *key, const char *arguments) {
    json_t *j = cli_json("account --json %s", arguments);
    const double value = cli_number(j, key);
    json_decref(j);
    return value;
}

static double epsilon_of(const char *arguments) {
    return number("epsilon", arguments);
}

#define WITH(buffer, ...)                                                              \
    char buffer[500];                                                                  \
    snprintf(buffer, sizeof(buffer), __VA_ARGS__)

static void every_key_is_there(void **state) {
    (void)state;
    const char *const key[] = {
        "found",     "epsilon",          "epsilon_lower", "delta",      "delta_lower",
        "adjacency", "sampling",         "cohort",        "rate",       "tasks",
        "form",      "noise_multiplier", "rounds",        "accountant", "order",
        "adaptive",  "statement"};
    const char *const plan[] = {"--noise-multiplier 2 --rounds 10 --tasks 100",
                                "--rounds 10 --epsilon 1 --tasks 100",
                                "--noise-multiplier 9 --epsilon 1 --tasks 100",
                                "--noise-multiplier 2 --rounds 10 --epsilon 1",
                                "--epsilons 0.1:9 --slack 1e-5",
                                "--noise-multiplier 2 --rounds 9 --tasks 9 --adaptive"};
    for (size_t p = 0; p < sizeof plan / sizeof *plan; p++) {
        json_t *j = cli_json("account --json %s", plan[p]);
        for (size_t k = 0; k < sizeof key / sizeof *key; k++)
            if (!cli_at(j, key[k])) fail_msg("%s: no %s", plan[p], key[k]);
        assert_non_null(strstr(cli_text(j, "statement"), cli_text(j, "adjacency")));
        assert_non_null(strstr(cli_text(j, "statement"), "Sampling"));
        json_decref(j);
    }
    json_t *j = cli_json("account --json --noise-multiplier 2 --rounds 10 --sampling "
                         "fixed:14 --tasks 139 --adjacency replace-one");
    assert_string_equal(cli_text(j, "sampling"), "fixed");
    assert_string_equal(cli_text(j, "cohort"), "visible");
    assert_close(cli_number(j, "rate"), 14.0 / 139.0, 0.0);
    assert_close(cli_number(j, "delta"), 1e-5, 0.0);
    assert_int_equal(cli_number(j, "tasks"), 139);
    assert_string_equal(cli_text(j, "form"), "vector");
    assert_true(json_is_null(cli_at(j, "order")));
    json_decref(j);
}

/* Gaussian noise on everything, epsilon to 25 digits (mpmath): sigma is the noise over
 * the sensitivity. */
static void all_tasks_equal_the_closed_form(void **state) {
    (void)state;
    static const struct {
        double sigma, delta, epsilon;
    } truth[] = {{0.1, 1e-3, 80.03252609415048504069182},
                 {0.3, 1e-5, 19.130767834361924710952},
                 {1.0, 1e-3, 3.138670548582939201996513},
                 {5.0, 1e-5, 0.7255217508577958228197047},
                 {10.0, 1e-5, 0.3406693646843264086210098},
                 {200.0, 0.01, 0.0}};
    static const struct {
        const char *plan;
        double scale; /* of the noise: r, and sqrt(rounds) */
    } same[] = {{"--rounds 1 --adjacency add-remove", 1.0},
                {"--rounds 1", 2.0},
                {"--rounds 64 --form slot", 16.0},
                {"--rounds 1 --form outer", 1.4142135623730951}};
    for (size_t k = 0; k < sizeof truth / sizeof *truth; k++) {
        const double s = truth[k].sigma, e = truth[k].epsilon;
        for (size_t p = 0; p < sizeof same / sizeof *same; p++) {
            WITH(plan, "%s --noise-multiplier %.17g --delta %.17g", same[p].plan,
                 same[p].scale * s, truth[k].delta);
            assert_relative(epsilon_of(plan), e, 1e-11);
        }
        /* two blocks, (2/z)^2 + (sqrt 2/w)^2 = 1/s^2 */
        WITH(blocks,
             "--noise-multiplier %.17g,%.17g --rounds 1 --form slot,psd --delta %g",
             4.0 * s, sqrt(8.0 / 3.0) * s, truth[k].delta);
        assert_relative(epsilon_of(blocks), e, 1e-11);
    }
}

/* 14 of 139 tasks in one round. Hidden and Poisson: values of dp_accounting 0.6.0; with
 * zeros instead of a replaced task: of mpmath.
 * Visible: a task is picked with probability 14/139, and then pays in full. */
static void cohorts_are_told_apart(void **state) {
    (void)state;
    static const char round[] = "--rounds 1 --noise-multiplier 1 --tasks 139";
    WITH(hidden, "%s --delta 1e-5 --sampling fixed:14 --cohort hidden", round);
    WITH(zeros,
         "%s --delta 1e-5 --sampling fixed:14 --cohort hidden --adjacency add-remove",
         round);
    WITH(visible, "%s --delta 1e-5 --sampling fixed:14", round);
    WITH(picked, "%s --delta %.17g", round, 1e-5 * 139.0 / 14.0);
    WITH(poisson, "%s --delta 1e-5 --sampling poisson:%.17g --adjacency add-remove",
         round, 14.0 / 139.0);
    assert_relative(epsilon_of(hidden), 6.586415930647424, 1e-4);
    assert_relative(epsilon_of(zeros), 3.749559231727383, 1e-9);
    assert_relative(number("epsilon_lower", zeros), 3.749559231727383, 1e-6);
    assert_relative(epsilon_of(visible), epsilon_of(picked), 1e-5);
    assert_relative(epsilon_of(poisson), 1.6919770680836728, 1e-4);
}

static void found_noise_is_enough_and_hardly_more(void **state) {
    (void)state;
    static const char *const plan[] = {
        "--rounds 100 --delta 1e-5",
        "--rounds 100 --delta 1e-6 --sampling poisson:0.01",
        "--rounds 100 --delta 1e-6 --sampling poisson:0.01 --accountant rdp",
        "--rounds 100 --delta 1e-6 --sampling poisson:0.02 --adjacency add-remove",
        "--rounds 50 --tasks 1000 --sampling fixed:10 --cohort hidden",
        "--rounds 50 --tasks 1000 --sampling fixed:10 --cohort visible",
        "--rounds 5 --delta 1e-5 --schedule power:0.5 --form outer",
        "--rounds 10 --delta 1e-5 --selection 0.05:4"};
    for (size_t k = 0; k < sizeof plan / sizeof *plan; k++) {
        WITH(ask, "%s --epsilon 1.5", plan[k]);
        const double z = number("noise_multiplier", ask);
        WITH(enough, "%s --noise-multiplier %.17g", plan[k], z);
        WITH(less, "%s --noise-multiplier %.17g", plan[k], 0.999 * z);
        if (!(epsilon_of(enough) <= 1.5) || !(epsilon_of(less) > 1.5))
            fail_msg("%s: noise %.17g has epsilon %.17g, 0.999 of it %.17g", plan[k], z,
                     epsilon_of(enough), epsilon_of(less));
    }
}

static void found_rounds_fit_and_one_more_does_not(void **state) {
    (void)state;
    static const char *const plan[] = {
        "--noise-multiplier 20 --delta 1e-5",
        "--noise-multiplier 1.5 --delta 1e-6 --sampling poisson:0.01",
        "--noise-multiplier 60,80 --form vector,outer --delta 1e-5 --accountant gdp"};
    for (size_t k = 0; k < sizeof plan / sizeof *plan; k++) {
        WITH(ask, "%s --epsilon 2", plan[k]);
        const double n = number("rounds", ask);
        assert_true(n >= 2.0);
        WITH(fits, "%s --rounds %.0f", plan[k], n);
        WITH(more, "%s --rounds %.0f", plan[k], n + 1.0);
        assert_true(epsilon_of(fits) <= 2.0);
        assert_true(epsilon_of(more) > 2.0);
        WITH(back, "%s --epsilon 2 --rounds %.0f", plan[k], n);
        char *delta = strstr(back, "--delta");
        memset(delta, ' ', 12); /* leaves delta to be found */
        assert_true(number("delta", back) <= (k == 1 ? 1e-6 : 1e-5));
        assert_true(number("delta", back) > (k == 1 ? 0.9e-6 : 0.5e-5));
    }
}

/* All tasks in every round: only the sum of 1/z_t^2 counts. */
static void a_schedule_spreads_the_noise(void **state) {
    (void)state;
    const double even =
        number("noise_multiplier", "--rounds 8 --epsilon 1 --delta 1e-5");
    json_t *j = cli_json("account --json --rounds 8 --epsilon 1 --delta 1e-5 "
                         "--schedule geometric:0.8");
    const json_t *list = cli_at(j, "noise_multipliers");
    double sum = 0.0, last = INFINITY;
    assert_int_equal(json_array_size(list), 8);
    for (size_t t = 0; t < 8; t++) {
        const double z = json_number_value(json_array_get(list, t));
        assert_true(z < last);
        if (t) assert_relative(z, 0.8 * last, 1e-12);
        last = z;
        sum += 1.0 / (z * z);
    }
    assert_relative(sum, 8.0 / (even * even), 1e-9);
    assert_close(cli_number(j, "noise_multiplier"), last, 0.0);
    json_decref(j);
    j = cli_json(
        "account --json --rounds 8 --epsilon 1 --delta 1e-5 --schedule uniform");
    assert_null(cli_at(j, "noise_multipliers"));
    assert_close(cli_number(j, "noise_multiplier"), even, 0.0);
    json_decref(j);
}

static void pure_steps_compose(void **state) {
    (void)state;
    static const char list[] = "--epsilons 0.1:30,0.5 --slack 1e-6";
    WITH(kov, "%s --accountant kov", list);
    WITH(pld, "%s --accountant pld", list);
    assert_relative(epsilon_of(list), fmin(epsilon_of(kov), epsilon_of(pld)), 1e-12);
    /* the second branch of the theorem: sum e tanh(e/2) + sqrt(2 sum e^2 log(e + ...))
     */
    const double tanhs = 30 * 0.1 * tanh(0.05) + 0.5 * tanh(0.25),
                 squares = 30 * 0.01 + 0.25;
    const double branch =
        tanhs + sqrt(2.0 * squares * log(exp(1.0) + sqrt(squares) / 1e-6));
    assert_true(epsilon_of(kov) <= branch * (1.0 + 1e-9));
    assert_relative(epsilon_of("--epsilons 0.25:4 --delta 0"), 1.0, 1e-12);
    assert_relative(epsilon_of("--step 0.5,1e-6 --delta 1e-5"), 0.5, 1e-3);
    assert_true(epsilon_of("--selection 0.1:30 --delta 1e-6") <
                epsilon_of("--epsilons 0.1:30 --delta 1e-6"));
    cli_fails(2, "no epsilon is valid", "account --step 0.5,1e-4:9 --delta 1e-5");
}

static void later_rounds_may_depend_on_earlier_ones(void **state) {
    (void)state;
    static const char gauss[] = "--noise-multiplier 9 --rounds 50 --delta 1e-5",
                      sampled[] = "--noise-multiplier 2 --rounds 50 --delta 1e-5 "
                                  "--sampling poisson:0.05 --adjacency add-remove";
    WITH(adaptive, "%s --adaptive", gauss);
    assert_relative(epsilon_of(adaptive), epsilon_of(gauss), 1e-12);
    WITH(rdp, "%s --accountant rdp", sampled);
    WITH(best, "%s --adaptive", sampled);
    WITH(fixed, "%s --adaptive --order 4", sampled);
    assert_relative(epsilon_of(best), epsilon_of(rdp), 1e-6);
    assert_true(epsilon_of(fixed) > epsilon_of(best));
    assert_close(number("order", fixed), 4.0, 0.0);
    cli_fails(2, "outputs were seen", "account %s --adaptive --accountant pld", gauss);
    cli_fails(2, "--adaptive",
              "account --rounds 50 --delta 1e-5 --epsilon 1 --adaptive");
    cli_fails(2, "--adaptive", "account %s --order 3", gauss);
}

static void a_file_lists_what_flags_cannot(void **state) {
    (void)state;
    cli_write("events.json",
              "[{\"kind\": \"round\", \"noise_multiplier\": 4, \"rounds\": 10,"
              "  \"sampling\": \"poisson:0.1\"},"
              " {\"kind\": \"selection\", \"epsilon\": 0.1, \"rounds\": 3},"
              " {\"kind\": \"step\", \"epsilon\": 0.2, \"delta\": 1e-7}]");
    const double flags = epsilon_of(
        "--noise-multiplier 4 --rounds 10 --sampling poisson:0.1 --selection "
        "0.1:3 --step 0.2,1e-7 --delta 1e-5");
    assert_relative(epsilon_of("--events events.json --delta 1e-5"), flags, 1e-9);
    cli_write("blocks.json", "[{\"kind\": \"round\", \"form\": \"vector,outer\", "
                             "\"noise_multiplier\": \"3,4\", \"rounds\": 5}]");
    assert_relative(epsilon_of("--events blocks.json --delta 1e-5"),
                    epsilon_of("--form vector,outer --noise-multiplier 3,4 --rounds 5 "
                               "--delta 1e-5"),
                    1e-12);
    json_t *j = cli_json("account --json --events events.json --delta 1e-5");
    assert_string_equal(cli_text(j, "sampling"), "mixed");
    assert_true(json_is_null(cli_at(j, "rate")));
    assert_non_null(strstr(cli_text(j, "statement"), "events.json"));
    json_decref(j);
    cli_write("hidden.json", "[{\"kind\": \"round\", \"noise_multiplier\": 2,"
                             " \"sampling\": \"fixed:3\", \"cohort\": \"hidden\"}]");
    j = cli_json("account --json --events hidden.json --tasks 100");
    assert_non_null(strstr(cli_text(j, "statement"), "hidden, this holds only if"));
    json_decref(j);
    static const char *const bad[][2] = {
        {"{}", "array"},
        {"[]", "array"},
        {"[{\"kind\": \"step\", \"epsilon\": 1}, {\"kind\": \"gauss\"}]", "event 2"},
        {"[{\"kind\": \"step\", \"epsilon\": -1}]", "event 1"},
        {"[{\"kind\": \"step\", \"epsilon\": 1, \"form\": \"psd\"}]", "form"},
        {"[{\"kind\": \"selection\"}]", "needs epsilon"},
        {"[{\"kind\": \"round\", \"noise_multiplier\": 1, \"rounds\": 1.5}]", "whole"},
        {"[{\"kind\": \"round\", \"noise_multiplier\": 0}]", "noise multiplier"},
        {"[7]", "event 1"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        cli_write("bad.json", bad[k][0]);
        cli_fails(2, bad[k][1], "account --events bad.json --delta 1e-5");
    }
    cli_write("bad.json", "[{");
    cli_fails(1, "bad.json: line 1", "account --events bad.json --delta 1e-5");
    cli_fails(1, "none.json", "account --events none.json --delta 1e-5");
    cli_fails(2, "noise is given",
              "account --events events.json --rounds 3 --epsilon 2 --delta 1e-5");
}

#define ROUND "--noise-multiplier 1 --rounds 1 --delta 1e-5 "

static void wrong_questions_are_refused(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"", "which plan"},
        {"--delta 1e-5", "which plan"},
        {"--noise-multiplier 1 --rounds 1", "--delta"},
        {"--noise-multiplier 1 --delta 1e-5", "--rounds"},
        {"--rounds 9 --delta 1e-5", "--noise-multiplier"},
        {"--noise-multiplier 1 --rounds 1 --epsilon 1 --delta 1e-5", "leave out one"},
        {"--noise-multiplier 0 --rounds 1 --delta 1e-5", "noise multiplier"},
        {"--noise-multiplier x --rounds 1 --delta 1e-5", "\"x\""},
        {"--noise-multiplier 1,2 --rounds 1 --delta 1e-5", "1 forms, 2 noise"},
        {"--noise-multiplier 1 --form ring --rounds 1 --delta 1e-5", "ring"},
        {"--noise-multiplier 1 --rounds 0 --delta 1e-5", "rounds"},
        {"--noise-multiplier 1 --rounds 1.5 --delta 1e-5", "whole"},
        {"--noise-multiplier 1 --rounds 1099511627777 --delta 1e-5", "rounds"},
        {"--noise-multiplier 1 --rounds 1 --delta 1", "delta"},
        {"--noise-multiplier 1 --rounds 1 --delta -1", "delta"},
        {"--noise-multiplier 1 --rounds 1 --delta 0", "no epsilon is valid"},
        {"--noise-multiplier 1 --rounds 1 --epsilon -1", "epsilon"},
        {"--noise-multiplier 1 --rounds 1 --delta paper", "--tasks"},
        {ROUND "--sampling poisson:0", "(0, 1]"},
        {ROUND "--sampling poisson:2", "(0, 1]"},
        {ROUND "--sampling some", "some"},
        {ROUND "--sampling fixed:3", "--tasks"},
        {"--noise-multiplier 1 --rounds 1 --tasks 2 --sampling fixed:3", "2 tasks"},
        {ROUND "--cohort hidden", "fixed:K"},
        {"--noise-multiplier 1 --rounds 1 --tasks 9 --sampling fixed:3 --cohort no",
         "cohort"},
        {ROUND "--adjacency both", "adjacency"},
        {ROUND "--accountant moments", "accountant"},
        {ROUND "--accountant kov", "kov"},
        {ROUND "--schedule up", "up"},
        {"--noise-multiplier 1 --epsilon 1 --delta 1e-5 --schedule power:1",
         "--rounds"},
        {"--noise-multiplier 1 --rounds 1e6 --delta 1e-5 --schedule power:1", "100000"},
        {"--noise-multiplier 1 --epsilon 1 --delta 1e-5 --selection 0.1", "--rounds"},
        {"--epsilons 0.1 --delta 1e-5 --form psd", "--form"},
        {"--epsilons 0.1,,2 --delta 1e-5", "number 2"},
        {"--epsilons 0.1:0 --delta 1e-5", "COUNT"},
        {"--step 0.1 --delta 1e-5", "EPS,DELTA"},
        {"--epsilons 1 --slack 1e-5 --delta 1e-5", "two names"},
        {"--noise-multiplier 1 --rounds 1 --slack 1e-5", "--epsilons"},
        {ROUND "--wishart 3 --form vector", "outer"},
        {ROUND "--wishart 1", "wishart"},
        {ROUND "--plot a.svg", "--curve"},
        {ROUND "--curve rounds", "two"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        cli_fails(2, wrong[k][1], "account %s", wrong[k][0]);
    cli_fails(3, "not even one round",
              "account --noise-multiplier 1 --epsilon 0.1 --delta 1e-5");
    cli_fails(3, "no noise",
              "account --rounds 9 --epsilon 1 --delta 1e-5 --selection 2");
    cli_result r = cli("account here");
    assert_int_equal(r.code, 2);
    assert_non_null(strstr(r.err, "takes options only"));
    cli_free(&r);
}

/* Every tag is closed in order, and nothing but text is in between. */
static void assert_well_formed(const char *xml) {
    const char *open[32];
    size_t depth = 0;
    for (const char *at = xml; (at = strchr(at, '<')); at++) {
        const char *name = at + 1 + (at[1] == '/'), *end = strchr(at, '>');
        const size_t length = strcspn(name, " />");
        assert_true(isalpha((unsigned char)*name) && end);
        assert_true(strcspn(at + 1, "<") > (size_t)(end - at - 1));
        if (at[1] == '/') {
            assert_true(depth > 0);
            if (strncmp(open[--depth], name, length) != 0)
                fail_msg("</%.*s> closes <%.10s", (int)length, name, open[depth]);
        } else if (end[-1] != '/') {
            assert_true(depth < 32);
            open[depth++] = name;
        }
    }
    assert_int_equal(depth, 0);
}

static void curves_are_printed_and_drawn(void **state) {
    (void)state;
    static const char plan[] =
        "--noise-multiplier 1 --rounds 500 --sampling poisson:0.01 --delta 1e-5 "
        "--adjacency add-remove";
    static const char *const of[] = {"epsilon", "delta", "rounds"},
                             *const x[] = {"delta", "epsilon", "rounds"},
                             *const y[] = {"epsilon", "delta", "epsilon"};
    for (size_t k = 0; k < 3; k++) {
        json_t *j =
            cli_json("account --json %s --curve %s --plot %s.svg", plan, of[k], of[k]);
        const json_t *list = cli_at(j, "curve");
        double before = NAN;
        assert_true(json_array_size(list) >= 12);
        for (size_t n = 0; n < json_array_size(list); n++) {
            const json_t *row = json_array_get(list, n);
            const double value = cli_number(row, y[k]);
            if (n) assert_true(k == 2 ? value > before : value <= before);
            before = value;
            if (cli_number(row, x[k]) == cli_number(j, x[k]))
                assert_relative(value, cli_number(j, y[k]), 1e-6);
        }
        WITH(path, "%s.svg", of[k]);
        char *svg = cli_read(path);
        assert_well_formed(svg);
        assert_int_equal(strncmp(svg, "<svg ", 5), 0);
        assert_non_null(strstr(svg, "add-remove"));
        assert_non_null(strstr(svg, "poisson:0.01"));
        assert_non_null(strstr(svg, "lower bound"));
        assert_null(strstr(svg, "<script"));
        assert_null(strstr(svg, "nan"));
        free(svg);
        json_decref(j);
    }
    cli_ok("account %s --curve rounds", plan);
    cli_fails(1, "none/a.svg", "account %s --curve epsilon --plot none/a.svg", plan);
    cli_fails(2, "kov", "account %s --curve epsilon --plot a.svg --accountant kov",
              plan);
    assert_int_equal(cli_count("a.svg*"), 0);
}

/* A level of noise that is too much work to price says nothing about more noise. */
static void a_search_goes_around_what_is_refused(void **state) {
    (void)state;
    static const char plan[] = "--rounds 87 --schedule power:0.856 --sampling "
                               "poisson:2.18083e-05 --delta 0.000485579";
    cli_fails(2, "too much work", "account %s --noise-multiplier 0.02", plan);
    json_t *a = cli_json("account --json %s --epsilon 0.755442", plan);
    assert_true(cli_number(a, "epsilon") <= 0.755442);
    assert_true(cli_number(a, "epsilon_lower") > 0.755442 * (1.0 - 1e-3));
    json_decref(a);
}

static void people_get_sentences(void **state) {
    (void)state;
    cli_result r =
        cli("account --noise-multiplier 3 --rounds 7 --tasks 50 --delta 0.02");
    assert_int_equal(r.code, 0);
    const double said = strtod(r.out + strlen("epsilon = "), NULL),
                 true_one = epsilon_of("--noise-multiplier 3 --rounds 7 --delta 0.02");
    assert_true(said >= true_one && said < true_one * (1.0 + 1e-5));
    assert_non_null(
        strstr(r.out, "at delta = 0.02, adjacency replace-one, sampling all"));
    assert_non_null(strstr(r.out, "Warning: delta is not below 1/50"));
    cli_free(&r);
    /* Hu, Wu and Smith's closed form: for the rounds that it is about, and no others */
    r = cli("account --rounds 100 --epsilon 1 --delta 0.004878");
    assert_non_null(strstr(r.out, "closed form"));
    cli_free(&r);
    assert_relative(number("noise_multiplier_published",
                           "--rounds 100 --epsilon 1 --delta 0.004878"),
                    4.0 * sqrt(100.0 * log(1.0 / 0.004878)), 1e-9);
    r = cli("account --rounds 100 --epsilon 1 --delta 1e-5 --form outer");
    assert_null(strstr(r.out, "closed form"));
    cli_free(&r);
    r = cli("account --rounds 7 --epsilon 1 --delta 1e-5");
    assert_int_equal(strncmp(r.out, "noise multiplier = ", 19), 0);
    assert_true(strtod(r.out + 19, NULL) >=
                number("noise_multiplier", "--rounds 7 --epsilon 1 --delta 1e-5"));
    cli_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_there),
        cmocka_unit_test(all_tasks_equal_the_closed_form),
        cmocka_unit_test(cohorts_are_told_apart),
        cmocka_unit_test(found_noise_is_enough_and_hardly_more),
        cmocka_unit_test(found_rounds_fit_and_one_more_does_not),
        cmocka_unit_test(a_schedule_spreads_the_noise),
        cmocka_unit_test(pure_steps_compose),
        cmocka_unit_test(later_rounds_may_depend_on_earlier_ones),
        cmocka_unit_test(a_file_lists_what_flags_cannot),
        cmocka_unit_test(wrong_questions_are_refused),
        cmocka_unit_test(curves_are_printed_and_drawn),
        cmocka_unit_test(a_search_goes_around_what_is_refused),
        cmocka_unit_test(people_get_sentences),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
