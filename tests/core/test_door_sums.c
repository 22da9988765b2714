/* The door: contributions never exceed their clip, and sums are exact. */
#include "base/random.h"
#include "opened_door.h"

__extension__ typedef unsigned __int128 wide;

static bb_random draws;

static double uniform(double from, double to) {
    return from + (to - from) * bb_random_uniform(&draws);
}

/* -- the clip, in integers
 * ---------------------------------------------------------------- */

/* Squared length of what one task added, in squared grid steps. */
static wide squares_added(const bb_sum *sum, bb_form form, size_t n) {
    wide squares = 0;
    for (size_t k = 0; k < n; k++) {
        if (form == BB_FORM_SQUARE)
            squares += (uint64_t)sum->exact[k]; /* squares already */
        else if (form == BB_FORM_OUTER)
            squares += (wide)fabs(sum->rows[k]) * (wide)fabs(sum->rows[k]);
        else
            squares += (wide)llabs(sum->exact[k]) * (wide)llabs(sum->exact[k]);
    }
    return squares;
}

static void fill(double *v, size_t n, int kind, double clip) {
    const double tiny[] = {0x1p-1074, 1e-300, 1e-17, 0.0};
    const double even = clip / sqrt((double)n);
    for (size_t k = 0; k < n; k++) switch (kind) {
        case 0:
            v[k] = uniform(-1.0, 1.0) * clip;
            break;
        case 1:
            v[k] = even;
            break; /* on the boundary */
        case 2:
            v[k] = nextafter(even, INFINITY);
            break;
        case 3:
            v[k] = k == 0 ? -clip : 0.0;
            break;
        case 4:
            v[k] = k % 2 ? 1.7e308 : -1.7e308;
            break; /* squares overflow */
        case 5:
            v[k] = tiny[k % 4];
            break;
        case 6:
            v[k] = uniform(-1.0, 1.0) * pow(10.0, uniform(-20.0, 20.0));
            break;
        default:
            v[k] = uniform(0.99, 1.01) * even;
            break;
        }
}

static void check_clip(bb_form form, size_t length, double clip) {
    const bb_layout layout = door_layout(form, length, clip);
    const size_t n = bb_block_show_length(&layout.block[0]);
    const double before_clip = 1.0 / clip;
    double *v = calloc(n, sizeof *v);
    door d;
    door_prepare(&d, &bb_mechanism_gaussian, 3, 400, &layout, 0.5, 0.0);
    door_open(&d);
    for (int trial = 0; trial < 400; trial++) {
        assert_ok(door_ask(&d, &layout));
        fill(v, n, trial % 8, clip);
        door_add(&d, 0, 1, n, v);
        const size_t offset = form == BB_FORM_SLOT ? length : 0;
        bb_sum sum = d.tally.sum[0];
        sum.exact += offset;
        const wide limit = (wide)1 << (2 * d.door.ask.bits[0]);
        const wide squares = squares_added(&sum, form, n);
        assert_true(squares <= limit);
        /* and nothing much is lost on the boundary */
        if (trial % 8 == 1) assert_true(squares > limit - (limit >> 8));
        for (size_t k = 0; k < n && trial % 8 == 0 && form == BB_FORM_VECTOR; k++) {
            const double real = v[k] * before_clip * ldexp(1.0, d.door.ask.bits[0]);
            assert_true(fabs((double)sum.exact[k]) <= fabs(real) * (1.0 + 1e-15));
        }
    }
    door_close(&d);
    free(v);
}

static void test_clip(void **state) {
    (void)state;
    const bb_form forms[] = {BB_FORM_VECTOR, BB_FORM_SLOT, BB_FORM_SQUARE, BB_FORM_PSD,
                             BB_FORM_OUTER};
    const double clips[] = {1.0, 0.3, 1e-12, 1e9};
    for (size_t f = 0; f < 5; f++)
        for (size_t c = 0; c < 4; c++) {
            check_clip(forms[f], 1, clips[c]);
            check_clip(forms[f], 7, clips[c]);
        }
}

