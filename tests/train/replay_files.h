/* replay_files.h - small populations in every format, and their neighbours, in which the
 * rows of one task are others or lie elsewhere. */
#ifndef BB_TESTS_TRAIN_REPLAY_FILES_H
#define BB_TESTS_TRAIN_REPLAY_FILES_H

#include "test.h"

#include <stdbool.h>

enum { TASKS = 9, ROWS = 8, CHANGED = 4, MORE = 3, MOST_PLACES = TASKS * ROWS + MORE };

/* What is done to the rows of the task CHANGED. */
typedef enum change {
    NOTHING,
    MOVED,
    SCATTERED,
    ADDED, /* MORE of them, larger than any, of a class and words that are nowhere else */
    REMOVED,
    RENAMED,
    CHANGES
} change;

static const char *const name[TASKS] = {
    "ward-2", "ward-10", "north", "south", "ward-3", "east", "west", "1", "ward-30"};
/* Its new name comes earlier than all others but one. */
static const char new_name[] = "2";

/* What the task is called after the change. */
static inline const char *name_of(size_t i, change what) {
    return what == RENAMED && i == CHANGED ? new_name : name[i];
}

/* -- which rows there are, in the order of the file */

typedef struct place {
    size_t task, row; /* added rows are numbers 20, 21, ... */
} place;

static inline size_t places(change what, place *list) {
    size_t n = 0;
    if (what == MOVED)
        for (size_t j = 0; j < ROWS; j++) list[n++] = (place){CHANGED, j};
    for (size_t i = 0; i < TASKS; i++)
        for (size_t j = 0; j < ROWS; j++) {
            const bool kept = what == NOTHING || what == RENAMED || what == ADDED ||
                              (what == REMOVED && j % 2);
            if (i != CHANGED || kept) list[n++] = (place){i, j};
            if (what == SCATTERED && i == 7) list[n++] = (place){CHANGED, ROWS - 1 - j};
        }
    for (size_t j = 0; what == ADDED && j < MORE; j++)
        list[n++] = (place){CHANGED, 20 + j};
    return n;
}

static inline bool is_added(place p) {
    return p.row >= ROWS;
}

static inline unsigned mixed(place p) {
    return (unsigned)(17 * p.task + 5 * p.row + p.task * p.row);
}

/* One of two classes; added rows are of a third. */
static inline unsigned class_of(place p) {
    return is_added(p) ? 2 : mixed(p) / 3 % 2;
}

/* 0 or 1 for losses that know no other. */
static inline unsigned target_of(place p) {
    return mixed(p) / 3 % 2;
}

/* Feature k, between -1 and 1; twenty times that in added rows. */
static inline double feature(place p, unsigned k) {
    static const unsigned factor[] = {37, 91, 53, 29, 71};
    const double x = 0.1 + 0.001 * (mixed(p) * factor[k % 5] % 800);
    return (k % 2 ? -x : x) * (is_added(p) ? 20 : 1);
}

/* -- files */

static inline FILE *file_for_writing(const char *path) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    return f;
}

static inline void written(FILE *f) {
    assert_int_equal(fclose(f), 0);
}

static inline void write_text(const char *path, const char *text) {
    FILE *f = file_for_writing(path);
    fputs(text, f);
    written(f);
}

/* Numbers, and the public group of each task. */
static inline void write_table(const char *path, change what, bool classes) {
    FILE *f = file_for_writing(path);
    place list[MOST_PLACES];
    const size_t n = places(what, list);
    fputs("task,y,group,x1,x2,x3\n", f);
    for (size_t r = 0; r < n; r++) {
        const place p = list[r];
        fprintf(f, "%s,%u,%u,%.3f,%.3f,%.3f\n", name_of(p.task, what),
                classes ? class_of(p) : target_of(p), (unsigned)(p.task % 3),
                feature(p, 0), feature(p, 1), feature(p, 2));
    }
    written(f);
}

