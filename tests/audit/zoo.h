/* zoo.h - mechanisms with a known fault, each beside a twin without it that makes the
 * same or the honest claim. An auditor must catch the first and let the second pass. */
#ifndef BB_TESTS_ZOO_H
#define BB_TESTS_ZOO_H

#include "audit/attack.h"

typedef struct zoo_claim {
    double epsilon, delta;
} zoo_claim;

typedef struct zoo_animal {
    const char *name, *fault;
    uint64_t trials;
    size_t statistics;
    /* Opens a worker of the broken mechanism or its twin, and says what it claims. */
    bb_status (*open)(bool broken, void **worker, zoo_claim *claim);
    bb_status (*trial)(void *worker, int world, bb_random *random, double *statistic);
    void (*close)(void *worker);
} zoo_animal;

/* NULL from the end of the zoo on. */
const zoo_animal *zoo_at(size_t number);

#endif
