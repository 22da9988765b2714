/* What the ledger that a run was charged to says when the page is made. */
#include "privacy/ledger/ledger.h"
#include "report/page.h"
#include "report/plot.h"

#include <math.h>

static void write_pair(FILE *to, const char *words, double epsilon, double delta) {
    fprintf(to, "%s ε = ", words);
    bb_page_number(to, epsilon);
    fputs(", δ = ", to);
    bb_page_number(to, delta);
}

static bb_status write_budget(FILE *to, bb_ledger *ledger,
                              const bb_ledger_terms *terms) {
    double epsilon, delta, limit, total;
    bb_status status = bb_ledger_spent(ledger, &epsilon, &delta);
    if (!status) status = bb_ledger_total(ledger, &limit, &total);
    if (status) return status;
    fputs("<p id=\"budget\">Budget of the population ", to);
    bb_svg_text(to, terms->population);
    write_pair(to, ":", terms->epsilon, terms->delta);
    fprintf(to, " (adjacency %s, sampling: %s, all its runs together).",
            bb_adjacency_name(terms->adjacency), bb_ledger_sampling(terms->kind));
    write_pair(to, " When this page was made, spent:", epsilon, delta);
    if (isnan(limit)) {
        write_pair(to, "; left:", fmax(0.0, terms->epsilon - epsilon),
                   fmax(0.0, terms->delta - delta));
    } else {
        fputs("; left: ", to);
        bb_page_share(to, fmax(0.0, 1.0 - total / limit), false);
        fprintf(to, " of what it counts in (%s)", bb_ledger_kind_name(terms->kind));
    }
    fputs(".</p>\n", to);
    return BB_OK;
}

void bb_page_budget(FILE *to, const char *path) {
    bb_ledger_terms terms;
    bb_ledger *ledger = NULL;
    if (!path) return;
    bb_status status = bb_ledger_read(&ledger, path, &terms);
    if (!status) status = write_budget(to, ledger, &terms);
    if (status) {
        fputs("<p id=\"budget\">What is left of the budget says the ledger, ", to);
        bb_svg_text(to, path);
        fputs(", which could not be read when this page was made.</p>\n", to);
    }
    if (ledger) bb_ledger_close(ledger);
}
