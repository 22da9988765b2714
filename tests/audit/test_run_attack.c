/* The replaying attacker, on every method: it finds everything where nothing is hidden,
 * no more than is claimed where noise is honest, and a run that spends more. Seeds are
 * fixed; over their choice an honest run fails with probability 1e-10 a method, an
 * under-noised one is missed with probability below 1e-9. */
#include "attacked.h"
#include "audit/canary.h"
#include "torture.h"

/* mp-mixed asks for directions of more than 12. */
enum { TASKS = 60, FEATURES = 14 };

static attacked *open_many(const bb_method *method, const bb_mechanism *mechanism,
                           bb_loss loss, double epsilon) {
    const bool single = strcmp(method->name, "mp-groupsparse") == 0 ||
                        strcmp(method->name, "mtl-l21") == 0;
    /* sums of a few directions of length one, or a single sum of vectors: fewer
     * canaries can be told apart */
    const bool directions =
        strcmp(method->name, "mp-centre") == 0 || strcmp(method->name, "dp-aggr") == 0;
    const bb_audit_world_options world = {.tasks = TASKS,
                                          .canaries = single       ? FEATURES / 2
                                                      : directions ? 10
                                                                   : 40,
                                          .rows = FEATURES,
                                          .features = FEATURES,
                                          .loss = loss,
                                          .pair = single ? BB_AUDIT_PAIR_ENTRIES
                                                         : BB_AUDIT_PAIR_RANDOM,
                                          .seed = 3};
    return attacked_open(method, mechanism, epsilon, world);
}

/* Calls law(method, loss) for every method and loss that go together. */
static void for_all(void (*law)(const bb_method *method, bb_loss loss)) {
    for (size_t i = 0; bb_method_at(i); i++)
        for (int loss = BB_LOSS_SQUARED; loss <= BB_LOSS_LOGISTIC; loss++)
            if ((bb_method_at(i)->losses & (1U << loss)) && !bb_method_at(i)->follows &&
                !(bb_method_at(i)->losses & BB_NETWORKS_ONLY))
                law(bb_method_at(i), (bb_loss)loss);
}

/* -- nothing hidden
 * --------------------------------------------------------------------------- */

static void law_open(const bb_method *method, bb_loss loss) {
    attacked *a = open_many(method, &bb_mechanism_none, loss, INFINITY);
    attacked_once(a, 1);
    const size_t right = attacked_right(a);
    if (method->kind == BB_METHOD_ALONE)
        for (size_t k = 0; k < a->attacks; k++) assert_true(a->score[k] == 0.0);
    else if (right != a->attacks)
        fail_msg("%s, loss %d: %zu of %zu canaries found without noise", method->name,
                 (int)loss, right, a->attacks);
    attacked_close(a);
}

static void test_without_noise(void **state) {
    (void)state;
    for_all(law_open);
}

/* Bounds with so much confidence need a tiny delta (audit/canary.h). */
static const double small_delta = 1e-13;

/* -- honest noise
 * ----------------------------------------------------------------------------- */

static double bound(const attacked *a, double confidence) {
    bb_canary_verdict v;
    assert_ok(
        bb_canary_judge(a->attacks, a->score, a->first, small_delta, confidence, &v));
    return v.epsilon;
}

static void law_honest(const bb_method *method, bb_loss loss) {
    static const double claim[] = {0.1, 1.0, 4.0};
    if (method->kind != BB_METHOD_PRIVATE) return;
    for (int k = 0; k < 3; k++) {
        attacked *a = open_many(method, &bb_mechanism_gaussian, loss, claim[k]);
        a->run.pub.delta = small_delta;
        attacked_once(a, 2 + (uint64_t)k);
        for (size_t i = 0; i < a->attacks; i++) assert_true(isfinite(a->score[i]));
        if (bound(a, 1.0 - 1e-10) > claim[k])
            fail_msg("%s, loss %d: epsilon is above %g", method->name, (int)loss,
                     claim[k]);
        attacked_close(a);
    }
}

static void test_honest(void **state) {
    (void)state;
    for_all(law_honest);
}

/* -- a wrong claim
 * ---------------------------------------------------------------------------- */

