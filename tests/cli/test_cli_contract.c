/* What the program promises about flags, exit codes, stdout and JSON. */
#include "cli.h"

static void make_world(void) {
    if (!cli_exists("W.csv"))
        cli_ok("synth low-rank --tasks 40 --samples 12 --features 5 --seed 2 -o W.csv");
}

/* Labels 0 and 1 by a threshold; `task` in the last column. */
static void make_labels(void) {
    FILE *file = fopen("L.csv", "w");
    assert_non_null(file);
    fputs("good,a,b,who\n", file);
    for (int j = 0; j < 400; j++) {
        const double a = sin(j * 1.7), b = cos(j * 0.9);
        fprintf(file, "%d,%.6f,%.6f,t%d\n", a + 0.5 * b + 0.3 * sin(j * 7.1) > 0, a, b,
                j % 35);
    }
    fclose(file);
}

static const char *const keys[] = {"method",
                                   "loss",
                                   "tasks",
                                   "features",
                                   "rows",
                                   "objective",
                                   "gap",
                                   "lambda",
                                   "iterations",
                                   "rounds",
                                   "privacy.private",
                                   "privacy.epsilon",
                                   "privacy.delta",
                                   "privacy.adjacency",
                                   "privacy.sampling",
                                   "privacy.mechanism",
                                   "privacy.noise_multiplier",
                                   "privacy.guarantees",
                                   "privacy.statement",
                                   "train.nmse",
                                   "train.rmse",
                                   "test.nmse",
                                   "test.rmse",
                                   "test.auc",
                                   "test.accuracy",
                                   "per_task.min",
                                   "per_task.median",
                                   "per_task.max",
                                   "compare.stl",
                                   "compare.share_not_worse",
                                   "phases",
                                   "majority",
                                   "majority_task",
                                   "billboard_sha256",
                                   "models_sha256",
                                   "seconds.read",
                                   "seconds.solve",
                                   "seconds.total"};

static void assert_keys(const json_t *json) {
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (!cli_at(json, keys[k])) fail_msg("no member %s", keys[k]);
    assert_int_equal(strlen(cli_text(json, "billboard_sha256")), 64);
    assert_int_equal(strlen(cli_text(json, "models_sha256")), 64);
}

static void a_private_run_has_every_key(void **state) {
    (void)state;
    make_world();
    json_t *j =
        cli_json("train W.csv --method mp-groupsparse --epsilon 2 --delta 1e-3 "
                 "--adjacency add-remove --test W.test.csv --compare stl --json "
                 "-o keys");
    assert_keys(j);
    assert_string_equal(cli_text(j, "method"), "mp-groupsparse");
    assert_string_equal(cli_text(j, "loss"), "squared");
    assert_int_equal(cli_number(j, "tasks"), 40);
    assert_int_equal(cli_number(j, "features"), 5);
    assert_int_equal(cli_number(j, "rows"), 40 * 12 * 10);
    assert_true(json_is_true(cli_at(j, "privacy.private")));
    assert_close(cli_number(j, "privacy.epsilon"), 2.0, 0.0);
    assert_close(cli_number(j, "privacy.delta"), 1e-3, 0.0);
    assert_string_equal(cli_text(j, "privacy.adjacency"), "add-remove");
    assert_string_equal(cli_text(j, "privacy.sampling"), "all");
    assert_string_equal(cli_text(j, "privacy.mechanism"), "gaussian");
    assert_true(cli_number(j, "privacy.noise_multiplier") > 0.0);
    assert_true(json_is_null(cli_at(j, "test.auc")));
    assert_true(cli_number(j, "test.nmse") > 0.0);
    assert_true(cli_number(j, "compare.stl.test.nmse") > 0.0);
    assert_non_null(strstr(cli_text(j, "compare.stl.note"), "for evaluation only"));
    const double share = cli_number(j, "compare.share_not_worse");
    assert_true(share >= 0.0 && share <= 1.0);
    json_t *kept = json_load_file("keys/operator/run.json", 0, NULL);
    assert_non_null(kept);
    assert_true(json_equal(kept, j));
    json_decref(kept);
    json_decref(j);
}

