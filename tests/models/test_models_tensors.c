/* Files of models of several outputs that are not what they should be. */
#include "base/safetensors.h"
#include "folder.h"
#include "models/models.h"
#include "test.h"

/* Writes the arrays and texts, which are no good models. */
static void expect_refused(const bb_tensor *tensor, size_t tensors, json_t *texts,
                           bb_status code, const char *words) {
    static const char path[] = "bad.safetensors";
    bb_models back = {0};
    assert_ok(bb_safetensors_write(path, tensor, tensors, texts));
    json_decref(texts);
    assert_fails(bb_models_read(&back, path), code, words);
    assert_null(back.task_name);
    unlink(path);
}

static json_t *texts_of(const char *changed, const char *value) {
    json_t *texts = json_pack("{s:s,s:s,s:s,s:s,s:s}", "format", "billboard models 1",
                              "loss", "softmax", "outputs", "2", "tasks",
                              "[\"a\",\"b\"]", "features", "[\"x\",\"y\",\"z\"]");
    if (changed && value) json_object_set_new(texts, changed, json_string(value));
    if (changed && !value) json_object_del(texts, changed);
    return texts;
}

static void bad_tensors_are_refused(void **state) {
    (void)state;
    double w[12] = {0};
    float s[12] = {0};
    const bb_tensor weight = {"weight", BB_DTYPE_F64, 2, {2, 6}, w},
                    single = {"weight", BB_DTYPE_F32, 2, {2, 6}, s};
    const char *const wrong[][3] = {
        {"format", "billboard models 2", "format: expected \"billboard models 1\""},
        {"format", NULL, "expected a text \"format\""},
        {"loss", "hinge", "loss: expected squared"},
        {"loss", "squared", "loss: expected softmax or multilabel, or a network"},
        {"outputs", "0", "outputs: expected a number from 1"},
        {"outputs", "99999999", "outputs: expected a number from 1"},
        {"outputs", "3", "array \"weight\": expected F64 [2, 9], found F64 [2, 6]"},
        {"tasks", "[\"a\",\"a\"]", "tasks: expected names that differ"},
        {"tasks", "[\"a\",7]", "tasks: expected a JSON list of names"},
        {"tasks", "\"a\"", "tasks: expected a JSON list"},
        {"tasks", "[", "tasks: expected a JSON list"},
        {"features", "[\"x\"]", "expected F64 [2, 2], found F64 [2, 6]"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        expect_refused(&weight, 1, texts_of(wrong[k][0], wrong[k][1]), BB_EDATA,
                       wrong[k][2]);
    expect_refused(&single, 1, texts_of(NULL, NULL), BB_EDATA,
                   "expected F64 [2, 6], found F32 [2, 6]");
    const char *const image[] = {"1x1", "1x1x1x1", "1x0x1", "1x1x", "axbxc", ""};
    for (size_t k = 0; k < 6; k++) {
        json_t *texts = texts_of("net", "dense2");
        json_object_set_new(texts, "image", json_string(image[k]));
        expect_refused(&single, 1, texts, BB_EDATA, "image: expected HEIGHTxWIDTHxCH");
    }
    json_t *two = texts_of("net", "dense2");
    json_object_set_new(two, "image", json_string("1x3x1"));
    json_object_set_new(two, "loss", json_string("logistic"));
    expect_refused(&single, 1, two, BB_EDATA, "or a network of one output");
    const bb_tensor more[] = {weight, {"other", BB_DTYPE_F64, 1, {1}, w}};
    expect_refused(more, 2, texts_of(NULL, NULL), BB_EDATA,
                   "arrays: expected `weight'");
    w[11] = NAN;
    expect_refused(&weight, 1, texts_of(NULL, NULL), BB_EDATA, "finite numbers");
    s[0] = INFINITY;
    json_t *texts = texts_of("net", "dense2");
    json_object_set_new(texts, "image", json_string("1x3x1"));
    expect_refused(&single, 1, texts, BB_EDATA, "finite numbers");
}

static void bad_compact_models_are_refused(void **state) {
    (void)state;
    double w[6] = {0};
    uint32_t first[2] = {0, 2}, second[1] = {1}, group[2] = {0};
    bb_tensor t[] = {{"shared", BB_DTYPE_F64, 3, {1, 3, 2}, w},
                     {"touched.0", BB_DTYPE_U32, 1, {2}, first},
                     {"own.0", BB_DTYPE_F64, 2, {2, 2}, w},
                     {"touched.1", BB_DTYPE_U32, 1, {1}, second},
                     {"own.1", BB_DTYPE_F64, 2, {1, 2}, w},
                     {"group", BB_DTYPE_U32, 1, {2}, group}};
    bb_models back;
    json_t *texts = texts_of(NULL, NULL);
    assert_ok(bb_safetensors_write("good.safetensors", t, 6, texts));
    json_decref(texts);
    assert_ok(bb_models_read(&back, "good.safetensors"));
    assert_int_equal(bb_models_length(&back, 0), 4);
    bb_models_free(&back);
    unlink("good.safetensors");
    expect_refused(t, 5, texts_of(NULL, NULL), BB_EDATA, "`shared', `group' and two");
    t[4].shape[0] = 2;
    expect_refused(t, 6, texts_of(NULL, NULL), BB_EDATA,
                   "\"own.1\": expected F64 [1, 2], found F64 [2, 2]");
    t[4].shape[0] = 1;
    t[3].name = "touched.2";
    expect_refused(t, 6, texts_of(NULL, NULL), BB_EDATA, "an array \"touched.1\"");
    t[3].name = "touched.1";
    first[0] = 2;
    expect_refused(t, 6, texts_of(NULL, NULL), BB_EDATA,
                   "touched.0: expected features");
    first[0] = 0, second[0] = 3;
    expect_refused(t, 6, texts_of(NULL, NULL), BB_EDATA,
                   "touched.1: expected features");
    second[0] = 1, group[1] = 1;
    expect_refused(t, 6, texts_of(NULL, NULL), BB_EDATA, "group: expected groups of");
    group[1] = 0, w[5] = INFINITY;
    expect_refused(t, 6, texts_of(NULL, NULL), BB_EDATA, "shared: expected finite");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_tensors_are_refused),
        cmocka_unit_test(bad_compact_models_are_refused),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
