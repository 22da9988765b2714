#include "train/place_kept.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "core/checkpoint.h"
#include "train/kept.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *text_of(const json_t *about, const char *name) {
    const char *text = json_string_value(json_object_get(about, name));
    return text ? text : "";
}

static bb_status write_file(const bb_place_kept *k, bb_bytes place) {
    char *text = bb_json_text(k->about, 0);
    if (!text) return bb_fail(BB_ENOMEM, "no memory for a checkpoint");
    const bb_checkpoint file = {.about = {(const uint8_t *)text, strlen(text)},
                                .curator = place};
    const bb_status status = bb_checkpoint_write(k->path, &file);
    free(text);
    return status;
}

void bb_place_time(char text[BB_PLACE_TIME]) {
    const time_t now = time(NULL);
    struct tm at = {0};
    gmtime_r(&now, &at);
    strftime(text, BB_PLACE_TIME, "%Y-%m-%dT%H:%M:%SZ", &at);
}

const char *bb_place_kept_began(const bb_place_kept *k) {
    return text_of(k->about, "began");
}

static bb_status begin(bb_place_kept *k, const char *place, const char *fingerprint) {
    char token[BB_KEPT_TOKEN], now[BB_PLACE_TIME];
    const bb_status status = bb_kept_draw_token(token);
    if (status) return status;
    bb_place_time(now);
    k->about = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:b}", "program", "billboard",
                         "version", BB_VERSION, "place", place, "token", token,
                         "fingerprint", fingerprint, "began", now, "charged", 0);
    return write_file(k, (bb_bytes){0});
}

/* A fingerprint of NULL: of whatever rows. */
static bb_status check_same(const bb_place_kept *k, const char *place,
                            const char *fingerprint) {
    const char *const was = text_of(k->about, "place");
    if (strcmp(text_of(k->about, "program"), "billboard") != 0 || !*was)
        return bb_fail(BB_EDATA, "%s: keeps no silo and no curator", k->path);
    if (strcmp(text_of(k->about, "version"), BB_VERSION) != 0)
        return bb_fail(
            BB_EUSAGE,
            "%s: was kept by billboard %s; this is %s, which may not compute "
            "the same: go on with that one",
            k->path, text_of(k->about, "version"), BB_VERSION);
    if (strcmp(was, place) != 0)
        return bb_fail(BB_EUSAGE, "%s: keeps the %s, not the %s", k->path, was, place);
    if (fingerprint && strcmp(text_of(k->about, "fingerprint"), fingerprint) != 0)
        return bb_fail_kept(k->path,
                            "is of other rows, or they were prepared in another way");
    return BB_OK;
}

static bool is_there(const char *path) {
    struct stat there;
    return lstat(path, &there) == 0;
}

static bb_status go_on(bb_place_kept *k, const char *place, const char *fingerprint) {
    bb_checkpoint file;
    json_error_t error;
    const bb_status status = bb_checkpoint_read(k->path, &file, &k->map);
    if (status) return status;
    k->about = json_loadb((const char *)file.about.at, file.about.length, 0, &error);
    k->saved = file.curator;
    return check_same(k, place, fingerprint);
}

static bool is_charged(const bb_place_kept *k) {
    return json_is_true(json_object_get(k->about, "charged"));
}

/* A process that was killed behind the charge could not write down that it was made. */
static bb_status look_for_charge(const bb_place_kept *k, bb_ledger *ledger,
                                 bool *charged) {
    *charged = is_charged(k);
    if (!ledger) return BB_OK;
    const bb_status status = bb_ledger_name_token(ledger, text_of(k->about, "token"));
    return status || *charged ? status : bb_ledger_has_token(ledger, charged);
}

bb_status bb_place_kept_look(bb_place_kept *k, const char *path, const char *place,
                             const char *fingerprint) {
    *k = (bb_place_kept){0};
    if (!path || !is_there(path)) return BB_OK;
    const bb_status status = bb_duplicate(&k->path, path, strlen(path));
    return status ? status : go_on(k, place, fingerprint);
}

static const char taken[] = "another process has this checkpoint";

bb_status bb_place_kept_check(const char *path, const char *place, bb_ledger *ledger,
                              bool *charged) {
    bb_place_kept k = {0};
    bool known = false;
    *charged = false;
    if (!path) return BB_OK;
    bb_status status = bb_file_check_folder(path);
    if (!status) status = bb_lock_check(path, taken);
    if (status || !is_there(path)) return status;
    status = bb_place_kept_look(&k, path, place, NULL);
    if (!status) status = look_for_charge(&k, ledger, charged);
    if (!status && ledger && *charged) status = bb_ledger_has_token(ledger, &known);
    if (!status && ledger && *charged && !known)
        status = bb_ledger_take_up(ledger, true); /* which says that it cannot */
    bb_place_kept_close(&k);
    return status;
}

bb_status bb_place_kept_open(bb_place_kept *k, const char *path, const char *place,
                             const char *fingerprint) {
    *k = (bb_place_kept){0};
    if (!path) return BB_OK;
    bb_status status = bb_duplicate(&k->path, path, strlen(path));
    if (!status) status = bb_lock_take(&k->lock, path, taken);
    if (status) return status;
    return is_there(path) ? go_on(k, place, fingerprint) : begin(k, place, fingerprint);
}

bb_status bb_place_kept_charge_once(const bb_place_kept *k, bb_ledger *ledger,
                                    bool over) {
    bool charged;
    if (!k->path || !ledger) return BB_OK;
    const bb_status status = look_for_charge(k, ledger, &charged);
    return status || !charged ? status : bb_ledger_take_up(ledger, over);
}

bb_status bb_place_kept_write(bb_place_kept *k, const bb_ledger *ledger,
                              bb_bytes place) {
    if (!k->path)
        return bb_fail(BB_EUSAGE, "this place has no file to be kept in: give the "
                                  "option checkpoint");
    if (ledger && bb_ledger_reserved(ledger) &&
        json_object_set_new(k->about, "charged", json_true()))
        return bb_fail(BB_ENOMEM, "no memory for a checkpoint");
    return write_file(k, place);
}

void bb_place_kept_remove(bb_place_kept *k) {
    if (k->path) unlink(k->path);
}

void bb_place_kept_close(bb_place_kept *k) {
    bb_lock_give(&k->lock);
    json_decref(k->about);
    bb_map_close(&k->map);
    free(k->path);
    *k = (bb_place_kept){0};
}
