#include "core/wire.h"

#include "base/memory.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* Where in the header. Behind the signature comes the payload. */
enum {
    AT_MAGIC = 0,
    AT_VERSION = 4,
    AT_KIND = 8,
    AT_RUN = 12,
    AT_PHASE = 44,
    AT_ROUND = 48,
    AT_ATTEMPT = 52,
    AT_SILO = 56,
    AT_SEALED = 60,
    AT_LENGTH = 64,
    AT_SEAL = 72,
    AT_START = 104,
    AT_SIGNATURE = 136
};
enum { OPEN, SEALED, SIGNED };            /* what AT_SEALED says */
static const uint32_t magic = 0x46424242; /* "BBBF" */

/* -- writing -- */

bb_status bb_writer_reserve(bb_writer *writer, size_t room) {
    return bb_grow(&writer->at, &writer->room, room, 1, "a frame");
}

void bb_writer_close(bb_writer *writer) {
    free(writer->at);
    *writer = (bb_writer){0};
}

uint8_t *bb_put(bb_writer *writer, size_t size) {
    if (size > SIZE_MAX / 2 - writer->length)
        writer->status = bb_fail(BB_ENOMEM, "a frame is longer than memory");
    else if (!writer->status && writer->length + size > writer->room)
        writer->status = bb_writer_reserve(writer, writer->length + size);
    if (writer->status) return NULL;
    writer->length += size;
    return writer->at + writer->length - size;
}

void bb_put_bytes(bb_writer *writer, const void *bytes, size_t size) {
    uint8_t *at = bb_put(writer, size);
    if (at && size) memcpy(at, bytes, size);
}

static void write_u32(uint8_t *at, uint32_t value) {
    value = htole32(value);
    memcpy(at, &value, sizeof value);
}

static void write_u64(uint8_t *at, uint64_t value) {
    value = htole64(value);
    memcpy(at, &value, sizeof value);
}

void bb_put_u32(bb_writer *writer, uint32_t value) {
    uint8_t *at = bb_put(writer, sizeof value);
    if (at) write_u32(at, value);
}

void bb_put_u64(bb_writer *writer, uint64_t value) {
    uint8_t *at = bb_put(writer, sizeof value);
    if (at) write_u64(at, value);
}

void bb_put_double(bb_writer *writer, double value) {
    bb_put_doubles(writer, &value, 1);
}

/* `words`: count numbers of 8 bytes. */
static void put_words(bb_writer *writer, const void *words, size_t count) {
    uint8_t *at = bb_put(writer, 8 * count);
    for (size_t k = 0; at && k < count; k++) {
        uint64_t word;
        memcpy(&word, (const char *)words + 8 * k, sizeof word);
        write_u64(at + 8 * k, word);
    }
}

void bb_put_doubles(bb_writer *writer, const double *value, size_t count) {
    put_words(writer, value, count);
}

void bb_put_integers(bb_writer *writer, const int64_t *value, size_t count) {
    put_words(writer, value, count);
}

void bb_put_text(bb_writer *writer, const char *text) {
    bb_put_u64(writer, strlen(text));
    bb_put_bytes(writer, text, strlen(text));
}

bb_status bb_fail_other_run(const char *what, const char *place,
                            const char *checkpoint) {
    static const char other[] = "of another run than the one that this";
    if (!checkpoint)
        return bb_fail(BB_EDATA, "%s %s %s takes part in", what, other, place);
    return bb_fail(BB_EDATA,
                   "%s %s %s takes part in: remove %s to take part in another", what,
                   other, place, checkpoint);
}

bb_status bb_fail_kept(const char *file, const char *why) {
    if (!file) return bb_fail(BB_EUSAGE, "what was saved %s", why);
    return bb_fail(BB_EUSAGE,
                   "%s: %s: give this plan another --checkpoint, or remove the file",
                   file, why);
}

const char *bb_stop_text(uint32_t why) {
    switch (why) {
    case BB_STOP_CANCELLED:
        return "it was cancelled";
    case BB_STOP_BUDGET:
        return "the privacy budget does not allow it";
    case BB_STOP_SILOS:
        return "too few silos answer";
    case BB_STOP_FAILED:
        return "the curator cannot go on";
    case BB_STOP_LATE:
        return "it has begun without this silo";
    case BB_STOP_TAKEN:
        return "another silo has joined with a task of this silo's; the curator's own "
               "log says which";
    default:
        return "no known reason was given";
    }
}

