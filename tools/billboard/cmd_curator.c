/* billboard curator: the door, the ledger and the billboard of a run of several places. */
#include "page.h"
#include "waiting.h"

#include <stdlib.h>
#include <string.h>

typedef billboard_experimental_curator curator;

typedef struct conduct {
    place *place;
    curator *curator;
    carrier *carrier;
    page *page;       /* NULL: none */
    bool *heard;      /* silos + 1: have said something to this process */
    waiting waiting;  /* for whom, and since when */
    uint32_t *unkept; /* silos that have joined or left since the last keeping, */
    uint32_t unkepts; /* so many, */
    bool *is_unkept;  /* silos + 1: these; */
    double keep_at;   /* seconds: which are kept then */
    bool *is_twice;   /* silos + 1: were there by two connections, which was told */
    bool over;        /* the last round is published: silos may still need the end */
    bool *is_back;    /* silos + 1: have said something after their good-bye, */
    double back;      /* seconds: the last of them then */
} conduct;

static billboard_experimental_state state_of(const conduct *k) {
    return billboard_experimental_curator_state(k->curator);
}

/* -- messages -- */

static billboard_status give_one(const conduct *k, uint32_t silo) {
    const void *frame;
    size_t size;
    billboard_status status;
    if (!carrier_reaches(k->carrier, silo)) return BILLBOARD_OK;
    do {
        status = billboard_experimental_curator_give(k->curator, silo, &frame, &size);
        if (!status && frame) status = carrier_send(k->carrier, silo, frame, size);
    } while (!status && frame);
    return status;
}

static billboard_status give_all(const conduct *k) {
    billboard_status status = BILLBOARD_OK;
    for (uint32_t s = 1; s <= k->place->way.silos && !status; s++)
        status = give_one(k, s);
    return status;
}

/* What is no frame for this curator now changes nothing, and is told; but for one that shows
 * that this curator is an older copy, which ends it. */
static billboard_status take(conduct *k, const message *got) {
    place *p = k->place;
    if (got->silo < 1 || got->silo > p->way.silos) {
        place_say(p, "a message of silo %u was left out: there are %u", got->silo,
                  p->way.silos);
        page_failed(k->page, 0, false, "a message of a silo that is not in the plan");
        return BILLBOARD_OK;
    }
    const bool away =
        !carrier_reaches(k->carrier, got->silo) || k->waiting.missed[got->silo];
    const billboard_status status =
        billboard_experimental_curator_take(k->curator, got->frame, got->size);
    if (state_of(k) == BILLBOARD_EXPERIMENTAL_FAILED) return status;
    if (!status) waiting_heard(&k->waiting, got->silo);
    if (status == BILLBOARD_USAGE)
        place_say(p, "%s: %s", place_silo(p, got->silo), billboard_error());
    else if (status)
        place_say(p, "a message of %s was left out: %s", place_silo(p, got->silo),
                  billboard_error());
    if (status)
        page_failed(k->page, got->silo, status == BILLBOARD_USAGE, billboard_error());
    if (status || got->kind != MESSAGE_HELLO) return BILLBOARD_OK;
    if (carrier_introduce(k->carrier) && !k->is_twice[got->silo]) {
        k->is_twice[got->silo] = true;
        place_say(p,
                  "%s speaks by a second connection while its first is open: if two "
                  "places were started by that name, stop one of them",
                  place_silo(p, got->silo));
    }
    const bool late = waiting_is_too_late(&k->waiting, got->silo);
    if (late) page_too_late(k->page, got->silo);
    if (!k->heard[got->silo] || away) /* else it has only asked again */
        place_say(p, "%s is %s%s", place_silo(p, got->silo),
                  k->heard[got->silo] ? "back" : "there",
                  late ? ", too late for this run, which has begun without it: it is "
                         "told so"
                       : "");
    k->heard[got->silo] = true;
    return BILLBOARD_OK;
}