static void without_noise_there_is_no_epsilon(void **state) {
    (void)state;
    make_world();
    json_t *j = cli_json("train W.csv --method mtl-trace --json -o open");
    assert_keys(j);
    assert_true(json_is_false(cli_at(j, "privacy.private")));
    assert_true(json_is_null(cli_at(j, "privacy.epsilon")));
    assert_true(json_is_null(cli_at(j, "privacy.noise_multiplier")));
    assert_string_equal(cli_text(j, "privacy.mechanism"), "none");
    assert_true(cli_number(j, "objective") > 0.0);
    assert_true(cli_number(j, "gap") <= 1e-6 * cli_number(j, "objective"));
    /* no test rows: no test metrics */
    assert_true(json_is_null(cli_at(j, "test.nmse")));
    assert_true(json_is_null(cli_at(j, "test.rmse")));
    assert_true(json_is_null(cli_at(j, "per_task.median")));
    assert_true(json_is_null(cli_at(j, "compare.stl")));
    json_decref(j);
}

static void labels_are_scored_by_auc(void **state) {
    (void)state;
    make_labels();
    json_t *j = cli_json("train L.csv --task who --target good --method stl --loss "
                         "logistic --train-fraction 0.5 --compare stl --json -o "
                         "labels");
    assert_string_equal(cli_text(j, "loss"), "logistic");
    assert_true(cli_number(j, "test.auc") > 0.7);
    assert_true(cli_number(j, "test.accuracy") > 0.6);
    assert_true(json_is_null(cli_at(j, "test.nmse")));
    assert_string_equal(cli_text(j, "per_task.metric"), "auc");
    assert_true(cli_number(j, "compare.own.test.auc") > 0.6);
    assert_true(cli_number(j, "compare.own.test.log_loss") !=
                cli_number(j, "compare.stl.test.log_loss"));
    assert_true(cli_number(j, "compare.gain.own.tasks") > 0.0);
    json_decref(j);
}

/* Without ranges: columns and target in the tasks' own powers of ten. */
static void no_option_is_enough(void **state) {
    (void)state;
    make_world();
    json_t *j =
        cli_json("train W.csv --epsilon 3 --seed 1 --test W.test.csv --compare stl "
                 "--json");
    assert_string_equal(cli_text(j, "options.output"), "W.run");
    char *options = cli_read("W.run/public/options.json");
    assert_non_null(strstr(options, "\"standardize\": \"magnitude\""));
    free(options);
    assert_string_equal(cli_text(j, "method"), "mp-mixed");
    assert_true(cli_number(j, "test.nmse") <=
                1.1 * cli_number(j, "compare.own.test.nmse"));
    json_decref(j);
    cli_fails(2, "W.run: exists already", "train W.csv --epsilon 3");
}

static void people_get_a_statement(void **state) {
    (void)state;
    make_world();
    cli_result r = cli("train W.csv --method mp-prior --epsilon 1 --test W.test.csv "
                       "--compare stl,no-privacy -o people");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "every task alone"));
    assert_non_null(strstr(r.out, "no privacy"));
    char *statement = cli_read("people/public/statement.txt");
    const char *at = strstr(r.out, statement);
    assert_non_null(at);
    const size_t length = strlen(statement);
    assert_int_equal(strncmp(at, statement, length), 0); /* at the end */
    assert_string_equal(at + length, "Written to people.\n");
    free(statement);
    cli_free(&r);
}

static void usage_is_exit_code_2(void **state) {
    (void)state;
    make_world();
    cli_fails(2, "needs --epsilon", "train W.csv --method mp-prior -o x");
    cli_fails(2, "has no meaning", "train W.csv --method stl --epsilon 1 -o x");
    cli_fails(2, "has no meaning", "train W.csv --method mtl-l21 --delta 0.1 -o x");
    cli_fails(2, "has no meaning",
              "train W.csv --method mp-lowrank --mechanism none --epsilon 1 -o x");
    cli_fails(2, "in the clear",
              "train W.csv --method mtl-trace --mechanism gaussian "
              "--epsilon 1 -o x");
    cli_fails(2, "--allow-broken-privacy",
              "train W.csv --method mp-lowrank --mechanism wishart-published --epsilon "
              "1 -o x");
    cli_fails(2, "unknown mechanism",
              "train W.csv --method stl --mechanism laplace "
              "-o x");
    cli_fails(2, "unknown method", "train W.csv --method magic -o x");
    cli_fails(2, "without ranges",
              "train W.csv --epsilon 1 --standardize magnitude --scale "
              "'{\"others\": [0, 1], \"target\": [0, 1]}' -o x");
    cli_fails(2, "which method", "train W.csv --loss multilabel --epsilon 1 -o x");
    cli_fails(2, "how many classes", "train W.csv --loss softmax --epsilon 1 -o x");
    cli_fails(2, "--output", "train W.csv --method stl --output=");
    cli_fails(2, "epsilon", "train W.csv --method mp-prior --epsilon -1 -o x");
    cli_fails(2, "epsilon", "train W.csv --method mp-prior --epsilon nan -o x");
    cli_fails(2, "delta", "train W.csv --method mp-prior --epsilon 1 --delta 2 -o x");
    cli_fails(2, "loss", "train W.csv --method stl --loss hinge -o x");
    cli_fails(2, "does not support",
              "train W.csv --method mp-prior --epsilon 1 --loss logistic -o x");
    cli_fails(2, "lamda", "train W.csv --method stl --set lamda=1 -o x");
    cli_fails(2, "lambda", "train W.csv --method stl --set lambda=many -o x");
    cli_fails(2, "key=value", "train W.csv --method stl --set lambda -o x");
    cli_fails(2, "--compare", "train W.csv --method stl --compare magic -o x");
    cli_fails(2, "--seed", "train W.csv --method stl --seed 1.5 -o x");
    cli_fails(2, "schedule",
              "train W.csv --method mp-lowrank --epsilon 1 --schedule "
              "soon -o x");
    cli_fails(2, "train-fraction",
              "train W.csv --method stl --test W.test.csv "
              "--train-fraction 0.5 -o x");
    cli_fails(2, "population", "train W.csv --method stl --population p -o x");
    cli_fails(2, "no command", "tarin W.csv");
    assert_int_equal(cli_count("x*"), 0);
}

