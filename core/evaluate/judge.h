/* Metrics of a model on encoded rows. */
#ifndef DNI_EVALUATE_JUDGE_H
#define DNI_EVALUATE_JUDGE_H

#include <discern/metrics.h>
#include <discern/model.h>
#include <discern/rows.h>
#include <discern/run.h>

/* Rows encoded by the model's encoder, with class indexes as targets. One pass, in order, on this thread. */
DN_MUST_USE dn_status dni_judge_rows(const dn_rows *rows, const dn_model *model, const dn_run *run, dn_metrics **out, dn_error *err);

#endif
