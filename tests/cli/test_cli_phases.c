/* Runs of several phases, clusters, several outputs and minibatches, from the command
 * line. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static void make_worlds(void) {
    if (cli_exists("W.csv")) return;
    cli_ok("synth low-rank --tasks 30 --samples 12 --features 5 --seed 2 -o W.csv");
    cli_ok("synth classes --tasks 12 --samples 30 --features 6 --labels 4 -o C.csv");
    cli_ok("synth multilabel --tasks 12 --samples 20 --features 100 --labels 9 -o "
           "M.svm");
    /* W.csv with a column that groups tasks, and one that does not */
    FILE *file = fopen("G.csv", "w");
    assert_non_null(file);
    fputs("task,y,a,b,group,row\n", file);
    for (int j = 0; j < 240; j++)
        fprintf(file, "t%d,%.6f,%.6f,%.6f,%d,%d\n", j % 24, sin(j * 0.7) + (j % 24) / 9,
                0.7 * sin(j * 1.7), 0.7 * cos(j * 0.9), 2 - j % 24 % 3, j);
    fclose(file);
}

static bool says(const json_t *j, const char *path, const char *words) {
    return strstr(cli_text(j, path), words) != NULL;
}

static const char *phase(const json_t *j, size_t k) {
    return json_string_value(json_array_get(cli_at(j, "phases"), k));
}

static void phases_run_behind_each_other(void **state) {
    (void)state;
    make_worlds();
    json_t *j = cli_json(
        "train W.csv --method fedavg --set clip=1 --rounds 3 "
        "--phase pmtl,clip=1,share=0.5,rounds=2 "
        "--phase fedprox,clip=1,mu=0.1,rounds=1 --finetune kl,penalty=0.2 --epsilon 2 "
        "--seed 4 --json -o several");
    assert_int_equal(json_array_size(cli_at(j, "phases")), 4);
    assert_string_equal(phase(j, 0), "fedavg");
    assert_string_equal(phase(j, 1), "pmtl");
    assert_string_equal(phase(j, 2), "fedprox");
    assert_string_equal(phase(j, 3), "finetune");
    assert_int_equal(cli_number(j, "rounds"), 6);
    assert_string_equal(cli_text(j, "method"), "fedavg");
    assert_true(json_is_null(cli_at(j, "majority")));
    assert_true(json_is_null(cli_at(j, "majority_task")));
    assert_close(cli_number(json_array_get(cli_at(j, "privacy.guarantees"), 0),
                            "claimed_epsilon"),
                 2.0, 0.0); /* seeded */
    assert_true(says(j, "privacy.statement", "6 rounds"));
    json_t *privacy = json_load_file("several/public/privacy.json", 0, NULL);
    assert_string_equal(cli_text(privacy, "method"), "fedavg then pmtl then fedprox");
    json_t *billboard = json_load_file("several/public/billboard.json", 0, NULL);
    const json_t *releases = cli_at(billboard, "releases");
    assert_int_equal(json_array_size(releases), 6);
    /* half of mu^2 for pmtl, and a quarter for each of the others, evenly over rounds
     */
    double noise[6];
    for (size_t t = 0; t < 6; t++) {
        const json_t *release = json_array_get(releases, t);
        assert_int_equal(cli_number(release, "round"), t + 1);
        noise[t] = cli_number(json_array_get(cli_at(release, "blocks"), 0),
                              "noise_standard_deviation");
    }
    assert_relative(noise[0] / noise[3], sqrt((0.5 / 2) / (0.25 / 3)), 1e-6);
    assert_relative(noise[0] / noise[5], sqrt(0.25 / (0.25 / 3)), 1e-6);
    assert_true(noise[0] == noise[2] && noise[3] == noise[4]);
    /* one text with semicolons is the same */
    json_t *k = cli_json("train W.csv --method fedavg --set clip=1 --rounds 3 --phase "
                         "'pmtl,clip=1,share=0.5,rounds=2;"
                         "fedprox,clip=1,mu=0.1,rounds=1' --finetune "
                         "kl,penalty=0.2 --epsilon 2 --seed 4 --json -o one-text");
    assert_string_equal(cli_text(j, "models_sha256"), cli_text(k, "models_sha256"));
    json_decref(j);
    json_decref(k);
    json_decref(privacy);
    json_decref(billboard);
}

