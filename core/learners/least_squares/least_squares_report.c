/* Set-up of the linear problem of least squares, and the part of the report that all solvers
 * share. */
#include "learners/least_squares/least_squares_fit.h"

dn_status dni_least_squares_init(dni_least_squares *fit, const dni_moments *moments, unsigned uses,
                                 dn_error *err) {
    const dn_status status = dni_linear_init(&fit->problem, fit->input->rows, fit->input->n_classes,
                                             fit->lambda / 2, moments, uses, fit->run, err);
    fit->problem.loss = &dni_loss_squares;
    return status;
}

void dni_least_squares_describe(dni_least_squares *fit, double penalty, const char *solver) {
    dn_report *report = fit->report;
    const double squares = fit->share * (2 * fit->problem.sums.loss);
    report->objective = squares / fit->problem.total_weight + fit->lambda * fit->share * penalty;
    dn_report_text(report, "solver", "%s", solver);
    dn_report_number(report, "residual_sum_of_squares", squares);
    dn_report_number(report, "squared_norm_of_weights", fit->share * penalty);
}
