#include "data/pull.h"

#include "base/memory.h"
#include "data/names.h"
#include "data/scan.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOOK = 1100, /* bytes that are read ahead: more than any number has */
    MOST_DEPTH = 64,
    SHOWN = 24
};

static void step(bb_pull_parser *p, size_t bytes) {
    p->text->at += bytes;
    p->column += bytes;
}

/* How much of what comes next a message shows: up to a space or a JSON delimiter. */
static size_t token_length(const bb_text *t) {
    static const char delimiters[] = " \t\r\n,:[]{}\"";
    size_t n = 0;
    while (n < SHOWN && t->at + n < t->end && !strchr(delimiters, t->at[n])) n++;
    return n ? n : 1;
}

/* BB_EDATA: expected this, found what comes next. */
static bb_status bad(const bb_pull_parser *p, const char *expected) {
    const bb_text *const t = p->text;
    char place[256] = "", shown[BB_SHOWN_BYTES];
    if (p->place) p->place(p->reader, place, sizeof place);
    return bb_fail(BB_EDATA, "%s:%zu:%zu%s: expected %s, found %s", t->path, t->line,
                   p->column + 1, place, expected,
                   t->at == t->end ? "the end of the file"
                   : *t->at == '"' ? "a text"
                                   : bb_shown(shown, t->at, token_length(t)));
}

/* Makes sure that LOOK bytes were read, if they exist. */
static bb_status look_ahead(bb_text *t) {
    bb_status status = BB_OK;
    while (!status && t->end - t->at < LOOK && !t->ended) status = bb_text_more(t);
    return status;
}

bb_status bb_pull_peek(bb_pull_parser *p, char *next) {
    bb_text *const t = p->text;
    for (;;) {
        for (;; step(p, 1)) {
            if (*t->at == '\n') {
                t->line++;
                p->column = (size_t)-1; /* the step makes it 0 */
            } else if (*t->at != ' ' && *t->at != '\t' && *t->at != '\r') {
                break;
            }
        }
        if (t->end - t->at >= LOOK || t->ended) break;
        bb_status status = look_ahead(t);
        if (status) return status;
    }
    *next = *t->at;
    return BB_OK;
}

bb_status bb_pull_open(bb_pull_parser *p, char bracket) {
    char next;
    bb_status status = bb_pull_peek(p, &next);
    if (status) return status;
    if (next != bracket) return bad(p, bracket == '[' ? "a list" : "an object");
    if (p->depth == MOST_DEPTH) return bad(p, "at most 64 levels of brackets");
    p->depth++;
    step(p, 1);
    return BB_OK;
}

bb_status bb_pull_more(bb_pull_parser *p, char bracket, size_t items, bool *more) {
    const char close = bracket == '[' ? ']' : '}';
    char next;
    bb_status status = bb_pull_peek(p, &next);
    if (status) return status;
    *more = next != close;
    if (*more && items == 0) return BB_OK;
    if (*more && next != ',')
        return bad(p, bracket == '[' ? "\",\" or \"]\"" : "\",\" or \"}\"");
    step(p, 1);
    if (!*more) p->depth--;
    return BB_OK;
}

/* -- strings -- */

static bb_status add(bb_pull_parser *p, const char *bytes, size_t count) {
    bb_status status =
        bb_grow(&p->string, &p->room, p->length + count + 1, 1, "a text in JSON");
    if (status) return status;
    memcpy(p->string + p->length, bytes, count);
    p->length += count;
    p->string[p->length] = '\0';
    return BB_OK;
}

/* Four hexadecimal digits. */
static bool take_hex(bb_pull_parser *p, uint64_t *unit) {
    static const char digits[] = "0123456789abcdefABCDEF";
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        const char *const at = *p->text->at ? strchr(digits, *p->text->at) : NULL;
        if (!at) return false;
        const size_t value = (size_t)(at - digits);
        *unit = *unit << 4 | (value < 16 ? value : value - 6);
        step(p, 1);
    }
    return true;
}

