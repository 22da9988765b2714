/* A silo takes rounds and the ends of phases. */
#include "core/silo_inside.h"

#include <string.h>

/* Of the payload of a round: what is asked, who is picked, the billboard. */
typedef struct question {
    bb_ask ask;
    bool picks;            /* some tasks were picked; else all, or by their own coins */
    uint64_t count;        /* of them */
    const uint8_t *words;  /* their numbers, ascending */
    const uint8_t *helper; /* BB_SHARE_KEY_BYTES; NULL: one door */
    bb_reader board;
} question;

/* The same helper, with the same key: one that had lost its state would answer again what it
 * has answered. */
static bb_status check_helper(const bb_silo *silo, const uint8_t *key) {
    if (!key || !bb_share_key_holds(silo->identity->helper, silo->name, key))
        return bb_fail(BB_EDATA,
                       "the key of the second door is not one that the helper "
                       "has signed for this run");
    if (silo->has_helper && memcmp(silo->helper_key, key, BB_SHARE_KEY_BYTES) != 0)
        return bb_fail(BB_EDATA,
                       "the key of the second door is another one than before: "
                       "the helper has begun anew, and could answer a round "
                       "twice");
    return BB_OK;
}

static bb_status read_question(const bb_silo *silo, const bb_frame *frame,
                               question *q) {
    const bb_run *run = bb_silo_run(silo);
    bb_reader reader = bb_reader_of(frame->payload);
    *q = (question){.ask = {.round = frame->round}};
    const bb_status status = bb_get_ask(&reader, &silo->phases, &q->ask);
    if (status) return status;
    q->picks = bb_get_u32(&reader) != 0;
    q->count = q->picks ? bb_get_u64(&reader) : 0;
    if (q->count > silo->own) reader.bad = true;
    q->words = reader.bad ? NULL : bb_get(&reader, 8 * q->count);
    for (uint64_t j = 0, k = 0; j < q->count && !reader.bad; j++, k++) {
        const uint64_t id = (uint64_t)bb_integer_at(q->words, j);
        while (k < silo->own && silo->id[k] < id) k++;
        if (k == silo->own || silo->id[k] != id) reader.bad = true;
    }
    const bool drawn = run->pub.sampling != BB_SAMPLING_ALL &&
                       run->pub.sampling != BB_SAMPLING_POISSON;
    if (reader.bad || drawn != q->picks)
        return bb_fail(BB_EDATA, "round %u picks tasks that this silo does not have",
                       frame->round);
    if (silo->two_doors) q->helper = bb_get(&reader, BB_SHARE_KEY_BYTES);
    q->board = reader;
    return silo->two_doors ? check_helper(silo, q->helper) : BB_OK;
}

/* Whether it is the question that was answered last. */
static bool is_same(const bb_silo *silo, const question *q) {
    bb_reader reader = q->board;
    const bb_ask *a = &q->ask, *b = &silo->ask;
    if (a->layout.blocks != b->layout.blocks) return false;
    for (size_t k = 0; k < a->layout.blocks; k++) {
        const bb_block *x = &a->layout.block[k], *y = &b->layout.block[k];
        if (x->form != y->form || x->length != y->length || x->clip != y->clip ||
            x->share != y->share || a->bits[k] != b->bits[k])
            return false;
    }
    for (uint64_t k = 0, j = 0; q->picks && k < silo->own; k++) {
        const bool now =
            j < q->count && (uint64_t)bb_integer_at(q->words, j) == silo->id[k];
        if (now != silo->picked[k]) return false;
        j += now;
    }
    if (bb_get_u32(&reader) != silo->board.releases) return false;
    if ((bb_get_u32(&reader) != 0) != silo->board.done) return false;
    if (bb_get_u64(&reader) != silo->board.length) return false;
    const uint8_t *words = bb_get(&reader, 8 * silo->board.length);
    for (size_t k = 0; words && k < silo->board.length; k++)
        if (bb_integer_at(words, k) != bb_bits_of(silo->board.at[k])) return false;
    return words != NULL;
}

/* The frame's billboard, which is all that is left of it. `behind` it may come so many
 * bytes more. */
static bb_status take_board(bb_silo *silo, bb_reader *reader, size_t behind) {
    const bb_view *view = &silo->phases.part[silo->phase].view;
    const size_t length = bb_view_length(view->method->board_length, view);
    if (reader->left < behind || reader->left - behind != 16 + 8 * length)
        return bb_fail(BB_EDATA,
                       "a billboard of %zu bytes; that of phase %zu has %zu numbers",
                       reader->left, silo->phase + 1, length);
    return bb_get_board(reader, &silo->board, silo->board_at, length);
}

void bb_silo_say_again(bb_silo *silo) {
    if (silo->ask.round) silo->out_ready = true;
}

