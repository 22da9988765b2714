/* Rows of any format to one file that is grouped by task.
 *
 * Two passes over the sources, part by part: the first counts every task's rows, so that
 * all places in the file are known, and the second puts rows there. */
#include "base/file.h"
#include "base/memory.h"
#include "data/bbfile_write.h"
#include "data/names.h"
#include "data/slice.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* How many rows, entries and labels a task has; in the second pass, where its next go. */
typedef struct counts {
    size_t rows, entries, labels, end;
} counts;

typedef struct parts {
    size_t count; /* 0: not cut yet; 1 with `whole` */
    bool whole;
} parts;

typedef struct converter {
    const bb_convert_source *source;
    size_t sources;
    const bb_convert_options *options;
    parts *cut; /* sources */
    bb_names tasks;
    counts *of; /* tasks, in the order in which they were met */
    size_t room, met, dropped, taken;
    bb_text_counts texts;
    bb_dataset kept; /* the only part, between the passes */
    bool has_kept;
    bb_bbfile_writer writer;
} converter;

typedef bb_status taking(converter *c, bb_dataset *part);

/* -- reading part by part -- */

static bb_status cut_source(const converter *c, const char *path, parts *cut) {
    struct stat about;
    bb_slice slice;
    const bb_status status = bb_slice_cut(path, &c->options->read, 0, 1, &slice);
    if (status) return status;
    *cut = (parts){.count = 1, .whole = slice.whole};
    if (slice.whole || !c->options->memory || stat(path, &about)) return BB_OK;
    cut->count = 1 + (size_t)about.st_size / c->options->memory;
    return BB_OK;
}

static bb_status read_whole(converter *c, const char *path, taking *take) {
    bb_dataset data = {0};
    const bb_status status = bb_read(path, &c->options->read, &data);
    return status ? status : take(c, &data);
}

/* *torn: the parts cannot be read by themselves after all. */
static bb_status read_parts(converter *c, const char *path, size_t count, taking *take,
                            bool *torn) {
    bb_read_options o = c->options->read;
    bb_slice *slice = NULL;
    size_t line = 1;
    bb_status status = bb_allocate(&slice, count, sizeof *slice, "a file's parts");
    for (size_t k = 0; k < count && !status && !*torn; k++) {
        bb_dataset data = {0};
        status = bb_slice_cut(path, &o, k, count, &slice[k]);
        if (status) break;
        slice[k].line = line;
        o.slice = &slice[k];
        status = bb_read(path, &o, &data);
        o.slice = NULL;
        *torn = slice[k].whole;
        if (*torn || status) {
            bb_dataset_free(&data);
            if (*torn) status = BB_OK;
            break;
        }
        line = (slice[k].first ? 1 : line) + slice[k].lines;
        status = take(c, &data);
    }
    if (!status && !*torn) status = bb_slices_join(path, count, slice);
    *torn = *torn || (!status && slice[0].whole);
    free(slice);
    return status;
}

/* Everything once more where parts turn out not to be: what they counted is taken back. */
static bb_status read_cut(converter *c, const char *path, parts *cut, taking *take) {
    counts *before = NULL;
    const size_t known = c->tasks.count, taken = c->taken, dropped = c->dropped;
    bool torn = false;
    bb_status status = bb_allocate(&before, known, sizeof *before, "tasks");
    if (!status && known) memcpy(before, c->of, known * sizeof *before);
    if (!status) status = read_parts(c, path, cut->count, take, &torn);
    if (!status && torn && c->writer.map.at)
        status = bb_fail(BB_EDATA, "%s: changed while it was read", path);
    if (!status && torn) {
        *cut = (parts){.count = 1, .whole = true};
        c->taken = taken;
        c->dropped = dropped;
        for (size_t i = 0; i < c->tasks.count; i++)
            c->of[i] = i < known ? before[i] : (counts){0};
        status = read_whole(c, path, take);
    }
    free(before);
    return status;
}

static bb_status read_sources(converter *c, taking *take) {
    bb_status status = BB_OK;
    for (size_t s = 0; s < c->sources && !status; s++) {
        const char *const path = c->source[s].path;
        parts *const cut = &c->cut[s];
        if (!path) {
            bb_dataset borrowed = *c->source[s].rows;
            status = take(c, &borrowed);
            continue;
        }
        if (!cut->count) status = cut_source(c, path, cut);
        if (status) break;
        status = cut->whole || cut->count == 1 ? read_whole(c, path, take)
                                               : read_cut(c, path, cut, take);
    }
    return status;
}

/* -- the first pass -- */

static bool is_borrowed(const converter *c, const bb_dataset *part) {
    for (size_t s = 0; s < c->sources; s++)
        if (!c->source[s].path && c->source[s].rows->first == part->first) return true;
    return false;
}

static void done_with(const converter *c, bb_dataset *part) {
    if (!is_borrowed(c, part)) bb_dataset_free(part);
}

