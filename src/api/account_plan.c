#include "api/account.h"
#include "base/memory.h"
#include "base/number.h"
#include "privacy/accounting/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NOISE 1e12
enum { MOST_SCHEDULED = 100000, WORD_BYTES = 64 };

/* clang-format off */
static const bb_option table[] = {
    {"noise-multiplier", BB_OPTION_TEXT, offsetof(account_options, noise), NULL, 0.0, 0.0, NULL, "Z[,Z...]", "noise standard deviation over the unit of a block; one for each block of --form"},
    {"rounds", BB_OPTION_AUTO, offsetof(account_options, rounds), "auto", 1.0, 0x1p40, NULL, "T", "rounds"},
    {"sampling", BB_OPTION_TEXT, offsetof(account_options, sampling), NULL, 0.0, 0.0, NULL, "SAMPLING", "who takes part in a round: all, poisson:Q (each task with probability Q) or fixed:K (K of M tasks) (default all)"},
    {"cohort", BB_OPTION_TEXT, offsetof(account_options, cohort), NULL, 0.0, 0.0, NULL, "visible|hidden", "with fixed:K, whether anything that others keep shows who was picked (default visible)"},
    {"form", BB_OPTION_TEXT, offsetof(account_options, form), NULL, 0.0, 0.0, NULL, "FORM[,FORM...]", "what is summed: vector, slot, square, psd or outer; several: the blocks of a round (default vector)"},
    {"schedule", BB_OPTION_TEXT, offsetof(account_options, schedule), NULL, 0.0, 0.0, NULL, "SCHEDULE", "weights of the rounds: uniform, power:A (t^A) or geometric:Q (Q^-t); Z is the noise of the round with the least"},
    {"wishart", BB_OPTION_AUTO, offsetof(account_options, wishart), "auto", 2.0, 1e9, NULL, "FREEDOM", "Wishart noise W_d(k, s I) on sums of w w', with FREEDOM = k - d + 1; Z is then s / K^2"},
    {"selection", BB_OPTION_TEXT, offsetof(account_options, selection), NULL, 0.0, 0.0, NULL, "EPS[:COUNT],...", "private selections by the exponential mechanism"},
    {"step", BB_OPTION_TEXT, offsetof(account_options, step), NULL, 0.0, 0.0, NULL, "EPS,DELTA[:COUNT]", "steps that are (EPS, DELTA)-private by themselves"},
    {"epsilons", BB_OPTION_TEXT, offsetof(account_options, epsilons), NULL, 0.0, 0.0, NULL, "EPS[:COUNT],...", "steps that are EPS-private by themselves"},
    {"events", BB_OPTION_TEXT, offsetof(account_options, events), NULL, 0.0, 0.0, NULL, "FILE", "more releases, as a JSON array (docs/account.md)"},
    {"tasks", BB_OPTION_AUTO, offsetof(account_options, tasks), "auto", 1.0, 0x1p40, NULL, "M", "tasks; gives delta its default, min(1e-5, 1/(10 M))"},
    {"adjacency", BB_OPTION_CHOICE, offsetof(account_options, adjacency), "replace-one", 0.0, 0.0, "replace-one|add-remove", "ADJACENCY", "replace-one or add-remove"},
    {"epsilon", BB_OPTION_AUTO, offsetof(account_options, epsilon), "auto", 0.0, 1e9, NULL, "EPSILON", "the budget, where noise, rounds or delta is to be found"},
    {"delta", BB_OPTION_TEXT, offsetof(account_options, delta), NULL, 0.0, 0.0, NULL, "DELTA", "a number, or \"paper\": 1/(M ln M)"},
    {"slack", BB_OPTION_TEXT, offsetof(account_options, slack), NULL, 0.0, 0.0, NULL, "DELTA", "another name of --delta, for --epsilons"},
    {"accountant", BB_OPTION_CHOICE, offsetof(account_options, accountant), "auto", 0.0, 0.0, "auto|gdp|pld|rdp|kov", "WHICH", "auto (the smallest answer), gdp, pld, rdp or kov"},
    {"adaptive", BB_OPTION_FLAG, offsetof(account_options, adaptive), "false", 0.0, 0.0, NULL, NULL, "the noise of later rounds is chosen after looking at earlier ones"},
    {"order", BB_OPTION_AUTO, offsetof(account_options, order), "auto", 1.0, 1e6, NULL, "A", "the Renyi order of --adaptive, fixed beforehand (default the best one for this plan)"},
    {"curve", BB_OPTION_CHOICE, offsetof(account_options, curve), "none", 0.0, 0.0, "none|epsilon|delta|rounds", "WHAT", "a table: epsilon at each delta, delta at each epsilon, or epsilon after so many rounds"},
};
/* clang-format on */

bb_options account_table(void) {
    return (bb_options){table, sizeof table / sizeof *table};
}

bb_status account_check_whole(const char *what, const char *name, double value) {
    if (isnan(value) || value == floor(value)) return BB_OK;
    return bb_fail(BB_EUSAGE, "%s: option \"%s\" expects a whole number, got %.17g",
                   what, name, value);
}

