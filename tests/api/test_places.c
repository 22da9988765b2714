/* One run in several places, from outside: what silos and a curator make together is what
 * one process makes with all rows, to the bit; what a place cannot know must be given. */
#define BILLBOARD_EXPERIMENTAL
#include "rows.h"

#include <stdbool.h>

typedef billboard_experimental_silo silo;
typedef billboard_experimental_curator curator;

enum { SILOS = 3, WHOLE = 1000 };

/* -- rows of a place -- */

/* Silo s of `count` has the tasks whose number leaves s. */
static bool is_of(int64_t task, uint32_t s, uint32_t count) {
    return s == WHOLE || (uint32_t)(task * 7 % 5) % count == s;
}

enum {
    TURNED = 1,  /* columns are in another order */
    GROUPED = 2, /* one more column, which groups tasks */
    LISTED = 4   /* targets are lists of labels */
};

/* Dense rows, with these targets, of the silo. */
static billboard_data *rows_of(const double *target, uint32_t s, uint32_t count,
                               int how) {
    static const char *const turned[] = {"weight", "age", "height"},
                             *const grouped[] = {"age", "group", "height", "weight"};
    static const size_t place[2][FEATURES] = {{0, 1, 2}, {0, 2, 3}};
    static double own_x[ROWS * (FEATURES + 1)], own_y[ROWS];
    static int64_t own[ROWS], start[ROWS + 1];
    static int32_t label[2 * ROWS];
    const size_t width = FEATURES + (how & GROUPED ? 1 : 0);
    size_t rows = 0, labels = 0;
    for (size_t r = 0; r < ROWS; r++) {
        if (!is_of(owner[r], s, count)) continue;
        own[rows] = owner[r];
        own_y[rows] = target[r];
        for (size_t k = 0; k < FEATURES; k++)
            own_x[rows * width + (how & TURNED ? (k + 1) % FEATURES
                                               : place[how & GROUPED ? 1 : 0][k])] =
                x[r * FEATURES + k];
        if (how & GROUPED) own_x[rows * width + 1] = (double)(owner[r] % 3);
        if (target[r] > 0) label[labels++] = (int32_t)(owner[r] % 2);
        if (r % 2) label[labels++] = 3;
        start[++rows] = (int64_t)labels;
    }
    billboard_arrays a = arrays();
    a.rows = rows;
    a.features = width;
    a.task_number = own;
    a.x = own_x;
    a.y = how & LISTED ? NULL : own_y;
    if (how & LISTED) a.label_start = start;
    if (how & LISTED) a.label = label;
    if (how & TURNED) a.feature_name = turned;
    if (how & GROUPED) a.feature_name = grouped;
    return data_of(&a);
}

static int64_t tasks[TASKS];

static billboard_experimental_roster roster_of(uint32_t silos) {
    for (int k = 0; k < TASKS; k++) tasks[k] = 95 + (k * 7) % TASKS;
    return (billboard_experimental_roster){.struct_size =
                                               sizeof(billboard_experimental_roster),
                                           .tasks = TASKS,
                                           .task_number = tasks,
                                           .features = FEATURES,
                                           .feature_name = feature,
                                           .silos = silos};
}

static const billboard_experimental_policy open_policy = {
    .struct_size = sizeof(billboard_experimental_policy), .allow_open = 1};

/* -- a driver -- */

typedef struct places {
    uint32_t silos;
    curator *curator;
    silo *silo[SILOS];
} places;

static void open_places(places *p, const billboard_job *job,
                        const billboard_experimental_roster *roster,
                        const double *target, int how) {
    p->silos = roster->silos;
    ASSERT_OK(billboard_experimental_curator_open(job, roster, NULL, &p->curator));
    for (uint32_t s = 0; s < p->silos; s++) {
        billboard_data *data = rows_of(target, s, p->silos, how ? how : s == 1);
        ASSERT_OK(billboard_experimental_silo_open(job, roster, s + 1, data,
                                                   &open_policy, NULL, &p->silo[s]));
        billboard_data_free(data);
    }
}

