/* Runs that are killed, everywhere: they go on, and end as if nothing had been. */
#include "base/lock.h"
#include "data/write.h"
#include "eval_world.h"
#include "killed.h"
#include "privacy/ledger/ledger.h"

#include <sys/resource.h>

static int open_world(void **state) {
    if (killed_open(state)) return 1;
    bb_dataset data = world_make(3, 32, 3, 6, false, false);
    assert_ok(bb_write_csv(&data, "data.csv"));
    bb_dataset_free(&data);
    shell("sed '2s/,[^,]*,/,0.5,/' data.csv >other.csv");
    return 0;
}

/* -- the same bytes -- */

static void without_times(const char *run) {
    char command[200];
    snprintf(command, sizeof command,
             "sed -i '/\"\\(read\\|solve\\|total\\)\": [0-9]/d' %s/operator/run.json",
             run);
    shell(command);
}

/* Killed at the first deed, and so many later, ..., at the last. */
static void ends_the_same(const char *options, int step) {
    int kills = 0;
    shell("rm -rf reference");
    must_run(options, "output run checkpoint c checkpoint-every 0");
    check_whole();
    check_nothing_is_left();
    without_times("run");
    shell("mv run reference");
    for (int at = 1;; at += step) {
        const int now = run_to_the_end(options, at, at % 3 ? 0 : 35);
        check_whole();
        check_nothing_is_left();
        without_times("run");
        shell("diff -r reference run && rm -r run");
        if (!now) break;
        kills += now;
    }
    assert_true(kills > 25 / step);
}

static void one_phase(void **state) {
    (void)state;
    ends_the_same("method mp-lowrank epsilon 1 rounds 4 seed 3 threads 1 "
                  "train-fraction 0.7",
                  1);
}

static void several_phases(void **state) {
    (void)state;
    ends_the_same("method fedprox epsilon 2 rounds 2 seed 3 threads 1 phase "
                  "pmtl,rounds=2 finetune kl",
                  5);
}

/* What tasks keep lies in files, which are copied. */
static void files_of_their_own(void **state) {
    (void)state;
    ends_the_same("method pmtl epsilon 2 rounds 3 seed 3 threads 1 memory 64 "
                  "finetune kl",
                  7);
}

static void sampled_cohorts(void **state) {
    (void)state;
    ends_the_same("method pmtl epsilon 2 rounds 3 seed 3 threads 1 sampling "
                  "poisson:0.4",
                  7);
    ends_the_same("method fedavg epsilon 2 rounds 3 seed 3 threads 1 sampling fixed:9",
                  7);
}

static void votes(void **state) {
    (void)state;
    ends_the_same("method mp-prior epsilon 3 seed 3 threads 1", 5);
    ends_the_same("method fedprox epsilon 50 rounds 2 seed 3 threads 1", 5);
}

static void no_noise_and_no_grid(void **state) {
    (void)state;
    ends_the_same("method fedavg mechanism none rounds 3 threads 1", 5);
    ends_the_same("method mp-lowrank mechanism wishart-published allow-broken-privacy "
                  "true epsilon 1 rounds 2 seed 4 threads 1",
                  5);
}

static void own_noise(void **state) {
    (void)state;
    ends_the_same(
        "method mp-instance set instance-epsilon=1 set gradient-clip=1 set clip=1 "
        "epsilon 2 rounds 2 seed 3 threads 1",
        5);
}

static void no_rounds_and_no_billboard(void **state) {
    (void)state;
    ends_the_same("method stl threads 1", 5);
    ends_the_same("method mtl-l21 rounds 500 threads 1", 11);
}

/* -- other noise, one charge -- */

static size_t charges(bb_ledger_state *state, double *spent) {
    bb_ledger *ledger = NULL;
    bb_ledger_terms terms;
    bb_ledger_entry *entry = NULL;
    size_t entries = 0;
    double delta;
    if (!exists("L")) return 0;
    if (bb_ledger_read(&ledger, "L", &terms)) return 0; /* not made yet */
    assert_ok(bb_ledger_entries(ledger, &entry, &entries));
    assert_ok(bb_ledger_spent(ledger, spent, &delta));
    if (entries) *state = entry[0].state;
    bb_ledger_entries_free(entry, entries);
    bb_ledger_close(ledger);
    return entries;
}

static const char unseeded[] =
    "method pmtl epsilon 1 rounds 4 threads 1 ledger L budget-epsilon 1.5 "
    "budget-delta 0.001 ledger-kind sum";

