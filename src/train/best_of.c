#include "train/best_of.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/random.h"
#include "data/encode.h"
#include "data/ranges.h"
#include "linalg/linalg.h"
#include "privacy/accounting/best_of.h"
#include "train/experiment.h"
#include "train/score.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run that is kept, and what it borrows from. */
typedef struct made {
    bb_train_request request;
    bb_training *training;
} made;

typedef struct search {
    const bb_best_of *asked;
    const bb_watch *watch;
    bb_best_found *found;
    bb_train_request whole; /* epsilon, delta and ledger of the whole */
    size_t *setting, settings;
    bb_tune_rows rows;
    uint64_t runs; /* K; told to nobody, not by counting them aloud either */
    bb_random random;
    bool random_open;
    double run_epsilon, score_epsilon; /* budgets of each run's two parts, at delta */
    bb_ledger *ledger;
    made *best;
} search;

static void close_made(made *m) {
    bb_training_close(m->training);
    bb_train_request_free(&m->request);
    free(m);
}

/* -- the budget -- */

/* An epsilon that is worth at most mu, as the door's plan reads it. */
static double epsilon_of(double mu, double delta) {
    double epsilon = bb_gdp_epsilon(mu, delta);
    for (double less = 0x1p-46; bb_gdp_mu(epsilon, delta) > mu; less *= 2.0)
        epsilon *= 1.0 - less;
    return epsilon;
}

static bb_status divide(search *s) {
    bb_best_found *f = s->found;
    const double mean = (double)s->asked->mean;
    f->mu_alone = bb_gdp_mu(f->epsilon, f->delta);
    f->mu_composed = bb_gdp_mu(0.9 * f->epsilon, f->delta) / sqrt(mean);
    f->mu = bb_best_of_mu(mean, f->epsilon, f->delta);
    s->run_epsilon = epsilon_of(sqrt(1.0 - s->asked->share) * f->mu, f->delta);
    s->score_epsilon = epsilon_of(sqrt(s->asked->share) * f->mu, f->delta);
    if (s->run_epsilon >= 1e-6 && s->score_epsilon >= 1e-6) return BB_OK;
    return bb_fail(
        BB_EUSAGE,
        "tune: epsilon = %g, delta = %g (%s, sampling: all) is too little for "
        "the best of %.0f runs",
        f->epsilon, f->delta, bb_adjacency_name(f->adjacency), mean);
}

/* -- what the theorem is about -- */

static bb_status no_price(const bb_resolved *r, const char *why) {
    char name[BB_RUN_NAME];
    bb_run_name(r->run.phases, r->run.phase, name);
    return bb_fail(BB_EUSAGE,
                   "tune: --private counts Gaussian rounds of all tasks: %s %s", name,
                   why);
}

/* Of the rounds that its methods ask for. */
static bb_status check_plan(const bb_resolved *r, const bb_plan *plan) {
    if (r->run.pub.sampling != BB_SAMPLING_ALL)
        return no_price(r, "with --sampling has a sample of them in each");
    if (r->run.pub.doors > 1)
        return no_price(r, "with two doors promises two things: leave --doors out");
    if (r->run.mechanism->pricing != BB_PRICE_GAUSSIAN)
        return no_price(r, "with this --mechanism has other noise");
    if (plan->instance || plan->lifted_rows)
        return no_price(r, "promises something for single rows, too");
    for (uint32_t t = 0; t < plan->rounds; t++)
        if (plan->step[t].selection > 0.0)
            return no_price(r,
                            "selects its clip privately, which is none: give it (--set "
                            "clip=C, or a grid of clips)");
    return BB_OK;
}

/* By public sizes; those of prepared rows may differ a little, which changes how many
 * rounds there are and not what they are. */
