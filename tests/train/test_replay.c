/* Whole runs on neighbouring files: rows of one task are moved, added, taken away or get
 * another name, what the door released stays that of the first run, and everybody else
 * keeps the same split, start, streams and model, to the bit. Every method of the
 * registry is asked. */
#include "../core/tape.h"
#include "data/read.h"
#include "data/split.h"
#include "linalg/linalg.h"
#include "models/models.h"
#include "train/crossval.h"
#include "train/train.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TASKS = 9, ROWS = 8, CHANGED = 4 };

/* What is done to the rows of the task CHANGED. */
typedef enum change {
    NOTHING,
    MOVED,
    SCATTERED,
    ADDED,
    REMOVED,
    RENAMED,
    CHANGES
} change;

static const char *const name[TASKS] = {
    "ward 2", "ward 10", "north", "south", "ward 3", "east", "west", "1", "ward 30"};
/* Its new name comes earlier than all others but one. */
static const char new_name[] = "2";

static void write_row(FILE *f, change what, size_t i, size_t j) {
    const unsigned k = (unsigned)(17 * i + 5 * j + i * j);
    fprintf(f, "%s,%u,%u,0.%u,-0.%u,0.%u\n",
            what == RENAMED && i == CHANGED ? new_name : name[i], (k / 3) % 2,
            (unsigned)(i % 3), 100 + (k * 37) % 800, 100 + (k * 91) % 700,
            100 + (k * 53) % 500);
}

static void write_file(change what) {
    FILE *f = fopen("data.csv", "w");
    assert_non_null(f);
    fputs("task,y,group,x1,x2,x3\n", f);
    if (what == MOVED)
        for (size_t j = 0; j < ROWS; j++) write_row(f, what, CHANGED, j);
    for (size_t i = 0; i < TASKS; i++)
        for (size_t j = 0; j < ROWS; j++) {
            if (i != CHANGED) {
                write_row(f, what, i, j);
                if (what == SCATTERED && i == 7)
                    write_row(f, what, CHANGED, ROWS - 1 - j);
            } else if (what == NOTHING || what == RENAMED || what == ADDED ||
                       (what == REMOVED && j % 2)) {
                write_row(f, what, i, j);
            }
        }
    for (size_t j = 0; what == ADDED && j < 3; j++) write_row(f, what, CHANGED, 20 + j);
    assert_int_equal(fclose(f), 0);
}

/* What a case asks for; NULL: what is the default. */
typedef struct ask {
    const bb_method *method;
    const char *loss, *sampling;
} ask;

static bb_method taped;
static bool slots; /* some block has a place for every task, in order of their names */

static void watch_layout(const bb_view *view, bb_layout *layout) {
    bb_method_find(view->method->name)->layout(view, layout);
    for (size_t b = 0; b < layout->blocks; b++)
        slots = slots || layout->block[b].form == BB_FORM_SLOT;
}

static void train(const ask *a, bb_models *models) {
    const bb_watch watch = {0};
    const bb_method *m = a->method;
    const bool noisy = m->kind == BB_METHOD_PRIVATE;
    bb_train_flag flag[20] = {{"method", m->name},
                              {"loss", a->loss},
                              {"train-fraction", "0.5"},
                              {"standardize", "unit-rows"},
                              {"output", "run"},
                              {"force", NULL},
                              {"seed", "7"}};
    size_t flags = 7;
    bb_train_request request = {0};
    bb_report report;
    if (noisy) flag[flags++] = (bb_train_flag){"epsilon", "2"};
    const bool outputs = strcmp(a->loss, "softmax") == 0;
    if (m->takes & BB_TAKES_BATCH || (outputs && m->takes & BB_TAKES_BATCH_OF_OUTPUTS))
        flag[flags++] = (bb_train_flag){"batch", "3"};
    if (a->sampling) flag[flags++] = (bb_train_flag){"sampling", a->sampling};
    if (m->clustered) flag[flags++] = (bb_train_flag){"clusters", "3"};
    flag[flags++] = m->clustered ? (bb_train_flag){"cluster", "group"}
                                 : (bb_train_flag){"ignore", "group"};
    if (outputs) flag[flags++] = (bb_train_flag){"classes", "2"};
    for (size_t k = 0; k < m->options.count; k++)
        if (strcmp(m->options.row[k].name, "guard") == 0)
            flag[flags++] = (bb_train_flag){"set", "guard=off"};
    assert_ok(bb_train_resolve(&request, flag, flags));
    taped = tape_method(m);
    if (taped.layout) taped.layout = watch_layout;
    request.phase[0].method = &taped;
    assert_ok(bb_train_run(&request, "data.csv", &watch, &report));
    bb_train_request_free(&request);
    assert_ok(bb_models_read(models, strcmp(a->loss, "softmax") == 0
                                         ? "run/operator/models.safetensors"
                                         : "run/operator/models.csv"));
}

