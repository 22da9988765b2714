/* sum.h - adding up contributions, exactly on the grid.
 *
 * On the grid contributions are integers (held in doubles) and sums are int64, so they
 * do not depend on the order of addition. Outer products of integers below 2^20 are
 * multiplied by BLAS in doubles, where sums of up to 2^13 of them are exact, and moved
 * to int64. Off the grid sums are doubles. */
#ifndef BB_CORE_SUM_H
#define BB_CORE_SUM_H

#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BB_SUM_ROWS = 64 }; /* contributions to an outer block multiplied at once */

/* Where one worker (grid) or one chunk of tasks (off the grid) adds up. */
typedef struct bb_sum {
    int64_t *exact;  /* grid; NULL off it */
    double *open;    /* off the grid; on the grid, room for products (d x d) */
    double *rows;    /* BB_SUM_ROWS x d: outer contributions not multiplied yet */
    size_t held;     /* how many of them */
    size_t products; /* rows in `open` that were not moved to `exact` yet */
    size_t length, open_length; /* of `exact`, of `open` */
} bb_sum;

/* Adds to `arena` what bb_sum_open takes from it: a sum of `length` numbers with outer
 * blocks of at most outer x outer. */
void bb_sum_need(bb_arena *arena, bool grid, size_t length, size_t outer);
void bb_sum_open(bb_sum *sum, bb_arena *arena, bool grid, size_t length, size_t outer);
/* Zero again; or n numbers at `offset`, and what is not multiplied yet. */
void bb_sum_clear(bb_sum *sum);
void bb_sum_clear_part(bb_sum *sum, size_t offset, size_t n);

/* Adds n numbers at `offset`. */
void bb_sum_add(bb_sum *sum, size_t offset, size_t n, const double *v);
/* Adds `count` groups of `width` numbers, group k at offset + at[k] * width. */
void bb_sum_add_at(bb_sum *sum, size_t offset, size_t count, const uint32_t *at,
                   size_t width, const double *v);
/* Adds v v' (v: d numbers) to the d x d block at `offset`, at the latest with
 * bb_sum_close. */
void bb_sum_add_outer(bb_sum *sum, size_t offset, size_t d, const double *v);
void bb_sum_close(bb_sum *sum, size_t offset, size_t d);
/* into += from, n numbers at `offset`. */
void bb_sum_merge(bb_sum *into, const bb_sum *from, size_t offset, size_t n);

#endif
