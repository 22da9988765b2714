#include "api/call.h"
#include "api/tables.h"
#include "base/json.h"
#include "base/memory.h"
#include "methods/hope.h"
#include "methods/theory.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/form.h"
#include "privacy/accounting/schedule.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct advise_options {
    double tasks, features, rows, epsilon, delta, smooth, strong, rank, clip, lambda;
    int adjacency, loss;
    uint64_t doors;
} advise_options;

#define AT(field) offsetof(advise_options, field)
/* clang-format off */
static const bb_option row[] = {
    {"tasks", BB_OPTION_AUTO, AT(tasks), "auto", 1.0, 1e12, NULL, "M", "how many tasks there are"},
    {"features", BB_OPTION_AUTO, AT(features), "auto", 1.0, 1e9, NULL, "D", "columns of a row"},
    {"rows", BB_OPTION_AUTO, AT(rows), "auto", 1.0, 1e12, NULL, "N", "about how many rows a task has"},
    {"loss", BB_OPTION_CHOICE, AT(loss), "squared", 0.0, 0.0, "squared|logistic", "LOSS", "squared, or logistic for two classes"},
    {"epsilon", BB_OPTION_REAL, AT(epsilon), "1", 1e-6, 1e3, NULL, "E", "the budget"},
    {"delta", BB_OPTION_AUTO, AT(delta), "auto", 1e-300, 0.5, NULL, "D", "the budget's delta (default: as train has it)"},
    {"adjacency", BB_OPTION_CHOICE, AT(adjacency), "replace-one", 0.0, 0.0, "replace-one|add-remove", "ADJACENCY", "what a neighbouring population is"},
    {"doors", BB_OPTION_COUNT, AT(doors), "1", 1.0, 2.0, NULL, "N", "2: two doors, each of which adds noise (theory: of one)"},
    {"smooth", BB_OPTION_AUTO, AT(smooth), "auto", 1e-12, 1e12, NULL, "L", "theory: Lipschitz constant of the gradient of a task's loss (auto: 1, logistic 0.25, of rows in the unit ball)"},
    {"strong", BB_OPTION_REAL, AT(strong), "0", 0.0, 1e12, NULL, "MU", "theory: a task's loss is MU-strongly convex; 0: convex"},
    {"rank", BB_OPTION_REAL, AT(rank), "1", 1.0, 1e9, NULL, "K", "theory: how many directions (or columns) tasks share"},
    {"clip", BB_OPTION_REAL, AT(clip), "1", 1e-12, 1e12, NULL, "C", "theory: the largest norm of a model or update"},
    {"lambda", BB_OPTION_REAL, AT(lambda), "1", 1e-12, 1e12, NULL, "LAMBDA", "theory: pmtl's pull towards the mean"},
};
/* clang-format on */
static const bb_options table = {row, sizeof row / sizeof *row};

bb_option_table bb_advise_table(void) {
    return (bb_option_table){table, sizeof(advise_options)};
}

/* -- what can be hoped for -- */

/* The same that a run asks, with its column of ones. */
static bb_hope hope_of(const advise_options *o) {
    const bb_public pub = {.tasks = (size_t)o->tasks,
                           .features = (size_t)o->features + 1,
                           .loss = o->loss == 0 ? BB_LOSS_SQUARED : BB_LOSS_LOGISTIC,
                           .adjacency = (bb_adjacency)o->adjacency,
                           .doors = (size_t)o->doors,
                           .epsilon = o->epsilon,
                           .delta = o->delta};
    return bb_hope_of(&pub, o->rows);
}

static json_t *hope_json(const bb_hope *h) {
    return json_pack("{s:o,s:o,s:o,s:o,s:b}", "reach", bb_json_real(h->reach), "least",
                     bb_json_real(h->least), "tasks", bb_json_real(h->tasks), "epsilon",
                     bb_json_real(h->epsilon), "alone_is_enough", h->alone_is_enough);
}

