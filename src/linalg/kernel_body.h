/* kernel_body.h - the text of the kernels; kernel_*.c compile it for their instruction
 * set after defining BB_KERNEL, the name of the table. The vectors are the compilers'
 * generic ones, so the same text also serves processors without wide registers. */
#include "linalg/kernel.h"
#include "linalg/kernel_lanes.h"

static double dot(size_t n, const double *restrict x, const double *restrict y) {
    if (n < LANES) {
        double sum = 0;
        for (size_t k = 0; k < n; k++) sum += x[k] * y[k];
        return sum;
    }
    lanes a = spread(0), b = a, c = a, d = a;
    size_t k = 0;
    for (; k + 4 * LANES <= n; k += 4 * LANES) {
        a += load(x + k) * load(y + k);
        b += load(x + k + LANES) * load(y + k + LANES);
        c += load(x + k + 2 * LANES) * load(y + k + 2 * LANES);
        d += load(x + k + 3 * LANES) * load(y + k + 3 * LANES);
    }
    for (; k + LANES <= n; k += LANES) a += load(x + k) * load(y + k);
    if (k < n) b += load_tail(x, n, n - k) * load_tail(y, n, n - k);
    return fold((a + b) + (c + d));
}

static void axpy(size_t n, double a, const double *restrict x, double *restrict y) {
    for (size_t k = 0; k < n; k++) y[k] += a * x[k];
}

/* Four rows of A at once, so that x is read once for them. */
static void dot4(size_t n, const double *restrict A, const double *restrict x,
                 double *restrict out) {
    const double *r0 = A, *r1 = A + n, *r2 = A + 2 * n, *r3 = A + 3 * n;
    lanes a = spread(0), b = a, c = a, d = a;
    size_t k = 0;
    for (; k + LANES <= n; k += LANES) {
        const lanes v = load(x + k);
        a += load(r0 + k) * v;
        b += load(r1 + k) * v;
        c += load(r2 + k) * v;
        d += load(r3 + k) * v;
    }
    if (k < n) {
        const size_t rest = n - k;
        const lanes v = load_tail(x, n, rest);
        a += load_tail(r0, n, rest) * v;
        b += load_tail(r1, n, rest) * v;
        c += load_tail(r2, n, rest) * v;
        d += load_tail(r3, n, rest) * v;
    }
    out[0] = fold(a);
    out[1] = fold(b);
    out[2] = fold(c);
    out[3] = fold(d);
}

static void multiply(size_t rows, size_t columns, double a, const double *restrict A,
                     const double *restrict x, double b, double *restrict y) {
    size_t j = 0;
    double value[4];
    for (; j < rows; j += 4) {
        const size_t count = rows - j < 4 ? rows - j : 4;
        if (count == 4 && columns >= LANES)
            dot4(columns, A + j * columns, x, value);
        else
            for (size_t i = 0; i < count; i++)
                value[i] = dot(columns, A + (j + i) * columns, x);
        if (b == 0)
            for (size_t i = 0; i < count; i++) y[j + i] = a * value[i];
        else
            for (size_t i = 0; i < count; i++) y[j + i] = a * value[i] + b * y[j + i];
    }
}

/* out <- A' x for `width` times 8 columns out of `stride`; the last eight are `last`
 * columns behind the first, which may be among those before. Few sums are two each, so
 * that one addition need not wait for the one before. */
static inline void columns_of(size_t width, size_t rows, size_t stride, size_t last,
                              const double *restrict A, const double *restrict x,
                              lanes *restrict out) {
    lanes sum[4] = {0}, odd[4] = {0};
    const size_t pair = width < 3 ? 2 : 1;
    size_t j = 0;
    for (; j + pair <= rows; j += pair) {
        const double *row = A + j * stride, *next = row + stride;
        const lanes v = spread(x[j]);
        for (size_t b = 0; b + 1 < width; b++) sum[b] += v * load(row + b * LANES);
        sum[width - 1] += v * load(row + last);
        if (pair == 1) continue;
        const lanes u = spread(x[j + 1]);
        for (size_t b = 0; b + 1 < width; b++) odd[b] += u * load(next + b * LANES);
        odd[width - 1] += u * load(next + last);
    }
    for (; j < rows; j++) {
        const double *row = A + j * stride;
        const lanes v = spread(x[j]);
        for (size_t b = 0; b + 1 < width; b++) sum[b] += v * load(row + b * LANES);
        sum[width - 1] += v * load(row + last);
    }
    for (size_t b = 0; b < width; b++) out[b] = sum[b] + odd[b];
}

