#include "train/kept.h"

#include "base/json.h"
#include "base/memory.h"
#include "data/fingerprint.h"
#include "train/experiment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const double copy_every = 1.0; /* seconds: what an interruption may lose */
/* Copies take at most about this part of a run's time. */
static const double copies_part = 0.05;

static bb_status no_memory(void) {
    return bb_fail(BB_ENOMEM, "no memory for a checkpoint");
}

/* -- what a file says -- */

static const char *text_of(const json_t *about, const char *name) {
    const char *text = json_string_value(json_object_get(about, name));
    return text ? text : "";
}

static bb_status read_about(const char *path, const bb_checkpoint *file, json_t **out) {
    json_error_t error;
    json_t *about =
        json_loadb((const char *)file->about.at, file->about.length, 0, &error);
    bb_status status = BB_OK;
    if (!json_is_object(json_object_get(about, "options")))
        status = bb_fail(BB_EDATA, "%s: is no checkpoint of billboard train", path);
    else if (strcmp(text_of(about, "version"), BB_VERSION) != 0)
        status = bb_fail(BB_EUSAGE,
                         "%s: was saved by billboard %s; this is %s, which may not "
                         "compute the same: go on with that one",
                         path, text_of(about, "version"), BB_VERSION);
    if (status)
        json_decref(about);
    else
        *out = about;
    return status;
}

bb_status bb_kept_about(const char *path, json_t **about) {
    bb_checkpoint file;
    bb_map map = {0};
    bb_status status = bb_checkpoint_read(path, &file, &map);
    if (!status) status = read_about(path, &file, about);
    bb_map_close(&map);
    return status;
}

bb_status bb_kept_check(const bb_train_request *request) {
    const bb_train_options *o = &request->options;
    struct stat there;
    if (o->resume || !o->checkpoint) return BB_OK;
    if (!*o->checkpoint || (o->output && strcmp(o->checkpoint, o->output) == 0))
        return bb_fail(BB_EUSAGE, "--checkpoint needs a file of its own, got \"%s\"",
                       o->checkpoint);
    if (lstat(o->checkpoint, &there)) return BB_OK;
    return bb_fail(BB_EUSAGE,
                   "%s: exists already; go on with the run that it is of by --resume, "
                   "or remove it",
                   o->checkpoint);
}

const char *bb_kept_temporary(const bb_train_request *request) {
    return json_string_value(json_object_get(request->resumed, "temporary"));
}

/* -- saving -- */

/* The moment that is saved: which releases there are. */
static void note_moment(bb_kept *k) {
    k->bytes_then = k->log.bytes;
    k->hash_then = k->log.hash;
    k->numbers_then = k->dir->numbers;
    k->copied_at = bb_experiment_now();
}

/* With what was known then. */
static bb_status put_about(const bb_kept *k, char **text) {
    char digest[BB_HASH_TEXT];
    json_t *about = json_copy(k->about);
    bb_hash_text(&k->hash_then, digest);
    const bool whole =
        about &&
        !json_object_set_new(about, "numbers",
                             json_integer((json_int_t)k->numbers_then)) &&
        !json_object_set_new(about, "bytes", json_integer((json_int_t)k->bytes_then)) &&
        !json_object_set_new(about, "sha256", json_string(digest));
    *text = whole ? bb_json_text(about, 0) : NULL;
    json_decref(about);
    return *text ? BB_OK : no_memory();
}

static bb_status copy(void *self, bb_bytes curator, bb_bytes silo,
                      const bb_silo_stored *stored) {
    bb_kept *k = self;
    const double start = bb_experiment_now();
    char *text = NULL;
    bb_status status = put_about(k, &text);
    if (!status && text) {
        bb_checkpoint file = {.about = {(const uint8_t *)text, strlen(text)},
                              .curator = curator,
                              .silo = silo};
        for (size_t s = 0; stored && s < BB_SILO_STORED; s++)
            file.stored[s] = stored[s];
        status = bb_checkpoint_begin(&k->copy, k->path, &file);
    }
    free(text);
    k->copies_begun = curator.length != 0;
    if (!stored) return status;
    k->copying = bb_experiment_now() - start;
    k->copied_at += k->copying;
    return status;
}

/* Releases first: a file never says more than there is. What it goes on from was restored
 * long ago. */
