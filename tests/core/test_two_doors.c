/* Two doors: the models of one process; no door, with all silos but one, sees that one's sums
 * without the other door's noise; and who tries to is refused. */
#include "base/seal.h"
#include "core/door.h"
#include "core/helper.h"
#include "core/messages.h"
#include "core/share.h"
#include "silos.h"

#include <math.h>

enum { SILOS = 3 };

typedef struct doors {
    law_world w;
    silos f;
    bb_identity identity; /* the helper's */
    bb_helper *helper;
    bb_bytes seeds, help; /* what the helper was asked last, and its answer; copies */
} doors;

static void drop(bb_bytes *frame) {
    free((void *)(uintptr_t)frame->at);
    *frame = (bb_bytes){0};
}

static void keep(bb_bytes *at, bb_bytes frame) {
    drop(at);
    *at = silos_copy(frame);
}

static bb_helper_terms helper_terms(const doors *d) {
    return (bb_helper_terms){.run = d->f.whole,
                             .silos = d->f.count,
                             .fewest = d->f.fewest,
                             .identity = &d->identity};
}

static void open_places(doors *d, uint32_t count, uint32_t fewest) {
    uint32_t where[LAW_TASKS] = {0};
    for (size_t i = 0; i < LAW_TASKS; i++) where[i] = (uint32_t)(i * i % 7 % count);
    silos_deal(&d->f, &d->w.run, count, where);
    d->f.fewest = fewest;
    silos_sign(&d->f);
    d->identity = d->f.identity[0];
    assert_ok(bb_sign_new(d->identity.key));
    assert_ok(bb_sign_public(d->identity.key, d->identity.helper));
    d->identity.has_helper = true;
    for (uint32_t k = 0; k <= count; k++) {
        d->f.identity[k].has_helper = true;
        memcpy(d->f.identity[k].helper, d->identity.helper, BB_SIGN_KEY);
    }
    const bb_helper_terms terms = helper_terms(d);
    silos_open(&d->f);
    assert_ok(bb_helper_open(&d->helper, &terms));
}

static void close_places(doors *d) {
    silos_close(&d->f);
    bb_helper_close(d->helper);
    drop(&d->seeds);
    drop(&d->help);
}

static void open_doors(doors *d, uint32_t fewest) {
    law_open(&d->w, &law_usual, 1);
    d->w.run.pub.doors = 2;
    d->w.run.phase[0].rounds = 3;
    open_places(d, SILOS, fewest);
}

static void close_doors(doors *d) {
    close_places(d);
    law_close(&d->w);
}

/* -- a driver -- */

static void tell_curator(doors *d, bb_bytes frame) {
    bool news;
    assert_ok(bb_curator_take(d->f.curator, frame, &news));
}

static void serve_silo(doors *d, uint32_t s) {
    bb_silo *silo = d->f.silo[s];
    bb_bytes frame;
    bool given = true, news;
    while (given || bb_silo_give(silo, &frame)) {
        if (bb_silo_give(silo, &frame)) {
            tell_curator(d, frame);
            bb_silo_gave(silo);
        }
        assert_ok(bb_curator_give(d->f.curator, s + 1, &frame, &given));
        if (!given) continue;
        assert_ok(bb_silo_take(silo, frame, &news));
        if (bb_silo_now(silo) == BB_SILO_WORK) assert_ok(bb_silo_work(silo));
    }
}

/* false: its answer is kept in d->help, and not given. */
static void serve_helper(doors *d, bool gives) {
    bb_bytes frame;
    bb_frame read;
    bool given = true, news;
    while (given || bb_helper_give(d->helper, &frame)) {
        if (bb_helper_give(d->helper, &frame)) {
            assert_ok(bb_frame_read(frame, true, &read));
            if (read.kind == BB_FRAME_SUM) keep(&d->help, frame);
            if (read.kind != BB_FRAME_SUM || gives) tell_curator(d, frame);
            bb_helper_gave(d->helper);
        }
        assert_ok(bb_curator_give(d->f.curator, d->f.count + 1, &frame, &given));
        if (!given) continue;
        assert_ok(bb_frame_read(frame, true, &read));
        if (read.kind == BB_FRAME_SEEDS) keep(&d->seeds, frame);
        assert_ok(bb_helper_take(d->helper, frame, &news));
    }
}

