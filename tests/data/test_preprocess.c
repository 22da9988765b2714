#include "base/random.h"
#include "data/files.h"
#include "data/names.h"
#include "data/preprocess.h"

static const char table[] =
    "task,y,a,b\n1,2,1,10\n1,4,3,10\n1,6,8,10\n2,5,0,0\n2,9,2,-4\n";

static bb_dataset dense(void) {
    bb_dataset data;
    assert_ok(read_text("t.csv", table, NULL, &data));
    return data;
}

static bb_dataset sparse(void) {
    bb_dataset data;
    assert_ok(
        read_text("t.svm", "1 qid:1 1:3 3:-4\n2 qid:1\n3 qid:2 2:7\n", NULL, &data));
    return data;
}

static bb_dataset apply(const bb_preprocess_options *options, const bb_dataset *data) {
    bb_preprocess p;
    bb_dataset out;
    assert_ok(bb_preprocess_open(&p, options, data));
    assert_ok(bb_preprocess_apply(&p, data, true, &out));
    bb_preprocess_free(&p);
    return out;
}

static void nothing(void **state) {
    (void)state;
    const bb_preprocess_options options = {0};
    bb_dataset data = dense(), out = apply(&options, &data);
    assert_int_equal(out.line[4], data.line[4]);
    assert_string_equal(out.feature_name[1], "b");
    assert_rows(out, "1: 2 (1 10) 4 (3 10) 6 (8 10); 2: 5 (0 0) 9 (2 -4)");
    bb_dataset_free(&data);
}

static void constant(void **state) {
    (void)state;
    const bb_preprocess_options options = {.constant = true};
    bb_dataset data = dense(), out = apply(&options, &data);
    assert_int_equal(out.features, 3);
    assert_string_equal(out.feature_name[2], "(intercept)");
    assert_rows(out, "1: 2 (1 10 1) 4 (3 10 1) 6 (8 10 1); 2: 5 (0 0 1) 9 (2 -4 1)");
    bb_dataset_free(&data);
    data = sparse();
    out = apply(&options, &data);
    assert_string_equal(out.feature_name[3], "(intercept)");
    assert_rows(out, "1: 1 (0:3 2:-4 3:1) 2 (3:1); 2: 3 (1:7 3:1)");
    bb_dataset_free(&data);
}

static void unit_rows(void **state) {
    (void)state;
    const bb_preprocess_options options = {.standardize = BB_STANDARDIZE_UNIT_ROWS};
    bb_dataset data = sparse(), out = apply(&options, &data);
    assert_rows(out, "1: 1 (0:0.6 2:-0.8) 2 (); 2: 3 (1:1)");
    bb_dataset_free(&data);
    data = dense();
    data.x[0] = 3e-200; /* squares that underflow or overflow do no harm */
    data.x[1] = 4e-200;
    data.x[2] = 3e200;
    data.x[3] = -4e200;
    out = apply(&options, &data);
    assert_close(out.x[0], 0.6, 1e-15);
    assert_close(out.x[1], 0.8, 1e-15);
    assert_close(out.x[2], 0.6, 1e-15);
    assert_close(out.x[3], -0.8, 1e-15);
    assert_true(out.x[6] == 0 && out.x[7] == 0); /* a zero row stays */
    bb_dataset_free(&out);
    const bb_preprocess_options with = {.standardize = BB_STANDARDIZE_UNIT_ROWS,
                                        .constant = true};
    out = apply(&with, &data);
    assert_true(out.x[9] == 0 && out.x[10] == 0 && out.x[11] == 1);
    bb_dataset_free(&out);
    bb_dataset_free(&data);
}

/* z-scores of the task's own training rows, n - 1; constant columns become 0. */
static void own_scores(void **state) {
    (void)state;
    const bb_preprocess_options options = {.standardize = BB_STANDARDIZE_TASK,
                                           .constant = true};
    bb_dataset data = dense(), other, out;
    bb_preprocess p;
    assert_ok(bb_preprocess_open(&p, &options, &data));
    assert_ok(bb_preprocess_apply(&p, &data, true, &out));
    const double sd = sqrt((9 + 1 + 16) / 2.0); /* of 1, 3, 8 around 4 */
    assert_close(out.x[0], -3 / sd, 1e-15);
    assert_close(out.x[3], -1 / sd, 1e-15);
    assert_close(out.x[6], 4 / sd, 1e-15);
    assert_true(out.x[1] == 0 && out.x[4] == 0 && out.x[7] == 0);
    assert_true(out.x[2] == 1 && out.x[14] == 1);
    assert_close(out.x[9], -sqrt(0.5), 1e-15);
    assert_close(out.x[10], sqrt(0.5), 1e-15);
    bb_dataset_free(&out);
    /* other rows by the training rows' scores */
    assert_ok(read_text("t.csv", "task,y,a,b\n1,0,4,11\n2,0,1,-2\n", NULL, &other));
    assert_ok(bb_preprocess_apply(&p, &other, false, &out));
    assert_rows(out, "1: 0 (0 0 1); 2: 0 (0 0 1)");
    bb_preprocess_free(&p);
    bb_dataset_free(&other);
    bb_dataset_free(&data);
}