/* A phase that shows nothing comes first: what the next one releases is public all the
 * same, and the table and the statement call the run by what was shared. */
static void what_is_shared_gives_the_name(void **state) {
    (void)state;
    make_worlds();
    cli_result r =
        cli("train W.csv --method stl --no-intercept --phase "
            "fedavg,rounds=20 --epsilon 2 --test W.test.csv --seed 4 -o named");
    assert_int_equal(r.code, 0);
    assert_int_equal(strncmp(r.out, "fedavg, squared loss", 20), 0);
    assert_non_null(strstr(r.out, "test rows: fedavg, gaussian noise *"));
    cli_free(&r);
    json_t *billboard = json_load_file("named/public/billboard.json", 0, NULL);
    assert_int_equal(json_array_size(cli_at(billboard, "releases")), 20);
    json_decref(billboard);
}

static void finetuning_is_the_methods_or_asked_for(void **state) {
    const char *const flags[] = {"",
                                 "--finetune none",
                                 "--finetune vote",
                                 "--phase vote",
                                 "--finetune mean,penalty=0",
                                 "--finetune mean",
                                 "--phase finetune,how=mean"};
    enum { WAYS = sizeof flags / sizeof *flags };
    char models[WAYS][65];
    (void)state;
    make_worlds();
    for (size_t k = 0; k < WAYS; k++) {
        json_t *j = cli_json("train W.csv --method fedavg --mechanism none --json "
                             "--force -o tuned %s",
                             flags[k]);
        assert_int_equal(json_array_size(cli_at(j, "phases")), k == 1 ? 1 : 2);
        snprintf(models[k], 65, "%s", cli_text(j, "models_sha256"));
        json_decref(j);
    }
    assert_string_equal(models[0], models[2]); /* fedavg's own */
    assert_string_equal(models[0], models[3]);
    assert_string_not_equal(models[0], models[1]);
    assert_string_not_equal(models[0], models[4]);
    assert_string_not_equal(models[0], models[5]);
    assert_string_equal(models[5], models[6]);
    json_t *j = cli_json("train W.csv --method mp-lrsp --mechanism none --json -o own");
    assert_int_equal(json_array_size(cli_at(j, "phases")), 1);
    json_decref(j);
}

/* What a run says of itself in public is a config file for the same run. */
static void public_options_are_a_config_file(void **state) {
    const char *const flags[] = {
        "W.csv --method fedavg --set epochs=3 --phase pmtl,share=0.4,lambda=0.1 "
        "--finetune ewc,penalty=0.3 --batch 4 --epsilon 2 --seed 5",
        "G.csv --method pmtl-clusters --cluster group --clusters 3 --ignore row "
        "--epsilon 2 --seed 5",
        "C.csv --method ppsgd --loss softmax --classes 4 --batch 7 --rounds 4 "
        "--mechanism none --seed 6"};
    const char *const data[] = {"W.csv", "G.csv", "C.csv"};
    (void)state;
    make_worlds();
    for (size_t k = 0; k < 3; k++) {
        json_t *a = cli_json("train %s --json -o a%zu", flags[k], k);
        json_t *b = cli_json(
            "train %s --config a%zu/public/options.json --json -o b%zu", data[k], k, k);
        assert_string_equal(cli_text(a, "models_sha256"), cli_text(b, "models_sha256"));
        assert_string_equal(cli_text(a, "billboard_sha256"),
                            cli_text(b, "billboard_sha256"));
        json_decref(a);
        json_decref(b);
    }
    /* flags take the place of the file's phases */
    json_t *c = cli_json("train W.csv --config a0/public/options.json --phase fedprox "
                         "--json -o c");
    assert_int_equal(json_array_size(cli_at(c, "phases")), 3);
    assert_string_equal(phase(c, 1), "fedprox");
    json_decref(c);
}

