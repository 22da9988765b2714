#include "core/contribution.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum { SCORE_BITS = 20 };

__extension__ typedef unsigned __int128 wide;

static bool all_finite(size_t n, const double *v) {
    for (size_t k = 0; k < n; k++)
        if (!isfinite(v[k])) return false;
    return true;
}

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

/* Makes v zero if it is not finite, and scales it to norm at most `clip`. */
static void clip_to(size_t n, double *v, double clip) {
    const double squares = bb_dot(n, v, v);
    if (squares > 1e-280 && squares < 1e280) { /* then all of v is finite */
        const double norm = sqrt(squares);
        if (norm > clip) bb_scale(n, clip / norm, v);
    } else if (all_finite(n, v)) {
        clip_extreme(n, v, clip);
    } else {
        memset(v, 0, n * sizeof *v);
    }
}

/* Rounds toward zero to integers of norm at most 2^bits; the integers stay in v, where
 * they are exact. */
static void round_to_grid(size_t n, double *v, double clip, int bits) {
    const double steps = ldexp(1.0, bits);
    const wide limit = (wide)1 << (2 * bits);
    wide squares;
    for (size_t k = 0; k < n; k++) v[k] = (double)(int64_t)(v[k] / clip * steps);
    for (;;) {
        squares = 0;
        for (size_t k = 0; k < n; k++) {
            const uint64_t q = (uint64_t)fabs(v[k]);
            squares += (wide)q * q;
        }
        if (squares <= limit) return;
        for (size_t k = 0; k < n; k++) /* one step toward zero */
            if (v[k] != 0.0) v[k] -= copysign(1.0, v[k]);
    }
}

/* The lower triangle counts: publishing mirrors it, so the clip must see it mirrored.
 */
static void mirror(size_t d, double *a) {
    for (size_t i = 0; i < d; i++)
        for (size_t j = i + 1; j < d; j++) a[i * d + j] = a[j * d + i];
}

void bb_contribution_fit(const bb_block *block, bool clips, int bits, double *v) {
    const size_t n = bb_block_show_length(block);
    /* a clipped vector is checked on the way; a matrix before half of it is dropped */
    const bool check =
        !clips || block->form == BB_FORM_PSD || block->form == BB_FORM_SELECTION;
    if (check && !all_finite(n, v)) memset(v, 0, n * sizeof *v);
    if (block->form == BB_FORM_SELECTION) {
        for (size_t k = 0; k < n; k++)
            v[k] = trunc(ldexp(fmin(1.0, fmax(0.0, v[k])), SCORE_BITS));
        return;
    }
    if (block->form == BB_FORM_PSD) mirror(block->length, v);
    if (clips) clip_to(n, v, block->clip);
    if (bits) round_to_grid(n, v, block->clip, bits);
}
