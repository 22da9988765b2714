/* net_layers.h - what a description of a network says; used by net.c only. */
#ifndef BB_LEARNERS_NET_LAYERS_H
#define BB_LEARNERS_NET_LAYERS_H

#include "learners/net.h"

typedef enum bb_layer_kind {
    BB_LAYER_CONV,
    BB_LAYER_POOL,
    BB_LAYER_DENSE
} bb_layer_kind;

enum { BB_LAYERS = 32 }; /* most layers of a network */

typedef struct bb_layer {
    bb_layer_kind kind;
    size_t side;            /* K; 1 for dense */
    bb_image in, out;       /* dense: out is 1 x 1 x C */
    size_t weights, biases; /* numbers of parameters; 0 for pool */
} bb_layer;

/* layer[0 .. *layers - 1] <- the layers of a description (net.h) on images of the given
 * size. No array for `batch` images, and no layer's weights, is larger than 2^28
 * numbers. BB_EUSAGE: one message with the layer's number, what was expected and what
 * found. */
BB_MUST_CHECK bb_status bb_layers_parse(const char *text, bb_image input, size_t batch,
                                        bb_layer layer[BB_LAYERS], size_t *layers);

#endif
