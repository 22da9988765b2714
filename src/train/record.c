#include "train/record.h"

#include "base/json.h"
#include "base/memory.h"
#include "core/messages.h"

#include <stdlib.h>
#include <string.h>

static bb_status no_memory(void) {
    return bb_fail(BB_ENOMEM, "no memory for the record of a run");
}

bb_status bb_record_open(bb_record *record, const bb_place_kept *kept, uint32_t silos) {
    const char *began = bb_place_kept_began(kept);
    if (*began)
        snprintf(record->began, sizeof record->began, "%s", began);
    else
        bb_place_time(record->began);
    return silos ? bb_allocate(&record->answered, silos, sizeof *record->answered,
                               "the record of a run")
                 : BB_OK;
}

void bb_record_close(bb_record *record) {
    free(record->answered);
    *record = (bb_record){.began = ""};
}

/* SHA-256 of what all places have agreed on: the same at all of them. */
static bb_status hash_terms(const bb_run *run, char text[BB_HASH_TEXT]) {
    bb_phases phases = {.count = 0};
    bb_writer terms = {0};
    bb_hash hash;
    bb_status status = bb_phases_open(&phases, run, NULL);
    if (!status) bb_put_terms(&terms, &phases);
    if (!status) status = terms.status;
    bb_hash_open(&hash);
    if (!status) bb_hash_add(&hash, terms.at, terms.length);
    bb_hash_text(&hash, text);
    bb_writer_close(&terms);
    bb_phases_close(&phases);
    return status;
}

/* Null: no ledger, or none that was charged. */
static json_t *charge_of(const bb_experiment *e) {
    const long long entry = e->ledger ? bb_ledger_reserved(e->ledger) : 0;
    if (!entry) return json_null();
    return json_pack("{s:s,s:I,s:o,s:o,s:s}", "ledger",
                     e->resolved->request->options.ledger, "entry", (json_int_t)entry,
                     "epsilon", bb_json_real(e->run.pub.epsilon), "delta",
                     bb_json_real(e->run.pub.delta), "adjacency",
                     bb_adjacency_name(e->run.pub.adjacency));
}

static json_t *key_text(const uint8_t key[BB_SIGN_KEY]) {
    char text[BB_SIGN_KEY_TEXT];
    bb_sign_text(key, text);
    return json_string(text);
}

bb_status bb_record_write(const bb_record *record, bb_experiment *e, const char *place,
                          const uint8_t run[BB_HASH_BYTES], uint32_t rounds) {
    const bb_identity *identity = e->resolved->roster->identity;
    char name[BB_HASH_TEXT], terms[BB_HASH_TEXT], ended[BB_PLACE_TIME];
    const bb_status status = hash_terms(&e->run, terms);
    if (status) return status;
    bb_hash_digits(run, BB_HASH_BYTES, name);
    bb_place_time(ended);
    json_decref(e->record);
    e->record =
        json_pack("{s:s,s:s,s:s,s:s,s:s,s:I,s:o,s:o}", "place", place, "run", name,
                  "terms", terms, "began", record->began, "ended", ended, "rounds",
                  (json_int_t)rounds, "charged", charge_of(e), "curator",
                  identity ? key_text(identity->curator) : json_null());
    return e->record ? BB_OK : no_memory();
}

static json_t *silo_json(const bb_record *record, const bb_roster *roster,
                         const bb_curator *core, uint32_t silo) {
    const bb_identity *identity = roster->identity;
    const char *program = bb_curator_program(core, silo);
    return json_pack("{s:I,s:s?,s:o,s:b,s:I,s:s?}", "silo", (json_int_t)silo, "name",
                     roster->silo_name ? roster->silo_name[silo - 1] : NULL, "key",
                     identity ? key_text(identity->silo[silo - 1]) : json_null(),
                     "joined", program != NULL, "rounds_answered",
                     (json_int_t)record->answered[silo - 1], "version", program);
}

bb_status bb_record_add_silos(const bb_record *record, bb_experiment *e,
                              const bb_curator *core) {
    const bb_roster *roster = e->resolved->roster;
    json_t *silos = json_array();
    int failed = !silos;
    for (uint32_t s = 1; s <= roster->silos && !failed; s++)
        failed = json_array_append_new(silos, silo_json(record, roster, core, s));
    if (failed) json_decref(silos);
    if (!failed) failed = json_object_set_new(e->record, "silos", silos);
    return failed ? no_memory() : BB_OK;
}
