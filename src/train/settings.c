#include "train/settings.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/random.h"
#include "methods/registry.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AXES = BB_SETTING_FLAGS - 1, MOST_SETTINGS = 10000, MOST_METHODS = 32 };

/* One option and its values. */
typedef struct axis {
    const char *name;
    size_t name_length;
    bool whole;       /* of a range: whole numbers */
    double low, high; /* of a range */
    size_t values;
    const char *value; /* the first; the others follow, each after a comma. NULL: a
                          range */
} axis;

typedef struct axes {
    size_t count;
    axis axis[MOST_AXES];
} axes;

/* A part of a text up to a sign, or to its end. */
static size_t part(const char *text, char sign) {
    const char *end = strchr(text, sign);
    return end ? (size_t)(end - text) : strlen(text);
}

static const bb_option *find_row(bb_options table, const axis *a) {
    const bb_option *row = table.row, *end = row + table.count;
    assert(a->name);
    for (; row < end; row++)
        if (strlen(row->name) == a->name_length &&
            strncmp(row->name, a->name, a->name_length) == 0)
            return row;
    return NULL;
}

/* -- the grid -- */

static bb_status read_bound(const char *text, size_t length, double *out) {
    char number[40];
    snprintf(number, sizeof number, "%.*s", (int)length, text);
    return length < sizeof number && bb_number_real(number, out) && *out > 0.0
               ? BB_OK
               : bb_fail(BB_EUSAGE,
                         "tune: a range is LOW..HIGH, both above 0, got "
                         "\"%.*s\"",
                         (int)length, text);
}

/* `text` is "name=values", `length` long. */
static bb_status read_axis(const char *text, size_t length, axis *out) {
    const char *equals = memchr(text, '=', length);
    if (!equals || equals == text || equals + 1 == text + length)
        return bb_fail(BB_EUSAGE,
                       "tune: --grid expects name=value,value,... or "
                       "name=low..high, got \"%.*s\"",
                       (int)length, text);
    axis a = {.name = text,
              .name_length = (size_t)(equals - text),
              .values = 1,
              .value = equals + 1};
    const char *end = text + length, *dots = strstr(a.value, "..");
    for (const char *c = a.value; c < end; c++) a.values += *c == ',';
    if (dots && dots < end) {
        bb_status status = read_bound(a.value, (size_t)(dots - a.value), &a.low);
        if (!status) status = read_bound(dots + 2, (size_t)(end - dots - 2), &a.high);
        if (!status && a.high < a.low)
            status = bb_fail(BB_EUSAGE, "tune: the range %.*s ends before it begins",
                             (int)(end - a.value), a.value);
        if (status) return status;
        a.value = NULL;
    }
    *out = a;
    return BB_OK;
}

static bb_status read_grid(const char *grid, axes *out) {
    while (grid && *grid) {
        const size_t length = part(grid, ';');
        if (out->count == MOST_AXES)
            return bb_fail(BB_EUSAGE, "tune: at most %d options at once", MOST_AXES);
        const bb_status status = read_axis(grid, length, &out->axis[out->count++]);
        if (status) return status;
        grid += length + (grid[length] == ';');
    }
    return BB_OK;
}

/* Its own positive numbers. */
static void default_axes(const bb_method *method, axes *out) {
    for (size_t k = 0; k < method->options.count && out->count < MOST_AXES; k++) {
        const bb_option *row = &method->options.row[k];
        const bool whole = row->kind == BB_OPTION_COUNT;
        double value = 0.0;
        if (!whole && row->kind != BB_OPTION_REAL) continue;
        if (!bb_number_real(row->fallback, &value) || !(value > 0.0)) continue;
        out->axis[out->count++] = (axis){.name = row->name,
                                         .name_length = strlen(row->name),
                                         .whole = whole,
                                         .low = fmax(row->least, 0.1 * value),
                                         .high = fmin(row->most, 10.0 * value)};
    }
}

/* Those of the grid that a run with this method has. */
static void axes_of(const bb_method *method, const axes *grid, axes *out) {
    *out = (axes){0};
    for (size_t k = 0; k < grid->count; k++) {
        const bb_option *own = find_row(method->options, &grid->axis[k]);
        const bb_option *row = find_row(bb_train_table(), &grid->axis[k]);
        if (!own && !row) continue;
        axis *a = &out->axis[out->count++];
        *a = grid->axis[k];
        a->whole = (row ? row : own)->kind == BB_OPTION_COUNT;
    }
}

