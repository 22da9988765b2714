#include "core/curator.h"

#include "core/door.h"
#include "core/grid.h"
#include "core/messages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A silo, as the curator knows it. */
typedef struct member {
    bool joined;
    size_t own, *id; /* its tasks */
    uint64_t given;  /* the last event that it was given */
    bool answered;   /* this round's attempt */
    bb_writer sums;  /* off the grid: what it answered */
    bb_reader read;  /* and how far it was added up */
    size_t read_tasks;
} member;

struct bb_curator {
    bb_phases phases;
    uint32_t silos, fewest;
    bool sealed;
    bb_curator_state now;
    member *member;  /* silos */
    uint32_t *owner; /* tasks: of which silo, 1, 2, ...; 0: of none */
    uint8_t name[BB_HASH_BYTES];
    bb_writer offer, out; /* its payload; the frame that is given */

    bool began; /* silos have joined, the plan is charged */
    size_t phase;
    bb_view view;
    bb_plan_view plan;
    bb_billboard board;
    bb_draft draft; /* of the board */
    size_t board_room;
    double *digest_work;
    bb_door door;
    uint32_t attempt;
    bb_release release;
    uint64_t event;       /* the last one: 1 is the offer */
    uint64_t round_event; /* of the round that is asked; 0: none is */
    uint64_t end_event[BB_MOST_PHASES];
    bb_writer end[BB_MOST_PHASES]; /* what the end of a phase says */
    double *shared;                /* clusters x parameters */
    const char *note;
    uint32_t rounds; /* published */
    bool *picked;    /* tasks: a cohort of fixed size; NULL: none is drawn */
    bb_random draw;
    bool draw_open;
    bb_arena arena;
};

static const bb_run *run_of(const bb_curator *c) {
    return &c->phases.run;
}

static bb_status failed(bb_curator *c, bb_status status) {
    if (status) c->now = BB_CURATOR_FAILED;
    return status;
}

static size_t shared_length(const bb_curator *c) {
    return run_of(c)->pub.clusters * run_of(c)->pub.parameters;
}

/* -- opening -- */

static size_t digest_length(const bb_view *view) {
    return view->method->digest_length ? view->method->digest_length(view) : 0;
}

static bool draws_cohorts(const bb_run *run) {
    return run->pub.sampling != BB_SAMPLING_ALL &&
           run->pub.sampling != BB_SAMPLING_POISSON;
}

static bb_status take_memory(bb_curator *c) {
    const bb_run *run = run_of(c);
    const size_t digest = bb_phases_most(&c->phases, digest_length);
    const size_t picks = draws_cohorts(run) ? run->pub.tasks : 0;
    c->board_room = bb_phases_board(&c->phases);
    bb_arena_need(&c->arena, c->board_room, sizeof(double));
    bb_arena_need(&c->arena, digest, sizeof(double));
    bb_arena_need(&c->arena, c->silos, sizeof(member));
    bb_arena_need(&c->arena, run->pub.tasks, sizeof(uint32_t));
    bb_arena_need(&c->arena, picks, sizeof(bool));
    bb_door_need(run, &c->phases.plan, &c->arena);
    bb_status status = bb_arena_open(&c->arena, "the training run");
    if (status) return status;
    c->draft.at = bb_arena_take(&c->arena, c->board_room, sizeof(double));
    c->digest_work = bb_arena_take(&c->arena, digest, sizeof(double));
    c->member = bb_arena_take(&c->arena, c->silos, sizeof(member));
    c->owner = bb_arena_take(&c->arena, run->pub.tasks, sizeof(uint32_t));
    if (picks) c->picked = bb_arena_take(&c->arena, picks, sizeof(bool));
    status = bb_door_open(&c->door, run, &c->phases.plan, &c->arena);
    const size_t room = 32 + 8 * (c->board_room + shared_length(c));
    for (size_t k = 0; k < c->phases.count && !status; k++)
        status = bb_writer_reserve(&c->end[k], room);
    if (!status)
        status = bb_writer_reserve(&c->out, BB_FRAME_HEADER + room +
                                                40 * BB_MOST_BLOCKS + 8 * picks);
    return status;
}

