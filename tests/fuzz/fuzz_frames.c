/* Frames of silos and the curator, and what they saved: bytes of anybody's. The first byte
 * says what the rest is. */
#include "core/curator.h"
#include "core/silo.h"
#include "linalg/linalg.h"
#include "methods/registry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TASKS = 3, ROWS = 4, FEATURES = 2 };

static const double x[] = {1, 0, 0, 1, .6, .8, .8, -.6}, y[] = {1, 2, 3, 1};

typedef struct world {
    bb_local local[TASKS];
    void *options;
    bb_engine engine;
    bb_run run;
    bb_silo *silo;
    bb_curator *curator;
} world;

static void require(bool condition) {
    if (!condition) abort();
}

static void open_world(world *w, bool drawn) {
    const bb_method *method = &bb_method_fedavg;
    const bb_rows rows = {.n = ROWS, .d = FEATURES, .x = x, .y = y};
    *w = (world){.engine = bb_engine_threads(1)};
    require(!bb_linalg_start());
    for (size_t i = 0; i < TASKS; i++)
        require(!bb_local_open(&w->local[i], rows, BB_LOSS_SQUARED, false, false));
    w->options = calloc(1, method->options_size);
    require(w->options && !bb_options_default(method->options, w->options));
    w->run =
        (bb_run){.phases = 1,
                 .phase = {{.method = method, .options = w->options, .rounds = 3}},
                 .pub = {.tasks = TASKS,
                         .features = FEATURES,
                         .parameters = FEATURES,
                         .outputs = 1,
                         .clusters = 1,
                         .loss = BB_LOSS_SQUARED,
                         .adjacency = BB_REPLACE_ONE,
                         .epsilon = drawn ? INFINITY : 1.0,
                         .delta = 1e-5,
                         .sampling = drawn ? BB_SAMPLING_FIXED_HIDDEN : BB_SAMPLING_ALL,
                         .cohort = 2},
                 .mechanism = drawn ? &bb_mechanism_none : &bb_mechanism_gaussian,
                 .engine = &w->engine,
                 .seeded = true,
                 .seed = 3,
                 .local = w->local};
    const bb_silo_terms own = {.run = &w->run, .number = 1, .tasks = TASKS};
    const bb_curator_terms all = {.run = &w->run, .silos = 1};
    require(!bb_silo_open(&w->silo, &own) && !bb_curator_open(&w->curator, &all));
}

static void close_world(world *w) {
    bb_silo_close(w->silo);
    bb_curator_close(w->curator);
    for (size_t i = 0; i < TASKS; i++) bb_local_close(&w->local[i]);
    free(w->options);
}

/* So many good frames for the silo, and its answers to them. */
static void go(world *w, size_t frames) {
    bb_bytes frame;
    bool given, news;
    for (size_t k = 0; k < frames; k++) {
        if (bb_curator_give(w->curator, 1, &frame, &given) || !given) return;
        if (bb_silo_take(w->silo, frame, &news)) return;
        if (bb_silo_now(w->silo) == BB_SILO_WORK && bb_silo_work(w->silo)) return;
        if (bb_silo_give(w->silo, &frame)) {
            if (bb_curator_take(w->curator, frame, &news)) return;
            bb_silo_gave(w->silo);
        }
        if (bb_curator_now(w->curator) == BB_CURATOR_COMPLETE &&
            bb_curator_close_round(w->curator))
            return;
        if (bb_curator_now(w->curator) == BB_CURATOR_PUBLISHED &&
            bb_curator_go_on(w->curator))
            return;
    }
}

/* A frame of this run with these few bytes in its header and the rest as payload. */
static void feed(world *w, const uint8_t *data, size_t size, bool to_silo) {
    bb_writer made = {0};
    bb_bytes bytes = {data, size};
    bb_frame frame = {0};
    bool given = false, news;
    bb_curator_again(w->curator, 1);
    require(!bb_curator_give(w->curator, 1, &bytes, &given));
    if (!given) return; /* the silo has left */
    require(!bb_frame_read(bytes, false, &frame));
    bytes = (bb_bytes){data, size};
    if (size >= 4) {
        frame.kind = (bb_frame_kind)(1 + data[0] % 9);
        frame.phase = data[1] % 3;
        frame.round = data[2] % 5;
        frame.attempt = data[3] % 3;
        frame.silo = 1;
        bb_frame_begin(&made, &frame);
        bb_put_bytes(&made, data + 4, size - 4);
        bb_frame_end(&made, NULL);
        bytes = (bb_bytes){made.at, made.length};
    }
    const bb_status status = to_silo ? bb_silo_take(w->silo, bytes, &news)
                                     : bb_curator_take(w->curator, bytes, &news);
    require(!status || strlen(bb_last_error()) > 0);
    if (!status && bb_silo_now(w->silo) == BB_SILO_WORK) (void)!bb_silo_work(w->silo);
    bb_writer_close(&made);
}

/* What was saved, changed from some place on. */
static void restore(world *w, const uint8_t *data, size_t size, bool drawn, bool silo) {
    bb_writer saved = {0};
    const size_t from = 4 * (size_t)data[0];
    world other;
    open_world(&other, drawn);
    if (silo)
        bb_silo_save(w->silo, &saved);
    else
        bb_curator_save(w->curator, &saved);
    for (size_t k = 1; k < size && from + k < saved.length; k++)
        saved.at[from + k] ^= data[k];
    const bb_bytes bytes = {saved.at, saved.length};
    const bb_curator_terms all = {.run = &other.run, .silos = 1};
    bb_curator *restored = NULL;
    const bb_status status = silo ? bb_silo_restore(other.silo, bytes, NULL)
                                  : bb_curator_restore(&restored, &all, bytes);
    if (restored) {
        bb_curator_close(other.curator);
        other.curator = restored;
    }
    require(!status || strlen(bb_last_error()) > 0);
    if (!status) go(&other, 4);
    bb_writer_close(&saved);
    close_world(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    world w;
    if (size < 2) return 0;
    open_world(&w, data[0] & 8);
    go(&w, data[0] >> 4 & 7);
    if ((data[0] & 3) < 2)
        feed(&w, data + 1, size - 1, data[0] & 1);
    else
        restore(&w, data + 1, size - 1, data[0] & 8, data[0] & 1);
    go(&w, 9);
    close_world(&w);
    return 0;
}
