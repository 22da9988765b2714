/* Logistic regression on many clients: one epoch of minibatch SGD each (100 rows of 784
 * features, batches of 10), starting from zero.
 *
 *   bench_clients [threads [clients [ORDERS]]]
 *
 * Prints: threads, seconds of the descents, seconds of opening the problems (which
 * measures their curvature), sum of all parameters of all models. Clients are made in
 * blocks of 100, which does not count; a block does not fit into the caches. ORDERS
 * gets the order of the rows, a byte a row, for clients.py, which makes the same
 * clients. */
#include "base/parallel.h"
#include "base/random.h"
#include "learners/sgd.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 100, FEATURES = 784, BLOCK = 100, WORKERS = 64, SEED = 7 };
static const bb_sgd sgd = {.epochs = 1, .batch = 10, .rate = 0.01};

typedef struct block {
    uint64_t first; /* client */
    double *x, *y, *w, *work;
    size_t work_size;
    bb_local local[BLOCK];
    bb_random random[WORKERS];
} block;

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(bb_status status) {
    if (!status) return;
    fprintf(stderr, "bench_clients: %s: %s\n", bb_status_text(status), bb_last_error());
    exit(1);
}

static void *get(size_t count) {
    void *out = calloc(count, sizeof(double));
    if (!out) exit(1);
    return out;
}

/* splitmix64: the k-th draw of a client, in [0, 1). */
static double draw(uint64_t client, uint64_t k) {
    uint64_t z = (client << 32) + k * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void make(void *context, size_t item, size_t worker) {
    block *b = context;
    double *x = b->x + item * ROWS * FEATURES, *y = b->y + item * ROWS;
    (void)worker;
    for (uint64_t k = 0; k < ROWS * FEATURES; k++) x[k] = draw(b->first + item, k + 1);
    for (size_t j = 0; j < ROWS; j++)
        y[j] = x[j * FEATURES] > x[j * FEATURES + 1] ? 1 : -1;
    memset(b->w + item * FEATURES, 0, FEATURES * sizeof *b->w);
}

static void open_one(void *context, size_t item, size_t worker) {
    block *b = context;
    (void)worker;
    const bb_rows rows = {.n = ROWS,
                          .d = FEATURES,
                          .x = b->x + item * ROWS * FEATURES,
                          .y = b->y + item * ROWS};
    must(bb_local_open(b->local + item, rows, BB_LOSS_LOGISTIC, false, false));
}

static void descend(void *context, size_t item, size_t worker) {
    block *b = context;
    bb_random *random = b->random + worker;
    must(bb_random_restart(random, SEED, BB_FOR_TEST, b->first + item, 0));
    bb_local_descend(b->local + item, &sgd, &(bb_pull){0}, random,
                     b->w + item * FEATURES, NULL, b->work + worker * b->work_size);
}

static void write_orders(uint64_t clients, const char *path) {
    FILE *file = fopen(path, "wb");
    bb_random random;
    if (!file) exit(1);
    must(bb_random_open_stream(&random, SEED, BB_FOR_TEST, 0, 0));
    for (uint64_t i = 0; i < clients; i++) {
        size_t index[ROWS];
        for (size_t j = 0; j < ROWS; j++) index[j] = j;
        must(bb_random_restart(&random, SEED, BB_FOR_TEST, i, 0));
        bb_random_shuffle(&random, index, ROWS);
        for (size_t j = 0; j < ROWS; j++) fputc((int)index[j], file);
    }
    bb_random_close(&random);
    if (fclose(file)) exit(1);
}

int main(int count, char **word) {
    const size_t threads = count > 1 ? strtoul(word[1], NULL, 10) : 1;
    const uint64_t clients = count > 2 ? strtoull(word[2], NULL, 10) : 10000;
    static block b;
    double opening = 0, wall = 0, processor = 0, sum = 0;
    must(bb_linalg_start());
    const bb_engine engine = bb_engine_threads(threads < WORKERS ? threads : WORKERS);
    if (count > 3) write_orders(clients, word[3]);
    b.x = get((size_t)BLOCK * ROWS * FEATURES);
    b.y = get(BLOCK * ROWS);
    b.w = get(BLOCK * FEATURES);
    b.work_size = bb_sgd_work(
        &(bb_local){
            .n = ROWS, .d = FEATURES, .outputs = 1, .length = FEATURES, .x = b.x},
        &sgd);
    b.work = get(engine.workers * b.work_size);
    for (size_t k = 0; k < engine.workers; k++)
        must(bb_random_open_stream(b.random + k, SEED, BB_FOR_TEST, 0, 0));
    for (; b.first < clients; b.first += BLOCK) {
        engine.each(&engine, BLOCK, make, &b);
        opening -= now(CLOCK_MONOTONIC);
        engine.each(&engine, BLOCK, open_one, &b);
        opening += now(CLOCK_MONOTONIC);
        wall -= now(CLOCK_MONOTONIC);
        processor -= now(CLOCK_PROCESS_CPUTIME_ID);
        engine.each(&engine, BLOCK, descend, &b);
        processor += now(CLOCK_PROCESS_CPUTIME_ID);
        wall += now(CLOCK_MONOTONIC);
        for (size_t k = 0; k < BLOCK * FEATURES; k++) sum += b.w[k];
        for (size_t i = 0; i < BLOCK; i++) bb_local_close(b.local + i);
    }
    printf("%zu %.4f %.4f %.4f %.12g\n", engine.workers, wall, processor, opening, sum);
    for (size_t k = 0; k < engine.workers; k++) bb_random_close(b.random + k);
    free(b.x);
    free(b.y);
    free(b.w);
    free(b.work);
    return 0;
}
