#include "api/account.h"

#include "api/call.h"
#include "base/json.h"
#include "methods/theory.h"

#include <math.h>
#include <stdlib.h>

/* -- numbers -- */

enum { NUMBER_BYTES = 32 };

/* Six significant digits, rounded up so that the claim stays true. */
static const char *up(double value, char *text) {
    snprintf(text, NUMBER_BYTES, "%.6g", value);
    const double said = strtod(text, NULL);
    if (said >= value) return text;
    const double digit = pow(10.0, floor(log10(value)) - 5.0);
    snprintf(text, NUMBER_BYTES, "%.6g", said + digit);
    return text;
}

/* -- words -- */

static bool is_fixed(const account_plan *plan) {
    return plan->sampling == BB_SAMPLING_FIXED_VISIBLE ||
           plan->sampling == BB_SAMPLING_FIXED_HIDDEN;
}

static const char *cohort(const account_plan *plan) {
    return plan->sampling == BB_SAMPLING_FIXED_HIDDEN ? "hidden" : "visible";
}

/* What can be said of a price in words. */
typedef void say(const account_options *options, const account_plan *plan,
                 const account_price *price, FILE *stream);

static void say_sampling(const account_options *options, const account_plan *plan,
                         const account_price *price, FILE *stream) {
    (void)price;
    if (plan->mixed) {
        fprintf(stream, "as listed in %s", options->events);
        if (!plan->blocks) return;
        fputs(", and ", stream);
    }
    fputs(options->sampling ? options->sampling : "all", stream);
    if (is_fixed(plan))
        fprintf(stream, " of %.0f tasks (cohort %s)", options->tasks, cohort(plan));
}

static void say_noise(const account_plan *plan, FILE *stream) {
    char text[NUMBER_BYTES];
    for (size_t b = 0; b < plan->blocks; b++)
        fprintf(stream, "%s%s", b ? "," : "", up(plan->multiplier[b], text));
}

static void say_forms(const account_plan *plan, FILE *stream) {
    for (size_t b = 0; b < plan->blocks; b++)
        fprintf(stream, "%s%s", b ? "," : "", bb_form_name(plan->form[b]));
}

static void say_plan(const account_options *options, const account_plan *plan,
                     const account_price *price, FILE *stream) {
    (void)price;
    if (plan->blocks) {
        fprintf(stream, "%.0f round%s", plan->rounds, plan->rounds == 1.0 ? "" : "s");
        if (plan->weight) fprintf(stream, ", schedule %s", options->schedule);
        if (!isnan(plan->freedom))
            fprintf(stream, ", Wishart noise of freedom %g", plan->freedom);
        fputs(plan->weight ? ", least noise multiplier " : ", noise multiplier ",
              stream);
        say_noise(plan, stream);
        fputs(", form ", stream);
        say_forms(plan, stream);
    }
    if (!plan->others) return;
    fprintf(stream, "%s%s of %zu kind%s", plan->blocks ? ", and " : "",
            plan->mixed ? "listed rounds, selections and steps"
                        : "selections and steps",
            plan->others, bb_plural((double)plan->others));
}

static const char *meaning(bb_sampling sampling) {
    switch (sampling) {
    case BB_SAMPLING_POISSON:
        return "each task takes part in a round with this probability, independently "
               "of all others; it protects from those who do not see who did";
    case BB_SAMPLING_FIXED_VISIBLE:
        return "others may find out who was picked, so a task pays in full for each "
               "round in which it is";
    case BB_SAMPLING_FIXED_HIDDEN:
        return "this holds only if nothing that anybody keeps or sees, but the noisy "
               "sums, depends on who was picked";
    default:
        return "every task takes part in every round";
    }
}

static void say_meaning(const account_plan *plan, FILE *stream) {
    size_t hidden = 0;
    for (size_t k = 0; k < plan->others; k++)
        hidden += plan->other[k].sampling == BB_SAMPLING_FIXED_HIDDEN;
    if (plan->blocks) fprintf(stream, ": %s", meaning(plan->sampling));
    fputs(".\n", stream);
    if (hidden)
        fprintf(stream, "Where the file says that a cohort is hidden, %s.\n",
                meaning(BB_SAMPLING_FIXED_HIDDEN));
}

