/* Writes the JSON documents of a successful training: the job's result, the job's warnings and the
 * model's description. */
#ifndef JOBS_RESULT_H
#define JOBS_RESULT_H

#include "base/memory/buf.h"
#include "jobs/promotion.h"
#include "jobs/request/job_request.h"
#include "store/store.h"
#include <discern/discern.h>

/* The predictions of held-out rows that are stored with the model. */
struct result_predictions {
    size_t n; /* 0: none */
    bool probabilities;
};

/* Writes a learning curve as a JSON array. */
void result_curve_write(const dn_learning_point *points, size_t n, struct json_writer *w);
/* Writes the job's `result` without "model" and "version": the store assigns the version later, and
 * the handler of the job adds both members.
 *
 *   rule   document of the decision rule; NULL: none
 *   curve  the learning curve, a JSON array; NULL: none
 *   search  what the search found, a JSON object; NULL: none
 *   ranks   the ranks that trained, a JSON object; NULL: the daemon alone */
void result_write(const dn_train_result *result, const struct promotion *promotion,
                  const struct result_predictions *predictions, const char *rule, const char *curve,
                  const char *search, const char *ranks, struct buf *out);
/* Writes the members of GET /v1/models/{model} except name, version and times. */
void result_model_info_write(const dn_train_result *result, const struct jobs_request *request,
                             const struct store_dataset *dataset, int64_t job, struct buf *out);
/* Writes one array with the warnings of the POST, then those of the training. A warning of the
 * training replaces the warning of the POST with the same code.
 *
 *   before  the warnings of the POST, a JSON array; NULL: none */
void result_warnings_write(const dn_train_result *result, const struct jobs_request *request,
                           const char *before, struct buf *out);

#endif
