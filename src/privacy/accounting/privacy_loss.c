#include "base/memory.h"
#include "privacy/accounting/privacy_loss_walk.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { HALF_POINTS = BB_GAUSS_HALF, MOST_NODES = BB_PRIVACY_LOSS_NODES_MOST };
/* nodes of smaller shares are left out */
#define SHARE_LEAST 1.4e-21
/* the variation of the density is read off at the nodes */
#define VARIATION_MARGIN 1.1

void bb_privacy_loss_close(bb_privacy_loss *loss) {
    free(loss->loss);
    free(loss->weight);
    *loss = (bb_privacy_loss){0};
}

/* -- nodes -- */

size_t bb_privacy_loss_nodes(bb_privacy_loss *loss, double reach, size_t most) {
    size_t panels = 0;
    if (loss->kind != BB_PRIVACY_LOSS_CURVES) return 1;
    if (reach > 0.0 && reach == loss->counted_reach) return loss->counted;
    for (size_t k = 0; k < loss->curves; k++) {
        bb_curve_walk w =
            bb_curve_walk_open(&loss->curve[k], loss->tilt, reach, loss->coarse);
        while (2 * HALF_POINTS * panels <= most && bb_curve_walk_next(&w)) panels++;
    }
    if (2 * HALF_POINTS * panels <= most) {
        loss->counted = 2 * HALF_POINTS * panels;
        loss->counted_reach = reach;
    }
    return 2 * HALF_POINTS * panels;
}

bb_status bb_privacy_loss_too_large(void) {
    return bb_fail(BB_ENUMERIC, "the accountant cannot count rounds with so little "
                                "noise: take a smaller epsilon, or more noise");
}

static bb_status make_room(bb_privacy_loss *loss, size_t nodes) {
    if (nodes <= loss->room) return BB_OK;
    double *value = NULL, *weight = NULL;
    bb_status status = nodes > MOST_NODES ? bb_privacy_loss_too_large()
                                          : bb_allocate(&value, nodes, sizeof *value,
                                                        "the accountant");
    if (!status) status = bb_allocate(&weight, nodes, sizeof *weight, "the accountant");
    if (status) {
        free(value);
        return status;
    }
    free(loss->loss);
    free(loss->weight);
    loss->loss = value;
    loss->weight = weight;
    loss->room = nodes;
    return BB_OK;
}

/* Nodes of one curve, weights still logs. *size: of the numbers in them. */
static void gather(bb_privacy_loss *loss, const bb_curve *curve, double reach,
                   double *slope, double *size) {
    bb_curve_walk w = bb_curve_walk_open(curve, loss->tilt, reach, loss->coarse);
    while (bb_curve_walk_next(&w)) {
        const double half = (w.to - w.from) / 2.0, middle = w.from + half;
        for (int k = 0; k < 2 * HALF_POINTS; k++) {
            const int at = k < HALF_POINTS ? HALF_POINTS - 1 - k : k - HALF_POINTS;
            const double x = k < HALF_POINTS ? -bb_gauss_at[at] : bb_gauss_at[at];
            const bb_point p = bb_curve_point(curve, loss->tilt, middle + half * x);
            loss->loss[loss->count] = p.loss;
            loss->weight[loss->count] = p.log_weight + log(half * bb_gauss_weight[at]);
            slope[loss->count] = p.slope * half * bb_gauss_weight[at];
            size[loss->count] = p.size;
            loss->count++;
        }
    }
}

/* Whatever lies before node j of the first curve, where the loss hardly changes and its
 * density is high, may be counted as part of the atom: envelope k has half of what the
 * one before it has left. */
