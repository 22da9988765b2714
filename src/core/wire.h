/* wire.h - what silos and the curator say to each other, as bytes (docs/wire.md).
 *
 * A frame is a header of fixed size, little endian, and its payload; its meaning depends
 * on nothing that carries it. It may come twice, late, or never: taking it again changes
 * nothing. A frame that leaves the process is sealed: it carries the SHA-256 of all its
 * other bytes, against accidents on the way. Where places have keys it is signed, too; else
 * who sent it is the carrier's to know. */
#ifndef BB_CORE_WIRE_H
#define BB_CORE_WIRE_H

#include "base/hash.h"
#include "base/sign.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BB_WIRE_VERSION = 6, BB_FRAME_HEADER = 200 };

typedef enum bb_frame_kind {
    BB_FRAME_OFFER = 1, /* curator -> silo: what the run is, and its plan */
    BB_FRAME_JOIN,  /* silo -> curator: which tasks are its own; agrees to the offer */
    BB_FRAME_ROUND, /* curator -> silo: what is asked, the billboard, who is picked */
    BB_FRAME_SUM,   /* silo -> curator: sums of its tasks' contributions */
    BB_FRAME_END,   /* curator -> silo: the last billboard of a phase */
    BB_FRAME_STOP,  /* curator -> silo: the run has ended early, and why */
    BB_FRAME_HELLO, /* silo -> curator: it is there, and is to be given what it is due */
    BB_FRAME_REFUSE, /* silo -> curator: it does not take part, and why */
    BB_FRAME_BYE,    /* silo -> curator: it has stored its models, and needs nothing;
                        curator -> silo: so it has been told */
    BB_FRAME_SEEDS /* curator -> helper, which is one silo more: what was asked, of whom
                        there are shares, and their sealed seeds. Its SUM answers */
} bb_frame_kind;

/* Why a run has ended early: public. */
typedef enum bb_stop {
    BB_STOP_CANCELLED = 1, /* whoever runs it wants so */
    BB_STOP_BUDGET,        /* a ledger refused */
    BB_STOP_SILOS,         /* too few silos answer */
    BB_STOP_FAILED,        /* the curator cannot go on */
    BB_STOP_LATE,          /* it has begun without this silo */
    BB_STOP_TAKEN          /* another silo has a task of this one's */
} bb_stop;
enum { BB_MOST_REASON = 300 }; /* bytes of why a silo refuses */
enum { BB_PROGRAM_TEXT = 40 }; /* the version of a silo's program, and its end */
/* What a frame of another run gets from a silo or a helper (`place') that is in one already, kept
 * in this file (NULL: in none). BB_EDATA. */
BB_MUST_CHECK bb_status bb_fail_other_run(const char *what, const char *place,
                                          const char *checkpoint);
/* What a place has kept, in this file (NULL: they are bytes of its caller's), is not of the run
 * that it is to go on with, as `why' says behind the file's name. BB_EUSAGE, with what to do. */
BB_MUST_CHECK bb_status bb_fail_kept(const char *file, const char *why);
/* In words; of a number that is no reason, too. */
const char *bb_stop_text(uint32_t why);

typedef struct bb_bytes {
    const uint8_t *at;
    size_t length;
} bb_bytes;

typedef struct bb_frame {
    bb_frame_kind kind;
    uint8_t run[BB_HASH_BYTES];     /* SHA-256 of the offer's payload */
    uint32_t phase, round, attempt; /* 0, 1, ...; 1, 2, ... of the run; 1, 2, ... */
    uint32_t silo;                  /* 1, 2, ...: of whom, or for whom */
    const uint8_t *start;           /* BB_HASH_BYTES, read: see bb_stamp */
    bb_bytes payload;
} bb_frame;

/* How a frame is ended that leaves the process. */
typedef struct bb_stamp {
    bool sealed;
    const uint8_t *key; /* PRIVATE: signed with it; NULL: not signed */
    /* Which start of the silo's process it is from or for, 32 bytes that the silo has drawn:
     * what a curator signed for another one is none for it. Zeros where nothing is signed. */
    uint8_t start[BB_HASH_BYTES];
} bb_stamp;

