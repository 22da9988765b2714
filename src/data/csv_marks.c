#include "data/csv_marks.h"

#include "base/memory.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64, LANES = 16, STEP = 8 };
typedef unsigned char lanes __attribute__((vector_size(LANES)));

/* Of eight bytes, 0 or 255: a bit each. */
static uint64_t gather(const uint64_t *bytes) {
    return (le64toh(*bytes) & 0x8080808080808080) * 0x0002040810204081 >> 56;
}

/* A bit for each of 64 bytes: is it a mark? */
static uint64_t look(const char *text, unsigned char separator) {
    uint64_t found = 0;
    for (size_t k = 0; k < BLOCK; k += LANES) {
        lanes v;
        uint64_t half[2];
        memcpy(&v, text + k, sizeof v);
        const lanes is = (lanes)(v == separator) | (lanes)(v == '\n');
        memcpy(half, &is, sizeof half);
        found |= (gather(half) | gather(half + 1) << 8) << k;
    }
    return found;
}

static size_t count_bits(uint64_t v) {
    v -= (v >> 1) & 0x5555555555555555;
    v = (v & 0x3333333333333333) + ((v >> 2) & 0x3333333333333333);
    return ((v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56;
}

bb_status bb_csv_marks_find(bb_csv_marks *m, const char *text, size_t length,
                            char separator) {
    m->count = 0;
    for (size_t from = 0; from < length; from += BLOCK) {
        if (m->room < m->count + BLOCK + STEP) {
            const bb_status status = bb_grow(&m->at, &m->room, m->count + BLOCK + STEP,
                                             sizeof *m->at, "a file");
            if (status) return status;
        }
        uint64_t found = look(text + from, (unsigned char)separator);
        if (length - from < BLOCK) found &= ~(~UINT64_C(0) << (length - from));
        uint32_t *at = m->at + m->count;
        m->count += count_bits(found);
        /* eight at once, needed or not: their number is hard to foretell */
        for (; found; at += STEP)
            for (size_t k = 0; k < STEP; k++) {
                const int bit = __builtin_ctzll(found | UINT64_C(1) << 63);
                at[k] = (uint32_t)from + (uint32_t)bit;
                found &= found - 1;
            }
    }
    return BB_OK;
}

void bb_csv_marks_close(bb_csv_marks *m) {
    free(m->at);
    *m = (bb_csv_marks){0};
}
