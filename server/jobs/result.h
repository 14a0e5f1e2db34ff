/* What a successful training leaves as JSON: the job's result and warnings, the model's
 * description. */
#ifndef JOBS_RESULT_H
#define JOBS_RESULT_H

#include "base/buf.h"
#include "jobs/request/spec.h"
#include "store/store.h"
#include <discern/discern.h>

/* The job's `result` without "model" and "version" (the store gives the version, the resource
 * writes both). */
void result_write(const dn_train_result *result, struct buf *out);
/* Everything `GET /v1/models/{model}` tells beside name, version and times. */
void result_model_info_write(const dn_train_result *result, const struct jobs_spec *spec,
                             const struct store_dataset *dataset, int64_t job, struct buf *out);
/* The warnings that the job was posted with (`before`: a JSON array or NULL) and those of the
 * training as one array. A training's warning replaces one of the post with the same code. */
void result_warnings_write(const dn_train_result *result, const struct jobs_spec *spec,
                           const char *before, struct buf *out);

#endif
