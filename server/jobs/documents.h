/* JSON documents about a trained model that both a job's result and other answers show. */
#ifndef JOBS_DOCUMENTS_H
#define JOBS_DOCUMENTS_H

#include "base/buf.h"
#include "base/json/json_write.h"
#include "base/problem.h"
#include "jobs/request/spec.h"
#include <discern/discern.h>

/* Metrics as API.md shows them, one JSON object; with the curves when there are some. */
void jobs_metrics_write(const dn_metrics *metrics, const dn_classes *classes,
                        struct json_writer *w);
/* The metrics of n folds as one such object: means over the folds where they are defined, "std"
 * with the deviations (divisor: how many folds), the confusion matrices added up, and "folds" with
 * each fold's own numbers. */
void jobs_folds_write(const dn_metrics *const *folds, size_t n, const dn_classes *classes,
                      struct json_writer *w);
/* Numbers as a JSON array. */
void jobs_numbers_put(const double *numbers, size_t n, struct json_writer *w);
/* A class as JSON number, boolean or string. */
void jobs_class_write(const dn_classes *classes, size_t k, struct json_writer *w);
/* A decision as the parameter `multiclass` has it. */
const char *jobs_decision_name(dn_decision decision);
/* The names of an encoder's features as a JSON array. */
void jobs_feature_names_write(const dn_encoder *encoder, struct json_writer *w);
/* A core error as a problem: which type it becomes is said here and nowhere else. The error's field
 * becomes a place in the job's body: a parameter, the target, the weight, or a column, which is
 * among the features; spec NULL: it was no job, and nothing has a place. */
void jobs_problem_from_core(const dn_error *err, const struct jobs_spec *spec, struct problem *out);

#endif