/* -- who takes part, and with what -- */

static bb_status fixed_size(const char *what, const char *text, double tasks,
                            account_plan *plan) {
    uint64_t picked;
    if (isnan(tasks))
        return bb_fail(BB_EUSAGE, "%s: sampling fixed:K is K of M tasks: give --tasks",
                       what);
    if (!bb_number_count(text, &picked) || picked < 1 || (double)picked > tasks)
        return bb_fail(BB_EUSAGE,
                       "%s: sampling fixed:K expects a whole number from 1 to the %.0f "
                       "tasks, got \"%s\"",
                       what, tasks, text);
    plan->rate = (double)picked / tasks;
    return BB_OK;
}

bb_status account_read_sampling(const char *what, const char *sampling,
                                const char *cohort, double tasks, account_plan *plan) {
    const bool fixed = sampling && strncmp(sampling, "fixed:", 6) == 0;
    plan->sampling = BB_SAMPLING_ALL;
    plan->rate = 1.0;
    if (cohort && !fixed)
        return bb_fail(BB_EUSAGE, "%s: a cohort belongs to sampling fixed:K", what);
    if (cohort && strcmp(cohort, "visible") != 0 && strcmp(cohort, "hidden") != 0)
        return bb_fail(BB_EUSAGE, "%s: a cohort is visible or hidden, got \"%s\"", what,
                       cohort);
    if (!sampling || strcmp(sampling, "all") == 0) return BB_OK;
    if (fixed) {
        const bool hidden = cohort && strcmp(cohort, "hidden") == 0;
        plan->sampling = hidden ? BB_SAMPLING_FIXED_HIDDEN : BB_SAMPLING_FIXED_VISIBLE;
        return fixed_size(what, sampling + 6, tasks, plan);
    }
    if (strncmp(sampling, "poisson:", 8) != 0)
        return bb_fail(BB_EUSAGE,
                       "%s: sampling expects all, poisson:Q or fixed:K, got \"%s\"",
                       what, sampling);
    plan->sampling = BB_SAMPLING_POISSON;
    if (!bb_number_real(sampling + 8, &plan->rate) || !(plan->rate > 0.0) ||
        plan->rate > 1.0)
        return bb_fail(BB_EUSAGE,
                       "%s: sampling poisson:Q expects a number in (0, 1], got \"%s\"",
                       what, sampling + 8);
    return BB_OK;
}

/* The next word of a list, up to a comma; false if it is too long. */
static bool next_word(const char **list, char *word) {
    const size_t length = strcspn(*list, ",");
    snprintf(word, WORD_BYTES, "%.*s", (int)length, *list);
    *list += length + ((*list)[length] == ',');
    return length < WORD_BYTES;
}

static size_t count_words(const char *list) {
    size_t count = 1;
    for (; *list; list++) count += *list == ',';
    return count;
}

static bb_status read_form(const char *what, const char *word, bb_form *out) {
    for (int form = BB_FORM_VECTOR; form <= BB_FORM_OUTER; form++)
        if (strcmp(word, bb_form_name((bb_form)form)) == 0) {
            *out = (bb_form)form;
            return BB_OK;
        }
    return bb_fail(BB_EUSAGE,
                   "%s: a form is vector, slot, square, psd or outer, got \"%s\"", what,
                   word);
}

bb_status account_read_blocks(const char *what, const char *form, const char *noise,
                              account_plan *plan) {
    char word[WORD_BYTES];
    const char *forms = form ? form : "vector", *noises = noise;
    const size_t blocks = count_words(forms);
    if (blocks > ACCOUNT_BLOCKS_MOST)
        return bb_fail(BB_EUSAGE, "%s: at most %d blocks in a round, got %zu", what,
                       ACCOUNT_BLOCKS_MOST, blocks);
    if (noise && count_words(noise) != blocks)
        return bb_fail(
            BB_EUSAGE,
            "%s: each block has its form and its noise: %zu forms, %zu noise "
            "multipliers",
            what, blocks, count_words(noise));
    for (size_t b = 0; b < blocks; b++) {
        if (!next_word(&forms, word)) forms = "";
        const bb_status status = read_form(what, word, &plan->form[b]);
        if (status) return status;
        plan->multiplier[b] = 1.0;
        if (!noise) continue;
        if (!next_word(&noises, word) || !bb_number_real(word, &plan->multiplier[b]) ||
            !(plan->multiplier[b] >= BB_NOISE_LEAST &&
              plan->multiplier[b] <= MOST_NOISE))
            return bb_fail(BB_EUSAGE,
                           "%s: a noise multiplier is a number in [%g, %g], got \"%s\"",
                           what, BB_NOISE_LEAST, MOST_NOISE, word);
    }
    plan->blocks = blocks;
    return BB_OK;
}

/* -- events -- */

