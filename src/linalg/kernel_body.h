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
    lanes sum[4] = {0};
    size_t k = 0;
    for (; k + 4 * LANES <= n; k += 4 * LANES)
        for (size_t q = 0; q < 4; q++)
            add_product(&sum[q], load(x + k + q * LANES), load(y + k + q * LANES));
    for (; k + LANES <= n; k += LANES) add_product(&sum[0], load(x + k), load(y + k));
    if (k < n) add_product(&sum[1], load_tail(x, n, n - k), load_tail(y, n, n - k));
    return fold(plus(plus(sum[0], sum[1]), plus(sum[2], sum[3])));
}

static void axpy(size_t n, double a, const double *restrict x, double *restrict y) {
    for (size_t k = 0; k < n; k++) y[k] += a * x[k];
}

/* Four rows of A at once, so that x is read once for them. */
static void dot4(size_t n, const double *restrict A, const double *restrict x,
                 double *restrict out) {
    lanes sum[4] = {0};
    size_t k = 0;
    for (; k + LANES <= n; k += LANES) {
        const lanes v = load(x + k);
        for (size_t r = 0; r < 4; r++) add_product(&sum[r], load(A + r * n + k), v);
    }
    if (k < n) {
        const lanes v = load_tail(x, n, n - k);
        for (size_t r = 0; r < 4; r++)
            add_product(&sum[r], load_tail(A + r * n, n, n - k), v);
    }
    for (size_t r = 0; r < 4; r++) out[r] = fold(sum[r]);
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

/* sum += x times a row of `width` times 8 columns. */
static inline void add_row(size_t width, size_t last, const double *restrict row,
                           double x, lanes *restrict sum) {
    for (size_t b = 0; b + 1 < width; b++) add_times(&sum[b], x, load(row + b * LANES));
    add_times(&sum[width - 1], x, load(row + last));
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
        add_row(width, last, A + j * stride, x[j], sum);
        if (pair == 2) add_row(width, last, A + (j + 1) * stride, x[j + 1], odd);
    }
    for (; j < rows; j++) add_row(width, last, A + j * stride, x[j], sum);
    for (size_t b = 0; b < width; b++) out[b] = plus(sum[b], odd[b]);
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
    lanes even = {0}, odd = {0};
    size_t j = 0;
    for (; (j + 1) * columns + LANES <= size; j += 2) {
        add_times(&even, x[j], load(A + j * columns));
        add_times(&odd, x[j + 1], load(A + (j + 1) * columns));
    }
    store(out, plus(even, odd));
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
static inline piece exp_negative(piece x) {
    const piece shift = spread(0x1.8p52);
    x = choose(x < spread(-708.0), spread(-708.0), x);
    const piece shifted = x * spread(0x1.71547652b82fep0) + shift;
    const piece k = shifted - shift;
    const piece r =
        (x - k * spread(0x1.62e42fee00000p-1)) - k * spread(0x1.a39ef35793c76p-33);
    piece p = spread(1.0 / 6227020800);
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
    return (piece)((bits)p + ((bits)shifted << 52));
}

/* log(1 + e) for 0 <= e <= 1, within 2 ulp: 1 + e = f or 2f with f in [1/sqrt 2, sqrt
 * 2], log f = 2 artanh(t), t = (f-1)/(f+1), by its series up to t^23. */
static inline piece log_one_plus(piece e) {
    const bits large = e > spread(0x1.a827999fcef32p-2);
    const piece t =
        choose(large, e - spread(1), e) / choose(large, e + spread(3), e + spread(2));
    const piece z = t * t;
    piece p = spread(2.0 / 23);
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

/* For a row each: the loss log(1 + exp(-y p)); *p <- its derivative in p, -y q with
 * q = 1/(1 + exp(y p)); *c <- its second derivative q (1 - q) y^2. */
static inline piece logistic_piece(piece y, piece *p, piece *c) {
    const piece z = y * *p;
    const bits positive = z > spread(0);
    const piece e = exp_negative(choose(positive, -z, z));
    const piece below = spread(1) / (spread(1) + e), above = e * below;
    const piece q = choose(positive, above, below);
    *p = -y * q;
    *c = above * below * (y * y);
    return choose(positive, spread(0), -z) + log_one_plus(e);
}

static inline double logistic_any(size_t n, const double *restrict y,
                                  double *restrict p, double *restrict curvature) {
    lanes sum = {0};
    piece c;
    size_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (size_t l = 0; l < PIECES; l++) {
            const size_t at = j + l * PIECE;
            piece v = load_piece(p + at);
            sum.at[l] += logistic_piece(load_piece(y + at), &v, &c);
            store_piece(p + at, v);
            if (curvature) store_piece(curvature + at, c);
        }
    double total = fold(sum);
    for (; j < n; j += PIECE) {
        const size_t rest = n - j < PIECE ? n - j : PIECE;
        double py[PIECE] = {0}, pp[PIECE] = {0};
        memcpy(py, y + j, rest * sizeof *y);
        memcpy(pp, p + j, rest * sizeof *p);
        piece v = load_piece(pp);
        const piece value = logistic_piece(load_piece(py), &v, &c);
        for (size_t i = 0; i < rest; i++) {
            total += value[i];
            p[j + i] = v[i];
            if (curvature) curvature[j + i] = c[i];
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

/* Positive normal x = 2^k (1 + e), 0 <= e < 1: returns 1 + e; *exponent gains k. */
static inline piece split(piece x, bits *exponent) {
    const bits raw = (bits)x;
    *exponent += (bits)((unsigned_bits)raw >> 52) - 1023;
    return (piece)((raw & 0xfffffffffffff) | 0x3ff0000000000000);
}

/* ln((1 + e) 2^exponent); whole numbers added to the bits of 1.5 2^52 are added to it. */
static inline piece log_scaled(piece e, bits exponent) {
    const piece shift = spread(0x1.8p52);
    const piece power = (piece)((bits)shift + exponent) - shift;
    return log_one_plus(e) + power * spread(0x1.62e42fefa39efp-1);
}

static inline piece log_of(piece mantissa, bits exponent) {
    return log_scaled(mantissa - spread(1), exponent);
}

static inline piece log_positive(piece x) {
    bits exponent = {0};
    const piece mantissa = split(x, &exponent);
    return log_of(mantissa, exponent);
}

static void log_all(size_t n, double *x) {
    double rest[PIECE];
    size_t k = 0;
    for (; k + PIECE <= n; k += PIECE)
        store_piece(x + k, log_positive(load_piece(x + k)));
    if (k == n) return;
    store_piece(rest, spread(1));
    memcpy(rest, x + k, (n - k) * sizeof *x);
    store_piece(rest, log_positive(load_piece(rest)));
    memcpy(x + k, rest, (n - k) * sizeof *x);
}

/* ln(1 + x), x >= 0: of x up to 1 all digits count. */
static inline piece log_plus(piece x) {
    const bits large = x > spread(1);
    bits exponent = {0};
    const piece mantissa = split(choose(large, x + spread(1), spread(1)), &exponent);
    return log_scaled(choose(large, mantissa - spread(1), x), exponent);
}

/* Eight at a time; *sum gains them. */
static inline void log_plus_some(double *x, lanes *sum) {
    for (size_t p = 0; p < PIECES; p++) {
        const piece v = log_plus(load_piece(x + p * PIECE));
        store_piece(x + p * PIECE, v);
        sum->at[p] += v;
    }
}

static double log_plus_all(size_t n, double *x) {
    lanes sum = {0};
    double rest[LANES] = {0};
    size_t k = 0;
    for (; k + LANES <= n; k += LANES) log_plus_some(x + k, &sum);
    if (k < n) {
        memcpy(rest, x + k, (n - k) * sizeof *x);
        log_plus_some(rest, &sum);
        memcpy(x + k, rest, (n - k) * sizeof *x);
    }
    return fold(sum);
}

/* Eight at a time, 0 below -708; *sum gains them. */
static inline void exp_some(double *x, lanes *sum) {
    for (size_t p = 0; p < PIECES; p++) {
        const piece v = load_piece(x + p * PIECE);
        const piece e = choose(v < spread(-708.0), spread(0), exp_negative(v));
        store_piece(x + p * PIECE, e);
        sum->at[p] += e;
    }
}

static double exp_all(size_t n, double *x) {
    lanes sum = {0};
    double rest[LANES];
    size_t k = 0;
    for (; k + LANES <= n; k += LANES) exp_some(x + k, &sum);
    if (k < n) {
        for (size_t i = 0; i < LANES; i++) rest[i] = k + i < n ? x[k + i] : -INFINITY;
        exp_some(rest, &sum);
        memcpy(x + k, rest, (n - k) * sizeof *x);
    }
    return fold(sum);
}

/* Numbers of size below 2^51 toward zero: adding and taking off 2^52 rounds to whole
 * numbers. */
static inline piece toward_zero(piece x) {
    const bits sign = (bits)x & INT64_MIN;
    const piece size = (piece)((bits)x ^ sign), shift = spread(0x1p52);
    const piece near = (size + shift) - shift;
    return (piece)((bits)(near - choose(near > size, spread(1), spread(0))) | sign);
}

/* factor times eight numbers toward zero. */
static inline lanes whole_times(double factor, lanes v) {
    for (size_t p = 0; p < PIECES; p++) v.at[p] = toward_zero(v.at[p] * factor);
    return v;
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
    const lanes last = whole_times(factor, load(v + n - LANES));
    lanes even = {0}, odd = {0};
    size_t k = 0;
    for (; k + 2 * LANES <= n; k += 2 * LANES) {
        const lanes a = whole_times(factor, load(v + k));
        const lanes b = whole_times(factor, load(v + k + LANES));
        store(v + k, a);
        store(v + k + LANES, b);
        add_product(&even, a, a);
        add_product(&odd, b, b);
    }
    for (; k + LANES <= n; k += LANES) {
        const lanes a = whole_times(factor, load(v + k));
        store(v + k, a);
        add_product(&even, a, a);
    }
    if (k < n) { /* the last eight, of which some were there before */
        const lanes a = keep_last(n - k, last);
        store(v + n - LANES, last);
        add_product(&odd, a, a);
    }
    return fold(plus(even, odd));
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
                             log_plus_all,
                             exp_all,
                             small_product,
                             small_cholesky,
                             small_solve,
                             small_forms,
                             small_shifted,
                             small_invert,
                             round_down,
                             strips_slope,
                             accelerated_step,
                             small_eigen,
                             tridiagonal,
                             reflect,
                             shifts_weigh,
                             shifts_inverse,
                             shifts_average,
                             rows_turn,
                             shifts_table,
                             rows_left_out,
                             eight_predict,
                             eight_look,
                             eight_direction};
