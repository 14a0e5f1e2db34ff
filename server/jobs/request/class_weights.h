/* class_weight as given by a client: weights by the text of a class, put into the order of the
 * classes of the data. */
#ifndef JOBS_CLASS_WEIGHTS_H
#define JOBS_CLASS_WEIGHTS_H

#include "base/arena.h"
#include "base/problem.h"
#include "jobs/request/spec.h"

/* Whether the text can be a value of a column of this type; *number: what a numeric or boolean one
 * stands for. */
bool jobs_class_parse(dn_column_type type, const char *text, double *number);
/* *out [given->n] ← the weights in the order of the classes of column `target` of the source (in
 * the arena): numbers by value, strings by bytes. Reads the column. Each class without a weight and
 * each weight without a class is a fault (PROBLEM_INVALID, "/class_weight/…"). run: its stop is
 * asked after every chunk. */
bool jobs_class_weights_order(const struct jobs_class_weights *given, const dn_table_source *source,
                              size_t target, const dn_run *run, struct arena *arena,
                              const double **out, struct problem *problem);

#endif
