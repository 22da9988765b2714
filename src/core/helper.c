#include "core/helper.h"

#include "core/door.h"
#include "core/messages.h"
#include "core/share.h"
#include "core/silo.h"

#include <stdlib.h>
#include <string.h>

struct bb_helper {
    bb_phases phases;
    double *shared; /* zeros: where phases expect what others share */
    const bb_identity *identity;
    bb_stamp stamp;
    const char *checkpoint;
    uint32_t silos, fewest;
    bb_helper_state now;
    bool joined;
    bb_writer offer; /* its payload */
    uint8_t name[BB_HASH_BYTES];
    uint8_t key[BB_SEAL_KEY],
        public_key[BB_SEAL_KEY]; /* of this run: PRIVATE, public */
    bb_arena arena;
    bb_door door;
    bool door_open;
    uint8_t (*seed)[BB_SEAL_SECRET]; /* silos: PRIVATE */
    size_t *id;                      /* tasks, of one silo */
    uint32_t round, answered;        /* the last one that was answered; so many were */
    uint8_t asked[BB_HASH_BYTES];    /* SHA-256 of its question */
    bb_writer hello, out;
    bool hello_ready, out_ready;
};

static bb_status failed(bb_helper *helper, bb_status status) {
    if (status) helper->now = BB_HELPER_FAILED;
    return status;
}

static uint32_t number_of(const bb_helper *helper) {
    return helper->silos + 1;
}

/* -- opening -- */

bb_status bb_helper_open(bb_helper **out, const bb_helper_terms *terms) {
    const bb_public *pub = &terms->run->pub;
    const size_t clusters = pub->clusters ? pub->clusters : 1;
    const size_t parameters = pub->parameters ? pub->parameters : pub->features;
    bb_helper *helper = NULL;
    if (pub->doors < 2 || !terms->identity)
        return bb_fail(BB_EUSAGE,
                       "a helper keeps the second of two doors: the run has one, "
                       "or there is no roster of keys");
    bb_status status = bb_share_check_helper(terms->identity);
    if (!status) status = bb_allocate(&helper, 1, sizeof *helper, "a helper");
    if (status) return status;
    helper->identity = terms->identity;
    helper->stamp = (bb_stamp){.sealed = true, .key = terms->identity->key};
    helper->checkpoint = terms->checkpoint;
    helper->silos = terms->silos;
    helper->fewest = terms->fewest ? terms->fewest : terms->silos;
    status = bb_random_secret(helper->stamp.start, sizeof helper->stamp.start);
    if (!status) status = bb_seal_new(helper->key, helper->public_key);
    if (!status)
        status = bb_allocate(&helper->shared, clusters * parameters, sizeof(double),
                             "a helper");
    if (!status)
        status = bb_allocate(&helper->seed, terms->silos, BB_SEAL_SECRET, "a helper");
    if (!status)
        status = bb_allocate(&helper->id, pub->tasks, sizeof *helper->id, "a helper");
    if (!status) status = bb_phases_open(&helper->phases, terms->run, helper->shared);
    if (!status) bb_helper_hello(helper);
    if (!status) status = helper->hello.status;
    if (status)
        bb_helper_close(helper);
    else
        *out = helper;
    return status;
}

static void forget_seeds(bb_helper *helper) {
    if (helper->seed) explicit_bzero(helper->seed, helper->silos * BB_SEAL_SECRET);
}

void bb_helper_close(bb_helper *helper) {
    if (!helper) return;
    forget_seeds(helper);
    explicit_bzero(helper->key, sizeof helper->key);
    if (helper->door_open) bb_door_close(&helper->door);
    bb_writer_close(&helper->offer);
    bb_writer_close(&helper->hello);
    bb_writer_close(&helper->out);
    bb_phases_close(&helper->phases);
    bb_arena_close(&helper->arena);
    free(helper->shared);
    free(helper->seed);
    free(helper->id);
    free(helper);
}

/* -- what it says -- */

