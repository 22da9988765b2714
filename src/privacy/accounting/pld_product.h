/* pld_product.h - the product of two lists of losses, cut into cells; private to pld*.c. */
#ifndef BB_PRIVACY_PLD_PRODUCT_H
#define BB_PRIVACY_PLD_PRODUCT_H

#include "privacy/accounting/pld_discrete.h"

/* A product while it is made. Cell k is between node[k] and node[k + 1]; `deficit` is the
 * sum of mass (node[k] - ratio) in it. */
typedef struct bb_product {
    bb_bound bound;
    size_t cells;
    double *node, *mass, *deficit;
    double *tail; /* the mass of the second list from an atom on */
    double error; /* relative, of the sums */
    double work, work_most;
} bb_product;

BB_MUST_CHECK bb_status bb_product_room(bb_product *p);
void bb_product_close(bb_product *p);

/* *out, which has room, is a times b; both may be the same. Whether the list fits, and
 * p->work, which grows, is not more than there may be. */
bool bb_product_multiply(bb_product *p, const bb_discrete_pld *a,
                         const bb_discrete_pld *b, const bb_discrete_pld_plan *plan,
                         bb_discrete_pld *out);
/* Takes off both ends what hardly has mass: above, for infinite and for the least loss
 * kept. */
void bb_discrete_pld_prune(bb_discrete_pld *a, bb_bound bound,
                           const bb_discrete_pld_plan *plan);

#endif
