/* What tables have besides means: rank-sum tests, and how alike models are. */
#include "experiments/rank_sum.h"
#include "experiments/similarity.h"
#include "test.h"

#include <math.h>

static double pairs(const double *a, size_t n, const double *b, size_t m) {
    double u = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) u += b[j] > a[i] ? 1.0 : 0.5 * (b[j] == a[i]);
    return u;
}

/* The part of all ways to call m of the values b that has at most as many pairs. */
static double by_all_orders(const double *a, size_t n, const double *b, size_t m) {
    const double u = pairs(a, n, b, m);
    double all[16], one[16], other[16], ways = 0.0, below = 0.0;
    for (size_t k = 0; k < n + m; k++) all[k] = k < n ? a[k] : b[k - n];
    for (unsigned set = 0; set < 1U << (n + m); set++) {
        size_t ones = 0, others = 0;
        for (size_t k = 0; k < n + m; k++)
            if (set >> k & 1)
                other[others++] = all[k];
            else
                one[ones++] = all[k];
        if (others != m) continue;
        ways += 1.0;
        below += pairs(one, n, other, m) <= u;
    }
    return below / ways;
}

static void rank_sums_are_those_of_all_orders(void **state) {
    (void)state;
    static const double a[] = {1.1, 2.2, 3.3, 0.7, 4.0}, b[] = {0.5, 0.61, 2.5, 0.9};
    static const double c[] = {1, 2, 2, 3, 5, 5, 6, 7}, d[] = {0, 2, 3, 3, 1, 1, 4, 2};
    double p = NAN;
    for (size_t n = 1; n <= 5; n++)
        for (size_t m = 1; m <= 4; m++) {
            assert_ok(bb_rank_sum(a, n, b, m, &p));
            assert_close(p, by_all_orders(a, n, b, m), 1e-12);
        }
    /* with ties by the normal approximation */
    assert_ok(bb_rank_sum(c, 8, d, 8, &p));
    assert_close(p, by_all_orders(c, 8, d, 8), 0.01);
    assert_ok(bb_rank_sum(d, 8, c, 8, &p));
    assert_true(p > 0.9);
    assert_ok(bb_rank_sum(c, 0, d, 8, &p));
    assert_true(isnan(p));
    assert_ok(bb_rank_sum(c + 1, 2, d + 1, 1, &p)); /* all the same */
    assert_true(isnan(p));
}

static double part(const json_t *json, const char *name) {
    return json_number_value(json_object_get(json, name));
}

static void alikeness_is_in_cosines(void **state) {
    (void)state;
    double weight[] = {1, 0, 0, 2, 3, 0}, intercept[3] = {0};
    static const double truth[] = {5, 0, 0, 1, 0, 7};
    const bb_models models = {
        .tasks = 3, .features = 2, .weight = weight, .intercept = intercept};
    json_t *json = bb_similarity_json(&models, truth);
    assert_close(part(json, "to_truth"), 2.0 / 3.0, 1e-15);
    assert_close(part(json, "to_last"), 0.5, 1e-15);
    /* pairs: 1-2 right (0), 1-3 one for zero, 2-3 zero for one */
    assert_close(part(json, "relations"), 2.0 / 3.0, 1e-15);
    json_decref(json);
    json = bb_similarity_json(&models, weight);
    assert_close(part(json, "relations"), 0.0, 1e-15);
    json_decref(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_sums_are_those_of_all_orders),
        cmocka_unit_test(alikeness_is_in_cosines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
