#include "learners/net.h"

#include "base/memory.h"
#include "base/random.h"
#include "learners/net_program.h"

#include <omp.h>

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct bb_net_lane {
    atomic_flag taken;
    dnnl_stream_t stream;
    char *block;
    dnnl_memory_t *memory;                     /* one a slot */
    dnnl_exec_arg_t (*argument)[BB_ARGUMENTS]; /* one row a step */
    size_t count;                              /* images of the last forward */
};

struct bb_net {
    size_t parameters, lanes;
    bb_program program;
    bb_net_lane *lane;
};

/* oneDNN asks OpenMP for the number of threads when it makes a primitive and again when
 * it runs it, and both must agree: it is told one. The number belongs to the calling
 * thread (its implicit task); no other thread sees the change. */
static int one_thread(void) {
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    return before;
}

static bb_status open_lane(const bb_program *p, bb_net_lane *lane) {
    bb_status status = bb_allocate(&lane->block, p->block, 1, "a network's lane");
    if (!status)
        status = bb_allocate(&lane->memory, p->slots, sizeof *lane->memory,
                             "a network's lane");
    if (!status)
        status = bb_allocate(&lane->argument, p->steps, sizeof *lane->argument,
                             "a network's lane");
    if (!status)
        status = bb_dnnl_check(bb_onednn.stream_create(&lane->stream, p->engine,
                                                       dnnl_stream_default_flags),
                               "a stream");
    for (size_t k = 0; k < p->slots && !status; k++)
        status = bb_dnnl_check(bb_onednn.memory_create(&lane->memory[k],
                                                       &p->slot[k].shape, p->engine,
                                                       lane->block + p->slot[k].offset),
                               "a lane's memory");
    if (status) return status;
    for (size_t k = 0; k < p->steps; k++)
        for (int a = 0; a < p->step[k].arguments; a++)
            lane->argument[k][a] = (dnnl_exec_arg_t){
                p->step[k].argument[a].name, lane->memory[p->step[k].argument[a].slot]};
    return BB_OK;
}

static void close_lane(const bb_program *p, bb_net_lane *lane) {
    for (size_t k = 0; lane->memory && k < p->slots; k++)
        (void)bb_onednn.memory_destroy(lane->memory[k]);
    (void)bb_onednn.stream_destroy(lane->stream);
    free(lane->argument);
    free(lane->memory);
    free(lane->block);
}

bb_status bb_net_open(bb_net **net, const char *layers, bb_image input, size_t batch,
                      size_t lanes) {
    bb_net *made = NULL;
    if (!lanes) return bb_fail(BB_EUSAGE, "network: expected 1 or more lanes, found 0");
    bb_status status = bb_onednn_load();
    if (!status) status = bb_allocate(&made, 1, sizeof *made, "network");
    if (status) return status;
    bb_program *p = &made->program;
    const int before = one_thread();
    p->batch = batch;
    status = bb_layers_parse(layers, input, batch, p->layer, &p->layers);
    for (size_t l = 0; l < p->layers; l++)
        made->parameters += p->layer[l].weights + p->layer[l].biases;
    if (!status) status = bb_program_open(p);
    if (!status)
        status = bb_allocate(&made->lane, lanes, sizeof *made->lane, "network");
    for (; made->lanes < lanes && !status; made->lanes++) {
        bb_net_lane *lane = &made->lane[made->lanes];
        atomic_flag_clear(&lane->taken);
        status = open_lane(p, lane);
    }
    omp_set_num_threads(before);
    if (status) {
        bb_net_close(made);
        return status;
    }
    *net = made;
    return BB_OK;
}

void bb_net_close(bb_net *net) {
    if (!net) return;
    for (size_t k = 0; k < net->lanes; k++) close_lane(&net->program, &net->lane[k]);
    bb_program_close(&net->program);
    free(net->lane);
    free(net);
}

static size_t numbers(bb_image image) {
    return image.height * image.width * image.channels;
}

size_t bb_net_inputs(const bb_net *net) {
    return numbers(net->program.layer[0].in);
}

