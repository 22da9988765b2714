#include "eval_world.h"
#include "folder.h"
#include "models/limits.h"
#include "test.h"
#include "torture.h"

enum { ROWS = 12 };

/* Of one task. */
static void find_in(bool own_units, size_t n, size_t features, const double *y,
                    const double *fitted, double limit[2]) {
    size_t first[] = {0, n};
    double target[ROWS];
    memcpy(target, y, n * sizeof *y);
    const bb_dataset rows = {.tasks = 1, .rows = n, .first = first, .y = target};
    bb_limits_find(&rows, features, own_units, fitted, limit);
}

static void find(size_t n, size_t features, const double *y, const double *fitted,
                 double limit[2]) {
    find_in(false, n, features, y, fitted, limit);
}

static void limits_are_those_of_the_rule(void **state) {
    (void)state;
    const double y[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0};
    const double fitted[] = {1.5, 1.5, 3.5, 3.5, 5.5, 5.5, 7.5};
    double limit[2];
    /* (7 / 4 / 4) / (28 / 6), six rows more than the first */
    const double room = 6.0 * 2.0 / sqrt(7.0 * 0.25 / 4.0 / (28.0 / 6.0));
    find(7, 2, y, fitted, limit);
    assert_close(limit[0], 1.0 - room, 1e-12 * room);
    assert_close(limit[1], 7.0 + room, 1e-12 * room);
    /* as many rows as numbers of the model: what is left says nothing */
    find(7, 6, y, fitted, limit);
    assert_close(limit[0], 1.0 - 12.0, 1e-12);
    find(7, 100, y, y, limit);
    assert_close(limit[1], 7.0 + 12.0, 1e-12);
    /* a model that is worse than the mean has no less room */
    find(3, 1, y, fitted + 4, limit);
    assert_close(limit[1], 3.0 + 2.0 * 10.0, 1e-12);
}

