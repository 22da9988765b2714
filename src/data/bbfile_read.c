/* Reading DATA.bb: nothing is believed that was not looked at. */
#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/parallel.h"
#include "data/bbfile.h"
#include "data/names.h"
#include "data/readers.h"
#include "data/slice.h"

#include <zlib.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const bb_section_name[BB_SECTIONS] = {"names", "first",       "target",
                                                  "x",     "entry_first", "column",
                                                  "value", "label_first", "label"};

bool bb_bbfile_sizes(const bb_bbfile_shape *s, size_t bytes[BB_SECTIONS]) {
    const size_t most = SIZE_MAX / 32, number = s->single ? 4 : 8;
    memset(bytes, 0, BB_SECTIONS * sizeof *bytes);
    if (s->tasks > most || s->rows > most || s->entries > most || s->listed > most ||
        s->names > most || s->features == 0 || s->features > BB_BBFILE_FEATURES ||
        (!s->sparse && s->rows > most / s->features))
        return false;
    bytes[BB_SECTION_NAMES] = s->names;
    bytes[BB_SECTION_FIRST] = 8 * (s->tasks + 1);
    if (s->target) bytes[BB_SECTION_TARGET] = 8 * s->rows;
    if (!s->sparse) bytes[BB_SECTION_X] = number * s->rows * s->features;
    if (s->sparse) {
        bytes[BB_SECTION_ENTRY_FIRST] = 8 * (s->rows + 1);
        bytes[BB_SECTION_COLUMN] = 4 * s->entries;
        bytes[BB_SECTION_VALUE] = number * s->entries;
    }
    if (s->labels) {
        bytes[BB_SECTION_LABEL_FIRST] = 8 * (s->rows + 1);
        bytes[BB_SECTION_LABEL] = 4 * s->listed;
    }
    return true;
}

typedef struct bbfile {
    const char *path;
    const bb_read_options *options;
    bb_map map;
    size_t footer; /* where it begins */
    json_t *about;
    bb_bbfile_shape shape;
    size_t at[BB_SECTIONS], bytes[BB_SECTIONS];
    const json_t *sum[BB_SECTIONS];
    size_t from_task, to_task, from, to; /* what is read: tasks, rows */
    bb_dataset data;
} bbfile;

static bb_status bad(const bbfile *f, const char *where, const char *words) {
    return bb_fail(BB_EDATA, "%s: %s: %s", f->path, where, words);
}

/* -- header and footer -- */

static uint64_t word_at(const char *at, size_t bytes) {
    uint64_t word = 0;
    for (size_t k = bytes; k-- > 0;) word = word << 8 | (unsigned char)at[k];
    return word;
}

static uint32_t sum_of(const char *at, size_t bytes) {
    return (uint32_t)crc32_z(0, (const unsigned char *)at, bytes);
}

static bb_status read_header(bbfile *f) {
    const char *const at = f->map.at;
    if (f->map.size < BB_BBFILE_HEADER || memcmp(at, BB_BBFILE_MAGIC, 8) != 0)
        return bad(f, "the header", "expected a file that `billboard convert' made");
    if (word_at(at + 8, 4) != BB_BBFILE_VERSION)
        return bb_fail(BB_EDATA, "%s: the header: expected version %d, found %u",
                       f->path, BB_BBFILE_VERSION, (unsigned)word_at(at + 8, 4));
    if (word_at(at + 36, 4) != sum_of(at, 36))
        return bad(f, "the header", "its checksum is wrong: the file is damaged");
    f->footer = word_at(at + 16, 8);
    const size_t size = word_at(at + 24, 8);
    if (f->footer > f->map.size || size != f->map.size - f->footer)
        return bb_fail(BB_EDATA,
                       "%s: the header: expected a file of %zu bytes, found %zu: it is "
                       "cut off",
                       f->path, f->footer + size, f->map.size);
    if (word_at(at + 32, 4) != sum_of(at + f->footer, size))
        return bad(f, "the footer", "its checksum is wrong: the file is damaged");
    json_error_t error;
    f->about = json_loadb(at + f->footer, size, JSON_REJECT_DUPLICATES, &error);
    return json_is_object(f->about) ? BB_OK
                                    : bad(f, "the footer", "expected a JSON object");
}

static bool take_count(const json_t *about, const char *name, size_t *out) {
    const json_t *value = json_object_get(about, name);
    if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
    *out = (size_t)json_integer_value(value);
    return true;
}

