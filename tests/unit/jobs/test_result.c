/* Documents of a finished training. */
#include "lib/cmocka.h"

#include "base/memory/buf.h"
#include "jobs/result.h"

#include <stdio.h>
#include <string.h>

static void add(dn_train_result *r, dn_warning_code code, size_t fold, const char *text) {
    dn_warning *w = &r->report.warnings[r->report.n_warnings++];
    *w = (dn_warning){.code = code, .machine = DN_WARNING_WHOLE, .fold = fold};
    (void)snprintf(w->text, sizeof w->text, "%s", text);
}

static void check(const dn_train_result *r, const char **codes, size_t n, const char *before,
                  const char *expected) {
    const struct jobs_request spec = {.warning_codes = codes, .n_warnings = n};
    struct buf out = {0};
    result_warnings_write(r, &spec, before, &out);
    assert_string_equal(buf_cstr(&out), expected);
    buf_done(&out);
}

/* A warning of the training replaces the one that announced it by its code, whatever the words. */
static void test_warnings_by_code(void **state) {
    (void)state;
    const char *codes[] = {"", "calibration_folds"};
    const char before[] = "[\"column \\\"a\\\" is not converged\",\"about 3 folds\"]";
    static dn_train_result r;
    check(&r, NULL, 0, NULL, "[]");
    check(&r, codes, 2, before, before);
    add(&r, DN_WARNING_NOT_CONVERGED, DN_WARNING_WHOLE, "not converged");
    add(&r, DN_WARNING_CALIBRATION_FOLDS, DN_WARNING_WHOLE, "4 folds of \"b\"");
    check(&r, codes, 2, before,
          "[\"column \\\"a\\\" is not converged\",\"not converged\",\"4 folds of \\\"b\\\"\"]");
    check(&r, NULL, 0, NULL, "[\"not converged\",\"4 folds of \\\"b\\\"\"]");
    /* a job of an older daemon has no codes: both are kept */
    check(&r, NULL, 0, "[\"4 folds\"]", "[\"4 folds\",\"not converged\",\"4 folds of \\\"b\\\"\"]");
    /* of one fold: another warning */
    r.report.n_warnings = 0;
    add(&r, DN_WARNING_CALIBRATION_FOLDS, 2, "fold 3: 4 folds");
    check(&r, codes, 2, before,
          "[\"column \\\"a\\\" is not converged\",\"about 3 folds\",\"fold 3: 4 folds\"]");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_warnings_by_code)};
    return cmocka_run_group_tests_name("jobs: documents of a training", tests, NULL, NULL);
}
