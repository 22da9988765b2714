#include "train/source.h"

#include "base/memory.h"
#include "data/encode.h"
#include "data/names.h"
#include "train/clusters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first option that is for files only, or NULL. */
static const char *for_files(const bb_read_options *o) {
    const struct {
        const char *name;
        bool given;
    } option[] = {{"task", o->task},         {"target", o->target},
                  {"features", o->features}, {"format", o->format != BB_FORMAT_AUTO},
                  {"labels", o->labels},     {"tasks", o->tasks},
                  {"missing", o->missing},   {"separator", o->separator}};
    for (size_t k = 0; k < sizeof option / sizeof *option; k++)
        if (option[k].given) return option[k].name;
    return NULL;
}

static bb_status copy_rows(const bb_dataset *rows, bb_dataset *out) {
    unsigned char *keep = NULL;
    bb_status status = bb_allocate(&keep, rows->rows, 1, "rows");
    if (status) return status;
    memset(keep, 1, rows->rows);
    status = bb_dataset_select(rows, keep, out);
    free(keep);
    return status;
}

/* Targets of the kind that is asked for. */
static bb_status fit_targets(const bb_read_options *o, bb_dataset *data) {
    const bool listed = data->label_first != NULL;
    if (o->target_ignored) {
        free(data->target_name);
        free(data->label_first);
        free(data->label);
        data->target_name = NULL;
        data->label_first = NULL;
        data->label = NULL;
        data->labels = 0;
        for (size_t r = 0; r < data->rows; r++) data->y[r] = NAN;
        return BB_OK;
    }
    if (!data->target_name && o->target_optional) return BB_OK;
    if (!data->target_name)
        return bb_fail(BB_EUSAGE, "%s: there are no targets", data->source);
    if (o->multilabel && !listed)
        return bb_fail(BB_EUSAGE, "%s: the multilabel loss needs lists of labels",
                       data->source);
    if (listed && !o->multilabel)
        return bb_fail(BB_EUSAGE, "%s: lists of labels are for the multilabel loss",
                       data->source);
    if (!listed || !o->outputs) return BB_OK;
    if (data->labels > o->outputs)
        return bb_fail(BB_EDATA, "%s: expected labels from 0 to %zu, found %zu",
                       data->source, o->outputs - 1, data->labels - 1);
    data->labels = o->outputs;
    return BB_OK;
}

static bool has(const bb_dataset *data, const char *column) {
    for (size_t k = 0; k < data->features; k++)
        if (strcmp(data->feature_name[k], column) == 0) return true;
    return false;
}

static bb_status leave_out(const bb_read_options *o, bb_dataset *data) {
    bb_names names = {0};
    bb_status status = bb_names_parse(&names, o->ignore, "--ignore");
    for (size_t k = 0; k < names.count && !status; k++) {
        const char *column = bb_names_at(&names, k);
        if (!o->for_run && !has(data, column))
            status = bb_fail(BB_EUSAGE, "%s: has no column \"%s\" to leave out",
                             data->source, column);
        else
            status = bb_clusters_drop(data, column);
    }
    bb_names_free(&names);
    return status;
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_read_so(const bb_read_options *a, const bb_read_options *b) {
    const struct {
        const char *one, *other;
    } text[] = {{a->task, b->task},
                {a->target, b->target},
                {a->features, b->features},
                {a->ignore, b->ignore},
                {a->labels, b->labels},
                {a->tasks, b->tasks},
                {a->separator, b->separator},
                {a->missing, b->missing},
                {a->categories, b->categories},
                {a->image, b->image}};
    for (size_t k = 0; k < sizeof text / sizeof *text; k++)
        if (!same_text(text[k].one, text[k].other)) return false;
    return a->format == b->format && a->keep_missing == b->keep_missing &&
           a->target_missing == b->target_missing &&
           a->target_ignored == b->target_ignored &&
           a->target_optional == b->target_optional && a->for_run == b->for_run &&
           a->public_shape == b->public_shape && a->multilabel == b->multilabel &&
           a->outputs == b->outputs && !a->slice && !b->slice;
}

bb_status bb_source_read(const bb_source *source, const bb_read_options *o,
                         bb_dataset *out) {
    bb_dataset data = {0};
    if (source->path && source->as && is_read_so(source->as, o))
        return copy_rows(source->rows, out);
    if (source->path) return bb_read(source->path, o, out);
    const char *name = o->for_run ? NULL : for_files(o);
    if (name)
        return bb_fail(BB_EUSAGE, "--%s is for files: %s say it themselves", name,
                       source->rows->source);
    bb_status status = o->for_run ? BB_OK : bb_levels_only_classes(o->categories, o);
    if (!status) status = copy_rows(source->rows, &data);
    if (!status) status = fit_targets(o, &data);
    if (!status && o->ignore) status = leave_out(o, &data);
    if (!status && o->image) status = bb_read_image(o->image, &data);
    if (status)
        bb_dataset_free(&data);
    else
        *out = data;
    return status;
}
