/* u32 "BBCP", version; u64 lengths of what follows: about, curator, silo, models and states
 * that were in files; they, the last two from multiples of BB_MAP_BLOCK on, zeros before
 * each, if there are any; SHA-256 of everything before. Little endian. */
#include "core/checkpoint.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint32_t magic = 0x50434242; /* "BBCP" */
static const size_t stretch = (size_t)1 << 20;

/* Zeros before what is stored behind `at` bytes. */
static size_t padding(uint64_t at, size_t size) {
    return size ? (size_t)(-at % BB_MAP_BLOCK) : 0;
}

static bb_status put_pieces(bb_checkpoint_copy *copy, const char *path,
                            const bb_checkpoint *c, const bb_writer *header) {
    const bb_piece piece[] = {{header->at, header->length},
                              {c->about.at, c->about.length},
                              {c->curator.at, c->curator.length},
                              {c->silo.at, c->silo.length}};
    bb_status status = header->status;
    bb_hash_open(&copy->hash);
    for (size_t k = 0; k < sizeof piece / sizeof *piece && !status; k++) {
        bb_hash_add(&copy->hash, piece[k].at, piece[k].size);
        status = bb_file_private_write(&copy->file, path, piece[k]);
        copy->from += piece[k].size;
    }
    return status;
}

static bb_status put_stored(const bb_checkpoint_copy *copy, const char *path,
                            const bb_checkpoint *c) {
    static const uint8_t zeros[BB_MAP_BLOCK];
    uint64_t at = copy->from;
    bb_status status = BB_OK;
    for (size_t k = 0; k < BB_SILO_STORED && !status; k++) {
        const bb_silo_stored *stored = &c->stored[k];
        const size_t size = stored->bytes.length, before = padding(at, size);
        if (!size) continue;
        status = bb_file_private_write(&copy->file, path, (bb_piece){zeros, before});
        if (!status)
            status = bb_map_write(stored->map, stored->bytes.at, size,
                                  copy->file.descriptor, path);
        at += before + size;
    }
    return status;
}

bb_status bb_checkpoint_begin(bb_checkpoint_copy *copy, const char *path,
                              const bb_checkpoint *c) {
    bb_writer header = {0};
    bb_checkpoint_drop(copy);
    bb_put_u32(&header, magic);
    bb_put_u32(&header, BB_CHECKPOINT_VERSION);
    bb_put_u64(&header, c->about.length);
    bb_put_u64(&header, c->curator.length);
    bb_put_u64(&header, c->silo.length);
    for (size_t k = 0; k < BB_SILO_STORED; k++)
        bb_put_u64(&header, c->stored[k].bytes.length);
    bb_status status = bb_file_private_begin(&copy->file, path);
    if (!status) status = put_pieces(copy, path, c, &header);
    if (!status) status = put_stored(copy, path, c);
    bb_writer_close(&header);
    if (status) bb_checkpoint_drop(copy);
    return status;
}

/* The hash goes on with what the file has behind `from`. */
static bb_status hash_rest(bb_checkpoint_copy *copy, const char *path) {
    uint8_t *bytes = malloc(stretch);
    ssize_t got = 1;
    if (!bytes) return bb_fail(BB_ENOMEM, "no memory for a checkpoint");
    for (off_t at = (off_t)copy->from; got > 0; at += got) {
        got = pread(copy->file.descriptor, bytes, stretch, at);
        if (got > 0) bb_hash_add(&copy->hash, bytes, (size_t)got);
    }
    free(bytes);
    return got < 0 ? bb_fail(BB_EIO, "%s: cannot be read again", path) : BB_OK;
}

bb_status bb_checkpoint_commit(bb_checkpoint_copy *copy, const char *path) {
    uint8_t seal[BB_HASH_BYTES];
    bb_status status = hash_rest(copy, path);
    bb_hash_digest(&copy->hash, seal);
    if (!status)
        status =
            bb_file_private_write(&copy->file, path, (bb_piece){seal, sizeof seal});
    status = bb_file_private_end(&copy->file, path, status);
    *copy = (bb_checkpoint_copy){0};
    return status;
}

void bb_checkpoint_drop(bb_checkpoint_copy *copy) {
    if (copy->file.name) {
        close(copy->file.descriptor);
        unlink(copy->file.name);
        free(copy->file.name);
    }
    *copy = (bb_checkpoint_copy){0};
}

bb_status bb_checkpoint_write(const char *path, const bb_checkpoint *checkpoint) {
    bb_checkpoint_copy copy = {0};
    const bb_status status = bb_checkpoint_begin(&copy, path, checkpoint);
    return status ? status : bb_checkpoint_commit(&copy, path);
}

/* A piece of so many bytes. */
static bb_bytes get_bytes(bb_reader *reader, uint64_t length) {
    const uint8_t *at = bb_get(reader, length);
    return (bb_bytes){at, at ? length : 0};
}

static bb_status check_seal(const char *path, const bb_map *map) {
    const size_t size = map->size - BB_HASH_BYTES;
    uint8_t seal[BB_HASH_BYTES];
    bb_hash hash;
    bb_hash_open(&hash);
    for (size_t at = 0, step; at < size; at += step) {
        step = size - at < stretch ? size - at : stretch;
        bb_hash_add(&hash, map->at + at, step);
        bb_map_passed(map, map->at + at, map->at + at + step);
    }
    bb_hash_digest(&hash, seal);
    if (memcmp(seal, map->at + size, sizeof seal) == 0) return BB_OK;
    return bb_fail(BB_EDATA, "%s: this checkpoint is damaged: its SHA-256 is another",
                   path);
}

static bb_status parse(const char *path, const bb_map *map, bb_checkpoint *c) {
    bb_reader reader = bb_reader_of((bb_bytes){(const uint8_t *)map->at, map->size});
    uint64_t length[3 + BB_SILO_STORED];
    if (bb_get_u32(&reader) != magic)
        return bb_fail(BB_EDATA, "%s: is no checkpoint of billboard", path);
    const uint32_t version = bb_get_u32(&reader);
    if (version != BB_CHECKPOINT_VERSION)
        return bb_fail(BB_EDATA,
                       "%s: is a checkpoint of version %u; this program knows %d", path,
                       version, BB_CHECKPOINT_VERSION);
    for (size_t k = 0; k < sizeof length / sizeof *length; k++)
        length[k] = bb_get_u64(&reader);
    c->about = get_bytes(&reader, length[0]);
    c->curator = get_bytes(&reader, length[1]);
    c->silo = get_bytes(&reader, length[2]);
    for (size_t k = 0; k < BB_SILO_STORED; k++) {
        bb_get(&reader, padding(map->size - reader.left, length[3 + k] != 0));
        c->stored[k].bytes = get_bytes(&reader, length[3 + k]);
    }
    bb_get(&reader, BB_HASH_BYTES);
    if (reader.bad || reader.left)
        return bb_fail(BB_EDATA,
                       "%s: this checkpoint is damaged: its %zu bytes are not as many "
                       "as it says",
                       path, map->size);
    return check_seal(path, map);
}

bb_status bb_checkpoint_read(const char *path, bb_checkpoint *checkpoint, bb_map *map) {
    bb_checkpoint c = {0};
    bb_map found = {0};
    bb_status status = bb_map_file(&found, path);
    if (status == BB_EDATA)
        status =
            bb_fail(BB_EDATA, "%s: is no checkpoint of billboard: it is empty", path);
    if (!status) status = parse(path, &found, &c);
    if (status) {
        bb_map_close(&found);
        return status;
    }
    *checkpoint = c;
    *map = found;
    return BB_OK;
}
