/* A silo as bytes, which are private. */
#include "core/silo_inside.h"

#include <string.h>

static const uint32_t silo_magic = 0x54534242; /* "BBST" */

static void put_numbers(bb_writer *bytes, const bb_map *map, const double *value,
                        size_t count, bb_silo_stored *stored) {
    const bool apart = stored && count && bb_map_has(map, value);
    bb_put_u32(bytes, apart);
    if (apart)
        *stored =
            (bb_silo_stored){map, {(const uint8_t *)value, count * sizeof *value}};
    else
        bb_put_doubles(bytes, value, count);
}

/* What lies in a file goes through memory once. */
static void get_numbers(bb_reader *reader, const bb_map *map, double *value,
                        size_t count, const bb_bytes *stored) {
    if (bb_get_u32(reader) == 0)
        bb_get_doubles(reader, value, count);
    else if (!stored || stored->length != count * sizeof *value)
        reader->bad = true;
    else
        bb_map_copy(map, value, &(bb_map){0}, stored->at, stored->length);
}

void bb_silo_save(const bb_silo *silo, bb_writer *bytes) {
    bb_silo_save_stored(silo, bytes, NULL);
}

void bb_silo_save_stored(const bb_silo *silo, bb_writer *bytes,
                         bb_silo_stored stored[BB_SILO_STORED]) {
    for (size_t k = 0; stored && k < BB_SILO_STORED; k++)
        stored[k] = (bb_silo_stored){0};
    const size_t own = silo->own;
    const bb_run *run = bb_silo_run(silo);
    bb_put_saved(bytes, silo_magic);
    bb_put_u32(bytes, silo->joined);
    if (!silo->joined) return;
    bb_put_u64(bytes, silo->offer.length);
    bb_put_bytes(bytes, silo->offer.at, silo->offer.length);
    bb_put_u32(bytes, silo->now);
    bb_put_u64(bytes, silo->phase);
    bb_put_u32(bytes, silo->rounds);
    bb_put_double(bytes, silo->least_noise);
    bb_put_bytes(bytes, silo->published, sizeof silo->published);
    bb_put_bytes(bytes, silo->note, sizeof silo->note);
    bb_put_u32(bytes, silo->begun);
    bb_put_u32(bytes, silo->ending);
    bb_put_u32(bytes, silo->ask.round);
    bb_put_u32(bytes, silo->attempt);
    if (silo->ask.round) bb_put_ask(bytes, &silo->ask);
    bb_put_u32(bytes, silo->has_helper);
    bb_put_bytes(bytes, silo->helper_key, sizeof silo->helper_key);
    bb_put_doubles(bytes, silo->shared, 2 * run->pub.clusters * run->pub.parameters);
    bb_put_board(bytes, &silo->board);
    put_numbers(bytes, &silo->model_at, silo->model, silo->first[own], stored);
    bb_put_doubles(bytes, silo->intercept, own);
    bb_put_doubles(bytes, silo->objective, 2 * own);
    put_numbers(bytes, &silo->state_at, silo->state, silo->states,
                stored ? stored + 1 : NULL);
    bb_put_bytes(bytes, silo->asked, 2 * own * sizeof(bool));
    if (silo->picked) bb_put_bytes(bytes, silo->picked, own * sizeof(bool));
    bb_put_u32(bytes, silo->out_ready);
    bb_put_u64(bytes, silo->out.length);
    bb_put_bytes(bytes, silo->out.at, silo->out.length);
}

static void get_flags(bb_reader *reader, bool *flag, size_t count) {
    const uint8_t *at = bb_get(reader, count);
    for (size_t k = 0; at && k < count; k++) flag[k] = at[k] != 0;
}

static bb_status restore(bb_silo *silo, bb_reader *reader, const bb_bytes *stored) {
    const bb_run *run = bb_silo_run(silo);
    const size_t own = silo->own;
    const uint32_t now = bb_get_u32(reader);
    bb_status status = BB_OK;
    silo->phase = bb_get_u64(reader);
    if (silo->phase > silo->phases.count || now > BB_SILO_DONE)
        return bb_fail(BB_EDATA, "a saved silo in phase %zu of %zu", silo->phase + 1,
                       silo->phases.count);
    bb_silo_open_phase(silo);
    silo->now = (bb_silo_state)now;
    silo->rounds = bb_get_u32(reader);
    silo->least_noise = bb_get_double(reader);
    const uint8_t *digits = bb_get(reader, sizeof silo->published);
    if (digits) memcpy(silo->published, digits, sizeof silo->published - 1);
    const uint8_t *note = bb_get(reader, sizeof silo->note);
    if (note) memcpy(silo->note, note, sizeof silo->note - 1);
    silo->begun = bb_get_u32(reader) != 0;
    silo->ending = bb_get_u32(reader) != 0;
    silo->ask.round = bb_get_u32(reader);
    silo->attempt = bb_get_u32(reader);
    if (silo->ask.round) status = bb_get_ask(reader, &silo->phases, &silo->ask);
    silo->has_helper = bb_get_u32(reader) != 0;
    const uint8_t *key = bb_get(reader, sizeof silo->helper_key);
    if (key) memcpy(silo->helper_key, key, sizeof silo->helper_key);
    bb_get_doubles(reader, silo->shared, 2 * run->pub.clusters * run->pub.parameters);
    bb_reader length = *reader;
    bb_get(&length, 8);
    const uint64_t board = bb_get_u64(&length);
    if (board > silo->board_room) reader->bad = true;
    if (!status && !reader->bad)
        status = bb_get_board(reader, &silo->board, silo->board_at, board);
    get_numbers(reader, &silo->model_at, silo->model, silo->first[own], stored);
    bb_get_doubles(reader, silo->intercept, own);
    bb_get_doubles(reader, silo->objective, 2 * own);
    get_numbers(reader, &silo->state_at, silo->state, silo->states,
                stored ? stored + 1 : NULL);
    get_flags(reader, silo->asked, 2 * own);
    if (silo->picked) get_flags(reader, silo->picked, own);
    silo->out_ready = bb_get_u32(reader) != 0;
    const uint64_t out = bb_get_u64(reader);
    const uint8_t *at = bb_get(reader, out);
    silo->out.length = 0;
    if (at) bb_put_bytes(&silo->out, at, out);
    if (!status) status = silo->out.status;
    return status ? status : bb_read_all(reader, "a saved silo");
}

bb_status bb_silo_restore(bb_silo *silo, bb_bytes saved,
                          const bb_bytes stored[BB_SILO_STORED]) {
    bb_reader reader = bb_reader_of(saved);
    if (silo->joined)
        return bb_silo_failed(silo, bb_fail(BB_EUSAGE, "this silo has begun already"));
    bb_status status = bb_get_saved(&reader, silo_magic, "silo");
    if (status) return bb_silo_failed(silo, status);
    silo->joined = bb_get_u32(&reader) != 0;
    if (!silo->joined) {
        status = bb_read_all(&reader, "a saved silo");
        return status ? bb_silo_failed(silo, status) : BB_OK;
    }
    const uint64_t length = bb_get_u64(&reader);
    const uint8_t *offer = bb_get(&reader, length);
    if (!offer) return bb_silo_failed(silo, bb_read_all(&reader, "a saved silo"));
    status = bb_silo_accept(silo, (bb_bytes){offer, length}, NULL, true);
    if (!status) status = restore(silo, &reader, stored);
    return status ? bb_silo_failed(silo, status) : BB_OK;
}
