/* billboard silo: one place's part of a run. */
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef billboard_experimental_silo silo;

/* Kept first: a ledger that says that the run is done, and a run directory that cannot be
 * written now, leave what is needed to write it later. */
static billboard_status store(const place *p, silo *s, FILE *stream) {
    billboard_result *result = NULL;
    billboard_status status =
        p->checkpoint ? billboard_experimental_silo_keep(s) : BILLBOARD_OK;
    if (!status) status = billboard_experimental_silo_result(s, &result);
    if (!status) status = place_store(p, result, stream);
    billboard_result_free(result);
    return status;
}

/* A curator that may wait for this place has to hear of it once more. */
static void end(place *p, silo *s, bool heard) {
    if (heard)
        billboard_experimental_silo_forget(s);
    else
        place_say(
            p,
            "the curator has not said that it knows that the models are here: %s is "
            "kept; start this again with it if it waits for this place",
            p->checkpoint);
}

/* Before there is a silo, and before a row is read. */
static billboard_status
check_policy(place *p, const billboard_experimental_policy *policy, carrier *c) {
    enum { TRIES = 3 };
    unsigned char refusal[BILLBOARD_EXPERIMENTAL_REFUSAL];
    size_t size = 0;
    const billboard_status why = billboard_experimental_policy_check(
        p->job, p->roster, p->way.silo, policy, refusal, &size);
    if (!size) return why;
    message got;
    char *words = strdup(billboard_error());
    billboard_status status = BILLBOARD_OK;
    for (int k = 0; k < TRIES && !status && !carrier_reaches(c, 0); k++)
        if (!*p->watch.stop) status = carrier_receive(c, 1.0, &got);
    if (!status) status = carrier_send(c, 0, refusal, size);
    return talk_end_refused(p, c, status, why, words);
}

static billboard_status take_part(place *p, carrier *c, FILE *stream) {
    billboard_experimental_policy policy = {.struct_size = sizeof policy};
    billboard_data *data = NULL;
    silo *s = NULL;
    bool heard = false;
    billboard_status status =
        billboard_experimental_agreement_policy(p->agreement, p->policy, &policy);
    if (!status) status = check_policy(p, &policy, c);
    if (!status) status = billboard_data_from_file(p->data, &data);
    if (!status)
        status = billboard_experimental_silo_open(p->job, p->roster, p->way.silo, data,
                                                  &policy, &p->watch, &s);
    if (!status) status = carrier_hold(c);
    const talk with_curator = {.place = p, .carrier = c, .silo = s};
    if (!status && !p->stored) status = talk_run(&with_curator);
    if (!status && !p->stored) status = store(p, s, stream);
    if (!status) status = talk_bye(&with_curator, &heard);
    if (!status && p->checkpoint) end(p, s, heard);
    billboard_experimental_silo_free(s);
    billboard_data_free(data);
    return status;
}

/* -- whether it could take part -- */

static void print_ledger(const billboard_answer *a, FILE *to) {
    const char *file = billboard_answer_text(a, "ledger.file");
    fputs("ledger     ", to);
    if (!file)
        fputs("none: nothing counts this run with others\n", to);
    else if (billboard_answer_number(a, "ledger.charged") > 0.0)
        fputs("has charged it, which goes on from its checkpoint\n", to);
    else if (billboard_answer_number(a, "ledger.new") > 0.0)
        fputs("is not there yet, and would be begun with room for it\n", to);
    else
        fprintf(to, "has room for it: of ε %g, δ %g it has spent ε %g, δ %g\n",
                billboard_answer_number(a, "ledger.budget.epsilon"),
                billboard_answer_number(a, "ledger.budget.delta"),
                billboard_answer_number(a, "ledger.spent.epsilon"),
                billboard_answer_number(a, "ledger.spent.delta"));
}

static void print_about(const place *p, const billboard_answer *a, FILE *to) {
    const double epsilon = billboard_answer_number(a, "epsilon");
    const double test = billboard_answer_number(a, "test_rows");
    const double out = billboard_answer_number(a, "rows_left_out");
    fprintf(to, "silo %s could take part\n", p->name);
    const double tasks = billboard_answer_number(a, "tasks");
    fprintf(to, "rows       %.0f of %.0f task%s; the plan names %.0f",
            billboard_answer_number(a, "rows") + test, tasks, cmd_plural(tasks),
            billboard_answer_number(a, "tasks_of_plan"));
    if (test > 0.0)
        fprintf(to, "; %.0f %s for testing only", test, test == 1.0 ? "is" : "are");
    if (out > 0.0)
        fprintf(to, "; %.0f more %s missing values", out, out == 1.0 ? "has" : "have");
    fprintf(to, "\ncolumns    %.0f, to predict \"%s\"\nasked for  %s, rounds: %.0f; ",
            billboard_answer_number(a, "features"), billboard_answer_text(a, "target"),
            billboard_answer_text(a, "methods"), billboard_answer_number(a, "rounds"));
    if (isnan(epsilon))
        fputs("NOT PRIVATE\n", to);
    else
        fprintf(to, "ε %g, δ %g, %s, sampling %s\n", epsilon,
                billboard_answer_number(a, "delta"),
                billboard_answer_text(a, "adjacency"),
                billboard_answer_text(a, "sampling"));
    fprintf(to, "policy     allows it: at most ε %g, δ %g\n",
            billboard_answer_number(a, "policy.most_epsilon"),
            billboard_answer_number(a, "policy.most_delta"));
    print_ledger(a, to);
    fputs("Nothing was said to anybody, and nothing is charged.\n", to);
}

/* All that a silo looks at before it speaks, and no more. */
static billboard_status check(place *p, FILE *stream) {
    billboard_experimental_policy policy = {.struct_size = sizeof policy};
    billboard_data *data = NULL;
    billboard_answer *about = NULL;
    billboard_status status =
        billboard_experimental_agreement_policy(p->agreement, p->policy, &policy);
    if (!status) status = billboard_data_from_file(p->data, &data);
    if (!status)
        status = billboard_experimental_silo_look(p->job, p->roster, p->way.silo, data,
                                                  &policy, &p->watch, &about);
    if (!status && p->json)
        fprintf(stream, "%s\n", billboard_answer_json(about));
    else if (!status)
        print_about(p, about, stream);
    billboard_answer_free(about);
    billboard_data_free(data);
    return status;
}

int cmd_silo(int argc, char **argv) {
    place p;
    carrier *c = NULL;
    cmd_output output = {0};
    billboard_status status = place_open(&p, argc, argv, PLACE_SILO);
    if (!status) status = cmd_open(&output);
    if (!status && p.over) return place_end(&p, &output, status);
    if (!status && p.check) return place_end(&p, &output, check(&p, output.stream));
    if (!status) status = carrier_open(&c, &p.way);
    if (!status) status = take_part(&p, c, output.stream);
    carrier_close(c);
    return place_end(&p, &output, status);
}
