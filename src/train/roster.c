#include "train/roster.h"

#include "base/json.h"
#include "base/memory.h"
#include "data/names.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
    char *name;
    uint32_t cluster;
} entry;

static int compare(const void *a, const void *b) {
    return bb_names_compare(((const entry *)a)->name, ((const entry *)b)->name);
}

/* In the order of the names. */
static bb_status sort_tasks(bb_roster *r) {
    entry *all = NULL;
    const bb_status status = bb_allocate(&all, r->tasks, sizeof *all, "a roster");
    if (status) return status;
    for (size_t i = 0; i < r->tasks; i++)
        all[i] = (entry){r->task_name[i], r->cluster ? r->cluster[i] : 0};
    qsort(all, r->tasks, sizeof *all, compare);
    for (size_t i = 0; i < r->tasks; i++) {
        r->task_name[i] = all[i].name;
        if (r->cluster) r->cluster[i] = all[i].cluster;
    }
    free(all);
    return BB_OK;
}

/* `name` (count): not empty, none twice. */
static bb_status check_names(const char *what, size_t count, const char *const *name) {
    bb_names names = {0};
    bb_status status = BB_OK;
    size_t at = 0;
    if (!count) return bb_fail(BB_EUSAGE, "a roster without %ss", what);
    for (size_t i = 0; i < count && !status; i++) {
        if (!name[i] || !*name[i])
            status = bb_fail(BB_EUSAGE, "a roster: %s %zu has no name", what, i + 1);
        else
            status = bb_names_add(&names, name[i], strlen(name[i]), &at);
        if (!status && at != i)
            status =
                bb_fail(BB_EUSAGE, "a roster: %s \"%s\" is there twice", what, name[i]);
    }
    bb_names_free(&names);
    return status;
}

bb_status bb_roster_open(bb_roster *out, size_t tasks, const char *const *task,
                         const uint32_t *cluster, size_t features,
                         const char *const *feature) {
    bb_roster r = {.tasks = tasks, .features = features};
    bb_status status = check_names("task", tasks, task);
    if (!status && feature) status = check_names("feature", features, feature);
    if (!status && !features) status = bb_fail(BB_EUSAGE, "a roster without features");
    if (!status)
        status =
            bb_names_copy(&r.task_name, tasks, (char *const *)(uintptr_t)(void *)task);
    if (!status)
        status = feature ? bb_names_copy(&r.feature_name, features,
                                         (char *const *)(uintptr_t)(void *)feature)
                         : bb_names_count(&r.feature_name, features, "x");
    if (!status && cluster)
        status = bb_allocate(&r.cluster, tasks, sizeof *r.cluster, "a roster");
    if (cluster && r.cluster) memcpy(r.cluster, cluster, tasks * sizeof *cluster);
    if (!status) status = sort_tasks(&r);
    if (status)
        bb_roster_close(&r);
    else
        *out = r;
    return status;
}

void bb_roster_close(bb_roster *roster) {
    free(roster->task_name);
    free(roster->feature_name);
    free(roster->cluster);
    free(roster->target);
    *roster = (bb_roster){0};
}

/* Names of a file and of a plan that people cannot tell apart are told apart. */
static bb_status fail_unknown(const bb_roster *roster, const bb_dataset *data,
                              const char *task) {
    char shown[BB_SHOWN_BYTES], alike[BB_ALIKE_BYTES];
    bb_names names = {0};
    bb_status status = bb_names_add_all(&names, roster->tasks, roster->task_name);
    if (!status)
        status = bb_fail(BB_EDATA, "%s: task %s is not one of the run's %zu task%s%s",
                         data->source, bb_shown(shown, task, strlen(task)),
                         roster->tasks, bb_plural((double)roster->tasks),
                         bb_names_alike(alike, &names, task, "is one"));
    bb_names_free(&names);
    return status;
}

bb_status bb_roster_numbers(const bb_roster *roster, const bb_dataset *data,
                            size_t **id) {
    size_t *number = NULL, at = 0;
    bb_status status = bb_allocate(&number, data->tasks, sizeof *number, "a roster");
    for (size_t i = 0; i < data->tasks && !status; i++) {
        while (at < roster->tasks &&
               bb_names_compare(roster->task_name[at], data->task_name[i]) < 0)
            at++;
        if (at == roster->tasks ||
            strcmp(roster->task_name[at], data->task_name[i]) != 0)
            status = fail_unknown(roster, data, data->task_name[i]);
        number[i] = at;
    }
    if (status)
        free(number);
    else
        *id = number;
    return status;
}

bb_status bb_roster_fit(const bb_roster *roster, bb_dataset *data) {
    bool same = data->features == roster->features;
    for (size_t k = 0; k < roster->features && same; k++)
        same = strcmp(data->feature_name[k], roster->feature_name[k]) == 0;
    if (same) return BB_OK;
    bb_dataset fitted = {0};
    const bb_status status =
        bb_dataset_match(data, data->tasks, data->task_name, roster->features,
                         roster->feature_name, &fitted);
    if (status) return bb_fail_context(status, "the plan's features");
    fitted.dropped = data->dropped;
    bb_dataset_free(data);
    *data = fitted;
    return BB_OK;
}

bb_status bb_roster_check_clusters(const bb_roster *roster, const bb_dataset *data,
                                   const uint32_t *cluster) {
    size_t *id = NULL;
    bb_status status = bb_roster_numbers(roster, data, &id);
    for (size_t i = 0; i < data->tasks && !status; i++)
        if (cluster[i] != roster->cluster[id[i]])
            status = bb_fail(
                BB_EDATA, "%s: task %s is in cluster %u, in the roster it is in %u",
                data->source, data->task_name[i], cluster[i], roster->cluster[id[i]]);
    free(id);
    return status;
}

static void add_names(bb_hash *hash, size_t count, char *const *name) {
    const int64_t number = (int64_t)count;
    bb_hash_add_integers(hash, &number, 1);
    for (size_t k = 0; k < count; k++) bb_hash_add(hash, name[k], strlen(name[k]) + 1);
}

bb_status bb_roster_digest(const bb_roster *roster, const json_t *how,
                           uint8_t digest[BB_HASH_BYTES]) {
    char *text = json_dumps(how, JSON_COMPACT | JSON_SORT_KEYS);
    bb_hash hash;
    if (!text) return bb_fail(BB_ENOMEM, "no memory for a roster");
    bb_hash_open(&hash);
    add_names(&hash, roster->tasks, roster->task_name);
    add_names(&hash, roster->features, roster->feature_name);
    bb_hash_add(&hash, text, strlen(text));
    bb_hash_digest(&hash, digest);
    free(text);
    return BB_OK;
}
