/* models_outputs.c - what models say of rows. */
#include "base/memory.h"
#include "core/run.h"
#include "linalg/linalg.h"
#include "models/limits.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 }; /* rows at once */

static double sparse_dot(const bb_dataset *data, size_t j, size_t features,
                         const double *w) {
    double sum = 0.0;
    for (size_t k = data->sparse_first[j]; k < data->sparse_first[j + 1]; k++)
        if (data->sparse_column[k] < features)
            sum += data->sparse_value[k] * w[data->sparse_column[k]];
    return sum;
}

static double linear(const bb_dataset *data, size_t j, size_t features,
                     const double *w) {
    return data->x ? bb_dot(features, data->x + j * data->features, w)
                   : sparse_dot(data, j, features, w);
}

void bb_predict_rows(const bb_dataset *data, size_t features, const double *weight,
                     const double *intercept, double *prediction) {
    for (size_t i = 0; i < data->tasks; i++)
        for (size_t j = data->first[i]; j < data->first[i + 1]; j++)
            prediction[j] =
                intercept[i] + linear(data, j, features, weight + i * features);
}

size_t bb_largest_output(size_t outputs, const double *z) {
    size_t best = 0;
    for (size_t c = 1; c < outputs; c++)
        if (z[c] > z[best]) best = c;
    return best;
}

/* -- all kinds of models -- */

/* What one worker needs. */
typedef struct desk {
    double *z;       /* BLOCK x outputs */
    double *w;       /* a network's parameters */
    uint32_t *place; /* compact: of each feature 1 + its place in touched, or 0 */
} desk;

typedef struct speaker {
    const bb_models *models;
    const bb_dataset *data;
    bb_net *net;
    desk *desk; /* one a worker */
    size_t desks;
    void (*take)(void *self, const bb_outputs *block);
    void *self;
} speaker;

/* The row of W for feature k. */
static const double *row_of(const bb_models *m, const desk *d, size_t i, size_t k) {
    if (m->weight) return m->weight + (i * m->features + k) * m->outputs;
    return d->place[k] ? m->own + (m->own_first[i] + d->place[k] - 1) * m->outputs
                       : m->shared + (m->group[i] * m->features + k) * m->outputs;
}

static void speak_linear(const speaker *s, const desk *d, size_t i, size_t j,
                         double *z) {
    const bb_models *m = s->models;
    const bb_dataset *data = s->data;
    const size_t c = m->outputs;
    const double *x = data->x ? data->x + j * data->features : NULL;
    if (m->intercept) {
        const double *w = m->weight + i * m->features;
        *z = bb_limited(m->limit, i, m->intercept[i] + linear(data, j, m->features, w));
        return;
    }
    memset(z, 0, c * sizeof *z);
    for (size_t k = 0; x && k < m->features; k++)
        if (x[k] != 0.0) bb_axpy(c, x[k], row_of(m, d, i, k), z);
    for (size_t e = x ? 0 : data->sparse_first[j]; !x && e < data->sparse_first[j + 1];
         e++)
        if (data->sparse_column[e] < m->features)
            bb_axpy(c, data->sparse_value[e], row_of(m, d, i, data->sparse_column[e]),
                    z);
}

static void speak_block(const speaker *s, const desk *d, bb_net_lane *lane, size_t i,
                        size_t from, size_t rows) {
    const bb_models *m = s->models;
    const bb_dataset *data = s->data;
    const double *x[BLOCK];
    if (s->net) {
        for (size_t j = 0; j < rows; j++) x[j] = data->x + (from + j) * data->features;
        bb_net_forward(s->net, lane, d->w, rows, x, d->z);
    } else if (m->weight && !m->intercept && data->x && data->features == m->features) {
        bb_product(rows, m->features, m->outputs, 1.0, data->x + from * m->features,
                   row_of(m, d, i, 0), 0.0, d->z);
    } else {
        for (size_t j = 0; j < rows; j++)
            speak_linear(s, d, i, from + j, d->z + j * m->outputs);
    }
    s->take(s->self, &(bb_outputs){i, from, rows, d->z});
}