static void say_terms(const account_options *options, const account_price *price,
                      FILE *stream) {
    if (!options->adaptive)
        fputs("The plan must be made before any output is seen, and be all that is "
              "published.\n",
              stream);
    else if (price->answer.accountant == BB_ACCOUNTANT_RDP)
        fprintf(stream,
                "Later rounds may be chosen after looking at earlier ones, as long as "
                "their Renyi costs at order %.17g, fixed beforehand, add up to no "
                "more.\n",
                price->order);
    else
        fputs("Later rounds may be chosen after looking at earlier ones, as long as "
              "their mu^2 add up to no more.\n",
              stream);
}

static bool is_nearly_none(const account_plan *plan) {
    double least = INFINITY;
    for (size_t b = 0; b < plan->blocks; b++) least = fmin(least, plan->multiplier[b]);
    return least <= 1.01 * BB_NOISE_LEAST;
}

static void say_statement(const account_options *options, const account_plan *plan,
                          const account_price *price, FILE *stream) {
    char e[NUMBER_BYTES], d[NUMBER_BYTES];
    fprintf(
        stream,
        "What is published is (%s, %s)-differentially private for one whole task, "
        "adjacency %s: %s.\nSampling ",
        up(price->epsilon, e), up(price->delta, d), bb_adjacency_name(plan->adjacency),
        plan->adjacency == BB_REPLACE_ONE ? "its data may be replaced by any other"
                                          : "it may show zeros instead of its data");
    say_sampling(options, plan, price, stream);
    say_meaning(plan, stream);
    say_terms(options, price, stream);
    fputs("No epsilon means anything without its delta, adjacency and sampling.\n",
          stream);
    if (price->found == ACCOUNT_NOISE && is_nearly_none(plan))
        fputs("Warning: this is next to no noise, and less would do: delta and epsilon "
              "allow nearly everything.\n",
              stream);
    if (price->delta * options->tasks >= 1.0)
        fprintf(stream,
                "Warning: delta is not below 1/%.0f: publishing one random task's data "
                "outright would satisfy it.\n",
                options->tasks);
}

/* -- as JSON -- */

static json_t *curve_row(const account_curve *c, size_t k) {
    const bool delta = c->of == ACCOUNT_DELTA;
    return json_pack("{s:o,s:o,s:o,s:b}",
                     c->of == ACCOUNT_EPSILON ? "delta"
                     : delta                  ? "epsilon"
                                              : "rounds",
                     c->of == ACCOUNT_ROUNDS ? json_integer((json_int_t)c->x[k])
                                             : json_real(c->x[k]),
                     delta ? "delta" : "epsilon", bb_json_real(c->upper[k]),
                     delta ? "delta_lower" : "epsilon_lower", bb_json_real(c->lower[k]),
                     "lower_known", !isnan(c->lower[k]));
}

static json_t *curve_json(const account_curve *curve) {
    json_t *list = json_array();
    for (size_t k = 0; k < curve->count; k++)
        bb_json_append(&list, curve_row(curve, k));
    return list;
}

/* Of a round with this weight: a number, or an array where there are several blocks. */
static json_t *noise_json(const account_plan *plan, double weight) {
    if (plan->blocks == 0) return json_null();
    if (plan->blocks == 1) return json_real(plan->multiplier[0] / weight);
    json_t *list = json_array();
    for (size_t b = 0; b < plan->blocks; b++)
        bb_json_append(&list, json_real(plan->multiplier[b] / weight));
    return list;
}

static json_t *schedule_json(const account_plan *plan) {
    json_t *list = json_array();
    for (size_t t = 0; t < (size_t)plan->rounds; t++)
        bb_json_append(&list, noise_json(plan, plan->weight[t]));
    return list;
}

static json_t *words_json(say *words, const account_options *options,
                          const account_plan *plan, const account_price *price) {
    bb_words all;
    char *text = NULL;
    if (bb_words_open(&all)) return NULL;
    words(options, plan, price, all.stream);
    if (bb_words_close(&all, &text)) return NULL;
    json_t *json = json_string(text);
    free(text);
    return json;
}

static void say_form_list(const account_options *options, const account_plan *plan,
                          const account_price *price, FILE *stream) {
    (void)options, (void)price;
    say_forms(plan, stream);
}

static const char *sampling_name(const account_plan *plan) {
    return plan->mixed                             ? "mixed"
           : is_fixed(plan)                        ? "fixed"
           : plan->sampling == BB_SAMPLING_POISSON ? "poisson"
                                                   : "all";
}

static const char *found_name(account_axis found) {
    static const char *const name[] = {"nothing", "epsilon", "delta", "rounds",
                                       "noise_multiplier"};
    return name[found];
}

