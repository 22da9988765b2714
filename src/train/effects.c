#include "train/effects.h"

#include "base/json.h"
#include "base/memory.h"
#include "data/encode.h"
#include "data/ranges.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of how many tasks a column varies in, at least, for it to have random slopes. */
static const double least_varying = 0.02;
/* Deviations in half ranges from which on sums are cut that could be seen in variances: by
 * 3 to 8 per cent (docs/methods/mp-mixed.md). */
static const double most_intercept = 0.3, most_deviation = 0.45;

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

/* What a phase spends on effects, of mu^2. */
static double share_of(const bb_phase *phase) {
    const bb_options table = phase->method->options;
    double share = 0.0;
    for (size_t k = 0; k < table.count; k++)
        if (phase->method->effects && strcmp(table.row[k].name, "effects") == 0)
            memcpy(&share, (const char *)phase->options + table.row[k].offset,
                   sizeof share);
    return share;
}

/* Nothing is bought that nobody is told. */
static bb_status check_not_asked(const bb_train_request *r) {
    for (size_t k = 0; k < r->phases; k++)
        if (share_of(&r->phase[k]) > 0.0)
            return bb_fail(BB_EUSAGE,
                           "%s: effects=%g is what --report-effects spends, which is "
                           "not given: add it, or leave effects out",
                           r->phase[k].method->name, share_of(&r->phase[k]));
    return BB_OK;
}

