#include "account.h"
#include "chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far apart epsilons are before they get a logarithmic axis. */
#define WIDE 20.0

static const char *title(const account_curve *c) {
    return strcmp(c->of, "epsilon") == 0 ? "What each δ costs in ε"
           : strcmp(c->of, "delta") == 0 ? "What each ε costs in δ"
                                         : "ε as rounds go by";
}

static bool is_wide(const double *upper, size_t count) {
    double least = INFINITY, most = 0.0;
    for (size_t k = 0; k < count; k++) {
        if (!isfinite(upper[k]) || upper[k] <= 0.0) continue;
        least = fmin(least, upper[k]);
        most = fmax(most, upper[k]);
    }
    return most > WIDE * least;
}

static void say_setting(const billboard_answer *price, const account_curve *c,
                        FILE *stream) {
    char text[ACCOUNT_NUMBER_BYTES];
    fprintf(stream, "adjacency %s, sampling %s",
            billboard_answer_text(price, "adjacency"),
            billboard_answer_text(price, "sampling_text"));
    if (strcmp(c->of, "rounds") == 0)
        fprintf(stream, ", delta %s",
                account_up(billboard_answer_number(price, "delta"), text));
}

static billboard_status draw_points(const billboard_answer *price,
                                    const account_curve *c, double *x,
                                    const char *setting, const char *path) {
    double *upper = x + c->count, *lower = upper + c->count;
    for (size_t k = 0; k < c->count; k++) {
        x[k] = account_curve_at(price, k, c->x, false);
        upper[k] = account_curve_at(price, k, c->y, false);
        lower[k] = account_curve_at(price, k, c->y, true);
    }
    const bool delta = strcmp(c->of, "delta") == 0;
    chart drawn = {.title = title(c),
                   .note = {setting, billboard_answer_text(price, "plan_text")},
                   .x = {c->x, !delta, x[0], x[c->count - 1]},
                   .y = {c->y, delta || is_wide(upper, c->count), 0.0, 0.0},
                   .points = c->count,
                   .at = x,
                   .name = {"upper bound (valid)", "lower bound"},
                   .line = {upper, lower}};
    if (!chart_range(&drawn.y, upper, c->count))
        return cmd_fail(BILLBOARD_USAGE,
                        "account: the curve has no point that can be drawn");
    return chart_write(&drawn, path);
}

billboard_status account_draw(const billboard_answer *price, const char *curve,
                              const char *path) {
    const account_curve c = account_curve_of(price, curve);
    char *setting = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&setting, &size);
    double *x = calloc(3 * c.count + 1, sizeof *x);
    if (stream) say_setting(price, &c, stream);
    const bool whole = stream && fclose(stream) == 0 && x;
    const billboard_status status =
        whole ? draw_points(price, &c, x, setting, path)
              : cmd_fail(BILLBOARD_FAILED, "no memory for the chart");
    free(setting);
    free(x);
    return status;
}
