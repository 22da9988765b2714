/* The frames that a curator takes and gives. */
#include "core/curator_inside.h"
#include "core/grid.h"

#include <stdio.h>
#include <string.h>

bool bb_curator_is_complete(const bb_curator *c) {
    return c->joined == c->roll.silos &&
           (!c->two_doors || c->member[c->roll.silos].joined);
}

/* For whoever runs the curator only: a silo is told that there is such a task, not which,
 * nor who has it. */
static bb_status fail_taken(const bb_curator *c, uint32_t silo, uint32_t owner,
                            size_t id) {
    if (c->silo_name && c->task_name)
        return bb_fail(BB_EDATA, "%s and %s both have task %s", c->silo_name[silo - 1],
                       c->silo_name[owner - 1], c->task_name[id]);
    return bb_fail(BB_EDATA, "silos %u and %u both have task %zu", silo, owner, id);
}

bb_status bb_curator_enrol(bb_curator *c, uint32_t s, uint64_t own,
                           const uint8_t *words) {
    const size_t tasks = bb_curator_run(c)->pub.tasks;
    member *m = &c->member[s];
    for (uint64_t k = 0; k < own; k++) {
        const uint64_t id = (uint64_t)bb_integer_at(words, k);
        if (id >= tasks || (k && (int64_t)id <= bb_integer_at(words, k - 1)))
            return bb_fail(BB_EDATA,
                           "silo %u joins with task %llu: numbers ascend, below %zu",
                           s + 1, (unsigned long long)id, tasks);
        if (!c->owner[id]) continue;
        m->taken = true;
        m->given = 0;
        return fail_taken(c, s + 1, c->owner[id], (size_t)id);
    }
    const bb_status status = bb_allocate(&m->id, own, sizeof *m->id, "a silo's tasks");
    if (status) return status;
    for (uint64_t k = 0; k < own; k++) {
        m->id[k] = (size_t)bb_integer_at(words, k);
        c->owner[m->id[k]] = s + 1;
    }
    m->own = own;
    m->joined = true;
    c->joined++;
    if (bb_curator_run(c)->mechanism->grid) return BB_OK;
    const size_t chunks = bb_tally_chunks(tasks, c->phases.plan.sum_length);
    m->lead = bb_tally_lead(tasks, chunks, own, m->id);
    const size_t most = (own * chunks + tasks - 1) / tasks;
    return bb_writer_reserve(
        &m->sums, bb_sums_room(&c->phases.plan, most - m->lead + (m->lead > 0)));
}

/* As printable as a terminal needs it. */
void bb_curator_get_program(bb_reader *reader, char program[BB_PROGRAM_TEXT]) {
    const uint64_t length = bb_get_u64(reader);
    const uint8_t *text = length < BB_PROGRAM_TEXT ? bb_get(reader, length) : NULL;
    memset(program, 0, BB_PROGRAM_TEXT);
    if (!text) reader->bad = true;
    for (size_t k = 0; text && k < length; k++)
        program[k] = text[k] > ' ' && text[k] <= '~' ? (char)text[k] : '?';
}

const char *bb_curator_program(const bb_curator *c, uint32_t silo) {
    const bool joined =
        silo >= 1 && silo <= c->roll.silos && c->member[silo - 1].joined;
    return joined ? c->member[silo - 1].program : NULL;
}

const uint8_t *bb_curator_name(const bb_curator *c) {
    return c->name;
}

size_t bb_curator_absent(const bb_curator *c) {
    const size_t tasks = bb_curator_run(c)->pub.tasks;
    size_t absent = 0;
    for (size_t i = 0; i < tasks; i++) absent += c->owner[i] == 0;
    return absent;
}

