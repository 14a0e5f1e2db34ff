/* JSON documents about a trained model that both a job's result and other answers show. */
#ifndef JOBS_DOCUMENTS_H
#define JOBS_DOCUMENTS_H

#include "base/json/json_write.h"
#include "base/memory/buf.h"
#include "base/problem.h"
#include "jobs/request/job_request.h"
#include <discern/discern.h>

/* The rule by which a holdout allots rows to the classes: the member "holdout_rows" of a model.
 * Models of releases with another rule lack it. */
#define JOBS_HOLDOUT_ROWS "largest_remainder"

/* Writes metrics as one JSON object. It has the curves if metrics->curves is not NULL. */
void jobs_metrics_write(const dn_metrics *metrics, const dn_classes *classes,
                        struct json_writer *w);
/* Writes the metrics of n folds as one JSON object: the mean of each metric over the folds in which
 * the metric is defined, "std" with the standard deviations over these folds (divisor: the number
 * of these folds), the sum of the confusion matrices, and "folds" with the metrics of each fold.
 *
 *   pooled  metrics of the rows of all folds together: the member "pooled"; NULL: none */
void jobs_folds_write(const dn_metrics *const *folds, size_t n, const dn_metrics *pooled,
                      const dn_classes *classes, struct json_writer *w);
/* Reads the optional member "metric", one of dn_metric_name; *out is its index. Returns false if it
 * is absent or invalid. */
bool jobs_metric_read(const json_t *object, const char *parent, size_t *out,
                      struct problem *problem);
/* Returns the mean of a metric (dn_metric_name) over the folds that define it; NaN if no fold
 * does. */
double jobs_folds_mean(const dn_metrics *const *folds, size_t n, size_t metric);
/* Writes class k as a JSON number, boolean or string. */
void jobs_class_write(const dn_classes *classes, size_t k, struct json_writer *w);
/* Writes all classes as a JSON array under the key. */
void jobs_classes_write(const char *key, const dn_classes *classes, struct json_writer *w);
/* Returns the value of the parameter `multiclass` that stands for the decision. */
const char *jobs_decision_name(dn_decision decision);
/* Writes the names of the encoder's features as a JSON array. */
void jobs_feature_names_write(const dn_encoder *encoder, struct json_writer *w);
/* Converts a core error to a problem. Only this function chooses the problem type. The error's
 * field becomes a path in the job's body: the path of a parameter, of the target or of the weight,
 * or "/features" if the field names another column. r NULL: the error did not come from a job;
 * no path is set. */
void jobs_problem_from_core(const dn_error *err, const struct jobs_request *r, struct problem *out);

#endif
