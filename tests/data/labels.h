/* labels.h - data sets whose targets are lists of labels, as text. */
#ifndef BB_TESTS_DATA_LABELS_H
#define BB_TESTS_DATA_LABELS_H

#include "data/files.h"

/* "a: {3 17} {}; b: {1}" are two tasks with two rows and one, and the rows' labels. */
static inline const char *shown_labels(const bb_dataset *data, char *text,
                                       size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < data->tasks; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s:", i ? "; " : "",
                                 data->task_name[i]);
        for (size_t r = data->first[i]; r < data->first[i + 1]; r++) {
            const size_t begin = data->label_first[r], end = data->label_first[r + 1];
            used += (size_t)snprintf(text + used, size - used, " {");
            for (size_t k = begin; k < end; k++)
                used += (size_t)snprintf(text + used, size - used, "%s%u",
                                         k > begin ? " " : "", data->label[k]);
            used += (size_t)snprintf(text + used, size - used, "}");
        }
    }
    return text;
}

/* The labels of a data set, as shown_labels says them, and that rows have no other
 * target. */
#define assert_labels(data, words)                                                     \
    do {                                                                               \
        char shown_[2048];                                                             \
        assert_non_null((data).label_first);                                           \
        for (size_t row_ = 0; row_ < (data).rows; row_++)                              \
            assert_true(isnan((data).y[row_]));                                        \
        assert_string_equal(shown_labels(&(data), shown_, sizeof shown_), (words));    \
    } while (0)

#endif
