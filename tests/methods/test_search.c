/* How the search for a centre shrinks what was released: coordinates that are alike all
 * alike, as James and Stein do, and few that stand out each by each. */
#include "base/random.h"
#include "linalg/linalg.h"
#include "methods/search.h"
#include "test.h"

#include <math.h>
#include <string.h>

enum { FEATURES = 400, FEW = 10, TASKS = 100, CLASSES = 5 };

static const double deviation = 0.02; /* of the noise of an average */

typedef struct world {
    double truth[FEATURES], released[FEATURES], moved[FEATURES];
} world;

/* `count' coordinates of this size and the noise; then one round of step 1. Returns
 * ||sum||^2. */
static double search_of(world *w, size_t count, double size, bool apart,
                        size_t outputs) {
    static double velocity[FEATURES], sum[FEATURES], work[FEATURES];
    double pace[2] = {0.0};
    const bb_search at = {w->moved, velocity, sum, pace};
    bb_random random;
    assert_ok(bb_random_open_stream(&random, 7, BB_FOR_TEST, 0, 0));
    memset(velocity, 0, sizeof velocity);
    memset(sum, 0, sizeof sum);
    for (size_t k = 0; k < FEATURES; k++) {
        w->truth[k] = k < count ? size : 0.0;
        w->moved[k] = 0.0;
        w->released[k] = TASKS * (w->truth[k] + deviation * bb_random_normal(&random));
    }
    const bb_release release = {
        .round = 1, .value = {w->released}, .noise = {TASKS * deviation}};
    bb_random_close(&random);
    return bb_search_move(&at, &release, FEATURES, apart, outputs, TASKS, 1.0, 0.0,
                          work);
}

static void search(world *w, size_t count, double size, bool apart) {
    (void)search_of(w, count, size, apart, 1);
}

static double james_stein(const world *w) {
    const double square = bb_dot(FEATURES, w->released, w->released) / (TASKS * TASKS);
    return 1.0 - (FEATURES - 2.0) * deviation * deviation / square;
}

static double miss(const double *truth, const double *at, double times) {
    double sum = 0.0;
    for (size_t k = 0; k < FEATURES; k++)
        sum += (times * at[k] - truth[k]) * (times * at[k] - truth[k]);
    return sum;
}

static void few_that_stand_out_are_kept(void **state) {
    static world w;
    (void)state;
    search(&w, FEW, 0.15, false);
    const double alike = miss(w.truth, w.released, james_stein(&w) / TASKS);
    assert_true(miss(w.truth, w.moved, 1.0) < 0.25 * alike);
    for (size_t k = 0; k < FEW; k++) assert_true(w.moved[k] > 0.08);
}

static void alike_ones_are_shrunk_alike(void **state) {
    static world w;
    (void)state;
    search(&w, FEATURES, 0.02, false);
    const double factor = james_stein(&w) / TASKS;
    for (size_t k = 0; k < FEATURES; k++)
        assert_true(fabs(w.moved[k] - factor * w.released[k]) < 1e-12);
}

static void far_coordinates_stay(void **state) {
    static world w;
    (void)state;
    search(&w, 1, 1e6, false); /* brought into the unit ball */
    assert_true(fabs(w.moved[0] - 1.0) < 1e-6);
    assert_true(bb_norm(FEATURES, w.moved) <= 1.0 + 1e-12);
}

/* The last coordinate, by its own size; all others as if it were not there. */
static void a_level_is_shrunk_apart(void **state) {
    static world w;
    (void)state;
    search(&w, FEATURES, 0.02, true);
    const double last = w.released[FEATURES - 1] / TASKS, noise = deviation * deviation;
    const double square =
        bb_dot(FEATURES - 1, w.released, w.released) / (TASKS * TASKS);
    const double factor = (1.0 - (FEATURES - 3.0) * noise / square) / TASKS;
    for (size_t k = 0; k + 1 < FEATURES; k++)
        assert_true(fabs(w.moved[k] - factor * w.released[k]) < 1e-12);
    const double kept = last * last > noise ? last - noise / last : 0.0;
    assert_true(fabs(w.moved[FEATURES - 1] - kept) < 1e-12);
}

