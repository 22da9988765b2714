/* kernel_tridiagonal.h - the part of the kernels' text that tridiagonal.c calls. Rows of
 * matrices are `stride` long, a multiple of LANES. */
#include "linalg/kernel_lanes.h"

/* A (rows x stride; `width` pieces of its columns) <- A - v w' - w v'; out <- u'A. v, w
 * and u are of the rows, across_v and across_w of the columns. */
static inline void update_columns(size_t width, size_t rows, size_t stride,
                                  double *restrict A, const double *restrict v,
                                  const double *restrict w, const double *restrict u,
                                  const double *across_v, const double *across_w,
                                  double *restrict out) {
    piece sum[4] = {0}, by_v[4], by_w[4];
    for (size_t b = 0; b < width; b++) {
        by_v[b] = load_piece(across_v + b * PIECE);
        by_w[b] = load_piece(across_w + b * PIECE);
    }
    for (size_t j = 0; j < rows; j++)
        for (size_t b = 0; b < width; b++) {
            double *at = A + j * stride + b * PIECE;
            const piece a = load_piece(at) - (v[j] * by_w[b] + w[j] * by_v[b]);
            store_piece(at, a);
            sum[b] += u[j] * a;
        }
    for (size_t b = 0; b < width; b++) store_piece(out + b * PIECE, sum[b]);
}

/* Row x, zero before `from` and behind its end, becomes v, (I - factor v v') x = beside
 * e_from; returns the factor, 0 where x is as good as zero beside entries near one. */
static double reflector(size_t from, size_t stride, double *x, double *beside) {
    const size_t start = from / LANES * LANES;
    lanes sum = spread(0);
    for (size_t k = start; k < stride; k += LANES) sum += load(x + k) * load(x + k);
    const double square = fold(sum), first = x[from];
    *beside = first;
    if (!(square > 1e-200)) return 0;
    const double norm = sqrt(square);
    *beside = first > 0 ? -norm : norm;
    x[from] = first - *beside;
    return 1 / (norm * (norm + fabs(first)));
}

/* What is left of A beyond row k becomes that of the next step; work: p, w of this one
 * and u, its row. */
static void update_rest(size_t n, size_t stride, size_t k, double *A, const double *v,
                        const double *w, const double *u, double *p) {
    const size_t rows = n - k - 1;
    double *rest = A + (k + 1) * stride;
    for (size_t c = (k + 1) / PIECE * PIECE, left; c < stride; c += 4 * PIECE) {
        left = (stride - c) / PIECE;
#define UPDATE(width)                                                                  \
    update_columns(width, rows, stride, rest + c, v + k + 1, w + k + 1, u + k + 1,     \
                   v + c, w + c, p + c)
        if (left >= 4)
            UPDATE(4);
        else if (left == 3)
            UPDATE(3);
        else if (left == 2)
            UPDATE(2);
        else
            UPDATE(1);
#undef UPDATE
    }
}

/* A (n x stride, symmetric, zeros behind column n) = Q T Q': row k of A becomes v_k, Q =
 * H_0 H_1 .. with H_k = I - factor_k v_k v_k'; the update of one step and the product of
 * the next are one pass over A. work: 2 stride. */
static void tridiagonal(size_t n, size_t stride, double *A, double *factor,
                        double *diagonal, double *beside, double *work) {
    double *w = work, *p = work + stride;
    memset(work, 0, 2 * stride * sizeof *work);
    const double *v = w;
    for (size_t k = 0; k < n; k++) {
        double *u = A + k * stride, product = 0;
        const size_t start = k / LANES * LANES;
        const lanes vk = spread(v[k]), wk = spread(w[k]);
        for (size_t c = start; c < stride; c += LANES)
            store(u + c, load(u + c) - (vk * load(w + c) + wk * load(v + c)));
        diagonal[k] = u[k];
        memset(u, 0, (k + 1) * sizeof *u);
        factor[k] = beside[k] = 0;
        if (k + 1 == n) return;
        if (k + 2 < n)
            factor[k] = reflector(k + 1, stride, u, &beside[k]);
        else
            beside[k] = u[k + 1];
        update_rest(n, stride, k, A, v, w, u, p);
        memset(p, 0, (k + 1) * sizeof *p);
        for (size_t j = k + 1; j < n; j++) product += u[j] * p[j];
        const double half = 0.5 * factor[k] * product;
        for (size_t c = (k + 1) / LANES * LANES; c < stride; c += LANES)
            store(p + c,
                  spread(factor[k]) * (load(p + c) - spread(half) * load(u + c)));
        double *swap = w;
        w = p;
        p = swap;
        v = u;
    }
}