/* A constant column whose mean is rounded, and a task of a single row. */
static void constant_columns(void **state) {
    (void)state;
    const bb_preprocess_options options = {.standardize = BB_STANDARDIZE_TASK};
    bb_dataset data, out;
    assert_ok(read_text("t.csv", "task,y,a\n1,0,0.1\n1,0,0.1\n1,0,0.1\n2,0,5\n", NULL,
                        &data));
    out = apply(&options, &data);
    assert_rows(out, "1: 0 (0) 0 (0) 0 (0); 2: 0 (0)");
    bb_dataset_free(&data);
}

static char name_a[] = "a", name_b[] = "b";
static char *const names_ba[] = {name_b, name_a};

static bb_ranges some_ranges(void) {
    static bb_range column[] = {{-10, 10}, {0, 4}};
    return (bb_ranges){.count = 2,
                       .name = (char **)(uintptr_t)names_ba,
                       .column = column,
                       .has_target = true,
                       .target = {0, 8}};
}

/* What a range cuts to its border is constant, though the mean of ten equal numbers is
 * rounded; what hardly varies counts as varying by a twentieth of half the range. */
static void scores_within_ranges(void **state) {
    (void)state;
    const bb_ranges scale = some_ranges();
    const bb_preprocess_options options = {.standardize = BB_STANDARDIZE_TASK,
                                           .scale = &scale};
    static const char text[] = "task,y,a,b\n1,0,5,2\n1,0,6,2.02\n1,0,7,2\n1,0,8,2.02\n"
                               "1,0,9,2\n1,0,8,2.02\n1,0,7,2\n1,0,6,2.02\n1,0,5,2\n"
                               "1,0,9,2.02\n2,0,0,-10\n2,0,4,10\n";
    bb_dataset data, out;
    assert_ok(read_text("t.csv", text, NULL, &data));
    out = apply(&options, &data);
    for (size_t j = 0; j < 10; j++) {
        assert_true(out.x[2 * j] == 0);
        assert_close(out.x[2 * j + 1], (j % 2 ? 0.001 : -0.001) / 0.05, 1e-12);
    }
    assert_close(out.x[20], -sqrt(0.5), 1e-15);
    assert_close(out.x[23], sqrt(0.5), 1e-15);
    bb_dataset_free(&out);
    bb_dataset_free(&data);
}

/* The least power of ten that is no less than any number, the task's own; rows in the
 * unit ball. */
