/* settings.h - the settings that tuning tries: a method, and values of options. */
#ifndef BB_TRAIN_SETTINGS_H
#define BB_TRAIN_SETTINGS_H

#include "train/options.h"

enum { BB_SETTING_FLAGS = 16 };

/* Flags of a run, after those that all runs have: --method first, then options, those of
 * the method as --set. They own their texts. */
typedef struct bb_setting {
    size_t flags;
    bb_train_flag flag[BB_SETTING_FLAGS];
} bb_setting;

typedef struct bb_settings {
    size_t count, room;
    bb_setting *at;
} bb_settings;

/* What to try.
 * methods: names, separated by commas.
 * grid: "name=value,value;name=low..high": options of `train`, or of one of the methods,
 * which the others go without; NULL: of every method its own positive numbers, from a
 * tenth to ten times the default.
 * random: 0 tries every combination (of values only); else so many settings are drawn
 * by the stream of `seed`: methods and values with equal odds, ranges log-uniformly,
 * and the same one only once.
 * BB_EUSAGE: an unknown method or option, no value, more than 10,000 combinations. */
BB_MUST_CHECK bb_status bb_settings_open(bb_settings *settings, const char *methods,
                                         const char *grid, size_t random,
                                         uint64_t seed);
/* Takes a zeroed one, too. */
void bb_settings_close(bb_settings *settings);

#endif
