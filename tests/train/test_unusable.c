/* An OpenBLAS that gives wrong numbers, the sequential one: whatever would compute says
 * so instead, and nothing ends the process. The linker puts this program's word in the
 * place of OpenBLAS's (CMakeLists.txt). */
#include "audit/target.h"
#include "learners/local.h"
#include "linalg/linalg.h"
#include "models/models.h"
#include "test.h"
#include "train/train.h"

#include <cblas.h>

#include <string.h>
#include <unistd.h>

/* NOLINTBEGIN(cert-dcl*,bugprone-reserved-identifier): the linker's names */
int __wrap_openblas_get_parallel(void);
int __wrap_openblas_get_parallel(void) {
    return OPENBLAS_SEQUENTIAL;
}
/* NOLINTEND(cert-dcl*,bugprone-reserved-identifier) */

static void expect_refusal(bb_status status) {
    assert_int_equal(status, BB_EUSAGE);
    assert_int_equal(bb_status_exit_code(status), 2);
    assert_non_null(strstr(bb_last_error(), "install libopenblas0-pthread"));
    (void)bb_fail(BB_OK, "another message");
}

static void starting(void **state) {
    (void)state;
    expect_refusal(bb_linalg_start());
    expect_refusal(bb_linalg_ready());
    expect_refusal(bb_linalg_ready());
}

static void problems(void **state) {
    (void)state;
    const double x[] = {1, 0, 0, 1}, y[] = {1, -1}, class[] = {0, 1};
    const bb_rows rows = {.n = 2, .d = 2, .x = x, .y = y};
    const bb_rows classes = {.n = 2, .d = 2, .x = x, .y = class};
    bb_local local;
    expect_refusal(bb_local_open(&local, rows, BB_LOSS_SQUARED, true, false));
    expect_refusal(bb_local_open(&local, rows, BB_LOSS_LOGISTIC, true, false));
    expect_refusal(
        bb_local_open_outputs(&local, classes, BB_LOSS_SOFTMAX, 2, NULL, false));
}

static void predictions(void **state) {
    (void)state;
    char task[] = "a", *tasks[] = {task};
    size_t first[] = {0, 0};
    double prediction = 0;
    bb_models models = {.tasks = 1, .outputs = 1};
    const bb_dataset data = {.tasks = 1, .task_name = tasks, .first = first};
    expect_refusal(bb_models_predict(&models, &data, NULL, &prediction));
}

static void doors_of_audits(void **state) {
    (void)state;
    const bb_audit_spec spec = {.kind = BB_AUDIT_GAUSSIAN,
                                .form = BB_FORM_OUTER,
                                .adjacency = BB_REPLACE_ONE,
                                .epsilon = 1,
                                .delta = 1e-5,
                                .blocks = 1,
                                .length = 3,
                                .rounds = 1};
    bb_audit_target target;
    double epsilon;
    expect_refusal(bb_audit_target_make(&target, &epsilon, &spec));
}

static void runs(void **state) {
    (void)state;
    const bb_watch watch = {0};
    const bb_train_flag flag[] = {{"method", "stl"},
                                  {"output", "/tmp/billboard-unmade"}};
    bb_train_request request;
    bb_report report;
    assert_ok(bb_train_resolve(&request, flag, sizeof flag / sizeof *flag));
    expect_refusal(bb_train_run(&request, "/tmp/billboard-unread", &watch, &report));
    assert_int_equal(access("/tmp/billboard-unmade", F_OK), -1);
    bb_train_request_free(&request);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starting),    cmocka_unit_test(problems),
        cmocka_unit_test(predictions), cmocka_unit_test(doors_of_audits),
        cmocka_unit_test(runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
