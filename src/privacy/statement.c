#include "privacy/statement.h"

#include "base/json.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_TASKS = 30, NUMBER_BYTES = 32, FACTOR_MOST_EPSILON = 30 };

bool bb_statement_holds(const bb_statement *statement, size_t k) {
    return statement->guarantee[k].valid && !statement->seeded &&
           !statement->data_ranges && !statement->data_options;
}

bool bb_statement_is_private(const bb_statement *statement) {
    if (statement->count == 0) return false;
    for (size_t k = 0; k < statement->count; k++)
        if (!bb_statement_holds(statement, k)) return false;
    return true;
}

/* The shortest decimal that reads back as x: nothing is rounded down in a promise. As many
 * digits as there are before the point make 20 of 2e+01. */
static const char *shortest(double x, char text[NUMBER_BYTES]) {
    const int whole = x >= 10 && x < 1e15 ? (int)log10(x) + 1 : 1;
    for (int digits = whole; digits <= 17; digits++) {
        snprintf(text, NUMBER_BYTES, "%.*g", digits, x);
        if (strtod(text, NULL) == x) break;
    }
    return text;
}

static bool is_task(const bb_guarantee *guarantee) {
    return strcmp(guarantee->unit, "task") == 0;
}

json_t *bb_statement_warnings(const bb_statement *statement) {
    json_t *list = json_array();
    char delta[NUMBER_BYTES];
    int bad = list == NULL;
    if (statement->count > 0 && statement->tasks < FEW_TASKS)
        bad |= json_array_append_new(
            list,
            json_sprintf("only %d task%s: with fewer than %d, the noise that hides one "
                         "is likely to hide what they have in common",
                         (int)statement->tasks, bb_plural((double)statement->tasks),
                         (int)FEW_TASKS));
    for (size_t k = 0; k < statement->count; k++) {
        const bb_guarantee *guarantee = &statement->guarantee[k];
        if (!is_task(guarantee) || guarantee->delta < 1.0 / (double)statement->tasks)
            continue;
        bad |= json_array_append_new(
            list,
            json_sprintf("δ = %s is not below 1/(number of tasks): publishing one "
                         "task's data outright would satisfy such a promise",
                         shortest(guarantee->delta, delta)));
    }
    if (!bad) return list;
    json_decref(list);
    return NULL;
}

/* Against whom a guarantee is; the curator is among them where there are two doors only. */
static const char *adversary(const bb_guarantee *guarantee) {
    if (guarantee->one_door)
        return "whoever keeps one of the two doors, together with all other silos and "
               "tasks, who sees what is published and everything that comes to that "
               "door "
               "(not from both doors' keepers together)";
    if (guarantee->both_doors)
        return "everybody who sees what is published, the other tasks together "
               "included, "
               "but who keeps neither door";
    return guarantee->hidden_cohort
               ? "the public and all other tasks together, who see what is published "
                 "and their own final models, but not who was asked in which round"
               : "everybody who sees what is published, the other tasks together "
                 "included";
}

static void protected_from_whom(FILE *out, const bb_statement *statement,
                                const bb_guarantee *guarantee) {
    if (is_task(guarantee))
        fprintf(out,
                "Protected: each of the %zu task%s, all of its data at once, from ",
                statement->tasks, bb_plural((double)statement->tasks));
    else
        fprintf(out,
                "Protected: each single row (%s) of each of the %zu task%s, not a task "
                "as a whole, from ",
                guarantee->unit, statement->tasks, bb_plural((double)statement->tasks));
    fprintf(out, "%s.\n", adversary(guarantee));
    if (guarantee->hidden_cohort)
        fputs("Not protected so far from whoever learns who was asked: the curator "
              "sees it, and tasks may tell; against them sampling hides nothing, and "
              "the same noise is worth a larger ε (docs/privacy.md). --sampling "
              "poisson needs no silence among tasks.\n",
              out);
}

