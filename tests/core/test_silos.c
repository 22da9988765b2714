/* Laws of silos and curators: wherever tasks are, whatever carries the frames, the same
 * bytes come out as in one process; whatever goes wrong on the way, no round is
 * published twice, and none that was not charged. */
#include "folder.h"
#include "silos.h"

/* -- drivers -- */

/* Round after round, silo by silo, as a program on one machine would. */
static void drive(silos *f) {
    bb_bytes frame;
    bool given, news;
    for (;;) {
        bool finished = true;
        for (uint32_t s = 0; s < f->count; s++) {
            for (;;) {
                assert_ok(bb_curator_give(f->curator, s + 1, &frame, &given));
                if (!given) break;
                const bb_bytes copy = silos_copy(frame);
                assert_ok(bb_silo_take(f->silo[s], copy, &news));
                assert_true(news);
                free((void *)copy.at);
                if (bb_silo_now(f->silo[s]) == BB_SILO_WORK)
                    assert_ok(bb_silo_work(f->silo[s]));
                if (!bb_silo_give(f->silo[s], &frame)) continue;
                assert_ok(bb_curator_take(f->curator, frame, &news));
                assert_true(news);
                bb_silo_gave(f->silo[s]);
            }
            finished = finished && bb_silo_now(f->silo[s]) == BB_SILO_DONE;
        }
        if (finished) return;
        if (bb_curator_now(f->curator) == BB_CURATOR_COMPLETE)
            assert_ok(bb_curator_close_round(f->curator));
        if (bb_curator_now(f->curator) == BB_CURATOR_PUBLISHED)
            assert_ok(bb_curator_go_on(f->curator));
    }
}

/* -- any partition, the same bytes -- */

static bool same_as_one_process(const bb_run *run, const bb_result *one, uint32_t count,
                                const uint32_t *where) {
    silos f;
    silos_deal(&f, run, count, where);
    silos_open(&f);
    drive(&f);
    const bool same = silos_agree(&f, one);
    silos_close(&f);
    return same;
}

static void law_partitions(const law_case *c) {
    law_world w;
    law_open(&w, c, 2);
    bb_result one;
    uint32_t where[LAW_TASKS] = {0};
    law_train(c, &w.run, &one);
    for (uint32_t count = 1; count <= 3; count++) {
        /* off the grid in whole chunks, of which so many tasks have five, each of nine:
         * of two silos the first one has the first two chunks, and the last one */
        const size_t part = count == 2 ? 18 : 9;
        for (size_t i = 0; i < w.p.tasks; i++)
            where[i] =
                (uint32_t)(c->mechanism->grid ? i * i % 7 % count : i / part % count);
        law_check(c, same_as_one_process(&w.run, &one, count, where));
    }
    bb_result_free(&one);
    law_close(&w);
}

static void test_partitions(void **state) {
    (void)state;
    law_for_all(law_partitions);
}

/* Several phases, of which the later ones begin with what the earlier ones shared. */
static void test_phases(void **state) {
    (void)state;
    law_world w;
    law_open(&w, &law_usual, 1);
    const bb_run pmtl =
        run_open(&w.p, &bb_method_pmtl, &bb_mechanism_gaussian, &w.engine);
    const bb_run home =
        run_open(&w.p, &bb_method_finetune, &bb_mechanism_none, &w.engine);
    bb_result one;
    uint32_t where[LAW_TASKS] = {0};
    w.run.pub.epsilon = 50.0; /* so few tasks are heard when they vote */
    w.run.phases = 4;
    w.run.phase[0].rounds = 3;
    w.run.phase[1] = pmtl.phase[0];
    w.run.phase[1].rounds = 2;
    w.run.phase[2] = home.phase[0];
    w.run.phase[3] = (bb_phase){.method = &bb_method_vote};
    law_train(&law_usual, &w.run, &one);
    assert_int_equal(one.rounds, 6);
    for (size_t i = 0; i < w.p.tasks; i++) where[i] = (uint32_t)(i % 3);
    assert_true(same_as_one_process(&w.run, &one, 3, where));
    bb_result_free(&one);
    w.run.phases = 1;
    bb_run rest[] = {pmtl, home};
    for (size_t k = 0; k < 2; k++) run_close(&rest[k]);
    law_close(&w);
}

