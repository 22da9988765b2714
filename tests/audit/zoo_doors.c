/* Two doors with a fault, and what the first one then sees of a silo: its keeper knows what all
 * others have shown. Sums, shares, streams, seals and noise are the real ones (core/tally.h,
 * share.h, door.h, base/seal.h); the helper is a few lines, whose twin does what the proof asks of
 * it. What the real one says to each of these: tests/core/test_two_doors.c. */
#include "core/share.h"
#include "privacy/accounting/accountant.h"
#include "zoo_door.h"

#include <string.h>

enum { LENGTH = 3, TASKS = 3, TIMES = 8, TRIALS = 3000 };
static const double d_mu = 0.5, d_delta = 1e-3;
static const double axis[LENGTH] = {1.0}, back[LENGTH] = {-1.0};
static const double beside[LENGTH] = {0.0, 1.0};

typedef struct pair {
    bool broken;
    bb_audit_door door; /* the helper's; silos add up in its tally */
    uint8_t key[BB_SEAL_KEY], public_key[BB_SEAL_KEY];
} pair;

/* A seed, and what its stream is for. */
typedef struct stream {
    uint8_t seed[BB_SEAL_SECRET], context[BB_HASH_BYTES];
} stream;

typedef struct words {
    int64_t at[LENGTH];
} words;

static void close_pair(void *worker) {
    if (worker) bb_audit_door_close(&((pair *)worker)->door);
    free(worker);
}

static bb_status open_pair(bool broken, uint32_t rounds, void **worker,
                           zoo_claim *claim) {
    const bb_public pub = {.tasks = TASKS,
                           .adjacency = BB_REPLACE_ONE,
                           .epsilon = 1.0,
                           .delta = 1e-5,
                           .rounds = rounds,
                           .doors = 2};
    const bb_layout layout = {1, {{"block", BB_FORM_VECTOR, LENGTH, 1.0, 1.0}}};
    pair *p = NULL;
    bb_status status = bb_allocate(&p, 1, sizeof *p, "the zoo");
    if (status) return status;
    *worker = p;
    p->broken = broken;
    *claim = (zoo_claim){bb_gdp_epsilon(d_mu * sqrt((double)rounds), d_delta), d_delta};
    status = bb_seal_new(p->key, p->public_key);
    if (!status)
        status = bb_audit_door_open(&p->door, &bb_mechanism_gaussian, &pub, &layout);
    for (uint32_t t = 0; !status && t < rounds; t++) p->door.plan.mu[t] = d_mu;
    return status;
}

static bb_status open_one(bool broken, void **worker, zoo_claim *claim) {
    return open_pair(broken, 1, worker, claim);
}

static bb_status open_two(bool broken, void **worker, zoo_claim *claim) {
    return open_pair(broken, 2, worker, claim);
}

static bb_status start(pair *p, bb_random *random) {
    const bb_status status = bb_audit_door_start(&p->door, bb_random_bits(random));
    p->door.door.noises = 2;
    return status;
}

static void draw(bb_random *random, stream *s) {
    for (size_t k = 0; k < sizeof s->seed; k += 8) {
        const uint64_t bits = bb_random_bits(random);
        memcpy(s->seed + k, &bits, 8);
    }
}

/* Of a silo's share in the round that is asked. */
static bb_status context_of(const pair *p, uint32_t silo, stream *s) {
    const bb_ask *ask = &p->door.door.ask;
    const bb_frame frame = {.round = ask->round, .attempt = 1, .silo = silo};
    return bb_share_context(&frame, ask, s->context);
}

static bb_status new_stream(const pair *p, bb_random *random, uint32_t silo,
                            stream *s) {
    draw(random, s);
    return context_of(p, silo, s);
}

static bb_status mask(const pair *p, const stream *s, bool subtract, int64_t *sum) {
    const size_t id[1] = {0};
    return bb_share_mask(s->seed, s->context, &p->door.door.ask.layout, TASKS, 1, id,
                         subtract, sum);
}

/* What silo 1 sends to the first door. */
static bb_status share_of(pair *p, const double *v, const stream *s, words *share) {
    const double *const block[] = {v};
    bb_audit_door_show(&p->door, 0, block);
    bb_tally_end(&p->door.tally);
    memcpy(share->at, p->door.tally.sum[0].exact, sizeof share->at);
    return mask(p, s, true, share->at);
}

