#include "experiments/rank_sum.h"

#include "base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EXACT = 50 };

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Pairs in which b's value is the larger one; half a pair where they are the same. */
static double pairs_above(const double *a, size_t n, const double *b, size_t m) {
    double u = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) u += b[j] > a[i] ? 1.0 : 0.5 * (b[j] == a[i]);
    return u;
}

/* Sum over the ties of t^3 - t, of `count` values. */
static double tied(const double *value, size_t count) {
    double sum = 0.0;
    for (size_t k = 0, next; k < count; k = next) {
        for (next = k; next < count && value[next] == value[k];) next++;
        const double t = (double)(next - k);
        sum += t * t * t - t;
    }
    return sum;
}

/* Of all orders of n + m values the part that has at most u pairs: the coefficients of the
 * Gaussian binomial, prod (1 - q^(m + i)) / (1 - q^i). ways has n m + 1 places. */
static double exact(double *ways, size_t n, size_t m, double u) {
    const size_t most = n * m;
    double below = 0.0, all = 0.0;
    memset(ways, 0, (most + 1) * sizeof *ways);
    ways[0] = 1.0;
    for (size_t i = 1; i <= n; i++) {
        for (size_t k = most + 1; k-- > m + i;) ways[k] -= ways[k - m - i];
        for (size_t k = i; k <= most; k++) ways[k] += ways[k - i];
    }
    for (size_t k = 0; k <= most; k++) {
        all += ways[k];
        if ((double)k <= u) below += ways[k];
    }
    return below / all;
}

static double normal(size_t n, size_t m, double u, double ties) {
    const double count = (double)(n + m), pairs = (double)n * (double)m;
    const double variance =
        pairs / 12.0 * (count + 1.0 - ties / (count * (count - 1.0)));
    return 0.5 * erfc(-(u + 0.5 - 0.5 * pairs) / sqrt(2.0 * variance));
}

bb_status bb_rank_sum(const double *a, size_t n, const double *b, size_t m, double *p) {
    double *room = NULL;
    if (n == 0 || m == 0) {
        *p = NAN;
        return BB_OK;
    }
    const size_t places = n * m + 1 > n + m ? n * m + 1 : n + m;
    const bb_status status = bb_allocate(&room, places, sizeof *room, "a test");
    if (status || !room) return status;
    memcpy(room, a, n * sizeof *a);
    memcpy(room + n, b, m * sizeof *b);
    qsort(room, n + m, sizeof *room, ascending);
    const double ties = tied(room, n + m), u = pairs_above(a, n, b, m);
    const bool same = room[0] == room[n + m - 1];
    if (same)
        *p = NAN;
    else if (ties == 0.0 && n + m <= MOST_EXACT)
        *p = exact(room, n, m, u);
    else
        *p = normal(n, m, u, ties);
    free(room);
    return BB_OK;
}