/* One run of 300 tasks that claims epsilon 1 and spends 30. */
static void test_wrong_claim(void **state) {
    static const char *const method[] = {"mp-lowrank", "mp-lrsp", "mp-prior"};
    const bb_audit_world_options world = {
        .tasks = 300, .canaries = 300, .rows = 40, .features = 40, .seed = 4};
    (void)state;
    for (int k = 0; k < 3; k++) {
        attacked *a = attacked_open(bb_method_find(method[k]), &bb_mechanism_gaussian,
                                    30.0, world);
        a->run.pub.delta = small_delta;
        attacked_once(a, 7);
        assert_true(bound(a, 1.0 - 1e-9) > 1.0);
        a->run.pub.epsilon = 1.0;
        attacked_once(a, 8);
        assert_true(bound(a, 1.0 - 1e-9) <= 1.0);
        attacked_close(a);
    }
}

/* -- a single row, where a method promises something for rows
 * --------------------------------------------------------------------------- */

enum { CAP = 100, OWNERS = 300 };

/* One row of every task is ordinary or hostile: all of its promise, 1/100 of the
 * task's, is what may be found. */
static void attack_row(double target) {
    static double x[CAP * 2], y[2][CAP];
    static bb_local local[OWNERS], other[OWNERS];
    attacked *a = attacked_open(
        bb_method_find("dp-mtrl"), &bb_mechanism_gaussian, 10.0,
        (bb_audit_world_options){
            .tasks = OWNERS, .canaries = 1, .rows = 2, .features = 2, .seed = 6});
    for (size_t j = 0; j < CAP; j++) {
        x[2 * j] = 1.0;
        y[0][j] = y[1][j] = j % 4 ? 50.0 : 7.0; /* undamped, Newton's steps never end */
    }
    y[1][0] = target;
    for (size_t i = 0; i < OWNERS; i++) {
        const bb_rows rows = {.n = CAP, .d = 2, .x = x, .y = y[0]};
        bb_rows hostile = rows;
        hostile.y = y[1];
        assert_ok(bb_local_open(&local[i], rows, BB_LOSS_SQUARED, false, false));
        assert_ok(bb_local_open(&other[i], hostile, BB_LOSS_SQUARED, false, false));
    }
    attacked_set(a, "calibration", "instance");
    attacked_set(a, "ridge", "0.1");
    attacked_set(a, "lambda", "0");
    a->run.pub.delta = small_delta;
    a->run.local = local;
    attacked_toss(a, OWNERS, 9);
    assert_ok(bb_run_attack(&a->run, OWNERS, other, a->first, a->score));
    const double found = bound(a, 1.0 - 1e-9);
    if (found > 10.0 / CAP)
        fail_msg("a row of target %g: epsilon is at least %g", target, found);
    for (size_t i = 0; i < OWNERS; i++) {
        bb_local_close(&local[i]);
        bb_local_close(&other[i]);
    }
    attacked_close(a);
}

static void test_hostile_row(void **state) {
    (void)state;
    attack_row(-50.0);
    attack_row(1e17);
    attack_row(-1e120);
}

/* -- every form of block, by a method that shows three times a task's first row
 * --------------------------------------------------------------------------- */

static bb_form shown_form;

static void show_layout(const bb_view *view, bb_layout *out) {
    *out = (bb_layout){1, {{"row", shown_form, view->pub->features, 1.0, 1.0}}};
}

static bb_status show_plan(const bb_view *view, bb_plan *plan) {
    bb_layout layout;
    show_layout(view, &layout);
    const bb_status status = bb_plan_rounds(plan, 2);
    if (!status) bb_plan_room(plan, view->pub, &layout);
    for (int t = 0; t < 2 && !status && shown_form == BB_FORM_SELECTION; t++) {
        plan->step[t].weight = 0.0;
        plan->step[t].selection = 0.5;
    }
    return status;
}

static void show_row(const bb_view *view, const bb_task *task, double *const *block) {
    const size_t d = view->pub->features;
    const double *x = task->local->x;
    for (size_t k = 0; k < d && shown_form != BB_FORM_PSD; k++)
        block[0][k] = 3.0 * x[k];
    for (size_t k = 0; k < d * d && shown_form == BB_FORM_PSD; k++)
        block[0][k] = 3.0 * x[k / d] * x[k % d];
}

static bb_status digest_nothing(const bb_view *view, const bb_release *release,
                                bb_draft *draft, double *work) {
    (void)view, (void)release, (void)draft, (void)work;
    return BB_OK;
}

static bb_status finish_nothing(const bb_view *view, bb_task *task) {
    (void)view, (void)task;
    return BB_OK;
}

