/* Runs of the real program that are killed, and go on: the bytes are those of a run that
 * was not, and the budget is charged once. */
#include "cli.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void make_world(void) {
    if (!cli_exists("W.csv"))
        cli_ok("synth low-rank --tasks 40 --samples 12 --features 5 --seed 2 -o W.csv");
}

static size_t charges(void) {
    cli_result r = cli("ledger L.db --json");
    json_t *j = r.code ? NULL : json_loads(r.out, 0, NULL);
    const size_t count = json_array_size(json_object_get(j, "entries"));
    json_decref(j);
    cli_free(&r);
    return count;
}

static ino_t file_number(void) {
    struct stat file;
    return stat("c", &file) ? 0 : file.st_ino;
}

static bool has_ended(pid_t pid) {
    siginfo_t info = {0};
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    return info.si_pid == pid;
}

/* Killed at some moment after its file was written anew, a dozen times, then left alone.
 * How often it was gone on with. */
static size_t run_and_kill(const char *train) {
    size_t resumed = 0;
    for (int kills = 0;; kills++) {
        const bool there = cli_exists("c");
        const ino_t before = file_number();
        const pid_t pid = cli_start(there ? "train --resume c" : train);
        while (kills < 12 && !has_ended(pid) && file_number() == before)
            cli_sleep(0.001);
        if (kills < 12) cli_sleep(0.0013 * (kills * kills % 7));
        if (kills < 12) kill(pid, SIGKILL);
        const int code = cli_wait(pid);
        resumed += there;
        if (code == 128 + SIGKILL) continue;
        if (code == 0) break;
        /* it had ended before: only its file was left */
        char *err = cli_read(".err");
        if (!cli_exists("run") || !strstr(err, "exists already"))
            fail_msg("exit code %d: %s", code, err);
        free(err);
        assert_int_equal(system("rm -f c c.*"), 0);
        break;
    }
    assert_int_equal(system("rm -rf run.tmp-* run.lock"), 0);
    return resumed;
}

static void same_as_if_never_killed(const char *options) {
    char train[400];
    make_world();
    snprintf(train, sizeof train,
             "train W.csv %s --threads 1 --test W.test.csv --checkpoint c "
             "--checkpoint-every 0.02 -o run",
             options);
    cli_result r = cli("%s", train);
    if (r.code) fail_msg("%s", r.err);
    cli_free(&r);
    assert_int_equal(cli_count("c*"), 0);
    assert_int_equal(system("rm -rf whole; mv run whole"), 0);
    const size_t resumed = run_and_kill(train);
    if (resumed < 3)
        fail_msg("%s: it was gone on with %zu times only", options, resumed);
    assert_int_equal(system("sed -i '/\"\\(read\\|solve\\|total\\)\": [0-9]/d' "
                            "run/operator/run.json whole/operator/run.json && "
                            "diff -r whole run && rm -r run"),
                     0);
    assert_int_equal(cli_count("c*"), 0);
}

static void killed_runs_end_with_the_same_bytes(void **state) {
    (void)state;
    same_as_if_never_killed("--method mp-lowrank --epsilon 1 --rounds 20000 --seed 3");
    /* what tasks keep is behind a file of its own */
    same_as_if_never_killed("--method fedavg --epsilon 1 --rounds 4000 --seed 3 "
                            "--sampling fixed:9 --finetune vanilla --memory 64");
}

static void an_unseeded_run_is_charged_once(void **state) {
    (void)state;
    make_world();
    const size_t resumed = run_and_kill(
        "train W.csv --method mp-lowrank --epsilon 1 --rounds 20000 --threads 1 "
        "--ledger L.db --budget-epsilon 9 --budget-delta 1e-3 --checkpoint c "
        "--checkpoint-every 0.02 -o run");
    assert_true(resumed >= 3);
    assert_int_equal(charges(), 1);
    json_t *run = json_load_file("run/operator/run.json", 0, NULL);
    json_t *index = json_load_file("run/public/billboard.json", 0, NULL);
    json_t *releases = json_object_get(index, "releases");
    assert_int_equal(json_array_size(releases), 20001);
    for (size_t t = 0; t < 20001; t++)
        assert_int_equal(
            json_integer_value(json_object_get(json_array_get(releases, t), "round")),
            t + 1);
    char command[200];
    snprintf(command, sizeof command,
             "sha256sum run/public/billboard.bin | grep -q ^%s",
             cli_text(run, "billboard_sha256"));
    assert_int_equal(system(command), 0);
    json_decref(run);
    json_decref(index);
    assert_int_equal(system("rm -r run L.db*"), 0);
}

/* A scheduler's warning: it is written and ends, and goes on. */
static void a_warning_saves_and_ends(int number) {
    struct stat file;
    make_world();
    const pid_t pid = cli_start(
        "train W.csv --method mp-lowrank --epsilon 1 --rounds 1000000 --threads 1 "
        "--ledger L.db --budget-epsilon 9 --budget-delta 1e-3 --checkpoint c -o run");
    for (int k = 0; k < 500 && (stat("c.billboard", &file) || file.st_size < 5000); k++)
        cli_sleep(0.02);
    assert_int_equal(kill(pid, number), 0);
    assert_int_equal(cli_wait(pid), 130);
    char *err = cli_read(".err");
    assert_non_null(strstr(err,
                           "go on with it: billboard train --resume c; ledger L.db "
                           "keeps the charge of (epsilon = 1,"));
    free(err);
    assert_int_equal(cli_count("run*"), 0);
    assert_int_equal(cli_count("c*"), 2);
    assert_int_equal(stat("c", &file), 0);
    assert_int_equal(file.st_mode & 07777, 0600);
    assert_int_equal(stat("c.billboard", &file), 0);
    assert_int_equal(file.st_mode & 07777, 0600);
    assert_int_equal(charges(), 1);
    cli_fails(2, "its run has --rounds 1000000, not 7", "train --resume c --rounds 7");
    cli_fails(2, "on other data", "train W.test.csv --resume c");
    assert_int_equal(cli_count("c*"), 2);
    assert_int_equal(system("rm c* L.db*"), 0);
}

static void signals_save_and_end(void **state) {
    (void)state;
    a_warning_saves_and_ends(SIGUSR1);
    a_warning_saves_and_ends(SIGTERM);
    a_warning_saves_and_ends(SIGINT);
}

/* Images, through a network. */
static void networks_go_on(void **state) {
    (void)state;
    static const char net[] =
        "--method fedavg --loss softmax --classes 3 --net dense6,dense3 --image 1x4x1 "
        "--batch 5 --epsilon 4 --rounds 300 --seed 3 --features x1,x2,x3,x4";
    assert_int_equal(
        system(
            "awk 'BEGIN {print \"task,y,x1,x2,x3,x4\"; for (t = 0; t < 12; t++) for "
            "(r = 0; r < 9; r++) {k = (t * 7 + r * 5) % 3; print t \",\" k \",\" k / "
            "4 \",\" r / 9 \",\" t / 12 \",\" (t * r) % 5 / 5}}' >W.csv; cp W.csv "
            "W.test.csv"),
        0);
    cli_result r = cli("train W.csv %s -o n", net);
    if (r.code && strstr(r.err, "libdnnl")) {
        cli_free(&r);
        skip();
    }
    if (r.code) fail_msg("%s", r.err);
    cli_free(&r);
    same_as_if_never_killed(net);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_runs_end_with_the_same_bytes),
        cmocka_unit_test(an_unseeded_run_is_charged_once),
        cmocka_unit_test(signals_save_and_end),
        cmocka_unit_test(networks_go_on),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