size_t bb_net_outputs(const bb_net *net) {
    return net->program.layer[net->program.layers - 1].out.channels;
}

size_t bb_net_parameters(const bb_net *net) {
    return net->parameters;
}

size_t bb_net_trunk(const bb_net *net) {
    const bb_layer *last = &net->program.layer[net->program.layers - 1];
    return net->parameters - last->weights - last->biases;
}

size_t bb_net_batch(const bb_net *net) {
    return net->program.batch;
}

bb_status bb_net_start(const bb_net *net, uint64_t seed, double *w) {
    bb_random random;
    bb_status status =
        bb_random_open_stream(&random, seed, BB_FOR_START, net->parameters, 0);
    if (status) return status;
    for (size_t l = 0; l < net->program.layers; l++) {
        const bb_layer *layer = &net->program.layer[l];
        if (!layer->biases) continue;
        const size_t inputs = layer->weights / layer->biases;
        const bool last = l + 1 == net->program.layers;
        const double most = sqrt((last ? 1 : 6) / (double)inputs);
        for (size_t k = 0; k < layer->weights; k++)
            *w++ = most * (2 * bb_random_uniform(&random) - 1);
        memset(w, 0, layer->biases * sizeof *w);
        w += layer->biases;
    }
    status = bb_random_check(&random);
    bb_random_close(&random);
    return status;
}

bb_net_lane *bb_net_take(const bb_net *net) {
    for (size_t k = 0;; k = (k + 1) % net->lanes)
        if (!atomic_flag_test_and_set_explicit(&net->lane[k].taken,
                                               memory_order_acquire))
            return &net->lane[k];
}

void bb_net_give(const bb_net *net, bb_net_lane *lane) {
    (void)net;
    atomic_flag_clear_explicit(&lane->taken, memory_order_release);
}

static float *array(const bb_net *net, const bb_net_lane *lane, size_t slot) {
    return (float *)(void *)(lane->block + net->program.slot[slot].offset);
}

static void to_float(size_t n, const double *restrict from, float *restrict to) {
    for (size_t k = 0; k < n; k++) to[k] = (float)from[k];
}

static void to_double(size_t n, const float *restrict from, double *restrict to) {
    for (size_t k = 0; k < n; k++) to[k] = (double)from[k];
}

/* derivative <- 0 where value is not positive */
static void mask(size_t n, const float *restrict value, float *restrict derivative) {
    for (size_t k = 0; k < n; k++) derivative[k] = value[k] > 0 ? derivative[k] : 0;
}

/* out (channels) <- maximum over the k x k window at in, whose rows are `row` apart */
static void pool_window(size_t k, size_t channels, size_t row, const float *restrict in,
                        float *restrict out) {
    memcpy(out, in, channels * sizeof *out);
    for (size_t a = 0; a < k; a++)
        for (size_t b = a == 0; b < k; b++) {
            const float *x = in + a * row + b * channels;
            for (size_t c = 0; c < channels; c++)
                out[c] = x[c] > out[c] ? x[c] : out[c];
        }
}

/* d (the window) <- rest, where in is the maximum for the first time; rest is used up
 */
static void pool_window_back(size_t k, size_t channels, size_t row,
                             const float *restrict in, const float *restrict out,
                             float *restrict rest, float *restrict d) {
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++) {
            const size_t at = a * row + b * channels;
            for (size_t c = 0; c < channels; c++) {
                const bool hit = in[at + c] == out[c];
                d[at + c] = hit ? rest[c] : 0;
                rest[c] = hit ? 0 : rest[c];
            }
        }
}

/* The layer forward (d NULL), or backward. */
static void pool(const bb_layer *layer, size_t batch, const float *in, float *out,
                 float *rest, float *d) {
    const size_t k = layer->side, channels = layer->in.channels;
    const size_t row = layer->in.width * channels;
    for (size_t j = 0; j < batch; j++, in += layer->in.height * row) {
        for (size_t h = 0; h < layer->out.height; h++)
            for (size_t w = 0; w < layer->out.width; w++, out += channels) {
                const size_t at = h * k * row + w * k * channels;
                if (!d) {
                    pool_window(k, channels, row, in + at, out);
                } else {
                    pool_window_back(k, channels, row, in + at, out, rest, d + at);
                    rest += channels;
                }
            }
        if (d) d += layer->in.height * row;
    }
}

