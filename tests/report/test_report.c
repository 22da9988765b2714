/* What a report draws: axes, tables read back, spectra and maps. */
#include "report/plot.h"
#include "report/report.h"
#include "report/structure.h"
#include "report/table.h"
#include "test.h"

#include <sys/stat.h>

static char folder[] = "/tmp/bb-report-XXXXXX";

static int open_folder(void **state) {
    (void)state;
    return !mkdtemp(folder) || chdir(folder);
}

static int close_folder(void **state) {
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command);
}

static void write_text(const char *path, const void *bytes, size_t size) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void axes_hold_all_values(void **state) {
    (void)state;
    const double value[] = {0.312, NAN, 0.47, INFINITY};
    bb_axis axis = {0};
    assert_true(bb_axis_cover(&axis, value, 4, false));
    assert_true(axis.least <= 0.312 && axis.least > 0.2);
    assert_true(axis.most >= 0.47 && axis.most < 0.6);
    assert_true(bb_axis_cover(&axis, value, 4, true));
    assert_close(axis.least, 0.0, 0.0);
    axis.log = true;
    assert_true(bb_axis_cover(&axis, value, 4, false));
    assert_close(axis.least, 0.1, 1e-15);
    assert_close(axis.most, 1.0, 1e-15);
    /* ten decades at most: what is less is drawn at the border */
    const double wide[] = {1e-31, 0.5};
    bb_plot plot = {.top = 10.0, .bottom = 110.0};
    plot.y.log = true;
    assert_true(bb_axis_cover(&plot.y, wide, 2, false));
    assert_close(plot.y.least, 1e-10, 1e-20);
    assert_close(bb_plot_y(&plot, wide[0]), 110.0, 0.0);
    const double none[] = {NAN, -1.0, 0.0};
    assert_false(bb_axis_cover(&axis, none, 3, false));
    /* all the same, and far from zero */
    const double same[] = {7.0, 7.0};
    axis.log = false;
    assert_true(bb_axis_cover(&axis, same, 2, false));
    assert_true(axis.least <= 7.0 && axis.most > axis.least && isfinite(axis.most));
}

static void text_cannot_leave_its_place(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    bb_svg_text(f, "</script><b a=\"1\">&\n");
    fclose(f);
    assert_string_equal(text, "&lt;/script&gt;&lt;b a=&quot;1&quot;&gt;&amp; ");
    free(text);
}

static void tables_are_read_back(void **state) {
    (void)state;
    static const char good[] = "task,rows,auc\n\"a,\"\"b\",3,\n7,4,.5\n";
    static const char bad[] = "task,rows,auc\na,3\n";
    bb_table t = {0};
    write_text("t.csv", good, sizeof good - 1);
    assert_ok(bb_table_read(&t, "t.csv"));
    assert_int_equal(t.rows, 2);
    assert_int_equal(t.columns, 2);
    assert_string_equal(t.name[0], "a,\"b");
    assert_string_equal(t.column[1], "auc");
    assert_true(isnan(t.value[1]));
    assert_close(t.value[3], 0.5, 0.0);
    assert_int_equal(bb_table_column(&t, "auc"), 1);
    assert_true(bb_table_column(&t, "rmse") == SIZE_MAX);
    bb_table_free(&t);
    write_text("t.csv", bad, sizeof bad - 1);
    assert_fails(bb_table_read(&t, "t.csv"), BB_EDATA, "line 2");
}

/* A run whose public half released two 2 x 2 matrices with noise of deviation 3 on the
 * diagonal, and whose three models lie on a line. */
static void make_run(void) {
    static const char options[] = "{\"program\": \"billboard\", \"options\": {}}",
                      privacy[] = "{\"guarantees\": []}",
                      block[] = "{\"releases\": [{\"blocks\": [{\"at\": 0, \"shape\": "
                                "[2, 2], \"noise_standard_deviation\": 3}]}, "
                                "{\"blocks\": [{\"at\": 4, \"shape\": [2, 2], "
                                "\"noise_standard_deviation\": 3}, {\"at\": 0, "
                                "\"shape\": [3], \"noise_standard_deviation\": 1}]}]}",
                      models[] = "task,intercept,x,y\na,0,1,2\nb,1,2,2\nc,2,3,2\n";
    const double number[] = {2.0, 1.0, 1.0, 2.0, 4.0, 3.0, 3.0, 4.0};
    assert_int_equal(mkdir("run", 0700) | mkdir("run/public", 0700) |
                         mkdir("run/operator", 0700),
                     0);
    write_text("run/public/options.json", options, sizeof options - 1);
    write_text("run/public/privacy.json", privacy, sizeof privacy - 1);
    write_text("run/public/billboard.json", block, sizeof block - 1);
    write_text("run/public/billboard.bin", number, sizeof number);
    write_text("run/operator/models.csv", models, sizeof models - 1);
}

/* The mean is (3 2; 2 3) with eigenvalues 5 and 1, each sum having noise of variance
 * 18, so that the edge of the sum is sqrt(18 * 4). */
static void spectra_are_beside_their_noise(void **state) {
    (void)state;
    bb_reported run = {0};
    bb_spectrum_seen s;
    make_run();
    assert_ok(bb_reported_open(&run, "run"));
    assert_null(run.run);
    assert_ok(bb_spectrum_see(&run, &s));
    assert_int_equal(s.count, 2);
    assert_int_equal(s.rounds, 2);
    assert_close(s.value[0], 10.0 / sqrt(72.0), 1e-12);
    assert_close(s.value[1], 2.0 / sqrt(72.0), 1e-12);
    bb_spectrum_forget(&s);
    bb_reported_close(&run);
}

