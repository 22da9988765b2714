/* One step of gradient descent on a batch of 10 images of 28 x 28 with the network
 * conv5x32,pool2,conv5x64,pool2,dense62 and softmax: bb_net, whose parameters are
 * doubles in a plain order, against the same oneDNN primitives called in a loop.
 *
 *   bench_cnn [REPETITIONS]
 *
 * Prints processor microseconds a step, medians of (51) blocks of 20 steps in turn:
 *   ours   forward, softmax, backward, w -= rate * (g + penalty * (w - centre))
 *   bare   oneDNN for all layers, pools included; everything in float and in oneDNN's
 *          order: no conversions, and of weights the reorders only that the derivative
 *          by data needs (one more layout), and the same update in float
 *   floor  bare without pools, masks, softmax and update
 * One thread; bench/cnn.sh compares with PyTorch. */
#include "learners/net_program.h"

#include <omp.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 10, INPUTS = 784, CLASSES = 62, STEPS = 20, MOST = 1001 };
static const char layers[] = "conv5x32,pool2,conv5x64,pool2,dense62";
static const double rate = 0.01, penalty = 0.1;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(bb_status status) {
    if (!status) return;
    fprintf(stderr, "bench_cnn: %s: %s\n", bb_status_text(status), bb_last_error());
    exit(1);
}

static void must_dnnl(dnnl_status_t status) {
    must(bb_dnnl_check(status, "the benchmark"));
}

static void *make(size_t count, size_t size) {
    void *made = aligned_alloc(64, (count * size + 63) / 64 * 64);
    if (!made) exit(1);
    memset(made, 0, (count * size + 63) / 64 * 64);
    return made;
}

/* Images and labels, the same as in cnn.py as far as time is concerned. */
static double pixel(size_t k) {
    return (double)(k * 2654435761u % 1000) / 1000;
}

typedef struct ours {
    bb_net *net;
    bb_net_lane *lane;
    double *w, *centre, *g, *x, z[BATCH * CLASSES];
    const double *row[BATCH];
} ours;

static void open_ours(ours *o) {
    must(bb_net_open(&o->net, layers, (bb_image){28, 28, 1}, BATCH, 1));
    o->lane = bb_net_take(o->net);
    const size_t n = bb_net_parameters(o->net);
    o->w = make(n, sizeof *o->w);
    o->g = make(n, sizeof *o->g);
    o->centre = make(n, sizeof *o->centre);
    o->x = make(BATCH * INPUTS, sizeof *o->x);
    for (size_t k = 0; k < BATCH * INPUTS; k++) o->x[k] = pixel(k);
    for (size_t j = 0; j < BATCH; j++) o->row[j] = o->x + j * INPUTS;
    must(bb_net_start(o->net, 1, o->w));
    memcpy(o->centre, o->w, n * sizeof *o->w);
}

static void step_ours(ours *o) {
    bb_net_forward(o->net, o->lane, o->w, BATCH, o->row, o->z);
    for (size_t j = 0; j < BATCH; j++) {
        double *z = o->z + j * CLASSES, sum = 0;
        for (size_t c = 0; c < CLASSES; c++) sum += z[c] = exp(z[c]);
        for (size_t c = 0; c < CLASSES; c++) z[c] = (z[c] / sum - (c == j)) / BATCH;
    }
    bb_net_backward(o->net, o->lane, o->z, o->g);
    const size_t n = bb_net_parameters(o->net);
    for (size_t k = 0; k < n; k++)
        o->w[k] -= rate * (o->g[k] + penalty * (o->w[k] - o->centre[k]));
}

/* One of oneDNN's pools, forward and backward. */
typedef struct bare_pool {
    dnnl_primitive_t forward, back;
    dnnl_exec_arg_t forward_argument[3], back_argument[3];
} bare_pool;

/* What bb_net runs, without what it adds. */
typedef struct bare {
    bb_program p;
    dnnl_stream_t stream;
    char *block;
    dnnl_memory_t *memory;
    dnnl_exec_arg_t (*argument)[BB_ARGUMENTS];
    bool *left_out; /* reorders that training in oneDNN's order does not need */
    bare_pool pool[BB_LAYERS];
    float *centre;
} bare;