static void close_places(places *p) {
    billboard_experimental_curator_free(p->curator);
    for (uint32_t s = 0; s < p->silos; s++)
        billboard_experimental_silo_free(p->silo[s]);
}

/* Whatever the curator has for a silo, and what that answers. */
static void serve(const places *p, uint32_t s) {
    const void *frame;
    size_t size;
    for (;;) {
        ASSERT_OK(
            billboard_experimental_curator_give(p->curator, s + 1, &frame, &size));
        if (!frame) return;
        ASSERT_OK(billboard_experimental_silo_take(p->silo[s], frame, size));
        if (billboard_experimental_silo_state(p->silo[s]) ==
            BILLBOARD_EXPERIMENTAL_WORK)
            ASSERT_OK(billboard_experimental_silo_work(p->silo[s]));
        ASSERT_OK(billboard_experimental_silo_give(p->silo[s], &frame, &size));
        if (frame)
            ASSERT_OK(billboard_experimental_curator_take(p->curator, frame, size));
        billboard_experimental_silo_gave(p->silo[s]);
    }
}

/* One step of the curator; false at the end. */
static bool advance(const places *p) {
    for (uint32_t s = 0; s < p->silos; s++) serve(p, s);
    switch (billboard_experimental_curator_state(p->curator)) {
    case BILLBOARD_EXPERIMENTAL_COMPLETE:
        ASSERT_OK(billboard_experimental_curator_close_round(p->curator));
        return true;
    case BILLBOARD_EXPERIMENTAL_PUBLISHED:
        ASSERT_OK(billboard_experimental_curator_go_on(p->curator));
        return true;
    default:
        assert_int_equal(billboard_experimental_curator_state(p->curator),
                         BILLBOARD_EXPERIMENTAL_DONE);
        return false;
    }
}

/* -- what comes out -- */

static void same_number(const char *what, double a, double b) {
    if (!(a == b || (isnan(a) && isnan(b)))) fail_msg("%s: %.17g, %.17g", what, a, b);
}

/* The models of a silo's tasks are those of the whole run, what is public is the same. */
static void same_models(const billboard_result *part, const billboard_result *whole) {
    for (size_t i = 0; i < billboard_result_tasks(part); i++) {
        const char *task = billboard_result_task(part, i);
        billboard_model a = {.struct_size = sizeof a}, b = a;
        ASSERT_OK(billboard_result_model(part, task, &a));
        ASSERT_OK(billboard_result_model(whole, task, &b));
        assert_int_equal(a.features, b.features);
        same_number(task, a.intercept, b.intercept);
        if (a.weight)
            assert_memory_equal(a.weight, b.weight,
                                a.features * a.outputs * sizeof *a.weight);
        assert_int_equal(a.parameters, b.parameters);
        if (a.parameter)
            assert_memory_equal(a.parameter, b.parameter,
                                a.parameters * sizeof *a.parameter);
    }
}

static void same_public(const billboard_result *a, const billboard_result *b) {
    billboard_privacy p = {.struct_size = sizeof p}, q = p;
    assert_string_equal(found(a, "billboard_sha256"), found(b, "billboard_sha256"));
    same_number("rounds", figure(a, "rounds"), figure(b, "rounds"));
    ASSERT_OK(billboard_result_privacy(a, &p));
    ASSERT_OK(billboard_result_privacy(b, &q));
    /* but for who holds the rows */
    if (p.statement && q.statement)
        assert_string_equal(strchr(p.statement, '\n'), strchr(q.statement, '\n'));
    same_number("epsilon", p.epsilon, q.epsilon);
    same_number("noise", p.noise_multiplier, q.noise_multiplier);
    billboard_model m = {.struct_size = sizeof m}, n = m;
    const billboard_status one = billboard_result_model(a, NULL, &m);
    assert_int_equal(one, billboard_result_model(b, NULL, &n));
    if (!one) assert_memory_equal(m.weight, n.weight, m.features * sizeof *m.weight);
}