/* Everybody has joined, and silos have answered round 1. */
static void until_counted(doors *d) {
    serve_helper(d, true);
    for (uint32_t s = 0; s < d->f.count; s++) serve_silo(d, s);
    assert_int_equal(bb_curator_now(d->f.curator), BB_CURATOR_COMPLETE);
    assert_ok(bb_curator_close_round(d->f.curator)); /* the plan is charged */
    for (uint32_t s = 0; s < d->f.count; s++) serve_silo(d, s);
    assert_ok(bb_curator_close_round(d->f.curator)); /* silos are counted */
    assert_int_equal(bb_curator_now(d->f.curator), BB_CURATOR_WAITS);
}

/* From there to the next round's. */
static void next_round(doors *d) {
    serve_helper(d, true);
    assert_ok(bb_curator_close_round(d->f.curator));
    assert_ok(bb_curator_go_on(d->f.curator));
    for (uint32_t s = 0; s < d->f.count; s++) serve_silo(d, s);
    if (bb_curator_now(d->f.curator) == BB_CURATOR_COMPLETE)
        assert_ok(bb_curator_close_round(d->f.curator));
}

static void drive(doors *d) {
    until_counted(d);
    while (bb_curator_now(d->f.curator) != BB_CURATOR_DONE) next_round(d);
    for (uint32_t s = 0; s < d->f.count; s++) serve_silo(d, s);
    serve_helper(d, true);
    assert_int_equal(bb_helper_now(d->helper), BB_HELPER_DONE);
    for (uint32_t s = 0; s < d->f.count; s++)
        assert_int_equal(bb_silo_now(d->f.silo[s]), BB_SILO_DONE);
}

/* -- the same as one process -- */

static size_t laws;

static void check_as_one(const law_case *c) {
    static doors d;
    bb_result one, single;
    d = (doors){0};
    law_open(&d.w, c, 1);
    d.w.run.pub.doors = 2;
    for (size_t k = 0; k < c->method->options.count; k++)
        if (strcmp(c->method->options.row[k].name, "clip-share") == 0)
            run_set(&d.w.run, "clip", "1"); /* instead of a selection */
    if (bb_run_train(&d.w.run, &one)) {
        law_check(c, strstr(bb_last_error(), "two doors") != NULL);
        law_close(&d.w);
        return;
    }
    /* the noise of both, which is not that of one */
    d.w.run.pub.doors = 1;
    law_train(c, &d.w.run, &single);
    law_check(c, !one.plan.rounds ||
                     strcmp(one.billboard_sha256, single.billboard_sha256) != 0);
    bb_result_free(&single);
    d.w.run.pub.doors = 2;
    for (uint32_t count = 1; count <= 3 && one.plan.rounds; count += 2) {
        open_places(&d, count, 0);
        drive(&d);
        law_check(c, silos_agree(&d.f, &one));
        close_places(&d);
    }
    laws++;
    bb_result_free(&one);
    law_close(&d.w);
}

static void law_as_one(const law_case *c) {
    if (c->mechanism->grid && c->sampling == BB_SAMPLING_ALL) check_as_one(c);
}

static void test_as_one(void **state) {
    (void)state;
    law_for_all(law_as_one);
    assert_true(laws >= 15);
}

/* Silos toss the coins of their tasks: nobody else is told, and the sums are those of one
 * process. Of a method whose models move only when they are picked, too. */
static void test_poisson(void **state) {
    const bb_method *const method[] = {&bb_method_fedprox, &bb_method_pmtl};
    (void)state;
    laws = 0;
    for (size_t k = 0; k < 2; k++) {
        law_case c = law_usual;
        c.method = method[k];
        c.sampling = BB_SAMPLING_POISSON;
        check_as_one(&c);
    }
    assert_int_equal(laws, 2);
}

