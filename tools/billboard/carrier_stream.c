/* Messages over standard input and output, or a Unix socket. */
#include "carrier.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { LENGTH = 8, READ_AT_ONCE = 1 << 16, STRANGERS = 8 };

/* Bytes that came, or that are to leave: [from, to) of what there is room for. */
typedef struct buffer {
    unsigned char *at;
    size_t from, to, room;
} buffer;

typedef struct connection {
    int in, out;
    uint32_t silo; /* at the other end, as it said itself; 0: unknown, or all of them */
    buffer came, leaves;
} connection;

typedef struct stream {
    carrier base;
    int listens; /* -1: no */
    bool bound;  /* the socket's file is this process's */
    connection *connection;
    size_t connections, most;
    double tried;    /* seconds: when the curator was looked for last */
    size_t taken;    /* bytes of the message that was given last, at ... */
    size_t taken_of; /* ... this connection */
    struct pollfd *poll;
} stream;

static billboard_status no_memory(void) {
    return cmd_fail(BILLBOARD_FAILED, "no memory for messages");
}

static billboard_status make_room(buffer *b, size_t more) {
    if (b->from && b->from == b->to) b->from = b->to = 0;
    if (b->room - b->to >= more) return BILLBOARD_OK;
    if (b->from) memmove(b->at, b->at + b->from, b->to - b->from);
    b->to -= b->from;
    b->from = 0;
    if (b->room - b->to >= more) return BILLBOARD_OK;
    size_t room = b->room ? b->room : READ_AT_ONCE;
    while (room - b->to < more) {
        if (room > SIZE_MAX / 2) return no_memory();
        room *= 2;
    }
    unsigned char *at = realloc(b->at, room);
    if (!at) return no_memory();
    b->at = at;
    b->room = room;
    return BILLBOARD_OK;
}

/* -- connections -- */

static void add(stream *s, int in, int out) {
    s->connection[s->connections++] = (connection){.in = in, .out = out};
}

static void drop(stream *s, size_t k) {
    connection *c = &s->connection[k];
    if (c->in > STDERR_FILENO) close(c->in);
    free(c->came.at);
    free(c->leaves.at);
    *c = s->connection[--s->connections];
}

static connection *to(const stream *s, uint32_t silo) {
    for (size_t k = 0; k < s->connections; k++)
        if (s->base.way.silo || s->base.way.kind == CARRIER_STDIO ||
            s->connection[k].silo == silo)
            return &s->connection[k];
    return NULL;
}

static bool reaches(const carrier *c, uint32_t silo) {
    return to((const stream *)c, silo) != NULL;
}

static bool is_empty(const carrier *c) {
    const stream *s = (const stream *)c;
    bool empty = true;
    for (size_t k = 0; k < s->connections; k++)
        empty = empty && s->connection[k].leaves.from == s->connection[k].leaves.to;
    return empty;
}

/* -- the socket -- */

static billboard_status socket_failed(const stream *s, const char *what) {
    return cmd_fail(BILLBOARD_FAILED, "%s: %s: %s", s->base.way.path, what,
                    strerror(errno));
}

static billboard_status open_socket(const stream *s, int *file,
                                    struct sockaddr_un *name) {
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    *file = -1;
    if (strlen(s->base.way.path) >= sizeof name->sun_path)
        return cmd_fail(BILLBOARD_USAGE,
                        "%s: a socket's path has less than %zu characters",
                        s->base.way.path, sizeof name->sun_path);
    memcpy(name->sun_path, s->base.way.path, strlen(s->base.way.path));
    *file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return *file < 0 ? socket_failed(s, "no socket") : BILLBOARD_OK;
}

static bool connects(int file, const struct sockaddr_un *name) {
    return connect(file, (const struct sockaddr *)name, sizeof *name) == 0;
}

/* What is there already may be left of a curator that was killed. */
static billboard_status make_way(const stream *s, const struct sockaddr_un *name) {
    struct stat there;
    struct sockaddr_un same;
    int file;
    if (lstat(s->base.way.path, &there)) return BILLBOARD_OK;
    const billboard_status status = open_socket(s, &file, &same);
    if (status) return status;
    const bool used = !S_ISSOCK(there.st_mode) || connects(file, name);
    close(file);
    if (used)
        return cmd_fail(BILLBOARD_FAILED, "%s: is in use already", s->base.way.path);
    return unlink(s->base.way.path) ? socket_failed(s, "cannot be replaced")
                                    : BILLBOARD_OK;
}

/* Every silo has a connection, beside the files of the run, and poll looks at two entries for
 * each, which may not be more than the files that may be open. */
