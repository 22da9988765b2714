/* registry.h - the methods, one row each. */
#ifndef BB_METHODS_REGISTRY_H
#define BB_METHODS_REGISTRY_H

#include "core/method.h"

/* The i-th method in the order in which they are listed; NULL after the last. */
const bb_method *bb_method_at(size_t i);
/* NULL for an unknown name. */
const bb_method *bb_method_find(const char *name);

extern const bb_method bb_method_stl;
extern const bb_method bb_method_mtl_trace;
extern const bb_method bb_method_mtl_l21;
extern const bb_method bb_method_mtl_mtrl;
extern const bb_method bb_method_mp_lowrank;
extern const bb_method bb_method_mp_groupsparse;
extern const bb_method bb_method_mp_lrsp;
extern const bb_method bb_method_mp_instance;
extern const bb_method bb_method_fedavg;
extern const bb_method bb_method_fedprox;
extern const bb_method bb_method_pmtl;
extern const bb_method bb_method_pmtl_clusters;
extern const bb_method bb_method_pmtl_graph;
extern const bb_method bb_method_ppsgd;
extern const bb_method bb_method_fedper;
extern const bb_method bb_method_dp_aggr;
extern const bb_method bb_method_dp_mtrl;
extern const bb_method bb_method_mp_mixed;
extern const bb_method bb_method_mp_prior;
extern const bb_method bb_method_mp_centre;
extern const bb_method bb_method_finetune;
extern const bb_method bb_method_vote;

#endif
