/* npz.c - a member of a ZIP archive (APPNOTE 6.3.10), as numpy.savez writes them:
 * stored or deflated, below 4 GiB. */
#include "base/memory.h"
#include "data/npy.h"

#define ZLIB_CONST
#include <zlib.h>

#include <stdlib.h>
#include <string.h>

enum {
    END_BYTES = 22,
    ENTRY_BYTES = 46,
    LOCAL_BYTES = 30,
    DEFLATE_MOST = 1032 /* no deflated byte can become more bytes */
};

typedef struct archive {
    const char *path;
    const unsigned char *bytes;
    size_t size;
} archive;

typedef struct entry {
    const unsigned char *name;
    size_t name_length, packed, unpacked, local;
    unsigned method, flags;
    uint32_t checksum;
} entry;

static unsigned word(const unsigned char *at) {
    return (unsigned)at[0] | (unsigned)at[1] << 8;
}

static uint32_t long_word(const unsigned char *at) {
    return (uint32_t)word(at) | (uint32_t)word(at + 2) << 16;
}

static bb_status damaged(const archive *a, const char *what) {
    return bb_fail(BB_EDATA, "%s: the archive is damaged or cut off (%s)", a->path,
                   what);
}

/* The directory's place and its number of entries, from the record at the end. */
static bb_status find_directory(const archive *a, size_t *at, size_t *entries) {
    for (size_t back = END_BYTES; back <= a->size && back <= END_BYTES + 65535;
         back++) {
        const unsigned char *const end = a->bytes + a->size - back;
        if (memcmp(end, "PK\5\6", 4) != 0) continue;
        *entries = word(end + 10);
        *at = long_word(end + 16);
        if (*at == UINT32_MAX || *entries == 65535)
            return bb_fail(BB_EDATA, "%s: archives above 4 GiB are not read", a->path);
        return BB_OK;
    }
    return damaged(a, "no directory");
}

/* The entry at *at of the directory; moves *at behind it. */
static bb_status take_entry(const archive *a, size_t *at, entry *e) {
    if (*at > a->size || a->size - *at < ENTRY_BYTES)
        return damaged(a, "the directory");
    const unsigned char *const p = a->bytes + *at;
    const size_t length =
        ENTRY_BYTES + (size_t)word(p + 28) + word(p + 30) + word(p + 32);
    if (memcmp(p, "PK\1\2", 4) != 0 || a->size - *at < length)
        return damaged(a, "the directory");
    *e = (entry){.name = p + ENTRY_BYTES,
                 .name_length = word(p + 28),
                 .packed = long_word(p + 20),
                 .unpacked = long_word(p + 24),
                 .local = long_word(p + 42),
                 .method = word(p + 10),
                 .flags = word(p + 8),
                 .checksum = long_word(p + 16)};
    *at += length;
    return BB_OK;
}

static bool is_named(const entry *e, const char *name) {
    const size_t length = strlen(name);
    return e->name_length == length + 4 && memcmp(e->name, name, length) == 0 &&
           memcmp(e->name + length, ".npy", 4) == 0;
}

/* The packed bytes behind the member's own header. */
static bb_status find_packed(const archive *a, const entry *e,
                             const unsigned char **packed) {
    if (e->flags & 1) return bb_fail(BB_EDATA, "%s: the archive is encrypted", a->path);
    if (e->local > a->size || a->size - e->local < LOCAL_BYTES)
        return damaged(a, "a member");
    const unsigned char *const p = a->bytes + e->local;
    const size_t begin = LOCAL_BYTES + (size_t)word(p + 26) + word(p + 28);
    if (memcmp(p, "PK\3\4", 4) != 0 || a->size - e->local < begin ||
        a->size - e->local - begin < e->packed)
        return damaged(a, "a member");
    *packed = p + begin;
    return BB_OK;
}

static bb_status inflate_member(const archive *a, const unsigned char *packed,
                                size_t packed_size, unsigned char *out, size_t size) {
    z_stream stream = {0};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return bb_fail(BB_ENOMEM, "no memory to unpack %s", a->path);
    stream.next_in = packed;
    stream.avail_in = (uInt)packed_size;
    stream.next_out = out;
    stream.avail_out = (uInt)size;
    const int result = inflate(&stream, Z_FINISH);
    const size_t written = stream.total_out;
    inflateEnd(&stream);
    return result == Z_STREAM_END && written == size ? BB_OK : damaged(a, "a member");
}

static bb_status unpack(const archive *a, const entry *e, unsigned char **member) {
    const unsigned char *packed = NULL;
    unsigned char *out = NULL;
    bb_status status = find_packed(a, e, &packed);
    if (status) return status;
    if (e->method != 0 && e->method != 8)
        return bb_fail(BB_EDATA, "%s: compression method %u is not read", a->path,
                       e->method);
    if (e->method == 0 ? e->unpacked != e->packed
                       : e->unpacked / DEFLATE_MOST > e->packed)
        return damaged(a, "a member's size");
    status = bb_allocate(&out, e->unpacked, 1, "a NumPy array");
    if (status) return status;
    if (e->method == 0)
        memcpy(out, packed, e->unpacked); /* NOLINT: bb_allocate has set out */
    else
        status = inflate_member(a, packed, e->packed, out, e->unpacked);
    if (!status && crc32_z(0, out, e->unpacked) != e->checksum)
        status = damaged(a, "a member's checksum");
    if (status)
        free(out);
    else
        *member = out;
    return status;
}

static bb_status find(const archive *a, const char *name, entry *e) {
    size_t at = 0, entries = 0;
    bb_status status = find_directory(a, &at, &entries);
    for (size_t i = 0; !status && i < entries; i++) {
        status = take_entry(a, &at, e);
        if (!status && is_named(e, name)) return BB_OK;
    }
    if (status) return status;
    return bb_fail(BB_EDATA, "%s: no array \"%s\" in the archive", a->path, name);
}

bb_status bb_npz_find(const char *path, const unsigned char *bytes, size_t size,
                      const char *name, bb_npz_place *place) {
    const archive a = {path, bytes, size};
    entry e = {0};
    const bb_status status = find(&a, name, &e);
    if (status) return status;
    *place = (bb_npz_place){.local = e.local,
                            .size = e.unpacked,
                            .checksum = e.checksum,
                            .stored = e.method == 0 && e.packed == e.unpacked};
    return BB_OK;
}

bb_status bb_npz_locate(const char *path, const unsigned char *bytes, size_t size,
                        bb_npz_place *place) {
    const archive a = {path, bytes, size};
    const entry e = {.local = place->local, .packed = place->size};
    const unsigned char *packed = NULL;
    const bb_status status = find_packed(&a, &e, &packed);
    if (!status) place->from = (size_t)(packed - bytes);
    return status;
}

bb_status bb_npz_member(const char *path, const unsigned char *bytes, size_t size,
                        const char *name, unsigned char **member, size_t *member_size) {
    const archive a = {path, bytes, size};
    entry e = {0};
    const bb_status status = find(&a, name, &e);
    if (status) return status;
    *member_size = e.unpacked;
    return unpack(&a, &e, member);
}
