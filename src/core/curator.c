#include "core/curator_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t digest_length(const bb_view *view) {
    return view->method->digest_length ? view->method->digest_length(view) : 0;
}

static bool draws_cohorts(const bb_run *run) {
    return run->pub.sampling != BB_SAMPLING_ALL &&
           run->pub.sampling != BB_SAMPLING_POISSON;
}

static bb_status take_memory(bb_curator *c) {
    const bb_run *run = bb_curator_run(c);
    const size_t digest = bb_phases_most(&c->phases, digest_length);
    const size_t picks = draws_cohorts(run) ? run->pub.tasks : 0;
    c->board_room = bb_phases_board(&c->phases);
    bb_arena_need(&c->arena, c->board_room, sizeof(double));
    bb_arena_need(&c->arena, digest, sizeof(double));
    bb_arena_need(&c->arena, bb_curator_places(c), sizeof(member));
    bb_arena_need(&c->arena, run->pub.tasks, sizeof(uint32_t));
    bb_arena_need(&c->arena, picks, sizeof(bool));
    bb_door_need(run, &c->phases.plan, &c->arena);
    bb_status status = bb_arena_open(&c->arena, "the training run");
    if (status) return status;
    c->draft.at = bb_arena_take(&c->arena, c->board_room, sizeof(double));
    c->digest_work = bb_arena_take(&c->arena, digest, sizeof(double));
    c->member = bb_arena_take(&c->arena, bb_curator_places(c), sizeof(member));
    c->owner = bb_arena_take(&c->arena, run->pub.tasks, sizeof(uint32_t));
    if (picks) c->picked = bb_arena_take(&c->arena, picks, sizeof(bool));
    status = bb_door_open(&c->door, run, &c->phases.plan, &c->arena);
    const size_t room =
        32 + 8 * (c->board_room + bb_curator_shared(c)) + BB_END_SUMMARY;
    for (size_t k = 0; k < c->phases.count && !status; k++)
        status = bb_writer_reserve(&c->end[k], room);
    if (!status)
        status =
            bb_writer_reserve(&c->out, BB_FRAME_HEADER + room + 40 * BB_MOST_BLOCKS +
                                           8 * picks + BB_SHARE_KEY_BYTES);
    if (c->two_doors) c->door.noises = 1;
    return status;
}

static bb_status make_offer(bb_curator *c) {
    bb_hash hash;
    bb_put_terms(&c->offer, &c->phases);
    bb_put_plan(&c->offer, &c->roll, &c->phases);
    if (c->offer.status) return c->offer.status;
    bb_hash_open(&hash);
    bb_hash_add(&hash, c->offer.at, c->offer.length);
    bb_hash_digest(&hash, c->name);
    c->event = 1;
    return bb_writer_reserve(&c->out, BB_FRAME_HEADER + c->offer.length);
}

static bb_status open_draw(bb_curator *c) {
    const bb_run *run = bb_curator_run(c);
    if (!c->picked) return BB_OK;
    const bb_status status =
        run->seeded ? bb_random_open_stream(&c->draw, run->seed, BB_FOR_COHORT, 0, 0)
                    : bb_random_open_secure(&c->draw);
    c->draw_open = !status;
    return status;
}

/* Room for what the last phase finds. */
static bb_status open_effects(bb_curator *c) {
    const bb_view *view = &c->phases.part[c->phases.count - 1].view;
    const size_t length =
        view->method->effects_length ? view->method->effects_length(view) : 0;
    if (!length) return BB_OK;
    return bb_allocate(&c->effects, length, sizeof *c->effects, "a curator");
}

/* So that what was said in another run of the same plan is of another run. Within a process
 * there is nobody to say it. */
static bb_status name_run(bb_curator *c, bool was_named) {
    if (c->identity) memcpy(c->roll.roster, c->identity->roster, BB_HASH_BYTES);
    return was_named || !c->stamp.sealed
               ? BB_OK
               : bb_random_secret(c->roll.nonce, sizeof c->roll.nonce);
}

static bb_status check_terms(const bb_curator_terms *terms) {
    const bb_identity *identity = terms->identity;
    if (terms->silos < 1 || terms->fewest > terms->silos)
        return bb_fail(BB_EUSAGE, "%u silos, of which every round needs %u",
                       terms->silos, terms->fewest);
    if (!terms->run->mechanism->grid && terms->fewest && terms->fewest < terms->silos)
        return bb_fail(BB_EUSAGE,
                       "with mechanism %s every round needs all silos, not %u of %u",
                       terms->run->mechanism->name, terms->fewest, terms->silos);
    return terms->run->pub.doors > 1 && identity ? bb_share_check_helper(identity)
                                                 : BB_OK;
}

