#include "models/models.h"

#include "base/json.h"
#include "base/memory.h"
#include "data/names.h"
#include "models/models_file.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char what[] = "the models";

/* Names and kind, no numbers yet. */
static bb_status open_names(bb_models *m, const bb_dataset *data,
                            const bb_model_kind *kind) {
    *m = (bb_models){.tasks = data->tasks,
                     .features = data->features,
                     .loss = kind->loss,
                     .outputs = kind->outputs,
                     .image = kind->image,
                     .parameters = kind->parameters};
    bb_status status = bb_names_copy(&m->task_name, m->tasks, data->task_name);
    if (!status)
        status = bb_names_copy(&m->feature_name, m->features, data->feature_name);
    if (!status && kind->net)
        status = bb_duplicate(&m->net, kind->net, strlen(kind->net));
    return status;
}

static bool one_linear_output(const bb_model_kind *kind) {
    return bb_loss_is_solved(kind->loss, kind->net);
}

bb_status bb_models_open_kind(bb_models *models, const bb_dataset *data,
                              const bb_model_kind *kind) {
    bb_models m = {0};
    bb_status status = open_names(&m, data, kind);
    if (!status && kind->net)
        status = bb_allocate(&m.single, m.tasks, m.parameters * sizeof(float), what);
    else if (!status)
        status = bb_map_block(&m.weight_at, data->memory, &m.weight, m.tasks,
                              m.features * m.outputs * sizeof(double), what);
    if (!status && one_linear_output(kind))
        status = bb_allocate(&m.intercept, m.tasks, sizeof(double), what);
    if (status)
        bb_models_free(&m);
    else
        *models = m;
    return status;
}

bb_status bb_models_open(bb_models *models, const bb_dataset *data) {
    return bb_models_open_kind(models, data, &(bb_model_kind){.outputs = 1});
}

static bb_status open_own(bb_models *m, const bb_local *local) {
    bb_status status = bb_allocate(&m->own_first, m->tasks + 1, sizeof(size_t), what);
    if (status) return status;
    for (size_t i = 0; i < m->tasks; i++)
        m->own_first[i + 1] = m->own_first[i] + local[i].touched_count;
    const size_t rows = m->own_first[m->tasks];
    status = bb_allocate(&m->touched, rows, sizeof(uint32_t), what);
    if (!status) status = bb_allocate(&m->own, rows, m->outputs * sizeof(double), what);
    for (size_t i = 0; i < m->tasks && !status; i++)
        if (local[i].touched_count)
            memcpy(m->touched + m->own_first[i], local[i].touched,
                   local[i].touched_count * sizeof *m->touched);
    return status;
}

bb_status bb_models_open_compact(bb_models *models, const bb_dataset *data,
                                 const bb_model_kind *kind, size_t groups,
                                 const double *shared, const uint32_t *group,
                                 const bb_local *local) {
    const size_t bytes = data->features * kind->outputs * sizeof(double);
    bb_models m = {0};
    assert(!kind->net && groups);
    bb_status status = open_names(&m, data, kind);
    m.groups = groups;
    if (!status) status = bb_allocate(&m.shared, groups, bytes, what);
    if (!status) status = bb_allocate(&m.group, m.tasks, sizeof(uint32_t), what);
    if (!status) status = open_own(&m, local);
    if (status) {
        bb_models_free(&m);
        return status;
    }
    memcpy(m.shared, shared, groups * bytes);
    if (group) memcpy(m.group, group, m.tasks * sizeof *group);
    *models = m;
    return BB_OK;
}