static bb_status take_join(bb_curator *c, const bb_frame *frame, bool *news) {
    bb_reader reader = bb_reader_of(frame->payload);
    if (frame->silo > c->roll.silos)
        return bb_curator_take_key(c, frame->payload, news);
    if (c->began || c->member[frame->silo - 1].joined) return BB_OK;
    const uint64_t own = bb_get_u64(&reader);
    const uint8_t *words = own <= reader.left / 8 ? bb_get(&reader, 8 * own) : NULL;
    char program[BB_PROGRAM_TEXT];
    bb_curator_get_program(&reader, program);
    bb_status status = words ? bb_read_all(&reader, "a silo's tasks")
                             : bb_fail(BB_EDATA, "a silo's tasks: they end too early");
    if (!status) status = bb_curator_enrol(c, frame->silo - 1, own, words);
    *news = !status;
    if (!status) memcpy(c->member[frame->silo - 1].program, program, sizeof program);
    if (!status && bb_curator_is_complete(c)) c->now = BB_CURATOR_COMPLETE;
    return status;
}

/* The most that so many tasks can have added up to in a block, in steps of the grid. */
typedef struct limits {
    uint64_t most[BB_MOST_BLOCKS];
    bool exceeded;
} limits;

static void check_stretch(void *context, size_t b, size_t at, size_t n,
                          const uint8_t *words) {
    limits *l = context;
    const uint64_t most = l->most[b];
    bool within = true;
    (void)at;
    for (size_t k = 0; k < n; k++) /* |v| <= most */
        within &= (uint64_t)bb_integer_at(words, k) + most <= 2 * most;
    if (!within) l->exceeded = true;
}

static void add_integers(void *context, size_t b, size_t at, size_t n,
                         const uint8_t *words) {
    int64_t *sum = ((bb_sum *)context)->exact + at;
    (void)b;
    for (size_t k = 0; k < n; k++) sum[k] += bb_integer_at(words, k);
}

static void add_doubles(void *context, size_t b, size_t at, size_t n,
                        const uint8_t *words) {
    double *sum = ((bb_sum *)context)->open + at;
    (void)b;
    for (size_t k = 0; k < n; k++) sum[k] += bb_double_at(words, k);
}

static void ignore_stretch(void *context, size_t b, size_t at, size_t n,
                           const uint8_t *words) {
    (void)context, (void)b, (void)at, (void)n, (void)words;
}

/* Sums that tasks can have: no silo's answer can make a total that does not fit 64 bits,
 * or count for more than its tasks' clips. */
static bb_status add_sums(bb_curator *c, const member *m, bb_bytes payload) {
    const bb_ask *ask = &c->door.ask;
    const size_t tasks = bb_curator_run(c)->pub.tasks;
    limits l = {.exceeded = false};
    for (size_t b = 0; b < ask->layout.blocks; b++) {
        const bb_form form = ask->layout.block[b].form;
        const int bits = form == BB_FORM_SELECTION  ? 20
                         : bb_form_is_product(form) ? 2 * ask->bits[b]
                                                    : ask->bits[b];
        l.most[b] = (form == BB_FORM_SLOT ? 1 : (uint64_t)m->own) << bits;
    }
    bb_reader reader = bb_reader_of(payload);
    bb_get_sums(&reader, &ask->layout, tasks, m->own, m->id, check_stretch, &l);
    const bb_status status = bb_read_all(&reader, "a silo's sums");
    if (status) return status;
    if (l.exceeded)
        return bb_fail(BB_EDATA,
                       "round %u: a silo's sums are more than its tasks' clips "
                       "allow",
                       ask->round);
    reader = bb_reader_of(payload);
    bb_get_sums(&reader, &ask->layout, tasks, m->own, m->id, add_integers,
                &c->door.total);
    return BB_OK;
}

/* Behind the chunks from this one on whose sums come as one: the silo that has the first
 * ones has added them up already, in the same order. */
static size_t next_group(const member *m, size_t chunk) {
    return chunk == 0 && m->lead ? m->lead : chunk + 1;
}

