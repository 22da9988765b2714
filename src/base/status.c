#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 1024 };

static _Thread_local char message[MESSAGE_BYTES];

const char *bb_status_text(bb_status status) {
    static const char *const text[] = {
#define BB_STATUS_TEXT(name, words, code) [name] = (words),
        BB_STATUS_TABLE(BB_STATUS_TEXT)
#undef BB_STATUS_TEXT
    };
    return text[status];
}

int bb_status_exit_code(bb_status status) {
    static const int exit_code[] = {
#define BB_STATUS_CODE(name, words, code) [name] = (code),
        BB_STATUS_TABLE(BB_STATUS_CODE)
#undef BB_STATUS_CODE
    };
    return exit_code[status];
}

const char *bb_last_error(void) {
    return message;
}

bb_status bb_fail(bb_status status, const char *format, ...) {
    char text[MESSAGE_BYTES]; /* the arguments may be the last message */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(message, text, sizeof message);
    return status;
}

static void append(char *text, const char *more) {
    const size_t used = strlen(text), space = MESSAGE_BYTES - 1 - used,
                 n = strlen(more);
    const size_t copied = n < space ? n : space;
    memcpy(text + used, more, copied);
    text[used + copied] = '\0';
}

bb_status bb_fail_context(bb_status status, const char *format, ...) {
    char text[MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* a message that does not fit is cut at the end: the context matters most */
    append(text, ": ");
    append(text, message);
    memcpy(message, text, sizeof message);
    return status;
}
