/* attack.h - a black-box audit: does a mechanism keep the (epsilon, delta) it claims?
 *
 * The mechanism is run many times in each of two worlds that differ in one task. On the
 * first half of the trials the event is chosen that tells the worlds apart best; on the
 * second half, which the choice has not seen, its two probabilities are bounded. If
 * (epsilon, delta)-DP holds then P(event | one world) <= e^epsilon P(event | the other)
 * + delta for every event, so the bounds on the probabilities give lower bounds on
 * epsilon and delta. An audit can refute a claim; it proves none. */
#ifndef BB_AUDIT_ATTACK_H
#define BB_AUDIT_ATTACK_H

#include "base/random.h"
#include "core/run.h"

#include <stdbool.h>
#include <stdio.h>

enum { BB_AUDIT_MOST_STATISTICS = 8 };

/* The mechanism, as its adversary sees it. Every worker opens one; trial() runs it once
 * in world 0 or 1, with all randomness from `random` (or a generator seeded from it),
 * and writes `statistics` numbers, none of them NaN. */
typedef struct bb_audit_target {
    const void *self;
    size_t statistics; /* 1 .. BB_AUDIT_MOST_STATISTICS */
    bb_status (*open)(const void *self, void **worker);
    bb_status (*trial)(void *worker, int world, bb_random *random, double *statistic);
    void (*close)(void *worker); /* takes NULL */
} bb_audit_target;

typedef struct bb_audit_settings {
    double epsilon, delta; /* the claim; epsilon may be infinite */
    uint64_t trials;       /* in each world, at least 2 */
    double confidence;     /* in [0.5, 1) */
    uint64_t seed;
    const bb_engine *engine; /* the result is the same for any number of workers */
    /* or NULL; what it fails with ends the attack */
    bb_status (*progress)(void *self, uint32_t done, uint32_t all);
    void *progress_self;
} bb_audit_settings;

typedef enum bb_audit_shape {
    BB_AUDIT_AT_LEAST, /* T >= value */
    BB_AUDIT_AT_MOST,  /* T <= value */
    BB_AUDIT_OUTSIDE,  /* |T| >= value */
    BB_AUDIT_INSIDE,   /* |T| <= value */
    BB_AUDIT_EQUAL     /* T = value */
} bb_audit_shape;

typedef struct bb_audit_event {
    size_t statistic;
    bb_audit_shape shape;
    double value;
    int world; /* the one in which it is the likelier */
} bb_audit_event;

/* Both lower bounds hold together with the confidence asked for: each of the two limits
 * fails with probability at most (1 - confidence) / 2, and only one event is looked at
 * on the second half. */
typedef struct bb_audit_result {
    bb_audit_event event;
    uint64_t trials;      /* in each world of the second half */
    uint64_t hits[2];     /* of the event, in world 0 and 1 */
    double likely;        /* lower limit of P(event) in event.world */
    double unlikely;      /* upper limit of P(event) in the other world */
    double epsilon_lower; /* log((likely - delta) / unlikely), at least 0 */
    double delta_lower;   /* likely - e^epsilon unlikely, at least 0 */
    bool violated;        /* delta_lower > delta, so epsilon_lower > epsilon */
} bb_audit_result;

/* BB_EUSAGE for settings out of range, BB_ENUMERIC for a statistic that is NaN, or what
 * the target's functions return. Memory 2 (statistics + 1) trials doubles. */
BB_MUST_CHECK bb_status bb_audit_attack(const bb_audit_target *target,
                                        const bb_audit_settings *settings,
                                        bb_audit_result *result);

/* "statistic 1 >= 2.5, likelier in world 0" */
void bb_audit_event_text(const bb_audit_event *event, char *text, size_t size);

#endif
