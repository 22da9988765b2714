#include "train/effects.h"

#include "base/json.h"
#include "base/memory.h"
#include "data/ranges.h"
#include "models/models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Without its range the target is clipped where nobody has said, and variances with it. */
static bb_status check_target(const char *scale) {
    bb_ranges ranges = {0};
    bb_status status = bb_ranges_read(&ranges, scale);
    if (!status && !ranges.has_target)
        status = bb_fail(BB_EUSAGE, "--report-effects needs the target's public range, "
                                    "too (--scale, \"target\")");
    bb_ranges_free(&ranges);
    return status;
}

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
    if (!why) return check_target(o->scale);
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

/* -- levels of texts -- */

/* How columns from `first` on stand for the levels of one text. */
typedef struct levels {
    size_t count;  /* 0: the column is a number */
    bool contrast; /* every row has one of them: the first is what others differ from */
} levels;

/* What levels and indicators are, as far as ranges say it. */
static bool is_binary(const bb_preprocess *steps, size_t k) {
    return k < steps->features && steps->range && steps->range[k].low == 0.0 &&
           steps->range[k].high == 1.0;
}

/* The length of a text's name in that of a level, NAME=LEVEL (encode.h); 0: it is none. */
static size_t text_of(const bb_preprocess *steps, size_t k) {
    const char *equals = is_binary(steps, k) ? strchr(steps->name[k], '=') : NULL;
    return equals ? (size_t)(equals - steps->name[k]) : 0;
}

/* Where every row has a level, columns and constant say the same twice, and how long a model
 * is that says nothing at all cannot be resolved. Where that is resolved the reference are the
 * texts that have no column. g: d numbers. */
static levels levels_at(const bb_effects *e, const bb_preprocess *steps, size_t first,
                        double *g) {
    const size_t length = text_of(steps, first);
    levels found = {0, false};
    if (length == 0) return found;
    memset(g, 0, e->d * sizeof *g);
    for (size_t k = first; text_of(steps, k) == length &&
                           !strncmp(steps->name[k], steps->name[first], length);
         k++) {
        g[k] = 1.0;
        found.count++;
    }
    g[e->d - 1] = (double)found.count - 2.0;
    found.contrast = found.count > 1 && !(bb_effects_lost(e, g) < 0.5);
    return found;
}

/* -- the table -- */

typedef struct fixed {
    const bb_effects *e;
    const units *units;
    double *g, *intercept;         /* d: of a row's sum, and where the constant is */
    json_t *list;                  /* NULL: out of memory */
    bool has_contrast, has_levels; /* against the first level, against none */
    bool has_missing;              /* indicators */
} fixed;

/* One row: g's sum of the weights, in units of column k. against: a level, or NULL. */
static void add_row(fixed *f, size_t k, const double *g, const char *against) {
    const size_t d = f->e->d;
    const double unit = unit_of(f->units, k) / f->units->root;
    double value = k + 1 == d ? f->units->middle : 0.0;
    for (size_t j = 0; j < d; j++) value += unit * g[j] * f->e->centre[j];
    json_t *one = told(value, unit * bb_effects_error(f->e, g));
    if (!one ||
        json_object_set_new(one, "name", json_string(f->units->steps->name[k])) ||
        (against && json_object_set_new(one, "against", json_string(against))) ||
        json_array_append(f->list, one)) {
        json_decref(f->list);
        f->list = NULL;
    }
    json_decref(one);
}

static void add_column(fixed *f, size_t k, size_t against) {
    memset(f->g, 0, f->e->d * sizeof *f->g);
    f->g[k] = 1.0;
    if (against != k) f->g[against] = -1.0;
    add_row(f, k, f->g, against != k ? f->units->steps->name[against] : NULL);
}

/* The constant is moved from the middle of every level, half of it, to the first, or to
 * none. */
static void add_levels(fixed *f, size_t first, levels found) {
    f->has_contrast |= found.contrast;
    f->has_levels |= !found.contrast;
    for (size_t k = first; k < first + found.count; k++) {
        const bool is_reference = found.contrast && k == first;
        f->intercept[k] = is_reference ? 1.0 : -1.0;
        if (!is_reference && f->list) add_column(f, k, found.contrast ? first : k);
    }
}

/* Whether the column says that another one is missing, COLUMN_missing (encode.h). */
static bool is_indicator(const bb_preprocess *steps, size_t k) {
    static const char end[] = "_missing";
    const size_t length = strlen(steps->name[k]), tail = sizeof end - 1;
    return is_binary(steps, k) && length > tail &&
           strcmp(steps->name[k] + length - tail, end) == 0;
}

/* Of an indicator the constant is where nothing is missing. */
static void add_number(fixed *f, size_t k) {
    const bool is = is_indicator(f->units->steps, k);
    if (is) f->intercept[k] = -1.0;
    f->has_missing |= is;
    add_column(f, k, k);
}

static void add_all(fixed *f) {
    const size_t last = f->e->d - 1;
    for (size_t k = 0; k < last && f->list;) {
        const levels found = levels_at(f->e, f->units->steps, k, f->g);
        if (found.count)
            add_levels(f, k, found);
        else
            add_number(f, k);
        k += found.count ? found.count : 1;
    }
    f->intercept[last] = 1.0;
    if (f->list) add_row(f, last, f->intercept, NULL);
}