/* Every place goes on in another process, at every moment. */
static void test_restored(void **state) {
    (void)state;
    static doors d;
    bb_result one;
    open_doors(&d, 0);
    law_train(&law_usual, &d.w.run, &one);
    serve_helper(&d, true);
    for (uint32_t s = 0; s < SILOS; s++) serve_silo(&d, s);
    assert_ok(bb_curator_close_round(d.f.curator));
    for (uint32_t s = 0; s < SILOS; s++) serve_silo(&d, s);
    assert_ok(bb_curator_close_round(d.f.curator));
    const bb_curator_terms all = silos_curator(&d.f);
    const bb_helper_terms own = helper_terms(&d);
    for (int k = 0; bb_curator_now(d.f.curator) != BB_CURATOR_DONE; k++) {
        bb_writer saved = {0};
        if (k % 2) {
            serve_helper(&d, k % 4 == 3);
            bb_helper_save(d.helper, &saved);
            bb_helper_close(d.helper);
            assert_ok(bb_helper_open(&d.helper, &own));
            assert_ok(bb_helper_restore(d.helper, (bb_bytes){saved.at, saved.length}));
        } else {
            bb_curator_save(d.f.curator, &saved);
            bb_curator_close(d.f.curator);
            assert_ok(bb_curator_restore(&d.f.curator, &all,
                                         (bb_bytes){saved.at, saved.length}));
            for (uint32_t s = 0; s < SILOS; s++) bb_silo_hello(d.f.silo[s]);
            bb_helper_hello(d.helper);
        }
        bb_writer_close(&saved);
        if (bb_curator_now(d.f.curator) == BB_CURATOR_WAITS) continue;
        next_round(&d);
    }
    for (uint32_t s = 0; s < SILOS; s++) serve_silo(&d, s);
    assert_true(silos_agree(&d.f, &one));
    bb_result_free(&one);
    close_doors(&d);
}

/* -- shares -- */

static bb_frame frame_of_share(void) {
    bb_frame frame = {.phase = 1, .round = 2, .attempt = 3, .silo = 4};
    memset(frame.run, 5, sizeof frame.run);
    return frame;
}

static const bb_ask three_blocks = {2,
                                    {3,
                                     {{"a", BB_FORM_VECTOR, 50, 1.0, 0.5},
                                      {"b", BB_FORM_SLOT, 3, 1.0, 0.25},
                                      {"c", BB_FORM_OUTER, 4, 1.0, 0.25}}},
                                    {32, 32, 20}};
enum { OF_TASKS = 10, NUMBERS = 50 + 3 * OF_TASKS + 16 };

static void stream(const bb_frame *frame, const bb_ask *ask, const uint8_t *seed,
                   size_t own, const size_t *id, bool subtract, int64_t *sum) {
    uint8_t context[BB_HASH_BYTES];
    assert_ok(bb_share_context(frame, ask, context));
    assert_ok(
        bb_share_mask(seed, context, &ask->layout, OF_TASKS, own, id, subtract, sum));
}

/* Both parts together are the sum; of slots only those of own tasks are hidden. */
static void test_shares(void **state) {
    (void)state;
    const size_t id[] = {1, 4, 9};
    const uint8_t seed[BB_SEAL_SECRET] = {1};
    const bb_frame frame = frame_of_share();
    int64_t first[NUMBERS], second[NUMBERS] = {0};
    for (size_t k = 0; k < NUMBERS; k++) first[k] = INT64_MAX - (int64_t)k;
    stream(&frame, &three_blocks, seed, 3, id, true, first);
    stream(&frame, &three_blocks, seed, 3, id, false, second);
    for (size_t k = 0; k < NUMBERS; k++) {
        const size_t task = (k - 50) / 3;
        const bool hidden =
            k < 50 || k >= 50 + 3 * OF_TASKS || task == 1 || task == 4 || task == 9;
        assert_true((second[k] != 0) == hidden);
        assert_true((uint64_t)first[k] + (uint64_t)second[k] == INT64_MAX - k);
    }
}

/* The same seed in any other run, phase, round, attempt, silo or question is another stream:
 * no two sums are ever hidden by one. */
static void test_no_stream_twice(void **state) {
    (void)state;
    const uint8_t seed[BB_SEAL_SECRET] = {7};
    const bb_frame frame = frame_of_share();
    bb_frame f[5] = {frame, frame, frame, frame, frame};
    bb_ask a[4] = {three_blocks, three_blocks, three_blocks, three_blocks};
    int64_t usual[NUMBERS] = {0};
    stream(&frame, &three_blocks, seed, 0, NULL, false, usual);
    f[0].run[31] ^= 1;
    f[1].phase++;
    f[2].round++;
    f[3].attempt++;
    f[4].silo++;
    a[0].layout.block[1].clip = 1.0 + 0x1p-50;
    a[1].layout.block[2].share = 0.125;
    a[2].bits[0] = 31;
    a[3].layout.block[0].form = BB_FORM_PSD;
    a[3].layout.block[0].length = 7;
    for (size_t k = 0; k < 9; k++) {
        int64_t other[NUMBERS] = {0};
        stream(k < 5 ? &f[k] : &frame, k < 5 ? &three_blocks : &a[k - 5], seed, 0, NULL,
               false, other);
        for (size_t j = 0; j < 10; j++) assert_true(other[j] != usual[j]);
    }
}

