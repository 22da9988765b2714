/* An offer's plan as bytes, what is said of those of other versions, and of what was
 * saved. */
#include "core/messages.h"
#include "silos.h"

/* The payload of the offer that a curator of this run makes. */
static void make_offer(const bb_run *run, bb_writer *offer) {
    static const bb_roll roll = {.silos = 1, .fewest = 1};
    bb_phases phases;
    assert_ok(bb_phases_open(&phases, run, NULL));
    assert_ok(bb_phases_plan(&phases));
    bb_put_terms(offer, &phases);
    bb_put_plan(offer, &roll, &phases);
    assert_ok(offer->status);
    bb_phases_close(&phases);
}

static bb_status read_offer(const bb_run *run, const bb_writer *offer,
                            bb_phases *phases) {
    bb_reader reader = bb_reader_of((bb_bytes){offer->at, offer->length});
    bb_roll roll;
    assert_ok(bb_phases_open(phases, run, NULL));
    const bb_status status = bb_check_terms(&reader, phases, "another run");
    return status ? status : bb_get_plan(&reader, &roll, phases);
}

static bool same_doubles(const double *a, const double *b, size_t count) {
    return (!a && !b) || memcmp(a, b, count * sizeof *a) == 0;
}

/* The plan that a silo reads is the curator's, bit for bit. Returns the offer's bytes. */
static size_t offered(const bb_run *run) {
    bb_writer offer = {0};
    bb_phases made, read;
    make_offer(run, &offer);
    assert_ok(bb_phases_open(&made, run, NULL));
    assert_ok(bb_phases_plan(&made));
    assert_ok(read_offer(run, &offer, &read));
    const bb_plan *a = &made.plan, *b = &read.plan;
    assert_int_equal(a->rounds, b->rounds);
    assert_int_equal(a->accountant, b->accountant);
    assert_true(same_doubles(a->mu, b->mu, a->rounds));
    assert_true(same_doubles(a->pure, b->pure, a->rounds));
    assert_true(!a->instance == !b->instance);
    assert_true(same_doubles(a->instance, b->instance, a->rounds));
    assert_memory_equal(a->step, b->step, a->rounds * sizeof *a->step);
    bb_phases_close(&made);
    bb_phases_close(&read);
    const size_t bytes = offer.length;
    bb_writer_close(&offer);
    return bytes;
}

static void test_plans(void **state) {
    (void)state;
    static const bb_method *const method[] = {&bb_method_fedprox, &bb_method_mp_lrsp,
                                              &bb_method_mp_instance};
    for (size_t k = 0; k < 3; k++) {
        const law_case c = {method[k], &bb_mechanism_gaussian, BB_LOSS_SQUARED,
                            BB_SAMPLING_ALL};
        law_world w;
        law_open(&w, &c, 1);
        if (k == 1) run_set(&w.run, "clip", "auto"); /* selections */
        offered(&w.run);
        w.run.phase[0].rounds = 1;
        const size_t one = offered(&w.run);
        w.run.phase[0].rounds = 900;
        assert_true(k == 1 || offered(&w.run) < one + 20);
        w.run.pub.schedule = "power:1";
        w.run.phase[0].rounds = 30;
        assert_true(offered(&w.run) > one + (size_t)29 * 36);
        law_close(&w);
    }
}

/* What says that it has another number of rounds than it has. */
static void test_wrong_counts(void **state) {
    (void)state;
    law_world w;
    law_open(&w, &law_usual, 1);
    bb_writer offer = {0};
    w.run.phase[0].rounds = 4;
    make_offer(&w.run, &offer);
    uint8_t *count = offer.at + offer.length - 36;
    assert_int_equal(*count, 4);
    for (uint8_t wrong = 0; wrong < 7; wrong++) {
        bb_phases read;
        *count = wrong;
        const bb_status status = read_offer(&w.run, &offer, &read);
        assert_int_equal(status, wrong == 4 ? BB_OK : BB_EDATA);
        if (status) assert_non_null(strstr(bb_last_error(), "one of 4 rounds"));
        bb_phases_close(&read);
    }
    /* behind the end, whatever is there */
    *count = 4;
    for (size_t cut = 1; cut <= 44; cut++) {
        bb_phases read;
        offer.length--;
        assert_fails(read_offer(&w.run, &offer, &read), BB_EDATA, "offer");
        bb_phases_close(&read);
    }
    bb_writer_close(&offer);
    law_close(&w);
}

/* What another version of Billboard sent or saved. */
static void test_versions(void **state) {
    (void)state;
    law_world w;
    law_open(&w, &law_usual, 1);
    const uint32_t where[LAW_TASKS] = {0};
    silos f;
    bb_bytes frame;
    bool given, news;
    silos_deal(&f, &w.run, 1, where);
    silos_open(&f);
    assert_ok(bb_curator_give(f.curator, 1, &frame, &given));
    uint8_t *version = (uint8_t *)(uintptr_t)frame.at + 4;
    *version = BB_WIRE_VERSION - 1;
    assert_fails(bb_silo_take(f.silo[0], frame, &news), BB_EDATA,
                 "a frame of version 5; this program speaks 6: all places");
    *version = BB_WIRE_VERSION;
    assert_ok(bb_silo_take(f.silo[0], frame, &news)); /* it waits for the right one */
    bb_writer saved[2] = {{.at = NULL}, {.at = NULL}};
    bb_curator *curator = NULL;
    bb_silo *silo = NULL;
    const bb_curator_terms all = silos_curator(&f);
    const bb_silo_terms own = silos_terms(&f, 0);
    bb_curator_save(f.curator, &saved[0]);
    bb_silo_save(f.silo[0], &saved[1]);
    for (int k = 0; k < 2; k++) {
        assert_ok(saved[k].status);
        saved[k].at[4]++;
    }
    assert_fails(
        bb_curator_restore(&curator, &all, (bb_bytes){saved[0].at, saved[0].length}),
        BB_EDATA, "a saved curator of version 7; this program knows 6");
    assert_ok(bb_silo_open(&silo, &own));
    assert_fails(bb_silo_restore(silo, (bb_bytes){saved[1].at, saved[1].length}, NULL),
                 BB_EDATA, "a saved silo of version 7; this program knows 6");
    bb_silo_close(silo);
    for (int k = 0; k < 2; k++) bb_writer_close(&saved[k]);
    silos_close(&f);
    law_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_wrong_counts),
        cmocka_unit_test(test_versions),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
