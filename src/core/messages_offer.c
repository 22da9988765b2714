/* The offer: what a run is, and its plan. */
#include "core/messages.h"

#include <stdio.h>
#include <string.h>

static void put_options(bb_writer *writer, const bb_phase *phase) {
    /* json_dumps loses a key where memory ends: a buffer of our own does not end */
    json_t *json = bb_options_json(phase->method->options, phase->options);
    const size_t length = json ? json_dumpb(json, NULL, 0, JSON_COMPACT) : 0;
    bb_put_u64(writer, length);
    uint8_t *at = length ? bb_put(writer, length) : NULL;
    if (!at || json_dumpb(json, (char *)at, length, JSON_COMPACT) != length)
        writer->status = bb_fail(BB_ENOMEM, "no memory for an offer");
    json_decref(json);
}

/* Long arrays count by their SHA-256. */
static void put_digest(bb_writer *writer, const void *bytes, size_t size) {
    uint8_t digest[BB_HASH_BYTES] = {0};
    bb_hash hash;
    bb_hash_open(&hash);
    if (bytes) bb_hash_add(&hash, bytes, size);
    if (bytes) bb_hash_digest(&hash, digest);
    bb_put_bytes(writer, digest, sizeof digest);
}

/* Terms whose values say something to people. */
typedef enum mark_kind { MARK_OTHER, MARK_COUNT, MARK_REAL, MARK_TEXT } mark_kind;

/* Where each of the terms ends, for whoever wants to know which one differs. */
typedef struct marks {
    const bb_writer *writer;
    size_t count;
    struct {
        const char *name;
        mark_kind kind;
        size_t end;
    } at[32 + 4 * BB_MOST_PHASES];
} marks;

static void mark_as(marks *m, const char *name, mark_kind kind) {
    m->at[m->count].name = name;
    m->at[m->count].kind = kind;
    m->at[m->count++].end = m->writer->length;
}

static void mark(marks *m, const char *name) {
    mark_as(m, name, MARK_OTHER);
}

static void put_public(bb_writer *writer, const bb_public *pub, marks *m) {
    const struct {
        const char *name;
        uint64_t value;
        mark_kind kind;
    } count[] = {{"the number of tasks", pub->tasks, MARK_COUNT},
                 {"the number of features", pub->features, MARK_COUNT},
                 {"the number of outputs", pub->outputs, MARK_COUNT},
                 {"the size of a model", pub->parameters, MARK_COUNT},
                 {"the network", pub->network, MARK_OTHER},
                 {"the network below its last layer", pub->trunk, MARK_OTHER},
                 {"the batch", pub->batch, MARK_COUNT},
                 {"the number of clusters", pub->clusters, MARK_COUNT},
                 {"the loss", pub->loss, MARK_OTHER},
                 {"the intercept", pub->intercept, MARK_OTHER},
                 {"the scale of the loss", pub->scale_sum, MARK_OTHER},
                 {"the adjacency", pub->adjacency, MARK_OTHER},
                 {"the sampling", pub->sampling, MARK_OTHER},
                 {"the size of a cohort", pub->cohort, MARK_COUNT},
                 {"the number of doors", pub->doors > 1 ? 2 : 1, MARK_COUNT}};
    const struct {
        const char *name;
        double value;
    } real[] = {{"epsilon", pub->epsilon},
                {"delta", pub->delta},
                {"the sampling rate", pub->rate}};
    for (size_t k = 0; k < sizeof count / sizeof *count; k++) {
        bb_put_u64(writer, count[k].value);
        mark_as(m, count[k].name, count[k].kind);
    }
    for (size_t k = 0; k < sizeof real / sizeof *real; k++) {
        bb_put_double(writer, real[k].value);
        mark_as(m, real[k].name, MARK_REAL);
    }
    bb_put_text(writer, pub->schedule ? pub->schedule : "");
    mark(m, "the schedule");
    put_digest(writer, pub->cluster, pub->cluster ? pub->tasks * sizeof(uint32_t) : 0);
    mark(m, "the tasks' clusters");
    const bb_relations *r = pub->relations;
    put_digest(writer, r ? r->show : NULL, r ? r->tasks * r->rank * sizeof(double) : 0);
    mark(m, "the tasks' relations");
    put_digest(writer, pub->start, pub->start ? pub->parameters * sizeof(double) : 0);
    mark(m, "where models start");
}

