/* csv_blocks.c - the rows of a CSV file by several threads: the file is cut at ends of
 * lines, every piece is read on its own, and the rows are put behind each other in order.
 * That lines end where rows do is seen while a piece is read, as long as it is so in those
 * before it. Threads read their pieces of a plain file themselves. */
#include "base/memory.h"
#include "base/parallel.h"
#include "data/csv_rows.h"
#include "data/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PIECE = 1 << 18,
    PIECES_OF_A_THREAD = 8,
    LONGEST_LINE = 1 << 22, /* about, in bytes as the others */
    MORE = 1 << 12
};

typedef struct piece {
    size_t from, length; /* of the file, or of what was read of it */
    char *room;          /* for the text and what may be read around it */
    size_t room_size;
    bb_text text;
    bb_csv rows;
    bb_csv_plain plain;
    bb_builder_part part;
    bool joined; /* the rows have a place, but are not there yet */
    bb_status status;
} piece;

typedef struct blocks {
    bb_csv *csv;
    bb_engine engine;
    int file;        /* -1: the pieces are of what the text has read */
    size_t from, to; /* of a file: what is to be read of it */
    size_t count;
    piece *piece; /* count */
} blocks;

static bb_status open_pieces(blocks *b) {
    const bb_csv *csv = b->csv;
    b->count = PIECES_OF_A_THREAD * b->engine.workers;
    bb_status status =
        bb_allocate(&b->piece, b->count, sizeof *b->piece, "parts of a file");
    for (size_t k = 0; k < b->count && !status; k++) {
        piece *p = &b->piece[k];
        p->rows = (bb_csv){.text = &p->text,
                           .options = csv->options,
                           .header = csv->header,
                           .columns = csv->columns,
                           .encoding = csv->encoding,
                           .later = true};
        p->rows.cells = (bb_csv_cells){
            .text = &p->text, .separator = csv->cells.separator, .header = csv->header};
        p->rows.builder.features = csv->builder.features;
        status = bb_csv_open_texts(&p->rows);
        p->rows.builder.multilabel = csv->builder.multilabel;
    }
    return status;
}

static void close_pieces(blocks *b) {
    for (size_t k = 0; k < b->count && b->piece; k++) {
        free(b->piece[k].room);
        free(b->piece[k].part.number);
        free(b->piece[k].rows.texts);
        bb_builder_free(&b->piece[k].rows.builder);
        bb_csv_cells_close(&b->piece[k].rows.cells);
        bb_csv_marks_close(&b->piece[k].plain.marks);
    }
    free(b->piece);
}

/* Behind the last line that ends before `to`; the whole text where nothing follows. */
static const char *line_end(const bb_text *text, const char *from, const char *to) {
    if (to >= text->end && text->ended) return text->end;
    if (to > text->end) to = text->end;
    while (to > from && to[-1] != '\n') to--;
    return to;
}

/* Cuts what was read; false: there is no whole line. */
static bool cut(const blocks *b) {
    const bb_text *text = b->csv->text;
    const char *from = text->at;
    for (size_t k = 0; k < b->count; k++) {
        const char *end = line_end(text, from, from + PIECE);
        b->piece[k].from = (size_t)(from - text->at);
        b->piece[k].length = (size_t)(end - from);
        from = end;
    }
    return from > text->at;
}

/* Room for so many bytes; where they begin. */
static bb_status make_room(piece *p, size_t length, char **begin) {
    const bb_status status =
        bb_grow(&p->room, &p->room_size, BB_SCAN_BEFORE + length + BB_CSV_BEHIND, 1,
                "reading a file");
    if (!status) *begin = p->room + BB_SCAN_BEFORE;
    return status;
}

static bb_status copy_text(piece *p, const bb_text *from, char **at) {
    const bb_status status = make_room(p, p->length, at);
    if (!status) memcpy(*at, from->at + p->from, p->length);
    return status;
}

/* As many bytes of the file as there are; fewer if it ends, or cannot be read: whoever
 * goes on there will see. */
static size_t read_bytes(int file, char *to, size_t size, size_t from) {
    size_t got = 0;
    while (got < size) {
        const ssize_t n = pread(file, to + got, size - got, (off_t)(from + got));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        got += (size_t)n;
    }
    return got;
}

/* Reads on to the end of the line, or of the file. */
static bb_status end_line(piece *p, const blocks *b, size_t from, size_t *got,
                          char **at) {
    while (from + *got < b->to && (*at)[*got - 1] != '\n') {
        const size_t left = b->to - from - *got, more = left < MORE ? left : MORE;
        if (*got > PIECE + LONGEST_LINE) return BB_EDATA;
        const bb_status status = make_room(p, *got + more, at);
        if (status) return status;
        char *const behind = *at + *got;
        const size_t read = read_bytes(b->file, behind, more, from + *got);
        const char *const end = memchr(behind, '\n', read);
        if (read == 0) return BB_OK;
        *got += end ? (size_t)(end + 1 - behind) : read;
    }
    return BB_OK;
}

