/* status.h - how every function in the library reports failure.
 *
 * A function that can fail returns a bb_status and must be checked. Where the failure
 * is detected, bb_fail() records one message: what was being done, where, what was
 * expected, what was found. The library never prints and never exits. */
#ifndef BB_BASE_STATUS_H
#define BB_BASE_STATUS_H

/* One row a code: name, fixed text, exit code of the program. */
#define BB_STATUS_TABLE(row)                                                           \
    row(BB_OK, "done", 0) row(BB_EUSAGE,                                               \
                              "an option or argument is out of its documented range",  \
                              2) row(BB_EDATA, "input data is malformed", 1)           \
        row(BB_EIO, "a file could not be read or written", 1) row(BB_ENOMEM,           \
                                                                  "out of memory", 1)  \
            row(BB_ENUMERIC, "a computation did not give a finite result", 1)          \
                row(BB_EBUDGET, "the privacy budget does not allow this release", 3)   \
                    row(BB_EINTERRUPTED, "interrupted", 130)

typedef enum bb_status {
#define BB_STATUS_ENUM(name, text, code) name,
    BB_STATUS_TABLE(BB_STATUS_ENUM)
#undef BB_STATUS_ENUM
} bb_status;

#define BB_MUST_CHECK __attribute__((warn_unused_result))

/* Fixed English text for a code; never NULL. */
const char *bb_status_text(bb_status status);

/* The program's exit code for a status (docs/exit-codes.md). */
int bb_status_exit_code(bb_status status);

/* Details of the last failure on this thread, "" if there was none. Valid until the
 * next failing call on the same thread. */
const char *bb_last_error(void);

/* Records a message and returns `status`, so that callers write
 *     return bb_fail(BB_EUSAGE, "clip must be > 0, got %g", clip); */
bb_status bb_fail(bb_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts "context: " in front of the recorded message and returns `status`. */
bb_status bb_fail_context(bb_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What stands behind a noun of so many: "1 row", "2 rows". */
static inline const char *bb_plural(double count) {
    return count == 1.0 ? "" : "s";
}

#endif
