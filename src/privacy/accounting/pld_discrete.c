#include "privacy/accounting/pld_discrete.h"

#include "base/memory.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Losses that far beyond all that matter are as good as infinite. */
#define FAR 45.0
/* Mass that may be taken for that of infinite loss, or left out, beside delta; and on
 * the other side, for that of the least loss. */
#define SPARE     1e-6
#define LOW_SPARE 1e-8
/* Coarser cells than that are not tried. */
#define COARSEST 10.0
/* Nodes for an atom of one round. */
#define ATOM_NODES 8.0
/* What a cell of a product costs, and each product of two atoms, in multiplications or so. */
#define CELL_WORK    200.0
#define PRODUCT_WORK 3.0

bb_status bb_discrete_pld_room(bb_discrete_pld *a) {
    bb_status status = bb_allocate(&a->ratio, BB_DISCRETE_PLD_MOST, sizeof *a->ratio,
                                   "the accountant");
    if (!status)
        status = bb_allocate(&a->mass, BB_DISCRETE_PLD_MOST, sizeof *a->mass,
                             "the accountant");
    return status;
}

void bb_discrete_pld_close(bb_discrete_pld *a) {
    free(a->ratio);
    free(a->mass);
    *a = (bb_discrete_pld){0};
}

double bb_discrete_pld_delta(const bb_discrete_pld *a, bb_bound bound, double epsilon) {
    if (epsilon > BB_DISCRETE_PLD_LARGEST) {
        if (bound == BB_BELOW) return 0.0;
        epsilon = BB_DISCRETE_PLD_LARGEST;
    }
    const double factor = exp(epsilon), sign = bound == BB_ABOVE ? 1.0 : -1.0;
    double sum = 0.0, mass = 0.0;
    for (size_t k = a->count; k-- > 0;) {
        const double gain = 1.0 - factor * a->ratio[k];
        if (gain <= 0.0) break;
        sum += a->mass[k] * gain;
        mass += a->mass[k];
    }
    const double wrong = a->error + 0x1p-52 * (double)a->count;
    return fmax(0.0, sum * (1.0 + sign * wrong) +
                         sign * mass * BB_DISCRETE_PLD_SLACK * (1.0 + epsilon));
}

double bb_discrete_pld_quantile(const bb_discrete_pld *a, double share) {
    double sum = 0.0;
    size_t k = 0;
    while (k + 1 < a->count && (sum += a->mass[k]) < share) k++;
    return a->count ? -log(fmax(a->ratio[k], 1e-300)) : 0.0;
}

/* -- cells -- */

bb_cells bb_cells_of(const bb_discrete_pld_plan *plan, double centre, double rounds) {
    const double others = plan->rounds / rounds, epsilon = plan->epsilon;
    return (bb_cells){.centre = centre,
                      .core = 0.5 * epsilon / sqrt(others),
                      .region = 2.0 * (epsilon + fabs(centre) * others) + plan->spread,
                      .fineness = plan->fineness,
                      .scale = epsilon,
                      .rise = fmax(plan->tilt, -log(plan->delta) / epsilon),
                      .most = 1.0 / plan->delta,
                      .least = pow(plan->fineness, 3.0) * epsilon * epsilon / others};
}

double bb_cells_width(const bb_cells *cells, double loss) {
    const double away = fabs(loss - cells->centre);
    if (away <= cells->region) return cells->fineness * fmax(cells->core, away);
    return cells->fineness * cells->region + 0.2 * (away - cells->region);
}

/* How much likelier a total above epsilon is with this loss: not above e^(rise loss),
 * whether the log of the profile is convex or concave, and 1 / delta. Where there is
 * enough loss, only cells as wide as the distance matter. */
double bb_cells_weight(const bb_cells *cells, double loss) {
    const double away = fabs(loss - cells->centre), near = cells->scale / away;
    const double up = fmax(0.0, loss - cells->centre);
    return fmin(exp(cells->rise * up), cells->most) * fmin(1.0, near * near);
}

/* A product of two lists while it is made. Cell k is between node[k] and node[k + 1];
 * `deficit` is the sum of mass (node[k] - ratio) in it. */
typedef struct product {
    bb_bound bound;
    size_t cells;
    double *node, *mass, *deficit;
    double *tail; /* the mass of the second list from an atom on */
    double error; /* relative, of the sums */
    double work, work_most;
} product;

