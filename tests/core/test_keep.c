/* A run that is kept goes on from every place where it was saved as if nothing had been:
 * the same releases, models and result; its plan is not priced again. */
#include "folder.h"
#include "laws.h"

#include <string.h>

static bb_engine engine;

/* -- plans that are priced -- */

static size_t priced;

struct bb_phases; /* core/phases.h */
bb_status __real_bb_phases_plan(struct bb_phases *phases);
bb_status __wrap_bb_phases_plan(struct bb_phases *phases);
bb_status __wrap_bb_phases_plan(struct bb_phases *phases) {
    priced++;
    return __real_bb_phases_plan(phases);
}

/* -- a keeper in memory -- */

enum { MOST_SAVES = 512 };

typedef struct kept {
    bb_writer curator, silo;
    uint32_t published; /* rounds that were published before */
} kept;

typedef struct keeping {
    bb_keeper keeper;
    bb_keep how;
    kept save[MOST_SAVES];
    size_t saves;
    uint32_t from, published, published_then; /* rounds; when `due` was asked */
    char seen[MOST_SAVES][BB_HASH_TEXT];
    atomic_int stop;
    uint32_t stop_after;
    bool ended;
} keeping;

static bb_keep due(void *self, bool at_the_end) {
    keeping *k = self;
    k->published_then = k->published;
    k->ended = at_the_end;
    return k->how;
}

static bb_status save(void *self, bb_bytes curator, bb_bytes silo) {
    keeping *k = self;
    assert_true(k->saves < MOST_SAVES);
    kept *now = &k->save[k->saves++];
    *now = (kept){.published = k->published_then};
    bb_put_bytes(&now->curator, curator.at, curator.length);
    bb_put_bytes(&now->silo, silo.at, silo.length);
    return now->curator.status ? now->curator.status : now->silo.status;
}

static bb_status publish(void *self, const bb_release *release, size_t tasks) {
    keeping *k = self;
    bb_hash hash;
    bb_hash_open(&hash);
    for (size_t b = 0; b < release->layout->blocks; b++) {
        const bb_block *block = &release->layout->block[b];
        bb_hash_add(&hash, block->name, strlen(block->name));
        bb_hash_add_doubles(&hash, &block->clip, 1);
        bb_hash_add_doubles(&hash, &release->noise[b], 1);
        bb_hash_add_doubles(&hash, release->value[b],
                            bb_block_sum_length(block, tasks));
        if (block->form == BB_FORM_SELECTION)
            bb_hash_add(&hash, &release->winner[b], sizeof release->winner[b]);
    }
    bb_hash_add(&hash, &release->round, sizeof release->round);
    assert_true(k->published < MOST_SAVES);
    bb_hash_text(&hash, k->seen[k->published++]);
    if (k->published == k->stop_after) k->stop = 1;
    return BB_OK;
}

static bb_run kept_run(const bb_run *run, keeping *k, bb_keep how) {
    bb_run with = *run;
    k->keeper = (bb_keeper){.self = k, .due = due, .save = save};
    k->how = how;
    with.keeper = &k->keeper;
    with.observer = (bb_observer){.self = k, .published = publish, .stop = &k->stop};
    return with;
}

static void go_on_from(keeping *k, const kept *from) {
    k->keeper.curator = (bb_bytes){from->curator.at, from->curator.length};
    k->keeper.silo = (bb_bytes){from->silo.at, from->silo.length};
    k->from = k->published = from->published;
}

static void keeping_close(keeping *k) {
    for (size_t s = 0; s < k->saves; s++) {
        bb_writer_close(&k->save[s].curator);
        bb_writer_close(&k->save[s].silo);
    }
    *k = (keeping){0};
}

/* -- laws -- */

static bool same(const bb_run *run, const bb_result *a, const bb_result *b) {
    bool equal =
        strcmp(a->billboard_sha256, b->billboard_sha256) == 0 &&
        a->rounds == b->rounds && a->shares == b->shares && a->note == b->note &&
        a->failed == b->failed && a->plan.accountant == b->plan.accountant &&
        memcmp(&a->noise_multiplier, &b->noise_multiplier, sizeof(double)) == 0 &&
        memcmp(&a->outcome.objective, &b->outcome.objective, sizeof(double)) == 0 &&
        a->outcome.converged == b->outcome.converged;
    for (uint32_t t = 0; t < a->plan.rounds && equal; t++)
        equal = a->plan.mu[t] == b->plan.mu[t] && a->plan.pure[t] == b->plan.pure[t] &&
                a->plan.step[t].weight == b->plan.step[t].weight;
    for (size_t i = 0; i < run->pub.tasks && equal; i++)
        equal =
            law_same_models(a, b, i, i) && (!a->asked || a->asked[i] == b->asked[i]);
    return equal;
}

