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
    lanes sum = {0};
    memset(u, 0, start * sizeof *u);
    for (size_t c = start; c < stride; c += LANES) {
        lanes taken = times(v[k], load(w + c));
        add_times(&taken, w[k], load(v + c));
        lanes row = minus(load(u + c), taken);
        if (c == start) {
            store(u + c, row);
            *diagonal = u[k];
            row = keep_last(LANES - 1 - (k - start), row);
        }
        store(u + c, row);
        add_product(&sum, row, row);
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
    lanes sum = {0};
    memset(p, 0, start * sizeof *p);
    store(p + start, keep_last(LANES - (k + 1 - start), load(p + start)));
    for (size_t c = start; c < stride; c += LANES)
        add_product(&sum, load(u + c), load(p + c));
    const double half = 0.5 * factor * fold(sum);
    for (size_t c = start; c < stride; c += PIECE)
        store_piece(p + c, factor * (load_piece(p + c) - half * load_piece(u + c)));
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
    lanes with_u = {0}, with_v = {0}, across = {0};
    for (size_t c = start; c < stride; c += LANES) {
        const lanes at = load(x + c), one = load(u + c), two = load(v + c);
        add_product(&with_u, one, at);
        add_product(&with_v, two, at);
        add_product(&across, one, two);
    }
    const double first = by_u * fold(with_u);
    const double second = by_v * (fold(with_v) - first * fold(across));
    for (size_t c = start; c < stride; c += PIECE)
        store_piece(x + c, (load_piece(x + c) - first * load_piece(u + c)) -
                               second * load_piece(v + c));
}

