/* In place of mat_child.c where libmatio was not there when the library was built. */
#include "data/mat.h"

#include <string.h>
#include <unistd.h>

bool bb_mat_load(int pipe) {
    struct {
        bb_mat_record record;
        char words[96];
    } failure = {.record = {.kind = BB_MAT_FAILED, .columns = BB_EIO},
                 .words = "Billboard was built without MATLAB files: on Debian, "
                          "install libmatio-dev and build it again"};
    failure.record.rows = strlen(failure.words);
    /* a pipe takes so little whole; a parent that has gone knows why */
    (void)!write(pipe, &failure, sizeof failure.record + failure.record.rows);
    return false;
}

void bb_mat_child(int pipe, const char *path, const char *x, const char *y) {
    (void)pipe, (void)path, (void)x, (void)y;
}
