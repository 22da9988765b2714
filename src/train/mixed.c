/* Linear mixed models: which covariance of the random effects, and its best values. */
#include "train/mixed.h"

#include "base/memory.h"
#include "linalg/lbfgs.h"
#include "linalg/linalg.h"
#include "train/reml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FULL = 40, TASKS_FULL = 8, MOST_STEPS = 600 };
/* Multiplications of a search, and how many values one is taken to need. */
static const double much_work = 4e11, values = 40.0, values_full = 150.0;
static const double small_gradient = 1e-5, small_gain = 1e-10;
/* Where a form's search begins: L has no derivative at 0. */
static const double start_intercept = 0.5, start_slope = 0.2, least_start = 0.03;

const char *bb_mixed_form_name(bb_mixed_form form) {
    static const char *const name[BB_MIXED_FORMS] = {
        "random-intercept", "equal-slopes", "independent-slopes", "correlated-slopes"};
    return name[form];
}

/* A search for one form's L: its numbers are theta. */
typedef struct search {
    bb_reml *reml;
    bb_mixed_form form;
    const atomic_int *stop;
    double *L, *G, *product; /* columns x columns */
} search;

static size_t parameters_of(bb_mixed_form form, size_t p) {
    switch (form) {
    case BB_MIXED_INTERCEPT:
        return 1;
    case BB_MIXED_EQUAL:
        return p > 1 ? 2 : 1;
    case BB_MIXED_DIAGONAL:
        return p;
    case BB_MIXED_FULL:
        return p * (p + 1) / 2;
    }
    return 0;
}

/* L <- the matrix whose numbers are theta. */
static void unfold(bb_mixed_form form, size_t p, const double *theta, double *L) {
    memset(L, 0, p * p * sizeof *L);
    for (size_t a = 0; a < p; a++) {
        if (form == BB_MIXED_FULL) {
            memcpy(L + a * p, theta, (a + 1) * sizeof *L);
            theta += a + 1;
        } else if (form == BB_MIXED_DIAGONAL || a == 0) {
            L[a * p + a] = theta[a];
        } else if (form == BB_MIXED_EQUAL) {
            L[a * p + a] = theta[1];
        }
    }
}

/* g <- derivatives by theta: those by L are 2 G L. */
static void fold(const search *s, double *g) {
    const size_t p = s->reml->columns;
    double *by_L = s->product;
    if (s->form == BB_MIXED_FULL) {
        bb_product(p, p, p, 2.0, s->G, s->L, 0.0, by_L);
        for (size_t a = 0; a < p; a++, g += a)
            memcpy(g, by_L + a * p, (a + 1) * sizeof *g);
        return;
    }
    memset(g, 0, parameters_of(s->form, p) * sizeof *g);
    for (size_t a = 0; a < p; a++) {
        const double slope = 2.0 * s->G[a * p + a] * s->L[a * p + a];
        if (a == 0 || s->form == BB_MIXED_DIAGONAL)
            g[a] = slope;
        else if (s->form == BB_MIXED_EQUAL)
            g[1] += slope;
    }
}

static double value_of(void *context, const double *theta, double *g) {
    const search *s = context;
    if (s->stop && *s->stop) return INFINITY;
    unfold(s->form, s->reml->columns, theta, s->L);
    const double value = bb_reml_value(s->reml, s->L, s->form != BB_MIXED_INTERCEPT,
                                       s->form == BB_MIXED_FULL);
    if (!isfinite(value)) return INFINITY;
    bb_reml_gradient(s->reml, s->G);
    fold(s, g);
    return value;
}

static double away_from_zero(double value) {
    const double size = fabs(value);
    return size > least_start ? size : least_start;
}

