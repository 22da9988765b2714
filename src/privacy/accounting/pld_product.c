#include "privacy/accounting/pld_product.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Losses that far beyond all that matter are as good as infinite. */
#define FAR 45.0
/* Mass that may be taken for that of infinite loss, or left out, beside delta; and on
 * the other side, for that of the least loss. */
#define SPARE     1e-6
#define LOW_SPARE 1e-8
/* What a cell of a product costs, and each product of two atoms, in multiplications or so. */
#define CELL_WORK    200.0
#define PRODUCT_WORK 3.0

bb_status bb_product_room(bb_product *p) {
    const size_t room = BB_DISCRETE_PLD_MOST + 1;
    const bb_status status =
        bb_allocate(&p->node, 4 * room, sizeof *p->node, "the accountant");
    if (status) return status;
    p->mass = p->node + room;
    p->deficit = p->mass + room;
    p->tail = p->deficit + room;
    return BB_OK;
}

void bb_product_close(bb_product *p) {
    free(p->node);
    *p = (bb_product){0};
}

static bool lay_nodes(bb_product *p, const bb_cells *cells, double low, double high) {
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
static void join(bb_product *p, const bb_cells *cells) {
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

static void settle_above(const bb_product *p, bb_discrete_pld *out) {
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

static void settle_below(const bb_product *p, bb_discrete_pld *out) {
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
void bb_discrete_pld_prune(bb_discrete_pld *a, bb_bound bound,
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
static void add_row(bb_product *p, double ratio, double mass, const bb_discrete_pld *b,
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
bool bb_product_multiply(bb_product *p, const bb_discrete_pld *a,
                         const bb_discrete_pld *b, const bb_discrete_pld_plan *plan,
                         bb_discrete_pld *out) {
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
    bb_discrete_pld_prune(out, p->bound, plan);
    return true;
}
