#include "learners/net_program.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_EACH = 7, SLOTS_EACH = 16 }; /* most of a layer */

typedef dnnl_memory_desc_t shape;

bb_status bb_dnnl_check(dnnl_status_t status, const char *what) {
    if (status == dnnl_success) return BB_OK;
    return bb_fail(status == dnnl_out_of_memory ? BB_ENOMEM : BB_ENUMERIC,
                   "network: oneDNN failed at %s with status %d", what, (int)status);
}

static size_t add_slot(bb_program *p, const shape *of) {
    assert(p->slots < p->layers * SLOTS_EACH + 1);
    p->slot[p->slots].shape = *of;
    return p->slots++;
}

static shape *shape_of(const bb_program *p, size_t slot) {
    return &p->slot[slot].shape;
}

static shape shape_by(int dimensions, const dnnl_dims_t size, dnnl_format_tag_t tag) {
    shape made = {0};
    const dnnl_status_t status =
        bb_onednn.memory_desc_init_by_tag(&made, dimensions, size, dnnl_f32, tag);
    assert(!status);
    (void)status;
    return made;
}

static shape shape_queried(const_dnnl_primitive_desc_t pd, dnnl_query_t what) {
    return *bb_onednn.primitive_desc_query_md(pd, what, 0);
}

/* Appends the primitive with its scratchpad. */
static bb_status add_step(bb_program *p, const_dnnl_primitive_desc_t pd, int arguments,
                          const bb_argument *given) {
    assert(p->steps < p->layers * STEPS_EACH && arguments < BB_ARGUMENTS);
    bb_net_step *s = &p->step[p->steps];
    const shape scratch = shape_queried(pd, dnnl_query_scratchpad_md);
    const bb_status status = bb_dnnl_check(
        bb_onednn.primitive_create(&s->primitive, pd), "dnnl_primitive_create");
    if (status) return status;
    p->steps++;
    memcpy(s->argument, given, (size_t)arguments * sizeof *given);
    s->arguments = arguments;
    if (bb_onednn.memory_desc_get_size(&scratch) > 0) {
        const size_t slot = add_slot(p, &scratch);
        p->slot[slot].scratch = true;
        s->argument[s->arguments++] = (bb_argument){DNNL_ARG_SCRATCHPAD, slot};
    }
    return BB_OK;
}

