#include "data/read.h"

#include "data/bbfile.h"
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
                 {".idx", BB_FORMAT_IDX},         {".bb", BB_FORMAT_BB}};
    size_t length = strlen(path);
    if (ends_with(path, length, ".gz")) length -= 3;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ends_with(path, length, known[i].extension)) return known[i].format;
    return BB_FORMAT_AUTO;
}

/* "28x28x1" or "28x28"; sizes have at most 5 digits, so that the product is exact. */
static bool parse_image(const char *text, size_t size[3]) {
    size_t count = 0;
    for (const char *at = text;; at++) {
        size_t value = 0;
        const char *const start = at;
        for (; *at >= '0' && *at <= '9' && at < start + 5; at++)
            value = 10 * value + (size_t)(*at - '0');
        if (value == 0 || count == 3) return false;
        size[count++] = value;
        if (*at != 'x') {
            if (count == 2) size[2] = 1;
            return !*at && count >= 2;
        }
    }
}

static bb_status bad_image(const char *text) {
    return bb_fail(BB_EUSAGE,
                   "--image expects HxW or HxWxC, such as 28x28x1, got \"%s\"", text);
}

static bb_status check_options(const char *path, const bb_read_options *o,
                               bb_format format) {
    size_t image[3];
    if ((o->labels || o->tasks) && format != BB_FORMAT_IDX)
        return bb_fail(BB_EUSAGE,
                       "%s: --labels and --tasks are for IDX files (--format idx)",
                       path);
    if ((o->separator || o->missing || o->categories) && format != BB_FORMAT_CSV)
        return bb_fail(BB_EUSAGE,
                       "%s: --separator, --missing and --categories are for CSV files",
                       path);
    if (o->multilabel && format != BB_FORMAT_CSV && format != BB_FORMAT_LIBSVM &&
        format != BB_FORMAT_BB)
        return bb_fail(
            BB_EUSAGE,
            "%s: lists of labels are read from CSV and LIBSVM files only, and "
            "from what `billboard convert' makes of them",
            path);
    if (o->multilabel && o->outputs > BB_MOST_CLASSES)
        return bb_fail(BB_EUSAGE, "at most %d labels can be told apart, got %zu",
                       BB_MOST_CLASSES, o->outputs);
    return o->image && !parse_image(o->image, image) ? bad_image(o->image) : BB_OK;
}

bb_status bb_read_image(const char *image, bb_dataset *data) {
    size_t size[3];
    if (!parse_image(image, size)) return bad_image(image);
    const double pixels = (double)size[0] * (double)size[1] * (double)size[2];
    if (pixels != (double)data->features)
        return bb_fail(BB_EDATA,
                       "%s: --image expected %zu*%zu*%zu = %.0f columns, found %zu",
                       data->source, size[0], size[1], size[2], pixels, data->features);
    data->height = size[0];
    data->width = size[1];
    data->channels = size[2];
    return BB_OK;
}

static bool begins_with(const bb_text *text, const char *magic, size_t length) {
    return (size_t)(text->end - text->at) >= length &&
           memcmp(text->at, magic, length) == 0;
}

/* The format that the first bytes show: anything unknown is CSV. */
static bb_format format_of_bytes(const bb_text *text) {
    static const char hdf5[8] = "\x89HDF\r\n\x1a\n";
    if (begins_with(text, BB_BBFILE_MAGIC, 8)) return BB_FORMAT_BB;
    if (begins_with(text, "\x93NUMPY", 6) || begins_with(text, "PK\3\4", 4))
        return BB_FORMAT_NPY;
    if (begins_with(text, "MATLAB ", 7) || begins_with(text, hdf5, sizeof hdf5))
        return BB_FORMAT_MAT;
    if (begins_with(text, "\0\0", 2) && text->end - text->at >= 4 && text->at[2] >= 8 &&
        text->at[2] <= 14 && text->at[3] >= 1 && text->at[3] <= 4)
        return BB_FORMAT_IDX;
    if (begins_with(text, "qid:", 4)) return BB_FORMAT_LIBSVM;
    const char *const line_end = strpbrk(text->at, "\r\n");
    const char *const query = strstr(text->at, " qid:");
    if (query && (!line_end || query < line_end)) return BB_FORMAT_LIBSVM;
    return BB_FORMAT_CSV;
}

