/* info_start.h - the command that a data set can be trained with at once. */
#ifndef BILLBOARD_INFO_START_H
#define BILLBOARD_INFO_START_H

#include "data/info.h"

/* A flag that `billboard info` was given, and that training needs, too. */
typedef struct info_flag {
    const char *name;
    const char *text; /* NULL: not given */
} info_flag;

/* `billboard train PATH` with these flags, a loss for the targets and a private method,
 * ready for the shell; *out is to be freed, and NULL for a data set without targets. */
BB_MUST_CHECK bb_status info_start(const bb_info *info, const char *path,
                                   const info_flag *flag, size_t flags, char **out);

#endif