static const char *neighbours(const bb_guarantee *guarantee) {
    if (is_task(guarantee))
        return guarantee->adjacency == BB_ADD_REMOVE
                   ? "one task shows zeros instead of its data"
                   : "one task's data replaced by any other data";
    return guarantee->adjacency == BB_ADD_REMOVE ? "one row left out"
                                                 : "one row replaced by any other row";
}

/* The next number of four decimal digits: a promise is never rounded down. */
static double four_digits_up(double x) {
    const double unit = pow(10.0, floor(log10(x)) - 3.0);
    return ceil(x / unit) * unit;
}

/* A claim that does not hold, or of which only the published proof is known not to. */
static void claim(FILE *out, const bb_guarantee *guarantee, const char *epsilon,
                  const char *delta) {
    const double truth = guarantee->true_delta_at_least;
    const bool open = truth <= guarantee->delta;
    fprintf(out, "%s%s: ", open ? "NOT PROVED PRIVATE" : "NOT PRIVATE",
            is_task(guarantee) ? "" : " for single rows");
    if (truth > guarantee->delta) fputs("no valid (ε, δ) at the requested δ. ", out);
    fprintf(out, "The mechanism %s claims ε = %s, δ = %s; ", guarantee->mechanism,
            epsilon, delta);
    if (isnan(truth))
        fputs("this claim has no proof.\n", out);
    else if (open)
        fprintf(out,
                "its published proof is wrong, and its true δ is at least %.4g, "
                "whatever ε. That is not above the δ asked for: the claim may hold, "
                "but is not promised here.\n",
                truth);
    else
        fprintf(out, "its true δ is at least %.4g, whatever ε.\n", truth);
}

static void promise(FILE *out, const bb_guarantee *guarantee) {
    char epsilon[NUMBER_BYTES], delta[NUMBER_BYTES];
    shortest(guarantee->epsilon, epsilon);
    shortest(guarantee->delta, delta);
    if (!guarantee->valid) {
        claim(out, guarantee, epsilon, delta);
        return;
    }
    fprintf(
        out, "Guarantee: (ε = %s, δ = %s)-%s.\n", epsilon, delta,
        is_task(guarantee)
            ? "joint differential privacy; what is published is (ε, δ)-differentially "
              "private"
            : "differential privacy of what is published");
    fputs("In words: with one such change, the probability of anything an observer may "
          "see grows at most ",
          out);
    if (guarantee->epsilon < FACTOR_MOST_EPSILON)
        fprintf(out, "by the factor %.4g (e^ε), plus δ.\n",
                four_digits_up(exp(guarantee->epsilon)));
    else
        fprintf(out, "by the factor e^%s, plus δ: no protection worth the name.\n",
                epsilon);
}

static void mechanism(FILE *out, const bb_guarantee *guarantee) {
    fprintf(out, "Adjacency: %s (%s). Sampling: %s%s.\n",
            bb_adjacency_name(guarantee->adjacency), neighbours(guarantee),
            guarantee->sampling,
            strcmp(guarantee->sampling, "all") == 0
                ? " (every task takes part in every round)"
                : "");
    fprintf(out, "Mechanism: %s, %zu round%s", guarantee->mechanism, guarantee->rounds,
            bb_plural((double)guarantee->rounds));
    if (!isnan(guarantee->noise_multiplier))
        fprintf(out, ", noise multiplier %.6g", guarantee->noise_multiplier);
    fprintf(out, "; counted by: %s.\n", guarantee->accountant);
    if (guarantee->lifted_rows)
        fprintf(
            out,
            "Lifted by group privacy from the guarantee for single rows: at most %zu "
            "rows of a task are used, and further ones left out.\n",
            guarantee->lifted_rows);
    if (guarantee->note) fprintf(out, "%s\n", guarantee->note);
}

static bool has_two_doors(const bb_statement *statement) {
    bool any = false;
    for (size_t k = 0; k < statement->count; k++)
        any = any || statement->guarantee[k].one_door;
    return any;
}

