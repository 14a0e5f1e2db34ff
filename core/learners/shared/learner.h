/* Functions that the fits of several methods share. */
#ifndef DNI_LEARNER_H
#define DNI_LEARNER_H

#include <discern/algorithm.h>

/* Returns the parameter lambda. "auto" is 1/(2 weight): C = 1 in terms of a penalty C.
 *
 *   weight  Σv of the training rows, > 0 */
double dni_lambda_of(const dn_params *params, double weight);
/* True if the parameter lambda is the number 0. "auto" is above 0. */
bool dni_lambda_is_zero(const dn_params *params);

/* Calls the fit of input->params->algorithm. On failure *out and *report are untouched, and all
 * memory of the fit is released. */
DN_MUST_USE dn_status dni_learner_fit(const dn_fit_input *input, const dn_run *run,
                                      dn_machine **out, dn_report *report, dn_error *err);

/* Adds the details "tolerance" and "tolerance_reached".
 *
 *   reached  the value, at the result, of the measure that `tolerance` limits */
void dni_report_tolerance(dn_report *report, double tolerance, double reached);

/* Returns the report of a converged fit without iterations. */
dn_report dni_report_closed_form(void);

/* *out ← a linear machine. table: [S × (d + 1)], in each row the d weights of a score and then its
 * intercept; S = 1 for two classes, otherwise K. DN_ERR_NUMERIC: a number is not finite. */
DN_MUST_USE dn_status dni_linear_machine_of_table(const double *table, size_t n_classes,
                                                  size_t n_features, dn_machine **out,
                                                  dn_error *err);
/* Returns the number by which a sum of weights is multiplied to get a sample size. */
static inline double dni_rows_per_weight(const dn_fit_input *input) {
    return input->rows_per_weight > 0 ? input->rows_per_weight : 1;
}

/* Sets *err for weights that are not finite. Returns its status. */
dn_status dni_weights_not_finite(dn_error *err);

/* Returns the fraction of progress: the largest of iteration/max_iterations,
 * ln(first_measure/measure)/ln(first_measure/tolerance) and `before`; at most 1. */
double dni_progress_fraction(size_t iteration, size_t max_iterations, double first_measure,
                             double measure, double tolerance, double before);

/* Calls run->progress, which must not be NULL, with `progress`. If the run wants a snapshot of this
 * iteration, sets progress->w and w0 to the weights for raw features first.
 *
 *   table  [n_scores × (n_features + 1)] weights for encoded features, each row with its intercept
 *   raw    [n_scores × (n_features + 1)] memory of the snapshot */
void dni_linear_report_progress(const dn_fit_input *input, const dn_run *run, const double *table,
                                double *raw, dn_progress *progress);

/* The words of a parameter `order`: in which order a pass visits the rows. */
extern const char *const dni_row_orders[], *const dni_row_order_meanings[];
/* True if the parameter "order" is "shuffled". */
bool dni_shuffles_rows(const dn_params *params);

/* An entry of a parameter table for `init`, where a descent starts: one of the words, or a list of
 * weights. applies: the beginning of the meaning, such as "For gradient_descent: ". */
#define DNI_PARAM_START(applies_, default_, words_, word_meanings_)                                \
    {                                                                                              \
        .name = "init", .type = DN_PARAM_LIST,                                                     \
        .meaning = applies_                                                                        \
            "The starting weights: a word, or a list of numbers: the weights of the features in "  \
            "the units of the columns, as GET .../weights returns them, followed by the "          \
            "intercept; with several scores, these numbers for each score in turn.",               \
        .default_choice = default_, .choices = words_, .choice_meanings = word_meanings_,          \
        .minimum = -(double)INFINITY, .maximum = (double)INFINITY, .open_minimum = true,           \
        .open_maximum = true                                                                       \
    }
/* Checks the list in the parameter "init": its length is n_scores × (n_features + 1), and its
 * intercepts are 0 if the parameter "intercept" is "none". DN_OK if "init" is a word.
 * DN_ERR_ARGUMENT (field "init"). */
DN_MUST_USE dn_status dni_start_check(const dn_params *params, size_t n_scores, size_t n_features,
                                      dn_error *err);
/* True if the fit reports iteration 0, its start: run->progress is not NULL, and the fit has a list
 * of starting weights, makes no iterations, or the run wants a snapshot of the start. */
bool dni_reports_start(const dn_fit_input *input, const dn_run *run);

/* Adds a warning if max_iterations is 0 and the parameter `init` is not a list of weights. */
void dni_warn_of_start(dn_report *report, const dn_params *params);

/* Returns the index in the table of training row r (from 0). It is r if input->role is NULL. */
size_t dni_table_row(const dn_fit_input *input, size_t r);

/* Returns the default of max_iterations: visits/n_rows passes, at least `least`, at most `most`. */
size_t dni_default_iterations(size_t n_rows, double visits, double least, double most);

/* Sets *err to DN_ERR_ARGUMENT with the parameter's name as the field. Returns DN_ERR_ARGUMENT. */
dn_status dni_parameter_error(dn_error *err, const char *name, const char *format, ...)
    DN_PRINTF(3, 4);

/* Two implementations of dn_algorithm.drops_first. Without a penalty the features of all levels of
 * a category are linearly dependent, so the first level is dropped. dni_drops_first is for methods
 * without a penalty; dni_drops_first_without_lambda drops the level only if lambda is 0. */
bool dni_drops_first(const dn_params *params);
bool dni_drops_first_without_lambda(const dn_params *params);

#endif