static bb_status make_offer(bb_curator *c) {
    bb_hash hash;
    bb_put_terms(&c->offer, &c->phases);
    bb_put_plan(&c->offer, &c->phases);
    if (c->offer.status) return c->offer.status;
    bb_hash_open(&hash);
    bb_hash_add(&hash, c->offer.at, c->offer.length);
    bb_hash_digest(&hash, c->name);
    c->event = 1;
    return bb_writer_reserve(&c->out, BB_FRAME_HEADER + c->offer.length);
}

static bb_status open_draw(bb_curator *c) {
    const bb_run *run = run_of(c);
    if (!c->picked) return BB_OK;
    const bb_status status =
        run->seeded ? bb_random_open_stream(&c->draw, run->seed, BB_FOR_COHORT, 0, 0)
                    : bb_random_open_secure(&c->draw);
    c->draw_open = !status;
    return status;
}

bb_status bb_curator_open(bb_curator **out, const bb_curator_terms *terms) {
    const bb_public *pub = &terms->run->pub;
    const size_t clusters = pub->clusters ? pub->clusters : 1;
    const size_t parameters = pub->parameters ? pub->parameters : pub->features;
    bb_curator *c = NULL;
    if (terms->silos < 1 || terms->fewest > terms->silos)
        return bb_fail(BB_EUSAGE, "%u silos, of which every round needs %u",
                       terms->silos, terms->fewest);
    if (!terms->run->mechanism->grid && terms->fewest && terms->fewest < terms->silos)
        return bb_fail(BB_EUSAGE,
                       "with mechanism %s every round needs all silos, not %u of %u",
                       terms->run->mechanism->name, terms->fewest, terms->silos);
    bb_status status = bb_allocate(&c, 1, sizeof *c, "a curator");
    if (status) return status;
    c->silos = terms->silos;
    c->fewest = terms->fewest ? terms->fewest : terms->silos;
    c->sealed = terms->sealed;
    status =
        bb_allocate(&c->shared, clusters * parameters, sizeof(double), "a curator");
    for (size_t k = 0; k < clusters && !status && pub->start; k++)
        memcpy(c->shared + k * parameters, pub->start, parameters * sizeof *c->shared);
    if (!status) status = bb_phases_open(&c->phases, terms->run, c->shared);
    if (!status) status = bb_phases_plan(&c->phases);
    if (!status) status = take_memory(c);
    if (!status) status = make_offer(c);
    if (!status) status = open_draw(c);
    if (status)
        bb_curator_close(c);
    else
        *out = c;
    return status;
}

void bb_curator_close(bb_curator *c) {
    if (!c) return;
    for (uint32_t s = 0; c->member && s < c->silos; s++) {
        free(c->member[s].id);
        bb_writer_close(&c->member[s].sums);
    }
    for (size_t k = 0; k < BB_MOST_PHASES; k++) bb_writer_close(&c->end[k]);
    if (c->draw_open) bb_random_close(&c->draw);
    bb_door_close(&c->door);
    bb_writer_close(&c->offer);
    bb_writer_close(&c->out);
    bb_phases_close(&c->phases);
    bb_arena_close(&c->arena);
    free(c->shared);
    free(c);
}

/* -- frames that come in -- */

static uint32_t count_joined(const bb_curator *c) {
    uint32_t count = 0;
    for (uint32_t s = 0; s < c->silos; s++) count += c->member[s].joined;
    return count;
}

static uint32_t count_answered(const bb_curator *c) {
    uint32_t count = 0;
    for (uint32_t s = 0; s < c->silos; s++) count += c->member[s].answered;
    return count;
}

