/* naive_net.h - the plain twin of learners/net.h: one image at a time, in double. */
#ifndef BB_TESTS_NAIVE_NET_H
#define BB_TESTS_NAIVE_NET_H

#include "learners/net.h"
#include "linalg/naive.h"

#include <stdio.h>
#include <string.h>

enum { NAIVE_LAYERS = 8 };

typedef struct naive_layer {
    char kind; /* c, p, d */
    size_t k;
    bb_image in, out;
    size_t first;               /* of its parameters */
    double *value, *derivative; /* of what comes out, row, column, channel */
} naive_layer;

typedef struct naive_net {
    size_t layers, parameters;
    naive_layer layer[NAIVE_LAYERS];
} naive_net;

static inline size_t naive_size(bb_image a) {
    return a.height * a.width * a.channels;
}

static inline naive_net naive_net_new(const char *text, bb_image in) {
    naive_net net = {0};
    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        naive_layer *l = &net.layer[net.layers++];
        *l = (naive_layer){.kind = *at, .k = 1, .in = in, .first = net.parameters};
        size_t c = in.channels, k = 1, taps = naive_size(in);
        if (sscanf(at, "conv%zux%zu", &k, &c) == 2) {
            in = (bb_image){in.height - k + 1, in.width - k + 1, c};
            taps = k * k * l->in.channels;
        } else if (sscanf(at, "pool%zu", &k) == 1) {
            in = (bb_image){in.height / k, in.width / k, c};
        } else if (sscanf(at, "dense%zu", &c) == 1) {
            in = (bb_image){1, 1, c};
        }
        l->k = k;
        l->out = in;
        if (l->kind != 'p') net.parameters += c * (taps + 1);
        l->value = naive_vector(naive_size(in), 0);
        l->derivative = naive_vector(naive_size(in), 0);
    }
    return net;
}

static inline void naive_net_free(naive_net *net) {
    for (size_t l = 0; l < net->layers; l++) {
        free(net->layer[l].value);
        free(net->layer[l].derivative);
    }
}

/* Goes over all products of a conv or dense layer: forward when g is NULL, else
 * backward, with dx NULL if what is below needs no derivative. */
static inline void naive_products(const naive_layer *l, const double *w,
                                  const double *x, double *g, double *dx) {
    const bb_image in = l->in, out = l->out;
    const size_t rows = l->kind == 'd' ? in.height : l->k;
    const size_t columns = l->kind == 'd' ? in.width : l->k;
    for (size_t o = 0; o < out.channels; o++)
        for (size_t h = 0; h < out.height; h++)
            for (size_t v = 0; v < out.width; v++) {
                const size_t to = (h * out.width + v) * out.channels + o;
                const double d = l->derivative[to];
                for (size_t c = 0; c < in.channels; c++)
                    for (size_t a = 0; a < rows; a++)
                        for (size_t b = 0; b < columns; b++) {
                            const size_t q =
                                ((o * in.channels + c) * rows + a) * columns + b;
                            const size_t p =
                                ((h + a) * in.width + v + b) * in.channels + c;
                            if (g) g[q] += d * x[p];
                            if (dx) dx[p] += d * w[q];
                            if (!g) l->value[to] += w[q] * x[p];
                        }
                const size_t bias = out.channels * in.channels * rows * columns + o;
                if (g)
                    g[bias] += d;
                else
                    l->value[to] += w[bias];
            }
}

/* The first largest of the window whose maximum comes out at (h, v, c). */
static inline size_t naive_window(const naive_layer *l, const double *x, size_t h,
                                  size_t v, size_t c) {
    size_t best = ((h * l->k) * l->in.width + v * l->k) * l->in.channels + c;
    for (size_t a = 0; a < l->k; a++)
        for (size_t b = 0; b < l->k; b++) {
            const size_t p =
                ((h * l->k + a) * l->in.width + v * l->k + b) * l->in.channels + c;
            if (x[p] > x[best]) best = p;
        }
    return best;
}

/* z <- outputs for image x */
static inline void naive_net_forward(naive_net *net, const double *w, const double *x,
                                     double *z) {
    for (size_t i = 0; i < net->layers; i++) {
        naive_layer *l = &net->layer[i];
        const bb_image out = l->out;
        memset(l->value, 0, naive_size(out) * sizeof *l->value);
        if (l->kind != 'p') {
            naive_products(l, w + l->first, x, NULL, NULL);
            for (size_t k = 0; k < naive_size(out) && i + 1 < net->layers; k++)
                if (!(l->value[k] > 0)) l->value[k] = 0;
        }
        for (size_t k = 0; k < naive_size(out) && l->kind == 'p'; k++)
            l->value[k] =
                x[naive_window(l, x, k / out.channels / out.width,
                               k / out.channels % out.width, k % out.channels)];
        x = l->value;
    }
    memcpy(z, x, net->layer[net->layers - 1].out.channels * sizeof *z);
}

/* g += (dz)' d outputs / d w for the image of the last forward, x */
static inline void naive_net_backward(naive_net *net, const double *w, const double *x,
                                      const double *dz, double *g) {
    for (size_t i = net->layers; i-- > 0;) {
        naive_layer *l = &net->layer[i];
        const bb_image out = l->out;
        const double *in = i ? l[-1].value : x;
        double *d = i ? l[-1].derivative : NULL;
        if (d) memset(d, 0, naive_size(l->in) * sizeof *d);
        if (i + 1 == net->layers) memcpy(l->derivative, dz, out.channels * sizeof *dz);
        for (size_t k = 0; k < naive_size(out) && i + 1 < net->layers; k++)
            if (l->kind != 'p' && !(l->value[k] > 0)) l->derivative[k] = 0;
        if (l->kind != 'p') naive_products(l, w + l->first, in, g + l->first, d);
        for (size_t k = 0; k < naive_size(out) && l->kind == 'p' && d; k++)
            d[naive_window(l, in, k / out.channels / out.width,
                           k / out.channels % out.width, k % out.channels)] +=
                l->derivative[k];
    }
}

#endif