static void magnitudes(void **state) {
    (void)state;
    const bb_preprocess_options options = {.standardize = BB_STANDARDIZE_MAGNITUDE,
                                           .constant = true,
                                           .scale_target = true};
    static const char text[] = "task,y,a,b\n1,-40,1000,0\n1,2,-3,0\n"
                               "2,0,0.02,1e-320\n2,0,0.1,0\n3,100,1001,5\n";
    bb_dataset data, out, other;
    bb_preprocess p;
    assert_ok(read_text("t.csv", text, NULL, &data));
    assert_ok(bb_preprocess_open(&p, &options, &data));
    assert_true(bb_preprocess_is_own(&p) && bb_preprocess_can_fold(&p));
    assert_ok(bb_preprocess_apply(&p, &data, true, &out));
    const double y[] = {-0.4, 0.02, 0, 0, 1}, a[] = {1, -0.003, 0.2, 1, 0.1001},
                 b[] = {0, 0, 0, 0, 0.5};
    for (size_t r = 0; r < 5; r++) {
        assert_close(out.y[r], y[r], 1e-15);
        assert_close(out.x[3 * r] * sqrt(3), a[r], 1e-15);
        assert_close(out.x[3 * r + 1] * sqrt(3), b[r], 1e-15);
        assert_close(out.x[3 * r + 2] * sqrt(3), 1, 1e-15);
    }
    bb_dataset_free(&out);
    /* other rows by the training rows' powers, with targets in their own unit */
    assert_ok(read_text("t.csv", "task,y,a,b\n1,500,5000,7\n2,0,0,0\n3,0,0,0\n", NULL,
                        &other));
    assert_ok(bb_preprocess_apply(&p, &other, false, &out));
    assert_close(out.x[0] * sqrt(3), 5, 1e-15);
    assert_true(out.x[1] == 0 && out.y[0] == 500);
    /* a model for the raw columns says what it said for the prepared ones */
    double w[] = {0.3, -0.2, 0.1}, b0 = 0.05, said = b0;
    for (size_t k = 0; k < 3; k++) said += w[k] * out.x[k];
    bb_preprocess_fold(&p, 0, w, &b0);
    bb_preprocess_fold_columns(&p, w, &b0);
    assert_close(w[0] * 5000 + w[1] * 7 + w[2] + b0, 100 * said, 1e-12);
    bb_dataset_free(&out);
    bb_dataset_free(&other);
    bb_preprocess_free(&p);
    bb_dataset_free(&data);
    /* sparse rows: divided by their norm */
    data = sparse();
    data.y[0] = -30;
    out = apply(&(bb_preprocess_options){.standardize = BB_STANDARDIZE_MAGNITUDE,
                                         .scale_target = true},
                &data);
    assert_rows(out, "1: -0.3 (0:0.6 2:-0.8) 0.02 (); 2: 0.3 (1:1)");
    bb_dataset_free(&data);
}

/* Numbers that differ in their last digits only are looked at from their mean, but few rows do
 * not say by how much they differ, and the model for what was read knows. */
static void narrow_columns(void **state) {
    (void)state;
    const bb_preprocess_options options = {.standardize = BB_STANDARDIZE_MAGNITUDE,
                                           .constant = true,
                                           .scale_target = true};
    enum { MANY = 32 };
    bb_dataset data, out;
    bb_preprocess p;
    char text[1200] =
        "task,y,t,same\n2,1,1800,3\n2,3,1900,4\n3,1,54926,3\n3,3,54927,4\n";
    for (int j = 0; j < MANY; j++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "1,%d,%d,7e8\n", j % 2 ? 2 : 4,
                 1700000000 + 20 * (j % 4));
    }
    assert_ok(read_text("t.csv", text, NULL, &data));
    assert_ok(bb_preprocess_open(&p, &options, &data));
    assert_ok(bb_preprocess_apply(&p, &data, true, &out));
    const double t[] = {-0.3, -0.1, 0.1, 0.3, 0.18, 0.19, -5e-6, 5e-6};
    const double same[] = {0.7, 0.7, 0.7, 0.7, 0.3, 0.4, 0.3, 0.4};
    for (size_t k = 0; k < 8; k++) {
        const size_t r = k < 4 ? k : k + MANY - 4;
        assert_close(out.x[3 * r] * sqrt(3), t[k], 1e-15);
        assert_close(out.x[3 * r + 1] * sqrt(3), same[k], 1e-15);
    }
    for (size_t i = 0; i < 3; i++) {
        const size_t r = data.first[i];
        double w[] = {0.3, -0.2, 0.1}, b = 0.05, said = b;
        for (size_t k = 0; k < 3; k++) said += w[k] * out.x[3 * r + k];
        bb_preprocess_fold(&p, i, w, &b);
        bb_preprocess_fold_columns(&p, w, &b);
        const double found = w[0] * data.x[2 * r] + w[1] * data.x[2 * r + 1] + w[2] + b;
        assert_close(found, 10 * said, 1e-7);
    }
    /* several outputs: the constant takes the mean up */
    double W[] = {0.3, -0.3, -0.2, 0.2, 0.1, -0.1}, said[2] = {0, 0}, found[2] = {0, 0};
    for (size_t k = 0; k < 3; k++)
        for (size_t c = 0; c < 2; c++) said[c] += W[2 * k + c] * out.x[k];
    bb_preprocess_fold_outputs(&p, 0, 2, W);
    for (size_t c = 0; c < 2; c++) {
        found[c] = W[c] * data.x[0] + W[2 + c] * data.x[1] + W[4 + c];
        assert_close(found[c] / sqrt(3), said[c], 1e-7);
    }
    bb_dataset_free(&out);
    bb_preprocess_free(&p);
    bb_dataset_free(&data);
}

