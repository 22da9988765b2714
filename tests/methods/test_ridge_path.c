/* Ridge problems under a prior's covariance against what elimination makes of their
 * normal equations: fewer rows than features and more, dense and sparse, with and
 * without an intercept, a basis, a centre. */
#include "learners/local.h"
#include "linalg/linalg.h"
#include "linalg/naive.h"
#include "methods/ridge_sides.h"
#include "test.h"

#include <string.h>

enum { PENALTIES = 9 };

/* M x = b and ln det M, M positive definite (destroyed). */
static double eliminate(size_t n, double *M, double *x) {
    double log_det = 0;
    for (size_t k = 0; k < n; k++) {
        log_det += log(M[k * n + k]);
        for (size_t i = k + 1; i < n; i++) {
            const double f = M[i * n + k] / M[k * n + k];
            for (size_t j = k; j < n; j++) M[i * n + j] -= f * M[k * n + j];
            x[i] -= f * x[k];
        }
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; j++) x[k] -= M[k * n + j] * x[j];
        x[k] /= M[k * n + k];
    }
    return log_det;
}

typedef struct rows {
    size_t n, d;
    double *x, *y; /* as the problem sees them: centred if it has an intercept */
    double weight;
} rows;

/* Rotations in pairs of features. */
static double *basis_of(size_t d) {
    double *B = calloc(d * d, sizeof *B);
    assert_non_null(B);
    for (size_t a = 0; a + 1 < d; a += 2) {
        B[a * d + a] = B[(a + 1) * d + a + 1] = 0.6;
        B[a * d + a + 1] = 0.8;
        B[(a + 1) * d + a] = -0.8;
    }
    if (d % 2) B[d * d - 1] = 1;
    return B;
}

/* R[k][a], the a-th column a scaled direction. */
static double *root_of(size_t d, const bb_covariance *c) {
    double *R = calloc(d * d, sizeof *R);
    assert_non_null(R);
    for (size_t k = 0; k < d; k++)
        for (size_t a = 0; a < d; a++)
            R[k * d + a] =
                (c->basis ? c->basis[a * d + k] : a == k) * (c->root ? c->root[a] : 1);
    return R;
}

static void check_penalty(const rows *r, const double *R, const double *centre,
                          double penalty, double log_det, double least,
                          const double *w) {
    const size_t n = r->n, d = r->d;
    double *M = calloc(d * d, sizeof *M), *z = calloc(d, sizeof *z);
    double *xr = naive_vector(n * d, 1), value = 0, det = 0;
    naive_product(n, d, d, r->x, R, xr);
    for (size_t a = 0; a < d; a++) {
        for (size_t b = 0; b < d; b++)
            for (size_t j = 0; j < n; j++)
                M[a * d + b] += r->weight * xr[j * d + a] * xr[j * d + b];
        M[a * d + a] += penalty;
        for (size_t j = 0; j < n; j++) {
            const double p = centre ? naive_dot(d, r->x + j * d, centre) : 0;
            z[a] += r->weight * xr[j * d + a] * (r->y[j] - p);
        }
    }
    det = eliminate(d, M, z) - (double)d * log(penalty);
    for (size_t a = 0; a < d; a++) value += penalty * z[a] * z[a];
    for (size_t j = 0; j < n; j++) {
        const double p = centre ? naive_dot(d, r->x + j * d, centre) : 0;
        const double e = p + naive_dot(d, xr + j * d, z) - r->y[j];
        value += r->weight * e * e;
    }
    assert_close(log_det, det, 1e-10 * (1 + det));
    assert_close(least, value, 1e-10 * (1 + value));
    for (size_t k = 0; k < d; k++) {
        const double expected = (centre ? centre[k] : 0) + naive_dot(d, R + k * d, z);
        assert_close(w[k], expected, 1e-9 * (1 + fabs(expected)));
    }
    free(M);
    free(z);
    free(xr);
}

