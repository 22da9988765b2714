/* contribution.h - what the door does to one task's block before it is added: nothing
 * that a method shows can move a sum by more than the block's clip. */
#ifndef BB_CORE_CONTRIBUTION_H
#define BB_CORE_CONTRIBUTION_H

#include "core/method.h"

/* In place, n numbers (bb_block_show_length; less for a model of a task's own length,
 * whose other numbers are 0): a block with a value that is not finite becomes zero
 * (refusing it would itself reveal something); scores are cut to [0, 1] and rounded
 * down to multiples of 2^-20, kept as integers; a psd matrix is mirrored from its lower
 * triangle, which is what is published. clips: scaled to norm at most block->clip. bits
 * > 0: rounded toward zero to integers (clip * 2^-bits a step) whose norm, computed in
 * integers, is at most 2^bits; they stay in v, where they are exact. */
void bb_contribution_fit(const bb_block *block, bool clips, int bits, size_t n,
                         double *v);

#endif