/* Off the grid the order of adding matters: it is done when all are there. */
static bb_status keep_sums(bb_curator *c, member *m, bb_bytes payload) {
    const size_t tasks = bb_curator_run(c)->pub.tasks;
    const size_t chunks = bb_tally_chunks(tasks, c->phases.plan.sum_length);
    bb_reader reader = bb_reader_of(payload);
    size_t most = 0;
    for (size_t chunk = 0, next, k = 0; chunk < chunks && k < m->own; chunk = next) {
        next = next_group(m, chunk);
        const size_t from = bb_tally_first(tasks, chunks, chunk);
        const size_t to = bb_tally_first(tasks, chunks, next);
        if (m->id[k] < from || m->id[k] >= to) continue;
        bb_get_sums(&reader, &c->door.ask.layout, tasks, to - from, m->id + k,
                    ignore_stretch, NULL);
        most += bb_sums_bytes(&c->door.ask.layout, tasks, to - from);
        k += to - from;
        if (k > m->own) reader.bad = true;
    }
    const bb_status status = bb_read_all(&reader, "a silo's sums");
    if (status) return status;
    if (most > m->sums.room) m->sums.status = bb_writer_reserve(&m->sums, most);
    m->sums.length = 0;
    bb_put_bytes(&m->sums, payload.at, payload.length);
    return m->sums.status;
}

void bb_curator_add_chunks(bb_curator *c) {
    const size_t tasks = bb_curator_run(c)->pub.tasks;
    const size_t chunks = bb_tally_chunks(tasks, c->phases.plan.sum_length);
    for (uint32_t s = 0; s < c->roll.silos; s++) {
        member *m = &c->member[s];
        m->read = bb_reader_of((bb_bytes){m->sums.at, m->sums.length});
        m->read_tasks = 0;
    }
    for (size_t chunk = 0, next; chunk < chunks; chunk = next) {
        const size_t from = bb_tally_first(tasks, chunks, chunk);
        member *m = &c->member[c->owner[from] - 1];
        next = next_group(m, chunk);
        const size_t to = bb_tally_first(tasks, chunks, next);
        bb_get_sums(&m->read, &c->door.ask.layout, tasks, to - from,
                    m->id + m->read_tasks, add_doubles, &c->door.total);
        m->read_tasks += to - from;
    }
}

static bb_status take_sum(bb_curator *c, const bb_frame *frame, bool *news) {
    member *m = &c->member[frame->silo - 1];
    if (!m->joined)
        return bb_fail(BB_EDATA, "sums of silo %u, which has not joined", frame->silo);
    if (frame->silo > c->roll.silos) return bb_curator_take_help(c, frame, news);
    const bool waits = c->began && c->round_event &&
                       (c->now == BB_CURATOR_WAITS || c->now == BB_CURATOR_COMPLETE);
    if (!waits || c->counted || m->answered || frame->phase != c->phase ||
        frame->round != c->door.ask.round || frame->attempt != c->attempt)
        return BB_OK; /* over, or there already */
    const bb_status status = c->two_doors ? bb_curator_take_share(c, m, frame->payload)
                             : bb_curator_run(c)->mechanism->grid
                                 ? add_sums(c, m, frame->payload)
                                 : keep_sums(c, m, frame->payload);
    if (status) return status;
    m->answered = *news = true;
    c->answered++;
    if (c->answered >= c->roll.fewest && c->answered + c->lost >= c->joined)
        c->now = BB_CURATOR_COMPLETE;
    return BB_OK;
}

void bb_curator_lose(bb_curator *c) {
    for (uint32_t s = 0; s < c->roll.silos; s++) {
        member *m = &c->member[s];
        if (!m->joined || m->answered || m->lost) continue;
        m->lost = true;
        c->lost++;
    }
}

/* Whatever it says: it is there again. */
static void find_again(bb_curator *c, uint32_t silo) {
    member *m = &c->member[silo - 1];
    c->lost -= m->lost;
    m->lost = false;
}

