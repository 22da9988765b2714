#include "train/effects.h"

#include "base/json.h"
#include "models/models.h"

#include <math.h>
#include <string.h>

bb_status bb_effects_check(const bb_train_request *r) {
    const bb_train_options *o = &r->options;
    const char *why = NULL;
    if (!o->report_effects) return BB_OK;
    if (!r->phase[0].method->effects)
        why = "a method that publishes them: --method mp-mixed";
    else if (r->phases > 1)
        why = "one phase";
    else if (!o->scale || o->standardize != BB_STANDARDIZE_NONE)
        why =
            "public ranges (--scale), in whose units they are, and --standardize none";
    else if (o->no_intercept)
        why = "an intercept";
    if (!why) return BB_OK;
    return bb_fail(BB_EUSAGE, "--report-effects needs %s", why);
}

/* -- the data's own units -- */

typedef struct units {
    double target, middle; /* half the target's range, and where it is */
    double root;           /* of the number of columns, by which rows were divided */
    const bb_preprocess *steps;
} units;

static double half_of(bb_range range) {
    return range.high / 2.0 - range.low / 2.0;
}

static units units_of(const bb_preprocess *steps) {
    units u = {.target = 1.0, .root = sqrt((double)steps->width), .steps = steps};
    if (!steps->has_target) return u;
    u.target = half_of(steps->target);
    u.middle = steps->target.low / 2.0 + steps->target.high / 2.0;
    return u;
}

/* A weight of 1 on column k, in targets per unit of the column; NAN where the column has
 * one value only. */
static double unit_of(const units *u, size_t k) {
    if (k >= u->steps->features) return u->target;
    const double half = half_of(u->steps->range[k]);
    return half > 0.0 ? u->target / half : NAN;
}

static json_t *told(double value, double error) {
    return json_pack("{s:o,s:o}", "estimate", bb_json_real(value), "standard_error",
                     bb_json_real(error));
}

/* A variance in the method's units; its root, too. */
static json_t *variance(const bb_effects *e, const units *u, bb_component which) {
    const double square = u->target * u->target;
    const double value = e->value[which] * square;
    json_t *object = told(value, e->value_error[which] * square);
    if (object && json_object_set_new(object, "deviation", bb_json_real(sqrt(value)))) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *fixed_json(const bb_effects *e, const units *u) {
    json_t *list = json_array();
    for (size_t k = 0; k < e->d && e->known && list; k++) {
        const double unit = unit_of(u, k) / u->root;
        const double middle = k + 1 == e->d ? u->middle : 0.0;
        json_t *one = told(middle + unit * e->centre[k],
                           e->error[k] >= 0.0 ? unit * e->error[k] : NAN);
        if (one && json_object_set_new(one, "name", json_string(u->steps->name[k]))) {
            json_decref(one);
            one = NULL;
        }
        if (!one || json_array_append_new(list, one)) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static json_t *slopes_json(const bb_effects *e, const units *u) {
    json_t *object = json_object();
    const double deviation = sqrt(e->value[BB_COMPONENT_SLOPE]);
    for (size_t k = 0; k + 1 < e->d && e->known && object; k++)
        if (json_object_set_new(object, u->steps->name[k],
                                bb_json_real(deviation * unit_of(u, k)))) {
            json_decref(object);
            object = NULL;
        }
    return object;
}

json_t *bb_effects_json(const double *numbers, const bb_preprocess *steps) {
    const bb_effects e = bb_effects_read(numbers, steps->width);
    const units u = units_of(steps);
    return json_pack("{s:b,s:b,s:s,s:o,s:{s:o,s:o,s:o},s:o,s:o}", "published", e.known,
                     "standard_errors", e.known && e.fixed, "intercept_at",
                     "the middle of every column's range", "fixed", fixed_json(&e, &u),
                     "random", "intercept", variance(&e, &u, BB_COMPONENT_INTERCEPT),
                     "slope", variance(&e, &u, BB_COMPONENT_SLOPE), "slope_deviations",
                     slopes_json(&e, &u), "residual",
                     variance(&e, &u, BB_COMPONENT_RESIDUAL), "icc",
                     told(e.value[BB_COMPONENT_ICC], e.value_error[BB_COMPONENT_ICC]));
}

/* -- lines -- */

static double number(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const struct {
    const char *path, *what, *name;
} component[] = {
    {"random.intercept", "variance of random effects", "(intercept)"},
    {"random.slope", "variance of random effects", "slope of half a range"},
    {"residual", "variance of residuals", "(residual)"},
    {"icc", "intraclass correlation", "(icc)"}};
enum { LISTED = sizeof component / sizeof *component };

static void csv_line(FILE *stream, const char *what, const char *name,
                     const json_t *told) {
    static const char *const part[] = {"estimate", "standard_error"};
    fprintf(stream, "%s,", what);
    bb_write_field(stream, name);
    for (size_t k = 0; k < 2; k++) {
        const double value = number(told, part[k]);
        putc(',', stream);
        if (isfinite(value)) fprintf(stream, "%.17g", value);
    }
    putc('\n', stream);
}

void bb_effects_csv(const json_t *effects, FILE *stream) {
    size_t k;
    const json_t *one;
    fputs("what,name,estimate,standard_error\n", stream);
    json_array_foreach(json_object_get(effects, "fixed"), k, one) csv_line(
        stream, "fixed effect", json_string_value(json_object_get(one, "name")), one);
    for (k = 0; k < LISTED; k++)
        csv_line(stream, component[k].what, component[k].name,
                 bb_json_at(effects, component[k].path));
}

static void print_number(FILE *stream, double value) {
    if (isfinite(value))
        fprintf(stream, " %12.5g", value);
    else
        fprintf(stream, " %12s", "-");
}

static void print_line(FILE *stream, const char *name, const json_t *told, bool range) {
    const double value = number(told, "estimate");
    const double error = number(told, "standard_error");
    fprintf(stream, "  %-28.28s", name);
    print_number(stream, value);
    print_number(stream, error);
    if (range && isfinite(error))
        fprintf(stream, "  %.5g to %.5g", value - 1.96 * error, value + 1.96 * error);
    putc('\n', stream);
}

void bb_effects_text(const json_t *effects, FILE *stream) {
    size_t k;
    const json_t *one;
    if (!json_is_true(json_object_get(effects, "published"))) {
        fputs("effects: nothing was published, and so nothing is known of them\n",
              stream);
        return;
    }
    fprintf(stream, "%-30s %12s %12s  %s\n", "fixed effects", "estimate", "std. error",
            "95 %");
    json_array_foreach(json_object_get(effects, "fixed"), k, one)
        print_line(stream, json_string_value(json_object_get(one, "name")), one, true);
    if (!json_is_true(json_object_get(effects, "standard_errors")))
        fputs("  (too few tasks, or too many columns, for standard errors at this "
              "budget: the estimates are the search's)\n",
              stream);
    fprintf(stream, "%-30s %12s %12s\n", "variances", "estimate", "std. error");
    print_line(stream, "random intercept", bb_json_at(effects, "random.intercept"),
               false);
    print_line(stream, "random slope x half a range",
               bb_json_at(effects, "random.slope"), false);
    print_line(stream, "residual", bb_json_at(effects, "residual"), false);
    print_line(stream, "ICC", bb_json_at(effects, "icc"), false);
    fputs(
        "  (the intercept is at the middle of every range; standard errors are of the "
        "spread between\n  tasks and of the noise)\n",
        stream);
}
