/* Whole runs on neighbouring files: rows of one task are moved, added, taken away or get
 * another name, what the door released stays that of the first run, and everybody else
 * keeps the same split, start, streams and model, to the bit. Every method of the
 * registry is asked. */
#include "../core/tape.h"
#include "data/read.h"
#include "data/split.h"
#include "linalg/linalg.h"
#include "models/models.h"
#include "replay_files.h"
#include "train/crossval.h"
#include "train/train.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Disks are not what is tested: the linker puts this in the place of fsync. */
/* NOLINTBEGIN(cert-dcl*,bugprone-reserved-identifier): the linker's names */
int __wrap_fsync(int file);
int __wrap_fsync(int file) {
    return fcntl(file, F_GETFD) < 0 ? -1 : 0;
}
/* NOLINTEND(cert-dcl*,bugprone-reserved-identifier) */

enum {
    SQUARED = 1 << BB_LOSS_SQUARED,
    LOGISTIC = 1 << BB_LOSS_LOGISTIC,
    SOFTMAX = 1 << BB_LOSS_SOFTMAX,
    MULTILABEL = 1 << BB_LOSS_MULTILABEL,
    MOST_FLAGS = 10
};

/* A way to bring data into a run. */
typedef struct world {
    const char *name, *data;
    void (*write)(change what);
    unsigned losses;
    const char *cluster; /* the column that tells the group of each task */
    bool columns;        /* which is left out where no method asks for it */
    const char *net;
    bool tested; /* the test rows of the changed task change, too */
    const bb_train_flag flag[MOST_FLAGS];
} world;

static const world worlds[] = {
    {.name = "numbers",
     .data = "data.csv",
     .write = write_numbers,
     .losses = SQUARED | LOGISTIC,
     .cluster = "group",
     .columns = true,
     .flag = {{"standardize", "unit-rows"}, {"train-fraction", "0.5"}}},
    {.name = "classes",
     .data = "data.csv",
     .write = write_classes,
     .losses = SOFTMAX,
     .cluster = "group",
     .columns = true,
     .flag = {{"standardize", "unit-rows"}, {"train-fraction", "0.5"}}},
    {.name = "powers of ten",
     .data = "data.csv",
     .write = write_numbers,
     .losses = SQUARED | LOGISTIC,
     .cluster = "group",
     .columns = true,
     .flag = {{"standardize", "magnitude"}, {"train-fraction", "0.7"}}},
    {.name = "classes in units of each task's own",
     .data = "data.csv",
     .write = write_classes,
     .losses = SOFTMAX,
     .cluster = "group",
     .columns = true,
     .flag = {{"standardize", "magnitude"}, {"train-fraction", "0.5"}}},
    {.name = "test rows of their own",
     .data = "data.csv",
     .write = write_test,
     .losses = SQUARED | LOGISTIC,
     .cluster = "group",
     .columns = true,
     .tested = true,
     .flag = {{"standardize", "unit-rows"}, {"test", "test.csv"}}},
    {.name = "ranges, levels and marks of what is missing",
     .data = "data.csv",
     .write = write_missing,
     .losses = SQUARED | LOGISTIC,
     .cluster = "group",
     .flag = {{"scale", "ranges.json"},
              {"categories", "levels.json"},
              {"missing", "indicator:x1,x2"},
              {"train-fraction", "0.7"}}},
    {.name = "rows left out",
     .data = "data.csv",
     .write = write_dropped,
     .losses = SQUARED | LOGISTIC,
     .flag = {{"standardize", "unit-rows"},
              {"categories", "levels.json"},
              {"missing", "drop-rows"},
              {"train-fraction", "0.7"}}},
    {.name = "z-scores",
     .data = "data.csv",
     .write = write_numbers,
     .losses = SQUARED | LOGISTIC,
     .cluster = "group",
     .columns = true,
     .flag = {{"standardize", "task"}, {"train-fraction", "0.7"}}},
    {.name = "sparse rows",
     .data = "data.svm",
     .write = write_sparse,
     .losses = SQUARED | LOGISTIC,
     .cluster = "x6",
     .flag = {{"features", "6"}, {"train-fraction", "0.5"}}},
    {.name = "sparse rows with classes", /* without groups: those are for one output */
     .data = "data.svm",
     .write = write_sparse,
     .losses = SOFTMAX,
     .flag = {{"features", "6"}, {"train-fraction", "0.5"}}},
    {.name = "sparse rows with labels",
     .data = "data.svm",
     .write = write_sparse_labels,
     .losses = MULTILABEL,
     .flag = {{"features", "6"}, {"train-fraction", "0.5"}}},
    {.name = "rows with labels",
     .data = "data.csv",
     .write = write_dense_labels,
     .losses = MULTILABEL,
     .cluster = "group",
     .flag = {{"standardize", "unit-rows"}, {"train-fraction", "0.5"}}},
    {.name = "LEAF",
     .data = "data.json",
     .write = write_leaf,
     .losses = SQUARED | LOGISTIC,
     .cluster = "x3",
     .flag = {{"standardize", "unit-rows"}, {"train-fraction", "0.5"}}},
    {.name = "IDX",
     .data = "images.idx",
     .write = write_idx_images,
     .losses = SOFTMAX,
     .flag = {{"scale", "ranges.json"}, {"train-fraction", "0.5"}}},
    {.name = "networks on a table",
     .data = "data.csv",
     .write = write_pixels,
     .losses = SOFTMAX,
     .cluster = "group",
     .columns = true,
     .net = "conv3x2,pool2,dense3",
     .flag = {{"scale", "ranges.json"}, {"image", "4x4"}, {"train-fraction", "0.5"}}},
    {.name = "networks on IDX",
     .data = "images.idx",
     .write = write_idx_images,
     .losses = SOFTMAX,
     .net = "conv3x2,pool2,dense3",
     .flag = {{"scale", "ranges.json"}, {"train-fraction", "0.5"}}},
};

