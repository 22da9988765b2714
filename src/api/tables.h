/* tables.h - inside the room: tables of options that billboard_options can tell. */
#ifndef BB_API_TABLES_H
#define BB_API_TABLES_H

#include "base/options.h"

typedef struct bb_option_table {
    bb_options options;
    size_t size; /* of the struct of their values */
} bb_option_table;

bb_option_table bb_advise_table(void);
bb_option_table bb_convert_table(void);
bb_option_table bb_synth_table(void);
bb_option_table bb_tune_table(void);
bb_option_table bb_experiment_table(void);
bb_option_table bb_audit_table(void);
bb_option_table bb_audit_method_table(void);

#endif
