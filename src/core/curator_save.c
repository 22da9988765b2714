/* A curator as bytes, which are public. */
#include "core/curator_inside.h"

#include <string.h>

static const uint32_t curator_magic = 0x53434242; /* "BBCS" */

void bb_curator_save(const bb_curator *c, bb_writer *bytes) {
    uint8_t hash[BB_HASH_SAVED];
    bb_put_saved(bytes, curator_magic);
    bb_put_u64(bytes, c->offer.length);
    bb_put_bytes(bytes, c->offer.at, c->offer.length);
    for (uint32_t s = 0; s < bb_curator_places(c); s++) {
        const member *m = &c->member[s];
        bb_put_u32(bytes, m->heard);
        bb_put_bytes(bytes, m->start, sizeof m->start);
        bb_put_u32(bytes, m->left);
        bb_put_u64(bytes, m->joined ? m->own : UINT64_MAX);
        for (size_t k = 0; k < m->own; k++) bb_put_u64(bytes, m->id[k]);
        bb_put_text(bytes, m->program);
    }
    bb_put_bytes(bytes, c->helper_key, sizeof c->helper_key);
    bb_put_u32(bytes, c->began);
    if (!c->began) return;
    bb_put_u32(bytes, c->now == BB_CURATOR_PUBLISHED);
    bb_put_u32(bytes, c->now == BB_CURATOR_DONE);
    bb_put_u32(bytes, c->door.ask.round);
    bb_put_u32(bytes, c->attempt);
    bb_put_u32(bytes, c->rounds);
    bb_put_double(bytes, c->door.least_noise);
    bb_hash_save(&c->door.hash, hash);
    bb_put_bytes(bytes, hash, sizeof hash);
    bb_put_doubles(bytes, c->shared, bb_curator_shared(c));
    bb_put_u32(bytes, (uint32_t)c->phase);
    for (size_t k = 0; k < c->phases.count; k++) {
        bb_put_u64(bytes, c->end[k].length);
        bb_put_bytes(bytes, c->end[k].at, c->end[k].length);
    }
    bb_put_board(bytes, &c->board);
    const bool counted = c->counted && c->now != BB_CURATOR_PUBLISHED;
    bb_put_u32(bytes, counted);
    if (counted) bb_curator_save_counted(c, bytes);
    if (c->now != BB_CURATOR_PUBLISHED) return;
    for (size_t b = 0; b < BB_MOST_BLOCKS; b++) {
        bb_put_double(bytes, c->release.noise[b]);
        bb_put_u64(bytes, c->release.winner[b]);
    }
    bb_put_doubles(bytes, c->door.value, c->phases.plan.sum_length);
}

static bb_status get_roster(bb_curator *c, bb_reader *reader) {
    bb_status status = BB_OK;
    for (uint32_t s = 0; s < bb_curator_places(c) && !status; s++) {
        member *m = &c->member[s];
        m->heard = bb_get_u32(reader) != 0;
        const uint8_t *start = bb_get(reader, sizeof m->start);
        if (start) memcpy(m->start, start, sizeof m->start);
        m->left = m->told = bb_get_u32(reader) != 0;
        const uint64_t own = bb_get_u64(reader);
        const uint8_t *words = own <= reader->left / 8 ? bb_get(reader, 8 * own) : NULL;
        bb_curator_get_program(reader, m->program);
        if (reader->bad || own == UINT64_MAX) continue;
        if (s == c->roll.silos) { /* the helper, which has no tasks */
            m->joined = own == 0;
            continue;
        }
        status = words ? bb_curator_enrol(c, s, own, words)
                       : bb_fail(BB_EDATA, "a saved curator: it ends too early");
    }
    const uint8_t *key = bb_get(reader, sizeof c->helper_key);
    if (key) memcpy(c->helper_key, key, sizeof c->helper_key);
    return status;
}

