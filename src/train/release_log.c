#include "train/release_log.h"

#include "base/json.h"
#include "base/memory.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 16 };

static bb_status failed(const char *path, const char *deed) {
    return bb_fail(BB_EIO, "%s: cannot be %s: %s", path, deed, strerror(errno));
}

bb_status bb_release_log_check(const char *name) {
    struct stat there;
    if (lstat(name, &there)) return BB_OK;
    return bb_fail(BB_EUSAGE,
                   "%s: exists already, without the checkpoint that it belongs to; "
                   "remove it",
                   name);
}

bb_status bb_release_log_open(bb_release_log *log, char *name) {
    *log = (bb_release_log){.name = name};
    bb_hash_open(&log->hash);
    const int file =
        open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (file < 0) return failed(name, "opened");
    log->file = fdopen(file, "r+");
    if (log->file) return BB_OK;
    const bb_status status = failed(name, "opened");
    close(file);
    return status;
}

void bb_release_log_remove(const bb_release_log *log) {
    if (log->file) unlink(log->name);
}

void bb_release_log_close(bb_release_log *log) {
    if (log->file) fclose(log->file);
    free(log->name);
    *log = (bb_release_log){0};
}

/* -- writing -- */

bb_status bb_release_log_bytes(bb_release_log *log, const void *bytes, size_t size) {
    if (fwrite(bytes, 1, size, log->file) != size) return failed(log->name, "written");
    bb_hash_add(&log->hash, bytes, size);
    log->bytes += size;
    return BB_OK;
}

bb_status bb_release_log_begin(bb_release_log *log, const json_t *entry,
                               uint64_t numbers) {
    char *text = entry ? bb_json_text(entry, 0) : NULL;
    if (!text) return bb_fail(BB_ENOMEM, "no memory for the billboard's index");
    const size_t length = strlen(text);
    const uint64_t head[] = {htole64(length), htole64(numbers)};
    bb_status status = bb_release_log_bytes(log, head, sizeof head);
    if (!status) status = bb_release_log_bytes(log, text, length);
    free(text);
    return status;
}

bb_status bb_release_log_sync(bb_release_log *log) {
    if (fflush(log->file) || fsync(fileno(log->file)))
        return failed(log->name, "written");
    return BB_OK;
}

/* -- reading -- */

static bb_status get(bb_release_log *log, void *bytes, size_t size) {
    if (fread(bytes, 1, size, log->file) == size) return BB_OK;
    return bb_fail(BB_EIO, "%s: has fewer releases than its checkpoint says",
                   log->name);
}

bb_status bb_release_log_rewind(bb_release_log *log, uint64_t bytes,
                                const char *digest) {
    unsigned char chunk[CHUNK];
    char found[BB_HASH_TEXT];
    bb_hash_open(&log->hash);
    if (fseek(log->file, 0, SEEK_SET)) return failed(log->name, "read");
    for (uint64_t left = bytes; left;) {
        const size_t size = left < sizeof chunk ? (size_t)left : sizeof chunk;
        const bb_status status = get(log, chunk, size);
        if (status) return status;
        bb_hash_add(&log->hash, chunk, size);
        left -= size;
    }
    bb_hash_text(&log->hash, found);
    if (strcmp(found, digest) != 0)
        return bb_fail(BB_EIO, "%s: is damaged: its SHA-256 is another", log->name);
    if (ftruncate(fileno(log->file), (off_t)bytes) || fseek(log->file, 0, SEEK_END))
        return failed(log->name, "written");
    log->bytes = bytes;
    return BB_OK;
}

static bb_status replay_entry(bb_release_log *log, size_t length, json_t *entries) {
    json_error_t error;
    char *text = NULL;
    bb_status status = bb_allocate(&text, length, 1, "the billboard's index");
    if (!status) status = get(log, text, length);
    if (!status && json_array_append_new(entries, json_loadb(text, length, 0, &error)))
        status = bb_fail(BB_ENOMEM, "no memory for the billboard's index");
    free(text);
    return status;
}

static bb_status replay_numbers(bb_release_log *log, uint64_t bytes, FILE *numbers) {
    unsigned char chunk[CHUNK];
    while (bytes) {
        const size_t size = bytes < sizeof chunk ? (size_t)bytes : sizeof chunk;
        const bb_status status = get(log, chunk, size);
        if (status) return status;
        if (fwrite(chunk, 1, size, numbers) != size)
            return failed("the billboard", "written");
        bytes -= size;
    }
    return BB_OK;
}

bb_status bb_release_log_replay(bb_release_log *log, json_t *entries, FILE *numbers) {
    uint64_t head[2], at = 0;
    bb_status status = BB_OK;
    if (fflush(log->file) || fseek(log->file, 0, SEEK_SET))
        return failed(log->name, "read");
    while (!status && at < log->bytes) {
        status = get(log, head, sizeof head);
        if (status) break;
        const uint64_t length = le64toh(head[0]), count = le64toh(head[1]);
        status = replay_entry(log, (size_t)length, entries);
        if (!status) status = replay_numbers(log, 8 * count, numbers);
        at += sizeof head + length + 8 * count;
    }
    if (!status && fflush(numbers)) status = failed("the billboard", "written");
    return status;
}
