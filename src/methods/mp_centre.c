/* mp-centre - a shared centre for classification, released a few times, and a guard
 * that leaves every task as it was alone where no centre is found.
 *
 * In each round a task shows the direction, of length one, in which it would move from
 * the centre; the noisy average of the directions, shrunk, moves the centre with
 * momentum. Rounds follow from public sizes. Everything else is local and free.
 * docs/methods/mp-centre.md */
#include "linalg/linalg.h"
#include "methods/registry.h"
#include "privacy/chi_square.h"

#include <math.h>
#include <string.h>

/* Weights of the penalty beside the summed loss: of a task alone, and of its deviation
 * from the centre at the end. 3/pi^2 is one over the variance of the logistic law. */
#define ALONE_WEIGHT     0.30396355092701331
#define DEVIATION_WEIGHT 1.0
/* A task with fewer rows cannot judge whether the centre helps it. */
static const size_t least_rows_to_judge = 30;
static const double step = 3.0, most_momentum = 0.7, false_alarm = 0.01;
enum { MOST_ROUNDS = 12 };

/* Public: the centre, its velocity, the sum of the averages as released, and whether
 * that sum was ever too long for noise. */
typedef struct centre_board {
    double *centre, *velocity, *sum, *detected;
} centre_board;

static centre_board board_at(double *at, size_t d) {
    return (centre_board){at, at + d, at + 2 * d, at + 3 * d};
}

static size_t board_length(const bb_view *view) {
    return 3 * view->pub->features + 1;
}

static void layout(const bb_view *view, bb_layout *out) {
    *out =
        (bb_layout){1, {{"directions", BB_FORM_VECTOR, view->pub->features, 1.0, 1.0}}};
}

/* As many rounds as leave the average of directions with a signal of .3 above its
 * noise. */
static uint32_t rounds_of(const bb_public *pub) {
    const double r = bb_form_sensitivity(BB_FORM_VECTOR, pub->adjacency);
    const double signal =
        0.3 * (double)pub->tasks * pub->mu / (r * sqrt((double)pub->features));
    return (uint32_t)fmin(MOST_ROUNDS, fmax(1.0, round(signal * signal)));
}

static bb_status plan(const bb_view *view, bb_plan *out) {
    bb_layout blocks;
    if (view->pub->rounds || view->pub->schedule)
        return bb_fail(BB_EUSAGE, "mp-centre makes its own rounds from public sizes; "
                                  "rounds and schedule cannot be chosen");
    const bb_status status = bb_plan_rounds(out, rounds_of(view->pub));
    layout(view, &blocks);
    if (!status) bb_plan_room(out, view->pub, &blocks);
    return status;
}

/* The positive-part shrinkage of James and Stein (1961) by the public noise, then into
 * the unit ball, where averages of directions are. */
static void shrink(size_t d, double sd, double *g) {
    const double norm = bb_norm(d, g), square = norm * norm;
    const double excess = fmax(0.0, (double)d - 2.0) * sd * sd;
    double factor = square > excess ? 1.0 - excess / square : 0.0;
    if (factor * norm > 1.0) factor = 1.0 / norm;
    bb_scale(d, factor, g);
}

static bb_status digest(const bb_view *view, const bb_release *release,
                        bb_billboard *board, double *work) {
    const size_t d = view->pub->features;
    const centre_board at = board_at(board->at, d);
    const double tasks = (double)view->pub->tasks, t = release->round;
    const double sd = release->noise[0] / tasks, before = t - 1.0;
    const double momentum = fmin(most_momentum, before / (before + 3.0));
    double *g = work;
    for (size_t k = 0; k < d; k++) g[k] = release->value[0][k] / tasks;
    bb_axpy(d, 1.0, g, at.sum);
    const double length = bb_norm(d, at.sum);
    if (length * length >
        t * sd * sd *
            bb_chi_square_quantile((double)d, false_alarm / view->plan->rounds))
        *at.detected = 1.0;
    shrink(d, sd, g);
    for (size_t k = 0; k < d; k++) {
        at.velocity[k] = momentum * at.velocity[k] + step * g[k];
        at.centre[k] += at.velocity[k];
    }
    return BB_OK;
}

static size_t features(const bb_view *view) {
    return view->pub->features;
}

/* -- one task -- */

static size_t work_length(const bb_view *view) {
    const size_t d = view->pub->features;
    return 3 * d + d * d;
}

static size_t local_length(const bb_view *view, const bb_local *local) {
    (void)view;
    return 2 * local->n + bb_local_hessian_work(local);
}

/* The minimum of the summed loss plus weight/2 ||w - centre||^2. */
static bb_status fit(const bb_local *local, double weight, const double *centre,
                     double *w, double *work) {
    double intercept;
    return bb_local_ridge(local, weight * local->weight, centre, w, &intercept, work);
}

