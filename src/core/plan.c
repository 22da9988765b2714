#include "core/plan.h"

#include "base/memory.h"
#include "privacy/accounting/account.h"
#include "privacy/accounting/group.h"
#include "privacy/accounting/schedule.h"

#include <math.h>
#include <stdlib.h>

const double *bb_public_start(const bb_public *pub, size_t cluster) {
    if (!pub->start || pub->phase == 0) return pub->start;
    return pub->start + cluster * pub->parameters;
}

bool bb_method_shares_intercept(const bb_method *method, const void *options) {
    return method->shared_intercept &&
           !(method->own_intercept && method->own_intercept(options));
}

bool bb_method_is_for_rows(const bb_method *method, const void *options) {
    return method->own_noise || (method->for_rows && method->for_rows(options));
}

double bb_cohort_size(const bb_public *pub) {
    switch (pub->sampling) {
    case BB_SAMPLING_ALL:
        return (double)pub->tasks;
    case BB_SAMPLING_POISSON:
        return pub->rate * (double)pub->tasks;
    default:
        return (double)pub->cohort;
    }
}

size_t bb_block_show_length(const bb_block *block) {
    return block->form == BB_FORM_PSD ? block->length * block->length : block->length;
}

bool bb_block_is_part(const bb_block *block, const bb_local *local) {
    return block->form == BB_FORM_VECTOR && local && local->touched &&
           block->length >= local->d * local->outputs;
}

size_t bb_block_task_length(const bb_block *block, const bb_local *local) {
    return bb_block_is_part(block, local) ? local->length : bb_block_show_length(block);
}

size_t bb_block_sum_length(const bb_block *block, size_t tasks) {
    switch (block->form) {
    case BB_FORM_SLOT:
        return tasks * block->length;
    case BB_FORM_PSD:
    case BB_FORM_OUTER:
        return block->length * block->length;
    default:
        return block->length;
    }
}

bb_status bb_plan_rounds(bb_plan *plan, uint32_t rounds) {
    bb_status status = bb_allocate(&plan->step, rounds, sizeof *plan->step, "the plan");
    if (!status) status = bb_allocate(&plan->mu, rounds, sizeof *plan->mu, "the plan");
    if (!status)
        status = bb_allocate(&plan->pure, rounds, sizeof *plan->pure, "the plan");
    if (status) return status;
    plan->rounds = rounds;
    for (uint32_t t = 0; t < rounds; t++) plan->step[t].weight = 1.0;
    return BB_OK;
}

bb_status bb_plan_schedule(bb_plan *plan, const bb_public *pub, uint32_t lead,
                           uint32_t rounds, const char *schedule) {
    const uint32_t count = pub->rounds ? pub->rounds : rounds;
    double *weight = NULL;
    bb_status status = bb_allocate(&weight, count, sizeof *weight, "the schedule");
    if (!status)
        status = bb_schedule(pub->schedule ? pub->schedule : schedule, count, weight);
    if (!status) status = bb_plan_rounds(plan, lead + count);
    for (uint32_t t = 0; !status && t < lead + count; t++)
        plan->step[t].weight = t < lead ? 0.0 : weight[t - lead];
    free(weight);
    return status;
}

bb_status bb_plan_instance(bb_plan *plan, double epsilon, double delta) {
    double *weight = NULL;
    bb_status status =
        bb_allocate(&weight, plan->rounds, sizeof *weight, "the instance budget");
    if (!status)
        status = bb_allocate(&plan->instance, plan->rounds, sizeof *plan->instance,
                             "the instance budget");
    if (status) goto done;
    for (uint32_t t = 0; t < plan->rounds; t++) weight[t] = plan->step[t].weight;
    status = bb_kov_allocate(plan->rounds, weight, epsilon, delta, plan->instance);
    if (status) goto done;
    plan->instance_epsilon = epsilon;
    plan->instance_delta = delta;
done:
    free(weight);
    return status;
}

bb_status bb_plan_lift(bb_plan *plan, const bb_public *pub, size_t rows) {
    double epsilon, delta;
    if (!isfinite(pub->epsilon)) return BB_OK;
    if (pub->adjacency != BB_REPLACE_ONE)
        return bb_fail(BB_EUSAGE,
                       "a promise for rows is about replacing one, and so is what "
                       "follows for a task: --adjacency replace-one");
    bb_group_rows(rows, pub->epsilon, pub->delta, &epsilon, &delta);
    const bb_status status = bb_plan_instance(plan, epsilon, delta);
    if (!status) plan->lifted_rows = rows;
    return status;
}

