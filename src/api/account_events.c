#include "api/account.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

enum { NUMBER_BYTES = 64, PLACE_BYTES = 300 };

static bb_status append(account_plan *plan, const char *what, bb_event event) {
    bb_status status = bb_event_check(&event);
    if (status) return bb_fail_context(status, "%s", what);
    status = bb_grow(&plan->other, &plan->room, plan->others + 1, sizeof *plan->other,
                     "the plan");
    if (!status) plan->other[plan->others++] = event;
    return status;
}

/* -- --selection, --epsilons, --step -- */

/* A number of at most NUMBER_BYTES - 1 characters. */
static bool read_real(const char *text, size_t length, double *out) {
    char copy[NUMBER_BYTES];
    if (length >= sizeof copy) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return bb_number_real(copy, out);
}

/* "X" or "X:COUNT", `length` characters. */
static bool read_counted(const char *text, size_t length, double *value,
                         double *count) {
    const char *colon = memchr(text, ':', length);
    *count = 1.0;
    if (!colon) return read_real(text, length, value);
    const size_t first = (size_t)(colon - text);
    return read_real(text, first, value) &&
           read_real(colon + 1, length - first - 1, count) && *count >= 1.0 &&
           *count == floor(*count);
}

/* A list of steps or selections, each pure. */
static bb_status read_list(account_plan *plan, const char *name, const char *text,
                           bb_event (*make)(double epsilon, double rounds)) {
    char what[PLACE_BYTES];
    double epsilon, count;
    for (size_t item = 1; text; item++) {
        const size_t length = strcspn(text, ",");
        snprintf(what, sizeof what, "account: --%s, number %zu", name, item);
        if (!read_counted(text, length, &epsilon, &count))
            return bb_fail(BB_EUSAGE,
                           "%s: expected EPS or EPS:COUNT, COUNT a whole number >= 1, "
                           "got \"%.*s\"",
                           what, (int)length, text);
        const bb_status status = append(plan, what, make(epsilon, count));
        if (status) return status;
        text = text[length] ? text + length + 1 : NULL;
    }
    return BB_OK;
}

static bb_event pure_step(double epsilon, double rounds) {
    return bb_event_step(epsilon, 0.0, rounds);
}

static bb_status read_step(account_plan *plan, const char *text) {
    double epsilon, delta, count;
    if (!text) return BB_OK;
    const size_t first = strcspn(text, ",");
    if (!text[first] || !read_real(text, first, &epsilon) ||
        !read_counted(text + first + 1, strlen(text + first + 1), &delta, &count))
        return bb_fail(BB_EUSAGE,
                       "account: --step expects EPS,DELTA or EPS,DELTA:COUNT, COUNT a "
                       "whole number >= 1, got \"%s\"",
                       text);
    return append(plan, "account: --step", bb_event_step(epsilon, delta, count));
}

/* -- --events -- */

/* One object of the file; what its kind does not have stays as it is. */
typedef struct entry {
    char *noise, *form, *sampling, *cohort;
    double rounds, epsilon, delta, freedom;
} entry;

#define ROUNDS                                                                         \
    {                                                                                  \
        "rounds", BB_OPTION_REAL, offsetof(entry, rounds), "1", 0.0, 0x1p40, NULL,     \
            NULL, NULL                                                                 \
    }
#define NOISE                                                                          \
    {                                                                                  \
        "noise_multiplier", BB_OPTION_TEXT, offsetof(entry, noise), NULL, 0.0, 0.0,    \
            NULL, NULL, NULL                                                           \
    }
#define EPSILON                                                                        \
    {                                                                                  \
        "epsilon", BB_OPTION_AUTO, offsetof(entry, epsilon), "auto", 0.0, 1e9, NULL,   \
            NULL, NULL                                                                 \
    }

static const bb_option round_row[] = {
    NOISE,
    {"form", BB_OPTION_TEXT, offsetof(entry, form), NULL, 0.0, 0.0, NULL, NULL, NULL},
    {"sampling", BB_OPTION_TEXT, offsetof(entry, sampling), NULL, 0.0, 0.0, NULL, NULL,
     NULL},
    {"cohort", BB_OPTION_TEXT, offsetof(entry, cohort), NULL, 0.0, 0.0, NULL, NULL,
     NULL},
    ROUNDS};
static const bb_option selection_row[] = {EPSILON, ROUNDS};
static const bb_option step_row[] = {
    EPSILON,
    {"delta", BB_OPTION_REAL, offsetof(entry, delta), "0", 0.0, 1.0, NULL, NULL, NULL},
    ROUNDS};
