/* account.h - the answer of billboard_account in words (account_say.c). */
#ifndef BILLBOARD_ACCOUNT_H
#define BILLBOARD_ACCOUNT_H

#include "cmd.h"

enum { ACCOUNT_NUMBER_BYTES = 32 };
/* Six significant digits, rounded so that the claim stays true: up, or
 * down. Returns text, of ACCOUNT_NUMBER_BYTES. */
const char *account_up(double value, char *text);
const char *account_down(double value, char *text);

/* The curve of a price: what --curve said, and what its rows have, by the answer's names. */
typedef struct account_curve {
    const char *of, *x, *y;
    size_t count; /* 0: there is none */
} account_curve;
account_curve account_curve_of(const billboard_answer *price, const char *of);
/* A number of row k, "x_lower" for name "x" and lower; INFINITY: no bound, NAN: not
 * known. */
double account_curve_at(const billboard_answer *price, size_t k, const char *name,
                        bool lower);

void account_say_text(const billboard_answer *price, const char *curve, FILE *stream);

#endif