/* Whether another task has narrow columns changes nothing, not even where numbers overflow. */
static void narrow_columns_of_others(void **state) {
    (void)state;
    const bb_preprocess_options options = {.standardize = BB_STANDARDIZE_MAGNITUDE,
                                           .constant = true};
    double w[2][3], b[2], W[2][6];
    for (int other = 0; other < 2; other++) {
        char text[300];
        const double step = other ? 1.0 : 1e6;
        bb_dataset data;
        bb_preprocess p;
        snprintf(text, sizeof text,
                 "task,y,a,b\n1,1,1e-300,3\n1,2,2e-300,1\n"
                 "2,1,%.0f,1\n2,2,%.0f,2\n2,3,%.0f,3\n2,4,%.0f,4\n",
                 1e9, 1e9 + step, 1e9 + 2 * step, 1e9 + 3 * step);
        assert_ok(read_text("o.csv", text, NULL, &data));
        assert_ok(bb_preprocess_open(&p, &options, &data));
        assert_int_equal(p.mean != NULL, other);
        memcpy(w[other], (double[]){1e200, -0.0, 1}, sizeof w[other]);
        memcpy(W[other], (double[]){1e200, -1e200, 0, -0.0, 1, -0.0}, sizeof W[other]);
        b[other] = -0.0;
        bb_preprocess_fold(&p, 0, w[other], &b[other]);
        bb_preprocess_fold_outputs(&p, 0, 2, W[other]);
        bb_preprocess_free(&p);
        bb_dataset_free(&data);
    }
    assert_true(isinf(w[0][0]));
    assert_memory_equal(w[0], w[1], sizeof w[0]);
    assert_memory_equal(&b[0], &b[1], sizeof b[0]);
    assert_memory_equal(W[0], W[1], sizeof W[0]);
}

/* Columns of zeros are left to whoever finds units in common, and binary ones are in their
 * range then. */
static void columns_of_zeros(void **state) {
    (void)state;
    for (int units = 0; units < 2; units++) {
        const bb_preprocess_options options = {.standardize = BB_STANDARDIZE_MAGNITUDE,
                                               .constant = true,
                                               .units = units == 1};
        double w[] = {1, 1, 1}, b = 0;
        bb_dataset data;
        bb_preprocess p;
        assert_ok(
            read_text("z.csv", "task,y,money,flag\n1,4,0,0\n1,2,0,0\n", NULL, &data));
        data.binary = 1;
        assert_ok(bb_preprocess_open(&p, &options, &data));
        bb_preprocess_fold(&p, 0, w, &b);
        assert_true(w[0] == units && w[1] == units && w[2] == 1);
        assert_true(!bb_preprocess_has_range(&p, 0));
        assert_true(bb_preprocess_has_range(&p, 1) == (units == 1));
        bb_preprocess_free(&p);
        bb_dataset_free(&data);
    }
}

/* A column that has a range is in it, and a target; the others are in powers of ten. Models for
 * rows as they were read say the same, also from what a folder of models says. */
static void some_ranges_are_open(void **state) {
    (void)state;
    bb_ranges scale = some_ranges();
    scale.count = 1;
    scale.has_others = true;
    scale.others = (bb_range){-INFINITY, INFINITY};
    const bb_preprocess_options options = {.standardize = BB_STANDARDIZE_MAGNITUDE,
                                           .scale = &scale,
                                           .scale_target = true,
                                           .constant = true,
                                           .units = true};
    bb_dataset data = dense(), out, again;
    bb_preprocess p, parsed;
    assert_ok(bb_preprocess_open(&p, &options, &data));
    const size_t open = bb_preprocess_has_range(&p, 0);
    assert_true(bb_preprocess_has_range(&p, 1) == !open);
    assert_true(p.has_target && !p.target_unit && bb_preprocess_is_own(&p));
    assert_ok(bb_preprocess_apply(&p, &data, true, &out));
    bb_dataset all =
        apply(&(bb_preprocess_options){.scale = &(bb_ranges){.count = 1,
                                                             .name = scale.name,
                                                             .column = scale.column,
                                                             .has_others = true,
                                                             .others = {-1000, 1000}},
                                       .constant = true},
              &data);
    json_t *const json = bb_preprocess_json(&p);
    assert_ok(bb_preprocess_parse(&parsed, json, "again", 2, p.name));
    json_decref(json);
    parsed.folded = true;
    assert_ok(bb_preprocess_apply(&parsed, &data, false, &again));
    for (size_t i = 0; i < data.tasks; i++)
        for (size_t r = data.first[i]; r < data.first[i + 1]; r++) {
            double w[] = {0.3, -0.2, 0.1}, b = 0, said = 0, found = 0;
            const double moved = out.x[3 * r + open] * sqrt(3);
            assert_close(out.x[3 * r + !open], all.x[3 * r + !open], 1e-15);
            assert_true(fabs(moved) <= 1 && moved * data.x[2 * r + open] >= 0);
            for (size_t k = 0; k < 3; k++) said += w[k] * out.x[3 * r + k];
            bb_preprocess_fold(&p, i, w, &b);
            bb_preprocess_fold_columns(&p, w, &b);
            for (size_t k = 0; k < 3; k++) found += w[k] * again.x[3 * r + k];
            assert_close(found + b, bb_preprocess_target(&p, i, said), 1e-12);
        }
    bb_dataset_free(&again);
    bb_dataset_free(&all);
    bb_dataset_free(&out);
    bb_preprocess_free(&parsed);
    bb_preprocess_free(&p);
    bb_dataset_free(&data);
}