static void put_terms(bb_writer *writer, const bb_phases *phases, marks *m) {
    const bb_run *run = &phases->run;
    *m = (marks){.writer = writer};
    bb_put_text(writer, run->mechanism->name);
    mark_as(m, "the mechanism", MARK_TEXT);
    bb_put_u32(writer, run->seeded);
    bb_put_u64(writer, run->seeded ? run->seed : 0);
    mark(m, "the seed");
    put_public(writer, &run->pub, m);
    bb_put_u32(writer, (uint32_t)run->phases);
    mark(m, "the number of phases");
    for (size_t k = 0; k < run->phases; k++) {
        const bb_phase *phase = &run->phase[k];
        bb_put_text(writer, phase->method->name);
        mark_as(m, "the method", MARK_TEXT);
        put_options(writer, phase);
        mark(m, "a method's options");
        bb_put_u32(writer, phase->rounds);
        mark(m, "the rounds");
        bb_put_double(writer, phase->share);
        mark(m, "the phases' shares");
    }
    put_digest(writer, run->agreed, BB_HASH_BYTES);
    mark(m, "the names of tasks, features or target, or how rows are prepared");
}

void bb_put_terms(bb_writer *writer, const bb_phases *phases) {
    marks m;
    put_terms(writer, phases, &m);
}

enum { VALUE_TEXT = 60 };

/* What is at a mark, as people read it; "" for what they do not. */
static void say_value(mark_kind kind, bb_reader reader, char text[VALUE_TEXT]) {
    *text = '\0';
    if (kind == MARK_COUNT)
        snprintf(text, VALUE_TEXT, "%llu", (unsigned long long)bb_get_u64(&reader));
    if (kind == MARK_REAL) snprintf(text, VALUE_TEXT, "%g", bb_get_double(&reader));
    if (kind == MARK_TEXT) {
        const uint64_t length = bb_get_u64(&reader);
        const uint8_t *at = length < VALUE_TEXT ? bb_get(&reader, length) : NULL;
        for (size_t k = 0; at && k < length; k++)
            text[k] = at[k] >= ' ' && at[k] <= '~' ? (char)at[k] : '?';
        text[at ? length : 0] = '\0';
    }
    if (reader.bad) *text = '\0';
}

/* The k-th mark, and what it is on both sides. */
static bb_status differ(const marks *m, size_t k, bb_reader own, bb_reader other,
                        const char *what) {
    char here[VALUE_TEXT], there[VALUE_TEXT];
    const size_t from = k ? m->at[k - 1].end : 0;
    bb_get(&own, from);
    bb_get(&other, from);
    say_value(m->at[k].kind, own, here);
    say_value(m->at[k].kind, other, there);
    if (!*here || !*there) return bb_fail(BB_EDATA, "%s: %s", what, m->at[k].name);
    return bb_fail(BB_EDATA, "%s: %s: %s here, %s there", what, m->at[k].name, here,
                   there);
}

bb_status bb_check_terms(bb_reader *reader, const bb_phases *phases, const char *what) {
    bb_writer own = {0};
    marks m;
    size_t same = 0, k = 0;
    put_terms(&own, phases, &m);
    bb_status status = own.status;
    while (!status && same < own.length && same < reader->left &&
           own.at[same] == reader->at[same])
        same++;
    if (!status && same < own.length) {
        while (k + 1 < m.count && m.at[k].end <= same) k++;
        status =
            differ(&m, k, bb_reader_of((bb_bytes){own.at, own.length}), *reader, what);
    }
    if (!status) bb_get(reader, own.length);
    bb_writer_close(&own);
    return status;
}