static const bb_method shows = {.name = "shows",
                                .kind = BB_METHOD_PRIVATE,
                                .losses = BB_SUPPORTS_SQUARED,
                                .plan = show_plan,
                                .layout = show_layout,
                                .show = show_row,
                                .digest = digest_nothing,
                                .finish = finish_nothing};

/* A door that clips and adds no noise: what is replayed must be what was summed. */
static void test_forms(void **state) {
    static const bb_mechanism quiet = {
        .name = "quiet", .pricing = BB_PRICE_NOTHING, .clips = true};
    const bb_audit_world_options world = {
        .tasks = 9, .canaries = 3, .rows = 2, .features = 6, .seed = 5};
    (void)state;
    for (int form = BB_FORM_VECTOR; form < BB_FORM_SELECTION; form++) {
        shown_form = (bb_form)form;
        attacked *a = attacked_open(&shows, &quiet, INFINITY, world);
        for (uint64_t seed = 0; seed < 8; seed++) {
            attacked_once(a, seed);
            for (size_t k = 0; k < a->attacks; k++)
                if (fabs(a->score[k] - (a->first[k] ? 1.0 : -1.0)) > 1e-4)
                    fail_msg("form %d: score %g", form, a->score[k]);
        }
        attacked_close(a);
    }
}

/* With one task the winner is the feature of its data, nearly always. Of two rounds
 * with epsilon = 100 each, p = 1/2 for both features, b = 100 and G = 5000 in all. */
static void test_selection(void **state) {
    const bb_audit_world_options world = {.tasks = 1,
                                          .canaries = 1,
                                          .rows = 2,
                                          .features = 6,
                                          .pair = BB_AUDIT_PAIR_ENTRIES,
                                          .seed = 5};
    (void)state;
    shown_form = BB_FORM_SELECTION;
    attacked *a = attacked_open(&shows, &bb_mechanism_gaussian, 200.0, world);
    attacked_often(a, 60, 1);
    assert_int_equal(attacked_right(a), 60);
    for (size_t k = 0; k < 60; k++)
        assert_relative(fabs(a->score[k]), 50.0 / (1.0 + 5000.0 / 4.0), 1e-9);
    attacked_close(a);
}

/* -- what is refused, what fails
 * --------------------------------------------------------------------------- */

static void test_refused(void **state) {
    (void)state;
    attacked *a =
        open_many(&bb_method_mp_instance, &bb_mechanism_gaussian, BB_LOSS_SQUARED, 1.0);
    attacked_toss(a, a->world.canaries, 1);
    a->run.seeded = false;
    assert_fails(
        bb_run_attack(&a->run, a->world.canaries, a->world.other, a->first, a->score),
        BB_EUSAGE, "needs a seed");
    attacked_close(a);
    bb_audit_world world;
    assert_fails(bb_audit_world_open(&world, &(bb_audit_world_options){.tasks = 3,
                                                                       .canaries = 4,
                                                                       .rows = 1,
                                                                       .features = 2}),
                 BB_EUSAGE, "canaries");
    assert_fails(bb_audit_world_open(&world, &(bb_audit_world_options){.tasks = 3,
                                                                       .canaries = 1,
                                                                       .rows = 1,
                                                                       .features = 1}),
                 BB_EUSAGE, "features");
}

static bb_status attempt(void *context) {
    attacked *a = context;
    bb_audit_world world = {0};
    bb_canary_verdict verdict;
    bb_status status = bb_audit_world_open(
        &world,
        &(bb_audit_world_options){.tasks = 4, .canaries = 2, .rows = 3, .features = 3});
    if (!status)
        status = bb_run_attack(&a->run, a->world.canaries, a->world.other, a->first,
                               a->score);
    if (!status)
        status = bb_canary_judge(a->attacks, a->score, a->first, 0.0, 0.95, &verdict);
    bb_audit_world_close(&world);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    attacked *a =
        open_many(&bb_method_mp_instance, &bb_mechanism_gaussian, BB_LOSS_SQUARED, 1.0);
    attacked_toss(a, a->world.canaries, 1);
    assert_true(torture_memory((bb_torture){.attempt = attempt, .context = a}) >= 10);
    attacked_close(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_noise), cmocka_unit_test(test_honest),
        cmocka_unit_test(test_wrong_claim),   cmocka_unit_test(test_hostile_row),
        cmocka_unit_test(test_forms),         cmocka_unit_test(test_selection),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_memory),
    };
    if (bb_linalg_start()) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