static json_t *fixed_json(fixed *f) {
    double *room = NULL;
    f->list = json_array();
    if (!f->e->known || !f->list) return f->list;
    if (bb_allocate(&room, 2 * f->e->d, sizeof *room, "effects")) {
        json_decref(f->list);
        return NULL;
    }
    f->g = room;
    f->intercept = room + f->e->d;
    add_all(f);
    free(room);
    return f->list;
}

static json_t *intercept_at(const fixed *f) {
    const char *texts = "";
    if (f->has_contrast && f->has_levels)
        texts = ", and the first level of every text, or none where rows have none";
    else if (f->has_contrast)
        texts = ", and the first level of every text";
    else if (f->has_levels)
        texts = ", and none of the levels of texts";
    return json_sprintf("the middle of every column's range%s%s", texts,
                        f->has_missing ? ", with nothing missing" : "");
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

/* The ICC where something is known of it; else why not. */
static json_t *icc_json(const bb_effects *e) {
    const double value = e->value[BB_COMPONENT_ICC],
                 error = e->value_error[BB_COMPONENT_ICC];
    const bool is_hidden = !isfinite(value) || !isfinite(error);
    const char *hidden = e->known ? "the noise hides it" : "nothing was published";
    const bool is_anything = value - 1.96 * error <= 0.0 && value + 1.96 * error >= 1.0;
    if (!is_hidden && !is_anything) return told(value, error);
    return json_pack("{s:n,s:n,s:s}", "estimate", "standard_error", "reason",
                     is_hidden ? hidden
                               : "its 95 % interval has all numbers from 0 to 1 in it");
}

json_t *bb_effects_json(const double *numbers, const bb_preprocess *steps) {
    const bb_effects e = bb_effects_read(numbers, steps->width);
    const units u = units_of(steps);
    fixed f = {.e = &e, .units = &u};
    json_t *rows = fixed_json(&f);
    return json_pack("{s:b,s:b,s:o,s:o,s:{s:o,s:o,s:o},s:o,s:o}", "published", e.known,
                     "standard_errors", e.known && e.fixed, "intercept_at",
                     intercept_at(&f), "fixed", rows, "random", "intercept",
                     variance(&e, &u, BB_COMPONENT_INTERCEPT), "slope",
                     variance(&e, &u, BB_COMPONENT_SLOPE), "slope_deviations",
                     slopes_json(&e, &u), "residual",
                     variance(&e, &u, BB_COMPONENT_RESIDUAL), "icc", icc_json(&e));
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
    bb_write_field(stream, what);
    putc(',', stream);
    bb_write_field(stream, name);
    for (size_t k = 0; k < 2; k++) {
        const double value = number(told, part[k]);
        putc(',', stream);
        if (isfinite(value)) fprintf(stream, "%.17g", value);
    }
    putc('\n', stream);
}

static void csv_fixed(FILE *stream, const json_t *one) {
    const char *against = json_string_value(json_object_get(one, "against"));
    json_t *what = against ? json_sprintf("fixed effect against %s", against)
                           : json_string("fixed effect");
    csv_line(stream, json_string_value(what),
             json_string_value(json_object_get(one, "name")), one);
    json_decref(what);
}

void bb_effects_csv(const json_t *effects, FILE *stream) {
    size_t k;
    const json_t *one;
    fputs("what,name,estimate,standard_error\n", stream);
    json_array_foreach(json_object_get(effects, "fixed"), k, one)
        csv_fixed(stream, one);
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

/* Behind the last of a text's levels: what they are against. */
static void print_against(FILE *stream, const json_t *list, size_t k) {
    const json_t *against = json_object_get(json_array_get(list, k), "against");
    const json_t *next = json_object_get(json_array_get(list, k + 1), "against");
    if (against && !(next && json_equal(against, next)))
        fprintf(stream, "    (against %s)\n", json_string_value(against));
}

void bb_effects_text(const json_t *effects, FILE *stream) {
    size_t k;
    const json_t *one, *list = json_object_get(effects, "fixed");
    if (!json_is_true(json_object_get(effects, "published"))) {
        fputs("effects: nothing was published, and so nothing is known of them\n",
              stream);
        return;
    }
    fprintf(stream, "%-30s %12s %12s  %s\n", "fixed effects", "estimate", "std. error",
            "95 %");
    json_array_foreach(list, k, one) {
        print_line(stream, json_string_value(json_object_get(one, "name")), one, true);
        print_against(stream, list, k);
    }
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
    const json_t *reason = bb_json_at(effects, "icc.reason");
    if (json_is_string(reason))
        fprintf(stream, "  (no ICC: %s)\n", json_string_value(reason));
    fprintf(
        stream,
        "  (the intercept is at %s;\n  variances are at the middle of every range, "
        "slopes of columns that vary within tasks;\n  standard errors are of the "
        "spread between tasks and of the noise, and take slopes to\n  vary as far up "
        "as down)\n",
        json_string_value(json_object_get(effects, "intercept_at")));
}
