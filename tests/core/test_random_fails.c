/* A cipher that fails once, at every place in a run: the run ends with an error, and
 * nothing is published from then on. */
#include "methods/registry.h"
#include "population.h"
#include "privacy/noise/noise.h"
#include "test.h"

#include <openssl/evp.h>

#include <stdatomic.h>
#include <string.h>

static atomic_int refills, fail_at; /* 0: never */
static atomic_int published, published_before;

int __real_EVP_EncryptUpdate(EVP_CIPHER_CTX *cipher, unsigned char *out, int *length,
                             const unsigned char *in, int size);
int __wrap_EVP_EncryptUpdate(EVP_CIPHER_CTX *cipher, unsigned char *out, int *length,
                             const unsigned char *in, int size);
int __wrap_EVP_EncryptUpdate(EVP_CIPHER_CTX *cipher, unsigned char *out, int *length,
                             const unsigned char *in, int size) {
    if (atomic_fetch_add(&refills, 1) + 1 == atomic_load(&fail_at)) {
        atomic_store(&published_before, atomic_load(&published));
        return 0;
    }
    return __real_EVP_EncryptUpdate(cipher, out, length, in, size);
}

static void arm(int at) {
    refills = published = published_before = 0;
    fail_at = at;
}

/* -- the generator -- */

static void it_stays_failed(void **state) {
    (void)state;
    static bb_random random;
    int64_t noise[100] = {0};
    size_t order[100] = {0};
    arm(1);
    assert_ok(bb_random_open_secure(&random));
    assert_ok(bb_random_check(&random));
    (void)bb_random_bits(&random);
    assert_fails(bb_random_check(&random), BB_EIO, "ChaCha20 gave no bits");
    /* loops end */
    for (int k = 0; k < 2000; k++) (void)bb_random_normal(&random);
    for (int k = 0; k < 2000; k++) (void)bb_random_below(&random, 3);
    bb_random_shuffle(&random, order, 100);
    bb_noise_gaussian(&random, 0x1p30, 100, noise);
    bb_noise_radial(&random, 0x1p30, 100, noise);
    assert_fails(bb_random_check(&random), BB_EIO, "ChaCha20 gave no bits");
    assert_fails(bb_random_restart(&random, 1, BB_FOR_TEST, 0, 0), BB_EIO, "failed");
    bb_random_close(&random);
    assert_ok(bb_random_open_stream(&random, 1, BB_FOR_TEST, 0, 0));
    (void)bb_random_bits(&random);
    assert_ok(bb_random_check(&random));
    bb_random_close(&random);
}

/* No noise is worse than none that says so. */
static void broken_preconditions_fail_it(void **state) {
    (void)state;
    static bb_random random;
    const double std[] = {NAN, 0.0, 0x1p19, 0x1p54};
    const int64_t score[] = {0, 1};
    arm(0);
    for (size_t k = 0; k < sizeof std / sizeof *std; k++) {
        int64_t value = 5;
        assert_ok(bb_random_open_secure(&random));
        bb_noise_gaussian(&random, std[k], 1, &value);
        assert_int_equal(value, 5);
        assert_fails(bb_random_check(&random), BB_EIO, "standard deviation");
        bb_random_close(&random);
    }
    assert_ok(bb_random_open_secure(&random));
    (void)bb_select_permute_and_flip(&random, NAN, 2, score);
    assert_fails(bb_random_check(&random), BB_EIO, "no such epsilon");
    bb_random_close(&random);
}

/* -- runs -- */

static bb_status count(void *self, const bb_release *release, size_t tasks) {
    (void)self, (void)release, (void)tasks;
    atomic_fetch_add(&published, 1);
    return BB_OK;
}

/* The run, with a cipher that fails at each of its calls in turn. Secure noise may be
 * refused by its sampler and drawn again: a run may have fewer calls than the first. */
static void fail_everywhere(bb_run *run) {
    bb_result result = {0};
    run->observer.published = count;
    arm(0);
    assert_ok(bb_run_train(run, &result));
    bb_result_free(&result);
    const int calls = refills;
    assert_true(calls > 0 && published > 0);
    for (int k = 1; k <= calls; k++) {
        arm(k);
        const bb_status status = bb_run_train(run, &result);
        if (refills < k && !run->seeded) {
            assert_ok(status);
            bb_result_free(&result);
            continue;
        }
        assert_fails(status, BB_EIO, "random generator failed");
        assert_int_equal(published, published_before);
        assert_null(result.model);
    }
    arm(0);
}

static void runs_end_before_they_publish(void **state) {
    (void)state;
    const bb_method *const method[] = {&bb_method_mp_groupsparse, &bb_method_mp_lowrank,
                                       &bb_method_mp_instance, &bb_method_fedavg,
                                       &bb_method_fedavg};
    const bb_engine engine = bb_engine_threads(2);
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        population p = population_make(8, 12, 5, BB_LOSS_SQUARED, false, 3);
        bb_run run = run_open(&p, method[k], &bb_mechanism_gaussian, &engine);
        run.phase[0].rounds = 3;
        if (k == 4) {
            run.pub.sampling = BB_SAMPLING_POISSON;
            run.pub.adjacency = BB_ADD_REMOVE;
            run.pub.rate = 0.5;
        }
        for (int seeded = 0; seeded < 2; seeded++) {
            run.seeded = seeded;
            fail_everywhere(&run);
        }
        run_close(&run);
        population_close(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_stays_failed),
        cmocka_unit_test(broken_preconditions_fail_it),
        cmocka_unit_test(runs_end_before_they_publish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
