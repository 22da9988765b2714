/* mtl_task.c - the tasks' side of mtl-trace and mtl-l21. */
#include "learners/rows.h"
#include "linalg/linalg.h"
#include "linalg/tridiagonal.h"
#include "methods/mtl.h"

#include <math.h>
#include <string.h>

/* Intercepts are kept in this range (learners/local.h). */
static const double largest_intercept = 30.0;
/* Inverses that all tasks together may keep, in doubles (512 MB). */
static const size_t most_kept = (size_t)1 << 26;
/* From so many features on, logistic tasks with far fewer rows keep none. */
static const size_t wide = 64;

/* What a task keeps for its solutions. */
typedef enum keeping {
    KEEPS_NOTHING, /* each is made from the rows */
    KEEPS_INVERSE, /* d x d: of the Hessian + rho I */
    KEEPS_KERNEL   /* tridiagonal form of the products of its rows, for all rho */
} keeping;

/* What a task keeps between rounds. */
typedef struct own {
    double *checked;        /* BB_MTL_CHECKED */
    double *stepped;        /* BB_MTL_STEPPED */
    double *b, *value, *gb; /* intercept at w; loss and its derivative there */
    double *bend;           /* with mean: see bb_local_hessian */
    keeping keeps;
    double *rho;              /* that `kept` is for; 0: to be made */
    double *w, *z, *g, *mean; /* d; after the first check mean is the curvatures */
    double *u;                /* d; v after a step */
    double *kept;             /* see `keeping` */
} own;

enum { NUMBERS = BB_MTL_CHECKED + BB_MTL_STEPPED + 5 };

static bool has_room(const bb_public *pub) {
    const double d = (double)pub->features;
    return d * d * (double)pub->tasks <= (double)most_kept;
}

/* A solution by an inverse costs d^2 multiplications, one by a kernel 2 n d + 2 n^2; it takes
 * no more room than the rows do. */
static keeping keeps(const bb_public *pub, const bb_local *local) {
    const bb_rows rows = bb_rows_of(local);
    const size_t n = local->n, d = local->d;
    const bool few = n > 0 && n < d && n * n <= bb_rows_entries(&rows);
    if (local->loss == BB_LOSS_SQUARED && few && (3 * n <= d || !has_room(pub)))
        return KEEPS_KERNEL;
    if (!has_room(pub)) return KEEPS_NOTHING;
    const bool by_rows = d >= wide && n < d / 4;
    return by_rows ? KEEPS_NOTHING : KEEPS_INVERSE;
}

static own read_state(const bb_view *view, const bb_task *task) {
    const size_t d = task->local->d;
    own s = {.checked = task->state, .keeps = keeps(view->pub, task->local)};
    s.stepped = s.checked + BB_MTL_CHECKED;
    s.b = s.stepped + BB_MTL_STEPPED;
    s.value = s.b + 1;
    s.gb = s.value + 1;
    s.bend = s.gb + 1;
    s.rho = s.bend + 1;
    s.w = s.rho + 1;
    s.z = s.w + d;
    s.g = s.z + d;
    s.mean = s.g + d;
    s.u = s.mean + d;
    s.kept = s.u + d;
    return s;
}

static const bb_mtl_board *read_board(const bb_view *view) {
    return (const bb_mtl_board *)view->board->at;
}

size_t bb_mtl_state_length(const bb_view *view) {
    return NUMBERS + 5 * view->pub->features;
}

size_t bb_mtl_kept_length(const bb_view *view, const bb_local *local) {
    switch (keeps(view->pub, local)) {
    case KEEPS_INVERSE:
        return local->d * local->d;
    case KEEPS_KERNEL:
        return bb_tridiagonal_kept(local->n);
    default:
        return 0;
    }
}

size_t bb_mtl_work_length(const bb_view *view) {
    return 4 * view->pub->features;
}

static size_t whole_length(const bb_local *local, keeping kept) {
    const size_t n = local->n, d = local->d;
    size_t length = bb_local_hessian_work(local), solve = 0;
    if (kept == KEEPS_INVERSE) solve = bb_invert_work(d) / sizeof(double);
    if (kept == KEEPS_KERNEL) solve = n * n + 2 * n + bb_tridiagonal_length(n);
    if (solve > length) length = solve;
    return length + n + d;
}

/* Rows that are left out: every third one, from another one on in every fold, and in tasks
 * that have more rows or fewer. Nothing of it depends on the task's number, which other tasks
 * would change. */
static bool is_out(const bb_task *task, size_t fold, size_t j) {
    const size_t n = task->local->n;
    return n > 1 && (j + n) % BB_MTL_FOLDS + 1 == fold;
}