static void sampling_is_stated(void **state) {
    (void)state;
    make_world();
    const struct {
        const char *flags, *words, *line;
    } run[] = {
        {"pmtl --sampling poisson:0.2", "poisson, every task with probability 0.2",
         "Sampling: poisson, every task with probability 0.2."},
        {"pmtl --sampling fixed:8", "fixed, 8 of 40 tasks, a visible cohort",
         "Sampling: fixed, 8 of 40 tasks, a visible cohort."},
        {"fedprox --sampling fixed:40", "fixed, 40 of 40 tasks, a hidden cohort",
         "Sampling: fixed, 40 of 40 tasks, a hidden cohort."},
        {"fedavg --sampling all", "all", "every task takes part in every round"},
    };
    for (size_t k = 0; k < sizeof run / sizeof *run; k++) {
        json_t *j = cli_json("train W.csv --epsilon 1 --rounds 3 --json --force "
                             "-o sampled --method %s",
                             run[k].flags);
        assert_string_equal(cli_text(j, "privacy.sampling"), run[k].words);
        assert_true(json_is_true(cli_at(j, "privacy.private")));
        char *statement = cli_read("sampled/public/statement.txt");
        assert_non_null(strstr(statement, run[k].line));
        assert_non_null(strstr(cli_text(j, "privacy.statement"), run[k].line));
        free(statement);
        json_decref(j);
    }
    /* fewer are asked, so the same budget needs less noise for each round's sum */
    json_t *all = cli_json("train W.csv --method fedavg --epsilon 1 --json -o s-all");
    json_t *few = cli_json("train W.csv --method fedavg --epsilon 1 --json -o s-few "
                           "--sampling poisson:0.1");
    assert_true(cli_number(few, "privacy.noise_multiplier") <
                0.5 * cli_number(all, "privacy.noise_multiplier"));
    json_decref(all);
    json_decref(few);
}

