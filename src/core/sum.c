#include "core/sum.h"

#include "linalg/linalg.h"

#include <string.h>

enum { EXACT_PRODUCTS = 1 << 13 }; /* products of 20-bit integers exact in a double */

static size_t open_length(bool grid, size_t length, size_t outer) {
    return grid ? outer * outer : length;
}

void bb_sum_need(bb_arena *arena, bool grid, size_t length, size_t outer) {
    if (grid) bb_arena_need(arena, length, sizeof(int64_t));
    bb_arena_need(arena, open_length(grid, length, outer), sizeof(double));
    bb_arena_need(arena, BB_SUM_ROWS * outer, sizeof(double));
}

void bb_sum_open(bb_sum *sum, bb_arena *arena, bool grid, size_t length, size_t outer) {
    *sum = (bb_sum){.length = grid ? length : 0,
                    .open_length = open_length(grid, length, outer)};
    if (grid) sum->exact = bb_arena_take(arena, length, sizeof(int64_t));
    sum->open = bb_arena_take(arena, sum->open_length, sizeof(double));
    sum->rows = bb_arena_take(arena, BB_SUM_ROWS * outer, sizeof(double));
}

void bb_sum_clear(bb_sum *sum) {
    if (sum->exact) memset(sum->exact, 0, sum->length * sizeof *sum->exact);
    memset(sum->open, 0, sum->open_length * sizeof *sum->open);
    sum->held = sum->products = 0;
}

void bb_sum_clear_part(bb_sum *sum, size_t offset, size_t n) {
    if (sum->exact)
        memset(sum->exact + offset, 0, n * sizeof *sum->exact);
    else
        memset(sum->open + offset, 0, n * sizeof *sum->open);
    if (sum->exact && sum->products)
        memset(sum->open, 0, sum->open_length * sizeof *sum->open);
    sum->held = sum->products = 0;
}

static void move_products(bb_sum *sum, int64_t *exact, size_t d) {
    for (size_t k = 0; k < d * d; k++) exact[k] += (int64_t)sum->open[k];
    memset(sum->open, 0, d * d * sizeof *sum->open);
    sum->products = 0;
}

/* Multiplies the held rows into the block's sum at `offset`. */
static void multiply_rows(bb_sum *sum, size_t offset, size_t d) {
    double *product = sum->open + (sum->exact ? 0 : offset);
    if (sum->exact && sum->products + sum->held > EXACT_PRODUCTS)
        move_products(sum, sum->exact + offset, d);
    bb_gram(sum->held, d, 1.0, sum->rows, 1.0, product);
    sum->products += sum->held;
    sum->held = 0;
}

/* Whole numbers below 2^51 in v: the bits of v + 1.5 * 2^52 are those of a fixed number
 * plus v, which vector instructions can do. */
static void add_exact(size_t n, const double *v, int64_t *to) {
    for (size_t k = 0; k < n; k++) {
        const double moved = v[k] + 0x1.8p52;
        int64_t bits;
        memcpy(&bits, &moved, sizeof bits);
        to[k] += bits - INT64_C(0x4338000000000000);
    }
}

void bb_sum_add(bb_sum *sum, size_t offset, size_t n, const double *v) {
    if (sum->exact)
        add_exact(n, v, sum->exact + offset);
    else
        for (size_t k = 0; k < n; k++) sum->open[offset + k] += v[k];
}

void bb_sum_add_at(bb_sum *sum, size_t offset, size_t count, const uint32_t *at,
                   size_t width, const double *v) {
    for (size_t k = 0; k < count; k++)
        bb_sum_add(sum, offset + (size_t)at[k] * width, width, v + k * width);
}

void bb_sum_add_outer(bb_sum *sum, size_t offset, size_t d, const double *v) {
    memcpy(sum->rows + sum->held * d, v, d * sizeof *v);
    if (++sum->held == BB_SUM_ROWS) multiply_rows(sum, offset, d);
}

void bb_sum_close(bb_sum *sum, size_t offset, size_t d) {
    multiply_rows(sum, offset, d);
    if (sum->exact) move_products(sum, sum->exact + offset, d);
}

void bb_sum_merge(bb_sum *into, const bb_sum *from, size_t offset, size_t n) {
    const size_t end = offset + n;
    if (into->exact && from->exact)
        for (size_t k = offset; k < end; k++) into->exact[k] += from->exact[k];
    else
        for (size_t k = offset; k < end; k++) into->open[k] += from->open[k];
}
