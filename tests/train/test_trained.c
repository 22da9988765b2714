/* Run directories of every kind of model, for new rows. */
#include "base/file.h"
#include "base/json.h"
#include "folder.h"
#include "test.h"
#include "train/report.h"
#include "train/trained.h"

#include <sys/stat.h>

static const bb_new_rows predicting = {.for_prediction = true}, assessing = {0};
static bb_left_out left;

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* A run directory of tasks a and b with features x and y, and three outputs:
 * a: z = (x, y, 0.5), b: z = (-x, x, x). */
static void make_run(bb_loss loss) {
    static const double wa[] = {1, 0, 0, 0, 1, 0, 0, 0, 0.5},
                        wb[] = {-1, 1, 1, 0, 0, 0, 0, 0, 0};
    static char *task[] = {(char *)(uintptr_t) "a", (char *)(uintptr_t) "b"},
                *feature[] = {(char *)(uintptr_t) "x", (char *)(uintptr_t) "y",
                              (char *)(uintptr_t) "(intercept)"};
    const bb_dataset data = {
        .tasks = 2, .features = 3, .task_name = task, .feature_name = feature};
    bb_models m;
    assert_int_equal(mkdir("run", 0777) | mkdir("run/public", 0777) |
                         mkdir("run/operator", 0777),
                     0);
    put("run/public/options.json", "{\"program\": \"billboard\"}");
    put("run/operator/run.json", "{\"options\": {\"method\": \"stl\"}}");
    put("run/operator/preprocessing.json",
        "{\"scale\": null, \"constant\": true, \"rows\": \"plain\"}");
    assert_ok(
        bb_models_open_kind(&m, &data, &(bb_model_kind){.loss = loss, .outputs = 3}));
    bb_models_put(&m, 0, wa);
    bb_models_put(&m, 1, wb);
    assert_ok(bb_models_write(&m, "run/operator/models.safetensors"));
    bb_models_free(&m);
}

static void remove_run(void) {
    const char *const file[] = {"run/public/options.json", "run/operator/run.json",
                                "run/operator/preprocessing.json",
                                "run/operator/models.safetensors"};
    for (size_t k = 0; k < 4; k++) unlink(file[k]);
    rmdir("run/public");
    rmdir("run/operator");
    assert_int_equal(rmdir("run"), 0);
}

static void expect_predictions(const char *target, const char *expected) {
    char text[600];
    bb_trained trained;
    bb_dataset rows;
    snprintf(text, sizeof text, "task,x,y%s\nb,1,0%s\na,0,0%s\na,3,2%s\nb,-1,0%s\n",
             *target ? ",t" : "", target, target, target, target);
    put("new.csv", text);
    put("run/operator/run.json",
        "{\"options\": {\"method\": \"stl\", \"target\": \"t\"}}");
    assert_ok(bb_trained_open(&trained, "run"));
    assert_ok(bb_trained_rows(&trained, &(bb_source){.path = "new.csv"}, predicting,
                              &rows, &left));
    bb_said said;
    FILE *file = fopen("p.csv", "w");
    assert_non_null(file);
    assert_ok(bb_trained_ask(&trained, &rows, false, &said));
    assert_ok(bb_predictions_print(trained.loss, &said, NULL, false, &rows, file));
    assert_int_equal(fclose(file), 0);
    bb_said_free(&said);
    assert_string_equal(folder_read(text, sizeof text, "p.csv"), expected);
    bb_dataset_free(&rows);
    bb_trained_close(&trained);
    unlink("new.csv");
    unlink("p.csv");
}

static void classes_are_predicted(void **state) {
    (void)state;
    char expected[300];
    const double e = exp(1.0);
    make_run(BB_LOSS_SOFTMAX);
    snprintf(expected, sizeof expected,
             "task,class,probability\nb,1,%.17g\na,2,%.17g\na,0,%.17g\nb,0,%.17g\n",
             1.0 / (exp(-2.0) + 1.0 + 1.0), 1.0 / (exp(-0.5) + exp(-0.5) + 1.0),
             1.0 / (1.0 + 1.0 / e + exp(-2.5)), 1.0 / (1.0 + exp(-2.0) + exp(-2.0)));
    expect_predictions("", expected);
    expect_predictions(",1", expected);
    expect_predictions(",NA", expected);
    expect_predictions(",who knows", expected);
    expect_predictions(",", expected);
    remove_run();
}

