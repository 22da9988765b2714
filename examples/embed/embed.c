/* Billboard inside another program: what privacy will cost, models of 200 clinics from
 * arrays in memory, the promise, and a prediction for somebody new. */
#include <billboard/billboard.h>
#include <stdio.h>
#include <stdlib.h>

enum { CLINICS = 200, PATIENTS = 10, ROWS = CLINICS * PATIENTS, FEATURES = 2 };

static int64_t clinic[ROWS];
static double x[ROWS][FEATURES], y[ROWS];

/* A world in which every clinic has a line of its own, near a common one. */
static void make_patients(void) {
    for (int r = 0; r < ROWS; r++) {
        clinic[r] = r / PATIENTS;
        for (int k = 0; k < FEATURES; k++) x[r][k] = rand() / (RAND_MAX + 1.0) - 0.5;
        y[r] =
            0.8 * x[r][0] - 0.4 * x[r][1] + 0.1 * (double)(clinic[r] % 7 - 3) * x[r][0];
    }
}

static void check(billboard_status status) {
    if (!status) return;
    fprintf(stderr, "%s\n", billboard_error());
    exit(status);
}

int main(void) {
    const billboard_option plan[] = {
        {"rounds", "1"}, {"tasks", "200"}, {"epsilon", "1"}};
    const char *names[FEATURES] = {"age", "pressure"};
    billboard_arrays arrays = {.struct_size = sizeof arrays,
                               .rows = ROWS,
                               .features = FEATURES,
                               .task_number = clinic,
                               .x = x,
                               .y = y,
                               .feature_name = names};
    billboard_arrays patient = {.struct_size = sizeof patient,
                                .rows = 1,
                                .features = FEATURES,
                                .task_number = (int64_t[]){7},
                                .x = (double[]){0.2, -0.1},
                                .feature_name = names};
    billboard_privacy privacy = {.struct_size = sizeof privacy};
    billboard_values values = {.struct_size = sizeof values};
    billboard_answer *price;
    billboard_data *data, *newcomer;
    billboard_job *job;
    billboard_result *result;
    billboard_predictions *predictions;

    check(billboard_account(plan, 3, NULL, &price));
    printf("epsilon 1 takes noise of %.3g times the clip\n",
           billboard_answer_number(price, "noise_multiplier"));

    make_patients();
    check(billboard_data_from_arrays(&arrays, &data));
    check(billboard_job_new(&job));
    check(billboard_job_set(job, "method", "dp-aggr"));
    check(billboard_job_set(job, "epsilon", "1"));
    check(billboard_job_set(job, "train-fraction", "0.7"));
    check(billboard_job_run(job, data, NULL, NULL, &result));

    check(billboard_result_privacy(result, &privacy));
    printf("epsilon = %g at delta = %g, %s, sampling %s; nMSE on test rows %.3f\n",
           privacy.epsilon, privacy.delta, privacy.adjacency, privacy.sampling,
           billboard_answer_number(billboard_result_answer(result), "test.nmse"));

    check(billboard_data_from_arrays(&patient, &newcomer));
    check(billboard_predict(result, newcomer, NULL, 0, &predictions));
    check(billboard_predictions_values(predictions, &values));
    printf("clinic 7 expects %.2f\n", values.value[0]);

    billboard_predictions_free(predictions);
    billboard_result_free(result);
    billboard_job_free(job);
    billboard_data_free(newcomer);
    billboard_data_free(data);
    billboard_answer_free(price);
    return 0;
}
