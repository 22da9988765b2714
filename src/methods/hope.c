#include "methods/hope.h"

#include "privacy/accounting/accountant.h"

#include <math.h>
#include <stdio.h>

/* mp-mixed publishes nothing below 1; for classes the fit at home gains from about 1 / .3
 * on, where mp-centre makes its first round count (docs/advise.md). */
static const double least_squared = 1.0, least_logistic = 1.0 / 0.3;
/* A task alone loses about p / n of the noise to having estimated p numbers from n rows:
 * where that is little, so is what others could help with. */
static const double little = 0.01;

const char bb_hope_gone[] =
    "so few tasks cannot see anything above the noise at this epsilon: nothing was "
    "published, and every task was left as it is alone";

/* The reach of mu = tasks = 1, inverted. */
static double unit_of(const bb_public *pub) {
    const double noises = pub->doors > 1 ? 2.0 : 1.0;
    return bb_form_sensitivity(BB_FORM_VECTOR, pub->adjacency) *
           sqrt(noises * (double)pub->features);
}

double bb_hope_reach(const bb_public *pub, double mu) {
    return (double)pub->tasks * mu / unit_of(pub);
}

bool bb_hope_is_open(const bb_public *pub, double mu) {
    return bb_hope_reach(pub, mu) >= least_squared;
}

bb_hope bb_hope_of(const bb_public *pub, double rows) {
    const double mu = bb_gdp_mu(pub->epsilon, pub->delta), p = (double)pub->features;
    bb_hope h = {.loss = pub->loss,
                 .features = p,
                 .rows = rows,
                 .reach = bb_hope_reach(pub, mu),
                 .least = pub->loss == BB_LOSS_SQUARED ? least_squared : least_logistic,
                 .alone_is_enough = !isnan(rows) && p / rows < little};
    h.tasks = ceil(h.least * unit_of(pub) / mu);
    h.epsilon = bb_gdp_epsilon(h.least * unit_of(pub) / (double)pub->tasks, pub->delta);
    return h;
}

bool bb_hope_is_poor(const bb_hope *h) {
    return h->alone_is_enough || h->reach < 2.0 * h->least;
}

void bb_hope_say(const bb_hope *h, char text[BB_HOPE_TEXT]) {
    char fewer[100] = "";
    if (h->tasks >= 2.0)
        snprintf(fewer, sizeof fewer,
                 " With fewer than %.0f tasks nothing would be gained at this budget.",
                 h->tasks);
    if (h->alone_is_enough)
        snprintf(text, BB_HOPE_TEXT,
                 "A task estimates %.0f number%s from about %.0f row%s: learning alone "
                 "loses about %.2g of the noise to that, and others can help with no "
                 "more. Learning alone shows nothing to anybody: --method stl.",
                 h->features, bb_plural(h->features), h->rows,
                 bb_plural(round(h->rows)), h->features / h->rows);
    else if (h->reach < least_squared)
        snprintf(
            text, BB_HOPE_TEXT,
            "Nothing is to be gained at this budget, and nothing will be published: a "
            "direction that all tasks share stands out of the noise by the factor "
            "%.3g, "
            "where %.3g is the least that helps. It takes %.0f tasks, or ε ≥ %.3g, at "
            "the same δ and adjacency. Until then every task keeps what it learns "
            "alone.",
            h->reach, h->least, h->tasks, h->epsilon);
    else if (h->reach < h->least)
        snprintf(
            text, BB_HOPE_TEXT,
            "Hardly anything is to be gained: a direction that all tasks share stands "
            "out of the noise by the factor %.3g, where %.3g is the least that helps. "
            "It "
            "takes %.0f tasks, or ε ≥ %.3g, at the same δ and adjacency. What is asked "
            "all the same is charged in full; where nothing is found in it every task "
            "keeps what it learns alone.",
            h->reach, h->least, h->tasks, h->epsilon);
    else if (h->reach < 2.0 * h->least)
        snprintf(
            text, BB_HOPE_TEXT,
            "Little is to be hoped for: a direction that all tasks share stands out "
            "of the noise by the factor %.3g, where %.3g is the least that helps. "
            "From %.0f tasks, or twice that factor, on it is worth while; with fewer "
            "than %.0f nothing would be gained at this budget.",
            h->reach, h->least, 2.0 * h->tasks, h->tasks);
    else
        snprintf(text, BB_HOPE_TEXT,
                 "What all tasks share can be found: it stands out of the noise by the "
                 "factor %.3g, where %.3g is the least that helps.%s",
                 h->reach, h->least, fewer);
}