static void same_results(places *p, const billboard_result *whole) {
    billboard_result *result = NULL;
    size_t seen = 0;
    for (uint32_t s = 0; s < p->silos; s++) {
        ASSERT_OK(billboard_experimental_silo_result(p->silo[s], &result));
        seen += billboard_result_tasks(result);
        same_models(result, whole);
        same_public(result, whole);
        billboard_result_free(result);
        assert_refused(billboard_experimental_silo_result(p->silo[s], &result),
                       BILLBOARD_USAGE, "given already");
    }
    assert_int_equal(seen, TASKS);
    ASSERT_OK(billboard_experimental_curator_result(p->curator, &result));
    assert_int_equal(billboard_result_tasks(result), 0);
    assert_true(figure(result, "tasks") == TASKS);
    same_public(result, whole);
    billboard_result_free(result);
}

static void same_as_whole(const billboard_job *job,
                          const billboard_experimental_roster *roster,
                          const double *target, int how) {
    billboard_result *whole = run_on(job, rows_of(target, WHOLE, 1, how));
    places p = {0};
    open_places(&p, job, roster, target, how);
    while (advance(&p)) {}
    same_results(&p, whole);
    close_places(&p);
    billboard_result_free(whole);
}

static void test_methods(void **state) {
    (void)state;
    static const char *const method[] = {
        "mp-lowrank", "mp-groupsparse", "mp-lrsp", "mp-prior", "dp-aggr",
        "dp-mtrl",    "fedavg",         "fedprox", "pmtl",     "ppsgd"};
    for (size_t k = 0; k < sizeof method / sizeof *method; k++)
        for (uint32_t silos = 1; silos <= SILOS; silos += 2) {
            const billboard_experimental_roster roster = roster_of(silos);
            billboard_job *job = JOB({"method", method[k]}, {"epsilon", "8"},
                                     {"seed", "5"}, {"train-fraction", "0.7"});
            same_as_whole(job, &roster, y, 0);
            billboard_job_free(job);
        }
}

static void test_kinds(void **state) {
    (void)state;
    const billboard_experimental_roster roster = roster_of(SILOS);
    billboard_job *const job[] = {
        JOB({"method", "fedavg"}, {"epsilon", "8"}, {"seed", "5"}, {"loss", "softmax"},
            {"classes", "4"}), /* of which one does not occur */
        JOB({"method", "pmtl"}, {"epsilon", "8"}, {"seed", "5"},
            {"sampling", "poisson:0.5"}),
        JOB({"method", "mp-instance"}, {"epsilon", "8"}, {"seed", "5"},
            {"set", "instance-epsilon=1"}, {"set", "gradient-clip=1"},
            {"set", "clip=1"}),
        JOB({"method", "fedavg"}, {"epsilon", "8"}, {"seed", "5"}, {"rounds", "3"},
            {"sampling", "fixed:4"}, {"phase", "pmtl,rounds=2,share=0.4"},
            {"finetune", "mean"}),
        JOB({"method", "mp-lowrank"}, {"epsilon", "8"}, {"seed", "5"},
            {"standardize", "task"}),
        JOB({"method", "fedavg"}, {"epsilon", "8"}, {"seed", "5"},
            {"scale", "{\"columns\": {\"age\": 1, \"height\": 1, \"weight\": 1}, "
                      "\"target\": [-2, 2]}"})};
    for (size_t k = 0; k < sizeof job / sizeof *job; k++) {
        same_as_whole(job[k], &roster, k == 0 ? classes : y, 0);
        billboard_job_free(job[k]);
    }
}