/* Clamped, mapped to [-1, 1], and inside the unit ball. */
static void ranges(void **state) {
    (void)state;
    const bb_ranges scale = some_ranges();
    const bb_preprocess_options options = {.scale = &scale, .scale_target = true};
    const bb_preprocess_options with = {.scale = &scale, .constant = true};
    bb_dataset data = dense(), out = apply(&options, &data);
    const double a[] = {-0.5, 0.5, 1, -1, 0}, b[] = {1, 1, 1, 0, -0.4};
    const double y[] = {-0.5, 0, 0.5, 0.25, 1};
    for (size_t r = 0; r < 5; r++) {
        assert_close(out.x[2 * r], a[r] / sqrt(2), 1e-15);
        assert_close(out.x[2 * r + 1], b[r] / sqrt(2), 1e-15);
        assert_close(out.y[r], y[r], 1e-15);
    }
    /* a column that is not named has the others' range */
    bb_ranges others = some_ranges();
    others.count = 1;
    others.has_others = true;
    others.others = scale.column[1];
    bb_dataset same = apply(&(bb_preprocess_options){.scale = &others}, &data);
    assert_memory_equal(same.x, out.x, 10 * sizeof *out.x);
    bb_dataset_free(&same);
    bb_dataset_free(&out);
    out = apply(&with, &data);
    for (size_t r = 0; r < 5; r++) {
        assert_close(out.x[3 * r], a[r] / sqrt(3), 1e-15);
        assert_close(out.x[3 * r + 1], b[r] / sqrt(3), 1e-15);
        assert_close(out.x[3 * r + 2], 1 / sqrt(3), 1e-15);
        assert_true(out.y[r] == data.y[r]); /* not asked for */
    }
    bb_dataset_free(&out);
    const bb_preprocess_options unit = {.standardize = BB_STANDARDIZE_UNIT_ROWS,
                                        .scale = &scale};
    out = apply(&unit, &data);
    assert_close(out.x[0], -0.5 / sqrt(1.25), 1e-15);
    bb_dataset_free(&out);
    bb_dataset_free(&data);
}

static double predict(const double *w, double b, const double *x, size_t width) {
    for (size_t k = 0; k < width; k++) b += w[k] * x[k];
    return b;
}

/* A folded model on publicly prepared rows predicts, in the target's unit, what the
 * learnt model predicts on the rows it learnt from; for every combination of options,
 * and also through JSON. */