static inline void store_columns(size_t width, size_t last, const lanes *value,
                                 double *restrict out) {
    for (size_t b = 0; b + 1 < width; b++) store(out + b * LANES, value[b]);
    store(out + last, value[width - 1]);
}

static inline void columns_into(size_t width, size_t rows, size_t stride, size_t last,
                                const double *restrict A, const double *restrict x,
                                double *restrict out) {
    lanes value[4];
    columns_of(width, rows, stride, last, A, x, value);
    store_columns(width, last, value, out);
}

/* Fewer columns than lanes: what a load takes of the next row is dropped; the last rows
 * have none. */
static inline void columns_few(size_t rows, size_t columns, const double *restrict A,
                               const double *restrict x, double *restrict out) {
    const size_t size = rows * columns;
    lanes even = spread(0), odd = even;
    size_t j = 0;
    for (; (j + 1) * columns + LANES <= size; j += 2) {
        even += spread(x[j]) * load(A + j * columns);
        odd += spread(x[j + 1]) * load(A + (j + 1) * columns);
    }
    store(out, even + odd);
    for (; j < rows; j++)
        for (size_t i = 0; i < columns; i++) out[i] += x[j] * A[j * columns + i];
}

static inline void put(size_t n, double a, const double *restrict value, double b,
                       double *restrict y) {
    if (b == 0)
        for (size_t k = 0; k < n; k++) y[k] = a * value[k];
    else
        for (size_t k = 0; k < n; k++) y[k] = a * value[k] + b * y[k];
}

static void transposed_narrow(size_t rows, size_t columns, double a,
                              const double *restrict A, const double *restrict x,
                              double b, double *restrict y) {
    double value[4 * LANES];
    if (columns < LANES) {
        columns_few(rows, columns, A, x, value);
        put(columns, a, value, b, y);
        return;
    }
    for (size_t k = 0; k < columns; k += 4 * LANES) {
        const size_t left = columns - k < 4 * LANES ? columns - k : 4 * LANES;
        const double *at = A + k;
        if (left > 3 * LANES)
            columns_into(4, rows, columns, left - LANES, at, x, value);
        else if (left > 2 * LANES)
            columns_into(3, rows, columns, left - LANES, at, x, value);
        else if (left > LANES)
            columns_into(2, rows, columns, left - LANES, at, x, value);
        else if (left == LANES)
            columns_into(1, rows, columns, 0, at, x, value);
        else {
            columns_into(1, rows, columns, 0, at + left - LANES, x, value);
            memmove(value, value + LANES - left, left * sizeof *value);
        }
        put(left, a, value, b, y + k);
    }
}

/* Wide matrices: y stays near while four rows at a time are added to it. */
static void transposed_wide(size_t rows, size_t columns, double a,
                            const double *restrict A, const double *restrict x,
                            double b, double *restrict y) {
    if (b == 0)
        memset(y, 0, columns * sizeof *y);
    else
        for (size_t k = 0; k < columns; k++) y[k] *= b;
    size_t j = 0;
    for (; j + 4 <= rows; j += 4) {
        const double *r0 = A + j * columns, *r1 = r0 + columns, *r2 = r1 + columns,
                     *r3 = r2 + columns;
        const double a0 = a * x[j], a1 = a * x[j + 1], a2 = a * x[j + 2],
                     a3 = a * x[j + 3];
        for (size_t k = 0; k < columns; k++)
            y[k] += (a0 * r0[k] + a1 * r1[k]) + (a2 * r2[k] + a3 * r3[k]);
    }
    for (; j < rows; j++) axpy(columns, a * x[j], A + j * columns, y);
}

static void multiply_transposed(size_t rows, size_t columns, double a,
                                const double *restrict A, const double *restrict x,
                                double b, double *restrict y) {
    if (columns <= 256)
        transposed_narrow(rows, columns, a, A, x, b, y);
    else
        transposed_wide(rows, columns, a, A, x, b, y);
}

