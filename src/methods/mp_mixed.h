/* mp_mixed.h - the two halves of mp-mixed: the public conversation, and one task's fits
 * under what it found. */
#ifndef BB_METHODS_MP_MIXED_H
#define BB_METHODS_MP_MIXED_H

#include "methods/common_units.h"
#include "methods/mp_prior.h"
#include "methods/ridge_path.h"

/* A task's candidates: kinds of covariance, each around the centre or around zero, each
 * with every penalty and noise level. */
typedef enum bb_mixed_kind {
    BB_MIXED_PLAIN, /* all features alike */
    BB_MIXED_FREE,  /* the last one, the constant, next to free */
    BB_MIXED_HELD,  /* the last one as penalised as the others together */
    BB_MIXED_OWN,  /* each by the task's own deviation, the constant next to free: where
                       rows are more than features */
    BB_MIXED_ONCE, /* the directions that were found */
    BB_MIXED_TWICE, /* the same, more sharply */
    BB_MIXED_KINDS
} bb_mixed_kind;

enum {
    BB_MIXED_GROUPS = 2 * BB_MIXED_KINDS, /* group g: kind g / 2, around the centre if g
                                             is even */
    BB_MIXED_PENALTIES = 15,
    BB_MIXED_LEVELS = 5,
    BB_MIXED_CELLS = BB_MIXED_PENALTIES * BB_MIXED_LEVELS,
    BB_MIXED_STEPS = 5, /* between penalties that are voted on */
    BB_MIXED_FITS = BB_MIXED_GROUPS * BB_MIXED_CELLS,
    BB_MIXED_MOST_FEATURES = BB_PRIOR_MOST_FEATURES
};

typedef enum bb_mixed_phase {
    BB_MIXED_UNITS,      /* of columns and target, where every task has its own */
    BB_MIXED_PLACES,     /* where columns and target are, in these */
    BB_MIXED_CENTRE,     /* directions towards a centre */
    BB_MIXED_DIRECTIONS, /* directions around it */
    BB_MIXED_PENALTY_VOTE,
    BB_MIXED_GROUP_VOTE,
    BB_MIXED_EFFECTS, /* mp_mixed_effects.h */
    BB_MIXED_END
} bb_mixed_phase;

/* The billboard: what is read of it at home. */
typedef struct bb_mixed_board {
    size_t d;
    bool constant; /* the last feature is the constant */
    bool unranged; /* there are no ranges */
    bool level;    /* likewise; all tasks' targets are counted from one place, and votes
                      can tell whether that is a level to be drawn to */
    bool slopes;   /* no model is asked for but intervals, or which slopes are usual */
    bool can_turn; /* bb_mixed_can_turn */
    bb_mixed_phase phase;
    const double *centre;   /* d */
    bool found;             /* a centre */
    double sure;            /* the part of what was summed for it that is no noise, at
                               its best */
    double still;           /* how much of the way to it is left, about: 0 to 1 */
    size_t iteration;       /* how often directions were estimated; 0: not yet */
    double directions;      /* how many were found the last time */
    double reliability;     /* of these */
    const double *variance; /* d: in the directions; NULL before the first estimate */
    const double *basis;    /* d x d, likewise */
    bb_units units;         /* of columns and target */
    const double *group;    /* log odds: BB_MIXED_GROUPS */
    const double *penalty;  /* log odds: BB_MIXED_PENALTIES */
    bb_layout layout;       /* of the round, where the phase is that of effects: */
    double radius;          /* how long deviations are there, at most */
} bb_mixed_board;

bb_mixed_board bb_mixed_read(const bb_view *view);
/* Whether there can be rounds for directions at all, from public sizes. */
bool bb_mixed_can_turn(const bb_view *view);
/* Whether there are rounds for effects. */
bool bb_mixed_has_effects(const bb_view *view);
/* Whether the group is among the candidates of some tasks. */
bool bb_mixed_has(const bb_mixed_board *mixed, size_t group);
/* Whether a task's rows are enough for the kind; whether it is among this task's. */
bool bb_mixed_suits(const bb_mixed_board *mixed, const bb_local *local,
                    bb_mixed_kind kind);
bool bb_mixed_can(const bb_mixed_board *mixed, const bb_local *local,
                  bb_mixed_kind kind);
/* Whether its rows are enough to vote on penalties by slopes alone; others vote as they
 * believe. */
bool bb_mixed_knows_slopes(const bb_mixed_board *mixed, const bb_local *local);

/* -- votes (mp_mixed_vote.c) -- */

/* ln of the sum of exp of `count` numbers. */
double bb_mixed_log_sum(const double *x, size_t count);
/* x <- exp x, divided by their sum; not all are -infinity. */
void bb_mixed_shares(double *x, size_t count);
/* Log prior odds of a group by what the tasks have voted, and by whether there are ranges. */
double bb_mixed_group_odds(const bb_mixed_board *mixed, size_t group);
/* odds (BB_MIXED_GROUPS x BB_MIXED_PENALTIES) <- the same with those of penalties around the
 * centre (around zero, where none was found). */
