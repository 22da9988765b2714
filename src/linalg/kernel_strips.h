/* kernel_strips.h - the part of the kernels' text for symmetric matrices in strips
 * (linalg.h), of which every number is read once: its row takes it times its column's x, and
 * its column, unless that is among the strip's own, times its row's. */
#include "linalg/kernel_lanes.h"

#define SHUFFLE __builtin_shufflevector

/* The first step of folding two vectors, in the halves of one; the last two of eight, of
 * which `half` has the pairs q and q + 4: lane q is what fold makes of the vector q. */
#if BB_KERNEL_BYTES == 64
static inline lanes fold_pair(lanes v, lanes w) {
    return (lanes){{SHUFFLE(v.at[0], w.at[0], 0, 1, 2, 3, 8, 9, 10, 11) +
                    SHUFFLE(v.at[0], w.at[0], 4, 5, 6, 7, 12, 13, 14, 15)}};
}

static inline lanes fold_eight(const lanes *half) {
    piece quarter[2];
    for (size_t q = 0; q < 2; q++) {
        const piece v = half[q].at[0], w = half[q + 2].at[0];
        quarter[q] = SHUFFLE(v, w, 0, 1, 8, 9, 4, 5, 12, 13) +
                     SHUFFLE(v, w, 2, 3, 10, 11, 6, 7, 14, 15);
    }
    return (lanes){{SHUFFLE(quarter[0], quarter[1], 0, 8, 2, 10, 4, 12, 6, 14) +
                    SHUFFLE(quarter[0], quarter[1], 1, 9, 3, 11, 5, 13, 7, 15)}};
}
#else
static inline lanes fold_pair(lanes v, lanes w) {
    const size_t h = PIECES / 2;
    lanes out;
    for (size_t p = 0; p < h; p++) {
        out.at[p] = v.at[p] + v.at[p + h];
        out.at[p + h] = w.at[p] + w.at[p + h];
    }
    return out;
}

#if BB_KERNEL_BYTES == 32
static inline lanes fold_eight(const lanes *half) {
    lanes quarter[2], out;
    for (size_t q = 0; q < 2; q++)
        for (size_t p = 0; p < 2; p++) {
            const piece v = half[q].at[p], w = half[q + 2].at[p];
            quarter[q].at[p] = SHUFFLE(v, w, 0, 1, 4, 5) + SHUFFLE(v, w, 2, 3, 6, 7);
        }
    for (size_t p = 0; p < 2; p++) {
        const piece v = quarter[0].at[p], w = quarter[1].at[p];
        out.at[p] = SHUFFLE(v, w, 0, 4, 2, 6) + SHUFFLE(v, w, 1, 5, 3, 7);
    }
    return out;
}
#else
static inline lanes fold_eight(const lanes *half) {
    lanes quarter[2], out;
    for (size_t q = 0; q < 2; q++)
        for (size_t p = 0; p < 4; p += 2) {
            quarter[q].at[p] = half[q].at[p] + half[q].at[p + 1];
            quarter[q].at[p + 1] = half[q + 2].at[p] + half[q + 2].at[p + 1];
        }
    for (size_t p = 0; p < 4; p++) {
        const piece v = quarter[0].at[p], w = quarter[1].at[p];
        out.at[p] = SHUFFLE(v, w, 0, 2) + SHUFFLE(v, w, 1, 3);
    }
    return out;
}
#endif
#endif

/* -- up to four blocks of eight columns, the last of which are the last eight columns:
 * x has zeros where they are those of the block before, too, and y nothing of use -- */

/* down += what a row is times its x; returns what its own entry gains. */
__attribute__((always_inline)) static inline lanes
row_narrow(size_t width, size_t b, const double *restrict row, size_t last, double own,
           const lanes *restrict wide_x, lanes *restrict down) {
    const lanes end = load(row + last);
    lanes across = product(end, wide_x[width - 1]);
    add_times(&down[b], own, load(row));
    add_times(&down[width - 1], own, end);
    for (size_t e = b + 1; e + 1 < width; e++) {
        const lanes a = load(row + (e - b) * LANES);
        add_product(&across, a, wide_x[e]);
        add_times(&down[e], own, a);
    }
    return across;
}

/* y += what strip b is of S x; returns the next strip. Half of the rows have sums of their
 * own, so that one addition need not wait for the one before. */