/* Who signs at a place, and whose signatures it takes. */
typedef struct bb_identity {
    uint8_t key[BB_SIGN_KEY];      /* PRIVATE: its own */
    uint8_t curator[BB_SIGN_KEY];  /* public */
    uint8_t (*silo)[BB_SIGN_KEY];  /* silos of the run: public */
    bool has_helper;               /* who keeps the second of two doors, */
    uint8_t helper[BB_SIGN_KEY];   /* and its key: public */
    uint8_t roster[BB_HASH_BYTES]; /* SHA-256 of what the signed roster says */
} bb_identity;

/* BB_EDATA: no frame, one of another version or kind, longer or shorter than it says,
 * or its seal is broken or missing. frame->payload is borrowed from `bytes`. */
BB_MUST_CHECK bb_status bb_frame_read(bb_bytes bytes, bool sealed, bb_frame *frame);
/* Whether the owner of the key has signed it, which `whose` says in messages; the bytes
 * have been read, sealed. BB_EDATA. */
BB_MUST_CHECK bb_status bb_frame_check_signature(bb_bytes bytes,
                                                 const uint8_t key[BB_SIGN_KEY],
                                                 const char *whose);
/* Whether the curator has signed it, and for this start of the place's process, which is a
 * `place` in messages: what it said to an earlier one may be played to this one by somebody
 * else. The bytes have been read, sealed. BB_EDATA. */
BB_MUST_CHECK bb_status bb_frame_check_curator(bb_bytes bytes, const bb_frame *frame,
                                               const bb_identity *identity,
                                               const bb_stamp *stamp,
                                               const char *place);

/* Bytes that grow as they are written. What could not be added (no memory) makes it
 * fail for good: `status` says so. */
typedef struct bb_writer {
    uint8_t *at;
    size_t length, room;
    bb_status status;
} bb_writer;

/* Takes memory beforehand, so that `room` bytes in all cannot fail. */
BB_MUST_CHECK bb_status bb_writer_reserve(bb_writer *writer, size_t room);
void bb_writer_close(bb_writer *writer);
/* So many more bytes, to be written at once; NULL if the writer fails. */
uint8_t *bb_put(bb_writer *writer, size_t size);
void bb_put_bytes(bb_writer *writer, const void *bytes, size_t size);
void bb_put_u32(bb_writer *writer, uint32_t value);
void bb_put_u64(bb_writer *writer, uint64_t value);
void bb_put_double(bb_writer *writer, double value);
void bb_put_doubles(bb_writer *writer, const double *value, size_t count);
void bb_put_integers(bb_writer *writer, const int64_t *value, size_t count);
void bb_put_text(bb_writer *writer, const char *text); /* length, bytes */

/* Begins a frame in an empty writer: its payload follows. */
void bb_frame_begin(bb_writer *writer, const bb_frame *frame);
/* Its last step: length and, if asked for, seal and signature. NULL: neither. */
void bb_frame_end(bb_writer *writer, const bb_stamp *stamp);

/* Makes a finished frame one of another attempt. */
void bb_frame_again(bb_writer *writer, uint32_t attempt, const bb_stamp *stamp);

/* Bytes that are read from front to back. What is not there reads as zero and makes it
 * bad for good: whoever reads asks bb_read_all at the end. */
typedef struct bb_reader {
    const uint8_t *at;
    size_t left;
    bool bad;
} bb_reader;

bb_reader bb_reader_of(bb_bytes bytes);
/* So many bytes, borrowed; NULL if they are not there. */
const uint8_t *bb_get(bb_reader *reader, size_t size);
uint32_t bb_get_u32(bb_reader *reader);
uint64_t bb_get_u64(bb_reader *reader);
double bb_get_double(bb_reader *reader);
void bb_get_doubles(bb_reader *reader, double *value, size_t count);
/* One of an array of 8-byte numbers that bb_get returned. */
int64_t bb_integer_at(const uint8_t *at, size_t k);
double bb_double_at(const uint8_t *at, size_t k);
/* A double's 64 bits, as one of its 8-byte numbers. */
int64_t bb_bits_of(double value);
/* BB_EDATA, with what the bytes should have been, unless every byte was read and none
 * was missing. */
BB_MUST_CHECK bb_status bb_read_all(const bb_reader *reader, const char *what);

#endif