static float *array(const bare *b, size_t slot) {
    return (float *)(void *)(b->block + b->p.slot[slot].offset);
}

static size_t numbers(const bare *b, size_t slot) {
    return dnnl_memory_desc_get_size(&b->p.slot[slot].shape) / sizeof(float);
}

static void open_pool(bare *b, const bb_net_step *s, bare_pool *pool) {
    const bb_stage *stage = &b->p.stage[s->layer];
    const int64_t k = (int64_t)b->p.layer[s->layer].side;
    const dnnl_dims_t window = {k, k}, none = {0, 0};
    const dnnl_memory_desc_t *in = &b->p.slot[s->below].shape;
    const dnnl_memory_desc_t *out = &b->p.slot[stage->out].shape;
    dnnl_pooling_desc_t d;
    dnnl_primitive_desc_t forward, back;
    dnnl_memory_t argmax;
    must_dnnl(dnnl_pooling_forward_desc_init(&d, dnnl_forward_training,
                                             dnnl_pooling_max, in, out, window, window,
                                             none, none));
    must_dnnl(dnnl_primitive_desc_create(&forward, &d, NULL, b->p.engine, NULL));
    must_dnnl(dnnl_pooling_backward_desc_init(&d, dnnl_pooling_max, in, out, window,
                                              window, none, none));
    must_dnnl(dnnl_primitive_desc_create(&back, &d, NULL, b->p.engine, forward));
    must_dnnl(dnnl_primitive_create(&pool->forward, forward));
    must_dnnl(dnnl_primitive_create(&pool->back, back));
    const dnnl_memory_desc_t *shape =
        dnnl_primitive_desc_query_md(forward, dnnl_query_workspace_md, 0);
    must_dnnl(dnnl_memory_create(&argmax, shape, b->p.engine,
                                 make(dnnl_memory_desc_get_size(shape), 1)));
    const dnnl_exec_arg_t there[] = {{DNNL_ARG_SRC, b->memory[s->below]},
                                     {DNNL_ARG_DST, b->memory[stage->out]},
                                     {DNNL_ARG_WORKSPACE, argmax}};
    const dnnl_exec_arg_t back_again[] = {
        {DNNL_ARG_DIFF_DST, b->memory[stage->out_derivative]},
        {DNNL_ARG_WORKSPACE, argmax},
        {DNNL_ARG_DIFF_SRC, b->memory[s->below_derivative]}};
    memcpy(pool->forward_argument, there, sizeof there);
    memcpy(pool->back_argument, back_again, sizeof back_again);
}

static void open_bare(bare *b) {
    bb_program *p = &b->p;
    p->batch = BATCH;
    must(bb_layers_parse(layers, (bb_image){28, 28, 1}, BATCH, p->layer, &p->layers));
    must(bb_program_open(p));
    must_dnnl(dnnl_stream_create(&b->stream, p->engine, dnnl_stream_default_flags));
    b->block = make(p->block, 1);
    b->memory = make(p->slots, sizeof *b->memory);
    b->argument = make(p->steps, sizeof *b->argument);
    b->left_out = make(p->steps, sizeof *b->left_out);
    b->centre = make(1 << 17, sizeof *b->centre);
    for (size_t k = 0; k < p->slots; k++)
        must_dnnl(dnnl_memory_create(&b->memory[k], &p->slot[k].shape, p->engine,
                                     b->block + p->slot[k].offset));
    for (size_t k = 0; k < p->steps; k++) {
        const bb_net_step *s = &p->step[k];
        for (int a = 0; a < s->arguments; a++)
            b->argument[k][a] =
                (dnnl_exec_arg_t){s->argument[a].name, b->memory[s->argument[a].slot]};
        const bool reorder = s->arguments && s->argument[1].name == DNNL_ARG_TO;
        b->left_out[k] = reorder && k < p->forward_steps;
        for (size_t l = 0; l < p->layers && reorder; l++)
            b->left_out[k] |= s->argument[1].slot == p->stage[l].weights_derivative;
        if (s->kind == BB_STEP_POOL_BACK) open_pool(b, s, &b->pool[s->layer]);
    }
    for (size_t k = 0; k < BATCH * INPUTS; k++) array(b, p->in)[k] = (float)pixel(k);
    for (size_t l = 0; l < p->layers; l++)
        for (size_t k = 0; k < p->layer[l].weights; k++)
            array(b, p->stage[l].ordered)[k] = (float)(pixel(k) - 0.5) / 20;
}

