/* Metrics of classes and labels, and what not learning reaches. */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "eval/assess.h"
#include "eval_world.h"
#include "test.h"
#include "torture.h"

#include <float.h>

enum { CLASSES = 9, TASKS = 12 };

/* World's rows with a class each, and 0 to 4 labels that are not evenly frequent. */
static bb_dataset make_rows(uint64_t seed, size_t most) {
    bb_dataset data = world_make(seed, TASKS, 3, most, false, false);
    bb_random random;
    size_t used = 0;
    assert_ok(bb_random_open_stream(&random, seed, BB_FOR_TEST, 3, 0));
    assert_ok(bb_allocate(&data.label_first, data.rows + 1, sizeof(size_t), "test"));
    assert_ok(bb_allocate(&data.label, data.rows * 4, sizeof(uint32_t), "test"));
    data.labels = CLASSES;
    for (size_t j = 0; j < data.rows; j++) {
        const size_t a = bb_random_below(&random, CLASSES);
        data.y[j] = (double)(a * bb_random_below(&random, 3) % CLASSES);
        for (uint32_t c = 0; c < CLASSES && used < 4 * (j + 1); c++)
            if (bb_random_below(&random, 3 + 2 * c) == 0) data.label[used++] = c;
        data.label_first[j + 1] = used;
    }
    bb_random_close(&random);
    return data;
}

static void free_rows(bb_dataset *data) {
    free(data->label_first);
    free(data->label);
    data->label_first = NULL;
    data->label = NULL;
    bb_dataset_free(data);
}

static bool has_label(const bb_dataset *data, size_t j, size_t c) {
    for (size_t k = data->label_first[j]; k < data->label_first[j + 1]; k++)
        if (data->label[k] == c) return true;
    return false;
}

/* Outputs with many ties. */
static void draw(bb_random *random, double z[CLASSES]) {
    for (size_t c = 0; c < CLASSES; c++)
        z[c] = round(3.0 * bb_random_normal(random)) / 2.0;
}

/* How many outputs are ahead of c: larger, or as large and earlier. */
static size_t ahead(const double *z, size_t c) {
    size_t count = 0;
    for (size_t k = 0; k < CLASSES; k++)
        count += z[k] > z[c] || (z[k] == z[c] && k < c);
    return count;
}

static void classes_equal_their_twin(void **state) {
    (void)state;
    bb_dataset data = make_rows(1, 20);
    bb_hits hits[TASKS] = {{0}};
    bb_random random;
    double right = 0.0, loss = 0.0;
    size_t tasks = 0;
    assert_ok(bb_random_open_stream(&random, 1, BB_FOR_TEST, 4, 0));
    for (size_t i = 0; i < TASKS; i++) {
        double own = 0.0, count = 0.0;
        for (size_t j = data.first[i]; j < data.first[i + 1]; j++) {
            double z[CLASSES], sum = 0.0;
            const size_t y = (size_t)data.y[j];
            draw(&random, z);
            bb_hits_add(&hits[i], BB_LOSS_SOFTMAX, CLASSES, &data, j, z);
            for (size_t c = 0; c < CLASSES; c++) sum += exp(z[c]);
            loss += log(sum) - z[y];
            own += ahead(z, y) == 0;
            count += 1.0;
        }
        if (count > 0.0)
            assert_close(bb_hits_figure(BB_LOSS_SOFTMAX, &hits[i]), own / count, 0.0);
        else
            assert_true(isnan(bb_hits_figure(BB_LOSS_SOFTMAX, &hits[i])));
        tasks += count > 0.0;
        right += own;
    }
    const bb_metrics m = bb_hits_metrics(BB_LOSS_SOFTMAX, TASKS, hits);
    assert_int_equal(m.rows, data.rows);
    assert_int_equal(m.tasks, tasks);
    assert_int_equal(m.without_rows, TASKS - tasks);
    assert_close(m.accuracy, right / (double)data.rows, 1e-15);
    assert_relative(m.log_loss, loss / (double)data.rows, 1e-13);
    assert_true(isnan(m.nmse) && isnan(m.auc) && isnan(m.f1) && isnan(m.recall_at_5));
    bb_random_close(&random);
    free_rows(&data);
}