__attribute__((always_inline)) static inline const double *
strip_narrow(size_t width, size_t b, size_t d, const double *restrict strip,
             const double *restrict x, const lanes *restrict wide_x,
             lanes *restrict y) {
    const size_t stride = d - b * LANES, last = stride - LANES, pairs = LANES / 2;
    lanes more[4] = {0}, half[4];
    x += b * LANES;
#pragma GCC unroll 1
    for (size_t q = 0; q < pairs; q++) {
        const double *row = strip + q * stride, *other = row + pairs * stride;
        const lanes v = row_narrow(width, b, row, last, x[q], wide_x, y);
        half[q] =
            fold_pair(v, row_narrow(width, b, other, last, x[q + pairs], wide_x, more));
    }
    for (size_t e = b; e < width; e++) y[e] = plus(y[e], more[e]);
    y[b] = plus(y[b], fold_eight(half));
    return strip + LANES * stride;
}

/* y <- S x, for (width - 1) LANES < d <= width LANES; x as numbers and as blocks. */
__attribute__((always_inline)) static inline void
strips_narrow(size_t width, size_t d, const double *restrict S,
              const double *restrict x, lanes *restrict wide_x, lanes *restrict y) {
    const size_t rest = d - (width - 1) * LANES;
    lanes odd = {0};
    for (size_t b = 0; b < width; b++) y[b] = odd;
    wide_x[width - 1] = keep_last(rest, wide_x[width - 1]);
    if (width > 1) S = strip_narrow(width, 0, d, S, x, wide_x, y);
    if (width > 2) S = strip_narrow(width, 1, d, S, x, wide_x, y);
    if (width > 3) S = strip_narrow(width, 2, d, S, x, wide_x, y);
    x += (width - 1) * LANES;
    S += rest - LANES; /* where the last eight columns would begin */
    for (size_t q = 0; q < rest; q++)
        if (q % 2)
            add_times(&odd, x[q], load(S + q * rest));
        else
            add_times(&y[width - 1], x[q], load(S + q * rest));
    y[width - 1] = plus(y[width - 1], odd);
}

/* The last ones first: what is of no use in them is written over. */
static inline void store_narrow(size_t width, size_t d, const lanes *value,
                                double *restrict out) {
    store(out + d - LANES, value[width - 1]);
    for (size_t b = 0; b + 1 < width; b++) store(out + b * LANES, value[b]);
}

__attribute__((always_inline)) static inline void
slope_narrow(size_t width, size_t d, const double *restrict S, const double *restrict x,
             const double *restrict c, double *restrict y) {
    lanes wide_x[4], value[4];
    for (size_t b = 0; b < width; b++)
        wide_x[b] = load(x + (b + 1 < width ? b * LANES : d - LANES));
    strips_narrow(width, d, S, x, wide_x, value);
    for (size_t b = 0; b < width; b++)
        value[b] = minus(value[b], load(c + (b + 1 < width ? b * LANES : d - LANES)));
    store_narrow(width, d, value, y);
}

/* -- any d >= LANES -- */

/* y += what a row is, which begins at column `from` with a block of its own strip, times x;
 * tail: of the columns behind `whole`, as lanes. Returns what the row's own entry gains. */
static inline lanes row_wide(size_t from, size_t whole, size_t d,
                             const double *restrict row, double own,
                             const double *restrict x, lanes last_x, double *restrict y,
                             lanes *restrict tail) {
    lanes across = {0};
    for (size_t k = from + LANES; k < whole; k += LANES) {
        const lanes a = load(row + k - from);
        lanes down = load(y + k);
        add_product(&across, a, load(x + k));
        add_times(&down, own, a);
        store(y + k, down);
    }
    if (whole < d) {
        const lanes a = load(row + d - from - LANES);
        add_product(&across, a, last_x);
        add_times(tail, own, a);
    }
    return across;
}

static void slope_wide(size_t d, const double *restrict S, const double *restrict x,
                       const double *restrict c, double *restrict y) {
    const size_t whole = d / LANES * LANES, rest = d - whole;
    const lanes last_x = load_tail(x, d, rest);
    lanes tail = times(-1, load(c + d - LANES)), across[LANES];
    for (size_t k = 0; k < whole; k++) y[k] = -c[k];
    for (size_t from = 0; from < whole; from += LANES) {
        lanes own = load(y + from);
        for (size_t q = 0; q < LANES; q++, S += d - from) {
            const double value = x[from + q];
            add_times(&own, value, load(S));
            across[q] = row_wide(from, whole, d, S, value, x, last_x, y, &tail);
        }
        for (size_t q = 0; q < LANES / 2; q++)
            across[q] = fold_pair(across[q], across[q + LANES / 2]);
        store(y + from, plus(own, fold_eight(across)));
    }
    for (size_t q = 0; q < rest; q++, S += rest)
        add_times(&tail, x[whole + q], load(S + rest - LANES));
    double last[LANES];
    store(last, tail);
    memcpy(y + whole, last + LANES - rest, rest * sizeof *y);
}

