/* mechanism.h - the noise that the door adds.
 *
 * `gaussian` is exact on the integer grid and drawn by the door itself (door.c). The
 * others work on floating-point sums: `none`, and two kinds of noise of Liang et al.
 * (2020), which are not private as claimed (docs/privacy.md) and are kept to reproduce
 * the paper: the Wishart noise, and that by a Lipschitz constant read off the rows,
 * which tasks add themselves (methods/bounded.h). A test may bring its own mechanism that
 * adds given numbers; the program cannot. */
#ifndef BB_CORE_MECHANISM_H
#define BB_CORE_MECHANISM_H

#include "core/plan.h"

typedef struct bb_mechanism {
    const char *name;
    bb_pricing pricing;
    bool grid;      /* integer sums with exact rounded Gaussian noise */
    bool clips;     /* contributions are clipped */
    bool by_tasks;  /* the door adds nothing: see bb_method.noise_by_tasks */
    bool psd_noise; /* see bb_release */
    /* grid = false: adds noise to a block's floating-point sum; NULL adds nothing. pure
     * is the round's claimed epsilon_t. *std gets the noise standard deviation (see
     * bb_release). */
    bb_status (*add)(void *self, bb_random *random, uint32_t round,
                     const bb_block *block, double pure, double *sum, double *std);
    void *self;
} bb_mechanism;

extern const bb_mechanism bb_mechanism_gaussian;
extern const bb_mechanism bb_mechanism_none;
extern const bb_mechanism bb_mechanism_wishart_published;
extern const bb_mechanism bb_mechanism_lipschitz_published;

/* NULL for an unknown name. */
const bb_mechanism *bb_mechanism_find(const char *name);
/* Whether it adds noise, for which epsilon must be given. */
bool bb_mechanism_is_noisy(const bb_mechanism *mechanism);

#endif
