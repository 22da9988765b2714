#include "core/contribution.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum { SCORE_BITS = 20, MOST_STEPS = 8 };

__extension__ typedef unsigned __int128 wide;

/* Scales v, whose squares overflow or vanish, to norm at most `clip`: a huge finite
 * contribution is clipped like any other. */
static void clip_extreme(size_t n, double *v, double clip) {
    double largest = 0.0, squares = 0.0;
    for (size_t k = 0; k < n; k++) largest = fmax(largest, fabs(v[k]));
    if (largest == 0.0) return;
    for (size_t k = 0; k < n; k++) squares += (v[k] / largest) * (v[k] / largest);
    const double norm = sqrt(squares); /* of v / largest */
    if (norm <= clip / largest) return;
    for (size_t k = 0; k < n; k++) v[k] = v[k] / largest / norm * clip;
}

/* Makes v zero if it is not finite; returns by what it must be multiplied to have norm
 * at most `clip`. */
static double fit(size_t n, double *v, double clip) {
    const double squares = bb_dot(n, v, v);
    if (squares > 1e-280 && squares < 1e280) { /* then all of v is finite */
        const double norm = sqrt(squares);
        return norm > clip ? clip / norm : 1.0;
    }
    if (bb_all_finite(n, v))
        clip_extreme(n, v, clip);
    else
        memset(v, 0, n * sizeof *v);
    return 1.0;
}

/* The integers in v have norm at most sqrt(limit), counted exactly. */
static bool is_within(size_t n, const double *v, wide limit) {
    wide squares = 0;
    for (size_t k = 0; k < n; k++) {
        const uint64_t q = (uint64_t)fabs(v[k]);
        squares += (wide)q * q;
    }
    return squares <= limit;
}

/* One step toward zero. */
static void step_down(size_t n, double *v) {
    for (size_t k = 0; k < n; k++)
        if (v[k] != 0.0) v[k] -= copysign(1.0, v[k]);
}

/* To norm a hair below `most`: for integers that rounding alone cannot explain. */
static void shrink(size_t n, double *v, double most) {
    const double factor = most / bb_norm(n, v) * (1.0 - 0x1p-40);
    (void)bb_round_down(n, factor, v);
}

/* Multiplies by `factor` and rounds toward zero to integers of norm at most 2^bits,
 * which stay in v, where they are exact. */
static void round_to_grid(size_t n, double *v, double factor, int bits) {
    const wide limit = (wide)1 << (2 * bits);
    const double squares = bb_round_down(n, factor, v);
    /* a floating-point sum of n squares is off by less than n 2^-52 of it (Higham 2002,
     * section 4.2): where it is that far below the limit, no exact one is needed */
    if (squares * (1.0 + 0x1p-52 * ((double)n + 2.0)) < (double)limit) return;
    for (int steps = 0; !is_within(n, v, limit); steps++)
        if (steps < MOST_STEPS)
            step_down(n, v);
        else
            shrink(n, v, (double)(INT64_C(1) << bits));
}

/* The lower triangle counts: publishing mirrors it, so the clip must see it mirrored.
 */
static void mirror(size_t d, double *a) {
    for (size_t i = 0; i < d; i++)
        for (size_t j = i + 1; j < d; j++) a[i * d + j] = a[j * d + i];
}

void bb_contribution_fit(const bb_block *block, bool clips, int bits, size_t n,
                         double *v) {
    /* a clipped vector is checked on the way; a matrix before half of it is dropped */
    const bool check =
        !clips || block->form == BB_FORM_PSD || block->form == BB_FORM_SELECTION;
    if (check && !bb_all_finite(n, v)) memset(v, 0, n * sizeof *v);
    if (block->form == BB_FORM_SELECTION) {
        for (size_t k = 0; k < n; k++)
            v[k] = trunc(ldexp(fmin(1.0, fmax(0.0, v[k])), SCORE_BITS));
        return;
    }
    if (block->form == BB_FORM_PSD) mirror(block->length, v);
    double factor = clips ? fit(n, v, block->clip) : 1.0;
    if (bits)
        round_to_grid(n, v, factor * ((double)(INT64_C(1) << bits) / block->clip),
                      bits);
    else if (factor < 1.0)
        bb_scale(n, factor, v);
}