static void an_unseeded_run_is_charged_once(void **state) {
    (void)state;
    bb_ledger_state now;
    double spent = 0.0;
    int kills = 0;
    for (int at = 1;; at += 2) {
        const int killed = run_to_the_end(unseeded, at, at % 3 ? 0 : 35);
        check_whole();
        check_nothing_is_left();
        assert_int_equal(charges(&now, &spent), 1);
        assert_true(spent == 1.0);
        /* it is marked behind the directory, by a process that lives */
        assert_true(now == BB_LEDGER_DONE || (killed && now == BB_LEDGER_DIED));
        shell("rm -r run L*");
        if (!killed) break;
        kills += killed;
    }
    assert_true(kills > 15);
}

/* -- what is refused -- */

/* Kills it after some rounds, with a file that can be gone on from. */
static void make_file(const char *options) {
    shell("rm -rf run* c c.* L*");
    for (int at = 20; killed_run(options, "output run checkpoint c checkpoint-every 0",
                                 at) == KILLED;
         at++) {
        struct stat log;
        assert_int_equal(stat("c.billboard", &log), 0);
        if (exists("c") && log.st_size > 500) return;
        shell("rm -rf run* c c.* L*");
    }
    fail();
}

/* With one message, and nothing has changed. */
static void refused(bb_status status, const char *words, const char *more) {
    bb_ledger_state now;
    double spent;
    const size_t before = charges(&now, &spent);
    shell(
        "rm -rf before; mkdir before; cp -a c c.billboard before 2>/dev/null || true");
    const int found = killed_run("resume c", more, 0);
    if (found != (int)status || !strstr(killed_said(), words))
        fail_msg("resume c %s: %d, not %d: %s, not %s", more, found, (int)status,
                 killed_said(), words);
    assert_false(exists("run"));
    shell(
        "for f in c c.billboard; do if [ -e before/$f ]; then cmp $f before/$f || exit "
        "1; else [ ! -e $f ] || [ ! -s $f ] || exit 1; fi; done");
    assert_int_equal(charges(&now, &spent), before);
}

static void spoil(const char *path, long at, int how) {
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, at < 0 ? SEEK_END : SEEK_SET), 0);
    const int byte = fgetc(file);
    assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
    assert_true(fputc(byte ^ how, file) != EOF && !fclose(file));
}

static void spoilt_files(void **state) {
    (void)state;
    struct stat file, log;
    make_file(unseeded);
    shell("cp c good; cp c.billboard good.billboard");
    assert_true(!stat("c", &file) && !stat("c.billboard", &log));
    /* magic, version, sizes, options, curator, silo, seal */
    const struct {
        long at;
        const char *words;
    } byte[] = {{0, "is no checkpoint"},
                {4, "of version"},
                {8, "is damaged"},
                {60, "is damaged"},
                {file.st_size / 2, "is damaged"},
                {file.st_size - 40, "is damaged"},
                {-1, "is damaged"}};
    for (size_t k = 0; k < sizeof byte / sizeof *byte; k++) {
        spoil("c", byte[k].at, 1);
        refused(BB_EDATA, byte[k].words, "");
        shell("cp good c");
    }
    shell("head -c 300 good >c");
    refused(BB_EDATA, "is damaged", "");
    shell(": >c");
    refused(BB_EDATA, "is no checkpoint", "");
    shell("cp data.csv c");
    refused(BB_EDATA, "is no checkpoint", "");
    shell("rm c");
    refused(BB_EIO, "c: cannot be opened", "");
    shell("cp good c");
    for (long at = 0; at < log.st_size / 2; at += log.st_size / 9) {
        spoil("c.billboard", at, 0x40);
        refused(BB_EIO, "c.billboard: is damaged", "");
        shell("cp good.billboard c.billboard");
    }
    shell("head -c 200 good.billboard >c.billboard");
    refused(BB_EIO, "fewer releases than its checkpoint says", "");
    shell("cp good.billboard c.billboard");
    /* releases behind those that it knows were seen by nobody */
    shell("cat good >>c.billboard");
    must_run("resume c", "");
    check_whole();
    shell("rm -rf run L* good*");
    check_nothing_is_left();
}

