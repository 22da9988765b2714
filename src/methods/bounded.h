/* bounded.h - models that no single row can move far, and what dp-aggr and dp-mtrl have
 * in common: the calibrations of their noise. docs/methods/dp-aggr.md
 *
 * calibration=task      what a task shows is clipped to a public norm; Gaussian noise.
 * calibration=instance  output perturbation: what a task shows is w - c, with
 *   w = argmin (1/N) sum_{j <= N} l(x_j.w, y_j) + kappa/2 ||w - c||^2,
 *   N, kappa and c public, of the task's first N rows (fewer are all), each scaled into
 *   the unit ball, with a convex loss l whose derivative in the prediction is at most
 * B: the logistic loss, or the squared loss with residuals cut to [-B, B] (Huber 1964).
 *   One row, replaced or blank, moves w by at most 2 B / (kappa N), and ||w - c|| is at
 *   most B / kappa. Radial noise; a task's promise is lifted from that for its rows.
 *
 * calibration=published  the same promise, claimed of a model of all rows as they are:
 *   the task adds radial noise, B being the largest derivative of the loss that it finds
 *   at its own minimum (Liang et al. 2020, section 5.1). Not private: the noise itself
 *   tells of the rows, and may vanish. */
#ifndef BB_METHODS_BOUNDED_H
#define BB_METHODS_BOUNDED_H

#include "core/method.h"

typedef enum bb_calibration {
    BB_CALIBRATION_TASK,
    BB_CALIBRATION_INSTANCE,
    BB_CALIBRATION_PUBLISHED
} bb_calibration;

/* First in each method's own options. */
typedef struct bb_bounded_options {
    int calibration;
    double clip;     /* task: of what is shown */
    double gradient; /* instance: B of the squared loss */
    uint64_t rows;   /* instance: N */
} bb_bounded_options;

#define BB_BOUNDED_ROWS(usual_clip)                                                    \
    {.name = "calibration",                                                            \
     .kind = BB_OPTION_CHOICE,                                                         \
     .offset = offsetof(bb_bounded_options, calibration),                              \
     .fallback = "task",                                                               \
     .choices = "task|instance|published",                                             \
     .argument = "UNIT",                                                               \
     .help = "task: models clipped, Gaussian noise for whole tasks; instance: output " \
             "perturbation for rows, lifted to rows-cap rows; published: that by the " \
             "actual rows, which is not private"},                                     \
        {.name = "clip",                                                               \
         .kind = BB_OPTION_REAL,                                                       \
         .offset = offsetof(bb_bounded_options, clip),                                 \
         .fallback = (usual_clip),                                                     \
         .least = 1e-12,                                                               \
         .most = 1e12,                                                                 \
         .argument = "C",                                                              \
         .help = "calibration=task: models are clipped to this public norm"},          \
        {.name = "gradient-clip",                                                      \
         .kind = BB_OPTION_REAL,                                                       \
         .offset = offsetof(bb_bounded_options, gradient),                             \
         .fallback = "1",                                                              \
         .least = 1e-9,                                                                \
         .most = 1e9,                                                                  \
         .argument = "B",                                                              \
         .help = "calibration=instance: residuals count as at most this (logistic "    \
                 "loss: 1)"},                                                          \
    {                                                                                  \
        .name = "rows-cap", .kind = BB_OPTION_COUNT,                                   \
        .offset = offsetof(bb_bounded_options, rows), .fallback = "100", .least = 1.0, \
        .most = 1e6, .argument = "N",                                                  \
        .help =                                                                        \
            "calibration=instance: a task's first N rows are used; published: the "    \
            "most rows that a task is said to have"                                    \
    }

/* Whether the run's promise is lifted from one for rows (bb_method.for_rows). */
bool bb_bounded_is_instance(const void *options);
/* Whether tasks add the noise themselves (bb_method.noise_by_tasks). */
bool bb_bounded_is_published(const void *options);
/* B of calibration=instance. */
double bb_bounded_gradient(const bb_view *view);
/* For method->plan, after its rounds: calibration=instance, for kappa >= `least`, and
 * published. BB_EUSAGE for a loss scale other than mean, and for a kappa so small that
 * rounding would count (instance), and for more features than radial noise has. */
BB_MUST_CHECK bb_status bb_bounded_plan(const bb_view *view, double least,
                                        bb_plan *plan);
/* The longest centre for which that is so, too. */
double bb_bounded_longest_centre(const bb_view *view);

/* What noise of this deviation makes longer is taken out of count released numbers, or all
 * of them where they may be nothing else, one time in a hundred wrongly (positive part;
 * James, Stein 1961). A function of a release: free. Nothing without noise. */
void bb_bounded_take_noise_out(size_t count, double noise, double *at);

/* Doubles of work of one task, for bb_method.local_length. */
size_t bb_bounded_length(const bb_view *view, const bb_local *local);
/* moved (d) <- w - c, off by at most 2^-25 B / kappa, whatever the rows: a row with a
 * number that is not finite, or too long for its norm, is a blank row. Newton steps
 * until the gradient is at most 2^-26 B long; where they do not get there, which was
 * never seen, bb_bounded_descend. centre NULL: 0. */
void bb_bounded_solve(const bb_view *view, const bb_local *local, double kappa,
                      const double *centre, double *moved, double *work);
/* The same by (1 + kappa) / kappa 28 log 2 gradient steps: slow, but with a proof that
 * it gets there. */
void bb_bounded_descend(const bb_view *view, const bb_local *local, double kappa,
                        const double *centre, double *moved, double *work);

/* calibration=published: w += radial noise for the task's minimum w of its loss and a
 * penalty kappa, its scale divided by sqrt(parts): so many tasks add up theirs to one of
 * that variance. Nothing without noise. */
void bb_bounded_disturb(const bb_view *view, const bb_task *task, double kappa,
                        double parts, double *w);

#endif