static void folded_models(void **state) {
    (void)state;
    const bb_ranges scale = some_ranges();
    bb_dataset data = dense();
    bb_random random;
    assert_ok(bb_random_open_stream(&random, 5, BB_FOR_TEST, 0, 0));
    for (int i = 0; i < 24; i++) {
        const bb_preprocess_options options = {.standardize = (bb_standardize)(i % 3),
                                               .constant = i / 3 % 2,
                                               .scale = i / 6 % 2 ? &scale : NULL,
                                               .scale_target = i / 12 % 2};
        bb_preprocess p, parsed;
        bb_dataset learnt, rows;
        assert_ok(bb_preprocess_open(&p, &options, &data));
        json_t *const json = bb_preprocess_json(&p);
        assert_non_null(json);
        assert_ok(bb_preprocess_parse(&parsed, json, "m.json", 2, data.feature_name));
        json_decref(json);
        assert_int_equal(parsed.width, p.width);
        assert_ok(bb_preprocess_apply(&p, &data, true, &learnt));
        assert_ok(bb_preprocess_apply(&parsed, &data, false, &rows));
        assert_memory_equal(rows.y, data.y, data.rows * sizeof *data.y);
        for (size_t task = 0; task < 2; task++) {
            double w[3], b = bb_random_normal(&random);
            for (size_t k = 0; k < p.width; k++) w[k] = bb_random_normal(&random);
            double expected[3];
            const size_t begin = data.first[task], n = data.first[task + 1] - begin;
            for (size_t j = 0; j < n; j++) {
                expected[j] = predict(w, b, learnt.x + (begin + j) * p.width, p.width);
                if (options.scale && options.scale_target)
                    expected[j] = 4 * (expected[j] + 1); /* [-1, 1] to [0, 8] */
            }
            bb_preprocess_fold(&p, task, w, &b);
            for (size_t j = 0; j < n; j++)
                assert_close(predict(w, b, rows.x + (begin + j) * p.width, p.width),
                             expected[j], 1e-12);
        }
        bb_dataset_free(&learnt);
        bb_dataset_free(&rows);
        bb_preprocess_free(&p);
        bb_preprocess_free(&parsed);
    }
    bb_random_close(&random);
    bb_dataset_free(&data);
}

/* A missing number is the middle of its range, and 0 without one, also after folding and through
 * JSON; a column of the file that is only called so says nothing. */
static void missing_numbers(void **state) {
    (void)state;
    char *const named[] = {(char[]){"a"}, (char[]){"b"}, (char[]){"b_missing"}};
    bb_range column[] = {{60, 250}, {-INFINITY, INFINITY}, {0, 1}};
    const bb_ranges scale = {.count = 3, .name = (char **)named, .column = column};
    const bb_preprocess_options options = {.constant = true,
                                           .scale = &scale,
                                           .scale_source = "s.json",
                                           .indicators = true};
    const bb_read_options read = {.missing = "indicator"};
    bb_dataset data, out, again;
    bb_preprocess p, parsed;
    assert_ok(read_text("t.csv",
                        "task,y,a,b,b_missing\n1,2,,,1\n1,4,155,3,1\n1,4,60,,0\n",
                        &read, &data));
    assert_string_equal(data.feature_name[3], "a_missing");
    assert_ok(bb_preprocess_open(&p, &options, &data));
    assert_ok(bb_preprocess_apply(&p, &data, true, &out));
    const double a[] = {0, 0, -1}, b[] = {0, 3, 0}, folded[] = {155, 155, 60};
    json_t *const json = bb_preprocess_json(&p);
    const json_t *const told = json_object_get(json, "missing");
    assert_int_equal(json_object_size(told), 2); /* that of b says nothing */
    assert_string_equal(json_string_value(json_object_get(told, "a")), "a_missing");
    assert_ok(
        bb_preprocess_parse(&parsed, json, "m.json", data.features, data.feature_name));
    json_decref(json);
    parsed.folded = true;
    assert_ok(bb_preprocess_apply(&parsed, &data, false, &again));
    for (size_t r = 0; r < 3; r++) {
        assert_close(out.x[r * p.width] * sqrt((double)p.width), a[r], 1e-15);
        assert_close(out.x[r * p.width + 1] * sqrt((double)p.width), b[r], 1e-15);
        assert_close(again.x[r * p.width], folded[r], 1e-12);
    }
    bb_dataset_free(&again);
    bb_dataset_free(&out);
    bb_preprocess_free(&parsed);
    bb_preprocess_free(&p);
    bb_dataset_free(&data);
}

/* A level whose text ends like the name of such a column is none. */
static void a_level_tells_of_nothing(void **state) {
    (void)state;
    const bb_ranges scale = {.has_others = true, .others = {60, 250}};
    const bb_preprocess_options options = {
        .scale = &scale, .scale_source = "s.json", .indicators = true};
    bb_read_options read = {.categories = "{\"c\": [\"foo\", \"foo_missing\"]}"};
    bb_dataset data;
    for (int missing = 0; missing < 2; missing++) {
        bb_preprocess p;
        read.missing = missing ? "indicator" : NULL;
        assert_ok(
            read_text("t.csv", "task,y,a,c\n1,2,155,foo_missing\n", &read, &data));
        assert_ok(bb_preprocess_open(&p, &options, &data));
        assert_true(!p.told || (p.told[1] == 0 && p.told[2] == 0));
        assert_int_equal(p.told ? p.told[0] : 0, missing ? 3 : 0);
        bb_preprocess_free(&p);
        bb_dataset_free(&data);
    }
}

