/* Plans and policies of several places from files, and places that are kept in files: closed
 * and opened after every step they make what one process makes, to the bit. */
#define BILLBOARD_EXPERIMENTAL
#include "rows.h"

#include <math.h>
#include <stdbool.h>
#include <unistd.h>

typedef billboard_experimental_silo silo;
typedef billboard_experimental_curator curator;
typedef billboard_experimental_agreement agreement;

static void write_file(const char *path, const char *words) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(words, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* clang-format off */
#define PLAN(seed)                                                                     \
    "{\"options\": {\"method\": \"fedavg\", \"epsilon\": 8, " seed "\"rounds\": 3}," \
    " \"tasks\": [\"95\", \"96\", \"97\", \"98\", \"99\", \"100\", \"101\", \"102\"," \
    " \"103\", \"104\", \"105\", \"106\"],"                                            \
    " \"features\": [\"age\", \"height\", \"weight\"], \"silos\": [\"only\"]}"
/* clang-format on */
static const char plan[] = PLAN("\"seed\": 5, "), plan_without_seed[] = PLAN("");

static agreement *agreed(const char *checkpoint) {
    agreement *a = NULL;
    ASSERT_OK(billboard_experimental_agreement_read("plan.json", &a));
    ASSERT_OK(billboard_job_set(billboard_experimental_agreement_job(a), "checkpoint",
                                checkpoint));
    return a;
}

/* -- places that are opened anew for every step -- */

typedef struct opened {
    agreement *of_silo, *of_curator;
    silo *silo;
    curator *curator;
} opened;

static void open_both(opened *o) {
    const billboard_arrays all = arrays();
    billboard_experimental_policy policy = {.struct_size = sizeof policy};
    billboard_data *data = data_of(&all);
    o->of_silo = agreed("silo.state");
    o->of_curator = agreed("curator.state");
    ASSERT_OK(
        billboard_experimental_agreement_policy(o->of_silo, "policy.json", &policy));
    ASSERT_OK(billboard_experimental_curator_open(
        billboard_experimental_agreement_job(o->of_curator),
        billboard_experimental_agreement_roster(o->of_curator), NULL, &o->curator));
    ASSERT_OK(billboard_experimental_silo_open(
        billboard_experimental_agreement_job(o->of_silo),
        billboard_experimental_agreement_roster(o->of_silo), 1, data, &policy, NULL,
        &o->silo));
    billboard_data_free(data);
    billboard_experimental_curator_again(o->curator, 1);
}

static void close_both(opened *o) {
    billboard_experimental_silo_free(o->silo);
    billboard_experimental_curator_free(o->curator);
    billboard_experimental_agreement_free(o->of_silo);
    billboard_experimental_agreement_free(o->of_curator);
}

/* What the curator has for the silo, and its answer, which is kept before it leaves. */
static void exchange(const opened *o) {
    const void *frame;
    size_t size;
    for (;;) {
        ASSERT_OK(billboard_experimental_curator_give(o->curator, 1, &frame, &size));
        if (!frame) return;
        ASSERT_OK(billboard_experimental_silo_take(o->silo, frame, size));
        if (billboard_experimental_silo_state(o->silo) == BILLBOARD_EXPERIMENTAL_WORK)
            ASSERT_OK(billboard_experimental_silo_work(o->silo));
        ASSERT_OK(billboard_experimental_silo_keep(o->silo));
        ASSERT_OK(billboard_experimental_silo_give(o->silo, &frame, &size));
        if (frame)
            ASSERT_OK(billboard_experimental_curator_take(o->curator, frame, size));
        billboard_experimental_silo_gave(o->silo);
    }
}

/* False at the end. */
static bool step(const opened *o) {
    exchange(o);
    switch (billboard_experimental_curator_state(o->curator)) {
    case BILLBOARD_EXPERIMENTAL_COMPLETE:
        ASSERT_OK(billboard_experimental_curator_close_round(o->curator));
        ASSERT_OK(billboard_experimental_curator_keep(o->curator));
        return true;
    case BILLBOARD_EXPERIMENTAL_PUBLISHED:
        ASSERT_OK(billboard_experimental_curator_go_on(o->curator));
        ASSERT_OK(billboard_experimental_curator_keep(o->curator));
        return true;
    default:
        assert_int_equal(billboard_experimental_curator_state(o->curator),
                         BILLBOARD_EXPERIMENTAL_DONE);
        return false;
    }
}

static void places_go_on_from_their_files(void **state) {
    (void)state;
    const billboard_arrays all = arrays();
    write_file("plan.json", plan);
    write_file("policy.json",
               "{\"most-epsilon\": 8, \"most-delta\": 1e-5, \"allow-open\": true}");
    billboard_job *job =
        JOB({"method", "fedavg"}, {"epsilon", "8"}, {"seed", "5"}, {"rounds", "3"});
    billboard_result *whole = run_on(job, data_of(&all)), *result = NULL;
    opened o;
    int steps = 0;
    open_both(&o);
    for (; step(&o); steps++) {
        close_both(&o);
        open_both(&o);
    }
    assert_int_equal(steps, 7); /* joining, and two for each round */
    ASSERT_OK(billboard_experimental_silo_result(o.silo, &result));
    assert_string_equal(found(result, "models_sha256"), found(whole, "models_sha256"));
    billboard_result_free(result);
    ASSERT_OK(billboard_experimental_curator_result(o.curator, &result));
    assert_string_equal(found(result, "billboard_sha256"),
                        found(whole, "billboard_sha256"));
    billboard_result_free(result);
    assert_int_equal(access("silo.state", F_OK), 0);
    billboard_experimental_silo_forget(o.silo);
    billboard_experimental_curator_forget(o.curator);
    close_both(&o);
    assert_int_equal(access("silo.state", F_OK), -1);
    assert_int_equal(access("curator.state", F_OK), -1);
    billboard_result_free(whole);
    billboard_job_free(job);
}

/* -- what may be shown of a run -- */

static void shows(const opened *o, const char *state, const char *first, double spent,
                  double published) {
    billboard_answer *a = NULL;
    ASSERT_OK(billboard_experimental_curator_progress(o->curator, &a));
    assert_string_equal(billboard_answer_text(a, "state"), state);
    assert_string_equal(billboard_answer_text(a, "silos.0"), first);
    assert_true(billboard_answer_number(a, "epsilon_spent") == spent);
    assert_true(billboard_answer_number(a, "published") == published);
    assert_true(billboard_answer_number(a, "rounds") == 3);
    assert_true(billboard_answer_number(a, "promise.epsilon") == 8);
    assert_true(billboard_answer_number(a, "promise.delta") == 1e-5);
    assert_string_equal(billboard_answer_text(a, "promise.adjacency"), "replace-one");
    assert_string_equal(billboard_answer_text(a, "promise.sampling"), "all");
    billboard_answer_free(a);
}

/* What is spent is what was charged, which is before the first round. */
static void a_curator_shows_how_far_it_is(void **state) {
    (void)state;
    billboard_result *result = NULL;
    opened o;
    write_file("plan.json", plan_without_seed);
    write_file("policy.json", "{\"most-epsilon\": 8, \"most-delta\": 1e-5}");
    open_both(&o);
    shows(&o, "joining", "away", 0, 0);
    exchange(&o);
    shows(&o, "joining", "joined", 0, 0);
    assert_true(step(&o));
    for (int round = 1; round <= 3; round++) {
        shows(&o, "rounds", "joined", 8, round - 1);
        exchange(&o);
        shows(&o, "rounds", "answered", 8, round - 1);
        assert_true(step(&o));
        shows(&o, "rounds", "answered", 8, round - 1);
        assert_true(step(&o));
    }
    shows(&o, "over", "answered", 8, 3);
    assert_false(step(&o));
    ASSERT_OK(billboard_experimental_curator_result(o.curator, &result));
    shows(&o, "over", "answered", 8, 3);
    billboard_result_free(result);
    billboard_experimental_silo_forget(o.silo);
    billboard_experimental_curator_forget(o.curator);
    close_both(&o);
}

static void what_is_not_private_shows_no_epsilon(void **state) {
    (void)state;
    billboard_answer *a = NULL;
    opened o;
    write_file("plan.json", plan);
    write_file("policy.json",
               "{\"most-epsilon\": 8, \"most-delta\": 1e-5, \"allow-open\": true}");
    open_both(&o);
    assert_true(step(&o));
    ASSERT_OK(billboard_experimental_curator_progress(o.curator, &a));
    assert_true(billboard_answer_number(a, "charged") == 1);
    assert_true(billboard_answer_number(a, "promise.private") == 0);
    assert_true(isnan(billboard_answer_number(a, "epsilon_spent")));
    assert_true(isnan(billboard_answer_number(a, "promise.delta")));
    billboard_answer_free(a);
    assert_refused(billboard_experimental_curator_progress(o.curator, NULL),
                   BILLBOARD_USAGE, "answer");
    billboard_experimental_silo_forget(o.silo);
    billboard_experimental_curator_forget(o.curator);
    close_both(&o);
}

/* -- what is refused -- */

static void one_file_is_of_one_place(void **state) {
    (void)state;
    opened o;
    curator *other = NULL;
    open_both(&o);
    agreement *same = agreed("curator.state");
    assert_refused(billboard_experimental_curator_open(
                       billboard_experimental_agreement_job(same),
                       billboard_experimental_agreement_roster(same), NULL, &other),
                   BILLBOARD_USAGE, "another process has this checkpoint");
    billboard_experimental_agreement_free(same);
    ASSERT_OK(billboard_experimental_curator_keep(o.curator));
    close_both(&o);
    same = agreed("silo.state");
    assert_refused(billboard_experimental_curator_open(
                       billboard_experimental_agreement_job(same),
                       billboard_experimental_agreement_roster(same), NULL, &other),
                   BILLBOARD_USAGE, "silo.state: keeps the silo 1, not the curator");
    billboard_experimental_agreement_free(same);
    /* other rows */
    const billboard_arrays all = arrays();
    const double before = y[0];
    y[0] += 1.0;
    billboard_data *data = data_of(&all);
    y[0] = before;
    billboard_experimental_policy policy = {.struct_size = sizeof policy,
                                            .allow_open = 1};
    silo *made = NULL;
    same = agreed("silo.state");
    assert_refused(
        billboard_experimental_silo_open(billboard_experimental_agreement_job(same),
                                         billboard_experimental_agreement_roster(same),
                                         1, data, &policy, NULL, &made),
        BILLBOARD_USAGE, "is of other rows");
    billboard_experimental_agreement_free(same);
    billboard_data_free(data);
    write_file("curator.state", "no checkpoint");
    same = agreed("curator.state");
    assert_refused(billboard_experimental_curator_open(
                       billboard_experimental_agreement_job(same),
                       billboard_experimental_agreement_roster(same), NULL, &other),
                   BILLBOARD_FAILED, "curator.state");
    billboard_experimental_agreement_free(same);
    assert_null(made);
    assert_null(other);
}

static void a_silo_says_what_it_has_and_is_asked_for(void **state) {
    (void)state;
    const billboard_arrays all = arrays();
    billboard_data *data = data_of(&all);
    billboard_experimental_policy policy = {
        .struct_size = sizeof policy, .most_epsilon = 9.0, .allow_open = 1};
    billboard_answer *about = NULL;
    unlink("silo.state"); /* of the case before */
    unlink("curator.state");
    agreement *a = agreed("silo.state");
    billboard_job *job = billboard_experimental_agreement_job(a);
    ASSERT_OK(billboard_experimental_silo_look(
        job, billboard_experimental_agreement_roster(a), 1, data, &policy, NULL,
        &about));
    assert_int_equal(access("silo.state", F_OK), -1);
    assert_true(billboard_answer_number(about, "tasks") ==
                billboard_answer_number(about, "tasks_of_plan"));
    assert_true(billboard_answer_number(about, "rows") > 0.0);
    assert_true(billboard_answer_number(about, "rounds") > 0.0);
    assert_true(billboard_answer_number(about, "policy.most_epsilon") == 9.0);
    assert_non_null(billboard_answer_text(about, "methods"));
    assert_null(billboard_answer_text(about, "ledger.file"));
    billboard_answer_free(about);
    policy.most_epsilon = 7.0;
    assert_refused(billboard_experimental_silo_look(
                       job, billboard_experimental_agreement_roster(a), 1, data,
                       &policy, NULL, &about),
                   BILLBOARD_USAGE, "allows epsilon 7, not 8");
    billboard_experimental_agreement_free(a);
    billboard_data_free(data);
}

static void a_place_without_a_file_cannot_be_kept(void **state) {
    (void)state;
    agreement *a = NULL;
    curator *c = NULL;
    ASSERT_OK(billboard_experimental_agreement_read("plan.json", &a));
    assert_string_equal(billboard_experimental_agreement_silo(a, 1), "only");
    assert_null(billboard_experimental_agreement_silo(a, 0));
    assert_null(billboard_experimental_agreement_silo(a, 2));
    ASSERT_OK(billboard_experimental_curator_open(
        billboard_experimental_agreement_job(a),
        billboard_experimental_agreement_roster(a), NULL, &c));
    assert_refused(billboard_experimental_curator_keep(c), BILLBOARD_USAGE,
                   "give the option checkpoint");
    billboard_experimental_curator_free(c);
    billboard_experimental_agreement_free(a);
}

static void policies_are_read(void **state) {
    (void)state;
    billboard_answer *answer = NULL;
    billboard_experimental_policy policy = {.struct_size = sizeof policy};
    agreement *a = NULL;
    write_file("full.json",
               "{\"most-epsilon\": 2.5, \"most-delta\": 1e-6, \"fewest-tasks\": 30, "
               "\"fewest-silos\": 3, \"methods\": \"fedavg,pmtl\", \"adjacencies\": "
               "\"replace-one\", \"ledger\": \"own.ledger\", \"population\": \"own\", "
               "\"budget-epsilon\": 0.1, \"budget-delta\": 1e-5}");
    ASSERT_OK(billboard_experimental_policy_read("full.json", &answer));
    assert_true(billboard_answer_number(answer, "most-epsilon") == 2.5);
    assert_string_equal(billboard_answer_text(answer, "adjacencies"), "replace-one");
    billboard_answer_free(answer);
    ASSERT_OK(billboard_experimental_agreement_read("plan.json", &a));
    ASSERT_OK(billboard_experimental_agreement_policy(a, "full.json", &policy));
    assert_true(policy.most_epsilon == 2.5 && policy.most_delta == 1e-6);
    assert_true(policy.fewest_tasks == 30 && policy.fewest_silos == 3);
    assert_string_equal(policy.methods, "fedavg,pmtl");
    assert_string_equal(policy.adjacencies, "replace-one");
    assert_int_equal(policy.allow_open, 0);
    ASSERT_OK(billboard_job_options(billboard_experimental_agreement_job(a), &answer));
    assert_string_equal(billboard_answer_text(answer, "ledger"), "own.ledger");
    assert_true(billboard_answer_number(answer, "budget-epsilon") == 0.1);
    billboard_answer_free(answer);
    write_file("full.json", "{\"most-epsilon\": -1, \"most-delta\": 1e-6}");
    assert_refused(billboard_experimental_agreement_policy(a, "full.json", &policy),
                   BILLBOARD_USAGE, "most-epsilon");
    assert_refused(billboard_experimental_policy_read("full.json", &answer),
                   BILLBOARD_USAGE, "most-epsilon");
    write_file("full.json", "{\"most-epsilon\": 1, \"most-delta\": 0, \"population\": "
                            "\"x\"}");
    assert_refused(billboard_experimental_policy_read("full.json", &answer),
                   BILLBOARD_USAGE, "no \"ledger\"");
    write_file("full.json",
               "{\"most-epsilon\": 1, \"most-delta\": 0, \"methods\": \"mp-mixd\"}");
    assert_refused(billboard_experimental_policy_read("full.json", &answer),
                   BILLBOARD_USAGE, "there is no method \"mp-mixd\"");
    write_file("full.json",
               "{\"most-epsilon\": 1, \"most-delta\": 0, \"curators\": \"abc\"}");
    assert_refused(billboard_experimental_policy_read("full.json", &answer),
                   BILLBOARD_USAGE, "expected public keys");
    billboard_experimental_agreement_free(a);
    assert_refused(billboard_experimental_agreement_read("plan.json", NULL),
                   BILLBOARD_USAGE, "agreement is NULL");
}

/* -- keys -- */

static void a_key(const char *path, char public_key[80]) {
    billboard_answer *answer = NULL;
    ASSERT_OK(billboard_experimental_identity_new(path, &answer));
    snprintf(public_key, 80, "%s", billboard_answer_text(answer, "public"));
    billboard_answer_free(answer);
    ASSERT_OK(billboard_experimental_identity_read(path, &answer));
    assert_string_equal(billboard_answer_text(answer, "public"), public_key);
    billboard_answer_free(answer);
}

static void rosters_are_signed(void **state) {
    (void)state;
    char key[2][80];
    const char *const site[] = {"only", "other"}, *const twice[] = {"only", "only"};
    const char *const keys[] = {key[0], key[1]}, *const none[] = {key[0], "key"};
    billboard_answer *answer = NULL;
    agreement *a = NULL;
    a_key("curator.key", key[0]);
    a_key("only.key", key[1]);
    assert_refused(billboard_experimental_identity_new("only.key", &answer),
                   BILLBOARD_USAGE, "only.key: exists already");
    assert_refused(billboard_experimental_keys_write("r.json", "curator.key", NULL, 2,
                                                     twice, keys),
                   BILLBOARD_USAGE, "\"only\" is there twice");
    assert_refused(
        billboard_experimental_keys_write("r.json", "curator.key", NULL, 2, site, none),
        BILLBOARD_USAGE, "expected a public key");
    assert_refused(
        billboard_experimental_keys_write("r.json", "curator.key", NULL, 0, NULL, NULL),
        BILLBOARD_USAGE, "expected names");
    assert_refused(
        billboard_experimental_keys_write("r.json", "curator.key", NULL, 1, site, NULL),
        BILLBOARD_USAGE, "public_key is NULL");
    assert_int_equal(access("r.json", F_OK), -1);
    ASSERT_OK(billboard_experimental_agreement_read("plan.json", &a));
    ASSERT_OK(billboard_experimental_keys_write("r.json", "curator.key", NULL, 1,
                                                &site[1], &keys[1]));
    assert_refused(
        billboard_experimental_agreement_identify(a, 1, "only.key", "r.json"),
        BILLBOARD_USAGE, "r.json: there is no key of silo \"only\"");
    ASSERT_OK(billboard_experimental_keys_write("r.json", "curator.key", NULL, 1, site,
                                                &keys[1]));
    ASSERT_OK(billboard_experimental_keys_read("r.json", &answer));
    assert_string_equal(billboard_answer_text(answer, "silos.0.public"), key[1]);
    assert_string_equal(billboard_answer_text(answer, "curator"), key[0]);
    billboard_answer_free(answer);
    assert_refused(
        billboard_experimental_agreement_identify(a, 0, "only.key", "r.json"),
        BILLBOARD_USAGE, "has for the curator");
    assert_null(billboard_experimental_agreement_roster(a)->identity);
    assert_refused(
        billboard_experimental_agreement_identify(a, 2, "only.key", "r.json"),
        BILLBOARD_USAGE, "silo number 2 of 1");
    ASSERT_OK(billboard_experimental_agreement_identify(a, 1, "only.key", "r.json"));
    assert_non_null(billboard_experimental_agreement_roster(a)->identity);
    billboard_experimental_agreement_free(a);
}

static void identities_without_an_agreement(void **state) {
    (void)state;
    const char *const site[] = {"only"}, *const nobody[] = {NULL};
    billboard_experimental_identity *identity = NULL;
    for (uint32_t number = 0; number < 2; number++) {
        const char *key = number ? "only.key" : "curator.key";
        ASSERT_OK(billboard_experimental_identity_open(key, "r.json", 1, site, number,
                                                       &identity));
        assert_non_null(identity);
        billboard_experimental_identity_free(identity);
        identity = NULL;
    }
    assert_refused(billboard_experimental_identity_open("only.key", "r.json", 1, site,
                                                        0, &identity),
                   BILLBOARD_USAGE, "has for the curator");
    assert_refused(billboard_experimental_identity_open("only.key", "r.json", 1, site,
                                                        2, &identity),
                   BILLBOARD_USAGE, "has for the helper");
    assert_refused(billboard_experimental_identity_open("only.key", "r.json", 1, site,
                                                        3, &identity),
                   BILLBOARD_USAGE, "silo number 3 of 1");
    assert_refused(billboard_experimental_identity_open("only.key", "none.json", 1,
                                                        site, 1, &identity),
                   BILLBOARD_FAILED, "none.json");
    assert_refused(billboard_experimental_identity_open("only.key", "r.json", 1, nobody,
                                                        1, &identity),
                   BILLBOARD_USAGE, "name is NULL");
    assert_null(identity);
    billboard_experimental_identity_free(NULL);
}

/* The curator learns why, from the frame that the policy's check has made. */
static void refusals_are_told(void **state) {
    (void)state;
    agreement *of_silo = agreed("s.state"), *of_curator = agreed("c.state");
    billboard_experimental_policy policy = {
        .struct_size = sizeof policy, .most_epsilon = 7, .allow_open = 1};
    unsigned char frame[BILLBOARD_EXPERIMENTAL_REFUSAL];
    curator *c = NULL;
    size_t size = 1;
    for (int k = 0; k < 2; k++) { /* and where both sign */
        if (k) {
            ASSERT_OK(billboard_experimental_agreement_identify(of_silo, 1, "only.key",
                                                                "r.json"));
            ASSERT_OK(billboard_experimental_agreement_identify(
                of_curator, 0, "curator.key", "r.json"));
        }
        const billboard_experimental_roster *roster =
            billboard_experimental_agreement_roster(of_silo);
        billboard_job *job = billboard_experimental_agreement_job(of_silo);
        ASSERT_OK(billboard_experimental_curator_open(
            billboard_experimental_agreement_job(of_curator),
            billboard_experimental_agreement_roster(of_curator), NULL, &c));
        policy.most_epsilon = 7;
        assert_refused(
            billboard_experimental_policy_check(job, roster, 1, &policy, frame, &size),
            BILLBOARD_USAGE, "allows epsilon 7, not 8");
        assert_refused(
            billboard_experimental_curator_take(c, frame, size), BILLBOARD_USAGE,
            "silo 1 refuses to take part: this silo's policy allows epsilon");
        assert_int_equal(billboard_experimental_curator_waits_for(c, 1), 0);
        policy.most_epsilon = 8;
        ASSERT_OK(
            billboard_experimental_policy_check(job, roster, 1, &policy, frame, &size));
        assert_int_equal(size, 0);
        ASSERT_OK(
            billboard_experimental_policy_check(job, roster, 1, &policy, NULL, NULL));
        assert_refused(
            billboard_experimental_policy_check(job, roster, 1, &policy, frame, NULL),
            BILLBOARD_USAGE, "size");
        assert_refused(
            billboard_experimental_policy_check(job, roster, 1, &policy, NULL, &size),
            BILLBOARD_USAGE, "refusal");
        policy.curators = "ed25519:1";
        assert_refused(
            billboard_experimental_policy_check(job, roster, 1, &policy, frame, &size),
            BILLBOARD_USAGE, "curators: expected public keys");
        assert_int_equal(size, 0); /* nothing to be told of that */
        policy.curators = NULL;
        billboard_experimental_curator_forget(c);
        billboard_experimental_curator_free(c);
    }
    assert_int_equal(access("s.state", F_OK), -1); /* no silo was opened */
    billboard_experimental_agreement_free(of_silo);
    billboard_experimental_agreement_free(of_curator);
}

int main(void) {
    const struct CMUnitTest all[] = {
        cmocka_unit_test(places_go_on_from_their_files),
        cmocka_unit_test(a_curator_shows_how_far_it_is),
        cmocka_unit_test(what_is_not_private_shows_no_epsilon),
        cmocka_unit_test(one_file_is_of_one_place),
        cmocka_unit_test(a_silo_says_what_it_has_and_is_asked_for),
        cmocka_unit_test(a_place_without_a_file_cannot_be_kept),
        cmocka_unit_test(policies_are_read),
        cmocka_unit_test(rosters_are_signed),
        cmocka_unit_test(identities_without_an_agreement),
        cmocka_unit_test(refusals_are_told),
    };
    return cmocka_run_group_tests(all, set_up, tear_down);
}