static bb_status check_resolved(const search *s, const bb_resolved *r) {
    const bb_run *run = &r->run;
    const size_t features = s->rows.rows.features + run->pub.constant;
    bb_public pub[BB_MOST_PHASES];
    bb_plan_part part[BB_MOST_PHASES];
    bb_plan plan = {0};
    for (size_t k = 0; k < run->phases; k++) {
        pub[k] = run->pub;
        pub[k].phase = k;
        pub[k].rounds = run->phase[k].rounds;
        pub[k].tasks = s->found->tasks;
        pub[k].features = pub[k].parameters = features;
        pub[k].outputs = 1;
        pub[k].delta = s->found->delta;
        pub[k].mu = bb_gdp_mu(s->run_epsilon, s->found->delta);
        part[k] = (bb_plan_part){
            .view = {run->phase[k].method, run->phase[k].options, &pub[k], NULL, NULL},
            .share = 1.0};
    }
    bb_status status = bb_plan_ask(&plan, run->phases, part);
    if (!status) status = check_plan(r, &plan);
    bb_plan_free(&plan);
    return status;
}

/* Whether a run will have a score, and promise anything. */
static bb_status check_scale(const bb_resolved *r) {
    const char *scale = r->request->options.scale;
    bb_ranges ranges = {0};
    bb_status status = scale ? bb_ranges_read(&ranges, scale) : BB_OK;
    if (!status && ranges.from_data)
        status = bb_fail(BB_EUSAGE,
                         "tune: --private needs public ranges: those of %s were taken "
                         "from the rows",
                         scale);
    if (!status && r->run.pub.loss == BB_LOSS_SQUARED &&
        !(ranges.has_target && ranges.target.high > ranges.target.low))
        status = bb_fail(BB_EUSAGE,
                         "tune: scores need the target's public range: give it with "
                         "--scale");
    bb_ranges_free(&ranges);
    return status;
}

/* Of every setting, before anything is charged. */
static bb_status check_settings(const search *s) {
    bb_status status = BB_OK;
    for (size_t k = 0; k < s->settings && !status; k++) {
        bb_train_request request = {0};
        bb_resolved resolved;
        status = bb_tune_request(s->asked->tune, s->setting[k], NULL, &request);
        request.options.epsilon = s->run_epsilon;
        if (!status) status = bb_resolve(&request, &resolved);
        if (!status) status = check_scale(&resolved);
        if (!status)
            status = bb_levels_public(resolved.request->options.categories,
                                      "tune: --private");
        if (!status) status = check_resolved(s, &resolved);
        bb_train_request_free(&request);
    }
    return status;
}

/* What a run says of itself, once it is made: one promise to tasks, by Gaussian rounds of
 * all of them, or nothing exchanged at all, which costs nothing beside its score. */
static bb_status check_price(const bb_statement *statement) {
    const bb_guarantee *g = &statement->guarantee[0];
    const bool priced = statement->alone || strcmp(g->accountant, "gdp") == 0;
    if (statement->count == 1 && strcmp(g->unit, "task") == 0 && g->valid && priced &&
        strcmp(g->sampling, "all") == 0)
        return BB_OK;
    return bb_fail(
        BB_EUSAGE,
        "tune: %s has another price than Gaussian rounds of all tasks, which "
        "--private needs",
        statement->method);
}

/* -- the budget of the whole -- */

/* How many tasks there are, which is public; delta may depend on it. The rows are kept for
 * the runs. */
static bb_status read_rows(search *s) {
    const bb_train_options *o = &s->whole.options;
    const bb_status status = bb_tune_rows_open(s->asked->tune, s->setting[0], &s->rows);
    if (status) return bb_ended_by_data(status);
    s->found->tasks = s->rows.rows.tasks;
    if (o->first_tasks && o->first_tasks < s->found->tasks)
        s->found->tasks = (size_t)o->first_tasks;
    return BB_OK;
}

static bb_status open_ledger(search *s) {
    bb_train_options o = s->whole.options;
    char sum[] = "sum";
    if (!o.ledger) return BB_OK;
    if (!o.ledger_kind) o.ledger_kind = sum;
    if (strcmp(o.ledger_kind, sum) != 0)
        return bb_fail(BB_EUSAGE,
                       "tune: the best of several runs has no price in a "
                       "ledger of kind %s: it takes kind sum",
                       o.ledger_kind);
    if (s->asked->seed)
        return bb_fail(BB_EUSAGE, "tune: seeded noise is not private, and has no price "
                                  "in a ledger: leave --ledger or --seed out");
    return bb_resolve_ledger(&o, s->found->tasks, s->found->adjacency, &s->ledger);
}

