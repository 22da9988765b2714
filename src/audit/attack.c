#include "audit/attack.h"

#include "audit/binomial.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 128, SLICES = 50 };

typedef struct worker {
    void *self;
    bb_random random;
    bool random_open;
    uint64_t hits[2];
    bb_status status;
    char message[256];
} worker;

/* One attack. Half one fills value[world][statistic * first + trial]; half two counts.
 */
typedef struct attack {
    const bb_audit_target *target;
    const bb_audit_settings *settings;
    uint64_t first, second; /* trials of each world in the halves */
    double alpha;           /* of each limit */
    double *value[2], *sorted[2];
    const bb_audit_event *event; /* NULL in half one */
    uint64_t chunk;              /* of the slice that is running */
    worker *worker;
} attack;

/* -- trials -- */

static bool happens(const bb_audit_event *event, const double *statistic) {
    const double t = statistic[event->statistic];
    switch (event->shape) {
    case BB_AUDIT_AT_LEAST:
        return t >= event->value;
    case BB_AUDIT_AT_MOST:
        return t <= event->value;
    case BB_AUDIT_OUTSIDE:
        return fabs(t) >= event->value;
    case BB_AUDIT_INSIDE:
        return fabs(t) <= event->value;
    default:
        return t == event->value;
    }
}

static bb_status run_trial(attack *a, worker *w, int world, uint64_t trial) {
    const uint64_t number = a->event ? a->first + trial : trial;
    double statistic[BB_AUDIT_MOST_STATISTICS];
    bb_status status = bb_random_restart(&w->random, a->settings->seed, BB_FOR_TEST,
                                         (uint64_t)world, number);
    if (!status) status = a->target->trial(w->self, world, &w->random, statistic);
    if (!status) status = bb_random_check(&w->random);
    if (status) return status;
    for (size_t j = 0; j < a->target->statistics; j++) {
        if (isnan(statistic[j]))
            return bb_fail(BB_ENUMERIC, "audit: statistic %zu is not a number", j + 1);
        if (!a->event) a->value[world][j * a->first + trial] = statistic[j];
    }
    if (a->event) w->hits[world] += happens(a->event, statistic);
    return BB_OK;
}

/* Item i of a slice: a chunk of trials, both worlds. */
static void run_chunk(void *self, size_t item, size_t number) {
    attack *a = self;
    worker *w = &a->worker[number];
    const uint64_t begin = (a->chunk + item) * CHUNK;
    const uint64_t all = a->event ? a->second : a->first;
    const uint64_t end = begin + CHUNK < all ? begin + CHUNK : all;
    for (uint64_t trial = begin; trial < end; trial++)
        for (int world = 0; world < 2; world++) {
            if (w->status) return;
            w->status = run_trial(a, w, world, trial);
            if (w->status)
                snprintf(w->message, sizeof w->message, "%s", bb_last_error());
        }
}

static bb_status run_half(attack *a) {
    const bb_engine *engine = a->settings->engine;
    const uint64_t all = a->event ? a->second : a->first;
    const uint64_t chunks = (all + CHUNK - 1) / CHUNK;
    for (uint32_t s = 0; s < SLICES; s++) {
        const uint64_t end = chunks * (s + 1) / SLICES;
        a->chunk = chunks * s / SLICES;
        engine->each(engine, (size_t)(end - a->chunk), run_chunk, a);
        for (size_t w = 0; w < engine->workers; w++)
            if (a->worker[w].status) /* its message is another thread's */
                return bb_fail(a->worker[w].status, "%s", a->worker[w].message);
        if (!a->settings->progress) continue;
        const bb_status status = a->settings->progress(
            a->settings->progress_self, s + 1 + (a->event ? SLICES : 0), 2 * SLICES);
        if (status) return status;
    }
    return BB_OK;
}

/* -- choosing the event -- */

typedef struct choice {
    const attack *attack;
    bb_audit_event best;
    double score;
    bool made;
} choice;