void bb_plan_room(bb_plan *plan, const bb_public *pub, const bb_layout *layout) {
    size_t show = 0, sum = 0;
    for (size_t b = 0; b < layout->blocks; b++) {
        const bb_block *block = &layout->block[b];
        plan->forms |= 1U << block->form;
        show += bb_block_show_length(block);
        sum += bb_block_sum_length(block, pub->tasks);
        if (block->form == BB_FORM_OUTER && block->length > plan->outer_length)
            plan->outer_length = block->length;
    }
    if (show > plan->show_length) plan->show_length = show;
    if (sum > plan->sum_length) plan->sum_length = sum;
}

static void price_nothing(bb_plan *plan) {
    for (uint32_t t = 0; t < plan->rounds; t++) {
        plan->mu[t] = INFINITY;
        plan->pure[t] = INFINITY;
    }
}

/* The Gaussian budget beside the selections: the larger of what is left after their
 * epsilons are taken off, and what their privacy loss distributions leave. */
static bb_status gaussian_rest(bb_plan *plan, const bb_public *pub, double *mu) {
    bb_event *event = NULL;
    bb_answer answer;
    size_t count = 1;
    double pure = 0.0, factor;
    bb_status status = bb_allocate(&event, plan->rounds + 1, sizeof *event, "the plan");
    if (status) return status;
    event[0] = bb_event_gaussian(1.0, 1.0);
    for (uint32_t t = 0; t < plan->rounds; t++) {
        if (plan->pure[t] > 0.0)
            event[count++] = bb_event_step(plan->pure[t], 0.0, 1.0);
        pure += plan->pure[t];
    }
    plan->accountant = BB_ACCOUNTANT_GDP;
    *mu = count == 1 ? pub->mu : bb_gdp_mu(pub->epsilon - pure, pub->delta);
    if (count > 1 && pub->delta > 0.0) {
        const bb_account all = {pub->adjacency, count, event};
        plan->accountant = BB_ACCOUNTANT_PLD;
        status = bb_account_noise(&all, BB_ACCOUNTANT_PLD, pub->epsilon, pub->delta,
                                  &factor, &answer);
        if (!status) *mu = fmax(*mu, 1.0 / factor);
    }
    free(event);
    return status;
}

/* The accountant of the promise for rows holds for tasks, too. */
static void price_lifted(bb_plan *plan) {
    for (uint32_t t = 0; t < plan->rounds; t++) {
        plan->mu[t] = 0.0;
        plan->pure[t] = (double)plan->lifted_rows * plan->instance[t];
    }
    plan->accountant = BB_ACCOUNTANT_KOV;
}

/* Rounds of a sample of the tasks, all of them sums of vectors, at mu_t = weight_t: by
 * how much more noise they are (epsilon, delta)-DP. */
static bb_status price_sampled(bb_plan *plan, const bb_public *pub) {
    bb_event *event = NULL;
    bb_answer answer = {.accountant = BB_ACCOUNTANT_PLD};
    size_t count = 0;
    double factor;
    const double r = bb_form_sensitivity(BB_FORM_VECTOR, pub->adjacency);
    const double rate = bb_cohort_size(pub) / (double)pub->tasks;
    if (pub->epsilon > 1000.0)
        return bb_fail(BB_EUSAGE,
                       "with a sample of the tasks epsilon may be at most 1000, which "
                       "promises nothing any more, got %g",
                       pub->epsilon);
    bb_status status = bb_allocate(&event, plan->rounds, sizeof *event, "the plan");
    for (uint32_t t = 0; t < plan->rounds && !status; t++) {
        const double absent = plan->step[t].weight / r;
        if (plan->step[t].selection > 0.0)
            status =
                bb_fail(BB_EUSAGE, "a private selection needs all tasks: it cannot "
                                   "be made by a sample of them");
        else if (count && event[count - 1].absent == absent)
            event[count - 1].rounds += 1.0;
        else if (absent > 0.0)
            event[count++] =
                bb_event_round(pub->sampling, rate, absent, 2.0 * absent, 1.0);
    }
    const bb_account all = {pub->adjacency, count, event};
    if (!status)
        status = bb_account_noise(&all, BB_ACCOUNTANT_AUTO, pub->epsilon, pub->delta,
                                  &factor, &answer);
    for (uint32_t t = 0; t < plan->rounds && !status; t++) {
        plan->mu[t] = plan->step[t].weight / factor;
        if (plan->mu[t] * BB_NOISE_LEAST * 1.01 >= r)
            status = bb_fail(BB_EUSAGE,
                             "epsilon %g at delta %g and this sampling ask for next to "
                             "no noise: delta alone covers how rarely a task takes "
                             "part; take a smaller delta",
                             pub->epsilon, pub->delta);
    }
    if (!status) plan->accountant = answer.accountant;
    free(event);
    return status;
}

