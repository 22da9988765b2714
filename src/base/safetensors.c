#include "base/safetensors.h"

#include "base/file.h"
#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PREFIX = 8, ALIGNED = 8, LONGEST_HEADER = 100000000, SHOWN = 160 };

static const char metadata_name[] = "__metadata__";

static const struct {
    const char *name;
    size_t size;
} dtype[] = {{"F64", 8}, {"I64", 8}, {"F32", 4}, {"U32", 4}};
enum { DTYPES = sizeof dtype / sizeof *dtype };

/* Between the file's order of bytes and this machine's. */
static void reorder(unsigned char *bytes, size_t count, size_t size) {
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) return;
    for (size_t k = 0; k < count; k++, bytes += size)
        for (size_t b = 0; b < size / 2; b++) {
            const unsigned char kept = bytes[b];
            bytes[b] = bytes[size - 1 - b];
            bytes[size - 1 - b] = kept;
        }
}

/* Bytes of an array; false if they are more than a size can be. */
static bool bytes_of(const bb_tensor *t, size_t *bytes) {
    size_t product = dtype[t->type].size;
    for (size_t k = 0; k < t->dimensions; k++)
        if (__builtin_mul_overflow(product, t->shape[k], &product)) return false;
    *bytes = product;
    return true;
}

/* -- writing -- */

static json_t *describe(const bb_tensor *t, size_t begin, size_t end) {
    json_t *shape = json_array();
    for (size_t k = 0; k < t->dimensions; k++)
        if (json_array_append_new(shape, json_integer((json_int_t)t->shape[k]))) {
            json_decref(shape);
            return NULL;
        }
    return json_pack("{s:s,s:o,s:[I,I]}", "dtype", dtype[t->type].name, "shape", shape,
                     "data_offsets", (json_int_t)begin, (json_int_t)end);
}

static bb_status no_memory(const char *path) {
    return bb_fail(BB_ENOMEM, "%s: no memory for its bytes", path);
}

/* Adds the arrays of `size`-byte numbers to the header. */
static bb_status describe_all(const char *path, const bb_tensor *tensor, size_t tensors,
                              size_t size, json_t *header, size_t *end) {
    for (size_t k = 0; k < tensors; k++) {
        const bb_tensor *t = &tensor[k];
        size_t bytes, begin = *end;
        if (dtype[t->type].size != size) continue;
        if (!bytes_of(t, &bytes) || __builtin_add_overflow(begin, bytes, end) ||
            *end > INT64_MAX)
            return no_memory(path);
        if (json_object_get(header, t->name))
            return bb_fail(BB_EUSAGE, "%s: two arrays named \"%s\"", path, t->name);
        if (json_object_set_new(header, t->name, describe(t, begin, *end)))
            return no_memory(path);
    }
    return BB_OK;
}

/* Copies the arrays of `size`-byte numbers; returns where the next byte goes. */
static unsigned char *put_values(const bb_tensor *tensor, size_t tensors, size_t size,
                                 unsigned char *at) {
    for (size_t k = 0; k < tensors; k++) {
        size_t bytes = 0;
        if (dtype[tensor[k].type].size != size || !bytes_of(&tensor[k], &bytes) ||
            !bytes)
            continue;
        assert(at && tensor[k].value);
        memcpy(at, tensor[k].value, bytes);
        reorder(at, bytes / size, size);
        at += bytes;
    }
    return at;
}

static bb_status write_file(const char *path, const char *header, size_t values,
                            const bb_tensor *tensor, size_t tensors) {
    assert(header);
    const size_t length = strlen(header),
                 padded = (length + ALIGNED - 1) / ALIGNED * ALIGNED;
    unsigned char *bytes = NULL;
    size_t size;
    if (__builtin_add_overflow(values, PREFIX + padded, &size)) return no_memory(path);
    bb_status status = bb_allocate(&bytes, size, 1, "a file of arrays");
    if (status) return status;
    assert(bytes);
    for (int b = 0; b < PREFIX; b++) bytes[b] = (unsigned char)(padded >> (8 * b));
    memcpy(bytes + PREFIX, header, length); /* NOLINT: spaces end it, no zero */
    memset(bytes + PREFIX + length, ' ', padded - length);
    put_values(tensor, tensors, 4,
               put_values(tensor, tensors, 8, bytes + PREFIX + padded));
    status = bb_file_write(path, bytes, size);
    free(bytes);
    return status;
}

