/* models_tensors.c - models of several outputs, and networks, as safetensors. */
#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/safetensors.h"
#include "data/names.h"
#include "learners/loss.h"
#include "models/models_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char format[] = "billboard models 1", what[] = "the models";
static const char statement[] =
    "what is a task's belongs to that task alone: hand it to that task and to nobody "
    "else; publishing all of it is not covered by the privacy statement";

enum { LABEL = 32, MOST_OUTPUTS = 1 << 24 };
typedef char label[LABEL]; /* an array's name */

static const char *task_label(label text, const char *word, size_t i) {
    snprintf(text, LABEL, "%s.%zu", word, i);
    return text;
}

/* -- writing -- */

json_t *bb_models_kind_json(const bb_models *m) {
    label outputs, image;
    snprintf(outputs, LABEL, "%zu", m->outputs);
    json_t *json = json_pack("{s:s,s:s,s:s}", "format", format, "loss",
                             bb_loss_name(m->loss), "outputs", outputs);
    if (!json || !m->net) return json;
    snprintf(image, LABEL, "%" PRIu32 "x%" PRIu32 "x%" PRIu32,
             (uint32_t)m->image.height, (uint32_t)m->image.width,
             (uint32_t)m->image.channels);
    if (json_object_set_new(json, "net", json_string(m->net)) ||
        json_object_set_new(json, "image", json_string(image))) {
        json_decref(json);
        return NULL;
    }
    return json;
}

/* A text that holds a JSON list; false: out of memory. */
static bool set_names(json_t *texts, const char *key, size_t count, char *const *name) {
    json_t *list = json_array();
    bool good = list;
    for (size_t k = 0; k < count && good; k++)
        good = !json_array_append_new(list, json_string(name[k]));
    char *text = good ? bb_json_text(list, 0) : NULL;
    good = text && !json_object_set_new(texts, key, json_string(text));
    free(text);
    json_decref(list);
    return good;
}

static json_t *all_texts(const bb_models *m) {
    json_t *texts = bb_models_kind_json(m);
    if (texts && !json_object_set_new(texts, "statement", json_string(statement)) &&
        set_names(texts, "tasks", m->tasks, m->task_name) &&
        set_names(texts, "features", m->features, m->feature_name))
        return texts;
    json_decref(texts);
    return NULL;
}

static bb_tensor matrix(const char *name, bb_dtype type, size_t rows, size_t columns,
                        const void *value) {
    return (bb_tensor){name, type, 2, {rows, columns}, value};
}

static bb_tensor weights(const bb_models *m) {
    return m->single
               ? matrix("weight", BB_DTYPE_F32, m->tasks, m->parameters, m->single)
               : matrix("weight", BB_DTYPE_F64, m->tasks, m->features * m->outputs,
                        m->weight);
}

static bb_tensor shared_of(const bb_models *m) {
    return (bb_tensor){
        "shared", BB_DTYPE_F64, 3, {m->groups, m->features, m->outputs}, m->shared};
}

static bb_tensor group_of(const bb_models *m) {
    return (bb_tensor){"group", BB_DTYPE_U32, 1, {m->tasks}, m->group};
}

static bb_tensor touched_of(const bb_models *m, size_t i, label name) {
    const size_t first = m->own_first[i];
    return (bb_tensor){task_label(name, "touched", i),
                       BB_DTYPE_U32,
                       1,
                       {m->own_first[i + 1] - first},
                       m->touched ? m->touched + first : NULL};
}

static bb_tensor own_of(const bb_models *m, size_t i, label name) {
    const size_t first = m->own_first[i];
    return matrix(task_label(name, "own", i), BB_DTYPE_F64, m->own_first[i + 1] - first,
                  m->outputs, m->own ? m->own + first * m->outputs : NULL);
}

static bb_status write_compact(const bb_models *m, const char *path,
                               const json_t *texts) {
    const size_t count = 2 + 2 * m->tasks;
    bb_tensor *tensor = NULL;
    label *name = NULL;
    bb_status status = bb_allocate(&tensor, count, sizeof *tensor, what);
    if (!status) status = bb_allocate(&name, count, sizeof *name, what);
    if (!status) {
        tensor[0] = shared_of(m);
        tensor[1] = group_of(m);
        for (size_t i = 0; i < m->tasks; i++) {
            tensor[2 + 2 * i] = touched_of(m, i, name[2 + 2 * i]);
            tensor[3 + 2 * i] = own_of(m, i, name[3 + 2 * i]);
        }
        status = bb_safetensors_write(path, tensor, count, texts);
    }
    free(tensor);
    free(name);
    return status;
}

