#include "base/part.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

bb_status bb_part_load(const bb_part *part, void *table) {
    void *const library = dlopen(part->library, RTLD_NOW | RTLD_LOCAL);
    char *to = table;
    bool whole = library;
    for (size_t k = 0; whole && part->function[k]; k++) {
        void *const address = dlsym(library, part->function[k]);
        whole = address;
        memcpy(to + k * sizeof address, &address, sizeof address);
    }
    if (whole) return BB_OK;
    const bb_status status = bb_fail(
        BB_EIO, "%s need %s, which cannot be loaded (%s); Debian's package is %s",
        part->users, part->library, dlerror(), part->package);
    if (library) dlclose(library);
    return status;
}