/* Parquet and Arrow, for which no library is packaged: by name or first bytes. */
static bb_status refuse_columns(const char *path, const bb_text *text) {
    static const struct {
        const char *extension, *magic;
        size_t length;
        const char *kind, *function;
    } known[] = {
        {".parquet", "PAR1\x15", 5, "a Parquet file", "read_parquet"},
        {".arrow", "ARROW1\0\0", 8, "an Arrow file", "read_ipc"},
        {".feather", "ARROW1\0\0", 8, "an Arrow file", "read_ipc"},
        {".arrows", "\xff\xff\xff\xff", 4, "a stream of Arrow", "read_ipc_stream"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ends_with(path, strlen(path), known[i].extension) ||
            begins_with(text, known[i].magic, known[i].length))
            return bb_fail(BB_EDATA,
                           "%s: %s is not read; make CSV of it: python3 -c 'import "
                           "polars; polars.%s(\"%s\").write_csv(\"data.csv\")'",
                           path, known[i].kind, known[i].function, path);
    return BB_OK;
}

static bb_status read_as(bb_format format, const char *path, bb_text *text,
                         const bb_read_options *o, bb_dataset *out) {
    if (format == BB_FORMAT_CSV) return bb_read_csv(text, o, out);
    if (format == BB_FORMAT_LIBSVM) return bb_read_libsvm(text, o, out);
    if (format == BB_FORMAT_LEAF) return bb_read_leaf(text, o, out);
    if (format == BB_FORMAT_IDX) return bb_read_idx(text, o, out);
    bb_text_close(text);
    if (format == BB_FORMAT_BB) return bb_read_bbfile(path, o, out);
    return format == BB_FORMAT_MAT ? bb_read_mat(path, o, out)
                                   : bb_read_npy(path, o, out);
}

static bb_status find_format(const char *path, const bb_text *text,
                             const bb_read_options *o, bb_format *format) {
    *format = o->format;
    if (*format != BB_FORMAT_AUTO) return BB_OK;
    *format = format_of_name(path);
    if (*format != BB_FORMAT_AUTO) return BB_OK;
    *format = format_of_bytes(text);
    return refuse_columns(path, text);
}

bb_status bb_read_format(const char *path, const bb_read_options *options,
                         bb_format *format) {
    bb_text text = {0};
    bb_format found;
    bb_status status = bb_text_open(&text, path);
    if (!status) status = find_format(path, &text, options, &found);
    if (!status) *format = found;
    bb_text_close(&text);
    return status;
}

bb_status bb_read(const char *path, const bb_read_options *options, bb_dataset *out) {
    const bb_read_options none = {0}, *const o = options ? options : &none;
    bb_text text = {0};
    bb_format format;
    bb_status status = bb_text_open(&text, path);
    if (status) return status;
    bb_dataset data = {0};
    status = find_format(path, &text, o, &format);
    if (!status) status = check_options(path, o, format);
    if (!status) status = read_as(format, path, &text, o, &data);
    bb_text_close(&text);
    if (!status && o->image) status = bb_read_image(o->image, &data);
    if (status)
        bb_dataset_free(&data);
    else
        *out = data;
    return status;
}

bb_status bb_read_texts(const char *path, const bb_read_options *options,
                        json_t **texts) {
    bb_text text = {0};
    bb_format format;
    bb_status status = bb_text_open(&text, path);
    if (!status) status = find_format(path, &text, options, &format);
    if (!status && format == BB_FORMAT_CSV) {
        status = bb_csv_texts(&text, options, texts);
    } else if (!status) {
        *texts = json_object();
        status = *texts ? BB_OK : BB_ENOMEM;
    }
    bb_text_close(&text);
    return status;
}