/* -- a hostile driver -- */

typedef struct hostile {
    silos f;
    bb_random random;
    bb_bytes old[64]; /* frames that were sent once */
    size_t kept, saves;
} hostile;

static bool by_chance(hostile *h, uint64_t of) {
    return bb_random_below(&h->random, of) == 0;
}

static void remember(hostile *h, bb_bytes frame) {
    const size_t at = h->kept++ % 64;
    free((void *)h->old[at].at);
    h->old[at] = silos_copy(frame);
}

/* A frame that came before or was spoilt goes to the curator or to a silo: it is refused
 * with a message, or changes nothing. */
static void disturb(hostile *h) {
    bool news = false;
    if (!h->kept) return;
    const size_t kept = h->kept < 64 ? h->kept : 64;
    bb_bytes frame = silos_copy(h->old[bb_random_below(&h->random, kept)]);
    const uint64_t how = bb_random_below(&h->random, 4);
    uint8_t *bytes = (uint8_t *)(uintptr_t)frame.at;
    if (how == 1) frame.length = bb_random_below(&h->random, frame.length);
    if (how == 2) bytes[bb_random_below(&h->random, frame.length)] ^= 0x10;
    const bool spoilt = how == 1 || how == 2;
    bb_silo *silo = h->f.silo[bb_random_below(&h->random, h->f.count)];
    const bool work = bb_silo_now(silo) == BB_SILO_WORK;
    const bool to_silo = by_chance(h, 2);
    const bb_status status = to_silo ? bb_silo_take(silo, frame, &news)
                                     : bb_curator_take(h->f.curator, frame, &news);
    assert_true(!spoilt || status == BB_EDATA);
    assert_true(status == BB_OK || strlen(bb_last_error()) > 0);
    assert_true(!(spoilt && news));
    /* an old frame asks for no work that was done already */
    if (to_silo && !work) assert_true(bb_silo_now(silo) != BB_SILO_WORK || news);
    free(bytes);
}

/* The curator's process dies and another goes on from its bytes. */
static void restart_curator(hostile *h) {
    const bb_curator_terms terms = silos_curator(&h->f);
    bb_writer saved = {0};
    bb_curator_save(h->f.curator, &saved);
    assert_ok(saved.status);
    bb_curator_close(h->f.curator);
    assert_ok(
        bb_curator_restore(&h->f.curator, &terms, (bb_bytes){saved.at, saved.length}));
    bb_writer_close(&saved);
    h->saves++;
}

static void restart_silo(hostile *h, uint32_t s) {
    const bb_silo_terms terms = silos_terms(&h->f, s);
    bb_writer saved = {0};
    bb_silo_save(h->f.silo[s], &saved);
    assert_ok(saved.status);
    bb_silo_close(h->f.silo[s]);
    assert_ok(bb_silo_open(&h->f.silo[s], &terms));
    assert_ok(bb_silo_restore(h->f.silo[s], (bb_bytes){saved.at, saved.length}, NULL));
    bb_writer_close(&saved);
    h->saves++;
}