/* The work of what a task does with n of its rows. */
static size_t part_work(const bb_view *view, const bb_local *local, size_t n) {
    const keeping kept = keeps(view->pub, local);
    size_t most = 0;
    for (int gram = 0; gram < 2; gram++) {
        bb_local some = *local;
        some.n = n;
        some.gram = gram ? local->xy : NULL;
        const size_t work = whole_length(&some, kept) + bb_local_work(&some);
        if (work > most) most = work;
    }
    return most + bb_mtl_work_length(view);
}

/* Doubles of copies of all rows. */
static size_t copies_length(const bb_local *local) {
    const bb_rows rows = bb_rows_of(local);
    const size_t entries = bb_rows_entries(&rows);
    return local->x ? entries : local->n + 1 + entries + (entries + 1) / 2;
}

/* Behind the work of all rows: a row, some of them, their targets, sums, and work. */
static size_t part_length(const bb_view *view, const bb_local *local) {
    const size_t n = local->n, out = n / BB_MTL_FOLDS;
    size_t work = part_work(view, local, n);
    for (size_t more = 0; more < 2 && out + more <= n; more++) {
        const size_t some = part_work(view, local, n - out - more);
        if (some > work) work = some;
    }
    const size_t opening = bb_local_open_work(bb_rows_of(local), local->loss);
    if (opening > work) work = opening;
    return local->d + copies_length(local) + n +
           bb_local_room(bb_rows_of(local), local->loss, local->intercept) + work;
}

size_t bb_mtl_local_length(const bb_view *view, const bb_local *local) {
    const size_t part = bb_mtl_leaves_out(view) ? part_length(view, local) : 0;
    return whole_length(local, keeps(view->pub, local)) + bb_local_work(local) + part;
}

