/* idx.c - images and labels in MNIST's IDX format (LeCun), which names no tasks: a text
 * does, a line an image. The three files are read side by side. */
#include "base/memory.h"
#include "data/builder.h"
#include "data/npy.h"
#include "data/readers.h"

#include <zlib.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_RANK = 4,
    MOST_FEATURES = 1 << 24,
    DEFLATE_MOST = 1032 /* no deflated byte can become more bytes */
};

/* An array that is being read. */
typedef struct idx {
    bb_text *text;
    bb_npy element; /* its type; `data` moves */
    size_t rows, features;
    size_t image[3]; /* height, width, channels of an array of 3 or 4 dimensions */
} idx;

typedef struct idx_files {
    idx images, labels;
    bb_text labels_text, tasks_text;
    const bb_read_options *options;
    bool unlabelled; /* there is no file of labels, and none is needed */
    bb_builder builder;
} idx_files;

/* Makes sure that `count` bytes were read, if they exist. */
static bb_status look_ahead(bb_text *t, size_t count) {
    bb_status status = BB_OK;
    while (!status && (size_t)(t->end - t->at) < count && !t->ended)
        status = bb_text_more(t);
    return status;
}

static bool parse_type(unsigned char code, bb_npy *element) {
    static const struct {
        unsigned char code;
        char kind;
        size_t width;
    } known[] = {{0x08, 'u', 1}, {0x09, 'i', 1}, {0x0b, 'i', 2},
                 {0x0c, 'i', 4}, {0x0d, 'f', 4}, {0x0e, 'f', 8}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].code == code) {
            *element = (bb_npy){.kind = known[i].kind,
                                .width = known[i].width,
                                .big_endian = true,
                                .rank = 1,
                                .rows = 1,
                                .columns = 1};
            return true;
        }
    return false;
}

/* A regular file cannot hold more than its size says, so that a damaged header does not
 * ask for memory. */
static bb_status check_size(const idx *a, size_t header) {
    const bb_text *const t = a->text;
    struct stat about;
    const uint64_t promised =
        (uint64_t)a->rows * a->features * a->element.width + header;
    if (stat(t->path, &about) != 0 || !S_ISREG(about.st_mode)) return BB_OK;
    const uint64_t size = (uint64_t)about.st_size;
    const uint64_t most = gzdirect(t->stream) ? size : size * DEFLATE_MOST;
    if (promised <= most) return BB_OK;
    return bb_fail(BB_EDATA,
                   "%s: cut off: %zu x %zu elements of %zu bytes are promised, the "
                   "file has %llu bytes",
                   t->path, a->rows, a->features, a->element.width,
                   (unsigned long long)size);
}

/* The header: two zeros, type, number of sizes, sizes of 4 bytes each, big end first.
 */
static bb_status open_array(idx *a, bb_text *text) {
    *a = (idx){.text = text, .features = 1};
    bb_status status = look_ahead(text, 4 + 4 * MOST_RANK);
    if (status) return status;
    const unsigned char *const p = (const unsigned char *)text->at;
    const size_t left = (size_t)(text->end - text->at);
    if (left < 4 || p[0] != 0 || p[1] != 0 || !parse_type(p[2], &a->element))
        return bb_fail(BB_EDATA, "%s: this is no IDX file", text->path);
    const size_t rank = p[3], header = 4 + 4 * rank;
    if (rank < 1 || rank > MOST_RANK || left < header)
        return bb_fail(BB_EDATA,
                       "%s: expected an array of 1 to %d dimensions, found %zu%s",
                       text->path, MOST_RANK, rank,
                       left < header && rank <= MOST_RANK ? ", cut off" : "");
    for (size_t i = 0; i < rank; i++) {
        const unsigned char *const q = p + 4 + 4 * i;
        const size_t size =
            (size_t)q[0] << 24 | (size_t)q[1] << 16 | (size_t)q[2] << 8 | q[3];
        if (i == 0)
            a->rows = size;
        else if (size == 0 || size > MOST_FEATURES / a->features)
            return bb_fail(BB_EDATA,
                           "%s: expected 1 to %d numbers an image, found a dimension "
                           "of %zu",
                           text->path, MOST_FEATURES, size);
        else
            a->features *= size;
        if (i > 0 && rank >= 3) a->image[i - 1] = size;
    }
    if (rank == 3) a->image[2] = 1;
    if (a->rows == 0) return bb_fail(BB_EDATA, "%s: the file has no rows", text->path);
    text->at += header;
    return check_size(a, header);
}

