/* kernel_tridiagonal.h - the part of the kernels' text that tridiagonal.c calls. Rows of
 * matrices are `stride` long, a multiple of LANES. */
#include "linalg/kernel_lanes.h"
#include "linalg/tridiagonal.h"

enum { SIDES = BB_TRIDIAGONAL_SIDES, FORMS = BB_TRIDIAGONAL_FORMS };

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

/* Row k of A becomes that of this step: less what v and w take off; zero up to column k, of
 * which the entry goes to *diagonal. Returns the sum of its squares. */
static inline double next_row(size_t stride, size_t k, const double *v, const double *w,
                              double *restrict u, double *diagonal) {
    const size_t start = k / LANES * LANES;
    const lanes by_v = spread(v[k]), by_w = spread(w[k]);
    lanes row = load(u + start) - (by_v * load(w + start) + by_w * load(v + start));
    for (size_t c = 0; c < start; c += LANES) store(u + c, spread(0));
    store(u + start, row);
    *diagonal = u[k];
    row = (lanes)((bits)row & load_mask(LANES - 1 - (k - start)));
    store(u + start, row);
    lanes sum = row * row;
    for (size_t c = start + LANES; c < stride; c += LANES) {
        row = load(u + c) - (by_v * load(w + c) + by_w * load(v + c));
        store(u + c, row);
        sum += row * row;
    }
    return fold(sum);
}

/* Row x, zero before `from`, its squares' sum `square', becomes v, (I - factor v v') x =
 * beside e_from; returns the factor, 0 where x is as good as zero beside entries near
 * one. */
static inline double reflector(double square, size_t from, double *x, double *beside) {
    const double first = x[from];
    *beside = first;
    if (!(square > 1e-200)) return 0;
    const double norm = sqrt(square);
    *beside = first > 0 ? -norm : norm;
    x[from] = first - *beside;
    return 1 / (norm * (norm + fabs(first)));
}

/* p, of which what is before column k + 1 is nothing, <- factor (p - factor / 2 u'p u). */
static inline void next_product(size_t stride, size_t k, double factor, const double *u,
                                double *restrict p) {
    const size_t start = (k + 1) / LANES * LANES;
    const bits mask = load_mask(LANES - (k + 1 - start));
    lanes sum = spread(0);
    for (size_t c = 0; c < start; c += LANES) store(p + c, spread(0));
    store(p + start, (lanes)((bits)load(p + start) & mask));
    for (size_t c = start; c < stride; c += LANES) sum += load(u + c) * load(p + c);
    const double half = 0.5 * factor * fold(sum);
    for (size_t c = start; c < stride; c += LANES)
        store(p + c, factor * (load(p + c) - half * load(u + c)));
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
        double *u = A + k * stride;
        const double square = next_row(stride, k, v, w, u, &diagonal[k]);
        factor[k] = beside[k] = 0;
        if (k + 1 == n) return;
        if (k + 2 < n)
            factor[k] = reflector(square, k + 1, u, &beside[k]);
        else
            beside[k] = u[k + 1];
        update_rest(n, stride, k, A, v, w, u, p);
        next_product(stride, k, factor[k], u, p);
        double *swap = w;
        w = p;
        p = swap;
        v = u;
    }
}

/* x <- (I - a u u' .. ) of two reflections, u first: the product with v follows from that
 * before u, so that one fold need not wait for the other. */
static inline void reflect_two(size_t start, size_t stride, const double *u,
                               double by_u, const double *v, double by_v, double *x) {
    lanes with_u = spread(0), with_v = spread(0), across = spread(0);
    for (size_t c = start; c < stride; c += LANES) {
        const lanes at = load(x + c), one = load(u + c), two = load(v + c);
        with_u += one * at;
        with_v += two * at;
        across += one * two;
    }
    const double first = by_u * fold(with_u);
    const double second = by_v * (fold(with_v) - first * fold(across));
    for (size_t c = start; c < stride; c += LANES)
        store(x + c, (load(x + c) - first * load(u + c)) - second * load(v + c));
}

static inline void reflect_one(size_t start, size_t stride, const double *v, double by,
                               double *x) {
    lanes sum = spread(0);
    for (size_t c = start; c < stride; c += LANES) sum += load(v + c) * load(x + c);
    const lanes a = spread(by * fold(sum));
    for (size_t c = start; c < stride; c += LANES)
        store(x + c, load(x + c) - a * load(v + c));
}

/* x (stride, zeros behind n) <- Q'x, or Q x. */
static void reflect(bool back, size_t n, size_t stride, const double *V,
                    const double *factor, double *x) {
    const size_t steps = n > 2 ? n - 2 : 0;
    size_t step = 0;
    for (; step + 2 <= steps; step += 2) {
        const size_t k = back ? steps - 1 - step : step, next = back ? k - 1 : k + 1;
        const size_t start = ((back ? next : k) + 1) / LANES * LANES;
        reflect_two(start, stride, V + k * stride, factor[k], V + next * stride,
                    factor[next], x);
    }
    for (; step < steps; step++) {
        const size_t k = back ? steps - 1 - step : step;
        reflect_one((k + 1) / LANES * LANES, stride, V + k * stride, factor[k], x);
    }
}

/* The mantissas of positive x go on; their exponents are added to *exponent. */
static inline lanes split(lanes x, bits *exponent) {
    const bits raw = (bits)x;
    *exponent += (raw >> 52) - 1023;
    return (lanes)((raw & 0xfffffffffffff) | 0x3ff0000000000000);
}

