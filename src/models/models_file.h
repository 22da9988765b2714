/* models_file.h - the two files of models.h; their functions as bb_models_write_lines and
 * bb_models_read there. */
#ifndef BB_MODELS_MODELS_FILE_H
#define BB_MODELS_MODELS_FILE_H

#include "models/models.h"

#include <jansson.h>

BB_MUST_CHECK bb_status bb_models_write_csv(const bb_models *models,
                                            const bb_piece *lines, size_t threads,
                                            const char *path);
BB_MUST_CHECK bb_status bb_models_read_csv(bb_models *models, const char *path);

BB_MUST_CHECK bb_status bb_models_write_tensors(const bb_models *models,
                                                const char *path);
BB_MUST_CHECK bb_status bb_models_read_tensors(bb_models *models, const char *path);
/* What the file says about the kind, an object of texts; NULL: out of memory. */
json_t *bb_models_kind_json(const bb_models *models);

#endif
