/* A call leaves nothing behind in its process: the environment, the locale, signals, the
 * umask, BLAS and OpenMP are as they were, before the first call and after the last. */
#include "test.h"

#include <cblas.h>
#include <omp.h>

#include <billboard/billboard.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>

extern char **environ;
enum { THEIR_THREADS = 3, SIGNALS = 32, TEXT = 1 << 16 };

typedef struct surroundings {
    char environment[TEXT], core[40], locale[200], folder[4096];
    int blas_threads, omp_threads, rounding, descriptors;
    mode_t mask;
    void (*handler[SIGNALS])(int);
    locale_t of_thread;
} surroundings;

static int open_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 256; fd++) count += fcntl(fd, F_GETFD) != -1;
    return count;
}

static void look(surroundings *s) {
    size_t at = 0;
    memset(s, 0, sizeof *s);
    for (char **e = environ; *e && at < TEXT; e++)
        at += (size_t)snprintf(s->environment + at, TEXT - at, "%s\n", *e);
    snprintf(s->core, sizeof s->core, "%s", openblas_get_corename());
    snprintf(s->locale, sizeof s->locale, "%s", setlocale(LC_ALL, NULL));
    assert_non_null(getcwd(s->folder, sizeof s->folder));
    s->blas_threads = openblas_get_num_threads();
    s->omp_threads = omp_get_max_threads();
    s->rounding = fegetround();
    s->descriptors = open_descriptors();
    s->mask = umask(0);
    (void)umask(s->mask);
    s->of_thread = uselocale((locale_t)0);
    for (int k = 1; k < SIGNALS; k++) {
        struct sigaction action = {0};
        if (sigaction(k, NULL, &action) == 0) s->handler[k] = action.sa_handler;
    }
}

static void assert_unchanged(const surroundings *before) {
    static surroundings now;
    look(&now);
    assert_string_equal(now.environment, before->environment);
    assert_string_equal(now.core, before->core);
    assert_string_equal(now.locale, before->locale);
    assert_string_equal(now.folder, before->folder);
    assert_int_equal(now.blas_threads, before->blas_threads);
    assert_int_equal(now.omp_threads, before->omp_threads);
    assert_int_equal(now.rounding, before->rounding);
    assert_int_equal(now.descriptors, before->descriptors);
    assert_int_equal(now.mask, before->mask);
    assert_true(now.of_thread == before->of_thread);
    assert_memory_equal(now.handler, before->handler, sizeof now.handler);
}

enum { ROWS = 80, FEATURES = 20 };
static double x[ROWS * FEATURES], y[ROWS];
static int64_t owner[ROWS];

static billboard_data *make_data(void) {
    billboard_arrays a = {.struct_size = sizeof a,
                          .rows = ROWS,
                          .features = FEATURES,
                          .task_number = owner,
                          .x = x,
                          .y = y};
    billboard_data *data = NULL;
    for (int r = 0; r < ROWS; r++) {
        owner[r] = r % 8;
        y[r] = r % 5;
        for (int k = 0; k < FEATURES; k++)
            x[r * FEATURES + k] = (r * 31 + k * 17) % 64 / 64.0;
    }
    if (billboard_data_from_arrays(&a, &data)) fail_msg("%s", billboard_error());
    return data;
}

static int inside; /* the most threads that BLAS had while rounds went by */

static void see(void *self, const char *what, uint32_t done, uint32_t all) {
    (void)self, (void)what, (void)done, (void)all;
    const int threads = openblas_get_num_threads();
    if (threads > inside) inside = threads;
}

static void run(const char *method, const char *epsilon, billboard_status expected) {
    const billboard_watch watch = {.struct_size = sizeof watch, .progress = see};
    billboard_data *data = make_data();
    billboard_job *job = NULL;
    billboard_result *result = NULL;
    billboard_status status = billboard_job_new(&job);
    if (!status) status = billboard_job_set(job, "method", method);
    if (!status && epsilon) status = billboard_job_set(job, "epsilon", epsilon);
    if (!status) status = billboard_job_set(job, "no-intercept", NULL);
    if (!status) status = billboard_job_set(job, "threads", "2");
    if (!status) status = billboard_job_run(job, data, NULL, &watch, &result);
    if (status != expected) fail_msg("%d: %s", (int)status, billboard_error());
    billboard_result_free(result);
    billboard_job_free(job);
    billboard_data_free(data);
}

static void calls_leave_nothing_behind(void **state) {
    static surroundings before;
    (void)state;
    openblas_set_num_threads(THEIR_THREADS);
    look(&before);
    run("mp-lowrank", "1", BILLBOARD_OK);
    assert_unchanged(&before);
    assert_int_equal(inside, 1);
    run("mp-lowrank", NULL, BILLBOARD_USAGE);
    run("stl", NULL, BILLBOARD_OK);
    run("mtl-trace", NULL, BILLBOARD_OK);
    assert_unchanged(&before);
}

/* Makes the locale where it is not installed: most machines have none with commas. */
static bool german(void) {
    static char folder[] = "locale-XXXXXX";
    char command[200], path[4200], here[4096];
    if (!mkdtemp(folder) || !getcwd(here, sizeof here)) return false;
    snprintf(path, sizeof path, "%s/%s", here, folder);
    snprintf(command, sizeof command,
             "localedef -f UTF-8 -i de_DE %s/de_DE.UTF-8 2>/dev/null", folder);
    (void)!system(command); /* NOLINT: cert-env33-c */
    setenv("LOCPATH", path, 1);
    const bool made = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    snprintf(command, sizeof command, "rm -r %s", folder);
    (void)!system(command); /* NOLINT: cert-env33-c */
    return made;
}

/* What a call writes and reads has decimal points, whatever the host's locale is. */
static void the_hosts_locale_is_left_alone(void **state) {
    static surroundings before;
    (void)state;
    if (!german()) skip();
    const billboard_option plan[] = {
        {"noise-multiplier", "2.5"}, {"rounds", "3"}, {"delta", "1e-5"}};
    billboard_answer *price = NULL;
    look(&before);
    if (billboard_account(plan, 3, NULL, &price)) fail_msg("%s", billboard_error());
    assert_non_null(strstr(billboard_answer_text(price, "plan_text"), "2.5"));
    billboard_answer_free(price);
    assert_unchanged(&before);
    (void)setlocale(LC_ALL, "C");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_leave_nothing_behind),
        cmocka_unit_test(the_hosts_locale_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
