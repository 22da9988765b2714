/* The library without memory: at every allocation a clean refusal, with nothing left. */
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

static void without_memory(void **state) {
    (void)state;
    assert_true(torture_memory((bb_torture){.attempt = ask}) >= 20);
    assert_true(torture_memory((bb_torture){.attempt = work, .spare_json = true}) >=
                100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
