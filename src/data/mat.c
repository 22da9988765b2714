#include "data/mat.h"

#include "base/memory.h"
#include "data/builder.h"
#include "data/readers.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PIECE = 1 << 16, /* elements */
    /* the child's limits; deflate makes at most 1032 bytes of one */
    MEMORY_LEAST = 1 << 28,
    MEMORY_A_BYTE = 4096,
    SECONDS_LEAST = 2, /* of the processor; WAITS times as many on the clock */
    BYTES_A_SECOND = 1 << 18,
    WAITS = 5
};

typedef struct mat {
    const char *path, *x, *y; /* the file and its two variables */
    FILE *pipe;
    bb_builder builder;
    size_t task;
} mat;

/* One matrix as it came: column-major, or compressed columns. */
typedef struct matrix {
    bool sparse;
    size_t rows, columns, entries;
    uint32_t *offset, *row;
    double *value;
} matrix;

static void free_matrix(matrix *m) {
    free(m->offset);
    free(m->row);
    free(m->value);
    *m = (matrix){0};
}

static bb_status fail_cut(const mat *s) {
    return bb_fail(BB_EDATA, "%s: the MATLAB file is damaged", s->path);
}

static bb_status take(mat *s, void *bytes, size_t size) {
    if (size && fread(bytes, 1, size, s->pipe) != size) return fail_cut(s);
    return BB_OK;
}

/* An array of `count` elements, taking no more memory than what really comes: a count
 * can be wrong. */
static bb_status take_array(mat *s, void *array, size_t count, size_t size) {
    size_t room = 0, have = 0;
    while (have < count) {
        const size_t most = have < PIECE ? PIECE : have;
        const size_t piece = count - have < most ? count - have : most;
        char *bytes;
        bb_status status = bb_grow(array, &room, have + piece, size, "a MATLAB matrix");
        if (status) return status;
        memcpy(&bytes, array, sizeof bytes);
        status = take(s, bytes + have * size, piece * size);
        if (status) return status;
        have += piece;
    }
    return BB_OK;
}

/* A record; a FAILED one becomes the failure that it tells. */
static bb_status take_record(mat *s, bb_mat_record *record) {
    char words[512] = "";
    bb_status status = take(s, record, sizeof *record);
    if (status || record->kind != BB_MAT_FAILED) return status;
    if (record->rows >= sizeof words) return fail_cut(s);
    status = take(s, words, record->rows);
    if (status) return status;
    return bb_fail(record->columns == BB_EIO ? BB_EIO : BB_EDATA, "%s: %s", s->path,
                   words);
}

static bb_status check_sparse(const mat *s, const matrix *m) {
    if (m->offset[0] != 0 || m->offset[m->columns] != m->entries) return fail_cut(s);
    for (size_t k = 0; k < m->columns; k++)
        if (m->offset[k] > m->offset[k + 1]) return fail_cut(s);
    for (size_t e = 0; e < m->entries; e++)
        if (m->row[e] >= m->rows) return fail_cut(s);
    return BB_OK;
}

static bb_status take_matrix(mat *s, matrix *m) {
    bb_mat_record record;
    bb_status status = take_record(s, &record);
    if (status) return status;
    if ((record.kind != BB_MAT_DENSE && record.kind != BB_MAT_SPARSE) ||
        record.rows > UINT32_MAX || record.columns > UINT32_MAX - 1 ||
        record.entries > UINT32_MAX)
        return fail_cut(s);
    *m = (matrix){.sparse = record.kind == BB_MAT_SPARSE,
                  .rows = record.rows,
                  .columns = record.columns,
                  .entries = record.entries};
    if (!m->sparse) m->entries = m->rows * m->columns;
    if (m->sparse) {
        status = take_array(s, &m->offset, m->columns + 1, sizeof *m->offset);
        if (!status) status = take_array(s, &m->row, m->entries, sizeof *m->row);
    }
    if (!status) status = take_array(s, &m->value, m->entries, sizeof *m->value);
    if (!status && m->sparse) status = check_sparse(s, m);
    return status;
}

static bb_status fail_number(const mat *s, const char *name, size_t row, size_t column,
                             double value) {
    return bb_fail(
        BB_EDATA,
        "%s: %s{%zu}, row %zu, column %zu: expected a finite number, found %g", s->path,
        name, s->task + 1, row + 1, column + 1, value);
}

