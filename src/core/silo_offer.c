/* A silo takes an offer: everything that a run needs, before any budget is charged. */
#include "core/silo_inside.h"

#include <string.h>

/* Off the grid a sum is over a fixed chunk of tasks: all of it is here, or none. */
static bb_status deal_chunks(bb_silo *silo) {
    const size_t tasks = bb_silo_run(silo)->pub.tasks;
    const size_t chunks = bb_tally_chunks(tasks, silo->phases.plan.sum_length);
    silo->chunks = 0;
    for (size_t k = 0, c = 0; k < silo->own; c++) {
        const size_t from = bb_tally_first(tasks, chunks, c);
        const size_t to = bb_tally_first(tasks, chunks, c + 1);
        if (silo->id[k] >= to) continue;
        if (silo->id[k] != from || k + (to - from) > silo->own ||
            silo->id[k + (to - from) - 1] != to - 1)
            return bb_fail(BB_EUSAGE,
                           "mechanism %s adds up tasks %zu to %zu together: they "
                           "must be in one silo",
                           bb_silo_run(silo)->mechanism->name, from + 1, to);
        silo->chunk_first[silo->chunks++] = k;
        k += to - from;
    }
    silo->chunk_first[silo->chunks] = silo->own;
    silo->lead = bb_tally_lead(tasks, chunks, silo->own, silo->id);
    if (!silo->lead) silo->lead = silo->chunks > 0;
    return BB_OK;
}

/* Where that does not change a sum, on the grid and at home, a worker takes so few tasks at
 * once that none has to wait long for another at the end: a network's one by one. */
enum { MOST_PARTS = 256 };

static bb_status deal(bb_silo *silo) {
    const bb_run *run = bb_silo_run(silo);
    silo->parts = silo->own < MOST_PARTS || run->pub.network ? silo->own : MOST_PARTS;
    const bb_status status = bb_allocate(&silo->chunk_first, run->pub.tasks + 1,
                                         sizeof *silo->chunk_first, "a silo");
    if (status) return status;
    if (!run->mechanism->grid) return deal_chunks(silo);
    silo->chunks = silo->parts;
    for (size_t c = 0; c <= silo->chunks; c++)
        silo->chunk_first[c] = silo->chunks ? c * silo->own / silo->chunks : 0;
    return BB_OK;
}

/* Of one worker, in a phase. */
static size_t local_work(const bb_silo *silo, const bb_view *view) {
    size_t most = 0;
    for (size_t k = 0; k < silo->own; k++) {
        const bb_local *local = &bb_silo_run(silo)->local[k];
        size_t work = bb_local_work(local);
        if (view->method->local_length) work += view->method->local_length(view, local);
        if (work > most) most = work;
    }
    return bb_view_length(view->method->work_length, view) + most + 8;
}

/* Doubles of states in a phase, and where each begins (first may be NULL). */
static size_t state_length(const bb_silo *silo, const bb_view *view, size_t *first) {
    const size_t each = bb_view_length(view->method->state_length, view);
    size_t length = 0;
    for (size_t k = 0; k < silo->own; k++) {
        const bb_local *local = &bb_silo_run(silo)->local[k];
        if (first) first[k] = length;
        length += each + view->method->state_models * local->length;
        if (view->method->kept_length) length += view->method->kept_length(view, local);
    }
    if (first) first[silo->own] = length;
    return length;
}

static void measure(bb_silo *silo, bool *draws, size_t *models) {
    *draws = false;
    *models = 0;
    silo->work_length = silo->states = 0;
    for (size_t p = 0; p < silo->phases.count; p++) {
        const bb_view *view = &silo->phases.part[p].view;
        const size_t work = local_work(silo, view);
        const size_t states = state_length(silo, view, NULL);
        if (work > silo->work_length) silo->work_length = work;
        if (states > silo->states) silo->states = states;
        *draws = *draws || view->method->own_noise || view->method->draws;
    }
    for (size_t k = 0; k < silo->own; k++)
        *models += bb_silo_run(silo)->local[k].length;
    silo->board_room = bb_phases_board(&silo->phases);
}