/* What is shown for a round again, with another question, has another seed. */
static void test_asked_again(void **state) {
    (void)state;
    static doors d;
    open_doors(&d, 0);
    until_counted(&d);
    bb_frame read;
    bb_curator_again(d.f.curator, 1);
    bb_bytes frame, round = {0}, shares[3] = {{0}};
    bool given, news;
    do {
        assert_ok(bb_curator_give(d.f.curator, 1, &frame, &given));
        assert_true(given);
        assert_ok(bb_frame_read(frame, true, &read));
    } while (read.kind != BB_FRAME_ROUND);
    keep(&round, frame);
    assert_ok(bb_frame_read(round, true, &read));
    for (uint32_t attempt = 1; attempt <= 3; attempt++) {
        /* first as it was; then another attempt; then with another billboard */
        bb_writer again = {0};
        bb_stamp stamp = {.sealed = true, .key = d.f.identity[0].key};
        memcpy(stamp.start, read.start, sizeof stamp.start);
        bb_frame next = read;
        next.attempt = attempt;
        bb_frame_begin(&again, &next);
        bb_put_bytes(&again, read.payload.at, read.payload.length);
        if (attempt == 3) again.at[again.length - 2] ^= 1;
        bb_frame_end(&again, &stamp);
        assert_ok(bb_silo_take(d.f.silo[0], (bb_bytes){again.at, again.length}, &news));
        if (bb_silo_now(d.f.silo[0]) == BB_SILO_WORK)
            assert_ok(bb_silo_work(d.f.silo[0]));
        assert_true(bb_silo_give(d.f.silo[0], &frame));
        keep(&shares[attempt - 1], frame);
        bb_silo_gave(d.f.silo[0]);
        bb_writer_close(&again);
    }
    bb_frame share[3];
    for (size_t k = 0; k < 3; k++) assert_ok(bb_frame_read(shares[k], true, &share[k]));
    assert_int_equal(share[1].attempt, 2);
    assert_memory_equal(share[0].payload.at, share[1].payload.at,
                        share[0].payload.length);
    /* the sums are nearly the same: no number is the same, and no difference is small */
    const size_t from = 4 + BB_SEAL_BYTES + 8;
    const size_t length =
        (size_t)bb_integer_at(read.payload.at + 12, 0); /* of a block */
    assert_in_range(length, 2, 100);
    for (size_t k = 0; k < length; k++) {
        const int64_t apart =
            (int64_t)((uint64_t)bb_integer_at(share[0].payload.at + from, k) -
                      (uint64_t)bb_integer_at(share[2].payload.at + from, k));
        assert_true(apart < -(INT64_C(1) << 40) || apart > INT64_C(1) << 40 ||
                    apart == INT64_MIN);
    }
    for (size_t k = 0; k < 3; k++) drop(&shares[k]);
    drop(&round);
    close_doors(&d);
}

/* -- a curator that wants more -- */

/* A frame of the curator's, as it could sign any. */
static bb_bytes forge(const doors *d, const bb_frame *like, bb_bytes payload) {
    bb_writer made = {0};
    bb_stamp stamp = {.sealed = true, .key = d->f.identity[0].key};
    memcpy(stamp.start, like->start, sizeof stamp.start);
    bb_frame_begin(&made, like);
    bb_put_bytes(&made, payload.at, payload.length);
    bb_frame_end(&made, &stamp);
    assert_ok(made.status);
    return (bb_bytes){made.at, made.length};
}

static void helper_refuses(doors *d, bb_bytes frame, bb_status status,
                           const char *words) {
    bb_bytes out;
    bool news;
    assert_fails(bb_helper_take(d->helper, frame, &news), status, words);
    assert_false(news);
    assert_false(bb_helper_give(d->helper, &out));
    assert_int_equal(bb_helper_now(d->helper), BB_HELPER_WAITING);
}

static void forged_refused(doors *d, const bb_frame *like, bb_bytes payload,
                           bb_status status, const char *words) {
    bb_bytes frame = forge(d, like, payload);
    helper_refuses(d, frame, status, words);
    drop(&frame);
}

