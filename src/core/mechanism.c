#include "core/mechanism.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* E ~ W_d(d + 1, K^2 / (2 epsilon_t) I) (Liang et al. 2020, algorithm 2, step 5), as
 * the sum of d + 1 outer products. Of a `square` block only the diagonal of E is
 * needed: independent K^2 / (2 epsilon_t) times chi-square with d + 1 degrees of
 * freedom. */
static bb_status add_wishart(void *self, bb_random *random, uint32_t round,
                             const bb_block *block, double pure, double *sum,
                             double *std) {
    const size_t d = block->length;
    const double scale = block->clip * block->clip / (2.0 * pure);
    double *g = NULL;
    (void)self, (void)round;
    if (block->form != BB_FORM_OUTER && block->form != BB_FORM_SQUARE)
        return bb_fail(BB_EUSAGE,
                       "Wishart noise is for blocks of form outer and square; "
                       "block \"%s\" has another form",
                       block->name);
    bb_status status = bb_allocate(&g, d, sizeof *g, "Wishart noise");
    if (status) return status;
    for (size_t k = 0; k < d + 1; k++) {
        for (size_t i = 0; i < d; i++) g[i] = bb_random_normal(random);
        for (size_t i = 0; i < d; i++) {
            if (block->form == BB_FORM_SQUARE)
                sum[i] += scale * g[i] * g[i];
            else
                for (size_t j = 0; j < d; j++) sum[i * d + j] += scale * (g[i] * g[j]);
        }
    }
    *std = scale * sqrt(2.0 * (double)(d + 1));
    free(g);
    return BB_OK;
}

const bb_mechanism bb_mechanism_gaussian = {
    .name = "gaussian", .pricing = BB_PRICE_GAUSSIAN, .grid = true, .clips = true};
const bb_mechanism bb_mechanism_none = {.name = "none", .pricing = BB_PRICE_NOTHING};
const bb_mechanism bb_mechanism_wishart_published = {.name = "wishart-published",
                                                     .pricing = BB_PRICE_PUBLISHED,
                                                     .clips = true,
                                                     .psd_noise = true,
                                                     .add = add_wishart};
const bb_mechanism bb_mechanism_lipschitz_published = {
    .name = "lipschitz-published", .pricing = BB_PRICE_PUBLISHED, .by_tasks = true};

const bb_mechanism *bb_mechanism_find(const char *name) {
    const bb_mechanism *const known[] = {&bb_mechanism_gaussian, &bb_mechanism_none,
                                         &bb_mechanism_wishart_published,
                                         &bb_mechanism_lipschitz_published};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i]->name, name) == 0) return known[i];
    return NULL;
}

bool bb_mechanism_is_noisy(const bb_mechanism *mechanism) {
    return mechanism->pricing != BB_PRICE_NOTHING;
}
