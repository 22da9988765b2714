#include "core/silo_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What shows nothing needs nobody's leave. */
static bool may_share(const bb_silo_policy *policy, const bb_method *method) {
    bool may = method->kind == BB_METHOD_ALONE;
    for (size_t k = 0; k < policy->methods; k++)
        may = may || strcmp(policy->method[k], method->name) == 0;
    return may;
}

/* Who may ask. */
static bb_status check_curator(const bb_silo_policy *policy,
                               const bb_identity *identity) {
    if (!policy->curator) return BB_OK;
    for (size_t k = 0; identity && k < policy->curators; k++)
        if (memcmp(policy->curator[k], identity->curator, BB_SIGN_KEY) == 0)
            return BB_OK;
    if (!identity)
        return bb_fail(BB_EUSAGE, "this silo's policy asks for a curator that signs");
    char key[BB_SIGN_KEY_TEXT];
    bb_sign_text(identity->curator, key);
    return bb_fail(BB_EUSAGE, "this silo's policy does not know the curator %s", key);
}

/* Who keeps the second door. */
static bb_status check_helper(const bb_run *run, const bb_silo_policy *policy,
                              const bb_identity *identity) {
    if (!policy->helper) return BB_OK;
    if (run->pub.doors < 2 || !identity || !identity->has_helper)
        return bb_fail(BB_EUSAGE,
                       "this silo's policy asks for two doors, the second one "
                       "kept by a helper that it knows");
    for (size_t k = 0; k < policy->helpers; k++)
        if (memcmp(policy->helper[k], identity->helper, BB_SIGN_KEY) == 0) return BB_OK;
    char key[BB_SIGN_KEY_TEXT];
    bb_sign_text(identity->helper, key);
    return bb_fail(BB_EUSAGE, "this silo's policy does not know the helper %s", key);
}

bb_status bb_silo_check_policy(const bb_run *run, const bb_silo_policy *policy,
                               const bb_identity *identity) {
    bb_status status = check_curator(policy, identity);
    if (!status) status = check_helper(run, policy, identity);
    if (status) return status;
    if (!policy->allow_open && run->mechanism->pricing != BB_PRICE_GAUSSIAN)
        return bb_fail(BB_EUSAGE, "this silo's policy forbids mechanism %s",
                       run->mechanism->name);
    if (!policy->allow_open && run->seeded)
        return bb_fail(BB_EUSAGE, "this silo's policy forbids seeded noise");
    if (policy->most_epsilon > 0.0 && !(run->pub.epsilon <= policy->most_epsilon))
        return bb_fail(BB_EUSAGE, "this silo's policy allows epsilon %g, not %g",
                       policy->most_epsilon, run->pub.epsilon);
    if (policy->most_delta > 0.0 && !(run->pub.delta <= policy->most_delta))
        return bb_fail(BB_EUSAGE, "this silo's policy allows delta %g, not %g",
                       policy->most_delta, run->pub.delta);
    if (run->pub.tasks < policy->fewest_tasks)
        return bb_fail(BB_EUSAGE, "this silo's policy asks for %zu task%s, not %zu",
                       policy->fewest_tasks, bb_plural((double)policy->fewest_tasks),
                       run->pub.tasks);
    if (policy->adjacencies && !(policy->adjacencies >> run->pub.adjacency & 1))
        return bb_fail(BB_EUSAGE, "this silo's policy forbids adjacency %s",
                       bb_adjacency_name(run->pub.adjacency));
    for (size_t k = 0; k < run->phases && policy->method; k++)
        if (!may_share(policy, run->phase[k].method))
            return bb_fail(BB_EUSAGE, "this silo's policy forbids method %s",
                           run->phase[k].method->name);
    return BB_OK;
}

bb_status bb_silo_check_silos(const bb_silo_policy *policy, uint32_t silos,
                              uint32_t fewest) {
    if (silos < policy->fewest_silos)
        return bb_fail(BB_EUSAGE, "this silo's policy asks for %u silos, not %u",
                       policy->fewest_silos, silos);
    if (fewest < policy->fewest_silos)
        return bb_fail(BB_EUSAGE,
                       "this silo's policy asks for %u silos in every round; the plan "
                       "lets one go on with %u (its fewest-silos)",
                       policy->fewest_silos, fewest);
    return BB_OK;
}

