/* data.h - inside the room: what billboard_data is. */
#ifndef BB_API_DATA_H
#define BB_API_DATA_H

#include "api/call.h"
#include "data/dataset.h"

struct billboard_data {
    char *path;      /* a file, to be read as its user says; NULL: */
    bb_dataset rows; /* these */
};

#endif
