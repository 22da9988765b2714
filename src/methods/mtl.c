/* mtl.c - the public side of mtl-trace, mtl-l21 and mtl-mtrl. */
#include "methods/mtl.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 10000 };
/* An automatic lambda: parts of the least one that makes W = 0, or the best models that are
 * all alike, the optimum; and where rounds are too few to try them. By how much intercepts
 * differ says nothing of slopes: the constant is left out. */
static const double part_tried[BB_MTL_CANDIDATES] = {1.0, 0.3, 0.1, 0.03, 0.01, 0.003};
static const double usual_part = 0.1, least_lambda = 1e-12;
enum { LEAST_ROUNDS = 1000, STEPS_TRIED = 10 };
/* mu_k is features over rows, what a mean of many weights asks for that explains half of
 * the targets' variance, and at least this part, of the geometric mean of two curvatures
 * of all losses: that along feature k, and the usual one; of the constant this part. By the first alone rare features would be free, by the other short ones held
 * at zero. Where lambda is automatic, so many steps find the best models that are all alike before it is
 * chosen by what tells them apart. */
static const double least_part = 1e-3, least_curvature = 1e-6, steps_alike = 20.0;
/* rho starts at this fraction of the mean curvature of the tasks' losses ... */
static const double first_rho = 0.3;
/* ... and is balanced after this many steps, and after every threefold number, if the
 * two residuals differ by more than `balanced`, by their ratio to this power. */
static const double first_balance = 10.0, balanced = 2.0, balance_power = 0.7,
                    most_change = 10.0;
/* A check is due when what infeasible gradients cost the bound is, at worst, this
 * multiple of the tolerance; when it fails, convergence by a fifth a step is assumed.
 */
static const double check_when = 10.0, usual_rate = 0.8, fewest_steps = 2.0,
                    most_steps = 10.0;

/* The penalty is of singular values: the billboard's matrix is full, and vectors are
 * shown through the sum of their outer products, or where that takes more room, as they
 * are. Otherwise both are diagonal. */
static bool is_trace(const bb_view *view) {
    return view->method->variant != BB_MTL_L21;
}

static bool is_low(const bb_view *view) {
    return is_trace(view) && 2 * view->pub->tasks <= view->pub->features;
}

/* How many singular values there are. */
static size_t rank_of(const bb_view *view) {
    return is_low(view) ? view->pub->tasks : view->pub->features;
}

size_t bb_mtl_matrix_length(const bb_view *view) {
    return (is_trace(view) ? rank_of(view) : 1) * view->pub->features;
}

/* The penalty is no norm: its conjugate is finite everywhere. */
static bool is_mtrl(const bb_view *view) {
    return view->method->variant == BB_MTL_MTRL;
}

bool bb_mtl_own_intercept(const void *options) {
    const bb_mtl_options *o = options;
    return o->centre == BB_MTL_CENTRE_ZERO;
}

bool bb_mtl_has_mean(const bb_view *view) {
    return !bb_mtl_own_intercept(view->options);
}

bool bb_mtl_leaves_out(const bb_view *view) {
    const bb_mtl_options *o = view->options;
    const uint32_t rounds = view->pub->rounds;
    return isnan(o->lambda) && (rounds == 0 || rounds >= LEAST_ROUNDS);
}

static const bb_mtl_board *board_of(const bb_view *view) {
    return (const bb_mtl_board *)view->board->at;
}

/* -- sizes -- */

static bb_layout layout_of(const bb_view *view, bool step) {
    bb_form form = is_trace(view) ? BB_FORM_OUTER : BB_FORM_SQUARE;
    if (is_low(view)) form = BB_FORM_SLOT;
    const bb_block vectors = {step ? "models" : "gradients", form, view->pub->features,
                              INFINITY, 0.5};
    const size_t count = step ? BB_MTL_STEPPED : BB_MTL_CHECKED;
    const size_t more = step ? view->pub->features : 2 * view->pub->features;
    const size_t sums = bb_mtl_has_mean(view) ? more : 0;
    const bb_block numbers = {step ? "residuals" : "certificate", BB_FORM_VECTOR,
                              count + sums, INFINITY, 0.5};
    return (bb_layout){2, {vectors, numbers}};
}

