#include "place.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PLAN = 5000,
    STDIO,
    SOCKET,
    FOLDER,
    NAME,
    POLICY,
    CHECK,
    PATIENCE,
    KEY,
    ROSTER,
    PAGE
};

/* Of train's options: what is a place's own. The rest is the plan's. */
static const char *const own_of_silo[] = {
    "task",       "target",         "format",     "separator", "labels",
    "tasks",      "train-fraction", "split-seed", "test",      "threads",
    "checkpoint", "output",         "json"};
static const char *const own_of_curator[] = {
    "ledger",       "population", "budget-epsilon", "budget-delta", "ledger-kind",
    "ledger-order", "checkpoint", "output",         "json"};
static const char *const own_of_helper[] = {
    "ledger",      "population",   "budget-epsilon", "budget-delta",
    "ledger-kind", "ledger-order", "checkpoint",     "output"};

typedef struct parsing {
    place *place;
    place_kind kind;
} parsing;

static void take_way(place *p, struct argp_state *state, carrier_kind kind,
                     const char *path) {
    if (p->has_way) argp_error(state, "one of --stdio, --socket and --folder");
    p->has_way = true;
    p->way.kind = kind;
    p->way.path = path;
}

static void take_patience(place *p, struct argp_state *state, const char *text) {
    char *end;
    p->patience = strtod(text, &end);
    if (end == text || *end || !(p->patience > 0.0) || !isfinite(p->patience))
        argp_error(state, "--patience expects seconds, more than 0, got \"%s\"", text);
}

static void take_page(place *p, struct argp_state *state, const char *text) {
    char *end;
    const unsigned long port = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || port > UINT16_MAX)
        argp_error(state, "--page expects a port, 0 to 65535, got \"%s\"", text);
    p->page = (int)port;
}

static bool take_train(place *p, int key, const char *text) {
    const char *name = cmd_flags_name(&p->flags, key);
    if (!name) return false;
    if (strcmp(name, "json") == 0)
        p->json = true;
    else if (strcmp(name, "output") == 0)
        p->output = text;
    else
        cmd_options_add(&p->given, name, text);
    return true;
}

/* Whether all is there that a place of this kind needs. */
static void check_line(const place *p, place_kind kind, struct argp_state *state) {
    const bool silo = kind == PLACE_SILO, helper = kind == PLACE_HELPER;
    if (!p->plan) argp_error(state, "which --plan?");
    if (!p->has_way && !p->check)
        argp_error(state, "how are messages carried: --stdio, --socket or --folder?");
    if (!p->output && !helper && !p->check)
        argp_error(state, "where does the result go: --output?");
    if (helper && !p->key) argp_error(state, "whose --key? A helper is known by it");
    if (!p->key != !p->keys) argp_error(state, "--key and --roster: both, or neither");
    if (silo && !p->data) argp_error(state, "which DATA?");
    if (silo && !p->name) argp_error(state, "which silo is this: --name?");
    if (silo && !p->policy) argp_error(state, "which --policy?");
}