static void step(hostile *h) {
    bb_bytes frame;
    bool given, news;
    const uint32_t s = (uint32_t)bb_random_below(&h->random, h->f.count);
    if (by_chance(h, 3)) disturb(h);
    if (by_chance(h, 10)) restart_curator(h);
    if (by_chance(h, 10)) restart_silo(h, s);
    if (by_chance(h, 5)) bb_curator_again(h->f.curator, s + 1);
    bb_silo *silo = h->f.silo[s];
    assert_ok(bb_curator_give(h->f.curator, s + 1, &frame, &given));
    if (given && !by_chance(h, 6)) { /* else it is lost */
        remember(h, frame);
        const bb_status status = bb_silo_take(silo, frame, &news);
        if (status) bb_curator_again(h->f.curator, s + 1);
        if (status && h->f.sign) bb_silo_hello(silo);
    }
    if (h->f.sign && by_chance(h, 20)) bb_silo_hello(silo);
    if (bb_silo_now(silo) == BB_SILO_WORK && !by_chance(h, 4))
        assert_ok(bb_silo_work(silo));
    if (!bb_silo_give(silo, &frame)) return;
    remember(h, frame);
    if (!by_chance(h, 6)) assert_ok(bb_curator_take(h->f.curator, frame, &news));
    if (!by_chance(h, 4)) bb_silo_gave(silo);
}

/* What everybody sees: each round once, in order. */
static void see(hostile *h, uint32_t *seen) {
    const bb_release *release = bb_curator_release(h->f.curator);
    assert_true(release->round > *seen);
    *seen = release->round;
}

static void run_hostile(hostile *h, const bb_run *run, const uint32_t *where,
                        bool sign) {
    uint32_t seen = 0;
    silos_deal(&h->f, run, 3, where);
    if (sign) silos_sign(&h->f);
    silos_open(&h->f);
    for (size_t steps = 0;; steps++) {
        bool finished = true;
        assert_true(steps < 100000);
        step(h);
        for (uint32_t s = 0; s < 3; s++)
            finished = finished && bb_silo_now(h->f.silo[s]) == BB_SILO_DONE;
        if (finished) break;
        if (bb_curator_now(h->f.curator) == BB_CURATOR_WAITS && by_chance(h, 8))
            for (uint32_t s = 0; s < 3; s++) bb_curator_again(h->f.curator, s + 1);
        if (bb_curator_now(h->f.curator) == BB_CURATOR_WAITS && by_chance(h, 5))
            assert_fails(bb_curator_close_round(h->f.curator), BB_EUSAGE, "are needed");
        if (bb_curator_now(h->f.curator) == BB_CURATOR_COMPLETE)
            assert_ok(bb_curator_close_round(h->f.curator));
        if (bb_curator_now(h->f.curator) != BB_CURATOR_PUBLISHED) continue;
        if (by_chance(h, 2)) restart_curator(h);
        see(h, &seen);
        if (by_chance(h, 2)) restart_curator(h);
        assert_fails(bb_curator_close_round(h->f.curator), BB_EUSAGE, "no round");
        assert_ok(bb_curator_go_on(h->f.curator));
    }
}

static void hostile_case(const law_case *c, bool sign) {
    law_world w;
    law_open(&w, c, 1);
    bb_result one;
    uint32_t where[LAW_TASKS] = {0};
    static hostile h;
    if (c->method->sampled || strncmp(c->method->name, "mp-l", 4) == 0)
        w.run.phase[0].rounds = 3;
    law_train(c, &w.run, &one);
    for (size_t i = 0; i < w.p.tasks; i++)
        where[i] = (uint32_t)(c->mechanism->grid ? i * i % 7 % 3 : i / 9 % 3);
    h = (hostile){0};
    assert_ok(bb_random_open_stream(&h.random, 5, BB_FOR_TEST, one.rounds, c->loss));
    run_hostile(&h, &w.run, where, sign);
    law_check(c, h.saves > 0);
    law_check(c, silos_agree(&h.f, &one));
    for (size_t k = 0; k < 64; k++) free((void *)h.old[k].at);
    bb_random_close(&h.random);
    silos_close(&h.f);
    bb_result_free(&one);
    law_close(&w);
}

static void law_hostile(const law_case *c) {
    hostile_case(c, false);
}

static void test_hostile(void **state) {
    (void)state;
    law_for_all(law_hostile);
}

static void test_hostile_signed(void **state) {
    (void)state;
    hostile_case(&law_usual, true);
}

/* -- silence, budgets -- */

