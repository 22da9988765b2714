/* Doors with a known fault in their noise: the audit of a door must catch each, and let
 * the real door pass with the same plan.
 *
 * Confidence 1 - 1e-9 in each audit: all twins pass with probability 1 - 1.3e-8, and the
 * seeds are fixed. `test_doors SEED` prints the table of docs/audit.md. */
#include "audit/door.h"
#include "audit/target.h"
#include "base/parallel.h"
#include "core/share.h"
#include "linalg/linalg.h"
#include "privacy/accounting/accountant.h"
#include "test.h"

enum { TRIALS = 20000 };
static const double error = 1e-9;
static uint64_t seed = 1;
static bool talks = false;

typedef enum fault {
    NO_NOISE_AT_THE_END, /* the last number */
    NO_NOISE_ON_DIAGONAL,
    SAME_NOISE, /* in every round */
    LESS,       /* times factor */
    LESS_BESIDE /* times factor off the diagonal */
} fault;

typedef struct faulty_door {
    const char *name, *what;
    bb_form form;
    uint32_t rounds;
    double epsilon;
    fault fault;
    double factor;
} faulty_door;

static const faulty_door doors[] = {
    {"bare-end", "a vector's last entry without noise", BB_FORM_VECTOR, 1, 2.0,
     NO_NOISE_AT_THE_END, 0.0},
    {"bare-end-1", "the same at a smaller epsilon", BB_FORM_VECTOR, 1, 1.0,
     NO_NOISE_AT_THE_END, 0.0},
    {"bare-slot", "a slot's last entry without noise", BB_FORM_SLOT, 1, 2.0,
     NO_NOISE_AT_THE_END, 0.0},
    {"bare-square", "the last sum of squares without noise", BB_FORM_SQUARE, 1, 2.0,
     NO_NOISE_AT_THE_END, 0.0},
    {"same-vector", "equal noise in every round", BB_FORM_VECTOR, 4, 2.0, SAME_NOISE,
     1.0},
    {"same-vector-1", "the same at a smaller epsilon", BB_FORM_VECTOR, 4, 1.0,
     SAME_NOISE, 1.0},
    {"same-outer", "equal noise on products in every round", BB_FORM_OUTER, 4, 2.0,
     SAME_NOISE, 1.0},
    {"bare-diagonal", "the diagonal of products without noise", BB_FORM_OUTER, 1, 2.0,
     NO_NOISE_ON_DIAGONAL, 0.0},
    {"less-noise", "0.7 of the noise", BB_FORM_VECTOR, 1, 2.0, LESS, 0.7},
    {"outer-r-1", "products at the sensitivity of add-remove", BB_FORM_OUTER, 1, 2.0,
     LESS, 0.70710678},
    {"square-r-1", "squares at the sensitivity of add-remove", BB_FORM_SQUARE, 1, 2.0,
     LESS, 0.70710678},
    {"half-beside", "half of the noise beside the diagonal of products", BB_FORM_OUTER,
     1, 2.0, LESS_BESIDE, 0.5},
    {"half-beside-psd", "the same for positive semi-definite sums", BB_FORM_PSD, 1, 2.0,
     LESS_BESIDE, 0.5},
};
enum { DOORS = sizeof doors / sizeof *doors, NUMBERS = 64 };

typedef struct broken {
    const faulty_door *door;
    double unit_std; /* noise over U */
} broken;

static double sensitivity(bb_form form) {
    return form == BB_FORM_VECTOR || form == BB_FORM_SLOT ? 2.0 : sqrt(2.0);
}

static bool is_matrix(bb_form form) {
    return form == BB_FORM_OUTER || form == BB_FORM_PSD;
}

static double scale_at(const broken *b, size_t d, size_t n, size_t k) {
    const bool matrix = is_matrix(b->door->form), diagonal = matrix && k % (d + 1) == 0;
    double scale = matrix && !diagonal ? sqrt(0.5) : 1.0;
    if (b->door->fault == LESS) scale *= b->door->factor;
    if (b->door->fault == LESS_BESIDE && !diagonal) scale *= b->door->factor;
    if (b->door->fault == NO_NOISE_ON_DIAGONAL && diagonal) scale = 0.0;
    if (b->door->fault == NO_NOISE_AT_THE_END && k + 1 == n) scale = 0.0;
    return scale;
}