static void clusters_are_no_feature(void **state) {
    (void)state;
    make_worlds();
    json_t *a = cli_json("train G.csv --method pmtl-clusters --cluster group --ignore "
                         "row --mechanism none --test G.csv --json -o groups");
    assert_int_equal(cli_number(a, "features"), 2);
    char *models = cli_read("groups/operator/models.csv");
    assert_memory_equal(models, "task,intercept,a,b\n", 19);
    free(models);
    json_t *b =
        cli_json("train G.csv --method pmtl --ignore group,row --mechanism none "
                 "--test G.csv --json -o no-groups");
    assert_string_not_equal(cli_text(a, "models_sha256"), cli_text(b, "models_sha256"));
    json_decref(a);
    json_decref(b);
    /* predicting needs no groups */
    cli_ok("evaluate groups G.csv");
}

static void classes_and_labels(void **state) {
    (void)state;
    make_worlds();
    json_t *j = cli_json("train C.csv --method fedavg --loss softmax --classes 4 "
                         "--standardize unit-rows --batch 5 --mechanism none --test "
                         "C.test.csv --compare stl --json -o classes");
    assert_string_equal(cli_text(j, "majority.of"), "training");
    const double majority = cli_number(j, "majority.accuracy");
    assert_true(cli_number(j, "test.accuracy") > majority + 0.2);
    assert_true(cli_number(j, "majority_task.accuracy") > 0.0);
    assert_true(cli_number(j, "compare.stl.test.accuracy") > majority);
    assert_true(cli_number(j, "compare.stl.lambda") > 0.0);
    assert_true(json_is_null(cli_at(j, "compare.stl.recipe")));
    assert_true(cli_number(j, "compare.pooled.test.accuracy") > majority);
    assert_true(cli_exists("classes/operator/models.safetensors"));
    json_decref(j);
    cli_ok("evaluate classes C.test.csv");
    j = cli_json("train M.svm --method fedprox --loss multilabel --classes 9 --batch 5 "
                 "--mechanism none --test M.test.svm --compare stl --json -o labels");
    assert_string_equal(cli_text(j, "per_task.metric"), "f1");
    assert_true(cli_number(j, "majority.recall") > 0.0);
    assert_true(cli_number(j, "majority_task.f1") > 0.0);
    assert_true(cli_number(j, "test.recall_at_5") > 0.0);
    assert_true(cli_number(j, "compare.stl.lambda") > 0.0);
    assert_true(cli_number(j, "compare.stl.test.f1") >
                cli_number(j, "majority_task.f1"));
    assert_true(cli_number(j, "compare.pooled.test.f1") > 0.0);
    json_decref(j);
}

/* Baselines are of the data alone: not of the method, its batches, its unit rows. */
static void baselines_inherit_nothing(void **state) {
    const char *const flags[] = {"fedavg --standardize unit-rows --batch 5",
                                 "pmtl --batch 3 --finetune none"};
    char before[2][2000] = {"", ""};
    (void)state;
    make_worlds();
    for (size_t k = 0; k < 2; k++) {
        json_t *j =
            cli_json("train C.csv --method %s --loss softmax --mechanism none "
                     "--test C.test.csv --compare stl --json --force -o classes",
                     flags[k]);
        for (size_t b = 0; b < 2; b++) {
            char *text = json_dumps(cli_at(j, b ? "compare.pooled" : "compare.stl"), 0);
            assert_true(
                json_is_object(cli_at(j, b ? "compare.pooled" : "compare.stl")));
            if (k) assert_string_equal(text, before[b]);
            snprintf(before[b], sizeof before[b], "%s", text);
            free(text);
        }
        json_decref(j);
    }
}

/* The same bytes for any number of threads, for what test_cli_threads.c leaves out. */
static void threads_change_nothing(void **state) {
    const char *const flags[] = {
        "G.csv --method pmtl-clusters --cluster group --clusters 3 --ignore row "
        "--epsilon 2",
        "C.csv --method fedavg --loss softmax --classes 4 --batch 5 --epsilon 2",
        "M.svm --method pmtl --loss multilabel --classes 9 --features 100 --batch 4 "
        "--epsilon 2",
        "W.csv --method fedavg --batch 3 --phase ppsgd --finetune ewc --epsilon 2",
        "C.csv --method stl --loss softmax --batch 5"};
    (void)state;
    make_worlds();
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        char models[65] = "";
        for (int threads = 1; threads <= 4; threads += 3) {
            json_t *j = cli_json("train %s --seed 3 --threads %d --json --force -o t",
                                 flags[k], threads);
            if (threads > 1 && strcmp(models, cli_text(j, "models_sha256")) != 0)
                fail_msg("%s: other bytes with %d threads", flags[k], threads);
            snprintf(models, sizeof models, "%s", cli_text(j, "models_sha256"));
            json_decref(j);
        }
    }
}

