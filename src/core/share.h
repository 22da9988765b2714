/* share.h - inside the room: a silo's sum for two doors, neither of which learns anything of
 * it alone (docs/two-doors.md).
 *
 * The first door, the curator's, is given the sum minus a stream of random numbers, mod
 * 2^64; the second one, the helper's, the 32 bytes that the stream is made of, sealed. Each
 * adds up over the silos what it has, and adds its own noise; together that is the sum, and
 * both noises. */
#ifndef BB_CORE_SHARE_H
#define BB_CORE_SHARE_H

#include "base/seal.h"
#include "core/tally.h"
#include "core/wire.h"

/* Whether a place of a run with two doors can name who keeps the second. BB_EUSAGE: its
 * roster of keys does not. */
BB_MUST_CHECK bb_status bb_share_check_helper(const bb_identity *identity);

/* The key that the helper has drawn for this run, and its signature of purpose, version of
 * frames, run and key: what silos seal for. */
enum { BB_SHARE_KEY_BYTES = BB_SEAL_KEY + BB_SIGN_BYTES };
/* BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_share_sign_key(const uint8_t identity[BB_SIGN_KEY],
                                          const uint8_t run[BB_HASH_BYTES],
                                          const uint8_t public_key[BB_SEAL_KEY],
                                          uint8_t key[BB_SHARE_KEY_BYTES]);
/* Whether the helper with this identity has drawn it, for this run. */
bool bb_share_key_holds(const uint8_t helper[BB_SIGN_KEY],
                        const uint8_t run[BB_HASH_BYTES],
                        const uint8_t key[BB_SHARE_KEY_BYTES]);

/* What a share is for: run, phase, round, attempt and silo of the frame in which it was made,
 * and what was asked. A share is of no use in any other context. BB_ENOMEM. */
BB_MUST_CHECK bb_status bb_share_context(const bb_frame *frame, const bb_ask *ask,
                                         uint8_t context[BB_HASH_BYTES]);

/* Adds to a round's sums, or subtracts, the stream of this seed in this context, mod 2^64:
 * to all numbers, of slots to those of `own` tasks with these numbers. BB_ENOMEM, BB_EIO:
 * the sums are not to be used. */
BB_MUST_CHECK bb_status bb_share_mask(const uint8_t seed[BB_SEAL_SECRET],
                                      const uint8_t context[BB_HASH_BYTES],
                                      const bb_layout *layout, size_t tasks, size_t own,
                                      const size_t *id, bool subtract, int64_t *sum);

#endif