static billboard_status make_room_for_all(const stream *s) {
    enum { FILES = 100 };
    const rlim_t need = 2 * s->most + FILES;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= need) return BILLBOARD_OK;
    files.rlim_cur = need;
    if (files.rlim_max >= need && !setrlimit(RLIMIT_NOFILE, &files))
        return BILLBOARD_OK;
    return cmd_fail(BILLBOARD_FAILED,
                    "%s: %u silos need %llu open files; this process may have %llu "
                    "(ulimit -n)",
                    s->base.way.path, s->base.way.silos, (unsigned long long)need,
                    (unsigned long long)files.rlim_max);
}

static billboard_status wait_at_socket(stream *s) {
    struct sockaddr_un name;
    billboard_status status = make_room_for_all(s);
    if (!status) status = open_socket(s, &s->listens, &name);
    if (!status) status = make_way(s, &name);
    if (status) return status;
    const mode_t before = umask(0177);
    const int bound = bind(s->listens, (const struct sockaddr *)&name, sizeof name);
    umask(before);
    s->bound = !bound;
    if (bound || listen(s->listens, (int)s->most))
        return socket_failed(s, "cannot be made");
    return BILLBOARD_OK;
}

/* A silo's way to the curator; it is no failure if that is not there. */
static billboard_status reconnect(stream *s) {
    struct sockaddr_un name;
    int file;
    const billboard_status status = open_socket(s, &file, &name);
    if (status) return status;
    if (connects(file, &name))
        add(s, file, file);
    else
        close(file);
    return BILLBOARD_OK;
}

static void accept_one(stream *s) {
    const int file = accept(s->listens, NULL, NULL);
    if (file < 0) return;
    if (s->connections < s->most)
        add(s, file, file);
    else
        close(file);
}

/* -- messages -- */

static billboard_status queue(carrier *base, uint32_t silo, const void *bytes,
                              size_t size) {
    stream *s = (stream *)base;
    connection *c = to(s, silo);
    if (!c) return BILLBOARD_OK; /* it asks again when it is back */
    const billboard_status status = make_room(&c->leaves, LENGTH + size);
    if (status) return status;
    for (int k = 0; k < LENGTH; k++)
        c->leaves.at[c->leaves.to++] = (unsigned char)((uint64_t)size >> (8 * k));
    memcpy(c->leaves.at + c->leaves.to, bytes, size);
    c->leaves.to += size;
    return BILLBOARD_OK;
}

static uint64_t length_at(const unsigned char *at) {
    uint64_t length = 0;
    for (int k = 0; k < LENGTH; k++) length |= (uint64_t)at[k] << (8 * k);
    return length;
}

/* Of whom the last message was. */
static void introduce(carrier *base) {
    stream *s = (stream *)base;
    if (base->way.silo || base->way.kind == CARRIER_STDIO || !s->taken) return;
    connection *c = &s->connection[s->taken_of];
    const uint32_t silo =
        carrier_read(c->came.at + c->came.from + LENGTH, s->taken - LENGTH).silo;
    for (size_t k = 0; k < s->connections; k++)
        if (s->connection[k].silo == silo) s->connection[k].silo = 0;
    c->silo = silo;
}

/* On a socket a silo speaks for itself only, once it was introduced. */
static bool may_say(const stream *s, const connection *c, const message *m) {
    if (m->kind == MESSAGE_NONE) return false;
    if (s->base.way.silo || s->base.way.kind == CARRIER_STDIO) return true;
    return m->kind == MESSAGE_HELLO || m->kind == MESSAGE_REFUSE || m->silo == c->silo;
}

/* The next message that is there. */
static bool is_there(stream *s, message *got) {
    for (size_t k = 0; k < s->connections; k++) {
        connection *c = &s->connection[k];
        const size_t have = c->came.to - c->came.from;
        if (have < LENGTH) continue;
        const uint64_t length = length_at(c->came.at + c->came.from);
        if (have - LENGTH < length) continue;
        *got = carrier_read(c->came.at + c->came.from + LENGTH, (size_t)length);
        s->taken = LENGTH + (size_t)length;
        s->taken_of = k;
        if (may_say(s, c, got)) return true;
        got->kind = MESSAGE_NONE;
        c->came.from += s->taken; /* no message, or somebody else's */
        s->taken = 0;
        k--;
    }
    return false;
}

static void drop_taken(stream *s) {
    if (s->taken) s->connection[s->taken_of].came.from += s->taken;
    s->taken = 0;
}