bb_status bb_safetensors_write(const char *path, const bb_tensor *tensor,
                               size_t tensors, const json_t *texts) {
    json_t *header = texts ? json_pack("{s:o}", metadata_name, json_deep_copy(texts))
                           : json_object();
    char *text = NULL;
    size_t values = 0;
    bb_status status = header ? BB_OK : no_memory(path);
    if (!status) status = describe_all(path, tensor, tensors, 8, header, &values);
    if (!status) status = describe_all(path, tensor, tensors, 4, header, &values);
    if (!status && !(text = json_dumps(header, JSON_COMPACT))) status = no_memory(path);
    if (!status) status = write_file(path, text, values, tensor, tensors);
    free(text);
    json_decref(header);
    return status;
}

/* -- the header of a file -- */

static bb_status bad(const char *path, const char *name, const char *expected) {
    return bb_fail(BB_EDATA, "%s: array \"%.*s\": expected %s", path, SHOWN, name,
                   expected);
}

/* A size from JSON; false for anything else than a whole number from 0. */
static bool take_size(const json_t *json, size_t *out) {
    if (!json_is_integer(json) || json_integer_value(json) < 0) return false;
    *out = (size_t)json_integer_value(json);
    return true;
}

static bool take_shape(const json_t *shape, bb_tensor *t) {
    t->dimensions = json_array_size(shape);
    if (!json_is_array(shape) || t->dimensions > BB_TENSOR_DIMENSIONS) return false;
    for (size_t k = 0; k < t->dimensions; k++)
        if (!take_size(json_array_get(shape, k), &t->shape[k])) return false;
    return true;
}

static bool take_type(const json_t *name, bb_dtype *type) {
    for (size_t k = 0; json_is_string(name) && k < DTYPES; k++)
        if (strcmp(json_string_value(name), dtype[k].name) == 0) {
            *type = (bb_dtype)k;
            return true;
        }
    return false;
}

typedef struct extent {
    size_t begin, end;
    const char *name;
} extent;

/* What the header says of one array. */
static bb_status parse_entry(const char *path, const char *name, const json_t *entry,
                             bb_tensor *t, extent *place) {
    const json_t *offsets = json_object_get(entry, "data_offsets");
    size_t bytes;
    *t = (bb_tensor){.name = name};
    if (!json_is_object(entry) || json_object_size(entry) != 3)
        return bad(path, name, "{dtype, shape, data_offsets}");
    if (!take_type(json_object_get(entry, "dtype"), &t->type))
        return bad(path, name, "dtype F64, I64, F32 or U32");
    if (!take_shape(json_object_get(entry, "shape"), t))
        return bad(path, name, "a shape of at most 4 sizes");
    if (json_array_size(offsets) != 2 ||
        !take_size(json_array_get(offsets, 0), &place->begin) ||
        !take_size(json_array_get(offsets, 1), &place->end))
        return bad(path, name, "two data_offsets");
    if (!bytes_of(t, &bytes) || place->end < place->begin ||
        place->end - place->begin != bytes)
        return bad(path, name, "data_offsets as far apart as its shape needs");
    place->name = name;
    return BB_OK;
}

