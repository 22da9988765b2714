/* Started by mpirun: tasks are in several processes, and the same bytes come out as in
 * one. A rank that fails ends the run of all, with the same message everywhere. */
#include "core/run_ranks.h"
#include "core/wire.h"
#include "laws.h"
#include "mpi/mpi.h"

static bb_ranks *ranks;

/* A rank's part of a run. */
typedef struct part {
    size_t first[64], from;
    bb_deal deal;
    bb_run run;
} part;

static void take_part(part *p, const bb_run *run) {
    const size_t count = bb_ranks_count(ranks), tasks = run->pub.tasks;
    size_t rows[LAW_TASKS], chunks = 0;
    for (size_t i = 0; i < tasks; i++) rows[i] = 9 + i % 5;
    assert_ok(bb_run_chunks(run, &chunks));
    assert_ok(bb_deal_rows(tasks, rows, chunks, count, p->first));
    p->from = p->first[bb_ranks_number(ranks)];
    p->deal.first = p->first;
    p->run = *run;
    p->run.local = run->local + p->from;
    p->run.key = run->key ? run->key + p->from : NULL;
}

static bool same_models(const part *p, const bb_result *one, const bb_result *own) {
    const size_t to = p->first[bb_ranks_number(ranks) + 1];
    bool same = true;
    for (size_t i = p->from; i < to; i++)
        same = same && law_same_models(one, own, i, i - p->from);
    return same;
}

static bool same_public(const bb_run *run, const bb_result *one, const bb_result *own) {
    const size_t shared =
        run->pub.parameters * (run->pub.clusters ? run->pub.clusters : 1);
    bool same = memcmp(one->shared, own->shared, shared * sizeof *one->shared) == 0 &&
                one->shares == own->shares;
    if (bb_ranks_number(ranks)) return same;
    if (one->asked) same = same && memcmp(one->asked, own->asked, run->pub.tasks) == 0;
    return same && strcmp(one->billboard_sha256, own->billboard_sha256) == 0 &&
           one->rounds == own->rounds && one->note == own->note &&
           one->failed == own->failed &&
           memcmp(&one->outcome.objective, &own->outcome.objective, 8) == 0 &&
           memcmp(&one->outcome.gap, &own->outcome.gap, 8) == 0 &&
           one->outcome.converged == own->outcome.converged;
}

static void law_ranks(const law_case *c) {
    population p = law_population(c, LAW_TASKS, SIZE_MAX);
    const bb_engine engine = bb_engine_threads(1);
    bb_run run = law_run(c, &p, &engine);
    bb_result one, own = {0};
    part mine;
    /* the accountant takes its time, and was asked by others already */
    if (run.pub.sampling != BB_SAMPLING_ALL) run.phase[0].rounds = 3;
    law_train(c, &run, &one);
    take_part(&mine, &run);
    const bb_status status = bb_run_train_ranks(&mine.run, ranks, &mine.deal, &own);
    if (status) fail_msg("%s: %s", c->method->name, bb_last_error());
    law_check(c, same_models(&mine, &one, &own));
    law_check(c, same_public(&run, &one, &own));
    bb_result_free(&one);
    bb_result_free(&own);
    run_close(&run);
    population_close(&p);
}

static void test_laws(void **state) {
    (void)state;
    law_for_all(law_ranks);
}

/* The last rank was told to stop: all of them end, and know why. */
static void test_one_rank_stops(void **state) {
    (void)state;
    law_world w;
    law_open(&w, &law_usual, 1);
    bb_result own = {0};
    static const atomic_int stop = 1;
    part mine;
    take_part(&mine, &w.run);
    if (bb_ranks_number(ranks) + 1 == bb_ranks_count(ranks))
        mine.run.observer.stop = &stop;
    assert_fails(bb_run_train_ranks(&mine.run, ranks, &mine.deal, &own),
                 BB_EINTERRUPTED, "stopped");
    assert_null(own.model);
    law_close(&w);
}

/* Rank 0 cannot open the run; the others could. */
static void test_one_rank_refuses(void **state) {
    (void)state;
    law_world w;
    law_open(&w, &law_usual, 1);
    bb_result own = {0};
    part mine;
    take_part(&mine, &w.run);
    if (bb_ranks_number(ranks) == 0) mine.run.pub.epsilon = -1.0;
    assert_fails(bb_run_train_ranks(&mine.run, ranks, &mine.deal, &own), BB_EUSAGE,
                 "epsilon");
    law_close(&w);
}

/* -- runs that are kept -- */

/* Rank 0's keeper, and when it is stopped. */
typedef struct bank {
    bb_keep how;
    uint32_t stop_after, saves;
    atomic_int stop;
    bb_writer curator, silo;
} bank;

static bb_keep due(void *self, bool at_the_end) {
    (void)at_the_end;
    return ((const bank *)self)->how;
}

static bb_status store(void *self, bb_bytes curator, bb_bytes silo) {
    bank *b = self;
    b->saves++;
    b->curator.length = b->silo.length = 0;
    bb_put_bytes(&b->curator, curator.at, curator.length);
    bb_put_bytes(&b->silo, silo.at, silo.length);
    return b->silo.status;
}

static void count_rounds(void *self, uint32_t round, uint32_t rounds) {
    bank *b = self;
    (void)rounds;
    if (round == b->stop_after) atomic_store(&b->stop, 1);
}