/* What was asked, in ROUND and SEEDS: so many bytes; where the first clip's exponent is. */
enum { CLIP_AT = 4 + 4 + 4 + 8 + 6 };
static size_t ask_length(bb_bytes payload) {
    return 4 + 32 * (size_t)payload.at[0];
}

/* Of a SEEDS frame: how long the part of a silo is. */
static size_t part_length(const doors *d, uint32_t s) {
    return 4 + 4 + 8 + 8 * d->f.tasks[s] + BB_SEAL_BYTES;
}

/* SEEDS without the last silo, or with the first one in its place. */
static bb_bytes other_seeds(const doors *d, bb_bytes payload, bool twice) {
    bb_writer made = {0};
    const size_t ask = ask_length(payload);
    const size_t without = ask + 4 + part_length(d, 0) + part_length(d, 1);
    bb_put_bytes(&made, payload.at, without);
    made.at[ask] = twice ? 3 : 2;
    if (twice) bb_put_bytes(&made, payload.at + ask + 4, part_length(d, 0));
    assert_ok(made.status);
    return (bb_bytes){made.at, made.length};
}

static void test_curator_asks_twice(void **state) {
    (void)state;
    static doors d;
    bb_bytes frame;
    bb_frame seeds;
    bool news;
    open_doors(&d, 2);
    until_counted(&d);
    serve_helper(&d, false);
    assert_ok(bb_frame_read(d.seeds, true, &seeds));
    /* the same question: the same answer, with no other noise */
    assert_ok(bb_helper_take(d.helper, d.seeds, &news));
    assert_true(bb_helper_give(d.helper, &frame));
    assert_int_equal(frame.length, d.help.length);
    assert_memory_equal(frame.at, d.help.at, frame.length);
    bb_helper_gave(d.helper);
    /* and as another attempt */
    bb_frame again = seeds;
    again.attempt = 2;
    bb_bytes forged = forge(&d, &again, seeds.payload);
    assert_ok(bb_helper_take(d.helper, forged, &news));
    drop(&forged);
    assert_true(bb_helper_give(d.helper, &frame));
    assert_memory_equal(frame.at + BB_FRAME_HEADER, d.help.at + BB_FRAME_HEADER,
                        frame.length - BB_FRAME_HEADER);
    bb_helper_gave(d.helper);
    /* for other silos: there is no second answer, whose noise could be taken off the first */
    bb_bytes fewer = other_seeds(&d, seeds.payload, false);
    forged_refused(&d, &seeds, fewer, BB_EUSAGE, "round 1 was answered already");
    drop(&fewer);
    /* nor after another process has gone on */
    bb_writer saved = {0};
    bb_helper_save(d.helper, &saved);
    bb_helper_close(d.helper);
    const bb_helper_terms terms = helper_terms(&d);
    assert_ok(bb_helper_open(&d.helper, &terms));
    assert_ok(bb_helper_restore(d.helper, (bb_bytes){saved.at, saved.length}));
    bb_writer_close(&saved);
    bb_helper_gave(d.helper); /* hello */
    helper_refuses(&d, d.seeds, BB_EDATA,
                   "an earlier start of this helper, or a replay");
    bb_bytes before = d.help;
    d.help = (bb_bytes){0};
    bb_helper_hello(d.helper);
    serve_helper(&d, true);
    assert_int_equal(d.help.length, before.length);
    assert_memory_equal(d.help.at + BB_FRAME_HEADER, before.at + BB_FRAME_HEADER,
                        before.length - BB_FRAME_HEADER);
    assert_int_equal(bb_helper_rounds(d.helper), 1);
    drop(&before);
    close_doors(&d);
}

/* Of a round that was not answered yet: the number of silos, one of them twice, an old or a
 * foreign seed, another clip. */