static bb_status take_element(const idx *a, const bb_read_options *o, size_t row,
                              size_t k, double *out) {
    bb_text *const t = a->text;
    bb_npy element = a->element;
    bb_status status = look_ahead(t, element.width);
    if (status) return status;
    if ((size_t)(t->end - t->at) < element.width)
        return bb_fail(BB_EDATA,
                       "%s: cut off in row %zu: %zu x %zu elements of %zu bytes are "
                       "promised",
                       t->path, row, a->rows, a->features, element.width);
    element.data = (const unsigned char *)t->at;
    *out = bb_npy_number(&element, 0, 0);
    t->at += element.width;
    if (isfinite(*out) || (o->keep_missing && isnan(*out))) return BB_OK;
    return bb_fail(BB_EDATA,
                   "%s: row %zu, element %zu: expected a finite number, found %g",
                   t->path, row, k, *out);
}

static bb_status check_end(const idx *a) {
    bb_status status = look_ahead(a->text, 1);
    if (!status && a->text->at < a->text->end)
        status = bb_fail(BB_EDATA,
                         "%s: more bytes than the %zu x %zu elements of %zu bytes that "
                         "are promised",
                         a->text->path, a->rows, a->features, a->element.width);
    return status;
}

/* -- tasks -- */

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next line without spaces around it, valid until the next one; `ended` where there
 * is none. */
static bb_status take_line(bb_text *t, const char **line, size_t *length, bool *ended) {
    size_t n = 0;
    for (;;) {
        while (t->at + n < t->end && t->at[n] != '\n') n++;
        if (t->at + n < t->end || t->ended) break;
        bb_status status = bb_text_more(t);
        if (status) return status;
    }
    *ended = t->at == t->end;
    *line = t->at;
    t->at += n + (t->at + n < t->end);
    while (n && is_space(**line)) (*line)++, n--;
    while (n && is_space((*line)[n - 1])) n--;
    *length = n;
    return BB_OK;
}

/* The task of an image: a whole line, in which commas and quotes would mean a table. */
static bb_status take_task(idx_files *s, size_t row, size_t *task) {
    bb_text *const t = &s->tasks_text;
    const char *line = NULL;
    size_t n = 0;
    bool ended = false;
    bb_status status = take_line(t, &line, &n, &ended);
    if (!status && row == 0 && n == 4 && memcmp(line, "task", 4) == 0) {
        t->line++;
        status = take_line(t, &line, &n, &ended);
    }
    if (status) return status;
    if (ended)
        return bb_fail(BB_EDATA, "%s: the tasks of %zu images, but %s has %zu", t->path,
                       row, s->images.text->path, s->images.rows);
    if (n == 0 || memchr(line, ',', n) || memchr(line, '"', n) || memchr(line, 0, n) ||
        !bb_is_utf8(line, n)) {
        char shown[BB_SHOWN_BYTES];
        return bb_fail(BB_EDATA,
                       "%s:%zu: expected the name of one task, without commas and "
                       "quotes, found %s",
                       t->path, t->line, bb_shown(shown, line, n));
    }
    t->line++;
    return bb_builder_task(&s->builder, line, n, task);
}

/* Empty lines may follow the last task, no more. */
static bb_status check_tasks_end(idx_files *s) {
    bb_text *const t = &s->tasks_text;
    for (bool ended = false;; t->line++) {
        const char *line = NULL;
        size_t n = 0;
        bb_status status = take_line(t, &line, &n, &ended);
        if (status || ended) return status;
        if (n)
            return bb_fail(BB_EDATA, "%s:%zu: a task more than the %zu images of %s",
                           t->path, t->line, s->images.rows, s->images.text->path);
    }
}

/* -- the three files -- */

/* The name of a file that belongs to images and has "labels" or "tasks" where they have
 * "images": train-images-idx3-ubyte.gz has train-labels-idx1-ubyte.gz, train-tasks.csv.
 */
