#include "account.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- numbers -- */

enum { NUMBER_BYTES = 32 };

/* Six significant digits, rounded so that the claim stays true: up, or down. */
static const char *rounded(double value, bool up, char *text) {
    snprintf(text, NUMBER_BYTES, "%.6g", value);
    const double said = strtod(text, NULL);
    if (up ? said >= value : said <= value) return text;
    const double digit = pow(10.0, floor(log10(value)) - 5.0);
    snprintf(text, NUMBER_BYTES, "%.6g", up ? said + digit : said - digit);
    return text;
}

/* -- the curve -- */

/* What its rows have, by the answer's names. */
typedef struct curve_names {
    const char *x, *y;
    size_t count; /* 0: there is none */
} curve_names;

static curve_names curve_of(const billboard_answer *price, const char *of) {
    const bool delta = of && strcmp(of, "delta") == 0;
    return (curve_names){.x = delta                              ? "epsilon"
                              : of && strcmp(of, "epsilon") == 0 ? "delta"
                                                                 : "rounds",
                         .y = delta ? "delta" : "epsilon",
                         .count = billboard_answer_count(price, "curve")};
}

/* A number of row k, "x_lower" for name "x" and lower; INFINITY: no bound, NAN: not
 * known. */
static double curve_at(const billboard_answer *price, size_t k, const char *name,
                       bool lower) {
    char path[80];
    snprintf(path, sizeof path, "curve.%zu.lower_known", k);
    const bool known = !lower || billboard_answer_number(price, path) > 0.0;
    snprintf(path, sizeof path, "curve.%zu.%s%s", k, name, lower ? "_lower" : "");
    const double value = billboard_answer_number(price, path);
    return known && isnan(value) ? INFINITY : value;
}

static const char *cell(double value, bool up, char *text) {
    if (isnan(value)) return "-";
    if (isinf(value)) return "none";
    return rounded(value, up, text);
}

static void say_curve(const billboard_answer *price, const curve_names *c,
                      FILE *stream) {
    char x[NUMBER_BYTES], u[NUMBER_BYTES], l[NUMBER_BYTES];
    fprintf(stream, "\n%-13s %-13s %s\n", c->x, c->y, "lower bound");
    for (size_t k = 0; k < c->count; k++) {
        const double at = curve_at(price, k, c->x, false);
        if (strcmp(c->x, "rounds") == 0)
            snprintf(x, sizeof x, "%.0f", at);
        else
            rounded(at, true, x);
        fprintf(stream, "%-13s %-13s %s\n", x,
                cell(curve_at(price, k, c->y, false), true, u),
                cell(curve_at(price, k, c->y, true), false, l));
    }
}

/* -- the rest -- */

static void say_noise(const billboard_answer *price, FILE *stream) {
    char text[NUMBER_BYTES], path[40];
    const size_t blocks = billboard_answer_count(price, "noise_multiplier");
    if (!blocks)
        fputs(rounded(billboard_answer_number(price, "noise_multiplier"), true, text),
              stream);
    for (size_t b = 0; b < blocks; b++) {
        snprintf(path, sizeof path, "noise_multiplier.%zu", b);
        fprintf(stream, "%s%s", b ? "," : "",
                rounded(billboard_answer_number(price, path), true, text));
    }
}

static void say_found(const billboard_answer *price, FILE *stream) {
    char e[NUMBER_BYTES], d[NUMBER_BYTES];
    const char *found = billboard_answer_text(price, "found");
    rounded(billboard_answer_number(price, "epsilon"), true, e);
    rounded(billboard_answer_number(price, "delta"), true, d);
    if (strcmp(found, "noise_multiplier") == 0) {
        const bool differ = billboard_answer_count(price, "noise_multipliers") > 0;
        fputs(differ ? "least noise multiplier = " : "noise multiplier = ", stream);
        say_noise(price, stream);
        fputs(": ", stream);
    } else if (strcmp(found, "rounds") == 0) {
        fprintf(stream, "rounds = %.0f: ", billboard_answer_number(price, "rounds"));
    }
    if (strcmp(found, "delta") == 0)
        fprintf(stream, "delta = %s at epsilon = %s", d, e);
    else
        fprintf(stream, "epsilon = %s at delta = %s", e, d);
}

static void say_lower(const billboard_answer *price, FILE *stream) {
    const bool delta = strcmp(billboard_answer_text(price, "found"), "delta") == 0;
    const double lower =
        billboard_answer_number(price, delta ? "delta_lower" : "epsilon_lower");
    char text[NUMBER_BYTES];
    fputs("lower bound  ", stream);
    if (isnan(lower))
        fputs("not known\n", stream);
    else
        fprintf(stream, "%s >= %s\n", delta ? "delta" : "epsilon",
                rounded(lower, false, text));
}

void account_say_text(const billboard_answer *price, const char *curve, FILE *stream) {
    const curve_names c = curve_of(price, curve);
    const double order = billboard_answer_number(price, "order");
    say_found(price, stream);
    fprintf(stream, ", adjacency %s, sampling %s\nplan         %s\n",
            billboard_answer_text(price, "adjacency"),
            billboard_answer_text(price, "sampling_text"),
            billboard_answer_text(price, "plan_text"));
    say_lower(price, stream);
    if (!isnan(billboard_answer_number(price, "noise_multiplier_published")))
        fprintf(
            stream,
            "published    noise multiplier %.4g by the closed form of Hu, Wu and Smith "
            "(2023, theorem 1)\n",
            billboard_answer_number(price, "noise_multiplier_published"));
    fprintf(stream, "accountant   %s", billboard_answer_text(price, "accountant"));
    if (!isnan(order)) fprintf(stream, ", order %g", order);
    fprintf(stream, "\n\n%s", billboard_answer_text(price, "statement"));
    if (c.count) say_curve(price, &c, stream);
}