bb_status bb_mtl_plan(const bb_view *view, bb_plan *plan) {
    const bb_public *pub = view->pub;
    const char *name = view->method->name;
    if (pub->schedule)
        return bb_fail(BB_EUSAGE, "%s spends no budget: it takes no schedule", name);
    if (is_trace(view) && !is_low(view) && pub->features > BB_MTL_MOST_FEATURES)
        return bb_fail(BB_EUSAGE,
                       "%s shares a matrix of features x features: at most %d "
                       "features for more than half as many tasks, found %zu for %zu; "
                       "mtl-l21 shares a vector",
                       name, BB_MTL_MOST_FEATURES, pub->features, pub->tasks);
    const bb_layout check = layout_of(view, false);
    bb_plan_room(plan, pub, &check);
    return bb_plan_rounds(plan, pub->rounds ? pub->rounds : ROUNDS);
}

size_t bb_mtl_board_length(const bb_view *view) {
    const size_t d = view->pub->features;
    return sizeof(bb_mtl_board) / sizeof(double) + bb_mtl_matrix_length(view) +
           (bb_mtl_has_mean(view) ? 2 * d : 0);
}

size_t bb_mtl_digest_length(const bb_view *view) {
    const size_t d = view->pub->features, rank = rank_of(view);
    const size_t apart = bb_mtl_has_mean(view) ? bb_mtl_matrix_length(view) : 0;
    if (!is_trace(view)) return apart;
    const size_t eigen = bb_eigen_work(rank) / sizeof(double) + 1;
    return apart + rank * rank + 2 * rank + (eigen > rank * d ? eigen : rank * d);
}

static double *offset_of(const bb_view *view, bb_mtl_board *board) {
    return board->matrix + bb_mtl_matrix_length(view);
}

void bb_mtl_multiply(size_t d, const bb_mtl_board *board, const double *v,
                     double *out) {
    const double *M = board->matrix;
    if (board->diagonal == 1.0) {
        for (size_t k = 0; k < d; k++) out[k] = M[k] * v[k];
    } else if (board->factor == 0.0) {
        bb_multiply_transposed(d, d, 1.0, M, v, 0.0, out);
    } else {
        memset(out, 0, d * sizeof *out);
        for (size_t k = 0; k < (size_t)board->rank; k++)
            bb_axpy(d, bb_dot(d, M + k * d, v), M + k * d, out);
    }
}

static double *mean_weights(const bb_view *view, bb_mtl_board *board) {
    return offset_of(view, board) + view->pub->features;
}

void bb_mtl_layout(const bb_view *view, bb_layout *layout) {
    *layout = layout_of(view, board_of(view)->step == 1.0);
}

/* -- the mean, taken out of what was shown -- */

/* The sum of v v' or v o v, or the vectors (m x d), of the vectors less their mean; sums:
 * of the vectors, NULL where nothing is taken out. work: bb_mtl_matrix_length, and what is
 * left of it. */
typedef struct spread_sum {
    const double *shown, *sums;
    double *work;
} spread_sum;

static spread_sum take_mean_out(const bb_view *view, const bb_release *release,
                                double *work) {
    const size_t d = view->pub->features, length = bb_mtl_matrix_length(view);
    spread_sum out = {.shown = release->value[0], .work = work};
    if (!bb_mtl_has_mean(view)) return out;
    out.sums = release->value[1] + (release->layout->block[1].length - d);
    const double per = 1.0 / (double)view->pub->tasks;
    memcpy(work, out.shown, length * sizeof *work);
    for (size_t i = 0; is_low(view) && i < view->pub->tasks; i++)
        bb_axpy(d, -per, out.sums, work + i * d);
    for (size_t a = 0; !is_low(view) && a < d; a++) {
        if (!is_trace(view))
            work[a] = fmax(0.0, work[a] - per * out.sums[a] * out.sums[a]);
        else
            bb_axpy(d, -per * out.sums[a], out.sums, work + a * d);
    }
    out.shown = work;
    out.work = work + length;
    return out;
}