static const bb_option wishart_row[] = {NOISE,
                                        {"freedom", BB_OPTION_AUTO,
                                         offsetof(entry, freedom), "auto", 2.0, 1e9,
                                         NULL, NULL, NULL},
                                        ROUNDS};

typedef struct kind {
    const char *name, *needs;
    bb_event_kind event;
    bb_options table;
} kind;

static const kind kinds[] = {
    {"round", "noise_multiplier", BB_EVENT_ROUND, {round_row, 5}},
    {"selection", "epsilon", BB_EVENT_SELECTION, {selection_row, 2}},
    {"step", "epsilon", BB_EVENT_STEP, {step_row, 3}},
    {"wishart", "freedom and noise_multiplier", BB_EVENT_WISHART, {wishart_row, 3}},
};

static bool is_complete(const kind *k, const entry *e) {
    switch (k->event) {
    case BB_EVENT_ROUND:
        return e->noise;
    case BB_EVENT_WISHART:
        return e->noise && !isnan(e->freedom);
    default:
        return !isnan(e->epsilon);
    }
}

static bb_status add_entry(account_plan *plan, const char *what, const kind *k,
                           const entry *e, double tasks) {
    account_plan one = {.freedom = NAN, .rate = 1.0};
    bb_status status = account_check_whole(what, "rounds", e->rounds);
    if (!status && !is_complete(k, e))
        status = bb_fail(BB_EUSAGE, "%s: a %s needs %s", what, k->name, k->needs);
    if (status) return status;
    if (k->event == BB_EVENT_SELECTION)
        return append(plan, what, bb_event_selection(e->epsilon, e->rounds));
    if (k->event == BB_EVENT_STEP)
        return append(plan, what, bb_event_step(e->epsilon, e->delta, e->rounds));
    plan->mixed = true;
    if (k->event == BB_EVENT_WISHART) one.freedom = e->freedom;
    status = account_read_sampling(what, e->sampling, e->cohort, tasks, &one);
    if (!status) status = account_read_blocks(what, e->form, e->noise, &one);
    if (!status) status = append(plan, what, account_round(&one, 1.0, e->rounds));
    return status;
}

/* A list of multipliers is a text, as on the command line; one may be a number. */
static bb_status noise_as_text(json_t *object) {
    const json_t *noise = json_object_get(object, "noise_multiplier");
    if (!json_is_number(noise)) return BB_OK;
    char text[NUMBER_BYTES];
    snprintf(text, sizeof text, "%.17g", json_number_value(noise));
    if (json_object_set_new(object, "noise_multiplier", json_string(text)))
        return bb_fail(BB_ENOMEM, "no memory for the events");
    return BB_OK;
}

static bb_status read_entry(account_plan *plan, const char *what, json_t *object,
                            double tasks) {
    const char *name = json_string_value(json_object_get(object, "kind"));
    const kind *k = NULL;
    entry e = {0};
    for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, kinds[i].name) == 0) k = &kinds[i];
    if (!k)
        return bb_fail(BB_EUSAGE,
                       "%s: expected an object whose \"kind\" is round, selection, "
                       "step or wishart%s%s",
                       what, name ? ", got " : "", name ? name : "");
    json_object_del(object, "kind");
    bb_status status = noise_as_text(object);
    if (!status) status = bb_options_default(k->table, &e);
    if (!status) status = bb_options_set_json(k->table, &e, what, object);
    if (!status) status = add_entry(plan, what, k, &e, tasks);
    bb_options_free(k->table, &e);
    return status;
}

static bb_status read_file(account_plan *plan, const char *path, double tasks) {
    char what[PLACE_BYTES];
    json_t *list = NULL, *object;
    size_t index;
    if (!path) return BB_OK;
    bb_status status = bb_json_read_file(&list, path);
    if (!status && json_array_size(list) == 0)
        status = bb_fail(BB_EUSAGE, "%s: expected a JSON array of events", path);
    if (!status) json_array_foreach(list, index, object) {
            snprintf(what, sizeof what, "%s: event %zu", path, index + 1);
            status = read_entry(plan, what, object, tasks);
            if (status) break;
        }
    json_decref(list);
    return status;
}

bb_status account_read_others(account_plan *plan, const account_options *options) {
    bb_status status =
        read_list(plan, "selection", options->selection, bb_event_selection);
    if (!status) status = read_list(plan, "epsilons", options->epsilons, pure_step);
    if (!status) status = read_step(plan, options->step);
    if (!status) status = read_file(plan, options->events, options->tasks);
    return status;
}
