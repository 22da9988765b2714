#include "data/write.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "data/names.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct output {
    char *text;
    size_t used, room;
} output;

static bb_status put(output *out, const char *text, size_t length) {
    bb_status status =
        bb_grow(&out->text, &out->room, out->used + length, 1, "a file of rows");
    if (status) return status;
    memcpy(out->text + out->used, text, length);
    out->used += length;
    return BB_OK;
}

/* A name, in quotes where it needs them, and what follows it. */
static bb_status put_name(output *out, const char *name, const char *behind) {
    const size_t length = strlen(name);
    const bool plain = length && strcspn(name, ",\"\r\n") == length &&
                       !bb_is_blank(name[0]) && !bb_is_blank(name[length - 1]);
    bb_status status = plain ? put(out, name, length) : put(out, "\"", 1);
    for (size_t i = 0; !plain && !status && i < length; i++)
        status = put(out, name[i] == '"' ? "\"\"" : name + i, name[i] == '"' ? 2 : 1);
    if (!plain && !status) status = put(out, "\"", 1);
    return status ? status : put(out, behind, strlen(behind));
}

static bb_status put_header(output *out, const bb_dataset *data) {
    bb_status status = put(out, "task,", 5);
    if (!status)
        status = put_name(out, data->target_name ? data->target_name : "y", "");
    for (size_t k = 0; !status && k < data->features; k++) {
        status = put(out, ",", 1);
        if (!status) status = put_name(out, data->feature_name[k], "");
    }
    return status ? status : put(out, "\n", 1);
}

static bb_status put_number(output *out, double value, char behind) {
    char text[BB_NUMBER_BYTES + 1];
    const size_t length = bb_number_write(value, text);
    text[length] = behind;
    return put(out, text, length + 1);
}

static bb_status put_row(output *out, const bb_dataset *data, size_t task, size_t row) {
    const size_t d = data->features;
    bb_status status = put_name(out, data->task_name[task], ",");
    if (!status) status = put_number(out, data->y[row], d ? ',' : '\n');
    for (size_t k = 0; !status && k < d; k++)
        status = put_number(out, data->x[row * d + k], k + 1 < d ? ',' : '\n');
    return status;
}

bb_status bb_write_csv(const bb_dataset *data, const char *path) {
    assert(data->x);
    output out = {0};
    bb_status status = put_header(&out, data);
    for (size_t i = 0; i < data->tasks; i++)
        for (size_t r = data->first[i]; !status && r < data->first[i + 1]; r++)
            status = put_row(&out, data, i, r);
    if (!status) status = bb_file_write(path, out.text, out.used);
    free(out.text);
    return status;
}

/* The target or the labels of a row, which may be none. */
static bb_status put_target(output *out, const bb_dataset *data, size_t row) {
    if (!data->label_first) return put_number(out, data->y[row], ' ');
    const size_t begin = data->label_first[row], end = data->label_first[row + 1];
    bb_status status = begin == end ? put(out, " ", 1) : BB_OK;
    for (size_t k = begin; !status && k < end; k++)
        status = put_number(out, data->label[k], k + 1 < end ? ',' : ' ');
    return status;
}

static bb_status put_sparse_row(output *out, const bb_dataset *data, size_t task,
                                size_t row) {
    const size_t begin = data->sparse_first[row], end = data->sparse_first[row + 1];
    const char *const name = data->task_name[task];
    bb_status status = put_target(out, data, row);
    if (!status) status = put(out, "qid:", 4);
    if (!status) status = put(out, name, strlen(name));
    if (!status) status = put(out, begin < end ? " " : "\n", 1);
    for (size_t e = begin; !status && e < end; e++) {
        status = put_number(out, (double)data->sparse_column[e] + 1, ':');
        if (!status)
            status = put_number(out, data->sparse_value[e], e + 1 < end ? ' ' : '\n');
    }
    return status;
}

static bb_status check_name(const char *path, const char *name) {
    char shown[BB_SHOWN_BYTES];
    if (*name && !strpbrk(name, " \t\r\n#")) return BB_OK;
    return bb_fail(BB_EUSAGE,
                   "%s: LIBSVM files need names of tasks without spaces and #, got %s",
                   path, bb_shown(shown, name, strlen(name)));
}

bb_status bb_write_libsvm(const bb_dataset *data, const char *path) {
    assert(data->sparse_first);
    output out = {0};
    bb_status status = BB_OK;
    for (size_t i = 0; !status && i < data->tasks; i++) {
        status = check_name(path, data->task_name[i]);
        for (size_t r = data->first[i]; !status && r < data->first[i + 1]; r++)
            status = put_sparse_row(&out, data, i, r);
    }
    if (!status) status = bb_file_write(path, out.text, out.used);
    free(out.text);
    return status;
}