static bb_frame frame_of(const bb_helper *helper, bb_frame_kind kind) {
    bb_frame frame = {.kind = kind, .silo = number_of(helper)};
    memcpy(frame.run, helper->name, sizeof frame.run);
    return frame;
}

static void end_out(bb_helper *helper) {
    bb_frame_end(&helper->out, &helper->stamp);
    helper->out_ready = !helper->out.status;
}

void bb_helper_hello(bb_helper *helper) {
    const bb_frame frame = {.kind = BB_FRAME_HELLO, .silo = number_of(helper)};
    bb_frame_begin(&helper->hello, &frame);
    bb_frame_end(&helper->hello, &helper->stamp);
    helper->hello_ready = !helper->hello.status;
}

void bb_helper_leave(bb_helper *helper) {
    const bb_frame frame = frame_of(helper, BB_FRAME_BYE);
    bb_frame_begin(&helper->out, &frame);
    end_out(helper);
}

/* The key of this run, signed: silos seal for it, and for no other. */
static bb_status put_join(bb_helper *helper) {
    uint8_t key[BB_SHARE_KEY_BYTES];
    const bb_frame frame = frame_of(helper, BB_FRAME_JOIN);
    const bb_status status =
        bb_share_sign_key(helper->identity->key, helper->name, helper->public_key, key);
    if (status) return status;
    bb_frame_begin(&helper->out, &frame);
    bb_put_bytes(&helper->out, key, sizeof key);
    end_out(helper);
    return helper->out.status;
}

static bb_status refuse(bb_helper *helper, const bb_frame *offer, bb_status status) {
    const bool told = status == BB_EDATA || status == BB_EUSAGE;
    const char *why = told                   ? bb_last_error()
                      : status == BB_EBUDGET ? BB_REFUSED_BY_LEDGER
                                             : "it cannot take part now";
    bb_frame frame = frame_of(helper, BB_FRAME_REFUSE);
    memcpy(frame.run, offer->run, sizeof frame.run);
    bb_frame_begin(&helper->out, &frame);
    bb_put_u64(&helper->out, strnlen(why, BB_MOST_REASON));
    bb_put_bytes(&helper->out, why, strnlen(why, BB_MOST_REASON));
    end_out(helper);
    return failed(helper, status);
}

bool bb_helper_give(const bb_helper *helper, bb_bytes *frame) {
    const bb_writer *out = helper->hello_ready ? &helper->hello : &helper->out;
    *frame = (bb_bytes){out->at, out->length};
    return helper->hello_ready || helper->out_ready;
}

void bb_helper_gave(bb_helper *helper) {
    if (helper->hello_ready)
        helper->hello_ready = false;
    else
        helper->out_ready = false;
}

bb_helper_state bb_helper_now(const bb_helper *helper) {
    return helper->now;
}

bool bb_helper_is_out(const bb_helper *helper) {
    return helper->now == BB_HELPER_STOPPED ||
           (helper->now == BB_HELPER_FAILED && !helper->joined);
}

const uint8_t *bb_helper_name(const bb_helper *helper) {
    return helper->name;
}

uint32_t bb_helper_rounds(const bb_helper *helper) {
    return helper->answered;
}

/* -- the offer -- */

static bb_status open_door(bb_helper *helper) {
    const bb_run *run = &helper->phases.run;
    bb_door_need(run, &helper->phases.plan, &helper->arena);
    bb_status status = bb_arena_open(&helper->arena, "a helper");
    if (!status)
        status = bb_door_open(&helper->door, run, &helper->phases.plan, &helper->arena);
    helper->door_open = !status;
    helper->door.noises = 2;
    return status;
}

