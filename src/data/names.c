#define _GNU_SOURCE /* NOLINT: strverscmp */
#include "data/names.h"

#include "base/memory.h"
#include "base/number.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fowler-Noll-Vo 1a, 64 bits. */
uint64_t bb_names_hash(const char *text, size_t length) {
    uint64_t h = 0xcbf29ce484222325U;
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3U;
    return h ^ h >> 32;
}

const char *bb_names_at(const bb_names *names, size_t index) {
    assert(index < names->count);
    return names->text + names->start[index];
}

static size_t length_at(const bb_names *names, size_t index) {
    const size_t end = index + 1 < names->count ? names->start[index + 1] : names->used;
    return end - names->start[index] - 1;
}

/* The slot of a name: where it is, or the free one where it would be. */
static size_t slot_of(const bb_names *names, const char *text, size_t length) {
    size_t at = (size_t)bb_names_hash(text, length) & (names->slots - 1);
    for (; names->slot[at]; at = (at + 1) & (names->slots - 1)) {
        const size_t index = names->slot[at] - 1;
        if (length_at(names, index) == length &&
            memcmp(bb_names_at(names, index), text, length) == 0)
            break;
    }
    return at;
}

size_t bb_names_find(const bb_names *names, const char *text, size_t length) {
    if (names->slots == 0) return SIZE_MAX;
    const uint32_t found = names->slot[slot_of(names, text, length)];
    return found ? found - 1 : SIZE_MAX;
}

static bb_status enlarge_table(bb_names *names) {
    const size_t slots = names->slots ? 2 * names->slots : 64;
    uint32_t *slot = NULL;
    const bb_status status = bb_allocate(&slot, slots, sizeof *slot, "names");
    if (status) return status;
    free(names->slot);
    names->slot = slot;
    names->slots = slots;
    for (size_t i = 0; i < names->count; i++)
        slot[slot_of(names, bb_names_at(names, i), length_at(names, i))] =
            (uint32_t)(i + 1);
    return BB_OK;
}

bb_status bb_names_add(bb_names *names, const char *text, size_t length,
                       size_t *index) {
    bb_status status = BB_OK;
    if (names->slots <= 2 * names->count) status = enlarge_table(names);
    if (status) return status;
    const size_t at = slot_of(names, text, length);
    if (names->slot[at]) {
        *index = names->slot[at] - 1;
        return BB_OK;
    }
    if (names->count >= UINT32_MAX - 1)
        return bb_fail(BB_EDATA, "more than %zu different names", names->count);
    status = bb_grow(&names->start, &names->start_capacity, names->count + 1,
                     sizeof *names->start, "names");
    if (!status)
        status = bb_grow(&names->text, &names->text_capacity, names->used + length + 1,
                         1, "names");
    if (status) return status;
    memcpy(names->text + names->used, text, length);
    names->text[names->used + length] = '\0';
    names->start[names->count] = names->used;
    names->used += length + 1;
    *index = names->count++;
    names->slot[at] = (uint32_t)names->count;
    return BB_OK;
}

bb_status bb_names_add_all(bb_names *names, size_t count, char *const *name) {
    bb_status status = BB_OK;
    size_t index;
    for (size_t k = 0; k < count && !status; k++)
        status = bb_names_add(names, name[k], strlen(name[k]), &index);
    return status;
}

void bb_names_free(bb_names *names) {
    free(names->text);
    free(names->start);
    free(names->slot);
    *names = (bb_names){0};
}

void bb_names_show(const bb_names *names, char *text, size_t size) {
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < names->count; i++) {
        char shown[BB_SHOWN_BYTES];
        const char *const name = bb_names_at(names, i);
        bb_shown(shown, name, strlen(name));
        if (used + strlen(shown) + 7 > size) {
            snprintf(text + used, size - used, ", ...");
            return;
        }
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", shown);
    }
}

int bb_names_compare(const char *a, const char *b) {
    return strverscmp(a, b);
}

/* A block with room for `bytes` of strings behind `count` pointers. */
static bb_status open_block(char ***out, size_t count, size_t bytes) {
    return bb_allocate(out, count * sizeof(char *) + bytes, 1, "names");
}

bb_status bb_names_copy(char ***out, size_t count, char *const *name) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) bytes += strlen(name[i]) + 1;
    char **block;
    bb_status status = open_block(&block, count, bytes);
    if (status) return status;
    char *at = (char *)(block + count);
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(name[i]) + 1;
        block[i] = memcpy(at, name[i], length);
        at += length;
    }
    *out = block;
    return BB_OK;
}