bb_status bb_models_add(bb_models *m, size_t count, char *const *task_name,
                        const bb_models *one) {
    const size_t d = m->features, tasks = m->tasks + count;
    char **all = NULL, **name = NULL;
    double *weight = NULL, *intercept = NULL, *limit = NULL;
    assert(m->intercept && one->intercept && one->tasks && one->features == d);
    bb_status status = bb_allocate(&all, tasks, sizeof *all, what);
    if (!status) {
        memcpy(all, m->task_name, m->tasks * sizeof *all);
        memcpy(all + m->tasks, task_name, count * sizeof *all);
        status = bb_names_copy(&name, tasks, all);
    }
    if (!status) status = bb_allocate(&weight, tasks, d * sizeof *weight, what);
    if (!status) status = bb_allocate(&intercept, tasks, sizeof *intercept, what);
    if (!status && m->limit)
        status = bb_allocate(&limit, tasks, 2 * sizeof *limit, what);
    if (!status) {
        memcpy(weight, m->weight, m->tasks * d * sizeof *weight);
        memcpy(intercept, m->intercept, m->tasks * sizeof *intercept);
        for (size_t i = m->tasks; i < tasks; i++) {
            memcpy(weight + i * d, one->weight, d * sizeof *weight);
            intercept[i] = *one->intercept;
        }
        if (limit) memcpy(limit, m->limit, m->tasks * 2 * sizeof *limit);
        for (size_t i = m->tasks; limit && i < tasks; i++) {
            limit[2 * i] = -INFINITY;
            limit[2 * i + 1] = INFINITY;
        }
        free(m->task_name);
        bb_map_release(&m->weight_at, m->weight);
        free(m->intercept);
        free(m->limit);
        m->task_name = name;
        m->weight = weight;
        m->intercept = intercept;
        m->limit = limit;
        m->tasks = tasks;
    } else {
        free(name);
        free(weight);
        free(intercept);
        free(limit);
    }
    free(all);
    return status;
}

void bb_models_free(bb_models *m) {
    free(m->task_name);
    free(m->feature_name);
    free(m->net);
    bb_map_release(&m->weight_at, m->weight);
    free(m->intercept);
    free(m->limit);
    free(m->single);
    free(m->shared);
    free(m->group);
    free(m->own_first);
    free(m->touched);
    free(m->own);
    *m = (bb_models){0};
}

void bb_models_passed(const bb_models *m, size_t i) {
    const size_t each = m->features * m->outputs;
    if (m->weight)
        bb_map_passed(&m->weight_at, m->weight + i * each, m->weight + (i + 1) * each);
}

size_t bb_models_length(const bb_models *m, size_t i) {
    if (m->single) return m->parameters;
    if (m->shared) return (m->own_first[i + 1] - m->own_first[i]) * m->outputs;
    return m->features * m->outputs;
}

void bb_models_put(bb_models *m, size_t i, const double *w) {
    const size_t length = bb_models_length(m, i);
    if (m->single)
        for (size_t k = 0; k < length; k++) m->single[i * length + k] = (float)w[k];
    else if (length)
        memcpy(m->shared ? m->own + m->own_first[i] * m->outputs
                         : m->weight + i * length,
               w, length * sizeof *w);
}

/* -- one of them -- */

static bb_status copy_of(void *out, const void *from, size_t count, size_t size) {
    void *copy = NULL;
    const bb_status status = bb_allocate(&copy, count, size, what);
    if (!status && count) memcpy(copy, from, count * size);
    memcpy(out, &copy, sizeof copy);
    return status;
}

/* Of a model that shares: its group's matrix and its own rows. */
static bb_status select_compact(bb_models *m, const bb_models *all, size_t i) {
    const size_t size = all->features * all->outputs, first = all->own_first[i];
    const size_t count = all->own_first[i + 1] - first;
    m->groups = 1;
    bb_status status = bb_allocate(&m->group, 1, sizeof *m->group, what);
    if (!status) status = bb_allocate(&m->own_first, 2, sizeof *m->own_first, what);
    if (!status)
        status = copy_of(&m->shared, all->shared + all->group[i] * size, size,
                         sizeof *m->shared);
    if (!status)
        status = copy_of(&m->touched, all->touched + first, count, sizeof *m->touched);
    if (!status)
        status = copy_of(&m->own, all->own + first * all->outputs, count * all->outputs,
                         sizeof *m->own);
    if (!status) m->own_first[1] = count;
    return status;
}