/* -- the penalty -- */

/* What a prox does, and to what: singular values or row norms lose theta, then a
 * fraction; their sum, and the squares of what is kept and of what is cut off. */
typedef struct prox {
    double theta, keep, sum, kept, cut;
} prox;

/* Returns the factor of one singular value or row norm `size`. */
static double shrink(prox *p, double size) {
    const double kept = p->keep * fmax(0.0, size - p->theta), cut = size - kept;
    p->sum += kept;
    p->kept += kept * kept;
    p->cut += cut * cut;
    return kept > 0.0 ? kept / size : 0.0;
}

static double root(double square) {
    return sqrt(fmax(0.0, square));
}

/* value <- the singular values, from their squares, ascending. */
static void take_roots(size_t d, double *value) {
    for (size_t k = 0; k < d; k++) value[k] = root(value[k]);
}

/* rho Z = rho V - ridge Z - lambda ||Z||_* on singular values (cut at 0). */
static prox prox_of(const bb_view *view, size_t count, const double *value) {
    const bb_mtl_options *o = view->options;
    const double rho = board_of(view)->rho, a = (o->ridge + rho) / rho;
    const double lambda = board_of(view)->lambda;
    if (board_of(view)->searching == 1.0) return (prox){.theta = INFINITY, .keep = 1.0};
    if (!is_mtrl(view)) return (prox){.theta = lambda / rho, .keep = 1.0};
    return (prox){.theta = bb_mtrl_level(count, value, a, lambda / rho),
                  .keep = 1.0 / a};
}

/* V V', or V' V as it was shown: rank x rank. */
static void take_products(const bb_view *view, const double *shown, double *out) {
    const size_t d = view->pub->features, rank = rank_of(view);
    if (is_low(view))
        bb_gram_rows(rank, d, 1.0, shown, out);
    else
        memcpy(out, shown, d * d * sizeof *out);
}

/* M = sum f_k q_k q_k', q_k the right singular vectors; `vector` (rank x rank) has them, or
 * where V was shown the left ones p_k: q_k = V'p_k / value_k. Where that takes less room M
 * is rows sqrt(f_k) q_k. vector and f are destroyed. */
static void put_matrix(const bb_view *view, const double *shown, const double *value,
                       double *vector, double *f, bb_mtl_board *board, double *work) {
    const size_t d = view->pub->features, rank = rank_of(view);
    size_t first = 0;
    while (first < rank && f[first] == 0.0) first++;
    double *rows = vector + first * rank;
    board->rank = (double)(rank - first);
    board->factor = is_low(view) || 2 * (rank - first) <= d ? 1.0 : 0.0;
    if (board->factor == 0.0) {
        bb_spectral(d, rank - first, rows, f + first, board->matrix, work);
        return;
    }
    for (size_t k = first; k < rank; k++)
        bb_scale(rank, sqrt(f[k]) / (is_low(view) ? value[k] : 1.0), vector + k * rank);
    if (is_low(view))
        bb_product(rank - first, rank, d, 1.0, rows, shown, 0.0, board->matrix);
    else
        memcpy(board->matrix, rows, (rank - first) * d * sizeof *rows);
}

/* o: the mean of Z, which loses to the prox of 1/2 sum_k mu_k c_k^2, less M times that of
 * V. */
