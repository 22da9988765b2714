/* A chain of factors as a list of losses, by products of two. */
#include "privacy/accounting/pld_product.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Coarser cells than that are not tried. */
#define COARSEST 10.0
/* Nodes for a cell of one round. */
#define CELL_NODES 8.0

static void swap(bb_discrete_pld *a, bb_discrete_pld *b) {
    const bb_discrete_pld c = *a;
    *a = *b;
    *b = c;
}

/* What is at work on a chain. `last`: lists of two losses of it, the last ones needed. */
typedef struct composer {
    bb_product p;
    const bb_pld_chain *chain;
    const bb_privacy_loss *loss;
    const bb_discrete_pld_plan *plan;
    bb_discrete_pld last[2], power, work;
    size_t last_of[2];
    bool fits;
} composer;

static bool times_equals(composer *c, bb_discrete_pld *all, const bb_discrete_pld *by) {
    if (!bb_product_multiply(&c->p, all, by, c->plan, &c->work)) return false;
    swap(all, &c->work);
    return true;
}

/* The list of a loss, beside that of the other one of a mixture. */
static const bb_discrete_pld *list_of(composer *c, size_t loss) {
    const int k = (int)(loss % 2);
    if (c->last_of[k] == loss) return &c->last[k];
    c->last_of[k] = SIZE_MAX;
    c->fits = bb_discrete_pld_of_loss(&c->last[k], c->p.bound, &c->loss[loss], c->plan);
    c->p.work +=
        CELL_NODES * bb_curve_work(&c->loss[loss].curve[0]) * (double)c->last[k].cells;
    if (c->p.work_most > 0.0 && c->p.work > c->p.work_most) c->fits = false;
    if (!c->fits) return NULL;
    bb_discrete_pld_prune(&c->last[k], c->p.bound, c->plan);
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
    bb_status status = bb_product_room(&c->p);
    for (int k = 0; k < 2 && !status; k++) status = bb_discrete_pld_room(&c->last[k]);
    if (!status) status = bb_discrete_pld_room(&c->power);
    if (!status) status = bb_discrete_pld_room(&c->work);
    return status;
}

static void composer_close(composer *c) {
    bb_discrete_pld *const list[] = {&c->last[0], &c->last[1], &c->power, &c->work};
    bb_product_close(&c->p);
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
