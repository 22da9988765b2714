/* Every silo is a process of its own behind a pair of pipes: the curator's process has no
 * row of any task, and the same bytes come out. A process that is killed ends the run with
 * an error, and nothing more is published. */
#include "silos.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static bool put(int file, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size) {
        const ssize_t done = send(file, at, size, MSG_NOSIGNAL);
        if (done <= 0) return false;
        at += done;
        size -= (size_t)done;
    }
    return true;
}

static bool get(int file, void *bytes, size_t size) {
    char *at = bytes;
    while (size) {
        const ssize_t done = read(file, at, size);
        if (done <= 0) return false;
        at += done;
        size -= (size_t)done;
    }
    return true;
}

static bool put_frame(int file, bb_bytes frame) {
    return put(file, &frame.length, sizeof frame.length) &&
           put(file, frame.at, frame.length);
}

/* Owned by the caller. */
static bool get_frame(int file, bb_bytes *frame) {
    if (!get(file, &frame->length, sizeof frame->length)) return false;
    uint8_t *at = malloc(frame->length + 1);
    frame->at = at;
    if (at && get(file, at, frame->length)) return true;
    free(at);
    return false;
}

/* -- a silo's process -- */

static bool serve(bb_silo *silo, int file, uint32_t dies_at) {
    bb_bytes frame;
    bool news;
    for (uint32_t frames = 0; bb_silo_now(silo) != BB_SILO_DONE; frames++) {
        if (frames == dies_at) raise(SIGKILL);
        if (!get_frame(file, &frame)) return false;
        const bb_status status = bb_silo_take(silo, frame, &news);
        free((void *)(uintptr_t)frame.at);
        if (status) return false;
        if (bb_silo_now(silo) == BB_SILO_WORK && bb_silo_work(silo)) return false;
        if (bb_silo_give(silo, &frame) && !put_frame(file, frame)) return false;
        bb_silo_gave(silo);
    }
    return true;
}

/* Its models go back by the same pipe, for the test to compare. */
static bool hand_over(silos *f, uint32_t s, int file) {
    for (size_t k = 0; k < f->tasks[s]; k++) {
        const bb_silo_task task = bb_silo_result(f->silo[s], k);
        if (!put(file, task.model, f->local[s][k].length * sizeof *task.model) ||
            !put(file, &task.intercept, sizeof task.intercept))
            return false;
    }
    return true;
}

static int become_silo(silos *f, uint32_t s, int file, uint32_t dies_at) {
    const bb_silo_terms terms = silos_terms(f, s);
    bb_silo *silo = NULL;
    if (bb_silo_open(&silo, &terms)) return 1;
    f->silo[s] = silo;
    const bool done = serve(silo, file, dies_at) && hand_over(f, s, file);
    bb_silo_close(silo);
    return done ? 0 : 1;
}

/* -- the curator's -- */

enum { SILOS = 2, NEVER = 1000000 };

typedef struct federation {
    silos f;
    int file[SILOS];
    pid_t process[SILOS];
} federation;