/* What follows \u: a character, perhaps as two surrogates. */
static bb_status take_unicode(bb_pull_parser *p) {
    static const char expected[] = "a character as \\uXXXX, not 0";
    uint64_t c, low;
    char bytes[4];
    if (!take_hex(p, &c)) return bad(p, expected);
    if (c >= 0xd800 && c < 0xdc00) {
        if (strncmp(p->text->at, "\\u", 2) != 0)
            return bad(p, "the second half of a character");
        step(p, 2);
        if (!take_hex(p, &low) || low < 0xdc00 || low >= 0xe000)
            return bad(p, "the second half of a character");
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    const size_t n = c ? bb_utf8_encode(c, bytes) : 0;
    return n ? add(p, bytes, n) : bad(p, expected);
}

static bb_status take_escape(bb_pull_parser *p) {
    static const char code[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
    step(p, 1);
    const char c = *p->text->at;
    const char *const known = c ? strchr(code, c) : NULL;
    if (!known && c != 'u') return bad(p, "a letter of an escape");
    step(p, 1);
    return known ? add(p, meaning + (known - code), 1) : take_unicode(p);
}

bb_status bb_pull_string(bb_pull_parser *p) {
    bb_text *const t = p->text;
    char next;
    bb_status status = bb_pull_peek(p, &next);
    if (!status && next != '"') status = bad(p, "a text in quotes");
    if (status) return status;
    step(p, 1);
    p->length = 0;
    status = add(p, "", 0);
    while (!status) {
        status = look_ahead(t);
        if (status) return status;
        size_t n = 0; /* control characters, and the 0 at the end, stop it */
        while ((unsigned char)t->at[n] >= ' ' && t->at[n] != '"' && t->at[n] != '\\')
            n++;
        status = add(p, t->at, n);
        step(p, n);
        if (status || *t->at == '"') break;
        if (*t->at == '\\') {
            status = look_ahead(t);
            if (!status) status = take_escape(p);
        } else if (t->at < t->end || t->ended) {
            status = bad(p, "a character of a text, or its closing quote");
        }
    }
    if (status) return status;
    step(p, 1);
    if (bb_is_utf8(p->string, p->length)) return BB_OK;
    return bb_fail(BB_EDATA, "%s:%zu:%zu: the text that ends here is not UTF-8",
                   t->path, t->line, p->column);
}

bb_status bb_pull_key(bb_pull_parser *p) {
    char next;
    bb_status status = bb_pull_string(p);
    if (!status) status = bb_pull_peek(p, &next);
    if (!status && next != ':') status = bad(p, "\":\"");
    if (!status) step(p, 1);
    return status;
}

/* -- other values -- */

static const char *digits(const char *p) {
    while (*p >= '0' && *p <= '9') p++;
    return p;
}

/* The length of the JSON number at `start`, 0 if there is none. */
static size_t number_length(const char *start) {
    const char *p = start + (*start == '-'), *q = digits(p);
    if (q == p || (*p == '0' && q > p + 1)) return 0;
    if (*q == '.') {
        p = q + 1;
        q = digits(p);
        if (q == p) return 0;
    }
    if (*q == 'e' || *q == 'E') {
        p = q + 1 + (q[1] == '-' || q[1] == '+');
        q = digits(p);
        if (q == p) return 0;
    }
    return (size_t)(q - start);
}

/* A JSON number without the spaces before it; what follows it is not looked at. */
static bb_status take_number(bb_pull_parser *p, double *value) {
    const char *at = p->text->at;
    const size_t length = number_length(at);
    if (length == 0) return bad(p, "a number");
    if ((!bb_scan_number(&at, value) || at != p->text->at + length) &&
        bb_scan_cell(p->text->at, length, value) != BB_CELL_NUMBER)
        return bad(p, "a finite number of at most 1023 characters");
    step(p, length);
    return BB_OK;
}

bb_status bb_pull_number(bb_pull_parser *p, double *value) {
    char next;
    bb_status status = bb_pull_peek(p, &next);
    return status ? status : take_number(p, value);
}

static bool take_word(bb_pull_parser *p, const char *word) {
    const size_t length = strlen(word);
    const bool found = strncmp(p->text->at, word, length) == 0;
    if (found) step(p, length);
    return found;
}

bb_status bb_pull_number_or_null(bb_pull_parser *p, double *value) {
    char next;
    bb_status status = bb_pull_peek(p, &next);
    *value = NAN;
    return status || take_word(p, "null") ? status : take_number(p, value);
}

/* NOLINTNEXTLINE(misc-no-recursion): at most MOST_DEPTH levels */
bb_status bb_pull_skip(bb_pull_parser *p) {
    char next;
    double number;
    bool more = true;
    bb_status status = bb_pull_peek(p, &next);
    if (status) return status;
    if (next == '"') return bb_pull_string(p);
    if (next != '[' && next != '{') {
        if (take_word(p, "null") || take_word(p, "true") || take_word(p, "false"))
            return BB_OK;
        if (next != '-' && (next < '0' || next > '9')) return bad(p, "a value");
        return take_number(p, &number);
    }
    status = bb_pull_open(p, next);
    for (size_t items = 0; !status && more; items++) {
        status = bb_pull_more(p, next, items, &more);
        if (!status && more && next == '{') status = bb_pull_key(p);
        if (!status && more) status = bb_pull_skip(p);
    }
    return status;
}

bb_status bb_pull_end(bb_pull_parser *p) {
    char next;
    bb_status status = bb_pull_peek(p, &next);
    if (!status && p->text->at < p->text->end) status = bad(p, "the end of the file");
    return status;
}

void bb_pull_close(bb_pull_parser *p) {
    free(p->string);
    *p = (bb_pull_parser){0};
}
