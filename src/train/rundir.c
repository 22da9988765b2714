#include "train/rundir.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that every run directory has, and what it says first. */
static const char marker_file[] = "public/options.json", marker[] = "billboard";
static const char billboard_file[] = "public/billboard.bin";
static const char room_file[] = "operator/room";

static const char *const form_name[] = {"vector", "slot",  "square",
                                        "psd",    "outer", "selection"};

static bb_status failed(const char *path, const char *deed) {
    return bb_fail(BB_EIO, "%s: cannot be %s: %s", path, deed, strerror(errno));
}

/* -- what is there already -- */

bb_status bb_rundir_read(const char *path, const char *inside, json_t **out) {
    char *name = NULL;
    struct stat there;
    bb_status status = bb_file_join(&name, path, marker_file);
    if (!status && lstat(name, &there))
        status = bb_fail(BB_EDATA, "%s: is not a run directory: it has no %s", path,
                         marker_file);
    free(name);
    name = NULL;
    if (!status) status = bb_file_join(&name, path, inside);
    if (!status) status = bb_json_read_file(out, name);
    free(name);
    return status;
}

/* *is_run: a file of its kind is there and says so. Only memory can fail. */
static bb_status look(const char *path, bool *is_run) {
    json_t *options = NULL;
    const bb_status status = bb_rundir_read(path, marker_file, &options);
    if (status == BB_ENOMEM) return status;
    const char *program = json_string_value(json_object_get(options, "program"));
    *is_run = program && strcmp(program, marker) == 0;
    json_decref(options);
    return BB_OK;
}

static bool exists(const char *path) {
    struct stat there;
    return lstat(path, &there) == 0;
}

bb_status bb_rundir_check(const char *path, bool force) {
    bool is_run = false;
    if (!exists(path)) return BB_OK;
    if (!force)
        return bb_fail(BB_EUSAGE,
                       "%s: exists already; choose another name, remove it, or replace "
                       "a run directory with --force",
                       path);
    const bb_status status = look(path, &is_run);
    if (status || is_run) return status;
    return bb_fail(BB_EUSAGE,
                   "%s: exists and is not a run directory; --force does not replace it",
                   path);
}

/* -- building -- */

/* The name of a sibling: `path` without final slashes, and a word. */
static bb_status name_beside(const char *path, const char *word, char **name) {
    const size_t length = strlen(path), size = length + strlen(word) + 1;
    const bb_status status = bb_allocate(name, size, 1, "a file name");
    if (status) return status;
    size_t kept = length;
    while (kept > 1 && path[kept - 1] == '/') kept--;
    snprintf(*name, size, "%.*s%s", (int)kept, path, word);
    return BB_OK;
}

/* A temporary sibling for something that stands where `path` stands. */
static bb_status begin_beside(const char *path, const char *word, char **temporary) {
    char *name = NULL;
    bb_status status = name_beside(path, word, &name);
    if (!status) status = bb_directory_begin(temporary, name);
    free(name);
    return status;
}

static bb_status make_folder(const bb_rundir *dir, const char *inside, mode_t mode) {
    char *name = NULL;
    bb_status status = bb_rundir_name(dir, inside, &name);
    if (!status && mkdir(name, mode)) status = failed(name, "created");
    free(name);
    return status;
}

bb_status bb_rundir_name(const bb_rundir *dir, const char *inside, char **name) {
    return bb_file_join(name, dir->temporary ? dir->temporary : dir->path, inside);
}

static bb_status open_billboard(bb_rundir *dir) {
    char *name = NULL;
    bb_status status = bb_rundir_name(dir, billboard_file, &name);
    if (status) return status;
    dir->billboard = fopen(name, "wb");
    if (!dir->billboard) status = failed(name, "created");
    free(name);
    return status;
}

bb_status bb_rundir_begin(bb_rundir *out, const char *path, bool force) {
    return bb_rundir_begin_again(out, path, force, NULL);
}

