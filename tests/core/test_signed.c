/* Places that sign: what was said by somebody else, to somebody else, in another run, to an
 * earlier process, or was changed on the way, is refused and changes nothing. */
#include "silos.h"

enum { SILOS = 2 };

typedef struct signing {
    law_world w;
    silos f;
} signing;

static void open_signing(signing *g) {
    uint32_t where[LAW_TASKS] = {0};
    law_open(&g->w, &law_usual, 1);
    g->w.run.phase[0].rounds = 2;
    for (size_t i = 0; i < LAW_TASKS; i++) where[i] = (uint32_t)(i % SILOS);
    silos_deal(&g->f, &g->w.run, SILOS, where);
    silos_sign(&g->f);
    silos_open(&g->f);
}

static void close_signing(signing *g) {
    silos_close(&g->f);
    law_close(&g->w);
}

/* The frame that silo s has for the curator; it is given. */
static bb_bytes said(silos *f, uint32_t s) {
    bb_bytes frame;
    assert_true(bb_silo_give(f->silo[s], &frame));
    frame = silos_copy(frame);
    bb_silo_gave(f->silo[s]);
    return frame;
}

/* And the curator's for it. */
static bb_bytes due(silos *f, uint32_t s) {
    bb_bytes frame;
    bool given;
    assert_ok(bb_curator_give(f->curator, s + 1, &frame, &given));
    assert_true(given);
    return silos_copy(frame);
}

static void drop(bb_bytes frame) {
    free((void *)(uintptr_t)frame.at);
}

static void tell_curator(silos *f, bb_bytes frame) {
    bool news;
    assert_ok(bb_curator_take(f->curator, frame, &news));
    assert_true(news);
    drop(frame);
}

static void tell_silo(silos *f, uint32_t s, bb_bytes frame) {
    bool news;
    assert_ok(bb_silo_take(f->silo[s], frame, &news));
    assert_true(news);
    drop(frame);
}

static void curator_refuses(silos *f, bb_bytes frame, const char *words) {
    bool news;
    assert_fails(bb_curator_take(f->curator, frame, &news), BB_EDATA, words);
    assert_false(news);
}

static void silo_refuses(silos *f, uint32_t s, bb_bytes frame, const char *words) {
    bool news;
    assert_fails(bb_silo_take(f->silo[s], frame, &news), BB_EDATA, words);
    assert_false(news);
    assert_int_equal(bb_silo_now(f->silo[s]), BB_SILO_WAITING);
}

/* The same frame as another place would have sent it, who has no other key than its own. */
static bb_bytes as_of(bb_bytes frame, uint32_t silo, const uint8_t *key) {
    bb_frame read;
    bb_writer forged = {0};
    assert_ok(bb_frame_read(frame, true, &read));
    read.silo = silo;
    bb_stamp stamp = {.sealed = true, .key = key};
    memcpy(stamp.start, read.start, sizeof stamp.start);
    bb_frame_begin(&forged, &read);
    bb_put_bytes(&forged, read.payload.at, read.payload.length);
    bb_frame_end(&forged, &stamp);
    assert_ok(forged.status);
    return (bb_bytes){forged.at, forged.length};
}

static void refused_as_of(silos *f, bb_bytes frame, uint32_t silo, const uint8_t *key,
                          const char *words) {
    const bb_bytes forged = as_of(frame, silo, key);
    curator_refuses(f, forged, words);
    drop(forged);
}

/* Until silo s + 1 has a sum to send; others have joined. */
static bb_bytes a_sum(silos *f, uint32_t s) {
    for (uint32_t k = 0; k < SILOS; k++) {
        tell_curator(f, said(f, k)); /* hello */
        tell_silo(f, k, due(f, k));
        tell_curator(f, said(f, k)); /* join */
    }
    assert_ok(bb_curator_close_round(f->curator));
    tell_silo(f, s, due(f, s));
    assert_ok(bb_silo_work(f->silo[s]));
    return said(f, s);
}

