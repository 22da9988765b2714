/* The first networks of a process, which load oneDNN, opened by several threads at once.
 * A program of its own, since only once are they the first. */
#include "learners/net.h"
#include "test.h"

#include <pthread.h>
#include <stdbool.h>

enum { THREADS = 4, INPUTS = 36, OUTPUTS = 3 };
static pthread_barrier_t start;

static void *open_and_run(void *context) {
    double *z = context, x[INPUTS];
    const double *const row = x;
    bb_net *net = NULL;
    for (int k = 0; k < INPUTS; k++) x[k] = cos(k);
    pthread_barrier_wait(&start);
    if (bb_net_open(&net, "conv3x4,pool2,dense3", (bb_image){6, 6, 1}, 1, 1))
        return NULL;
    const size_t n = bb_net_parameters(net);
    double *w = calloc(n, sizeof *w);
    bool good = w && !bb_net_start(net, 5, w);
    if (good) {
        bb_net_lane *lane = bb_net_take(net);
        bb_net_forward(net, lane, w, 1, &row, z);
        bb_net_give(net, lane);
    }
    free(w);
    bb_net_close(net);
    return good ? z : NULL;
}

static void several_at_once(void **state) {
    (void)state;
    static double z[THREADS][OUTPUTS];
    pthread_t thread[THREADS];
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, open_and_run, z[k]), 0);
    for (int k = 0; k < THREADS; k++) {
        void *result = NULL;
        assert_int_equal(pthread_join(thread[k], &result), 0);
        assert_ptr_equal(result, z[k]);
        assert_memory_equal(z[k], z[0], sizeof *z);
    }
    assert_true(z[0][0] != 0 && z[0][0] != z[0][1]);
    pthread_barrier_destroy(&start);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(several_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