bb_status bb_rundir_begin_again(bb_rundir *out, const char *path, bool force,
                                const char *temporary) {
    bb_rundir dir = {0};
    bb_status status = bb_duplicate(&dir.path, path, strlen(path));
    if (!status)
        status = bb_lock_take(&dir.lock, path,
                              "another run is being written there; choose another "
                              "name");
    if (!status) status = bb_rundir_check(path, force);
    dir.replaces = !status && exists(path);
    if (!status && temporary)
        status = bb_directory_again(&dir.temporary, temporary);
    else if (!status)
        status = begin_beside(path, dir.replaces ? ".new" : "", &dir.temporary);
    if (!status) status = make_folder(&dir, "public", 0777);
    if (!status) status = make_folder(&dir, "operator", 0700);
    if (!status) status = open_billboard(&dir);
    if (!status && !(dir.releases = json_array()))
        status = bb_fail(BB_ENOMEM, "no memory for the billboard's index");
    if (status)
        bb_rundir_close(&dir);
    else
        *out = dir;
    return status;
}

/* -- the billboard -- */

bb_status bb_rundir_keep(bb_rundir *dir) {
    *dir = (bb_rundir){0};
    dir->billboard = open_memstream(&dir->bytes, &dir->size);
    dir->releases = json_array();
    if (dir->billboard && dir->releases) return BB_OK;
    bb_rundir_close(dir);
    return bb_fail(BB_ENOMEM, "no memory for the billboard");
}

bb_status bb_rundir_copy(bb_rundir *dir, const bb_rundir *from) {
    if (from->size && fwrite(from->bytes, 1, from->size, dir->billboard) != from->size)
        return failed("the billboard", "written");
    json_decref(dir->releases);
    dir->releases = json_incref(from->releases);
    dir->numbers = from->numbers;
    dir->note = from->note;
    return BB_OK;
}

void bb_rundir_set_log(bb_rundir *dir, bb_release_log *log) {
    dir->log = log;
}

bb_status bb_rundir_replay(bb_rundir *dir) {
    bb_release_log *log = dir->log;
    dir->log = NULL;
    return bb_release_log_replay(log, dir->releases, dir->billboard);
}

static bb_status write_bytes(const bb_rundir *dir, const void *bytes, size_t size) {
    if (dir->log) return bb_release_log_bytes(dir->log, bytes, size);
    return fwrite(bytes, 1, size, dir->billboard) == size
               ? BB_OK
               : failed("the billboard", "written");
}

static bb_status write_numbers(const bb_rundir *dir, const double *value,
                               size_t count) {
    for (size_t k = 0; k < count; k++) {
        unsigned char byte[8];
        uint64_t bits;
        memcpy(&bits, &value[k], sizeof bits);
        for (int b = 0; b < 8; b++) byte[b] = (unsigned char)(bits >> (8 * b));
        const bb_status status = write_bytes(dir, byte, sizeof byte);
        if (status) return status;
    }
    return BB_OK;
}

static json_t *shape_of(const bb_block *block, size_t tasks) {
    const json_int_t n = (json_int_t)block->length;
    if (block->form == BB_FORM_SLOT) return json_pack("[I,I]", (json_int_t)tasks, n);
    if (block->form == BB_FORM_PSD || block->form == BB_FORM_OUTER)
        return json_pack("[I,I]", n, n);
    return json_pack("[I]", n);
}

static json_t *describe(const bb_rundir *dir, const bb_release *release, size_t b,
                        size_t tasks) {
    const bb_block *block = &release->layout->block[b];
    json_t *about =
        json_pack("{s:s,s:s,s:I,s:o,s:o,s:o}", "name", block->name, "form",
                  form_name[block->form], "at", (json_int_t)dir->numbers, "shape",
                  shape_of(block, tasks), "clip", bb_json_real(block->clip),
                  "noise_standard_deviation", bb_json_real(release->noise[b]));
    if (about && block->form == BB_FORM_SELECTION &&
        json_object_set_new(about, "winner",
                            json_integer((json_int_t)release->winner[b]))) {
        json_decref(about);
        return NULL;
    }
    return about;
}

/* The entry of the index; NULL: no memory. */
static json_t *describe_all(bb_rundir *dir, const bb_release *release, size_t tasks) {
    json_t *blocks = json_array();
    bool whole = blocks != NULL;
    for (size_t b = 0; b < release->layout->blocks && whole; b++) {
        whole = !json_array_append_new(blocks, describe(dir, release, b, tasks));
        dir->numbers += bb_block_sum_length(&release->layout->block[b], tasks);
    }
    if (whole)
        return json_pack("{s:I,s:o}", "round", (json_int_t)release->round, "blocks",
                         blocks);
    json_decref(blocks);
    return NULL;
}