bb_status bb_names_list(char ***out, const bb_names *names) {
    char **block;
    bb_status status = open_block(&block, names->count, names->used);
    if (status) return status;
    char *const text = (char *)(block + names->count);
    if (names->used) memcpy(text, names->text, names->used);
    for (size_t i = 0; i < names->count; i++) block[i] = text + names->start[i];
    *out = block;
    return BB_OK;
}

bb_status bb_names_count(char ***out, size_t count, const char *prefix) {
    const size_t most = strlen(prefix) + 21; /* the digits of 2^64 and a zero */
    char **block;
    bb_status status = open_block(&block, count, count * most);
    if (status) return status;
    char *at = (char *)(block + count);
    for (size_t i = 0; i < count; i++) {
        block[i] = at;
        at += snprintf(at, most, "%s%zu", prefix, i + 1) + 1;
    }
    *out = block;
    return BB_OK;
}

/* The name at `at`, without blanks around it and its quotes, to `name`, which has room for it;
 * where it ends. NULL: its quotes do not. */
static const char *take_name(const char *at, char *name, size_t *length) {
    const char *bare;
    while (bb_is_blank(*at)) at++;
    *length = 0;
    if (*at != '"') {
        const char *const end = at + strcspn(at, ",");
        *length = (size_t)(end - at);
        bare = at;
        bb_trim(&bare, length);
        memcpy(name, bare, *length);
        return end;
    }
    for (at++; *at; at++) {
        if (*at == '"' && *++at != '"') break;
        name[(*length)++] = *at;
    }
    return at[-1] == '"' && (*at == ',' || !*at) ? at : NULL;
}

bb_status bb_names_parse(bb_names *names, const char *list, const char *option) {
    char *name = NULL;
    bb_status status =
        bb_allocate(&name, list ? strlen(list) + 1 : 1, 1, "a list of names");
    for (const char *at = list; at && !status;) {
        const size_t before = names->count;
        size_t length, index;
        at = take_name(at, name, &length);
        if (!at || length == 0)
            status = bb_fail(BB_EUSAGE, "%s: %s in \"%s\"", option,
                             at ? "an empty name" : "a quote that does not end a name",
                             list);
        if (!status) status = bb_names_add(names, name, length, &index);
        if (!status && names->count == before)
            status = bb_fail(BB_EUSAGE, "%s: \"%.*s\" is named twice", option,
                             (int)length, name);
        at = at && *at ? at + 1 : NULL;
    }
    free(name);
    return status;
}

bb_status bb_names_append(char **list, const char *name) {
    const size_t before = *list ? strlen(*list) : 0;
    const bool quoted = strpbrk(name, ",\"") != NULL;
    char *all = NULL;
    /* every byte may be a quote, and is two then */
    const bb_status status =
        bb_allocate(&all, before + 2 * strlen(name) + 4, 1, "a list of names");
    if (status) return status;
    if (before) memcpy(all, *list, before);
    char *at = all + before;
    if (before) *at++ = ',';
    if (quoted) *at++ = '"';
    for (; *name; name++) {
        if (*name == '"') *at++ = '"';
        *at++ = *name;
    }
    if (quoted) *at++ = '"';
    free(*list);
    *list = all;
    return BB_OK;
}

/* Bytes of the UTF-8 character at text, 0 if it is none (Unicode 15, table 3-7). */
static size_t utf8_length(const unsigned char *text, size_t left) {
    const unsigned char c = text[0];
    if (c < 0x80) return 1;
    const size_t n = c >= 0xc2 && c <= 0xdf   ? 2U
                     : c >= 0xe0 && c <= 0xef ? 3U
                     : c >= 0xf0 && c <= 0xf4 ? 4U
                                              : 0U;
    if (n == 0 || n > left) return 0;
    const unsigned char least = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    const unsigned char most = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    if (text[1] < least || text[1] > most) return 0;
    for (size_t i = 2; i < n; i++)
        if (text[i] < 0x80 || text[i] > 0xbf) return 0;
    return n;
}

bool bb_is_utf8(const char *text, size_t length) {
    for (size_t at = 0; at < length;) {
        const size_t n = utf8_length((const unsigned char *)text + at, length - at);
        if (n == 0) return false;
        at += n;
    }
    return true;
}

size_t bb_utf8_encode(uint64_t c, char text[4]) {
    if (c < 0x80) {
        text[0] = (char)c;
        return 1;
    }
    const size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0;
    for (size_t i = n - 1; i > 0; i--, c >>= 6) text[i] = (char)(0x80 | (c & 0x3f));
    text[0] = (char)((n == 2 ? 0xc0U : n == 3 ? 0xe0U : 0xf0U) | c);
    return n;
}