/* The same of two outputs, as far as they have it. */
static void folded_outputs(void **state) {
    (void)state;
    static const bb_standardize own[] = {BB_STANDARDIZE_TASK, BB_STANDARDIZE_MAGNITUDE};
    bb_dataset data = dense();
    for (int i = 0; i < 3; i++) { /* without a constant powers of ten alone */
        const bb_preprocess_options options = {.standardize = own[i > 0],
                                               .constant = i < 2};
        bb_preprocess p, parsed;
        bb_dataset learnt, rows;
        assert_ok(bb_preprocess_open(&p, &options, &data));
        json_t *const json = bb_preprocess_json(&p);
        assert_ok(bb_preprocess_parse(&parsed, json, "m.json", 2, data.feature_name));
        json_decref(json);
        assert_ok(bb_preprocess_apply(&p, &data, false, &learnt));
        assert_ok(bb_preprocess_apply(&parsed, &data, false, &rows));
        for (size_t r = 0, task = 0; r < data.rows; r++) {
            double W[6] = {0.5, -1, 2, 0.3, -0.7, 1.1}, expected[2] = {0}, z[2] = {0};
            while (r >= data.first[task + 1]) task++;
            for (size_t k = 0; k < 2 * p.width; k++)
                expected[k % 2] += W[k] * learnt.x[r * p.width + k / 2];
            bb_preprocess_fold_outputs(&p, task, 2, W);
            for (size_t k = 0; k < 2 * p.width; k++)
                z[k % 2] += W[k] * rows.x[r * p.width + k / 2];
            assert_close(z[0], expected[0], 1e-12);
            assert_close(z[1], expected[1], 1e-12);
        }
        bb_dataset_free(&learnt);
        bb_dataset_free(&rows);
        bb_preprocess_free(&p);
        bb_preprocess_free(&parsed);
    }
    bb_dataset_free(&data);
}

/* With ranges and without unit rows, a model for the columns as they are: the same
 * predictions of rows that were only moved to where the ranges reach. */
static void models_for_raw_columns(void **state) {
    (void)state;
    bb_ranges scale = some_ranges();
    bb_dataset data = dense();
    bb_random random;
    assert_ok(bb_random_open_stream(&random, 6, BB_FOR_TEST, 0, 0));
    for (int i = 0; i < 16; i++) {
        const double reach = i / 8 ? 1.5 : 1, low = 2 - 2 * reach, high = 2 + 2 * reach;
        const bb_preprocess_options options = {
            .standardize = i % 2 ? BB_STANDARDIZE_TASK : BB_STANDARDIZE_NONE,
            .constant = i / 2 % 2,
            .scale = &scale,
            .reach = i / 8 ? reach : 0};
        bb_preprocess p;
        bb_dataset learnt, rows;
        scale.column[0].low = i / 4 % 2 ? 10 : -10; /* one without a length, too */
        const double most = scale.column[0].low < 0 ? 10 * reach : 10,
                     least = scale.column[0].low < 0 ? -most : 10;
        assert_ok(bb_preprocess_open(&p, &options, &data));
        assert_ok(bb_preprocess_apply(&p, &data, true, &learnt));
        for (size_t task = 0; task < 2; task++) {
            double w[3], b = bb_random_normal(&random), expected[3];
            const size_t begin = data.first[task], n = data.first[task + 1] - begin;
            for (size_t k = 0; k < p.width; k++) w[k] = bb_random_normal(&random);
            for (size_t j = 0; j < n; j++)
                expected[j] = predict(w, b, learnt.x + (begin + j) * p.width, p.width);
            bb_preprocess_fold(&p, task, w, &b);
            bb_preprocess_fold_columns(&p, w, &b);
            if (p.constant) b += w[2];
            for (size_t j = 0; j < n; j++) {
                const double x[] = {
                    fmin(fmax(data.x[2 * (begin + j)], low), high),
                    fmin(fmax(data.x[2 * (begin + j) + 1], least), most)};
                assert_close(predict(w, b, x, 2), expected[j], 1e-12);
            }
        }
        bb_preprocess open;
        json_t *json = NULL;
        p.folded = true;
        json = bb_preprocess_json(&p);
        assert_ok(bb_preprocess_parse(&open, json, "m.json", 2, data.feature_name));
        json_decref(json);
        assert_ok(bb_preprocess_apply(&open, &data, true, &rows));
        assert_close(rows.x[2 * rows.features], fmin(data.x[4], high), 0.0);
        assert_close(rows.x[0], 1, 0.0);
        bb_dataset_free(&rows);
        bb_dataset_free(&learnt);
        bb_preprocess_free(&open);
        bb_preprocess_free(&p);
    }
    scale.column[0].low = -10;
    bb_random_close(&random);
    bb_dataset_free(&data);
}