bb_status bb_check_kept(bb_reader *reader, const bb_phases *phases, const char *file) {
    const bb_status status =
        bb_check_terms(reader, phases, "is of another run than this plan's");
    return status == BB_EDATA ? bb_fail_kept(file, bb_last_error()) : status;
}

enum { PRICES = 4 }; /* of a round: weight, selection, mu, pure; one more with rows */

/* What a round of a plan costs, bit for bit. */
static void priced(const bb_plan *plan, uint32_t t, int64_t price[PRICES + 1]) {
    price[0] = bb_bits_of(plan->step[t].weight);
    price[1] = bb_bits_of(plan->step[t].selection);
    price[2] = bb_bits_of(plan->mu[t]);
    price[3] = bb_bits_of(plan->pure[t]);
    price[4] = plan->instance ? bb_bits_of(plan->instance[t]) : 0;
}

/* Rounds behind each other that are the same, once: many plans have thousands of those.
 */
static void put_prices(bb_writer *writer, const bb_plan *plan) {
    int64_t one[PRICES + 1], other[PRICES + 1];
    for (uint32_t t = 0, next; t < plan->rounds; t = next) {
        priced(plan, t, one);
        for (next = t + 1; next < plan->rounds; next++) {
            priced(plan, next, other);
            if (memcmp(one, other, sizeof one) != 0) break;
        }
        bb_put_u32(writer, next - t);
        bb_put_integers(writer, one, PRICES + (plan->instance != NULL));
    }
}

void bb_put_plan(bb_writer *writer, const bb_roll *roll, const bb_phases *phases) {
    const bb_plan *plan = &phases->plan;
    bb_put_u32(writer, roll->silos);
    bb_put_u32(writer, roll->fewest);
    bb_put_bytes(writer, roll->nonce, sizeof roll->nonce);
    bb_put_bytes(writer, roll->roster, sizeof roll->roster);
    bb_put_u32(writer, plan->rounds);
    bb_put_u32(writer, plan->forms);
    bb_put_u64(writer, plan->show_length);
    bb_put_u64(writer, plan->sum_length);
    bb_put_u64(writer, plan->outer_length);
    bb_put_u64(writer, plan->lifted_rows);
    bb_put_u32(writer, plan->instance_broken);
    bb_put_double(writer, plan->instance_epsilon);
    bb_put_double(writer, plan->instance_delta);
    for (size_t k = 0; k < phases->count; k++) {
        bb_put_u32(writer, phases->part[k].from);
        bb_put_u32(writer, phases->part[k].rounds);
        bb_put_double(writer, phases->pub[k].mu);
    }
    bb_put_u32(writer, plan->accountant);
    bb_put_u32(writer, plan->instance != NULL);
    put_prices(writer, plan);
}

/* Into its rounds from the t-th on; 0 if there are none, or more than are left. */
static uint32_t get_same(bb_reader *reader, bb_plan *plan, uint32_t t) {
    const uint32_t count = bb_get_u32(reader);
    double price[PRICES + 1] = {0};
    bb_get_doubles(reader, price, PRICES + (plan->instance != NULL));
    if (reader->bad || count > plan->rounds - t) return 0;
    for (uint32_t end = t + count; t < end; t++) {
        plan->step[t] = (bb_step){.weight = price[0], .selection = price[1]};
        plan->mu[t] = price[2];
        plan->pure[t] = price[3];
        if (plan->instance) plan->instance[t] = price[4];
    }
    return count;
}

