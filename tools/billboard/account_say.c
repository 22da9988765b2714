#include "account.h"
#include "base/json.h"

#include <math.h>
#include <stdlib.h>

/* -- numbers -- */

static const char *rounded(double value, bool up, char *text) {
    snprintf(text, ACCOUNT_NUMBER_BYTES, "%.6g", value);
    const double said = strtod(text, NULL);
    if (up ? said >= value : said <= value) return text;
    const double digit = pow(10.0, floor(log10(value)) - 5.0);
    snprintf(text, ACCOUNT_NUMBER_BYTES, "%.6g", up ? said + digit : said - digit);
    return text;
}

const char *account_up(double value, char *text) {
    return rounded(value, true, text);
}

const char *account_down(double value, char *text) {
    return rounded(value, false, text);
}

/* -- words -- */

static bool is_fixed(const account_plan *plan) {
    return plan->sampling == BB_SAMPLING_FIXED_VISIBLE ||
           plan->sampling == BB_SAMPLING_FIXED_HIDDEN;
}

static const char *cohort(const account_plan *plan) {
    return plan->sampling == BB_SAMPLING_FIXED_HIDDEN ? "hidden" : "visible";
}

void account_say_sampling(const account_options *options, const account_plan *plan,
                          FILE *stream) {
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
    char text[ACCOUNT_NUMBER_BYTES];
    for (size_t b = 0; b < plan->blocks; b++)
        fprintf(stream, "%s%s", b ? "," : "", account_up(plan->multiplier[b], text));
}

static void say_forms(const account_plan *plan, FILE *stream) {
    for (size_t b = 0; b < plan->blocks; b++)
        fprintf(stream, "%s%s", b ? "," : "", bb_form_name(plan->form[b]));
}

void account_say_plan(const account_options *options, const account_plan *plan,
                      FILE *stream) {
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
            plan->others, plan->others == 1 ? "" : "s");
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
    char e[ACCOUNT_NUMBER_BYTES], d[ACCOUNT_NUMBER_BYTES];
    fprintf(stream,
            "What is published is (%s, %s)-differentially private for one whole task, "
            "adjacency %s: %s.\nSampling ",
            account_up(price->epsilon, e), account_up(price->delta, d),
            bb_adjacency_name(plan->adjacency),
            plan->adjacency == BB_REPLACE_ONE
                ? "its data may be replaced by any other"
                : "it may show zeros instead of its data");
    account_say_sampling(options, plan, stream);
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

static json_t *curve_json(const account_curve *curve) {
    char lower[ACCOUNT_NUMBER_BYTES];
    const char *x = account_curve_x(curve->of), *y = account_curve_y(curve->of);
    json_t *list = json_array();
    snprintf(lower, sizeof lower, "%s_lower", y);
    for (size_t k = 0; k < curve->count; k++)
        cmd_append(&list, json_pack("{s:o,s:o,s:o}", x,
                                    curve->of == ACCOUNT_ROUNDS
                                        ? json_integer((json_int_t)curve->x[k])
                                        : json_real(curve->x[k]),
                                    y, bb_json_real(curve->upper[k]), lower,
                                    bb_json_real(curve->lower[k])));
    return list;
}

/* Of a round with this weight: a number, or an array where there are several blocks. */
static json_t *noise_json(const account_plan *plan, double weight) {
    if (plan->blocks == 0) return json_null();
    if (plan->blocks == 1) return json_real(plan->multiplier[0] / weight);
    json_t *list = json_array();
    for (size_t b = 0; b < plan->blocks; b++)
        cmd_append(&list, json_real(plan->multiplier[b] / weight));
    return list;
}

static json_t *schedule_json(const account_plan *plan) {
    json_t *list = json_array();
    for (size_t t = 0; t < (size_t)plan->rounds; t++)
        cmd_append(&list, noise_json(plan, plan->weight[t]));
    return list;
}

