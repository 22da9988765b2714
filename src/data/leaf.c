/* leaf.c - LEAF's JSON (Caldas et al. 2018): {"users": [NAME, ...], "num_samples":
 * [COUNT, ...], "user_data": {NAME: {"x": [[...], ...], "y": [...]}, ...}}, members in
 * any order, others passed over. A user is a task; rows of lists in lists are laid out
 * flat. */
#include "base/memory.h"
#include "data/builder.h"
#include "data/pull.h"
#include "data/readers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a task, by its number in the builder. */
typedef struct user {
    size_t rows;
    bool listed, has_data;
} user;

typedef struct numbers {
    double *value;
    size_t count, room;
} numbers;

typedef struct leaf {
    bb_pull_parser pull;
    const bb_read_options *options;
    bb_builder builder;
    user *user;
    size_t user_room;
    size_t *listed, listed_count, listed_room; /* tasks in the order of `users` */
    numbers samples, row, y;
    bool with_y, without_y; /* of the users so far */
    /* what is being read, for messages */
    const char *part;
    size_t task, index;
} leaf;

static const uint32_t no_task = UINT32_MAX;

static void say_place(const void *reader, char *text, size_t size) {
    const leaf *const s = reader;
    char shown[BB_SHOWN_BYTES];
    if (s->task != no_task && s->part) {
        const char *const name = bb_names_at(&s->builder.tasks, s->task);
        const size_t used =
            (size_t)snprintf(text, size, " (user %s, %s[%zu]",
                             bb_shown(shown, name, strlen(name)), s->part, s->index);
        if (*s->part == 'x')
            snprintf(text + used, size - used, "[%zu])", s->row.count);
        else
            snprintf(text + used, size - used, ")");
    } else if (s->part) {
        snprintf(text, size, " (%s[%zu])", s->part, s->index);
    }
}

static bb_status bad_user(const leaf *s, size_t task, const char *words) {
    const char *const name = bb_names_at(&s->builder.tasks, task);
    char shown[BB_SHOWN_BYTES];
    return bb_fail(BB_EDATA, "%s: user %s %s", s->pull.text->path,
                   bb_shown(shown, name, strlen(name)), words);
}

/* The text that was read last as a user, known or new. */
static bb_status take_user(leaf *s, size_t *task) {
    const size_t known = s->builder.tasks.count;
    if (s->pull.length == 0)
        return bb_fail(BB_EDATA, "%s:%zu:%zu: expected a user's name, found \"\"",
                       s->pull.text->path, s->pull.text->line, s->pull.column);
    bb_status status =
        bb_builder_task(&s->builder, s->pull.string, s->pull.length, task);
    if (!status)
        status = bb_grow(&s->user, &s->user_room, s->builder.tasks.count,
                         sizeof *s->user, "users");
    if (!status && *task == known) s->user[known] = (user){0};
    return status;
}

static bb_status add_number(leaf *s, numbers *list) {
    bb_status status = bb_grow(&list->value, &list->room, list->count + 1,
                               sizeof *list->value, "numbers");
    double *const value = list->value + list->count;
    if (!status)
        status = (s->options->keep_missing && list != &s->samples) ||
                         (s->options->target_missing && list == &s->y)
                     ? bb_pull_number_or_null(&s->pull, value)
                     : bb_pull_number(&s->pull, value);
    if (!status) list->count++;
    return status;
}

/* A list of numbers, perhaps in lists. */
/* NOLINTNEXTLINE(misc-no-recursion): bb_pull_open bounds the depth */
static bb_status take_list(leaf *s, numbers *list, bool nested) {
    bool more = true;
    bb_status status = bb_pull_open(&s->pull, '[');
    for (size_t items = 0; !status; items++) {
        char next = 0;
        status = bb_pull_more(&s->pull, '[', items, &more);
        if (status || !more) break;
        if (nested)
            status = bb_pull_peek(&s->pull, &next);
        else
            s->index = items;
        if (!status)
            status = next == '[' ? take_list(s, list, true) : add_number(s, list);
    }
    return status;
}

/* -- one user -- */