/* Every number must be finite, or missing if that is kept. */
static bb_status check_numbers(const mat *s, const char *name, const matrix *m,
                               bool keep_missing) {
    for (size_t k = 0, e = 0; e < m->entries; k++) {
        const size_t end = m->sparse ? m->offset[k + 1] : (k + 1) * m->rows;
        for (; e < end; e++)
            if (!isfinite(m->value[e]) && !(keep_missing && isnan(m->value[e])))
                return fail_number(s, name, m->sparse ? m->row[e] : e % m->rows, k,
                                   m->value[e]);
    }
    return BB_OK;
}

/* X and Y of one task must fit to each other and to the other tasks. */
static bb_status check_shapes(mat *s, const matrix *x, const matrix *y) {
    const size_t i = s->task + 1;
    if (y->sparse)
        return bb_fail(BB_EDATA, "%s: %s{%zu}: expected a dense vector", s->path, s->y,
                       i);
    if (x->rows != y->entries || (y->entries && y->rows != 1 && y->columns != 1))
        return bb_fail(
            BB_EDATA,
            "%s: %s{%zu} has %zu row%s, but %s{%zu} is %zu x %zu; expected one "
            "target a row",
            s->path, s->x, i, x->rows, bb_plural((double)x->rows), s->y, i, y->rows,
            y->columns);
    if (x->rows == 0) return BB_OK;
    if (x->columns == 0)
        return bb_fail(BB_EDATA, "%s: %s{%zu} has no columns", s->path, s->x, i);
    if (s->builder.rows == 0) s->builder.features = x->columns;
    if (x->columns != s->builder.features)
        return bb_fail(BB_EDATA,
                       "%s: %s{%zu} has %zu column%s, the tasks before have %zu",
                       s->path, s->x, i, x->columns, bb_plural((double)x->columns),
                       s->builder.features);
    if (s->builder.rows && (s->builder.x != NULL) == x->sparse)
        return bb_fail(BB_EDATA, "%s: %s{%zu} is %s, the tasks before are not", s->path,
                       s->x, i, x->sparse ? "sparse" : "dense");
    return BB_OK;
}

/* The compressed columns of one task as rows: next[r] is where row r's next entry is.
 */
static bb_status add_sparse(mat *s, const matrix *m, const double *y, size_t task) {
    size_t *first = NULL;
    uint32_t *column = NULL;
    double *value = NULL;
    bb_status status = bb_allocate(&first, m->rows + 2, sizeof *first, "sparse rows");
    if (!status)
        status = bb_allocate(&column, m->entries, sizeof *column, "sparse rows");
    if (!status) status = bb_allocate(&value, m->entries, sizeof *value, "sparse rows");
    if (status) goto done;
    for (size_t e = 0; e < m->entries; e++) first[m->row[e] + 2]++;
    for (size_t r = 0; r < m->rows; r++) first[r + 2] += first[r + 1];
    for (size_t k = 0; k < m->columns; k++)
        for (size_t e = m->offset[k]; e < m->offset[k + 1]; e++) {
            const size_t to = first[m->row[e] + 1]++;
            column[to] = (uint32_t)k;
            value[to] = m->value[e];
        }
    for (size_t r = 0; !status && r < m->rows; r++) {
        for (size_t e = first[r]; !status && e < first[r + 1]; e++)
            status = e > first[r] && column[e] == column[e - 1]
                         ? fail_cut(s)
                         : bb_builder_entry(&s->builder, column[e], value[e]);
        if (!status) status = bb_builder_commit(&s->builder, task, y[r], r + 1);
    }
done:
    free(first);
    free(column);
    free(value);
    return status;
}

static bb_status add_dense(mat *s, const matrix *m, const double *y, size_t task) {
    for (size_t r = 0; r < m->rows; r++) {
        double *x;
        bb_status status = bb_builder_row(&s->builder, &x);
        if (status) return status;
        for (size_t k = 0; k < m->columns; k++) x[k] = m->value[k * m->rows + r];
        status = bb_builder_commit(&s->builder, task, y[r], r + 1);
        if (status) return status;
    }
    return BB_OK;
}

static bb_status take_task(mat *s, bool keep_missing) {
    matrix x = {0}, y = {0};
    char name[24];
    size_t task;
    bb_status status = take_matrix(s, &x);
    if (!status) status = take_matrix(s, &y);
    if (!status) status = check_shapes(s, &x, &y);
    if (!status) status = check_numbers(s, s->x, &x, keep_missing);
    if (!status) status = check_numbers(s, s->y, &y, keep_missing);
    const int length = snprintf(name, sizeof name, "%zu", s->task + 1);
    if (!status) status = bb_builder_task(&s->builder, name, (size_t)length, &task);
    if (!status)
        status = x.sparse ? add_sparse(s, &x, y.value, task)
                          : add_dense(s, &x, y.value, task);
    free_matrix(&x);
    free_matrix(&y);
    return status;
}