static void run_bare(bare *b, size_t first, size_t last, bool whole) {
    for (size_t k = first; k < last; k++) {
        const bb_net_step *s = &b->p.step[k];
        bare_pool *pool = &b->pool[s->layer];
        if (s->kind == BB_STEP_PRIMITIVE && !b->left_out[k]) {
            must_dnnl(dnnl_primitive_execute(s->primitive, b->stream, s->arguments,
                                             b->argument[k]));
        } else if (s->kind == BB_STEP_POOL && whole) {
            must_dnnl(dnnl_primitive_execute(pool->forward, b->stream, 3,
                                             pool->forward_argument));
        } else if (s->kind == BB_STEP_POOL_BACK && whole) {
            must_dnnl(
                dnnl_primitive_execute(pool->back, b->stream, 3, pool->back_argument));
        } else if (s->kind == BB_STEP_MASK && whole) {
            const float *in = array(b, s->below);
            float *d = array(b, s->below_derivative);
            const size_t n = numbers(b, s->below);
            for (size_t i = 0; i < n; i++) d[i] = in[i] > 0 ? d[i] : 0;
        }
    }
}

static void update(const bare *b, size_t n, size_t at, size_t from) {
    float *w = array(b, at);
    const float *g = array(b, from), r = (float)rate, q = (float)penalty;
    for (size_t k = 0; k < n; k++) w[k] -= r * (g[k] + q * (w[k] - b->centre[k]));
}

static void step_bare(bare *b, bool whole) {
    const bb_program *p = &b->p;
    const bb_stage *last = &p->stage[p->layers - 1];
    run_bare(b, 0, p->forward_steps, whole);
    for (size_t j = 0; j < BATCH && whole; j++) {
        float *z = array(b, last->out) + j * CLASSES, sum = 0;
        float *d = array(b, last->out_derivative) + j * CLASSES;
        for (size_t c = 0; c < CLASSES; c++) sum += d[c] = expf(z[c]);
        for (size_t c = 0; c < CLASSES; c++) d[c] = (d[c] / sum - (c == j)) / BATCH;
    }
    run_bare(b, p->forward_steps, p->steps, whole);
    for (size_t l = 0; l < p->layers && whole; l++) {
        if (!p->layer[l].biases) continue;
        update(b, p->layer[l].weights, p->stage[l].ordered,
               p->stage[l].weights_derivative);
        update(b, p->layer[l].biases, p->stage[l].bias, p->stage[l].bias_derivative);
    }
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **argument) {
    const int wanted = count > 1 ? atoi(argument[1]) : 51;
    const size_t n = wanted < 1 ? 1 : wanted > MOST ? MOST : (size_t)wanted;
    static const char *const names[] = {"ours", "bare", "floor"};
    static double seconds[3][MOST];
    static ours o;
    static bare b;
    omp_set_num_threads(1);
    open_ours(&o);
    open_bare(&b);
    for (size_t r = 0; r <= n; r++) /* the first warms up */
        for (int what = 0; what < 3; what++) {
            const double start = now();
            for (int k = 0; k < STEPS; k++)
                if (what == 0)
                    step_ours(&o);
                else
                    step_bare(&b, what == 1);
            if (r) seconds[what][r - 1] = (now() - start) / STEPS;
        }
    for (int what = 0; what < 3; what++) {
        qsort(seconds[what], n, sizeof(double), compare);
        printf("%s %.0f\n", names[what], 1e6 * seconds[what][n / 2]);
    }
    return 0;
}