static bb_status check_roll(const bb_helper *helper, const bb_roll *roll, bool kept) {
    const bool silos = roll->silos == helper->silos && roll->fewest >= helper->fewest;
    const bool roster =
        memcmp(roll->roster, helper->identity->roster, sizeof roll->roster) == 0;
    if (silos && roster) return BB_OK;
    if (kept)
        return bb_fail_kept(helper->checkpoint, silos
                                                    ? "is of another roster of keys"
                                                    : "is of another number of silos");
    if (silos)
        return bb_fail(BB_EDATA,
                       "the curator has another roster of keys than the helper");
    return bb_fail(BB_EDATA,
                   "the helper agreed to %u silos, of which every round needs %u, "
                   "not %u and %u",
                   helper->silos, helper->fewest, roll->silos, roll->fewest);
}

/* Everything but the price. kept: it was taken before. */
static bb_status accept(bb_helper *helper, bb_bytes offer, bool kept) {
    bb_reader reader = bb_reader_of(offer);
    bb_roll roll = {.silos = 0};
    bb_hash hash;
    bb_status status =
        kept ? bb_check_kept(&reader, &helper->phases, helper->checkpoint)
             : bb_check_terms(&reader, &helper->phases,
                              "the run that is offered is not the one that the helper "
                              "agreed to");
    if (!status) status = bb_get_plan(&reader, &roll, &helper->phases);
    if (!status) status = check_roll(helper, &roll, kept);
    if (!status) status = open_door(helper);
    bb_put_bytes(&helper->offer, offer.at, offer.length);
    if (!status) status = helper->offer.status;
    bb_hash_open(&hash);
    bb_hash_add(&hash, offer.at, offer.length);
    bb_hash_digest(&hash, helper->name);
    return status;
}

static bb_status accept_new(bb_helper *helper, const bb_frame *frame) {
    const bb_status status = accept(helper, frame->payload, false);
    if (!status && memcmp(frame->run, helper->name, sizeof frame->run) != 0)
        return bb_fail(BB_EDATA, "an offer under another run's name");
    return status ? status : bb_phases_check_prices(&helper->phases);
}

/* Whether it has room for the plan, which is charged with the first round. */
static bb_status check_ledger(const bb_helper *helper) {
    const bb_run *run = &helper->phases.run;
    if (!run->ledger || helper->door.charged) return BB_OK;
    return bb_run_check_ledger(run, &helper->phases.plan, run->ledger);
}

static bb_status take_offer(bb_helper *helper, const bb_frame *frame, bool *news) {
    const bool other = memcmp(frame->run, helper->name, sizeof frame->run) != 0;
    if (helper->joined && other)
        return bb_fail_other_run("an offer", "helper", helper->checkpoint);
    if (helper->round) return BB_OK;
    /* joined: its answer was lost */
    bb_status status = helper->joined ? BB_OK : accept_new(helper, frame);
    if (!status) status = check_ledger(helper);
    if (!status) status = put_join(helper);
    if (status) return refuse(helper, frame, status);
    helper->joined = *news = true;
    return BB_OK;
}

/* -- seeds -- */

/* One silo's part of a question. */
typedef struct part {
    uint32_t silo, made;
    uint64_t own;
    const uint8_t *words; /* own: numbers of its tasks */
    const uint8_t *sealed;
} part;

static part get_part(bb_reader *reader) {
    part p = {.silo = bb_get_u32(reader), .made = bb_get_u32(reader)};
    p.own = bb_get_u64(reader);
    p.words = p.own <= reader->left / 8 ? bb_get(reader, 8 * p.own) : NULL;
    if (!p.words) reader->bad = true;
    p.sealed = bb_get(reader, BB_SEAL_BYTES);
    return p;
}

static bool is_part(const bb_helper *helper, const part *p, uint32_t before) {
    bool fits = p->silo > before && p->silo <= helper->silos;
    for (uint64_t k = 0; k < p->own && fits; k++) {
        const uint64_t id = (uint64_t)bb_integer_at(p->words, k);
        fits = id < helper->phases.run.pub.tasks &&
               (k == 0 || bb_integer_at(p->words, k - 1) < (int64_t)id);
    }
    return fits;
}

/* That of the silo's frame, whose seed it is: no other one opens it, and it makes no other
 * stream. */
