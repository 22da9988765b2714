/* The animals that sample tasks. */
#include "zoo_door.h"

/* How many of the others take part when a sample of fixed size is drawn; *mine: task 0
 * does, too. */
static size_t draw_fixed(bb_random *random, size_t tasks, size_t size, bool *mine) {
    size_t at = 0; /* task 0's place in a shuffled list: sampled if among the first */
    *mine = false;
    for (size_t i = 0; i < size; i++) {
        const size_t pick = i + (size_t)bb_random_below(random, tasks - i);
        if (pick == at) {
            *mine = true;
            return size - 1;
        }
        if (at == i) at = pick;
    }
    return size;
}

static size_t draw_poisson(bb_random *random, size_t tasks, double q, bool *mine) {
    size_t others = 0;
    *mine = bb_random_uniform(random) < q;
    for (size_t i = 1; i < tasks; i++) others += bb_random_uniform(random) < q;
    return others;
}

/* -- a sample of fixed size, accounted as a Poisson sample -- */

enum { P_TASKS = 100, P_SIZE = 5, P_ROUNDS = 16 };
static const double p_sigma = 0.85;

static bb_status open_poisson(bool broken, void **worker, zoo_claim *claim) {
    const bb_event event = bb_event_round(BB_SAMPLING_POISSON, (double)P_SIZE / P_TASKS,
                                          1.0 / p_sigma, 2.0 / p_sigma, P_ROUNDS);
    const zoo_plan plan = {
        P_TASKS,       1,  1, P_ROUNDS, BB_FORM_VECTOR, BB_ADD_REMOVE, 1.0,
        1.0 / p_sigma, 0.0};
    const bb_status status = zoo_claim_of(&event, BB_ADD_REMOVE, 0.01, claim);
    return status ? status : zoo_open(broken, &plan, worker);
}

/* log of (1 - q) N(0, s^2) + q N(m, s^2) at x, but for a constant. */
static double log_mixture(double x, double m) {
    const double q = (double)P_SIZE / P_TASKS, s = p_sigma;
    return -0.5 * x * x / (s * s) + log1p(q * expm1((m * x - 0.5 * m * m) / (s * s)));
}

/* Task 0 shows 1 or zeros, all others -1. A sample of fixed size has one more of the
 * others in it when task 0 is not picked. Under Poisson sampling the adversary even
 * knows who of the others was picked. */
static bb_status try_poisson(void *worker, int world, bb_random *random,
                             double *statistic) {
    zoo_cage *cage = worker;
    const double v = world == 0 ? 1.0 : 0.0, q = (double)P_SIZE / P_TASKS;
    bb_release release;
    bb_status status = bb_audit_door_start(&cage->door, bb_random_bits(random));
    statistic[0] = 0.0;
    for (int t = 0; t < P_ROUNDS && !status; t++) {
        bool mine;
        const size_t others = cage->broken ? draw_fixed(random, P_TASKS, P_SIZE, &mine)
                                           : draw_poisson(random, P_TASKS, q, &mine);
        status = zoo_round(cage, mine ? &v : NULL, others, -1.0, &release);
        if (status) break;
        const double known = cage->broken ? P_SIZE : (double)others;
        const double x = release.value[0][0] + known;
        statistic[0] += cage->broken ? log_mixture(x, 2.0) - log_mixture(x, 1.0)
                                     : log_mixture(x, 1.0) - log_mixture(x, 0.0);
    }
    return status;
}

const zoo_animal zoo_fixed_as_poisson = {
    "fixed-as-poisson",
    "a sample of fixed size, accounted as a Poisson sample",
    30000,
    1,
    open_poisson,
    try_poisson,
    zoo_close};

/* -- a visible cohort, accounted as hidden -- */

enum { H_TASKS = 139, H_SIZE = 14 };
static const double h_mu = 1.5;

static bb_status open_hidden(bool broken, void **worker, zoo_claim *claim) {
    const bb_event event = bb_event_round(
        BB_SAMPLING_FIXED_HIDDEN, (double)H_SIZE / H_TASKS, h_mu / 2.0, h_mu, 1.0);
    const zoo_plan plan = {H_TASKS,        1,   1,    1,  BB_FORM_VECTOR,
                           BB_REPLACE_ONE, 1.0, h_mu, 0.0};
    const bb_status status = zoo_claim_of(&event, BB_REPLACE_ONE, 0.01, claim);
    return status ? status : zoo_open(broken, &plan, worker);
}

/* Task 0 shows 1 or -1, all others -1. A task's model moves only when it is picked, so
 * the others, together, see whether task 0 was. The twin keeps no such models. */
static bb_status try_hidden(void *worker, int world, bb_random *random,
                            double *statistic) {
    zoo_cage *cage = worker;
    const double v = world == 0 ? 1.0 : -1.0;
    bool mine;
    bb_release release;
    const size_t others = draw_fixed(random, H_TASKS, H_SIZE, &mine);
    bb_status status = bb_audit_door_start(&cage->door, bb_random_bits(random));
    if (!status) status = zoo_round(cage, mine ? &v : NULL, others, -1.0, &release);
    if (status) return status;
    statistic[0] = release.value[0][0] + H_SIZE;
    if (cage->broken) /* others tells whether task 0 was picked */
        statistic[0] = others < H_SIZE ? statistic[0] - 1.0 : 0.0;
    return BB_OK;
}

const zoo_animal zoo_visible_as_hidden = {
    "visible-as-hidden",
    "a fixed-size sample accounted as hidden, while models move only when picked",
    70000,
    1,
    open_hidden,
    try_hidden,
    zoo_close};

/* -- blocks of a sampled round, charged apart -- */

enum { B_BLOCKS = 2 };
static const double b_rate = 0.1, b_sigma = 0.5; /* of one block */

static bb_status open_blocks(bool broken, void **worker, zoo_claim *claim) {
    const double one = 1.0 / b_sigma, both = sqrt(B_BLOCKS) / b_sigma;
    const bb_event apart =
        bb_event_round(BB_SAMPLING_POISSON, b_rate, one, 2.0 * one, B_BLOCKS);
    const bb_event together =
        bb_event_round(BB_SAMPLING_POISSON, b_rate, both, 2.0 * both, 1.0);
    const zoo_plan plan = {2,   B_BLOCKS, 1,  1, BB_FORM_VECTOR, BB_ADD_REMOVE,
                           1.0, both,     0.0};
    const bb_status status =
        zoo_claim_of(broken ? &apart : &together, BB_ADD_REMOVE, 0.01, claim);
    return status ? status : zoo_open(broken, &plan, worker);
}

static bb_status try_blocks(void *worker, int world, bb_random *random,
                            double *statistic) {
    zoo_cage *cage = worker;
    const double v = 1.0;
    const bool shows = bb_random_uniform(random) < b_rate && world == 0;
    bb_release release;
    bb_status status = bb_audit_door_start(&cage->door, bb_random_bits(random));
    if (!status) status = zoo_round(cage, shows ? &v : NULL, 0, 0.0, &release);
    if (status) return status;
    statistic[0] = 0.0;
    for (size_t b = 0; b < B_BLOCKS; b++) statistic[0] += release.value[b][0];
    return BB_OK;
}

const zoo_animal zoo_blocks_apart = {
    "blocks-apart", "the blocks of a sampled round charged apart",
    160000,         1,
    open_blocks,    try_blocks,
    zoo_close};