static void make_offset(const bb_view *view, const double *sums, bb_mtl_board *board,
                        prox *p) {
    const size_t d = view->pub->features;
    const double m = (double)view->pub->tasks, rho = board->rho;
    const double *mu = mean_weights(view, board);
    double *o = offset_of(view, board);
    bb_mtl_multiply(d, board, sums, o);
    bb_scale(d, -1.0 / m, o);
    board->mean_cost = 0.0;
    for (size_t k = 0; k < d; k++) {
        const double keep = rho * m / (rho * m + mu[k]), c = keep * sums[k] / m;
        const double cut = sums[k] / m - c;
        o[k] += c;
        board->mean_cost += 0.5 * mu[k] * c * c;
        p->kept += m * c * c;
        p->cut += m * cut * cut;
    }
}

/* The prox's matrix, and offset; `work` as in bb_mtl_digest_length. */
static bb_status make_matrix(const bb_view *view, const bb_release *release,
                             bb_mtl_board *board, double *work) {
    const bb_mtl_options *o = view->options;
    const size_t d = view->pub->features;
    const spread_sum sum = take_mean_out(view, release, work);
    prox p;
    if (!is_trace(view)) {
        p = prox_of(view, d, NULL);
        for (size_t k = 0; k < d; k++)
            board->matrix[k] = shrink(&p, root(sum.shown[k]));
    } else {
        const size_t rank = rank_of(view);
        double *vector = sum.work, *value = vector + rank * rank, *f = value + rank,
               *rest = f + rank;
        take_products(view, sum.shown, vector);
        const bb_status status = bb_eigen(rank, vector, value, rest);
        if (status) return status;
        take_roots(rank, value);
        p = prox_of(view, rank, value);
        for (size_t k = 0; k < rank; k++) f[k] = shrink(&p, value[k]);
        put_matrix(view, sum.shown, value, vector, f, board, rest);
    }
    board->omega = is_mtrl(view)
                       ? 0.5 * (o->ridge / board->lambda * p.kept + p.sum * p.sum)
                       : p.sum;
    if (bb_mtl_has_mean(view)) make_offset(view, sum.sums, board, &p);
    board->ratio_before = board->ratio;
    board->ratio = sqrt(p.kept / fmax(p.cut, 1e-300));
    return BB_OK;
}

/* How large gradients are, less their mean. */
typedef struct norms {
    double dual;        /* ||G|| */
    double nuclear;     /* the sum of its singular values; not of mtl-l21 */
    double *value;      /* rank_of: these, ascending, likewise; in the work */
    const double *sums; /* d: their sum, if that was taken out; NULL */
} norms;

/* Of what was shown, with a mean: what the last number, the constant's, adds. */
static void take_constant_out(const bb_view *view, double *shown) {
    const size_t d = view->pub->features, length = bb_mtl_matrix_length(view);
    for (size_t k = d - 1; k < length; k += d) shown[k] = 0.0;
    for (size_t k = 0; k < d && is_trace(view) && !is_low(view); k++)
        shown[(d - 1) * d + k] = 0.0;
}

static bb_status measure(const bb_view *view, const bb_release *release,
                         bool without_constant, norms *out, double *work) {
    const size_t d = view->pub->features, rank = rank_of(view);
    const spread_sum apart = take_mean_out(view, release, work);
    if (without_constant) take_constant_out(view, work);
    double largest = 0.0;
    work = apart.work;
    *out = (norms){.sums = apart.sums};
    if (!is_trace(view)) {
        for (size_t k = 0; k < d; k++) largest = fmax(largest, apart.shown[k]);
        out->dual = root(largest);
        return BB_OK;
    }
    out->value = work + rank * rank;
    take_products(view, apart.shown, work);
    const bb_status status = bb_eigenvalues(rank, work, out->value, out->value + rank);
    if (status) return status;
    take_roots(rank, out->value);
    for (size_t k = 0; k < rank; k++) out->nuclear += out->value[k];
    out->dual = rank ? out->value[rank - 1] : 0.0;
    return BB_OK;
}