/* y <- S x - c */
static void strips_slope(size_t d, const double *restrict S, const double *restrict x,
                         const double *restrict c, double *restrict y) {
    if (d < LANES) {
        for (size_t k = 0; k < d; k++) y[k] = -c[k];
        for (size_t j = 0; j < d; j++)
            for (size_t k = 0; k < d; k++) y[k] += x[j] * S[j * d + k];
    } else if (d == LANES)
        slope_narrow(1, d, S, x, c, y);
    else if (d <= 2 * LANES)
        slope_narrow(2, d, S, x, c, y);
    else if (d <= 3 * LANES)
        slope_narrow(3, d, S, x, c, y);
    else if (d <= 4 * LANES)
        slope_narrow(4, d, S, x, c, y);
    else
        slope_wide(d, S, x, c, y);
}

/* -- a step of accelerated proximal gradients (linalg.h) -- */

/* For fewer features than lanes: all numbers stay in registers. */
__attribute__((always_inline)) static inline void
step_few(size_t d, const double *restrict M, const double *restrict S,
         const double *restrict c, double beta, double step, double ridge,
         double *restrict w, double *restrict previous) {
    double hat[LANES] = {0}, z[LANES], g[LANES] = {0};
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k < d; k++) hat[k] += w[j] * M[j * d + k];
    for (size_t k = 0; k < d; k++) z[k] = hat[k] + beta * (hat[k] - previous[k]);
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k < d; k++) g[k] += z[j] * S[j * d + k];
    for (size_t k = 0; k < d; k++) previous[k] = hat[k];
    for (size_t k = 0; k < d; k++) w[k] = z[k] - step * ((g[k] - c[k]) + ridge * z[k]);
}

/* The same for (width - 1) LANES < d <= width LANES; z: room. */
__attribute__((always_inline)) static inline void
step_narrow(size_t width, size_t d, const double *restrict M, const double *restrict S,
            const double *restrict c, double beta, double step, double ridge,
            double *restrict w, double *restrict previous, double *restrict z) {
    const size_t last = d - LANES;
    lanes hat[4], ahead[4], x[4], slope[4];
    columns_of(width, d, d, last, M, w, hat);
    for (size_t b = 0; b < width; b++) {
        const lanes before = load(previous + (b + 1 < width ? b * LANES : last));
        ahead[b] = hat[b];
        add_times(&ahead[b], beta, minus(hat[b], before));
        x[b] = ahead[b];
    }
    store_columns(width, last, hat, previous);
    store_columns(width, last, ahead, z);
    strips_narrow(width, d, S, z, x, slope);
    for (size_t b = 0; b < width; b++) {
        const lanes to = load(c + (b + 1 < width ? b * LANES : last));
        lanes change = minus(slope[b], to);
        add_times(&change, ridge, ahead[b]);
        slope[b] = minus(ahead[b], times(step, change));
    }
    store_narrow(width, d, slope, w);
}

static void step_wide(size_t d, const double *restrict M, const double *restrict S,
                      const double *restrict c, double beta, double step, double ridge,
                      double *restrict w, double *restrict previous,
                      double *restrict z) {
    double *g = z + d;
    multiply_transposed(d, d, 1, M, w, 0, g);
    for (size_t k = 0; k < d; k++) {
        z[k] = g[k] + beta * (g[k] - previous[k]);
        previous[k] = g[k];
    }
    slope_wide(d, S, z, c, g);
    for (size_t k = 0; k < d; k++) w[k] = z[k] - step * (g[k] + ridge * z[k]);
}

static void accelerated_step(size_t d, const double *M, const double *S,
                             const double *c, double beta, double step, double ridge,
                             double *w, double *previous, double *z) {
#define FEW(n)                                                                         \
    case n:                                                                            \
        step_few(n, M, S, c, beta, step, ridge, w, previous);                          \
        return
    switch (d) {
        FEW(0);
        FEW(1);
        FEW(2);
        FEW(3);
        FEW(4);
        FEW(5);
        FEW(6);
        FEW(7);
    default:
        break;
    }
#undef FEW
#define SOME(width) step_narrow(width, d, M, S, c, beta, step, ridge, w, previous, z)
    if (d == LANES)
        SOME(1);
    else if (d <= 2 * LANES)
        SOME(2);
    else if (d <= 3 * LANES)
        SOME(3);
    else if (d <= 4 * LANES)
        SOME(4);
    else
        step_wide(d, M, S, c, beta, step, ridge, w, previous, z);
#undef SOME
}
