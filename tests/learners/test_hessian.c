/* Second derivatives with the intercept profiled out, and their trace at zero. */
#include "learners/problem.h"
#include "test.h"

/* The gradient in w where b is the best one for w. */
static void profiled(const bb_local *local, const double *w, double *g, double *work) {
    double gb;
    const double b = bb_local_intercept(local, w, work);
    (void)bb_local_gradient(local, w, b, g, &gb, work);
}

static void check_hessian(const problem *p, const bb_local *local) {
    const size_t d = p->d;
    double *w = naive_vector(d, 50), *up = naive_vector(d, 0),
           *down = naive_vector(d, 0);
    double *H = naive_vector(d * d, 0), *mean = naive_vector(d, 0), bend, gb, gc;
    double *work = work_for(local);
    double *room = malloc((bb_local_hessian_work(local) + 1) * sizeof *room);
    if (!room) abort();
    const double b = bb_local_intercept(local, w, work), h = 1e-5;
    bb_local_hessian(local, w, b, H, mean, &bend, room);
    for (size_t k = 0; k < d; k++) {
        const double keep = w[k];
        w[k] = keep + h;
        profiled(local, w, up, work);
        w[k] = keep - h;
        profiled(local, w, down, work);
        w[k] = keep;
        for (size_t i = 0; i < d; i++)
            assert_close(H[i * d + k], (up[i] - down[i]) / (2 * h), 1e-7);
    }
    (void)bb_local_gradient(local, w, b + h, up, &gb, work);
    (void)bb_local_gradient(local, w, b - h, down, &gc, work);
    const bool free_b = local->loss == BB_LOSS_LOGISTIC && local->intercept;
    assert_close(bend, free_b ? (gb - gc) / (2 * h) : 0, 1e-8);
    for (size_t i = 0; i < d; i++)
        assert_close(bend * mean[i], free_b ? (up[i] - down[i]) / (2 * h) : 0, 1e-8);
    free(w);
    free(up);
    free(down);
    free(H);
    free(mean);
    free(work);
    free(room);
}

/* At w = 0 and b = 0 all curvatures are equal, so the diagonal is that of a plain
 * covariance. */
static void check_spread(const problem *p, const bb_local *local) {
    const size_t d = p->d;
    double *w = naive_vector(d, 0), *H = naive_vector(d * d, 0), trace = 0, bend;
    double *mean = naive_vector(d, 0), *room = malloc((d + p->n + 1) * sizeof *room);
    double *column = naive_vector(d, 0);
    double *work = malloc((bb_local_hessian_work(local) + 1) * sizeof *work);
    if (!room || !work) abort();
    memset(w, 0, d * sizeof *w);
    bb_local_hessian(local, w, 0, H, mean, &bend, work);
    for (size_t k = 0; k < d; k++) trace += H[k * d + k];
    assert_close(bb_local_spread(local, column, room), trace, 1e-13 * (1 + (double)d));
    for (size_t k = 0; k < d; k++) assert_close(column[k], H[k * d + k], 1e-13);
    free(column);
    free(w);
    free(H);
    free(mean);
    free(room);
    free(work);
}

static void test_hessian(void **state) {
    (void)state;
    for (size_t i = 1; i < SHAPES; i++)
        for (int setting = 0; setting < 8; setting++) {
            const bb_loss loss = setting & 1 ? BB_LOSS_LOGISTIC : BB_LOSS_SQUARED;
            problem p = problem_new(shapes[i].n, shapes[i].d, loss, 0.3, i);
            bb_local local;
            assert_ok(bb_local_open(&local, setting & 2 ? p.sparse : p.dense, loss,
                                    setting & 4, false));
            if (p.n > 1) check_hessian(&p, &local);
            check_spread(&p, &local);
            bb_local_close(&local);
            problem_free(&p);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hessian)};
    return cmocka_run_group_tests(tests, start_linalg, NULL);
}
