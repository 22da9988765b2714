#include "learners/net_layers.h"

#include <stdbool.h>
#include <string.h>

enum { LARGEST = 65535, SHOWN = 40 };
static const size_t MOST = (size_t)1 << 28;

/* a * b * c * d <= MOST; none is 0 */
static bool fits(size_t a, size_t b, size_t c, size_t d) {
    const size_t factor[] = {b, c, d};
    uint64_t product = a;
    for (size_t k = 0; k < 3 && product <= MOST; k++)
        product = factor[k] > MOST ? UINT64_MAX : product * factor[k];
    return product <= MOST;
}

/* A layer's text, for messages. */
typedef struct word {
    const char *text;
    size_t length, number; /* number: its place, from 1 */
} word;

#define NAMED "layer %zu (\"%.*s%s\"): "
#define NAME(w)                                                                        \
    (w)->number, (int)((w)->length < SHOWN ? (w)->length : SHOWN), (w)->text,          \
        (w)->length > SHOWN ? "..." : ""

/* Moves *at past a number from 1 to LARGEST. */
static bool number(const char **at, const char *end, size_t *value) {
    size_t v = 0;
    const char *p = *at;
    for (; p < end && *p >= '0' && *p <= '9' && v <= LARGEST; p++)
        v = 10 * v + (size_t)(*p - '0');
    if (p == *at || v < 1 || v > LARGEST) return false;
    *at = p;
    *value = v;
    return true;
}

/* kind, side, channels <- a word by itself */
static bb_status read_word(const word *w, bb_layer *layer, size_t *channels) {
    static const char *const names[] = {"conv", "pool", "dense"};
    const char *end = w->text + w->length;
    for (int kind = BB_LAYER_CONV; kind <= BB_LAYER_DENSE; kind++) {
        const size_t length = strlen(names[kind]);
        const char *at = w->text + length;
        if (w->length < length || memcmp(w->text, names[kind], length) != 0) continue;
        layer->kind = (bb_layer_kind)kind;
        layer->side = 1;
        bool good = number(&at, end, kind == BB_LAYER_DENSE ? channels : &layer->side);
        if (kind == BB_LAYER_CONV)
            good = good && at < end && *at++ == 'x' && number(&at, end, channels);
        if (good && at == end) return BB_OK;
    }
    return bb_fail(BB_EUSAGE,
                   NAMED "expected convKxC, poolK or denseC with K and C from 1 to %d, "
                         "like conv5x32",
                   NAME(w), LARGEST);
}

/* The layer's sizes, from what is below it. */
static bb_status size_layer(const word *w, bb_layer *layer, size_t channels) {
    const bb_image in = layer->in;
    const size_t k = layer->side;
    if (layer->kind == BB_LAYER_DENSE) {
        layer->out = (bb_image){1, 1, channels};
        if (!fits(channels, in.channels, in.height, in.width)) goto large;
        layer->weights = channels * in.channels * in.height * in.width;
        layer->biases = channels;
        return BB_OK;
    }
    if (k > in.height || k > in.width)
        return bb_fail(BB_EUSAGE,
                       NAMED "expected K at most as large as the image there, %zu x "
                             "%zu, found %zu",
                       NAME(w), in.height, in.width, k);
    if (layer->kind == BB_LAYER_POOL) {
        layer->out = (bb_image){in.height / k, in.width / k, in.channels};
        return BB_OK;
    }
    layer->out = (bb_image){in.height - k + 1, in.width - k + 1, channels};
    if (!fits(channels, in.channels, k, k)) goto large;
    layer->weights = channels * in.channels * k * k;
    layer->biases = channels;
    return BB_OK;
large:
    return bb_fail(BB_EUSAGE,
                   NAMED "expected at most %zu weights, found more: %zu outputs of "
                         "%zu channels each",
                   NAME(w), MOST, channels, in.channels);
}

static bb_status add(const word *w, size_t batch, const bb_layer *below,
                     bb_layer *layer) {
    size_t channels = 0;
    bb_status status = read_word(w, layer, &channels);
    if (status) return status;
    if (below && below->kind == BB_LAYER_DENSE && layer->kind != BB_LAYER_DENSE)
        return bb_fail(BB_EUSAGE, NAMED "expected dense, since layer %zu is dense",
                       NAME(w), w->number - 1);
    status = size_layer(w, layer, channels);
    if (status) return status;
    const bb_image out = layer->out;
    if (!fits(batch, out.channels, out.height, out.width))
        return bb_fail(BB_EUSAGE,
                       NAMED "expected at most %zu numbers for a batch, found %zu "
                             "images of %zu x %zu x %zu",
                       NAME(w), MOST, batch, out.height, out.width, out.channels);
    return BB_OK;
}

bb_status bb_layers_parse(const char *text, bb_image input, size_t batch,
                          bb_layer layer[BB_LAYERS], size_t *layers) {
    if (!input.height || !input.width || !input.channels || !batch ||
        !fits(batch, input.channels, input.height, input.width))
        return bb_fail(BB_EUSAGE,
                       "network: expected a batch of 1 or more images of 1 x 1 x 1 or "
                       "more, and at most %zu numbers together, found %zu images of "
                       "%zu x %zu x %zu",
                       MOST, batch, input.height, input.width, input.channels);
    size_t count = 0;
    for (const char *at = text;; at++) {
        const word w = {at, strcspn(at, ","), count + 1};
        bb_layer *below = count ? &layer[count - 1] : NULL;
        if (count == BB_LAYERS)
            return bb_fail(BB_EUSAGE, "network: expected at most %d layers, found more",
                           BB_LAYERS);
        layer[count] = (bb_layer){.in = below ? below->out : input};
        const bb_status status = add(&w, batch, below, &layer[count]);
        if (status) return status;
        count++;
        at += w.length;
        if (*at) continue;
        if (layer[count - 1].kind != BB_LAYER_DENSE)
            return bb_fail(BB_EUSAGE, NAMED "expected denseC as the last layer",
                           NAME(&w));
        break;
    }
    *layers = count;
    return BB_OK;
}
