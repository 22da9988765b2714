/* Messages over standard input and output, or a Unix socket. What a message costs does not
 * depend on how many silos there are: who has something to say is told by epoll. */
#include "carrier.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LENGTH = 8, READ_AT_ONCE = 1 << 16, STRANGERS = 8, EVENTS = 64 };

/* Bytes that came, or that are to leave: [from, to) of what there is room for. */
typedef struct buffer {
    unsigned char *at;
    size_t from, to, room;
} buffer;

/* Keeps its place among all while it lasts. */
typedef struct connection {
    int in, out;   /* -1: nobody has this place */
    uint32_t silo; /* at the other end, as it said itself; 0: unknown, or all of them */
    buffer came, leaves;
} connection;

typedef struct stream {
    carrier base;
    int listens; /* -1: no */
    int events;  /* epoll's; -1: standard streams, which may be files, and are polled */
    connection *connection;
    size_t connections, most;
    size_t *vacant; /* most - connections places */
    size_t *place;  /* silos + 1: of this silo's connection; NOWHERE */
    size_t *unread; /* a ring: places where a message may be, none twice */
    size_t unread_at, unreads;
    size_t leaving;  /* connections with something that is to leave */
    double tried;    /* seconds: when the curator was looked for last */
    size_t taken;    /* bytes of the message that was given last, at ... */
    size_t taken_of; /* ... this connection */
} stream;

#define NOWHERE SIZE_MAX

static billboard_status no_memory(void) {
    return cmd_fail(BILLBOARD_FAILED, "no memory for messages");
}

