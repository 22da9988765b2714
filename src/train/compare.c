/* What else could have been had: the baselines of --compare, after the run. */
#include "train/baseline.h"
#include "train/experiment.h"

#include <math.h>

/* What the run gains over a baseline, and how far its figure depends on which tasks there
 * are. */
static bb_status weigh(const bb_experiment *e, const bb_assessed *test,
                       bb_baseline *figures) {
    const bb_status status = bb_assessed_gain(&e->test, test, &figures->gain);
    return status ? status : bb_assessed_range(test, figures->range);
}

/* The same run without noise. */
static bb_status compare_no_privacy(bb_experiment *e) {
    bb_baseline *figures = &e->report.no_privacy;
    bb_run run = e->run;
    bb_result result = {0};
    bb_models models = {0};
    bb_assessed test = {0};
    run.mechanism = &bb_mechanism_none;
    run.pub.doors = 1;
    run.ledger = NULL;
    run.keeper = NULL;
    run.observer.published = NULL;
    run.spread = NULL;
    run.pub.spread = false;
    bb_status status = bb_run_train(&run, &result);
    if (!status) status = bb_experiment_models(e, &result, &models);
    if (!status)
        status =
            bb_assess(&models, run.pub.loss, &e->population.test, &e->engine, &test);
    if (!status) status = bb_assessed_check(&test);
    if (!status) status = weigh(e, &test, figures);
    figures->lambda = NAN;
    figures->test = test.metrics;
    figures->there = !status;
    bb_assessed_close(&test);
    bb_models_free(&models);
    bb_result_free(&result);
    return status;
}

/* Nothing of the run's batches is inherited: networks of their own. */
static bb_status open_net(const bb_experiment *e, bb_net **net) {
    const bb_dataset *data = &e->population.prepared;
    const bb_image image = {data->height, data->width, data->channels};
    return bb_net_open(net, e->resolved->request->options.net, image, BB_TRIAL_BATCH,
                       e->engine.workers);
}

static bb_baseline_rows rows_of(const bb_experiment *e, const bb_net *net) {
    const bb_population *p = &e->population;
    return (bb_baseline_rows){.train = net ? &p->train : &p->read_train,
                              .test = net ? &p->test : &p->read_test,
                              .what = {e->run.pub.loss, p->outputs, net, e->start},
                              .seed = e->resolved->request->options.split_seed,
                              .engine = &e->engine,
                              .stop = e->watch->stop};
}

static bb_status compare_learnt(const bb_experiment *e, const bb_net *net, bool pooled,
                                bb_baseline *figures, bb_assessed *test) {
    const bb_baseline_rows rows = rows_of(e, net);
    bb_status status = bb_baseline_learnt(&rows, pooled, figures, test);
    if (!status) status = weigh(e, test, figures);
    figures->there = !status;
    return status;
}

static bb_status compare_own(const bb_experiment *e, bb_baseline *figures,
                             bb_assessed *test) {
    const bb_baseline_rows rows = rows_of(e, NULL);
    bb_status status = bb_baseline_own(&rows, figures, test);
    if (status || !figures->there) return status;
    status = weigh(e, test, figures);
    figures->there = !status;
    return status;
}

static bb_status compare_mixed(const bb_experiment *e, const bb_net *net,
                               const bb_baseline *pooled, bb_baseline *figures,
                               bb_assessed *test) {
    const bb_baseline_rows rows = rows_of(e, net);
    if (!bb_baseline_has_mixed(&rows)) return BB_OK;
    bb_status status = bb_baseline_mixed(&rows, pooled, figures, test);
    if (!status) status = weigh(e, test, figures);
    figures->there = !status;
    return status;
}

static bb_status compare_mean(const bb_experiment *e, bool own, bb_baseline *figures,
                              bb_assessed *test) {
    const bb_baseline_rows rows = {.train = &e->population.read_train,
                                   .test = &e->population.read_test};
    return bb_baseline_mean(&rows, own, figures, test);
}

static void compare_all(bb_experiment *e, bb_scores *s) {
    bb_report *r = &e->report;
    bb_net *net = NULL;
    const bb_status status = e->net ? open_net(e, &net) : BB_OK;
    if (status || compare_learnt(e, net, false, &r->stl, &s->alone))
        bb_experiment_leave_out(e, "the comparison with stl is");
    if (bb_loss_is_single(e->run.pub.loss) && !net && compare_own(e, &r->own, &s->own))
        bb_experiment_leave_out(e, "the comparison with tasks tuned by themselves is");
    if (status || compare_learnt(e, net, true, &r->pooled, &s->pooled))
        bb_experiment_leave_out(e, "the comparison with one model for all is");
    if (status || compare_mixed(e, net, &r->pooled, &r->mixed, &s->mixed))
        bb_experiment_leave_out(e, "the comparison with a mixed model is");
    if (e->run.pub.loss == BB_LOSS_SQUARED &&
        (compare_mean(e, false, &r->mean, &s->mean) ||
         compare_mean(e, true, &r->own_mean, &s->own_mean)))
        bb_experiment_leave_out(e, "the comparison with means is");
    bb_net_close(net);
}

bb_status bb_experiment_compare(bb_experiment *e) {
    bb_scores s = {0};
    bb_status status = BB_OK;
    if (!e->report.test.rows)
        bb_experiment_warn(
            e, "--compare: no rows are held out, on which anything could be "
               "compared: give --train-fraction 0.7, or --test FILE");
    if (!e->test.score) return BB_OK;
    bb_experiment_say(e, "comparing");
    if (bb_assessed_range(&e->test, e->report.test_range))
        bb_experiment_leave_out(e, "the run's own interval is");
    if (e->resolved->compare_stl) {
        compare_all(e, &s);
        status = bb_write_tasks(e, &s);
    }
    if (e->resolved->compare_no_privacy && compare_no_privacy(e))
        bb_experiment_leave_out(e, "the comparison with no-privacy is");
    bb_assessed_close(&s.alone);
    bb_assessed_close(&s.own);
    bb_assessed_close(&s.pooled);
    bb_assessed_close(&s.mixed);
    bb_assessed_close(&s.mean);
    bb_assessed_close(&s.own_mean);
    return status;
}