static bool take_flag(const json_t *about, const char *name, bool *out) {
    const json_t *value = json_object_get(about, name);
    *out = json_is_true(value);
    return json_is_boolean(value);
}

static bb_status take_section(bbfile *f, size_t k) {
    const json_t *section =
        json_object_get(json_object_get(f->about, "sections"), bb_section_name[k]);
    size_t bytes = 0;
    char where[64];
    snprintf(where, sizeof where, "section %s", bb_section_name[k]);
    if (!take_count(section, "at", &f->at[k]) || !take_count(section, "bytes", &bytes))
        return bad(f, where, "the footer does not say where it is");
    if (bytes != f->bytes[k])
        return bb_fail(BB_EDATA, "%s: %s: expected %zu bytes, found %zu", f->path,
                       where, f->bytes[k], bytes);
    if (f->at[k] % BB_BBFILE_PAGE || f->at[k] > f->footer ||
        bytes > f->footer - f->at[k])
        return bad(f, where, "it does not lie inside the file");
    f->sum[k] = json_object_get(section, "crc32");
    const size_t blocks = bytes / BB_BBFILE_BLOCK + (bytes % BB_BBFILE_BLOCK != 0);
    return json_is_array(f->sum[k]) && json_array_size(f->sum[k]) == blocks
               ? BB_OK
               : bad(f, where, "expected a checksum of every block");
}

static bb_status take_shape(bbfile *f) {
    bb_bbfile_shape *s = &f->shape;
    const json_t *about = f->about;
    const char *type = json_string_value(json_object_get(about, "type"));
    const bool good = take_count(about, "tasks", &s->tasks) &&
                      take_count(about, "rows", &s->rows) &&
                      take_count(about, "features", &s->features) &&
                      take_count(about, "entries", &s->entries) &&
                      take_count(about, "listed", &s->listed) &&
                      take_count(about, "name_bytes", &s->names) &&
                      take_count(about, "labels", &f->data.labels) &&
                      take_flag(about, "sparse", &s->sparse) && type &&
                      (strcmp(type, "float64") == 0 || strcmp(type, "float32") == 0);
    s->single = good && strcmp(type, "float32") == 0;
    s->labels = f->data.labels > 0;
    s->target = !s->labels && json_is_string(json_object_get(about, "target"));
    if (!good || s->tasks == 0 || s->rows == 0 || f->data.labels > BB_MOST_CLASSES ||
        !bb_bbfile_sizes(s, f->bytes))
        return bad(f, "the footer", "expected the sizes of tasks, rows and features");
    bb_status status = BB_OK;
    for (size_t k = 0; k < BB_SECTIONS && !status; k++)
        if (f->bytes[k]) status = take_section(f, k);
    return status;
}

static bb_status open_file(bbfile *f) {
    bb_status status = bb_map_file(&f->map, f->path);
    if (!status) status = read_header(f);
    return status ? status : take_shape(f);
}

static void close_file(bbfile *f) {
    json_decref(f->about);
    if (!f->data.file.at) bb_map_close(&f->map);
    bb_dataset_free(&f->data);
}

/* -- what is in the sections -- */

static const char *section(const bbfile *f, bb_section k) {
    return f->map.at + f->at[k];
}

static const uint64_t *words(const bbfile *f, bb_section k) {
    return (const uint64_t *)(const void *)section(f, k);
}

/* Blocks of sections, of what is read of them. */
typedef struct block {
    bb_section section;
    size_t number;
    bool sum, finite; /* what was found */
} block;

typedef struct blocks {
    const bbfile *file;
    block *list;
    size_t count;
} blocks;

static bool is_finite(const char *at, size_t bytes, bool single) {
    double far = 0.0; /* 0 times a number that is not finite is none */
    const double *wide = (const double *)(const void *)at;
    const float *narrow = (const float *)(const void *)at;
    for (size_t k = 0; !single && k < bytes / sizeof *wide; k++) far += 0.0 * wide[k];
    for (size_t k = 0; single && k < bytes / sizeof *narrow; k++)
        far += 0.0 * (double)narrow[k];
    return far == 0.0;
}

