#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ERROR_TEXT = 400, TIME_TEXT = 32 };
/* Seconds between two texts: they are made on the thread of the run. */
static const double pause_between = 0.2;

struct page {
    page_server *server;
    const place *place;
    double shown;  /* seconds: when */
    bool *refuses; /* silos + 1 */
    bool *late;    /* silos + 1: came when the run had begun without them */
    uint64_t errors;
    char error[ERROR_TEXT], error_time[TIME_TEXT]; /* the last; "": none */
};

billboard_status page_open(page **out, place *p) {
    unsigned port = (unsigned)p->page;
    if (p->page < 0) return BILLBOARD_OK;
    page *shown = calloc(1, sizeof *shown);
    if (shown) shown->refuses = calloc((size_t)p->way.silos + 1, 1);
    if (shown) shown->late = calloc((size_t)p->way.silos + 1, 1);
    billboard_status status = shown && shown->refuses && shown->late
                                  ? BILLBOARD_OK
                                  : cmd_fail(BILLBOARD_FAILED, "no memory for a page");
    if (shown) shown->place = p;
    if (!status) status = page_server_open(&shown->server, &port);
    if (status) {
        page_close(shown);
        return status;
    }
    place_say(p, "the page is at http://127.0.0.1:%u/", port);
    *out = shown;
    return BILLBOARD_OK;
}

void page_close(page *shown) {
    if (!shown) return;
    page_server_close(shown->server);
    free(shown->refuses);
    free(shown->late);
    free(shown);
}

/* The number that the second of two doors is carried as; 0: there is one. */
static uint32_t helper_of(const page *p) {
    const uint32_t all = p->place->way.silos;
    return all > p->place->roster->silos ? all : 0;
}

void page_failed(page *shown, uint32_t silo, bool refuses, const char *why) {
    if (!shown) return;
    struct tm parts;
    const time_t at = time(NULL);
    const char *name =
        billboard_experimental_agreement_silo(shown->place->agreement, silo);
    if (!name && silo && silo == helper_of(shown)) name = "the helper";
    snprintf(shown->error, sizeof shown->error, "%s%s%s", name ? name : "",
             name ? ": " : "", why);
    if (!gmtime_r(&at, &parts) ||
        !strftime(shown->error_time, TIME_TEXT, "%Y-%m-%dT%H:%M:%SZ", &parts))
        *shown->error_time = '\0';
    shown->errors++;
    if (name) shown->refuses[silo] = refuses;
    shown->shown = 0.0;
}

void page_too_late(page *shown, uint32_t silo) {
    if (!shown) return;
    shown->late[silo] = true;
    shown->shown = 0.0;
}

/* -- what is shown -- */

/* A text between quotation marks, as JSON and labels of Prometheus have it; what is not to be
 * printed is left out. */
static void quote(FILE *to, const char *text) {
    putc('"', to);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') putc('\\', to);
        if ((unsigned char)*text >= ' ' && *text != 0x7f) putc(*text, to);
    }
    putc('"', to);
}

/* What there is to say of a run now. */
typedef struct news {
    const page *page;
    const billboard_answer *run;
    const carrier *carrier;
} news;

static double number(const news *n, const char *path) {
    return billboard_answer_number(n->run, path);
}

static const char *silo_name(const news *n, uint32_t silo) {
    return billboard_experimental_agreement_silo(n->page->place->agreement, silo);
}

static const char *silo_state(const news *n, uint32_t silo) {
    char path[30];
    snprintf(path, sizeof path, "silos.%u", silo - 1);
    const bool helper = silo == helper_of(n->page);
    const char *state = billboard_answer_text(n->run, helper ? "helper" : path);
    if (strcmp(state, "away") != 0) return state;
    if (n->page->late[silo]) return "too late";
    return n->page->refuses[silo] ? "refuses" : state;
}

static void put_place(FILE *to, const news *n, uint32_t silo) {
    fprintf(to, "\"state\": \"%s\", \"reached\": %s}", silo_state(n, silo),
            carrier_reaches(n->carrier, silo) ? "true" : "false");
}

static void put_status(FILE *to, const news *n) {
    const page *p = n->page;
    fprintf(to, "{\"run\": %s,\n\"silos\": [", billboard_answer_json(n->run));
    for (uint32_t s = 1; s <= p->place->roster->silos; s++) {
        fputs(s > 1 ? ",\n{\"name\": " : "\n{\"name\": ", to);
        quote(to, silo_name(n, s));
        fputs(", ", to);
        put_place(to, n, s);
    }
    fputs("],\n\"helper\": ", to);
    if (helper_of(p)) {
        putc('{', to);
        put_place(to, n, helper_of(p));
    } else {
        fputs("null", to);
    }
    fprintf(to, ",\n\"errors\": %llu, \"error\": ", (unsigned long long)p->errors);
    quote(to, p->error);
    fprintf(to, ", \"error_time\": \"%s\"}\n", p->error_time);
}

