/* Every item of a loop is worked on once, by workers that are told apart, whoever helps:
 * short loops, long ones, several at a time, loops in loops, and after a fork. */
#include "base/parallel.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ITEMS = 500, WORKERS = 4, CALLERS = 3 };

typedef struct seen {
    const bb_engine *engine;
    atomic_int times[ITEMS];
    atomic_int at_work[WORKERS]; /* of a worker, at once */
    atomic_int overlaps;
    long nanoseconds; /* of an item */
} seen;

static void one(void *context, size_t item, size_t worker) {
    seen *s = context;
    if (worker >= WORKERS || atomic_fetch_add(&s->at_work[worker], 1))
        atomic_fetch_add(&s->overlaps, 1);
    const struct timespec pause = {.tv_nsec = s->nanoseconds};
    if (s->nanoseconds) (void)nanosleep(&pause, NULL);
    atomic_fetch_add(&s->times[item], 1);
    if (worker < WORKERS) atomic_fetch_sub(&s->at_work[worker], 1);
}

static bool loop(const bb_engine *engine, size_t items, long nanoseconds) {
    seen s = {.engine = engine, .nanoseconds = nanoseconds};
    bool once = true;
    engine->each(engine, items, one, &s);
    for (size_t i = 0; i < ITEMS; i++) once = once && s.times[i] == (i < items);
    return once && s.overlaps == 0;
}

static void test_every_item_once(void **state) {
    (void)state;
    for (size_t workers = 1; workers <= WORKERS; workers++) {
        const bb_engine engine = bb_engine_threads(workers);
        assert_int_equal(engine.workers, workers);
        for (size_t items = 0; items < 9; items++) assert_true(loop(&engine, items, 0));
        assert_true(loop(&engine, ITEMS, 0));
        assert_true(loop(&engine, 40, 200000));
    }
    assert_true(bb_engine_threads(0).workers >= 1);
}

/* Two items that wait for each other: without a second worker they would for ever. Those
 * before them are there for help to be asked for; the next loop needs none. */
typedef struct meeting {
    pthread_barrier_t barrier;
    size_t before;
    atomic_int met;
} meeting;

static void meet(void *context, size_t item, size_t worker) {
    meeting *m = context;
    const struct timespec pause = {.tv_nsec = 1000000};
    (void)worker;
    if (item < m->before)
        (void)nanosleep(&pause, NULL);
    else {
        (void)pthread_barrier_wait(&m->barrier);
        atomic_fetch_add(&m->met, 1);
    }
}

static void test_help_comes(void **state) {
    (void)state;
    const bb_engine engine = bb_engine_threads(2);
    meeting m = {.before = 3};
    assert_int_equal(pthread_barrier_init(&m.barrier, NULL, 2), 0);
    (void)alarm(60);
    engine.each(&engine, m.before + 2, meet, &m);
    assert_int_equal(m.met, 2);
    m.before = 0;
    engine.each(&engine, 2, meet, &m);
    (void)alarm(0);
    assert_int_equal(m.met, 4);
    pthread_barrier_destroy(&m.barrier);
}

static void *call(void *failed) {
    const bb_engine engine = bb_engine_threads(3);
    for (int k = 0; k < 30; k++)
        if (!loop(&engine, 40, k % 2 ? 30000 : 0))
            atomic_fetch_add((atomic_int *)failed, 1);
    return NULL;
}

static void test_several_callers(void **state) {
    (void)state;
    pthread_t caller[CALLERS];
    atomic_int failed = 0;
    for (int k = 0; k < CALLERS; k++)
        assert_int_equal(pthread_create(&caller[k], NULL, call, &failed), 0);
    for (int k = 0; k < CALLERS; k++) pthread_join(caller[k], NULL);
    assert_int_equal(failed, 0);
}

static void outer(void *context, size_t item, size_t worker) {
    seen *s = context;
    (void)worker;
    if (loop(s->engine, 5, 50000)) atomic_fetch_add(&s->times[item], 1);
}

static void test_loops_in_loops(void **state) {
    (void)state;
    const bb_engine engine = bb_engine_threads(3);
    seen s = {.engine = &engine};
    engine.each(&engine, 20, outer, &s);
    for (size_t i = 0; i < 20; i++) assert_int_equal(s.times[i], 1);
}

/* ThreadSanitizer ends a forked process that starts threads. */
#if defined __has_feature
#if __has_feature(thread_sanitizer)
#define NO_FORK 1
#endif
#endif

static void test_after_a_fork(void **state) {
    (void)state;
#ifdef NO_FORK
    skip();
#endif
    const bb_engine engine = bb_engine_threads(2);
    assert_true(loop(&engine, 40, 100000));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)alarm(60);
        _exit(loop(&engine, 40, 100000) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_item_once), cmocka_unit_test(test_help_comes),
        cmocka_unit_test(test_several_callers), cmocka_unit_test(test_loops_in_loops),
        cmocka_unit_test(test_after_a_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
