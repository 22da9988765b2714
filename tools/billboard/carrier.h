/* carrier.h - carries frames between the processes of silos and their curator: over
 * standard input and output, a Unix socket, or files in a shared folder (docs/silos.md).
 *
 * A message is a frame of billboard.h. On a stream its length comes before it: 8 bytes,
 * little endian. */
#ifndef BILLBOARD_CARRIER_H
#define BILLBOARD_CARRIER_H

#include "cmd.h"

#include <stdint.h>

typedef enum carrier_kind {
    CARRIER_STDIO,
    CARRIER_SOCKET,
    CARRIER_FOLDER
} carrier_kind;

typedef struct carrier_way {
    carrier_kind kind;
    const char *path;                          /* of the socket or folder */
    uint32_t silo;                             /* who this is; 0: the curator */
    uint32_t silos;                            /* of the run */
    void (*say)(void *self, const char *text); /* what whoever runs it should know */
    void *self;
} carrier_way;

typedef enum message_kind {
    MESSAGE_NONE, /* nothing came in time, or a signal */
    MESSAGE_FRAME,
    MESSAGE_REFUSE, /* a frame, of a silo that takes no part, and need not be known */
    MESSAGE_HELLO, /* a frame, of a silo that has begun or has found the curator again */
    MESSAGE_BYE,   /* a frame: a silo has its models, or may go */
    MESSAGE_AGAIN  /* a silo has found the curator, which does not know it yet */
} message_kind;

typedef struct message {
    message_kind kind;
    uint32_t silo;     /* of whom, for a curator; 0: unknown */
    const void *frame; /* the carrier's, until it is asked again */
    size_t size;
} message;

typedef struct carrier carrier;

/* A curator waits for silos at a socket that only its user may open; a silo looks for the
 * curator at the first message. BILLBOARD_FAILED: no such folder, a socket that another
 * process has. */
BILLBOARD_CHECK billboard_status carrier_open(carrier **out, const carrier_way *way);
void carrier_close(carrier *c); /* NULL is allowed */
/* From now on this process, and no other, takes what comes for its place. Before it says anything,
 * and after it has its checkpoint, whose message says more. BILLBOARD_FAILED: another process takes
 * it from the same folder. */
BILLBOARD_CHECK billboard_status carrier_hold(carrier *c);
/* Whether a silo (0: the curator) can be told something now. */
bool carrier_reaches(const carrier *c, uint32_t silo);
/* Takes a copy, which leaves when there is room for it: now or in carrier_receive. */
BILLBOARD_CHECK billboard_status carrier_send(carrier *c, uint32_t silo,
                                              const void *frame, size_t size);
/* The next message, for so many seconds. BILLBOARD_FAILED: standard input has ended. A folder
 * that cannot be read is tried again. */
BILLBOARD_CHECK billboard_status carrier_receive(carrier *c, double seconds,
                                                 message *got);
/* Whoever has sent the last message is the silo that it says: it is told from now on what
 * that silo is told, and speaks for it alone. True: another connection, which is still open, did so
 * before. */
bool carrier_introduce(carrier *c);
/* Whether everything that was sent has left. */
bool carrier_is_empty(const carrier *c);

/* -- inside -- */

/* What these bytes are; from whom, if they say so. MESSAGE_NONE: no message. */
message carrier_read(const unsigned char *bytes, size_t size);

/* How one kind of carrier does it. */
typedef struct carrier_class {
    billboard_status (*hold)(carrier *c); /* NULL: nobody else could take it */
    bool (*reaches)(const carrier *c, uint32_t silo);
    billboard_status (*send)(carrier *c, uint32_t silo, const void *bytes, size_t size);
    billboard_status (*receive)(carrier *c, double seconds, message *got);
    bool (*introduce)(carrier *c);
    bool (*is_empty)(const carrier *c);
    void (*close)(carrier *c);
} carrier_class;

struct carrier {
    const carrier_class *class;
    carrier_way way;
};

/* carrier_socket.c: a Unix socket that only this user may open, for so many connections. */
BILLBOARD_CHECK billboard_status carrier_socket_listen(const char *path,
                                                       uint32_t connections, int *file);
/* A connection to it; -1: nobody is there. */
BILLBOARD_CHECK billboard_status carrier_socket_reach(const char *path, int *file);
BILLBOARD_CHECK billboard_status carrier_stream_open(carrier **out,
                                                     const carrier_way *way);
BILLBOARD_CHECK billboard_status carrier_folder_open(carrier **out,
                                                     const carrier_way *way);

#endif