static inline void reflect_one(size_t start, size_t stride, const double *v, double by,
                               double *x) {
    lanes sum = {0};
    for (size_t c = start; c < stride; c += LANES)
        add_product(&sum, load(v + c), load(x + c));
    const double a = by * fold(sum);
    for (size_t c = start; c < stride; c += PIECE)
        store_piece(x + c, load_piece(x + c) - a * load_piece(v + c));
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

/* `count` registers of shifts of T + shift I = L diag(pivot) L', and one right side c (n) or
 * BB_TRIDIAGONAL_SIDES of them, columns of c (n x LANES): log_det <- sum ln(pivot / shift);
 * form, `stride` numbers each, <- c_s' (T + shift I)^-1 c_s of every side, then those of
 * the third and the fourth with the first and the second. T is positive semidefinite: no
 * pivot is below the shift but by rounding. */
__attribute__((always_inline)) static inline void
weigh_some(size_t count, size_t sides, size_t stride, size_t n, const double *diagonal,
           const double *beside, const double *c, const double *shift, double *log_det,
           double *form) {
    const size_t across = sides == 1 ? 1 : LANES, forms = sides == 1 ? 1 : FORMS;
    piece least[2], scale[2], inverse[2] = {0}, product[2];
    piece z[SIDES][2] = {0}, sum[FORMS][2] = {0};
    bits exponent[2] = {0};
    for (size_t q = 0; q < count; q++) {
        least[q] = load_piece(shift + q * PIECE);
        scale[q] = spread(1) / least[q];
        product[q] = spread(1);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t q = 0; q < count; q++) {
            const piece b = spread(i ? beside[i - 1] : 0), l = b * inverse[q];
            const piece pivot = (spread(diagonal[i]) + least[q]) - l * b;
            const piece kept = at_least(pivot, least[q]);
            inverse[q] = spread(1) / kept;
            for (size_t s = 0; s < sides; s++) {
                z[s][q] = spread(c[i * across + s]) - l * z[s][q];
                const piece over = z[s][q] * inverse[q];
                sum[s][q] += z[s][q] * over;
                if (s < 2) continue;
                sum[2 * s][q] += z[0][q] * over;
                sum[2 * s + 1][q] += z[1][q] * over;
            }
            product[q] = split(product[q] * (kept * scale[q]), &exponent[q]);
        }
    for (size_t q = 0; q < count; q++) {
        for (size_t f = 0; f < forms; f++)
            store_piece(form + f * stride + q * PIECE, sum[f][q]);
        store_piece(log_det + q * PIECE, log_of(product[q], exponent[q]));
    }
}

static void shifts_weigh(size_t groups, size_t sides, size_t n, const double *diagonal,
                         const double *beside, const double *c, const double *shift,
                         double *log_det, double *form) {
    const size_t stride = groups * LANES;
    for (size_t l = 0; l < stride; l += 2 * PIECE) {
        const bool both = stride - l > PIECE;
#define WEIGH(count, sides)                                                            \
    weigh_some(count, sides, stride, n, diagonal, beside, c, shift + l, log_det + l,   \
               form + l)
        if (both && sides == 1)
            WEIGH(2, 1);
        else if (sides == 1)
            WEIGH(1, 1);
        else if (both)
            WEIGH(2, SIDES);
        else
            WEIGH(1, SIDES);
#undef WEIGH
    }
}

/* The same shifts, one right side: explained <- c' (T + shift I)^-1 c, square <- ||(T + shift
 * I)^-1 c||^2, trace <- that of (T + shift I)^-1, the slope of ln det(T + shift I). work: 2
 * count PIECE n. */
__attribute__((always_inline)) static inline void
inverse_some(size_t count, size_t n, const double *diagonal, const double *beside,
             const double *c, const double *shift, double *explained, double *square,
             double *trace, double *work) {
    piece least[2], inverse[2] = {0}, z[2] = {0}, slope[2] = {0}, x[2] = {0};
    piece of_c[2] = {0}, of_x[2] = {0}, of_one[2] = {0};
    double *solved = work, *next = work + count * PIECE * n;
    for (size_t q = 0; q < count; q++) least[q] = load_piece(shift + q * PIECE);
    for (size_t i = 0; i < n; i++)
        for (size_t q = 0; q < count; q++) {
            const size_t at = (count * i + q) * PIECE;
            const piece b = spread(i ? beside[i - 1] : 0), l = b * inverse[q];
            const piece pivot = (spread(diagonal[i]) + least[q]) - l * b;
            inverse[q] = spread(1) / at_least(pivot, least[q]);
            slope[q] = spread(1) + l * l * slope[q];
            z[q] = spread(c[i]) - l * z[q];
            const piece over = z[q] * inverse[q];
            of_one[q] += slope[q] * inverse[q];
            of_c[q] += z[q] * over;
            store_piece(solved + at, over);
            store_piece(next + at, spread(beside[i]) * inverse[q]);
        }
    for (size_t i = n; i-- > 0;)
        for (size_t q = 0; q < count; q++) {
            const size_t at = (count * i + q) * PIECE;
            x[q] = load_piece(solved + at) - load_piece(next + at) * x[q];
            of_x[q] += x[q] * x[q];
        }
    for (size_t q = 0; q < count; q++) {
        store_piece(explained + q * PIECE, of_c[q]);
        store_piece(square + q * PIECE, of_x[q]);
        store_piece(trace + q * PIECE, of_one[q]);
    }
}

static void shifts_inverse(size_t groups, size_t n, const double *diagonal,
                           const double *beside, const double *c, const double *shift,
                           double *explained, double *square, double *trace,
                           double *work) {
    const size_t stride = groups * LANES;
    for (size_t l = 0; l < stride; l += 2 * PIECE)
        if (stride - l > PIECE)
            inverse_some(2, n, diagonal, beside, c, shift + l, explained + l,
                         square + l, trace + l, work);
        else
            inverse_some(1, n, diagonal, beside, c, shift + l, explained + l,
                         square + l, trace + l, work);
}

/* The same shifts and sides: out <- out + sum of (T + shift I)^-1 times the sides' sum by
 * share (sides x groups LANES). work: 4 LANES n. */
__attribute__((always_inline)) static inline void
average_groups(size_t groups, size_t sides, size_t n, const double *diagonal,
               const double *beside, const double *c, const double *shift,
               const double *share, double *out, double *work) {
    const size_t across = sides == 1 ? 1 : LANES, count = groups * PIECES;
    piece least[2 * PIECES], part[SIDES][2 * PIECES], inverse[2 * PIECES] = {0};
    piece z[2 * PIECES] = {0}, x[2 * PIECES] = {0};
    double *solved = work, *next = work + 2 * n * LANES;
    for (size_t q = 0; q < count; q++) {
        least[q] = load_piece(shift + q * PIECE);
        for (size_t s = 0; s < sides; s++)
            part[s][q] = load_piece(share + (s * count + q) * PIECE);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t q = 0; q < count; q++) {
            const size_t at = 2 * i * LANES + q * PIECE;
            const piece b = spread(i ? beside[i - 1] : 0), l = b * inverse[q];
            const piece pivot = (spread(diagonal[i]) + least[q]) - l * b;
            piece right = c[i * across] * part[0][q];
            inverse[q] = spread(1) / at_least(pivot, least[q]);
            for (size_t s = 1; s < sides; s++) right += c[i * across + s] * part[s][q];
            z[q] = right - l * z[q];
            store_piece(solved + at, z[q] * inverse[q]);
            store_piece(next + at, spread(beside[i]) * inverse[q]);
        }
    for (size_t i = n; i-- > 0;) {
        lanes sum = {0};
        for (size_t q = 0; q < count; q++) {
            const size_t at = 2 * i * LANES + q * PIECE;
            x[q] = load_piece(solved + at) - load_piece(next + at) * x[q];
            sum.at[q % PIECES] += x[q];
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
