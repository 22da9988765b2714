#include "core/grid.h"

#include "privacy/noise/noise.h"

#include <math.h>

enum { VECTOR_BITS = 32, PRODUCT_BITS = 20, LEAST_BITS = 8 };

bool bb_grid_is_clip(double clip) {
    return clip >= 0x1p-500 && clip <= 0x1p500;
}

bool bb_form_is_product(bb_form form) {
    return form == BB_FORM_SQUARE || form == BB_FORM_OUTER;
}

bb_status bb_grid_choose(bb_door *door, size_t b, double mu) {
    const bb_block *block = &door->ask.layout.block[b];
    const double r = bb_form_sensitivity(block->form, door->pub->adjacency);
    int bits = bb_form_is_product(block->form) ? PRODUCT_BITS : VECTOR_BITS;
    for (; bits >= LEAST_BITS; bits--) {
        const double unit =
            ldexp(1.0, bb_form_is_product(block->form) ? 2 * bits : bits);
        double moved = r * unit;
        /* rounding a positive semi-definite matrix may leave the cone: count its steps
         */
        if (block->form == BB_FORM_PSD) moved += 2.0 * (double)block->length;
        const double std = nextafter(moved / mu * (1.0 + 1e-15), INFINITY);
        if ((double)door->pub->tasks * unit + 40.0 * std >= 0x1p63) continue;
        if (std >= BB_NOISE_MOST_STD) continue;
        if (std * sqrt(0.5) < BB_NOISE_LEAST_STD) break;
        door->ask.bits[b] = bits;
        door->std[b] = std;
        door->least_noise = fmin(door->least_noise, std / unit);
        return BB_OK;
    }
    return bb_fail(BB_EUSAGE,
                   "block \"%s\" of round %u: noise multiplier %g for %zu tasks "
                   "does not fit the 64-bit grid",
                   block->name, door->ask.round + 1, r / mu, door->pub->tasks);
}

bb_status bb_grid_choose_radial(bb_door *door, size_t b, double pure) {
    const bb_block *block = &door->ask.layout.block[b];
    const double n = (double)block->length, rows = (double)door->plan->lifted_rows;
    for (int bits = VECTOR_BITS; bits >= LEAST_BITS; bits--) {
        const double unit = ldexp(1.0, bits);
        const double error = rows * (2.0 * sqrt(n) + 0x1p-24 * unit);
        const double moved = 2.0 * unit + error;
        const double scale = fmax(moved / pure * (1.0 + 1e-12), BB_RADIAL_LEAST_SCALE);
        const double reach = (n + 13.0 * sqrt(n) + 80.0) * scale;
        if ((double)door->pub->tasks * (unit + reach) >= 0x1p63) continue;
        if (scale > BB_RADIAL_MOST_SCALE) continue;
        if (error > 0.02 * unit) break;
        door->ask.bits[b] = bits;
        door->scale = scale;
        door->std[b] = scale * sqrt(n + 1.0);
        door->least_noise = fmin(door->least_noise, door->std[b] / unit);
        return BB_OK;
    }
    return bb_fail(BB_EUSAGE,
                   "block \"%s\" of round %u: epsilon %g, delta 0 for each of %g rows "
                   "(replace-one, sampling: all) of %zu tasks does not fit the 64-bit "
                   "grid",
                   block->name, door->ask.round + 1, pure / rows, rows,
                   door->pub->tasks);
}
