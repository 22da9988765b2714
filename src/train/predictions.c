/* What models say of rows, as CSV. */
#include "base/file.h"
#include "base/memory.h"
#include "data/write.h"
#include "train/trained.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef struct place {
    uint32_t line;
    size_t task, row;
} place;

static int by_line(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The order of lines; sources without lines count rows inside a task, so that numbers
 * repeat: then the order of tasks. */
static void find_places(const bb_dataset *rows, place *at) {
    bool repeats = false;
    for (size_t i = 0; i < rows->tasks; i++)
        for (size_t j = rows->first[i]; j < rows->first[i + 1]; j++)
            at[j] = (place){rows->line[j], i, j};
    qsort(at, rows->rows, sizeof *at, by_line);
    for (size_t j = 1; j < rows->rows; j++) repeats |= at[j].line == at[j - 1].line;
    for (size_t j = 0; j < rows->rows && repeats; j++) at[j].line = 0;
    if (repeats) qsort(at, rows->rows, sizeof *at, by_line);
}

/* What is said of every row, of whatever the loss says: a number, a class with its
 * probability, or a list of labels. */
typedef struct answers {
    const bb_trained *trained;
    double *number;   /* rows */
    uint32_t *class;  /* rows */
    size_t *first;    /* rows + 1 */
    uint32_t *labels; /* one list behind the other */
    size_t capacity;
    bb_status status;
} answers;

static void take_labels(answers *a, size_t j, size_t outputs, const double *z) {
    size_t used = a->first[j];
    for (size_t c = 0; c < outputs && !a->status; c++) {
        if (!(z[c] > 0.0)) continue;
        a->status = bb_grow(&a->labels, &a->capacity, used + 1, sizeof *a->labels,
                            "the predictions");
        if (!a->status) a->labels[used++] = (uint32_t)c;
    }
    a->first[j + 1] = used;
}

static void take(void *self, const bb_outputs *block) {
    answers *a = self;
    const size_t outputs = a->trained->models.outputs;
    for (size_t k = 0; k < block->rows; k++) {
        const size_t j = block->row + k;
        const double *z = block->z + k * outputs;
        if (a->trained->loss == BB_LOSS_MULTILABEL) {
            take_labels(a, j, outputs, z);
        } else if (a->trained->loss == BB_LOSS_SOFTMAX) {
            const size_t best = bb_largest_output(outputs, z);
            double sum = 0.0;
            for (size_t c = 0; c < outputs; c++) sum += exp(z[c] - z[best]);
            a->class[j] = (uint32_t)best;
            a->number[j] = 1.0 / sum;
        } else {
            a->number[j] =
                a->trained->loss == BB_LOSS_LOGISTIC ? 1.0 / (1.0 + exp(-*z)) : *z;
        }
    }
}

/* One task after the other, so that lists of labels lie in the order of rows. */
static bb_status ask(const bb_trained *t, const bb_dataset *rows, answers *a) {
    static const char what[] = "the predictions";
    bb_status status = BB_OK;
    a->trained = t;
    if (t->loss == BB_LOSS_MULTILABEL)
        status = bb_allocate(&a->first, rows->rows + 1, sizeof *a->first, what);
    else
        status = bb_allocate(&a->number, rows->rows, sizeof *a->number, what);
    if (!status && t->loss == BB_LOSS_SOFTMAX)
        status = bb_allocate(&a->class, rows->rows, sizeof *a->class, what);
    if (!status) status = bb_models_outputs(&t->models, rows, NULL, take, a);
    return status ? status : a->status;
}

static void write_answer(const answers *a, size_t j, FILE *stream) {
    if (a->class) fprintf(stream, ",%" PRIu32, a->class[j]);
    if (a->number) {
        fprintf(stream, ",%.17g\n", a->number[j]);
        return;
    }
    for (size_t k = a->first[j]; k < a->first[j + 1]; k++)
        fprintf(stream, "%c%" PRIu32, k == a->first[j] ? ',' : ' ', a->labels[k]);
    fputs(a->first[j] == a->first[j + 1] ? ",\n" : "\n", stream);
}

static void write_rows(const answers *a, const bb_dataset *rows, const place *at,
                       FILE *stream) {
    static const char *const heading[] = {"prediction", "probability",
                                          "class,probability", "labels"};
    fprintf(stream, "task,%s\n", heading[a->trained->loss]);
    for (size_t j = 0; j < rows->rows; j++) {
        bb_write_field(stream, rows->task_name[at[j].task]);
        write_answer(a, at[j].row, stream);
    }
}

bb_status bb_trained_print(const bb_trained *t, const bb_dataset *rows, FILE *stream) {
    answers a = {0};
    place *at = NULL;
    bb_status status = bb_allocate(&at, rows->rows, sizeof *at, "the predictions");
    if (!status) status = ask(t, rows, &a);
    if (!status) {
        find_places(rows, at);
        write_rows(&a, rows, at, stream);
    }
    free(a.number);
    free(a.class);
    free(a.first);
    free(a.labels);
    free(at);
    return status;
}

bb_status bb_trained_write(const bb_trained *t, const bb_dataset *rows,
                           const char *path) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream) return bb_fail(BB_ENOMEM, "%s: no memory for its text", path);
    bb_status status = bb_trained_print(t, rows, stream);
    const bool whole = !ferror(stream);
    if ((fclose(stream) || !whole) && !status)
        status = bb_fail(BB_ENOMEM, "%s: no memory for its text", path);
    if (!status) status = bb_file_write(path, text, size);
    free(text);
    return status;
}