static bb_status check_grid(const axes *grid, size_t methods,
                            const bb_method *const *method) {
    for (size_t k = 0; k < grid->count; k++) {
        bool known = find_row(bb_train_table(), &grid->axis[k]) != NULL;
        for (size_t i = 0; i < methods; i++)
            known = known || find_row(method[i]->options, &grid->axis[k]);
        if (!known)
            return bb_fail(BB_EUSAGE,
                           "tune: neither train nor %s%s has an option \"%.*s\"",
                           method[0]->name, methods > 1 ? " and the others" : "",
                           (int)grid->axis[k].name_length, grid->axis[k].name);
    }
    return BB_OK;
}

/* -- one setting -- */

static void free_setting(bb_setting *setting) {
    for (size_t f = 0; f < setting->flags; f++) {
        free((void *)(uintptr_t)setting->flag[f].name);
        free((void *)(uintptr_t)setting->flag[f].text);
    }
    *setting = (bb_setting){0};
}

static bb_status add_flag(bb_setting *setting, const char *name, const char *text) {
    char *own = NULL, *value = NULL;
    bb_status status = bb_duplicate(&own, name, strlen(name));
    if (!status) status = bb_duplicate(&value, text, strlen(text));
    if (status)
        free(own);
    else
        setting->flag[setting->flags++] = (bb_train_flag){own, value};
    return status;
}

static bb_status add_value(bb_setting *setting, const axis *a, const char *value,
                           size_t length) {
    char name[80], text[300];
    if (a->name_length >= sizeof name || length >= 200)
        return bb_fail(BB_EUSAGE, "tune: the value of %.*s is too long",
                       (int)a->name_length, a->name);
    snprintf(name, sizeof name, "%.*s", (int)a->name_length, a->name);
    snprintf(text, sizeof text, "%.*s", (int)length, value);
    if (find_row(bb_train_table(), a)) return add_flag(setting, name, text);
    snprintf(text, sizeof text, "%s=%.*s", name, (int)length, value);
    return add_flag(setting, "set", text);
}

static bb_status add_listed(bb_setting *setting, const axis *a, size_t k) {
    const char *value = a->value;
    assert(value);
    for (; k; k--) value += part(value, ',') + 1;
    const size_t comma = part(value, ','), end = part(value, ';');
    return add_value(setting, a, value, comma < end ? comma : end);
}

static bb_status add_drawn(bb_setting *setting, const axis *a, bb_random *random) {
    char text[40];
    const double at = bb_random_uniform(random);
    const double value = a->low * pow(a->high / a->low, at);
    if (a->whole)
        snprintf(text, sizeof text, "%.0f", fmax(1.0, rint(value)));
    else
        snprintf(text, sizeof text, "%.4g", value);
    return add_value(setting, a, text, strlen(text));
}

static bool same(const bb_setting *a, const bb_setting *b) {
    if (a->flags != b->flags) return false;
    for (size_t f = 0; f < a->flags; f++) {
        const bb_train_flag x = a->flag[f], y = b->flag[f];
        assert(x.name && x.text && y.name && y.text); /* add_flag */
        if (strcmp(x.name, y.name) != 0 || strcmp(x.text, y.text) != 0) return false;
    }
    return true;
}

/* Takes it over, also on failure; one that is there already is dropped. */
static bb_status keep(bb_settings *settings, bb_setting *setting) {
    bb_status status = BB_OK;
    bool known = false;
    for (size_t k = 0; k < settings->count && !known; k++)
        known = same(&settings->at[k], setting);
    if (!known)
        status = bb_grow(&settings->at, &settings->room, settings->count + 1,
                         sizeof *settings->at, "settings");
    if (known || status)
        free_setting(setting);
    else
        settings->at[settings->count++] = *setting;
    return status;
}

/* -- all of them -- */

static bb_status add_combination(bb_settings *settings, const bb_method *method,
                                 const axes *all, size_t number) {
    bb_setting setting = {0};
    bb_status status = add_flag(&setting, "method", method->name);
    for (size_t k = all->count; k-- && !status;) { /* the last one changes fastest */
        status = add_listed(&setting, &all->axis[k], number % all->axis[k].values);
        number /= all->axis[k].values;
    }
    if (!status) return keep(settings, &setting);
    free_setting(&setting);
    return status;
}

