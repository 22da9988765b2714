/* kernel_eight.h - the part of the kernels' text that eight.h stands for. Lanes do not meet,
 * and as many as a register has are worked on after the other. */
#include "linalg/eight.h"
#include "linalg/kernel_lanes.h"

/* Curvatures below it are nothing beside any penalty. */
static const double least_curvature = 1e-100;

/* y <- x sum + K x for `height` rows of K. */
static inline void multiply_some(size_t height, size_t n, const double *restrict K,
                                 piece sum, const double *restrict x,
                                 double *restrict y) {
    piece row[4];
    for (size_t r = 0; r < height; r++) row[r] = sum;
    for (size_t k = 0; k < n; k++) {
        const piece at = load_piece(x + k * LANES);
        for (size_t r = 0; r < height; r++) row[r] += K[r * n + k] * at;
    }
    for (size_t r = 0; r < height; r++) store_piece(y + r * LANES, row[r]);
}

/* y <- (K + more 11') x, n x LANES each. */
static void multiply_eight(size_t n, const double *K, const double *more,
                           const double *x, double *y) {
    for (size_t l = 0; l < LANES; l += PIECE) {
        piece sum = {0};
        for (size_t k = 0; k < n; k++) sum += load_piece(x + k * LANES + l);
        sum *= load_piece(more + l);
        size_t i = 0;
        for (; i + 4 <= n; i += 4)
            multiply_some(4, n, K + i * n, sum, x + l, y + i * LANES + l);
        for (; i < n; i++)
            multiply_some(1, n, K + i * n, sum, x + l, y + i * LANES + l);
    }
}

/* Symmetric systems (K + more 11' + diag(diagonal)) x = b, of which L D L' is found: in W, n
 * rows of n pieces, are L D below the diagonal and L' above it; another row is b'. */
typedef struct systems {
    size_t n;
    const double *K, *diagonal, *b; /* the last two n x LANES */
    piece more;
    double *W, *inverse, *solved; /* one over D, and D^-1 L^-1 b: n pieces */
    double *pivot;                /* n x LANES: D */
} systems;

/* left (height x 2) loses what the columns before j take off the next two; rows: of L D. */
__attribute__((always_inline)) static inline void take_off(size_t height,
                                                           const systems *s, size_t j,
                                                           const double *restrict rows,
                                                           piece (*left)[2]) {
    const double *restrict at = s->W + j * PIECE;
    const size_t n = s->n;
    for (size_t k = 0; k < j; k++) {
        const piece first = load_piece(at + k * n * PIECE);
        const piece second = load_piece(at + (k * n + 1) * PIECE);
        for (size_t r = 0; r < height; r++) {
            const piece w = load_piece(rows + (r * n + k) * PIECE);
            left[r][0] -= w * first;
            left[r][1] -= w * second;
        }
    }
}

/* Columns j and j + 1 of `height` rows from row i on; corner: of L' between the two. */
__attribute__((always_inline)) static inline void
factor_some(size_t height, const systems *s, size_t i, size_t j, piece corner) {
    const size_t n = s->n;
    const piece first = load_piece(s->inverse + j * PIECE);
    const piece second = load_piece(s->inverse + (j + 1) * PIECE);
    piece left[4][2];
    for (size_t r = 0; r < height; r++)
        for (size_t c = 0; c < 2; c++) left[r][c] = s->K[(i + r) * n + j + c] + s->more;
    take_off(height, s, j, s->W + i * n * PIECE, left);
    for (size_t r = 0; r < height; r++) {
        double *row = s->W + ((i + r) * n + j) * PIECE;
        double *column = s->W + (j * n + i + r) * PIECE;
        const piece next = left[r][1] - left[r][0] * corner;
        store_piece(row, left[r][0]);
        store_piece(row + PIECE, next);
        store_piece(column, left[r][0] * first);
        store_piece(column + n * PIECE, next * second);
    }
}

/* The same of the row b'. */
static inline void factor_right(const systems *s, size_t j, size_t width,
                                piece corner) {
    double *row = s->W + s->n * s->n * PIECE;
    piece left[1][2] = {{load_piece(s->b + j * LANES)}};
    if (width == 2) left[0][1] = load_piece(s->b + (j + 1) * LANES);
    take_off(1, s, j, row, left);
    store_piece(row + j * PIECE, left[0][0]);
    store_piece(s->solved + j * PIECE, left[0][0] * load_piece(s->inverse + j * PIECE));
    if (width == 1) return;
    const piece next = left[0][1] - left[0][0] * corner;
    store_piece(row + (j + 1) * PIECE, next);
    store_piece(s->solved + (j + 1) * PIECE,
                next * load_piece(s->inverse + (j + 1) * PIECE));
}

/* The next pivot, which is *left less its diagonal's addend. */
static inline piece next_pivot(const systems *s, size_t j, piece left) {
    const piece pivot = left + load_piece(s->diagonal + j * LANES);
    const piece inverse = 1 / pivot;
    store_piece(s->pivot + j * LANES, pivot);
    store_piece(s->inverse + j * PIECE, inverse);
    return inverse;
}

/* Two columns from their diagonal on, or the last one; what take_off reads behind that is
 * not used. */