/* Columns and targets as the first part has them. Of sparse rows, the part with the most
 * columns. */
static bb_status take_like(converter *c, const bb_dataset *part) {
    const bb_shape shape = {.features = part->features,
                            .feature_name = part->feature_name};
    bb_dataset like = {0};
    const bb_status status = bb_dataset_open(&like, part, shape);
    if (status) return status;
    bb_dataset_free(&c->writer.like);
    c->writer.like = like;
    return BB_OK;
}

static bb_status check_like(converter *c, const bb_dataset *part) {
    const bb_dataset *like = &c->writer.like;
    if (!like->source) return take_like(c, part);
    const bool sparse = !part->x, target = part->target_name != NULL;
    const size_t d = like->features < part->features ? like->features : part->features;
    if (sparse != (like->sparse_first != NULL) || (!sparse && part->features != d) ||
        (!sparse && like->features != d))
        return bb_fail(BB_EDATA, "%s: expected %zu %s columns as in %s, found %zu %s",
                       part->source, like->features,
                       like->sparse_first ? "sparse" : "dense", like->source,
                       part->features, sparse ? "sparse" : "dense");
    for (size_t k = 0; k < d; k++)
        if (strcmp(part->feature_name[k], like->feature_name[k]) != 0)
            return bb_fail(BB_EDATA,
                           "%s: expected the column \"%s\" as in %s, found \"%s\"",
                           part->source, like->feature_name[k], like->source,
                           part->feature_name[k]);
    if (target != (like->target_name != NULL) ||
        (target && strcmp(part->target_name, like->target_name) != 0) ||
        !part->label_first != !like->label_first)
        return bb_fail(BB_EDATA, "%s: its targets are others than those of %s",
                       part->source, like->source);
    const size_t labels = part->labels > like->labels ? part->labels : like->labels;
    const bb_status status =
        part->features > like->features ? take_like(c, part) : BB_OK;
    if (!status) c->writer.like.labels = labels;
    return status;
}

static bb_status count_task(converter *c, const bb_dataset *part, size_t i) {
    const char *name = part->task_name[i];
    const size_t from = part->first[i], to = part->first[i + 1];
    size_t at = 0;
    bb_status status = bb_names_add(&c->tasks, name, strlen(name), &at);
    if (!status)
        status = bb_grow(&c->of, &c->room, c->tasks.count, sizeof *c->of, "tasks");
    if (status) return status;
    for (; c->met < c->tasks.count; c->met++) c->of[c->met] = (counts){0};
    c->of[at].rows += to - from;
    if (!part->x)
        c->of[at].entries += part->sparse_first[to] - part->sparse_first[from];
    if (part->label_first)
        c->of[at].labels += part->label_first[to] - part->label_first[from];
    return BB_OK;
}

static bb_status count(converter *c, bb_dataset *part) {
    bb_status status = check_like(c, part);
    for (size_t i = 0; i < part->tasks && !status; i++) status = count_task(c, part, i);
    c->dropped += part->dropped;
    c->taken++;
    const bool only = !status && c->sources == 1 && c->cut[0].count <= 1;
    if (only && !is_borrowed(c, part)) {
        c->kept = *part;
        c->has_kept = true;
    } else {
        done_with(c, part);
    }
    return status;
}

/* -- between the passes: the order of the tasks, and where everything goes -- */

typedef struct named {
    const char *name;
    size_t at;
} named;

static int compare_names(const void *a, const void *b) {
    return bb_names_compare(((const named *)a)->name, ((const named *)b)->name);
}

static bb_status order_tasks(const converter *c, named **out) {
    const bb_status status = bb_allocate(out, c->tasks.count, sizeof **out, "tasks");
    if (status) return status;
    for (size_t i = 0; i < c->tasks.count; i++)
        (*out)[i] = (named){bb_names_at(&c->tasks, i), i};
    qsort(*out, c->tasks.count, sizeof **out, compare_names);
    return BB_OK;
}

static bb_bbfile_shape measure(const converter *c) {
    const bb_dataset *like = &c->writer.like;
    bb_bbfile_shape shape = {.tasks = c->tasks.count,
                             .features = like->features,
                             .names = c->tasks.used,
                             .single = c->options->single,
                             .sparse = like->sparse_first != NULL,
                             .labels = like->label_first != NULL,
                             .target = like->target_name && !like->label_first};
    for (size_t i = 0; i < c->tasks.count; i++) {
        shape.rows += c->of[i].rows;
        shape.entries += c->of[i].entries;
        shape.listed += c->of[i].labels;
    }
    return shape;
}