static void test_who_has_said_it(void **state) {
    (void)state;
    static signing g;
    open_signing(&g);
    silos *f = &g.f;
    /* nothing is offered to whom nothing was heard of */
    bb_bytes frame;
    bool given;
    assert_ok(bb_curator_give(f->curator, 1, &frame, &given));
    assert_false(given);
    const bb_bytes sum = a_sum(f, 0);
    refused_as_of(f, sum, 1, f->identity[2].key, "not signed with the key of silo 1");
    refused_as_of(f, sum, 2, f->identity[1].key, "not signed with the key of silo 2");
    refused_as_of(f, sum, 1, f->identity[0].key, "not signed with the key of silo 1");
    refused_as_of(f, sum, 1, NULL, "not signed: by the roster silo 1");
    uint8_t *bytes = (uint8_t *)(uintptr_t)sum.at;
    for (size_t k = 0; k < sum.length; k += 1 + k / 8) {
        bool news;
        bytes[k] ^= 4;
        assert_int_equal(bb_curator_take(f->curator, sum, &news), BB_EDATA);
        assert_false(news);
        bytes[k] ^= 4;
    }
    tell_curator(f, sum);
    const bb_bytes round = due(f, 1), stolen = as_of(round, 2, f->identity[1].key);
    silo_refuses(f, 1, stolen, "not signed with the key of the curator");
    drop(stolen);
    tell_silo(f, 1, round);
    close_signing(&g);
}

/* Of a run before of the same plan, keys and all. */
static void test_another_run(void **state) {
    (void)state;
    static signing before;
    open_signing(&before);
    const bb_bytes old_sum = a_sum(&before.f, 0);
    bb_curator_again(before.f.curator, 1);
    const bb_bytes old_offer = due(&before.f, 0), old_round = due(&before.f, 0);
    bb_curator_stop(before.f.curator, BB_STOP_FAILED);
    const bb_bytes old_stop = due(&before.f, 0);
    /* the same places again */
    silos *f = &before.f;
    silos_close(f);
    silos_open(f);
    silo_refuses(f, 0, old_offer, "an earlier start of this silo, or a replay");
    silo_refuses(f, 0, old_stop, "an earlier start of this silo, or a replay");
    const bb_bytes sum = a_sum(f, 0);
    curator_refuses(f, old_sum, "a frame of another run");
    tell_curator(f, sum);
    silo_refuses(f, 1, old_round, "an earlier start");
    drop(old_sum);
    drop(old_offer);
    drop(old_round);
    drop(old_stop);
    close_signing(&before);
}

/* A silo that goes on in another process: what was under way to the first one is late. */
static void test_another_start(void **state) {
    (void)state;
    static signing g;
    open_signing(&g);
    silos *f = &g.f;
    drop(a_sum(f, 0));
    bb_curator_again(f->curator, 1);
    drop(due(f, 0));
    const bb_bytes late = due(f, 0);
    const bb_silo_terms terms = silos_terms(f, 0);
    bb_writer saved = {0};
    bb_silo_save(f->silo[0], &saved);
    bb_silo_close(f->silo[0]);
    assert_ok(bb_silo_open(&f->silo[0], &terms));
    assert_ok(bb_silo_restore(f->silo[0], (bb_bytes){saved.at, saved.length}, NULL));
    bb_writer_close(&saved);
    silo_refuses(f, 0, late, "an earlier start");
    tell_curator(f, said(f, 0)); /* hello */
    bool news;
    const bb_bytes offer = due(f, 0), round = due(f, 0);
    assert_ok(bb_silo_take(f->silo[0], offer, &news));
    assert_false(news); /* nothing is charged again */
    assert_ok(bb_silo_take(f->silo[0], round, &news));
    assert_true(news);
    tell_curator(f, said(f, 0)); /* its sum */
    drop(late);
    drop(offer);
    drop(round);
    close_signing(&g);
}