static bool lay_nodes(product *p, const bb_cells *cells, double low, double high) {
    size_t n = 0;
    for (double x = low;; x += bb_cells_width(cells, x)) {
        if (n + 2 > BB_DISCRETE_PLD_MOST) return false;
        p->node[n] = exp(-fmin(x, BB_DISCRETE_PLD_LARGEST));
        p->mass[n] = p->deficit[n] = 0.0;
        n++;
        if (x >= high) break;
    }
    p->node[n] = 0.0;
    p->cells = n;
    return true;
}

/* Makes cells wider where that does little. */
static void join(product *p, const bb_cells *cells) {
    size_t n = 0;
    double start = -log(p->node[0]);
    for (size_t k = 1; k < p->cells; k++) {
        const double from = -log(p->node[k]), to = -log(p->node[k + 1]);
        const double mass = p->mass[n] + p->mass[k], width = to - start;
        if (mass * width * width * bb_cells_weight(cells, from) <= cells->least) {
            p->mass[n] = mass;
            p->deficit[n] += p->deficit[k] + p->mass[k] * (p->node[n] - p->node[k]);
        } else {
            n++;
            start = from;
            p->node[n] = p->node[k];
            p->mass[n] = p->mass[k];
            p->deficit[n] = p->deficit[k];
        }
    }
    p->node[n + 1] = 0.0;
    p->cells = n + 1;
}

static void settle_above(const product *p, bb_discrete_pld *out) {
    const double *at = p->node;
    double carried = 0.0;
    for (size_t k = 0; k <= p->cells; k++) {
        double here = carried;
        carried = 0.0;
        if (k < p->cells && p->mass[k] > 0.0) {
            const double down = p->deficit[k] * (1.0 + p->error) +
                                BB_DISCRETE_PLD_SLACK * at[k] * p->mass[k];
            carried = fmin(p->mass[k], down / (at[k] - at[k + 1]));
            here += p->mass[k] - carried;
        }
        if (here > 0.0) {
            out->ratio[out->count] = at[k];
            out->mass[out->count++] = here;
        }
    }
}

static void settle_below(const product *p, bb_discrete_pld *out) {
    const double *at = p->node;
    for (size_t k = 0; k < p->cells; k++) {
        if (!(p->mass[k] > 0.0)) continue;
        const double mean = at[k] - p->deficit[k] * (1.0 - p->error) / p->mass[k] +
                            BB_DISCRETE_PLD_SLACK * at[k];
        out->ratio[out->count] =
            fmin(at[k], fmax(fmax(at[k + 1], mean), BB_DISCRETE_PLD_LEAST_RATIO));
        out->mass[out->count++] = p->mass[k];
    }
}

/* Takes off both ends what hardly has mass: above, for infinite and for the least loss
 * kept. */
static void prune(bb_discrete_pld *a, bb_bound bound,
                  const bb_discrete_pld_plan *plan) {
    const double share = a->rounds / plan->rounds;
    double high = 0.0, low = 0.0;
    size_t from = 0, to = a->count;
    while (to > 1 && high + a->mass[to - 1] <= SPARE * plan->delta * share)
        high += a->mass[--to];
    while (from + 1 < to && low + a->mass[from] <= LOW_SPARE * share)
        low += a->mass[from++];
    a->count = to - from;
    memmove(a->ratio, a->ratio + from, a->count * sizeof *a->ratio);
    memmove(a->mass, a->mass + from, a->count * sizeof *a->mass);
    if (bound == BB_BELOW) return;
    a->mass[0] += low;
    if (high > 0.0) {
        a->ratio[a->count] = 0.0;
        a->mass[a->count++] = high;
    }
}

/* The first k in [low, high) at which the falling `list` is not above x; high if none.
 */
