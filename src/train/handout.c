#include "train/handout.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "learners/loss.h"
#include "models/limits.h"
#include "train/intervals.h"
#include "train/trained.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* -- a folder with models
 * ------------------------------------------------------------------ */

static const char statement[] =
    "each row belongs to its task alone: hand it to that task and to nobody else; "
    "publishing all rows is not covered by the privacy statement";

/* How a row of models.csv scores a row of the data, in words. */
static const char *score_of(const bb_preprocess *steps) {
    if (steps->rows == BB_ROWS_UNIT && steps->range)
        return "intercept + (sum of weight * z) / n: z = 2 (v - low) / (high - low) - "
               "1 with "
               "v = the value moved to the border of its range [low, high] of "
               "preprocessing.json (z = 0 where low = high), z = 1 for a column "
               "(intercept), and n = the square root of the sum of z * z (1 if that is "
               "0)";
    if (steps->rows == BB_ROWS_UNIT)
        return "intercept + (sum of weight * z) / n: z = the value as it is in the "
               "data, "
               "z = 1 for a column (intercept), and n = the square root of the sum of "
               "z * z (1 if that is 0)";
    if (steps->folded && steps->range && steps->reach > 1)
        return "intercept + sum of weight * value: values as they are in the data, but "
               "one farther from the middle of its range in preprocessing.json than "
               "\"reach\" times half the range is moved to there";
    if (steps->folded && steps->range)
        return "intercept + sum of weight * value: values as they are in the data, but "
               "one outside its range in preprocessing.json is moved to the border";
    return "intercept + sum of weight * value: values as they are in the data";
}

static const char *prediction_of(const bb_models *models, bb_loss loss) {
    if (loss == BB_LOSS_LOGISTIC)
        return "1 / (1 + exp(-score)): the probability of the larger label";
    return models->limit
               ? "score, moved to the nearer of the task's limits in " BB_LIMITS_FILE
                 " where it is beyond them"
               : "score";
}

static json_t *about(const bb_models *models, bb_loss loss,
                     const bb_preprocess *steps) {
    return json_pack("{s:s,s:s,s:s,s:s,s:s}", "file", "models.csv", "statement",
                     statement, "loss", bb_loss_name(loss), "score", score_of(steps),
                     "prediction", prediction_of(models, loss));
}

static bb_status write_json(const char *folder, const char *name, json_t *json) {
    char *path = NULL;
    bb_status status = bb_file_join(&path, folder, name);
    if (!status) status = bb_json_write_file(path, json);
    json_decref(json);
    free(path);
    return status;
}

static bb_status write_limits(const char *folder, const bb_models *models) {
    char *path = NULL;
    if (!models->limit) return BB_OK;
    bb_status status = bb_file_join(&path, folder, BB_LIMITS_FILE);
    if (!status) status = bb_limits_write(models, path);
    free(path);
    return status;
}

bb_status bb_handout_write(const char *folder, const bb_models *models,
                           const bb_piece *lines, bb_loss loss,
                           const bb_preprocess *steps) {
    char *path = NULL;
    bb_status status =
        write_json(folder, "preprocessing.json", bb_preprocess_json(steps));
    if (!status && models->intercept)
        status = write_json(folder, "models.json", about(models, loss, steps));
    if (!status) status = write_limits(folder, models);
    if (!status) status = bb_file_join(&path, folder, bb_models_file(models));
    if (!status) status = bb_models_write_lines(models, lines, steps->threads, path);
    free(path);
    return status;
}

bb_status bb_handout_intervals(const char *folder, const bb_models *intervals) {
    char *path = NULL;
    if (!intervals->tasks) return BB_OK;
    bb_status status = bb_file_join(&path, folder, BB_INTERVALS_FILE);
    if (!status) status = bb_models_write(intervals, path);
    free(path);
    return status;
}

/* -- one task's model
 * ---------------------------------------------------------------------- */