static error_t parse(int key, char *text, struct argp_state *state) {
    const parsing *parsed = state->input;
    place *p = parsed->place;
    if (take_train(p, key, text)) return 0;
    switch (key) {
    case PLAN:
        p->plan = text;
        return 0;
    case NAME:
        p->name = text;
        return 0;
    case POLICY:
        p->policy = text;
        return 0;
    case CHECK:
        p->check = true;
        return 0;
    case KEY:
        p->key = text;
        return 0;
    case ROSTER:
        p->keys = text;
        return 0;
    case STDIO:
        take_way(p, state, CARRIER_STDIO, "standard input");
        return 0;
    case SOCKET:
        take_way(p, state, CARRIER_SOCKET, text);
        return 0;
    case FOLDER:
        take_way(p, state, CARRIER_FOLDER, text);
        return 0;
    case PATIENCE:
        take_patience(p, state, text);
        return 0;
    case PAGE:
        take_page(p, state, text);
        return 0;
    case ARGP_KEY_ARG:
        if (p->data || parsed->kind != PLACE_SILO)
            argp_error(state, "\"%s\": expected options only", text);
        p->data = text;
        return 0;
    case ARGP_KEY_END:
        check_line(p, parsed->kind, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool is_own(const char *name, place_kind kind) {
    static const struct {
        const char *const *name;
        size_t count;
    } own[] = {{own_of_curator, sizeof own_of_curator / sizeof *own_of_curator},
               {own_of_silo, sizeof own_of_silo / sizeof *own_of_silo},
               {own_of_helper, sizeof own_of_helper / sizeof *own_of_helper}};
    for (size_t k = 0; k < own[kind].count; k++)
        if (strcmp(name, own[kind].name[k]) == 0) return true;
    return false;
}

static const char silo_words[] =
    "Takes part in a run with the rows of this place, which do not leave it. The "
    "curator is whoever the other end of the messages is; what it may ask for is in "
    "the "
    "policy. Writes the run directory RUN with this place's models.\vStarted again "
    "with "
    "the same --checkpoint it goes on where it was, also after a crash.\n\nExample: "
    "billboard silo north.csv --plan plan.json --name north --policy policy.json "
    "--socket run.sock --checkpoint north.state -o north";
static const char curator_words[] =
    "Conducts a run of several silos: adds up what they send, adds the noise, "
    "publishes, "
    "and charges the ledger. It has no rows. Writes the run directory RUN, whose "
    "public "
    "half may be published.\vStarted again with the same --checkpoint it goes on where "
    "it was, also after a crash.\n\nExample: billboard curator --plan plan.json "
    "--socket run.sock --checkpoint curator.state -o joint";

static const char helper_words[] =
    "Keeps the second door of a run with two: adds noise of its own to what hides the "
    "silos' sums from the curator, so that nobody need trust the curator. It has no "
    "rows "
    "and sees no sums. The curator must not be the same people. Writes its record of "
    "the run to RUN, if one is named.\vStarted again with "
    "the "
    "same --checkpoint it goes on where it was, also after a crash; without that file "
    "the run cannot go on.\n\nExample: billboard helper --plan plan.json --key "
    "helper.key "
    "--roster roster.json --socket run.sock --checkpoint helper.state";

static billboard_status parse_line(place *p, int argc, char **argv, place_kind kind) {
    static const struct argp_option first[] = {
        {"plan", PLAN, "FILE", 0, "what all places have agreed on, as JSON", 1},
        {"stdio", STDIO, NULL, 0, "messages come and go by standard input and output",
         1},
        {"socket", SOCKET, "PATH", 0,
         "by a Unix socket: the curator makes it, silos look for it", 1},
        {"folder", FOLDER, "FOLDER", 0, "as files in a folder that all places share",
         1},
        {"name", NAME, "SILO", 0, "which silo of the plan this is", 1},
        {"policy", POLICY, "FILE", 0, "what this silo agrees to, as JSON", 1},
        {"check", CHECK, NULL, 0,
         "only say whether this silo could take part: nothing is said to anybody, "
         "written or charged",
         1},
        {"key", KEY, "FILE", 0,
         "this place's private key (`billboard identity new'): what it says is signed",
         1},
        {"roster", ROSTER, "FILE", 0,
         "whose signatures are taken (`billboard identity roster')", 1},
        {"patience", PATIENCE, "SECONDS", 0,
         "how long a round, once enough silos have answered, waits for the others "
         "(default: without end)",
         1},
        {"page", PAGE, "PORT", 0,
         "shows how far it is at http://127.0.0.1:PORT/, on this machine only (0: a "
         "free port, which is told)",
         1}};
    enum { FIRST = sizeof first / sizeof *first };
    parsing parsed = {p, kind};
    size_t count = 0, n = 0;
    while (p->flags.option[count].name || p->flags.option[count].doc) count++;
    struct argp_option *option = calloc(FIRST + count + 1, sizeof *option);
    if (!option) return cmd_fail(BILLBOARD_FAILED, "no memory for the flags");
    for (size_t k = 0; k < FIRST; k++) {
        const bool of_silo =
            first[k].key == NAME || first[k].key == POLICY || first[k].key == CHECK;
        const bool of_curator = first[k].key == PATIENCE || first[k].key == PAGE;
        if (of_silo ? kind == PLACE_SILO : !of_curator || kind == PLACE_CURATOR)
            option[n++] = first[k];
    }
    for (size_t k = 0; k < count; k++) {
        const struct argp_option *o = &p->flags.option[k];
        if (!o->name || !is_own(o->name, kind)) continue;
        option[n] = *o;
        option[n++].group = 2;
    }
    static const char *const words[] = {curator_words, silo_words, helper_words};
    const struct argp argp = {option,      parse, kind == PLACE_SILO ? "DATA" : NULL,
                              words[kind], NULL,  NULL,
                              NULL};
    argp_parse(&argp, argc, argv, 0, NULL, &parsed);
    free(option);
    return p->given.failed ? cmd_fail(BILLBOARD_FAILED, "no memory for the flags")
                           : BILLBOARD_OK;
}

static billboard_status find_self(place *p) {
    for (uint32_t k = 1; k <= p->roster->silos; k++)
        if (strcmp(billboard_experimental_agreement_silo(p->agreement, k), p->name) ==
            0)
            p->way.silo = k;
    if (p->way.silo) return BILLBOARD_OK;
    return cmd_fail(
        BILLBOARD_USAGE,
        "%s: there is no silo \"%s\" in it: the first is \"%s\", the last "
        "\"%s\"",
        p->plan, p->name, billboard_experimental_agreement_silo(p->agreement, 1),
        billboard_experimental_agreement_silo(p->agreement, p->roster->silos));
}

/* A run directory that is there, with a checkpoint, is this run's: a place that keeps what it has may be started again at any time, also after its end. */
static billboard_status check_output(place *p) {
    int made = 0;
    p->checkpoint = cmd_options_last(&p->given, "checkpoint");
    if (!p->output) return BILLBOARD_OK;
    const bool there = access(p->output, F_OK) == 0;
    p->stored = there && p->checkpoint && access(p->checkpoint, F_OK) == 0;
    if (p->stored) return BILLBOARD_OK;
    const billboard_status status =
        billboard_experimental_agreement_made(p->agreement, p->output, &made);
    if (status || !there) return status;
    if (!p->checkpoint || !made)
        return cmd_fail(BILLBOARD_USAGE, "%s: exists already", p->output);
    p->over = true;
    place_say(p,
              "%s has what came of this run, which is over for this place; another run "
              "needs another directory",
              p->output);
    return BILLBOARD_OK;
}

/* -- what the library says, whose options are train's -- */

static bool is_of_train(const place *p, const char *name) {
    for (const struct argp_option *o = p->flags.option; o && (o->name || o->doc); o++)
        if (o->name && strcmp(o->name, name) == 0) return true;
    return false;
}

/* Behind an option's name: the word that stands for its value. */
static size_t value_length(const char *text) {
    const size_t length =
        *text == ' ' ? 1 + strspn(text + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZx") : 0;
    return length > 1 && !isalnum((unsigned char)text[length]) ? length : 0;
}

/* The text with options that this command does not have as the files have them that it is
 * given, and at its end, if `where`, which files these are; to be freed. NULL: no memory. */
static char *own_words(const place *p, const char *text, bool where) {
    char *words = NULL, name[40];
    size_t size = 0;
    bool in_plan = false, in_policy = false;
    FILE *to = open_memstream(&words, &size);
    for (const char *at = text; to && *at;) {
        size_t length = strncmp(at, "--", 2) == 0
                            ? strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-")
                            : 0;
        snprintf(name, sizeof name, "%.*s", (int)length, at + 2);
        if (!length || !is_of_train(p, name) || is_own(name, p->kind)) {
            putc(*at++, to);
            continue;
        }
        const bool of_policy = p->kind == PLACE_SILO && is_own(name, PLACE_HELPER);
        in_policy = in_policy || of_policy;
        in_plan = in_plan || !of_policy;
        fprintf(to, "\"%s\"", name);
        at += 2 + length;
        at += value_length(at);
    }
    if (to && where && (in_plan || in_policy))
        fprintf(to, " (in %s%s%s)", in_plan ? p->plan : p->policy,
                in_plan && in_policy ? ", " : "",
                in_plan && in_policy ? p->policy : "");
    return to && fclose(to) == 0 ? words : NULL;
}

static void warn(void *self, const char *text) {
    char *words = own_words(self, text, true);
    place_say(self, "warning: %s", words ? words : text);
    free(words);
}

static void tell(void *self, const char *text) {
    place_say(self, "%s", text);
}

static void watch(void *self, const char *what, uint32_t done, uint32_t all) {
    place *p = self;
    progress_watch(&p->bar, what, done, all);
}

billboard_status place_open(place *p, int argc, char **argv, place_kind kind) {
    *p = (place){.kind = kind,
                 .bar = progress_open(),
                 .page = -1,
                 .way = {.say = tell, .self = p}};
    p->watch = (billboard_watch){sizeof p->watch, p, watch, warn, cmd_listen()};
    billboard_status status = cmd_flags_open(&p->flags);
    if (!status) status = parse_line(p, argc, argv, kind);
    if (!status) status = billboard_experimental_agreement_read(p->plan, &p->agreement);
    if (status) return status;
    p->roster = billboard_experimental_agreement_roster(p->agreement);
    p->job = billboard_experimental_agreement_job(p->agreement);
    for (size_t k = 0; k < p->given.count && !status; k++)
        status = billboard_job_set(p->job, p->given.option[k].name,
                                   p->given.option[k].value);
    if (!status) status = check_output(p);
    if (status) return status;
    const bool two = billboard_experimental_agreement_doors(p->agreement) == 2;
    p->way.silos = p->roster->silos + two; /* the helper is carried as one more */
    if (kind == PLACE_SILO) status = find_self(p);
    if (kind == PLACE_HELPER && !two)
        status =
            cmd_fail(BILLBOARD_USAGE,
                     "%s: this run has one door, and needs no helper: \"doors\": 2 "
                     "among its options makes it two",
                     p->plan);
    if (kind == PLACE_HELPER) p->way.silo = p->way.silos;
    if (!status && p->key)
        status = billboard_experimental_agreement_identify(p->agreement, p->way.silo,
                                                           p->key, p->keys);
    return status;
}

static void close_place(place *p) {
    progress_close(&p->bar);
    billboard_experimental_agreement_free(p->agreement);
    cmd_options_free(&p->given);
    cmd_flags_close(&p->flags);
}

void place_say(place *p, const char *format, ...) {
    va_list arguments;
    progress_close(&p->bar);
    fputs("billboard: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    putc('\n', stderr);
}

const char *place_silo(const place *p, uint32_t silo) {
    const char *name = billboard_experimental_agreement_silo(p->agreement, silo);
    if (name) return name;
    return silo == p->way.silos && silo ? "the helper" : "nobody";
}

void place_clock(time_t at, char text[PLACE_CLOCK]) {
    const time_t now = time(NULL);
    struct tm then = {0}, today = {0};
    localtime_r(&at, &then);
    localtime_r(&now, &today);
    const bool is_today =
        then.tm_yday == today.tm_yday && then.tm_year == today.tm_year;
    strftime(text, PLACE_CLOCK, is_today ? "%H:%M" : "%Y-%m-%d %H:%M", &then);
}

billboard_status place_store(const place *p, const billboard_result *result,
                             FILE *stream) {
    const billboard_status status = billboard_result_save(result, p->output, 0);
    if (status) return status;
    const char *text = billboard_result_text(result);
    char *words = p->json ? NULL : own_words(p, text, false);
    fputs(p->json ? billboard_answer_json(billboard_result_answer(result))
          : words ? words
                  : text,
          stream);
    if (p->json) putc('\n', stream);
    free(words);
    return BILLBOARD_OK;
}

int place_end(place *p, cmd_output *output, billboard_status status) {
    const bool carries = p->has_way && p->way.kind == CARRIER_STDIO;
    char *words = status ? own_words(p, cmd_failure(), true) : NULL;
    if (words) status = cmd_fail(status, "%s", words);
    free(words);
    close_place(p);
    output->wrap = !p->json;
    if (carries && !status && output->stream && !fflush(output->stream)) {
        fputs(output->text, stderr);
        rewind(output->stream);
    }
    return cmd_close(output, status);
}
