/* Three files in one: two bytes each, big end first, say how long the labels and the
 * tasks are; then labels, tasks, images. */
#include "target.h"

/* A file without a name; its name under /proc goes into `path`. */
static FILE *make_file(const uint8_t *bytes, size_t size, char path[64]) {
    FILE *const file = tmpfile();
    target_require(file && fwrite(bytes, 1, size, file) == size && !fflush(file));
    snprintf(path, 64, "/proc/self/fd/%d", fileno(file));
    return file;
}

static size_t take_size(const uint8_t *at, size_t left) {
    const size_t size = (size_t)at[0] << 8 | at[1];
    return size < left ? size : left;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char labels[64], tasks[64];
    if (size < 4) return 0;
    const size_t first = take_size(data, size - 4),
                 second = take_size(data + 2, size - 4 - first);
    const uint8_t *const images = data + 4 + first + second;
    FILE *const labels_file = make_file(data + 4, first, labels);
    FILE *const tasks_file = make_file(data + 4 + first, second, tasks);
    target_read(
        images, size - 4 - first - second,
        (bb_read_options){.format = BB_FORMAT_IDX, .labels = labels, .tasks = tasks});
    fclose(labels_file);
    fclose(tasks_file);
    return 0;
}
