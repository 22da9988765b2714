#include "methods/registry.h"

#include <string.h>

static const bb_method *const methods[] = {
    &bb_method_stl,            /* alone */
    &bb_method_mtl_trace,      /* in the clear */
    &bb_method_mtl_l21,        /* in the clear */
    &bb_method_mtl_mtrl,       /* in the clear */
    &bb_method_mp_lowrank,     /* published */
    &bb_method_mp_groupsparse, /* published */
    &bb_method_mp_lrsp,        /* published */
    &bb_method_mp_instance,    /* published, two guarantees */
    &bb_method_fedavg,         /* published */
    &bb_method_fedprox,        /* published */
    &bb_method_pmtl,           /* published */
    &bb_method_pmtl_clusters,  /* published */
    &bb_method_pmtl_graph,     /* published */
    &bb_method_ppsgd,          /* published */
    &bb_method_fedper,         /* published */
    &bb_method_dp_aggr,        /* published baseline */
    &bb_method_dp_mtrl,        /* published baseline */
    &bb_method_mp_mixed,       /* our own */
    &bb_method_mp_prior,       /* our own */
    &bb_method_mp_centre,      /* our own */
    &bb_method_finetune,       /* a later phase */
    &bb_method_vote,           /* a later phase */
};
enum { METHODS = sizeof methods / sizeof *methods };

const bb_method *bb_method_at(size_t i) {
    return i < METHODS ? methods[i] : NULL;
}

const bb_method *bb_method_find(const char *name) {
    for (size_t i = 0; i < METHODS; i++)
        if (strcmp(methods[i]->name, name) == 0) return methods[i];
    return NULL;
}
