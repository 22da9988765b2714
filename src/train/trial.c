#include "train/trial.h"

#include "base/memory.h"
#include "base/random.h"
#include "data/preprocess.h"
#include "learners/sgd.h"
#include "train/locals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 }; /* rows that are judged at once */

typedef struct trial {
    const bb_trial *asked;
    bb_engine engine; /* one task is done by one worker */
    bb_preprocess steps;
    bb_dataset kept, out; /* as these models see them */
    bb_local *from, *to;  /* tasks: their problems */
    size_t work_length;
    double *work;      /* workers x work_length */
    bb_random *random; /* workers; networks only */
    size_t random_open;
    bb_hits *found;         /* tasks x count x stages; or, with `test`: */
    const bb_dataset *test; /* whose tasks rows are counted for */
    bb_hits *hits;          /* test->tasks */
    double *prediction;     /* test->rows; losses of one output */
} trial;

/* -- opening -- */

static bool is_linear(const trial *t) {
    return !t->asked->what->net;
}

/* Networks look at rows as they are. */
static bb_status prepare(trial *t) {
    const bb_trial *a = t->asked;
    const bb_preprocess_options options = {
        .standardize = a->columns == BB_COLUMNS_STANDARDIZED ? BB_STANDARDIZE_TASK
                                                             : BB_STANDARDIZE_NONE,
        .constant = true,
        .threads = t->engine.workers};
    if (!is_linear(t)) {
        t->kept = *a->kept;
        t->out = *a->out;
        return BB_OK;
    }
    bb_status status = bb_preprocess_open(&t->steps, &options, a->kept);
    if (!status) status = bb_preprocess_apply(&t->steps, a->kept, false, &t->kept);
    if (!status) status = bb_preprocess_apply(&t->steps, a->out, false, &t->out);
    return status;
}

static bb_status open_locals(trial *t) {
    const bb_learnt *what = t->asked->what;
    const bb_public pub = {
        .loss = what->loss, .outputs = what->outputs, .scale_sum = is_linear(t)};
    bb_status status =
        bb_locals_open(&t->from, NULL, &t->kept, &pub, what->net, false, &t->engine);
    if (!status)
        status =
            bb_locals_open(&t->to, NULL, &t->out, &pub, what->net, false, &t->engine);
    return status;
}

static bb_sgd descent_of(const trial *t, size_t value, uint64_t epochs) {
    return (bb_sgd){
        .epochs = epochs, .batch = BB_TRIAL_BATCH, .rate = t->asked->value[value]};
}

static bb_status open_work(trial *t) {
    const size_t outputs = t->asked->what->outputs;
    const bb_sgd sgd = descent_of(t, 0, 1);
    for (size_t i = 0; i < t->kept.tasks; i++) {
        const bb_local *from = &t->from[i], *to = &t->to[i];
        const size_t learn =
            is_linear(t) ? bb_local_ridge_outputs_work(from) : bb_sgd_work(from, &sgd);
        t->work_length =
            bb_larger(t->work_length, from->length + to->length + BLOCK * outputs +
                                          bb_larger(learn, bb_local_outputs_work(to)));
    }
    bb_status status = bb_allocate(&t->work, t->engine.workers * t->work_length,
                                   sizeof *t->work, "the baselines");
    if (!status && !is_linear(t))
        status = bb_allocate(&t->random, t->engine.workers, sizeof *t->random,
                             "the baselines");
    for (size_t w = 0; !status && t->random && w < t->engine.workers; w++) {
        status =
            bb_random_open_stream(&t->random[w], t->asked->seed, BB_FOR_FOLDS, 0, 0);
        t->random_open += !status;
    }
    return status;
}

static bb_status open_trial(trial *t, const bb_trial *asked) {
    *t = (trial){.asked = asked,
                 .engine =
                     asked->kept->tasks > 1 ? *asked->engine : bb_engine_threads(1)};
    bb_status status = prepare(t);
    if (!status) status = open_locals(t);
    return status ? status : open_work(t);
}

static void close_trial(trial *t) {
    if (t->from) bb_locals_close(t->from, NULL, t->kept.tasks);
    if (t->to) bb_locals_close(t->to, NULL, t->out.tasks);
    if (is_linear(t)) {
        bb_dataset_free(&t->kept);
        bb_dataset_free(&t->out);
    }
    for (size_t w = 0; w < t->random_open; w++) bb_random_close(&t->random[w]);
    bb_preprocess_free(&t->steps);
    free(t->random);
    free(t->work);
    free(t->found);
    free(t->hits);
    free(t->prediction);
}

/* -- judging -- */

/* A sparse task's model has rows for the features that its rows touch: those for other
 * rows, zero where they touch another one. */
static const double *carry(const bb_local *from, const bb_local *to, const double *w,
                           double *room) {
    const size_t outputs = from->outputs;
    if (!to->touched) return w;
    for (size_t a = 0, b = 0; b < to->touched_count; b++) {
        while (a < from->touched_count && from->touched[a] < to->touched[b]) a++;
        const bool there =
            a < from->touched_count && from->touched[a] == to->touched[b];
        if (there)
            memcpy(room + b * outputs, w + a * outputs, outputs * sizeof *w);
        else
            memset(room + b * outputs, 0, outputs * sizeof *w);
    }
    return room;
}

