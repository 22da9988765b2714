/* kernel_rows.h - the part of the kernels' text for rows under a tridiagonal form, up to four
 * times LANES of them at once, a row each lane: X is n x (width LANES). */
#include "linalg/kernel_lanes.h"

/* X <- Q'X. */
__attribute__((always_inline)) static inline void
turn_width(size_t width, size_t n, size_t stride, const double *V, const double *factor,
           double *restrict X) {
    for (size_t k = 0; k + 2 < n; k++) {
        const double *v = V + k * stride;
        lanes sum[4] = {0};
        for (size_t i = k + 1; i < n; i++)
            for (size_t b = 0; b < width; b++)
                sum[b] += v[i] * load(X + (i * width + b) * LANES);
        for (size_t b = 0; b < width; b++) sum[b] *= factor[k];
        for (size_t i = k + 1; i < n; i++)
            for (size_t b = 0; b < width; b++) {
                double *at = X + (i * width + b) * LANES;
                store(at, load(at) - v[i] * sum[b]);
            }
    }
}

static void rows_turn(size_t width, size_t n, size_t stride, const double *V,
                      const double *factor, double *X) {
    if (width == 1)
        turn_width(1, n, stride, V, factor, X);
    else if (width == 2)
        turn_width(2, n, stride, V, factor, X);
    else if (width == 3)
        turn_width(3, n, stride, V, factor, X);
    else
        turn_width(4, n, stride, V, factor, X);
}

/* For eight shifts the factors of T + shift I = L diag(pivot) L': table (n x 3 LANES) <- L's
 * entry below the diagonal before, one over the pivot, and that times L^-1 c. */
static void shifts_table(size_t n, const double *diagonal, const double *beside,
                         const double *c, const double *shift, double *table) {
    const lanes least = load(shift);
    lanes inverse = {0}, z = {0};
    for (size_t i = 0; i < n; i++) {
        const lanes b = spread(i ? beside[i - 1] : 0), l = b * inverse;
        const lanes pivot = (spread(diagonal[i]) + least) - l * b;
        inverse = spread(1) / choose(pivot > least, pivot, least);
        z = spread(c[i]) - l * z;
        store(table + 3 * i * LANES, l);
        store(table + (3 * i + 1) * LANES, inverse);
        store(table + (3 * i + 2) * LANES, z * inverse);
    }
}

/* The sum of squares of (y - x'(T + shift I)^-1 c) / max(whole - weight x'(T + shift I)^-1
 * x, least) over the rows; table: from the shift's lane on. */
__attribute__((always_inline)) static inline double
left_out_width(size_t width, size_t n, const double *restrict table,
               const double *restrict X, const double *restrict y, double whole,
               double weight, double least) {
    lanes z[4] = {0}, with_c[4] = {0}, own[4] = {0}, sum = {0};
    for (size_t i = 0; i < n; i++) {
        const double *at = table + 3 * i * LANES;
        const lanes l = spread(at[0]), inverse = spread(at[LANES]);
        const lanes c = spread(at[2 * LANES]);
        for (size_t b = 0; b < width; b++) {
            z[b] = load(X + (i * width + b) * LANES) - l * z[b];
            with_c[b] += z[b] * c;
            own[b] += (z[b] * z[b]) * inverse;
        }
    }
    for (size_t b = 0; b < width; b++) {
        const lanes rest = spread(whole) - spread(weight) * own[b];
        const lanes e = (load(y + b * LANES) - with_c[b]) /
                        choose(rest > spread(least), rest, spread(least));
        sum += e * e;
    }
    return fold(sum);
}

static double rows_left_out(size_t width, size_t n, const double *table,
                            const double *X, const double *y, double whole,
                            double weight, double least) {
    if (width == 1) return left_out_width(1, n, table, X, y, whole, weight, least);
    if (width == 2) return left_out_width(2, n, table, X, y, whole, weight, least);
    if (width == 3) return left_out_width(3, n, table, X, y, whole, weight, least);
    return left_out_width(4, n, table, X, y, whole, weight, least);
}