static void test_not_finite_is_zero(void **state) {
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    const bb_form forms[] = {BB_FORM_VECTOR, BB_FORM_SLOT,  BB_FORM_SQUARE,
                             BB_FORM_PSD,    BB_FORM_OUTER, BB_FORM_SELECTION};
    for (size_t f = 0; f < 6; f++) {
        const bb_layout layout = door_layout(forms[f], 3, 1.0);
        const size_t sums = bb_block_sum_length(&layout.block[0], 2);
        door d;
        door_prepare(&d, &bb_mechanism_gaussian, 2, 3, &layout, 0.5, 0.1);
        door_open(&d);
        for (size_t b = 0; b < 3; b++) {
            double v[9] = {0.5, 0.25, 0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
            v[b] = bad[b];
            assert_ok(door_ask(&d, &layout));
            door_add(&d, 0, 0, 9, v);
            for (size_t k = 0; k < sums; k++)
                assert_int_equal(d.tally.sum[0].exact[k], 0);
            for (size_t k = 0; k < 3 && forms[f] == BB_FORM_OUTER; k++)
                assert_true(d.tally.sum[0].rows[k] == 0.0);
        }
        door_close(&d);
    }
}

/* -- exact sums
 * ---------------------------------------------------------------------------- */

/* Integers that a task shows: multiples of the grid of a clip of 1, so that clipping
 * and rounding change nothing. */
static void grid_point(size_t n, int bits, double *v, int64_t *q) {
    const double most = ldexp(1.0, bits) / sqrt((double)n) - 1.0;
    for (size_t k = 0; k < n; k++) {
        q[k] = (int64_t)uniform(-most, most);
        v[k] = ldexp((double)q[k], -bits);
    }
}

static void symmetric(size_t d, double *v, int64_t *q) {
    for (size_t i = 0; i < d; i++)
        for (size_t j = i + 1; j < d; j++) {
            v[i * d + j] = v[j * d + i];
            q[i * d + j] = q[j * d + i];
        }
}

static void add_naively(bb_form form, size_t n, size_t length, size_t task,
                        const int64_t *q, int64_t *sum) {
    for (size_t i = 0; i < n; i++) {
        if (form == BB_FORM_SQUARE) sum[i] += q[i] * q[i];
        if (form == BB_FORM_SLOT) sum[task * length + i] += q[i];
        if (form == BB_FORM_VECTOR || form == BB_FORM_PSD) sum[i] += q[i];
        for (size_t j = 0; j < n && form == BB_FORM_OUTER; j++)
            sum[i * n + j] += q[i] * q[j];
    }
}

/* One round with contributions (or none) over two workers; total gets the noisy integer
 * sums. The noise depends on the seed only, so the difference is the exact sum. */
static void noisy_total(bb_form form, size_t length, size_t tasks, size_t sums,
                        int64_t *total, int64_t *naive) {
    const bb_layout layout = door_layout(form, length, 1.0);
    const size_t n = bb_block_show_length(&layout.block[0]);
    double *v = calloc(n, sizeof *v);
    int64_t *q = calloc(n, sizeof *q);
    bb_release release;
    door d;
    door_prepare(&d, &bb_mechanism_gaussian, tasks, 1, &layout, 0.5, 0.0);
    door_open(&d);
    assert_ok(door_ask(&d, &layout));
    for (size_t i = 0; naive && i < tasks; i++) {
        grid_point(n, d.door.ask.bits[0], v, q);
        if (form == BB_FORM_PSD) symmetric(length, v, q);
        add_naively(form, n, length, i, q, naive);
        door_add(&d, i % 3 == 0, i, n, v);
    }
    assert_ok(door_publish(&d, &release));
    memcpy(total, d.door.total.exact, sums * sizeof *total);
    const int scale = form == BB_FORM_OUTER || form == BB_FORM_SQUARE ? 2 : 1;
    for (size_t k = 0; k < sums; k++)
        assert_relative(release.value[0][k],
                        ldexp((double)total[k], -scale * d.door.ask.bits[0]), 1e-15);
    door_close(&d);
    free(v);
    free(q);
}

static void check_exact(bb_form form, size_t length, size_t tasks) {
    const bb_block block = {"block", form, length, 1.0, 1.0};
    const size_t sums = bb_block_sum_length(&block, tasks);
    int64_t *noise = calloc(sums, sizeof *noise), *total = calloc(sums, sizeof *total);
    int64_t *naive = calloc(sums, sizeof *naive);
    noisy_total(form, length, tasks, sums, noise, NULL);
    noisy_total(form, length, tasks, sums, total, naive);
    for (size_t k = 0; k < sums; k++) assert_true(total[k] - noise[k] == naive[k]);
    free(noise);
    free(total);
    free(naive);
}

static void test_sums_are_exact(void **state) {
    (void)state;
    check_exact(BB_FORM_VECTOR, 9, 500);
    check_exact(BB_FORM_SLOT, 4, 50);
    check_exact(BB_FORM_SQUARE, 9, 500);
    check_exact(BB_FORM_PSD, 5, 300);
    check_exact(BB_FORM_OUTER, 6, 500);
    check_exact(BB_FORM_OUTER, 1, 1);
    /* more rows than a double can add exactly */
    check_exact(BB_FORM_OUTER, 1, 20000);
    check_exact(BB_FORM_OUTER, 3, 20000);
}

/* A single worker, rows of full length: the products reach 2^53 again and again. */
static void test_full_rows_are_exact(void **state) {
    (void)state;
    const bb_layout layout = door_layout(BB_FORM_OUTER, 1, 1.0);
    bb_release release;
    int64_t total[2];
    for (int full = 0; full < 2; full++) {
        door d;
        door_prepare(&d, &bb_mechanism_gaussian, 20000, 1, &layout, 0.5, 0.0);
        door_open(&d);
        assert_ok(door_ask(&d, &layout));
        assert_int_equal(d.door.ask.bits[0], 20);
        for (size_t i = 0; i < 20000; i++) {
            /* 2^20 - 1, so that products are odd */
            const double v = full ? 1.0 - 0x1p-20 : 0.0;
            door_add(&d, 1, i, 1, &v);
        }
        assert_ok(door_publish(&d, &release));
        total[full] = d.door.total.exact[0];
        door_close(&d);
    }
    assert_true(total[1] - total[0] == 20000LL * ((1LL << 20) - 1) * ((1LL << 20) - 1));
}

/* -- off the grid
 * -------------------------------------------------------------------------- */

static void check_open(bb_form form, size_t length) {
    const size_t tasks = 150;
    const bb_layout layout = door_layout(form, length, INFINITY);
    const size_t n = bb_block_show_length(&layout.block[0]);
    const size_t sums = bb_block_sum_length(&layout.block[0], tasks);
    double *v = calloc(n, sizeof *v), *naive = calloc(sums, sizeof *naive);
    bb_release release;
    door d;
    door_prepare(&d, &bb_mechanism_none, tasks, 1, &layout, INFINITY, INFINITY);
    door_open(&d);
    assert_ok(door_ask(&d, &layout));
    assert_true(d.tally.sums > 1);
    for (size_t i = 0; i < tasks; i++) {
        for (size_t k = 0; k < n; k++) v[k] = uniform(-1e3, 1e3);
        for (size_t k = 0; k < length && form == BB_FORM_PSD; k++)
            for (size_t l = 0; l < k; l++) v[l * length + k] = v[k * length + l];
        for (size_t k = 0; k < n; k++) {
            if (form == BB_FORM_SQUARE) naive[k] += v[k] * v[k];
            if (form == BB_FORM_SLOT) naive[i * length + k] += v[k];
            if (form == BB_FORM_VECTOR || form == BB_FORM_PSD) naive[k] += v[k];
            for (size_t j = 0; j < n && form == BB_FORM_OUTER; j++)
                naive[k * n + j] += v[k] * v[j];
        }
        door_add(&d, i * d.tally.sums / tasks, i, n, v);
    }
    assert_ok(door_publish(&d, &release));
    assert_true(release.noise[0] == 0.0);
    for (size_t k = 0; k < sums; k++) assert_close(release.value[0][k], naive[k], 1e-5);
    door_close(&d);
    free(v);
    free(naive);
}

static void test_open_sums(void **state) {
    (void)state;
    check_open(BB_FORM_VECTOR, 5);
    check_open(BB_FORM_SLOT, 5);
    check_open(BB_FORM_SQUARE, 5);
    check_open(BB_FORM_PSD, 4);
    check_open(BB_FORM_OUTER, 5);
}

/* What counts of a matrix that is not symmetric is its lower triangle, mirrored, and
 * the clip holds for that. */
static void test_lopsided_matrix(void **state) {
    (void)state;
    const bb_layout layout = door_layout(BB_FORM_PSD, 2, 1.0);
    const double v[] = {0.0, 0.0, 1.0, 0.0};
    door d;
    door_prepare(&d, &bb_mechanism_gaussian, 1, 1, &layout, 0.5, 0.0);
    door_open(&d);
    assert_ok(door_ask(&d, &layout));
    door_add(&d, 0, 0, 4, v);
    const int64_t *sum = d.tally.sum[0].exact;
    assert_true(sum[1] == sum[2] && sum[1] > 0);
    assert_true(squares_added(&d.tally.sum[0], BB_FORM_PSD, 4) <=
                (wide)1 << (2 * d.door.ask.bits[0]));
    door_close(&d);
}

/* Several blocks in one round keep apart. */
static void test_several_blocks(void **state) {
    (void)state;
    const bb_layout layout = {4,
                              {{"a", BB_FORM_VECTOR, 2, 10.0, 0.3},
                               {"b", BB_FORM_OUTER, 2, 10.0, 0.3},
                               {"c", BB_FORM_SLOT, 1, 10.0, 0.2},
                               {"d", BB_FORM_SELECTION, 3, 1.0, 0.0}}};
    double a[2] = {1.0, 2.0}, b[2] = {3.0, -1.0}, c[1] = {5.0}, s[3] = {0.2, 0.9, 0.1};
    double *const block[BB_MOST_BLOCKS] = {a, b, c, s};
    bb_release release;
    door d;
    door_prepare(&d, &bb_mechanism_none, 2, 1, &layout, INFINITY, INFINITY);
    door_open(&d);
    assert_ok(door_ask(&d, &layout));
    bb_tally_add(&d.tally, 0, 1, NULL, block);
    assert_ok(door_publish(&d, &release));
    const double outer[] = {9.0, -3.0, -3.0, 1.0};
    assert_true(release.value[0][0] == 1.0 && release.value[0][1] == 2.0);
    for (size_t k = 0; k < 4; k++) assert_true(release.value[1][k] == outer[k]);
    assert_true(release.value[2][0] == 0.0 && release.value[2][1] == 5.0);
    assert_int_equal(release.winner[3], 1);
    assert_true(release.value[3][1] == 1.0 && release.value[3][0] == 0.0);
    door_close(&d);
}

static int open_draws(void **state) {
    (void)state;
    return bb_random_open_stream(&draws, 5, BB_FOR_TEST, 0, 0) != BB_OK;
}

static int close_draws(void **state) {
    (void)state;
    bb_random_close(&draws);
    return 0;
}

/* -- models of an own length -- */

enum { FEATURES = 6, OUTPUTS = 2, OWN = 3, WHOLE = FEATURES * OUTPUTS };

/* What two tasks with some features show, by themselves or as whole vectors, is the
 * same release: clipped the same, and each number in its place. */
static void release_of(const bb_mechanism *mechanism, bool own, double clip,
                       double *value) {
    static uint32_t touched[2][OWN] = {{1, 4, 5}, {0, 1, 2}};
    const bb_layout layout = {2,
                              {{"first", BB_FORM_VECTOR, WHOLE, 2.0 * clip, 0.5},
                               {"second", BB_FORM_VECTOR, WHOLE, clip, 0.5}}};
    const bool exact = mechanism->grid;
    door d;
    bb_release release;
    door_prepare(&d, mechanism, 2, 1, &layout, exact ? 0.5 : INFINITY, INFINITY);
    door_open(&d);
    assert_ok(door_ask(&d, &layout));
    for (size_t i = 0; i < 2; i++) {
        const bb_local local = {.touched = touched[i],
                                .touched_count = OWN,
                                .outputs = OUTPUTS,
                                .length = OWN * OUTPUTS};
        double short_one[2][WHOLE] = {{0}}, whole[2][WHOLE] = {{0}};
        for (size_t b = 0; b < 2; b++)
            for (size_t k = 0; k < OWN * OUTPUTS; k++) {
                const double v = sin((double)(7 * i + 3 * b + k));
                short_one[b][k] = v;
                whole[b][touched[i][k / OUTPUTS] * OUTPUTS + k % OUTPUTS] = v;
            }
        if (own)
            bb_tally_add(&d.tally, 0, i, &local,
                         (double *const[BB_MOST_BLOCKS]){short_one[0], short_one[1]});
        else
            bb_tally_add(&d.tally, 0, i, NULL,
                         (double *const[BB_MOST_BLOCKS]){whole[0], whole[1]});
    }
    assert_ok(door_publish(&d, &release));
    memcpy(value, release.value[0], WHOLE * sizeof *value);
    memcpy(value + WHOLE, release.value[1], WHOLE * sizeof *value);
    door_close(&d);
}

static void test_own_numbers_are_placed(void **state) {
    const bb_mechanism *const mechanisms[] = {&bb_mechanism_gaussian,
                                              &bb_mechanism_none};
    const double clips[] = {0.1, 100.0};
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        double own[2 * WHOLE], whole[2 * WHOLE];
        release_of(mechanisms[k / 2], true, clips[k % 2], own);
        release_of(mechanisms[k / 2], false, clips[k % 2], whole);
        /* the norm's sum may round in another order: a grid step */
        for (size_t j = 0; j < 2 * WHOLE; j++)
            assert_close(own[j], whole[j], clips[k % 2] * 0x1p-30);
        /* feature 3 is nobody's */
        assert_true(k < 2 || (own[3 * OUTPUTS] == 0.0 && own[4 * OUTPUTS] != 0.0));
    }
}