static bb_status commit(void *self) {
    bb_kept *k = self;
    bb_status status = k->log.file ? bb_release_log_sync(&k->log) : BB_OK;
    if (!status) status = bb_checkpoint_commit(&k->copy, k->path);
    if (status) return status;
    bb_map_close(&k->map);
    k->begun = k->begun || k->copies_begun;
    k->saved_at = bb_experiment_now();
    return BB_OK;
}

static bb_status save(void *self, bb_bytes curator, bb_bytes silo) {
    const bb_status status = copy(self, curator, silo, NULL);
    return status ? status : commit(self);
}

static bb_keep due(void *self, bool at_the_end) {
    bb_kept *k = self;
    const double now = bb_experiment_now();
    const bool save_now = at_the_end || now - k->saved_at >= k->every;
    const double pause = fmax(copy_every, k->copying / copies_part);
    if (!save_now && now - k->copied_at < pause) return BB_KEEP_NOTHING;
    note_moment(k);
    return save_now ? BB_KEEP_SAVE : BB_KEEP_COPY;
}

/* -- a run begins, or goes on -- */

bb_status bb_kept_draw_token(char token[BB_KEPT_TOKEN]) {
    unsigned char bits[(BB_KEPT_TOKEN - 1) / 2];
    const bb_status status = bb_random_secret(bits, sizeof bits);
    if (!status) bb_hash_digits(bits, sizeof bits, token);
    return status;
}

/* First the file, then the log: a file without one has no releases yet. */
static bb_status begin(bb_kept *k, const bb_train_request *request, const char *data,
                       const char *fingerprint, size_t ranks, char *log) {
    bb_status status = bb_kept_check(request); /* once more, under the lock */
    if (!status) status = bb_kept_draw_token(k->token);
    if (!status) status = bb_release_log_check(log);
    if (status) return status;
    k->about =
        json_pack("{s:s,s:s,s:s?,s:s,s:I,s:s,s:s?,s:o}", "program", "billboard",
                  "version", BB_VERSION, "data", data, "fingerprint", fingerprint,
                  "ranks", (json_int_t)ranks, "token", k->token, "temporary",
                  k->dir->temporary, "options", bb_train_json(request, false));
    if (!k->about) return no_memory();
    bb_hash_open(&k->log.hash);
    note_moment(k);
    k->copied_at -=
        copy_every; /* what comes after the charge is worth a copy at once */
    status = save(k, (bb_bytes){0}, (bb_bytes){0});
    return status ? status : bb_release_log_open(&k->log, log);
}

static uint64_t count_of(const json_t *about, const char *name) {
    return (uint64_t)json_integer_value(json_object_get(about, name));
}

static bb_status check_same(const bb_kept *k, const bb_train_request *request,
                            const json_t *about, const char *fingerprint,
                            size_t ranks) {
    const uint64_t then = count_of(about, "ranks");
    if (!json_equal(about, request->resumed))
        return bb_fail(BB_EUSAGE, "%s: another process went on with it meanwhile",
                       k->path);
    if (then != ranks)
        return bb_fail(BB_EUSAGE,
                       "%s: is of a run in %llu processes (mpirun -n), and this is one "
                       "in %zu: go on with as many",
                       k->path, (unsigned long long)then, ranks);
    if (strcmp(text_of(about, "fingerprint"), fingerprint) == 0) return BB_OK;
    return bb_fail(
        BB_EUSAGE,
        "%s: is of a run on other data: its rows, or what prepares them, are "
        "not the same",
        k->path);
}

static bb_status go_on(bb_kept *k, const bb_train_request *request,
                       const char *fingerprint, size_t ranks, char *log) {
    bb_checkpoint file;
    json_t *about = NULL;
    bb_status status = bb_checkpoint_read(k->path, &file, &k->map);
    k->resumed = !status;
    if (!status) status = read_about(k->path, &file, &about);
    if (!status) status = check_same(k, request, about, fingerprint, ranks);
    if (!status) status = bb_release_log_open(&k->log, log);
    if (!status)
        status = bb_release_log_rewind(&k->log, count_of(about, "bytes"),
                                       text_of(about, "sha256"));
    if (!status) {
        snprintf(k->token, sizeof k->token, "%s", text_of(about, "token"));
        k->about = json_incref(about);
        k->dir->numbers = (size_t)count_of(about, "numbers");
        k->keeper.curator = file.curator;
        k->keeper.silo = file.silo;
        for (size_t s = 0; s < BB_SILO_STORED; s++)
            k->keeper.stored[s] = file.stored[s].bytes;
        k->begun = true;
    }
    json_decref(about);
    return status;
}

