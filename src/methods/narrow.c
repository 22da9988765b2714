#include "methods/narrow.h"

#include "methods/hope.h"

#include <math.h>

/* Of mu^2, each round: as much as it takes to stand out so far, and at most that. */
static const double wanted_reach = 60.0, most_share = 0.05;
/* How far a round must stand out of the noise. */
static const double least_reach = 8.0;
/* A range is made narrower where tasks use less than this part of it, until they use half. */
static const double little = 0.25, wanted = 0.5, least_used = 1e-3;
/* A task whose numbers go further than this, then, takes a wider one. */
static const double furthest = 2.0;

/* -- from public sizes -- */

static double share_of(const bb_view *view) {
    const double root = wanted_reach / bb_hope_reach(view->pub, view->pub->mu);
    return fmin(root * root, most_share);
}

double bb_narrow_share(const bb_view *view) {
    const bb_public *pub = view->pub;
    if (!pub->ranged || !pub->constant || pub->features < 2) return 0.0;
    const double share = share_of(view);
    return bb_hope_reach(pub, pub->mu * sqrt(share)) >= least_reach ? share : 0.0;
}

static size_t columns_of(const bb_view *view) {
    return view->pub->features - 1;
}

bb_block bb_narrow_block(const bb_view *view, uint32_t round) {
    return (bb_block){round ? "widths in ranges" : "places in ranges", BB_FORM_VECTOR,
                      bb_narrow_length(view), 1.0, 1.0};
}

/* A number for each column, and one more by which tasks are counted that have rows. */
size_t bb_narrow_length(const bb_view *view) {
    return columns_of(view) + 1;
}

static double part_of(const bb_view *view) {
    return 1.0 / sqrt((double)bb_narrow_length(view));
}

/* -- one task -- */

/* A number of a row: in [-1, 1], or outside of its range. */
static double number_of(const bb_local *local, size_t j, size_t k) {
    return local->x[j * local->d + k] * sqrt((double)local->d);
}

static double furthest_from(const bb_local *local, size_t k, double place) {
    double most = 0.0;
    for (size_t j = 0; j < local->n; j++)
        most = fmax(most, fabs(number_of(local, j, k) - place));
    return most;
}

/* Sparse rows are not moved. */
static bool has_rows(const bb_local *local) {
    return local->x && local->n > 0;
}

/* What is 0 or 1 is so: a rare 1 would be far from all else in a narrower range. */
static bool stays(const bb_local *local, size_t k) {
    return local->zero_one && local->zero_one[k];
}

/* Nor does a column of one value say how far it goes: what most tasks have none of, and a few
 * some, is not narrow. */
static bool tells_width(const bb_local *local, size_t k) {
    for (size_t j = 1; j < local->n; j++)
        if (local->x[j * local->d + k] != local->x[k]) return !stays(local, k);
    return false;
}

void bb_narrow_show_places(const bb_view *view, const bb_local *local, double *vote) {
    const double part = part_of(view);
    if (!has_rows(local)) return;
    for (size_t k = 0; k < columns_of(view); k++)
        for (size_t j = 0; j < local->n; j++)
            vote[k] +=
                part * fmax(-1.0, fmin(1.0, number_of(local, j, k))) / (double)local->n;
    vote[columns_of(view)] = part;
}

void bb_narrow_show_widths(const bb_view *view, const double *place,
                           const bb_local *local, double *vote) {
    const double part = part_of(view);
    if (!has_rows(local)) return;
    for (size_t k = 0; k < columns_of(view); k++) {
        const double most =
            tells_width(local, k) ? furthest_from(local, k, place[k]) : 2.0;
        vote[k] = part * sqrt(0.5 * fmin(most, 2.0));
    }
    vote[columns_of(view)] = part;
}

/* -- the billboard -- */

/* The part of a number's sum that is 1 where all say so: of the tasks that have rows. */
static double all_of(const bb_view *view, const bb_release *release) {
    const double some = 0.1 * part_of(view) * (double)view->pub->tasks;
    return fmax(release->value[0][columns_of(view)], some);
}

void bb_narrow_take_places(const bb_view *view, const bb_release *release,
                           double *place) {
    const double all = all_of(view, release);
    for (size_t k = 0; k < columns_of(view); k++)
        place[k] = fmax(-1.0, fmin(1.0, release->value[0][k] / all));
}

/* Roots, so that a tenth of a range stands out of the noise, and few tasks that go far count for
 * more than they would with logarithms. Each is drawn to the mean of all by what noise explains
 * of their differences; what is left of it is the least that can be. */
void bb_narrow_take_widths(const bb_view *view, const bb_release *release,
                           double *factor) {
    const size_t count = columns_of(view);
    const double p = (double)count, all = all_of(view, release);
    const double *sum = release->value[0], sd = release->noise[0] / all;
    double mean = 0.0, squares = 0.0;
    for (size_t k = 0; k < count; k++) mean += sum[k] / (all * p);
    for (size_t k = 0; k < count; k++) squares += pow(sum[k] / all - mean, 2.0);
    const double spread = count > 2 ? squares / (p - 1.0) : INFINITY;
    const double own = spread > sd * sd ? 1.0 - sd * sd / spread : 0.0;
    const double deviation = sd * sqrt(own + (1.0 - own) / p);
    for (size_t k = 0; k < count; k++) {
        const double root = mean + own * (sum[k] / all - mean);
        const double used = fmax(least_used, 2.0 * pow(fmax(root, deviation), 2.0));
        factor[k] = used < little ? wanted / used : 1.0;
    }
}

bool bb_narrow_is(const bb_view *view, const double *factor) {
    for (size_t k = 0; k < columns_of(view); k++)
        if (factor[k] > 1.0) return true;
    return false;
}

void bb_narrow_move(const bb_view *view, const double *at, const double *factor,
                    const bb_local *local, double *scale, double *place) {
    for (size_t k = 0; k < columns_of(view); k++) {
        const double most = local->x ? furthest_from(local, k, at[k]) : 0.0;
        scale[k] = local->x && !stays(local, k) ? factor[k] : 1.0;
        if (scale[k] * most > furthest) scale[k] = fmax(1.0, furthest / most);
        place[k] = scale[k] > 1.0 ? scale[k] * at[k] : 0.0;
    }
}

void bb_narrow_back(const bb_view *view, const double *place, const double *factor,
                    const double *model, double *out) {
    const size_t last = columns_of(view);
    out[last] = model[last];
    for (size_t k = 0; k < last; k++) {
        out[k] = model[k] * factor[k];
        if (factor[k] > 1.0) out[last] -= out[k] * place[k];
    }
}