static bb_status name_beside(const char *images, const char *what, char **out) {
    const char *const slash = strrchr(images, '/');
    const char *const base = slash ? slash + 1 : images;
    const char *const found = strstr(base, "images");
    if (!found)
        return bb_fail(BB_EUSAGE,
                       "%s: where are its labels and tasks? give --labels FILE and "
                       "--tasks FILE",
                       images);
    const size_t room = strlen(images) + 16;
    const char *rest = found + strlen("images");
    bb_status status = bb_allocate(out, room, 1, "a file's name");
    if (status) return status;
    const bool labels = strcmp(what, "labels") == 0;
    const int used =
        snprintf(*out, room, "%.*s%s", (int)(found - images), images, what);
    snprintf(*out + used, room - (size_t)used, "%s", labels ? rest : ".csv");
    char *const rank = labels ? strstr(*out + used, "idx") : NULL;
    if (rank && rank[3] >= '1' && rank[3] <= '4') rank[3] = '1';
    return BB_OK;
}

/* Opens the file that is given, or the one that belongs to the images. */
static bb_status open_beside(bb_text *text, const char *images, const char *given,
                             const char *what, char **name) {
    bb_status status = given ? BB_OK : name_beside(images, what, name);
    if (!status) status = bb_text_open(text, given ? given : *name);
    return status == BB_EIO ? bb_fail_context(status, "the %s of %s", what, images)
                            : status;
}

static bb_status add_images(idx_files *s) {
    bb_status status = BB_OK;
    s->builder.features = s->images.features;
    for (size_t r = 0; !status && r < s->images.rows; r++) {
        double *x, y = NAN;
        size_t task = 0;
        status = take_task(s, r, &task);
        if (!status && !s->unlabelled)
            status = take_element(&s->labels, s->options, r, 0, &y);
        if (!status) status = bb_builder_row(&s->builder, &x);
        for (size_t k = 0; !status && k < s->images.features; k++)
            status = take_element(&s->images, s->options, r, k, x + k);
        if (!status) status = bb_builder_commit(&s->builder, task, y, r);
    }
    if (!status) status = check_end(&s->images);
    if (!status && !s->unlabelled) status = check_end(&s->labels);
    return status ? status : check_tasks_end(s);
}

static bb_status read_files(idx_files *s, bb_text *text) {
    bb_status status = open_array(&s->images, text);
    if (!status && !s->unlabelled) status = open_array(&s->labels, &s->labels_text);
    if (status) return status;
    if (s->unlabelled) return add_images(s);
    if (s->labels.features != 1)
        return bb_fail(BB_EDATA, "%s: expected one label an image, found %zu numbers",
                       s->labels_text.path, s->labels.features);
    if (s->labels.rows != s->images.rows)
        return bb_fail(BB_EDATA, "%s: %zu labels, but %s has %zu images",
                       s->labels_text.path, s->labels.rows, text->path, s->images.rows);
    return add_images(s);
}

bb_status bb_read_idx(bb_text *text, const bb_read_options *o, bb_dataset *out) {
    idx_files s = {.options = o};
    bb_dataset data = {0};
    char *labels = NULL, *tasks = NULL;
    if (o->task || o->target || o->features || o->ignore)
        return bb_fail(BB_EUSAGE,
                       "%s: IDX files have no column names; --task, --target, "
                       "--features and --ignore do not apply",
                       text->path);
    bb_status status =
        open_beside(&s.labels_text, text->path, o->labels, "labels", &labels);
    if (status == BB_EIO && o->target_optional && labels && access(labels, F_OK)) {
        s.unlabelled = true;
        status = BB_OK;
    }
    if (!status)
        status = open_beside(&s.tasks_text, text->path, o->tasks, "tasks", &tasks);
    if (!status) status = read_files(&s, text);
    if (!status) status = bb_builder_finish(&s.builder, &data);
    if (!status) status = bb_names_count(&data.feature_name, data.features, "x");
    if (!status && !s.unlabelled) status = bb_duplicate(&data.target_name, "y", 1);
    if (!status) status = bb_duplicate(&data.source, text->path, strlen(text->path));
    data.height = s.images.image[0];
    data.width = s.images.image[1];
    data.channels = s.images.image[2];
    bb_builder_free(&s.builder);
    bb_text_close(&s.labels_text);
    bb_text_close(&s.tasks_text);
    free(labels);
    free(tasks);
    if (status)
        bb_dataset_free(&data);
    else
        *out = data;
    return status;
}