static void few_rows_have_more_room(void **state) {
    (void)state;
    const double y[] = {0.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
    double limit[2], last = INFINITY;
    for (size_t n = 2; n <= ROWS; n++) {
        find(n, ROWS, y, y, limit);
        assert_true(limit[1] < last);
        assert_close(limit[0], 1.0 - limit[1], 1e-12);
        last = limit[1];
    }
    find(2, ROWS, y, y, limit);
    assert_close(limit[1], 1.0 + 37.0, 0.0);
    find_in(true, 2, ROWS, y, y, limit);
    assert_close(limit[1], 1.0 + 10.0, 0.0);
    find_in(true, 4, ROWS, y, y, limit);
    assert_close(limit[0], 0.0 - 2.0, 1e-12);
}

static void what_is_explained_exactly_goes_far(void **state) {
    (void)state;
    double y[ROWS], limit[2];
    for (size_t j = 0; j < ROWS; j++) y[j] = (double)j;
    find(ROWS, 2, y, y, limit);
    assert_true(limit[0] < -1e7 && limit[1] > 1e7 && isfinite(limit[1]));
}

static void without_a_span_there_are_none(void **state) {
    (void)state;
    const double same[] = {3.0, 3.0, 3.0}, far[] = {-1e308, 1e308, 0.0};
    double limit[2];
    for (size_t n = 0; n < 4; n++) {
        find(n, 1, same, same, limit);
        assert_true(limit[0] == -INFINITY && limit[1] == INFINITY);
    }
    find(3, 1, far, same, limit);
    assert_true(limit[0] == -INFINITY && limit[1] == INFINITY);
}

static void what_is_beyond_is_moved(void **state) {
    (void)state;
    const double limit[] = {0.0, 1.0, -INFINITY, 5.0};
    assert_close(bb_limited(limit, 0, -2.0), 0.0, 0.0);
    assert_close(bb_limited(limit, 0, 0.5), 0.5, 0.0);
    assert_close(bb_limited(limit, 0, 2.0), 1.0, 0.0);
    assert_close(bb_limited(limit, 1, -1e300), -1e300, 0.0);
    assert_close(bb_limited(limit, 1, 6.0), 5.0, 0.0);
    assert_close(bb_limited(NULL, 1, 6.0), 6.0, 0.0);
    /* a model that has failed is seen */
    assert_true(isnan(bb_limited(limit, 0, NAN)));
    assert_true(bb_limited(limit, 0, INFINITY) == INFINITY);
}

/* Models with limits: of the first task none, of the second one side. */
static bb_models make(const bb_dataset *data) {
    bb_models m;
    assert_ok(bb_models_open(&m, data));
    assert_ok(bb_allocate(&m.limit, m.tasks, 2 * sizeof *m.limit, "limits"));
    for (size_t i = 0; i < m.tasks; i++) {
        m.intercept[i] = 100.0 * (i % 2 ? 1.0 : -1.0);
        m.limit[2 * i] = i < 2 ? -INFINITY : -0.1 * (double)i;
        m.limit[2 * i + 1] = i < 1 ? INFINITY : (double)i / 3.0;
    }
    return m;
}

static void assert_limits(const bb_models *m, size_t i, double low, double high) {
    assert_true(m->limit[2 * i] == low && m->limit[2 * i + 1] == high);
}

static void limits_go_where_models_go(void **state) {
    (void)state;
    bb_dataset data = world_make(5, 4, 3, 2, false, false);
    char *const new_name[] = {data.task_name[0]};
    double z[64];
    bb_models m = make(&data), one;
    assert_true(data.rows <= 64);
    assert_ok(bb_models_predict(&m, &data, NULL, z));
    for (size_t i = 0; i < 4; i++)
        for (size_t j = data.first[i]; j < data.first[i + 1]; j++)
            assert_close(z[j], bb_limited(m.limit, i, m.intercept[i]), 0.0);
    assert_ok(bb_models_select(&one, &m, 3));
    assert_limits(&one, 0, m.limit[6], m.limit[7]);
    assert_ok(
        bb_models_add(&m, 1, new_name, &one)); /* the shared model's task has none */
    assert_limits(&m, 3, one.limit[0], one.limit[1]);
    assert_limits(&m, 4, -INFINITY, INFINITY);
    bb_models_free(&one);
    bb_models_free(&m);
    bb_dataset_free(&data);
}

static void expect_refused(bb_models *m, const char *text, const char *words) {
    double *const before = m->limit;
    FILE *file = fopen("bad.csv", "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_fails(bb_limits_read(m, "bad.csv"), BB_EDATA, words);
    assert_ptr_equal(m->limit, before);
}

static void files_come_back_to_the_same_bits(void **state) {
    (void)state;
    char odd[] = "a,\"b\"";
    bb_dataset data = world_make(5, 4, 3, 2, false, false);
    char *const kept = data.task_name[1];
    data.task_name[1] = odd;
    bb_models m = make(&data), back;
    data.task_name[1] = kept;
    assert_ok(bb_limits_write(&m, "limits.csv"));
    assert_ok(bb_models_write(&m, "models.csv"));
    assert_ok(bb_models_read(&back, "models.csv"));
    assert_null(back.limit);
    assert_ok(bb_limits_read(&back, "limits.csv"));
    for (size_t i = 0; i < 4; i++)
        assert_limits(&back, i, m.limit[2 * i], m.limit[2 * i + 1]);
    bb_models_free(&m);
    m = make(&data);
    m.tasks = 2;
    m.task_name[0][0] = 'a';
    m.task_name[0][1] = '\0';
    m.task_name[1][0] = 'b';
    m.task_name[1][1] = '\0';
    expect_refused(&m, "task,low\na,1\nb,1\n", "line 1: expected the header");
    expect_refused(&m, "task,low,high\na,1,2\n", "line 3: expected");
    expect_refused(&m, "task,low,high\na,1,2\nc,1,2\n", "line 3: expected the tasks");
    expect_refused(&m, "task,low,high\na,1,2\nb,1,2\nc,1,2\n", "expected the tasks");
    expect_refused(&m, "task,low,high\na,1\nb,1,2\n", "line 2: expected task, low");
    expect_refused(&m, "task,low,high\na,1,2,3\nb,1,2\n", "line 2: expected task, low");
    expect_refused(&m, "task,low,high\na,1,nan\nb,1,2\n", "line 2: expected a number");
    assert_fails(bb_limits_read(&m, "nowhere.csv"), BB_EIO, "nowhere.csv");
    bb_models_free(&back);
    bb_models_free(&m);
    bb_dataset_free(&data);
    unlink("limits.csv");
    unlink("models.csv");
    unlink("bad.csv");
}

static bb_status write_and_read(void *context) {
    bb_models back = {0};
    bb_status status = bb_limits_write(context, "t.csv");
    if (!status) status = bb_models_read(&back, "models.csv");
    if (!status) status = bb_limits_read(&back, "t.csv");
    bb_models_free(&back);
    return status;
}

static bb_status only_write(void *context) {
    return bb_limits_write(context, "t.csv");
}

static void limits_survive_torture(void **state) {
    (void)state;
    bb_dataset data = world_make(5, 4, 3, 2, false, false);
    bb_models m = make(&data);
    assert_ok(bb_models_write(&m, "models.csv"));
    assert_true(
        torture_memory((bb_torture){.attempt = write_and_read, .context = &m}) >= 4);
    assert_true(torture_files((bb_torture){.attempt = only_write, .context = &m}) >= 3);
    unlink("t.csv");
    unlink("models.csv");
    bb_models_free(&m);
    bb_dataset_free(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_those_of_the_rule),
        cmocka_unit_test(few_rows_have_more_room),
        cmocka_unit_test(what_is_explained_exactly_goes_far),
        cmocka_unit_test(without_a_span_there_are_none),
        cmocka_unit_test(what_is_beyond_is_moved),
        cmocka_unit_test(limits_go_where_models_go),
        cmocka_unit_test(files_come_back_to_the_same_bits),
        cmocka_unit_test(limits_survive_torture),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
