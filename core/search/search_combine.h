/* The trial of the combination: the best candidates of different algorithms, combined by shares
 * that are fitted to their predictions of held-out rows. */
#ifndef DNI_SEARCH_COMBINE_H
#define DNI_SEARCH_COMBINE_H

#include "search/search_folds.h"
#include <discern/search.h>

/* Makes the trial. Its metric in a fold is that of shares fitted to the held-out rows of the other
 * folds of the repeat, or of the folds before it if the rows are ordered; the shares of the trial
 * are fitted to all held-out rows.
 *
 *   ranked   [n] the trials of the candidates by rank
 *   values   [folds->n] receives the metric of each fold
 *   members  [request->combine] receives the members
 *   trial    receives the result: trial->members is `members`, trial->values is `values`. A
 *            combination that fails is a trial with a status
 *
 * DN_ERR_STOPPED, DN_ERR_TIME: the run was stopped; the trial is not valid. */
DN_MUST_USE dn_status dni_search_combine(dni_search_folds *folds, const dn_search_request *request,
                                         const dn_trial *ranked, size_t n, double *values,
                                         dn_search_member *members, dn_trial *trial, dn_error *err);

/* Returns the bytes of the predictions of the members; 0 without a combination. */
double dni_combination_memory(size_t combine, size_t folds, size_t n_repeats, size_t n_rows,
                              size_t n_classes);

#endif
