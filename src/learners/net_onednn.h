/* net_onednn.h - oneDNN, loaded when the first network is opened; the only file that
 * includes its header. */
#ifndef BB_LEARNERS_NET_ONEDNN_H
#define BB_LEARNERS_NET_ONEDNN_H

#include "base/status.h"

#include <dnnl.h>

_Static_assert(DNNL_VERSION_MAJOR == 2, "oneDNN 3 has other descriptors");

/* clang-format off */
#define BB_ONEDNN_FUNCTIONS(use)                                                       \
    use(convolution_backward_data_desc_init)                                           \
    use(convolution_backward_weights_desc_init)                                        \
    use(convolution_forward_desc_init)                                                 \
    use(engine_create)                                                                 \
    use(engine_destroy)                                                                \
    use(inner_product_backward_data_desc_init)                                         \
    use(inner_product_backward_weights_desc_init)                                      \
    use(inner_product_forward_desc_init)                                               \
    use(memory_create)                                                                 \
    use(memory_desc_equal)                                                             \
    use(memory_desc_get_size)                                                          \
    use(memory_desc_init_by_tag)                                                       \
    use(memory_destroy)                                                                \
    use(post_ops_append_eltwise)                                                       \
    use(post_ops_create)                                                               \
    use(post_ops_destroy)                                                              \
    use(primitive_attr_clone)                                                          \
    use(primitive_attr_create)                                                         \
    use(primitive_attr_destroy)                                                        \
    use(primitive_attr_set_post_ops)                                                   \
    use(primitive_attr_set_scratchpad_mode)                                            \
    use(primitive_create)                                                              \
    use(primitive_desc_create)                                                         \
    use(primitive_desc_destroy)                                                        \
    use(primitive_desc_query_md)                                                       \
    use(primitive_destroy)                                                             \
    use(primitive_execute)                                                             \
    use(reorder_primitive_desc_create)                                                 \
    use(stream_create)                                                                 \
    use(stream_destroy)
/* clang-format on */

/* dnnl_NAME is bb_onednn.NAME, once it is loaded. */
typedef struct bb_onednn_table {
#define BB_ONEDNN_MEMBER(name) __typeof__(dnnl_##name) *(name);
    BB_ONEDNN_FUNCTIONS(BB_ONEDNN_MEMBER)
#undef BB_ONEDNN_MEMBER
} bb_onednn_table;
extern bb_onednn_table bb_onednn;

/* Before anything else is called, by any number of threads at once. BB_EIO: see part.h;
 * the next call tries again. */
BB_MUST_CHECK bb_status bb_onednn_load(void);

#endif
