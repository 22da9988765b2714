/* account.h - the answer of billboard_account in words (account_say.c). */
#ifndef BILLBOARD_ACCOUNT_H
#define BILLBOARD_ACCOUNT_H

#include "cmd.h"

/* curve: what --curve said. */
void account_say_text(const billboard_answer *price, const char *curve, FILE *stream);

#endif