/* Counts a row for its task. */
static void count(trial *t, bb_hits *hits, size_t row, const double *z) {
    const bb_learnt *what = t->asked->what;
    if (!bb_loss_is_single(what->loss)) {
        bb_hits_add(hits, what->loss, what->outputs, &t->out, row, z);
        return;
    }
    if (t->prediction) t->prediction[row] = *z;
    hits->loss += bb_row_loss(what->loss, t->out.y[row], *z);
}

/* Counts task i's held-out rows, for the item or, in a test, for whose they are. */
static void judge(trial *t, size_t i, size_t item, const double *w, double *room) {
    const bb_local *to = &t->to[i];
    const size_t outputs = to->outputs;
    double *z = room + to->length, *work = z + BLOCK * outputs;
    const double *own = carry(&t->from[i], to, w, room);
    size_t task = t->out.tasks == 1 ? 0 : i; /* one model for all of the test's tasks */
    for (size_t j = 0; j < to->n; j += BLOCK) {
        const size_t rows = to->n - j < BLOCK ? to->n - j : BLOCK;
        bb_local_outputs(to, own, j, rows, z, work);
        for (size_t r = 0; r < rows; r++) {
            const size_t row = t->out.first[i] + j + r;
            while (t->test && row >= t->test->first[task + 1]) task++;
            count(t, t->test ? &t->hits[task] : &t->found[item], row, z + r * outputs);
        }
    }
}

/* -- learning -- */

/* Further passes over task i's rows, from epoch `before` on. */
static void descend(trial *t, size_t i, size_t value, uint64_t before, uint64_t epochs,
                    bb_random *random, double *w, double *work) {
    const bb_sgd sgd = descent_of(t, value, epochs - before);
    uint64_t key;
    if (bb_random_key(t->kept.task_name[i], &key) ||
        bb_random_restart(random, t->asked->seed, BB_FOR_FOLDS, key, 1 + before))
        bb_random_fail(random, "it did not restart");
    bb_local_descend(&t->from[i], &sgd, &(bb_pull){0}, random, w, NULL, work);
}

static bool is_stopped(const trial *t) {
    return t->asked->stop && *t->asked->stop;
}

static void try_one(void *context, size_t item, size_t worker) {
    trial *t = context;
    const bb_trial *a = t->asked;
    const size_t i = item / a->count, k = item % a->count;
    const bb_local *from = &t->from[i];
    double *w = t->work + worker * t->work_length, *work = w + from->length;
    const bool free_last = a->columns != BB_COLUMNS_FROM_ZERO;
    if (is_stopped(t)) return;
    if (is_linear(t))
        bb_local_ridge_outputs(from, a->value[k], NULL, free_last, w, work);
    else
        memcpy(w, a->what->start, from->length * sizeof *w);
    for (size_t s = 0; s < a->stages && !is_stopped(t); s++) {
        if (!is_linear(t))
            descend(t, i, k, s ? a->epochs[s - 1] : 0, a->epochs[s], &t->random[worker],
                    w, work);
        if (!t->test || s + 1 == a->stages) judge(t, i, item * a->stages + s, w, work);
    }
}

static bb_status try_all(trial *t) {
    bb_status status = BB_OK;
    t->engine.each(&t->engine, t->kept.tasks * t->asked->count, try_one, t);
    for (size_t w = 0; w < t->random_open && !status; w++)
        status = bb_random_check(&t->random[w]);
    if (!status && is_stopped(t))
        status = bb_fail(BB_EINTERRUPTED, "stopped before the end");
    return status;
}

static void add_tally(bb_hits *sum, const bb_hits *one) {
    sum->rows += one->rows;
    sum->right += one->right;
    sum->wrong += one->wrong;
    sum->missed += one->missed;
    sum->early += one->early;
    sum->loss += one->loss;
}

bb_status bb_trial_count(const bb_trial *asked, bb_hits *hits) {
    const size_t tried = asked->count * asked->stages;
    trial t;
    bb_status status = open_trial(&t, asked);
    if (!status)
        status = bb_allocate(&t.found, asked->kept->tasks * tried, sizeof *t.found,
                             "the baselines");
    if (!status) status = try_all(&t);
    for (size_t k = 0; !status && k < asked->kept->tasks * tried; k++)
        add_tally(&hits[k % tried], &t.found[k]); /* always in one order */
    close_trial(&t);
    return status;
}

bb_status bb_trial_assess(const bb_trial *asked, const bb_dataset *test,
                          bb_assessed *assessed) {
    const bb_loss loss = asked->what->loss;
    const bool numbers = bb_loss_is_single(loss);
    trial t;
    bb_status status = open_trial(&t, asked);
    t.test = test;
    if (!status)
        status = bb_allocate(&t.hits, test->tasks, sizeof *t.hits, "the baselines");
    if (!status && numbers)
        status = bb_allocate(&t.prediction, test->rows, sizeof *t.prediction,
                             "the baselines");
    if (!status) status = try_all(&t);
    if (!status)
        status = numbers ? bb_assess_predictions(loss, test, t.prediction, assessed)
                         : bb_assess_tallies(loss, test->tasks, t.hits, assessed);
    close_trial(&t);
    return status;
}
