#include "audit/target.h"

#include "audit/door.h"
#include "linalg/linalg.h"
#include "privacy/accounting/accountant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The changed task, one that the adversary knows, and one that shows zeros. */
enum { TASKS = 3, CHANGED = 0, KNOWN = 1 };
static const double clip = 2.0;

typedef struct state {
    const bb_audit_spec *spec;
    bb_audit_door door;
    double *shown[2]; /* by the changed task in each world */
    double *known;    /* by the known task */
    double *mean[2];  /* each world's sum without noise */
    double *rest;     /* work: a sum */
    double *work;     /* work: a vector */
} state;

/* -- opening -- */

static bb_form form_of(const bb_audit_spec *spec) {
    return spec->kind == BB_AUDIT_SELECTION ? BB_FORM_SELECTION : spec->form;
}

static bb_layout layout_of(const bb_audit_spec *spec) {
    static const char *const name[BB_MOST_BLOCKS] = {"first", "second", "third",
                                                     "fourth"};
    bb_layout layout = {.blocks = spec->blocks};
    for (size_t b = 0; b < spec->blocks; b++)
        layout.block[b] =
            (bb_block){.name = name[b],
                       .form = form_of(spec),
                       .length = spec->kind == BB_AUDIT_SELECTION ? 2 : spec->length,
                       .clip = clip,
                       .share = 1.0 / (double)spec->blocks};
    return layout;
}

/* clip times a unit vector: all entries equal, or one orthogonal to it; for squares,
 * which must be orthogonal too, two axes. */
static void direction(const bb_audit_spec *spec, bool second, double *v) {
    const size_t d = spec->length;
    memset(v, 0, d * sizeof *v);
    if (spec->form == BB_FORM_SQUARE) {
        v[second ? 1 : 0] = clip;
    } else if (second) {
        v[0] = clip * sqrt(0.5);
        v[1] = -v[0];
    } else {
        for (size_t k = 0; k < d; k++) v[k] = clip / sqrt((double)d);
    }
}

/* What the changed task shows in each of its blocks; `v` has room for spec->length. */
static void worst_pair(const bb_audit_spec *spec, double *v, double *const *shown) {
    const bool flat = spec->form == BB_FORM_VECTOR || spec->form == BB_FORM_SLOT;
    const bool zeros =
        spec->adjacency == BB_ADD_REMOVE || spec->kind == BB_AUDIT_WISHART_PUBLISHED;
    const size_t d = spec->length;
    if (spec->kind == BB_AUDIT_SELECTION) {
        shown[0][0] = zeros ? 0.0 : 1.0;
        shown[1][1] = 1.0;
        return;
    }
    for (int world = 0; world < (zeros ? 1 : 2); world++) {
        direction(spec, world == 1 && !flat, v);
        if (world == 1 && flat) bb_scale(d, -1.0, v);
        if (spec->form == BB_FORM_PSD) /* v v' / clip */
            for (size_t k = 0; k < d; k++)
                bb_axpy(d, v[k] / clip, v, shown[world] + k * d);
        else
            memcpy(shown[world], v, d * sizeof *v);
    }
}

/* Adds what a task shows to a block's sum without noise. */
static void add_mean(const bb_block *block, size_t task, const double *v, double *sum) {
    const size_t d = block->length, n = bb_block_show_length(block);
    const size_t offset = block->form == BB_FORM_SLOT ? task * d : 0;
    for (size_t k = 0; k < n; k++) {
        if (block->form == BB_FORM_OUTER)
            bb_axpy(d, v[k], v, sum + k * d);
        else
            sum[offset + k] += block->form == BB_FORM_SQUARE ? v[k] * v[k] : v[k];
    }
}

static bb_status take_room(state *s) {
    const bb_block *block = &s->door.layout.block[0];
    const size_t show = bb_block_show_length(block);
    const size_t sum = bb_block_sum_length(block, TASKS);
    double **const room[] = {&s->shown[0], &s->shown[1], &s->known, &s->work,
                             &s->mean[0],  &s->mean[1],  &s->rest};
    bb_status status = BB_OK;
    for (size_t i = 0; i < sizeof room / sizeof *room && !status; i++)
        status = bb_allocate(room[i], i < 4 ? show : sum, sizeof(double), "the audit");
    return status;
}

static void close_state(void *worker) {
    state *s = worker;
    if (!s) return;
    bb_audit_door_close(&s->door);
    free(s->shown[0]);
    free(s->shown[1]);
    free(s->known);
    free(s->mean[0]);
    free(s->mean[1]);
    free(s->rest);
    free(s->work);
    free(s);
}

static const bb_mechanism *mechanism_of(const bb_audit_spec *spec) {
    return spec->kind == BB_AUDIT_WISHART_PUBLISHED ? &bb_mechanism_wishart_published
                                                    : &bb_mechanism_gaussian;
}

static bb_status open_state(const void *self, void **worker) {
    const bb_audit_spec *spec = self;
    const bb_public pub = {.tasks = TASKS,
                           .adjacency = spec->adjacency,
                           .epsilon = spec->epsilon,
                           .delta = spec->delta,
                           .rounds = spec->rounds};
    const bb_layout layout = layout_of(spec);
    state *s = NULL;
    bb_status status = bb_allocate(&s, 1, sizeof *s, "the audit");
    if (status) return status;
    s->spec = spec;
    status = bb_audit_door_open(&s->door, mechanism_of(spec), &pub, &layout);
    if (!status) status = take_room(s);
    if (status) {
        close_state(s);
        return status;
    }
    worst_pair(spec, s->work, s->shown);
    s->known[0] = spec->kind == BB_AUDIT_SELECTION ? 1.0 : 0.5 * clip;
    for (int world = 0; world < 2; world++) {
        add_mean(&layout.block[0], CHANGED, s->shown[world], s->mean[world]);
        add_mean(&layout.block[0], KNOWN, s->known, s->mean[world]);
    }
    *worker = s;
    return BB_OK;
}