/* Other losses, networks, groups of tasks: what they need to know is given. */
static void test_shapes(void **state) {
    (void)state;
    static uint32_t cluster[TASKS];
    static double two[ROWS];
    billboard_experimental_roster roster = roster_of(SILOS);
    billboard_job *job = JOB({"method", "fedavg"}, {"epsilon", "8"}, {"seed", "5"},
                             {"loss", "multilabel"}, {"classes", "5"});
    same_as_whole(job, &roster, y, LISTED);
    billboard_job_free(job);
    for (size_t r = 0; r < ROWS; r++) two[r] = y[r] > 0;
    job = JOB({"method", "mp-centre"}, {"epsilon", "8"}, {"seed", "5"},
              {"loss", "logistic"});
    same_as_whole(job, &roster, two, 0);
    billboard_job_free(job);
    job = JOB({"method", "fedprox"}, {"epsilon", "8"}, {"seed", "5"}, {"rounds", "2"},
              {"loss", "softmax"}, {"net", "dense4,dense3"}, {"image", "1x3x1"});
    billboard_data *data = rows_of(classes, WHOLE, 1, 0);
    billboard_result *whole = NULL;
    /* networks are a part that may be left out */
    if (billboard_job_run(job, data, NULL, NULL, &whole))
        assert_non_null(strstr(billboard_error(), "oneDNN"));
    else
        same_as_whole(job, &roster, classes, 0);
    billboard_result_free(whole);
    billboard_data_free(data);
    billboard_job_free(job);
    for (int k = 0; k < TASKS; k++) cluster[k] = (uint32_t)(tasks[k] % 3);
    roster.cluster = cluster;
    job = JOB({"method", "pmtl-clusters"}, {"epsilon", "8"}, {"seed", "5"},
              {"cluster", "group"}, {"clusters", "3"});
    same_as_whole(job, &roster, y, GROUPED);
    cluster[4] = 1 - cluster[4] % 2;
    data = rows_of(y, WHOLE, 1, GROUPED);
    silo *s = NULL;
    assert_refused(
        billboard_experimental_silo_open(job, &roster, 1, data, &open_policy, NULL, &s),
        BILLBOARD_FAILED, "in the roster it is in");
    cluster[4] = 3;
    assert_refused(
        billboard_experimental_silo_open(job, &roster, 1, data, &open_policy, NULL, &s),
        BILLBOARD_USAGE, "--clusters says");
    roster.cluster = NULL;
    assert_refused(
        billboard_experimental_silo_open(job, &roster, 1, data, &open_policy, NULL, &s),
        BILLBOARD_USAGE, "must say the cluster");
    billboard_data_free(data);
    billboard_job_free(job);
}

/* Without noise, sums are added up in a fixed order: few tasks are in one silo. */
static void test_open(void **state) {
    (void)state;
    const billboard_experimental_roster roster = roster_of(1);
    static const char *const method[] = {"stl", "mtl-l21", "mp-lowrank"};
    for (size_t k = 0; k < 3; k++) {
        billboard_job *job = JOB({"method", method[k]}, {"mechanism", "none"});
        if (k < 2) {
            billboard_job_free(job);
            job = JOB({"method", method[k]});
        }
        same_as_whole(job, &roster, y, 0);
        billboard_job_free(job);
    }
}

/* -- going on in other processes -- */

static void *copy_of(const void *bytes, size_t size) {
    void *copy = malloc(size + 1);
    assert_non_null(copy);
    return memcpy(copy, bytes, size);
}

