/* In place of net.c where oneDNN was not there when the library was built: there are no
 * networks, so that nothing but bb_net_open and bb_net_close is ever called. */
#include "learners/net.h"

#include <stdlib.h>

bb_status bb_net_open(bb_net **net, const char *layers, bb_image input, size_t batch,
                      size_t lanes) {
    (void)net, (void)layers, (void)input, (void)batch, (void)lanes;
    return bb_fail(BB_EIO, "Billboard was built without networks: on Debian, install "
                           "libdnnl-dev and build it again");
}

void bb_net_close(bb_net *net) {
    (void)net;
}

size_t bb_net_inputs(const bb_net *net) {
    (void)net;
    abort();
}

size_t bb_net_outputs(const bb_net *net) {
    (void)net;
    abort();
}

size_t bb_net_parameters(const bb_net *net) {
    (void)net;
    abort();
}

size_t bb_net_batch(const bb_net *net) {
    (void)net;
    abort();
}

bb_status bb_net_start(const bb_net *net, uint64_t seed, double *w) {
    (void)net, (void)seed, (void)w;
    abort();
}

bb_net_lane *bb_net_take(const bb_net *net) {
    (void)net;
    abort();
}

void bb_net_give(const bb_net *net, bb_net_lane *lane) {
    (void)net, (void)lane;
    abort();
}

void bb_net_forward(const bb_net *net, bb_net_lane *lane, const double *w, size_t count,
                    const double *const *x, double *z) {
    (void)net, (void)lane, (void)w, (void)count, (void)x, (void)z;
    abort();
}

void bb_net_backward(const bb_net *net, bb_net_lane *lane, const double *dz,
                     double *g) {
    (void)net, (void)lane, (void)dz, (void)g;
    abort();
}