static bb_status recommend_json(const advise_options *o, const bb_hope *h,
                                json_t **out) {
    const char *method = o->loss == 0 ? "mp-mixed" : "mp-centre";
    char text[BB_HOPE_TEXT], *line = NULL;
    bb_words command;
    bb_status status = bb_words_open(&command);
    bb_hope_say(h, text);
    if (!status) {
        if (h->alone_is_enough)
            fputs("billboard train DATA --method stl -o RUN", command.stream);
        else {
            fprintf(command.stream, "billboard train DATA --epsilon %g", o->epsilon);
            if (o->delta != bb_delta_default((size_t)o->tasks))
                fprintf(command.stream, " --delta %g", o->delta);
            if (o->adjacency != BB_REPLACE_ONE)
                fprintf(command.stream, " --adjacency %s",
                        bb_adjacency_name((bb_adjacency)o->adjacency));
            fprintf(command.stream, "%s%s -o RUN",
                    o->loss ? " --loss logistic" : " --scale ranges.json",
                    o->doors > 1 ? " --doors 2" : "");
        }
        status = bb_words_close(&command, &line);
    }
    if (!status)
        *out = json_pack("{s:s,s:s,s:s}", "method", h->alone_is_enough ? "stl" : method,
                         "command", line, "text", text);
    free(line);
    return status;
}

/* -- what the theorems advise -- */

/* The multiplier of the round with the least noise, when mu_t ~ a_t. */
static bb_status noise_of(const advise_options *o, bool group_sparse, double rounds,
                          const char *schedule, double *noise) {
    const bb_form form = group_sparse ? BB_FORM_SQUARE : BB_FORM_OUTER;
    const size_t count = (size_t)rounds;
    double *weight = NULL, square = 0.0;
    bb_status status = bb_allocate(&weight, count, sizeof *weight, "a schedule");
    if (!status) status = bb_schedule(schedule, count, weight);
    for (size_t k = 0; k < count && !status && weight; k++)
        square += weight[k] * weight[k];
    free(weight);
    *noise = bb_form_sensitivity(form, (bb_adjacency)o->adjacency) * sqrt(square) /
             bb_gdp_mu(o->epsilon, o->delta);
    return status;
}

static json_t *algorithm_json(const bb_theory *t, const char *schedule, double rounds,
                              double noise) {
    static const char *const composing[BB_COMPOSINGS] = {"sum", "advanced", "optimal"};
    const double allocation = bb_theory_allocation(t);
    const double cost = bb_theory_cost(t, allocation);
    const double edge = t->group_sparse ? noise : noise * sqrt(2.0 * t->features);
    const bool strong = t->strong > 0.0;
    return json_pack(
        "{s:s,s:s,s:b,s:s,s:i,s:i,s:s,s:o,s:o,s:o,s:o,s:b,s:o,s:o}", "method",
        t->group_sparse ? "mp-groupsparse" : "mp-lowrank", "losses",
        strong ? "strongly convex" : "convex", "accelerated", t->accelerated,
        "composition", composing[t->composing], "theorem", bb_theory_theorem(t),
        "allocation_theorem", bb_theory_allocation_theorem(t), "schedule", schedule,
        "rounds", bb_json_real(rounds), "momentum",
        strong || !t->accelerated ? bb_json_real(bb_theory_momentum(t)) : json_null(),
        "step", bb_json_real(1.0 / t->smooth), "cost", bb_json_real(cost), "void",
        bb_theory_bound(t, allocation) >= 1.0, "noise_multiplier", bb_json_real(noise),
        "noise_over_signal", bb_json_real(edge / t->tasks));
}

enum { MOST_ROUNDS = 1000000 };

static bb_status add_algorithm(const advise_options *o, const bb_theory *t,
                               json_t **list) {
    const double allocation = bb_theory_allocation(t);
    const double rounds = fmin(bb_theory_rounds(t, allocation), MOST_ROUNDS);
    char schedule[40];
    double noise = 0.0;
    snprintf(schedule, sizeof schedule,
             t->strong > 0.0 ? "geometric:%.6g" : "power:%.6g", allocation);
    const bb_status status = noise_of(o, t->group_sparse, rounds, schedule, &noise);
    if (!status) bb_json_append(list, algorithm_json(t, schedule, rounds, noise));
    return status;
}

