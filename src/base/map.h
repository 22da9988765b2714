/* map.h - files as memory, so that what is larger than memory can be passed over.
 *
 * Pages that a pass has left behind are given back (bb_map_passed): they stay in the
 * operating system's cache of files as long as nobody needs the memory, and are read again
 * when they are touched. */
#ifndef BB_BASE_MAP_H
#define BB_BASE_MAP_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct bb_map {
    char *at; /* NULL: nothing is mapped */
    size_t size;
    int file; /* of bb_map_scratch: its descriptor; else 0 */
} bb_map;

/* A plain file, to be read. It must not become shorter meanwhile. BB_EIO; BB_EDATA if it
 * is empty. */
BB_MUST_CHECK bb_status bb_map_file(bb_map *map, const char *path);
/* Memory behind a new file without a name in the folder for temporary files (TMPDIR, else
 * /var/tmp), zeroed. All of its room is taken on the disk first: BB_EIO if it is not
 * there. */
BB_MUST_CHECK bb_status bb_map_scratch(bb_map *map, size_t size);
/* The same behind an open file that is at least so long. BB_EIO. */
BB_MUST_CHECK bb_status bb_map_descriptor(bb_map *map, int descriptor, size_t size);
/* Is it a place in the map? */
bool bb_map_has(const bb_map *map, const void *at);
/* A pass has gone from one place in the map to a later one, or behind its end: where it
 * has come to the end of a stretch of 8 MiB, or of the map, that stretch's pages are given
 * back. */
void bb_map_passed(const bb_map *map, const void *from, const void *to);
/* Memory for count * size zeroed bytes: as bb_allocate has it, or, where `memory` is not 0
 * and they are more than an eighth of it, bb_map_scratch. bb_map_release frees it. */
BB_MUST_CHECK bb_status bb_map_block(bb_map *map, size_t memory, void *out,
                                     size_t count, size_t size, const char *what);
/* Takes NULL, too. */
void bb_map_release(bb_map *map, void *block);
/* What memcpy does, giving pages back on the way; either may be in no map. */
void bb_map_copy(const bb_map *to_map, void *to, const bb_map *from_map,
                 const void *from, size_t size);
/* Writes bytes of a scratch map, as they are, behind what a file has: without passing them
 * through memory, and where both are on a file system that can do that, as extents that the
 * two share until one of them changes; for that both begin at a multiple of
 * BB_MAP_BLOCK. BB_EIO. */
enum { BB_MAP_BLOCK = 4096 };
BB_MUST_CHECK bb_status bb_map_write(const bb_map *map, const void *from, size_t size,
                                     int descriptor, const char *path);
/* Gives all pages back. */
void bb_map_leave(const bb_map *map);
/* Takes a zeroed one, too. */
void bb_map_close(bb_map *map);

#endif
