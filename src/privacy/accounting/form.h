/* form.h - how what tasks show becomes a sum, and how far one task can move that sum.
 */
#ifndef BB_PRIVACY_FORM_H
#define BB_PRIVACY_FORM_H

#include "privacy/accounting/accountant.h"

/* How a block is summed; the form fixes the sensitivity r, in units U:
 *
 * form       a task shows               the sum over tasks is       U    r: add-remove
 *                                                                        replace-one
 * vector     v, ||v||_2 <= C            sum v (length)              C    1    2
 * slot       v, ||v||_2 <= C            v of each task (m x length) C    1    2
 * square     v, ||v||_2 <= C            sum v o v (length)          C^2  1    sqrt 2
 * psd        A (length^2) p.s.d., ||A||_F <= C     sum A            C    1    sqrt 2
 * outer      v, ||v||_2 <= C            sum v v' (length^2)         C^2  1    sqrt 2
 *
 * selection: scores in [0, 1], one for each of `length` candidates; only the winner is
 * published, with a pure epsilon. Why: docs/privacy.md, "The door". */
typedef enum bb_form {
    BB_FORM_VECTOR,
    BB_FORM_SLOT,
    BB_FORM_SQUARE,
    BB_FORM_PSD,
    BB_FORM_OUTER,
    BB_FORM_SELECTION
} bb_form;

const char *bb_form_name(bb_form form); /* "vector", ... */
/* r of the table; not for selections. */
double bb_form_sensitivity(bb_form form, bb_adjacency adjacency);

#endif
