/* method.h - what a learning method is.
 *
 * Every method is the same conversation (run.c). In each round every task TRAINS on its
 * own data, looking at the billboard, and SHOWS a contribution; the door (door.c)
 * clips, sums, adds noise and publishes; the method DIGESTS the noisy sum into the next
 * billboard. At the end every task FINISHES: from its own data and the billboard it
 * makes the model it keeps.
 *
 * train, show and finish are given one task and the public view, and have no way to
 * reach another task; digest sees no task at all. That is the premise of the billboard
 * lemma (docs/privacy.md), written as function signatures. */
#ifndef BB_CORE_METHOD_H
#define BB_CORE_METHOD_H

#include "base/options.h"
#include "base/random.h"
#include "learners/local.h"
#include "privacy/accounting/account.h"
#include "privacy/accounting/form.h"

enum { BB_MOST_BLOCKS = 4, BB_MOST_CANDIDATES = 256 };

typedef struct bb_block {
    const char *name;
    bb_form form;
    size_t length;
    double clip;  /* C > 0; INFINITY only where nothing is clipped (mechanism none) */
    double share; /* of the round's mu^2; the shares of a round add up to at most 1 */
} bb_block;

typedef struct bb_layout {
    size_t blocks;
    bb_block block[BB_MOST_BLOCKS];
} bb_layout;

/* Public relations of tasks (methods/relations.h): what a task shows of its model, and
 * sees of the sum, part by part. */
typedef struct bb_relations {
    size_t tasks, rank;
    double *show, *see; /* tasks x rank */
} bb_relations;

/* Everything about a run that anybody may know before it starts. */
typedef struct bb_public {
    size_t tasks, features;
    size_t outputs, parameters; /* of one model: bb_model_parameters */
    bool network;               /* models are networks (learners/net.h) */
    size_t trunk; /* of their parameters so many, in front, are below the last layer */
    const double *start;     /* parameters: where models start, public; NULL: zero. In a
                                later phase, clusters x parameters: what the phases before
                            shared, NULL if they shared nothing. See bb_public_start */
    size_t phase;            /* 0, 1, ...: which part of the run this is */
    size_t batch;            /* rows of a step of stochastic descent; 0: all */
    const uint32_t *cluster; /* tasks: a public group of each task; NULL: one group */
    size_t clusters;         /* at least 1 */
    const bb_relations *relations; /* NULL: each task is related to all alike */
    bb_loss loss;
    bool intercept; /* models have an own intercept, see local.h */
    bool constant;  /* the last feature is the intercept's: 1 before rows are scaled */
    bool scale_sum;
    bool ranged;    /* all columns are in public ranges, from -1 to 1 */
    bool unranged;  /* columns and target are in each task's own powers of ten, */
    bool own_units; /* and no other phase follows: local.h, own_factor */
    bool spread; /* tasks also keep how uncertain their models are (bb_method.spread) */
    bb_adjacency adjacency;
    double epsilon, delta; /* INFINITY, 0 without noise */
    double mu;             /* the Gaussian budget of the whole (epsilon, delta): set by
                              bb_run_train */
    bool as_published;     /* its noise is the papers' own: likewise */
    bb_sampling sampling;  /* who takes part in a round */
    double rate;           /* of Poisson sampling: q */
    size_t cohort;         /* of a sample of fixed size: K */
    size_t doors;    /* 2: two add noise, each as much as epsilon asks for; else 1 */
    uint32_t rounds; /* asked for; 0: the method's default */
    const char *schedule; /* asked for; NULL: the method's default */
} bb_public;

/* What everybody may read: a function of the releases so far and of nothing else. */
typedef struct bb_billboard {
    const double *at; /* the method's own layout, zero before the first release */
    size_t length;
    uint32_t releases;
    bool done; /* no further round (a non-private method has converged) */
} bb_billboard;

/* The same numbers where open and digest write them, and nobody else. */
typedef struct bb_draft {
    double *at;
    size_t length;
    bool done;
} bb_draft;

/* What methods read of the plan of their phase. */
typedef struct bb_plan_view {
    uint32_t rounds;
    const double *instance; /* rounds, as in bb_plan; or NULL */
} bb_plan_view;

typedef struct bb_plan bb_plan;
typedef struct bb_method bb_method;