static bb_status algorithms_json(const advise_options *o, json_t **out) {
    json_t *list = json_array();
    bb_status status = BB_OK;
    for (unsigned k = 0; k < 4 * BB_COMPOSINGS && !status; k++) {
        const bb_theory t = {.tasks = o->tasks,
                             .features = o->features,
                             .rank = fmin(o->rank, o->features),
                             .clip = o->clip,
                             .smooth = o->smooth,
                             .strong = o->strong,
                             .epsilon = o->epsilon,
                             .delta = o->delta,
                             .group_sparse = k & 1,
                             .accelerated = k & 2,
                             .composing = (bb_composing)(BB_COMPOSINGS - 1 - k / 4)};
        status = add_algorithm(o, &t, &list);
    }
    *out = list;
    return status;
}

/* All tasks in every round. */
static json_t *mean_json(const advise_options *o) {
    const bb_theory_mean t = {.tasks = o->tasks,
                              .features = o->features,
                              .lambda = o->lambda,
                              .clip = o->clip,
                              .smooth = o->smooth,
                              .strong = o->strong,
                              .rate = 1.0};
    const double rounds = fmin(bb_theory_mean_rounds(&t), MOST_ROUNDS);
    const double step = bb_theory_mean_step(&t);
    const double r = bb_form_sensitivity(BB_FORM_VECTOR, (bb_adjacency)o->adjacency);
    const double enough = r * sqrt(rounds) / bb_gdp_mu(o->epsilon, o->delta);
    if (!(step > 0.0))
        return json_pack("{s:s,s:i,s:n,s:n}", "method", "pmtl", "theorem", 5, "step",
                         "rounds");
    return json_pack("{s:s,s:i,s:o,s:o,s:o,s:o}", "method", "pmtl", "theorem",
                     o->strong > 0.0 ? 5 : 3, "step", bb_json_real(step), "rounds",
                     bb_json_real(rounds), "noise_multiplier_published",
                     bb_json_real(bb_theory_mean_noise(rounds, o->epsilon, o->delta)),
                     "noise_multiplier", bb_json_real(enough));
}

/* -- the whole -- */

static bb_status check(advise_options *o) {
    if (isnan(o->tasks) || isnan(o->features))
        return bb_fail(BB_EUSAGE, "advise: how large is it? give --tasks and "
                                  "--features, or DATA");
    if (isnan(o->delta)) o->delta = bb_delta_default((size_t)o->tasks);
    if (isnan(o->smooth)) o->smooth = o->loss == 0 ? 1.0 : 0.25;
    if (o->strong >= o->smooth)
        return bb_fail(BB_EUSAGE, "advise: --strong must be below --smooth, %g, got %g",
                       o->smooth, o->strong);
    return BB_OK;
}

static bb_status advise(advise_options *o, billboard_answer **out) {
    json_t *recommended = NULL, *algorithms = NULL;
    bb_status status = check(o);
    if (status) return status;
    const bb_hope h = hope_of(o);
    status = recommend_json(o, &h, &recommended);
    if (!status) status = algorithms_json(o, &algorithms);
    if (status) {
        json_decref(recommended);
        json_decref(algorithms);
        return status;
    }
    return bb_answer_open(
        out,
        json_pack("{s:o,s:o,s:o,s:s,s:o,s:o,s:s,s:s,s:I,s:o,s:o,s:{s:o,s:o,s:o,s:o}}",
                  "tasks", bb_json_real(o->tasks), "features",
                  bb_json_real(o->features), "rows", bb_json_real(o->rows), "loss",
                  o->loss == 0 ? "squared" : "logistic", "epsilon",
                  bb_json_real(o->epsilon), "delta", bb_json_real(o->delta),
                  "adjacency", bb_adjacency_name((bb_adjacency)o->adjacency),
                  "sampling", "all", "doors", (json_int_t)o->doors, "hope",
                  hope_json(&h), "recommended", recommended, "theory", "smooth",
                  bb_json_real(o->smooth), "strong", bb_json_real(o->strong),
                  "algorithms", algorithms, "mean_regularised", mean_json(o)));
}

billboard_status billboard_advise(const billboard_option *option, size_t options,
                                  billboard_answer **advice) {
    advise_options o = {0};
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(advice, "billboard_advise", "advice");
    if (!status) status = bb_options_default(table, &o);
    if (!status) status = bb_call_options(table, &o, "advise", option, options);
    if (!status) status = advise(&o, advice);
    bb_options_free(table, &o);
    return bb_call_end(&call, status);
}
