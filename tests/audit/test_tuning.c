/* Private tuning under attack, whole: rows of two worlds that differ in one task go in, and
 * what is published comes out: whether there is a run, its score and its setting. The
 * adversary knows all the rest. An audit's confidence is 1 - 1e-6 and the seed is fixed. */
#include "audit/attack.h"
#include "base/parallel.h"
#include "folder.h"
#include "linalg/linalg.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/best_of.h"
#include "train/best_of.h"

#include <fcntl.h>
#include <math.h>
#include <unistd.h>

enum { TASKS = 4, ROWS = 10, RUNS = 16 };
#define EPSILON 9.0
#define DELTA   0.14

/* The run directories of this test need not outlive the machine. */
/* NOLINTBEGIN(cert-dcl*,bugprone-reserved-identifier) */
int __wrap_fsync(int file);
int __wrap_fsync(int file) {
    return fcntl(file, F_GETFD) < 0 ? -1 : 0;
}
/* NOLINTEND(cert-dcl*,bugprone-reserved-identifier) */

static const char *const rows_of_world[] = {"0.csv", "1.csv"};

/* All targets are 0, which everybody learns; in world 1 those of the first task are -1 and
 * 1 by turns, which nobody does: its score is as far from the other world's as can be. */
static void write_world(int world) {
    FILE *const file = fopen(rows_of_world[world], "w");
    assert_non_null(file);
    fputs("task,x,y\n", file);
    for (int task = 0; task < TASKS; task++)
        for (int row = 0; row < ROWS; row++) {
            const int sign = row % 2 ? 1 : -1;
            fprintf(file, "%d,%g,%d\n", task, 0.1 * (row * 7 % 10),
                    world == 1 && task == 0 ? sign : 0);
        }
    assert_int_equal(fclose(file), 0);
}

static int enter(void **state) {
    if (folder_enter(state)) return -1;
    write_world(0);
    write_world(1);
    FILE *const file = fopen("ranges.json", "w");
    if (!file) return -1;
    fputs("{\"others\": [0, 1], \"target\": [-1, 1]}", file);
    return fclose(file);
}

static int leave(void **state) {
    /* NOLINTNEXTLINE(cert-env33-c): names of its own */
    if (system("rm -rf best 0.csv 1.csv ranges.json")) return -1;
    return folder_leave(state);
}

static bb_status open_settings(const void *self, void **worker) {
    (void)self;
    bb_settings *settings = calloc(1, sizeof *settings);
    assert_non_null(settings);
    *worker = settings;
    return bb_settings_open(settings, "pmtl,mp-mixed", "lambda=0.1,1", 0, 1);
}

static void close_settings(void *worker) {
    bb_settings_close(worker);
    free(worker);
}

static bb_status tune(void *worker, int world, bb_random *random, double *statistic) {
    static const bb_train_flag flag[] = {{"task", "task"},         {"target", "y"},
                                         {"scale", "ranges.json"}, {"epsilon", "9"},
                                         {"delta", "0.14"},        {"output", "best"},
                                         {"force", NULL}};
    const bb_source data = {.path = rows_of_world[world]};
    const bb_tune of = {.flag = flag,
                        .flags = sizeof flag / sizeof *flag,
                        .settings = worker,
                        .data = &data,
                        .at_once = 1};
    char seed[24];
    snprintf(seed, sizeof seed, "%llu",
             (unsigned long long)(bb_random_bits(random) >> 12));
    const bb_best_of best = {
        .tune = &of, .mean = RUNS, .share = 0.9, .seed = seed, .output = "best"};
    const bb_watch watch = {.stop = NULL};
    bb_best_found found;
    const bb_status status = bb_best_of_run(&best, &watch, &found);
    statistic[0] = found.there;
    statistic[1] = found.there ? found.score : INFINITY;
    statistic[2] = found.there ? (double)found.setting : -1.0;
    return status;
}

static bb_audit_result attack(double epsilon, uint64_t trials) {
    const bb_audit_target target = {NULL, 3, open_settings, tune, close_settings};
    const bb_engine engine = bb_engine_threads(1);
    const bb_audit_settings settings = {.epsilon = epsilon,
                                        .delta = DELTA,
                                        .trials = trials,
                                        .confidence = 1.0 - 1e-6,
                                        .seed = 3,
                                        .engine = &engine};
    bb_audit_result result;
    assert_ok(bb_audit_attack(&target, &settings, &result));
    return result;
}

/* What is charged is kept; what one run alone would cost is refuted, which is the fault of
 * whoever tunes and pays for the run that is published only. */
static void what_is_charged_is_kept(void **state) {
    (void)state;
    const double mu = bb_best_of_mu(RUNS, EPSILON, DELTA);
    const bb_audit_result whole = attack(EPSILON, 400);
    const bb_audit_result one = attack(bb_gdp_epsilon(mu, DELTA), 1200);
    assert_false(whole.violated);
    assert_true(one.violated);
    assert_int_equal(one.event.statistic, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_charged_is_kept)};
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, enter, leave);
}