/* Whose signatures are taken is the same at all places, or they do not go together. */
static void test_another_roster(void **state) {
    (void)state;
    static signing g;
    open_signing(&g);
    silos *f = &g.f;
    bb_silo_close(f->silo[1]);
    f->identity[2].roster[3] ^= 1;
    const bb_silo_terms terms = silos_terms(f, 1);
    assert_ok(bb_silo_open(&f->silo[1], &terms));
    tell_curator(f, said(f, 1));
    const bb_bytes offer = due(f, 1);
    bool news;
    assert_fails(bb_silo_take(f->silo[1], offer, &news), BB_EDATA,
                 "another roster of keys");
    drop(offer);
    const bb_bytes refusal = said(f, 1);
    assert_fails(bb_curator_take(f->curator, refusal, &news), BB_EUSAGE,
                 "silo 2 refuses to take part: the curator has another roster");
    drop(refusal);
    /* and a curator that goes on has it, too */
    bb_writer saved = {0};
    bb_curator *other = NULL;
    bb_curator_save(f->curator, &saved);
    f->identity[0].roster[3] ^= 1;
    const bb_curator_terms all = silos_curator(f);
    assert_fails(bb_curator_restore(&other, &all, (bb_bytes){saved.at, saved.length}),
                 BB_EUSAGE, "what was saved is of another roster of keys");
    bb_writer_close(&saved);
    close_signing(&g);
}

/* Curators that a policy names. */
static void test_pinned(void **state) {
    (void)state;
    static signing g;
    open_signing(&g);
    silos *f = &g.f;
    uint8_t pinned[2][BB_SIGN_KEY];
    bb_silo *silo = NULL;
    memcpy(pinned[0], f->key[0], BB_SIGN_KEY);
    memcpy(pinned[1], f->identity[0].curator, BB_SIGN_KEY);
    bb_silo_policy policy = {.allow_open = true,
                             .curator = (const uint8_t(*)[BB_SIGN_KEY])pinned,
                             .curators = 1};
    bb_silo_terms terms = silos_terms(f, 0);
    terms.policy = &policy;
    assert_fails(bb_silo_open(&silo, &terms), BB_EUSAGE, "does not know the curator");
    policy.curators = 2;
    assert_ok(bb_silo_open(&silo, &terms));
    bb_silo_close(silo);
    terms.identity = NULL;
    assert_fails(bb_silo_open(&silo, &terms), BB_EUSAGE, "a curator that signs");
    close_signing(&g);
}

/* What a silo says of why it refuses is a line of a log, whatever is in it. */
static void test_reasons(void **state) {
    (void)state;
    static signing g;
    open_signing(&g);
    silos *f = &g.f;
    char words[2 * BB_MOST_REASON];
    bb_writer refusal = {0};
    bool news;
    memset(words, 'a', sizeof words);
    memcpy(words, "no\n\x1b[31m", 8);
    words[sizeof words - 1] = '\0';
    bb_silo_refuse(&refusal, 2, &f->identity[2], words);
    assert_ok(refusal.status);
    assert_fails(
        bb_curator_take(f->curator, (bb_bytes){refusal.at, refusal.length}, &news),
        BB_EUSAGE, "silo 2 refuses to take part: no??[31maaaa");
    assert_int_equal(strlen(strrchr(bb_last_error(), ':')), 2 + BB_MOST_REASON);
    bb_silo_refuse(&refusal, 1, &f->identity[2], "as another");
    assert_fails(
        bb_curator_take(f->curator, (bb_bytes){refusal.at, refusal.length}, &news),
        BB_EDATA, "the key of silo 1");
    bb_writer_close(&refusal);
    close_signing(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_has_said_it), cmocka_unit_test(test_another_run),
        cmocka_unit_test(test_another_start),   cmocka_unit_test(test_another_roster),
        cmocka_unit_test(test_pinned),          cmocka_unit_test(test_reasons),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
