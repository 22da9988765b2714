#include "report/report.h"

#include "api/call.h"

#include <string.h>

static bb_status find_form(const char *name, bb_report_form *form) {
    for (bb_report_form f = 0; f < BB_REPORT_FORMS; f++)
        if (strcmp(bb_report_form_name(f), name) == 0) {
            *form = f;
            return BB_OK;
        }
    return bb_fail(BB_EUSAGE,
                   "a report is html, markdown, csv, latex or svg, got \"%s\"", name);
}

billboard_status billboard_report(const char *const *run, size_t runs, const char *form,
                                  const char *path) {
    static const char function[] = "billboard_report";
    bb_report_form found = BB_REPORT_HTML;
    bb_call call;
    bb_status status = bb_call_begin(&call, true);
    if (!status && runs) status = bb_call_given(run, function, "run");
    for (size_t k = 0; k < runs && !status; k++)
        status = bb_call_given(run[k], function, "run");
    if (!status) status = bb_call_given(form, function, "form");
    if (!status) status = bb_call_given(path, function, "path");
    if (!status) status = find_form(form, &found);
    if (!status) status = bb_report_write(run, runs, found, path);
    return bb_call_end(&call, status);
}