static bb_status context_of(const bb_frame *frame, const part *p, const bb_ask *ask,
                            uint8_t context[BB_HASH_BYTES]) {
    bb_frame own = *frame;
    own.silo = p->silo;
    own.attempt = p->made;
    return bb_share_context(&own, ask, context);
}

/* Opens all seeds; nothing is added before. Each silo counts once. */
static bb_status open_seeds(bb_helper *helper, const bb_frame *frame, const bb_ask *ask,
                            bb_reader reader, uint32_t count) {
    uint8_t context[BB_HASH_BYTES];
    uint32_t before = 0;
    bb_status status = BB_OK;
    for (uint32_t k = 0; k < count && !status; k++) {
        const part p = get_part(&reader);
        if (reader.bad || !is_part(helper, &p, before))
            return bb_fail(BB_EDATA,
                           "round %u: shares of no silos of this run, or of one "
                           "twice",
                           frame->round);
        before = p.silo;
        status = context_of(frame, &p, ask, context);
        if (!status && bb_seal_open(helper->key, context, p.sealed, helper->seed[k]))
            status = bb_fail(BB_EDATA,
                             "round %u: the seed of silo %u was not sealed for this "
                             "round, question and helper",
                             frame->round, p.silo);
    }
    return status ? status : bb_read_all(&reader, "a round's seeds");
}

static bb_status add_streams(bb_helper *helper, const bb_frame *frame,
                             const bb_ask *ask, bb_reader reader, uint32_t count) {
    uint8_t context[BB_HASH_BYTES];
    bb_status status = BB_OK;
    for (uint32_t k = 0; k < count && !status; k++) {
        const part p = get_part(&reader);
        for (uint64_t j = 0; j < p.own; j++)
            helper->id[j] = (size_t)bb_integer_at(p.words, j);
        status = context_of(frame, &p, ask, context);
        if (!status)
            status = bb_share_mask(helper->seed[k], context, &ask->layout,
                                   helper->phases.run.pub.tasks, p.own, helper->id,
                                   false, helper->door.total.exact);
    }
    return status;
}

/* Whether this door would have asked the same: the noise is of its own choice, for these
 * clips. */
static bb_status ask_door(bb_helper *helper, const bb_frame *frame, const bb_ask *ask) {
    bb_door *door = &helper->door;
    door->asked = false;
    door->ask.round = frame->round - 1;
    const bb_status status = bb_door_ask(door, &ask->layout);
    if (status) return status;
    for (size_t b = 0; b < ask->layout.blocks; b++)
        if (door->ask.bits[b] != ask->bits[b])
            return bb_fail(BB_EDATA,
                           "round %u: block %zu is on another grid than this "
                           "plan's",
                           frame->round, b + 1);
    return BB_OK;
}

static bb_status put_answer(bb_helper *helper, const bb_frame *frame) {
    const bb_layout *layout = &helper->door.ask.layout;
    bb_frame answer = frame_of(helper, BB_FRAME_SUM);
    size_t length = 0;
    for (size_t b = 0; b < layout->blocks; b++)
        length += bb_block_sum_length(&layout->block[b], helper->phases.run.pub.tasks);
    answer.phase = frame->phase;
    answer.round = frame->round;
    answer.attempt = frame->attempt;
    bb_frame_begin(&helper->out, &answer);
    bb_put_bytes(&helper->out, helper->asked, sizeof helper->asked);
    bb_put_integers(&helper->out, helper->door.total.exact, length);
    end_out(helper);
    return helper->out.status;
}

/* The whole plan, once. If the ledger refuses, this place is kept, unlike a silo: nobody else
 * has the run's key, and it goes on when there is room. */
static bb_status charge(bb_helper *helper, const bb_frame *frame) {
    if (helper->door.charged) return BB_OK;
    const bb_status status = bb_door_charge(&helper->door, &helper->phases.run);
    return status ? refuse(helper, frame, status) : BB_OK;
}

