/* Writing DATA.bb: the rows of every part go to their places in the file. */
#include "data/bbfile_write.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <zlib.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put_word(char *at, uint64_t word, size_t bytes) {
    for (size_t k = 0; k < bytes; k++) at[k] = (char)(word >> 8 * k);
}

static void *section(const bb_bbfile_writer *w, bb_section k) {
    return w->map.at + w->at[k];
}

bb_status bb_bbfile_begin(bb_bbfile_writer *w) {
    const size_t d = w->shape.features;
    size_t end = BB_BBFILE_PAGE;
    if (!bb_bbfile_sizes(&w->shape, w->bytes))
        return bb_fail(BB_EDATA, "there are more rows than a file can have");
    for (size_t k = 0; k < BB_SECTIONS; k++) {
        w->at[k] = end;
        end += (w->bytes[k] + BB_BBFILE_PAGE - 1) / BB_BBFILE_PAGE * BB_BBFILE_PAGE;
    }
    w->footer = end;
    bb_status status = bb_allocate(&w->least, d, sizeof *w->least, "columns");
    if (!status) status = bb_allocate(&w->most, d, sizeof *w->most, "columns");
    for (size_t k = 0; k < d && !status; k++) w->least[k] = w->most[k] = NAN;
    w->target_least = w->target_most = NAN;
    /* taken now: a page of a map that the disk has no room for would end the process */
    const int error = status ? 0 : posix_fallocate(w->file, 0, (off_t)end);
    if (error)
        return bb_fail(BB_EIO, "%s: no room for %zu bytes: %s", w->path, end,
                       strerror(error));
    return status ? status : bb_map_descriptor(&w->map, w->file, end);
}

static void note(double value, double *least, double *most) {
    *least = fmin(*least, value);
    *most = fmax(*most, value);
}

static void put_number(const bb_bbfile_writer *w, bb_section k, size_t at,
                       double value) {
    if (w->shape.single)
        ((float *)section(w, k))[at] = (float)value;
    else
        ((double *)section(w, k))[at] = value;
}

static void put_dense(bb_bbfile_writer *w, const double *x, size_t row) {
    const size_t d = w->shape.features;
    if (!w->shape.single)
        memcpy((double *)section(w, BB_SECTION_X) + row * d, x, d * sizeof *x);
    for (size_t k = 0; k < d; k++) {
        if (w->shape.single) put_number(w, BB_SECTION_X, row * d + k, x[k]);
        note(x[k], &w->least[k], &w->most[k]);
    }
}

static void put_entries(bb_bbfile_writer *w, const bb_dataset *data, size_t r,
                        size_t row, size_t at) {
    uint64_t *const start = section(w, BB_SECTION_ENTRY_FIRST);
    uint32_t *const column = section(w, BB_SECTION_COLUMN);
    for (size_t e = data->sparse_first[r]; e < data->sparse_first[r + 1]; e++, at++) {
        const uint32_t k = data->sparse_column[e];
        column[at] = k;
        put_number(w, BB_SECTION_VALUE, at, data->sparse_value[e]);
        note(data->sparse_value[e], &w->least[k], &w->most[k]);
    }
    start[row + 1] = at;
}

void bb_bbfile_put(bb_bbfile_writer *w, const bb_dataset *data, size_t r,
                   bb_bbfile_place place) {
    if (data->x)
        put_dense(w, data->x + r * data->features, place.row);
    else
        put_entries(w, data, r, place.row, place.entry);
    if (w->shape.target) {
        ((double *)section(w, BB_SECTION_TARGET))[place.row] = data->y[r];
        note(data->y[r], &w->target_least, &w->target_most);
    }
    if (!w->shape.labels) return;
    const size_t begin = data->label_first[r], n = data->label_first[r + 1] - begin;
    if (n)
        memcpy((uint32_t *)section(w, BB_SECTION_LABEL) + place.label,
               data->label + begin, n * sizeof *data->label);
    ((uint64_t *)section(w, BB_SECTION_LABEL_FIRST))[place.row + 1] = place.label + n;
}

void bb_bbfile_put_task(const bb_bbfile_writer *w, size_t task, size_t rows,
                        const char *name, size_t name_at) {
    ((uint64_t *)section(w, BB_SECTION_FIRST))[task + 1] = rows;
    memcpy((char *)section(w, BB_SECTION_NAMES) + name_at, name, strlen(name) + 1);
}

void bb_bbfile_leave(const bb_bbfile_writer *w) {
    bb_map_leave(&w->map);
}

/* -- the end: checksums, footer, header -- */

typedef struct sums {
    const char *at;
    size_t bytes;
    uint32_t *sum;
} sums;

static void sum_block(void *context, size_t item, size_t worker) {
    const sums *s = context;
    const size_t from = item * BB_BBFILE_BLOCK, left = s->bytes - from;
    (void)worker;
    s->sum[item] = (uint32_t)crc32_z(0, (const unsigned char *)s->at + from,
                                     left < BB_BBFILE_BLOCK ? left : BB_BBFILE_BLOCK);
}