/* What a case asks for; NULL: what is the default. */
typedef struct ask {
    const world *world;
    const bb_method *method;
    bb_loss loss;
    const char *sampling, *phase, *finetune;
} ask;

static bb_method taped[BB_MOST_PHASES];
static bool slots; /* some block has a place for every task, in order of their names */

static void watch_layout(const bb_view *view, bb_layout *layout) {
    bb_method_find(view->method->name)->layout(view, layout);
    for (size_t b = 0; b < layout->blocks; b++)
        slots = slots || layout->block[b].form == BB_FORM_SLOT;
}

typedef struct flags {
    bb_train_flag at[MOST_FLAGS + 20];
    size_t count;
} flags;

static void give(flags *f, const char *option, const char *text) {
    f->at[f->count++] = (bb_train_flag){option, text};
}

/* Effects are of one phase, in public ranges, and of no classes. */
static bool may_report(const ask *a) {
    bool ranges = false;
    for (const bb_train_flag *w = a->world->flag; w->name; w++)
        ranges = ranges || strcmp(w->name, "scale") == 0;
    return ranges && a->loss == BB_LOSS_SQUARED && !a->phase && !a->finetune;
}

static void give_all(flags *f, const ask *a) {
    const bb_method *m = a->method;
    const bool outputs = !bb_loss_is_single(a->loss);
    give(f, "method", m->name);
    give(f, "loss", bb_loss_name(a->loss));
    give(f, "output", "run");
    give(f, "force", NULL);
    give(f, "seed", "7");
    for (const bb_train_flag *w = a->world->flag; w->name; w++)
        give(f, w->name, w->text);
    if (m->kind == BB_METHOD_PRIVATE) give(f, "epsilon", "2");
    if (m->takes & BB_TAKES_BATCH ||
        ((outputs || a->world->net) && m->takes & BB_TAKES_BATCH_OF_OUTPUTS))
        give(f, "batch", "3");
    if (outputs) give(f, "classes", a->loss == BB_LOSS_SOFTMAX ? "3" : "4");
    if (a->sampling) give(f, "sampling", a->sampling);
    if (a->phase) give(f, "phase", a->phase);
    if (a->finetune) give(f, "finetune", a->finetune);
    if (a->world->net) give(f, "net", a->world->net);
    if (m->clustered) give(f, "clusters", "3");
    if (m->clustered) give(f, "cluster", a->world->cluster);
    if (!m->clustered && a->world->columns) give(f, "ignore", a->world->cluster);
    if (a->world->tested && m->kind == BB_METHOD_ALONE) give(f, "compare", "stl");
    for (size_t k = 0; k < m->options.count; k++)
        if (strcmp(m->options.row[k].name, "guard") == 0)
            give(f, "set", "guard=off");
        else if (strcmp(m->options.row[k].name, "effects") == 0 && may_report(a))
            give(f, "report-effects", NULL);
        else if (strcmp(m->options.row[k].name, "instance-epsilon") == 0) {
            give(f, "set", "instance-epsilon=1"); /* mp-instance guesses nothing */
            give(f, "set", "gradient-clip=1");
            give(f, "set", "clip=1");
        }
}

static void train(const ask *a, bb_models *models) {
    const bb_watch watch = {0};
    flags f = {0};
    bb_train_request request = {0};
    bb_report report;
    give_all(&f, a);
    assert_ok(bb_train_resolve(&request, f.at, f.count));
    for (size_t k = 0; k < request.phases; k++) {
        taped[k] = tape_method(request.phase[k].method);
        if (taped[k].layout) taped[k].layout = watch_layout;
        request.phase[k].method = &taped[k];
    }
    assert_ok(bb_train_run(&request, a->world->data, &watch, &report));
    bb_train_request_free(&request);
    assert_ok(bb_models_read(models, bb_loss_is_single(a->loss) && !a->world->net
                                         ? "run/operator/models.csv"
                                         : "run/operator/models.safetensors"));
}

