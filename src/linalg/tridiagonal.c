#include "linalg/tridiagonal.h"

#include "linalg/kernel.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LANES = BB_KERNEL_LANES };

static size_t stride_of(size_t n) {
    return (n + LANES - 1) / LANES * LANES;
}

size_t bb_tridiagonal_kept(size_t n) {
    return n * stride_of(n) + 3 * n;
}

size_t bb_tridiagonal_length(size_t n) {
    return bb_tridiagonal_kept(n) + 4 * LANES * n + 2 * stride_of(n);
}

bb_tridiagonal bb_tridiagonal_again(size_t n, double *kept, double *work) {
    bb_tridiagonal t = {
        .n = n, .stride = stride_of(n), .reflector = kept, .work = work};
    t.factor = t.reflector + n * t.stride;
    t.diagonal = t.factor + n;
    t.beside = t.diagonal + n;
    return t;
}

/* Of numbers; where b is none, a. */
static double larger(double a, double b) {
    return b > a ? b : a;
}

/* A power of two that brings `most`, the largest entry (of the diagonal, since A is
 * positive semidefinite), near one, so that what underflows is nothing. */
static double scale_of(double most) {
    int exponent;
    if (most == 0 || (most > 1e-10 && most < 1e10)) return 1;
    (void)frexp(most, &exponent);
    return ldexp(1, exponent < -1000 ? 1000 : -exponent);
}

bb_status bb_tridiagonal_open(bb_tridiagonal *t, size_t n, const double *A,
                              double *room) {
    const size_t stride = stride_of(n);
    double most = 0;
    for (size_t k = 0; k < n; k++) most = larger(most, A[k * n + k]);
    const double scale = scale_of(most);
    *t = bb_tridiagonal_again(n, room, room + bb_tridiagonal_kept(n));
    for (size_t i = 0; i < n; i++) {
        double *row = t->reflector + i * stride;
        memcpy(row, A + i * n, n * sizeof *row);
        for (size_t k = 0; scale != 1 && k < n; k++) row[k] *= scale;
        memset(row + n, 0, (stride - n) * sizeof *row);
    }
    bb_kernel_pick()->tridiagonal(n, stride, t->reflector, t->factor, t->diagonal,
                                  t->beside, t->work);
    for (size_t k = 0; k < n; k++) {
        t->diagonal[k] /= scale;
        t->beside[k] /= scale;
        if (!isfinite(t->diagonal[k]) || !isfinite(t->beside[k]))
            return bb_fail(BB_ENUMERIC, "a matrix is not finite");
    }
    return BB_OK;
}

static void turn(const bb_tridiagonal *t, bool back, double *x) {
    double *padded = t->work;
    memcpy(padded, x, t->n * sizeof *x);
    memset(padded + t->n, 0, (t->stride - t->n) * sizeof *x);
    bb_kernel_pick()->reflect(back, t->n, t->stride, t->reflector, t->factor, padded);
    memcpy(x, padded, t->n * sizeof *x);
}

void bb_tridiagonal_into(const bb_tridiagonal *t, double *x) {
    turn(t, false, x);
}

void bb_tridiagonal_back(const bb_tridiagonal *t, double *x) {
    turn(t, true, x);
}

void bb_tridiagonal_into_sides(const bb_tridiagonal *t, double *C) {
    bb_kernel_pick()->rows_turn(1, t->n, t->stride, t->reflector, t->factor, C);
}

/* Smaller shifts are lost where T was rounded: its pivots would be what rounding left, and
 * what is divided by one after the other grows without bound. */
static double least_shift(const bb_tridiagonal *t) {
    double most = 0;
    for (size_t k = 0; k < t->n; k++) most = larger(most, t->diagonal[k]);
    return 8 * (double)t->n * DBL_EPSILON * most;
}

/* The next shifts, up to two groups of them; lanes without any repeat the last. */
static size_t next_shifts(const bb_tridiagonal *t, size_t count, const double *shift,
                          double *lane, size_t *groups) {
    const double least = least_shift(t);
    *groups = count > LANES ? 2 : 1;
    for (size_t k = 0; k < *groups * LANES; k++)
        lane[k] = larger(least, shift[k < count ? k : count - 1]);
    return count < *groups * LANES ? count : *groups * LANES;
}

