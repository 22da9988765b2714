/* billboard curator: the door, the ledger and the billboard of a run of several places. */
#include "place.h"

#include <stdlib.h>
#include <time.h>

typedef billboard_experimental_curator curator;

typedef struct conduct {
    place *place;
    curator *curator;
    carrier *carrier;
    bool *joined, *left; /* silos + 1: said something; have their results */
    double asked;        /* seconds: when the round began */
} conduct;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *name_of(const conduct *k, uint32_t silo) {
    const char *name = billboard_experimental_agreement_silo(k->place->agreement, silo);
    return name ? name : "nobody";
}

static billboard_experimental_state state_of(const conduct *k) {
    return billboard_experimental_curator_state(k->curator);
}

/* -- messages -- */

static billboard_status give_one(const conduct *k, uint32_t silo) {
    const void *frame;
    size_t size;
    billboard_status status;
    do {
        status = billboard_experimental_curator_give(k->curator, silo, &frame, &size);
        if (!status && frame) status = carrier_send(k->carrier, silo, frame, size);
    } while (!status && frame);
    return status;
}

static billboard_status give_all(const conduct *k) {
    billboard_status status = BILLBOARD_OK;
    for (uint32_t s = 1; s <= k->place->way.silos && !status; s++)
        if (carrier_reaches(k->carrier, s)) status = give_one(k, s);
    return status;
}

/* What is no frame for this curator now changes nothing, and is told. */
static void take(conduct *k, const message *got) {
    place *p = k->place;
    if (got->silo < 1 || got->silo > p->way.silos) {
        place_say(p, "a message of silo %u was left out: there are %u", got->silo,
                  p->way.silos);
        return;
    }
    if (got->kind == MESSAGE_HELLO) {
        place_say(p, "%s is %s", name_of(k, got->silo),
                  k->joined[got->silo] ? "back" : "there");
        billboard_experimental_curator_again(k->curator, got->silo);
    }
    k->joined[got->silo] = true;
    if (got->kind == MESSAGE_BYE) k->left[got->silo] = true;
    if (got->kind == MESSAGE_FRAME &&
        billboard_experimental_curator_take(k->curator, got->frame, got->size))
        place_say(p, "a message of %s was left out: %s", name_of(k, got->silo),
                  billboard_error());
}

static billboard_status listen_to_silos(conduct *k) {
    message got;
    billboard_status status = carrier_receive(k->carrier, 1.0, &got);
    if (!status && got.kind != MESSAGE_NONE && got.kind != MESSAGE_AGAIN) take(k, &got);
    return status;
}

/* -- rounds -- */

/* What was published is kept before anybody learns of it. */
static billboard_status close_round(conduct *k) {
    billboard_status status = billboard_experimental_curator_close_round(k->curator);
    if (!status && k->place->checkpoint)
        status = billboard_experimental_curator_keep(k->curator);
    k->asked = now();
    return status;
}

/* With fewer than all, once they were waited for. */
static billboard_status close_late(conduct *k) {
    const place *p = k->place;
    const bool may = p->roster->fewest_silos > 0 &&
                     p->roster->fewest_silos < p->roster->silos && p->patience > 0.0;
    if (!may || now() - k->asked < p->patience) return BILLBOARD_OK;
    const billboard_status status = close_round(k);
    return status == BILLBOARD_USAGE ? BILLBOARD_OK : status; /* too few: wait on */
}

static billboard_status step(conduct *k) {
    switch (state_of(k)) {
    case BILLBOARD_EXPERIMENTAL_COMPLETE:
        return close_round(k);
    case BILLBOARD_EXPERIMENTAL_PUBLISHED:
        return billboard_experimental_curator_go_on(k->curator);
    default: {
        const billboard_status status = close_late(k);
        return status ? status : listen_to_silos(k);
    }
    }
}

/* Who waits for a round or for the end is told why there is none. */
static void stop(conduct *k, billboard_status why) {
    const double until = now() + 5.0;
    message got;
    billboard_experimental_curator_stop(k->curator, why);
    if (give_all(k)) return;
    while (!carrier_is_empty(k->carrier) && now() < until)
        if (carrier_receive(k->carrier, 0.2, &got)) return;
}

static billboard_status interrupted(conduct *k) {
    if (!k->place->checkpoint) stop(k, BILLBOARD_INTERRUPTED);
    return cmd_fail(BILLBOARD_INTERRUPTED, k->place->checkpoint
                                               ? "interrupted: start it again as it was"
                                               : "interrupted");
}

static billboard_status all_rounds(conduct *k) {
    k->asked = now();
    while (state_of(k) != BILLBOARD_EXPERIMENTAL_DONE) {
        if (*k->place->watch.stop) return interrupted(k);
        billboard_status status = step(k);
        if (!status) status = give_all(k);
        if (!status) continue;
        stop(k, status);
        return status;
    }
    return BILLBOARD_OK;
}

/* -- the end -- */

static bool all_have_left(const conduct *k) {
    for (uint32_t s = 1; s <= k->place->way.silos; s++)
        if (k->joined[s] && !k->left[s]) return false;
    return true;
}

static billboard_status store(const conduct *k, FILE *stream) {
    billboard_result *result = NULL;
    billboard_status status =
        billboard_experimental_curator_result(k->curator, &result);
    if (!status) status = place_store(k->place, result, stream);
    billboard_result_free(result);
    return status;
}

/* Silos that have been there are waited for: what they need is here only. */
static billboard_status see_off(conduct *k) {
    const double from = now();
    billboard_status status = BILLBOARD_OK;
    while (!status && !all_have_left(k) && !*k->place->watch.stop) {
        if (k->place->patience > 0.0 && now() - from > k->place->patience) break;
        status = listen_to_silos(k);
        if (!status) status = give_all(k);
    }
    for (uint32_t s = 1; s <= k->place->way.silos; s++)
        if (k->joined[s] && !k->left[s])
            place_say(k->place, "%s has not said that it has its models",
                      name_of(k, s));
    return status;
}

static billboard_status conduct_run(conduct *k, FILE *stream) {
    place *p = k->place;
    billboard_status status =
        billboard_experimental_curator_open(p->job, p->roster, &p->watch, &k->curator);
    for (uint32_t s = 1; s <= p->way.silos && !status; s++)
        billboard_experimental_curator_again(k->curator, s);
    if (!status) status = carrier_open(&k->carrier, &p->way);
    if (!status) status = all_rounds(k);
    if (!status && !p->stored) status = store(k, stream);
    if (!status) status = see_off(k);
    if (!status && p->checkpoint) billboard_experimental_curator_forget(k->curator);
    return status;
}

int cmd_curator(int argc, char **argv) {
    place p;
    conduct k = {.place = &p};
    cmd_output output = {0};
    billboard_status status = place_open(&p, argc, argv, false);
    if (!status) status = cmd_open(&output);
    if (!status) {
        k.joined = calloc(2 * ((size_t)p.way.silos + 1), sizeof *k.joined);
        k.left = k.joined ? k.joined + p.way.silos + 1 : NULL;
        if (!k.joined) status = cmd_fail(BILLBOARD_FAILED, "no memory for the silos");
    }
    if (!status) status = conduct_run(&k, output.stream);
    carrier_close(k.carrier);
    billboard_experimental_curator_free(k.curator);
    free(k.joined);
    return place_end(&p, &output, status);
}
