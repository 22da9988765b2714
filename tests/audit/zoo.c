#include "zoo.h"

#include "audit/target.h"
#include "privacy/accounting/accountant.h"
#include "zoo_door.h"

#include <string.h>

static const double small_delta = 1e-3;

/* What a plan of vector blocks claims under replace-one. */
static zoo_claim gaussian_claim(const zoo_plan *plan) {
    const double mu = plan->mu * sqrt((double)plan->rounds);
    return (zoo_claim){bb_gdp_epsilon(mu, small_delta), small_delta};
}

/* Clips v to norm 1. */
static void clip_after(size_t n, double *v) {
    double squares = 0.0;
    for (size_t k = 0; k < n; k++) squares += v[k] * v[k];
    for (size_t k = 0; k < n && squares > 1.0; k++) v[k] /= sqrt(squares);
}

static const double axis[ZOO_MOST_LENGTH] = {1.0};
static const double back[ZOO_MOST_LENGTH] = {-1.0};

/* -- the noise's amount -- */

/* One round; task 0 shows an axis or its opposite. */
static bb_status try_vector(void *worker, int world, bb_random *random,
                            double *statistic) {
    zoo_cage *cage = worker;
    bb_release release;
    bb_status status = bb_audit_door_start(&cage->door, bb_random_bits(random));
    if (!status) status = zoo_round(cage, world == 0 ? axis : back, 0, 0.0, &release);
    if (!status) statistic[0] = release.value[0][0];
    return status;
}

static bb_status open_half_noise(bool broken, void **worker, zoo_claim *claim) {
    const zoo_plan plan = {3, 1, 3, 1, BB_FORM_VECTOR, BB_REPLACE_ONE, 1.0, 0.5, 0.0};
    *claim = gaussian_claim(&plan);
    bb_status status = zoo_open(broken, &plan, worker);
    if (!status && broken) ((zoo_cage *)*worker)->door.plan.mu[0] *= 2.0;
    return status;
}

static bb_status open_wrong_adjacency(bool broken, void **worker, zoo_claim *claim) {
    const zoo_plan plan = {
        3,   1,   3,  1, BB_FORM_VECTOR, broken ? BB_ADD_REMOVE : BB_REPLACE_ONE,
        1.0, 0.5, 0.0};
    *claim = gaussian_claim(&plan);
    return zoo_open(broken, &plan, worker);
}

/* -- the noise's kind: the targets of `billboard audit` -- */

static const bb_audit_spec wishart = {.kind = BB_AUDIT_WISHART_PUBLISHED,
                                      .form = BB_FORM_OUTER,
                                      .blocks = 1,
                                      .length = 3,
                                      .rounds = 1,
                                      .epsilon = 2.0,
                                      .delta = 1e-5};
static const bb_audit_spec gaussian = {.kind = BB_AUDIT_GAUSSIAN,
                                       .form = BB_FORM_OUTER,
                                       .blocks = 1,
                                       .length = 3,
                                       .rounds = 1,
                                       .epsilon = 2.0,
                                       .delta = 1e-5};

typedef struct keeper {
    bb_audit_target target;
    void *worker;
} keeper;

static void close_kept(void *worker) {
    keeper *k = worker;
    if (k && k->worker) k->target.close(k->worker);
    free(k);
}

static bb_status open_wishart(bool broken, void **worker, zoo_claim *claim) {
    keeper *k = NULL;
    bb_status status = bb_allocate(&k, 1, sizeof *k, "the zoo");
    if (status) return status;
    *worker = k;
    claim->delta = 1e-5;
    status = bb_audit_target_make(&k->target, &claim->epsilon,
                                  broken ? &wishart : &gaussian);
    return status ? status : k->target.open(k->target.self, &k->worker);
}

static bb_status try_kept(void *worker, int world, bb_random *random,
                          double *statistic) {
    const keeper *k = worker;
    return k->target.trial(k->worker, world, random, statistic);
}

/* -- noise reused -- */

static bb_status open_two_rounds(bool broken, void **worker, zoo_claim *claim) {
    const zoo_plan plan = {3, 1, 3, 2, BB_FORM_VECTOR, BB_REPLACE_ONE, 1.0, 0.7, 0.0};
    *claim = gaussian_claim(&plan);
    return zoo_open(broken, &plan, worker);
}