/* state: the direction that the task will show. */
static void train(const bb_view *view, bb_task *task) {
    const size_t d = view->pub->features;
    const double *centre = view->board->at;
    double *w = task->work, *u = task->state;
    memset(u, 0, d * sizeof *u);
    if (task->local->n == 0 ||
        fit(task->local, ALONE_WEIGHT, centre, w, task->work + work_length(view)))
        return;
    for (size_t k = 0; k < d; k++) u[k] = w[k] - centre[k];
    const double norm = bb_norm(d, u);
    bb_scale(d, norm > 0.0 ? 1.0 / norm : 0.0, u);
}

static void show(const bb_view *view, const bb_task *task, double *const *block) {
    memcpy(block[0], task->state, view->pub->features * sizeof **block);
}

static void copy_row(const bb_local *local, size_t j, double *x) {
    if (local->x) {
        memcpy(x, local->x + j * local->d, local->d * sizeof *x);
        return;
    }
    memset(x, 0, local->d * sizeof *x);
    for (size_t k = local->sparse_first[j]; k < local->sparse_first[j + 1]; k++)
        x[local->sparse_column[k]] = local->sparse_value[k];
}

/* loss[j] <- the loss of row j under the model without it, to first order (approximate
 * leave-one-out: Rad, Maleki 2020): its prediction moves by h l' / (1 - h l''), h = x'
 * H^-1 x, H the Hessian of the summed loss and penalty. work: 2 d + d^2, then
 * bb_local_hessian_work. */
static bb_status leave_one_out(const bb_local *local, double weight, const double *w,
                               double *loss, double *work) {
    const size_t d = local->d;
    double *x = work, *solved = x + d, *hessian = solved + d, *mean = solved, bend;
    bb_local_hessian(local, w, 0.0, hessian, mean, &bend, hessian + d * d);
    for (size_t k = 0; k < d; k++) hessian[k * d + k] += weight * local->weight;
    const bb_status status = bb_cholesky(d, hessian);
    if (status) return status;
    for (size_t j = 0; j < local->n; j++) {
        copy_row(local, j, x);
        memcpy(solved, x, d * sizeof *x);
        bb_cholesky_solve(d, hessian, solved);
        const double h = local->weight * bb_dot(d, x, solved), y = local->y[j];
        const double eta = bb_dot(d, x, w), p = 1.0 / (1.0 + exp(y * eta));
        const double moved = eta - h * y * p / (1.0 - h * p * (1.0 - p));
        loss[j] = y * moved > 0.0 ? log1p(exp(-y * moved))
                                  : log1p(exp(y * moved)) - y * moved;
    }
    return BB_OK;
}

/* Whether the task's own rows speak against the joint model: by one standard error. */
static bool rejects(const bb_local *local, const double *joint, const double *own,
                    double *work) {
    const size_t n = local->n;
    double *a = work, *b = a + n, mean = 0.0, square = 0.0;
    if (leave_one_out(local, DEVIATION_WEIGHT, joint, a, b + n) ||
        leave_one_out(local, ALONE_WEIGHT, own, b, b + n))
        return true;
    for (size_t j = 0; j < n; j++) mean += (a[j] - b[j]) / (double)n;
    for (size_t j = 0; j < n; j++)
        square += (a[j] - b[j] - mean) * (a[j] - b[j] - mean);
    return mean > sqrt(square / (double)(n - 1) / (double)n);
}

static bb_status finish(const bb_view *view, bb_task *task) {
    const size_t d = view->pub->features;
    const bb_local *local = task->local;
    const centre_board at = board_at(view->board->at, d);
    double *own = task->work, *work = own + d;
    *task->intercept = 0.0;
    if (local->n == 0) {
        if (*at.detected > 0.0) memcpy(task->model, at.centre, d * sizeof *at.centre);
        return BB_OK;
    }
    bb_status status = fit(local, ALONE_WEIGHT, NULL, own, work);
    if (!status && *at.detected > 0.0)
        status = fit(local, DEVIATION_WEIGHT, at.centre, task->model, work);
    if (status) return status;
    if (*at.detected == 0.0 ||
        (local->n >= least_rows_to_judge && rejects(local, task->model, own, work)))
        memcpy(task->model, own, d * sizeof *own);
    return BB_OK;
}

const bb_method bb_method_mp_centre = {
    .name = "mp-centre",
    .summary = "a shared centre for classification, or nothing where there is none",
    .kind = BB_METHOD_PRIVATE,
    .losses = BB_SUPPORTS_LOGISTIC,
    .shared_intercept = true,
    .plan = plan,
    .board_length = board_length,
    .state_length = features,
    .work_length = work_length,
    .digest_length = features,
    .local_length = local_length,
    .layout = layout,
    .train = train,
    .show = show,
    .digest = digest,
    .finish = finish,
};
