/* bbfile.h - Billboard's own data files (DATA.bb): rows grouped by task, as they are used.
 *
 * docs/data-formats.md has the layout, byte for byte. What is in memory of one is what
 * there is a task of; rows are looked at where they lie in the file. */
#ifndef BB_DATA_BBFILE_H
#define BB_DATA_BBFILE_H

#include "data/read.h"

#define BB_BBFILE_MAGIC                                                                \
    "\x89"                                                                             \
    "BBD\r\n\x1a\n"
enum {
    BB_BBFILE_VERSION = 1,
    BB_BBFILE_HEADER = 64,       /* bytes */
    BB_BBFILE_PAGE = 4096,       /* sections begin at its multiples */
    BB_BBFILE_BLOCK = 1 << 24,   /* bytes of a section that have one checksum */
    BB_BBFILE_FEATURES = 1 << 30 /* at most */
};

typedef enum bb_section {
    BB_SECTION_NAMES,  /* of the tasks, in their order, each with a zero behind it */
    BB_SECTION_FIRST,  /* tasks + 1 x u64 */
    BB_SECTION_TARGET, /* rows x f64 */
    BB_SECTION_X,      /* dense: rows x features */
    BB_SECTION_ENTRY_FIRST, /* sparse: rows + 1 x u64 */
    BB_SECTION_COLUMN,      /* entries x u32 */
    BB_SECTION_VALUE,       /* entries */
    BB_SECTION_LABEL_FIRST, /* rows + 1 x u64 */
    BB_SECTION_LABEL,       /* listed x u32 */
    BB_SECTIONS
} bb_section;
extern const char *const bb_section_name[BB_SECTIONS];

typedef struct bb_bbfile_shape {
    size_t tasks, rows, features, entries, listed, names; /* names: bytes */
    bool single;                                          /* x and value are float32 */
    bool sparse, target, labels;
} bb_bbfile_shape;

/* bytes <- of every section, 0 where there is none; false: more than there can be. */
bool bb_bbfile_sizes(const bb_bbfile_shape *shape, size_t bytes[BB_SECTIONS]);

/* Rows to convert: a file, or, where `path` is NULL, a data set. */
typedef struct bb_convert_source {
    const char *path;
    const bb_dataset *rows;
} bb_convert_source;

typedef struct bb_convert_options {
    bb_read_options read;
    bool single; /* numbers of rows become float32 */
    size_t
        memory; /* of a CSV or NumPy file, about so many bytes are looked at at once */
} bb_convert_options;

typedef struct bb_converted {
    size_t tasks, rows, features, entries, bytes, dropped, parts;
    bb_text_counts texts; /* to be closed */
} bb_converted;

/* Writes the rows of all sources to one file at `path`, whole or not at all, replacing what
 * is there. Of a CSV file, or a NumPy file that is not packed, parts are in memory only,
 * beside what there is a task of; it is read twice then. BB_EDATA: a source's rows are
 * wrong, or two have not the same columns; BB_EIO; BB_EUSAGE: the output is a source. */
BB_MUST_CHECK bb_status bb_convert(const bb_convert_source *source, size_t sources,
                                   const bb_convert_options *options, const char *path,
                                   bb_converted *out);

#endif
