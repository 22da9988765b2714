/* Effects as lines of CSV, and for people. */
#include "base/json.h"
#include "models/models.h"
#include "train/effects.h"

#include <math.h>
#include <string.h>

static double number(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const struct {
    const char *path, *what, *name, *title;
} component[] = {{"random.intercept", "variance of random effects", "(intercept)",
                  "random intercept"},
                 {"random.slope", "variance of random effects", "slope of half a range",
                  "random slopes x half a range"},
                 {"residual", "variance of residuals", "(residual)", "residual"},
                 {"icc", "intraclass correlation", "(icc)", "ICC"}};
enum { LISTED = sizeof component / sizeof *component };

static void csv_line(FILE *stream, const char *what, const char *name,
                     const json_t *told) {
    const json_t *interval = json_object_get(told, "interval");
    const json_t *const value[] = {
        json_object_get(told, "estimate"), json_object_get(told, "standard_error"),
        json_array_get(interval, 0), json_array_get(interval, 1)};
    bb_write_field(stream, what);
    putc(',', stream);
    bb_write_field(stream, name);
    for (size_t k = 0; k < sizeof value / sizeof *value; k++) {
        putc(',', stream);
        if (json_is_number(value[k]))
            fprintf(stream, "%.17g", json_number_value(value[k]));
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
    fputs("what,name,estimate,standard_error,lower,upper\n", stream);
    json_array_foreach(json_object_get(effects, "fixed"), k, one)
        csv_fixed(stream, one);
    for (k = 0; k < LISTED; k++)
        csv_line(stream, component[k].what, component[k].name,
                 bb_json_at(effects, component[k].path));
}

const char *bb_effects_number(double value, double error, char text[BB_EFFECT_BYTES]) {
    enum { USUAL = 5, MOST = 15, WRITTEN_OUT = 9 };
    if (!isfinite(value)) {
        snprintf(text, BB_EFFECT_BYTES, "-");
        return text;
    }
    const double whole = value != 0.0 ? floor(log10(fabs(value))) + 1.0 : 0.0;
    double digits = USUAL;
    if (error > 0.0) digits = fmax(digits, whole - floor(log10(error)) + 2.0);
    if (whole <= WRITTEN_OUT) digits = fmax(digits, whole);
    snprintf(text, BB_EFFECT_BYTES, "%.*g", (int)fmin(digits, MOST), value);
    return text;
}

static void print_number(FILE *stream, double value, double error) {
    char text[BB_EFFECT_BYTES];
    fprintf(stream, " %12s", bb_effects_number(value, error, text));
}

/* An interval, or why there is none. */
static void print_rest(FILE *stream, const json_t *told) {
    const json_t *interval = json_object_get(told, "interval"),
                 *reason = json_object_get(told, "reason");
    const double error = number(told, "standard_error");
    char low[BB_EFFECT_BYTES], high[BB_EFFECT_BYTES];
    if (json_is_array(interval))
        fprintf(stream, "  %s to %s",
                bb_effects_number(json_number_value(json_array_get(interval, 0)), error,
                                  low),
                bb_effects_number(json_number_value(json_array_get(interval, 1)), error,
                                  high));
    else if (json_is_string(reason))
        fprintf(stream, "  (%s)", json_string_value(reason));
    putc('\n', stream);
}

static void print_line(FILE *stream, const char *name, const json_t *told) {
    enum { NAME_COLUMNS = 28 };
    size_t columns = 0; /* of a terminal: bytes that go on with a character take none */
    for (const char *c = name; *c; c++) columns += ((unsigned char)*c & 0xc0) != 0x80;
    fprintf(stream, "  %s%*s", name,
            columns < NAME_COLUMNS ? (int)(NAME_COLUMNS - columns) : 0, "");
    const double error = number(told, "standard_error");
    print_number(stream, number(told, "estimate"), error);
    print_number(stream, error, NAN);
}

/* Behind the last of a text's levels: what they are against. */
static void print_against(FILE *stream, const json_t *list, size_t k) {
    const json_t *against = json_object_get(json_array_get(list, k), "against");
    const json_t *next = json_object_get(json_array_get(list, k + 1), "against");
    if (against && !(next && json_equal(against, next)))
        fprintf(stream, "    (against %s)\n", json_string_value(against));
}

static void print_fixed(FILE *stream, const json_t *list) {
    size_t k;
    const json_t *one;
    fprintf(stream, "%-30s %12s %12s  %s\n", "fixed effects", "estimate", "std. error",
            "95 %");
    json_array_foreach(list, k, one) {
        print_line(stream, json_string_value(json_object_get(one, "name")), one);
        print_rest(stream, one);
        print_against(stream, list, k);
    }
}

static void print_variances(FILE *stream, const json_t *effects) {
    fprintf(stream, "%-30s %12s %12s %12s  %s\n", "variances", "estimate", "std. error",
            "std. dev.", "95 %");
    for (size_t k = 0; k < LISTED; k++) {
        const json_t *told = bb_json_at(effects, component[k].path);
        print_line(stream, component[k].title, told);
        if (json_object_get(told, "deviation"))
            print_number(stream, number(told, "deviation"), NAN);
        else
            fprintf(stream, " %12s", "");
        print_rest(stream, told);
    }
}

void bb_effects_text(const json_t *effects, FILE *stream) {
    const json_t *warning = json_object_get(effects, "warning");
    if (!json_is_true(json_object_get(effects, "published"))) {
        fputs("effects: nothing was published, and so nothing is known of them\n",
              stream);
        return;
    }
    print_fixed(stream, json_object_get(effects, "fixed"));
    if (!json_is_true(json_object_get(effects, "standard_errors")))
        fputs(
            "  (without errors these may be far off, and are drawn to 0, the intercept "
            "to the middle of the\n  target's range, where tasks or the budget are "
            "small)\n",
            stream);
    print_variances(stream, effects);
    fprintf(
        stream,
        "  (the intercept is at %s;\n  variances are in the target's unit squared, at "
        "the "
        "middle of every range; slopes have one\n  for all columns that vary within "
        "tasks, about the mean of theirs; standard errors are of the\n  spread between "
        "tasks and of the noise, and take slopes to vary as far up as down)\n",
        json_string_value(json_object_get(effects, "intercept_at")));
    if (json_is_string(warning))
        fprintf(stream, "warning: %s\n", json_string_value(warning));
}
