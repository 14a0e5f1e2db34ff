/* Orders the weights of "class_weight" like the classes of the data. */
#ifndef JOBS_CLASS_WEIGHTS_H
#define JOBS_CLASS_WEIGHTS_H

#include "base/memory/arena.h"
#include "base/problem.h"
#include "jobs/request/job_request.h"

/* Whether the text can be a value of a column of this type. *number: the value, if the type is
 * numeric or boolean. */
bool jobs_class_parse(dn_column_type type, const char *text, double *number);
/* Returns the text of a class that is a JSON number, boolean or string. room: for a number */
const char *jobs_class_text(const json_t *value, char room[DN_NUMBER_SIZE]);
/* Reads column `target` of the source and orders the weights like its classes: numbers by value,
 * strings by bytes. A class without a weight or a weight without a class is a fault
 * (PROBLEM_INVALID, "/class_weight/…").
 *
 *   run  polled for cancellation after every chunk
 *   out  [given->n] in the arena */
bool jobs_class_weights_order(const struct jobs_class_weights *given, const dn_table_source *source,
                              size_t target, const dn_run *run, struct arena *arena,
                              const double **out, struct problem *problem);

#endif