static inline void write_numbers(change what) {
    write_table("data.csv", what, false);
}

static inline void write_classes(change what) {
    write_table("data.csv", what, true);
}

static inline void write_test(change what) {
    write_table("data.csv", what, false);
    write_table("test.csv", what, false);
}

/* Columns of text and missing numbers; nothing in column x2 of the changed task's rows
 * from `bare` on. */
static inline void write_gaps(change what, size_t bare) {
    static const char *const city[] = {"Oslo", "Bergen", "Bodo"};
    FILE *f = file_for_writing("data.csv");
    place list[MOST_PLACES];
    const size_t n = places(what, list);
    fputs("task,y,group,x1,city,x2\n", f);
    for (size_t r = 0; r < n; r++) {
        const place p = list[r];
        fprintf(f, "%s,%u,%u,", name_of(p.task, what), target_of(p),
                (unsigned)(p.task % 3));
        if (mixed(p) % 5 != 2) fprintf(f, "%.3f", feature(p, 0));
        fprintf(f, ",%s,", is_added(p) ? "Nowhere" : city[mixed(p) % 3]);
        if (p.task != CHANGED || p.row < bare || is_added(p))
            fprintf(f, "%.3f", feature(p, 1));
        fputs("\n", f);
    }
    written(f);
    write_text("levels.json", "{\"city\": [\"Bergen\", \"Oslo\", \"Bodo\"]}");
    write_text("ranges.json", "{\"target\": [0, 1], \"columns\": {\"group\": [0, 2], "
                              "\"x1\": [0, 1], \"x2\": 1}}");
}

static inline void write_missing(change what) {
    write_gaps(what, 5);
}

/* REMOVED: no row of the changed task is left. */
static inline void write_dropped(change what) {
    if (what == REMOVED)
        write_gaps(NOTHING, 0);
    else
        write_gaps(what, 5);
}

/* Sparse rows; the group is feature 6, and feature 5 occurs in added rows only. */
static inline void write_sparse_rows(change what, bool lists) {
    FILE *f = file_for_writing("data.svm");
    place list[MOST_PLACES];
    const size_t n = places(what, list);
    for (size_t r = 0; r < n; r++) {
        const place p = list[r];
        const unsigned k = mixed(p);
        if (!lists)
            fprintf(f, "%u", target_of(p));
        else if (is_added(p))
            fputs("3,1", f); /* a label that is nowhere else */
        else if (k % 4)
            fprintf(f, k % 4 == 3 ? "0,2" : "%u", k % 3);
        fprintf(f, " qid:%s", name_of(p.task, what));
        for (unsigned c = 0; c < 4; c++)
            if ((k + c) % 3) fprintf(f, " %u:%.3f", c + 1, feature(p, c));
        if (is_added(p)) fputs(" 5:7", f);
        if (p.task % 3) fprintf(f, " 6:%u", (unsigned)(p.task % 3));
        fputs("\n", f);
    }
    written(f);
}

static inline void write_sparse(change what) {
    write_sparse_rows(what, false);
}

static inline void write_sparse_labels(change what) {
    write_sparse_rows(what, true);
}

static inline void write_dense_labels(change what) {
    FILE *f = file_for_writing("data.csv");
    place list[MOST_PLACES];
    const size_t n = places(what, list);
    fputs("task,y,group,x1,x2,x3\n", f);
    for (size_t r = 0; r < n; r++) {
        const place p = list[r];
        const char *labels = mixed(p) % 3 ? "0 2" : "";
        if (is_added(p)) labels = "3 1"; /* one that is nowhere else */
        fprintf(f, "%s,%s,%u,%.3f,%.3f,%.3f\n", name_of(p.task, what), labels,
                (unsigned)(p.task % 3), feature(p, 0), feature(p, 1), feature(p, 2));
    }
    written(f);
}

enum { SIDE = 4, PIXELS = SIDE * SIDE };

