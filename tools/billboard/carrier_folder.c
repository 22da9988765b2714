/* Messages as files: FOLDER/curator/ has those for the curator, FOLDER/silo-N/ those for
 * silo N. A file is written under a name that begins with a point, made durable, and
 * renamed, so that a message is there whole or not at all; whoever reads it removes it. Who
 * reads a box has its file .lock locked: two would each have a part of the messages.
 *
 * A folder that does not work for a while - a server that is away, a full disk - is said once,
 * and tried again: what is to leave waits here. */
#include "carrier.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH = 4096 };
static const double look_every = 0.1;    /* seconds */
static const double give_up_after = 3.0; /* seconds: a box that another process has */

/* A message that is to leave. */
typedef struct letter {
    struct letter *next;
    uint32_t silo;
    size_t size;
    unsigned char bytes[];
} letter;

typedef struct folder {
    carrier base;
    unsigned long sent;
    letter *first, **last;  /* what could not be written yet */
    struct dirent **listed; /* messages for this place, when it last looked: */
    int lists, read;        /* so many; so many of them are done */
    unsigned char *bytes;   /* of the message that was read last */
    bool broken;            /* it has said that the folder does not work */
    int lock;               /* of this place's own box; -1 */
} folder;

static billboard_status no_memory(void) {
    return cmd_fail(BILLBOARD_FAILED, "no memory for a folder");
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

static bool introduce(carrier *c) {
    (void)c; /* every silo has its box */
    return false;
}

static bool is_empty(const carrier *c) {
    return !((const folder *)c)->first;
}

/* errno says why. False, so that whoever asks can end with it. */
static bool complain(folder *f, const char *path, const char *what) {
    char text[PATH + 600];
    if (f->broken) return false;
    f->broken = true;
    snprintf(text, sizeof text, "%s: cannot be %s: %s; this is tried again", path, what,
             strerror(errno));
    f->base.way.say(f->base.way.self, text);
    return false;
}

/* -- what leaves -- */

static bool write_all(int file, const void *bytes, size_t size) {
    for (const char *at = bytes; size;) {
        const ssize_t done = write(file, at, size);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return false;
        at += done;
        size -= (size_t)done;
    }
    return fsync(file) == 0;
}

/* Names ascend with time, so that messages are read in their order. */
static bool write_letter(folder *f, const letter *l) {
    struct timespec now;
    char box[PATH], name[80], path[PATH + 100], whole[PATH + 100];
    box_of(f, l->silo, box);
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(name, sizeof name, "%012lld.%09ld-%u-%ld-%08lu", (long long)now.tv_sec,
             now.tv_nsec, f->base.way.silo, (long)getpid(), f->sent++);
    snprintf(path, sizeof path, "%s/.%s", box, name);
    snprintf(whole, sizeof whole, "%s/%s", box, name);
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return complain(f, path, "made");
    bool whole_there = write_all(file, l->bytes, l->size);
    if (close(file)) whole_there = false;
    if (whole_there && !rename(path, whole)) return true;
    complain(f, whole, "written");
    unlink(path);
    return false;
}

static void write_letters(folder *f) {
    while (f->first && write_letter(f, f->first)) {
        letter *done = f->first;
        f->first = done->next;
        free(done);
    }
    if (!f->first) f->last = &f->first;
}

static billboard_status send_file(carrier *c, uint32_t silo, const void *bytes,
                                  size_t size) {
    folder *f = (folder *)c;
    letter *l = size < SIZE_MAX - sizeof *l ? malloc(sizeof *l + size) : NULL;
    if (!l) return no_memory();
    *l = (letter){.silo = silo, .size = size};
    memcpy(l->bytes, bytes, size);
    *f->last = l;
    f->last = &l->next;
    write_letters(f);
    return BILLBOARD_OK;
}

/* -- what comes -- */

static int is_message(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static void forget_list(folder *f) {
    for (int k = 0; k < f->lists; k++) free(f->listed[k]);
    free(f->listed);
    f->listed = NULL;
    f->lists = f->read = 0;
}

/* The messages that are there, the oldest first. */
static bool list(folder *f) {
    char box[PATH];
    forget_list(f);
    box_of(f, f->base.way.silo, box);
    const int count = scandir(box, &f->listed, is_message, alphasort);
    if (count < 0) return complain(f, box, "read");
    f->lists = count;
    return true;
}

/* False: it cannot be read now; errno says why. */
static bool read_file(folder *f, const char *path, size_t *size) {
    struct stat about;
    size_t have = 0;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    free(f->bytes);
    f->bytes = NULL;
    *size = 0;
    if (!fstat(file, &about)) {
        *size = (size_t)about.st_size;
        f->bytes = malloc(*size + 1);
    }
    ssize_t done = f->bytes ? 1 : -1;
    while (done > 0 && have < *size) {
        done = read(file, f->bytes + have, *size - have);
        if (done > 0) have += (size_t)done;
        if (done < 0 && errno == EINTR) done = 1;
    }
    const int why = done < 0 ? errno : EIO;
    close(file);
    errno = why;
    return f->bytes && have == *size;
}

/* The next message of the list that is one; what is none goes unread. One that cannot be
 * removed would come again and again: it waits. */
static bool take_listed(folder *f, message *got) {
    char box[PATH], path[PATH + 300];
    box_of(f, f->base.way.silo, box);
    for (; f->read < f->lists && got->kind == MESSAGE_NONE; f->read++) {
        size_t size = 0;
        snprintf(path, sizeof path, "%s/%s", box, f->listed[f->read]->d_name);
        const bool read = read_file(f, path, &size);
        if (!read && errno == ENOENT) continue; /* somebody else's doing */
        if (!read) return complain(f, path, "read");
        if (unlink(path) && errno != ENOENT) return complain(f, path, "removed");
        *got = carrier_read(f->bytes, size);
    }
    return true;
}

static void look(folder *f, message *got) {
    write_letters(f);
    bool works = true;
    if (f->read == f->lists) works = list(f);
    if (works) works = take_listed(f, got);
    if (!works) forget_list(f);
    if (!works || f->first || !f->broken) return;
    f->broken = false;
    f->base.way.say(f->base.way.self, "the folder works again");
}

static billboard_status receive(carrier *c, double seconds, message *got) {
    struct timespec pause = {.tv_nsec = (long)(1e9 * look_every)};
    for (;; seconds -= look_every) {
        look((folder *)c, got);
        if (got->kind != MESSAGE_NONE || seconds <= 0.0) return BILLBOARD_OK;
        if (nanosleep(&pause, NULL)) return BILLBOARD_OK; /* a signal */
    }
}

/* A file, since servers lock no folders, that stays: the kernel frees the lock of a process that
 * dies. One that is just ending is waited for. Where no lock can be had, as on a server that
 * knows none, nobody is told. */
static billboard_status hold(carrier *c) {
    folder *f = (folder *)c;
    const struct timespec pause = {.tv_nsec = (long)(1e9 * look_every)};
    char box[PATH], path[PATH + 10];
    box_of(f, f->base.way.silo, box);
    snprintf(path, sizeof path, "%s/.lock", box);
    f->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (f->lock < 0) return BILLBOARD_OK;
    for (double left = give_up_after; flock(f->lock, LOCK_EX | LOCK_NB);
         left -= look_every) {
        if (errno != EWOULDBLOCK) return BILLBOARD_OK;
        if (left <= 0.0)
            return cmd_fail(BILLBOARD_FAILED,
                            "%s: is in use already: another process reads the messages "
                            "of this place",
                            box);
        nanosleep(&pause, NULL);
    }
    return BILLBOARD_OK;
}

static void close_folder(carrier *c) {
    folder *f = (folder *)c;
    while (f->first) {
        letter *next = f->first->next;
        free(f->first);
        f->first = next;
    }
    forget_list(f);
    free(f->bytes);
    if (f->lock >= 0) close(f->lock);
    free(f);
}

static const carrier_class class = {hold,      reaches,  send_file,   receive,
                                    introduce, is_empty, close_folder};

/* What will never work is said at once: this place reads its own box, and writes to the
 * curator's or, as the curator, to all. */
static billboard_status open_box(const folder *f, uint32_t silo) {
    const uint32_t self = f->base.way.silo;
    const bool used = silo == self || silo == 0 || self == 0;
    const int may = silo == self ? R_OK | W_OK | X_OK : W_OK | X_OK;
    char box[PATH];
    box_of(f, silo, box);
    const char *what = "made";
    bool works = mkdir(box, 0777) == 0 || errno == EEXIST;
    if (works && used) {
        what = "written to";
        works = access(box, may) == 0;
    }
    return works ? BILLBOARD_OK
                 : cmd_fail(BILLBOARD_FAILED, "%s: cannot be %s: %s", box, what,
                            strerror(errno));
}

billboard_status carrier_folder_open(carrier **out, const carrier_way *way) {
    billboard_status status = BILLBOARD_OK;
    folder *f = calloc(1, sizeof *f);
    if (!f) return no_memory();
    f->base = (carrier){&class, *way};
    f->last = &f->first;
    f->lock = -1;
    for (uint32_t silo = 0; silo <= way->silos && !status; silo++)
        status = open_box(f, silo);
    if (status)
        close_folder(&f->base);
    else
        *out = &f->base;
    return status;
}