static void labels_equal_their_twin(void **state) {
    (void)state;
    bb_dataset data = make_rows(2, 20);
    bb_hits hits[TASKS] = {{0}};
    bb_random random;
    double hit = 0, wrong = 0, missed = 0, early = 0, loss = 0.0;
    assert_ok(bb_random_open_stream(&random, 2, BB_FOR_TEST, 4, 0));
    for (size_t i = 0; i < TASKS; i++) {
        double a = 0, b = 0, n = 0;
        for (size_t j = data.first[i]; j < data.first[i + 1]; j++) {
            double z[CLASSES];
            draw(&random, z);
            bb_hits_add(&hits[i], BB_LOSS_MULTILABEL, CLASSES, &data, j, z);
            for (size_t c = 0; c < CLASSES; c++) {
                const bool there = has_label(&data, j, c);
                a += there && z[c] > 0.0;
                b += !there && z[c] > 0.0;
                n += there && !(z[c] > 0.0);
                early += there && ahead(z, c) < 5;
                loss += log(1.0 + exp(there ? -z[c] : z[c]));
            }
        }
        if (a + b + n > 0)
            assert_close(bb_hits_figure(BB_LOSS_MULTILABEL, &hits[i]),
                         2 * a / (2 * a + b + n), 1e-15);
        else
            assert_true(isnan(bb_hits_figure(BB_LOSS_MULTILABEL, &hits[i])));
        hit += a, wrong += b, missed += n;
    }
    const bb_metrics m = bb_hits_metrics(BB_LOSS_MULTILABEL, TASKS, hits);
    assert_close(m.precision, hit / (hit + wrong), 1e-15);
    assert_close(m.recall, hit / (hit + missed), 1e-15);
    assert_close(m.f1, 2 / (1 / m.precision + 1 / m.recall), 1e-14);
    assert_close(m.recall_at_5, early / (hit + missed), 1e-15);
    assert_relative(m.log_loss, loss / (double)data.rows, 1e-13);
    assert_true(isnan(m.accuracy) && isnan(m.nmse) && early > hit);
    bb_random_close(&random);
    free_rows(&data);
}

/* Outputs so large that exp() is not finite, and none at all. One row far from all others costs
 * no more than -ln 2.2e-16, as in scikit-learn. */
static void extremes(void **state) {
    (void)state;
    double y[] = {1.0};
    uint32_t label[] = {0};
    size_t first[] = {0, 1};
    const bb_dataset data = {.rows = 1, .y = y, .label = label, .label_first = first};
    const double z[] = {5000.0, -5000.0};
    bb_hits t = {0};
    bb_hits_add(&t, BB_LOSS_SOFTMAX, 2, &data, 0, z);
    assert_close(t.loss, -log(DBL_EPSILON), 0.0);
    t = (bb_hits){0};
    bb_hits_add(&t, BB_LOSS_MULTILABEL, 2, &data, 0, z);
    assert_close(t.loss, 0.0, 0.0);
    assert_int_equal(t.right, 1);
    t = (bb_hits){0};
    const bb_metrics none = bb_hits_metrics(BB_LOSS_SOFTMAX, 1, &t);
    assert_true(isnan(none.accuracy) && isnan(none.log_loss) && none.without_rows == 1);
    /* rows without labels, and nothing predicted: no precision, recall or F1 */
    t.rows = 3;
    const bb_metrics m = bb_hits_metrics(BB_LOSS_MULTILABEL, 1, &t);
    assert_true(isnan(m.precision) && isnan(m.recall) && isnan(m.f1));
    assert_close(m.log_loss, 0.0, 0.0);
}

static void losses_have_names(void **state) {
    (void)state;
    const char *const name[] = {"squared", "logistic", "softmax", "multilabel"},
                      *const metric[] = {"nmse", "auc", "accuracy", "f1"};
    bb_loss loss;
    for (int k = 0; k < 4; k++) {
        assert_true(bb_loss_find(name[k], &loss) && (int)loss == k);
        assert_string_equal(bb_loss_name(loss), name[k]);
        assert_string_equal(bb_loss_metric(loss), metric[k]);
    }
    assert_false(bb_loss_find("hinge", &loss));
}

/* -- not learning
 * ------------------------------------------------------------------------ */

