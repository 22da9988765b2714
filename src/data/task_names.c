#include "data/task_names.h"

#include "base/memory.h"
#include "base/number.h"
#include "data/names.h"
#include "data/scan.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct number {
    double value;
    size_t task;
} number;

/* Two that are neighbours in the order of numbers, or of names, and how many such there are. */
typedef struct pairs {
    size_t count, first, second; /* of the one whose first task comes first */
} pairs;

static void note_pair(pairs *p, size_t first, size_t second) {
    if (p->count++ && first > p->first) return;
    p->first = first;
    p->second = second;
}

/* Ascending; of equal ones the task that comes first. */
static int by_value(const void *a, const void *b) {
    const number *p = a, *q = b;
    if (p->value != q->value) return p->value < q->value ? -1 : 1;
    return (p->task > q->task) - (p->task < q->task);
}

/* As every number is written once: digits that do not begin with 0. */
static bool is_plain(const char *name) {
    return strspn(name, "0123456789") == strlen(name) && (*name != '0' || !name[1]);
}

/* Where all are plain none can be another's number, and nothing is sorted. */
static bool are_plain(size_t tasks, char *const *name) {
    double value;
    for (size_t i = 0; i < tasks; i++)
        if (!is_plain(name[i]) && bb_names_number(name[i], &value)) return false;
    return true;
}

static bb_status find_numbers(size_t tasks, char *const *name, pairs *found) {
    number *list = NULL;
    size_t count = 0;
    if (are_plain(tasks, name)) return BB_OK;
    const bb_status status = bb_allocate(&list, tasks, sizeof *list, "names of tasks");
    if (status) return status;
    for (size_t i = 0; i < tasks; i++) {
        list[count].task = i;
        count += bb_names_number(name[i], &list[count].value);
    }
    qsort(list, count, sizeof *list, by_value);
    for (size_t k = 1; k < count; k++)
        if (list[k].value == list[k - 1].value)
            note_pair(found, list[k - 1].task, list[k].task);
    free(list);
    return BB_OK;
}

static void find_blanks(size_t tasks, char *const *name, pairs *found) {
    for (size_t i = 1; i < tasks; i++)
        if (bb_names_trimmed_are_same(name[i - 1], name[i])) note_pair(found, i - 1, i);
}

static json_t *say_pairs(const pairs *p, char *const *name, const char *how) {
    const char *const one = name[p->first], *const other = name[p->second];
    char first[BB_SHOWN_BYTES], second[BB_SHOWN_BYTES], more[60] = "";
    if (p->count > 1) snprintf(more, sizeof more, " (and %zu more)", p->count - 1);
    return json_sprintf("tasks %s and %s are two, and their names %s%s: a task that is "
                        "written in two ways is protected as two",
                        bb_shown(first, one, strlen(one)),
                        bb_shown(second, other, strlen(other)), how, more);
}

static json_t *say_missing(const char *name) {
    char shown[BB_SHOWN_BYTES];
    return json_sprintf("task %s: its name says that it is missing, and all such rows "
                        "are one task: take out what is of an unknown task",
                        bb_shown(shown, name, strlen(name)));
}

bb_status bb_task_names_say(size_t tasks, char *const *name, json_t **out) {
    pairs numbers = {0}, blanks = {0};
    bb_status status = find_numbers(tasks, name, &numbers);
    if (status) return status;
    find_blanks(tasks, name, &blanks);
    json_t *list = json_array();
    int failed = 0;
    for (size_t i = 0; i < tasks; i++) {
        const size_t spelling = bb_scan_missing(name[i], strlen(name[i]));
        if (spelling != BB_SCAN_SPELLINGS && spelling != BB_SCAN_NONE)
            failed |= json_array_append_new(list, say_missing(name[i]));
    }
    if (numbers.count)
        failed |= json_array_append_new(
            list, say_pairs(&numbers, name, "are the same number"));
    if (blanks.count)
        failed |= json_array_append_new(
            list, say_pairs(&blanks, name, "differ in blanks at their ends"));
    if (failed || !list) {
        json_decref(list);
        return bb_fail(BB_ENOMEM, "no memory for what names of tasks say");
    }
    *out = list;
    return BB_OK;
}