/* Takes a message, and answers it: at once, unless it has changed what must be kept first. */
static billboard_status hear(conduct *k, const message *got) {
    const uint32_t silo = got->silo;
    const int before = billboard_experimental_curator_waits_for(k->curator, silo);
    const billboard_status status = take(k, got);
    if (status || silo < 1 || silo > k->place->way.silos) return status;
    const int after = billboard_experimental_curator_waits_for(k->curator, silo);
    if (k->place->checkpoint && before != after && !k->is_unkept[silo]) {
        k->is_unkept[silo] = true;
        k->unkept[k->unkepts++] = silo;
    }
    if (k->over && !before && after && !k->place->keys) k->is_back[silo] = true;
    if (k->is_back[silo]) k->back = cmd_now();
    return k->is_unkept[silo] ? BILLBOARD_OK : give_one(k, silo);
}

static billboard_status keep(conduct *k) {
    const billboard_status status =
        k->place->checkpoint ? billboard_experimental_curator_keep(k->curator)
                             : BILLBOARD_OK;
    for (uint32_t n = 0; n < k->unkepts && !status; n++)
        k->is_unkept[k->unkept[n]] = false;
    if (!status) k->unkepts = 0;
    return status;
}

/* Who has joined, and who has left, is kept before they are told: once for all that have come,
 * and with many silos for all that come meanwhile, so that it takes a tenth of the time. */
static billboard_status keep_news(conduct *k) {
    enum { MANY = 100 };
    const double from = cmd_now();
    const uint32_t news = k->unkepts;
    if (!news || from < k->keep_at) return BILLBOARD_OK;
    billboard_status status = keep(k);
    if (k->place->way.silos >= MANY) k->keep_at = cmd_now() + 9.0 * (cmd_now() - from);
    for (uint32_t n = 0; n < news && !status; n++) status = give_one(k, k->unkept[n]);
    return status;
}

/* What is there, or comes first. */
static billboard_status listen_to_silos(conduct *k) {
    const place *p = k->place;
    const double patience = p->patience;
    double seconds = patience > 0.0 && patience < 1.0 ? patience : 1.0;
    const double until_keep = k->unkepts ? k->keep_at - cmd_now() : seconds;
    if (until_keep < seconds) seconds = until_keep > 0.0 ? until_keep : 0.0;
    page_show(k->page, k->curator, k->carrier);
    waiting_tell(&k->waiting);
    for (uint32_t n = 0; n < p->way.silos; n++) {
        message got;
        billboard_status status = carrier_receive(k->carrier, n ? 0.0 : seconds, &got);
        if (status) return status;
        if (got.kind == MESSAGE_NONE || got.kind == MESSAGE_AGAIN) break;
        status = hear(k, &got);
        if (status) return status;
    }
    return keep_news(k);
}

/* -- rounds -- */

/* Where it can have come to its end: the state waits for silos to be given that. */
static billboard_status look_for_end(conduct *k) {
    billboard_answer *run = NULL;
    const billboard_status status =
        billboard_experimental_curator_progress(k->curator, &run);
    if (!status && state_of(k) == BILLBOARD_EXPERIMENTAL_PUBLISHED)
        waiting_tell_lost(&k->waiting, run);
    if (!status) k->over = strcmp(billboard_answer_text(run, "state"), "over") == 0;
    billboard_answer_free(run);
    return status;
}

/* What was published is kept before anybody learns of it. */
static billboard_status close_round(conduct *k) {
    billboard_status status = billboard_experimental_curator_close_round(k->curator);
    if (!status) status = keep(k);
    if (!status) status = give_all(k);
    if (!status) status = look_for_end(k);
    waiting_begin(&k->waiting);
    return status;
}

static billboard_status go_on(conduct *k) {
    billboard_status status = billboard_experimental_curator_go_on(k->curator);
    if (!status) status = give_all(k);
    return status ? status : look_for_end(k);
}