static void check_block(void *context, size_t item, size_t worker) {
    const blocks *all = context;
    const bbfile *f = all->file;
    block *b = &all->list[item];
    const size_t from = b->number * BB_BBFILE_BLOCK, left = f->bytes[b->section] - from;
    const size_t bytes = left < BB_BBFILE_BLOCK ? left : BB_BBFILE_BLOCK;
    const char *const at = section(f, b->section) + from;
    (void)worker;
    b->sum = sum_of(at, bytes) == (uint32_t)json_integer_value(
                                      json_array_get(f->sum[b->section], b->number));
    b->finite = true;
    if (b->section == BB_SECTION_X || b->section == BB_SECTION_VALUE)
        b->finite = is_finite(at, bytes, f->shape.single);
    if (b->section == BB_SECTION_TARGET) b->finite = is_finite(at, bytes, false);
    if (bytes == BB_BBFILE_BLOCK) bb_map_passed(&f->map, at, at + 2 * bytes);
}

/* The bytes of a section that hold what is read. */
static void range_of(const bbfile *f, bb_section k, size_t *from, size_t *to) {
    const size_t number = f->shape.single ? 4 : 8, width = number * f->shape.features;
    *from = 0;
    *to = f->bytes[k];
    if (k != BB_SECTION_TARGET && k != BB_SECTION_X) return;
    *from = f->from * (k == BB_SECTION_X ? width : 8);
    *to = f->to * (k == BB_SECTION_X ? width : 8);
}

static bb_status list_blocks(const bbfile *f, blocks *all) {
    size_t room = 0;
    bb_status status = BB_OK;
    for (bb_section k = 0; k < BB_SECTIONS && !status; k++) {
        size_t from, to;
        range_of(f, k, &from, &to);
        for (size_t b = from / BB_BBFILE_BLOCK; b * BB_BBFILE_BLOCK < to && !status;
             b++) {
            status = bb_grow(&all->list, &room, all->count + 1, sizeof *all->list,
                             "a file's blocks");
            if (!status) all->list[all->count++] = (block){k, b, false, false};
        }
    }
    return status;
}

static bb_status check_blocks(const bbfile *f) {
    const bb_engine engine = bb_engine_threads(f->options->threads);
    blocks all = {.file = f};
    bb_status status = list_blocks(f, &all);
    if (!status) engine.each(&engine, all.count, check_block, &all);
    for (size_t k = 0; k < all.count && !status; k++) {
        const block *b = &all.list[k];
        const char *const name = bb_section_name[b->section];
        if (!b->sum)
            status = bb_fail(BB_EDATA,
                             "%s: section %s, block %zu: its checksum is wrong: the "
                             "file is damaged",
                             f->path, name, b->number);
        else if (!b->finite)
            status =
                bb_fail(BB_EDATA, "%s: section %s, block %zu: expected finite numbers",
                        f->path, name, b->number);
    }
    free(all.list);
    return status;
}

/* From 0 up to `end`, never down. */
static bb_status check_starts(const bbfile *f, bb_section k, size_t count, size_t end) {
    const uint64_t *start = words(f, k);
    bool good = start[0] == 0 && start[count] == end;
    for (size_t i = 0; i < count && good; i++) good = start[i] <= start[i + 1];
    return good ? BB_OK
                : bb_fail(BB_EDATA,
                          "%s: section %s: expected numbers from 0 to %zu, "
                          "none below the one before",
                          f->path, bb_section_name[k], end);
}

/* In every row ascending, and below `end`. */
static bb_status check_lists(const bbfile *f, bb_section starts, bb_section k,
                             size_t end) {
    const uint64_t *start = words(f, starts);
    const uint32_t *item = (const uint32_t *)(const void *)section(f, k);
    for (size_t r = 0; r < f->shape.rows; r++)
        for (uint64_t e = start[r]; e < start[r + 1]; e++)
            if (item[e] >= end || (e > start[r] && item[e - 1] >= item[e]))
                return bb_fail(BB_EDATA,
                               "%s: section %s, row %zu: expected ascending numbers "
                               "below %zu, found %u",
                               f->path, bb_section_name[k], r + 1, end, item[e]);
    return BB_OK;
}

static bb_status check_rows(const bbfile *f) {
    const bb_bbfile_shape *s = &f->shape;
    bb_status status = check_starts(f, BB_SECTION_FIRST, s->tasks, s->rows);
    if (!status && s->sparse) {
        status = check_starts(f, BB_SECTION_ENTRY_FIRST, s->rows, s->entries);
        if (!status)
            status =
                check_lists(f, BB_SECTION_ENTRY_FIRST, BB_SECTION_COLUMN, s->features);
    }
    if (!status && s->labels) {
        status = check_starts(f, BB_SECTION_LABEL_FIRST, s->rows, s->listed);
        if (!status)
            status = check_lists(f, BB_SECTION_LABEL_FIRST, BB_SECTION_LABEL,
                                 f->data.labels);
    }
    return status;
}

