/* A mixture of Gaussians, drawn by the exact sampler.
 *
 * Lengths in units of scale. For S >= 0 with any law let b = S g, g ~ N(0, I_n): its
 * density at a point of length r is proportional to
 *     p(r) = E[S^-n exp(-r^2 / (2 S^2))],
 * and its logarithm has a gradient of length
 *     r E_r[S^-2],   E_r[f(S)] = E[f(S) S^-n exp(-r^2 / (2 S^2))] / p(r),
 * so b protects by exp(distance * most of that). If S is the length of a standard
 * Gaussian in n + 1 dimensions, of density S^n exp(-S^2 / 2) but for a factor, then
 *     p(r) = int_0^inf exp(-S^2 / 2 - r^2 / (2 S^2)) dS = sqrt(pi / 2) exp(-r),
 * the law wanted, and the gradient's length is 1. Here S = N / D, where N is the length
 * of n + 1 rounded Gaussians of deviation D = 2^52. Three things differ:
 *
 * 1. N < L = 2^44 sqrt(n + 1) is drawn again, which for n = 1 happens once in 2^16
 *    times. Conditioning on S >= a constant leaves out the largest S^-2, so that it
 *    makes E_r[S^-2] smaller, and the gradient's length is at most 1.
 * 2. The Gaussians are rounded: |N - H| <= c = sqrt(n + 1) / 2, where H is the length
 *    before rounding, so P(H >= t + c) <= P(N >= t) <= P(H >= t - c). With L' such that
 *    P(H >= L') = P(N >= L), the same holds for N given N >= L and H given H >= L'. So
 *    N and H drawn by these two laws can be coupled with |N - H| <= c, that is 2^-45 H.
 * 3. The deviation is computed in double, with four roundings.
 *
 * By 2 and 3 the deviation is S (1 + x), |x| <= k = 1.1 * 2^-45, with an S for which 1
 * holds. With r1 = r / (1 + k), r2 = r / (1 - k) and p of S, the gradient's length is
 *     r E[(S + S x)^-(n+2) exp(-r^2 / (2 (S + S x)^2))] / E[the same, n for n + 2]
 *     <= (1 - k)^-(n+2) (1 + k)^n r E[S^-(n+2) exp(-r1^2 / (2 S^2))] / p(r2)
 *     <= (1 - k)^-(n+2) (1 + k)^(n+1) p(r1) / p(r2) <= exp(2 k (n + 2 + r)),
 * since r1 E[...] <= p(r1) and log p falls by at most r2 - r1 by 1. Now r <= 2 n + 120
 * except with probability exp(-80) (Gamma(n) exceeds n + sqrt(2 n t) + t <= 2 n + 1.5 t
 * with probability at most exp(-t)), a neighbour at most 2^13 farther off. So the
 * exponent is below 2^-44 (3.4 n + 9200), and the scale is enlarged by more, 2^-44
 * (256 n + 16384). The additive term: an expected 1.001 (n + 1) + n samples, each
 * within 2^-100 of its law, and exp(-80). */
#include "privacy/noise/noise.h"
#include "privacy/noise/wide.h"

#include <math.h>

enum { CHUNK = 64, LEAST_BITS = 44 };

/* N^2; no overflow for n < 2^15 since |g| < 18.3, and for more it would take a sum of
 * more than 2^22 squares that is four times its mean. */
static bb_u128 draw_square(bb_random *random, size_t count) {
    bb_u128 sum = 0;
    while (count > 0) {
        int64_t h[CHUNK] = {0};
        const size_t n = count < CHUNK ? count : CHUNK;
        bb_noise_gaussian(random, 0x1p52, n, h);
        for (size_t k = 0; k < n; k++) {
            const uint64_t size = (uint64_t)(h[k] < 0 ? -h[k] : h[k]);
            sum += (bb_u128)size * size;
        }
        count -= n;
    }
    return sum;
}

void bb_noise_radial(bb_random *random, double scale, size_t n, int64_t *value) {
    if (n == 0) return;
    if (!(scale >= BB_RADIAL_LEAST_SCALE && scale <= BB_RADIAL_MOST_SCALE) ||
        n > BB_RADIAL_MOST_LENGTH) {
        bb_random_fail(random, "its radial noise has no such scale or length");
        return;
    }
    const bb_u128 least = (bb_u128)(n + 1) << (2 * LEAST_BITS);
    bb_u128 square = 0;
    while (square < least) square = draw_square(random, n + 1);
    const double enlarged = scale * (1.0 + (double)(n + 64) * 0x1p-36);
    /* 2^20.5 .. 2^55.3 */
    bb_noise_gaussian(random, enlarged * (sqrt((double)square) * 0x1p-52), n, value);
}