static bb_status sum_section(const bb_bbfile_writer *w, size_t k, json_t **out) {
    const bb_engine engine = bb_engine_threads(w->threads);
    const size_t blocks =
        w->bytes[k] / BB_BBFILE_BLOCK + (w->bytes[k] % BB_BBFILE_BLOCK != 0);
    sums s = {.at = w->map.at + w->at[k], .bytes = w->bytes[k]};
    const bb_status status = bb_allocate(&s.sum, blocks, sizeof *s.sum, "checksums");
    if (status) return status;
    json_t *list = json_array();
    for (size_t from = 0; from < blocks; from += engine.workers) {
        /* as many at once as there are workers: what was summed up is given back */
        const size_t count =
            blocks - from < engine.workers ? blocks - from : engine.workers;
        sums part = {s.at + from * BB_BBFILE_BLOCK, s.bytes - from * BB_BBFILE_BLOCK,
                     s.sum + from};
        engine.each(&engine, count, sum_block, &part);
        bb_map_passed(&w->map, part.at, part.at + count * BB_BBFILE_BLOCK);
    }
    for (size_t b = 0; b < blocks; b++)
        json_array_append_new(list, json_integer((json_int_t)s.sum[b]));
    free(s.sum);
    *out = json_pack("{s:I,s:I,s:o}", "at", (json_int_t)w->at[k], "bytes",
                     (json_int_t)w->bytes[k], "crc32", list);
    return *out ? BB_OK : bb_fail(BB_ENOMEM, "no memory for a footer");
}

static json_t *numbers(const double *value, size_t count) {
    json_t *list = json_array();
    for (size_t k = 0; k < count; k++)
        json_array_append_new(list, bb_json_real(value[k]));
    return list;
}

static json_t *texts(char *const *text, size_t count) {
    json_t *list = json_array();
    for (size_t k = 0; k < count; k++)
        json_array_append_new(list, json_string(text[k]));
    return list;
}

static json_t *image(const bb_dataset *like) {
    if (!like->height) return json_null();
    return json_pack("[I,I,I]", (json_int_t)like->height, (json_int_t)like->width,
                     (json_int_t)like->channels);
}

static bb_status make_footer(const bb_bbfile_writer *w, char **text) {
    const bb_bbfile_shape *s = &w->shape;
    const bb_dataset *like = &w->like;
    json_t *sections = json_object();
    bb_status status = BB_OK;
    for (size_t k = 0; k < BB_SECTIONS && !status; k++) {
        json_t *one = NULL;
        if (!w->bytes[k]) continue;
        status = sum_section(w, k, &one);
        if (!status && json_object_set_new(sections, bb_section_name[k], one))
            status = bb_fail(BB_ENOMEM, "no memory for a footer");
    }
    if (status) {
        json_decref(sections);
        return status;
    }
    json_t *about = json_pack(
        "{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:s,s:b,s:b,s:I,s:o,s:o,s:o,s:o,s:{s:o,s:o,s:o,s:"
        "o}}",
        "tasks", (json_int_t)s->tasks, "rows", (json_int_t)s->rows, "features",
        (json_int_t)s->features, "entries", (json_int_t)s->entries, "listed",
        (json_int_t)s->listed, "name_bytes", (json_int_t)s->names, "labels",
        (json_int_t)(s->labels ? like->labels : 0), "type",
        s->single ? "float32" : "float64", "sparse", (int)s->sparse, "features_public",
        (int)w->features_public, "binary", (json_int_t)like->binary, "image",
        image(like), "target",
        like->target_name ? json_string(like->target_name) : json_null(),
        "feature_name", texts(like->feature_name, s->features), "sections", sections,
        "statistics", "column_least", numbers(w->least, s->features), "column_most",
        numbers(w->most, s->features), "target_least", bb_json_real(w->target_least),
        "target_most", bb_json_real(w->target_most));
    *text = about ? bb_json_text(about, 0) : NULL;
    json_decref(about);
    return *text ? BB_OK : bb_fail(BB_ENOMEM, "no memory for a footer");
}

static bb_status write_footer(const bb_bbfile_writer *w, const char *text,
                              size_t size) {
    size_t done = 0;
    while (done < size) {
        const ssize_t n =
            pwrite(w->file, text + done, size - done, (off_t)(w->footer + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return bb_fail(BB_EIO, "%s: %s", w->path, strerror(errno));
        done += (size_t)n;
    }
    return BB_OK;
}

bb_status bb_bbfile_end(bb_bbfile_writer *w, size_t *bytes) {
    char *text = NULL, *const at = w->map.at;
    bb_status status = make_footer(w, &text);
    const size_t size = text ? strlen(text) : 0;
    if (!status) status = write_footer(w, text, size);
    if (!status) {
        for (size_t k = 0; k < 8; k++) at[k] = BB_BBFILE_MAGIC[k];
        put_word(at + 8, BB_BBFILE_VERSION, 4);
        put_word(at + 16, w->footer, 8);
        put_word(at + 24, size, 8);
        put_word(at + 32, crc32_z(0, (const unsigned char *)text, size), 4);
        put_word(at + 36, crc32_z(0, (const unsigned char *)at, 36), 4);
        *bytes = w->footer + size;
    }
    free(text);
    return status;
}

void bb_bbfile_close(bb_bbfile_writer *w) {
    bb_map_close(&w->map);
    bb_dataset_free(&w->like);
    free(w->least);
    free(w->most);
}