/* x (stride, zeros behind n) <- Q'x, or Q x. */
static void reflect(bool back, size_t n, size_t stride, const double *V,
                    const double *factor, double *x) {
    for (size_t step = 0; step + 2 < n; step++) {
        const size_t k = back ? n - 3 - step : step;
        const double *v = V + k * stride;
        const size_t start = (k + 1) / LANES * LANES;
        lanes sum = spread(0);
        for (size_t c = start; c < stride; c += LANES) sum += load(v + c) * load(x + c);
        const lanes a = spread(factor[k] * fold(sum));
        for (size_t c = start; c < stride; c += LANES)
            store(x + c, load(x + c) - a * load(v + c));
    }
}

/* The mantissas of positive x go on; their exponents are added to *exponent. */
static inline lanes split(lanes x, bits *exponent) {
    const bits raw = (bits)x;
    *exponent += (raw >> 52) - 1023;
    return (lanes)((raw & 0xfffffffffffff) | 0x3ff0000000000000);
}

/* Eight shifts of T + shift I = L diag(pivot) L': log_det <- sum ln(pivot / shift),
 * explained <- c' (T + shift I)^-1 c. T is positive semidefinite: no pivot is below the
 * shift but by rounding. */
static void shifts_weigh(size_t n, const double *diagonal, const double *beside,
                         const double *c, const double *shift, double *log_det,
                         double *explained) {
    const lanes least = load(shift), scale = spread(1) / least;
    lanes inverse = spread(0), z = spread(0), sum = spread(0), product = spread(1);
    bits exponent = {0};
    for (size_t i = 0; i < n; i++) {
        const lanes b = spread(i ? beside[i - 1] : 0), l = b * inverse;
        const lanes pivot = (spread(diagonal[i]) + least) - l * b;
        const lanes kept = choose(pivot > least, pivot, least);
        inverse = spread(1) / kept;
        z = spread(c[i]) - l * z;
        sum += z * z * inverse;
        product = split(product * (kept * scale), &exponent);
    }
    store(explained, sum);
    store(log_det,
          log_one_plus(product - spread(1)) +
              __builtin_convertvector(exponent, lanes) * spread(0x1.62e42fefa39efp-1));
}

/* Eight shifts: out <- out + sum of share (T + shift I)^-1 c. work: 2 LANES n. */
static void shifts_average(size_t n, const double *diagonal, const double *beside,
                           const double *c, const double *shift, const double *share,
                           double *out, double *work) {
    const lanes least = load(shift), part = load(share);
    lanes inverse = spread(0), z = spread(0), x = spread(0);
    double *solved = work, *next = work + n * LANES;
    for (size_t i = 0; i < n; i++) {
        const lanes b = spread(i ? beside[i - 1] : 0), l = b * inverse;
        const lanes pivot = (spread(diagonal[i]) + least) - l * b;
        inverse = spread(1) / choose(pivot > least, pivot, least);
        z = spread(c[i]) - l * z;
        store(solved + i * LANES, z * inverse);
        store(next + i * LANES, spread(beside[i]) * inverse);
    }
    for (size_t i = n; i-- > 0;) {
        x = load(solved + i * LANES) - load(next + i * LANES) * x;
        out[i] += fold(part * x);
    }
}
