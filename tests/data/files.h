/* files.h - small input files for the readers' tests. */
#ifndef BB_TESTS_DATA_FILES_H
#define BB_TESTS_DATA_FILES_H

#include "data/read.h"
#include "folder.h"
#include "test.h"

#include <zlib.h>

#include <string.h>

static inline void write_bytes(const char *name, const void *bytes, size_t size) {
    FILE *const file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void write_text(const char *name, const char *text) {
    write_bytes(name, text, strlen(text));
}

static inline void write_gz(const char *name, const void *bytes, size_t size) {
    const gzFile file = gzopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, (unsigned)size), size);
    assert_int_equal(gzclose(file), Z_OK);
}

/* Reads a file that is then removed, so that the folder is empty again. */
static inline bb_status read_once(const char *name, const bb_read_options *options,
                                  bb_dataset *out) {
    const bb_status status = bb_read(name, options, out);
    unlink(name);
    return status;
}

static inline bb_status read_text(const char *name, const char *text,
                                  const bb_read_options *options, bb_dataset *out) {
    write_text(name, text);
    return read_once(name, options, out);
}

/* The call fails with `code` and exactly this message. */
#define assert_message(call, code, words)                                              \
    do {                                                                               \
        const bb_status status_ = (call);                                              \
        if (status_ != (code) || strcmp(bb_last_error(), (words)) != 0)                \
            fail_msg("%s gave \"%s\",\n  \"%s\"\n; expected \"%s\",\n  \"%s\"", #call, \
                     bb_status_text(status_), bb_last_error(), bb_status_text(code),   \
                     (words));                                                         \
    } while (0)

/* A data set in two lines: "a: 1 (2 3); b: 4 (5 6)" are two tasks with one row each,
 * its target and its dense features. */
static inline const char *shown_rows(const bb_dataset *data, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < data->tasks; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s:", i ? "; " : "",
                                 data->task_name[i]);
        for (size_t r = data->first[i]; r < data->first[i + 1]; r++) {
            used += (size_t)snprintf(text + used, size - used, " %g (", data->y[r]);
            for (size_t k = 0; data->x && k < data->features; k++)
                used += (size_t)snprintf(text + used, size - used, "%s%g", k ? " " : "",
                                         data->x[r * data->features + k]);
            if (!data->x)
                for (size_t e = data->sparse_first[r]; e < data->sparse_first[r + 1];
                     e++)
                    used +=
                        (size_t)snprintf(text + used, size - used, "%s%u:%g",
                                         e > data->sparse_first[r] ? " " : "",
                                         data->sparse_column[e], data->sparse_value[e]);
            used += (size_t)snprintf(text + used, size - used, ")");
        }
    }
    return text;
}

/* The rows of a data set, as shown_rows says them; frees it. */
#define assert_rows(data, words)                                                       \
    do {                                                                               \
        char shown_[2048];                                                             \
        assert_string_equal(shown_rows(&(data), shown_, sizeof shown_), (words));      \
        bb_dataset_free(&(data));                                                      \
    } while (0)

#endif
