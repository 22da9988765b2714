#include "learners/loss.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *metric;
} about_loss[] = {{"squared", "nmse"},
                  {"logistic", "auc"},
                  {"softmax", "accuracy"},
                  {"multilabel", "f1"}};

const char *bb_loss_name(bb_loss loss) {
    return about_loss[loss].name;
}

const char *bb_loss_metric(bb_loss loss) {
    return about_loss[loss].metric;
}

bool bb_loss_find(const char *name, bb_loss *loss) {
    for (size_t k = 0; k < sizeof about_loss / sizeof *about_loss; k++)
        if (strcmp(name, about_loss[k].name) == 0) {
            *loss = (bb_loss)k;
            return true;
        }
    return false;
}

bool bb_loss_is_single(bb_loss loss) {
    return loss == BB_LOSS_SQUARED || loss == BB_LOSS_LOGISTIC;
}

bool bb_loss_is_solved(bb_loss loss, bool network) {
    return bb_loss_is_single(loss) && !network;
}
