/* A loop over items that others may help with: one pool of sleeping threads for the
 * process.
 *
 * Whoever calls works through the items itself, and asks for help only when that has
 * taken a while, or at once where the last such loop did: rounds of microseconds never pay
 * for a thread to wake up, and of a few long items none should be done alone. At the end it
 * waits for those that have begun an item, not for those that are still asleep: on a busy
 * machine these are asleep for long. Loops that several callers run at once share the
 * threads; a loop inside of one runs on its caller alone. */
#define _GNU_SOURCE /* NOLINT: sched_getaffinity */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds after which help is asked for: some ten times what waking a thread costs. And
 * those of a loop whose next one asks at once. */
static const int64_t patience = 100000, lasting = 200000;

typedef void (*item_function)(void *context, size_t item, size_t worker);

typedef struct loop {
    item_function fn;
    void *context;
    size_t items, workers;
    atomic_size_t next;
    size_t helpers; /* that have joined, and those of them that are not done: */
    size_t busy;
    bool open; /* to more of them */
    struct loop *next_loop;
} loop;

static struct {
    pthread_mutex_t lock; /* of all below, and of loops but for `next` */
    pthread_cond_t wanted, done;
    loop *first;
    size_t wishes, threads; /* helpers that open loops would take; those there are */
    bool forks_watched;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .wanted = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};
static _Thread_local bool inside; /* of a loop */
/* Of this caller, those whose last loop lasted, each in the place that its address gives. */
enum { PLACES = 16 };
static _Thread_local item_function lasted[PLACES];

static void work(loop *l, size_t worker) {
    for (size_t i; (i = atomic_fetch_add(&l->next, 1)) < l->items;)
        l->fn(l->context, i, worker);
}

/* One that takes helpers, or NULL; with the lock. */
static loop *find_loop(void) {
    loop *l = pool.first;
    while (l && !(l->open && l->helpers + 1 < l->workers)) l = l->next_loop;
    return l;
}

static void *help(void *nothing) {
    inside = true;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        loop *l = find_loop();
        if (!l) {
            pthread_cond_wait(&pool.wanted, &pool.lock);
            continue;
        }
        const size_t worker = ++l->helpers;
        l->busy++;
        pthread_mutex_unlock(&pool.lock);
        work(l, worker);
        pthread_mutex_lock(&pool.lock);
        l->open = false;
        if (--l->busy == 0) pthread_cond_broadcast(&pool.done);
    }
    return nothing;
}

/* Threads are not inherited: the child begins without any. */
static void after_fork(void) {
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.wanted, NULL);
    pthread_cond_init(&pool.done, NULL);
    pool.first = NULL;
    pool.wishes = pool.threads = 0;
}

/* As many as are missing, or as can be had; with the lock. Signals are for the threads of
 * whoever called. */
static void start(void) {
    sigset_t all, before;
    pthread_attr_t detached;
    pthread_t thread;
    if (pool.threads >= pool.wishes) return;
    if (!pool.forks_watched)
        pool.forks_watched = !pthread_atfork(NULL, NULL, after_fork);
    if (pthread_attr_init(&detached)) return;
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.threads < pool.wishes &&
           !pthread_create(&thread, &detached, help, NULL))
        pool.threads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The items that are done alone before help is asked for. */
static size_t begin_alone(const loop *l, int64_t start) {
    size_t i = 0;
    while (i < l->items && now() - start < patience) l->fn(l->context, i++, 0);
    return i;
}

static void open_loop(loop *l) {
    pthread_mutex_lock(&pool.lock);
    pool.wishes += l->workers - 1;
    start();
    l->open = true;
    l->next_loop = pool.first;
    pool.first = l;
    pthread_cond_broadcast(&pool.wanted);
    pthread_mutex_unlock(&pool.lock);
}

static void close_loop(loop *l) {
    loop **at = &pool.first;
    pthread_mutex_lock(&pool.lock);
    l->open = false;
    pool.wishes -= l->workers - 1;
    while (*at != l) at = &(*at)->next_loop;
    *at = l->next_loop;
    while (l->busy) pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

static void run_alone(size_t items, item_function fn, void *context) {
    for (size_t i = 0; i < items; i++) fn(context, i, 0);
}

static void each(const bb_engine *engine, size_t items, item_function fn,
                 void *context) {
    loop l = {.fn = fn, .context = context, .items = items, .workers = engine->workers};
    item_function *const last = lasted + ((uintptr_t)fn >> 4) % PLACES;
    if (engine->workers < 2 || items < 2 || inside) {
        run_alone(items, fn, context);
        return;
    }
    inside = true;
    const int64_t start = now();
    const size_t alone = *last == fn ? 0 : begin_alone(&l, start);
    const bool helped = alone + 1 < items;
    atomic_init(&l.next, alone);
    if (helped) open_loop(&l);
    work(&l, 0);
    if (helped) close_loop(&l);
    *last = now() - start > lasting ? fn : NULL;
    inside = false;
}

/* That this process may run on. */
static size_t processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (size_t)CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (size_t)online : 1;
}

bb_engine bb_engine_threads(size_t threads) {
    const size_t workers = threads ? threads : processors();
    return (bb_engine){.name = "threads", .workers = workers, .each = each};
}