bool bb_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

void bb_trim(const char **text, size_t *length) {
    while (*length && bb_is_blank(**text)) ++*text, --*length;
    while (*length && bb_is_blank((*text)[*length - 1])) --*length;
}

bool bb_names_trimmed_are_same(const char *a, const char *b) {
    size_t of_a = strlen(a), of_b = strlen(b);
    bb_trim(&a, &of_a);
    bb_trim(&b, &of_b);
    return of_a == of_b && memcmp(a, b, of_a) == 0;
}

bool bb_is_word(const char *text) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_./,:=+@%-";
    return *text && !text[strspn(text, plain)];
}

/* -- names that look the same -- */

/* Bytes of what stands on or behind a letter and is one character with it in the form NFC: an
 * accent (U+0300 to U+036F), a sign of kana (U+3099, U+309A), a part of a syllable of Hangul
 * (U+1160 to U+11FF). 0: it is none. */
static size_t part_length(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    if ((at[0] == 0xcc && at[1]) || (at[0] == 0xcd && at[1] && at[1] < 0xb0)) return 2;
    if (at[0] == 0xe3 && at[1] == 0x82 && (at[2] == 0x99 || at[2] == 0x9a)) return 3;
    const bool hangul = at[0] == 0xe1 && ((at[1] == 0x85 && at[2] >= 0xa0) ||
                                          at[1] == 0x86 || at[1] == 0x87);
    return hangul && at[2] ? 3 : 0;
}

/* Over what is not in ASCII, or has an accent. */
static const char *skip_marked(const char *at, bool *has_parts) {
    for (;;) {
        const size_t part = part_length(at);
        const bool marked = (unsigned char)*at & 0x80 || (*at && part_length(at + 1));
        if (!marked) return at;
        *has_parts = *has_parts || part;
        at += part ? part : 1;
    }
}

/* Whether they are the same but for such letters, and only one of them has any in parts. */
static bool differ_in_form(const char *a, const char *b) {
    bool parts_of_a = false, parts_of_b = false;
    for (;; a++, b++) {
        const char *plain_a = skip_marked(a, &parts_of_a);
        const char *plain_b = skip_marked(b, &parts_of_b);
        if ((plain_a == a) != (plain_b == b) || *plain_a != *plain_b) return false;
        if (!*plain_a) return parts_of_a != parts_of_b;
        a = plain_a;
        b = plain_b;
    }
}

bool bb_names_number(const char *name, double *value) {
    const double exact =
        9007199254740992.0; /* 2^53: above, doubles are not all integers */
    return bb_number_real(name, value) && *value > -exact && *value < exact;
}

/* How two different names that look the same differ; NULL: they look different. */
static const char *how_alike(const char *a, const char *b) {
    double of_a, of_b;
    if (bb_names_trimmed_are_same(a, b)) return "differs in blanks at its ends";
    if (bb_names_number(a, &of_a) && bb_names_number(b, &of_b) && of_a == of_b)
        return "is the same number";
    return differ_in_form(a, b)
               ? "looks the same, and is in another normal form of Unicode (NFC or NFD)"
               : NULL;
}

const char *bb_names_alike(char buffer[BB_ALIKE_BYTES], const bb_names *names,
                           const char *name, const char *is) {
    char shown[BB_SHOWN_BYTES];
    *buffer = '\0';
    for (size_t k = 0; k < names->count && !*buffer; k++) {
        const char *other = bb_names_at(names, k), *how = how_alike(other, name);
        if (how)
            snprintf(buffer, BB_ALIKE_BYTES, "; %s %s, which %s",
                     bb_shown(shown, other, strlen(other)), is, how);
    }
    return buffer;
}

const char *bb_shown(char buffer[BB_SHOWN_BYTES], const char *text, size_t length) {
    size_t used = 0, at = 0;
    buffer[used++] = '"';
    while (at < length && used < BB_SHOWN_BYTES - 10) {
        size_t n = utf8_length((const unsigned char *)text + at, length - at);
        const unsigned char c = (unsigned char)text[at];
        if (n == 0 || c < 0x20 || c == 0x7f) {
            buffer[used++] = '?';
            n = 1;
        } else {
            memcpy(buffer + used, text + at, n);
            used += n;
        }
        at += n;
    }
    memcpy(buffer + used, at < length ? "...\"" : "\"", at < length ? 5 : 2);
    return buffer;
}
