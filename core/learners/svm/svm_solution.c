/* The report of a support vector machine. */
#include "learners/svm/svm_solution.h"

const char *const dni_svm_solver_names[] = {[DNI_SVM_INTERIOR_POINT] = "interior_point",
                                            [DNI_SVM_DUAL_COORDINATE_DESCENT] =
                                                "dual_coordinate_descent",
                                            [DNI_SVM_SMO] = "smo",
                                            [DNI_SVM_NEWTON] = "newton"};

double dni_svm_raw_margin(const double *w, const double *scale, size_t d) {
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        const double raw = scale == NULL ? w[j] : w[j] / scale[j];
        sum += raw * raw;
    }
    return sum > 0 ? 1 / sqrt(sum) : (double)NAN;
}

void dni_svm_report(const dni_svm_solution *s, double C, const char *advice, dn_report *report) {
    const double interval[2] = {s->w0_low, s->w0_high};
    dn_report_number(report, "primal_objective", s->primal);
    dn_report_number(report, "dual_objective", s->dual);
    dn_report_number(report, "gap", s->gap);
    dn_report_boolean(report, "certified", s->certified);
    if (!isnan(s->kkt_violation)) {
        dn_report_number(report, "kkt_violation", s->kkt_violation);
    }
    dn_report_number(report, "w0", s->w0);
    dn_report_list(report, "w0_interval", interval, 2);
    dn_report_number(report, "support_vectors", s->n_support);
    dn_report_number(report, "bounded_support_vectors", s->n_bounded);
    dn_report_number(report, "slack_positive", s->n_slack_positive);
    dn_report_number(report, "slack_over_one", s->n_slack_over_one);
    dn_report_number(report, "slack_sum", s->slack_sum);
    dn_report_number(report, "norm", s->norm);
    dn_report_number(report, "margin", s->margin);
    dn_report_number(report, "margin_raw", s->margin_raw);
    if (dni_svm_is_constant(s)) {
        dn_report_warn(
            report, DN_WARNING_KERNEL_FLAT,
            "all training rows have the same score to within %.2g, where margins are 1: the kernel "
            "hardly separates the classes%s%s%s, or C is too small (it is %g)",
            s->spread, advice == NULL ? "" : " (try ", advice == NULL ? "" : advice,
            advice == NULL ? "" : ")", C);
    }
}