/* theta <- where to begin, from the form before (its L). */
static void begin(const search *s, double *theta) {
    const size_t p = s->reml->columns;
    const double *L = s->L;
    switch (s->form) {
    case BB_MIXED_INTERCEPT:
        theta[0] = start_intercept;
        break;
    case BB_MIXED_EQUAL:
        theta[0] = away_from_zero(L[0]);
        if (p > 1) theta[1] = start_slope;
        break;
    case BB_MIXED_DIAGONAL:
        for (size_t a = 0; a < p; a++) theta[a] = away_from_zero(L[a * p + a]);
        break;
    case BB_MIXED_FULL:
        for (size_t a = 0; a < p; a++, theta += a) {
            memset(theta, 0, (a + 1) * sizeof *theta);
            theta[a] = away_from_zero(L[a * p + a]);
        }
        break;
    }
}

static size_t most_steps(const bb_reml *reml) {
    const double paid = 2.0 * much_work / bb_reml_cost(reml);
    return paid < MOST_STEPS ? (size_t)paid : MOST_STEPS;
}

/* The best L of a form, from s->L of the one before, into s->L. */
static bb_status fit_form(search *s, bb_mixed *fit) {
    const size_t p = s->reml->columns, size = parameters_of(s->form, p);
    double *theta = NULL;
    bb_status status = bb_allocate(&theta, size + bb_lbfgs_work(size), sizeof *theta,
                                   "the mixed model");
    if (status) return status;
    const bb_lbfgs problem = {.size = size,
                              .value = value_of,
                              .context = s,
                              .first = 0.25 / (double)s->reml->tasks,
                              .most_steps = most_steps(s->reml),
                              .small_gradient = small_gradient,
                              .small_gain = small_gain};
    begin(s, theta);
    fit->form = s->form;
    fit->deviance = bb_lbfgs_minimise(&problem, theta, theta + size);
    unfold(s->form, p, theta, s->L);
    free(theta);
    if (s->stop && *s->stop) return bb_fail(BB_EINTERRUPTED, "stopped before the end");
    if (!isfinite(fit->deviance))
        return bb_fail(BB_ENUMERIC, "the mixed model's likelihood is not finite");
    return BB_OK;
}

static bool is_worth_it(const bb_reml *reml, bb_mixed_form form) {
    if (form == BB_MIXED_INTERCEPT) return true;
    if (reml->columns < 2) return false;
    if (form != BB_MIXED_FULL) return bb_reml_cost(reml) * values <= much_work;
    return reml->columns <= MOST_FULL && reml->tasks >= TASKS_FULL * reml->columns &&
           bb_reml_cost(reml) * values_full <= much_work;
}

static double aic(const bb_mixed *fit, size_t p) {
    return fit->deviance + 2.0 * (double)parameters_of(fit->form, p);
}

/* All forms; *best and its L (the first columns^2 of `kept`). */
static bb_status choose(search *s, double *kept, bb_mixed *best, bb_mixed *tried) {
    const size_t p = s->reml->columns;
    bb_status status = BB_OK;
    for (size_t f = 0; f < BB_MIXED_FORMS && !status; f++) {
        bb_mixed fit = {.form = (bb_mixed_form)f, .deviance = INFINITY};
        s->form = fit.form;
        if (is_worth_it(s->reml, s->form)) status = fit_form(s, &fit);
        if (tried) tried[f] = fit;
        if (status || (f && !(aic(&fit, p) < aic(best, p)))) continue;
        *best = fit;
        memcpy(kept, s->L, p * p * sizeof *kept);
    }
    return status;
}