static void test_curator_changes_the_question(void **state) {
    (void)state;
    static doors d;
    bb_frame old, seeds;
    bb_bytes first = {0};
    open_doors(&d, 3);
    until_counted(&d);
    serve_helper(&d, false);
    keep(&first, d.seeds);
    serve_helper(&d, false);
    tell_curator(&d, d.help);
    assert_ok(bb_curator_close_round(d.f.curator));
    assert_ok(bb_curator_go_on(d.f.curator));
    for (uint32_t s = 0; s < SILOS; s++) serve_silo(&d, s);
    assert_ok(bb_curator_close_round(d.f.curator));
    bb_bytes frame;
    bool given, news;
    assert_ok(bb_curator_give(d.f.curator, SILOS + 1, &frame, &given));
    assert_true(given);
    keep(&d.seeds, frame);
    assert_ok(bb_frame_read(first, true, &old));
    assert_ok(bb_frame_read(d.seeds, true, &seeds));
    assert_int_equal(seeds.round, 2);
    bb_bytes changed = other_seeds(&d, seeds.payload, true);
    forged_refused(&d, &seeds, changed, BB_EDATA, "or of one twice");
    drop(&changed);
    changed = other_seeds(&d, seeds.payload, false);
    forged_refused(&d, &seeds, changed, BB_EUSAGE, "shares of 2 silos; 3 of 3");
    drop(&changed);
    /* a share of the round before, with a question of this one */
    changed = silos_copy(seeds.payload);
    uint8_t *bytes = (uint8_t *)(uintptr_t)changed.at;
    const size_t part = ask_length(changed) + 4,
                 sealed = part + part_length(&d, 0) - BB_SEAL_BYTES;
    memcpy(bytes + sealed, old.payload.at + sealed, BB_SEAL_BYTES);
    forged_refused(&d, &seeds, changed, BB_EDATA, "the seed of silo 1 was not sealed");
    memcpy(bytes + sealed, seeds.payload.at + sealed, BB_SEAL_BYTES);
    /* another attempt of the silo's */
    bytes[part + 4] ^= 2;
    forged_refused(&d, &seeds, changed, BB_EDATA, "the seed of silo 1 was not sealed");
    bytes[part + 4] ^= 2;
    /* half the clip would have half the noise */
    bytes[CLIP_AT] ^= 0x10;
    forged_refused(&d, &seeds, changed, BB_EDATA, "the seed of silo 1 was not sealed");
    bytes[CLIP_AT] ^= 0x10;
    /* rounds that the plan does not have */
    bb_frame later = seeds;
    later.round = 4;
    forged_refused(&d, &later, changed, BB_EDATA, "has no such round");
    later.round = 3;
    forged_refused(&d, &later, changed, BB_EDATA, "the seed of silo 1 was not sealed");
    /* and as it was */
    assert_ok(bb_helper_take(d.helper, d.seeds, &news));
    assert_true(news);
    drop(&changed);
    drop(&first);
    close_doors(&d);
}

/* A silo counts at both doors, or nothing is published. */
static void test_silo_at_one_door(void **state) {
    (void)state;
    static doors d;
    bb_frame seeds, help;
    bb_bytes frame;
    bool given, news;
    open_doors(&d, 2);
    until_counted(&d);
    assert_ok(bb_curator_give(d.f.curator, SILOS + 1, &frame, &given));
    keep(&d.seeds, frame);
    assert_ok(bb_frame_read(d.seeds, true, &seeds));
    /* the helper is told of two, the curator has added up three */
    bb_bytes fewer = other_seeds(&d, seeds.payload, false);
    bb_bytes told = forge(&d, &seeds, fewer);
    assert_ok(bb_helper_take(d.helper, told, &news));
    assert_true(bb_helper_give(d.helper, &frame));
    assert_fails(bb_curator_take(d.f.curator, frame, &news), BB_EDATA,
                 "answered for other silos");
    assert_false(news);
    assert_fails(bb_curator_close_round(d.f.curator), BB_EUSAGE,
                 "the helper has not answered");
    /* a helper that says that it has added up three */
    assert_ok(bb_frame_read(frame, true, &help));
    bb_hash hash;
    bb_writer lie = {0};
    bb_stamp stamp = {.sealed = true, .key = d.identity.key};
    bb_frame_begin(&lie, &help);
    bb_put_bytes(&lie, help.payload.at, help.payload.length);
    bb_hash_open(&hash);
    bb_hash_add(&hash, seeds.payload.at, seeds.payload.length);
    bb_hash_digest(&hash, lie.at + BB_FRAME_HEADER);
    memcpy(stamp.start, help.start, sizeof stamp.start);
    bb_frame_end(&lie, &stamp);
    assert_ok(bb_curator_take(d.f.curator, (bb_bytes){lie.at, lie.length}, &news));
    assert_fails(bb_curator_close_round(d.f.curator), BB_EDATA,
                 "the two doors do not have shares of the same sums");
    assert_int_equal(bb_curator_now(d.f.curator), BB_CURATOR_FAILED);
    bb_writer_close(&lie);
    drop(&told);
    drop(&fewer);
    close_doors(&d);
}

