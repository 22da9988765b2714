/* csv_plain.c - rows as almost all are, whose cells need no look at their bytes one after
 * the other. Whatever is not so is left to csv_rows.c, which also says what is wrong. */
#include "data/csv_rows.h"
#include "data/scan.h"

#include <string.h>

bb_status bb_csv_plain_open(bb_csv_plain *p, const bb_csv *c) {
    const bb_text *const text = c->text;
    p->possible = !c->builder.multilabel && c->encoding->categories == 0 &&
                  c->encoding->classes.name.count == 0;
    p->base = text->at;
    p->next = p->length = 0;
    return p->possible
               ? bb_csv_marks_find(&p->marks, text->at, (size_t)(text->end - text->at),
                                   c->cells.separator)
               : BB_OK;
}

/* A cell that is its text: not quoted, and not the end of a line of another kind. */
static bool is_plain(const char *from, const char *to) {
    unsigned other = *from == '"' || to - from > BB_TEXT_TOKEN;
    for (; from < to; from++) other |= (*from == '\r') | (*from == '\0');
    return !other;
}

static bool take_task(bb_csv_plain *p, bb_csv *c, const char *from, const char *to) {
    const size_t length = (size_t)(to - from);
    if (length == 0) return false;
    if (length == p->length && memcmp(from, p->name, length) == 0) return true;
    if (bb_is_blank(*from) || bb_is_blank(to[-1]) || !is_plain(from, to) ||
        !bb_is_utf8(from, length) ||
        bb_builder_task(&c->builder, from, length, &p->task))
        return false;
    p->name = from;
    p->length = length;
    return true;
}

/* Goes on behind rows that bb_csv_row has read. */
static void catch_up(bb_csv_plain *p, const bb_csv *c) {
    const size_t here = (size_t)(c->text->at - p->base);
    while (p->next < p->marks.count && p->marks.at[p->next] < here) p->next++;
}

/* The cells of the row that ends at the last of its marks; where the next one begins, or
 * NULL. */
static const char *take_cells(bb_csv_plain *p, bb_csv *c, double *x, double *y) {
    const uint32_t *const mark = p->marks.at + p->next;
    const unsigned char *const role = c->columns->role;
    const size_t count = c->columns->count;
    const char separator = c->cells.separator, *const base = p->base;
    const char *from = c->text->at;
    for (size_t k = 0; k < count; k++) {
        const char *const end = base + mark[k], *to = end;
        if (k + 1 == count)
            to -= to > from && to[-1] == '\r';
        else if (*end != separator)
            return NULL;
        bool taken;
        if (role[k] == BB_ROLE_FEATURE)
            taken = bb_scan_field(from, to, x++);
        else if (role[k] == BB_ROLE_TARGET)
            taken = bb_scan_field(from, to, y);
        else
            taken = role[k] == BB_ROLE_TASK ? take_task(p, c, from, to)
                                            : is_plain(from, to);
        if (!taken) return NULL;
        from = end + 1;
    }
    return from;
}

bool bb_csv_plain_row(bb_csv_plain *p, bb_csv *c) {
    const size_t count = c->columns->count;
    double *x, y = NAN;
    if (!p->possible) return false;
    catch_up(p, c);
    if (count > p->marks.count - p->next ||
        p->base[p->marks.at[p->next + count - 1]] != '\n' ||
        bb_builder_row(&c->builder, &x))
        return false;
    bb_encoding_begin(c->encoding, c->columns, x);
    const char *const next = take_cells(p, c, x, &y);
    if (!next || bb_builder_commit(&c->builder, p->task, y, c->text->line))
        return false;
    p->next += count;
    c->text->at += next - c->text->at;
    c->text->line++;
    return true;
}
