#include "experiments/definition.h"

#include "base/json.h"
#include "experiments/shipped.inc"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SHIPPED = sizeof shipped / sizeof *shipped };

const bb_shipped *bb_shipped_at(size_t k) {
    return k < SHIPPED ? &shipped[k] : NULL;
}

/* -- patches -- */

static bb_status no_memory(void) {
    return bb_fail(BB_ENOMEM, "no memory for an experiment");
}

bb_status bb_json_patch(json_t *target, const json_t *patch) {
    const char *name;
    const json_t *value;
    bb_status status = BB_OK;
    json_object_foreach((json_t *)(uintptr_t)patch, name, value) {
        json_t *old = json_object_get(target, name);
        if (status) break;
        if (json_is_null(value))
            json_object_del(target, name);
        else if (json_is_object(value) && json_is_object(old))
            status = bb_json_patch(old, value);
        else if (json_object_set_new(target, name, json_deep_copy(value)))
            status = no_memory();
    }
    return status;
}

json_t *bb_json_nest(const char *name, json_t *value) {
    const char *dot = strchr(name, '.');
    if (!dot) return json_pack("{s:O}", name, value);
    json_t *inner = bb_json_nest(dot + 1, value);
    json_t *outer = json_object();
    if (inner && outer &&
        json_object_setn_new(outer, name, (size_t)(dot - name), inner) == 0)
        return outer;
    json_decref(outer);
    return NULL;
}

/* -- checks -- */

static const struct {
    const char *name;
    json_type type;
} member[] = {
    {"title", JSON_STRING},  {"source", JSON_STRING},  {"about", JSON_STRING},
    {"run", JSON_STRING},    {"seeds", JSON_INTEGER},  {"options", JSON_OBJECT},
    {"data", JSON_OBJECT},   {"methods", JSON_OBJECT}, {"sweep", JSON_OBJECT},
    {"keep", JSON_OBJECT},   {"trace", JSON_ARRAY},    {"tune", JSON_OBJECT},
    {"figures", JSON_ARRAY}, {"compare", JSON_ARRAY},  {"presets", JSON_OBJECT},
};
enum { MEMBERS = sizeof member / sizeof *member };

static bb_status check_members(const char *name, const json_t *json) {
    const char *key;
    const json_t *value;
    if (!json_is_object(json))
        return bb_fail(BB_EUSAGE, "%s: an experiment is a JSON object", name);
    json_object_foreach((json_t *)(uintptr_t)json, key, value) {
        size_t k = 0;
        while (k < MEMBERS && strcmp(member[k].name, key) != 0) k++;
        if (k == MEMBERS)
            return bb_fail(BB_EUSAGE,
                           "%s: an experiment has no member \"%s\" "
                           "(docs/experiment.md lists them)",
                           name, key);
        if (json_typeof(value) != member[k].type)
            return bb_fail(BB_EUSAGE, "%s: \"%s\" has the wrong type", name, key);
    }
    return BB_OK;
}

static bool is_axis(const json_t *value) {
    return (json_is_array(value) && json_array_size(value) > 0) ||
           (json_is_object(value) && json_object_size(value) > 0);
}

/* Objects of objects, and axes that have values. */
static bb_status check_parts(const char *name, const json_t *json) {
    static const char *const labelled[] = {"data", "methods"};
    const char *key;
    const json_t *value;
    for (size_t k = 0; k < 2; k++)
        json_object_foreach(json_object_get(json, labelled[k]), key, value) {
            if (!json_is_object(value))
                return bb_fail(BB_EUSAGE, "%s: %s \"%s\" is no object", name,
                               labelled[k], key);
        }
    json_object_foreach(json_object_get(json, "sweep"), key, value) {
        if (!is_axis(value))
            return bb_fail(BB_EUSAGE,
                           "%s: the axis \"%s\" is no list of values and no object "
                           "of options",
                           name, key);
    }
    if (json_integer_value(json_object_get(json, "seeds")) < 0)
        return bb_fail(BB_EUSAGE, "%s: \"seeds\" is negative", name);
    return BB_OK;
}

/* -- reading -- */

static bool is_file(const char *name) {
    const size_t length = strlen(name), tail = strlen(".json");
    return strchr(name, '/') ||
           (length > tail && strcmp(name + length - tail, ".json") == 0);
}

static bb_status read_shipped(const char *name, json_t **out) {
    for (size_t k = 0; k < SHIPPED; k++) {
        if (strcmp(shipped[k].name, name) != 0) continue;
        *out = json_loads(shipped[k].text, JSON_REJECT_DUPLICATES, NULL);
        return *out ? BB_OK : no_memory();
    }
    char known[1024] = "";
    for (size_t k = 0, used = 0; k < SHIPPED && used < sizeof known; k++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s",
                                 k ? ", " : "", shipped[k].name);
    return bb_fail(
        BB_EUSAGE,
        "there is no experiment \"%s\"; known are %s; or give a file NAME.json", name,
        known);
}

static bb_status fail_preset(const char *name, const char *preset, const json_t *json) {
    char known[400] = "";
    size_t used = 0;
    const char *key;
    json_t *patch, *presets = json_object_get(json, "presets");
    json_object_foreach(presets, key, patch) {
        const char *between = used ? ", " : "; known are ";
        const int more =
            snprintf(known + used, sizeof known - used, "%s%s", between, key);
        used += (size_t)more;
        if (used >= sizeof known) break;
    }
    return bb_fail(BB_EUSAGE, "%s: there is no preset \"%s\"%s", name, preset, known);
}

static bb_status apply_preset(const char *name, const char *preset, json_t *json) {
    static const char usual[] = "quick";
    const char *chosen = preset ? preset : usual;
    const json_t *patch = json_object_get(json_object_get(json, "presets"), chosen);
    if (!patch && preset) return fail_preset(name, preset, json);
    bb_status status = patch ? bb_json_patch(json, patch) : BB_OK;
    if (!status) json_object_del(json, "presets");
    if (!status && (json_object_set_new(json, "name", json_string(name)) ||
                    json_object_set_new(json, "preset",
                                        patch ? json_string(chosen) : json_null())))
        status = no_memory();
    return status;
}

bb_status bb_definition_read(const char *name, const char *preset, json_t **out) {
    json_t *json = NULL;
    bb_status status =
        is_file(name) ? bb_json_read_file(&json, name) : read_shipped(name, &json);
    if (!status) status = check_members(name, json);
    if (!status) status = apply_preset(name, preset, json);
    if (!status) status = check_parts(name, json);
    if (status)
        json_decref(json);
    else
        *out = json;
    return status;
}