static void restart(places *p, const billboard_job *job,
                    const billboard_experimental_roster *roster) {
    const void *bytes;
    size_t size;
    ASSERT_OK(billboard_experimental_curator_save(p->curator, &bytes, &size));
    void *copy = copy_of(bytes, size);
    billboard_experimental_curator_free(p->curator);
    ASSERT_OK(billboard_experimental_curator_restore(job, roster, NULL, copy, size,
                                                     &p->curator));
    free(copy);
    for (uint32_t s = 0; s < p->silos; s++) {
        billboard_data *data = rows_of(y, s, p->silos, 0);
        ASSERT_OK(billboard_experimental_silo_save(p->silo[s], &bytes, &size));
        copy = copy_of(bytes, size);
        billboard_experimental_silo_free(p->silo[s]);
        ASSERT_OK(billboard_experimental_silo_open(job, roster, s + 1, data,
                                                   &open_policy, NULL, &p->silo[s]));
        ASSERT_OK(billboard_experimental_silo_restore(p->silo[s], copy, size));
        billboard_data_free(data);
        free(copy);
        billboard_experimental_curator_again(p->curator, s + 1);
    }
}

/* What the curator has is good for tasks that were not there, also from its directory. */
static void can_predict(const billboard_result *memory) {
    const billboard_option how = {"unknown", "shared"};
    billboard_data *data = rows_of(y, 0, SILOS, 0);
    billboard_result *loaded = NULL;
    billboard_predictions *a = NULL, *b = NULL;
    const char *csv[2];
    ASSERT_OK(billboard_result_load("curator.run", &loaded));
    ASSERT_OK(billboard_predict(memory, data, &how, 1, &a));
    ASSERT_OK(billboard_predict(loaded, data, &how, 1, &b));
    ASSERT_OK(billboard_predictions_csv(a, &csv[0]));
    ASSERT_OK(billboard_predictions_csv(b, &csv[1]));
    assert_string_equal(csv[0], csv[1]);
    billboard_predictions_free(a);
    billboard_predictions_free(b);
    billboard_result_free(loaded);
    billboard_data_free(data);
    /* NOLINTNEXTLINE: cert-env33-c */
    assert_int_equal(system("rm -r curator.run"), 0);
}

static void test_restart(void **state) {
    (void)state;
    const billboard_experimental_roster roster = roster_of(SILOS);
    billboard_job *job = JOB({"method", "fedavg"}, {"epsilon", "8"}, {"seed", "5"},
                             {"rounds", "3"}, {"standardize", "none"});
    billboard_result *whole = run_on(job, rows_of(y, WHOLE, 1, 0)), *result = NULL;
    places p = {0};
    open_places(&p, job, &roster, y, 0);
    restart(&p, job, &roster);
    while (advance(&p)) restart(&p, job, &roster);
    ASSERT_OK(billboard_experimental_curator_result(p.curator, &result));
    same_public(result, whole);
    /* all releases are in its run directory */
    ASSERT_OK(billboard_result_save(result, "curator.run", 0));
    ASSERT_OK(billboard_result_save(whole, "whole.run", 0));
    /* NOLINTNEXTLINE: cert-env33-c */
    assert_int_equal(system("cmp -s curator.run/public/billboard.bin "
                            "whole.run/public/billboard.bin && "
                            "cmp -s curator.run/public/billboard.json "
                            "whole.run/public/billboard.json && "
                            "rm -r whole.run"),
                     0);
    can_predict(result);
    billboard_result_free(result);
    for (uint32_t s = 0; s < SILOS; s++) {
        ASSERT_OK(billboard_experimental_silo_result(p.silo[s], &result));
        same_models(result, whole);
        billboard_result_free(result);
    }
    close_places(&p);
    billboard_result_free(whole);
    billboard_job_free(job);
}

/* -- what is refused -- */

static void refused_silo(const billboard_experimental_roster *roster, uint32_t number,
                         const billboard_experimental_policy *policy,
                         billboard_job *job, const double *target,
                         billboard_status expected, const char *words) {
    billboard_data *data = rows_of(target, 0, 2, 0);
    silo *made = NULL;
    assert_refused(billboard_experimental_silo_open(job, roster, number, data, policy,
                                                    NULL, &made),
                   expected, words);
    assert_null(made);
    billboard_data_free(data);
    billboard_job_free(job);
}