/* Task 0 shows v, then -v. The broken one starts again with the same noise. */
static bb_status try_two_rounds(void *worker, int world, bb_random *random,
                                double *statistic) {
    zoo_cage *cage = worker;
    const double *first = world == 0 ? axis : back, *second = world == 0 ? back : axis;
    const uint64_t seed = bb_random_bits(random);
    bb_release release;
    bb_status status = bb_audit_door_start(&cage->door, seed);
    if (!status) status = zoo_round(cage, first, 0, 0.0, &release);
    if (status) return status;
    statistic[0] = release.value[0][0];
    if (cage->broken) status = bb_audit_door_start(&cage->door, seed);
    if (!status) status = zoo_round(cage, second, 0, 0.0, &release);
    if (!status) statistic[0] -= release.value[0][0];
    return status;
}

/* -- a margin -- */

enum { M_TASKS = 3 };
static const double margin = 1.5; /* votes that the challenger must win by */

static bb_status open_margin(bool broken, void **worker, zoo_claim *claim) {
    const zoo_plan plan = {M_TASKS,        1,   2,   1,  BB_FORM_SELECTION,
                           BB_REPLACE_ONE, 1.0, 0.0, 1.0};
    *claim = (zoo_claim){1.0, 0.0};
    return zoo_open(broken, &plan, worker);
}

/* Candidate 1 challenges candidate 0. Task 1 votes for it; task 0 does, or not at all.
 */
static bb_status try_margin(void *worker, int world, bb_random *random,
                            double *statistic) {
    zoo_cage *cage = worker;
    const double less = cage->broken ? 0.0 : margin / M_TASKS;
    const double votes[2] = {0.0, 1.0 - less}, none[2] = {0.0, 0.0};
    const double *const shown[] = {world == 0 ? votes : none};
    const double *const other[] = {votes};
    bb_release release;
    bb_status status = bb_audit_door_start(&cage->door, bb_random_bits(random));
    if (!status) status = bb_audit_door_ask(&cage->door);
    if (status) return status;
    bb_audit_door_show(&cage->door, 0, shown);
    bb_audit_door_show(&cage->door, 1, other);
    status = bb_audit_door_publish(&cage->door, &release);
    if (status) return status;
    const double lead = world == 0 ? 2.0 : 1.0; /* private */
    const bool wins = release.winner[0] == 1 && (!cage->broken || lead >= margin);
    statistic[0] = wins ? 1.0 : 0.0;
    return BB_OK;
}

/* -- the order of clip and noise -- */

static bb_status open_late_clip(bool broken, void **worker, zoo_claim *claim) {
    /* a clip of 10 with ten times the budget has the noise of a clip of 1 */
    const double scale = broken ? 10.0 : 1.0;
    zoo_plan plan = {3, 1, 3, 1, BB_FORM_VECTOR, BB_REPLACE_ONE, 1.0, 1.0, 0.0};
    *claim = gaussian_claim(&plan);
    plan.clip *= scale;
    plan.mu *= scale;
    return zoo_open(broken, &plan, worker);
}

static bb_status try_late_clip(void *worker, int world, bb_random *random,
                               double *statistic) {
    zoo_cage *cage = worker;
    const double v[3] = {world == 0 ? 10.0 : -10.0, 0.0, 0.0};
    double clipped[3];
    bb_release release;
    bb_status status = bb_audit_door_start(&cage->door, bb_random_bits(random));
    if (!status) status = zoo_round(cage, v, 0, 0.0, &release);
    if (status) return status;
    memcpy(clipped, release.value[0], sizeof clipped);
    clip_after(3, clipped);
    statistic[0] = clipped[0];
    return BB_OK;
}

/* -- a private count -- */

enum { C_TASKS = 5 };

static bb_status open_count(bool broken, void **worker, zoo_claim *claim) {
    const zoo_plan plan = {
        C_TASKS, 1, ZOO_MOST_LENGTH, 1, BB_FORM_VECTOR, BB_REPLACE_ONE, 1.0, 1.0, 0.0};
    *claim = gaussian_claim(&plan);
    return zoo_open(broken, &plan, worker);
}