static void other_runs_and_other_data(void **state) {
    (void)state;
    make_file(unseeded);
    const char *const differs[][2] = {
        {"epsilon 2", "its run has --epsilon 1.0, not 2.0"},
        {"method fedavg", "--method \"pmtl\""},
        {"rounds 5", "--rounds 4, not 5"},
        {"set steps=7", "--set steps"},
        {"seed 1", "--seed"},
        {"output run2", "--output \"run\""},
        {"ledger M", "--ledger \"L\""},
        {"phase fedavg", "--phase"},
        {"config c", "leave --config out"},
        {"checkpoint d", "--checkpoint \"c\""}};
    for (size_t k = 0; k < sizeof differs / sizeof *differs; k++)
        refused(BB_EUSAGE, differs[k][1], differs[k][0]);
    shell("mv data.csv keep.csv; cp other.csv data.csv");
    refused(BB_EUSAGE, "c: is of a run on other data", "");
    shell("mv keep.csv data.csv");
    /* what no result depends on may differ, and so may what is said again */
    must_run("resume c",
             "epsilon 1 method pmtl threads 2 checkpoint-every 5 json true");
    check_whole();
    shell("rm -r run L*");
    check_nothing_is_left();
}

static void another_process_has_it(void **state) {
    (void)state;
    bb_lock lock = {0};
    make_file(unseeded);
    assert_ok(bb_lock_take(&lock, "c", "test"));
    refused(BB_EUSAGE, "c: another process has this checkpoint", "");
    bb_lock_give(&lock);
    assert_ok(bb_lock_take(&lock, "run", "test"));
    refused(BB_EUSAGE, "run: another run is being written there", "");
    bb_lock_give(&lock);
    /* a new run does not write over it */
    assert_int_equal(killed_run(unseeded, "output elsewhere checkpoint c", 0),
                     BB_EUSAGE);
    assert_non_null(strstr(killed_said(), "c: exists already; go on"));
    assert_false(exists("elsewhere"));
    must_run("resume c", "");
    shell("rm -r run L*");
    check_nothing_is_left();
}

static void another_ledger_and_a_run_that_is_done(void **state) {
    (void)state;
    bb_ledger_state now;
    double spent;
    make_file(unseeded);
    shell("mkdir ledger; mv L* ledger");
    assert_int_equal(killed_run("resume c", "", 0), BB_EUSAGE);
    assert_non_null(
        strstr(killed_said(), "ledger L is not there, and has charged the"));
    assert_false(exists("L")); /* it would count from zero */
    shell("mv ledger/* .; rmdir ledger; cp c copy; cp c.billboard copy.billboard");
    must_run("resume c", "");
    check_whole();
    /* another release of the same rounds, from a copy: never */
    shell("mv copy c; mv copy.billboard c.billboard");
    assert_int_equal(killed_run("resume c", "", 0), BB_EUSAGE);
    assert_non_null(strstr(killed_said(),
                           "c: its run has ended well, or another has its "
                           "place: run: exists already"));
    shell("rm -r run");
    refused(BB_EUSAGE, "entry 1, is done", "");
    assert_int_equal(charges(&now, &spent), 1);
    shell("rm c* L*");
    check_nothing_is_left();
}

/* Over a run that was there, killed at any moment. */
static void a_run_is_replaced(void **state) {
    (void)state;
    static const char seeded[] =
        "method mp-lowrank epsilon 1 rounds 2 seed 3 threads 1 force true output run "
        "checkpoint c checkpoint-every 0";
    must_run(seeded, "");
    without_times("run");
    shell("rm -rf reference; mv run reference");
    for (int at = 1, status = KILLED; status; at += 4) {
        must_run("method stl", "output run");
        status = killed_run(seeded, "", at);
        if (exists("c")) must_run("resume c", "");
        if (system("grep -q mp-lowrank run/operator/run.json 2>&1")) {
            shell("rm -rf run.*"); /* killed before anything was kept */
            must_run(seeded, "");
        }
        without_times("run");
        shell("diff -r reference run && rm -rf run* c.*");
        check_nothing_is_left();
    }
}