/* A process of the silo begins, or asks for what was lost. One that has said that it has its
 * models is told again that it may go: its HELLO may have come late. Who it is shows where
 * frames are signed. */
static bb_status take_hello(bb_curator *c, const bb_frame *frame, bool *news) {
    member *m = &c->member[frame->silo - 1];
    *news = !m->heard || memcmp(m->start, frame->start, sizeof m->start) != 0;
    const bool late = c->identity && m->left && !*news;
    memcpy(m->start, frame->start, sizeof m->start);
    m->heard = true;
    m->taken = false;
    m->left = late;
    m->told = false;
    bb_curator_again(c, frame->silo);
    return BB_OK;
}

static bb_status take_bye(bb_curator *c, const bb_frame *frame, bool *news) {
    member *m = &c->member[frame->silo - 1];
    if (!m->joined || c->now != BB_CURATOR_DONE)
        return bb_fail(BB_EDATA, "silo %u leaves a run that is not over for it",
                       frame->silo);
    *news = !m->left;
    m->left = true;
    m->told = false;
    return BB_OK;
}

/* Why a silo takes no part: its words, for a terminal or a log. */
static bb_status take_refusal(const bb_frame *frame, const char *whose) {
    char why[BB_MOST_REASON + 1] = "";
    bb_reader reader = bb_reader_of(frame->payload);
    const uint64_t length = bb_get_u64(&reader);
    const uint8_t *words = bb_get(&reader, length);
    if (length > BB_MOST_REASON) reader.bad = true;
    const bb_status status = bb_read_all(&reader, "why a silo refuses");
    if (status || !words) return status;
    for (size_t k = 0; k < length; k++)
        why[k] = words[k] >= ' ' && words[k] <= '~' ? (char)words[k] : '?';
    return bb_fail(BB_EUSAGE, "%s refuses to take part: %s", whose, why);
}

/* A silo answers a round, and leaves, only after this curator has asked, and was kept: of a
 * later moment than its own it can hear only if it has gone on from an older copy. */
static bool is_ahead(const bb_curator *c, const bb_frame *frame) {
    if (c->now != BB_CURATOR_WAITS && c->now != BB_CURATOR_COMPLETE) return false;
    if (frame->kind != BB_FRAME_SUM) return frame->kind == BB_FRAME_BYE;
    if (frame->round == c->door.ask.round) return frame->attempt > c->attempt;
    return frame->round > c->door.ask.round && frame->round <= c->phases.plan.rounds;
}

static bb_status fail_outdated(bb_curator *c, const bb_frame *frame,
                               const char *whose) {
    const bool named = c->silo_name && frame->silo <= c->roll.silos;
    char when[60] = "has left at the end of this run";
    c->outdated = true;
    if (frame->kind == BB_FRAME_SUM)
        snprintf(when, sizeof when, "has answered round %u, attempt %u", frame->round,
                 frame->attempt);
    return bb_curator_failed(
        c, bb_fail(BB_EUSAGE,
                   "%s %s, and this curator is at round %u, attempt %u: it has gone on "
                   "from an older copy of its checkpoint, and would publish again what "
                   "was published. Put the newest one back; if that is lost, so is the "
                   "run, and another one costs again",
                   named ? c->silo_name[frame->silo - 1] : whose, when,
                   c->door.ask.round, c->attempt));
}