static bb_status answer(bb_helper *helper, const bb_frame *frame, const bb_ask *ask,
                        bb_reader parts, uint32_t count) {
    bb_status status = open_seeds(helper, frame, ask, parts, count);
    if (!status) status = charge(helper, frame);
    if (!status) status = ask_door(helper, frame, ask);
    if (status) return status;
    /* from here on what fails ends the helper: the round is not to be answered again */
    status = add_streams(helper, frame, ask, parts, count);
    forget_seeds(helper);
    if (!status) status = bb_door_hide(&helper->door);
    helper->round = frame->round;
    if (!status) status = put_answer(helper, frame);
    helper->answered++;
    return failed(helper, status);
}

/* Asked again, as it was. */
static bb_status repeat(bb_helper *helper, const bb_frame *frame,
                        const uint8_t asked[BB_HASH_BYTES], bool *news) {
    if (memcmp(asked, helper->asked, BB_HASH_BYTES) != 0)
        return bb_fail(BB_EUSAGE,
                       "round %u was answered already, for other silos or another "
                       "question: it is not answered twice",
                       frame->round);
    *news = true;
    bb_frame_again(&helper->out, frame->attempt, &helper->stamp);
    helper->out_ready = !helper->out.status;
    return helper->out.status;
}

static bb_status take_seeds(bb_helper *helper, const bb_frame *frame, bool *news) {
    uint8_t asked[BB_HASH_BYTES];
    bb_ask ask = {.round = frame->round};
    bb_reader reader = bb_reader_of(frame->payload);
    bb_hash hash;
    if (frame->round < helper->round) return BB_OK; /* over */
    bb_hash_open(&hash);
    bb_hash_add(&hash, frame->payload.at, frame->payload.length);
    bb_hash_digest(&hash, asked);
    if (frame->round == helper->round) return repeat(helper, frame, asked, news);
    const bool known = frame->phase < helper->phases.count;
    const bb_plan_part *p = &helper->phases.part[known ? frame->phase : 0];
    if (!known || frame->round <= p->from || frame->round > p->from + p->rounds)
        return bb_fail(BB_EDATA, "round %u: phase %u has no such round", frame->round,
                       frame->phase + 1);
    bb_status status = bb_get_ask(&reader, &helper->phases, &ask);
    if (status) return status;
    const uint32_t count = bb_get_u32(&reader);
    if (count < helper->fewest || count > helper->silos)
        return bb_fail(BB_EUSAGE, "round %u: shares of %u silos; %u of %u are needed",
                       frame->round, count, helper->fewest, helper->silos);
    uint8_t before[BB_HASH_BYTES];
    memcpy(before, helper->asked, sizeof before);
    memcpy(helper->asked, asked, sizeof asked);
    status = answer(helper, frame, &ask, reader, count);
    if (status) memcpy(helper->asked, before, sizeof before);
    *news = !status;
    return status;
}

/* -- frames -- */

static bb_status stopped(bb_helper *helper, const bb_frame *frame, bool *news) {
    bb_reader reader = bb_reader_of(frame->payload);
    const uint32_t why = bb_get_u32(&reader);
    const bb_status status = bb_read_all(&reader, "the end of a run");
    if (status) return status;
    helper->now = BB_HELPER_STOPPED;
    helper->out_ready = false;
    *news = true;
    return bb_fail(BB_EINTERRUPTED, "the curator has ended the run: %s",
                   bb_stop_text(why));
}

static bb_status check_frame(const bb_helper *helper, bb_bytes bytes, bb_frame *frame) {
    bb_status status = bb_frame_read(bytes, true, frame);
    if (!status)
        status = bb_frame_check_curator(bytes, frame, helper->identity, &helper->stamp,
                                        "helper");
    if (status) return status;
    if (frame->silo != number_of(helper))
        return bb_fail(BB_EDATA, "a frame for silo %u came to the helper", frame->silo);
    if (frame->kind != BB_FRAME_OFFER && frame->kind != BB_FRAME_STOP &&
        (!helper->joined || memcmp(frame->run, helper->name, BB_HASH_BYTES) != 0))
        return bb_fail(BB_EDATA, "a frame of a run that this helper has not joined");
    return BB_OK;
}

