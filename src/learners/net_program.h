/* net_program.h - a network as a list of oneDNN primitives; used by net.c only.
 *
 * A program is a list of steps, whose arguments are slots: arrays that every lane has
 * once. Forward runs the first steps, backward the others. What is between layers lies
 * by image, row, column, channel, not in one of oneDNN's blocked orders: kernels for it
 * are as fast, and the derivative by the weights of a first layer of one channel is
 * left to slow reference loops there (AVX2). Pools are loops of our own, five to twenty
 * times faster. The orders of a convolution's weights are oneDNN's choice. */
#ifndef BB_LEARNERS_NET_PROGRAM_H
#define BB_LEARNERS_NET_PROGRAM_H

#include "learners/net_layers.h"
#include "learners/net_onednn.h"

#include <stdbool.h>

enum { BB_ARGUMENTS = 5 }; /* most of a step */

typedef struct bb_slot {
    dnnl_memory_desc_t shape;
    size_t offset; /* bytes, in a lane's block */
    bool scratch;  /* shares one place with all others of the kind */
} bb_slot;

typedef struct bb_argument {
    int name; /* DNNL_ARG_... */
    size_t slot;
} bb_argument;

typedef enum bb_step_kind {
    BB_STEP_PRIMITIVE,
    BB_STEP_POOL,      /* layer's out <- pool of below */
    BB_STEP_POOL_BACK, /* below_derivative <- out_derivative, which is used up */
    BB_STEP_MASK       /* below_derivative <- 0 where below is not > 0 */
} bb_step_kind;

typedef struct bb_net_step {
    bb_step_kind kind;
    dnnl_primitive_t primitive;
    int arguments;
    bb_argument argument[BB_ARGUMENTS];
    size_t layer, below, below_derivative; /* the latter two are slots */
} bb_net_step;

/* The slots of one layer. Weights and their derivative are in the order of net.h. */
typedef struct bb_stage {
    dnnl_primitive_desc_t forward;
    size_t out, out_derivative;
    size_t weights, bias, weights_derivative, bias_derivative;
    size_t ordered; /* the weights as forward wants them; may be `weights` itself */
} bb_stage;

typedef struct bb_program {
    size_t batch, layers;
    bb_layer layer[BB_LAYERS];
    bb_stage stage[BB_LAYERS];
    size_t in; /* the slot of the images */
    size_t slots, steps, forward_steps;
    size_t block; /* bytes of all slots */
    bb_slot *slot;
    bb_net_step *step;
    dnnl_engine_t engine;
    dnnl_primitive_attr_t attr, relu_attr;
} bb_program;

/* Fills in the rest of a program with batch and layers set, after bb_onednn_load; the
 * caller's OpenMP must say one thread. After a failure bb_program_close takes what
 * there is. */
BB_MUST_CHECK bb_status bb_program_open(bb_program *p);
void bb_program_close(bb_program *p);

/* A failure of oneDNN as ours: BB_ENOMEM or BB_ENUMERIC. */
bb_status bb_dnnl_check(dnnl_status_t status, const char *what);

#endif