/* The ends of phases that are over: their notes are made again. */
static bb_status get_ends(bb_curator *c, bb_reader *reader, size_t phases, bool done) {
    bb_status status = BB_OK;
    for (size_t k = 0; k < c->phases.count && !status; k++) {
        const uint64_t length = bb_get_u64(reader);
        const uint8_t *at = bb_get(reader, length);
        if (!at || (length > 0) != (k < phases || (done && k == phases))) {
            reader->bad = true;
            break;
        }
        if (!length) continue;
        bb_put_bytes(&c->end[k], at, length);
        c->end_event[k] = ++c->event;
        c->phase = k;
        bb_curator_start_phase(c);
        bb_reader board = bb_reader_of((bb_bytes){at, length});
        status = c->end[k].status;
        if (!status)
            status = bb_get_board(&board, &c->board, c->draft.at, c->draft.length);
        if (!status && !board.bad && c->view.method->note &&
            c->view.method->note(&c->view))
            c->note = c->view.method->note(&c->view);
    }
    return status;
}

/* The door where it was after its last round was published, or before the one that was
 * asked: that is asked for again. */
static bb_status reopen_round(bb_curator *c, bb_reader *reader, uint32_t round,
                              bool published) {
    bb_door_skip_to(&c->door, round - 1);
    const bool counted = bb_get_u32(reader) != 0;
    if (counted && (published || !c->two_doors))
        return bb_fail(BB_EDATA, "a saved curator with shares of a round that is over");
    if (counted) {
        const bb_status status = bb_curator_ask(c, c->attempt);
        return status ? status : bb_curator_restore_counted(c, reader);
    }
    if (!published) {
        const bb_status status = bb_read_all(reader, "a saved curator");
        return status ? status : bb_curator_ask(c, c->attempt + 1);
    }
    const double least = c->door.least_noise;
    const bb_status status = bb_curator_ask(c, c->attempt);
    if (status) return status;
    c->door.least_noise = least;
    c->release = (bb_release){.round = round,
                              .layout = &c->door.ask.layout,
                              .psd_noise = bb_curator_run(c)->mechanism->psd_noise};
    for (size_t b = 0; b < BB_MOST_BLOCKS; b++) {
        c->release.noise[b] = bb_get_double(reader);
        c->release.winner[b] = bb_get_u64(reader);
    }
    bb_get_doubles(reader, c->door.value, c->phases.plan.sum_length);
    bb_door_restore(&c->door, &c->release);
    c->now = BB_CURATOR_PUBLISHED;
    return bb_read_all(reader, "a saved curator");
}

static bb_status restore(bb_curator *c, bb_reader *reader) {
    bb_status status = get_roster(c, reader);
    if (status) return status;
    c->began = bb_get_u32(reader) != 0;
    if (!c->began) {
        if (bb_curator_is_complete(c)) c->now = BB_CURATOR_COMPLETE;
        return bb_read_all(reader, "a saved curator");
    }
    const bool published = bb_get_u32(reader) != 0, done = bb_get_u32(reader) != 0;
    const uint32_t round = bb_get_u32(reader);
    c->attempt = bb_get_u32(reader);
    c->rounds = bb_get_u32(reader);
    c->door.least_noise = bb_get_double(reader);
    const uint8_t *hash = bb_get(reader, BB_HASH_SAVED);
    bb_get_doubles(reader, c->shared, bb_curator_shared(c));
    const uint32_t phase = bb_get_u32(reader);
    if (hash) status = bb_hash_restore(&c->door.hash, hash);
    if (!status && (reader->bad || phase >= c->phases.count ||
                    round > c->phases.plan.rounds || (!done && round == 0)))
        status = bb_fail(BB_EDATA, "a saved curator in round %u of phase %u", round,
                         phase + 1);
    if (!status) status = get_ends(c, reader, phase, done);
    if (status) return status;
    c->door.charged = true;
    c->phase = phase;
    bb_curator_start_phase(c);
    status = bb_get_board(reader, &c->board, c->draft.at, c->draft.length);
    c->draft.done = c->board.done;
    if (status) return status;
    if (!done) return reopen_round(c, reader, round, published);
    c->now = BB_CURATOR_DONE;
    bb_door_skip_to(&c->door, round);
    if (bb_get_u32(reader) != 0) reader->bad = true;
    return bb_read_all(reader, "a saved curator");
}

bb_status bb_curator_restore(bb_curator **out, const bb_curator_terms *terms,
                             bb_bytes saved) {
    bb_reader reader = bb_reader_of(saved);
    bb_curator *c = NULL;
    bb_status status = bb_get_saved(&reader, curator_magic, "curator");
    if (!status) status = bb_curator_begin(&c, terms, &reader);
    if (!status) status = restore(c, &reader);
    if (status)
        bb_curator_close(c);
    else
        *out = c;
    return status;
}
