/* Feeds every file of a folder to a fuzz target where libFuzzer is not linked: whole,
 * cut short at 64 places, and 64 times with four bytes changed, always in the same way.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CUTS = 64, CHANGES = 64, BYTES = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of exactly `size` bytes, so that sanitizers see reads beyond its end. */
static void feed(const uint8_t *data, size_t size) {
    uint8_t *const copy = malloc(size ? size : 1);
    if (!copy) abort();
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static uint64_t draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
    return *state >> 33;
}

static void feed_variants(uint8_t *data, size_t size) {
    uint64_t state = size;
    feed(data, size);
    for (size_t i = 0; i < CUTS; i++) feed(data, size * i / CUTS);
    for (size_t i = 0; size && i < CHANGES; i++) {
        size_t place[BYTES];
        uint8_t kept[BYTES];
        for (size_t k = 0; k < BYTES; k++) {
            place[k] = (size_t)(draw(&state) % size);
            kept[k] = data[place[k]];
            data[place[k]] = (uint8_t)draw(&state);
        }
        feed(data, size);
        for (size_t k = BYTES; k-- > 0;) data[place[k]] = kept[k];
    }
}

static int replay_file(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "rb");
    if (!file) return -1;
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    uint8_t *const data = malloc(size > 0 ? (size_t)size : 1);
    const int whole =
        data && size >= 0 && fread(data, 1, (size_t)size, file) == (size_t)size;
    fclose(file);
    if (whole) feed_variants(data, (size_t)size);
    free(data);
    return whole ? 0 : -1;
}

int main(int count, char **argument) {
    int files = 0, unreadable = 0;
    for (int i = 1; i < count; i++) {
        DIR *const folder = opendir(argument[i]);
        const struct dirent *entry;
        if (!folder) continue;
        while ((entry = readdir(folder)))
            if (entry->d_name[0] != '.') {
                files++;
                if (replay_file(argument[i], entry->d_name)) unreadable++;
            }
        closedir(folder);
    }
    printf("%d files replayed, %d unreadable\n", files, unreadable);
    return files == 0 || unreadable > 0; /* an empty folder would prove nothing */
}
