/* effects.h - a private mixed model as a statistician writes it down: fixed effects and
 * variance components in the data's own units, with standard errors (--report-effects). */
#ifndef BB_TRAIN_EFFECTS_H
#define BB_TRAIN_EFFECTS_H

#include "data/preprocess.h"
#include "methods/mp_mixed_effects.h"
#include "train/options.h"

#include <jansson.h>

#include <stdio.h>

/* Whether the request may ask for them, BB_EUSAGE: a method that has them, rows in public
 * ranges, a constant column, one phase. */
BB_MUST_CHECK bb_status bb_effects_check(const bb_train_request *request);

/* The object of public/effects.json (docs/run-directory.md) from the billboard's numbers
 * and the public steps of preprocessing; NULL: out of memory. Privacy cost: none, it is
 * post-processing. */
json_t *bb_effects_json(const double *numbers, const bb_preprocess *steps);
/* The same as lines of CSV: what, name, estimate, standard_error. */
void bb_effects_csv(const json_t *effects, FILE *stream);
/* The same for people. */
void bb_effects_text(const json_t *effects, FILE *stream);
/* A number of these in words, "-" for NAN: five digits, or as many as its error (NAN: not
 * known) leaves three of. Returns text. */
enum { BB_EFFECT_BYTES = 32 };
const char *bb_effects_number(double value, double error, char text[BB_EFFECT_BYTES]);

#endif