static void place_tasks(converter *c, const named *list) {
    size_t row = 0, entry = 0, label = 0, name_at = 0;
    for (size_t i = 0; i < c->tasks.count; i++) {
        counts *const of = &c->of[list[i].at];
        const counts n = *of;
        *of = (counts){row, entry, label, row + n.rows};
        row += n.rows;
        entry += n.entries;
        label += n.labels;
        bb_bbfile_put_task(&c->writer, i, row, list[i].name, name_at);
        name_at += strlen(list[i].name) + 1;
    }
}

static bb_status begin(converter *c) {
    named *list = NULL;
    c->writer.shape = measure(c);
    if (c->writer.shape.rows == 0)
        return bb_fail(BB_EDATA, "%s: there are no rows", c->writer.like.source);
    bb_status status = order_tasks(c, &list);
    if (!status) status = bb_bbfile_begin(&c->writer);
    if (!status) place_tasks(c, list);
    free(list);
    return status;
}

/* -- the second pass -- */

static bb_status put_task(converter *c, const bb_dataset *part, size_t i) {
    const char *name = part->task_name[i];
    const size_t at = bb_names_find(&c->tasks, name, strlen(name));
    const size_t from = part->first[i], to = part->first[i + 1];
    if (at == SIZE_MAX || to - from > c->of[at].end - c->of[at].rows)
        return bb_fail(BB_EDATA, "%s: changed while it was read", part->source);
    counts *const next = &c->of[at];
    for (size_t r = from; r < to; r++) {
        const size_t entries =
            part->x ? 0 : part->sparse_first[r + 1] - part->sparse_first[r];
        const size_t labels =
            part->label_first ? part->label_first[r + 1] - part->label_first[r] : 0;
        if (next->entries + entries > c->writer.shape.entries ||
            next->labels + labels > c->writer.shape.listed)
            return bb_fail(BB_EDATA, "%s: changed while it was read", part->source);
        bb_bbfile_put(&c->writer, part, r,
                      (bb_bbfile_place){next->rows, next->entries, next->labels});
        next->rows++;
        next->entries += entries;
        next->labels += labels;
    }
    return BB_OK;
}

static bb_status put(converter *c, bb_dataset *part) {
    bb_status status = BB_OK;
    if (part->features > c->writer.like.features)
        status = bb_fail(BB_EDATA, "%s: changed while it was read", part->source);
    for (size_t i = 0; i < part->tasks && !status; i++) status = put_task(c, part, i);
    bb_text_counts_join(&c->texts, &part->texts);
    done_with(c, part);
    bb_bbfile_leave(&c->writer);
    return status;
}

static bb_status put_all(converter *c) {
    bb_dataset kept = c->kept;
    bb_status status = BB_OK;
    if (c->has_kept) {
        c->kept = (bb_dataset){0};
        status = put(c, &kept);
    } else {
        status = read_sources(c, put);
    }
    for (size_t i = 0; i < c->tasks.count && !status; i++)
        if (c->of[i].rows != c->of[i].end)
            status = bb_fail(BB_EDATA, "%s: changed while it was read",
                             c->writer.like.source);
    return status;
}

/* A file whose columns are rows' own affair says only what occurs in them. */
static bool knows_features(const converter *c) {
    return !c->writer.like.sparse_first || c->options->read.features;
}

static bb_status write_rows(converter *c, const char *path, bb_converted *out) {
    bb_file_new file;
    bb_status status = bb_file_begin(&file, path);
    if (status) return status;
    c->writer.path = path;
    c->writer.file = file.descriptor;
    c->writer.threads = c->options->read.threads;
    c->writer.features_public = knows_features(c);
    status = begin(c);
    if (!status) status = put_all(c);
    size_t bytes = 0;
    if (!status) status = bb_bbfile_end(&c->writer, &bytes);
    const bb_bbfile_shape *shape = &c->writer.shape;
    *out = (bb_converted){shape->tasks, shape->rows, shape->features, shape->entries,
                          bytes,        c->dropped,  c->taken,        c->texts};
    c->texts = (bb_text_counts){0};
    return bb_file_end(&file, path, status);
}

static bb_status check_output(const converter *c, const char *path) {
    for (size_t s = 0; s < c->sources; s++)
        if (c->source[s].path && bb_file_same(c->source[s].path, path))
            return bb_fail(BB_EUSAGE, "%s: is read, and would be written over", path);
    return BB_OK;
}

bb_status bb_convert(const bb_convert_source *source, size_t sources,
                     const bb_convert_options *options, const char *path,
                     bb_converted *out) {
    converter c = {.source = source, .sources = sources, .options = options};
    bb_status status = check_output(&c, path);
    if (!status) status = bb_allocate(&c.cut, sources, sizeof *c.cut, "the sources");
    if (!status) status = read_sources(&c, count);
    if (!status) status = write_rows(&c, path, out);
    bb_bbfile_close(&c.writer);
    bb_dataset_free(&c.kept);
    bb_text_counts_close(&c.texts);
    bb_names_free(&c.tasks);
    free(c.cut);
    free(c.of);
    return status;
}