static void sampling_is_checked(void **state) {
    (void)state;
    make_world();
    const char *const bad[] = {"poisson:0", "poisson:1.1", "poisson:-1", "poisson:nan",
                               "poisson:",  "poisson",     "fixed:0",    "fixed:2.5",
                               "fixed:-3",  "fixed:",      "some",       "''"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        cli_fails(2, "--sampling expects",
                  "train W.csv --method pmtl --epsilon 1 --sampling %s -o x", bad[k]);
    cli_fails(2, "a sample of 41 tasks cannot be drawn from 40",
              "train W.csv --method pmtl --epsilon 1 --sampling fixed:41 -o x");
    cli_fails(2, "--sampling",
              "train W.csv --method mp-lowrank --epsilon 1 --sampling poisson:0.5 "
              "-o x");
    cli_fails(2, "--sampling", "train W.csv --method stl --sampling fixed:3 -o x");
    assert_int_equal(cli_count("x*"), 0);
}

/* argp's own complaints take two lines, and end in 2 as well. */
static void argp_ends_in_2(void **state) {
    (void)state;
    const char *const line[] = {"train W.csv --methode stl",
                                "train",
                                "train a b",
                                "train W.csv --epsilon",
                                "info",
                                "methods now",
                                "predict r",
                                "ledger",
                                "synth",
                                "export"};
    for (size_t k = 0; k < sizeof line / sizeof *line; k++) {
        cli_result r = cli("%s", line[k]);
        if (r.code != 2 || *r.out || strncmp(r.err, "billboard", 9) != 0)
            fail_msg("billboard %s: exit code %d, stdout \"%s\", stderr \"%s\"",
                     line[k], r.code, r.out, r.err);
        cli_free(&r);
    }
}

static void broken_privacy_is_told(void **state) {
    (void)state;
    make_world();
    json_t *j =
        cli_json("train W.csv --method mp-lowrank --mechanism wishart-published "
                 "--allow-broken-privacy --epsilon 0.1 --rounds 5 --json -o wis");
    assert_true(json_is_false(cli_at(j, "privacy.private")));
    assert_true(json_is_null(cli_at(j, "privacy.epsilon")));
    const json_t *g = json_array_get(cli_at(j, "privacy.guarantees"), 0);
    assert_close(cli_number(g, "claimed_epsilon"), 0.1, 0.0);
    /* 1 - exp(-sum of epsilon_t); a small part of epsilon went into a selection */
    assert_true(cli_number(g, "true_delta_at_least") >= 1.0 - exp(-0.08));
    assert_true(cli_number(g, "true_delta_at_least") >
                1000.0 * cli_number(g, "claimed_delta"));
    assert_non_null(strstr(cli_text(j, "privacy.statement"), "NOT PRIVATE"));
    json_decref(j);
}

static void a_seed_is_not_private(void **state) {
    (void)state;
    make_world();
    cli_result r = cli("train W.csv --method mp-prior --epsilon 1 --seed 1 -o seeded");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "not private"));
    assert_non_null(strstr(r.out, "NOT PRIVATE: seeded"));
    cli_free(&r);
    json_t *j = json_load_file("seeded/public/privacy.json", 0, NULL);
    assert_true(json_is_false(cli_at(j, "private")));
    const json_t *g = json_array_get(cli_at(j, "guarantees"), 0);
    assert_true(json_is_false(cli_at(g, "valid")));
    assert_close(cli_number(g, "claimed_epsilon"), 1.0, 0.0);
    json_decref(j);
    j = json_load_file("seeded/operator/run.json", 0, NULL);
    assert_true(json_is_false(cli_at(j, "privacy.valid")));
    assert_true(json_is_null(cli_at(j, "privacy.epsilon")));
    g = json_array_get(cli_at(j, "privacy.guarantees"), 0);
    assert_true(json_is_false(cli_at(g, "valid")));
    json_decref(j);
}

/* Only a diagonal is released: the claim has no proof, and is not refuted either. */
static void no_more_is_denied_than_is_known(void **state) {
    (void)state;
    make_world();
    json_t *j = cli_json("train W.csv --method mp-groupsparse --mechanism "
                         "wishart-published --allow-broken-privacy --epsilon 0.1 "
                         "--rounds 5 --json -o diagonal");
    const json_t *g = json_array_get(cli_at(j, "privacy.guarantees"), 0);
    const double truth = cli_number(g, "true_delta_at_least");
    assert_true(json_is_false(cli_at(g, "valid")));
    assert_true(truth > 0.0 && truth < cli_number(g, "claimed_delta"));
    const char *text = cli_text(j, "privacy.statement");
    assert_non_null(
        strstr(text, "its published proof is wrong, and its true δ is at least"));
    assert_null(strstr(text, "no valid (ε, δ)"));
    json_decref(j);
}

static void delta_is_chosen_and_warned_about(void **state) {
    (void)state;
    make_world();
    json_t *j =
        cli_json("train W.csv --method mp-groupsparse --epsilon 1 --json -o d1");
    assert_close(cli_number(j, "privacy.delta"), 1e-5, 0.0);
    json_decref(j);
    j = cli_json(
        "train W.csv --method mp-groupsparse --epsilon 1 --delta paper --json -o "
        "d2");
    assert_relative(cli_number(j, "privacy.delta"), 1.0 / (40.0 * log(40.0)), 1e-12);
    json_decref(j);
    cli_result r =
        cli("train W.csv --method mp-groupsparse --epsilon 1 --delta 0.1 -o d3");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "warning"));
    cli_free(&r);
    cli_ok("synth low-rank --tasks 8 --samples 5 --features 3 --seed 2 -o few.csv");
    r = cli("train few.csv --method mp-groupsparse --epsilon 1 -o d4");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "warning: only 8 tasks"));
    cli_free(&r);
}