static billboard_status cannot_watch(const stream *s) {
    return cmd_fail(BILLBOARD_FAILED, "%s: cannot be watched: %s", s->base.way.path,
                    strerror(errno));
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

static bool is_one(const stream *s) {
    return s->base.way.silo || s->base.way.kind == CARRIER_STDIO;
}

static bool has_to_leave(const connection *c) {
    return c->leaves.from < c->leaves.to;
}

static bool watch(const stream *s, size_t k, int how) {
    const connection *c = &s->connection[k];
    struct epoll_event of = {.events = has_to_leave(c) ? EPOLLIN | EPOLLOUT : EPOLLIN,
                             .data.u64 = k};
    return s->events < 0 || epoll_ctl(s->events, how, c->in, &of) == 0;
}

static void vacate(stream *s, size_t k) {
    s->connection[k] = (connection){.in = -1, .out = -1};
    s->vacant[s->most - s->connections--] = k;
}

/* False: there is no room for it, or the system has none; it is closed. */
static bool add(stream *s, int in, int out) {
    bool added = s->connections < s->most;
    if (added) {
        const size_t k = s->vacant[s->most - ++s->connections];
        s->connection[k] = (connection){.in = in, .out = out};
        added = watch(s, k, EPOLL_CTL_ADD);
        if (!added) vacate(s, k);
    }
    if (!added) close(in);
    return added;
}

/* What it has said was read. */
static void drop(stream *s, size_t k) {
    connection *c = &s->connection[k];
    s->leaving -= has_to_leave(c);
    if (c->silo) s->place[c->silo] = NOWHERE;
    if (c->in > STDERR_FILENO) close(c->in);
    free(c->came.at);
    free(c->leaves.at);
    vacate(s, k);
}

/* NOWHERE: not connected. */
static size_t to(const stream *s, uint32_t silo) {
    if (is_one(s)) return s->connections ? 0 : NOWHERE;
    return silo <= s->base.way.silos ? s->place[silo] : NOWHERE;
}

static bool reaches(const carrier *c, uint32_t silo) {
    return to((const stream *)c, silo) != NOWHERE;
}

static bool is_empty(const carrier *c) {
    return ((const stream *)c)->leaving == 0;
}

/* -- the socket -- */

/* A silo's way to the curator; it is no failure if that is not there. */
static billboard_status reconnect(stream *s) {
    int file;
    const billboard_status status = carrier_socket_reach(s->base.way.path, &file);
    if (!status && file >= 0) add(s, file, file);
    return status;
}

static void accept_one(stream *s) {
    const int file = accept(s->listens, NULL, NULL);
    if (file >= 0) add(s, file, file);
}

/* -- messages -- */

static billboard_status queue(carrier *base, uint32_t silo, const void *bytes,
                              size_t size) {
    stream *s = (stream *)base;
    const size_t place = to(s, silo);
    if (place == NOWHERE) return BILLBOARD_OK; /* it asks again when it is back */
    connection *c = &s->connection[place];
    const bool first = !has_to_leave(c);
    const billboard_status status = make_room(&c->leaves, LENGTH + size);
    if (status) return status;
    for (int k = 0; k < LENGTH; k++)
        c->leaves.at[c->leaves.to++] = (unsigned char)((uint64_t)size >> (8 * k));
    memcpy(c->leaves.at + c->leaves.to, bytes, size);
    c->leaves.to += size;
    s->leaving += first;
    if (first && !watch(s, place, EPOLL_CTL_MOD)) return cannot_watch(s);
    return BILLBOARD_OK;
}

static uint64_t length_at(const unsigned char *at) {
    uint64_t length = 0;
    for (int k = 0; k < LENGTH; k++) length |= (uint64_t)at[k] << (8 * k);
    return length;
}

/* Whether somebody is at its other end: of one who was killed that may not have been read yet. */
static bool is_open(const connection *c) {
    struct pollfd end = {.fd = c->in};
    return poll(&end, 1, 0) == 0;
}

/* Of whom the last message was. */
static bool introduce(carrier *base) {
    stream *s = (stream *)base;
    if (is_one(s) || !s->taken) return false;
    connection *c = &s->connection[s->taken_of];
    const uint32_t silo =
        carrier_read(c->came.at + c->came.from + LENGTH, s->taken - LENGTH).silo;
    if (silo < 1 || silo > base->way.silos) return false;
    const size_t before = s->place[silo];
    if (before != NOWHERE) s->connection[before].silo = 0;
    if (c->silo) s->place[c->silo] = NOWHERE;
    s->place[silo] = s->taken_of;
    c->silo = silo;
    return before != NOWHERE && before != s->taken_of &&
           is_open(&s->connection[before]);
}

/* On a socket a silo speaks for itself only, once it was introduced. */
static bool may_say(const stream *s, const connection *c, const message *m) {
    if (m->kind == MESSAGE_NONE) return false;
    if (is_one(s)) return true;
    return m->kind == MESSAGE_HELLO || m->kind == MESSAGE_REFUSE || m->silo == c->silo;
}

static void push_unread(stream *s, size_t k) {
    s->unread[(s->unread_at + s->unreads++) % s->most] = k;
}

static size_t pop_unread(stream *s) {
    const size_t k = s->unread[s->unread_at];
    s->unread_at = (s->unread_at + 1) % s->most;
    s->unreads--;
    return k;
}

/* The bytes of the first message of this connection; 0: it is not there yet. */
static size_t first_message(const connection *c) {
    const size_t have = c->came.to - c->came.from;
    if (have < LENGTH) return 0;
    const uint64_t length = length_at(c->came.at + c->came.from);
    return have - LENGTH < length ? 0 : LENGTH + (size_t)length;
}

/* The next message that is there; who has said one is behind all others then. */
static bool is_there(stream *s, message *got) {
    while (s->unreads) {
        const size_t k = pop_unread(s);
        connection *c = &s->connection[k];
        const size_t size = first_message(c);
        if (!size) continue;
        push_unread(s, k);
        *got = carrier_read(c->came.at + c->came.from + LENGTH, size - LENGTH);
        s->taken = size;
        s->taken_of = k;
        if (may_say(s, c, got)) return true;
        got->kind = MESSAGE_NONE;
        c->came.from += size; /* no message, or somebody else's */
        s->taken = 0;
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
static void write_some(stream *s, size_t k) {
    connection *c = &s->connection[k];
    const size_t left = c->leaves.to - c->leaves.from;
    const size_t most = left < PIPE_BUF ? left : PIPE_BUF;
    if (!left) return;
    const ssize_t done = write(c->out, c->leaves.at + c->leaves.from, most);
    if (done >= 0)
        c->leaves.from += (size_t)done;
    else if (errno != EINTR && errno != EAGAIN)
        c->leaves.from = c->leaves.to;
    if (has_to_leave(c)) return;
    s->leaving--;
    watch(s, k, EPOLL_CTL_MOD);
}

static billboard_status serve(stream *s, size_t k, bool reads, bool writes) {
    billboard_status status = BILLBOARD_OK;
    if (writes) write_some(s, k);
    if (!reads) return BILLBOARD_OK;
    if (read_some(&s->connection[k], &status))
        push_unread(s, k);
    else
        drop(s, k);
    return status;
}

static billboard_status serve_standard(stream *s, int milliseconds) {
    const connection *c = &s->connection[0];
    struct pollfd two[] = {{.fd = c->in, .events = POLLIN},
                           {.fd = has_to_leave(c) ? c->out : -1, .events = POLLOUT}};
    if (poll(two, 2, milliseconds) <= 0) return BILLBOARD_OK; /* nothing, or a signal */
    return serve(s, 0, two[0].revents, two[1].revents);
}

/* Nothing is unread, so that a connection that has ended has no message left. */
static billboard_status serve_all(stream *s, int milliseconds) {
    struct epoll_event of[EVENTS];
    billboard_status status = BILLBOARD_OK;
    const int ready = epoll_wait(s->events, of, EVENTS, milliseconds);
    for (int k = 0; k < ready && !status; k++) {
        if (of[k].data.u64 == NOWHERE)
            accept_one(s);
        else
            status = serve(s, (size_t)of[k].data.u64,
                           of[k].events & ~(uint32_t)EPOLLOUT, of[k].events & EPOLLOUT);
    }
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
    const int milliseconds = (int)(1000.0 * seconds);
    const billboard_status status =
        s->events < 0 ? serve_standard(s, milliseconds) : serve_all(s, milliseconds);
    if (!status) is_there(s, got);
    return status;
}

static void close_stream(carrier *c) {
    stream *s = (stream *)c;
    for (size_t k = 0; s->connections; k++)
        if (s->connection[k].in >= 0) drop(s, k);
    if (s->listens >= 0) {
        close(s->listens);
        unlink(c->way.path);
    }
    if (s->events >= 0) close(s->events);
    free(s->connection);
    free(s->vacant);
    free(s->place);
    free(s->unread);
    free(s);
}

static const carrier_class class = {NULL,      reaches,  queue,       receive,
                                    introduce, is_empty, close_stream};

static billboard_status take_memory(stream *s) {
    const carrier_way *way = &s->base.way;
    s->most = way->silo || way->kind == CARRIER_STDIO ? 1 : way->silos + STRANGERS;
    s->connection = calloc(s->most, sizeof *s->connection);
    s->vacant = calloc(s->most, sizeof *s->vacant);
    s->place = calloc((size_t)way->silos + 1, sizeof *s->place);
    s->unread = calloc(s->most, sizeof *s->unread);
    if (!s->connection || !s->vacant || !s->place || !s->unread) return no_memory();
    for (size_t k = 0; k < s->most; k++) {
        s->connection[k] = (connection){.in = -1, .out = -1};
        s->vacant[k] = k;
    }
    for (uint32_t silo = 0; silo <= way->silos; silo++) s->place[silo] = NOWHERE;
    return BILLBOARD_OK;
}

static billboard_status open_events(stream *s) {
    const carrier_way *way = &s->base.way;
    struct epoll_event of = {.events = EPOLLIN, .data.u64 = NOWHERE};
    s->events = epoll_create1(EPOLL_CLOEXEC);
    if (s->events < 0) return cannot_watch(s);
    if (way->silo) return BILLBOARD_OK;
    const billboard_status status =
        carrier_socket_listen(way->path, (uint32_t)s->most, &s->listens);
    if (status) return status;
    return epoll_ctl(s->events, EPOLL_CTL_ADD, s->listens, &of) ? cannot_watch(s)
                                                                : BILLBOARD_OK;
}

billboard_status carrier_stream_open(carrier **out, const carrier_way *way) {
    stream *s = calloc(1, sizeof *s);
    if (!s) return no_memory();
    s->base = (carrier){&class, *way};
    s->listens = s->events = -1;
    s->tried = cmd_now() - 1.0;
    billboard_status status = take_memory(s);
    if (!status && way->kind == CARRIER_STDIO) add(s, STDIN_FILENO, STDOUT_FILENO);
    if (!status && way->kind == CARRIER_SOCKET) status = open_events(s);
    if (status)
        close_stream(&s->base);
    else
        *out = &s->base;
    return status;
}