/* A silo that is silent has shown zeros; fewer than a round needs is no round. */
static void test_silence(void **state) {
    (void)state;
    law_world w;
    law_open(&w, &law_usual, 1);
    uint32_t where[LAW_TASKS] = {0};
    silos f;
    bb_bytes frame;
    bool given, news;
    w.run.phase[0].rounds = 3;
    for (size_t i = 0; i < w.p.tasks; i++) where[i] = (uint32_t)(i % 3);
    silos_deal(&f, &w.run, 3, where);
    f.fewest = 2;
    silos_open(&f);
    for (uint32_t answers = 0; bb_curator_now(f.curator) != BB_CURATOR_DONE;
         answers++) {
        for (uint32_t s = 0; s < 3; s++)
            while (!bb_curator_give(f.curator, s + 1, &frame, &given) && given) {
                assert_ok(bb_silo_take(f.silo[s], frame, &news));
                if (bb_silo_now(f.silo[s]) == BB_SILO_WORK)
                    assert_ok(bb_silo_work(f.silo[s]));
            }
        for (uint32_t s = 0; s < (answers ? 1 : 3); s++) {
            assert_true(bb_silo_give(f.silo[s], &frame));
            assert_ok(bb_curator_take(f.curator, frame, &news));
        }
        if (answers) {
            assert_fails(bb_curator_close_round(f.curator), BB_EUSAGE, "2 are needed");
            assert_true(bb_silo_give(f.silo[2], &frame));
            assert_ok(bb_curator_take(f.curator, frame, &news));
            /* it is waited for, and for no more rounds, unless it is heard */
            const bool lost = answers == 3;
            assert_int_equal(bb_curator_now(f.curator),
                             lost ? BB_CURATOR_COMPLETE : BB_CURATOR_WAITS);
        }
        assert_ok(bb_curator_close_round(f.curator));
        if (bb_curator_now(f.curator) == BB_CURATOR_PUBLISHED)
            assert_ok(bb_curator_go_on(f.curator));
        /* the one that was silent comes too late */
        if (answers == 1 && bb_silo_give(f.silo[1], &frame)) {
            assert_ok(bb_curator_take(f.curator, frame, &news));
            assert_false(news);
        }
    }
    silos_close(&f);
    law_close(&w);
}

/* -- older copies -- */

static void restore_curator(silos *f, const bb_writer *saved) {
    const bb_curator_terms terms = silos_curator(f);
    bb_curator_close(f->curator);
    assert_ok(
        bb_curator_restore(&f->curator, &terms, (bb_bytes){saved->at, saved->length}));
}

/* Silo 1 and the curator talk until neither has something to say, twice: a HELLO asks for
 * everything again. The curator's last status. */
static bb_status talk(silos *f) {
    bb_bytes frame;
    bool given, news;
    bb_status status = BB_OK;
    for (int k = 0; k < 2 && !status; k++) {
        bb_curator_again(f->curator, 1);
        while (!status && !bb_curator_give(f->curator, 1, &frame, &given) && given) {
            assert_ok(bb_silo_take(f->silo[0], frame, &news));
            if (bb_silo_now(f->silo[0]) == BB_SILO_WORK)
                assert_ok(bb_silo_work(f->silo[0]));
            if (bb_silo_give(f->silo[0], &frame))
                status = bb_curator_take(f->curator, frame, &news);
            bb_silo_gave(f->silo[0]);
        }
    }
    return status;
}

/* A curator that knows less of the run than its silo, by rounds, by an attempt, by all or by the
 * end of it, publishes nothing; the newest one goes on. */