static size_t where(const double *list, size_t low, size_t high, double x) {
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (list[middle] <= x)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* One atom times those of b from j on. What has mass below `tiny` in all is taken for
 * infinite, or left out. */
static void add_row(product *p, double ratio, double mass, const bb_discrete_pld *b,
                    size_t j, double tiny) {
    const double *restrict at = p->node, *restrict y = b->ratio, *restrict m = b->mass;
    const size_t end = where(p->tail, j, b->count, tiny / mass), last = p->cells - 1;
    if (p->bound == BB_ABOVE) {
        const double rest = mass * p->tail[end];
        p->mass[last] += rest;
        p->deficit[last] += rest * at[last];
    }
    for (; j < end && ratio * y[j] > at[0]; j++) /* by a rounding error */
        if (p->bound == BB_ABOVE) p->mass[0] += mass * m[j];
    if (j == end) return;
    size_t k = where(at, 1, last + 1, ratio * y[j]) - 1;
    for (double z = ratio * y[j]; j < end;) {
        while (z < at[k + 1]) k++;
        const double high = at[k], low = at[k + 1];
        double sum = 0.0, deficit = 0.0;
        do {
            sum += m[j];
            deficit += m[j] * (high - z);
            if (++j == end) break;
            z = ratio * y[j];
        } while (z >= low);
        p->mass[k] += mass * sum;
        p->deficit[k] += mass * deficit;
    }
}

static double least_positive(const bb_discrete_pld *a) {
    const size_t n = a->count;
    return n > 1 && a->ratio[n - 1] == 0.0 ? a->ratio[n - 2] : a->ratio[n - 1];
}

/* Whether the list fits. a and b may be the same. */
static bool multiply(product *p, const bb_discrete_pld *a, const bb_discrete_pld *b,
                     const bb_discrete_pld_plan *plan, bb_discrete_pld *out) {
    out->count = 0;
    out->rounds = a->rounds + b->rounds;
    p->error = 0x1p-52 * (double)(2 * (a->count + b->count) + 64);
    out->error = a->error + b->error + p->error;
    if (a->count == 0 || b->count == 0) return true;
    p->work += PRODUCT_WORK * (double)a->count * (double)b->count;
    if (p->work_most > 0.0 && p->work > p->work_most) return false;
    const bb_cells cells = bb_cells_of(
        plan, bb_discrete_pld_quantile(a, 0.5) + bb_discrete_pld_quantile(b, 0.5),
        out->rounds);
    const double low = -log(a->ratio[0]) - log(b->ratio[0]) - 1e-12;
    const double high = -log(least_positive(a)) - log(least_positive(b));
    const double far =
        fmin(fmax(cells.centre, 0.0) + cells.region + FAR, BB_DISCRETE_PLD_LARGEST);
    if (!lay_nodes(p, &cells, fmax(low, -600.0), fmin(high, far))) return false;
    p->work += CELL_WORK * (double)p->cells;
    p->tail[b->count] = 0.0;
    for (size_t k = b->count; k-- > 0;) p->tail[k] = p->tail[k + 1] + b->mass[k];
    const double tiny =
        SPARE * plan->delta * out->rounds / plan->rounds / (double)(a->count + 1);
    for (size_t i = 0; i < a->count; i++) {
        if (a == b) { /* i with itself, and twice with those after it */
            b->mass[i] /= 2.0;
            add_row(p, a->ratio[i], 4.0 * a->mass[i], b, i, tiny);
            b->mass[i] *= 2.0;
        } else {
            add_row(p, a->ratio[i], a->mass[i], b, 0, tiny);
        }
    }
    join(p, &cells);
    if (p->bound == BB_ABOVE)
        settle_above(p, out);
    else
        settle_below(p, out);
    prune(out, p->bound, plan);
    return true;
}

/* -- many -- */

static void swap(bb_discrete_pld *a, bb_discrete_pld *b) {
    const bb_discrete_pld c = *a;
    *a = *b;
    *b = c;
}

/* What is at work on a chain. `last`: lists of two losses of it, the last ones needed. */
typedef struct composer {
    product p;
    const bb_pld_chain *chain;
    const bb_privacy_loss *loss;
    const bb_discrete_pld_plan *plan;
    bb_discrete_pld last[2], power, work;
    size_t last_of[2];
    bool fits;
} composer;

static bool times_equals(composer *c, bb_discrete_pld *all, const bb_discrete_pld *by) {
    if (!multiply(&c->p, all, by, c->plan, &c->work)) return false;
    swap(all, &c->work);
    return true;
}

/* The list of a loss, beside that of the other one of a mixture. */
static const bb_discrete_pld *list_of(composer *c, size_t loss) {
    const int k = (int)(loss % 2);
    if (c->last_of[k] == loss) return &c->last[k];
    c->last_of[k] = SIZE_MAX;
    if (!bb_discrete_pld_of_loss(&c->last[k], c->p.bound, &c->loss[loss], c->plan)) {
        c->fits = false;
        return NULL;
    }
    c->p.work +=
        ATOM_NODES * bb_curve_work(&c->loss[loss].curve[0]) * (double)c->last[k].count;
    prune(&c->last[k], c->p.bound, c->plan);
    c->last_of[k] = loss;
    return &c->last[k];
}

static void copy(bb_discrete_pld *out, const bb_discrete_pld *a) {
    memcpy(out->ratio, a->ratio, a->count * sizeof *a->ratio);
    memcpy(out->mass, a->mass, a->count * sizeof *a->mass);
    out->count = a->count;
    out->error = a->error;
    out->rounds = a->rounds;
}

/* One of its rounds, in c->power; whether that fits. */
static bool one_round(composer *c, const bb_pld_factor *x) {
    const bool mixed = x->share > 0.0 && x->share < 1.0;
    const bb_discrete_pld *a = list_of(c, x->share == 1.0 ? x->loss + 1 : x->loss);
    const bb_discrete_pld *b = mixed && a ? list_of(c, x->loss + 1) : a;
    if (!a || !b) return false;
    if (mixed) return bb_discrete_pld_mix(&c->power, c->p.bound, a, b, x->share);
    copy(&c->power, a);
    return true;
}

/* The power that a factor is, from the low bits of how many there are on. */
static bool compose_factor(composer *c, const bb_pld_factor *x, bb_discrete_pld *out) {
    bool begun = false;
    if (!one_round(c, x)) return false;
    for (double left = x->times;;) {
        if (fmod(left, 2.0) == 1.0) {
            if (!begun)
                copy(out, &c->power);
            else if (!times_equals(c, out, &c->power))
                return false;
            begun = true;
        }
        left = floor(left / 2.0);
        if (left == 0.0) return true;
        if (!times_equals(c, &c->power, &c->power)) return false;
    }
}

/* The factors from `from` to before `to`, two halves of about as many rounds: what
 * cells cost grows with how often a long list is cut again. */
static bb_status compose_range(composer *c, size_t from, size_t to,
                               bb_discrete_pld *out) {
    const bb_pld_factor *factor = c->chain->factor;
    bb_discrete_pld other = {0};
    double rounds = 0.0, half = 0.0;
    size_t middle = from;
    if (to - from == 1) {
        c->fits = c->fits && compose_factor(c, &factor[from], out);
        return BB_OK;
    }
    for (size_t f = from; f < to; f++) rounds += factor[f].times;
    while (middle + 1 < to && (middle == from || half < rounds / 2.0))
        half += factor[middle++].times;
    bb_status status = compose_range(c, from, middle, out);
    if (!status && c->fits) status = bb_discrete_pld_room(&other);
    if (!status && c->fits) status = compose_range(c, middle, to, &other);
    if (!status && c->fits) c->fits = times_equals(c, out, &other);
    bb_discrete_pld_close(&other);
    return status;
}

static bb_status composer_open(composer *c) {
    const size_t room = BB_DISCRETE_PLD_MOST + 1;
    bb_status status =
        bb_allocate(&c->p.node, 4 * room, sizeof *c->p.node, "the accountant");
    for (int k = 0; k < 2 && !status; k++) status = bb_discrete_pld_room(&c->last[k]);
    if (!status) status = bb_discrete_pld_room(&c->power);
    if (!status) status = bb_discrete_pld_room(&c->work);
    if (status) return status;
    c->p.mass = c->p.node + room;
    c->p.deficit = c->p.mass + room;
    c->p.tail = c->p.deficit + room;
    return BB_OK;
}

static void composer_close(composer *c) {
    bb_discrete_pld *const list[] = {&c->last[0], &c->last[1], &c->power, &c->work};
    free(c->p.node);
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        bb_discrete_pld_close(list[k]);
}

bb_status bb_discrete_pld_compose(bb_discrete_pld *out, bb_bound bound,
                                  const bb_pld_chain *chain,
                                  const bb_privacy_loss *loss,
                                  bb_discrete_pld_plan plan, double *worked) {
    composer c = {.p = {.bound = bound, .work = *worked, .work_most = plan.work_most},
                  .chain = chain,
                  .loss = loss,
                  .plan = &plan};
    bb_status status = composer_open(&c);
    for (; !status && !c.fits && plan.fineness < COARSEST; plan.fineness *= 1.5) {
        if (plan.work_most > 0.0 && c.p.work > plan.work_most) break;
        c.fits = true;
        c.last_of[0] = c.last_of[1] = SIZE_MAX;
        status = compose_range(&c, 0, chain->count, out);
    }
    if (!status && !c.fits) { /* nothing is known */
        out->count = bound == BB_ABOVE;
        out->error = 0.0;
        out->ratio[0] = 0.0;
        out->mass[0] = 1.0;
    }
    *worked = c.p.work;
    composer_close(&c);
    return status;
}
