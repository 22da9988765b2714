#include "audit/membership.h"

#include "audit/binomial.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

const double bb_membership_rate[BB_MEMBERSHIP_RATES] = {0.001, 0.01, 0.1};

typedef struct trial {
    double score;
    bool first;
} trial;

/* Highest score first. */
static int compare(const void *left, const void *right) {
    const trial *a = left, *b = right;
    return (a->score < b->score) - (a->score > b->score);
}

/* Runs of either coin. */
typedef struct tally {
    size_t first, other;
} tally;

static tally count(size_t runs, const trial *run) {
    tally t = {0, 0};
    for (size_t k = 0; k < runs; k++) *(run[k].first ? &t.first : &t.other) += 1;
    return t;
}

/* Whether a threshold can stand behind the k-th of the sorted runs. */
static bool is_cut(size_t runs, const trial *run, size_t k) {
    return k + 1 == runs || run[k].score != run[k + 1].score;
}

/* -- the curve -- */

/* run: sorted. */
static void draw_curve(size_t runs, const trial *run, bb_membership *out) {
    const tally all = count(runs, run);
    const double first = (double)all.first, other = (double)all.other;
    tally above = {0, 0}, before = {0, 0};
    double area = 0.0;
    for (int k = 0; k < BB_MEMBERSHIP_RATES; k++) out->found[k] = 0.0;
    for (size_t k = 0; k < runs; k++) {
        *(run[k].first ? &above.first : &above.other) += 1;
        if (!is_cut(runs, run, k)) continue;
        area += (double)(above.other - before.other) * 0.5 *
                (double)(above.first + before.first);
        before = above;
        for (int r = 0; r < BB_MEMBERSHIP_RATES; r++)
            if ((double)above.other <= bb_membership_rate[r] * other)
                out->found[r] = (double)above.first / first;
    }
    out->auc = area / (first * other);
}

/* -- the bound -- */

/* A test: the score is at least `threshold` (and speaks for first), or below it (and
 * speaks for other). */
typedef struct test {
    double threshold;
    bool above;
} test;

/* What is proved by a test that hits `hits` of `n` runs that it should, and `misses` of
 * `other` that it should not. */
static double bound(size_t hits, size_t n, size_t misses, size_t other, double delta,
                    double alpha) {
    if (n == 0 || other == 0) return 0.0;
    const double right = bb_binomial_lower(hits, n, 0.5 * alpha) - delta;
    const double wrong = bb_binomial_upper(misses, other, 0.5 * alpha);
    return right > wrong ? log(right / wrong) : 0.0;
}

static double judge(test t, tally above, tally all, double delta, double alpha) {
    return t.above ? bound(above.first, all.first, above.other, all.other, delta, alpha)
                   : bound(all.other - above.other, all.other, all.first - above.first,
                           all.first, delta, alpha);
}

static test choose(size_t runs, trial *run, double delta, double alpha) {
    const tally all = count(runs, run);
    tally above = {0, 0};
    test best = {INFINITY, true};
    double most = -1.0;
    qsort(run, runs, sizeof *run, compare);
    for (size_t k = 0; k < runs; k++) {
        *(run[k].first ? &above.first : &above.other) += 1;
        if (!is_cut(runs, run, k)) continue;
        for (int side = 0; side < 2; side++) {
            const test t = {run[k].score, side == 0};
            const double value = judge(t, above, all, delta, alpha);
            if (value <= most) continue;
            most = value;
            best = t;
        }
    }
    return best;
}

static double prove(test t, size_t runs, const trial *run, double delta, double alpha) {
    tally above = {0, 0};
    for (size_t k = 0; k < runs; k++)
        if (run[k].score >= t.threshold)
            *(run[k].first ? &above.first : &above.other) += 1;
    return judge(t, above, count(runs, run), delta, alpha);
}

bb_status bb_membership_judge(size_t runs, const double *score, const bool *first,
                              double delta, double confidence, bb_membership *out) {
    const size_t half = runs / 2;
    trial *run = NULL;
    const bb_status status = bb_allocate(&run, runs, sizeof *run, "the runs' scores");
    if (status) return status;
    for (size_t k = 0; k < runs; k++) run[k] = (trial){score[k], first[k]};
    const test best = choose(half, run, delta, 1.0 - confidence);
    out->epsilon = prove(best, runs - half, run + half, delta, 1.0 - confidence);
    qsort(run, runs, sizeof *run, compare);
    draw_curve(runs, run, out);
    free(run);
    return BB_OK;
}

double bb_membership_auc_limit(double epsilon, double delta) {
    const double e = exp(-epsilon);
    return delta + (1.0 - delta) * (1.0 + delta * e) / (1.0 + e);
}