/* The largest penalty that makes sense, from the gradients at W = 0, or at the best models
 * that are all alike: that from which on these are the optimum; for mtl-mtrl, whose
 * lambda ||W||_* takes its place, with ||W||_* by one step of gradients over the mean
 * curvature. */
static double largest_lambda(const bb_view *view, const norms *g, double spread) {
    const bb_public *pub = view->pub;
    const double entries = (double)pub->tasks * (double)pub->features;
    double lambda = g->dual;
    if (is_mtrl(view) && g->nuclear > 0.0) lambda *= spread / entries / g->nuclear;
    return fmax(lambda, least_lambda / usual_part);
}

/* -- a step -- */

static bool balance_is_due(double steps) {
    double due = first_balance;
    while (due < steps) due *= 3.0;
    return due == steps;
}

/* Residual balancing (Boyd et al. 2011, section 3.4.1), relative to the sizes of Z and
 * of rho U, by the residuals of the step before. As long as Z = 0, rho grows. */
static void balance(bb_mtl_board *board, double apart, double moved) {
    const double ratio = apart / (moved / board->rho_before) / board->ratio_before;
    if (!(ratio > balanced || ratio < 1.0 / balanced)) return;
    const double change = pow(ratio, balance_power);
    board->rho *= fmin(most_change, fmax(1.0 / most_change, change));
}

/* Whether the coming check is likely to succeed; sets its guess of t. */
static bool check_is_due(const bb_view *view, double moved, bb_mtl_board *board) {
    const bb_mtl_options *o = view->options;
    const bool soon = board->steps > 1.0 && board->steps >= board->check_from;
    /* gradients exceed the ball of radius lambda by at most this fraction of it, which
     * costs the bound that fraction of the penalty */
    const double excess = moved / (BB_MTL_RELAXATION * board->lambda);
    board->guess = fmin(1.0 / (1.0 + 4.0 * excess), BB_MTL_ALMOST);
    if (is_mtrl(view) || board->searching == 1.0) board->guess = BB_MTL_ALMOST;
    if (board->fold > 0.0)
        return board->steps >= (board->candidate > 0.0 ? 1.0 : 2.0) * STEPS_TRIED;
    if (board->searching == 1.0) return board->steps >= steps_alike;
    return soon && (is_mtrl(view) || excess * board->lambda * board->omega <=
                                         check_when * o->tolerance * board->objective);
}

static bb_status digest_step(const bb_view *view, const bb_release *release,
                             bb_mtl_board *board, double *work) {
    const double apart = root(release->value[1][BB_MTL_APART]);
    const double moved = root(release->value[1][BB_MTL_MOVED]);
    const bb_status status = make_matrix(view, release, board, work);
    if (status) return status;
    const double rho = board->rho;
    board->steps += 1.0;
    board->pending = 1.0;
    if (balance_is_due(board->steps) && board->searching == 0.0 && apart + moved > 0.0)
        balance(board, apart, moved);
    board->renew = board->steps == 5.0 || balance_is_due(board->steps) ? 1.0 : 0.0;
    board->rho_before = rho;
    board->afresh = 0.0;
    if (check_is_due(view, moved, board)) board->step = 0.0;
    return BB_OK;
}

/* -- a check -- */

/* sum_i L_i*(t u_i) is convex in t: at most the chord's value. */
static double conjugate_at(const bb_mtl_board *board, const double *sum, double t) {
    const double at_guess = sum[BB_MTL_GUESSED], at_end = sum[BB_MTL_CONJUGATE];
    if (t < board->guess) return at_guess * (t / board->guess);
    const double part = (t - board->guess) / (BB_MTL_ALMOST - board->guess);
    return BB_MTL_ALMOST > board->guess ? at_guess + part * (at_end - at_guess)
                                        : at_end;
}

/* In the first check; an automatic one for models around a mean is provisional then, and
 * chosen in the second, which ends the search for models that are all alike. */
