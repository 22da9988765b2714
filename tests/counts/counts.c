/* The hot kernels, each in a function count_NAME of its own, which check.py has valgrind
 * count the instructions of. Data is made up and the same everywhere; the numbers that
 * come out are printed, so that nothing is left out as unused. */
#include "base/random.h"
#include "learners/local.h"
#include "learners/newton_eight.h"
#include "learners/ridge_kept.h"
#include "linalg/kernel.h"
#include "linalg/linalg.h"
#include "linalg/prox.h"
#include "linalg/tridiagonal.h"
#include "privacy/noise/noise.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 40, D = 20, WIDE = 48, SHIFTS = 16, LENGTH = 4096, TIMES = 20 };

#define COUNTED static __attribute__((noinline)) double

static double x[WIDE * WIDE], y[ROWS], vector[LENGTH], matrix[WIDE * WIDE];
static double room[16 * WIDE * WIDE];

static void must(bb_status status) {
    if (!status) return;
    fprintf(stderr, "counts: %s\n", bb_last_error());
    exit(1);
}

/* What the others are compared with: a chain of multiplications that no compiler makes
 * shorter. */
COUNTED count_reference(void) {
    uint64_t state = 1;
    for (size_t k = 0; k < 100000; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(state));
    }
    return (double)state;
}

COUNTED count_dot(void) {
    double sum = 0;
    for (size_t k = 0; k < TIMES; k++) sum += bb_dot(LENGTH - k, vector, vector + k);
    return sum;
}

COUNTED count_gradient(void) {
    double sum = 0;
    for (size_t k = 0; k < TIMES; k++) {
        bb_multiply_transposed(D, D, 1, x, vector + k, 0, room);
        bb_multiply(D, D, 1, x, room, 0, room + D);
        sum += room[D];
    }
    return sum;
}

COUNTED count_gram(void) {
    for (size_t k = 0; k < TIMES; k++) bb_gram(ROWS, D, 1, x, 0, room);
    return room[1];
}

COUNTED count_product(void) {
    for (size_t k = 0; k < TIMES; k++)
        bb_product(WIDE, WIDE, WIDE, 1, x, matrix, 0, room);
    return room[1];
}

static void definite(size_t n, double *A) {
    bb_gram(ROWS, n, 1, x, 0, A);
    for (size_t k = 0; k < n; k++) A[k * n + k] += 1;
}

COUNTED count_cholesky(void) {
    double sum = 0;
    for (size_t k = 0; k < TIMES; k++) {
        definite(D, room);
        must(bb_cholesky(D, room));
        sum += room[k];
    }
    return sum;
}

COUNTED count_solve(void) {
    definite(D, room);
    must(bb_cholesky(D, room));
    for (size_t k = 0; k < TIMES; k++) bb_cholesky_solve(D, room, vector + k);
    return vector[0];
}

COUNTED count_eigen(void) {
    double value[D];
    for (size_t k = 0; k < TIMES; k++) {
        definite(D, matrix);
        must(bb_eigen(D, matrix, value, room));
    }
    return value[0];
}

/* Opened once, then weighed and averaged for many penalties. */
COUNTED count_ridge_path(void) {
    double shift[SHIFTS], det[SHIFTS], explained[SHIFTS], out[D];
    bb_tridiagonal t;
    for (size_t k = 0; k < SHIFTS; k++) shift[k] = 0.01 * (double)(k + 1);
    for (size_t k = 0; k < TIMES; k++) {
        definite(D, matrix);
        must(bb_tridiagonal_open(&t, D, matrix, room));
        bb_tridiagonal_into(&t, y);
        bb_tridiagonal_weigh(&t, y, SHIFTS, shift, det, explained);
        bb_tridiagonal_average(&t, y, SHIFTS, shift, explained, out);
        bb_tridiagonal_back(&t, out);
    }
    return out[0] + det[0];
}

static double fit(bb_loss loss, size_t n, size_t d) {
    static double label[ROWS];
    double w[WIDE], b = 0;
    bb_local local;
    for (size_t j = 0; j < n; j++) label[j] = x[j] > 0 ? 1 : -1;
    const bb_rows rows = {.n = n, .d = d, .x = x, .y = label};
    must(bb_local_open(&local, rows, loss, false, true));
    double *work = calloc(bb_local_work(&local), sizeof *work);
    if (!work) exit(1);
    must(bb_local_ridge(&local, 0.3, NULL, w, &b, work));
    free(work);
    bb_local_close(&local);
    return w[0];
}

COUNTED count_ridge(void) {
    double sum = 0;
    for (size_t k = 0; k < TIMES; k++) sum += fit(BB_LOSS_SQUARED, ROWS, D);
    return sum;
}

/* Rounds of one matrix: it is inverted once. */
COUNTED count_ridge_kept(void) {
    double w[D] = {0};
    bb_local local;
    const bb_rows rows = {.n = ROWS, .d = D, .x = x, .y = y};
    must(bb_local_open(&local, rows, BB_LOSS_SQUARED, false, true));
    double *kept = calloc(bb_ridge_kept_length(&local), sizeof *kept);
    double *work = calloc(bb_ridge_kept_work(&local), sizeof *work);
    if (!kept || !work || !bb_ridge_kept_open(&local, 0.3, kept, work)) exit(1);
    for (size_t k = 0; k < TIMES; k++)
        if (!bb_ridge_kept_solve(&local, vector + k, kept, w, work)) exit(1);
    free(work);
    free(kept);
    bb_local_close(&local);
    return w[0];
}

