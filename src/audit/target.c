#include "audit/target_parts.h"
#include "linalg/linalg.h"
#include "privacy/accounting/accountant.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double clip = 2.0;

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

/* clip times a unit vector: all entries equal, or one orthogonal to it; for squares the
 * first axis or the last. */
static void direction(const bb_audit_spec *spec, bool second, double *v) {
    const size_t d = spec->length;
    memset(v, 0, d * sizeof *v);
    if (spec->form == BB_FORM_SQUARE) {
        v[second ? d - 1 : 0] = clip;
    } else if (second) {
        v[0] = clip * sqrt(0.5);
        v[1] = -v[0];
    } else {
        for (size_t k = 0; k < d; k++) v[k] = clip / sqrt((double)d);
    }
}

/* One of the two contributions that differ most, as the door takes it; `v` has room for
 * spec->length. */
static void contribution(const bb_audit_spec *spec, bool second, double *v,
                         double *shown) {
    const bool flat = spec->form == BB_FORM_VECTOR || spec->form == BB_FORM_SLOT;
    const size_t d = spec->length;
    direction(spec, second && !flat, v);
    if (second && flat) bb_scale(d, -1.0, v);
    if (spec->form == BB_FORM_PSD) /* v v' / clip */
        for (size_t k = 0; k < d; k++) bb_axpy(d, v[k] / clip, v, shown + k * d);
    else
        memcpy(shown, v, d * sizeof *v);
}

/* What the changed task shows in each of its blocks, in either world, turn by turn;
 * where it may be missing, world 1 has zeros. */