static bb_status enrol(bb_curator *c, uint32_t s, uint64_t own, const uint8_t *words) {
    const size_t tasks = run_of(c)->pub.tasks;
    member *m = &c->member[s];
    for (uint64_t k = 0; k < own; k++) {
        const uint64_t id = (uint64_t)bb_integer_at(words, k);
        if (id >= tasks || (k && (int64_t)id <= bb_integer_at(words, k - 1)))
            return bb_fail(BB_EDATA,
                           "silo %u joins with task %llu: numbers ascend, below %zu",
                           s + 1, (unsigned long long)id, tasks);
        if (c->owner[id])
            return bb_fail(BB_EDATA, "silos %u and %u both have task %llu", s + 1,
                           c->owner[id], (unsigned long long)id);
    }
    const bb_status status = bb_allocate(&m->id, own, sizeof *m->id, "a silo's tasks");
    if (status) return status;
    for (uint64_t k = 0; k < own; k++) {
        m->id[k] = (size_t)bb_integer_at(words, k);
        c->owner[m->id[k]] = s + 1;
    }
    m->own = own;
    m->joined = true;
    if (run_of(c)->mechanism->grid) return BB_OK;
    const size_t chunks = bb_tally_chunks(tasks, c->phases.plan.sum_length);
    return bb_writer_reserve(
        &m->sums, bb_sums_room(&c->phases.plan, (own * chunks + tasks - 1) / tasks));
}

