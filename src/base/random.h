/* random.h - random bits, always passed in, never global.
 *
 * Two kinds with different names: a keyed stream is reproducible and for data, splits,
 * simulation, and the noise of runs that are marked as not private; the secure
 * generator is seeded by the operating system and is the only source of privacy noise.
 * Both are ChaCha20 (RFC 8439, OpenSSL's), so a bit costs the same in either. */
#ifndef BB_BASE_RANDOM_H
#define BB_BASE_RANDOM_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a keyed stream is for: streams of different purposes are independent. */
typedef enum bb_purpose {
    BB_FOR_NOISE = 1,  /* the door's noise in a seeded, non-private run */
    BB_FOR_LOCAL,      /* one task's own noise (instance level) in such a run */
    BB_FOR_SPLIT,      /* training and test rows */
    BB_FOR_FOLDS,      /* cross-validation */
    BB_FOR_SYNTHETIC,  /* synthetic worlds */
    BB_FOR_TEST,       /* test-suites */
    BB_FOR_COHORT,     /* who takes part in a round of such a run */
    BB_FOR_FINISH,     /* one task's own draws at the end of a phase of such a run */
    BB_FOR_START,      /* where models start, which is public */
    BB_FOR_BOOTSTRAP,  /* resamples of tasks */
    BB_FOR_TUNING,     /* settings drawn at random, and how many runs are made */
    BB_FOR_SECOND_DOOR /* as BB_FOR_NOISE: the noise of the other one of two doors */
} bb_purpose;

enum { BB_RANDOM_BUFFER = 512 };

typedef struct bb_random {
    void *cipher; /* EVP_CIPHER_CTX */
    size_t used;
    size_t next; /* how many words the next refill makes, at the buffer's end: few for a
                    stream that has just begun, since many end after a handful */
    int secure;
    const char *failure; /* why its bits are worth nothing; NULL: they are random */
    uint64_t buffer[BB_RANDOM_BUFFER];
} bb_random;

/* Opens a generator from the operating system's entropy (getrandom). */
BB_MUST_CHECK bb_status bb_random_open_secure(bb_random *random);
/* Opens the reproducible stream of (seed, purpose, a, b). */
BB_MUST_CHECK bb_status bb_random_open_stream(bb_random *random, uint64_t seed,
                                              bb_purpose purpose, uint64_t a,
                                              uint64_t b);
/* Opens ChaCha20's stream of a secret key: bits that look uniform to whoever has not the key,
 * the same on all machines. A key is used once. */
enum { BB_RANDOM_KEY = 32 };
BB_MUST_CHECK bb_status bb_random_open_key(bb_random *random,
                                           const uint8_t key[BB_RANDOM_KEY]);
/* sum += or, with `subtract`, -= the next n words of the stream, mod 2^64. */
void bb_random_mask(bb_random *random, bool subtract, size_t n, int64_t *sum);
/* At most 256 bytes of the operating system's entropy, for keys and for names that nobody
 * can guess. BB_EIO. */
BB_MUST_CHECK bb_status bb_random_secret(uint8_t *bytes, size_t size);
/* Restarts an open stream at (seed, purpose, a, b) without allocating. */
BB_MUST_CHECK bb_status bb_random_restart(bb_random *random, uint64_t seed,
                                          bb_purpose purpose, uint64_t a, uint64_t b);

/* A generator that failed stays so until it is closed, whatever is drawn from it or
 * restarts it. Drawing has no status: what draws many bits goes on, with bits that are
 * good only for its loops to end, and whoever opened the generator asks bb_random_check
 * before it publishes or keeps anything that was made of them. So noise can fail to be
 * added, but no release with less noise than was paid for ever leaves the door. */

/* BB_EIO if it failed, with the reason. */
BB_MUST_CHECK bb_status bb_random_check(const bb_random *random);
/* Makes it fail; `why` lives as long as the generator. For samplers, too, whose
 * preconditions are broken. */
void bb_random_fail(bb_random *random, const char *why);
void bb_random_close(bb_random *random);
/* What the streams of something with a name have as `a`: 64 bits of the name's SHA-256,
 * so that they depend on nothing else, a place in a file least of all. BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_random_key(const char *name, uint64_t *key);

/* Refills the buffer with fresh bits; called when `used` reaches BB_RANDOM_BUFFER. */
void bb_random_refill(bb_random *random);

/* 64 independent uniform bits. */
static inline uint64_t bb_random_bits(bb_random *random) {
    if (random->used == BB_RANDOM_BUFFER) bb_random_refill(random);
    return random->buffer[random->used++];
}

/* Uniform on the multiples of 2^-53 in [0, 1). */
double bb_random_uniform(bb_random *random);
/* Uniform on 0 .. n-1, exactly; n >= 1. */
uint64_t bb_random_below(bb_random *random, uint64_t n);
/* Poisson with this mean, exactly: a sum of those of mean 1 (Duchon and Duvignau 2016). */
uint64_t bb_random_poisson(bb_random *random, uint64_t mean);
/* Standard normal in floating point: for simulation only, never for privacy noise
 * (Mironov 2012); the door's noise is privacy/noise.h. */
double bb_random_normal(bb_random *random);
/* Fisher-Yates shuffle of n indices. */
void bb_random_shuffle(bb_random *random, size_t *index, size_t n);

#endif