/* Gaussian noise as the door's, but for the fault; what is announced is what is due. */
static bb_status spoil(void *self, bb_random *random, uint32_t round,
                       const bb_block *block, double pure, double *sum, double *std) {
    const broken *b = self;
    const bool product = block->form == BB_FORM_OUTER || block->form == BB_FORM_SQUARE;
    const size_t d = block->length, n = bb_block_sum_length(block, 3);
    static _Thread_local double noise[NUMBERS]; /* kept: a run is one thread's */
    const bool again = b->door->fault == SAME_NOISE && round > 1;
    (void)pure;
    assert_true(n <= NUMBERS);
    *std = b->unit_std * block->clip * (product ? block->clip : 1.0);
    for (size_t k = 0; k < n; k++) {
        if (!again) noise[k] = *std * scale_at(b, d, n, k) * bb_random_normal(random);
        if (is_matrix(block->form) && k / d > k % d)
            noise[k] = noise[k % d * d + k / d];
        sum[k] += noise[k];
    }
    return BB_OK;
}

typedef struct verdict {
    double epsilon; /* claimed */
    bb_audit_result attack;
    bb_audit_noise noise;
    bool caught;
} verdict;

static verdict audit(const faulty_door *door, const bb_mechanism *mechanism) {
    const double delta = 1e-5;
    const bb_engine engine = bb_engine_threads(1);
    const bb_audit_spec spec = {.kind = BB_AUDIT_GAUSSIAN,
                                .form = door->form,
                                .adjacency = BB_REPLACE_ONE,
                                .blocks = 1,
                                .length = 3,
                                .rounds = door->rounds,
                                .epsilon = door->epsilon,
                                .delta = delta,
                                .mechanism = mechanism};
    bb_audit_settings settings = {.delta = delta,
                                  .trials = TRIALS,
                                  .confidence = 1.0 - error / 2.0,
                                  .seed = seed,
                                  .engine = &engine};
    bb_audit_target target;
    verdict v;
    assert_ok(bb_audit_target_make(&target, &settings.epsilon, &spec));
    assert_ok(bb_audit_attack(&target, &settings, &v.attack));
    assert_ok(bb_audit_noise_check(&spec, seed, error / 2.0, &v.noise));
    v.epsilon = settings.epsilon;
    v.caught = v.attack.violated || v.noise.weak;
    return v;
}

static void check(void **state) {
    const faulty_door *door = *state;
    const double mu = bb_gdp_mu(door->epsilon, 1e-5) / sqrt(door->rounds);
    broken b = {door, sensitivity(door->form) / mu};
    const bb_mechanism spoiled = {.name = "spoiled",
                                  .pricing = BB_PRICE_GAUSSIAN,
                                  .clips = true,
                                  .add = spoil,
                                  .self = &b};
    const verdict bad = audit(door, &spoiled), good = audit(door, NULL);
    if (talks)
        print_message("| %s | %s | %.3g | %.3g%s | %.3g%s | %.3g | %.3g |\n",
                      door->name, door->what, bad.epsilon, bad.attack.epsilon_lower,
                      bad.attack.violated ? " *" : "", bad.noise.ratio,
                      bad.noise.weak ? " *" : "", good.attack.epsilon_lower,
                      good.noise.ratio);
    if (!bad.noise.weak)
        fail_msg("%s: its noise is not caught: ratio %g; epsilon %g claimed, at least "
                 "%g found",
                 door->name, bad.noise.ratio, bad.epsilon, bad.attack.epsilon_lower);
    if (good.caught)
        fail_msg(
            "%s: the real door keeps epsilon %g, but at least %g was found, noise %g",
            door->name, good.epsilon, good.attack.epsilon_lower, good.noise.ratio);
}

/* -- two doors -- */

enum { SILOS = 2, LENGTH = 3, MOST_TRIALS = 500 };