static void cut_envelopes(bb_privacy_loss *loss, size_t end, const double *density) {
    bb_envelope whole = loss->envelope[0];
    double goal = (1.0 + whole.atom) / 2.0;
    loss->envelopes = 1;
    loss->envelope[0].variation *= VARIATION_MARGIN;
    for (size_t j = 0; j + 1 < end && loss->envelopes < BB_PRIVACY_LOSS_ENVELOPES;
         j++) {
        whole.variation -= fabs(density[j] - (j ? density[j - 1] : 0.0));
        whole.atom += loss->weight[j];
        if (whole.atom < goal) continue;
        loss->envelope[loss->envelopes++] = (bb_envelope){
            whole.atom, (fmax(0.0, whole.variation) + density[j]) * VARIATION_MARGIN};
        goal = (1.0 + whole.atom) / 2.0;
    }
}

/* From log weights to shares, and to what is known of the density of the loss. */
static void normalise(bb_privacy_loss *loss, const size_t *first, double *density,
                      const double *size) {
    const double added =
        4.0 + (double)loss->count / 64.0; /* for the sum's own errors */
    double top = loss->loss_atom > 0.0 ? log(loss->loss_atom) : -INFINITY;
    for (size_t j = 0; j < loss->count; j++) top = fmax(top, loss->weight[j]);
    long double sum = loss->loss_atom * exp(-top);
    for (size_t j = 0; j < loss->count; j++) sum += exp(loss->weight[j] - top);
    loss->log_moment = (double)(top + logl(sum));
    loss->atom = loss->loss_atom * exp(-loss->log_moment);
    loss->error = 0x1p-51;
    loss->slip = 0.0;
    loss->envelope[0] = (bb_envelope){loss->atom, 0.0};
    for (size_t k = 0; k < loss->curves; k++) {
        double before = 0.0;
        for (size_t j = first[k]; j < first[k + 1]; j++) {
            const double share = exp(loss->weight[j] - loss->log_moment);
            density[j] = share > 0.0 ? share / density[j] : 0.0;
            loss->envelope[0].variation += fabs(density[j] - before);
            before = density[j];
            loss->weight[j] = share;
            loss->error += 0x1p-52 * share * (1.0 + size[j]);
            loss->slip += 0x1p-51 * share * (added + size[j]) * fabs(loss->loss[j]);
        }
        loss->envelope[0].variation += before;
    }
    cut_envelopes(loss, first[1], density);
    size_t kept = 0;
    for (size_t j = 0; j < loss->count; j++) {
        if (loss->weight[j] < SHARE_LEAST) continue;
        loss->loss[kept] = loss->loss[j];
        loss->weight[kept++] = loss->weight[j];
    }
    loss->count = kept;
    bb_privacy_loss_settle_moment(loss);
}

static bb_status tilt_curves(bb_privacy_loss *loss, double reach) {
    const size_t nodes = bb_privacy_loss_nodes(loss, reach, MOST_NODES);
    size_t first[BB_PRIVACY_LOSS_CURVES_MOST + 1] = {0};
    double *slope = NULL, *size = NULL;
    bb_status status = make_room(loss, nodes);
    if (!status) status = bb_allocate(&slope, nodes, sizeof *slope, "the accountant");
    if (!status) status = bb_allocate(&size, nodes, sizeof *size, "the accountant");
    if (status) goto done;
    loss->count = 0;
    for (size_t k = 0; k < loss->curves; k++) {
        gather(loss, &loss->curve[k], reach, slope, size);
        first[k + 1] = loss->count;
    }
    loss->done += bb_curve_work(&loss->curve[0]) * (double)loss->count;
    normalise(loss, first, slope, size);
done:
    free(slope);
    free(size);
    return status;
}

bb_status bb_privacy_loss_tilt(bb_privacy_loss *loss, double c, double reach) {
    assert(c > 0.0);
    if (c != loss->tilt) loss->counted_reach = 0.0;
    loss->tilt = c;
    if (loss->kind == BB_PRIVACY_LOSS_CURVES) return tilt_curves(loss, reach);
    bb_privacy_loss_tilt_closed(loss);
    return BB_OK;
}