/* The names, which lie in the order of the data set: so there are no two alike. */
static bb_status take_tasks(bbfile *f) {
    const char *at = section(f, BB_SECTION_NAMES), *const end = at + f->shape.names;
    const size_t tasks = f->to_task - f->from_task;
    const char *before = NULL, **name = NULL;
    bb_status status = bb_allocate(&name, tasks ? tasks : 1, sizeof *name, "tasks");
    for (size_t i = 0; i < f->shape.tasks && !status; i++) {
        const char *const stop =
            at && at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
        if (!stop || stop == at || !bb_is_utf8(at, (size_t)(stop - at)) ||
            (before && bb_names_compare(before, at) >= 0)) {
            char where[64];
            snprintf(where, sizeof where, "section names, task %zu", i + 1);
            status = bad(f, where, "expected a name behind the one before");
        } else if (i >= f->from_task && i < f->to_task) {
            name[i - f->from_task] = at;
        }
        before = at;
        if (!status) at = stop + 1;
    }
    if (!status && at != end) status = bad(f, "section names", "it is too long");
    if (!status)
        status =
            bb_names_copy(&f->data.task_name, tasks, (char *const *)(const void *)name);
    free(name);
    return status;
}

/* -- columns -- */

/* Their names are read into a list, which knows of two alike. */
static bb_status list_features(const bbfile *f, bb_names *names) {
    const json_t *list = json_object_get(f->about, "feature_name");
    bb_status status = BB_OK;
    if (json_array_size(list) != f->shape.features)
        return bad(f, "the footer", "expected a name for every feature");
    for (size_t k = 0; k < f->shape.features && !status; k++) {
        const char *name = json_string_value(json_array_get(list, k));
        size_t at = 0;
        if (!name || !*name) return bad(f, "the footer", "a feature has no name");
        status = bb_names_add(names, name, strlen(name), &at);
        if (!status && at != k)
            status = bad(f, "the footer", "two features have one name");
    }
    return status;
}

/* --features N adds columns of zeros to sparse rows. */
static bb_status widen(const bbfile *f, bb_names *names) {
    const bb_read_options *o = f->options;
    uint64_t count = 0;
    if (!o->features) return BB_OK;
    if (!f->shape.sparse)
        return bb_fail(BB_EUSAGE,
                       "%s: its features were chosen when it was made: give --features "
                       "to `billboard convert'",
                       f->path);
    if (!bb_number_count(o->features, &count) || count < f->shape.features ||
        count > BB_BBFILE_FEATURES)
        return bb_fail(BB_EUSAGE,
                       "%s: --features expects how many there are, at least %zu, got "
                       "\"%s\"",
                       f->path, f->shape.features, o->features);
    bb_status status = BB_OK;
    for (size_t k = names->count; k < count && !status; k++) {
        char name[32];
        size_t at;
        const int length = snprintf(name, sizeof name, "x%zu", k + 1);
        status = bb_names_add(names, name, (size_t)length, &at);
    }
    return status;
}

static bb_status take_features(bbfile *f) {
    bb_names names = {0};
    bool known = false;
    bb_status status = list_features(f, &names);
    if (!take_flag(f->about, "features_public", &known))
        status = status ? status : bad(f, "the footer", "features_public is missing");
    if (!status && f->options->public_shape && !known && !f->options->features)
        status = bb_fail(BB_EUSAGE,
                         "%s: a private run must be told how many features there are, "
                         "which is public: --features N",
                         f->path);
    if (!status) status = widen(f, &names);
    if (!status) status = bb_names_list(&f->data.feature_name, &names);
    f->data.features = names.count;
    if (!status && take_count(f->about, "binary", &f->data.binary) &&
        f->data.binary > f->data.features)
        status = bad(f, "the footer", "more binary columns than features");
    bb_names_free(&names);
    return status;
}

static bb_status take_image(bbfile *f) {
    const json_t *image = json_object_get(f->about, "image");
    size_t size[3] = {0};
    double pixels = 1.0;
    if (!image || json_is_null(image)) return BB_OK;
    for (size_t k = 0; k < 3; k++) {
        size[k] = (size_t)json_integer_value(json_array_get(image, k));
        pixels *= (double)size[k];
    }
    if (pixels != (double)f->data.features)
        return bad(f, "the footer", "the image has not as many pixels as features");
    f->data.height = size[0];
    f->data.width = size[1];
    f->data.channels = size[2];
    return BB_OK;
}