/* exp(x) for x <= 0, within 2 ulp; x is raised to -708, where exp is still a normal
 * number. x = k ln 2 + r, |r| <= ln(2)/2, and the Taylor series of exp(r) up to r^13.
 */
static inline lanes exp_negative(lanes x) {
    const lanes shift = spread(0x1.8p52);
    x = choose(x < spread(-708.0), spread(-708.0), x);
    const lanes shifted = x * spread(0x1.71547652b82fep0) + shift;
    const lanes k = shifted - shift;
    const lanes r =
        (x - k * spread(0x1.62e42fee00000p-1)) - k * spread(0x1.a39ef35793c76p-33);
    lanes p = spread(1.0 / 6227020800);
    p = p * r + spread(1.0 / 479001600);
    p = p * r + spread(1.0 / 39916800);
    p = p * r + spread(1.0 / 3628800);
    p = p * r + spread(1.0 / 362880);
    p = p * r + spread(1.0 / 40320);
    p = p * r + spread(1.0 / 5040);
    p = p * r + spread(1.0 / 720);
    p = p * r + spread(1.0 / 120);
    p = p * r + spread(1.0 / 24);
    p = p * r + spread(1.0 / 6);
    p = p * r + spread(0.5);
    p = (p * r) * r + r + spread(1.0);
    return (lanes)((bits)p + ((bits)shifted << 52));
}

/* log(1 + e) for 0 <= e <= 1, within 2 ulp: 1 + e = f or 2f with f in [1/sqrt 2, sqrt
 * 2], log f = 2 artanh(t), t = (f-1)/(f+1), by its series up to t^23. */
static inline lanes log_one_plus(lanes e) {
    const bits large = e > spread(0x1.a827999fcef32p-2);
    const lanes t =
        choose(large, e - spread(1), e) / choose(large, e + spread(3), e + spread(2));
    const lanes z = t * t;
    lanes p = spread(2.0 / 23);
    p = p * z + spread(2.0 / 21);
    p = p * z + spread(2.0 / 19);
    p = p * z + spread(2.0 / 17);
    p = p * z + spread(2.0 / 15);
    p = p * z + spread(2.0 / 13);
    p = p * z + spread(2.0 / 11);
    p = p * z + spread(2.0 / 9);
    p = p * z + spread(2.0 / 7);
    p = p * z + spread(2.0 / 5);
    p = p * z + spread(2.0 / 3);
    p = p * z * t + (t + t);
    return p + choose(large, spread(0x1.62e42fefa39efp-1), spread(0));
}

/* For eight rows: the loss log(1 + exp(-y p)); *p <- its derivative in p, -y q with
 * q = 1/(1 + exp(y p)); *c <- its second derivative q (1 - q) y^2. */
static inline lanes logistic_eight(lanes y, lanes *p, lanes *c) {
    const lanes z = y * *p;
    const bits positive = z > spread(0);
    const lanes e = exp_negative(choose(positive, -z, z));
    const lanes below = spread(1) / (spread(1) + e), above = e * below;
    const lanes q = choose(positive, above, below);
    *p = -y * q;
    *c = above * below * (y * y);
    return choose(positive, spread(0), -z) + log_one_plus(e);
}

static inline double logistic_any(size_t n, const double *restrict y,
                                  double *restrict p, double *restrict curvature) {
    lanes sum = spread(0), c;
    size_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        lanes v = load(p + j);
        sum += logistic_eight(load(y + j), &v, &c);
        store(p + j, v);
        if (curvature) store(curvature + j, c);
    }
    double total = fold(sum);
    if (j < n) {
        double py[LANES] = {0}, pp[LANES] = {0};
        memcpy(py, y + j, (n - j) * sizeof *y);
        memcpy(pp, p + j, (n - j) * sizeof *p);
        lanes v = load(pp);
        const lanes value = logistic_eight(load(py), &v, &c);
        for (size_t i = j; i < n; i++) {
            total += value[i - j];
            p[i] = v[i - j];
            if (curvature) curvature[i] = c[i - j];
        }
    }
    return total;
}

static double logistic(size_t n, const double *y, double *p) {
    return logistic_any(n, y, p, NULL);
}

static double logistic_curved(size_t n, const double *y, double *p, double *curvature) {
    return logistic_any(n, y, p, curvature);
}

