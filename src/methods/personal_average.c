#include "methods/personal_average.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

static const double least_mean = 1e-12;
enum { rows_with_a_mean = 3 };
static const double hardly = 12.0; /* log odds */
static const double spread_of_distance = 1.0;

const double bb_personal_free_deviation = 2.0, bb_personal_less_free = 0.7;

double bb_personal_size(const bb_local *local, bool constant, double *sum) {
    const size_t d = local->d, last = d - constant, n = local->n;
    double squares = 0.0;
    memset(sum, 0, d * sizeof *sum);
    for (size_t j = 0; local->x && j < n; j++) {
        bb_axpy(last, 1.0, local->x + j * d, sum);
        squares += bb_dot(last, local->x + j * d, local->x + j * d);
    }
    for (size_t j = 0; !local->x && j < n; j++)
        for (size_t k = local->sparse_first[j]; k < local->sparse_first[j + 1]; k++) {
            const double x = local->sparse_value[k];
            if (local->sparse_column[k] >= last) continue;
            sum[local->sparse_column[k]] += x;
            squares += x * x;
        }
    const double around = squares - bb_dot(last, sum, sum) / (double)n;
    if (n >= rows_with_a_mean && around > 1e-9 * squares) squares = around;
    return squares > 0.0 ? fmax(least_mean, squares / (double)n) : 1.0;
}

double bb_personal_by_left_out(const bb_local *local) {
    const double share = 1.0 - (double)local->d / (double)local->n;
    return local->n > local->d ? share * share : 0.0;
}

static double decades(size_t l) {
    return 3.0 - (double)l;
}

double bb_personal_penalty(size_t l) {
    return pow(10.0, decades(l));
}

void bb_personal_leverages(bool by_rows, size_t n, size_t d, const double *factor,
                           double *half, double *pull) {
    if (!by_rows) {
        bb_cholesky_forms(d, factor, n, half, pull);
        return;
    }
    memset(half, 0, n * n * sizeof *half);
    for (size_t j = 0; j < n; j++) half[j * n + j] = 1.0;
    bb_cholesky_forms(n, factor, n, half, pull);
    for (size_t j = 0; j < n; j++) pull[j] = 1.0 - pull[j];
}

bb_personal_average bb_personal_average_open(double *model, size_t d, double odds) {
    memset(model, 0, d * sizeof *model);
    return (bb_personal_average){
        .model = model, .odds = odds, .d = d, .best = -INFINITY};
}

void bb_personal_average_close(bb_personal_average *a) {
    bb_scale(a->d, 1.0 / a->total, a->model);
    a->decades /= a->total;
}

double bb_personal_beforehand(const bb_personal_usual *usual, double odds, bool around,
                              size_t l) {
    const double far = around ? (decades(l) - usual->distance) / spread_of_distance
                              : (decades(l) - usual->alone) / usual->spread;
    return (around ? log(odds) : 0.0) - 0.5 * far * far;
}

void bb_personal_hear(const bb_personal_usual *usual, double centre_odds, bool centre,
                      const double *vote, double *odds) {
    double before = 0.0, after = 0.0;
    for (size_t k = 0; k < (centre ? BB_CELLS : BB_CELLS_AROUND); k++) {
        const double share = exp(bb_personal_beforehand(
            usual, centre_odds, k >= BB_CELLS_AROUND, k % BB_PERSONAL_PENALTIES));
        before += share;
        after += share * exp(vote[k]);
    }
    for (size_t k = 0; k < BB_CELLS; k++) odds[k] = vote[k] + log(before / after);
}

bool bb_personal_average_add(bb_personal_average *a, const bb_personal_usual *usual,
                             bool around, size_t l, const double *w, double score,
                             double *most) {
    score += bb_personal_beforehand(usual, a->odds, around, l);
    if (score > a->best) {
        bb_scale(a->d, exp(a->best - score), a->model);
        a->decades *= exp(a->best - score);
        a->total *= exp(a->best - score);
        a->best = score;
    }
    bb_axpy(a->d, exp(score - a->best), w, a->model);
    a->decades += exp(score - a->best) * decades(l);
    a->total += exp(score - a->best);
    if (score < *most - hardly) return false;
    *most = fmax(*most, score);
    return true;
}
