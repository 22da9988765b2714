/* page.h - a page on this machine that shows how far a curator is (docs/silos.md): what is
 * public of the run, and what has gone wrong last. */
#ifndef BILLBOARD_PAGE_H
#define BILLBOARD_PAGE_H

#include "place.h"

typedef struct page page;

/* Serves it from now on, from a thread of its own, at p->page on loopback, and says where
 * on stderr; without p->page *out stays NULL, which the other functions take.
 * BILLBOARD_FAILED: the port is not to be had, or there is no libmicrohttpd. */
BILLBOARD_CHECK billboard_status page_open(page **out, place *p);
/* Shows what is known now; does nothing if that was a moment ago. Never waits for a
 * reader. */
void page_show(page *shown, const billboard_experimental_curator *curator,
               const carrier *c);
/* Something of this silo (0: of none; the helper is the last) was left out, and why; or it takes no part. */
void page_failed(page *shown, uint32_t silo, bool refuses, const char *why);
/* This silo has come when the run had begun without it, and takes no part. */
void page_too_late(page *shown, uint32_t silo);
void page_close(page *shown);

/* -- inside: who answers browsers (page_server.c; page_none.c where the library is not) -- */

typedef struct page_server page_server;

/* On loopback only; *port 0: a free one, which is written there. */
BILLBOARD_CHECK billboard_status page_server_open(page_server **out, unsigned *port);
/* What it answers from now on: takes over both texts. */
void page_server_show(page_server *server, char *status, char *metrics);
void page_server_close(page_server *server); /* NULL is allowed */

#endif