static int by_place(const void *a, const void *b) {
    const extent *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static bb_status check_texts(const char *path, json_t *texts) {
    const char *name;
    json_t *text;
    if (!json_is_object(texts))
        return bb_fail(BB_EDATA, "%s: __metadata__: expected an object", path);
    json_object_foreach(texts, name, text) {
        if (!json_is_string(text))
            return bb_fail(BB_EDATA, "%s: __metadata__: \"%.*s\": expected a text",
                           path, SHOWN, name);
    }
    return BB_OK;
}

/* Every array in its place, one behind the other, to the end of `size` bytes. */
static bb_status check_header(bb_safetensors *f, uint64_t size) {
    const size_t entries = json_object_size(f->header);
    extent *place = NULL;
    const char *name;
    json_t *entry;
    uint64_t end = 0;
    bb_status status = bb_allocate(&place, entries, sizeof *place, "a file of arrays");
    if (status) return status;
    json_object_foreach(f->header, name, entry) {
        bb_tensor t;
        if (strcmp(name, metadata_name) == 0)
            status = check_texts(f->path, entry);
        else
            status = parse_entry(f->path, name, entry, &t, &place[f->tensors++]);
        if (status) break;
    }
    if (!status) qsort(place, f->tensors, sizeof *place, by_place);
    for (size_t k = 0; k < f->tensors && !status; k++) {
        if (place[k].begin != end)
            status = bb_fail(
                BB_EDATA, "%s: array \"%.*s\": expected to begin at %llu, found %zu",
                f->path, SHOWN, place[k].name, (unsigned long long)end, place[k].begin);
        end = place[k].end;
    }
    if (!status && end != size)
        status =
            bb_fail(BB_EDATA, "%s: expected %llu bytes behind the header, found %llu",
                    f->path, (unsigned long long)end, (unsigned long long)size);
    free(place);
    return status;
}

/* -- reading -- */

static bb_status cannot_be_read(const bb_safetensors *f) {
    return bb_fail(BB_EIO, "%s: cannot be read", f->path);
}

static bb_status file_size(bb_safetensors *f, uint64_t *size) {
    struct stat about;
    if (fstat(fileno(f->stream), &about)) return cannot_be_read(f);
    if (!S_ISREG(about.st_mode)) return bb_fail(BB_EIO, "%s: is not a file", f->path);
    *size = (uint64_t)about.st_size;
    return BB_OK;
}

static bb_status read_length(bb_safetensors *f, uint64_t size, size_t *length) {
    unsigned char prefix[PREFIX];
    uint64_t said = 0;
    if (size < PREFIX)
        return bb_fail(BB_EDATA,
                       "%s: expected 8 bytes with the header's length, found %llu",
                       f->path, (unsigned long long)size);
    if (fread(prefix, 1, PREFIX, f->stream) != PREFIX) return cannot_be_read(f);
    for (int b = 0; b < PREFIX; b++) said |= (uint64_t)prefix[b] << (8 * b);
    if (said > LONGEST_HEADER || said > size - PREFIX)
        return bb_fail(BB_EDATA,
                       "%s: expected a header of at most %llu bytes, found a length of "
                       "%llu",
                       f->path,
                       (unsigned long long)(size - PREFIX < LONGEST_HEADER
                                                ? size - PREFIX
                                                : LONGEST_HEADER),
                       (unsigned long long)said);
    f->data = PREFIX + said;
    *length = (size_t)said;
    return BB_OK;
}

static bb_status read_header(bb_safetensors *f, size_t length) {
    json_error_t error;
    char *text = NULL;
    bb_status status = bb_allocate(&text, length + 1, 1, "a file's header");
    if (status) return status;
    if (fread(text, 1, length, f->stream) != length) {
        status = cannot_be_read(f);
    } else if (*text != '{') {
        status = bb_fail(BB_EDATA, "%s: expected a header that begins with {", f->path);
    } else {
        f->header = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
        /* jansson says nothing, not even a code, when memory fails half-way */
        if (!f->header && error.line < 0)
            status = bb_fail(BB_ENOMEM, "%s: no memory for its header", f->path);
        else if (!f->header)
            status = bb_fail(BB_EDATA, "%s: header, byte %d: not JSON: %s", f->path,
                             error.position, error.text);
    }
    free(text);
    return status;
}

bb_status bb_safetensors_open(bb_safetensors *file, const char *path) {
    bb_safetensors f = {0};
    uint64_t size = 0;
    size_t length = 0;
    bb_status status = bb_duplicate(&f.path, path, strlen(path));
    if (status) return status;
    f.stream = fopen(path, "rb");
    if (!f.stream)
        status = bb_fail(BB_EIO, "%s: cannot be opened: %s", path, strerror(errno));
    if (!status) status = file_size(&f, &size);
    if (!status) status = read_length(&f, size, &length);
    if (!status) status = read_header(&f, length);
    if (!status) status = check_header(&f, size - f.data);
    if (status)
        bb_safetensors_close(&f);
    else
        *file = f;
    return status;
}

void bb_safetensors_close(bb_safetensors *f) {
    if (f->stream) fclose(f->stream);
    json_decref(f->header);
    free(f->path);
    *f = (bb_safetensors){0};
}

bb_status bb_safetensors_text(const bb_safetensors *f, const char *name,
                              const char **text) {
    const json_t *found =
        json_object_get(json_object_get(f->header, metadata_name), name);
    if (!found)
        return bb_fail(BB_EDATA, "%s: __metadata__: expected a text \"%s\"", f->path,
                       name);
    *text = json_string_value(found);
    return BB_OK;
}

static bb_status find(const bb_safetensors *f, const char *name, bb_tensor *t,
                      extent *place) {
    const json_t *entry =
        strcmp(name, metadata_name) == 0 ? NULL : json_object_get(f->header, name);
    if (entry) return parse_entry(f->path, name, entry, t, place);
    return bb_fail(BB_EDATA, "%s: expected an array \"%s\", found none", f->path, name);
}

bb_status bb_safetensors_shape(const bb_safetensors *f, const char *name,
                               size_t dimensions, size_t *shape) {
    bb_tensor t = {0};
    extent place;
    const bb_status status = find(f, name, &t, &place);
    if (status) return status;
    if (t.dimensions != dimensions)
        return bb_fail(BB_EDATA, "%s: array \"%s\": expected %zu dimensions, found %zu",
                       f->path, name, dimensions, t.dimensions);
    memcpy(shape, t.shape, dimensions * sizeof *shape);
    return BB_OK;
}

/* "F64 [3, 4]" */
static const char *shown(char text[SHOWN], const bb_tensor *t) {
    int used = snprintf(text, SHOWN, "%s [", dtype[t->type].name);
    for (size_t k = 0; k < t->dimensions; k++)
        used += snprintf(text + used, SHOWN - (size_t)used, k ? ", %zu" : "%zu",
                         t->shape[k]);
    snprintf(text + used, SHOWN - (size_t)used, "]");
    return text;
}

static bb_status match(const bb_safetensors *f, const bb_tensor *expected,
                       extent *place) {
    char wanted[SHOWN], found[SHOWN];
    bb_tensor t = {0};
    const bb_status status = find(f, expected->name, &t, place);
    if (status) return status;
    if (t.type == expected->type && t.dimensions == expected->dimensions &&
        memcmp(t.shape, expected->shape, t.dimensions * sizeof *t.shape) == 0)
        return BB_OK;
    return bb_fail(BB_EDATA, "%s: array \"%s\": expected %s, found %s", f->path, t.name,
                   shown(wanted, expected), shown(found, &t));
}

bb_status bb_safetensors_check(const bb_safetensors *f, const bb_tensor *expected) {
    extent place;
    return match(f, expected, &place);
}

bb_status bb_safetensors_read(const bb_safetensors *f, const bb_tensor *expected,
                              void *value) {
    extent place = {0};
    const bb_status status = match(f, expected, &place);
    if (status) return status;
    const size_t bytes = place.end - place.begin, size = dtype[expected->type].size;
    if (fseeko(f->stream, (off_t)(f->data + place.begin), SEEK_SET) ||
        fread(value, 1, bytes, f->stream) != bytes)
        return cannot_be_read(f);
    reorder(value, bytes / size, size);
    return BB_OK;
}