static bb_status check_terms(const bb_silo_terms *terms) {
    const bb_run *run = terms->run;
    for (size_t k = 0; k < terms->tasks; k++) {
        const size_t id = terms->id ? terms->id[k] : k;
        if (id >= run->pub.tasks || (terms->id && k && id <= terms->id[k - 1]))
            return bb_fail(BB_EUSAGE,
                           "a silo's tasks have ascending numbers below %zu, got %zu",
                           run->pub.tasks, id);
    }
    return terms->policy ? bb_silo_check_policy(run, terms->policy, terms->identity)
                         : BB_OK;
}

/* A silo that signs begins anew, with a name of this start that nobody can guess. */
static bb_status open_stamp(bb_silo *silo, const bb_silo_terms *terms) {
    silo->identity = terms->identity;
    silo->stamp = (bb_stamp){.sealed = terms->sealed || terms->identity};
    if (!silo->identity) return BB_OK;
    silo->stamp.key = silo->identity->key;
    silo->two_doors = terms->run->pub.doors > 1;
    bb_status status = silo->two_doors ? bb_share_check_helper(silo->identity) : BB_OK;
    if (!status) status = bb_random_secret(silo->stamp.start, sizeof silo->stamp.start);
    if (!status) bb_silo_hello(silo);
    return status ? status : silo->hello.status;
}

bb_status bb_silo_open(bb_silo **out, const bb_silo_terms *terms) {
    const bb_run *run = terms->run;
    const size_t clusters = run->pub.clusters ? run->pub.clusters : 1;
    const size_t parameters =
        run->pub.parameters ? run->pub.parameters : run->pub.features;
    bb_silo *silo = NULL;
    bb_status status = check_terms(terms);
    if (!status) status = bb_allocate(&silo, 1, sizeof *silo, "a silo");
    if (status) return status;
    silo->number = terms->number;
    silo->checkpoint = terms->checkpoint;
    silo->has_policy = terms->policy != NULL;
    if (terms->policy) silo->policy = *terms->policy;
    silo->own = terms->tasks;
    status = open_stamp(silo, terms);
    if (!status) status = bb_allocate(&silo->id, silo->own, sizeof *silo->id, "a silo");
    for (size_t k = 0; k < silo->own && !status; k++)
        silo->id[k] = terms->id ? terms->id[k] : k;
    if (!status)
        status = bb_allocate(&silo->shared, 2 * clusters * parameters, sizeof(double),
                             "a silo");
    silo->next_shared = silo->shared + clusters * parameters;
    for (size_t k = 0; k < clusters && !status && run->pub.start; k++)
        memcpy(silo->shared + k * parameters, run->pub.start,
               parameters * sizeof *silo->shared);
    if (!status) status = bb_phases_open(&silo->phases, run, silo->shared);
    if (!status) status = bb_run_check_tasks(&silo->phases.run, silo->own);
    if (status)
        bb_silo_close(silo);
    else
        *out = silo;
    return status;
}

void bb_silo_close(bb_silo *silo) {
    if (!silo) return;
    for (size_t w = 0; w < silo->random_open; w++) bb_random_close(&silo->random[w]);
    if (silo->draw_open) bb_random_close(&silo->draw);
    bb_phases_close(&silo->phases);
    bb_writer_close(&silo->offer);
    bb_writer_close(&silo->out);
    bb_writer_close(&silo->hello);
    bb_map_release(&silo->model_at, silo->model);
    bb_map_release(&silo->state_at, silo->state);
    bb_arena_close(&silo->arena);
    free(silo->chunk_first);
    free(silo->shared);
    free(silo->id);
    free(silo);
}

bool bb_silo_give(const bb_silo *silo, bb_bytes *frame) {
    const bb_writer *out = silo->hello_ready ? &silo->hello : &silo->out;
    *frame = (bb_bytes){out->at, out->length};
    return silo->hello_ready || silo->out_ready;
}