static void a_config_file_is_as_good_as_flags(void **state) {
    (void)state;
    make_world();
    cli_write("c.json",
              "{\"method\": \"mp-lowrank\", \"epsilon\": 1.5, \"delta\": 1e-5, "
              "\"rounds\": 7, "
              "\"seed\": 3, \"no-intercept\": true, \"output\": \"c1\", "
              "\"json\": true, \"set\": {\"lambda\": 0.25}}");
    json_t *a = cli_json("train W.csv --config c.json");
    json_t *b =
        cli_json("train W.csv --method mp-lowrank --epsilon 1.5 --rounds 7 --seed "
                 "3 --no-intercept --set lambda=0.25 -o c2 --json");
    assert_string_equal(cli_text(a, "models_sha256"), cli_text(b, "models_sha256"));
    /* flags win */
    json_t *c =
        cli_json("train W.csv --epsilon 2 --config c.json --set lambda=0.5 -o c3");
    assert_true(json_is_null(cli_at(c, "privacy.epsilon"))); /* seeded */
    const json_t *g = json_array_get(cli_at(c, "privacy.guarantees"), 0);
    assert_close(cli_number(g, "claimed_epsilon"), 2.0, 0.0);
    json_t *kept = json_load_file("c3/operator/run.json", 0, NULL);
    assert_close(cli_number(kept, "options.set.lambda"), 0.5, 0.0);
    assert_close(cli_number(kept, "options.rounds"), 7, 0.0);
    /* the options that a run keeps are a config file themselves */
    json_t *options = json_object_get(kept, "options");
    json_object_set_new(options, "output", json_string("c4"));
    json_dump_file(options, "again.json", 0);
    json_t *d = cli_json("train W.csv --config again.json");
    assert_string_equal(cli_text(c, "models_sha256"), cli_text(d, "models_sha256"));
    json_decref(a);
    json_decref(b);
    json_decref(c);
    json_decref(d);
    json_decref(kept);
    cli_write("bad.json", "{\"methd\": \"stl\"}");
    cli_fails(2, "methd", "train W.csv --config bad.json -o x");
    cli_write("bad.json", "{\"method\": \"stl\", \"config\": \"c.json\"}");
    cli_fails(2, "cannot name a config", "train W.csv --config bad.json -o x");
    cli_write("bad.json", "{\"method\": ");
    cli_fails(1, "bad.json: line 1", "train W.csv --config bad.json -o x");
    cli_write("bad.json", "{\"method\": \"stl\", \"set\": {\"lambda\": -1}}");
    cli_fails(2, "lambda", "train W.csv --config bad.json -o x");
}

static void every_flag_is_in_the_help(void **state) {
    (void)state;
    const char *const flag[] = {"task",
                                "target",
                                "features",
                                "ignore",
                                "format",
                                "labels",
                                "tasks",
                                "method",
                                "epsilon",
                                "delta",
                                "adjacency",
                                "mechanism",
                                "allow-broken-privacy",
                                "train-fraction",
                                "split-seed",
                                "test",
                                "standardize",
                                "scale",
                                "no-intercept",
                                "loss",
                                "classes",
                                "cluster",
                                "net",
                                "batch",
                                "phase",
                                "finetune",
                                "loss-scale",
                                "rounds",
                                "schedule",
                                "sampling",
                                "set",
                                "threads",
                                "seed",
                                "ledger",
                                "budget-epsilon",
                                "budget-delta",
                                "ledger-kind",
                                "ledger-order",
                                "population",
                                "compare",
                                "force",
                                "json",
                                "output",
                                "config"};
    cli_result r = cli("train --help");
    assert_int_equal(r.code, 0);
    for (size_t k = 0; k < sizeof flag / sizeof *flag; k++) {
        char text[40];
        snprintf(text, sizeof text, "--%s", flag[k]);
        if (!strstr(r.out, text)) fail_msg("%s is not in --help", text);
    }
    cli_free(&r);
    const char *const command[] = {"info",    "train", "evaluate", "predict",
                                   "methods", "synth", "ledger",   "export"};
    cli_result all = cli("help");
    assert_int_equal(all.code, 0);
    for (size_t k = 0; k < sizeof command / sizeof *command; k++) {
        cli_ok("%s --help", command[k]);
        cli_ok("help %s", command[k]);
        assert_non_null(strstr(all.out, command[k]));
    }
    cli_free(&all);
    r = cli("--version");
    assert_int_equal(strncmp(r.out, "billboard ", 10), 0);
    cli_free(&r);
}