/* ln x of positive normal x: x = 2^k (1 + e), 0 <= e < 1. */
static inline lanes log_positive(lanes x) {
    const bits raw = (bits)x;
    const lanes mantissa = (lanes)((raw & 0xfffffffffffff) | 0x3ff0000000000000);
    const lanes power = __builtin_convertvector((raw >> 52) - 1023, lanes);
    return log_one_plus(mantissa - spread(1)) + power * spread(0x1.62e42fefa39efp-1);
}

static void log_all(size_t n, double *x) {
    double rest[LANES];
    size_t k = 0;
    for (; k + LANES <= n; k += LANES) store(x + k, log_positive(load(x + k)));
    if (k == n) return;
    store(rest, spread(1));
    memcpy(rest, x + k, (n - k) * sizeof *x);
    store(rest, log_positive(load(rest)));
    memcpy(x + k, rest, (n - k) * sizeof *x);
}

static double exp_all(size_t n, double *x) {
    const lanes least = spread(-708.0);
    lanes sum = spread(0);
    double rest[LANES];
    size_t k = 0;
    for (; k + LANES <= n; k += LANES) {
        const lanes v = load(x + k);
        const lanes e = choose(v < least, spread(0), exp_negative(v));
        store(x + k, e);
        sum += e;
    }
    if (k < n) {
        store(rest, spread(-INFINITY));
        memcpy(rest, x + k, (n - k) * sizeof *x);
        const lanes v = load(rest);
        const lanes e = choose(v < least, spread(0), exp_negative(v));
        store(rest, e);
        memcpy(x + k, rest, (n - k) * sizeof *x);
        sum += e;
    }
    return fold(sum);
}

/* Eight numbers of size below 2^51 toward zero: adding and taking off 2^52 rounds to
 * whole numbers. */
static inline lanes toward_zero(lanes x) {
    const bits sign = (bits)x & INT64_MIN;
    const lanes size = (lanes)((bits)x ^ sign), shift = spread(0x1p52);
    const lanes near = (size + shift) - shift;
    return (lanes)((bits)(near - choose(near > size, spread(1), spread(0))) | sign);
}

/* Fewer numbers than lanes, one by one: the bits of x + 2^52 are those of a number. */
static double round_few(size_t n, double factor, double *v) {
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        const double x = v[k] * factor, size = fabs(x);
        const double near = (size + 0x1p52) - 0x1p52;
        const double whole = near - (double)(near > size);
        v[k] = copysign(whole, x);
        sum += whole * whole;
    }
    return sum;
}

static double round_down(size_t n, double factor, double *v) {
    if (n < LANES) return round_few(n, factor, v);
    const lanes by = spread(factor), last = toward_zero(load(v + n - LANES) * by);
    lanes even = spread(0), odd = even;
    size_t k = 0;
    for (; k + 2 * LANES <= n; k += 2 * LANES) {
        const lanes a = toward_zero(load(v + k) * by);
        const lanes b = toward_zero(load(v + k + LANES) * by);
        store(v + k, a);
        store(v + k + LANES, b);
        even += a * a;
        odd += b * b;
    }
    for (; k + LANES <= n; k += LANES) {
        const lanes a = toward_zero(load(v + k) * by);
        store(v + k, a);
        even += a * a;
    }
    if (k < n) { /* the last eight, of which some were there before */
        const lanes a = (lanes)((bits)last & load_mask(n - k));
        store(v + n - LANES, last);
        odd += a * a;
    }
    return fold(even + odd);
}

#include "linalg/kernel_eigen.h"
#include "linalg/kernel_eight.h"
#include "linalg/kernel_invert.h"
#include "linalg/kernel_rows.h"
#include "linalg/kernel_small.h"
#include "linalg/kernel_strips.h"

const bb_kernel BB_KERNEL = {dot,
                             axpy,
                             multiply,
                             multiply_transposed,
                             logistic,
                             logistic_curved,
                             log_all,
                             exp_all,
                             small_product,
                             small_cholesky,
                             small_solve,
                             small_shifted,
                             small_invert,
                             round_down,
                             strips_slope,
                             accelerated_step,
                             small_eigen,
                             tridiagonal,
                             reflect,
                             shifts_weigh,
                             shifts_average,
                             rows_turn,
                             shifts_table,
                             rows_left_out,
                             eight_predict,
                             eight_look,
                             eight_direction};
