#include "privacy/accounting/event.h"

#include "privacy/accounting/form.h"

#include <assert.h>
#include <math.h>

const char *bb_form_name(bb_form form) {
    static const char *const name[] = {"vector", "slot",  "square",
                                       "psd",    "outer", "selection"};
    return name[form];
}

double bb_form_sensitivity(bb_form form, bb_adjacency adjacency) {
    assert(form != BB_FORM_SELECTION);
    if (adjacency == BB_ADD_REMOVE) return 1.0;
    return form == BB_FORM_VECTOR || form == BB_FORM_SLOT ? 2.0 : sqrt(2.0);
}

bb_event bb_event_gaussian(double mu, double rounds) {
    return bb_event_round(BB_SAMPLING_ALL, 1.0, mu, mu, rounds);
}

bb_event bb_event_round(bb_sampling sampling, double rate, double absent,
                        double replace, double rounds) {
    return (bb_event){.kind = BB_EVENT_ROUND,
                      .rounds = rounds,
                      .sampling = sampling,
                      .rate = rate,
                      .absent = absent,
                      .replace = replace};
}

bb_event bb_event_selection(double epsilon, double rounds) {
    return (bb_event){.kind = BB_EVENT_SELECTION, .rounds = rounds, .epsilon = epsilon};
}

bb_event bb_event_step(double epsilon, double delta, double rounds) {
    return (bb_event){
        .kind = BB_EVENT_STEP, .rounds = rounds, .epsilon = epsilon, .delta = delta};
}

bb_event bb_event_wishart(double freedom, double ratio, double rounds) {
    return (bb_event){
        .kind = BB_EVENT_WISHART, .rounds = rounds, .freedom = freedom, .ratio = ratio};
}

double bb_event_mu(const bb_event *event, bb_adjacency adjacency) {
    return adjacency == BB_ADD_REMOVE ? event->absent : event->replace;
}

double bb_event_back(const bb_event *event) {
    return fmax(0.0, event->replace - event->absent);
}

static bb_status need(bool holds, const char *what, const char *expected,
                      double found) {
    if (holds) return BB_OK;
    return bb_fail(BB_EUSAGE, "%s must be %s, got %g", what, expected, found);
}

static bb_status check_round(const bb_event *e) {
    bb_status status = need(e->rate >= 0.0 && e->rate <= 1.0, "the chance to take part",
                            "in [0, 1]", e->rate);
    if (!status)
        status = need(e->sampling != BB_SAMPLING_ALL || e->rate == 1.0,
                      "the chance to take part in a round of all tasks", "1", e->rate);
    if (!status)
        status = need(e->absent >= 0.0 && isfinite(e->absent), "a round's sensitivity",
                      "finite and not negative", e->absent);
    if (!status)
        status = need(e->replace >= e->absent &&
                          e->replace <= 2.0 * e->absent * (1.0 + 1e-12),
                      "a round's sensitivity to replacing a task",
                      "between that to its absence and twice as much", e->replace);
    return status;
}

bb_status bb_event_check(const bb_event *e) {
    bb_status status =
        need(e->rounds >= 0.0 && e->rounds <= 0x1p40 && e->rounds == floor(e->rounds),
             "a number of rounds", "a count up to 2^40", e->rounds);
    if (status) return status;
    switch (e->kind) {
    case BB_EVENT_ROUND:
        return check_round(e);
    case BB_EVENT_WISHART:
        status = need(e->freedom >= 2.0 && e->freedom <= 1e6,
                      "k - d + 1 of Wishart noise", "from 2 to 1e6", e->freedom);
        if (!status)
            status = need(e->ratio > 0.0 && isfinite(e->ratio),
                          "K^2 / s of Wishart noise", "positive and finite", e->ratio);
        return status;
    default:
        status = need(e->epsilon >= 0.0 && isfinite(e->epsilon), "a step's epsilon",
                      "finite and not negative", e->epsilon);
        if (!status)
            status = need(e->delta >= 0.0 && e->delta < 1.0, "a step's delta",
                          "in [0, 1)", e->delta);
        return status;
    }
}