void bb_mixed_odds(const bb_mixed_board *mixed, double *odds);
/* What a task shows, from its log evidences with their priors (BB_MIXED_FITS, -infinity:
 * no candidate), inside the unit ball: by how much its evidence without priors rises from
 * penalty to penalty (BB_MIXED_STEPS; usual: the task's penalty, which its priors go by), and
 * how its evidence under those odds prefers the groups (BB_MIXED_GROUPS numbers around their
 * mean). */
void bb_mixed_show_penalties(const bb_mixed_board *mixed, const double *evidence,
                             double usual, double *vote);
void bb_mixed_show_groups(const bb_mixed_board *mixed, const double *evidence,
                          double *vote);
/* What the noisy sum of the first becomes, penalty (BB_MIXED_PENALTIES): logarithms that rise or
 * fall from one power of ten to the next, of odds that are one on average. That of the second
 * becomes log odds by bb_vote_take (personal_vote.h). */
void bb_mixed_take_penalties(const bb_release *release, size_t tasks, double *penalty);

/* -- before rows speak (mp_mixed_prior.c) -- */

/* Penalties of the candidates beside the summed loss. */
extern const double bb_mixed_penalty[BB_MIXED_PENALTIES];
/* What the noise of a row's target (a variance) is believed to be on level k: at least that of
 * rounding to the decimal place in which targets are written (Sheppard 1898); as by how many rows,
 * with ranges and without. */
double bb_mixed_noise(const bb_local *local, size_t k);
double bb_mixed_belief(const bb_mixed_board *mixed);
/* Without ranges a target is looked at around the mean of the rows, which is the work of one
 * of them: the likelihood of slopes is the restricted one (Patterson and Thompson 1971),
 * where no model is asked for and the kind's constant is next to free; models are better
 * without that. How many rows then tell of the noise, those of the belief among them. */
double bb_mixed_freedom(const bb_mixed_board *mixed, const bb_local *local,
                        bb_mixed_kind kind);
/* restricted (BB_MIXED_PENALTIES) <- log_det of a kind without what its constant has of it,
 * which, next to free, would otherwise speak for large penalties. */
void bb_mixed_restrict(const bb_mixed_board *mixed, const bb_local *local,
                       bb_mixed_kind kind, const double *log_det, double *restricted);
/* The penalty that is usual for such rows. work: d doubles. */
double bb_mixed_usual(const bb_mixed_board *mixed, const bb_local *local, double *work);
/* Decades by which penalty l is above the one that is usual for a kind, of a task whose
 * rows' usual one is `usual'. */
double bb_mixed_decades_above(size_t kind, size_t l, double usual);
/* What speaks for a group with a penalty so many decades above that; with penalty l. */
double bb_mixed_log_prior_above(const bb_mixed_board *mixed, size_t group,
                                double above);
double bb_mixed_log_prior(const bb_mixed_board *mixed, size_t group, size_t l,
                          double usual);
/* And for a group by which level a target is likely to have; no part of what tasks vote, since
 * it is everybody's. */
double bb_mixed_log_level(const bb_mixed_board *mixed, size_t group);
/* And for a group of this task, by where its targets are. */
double bb_mixed_log_far(const bb_mixed_board *mixed, const bb_local *local,
                        size_t group);

/* -- what rows say (mp_mixed_weigh.c) -- */

/* Around which multiple of the centre a path has looked. */
enum { BB_MIXED_ONE, BB_MIXED_NONE, BB_MIXED_TWO, BB_MIXED_SIDES };

/* What a path tells of every penalty around one of these (ridge_path.h). */
typedef struct bb_mixed_measure {
    double *log_det;  /* BB_MIXED_PENALTIES, alike around every centre */
    double *rest;     /* the least loss */
    double *left_out; /* the same of rows that are left out; where rows are more than
                         features */
} bb_mixed_measure;

/* evidence (BB_MIXED_CELLS) <- of every cell, a logarithm (normal - inverse gamma model:
 * the noise's variance has a prior worth `belief` rows around a level), up to what all
 * candidates share; in part the same of rows that are left out. n > 0. */
void bb_mixed_weigh(const bb_mixed_board *mixed, const bb_local *local,
                    bb_mixed_kind kind, const bb_mixed_measure *m, double *evidence);
/* Adds to the evidence around the centre, as of above, that of centres of any length in its
 * direction: a normal belief around one as long, as much as one average row tells (Kass
 * and Wasserman 1995). side: BB_MIXED_SIDES; spread: weight ||X centre||^2. length
 * (BB_MIXED_CELLS) <- the mean of the length, times that of the centre. */
void bb_mixed_weigh_lengths(const bb_mixed_board *mixed, const bb_local *local,
                            bb_mixed_kind kind, const bb_mixed_measure *side,
                            double spread, double *evidence, double *length);

