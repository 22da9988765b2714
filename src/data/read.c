#include "data/read.h"

#include "data/readers.h"

#include <string.h>
#include <strings.h>

static bool ends_with(const char *name, size_t length, const char *extension) {
    const size_t n = strlen(extension);
    return length > n && strncasecmp(name + length - n, extension, n) == 0;
}

/* The format that a name promises; AUTO if it says nothing. */
static bb_format format_of_name(const char *path) {
    static const struct {
        const char *extension;
        bb_format format;
    } known[] = {{".csv", BB_FORMAT_CSV},         {".libsvm", BB_FORMAT_LIBSVM},
                 {".svmlight", BB_FORMAT_LIBSVM}, {".svm", BB_FORMAT_LIBSVM},
                 {".mat", BB_FORMAT_MAT},         {".npy", BB_FORMAT_NPY},
                 {".npz", BB_FORMAT_NPY},         {".json", BB_FORMAT_LEAF},
                 {".idx", BB_FORMAT_IDX}};
    size_t length = strlen(path);
    if (ends_with(path, length, ".gz")) length -= 3;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ends_with(path, length, known[i].extension)) return known[i].format;
    return BB_FORMAT_AUTO;
}

static bool begins_with(const bb_text *text, const char *magic, size_t length) {
    return (size_t)(text->end - text->at) >= length &&
           memcmp(text->at, magic, length) == 0;
}

/* The format that the first bytes show: anything unknown is CSV. */
static bb_format format_of_bytes(const bb_text *text) {
    static const char hdf5[8] = "\x89HDF\r\n\x1a\n";
    if (begins_with(text, "\x93NUMPY", 6) || begins_with(text, "PK\3\4", 4))
        return BB_FORMAT_NPY;
    if (begins_with(text, "MATLAB ", 7) || begins_with(text, hdf5, sizeof hdf5))
        return BB_FORMAT_MAT;
    if (begins_with(text, "\0\0", 2) && text->end - text->at >= 4 && text->at[2] >= 8 &&
        text->at[2] <= 14 && text->at[3] >= 1 && text->at[3] <= 4)
        return BB_FORMAT_IDX;
    const char *const line_end = strpbrk(text->at, "\r\n");
    const char *const query = strstr(text->at, " qid:");
    if (query && (!line_end || query < line_end)) return BB_FORMAT_LIBSVM;
    return BB_FORMAT_CSV;
}

bb_status bb_read(const char *path, const bb_read_options *options, bb_dataset *out) {
    const bb_read_options none = {0}, *const o = options ? options : &none;
    bb_text text = {0};
    bb_status status = bb_text_open(&text, path);
    if (status) return status;
    bb_format format = o->format;
    if (format == BB_FORMAT_AUTO) format = format_of_name(path);
    if (format == BB_FORMAT_AUTO) format = format_of_bytes(&text);
    bb_dataset data = {0};
    if ((o->labels || o->tasks) && format != BB_FORMAT_IDX) {
        status =
            bb_fail(BB_EUSAGE,
                    "%s: --labels and --tasks are for IDX files (--format idx)", path);
    } else if (format == BB_FORMAT_CSV) {
        status = bb_read_csv(&text, o, &data);
    } else if (format == BB_FORMAT_LIBSVM) {
        status = bb_read_libsvm(&text, o, &data);
    } else if (format == BB_FORMAT_LEAF) {
        status = bb_read_leaf(&text, o, &data);
    } else if (format == BB_FORMAT_IDX) {
        status = bb_read_idx(&text, o, &data);
    } else {
        bb_text_close(&text);
        status = format == BB_FORMAT_MAT ? bb_read_mat(path, o, &data)
                                         : bb_read_npy(path, o, &data);
    }
    bb_text_close(&text);
    if (!status) *out = data;
    return status;
}