static void names_that_make_no_sense(void **state) {
    (void)state;
    const char *const wrong[][2] = {
        {"checkpoint run", "--checkpoint needs a file of its own, got \"run\""},
        {"checkpoint data.csv", "data.csv: exists already"},
        {"checkpoint nowhere/c",
         "nowhere/c: cannot be created: there is no folder nowhere"},
        {"checkpoint c checkpoint-every -1", "checkpoint-every"},
        {"resume data.csv", "data.csv: is no checkpoint"},
        {"resume c", "c: cannot be opened"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        const bool new_run = wrong[k][0][0] == 'c';
        assert_true(killed_run(new_run ? "method stl output run" : "", wrong[k][0], 0));
        if (!strstr(killed_said(), wrong[k][1]))
            fail_msg("%s: %s", wrong[k][0], killed_said());
        assert_false(exists("run"));
        check_nothing_is_left();
    }
}

static void a_refused_charge_leaves_nothing(void **state) {
    (void)state;
    shell("rm -rf L*");
    must_run(unseeded, "output run");
    shell("rm -r run");
    assert_int_equal(killed_run(unseeded, "output run checkpoint c", 0), BB_EBUDGET);
    shell("rm L*");
    check_nothing_is_left();
}

/* -- a full disk, and a stop -- */

static void limit_files(rlim_t size) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Of so many bytes a file: the run ends with one message, and its file is good. */
static void a_full_disk_leaves_the_old_file(void **state) {
    (void)state;
    static const char seeded[] =
        "method mp-lowrank epsilon 1 rounds 200 seed 3 threads 1";
    size_t failures = 0, kept = 0;
    signal(SIGXFSZ, SIG_IGN);
    must_run(seeded, "output run checkpoint c checkpoint-every 0");
    without_times("run");
    shell("mv run reference2");
    for (rlim_t size = 2000; size < 250000; size += size / 2) {
        limit_files(size);
        const int status =
            killed_run(seeded, "output run checkpoint c checkpoint-every 0", 0);
        limit_files(RLIM_INFINITY);
        if (status) {
            assert_int_equal(status, BB_EIO);
            failures++;
            if (exists("c")) {
                assert_false(exists("c.new"));
                must_run("resume c", "");
                kept++;
            } else {
                must_run(seeded, "output run checkpoint c checkpoint-every 0");
            }
        }
        without_times("run");
        shell("diff -r reference2 run && rm -r run");
        check_nothing_is_left();
    }
    assert_true(failures >= 3);
    assert_true(kept >= 2);
    signal(SIGXFSZ, SIG_DFL);
}

typedef struct stopper {
    atomic_int stop;
    uint32_t after;
} stopper;

static void stop_after(void *self, uint32_t round, uint32_t rounds) {
    stopper *s = self;
    (void)rounds;
    if (round == s->after) s->stop = 1;
}

static void a_stop_saves_at_once(void **state) {
    (void)state;
    stopper s = {.after = 3};
    const bb_watch watch = {.self = &s, .progress = stop_after, .stop = &s.stop};
    bb_ledger_state now;
    double spent;
    shell("rm -rf L*");
    /* long before a minute has passed */
    assert_fails(killed_train(unseeded, "output run checkpoint c", &watch),
                 BB_EINTERRUPTED,
                 "go on with it: billboard train --resume c; ledger L "
                 "keeps the charge of (epsilon = 1,");
    assert_false(exists("run"));
    assert_true(exists("c") && exists("c.billboard"));
    shell("ls | grep -c 'tmp-\\|lock' | grep -q '^0$'");
    must_run("resume c", "");
    check_whole();
    assert_int_equal(charges(&now, &spent), 1);
    assert_int_equal(now, BB_LEDGER_DONE);
    shell("rm -r run L*");
    check_nothing_is_left();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_phase),
        cmocka_unit_test(several_phases),
        cmocka_unit_test(files_of_their_own),
        cmocka_unit_test(sampled_cohorts),
        cmocka_unit_test(votes),
        cmocka_unit_test(no_noise_and_no_grid),
        cmocka_unit_test(own_noise),
        cmocka_unit_test(no_rounds_and_no_billboard),
        cmocka_unit_test(an_unseeded_run_is_charged_once),
        cmocka_unit_test(spoilt_files),
        cmocka_unit_test(other_runs_and_other_data),
        cmocka_unit_test(another_process_has_it),
        cmocka_unit_test(another_ledger_and_a_run_that_is_done),
        cmocka_unit_test(a_run_is_replaced),
        cmocka_unit_test(names_that_make_no_sense),
        cmocka_unit_test(a_refused_charge_leaves_nothing),
        cmocka_unit_test(a_full_disk_leaves_the_old_file),
        cmocka_unit_test(a_stop_saves_at_once),
    };
    return cmocka_run_group_tests(tests, open_world, killed_close);
}