static bb_status add_row(leaf *s) {
    bb_builder *const b = &s->builder;
    double *x;
    if (b->rows == 0) b->features = s->row.count;
    if (s->row.count == 0 || s->row.count != b->features) {
        char words[120];
        snprintf(words, sizeof words, "has x[%zu] of %zu number%s, expected %zu%s",
                 s->index, s->row.count, bb_plural((double)s->row.count),
                 b->rows ? b->features : 1,
                 b->rows ? " as in the first row" : " or more");
        return bad_user(s, s->task, words);
    }
    bb_status status = bb_builder_row(b, &x);
    if (status) return status;
    memcpy(x, s->row.value, s->row.count * sizeof *x);
    return bb_builder_commit(b, s->task, NAN, s->index);
}

static bb_status take_rows(leaf *s) {
    bool more = true;
    bb_status status = bb_pull_open(&s->pull, '[');
    for (size_t items = 0; !status; items++) {
        s->index = items;
        s->row.count = 0;
        status = bb_pull_more(&s->pull, '[', items, &more);
        if (status || !more) break;
        status = take_list(s, &s->row, true);
        if (!status) status = add_row(s);
    }
    return status;
}

/* The member "x" or "y" of a user; others are passed over. */
static bb_status take_part(leaf *s, bool *has_x, bool *has_y) {
    bool *const has = strcmp(s->pull.string, "x") == 0   ? has_x
                      : strcmp(s->pull.string, "y") == 0 ? has_y
                                                         : NULL;
    if (!has) return bb_pull_skip(&s->pull);
    s->part = has == has_x ? "x" : "y";
    if (*has) return bad_user(s, s->task, has == has_x ? "has x twice" : "has y twice");
    *has = true;
    s->index = 0;
    bb_status status = has == has_x ? take_rows(s) : take_list(s, &s->y, false);
    if (!status) s->part = NULL;
    return status;
}

/* The rows since `first` get their targets. */
static bb_status finish_user(leaf *s, size_t first, bool has_x, bool has_y) {
    const size_t rows = s->builder.rows - first;
    char words[120];
    if (!has_x) return bad_user(s, s->task, "has no x");
    if (!has_y && !s->options->target_optional) return bad_user(s, s->task, "has no y");
    s->with_y |= has_y;
    s->without_y |= !has_y;
    if (s->with_y && s->without_y)
        return bad_user(s, s->task,
                        has_y ? "has y, and others have not"
                              : "has no y, and others have");
    if (has_y && rows != s->y.count) {
        snprintf(words, sizeof words, "has %zu row%s in x, but %zu number%s in y", rows,
                 bb_plural((double)rows), s->y.count, bb_plural((double)s->y.count));
        return bad_user(s, s->task, words);
    }
    if (rows == 0) return bad_user(s, s->task, "has no rows");
    if (has_y) memcpy(s->builder.y + first, s->y.value, rows * sizeof *s->y.value);
    s->user[s->task].rows = rows;
    return BB_OK;
}

static bb_status take_user_data(leaf *s) {
    const size_t first = s->builder.rows;
    bool has_x = false, has_y = false, more = true;
    bb_status status = take_user(s, &s->task);
    if (!status && s->user[s->task].has_data)
        status = bad_user(s, s->task, "is in user_data twice");
    if (status) return status;
    s->user[s->task].has_data = true;
    s->y.count = s->row.count = 0;
    status = bb_pull_open(&s->pull, '{');
    for (size_t items = 0; !status; items++) {
        status = bb_pull_more(&s->pull, '{', items, &more);
        if (!status && more) status = bb_pull_key(&s->pull);
        if (status || !more) break;
        status = take_part(s, &has_x, &has_y);
    }
    if (!status) status = finish_user(s, first, has_x, has_y);
    s->task = no_task;
    return status;
}

/* -- the file -- */

static bb_status list_user(leaf *s) {
    size_t task = 0;
    bb_status status = bb_pull_string(&s->pull);
    if (!status) status = take_user(s, &task);
    if (!status && s->user[task].listed)
        status = bad_user(s, task, "is in users twice");
    if (!status)
        status = bb_grow(&s->listed, &s->listed_room, s->listed_count + 1,
                         sizeof *s->listed, "users");
    if (status) return status;
    s->user[task].listed = true;
    s->listed[s->listed_count++] = task;
    return BB_OK;
}