/* The deviations, and the tasks' models: beta + b_i. */
static bb_status finish(bb_reml *reml, const bb_design *design, const double *L,
                        bb_mixed *fit, double *weight, double *intercept) {
    const size_t p = reml->columns, m = reml->tasks;
    double *b = NULL;
    const double value = bb_reml_value(reml, L, fit->form != BB_MIXED_INTERCEPT,
                                       fit->form == BB_MIXED_FULL);
    (void)value; /* it is fit->deviance */
    fit->residual = reml->s;
    fit->intercept = reml->s * fabs(L[0]);
    fit->icc = L[0] * L[0] / (1.0 + L[0] * L[0]);
    if (!weight) return BB_OK;
    const bb_status status = bb_allocate(&b, m * p, sizeof *b, "the mixed model");
    if (status) return status;
    bb_reml_effects(reml, b);
    for (size_t i = 0; i < m; i++) {
        bb_axpy(p, 1.0, reml->beta, b + i * p);
        intercept[i] = bb_design_fold(design, b + i * p, weight + i * design->features);
    }
    free(b);
    return BB_OK;
}

/* y <- the targets with mean 0 and deviation 1. */
static bb_status scale_target(const bb_dataset *rows, double *y, double *mean,
                              double *deviation) {
    const double n = (double)rows->rows;
    double sum = 0.0, squares = 0.0;
    for (size_t j = 0; j < rows->rows; j++) sum += rows->y[j];
    *mean = sum / n;
    for (size_t j = 0; j < rows->rows; j++) {
        y[j] = rows->y[j] - *mean;
        squares += y[j] * y[j];
    }
    *deviation = sqrt(squares / (n - 1.0));
    if (!(isfinite(*deviation) && *deviation > 0.0))
        return bb_fail(BB_ENUMERIC, "a mixed model needs targets that vary");
    bb_scale(rows->rows, 1.0 / *deviation, y);
    return BB_OK;
}

/* From targets near 1 to those there are. */
static void rescale(const bb_design *design, double mean, double deviation,
                    bb_mixed *fit, double *weight, double *intercept) {
    const double freedom = (double)(design->rows - design->columns);
    fit->deviance += 2.0 * freedom * log(deviation);
    fit->residual *= deviation;
    fit->intercept *= deviation;
    if (!weight) return;
    bb_scale(design->tasks * design->features, deviation, weight);
    for (size_t i = 0; i < design->tasks; i++)
        intercept[i] = mean + deviation * intercept[i];
}

static bb_status fit_design(const bb_design *design, const double *y,
                            const bb_engine *engine, const atomic_int *stop,
                            bb_mixed *out, bb_mixed *tried, double *weight,
                            double *intercept) {
    const size_t p = design->columns;
    bb_reml reml = {0};
    double *room = NULL;
    bb_status status = bb_reml_open(&reml, design, y, engine);
    if (!status)
        status = bb_allocate(&room, 4 * p * p, sizeof *room, "the mixed model");
    if (!status) {
        search s = {.reml = &reml,
                    .stop = stop,
                    .L = room,
                    .G = room + p * p,
                    .product = room + 2 * p * p};
        double *kept = room + 3 * p * p;
        status = choose(&s, kept, out, tried);
        if (!status) status = finish(&reml, design, kept, out, weight, intercept);
    }
    free(room);
    bb_reml_close(&reml);
    return status;
}

bb_status bb_mixed_fit(const bb_dataset *rows, const bb_engine *engine,
                       const atomic_int *stop, bb_mixed *out, bb_mixed *tried,
                       double *weight, double *intercept) {
    bb_design design = {0};
    double *y = NULL, mean, deviation;
    bb_mixed fit = {0};
    bb_status status = bb_allocate(&y, rows->rows, sizeof *y, "the mixed model");
    if (!status) status = scale_target(rows, y, &mean, &deviation);
    if (!status) status = bb_design_open(&design, rows, true);
    if (!status)
        status = fit_design(&design, y, engine, stop, &fit, tried, weight, intercept);
    if (!status) {
        rescale(&design, mean, deviation, &fit, weight, intercept);
        const double shift =
            2.0 * (double)(design.rows - design.columns) * log(deviation);
        for (size_t f = 0; tried && f < BB_MIXED_FORMS; f++) tried[f].deviance += shift;
        *out = fit;
    }
    bb_design_close(&design);
    free(y);
    return status;
}
