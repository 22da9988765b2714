/* Answers browsers on this machine: four paths, of which two change. libmicrohttpd is loaded
 * when the first page is asked for, since few runs have one. */
#include "page.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/* clang-format off */
#define HTTP_NAMES(use)                                                                \
    use(add_response_header) use(create_response_from_buffer) use(destroy_response)    \
    use(lookup_connection_value) use(queue_response) use(start_daemon) use(stop_daemon)
/* clang-format on */

typedef struct library {
#define MEMBER(name) __typeof__(MHD_##name) *(name);
    HTTP_NAMES(MEMBER)
#undef MEMBER
} library;

static library http;

struct page_server {
    struct MHD_Daemon *daemon;
    pthread_mutex_t lock;
    char *status, *metrics; /* NULL: nothing is known yet */
};

static const char page_html[] = {
#include "page.html.inc"
};
static const char page_css[] = {
#include "page.css.inc"
};
static const char page_js[] = {
#include "page.js.inc"
};

static billboard_status load(void) {
    static const char *const name[] = {
#define NAME(name) "MHD_" #name,
        HTTP_NAMES(NAME)
#undef NAME
    };
    void *const part = dlopen(BB_MICROHTTPD_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    char *to = (char *)&http;
    bool whole = part;
    for (size_t k = 0; k < sizeof name / sizeof *name && whole; k++) {
        void *const address = dlsym(part, name[k]);
        whole = address;
        memcpy(to + k * sizeof address, &address, sizeof address);
    }
    return whole ? BILLBOARD_OK
                 : cmd_fail(BILLBOARD_FAILED,
                            "--page needs %s, which cannot be loaded (%s); Debian's "
                            "package is %s",
                            BB_MICROHTTPD_LIBRARY, dlerror(), BB_MICROHTTPD_PACKAGE);
}

/* -- answers -- */

/* A page of another site that has its name point to this machine is not let in: browsers
 * send that name. The port may be another one, through ssh. */
static bool is_for_this_machine(const char *host) {
    static const char *const own[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t k = 0; host && k < sizeof own / sizeof *own; k++) {
        const size_t length = strlen(own[k]);
        if (strncasecmp(host, own[k], length) != 0) continue;
        const char *rest = host + length;
        if (!*rest) return true;
        if (*rest == ':' && rest[1] && !rest[1 + strspn(rest + 1, "0123456789")])
            return true;
    }
    return false;
}

typedef struct content {
    unsigned status;
    const char *type, *text;
} content;

static const char plain_text[] = "text/plain; charset=utf-8";

/* With server->lock. */
static content find(const page_server *server, const char *url) {
    const content fixed[] = {
        {200, "text/html; charset=utf-8", page_html},
        {200, "text/css; charset=utf-8", page_css},
        {200, "text/javascript; charset=utf-8", page_js},
        {200, "application/json", server->status},
        {200, "text/plain; version=0.0.4; charset=utf-8", server->metrics}};
    static const char *const path[] = {"/", "/page.css", "/page.js", "/status.json",
                                       "/metrics"};
    for (size_t k = 0; k < sizeof path / sizeof *path; k++)
        if (strcmp(url, path[k]) == 0)
            return fixed[k].text
                       ? fixed[k]
                       : (content){503, plain_text, "the run is being planned\n"};
    return (content){404, plain_text, "not found\n"};
}

static enum MHD_Result send_content(struct MHD_Connection *connection, content c) {
    static const char *const header[][2] = {
        {"Cache-Control", "no-store"},
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
         "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Referrer-Policy", "no-referrer"},
        {"X-Content-Type-Options", "nosniff"}};
    struct MHD_Response *response = http.create_response_from_buffer(
        strlen(c.text), (void *)(uintptr_t)c.text, MHD_RESPMEM_MUST_COPY);
    if (!response) return MHD_NO;
    bool whole = http.add_response_header(response, "Content-Type", c.type) == MHD_YES;
    if (c.status == 405)
        whole &= http.add_response_header(response, "Allow", "GET, HEAD") == MHD_YES;
    for (size_t k = 0; k < sizeof header / sizeof *header; k++)
        whole &=
            http.add_response_header(response, header[k][0], header[k][1]) == MHD_YES;
    const enum MHD_Result done =
        whole ? http.queue_response(connection, c.status, response) : MHD_NO;
    http.destroy_response(response);
    return done;
}

static enum MHD_Result answer(void *self, struct MHD_Connection *connection,
                              const char *url, const char *method, const char *version,
                              const char *sent, size_t *size, void **context) {
    page_server *server = self;
    (void)version, (void)sent, (void)size, (void)context;
    if (!is_for_this_machine(
            http.lookup_connection_value(connection, MHD_HEADER_KIND, "Host")))
        return send_content(
            connection, (content){403, plain_text, "this page is at localhost only\n"});
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return send_content(connection, (content){405, plain_text, "GET or HEAD\n"});
    pthread_mutex_lock(&server->lock); /* for as long as it takes to copy the text */
    const enum MHD_Result done = send_content(connection, find(server, url));
    pthread_mutex_unlock(&server->lock);
    return done;
}

/* -- a server -- */

/* A socket that only this machine reaches. */
static billboard_status listen_at(unsigned *port, int *at) {
    const int yes = 1;
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)*port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof name;
    *at = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*at >= 0 && !setsockopt(*at, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) &&
        !bind(*at, (const struct sockaddr *)&name, length) && !listen(*at, 16) &&
        !getsockname(*at, (struct sockaddr *)&name, &length)) {
        *port = ntohs(name.sin_port);
        return BILLBOARD_OK;
    }
    const int why = errno;
    if (*at >= 0) close(*at);
    return cmd_fail(BILLBOARD_FAILED, "--page %u: %s", *port,
                    why == EADDRINUSE ? "another program has this port"
                                      : strerror(why));
}

/* Signals are for the thread of the run. */
static billboard_status start(page_server *server, unsigned port, int at) {
    enum { READERS = 32, READER_BYTES = 16384, SECONDS = 10 };
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    server->daemon = http.start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC, (uint16_t)port,
        NULL, NULL, answer, server, MHD_OPTION_LISTEN_SOCKET, at,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)READERS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)READER_BYTES,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SECONDS, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (server->daemon) return BILLBOARD_OK;
    close(at);
    return cmd_fail(BILLBOARD_FAILED, "--page %u: cannot be served", port);
}

billboard_status page_server_open(page_server **out, unsigned *port) {
    int at = -1;
    billboard_status status = load();
    if (!status) status = listen_at(port, &at);
    if (status) return status;
    page_server *server = calloc(1, sizeof *server);
    if (!server) {
        close(at);
        return cmd_fail(BILLBOARD_FAILED, "no memory for a page");
    }
    pthread_mutex_init(&server->lock, NULL);
    status = start(server, *port, at);
    if (status)
        page_server_close(server);
    else
        *out = server;
    return status;
}

void page_server_show(page_server *server, char *status, char *metrics) {
    pthread_mutex_lock(&server->lock);
    char *const old[] = {server->status, server->metrics};
    server->status = status;
    server->metrics = metrics;
    pthread_mutex_unlock(&server->lock);
    free(old[0]);
    free(old[1]);
}

void page_server_close(page_server *server) {
    if (!server) return;
    if (server->daemon) http.stop_daemon(server->daemon);
    pthread_mutex_destroy(&server->lock);
    free(server->status);
    free(server->metrics);
    free(server);
}