bb_status bb_models_select(bb_models *out, const bb_models *all, size_t i) {
    const bb_model_kind kind = {all->loss, all->outputs, all->net, all->image,
                                all->parameters};
    const bb_dataset one = {.tasks = 1,
                            .features = all->features,
                            .task_name = all->task_name + i,
                            .feature_name = all->feature_name};
    const size_t length = bb_models_length(all, i);
    bb_models m = {0};
    bb_status status = open_names(&m, &one, &kind);
    if (!status && all->shared)
        status = select_compact(&m, all, i);
    else if (!status && all->single)
        status = copy_of(&m.single, all->single + i * length, length, sizeof *m.single);
    else if (!status)
        status = copy_of(&m.weight, all->weight + i * length, length, sizeof *m.weight);
    if (!status && all->intercept)
        status = copy_of(&m.intercept, all->intercept + i, 1, sizeof *m.intercept);
    if (!status && all->limit)
        status = copy_of(&m.limit, all->limit + 2 * i, 2, sizeof *m.limit);
    if (status)
        bb_models_free(&m);
    else
        *out = m;
    return status;
}

/* -- fingerprints -- */

static void hash_singles(bb_hash *hash, const float *value, size_t count) {
    double wide[256];
    for (size_t k = 0; k < count; k += 256) {
        const size_t n = count - k < 256 ? count - k : 256;
        for (size_t j = 0; j < n; j++) wide[j] = (double)value[k + j];
        bb_hash_add_doubles(hash, wide, n);
    }
}

static void hash_count(bb_hash *hash, size_t value) {
    const int64_t count = (int64_t)value;
    bb_hash_add_integers(hash, &count, 1);
}

static void hash_own(bb_hash *hash, const bb_models *m) {
    for (size_t i = 0; i < m->tasks; i++) {
        const size_t first = m->own_first[i], count = m->own_first[i + 1] - first;
        hash_count(hash, m->group[i]);
        hash_count(hash, count);
        for (size_t k = first; k < first + count; k++) hash_count(hash, m->touched[k]);
        bb_hash_add_doubles(hash, m->own + first * m->outputs, count * m->outputs);
    }
}

static bb_status hash_kind(bb_hash *hash, const bb_models *m) {
    json_t *json = bb_models_kind_json(m);
    char *text = json ? bb_json_text(json, 0) : NULL;
    json_decref(json);
    if (!text) return bb_fail(BB_ENOMEM, "no memory for the models' fingerprint");
    bb_hash_add(hash, text, strlen(text));
    free(text);
    return BB_OK;
}

bb_status bb_models_hash(const bb_models *m, char hex[BB_HASH_TEXT]) {
    bb_hash hash;
    bb_status status = BB_OK;
    bb_hash_open(&hash);
    if (!m->intercept) status = hash_kind(&hash, m);
    for (size_t i = 0; m->weight && i < m->tasks; i++) {
        const size_t each = m->features * m->outputs;
        bb_hash_add_doubles(&hash, m->weight + i * each, each);
        bb_models_passed(m, i);
    }
    if (m->intercept) bb_hash_add_doubles(&hash, m->intercept, m->tasks);
    if (m->single) hash_singles(&hash, m->single, m->tasks * m->parameters);
    if (m->shared) {
        bb_hash_add_doubles(&hash, m->shared, m->groups * m->features * m->outputs);
        hash_own(&hash, m);
    }
    if (!status) bb_hash_text(&hash, hex);
    return status;
}

/* -- files -- */

static const char tensors[] = ".safetensors";

const char *bb_models_file(const bb_models *m) {
    return m->intercept ? "models.csv" : "models.safetensors";
}

bb_status bb_models_write_lines(const bb_models *m, const bb_piece *lines,
                                size_t threads, const char *path) {
    return m->intercept ? bb_models_write_csv(m, lines, threads, path)
                        : bb_models_write_tensors(m, path);
}

bb_status bb_models_write(const bb_models *m, const char *path) {
    return bb_models_write_lines(m, NULL, 1, path);
}

bb_status bb_models_read(bb_models *m, const char *path) {
    const size_t length = strlen(path), tail = sizeof tensors - 1;
    if (length > tail && strcmp(path + length - tail, tensors) == 0)
        return bb_models_read_tensors(m, path);
    return bb_models_read_csv(m, path);
}
