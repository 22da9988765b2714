/* The first of two doors: what the curator does with shares, and with the helper. */
#include "core/curator_inside.h"

#include <string.h>

bb_status bb_curator_take_key(bb_curator *c, bb_bytes payload, bool *news) {
    member *helper = &c->member[c->roll.silos];
    bb_reader reader = bb_reader_of(payload);
    const uint8_t *key = bb_get(&reader, BB_SHARE_KEY_BYTES);
    const bb_status status = bb_read_all(&reader, "a helper's key");
    if (status || !key) return status;
    if (!bb_share_key_holds(c->identity->helper, c->name, key))
        return bb_fail(BB_EDATA, "a helper's key that it has not signed for this run");
    const bool same =
        helper->joined && memcmp(c->helper_key, key, BB_SHARE_KEY_BYTES) == 0;
    if (same) return BB_OK;
    if (c->began)
        return bb_fail(BB_EDATA,
                       "the helper has begun anew, with another key: this run "
                       "needs the one that has kept what it has answered");
    memcpy(c->helper_key, key, BB_SHARE_KEY_BYTES);
    helper->joined = *news = true;
    if (bb_curator_is_complete(c)) c->now = BB_CURATOR_COMPLETE;
    return BB_OK;
}

static void ignore(void *context, size_t b, size_t at, size_t n, const uint8_t *words) {
    (void)context, (void)b, (void)at, (void)n, (void)words;
}

static void add_words(void *context, size_t b, size_t at, size_t n,
                      const uint8_t *words) {
    int64_t *sum = ((bb_sum *)context)->exact + at;
    (void)b;
    for (size_t k = 0; k < n; k++)
        sum[k] = (int64_t)((uint64_t)sum[k] + (uint64_t)bb_integer_at(words, k));
}

/* A share looks uniform: nothing can be said of it but its length. */
bb_status bb_curator_take_share(bb_curator *c, member *m, bb_bytes payload) {
    const bb_layout *layout = &c->door.ask.layout;
    const size_t tasks = bb_curator_run(c)->pub.tasks;
    bb_reader reader = bb_reader_of(payload);
    const uint32_t made = bb_get_u32(&reader);
    const uint8_t *sealed = bb_get(&reader, BB_SEAL_BYTES);
    bb_reader words = reader;
    bb_get_sums(&reader, layout, tasks, m->own, m->id, ignore, NULL);
    const bb_status status = bb_read_all(&reader, "a silo's share");
    if (status || !sealed) return status;
    m->made = made;
    memcpy(m->sealed, sealed, sizeof m->sealed);
    bb_get_sums(&words, layout, tasks, m->own, m->id, add_words, &c->door.total);
    return BB_OK;
}

static void put_seeds(const bb_curator *c, bb_writer *out) {
    bb_put_ask(out, &c->door.ask);
    bb_put_u32(out, c->answered);
    for (uint32_t s = 0; s < c->roll.silos; s++) {
        const member *m = &c->member[s];
        if (!m->answered) continue;
        bb_put_u32(out, s + 1);
        bb_put_u32(out, m->made);
        bb_put_u64(out, m->own);
        for (size_t k = 0; k < m->own; k++) bb_put_u64(out, m->id[k]);
        bb_put_bytes(out, m->sealed, sizeof m->sealed);
    }
}

void bb_curator_put_seeds(bb_curator *c) {
    put_seeds(c, &c->out);
}

/* Of everything that the helper is asked: its answer says that it is to that. */
bb_status bb_curator_count(bb_curator *c) {
    bb_writer seeds = {0};
    bb_hash hash;
    put_seeds(c, &seeds);
    const bb_status status = seeds.status;
    bb_hash_open(&hash);
    if (!status) bb_hash_add(&hash, seeds.at, seeds.length);
    bb_hash_digest(&hash, c->counted_as);
    bb_writer_close(&seeds);
    if (status) return status;
    c->counted = true;
    c->counted_event = ++c->event;
    c->now = BB_CURATOR_WAITS;
    return BB_OK;
}

static size_t sum_length(const bb_curator *c) {
    const bb_layout *layout = &c->door.ask.layout;
    size_t length = 0;
    for (size_t b = 0; b < layout->blocks; b++)
        length += bb_block_sum_length(&layout->block[b], bb_curator_run(c)->pub.tasks);
    return length;
}

bb_status bb_curator_take_help(bb_curator *c, const bb_frame *frame, bool *news) {
    const size_t length = sum_length(c);
    bb_reader reader = bb_reader_of(frame->payload);
    if (!c->counted || c->helped || c->now != BB_CURATOR_WAITS ||
        frame->round != c->door.ask.round)
        return BB_OK; /* over, or there already */
    const uint8_t *counted = bb_get(&reader, BB_HASH_BYTES);
    const uint8_t *words = bb_get(&reader, 8 * length);
    const bb_status status = bb_read_all(&reader, "a helper's sums");
    if (status || !counted || !words) return status;
    if (memcmp(counted, c->counted_as, BB_HASH_BYTES) != 0)
        return bb_fail(BB_EDATA,
                       "round %u: the helper has answered for other silos, or seeds, "
                       "than it was asked for",
                       frame->round);
    add_words(&c->door.total, 0, 0, length, words);
    c->helped = *news = true;
    c->now = BB_CURATOR_COMPLETE;
    return BB_OK;
}

void bb_curator_save_counted(const bb_curator *c, bb_writer *bytes) {
    for (uint32_t s = 0; s < c->roll.silos; s++) {
        const member *m = &c->member[s];
        bb_put_u32(bytes, m->answered);
        bb_put_u32(bytes, m->made);
        bb_put_bytes(bytes, m->sealed, sizeof m->sealed);
    }
    bb_put_u32(bytes, c->helped);
    bb_put_integers(bytes, c->door.total.exact, sum_length(c));
}

bb_status bb_curator_restore_counted(bb_curator *c, bb_reader *reader) {
    const size_t length = sum_length(c);
    c->answered = 0;
    for (uint32_t s = 0; s < c->roll.silos; s++) {
        member *m = &c->member[s];
        m->answered = bb_get_u32(reader) != 0 && m->joined;
        c->answered += m->answered;
        m->made = bb_get_u32(reader);
        const uint8_t *sealed = bb_get(reader, sizeof m->sealed);
        if (sealed) memcpy(m->sealed, sealed, sizeof m->sealed);
    }
    const bool helped = bb_get_u32(reader) != 0;
    const uint8_t *words = bb_get(reader, 8 * length);
    bb_status status = bb_read_all(reader, "a saved curator");
    if (status || !words) return status;
    add_words(&c->door.total, 0, 0, length, words);
    status = bb_curator_count(c);
    c->helped = helped;
    if (helped) c->now = BB_CURATOR_COMPLETE;
    return status;
}
