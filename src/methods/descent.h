/* descent.h - options of descent steps, the same in every method that makes them. */
#ifndef BB_METHODS_DESCENT_H
#define BB_METHODS_DESCENT_H

#include "core/method.h"
#include "learners/sgd.h"

/* In a method's own options, as the member `descent`. */
typedef struct bb_descent {
    double rate, momentum; /* rate: NaN for auto */
    uint64_t steps, epochs;
    int decay;
} bb_descent;

/* Rows of a table of options, `type` having the member `descent`. What each word is of,
 * and what auto and 0 mean, belongs to the method. */
#define BB_DESCENT_STEPS_ROW(type, text)                                               \
    {                                                                                  \
        .name = "steps", .kind = BB_OPTION_COUNT,                                      \
        .offset = offsetof(type, descent.steps), .fallback = "0", .least = 0.0,        \
        .most = 1e9, .argument = "N", .help = (text)                                   \
    }
#define BB_DESCENT_ROWS(type, epochs_text, rate_text, momentum_text, decay_text)       \
    {.name = "epochs",                                                                 \
     .kind = BB_OPTION_COUNT,                                                          \
     .offset = offsetof(type, descent.epochs),                                         \
     .fallback = "0",                                                                  \
     .least = 0.0,                                                                     \
     .most = 1e6,                                                                      \
     .argument = "E",                                                                  \
     .help = (epochs_text)},                                                           \
        {.name = "rate",                                                               \
         .kind = BB_OPTION_AUTO,                                                       \
         .offset = offsetof(type, descent.rate),                                       \
         .fallback = "auto",                                                           \
         .least = 1e-12,                                                               \
         .most = 1e6,                                                                  \
         .argument = "R",                                                              \
         .help = (rate_text)},                                                         \
        {.name = "momentum",                                                           \
         .kind = BB_OPTION_REAL,                                                       \
         .offset = offsetof(type, descent.momentum),                                   \
         .fallback = "0",                                                              \
         .least = 0.0,                                                                 \
         .most = 0.999,                                                                \
         .argument = "BETA",                                                           \
         .help = (momentum_text)},                                                     \
    {                                                                                  \
        .name = "decay", .kind = BB_OPTION_CHOICE,                                     \
        .offset = offsetof(type, descent.decay), .fallback = "constant",               \
        .choices = "constant|linear|inverse", .argument = "HOW", .help = (decay_text)  \
    }

/* What a method means by epochs = 0, without and with --batch, and by rate = auto for
 * networks; for linear models that is 1 over all rows, and 0.1 with --batch. */
typedef struct bb_descent_defaults {
    uint64_t epochs, batch_epochs;
    double network_rate;
} bb_descent_defaults;

bb_sgd bb_descent_of(const bb_descent *descent, const bb_public *pub,
                     bb_descent_defaults defaults);

#endif