static bb_status add_combinations(bb_settings *settings, const bb_method *method,
                                  const axes *all) {
    size_t count = 1;
    bb_status status = BB_OK;
    for (size_t k = 0; k < all->count; k++) {
        if (!all->axis[k].value)
            return bb_fail(BB_EUSAGE,
                           "tune: %.*s has a range: with --random N settings are "
                           "drawn from it",
                           (int)all->axis[k].name_length, all->axis[k].name);
        if (count > MOST_SETTINGS / all->axis[k].values)
            return bb_fail(BB_EUSAGE, "tune: more than %d settings: take --random N",
                           MOST_SETTINGS);
        count *= all->axis[k].values;
    }
    for (size_t n = 0; n < count && !status; n++)
        status = add_combination(settings, method, all, n);
    return status;
}

static bb_status draw(bb_settings *settings, const bb_method *method, const axes *all,
                      bb_random *random) {
    bb_setting setting = {0};
    bb_status status = add_flag(&setting, "method", method->name);
    for (size_t k = 0; k < all->count && !status; k++) {
        const axis *a = &all->axis[k];
        if (!a->value)
            status = add_drawn(&setting, a, random);
        else
            status = add_listed(&setting, a, bb_random_below(random, a->values));
    }
    if (!status) return keep(settings, &setting);
    free_setting(&setting);
    return status;
}

/* Few combinations may be fewer than what was asked for. */
static bb_status draw_all(bb_settings *settings, size_t methods,
                          const bb_method *const *method, const axes *grid,
                          size_t count, uint64_t seed) {
    bb_random random;
    bb_status status = bb_random_open_stream(&random, seed, BB_FOR_TUNING, 0, 0);
    if (status) return status;
    for (size_t n = 0; n < 10 * count && settings->count < count && !status; n++) {
        const bb_method *m = method[bb_random_below(&random, methods)];
        axes own = {0};
        if (grid->count)
            axes_of(m, grid, &own);
        else
            default_axes(m, &own);
        status = draw(settings, m, &own, &random);
    }
    if (!status) status = bb_random_check(&random);
    bb_random_close(&random);
    return status;
}

static bb_status read_methods(const char *names, const bb_method **method,
                              size_t *count) {
    *count = 0;
    for (;;) {
        const size_t length = part(names, ',');
        char name[80];
        if (*count == MOST_METHODS)
            return bb_fail(BB_EUSAGE, "tune: at most %d methods", MOST_METHODS);
        snprintf(name, sizeof name, "%.*s", (int)length, names);
        method[*count] = bb_method_find(name);
        if (!method[(*count)++])
            return bb_fail(BB_EUSAGE,
                           "tune: there is no method \"%s\" (see `billboard "
                           "methods')",
                           name);
        if (!names[length]) return BB_OK;
        names += length + 1;
    }
}

bb_status bb_settings_open(bb_settings *settings, const char *methods, const char *grid,
                           size_t random, uint64_t seed) {
    const bb_method *method[MOST_METHODS];
    size_t count = 0;
    axes all = {0};
    bb_settings s = {0};
    bb_status status = read_methods(methods, method, &count);
    if (!status) status = read_grid(grid, &all);
    if (!status) status = check_grid(&all, count, method);
    if (!status && random > MOST_SETTINGS)
        status = bb_fail(BB_EUSAGE, "tune: at most %d settings", MOST_SETTINGS);
    if (!status && random) status = draw_all(&s, count, method, &all, random, seed);
    for (size_t i = 0; i < count && !status && !random; i++) {
        axes own = {0};
        axes_of(method[i], &all, &own);
        status = add_combinations(&s, method[i], &own);
    }
    if (!status && s.count > MOST_SETTINGS)
        status = bb_fail(BB_EUSAGE, "tune: more than %d settings: take --random N",
                         MOST_SETTINGS);
    if (status)
        bb_settings_close(&s);
    else
        *settings = s;
    return status;
}

void bb_settings_close(bb_settings *settings) {
    for (size_t k = 0; k < settings->count; k++) free_setting(&settings->at[k]);
    free(settings->at);
    *settings = (bb_settings){0};
}