static void methods_are_listed(void **state) {
    (void)state;
    const char *const name[] = {"stl",        "mtl-trace",   "mtl-l21",
                                "mtl-mtrl",   "mp-lowrank",  "mp-groupsparse",
                                "mp-lrsp",    "mp-instance", "fedavg",
                                "fedprox",    "pmtl",        "pmtl-clusters",
                                "pmtl-graph", "ppsgd",       "fedper",
                                "dp-aggr",    "dp-mtrl",     "mp-mixed",
                                "mp-prior",   "mp-centre",   "finetune",
                                "vote"};
    json_t *j = cli_json("methods --json");
    const json_t *list = cli_at(j, "methods");
    assert_int_equal(json_array_size(list), sizeof name / sizeof *name);
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        const json_t *m = json_array_get(list, k);
        assert_string_equal(cli_text(m, "name"), name[k]);
        assert_true(json_array_size(cli_at(m, "losses")) >= 1);
        assert_true(json_is_true(cli_at(m, "follows")) ==
                    (strcmp(name[k], "finetune") == 0 || strcmp(name[k], "vote") == 0));
        assert_true(json_is_true(cli_at(m, "clustered")) ==
                    (strcmp(name[k], "pmtl-clusters") == 0));
        assert_true(json_is_false(cli_at(m, "linear")) ==
                    (strcmp(name[k], "fedper") == 0));
        assert_true(json_is_true(cli_at(m, "related")) ==
                    (strcmp(name[k], "pmtl-graph") == 0));
        for (size_t o = 0; o < json_array_size(cli_at(m, "options")); o++)
            assert_non_null(cli_at(json_array_get(cli_at(m, "options"), o), "default"));
    }
    json_decref(j);
}

static void a_full_disk_on_stdout_is_a_failure(void **state) {
    (void)state;
    assert_int_equal(system("'" BB_PROGRAM "' methods >/dev/full 2>.err"), 256);
    char *err = cli_read(".err");
    assert_non_null(strstr(err, "standard output"));
    free(err);
}

/* What a method does not heed is refused, not ignored. */
static void idle_options_are_refused(void **state) {
    (void)state;
    make_world();
    cli_fails(2, "rounds cannot be chosen", "train W.csv --method stl --rounds 5 -o x");
    cli_fails(2, "rounds cannot be chosen",
              "train W.csv --method mp-prior --epsilon 1 --rounds 5 -o x");
    cli_fails(2, "schedule cannot be chosen",
              "train W.csv --method stl --schedule uniform -o x");
    cli_fails(2, "schedule cannot be chosen",
              "train W.csv --method mtl-trace --schedule uniform -o x");
    cli_fails(2, "no steps over batches", "train W.csv --method stl --batch 4 -o x");
    cli_fails(2, "no steps over batches",
              "train W.csv --method mp-lowrank --epsilon 1 --batch 4 -o x");
    cli_fails(2, "asks nobody", "train W.csv --method stl --sampling poisson:0.5 -o x");
    assert_false(cli_exists("x"));
}

/* Labels of pure chance: the guard's answer is public, and nobody has to guess it. */
static void a_guard_that_found_nothing_says_so(void **state) {
    (void)state;
    FILE *file = fopen("chance.csv", "w");
    uint32_t bits = 1;
    assert_non_null(file);
    fputs("task,y,x1,x2\n", file);
    FILE *const numbers = fopen("numbers.csv", "w");
    assert_non_null(numbers);
    fputs("task,y,x1,x2\n", numbers);
    for (int row = 0; row < 600; row++) {
        double number[3];
        for (int k = 0; k < 3; k++) {
            bits = bits * 1664525u + 1013904223u;
            number[k] = (double)(bits >> 8) / 0x1p24 - 0.5;
        }
        fprintf(file, "%d,%d,%g,%g\n", row / 20, number[0] > 0.0, number[1], number[2]);
        fprintf(numbers, "%d,%g,%g,%g\n", row / 20, number[0], number[1], number[2]);
    }
    fclose(file);
    fclose(numbers);
    cli_result r =
        cli("train chance.csv --loss logistic --method mp-centre --epsilon 0.5 "
            "--delta 1e-6 --seed 1 --standardize unit-rows -o chance");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "the guard found no centre"));
    cli_free(&r);
    json_t *run = json_load_file("chance/operator/run.json", 0, NULL);
    json_t *board = json_load_file("chance/public/billboard.json", 0, NULL);
    assert_non_null(strstr(cli_text(run, "note"), "the guard found no centre"));
    assert_string_equal(cli_text(board, "note"), cli_text(run, "note"));
    json_decref(run);
    json_decref(board);
    /* without noise whatever there is stands out */
    json_t *open = cli_json("train chance.csv --loss logistic --method mp-centre "
                            "--mechanism none --standardize unit-rows --json -o open");
    assert_non_null(
        strstr(cli_text(open, "note"), "a centre that tasks share was found"));
    json_decref(open);
    json_t *prior =
        cli_json("train numbers.csv --method mp-prior --epsilon 0.5 --delta "
                 "1e-6 --seed 1 --standardize unit-rows --json -o prior");
    assert_non_null(strstr(cli_text(prior, "note"), "nothing that tasks share"));
    json_decref(prior);
    cli_fails(2, "give --net",
              "train numbers.csv --method stl --start-seed 5 -o nothing");
    assert_int_equal(system("rm -r chance open prior numbers.csv"), 0);
}

