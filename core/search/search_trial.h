/* A trial: a candidate is fitted and evaluated on every fold. */
#ifndef DNI_SEARCH_TRIAL_H
#define DNI_SEARCH_TRIAL_H

#include "search/search_folds.h"
#include <discern/search.h>

/* Makes the trial of a candidate.
 *
 *   metric   index of dn_metric_name
 *   values   [folds->n] receives the metric of each fit
 *   sinks    [folds->n] each receives the predictions of the held-out rows of a fit; NULL: none
 *   trial    its candidate and share are set; receives the other members, and `values`. A
 *            candidate that fails is a trial with a status
 *
 * DN_ERR_STOPPED, DN_ERR_TIME: the run was stopped; the trial is not valid. */
DN_MUST_USE dn_status dni_search_try(dni_search_folds *folds, const dn_candidate *candidate,
                                     size_t metric, double *values, dni_row_sink *sinks,
                                     dn_trial *trial, dn_error *err);
/* Sets mean and error of a trial from its values.
 *
 *   n_repeats  number of cross-validations */
void dni_search_average(dn_trial *trial, double n_repeats);
/* Makes the trial one that failed. */
void dni_search_fail(dn_trial *trial, dn_status status, const char *message, const char *field);

#endif