static void messages(void **state) {
    (void)state;
    bb_ranges scale = some_ranges();
    scale.count = 1;
    const bb_preprocess_options scaled = {.scale = &scale, .scale_source = "s.json"},
                                task = {.standardize = BB_STANDARDIZE_TASK},
                                constant = {.constant = true}, none = {0};
    bb_preprocess p;
    bb_dataset data = dense();
    assert_message(
        bb_preprocess_open(&p, &scaled, &data), BB_EDATA,
        "s.json: no range is given for column \"a\": give one, or \"others\": "
        "\"open\" where nobody knows it");
    bb_dataset_free(&data);
    data = sparse();
    assert_message(bb_preprocess_open(&p, &scaled, &data), BB_EUSAGE,
                   "--scale would fill the zeros of sparse data; use --standardize "
                   "unit-rows");
    assert_message(bb_preprocess_open(&p, &task, &data), BB_EUSAGE,
                   "--standardize task would fill the zeros of sparse data; use "
                   "--standardize unit-rows");
    bb_dataset_free(&data);
    assert_ok(read_text("t.csv", "task,y,(intercept)\n1,2,3\n", NULL, &data));
    assert_message(bb_preprocess_open(&p, &constant, &data), BB_EDATA,
                   "a column has the constant's name, \"(intercept)\"");
    assert_message(bb_preprocess_open(&p, &none, &data), BB_EDATA,
                   "a column has the constant's name, \"(intercept)\"");
    bb_dataset_free(&data);
}

static void bad_json(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"{}", "m.json: \"rows\": expected \"plain\", \"unit-ball\" or \"unit-norm\""},
        {"[1]", "m.json: \"rows\": expected \"plain\", \"unit-ball\" or \"unit-norm\""},
        {"{\"rows\": \"plain\"}", "m.json: \"constant\": expected true or false"},
        {"{\"rows\": \"plain\", \"constant\": true}",
         "m.json: \"scale\": expected ranges or null"},
        {"{\"rows\": \"plain\", \"constant\": true, \"scale\": 5}",
         "m.json: expected a JSON object with \"columns\""},
        {"{\"rows\": \"plain\", \"constant\": true, \"scale\": {\"columns\": {}}}",
         "m.json: no range is given for column \"b\": give one, or \"others\": "
         "\"open\" where nobody knows it"},
        {"{\"rows\": \"unit-norm\", \"constant\": true, \"scale\": {\"others\": 1}, "
         "\"folded\": true}",
         "m.json: \"folded\": expected only with \"scale\" or \"rows\": \"unit-ball\", "
         "and not with \"unit-norm\""},
        {"{\"rows\": \"plain\", \"constant\": true, \"scale\": null, \"folded\": true}",
         "m.json: \"folded\": expected only with \"scale\" or \"rows\": \"unit-ball\", "
         "and not with \"unit-norm\""},
        {"{\"rows\": \"plain\", \"constant\": true, \"scale\": {\"others\": 1}, "
         "\"missing\": {\"b\": \"c\"}}",
         "m.json: \"missing\": expected names of features"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bb_preprocess p;
        json_t *const json = json_loads(bad[i].text, 0, NULL);
        assert_non_null(json);
        assert_message(bb_preprocess_parse(&p, json, "m.json", 2, names_ba), BB_EDATA,
                       bad[i].message);
        json_decref(json);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing),
        cmocka_unit_test(constant),
        cmocka_unit_test(unit_rows),
        cmocka_unit_test(own_scores),
        cmocka_unit_test(constant_columns),
        cmocka_unit_test(scores_within_ranges),
        cmocka_unit_test(magnitudes),
        cmocka_unit_test(narrow_columns),
        cmocka_unit_test(narrow_columns_of_others),
        cmocka_unit_test(columns_of_zeros),
        cmocka_unit_test(some_ranges_are_open),
        cmocka_unit_test(ranges),
        cmocka_unit_test(folded_models),
        cmocka_unit_test(missing_numbers),
        cmocka_unit_test(a_level_tells_of_nothing),
        cmocka_unit_test(folded_outputs),
        cmocka_unit_test(models_for_raw_columns),
        cmocka_unit_test(messages),
        cmocka_unit_test(bad_json),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
