/* wide.h - the 128-bit integer of exact arithmetic; gcc and clang have it on every
 * 64-bit machine. */
#ifndef BB_PRIVACY_WIDE_H
#define BB_PRIVACY_WIDE_H

__extension__ typedef unsigned __int128 bb_u128;

#endif
