/* The mixed model that --report-effects published, as tables. */
#include "base/json.h"
#include "report/page.h"
#include "report/plot.h"
#include "train/effects.h"

#include <math.h>

static void write_text(FILE *to, const json_t *value) {
    if (json_is_string(value)) bb_svg_text(to, json_string_value(value));
}

static void put_number(FILE *to, double value, double error) {
    char text[BB_EFFECT_BYTES];
    fputs(isnan(value) ? "–" : bb_effects_number(value, error, text), to);
}

/* To as many digits as `error', the name of another one, leaves; or NULL. */
static void write_number(FILE *to, const json_t *told, const char *name,
                         const char *error) {
    fputs("<td>", to);
    put_number(to, bb_reported_number(told, name),
               error ? bb_reported_number(told, error) : NAN);
    fputs("</td>", to);
}

/* An interval, or why there is none. */
static void write_rest(FILE *to, const json_t *told) {
    const json_t *interval = json_object_get(told, "interval");
    const double error = bb_reported_number(told, "standard_error");
    fputs("<td>", to);
    if (json_is_array(interval)) {
        put_number(to, json_number_value(json_array_get(interval, 0)), error);
        fputs(" to ", to);
        put_number(to, json_number_value(json_array_get(interval, 1)), error);
    } else {
        write_text(to, json_object_get(told, "reason"));
    }
    fputs("</td></tr>\n", to);
}

static void write_fixed(FILE *to, const json_t *list) {
    size_t k;
    const json_t *one;
    fputs("<div class=\"wide\"><table class=\"effects\"><thead><tr><th scope=\"col\">"
          "fixed effects</th><th scope=\"col\">estimate</th><th scope=\"col\">standard "
          "error</th><th scope=\"col\">95 %</th></tr></thead><tbody>\n",
          to);
    json_array_foreach(list, k, one) {
        const json_t *against = json_object_get(one, "against");
        fputs("<tr><th scope=\"row\">", to);
        write_text(to, json_object_get(one, "name"));
        if (against) fputs(" <span class=\"n\">against ", to);
        write_text(to, against);
        fputs(against ? "</span></th>" : "</th>", to);
        write_number(to, one, "estimate", "standard_error");
        write_number(to, one, "standard_error", NULL);
        write_rest(to, one);
    }
    fputs("</tbody></table></div>\n", to);
}

static void write_variances(FILE *to, const json_t *effects) {
    static const char *const part[][2] = {
        {"random.intercept", "random intercept"},
        {"random.slope", "random slopes, of half a column's range"},
        {"residual", "residual"},
        {"icc", "ICC"}};
    fputs(
        "<div class=\"wide\"><table class=\"effects\"><thead><tr><th scope=\"col\">"
        "variances</th><th scope=\"col\">estimate</th><th scope=\"col\">standard "
        "error</th><th scope=\"col\">standard deviation</th><th scope=\"col\">95 %</th>"
        "</tr></thead><tbody>\n",
        to);
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        const json_t *told = bb_json_at(effects, part[k][0]);
        fprintf(to, "<tr><th scope=\"row\">%s</th>", part[k][1]);
        write_number(to, told, "estimate", "standard_error");
        write_number(to, told, "standard_error", NULL);
        if (json_object_get(told, "deviation"))
            write_number(to, told, "deviation", NULL);
        else
            fputs("<td></td>", to);
        write_rest(to, told);
    }
    fputs("</tbody></table></div>\n", to);
}

void bb_page_effects(FILE *to, const bb_reported *run) {
    const json_t *effects = run->effects;
    if (!effects) return;
    fputs("<section id=\"effects\"><h2>The mixed model</h2>\n", to);
    if (!json_is_true(json_object_get(effects, "published"))) {
        fputs("<p>Nothing was published, and so nothing is known of its effects.</p>"
              "</section>\n",
              to);
        return;
    }
    fputs(
        "<p>Public, and inside the budget. Fixed effects are in the target's unit for "
        "one unit of a column, variances in the target's unit squared; the intercept "
        "is at ",
        to);
    write_text(to, json_object_get(effects, "intercept_at"));
    fputs(", variances at the middle of every range. Slopes have one variance for all "
          "columns that vary within tasks, about the mean of theirs. Standard errors "
          "are of the spread between tasks and of the noise.",
          to);
    if (!json_is_true(json_object_get(effects, "standard_errors")))
        fputs(
            " Fixed effects without errors may be far off, and are drawn to 0, the "
            "intercept to the middle of the target's range, where tasks or the budget "
            "are small.",
            to);
    fputs("</p>\n", to);
    if (json_is_string(json_object_get(effects, "warning"))) {
        fputs("<p class=\"bad\">", to);
        write_text(to, json_object_get(effects, "warning"));
        fputs("</p>\n", to);
    }
    write_fixed(to, json_object_get(effects, "fixed"));
    write_variances(to, effects);
    fputs("</section>\n", to);
}