/* Keys of helpers that silos do not take. */
static void test_other_helper(void **state) {
    (void)state;
    static doors d;
    open_doors(&d, 0);
    until_counted(&d);
    bb_bytes frame;
    bb_frame read;
    bool given, news;
    bb_curator_again(d.f.curator, 1);
    do {
        assert_ok(bb_curator_give(d.f.curator, 1, &frame, &given));
        assert_ok(bb_frame_read(frame, true, &read));
    } while (given && read.kind != BB_FRAME_ROUND);
    bb_bytes round = silos_copy(frame);
    assert_ok(bb_frame_read(round, true, &read));
    bb_bytes changed = silos_copy(read.payload);
    uint8_t *key = (uint8_t *)(uintptr_t)changed.at + ask_length(changed) + 4;
    uint8_t secret[BB_SEAL_KEY], other[BB_SEAL_KEY];
    assert_ok(bb_seal_new(secret, other));
    read.attempt = 2;
    const uint8_t *const signer[] = {d.f.identity[0].key, d.identity.key};
    const char *const words[] = {"not one that the helper has signed",
                                 "another one than before"};
    for (size_t k = 0; k < 2; k++) {
        assert_ok(bb_share_sign_key(signer[k], read.run, other, key));
        bb_bytes forged = forge(&d, &read, changed);
        assert_fails(bb_silo_take(d.f.silo[0], forged, &news), BB_EDATA, words[k]);
        assert_false(news);
        drop(&forged);
    }
    drop(&changed);
    drop(&round);
    close_doors(&d);
}

/* -- what each door sees -- */

/* What a door has of a sum beside noise, from all that it and all other silos know: n numbers
 * of standard deviation std, or not. A chance of less than 1e-9 is passed over. */
static bool has_noise(size_t n, const double *value, double std) {
    double squares = 0.0;
    for (size_t k = 0; k < n; k++) squares += value[k] * value[k] / (std * std);
    return fabs(squares - (double)n) < 6.5 * sqrt(2.0 * (double)n);
}

enum { WIDE = 4000 };

/* A round of one block of zeros at doors with these noises; the seed is known to both sides. */
static void see(unsigned noises, double *value, double *std) {
    const bb_layout layout = {1, {{"block", BB_FORM_VECTOR, WIDE, 1.0, 1.0}}};
    bb_method method = {.name = "door", .kind = BB_METHOD_PRIVATE};
    bb_engine engine = {.name = "none", .workers = 1};
    const bb_run run = {.phases = 1,
                        .phase = {{.method = &method}},
                        .pub = {.tasks = 40, .epsilon = 1.0, .delta = 1e-5, .doors = 2},
                        .mechanism = &bb_mechanism_gaussian,
                        .engine = &engine};
    const uint8_t seed[BB_SEAL_SECRET] = {3};
    const bb_frame frame = frame_of_share();
    uint8_t context[BB_HASH_BYTES];
    bb_plan plan = {0};
    bb_arena arena = {0};
    bb_door door;
    assert_ok(bb_plan_rounds(&plan, 1));
    bb_plan_room(&plan, &run.pub, &layout);
    plan.mu[0] = 0.1;
    bb_door_need(&run, &plan, &arena);
    assert_ok(bb_arena_open(&arena, "a test"));
    assert_ok(bb_door_open(&door, &run, &plan, &arena));
    door.noises = noises;
    assert_ok(bb_door_charge(&door, &run));
    assert_ok(bb_door_ask(&door, &layout));
    assert_ok(bb_share_context(&frame, &door.ask, context));
    assert_ok(
        bb_share_mask(seed, context, &layout, 40, 0, NULL, false, door.total.exact));
    assert_ok(bb_door_hide(&door));
    assert_ok(
        bb_share_mask(seed, context, &layout, 40, 0, NULL, true, door.total.exact));
    for (size_t k = 0; k < WIDE; k++) value[k] = (double)door.total.exact[k];
    *std = door.std[0];
    bb_door_close(&door);
    bb_arena_close(&arena);
    bb_plan_free(&plan);
}

/* Each door's answer hides what the other one knows by sigma; who keeps neither meets sqrt 2
 * sigma. A helper that adds no noise, or the first door's noise with its own, is told. */