static void worst_pair(const bb_audit_spec *spec, double *v,
                       double *shown[2][AUDIT_TURNS]) {
    const bool zeros =
        spec->adjacency == BB_ADD_REMOVE || spec->kind == BB_AUDIT_WISHART_PUBLISHED;
    const bool turns = spec->kind == BB_AUDIT_GAUSSIAN;
    for (int turn = 0; turn < AUDIT_TURNS; turn++) {
        if (spec->kind == BB_AUDIT_SELECTION) {
            shown[0][turn][0] = zeros ? 0.0 : 1.0;
            shown[1][turn][1] = 1.0;
            continue;
        }
        contribution(spec, turns && turn == 1, v, shown[0][turn]);
        if (!zeros) contribution(spec, turn == 0, v, shown[1][turn]);
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

static bb_status take_room(bb_audit_state *s) {
    const bb_block *block = &s->door.layout.block[0];
    const size_t show = bb_block_show_length(block);
    const size_t sum = bb_block_sum_length(block, AUDIT_TASKS);
    double **const room[] = {&s->shown[0][0], &s->shown[0][1], &s->shown[1][0],
                             &s->shown[1][1], &s->known,       &s->work,
                             &s->mean[0][0],  &s->mean[0][1],  &s->mean[1][0],
                             &s->mean[1][1],  &s->rest};
    bb_status status = BB_OK;
    for (size_t i = 0; i < sizeof room / sizeof *room && !status; i++)
        status = bb_allocate(room[i], i < 6 ? show : sum, sizeof(double), "the audit");
    if (!status)
        status =
            bb_allocate(&s->before, s->spec->blocks * sum, sizeof(double), "the audit");
    return status;
}

void bb_audit_state_close(bb_audit_state *s) {
    if (!s) return;
    bb_audit_door_close(&s->door);
    for (int k = 0; k < 2 * AUDIT_TURNS; k++) {
        free(s->shown[k / AUDIT_TURNS][k % AUDIT_TURNS]);
        free(s->mean[k / AUDIT_TURNS][k % AUDIT_TURNS]);
    }
    free(s->known);
    free(s->before);
    free(s->rest);
    free(s->work);
    free(s);
}

static const bb_mechanism *mechanism_of(const bb_audit_spec *spec) {
    if (spec->mechanism) return spec->mechanism;
    return spec->kind == BB_AUDIT_WISHART_PUBLISHED ? &bb_mechanism_wishart_published
                                                    : &bb_mechanism_gaussian;
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

bb_status bb_audit_state_open(bb_audit_state **out, const bb_audit_spec *spec) {
    const bb_public pub = {.tasks = AUDIT_TASKS,
                           .adjacency = spec->adjacency,
                           .epsilon = spec->epsilon,
                           .delta = spec->delta,
                           .rounds = spec->rounds};
    const bb_layout layout = layout_of(spec);
    bb_audit_state *s = NULL;
    bb_status status = check(spec);
    if (!status) status = bb_allocate(&s, 1, sizeof *s, "the audit");
    if (status) return status;
    s->spec = spec;
    status = bb_audit_door_open(&s->door, mechanism_of(spec), &pub, &layout);
    if (!status) status = take_room(s);
    if (status) {
        bb_audit_state_close(s);
        return status;
    }
    worst_pair(spec, s->work, s->shown);
    s->known[0] = spec->kind == BB_AUDIT_SELECTION ? 1.0 : 0.5 * clip;
    for (int k = 0; k < 2 * AUDIT_TURNS; k++) {
        double *mean = s->mean[k / AUDIT_TURNS][k % AUDIT_TURNS];
        add_mean(&layout.block[0], AUDIT_CHANGED,
                 s->shown[k / AUDIT_TURNS][k % AUDIT_TURNS], mean);
        add_mean(&layout.block[0], AUDIT_KNOWN, s->known, mean);
    }
    *out = s;
    return BB_OK;
}

/* -- trials -- */

/* log(a / b) of two distances, either of which may be 0. */
static double log_ratio(double a, double b) {
    return log(fmax(a, DBL_MIN)) - log(fmax(b, DBL_MIN));
}

/* The noise is spherical in the Frobenius norm of symmetric matrices, too. */
static void look_at_gaussian(bb_audit_state *s, uint32_t round, size_t b, size_t n,
                             const double *value, double noise, double *statistic) {
    const int turn = (int)(round % AUDIT_TURNS),
              last = (int)((round + 1) % AUDIT_TURNS);
    const double *const mean[2] = {s->mean[0][turn], s->mean[1][turn]};
    double *before = s->before + b * n;
    double closest[2] = {INFINITY, INFINITY}, change[2] = {0.0, 0.0};
    for (size_t k = 0; k < n; k++) {
        const double rest = value[k] - 0.5 * (mean[0][k] + mean[1][k]);
        statistic[AUDIT_LIKELIHOOD] +=
            rest * (mean[0][k] - mean[1][k]) / (noise * noise);
        statistic[AUDIT_NORM] += rest * rest / (noise * noise);
        for (int world = 0; world < 2; world++) {
            const double off = value[k] - mean[world][k];
            const double then = before[k] - s->mean[world][last][k];
            closest[world] = fmin(closest[world], fabs(off));
            change[world] += (off - then) * (off - then);
        }
        before[k] = value[k];
    }
    const double close = log_ratio(closest[1], closest[0]);
    if (fabs(close) > fabs(statistic[AUDIT_CLOSEST])) statistic[AUDIT_CLOSEST] = close;
    const double same = round ? log_ratio(change[1], change[0]) : 0.0;
    if (fabs(same) > fabs(statistic[AUDIT_CHANGES])) statistic[AUDIT_CHANGES] = same;
}

/* The sum without the changed task is that of world 1, where it shows zeros. */
static void look_at_wishart(bb_audit_state *s, size_t n, const double *value,
                            double *statistic) {
    const size_t d = s->spec->length;
    const double *w = s->shown[0][0];
    double u = 0.0;
    for (size_t k = 0; k < n; k++) s->rest[k] = value[k] - s->mean[1][0][k];
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

bb_status bb_audit_state_round(bb_audit_state *s, uint32_t round, int world,
                               double *statistic) {
    const double *shown[BB_MOST_BLOCKS], *known[BB_MOST_BLOCKS];
    bb_release release;
    for (size_t b = 0; b < s->spec->blocks; b++) {
        shown[b] = s->shown[world][round % AUDIT_TURNS];
        known[b] = s->known;
    }
    bb_status status = bb_audit_door_ask(&s->door);
    if (status) return status;
    bb_audit_door_show(&s->door, AUDIT_CHANGED, shown);
    bb_audit_door_show(&s->door, AUDIT_KNOWN, known);
    status = bb_audit_door_publish(&s->door, &release);
    for (size_t b = 0; b < s->spec->blocks && !status; b++) {
        const size_t n = bb_block_sum_length(&s->door.layout.block[b], AUDIT_TASKS);
        if (s->spec->kind == BB_AUDIT_SELECTION)
            statistic[0] += (double)release.winner[b];
        else if (s->spec->kind == BB_AUDIT_WISHART_PUBLISHED)
            look_at_wishart(s, n, release.value[b], statistic);
        else
            look_at_gaussian(s, round, b, n, release.value[b], release.noise[b],
                             statistic);
    }
    return status;
}

static bb_status run_trial(void *worker, int world, bb_random *random,
                           double *statistic) {
    bb_audit_state *s = worker;
    for (int j = 0; j < AUDIT_STATISTICS; j++) statistic[j] = 0.0;
    if (s->spec->kind == BB_AUDIT_WISHART_PUBLISHED) statistic[0] = INFINITY;
    bb_status status = bb_audit_door_start(&s->door, bb_random_bits(random));
    for (uint32_t t = 0; t < s->spec->rounds && !status; t++)
        status = bb_audit_state_round(s, t, world, statistic);
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

static bb_status open_worker(const void *self, void **worker) {
    bb_audit_state *state = NULL;
    const bb_status status = bb_audit_state_open(&state, self);
    *worker = state;
    return status;
}

static void close_worker(void *worker) {
    bb_audit_state_close(worker);
}

bb_status bb_audit_target_make(bb_audit_target *target, double *epsilon,
                               const bb_audit_spec *spec) {
    bb_audit_state *state = NULL;
    const bb_status status = bb_audit_state_open(&state, spec);
    if (status) return status;
    *epsilon = claim_of(spec, &state->door.plan);
    bb_audit_state_close(state);
    *target = (bb_audit_target){
        .self = spec,
        .statistics = spec->kind == BB_AUDIT_GAUSSIAN ? AUDIT_STATISTICS : 2,
        .open = open_worker,
        .trial = run_trial,
        .close = close_worker};
    return BB_OK;
}