/* A step of our own. */
static void run_own(const bb_net *net, const bb_net_lane *lane, const bb_net_step *s) {
    const bb_program *p = &net->program;
    const bb_layer *layer = &p->layer[s->layer];
    const bb_stage *stage = &p->stage[s->layer];
    float *in = array(net, lane, s->below), *out = array(net, lane, stage->out);
    if (s->kind == BB_STEP_POOL) {
        pool(layer, p->batch, in, out, NULL, NULL);
        return;
    }
    float *d = array(net, lane, s->below_derivative);
    if (s->kind == BB_STEP_MASK) {
        mask(p->batch * numbers(layer->in), in, d);
        return;
    }
    /* What fills no window is 0 from the start: nothing else writes there. */
    pool(layer, p->batch, in, out, array(net, lane, stage->out_derivative), d);
}

/* The steps from `first` to before `last`; false if oneDNN fails. */
static bool run(const bb_net *net, bb_net_lane *lane, size_t first, size_t last) {
    const int before = one_thread();
    dnnl_status_t status = dnnl_success;
    for (size_t k = first; k < last && !status; k++) {
        const bb_net_step *s = &net->program.step[k];
        if (s->kind == BB_STEP_PRIMITIVE)
            status = bb_onednn.primitive_execute(s->primitive, lane->stream,
                                                 s->arguments, lane->argument[k]);
        else
            run_own(net, lane, s);
    }
    omp_set_num_threads(before);
    return !status;
}

void bb_net_forward(const bb_net *net, bb_net_lane *lane, const double *w, size_t count,
                    const double *const *x, double *z) {
    const bb_program *p = &net->program;
    const size_t inputs = bb_net_inputs(net), outputs = count * bb_net_outputs(net);
    assert(count <= p->batch);
    for (size_t l = 0; l < p->layers; l++) {
        const bb_layer *layer = &p->layer[l];
        if (!layer->biases) continue;
        to_float(layer->weights, w, array(net, lane, p->stage[l].weights));
        w += layer->weights;
        to_float(layer->biases, w, array(net, lane, p->stage[l].bias));
        w += layer->biases;
    }
    float *images = array(net, lane, p->in);
    for (size_t j = 0; j < count; j++) to_float(inputs, x[j], images + j * inputs);
    memset(images + count * inputs, 0, (p->batch - count) * inputs * sizeof *images);
    lane->count = count;
    if (run(net, lane, 0, p->forward_steps))
        to_double(outputs, array(net, lane, p->stage[p->layers - 1].out), z);
    else
        for (size_t k = 0; k < outputs; k++) z[k] = NAN;
}

void bb_net_backward(const bb_net *net, bb_net_lane *lane, const double *dz,
                     double *g) {
    const bb_program *p = &net->program;
    const size_t outputs = bb_net_outputs(net);
    float *derivative = array(net, lane, p->stage[p->layers - 1].out_derivative);
    to_float(lane->count * outputs, dz, derivative);
    memset(derivative + lane->count * outputs, 0,
           (p->batch - lane->count) * outputs * sizeof *derivative);
    const bool good = run(net, lane, p->forward_steps, p->steps);
    for (size_t k = 0; k < net->parameters && !good; k++) g[k] = NAN;
    for (size_t l = 0; l < p->layers && good; l++) {
        const bb_layer *layer = &p->layer[l];
        if (!layer->biases) continue;
        to_double(layer->weights, array(net, lane, p->stage[l].weights_derivative), g);
        g += layer->weights;
        to_double(layer->biases, array(net, lane, p->stage[l].bias_derivative), g);
        g += layer->biases;
    }
}
