/* Messages as files: FOLDER/curator/ has those for the curator, FOLDER/silo-N/ those for
 * silo N. A file is written under a name that begins with a point, made durable, and
 * renamed, so that a message is there whole or not at all; whoever reads it removes it. */
#include "carrier.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH = 4096 };
static const double look_every = 0.1; /* seconds */

typedef struct folder {
    carrier base;
    unsigned long sent;
    unsigned char *bytes; /* of the message that was read last */
} folder;

static billboard_status failed(const char *path, const char *what) {
    return cmd_fail(BILLBOARD_FAILED, "%s: cannot be %s: %s", path, what,
                    strerror(errno));
}

static void box_of(const folder *f, uint32_t silo, char path[PATH]) {
    if (silo)
        snprintf(path, PATH, "%s/silo-%u", f->base.way.path, silo);
    else
        snprintf(path, PATH, "%s/curator", f->base.way.path);
}

static bool reaches(const carrier *c, uint32_t silo) {
    (void)c, (void)silo;
    return true;
}

static void introduce(carrier *c) {
    (void)c; /* every silo has its box */
}

static bool is_empty(const carrier *c) {
    (void)c;
    return true;
}

static billboard_status write_all(int file, const char *path, const void *bytes,
                                  size_t size) {
    for (const char *at = bytes; size;) {
        const ssize_t done = write(file, at, size);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return failed(path, "written");
        at += done;
        size -= (size_t)done;
    }
    return fsync(file) ? failed(path, "written") : BILLBOARD_OK;
}

/* Names ascend with time, so that messages are read in their order. */
static billboard_status send_file(carrier *c, uint32_t silo, const void *bytes,
                                  size_t size) {
    folder *f = (folder *)c;
    struct timespec now;
    char box[PATH], name[80], path[PATH + 100], whole[PATH + 100];
    box_of(f, silo, box);
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(name, sizeof name, "%012lld.%09ld-%u-%ld-%08lu", (long long)now.tv_sec,
             now.tv_nsec, c->way.silo, (long)getpid(), f->sent++);
    snprintf(path, sizeof path, "%s/.%s", box, name);
    snprintf(whole, sizeof whole, "%s/%s", box, name);
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return failed(path, "made");
    billboard_status status = write_all(file, path, bytes, size);
    if (close(file) && !status) status = failed(path, "written");
    if (!status && rename(path, whole)) status = failed(whole, "made");
    if (status) unlink(path);
    return status;
}

static int is_message(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static billboard_status read_file(folder *f, const char *path, size_t *size) {
    struct stat about;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t have = 0;
    if (file < 0 || fstat(file, &about)) {
        const billboard_status status = failed(path, "read");
        if (file >= 0) close(file);
        return status;
    }
    free(f->bytes);
    *size = (size_t)about.st_size;
    f->bytes = malloc(*size + 1);
    ssize_t done = f->bytes ? 1 : -1;
    while (done > 0 && have < *size) {
        done = read(file, f->bytes + have, *size - have);
        if (done > 0) have += (size_t)done;
        if (done < 0 && errno == EINTR) done = 1;
    }
    const billboard_status status =
        have == *size && f->bytes ? BILLBOARD_OK : failed(path, "read");
    close(file);
    return status;
}

/* The oldest message that is one; what is none goes unread. */
static billboard_status look(folder *f, message *got) {
    struct dirent **entry = NULL;
    char box[PATH], path[PATH + 300];
    billboard_status status = BILLBOARD_OK;
    box_of(f, f->base.way.silo, box);
    const int count = scandir(box, &entry, is_message, alphasort);
    if (count < 0) return failed(box, "read");
    for (int k = 0; k < count && !status && got->kind == MESSAGE_NONE; k++) {
        size_t size = 0;
        snprintf(path, sizeof path, "%s/%s", box, entry[k]->d_name);
        status = read_file(f, path, &size);
        if (!status) *got = carrier_read(f->bytes, size);
        if (!status && unlink(path)) status = failed(path, "removed");
    }
    for (int k = 0; k < count; k++) free(entry[k]);
    free(entry);
    return status;
}

static billboard_status receive(carrier *c, double seconds, message *got) {
    struct timespec pause = {.tv_nsec = (long)(1e9 * look_every)};
    for (;; seconds -= look_every) {
        const billboard_status status = look((folder *)c, got);
        if (status || got->kind != MESSAGE_NONE || seconds <= 0.0) return status;
        if (nanosleep(&pause, NULL)) return BILLBOARD_OK; /* a signal */
    }
}

static void close_folder(carrier *c) {
    folder *f = (folder *)c;
    free(f->bytes);
    free(f);
}

static const carrier_class class = {reaches,   send_file, receive,
                                    introduce, is_empty,  close_folder};

billboard_status carrier_folder_open(carrier **out, const carrier_way *way) {
    folder *f = calloc(1, sizeof *f);
    char box[PATH];
    if (!f) return cmd_fail(BILLBOARD_FAILED, "no memory for a folder");
    f->base = (carrier){&class, *way};
    for (uint32_t silo = 0; silo <= way->silos; silo++) {
        box_of(f, silo, box);
        if (mkdir(box, 0777) && errno != EEXIST) {
            const billboard_status status = failed(box, "made");
            close_folder(&f->base);
            return status;
        }
    }
    *out = &f->base;
    return BILLBOARD_OK;
}
