/* The library without memory: at every allocation a clean refusal, with nothing left. */
#define BILLBOARD_EXPERIMENTAL
#include "rows.h"
#include "torture.h"

/* Every failure here is one of memory. */
static bb_status as_memory(billboard_status status) {
    return status == BILLBOARD_OK       ? BB_OK
           : status == BILLBOARD_FAILED ? BB_ENOMEM
                                        : BB_EUSAGE;
}

static bb_status ask(void *context) {
    static const billboard_option plan[] = {
        {"rounds", "10"},      {"noise-multiplier", "3"}, {"schedule", "power:1"},
        {"accountant", "gdp"}, {"delta", "1e-5"},         {"curve", "rounds"}};
    billboard_answer *answer[3] = {NULL};
    (void)context;
    billboard_status status = billboard_account(plan, 6, NULL, &answer[0]);
    if (!status) status = billboard_methods("fedavg", &answer[1]);
    if (!status) status = billboard_options("train", &answer[2]);
    for (size_t k = 0; k < 3; k++) billboard_answer_free(answer[k]);
    return as_memory(status);
}

typedef struct things {
    billboard_data *data;
    billboard_job *job;
    billboard_result *result;
    billboard_predictions *said;
    billboard_answer *answer[3];
} things;

static billboard_status use(things *t) {
    static const billboard_option share = {"unknown", "shared"};
    const billboard_arrays a = arrays();
    const char *csv = NULL;
    billboard_status status = billboard_data_from_arrays(&a, &t->data);
    if (!status) status = billboard_info(t->data, NULL, 0, &t->answer[0]);
    if (!status) status = billboard_job_new(&t->job);
    if (!status) status = billboard_job_set(t->job, "method", "dp-aggr");
    if (!status) status = billboard_job_set(t->job, "mechanism", "none");
    if (!status) status = billboard_job_set(t->job, "standardize", "none");
    if (!status) status = billboard_job_set(t->job, "threads", "1");
    if (!status) status = billboard_job_options(t->job, &t->answer[1]);
    if (!status) status = billboard_job_run(t->job, t->data, NULL, NULL, &t->result);
    if (!status) status = billboard_predict(t->result, t->data, &share, 1, &t->said);
    if (!status) status = billboard_predictions_csv(t->said, &csv);
    if (!status)
        status = billboard_evaluate(t->result, t->data, &share, 1, &t->answer[2]);
    return status;
}

static bb_status work(void *context) {
    things t = {0};
    (void)context;
    const billboard_status status = use(&t);
    for (size_t k = 0; k < 3; k++) billboard_answer_free(t.answer[k]);
    billboard_predictions_free(t.said);
    billboard_result_free(t.result);
    billboard_job_free(t.job);
    billboard_data_free(t.data);
    return as_memory(status);
}

/* -- a silo and a curator -- */

typedef struct places {
    billboard_data *data;
    billboard_job *job;
    billboard_experimental_silo *silo;
    billboard_experimental_curator *curator, *restored;
    billboard_result *result[2];
} places;

/* One frame there, and its answer back; *there: whether there was one. */
static billboard_status exchange(places *p, int *there) {
    const void *frame;
    size_t size;
    billboard_status status =
        billboard_experimental_curator_give(p->curator, 1, &frame, &size);
    *there = !status && frame;
    if (status || !frame) return status;
    status = billboard_experimental_silo_take(p->silo, frame, size);
    if (!status &&
        billboard_experimental_silo_state(p->silo) == BILLBOARD_EXPERIMENTAL_WORK)
        status = billboard_experimental_silo_work(p->silo);
    if (!status) status = billboard_experimental_silo_give(p->silo, &frame, &size);
    if (!status && frame)
        status = billboard_experimental_curator_take(p->curator, frame, size);
    billboard_experimental_silo_gave(p->silo);
    return status;
}

static billboard_status conduct(places *p) {
    billboard_status status = BILLBOARD_OK;
    for (int there = 1; !status;) {
        status = exchange(p, &there);
        if (status || there) continue;
        switch (billboard_experimental_curator_state(p->curator)) {
        case BILLBOARD_EXPERIMENTAL_COMPLETE:
            status = billboard_experimental_curator_close_round(p->curator);
            break;
        case BILLBOARD_EXPERIMENTAL_PUBLISHED:
            status = billboard_experimental_curator_go_on(p->curator);
            break;
        default:
            return status;
        }
    }
    return status;
}

static billboard_status be_places(places *p) {
    static const int64_t tasks[TASKS] = {95,  96,  97,  98,  99,  100,
                                         101, 102, 103, 104, 105, 106};
    const billboard_experimental_policy policy = {
        .struct_size = sizeof policy, .allow_open = 1, .methods = "dp-aggr,vote"};
    const billboard_experimental_roster roster = {.struct_size = sizeof roster,
                                                  .tasks = TASKS,
                                                  .task_number = tasks,
                                                  .features = FEATURES,
                                                  .feature_name = feature,
                                                  .silos = 1};
    const billboard_arrays a = arrays();
    const void *bytes;
    size_t size;
    billboard_status status = billboard_data_from_arrays(&a, &p->data);
    if (!status) status = billboard_job_new(&p->job);
    if (!status) status = billboard_job_set(p->job, "method", "dp-aggr");
    if (!status) status = billboard_job_set(p->job, "epsilon", "1");
    if (!status) status = billboard_job_set(p->job, "threads", "1");
    if (!status)
        status = billboard_experimental_silo_open(p->job, &roster, 1, p->data, &policy,
                                                  NULL, &p->silo);
    if (!status)
        status =
            billboard_experimental_curator_open(p->job, &roster, NULL, &p->curator);
    if (!status) status = conduct(p);
    if (!status) status = billboard_experimental_silo_save(p->silo, &bytes, &size);
    if (!status)
        status = billboard_experimental_curator_save(p->curator, &bytes, &size);
    if (!status)
        status = billboard_experimental_curator_restore(p->job, &roster, NULL, bytes,
                                                        size, &p->restored);
    if (!status) status = billboard_experimental_silo_result(p->silo, &p->result[0]);
    if (!status)
        status = billboard_experimental_curator_result(p->curator, &p->result[1]);
    return status;
}

static bb_status places_work(void *context) {
    places p = {0};
    (void)context;
    const billboard_status status = be_places(&p);
    for (size_t k = 0; k < 2; k++) billboard_result_free(p.result[k]);
    billboard_experimental_curator_free(p.restored);
    billboard_experimental_curator_free(p.curator);
    billboard_experimental_silo_free(p.silo);
    billboard_job_free(p.job);
    billboard_data_free(p.data);
    return as_memory(status);
}

static void without_memory(void **state) {
    (void)state;
    assert_true(torture_memory((bb_torture){.attempt = ask}) >= 20);
    assert_true(torture_memory((bb_torture){.attempt = work, .spare_json = true}) >=
                100);
    assert_true(torture_memory(
                    (bb_torture){.attempt = places_work, .spare_json = true}) >= 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