static bb_status check_data_of(const search *s, size_t setting) {
    const bb_watch silent = {.stop = s->watch->stop};
    bb_train_request request = {0};
    size_t tasks = 0;
    bb_status status = bb_tune_request(s->asked->tune, setting, NULL, &request);
    request.options.epsilon = s->run_epsilon;
    if (!status) status = bb_training_check(&request, &s->rows.source, &silent, &tasks);
    bb_train_request_free(&request);
    if (status || tasks == s->found->tasks) return status;
    return bb_fail(BB_EUSAGE,
                   "tune: settings must have the same tasks: with the first one there "
                   "are %zu, with another %zu",
                   s->found->tasks, tasks);
}

/* With every setting that may be drawn: whether the search ends well must depend neither
 * on data, once it was charged, nor on which settings are drawn. */
static bb_status check_data(const search *s) {
    bb_status status = BB_OK;
    if (s->watch->say) s->watch->say(s->watch->self, "checking");
    for (size_t k = 0; k < s->settings && !status; k++)
        status = check_data_of(s, s->setting[k]);
    return status;
}

/* The whole, before any run is made. */
static bb_status charge(search *s) {
    const bb_best_found *f = s->found;
    const bb_ledger_charge price = {.epsilon = f->epsilon, .delta = f->delta};
    char words[120];
    long long id;
    bb_status status = open_ledger(s);
    if (status || !s->ledger) return status;
    snprintf(words, sizeof words,
             "tune: the best of a Poisson number of runs, %llu on "
             "average",
             (unsigned long long)s->asked->mean);
    status = bb_ledger_name_run(s->ledger, s->asked->output);
    return status ? status : bb_ledger_reserve(s->ledger, &price, words, &id);
}

/* -- one run -- */

static bb_status score(const search *s, const bb_training *training, uint64_t seed,
                       double *value, double *noise) {
    const bb_experiment *e = &training->e;
    const bb_score_plan plan = {.tasks = e->report.tasks,
                                .adjacency = s->found->adjacency,
                                .epsilon = s->score_epsilon,
                                .delta = s->found->delta,
                                .seeded = s->asked->seed != NULL,
                                .seed = seed};
    if (!e->held_out) return bb_fail(BB_ENOMEM, "no memory for the scores");
    assert(e->report.tasks == s->found->tasks);
    return bb_score_release(&plan, e->held_out, value, noise);
}

static bb_status make(search *s, size_t setting, const uint64_t *seed, made *out) {
    const bb_watch silent = {.stop = s->watch->stop};
    bb_status status = bb_tune_request(s->asked->tune, setting, seed, &out->request);
    out->request.options.epsilon = s->run_epsilon;
    out->request.charged = s->ledger != NULL;
    if (!status)
        status = bb_training_open(&out->training, &out->request, &s->rows.source, NULL,
                                  &silent, NULL);
    if (!status) status = check_price(&bb_training_report(out->training)->statement);
    return status;
}

/* Keeps it if it is the best so far. With a seed, the run's own and its score's are drawn:
 * searches with seeds side by side have no noise in common. */
static bb_status try_one(search *s) {
    bb_best_found *f = s->found;
    const bool seeded = s->asked->seed != NULL;
    const size_t setting = s->setting[bb_random_below(&s->random, s->settings)];
    const uint64_t own = seeded ? bb_random_bits(&s->random) : 0;
    const uint64_t scored = seeded ? bb_random_bits(&s->random) : 0;
    double value = 0.0, noise = 0.0;
    made *m = NULL; /* the run stays where it is: its parts point at each other */
    bb_status status = bb_random_check(&s->random);
    if (!status) status = bb_allocate(&m, 1, sizeof *m, "a run");
    if (!status) status = make(s, setting, seeded ? &own : NULL, m);
    if (!status) status = score(s, m->training, scored, &value, &noise);
    if (!status && (!f->there || value < f->score)) {
        if (s->best) close_made(s->best);
        s->best = m;
        m = NULL;
        f->there = true;
        f->setting = setting;
        f->score = value;
        f->noise = noise;
    }
    if (m) close_made(m);
    return status;
}