static void choose_lambda(const bb_view *view, const bb_release *release,
                          const norms *g, bb_mtl_board *board) {
    const bb_mtl_options *o = view->options;
    const bool is_first = release->round == 1, is_given = !isnan(o->lambda);
    board->largest = largest_lambda(view, g, board->spread);
    board->lambda = is_given ? o->lambda : usual_part * board->largest;
    board->searching = is_first && !is_given && bb_mtl_has_mean(view) ? 1.0 : 0.0;
    board->steps = 0.0;
    board->dual = 0.0; /* no loss is negative */
}

static double first_rho_of(const bb_view *view, const bb_mtl_board *board) {
    const double entries = (double)view->pub->tasks * (double)view->pub->features;
    const double rho = first_rho * board->spread / entries;
    return rho > 0.0 ? rho : 1.0;
}

/* The coming steps are with other rows. */
static void begin_afresh(const bb_view *view, bb_mtl_board *board) {
    board->afresh = 1.0;
    board->rho = first_rho_of(view, board);
    board->ratio = 0.0;
}

static void try_candidate(bb_mtl_board *board, size_t candidate) {
    board->candidate = (double)candidate;
    board->lambda = part_tried[candidate] * board->largest;
    board->steps = 0.0;
}

/* The lambda at which a parabola through the least of what was lost and its neighbours, over
 * the logarithm of lambda, is least; less by a root, as the noise of gradients is, since all
 * rows are more than those that were looked at. */
static double best_lambda(const bb_mtl_board *board) {
    const double *missed = board->missed, fewer = 1.0 - 1.0 / BB_MTL_FOLDS;
    double steps = 0.0;
    size_t best = 0;
    for (size_t c = 1; c < BB_MTL_CANDIDATES; c++)
        if (missed[c] < missed[best]) best = c;
    if (best > 0 && best + 1 < BB_MTL_CANDIDATES) {
        const double up = missed[best - 1] - missed[best];
        const double down = missed[best + 1] - missed[best];
        if (isfinite(up) && isfinite(down) && up + down > 0.0)
            steps = 0.5 * (up - down) / (up + down);
    }
    return sqrt(fewer) * part_tried[best] * pow(10.0, -0.5 * steps) * board->largest;
}

/* What rows that are left out lose under this lambda is known: on to the next one, the next
 * rows, or the solution under the best. */
static void digest_left_out(const bb_view *view, const bb_release *release,
                            bb_mtl_board *board) {
    const double *sum = release->value[1];
    const size_t now = (size_t)board->candidate;
    board->missed[now] += sum[BB_MTL_FAILED] > 0.0 ? INFINITY : sum[BB_MTL_LOSS];
    board->pending = 0.0;
    board->step = 1.0;
    if (now + 1 < BB_MTL_CANDIDATES) {
        try_candidate(board, now + 1);
        return;
    }
    begin_afresh(view, board);
    board->fold += 1.0;
    if (board->fold > BB_MTL_FOLDS) {
        board->fold = 0.0;
        board->dual = 0.0;
        board->check_from = 0.0;
    }
    try_candidate(board, 0);
    if (board->fold == 0.0) board->lambda = best_lambda(board);
}

static bool is_constant(const bb_view *view, size_t k) {
    return view->pub->constant && k + 1 == view->pub->features;
}

/* What the first check says of the losses. */
static void open_board(const bb_view *view, const bb_release *release,
                       bb_mtl_board *board) {
    const double d = (double)view->pub->features;
    const double rows = fmax(1.0, release->value[1][BB_MTL_ROWS_COUNT]);
    board->spread = release->value[1][BB_MTL_SPREAD];
    board->diagonal = is_trace(view) ? 0.0 : 1.0;
    board->rho = first_rho_of(view, board);
    if (!bb_mtl_has_mean(view)) return;
    const double *curvature = release->value[1] + BB_MTL_CHECKED;
    const double usual = (double)view->pub->tasks * board->rho / first_rho;
    const size_t features = view->pub->features;
    double *mu = mean_weights(view, board);
    for (size_t k = 0; k < features; k++)
        mu[k] = (is_constant(view, k) ? least_part : fmax(least_part, d / rows)) *
                sqrt(fmax(curvature[k], least_curvature * usual) * usual);
}