static bb_status take_memory(bb_silo *silo) {
    const bb_run *run = bb_silo_run(silo);
    const bb_plan *plan = &silo->phases.plan;
    bb_arena *arena = &silo->arena;
    const size_t workers = run->engine->workers, own = silo->own;
    const bool sample = run->pub.sampling != BB_SAMPLING_ALL;
    const size_t sums = run->mechanism->grid ? workers : silo->chunks;
    bool draws;
    size_t models;
    measure(silo, &draws, &models);
    bb_arena_need(arena, silo->board_room, sizeof(double));
    bb_arena_need(arena, 2 * (own + 1), sizeof(size_t));
    bb_arena_need(arena, own, sizeof(double));
    bb_arena_need(arena, workers * silo->work_length, sizeof(double));
    bb_arena_need(arena, workers * plan->show_length, sizeof(double));
    bb_arena_need(arena, 2 * own, sizeof(double));
    bb_arena_need(arena, own, sizeof(bb_status));
    bb_arena_need(arena, 2 * own, sizeof(bool));
    bb_arena_need(arena, sample ? own : 0, sizeof(bool));
    bb_arena_need(arena, draws ? workers : 0, sizeof(bb_random));
    bb_tally_need(arena, run->mechanism, plan, sums);
    bb_status status = bb_arena_open(arena, "the training run");
    if (!status)
        status = bb_map_block(&silo->model_at, run->memory, &silo->model, models,
                              sizeof(double), "the models");
    if (!status)
        status = bb_map_block(&silo->state_at, run->memory, &silo->state, silo->states,
                              sizeof(double), "what tasks keep");
    if (status) return status;
    silo->board_at = bb_arena_take(arena, silo->board_room, sizeof(double));
    silo->first = bb_arena_take(arena, 2 * (own + 1), sizeof(size_t));
    silo->state_first = silo->first + own + 1;
    silo->intercept = bb_arena_take(arena, own, sizeof(double));
    silo->work = bb_arena_take(arena, workers * silo->work_length, sizeof(double));
    silo->show = bb_arena_take(arena, workers * plan->show_length, sizeof(double));
    silo->objective = bb_arena_take(arena, 2 * own, sizeof(double));
    silo->gap = silo->objective + own;
    silo->finished = bb_arena_take(arena, own, sizeof(bb_status));
    silo->asked = bb_arena_take(arena, 2 * own, sizeof(bool));
    silo->failed = silo->asked + own;
    if (sample) silo->picked = bb_arena_take(arena, own, sizeof(bool));
    if (draws) silo->random = bb_arena_take(arena, workers, sizeof(bb_random));
    bb_tally_open(&silo->tally, arena, run->mechanism, plan, run->pub.tasks, sums);
    if (!run->mechanism->grid) silo->tally.together = silo->lead;
    for (size_t k = 0; k < own; k++)
        silo->first[k + 1] = silo->first[k] + run->local[k].length;
    return bb_writer_reserve(
        &silo->out,
        BB_FRAME_HEADER + 8 * (own + 1) + 4 + BB_SEAL_BYTES +
            bb_sums_room(plan,
                         run->mechanism->grid ? 1 : silo->chunks - silo->lead + 1));
}

static bb_status open_random(bb_silo *silo) {
    const bb_run *run = bb_silo_run(silo);
    bb_status status = BB_OK;
    for (size_t w = 0; silo->random && w < run->engine->workers && !status; w++) {
        status = run->seeded ? bb_random_open_stream(&silo->random[w], run->seed,
                                                     BB_FOR_LOCAL, 0, 0)
                             : bb_random_open_secure(&silo->random[w]);
        if (!status) silo->random_open++;
    }
    if (silo->picked && !status) {
        status = run->seeded ? bb_random_open_stream(&silo->draw, run->seed,
                                                     BB_FOR_COHORT, 0, 0)
                             : bb_random_open_secure(&silo->draw);
        silo->draw_open = !status;
    }
    return status;
}

bb_status bb_silo_charge(const bb_silo *silo, bool reserve) {
    const bb_run *run = bb_silo_run(silo);
    const bb_plan *plan = &silo->phases.plan;
    char name[BB_RUN_NAME];
    long long id;
    if (!silo->has_policy || !silo->policy.ledger || !plan->rounds) return BB_OK;
    bb_run_name(run->phases, run->phase, name);
    const bb_ledger_charge price = bb_run_price(run, plan);
    return reserve ? bb_ledger_reserve(silo->policy.ledger, &price, name, &id)
                   : bb_ledger_check(silo->policy.ledger, &price);
}

void bb_silo_open_phase(bb_silo *silo) {
    if (silo->phase == silo->phases.count) {
        silo->now = BB_SILO_DONE;
        return;
    }
    silo->view = silo->phases.part[silo->phase].view;
    silo->plan = bb_plan_view_of(&silo->phases.plan, &silo->phases.part[silo->phase]);
    silo->view.board = &silo->board;
    silo->view.plan = &silo->plan;
    silo->begun = silo->phase == 0;
    state_length(silo, &silo->phases.part[silo->phase].view, silo->state_first);
    for (size_t k = 0; silo->phase && k < silo->own; k++) {
        double *state = silo->state + silo->state_first[k];
        double *next = silo->state + silo->state_first[k + 1];
        memset(state, 0, (size_t)(next - state) * sizeof *state);
        bb_map_passed(&silo->state_at, state, next);
    }
    silo->now = BB_SILO_WAITING;
}