bb_status bb_models_write_tensors(const bb_models *m, const char *path) {
    json_t *texts = all_texts(m);
    bb_status status;
    if (!texts)
        status = bb_fail(BB_ENOMEM, "%s: no memory for its header", path);
    else if (m->shared)
        status = write_compact(m, path, texts);
    else {
        const bb_tensor weight = weights(m);
        status = bb_safetensors_write(path, &weight, 1, texts);
    }
    json_decref(texts);
    return status;
}

/* -- reading -- */

static bb_status bad(const bb_safetensors *f, const char *name, const char *expected) {
    return bb_fail(BB_EDATA, "%s: %s: expected %s", f->path, name, expected);
}

static bb_status read_count(const bb_safetensors *f, size_t *count) {
    const char *text;
    uint64_t value;
    const bb_status status = bb_safetensors_text(f, "outputs", &text);
    if (status) return status;
    if (!bb_number_count(text, &value) || value < 1 || value > MOST_OUTPUTS)
        return bad(f, "outputs", "a number from 1 to 2^24");
    *count = (size_t)value;
    return BB_OK;
}

static bb_status read_names(const bb_safetensors *f, const char *key, size_t *count,
                            char ***out) {
    bb_names names = {0};
    const char *text;
    json_error_t error;
    bb_status status = bb_safetensors_text(f, key, &text);
    if (status) return status;
    json_t *list = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_array(list)) status = bad(f, key, "a JSON list of names");
    for (size_t k = 0; k < json_array_size(list) && !status; k++) {
        const char *name = json_string_value(json_array_get(list, k));
        size_t index;
        status = name ? bb_names_add(&names, name, strlen(name), &index)
                      : bad(f, key, "a JSON list of names");
        if (!status && names.count != k + 1) status = bad(f, key, "names that differ");
    }
    if (!status) status = bb_names_list(out, &names);
    if (!status) *count = names.count;
    json_decref(list);
    bb_names_free(&names);
    return status;
}

/* "28x28x1" */
static bool parse_image(const char *text, bb_image *image) {
    size_t *const size[] = {&image->height, &image->width, &image->channels};
    for (int k = 0; k < 3; k++) {
        label number;
        uint64_t value;
        const size_t length = strcspn(text, "x");
        if (length >= LABEL) return false;
        snprintf(number, LABEL, "%.*s", (int)length, text);
        if (!bb_number_count(number, &value) || value < 1 || value > UINT32_MAX ||
            (text[length] == 'x') != (k < 2))
            return false;
        *size[k] = (size_t)value;
        text += length + (k < 2);
    }
    return true;
}

static bb_status read_net(const bb_safetensors *f, bb_models *m) {
    const char *text, *net;
    if (!json_object_get(json_object_get(f->header, "__metadata__"), "net"))
        return BB_OK;
    bb_status status = bb_safetensors_text(f, "net", &net);
    if (!status) status = bb_safetensors_text(f, "image", &text);
    if (!status && !parse_image(text, &m->image))
        status = bad(f, "image", "HEIGHTxWIDTHxCHANNELS");
    if (!status) status = bb_duplicate(&m->net, net, strlen(net));
    return status;
}

static bb_status read_kind(const bb_safetensors *f, bb_models *m) {
    const char *text;
    bb_status status = bb_safetensors_text(f, "format", &text);
    if (!status && strcmp(text, format) != 0)
        status = bad(f, "format", "\"billboard models 1\"");
    if (!status) status = bb_safetensors_text(f, "loss", &text);
    if (!status && !bb_loss_find(text, &m->loss))
        status = bad(f, "loss", "squared, logistic, softmax or multilabel");
    if (!status) status = read_count(f, &m->outputs);
    if (!status) status = read_names(f, "tasks", &m->tasks, &m->task_name);
    if (!status) status = read_names(f, "features", &m->features, &m->feature_name);
    if (!status) status = read_net(f, m);
    if (!status && (!m->net || m->outputs != 1) && bb_loss_is_single(m->loss))
        status = bad(f, "loss", "softmax or multilabel, or a network of one output");
    return status;
}

static bb_status check_finite(const bb_safetensors *f, const char *name,
                              const double *value, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (!isfinite(value[k])) return bad(f, name, "finite numbers");
    return BB_OK;
}

static bb_status check_singles(const bb_safetensors *f, const char *name,
                               const float *value, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (!isfinite(value[k])) return bad(f, name, "finite numbers");
    return BB_OK;
}

