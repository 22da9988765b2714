/* flags.h - command-line flags for argp, made from the table of training options. */
#ifndef BILLBOARD_FLAGS_H
#define BILLBOARD_FLAGS_H

#include "cmd.h"

typedef struct cmd_flags {
    billboard_answer *table;    /* billboard_options("train") */
    struct argp_option *option; /* for struct argp */
    char **help;                /* one a row */
    size_t rows;
} cmd_flags;

/* One flag for each row, with its help and default, plus --set. */
BILLBOARD_CHECK billboard_status cmd_flags_open(cmd_flags *flags);
void cmd_flags_close(cmd_flags *flags);

/* The name of the flag that argp's key stands for; NULL if it is none of these. */
const char *cmd_flags_name(const cmd_flags *flags, int key);

#endif