/* What the changed task is called after the change. */
static const char *name_of(size_t i, change what) {
    return what == RENAMED && i == CHANGED ? new_name : name[i];
}

static size_t find(char *const *list, const char *text) {
    size_t i = 0;
    while (strcmp(list[i], text) != 0) assert_true(++i < TASKS);
    return i;
}

static bool same_model(const bb_models *a, const bb_models *b, change what,
                       size_t task) {
    const size_t i = find(a->task_name, name[task]),
                 j = find(b->task_name, name_of(task, what)),
                 n = bb_models_length(a, i);
    assert_int_equal(bb_models_length(b, j), n);
    return memcmp(a->weight + i * n, b->weight + j * n, n * sizeof *a->weight) == 0 &&
           (!a->intercept || a->intercept[i] == b->intercept[j]);
}

static size_t cases, moved;

static void check(const ask *a) {
    bb_models first = {0};
    recording = (tape){0};
    slots = false;
    write_file(NOTHING);
    train(a, &first);
    recording.playing = true;
    for (change what = MOVED; what < CHANGES; what++) {
        bb_models other = {0};
        /* places for tasks, and samples of K, are dealt in order of names */
        const bool by_place = slots || (a->sampling && *a->sampling == 'f');
        if (what == RENAMED && by_place) continue;
        recording.read = 0;
        write_file(what);
        train(a, &other);
        assert_int_equal(recording.read, recording.used);
        for (size_t i = 0; i < TASKS; i++)
            if (i != CHANGED && !same_model(&first, &other, what, i))
                fail_msg("%s, %s, sampling %s, change %d: the model of %s moved",
                         a->method->name, a->loss, a->sampling ? a->sampling : "all",
                         (int)what, name[i]);
        if (what == MOVED) assert_true(same_model(&first, &other, what, CHANGED));
        if (what == ADDED) {
            cases++;
            moved += !same_model(&first, &other, what, CHANGED);
        }
        bb_models_free(&other);
    }
    free(recording.value);
    bb_models_free(&first);
}

static void models(void **state) {
    (void)state;
    for (size_t i = 0; bb_method_at(i); i++) {
        ask a = {.method = bb_method_at(i)};
        if (a.method->follows) continue;
        for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_SOFTMAX; loss++) {
            if (!(a.method->losses & (1U << loss))) continue;
            a.loss = bb_loss_name((bb_loss)loss);
            a.sampling = NULL;
            check(&a);
            if (!a.method->sampled || loss != BB_LOSS_SQUARED) continue;
            a.sampling = "poisson:0.5";
            check(&a);
            a.sampling = "fixed:4";
            check(&a);
        }
    }
    assert_true(cases >= 20 && 10 * moved >= 8 * cases);
}

/* -- before the run: which rows train, and which fold each is in */

typedef struct parts {
    bb_dataset data, train, test;
    unsigned char fold[TASKS * (ROWS + 3)];
} parts;

static parts open_parts(change what) {
    parts p = {0};
    write_file(what);
    assert_ok(bb_read("data.csv", NULL, &p.data));
    assert_ok(bb_split(&p.data, 0.5, 3, &p.train, &p.test, NULL));
    assert_ok(bb_crossval_folds(&p.data, 3, p.fold));
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
                                        "south",   "ward 2",  "ward 3",
                                        "ward 10", "ward 30", "west"};
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
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