/* The list "users" or the object "user_data". */
static bb_status take_users(leaf *s, char bracket) {
    bool more = true;
    bb_status status = bb_pull_open(&s->pull, bracket);
    for (size_t items = 0; !status; items++) {
        if (bracket == '[') s->index = items;
        status = bb_pull_more(&s->pull, bracket, items, &more);
        if (status || !more) break;
        if (bracket == '[') {
            status = list_user(s);
        } else {
            status = bb_pull_key(&s->pull);
            if (!status) status = take_user_data(s);
        }
    }
    return status;
}

enum { USERS, SAMPLES, DATA, MEMBERS };
static const char *const member[MEMBERS] = {"users", "num_samples", "user_data"};

static bb_status take_member(leaf *s, bool has[MEMBERS]) {
    size_t m = 0;
    while (m < MEMBERS && strcmp(s->pull.string, member[m]) != 0) m++;
    if (m == MEMBERS) return bb_pull_skip(&s->pull);
    if (has[m])
        return bb_fail(BB_EDATA, "%s:%zu:%zu: \"%s\" a second time", s->pull.text->path,
                       s->pull.text->line, s->pull.column, member[m]);
    has[m] = true;
    s->index = 0;
    s->part = m == DATA ? NULL : member[m];
    bb_status status = m == SAMPLES ? take_list(s, &s->samples, false)
                                    : take_users(s, m == USERS ? '[' : '{');
    if (!status) s->part = NULL;
    return status;
}

/* Do the three members tell the same? */
static bb_status check_users(const leaf *s) {
    char words[120];
    if (s->samples.count != s->listed_count)
        return bb_fail(BB_EDATA, "%s: num_samples has %zu number%s for %zu user%s",
                       s->pull.text->path, s->samples.count,
                       bb_plural((double)s->samples.count), s->listed_count,
                       bb_plural((double)s->listed_count));
    for (size_t i = 0; i < s->builder.tasks.count; i++)
        if (!s->user[i].listed || !s->user[i].has_data)
            return bad_user(s, i,
                            s->user[i].listed ? "is not in user_data"
                                              : "of user_data is not in users");
    for (size_t k = 0; k < s->listed_count; k++) {
        const size_t i = s->listed[k], rows = s->user[i].rows;
        if (s->samples.value[k] == (double)rows) continue;
        snprintf(words, sizeof words, "has %zu row%s, but num_samples[%zu] is %.17g",
                 rows, bb_plural((double)rows), k, s->samples.value[k]);
        return bad_user(s, i, words);
    }
    if (s->builder.rows == 0)
        return bb_fail(BB_EDATA, "%s: the file has no users", s->pull.text->path);
    return BB_OK;
}

static bb_status read_file(leaf *s) {
    bool has[MEMBERS] = {0}, more = true;
    bb_status status = bb_pull_open(&s->pull, '{');
    for (size_t items = 0; !status; items++) {
        status = bb_pull_more(&s->pull, '{', items, &more);
        if (!status && more) status = bb_pull_key(&s->pull);
        if (status || !more) break;
        status = take_member(s, has);
    }
    if (!status) status = bb_pull_end(&s->pull);
    for (size_t m = 0; !status && m < MEMBERS; m++)
        if (!has[m])
            status =
                bb_fail(BB_EDATA,
                        "%s: no \"%s\"; a LEAF file has users, num_samples, user_data",
                        s->pull.text->path, member[m]);
    return status ? status : check_users(s);
}

bb_status bb_read_leaf(bb_text *text, const bb_read_options *o, bb_dataset *out) {
    leaf s = {
        .pull = {.text = text, .place = say_place}, .options = o, .task = no_task};
    bb_dataset data = {0};
    s.pull.reader = &s;
    if (o->task || o->target || o->features || o->ignore)
        return bb_fail(BB_EUSAGE,
                       "%s: LEAF files have no column names; --task, --target, "
                       "--features and --ignore do not apply",
                       text->path);
    bb_status status = read_file(&s);
    if (!status) status = bb_builder_finish(&s.builder, &data);
    if (!status) status = bb_names_count(&data.feature_name, data.features, "x");
    if (!status && s.with_y) status = bb_duplicate(&data.target_name, "y", 1);
    if (!status) status = bb_duplicate(&data.source, text->path, strlen(text->path));
    bb_builder_free(&s.builder);
    bb_pull_close(&s.pull);
    free(s.user);
    free(s.listed);
    free(s.samples.value);
    free(s.row.value);
    free(s.y.value);
    if (status)
        bb_dataset_free(&data);
    else
        *out = data;
    return status;
}