/* Degrees of freedom are the slope of the log determinant. */
static void check_left_out(const bb_ridge_path *path, const rows *r, double penalty,
                           const double *w) {
    const double beside[] = {penalty * 0.999, penalty * 1.001};
    double log_det[2], least[2], error, square = 0;
    if (r->n <= r->d) return;
    bb_ridge_path_weigh(path, 2, beside, log_det, least);
    const double freedom = (log_det[0] - log_det[1]) / log(1.001 / 0.999);
    for (size_t j = 0; j < r->n; j++) {
        const double miss = r->y[j] - naive_dot(r->d, r->x + j * r->d, w);
        square += miss * miss;
    }
    bb_ridge_path_left_out(path, 1, &penalty, &error);
    assert_relative(error, square / pow(1 - freedom / (double)r->n, 2), 1e-4);
}

/* from: another path, or NULL. */
static void check_path(const bb_local *local, const rows *r, const bb_covariance *c,
                       const bb_ridge_path *from, const double *centre) {
    const size_t d = r->d;
    double penalty[PENALTIES], log_det[PENALTIES], least[PENALTIES];
    double *room = calloc(bb_ridge_path_length(local), sizeof *room);
    double *R = root_of(d, c), *w = calloc(d, sizeof *w), *all = calloc(d, sizeof *w);
    double *sum = calloc(d, sizeof *sum), share[PENALTIES];
    bb_ridge_path path;
    assert_non_null(room);
    assert_ok(bb_ridge_path_open_from(&path, from, local, c, room));
    bb_ridge_path_centre(&path, R); /* something, to be forgotten */
    bb_ridge_path_centre(&path, centre);
    for (size_t l = 0; l < PENALTIES; l++) {
        penalty[l] = pow(10, 2 - 0.9 * (double)l);
        share[l] = 1 / (double)(l + 1);
    }
    bb_ridge_path_weigh(&path, PENALTIES, penalty, log_det, least);
    for (size_t l = 0; l < PENALTIES; l++) {
        const double one = 1;
        for (size_t k = 0; k < d; k++) w[k] = centre ? centre[k] : 0;
        bb_ridge_path_keep(&path, 1, penalty + l, &one);
        bb_ridge_path_add(&path, w);
        check_penalty(r, R, centre, penalty[l], log_det[l], least[l], w);
        check_left_out(&path, r, penalty[l], w);
        for (size_t k = 0; k < d; k++)
            sum[k] += share[l] * (w[k] - (centre ? centre[k] : 0));
    }
    bb_ridge_path_keep(&path, PENALTIES / 2, penalty, share);
    bb_ridge_path_keep(&path, PENALTIES - PENALTIES / 2, penalty + PENALTIES / 2,
                       share + PENALTIES / 2);
    bb_ridge_path_add(&path, all);
    for (size_t k = 0; k < d; k++)
        assert_close(all[k], sum[k], 1e-10 * (1 + fabs(sum[k])));
    free(room);
    free(R);
    free(w);
    free(all);
    free(sum);
}

enum { SIDED = 1 + BB_RIDGE_DIRECTIONS };
static const double freer = 99;

/* What sides are opened with, and room. */
typedef struct sided {
    const bb_local *local;
    double penalty[PENALTIES];
    double *direction[BB_RIDGE_DIRECTIONS], *centre;
    double *path_room, *room;
    bb_ridge_path path;
    bb_ridge_sides sides;
} sided;

static sided open_sided(const bb_local *local, bool centred) {
    const bb_covariance alike = {NULL, NULL};
    const size_t d = local->d;
    sided s = {.local = local, .centre = centred ? naive_vector(d, 5) : NULL};
    for (size_t l = 0; l < PENALTIES; l++) s.penalty[l] = pow(10, 2 - 0.9 * (double)l);
    for (size_t k = 0; k < BB_RIDGE_DIRECTIONS; k++) {
        s.direction[k] = naive_vector(d, 6);
        if (k == 0) memset(s.direction[k], 0, d * sizeof *s.direction[k]);
        if (k == 0) s.direction[k][d - 1] = 1;
        bb_scale(d, 1 / bb_norm(d, s.direction[k]), s.direction[k]);
    }
    s.path_room = calloc(bb_ridge_path_length(local), sizeof *s.path_room);
    s.room = calloc(bb_ridge_sides_length(local, PENALTIES), sizeof *s.room);
    assert_true(s.path_room && s.room);
    assert_ok(bb_ridge_path_open(&s.path, local, &alike, s.path_room));
    return s;
}