static json_t *price_json(const account_options *o, const account_plan *plan,
                          const account_price *p) {
    const bool own = plan->blocks > 0;
    return json_pack(
        "{s:s,s:o,s:o,s:o,s:o,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:o,s:b,s:o,s:o,s:o}",
        "found", found_name(p->found), "epsilon", bb_json_real(p->epsilon),
        "epsilon_lower", bb_json_real(p->epsilon_lower), "delta",
        bb_json_real(p->delta), "delta_lower", bb_json_real(p->delta_lower),
        "adjacency", bb_adjacency_name(plan->adjacency), "sampling",
        sampling_name(plan), "cohort",
        is_fixed(plan) ? json_string(cohort(plan)) : json_null(), "rate",
        bb_json_real(plan->mixed ? NAN : plan->rate), "tasks",
        isnan(o->tasks) ? json_null() : json_integer((json_int_t)o->tasks), "form",
        own ? words_json(say_form_list, o, plan, p) : json_null(), "noise_multiplier",
        noise_json(plan, 1.0), "rounds",
        own ? json_integer((json_int_t)plan->rounds) : json_null(), "accountant",
        bb_accountant_name(p->answer.accountant), "order",
        bb_json_real(p->answer.accountant == BB_ACCOUNTANT_RDP ? p->answer.order : NAN),
        "adaptive", (int)o->adaptive, "statement",
        words_json(say_statement, o, plan, p), "sampling_text",
        words_json(say_sampling, o, plan, p), "plan_text",
        words_json(say_plan, o, plan, p));
}

/* What the published closed form asks for in place of the noise that was found, for the
 * rounds that it is about (Hu, Wu and Smith 2023, theorem 1); NAN for others. */
static double published_noise(const account_plan *plan, const account_price *p) {
    const bool theirs = p->found == ACCOUNT_NOISE && plan->blocks == 1 &&
                        plan->form[0] == BB_FORM_VECTOR && !plan->weight &&
                        plan->others == 0 && isnan(plan->freedom) &&
                        plan->sampling == BB_SAMPLING_ALL &&
                        plan->adjacency == BB_REPLACE_ONE;
    return theirs ? bb_theory_mean_noise(plan->rounds, p->epsilon, p->delta) : NAN;
}

static json_t *answer_json(const account_options *options, const account_plan *plan,
                           const account_price *price, const account_curve *curve) {
    json_t *json = price_json(options, plan, price);
    int bad = json == NULL;
    const double published = published_noise(plan, price);
    if (!isnan(published))
        bad |= json_object_set_new(json, "noise_multiplier_published",
                                   bb_json_real(published));
    if (plan->weight)
        bad |= json_object_set_new(json, "noise_multipliers", schedule_json(plan));
    if (curve->count) bad |= json_object_set_new(json, "curve", curve_json(curve));
    if (!bad) return json;
    json_decref(json);
    return NULL;
}

/* -- the call -- */

static bb_status tick(void *self, size_t point, size_t points) {
    return bb_watch_progress(self, "point of the curve", (uint32_t)point,
                             (uint32_t)points);
}

static bb_status price_plan(const account_options *options,
                            const billboard_watch *watch, billboard_answer **out) {
    account_plan plan = {0};
    account_price price = {0};
    account_curve curve = {0};
    bb_status status = account_plan_open(&plan, options);
    if (!status) status = bb_watch_progress(watch, "pricing the plan", 0, 0);
    if (!status) status = account_solve(options, &plan, &price);
    if (!status)
        status = account_curve_open(options, &plan, &price, tick,
                                    (void *)(uintptr_t)watch, &curve);
    if (!status)
        status = bb_answer_open(out, answer_json(options, &plan, &price, &curve));
    account_curve_close(&curve);
    account_plan_close(&plan);
    return status;
}

billboard_status billboard_account(const billboard_option *option, size_t options,
                                   const billboard_watch *watch,
                                   billboard_answer **price) {
    const bb_options table = account_table();
    account_options o = {0};
    billboard_watch own;
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(price, "billboard_account", "price");
    if (!status) status = bb_watch_take(&own, watch);
    if (!status) status = bb_options_default(table, &o);
    if (!status) status = bb_call_options(table, &o, "account", option, options);
    if (!status) status = price_plan(&o, &own, price);
    bb_options_free(table, &o);
    return bb_call_end(&call, status);
}
