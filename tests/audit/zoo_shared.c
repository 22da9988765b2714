/* One model object shared by two tasks, in the real training loop. */
#include "base/parallel.h"
#include "zoo_door.h"

enum { S_TASKS = 2 };
static const double s_delta = 1e-3;

typedef struct herd {
    bool broken;
    double model; /* the object that should have been each task's own */
    double x, y[S_TASKS];
    bb_local local[S_TASKS];
    bb_engine engine;
    double billboard; /* what was published */
} herd;

/* A method's options are constant; a pointer in them is the way around the door. */
typedef struct shared_options {
    double *model;
} shared_options;

static bb_status plan(const bb_view *view, bb_plan *made) {
    const bb_layout layout = {1, {{"mean", BB_FORM_VECTOR, 1, 1.0, 1.0}}};
    bb_status status = bb_plan_rounds(made, 1);
    if (!status) bb_plan_room(made, view->pub, &layout);
    return status;
}

static size_t one(const bb_view *view) {
    (void)view;
    return 1;
}

static void layout_of(const bb_view *view, bb_layout *layout) {
    (void)view;
    *layout = (bb_layout){1, {{"mean", BB_FORM_VECTOR, 1, 1.0, 1.0}}};
}

/* One gradient step from the model's last value, as a federated client does it. */
static void train(const bb_view *view, bb_task *task) {
    const shared_options *options = view->options;
    double *model = options->model ? options->model : task->state;
    *model += 0.5 * (task->local->y[0] - *model);
    task->state[0] = *model;
}

static void show(const bb_view *view, const bb_task *task, double *const *block) {
    (void)view;
    block[0][0] = task->state[0];
}

static bb_status digest(const bb_view *view, const bb_release *release, bb_draft *draft,
                        double *work) {
    (void)view, (void)work;
    draft->at[0] = release->value[0][0];
    return BB_OK;
}

static bb_status finish(const bb_view *view, bb_task *task) {
    task->model[0] = task->state[0] + view->board->at[0];
    return BB_OK;
}

static const bb_method method = {.name = "shared",
                                 .kind = BB_METHOD_PRIVATE,
                                 .losses = BB_SUPPORTS_SQUARED,
                                 .options_size = sizeof(shared_options),
                                 .plan = plan,
                                 .board_length = one,
                                 .state_length = one,
                                 .layout = layout_of,
                                 .train = train,
                                 .show = show,
                                 .digest = digest,
                                 .finish = finish};

static void close_herd(void *worker) {
    free(worker);
}

static bb_status open_herd(bool broken, void **worker, zoo_claim *claim) {
    herd *h = NULL;
    bb_status status = bb_allocate(&h, 1, sizeof *h, "the zoo");
    if (status) return status;
    h->broken = broken;
    h->x = 1.0;
    for (size_t i = 0; i < S_TASKS; i++)
        h->local[i] = (bb_local){.loss = BB_LOSS_SQUARED,
                                 .weight = 1.0,
                                 .n = 1,
                                 .d = 1,
                                 .outputs = 1,
                                 .length = 1,
                                 .x = &h->x,
                                 .y = &h->y[i]};
    h->engine = bb_engine_threads(1);
    *claim = (zoo_claim){1.0, s_delta};
    *worker = h;
    return BB_OK;
}

static bb_status published(void *self, const bb_release *release, size_t tasks) {
    herd *h = self;
    (void)tasks;
    h->billboard = release->value[0][0];
    return BB_OK;
}

/* The adversary is task 1: it sees the billboard, and its own model. */
static bb_status try_herd(void *worker, int world, bb_random *random,
                          double *statistic) {
    herd *h = worker;
    bb_result result = {0};
    const shared_options options = {h->broken ? &h->model : NULL};
    const bb_run run = {.phases = 1,
                        .phase = {{.method = &method, .options = &options}},
                        .pub = {.tasks = S_TASKS,
                                .features = 1,
                                .loss = BB_LOSS_SQUARED,
                                .epsilon = 1.0,
                                .delta = s_delta},
                        .mechanism = &bb_mechanism_gaussian,
                        .engine = &h->engine,
                        .seeded = true,
                        .seed = bb_random_bits(random),
                        .observer = {.self = h, .published = published},
                        .local = h->local};
    h->model = 0.0;
    h->y[0] = world == 0 ? 2.0 : -2.0;
    h->y[1] = 1.0;
    bb_status status = bb_run_train(&run, &result);
    if (status) return status;
    statistic[0] = h->billboard;
    statistic[1] = result.model[1] - h->billboard;
    bb_result_free(&result);
    return status;
}

const zoo_animal zoo_shared_model = {
    "shared-model", "one model object shared by two tasks",
    2000,           2,
    open_herd,      try_herd,
    close_herd};