/* From each save, or from some where there are many. */
static void law_every_save(const law_case *c, const bb_run *run, size_t step) {
    static keeping all, again;
    bb_result one, kept_one, resumed;
    law_train(c, run, &one);
    bb_run with = kept_run(run, &all, BB_KEEP_SAVE);
    law_train(c, &with, &kept_one);
    law_check(c, same(run, &one, &kept_one));
    law_check(c, all.saves >= 1);
    for (size_t s = 0; s < all.saves; s += s + step < all.saves ? step : 1) {
        bb_run rest = kept_run(run, &again, BB_KEEP_NOTHING);
        go_on_from(&again, &all.save[s]);
        const size_t before = priced;
        law_train(c, &rest, &resumed);
        law_check(c, priced == before);
        law_check(c, same(run, &one, &resumed));
        law_check(c, again.published == all.published);
        law_check(c, again.ended && again.saves == 1);
        for (uint32_t t = again.from; t < again.published; t++)
            law_check(c, strcmp(again.seen[t], all.seen[t]) == 0);
        bb_result_free(&resumed);
        keeping_close(&again);
    }
    bb_result_free(&one);
    bb_result_free(&kept_one);
    keeping_close(&all);
}

static void law_goes_on(const law_case *c) {
    population p = law_population(c, LAW_TASKS, SIZE_MAX);
    bb_run run = law_run(c, &p, &engine);
    law_every_save(c, &run, 7);
    run_close(&run);
    population_close(&p);
}

static void test_every_method_goes_on(void **state) {
    (void)state;
    law_for_all(law_goes_on);
}

/* Between phases, and after each at home, too. */
static void test_phases_go_on(void **state) {
    (void)state;
    const law_case c = {&bb_method_fedprox, &bb_mechanism_gaussian, BB_LOSS_SQUARED,
                        BB_SAMPLING_ALL};
    population p = law_population(&c, LAW_TASKS, SIZE_MAX);
    bb_run run = law_run(&c, &p, &engine);
    bb_run rest[] = {run_open(&p, &bb_method_pmtl, &bb_mechanism_gaussian, &engine),
                     run_open(&p, &bb_method_finetune, &bb_mechanism_none, &engine)};
    run.phases = 3;
    run.phase[0].rounds = 3;
    run.phase[1] = rest[0].phase[0];
    run.phase[1].rounds = 2;
    run.phase[2] = rest[1].phase[0];
    law_every_save(&c, &run, 1);
    run.phases = 1;
    run_close(&run);
    for (size_t k = 0; k < 2; k++) run_close(&rest[k]);
    population_close(&p);
}

/* -- interruptions -- */

static const law_case pmtl = {&bb_method_pmtl, &bb_mechanism_gaussian, BB_LOSS_SQUARED,
                              BB_SAMPLING_POISSON};

/* What was copied last is saved when it is stopped, once, and goes on. */
static void test_a_stop_saves(void **state) {
    (void)state;
    static keeping k, again;
    population p = law_population(&pmtl, LAW_TASKS, SIZE_MAX);
    bb_run run = law_run(&pmtl, &p, &engine);
    bb_result one, result = {.rounds = 77};
    run.phase[0].rounds = 5;
    law_train(&pmtl, &run, &one);
    bb_run with = kept_run(&run, &k, BB_KEEP_COPY);
    k.stop_after = 3;
    assert_fails(bb_run_train(&with, &result), BB_EINTERRUPTED, "round 3 of 5");
    assert_int_equal(result.rounds, 77);
    assert_int_equal(k.saves, 1);
    /* published after the copy: again, and the same, as the noise is seeded */
    assert_int_equal(k.published, 3);
    bb_run rest = kept_run(&run, &again, BB_KEEP_NOTHING);
    go_on_from(&again, &k.save[0]);
    assert_int_equal(again.from, 2);
    assert_ok(bb_run_train(&rest, &result));
    assert_true(same(&run, &one, &result));
    assert_string_equal(again.seen[2], k.seen[2]);
    bb_result_free(&one);
    bb_result_free(&result);
    keeping_close(&k);
    keeping_close(&again);
    run_close(&run);
    population_close(&p);
}

static bb_status full(void *self, bb_bytes curator, bb_bytes silo) {
    (void)self, (void)curator, (void)silo;
    return bb_fail(BB_EIO, "the disk is full");
}

