/* Models of several outputs, and networks: what they say, and their file. */
#include "base/parallel.h"
#include "base/safetensors.h"
#include "eval_world.h"
#include "folder.h"
#include "models/models.h"
#include "test.h"
#include "torture.h"

enum { OUTPUTS = 7 };
typedef enum form { ONE, MATRIX, COMPACT, NET, FORMS } form;

static bb_model_kind kind_of(form f) {
    if (f == ONE) return (bb_model_kind){.loss = BB_LOSS_LOGISTIC, .outputs = 1};
    if (f == NET)
        return (bb_model_kind){BB_LOSS_SOFTMAX, OUTPUTS, "dense7", {3, 2, 1}, 49};
    return (bb_model_kind){.loss = f == MATRIX ? BB_LOSS_SOFTMAX : BB_LOSS_MULTILABEL,
                           .outputs = OUTPUTS};
}

/* Two groups, even tasks and odd ones. Task i touched the features k with (i + k) % 3 =
 * 0; the second task none. */
static bb_models make_compact(const bb_dataset *data, const double *shared) {
    const bb_model_kind kind = kind_of(COMPACT);
    uint32_t touched[64], group[64];
    bb_local local[64] = {{0}};
    bb_models m;
    size_t used = 0;
    for (size_t i = 0; i < data->tasks; i++) {
        group[i] = i % 2;
        local[i].touched = touched + used;
        for (size_t k = 0; k < data->features && i != 1; k++)
            if ((i + k) % 3 == 0) touched[used++] = (uint32_t)k;
        local[i].touched_count = (size_t)(touched + used - local[i].touched);
    }
    assert_ok(bb_models_open_compact(&m, data, &kind, 2, shared, group, local));
    return m;
}

/* Models of random numbers. */
static bb_models make_form(const bb_dataset *data, form f) {
    double w[1000];
    const bb_model_kind kind = kind_of(f);
    bb_models m;
    bb_random random;
    assert_ok(bb_random_open_stream(&random, 8, BB_FOR_TEST, 2, 0));
    for (size_t k = 0; k < 1000; k++) w[k] = bb_random_normal(&random);
    if (f == COMPACT)
        m = make_compact(data, w);
    else
        assert_ok(bb_models_open_kind(&m, data, &kind));
    for (size_t i = 0; i < m.tasks; i++) {
        for (size_t k = 0; k < 1000; k++) w[k] = bb_random_normal(&random);
        bb_models_put(&m, i, w);
        if (m.intercept) m.intercept[i] = w[999];
    }
    bb_random_close(&random);
    return m;
}

/* Output c of row j of task i, by the shortest way. */
static double twin(const bb_models *m, const bb_dataset *data, size_t i, size_t j,
                   size_t c, double *size) {
    double z = m->intercept ? m->intercept[i] : 0.0;
    if (m->single) z = (double)m->single[i * m->parameters + m->features * OUTPUTS + c];
    *size = fabs(z);
    for (size_t k = 0; k < m->features; k++) {
        double w = m->weight ? m->weight[(i * m->features + k) * m->outputs + c] : 0.0;
        if (m->single) w = (double)m->single[i * m->parameters + c * m->features + k];
        if (m->shared) w = m->shared[((i % 2) * m->features + k) * m->outputs + c];
        for (size_t t = m->shared ? m->own_first[i] : 0;
             m->shared && t < m->own_first[i + 1]; t++)
            if (m->touched[t] == k) w = m->own[t * m->outputs + c];
        z += w * world_x(data, j, k);
        *size += fabs(w * world_x(data, j, k));
    }
    return z;
}

typedef struct said {
    size_t outputs, *rows; /* rows seen of each task */
    const bb_dataset *data;
    double *z;
} said;

static void note(void *self, const bb_outputs *block) {
    const said *s = self;
    assert_int_equal(block->row, s->data->first[block->task] + s->rows[block->task]);
    assert_true(block->rows > 0);
    s->rows[block->task] += block->rows;
    memcpy(s->z + block->row * s->outputs, block->z,
           block->rows * s->outputs * sizeof(double));
}

static double *outputs_of(const bb_models *m, const bb_dataset *data,
                          const bb_engine *engine) {
    size_t rows[64] = {0};
    double *z = calloc(data->rows * m->outputs + 1, sizeof *z);
    said s = {m->outputs, rows, data, z};
    assert_ok(bb_models_outputs(m, data, engine, note, &s));
    for (size_t i = 0; i < data->tasks; i++)
        assert_int_equal(rows[i], data->first[i + 1] - data->first[i]);
    return z;
}