/* Notes, or forgets, where the features are that the task touched. */
static void mark(const bb_models *m, const desk *d, size_t i, bool there) {
    const size_t first = m->own_first[i];
    for (size_t k = first; k < m->own_first[i + 1]; k++)
        d->place[m->touched[k]] = there ? (uint32_t)(k - first + 1) : 0;
}

static void speak_task(void *context, size_t i, size_t worker) {
    const speaker *s = context;
    const bb_models *m = s->models;
    const size_t end = s->data->first[i + 1];
    const desk *d = &s->desk[worker];
    bb_net_lane *lane = NULL;
    if (s->data->first[i] == end) return;
    if (m->shared) mark(m, d, i, true);
    if (s->net) {
        const float *own = m->single + i * m->parameters;
        for (size_t k = 0; k < m->parameters; k++) d->w[k] = (double)own[k];
        lane = bb_net_take(s->net);
    }
    for (size_t j = s->data->first[i]; j < end; j += BLOCK)
        speak_block(s, d, lane, i, j, end - j < BLOCK ? end - j : BLOCK);
    if (lane) bb_net_give(s->net, lane);
    if (m->shared) mark(m, d, i, false);
    bb_dataset_passed(s->data, s->data->first[i], end);
    bb_models_passed(m, i);
}

static bb_status open_net(speaker *s) {
    const bb_models *m = s->models;
    const bb_status status = bb_net_open(&s->net, m->net, m->image, BLOCK, s->desks);
    if (status == BB_EUSAGE) return bb_fail_context(BB_EDATA, "the models' network");
    if (status) return status;
    if (bb_net_parameters(s->net) != m->parameters ||
        bb_net_outputs(s->net) != m->outputs || bb_net_inputs(s->net) != m->features)
        return bb_fail(BB_EDATA,
                       "the models' network %s has %zu parameters, %zu outputs and %zu "
                       "inputs: expected %zu, %zu and %zu",
                       m->net, bb_net_parameters(s->net), bb_net_outputs(s->net),
                       bb_net_inputs(s->net), m->parameters, m->outputs, m->features);
    if (!s->data->x)
        return bb_fail(BB_EDATA, "%s: expected dense rows for a network",
                       s->data->source);
    return BB_OK;
}

static bb_status open_desks(speaker *s) {
    static const char what[] = "the predictions";
    const bb_models *m = s->models;
    bb_status status = bb_allocate(&s->desk, s->desks, sizeof *s->desk, what);
    for (size_t k = 0; k < s->desks && !status; k++) {
        desk *d = &s->desk[k];
        status = bb_allocate(&d->z, m->outputs, BLOCK * sizeof(double), what);
        if (!status && m->single)
            status = bb_allocate(&d->w, m->parameters, sizeof(double), what);
        if (!status && m->shared)
            status = bb_allocate(&d->place, m->features, sizeof(uint32_t), what);
    }
    return status;
}

bb_status bb_models_outputs(const bb_models *models, const bb_dataset *data,
                            const bb_engine *engine,
                            void (*take)(void *self, const bb_outputs *block),
                            void *self) {
    speaker s = {models, data, NULL, NULL, engine ? engine->workers : 1, take, self};
    assert(models->tasks == data->tasks && models->features <= data->features);
    bb_status status = bb_linalg_ready();
    if (!status && models->single) status = open_net(&s);
    if (!status) status = open_desks(&s);
    if (!status && engine) engine->each(engine, data->tasks, speak_task, &s);
    for (size_t i = 0; i < data->tasks && !status && !engine; i++) speak_task(&s, i, 0);
    for (size_t k = 0; s.desk && k < s.desks; k++) {
        free(s.desk[k].z);
        free(s.desk[k].w);
        free(s.desk[k].place);
    }
    free(s.desk);
    bb_net_close(s.net);
    return status;
}

static void keep(void *self, const bb_outputs *block) {
    memcpy((double *)self + block->row, block->z, block->rows * sizeof(double));
}

bb_status bb_models_predict(const bb_models *models, const bb_dataset *data,
                            const bb_engine *engine, double *prediction) {
    assert(models->outputs == 1);
    return bb_models_outputs(models, data, engine, keep, prediction);
}