/* Silo 2 has nothing to show. */
static bb_status other_share(const pair *p, const stream *s, words *share) {
    *share = (words){{0}};
    return mask(p, s, true, share->at);
}

static bb_status add_stream(pair *p, const stream *s) {
    return mask(p, s, false, p->door.door.total.exact);
}

static bb_status answer(pair *p, words *said) {
    const bb_status status = bb_door_hide(&p->door.door);
    memcpy(said->at, p->door.door.total.exact, sizeof said->at);
    return status;
}

/* a + times b, mod 2^64. */
static words plus(words a, int64_t times, words b) {
    for (size_t k = 0; k < LENGTH; k++)
        a.at[k] = (int64_t)((uint64_t)a.at[k] + (uint64_t)times * (uint64_t)b.at[k]);
    return a;
}

/* One round of silo 1 alone, as it should be. */
static bb_status one_round(pair *p, const double *v, const stream *s, words *share,
                           words *said) {
    bb_status status = share_of(p, v, s, share);
    if (!status) status = add_stream(p, s);
    return status ? status : answer(p, said);
}

/* -- a silo's seed, used again -- */

/* It shows v, then -v. The difference of two shares with one stream is that of the sums. */
static bb_status try_seed(void *worker, int world, bb_random *random,
                          double *statistic) {
    pair *p = worker;
    stream s;
    words share[2] = {{{0}}}, said[2] = {{{0}}};
    bb_status status = start(p, random);
    for (int t = 0; t < 2 && !status; t++) {
        status = bb_audit_door_ask(&p->door);
        if (!status && (t == 0 || !p->broken)) status = new_stream(p, random, 1, &s);
        if (!status)
            status = one_round(p, t == world ? axis : back, &s, &share[t], &said[t]);
    }
    statistic[0] = (double)plus(share[0], -1, share[1]).at[0];
    statistic[1] = (double)plus(share[0], 1, said[0]).at[0] -
                   (double)plus(share[1], 1, said[1]).at[0];
    return status;
}

/* -- a helper that adds no noise -- */

static bb_status try_idle(void *worker, int world, bb_random *random,
                          double *statistic) {
    pair *p = worker;
    stream s;
    words share = {{0}}, said = {{0}};
    bb_status status = start(p, random);
    if (p->broken) p->door.door.noises = 0;
    if (!status) status = bb_audit_door_ask(&p->door);
    if (!status) status = new_stream(p, random, 1, &s);
    if (!status) status = one_round(p, world == 0 ? axis : back, &s, &share, &said);
    statistic[0] = (double)plus(share, 1, said).at[0];
    return status;
}

/* -- a round that is asked twice -- */

/* For silos 1 and 2, then for 2 alone. A helper that has forgotten that it has answered, and
 * not its noise, gives silo 1's stream away; the real door answers a round once. */
static bb_status try_twice(void *worker, int world, bb_random *random,
                           double *statistic) {
    pair *p = worker;
    stream s[2];
    words share[2] = {{{0}}}, said[2] = {{{0}}};
    bb_status status = start(p, random);
    if (!status) status = bb_audit_door_ask(&p->door);
    for (uint32_t k = 0; k < 2 && !status; k++)
        status = new_stream(p, random, k + 1, &s[k]);
    if (!status) status = other_share(p, &s[1], &share[1]);
    if (!status) status = add_stream(p, &s[1]);
    if (!status)
        status = one_round(p, world == 0 ? axis : back, &s[0], &share[0], &said[0]);
    bb_sum_clear(&p->door.door.total);
    if (p->broken) p->door.door.asked = true;
    if (!status) status = add_stream(p, &s[1]);
    if (status) return status;
    if (answer(p, &said[1])) said[1] = (words){{0}};
    const words both = plus(share[0], 1, share[1]);
    statistic[0] = (double)plus(plus(share[0], 1, said[0]), -1, said[1]).at[0];
    statistic[1] = (double)plus(both, 1, said[0]).at[0];
    return BB_OK;
}

/* -- a silo that counts several times -- */

static bb_status try_counted(void *worker, int world, bb_random *random,
                             double *statistic) {
    pair *p = worker;
    const int times = p->broken ? TIMES : 1;
    stream s;
    words share = {{0}}, said = {{0}};
    bb_status status = start(p, random);
    if (!status) status = bb_audit_door_ask(&p->door);
    if (!status) status = new_stream(p, random, 1, &s);
    for (int k = 1; k < times && !status; k++) status = add_stream(p, &s);
    if (!status) status = one_round(p, world == 0 ? axis : back, &s, &share, &said);
    statistic[0] = (double)plus(said, times, share).at[0];
    return status;
}