/* Of everything that this rank sees of its data. */
static void fingerprint_of(const bb_population *p, const bb_dealt *dealt,
                           char text[BB_HASH_TEXT]) {
    bb_hash hash;
    bb_hash_open(&hash);
    bb_dataset_fingerprint(&p->prepared, &hash);
    bb_dataset_fingerprint(&p->train, &hash);
    bb_dataset_fingerprint(&p->test, &hash);
    if (p->cluster)
        bb_hash_add(&hash, p->cluster + bb_dealt_from(dealt),
                    p->prepared.tasks * sizeof *p->cluster);
    bb_hash_text(&hash, text);
}

bb_status bb_kept_fingerprint(const bb_population *population, const bb_dealt *dealt,
                              bb_status status, char text[BB_HASH_TEXT]) {
    bb_message all;
    bb_hash hash;
    fingerprint_of(population, dealt, text);
    if (!dealt->ranks) return status;
    status = bb_ranks_gather(dealt->ranks, status, text, BB_HASH_TEXT, &all);
    bb_hash_open(&hash);
    if (!status) bb_hash_add(&hash, all.at, all.length);
    bb_hash_text(&hash, text);
    free(all.at);
    return status;
}

bb_status bb_kept_open(bb_kept *k, const bb_train_request *request, const char *data,
                       const char fingerprint[BB_HASH_TEXT], size_t ranks,
                       bb_rundir *dir) {
    const bb_train_options *o = &request->options;
    static const char word[] = ".billboard";
    const char *path = o->resume ? o->resume : o->checkpoint;
    const size_t size = strlen(path) + sizeof word;
    char *log = NULL;
    *k = (bb_kept){.path = path, .dir = dir, .every = o->checkpoint_every};
    k->keeper = (bb_keeper){
        .self = k, .due = due, .save = save, .copy = copy, .commit = commit};
    k->saved_at = bb_experiment_now();
    bb_status status =
        bb_lock_take(&k->lock, path, "another process has this checkpoint");
    if (!status) status = bb_allocate(&log, size, 1, "a file name");
    if (status) return status;
    snprintf(log, size, "%s%s", path, word);
    status = o->resume ? go_on(k, request, fingerprint, ranks, log)
                       : begin(k, request, data, fingerprint, ranks, log);
    if (!k->log.name) free(log);
    if (!status) bb_rundir_set_log(dir, &k->log);
    return status;
}

bb_status bb_kept_release(bb_kept *k) {
    return k->path ? bb_rundir_replay(k->dir) : BB_OK;
}

bb_status bb_kept_charge_once(const bb_kept *k, bb_ledger *ledger) {
    if (!k->path || !ledger) return BB_OK;
    const bb_status status = bb_ledger_name_token(ledger, k->token);
    if (status || !k->keeper.curator.length) return status;
    return bb_ledger_take_up(ledger, false);
}

/* -- the end -- */

static bool stays(const bb_kept *k, bool charged) {
    return k->about && (k->begun || charged);
}

bool bb_kept_says(const bb_kept *k, bool charged, char *text, size_t size) {
    const bool there = stays(k, charged);
    if (there)
        snprintf(text, size, "go on with it: billboard train --resume %s", k->path);
    else
        snprintf(text, size, "nothing was written");
    return there;
}

void bb_kept_remove(bb_kept *k) {
    if (!k->path) return;
    if (k->about)
        unlink(k->path); /* first: without it there is nothing to go on with */
    bb_release_log_remove(&k->log);
}

void bb_kept_close(bb_kept *k, bool charged) {
    bb_checkpoint_drop(&k->copy);
    if (!k->resumed && !stays(k, charged)) bb_kept_remove(k);
    bb_release_log_close(&k->log);
    bb_lock_give(&k->lock);
    json_decref(k->about);
    bb_map_close(&k->map);
    *k = (bb_kept){0};
}