static bb_status take_records(mat *s, bool keep_missing, bb_dataset *data) {
    bb_mat_record record;
    bb_status status = take_record(s, &record);
    if (!status && record.kind != BB_MAT_START) status = fail_cut(s);
    const uint64_t cells = status ? 0 : record.rows;
    for (; !status && s->task < cells; s->task++) status = take_task(s, keep_missing);
    if (!status) status = take_record(s, &record);
    if (!status && record.kind != BB_MAT_END) status = fail_cut(s);
    if (!status && s->builder.rows == 0)
        status = bb_fail(BB_EDATA, "%s: \"%s\" has no rows", s->path, s->x);
    if (!status) status = bb_builder_finish(&s->builder, data);
    if (!status) status = bb_names_count(&data->feature_name, data->features, "x");
    if (!status) status = bb_duplicate(&data->target_name, s->y, strlen(s->y));
    if (!status) status = bb_duplicate(&data->source, s->path, strlen(s->path));
    return status;
}

bb_status bb_mat_parent(FILE *pipe, const char *path, const char *x, const char *y,
                        bool keep_missing, bb_dataset *out) {
    mat s = {.path = path, .x = x, .y = y, .pipe = pipe};
    bb_dataset data = {0};
    const bb_status status = take_records(&s, keep_missing, &data);
    bb_builder_free(&s.builder);
    if (status)
        bb_dataset_free(&data);
    else
        *out = data;
    return status;
}

/* A damaged file can make libmatio loop, or wait, or ask for more memory than there is:
 * limits that no good file of this size comes near. */
static void limit_child(const char *path) {
    struct stat about = {0};
    char pages[32] = "";
    const int statm = open("/proc/self/statm", O_RDONLY);
    const bool known = stat(path, &about) == 0 && statm >= 0 &&
                       read(statm, pages, sizeof pages - 1) > 0;
    const rlim_t size = known ? (rlim_t)about.st_size : 0;
    const rlim_t used = strtoull(pages, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE);
    const rlim_t memory = used + MEMORY_LEAST + MEMORY_A_BYTE * size;
    const rlim_t seconds = SECONDS_LEAST + size / BYTES_A_SECOND;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds});
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    alarm((unsigned)(seconds * WAITS));
    if (known) setrlimit(RLIMIT_AS, &(struct rlimit){memory, memory});
}

/* The child's whole life. stdout and stderr become /dev/null: libraries print. */
_Noreturn static void be_child(int pipe, const char *path, const char *x,
                               const char *y) {
    if (pipe <= STDERR_FILENO) pipe = fcntl(pipe, F_DUPFD, STDERR_FILENO + 1);
    const int nowhere = open("/dev/null", O_RDWR);
    if (nowhere >= 0) {
        dup2(nowhere, STDIN_FILENO);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    if (bb_mat_load(pipe)) {
        limit_child(path);
        bb_mat_child(pipe, path, x, y);
    }
    _exit(0);
}

/* Starts the child; *records is the end of the pipe to read from. */
static bb_status open_child(const char *path, const char *x, const char *y,
                            pid_t *child, FILE **records) {
    int end[2];
    if (pipe(end) < 0) return bb_fail(BB_EIO, "no pipe: %s", strerror(errno));
    *child = fork();
    if (*child == 0) {
        close(end[0]);
        be_child(end[1], path, x, y);
    }
    const int problem = errno;
    close(end[1]);
    if (*child > 0) *records = fdopen(end[0], "rb");
    if (*records) return BB_OK;
    close(end[0]);
    return *child < 0
               ? bb_fail(BB_EIO, "no process to read %s: %s", path, strerror(problem))
               : bb_fail(BB_ENOMEM, "no memory to read %s", path);
}

bb_status bb_read_mat(const char *path, const bb_read_options *options,
                      bb_dataset *out) {
    if (options->task || options->ignore)
        return bb_fail(
            BB_EUSAGE,
            "%s: the tasks of a MATLAB file are its cells; --task and --ignore "
            "do not apply",
            path);
    const char *const x = options->features ? options->features : "X";
    const char *const y = options->target ? options->target : "Y";
    FILE *records = NULL;
    pid_t child = -1;
    bb_status status = open_child(path, x, y, &child, &records);
    if (!status)
        status = bb_mat_parent(records, path, x, y, options->keep_missing, out);
    if (records) fclose(records); /* the child, if it still writes, gets SIGPIPE */
    if (child > 0)
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
    return status;
}