static json_t *text_json(void (*say)(const account_options *, const account_plan *,
                                     const account_price *, FILE *),
                         const account_options *options, const account_plan *plan,
                         const account_price *price) {
    cmd_output text;
    json_t *json = NULL;
    if (cmd_output_open(&text)) return NULL;
    say(options, plan, price, text.stream);
    if (fclose(text.stream) == 0) json = json_string(text.text);
    free(text.text);
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
        "{s:s,s:o,s:o,s:o,s:o,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:o,s:b,s:o}",
        "found", found_name(p->found), "epsilon", bb_json_real(p->epsilon),
        "epsilon_lower", bb_json_real(p->epsilon_lower), "delta",
        bb_json_real(p->delta), "delta_lower", bb_json_real(p->delta_lower),
        "adjacency", bb_adjacency_name(plan->adjacency), "sampling",
        sampling_name(plan), "cohort",
        is_fixed(plan) ? json_string(cohort(plan)) : json_null(), "rate",
        bb_json_real(plan->mixed ? NAN : plan->rate), "tasks",
        isnan(o->tasks) ? json_null() : json_integer((json_int_t)o->tasks), "form",
        own ? text_json(say_form_list, o, plan, p) : json_null(), "noise_multiplier",
        noise_json(plan, 1.0), "rounds",
        own ? json_integer((json_int_t)plan->rounds) : json_null(), "accountant",
        bb_accountant_name(p->answer.accountant), "order",
        bb_json_real(p->answer.accountant == BB_ACCOUNTANT_RDP ? p->answer.order : NAN),
        "adaptive", (int)o->adaptive, "statement",
        text_json(say_statement, o, plan, p));
}

bb_status account_say_json(const account_options *options, const account_plan *plan,
                           const account_price *price, const account_curve *curve,
                           const cmd_output *output) {
    json_t *json = price_json(options, plan, price);
    int bad = json == NULL;
    if (plan->weight)
        bad |= json_object_set_new(json, "noise_multipliers", schedule_json(plan));
    if (curve->count) bad |= json_object_set_new(json, "curve", curve_json(curve));
    const bb_status status = cmd_output_json(output, bad ? NULL : json);
    json_decref(json);
    return status;
}

/* -- as text -- */

static void say_found(const account_plan *plan, const account_price *p, FILE *stream) {
    char e[ACCOUNT_NUMBER_BYTES], d[ACCOUNT_NUMBER_BYTES];
    account_up(p->epsilon, e);
    account_up(p->delta, d);
    if (p->found == ACCOUNT_NOISE) {
        fputs(plan->weight ? "least noise multiplier = " : "noise multiplier = ",
              stream);
        say_noise(plan, stream);
        fputs(": ", stream);
    } else if (p->found == ACCOUNT_ROUNDS) {
        fprintf(stream, "rounds = %.0f: ", plan->rounds);
    }
    if (p->found == ACCOUNT_DELTA)
        fprintf(stream, "delta = %s at epsilon = %s", d, e);
    else
        fprintf(stream, "epsilon = %s at delta = %s", e, d);
}

static void say_lower(const account_price *p, FILE *stream) {
    const bool delta = p->found == ACCOUNT_DELTA;
    const double lower = delta ? p->delta_lower : p->epsilon_lower;
    char text[ACCOUNT_NUMBER_BYTES];
    fputs("lower bound  ", stream);
    if (isnan(lower))
        fputs("not known\n", stream);
    else
        fprintf(stream, "%s >= %s\n", delta ? "delta" : "epsilon",
                account_down(lower, text));
}

static const char *cell(double value, bool up, char *text) {
    if (isnan(value)) return "-";
    if (isinf(value)) return "none";
    return rounded(value, up, text);
}

static void say_curve(const account_curve *curve, FILE *stream) {
    char x[ACCOUNT_NUMBER_BYTES], u[ACCOUNT_NUMBER_BYTES], l[ACCOUNT_NUMBER_BYTES];
    fprintf(stream, "\n%-13s %-13s %s\n", account_curve_x(curve->of),
            account_curve_y(curve->of), "lower bound");
    for (size_t k = 0; k < curve->count; k++) {
        if (curve->of == ACCOUNT_ROUNDS)
            snprintf(x, sizeof x, "%.0f", curve->x[k]);
        else
            account_up(curve->x[k], x);
        fprintf(stream, "%-13s %-13s %s\n", x, cell(curve->upper[k], true, u),
                cell(curve->lower[k], false, l));
    }
}

bb_status account_say_text(const account_options *options, const account_plan *plan,
                           const account_price *price, const account_curve *curve,
                           FILE *stream) {
    say_found(plan, price, stream);
    fprintf(stream, ", adjacency %s, sampling ", bb_adjacency_name(plan->adjacency));
    account_say_sampling(options, plan, stream);
    fputs("\nplan         ", stream);
    account_say_plan(options, plan, stream);
    fputc('\n', stream);
    say_lower(price, stream);
    fprintf(stream, "accountant   %s", bb_accountant_name(price->answer.accountant));
    if (price->answer.accountant == BB_ACCOUNTANT_RDP)
        fprintf(stream, ", order %g", price->answer.order);
    fputs("\n\n", stream);
    say_statement(options, plan, price, stream);
    if (curve->count) say_curve(curve, stream);
    return BB_OK;
}
