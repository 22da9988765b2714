#include "data/split.h"

#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sets keep[] of one task's n rows that train. */
static bb_status draw(bb_random *random, uint64_t seed, const char *task, size_t n,
                      double fraction, size_t *order, unsigned char *keep) {
    const double share = rint(fraction * (double)n);
    const size_t training = share < 1 ? 1 : (size_t)share;
    if (training >= n) { /* nothing is drawn */
        memset(keep, 1, n);
        return BB_OK;
    }
    uint64_t key;
    bb_status status = bb_random_key(task, &key);
    if (!status) status = bb_random_restart(random, seed, BB_FOR_SPLIT, key, 0);
    if (status) return status;
    for (size_t j = 0; j < n; j++) order[j] = j;
    bb_random_shuffle(random, order, n);
    for (size_t j = 0; j < training; j++) keep[order[j]] = 1;
    return bb_random_check(random);
}

static bb_status draw_all(const bb_dataset *data, double fraction, uint64_t seed,
                          unsigned char *keep) {
    bb_random random = {0};
    size_t *order = NULL;
    bb_status status = bb_allocate(&order, data->rows, sizeof *order, "a split");
    if (status) return status;
    status = bb_random_open_stream(&random, seed, BB_FOR_SPLIT, 0, 0);
    for (size_t i = 0; !status && i < data->tasks; i++)
        status =
            draw(&random, seed, data->task_name[i], data->first[i + 1] - data->first[i],
                 fraction, order, keep + data->first[i]);
    bb_random_close(&random);
    free(order);
    return status;
}

bb_status bb_split(const bb_dataset *data, double fraction, uint64_t seed,
                   bb_dataset *train, bb_dataset *test, size_t *untested) {
    if (!(fraction > 0 && fraction <= 1))
        return bb_fail(BB_EUSAGE, "the training fraction must be in (0, 1], got %g",
                       fraction);
    bb_dataset training = {0}, other = {0};
    unsigned char *keep = NULL;
    bb_status status = bb_allocate(&keep, data->rows, 1, "a split");
    if (!status) status = draw_all(data, fraction, seed, keep);
    if (!status) status = bb_dataset_select(data, keep, &training);
    for (size_t r = 0; !status && r < data->rows; r++) keep[r] = !keep[r];
    if (!status) status = bb_dataset_select(data, keep, &other);
    free(keep);
    if (status) {
        bb_dataset_free(&training);
        return status;
    }
    size_t count = 0;
    for (size_t i = 0; i < data->tasks; i++)
        count += training.first[i] < training.first[i + 1] &&
                 other.first[i] == other.first[i + 1];
    if (untested) *untested = count;
    *train = training;
    *test = other;
    return BB_OK;
}