bb_status bb_curator_begin(bb_curator **out, const bb_curator_terms *terms,
                           bb_reader *saved) {
    const bb_public *pub = &terms->run->pub;
    const size_t clusters = pub->clusters ? pub->clusters : 1;
    const size_t parameters = pub->parameters ? pub->parameters : pub->features;
    bb_curator *c = NULL;
    bb_status status = check_terms(terms);
    if (!status) status = bb_allocate(&c, 1, sizeof *c, "a curator");
    if (status) return status;
    c->two_doors = pub->doors > 1 && terms->identity;
    c->identity = terms->identity;
    c->silo_name = terms->silo_name;
    c->task_name = terms->task_name;
    c->stamp = (bb_stamp){.sealed = terms->sealed || terms->identity,
                          .key = terms->identity ? terms->identity->key : NULL};
    c->roll.silos = terms->silos;
    c->roll.fewest = terms->fewest ? terms->fewest : terms->silos;
    status =
        bb_allocate(&c->shared, clusters * parameters, sizeof(double), "a curator");
    if (!status)
        status = bb_allocate(&c->shared_result, clusters * parameters, sizeof(double),
                             "a curator");
    for (size_t k = 0; k < clusters && !status && pub->start; k++)
        memcpy(c->shared + k * parameters, pub->start, parameters * sizeof *c->shared);
    if (!status) status = bb_phases_open(&c->phases, terms->run, c->shared);
    if (!status) status = name_run(c, saved != NULL);
    if (!status)
        status = saved ? bb_get_kept(saved, &c->roll, &c->phases, terms->checkpoint)
                       : bb_phases_plan(&c->phases);
    if (!status) status = open_effects(c);
    if (!status) status = take_memory(c);
    if (!status) status = make_offer(c);
    if (!status) status = open_draw(c);
    if (status)
        bb_curator_close(c);
    else
        *out = c;
    return status;
}

bb_status bb_curator_open(bb_curator **out, const bb_curator_terms *terms) {
    return bb_curator_begin(out, terms, NULL);
}

void bb_curator_close(bb_curator *c) {
    if (!c) return;
    for (uint32_t s = 0; c->member && s < c->roll.silos; s++) {
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
    free(c->shared_result);
    free(c->effects);
    free(c);
}

/* -- rounds -- */

void bb_curator_start_phase(bb_curator *c) {
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
    const bb_run *run = bb_curator_run(c);
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

bb_status bb_curator_ask(bb_curator *c, uint32_t attempt) {
    bb_layout layout;
    c->view.method->layout(&c->view, &layout);
    bb_status status = draw_cohort(c);
    if (!status) status = bb_door_ask(&c->door, &layout);
    if (status) return status;
    for (uint32_t s = 0; s < c->roll.silos; s++) c->member[s].answered = false;
    c->answered = 0;
    c->counted = c->helped = false;
    c->attempt = attempt;
    c->round_event = ++c->event;
    c->now = BB_CURATOR_WAITS;
    return BB_OK;
}

/* What a phase leaves: a note, the model that its method shares (one for all, or one for
 * each cluster), its last billboard. */
static void keep_phase(bb_curator *c) {
    const bb_method *method = c->view.method;
    const size_t p = bb_curator_run(c)->pub.parameters;
    const char *note = method->note ? method->note(&c->view) : NULL;
    if (note) c->note = note;
    const double *model = method->shared ? method->shared(&c->view) : NULL;
    for (size_t k = 0; model && k < bb_curator_run(c)->pub.clusters; k++)
        memcpy(c->shared + k * p, method->clustered ? model + k * p : model,
               p * sizeof *model);
}

/* What silos would have to look at every release for. */
static void put_summary(const bb_curator *c, bb_writer *end) {
    char hash[BB_HASH_TEXT];
    bb_door_hash(&c->door, hash);
    bb_put_double(end, c->door.least_noise);
    bb_put_bytes(end, hash, BB_HASH_TEXT - 1);
}

static bb_status end_phase(bb_curator *c) {
    bb_writer *end = &c->end[c->phase];
    keep_phase(c);
    bb_put_board(end, &c->board);
    if (c->view.method->shared) bb_put_doubles(end, c->shared, bb_curator_shared(c));
    put_summary(c, end);
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
        bb_curator_start_phase(c);
        if (c->plan.rounds) bb_door_skip_to(&c->door, c->phases.part[c->phase].from);
        if (c->view.method->open) c->view.method->open(&c->view, &c->draft);
    }
    return bb_curator_ask(c, 1);
}

/* Off the grid every chunk of tasks is in one silo. */
static bb_status check_chunks(const bb_curator *c) {
    const size_t tasks = bb_curator_run(c)->pub.tasks;
    const size_t chunks = bb_tally_chunks(tasks, c->phases.plan.sum_length);
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        const size_t from = bb_tally_first(tasks, chunks, chunk);
        const size_t to = bb_tally_first(tasks, chunks, chunk + 1);
        for (size_t i = from; i < to; i++)
            if (!c->owner[i] || c->owner[i] != c->owner[from])
                return bb_fail(BB_EUSAGE,
                               "mechanism %s adds up tasks %zu to %zu together: they "
                               "must be in one silo",
                               bb_curator_run(c)->mechanism->name, from + 1, to);
    }
    return BB_OK;
}