static void test_older_copies(void **state) {
    (void)state;
    enum { BEFORE, FIRST, AGAIN, NEWEST, MOMENTS };
    law_world w;
    law_open(&w, &law_usual, 1);
    uint32_t where[LAW_TASKS] = {0};
    bb_result one;
    bb_bytes frame;
    silos f;
    bool news;
    bb_writer saved[MOMENTS] = {{0}};
    w.run.phase[0].rounds = 4;
    law_train(&law_usual, &w.run, &one);
    silos_deal(&f, &w.run, 1, where);
    silos_open(&f);
    bb_curator_save(f.curator, &saved[BEFORE]);
    assert_ok(talk(&f)); /* joins */
    assert_ok(bb_curator_close_round(f.curator));
    bb_curator_save(f.curator, &saved[FIRST]);
    restore_curator(&f, &saved[FIRST]);
    bb_curator_save(f.curator, &saved[AGAIN]); /* attempt 2 */
    restore_curator(&f, &saved[AGAIN]);        /* attempt 3 */
    assert_ok(talk(&f));
    restore_curator(&f, &saved[FIRST]);
    assert_int_equal(talk(&f), BB_EUSAGE);
    assert_non_null(strstr(bb_last_error(), "has answered round 1, attempt 3"));
    restore_curator(&f, &saved[AGAIN]);
    for (int round = 0; round < 3; round++) {
        assert_ok(talk(&f));
        assert_ok(bb_curator_close_round(f.curator));
        bb_writer_close(&saved[NEWEST]);
        saved[NEWEST] = (bb_writer){0};
        bb_curator_save(f.curator, &saved[NEWEST]); /* published */
        assert_ok(bb_curator_go_on(f.curator));
    }
    assert_ok(talk(&f));
    for (int k = BEFORE; k < NEWEST; k++) {
        restore_curator(&f, &saved[k]);
        assert_int_equal(talk(&f), BB_EUSAGE);
        assert_non_null(strstr(bb_last_error(), "older copy"));
        assert_int_equal(bb_curator_now(f.curator), BB_CURATOR_FAILED);
        bb_curator_stop(f.curator, BB_STOP_FAILED); /* silos wait for the newest */
        assert_false(bb_curator_is_stopped(f.curator));
        assert_fails(bb_curator_close_round(f.curator), BB_EUSAGE, "no round");
    }
    restore_curator(&f, &saved[NEWEST]);
    assert_ok(bb_curator_go_on(f.curator));
    bb_curator_again(f.curator, 1);
    assert_ok(talk(&f));
    assert_ok(bb_curator_close_round(f.curator));
    assert_ok(bb_curator_go_on(f.curator));
    assert_ok(talk(&f));
    assert_true(silos_agree(&f, &one));
    restore_curator(&f, &saved[FIRST]);
    bb_silo_leave(f.silo[0]);
    assert_true(bb_silo_give(f.silo[0], &frame));
    assert_fails(bb_curator_take(f.curator, frame, &news), BB_EUSAGE, "has left");
    for (int k = 0; k < MOMENTS; k++) bb_writer_close(&saved[k]);
    silos_close(&f);
    bb_result_free(&one);
    law_close(&w);
}

/* What a silo can say is bounded by its tasks' clips. */
static void test_too_large_a_sum(void **state) {
    (void)state;
    law_world w;
    law_open(&w, &law_usual, 1);
    const uint32_t where[LAW_TASKS] = {0};
    silos f;
    bb_bytes frame;
    bool given, news;
    silos_deal(&f, &w.run, 1, where);
    silos_open(&f);
    for (int k = 0; k < 2; k++) {
        assert_ok(bb_curator_give(f.curator, 1, &frame, &given));
        assert_ok(bb_silo_take(f.silo[0], frame, &news));
        if (k) assert_ok(bb_silo_work(f.silo[0]));
        assert_true(bb_silo_give(f.silo[0], &frame));
        if (k) break;
        assert_ok(bb_curator_take(f.curator, frame, &news));
        assert_ok(bb_curator_close_round(f.curator));
    }
    bb_frame sum;
    assert_ok(bb_frame_read(frame, true, &sum));
    const int64_t most = LAW_TASKS * (INT64_C(1) << 32);
    const int64_t number[] = {most + 1, -most - 1, INT64_MIN, most, -most};
    for (size_t k = 0; k < 5; k++) {
        bb_writer forged = {0};
        int64_t all[LAW_FEATURES + 2] = {0}; /* the last one: bits of norms */
        all[2] = number[k];
        bb_frame_begin(&forged, &sum);
        bb_put_u64(&forged, 0);
        bb_put_integers(&forged, all, (sum.payload.length - 8) / 8);
        bb_frame_end(&forged, &(bb_stamp){.sealed = true});
        const bb_status status =
            bb_curator_take(f.curator, (bb_bytes){forged.at, forged.length}, &news);
        assert_int_equal(status, k < 3 ? BB_EDATA : BB_OK);
        assert_int_equal(news, k == 3); /* the fifth is one too many */
        bb_writer_close(&forged);
    }
    silos_close(&f);
    law_close(&w);
}