static void test_a_save_that_fails_ends_the_run(void **state) {
    (void)state;
    static keeping k;
    population p = law_population(&pmtl, LAW_TASKS, SIZE_MAX);
    bb_run run = law_run(&pmtl, &p, &engine);
    bb_result result = {.rounds = 77};
    run.phase[0].rounds = 5;
    bb_run with = kept_run(&run, &k, BB_KEEP_SAVE);
    k.keeper.save = full;
    assert_fails(bb_run_train(&with, &result), BB_EIO, "the disk is full");
    assert_int_equal(k.published, 0);
    k.how = BB_KEEP_COPY;
    k.stop_after = 2;
    assert_fails(bb_run_train(&with, &result), BB_EIO,
                 "interrupted, and not saved: the disk is full");
    assert_int_equal(result.rounds, 77);
    keeping_close(&k);
    run_close(&run);
    population_close(&p);
}

/* -- other noise, the same charge -- */

static void test_an_unseeded_run_is_charged_once(void **state) {
    (void)state;
    static keeping k, again;
    const law_case c = {&bb_method_pmtl, &bb_mechanism_gaussian, BB_LOSS_SQUARED,
                        BB_SAMPLING_ALL};
    const bb_ledger_terms terms = {.population = "p",
                                   .tasks = LAW_TASKS,
                                   .adjacency = BB_REPLACE_ONE,
                                   .epsilon = 5.0,
                                   .delta = 0.1,
                                   .kind = BB_LEDGER_SUM};
    population p = law_population(&c, LAW_TASKS, SIZE_MAX);
    bb_run run = law_run(&c, &p, &engine);
    bb_result result = {0};
    double epsilon, delta;
    run.seeded = false;
    run.phase[0].rounds = 5;
    assert_ok(bb_ledger_open(&run.ledger, "kept.ledger", &terms));
    bb_run with = kept_run(&run, &k, BB_KEEP_SAVE);
    k.stop_after = 3;
    assert_fails(bb_run_train(&with, &result), BB_EINTERRUPTED, "round 3");
    const kept *last = &k.save[k.saves - 1];
    assert_int_equal(last->published, 2); /* the third was on its way */
    bb_run rest = kept_run(&run, &again, BB_KEEP_SAVE);
    go_on_from(&again, last);
    memcpy(again.seen, k.seen, sizeof k.seen);
    assert_ok(bb_run_train(&rest, &result));
    assert_int_equal(result.rounds, 5);
    assert_int_equal(again.published, 5);
    /* what was on its way was in the save: it is the same release */
    assert_string_equal(again.seen[2], k.seen[2]);
    assert_ok(bb_ledger_spent(run.ledger, &epsilon, &delta));
    assert_close(epsilon, run.pub.epsilon, 1e-12);
    bb_ledger_close(run.ledger);
    assert_int_equal(remove("kept.ledger"), 0);
    bb_result_free(&result);
    keeping_close(&k);
    keeping_close(&again);
    run_close(&run);
    population_close(&p);
}

static void test_of_another_run(void **state) {
    (void)state;
    static keeping k, again;
    population p = law_population(&pmtl, LAW_TASKS, SIZE_MAX);
    bb_run run = law_run(&pmtl, &p, &engine);
    bb_result result = {0}, none = {.rounds = 77};
    run.phase[0].rounds = 3;
    bb_run with = kept_run(&run, &k, BB_KEEP_SAVE);
    assert_ok(bb_run_train(&with, &result));
    bb_run other = kept_run(&run, &again, BB_KEEP_SAVE);
    go_on_from(&again, &k.save[0]);
    other.seed++;
    assert_fails(bb_run_train(&other, &none), BB_EUSAGE, "of another run");
    other.seed--;
    other.pub.epsilon = 3.0;
    assert_fails(bb_run_train(&other, &none), BB_EUSAGE, "of another run");
    assert_int_equal(again.saves, 0);
    assert_int_equal(none.rounds, 77);
    bb_result_free(&result);
    keeping_close(&k);
    keeping_close(&again);
    run_close(&run);
    population_close(&p);
}

static int enter(void **state) {
    engine = bb_engine_threads(2);
    return folder_enter(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_method_goes_on),
        cmocka_unit_test(test_phases_go_on),
        cmocka_unit_test(test_a_stop_saves),
        cmocka_unit_test(test_a_save_that_fails_ends_the_run),
        cmocka_unit_test(test_an_unseeded_run_is_charged_once),
        cmocka_unit_test(test_of_another_run),
    };
    return cmocka_run_group_tests(tests, enter, folder_leave);
}