/* Appends to <- from in the other's order, unless they are one slot. */
static bb_status add_reorder(bb_program *p, size_t from, size_t to) {
    dnnl_primitive_desc_t pd = NULL;
    if (from == to) return BB_OK;
    bb_status status = bb_dnnl_check(
        bb_onednn.reorder_primitive_desc_create(&pd, shape_of(p, from), p->engine,
                                                shape_of(p, to), p->engine, p->attr),
        "a reorder's description");
    if (!status)
        status = add_step(p, pd, 2,
                          (bb_argument[]){{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    (void)bb_onednn.primitive_desc_destroy(pd);
    return status;
}

/* The slot `plain` if it has the wanted shape, else a new one. */
static size_t same_or_new(bb_program *p, size_t plain, shape wanted) {
    return bb_onednn.memory_desc_equal(&wanted, shape_of(p, plain))
               ? plain
               : add_slot(p, &wanted);
}

/* Every description begins with its kind, so that one function takes them all. */
typedef union description {
    dnnl_convolution_desc_t conv;
    dnnl_inner_product_desc_t dense;
} description;

/* *pd <- the best implementation of d, if making d went well. */
static bb_status choose(bb_program *p, dnnl_status_t made, const description *d,
                        const_dnnl_primitive_attr_t attr,
                        const_dnnl_primitive_desc_t hint, const char *what,
                        dnnl_primitive_desc_t *pd) {
    if (!made) made = bb_onednn.primitive_desc_create(pd, d, attr, p->engine, hint);
    return bb_dnnl_check(made, what);
}

/* What the descriptions of a conv or dense layer are made of. The kernel is what oneDNN
 * sees of the weights; a dense layer's is as its input lies: what it would choose takes
 * longer to reorder than it saves in a batch of some tens. */
typedef struct unit {
    shape weights, kernel, bias, out;
} unit;

static unit unit_of(const bb_program *p, const bb_layer *layer, const shape *below) {
    const bool dense = layer->kind == BB_LAYER_DENSE, flat = below->ndims == 2;
    const bb_image in = layer->in, out = layer->out;
    const dnnl_dims_t weights = {(int64_t)out.channels, (int64_t)in.channels,
                                 (int64_t)(dense ? in.height : layer->side),
                                 (int64_t)(dense ? in.width : layer->side)};
    const dnnl_dims_t result = {(int64_t)p->batch, (int64_t)out.channels,
                                (int64_t)out.height, (int64_t)out.width};
    const int dimensions = flat ? 2 : 4;
    return (unit){.weights = shape_by(dimensions, weights, flat ? dnnl_ab : dnnl_abcd),
                  .kernel = shape_by(dimensions, weights,
                                     flat    ? dnnl_ab
                                     : dense ? dnnl_acdb
                                             : dnnl_format_tag_any),
                  .bias = shape_by(1, weights, dnnl_a),
                  .out = dense ? shape_by(2, result, dnnl_ab)
                               : shape_by(4, result, dnnl_acdb)};
}

static const dnnl_dims_t none = {0, 0}, ones = {1, 1};
static const dnnl_alg_kind_t direct = dnnl_convolution_direct;

static bb_status forward_unit(bb_program *p, size_t l, size_t below) {
    const bb_layer *layer = &p->layer[l];
    bb_stage *s = &p->stage[l];
    const shape *in = shape_of(p, below);
    const unit u = unit_of(p, layer, in);
    description d;
    const dnnl_status_t made =
        layer->kind == BB_LAYER_CONV
            ? bb_onednn.convolution_forward_desc_init(&d.conv, dnnl_forward_training,
                                                      direct, in, &u.kernel, &u.bias,
                                                      &u.out, ones, none, none)
            : bb_onednn.inner_product_forward_desc_init(&d.dense, dnnl_forward_training,
                                                        in, &u.kernel, &u.bias, &u.out);
    bb_status status = choose(p, made, &d, l + 1 == p->layers ? p->attr : p->relu_attr,
                              NULL, "the description of a layer", &s->forward);
    if (status) return status;
    const shape out = shape_queried(s->forward, dnnl_query_dst_md);
    s->weights = add_slot(p, &u.weights);
    s->bias = add_slot(p, &u.bias);
    s->out = add_slot(p, &out);
    s->ordered =
        same_or_new(p, s->weights, shape_queried(s->forward, dnnl_query_weights_md));
    status = add_reorder(p, s->weights, s->ordered);
    if (status) return status;
    return add_step(p, s->forward, 4,
                    (bb_argument[]){{DNNL_ARG_SRC, below},
                                    {DNNL_ARG_WEIGHTS, s->ordered},
                                    {DNNL_ARG_BIAS, s->bias},
                                    {DNNL_ARG_DST, s->out}});
}

static void forward_pool(bb_program *p, size_t l, size_t below) {
    const bb_image to = p->layer[l].out;
    const dnnl_dims_t size = {(int64_t)p->batch, (int64_t)to.channels,
                              (int64_t)to.height, (int64_t)to.width};
    const shape out = shape_by(4, size, dnnl_acdb);
    p->stage[l].out = add_slot(p, &out);
    p->step[p->steps++] =
        (bb_net_step){.kind = BB_STEP_POOL, .layer = l, .below = below};
}

/* The derivative by the weights and biases of layer l. */
static bb_status back_weights(bb_program *p, size_t l, size_t below) {
    const bb_layer *layer = &p->layer[l];
    bb_stage *s = &p->stage[l];
    const shape *in = shape_of(p, below), *out = shape_of(p, s->out_derivative);
    const unit u = unit_of(p, layer, in);
    dnnl_primitive_desc_t pd = NULL;
    description d;
    const dnnl_status_t made =
        layer->kind == BB_LAYER_CONV
            ? bb_onednn.convolution_backward_weights_desc_init(
                  &d.conv, direct, in, &u.kernel, &u.bias, out, ones, none, none)
            : bb_onednn.inner_product_backward_weights_desc_init(
                  &d.dense, in, &u.kernel, &u.bias, out);
    bb_status status = choose(p, made, &d, p->attr, s->forward,
                              "the description of a derivative by weights", &pd);
    if (status) goto done;
    s->weights_derivative = add_slot(p, &u.weights);
    s->bias_derivative = add_slot(p, &u.bias);
    const size_t weights = same_or_new(p, s->weights_derivative,
                                       shape_queried(pd, dnnl_query_diff_weights_md));
    status = add_step(p, pd, 4,
                      (bb_argument[]){{DNNL_ARG_SRC, below},
                                      {DNNL_ARG_DIFF_DST, s->out_derivative},
                                      {DNNL_ARG_DIFF_WEIGHTS, weights},
                                      {DNNL_ARG_DIFF_BIAS, s->bias_derivative}});
    if (!status) status = add_reorder(p, weights, s->weights_derivative);
done:
    (void)bb_onednn.primitive_desc_destroy(pd);
    return status;
}

/* The derivative by what is below a conv or dense layer. There may be pools between it
 * and the max(0, .): masking by what they let through is the same, and less work. */
static bb_status back_unit(bb_program *p, size_t l, size_t below,
                           size_t below_derivative) {
    const bb_layer *layer = &p->layer[l];
    bb_stage *s = &p->stage[l];
    const shape *in = shape_of(p, below), *out = shape_of(p, s->out_derivative);
    const unit u = unit_of(p, layer, in);
    dnnl_primitive_desc_t pd = NULL;
    description d;
    const dnnl_status_t made =
        layer->kind == BB_LAYER_CONV
            ? bb_onednn.convolution_backward_data_desc_init(
                  &d.conv, direct, in, &u.kernel, out, ones, none, none)
            : bb_onednn.inner_product_backward_data_desc_init(&d.dense, in, &u.kernel,
                                                              out);
    bb_status status = choose(p, made, &d, p->attr, s->forward,
                              "the description of a derivative by data", &pd);
    if (status) goto done;
    const shape wanted = shape_queried(pd, dnnl_query_weights_md);
    size_t weights = s->ordered;
    if (!bb_onednn.memory_desc_equal(&wanted, shape_of(p, weights))) {
        weights = same_or_new(p, s->weights, wanted);
        status = add_reorder(p, s->weights, weights);
    }
    if (!status)
        status = add_step(p, pd, 3,
                          (bb_argument[]){{DNNL_ARG_DIFF_DST, s->out_derivative},
                                          {DNNL_ARG_WEIGHTS, weights},
                                          {DNNL_ARG_DIFF_SRC, below_derivative}});
    if (status) goto done;
    p->step[p->steps++] = (bb_net_step){.kind = BB_STEP_MASK,
                                        .layer = l,
                                        .below = below,
                                        .below_derivative = below_derivative};
done:
    (void)bb_onednn.primitive_desc_destroy(pd);
    return status;
}

static void back_pool(bb_program *p, size_t l, size_t below, size_t below_derivative) {
    p->step[p->steps++] = (bb_net_step){.kind = BB_STEP_POOL_BACK,
                                        .layer = l,
                                        .below = below,
                                        .below_derivative = below_derivative};
}

static bb_status add_forward(bb_program *p) {
    const bb_image image = p->layer[0].in;
    const dnnl_dims_t size = {(int64_t)p->batch, (int64_t)image.channels,
                              (int64_t)image.height, (int64_t)image.width};
    const shape in = shape_by(4, size, dnnl_acdb);
    p->in = add_slot(p, &in);
    size_t below = p->in;
    for (size_t l = 0; l < p->layers; l++) {
        bb_status status = BB_OK;
        if (p->layer[l].kind == BB_LAYER_POOL)
            forward_pool(p, l, below);
        else
            status = forward_unit(p, l, below);
        if (status) return bb_fail_context(status, "layer %zu", l + 1);
        below = p->stage[l].out;
    }
    p->forward_steps = p->steps;
    return BB_OK;
}

/* From the last layer down to the first that has parameters. */
static bb_status add_backward(bb_program *p) {
    size_t first = 0;
    while (p->layer[first].kind == BB_LAYER_POOL) first++;
    for (size_t l = first; l < p->layers; l++)
        p->stage[l].out_derivative = add_slot(p, shape_of(p, p->stage[l].out));
    for (size_t l = p->layers; l-- > first;) {
        const size_t below = l ? p->stage[l - 1].out : p->in;
        const size_t to = l > first ? p->stage[l - 1].out_derivative : 0;
        bb_status status = BB_OK;
        if (p->layer[l].kind == BB_LAYER_POOL)
            back_pool(p, l, below, to);
        else
            status = back_weights(p, l, below);
        if (!status && p->layer[l].kind != BB_LAYER_POOL && l > first)
            status = back_unit(p, l, below, to);
        if (status) return bb_fail_context(status, "layer %zu", l + 1);
    }
    return BB_OK;
}

static size_t aligned(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

static void place_slots(bb_program *p) {
    size_t scratch = 0, at = 0;
    for (size_t k = 0; k < p->slots; k++) {
        const size_t size = aligned(bb_onednn.memory_desc_get_size(&p->slot[k].shape));
        if (p->slot[k].scratch) {
            scratch = size > scratch ? size : scratch;
            continue;
        }
        p->slot[k].offset = at;
        at += size;
    }
    for (size_t k = 0; k < p->slots; k++)
        if (p->slot[k].scratch) p->slot[k].offset = at;
    p->block = at + scratch;
}

static bb_status open_attributes(bb_program *p) {
    dnnl_post_ops_t relu = NULL;
    dnnl_status_t status = bb_onednn.primitive_attr_create(&p->attr);
    if (!status)
        status = bb_onednn.primitive_attr_set_scratchpad_mode(
            p->attr, dnnl_scratchpad_mode_user);
    if (!status) status = bb_onednn.primitive_attr_clone(&p->relu_attr, p->attr);
    if (!status) status = bb_onednn.post_ops_create(&relu);
    if (!status)
        status = bb_onednn.post_ops_append_eltwise(relu, 1.0f, dnnl_eltwise_relu, 0.0f,
                                                   0.0f);
    if (!status) status = bb_onednn.primitive_attr_set_post_ops(p->relu_attr, relu);
    (void)bb_onednn.post_ops_destroy(relu);
    return bb_dnnl_check(status, "its attributes");
}

bb_status bb_program_open(bb_program *p) {
    bb_status status =
        bb_allocate(&p->slot, p->layers * SLOTS_EACH + 1, sizeof *p->slot, "network");
    if (status) return status;
    status = bb_allocate(&p->step, p->layers * STEPS_EACH, sizeof *p->step, "network");
    if (status) return status;
    status =
        bb_dnnl_check(bb_onednn.engine_create(&p->engine, dnnl_cpu, 0), "its engine");
    if (!status) status = open_attributes(p);
    if (!status) status = add_forward(p);
    if (!status) status = add_backward(p);
    if (!status) place_slots(p);
    return status;
}

void bb_program_close(bb_program *p) {
    for (size_t k = 0; k < p->steps; k++)
        (void)bb_onednn.primitive_destroy(p->step[k].primitive);
    for (size_t l = 0; l < p->layers; l++)
        (void)bb_onednn.primitive_desc_destroy(p->stage[l].forward);
    (void)bb_onednn.primitive_attr_destroy(p->relu_attr);
    (void)bb_onednn.primitive_attr_destroy(p->attr);
    (void)bb_onednn.engine_destroy(p->engine);
    free(p->step);
    free(p->slot);
}
