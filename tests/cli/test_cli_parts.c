/* Which libraries the program loads: few at its start, others when they are needed, and
 * what it says where they are missing. A library is hidden by a broken one of its name in
 * a folder where the dynamic linker looks first. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MATLAB BB_SOURCE_DIR "/tests/fuzz/corpus/mat/v73.mat"

static bool is_among(const char *name, const char *const *list) {
    for (; *list; list++)
        if (strncmp(name, *list, strlen(*list)) == 0) return true;
    return false;
}

/* What ldd does. */
static void it_starts_with_few(void **state) {
    (void)state;
    static const char *const expected[] = {
        /* its own */
        "libc.so", "libm.so", "libcrypto.so", "libjansson.so", "libsqlite3.so",
        "libopenblas.so", "libz.so", "libgomp.so", "linux-vdso", "/lib",
        /* OpenBLAS's */
        "libgfortran.so", "libquadmath.so", "libgcc_s.so",
        /* of sanitizers and of clang */
        "libasan.so", "libubsan.so", "libstdc++.so", "libomp.so", "libdl.so",
        "librt.so", "libpthread.so", "libresolv.so", NULL};
    assert_int_equal(setenv("LD_TRACE_LOADED_OBJECTS", "1", 1), 0);
    assert_int_equal(cli_wait(cli_start("--version")), 0);
    assert_int_equal(unsetenv("LD_TRACE_LOADED_OBJECTS"), 0);
    char *list = cli_read(".out");
    size_t count = 0;
    for (char *line = strtok(list, "\n"); line; line = strtok(NULL, "\n"), count++) {
        line += strspn(line, " \t");
        if (!is_among(line, expected)) fail_msg("the program loads %s", line);
    }
    assert_true(count > 5);
    free(list);
}

/* A library of the folder where somebody works is somebody's, not ours. */
static void it_loads_nothing_from_here(void **state) {
    (void)state;
    cli_write("libz.so.1", "not a library");
    cli_ok("--version");
    assert_int_equal(remove("libz.so.1"), 0);
}

static void hide(const char *library) {
    char path[100];
    assert_int_equal(mkdir("hidden", 0777), 0);
    snprintf(path, sizeof path, "hidden/%s", library);
    cli_write(path, "not a library");
    assert_int_equal(setenv("LD_LIBRARY_PATH", "hidden", 1), 0);
}

static void show(const char *library) {
    char path[100];
    snprintf(path, sizeof path, "hidden/%s", library);
    assert_int_equal(unsetenv("LD_LIBRARY_PATH"), 0);
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove("hidden"), 0);
}

static void without_matio(void **state) {
    (void)state;
    json_t *there = cli_json("info '%s' --json", MATLAB);
    assert_int_equal(cli_number(there, "rows"), 2);
    json_decref(there);
    hide(BB_MATIO_LIBRARY);
    cli_fails(1,
              MATLAB ": MATLAB files need " BB_MATIO_LIBRARY ", which cannot be loaded",
              "info '%s'", MATLAB);
    cli_fails(1, "Debian's package is " BB_MATIO_PACKAGE, "info '%s'", MATLAB);
    cli_fails(1, "billboard: " MATLAB ": MATLAB files need",
              "train '%s' --method mp-prior --epsilon 1 -o never", MATLAB);
    cli_ok("synth low-rank --tasks 5 --samples 4 --features 2 --seed 1 -o S.csv");
    cli_ok("info S.csv");
    show(BB_MATIO_LIBRARY);
    assert_false(cli_exists("never"));
}

static void without_onednn(void **state) {
    (void)state;
    static const char train[] =
        "train N.csv --method fedavg --epsilon 4 --rounds 2 --image 2x2x1 "
        "--ledger N.ledger --population n --budget-epsilon 5 --budget-delta 1e-3 -o N";
    cli_ok("synth low-rank --tasks 40 --samples 6 --features 4 --seed 1 -o N.csv");
    hide(BB_DNNL_LIBRARY);
    cli_fails(1, "networks need " BB_DNNL_LIBRARY ", which cannot be loaded",
              "%s --net dense1", train);
    cli_fails(1, "Debian's package is " BB_DNNL_PACKAGE, "%s --net dense1", train);
    assert_false(cli_exists("N"));
    assert_int_equal(cli_count("N.tmp*"), 0);
    cli_ok("train N.csv --method stl -o L");
    show(BB_DNNL_LIBRARY);
    cli_ok("%s --net dense1", train); /* the first that is charged: there is room */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_starts_with_few),
        cmocka_unit_test(it_loads_nothing_from_here),
        cmocka_unit_test(without_matio),
        cmocka_unit_test(without_onednn),
    };
    return cmocka_run_group_tests(tests, cli_open, cli_close);
}