/* Of five classes a fifth of the noise is taken away, and what is left is shrunk by what is
 * left of it. */
static void classes_are_shrunk_by_less_noise(void **state) {
    static world w, even;
    (void)state;
    const double whole = search_of(&w, FEATURES, 0.0, false, 1);
    const double square = search_of(&w, FEATURES, 0.0, false, CLASSES);
    const double freedom = bb_search_freedom(FEATURES, CLASSES);
    assert_true(freedom == 320.0);
    assert_true(fabs(square / whole - freedom / FEATURES) < 0.05);
    memset(&even, 0, sizeof even);
    const double sum = search_of(&w, FEATURES, 0.02, false, CLASSES);
    for (size_t k = 0; k < FEATURES; k++) {
        const size_t first = k - k % CLASSES;
        for (size_t c = 0; c < CLASSES; c++)
            even.truth[k] -= w.released[first + c] / (CLASSES * TASKS);
        even.truth[k] += w.released[k] / TASKS;
    }
    const double noise = deviation * deviation * freedom / FEATURES;
    assert_true(fabs(sum - bb_dot(FEATURES, even.truth, even.truth)) < 1e-12);
    const double factor = fmax(0.0, 1.0 - (FEATURES - 2.0) * noise / sum);
    for (size_t k = 0; k < FEATURES; k++)
        assert_true(fabs(w.moved[k] - factor * even.truth[k]) < 1e-12);
}

/* Tasks whose models lie around a centre of this length show the way there, in this part of
 * what they show; the distance from it after twenty rounds, as a part of that length. */
static double left_of(double length, double part) {
    enum { D = 5, ROUNDS = 20 };
    double centre[D] = {0}, velocity[D] = {0}, sum[D] = {0}, work[D];
    double way[D], shown[D], pace[2] = {0.0};
    const bb_search at = {centre, velocity, sum, pace};
    for (unsigned t = 1; t <= ROUNDS; t++) {
        for (size_t k = 0; k < D; k++)
            way[k] = length * (k < 3 ? 0.577 : 0.0) - centre[k];
        const double far = bb_norm(D, way);
        for (size_t k = 0; k < D; k++)
            shown[k] = TASKS * part * way[k] / (far + 0.3 * length);
        const bb_release release = {
            .round = t, .value = {shown}, .noise = {TASKS * deviation}};
        (void)bb_search_move(&at, &release, D, true, 1, TASKS, 0.5, 0.7, work);
    }
    for (size_t k = 0; k < D; k++) way[k] = length * (k < 3 ? 0.577 : 0.0) - centre[k];
    return bb_norm(D, way) / length;
}

/* How long a centre is depends on ranges, and these may be too wide a hundred times. */
static void centres_of_any_length_are_reached(void **state) {
    (void)state;
    for (double length = 0.003; length < 100.0; length *= 2.0)
        assert_true(left_of(length, 1.0) < 0.2);
}

/* And few rows have a small part to say of one column among many, round after round. */
static void a_way_that_few_rows_show_is_gone(void **state) {
    (void)state;
    assert_true(left_of(10.0, 0.15) < 0.2); /* else .5 */
}

int main(void) {
    const struct CMUnitTest test[] = {
        cmocka_unit_test(few_that_stand_out_are_kept),
        cmocka_unit_test(alike_ones_are_shrunk_alike),
        cmocka_unit_test(far_coordinates_stay),
        cmocka_unit_test(centres_of_any_length_are_reached),
        cmocka_unit_test(a_way_that_few_rows_show_is_gone),
        cmocka_unit_test(a_level_is_shrunk_apart),
        cmocka_unit_test(classes_are_shrunk_by_less_noise)};
    return cmocka_run_group_tests(test, NULL, NULL);
}