/* All that is public, as a method's functions see it. */
typedef struct bb_view {
    const bb_method *method;
    const void *options; /* its own options_size bytes */
    const bb_public *pub;
    const bb_billboard *board; /* NULL while the plan and the sizes are asked for */
    const bb_plan_view *plan;  /* likewise */
} bb_view;

/* One task: all that train, show and finish ever see of private data. */
typedef struct bb_task {
    size_t id;             /* its number, 0 .. tasks-1: public */
    const bb_local *local; /* its rows behind its loss */
    double *state;         /* kept between rounds, zero at first */
    double *model;         /* local->length; written by finish. A later phase finds what
                              the phase before left, else zeros */
    double *intercept;     /* 1; the same */
    double *work; /* per thread: method's work, then bb_local_work doubles; what train
                     leaves there is there in show */
    bb_random *random;     /* its own generator, for methods with own_noise or draws */
    double objective, gap; /* finish may say what it reached; the operator's alone */
} bb_task;

/* The door's answer: one entry a block of the layout. */
typedef struct bb_release {
    uint32_t round; /* 1, 2, ... */
    const bb_layout *layout;
    const double
        *value[BB_MOST_BLOCKS];    /* noisy sum: m x length for slot, length x length
                                      (symmetric, full) for psd and outer, else length */
    double noise[BB_MOST_BLOCKS];  /* noise standard deviation, the diagonal's for
                                      symmetric matrices (off-diagonal: / sqrt 2) */
    size_t winner[BB_MOST_BLOCKS]; /* of a selection */
    bool psd_noise; /* the noise of matrices is positive semi-definite (Wishart) */
} bb_release;

/* The plan of a run: how many rounds, and how the budget is spread. Public; made before
 * any data is looked at, and reserved in the ledger as a whole. */
typedef struct bb_step {
    double weight;    /* relative mu_t (or epsilon_t of the published mechanism) */
    double selection; /* fraction of epsilon for the round's private selection */
} bb_step;

struct bb_plan {
    uint32_t rounds;
    bb_step *step;            /* rounds */
    double *mu;               /* rounds: the price, filled by bb_plan_price */
    bb_accountant accountant; /* which one priced it */
    double *pure;        /* rounds: pure epsilon_t of selections or published steps */
    size_t show_length;  /* most doubles a task shows in a round, see bb_plan_room */
    size_t sum_length;   /* most numbers a round's sums take */
    size_t outer_length; /* largest `outer` block */
    unsigned forms;      /* 1 << form of every block that some round has */
    double instance_epsilon, instance_delta; /* a second guarantee, unit: one row */
    double
        *instance; /* rounds: its pure epsilon_t, filled by bb_plan_instance; or NULL */
    bool instance_broken; /* its published calibration, which is not private */
    size_t lifted_rows;   /* > 0: the promise for a task is that for one row, lifted to
                             so many; filled by bb_plan_lift */
};

typedef enum bb_method_kind {
    BB_METHOD_ALONE,  /* shows nothing */
    BB_METHOD_OPEN,   /* exchanges everything in the clear: non-private by definition */
    BB_METHOD_PRIVATE /* behind the door's noise */
} bb_method_kind;

enum {
    BB_SUPPORTS_SQUARED = 1 << BB_LOSS_SQUARED,
    BB_SUPPORTS_LOGISTIC = 1 << BB_LOSS_LOGISTIC,
    BB_SUPPORTS_SOFTMAX = 1 << BB_LOSS_SOFTMAX,
    BB_SUPPORTS_MULTILABEL = 1 << BB_LOSS_MULTILABEL,
    BB_SUPPORTS_NETWORKS = 1 << 16, /* for all of those losses */
    BB_NETWORKS_ONLY = 1 << 17,     /* and for no linear model */
    BB_SUPPORTS_ALL = BB_SUPPORTS_SQUARED | BB_SUPPORTS_LOGISTIC | BB_SUPPORTS_SOFTMAX |
                      BB_SUPPORTS_MULTILABEL | BB_SUPPORTS_NETWORKS
};