/* A silo's stream, added to the door's sum or taken off it. */
static void mask(bb_audit_door *d, uint32_t silo, const uint8_t *bytes, bool subtract) {
    const size_t id[1] = {silo - 1};
    const bb_frame frame = {.round = d->door.ask.round, .attempt = 1, .silo = silo};
    uint8_t context[BB_HASH_BYTES];
    assert_ok(bb_share_context(&frame, &d->door.ask, context));
    assert_ok(bb_share_mask(bytes, context, &d->layout, SILOS, 1, id, subtract,
                            d->door.total.exact));
}

/* Whether the first door publishes the round, with all silos' shares there and at the second
 * door those of `from` and higher numbers, or at the first door those, and at the second all. */
static bool is_published(bb_audit_door *d, uint64_t trial, uint32_t from,
                         bool at_first) {
    int64_t help[LENGTH];
    uint8_t bytes[SILOS][BB_SEAL_SECRET];
    bb_release release;
    const uint32_t first = at_first ? from : 1, second = at_first ? 1 : from;
    assert_ok(bb_random_secret(bytes[0], sizeof bytes));
    assert_ok(bb_audit_door_start(d, trial));
    d->door.noises = 2;
    assert_ok(bb_audit_door_ask(d));
    for (uint32_t s = second; s <= SILOS; s++) mask(d, s, bytes[s - 1], false);
    assert_ok(bb_door_hide(&d->door));
    memcpy(help, d->door.total.exact, sizeof help);
    assert_ok(bb_audit_door_start(d, trial));
    d->door.noises = 1;
    assert_ok(bb_audit_door_ask(d));
    for (size_t k = 0; k < LENGTH; k++) d->door.total.exact[k] = help[k];
    for (uint32_t s = first; s <= SILOS; s++) mask(d, s, bytes[s - 1], true);
    const bb_status status = bb_audit_door_publish(d, &release);
    assert_true(status == BB_OK || status == BB_EDATA);
    return status == BB_OK;
}

/* A silo that counts at one door only leaves a stream in the sum: no such round is published
 * (each number alone passes by chance with less than 2^-20), and every other one is. */
static void check_one_door_only(void **state) {
    const bb_public pub = {.tasks = SILOS,
                           .adjacency = BB_REPLACE_ONE,
                           .epsilon = 1.0,
                           .delta = 1e-5,
                           .rounds = 1,
                           .doors = 2};
    const bb_layout layout = {1, {{"block", BB_FORM_VECTOR, LENGTH, 1.0, 1.0}}};
    bb_audit_door d;
    size_t published[3] = {0};
    (void)state;
    assert_ok(bb_audit_door_open(&d, &bb_mechanism_gaussian, &pub, &layout));
    for (uint64_t trial = 0; trial < MOST_TRIALS; trial++) {
        published[0] += is_published(&d, seed + trial, 1, false);
        published[1] += is_published(&d, seed + trial, 2, false);
        published[2] += is_published(&d, seed + trial, 2, true);
    }
    bb_audit_door_close(&d);
    if (talks)
        print_message(
            "one door only: of %d rounds published %zu; without a silo at the "
            "second door %zu, at the first %zu\n",
            MOST_TRIALS, published[0], published[1], published[2]);
    assert_int_equal(published[0], MOST_TRIALS);
    assert_int_equal(published[1], 0);
    assert_int_equal(published[2], 0);
}

int main(int argc, char **argv) {
    struct CMUnitTest tests[DOORS + 1];
    if (argc > 1) {
        seed = strtoull(argv[1], NULL, 10);
        talks = true;
    }
    for (size_t k = 0; k < DOORS; k++)
        tests[k] = (struct CMUnitTest){.name = doors[k].name,
                                       .test_func = check,
                                       .initial_state = (void *)(uintptr_t)&doors[k]};
    tests[DOORS] =
        (struct CMUnitTest){.name = "one-door-only", .test_func = check_one_door_only};
    if (bb_linalg_start()) return 1;
    return _cmocka_run_group_tests("doors", tests, DOORS + 1, NULL, NULL);
}
