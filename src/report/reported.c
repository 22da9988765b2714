#include "report/reported.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "train/rundir.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- reading -- */

/* *name: PATH/inside, or NULL if there is no such file. */
static bb_status find(const bb_reported *r, const char *inside, char **name) {
    const bb_status status = bb_file_join(name, r->path, inside);
    if (status || access(*name, F_OK) == 0) return status;
    free(*name);
    *name = NULL;
    return BB_OK;
}

static bb_status read_table(const bb_reported *r, const char *inside, bb_table *table) {
    char *name = NULL;
    bb_status status = find(r, inside, &name);
    if (!status && name) status = bb_table_read(table, name);
    free(name);
    return status;
}

static bb_status read_json(const bb_reported *r, const char *inside, json_t **json) {
    char *name = NULL;
    bb_status status = find(r, inside, &name);
    if (!status && name) status = bb_json_read_file(json, name);
    free(name);
    return status;
}

/* The operator's half is not there where only the public one was handed on. */
static bb_status read_operator(bb_reported *r) {
    bb_status status = read_json(r, "operator/run.json", &r->run);
    if (!status && r->run) status = read_table(r, "operator/tasks.csv", &r->tasks);
    if (!status && r->run) status = read_table(r, "operator/trace.csv", &r->trace);
    return status;
}

/* 64-bit numbers, least significant byte first. */
static double number_at(const uint8_t *byte) {
    uint64_t bits = 0;
    double value;
    for (unsigned k = 0; k < 8; k++) bits |= (uint64_t)byte[k] << (8 * k);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bb_status read_billboard(bb_reported *r) {
    char *name = NULL;
    uint8_t *byte = NULL;
    size_t size = 0;
    bb_status status = find(r, "public/billboard.bin", &name);
    if (!status && name) status = bb_file_read(name, &byte, &size);
    if (!status && name)
        status = bb_allocate(&r->billboard, size / 8, sizeof *r->billboard, name);
    if (!status && r->billboard) {
        r->numbers = size / 8;
        for (size_t k = 0; k < r->numbers; k++)
            r->billboard[k] = number_at(byte + 8 * k);
    }
    free(byte);
    free(name);
    return status;
}

static bb_status read_public(bb_reported *r) {
    bb_status status = bb_rundir_read(r->path, "public/options.json", &r->options);
    if (!status) status = bb_rundir_read(r->path, "public/privacy.json", &r->privacy);
    if (!status) status = bb_rundir_read(r->path, "public/billboard.json", &r->index);
    if (!status) status = read_json(r, "public/effects.json", &r->effects);
    if (!status) status = read_billboard(r);
    return status;
}

bb_status bb_reported_open(bb_reported *out, const char *path) {
    bb_reported r = {0};
    bb_status status = bb_duplicate(&r.path, path, strlen(path));
    if (!status) status = read_public(&r);
    if (!status) status = read_operator(&r);
    if (status)
        bb_reported_close(&r);
    else
        *out = r;
    return status;
}

void bb_reported_close(bb_reported *r) {
    free(r->path);
    free(r->billboard);
    json_decref(r->run);
    json_decref(r->privacy);
    json_decref(r->options);
    json_decref(r->index);
    json_decref(r->effects);
    bb_table_free(&r->tasks);
    bb_table_free(&r->trace);
    *r = (bb_reported){0};
}

/* -- asking -- */

double bb_reported_number(const json_t *json, const char *path) {
    const json_t *at = bb_json_at(json, path);
    return json_is_number(at) ? json_number_value(at) : NAN;
}

const char *bb_reported_text(const json_t *json, const char *path) {
    return json_string_value(bb_json_at(json, path));
}

/* -- figures -- */

/* Where a run's JSON has whom it is compared with: what holds the metrics, and what the
 * run gains over it (NULL: nobody counts that), and the interval of its figure. */
static const struct {
    const char *name, *test, *gain, *interval;
} known[BB_AGAINSTS] = {
    {"every task alone", "compare.stl.test", "compare.gain.stl", "stl"},
    {"one model for all", "compare.pooled.test", "compare.gain.pooled", "pooled"},
    {"a mixed model", "compare.mixed.test", "compare.gain.mixed", "mixed"},
    {"this method, no privacy", "compare.no-privacy.test", NULL, "no-privacy"},
    {"always the mean, or the commonest class", "compare.mean", NULL, NULL},
};
static const char majority[] = "majority"; /* with classes, in place of the mean */

const char *bb_against_name(bb_against whom) {
    return known[whom].name;
}

static double member(const json_t *run, const char *where, const char *name) {
    return bb_reported_number(bb_json_at(run, where), name);
}

static void read_range(const json_t *where, const char *name, double range[2]) {
    const json_t *list = name ? bb_json_at(where, name) : NULL;
    for (size_t k = 0; k < 2; k++) {
        const json_t *end = json_array_get(list, k);
        range[k] = json_is_number(end) ? json_number_value(end) : NAN;
    }
}

static bb_figure figure_of(const json_t *run, bb_against whom, const char *metric) {
    const json_t *gain = known[whom].gain ? bb_json_at(run, known[whom].gain) : NULL;
    const bool classes = whom == BB_AGAINST_MEAN && strcmp(metric, "nmse") != 0;
    bb_figure f = {.value = member(run, classes ? majority : known[whom].test, metric),
                   .gain = bb_reported_number(gain, "improvement"),
                   .share = bb_reported_number(gain, "share_better")};
    read_range(bb_json_at(run, "compare.intervals"), known[whom].interval, f.range);
    read_range(gain, "improvement_interval", f.gain_range);
    read_range(gain, "share_better_interval", f.share_range);
    return f;
}

bb_result_figures bb_reported_figures(const bb_reported *r) {
    static const char *const metric[][2] = {
        {"nmse", "nMSE"}, {"auc", "AUC"}, {"accuracy", "accuracy"}, {"f1", "F1"}};
    static const char *const loss[] = {"squared", "logistic", "softmax", "multilabel"};
    const char *own = bb_reported_text(r->run, "loss");
    size_t k = 0;
    while (own && k < 3 && strcmp(loss[k], own) != 0) k++;
    bb_result_figures f = {.metric = metric[k][0],
                           .title = metric[k][1],
                           .less_is_better = k == 0,
                           .train = member(r->run, "train", metric[k][0]),
                           .test = member(r->run, "test", metric[k][0])};
    read_range(bb_json_at(r->run, "compare.intervals"), "test", f.test_range);
    for (bb_against whom = 0; whom < BB_AGAINSTS; whom++)
        f.against[whom] = figure_of(r->run, whom, f.metric);
    return f;
}