bb_status bb_curator_take(bb_curator *c, bb_bytes bytes, bool *news) {
    bb_frame frame;
    char whose[24] = "the helper";
    *news = false;
    if (c->now == BB_CURATOR_FAILED)
        return bb_fail(BB_EUSAGE, "this curator has failed: it takes no more frames");
    bb_status status = bb_frame_read(bytes, c->stamp.sealed, &frame);
    if (status) return status;
    if (frame.silo < 1 || frame.silo > bb_curator_places(c))
        return bb_fail(BB_EDATA, "a frame of silo %u; there are %u", frame.silo,
                       c->roll.silos);
    const bool helper = frame.silo > c->roll.silos;
    if (!helper) snprintf(whose, sizeof whose, "silo %u", frame.silo);
    if (c->identity)
        status = bb_frame_check_signature(
            bytes, helper ? c->identity->helper : c->identity->silo[frame.silo - 1],
            whose);
    if (status) return status;
    find_again(c, frame.silo);
    if (frame.kind == BB_FRAME_HELLO) return take_hello(c, &frame, news);
    if (frame.kind == BB_FRAME_REFUSE) return take_refusal(&frame, whose);
    if (memcmp(frame.run, c->name, sizeof frame.run) != 0)
        return bb_fail(BB_EDATA, "a frame of another run");
    if (is_ahead(c, &frame)) return fail_outdated(c, &frame, whose);
    if (frame.kind == BB_FRAME_JOIN) return take_join(c, &frame, news);
    if (frame.kind == BB_FRAME_SUM) return take_sum(c, &frame, news);
    if (frame.kind == BB_FRAME_BYE) return take_bye(c, &frame, news);
    return bb_fail(BB_EDATA, "a frame of kind %d, which no curator takes", frame.kind);
}

bb_curator_state bb_curator_now(const bb_curator *c) {
    return c->now;
}

/* -- frames that go out -- */

/* For the silo as it has begun last. */
static void end_frame(bb_curator *c, const member *m) {
    memcpy(c->stamp.start, m->start, sizeof m->start);
    bb_frame_end(&c->out, &c->stamp);
}

static void put_round(bb_curator *c, const member *m) {
    uint64_t count = 0;
    bb_put_ask(&c->out, &c->door.ask);
    bb_put_u32(&c->out, c->picked != NULL);
    for (size_t k = 0; c->picked && k < m->own; k++) count += c->picked[m->id[k]];
    if (c->picked) bb_put_u64(&c->out, count);
    for (size_t k = 0; c->picked && k < m->own; k++)
        if (c->picked[m->id[k]]) bb_put_u64(&c->out, m->id[k]);
    if (c->two_doors) bb_put_bytes(&c->out, c->helper_key, sizeof c->helper_key);
    bb_put_board(&c->out, &c->board);
}

/* Every silo is told once that the run has ended early, whatever it knows of it, has begun
 * without it, or cannot have it. */
static bb_status give_stop(bb_curator *c, member *m, bb_frame *frame, bb_bytes *bytes,
                           bool *given) {
    static const uint64_t told = UINT64_MAX;
    const uint32_t without = m->taken ? BB_STOP_TAKEN : BB_STOP_LATE;
    const uint32_t why = c->stopped ? c->stopped : without;
    if (m->given == told) return BB_OK;
    frame->kind = BB_FRAME_STOP;
    frame->round = c->door.ask.round;
    bb_frame_begin(&c->out, frame);
    bb_put_u32(&c->out, why);
    end_frame(c, m);
    if (c->out.status) return c->out.status;
    m->given = told;
    *bytes = (bb_bytes){c->out.at, c->out.length};
    *given = true;
    return BB_OK;
}

/* What the helper is: an offer, seeds, the end of the last phase *ended; 0: nothing. */
static uint32_t due_to_helper(const bb_curator *c, const member *m, size_t *ended) {
    *ended = c->phases.count - 1;
    if (m->left) return m->told ? 0 : BB_FRAME_BYE;
    if (m->given == 0) return BB_FRAME_OFFER;
    if (!m->joined) return 0;
    if (c->end_event[*ended] > m->given) return BB_FRAME_END;
    return c->counted && c->counted_event > m->given ? BB_FRAME_SEEDS : 0;
}

