/* u32 "BBCP", version; u64 lengths of what follows: about, curator, silo; they; SHA-256 of
 * everything before. Little endian. */
#include "core/checkpoint.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t magic = 0x50434242; /* "BBCP" */

bb_status bb_checkpoint_write(const char *path, const bb_checkpoint *c) {
    bb_writer header = {0};
    uint8_t seal[BB_HASH_BYTES];
    bb_hash hash;
    bb_put_u32(&header, magic);
    bb_put_u32(&header, BB_CHECKPOINT_VERSION);
    bb_put_u64(&header, c->about.length);
    bb_put_u64(&header, c->curator.length);
    bb_put_u64(&header, c->silo.length);
    const bb_piece piece[] = {{header.at, header.length},
                              {c->about.at, c->about.length},
                              {c->curator.at, c->curator.length},
                              {c->silo.at, c->silo.length},
                              {seal, sizeof seal}};
    const size_t pieces = sizeof piece / sizeof *piece;
    bb_hash_open(&hash);
    for (size_t k = 0; k + 1 < pieces && !header.status; k++)
        bb_hash_add(&hash, piece[k].at, piece[k].size);
    bb_hash_digest(&hash, seal);
    bb_status status = header.status;
    if (!status) status = bb_file_write_private(path, piece, pieces);
    bb_writer_close(&header);
    return status;
}

/* A piece of so many bytes. */
static bb_bytes get_bytes(bb_reader *reader, uint64_t length) {
    const uint8_t *at = bb_get(reader, length);
    return (bb_bytes){at, at ? length : 0};
}

static bb_status check_seal(const char *path, const uint8_t *bytes, size_t size) {
    uint8_t seal[BB_HASH_BYTES];
    bb_hash hash;
    bb_hash_open(&hash);
    bb_hash_add(&hash, bytes, size - sizeof seal);
    bb_hash_digest(&hash, seal);
    if (memcmp(seal, bytes + size - sizeof seal, sizeof seal) == 0) return BB_OK;
    return bb_fail(BB_EDATA, "%s: this checkpoint is damaged: its SHA-256 is another",
                   path);
}

static bb_status parse(const char *path, const uint8_t *bytes, size_t size,
                       bb_checkpoint *c) {
    bb_reader reader = bb_reader_of((bb_bytes){bytes, size});
    if (bb_get_u32(&reader) != magic)
        return bb_fail(BB_EDATA, "%s: is no checkpoint of billboard", path);
    const uint32_t version = bb_get_u32(&reader);
    if (version != BB_CHECKPOINT_VERSION)
        return bb_fail(BB_EDATA,
                       "%s: is a checkpoint of version %u; this program knows %d", path,
                       version, BB_CHECKPOINT_VERSION);
    const uint64_t about = bb_get_u64(&reader), curator = bb_get_u64(&reader),
                   silo = bb_get_u64(&reader);
    c->about = get_bytes(&reader, about);
    c->curator = get_bytes(&reader, curator);
    c->silo = get_bytes(&reader, silo);
    bb_get(&reader, BB_HASH_BYTES);
    if (reader.bad || reader.left)
        return bb_fail(BB_EDATA,
                       "%s: this checkpoint is damaged: its %zu bytes are not as many "
                       "as it says",
                       path, size);
    return check_seal(path, bytes, size);
}

bb_status bb_checkpoint_read(const char *path, bb_checkpoint *checkpoint,
                             uint8_t **bytes) {
    bb_checkpoint c = {0};
    uint8_t *found = NULL;
    size_t size = 0;
    bb_status status = bb_file_read(path, &found, &size);
    if (!status) status = parse(path, found, size, &c);
    if (status) {
        free(found);
        return status;
    }
    *checkpoint = c;
    *bytes = found;
    return BB_OK;
}