void bb_frame_begin(bb_writer *writer, const bb_frame *frame) {
    writer->length = 0;
    uint8_t *at = bb_put(writer, BB_FRAME_HEADER);
    if (!at) return;
    memset(at, 0, BB_FRAME_HEADER);
    write_u32(at + AT_MAGIC, magic);
    write_u32(at + AT_VERSION, BB_WIRE_VERSION);
    write_u32(at + AT_KIND, frame->kind);
    memcpy(at + AT_RUN, frame->run, BB_HASH_BYTES);
    write_u32(at + AT_PHASE, frame->phase);
    write_u32(at + AT_ROUND, frame->round);
    write_u32(at + AT_ATTEMPT, frame->attempt);
    write_u32(at + AT_SILO, frame->silo);
}

/* Of everything but the seal and what signs it. */
static void seal_of(const uint8_t *at, size_t length, uint8_t seal[BB_HASH_BYTES]) {
    bb_hash hash;
    bb_hash_open(&hash);
    bb_hash_add(&hash, at, AT_SEAL);
    bb_hash_add(&hash, at + AT_START, AT_SIGNATURE - AT_START);
    bb_hash_add(&hash, at + BB_FRAME_HEADER, length - BB_FRAME_HEADER);
    bb_hash_digest(&hash, seal);
}

/* What is signed: that it is a frame, of which version, and its seal, which covers the run
 * (terms, plan and nonce), kind, phase, round, attempt, silo, start and payload. */
enum { SIGNED_BYTES = 16 + 4 + BB_HASH_BYTES };
static void signed_of(const uint8_t *at, uint8_t bytes[SIGNED_BYTES]) {
    static const char context[16] = "billboard frame";
    memcpy(bytes, context, sizeof context);
    write_u32(bytes + sizeof context, BB_WIRE_VERSION);
    memcpy(bytes + sizeof context + 4, at + AT_SEAL, BB_HASH_BYTES);
}

void bb_frame_end(bb_writer *writer, const bb_stamp *stamp) {
    static const bb_stamp none = {.sealed = false};
    const bb_stamp *s = stamp ? stamp : &none;
    uint8_t *at = writer->at, bytes[SIGNED_BYTES];
    if (writer->status) return;
    write_u32(at + AT_SEALED, s->key ? SIGNED : (uint32_t)s->sealed);
    write_u64(at + AT_LENGTH, writer->length - BB_FRAME_HEADER);
    memcpy(at + AT_START, s->start, sizeof s->start);
    if (s->sealed) seal_of(at, writer->length, at + AT_SEAL);
    if (!s->key) return;
    signed_of(at, bytes);
    writer->status = bb_sign(s->key, bytes, sizeof bytes, at + AT_SIGNATURE);
}

void bb_frame_again(bb_writer *writer, uint32_t attempt, const bb_stamp *stamp) {
    write_u32(writer->at + AT_ATTEMPT, attempt);
    bb_frame_end(writer, stamp);
}

/* -- reading -- */

bb_reader bb_reader_of(bb_bytes bytes) {
    /* NULL only ever means that bytes are missing */
    static const uint8_t nothing[1];
    return (bb_reader){.at = bytes.at ? bytes.at : nothing, .left = bytes.length};
}

const uint8_t *bb_get(bb_reader *reader, size_t size) {
    if (reader->bad || size > reader->left) {
        reader->bad = true;
        return NULL;
    }
    const uint8_t *at = reader->at;
    reader->at += size;
    reader->left -= size;
    return at;
}

static uint32_t read_u32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return le32toh(value);
}

static uint64_t read_u64(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return le64toh(value);
}

int64_t bb_integer_at(const uint8_t *at, size_t k) {
    return (int64_t)read_u64(at + 8 * k);
}

double bb_double_at(const uint8_t *at, size_t k) {
    const uint64_t word = read_u64(at + 8 * k);
    double value;
    memcpy(&value, &word, sizeof value);
    return value;
}