/* -- trials -- */

/* Towards the log-likelihood ratio and the squared norm. The noise is spherical in the
 * Frobenius norm of symmetric matrices, too. */
static void look_at_gaussian(state *s, size_t n, const double *value, double noise,
                             double *statistic) {
    for (size_t k = 0; k < n; k++) {
        const double rest = value[k] - 0.5 * (s->mean[0][k] + s->mean[1][k]);
        statistic[0] += rest * (s->mean[0][k] - s->mean[1][k]) / (noise * noise);
        statistic[1] += rest * rest / (noise * noise);
    }
}

/* The sum without the changed task is that of world 1, where it shows zeros. */
static void look_at_wishart(state *s, size_t n, const double *value,
                            double *statistic) {
    const size_t d = s->spec->length;
    const double *w = s->shown[0];
    double u = 0.0;
    for (size_t k = 0; k < n; k++) s->rest[k] = value[k] - s->mean[1][k];
    for (size_t k = 0; k < n; k += n == d ? 1 : d + 1) statistic[1] += s->rest[k];
    if (n == d) {
        u = s->rest[0];
    } else if (bb_cholesky(d, s->rest) == BB_OK) {
        memcpy(s->work, w, d * sizeof *w);
        bb_cholesky_solve(d, s->rest, s->work);
        u = clip * clip / bb_dot(d, w, s->work);
    }
    statistic[0] = fmin(statistic[0], u);
}

static bb_status run_round(state *s, int world, double *statistic) {
    const double *shown[BB_MOST_BLOCKS], *known[BB_MOST_BLOCKS];
    bb_release release;
    for (size_t b = 0; b < s->spec->blocks; b++) {
        shown[b] = s->shown[world];
        known[b] = s->known;
    }
    bb_status status = bb_audit_door_ask(&s->door);
    if (status) return status;
    bb_audit_door_show(&s->door, CHANGED, shown);
    bb_audit_door_show(&s->door, KNOWN, known);
    status = bb_audit_door_publish(&s->door, &release);
    for (size_t b = 0; b < s->spec->blocks && !status; b++) {
        const size_t n = bb_block_sum_length(&s->door.layout.block[b], TASKS);
        if (s->spec->kind == BB_AUDIT_SELECTION)
            statistic[0] += (double)release.winner[b];
        else if (s->spec->kind == BB_AUDIT_WISHART_PUBLISHED)
            look_at_wishart(s, n, release.value[b], statistic);
        else
            look_at_gaussian(s, n, release.value[b], release.noise[b], statistic);
    }
    return status;
}

static bb_status run_trial(void *worker, int world, bb_random *random,
                           double *statistic) {
    state *s = worker;
    statistic[0] = s->spec->kind == BB_AUDIT_WISHART_PUBLISHED ? INFINITY : 0.0;
    statistic[1] = 0.0;
    bb_status status = bb_audit_door_start(&s->door, bb_random_bits(random));
    for (uint32_t t = 0; t < s->spec->rounds && !status; t++)
        status = run_round(s, world, statistic);
    return status;
}

/* -- the claim -- */

static double claim_of(const bb_audit_spec *spec, const bb_plan *plan) {
    double squares = 0.0, pure = 0.0;
    if (spec->kind == BB_AUDIT_WISHART_PUBLISHED) return spec->epsilon;
    for (uint32_t t = 0; t < plan->rounds; t++) {
        squares += plan->mu[t] * plan->mu[t];
        pure += plan->pure[t];
    }
    return spec->kind == BB_AUDIT_SELECTION
               ? pure
               : bb_gdp_epsilon(sqrt(squares), spec->delta);
}

static bb_status check(const bb_audit_spec *spec) {
    const bool selection = spec->kind == BB_AUDIT_SELECTION;
    if (spec->kind == BB_AUDIT_WISHART_PUBLISHED && spec->form != BB_FORM_OUTER &&
        spec->form != BB_FORM_SQUARE)
        return bb_fail(BB_EUSAGE, "audit: wishart-published noise is for the forms "
                                  "outer and square");
    if (spec->blocks < 1 || spec->blocks > BB_MOST_BLOCKS ||
        (selection && spec->blocks != 1))
        return bb_fail(BB_EUSAGE, "audit: a round has 1 to %d blocks, got %zu",
                       selection ? 1 : BB_MOST_BLOCKS, spec->blocks);
    if (spec->rounds < 1 || (!selection && spec->length < 2))
        return bb_fail(BB_EUSAGE,
                       "audit: at least 1 round and length 2, got %u and %zu",
                       spec->rounds, spec->length);
    return BB_OK;
}

bb_status bb_audit_target_make(bb_audit_target *target, double *epsilon,
                               const bb_audit_spec *spec) {
    void *worker = NULL;
    bb_status status = check(spec);
    if (!status) status = open_state(spec, &worker);
    if (status) return status;
    *epsilon = claim_of(spec, &((state *)worker)->door.plan);
    close_state(worker);
    *target = (bb_audit_target){.self = spec,
                                .statistics = 2,
                                .open = open_state,
                                .trial = run_trial,
                                .close = close_state};
    return BB_OK;
}