static void test_refusals(void **state) {
    (void)state;
    billboard_experimental_roster r = roster_of(2);
    const billboard_experimental_policy *open = &open_policy;
    billboard_experimental_policy own = {.struct_size = sizeof own};
#define PRIVATE {"method", "fedavg"}, {"epsilon", "1"}
    refused_silo(&r, 1, open, JOB(PRIVATE, {"output", "run"}), y, BILLBOARD_USAGE,
                 "--output");
    refused_silo(&r, 1, open,
                 JOB(PRIVATE, {"train-fraction", "0.5"}, {"compare", "stl"}), y,
                 BILLBOARD_USAGE, "--compare");
    refused_silo(&r, 1, open, JOB({"method", "stl"}, {"loss", "softmax"}), classes,
                 BILLBOARD_USAGE, "--classes");
    refused_silo(&r, 1, open,
                 JOB({"method", "fedavg"}, {"mechanism", "none"}, {"loss", "softmax"},
                     {"net", "dense3"}),
                 classes, BILLBOARD_USAGE, "--image");
    refused_silo(&r, 0, open, JOB(PRIVATE), y, BILLBOARD_USAGE, "silo number 0 of 2");
    refused_silo(&r, 3, open, JOB(PRIVATE), y, BILLBOARD_USAGE, "silo number 3 of 2");
    refused_silo(&r, 1, NULL, JOB(PRIVATE, {"seed", "1"}), y, BILLBOARD_USAGE,
                 "seeded noise");
    refused_silo(&r, 1, NULL, JOB({"method", "fedavg"}, {"mechanism", "none"}), y,
                 BILLBOARD_USAGE, "mechanism none");
    own.most_epsilon = 0.5;
    refused_silo(&r, 1, &own, JOB(PRIVATE), y, BILLBOARD_USAGE, "allows epsilon 0.5");
    own.most_epsilon = 2.0;
    own.methods = "pmtl,dp-aggr";
    refused_silo(&r, 1, &own, JOB(PRIVATE), y, BILLBOARD_USAGE,
                 "forbids method fedavg");
    own.methods = "pmtl,dp-agr";
    refused_silo(&r, 1, &own, JOB(PRIVATE), y, BILLBOARD_USAGE, "\"dp-agr\"");
    own.methods = NULL;
    own.fewest_tasks = 13;
    refused_silo(&r, 1, &own, JOB(PRIVATE), y, BILLBOARD_USAGE, "asks for 13 tasks");
    r.tasks = 3;
    refused_silo(&r, 1, open, JOB(PRIVATE), y, BILLBOARD_FAILED,
                 "\" is not one of the run's");
    r = roster_of(2);
    r.target_name = "days";
    refused_silo(
        &r, 1, open, JOB(PRIVATE, {"target", "cost"}), y, BILLBOARD_USAGE,
        "--target cost: the target that all places have agreed on is \"days\"");
    r = roster_of(2);
    tasks[3] = tasks[4];
    refused_silo(&r, 1, open, JOB(PRIVATE), y, BILLBOARD_USAGE, "there twice");
    r = roster_of(2);
    r.features = 2;
    refused_silo(&r, 1, open, JOB(PRIVATE), y, BILLBOARD_FAILED, "weight");
    r = roster_of(2);
    r.feature_name = NULL;
    refused_silo(&r, 1, open, JOB(PRIVATE), y, BILLBOARD_FAILED, "the plan's features");
    r = roster_of(2);
    r.task_number = NULL;
    refused_silo(&r, 1, open, JOB(PRIVATE), y, BILLBOARD_USAGE, "either task_name");
    r = roster_of(0);
    refused_silo(&r, 1, open, JOB(PRIVATE), y, BILLBOARD_USAGE, "0 silos");
    curator *made = NULL;
    r = roster_of(2);
    billboard_job *job = JOB({"method", "fedavg"});
    assert_refused(billboard_experimental_curator_open(job, &r, NULL, &made),
                   BILLBOARD_USAGE, "--epsilon");
    billboard_job_free(job);
#undef PRIVATE
}