int64_t bb_bits_of(double value) {
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint32_t bb_get_u32(bb_reader *reader) {
    const uint8_t *at = bb_get(reader, sizeof(uint32_t));
    return at ? read_u32(at) : 0;
}

uint64_t bb_get_u64(bb_reader *reader) {
    const uint8_t *at = bb_get(reader, sizeof(uint64_t));
    return at ? read_u64(at) : 0;
}

double bb_get_double(bb_reader *reader) {
    const uint8_t *at = bb_get(reader, sizeof(double));
    return at ? bb_double_at(at, 0) : 0.0;
}

void bb_get_doubles(bb_reader *reader, double *value, size_t count) {
    const uint8_t *at = count <= reader->left / 8 ? bb_get(reader, 8 * count)
                                                  : bb_get(reader, SIZE_MAX);
    for (size_t k = 0; at && k < count; k++) value[k] = bb_double_at(at, k);
}

bb_status bb_read_all(const bb_reader *reader, const char *what) {
    if (!reader->bad && reader->left == 0) return BB_OK;
    return bb_fail(BB_EDATA, "%s: it %s", what,
                   reader->bad ? "ends too early" : "is longer than it should be");
}

static bool is_signed_or_zero(const uint8_t *at) {
    static const uint8_t none[BB_SIGN_BYTES];
    return read_u32(at + AT_SEALED) == SIGNED ||
           memcmp(at + AT_SIGNATURE, none, sizeof none) == 0;
}

bb_status bb_frame_read(bb_bytes bytes, bool sealed, bb_frame *frame) {
    uint8_t seal[BB_HASH_BYTES];
    if (bytes.length < AT_KIND || read_u32(bytes.at + AT_MAGIC) != magic)
        return bb_fail(BB_EDATA, "no frame: %zu bytes that do not begin like one",
                       bytes.length);
    const uint32_t version = read_u32(bytes.at + AT_VERSION);
    if (version != BB_WIRE_VERSION)
        return bb_fail(BB_EDATA,
                       "a frame of version %u; this program speaks %d: all places need "
                       "the same Billboard",
                       version, BB_WIRE_VERSION);
    if (bytes.length < BB_FRAME_HEADER)
        return bb_fail(BB_EDATA, "a frame of %zu bytes, which has no header",
                       bytes.length);
    const uint32_t kind = read_u32(bytes.at + AT_KIND);
    if (kind < BB_FRAME_OFFER || kind > BB_FRAME_SEEDS)
        return bb_fail(BB_EDATA, "a frame of kind %u, which is none", kind);
    if (read_u64(bytes.at + AT_LENGTH) != bytes.length - BB_FRAME_HEADER)
        return bb_fail(BB_EDATA, "a frame of %zu bytes that says it has %llu",
                       bytes.length - BB_FRAME_HEADER,
                       (unsigned long long)read_u64(bytes.at + AT_LENGTH));
    if (sealed && read_u32(bytes.at + AT_SEALED) == OPEN)
        return bb_fail(BB_EDATA, "a frame without a seal");
    if (sealed && !is_signed_or_zero(bytes.at))
        return bb_fail(BB_EDATA,
                       "a frame without a signature, where it has some bytes");
    if (sealed) seal_of(bytes.at, bytes.length, seal);
    if (sealed && memcmp(seal, bytes.at + AT_SEAL, sizeof seal) != 0)
        return bb_fail(BB_EDATA, "a frame whose SHA-256 is not that of its bytes");
    *frame = (bb_frame){
        .kind = (bb_frame_kind)kind,
        .phase = read_u32(bytes.at + AT_PHASE),
        .round = read_u32(bytes.at + AT_ROUND),
        .attempt = read_u32(bytes.at + AT_ATTEMPT),
        .silo = read_u32(bytes.at + AT_SILO),
        .start = bytes.at + AT_START,
        .payload = {bytes.at + BB_FRAME_HEADER, bytes.length - BB_FRAME_HEADER}};
    memcpy(frame->run, bytes.at + AT_RUN, sizeof frame->run);
    return BB_OK;
}

bb_status bb_frame_check_signature(bb_bytes bytes, const uint8_t key[BB_SIGN_KEY],
                                   const char *whose) {
    uint8_t said[SIGNED_BYTES];
    if (read_u32(bytes.at + AT_SEALED) != SIGNED)
        return bb_fail(BB_EDATA,
                       "a frame that is not signed: by the roster %s signs its frames",
                       whose);
    signed_of(bytes.at, said);
    if (bb_sign_holds(key, said, sizeof said, bytes.at + AT_SIGNATURE)) return BB_OK;
    return bb_fail(BB_EDATA, "a frame that is not signed with the key of %s", whose);
}

bb_status bb_frame_check_curator(bb_bytes bytes, const bb_frame *frame,
                                 const bb_identity *identity, const bb_stamp *stamp,
                                 const char *place) {
    const bb_status status =
        bb_frame_check_signature(bytes, identity->curator, "the curator");
    if (status || memcmp(frame->start, stamp->start, BB_HASH_BYTES) == 0) return status;
    return bb_fail(BB_EDATA,
                   "a frame for an earlier start of this %s, or a replay: "
                   "the curator has not signed it for this one",
                   place);
}