/* With fewer than all, once they were waited for. */
static billboard_status close_late(conduct *k) {
    const place *p = k->place;
    const bool may = p->roster->fewest_silos > 0 &&
                     p->roster->fewest_silos < p->roster->silos && p->patience > 0.0;
    if (!may || cmd_now() - k->waiting.asked < p->patience) return BILLBOARD_OK;
    const billboard_status status = close_round(k);
    return status == BILLBOARD_USAGE ? BILLBOARD_OK : status; /* too few: wait on */
}

static billboard_status step(conduct *k) {
    switch (state_of(k)) {
    case BILLBOARD_EXPERIMENTAL_COMPLETE:
        return close_round(k);
    case BILLBOARD_EXPERIMENTAL_PUBLISHED:
        return go_on(k);
    default: {
        const billboard_status status = close_late(k);
        return status ? status : listen_to_silos(k);
    }
    }
}

/* What was said has to leave before the process ends. */
static void see_it_leave(const conduct *k) {
    const double until = cmd_now() + 5.0;
    message got;
    while (!carrier_is_empty(k->carrier) && cmd_now() < until)
        if (carrier_receive(k->carrier, 0.2, &got)) return;
}

/* Who waits for a round or for the end is told why there is none. */
static void stop(const conduct *k, billboard_status why) {
    billboard_experimental_curator_stop(k->curator, why);
    if (!give_all(k)) see_it_leave(k);
}

static billboard_status interrupted(conduct *k) {
    if (!k->place->checkpoint) stop(k, BILLBOARD_INTERRUPTED);
    return cmd_fail(BILLBOARD_INTERRUPTED, k->place->checkpoint
                                               ? "interrupted: start it again as it was"
                                               : "interrupted");
}

/* What this machine could not do, a full disk say, it may do later: who waits goes on waiting
 * for this one to be started again. */
static bool may_go_on(const conduct *k, billboard_status why) {
    place *p = k->place;
    const bool may = p->checkpoint && why == BILLBOARD_FAILED;
    if (may) place_say(p, "the silos wait: start this again as it was");
    return may;
}

static billboard_status all_rounds(conduct *k) {
    billboard_status status = give_all(k); /* an offer, where all can be reached */
    waiting_begin(&k->waiting);
    while (!status && !k->over) {
        if (*k->place->watch.stop) return interrupted(k);
        status = step(k);
    }
    if (status && !may_go_on(k, status)) stop(k, status);
    return status;
}

/* -- the end -- */

static bool waits(const conduct *k) {
    bool any = false;
    for (uint32_t s = 1; s <= k->place->way.silos; s++)
        any = any || billboard_experimental_curator_waits_for(k->curator, s);
    return any;
}

/* Kept first, as at its end: it may have to be stored by another process. */
static billboard_status store(conduct *k, FILE *stream) {
    billboard_result *result = NULL;
    billboard_status status = keep(k);
    if (!status) status = billboard_experimental_curator_result(k->curator, &result);
    if (!status) status = place_store(k->place, result, stream);
    billboard_result_free(result);
    if (status) (void)may_go_on(k, status);
    return status;
}

/* Whether the run was at its end when this process began: another one was killed before it
 * could store what came of it, or before all silos had left. */
static billboard_status store_if_over(const conduct *k, FILE *stream, bool *over) {
    billboard_result *result = NULL;
    *over = k->place->stored;
    if (*over) return BILLBOARD_OK;
    billboard_status status =
        billboard_experimental_curator_result(k->curator, &result);
    if (status == BILLBOARD_USAGE) return BILLBOARD_OK; /* it is not */
    *over = true;
    if (!status) status = place_store(k->place, result, stream);
    billboard_result_free(result);
    return status;
}

/* Whether all that are waited for have said their good-bye once: without keys nobody can tell a
 * message that comes late from a place that was started again. */
static bool waits_for_ghosts(const conduct *k) {
    bool all = true;
    for (uint32_t s = 1; s <= k->place->way.silos; s++)
        all = all && (k->is_back[s] ||
                      !billboard_experimental_curator_waits_for(k->curator, s));
    return all;
}

/* Silos are waited for that have not said that they have their models: what they need is
 * here only. Those that an earlier process knew may have gone: who runs comes back soon. */