static void put_join(bb_silo *silo) {
    bb_frame frame = {.kind = BB_FRAME_JOIN, .silo = silo->number};
    memcpy(frame.run, silo->name, sizeof frame.run);
    bb_frame_begin(&silo->out, &frame);
    bb_put_u64(&silo->out, silo->own);
    for (size_t k = 0; k < silo->own; k++) bb_put_u64(&silo->out, silo->id[k]);
    bb_put_text(&silo->out, BB_VERSION);
    bb_frame_end(&silo->out, &silo->stamp);
    silo->out_ready = true;
}

static void name_run(bb_silo *silo, bb_bytes offer) {
    bb_hash hash;
    bb_hash_open(&hash);
    bb_hash_add(&hash, offer.at, offer.length);
    bb_hash_digest(&hash, silo->name);
}

/* Whose signatures are taken is the same everywhere. */
static bb_status check_roster(const bb_silo *silo, bool kept) {
    static const uint8_t none[BB_HASH_BYTES];
    const uint8_t *own = silo->identity ? silo->identity->roster : none;
    if (memcmp(silo->roll.roster, own, BB_HASH_BYTES) == 0) return BB_OK;
    if (kept) return bb_fail_kept(silo->checkpoint, "is of another roster of keys");
    return bb_fail(BB_EDATA, silo->identity
                                 ? "the curator has another roster of keys than this "
                                   "silo"
                                 : "the run is signed: this silo needs a key, and the "
                                   "roster of keys");
}

/* Everything but the policy and the price. */
bb_status bb_silo_accept(bb_silo *silo, bb_bytes offer, const uint8_t *name,
                         bool kept) {
    bb_reader reader = bb_reader_of(offer);
    bb_status status =
        kept ? bb_check_kept(&reader, &silo->phases, silo->checkpoint)
             : bb_check_terms(&reader, &silo->phases,
                              "the run that is offered is not the one that this silo "
                              "agreed to");
    if (status) return bb_silo_failed(silo, status);
    status = bb_get_plan(&reader, &silo->roll, &silo->phases);
    if (!status) status = check_roster(silo, kept);
    if (!status) status = deal(silo);
    if (!status) status = take_memory(silo);
    if (!status) status = open_random(silo);
    bb_put_bytes(&silo->offer, offer.at, offer.length);
    if (!status) status = silo->offer.status;
    if (status) return bb_silo_failed(silo, status);
    if (name)
        memcpy(silo->name, name, sizeof silo->name);
    else
        name_run(silo, offer);
    bb_silo_open_phase(silo);
    return BB_OK;
}

/* What can be said of an offer only: whether it keeps to the policy. */
static bb_status check_policy(bb_silo *silo) {
    if (!silo->has_policy) return BB_OK;
    const bb_status status =
        bb_silo_check_silos(&silo->policy, silo->roll.silos, silo->roll.fewest);
    return status ? status : bb_phases_check_prices(&silo->phases);
}

bb_status bb_silo_decline(bb_silo *silo, const bb_frame *frame, bb_status status,
                          bool charged) {
    const bool told = !charged && (status == BB_EDATA || status == BB_EUSAGE);
    const char *own =
        status == BB_EBUDGET ? BB_REFUSED_BY_LEDGER : "it cannot take part now";
    bb_silo_put_refusal(silo, frame->run, told ? bb_last_error() : own);
    return status;
}

bb_status bb_silo_take_offer(bb_silo *silo, const bb_frame *frame, bool *news) {
    if (silo->joined) {
        /* the answer to it was lost */
        *news = silo->phase == 0 && silo->ask.round == 0 && !silo->out_ready;
        silo->out_ready = silo->out_ready || *news;
        if (silo->offered) bb_silo_say_again(silo);
        silo->offered = true;
        return BB_OK;
    }
    /* within a process nobody else can have made the name */
    const uint8_t *name = silo->stamp.sealed ? NULL : frame->run;
    bb_status status = bb_silo_accept(silo, frame->payload, name, false);
    if (status) return bb_silo_decline(silo, frame, status, false);
    if (memcmp(frame->run, silo->name, sizeof frame->run) != 0)
        status = bb_fail(BB_EDATA, "an offer under another run's name");
    if (!status) status = check_policy(silo);
    if (status)
        return bb_silo_decline(silo, frame, bb_silo_failed(silo, status), false);
    status = bb_silo_charge(silo, false);
    if (status) return bb_silo_decline(silo, frame, bb_silo_failed(silo, status), true);
    silo->joined = *news = true;
    put_join(silo);
    return BB_OK;
}
