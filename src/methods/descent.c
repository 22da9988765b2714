#include "methods/descent.h"

#include <math.h>

bb_sgd bb_descent_of(const bb_descent *o, const bb_public *pub,
                     bb_descent_defaults defaults) {
    const double linear = pub->batch ? 0.1 : 1.0;
    const double automatic = pub->network ? defaults.network_rate : linear;
    const uint64_t epochs = pub->batch ? defaults.batch_epochs : defaults.epochs;
    return (bb_sgd){.steps = o->steps,
                    .epochs = o->epochs ? o->epochs : epochs,
                    .batch = pub->batch,
                    .rate = isnan(o->rate) ? automatic : o->rate,
                    .momentum = o->momentum,
                    .decay = (bb_decay)o->decay};
}
