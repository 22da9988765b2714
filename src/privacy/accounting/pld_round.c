#include "privacy/accounting/pld_discrete.h"

#include <math.h>

/* What lies below is of this loss, or nothing. */
#define LEAST_LOSS (-600.0)

static bb_point point_at(const bb_curve *curve, double t) {
    bb_point p = bb_curve_point(curve, 0.0, t);
    p.loss = fmax(LEAST_LOSS, p.loss);
    return p;
}

static void put(bb_discrete_pld *out, double ratio, double mass) {
    const size_t n = out->count;
    if (n && out->ratio[n - 1] == ratio) {
        out->mass[n - 1] += mass;
    } else {
        out->ratio[n] = ratio;
        out->mass[n] = mass;
        out->count++;
    }
}

/* e^-loss, relative to which the loss has that rounding error, on the bound's side. */
static double safe_ratio(bb_bound bound, const bb_point *p, double ratio) {
    if (ratio < BB_DISCRETE_PLD_LEAST_RATIO)
        return bound == BB_ABOVE ? 0.0 : BB_DISCRETE_PLD_LEAST_RATIO;
    const double wrong =
        BB_DISCRETE_PLD_SLACK * (1.0 + fabs(p->loss) * (4.0 + p->size));
    return ratio * (bound == BB_ABOVE ? 1.0 - wrong : 1.0 + wrong);
}

/* The rule of 8 points, which is as good as that of 16 for panels of FEWER of their
 * length: the ellipse of parameter 16 reaches 4 of the panel's length off the line. */
#define FEWER 0.23
enum { HALF = 4 };
static const double few_at[HALF] = {0.1834346424956498049395, 0.5255324099163289858177,
                                    0.7966664774136267395916, 0.9602898564975362316836};
static const double few_weight[HALF] = {
    0.3626837833783619829652, 0.3137066458778872873380, 0.2223810344533744705444,
    0.1012285362903762591525};

/* A cell of a curve: where it is, and the points at its ends. */
typedef struct stretch {
    double from, to;
    bb_point a, b;
    bool few; /* the rule of 8 points does */
} stretch;

/* P's mass between two points of a curve, and the sum of mass (high - ratio), `high`
 * the larger ratio at its ends; then the atoms, in the order of the curve. */
static void put_cell(bb_discrete_pld *out, bb_bound bound, const bb_curve *curve,
                     double share, const stretch *cell) {
    const double half = (cell->to - cell->from) / 2.0, middle = cell->from + half;
    const double *const at = cell->few ? few_at : bb_gauss_at;
    const double *const weigh = cell->few ? few_weight : bb_gauss_weight;
    const bb_point a = cell->a, b = cell->b;
    const double first = exp(-a.loss), second = exp(-b.loss);
    const double high = fmax(first, second), low = fmin(first, second);
    double mass = 0.0, deficit = 0.0, size = 0.0;
    for (int k = 0; k < 2 * (cell->few ? HALF : BB_GAUSS_HALF); k++) {
        const double x = k % 2 ? at[k / 2] : -at[k / 2];
        const bb_point p = point_at(curve, middle + half * x);
        const double weight = share * half * weigh[k / 2] * exp(p.log_weight);
        mass += weight;
        deficit += weight * (high - exp(-p.loss));
        size = fmax(size, p.size);
    }
    out->error = fmax(out->error, 0x1p-52 * (32.0 + size));
    if (!(mass > 0.0)) return;
    deficit = fmin(mass * (high - low), fmax(0.0, deficit));
    if (bound == BB_BELOW) {
        const double mean = fmax(low, high - deficit / mass);
        if (high < exp(-LEAST_LOSS))
            put(out, safe_ratio(bound, fabs(a.loss) > fabs(b.loss) ? &a : &b, mean),
                mass);
        return;
    }
    const double at_low = high > low ? fmin(mass, deficit / (high - low)) : 0.0;
    put(out, safe_ratio(bound, &a, first), first > second ? mass - at_low : at_low);
    put(out, safe_ratio(bound, &b, second), first > second ? at_low : mass - at_low);
}

static void reverse(bb_discrete_pld *a, size_t from) {
    for (size_t i = from, j = a->count; i + 1 < j; i++) {
        j--;
        const double ratio = a->ratio[i], mass = a->mass[i];
        a->ratio[i] = a->ratio[j];
        a->mass[i] = a->mass[j];
        a->ratio[j] = ratio;
        a->mass[j] = mass;
    }
}

/* How wide a cell there may be. */
static double width_at(const bb_cells *cells, const bb_point *p, double share) {
    const double density = share * exp(p->log_weight) / p->slope;
    const double worth = density * bb_cells_weight(cells, p->loss);
    return fmax(bb_cells_width(cells, p->loss), cbrt(cells->least / worth));
}

/* Cells without mass make no atoms, but take as long. */
enum { CELLS_MOST = 2 * BB_DISCRETE_PLD_MOST };

