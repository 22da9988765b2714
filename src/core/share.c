#include "core/share.h"

#include "base/random.h"
#include "core/messages.h"

#include <string.h>

bb_status bb_share_check_helper(const bb_identity *identity) {
    if (identity->has_helper) return BB_OK;
    return bb_fail(BB_EUSAGE, "a run with two doors: the roster of keys names no "
                              "helper, who keeps the second");
}

enum { KEY_TEXT = 16 + 4 + BB_HASH_BYTES + BB_SEAL_KEY };

static void key_text(const uint8_t run[BB_HASH_BYTES],
                     const uint8_t public_key[BB_SEAL_KEY], uint8_t text[KEY_TEXT]) {
    static const char purpose[16] = "billboard helper";
    const uint8_t version[4] = {BB_WIRE_VERSION};
    memcpy(text, purpose, sizeof purpose);
    memcpy(text + 16, version, sizeof version);
    memcpy(text + 20, run, BB_HASH_BYTES);
    memcpy(text + 20 + BB_HASH_BYTES, public_key, BB_SEAL_KEY);
}

bb_status bb_share_sign_key(const uint8_t identity[BB_SIGN_KEY],
                            const uint8_t run[BB_HASH_BYTES],
                            const uint8_t public_key[BB_SEAL_KEY],
                            uint8_t key[BB_SHARE_KEY_BYTES]) {
    uint8_t text[KEY_TEXT];
    key_text(run, public_key, text);
    memcpy(key, public_key, BB_SEAL_KEY);
    return bb_sign(identity, text, sizeof text, key + BB_SEAL_KEY);
}

bool bb_share_key_holds(const uint8_t helper[BB_SIGN_KEY],
                        const uint8_t run[BB_HASH_BYTES],
                        const uint8_t key[BB_SHARE_KEY_BYTES]) {
    uint8_t text[KEY_TEXT];
    key_text(run, key, text);
    return bb_sign_holds(helper, text, sizeof text, key + BB_SEAL_KEY);
}

bb_status bb_share_context(const bb_frame *frame, const bb_ask *ask,
                           uint8_t context[BB_HASH_BYTES]) {
    bb_writer text = {0};
    bb_hash hash;
    bb_put_text(&text, "billboard share");
    bb_put_u32(&text, BB_WIRE_VERSION);
    bb_put_bytes(&text, frame->run, sizeof frame->run);
    bb_put_u32(&text, frame->phase);
    bb_put_u32(&text, frame->round);
    bb_put_u32(&text, frame->attempt);
    bb_put_u32(&text, frame->silo);
    bb_put_ask(&text, ask);
    bb_hash_open(&hash);
    if (!text.status) bb_hash_add(&hash, text.at, text.length);
    bb_hash_digest(&hash, context);
    const bb_status status = text.status;
    bb_writer_close(&text);
    return status;
}

/* Of this seed and context alone: no stream is drawn twice for different sums. Both have
 * fixed lengths, and the seed is uniform. */
static void stream_key(const uint8_t seed[BB_SEAL_SECRET],
                       const uint8_t context[BB_HASH_BYTES],
                       uint8_t key[BB_RANDOM_KEY]) {
    static const char purpose[16] = "billboard stream";
    bb_hash hash;
    bb_hash_open(&hash);
    bb_hash_add(&hash, purpose, sizeof purpose);
    bb_hash_add(&hash, seed, BB_SEAL_SECRET);
    bb_hash_add(&hash, context, BB_HASH_BYTES);
    bb_hash_digest(&hash, key);
    explicit_bzero(&hash, sizeof hash);
}

bb_status bb_share_mask(const uint8_t seed[BB_SEAL_SECRET],
                        const uint8_t context[BB_HASH_BYTES], const bb_layout *layout,
                        size_t tasks, size_t own, const size_t *id, bool subtract,
                        int64_t *sum) {
    uint8_t key[BB_RANDOM_KEY];
    bb_random random;
    stream_key(seed, context, key);
    bb_status status = bb_random_open_key(&random, key);
    explicit_bzero(key, sizeof key);
    if (status) return status;
    for (size_t b = 0; b < layout->blocks; b++) {
        const bb_block *block = &layout->block[b];
        const size_t n = bb_block_sum_length(block, tasks), slot = block->length;
        if (block->form != BB_FORM_SLOT) bb_random_mask(&random, subtract, n, sum);
        for (size_t k = 0; block->form == BB_FORM_SLOT && k < own; k++)
            bb_random_mask(&random, subtract, slot, sum + id[k] * slot);
        sum += n;
    }
    status = bb_random_check(&random);
    bb_random_close(&random);
    return status;
}