static bb_status make_runs(search *s) {
    uint64_t seed = 0;
    bb_status status = BB_OK;
    if (s->watch->say) s->watch->say(s->watch->self, "searching");
    if (s->asked->seed && !bb_number_count(s->asked->seed, &seed))
        status = bb_fail(BB_EUSAGE, "tune: the seed must be a whole number, got \"%s\"",
                         s->asked->seed);
    if (!status && s->asked->seed)
        status = bb_random_open_stream(&s->random, seed, BB_FOR_TUNING, 1, 0);
    else if (!status)
        status = bb_random_open_secure(&s->random);
    s->random_open = !status;
    if (!status) s->runs = bb_random_poisson(&s->random, s->asked->mean);
    for (uint64_t k = 0; k < s->runs && !status; k++) status = try_one(s);
    return status;
}

/* -- the whole -- */

/* The run's statement is about the whole. */
static bb_status publish(search *s) {
    bb_training *t = s->best->training;
    bb_guarantee *g = &t->e.report.statement.guarantee[0];
    snprintf(t->note, sizeof t->note,
             "The best of a random number of such runs (Poisson, %llu on average) by a "
             "noisy score; the number and the other runs are told to nobody.",
             (unsigned long long)s->asked->mean);
    g->epsilon = s->found->epsilon;
    g->accountant = "rdp";
    g->note = t->note;
    t->e.report.statement.alone = false; /* the setting and the score are published */
    s->best->request.options.epsilon = s->found->epsilon;
    if (s->ledger) t->e.report.statement.ledger = s->whole.options.ledger;
    const bb_status status =
        bb_training_save(t, s->asked->output, s->whole.options.force);
    return status || !s->ledger ? status : bb_ledger_finish(s->ledger);
}

static bb_status prepare(search *s) {
    const bb_tune *t = s->asked->tune;
    bb_tried *tried = NULL;
    bb_loss loss;
    bb_status status = bb_rundir_check(s->asked->output, s->whole.options.force);
    if (!status && isnan(s->whole.options.epsilon))
        status = bb_fail(BB_EUSAGE, "tune: --private needs --epsilon, for the whole");
    if (!status)
        status = bb_allocate(&tried, t->settings->count, sizeof *tried, "settings");
    if (!status)
        status = bb_allocate(&s->setting, t->settings->count, sizeof *s->setting,
                             "settings");
    if (!status) status = bb_tune_check(t, tried, s->setting, &s->settings, &loss);
    free(tried);
    if (!status) status = read_rows(s);
    if (!status)
        status =
            bb_delta_choose(s->whole.options.delta, s->found->tasks, &s->found->delta);
    s->found->epsilon = s->whole.options.epsilon;
    s->found->adjacency = (bb_adjacency)s->whole.options.adjacency;
    if (!status) status = divide(s);
    if (!status) status = check_settings(s);
    return status ? status : check_data(s);
}

/* The search was interrupted, and what it has paid is spent. */
static bb_status say_what_is_charged(const search *s, bb_status status) {
    const bb_best_found *f = s->found;
    char before[400];
    if (status != BB_EINTERRUPTED || !s->ledger || !bb_ledger_reserved(s->ledger))
        return status;
    snprintf(before, sizeof before, "%s", bb_last_error());
    return bb_fail(status,
                   "%s; nothing was written; ledger %s keeps the charge of (epsilon = "
                   "%.6g, delta = %.6g), adjacency %s, sampling: all",
                   before, s->whole.options.ledger, f->epsilon, f->delta,
                   bb_adjacency_name(f->adjacency));
}

bb_status bb_best_of_run(const bb_best_of *best, const bb_watch *watch,
                         bb_best_found *found) {
    search s = {.asked = best, .watch = watch, .found = found};
    *found = (bb_best_found){.there = false};
    bb_status status = bb_linalg_ready();
    if (!status) status = bb_tune_whole(best->tune, 0, &s.whole);
    if (!status) status = prepare(&s);
    if (!status) status = charge(&s);
    if (!status) status = make_runs(&s);
    status = say_what_is_charged(&s, status);
    if (!status && found->there) status = publish(&s);
    if (s.random_open) bb_random_close(&s.random);
    if (s.best) close_made(s.best);
    if (s.ledger) bb_ledger_close(s.ledger);
    bb_train_request_free(&s.whole);
    bb_tune_rows_close(&s.rows);
    free(s.setting);
    return status;
}