COUNTED count_newton(void) {
    double sum = 0;
    for (size_t k = 0; k < TIMES; k++) sum += fit(BB_LOSS_LOGISTIC, ROWS, D);
    return sum;
}

/* More features than rows. */
COUNTED count_newton_kernel(void) {
    double sum = 0;
    for (size_t k = 0; k < TIMES; k++) sum += fit(BB_LOSS_LOGISTIC, D, WIDE);
    return sum;
}

/* Eight at once. */
COUNTED count_newton_eight(void) {
    double *work = calloc(bb_newton_eight_work(D), sizeof *work), value[BB_EIGHT];
    double offset[D * BB_EIGHT] = {0}, log_det[BB_EIGHT], label[D];
    if (!work) exit(1);
    bb_eight e = bb_newton_eight_open(D, work);
    for (size_t j = 0; j < D; j++) label[j] = x[j] > 0 ? 1 : -1;
    for (size_t l = 0; l < BB_EIGHT; l++) e.lambda[l] = 0.1 * (double)(l + 1);
    bb_gram_rows(D, D, 1, x, matrix);
    e.K = matrix;
    e.y = label;
    e.offset = offset;
    if (!bb_newton_eight(&e, value, log_det)) exit(1);
    free(work);
    return value[0];
}

COUNTED count_leave_one_out(void) {
    double lambda[SHIFTS], error[SHIFTS];
    bb_local local;
    for (size_t k = 0; k < SHIFTS; k++) lambda[k] = 0.01 * (double)(k + 1);
    const bb_rows rows = {.n = ROWS, .d = D, .x = x, .y = y};
    must(bb_local_open(&local, rows, BB_LOSS_SQUARED, false, false));
    double *work = calloc(bb_local_loo_work(&local, SHIFTS), sizeof *work);
    if (!work) exit(1);
    for (size_t k = 0; k < TIMES; k++)
        must(bb_local_loo(&local, SHIFTS, lambda, error, work));
    free(work);
    bb_local_close(&local);
    return error[0];
}

COUNTED count_prox(void) {
    for (size_t k = 0; k < TIMES; k++) bb_prox_l1(LENGTH, vector, 1e-3);
    return vector[0];
}

COUNTED count_noise(void) {
    static int64_t value[LENGTH];
    bb_random random;
    must(bb_random_open_stream(&random, 1, BB_FOR_NOISE, 1, 1));
    bb_noise_gaussian(&random, 0x1p40, LENGTH, value);
    bb_random_close(&random);
    return (double)value[0];
}

/* On the grid. */
COUNTED count_round(void) {
    double sum = 0;
    for (size_t k = 0; k < TIMES; k++) sum += bb_round_down(LENGTH - k, 1e3, vector);
    return sum;
}

/* Of 30 features, and of 5. */
COUNTED count_step(void) {
    for (size_t k = 0; k < TIMES; k++) {
        bb_accelerated_step(30, x, matrix, y, 0.5, 0.01, 0, vector, vector + 64, room);
        bb_accelerated_step(5, x, matrix, y, 0.5, 0.01, 0, vector, vector + 64, room);
    }
    return vector[0];
}

/* The same text, compiled for any x86-64. */
COUNTED count_plain_product(void) {
    for (size_t k = 0; k < TIMES; k++)
        bb_kernel_baseline.small_product(D, ROWS, D, 1, x, 1, D, x, D, 1, 0, true,
                                         room);
    return room[1];
}

COUNTED count_plain_cholesky(void) {
    double sum = 0;
    for (size_t k = 0; k < TIMES; k++) {
        definite(D, room);
        if (bb_kernel_baseline.small_cholesky(D, room) != D) exit(1);
        bb_kernel_baseline.small_solve(D, room, vector);
        sum += vector[0];
    }
    return sum;
}

COUNTED count_plain_dot(void) {
    double sum = 0;
    for (size_t k = 0; k < TIMES; k++)
        sum += bb_kernel_baseline.dot(LENGTH - k, vector, vector + k);
    return sum;
}

static void fill(size_t n, double *v, uint64_t seed) {
    for (size_t k = 0; k < n; k++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        v[k] = (double)(seed >> 11) * 0x1p-52 - 1.0;
    }
}

/* valgrind 3.19 has no AVX-512. */
static const char *picked(void) {
    if (bb_kernel_pick() == &bb_kernel_baseline) return "baseline";
    return bb_kernel_pick() == &bb_kernel_avx2 ? "avx2" : "avx512";
}

int main(void) {
    static double (*const counted[])(void) = {
        count_reference,     count_dot,           count_gradient,
        count_gram,          count_product,       count_cholesky,
        count_solve,         count_eigen,         count_ridge_path,
        count_ridge,         count_ridge_kept,    count_newton,
        count_newton_kernel, count_newton_eight,  count_leave_one_out,
        count_prox,          count_noise,         count_round,
        count_step,          count_plain_product, count_plain_cholesky,
        count_plain_dot};
    must(bb_linalg_start());
    printf("%s %s\n", bb_linalg_core(), picked());
    for (size_t k = 0; k < sizeof counted / sizeof *counted; k++) {
        fill(WIDE * WIDE, x, 1);
        fill(WIDE * WIDE, matrix, 2);
        fill(ROWS, y, 3);
        fill(LENGTH, vector, 4);
        printf("%.17g\n", counted[k]());
    }
    return 0;
}