/* form: `count` numbers each. */
static void weigh(const bb_tridiagonal *t, size_t sides, const double *c, size_t count,
                  const double *shift, double *log_det, double *form) {
    const size_t forms = sides == 1 ? 1 : BB_TRIDIAGONAL_FORMS;
    double lane[2 * LANES], det[2 * LANES], sum[BB_TRIDIAGONAL_FORMS * 2 * LANES];
    for (size_t from = 0, taken, groups; from < count; from += taken) {
        taken = next_shifts(t, count - from, shift + from, lane, &groups);
        bb_kernel_pick()->shifts_weigh(groups, sides, t->n, t->diagonal, t->beside, c,
                                       lane, det, sum);
        memcpy(log_det + from, det, taken * sizeof *det);
        for (size_t f = 0; f < forms; f++)
            memcpy(form + f * count + from, sum + f * groups * LANES,
                   taken * sizeof *sum);
    }
}

void bb_tridiagonal_weigh(const bb_tridiagonal *t, const double *c, size_t count,
                          const double *shift, double *log_det, double *explained) {
    weigh(t, 1, c, count, shift, log_det, explained);
}

void bb_tridiagonal_weigh_sides(const bb_tridiagonal *t, const double *C, size_t count,
                                const double *shift, double *log_det, double *form) {
    weigh(t, BB_TRIDIAGONAL_SIDES, C, count, shift, log_det, form);
}

static void average(const bb_tridiagonal *t, size_t sides, const double *c,
                    size_t count, const double *shift, const double *share, double *x) {
    double lane[2 * LANES], part[BB_TRIDIAGONAL_SIDES * 2 * LANES];
    memset(x, 0, t->n * sizeof *x);
    for (size_t from = 0, taken, groups; from < count; from += taken) {
        taken = next_shifts(t, count - from, shift + from, lane, &groups);
        for (size_t s = 0; s < sides; s++)
            for (size_t k = 0; k < groups * LANES; k++)
                part[s * groups * LANES + k] =
                    k < taken ? share[s * count + from + k] : 0;
        bb_kernel_pick()->shifts_average(groups, sides, t->n, t->diagonal, t->beside, c,
                                         lane, part, x, t->work);
    }
}

void bb_tridiagonal_average(const bb_tridiagonal *t, const double *c, size_t count,
                            const double *shift, const double *share, double *x) {
    average(t, 1, c, count, shift, share, x);
}

void bb_tridiagonal_average_sides(const bb_tridiagonal *t, const double *C,
                                  size_t count, const double *shift,
                                  const double *share, double *x) {
    average(t, BB_TRIDIAGONAL_SIDES, C, count, shift, share, x);
}

void bb_tridiagonal_inverse(const bb_tridiagonal *t, const double *c, size_t count,
                            const double *shift, double *explained, double *square,
                            double *trace) {
    double lane[2 * LANES], of_c[2 * LANES], of_x[2 * LANES], of_one[2 * LANES];
    for (size_t from = 0, taken, groups; from < count; from += taken) {
        taken = next_shifts(t, count - from, shift + from, lane, &groups);
        bb_kernel_pick()->shifts_inverse(groups, t->n, t->diagonal, t->beside, c, lane,
                                         of_c, of_x, of_one, t->work);
        memcpy(explained + from, of_c, taken * sizeof *of_c);
        memcpy(square + from, of_x, taken * sizeof *of_x);
        memcpy(trace + from, of_one, taken * sizeof *of_one);
    }
}

size_t bb_tridiagonal_table_length(size_t n, size_t count) {
    return 3 * n * stride_of(count);
}

void bb_tridiagonal_table(const bb_tridiagonal *t, const double *c, size_t count,
                          const double *shift, double *table) {
    const double least = least_shift(t);
    double lane[LANES];
    for (size_t from = 0; from < count; from += LANES, table += 3 * t->n * LANES) {
        for (size_t k = 0; k < LANES; k++)
            lane[k] = fmax(least, shift[from + k < count ? from + k : count - 1]);
        bb_kernel_pick()->shifts_table(t->n, t->diagonal, t->beside, c, lane, table);
    }
}

void bb_tridiagonal_left_out(const bb_tridiagonal *t, const double *table, size_t count,
                             size_t rows, double *X, const double *y,
                             const double *whole, double weight, const double *least,
                             double *error) {
    const size_t width = stride_of(rows) / LANES;
    bb_kernel_pick()->rows_turn(width, t->n, t->stride, t->reflector, t->factor, X);
    for (size_t l = 0; l < count; l++) {
        const double *own = table + 3 * t->n * (l / LANES * LANES) + l % LANES;
        error[l] += bb_kernel_pick()->rows_left_out(width, t->n, own, X, y, whole[l],
                                                    weight, least[l]);
    }
}