/* Odd products of 20-bit integers: doubles lose their sum beyond 2^53, after some 8,192
 * of them, unless they are moved to integers in time. */
static void test_odd_products_are_exact(void **state) {
    (void)state;
    enum { ROWS = 30001 };
    const double v[2] = {0x1p20 - 1, 0x1p20 - 3};
    double open[4] = {0}, rows[BB_SUM_ROWS * 2];
    int64_t exact[4] = {0};
    bb_sum sum = {.exact = exact, .open = open, .rows = rows};
    for (int i = 0; i < ROWS; i++) bb_sum_add_outer(&sum, 0, 2, v);
    bb_sum_close(&sum, 0, 2);
    const int64_t a = (1 << 20) - 1, b = (1 << 20) - 3;
    assert_true(exact[0] == ROWS * a * a);
    assert_true(exact[3] == ROWS * b * b);
    assert_true(exact[1] == ROWS * a * b || exact[2] == ROWS * a * b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clip),
        cmocka_unit_test(test_not_finite_is_zero),
        cmocka_unit_test(test_sums_are_exact),
        cmocka_unit_test(test_full_rows_are_exact),
        cmocka_unit_test(test_odd_products_are_exact),
        cmocka_unit_test(test_open_sums),
        cmocka_unit_test(test_lopsided_matrix),
        cmocka_unit_test(test_several_blocks),
        cmocka_unit_test(test_own_numbers_are_placed),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, open_draws, close_draws);
}