/* The curator's ledger is charged when silos have joined, once, whatever is restarted;
 * a refusal comes before any round. */
static void test_charge(void **state) {
    (void)state;
    law_world w;
    law_open(&w, &law_usual, 1);
    const bb_ledger_terms budget = {.tasks = LAW_TASKS,
                                    .adjacency = w.run.pub.adjacency,
                                    .epsilon = 3.0,
                                    .delta = 1e-3};
    uint32_t where[LAW_TASKS] = {0};
    static hostile h;
    double epsilon, delta;
    w.run.seeded = false;
    w.run.phase[0].rounds = 3;
    assert_ok(bb_ledger_open(&w.run.ledger, "ledger.db", &budget));
    for (size_t i = 0; i < w.p.tasks; i++) where[i] = (uint32_t)(i % 3);
    for (int k = 0; k < 2; k++) {
        h = (hostile){0};
        assert_ok(bb_random_open_stream(&h.random, 6, BB_FOR_TEST, 0, 0));
        if (k == 0) run_hostile(&h, &w.run, where, false);
        if (k == 1) {
            silos_deal(&h.f, &w.run, 3, where);
            silos_open(&h.f);
            while (bb_curator_now(h.f.curator) == BB_CURATOR_WAITS) step(&h);
            assert_int_equal(bb_curator_close_round(h.f.curator), BB_EBUDGET);
            assert_int_equal(bb_curator_now(h.f.curator), BB_CURATOR_FAILED);
            assert_int_equal(bb_curator_round(h.f.curator), 0);
        }
        assert_ok(bb_ledger_spent(w.run.ledger, &epsilon, &delta));
        assert_close(epsilon, 2.0, 1e-9);
        for (size_t j = 0; j < 64; j++) free((void *)h.old[j].at);
        bb_random_close(&h.random);
        silos_close(&h.f);
    }
    bb_ledger_close(w.run.ledger);
    assert_int_equal(unlink("ledger.db"), 0);
    unlink("ledger.db-wal");
    unlink("ledger.db-shm");
    law_close(&w);
}

/* Off the grid a chunk of tasks is in one silo. */
static void test_cut_chunks(void **state) {
    (void)state;
    const law_case c = {&bb_method_fedprox, &bb_mechanism_none, BB_LOSS_SQUARED,
                        BB_SAMPLING_ALL};
    law_world w;
    law_open(&w, &c, 1);
    uint32_t where[LAW_TASKS] = {0};
    silos f;
    bb_bytes frame;
    bool given, news;
    for (size_t i = 0; i < w.p.tasks; i++) where[i] = (uint32_t)(i % 2);
    silos_deal(&f, &w.run, 2, where);
    silos_open(&f);
    assert_ok(bb_curator_give(f.curator, 1, &frame, &given));
    assert_fails(bb_silo_take(f.silo[0], frame, &news), BB_EUSAGE, "tasks 1 to 9");
    silos_close(&f);
    law_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partitions),
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_hostile_signed),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_older_copies),
        cmocka_unit_test(test_too_large_a_sum),
        cmocka_unit_test_setup_teardown(test_charge, folder_enter, folder_leave),
        cmocka_unit_test(test_cut_chunks),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