static void check_outputs(form f, bool sparse) {
    bb_dataset data = world_make(3, 20, 6, 200, sparse, false);
    bb_models m = make_form(&data, f);
    const bb_engine engine = bb_engine_threads(3);
    double *z = outputs_of(&m, &data, NULL), *again = outputs_of(&m, &data, &engine);
    for (size_t i = 0; i < data.tasks; i++)
        for (size_t j = data.first[i]; j < data.first[i + 1]; j++)
            for (size_t c = 0; c < m.outputs; c++) {
                double size;
                const double expected = twin(&m, &data, i, j, c, &size);
                assert_close(z[j * m.outputs + c], expected,
                             (f == NET ? 1e-6 : 1e-14) * size);
            }
    assert_memory_equal(z, again, data.rows * m.outputs * sizeof *z);
    free(z);
    free(again);
    bb_models_free(&m);
    bb_dataset_free(&data);
}

static void outputs_equal_their_twin(void **state) {
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++)
        for (int f = ONE; f < NET; f++) check_outputs((form)f, sparse);
}

static void networks_equal_their_twin(void **state) {
    (void)state;
    check_outputs(NET, false);
}

static void a_network_must_fit(void **state) {
    (void)state;
    bb_dataset data = world_make(3, 4, 6, 5, false, false),
               sparse = world_make(3, 4, 6, 5, true, false);
    bb_models m = make_form(&data, NET);
    double z[1];
    size_t rows[64] = {0};
    said s = {OUTPUTS, rows, &data, z};
    assert_fails(bb_models_outputs(&m, &sparse, NULL, note, &s), BB_EDATA,
                 "world: expected dense rows");
    m.parameters--;
    assert_fails(bb_models_outputs(&m, &data, NULL, note, &s), BB_EDATA,
                 "has 49 parameters, 7 outputs and 6 inputs: expected 48, 7 and 6");
    m.parameters++;
    m.image.width = 3;
    assert_fails(bb_models_outputs(&m, &data, NULL, note, &s), BB_EDATA, "expected");
    m.net[0] = '?';
    assert_fails(bb_models_outputs(&m, &data, NULL, note, &s), BB_EDATA,
                 "the models' network");
    bb_models_free(&m);
    bb_dataset_free(&data);
    bb_dataset_free(&sparse);
}

static void one_output_is_a_prediction(void **state) {
    (void)state;
    bb_dataset data = world_make(3, 20, 6, 9, false, false);
    bb_models m = make_form(&data, ONE);
    double *p = calloc(data.rows, sizeof *p), *q = calloc(data.rows, sizeof *q);
    assert_ok(bb_models_predict(&m, &data, NULL, p));
    bb_predict_rows(&data, data.features, m.weight, m.intercept, q);
    assert_memory_equal(p, q, data.rows * sizeof *p);
    const double z[] = {-1, 2, 0, 2, -3};
    assert_int_equal(bb_largest_output(5, z), 1);
    free(p);
    free(q);
    bb_models_free(&m);
    bb_dataset_free(&data);
}

static void expect_equal(const bb_models *m, const bb_models *back) {
    const size_t size = m->features * m->outputs;
    assert_int_equal(back->tasks, m->tasks);
    assert_int_equal(back->features, m->features);
    assert_int_equal(back->loss, m->loss);
    assert_int_equal(back->outputs, m->outputs);
    assert_int_equal(back->parameters, m->parameters);
    assert_memory_equal(&back->image, &m->image, sizeof m->image);
    for (size_t i = 0; i < m->tasks; i++)
        assert_string_equal(back->task_name[i], m->task_name[i]);
    for (size_t k = 0; k < m->features; k++)
        assert_string_equal(back->feature_name[k], m->feature_name[k]);
    assert_true(!m->net == !back->net && !m->weight == !back->weight &&
                !m->single == !back->single && !m->shared == !back->shared &&
                !m->intercept == !back->intercept);
    if (m->net) assert_string_equal(back->net, m->net);
    if (m->weight)
        assert_memory_equal(back->weight, m->weight, m->tasks * size * sizeof(double));
    if (m->single)
        assert_memory_equal(back->single, m->single,
                            m->tasks * m->parameters * sizeof(float));
    if (!m->shared) return;
    const size_t own = m->own_first[m->tasks];
    assert_int_equal(back->groups, m->groups);
    assert_memory_equal(back->shared, m->shared, m->groups * size * sizeof(double));
    assert_memory_equal(back->group, m->group, m->tasks * sizeof(uint32_t));
    assert_memory_equal(back->own_first, m->own_first, (m->tasks + 1) * sizeof(size_t));
    assert_memory_equal(back->touched, m->touched, own * sizeof(uint32_t));
    assert_memory_equal(back->own, m->own, own * m->outputs * sizeof(double));
}

