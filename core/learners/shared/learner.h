/* What every method does around its computation. */
#ifndef DNI_LEARNER_H
#define DNI_LEARNER_H

#include <discern/algorithm.h>

/* Calls the fit of input->params->algorithm. On failure *out and *report are untouched, and what
 * the fit had stored in them is released. */
DN_MUST_USE dn_status dni_learner_fit(const dn_fit_input *input, const dn_run *run,
                                      dn_machine **out, dn_report *report, dn_error *err);

/* The report of a fit without iterations. */
dn_report dni_report_closed_form(void);

/* *out ← a linear machine with the weights table[k × (d + 1)] … and the intercepts that follow
 * them, for S = 1 score of two classes or S = K. DN_ERR_NUMERIC: a number is not finite. */
DN_MUST_USE dn_status dni_linear_machine_of_table(const double *table, size_t n_classes,
                                                  size_t n_features, dn_machine **out,
                                                  dn_error *err);
/* The error for weights that are not finite. */
dn_status dni_weights_not_finite(dn_error *err);

/* The fraction of progress: iteration/max_iterations, or the share of the way of ln(measure) from
 * the first measure to the tolerance if that is more; at least `before`, at most 1. */
double dni_progress_fraction(size_t iteration, size_t max_iterations, double first_measure,
                             double measure, double tolerance, double before);

/* Records DN_ERR_ARGUMENT for a parameter, with its name as the field, and returns it. */
dn_status dni_parameter_error(dn_error *err, const char *name, const char *format, ...)
    DN_PRINTF(3, 4);

/* dn_algorithm.drops_first: without a penalty the features of all levels of a category would be
 * linearly dependent. The first has no penalty, the second has one unless lambda is 0. */
bool dni_drops_first(const dn_params *params);
bool dni_drops_first_without_lambda(const dn_params *params);

#endif