/* The lines that begin in a piece of the file, the first one wherever it does. */
static bb_status read_lines(piece *p, const blocks *b, size_t k, char **at) {
    const size_t whole = b->from + k * PIECE, from = whole - (k > 0);
    const size_t left = b->to > from ? b->to - from : 0;
    const size_t wanted = PIECE + (k > 0) < left ? PIECE + (k > 0) : left;
    p->from = from;
    p->length = 0;
    bb_status status = make_room(p, wanted, at);
    if (status) return status;
    size_t got = read_bytes(b->file, *at, wanted, from), skipped = 0;
    const char *const end = k > 0 && got > 0 ? memchr(*at, '\n', got) : NULL;
    if (end) skipped = (size_t)(end + 1 - *at);
    if (got == 0 || (k > 0 && !end) || skipped == got) return BB_OK;
    status = end_line(p, b, from, &got, at);
    p->from = from + skipped;
    p->length = got - skipped;
    *at += skipped;
    return status;
}

static bb_status take_text(piece *p, const blocks *b, size_t k) {
    char *at = NULL;
    const bb_status status =
        b->file < 0 ? copy_text(p, b->csv->text, &at) : read_lines(p, b, k, &at);
    if (status) return status;
    p->text = (bb_text){.path = b->csv->text->path,
                        .at = at,
                        .end = at + p->length,
                        .ended = true,
                        .line = 1};
    memset(p->text.end, 0, BB_CSV_BEHIND);
    return bb_csv_plain_open(&p->plain, &p->rows);
}

static bb_status read_rows(piece *p) {
    bb_csv *const rows = &p->rows;
    bool ended = false;
    bb_status status = BB_OK;
    while (!status) {
        status = bb_csv_at_end(&rows->cells, &ended);
        if (ended) break;
        if (!status && !bb_csv_plain_row(&p->plain, rows)) status = bb_csv_row(rows);
    }
    return status;
}

/* Rows that were read before get to their place, and the piece's next ones are read. */
static void work(void *context, size_t item, size_t worker) {
    const blocks *b = context;
    piece *p = &b->piece[item];
    (void)worker;
    if (p->joined) bb_builder_fill(&b->csv->builder, &p->rows.builder, &p->part);
    p->joined = false;
    bb_builder_clear(&p->rows.builder);
    p->rows.dropped = 0;
    p->rows.spelt = 0;
    for (size_t c = 0; c < p->rows.encoding->categories; c++)
        p->rows.texts[c] = (bb_text_count){0};
    p->rows.cells.torn = false;
    p->status = take_text(p, b, item);
    if (!p->status) p->status = read_rows(p);
}

static void finish(void *context, size_t item, size_t worker) {
    const blocks *b = context;
    piece *p = &b->piece[item];
    (void)worker;
    if (p->joined) bb_builder_fill(&b->csv->builder, &p->rows.builder, &p->part);
}

/* Gives the rows their places behind each other, up to the first piece that cannot stand
 * alone; *ended: there were none. */
static bb_status join(blocks *b, bool *ended) {
    bb_csv *csv = b->csv;
    bb_status status = BB_OK;
    size_t used = 0;
    *ended = false;
    for (size_t k = 0; k < b->count && !status && !*ended; k++) {
        piece *p = &b->piece[k];
        const size_t here = b->file < 0 ? used : b->from;
        *ended = p->status || p->rows.cells.torn || (p->length && p->from != here);
        if (*ended || p->length == 0) continue;
        status = bb_builder_append(&csv->builder, &p->rows.builder, csv->text->line - 1,
                                   &p->part);
        if (status) break;
        p->joined = true;
        csv->dropped += p->rows.dropped;
        csv->spelt |= p->rows.spelt;
        bb_text_counts_add(csv->encoding->categories, csv->texts, p->rows.texts);
        csv->text->line += p->text.line - 1;
        b->from += p->length;
        used += p->length;
    }
    if (b->file < 0) csv->text->at += used;
    *ended = *ended || used == 0;
    return status;
}

bb_status bb_csv_blocks(bb_csv *csv, size_t threads) {
    blocks b = {.csv = csv, .engine = bb_engine_threads(threads)};
    bool ended = false;
    b.file = bb_text_plain(csv->text, &b.from, &b.to);
    bb_status status = open_pieces(&b);
    while (!status && !ended) {
        if (b.file < 0) status = bb_text_fill(csv->text, b.count * PIECE);
        if (status || (b.file < 0 && !cut(&b))) break;
        b.engine.each(&b.engine, b.count, work, &b);
        status = join(&b, &ended);
    }
    if (!status) b.engine.each(&b.engine, b.count, finish, &b);
    if (!status && b.file >= 0) status = bb_text_go(csv->text, b.from, csv->text->line);
    close_pieces(&b);
    return status;
}
