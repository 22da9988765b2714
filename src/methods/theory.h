/* theory.h - what the convergence theorems of the published algorithms advise: how the
 * budget is spread over rounds, how many rounds, momentum and step (docs/advise.md).
 *
 * The theorems bound errors up to constants, which are taken as 1 here: good for orders
 * of magnitude and for comparing settings, not for promises. */
#ifndef BB_METHODS_THEORY_H
#define BB_METHODS_THEORY_H

#include <stdbool.h>

/* How the rounds' epsilon_t add up to epsilon (Liang et al. 2020, section 4.4 and
 * appendix C): their sum, with delta = 0 (setting 1); advanced composition with
 * log(1/delta) (setting 2); that with log(e + sqrt(sum of squares)/delta), of Kairouz,
 * Oh, Viswanath 2015 (the main text's setting). */
typedef enum bb_composing {
    BB_COMPOSING_SUM,
    BB_COMPOSING_ADVANCED,
    BB_COMPOSING_OPTIMAL,
    BB_COMPOSINGS
} bb_composing;

/* Algorithm 2 (low rank) or 3 (group sparse) of Liang et al. 2020. */
typedef struct bb_theory {
    double tasks, features;
    double rank; /* k: directions, or rows, that tasks share; 1 .. features */
    double clip; /* K: the most that a model's norm is */
    double
        smooth; /* L: Lipschitz constant of the gradient of the tasks' sum of losses */
    double strong; /* mu: that sum is mu-strongly convex, 0 < mu < L; 0: convex */
    double epsilon, delta;
    bool group_sparse, accelerated;
    bb_composing composing;
} bb_theory;

/* The best exponent alpha of epsilon_t ~ t^alpha (convex), or the best ratio Q of
 * epsilon_t ~ Q^-t (strongly convex): Theorems 6, 11 and 16. */
double bb_theory_allocation(const bb_theory *t);
/* M of Theorems 2 to 5, 7 to 10 and 12 to 15 for any alpha or Q: what privacy costs
 * beside what tasks have in common. From 1 on the bound says nothing. */
double bb_theory_cost(const bb_theory *t, double allocation);
/* The bound itself for any alpha or Q at the rounds that it advises, over K^2 L
 * (convex, and accelerated strongly convex: excess loss) or K (strongly convex without
 * acceleration: distance of models). Equations 11 to 21, 24 to 33. */
double bb_theory_bound(const bb_theory *t, double allocation);
/* The rounds that are advised, at least 1. */
double bb_theory_rounds(const bb_theory *t, double allocation);
/* beta_t of round t for strongly convex losses, the same for all rounds; 0 without
 * acceleration. Convex losses: (t - 1) / (t + 2), of which this is the limit, 1. */
double bb_theory_momentum(const bb_theory *t);
/* The number of the theorem that bounds the error, and of that which allocates. */
int bb_theory_theorem(const bb_theory *t);
int bb_theory_allocation_theorem(const bb_theory *t);

/* Mean-regularised personal models (Hu, Wu, Smith 2023, preprint): a step of local
 * descent in each round, `smooth` L and `strong` mu of a task's loss. */
typedef struct bb_theory_mean {
    double tasks, features;
    double lambda; /* weight of the pull towards the mean */
    double clip;   /* gamma */
    double smooth, strong;
    double rate; /* p: the share of tasks in a round */
} bb_theory_mean;
/* The step: Theorem 3 (strong 0), or 5 with c = 3, both for one local step; not positive:
 * the theorem has none. */
double bb_theory_mean_step(const bb_theory_mean *t);
/* The rounds, at least 1. */
double bb_theory_mean_rounds(const bb_theory_mean *t);
/* The noise multiplier (deviation of the sum over the clip) with which the closed form of
 * Theorem 1's proof makes all tasks in every round (epsilon, delta)-private:
 * 4 sqrt(T log(1/delta)) / epsilon. */
double bb_theory_mean_noise(double rounds, double epsilon, double delta);

#endif