static void models_on_a_line_stay_on_one(void **state) {
    (void)state;
    bb_reported run = {0};
    bb_model_map map;
    assert_ok(bb_reported_open(&run, "run"));
    assert_ok(bb_model_map_open(&run, &map));
    assert_int_equal(map.tasks, 3);
    assert_close(map.explained, 1.0, 1e-12);
    for (size_t i = 0; i < 3; i++) assert_close(map.y[i], 0.0, 1e-12);
    assert_close(map.x[0], -map.x[2], 1e-12);
    assert_true(fabs(map.x[0]) > 1.0);
    assert_non_null(map.cosine);
    assert_close(map.cosine[2], -1.0, 1e-12);
    bb_model_map_close(&map);
    bb_reported_close(&run);
}

/* Numbers that are not there are not read. */
static void a_short_billboard_has_no_spectrum(void **state) {
    (void)state;
    const double number[] = {2.0, 1.0, 1.0};
    bb_reported run = {0};
    bb_spectrum_seen s;
    write_text("run/public/billboard.bin", number, sizeof number);
    assert_ok(bb_reported_open(&run, "run"));
    assert_ok(bb_spectrum_see(&run, &s));
    assert_int_equal(s.count, 0);
    bb_reported_close(&run);
}

/* What a run published as a mixed model is a table of the page; without it there is none. */
static void effects_are_a_table(void **state) {
    (void)state;
    static const char effects[] =
        "{\"published\": true, \"standard_errors\": true, \"intercept_at\": \"the "
        "first level\", \"fixed\": [{\"estimate\": 0.25, \"standard_error\": 0.01, "
        "\"interval\": [0.2304, 0.2696], \"name\": \"<i>=girl\", \"against\": "
        "\"<i>=boy\"}, {\"estimate\": 1.5, \"standard_error\": null, \"interval\": "
        "null, \"reason\": \"noise & more\", \"name\": \"x\"}, {\"estimate\": "
        "1254321.34, \"standard_error\": 12.5, \"interval\": [1254296.84, "
        "1254345.84], \"name\": \"price\"}], \"random\": "
        "{\"intercept\": {\"estimate\": 4, \"standard_error\": 1, \"interval\": "
        "[2.04, 5.96], \"deviation\": 2}}, \"warning\": \"too tight\"}";
    static const char *const seen[] = {
        "<th scope=\"row\">&lt;i&gt;=girl <span class=\"n\">against "
        "&lt;i&gt;=boy</span>"
        "</th><td>0.25</td><td>0.01</td><td>0.2304 to 0.2696</td>",
        "<td>1.5</td><td>–</td><td>noise &amp; more</td>",
        "price</th><td>1254321.3</td><td>12.5</td><td>1254296.8 to 1254345.8</td>",
        "random intercept</th><td>4</td><td>1</td><td>2</td><td>2.04 to 5.96</td>",
        "<p class=\"bad\">too tight</p>"};
    for (int told = 0; told < 2; told++) {
        bb_reported run = {0};
        char *page = NULL;
        size_t size = 0;
        if (told) write_text("run/public/effects.json", effects, sizeof effects - 1);
        assert_ok(bb_reported_open(&run, "run"));
        FILE *f = open_memstream(&page, &size);
        assert_ok(bb_report_page(f, 1, &run));
        fclose(f);
        for (size_t k = 0; k < sizeof seen / sizeof *seen; k++)
            assert_int_equal(strstr(page, seen[k]) != NULL, told);
        assert_int_equal(strstr(page, "id=\"effects\"") != NULL, told);
        free(page);
        bb_reported_close(&run);
    }
}

/* A budget of which nothing was spent promises nothing. */
static void who_learns_alone_promises_nothing(void **state) {
    (void)state;
    static const char *const privacy[] = {
        "{\"exchanged\": true, \"guarantees\": [{\"unit\": \"task\", \"valid\": true, "
        "\"epsilon\": 1, \"delta\": 1e-5, \"adjacency\": \"replace-one\", "
        "\"sampling\": \"all\"}]}",
        "{\"exchanged\": false, \"guarantees\": [{\"unit\": \"task\", \"valid\": true, "
        "\"epsilon\": 1, \"delta\": 1e-5, \"adjacency\": \"replace-one\", "
        "\"sampling\": \"all\"}]}",
        "{\"exchanged\": false, \"guarantees\": []}"};
    for (int k = 0; k < 3; k++) {
        bb_reported run = {0};
        char *page = NULL;
        size_t size = 0;
        write_text("run/public/privacy.json", privacy[k], strlen(privacy[k]));
        assert_ok(bb_reported_open(&run, "run"));
        FILE *f = open_memstream(&page, &size);
        assert_ok(bb_report_page(f, 1, &run));
        fclose(f);
        assert_int_equal(strstr(page, "ε = 1") != NULL, k == 0);
        assert_int_equal(strstr(page, "Nothing was published") != NULL, k > 0);
        assert_null(strstr(page, "not private"));
        free(page);
        bb_reported_close(&run);
    }
}

int main(void) {
    const struct CMUnitTest test[] = {
        cmocka_unit_test(axes_hold_all_values),
        cmocka_unit_test(text_cannot_leave_its_place),
        cmocka_unit_test(tables_are_read_back),
        cmocka_unit_test(spectra_are_beside_their_noise),
        cmocka_unit_test(models_on_a_line_stay_on_one),
        cmocka_unit_test(a_short_billboard_has_no_spectrum),
        cmocka_unit_test(effects_are_a_table),
        cmocka_unit_test(who_learns_alone_promises_nothing)};
    return cmocka_run_group_tests(test, open_folder, close_folder);
}