static void every_kind_comes_back_to_the_same_bits(void **state) {
    (void)state;
    static const char path[] = "models.safetensors";
    bb_dataset data = world_make(4, 12, 6, 4, false, false);
    char *const kept = data.task_name[1];
    data.task_name[1] = (char *)(uintptr_t) "say \"hi\",\n\xc3\xa9";
    for (int f = MATRIX; f < FORMS; f++) {
        char before[BB_HASH_TEXT], after[BB_HASH_TEXT];
        bb_models m = make_form(&data, (form)f), back;
        assert_string_equal(bb_models_file(&m), "models.safetensors");
        assert_ok(bb_models_hash(&m, before));
        assert_ok(bb_models_write(&m, path));
        assert_ok(bb_models_read(&back, path));
        expect_equal(&m, &back);
        assert_ok(bb_models_hash(&back, after));
        assert_string_equal(before, after);
        bb_safetensors open;
        const char *text;
        assert_ok(bb_safetensors_open(&open, path));
        assert_ok(bb_safetensors_text(&open, "statement", &text));
        assert_non_null(strstr(text, "that task alone"));
        bb_safetensors_close(&open);
        bb_models_free(&back);
        bb_models_free(&m);
    }
    data.task_name[1] = kept;
    unlink(path);
    bb_models one;
    assert_ok(bb_models_open(&one, &data));
    assert_string_equal(bb_models_file(&one), "models.csv");
    bb_models_free(&one);
    bb_dataset_free(&data);
}

static void every_part_is_in_the_fingerprint(void **state) {
    (void)state;
    bb_dataset data = world_make(4, 6, 6, 4, false, false);
    char hash[10][BB_HASH_TEXT];
    size_t used = 0;
    bb_models m = make_form(&data, COMPACT);
    assert_ok(bb_models_hash(&m, hash[used++]));
    m.own[m.own_first[m.tasks] * OUTPUTS - 1] += 1.0;
    assert_ok(bb_models_hash(&m, hash[used++]));
    m.touched[0]++;
    assert_ok(bb_models_hash(&m, hash[used++]));
    m.shared[2 * m.features * OUTPUTS - 1] += 1.0;
    assert_ok(bb_models_hash(&m, hash[used++]));
    m.group[0] = 1;
    assert_ok(bb_models_hash(&m, hash[used++]));
    m.own_first[1]--;
    assert_ok(bb_models_hash(&m, hash[used++]));
    m.loss = BB_LOSS_SOFTMAX;
    assert_ok(bb_models_hash(&m, hash[used++]));
    bb_models_free(&m);
    m = make_form(&data, NET);
    assert_ok(bb_models_hash(&m, hash[used++]));
    m.single[m.tasks * m.parameters - 1] += 1.0f;
    assert_ok(bb_models_hash(&m, hash[used++]));
    m.image.width++;
    assert_ok(bb_models_hash(&m, hash[used++]));
    for (size_t a = 0; a < used; a++)
        for (size_t b = 0; b < a; b++) assert_string_not_equal(hash[a], hash[b]);
    bb_models_free(&m);
    bb_dataset_free(&data);
}

static bb_status write_and_read(void *context) {
    const bb_models *m = context;
    bb_models back = {0};
    bb_status status = bb_models_write(m, "t.safetensors");
    if (!status) status = bb_models_read(&back, "t.safetensors");
    bb_models_free(&back);
    return status;
}

static bb_status only_write(void *context) {
    return bb_models_write(context, "t.safetensors");
}

static bb_status only_run(void *context) {
    const bb_models *m = context;
    bb_dataset data = {.tasks = m->tasks, .features = m->features};
    size_t first[4] = {0, 1, 1, 1};
    double x[6] = {1.0}, z[OUTPUTS];
    size_t rows[64] = {0};
    data.first = first;
    data.x = x;
    return bb_models_outputs(m, &data, NULL, note, &(said){OUTPUTS, rows, &data, z});
}

static void models_survive_torture(void **state) {
    (void)state;
    bb_dataset data = world_make(4, 3, 6, 2, false, false);
    for (int f = MATRIX; f < FORMS; f++) {
        bb_models m = make_form(&data, (form)f);
        bb_torture torture = {.attempt = write_and_read, .context = &m};
        assert_true(torture_files(torture) >= 4);
        torture.spare_json = true;
        assert_true(torture_memory(torture) > 10);
        torture = (bb_torture){.attempt = only_write, .context = &m};
        assert_true(torture_memory(torture) > 10);
        torture.attempt = only_run;
        assert_true(torture_memory(torture) >= 2);
        bb_models_free(&m);
    }
    unlink("t.safetensors");
    bb_dataset_free(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_equal_their_twin),
        cmocka_unit_test(networks_equal_their_twin),
        cmocka_unit_test(a_network_must_fit),
        cmocka_unit_test(one_output_is_a_prediction),
        cmocka_unit_test(every_kind_comes_back_to_the_same_bits),
        cmocka_unit_test(every_part_is_in_the_fingerprint),
        cmocka_unit_test(models_survive_torture),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