/* A place that agreed to something else says what; an early end comes with its reason. */
static void test_disagreement(void **state) {
    (void)state;
    const billboard_experimental_roster r = roster_of(1);
    const char *const other[][3] = {{"rounds", "3", "the rounds"},
                                    {"epsilon", "2", "epsilon"},
                                    {"standardize", "task", "how rows are prepared"}};
    for (size_t k = 0; k < 3; k++) {
        billboard_job *job = JOB({"method", "fedavg"}, {"epsilon", "1"});
        billboard_job *another = JOB({"method", "fedavg"}, {"epsilon", "1"});
        ASSERT_OK(billboard_job_set(another, other[k][0], other[k][1]));
        billboard_data *data = rows_of(y, WHOLE, 1, 0);
        curator *c = NULL;
        silo *s = NULL;
        const void *frame;
        size_t size;
        ASSERT_OK(billboard_experimental_curator_open(another, &r, NULL, &c));
        ASSERT_OK(billboard_experimental_silo_open(job, &r, 1, data, NULL, NULL, &s));
        ASSERT_OK(billboard_experimental_curator_give(c, 1, &frame, &size));
        assert_refused(billboard_experimental_silo_take(s, "frame", 5),
                       BILLBOARD_FAILED, "no frame");
        assert_refused(billboard_experimental_silo_take(s, frame, size),
                       BILLBOARD_FAILED, other[k][2]);
        assert_refused(billboard_experimental_silo_take(s, NULL, 5), BILLBOARD_USAGE,
                       "NULL");
        billboard_experimental_curator_stop(c, BILLBOARD_BUDGET);
        ASSERT_OK(billboard_experimental_curator_give(c, 1, &frame, &size));
        assert_refused(billboard_experimental_silo_take(s, frame, size),
                       BILLBOARD_USAGE, "this silo has failed");
        assert_int_equal(billboard_experimental_silo_state(s),
                         BILLBOARD_EXPERIMENTAL_FAILED);
        billboard_experimental_silo_free(s);
        billboard_experimental_curator_free(c);
        billboard_data_free(data);
        billboard_job_free(job);
        billboard_job_free(another);
    }
}

/* Work ends when the watch says so, and the curator tells its watch how far it is. */
static void count_rounds(void *self, const char *what, uint32_t done, uint32_t all) {
    uint32_t *rounds = self;
    if (strcmp(what, "round") != 0) return;
    assert_int_equal(done, ++*rounds);
    assert_int_equal(all, 3);
}

static void test_watches(void **state) {
    (void)state;
    const billboard_experimental_roster r = roster_of(1);
    billboard_flag stop = 0;
    uint32_t rounds = 0;
    const billboard_watch watch = {
        .struct_size = sizeof watch, .self = &rounds, .progress = count_rounds};
    const billboard_watch stopping = {.struct_size = sizeof stopping, .stop = &stop};
    billboard_job *job = JOB({"method", "fedavg"}, {"epsilon", "1"}, {"rounds", "3"});
    billboard_data *data = rows_of(y, WHOLE, 1, 0);
    for (int k = 0; k < 2; k++) {
        places p = {.silos = 1};
        stop = 0;
        rounds = 0;
        ASSERT_OK(billboard_experimental_curator_open(job, &r, &watch, &p.curator));
        ASSERT_OK(billboard_experimental_silo_open(job, &r, 1, data, NULL, &stopping,
                                                   &p.silo[0]));
        if (k == 0) {
            while (advance(&p)) {}
            assert_int_equal(rounds, 3);
        } else {
            const void *frame;
            size_t size;
            assert_true(advance(&p) && advance(&p)); /* one round was published */
            stop = 1;
            ASSERT_OK(billboard_experimental_curator_go_on(p.curator));
            ASSERT_OK(billboard_experimental_curator_give(p.curator, 1, &frame, &size));
            ASSERT_OK(billboard_experimental_silo_take(p.silo[0], frame, size));
            assert_refused(billboard_experimental_silo_work(p.silo[0]),
                           BILLBOARD_INTERRUPTED, "stopped after round 1 of 3");
        }
        close_places(&p);
    }
    billboard_data_free(data);
    billboard_job_free(job);
}

