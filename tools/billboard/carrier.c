#include "carrier.h"

#include <string.h>

/* A frame (docs/wire.md) begins with its mark, and says at 56 whose it is. */
enum { SILO_AT = 56 };
static const char frame_mark[] = "BBBF", hello_mark[] = "BBHI", bye_mark[] = "BBBY";

static uint32_t u32_at(const unsigned char *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
           (uint32_t)at[3] << 24;
}

message carrier_read(const unsigned char *bytes, size_t size) {
    message m = {.kind = MESSAGE_NONE, .frame = bytes, .size = size};
    if (size >= CARRIER_HEADER && memcmp(bytes, frame_mark, 4) == 0) {
        m.kind = MESSAGE_FRAME;
        m.silo = u32_at(bytes + SILO_AT);
    } else if (size == CARRIER_WORD && u32_at(bytes + 4) == 1) {
        if (memcmp(bytes, hello_mark, 4) == 0) m.kind = MESSAGE_HELLO;
        if (memcmp(bytes, bye_mark, 4) == 0) m.kind = MESSAGE_BYE;
        m.silo = u32_at(bytes + 8);
    }
    return m;
}

void carrier_write_word(message_kind word, uint32_t silo,
                        unsigned char bytes[CARRIER_WORD]) {
    memset(bytes, 0, CARRIER_WORD);
    memcpy(bytes, word == MESSAGE_HELLO ? hello_mark : bye_mark, 4);
    bytes[4] = 1; /* version */
    for (int k = 0; k < 4; k++) bytes[8 + k] = (unsigned char)(silo >> (8 * k));
}

billboard_status carrier_open(carrier **out, const carrier_way *way) {
    return way->kind == CARRIER_FOLDER ? carrier_folder_open(out, way)
                                       : carrier_stream_open(out, way);
}

void carrier_close(carrier *c) {
    if (c) c->class->close(c);
}

bool carrier_reaches(const carrier *c, uint32_t silo) {
    return c->class->reaches(c, silo);
}

billboard_status carrier_send(carrier *c, uint32_t silo, const void *frame,
                              size_t size) {
    return c->class->send(c, silo, frame, size);
}

billboard_status carrier_say(carrier *c, message_kind word) {
    unsigned char bytes[CARRIER_WORD];
    carrier_write_word(word, c->way.silo, bytes);
    return c->class->send(c, 0, bytes, sizeof bytes);
}

billboard_status carrier_receive(carrier *c, double seconds, message *got) {
    *got = (message){.kind = MESSAGE_NONE};
    return c->class->receive(c, seconds, got);
}

bool carrier_is_empty(const carrier *c) {
    return c->class->is_empty(c);
}