static bb_status take_round(bb_silo *silo, const bb_frame *frame, bool *news) {
    const bb_plan_part *part = &silo->phases.part[silo->phase];
    question q;
    if (frame->phase < silo->phase || frame->round < silo->ask.round ||
        (frame->round == silo->ask.round && frame->attempt < silo->attempt)) {
        bb_silo_say_again(silo);
        return BB_OK; /* over */
    }
    if (frame->phase > silo->phase)
        return bb_fail(BB_EDATA, "round %u of phase %u before the end of phase %zu",
                       frame->round, frame->phase + 1, silo->phase + 1);
    if (frame->round <= part->from || frame->round > part->from + part->rounds ||
        frame->attempt < 1)
        return bb_fail(BB_EDATA, "round %u, attempt %u: phase %zu has no such round",
                       frame->round, frame->attempt, silo->phase + 1);
    bb_status status = read_question(silo, frame, &q);
    if (status) return status;
    if (frame->round == silo->ask.round) {
        const bool same = is_same(silo, &q);
        if (same) bb_frame_again(&silo->out, frame->attempt, &silo->stamp);
        if (same) silo->attempt = frame->attempt;
        if (same || frame->attempt == silo->attempt) {
            *news = !silo->out_ready;
            silo->out_ready = true; /* the answer was lost, or is to be used again */
            return BB_OK;
        }
    }
    status = take_board(silo, &q.board, 0);
    if (status) return status;
    if (silo->ask.round == 0) status = bb_silo_charge(silo, true);
    if (status == BB_EBUDGET) silo->joined = false; /* as if it had refused the offer */
    if (status) return bb_silo_decline(silo, frame, bb_silo_failed(silo, status), true);
    for (uint64_t k = 0, j = 0; q.picks && k < silo->own; k++) {
        silo->picked[k] =
            j < q.count && (uint64_t)bb_integer_at(q.words, j) == silo->id[k];
        j += silo->picked[k];
    }
    if (q.helper) memcpy(silo->helper_key, q.helper, BB_SHARE_KEY_BYTES);
    silo->has_helper = q.helper != NULL;
    silo->ask = q.ask;
    silo->attempt = frame->attempt;
    silo->ending = silo->out_ready = false;
    silo->now = BB_SILO_WORK;
    *news = true;
    return BB_OK;
}

static bb_status take_end(bb_silo *silo, const bb_frame *frame, bool *news) {
    const bb_run *run = bb_silo_run(silo);
    const size_t length = run->pub.clusters * run->pub.parameters;
    const bool shares = bb_silo_method(silo)->shared != NULL;
    bb_reader reader = bb_reader_of(frame->payload);
    if (frame->phase < silo->phase) return BB_OK;
    if (frame->phase > silo->phase)
        return bb_fail(BB_EDATA, "the end of phase %u before that of phase %zu",
                       frame->phase + 1, silo->phase + 1);
    const bb_status status =
        take_board(silo, &reader, (shares ? 8 * length : 0) + BB_END_SUMMARY);
    if (status) return status;
    /* what phases before shared stays as it is until this one is finished */
    silo->ending = true;
    silo->out_ready = false;
    silo->now = BB_SILO_WORK;
    *news = true;
    if (shares) bb_get_doubles(&reader, silo->next_shared, length);
    silo->least_noise = bb_get_double(&reader);
    const uint8_t *digits = bb_get(&reader, BB_HASH_TEXT - 1);
    if (digits) memcpy(silo->published, digits, BB_HASH_TEXT - 1);
    return BB_OK;
}

/* A silo that waits for its offer believes that there will be none. */
static bb_status take_stop(bb_silo *silo, const bb_frame *frame, bool *news) {
    bb_reader reader = bb_reader_of(frame->payload);
    const uint32_t why = bb_get_u32(&reader);
    const bb_status status = bb_read_all(&reader, "the end of a run");
    if (status) return status;
    silo->stopped = why;
    silo->now = BB_SILO_STOPPED;
    silo->out_ready = false;
    *news = true;
    return bb_silo_stopped(silo);
}

bb_status bb_silo_take(bb_silo *silo, bb_bytes bytes, bool *news) {
    bb_frame frame;
    *news = false;
    if (silo->now == BB_SILO_FAILED)
        return bb_fail(BB_EUSAGE, "this silo has failed: it takes no more frames");
    if (silo->now == BB_SILO_STOPPED) return bb_silo_stopped(silo);
    bb_status status = bb_frame_read(bytes, silo->stamp.sealed, &frame);
    if (!status && silo->identity)
        status =
            bb_frame_check_curator(bytes, &frame, silo->identity, &silo->stamp, "silo");
    if (status) return status;
    if (frame.silo != silo->number)
        return bb_fail(BB_EDATA, "a frame for silo %u came to silo %u", frame.silo,
                       silo->number);
    if (frame.kind != BB_FRAME_OFFER) silo->offered = false;
    if (frame.kind == BB_FRAME_OFFER) {
        if (silo->joined && memcmp(frame.run, silo->name, sizeof frame.run) != 0)
            return bb_fail_other_run("an offer", "silo", silo->checkpoint);
        return bb_silo_take_offer(silo, &frame, news);
    }
    if (frame.kind == BB_FRAME_STOP && !silo->joined)
        return take_stop(silo, &frame, news);
    if (frame.kind != BB_FRAME_ROUND && frame.kind != BB_FRAME_END &&
        frame.kind != BB_FRAME_STOP && frame.kind != BB_FRAME_BYE)
        return bb_fail(BB_EDATA, "a frame of kind %d, which no silo takes", frame.kind);
    if (!silo->joined)
        return bb_fail(BB_EDATA, "a frame of a run that this silo has not joined");
    if (memcmp(frame.run, silo->name, sizeof frame.run) != 0)
        return bb_fail_other_run("a frame", "silo", silo->checkpoint);
    if (silo->now == BB_SILO_DONE || frame.kind == BB_FRAME_BYE) return BB_OK;
    if (frame.kind == BB_FRAME_STOP) return take_stop(silo, &frame, news);
    if (silo->now == BB_SILO_WORK)
        return bb_fail(BB_EUSAGE, "this silo has work to do before it takes a frame");
    return frame.kind == BB_FRAME_ROUND ? take_round(silo, &frame, news)
                                        : take_end(silo, &frame, news);
}

bb_silo_state bb_silo_now(const bb_silo *silo) {
    return silo->now;
}

const uint8_t *bb_silo_name(const bb_silo *silo) {
    return silo->name;
}

bool bb_silo_is_out(const bb_silo *silo) {
    return silo->now == BB_SILO_STOPPED ||
           (silo->now == BB_SILO_FAILED && !silo->joined);
}