static size_t find(char *const *list, const char *text) {
    size_t i = 0;
    while (strcmp(list[i], text) != 0) assert_true(++i < TASKS);
    return i;
}

/* Of models that share: the task's own rows, where they are, and what its group has. */
static bool same_compact(const bb_models *a, const bb_models *b, size_t i, size_t j) {
    const size_t from = a->own_first[i], to = b->own_first[j], c = a->outputs,
                 n = a->own_first[i + 1] - from, shared = a->features * c;
    assert_int_equal(a->features, b->features);
    return b->own_first[j + 1] - to == n && a->group[i] == b->group[j] &&
           memcmp(a->touched + from, b->touched + to, n * sizeof *a->touched) == 0 &&
           memcmp(a->own + from * c, b->own + to * c, n * c * sizeof *a->own) == 0 &&
           memcmp(a->shared + a->group[i] * shared, b->shared + b->group[j] * shared,
                  shared * sizeof *a->shared) == 0;
}

static bool same_model(const bb_models *a, const bb_models *b, change what,
                       size_t task) {
    const size_t i = find(a->task_name, name[task]),
                 j = find(b->task_name, name_of(task, what)),
                 n = bb_models_length(a, i);
    if (a->shared) return same_compact(a, b, i, j);
    assert_int_equal(bb_models_length(b, j), n);
    if (a->single)
        return memcmp(a->single + i * n, b->single + j * n, n * sizeof *a->single) == 0;
    return memcmp(a->weight + i * n, b->weight + j * n, n * sizeof *a->weight) == 0 &&
           (!a->intercept || a->intercept[i] == b->intercept[j]);
}

/* A task's line of operator/tasks.csv, up to its own figure; or nothing. */
static void line_of(const char *task, char *line, size_t size) {
    FILE *f = fopen("run/operator/tasks.csv", "r");
    const size_t length = strlen(task);
    char *at = line;
    *line = '\0';
    if (!f) return;
    while (fgets(line, (int)size, f))
        if (strncmp(line, task, length) == 0 && line[length] == ',') break;
    for (int field = 0; field < 4 && at; field++) at = strchr(at + 1, ',');
    assert_non_null(at);
    *at = '\0';
    fclose(f);
}

typedef struct lines {
    char of[TASKS][200];
} lines;

static void lines_of(change what, lines *all) {
    for (size_t i = 0; i < TASKS; i++)
        line_of(name_of(i, what), all->of[i], sizeof all->of[i]);
}

static size_t cases, moved;

static void check_change(const ask *a, const bb_models *first, const lines *said,
                         change what) {
    bb_models other = {0};
    lines now;
    recording.read = 0;
    a->world->write(what);
    train(a, &other);
    lines_of(what, &now);
    assert_int_equal(recording.read, recording.used);
    for (size_t i = 0; i < TASKS; i++)
        if ((i != CHANGED || what == MOVED) && (!same_model(first, &other, what, i) ||
                                                strcmp(said->of[i], now.of[i]) != 0))
            fail_msg("%s: %s, %s loss, sampling %s, then %s, change %d: the model or "
                     "figure of %s moved",
                     a->world->name, a->method->name, bb_loss_name(a->loss),
                     a->sampling ? a->sampling : "all", a->phase ? a->phase : "nothing",
                     (int)what, name[i]);
    if (what == ADDED) {
        cases++;
        moved += !same_model(first, &other, what, CHANGED) ||
                 strcmp(said->of[CHANGED], now.of[CHANGED]) != 0;
    }
    bb_models_free(&other);
}

static void check(const ask *a) {
    bb_models first = {0};
    lines said;
    recording = (tape){0};
    slots = false;
    a->world->write(NOTHING);
    train(a, &first);
    lines_of(NOTHING, &said);
    recording.playing = true;
    for (change what = MOVED; what < CHANGES; what++) {
        /* places for tasks, and samples of K, are dealt in order of names */
        const bool by_place = slots || (a->sampling && *a->sampling == 'f');
        if (what != RENAMED || !by_place) check_change(a, &first, &said, what);
    }
    free(recording.value);
    bb_models_free(&first);
}

/* All tasks in every round, and for one loss the other ways to sample. */
static void check_samplings(ask a, bool first) {
    check(&a);
    if (!a.method->sampled || !first) return;
    a.sampling = "poisson:0.5";
    check(&a);
    a.sampling = "fixed:4";
    check(&a);
}