/* `groups` times eight shifts of T + shift I = L diag(pivot) L', and one right side c (n) or
 * BB_TRIDIAGONAL_SIDES of them, columns of c (n x LANES): log_det <- sum ln(pivot / shift);
 * form, groups LANES numbers each, <- c_s' (T + shift I)^-1 c_s of every side, then those of
 * the third and the fourth with the first and the second. T is positive semidefinite: no
 * pivot is below the shift but by rounding. */
__attribute__((always_inline)) static inline void
weigh_groups(size_t groups, size_t sides, size_t n, const double *diagonal,
             const double *beside, const double *c, const double *shift,
             double *log_det, double *form) {
    const size_t across = sides == 1 ? 1 : LANES, forms = sides == 1 ? 1 : FORMS;
    lanes least[2], scale[2], inverse[2] = {0}, product[2];
    lanes z[SIDES][2] = {0}, sum[FORMS][2] = {0};
    bits exponent[2] = {0};
    for (size_t g = 0; g < groups; g++) {
        least[g] = load(shift + g * LANES);
        scale[g] = spread(1) / least[g];
        product[g] = spread(1);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t g = 0; g < groups; g++) {
            const lanes b = spread(i ? beside[i - 1] : 0), l = b * inverse[g];
            const lanes pivot = (spread(diagonal[i]) + least[g]) - l * b;
            const lanes kept = choose(pivot > least[g], pivot, least[g]);
            inverse[g] = spread(1) / kept;
            for (size_t s = 0; s < sides; s++) {
                z[s][g] = spread(c[i * across + s]) - l * z[s][g];
                const lanes over = z[s][g] * inverse[g];
                sum[s][g] += z[s][g] * over;
                if (s < 2) continue;
                sum[2 * s][g] += z[0][g] * over;
                sum[2 * s + 1][g] += z[1][g] * over;
            }
            product[g] = split(product[g] * (kept * scale[g]), &exponent[g]);
        }
    for (size_t g = 0; g < groups; g++) {
        const lanes powers = __builtin_convertvector(exponent[g], lanes);
        for (size_t f = 0; f < forms; f++)
            store(form + (f * groups + g) * LANES, sum[f][g]);
        store(log_det + g * LANES, log_one_plus(product[g] - spread(1)) +
                                       powers * spread(0x1.62e42fefa39efp-1));
    }
}

static void shifts_weigh(size_t groups, size_t sides, size_t n, const double *diagonal,
                         const double *beside, const double *c, const double *shift,
                         double *log_det, double *form) {
    if (groups == 2 && sides == 1)
        weigh_groups(2, 1, n, diagonal, beside, c, shift, log_det, form);
    else if (sides == 1)
        weigh_groups(1, 1, n, diagonal, beside, c, shift, log_det, form);
    else if (groups == 2)
        weigh_groups(2, SIDES, n, diagonal, beside, c, shift, log_det, form);
    else
        weigh_groups(1, SIDES, n, diagonal, beside, c, shift, log_det, form);
}

/* The same shifts and sides: out <- out + sum of (T + shift I)^-1 times the sides' sum by
 * share (sides x groups LANES). work: 4 LANES n. */
__attribute__((always_inline)) static inline void
average_groups(size_t groups, size_t sides, size_t n, const double *diagonal,
               const double *beside, const double *c, const double *shift,
               const double *share, double *out, double *work) {
    const size_t across = sides == 1 ? 1 : LANES;
    lanes least[2], part[SIDES][2], inverse[2] = {0}, z[2] = {0}, x[2] = {0};
    double *solved = work, *next = work + 2 * n * LANES;
    for (size_t g = 0; g < groups; g++) {
        least[g] = load(shift + g * LANES);
        for (size_t s = 0; s < sides; s++)
            part[s][g] = load(share + (s * groups + g) * LANES);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t g = 0; g < groups; g++) {
            const lanes b = spread(i ? beside[i - 1] : 0), l = b * inverse[g];
            const lanes pivot = (spread(diagonal[i]) + least[g]) - l * b;
            lanes right = c[i * across] * part[0][g];
            inverse[g] = spread(1) / choose(pivot > least[g], pivot, least[g]);
            for (size_t s = 1; s < sides; s++) right += c[i * across + s] * part[s][g];
            z[g] = right - l * z[g];
            store(solved + (2 * i + g) * LANES, z[g] * inverse[g]);
            store(next + (2 * i + g) * LANES, spread(beside[i]) * inverse[g]);
        }
    for (size_t i = n; i-- > 0;) {
        lanes sum = spread(0);
        for (size_t g = 0; g < groups; g++) {
            const size_t at = (2 * i + g) * LANES;
            x[g] = load(solved + at) - load(next + at) * x[g];
            sum += x[g];
        }
        out[i] += fold(sum);
    }
}

static void shifts_average(size_t groups, size_t sides, size_t n,
                           const double *diagonal, const double *beside,
                           const double *c, const double *shift, const double *share,
                           double *out, double *work) {
    if (groups == 2 && sides == 1)
        average_groups(2, 1, n, diagonal, beside, c, shift, share, out, work);
    else if (sides == 1)
        average_groups(1, 1, n, diagonal, beside, c, shift, share, out, work);
    else if (groups == 2)
        average_groups(2, SIDES, n, diagonal, beside, c, shift, share, out, work);
    else
        average_groups(1, SIDES, n, diagonal, beside, c, shift, share, out, work);
}