static void beginning(FILE *out, const bb_statement *statement) {
    if (statement->silos)
        fprintf(
            out,
            "The plan names %zu silo%s, each with the data of its own tasks. Made by "
            "those that took part and %s",
            statement->silos, bb_plural((double)statement->silos),
            has_two_doors(statement)
                ? "the keepers of two doors, a curator and a helper, each of whom "
                  "adds noise to sums that neither can read alone"
                : "a curator, who adds the noise to their sums and is trusted with "
                  "those");
    else
        fputs("Simulated by an operator who holds all data", out);
    fputs("; ε covers `public/` only; this run only, unless a ledger is named.\n", out);
    if (statement->ledger)
        fprintf(out, "Ledger: %s; its budget covers all runs that reserve there.\n",
                statement->ledger);
    if (statement->seeded)
        fputs(
            "NOT PRIVATE: seeded. Whoever knows the seed can take the noise away; what "
            "follows holds for the same run with secure noise only.\n",
            out);
    if (statement->data_ranges)
        fputs("NOT PRIVATE: rows were scaled by ranges that were taken from the data "
              "(--scale), which say something about them without any noise; what "
              "follows holds for the same run with ranges known without the data "
              "only.\n",
              out);
    if (statement->data_options)
        fputs("NOT PRIVATE: options were chosen by looking at the data "
              "(--tuned-on-data, or levels of --categories that were taken from it), "
              "which says something about them without any noise; what follows holds "
              "for the same run with options chosen without the data only.\n",
              out);
}

static void write_text(FILE *out, const bb_statement *statement,
                       const json_t *warnings) {
    if (statement->alone) {
        fprintf(out,
                "Nothing was exchanged: with %s every task learned alone, from its own "
                "rows. There is no noise and no (ε, δ), and nothing that they would "
                "protect.\n"
                "Not covered: the personal models, each meant for its own task alone "
                "(do not publish them); options picked by looking at results of "
                "private data; preprocessing that looked at several tasks' data.\n",
                statement->method);
        return;
    }
    if (statement->count == 0) {
        fprintf(
            out,
            "No privacy: %s ran without noise, and what it wrote may reveal any task's "
            "data.\n",
            statement->method);
        return;
    }
    beginning(out, statement);
    for (size_t k = 0; k < statement->count; k++) {
        const bb_guarantee *guarantee = &statement->guarantee[k];
        if (guarantee->valid) protected_from_whom(out, statement, guarantee);
        promise(out, guarantee);
        mechanism(out, guarantee);
    }
    fprintf(
        out,
        "Not covered: the personal models, each meant for its own task alone (do not "
        "publish them); options picked by looking at results of private data; "
        "preprocessing that looked at several tasks' data; %s.\n",
        has_two_doors(statement)
            ? "the keepers of the two doors together, or the operator of a "
              "simulation, who see every contribution"
            : "the curator, who sees every contribution");
    for (size_t k = 0; k < json_array_size(warnings); k++)
        fprintf(out, "Warning: %s.\n", json_string_value(json_array_get(warnings, k)));
}

bb_status bb_statement_text(const bb_statement *statement, char **out) {
    char *text = NULL;
    size_t size = 0;
    int failed = 1;
    json_t *warnings = bb_statement_warnings(statement);
    FILE *stream = warnings ? open_memstream(&text, &size) : NULL;
    if (stream) {
        write_text(stream, statement, warnings);
        failed = ferror(stream);
        failed |= fclose(stream);
    }
    json_decref(warnings);
    if (failed) {
        free(text);
        return bb_fail(BB_ENOMEM, "no memory for the privacy statement");
    }
    *out = text;
    return BB_OK;
}

static json_t *text_or_null(const char *text) {
    return text ? json_string(text) : json_null();
}