bb_event account_round(const account_plan *plan, double weight, double rounds) {
    double absent = 0.0, replace = 0.0;
    bool apart = false;
    if (!isnan(plan->freedom))
        return bb_event_wishart(plan->freedom, weight / plan->multiplier[0], rounds);
    for (size_t b = 0; b < plan->blocks; b++) {
        const double one = weight / plan->multiplier[b],
                     r = bb_form_sensitivity(plan->form[b], BB_REPLACE_ONE);
        absent += one * one;
        replace += r * one * (r * one);
        apart = apart || plan->form[b] == BB_FORM_SLOT;
    }
    bb_event event =
        bb_event_round(plan->sampling, plan->rate, sqrt(absent), sqrt(replace), rounds);
    event.apart = apart;
    return event;
}

bb_status account_plan_events(const account_plan *plan, double rounds, bb_event **event,
                              size_t *count) {
    const size_t own = !plan->blocks ? 0 : plan->weight ? (size_t)rounds : 1;
    bb_event *list = NULL;
    size_t n = 0;
    const bb_status status =
        bb_allocate(&list, own + plan->others + 1, sizeof *list, "the plan");
    if (status) return status;
    for (size_t t = 0; t < own; t++) {
        if (t && plan->weight[t] == plan->weight[t - 1])
            list[n - 1].rounds += 1.0;
        else
            list[n++] = account_round(plan, plan->weight ? plan->weight[t] : 1.0,
                                      plan->weight ? 1.0 : rounds);
    }
    for (size_t k = 0; k < plan->others; k++) list[n++] = plan->other[k];
    *event = list;
    *count = n;
    return BB_OK;
}

/* -- the whole plan -- */

static bb_status read_schedule(account_plan *plan, const account_options *options) {
    const char *text = options->schedule;
    double one;
    if (!text) return BB_OK;
    if (strcmp(text, "uniform") == 0) return BB_OK;
    bb_status status = bb_schedule(text, 1, &one); /* its words, whatever the rounds */
    if (!status && isnan(options->rounds))
        status = bb_fail(
            BB_EUSAGE, "account: a schedule spreads noise over rounds: give --rounds");
    if (!status && options->rounds > MOST_SCHEDULED)
        status =
            bb_fail(BB_EUSAGE, "account: a schedule is for at most %d rounds, got %.0f",
                    MOST_SCHEDULED, options->rounds);
    const size_t rounds = (size_t)plan->rounds;
    if (!status)
        status =
            bb_allocate(&plan->weight, rounds, sizeof *plan->weight, "the schedule");
    if (!status) status = bb_schedule(text, rounds, plan->weight);
    return status;
}

static bb_status check_wishart(const account_plan *plan,
                               const account_options *options) {
    if (isnan(options->wishart)) return BB_OK;
    if (options->form && strcmp(options->form, "outer") != 0)
        return bb_fail(BB_EUSAGE,
                       "account: Wishart noise is for form outer, got \"%s\"",
                       options->form);
    if (plan->sampling != BB_SAMPLING_ALL)
        return bb_fail(BB_EUSAGE,
                       "account: Wishart noise is priced with sampling all only, got "
                       "\"%s\"",
                       options->sampling);
    return BB_OK;
}

static bb_status read_rounds(account_plan *plan, const account_options *options) {
    const char *form =
        options->form || isnan(options->wishart) ? options->form : "outer";
    bb_status status = account_read_sampling("account", options->sampling,
                                             options->cohort, options->tasks, plan);
    if (!status) status = account_read_blocks("account", form, options->noise, plan);
    if (!status) status = check_wishart(plan, options);
    plan->freedom = options->wishart;
    plan->rounds = isnan(options->rounds) ? 1.0 : options->rounds;
    if (!status) status = read_schedule(plan, options);
    return status;
}

/* Options that describe rounds, where there are none. */
static bb_status refuse_rounds(const account_options *o) {
    const char *name = o->sampling          ? "sampling"
                       : o->cohort          ? "cohort"
                       : o->form            ? "form"
                       : o->schedule        ? "schedule"
                       : !isnan(o->wishart) ? "wishart"
                                            : NULL;
    if (!name) return BB_OK;
    return bb_fail(BB_EUSAGE,
                   "account: --%s describes rounds: give --noise-multiplier and "
                   "--rounds, or one of them and --epsilon",
                   name);
}

bb_status account_plan_open(account_plan *plan, const account_options *options) {
    *plan = (account_plan){
        .adjacency = (bb_adjacency)options->adjacency, .rate = 1.0, .freedom = NAN};
    bb_status status = account_check_whole("account", "rounds", options->rounds);
    if (!status) status = account_check_whole("account", "tasks", options->tasks);
    if (!status)
        status = options->noise || !isnan(options->rounds) ? read_rounds(plan, options)
                                                           : refuse_rounds(options);
    if (!status) status = account_read_others(plan, options);
    return status;
}

void account_plan_close(account_plan *plan) {
    free(plan->weight);
    free(plan->other);
    *plan = (account_plan){0};
}