static bb_status price_gaussian(bb_plan *plan, const bb_public *pub) {
    double squares = 0.0, mu;
    if (pub->sampling != BB_SAMPLING_ALL) return price_sampled(plan, pub);
    for (uint32_t t = 0; t < plan->rounds; t++) {
        plan->pure[t] = plan->step[t].selection * pub->epsilon;
        squares += plan->step[t].weight * plan->step[t].weight;
    }
    if (squares == 0.0) return BB_OK;
    const bb_status status = gaussian_rest(plan, pub, &mu);
    if (status) return status;
    if (!(mu > 0.0))
        return bb_fail(BB_EUSAGE,
                       "epsilon %g at delta %g leaves nothing for the Gaussian "
                       "releases",
                       pub->epsilon, pub->delta);
    /* a hair below, so that rounding in the squares cannot overspend */
    const double unit = mu * (1.0 - 1e-12) / sqrt(squares);
    for (uint32_t t = 0; t < plan->rounds; t++)
        plan->mu[t] = plan->step[t].weight * unit;
    return BB_OK;
}

static bb_status price_published(bb_plan *plan, const bb_public *pub) {
    double *weight = NULL, *epsilon = NULL, rest = pub->epsilon;
    uint32_t steps = 0;
    plan->accountant = BB_ACCOUNTANT_KOV;
    bb_status status = bb_allocate(&weight, plan->rounds, sizeof *weight, "the plan");
    if (!status)
        status = bb_allocate(&epsilon, plan->rounds, sizeof *epsilon, "the plan");
    if (status) goto done;
    for (uint32_t t = 0; t < plan->rounds; t++) {
        rest -= plan->step[t].selection * pub->epsilon;
        if (plan->step[t].weight > 0.0) weight[steps++] = plan->step[t].weight;
    }
    if (steps) status = bb_kov_allocate(steps, weight, rest, pub->delta, epsilon);
    if (status) goto done;
    for (uint32_t t = 0, k = 0; t < plan->rounds; t++)
        plan->pure[t] = plan->step[t].weight > 0.0
                            ? epsilon[k++]
                            : plan->step[t].selection * pub->epsilon;
done:
    free(weight);
    free(epsilon);
    return status;
}

static bb_status check_selections(const bb_plan *plan) {
    double sum = 0.0;
    for (uint32_t t = 0; t < plan->rounds; t++) sum += plan->step[t].selection;
    if (sum >= 0.0 && sum <= 1.0) return BB_OK;
    return bb_fail(
        BB_EUSAGE,
        "selections ask for %g times the whole epsilon; they can have it once", sum);
}

/* What both doors' noise does not make private by itself: whoever selects sees the scores,
 * and noise by its length is not a sum of two. */
static bb_status check_doors(const bb_plan *plan, const bb_public *pub) {
    if (pub->doors < 2) return BB_OK;
    if (plan->lifted_rows)
        return bb_fail(BB_EUSAGE, "two doors have no promise for single rows: their "
                                  "noise is Gaussian");
    for (uint32_t t = 0; t < plan->rounds; t++)
        if (plan->step[t].selection > 0.0)
            return bb_fail(
                BB_EUSAGE,
                "two doors cannot select privately, since neither sees the "
                "scores: give what the method would select, such as its clip "
                "(--set clip=C), or take a method that selects nothing");
    return BB_OK;
}

