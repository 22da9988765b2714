/* part.h - libraries that are not linked but loaded when they are first needed: what does
 * not need them starts without them, and works where they are not installed. */
#ifndef BB_BASE_PART_H
#define BB_BASE_PART_H

#include "base/status.h"

typedef struct bb_part {
    const char *users;           /* what needs it, in the plural, for messages */
    const char *library;         /* its soname, which says the version, too */
    const char *package;         /* of Debian */
    const char *const *function; /* their names, NULL behind the last */
} bb_part;

/* table <- the addresses of the functions, in order: a struct of nothing but pointers to
 * functions. The library stays loaded, and is looked for where the dynamic linker looks.
 * BB_EIO, with a message that says what is missing, for whom, and which package has it.
 * It takes no lock: a process forked from one with threads may call it. */
BB_MUST_CHECK bb_status bb_part_load(const bb_part *part, void *table);

#endif
