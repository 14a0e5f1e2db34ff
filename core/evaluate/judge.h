/* Metrics of linear discriminants on encoded rows. */
#ifndef DNI_EVALUATE_JUDGE_H
#define DNI_EVALUATE_JUDGE_H

#include <discern/metrics.h>
#include <discern/rows.h>
#include <discern/run.h>

/* w [n_scores × n_cols], w0 [n_scores] of the encoded x; rows with class indexes as targets. One pass, in order, on this thread. */
DN_MUST_USE dn_status dni_judge_rows(const dn_rows *rows, size_t n_classes, size_t n_scores, const double *w, const double *w0,
                                     bool probabilities, const dn_run *run, dn_metrics **out, dn_error *err);

#endif