static bb_status take_join(bb_curator *c, const bb_frame *frame, bool *news) {
    bb_reader reader = bb_reader_of(frame->payload);
    if (c->began || c->member[frame->silo - 1].joined) return BB_OK;
    const uint64_t own = bb_get_u64(&reader);
    const uint8_t *words = own <= reader.left / 8 ? bb_get(&reader, 8 * own) : NULL;
    bb_status status = words ? bb_read_all(&reader, "a silo's tasks")
                             : bb_fail(BB_EDATA, "a silo's tasks: they end too early");
    if (!status) status = enrol(c, frame->silo - 1, own, words);
    *news = !status;
    if (!status && count_joined(c) == c->silos) c->now = BB_CURATOR_COMPLETE;
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
    const size_t tasks = run_of(c)->pub.tasks;
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

/* Off the grid the order of adding matters: it is done when all are there. */
static bb_status keep_sums(bb_curator *c, member *m, bb_bytes payload) {
    const size_t tasks = run_of(c)->pub.tasks;
    const size_t chunks = bb_tally_chunks(tasks, c->phases.plan.sum_length);
    bb_reader reader = bb_reader_of(payload);
    size_t most = 0;
    for (size_t chunk = 0, k = 0; chunk < chunks && k < m->own; chunk++) {
        const size_t to = (chunk + 1) * tasks / chunks;
        const size_t from = chunk * tasks / chunks;
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

static void add_chunks(bb_curator *c) {
    const size_t tasks = run_of(c)->pub.tasks;
    const size_t chunks = bb_tally_chunks(tasks, c->phases.plan.sum_length);
    for (uint32_t s = 0; s < c->silos; s++) {
        member *m = &c->member[s];
        m->read = bb_reader_of((bb_bytes){m->sums.at, m->sums.length});
        m->read_tasks = 0;
    }
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        const size_t from = chunk * tasks / chunks, to = (chunk + 1) * tasks / chunks;
        member *m = &c->member[c->owner[from] - 1];
        bb_get_sums(&m->read, &c->door.ask.layout, tasks, to - from,
                    m->id + m->read_tasks, add_doubles, &c->door.total);
        m->read_tasks += to - from;
    }
}

static bb_status take_sum(bb_curator *c, const bb_frame *frame, bool *news) {
    member *m = &c->member[frame->silo - 1];
    if (!m->joined)
        return bb_fail(BB_EDATA, "sums of silo %u, which has not joined", frame->silo);
    const bool waits = c->began && c->round_event &&
                       (c->now == BB_CURATOR_WAITS || c->now == BB_CURATOR_COMPLETE);
    if (!waits || m->answered || frame->phase != c->phase ||
        frame->round != c->door.ask.round || frame->attempt != c->attempt)
        return BB_OK; /* over, or there already */
    const bb_status status = run_of(c)->mechanism->grid
                                 ? add_sums(c, m, frame->payload)
                                 : keep_sums(c, m, frame->payload);
    if (status) return status;
    m->answered = *news = true;
    if (count_answered(c) == count_joined(c)) c->now = BB_CURATOR_COMPLETE;
    return BB_OK;
}

bb_status bb_curator_take(bb_curator *c, bb_bytes bytes, bool *news) {
    bb_frame frame;
    *news = false;
    if (c->now == BB_CURATOR_FAILED)
        return bb_fail(BB_EUSAGE, "this curator has failed: it takes no more frames");
    const bb_status status = bb_frame_read(bytes, c->sealed, &frame);
    if (status) return status;
    if (frame.silo < 1 || frame.silo > c->silos)
        return bb_fail(BB_EDATA, "a frame of silo %u; there are %u", frame.silo,
                       c->silos);
    if (memcmp(frame.run, c->name, sizeof frame.run) != 0)
        return bb_fail(BB_EDATA, "a frame of another run");
    if (frame.kind == BB_FRAME_JOIN) return take_join(c, &frame, news);
    if (frame.kind == BB_FRAME_SUM) return take_sum(c, &frame, news);
    return bb_fail(BB_EDATA, "a frame of kind %d, which no curator takes", frame.kind);
}

bb_curator_state bb_curator_now(const bb_curator *c) {
    return c->now;
}

/* -- rounds -- */

static void start_phase(bb_curator *c) {
    const bb_plan_part *part = &c->phases.part[c->phase];
    const bb_view *view = &part->view;
    c->view = *view;
    c->draft.length = view->method->board_length ? view->method->board_length(view) : 0;
    c->draft.done = false;
    if (c->draft.length) memset(c->draft.at, 0, c->draft.length * sizeof(double));
    c->board = (bb_billboard){.at = c->draft.at, .length = c->draft.length};
    c->plan = bb_plan_view_of(&c->phases.plan, part);
    c->view.board = &c->board;
    c->view.plan = &c->plan;
}

/* K of the tasks; every set is as likely as any other (Fan, Muller, Rezucha 1962). In a
 * hidden cohort it is told to nobody but its silos. */
static bb_status draw_cohort(bb_curator *c) {
    const bb_run *run = run_of(c);
    size_t left = run->pub.cohort;
    if (!c->picked) return BB_OK;
    if (run->seeded) {
        const bb_status status = bb_random_restart(&c->draw, run->seed, BB_FOR_COHORT,
                                                   c->door.ask.round + 1, 0);
        if (status) return status;
    }
    for (size_t i = 0; i < run->pub.tasks; i++) {
        c->picked[i] = bb_random_below(&c->draw, run->pub.tasks - i) < left;
        left -= c->picked[i];
    }
    return bb_random_check(&c->draw);
}

static bb_status ask_round(bb_curator *c, uint32_t attempt) {
    bb_layout layout;
    c->view.method->layout(&c->view, &layout);
    bb_status status = draw_cohort(c);
    if (!status) status = bb_door_ask(&c->door, &layout);
    if (status) return status;
    for (uint32_t s = 0; s < c->silos; s++) c->member[s].answered = false;
    c->attempt = attempt;
    c->round_event = ++c->event;
    c->now = BB_CURATOR_WAITS;
    return BB_OK;
}

/* What a phase leaves: a note, the model that its method shares (one for all, or one for
 * each cluster), its last billboard. */
static void keep_phase(bb_curator *c) {
    const bb_method *method = c->view.method;
    const size_t p = run_of(c)->pub.parameters;
    const char *note = method->note ? method->note(&c->view) : NULL;
    if (note) c->note = note;
    const double *model = method->shared ? method->shared(&c->view) : NULL;
    for (size_t k = 0; model && k < run_of(c)->pub.clusters; k++)
        memcpy(c->shared + k * p, method->clustered ? model + k * p : model,
               p * sizeof *model);
}

static bb_status end_phase(bb_curator *c) {
    bb_writer *end = &c->end[c->phase];
    keep_phase(c);
    bb_put_board(end, &c->board);
    if (c->view.method->shared) bb_put_doubles(end, c->shared, shared_length(c));
    c->end_event[c->phase] = ++c->event;
    c->round_event = 0;
    return end->status;
}

/* To the next round, of this phase or a later one, or to the end. */
static bb_status move_on(bb_curator *c) {
    while (c->board.releases >= c->plan.rounds || c->board.done) {
        const bb_status status = end_phase(c);
        if (status) return status;
        if (c->phase + 1 == c->phases.count) {
            c->now = BB_CURATOR_DONE;
            return BB_OK;
        }
        c->phase++;
        start_phase(c);
        if (c->plan.rounds) bb_door_skip_to(&c->door, c->phases.part[c->phase].from);
        if (c->view.method->open) c->view.method->open(&c->view, &c->draft);
    }
    return ask_round(c, 1);
}

/* Off the grid every chunk of tasks is in one silo. */
static bb_status check_chunks(const bb_curator *c) {
    const size_t tasks = run_of(c)->pub.tasks;
    const size_t chunks = bb_tally_chunks(tasks, c->phases.plan.sum_length);
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        const size_t from = chunk * tasks / chunks, to = (chunk + 1) * tasks / chunks;
        for (size_t i = from; i < to; i++)
            if (!c->owner[i] || c->owner[i] != c->owner[from])
                return bb_fail(BB_EUSAGE,
                               "mechanism %s adds up tasks %zu to %zu together: they "
                               "must be in one silo",
                               run_of(c)->mechanism->name, from + 1, to);
    }
    return BB_OK;
}

static bb_status begin_run(bb_curator *c) {
    bb_status status = BB_OK;
    if (count_joined(c) < c->fewest)
        return bb_fail(BB_EUSAGE, "%u silos have joined; %u are needed",
                       count_joined(c), c->fewest);
    if (!run_of(c)->mechanism->grid) status = check_chunks(c);
    if (!status) status = bb_door_charge(&c->door, run_of(c));
    if (status) return failed(c, status);
    c->began = true;
    start_phase(c);
    if (c->view.method->open) c->view.method->open(&c->view, &c->draft);
    return failed(c, move_on(c));
}

bb_status bb_curator_close_round(bb_curator *c) {
    if (c->now != BB_CURATOR_WAITS && c->now != BB_CURATOR_COMPLETE)
        return bb_fail(BB_EUSAGE, "there is no round to close");
    if (!c->began) return begin_run(c);
    if (count_answered(c) < c->fewest)
        return bb_fail(BB_EUSAGE, "round %u: %u silos have answered; %u are needed",
                       c->door.ask.round, count_answered(c), c->fewest);
    if (!run_of(c)->mechanism->grid) add_chunks(c);
    const bb_status status = bb_door_publish(&c->door, &c->release);
    if (!status) c->now = BB_CURATOR_PUBLISHED;
    return failed(c, status);
}

bb_status bb_curator_go_on(bb_curator *c) {
    if (c->now != BB_CURATOR_PUBLISHED)
        return bb_fail(BB_EUSAGE, "nothing was published to go on from");
    bb_release release = c->release; /* methods count the rounds of their phase */
    release.round -= c->phases.part[c->phase].from;
    const bb_status status =
        c->view.method->digest(&c->view, &release, &c->draft, c->digest_work);
    if (status) return failed(c, status);
    c->board.done = c->draft.done;
    c->board.releases++;
    c->rounds++;
    return failed(c, move_on(c));
}

/* -- frames that go out -- */

static void put_round(bb_curator *c, const member *m) {
    uint64_t count = 0;
    bb_put_ask(&c->out, &c->door.ask);
    bb_put_u32(&c->out, c->picked != NULL);
    for (size_t k = 0; c->picked && k < m->own; k++) count += c->picked[m->id[k]];
    if (c->picked) bb_put_u64(&c->out, count);
    for (size_t k = 0; c->picked && k < m->own; k++)
        if (c->picked[m->id[k]]) bb_put_u64(&c->out, m->id[k]);
    bb_put_board(&c->out, &c->board);
}

bb_status bb_curator_give(bb_curator *c, uint32_t silo, bb_bytes *bytes, bool *given) {
    *given = false;
    if (silo < 1 || silo > c->silos)
        return bb_fail(BB_EUSAGE, "there is no silo %u of %u", silo, c->silos);
    member *m = &c->member[silo - 1];
    bb_frame frame = {.kind = BB_FRAME_OFFER, .silo = silo};
    memcpy(frame.run, c->name, sizeof frame.run);
    size_t ended = 0;
    while (ended < c->phases.count && c->end_event[ended] <= m->given &&
           c->end_event[ended])
        ended++;
    const bool offer = m->given == 0;
    const bool end = m->joined && ended < c->phases.count && c->end_event[ended];
    const bool round = m->joined && c->round_event > m->given;
    if (!offer && !end && !round) return BB_OK;
    if (!offer) {
        frame.kind = end ? BB_FRAME_END : BB_FRAME_ROUND;
        frame.phase = (uint32_t)(end ? ended : c->phase);
        frame.round = end ? 0 : c->door.ask.round;
        frame.attempt = end ? 0 : c->attempt;
    }
    bb_frame_begin(&c->out, &frame);
    if (offer)
        bb_put_bytes(&c->out, c->offer.at, c->offer.length);
    else if (end)
        bb_put_bytes(&c->out, c->end[ended].at, c->end[ended].length);
    else
        put_round(c, m);
    bb_frame_end(&c->out, c->sealed);
    if (c->out.status) return failed(c, c->out.status);
    m->given = offer ? 1 : end ? c->end_event[ended] : c->round_event;
    *bytes = (bb_bytes){c->out.at, c->out.length};
    *given = true;
    return BB_OK;
}

void bb_curator_again(bb_curator *c, uint32_t silo) {
    if (silo >= 1 && silo <= c->silos) c->member[silo - 1].given = 0;
}

const bb_release *bb_curator_release(const bb_curator *c) {
    return &c->release;
}

uint32_t bb_curator_round(const bb_curator *c) {
    return c->door.ask.round;
}

const bb_plan *bb_curator_plan(const bb_curator *c) {
    return &c->phases.plan;
}

bb_status bb_curator_result(bb_curator *c, bb_result *result) {
    const bb_phases *phases = &c->phases;
    if (c->now != BB_CURATOR_DONE)
        return bb_fail(BB_EUSAGE, "the run is not at its end");
    if (c->view.method->outcome) c->view.method->outcome(&c->view, &result->outcome);
    result->shared = c->shared;
    result->shares = phases->starts[phases->count - 1] || c->view.method->shared;
    result->plan = c->phases.plan;
    result->rounds = c->rounds;
    result->note = c->note;
    result->noise_multiplier =
        isfinite(c->door.least_noise) ? c->door.least_noise : NAN;
    bb_door_hash(&c->door, result->billboard_sha256);
    c->shared = NULL;
    c->phases.plan = (bb_plan){0};
    return BB_OK;
}

/* -- saving -- */

static const uint32_t curator_magic = 0x53434242; /* "BBCS" */

void bb_curator_save(const bb_curator *c, bb_writer *bytes) {
    uint8_t hash[BB_HASH_SAVED];
    bb_put_u32(bytes, curator_magic);
    bb_put_bytes(bytes, c->name, sizeof c->name);
    for (uint32_t s = 0; s < c->silos; s++) {
        const member *m = &c->member[s];
        bb_put_u64(bytes, m->joined ? m->own : UINT64_MAX);
        for (size_t k = 0; k < m->own; k++) bb_put_u64(bytes, m->id[k]);
    }
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
    bb_put_doubles(bytes, c->shared, shared_length(c));
    bb_put_u32(bytes, (uint32_t)c->phase);
    for (size_t k = 0; k < c->phases.count; k++) {
        bb_put_u64(bytes, c->end[k].length);
        bb_put_bytes(bytes, c->end[k].at, c->end[k].length);
    }
    bb_put_board(bytes, &c->board);
    if (c->now != BB_CURATOR_PUBLISHED) return;
    for (size_t b = 0; b < BB_MOST_BLOCKS; b++) {
        bb_put_double(bytes, c->release.noise[b]);
        bb_put_u64(bytes, c->release.winner[b]);
    }
    bb_put_doubles(bytes, c->door.value, c->phases.plan.sum_length);
}

static bb_status get_roster(bb_curator *c, bb_reader *reader) {
    bb_status status = BB_OK;
    for (uint32_t s = 0; s < c->silos && !status; s++) {
        const uint64_t own = bb_get_u64(reader);
        if (reader->bad || own == UINT64_MAX) continue;
        const uint8_t *words = own <= reader->left / 8 ? bb_get(reader, 8 * own) : NULL;
        status = words ? enrol(c, s, own, words)
                       : bb_fail(BB_EDATA, "a saved curator: it ends too early");
    }
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
        start_phase(c);
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
    if (!published) {
        const bb_status status = bb_read_all(reader, "a saved curator");
        return status ? status : ask_round(c, c->attempt + 1);
    }
    const double least = c->door.least_noise;
    const bb_status status = ask_round(c, c->attempt);
    if (status) return status;
    c->door.least_noise = least;
    c->release = (bb_release){.round = round,
                              .layout = &c->door.ask.layout,
                              .psd_noise = run_of(c)->mechanism->psd_noise};
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
        if (count_joined(c) == c->silos) c->now = BB_CURATOR_COMPLETE;
        return bb_read_all(reader, "a saved curator");
    }
    const bool published = bb_get_u32(reader) != 0, done = bb_get_u32(reader) != 0;
    const uint32_t round = bb_get_u32(reader);
    c->attempt = bb_get_u32(reader);
    c->rounds = bb_get_u32(reader);
    c->door.least_noise = bb_get_double(reader);
    const uint8_t *hash = bb_get(reader, BB_HASH_SAVED);
    bb_get_doubles(reader, c->shared, shared_length(c));
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
    start_phase(c);
    status = bb_get_board(reader, &c->board, c->draft.at, c->draft.length);
    c->draft.done = c->board.done;
    if (status) return status;
    if (!done) return reopen_round(c, reader, round, published);
    c->now = BB_CURATOR_DONE;
    bb_door_skip_to(&c->door, round);
    return bb_read_all(reader, "a saved curator");
}

bb_status bb_curator_restore(bb_curator *c, bb_bytes saved) {
    bb_reader reader = bb_reader_of(saved);
    if (c->began || count_joined(c))
        return failed(c, bb_fail(BB_EUSAGE, "this curator has begun already"));
    if (bb_get_u32(&reader) != curator_magic)
        return failed(c, bb_fail(BB_EDATA, "no saved curator"));
    const uint8_t *name = bb_get(&reader, sizeof c->name);
    if (!name || memcmp(name, c->name, sizeof c->name) != 0)
        return failed(c, bb_fail(BB_EDATA, "a saved curator of another run"));
    return failed(c, restore(c, &reader));
}
