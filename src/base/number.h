/* number.h - numbers from text, whole and strict, whatever the locale. */
#ifndef BB_BASE_NUMBER_H
#define BB_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A finite decimal number: [+-] digits [. digits] [e [+-] digits], nothing before or
 * after it; at least one digit, on either side of the point. No hexadecimal, no "inf",
 * no "nan". False, and *out unchanged, for anything else and for a value that
 * overflows; a value that underflows is rounded. */
bool bb_number_real(const char *text, double *out);

/* Decimal digits only, at most 2^64 - 1. False, and *out unchanged, for anything else.
 */
bool bb_number_count(const char *text, uint64_t *out);

enum { BB_NUMBER_BYTES = 32 };
/* text <- value as printf("%.17g") has it, with a 0 behind; its length. From 1e-10 to 1e17
 * without printf, some ten times as fast. */
size_t bb_number_write(double value, char text[BB_NUMBER_BYTES]);

#endif