/* In front of a task's state: of common_units.h, which effects do without, since they are of
 * columns in their ranges. */
size_t bb_mixed_units_state(const bb_view *view);
/* The deviation of column k in a unit that tasks have in common, half of its range or one that
 * was found, below which a task's rows do not say what it does elsewhere; 0 without one. */
double bb_mixed_least_deviation(const bb_mixed_board *mixed, size_t k);
/* The covariance of a kind; room: bb_mixed_covariance_room numbers. */
size_t bb_mixed_covariance_room(const bb_local *local);
bb_covariance bb_mixed_covariance(const bb_mixed_board *mixed, const bb_local *local,
                                  bb_mixed_kind kind, double *room);

/* -- fits (mp_mixed_fits.c); work: bb_mixed_fits_work doubles -- */

size_t bb_mixed_fits_work(const bb_local *local);
/* u (d) <- how far the task's mean under a kind of covariance is from a centre (d; NULL: 0).
 * n > 0. BB_ENUMERIC. */
BB_MUST_CHECK bb_status bb_mixed_deviation(const bb_mixed_board *mixed,
                                           const bb_local *local, bb_mixed_kind kind,
                                           const double *centre, double *u,
                                           double *work);
/* measures (bb_mixed_measures_length, of which the evidences of all candidates are made anew,
 * in a fifth of the room) <- what the task's rows tell of each kind. BB_ENUMERIC. */
size_t bb_mixed_measures_length(const bb_mixed_board *mixed, const bb_local *local);
BB_MUST_CHECK bb_status bb_mixed_look(const bb_mixed_board *mixed,
                                      const bb_local *local, double *measures,
                                      double *work);
/* evidence (BB_MIXED_FITS) <- log evidence of all candidates with their priors, -infinity
 * of those that are none; length (as many; NULL: only the one that was found) <- how long
 * the centre is, times the one on the billboard. usual: bb_mixed_usual. */
void bb_mixed_evidence(const bb_mixed_board *mixed, const bb_local *local, double usual,
                       double *measures, double *evidence, double *length);
/* The model that a task tunes alone (ridge_tuned.h), for rows as it was given them. */
typedef struct bb_mixed_tuned {
    double *w; /* d */
    double
        share; /* of what candidates have that look at nothing on the billboard; then of all */
} bb_mixed_tuned;
/* tuned->w, share <- that, share 0 where the task cannot. scale (d - 1; NULL: none): by what
 * columns are multiplied to be in common units. BB_ENUMERIC. */
BB_MUST_CHECK bb_status bb_mixed_tune(const bb_mixed_board *mixed,
                                      const bb_local *local, const double *scale,
                                      bb_mixed_tuned *tuned, double *work);
/* w (d) <- the average of all candidates by their evidence and the votes, and tuned->share what
 * the tuned model shall have of it (bb_mixed_add_tuned, when w is for the same rows). work: 2
 * BB_MIXED_FITS doubles more. BB_ENUMERIC. */
BB_MUST_CHECK bb_status bb_mixed_average(const bb_mixed_board *mixed,
                                         const bb_local *local, double usual,
                                         double *measures, bb_mixed_tuned *tuned,
                                         double *w, double *work);
void bb_mixed_add_tuned(const bb_local *local, const bb_mixed_tuned *tuned, double *w);
/* The same where nothing is published at all. The last feature is the constant; ranged:
 * there are ranges. Without rows: zero. work: bb_mixed_alone_work doubles. BB_ENUMERIC. */
size_t bb_mixed_alone_work(const bb_local *local);
BB_MUST_CHECK bb_status bb_mixed_alone(const bb_local *local, bool ranged, double *w,
                                       double *work);

/* score (BB_MIXED_FITS) <- log probability of every candidate for a task that is
 * finished, up to the constant that is returned: by its own rows and the vote on kinds,
 * without that on penalties, under which all tasks agree on a common one. */
double bb_mixed_scores(const bb_mixed_board *mixed, const bb_task *task, double *score);

/* How uncertain a finished task is: what its room for that begins with (a variance, degrees of
 * freedom), then a matrix (d x d). */
enum { BB_MIXED_SPREAD_NOISE, BB_MIXED_SPREAD_FREEDOM, BB_MIXED_SPREAD_MATRIX };
size_t bb_mixed_spread_length(const bb_view *view);
size_t bb_mixed_spread_work(const bb_local *local);
BB_MUST_CHECK bb_status bb_mixed_spread(const bb_view *view, bb_task *task,
                                        double *out);

/* One task's hooks. */
size_t bb_mixed_state_length(const bb_view *view);
size_t bb_mixed_kept_length(const bb_view *view, const bb_local *local);
size_t bb_mixed_local_length(const bb_view *view, const bb_local *local);
void bb_mixed_train(const bb_view *view, bb_task *task);
void bb_mixed_show(const bb_view *view, const bb_task *task, double *const *block);
BB_MUST_CHECK bb_status bb_mixed_finish(const bb_view *view, bb_task *task);

#endif
