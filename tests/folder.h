/* folder.h - a temporary folder that a test works in, and what is in it. */
#ifndef BB_TESTS_FOLDER_H
#define BB_TESTS_FOLDER_H

#include "test.h"

#include <dirent.h>

/* Makes a folder under the current one and goes there; a group set-up function. */
static inline int folder_enter(void **state) {
    static char name[sizeof "folder-XXXXXX"];
    memcpy(name, "folder-XXXXXX", sizeof name);
    *state = mkdtemp(name);
    return *state ? chdir(name) : -1;
}

/* The number of entries of the folder at `path`, or -1. */
static inline int folder_entries(const char *path) {
    DIR *const folder = opendir(path);
    if (!folder) return -1;
    int entries = -2; /* "." and ".." */
    while (readdir(folder)) entries++;
    closedir(folder);
    return entries;
}

/* Leaves the folder and removes it, which it must be empty for. */
static inline int folder_leave(void **state) {
    if (chdir("..")) return -1;
    return rmdir(*state);
}

/* The contents of a small file; "" if there is none. */
static inline const char *folder_read(char *buffer, size_t size, const char *path) {
    FILE *const file = fopen(path, "r");
    const size_t length = file ? fread(buffer, 1, size - 1, file) : 0;
    if (file) fclose(file);
    buffer[length] = '\0';
    return buffer;
}

#endif