bb_status bb_helper_take(bb_helper *helper, bb_bytes bytes, bool *news) {
    bb_frame frame;
    *news = false;
    if (helper->now == BB_HELPER_FAILED)
        return bb_fail(BB_EUSAGE, "this helper has failed: it takes no more frames");
    const bb_status status = check_frame(helper, bytes, &frame);
    if (status) return status;
    if (frame.kind == BB_FRAME_BYE || helper->now != BB_HELPER_WAITING) return BB_OK;
    switch (frame.kind) {
    case BB_FRAME_OFFER:
        return take_offer(helper, &frame, news);
    case BB_FRAME_SEEDS:
        return take_seeds(helper, &frame, news);
    case BB_FRAME_STOP:
        return stopped(helper, &frame, news);
    case BB_FRAME_END:
        helper->now = BB_HELPER_DONE;
        helper->out_ready = false;
        *news = true;
        return BB_OK;
    default:
        return bb_fail(BB_EDATA, "a frame of kind %d, which no helper takes",
                       frame.kind);
    }
}

/* -- as bytes -- */

static const uint32_t helper_magic = 0x53484242; /* "BBHS" */

void bb_helper_save(const bb_helper *helper, bb_writer *bytes) {
    bb_put_saved(bytes, helper_magic);
    bb_put_bytes(bytes, helper->key, sizeof helper->key);
    bb_put_bytes(bytes, helper->public_key, sizeof helper->public_key);
    bb_put_u32(bytes, helper->joined);
    if (!helper->joined) return;
    bb_put_u64(bytes, helper->offer.length);
    bb_put_bytes(bytes, helper->offer.at, helper->offer.length);
    bb_put_u32(bytes, helper->now == BB_HELPER_DONE);
    bb_put_u32(bytes, helper->round);
    bb_put_u32(bytes, helper->answered);
    bb_put_bytes(bytes, helper->asked, sizeof helper->asked);
    bb_put_u64(bytes, helper->out.length);
    bb_put_bytes(bytes, helper->out.at, helper->out.length);
}

static bb_status restore(bb_helper *helper, bb_reader *reader) {
    const uint64_t length = bb_get_u64(reader);
    const uint8_t *offer = bb_get(reader, length);
    if (!offer) return bb_read_all(reader, "a saved helper");
    bb_status status = accept(helper, (bb_bytes){offer, length}, true);
    if (status) return status;
    if (bb_get_u32(reader)) helper->now = BB_HELPER_DONE;
    helper->round = bb_get_u32(reader);
    helper->answered = bb_get_u32(reader);
    const uint8_t *asked = bb_get(reader, sizeof helper->asked);
    if (asked) memcpy(helper->asked, asked, sizeof helper->asked);
    const uint64_t size = bb_get_u64(reader);
    const uint8_t *out = bb_get(reader, size);
    if (size < BB_FRAME_HEADER) reader->bad = true;
    helper->out.length = 0;
    if (out) bb_put_bytes(&helper->out, out, size);
    status = helper->out.status;
    if (!status) status = bb_read_all(reader, "a saved helper");
    helper->joined = !status;
    helper->door.charged = !status && helper->round > 0;
    return status;
}

bb_status bb_helper_restore(bb_helper *helper, bb_bytes saved) {
    bb_reader reader = bb_reader_of(saved);
    bb_status status = bb_get_saved(&reader, helper_magic, "helper");
    const uint8_t *key = bb_get(&reader, sizeof helper->key);
    const uint8_t *public_key = bb_get(&reader, sizeof helper->public_key);
    const bool joined = bb_get_u32(&reader) != 0;
    if (key && public_key) {
        memcpy(helper->key, key, sizeof helper->key);
        memcpy(helper->public_key, public_key, sizeof helper->public_key);
    }
    if (!status)
        status =
            joined ? restore(helper, &reader) : bb_read_all(&reader, "a saved helper");
    return failed(helper, status);
}
