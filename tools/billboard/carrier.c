#include "carrier.h"

#include <string.h>

/* A frame (docs/wire.md) begins with its mark, and says where what it is, and whose. */
enum { KIND_AT = 8, SILO_AT = 56, HELLO = 7, REFUSE, BYE };
static const char frame_mark[] = "BBBF";

static uint32_t u32_at(const unsigned char *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
           (uint32_t)at[3] << 24;
}

message carrier_read(const unsigned char *bytes, size_t size) {
    message m = {.kind = MESSAGE_NONE, .frame = bytes, .size = size};
    if (size < SILO_AT + 4 || memcmp(bytes, frame_mark, 4) != 0) return m;
    const uint32_t kind = u32_at(bytes + KIND_AT);
    m.kind = MESSAGE_FRAME;
    if (kind == HELLO) m.kind = MESSAGE_HELLO;
    if (kind == REFUSE) m.kind = MESSAGE_REFUSE;
    if (kind == BYE) m.kind = MESSAGE_BYE;
    m.silo = u32_at(bytes + SILO_AT);
    return m;
}

billboard_status carrier_open(carrier **out, const carrier_way *way) {
    return way->kind == CARRIER_FOLDER ? carrier_folder_open(out, way)
                                       : carrier_stream_open(out, way);
}

void carrier_close(carrier *c) {
    if (c) c->class->close(c);
}

billboard_status carrier_hold(carrier *c) {
    return c->class->hold ? c->class->hold(c) : BILLBOARD_OK;
}

bool carrier_reaches(const carrier *c, uint32_t silo) {
    return c->class->reaches(c, silo);
}

billboard_status carrier_send(carrier *c, uint32_t silo, const void *frame,
                              size_t size) {
    return c->class->send(c, silo, frame, size);
}

billboard_status carrier_receive(carrier *c, double seconds, message *got) {
    *got = (message){.kind = MESSAGE_NONE};
    return c->class->receive(c, seconds, got);
}

bool carrier_introduce(carrier *c) {
    return c->class->introduce(c);
}

bool carrier_is_empty(const carrier *c) {
    return c->class->is_empty(c);
}