static bb_status train_kept(const part *mine, bank *b, bb_result *own) {
    const bb_keeper keeper = {.self = b,
                              .due = due,
                              .save = store,
                              .curator = {b->curator.at, b->curator.length},
                              .silo = {b->silo.at, b->silo.length}};
    bb_run run = mine->run;
    bank next = {.how = b->how, .stop_after = b->stop_after};
    bb_keeper another = keeper;
    another.self = &next;
    if (bb_ranks_number(ranks) == 0) {
        run.keeper = &another;
        run.observer =
            (bb_observer){.self = &next, .progress = count_rounds, .stop = &next.stop};
    }
    const bb_status status = bb_run_train_ranks(&run, ranks, &mine->deal, own);
    bb_writer_close(&b->curator);
    bb_writer_close(&b->silo);
    *b = next;
    return status;
}

/* Stopped after the second round and, when it went on, after the third: the bytes of a
 * run that nobody stopped. */
static void check_kept(const law_case *c, bb_keep how) {
    population p = law_population(c, LAW_TASKS, SIZE_MAX);
    const bb_engine engine = bb_engine_threads(1);
    bb_run run = law_run(c, &p, &engine);
    bb_result one, own = {0};
    bank b = {.how = how, .stop_after = 2};
    part mine;
    if (c->method->kind == BB_METHOD_PRIVATE) run.phase[0].rounds = 5;
    law_train(c, &run, &one);
    if (!ranks) return; /* the driver of one process has its own tests */
    take_part(&mine, &run);
    assert_fails(train_kept(&mine, &b, &own), BB_EINTERRUPTED, "stopped");
    if (bb_ranks_number(ranks) == 0)
        assert_int_equal(b.saves, how == BB_KEEP_SAVE ? 2 : 1);
    b.stop_after = 3;
    assert_fails(train_kept(&mine, &b, &own), BB_EINTERRUPTED, "stopped");
    b.stop_after = 0;
    const bb_status status = train_kept(&mine, &b, &own);
    if (status) fail_msg("%s: %s", c->method->name, bb_last_error());
    law_check(c, same_models(&mine, &one, &own));
    law_check(c, same_public(&run, &one, &own));
    bb_result_free(&own);
    /* and once more, from its end */
    assert_ok(train_kept(&mine, &b, &own));
    law_check(c, same_models(&mine, &one, &own));
    bb_result_free(&own);
    /* not with another number of ranks */
    const uint64_t nothing = 0;
    if (bb_ranks_number(ranks) == 0) bb_put_u64(&b.silo, nothing);
    assert_fails(train_kept(&mine, &b, &own), BB_EDATA, "go on with as many");
    bb_writer_close(&b.curator);
    bb_writer_close(&b.silo);
    bb_result_free(&one);
    run_close(&run);
    population_close(&p);
}

static void test_kept(void **state) {
    (void)state;
    const law_case cases[] = {
        {&bb_method_fedprox, &bb_mechanism_gaussian, BB_LOSS_SQUARED, BB_SAMPLING_ALL},
        {&bb_method_pmtl, &bb_mechanism_gaussian, BB_LOSS_SOFTMAX, BB_SAMPLING_ALL},
        {&bb_method_pmtl, &bb_mechanism_none, BB_LOSS_SQUARED, BB_SAMPLING_POISSON},
        {&bb_method_mtl_trace, &bb_mechanism_none, BB_LOSS_LOGISTIC, BB_SAMPLING_ALL}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        check_kept(&cases[k], BB_KEEP_SAVE);
        check_kept(&cases[k], BB_KEEP_COPY);
    }
}

/* Everybody's bytes come in the order of ranks, none of them are fine, and the lowest
 * rank that fails is heard. */
static void test_exchange(void **state) {
    (void)state;
    const size_t count = bb_ranks_count(ranks), number = bb_ranks_number(ranks);
    size_t own[64];
    bb_message all = {NULL, 0};
    for (size_t k = 0; k < number; k++) own[k] = 10 * number + k;
    assert_ok(bb_ranks_gather_all(ranks, BB_OK, own, number * sizeof *own, &all));
    assert_int_equal(all.length, count * (count - 1) / 2 * sizeof *own);
    for (size_t r = 0, at = 0; r < count; r++)
        for (size_t k = 0; k < r; k++)
            assert_int_equal(((size_t *)all.at)[at++], 10 * r + k);
    free(all.at);
    bb_status status = BB_OK;
    if (number > 0 || count == 1) status = bb_fail(BB_EDATA, "rank %zu", number);
    assert_fails(bb_ranks_agree(ranks, status), BB_EDATA,
                 count == 1 ? "rank 0" : "rank 1");
    assert_ok(bb_ranks_agree(ranks, BB_OK));
}

/* Ranks have neighbouring tasks, as few rows as can be, and chunks are not torn. */
static void test_deal(void **state) {
    (void)state;
    const size_t rows[] = {5, 1, 1, 1, 9, 0, 0, 3};
    size_t first[11];
    assert_ok(bb_deal_rows(8, rows, 8, 2, first));
    assert_int_equal(first[1], 4);
    assert_int_equal(first[2], 8);
    assert_ok(bb_deal_rows(8, rows, 2, 3, first));
    assert_int_equal(first[1], 4);
    assert_int_equal(first[2], 8);
    assert_int_equal(first[3], 8);
    assert_ok(bb_deal_rows(8, rows, 8, 10, first));
    assert_int_equal(first[0], 0);
    assert_int_equal(first[10], 8);
    for (size_t r = 0; r < 10; r++) assert_true(first[r] <= first[r + 1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deal),
        cmocka_unit_test(test_exchange),
        cmocka_unit_test(test_laws),
        cmocka_unit_test(test_one_rank_stops),
        cmocka_unit_test(test_one_rank_refuses),
        cmocka_unit_test(test_kept),
    };
    if (bb_linalg_start()) return 1;
    if (bb_mpi_join(&ranks)) {
        fprintf(stderr, "%s\n", bb_last_error());
        return 1;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    bb_mpi_leave(ranks, failed);
    return failed;
}