/* -- an old share -- */

static bb_status ask_for(pair *p, bb_form form) {
    p->door.layout.block[0].form = form;
    return bb_audit_door_ask(&p->door);
}

/* Round 1 sums squares, whose numbers are large and whose noise is, too; round 2 vectors, with
 * less of both. A helper that opens round 1's seed in round 2 says its stream with the noise of
 * round 2. What seeds are sealed for, and the stream, is the round and the question: another
 * one opens nothing. */
static bb_status try_old(void *worker, int world, bb_random *random,
                         double *statistic) {
    pair *p = worker;
    stream s, opened;
    words share = {{0}}, said[2] = {{{0}}};
    uint8_t sealed[BB_SEAL_BYTES];
    bb_status status = start(p, random);
    if (!status) status = ask_for(p, BB_FORM_SQUARE);
    if (!status) status = new_stream(p, random, 1, &s);
    if (!status) status = bb_seal(p->public_key, s.context, s.seed, sealed);
    if (!status)
        status = one_round(p, world == 0 ? axis : beside, &s, &share, &said[0]);
    if (!status) status = ask_for(p, BB_FORM_VECTOR);
    opened = s;
    if (!status && !p->broken) status = context_of(p, 1, &opened);
    if (status) return status;
    if (!bb_seal_open(p->key, opened.context, sealed, opened.seed))
        status = add_stream(p, &opened);
    if (!status) status = answer(p, &said[1]);
    for (size_t t = 0; t < 2; t++) {
        const words seen = plus(share, 1, said[1 - t]);
        statistic[t] = (double)seen.at[0] - (double)seen.at[1];
    }
    return status;
}

/* -- coins that are told -- */

enum { TOLD_TRIALS = 60000 };
static const double told_rate = 0.1, told_mu = 1.5;

static bb_status open_told(bool broken, void **worker, zoo_claim *claim) {
    const bb_event event =
        bb_event_round(BB_SAMPLING_POISSON, told_rate, told_mu / 2.0, told_mu, 1.0);
    bb_status status = open_pair(broken, 1, worker, claim);
    if (status) return status;
    ((pair *)*worker)->door.plan.mu[0] = told_mu;
    return zoo_claim_of(&event, BB_REPLACE_ONE, 0.01, claim);
}

/* A silo whose task takes part by a coin, which only the silo knows. One that shows a share only
 * if the coin says so tells it to both doors; the twin shows zeros, which look like all else. */
static bb_status try_told(void *worker, int world, bb_random *random,
                          double *statistic) {
    pair *p = worker;
    const bool picked = bb_random_uniform(random) < told_rate;
    const double zeros[LENGTH] = {0.0}, *shown = world == 0 ? axis : back;
    stream s;
    words share = {{0}}, said = {{0}};
    bb_status status = start(p, random);
    if (!status) status = bb_audit_door_ask(&p->door);
    if (!status) status = new_stream(p, random, 1, &s);
    if (!status) status = one_round(p, picked ? shown : zeros, &s, &share, &said);
    statistic[0] = (double)plus(share, 1, said).at[0];
    if (p->broken && !picked) statistic[0] = 0.0;
    return status;
}

const zoo_animal zoo_seed_again = {
    "seed-again", "two doors: a silo's stream used twice",
    TRIALS,       2,
    open_two,     try_seed,
    close_pair};
const zoo_animal zoo_idle_helper = {
    "idle-helper", "two doors: a helper without noise", TRIALS, 1, open_one, try_idle,
    close_pair};
const zoo_animal zoo_asked_twice = {
    "asked-twice", "two doors: a round that is answered twice",
    TRIALS,        2,
    open_one,      try_twice,
    close_pair};
const zoo_animal zoo_counted_often = {
    "counted-often", "two doors: a silo that counts eight times",
    TRIALS,          1,
    open_one,        try_counted,
    close_pair};
const zoo_animal zoo_old_share = {
    "old-share", "two doors: a share of the round before", TRIALS, 2, open_two, try_old,
    close_pair};
const zoo_animal zoo_told_coins = {
    "told-coins", "two doors: who is in a Poisson sample is told",
    TOLD_TRIALS,  1,
    open_told,    try_told,
    close_pair};