static void majority_by_hand(void **state) {
    (void)state;
    /* pooled: 3 x class 1, 2 x class 2, 2 x class 0; the second task has no training
     * rows, the third a tie of 0 and 2 */
    size_t first[] = {0, 3, 3, 7}, test_first[] = {0, 2, 4, 6};
    double y[] = {1, 1, 1, 2, 0, 2, 0}, test_y[] = {1, 0, 1, 2, 0, 2};
    const bb_dataset train = {.tasks = 3, .rows = 7, .first = first, .y = y},
                     test = {.tasks = 3, .rows = 6, .first = test_first, .y = test_y};
    bb_majority m;
    assert_ok(bb_metrics_majority(BB_LOSS_SOFTMAX, 3, &train, &test, &m));
    assert_true(m.there);
    assert_close(m.pooled.accuracy, 2.0 / 6.0, 1e-15);
    assert_close(m.own.accuracy, 3.0 / 6.0, 1e-15);
    assert_true(isnan(m.own.log_loss) && m.own.rows == 6 && m.own.tasks == 3);
    assert_ok(bb_metrics_majority(BB_LOSS_SQUARED, 1, &train, &test, &m));
    assert_true(!m.there && isnan(m.own.accuracy));
    double sign[] = {-1, -1, 1, 1, 1, 1, -1}, test_sign[] = {-1, -1, 1, 1, -1, 1};
    const bb_dataset a = {.tasks = 3, .rows = 7, .first = first, .y = sign},
                     b = {.tasks = 3, .rows = 6, .first = test_first, .y = test_sign};
    assert_ok(bb_metrics_majority(BB_LOSS_LOGISTIC, 1, &a, &b, &m));
    assert_close(m.pooled.accuracy, 3.0 / 6.0, 1e-15);
    assert_close(m.own.accuracy, 5.0 / 6.0, 1e-15);
    assert_true(isnan(m.own.auc));
    size_t none[] = {0, 0, 0, 0};
    const bb_dataset empty = {.tasks = 3, .first = none, .y = y};
    assert_ok(bb_metrics_majority(BB_LOSS_SOFTMAX, 3, &empty, &test, &m));
    assert_close(m.pooled.accuracy, 0.0, 0.0);
    assert_ok(bb_metrics_majority(BB_LOSS_SOFTMAX, 3, &train, &empty, &m));
    assert_true(isnan(m.pooled.accuracy) && isnan(m.own.accuracy));
}

/* The five labels that at most four others are commoner than. */
static void five_commonest(const bb_dataset *data, size_t from, size_t to,
                           bool chosen[CLASSES]) {
    double count[CLASSES] = {0};
    for (size_t j = from; j < to; j++)
        for (size_t c = 0; c < CLASSES; c++) count[c] += has_label(data, j, c);
    for (size_t c = 0; c < CLASSES; c++)
        chosen[c] = count[c] > 0.0 && ahead(count, c) < 5;
}

static void majority_of_labels_equals_its_twin(void **state) {
    (void)state;
    bb_dataset train = make_rows(5, 6), test = make_rows(6, 9);
    double hit[2] = {0}, wrong[2] = {0}, missed[2] = {0};
    bool chosen[2][CLASSES];
    bb_majority m;
    for (size_t i = 0; i < TASKS; i++) {
        five_commonest(&train, 0, train.rows, chosen[0]);
        five_commonest(&train, train.first[i], train.first[i + 1], chosen[1]);
        bool any = false;
        for (size_t c = 0; c < CLASSES; c++) any |= chosen[1][c];
        if (!any) memcpy(chosen[1], chosen[0], sizeof chosen[0]);
        for (size_t j = test.first[i]; j < test.first[i + 1]; j++)
            for (size_t c = 0; c < CLASSES; c++)
                for (int own = 0; own < 2; own++) {
                    const bool there = has_label(&test, j, c);
                    hit[own] += there && chosen[own][c];
                    wrong[own] += !there && chosen[own][c];
                    missed[own] += there && !chosen[own][c];
                }
    }
    assert_ok(bb_metrics_majority(BB_LOSS_MULTILABEL, CLASSES, &train, &test, &m));
    const bb_metrics *part[] = {&m.pooled, &m.own};
    for (int own = 0; own < 2; own++) {
        assert_close(part[own]->precision, hit[own] / (hit[own] + wrong[own]), 1e-15);
        assert_close(part[own]->recall, hit[own] / (hit[own] + missed[own]), 1e-15);
        assert_close(part[own]->f1,
                     2 * hit[own] / (2 * hit[own] + wrong[own] + missed[own]), 1e-15);
        assert_true(isnan(part[own]->log_loss));
    }
    assert_true(m.pooled.f1 != m.own.f1);
    free_rows(&train);
    free_rows(&test);
}

/* -- of models
 * --------------------------------------------------------------------------- */