/* Flags after `train`, and what is said about them. */
typedef struct refusal {
    int code;
    const char *flags, *words;
} refusal;

static void refuse_all(const refusal *list, size_t count) {
    make_worlds();
    for (size_t k = 0; k < count; k++)
        cli_fails(list[k].code, list[k].words, "train %s -o x", list[k].flags);
    assert_int_equal(cli_count("x*"), 0);
}

#define REFUSE(...)                                                                    \
    do {                                                                               \
        const refusal list[] = {__VA_ARGS__};                                          \
        refuse_all(list, sizeof list / sizeof *list);                                  \
    } while (0)

static void phases_are_checked(void **state) {
    (void)state;
    REFUSE(
        {2, "W.csv --method finetune", "cannot be the first one"},
        {2, "W.csv --method stl --phase magic", "unknown method \"magic\""},
        {2, "W.csv --method stl --phase ''", "unknown method \"\""},
        {2, "W.csv --method fedavg --phase 'pmtl;' --mechanism none", "unknown method"},
        {2, "W.csv --method fedavg --phase pmtl,3 --mechanism none",
         "phase pmtl: expected key=value, found \"3\""},
        {2, "W.csv --method fedavg --phase pmtl,rounds=x --mechanism none",
         "rounds expects a whole number"},
        {2, "W.csv --method fedavg --phase pmtl,rounds=1000001 --mechanism none",
         "rounds expects a whole number"},
        {2, "W.csv --method fedavg --phase finetune,rounds=2 --mechanism none",
         "for a method that shows something"},
        {2, "W.csv --method fedavg --phase pmtl,share=1 --mechanism none",
         "phase pmtl: share expects"},
        {2, "W.csv --method fedavg --phase pmtl,share=0 --mechanism none",
         "share expects"},
        {2, "W.csv --method fedavg --phase finetune,share=0.5 --mechanism none",
         "share expects"},
        {2, "W.csv --method fedavg --phase pmtl,lamda=1 --mechanism none", "lamda"},
        {2,
         "W.csv --method fedavg --phase pmtl,share=0.6 --phase pmtl,share=0.4 "
         "--mechanism none",
         "nothing is left for phase 1, fedavg"},
        {2,
         "W.csv --method fedavg --phase pmtl,share=0.6 --phase pmtl,share=0.4 --phase "
         "pmtl --mechanism none",
         "nothing is left for phase 1, fedavg"},
        {2, "W.csv --method fedavg --finetune magic --mechanism none", "\"how\""},
        {2, "W.csv --method fedavg --finetune mean,none --mechanism none",
         "expected key=value"},
        {2, "W.csv --method fedavg --phase mp-lowrank,keep=own --mechanism none",
         "treat the intercept in different ways"},
        {2, "W.csv --method mtl-trace --phase mp-lowrank --epsilon 1",
         "exchanges everything in the clear"},
        {2,
         "W.csv --method stl --phase "
         "mp-instance,instance-epsilon=1,gradient-clip=1,clip=1 "
         "--epsilon 1 --standardize task",
         "method mp-instance protects single rows"},
        {2,
         "W.csv --method fedavg --phase "
         "mp-instance,instance-epsilon=1,gradient-clip=1,clip=1 --epsilon 1",
         "no other phase can publish anything beside it"},
        {2,
         "W.csv --method mp-lowrank --phase mp-groupsparse --epsilon 1 --sampling "
         "poisson:0.5",
         "--sampling all is the only one it has"},
        {2, "W.csv --method stl --finetune kl --sampling poisson:0.5",
         "--sampling has no meaning"});
}