static void test_noise_of_each_door(void **state) {
    (void)state;
    static double value[WIDE];
    double std;
    see(1, value, &std);
    assert_true(has_noise(WIDE, value, std));
    see(2, value, &std);
    assert_true(has_noise(WIDE, value, std));
    see(3, value, &std);
    assert_false(has_noise(WIDE, value, std));
    assert_true(has_noise(WIDE, value, std * sqrt(2.0)));
    see(0, value, &std);
    assert_false(has_noise(WIDE, value, std));
}

/* Without the seed a share is nothing: bits that are as often 0 as 1, whatever the sum. */
static void test_share_alone(void **state) {
    (void)state;
    const bb_ask ask = {1, {1, {{"a", BB_FORM_VECTOR, WIDE, 1.0, 1.0}}}, {32}};
    const bb_frame frame = frame_of_share();
    static int64_t sum[WIDE];
    uint8_t seed[BB_SEAL_SECRET];
    assert_ok(bb_random_secret(seed, sizeof seed));
    for (size_t k = 0; k < WIDE; k++) sum[k] = 12345;
    stream(&frame, &ask, seed, 0, NULL, true, sum);
    for (int bit = 0; bit < 64; bit++) {
        double ones = 0.0;
        for (size_t k = 0; k < WIDE; k++) ones += (double)((uint64_t)sum[k] >> bit & 1);
        assert_true(fabs(ones - WIDE / 2.0) < 7.5 * sqrt(WIDE / 4.0));
    }
}

/* -- runs that two doors do not have -- */

static void test_refused(void **state) {
    (void)state;
    static doors d;
    bb_helper *helper = NULL;
    bb_curator *curator = NULL;
    bb_silo *silo = NULL;
    open_doors(&d, 0);
    bb_curator_terms all = silos_curator(&d.f);
    bb_silo_terms own = silos_terms(&d.f, 0);
    bb_helper_terms helps = helper_terms(&d);
    d.f.identity[0].has_helper = d.f.identity[1].has_helper = false;
    assert_fails(bb_curator_open(&curator, &all), BB_EUSAGE, "names no helper");
    assert_fails(bb_silo_open(&silo, &own), BB_EUSAGE, "names no helper");
    d.f.identity[0].has_helper = d.f.identity[1].has_helper = true;
    bb_run one = d.w.run;
    one.pub.doors = 1;
    helps.run = &one;
    assert_fails(bb_helper_open(&helper, &helps), BB_EUSAGE, "the run has one");
    /* a policy that knows another helper, or wants one at all */
    bb_silo_policy policy = {.allow_open = true,
                             .helper = (const uint8_t(*)[BB_SIGN_KEY])d.f.key,
                             .helpers = 1};
    own.policy = &policy;
    assert_fails(bb_silo_open(&silo, &own), BB_EUSAGE,
                 "does not know the helper ed25519:");
    policy.helper = (const uint8_t(*)[BB_SIGN_KEY]) & d.identity.helper;
    assert_ok(bb_silo_open(&silo, &own));
    bb_silo_close(silo);
    d.f.run[0].pub.doors = 1;
    assert_fails(bb_silo_open(&silo, &own), BB_EUSAGE, "asks for two doors");
    d.f.run[0].pub.doors = 2;
    d.w.run.pub.sampling = BB_SAMPLING_FIXED_HIDDEN;
    d.w.run.pub.cohort = 10;
    assert_fails(bb_run_check(&d.w.run), BB_EUSAGE, "need not draw it fairly");
    d.w.run.pub.sampling = BB_SAMPLING_POISSON;
    d.w.run.pub.rate = 0.5;
    assert_ok(bb_run_check(&d.w.run));
    d.w.run.pub.sampling = BB_SAMPLING_ALL;
    close_doors(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_one),
        cmocka_unit_test(test_poisson),
        cmocka_unit_test(test_restored),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_no_stream_twice),
        cmocka_unit_test(test_asked_again),
        cmocka_unit_test(test_curator_asks_twice),
        cmocka_unit_test(test_curator_changes_the_question),
        cmocka_unit_test(test_silo_at_one_door),
        cmocka_unit_test(test_other_helper),
        cmocka_unit_test(test_noise_of_each_door),
        cmocka_unit_test(test_share_alone),
        cmocka_unit_test(test_refused),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