void bb_silo_gave(bb_silo *silo) {
    if (silo->hello_ready)
        silo->hello_ready = false;
    else
        silo->out_ready = false;
}

void bb_silo_hello(bb_silo *silo) {
    const bb_frame frame = {.kind = BB_FRAME_HELLO, .silo = silo->number};
    bb_frame_begin(&silo->hello, &frame);
    bb_frame_end(&silo->hello, &silo->stamp);
    silo->hello_ready = !silo->hello.status;
}

void bb_silo_leave(bb_silo *silo) {
    bb_frame frame = {.kind = BB_FRAME_BYE, .silo = silo->number};
    memcpy(frame.run, silo->name, sizeof frame.run);
    bb_frame_begin(&silo->out, &frame);
    bb_frame_end(&silo->out, &silo->stamp);
    silo->out_ready = !silo->out.status;
}

static void put_refusal(bb_writer *out, const bb_frame *frame, const bb_stamp *stamp,
                        const char *why) {
    bb_frame_begin(out, frame);
    bb_put_u64(out, strnlen(why, BB_MOST_REASON));
    bb_put_bytes(out, why, strnlen(why, BB_MOST_REASON));
    bb_frame_end(out, stamp);
}

void bb_silo_put_refusal(bb_silo *silo, const uint8_t run[BB_HASH_BYTES],
                         const char *why) {
    bb_frame frame = {.kind = BB_FRAME_REFUSE, .silo = silo->number};
    memcpy(frame.run, run, sizeof frame.run);
    put_refusal(&silo->out, &frame, &silo->stamp, why);
    silo->out_ready = !silo->out.status;
}

void bb_silo_refuse(bb_writer *out, uint32_t number, const bb_identity *identity,
                    const char *why) {
    const bb_frame frame = {.kind = BB_FRAME_REFUSE, .silo = number};
    const bb_stamp stamp = {.sealed = true, .key = identity ? identity->key : NULL};
    put_refusal(out, &frame, &stamp, why);
}

bb_silo_task bb_silo_result(const bb_silo *silo, size_t k) {
    return (bb_silo_task){.model = silo->model + silo->first[k],
                          .intercept = silo->intercept[k],
                          .objective = silo->objective[k],
                          .gap = silo->gap[k],
                          .asked = silo->asked[k],
                          .failed = silo->failed[k]};
}

void bb_silo_models(const bb_silo *silo, bb_result *result) {
    const size_t own = silo->own;
    bb_map_copy(&result->model_at, result->model, &silo->model_at, silo->model,
                silo->first[own] * sizeof *result->model);
    memcpy(result->intercept, silo->intercept, own * sizeof *result->intercept);
    if (result->asked) memcpy(result->asked, silo->asked, own * sizeof *result->asked);
    result->outcome = (bb_outcome){.converged = true};
    result->failed = 0;
    for (size_t k = 0; k < own; k++) {
        result->outcome.objective += silo->objective[k];
        result->outcome.gap += silo->gap[k];
        result->failed += silo->failed[k];
    }
}

bb_status bb_silo_public(bb_silo *silo, bb_result *result) {
    bb_phases *phases = &silo->phases;
    const bb_public *pub = &bb_silo_run(silo)->pub;
    const size_t last = phases->count - 1, shared = pub->clusters * pub->parameters;
    const bb_status status =
        bb_allocate(&result->shared, shared, sizeof(double), "the models");
    if (status) return status;
    memcpy(result->shared, silo->shared, shared * sizeof *result->shared);
    result->shares =
        phases->starts[last] || phases->part[last].view.method->shared != NULL;
    result->rounds = silo->rounds;
    result->noise_multiplier = isfinite(silo->least_noise) ? silo->least_noise : NAN;
    memcpy(result->billboard_sha256, silo->published, sizeof silo->published);
    result->note = *silo->note ? silo->note : NULL;
    result->plan = phases->plan;
    phases->plan = (bb_plan){0};
    return BB_OK;
}