/* False: nobody is there any more. */
static bool read_some(connection *c, billboard_status *status) {
    *status = make_room(&c->came, READ_AT_ONCE);
    if (*status) return true;
    const ssize_t done = read(c->in, c->came.at + c->came.to, READ_AT_ONCE);
    if (done < 0) return errno == EINTR || errno == EAGAIN;
    c->came.to += (size_t)done;
    return done > 0;
}

/* A pipe that is ready takes this much without waiting. Where nobody reads any more there
 * may still be something to read: what was said last. */
static void write_some(connection *c) {
    const size_t left = c->leaves.to - c->leaves.from;
    const size_t most = left < PIPE_BUF ? left : PIPE_BUF;
    const ssize_t done = write(c->out, c->leaves.at + c->leaves.from, most);
    if (done >= 0)
        c->leaves.from += (size_t)done;
    else if (errno != EINTR && errno != EAGAIN)
        c->leaves.from = c->leaves.to;
}

/* Two entries a connection, and the socket. */
static nfds_t prepare(stream *s) {
    nfds_t n = 0;
    for (size_t k = 0; k < s->connections; k++) {
        const connection *c = &s->connection[k];
        const bool leaves = c->leaves.from < c->leaves.to;
        s->poll[n++] = (struct pollfd){.fd = c->in, .events = POLLIN};
        s->poll[n++] = (struct pollfd){.fd = leaves ? c->out : -1, .events = POLLOUT};
    }
    s->poll[n++] = (struct pollfd){.fd = s->listens, .events = POLLIN};
    return n;
}

/* From the last to the first, since one that is gone gives its place to the last. */
static billboard_status serve(stream *s) {
    billboard_status status = BILLBOARD_OK;
    const bool knocks = s->poll[2 * s->connections].revents != 0;
    for (size_t k = s->connections; k-- > 0 && !status;) {
        bool there = true;
        if (s->poll[2 * k + 1].revents) write_some(&s->connection[k]);
        if (s->poll[2 * k].revents) there = read_some(&s->connection[k], &status);
        if (!there) drop(s, k);
    }
    if (knocks && !status) accept_one(s);
    return status;
}

/* At most once a second: a carrier may take the connection and have nobody behind it. */
static billboard_status look_for_curator(stream *s, double seconds, message *got) {
    const double pause = s->tried + 1.0 - cmd_now();
    if (pause > 0.0) {
        poll(NULL, 0, (int)(1000.0 * (seconds < pause ? seconds : pause)) + 1);
        return BILLBOARD_OK;
    }
    s->tried = cmd_now();
    const billboard_status status = reconnect(s);
    if (!status && s->connections) got->kind = MESSAGE_AGAIN;
    return status;
}

static billboard_status receive(carrier *base, double seconds, message *got) {
    stream *s = (stream *)base;
    drop_taken(s);
    if (is_there(s, got)) return BILLBOARD_OK;
    if (!s->connections && base->way.kind == CARRIER_STDIO)
        return cmd_fail(BILLBOARD_FAILED, "standard input has ended");
    if (!s->connections && base->way.silo) return look_for_curator(s, seconds, got);
    const nfds_t n = prepare(s);
    const int ready = poll(s->poll, n, (int)(1000.0 * seconds));
    if (ready <= 0) return BILLBOARD_OK; /* nothing, or a signal */
    const billboard_status status = serve(s);
    if (!status) is_there(s, got);
    return status;
}

static void close_stream(carrier *c) {
    stream *s = (stream *)c;
    while (s->connection && s->connections) drop(s, s->connections - 1);
    if (s->listens >= 0) {
        close(s->listens);
        if (s->bound) unlink(c->way.path);
    }
    free(s->connection);
    free(s->poll);
    free(s);
}

static const carrier_class class = {reaches,   queue,    receive,
                                    introduce, is_empty, close_stream};

billboard_status carrier_stream_open(carrier **out, const carrier_way *way) {
    stream *s = calloc(1, sizeof *s);
    if (!s) return no_memory();
    s->base = (carrier){&class, *way};
    s->listens = -1;
    s->tried = cmd_now() - 1.0;
    s->most = way->silo ? 1 : way->silos + STRANGERS;
    s->connection = calloc(s->most, sizeof *s->connection);
    s->poll = calloc(2 * s->most + 1, sizeof *s->poll);
    billboard_status status = s->connection && s->poll ? BILLBOARD_OK : no_memory();
    if (!status && way->kind == CARRIER_STDIO) add(s, STDIN_FILENO, STDOUT_FILENO);
    if (!status && way->kind == CARRIER_SOCKET && !way->silo)
        status = wait_at_socket(s);
    if (status)
        close_stream(&s->base);
    else
        *out = &s->base;
    return status;
}
