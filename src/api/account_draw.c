#include "api/call.h"
#include "base/memory.h"
#include "report/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far apart epsilons are before they get a logarithmic axis. */
#define WIDE 20.0

/* What a curve is over, and what of. */
typedef struct axes {
    const char *title, *x, *y;
} axes;

static bb_status find_axes(const char *curve, axes *out) {
    static const struct {
        const char *name;
        axes axes;
    } known[] = {{"epsilon", {"What each δ costs in ε", "delta", "epsilon"}},
                 {"delta", {"What each ε costs in δ", "epsilon", "delta"}},
                 {"rounds", {"ε as rounds go by", "rounds", "epsilon"}}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(known[k].name, curve) == 0) {
            *out = known[k].axes;
            return BB_OK;
        }
    return bb_fail(BB_EUSAGE, "a curve is epsilon, delta or rounds, got \"%s\"", curve);
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

static double number_of(const billboard_answer *price, size_t k, const char *name) {
    char path[80];
    snprintf(path, sizeof path, "curve.%zu.%s", k, name);
    return billboard_answer_number(price, path);
}

/* A bound that is not known, or that there is not, is no point of a line. */
static double lower_of(const billboard_answer *price, size_t k, const char *name) {
    char lower[40];
    snprintf(lower, sizeof lower, "%s_lower", name);
    return number_of(price, k, "lower_known") > 0.0 ? number_of(price, k, lower) : NAN;
}

static bb_status draw(const billboard_answer *price, const axes *a, size_t count,
                      double *x, const char *setting, const char *path) {
    double *upper = x + count, *lower = upper + count;
    for (size_t k = 0; k < count; k++) {
        x[k] = number_of(price, k, a->x);
        upper[k] = number_of(price, k, a->y);
        lower[k] = lower_of(price, k, a->y);
    }
    const bool delta = strcmp(a->y, "delta") == 0;
    bb_chart drawn = {
        .title = a->title,
        .note = {setting, billboard_answer_text(price, "plan_text")},
        .x = {.title = a->x, .log = !delta, .least = x[0], .most = x[count - 1]},
        .y = {.title = a->y, .log = delta || is_wide(upper, count)},
        .points = count,
        .at = x,
        .name = {"upper bound (valid)", "lower bound"},
        .line = {upper, lower}};
    if (!bb_axis_cover(&drawn.y, upper, count, true))
        return bb_fail(BB_EUSAGE, "account: the curve has no point that can be drawn");
    return bb_chart_write(&drawn, path);
}

static bb_status say_setting(const billboard_answer *price, const axes *a,
                             char **setting) {
    bb_words words;
    const bb_status status = bb_words_open(&words);
    if (status || !words.stream) return status;
    fprintf(words.stream, "adjacency %s, sampling %s",
            billboard_answer_text(price, "adjacency"),
            billboard_answer_text(price, "sampling_text"));
    if (strcmp(a->x, "rounds") == 0)
        fprintf(words.stream, ", delta %.6g", billboard_answer_number(price, "delta"));
    return bb_words_close(&words, setting);
}

static bb_status account_draw(const billboard_answer *price, const char *curve,
                              const char *path) {
    const size_t count = billboard_answer_count(price, "curve");
    axes a = {"", "", ""};
    char *setting = NULL;
    double *x = NULL;
    bb_status status = find_axes(curve, &a);
    if (!status && count == 0)
        status = bb_fail(BB_EUSAGE, "account: the price has no curve to draw");
    if (!status) status = bb_allocate(&x, 3 * count, sizeof *x, "a chart");
    if (!status) status = say_setting(price, &a, &setting);
    if (!status && x) status = draw(price, &a, count, x, setting, path);
    free(setting);
    free(x);
    return status;
}

billboard_status billboard_account_draw(const billboard_answer *price,
                                        const char *curve, const char *path) {
    static const char function[] = "billboard_account_draw";
    bb_call call;
    bb_status status = bb_call_begin(&call, false);
    if (!status) status = bb_call_given(price, function, "price");
    if (!status) status = bb_call_given(curve, function, "curve");
    if (!status) status = bb_call_given(path, function, "path");
    if (!status) status = account_draw(price, curve, path);
    return bb_call_end(&call, status);
}