/* The atoms of one curve, whose loss rises or falls; whether they fit. */
static bool put_curve(bb_discrete_pld *out, bb_bound bound, const bb_curve *curve,
                      double share, const bb_discrete_pld_plan *plan,
                      const bb_cells *cells) {
    const double panel = bb_privacy_loss_panel(curve, 0.0), longest = fmin(1.0, panel);
    const size_t start = out->count;
    double from, to, tilted_from, tilted_to, length = longest;
    bb_curve_range(curve, 0.0, &from, &to);
    bb_curve_range(curve, plan->tilt, &tilted_from, &tilted_to);
    from = fmin(from, tilted_from);
    to = fmax(to, tilted_to);
    if (!(to - from <= longest * CELLS_MOST)) return false;
    for (bb_point here = point_at(curve, from), next; from < to; here = next) {
        const double width = width_at(cells, &here, share);
        length = fmin(longest, fmin(2.0 * length, to - from));
        for (;; length *= 0.85) {
            next = point_at(curve, from + length);
            if (fabs(next.loss - here.loss) <=
                    fmin(width, width_at(cells, &next, share)) ||
                length < 1e-9)
                break;
        }
        if (out->count + 4 > BB_DISCRETE_PLD_MOST || ++out->cells > CELLS_MOST)
            return false;
        const stretch cell = {from, from + length, here, next, length <= FEWER * panel};
        put_cell(out, bound, curve, share, &cell);
        from += length;
    }
    if (out->count > start && out->ratio[out->count - 1] > out->ratio[start])
        reverse(out, start);
    return true;
}

/* Among the others, at loss 0. */
static void put_at_zero(bb_discrete_pld *out, double mass) {
    size_t k = out->count++;
    for (; k > 0 && out->ratio[k - 1] < 1.0; k--) {
        out->ratio[k] = out->ratio[k - 1];
        out->mass[k] = out->mass[k - 1];
    }
    out->ratio[k] = 1.0;
    out->mass[k] = mass;
}

static void put_step(bb_discrete_pld *out, bb_bound bound,
                     const bb_privacy_loss *loss) {
    const double e = fmin(loss->epsilon, -LEAST_LOSS), rest = 1.0 - loss->infinite;
    const bb_point down = {.loss = -e}, up = {.loss = e};
    if (bound == BB_ABOVE || loss->epsilon == e)
        put(out, safe_ratio(bound, &down, exp(e)), rest / (1.0 + exp(loss->epsilon)));
    put(out, safe_ratio(bound, &up, exp(-loss->epsilon)),
        rest / (1.0 + exp(-loss->epsilon)));
    out->error = 0x1p-50;
}

/* Where the density of a loss is highest. */
static double usual_loss(const bb_privacy_loss *loss) {
    enum { PLACES = 200 };
    double most = -INFINITY, usual = 0.0, from, to;
    for (size_t k = 0; k < loss->curves && loss->loss_atom == 0.0; k++) {
        bb_curve_range(&loss->curve[k], 0.0, &from, &to);
        for (int j = 0; j <= PLACES; j++) {
            const bb_point p =
                bb_curve_point(&loss->curve[k], 0.0, from + (to - from) * j / PLACES);
            if (p.log_weight <= most) continue;
            most = p.log_weight;
            usual = p.loss;
        }
    }
    return usual;
}

bool bb_discrete_pld_of_loss(bb_discrete_pld *out, bb_bound bound,
                             const bb_privacy_loss *loss,
                             const bb_discrete_pld_plan *plan) {
    bb_privacy_loss open = *loss;
    double share = 1.0;
    if (loss->kind == BB_PRIVACY_LOSS_GAUSSIAN) {
        share = loss->mu > 0.0 ? loss->rate : 0.0;
        open.loss_atom = 1.0 - share;
        open.curves = share > 0.0;
        open.curve[0] = (bb_curve){.kind = BB_CURVE_MIXTURE,
                                   .q = 1.0,
                                   .mu = loss->mu,
                                   .from = -INFINITY,
                                   .to = INFINITY};
    } else if (loss->kind == BB_PRIVACY_LOSS_SELECTION) {
        open.curves = 1;
        open.curve[0] = (bb_curve){.kind = BB_CURVE_EVEN,
                                   .mu = loss->epsilon,
                                   .log_norm = loss->epsilon / 2.0 +
                                               log(-2.0 * expm1(-loss->epsilon)),
                                   .from = -INFINITY,
                                   .to = INFINITY};
    }
    const bb_cells cells = bb_cells_of(plan, usual_loss(&open), 1.0);
    out->count = out->cells = 0;
    out->error = 0.0;
    out->rounds = 1.0;
    if (loss->kind == BB_PRIVACY_LOSS_STEP) put_step(out, bound, loss);
    for (size_t k = open.curves; k-- > 0;)
        if (!put_curve(out, bound, &open.curve[k], share, plan, &cells)) return false;
    if (open.loss_atom > 0.0) put_at_zero(out, open.loss_atom);
    return true;
}