/* What of a run's wishes a method heeds; the others are refused (bb_run_check). */
enum {
    BB_TAKES_ROUNDS = 1,           /* how many */
    BB_TAKES_SCHEDULE = 2,         /* and how the budget is spread over them */
    BB_TAKES_BATCH = 4,            /* steps over batches of rows */
    BB_TAKES_BATCH_OF_OUTPUTS = 8, /* the same, where it has no exact solver: several
                                      outputs and networks */
};

/* What a run reached, for the operator; NAN where it has no meaning. */
typedef struct bb_outcome {
    double objective, gap;
    bool converged;
    double lambda; /* the penalty that an automatic one came to; 0: there was none */
} bb_outcome;

struct bb_method {
    const char *name, *summary;
    int variant; /* for a file that implements several methods: which one */
    bb_method_kind kind;
    unsigned losses, takes;
    bool own_noise; /* train draws noise that protects rows from task->random */
    bool draws;     /* train or finish draw from task->random: which rows to look at, or
                       noise that promises nothing */
    bool clustered; /* its shared model is one for each cluster */
    bool related;   /* it heeds relations of tasks */
    const char *finetune; /* how models are finetuned if nobody says; NULL: they are not
                           */
    bool finetune_solved; /* only linear models of one output are */
    bool common_units; /* it finds units that tasks have in common (common_units.h) */
    bool foreseen;     /* its success follows bb_hope (methods/hope.h) */
    bool long_rows;    /* rows may be longer than 1: none of its steps is for the unit
                             ball, and none of its contributions grows with rows */
    bool follows; /* begins with the models of a phase before: never the first one */
    bool
        sampled; /* rounds may be for a sample of the tasks: the others are not asked */
    bool keeps;  /* what a task keeps depends on when it was picked: others' models,
                    together, tell whether it was (docs/privacy.md, cohorts) */
    bool shared_intercept; /* the intercept is a constant feature of the model (the
                             caller appends it to the rows), not an own one beside it */
    /* Optional, with shared_intercept: whether with these options it is an own one. */
    bool (*own_intercept)(const void *options);
    bb_options options;
    size_t options_size;

    /* Rounds and their weights (bb_plan_rounds, bb_plan_room); checks of the options
     * that need the shape. Not called for ALONE methods. */
    bb_status (*plan)(const bb_view *view, bb_plan *plan);
    /* Optional: what it has of the budget's mu^2 where nobody says, 0 if it publishes
     * nothing then; view->pub->mu is that of all phases. Without: as much as others. */
    double (*part)(const bb_view *view);
    /* Sizes in doubles, from public things only; a missing one is 0. */
    size_t (*board_length)(const bb_view *view);
    size_t (*state_length)(const bb_view *view); /* of one task */
    size_t state_models; /* beside it: this many times local->length, in front */
    /* Optional: further doubles of one task's state, behind the others, which may depend
     * on its rows: memory and checkpoints only, never shown. */
    size_t (*kept_length)(const bb_view *view, const bb_local *local);
    size_t (*work_length)(const bb_view *view);   /* of one task */
    size_t (*digest_length)(const bb_view *view); /* the work of digest */
    /* Further work of one task, which may depend on its rows: memory only, never shown.
     */
    size_t (*local_length)(const bb_view *view, const bb_local *local);

    /* The first billboard, which is zeroed: a function of what is public. */
    void (*open)(const bb_view *view, bb_draft *draft);
    /* Every task, before the first round of a later phase: from its model to its state.
     */
    void (*begin)(const bb_view *view, bb_task *task);
    /* Optional: whether a run with these options promises something for single rows;
     * methods with own_noise always do. */
    bool (*for_rows)(const void *options);
    /* Optional: whether with these options tasks add the noise themselves, as published:
     * for a mechanism that leaves it to them, and for no other that has noise. */
    bool (*noise_by_tasks)(const void *options);
    /* Optional: whether with these options and this loss tasks of one linear output read
     * local->lipschitz, which is NAN for others: steps over all of a task's rows do. */
    bool (*descends)(const bb_view *view);