static void labels_are_predicted(void **state) {
    (void)state;
    make_run(BB_LOSS_MULTILABEL);
    expect_predictions("", "task,labels\nb,1 2\na,2\na,0 1 2\nb,0\n");
    expect_predictions(",0 2", "task,labels\nb,1 2\na,2\na,0 1 2\nb,0\n");
    put("run/operator/preprocessing.json",
        "{\"scale\": null, \"constant\": false, \"rows\": \"plain\"}");
    bb_trained trained = {0};
    assert_fails(bb_trained_open(&trained, "run"), BB_EDATA, "do not match");
    remove_run();
}

static void rows_are_assessed(void **state) {
    (void)state;
    char text[400];
    bb_trained trained;
    bb_dataset rows;
    bb_assessed found;
    bb_majority majority;
    make_run(BB_LOSS_SOFTMAX);
    put("new.csv", "task,x,y,t\nb,1,0,1\na,0,0,0\na,3,2,0\nb,-1,0,1\na,0,9,0\n");
    put("run/operator/run.json",
        "{\"options\": {\"method\": \"stl\", \"target\": \"t\"}}");
    assert_ok(bb_trained_open(&trained, "run"));
    assert_int_equal(trained.loss, BB_LOSS_SOFTMAX);
    assert_ok(bb_trained_rows(&trained, &(bb_source){.path = "new.csv"}, assessing,
                              &rows, &left));
    assert_ok(bb_trained_assess(&trained, &rows, &found, &majority));
    assert_close(found.metrics.accuracy, 2.0 / 5.0, 1e-15);
    assert_close(majority.pooled.accuracy, 3.0 / 5.0, 1e-15);
    assert_close(majority.own.accuracy, 1.0, 0.0);
    json_t *json = bb_majority_json(&majority, false, trained.loss, "these rows");
    assert_string_equal(json_string_value(json_object_get(json, "of")), "these rows");
    assert_close(json_real_value(json_object_get(json, "accuracy")), 0.6, 1e-15);
    json_decref(json);
    bb_assessed_close(&found);
    bb_dataset_free(&rows);
    const char *const bad[] = {"3", "-1", "0.5"};
    for (int k = 0; k < 3; k++) {
        snprintf(text, sizeof text, "task,x,y,t\nb,1,0,1\na,0,0,%s\n", bad[k]);
        put("new.csv", text);
        assert_fails(
            bb_trained_rows(&trained, &(bb_source){.path = "new.csv"}, assessing, &rows,
                            &left),
            BB_EDATA,
            "new.csv:3:4 (column \"t\"): the softmax loss expected a whole number "
            "from 0 to 2, found");
    }
    bb_trained_close(&trained);
    unlink("new.csv");
    remove_run();
}

static void labels_are_assessed(void **state) {
    (void)state;
    bb_trained trained;
    bb_dataset rows;
    bb_assessed found;
    bb_majority majority;
    make_run(BB_LOSS_MULTILABEL);
    put("run/operator/run.json",
        "{\"options\": {\"method\": \"stl\", \"target\": \"t\"}}");
    put("new.csv", "task,x,y,t\nb,1,0,1\na,0,0,\na,3,2,0 2\nb,-1,0,1\n");
    assert_ok(bb_trained_open(&trained, "run"));
    assert_ok(bb_trained_rows(&trained, &(bb_source){.path = "new.csv"}, assessing,
                              &rows, &left));
    assert_ok(bb_trained_assess(&trained, &rows, &found, &majority));
    /* predicted 1 2 | 2 | 0 1 2 | 0, there 1 | none | 0 2 | 1 */
    assert_close(found.metrics.precision, 3.0 / 7.0, 1e-15);
    assert_close(found.metrics.recall, 3.0 / 4.0, 1e-15);
    assert_close(found.metrics.recall_at_5, 1.0, 0.0);
    assert_close(found.figure[0], 4.0 / 6.0, 1e-15);
    assert_close(majority.pooled.recall, 1.0, 0.0);
    assert_close(majority.own.precision, 4.0 / 6.0, 1e-15);
    bb_assessed_close(&found);
    bb_dataset_free(&rows);
    put("new.csv", "task,x,y,t\nb,1,0,3\n");
    assert_fails(bb_trained_rows(&trained, &(bb_source){.path = "new.csv"}, assessing,
                                 &rows, &left),
                 BB_EDATA, "new.csv:2");
    bb_trained_close(&trained);
    unlink("new.csv");
    remove_run();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_predicted),
        cmocka_unit_test(labels_are_predicted),
        cmocka_unit_test(rows_are_assessed),
        cmocka_unit_test(labels_are_assessed),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