static billboard_status see_off(conduct *k, bool over) {
    static const double soon = 60.0;
    const place *p = k->place;
    waiting_begin(&k->waiting);
    const double from = cmd_now();
    const double patience = p->patience > 0.0 || !over ? p->patience : soon;
    billboard_status status = give_all(k);
    while (!status && waits(k) && !*p->watch.stop) {
        if (patience > 0.0 && cmd_now() - from > patience) break;
        if (waits_for_ghosts(k) && cmd_now() - k->back > soon) break;
        status = listen_to_silos(k);
    }
    k->keep_at = 0.0;
    if (!status) status = keep_news(k);
    if (!status) see_it_leave(k);
    return status;
}

/* What a silo still needs is not removed. */
static void end(const conduct *k) {
    place *p = k->place;
    for (uint32_t s = 1; s <= p->way.silos; s++)
        if (billboard_experimental_curator_waits_for(k->curator, s))
            place_say(p, "%s has not said that it has its models%s%s%s",
                      place_silo(p, s), p->checkpoint ? ": until it has, " : "",
                      p->checkpoint ? p->checkpoint : "",
                      p->checkpoint ? " has them: start this again with it" : "");
    if (p->checkpoint && !waits(k)) billboard_experimental_curator_forget(k->curator);
}

/* The run has a name that only this curator knows: it is kept before anybody hears it. */
static billboard_status open_curator(conduct *k) {
    place *p = k->place;
    billboard_status status =
        billboard_experimental_curator_open(p->job, p->roster, &p->watch, &k->curator);
    k->waiting.curator = k->curator;
    if (!status && state_of(k) == BILLBOARD_EXPERIMENTAL_PUBLISHED)
        status = billboard_experimental_curator_go_on(k->curator); /* it was kept */
    if (!status && p->checkpoint)
        status = billboard_experimental_curator_keep(k->curator);
    for (uint32_t s = 1; s <= p->way.silos && !status; s++)
        billboard_experimental_curator_again(k->curator, s);
    return status;
}

static billboard_status conduct_run(conduct *k, FILE *stream) {
    place *p = k->place;
    bool over = false;
    billboard_status status = open_curator(k);
    if (!status) status = carrier_open(&k->carrier, &p->way);
    if (!status) status = carrier_hold(k->carrier);
    if (!status) status = store_if_over(k, stream, &over);
    if (!status && !over) status = all_rounds(k);
    if (!status && !over) status = store(k, stream);
    if (!status) status = see_off(k, over);
    if (!status) end(k);
    return status;
}

int cmd_curator(int argc, char **argv) {
    place p;
    conduct k = {.place = &p};
    cmd_output output = {0};
    billboard_status status = place_open(&p, argc, argv, PLACE_CURATOR);
    if (!status) status = cmd_open(&output);
    if (!status && p.over) return place_end(&p, &output, status);
    if (!status) status = page_open(&k.page, &p);
    if (!status) status = waiting_open(&k.waiting, &p);
    if (!status) {
        const size_t places = (size_t)p.way.silos + 1;
        k.heard = calloc(places, sizeof *k.heard);
        k.unkept = calloc(places, sizeof *k.unkept);
        k.is_unkept = calloc(places, sizeof *k.is_unkept);
        k.is_back = calloc(places, sizeof *k.is_back);
        k.is_twice = calloc(places, sizeof *k.is_twice);
        if (!k.heard || !k.unkept || !k.is_unkept || !k.is_back || !k.is_twice)
            status = cmd_fail(BILLBOARD_FAILED, "no memory for the silos");
    }
    if (!status) status = conduct_run(&k, output.stream);
    waiting_close(&k.waiting);
    page_close(k.page);
    carrier_close(k.carrier);
    billboard_experimental_curator_free(k.curator);
    free(k.heard);
    free(k.unkept);
    free(k.is_unkept);
    free(k.is_back);
    free(k.is_twice);
    return place_end(&p, &output, status);
}