/* Three classes need no method either. */
static void classes_have_a_default(void **state) {
    (void)state;
    cli_result made =
        cli("synth classes --tasks 20 --features 4 --labels 3 --seed 1 -o C.csv");
    assert_int_equal(made.code, 0);
    cli_free(&made);
    json_t *run =
        cli_json("train C.csv --loss softmax --classes 3 --epsilon 5 --delta 1e-6 "
                 "--seed 1 --standardize unit-rows --json -o classes");
    assert_string_equal(cli_text(run, "method"), "mp-centre");
    json_decref(run);
    assert_int_equal(system("rm -r classes C.csv"), 0);
}

static void absurd_results_draw_a_warning(void **state) {
    (void)state;
    make_world();
    cli_result r =
        cli("train W.csv --method ppsgd --finetune none --batch 4 --set rate=50 "
            "--set guard=off --standardize none --seed 1 --epsilon 1 --test W.test.csv "
            "--json -o wild");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "worse than always saying the mean"));
    assert_non_null(strstr(r.err, "diverged"));
    json_t *printed = json_loads(r.out, 0, NULL);
    assert_non_null(strstr(cli_text(printed, "warning"), "diverged"));
    json_decref(printed);
    cli_free(&r);
    json_t *sane =
        cli_json("train W.csv --method stl --test W.test.csv --json -o sane");
    assert_true(json_is_null(cli_at(sane, "warning")));
    json_decref(sane);
    assert_int_equal(system("rm -r wild sane"), 0);
}

/* Rows of tasks that all have the slope 2, `each' of a task; those of the last task are far away,
 * by `far'. Of two classes y is 0 or 1, the same in all rows of a task. */
static void write_tasks(const char *path, int tasks, int each, double far,
                        bool classes) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("task,y,x\n", f);
    for (int r = 0; r < tasks * each; r++) {
        const int task = r / each;
        const double x = sin(1.3 * r) + (task == tasks - 1 ? far : 0.0);
        const double y = 2.0 * sin(1.3 * r) + 0.3 * sin(7.7 * r);
        if (classes)
            fprintf(f, "town %d,%d,%.4f\n", task, task % 2, x + 2 * (task % 2));
        else
            fprintf(f, "town %d,%.4f,%.4f\n", task, y, x);
    }
    fclose(f);
}

/* Not the method's fault, nor the noise's; the operator alone is told. */
static void a_task_that_most_errors_come_from_is_named(void **state) {
    (void)state;
    write_tasks("near.csv", 60, 6, 0.0, false);
    write_tasks("far.csv", 60, 4, 1e6, false);
    /* one row says nothing of how far its task's target goes */
    assert_int_equal(system("head -n -5 near.csv >fewer.csv"), 0);
    cli_result r = cli("train fewer.csv --test far.csv --seed 1 --epsilon 3 -o far");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "100 % of the squared error is that of task "
                                  "\"town 59\", without which nMSE is 0."));
    assert_null(strstr(r.err, "diverged"));
    assert_null(strstr(r.err, "too much noise"));
    cli_free(&r);
    assert_int_equal(system("grep -rq 'squared error is' far/operator/run.json"), 0);
    assert_int_equal(system("grep -rqE 'town 59|squared error is' far/public"), 256);
    assert_int_equal(system("rm -r far near.csv far.csv fewer.csv"), 0);
}