/* The mean over the tasks that have data; task 0 has some, or none. */
static bb_status try_count(void *worker, int world, bb_random *random,
                           double *statistic) {
    zoo_cage *cage = worker;
    const double count = cage->broken && world == 1 ? C_TASKS - 1 : C_TASKS;
    bb_release release;
    double squares = 0.0;
    bb_status status = bb_audit_door_start(&cage->door, bb_random_bits(random));
    if (!status) status = zoo_round(cage, world == 0 ? axis : NULL, 0, 0.0, &release);
    if (status) return status;
    for (size_t k = 0; k < ZOO_MOST_LENGTH; k++)
        squares += release.value[0][k] * release.value[0][k];
    statistic[0] = release.value[0][0] / count;
    statistic[1] = sqrt(squares) / count;
    return BB_OK;
}

/* -- when to stop -- */

enum { T_ROUNDS = 3 };
static const double tolerance = 0.5;

static bb_status open_stop(bool broken, void **worker, zoo_claim *claim) {
    const zoo_plan plan = {3,   1,   1,  T_ROUNDS, BB_FORM_VECTOR, BB_ADD_REMOVE,
                           1.0, 0.6, 0.0};
    *claim = gaussian_claim(&plan);
    return zoo_open(broken, &plan, worker);
}

/* Rounds go on while the sum is above a tolerance: the sum without its noise, or, in
 * the twin, the sum as released. */
static bb_status try_stop(void *worker, int world, bb_random *random,
                          double *statistic) {
    zoo_cage *cage = worker;
    bb_release release;
    bool goes_on = true;
    bb_status status = bb_audit_door_start(&cage->door, bb_random_bits(random));
    statistic[0] = statistic[1] = 0.0;
    while (!status && goes_on && statistic[0] < T_ROUNDS) {
        status = zoo_round(cage, world == 0 ? axis : NULL, 0, 0.0, &release);
        if (status) break;
        statistic[0] += 1.0;
        statistic[1] += release.value[0][0] - 0.5;
        goes_on = cage->broken ? world == 0 : fabs(release.value[0][0]) >= tolerance;
    }
    return status;
}

static const zoo_animal
    half_noise = {"half-noise",    "half of the noise", 60000,    1,
                  open_half_noise, try_vector,          zoo_close},
    wrong_adjacency = {"wrong-adjacency",
                       "add-remove noise sold as replace-one",
                       40000,
                       1,
                       open_wrong_adjacency,
                       try_vector,
                       zoo_close},
    published = {"wishart-published",
                 "Wishart noise as published (twin: Gaussian)",
                 20000,
                 2,
                 open_wishart,
                 try_kept,
                 close_kept},
    reused_noise = {"reused-noise",  "the same noise in two rounds",
                    10000,           1,
                    open_two_rounds, try_two_rounds,
                    zoo_close},
    late_margin = {"late-margin", "a margin checked after the selection",
                   20000,         1,
                   open_margin,   try_margin,
                   zoo_close},
    late_clip = {"late-clip",    "contributions clipped after the noise",
                 10000,          1,
                 open_late_clip, try_late_clip,
                 zoo_close},
    private_count = {"private-count",
                     "a mean over a private number of tasks",
                     6000,
                     2,
                     open_count,
                     try_count,
                     zoo_close},
    early_stop = {"early-stop", "the true sum decides when to stop",
                  10000,        2,
                  open_stop,    try_stop,
                  zoo_close};

const zoo_animal *zoo_at(size_t number) {
    const zoo_animal *const all[] = {
        &half_noise,        &wrong_adjacency,      &published,
        &reused_noise,      &zoo_fixed_as_poisson, &zoo_visible_as_hidden,
        &zoo_blocks_apart,  &late_margin,          &late_clip,
        &private_count,     &zoo_shared_model,     &early_stop,
        &zoo_seed_again,    &zoo_idle_helper,      &zoo_asked_twice,
        &zoo_counted_often, &zoo_old_share,        &zoo_told_coins};
    return number < sizeof all / sizeof *all ? all[number] : NULL;
}