static json_t *guarantee_json(const bb_statement *statement, size_t k) {
    const bb_guarantee *guarantee = &statement->guarantee[k];
    json_t *json = json_object();
    int bad = json == NULL;
    const double nothing = NAN;
    const bool valid = bb_statement_holds(statement, k);
    bad |= json_object_set_new(json, "unit", json_string(guarantee->unit));
    bad |= json_object_set_new(json, "valid", json_boolean(valid));
    bad |= json_object_set_new(json, "epsilon",
                               bb_json_real(valid ? guarantee->epsilon : nothing));
    bad |= json_object_set_new(json, "delta",
                               bb_json_real(valid ? guarantee->delta : nothing));
    if (!valid) {
        bad |= json_object_set_new(json, "claimed_epsilon",
                                   bb_json_real(guarantee->epsilon));
        bad |=
            json_object_set_new(json, "claimed_delta", bb_json_real(guarantee->delta));
        bad |= json_object_set_new(json, "true_delta_at_least",
                                   bb_json_real(guarantee->true_delta_at_least));
    }
    bad |= json_object_set_new(json, "adjacency",
                               json_string(bb_adjacency_name(guarantee->adjacency)));
    bad |= json_object_set_new(json, "adversary", json_string(adversary(guarantee)));
    bad |= json_object_set_new(json, "sampling", json_string(guarantee->sampling));
    bad |= json_object_set_new(json, "mechanism", json_string(guarantee->mechanism));
    bad |= json_object_set_new(json, "accountant", json_string(guarantee->accountant));
    bad |= json_object_set_new(json, "rounds",
                               json_integer((json_int_t)guarantee->rounds));
    bad |= json_object_set_new(json, "noise_multiplier",
                               bb_json_real(guarantee->noise_multiplier));
    if (guarantee->lifted_rows)
        bad |= json_object_set_new(json, "lifted_rows",
                                   json_integer((json_int_t)guarantee->lifted_rows));
    bad |= json_object_set_new(json, "note", text_or_null(guarantee->note));
    if (!bad) return json;
    json_decref(json);
    return NULL;
}

static json_t *guarantees_json(const bb_statement *statement) {
    json_t *list = json_array();
    for (size_t k = 0; k < statement->count; k++)
        if (json_array_append_new(list, guarantee_json(statement, k))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *bb_statement_json(const bb_statement *statement) {
    char *text = NULL;
    if (bb_statement_text(statement, &text)) return NULL;
    json_t *json = json_object();
    int bad = json == NULL;
    bad |= json_object_set_new(json, "private",
                               json_boolean(bb_statement_is_private(statement)));
    bad |= json_object_set_new(json, "method", json_string(statement->method));
    bad |=
        json_object_set_new(json, "tasks", json_integer((json_int_t)statement->tasks));
    bad |= json_object_set_new(json, "ledger", text_or_null(statement->ledger));
    bad |= json_object_set_new(json, "exchanged", json_boolean(!statement->alone));
    bad |= json_object_set_new(json, "seeded", json_boolean(statement->seeded));
    bad |= json_object_set_new(json, "ranges_from_data",
                               json_boolean(statement->data_ranges));
    bad |= json_object_set_new(json, "options_from_data",
                               json_boolean(statement->data_options));
    bad |= json_object_set_new(json, "guarantees", guarantees_json(statement));
    bad |= json_object_set_new(json, "warnings", bb_statement_warnings(statement));
    bad |= json_object_set_new(json, "statement", json_string(text));
    free(text);
    if (!bad) return json;
    json_decref(json);
    return NULL;
}

bb_status bb_delta_choose(const char *text, size_t tasks, double *delta) {
    double value;
    if (tasks < 1) return bb_fail(BB_EUSAGE, "delta needs at least one task");
    if (!text) {
        *delta = bb_delta_default(tasks);
        return BB_OK;
    }
    if (strcmp(text, "paper") == 0) {
        if (tasks < 2)
            return bb_fail(BB_EUSAGE,
                           "delta \"paper\", 1/(m ln m), needs at least two tasks");
        *delta = bb_delta_paper(tasks);
        return BB_OK;
    }
    if (!bb_number_real(text, &value) || !(value > 0.0 && value < 1.0))
        return bb_fail(BB_EUSAGE, "delta must be \"paper\" or in (0, 1), got \"%s\"",
                       text);
    *delta = value;
    return BB_OK;
}