static bb_status begin_run(bb_curator *c) {
    bb_status status = BB_OK;
    if (c->joined < c->roll.fewest)
        return bb_fail(BB_EUSAGE, "%u silo%s joined; %u are needed", c->joined,
                       c->joined == 1 ? " has" : "s have", c->roll.fewest);
    if (c->two_doors && !c->member[c->roll.silos].joined)
        return bb_fail(BB_EUSAGE,
                       "the helper has not joined, who keeps the second door");
    if (!bb_curator_run(c)->mechanism->grid) status = check_chunks(c);
    if (!status) status = bb_door_charge(&c->door, bb_curator_run(c));
    if (status) return bb_curator_failed(c, status);
    c->began = true;
    bb_curator_start_phase(c);
    if (c->view.method->open) c->view.method->open(&c->view, &c->draft);
    return bb_curator_failed(c, move_on(c));
}

bb_status bb_curator_close_round(bb_curator *c) {
    if (c->now != BB_CURATOR_WAITS && c->now != BB_CURATOR_COMPLETE)
        return bb_fail(BB_EUSAGE, "there is no round to close");
    if (!c->began) return begin_run(c);
    if (c->answered < c->roll.fewest)
        return bb_fail(BB_EUSAGE, "round %u: %u silo%s answered; %u are needed",
                       c->door.ask.round, c->answered,
                       c->answered == 1 ? " has" : "s have", c->roll.fewest);
    if (!c->counted) bb_curator_lose(c);
    if (c->two_doors && !c->counted) return bb_curator_failed(c, bb_curator_count(c));
    if (c->two_doors && !c->helped)
        return bb_fail(BB_EUSAGE, "round %u: the helper has not answered",
                       c->door.ask.round);
    if (!bb_curator_run(c)->mechanism->grid) bb_curator_add_chunks(c);
    const bb_status status = bb_door_publish(&c->door, &c->release);
    if (!status) c->now = BB_CURATOR_PUBLISHED;
    return bb_curator_failed(c, status);
}

bb_status bb_curator_go_on(bb_curator *c) {
    if (c->now != BB_CURATOR_PUBLISHED)
        return bb_fail(BB_EUSAGE, "nothing was published to go on from");
    bb_release release = c->release; /* methods count the rounds of their phase */
    release.round -= c->phases.part[c->phase].from;
    const bb_status status =
        c->view.method->digest(&c->view, &release, &c->draft, c->digest_work);
    if (status) return bb_curator_failed(c, status);
    c->board.done = c->draft.done;
    c->board.releases++;
    c->rounds++;
    return bb_curator_failed(c, move_on(c));
}

void bb_curator_stop(bb_curator *c, bb_stop why) {
    if (c->now == BB_CURATOR_DONE || c->outdated) return;
    c->stopped = why;
    c->now = BB_CURATOR_FAILED;
}

bool bb_curator_is_stopped(const bb_curator *c) {
    return c->stopped != 0;
}

const bb_release *bb_curator_release(const bb_curator *c) {
    return &c->release;
}

uint32_t bb_curator_round(const bb_curator *c) {
    return c->door.ask.round;
}

uint32_t bb_curator_published(const bb_curator *c) {
    return c->rounds;
}

bool bb_curator_began(const bb_curator *c) {
    return c->began;
}

const bb_plan *bb_curator_plan(const bb_curator *c) {
    return &c->phases.plan;
}

void bb_curator_strengths(const bb_curator *c, double *noise, double *signal) {
    *noise = sqrt(c->door.noise);
    *signal = sqrt(c->door.signal);
}

bb_status bb_curator_result(bb_curator *c, bb_result *result) {
    const bb_phases *phases = &c->phases;
    if (c->now != BB_CURATOR_DONE)
        return bb_fail(BB_EUSAGE, "the run is not at its end");
    if (c->view.method->outcome) c->view.method->outcome(&c->view, &result->outcome);
    if (c->shared_result)
        memcpy(c->shared_result, c->shared, bb_curator_shared(c) * sizeof *c->shared);
    result->shared = c->shared_result;
    c->shared_result = NULL;
    result->shares = phases->starts[phases->count - 1] || c->view.method->shared;
    result->plan = c->phases.plan;
    result->rounds = c->rounds;
    result->note = c->note;
    result->noise_multiplier =
        isfinite(c->door.least_noise) ? c->door.least_noise : NAN;
    bb_door_hash(&c->door, result->billboard_sha256);
    const bb_method *method = c->view.method;
    if (c->effects)
        memcpy(c->effects, method->effects(&c->view),
               method->effects_length(&c->view) * sizeof *c->effects);
    result->effects = c->effects;
    c->effects = NULL;
    c->phases.plan = (bb_plan){0};
    return BB_OK;
}