bb_status bb_rundir_release(void *self, const bb_release *release, size_t tasks) {
    bb_rundir *dir = self;
    const size_t before = dir->numbers;
    json_t *entry = describe_all(dir, release, tasks);
    bb_status status = BB_OK;
    if (dir->log)
        status = bb_release_log_begin(dir->log, entry, dir->numbers - before);
    else if (json_array_append(dir->releases, entry))
        status = bb_fail(BB_ENOMEM, "no memory for the billboard's index");
    for (size_t b = 0; b < release->layout->blocks && !status; b++)
        status = write_numbers(dir, release->value[b],
                               bb_block_sum_length(&release->layout->block[b], tasks));
    if (!status && !dir->log && fflush(dir->billboard))
        status = failed("the billboard", "written");
    json_decref(entry);
    return status;
}

/* -- room -- */

bb_status bb_rundir_take_room(const bb_rundir *dir, size_t bytes) {
    char *name = NULL;
    bb_status status = bb_rundir_name(dir, room_file, &name);
    if (status) return status;
    const int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        status = failed(name, "created");
    } else {
        const int error = posix_fallocate(file, 0, (off_t)(bytes ? bytes : 1));
        if (error)
            status = bb_fail(BB_EIO, "%s: no room for %zu bytes of models: %s",
                             dir->path, bytes, strerror(error));
        close(file);
    }
    free(name);
    return status;
}

bb_status bb_rundir_give_room(const bb_rundir *dir) {
    char *name = NULL;
    bb_status status = bb_rundir_name(dir, room_file, &name);
    if (!status && unlink(name) && errno != ENOENT) status = failed(name, "removed");
    free(name);
    return status;
}

/* -- files -- */

bb_status bb_rundir_json(const bb_rundir *dir, const char *inside, json_t *json) {
    char *name = NULL;
    bb_status status = bb_rundir_name(dir, inside, &name);
    if (!status) status = bb_json_write_file(name, json);
    json_decref(json);
    free(name);
    return status;
}

bb_status bb_rundir_text(const bb_rundir *dir, const char *inside, const char *text) {
    char *name = NULL;
    bb_status status = bb_rundir_name(dir, inside, &name);
    if (!status) status = bb_file_write(name, text, strlen(text));
    free(name);
    return status;
}

static bb_status close_billboard(bb_rundir *dir) {
    FILE *file = dir->billboard;
    dir->billboard = NULL;
    if (fclose(file)) return failed("the billboard", "written");
    json_t *index = json_pack(
        "{s:s,s:s,s:I,s:O,s:s?}", "file", "billboard.bin", "numbers",
        "float64, least significant byte first, row-major", "count",
        (json_int_t)dir->numbers, "releases", dir->releases, "note", dir->note);
    return bb_rundir_json(dir, "public/billboard.json", index);
}

/* The old directory steps aside, the new one takes its place, the old one goes. */
static bb_status replace(const bb_rundir *dir) {
    char *old = NULL;
    bb_status status = begin_beside(dir->path, ".old", &old);
    if (status) return status;
    if (rename(dir->path, old)) {
        status = failed(dir->path, "moved aside");
        goto done;
    }
    status = bb_directory_commit(dir->temporary, dir->path);
    /* the new one is not in place unless only making that durable failed */
    if (status && exists(dir->temporary) && rename(old, dir->path)) {
        status = bb_fail_context(status, "the previous run is now %s", old);
        goto kept;
    }
done: /* at `old` is the previous run, or the empty place made for it */
    if (exists(old) && bb_directory_discard(old) && !status)
        status = bb_fail_context(BB_EIO, "the new run is in place");
kept:
    free(old);
    return status;
}

bb_status bb_rundir_commit(bb_rundir *dir) {
    bb_status status = close_billboard(dir);
    if (status) return status;
    status =
        dir->replaces ? replace(dir) : bb_directory_commit(dir->temporary, dir->path);
    if (status) return status;
    free(dir->temporary);
    dir->temporary = NULL;
    return BB_OK;
}

void bb_rundir_close(bb_rundir *dir) {
    if (dir->billboard) fclose(dir->billboard);
    if (dir->temporary && exists(dir->temporary))
        (void)!bb_directory_discard(dir->temporary);
    bb_lock_give(&dir->lock);
    free(dir->temporary);
    free(dir->path);
    free(dir->bytes);
    json_decref(dir->releases);
    *dir = (bb_rundir){0};
}
