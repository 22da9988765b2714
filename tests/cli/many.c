/* Many silos in one process, each with a connection of its own to `billboard curator --socket`:
 *
 *     many PLAN POLICY SOCKET       silo k has the rows of k.csv
 *
 * They take turns: the curator has one frame for each before it waits for all. */
#define BILLBOARD_EXPERIMENTAL
#include <billboard/billboard.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

typedef struct place {
    billboard_experimental_silo *silo;
    int file; /* to the curator */
} place;

static void check(billboard_status status, const char *what) {
    if (!status) return;
    fprintf(stderr, "%s: %s\n", what, billboard_error());
    exit(1);
}

static void must(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static int reach(const char *path) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const int file = socket(AF_UNIX, SOCK_STREAM, 0);
    must(file >= 0, "socket");
    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    while (connect(file, (const struct sockaddr *)&name, sizeof name)) {
        must(errno == ENOENT || errno == ECONNREFUSED || errno == EAGAIN, "connect");
        usleep(1000);
    }
    return file;
}

static void put(int file, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size) {
        const ssize_t done = write(file, at, size);
        must(done > 0, "write");
        at += done;
        size -= (size_t)done;
    }
}

static void get(int file, void *bytes, size_t size) {
    char *at = bytes;
    while (size) {
        const ssize_t done = read(file, at, size);
        must(done > 0, "read");
        at += done;
        size -= (size_t)done;
    }
}

static void say(place p) {
    unsigned char length[8];
    const void *frame;
    size_t size;
    check(billboard_experimental_silo_give(p.silo, &frame, &size), "give");
    if (!frame) return;
    for (size_t k = 0; k < sizeof length; k++)
        length[k] = (unsigned char)((uint64_t)size >> (8 * k));
    put(p.file, length, sizeof length);
    put(p.file, frame, size);
    billboard_experimental_silo_gave(p.silo);
}

static void hear(place p) {
    unsigned char length[8];
    size_t size = 0;
    get(p.file, length, sizeof length);
    for (size_t k = sizeof length; k-- > 0;) size = size << 8 | length[k];
    char *const frame = malloc(size);
    must(frame != NULL, "memory");
    get(p.file, frame, size);
    check(billboard_experimental_silo_take(p.silo, frame, size), "take");
    free(frame);
    if (billboard_experimental_silo_state(p.silo) == BILLBOARD_EXPERIMENTAL_WORK)
        check(billboard_experimental_silo_work(p.silo), "work");
}

static billboard_experimental_silo *
open_silo(billboard_experimental_agreement *agreement, uint32_t number,
          const billboard_experimental_policy *policy) {
    char path[30];
    billboard_data *data = NULL;
    billboard_experimental_silo *silo = NULL;
    snprintf(path, sizeof path, "%u.csv", number);
    check(billboard_data_from_file(path, &data), path);
    check(billboard_experimental_silo_open(
              billboard_experimental_agreement_job(agreement),
              billboard_experimental_agreement_roster(agreement), number, data, policy,
              NULL, &silo),
          path);
    billboard_data_free(data);
    return silo;
}

static uint32_t take_turns(const place *p, uint32_t silos) {
    uint32_t done = 0;
    for (uint32_t k = 0; k < silos; k++) {
        hear(p[k]);
        say(p[k]);
        done +=
            billboard_experimental_silo_state(p[k].silo) == BILLBOARD_EXPERIMENTAL_DONE;
    }
    return done;
}

int main(int argc, char **argv) {
    billboard_experimental_agreement *agreement = NULL;
    billboard_experimental_policy policy = {.struct_size = sizeof policy};
    struct rlimit files;
    if (argc != 4) return 2;
    must(!getrlimit(RLIMIT_NOFILE, &files), "files");
    files.rlim_cur = files.rlim_max;
    must(!setrlimit(RLIMIT_NOFILE, &files), "files");
    check(billboard_experimental_agreement_read(argv[1], &agreement), argv[1]);
    check(billboard_experimental_agreement_policy(agreement, argv[2], &policy),
          argv[2]);
    const uint32_t silos = billboard_experimental_agreement_roster(agreement)->silos;
    place *const p = calloc(silos, sizeof *p);
    must(p != NULL, "memory");
    for (uint32_t k = 0; k < silos; k++) {
        p[k] = (place){open_silo(agreement, k + 1, &policy), reach(argv[3])};
        check(billboard_experimental_silo_hello(p[k].silo), "hello");
        say(p[k]);
    }
    while (take_turns(p, silos) < silos) continue;
    for (uint32_t k = 0; k < silos; k++) {
        check(billboard_experimental_silo_leave(p[k].silo), "leave");
        say(p[k]);
    }
    for (uint32_t k = 0; k < silos; k++) {
        hear(p[k]); /* the curator's goodbye */
        billboard_experimental_silo_free(p[k].silo);
        close(p[k].file);
    }
    billboard_experimental_agreement_free(agreement);
    free(p);
    return 0;
}