/* What the mean takes from the bound. */
static double mean_conjugate(const bb_view *view, bb_mtl_board *board, double t,
                             const double *sums) {
    const double *mu = mean_weights(view, board);
    double all = 0.0;
    for (size_t k = 0; sums && k < view->pub->features; k++)
        all += t * t * sums[k] * sums[k] / (2.0 * mu[k]);
    return all;
}

static bb_status digest_check(const bb_view *view, const bb_release *release,
                              bb_draft *draft, double *work) {
    const bb_mtl_options *o = view->options;
    bb_mtl_board *board = (bb_mtl_board *)draft->at;
    const double *sum = release->value[1];
    norms g;
    if (board->fold > 0.0) {
        digest_left_out(view, release, board);
        return BB_OK;
    }
    if (release->round == 1) open_board(view, release, board);
    bb_status status = BB_OK;
    const bool chooses = release->round == 1 || board->searching == 1.0;
    if (chooses) {
        status = measure(view, release, view->pub->constant, &g, work);
        if (!status) choose_lambda(view, release, &g, board);
    }
    if (!status) status = measure(view, release, false, &g, work);
    if (status) return status;
    const double lambda = board->lambda;
    const double charge =
        is_mtrl(view) ? bb_mtrl_conjugate(rank_of(view), g.value, o->ridge, lambda)
                      : 0.0;
    const bool inside = is_mtrl(view) || g.dual <= lambda;
    const double t = inside ? BB_MTL_ALMOST : fmin(BB_MTL_ALMOST, lambda / g.dual);
    const double mean = mean_conjugate(view, board, t, g.sums);
    const double dual =
        -conjugate_at(board, sum, t) - t * sum[BB_MTL_SLACK] - charge - mean;
    const bool failed = sum[BB_MTL_FAILED] > 0.0;
    if (!failed) board->dual = fmax(board->dual, dual);
    board->objective =
        failed ? INFINITY : sum[BB_MTL_LOSS] + lambda * board->omega + board->mean_cost;
    board->gap = fmax(0.0, board->objective - board->dual);
    board->pending = 0.0;
    board->step = 1.0;
    draft->done = board->gap <= o->tolerance * board->objective && !failed;
    const double ahead =
        log(board->gap / (o->tolerance * board->objective)) / -log(usual_rate);
    board->check_from =
        board->steps +
        (failed ? most_steps : fmin(most_steps, fmax(fewest_steps, ceil(ahead))));
    if (chooses && board->searching == 0.0 && bb_mtl_leaves_out(view) && !draft->done) {
        begin_afresh(view, board);
        board->fold = 1.0;
        try_candidate(board, 0);
    }
    return BB_OK;
}

bb_status bb_mtl_digest(const bb_view *view, const bb_release *release, bb_draft *draft,
                        double *work) {
    const uint32_t rounds = view->pub->rounds ? view->pub->rounds : ROUNDS;
    bb_mtl_board *board = (bb_mtl_board *)draft->at;
    const bb_status status = board->step == 1.0
                                 ? digest_step(view, release, board, work)
                                 : digest_check(view, release, draft, work);
    if (!status && release->round + 1 == rounds) board->step = 0.0;
    return status;
}

void bb_mtl_outcome(const bb_view *view, bb_outcome *outcome) {
    const bb_mtl_board *board = board_of(view);
    const bb_mtl_options *o = view->options;
    *outcome = (bb_outcome){board->objective, board->gap, view->board->done,
                            isnan(o->lambda) ? board->lambda : 0.0};
}
