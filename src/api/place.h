/* place.h - inside the room: what a silo and a curator of billboard.h begin with. */
#ifndef BB_API_PLACE_H
#define BB_API_PLACE_H

#include "api/job.h"
#include "core/wire.h"
#include "train/roster.h"

struct billboard_experimental_identity {
    bb_identity own;
};

typedef struct bb_api_place {
    billboard_result
        *result; /* its request, and at the end all of it; NULL: given away */
    bb_roster roster;
    billboard_watch watch; /* a copy of the caller's, */
    bb_watch watching;     /* as runs have it */
    bb_writer saved;
} bb_api_place;

/* It must not be moved. Closed with bb_api_place_close also after a failure. */
BB_MUST_CHECK bb_status bb_api_place_open(bb_api_place *place, const billboard_job *job,
                                          const billboard_experimental_roster *roster,
                                          const billboard_watch *watch);
void bb_api_place_close(bb_api_place *place);
/* Hands the result over, with what training found; takes that over, also on failure. */
BB_MUST_CHECK bb_status bb_api_place_result(bb_api_place *place, bb_training *training,
                                            billboard_result **result);
/* A call at whose end ledgers' waiting is not told any more. */
BB_MUST_CHECK bb_status bb_api_place_begin(bb_call *call, bb_api_place *place);
billboard_status bb_api_place_end(bb_call *call, bb_status status);

/* What every opening is given, `what` it opens. BB_EUSAGE: one is NULL. */
BB_MUST_CHECK bb_status bb_api_place_given(const billboard_job *job,
                                           const billboard_experimental_roster *roster,
                                           const void *out, const char *what,
                                           const char *function);

/* Whether a policy names what there is: methods, adjacencies, public keys. BB_EUSAGE. */
BB_MUST_CHECK bb_status
bb_api_policy_check(const billboard_experimental_policy *policy);
/* Bytes from outside. BB_EUSAGE: NULL with a size. */
BB_MUST_CHECK bb_status bb_api_bytes(const void *at, size_t size, const char *function,
                                     bb_bytes *bytes);
/* Begins a call that hands bytes over, at *at and *size. BB_EUSAGE: one is NULL. */
BB_MUST_CHECK bb_status bb_api_begin_bytes(bb_call *call, const void **at, size_t *size,
                                           const char *at_is, const char *function);
/* A frame to be given, or that there is none. */
void bb_api_frame(bb_bytes frame, bool there, const void **at, size_t *size);

#endif