/* -- rows -- */

static bb_status take_dense(bbfile *f) {
    const size_t d = f->shape.features, rows = f->to - f->from;
    const char *const at = section(f, BB_SECTION_X);
    bb_dataset *data = &f->data;
    if (!f->shape.single) {
        data->x = (double *)(uintptr_t)(at + 8 * f->from * d);
        return BB_OK;
    }
    const float *x = (const float *)(const void *)(at + 4 * f->from * d);
    const bb_status status = bb_dataset_open_dense(data);
    for (size_t r = 0; r < rows && !status; r++) {
        for (size_t k = 0; k < d; k++) data->x[r * d + k] = (double)x[r * d + k];
        bb_dataset_passed(data, r, r + 1);
        bb_map_passed(&f->map, x + r * d, x + (r + 1) * d);
    }
    return status;
}

/* A part of the rows counts its entries from 0. */
static bb_status rebase(size_t **out, const uint64_t *start, size_t from, size_t to) {
    const bb_status status = bb_allocate(out, to - from + 1, sizeof **out, "rows");
    for (size_t r = from; r <= to && !status; r++)
        (*out)[r - from] = (size_t)(start[r] - start[from]);
    return status;
}

static bb_status take_sparse(bbfile *f) {
    const uint64_t *start = words(f, BB_SECTION_ENTRY_FIRST);
    const size_t begin = (size_t)start[f->from], count = (size_t)start[f->to] - begin;
    const uint32_t *column =
        (const uint32_t *)(const void *)section(f, BB_SECTION_COLUMN);
    const char *value = section(f, BB_SECTION_VALUE);
    bb_dataset *data = &f->data;
    data->sparse_column = (uint32_t *)(uintptr_t)(column + begin);
    bb_status status = rebase(&data->sparse_first, start, f->from, f->to);
    if (!f->shape.single) {
        data->sparse_value = (double *)(uintptr_t)(value + 8 * begin);
        return status;
    }
    if (!status)
        status = bb_allocate(&data->sparse_value, count, sizeof(double), "rows");
    const float *narrow = (const float *)(const void *)(value + 4 * begin);
    for (size_t r = 0; r < f->to - f->from && !status; r++) {
        const size_t from = data->sparse_first[r], to = data->sparse_first[r + 1];
        for (size_t e = from; e < to; e++) data->sparse_value[e] = (double)narrow[e];
        bb_dataset_passed(data, r, r + 1);
        bb_map_passed(&f->map, narrow + from, narrow + to);
    }
    return status;
}

static bb_status take_labels(bbfile *f) {
    const bb_read_options *o = f->options;
    const uint64_t *start = words(f, BB_SECTION_LABEL_FIRST);
    const uint32_t *label =
        (const uint32_t *)(const void *)section(f, BB_SECTION_LABEL);
    if (o->outputs && f->data.labels > o->outputs)
        return bb_fail(BB_EDATA, "%s: expected labels from 0 to %zu, found %zu",
                       f->path, o->outputs - 1, f->data.labels - 1);
    if (o->outputs) f->data.labels = o->outputs;
    f->data.label = (uint32_t *)(uintptr_t)(label + start[f->from]);
    return rebase(&f->data.label_first, start, f->from, f->to);
}

/* Targets of the kind that is asked for. */
static bb_status take_targets(bbfile *f) {
    const bb_read_options *o = f->options;
    const char *name = json_string_value(json_object_get(f->about, "target"));
    const size_t rows = f->to - f->from;
    bb_dataset *data = &f->data;
    bb_status status = bb_allocate(&data->y, rows, sizeof *data->y, "rows");
    for (size_t r = 0; r < rows && !status; r++) data->y[r] = NAN;
    if (status) return status;
    if (o->target_ignored || (!name && o->target_optional)) {
        data->labels = 0;
        return BB_OK;
    }
    if (!name || (o->target && strcmp(o->target, name) != 0))
        return bb_fail(BB_EDATA, "%s: expected the target \"%s\", found %s%s%s",
                       f->path, o->target ? o->target : "y", name ? "\"" : "none",
                       name ? name : "", name ? "\"" : "");
    if (o->multilabel != f->shape.labels)
        return bb_fail(BB_EUSAGE, "%s: %s", f->path,
                       o->multilabel ? "the multilabel loss needs lists of labels"
                                     : "lists of labels are for the multilabel loss");
    status = bb_duplicate(&data->target_name, name, strlen(name));
    if (!status && f->shape.labels) return take_labels(f);
    if (!status) memcpy(data->y, section(f, BB_SECTION_TARGET) + 8 * f->from, 8 * rows);
    return status;
}