static void begin(federation *g, uint32_t dies_at) {
    for (uint32_t s = 0; s < SILOS; s++) {
        int pair[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        g->process[s] = fork();
        assert_true(g->process[s] >= 0);
        if (g->process[s] == 0) {
            close(pair[0]);
            _exit(become_silo(&g->f, s, pair[1], s ? NEVER : dies_at));
        }
        close(pair[1]);
        g->file[s] = pair[0];
    }
}

static void end(federation *g) {
    for (uint32_t s = 0; s < SILOS; s++) {
        close(g->file[s]);
        assert_int_equal(waitpid(g->process[s], NULL, 0), g->process[s]);
    }
    bb_curator_close(g->f.curator);
}

/* What every silo is due, and one answer from each: false when one is gone. */
static bool exchange(federation *g) {
    bb_curator *curator = g->f.curator;
    bb_bytes frame;
    bool given, news;
    for (uint32_t s = 0; s < SILOS; s++)
        for (;;) {
            assert_ok(bb_curator_give(curator, s + 1, &frame, &given));
            if (!given) break;
            if (!put_frame(g->file[s], frame)) return false;
        }
    if (bb_curator_now(curator) == BB_CURATOR_DONE) return true;
    for (uint32_t s = 0; s < SILOS; s++) {
        if (!get_frame(g->file[s], &frame)) return false;
        assert_ok(bb_curator_take(curator, frame, &news));
        free((void *)(uintptr_t)frame.at);
    }
    return true;
}

static bool conduct(federation *g, uint32_t *published) {
    bb_curator *curator = g->f.curator;
    for (;;) {
        if (!exchange(g)) return false;
        if (bb_curator_now(curator) == BB_CURATOR_DONE) return true;
        assert_int_equal(bb_curator_now(curator), BB_CURATOR_COMPLETE);
        assert_ok(bb_curator_close_round(curator));
        if (bb_curator_now(curator) != BB_CURATOR_PUBLISHED) continue;
        ++*published;
        assert_ok(bb_curator_go_on(curator));
    }
}

static void open_federation(federation *g, const bb_run *run, const bb_run *rowless) {
    uint32_t where[LAW_TASKS] = {0};
    for (size_t i = 0; i < LAW_TASKS; i++) where[i] = i >= 18; /* two chunks of nine */
    silos_deal(&g->f, run, SILOS, where);
    const bb_curator_terms terms = {.run = rowless, .silos = SILOS, .sealed = true};
    assert_ok(bb_curator_open(&g->f.curator, &terms));
}

static void same_models(federation *g, const bb_result *one) {
    for (uint32_t s = 0; s < SILOS; s++)
        for (size_t k = 0; k < g->f.tasks[s]; k++) {
            const size_t i = g->f.id[s][k], n = one->first[i + 1] - one->first[i];
            double model[64], intercept;
            assert_true(n <= 64 && get(g->file[s], model, n * sizeof *model));
            assert_true(get(g->file[s], &intercept, sizeof intercept));
            assert_memory_equal(model, one->model + one->first[i], n * sizeof *model);
            assert_true(intercept == one->intercept[i]);
        }
}

static void law_pipes(const law_case *c) {
    law_world w;
    law_open(&w, c, 1);
    bb_run rowless = w.run;
    bb_result one, other = {0};
    static federation g;
    uint32_t published = 0;
    law_train(c, &w.run, &one);
    g = (federation){.process = {0}};
    rowless.local = NULL; /* the curator looks at none */
    rowless.key = NULL;
    open_federation(&g, &w.run, &rowless);
    begin(&g, NEVER);
    law_check(c, conduct(&g, &published));
    assert_ok(bb_curator_result(g.f.curator, &other));
    law_check(c, strcmp(one.billboard_sha256, other.billboard_sha256) == 0);
    law_check(c, one.rounds == published);
    same_models(&g, &one);
    end(&g);
    bb_result_free(&one);
    bb_result_free(&other);
    law_close(&w);
}

static void test_pipes(void **state) {
    (void)state;
    law_for_all(law_pipes);
}

static void test_killed_silo(void **state) {
    (void)state;
    law_world w;
    law_open(&w, &law_usual, 1);
    w.run.phase[0].rounds = 5;
    /* its third frame asks for the second round: one was published */
    for (uint32_t dies_at = 0; dies_at < 4; dies_at++) {
        static federation g;
        uint32_t published = 0;
        g = (federation){.process = {0}};
        open_federation(&g, &w.run, &w.run);
        begin(&g, dies_at);
        assert_false(conduct(&g, &published));
        assert_int_equal(published, dies_at > 1 ? dies_at - 1 : 0);
        end(&g);
    }
    law_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pipes),
        cmocka_unit_test(test_killed_silo),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