static void clusters_are_checked(void **state) {
    (void)state;
    cli_write("S.svm", "1,2 qid:1 1:0.5 9:1\n0 qid:1 2:0.5 9:1\n"
                       "1 qid:2 1:0.5 9:2\n0,2 qid:2 2:0.5 9:2\n");
    REFUSE(
        {2, "G.csv --method pmtl-clusters --mechanism none",
         "method pmtl-clusters needs the public column that groups tasks"},
        {2, "G.csv --method pmtl-graph --ignore row --mechanism none",
         "needs the public relations of tasks"},
        {2, "G.csv --method pmtl --graph g.json --ignore row --mechanism none",
         "no use for --graph"},
        {1,
         "G.csv --method pmtl-graph --graph nowhere.json --ignore row,group "
         "--mechanism none",
         "nowhere.json"},
        {2,
         "G.csv --method pmtl-graph --graph '[[1]]' --ignore row,group --mechanism "
         "none",
         "entry 1"},
        {2,
         "G.csv --method pmtl-graph --graph '[[\"nobody\", \"nobody\", 1]]' --ignore "
         "row,group --mechanism none",
         "not in the data"},
        {2, "G.csv --method fedavg --phase pmtl-clusters --mechanism none",
         "method pmtl-clusters needs"},
        {2, "G.csv --method pmtl --cluster group --mechanism none",
         "method pmtl has no use for --cluster"},
        {2, "G.csv --method pmtl-clusters --cluster city --mechanism none",
         "G.csv: has no column \"city\" that tells clusters"},
        {1, "G.csv --method pmtl-clusters --cluster row --mechanism none",
         "the rows of task t0 must be in one cluster: expected 0 in column "
         "\"row\", found 24"},
        {2, "G.csv --method pmtl-clusters --cluster group --epsilon 1",
         "numbered from 0 in column \"group\": --clusters N"},
        {2, "G.csv --method pmtl --clusters 3 --epsilon 1", "give --cluster COLUMN"},
        {1,
         "G.csv --method pmtl-clusters --cluster group --clusters 2 --ignore row "
         "--epsilon 1",
         "G.csv:2: expected a whole number from 0 to 1 in column \"group\" "
         "(--clusters), found 2"},
        {2,
         "G.csv --method pmtl-clusters --cluster group --phase pmtl --ignore row "
         "--mechanism none",
         "phase 2, pmtl, has one shared model"},
        {2,
         "S.svm --method pmtl-clusters --loss multilabel --cluster x9 --mechanism "
         "none",
         "clusters and relations are not for several outputs of sparse rows"});
}

static void outputs_are_checked(void **state) {
    (void)state;
    REFUSE(
        {2, "C.csv --method mp-lowrank --loss softmax --mechanism none",
         "does not support the softmax loss"},
        {2, "C.csv --method stl --phase mp-lowrank --loss softmax --mechanism none",
         "method mp-lowrank does not support the softmax loss"},
        {2, "C.csv --method fedavg --loss softmax --epsilon 1",
         "must be told how many classes"},
        {2, "C.csv --method fedavg --classes 4 --mechanism none",
         "--classes is for the softmax and multilabel losses"},
        {1, "C.csv --method fedavg --loss softmax --classes 2 --mechanism none",
         "C.csv"},
        {2, "C.csv --method stl --loss softmax --standardize task --no-intercept",
         "leave out --no-intercept"},
        {2, "M.svm --method fedavg --loss multilabel --classes 9 --epsilon 1",
         "M.svm: a private run must be told how many features there are, which is "
         "public: --features N"},
        {1, "M.svm --method fedavg --loss multilabel --classes 8 --mechanism none",
         "M.svm"},
        {2, "W.csv --method mp-lowrank --batch 3 --mechanism none",
         "makes no steps over batches of rows"},
        {2, "W.csv --method fedavg --batch 70000 --mechanism none", "batch"},
        {2, "W.csv --method fedavg --set rate=2.5 --mechanism none", "stable below 2"},
        {2, "C.csv --method mp-lowrank --net dense4 --loss softmax --mechanism none",
         "does not support"},
        {2, "C.csv --method fedavg --net dense4 --loss softmax --mechanism none",
         "give --image HxWxC"});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_run_behind_each_other),
        cmocka_unit_test(what_is_shared_gives_the_name),
        cmocka_unit_test(finetuning_is_the_methods_or_asked_for),
        cmocka_unit_test(public_options_are_a_config_file),
        cmocka_unit_test(clusters_are_no_feature),
        cmocka_unit_test(classes_and_labels),
        cmocka_unit_test(baselines_inherit_nothing),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(phases_are_checked),
        cmocka_unit_test(clusters_are_checked),
        cmocka_unit_test(outputs_are_checked),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
