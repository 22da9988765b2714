/* Definitions: patches, the product of their axes, and the registry of what cells gave. */
#include "experiments/definition.h"
#include "experiments/groups.h"
#include "experiments/registry.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static json_t *json_of(const char *text) {
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(json);
    return json;
}

/* The examples of RFC 7396, section 3 and appendix A, that are of objects. */
static void patches_are_those_of_the_rfc(void **state) {
    (void)state;
    static const char *const example[][3] = {
        {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
        {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
        {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
        {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}",
         "{\"a\":{\"b\":\"d\"}}"},
        {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
        {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
    };
    for (size_t k = 0; k < sizeof example / sizeof *example; k++) {
        json_t *target = json_of(example[k][0]), *patch = json_of(example[k][1]),
               *expected = json_of(example[k][2]);
        assert_ok(bb_json_patch(target, patch));
        if (!json_equal(target, expected)) fail_msg("example %zu", k);
        json_decref(target);
        json_decref(patch);
        json_decref(expected);
    }
}

static void axes_are_crossed(void **state) {
    (void)state;
    json_t *definition = json_of(
        "{\"options\": {\"rounds\": 3},"
        " \"data\": {\"a\": {\"world\": \"low-rank\"},"
        "            \"b\": {\"world\": \"low-rank\", \"options\": {\"rounds\": 4}}},"
        " \"methods\": {\"m\": {\"method\": \"mp-lowrank\"},"
        "               \"s\": {\"method\": \"stl\", \"rounds\": null,"
        "                     \"without\": [\"epsilon\"]}},"
        " \"sweep\": {\"epsilon\": [1, 10], \"data.tasks\": [5, 6, 7],"
        "             \"noise\": {\"none\": {\"mechanism\": \"none\"}}}}");
    bb_groups groups;
    assert_ok(bb_groups_open(&groups, definition));
    assert_int_equal(groups.count, 2 * (2 * 3 + 3));
    json_t *first = bb_group_cell(&groups, &groups.group[0], 0, 7);
    json_t *expected = json_of(
        "{\"run\": \"train\", \"data\": {\"world\": \"low-rank\", \"tasks\": 5},"
        " \"options\": {\"rounds\": 3, \"method\": \"mp-lowrank\","
        " \"epsilon\": 1, \"mechanism\": \"none\"}, \"seed\": 7}");
    assert_true(json_equal(first, expected));
    json_t *last = bb_group_cell(&groups, &groups.group[17], 0, 1);
    assert_null(json_object_get(json_object_get(last, "options"), "epsilon"));
    assert_null(json_object_get(json_object_get(last, "options"), "rounds"));
    assert_true(json_is_null(json_object_get(groups.group[17].labels, "epsilon")));
    assert_int_equal(
        json_integer_value(json_object_get(groups.group[17].labels, "data.tasks")), 7);
    json_decref(first);
    json_decref(expected);
    json_decref(last);
    bb_groups_close(&groups);
    json_decref(definition);
}

/* Each preset of each shipped experiment can be read and gives cells. */
static void shipped_ones_can_be_read(void **state) {
    (void)state;
    static const char *const preset[] = {"tiny", "quick", "full"};
    for (size_t k = 0; bb_shipped_at(k); k++)
        for (size_t p = 0; p < 3; p++) {
            json_t *definition = NULL;
            bb_groups groups;
            assert_ok(
                bb_definition_read(bb_shipped_at(k)->name, preset[p], &definition));
            assert_non_null(json_object_get(definition, "title"));
            assert_non_null(json_object_get(definition, "source"));
            assert_ok(bb_groups_open(&groups, definition));
            assert_true(groups.count > 0);
            bb_groups_close(&groups);
            json_decref(definition);
        }
}

static void registries_keep_results(void **state) {
    (void)state;
    char path[] = "/tmp/bb-registry-XXXXXX", *text = NULL;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    bb_registry *r = NULL;
    size_t cells = 0;
    double seconds = 0.0;
    assert_ok(bb_registry_open(&r, path));
    assert_ok(bb_registry_get(r, "a", &text));
    assert_null(text);
    assert_ok(bb_registry_put(r, "a", "{\"x\": 1}", 0.5));
    assert_ok(bb_registry_put(r, "a", "{\"x\": 2}", 0.25));
    assert_ok(bb_registry_put(r, "b", "", 1.0));
    bb_registry_close(r);
    assert_ok(bb_registry_open(&r, path));
    assert_ok(bb_registry_get(r, "a", &text));
    assert_string_equal(text, "{\"x\": 2}");
    free(text);
    assert_ok(bb_registry_count(r, &cells, &seconds));
    assert_int_equal(cells, 2);
    assert_close(seconds, 1.25, 1e-12);
    bb_registry_close(r);
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(write(file, "task,y\n1,2\n", 11), 11);
    assert_fails(bb_registry_open(&r, path), BB_EDATA, "no registry");
    close(file);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patches_are_those_of_the_rfc),
        cmocka_unit_test(axes_are_crossed),
        cmocka_unit_test(shipped_ones_can_be_read),
        cmocka_unit_test(registries_keep_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