static bb_models make_models(const bb_dataset *data, bb_loss loss, uint64_t seed) {
    const size_t outputs =
        loss == BB_LOSS_SOFTMAX || loss == BB_LOSS_MULTILABEL ? CLASSES : 1;
    bb_models m;
    bb_random random;
    assert_ok(bb_models_open_kind(&m, data,
                                  &(bb_model_kind){.loss = loss, .outputs = outputs}));
    assert_ok(bb_random_open_stream(&random, seed, BB_FOR_TEST, 5, 0));
    for (size_t k = 0; k < m.tasks * m.features * outputs; k++)
        m.weight[k] = bb_random_normal(&random);
    bb_random_close(&random);
    return m;
}

static void assessing_is_the_same_on_any_engine(void **state) {
    (void)state;
    bb_dataset data = make_rows(7, 90), signs = make_rows(7, 90);
    for (size_t j = 0; j < signs.rows; j++) signs.y[j] = signs.y[j] > 2.0 ? 1.0 : -1.0;
    const bb_engine engine = bb_engine_threads(3);
    for (int k = 0; k < 4; k++) {
        const bb_loss loss = (bb_loss)k;
        const bb_dataset *rows = loss == BB_LOSS_LOGISTIC ? &signs : &data;
        bb_models m = make_models(rows, loss, 1), other = make_models(rows, loss, 2);
        bb_assessed a, b, theirs;
        assert_ok(bb_assess(&m, loss, rows, NULL, &a));
        assert_ok(bb_assess(&m, loss, rows, &engine, &b));
        assert_ok(bb_assess(&other, loss, rows, NULL, &theirs));
        assert_memory_equal(&a.metrics, &b.metrics, sizeof a.metrics);
        bb_metrics alone;
        assert_ok(bb_assess_metrics(&m, loss, rows, &engine, &alone));
        assert_memory_equal(&a.metrics, &alone, sizeof alone);
        assert_memory_equal(a.figure, b.figure, TASKS * sizeof(double));
        assert_memory_equal(a.score, b.score, TASKS * sizeof(double));
        assert_int_equal(a.metrics.rows, rows->rows);
        bb_gain gain, back;
        assert_ok(bb_assessed_gain(&a, &theirs, &gain));
        assert_ok(bb_assessed_gain(&theirs, &a, &back));
        double better = 0.0, compared = 0.0;
        for (size_t i = 0; i < TASKS; i++) {
            if (isnan(a.score[i]) || isnan(theirs.score[i])) continue;
            compared += 1.0;
            better += k ? a.score[i] > theirs.score[i] : a.score[i] < theirs.score[i];
        }
        assert_int_equal(gain.tasks, (size_t)compared);
        assert_close(gain.better, better / compared, 1e-15);
        assert_close(gain.better, 1.0 - back.not_worse, 1e-15);
        bb_assessed_close(&a);
        bb_assessed_close(&b);
        bb_assessed_close(&theirs);
        bb_models_free(&m);
        bb_models_free(&other);
    }
    free_rows(&data);
    free_rows(&signs);
}

typedef struct attempted {
    const bb_models *models;
    const bb_dataset *rows;
} attempted;

static bb_status assess_once(void *context) {
    const attempted *c = context;
    bb_assessed a = {0};
    bb_majority majority;
    bb_status status = bb_assess(c->models, c->models->loss, c->rows, NULL, &a);
    if (!status)
        status = bb_metrics_majority(c->models->loss, c->models->outputs, c->rows,
                                     c->rows, &majority);
    bb_assessed_close(&a);
    return status;
}

static void assessing_survives_torture(void **state) {
    (void)state;
    bb_dataset data = make_rows(8, 5);
    for (int k = 0; k < 4; k++) {
        bb_models m = make_models(&data, (bb_loss)k, 1);
        attempted context = {&m, &data};
        assert_true(torture_memory((bb_torture){.attempt = assess_once,
                                                .context = &context}) >= 5);
        bb_models_free(&m);
    }
    free_rows(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_equal_their_twin),
        cmocka_unit_test(labels_equal_their_twin),
        cmocka_unit_test(extremes),
        cmocka_unit_test(losses_have_names),
        cmocka_unit_test(majority_by_hand),
        cmocka_unit_test(majority_of_labels_equals_its_twin),
        cmocka_unit_test(assessing_is_the_same_on_any_engine),
        cmocka_unit_test(assessing_survives_torture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