static double squares(size_t d, const double *a, const double *b) {
    double sum = 0.0;
    for (size_t k = 0; k < d; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

static void set_b_and_gradient(const bb_task *task, const own *s, double *work) {
    *s->b = bb_local_intercept(task->local, s->w, work);
    *s->value = bb_local_gradient(task->local, s->w, *s->b, s->g, s->gb, work);
}

/* -- the exact local step -- */

static bb_status renew_inverse(const bb_task *task, const own *s, double rho,
                               double *work) {
    const size_t d = task->local->d;
    bb_local_hessian(task->local, s->w, *s->b, s->kept, s->mean, s->bend, work);
    if (*s->bend > 0.0 && bb_local_one_class(task->local) != 0.0) *s->bend = 0.0;
    for (size_t k = 0; k < d; k++) s->kept[k * d + k] += rho;
    const bb_status status = bb_invert_spd(d, s->kept, work);
    *s->rho = status ? 0.0 : rho;
    return status;
}

/* Squared loss: (H + rho I) w = s X'y + rho v. */
static void solve(const bb_task *task, const own *s, double rho, const double *v,
                  double *rhs) {
    const size_t d = task->local->d;
    memcpy(rhs, task->local->xy, d * sizeof *rhs);
    bb_axpy(d, rho, v, rhs);
    bb_multiply_transposed(d, d, 1.0, s->kept, rhs, 0.0, s->w);
}

/* vector: d; work: n^2 + bb_tridiagonal_length. */
static bb_status renew_kernel(const bb_task *task, const own *s, double *vector,
                              double *work) {
    const bb_local *local = task->local;
    const bb_rows rows = bb_rows_of(local);
    const size_t n = local->n;
    double *K = work, *room = K + n * n;
    bb_tridiagonal t;
    bb_rows_kernel(&rows, K, vector);
    if (local->x_mean) bb_rows_centre(n, K, room);
    bb_scale(n * n, local->weight, K);
    const bb_status status = bb_tridiagonal_open(&t, n, K, room);
    if (!status) memcpy(s->kept, room, bb_tridiagonal_kept(n) * sizeof *room);
    *s->rho = status ? 0.0 : 1.0;
    return status;
}

/* Squared loss: w = v - X'u / rho, with (s X X' + rho I) u = rho s (X v - y). */
static bb_status solve_by_rows(const bb_task *task, const own *s, double rho,
                               const double *v, double *vector, double *work) {
    const bb_local *local = task->local;
    const bb_rows rows = bb_rows_of(local);
    const size_t n = local->n, d = local->d;
    if (*s->rho == 0.0) {
        const bb_status status = renew_kernel(task, s, vector, work);
        if (status) return status;
    }
    double *seen = work, *u = seen + n;
    const bb_tridiagonal t = bb_tridiagonal_again(n, s->kept, u + n);
    bb_local_residual(local, v, 0.0, seen);
    bb_tridiagonal_into(&t, seen);
    bb_tridiagonal_average(&t, seen, 1, &rho, &rho, u);
    bb_tridiagonal_back(&t, u);
    bb_rows_combine(&rows, u, s->g);
    if (local->x_mean) bb_axpy(d, -bb_sum(n, u), local->x_mean, s->g);
    memcpy(s->w, v, d * sizeof *s->w);
    bb_axpy(d, -1.0 / rho, s->g, s->w);
    return BB_OK;
}

/* Logistic loss: one Newton step toward the minimum of L + rho/2 ||w - v||^2, with the
 * Hessian of an earlier round, shortened until it descends. */
static void newton(const bb_task *task, const own *s, double rho, const double *v,
                   double *vectors, double *work) {
    const size_t d = task->local->d;
    double *r = vectors, *dw = r + d, *w = dw + d, b = *s->b, db = 0.0;
    const double start = *s->value + 0.5 * rho * squares(d, s->w, v);
    for (size_t k = 0; k < d; k++) r[k] = s->g[k] + rho * (s->w[k] - v[k]);
    memcpy(w, r, d * sizeof *w);
    bb_axpy(d, -*s->gb, s->mean, w);
    bb_multiply_transposed(d, d, -1.0, s->kept, w, 0.0, dw);
    if (*s->bend > 0.0) db = -*s->gb / *s->bend - bb_dot(d, s->mean, dw);
    const double slope = bb_dot(d, r, dw) + *s->gb * db;
    memcpy(w, s->w, d * sizeof *w);
    for (double length = 1.0; length > 1e-9; length *= 0.5) {
        memcpy(s->w, w, d * sizeof *w);
        bb_axpy(d, length, dw, s->w);
        *s->b = b + length * db;
        *s->value = bb_local_gradient(task->local, s->w, *s->b, s->g, s->gb, work);
        const double now = *s->value + 0.5 * rho * squares(d, s->w, v);
        if (now <= start + 1e-4 * length * slope + 1e-14 * (1.0 + fabs(start))) return;
        *s->rho = 0.0; /* the Hessian is out of date */
    }
    memcpy(s->w, w, d * sizeof *w);
    set_b_and_gradient(task, s, work);
}

/* w <- argmin L + rho/2 ||w - v||^2, logistic with an inverse: nearly so. */
static bb_status minimise(const bb_view *view, const bb_task *task, const own *s,
                          const double *v, double *work) {
    const bb_local *local = task->local;
    const bb_mtl_board *board = read_board(view);
    double *room = work + 3 * local->d;
    if (s->keeps == KEEPS_KERNEL)
        return solve_by_rows(task, s, board->rho, v, work, room);
    if (s->keeps == KEEPS_NOTHING)
        return bb_local_ridge(local, board->rho, v, s->w, s->b, room);
    const bool curved = local->loss == BB_LOSS_LOGISTIC;
    if (*s->rho != board->rho || (curved && board->renew == 1.0)) {
        const bb_status status = renew_inverse(task, s, board->rho, room);
        if (status) return status;
    }
    if (curved)
        newton(task, s, board->rho, v, work, room);
    else
        solve(task, s, board->rho, v, work);
    return BB_OK;
}

static void begin_afresh(const bb_task *task, const own *s) {
    const size_t d = task->local->d;
    for (size_t k = 0; k < d; k++) s->w[k] = s->z[k] = s->u[k] = 0.0;
    s->stepped[BB_MTL_APART] = s->stepped[BB_MTL_MOVED] = 0.0;
    *s->b = *s->rho = 0.0;
    if (task->local->loss == BB_LOSS_LOGISTIC) set_b_and_gradient(task, s, task->work);
}

/* A solve that fails leaves w as it was: certificates hold for any w. */
static void step(const bb_view *view, const bb_task *task, const own *s) {
    const size_t d = task->local->d;
    double *v = task->work;
    if (read_board(view)->afresh == 1.0) begin_afresh(task, s);
    for (size_t k = 0; k < d; k++) v[k] = s->z[k] - s->u[k];
    (void)!minimise(view, task, s, v, v + d);
    for (size_t k = 0; k < d; k++)
        s->u[k] += BB_MTL_RELAXATION * s->w[k] + (1.0 - BB_MTL_RELAXATION) * s->z[k];
}

/* -- rounds -- */

/* z <- M v, u <- v - z, in units of the rho that holds now. */
static void settle(const bb_view *view, const bb_task *task, const own *s) {
    const bb_mtl_board *board = read_board(view);
    const size_t d = task->local->d;
    double *z = task->work;
    bb_mtl_multiply(d, board, s->u, z);
    if (bb_mtl_has_mean(view))
        bb_axpy(d, 1.0, board->matrix + bb_mtl_matrix_length(view), z);
    s->stepped[BB_MTL_APART] = squares(d, s->w, z);
    s->stepped[BB_MTL_MOVED] =
        board->rho_before * board->rho_before * squares(d, s->z, z);
    for (size_t k = 0; k < d; k++)
        s->u[k] = (s->u[k] - z[k]) * (board->rho_before / board->rho);
    memcpy(s->z, z, d * sizeof *z);
}

/* The best intercept for the optimal models is taken to be in this range: within 30, as
 * those of one-class tasks are kept, or in the order of the best one for w. */
static double intercept_range(double b) {
    return fabs(b) <= largest_intercept ? largest_intercept : 2.0 * fabs(b);
}

/* The certificate's parts. Loss and conjugate add up to at least u.(x w + b), so that a
 * sum of u that is not exactly zero takes at most |sum u| |b| from the bound. */
static void check(const bb_view *view, const bb_task *task, const own *s) {
    const bb_local *local = task->local;
    double *out = s->checked, *u = task->work, *work = u + local->n;
    set_b_and_gradient(task, s, work);
    bb_local_residual(local, s->w, *s->b, u);
    out[BB_MTL_CONJUGATE] = bb_local_conjugate(local, u, BB_MTL_ALMOST);
    out[BB_MTL_GUESSED] = bb_local_conjugate(local, u, read_board(view)->guess);
    out[BB_MTL_SLACK] = fabs(*s->gb) * intercept_range(*s->b);
    const double b = bb_local_intercept(local, s->z, work);
    out[BB_MTL_LOSS] = bb_local_value(local, s->z, b, work);
    if (view->board->releases == 0) {
        out[BB_MTL_SPREAD] = bb_local_spread(local, s->mean, work);
        out[BB_MTL_ROWS_COUNT] = (double)local->n;
    }
    double sum = 0.0;
    for (size_t k = 0; k < BB_MTL_FAILED; k++) sum += out[k];
    for (size_t k = 0; k < local->d; k++) sum += s->g[k] * s->g[k];
    const bool fine = isfinite(sum);
    for (size_t k = 0; k < BB_MTL_FAILED && !fine; k++) out[k] = 0.0;
    out[BB_MTL_FAILED] = fine ? 0.0 : 1.0;
}

/* -- rounds without some rows -- */

/* What a task does without the rows of a fold: the others, in its work. */
typedef struct remaining {
    bb_task task;
    bb_local local;
    double *row, *copies, *y, *room;
} remaining;

static remaining leave_out(const bb_view *view, const bb_task *task, size_t fold) {
    const bb_local *all = task->local;
    remaining r = {.task = *task, .local = *all};
    r.row = task->work + bb_mtl_work_length(view) +
            whole_length(all, keeps(view->pub, all)) + bb_local_work(all);
    r.copies = r.row + all->d;
    r.y = r.copies + copies_length(all);
    r.room = r.y + all->n;
    r.task.work = r.room + bb_local_room(bb_rows_of(all), all->loss, all->intercept);
    r.local.n = 0;
    for (size_t j = 0; j < all->n; j++) r.local.n += !is_out(task, fold, j);
    return r;
}

static bb_rows copy_dense(const bb_task *task, size_t fold, const remaining *r) {
    const bb_local *all = task->local;
    const size_t d = all->d;
    bb_rows rows = {.d = d, .x = r->copies, .y = r->y};
    for (size_t j = 0; j < all->n; j++) {
        if (is_out(task, fold, j)) continue;
        memcpy(r->copies + rows.n * d, all->x + j * d, d * sizeof *r->copies);
        r->y[rows.n++] = all->y[j];
    }
    return rows;
}

static bb_rows copy_sparse(const bb_task *task, size_t fold, const remaining *r) {
    const bb_local *all = task->local;
    const bb_rows every = bb_rows_of(all);
    double *value = r->copies + all->n + 1;
    void *counts = r->copies, *columns = value + bb_rows_entries(&every);
    size_t *first = counts, count = 0;
    uint32_t *column = columns;
    bb_rows rows = {.d = all->d,
                    .sparse_first = first,
                    .sparse_column = column,
                    .sparse_value = value,
                    .y = r->y};
    first[0] = 0;
    for (size_t j = 0; j < all->n; j++) {
        if (is_out(task, fold, j)) continue;
        for (size_t e = all->sparse_first[j]; e < all->sparse_first[j + 1]; e++) {
            column[count] = all->sparse_column[e];
            value[count++] = all->sparse_value[e];
        }
        r->y[rows.n++] = all->y[j];
        first[rows.n] = count;
    }
    return rows;
}

/* Their sums, too. */
static bb_status open_rows(const bb_view *view, const bb_task *task, size_t fold,
                           remaining *r) {
    const bb_local *all = task->local;
    const bb_rows rows =
        all->x ? copy_dense(task, fold, r) : copy_sparse(task, fold, r);
    memset(r->room, 0,
           bb_local_room(rows, all->loss, all->intercept) * sizeof *r->room);
    return bb_local_open_exact(&r->local, rows, all->loss, all->intercept,
                               view->pub->scale_sum, r->room, r->task.work);
}

/* With the squared loss and an inverse that holds X'y is all that a step asks of the rows:
 * it is kept where gradients are, of which there are none now. */
static void step_without(const bb_view *view, const bb_task *task, const own *s,
                         size_t fold) {
    const bb_mtl_board *board = read_board(view);
    remaining r = leave_out(view, task, fold);
    const bool sums = task->local->loss == BB_LOSS_SQUARED && s->keeps == KEEPS_INVERSE;
    r.task.local = &r.local;
    if (sums && *s->rho == board->rho && board->afresh == 0.0) {
        r.local.xy = s->g;
    } else {
        if (open_rows(view, task, fold, &r)) return;
        if (sums) memcpy(s->g, r.local.xy, r.local.d * sizeof *s->g);
    }
    step(view, &r.task, s);
}

/* What the rows that were left out lose, each as much as any other. */
static void look_at_rows_out(const bb_view *view, const bb_task *task, const own *s,
                             size_t fold) {
    const bb_local *all = task->local;
    const bb_rows every = bb_rows_of(all);
    remaining r = leave_out(view, task, fold);
    double b = 0.0, lost = 0.0, *x = r.row;
    for (size_t k = 0; k < BB_MTL_CHECKED; k++) s->checked[k] = 0.0;
    if (all->intercept) {
        if (open_rows(view, task, fold, &r)) return;
        b = bb_local_intercept(&r.local, s->z, r.task.work);
    }
    for (size_t j = 0; j < all->n; j++) {
        if (!is_out(task, fold, j)) continue;
        bb_rows_copy(&every, j, NULL, x);
        const double seen = bb_dot(all->d, x, s->z) + b, y = all->y[j];
        lost += all->loss == BB_LOSS_SQUARED
                    ? 0.5 * (seen - y) * (seen - y)
                    : fmax(0.0, -y * seen) + log1p(exp(-fabs(seen)));
    }
    s->checked[isfinite(lost) ? BB_MTL_LOSS : BB_MTL_FAILED] =
        isfinite(lost) ? lost : 1.0;
}

void bb_mtl_train(const bb_view *view, bb_task *task) {
    const own s = read_state(view, task);
    const bb_mtl_board *board = read_board(view);
    if (board->pending == 1.0) settle(view, task, &s);
    const size_t fold = (size_t)board->fold;
    if (fold && board->step == 1.0)
        step_without(view, task, &s, fold);
    else if (fold)
        look_at_rows_out(view, task, &s, fold);
    else if (board->step == 1.0)
        step(view, task, &s);
    else
        check(view, task, &s);
}

void bb_mtl_show(const bb_view *view, const bb_task *task, double *const *block) {
    const own s = read_state(view, task);
    const size_t d = task->local->d;
    const bool stepped = read_board(view)->step == 1.0;
    const size_t numbers = stepped ? BB_MTL_STEPPED : BB_MTL_CHECKED;
    const bool out = !stepped && read_board(view)->fold > 0.0;
    if (!out) memcpy(block[0], stepped ? s.u : s.g, d * sizeof(double));
    memcpy(block[1], stepped ? s.stepped : s.checked, numbers * sizeof(double));
    if (!bb_mtl_has_mean(view) || out) return;
    double *more = block[1] + numbers;
    if (!stepped && view->board->releases == 0)
        memcpy(more, s.mean, d * sizeof *more);
    else if (!stepped)
        memset(more, 0, d * sizeof *more);
    memcpy(more + (stepped ? 0 : d), block[0], d * sizeof *more);
}

/* The last round was a check: z is what it certified. */
bb_status bb_mtl_finish(const bb_view *view, bb_task *task) {
    const own s = read_state(view, task);
    (void)view;
    memcpy(task->model, s.z, task->local->d * sizeof *task->model);
    *task->intercept = bb_local_intercept(task->local, s.z, task->work);
    return BB_OK;
}