static void put_gauge(FILE *to, const char *name, const char *help, double value) {
    fprintf(to,
            "# HELP billboard_%s %s\n# TYPE billboard_%s gauge\nbillboard_%s %.17g\n",
            name, help, name, name, value);
}

/* Epsilon has delta, adjacency and sampling beside it, or is not there. */
static void put_epsilon(FILE *to, const news *n) {
    static const char name[] = "billboard_epsilon_spent";
    if (isnan(number(n, "epsilon_spent"))) return;
    fprintf(to,
            "# HELP %s What the run has charged: all of it, before its first round.\n"
            "# TYPE %s gauge\n%s{delta=\"%.17g\",adjacency=",
            name, name, name, number(n, "promise.delta"));
    quote(to, billboard_answer_text(n->run, "promise.adjacency"));
    fputs(",sampling=", to);
    quote(to, billboard_answer_text(n->run, "promise.sampling"));
    fprintf(to, "} %.17g\n", number(n, "epsilon_spent"));
}

static const char *const states[] = {"away",   "refuses",  "too late",
                                     "joined", "answered", "left"};
enum { STATES = sizeof states / sizeof *states };

static void put_silos(FILE *to, const news *n) {
    fputs("# HELP billboard_silo What a silo is to the curator: 1 for the state it is "
          "in.\n"
          "# TYPE billboard_silo gauge\n",
          to);
    for (uint32_t s = 1; s <= n->page->place->roster->silos; s++)
        for (size_t k = 0; k < STATES; k++) {
            fputs("billboard_silo{silo=", to);
            quote(to, silo_name(n, s));
            fprintf(to, ",state=\"%s\"} %d\n", states[k],
                    strcmp(states[k], silo_state(n, s)) == 0);
        }
    fputs("# HELP billboard_silo_reached Whether something can be told to a silo now.\n"
          "# TYPE billboard_silo_reached gauge\n",
          to);
    for (uint32_t s = 1; s <= n->page->place->roster->silos; s++) {
        fputs("billboard_silo_reached{silo=", to);
        quote(to, silo_name(n, s));
        fprintf(to, "} %d\n", carrier_reaches(n->carrier, s));
    }
}

/* Only where there are two doors. */
static void put_helper(FILE *to, const news *n) {
    const uint32_t helper = helper_of(n->page);
    if (!helper) return;
    fputs(
        "# HELP billboard_helper What the helper is to the curator: 1 for the state it "
        "is in.\n"
        "# TYPE billboard_helper gauge\n",
        to);
    for (size_t k = 0; k < STATES; k++)
        fprintf(to, "billboard_helper{state=\"%s\"} %d\n", states[k],
                strcmp(states[k], silo_state(n, helper)) == 0);
    put_gauge(to, "helper_reached", "Whether something can be told to the helper now.",
              carrier_reaches(n->carrier, helper));
}

static void put_metrics(FILE *to, const news *n) {
    put_gauge(to, "charged", "Whether all have joined and the plan was charged.",
              number(n, "charged"));
    put_gauge(to, "private", "Whether the promise of the run holds.",
              number(n, "promise.private"));
    put_gauge(to, "round", "The round that was asked for last.", number(n, "round"));
    put_gauge(to, "rounds", "Rounds of the plan.", number(n, "rounds"));
    put_gauge(to, "published", "Rounds that were published.", number(n, "published"));
    put_gauge(to, "tasks", "Tasks of the run.", number(n, "promise.tasks"));
    put_epsilon(to, n);
    put_silos(to, n);
    put_helper(to, n);
    fprintf(to,
            "# HELP billboard_errors_total Messages that were left out.\n"
            "# TYPE billboard_errors_total counter\nbillboard_errors_total %llu\n",
            (unsigned long long)n->page->errors);
}

/* NULL: no memory. */
static char *text_of(void (*put)(FILE *to, const news *n), const news *n) {
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to) return NULL;
    put(to, n);
    const bool broken = ferror(to);
    if (!fclose(to) && !broken) return text;
    free(text);
    return NULL;
}

void page_show(page *shown, const billboard_experimental_curator *curator,
               const carrier *c) {
    billboard_answer *run = NULL;
    if (!shown || cmd_now() - shown->shown < pause_between) return;
    if (billboard_experimental_curator_progress(curator, &run)) return;
    shown->shown = cmd_now();
    for (uint32_t s = 1; s <= shown->place->way.silos; s++)
        if (billboard_experimental_curator_waits_for(curator, s))
            shown->refuses[s] = false;
    const news n = {shown, run, c};
    char *status = text_of(put_status, &n), *metrics = text_of(put_metrics, &n);
    if (status && metrics) {
        page_server_show(shown->server, status, metrics);
    } else { /* the run goes on, and the page stays as it was */
        free(status);
        free(metrics);
    }
    billboard_answer_free(run);
}