/* What the silo is due next: an offer, the end of phase *ended, a round; 0: nothing. */
static uint32_t due(const bb_curator *c, const member *m, size_t *ended) {
    *ended = 0;
    if (m->left) return m->told ? 0 : BB_FRAME_BYE;
    while (*ended < c->phases.count && c->end_event[*ended] <= m->given &&
           c->end_event[*ended])
        ++*ended;
    if (m->given == 0) return BB_FRAME_OFFER;
    if (!m->joined) return 0;
    if (*ended < c->phases.count && c->end_event[*ended]) return BB_FRAME_END;
    return c->round_event > m->given ? BB_FRAME_ROUND : 0;
}

static void put_due(bb_curator *c, member *m, bb_frame *frame, size_t ended) {
    if (frame->kind == BB_FRAME_END) frame->phase = (uint32_t)ended;
    if (frame->kind == BB_FRAME_ROUND || frame->kind == BB_FRAME_SEEDS) {
        frame->phase = (uint32_t)c->phase;
        frame->round = c->door.ask.round;
        frame->attempt = c->attempt;
    }
    bb_frame_begin(&c->out, frame);
    switch (frame->kind) {
    case BB_FRAME_BYE:
        m->told = true;
        break;
    case BB_FRAME_OFFER:
        bb_put_bytes(&c->out, c->offer.at, c->offer.length);
        m->given = 1;
        break;
    case BB_FRAME_END:
        bb_put_bytes(&c->out, c->end[ended].at, c->end[ended].length);
        m->given = c->end_event[ended];
        break;
    case BB_FRAME_SEEDS:
        bb_curator_put_seeds(c);
        m->given = c->counted_event;
        break;
    default:
        put_round(c, m);
        m->given = c->round_event;
    }
    end_frame(c, m);
}

bb_status bb_curator_give(bb_curator *c, uint32_t silo, bb_bytes *bytes, bool *given) {
    size_t ended;
    *given = false;
    if (silo < 1 || silo > bb_curator_places(c))
        return bb_fail(BB_EUSAGE, "there is no silo %u of %u", silo, c->roll.silos);
    member *m = &c->member[silo - 1];
    bb_frame frame = {.silo = silo};
    memcpy(frame.run, c->name, sizeof frame.run);
    if (c->identity && !m->heard) return BB_OK;
    if (c->stopped || m->taken || (c->began && !m->joined))
        return give_stop(c, m, &frame, bytes, given);
    const uint32_t kind =
        silo > c->roll.silos ? due_to_helper(c, m, &ended) : due(c, m, &ended);
    if (!kind) return BB_OK;
    frame.kind = (bb_frame_kind)kind;
    put_due(c, m, &frame, ended);
    if (c->out.status) return bb_curator_failed(c, c->out.status);
    *bytes = (bb_bytes){c->out.at, c->out.length};
    *given = true;
    return BB_OK;
}

bool bb_curator_gave_all(const bb_curator *c) {
    const uint64_t last = c->end_event[c->phases.count - 1];
    bool all = last > 0;
    for (uint32_t s = 0; s < bb_curator_places(c); s++)
        all = all && (!bb_curator_waits_for(c, s + 1) || c->member[s].given >= last);
    return all;
}

bool bb_curator_waits_for(const bb_curator *c, uint32_t silo) {
    return silo >= 1 && silo <= bb_curator_places(c) && c->member[silo - 1].joined &&
           !c->member[silo - 1].left;
}

bb_member bb_curator_member(const bb_curator *c, uint32_t silo) {
    if (silo < 1 || silo > bb_curator_places(c)) return BB_MEMBER_AWAY;
    const member *m = &c->member[silo - 1];
    const bool answered = silo > c->roll.silos ? c->helped : m->answered;
    if (!m->joined) return BB_MEMBER_AWAY;
    if (m->left) return BB_MEMBER_LEFT;
    return answered ? BB_MEMBER_ANSWERED : BB_MEMBER_JOINED;
}

void bb_curator_again(bb_curator *c, uint32_t silo) {
    if (silo >= 1 && silo <= bb_curator_places(c)) c->member[silo - 1].given = 0;
}
