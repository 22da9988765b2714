#include "account.h"
#include "chart.h"

#include <math.h>
#include <stdlib.h>

/* How far apart epsilons are before they get a logarithmic axis. */
#define WIDE 20.0

static const char *title(account_axis of) {
    return of == ACCOUNT_EPSILON ? "What each δ costs in ε"
           : of == ACCOUNT_DELTA ? "What each ε costs in δ"
                                 : "ε as rounds go by";
}

static chart_axis x_axis(const account_curve *c) {
    const double last = c->x[c->count - 1];
    const chart_axis axis = {account_curve_x(c->of), c->of != ACCOUNT_DELTA, c->x[0],
                             last};
    return axis;
}

static bool is_wide(const account_curve *c) {
    double least = INFINITY, most = 0.0;
    for (size_t k = 0; k < c->count; k++) {
        if (!isfinite(c->upper[k]) || c->upper[k] <= 0.0) continue;
        least = fmin(least, c->upper[k]);
        most = fmax(most, c->upper[k]);
    }
    return most > WIDE * least;
}

static void say_setting(const account_options *options, const account_plan *plan,
                        const account_price *price, FILE *stream) {
    char text[ACCOUNT_NUMBER_BYTES];
    fprintf(stream, "adjacency %s, sampling ", bb_adjacency_name(plan->adjacency));
    account_say_sampling(options, plan, stream);
    if (options->curve == ACCOUNT_ROUNDS)
        fprintf(stream, ", delta %s", account_up(price->delta, text));
}

bb_status account_draw(const account_options *options, const account_plan *plan,
                       const account_price *price, const account_curve *curve) {
    cmd_output setting = {0}, what = {0};
    chart c = {.title = title(curve->of),
               .x = x_axis(curve),
               .y = {account_curve_y(curve->of),
                     curve->of == ACCOUNT_DELTA || is_wide(curve), 0.0, 0.0},
               .points = curve->count,
               .at = curve->x,
               .name = {"upper bound (valid)", "lower bound"},
               .line = {curve->upper, curve->lower}};
    bb_status status = cmd_output_open(&setting);
    if (!status) status = cmd_output_open(&what);
    if (!status) say_setting(options, plan, price, setting.stream);
    if (!status) account_say_plan(options, plan, what.stream);
    const bool broken = (setting.stream && fclose(setting.stream)) ||
                        (what.stream && fclose(what.stream));
    if (!status && broken) status = bb_fail(BB_ENOMEM, "no memory for the chart");
    if (!status && !chart_range(&c.y, curve->upper, curve->count))
        status =
            bb_fail(BB_EUSAGE, "account: the curve has no point that can be drawn");
    if (!status) {
        c.note[0] = setting.text;
        c.note[1] = what.text;
        status = chart_write(&c, options->plot);
    }
    free(setting.text);
    free(what.text);
    return status;
}
