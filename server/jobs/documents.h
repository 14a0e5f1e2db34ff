/* JSON documents about a trained model that both a job's result and other answers show. */
#ifndef JOBS_DOCUMENTS_H
#define JOBS_DOCUMENTS_H

#include "base/buf.h"
#include "base/json_write.h"
#include "base/problem.h"
#include <discern/discern.h>

/* Metrics as API.md shows them, one JSON object. */
void jobs_metrics_write(const dn_metrics *metrics, const dn_classes *classes, struct json_writer *w);
/* A class as JSON number, boolean or string. */
void jobs_class_write(const dn_classes *classes, size_t k, struct json_writer *w);
/* A core error as a problem: which type it becomes is said here and nowhere else. An argument's field becomes the pointer /params/<field>. */
void jobs_problem_from_core(const dn_error *err, struct problem *out);

#endif