static void begin_sides(sided *s) {
    bb_ridge_sides_open(&s->sides, &s->path, s->centre,
                        (const double *const *)s->direction, freer, PENALTIES,
                        s->penalty, s->room);
}

static void close_sided(sided *s) {
    free(s->direction[0]);
    free(s->direction[1]);
    free(s->centre);
    free(s->path_room);
    free(s->room);
}

/* R (d x d) <- the root of I + freer u u'. */
static double *root_along(size_t d, const double *u) {
    double *R = calloc(d * d, sizeof *R);
    assert_non_null(R);
    for (size_t a = 0; a < d; a++) {
        for (size_t b = 0; u && b < d; b++)
            R[a * d + b] = (sqrt(1 + freer) - 1) * u[a] * u[b];
        R[a * d + a] += 1;
    }
    return R;
}

/* Every penalty of a kind around zero or the centre by itself; all <- all + what keeping
 * them in one go makes of `share`. */
static void check_side(sided *s, const rows *r, size_t kind, bool around,
                       const double *share, double *all) {
    const size_t d = r->d;
    const double *centre = around ? s->centre : NULL;
    double *R = root_along(d, kind ? s->direction[kind - 1] : NULL);
    double *w = calloc(d, sizeof *w), log_det[PENALTIES], least[PENALTIES];
    assert_non_null(w);
    for (size_t l = 0; l < PENALTIES; l++) {
        double one[PENALTIES] = {0};
        one[l] = 1;
        begin_sides(s);
        bb_ridge_sides_weigh(&s->sides, kind, around, log_det, least);
        bb_ridge_sides_keep(&s->sides, kind, around, one);
        for (size_t k = 0; k < d; k++) w[k] = centre ? centre[k] : 0;
        bb_ridge_sides_add(&s->sides, w);
        check_penalty(r, R, centre, s->penalty[l], log_det[l], least[l], w);
        for (size_t k = 0; k < d; k++)
            all[k] += share[l] * (w[k] - (centre ? centre[k] : 0));
    }
    free(R);
    free(w);
}

static void check_sides(const bb_local *local, const rows *r, bool centred) {
    const size_t d = r->d;
    double *w = calloc(d, sizeof *w), *all = calloc(d, sizeof *all), share[PENALTIES];
    sided s = open_sided(local, centred);
    assert_true(w && all);
    for (size_t l = 0; l < PENALTIES; l++) share[l] = 1 / (double)(l + 1);
    for (size_t kind = 0; kind < SIDED; kind++)
        for (int side = 0; side < 1 + centred; side++)
            check_side(&s, r, kind, side, share, all);
    begin_sides(&s);
    for (size_t kind = 0; kind < SIDED; kind++)
        for (int side = 0; side < 1 + centred; side++)
            bb_ridge_sides_keep(&s.sides, kind, side, share);
    bb_ridge_sides_add(&s.sides, w);
    for (size_t k = 0; k < d; k++)
        assert_close(w[k], all[k], 1e-9 * (1 + fabs(all[k])));
    free(w);
    free(all);
    close_sided(&s);
}