static bb_status read_weight(const bb_safetensors *f, bb_models *m) {
    const size_t wide = sizeof(double);
    bb_tensor t = weights(m);
    if (f->tensors != 1) return bad(f, "arrays", "`weight' alone");
    if (m->net) {
        t.type = BB_DTYPE_F32;
        bb_status status = bb_safetensors_shape(f, "weight", 2, t.shape);
        if (status) return status;
        m->parameters = t.shape[1];
        t.shape[0] = m->tasks;
    }
    bb_status status = bb_safetensors_check(f, &t);
    if (status) return status;
    const size_t count = t.shape[0] * t.shape[1];
    status = m->net ? bb_allocate(&m->single, count, sizeof(float), what)
                    : bb_allocate(&m->weight, count, wide, what);
    if (!status)
        status = bb_safetensors_read(f, &t, m->net ? (void *)m->single : m->weight);
    if (status) return status;
    return m->net ? check_singles(f, "weight", m->single, count)
                  : check_finite(f, "weight", m->weight, count);
}

/* Ascending features of the models, of every task. */
static bb_status check_touched(const bb_safetensors *f, const bb_models *m) {
    for (size_t i = 0; i < m->tasks; i++)
        for (size_t k = m->own_first[i]; k < m->own_first[i + 1]; k++)
            if (m->touched[k] >= m->features ||
                (k > m->own_first[i] && m->touched[k] <= m->touched[k - 1])) {
                label name;
                return bad(f, task_label(name, "touched", i),
                           "features of the list, ascending");
            }
    return BB_OK;
}

/* Sizes first, so that a wrong file asks for no memory. */
static bb_status measure_compact(const bb_safetensors *f, bb_models *m) {
    size_t shape[3], count;
    if (f->tensors != 2 + 2 * m->tasks)
        return bad(f, "arrays", "`shared', `group' and two for each task");
    bb_status status = bb_safetensors_shape(f, "shared", 3, shape);
    m->groups = status ? 0 : shape[0];
    const bb_tensor shared = shared_of(m), group = group_of(m);
    if (!status) status = bb_safetensors_check(f, &shared);
    if (!status) status = bb_safetensors_check(f, &group);
    if (!status)
        status = bb_allocate(&m->own_first, m->tasks + 1, sizeof(size_t), what);
    for (size_t i = 0; i < m->tasks && !status; i++) {
        label name;
        status = bb_safetensors_shape(f, task_label(name, "touched", i), 1, &count);
        if (status) break;
        m->own_first[i + 1] = m->own_first[i] + count;
        const bb_tensor touched = touched_of(m, i, name);
        status = bb_safetensors_check(f, &touched);
        if (status) break;
        const bb_tensor own = own_of(m, i, name);
        status = bb_safetensors_check(f, &own);
    }
    return status;
}

static bb_status check_group(const bb_safetensors *f, const bb_models *m) {
    for (size_t i = 0; i < m->tasks; i++)
        if (m->group[i] >= m->groups) return bad(f, "group", "groups of `shared'");
    return BB_OK;
}

static bb_status read_own(const bb_safetensors *f, bb_models *m) {
    label name;
    bb_status status = BB_OK;
    for (size_t i = 0; i < m->tasks && !status; i++) {
        const bb_tensor touched = touched_of(m, i, name);
        status = bb_safetensors_read(f, &touched, m->touched + m->own_first[i]);
        if (status) break;
        const bb_tensor own = own_of(m, i, name);
        status = bb_safetensors_read(f, &own, m->own + m->own_first[i] * m->outputs);
    }
    if (!status) status = check_touched(f, m);
    return status;
}

static bb_status read_compact(const bb_safetensors *f, bb_models *m) {
    bb_status status = measure_compact(f, m);
    if (status) return status;
    const size_t size = m->features * m->outputs, rows = m->own_first[m->tasks];
    status = bb_allocate(&m->shared, m->groups, size * sizeof(double), what);
    if (!status) status = bb_allocate(&m->group, m->tasks, sizeof(uint32_t), what);
    if (!status) status = bb_allocate(&m->touched, rows, sizeof(uint32_t), what);
    if (!status) status = bb_allocate(&m->own, rows, m->outputs * sizeof(double), what);
    const bb_tensor shared = shared_of(m), group = group_of(m);
    if (!status) status = bb_safetensors_read(f, &shared, m->shared);
    if (!status) status = bb_safetensors_read(f, &group, m->group);
    if (!status) status = check_group(f, m);
    if (!status) status = read_own(f, m);
    if (!status) status = check_finite(f, "shared", m->shared, m->groups * size);
    if (!status) status = check_finite(f, "own", m->own, rows * m->outputs);
    return status;
}

bb_status bb_models_read_tensors(bb_models *out, const char *path) {
    bb_safetensors f = {0};
    bb_models m = {0};
    bb_status status = bb_safetensors_open(&f, path);
    if (status) return status;
    status = read_kind(&f, &m);
    if (!status)
        status = !m.net && json_object_get(f.header, "shared") ? read_compact(&f, &m)
                                                               : read_weight(&f, &m);
    bb_safetensors_close(&f);
    if (status)
        bb_models_free(&m);
    else
        *out = m;
    return status;
}