    /* The blocks of the coming round: public in, public out. */
    void (*layout)(const bb_view *view, bb_layout *layout);
    void (*train)(const bb_view *view, bb_task *task);
    /* block[b]: where block b's contribution goes, zeroed. */
    void (*show)(const bb_view *view, const bb_task *task, double *const *block);
    bb_status (*digest)(const bb_view *view, const bb_release *release, bb_draft *draft,
                        double *work);
    bb_status (*finish)(const bb_view *view, bb_task *task);
    /* The model that all share, parameters numbers of the billboard, after the last
     * round; optional: none. It is what tasks have where they have no own numbers, and
     * what the next phase starts from. clustered: clusters x parameters. */
    const double *(*shared)(const bb_view *view);
    /* Optional: numbers of the billboard that the run's report is made of, after the last
     * round (mp_mixed_effects.h): effects_length of them, from public things only. */
    const double *(*effects)(const bb_view *view);
    size_t (*effects_length)(const bb_view *view);
    void (*outcome)(const bb_view *view, bb_outcome *outcome); /* optional */
    /* Optional: what the method adds to the sum of the tasks' losses, for all their models
     * (tasks x features); NAN with options for which it has no such number. For the
     * operator of a simulation alone. */
    bb_status (*penalty)(const bb_view *view, const double *models, double *out);
    /* Optional: how uncertain a task that has finished is of its model, spread_length
     * numbers, which stay with the task. Called after finish, where pub->spread. */
    bb_status (*spread)(const bb_view *view, bb_task *task, double *out);
    size_t (*spread_length)(const bb_view *view);
    /* Optional: after the last round, a sentence on what the billboard tells about the
     * method's success; NULL: nothing. A function of the billboard: public, and free. */
    const char *(*note)(const bb_view *view);
};

/* Whether with these options rows get a constant column for the intercept. */
bool bb_method_shares_intercept(const bb_method *method, const void *options);

/* Whether with these options the method protects single rows of a task. */
bool bb_method_is_for_rows(const bb_method *method, const void *options);

/* Where the models of a cluster start, parameters numbers; NULL: zero. */
const double *bb_public_start(const bb_public *pub, size_t cluster);

/* How many tasks a round is for, on average: m, q m, or K. Public, as divisors must be.
 */
double bb_cohort_size(const bb_public *pub);

/* Doubles that one task shows, and numbers in the sum, for a block. */
size_t bb_block_show_length(const bb_block *block);
/* Whether a task shows a part of the block's numbers: where its model has an own length
 * (local.h), vectors as long as all parameters are models, of which it shows its own
 * numbers, and the door puts them in place. */
bool bb_block_is_part(const bb_block *block, const bb_local *local);
/* Doubles that this task shows. */
size_t bb_block_task_length(const bb_block *block, const bb_local *local);
size_t bb_block_sum_length(const bb_block *block, size_t tasks);

/* For method->plan: `rounds` steps of weight 1. */
BB_MUST_CHECK bb_status bb_plan_rounds(bb_plan *plan, uint32_t rounds);
/* For method->plan: rounds and weights from pub (rounds, schedule) or the defaults
 * given, after `lead` extra rounds of weight 0. */
BB_MUST_CHECK bb_status bb_plan_schedule(bb_plan *plan, const bb_public *pub,
                                         uint32_t lead, uint32_t rounds,
                                         const char *schedule);
/* For method->plan, after its rounds: a guarantee of (epsilon, delta) for one row of a
 * task, spread over the rounds by their weights (composition bound of Kairouz, Oh,
 * Viswanath); every weight must be positive. */
BB_MUST_CHECK bb_status bb_plan_instance(bb_plan *plan, double epsilon, double delta);
/* For method->plan, after its rounds: (pub->epsilon, pub->delta) for a task is to
 * follow by group privacy from a guarantee for one row of its at most `rows` rows
 * (bb_plan_instance, with what bb_group_rows gives). Every round then publishes one
 * block, vector or slot, with radial noise: pure epsilon_t = rows * instance[t] for a
 * task, whatever it shows. The method sees to it that one row moves what it shows by at
 * most 2 clip / rows, and 2^-24 clip for what it computes inexactly. Does nothing
 * without noise. BB_EUSAGE with adjacency add-remove. */
BB_MUST_CHECK bb_status bb_plan_lift(bb_plan *plan, const bb_public *pub, size_t rows);
/* For method->plan: makes room for a layout that some round will have. */
void bb_plan_room(bb_plan *plan, const bb_public *pub, const bb_layout *layout);

#endif