bb_status bb_effects_check(const bb_train_request *r) {
    const bb_train_options *o = &r->options;
    const char *why = NULL;
    if (!o->report_effects) return check_not_asked(r);
    if (!r->phase[0].method->effects)
        why = "a method that publishes them: --method mp-mixed";
    else if (r->phases > 1)
        why = "one phase";
    else if (!o->scale || o->standardize != BB_STANDARDIZE_NONE)
        why =
            "public ranges (--scale), in whose units they are, and --standardize none";
    else if (o->no_intercept)
        why = "an intercept";
    else if (!(share_of(&r->phase[0]) > 0.0))
        why = "a part of the budget: effects=0 leaves none (0.2 where it is not set)";
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

/* Why an estimate has no error, or there is none. */
static const char nothing[] = "nothing was published", hidden[] = "the noise hides it",
                  too_few[] = "too few tasks, or too many columns, at this budget",
                  hardly_said[] = "the noise hides what rows say of it alone",
                  one_number[] = "its range is a single number";

typedef struct told {
    double value, error;
    double least, most; /* what it can be */
    const char *reason; /* if there is no error */
} told;

static json_t *told_json(const told *t) {
    const bool known = isfinite(t->value) && isfinite(t->error);
    json_t *interval =
        known ? json_pack("[f,f]", fmax(t->least, t->value - 1.96 * t->error),
                          fmin(t->most, t->value + 1.96 * t->error))
              : json_null();
    return json_pack("{s:o,s:o,s:o,s:s*}", "estimate", bb_json_real(t->value),
                     "standard_error", bb_json_real(t->error), "interval", interval,
                     "reason", known ? NULL : t->reason);
}

/* A new object with one member more, which it takes; NULL: out of memory. */
static json_t *with(json_t *object, const char *name, json_t *value) {
    if (!json_object_set_new(object, name, value)) return object;
    json_decref(object);
    return NULL;
}

/* A variance in the method's units; its root, too. */
static json_t *variance(const bb_effects *e, const units *u, bb_component which) {
    const double square = u->target * u->target;
    const told t = {.value = e->value[which] * square,
                    .error = e->value_error[which] * square,
                    .most = INFINITY,
                    .reason = e->known ? hidden : nothing};
    return with(told_json(&t), "deviation", bb_json_real(sqrt(t.value)));
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
    const bool found = f->e->fixed || bb_norm(d, f->e->centre) > 0.0;
    double value = !found ? NAN : k + 1 == d ? f->units->middle : 0.0;
    for (size_t j = 0; j < d; j++) value += unit * g[j] * f->e->centre[j];
    const told t = {.value = value,
                    .error = unit * bb_effects_error(f->e, g),
                    .least = -INFINITY,
                    .most = INFINITY,
                    .reason = isnan(unit)   ? one_number
                              : f->e->fixed ? hardly_said
                                            : too_few};
    json_t *one = with(told_json(&t), "name", json_string(f->units->steps->name[k]));
    if (against) one = with(one, "against", json_string(against));
    if (json_array_append_new(f->list, one)) {
        json_decref(f->list);
        f->list = NULL;
    }
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

/* Of a column that says where another one is missing the constant is where nothing is. */
static void add_number(fixed *f, size_t k) {
    const bb_preprocess *steps = f->units->steps;
    const bool is = is_binary(steps, k) && bb_encoding_tells_of(steps->name[k]);
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

/* Columns that vary within tasks, beyond the noise, have random slopes. */
static bool has_slope(const bb_effects *e, size_t k) {
    return e->known && e->varies[k] > fmax(2.0 * e->varies_noise, least_varying);
}

static json_t *slope_json(const bb_effects *e, const units *u) {
    json_t *slope = variance(e, u, BB_COMPONENT_SLOPE);
    if (e->known && isfinite(e->value[BB_COMPONENT_INTERCEPT]) &&
        isnan(e->value[BB_COMPONENT_SLOPE]))
        slope = with(slope, "reason",
                     json_string("no column varies within tasks, beyond the noise"));
    return with(
        slope, "note",
        json_string("one variance for all columns that vary within tasks, about "
                    "the mean of theirs, in units of half a column's range"));
}

static json_t *slopes_json(const bb_effects *e, const units *u) {
    json_t *object = json_object();
    const double deviation = sqrt(e->value[BB_COMPONENT_SLOPE]);
    for (size_t k = 0; k + 1 < e->d; k++)
        if (has_slope(e, k))
            object = with(object, u->steps->name[k],
                          bb_json_real(deviation * unit_of(u, k)));
    return object;
}

static json_t *varying_json(const bb_effects *e, const units *u) {
    json_t *object = json_object();
    for (size_t k = 0; k + 1 < e->d && e->known; k++)
        object = with(object, u->steps->name[k],
                      bb_json_real(fmax(0.0, fmin(1.0, e->varies[k]))));
    return object;
}

/* The ICC where something is known of it; else why not. */
static json_t *icc_json(const bb_effects *e) {
    told t = {.value = e->value[BB_COMPONENT_ICC],
              .error = e->value_error[BB_COMPONENT_ICC],
              .most = 1.0,
              .reason = e->known ? hidden : nothing};
    if (t.value - 1.96 * t.error <= 0.0 && t.value + 1.96 * t.error >= 1.0) {
        t.value = t.error = NAN;
        t.reason = "its 95 % interval has all numbers from 0 to 1 in it";
    }
    return told_json(&t);
}

/* What lies far out in the target's range is cut in the sums that variances are made of
 * (BB_MOMENTS_CLIP), as far as they tell themselves. */
static json_t *warning_json(const bb_effects *e, const units *u) {
    const double intercept = e->value[BB_COMPONENT_INTERCEPT],
                 all = intercept + e->value[BB_COMPONENT_RESIDUAL];
    const double error =
        e->value_error[BB_COMPONENT_INTERCEPT] + e->value_error[BB_COMPONENT_RESIDUAL];
    const bool far = intercept > most_intercept * most_intercept;
    if (!(far || all > most_deviation * most_deviation) || !(error < all))
        return json_null();
    const double deviation = sqrt(far ? intercept : all);
    return json_sprintf(
        "variances may be too small: %s deviate by %.3g, which is %.2g of half the "
        "target's range, and what lies far out is cut; from %.2g on a wider range "
        "helps",
        far ? "tasks' intercepts" : "targets", deviation * u->target, deviation,
        far ? most_intercept : most_deviation);
}

static json_t *random_json(const bb_effects *e, const units *u) {
    return json_pack("{s:o,s:o,s:o,s:o}", "intercept",
                     variance(e, u, BB_COMPONENT_INTERCEPT), "slope", slope_json(e, u),
                     "slope_deviations", slopes_json(e, u), "varies_within",
                     varying_json(e, u));
}

json_t *bb_effects_json(const double *numbers, const bb_preprocess *steps) {
    const bb_effects e = bb_effects_read(numbers, steps->width);
    const units u = units_of(steps);
    fixed f = {.e = &e, .units = &u};
    json_t *rows = fixed_json(&f);
    return json_pack("{s:b,s:b,s:o,s:o,s:o,s:o,s:o,s:o}", "published", e.known,
                     "standard_errors", e.known && e.fixed, "intercept_at",
                     intercept_at(&f), "fixed", rows, "random", random_json(&e, &u),
                     "residual", variance(&e, &u, BB_COMPONENT_RESIDUAL), "icc",
                     icc_json(&e), "warning", warning_json(&e, &u));
}