static bb_status take_rows(bbfile *f) {
    const size_t tasks = f->to_task - f->from_task, rows = f->to - f->from;
    const uint64_t *first = words(f, BB_SECTION_FIRST);
    bb_dataset *data = &f->data;
    data->tasks = tasks;
    data->rows = rows;
    data->memory = f->options->memory;
    data->file = f->map; /* before anything in it is the data set's */
    bb_status status =
        bb_allocate(&data->first, tasks + 1, sizeof *data->first, "tasks");
    if (!status) status = bb_allocate(&data->line, rows, sizeof *data->line, "rows");
    if (status) return status;
    for (size_t i = 0; i <= tasks; i++)
        data->first[i] = (size_t)(first[f->from_task + i] - f->from);
    for (size_t i = 0; i < tasks; i++)
        for (size_t r = data->first[i], n = 1; r < data->first[i + 1]; r++, n++)
            data->line[r] = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    status = take_targets(f);
    if (!status) status = f->shape.sparse ? take_sparse(f) : take_dense(f);
    return status ? status : bb_duplicate(&data->source, f->path, strlen(f->path));
}

/* -- the parts of ranks: whole tasks, with about as many rows each -- */

static size_t task_at(const bbfile *f, size_t number, size_t count) {
    const uint64_t *first = words(f, BB_SECTION_FIRST);
    const size_t rows = f->shape.rows;
    const size_t wanted = rows / count * number + rows % count * number / count;
    size_t low = 0, high = f->shape.tasks;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (first[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return number == count ? f->shape.tasks : low;
}

bb_status bb_bbfile_cut(const char *path, const bb_read_options *options, size_t number,
                        size_t count, bb_slice *slice) {
    bbfile f = {.path = path, .options = options};
    bb_status status = open_file(&f);
    slice->size = f.map.size;
    if (!status)
        status = check_starts(&f, BB_SECTION_FIRST, f.shape.tasks, f.shape.rows);
    if (!status) {
        slice->from = task_at(&f, number, count);
        slice->to = task_at(&f, number + 1, count);
    }
    close_file(&f);
    /* who reads it as a whole says what is wrong */
    slice->whole = status == BB_EDATA;
    return slice->whole ? BB_OK : status;
}

static void take_part(bbfile *f) {
    const bb_slice *slice = f->options->slice;
    const uint64_t *first = words(f, BB_SECTION_FIRST);
    f->from_task = slice ? slice->from : 0;
    f->to_task = slice ? slice->to : f->shape.tasks;
    if (f->to_task > f->shape.tasks) f->to_task = f->shape.tasks;
    if (f->from_task > f->to_task) f->from_task = f->to_task;
    f->from = (size_t)first[f->from_task];
    f->to = (size_t)first[f->to_task];
}

bb_status bb_read_bbfile(const char *path, const bb_read_options *options,
                         bb_dataset *out) {
    bbfile f = {.path = path, .options = options};
    bb_status status = BB_OK;
    if ((options->task || options->ignore) && !options->for_run)
        return bb_fail(BB_EUSAGE,
                       "%s: its columns were chosen when it was made: give --task and "
                       "--ignore to `billboard convert'",
                       path);
    status = open_file(&f);
    if (!status)
        status = check_starts(&f, BB_SECTION_FIRST, f.shape.tasks, f.shape.rows);
    if (!status) take_part(&f);
    if (!status) status = check_blocks(&f);
    if (!status) status = check_rows(&f);
    if (!status) status = take_tasks(&f);
    if (!status) status = take_features(&f);
    if (!status) status = take_image(&f);
    if (!status) status = take_rows(&f);
    if (options->slice)
        options->slice->failed = options->slice->whole = status == BB_EDATA;
    if (!status) {
        bb_map_leave(&f.map);
        *out = f.data;
        f.data = (bb_dataset){0};
        f.map = (bb_map){0};
    }
    close_file(&f);
    return status;
}
