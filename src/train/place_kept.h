/* place_kept.h - inside the room: a silo or a curator that survives its process.
 *
 * FILE       what it is and where it stands: core/checkpoint.h, whole or not at all
 * FILE.lock  one process at a time is that place
 *
 * FILE is there before anything is charged, with a token under which a ledger charges the
 * run once. It is PRIVATE. */
#ifndef BB_TRAIN_PLACE_KEPT_H
#define BB_TRAIN_PLACE_KEPT_H

#include "base/lock.h"
#include "base/map.h"
#include "core/wire.h"
#include "privacy/ledger/ledger.h"

#include <jansson.h>

/* Now: UTC, ISO 8601. */
enum { BB_PLACE_TIME = 24 };
void bb_place_time(char text[BB_PLACE_TIME]);

typedef struct bb_place_kept {
    char *path; /* of FILE; NULL: the place is not kept */
    bb_lock lock;
    json_t *about;  /* what FILE says of the place */
    bb_map map;     /* of FILE as it was found; closed: it is new */
    bb_bytes saved; /* in them: where the place stands; empty: it has not begun */
} bb_place_kept;

/* Keeps a place from now on: makes FILE, or takes what it says. `place` is "curator",
 * "silo 2"; `fingerprint` that of its rows, or "". A path of NULL keeps nothing. BB_EUSAGE:
 * another process has FILE, or it is of another place, of other rows, or of another
 * version; BB_EDATA: it is none, or damaged. */
BB_MUST_CHECK bb_status bb_place_kept_open(bb_place_kept *kept, const char *path,
                                           const char *place, const char *fingerprint);
/* The same for whoever only looks: of a FILE that is there it takes what it says, which another
 * process may have, and writes nothing. Not to be charged, or written. */
BB_MUST_CHECK bb_status bb_place_kept_look(bb_place_kept *kept, const char *path,
                                           const char *place, const char *fingerprint);
/* Before rows are read, and writing nothing: whether bb_place_kept_open could keep the place,
 * and bb_place_kept_charge_once find its charge, as far as that does not need its rows.
 * *charged: it would. Errors of both. */
BB_MUST_CHECK bb_status bb_place_kept_check(const char *path, const char *place,
                                            bb_ledger *ledger, bool *charged);
/* The ledger, which may be NULL, charges the place once. over: what FILE keeps is at its
 * end, so that the ledger may know that, too. BB_EUSAGE: FILE says that it was charged, and
 * the ledger does not know, or says that this run is done. */
BB_MUST_CHECK bb_status bb_place_kept_charge_once(const bb_place_kept *kept,
                                                  bb_ledger *ledger, bool over);
/* Writes FILE, durably: where the place stands, and whether the ledger has charged it. */
BB_MUST_CHECK bb_status bb_place_kept_write(bb_place_kept *kept,
                                            const bb_ledger *ledger, bb_bytes place);
/* When FILE was begun; "" without one. */
const char *bb_place_kept_began(const bb_place_kept *kept);
/* The run has ended well, and what came of it is stored. */
void bb_place_kept_remove(bb_place_kept *kept);
void bb_place_kept_close(bb_place_kept *kept); /* what was written stays */

#endif