/* Both sides have ledgers: what the run costs is in each, once. */
static void test_ledgers(void **state) {
    (void)state;
    const billboard_experimental_roster r = roster_of(1);
    for (int k = 0; k < 3; k++) {
        billboard_job *mine =
            JOB({"method", "fedavg"}, {"epsilon", "1"}, {"ledger", "silo.ledger"},
                {"budget-epsilon", "2"}, {"budget-delta", "1e-3"});
        billboard_job *theirs =
            JOB({"method", "fedavg"}, {"epsilon", "1"}, {"ledger", "curator.ledger"},
                {"budget-epsilon", "9"}, {"budget-delta", "1e-3"});
        billboard_data *data = rows_of(y, WHOLE, 1, 0);
        billboard_result *result = NULL;
        places p = {.silos = 1};
        const void *frame;
        size_t size;
        ASSERT_OK(billboard_experimental_curator_open(theirs, &r, NULL, &p.curator));
        ASSERT_OK(billboard_experimental_silo_open(mine, &r, 1, data, NULL, NULL,
                                                   &p.silo[0]));
        if (k == 2) {
            ASSERT_OK(billboard_experimental_curator_give(p.curator, 1, &frame, &size));
            assert_refused(billboard_experimental_silo_take(p.silo[0], frame, size),
                           BILLBOARD_BUDGET, "silo.ledger");
        } else {
            while (advance(&p)) {}
            ASSERT_OK(billboard_experimental_silo_result(p.silo[0], &result));
            billboard_result_free(result);
            ASSERT_OK(billboard_experimental_curator_result(p.curator, &result));
            billboard_result_free(result);
        }
        close_places(&p);
        billboard_data_free(data);
        billboard_job_free(mine);
        billboard_job_free(theirs);
    }
    static const char *const path[] = {"silo.ledger", "curator.ledger"};
    for (int k = 0; k < 2; k++) {
        billboard_answer *ledger = NULL;
        ASSERT_OK(billboard_ledger(path[k], NULL, &ledger));
        assert_true(billboard_answer_number(ledger, "spent.epsilon") == 2.0);
        assert_string_equal(billboard_answer_text(ledger, "entries.1.state"), "done");
        billboard_answer_free(ledger);
    }
    billboard_answer *ledger = NULL;
    assert_refused(billboard_ledger_tasks(path[0], 0, NULL), BILLBOARD_USAGE,
                   "at least one task");
    assert_refused(billboard_ledger_tasks("no.ledger", 41, NULL), BILLBOARD_FAILED,
                   "no.ledger");
    ASSERT_OK(billboard_ledger_tasks(path[0], 41, NULL));
    ASSERT_OK(billboard_ledger(path[0], NULL, &ledger));
    assert_true(billboard_answer_number(ledger, "also_tasks.0") == 41.0);
    assert_true(billboard_answer_number(ledger, "spent.epsilon") == 2.0);
    billboard_answer_free(ledger);
    ASSERT_OK(billboard_ledger_not_tasks(path[0], 41, NULL));
    assert_refused(billboard_ledger_not_tasks(path[0], 41, NULL), BILLBOARD_USAGE,
                   "41 tasks cannot be taken back");
}

int main(void) {
    const struct CMUnitTest all[] = {
        cmocka_unit_test(test_methods),      cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_shapes),       cmocka_unit_test(test_open),
        cmocka_unit_test(test_restart),      cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_disagreement), cmocka_unit_test(test_watches),
        cmocka_unit_test(test_ledgers),
    };
    return cmocka_run_group_tests(all, set_up, tear_down);
}
