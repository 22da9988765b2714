/* helper.h - the second of two doors: whoever keeps it need not be trusted with anything, and
 * with it nobody need trust the curator alone (docs/two-doors.md).
 *
 * It has no rows, no billboard and no sums, only the seeds of shares (share.h). Of each round
 * it adds up the streams of the silos that the curator has counted, adds its own noise, as
 * much as the plan asks for, and says that sum, once: asked again it says the same bytes, and
 * nothing to another question about the same round. Like a silo it reads no clock, opens no
 * file but the run's ledger, and waits for nothing. */
#ifndef BB_CORE_HELPER_H
#define BB_CORE_HELPER_H

#include "core/run.h"
#include "core/wire.h"

typedef struct bb_helper bb_helper;

typedef struct bb_helper_terms {
    const bb_run
        *run;        /* what the helper agrees to; its ledger is charged with the plan,
                          when the first round comes. Borrowed */
    uint32_t silos;  /* of the run */
    uint32_t fewest; /* that every round needs; 0: all */
    const char *checkpoint; /* that it is kept in, for messages; NULL: none. Borrowed */
    const bb_identity *identity; /* has_helper; borrowed */
} bb_helper_terms;

typedef enum bb_helper_state {
    BB_HELPER_WAITING, /* for a frame */
    BB_HELPER_DONE,    /* the run is over */
    BB_HELPER_FAILED,  /* some call failed, and every further one will */
    BB_HELPER_STOPPED  /* the curator has ended the run early */
} bb_helper_state;

/* Draws this run's key. BB_EUSAGE: a run that makes no sense, or has one door only, or no
 * helper in its roster. */
BB_MUST_CHECK bb_status bb_helper_open(bb_helper **out, const bb_helper_terms *terms);
void bb_helper_close(bb_helper *helper); /* NULL is allowed */

/* Takes a frame of the curator's, and answers it. *news: whether it told anything new. The
 * offer must be of the run that was agreed to, with as much noise as a plan made here, and the
 * ledger must have room for it, which is charged with the first round. BB_EDATA: no frame for this helper now, seeds that do not open, or a
 * question that this plan does not have; BB_EUSAGE: a round that was answered already, with
 * another question, or fewer silos than agreed on; nothing changed. BB_EBUDGET: the ledger
 * refused. BB_EINTERRUPTED: the curator has ended the run early. */
BB_MUST_CHECK bb_status bb_helper_take(bb_helper *helper, bb_bytes frame, bool *news);
bb_helper_state bb_helper_now(const bb_helper *helper);
/* Whether its part is over before the end, so that nothing goes on from what it saves: it has
 * refused the offer, or its ledger the run, or the curator has ended that. */
bool bb_helper_is_out(const bb_helper *helper);
/* The run's, once it has joined. */
const uint8_t *bb_helper_name(const bb_helper *helper);
/* Rounds that it has answered. */
uint32_t bb_helper_rounds(const bb_helper *helper);
/* The frame for the curator, if there is one; as bb_silo_give, and so are the others. */
bool bb_helper_give(const bb_helper *helper, bb_bytes *frame);
void bb_helper_gave(bb_helper *helper);
void bb_helper_hello(bb_helper *helper);
void bb_helper_leave(bb_helper *helper);

/* PRIVATE bytes, appended: this run's key, and the last answer. To be stored before the
 * answer is given: one that goes on from older bytes could answer a round twice. */
void bb_helper_save(const bb_helper *helper, bb_writer *bytes);
/* Into one opened with the same terms; nothing is charged again. It has failed then: BB_EUSAGE:
 * bytes of another run; BB_EDATA: no saved helper. */
BB_MUST_CHECK bb_status bb_helper_restore(bb_helper *helper, bb_bytes saved);

#endif