/* Where tasks have one row, all of them together have held-out ones. */
/* Ten tasks whose x tells y, and two rows to test each on, of which x tells the opposite in the
 * first `turned` tasks. */
static void write_turned(int turned) {
    FILE *train = fopen("turned.csv", "w"), *test = fopen("turned.test.csv", "w");
    assert_true(train && test);
    fputs("task,y,x\n", train);
    fputs("task,y,x\n", test);
    for (int i = 0; i < 10; i++) {
        for (int r = 0; r < 8; r++) fprintf(train, "%d,%d,%d\n", i, r % 2, r % 2);
        fprintf(test, "%d,%d,0\n%d,%d,1\n", i, i < turned, i, i >= turned);
    }
    fclose(train);
    fclose(test);
}

/* An AUC of six tasks in ten is below one half by chance, and of none in ten is not. */
static void who_ranks_worse_than_chance(void **state) {
    (void)state;
    const char words[] = "rank worse than chance",
               *line = "train turned.csv --test turned.test.csv --loss logistic "
                       "--method stl -o turned --force";
    write_turned(6);
    cli_result r = cli("%s", line);
    assert_true(r.code == 0 && strstr(r.out, "0.4000") && !strstr(r.err, words));
    cli_free(&r);
    write_turned(10);
    r = cli("%s", line);
    assert_true(r.code == 0 && strstr(r.err, words));
    cli_free(&r);
    assert_int_equal(system("rm -r turned turned.csv turned.test.csv"), 0);
}

static void one_model_for_all_is_tuned_on_single_rows(void **state) {
    (void)state;
    write_tasks("single.csv", 120, 1, 0.0, false);
    write_tasks("more.csv", 120, 2, 0.0, false);
    json_t *j = cli_json("train single.csv --test more.csv --seed 1 --epsilon 1 "
                         "--compare stl --json -o single");
    assert_true(cli_number(j, "compare.pooled.test.nmse") < 0.1);
    assert_true(cli_number(j, "compare.pooled.lambda") < 1e3);
    json_decref(j);
    assert_int_equal(system("rm -r single single.csv more.csv"), 0);
}

/* No task has an AUC, and who gains is said all the same. */
static void tasks_of_one_class_are_compared_by_log_loss(void **state) {
    (void)state;
    write_tasks("one.csv", 80, 3, 0.0, true);
    cli_result r = cli("train one.csv --loss logistic --train-fraction 0.7 --seed 1 "
                       "--epsilon 5 --compare stl -o one");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "compared with every task alone, by log loss: "));
    assert_non_null(strstr(r.out, "compared with one model for all, by log loss: "));
    cli_free(&r);
    json_t *j = json_load_file("one/operator/run.json", 0, NULL);
    assert_true(json_is_true(cli_at(j, "compare.gain.stl.by_log_loss")));
    assert_int_equal(cli_number(j, "compare.gain.stl.tasks"), 80);
    json_decref(j);
    assert_int_equal(system("rm -r one one.csv"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_options_are_refused),
        cmocka_unit_test(a_guard_that_found_nothing_says_so),
        cmocka_unit_test(classes_have_a_default),
        cmocka_unit_test(absurd_results_draw_a_warning),
        cmocka_unit_test(a_task_that_most_errors_come_from_is_named),
        cmocka_unit_test(who_ranks_worse_than_chance),
        cmocka_unit_test(one_model_for_all_is_tuned_on_single_rows),
        cmocka_unit_test(tasks_of_one_class_are_compared_by_log_loss),
        cmocka_unit_test(a_private_run_has_every_key),
        cmocka_unit_test(without_noise_there_is_no_epsilon),
        cmocka_unit_test(labels_are_scored_by_auc),
        cmocka_unit_test(no_option_is_enough),
        cmocka_unit_test(people_get_a_statement),
        cmocka_unit_test(usage_is_exit_code_2),
        cmocka_unit_test(sampling_is_stated),
        cmocka_unit_test(sampling_is_checked),
        cmocka_unit_test(argp_ends_in_2),
        cmocka_unit_test(broken_privacy_is_told),
        cmocka_unit_test(a_seed_is_not_private),
        cmocka_unit_test(no_more_is_denied_than_is_known),
        cmocka_unit_test(delta_is_chosen_and_warned_about),
        cmocka_unit_test(a_config_file_is_as_good_as_flags),
        cmocka_unit_test(every_flag_is_in_the_help),
        cmocka_unit_test(methods_are_listed),
        cmocka_unit_test(a_full_disk_on_stdout_is_a_failure),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
