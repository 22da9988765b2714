/* net.h - small convolutional networks, through oneDNN, in float32.
 *
 * A network is a list of layers, separated by commas:
 *   convKxC  convolution by C filters of K x K, stride 1, not padded (height and width
 *            shrink by K - 1), plus a bias, then max(0, .)
 *   poolK    maximum over K x K windows, stride K; what does not fill a window is left
 *            out
 *   denseC   C sums over everything below, plus a bias, then max(0, .)
 * The last layer must be dense; it has no max(0, .), and its C are the outputs. Above a
 * dense layer are dense ones only. For 28 x 28 x 1 and 62 classes
 * conv5x32,pool2,conv5x64,pool2,dense62 has 115,646 parameters.
 *
 * Parameters, one flat vector of doubles outside: layer by layer, weights then biases;
 * of a convolution filter x channel x row x column, of a dense layer output x input,
 * inputs in the order channel x row x column. Rows hold an image by row, column,
 * channel (H x W x C, as image files do). */
#ifndef BB_LEARNERS_NET_H
#define BB_LEARNERS_NET_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct bb_image {
    size_t height, width, channels;
} bb_image;

typedef struct bb_net bb_net;
/* What one thread needs to run a network: its activations. */
typedef struct bb_net_lane bb_net_lane;

/* Makes the network for batches of up to `batch` images, for `lanes` threads at once;
 * all memory and all oneDNN primitives are made here (milliseconds; the first of a
 * process, which loads oneDNN, 0.1 s). Several threads may do so at once. BB_EUSAGE says
 * which layer is wrong, what was expected and found: at most 32 layers, and 2^28 numbers
 * in what a batch makes of it and in its weights. BB_ENOMEM; a failure of oneDNN is
 * BB_ENUMERIC with its status; BB_EIO: it is not on this machine. *net is written on
 * success only. */
BB_MUST_CHECK bb_status bb_net_open(bb_net **net, const char *layers, bb_image input,
                                    size_t batch, size_t lanes);
void bb_net_close(bb_net *net); /* takes NULL */

size_t bb_net_inputs(const bb_net *net);     /* height * width * channels */
size_t bb_net_outputs(const bb_net *net);    /* of the last layer */
size_t bb_net_parameters(const bb_net *net); /* of all layers */
size_t bb_net_trunk(const bb_net *net);      /* of all but the last, in front */
size_t bb_net_batch(const bb_net *net);      /* most images at once */

/* A public starting point: weights uniform in +-sqrt(6 / inputs of the unit) (He et al.
 * 2015, uniform form), the last layer's in +-sqrt(1 / inputs); biases zero. A function
 * of the seed and the network only. w: bb_net_parameters. */
BB_MUST_CHECK bb_status bb_net_start(const bb_net *net, uint64_t seed, double *w);

/* A lane that no other thread uses, until it is given back. When all are taken it
 * waits, busily, for one. */
bb_net_lane *bb_net_take(const bb_net *net);
void bb_net_give(const bb_net *net, bb_net_lane *lane);

/* z (count x outputs) <- the outputs for `count` <= batch images x[0], x[1], ... (each
 * bb_net_inputs doubles, finite as floats) with parameters w; the lane keeps what
 * backward needs. Missing images are made up by zeros, whose derivative is zero: any
 * count costs as much as a whole batch, and an image's outputs do not depend on the
 * others. On the calling thread only, whatever OpenMP is set to; the same bits in any
 * lane, on one type of processor. Own code allocates nothing; oneDNN makes a small
 * table of arguments in each primitive. Should oneDNN fail (out of memory for that
 * table), z is NaN. */
void bb_net_forward(const bb_net *net, bb_net_lane *lane, const double *w, size_t count,
                    const double *const *x, double *z);
/* g (parameters) <- sum over those images of (dz_j)' d outputs_j / d w, for derivatives
 * dz (count x outputs) of some loss. After bb_net_forward on the same lane, whose w and
 * count hold. max(0, .) has derivative 0 at 0, and of equal values in a window one
 * counts. The rest as in bb_net_forward. */
void bb_net_backward(const bb_net *net, bb_net_lane *lane, const double *dz, double *g);

#endif