static bb_status price(bb_plan *plan, const bb_public *pub, bb_pricing pricing) {
    bb_status status = check_selections(plan);
    if (!status) status = check_doors(plan, pub);
    if (status) return status;
    switch (pricing) {
    case BB_PRICE_NOTHING:
        price_nothing(plan);
        return BB_OK;
    case BB_PRICE_GAUSSIAN:
        if (!plan->lifted_rows) return price_gaussian(plan, pub);
        price_lifted(plan);
        return BB_OK;
    default:
        return price_published(plan, pub);
    }
}

bb_status bb_plan_make(bb_plan *plan, const bb_view *view, bb_pricing pricing) {
    bb_plan_part part = {.view = *view, .share = 1.0};
    return bb_plan_join(plan, view->pub, 1, &part, pricing);
}

/* Appends a phase's rounds to the whole: of all phases together, its weights have its
 * share of the squares. */
static void append(bb_plan *whole, const bb_plan *own, bb_plan_part *part) {
    double squares = 0.0;
    for (uint32_t t = 0; t < own->rounds; t++)
        squares += own->step[t].weight * own->step[t].weight;
    const double scale = squares > 0.0 ? sqrt(part->share / squares) : 0.0;
    part->from = whole->rounds;
    for (uint32_t t = 0; t < own->rounds; t++) {
        bb_step *step = &whole->step[whole->rounds++];
        *step = own->step[t];
        step->weight *= scale;
        step->selection *= part->share;
    }
    if (own->show_length > whole->show_length) whole->show_length = own->show_length;
    if (own->sum_length > whole->sum_length) whole->sum_length = own->sum_length;
    whole->forms |= own->forms;
    if (own->outer_length > whole->outer_length)
        whole->outer_length = own->outer_length;
}

/* What the phases ask for, behind each other. Only one that is the only one to publish
 * anything may promise something for single rows, too. */
static bb_status join(bb_plan *whole, size_t parts, bb_plan_part *part, bb_plan *own) {
    uint32_t rounds = 0;
    size_t publishing = 0;
    for (size_t k = 0; k < parts; k++) {
        rounds += own[k].rounds;
        publishing += own[k].rounds > 0;
        part[k].rounds = own[k].rounds;
    }
    for (size_t k = 0; k < parts && publishing > 1; k++)
        if (own[k].instance || own[k].lifted_rows)
            return bb_fail(
                BB_EUSAGE,
                "method %s promises something for single rows, too: no other "
                "phase can publish anything beside it",
                part[k].view.method->name);
    for (size_t k = 0; k < parts && publishing == 1; k++)
        if (own[k].rounds) {
            *whole = own[k];
            own[k] = (bb_plan){0};
        }
    if (publishing <= 1) return BB_OK;
    const bb_status status = bb_plan_rounds(whole, rounds);
    whole->rounds = 0;
    for (size_t k = 0; k < parts && !status; k++) append(whole, &own[k], &part[k]);
    return status;
}

bb_status bb_plan_ask(bb_plan *plan, size_t parts, bb_plan_part *part) {
    bb_plan *own = NULL, asked = {0};
    bb_status status = bb_allocate(&own, parts, sizeof *own, "the plan");
    for (size_t k = 0; k < parts && !status; k++)
        if (part[k].view.method->kind != BB_METHOD_ALONE)
            status = part[k].view.method->plan(&part[k].view, &own[k]);
    if (!status) status = join(&asked, parts, part, own);
    for (size_t k = 0; own && k < parts; k++) bb_plan_free(&own[k]);
    free(own);
    if (status)
        bb_plan_free(&asked);
    else
        *plan = asked;
    return status;
}

bb_status bb_plan_join(bb_plan *plan, const bb_public *pub, size_t parts,
                       bb_plan_part *part, bb_pricing pricing) {
    bb_plan made = {0};
    bb_status status = bb_plan_ask(&made, parts, part);
    if (!status) status = price(&made, pub, pricing);
    if (status)
        bb_plan_free(&made);
    else
        *plan = made;
    return status;
}

bb_plan_view bb_plan_view_of(const bb_plan *plan, const bb_plan_part *part) {
    return (bb_plan_view){.rounds = part->rounds,
                          .instance =
                              plan->instance ? plan->instance + part->from : NULL};
}

void bb_plan_free(bb_plan *plan) {
    free(plan->step);
    free(plan->mu);
    free(plan->pure);
    free(plan->instance);
    *plan = (bb_plan){0};
}