static void factor_columns(const systems *s, size_t j) {
    const size_t n = s->n, width = n - j < 2 ? 1 : 2;
    piece left[2][2], corner = {0};
    for (size_t r = 0; r < width; r++)
        for (size_t c = 0; c < 2; c++)
            left[r][c] = s->K[(j + r) * n + j + (c <= r ? c : 0)] + s->more;
    if (width == 2) {
        take_off(2, s, j, s->W + j * n * PIECE, left);
        corner = left[1][0] * next_pivot(s, j, left[0][0]);
        store_piece(s->W + ((j + 1) * n + j) * PIECE, left[1][0]);
        store_piece(s->W + (j * n + j + 1) * PIECE, corner);
        (void)next_pivot(s, j + 1, left[1][1] - left[1][0] * corner);
    } else {
        take_off(1, s, j, s->W + j * n * PIECE, left);
        (void)next_pivot(s, j, left[0][0]);
    }
    size_t i = j + 2;
    for (; i + 4 <= n; i += 4) factor_some(4, s, i, j, corner);
    for (; i + 2 <= n; i += 2) factor_some(2, s, i, j, corner);
    for (; i < n; i++) factor_some(1, s, i, j, corner);
    factor_right(s, j, width, corner);
}

/* x (n x LANES) of `height` rows, those behind them solved. */
static inline void solve_some(size_t height, const systems *s, size_t i, double *x) {
    const size_t n = s->n;
    piece left[4];
    for (size_t r = 0; r < height; r++)
        left[r] = load_piece(s->solved + (i + r) * PIECE);
    for (size_t k = i + height; k < n; k++) {
        const piece at = load_piece(x + k * LANES);
        for (size_t r = 0; r < height; r++)
            left[r] -= load_piece(s->W + ((i + r) * n + k) * PIECE) * at;
    }
    for (size_t r = height; r-- > 0;) {
        store_piece(x + (i + r) * LANES, left[r]);
        for (size_t q = 0; q < r; q++)
            left[q] -= load_piece(s->W + ((i + q) * n + i + r) * PIECE) * left[r];
    }
}

static void solve_systems(const systems *s, double *x) {
    size_t i = s->n;
    for (size_t j = 0; j < s->n; j += 2) factor_columns(s, j);
    for (; i % 4; i--) solve_some(1, s, i - 1, x);
    for (; i; i -= 4) solve_some(4, s, i - 4, x);
}

static void eight_predict(bb_eight *e) {
    multiply_eight(e->n, e->K, e->more, e->a, e->here.p);
    for (size_t k = 0; k < e->n * LANES; k += PIECE)
        store_piece(e->here.p + k,
                    load_piece(e->here.p + k) + load_piece(e->offset + k));
}

static void eight_look(bb_eight *e, const double *t) {
    const bb_eight_place here = e->here, there = e->there;
    for (size_t l = 0; l < LANES; l += PIECE) {
        const piece length = load_piece(t + l);
        piece sum = {0};
        for (size_t j = 0; j < e->n; j++) {
            const size_t at = j * LANES + l;
            piece p = load_piece(here.p + at) + length * load_piece(e->change + at),
                  bend;
            store_piece(there.p + at, p);
            sum += logistic_piece(spread(e->y[j]), &p, &bend);
            store_piece(there.slope + at, p);
            store_piece(there.curvature + at, bend);
        }
        store_piece(e->there.loss + l, sum);
    }
}

static inline piece curvature_at(const bb_eight *e, size_t at) {
    return at_least(load_piece(e->here.curvature + at), spread(least_curvature));
}

/* What the step's products and the pivots say of the lanes from l on. */
static void eight_tell(bb_eight *e, size_t l, const double *gradient,
                       const double *pivot) {
    const piece one = spread(1), weaker = one / load_piece(e->lambda + l);
    piece square = {0}, descent = {0}, cross = {0}, step_square = {0}, product = one;
    piece least = spread(INFINITY);
    bits exponent = {0};
    for (size_t at = l; at < e->n * LANES; at += LANES) {
        const piece change = load_piece(e->change + at), a = load_piece(e->a + at);
        descent -= load_piece(gradient + at) * change;
        square += a * (load_piece(e->here.p + at) - load_piece(e->offset + at));
        cross += a * change;
        step_square += load_piece(e->step + at) * change;
        const piece ratio = load_piece(pivot + at) * (curvature_at(e, at) * weaker);
        least = choose(ratio < least, ratio, least);
        product = split(product * ratio, &exponent);
    }
    store_piece(e->square + l, square);
    store_piece(e->decrement + l, descent);
    store_piece(e->cross + l, cross);
    store_piece(e->step_square + l, step_square);
    store_piece(e->pivot + l, least);
    store_piece(e->log_det + l, log_of(product, exponent));
}

/* (K + lambda/curvature) step = -gradient/curvature, with the gradient in the coefficients
 * over K: slope + lambda a. */
static void eight_direction(bb_eight *e) {
    const size_t n = e->n;
    double *gradient = e->room, *diagonal = gradient + n * LANES;
    double *b = diagonal + n * LANES, *pivot = b + n * LANES, *rest = pivot + n * LANES;
    for (size_t at = 0; at < n * LANES; at += PIECE) {
        const piece lambda = load_piece(e->lambda + at % LANES);
        const piece over = spread(1) / curvature_at(e, at);
        const piece g = load_piece(e->here.slope + at) + lambda * load_piece(e->a + at);
        store_piece(gradient + at, g);
        store_piece(diagonal + at, lambda * over);
        store_piece(b + at, -g * over);
    }
    for (size_t l = 0; l < LANES; l += PIECE) {
        const systems s = {.n = n,
                           .K = e->K,
                           .diagonal = diagonal + l,
                           .b = b + l,
                           .more = load_piece(e->more + l),
                           .W = rest,
                           .inverse = rest + (n + 1) * n * PIECE,
                           .solved = rest + (n + 2) * n * PIECE,
                           .pivot = pivot + l};
        solve_systems(&s, e->step + l);
    }
    multiply_eight(n, e->K, e->more, e->step, e->change);
    for (size_t l = 0; l < LANES; l += PIECE) eight_tell(e, l, gradient, pivot);
}