static bb_status failed(const char *path, const char *deed) {
    return bb_fail(BB_EIO, "%s: cannot be %s: %s", path, deed, strerror(errno));
}

static bb_status copy_bytes(FILE *from, const char *source, FILE *to,
                            const char *path) {
    char bytes[1 << 14];
    size_t got;
    while ((got = fread(bytes, 1, sizeof bytes, from)) > 0)
        if (fwrite(bytes, 1, got, to) != got) return failed(path, "written");
    return ferror(from) ? failed(source, "read") : BB_OK;
}

static bb_status copy_file(const char *source, const char *path) {
    FILE *from = fopen(source, "rb");
    if (!from) return failed(source, "opened");
    FILE *to = fopen(path, "wb");
    bb_status status =
        to ? copy_bytes(from, source, to, path) : failed(path, "created");
    if (to && fclose(to) && !status) status = failed(path, "written");
    fclose(from);
    return status;
}

/* Copies RUN/public/NAME, a plain file, to DIR/public. */
static bb_status copy_public(const char *from, const char *to, const char *name) {
    char *source = NULL, *path = NULL;
    struct stat what;
    bb_status status = bb_file_join(&source, from, name);
    if (!status) status = bb_file_join(&path, to, name);
    if (!status && lstat(source, &what)) status = failed(source, "looked at");
    if (!status && S_ISREG(what.st_mode)) status = copy_file(source, path);
    free(source);
    free(path);
    return status;
}

static bb_status copy_half(const char *from, const char *to) {
    bb_status status = BB_OK;
    DIR *folder = opendir(from);
    if (!folder) return failed(from, "opened");
    if (mkdir(to, 0777)) status = failed(to, "created");
    for (struct dirent *e; !status && (e = readdir(folder));)
        if (*e->d_name != '.') status = copy_public(from, to, e->d_name);
    closedir(folder);
    return status;
}

static bb_status fill(const bb_trained *t, const bb_models *own,
                      const bb_models *intervals, const char *run, const char *dir) {
    char *from = NULL, *to = NULL, *task = NULL;
    bb_status status = bb_file_join(&from, run, "public");
    if (!status) status = bb_file_join(&to, dir, "public");
    if (!status) status = bb_file_join(&task, dir, BB_TRAINED_TASK);
    if (!status) status = copy_half(from, to);
    if (!status && mkdir(task, 0700)) status = failed(task, "created");
    if (!status) status = bb_handout_write(task, own, NULL, t->loss, &t->steps);
    if (!status) status = bb_handout_intervals(task, intervals);
    free(from);
    free(to);
    free(task);
    return status;
}

static bb_status find_task(const bb_models *m, const char *run, const char *task,
                           size_t *at) {
    for (*at = 0; *at < m->tasks; ++*at)
        if (strcmp(m->task_name[*at], task) == 0) return BB_OK;
    return bb_fail(BB_EDATA, "%s: has no task \"%s\"", run, task);
}

bb_status bb_handout_export(const char *run, const char *task, const char *dir) {
    bb_trained t = {0};
    bb_models own = {0}, intervals = {0};
    char *temporary = NULL;
    size_t at = 0;
    bb_status status = bb_trained_open(&t, run);
    if (!status) status = find_task(&t.models, run, task, &at);
    if (!status) status = bb_models_select(&own, &t.models, at);
    if (!status && t.intervals.tasks) status = find_task(&t.intervals, run, task, &at);
    if (!status && t.intervals.tasks)
        status = bb_models_select(&intervals, &t.intervals, at);
    if (!status) status = bb_directory_begin(&temporary, dir);
    if (!status) status = fill(&t, &own, &intervals, run, temporary);
    if (!status) status = bb_directory_commit(temporary, dir);
    struct stat there;
    if (status && temporary && lstat(temporary, &there) == 0)
        (void)!bb_directory_discard(temporary);
    free(temporary);
    bb_models_free(&own);
    bb_models_free(&intervals);
    bb_trained_close(&t);
    return status;
}