static bb_status get_prices(bb_reader *reader, bb_plan *plan) {
    const uint32_t rounds = plan->rounds;
    const uint32_t accountant = bb_get_u32(reader), rows = bb_get_u32(reader);
    if (accountant > BB_ACCOUNTANT_KOV)
        return bb_fail(BB_EDATA, "an offer that was priced by no accountant");
    bb_status status = bb_plan_rounds(plan, rounds);
    if (!status && rows)
        status =
            bb_allocate(&plan->instance, rounds, sizeof *plan->instance, "the plan");
    if (status) return status;
    plan->accountant = (bb_accountant)accountant;
    for (uint32_t t = 0, same; t < rounds; t += same) {
        same = get_same(reader, plan, t);
        if (!same)
            return bb_fail(BB_EDATA, "an offer whose plan is not one of %u rounds",
                           rounds);
    }
    return BB_OK;
}

bb_status bb_get_plan(bb_reader *reader, bb_roll *roll, bb_phases *phases) {
    bb_plan *plan = &phases->plan;
    roll->silos = bb_get_u32(reader);
    roll->fewest = bb_get_u32(reader);
    const uint8_t *names = bb_get(reader, sizeof roll->nonce + sizeof roll->roster);
    if (names) memcpy(roll->nonce, names, sizeof roll->nonce);
    if (names) memcpy(roll->roster, names + sizeof roll->nonce, sizeof roll->roster);
    plan->rounds = bb_get_u32(reader);
    plan->forms = bb_get_u32(reader);
    plan->show_length = bb_get_u64(reader);
    plan->sum_length = bb_get_u64(reader);
    plan->outer_length = bb_get_u64(reader);
    plan->lifted_rows = bb_get_u64(reader);
    plan->instance_broken = bb_get_u32(reader) != 0;
    plan->instance_epsilon = bb_get_double(reader);
    plan->instance_delta = bb_get_double(reader);
    for (size_t k = 0; k < phases->count; k++) {
        phases->part[k].from = bb_get_u32(reader);
        phases->part[k].rounds = bb_get_u32(reader);
        phases->pub[k].mu = bb_get_double(reader);
    }
    /* before there is memory for so many rounds */
    bb_status status = bb_phases_check(phases);
    if (!status) status = get_prices(reader, plan);
    return status ? status : bb_read_all(reader, "an offer");
}

bb_status bb_get_kept(bb_reader *reader, bb_roll *roll, bb_phases *phases,
                      const char *file) {
    const uint64_t length = bb_get_u64(reader);
    const uint8_t *at = bb_get(reader, length);
    bb_reader offer = bb_reader_of((bb_bytes){at, at ? length : 0});
    bb_roll kept = {.silos = 0};
    char why[100];
    bb_status status = bb_check_kept(&offer, phases, file);
    if (!status) status = bb_get_plan(&offer, &kept, phases);
    if (status) return status;
    snprintf(why, sizeof why,
             "is of %u silos, of which every round needs %u, not %u and %u", kept.silos,
             kept.fewest, roll->silos, roll->fewest);
    if (kept.silos != roll->silos || kept.fewest != roll->fewest)
        return bb_fail_kept(file, why);
    if (memcmp(kept.roster, roll->roster, sizeof kept.roster) != 0)
        return bb_fail_kept(file, "is of another roster of keys");
    *roll = kept;
    return BB_OK;
}

/* -- what is saved -- */

void bb_put_saved(bb_writer *writer, uint32_t magic) {
    bb_put_u32(writer, magic);
    bb_put_u32(writer, BB_WIRE_VERSION);
}

bb_status bb_get_saved(bb_reader *reader, uint32_t magic, const char *what) {
    if (bb_get_u32(reader) != magic) return bb_fail(BB_EDATA, "no saved %s", what);
    const uint32_t version = bb_get_u32(reader);
    if (version == BB_WIRE_VERSION) return BB_OK;
    return bb_fail(BB_EDATA, "a saved %s of version %u; this program knows %d", what,
                   version, BB_WIRE_VERSION);
}
