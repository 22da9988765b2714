/* record.h - inside the room: what a place of a run in several places writes down of it,
 * operator/record.json. It is for the place's own operator: nothing of it is sent, and nothing
 * in it is learned from rows. */
#ifndef BB_TRAIN_RECORD_H
#define BB_TRAIN_RECORD_H

#include "core/curator.h"
#include "train/experiment.h"
#include "train/place_kept.h"

/* What a place writes down from its beginning on. */
typedef struct bb_record {
    char began[BB_PLACE_TIME]; /* UTC, ISO 8601 */
    uint32_t *answered;        /* a curator's: silos: in so many rounds; else NULL */
} bb_record;

/* Begins, or goes on as the checkpoint has it. `silos`: of a curator, else 0. */
BB_MUST_CHECK bb_status bb_record_open(bb_record *record, const bb_place_kept *kept,
                                       uint32_t silos);
void bb_record_close(bb_record *record); /* takes a zeroed one, too */
/* e->record <- what every place writes: the run's name, dates, terms, what the ledger has
 * charged, who conducts. `place` as in bb_place_kept_open. */
BB_MUST_CHECK bb_status bb_record_write(const bb_record *record, bb_experiment *e,
                                        const char *place,
                                        const uint8_t run[BB_HASH_BYTES],
                                        uint32_t rounds);
/* Adds who took part, to a curator's. */
BB_MUST_CHECK bb_status bb_record_add_silos(const bb_record *record, bb_experiment *e,
                                            const bb_curator *core);

#endif