static void check_covariances(const bb_local *local, const rows *r) {
    const size_t d = r->d;
    double *basis = basis_of(d), *root = naive_vector(d, 4), *m = naive_vector(d, 5);
    double *other = naive_vector(d, 6);
    double *room = naive_vector(bb_ridge_path_length(local), 7);
    for (size_t a = 0; a < d; a++) root[a] = a % 3 == 2 ? 0 : 0.2 + fabs(root[a]);
    const bb_covariance kind[] = {
        {NULL, NULL}, {NULL, root}, {basis, NULL}, {basis, root}};
    for (size_t c = 0; c < 4; c++) {
        bb_ridge_path from;
        check_path(local, r, &kind[c], NULL, NULL);
        check_path(local, r, &kind[c], NULL, m);
        assert_ok(bb_ridge_path_open(&from, local, &kind[c], room));
        for (size_t a = 0; a < d; a++)
            other[a] = kind[c].root ? pow(kind[c].root[a], 3) : 1 + (double)(a % 3);
        const bb_covariance turned = {kind[c].basis, other};
        check_path(local, r, &turned, &from, m);
    }
    free(other);
    free(room);
    free(basis);
    free(root);
    free(m);
}

/* Rows with zeros, as they are and sparse. */
static void check(size_t n, size_t d, bool intercept) {
    double *x = naive_vector(n * d, n + d), *y = naive_vector(n, 9);
    double *value = calloc(n * d + 1, sizeof *value);
    size_t *first = calloc(n + 1, sizeof *first), entries = 0;
    uint32_t *column = calloc(n * d + 1, sizeof *column);
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < d; k++) {
            if ((j + 2 * k) % 5 > 1) x[j * d + k] = 0;
            if (x[j * d + k] == 0) continue;
            column[entries] = (uint32_t)k;
            value[entries++] = x[j * d + k];
        }
        first[j + 1] = entries;
    }
    rows r = {n, d, naive_vector(n * d, 0), naive_vector(n, 0), 1 / (double)n};
    memcpy(r.x, x, n * d * sizeof *x);
    memcpy(r.y, y, n * sizeof *y);
    for (size_t k = 0; intercept && k <= d; k++) {
        double mean = 0;
        for (size_t j = 0; j < n; j++)
            mean += (k < d ? x[j * d + k] : y[j]) / (double)n;
        for (size_t j = 0; j < n; j++) *(k < d ? &r.x[j * d + k] : &r.y[j]) -= mean;
    }
    const bb_rows given[] = {{.n = n, .d = d, .x = x, .y = y},
                             {.n = n,
                              .d = d,
                              .sparse_first = first,
                              .sparse_column = column,
                              .sparse_value = value,
                              .y = y}};
    for (size_t g = 0; g < 2; g++) {
        bb_local local;
        assert_ok(bb_local_open(&local, given[g], BB_LOSS_SQUARED, intercept, false));
        check_covariances(&local, &r);
        check_sides(&local, &r, false);
        check_sides(&local, &r, true);
        bb_local_close(&local);
    }
    free(x);
    free(y);
    free(value);
    free(first);
    free(column);
    free(r.x);
    free(r.y);
}

static void test_paths(void **state) {
    (void)state;
    static const size_t sizes[][2] = {{1, 1},  {1, 4},   {3, 7},   {9, 9},  {7, 20},
                                      {20, 7}, {30, 20}, {60, 55}, {50, 90}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        check(sizes[s][0], sizes[s][1], false);
        check(sizes[s][0], sizes[s][1], true);
    }
}

/* Nothing is known: evidence of one, and no deviation. */
static void test_no_rows(void **state) {
    (void)state;
    const double one = 1, centre[2] = {1, 2};
    double w[2] = {3, 4}, room[64], log_det, least;
    const bb_covariance alike = {NULL, NULL};
    bb_ridge_path path;
    bb_local local;
    assert_ok(bb_local_open(&local, (bb_rows){.d = 2}, BB_LOSS_SQUARED, false, false));
    assert_true(bb_ridge_path_length(&local) <= 64);
    assert_ok(bb_ridge_path_open(&path, &local, &alike, room));
    bb_ridge_path_centre(&path, centre);
    bb_ridge_path_weigh(&path, 1, &one, &log_det, &least);
    bb_ridge_path_keep(&path, 1, &one, &one);
    bb_ridge_path_add(&path, w);
    assert_true(log_det == 0 && least == 0 && w[0] == 3 && w[1] == 4);
    bb_local_close(&local);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_no_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
