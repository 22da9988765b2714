/* What models say of rows, as CSV. */
#include "base/memory.h"
#include "base/number.h"
#include "data/write.h"
#include "train/intervals.h"
#include "train/trained.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

typedef struct answers {
    const bb_trained *trained;
    bb_said said;
    size_t capacity;
    bb_status status;
} answers;

static void take_labels(answers *a, size_t j, size_t outputs, const double *z) {
    size_t used = a->said.first[j];
    for (size_t c = 0; c < outputs && !a->status; c++) {
        if (!(z[c] > 0.0)) continue;
        a->status = bb_grow(&a->said.labels, &a->capacity, used + 1,
                            sizeof *a->said.labels, "the predictions");
        if (!a->status) a->said.labels[used++] = (uint32_t)c;
    }
    a->said.first[j + 1] = used;
}

static void take(void *self, const bb_outputs *block) {
    answers *a = self;
    const size_t outputs = a->trained->models.outputs;
    for (size_t k = 0; k < block->rows; k++) {
        const size_t j = block->row + k;
        const double *z = block->z + k * outputs;
        if (a->said.output)
            memcpy(a->said.output + j * outputs, z, outputs * sizeof *z);
        if (a->trained->loss == BB_LOSS_MULTILABEL) {
            take_labels(a, j, outputs, z);
        } else if (a->trained->loss == BB_LOSS_SOFTMAX) {
            const size_t best = bb_largest_output(outputs, z);
            double sum = 0.0;
            for (size_t c = 0; c < outputs; c++) sum += exp(z[c] - z[best]);
            a->said.class[j] = (uint32_t)best;
            a->said.number[j] = 1.0 / sum;
        } else {
            a->said.number[j] =
                a->trained->loss == BB_LOSS_LOGISTIC ? 1.0 / (1.0 + exp(-*z)) : *z;
        }
    }
}

/* One task after the other, so that lists of labels lie in the order of rows. */
bb_status bb_trained_ask(const bb_trained *t, const bb_dataset *rows, bool outputs,
                         bb_said *said) {
    static const char what[] = "the predictions";
    answers all = {.trained = t}, *a = &all;
    bb_status status = BB_OK;
    if (t->loss == BB_LOSS_MULTILABEL)
        status =
            bb_allocate(&a->said.first, rows->rows + 1, sizeof *a->said.first, what);
    else
        status = bb_allocate(&a->said.number, rows->rows, sizeof *a->said.number, what);
    if (!status && t->loss == BB_LOSS_SOFTMAX)
        status = bb_allocate(&a->said.class, rows->rows, sizeof *a->said.class, what);
    if (!status && outputs)
        status = bb_allocate(&a->said.output, rows->rows,
                             t->models.outputs * sizeof *a->said.output, what);
    if (!status) status = bb_models_outputs(&t->models, rows, NULL, take, a);
    if (!status) status = a->status;
    if (status)
        bb_said_free(&a->said);
    else
        *said = a->said;
    return status;
}

bb_status bb_trained_bound(const bb_trained *t, const bb_dataset *rows, double level,
                           bb_said *said) {
    if (!t->intervals.tasks)
        return bb_fail(BB_EUSAGE, "this run kept nothing for intervals: train with "
                                  "--intervals (mp-mixed)");
    const bb_status status =
        bb_allocate(&said->half, rows->rows, sizeof *said->half, "the intervals");
    return status ? status
                  : bb_intervals_half(&t->intervals, t->models.features, rows, level,
                                      said->half);
}

void bb_said_free(bb_said *said) {
    free(said->half);
    free(said->number);
    free(said->class);
    free(said->first);
    free(said->labels);
    free(said->output);
    *said = (bb_said){0};
}

static void write_number(double value, FILE *stream) {
    char text[1 + BB_NUMBER_BYTES] = ",";
    fwrite(text, 1, 1 + bb_number_write(value, text + 1), stream);
}

/* A class, and how probable it is. Of two classes the number is the second's. */
static void write_class(const bb_said *a, const json_t *names, size_t j, FILE *stream) {
    const bool first = !a->class && a->number[j] < 0.5;
    const size_t class = a->class ? a->class[j] : !first;
    const char *name = json_string_value(json_array_get(names, class));
    putc(',', stream);
    if (name)
        bb_write_field(stream, name);
    else
        fprintf(stream, "%zu", class);
    write_number(first ? 1.0 - a->number[j] : a->number[j], stream);
    putc('\n', stream);
}

static void write_answer(const bb_said *a, size_t j, FILE *stream) {
    if (a->number) {
        write_number(a->number[j], stream);
        if (a->half && isfinite(a->half[j])) {
            write_number(a->number[j] - a->half[j], stream);
            write_number(a->number[j] + a->half[j], stream);
        } else if (a->half) {
            fputs(",,", stream);
        }
        putc('\n', stream);
        return;
    }
    for (size_t k = a->first[j]; k < a->first[j + 1]; k++)
        fprintf(stream, "%c%" PRIu32, k == a->first[j] ? ',' : ' ', a->labels[k]);
    fputs(a->first[j] == a->first[j + 1] ? ",\n" : "\n", stream);
}

static void write_rows(bb_loss loss, const bb_said *a, const json_t *names, bool lines,
                       const bb_dataset *rows, const place *at, FILE *stream) {
    static const char *const heading[] = {"prediction", "probability",
                                          "class,probability", "labels"};
    const bool class = loss == BB_LOSS_SOFTMAX || (loss == BB_LOSS_LOGISTIC && names);
    fprintf(stream, "%stask,%s%s\n", lines ? "line," : "",
            heading[class ? BB_LOSS_SOFTMAX : loss], a->half ? ",lower,upper" : "");
    for (size_t j = 0; j < rows->rows; j++) {
        if (lines) fprintf(stream, "%" PRIu32 ",", at[j].line);
        bb_write_field(stream, rows->task_name[at[j].task]);
        if (class)
            write_class(a, names, at[j].row, stream);
        else
            write_answer(a, at[j].row, stream);
    }
}

bb_status bb_predictions_order(const bb_dataset *rows, size_t *order) {
    place *at = NULL;
    const bb_status status =
        bb_allocate(&at, rows->rows, sizeof *at, "the predictions");
    if (status) return status;
    find_places(rows, at);
    for (size_t k = 0; k < rows->rows; k++) order[k] = at[k].row;
    free(at);
    return BB_OK;
}

bb_status bb_predictions_print(bb_loss loss, const bb_said *said, const json_t *names,
                               bool lines, const bb_dataset *rows, FILE *stream) {
    place *at = NULL;
    const bb_status status =
        bb_allocate(&at, rows->rows, sizeof *at, "the predictions");
    if (status) return status;
    find_places(rows, at);
    write_rows(loss, said, names, lines, rows, at, stream);
    free(at);
    return BB_OK;
}