static double bound(const attack *a, uint64_t hits, uint64_t others, uint64_t trials,
                    double *likely, double *unlikely) {
    *likely = bb_binomial_lower(hits, trials, a->alpha);
    *unlikely = bb_binomial_upper(others, trials, a->alpha);
    const double excess = *likely - a->settings->delta;
    return excess > 0.0 ? log(excess / *unlikely) : -INFINITY;
}

/* Which world the event favours is part of the choice. */
static void consider(choice *c, bb_audit_event event, uint64_t hits0, uint64_t hits1) {
    double likely, unlikely;
    event.world = hits0 >= hits1 ? 0 : 1;
    const uint64_t more = hits0 >= hits1 ? hits0 : hits1;
    const uint64_t less = hits0 >= hits1 ? hits1 : hits0;
    const double score =
        bound(c->attack, more, less, c->attack->first, &likely, &unlikely);
    if (c->made && !(score > c->score)) return;
    c->made = true;
    c->score = score;
    c->best = event;
}

/* How many of n ascending values are below v, or not above it. */
static uint64_t below(const double *sorted, uint64_t n, double v, bool or_equal) {
    uint64_t low = 0, high = n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (sorted[middle] < v || (or_equal && sorted[middle] == v))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void consider_threshold(choice *c, size_t j, bool absolute, double v) {
    const uint64_t n = c->attack->first;
    double *const *sorted = c->attack->sorted;
    bb_audit_event event = {.statistic = j, .value = v};
    event.shape = absolute ? BB_AUDIT_OUTSIDE : BB_AUDIT_AT_LEAST;
    consider(c, event, n - below(sorted[0], n, v, false),
             n - below(sorted[1], n, v, false));
    event.shape = absolute ? BB_AUDIT_INSIDE : BB_AUDIT_AT_MOST;
    consider(c, event, below(sorted[0], n, v, true), below(sorted[1], n, v, true));
}

/* Thresholds at ranks that are dense in both tails. */
static void consider_thresholds(choice *c, size_t j, bool absolute) {
    const uint64_t n = c->attack->first;
    for (int world = 0; world < 2; world++)
        for (uint64_t rank = 1; rank <= n; rank += 1 + rank / 20) {
            consider_threshold(c, j, absolute, c->attack->sorted[world][rank - 1]);
            consider_threshold(c, j, absolute, c->attack->sorted[world][n - rank]);
        }
}

/* Values that occurred more than once: of a discrete statistic. */
static void consider_points(choice *c, size_t j) {
    const uint64_t n = c->attack->first;
    double *const *sorted = c->attack->sorted;
    for (int world = 0; world < 2; world++)
        for (uint64_t i = 0; i + 1 < n;) {
            const double v = sorted[world][i];
            const uint64_t end = below(sorted[world], n, v, true);
            const bb_audit_event event = {
                .statistic = j, .shape = BB_AUDIT_EQUAL, .value = v};
            if (end > i + 1)
                consider(c, event,
                         below(sorted[0], n, v, true) - below(sorted[0], n, v, false),
                         below(sorted[1], n, v, true) - below(sorted[1], n, v, false));
            i = end;
        }
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sort_values(attack *a, size_t j, bool absolute) {
    for (int world = 0; world < 2; world++) {
        const double *from = a->value[world] + j * a->first;
        for (uint64_t i = 0; i < a->first; i++)
            a->sorted[world][i] = absolute ? fabs(from[i]) : from[i];
        qsort(a->sorted[world], a->first, sizeof(double), ascending);
    }
}

static bb_audit_event choose_event(attack *a) {
    choice c = {.attack = a};
    for (size_t j = 0; j < a->target->statistics; j++) {
        sort_values(a, j, false);
        consider_thresholds(&c, j, false);
        consider_points(&c, j);
        sort_values(a, j, true);
        consider_thresholds(&c, j, true);
    }
    return c.best;
}

/* -- the whole -- */

static bb_status check(const bb_audit_target *target, const bb_audit_settings *s) {
    if (target->statistics < 1 || target->statistics > BB_AUDIT_MOST_STATISTICS)
        return bb_fail(BB_EUSAGE, "audit: 1 to %d statistics, got %zu",
                       BB_AUDIT_MOST_STATISTICS, target->statistics);
    if (s->trials < 2 || s->trials > UINT64_C(1) << 40)
        return bb_fail(BB_EUSAGE, "audit: 2 to 2^40 trials, got %llu",
                       (unsigned long long)s->trials);
    if (!(s->confidence >= 0.5 && s->confidence < 1.0))
        return bb_fail(BB_EUSAGE, "audit: confidence must be in [0.5, 1), got %g",
                       s->confidence);
    if (!(s->epsilon >= 0.0 && s->delta >= 0.0 && s->delta < 1.0))
        return bb_fail(BB_EUSAGE,
                       "audit: the claim must have epsilon >= 0 and delta in [0, 1), "
                       "got (%g, %g)",
                       s->epsilon, s->delta);
    return BB_OK;
}

static bb_status open_workers(attack *a) {
    const size_t workers = a->settings->engine->workers;
    bb_status status = bb_allocate(&a->worker, workers, sizeof *a->worker, "the audit");
    for (size_t w = 0; w < workers && !status; w++) {
        status = bb_random_open_stream(&a->worker[w].random, 0, BB_FOR_TEST, 0, 0);
        a->worker[w].random_open = !status;
        if (!status) status = a->target->open(a->target->self, &a->worker[w].self);
    }
    return status;
}

static void close_attack(attack *a) {
    for (size_t w = 0; a->worker && w < a->settings->engine->workers; w++) {
        a->target->close(a->worker[w].self);
        if (a->worker[w].random_open) bb_random_close(&a->worker[w].random);
    }
    free(a->worker);
    for (int world = 0; world < 2; world++) {
        free(a->value[world]);
        free(a->sorted[world]);
    }
}

static void conclude(const attack *a, bb_audit_result *result) {
    bb_audit_result r = {.event = *a->event, .trials = a->second};
    for (size_t w = 0; w < a->settings->engine->workers; w++)
        for (int world = 0; world < 2; world++)
            r.hits[world] += a->worker[w].hits[world];
    r.epsilon_lower = fmax(0.0, bound(a, r.hits[r.event.world], r.hits[!r.event.world],
                                      a->second, &r.likely, &r.unlikely));
    r.delta_lower = fmax(0.0, r.likely - exp(a->settings->epsilon) * r.unlikely);
    r.violated = r.delta_lower > a->settings->delta;
    *result = r;
}

bb_status bb_audit_attack(const bb_audit_target *target,
                          const bb_audit_settings *settings, bb_audit_result *result) {
    bb_audit_event event;
    attack a = {.target = target,
                .settings = settings,
                .first = settings->trials / 2,
                .second = settings->trials - settings->trials / 2,
                .alpha = (1.0 - settings->confidence) / 2.0};
    bb_status status = check(target, settings);
    if (status) return status;
    for (int world = 0; world < 2 && !status; world++) {
        status = bb_allocate(&a.value[world], a.first,
                             target->statistics * sizeof(double), "the audit's trials");
        if (!status)
            status = bb_allocate(&a.sorted[world], a.first, sizeof(double),
                                 "the audit's trials");
    }
    if (!status) status = open_workers(&a);
    if (!status) status = run_half(&a);
    if (status) goto done;
    event = choose_event(&a);
    a.event = &event;
    status = run_half(&a);
    if (!status) conclude(&a, result);
done:
    close_attack(&a);
    return status;
}

void bb_audit_event_text(const bb_audit_event *event, char *text, size_t size) {
    static const char *const sign[] = {">=", "<=", ">=", "<=", "="};
    const bool absolute =
        event->shape == BB_AUDIT_OUTSIDE || event->shape == BB_AUDIT_INSIDE;
    const char *bar = absolute ? "|" : "";
    snprintf(text, size, "%sstatistic %zu%s %s %.6g, likelier in world %d", bar,
             event->statistic + 1, bar, sign[event->shape], event->value, event->world);
}