static inline unsigned pixel(place p, unsigned k) {
    const unsigned at = (mixed(p) * 7 + k * 29 + (unsigned)p.row * k) % 200;
    return is_added(p) ? 255 : at + (k / SIDE == mixed(p) % SIDE ? 55 : 0);
}

/* Images as a table. */
static inline void write_pixels(change what) {
    FILE *f = file_for_writing("data.csv");
    place list[MOST_PLACES];
    const size_t n = places(what, list);
    fputs("task,y,group", f);
    for (unsigned k = 0; k < PIXELS; k++) fprintf(f, ",p%u", k);
    fputs("\n", f);
    for (size_t r = 0; r < n; r++) {
        const place p = list[r];
        fprintf(f, "%s,%u,%u", name_of(p.task, what), class_of(p),
                (unsigned)(p.task % 3));
        for (unsigned k = 0; k < PIXELS; k++) fprintf(f, ",%u", pixel(p, k));
        fputs("\n", f);
    }
    written(f);
    write_text("ranges.json", "{\"others\": [0, 255]}");
}

/* Images, labels and tasks in three files. */
static inline void write_idx_images(change what) {
    FILE *images = file_for_writing("images.idx"),
         *labels = file_for_writing("labels.idx"),
         *tasks = file_for_writing("tasks.csv");
    place list[MOST_PLACES];
    const size_t n = places(what, list);
    const unsigned char head[] = {0, 0, 8, 3,    0, 0, 0, (unsigned char)n,
                                  0, 0, 0, SIDE, 0, 0, 0, SIDE};
    const unsigned char label_head[] = {0, 0, 8, 1, 0, 0, 0, (unsigned char)n};
    fwrite(head, sizeof head, 1, images);
    fwrite(label_head, sizeof label_head, 1, labels);
    for (size_t r = 0; r < n; r++) {
        for (unsigned k = 0; k < PIXELS; k++) putc((int)pixel(list[r], k), images);
        putc((int)class_of(list[r]), labels);
        fprintf(tasks, "%s\n", name_of(list[r].task, what));
    }
    written(images);
    written(labels);
    written(tasks);
    write_text("ranges.json", "{\"others\": [0, 255]}");
}

/* One member of a user: x or y of the rows that are the task's, in their order. */
static inline void write_member(FILE *f, const place *list, size_t n, size_t task,
                                bool features) {
    bool first = true;
    for (size_t r = 0; r < n; r++) {
        const place p = list[r];
        if (p.task != task) continue;
        fputs(first ? "[" : ", ", f);
        if (features)
            fprintf(f, "[%.3f, %.3f, %u]", feature(p, 0), feature(p, 1),
                    (unsigned)(p.task % 3));
        else
            fprintf(f, "%u", target_of(p));
        first = false;
    }
    fputs("]", f);
}

/* The rows of a user are together: users in the order of their first rows. */
static inline void write_leaf(change what) {
    FILE *f = file_for_writing("data.json");
    place list[MOST_PLACES];
    const size_t n = places(what, list);
    size_t user[TASKS], rows[TASKS] = {0}, users = 0;
    for (size_t r = 0; r < n; r++)
        if (rows[list[r].task]++ == 0) user[users++] = list[r].task;
    fputs("{\"users\": ", f);
    for (size_t u = 0; u < users; u++)
        fprintf(f, "%s\"%s\"", u ? ", " : "[", name_of(user[u], what));
    fputs("], \"num_samples\": ", f);
    for (size_t u = 0; u < users; u++)
        fprintf(f, "%s%zu", u ? ", " : "[", rows[user[u]]);
    fputs("], \"user_data\": ", f);
    for (size_t u = 0; u < users; u++) {
        fprintf(f, "%s\"%s\": {\"x\": ", u ? ", " : "{", name_of(user[u], what));
        write_member(f, list, n, user[u], true);
        fputs(", \"y\": ", f);
        write_member(f, list, n, user[u], false);
        fputs("}", f);
    }
    fputs("}}\n", f);
    written(f);
}

#endif