static bool fits(const world *w, const bb_method *m, bb_loss loss) {
    const char *how = w->flag[0].text; /* own steps look at all rows of a task */
    const bool own_steps = strcmp(how, "task") == 0 || strcmp(how, "magnitude") == 0;
    if (m->follows || !(w->losses & m->losses & (1U << loss))) return false;
    if (w->net && !(m->losses & BB_SUPPORTS_NETWORKS)) return false;
    if (!w->net && m->losses & BB_NETWORKS_ONLY) return false;
    if (m->clustered && !w->cluster) return false;
    if (m->related)
        return false; /* a graph names tasks, and some changes rename them */
    return !(own_steps && m->own_noise); /* refused: rows are prepared together */
}

static bb_loss first_loss(const world *w) {
    bb_loss loss = BB_LOSS_SQUARED;
    while (!(w->losses & (1U << loss))) loss++;
    return loss;
}

static void models(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof worlds / sizeof *worlds; k++) {
        const world *w = &worlds[k];
        cases = moved = 0;
        for (size_t i = 0; bb_method_at(i); i++)
            for (bb_loss loss = BB_LOSS_SQUARED; loss <= BB_LOSS_MULTILABEL; loss++) {
                const ask a = {.world = w, .method = bb_method_at(i), .loss = loss};
                if (fits(w, a.method, loss)) check_samplings(a, loss == first_loss(w));
            }
        print_message("%s: %zu cases, the changed model moved in %zu\n", w->name, cases,
                      moved);
        assert_true(cases >= 4 && 10 * moved >= 8 * cases);
    }
}

/* Phases behind each other, and work at home at the end. */
static void phases(void **state) {
    (void)state;
    static const char *const how[] = {"vanilla", "mean", "kl", "ewc", "vote,share=0.5"};
    for (size_t k = 0; k < sizeof worlds / sizeof *worlds; k++) {
        const world *w = &worlds[k];
        const bool votes = first_loss(w) == BB_LOSS_SQUARED && !w->net;
        for (size_t h = 0; h < sizeof how / sizeof *how - !votes; h++)
            check(&(ask){.world = w,
                         .method = bb_method_find("fedavg"),
                         .loss = first_loss(w),
                         .phase = h % 2 ? "pmtl,rounds=2" : NULL,
                         .finetune = how[h]});
    }
}

/* -- before the run: which rows train, and which fold each is in */

typedef struct parts {
    bb_dataset data, train, test;
    unsigned char fold[TASKS * (ROWS + MORE)];
} parts;

static parts open_parts(change what) {
    parts p = {0};
    write_numbers(what);
    assert_ok(bb_read("data.csv", NULL, &p.data));
    assert_ok(bb_split(&p.data, 0.5, 3, &p.train, &p.test, NULL));
    assert_ok(bb_crossval_folds(&p.data, 3, false, p.fold));
    return p;
}

static void close_parts(parts *p) {
    bb_dataset_free(&p->data);
    bb_dataset_free(&p->train);
    bb_dataset_free(&p->test);
}

static void same_rows(const bb_dataset *a, const bb_dataset *b, size_t i, size_t j) {
    const size_t n = a->first[i + 1] - a->first[i];
    assert_int_equal(b->first[j + 1] - b->first[j], n);
    assert_memory_equal(a->x + a->first[i] * a->features,
                        b->x + b->first[j] * b->features,
                        n * a->features * sizeof *a->x);
}

static void splits_and_folds(void **state) {
    (void)state;
    parts first = open_parts(NOTHING);
    for (change what = MOVED; what < CHANGES; what++) {
        parts other = open_parts(what);
        for (size_t t = 0; t < TASKS; t++) {
            const size_t i = find(first.data.task_name, name[t]),
                         j = find(other.data.task_name, name_of(t, what));
            if (t == CHANGED) continue;
            same_rows(&first.train, &other.train, i, j);
            same_rows(&first.test, &other.test, i, j);
            assert_memory_equal(first.fold + first.data.first[i],
                                other.fold + other.data.first[j], ROWS);
        }
        close_parts(&other);
    }
    /* in order of name, numbers by size */
    static const char *const order[] = {"1",       "east",    "north",
                                        "south",   "ward-2",  "ward-3",
                                        "ward-10", "ward-30", "west"};
    for (size_t i = 0; i < TASKS; i++)
        assert_string_equal(first.data.task_name[i], order[i]);
    close_parts(&first);
}

static char folder[] = "/tmp/billboard-test-XXXXXX";

static int open_folder(void **state) {
    (void)state;
    return !mkdtemp(folder) || chdir(folder);
}

static int close_folder(void **state) {
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return chdir("/") || system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_and_folds),
        cmocka_unit_test(models),
        cmocka_unit_test(phases),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
