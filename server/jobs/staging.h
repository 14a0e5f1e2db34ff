/* Staging the bytes of a model as chunks. */
#ifndef JOBS_STAGING_H
#define JOBS_STAGING_H

#include "base/problem.h"
#include "jobs/held_out_chunks.h"
#include "store/store.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is staged for a version of a model. */
struct staging_model {
    const void *bytes;
    size_t size;
    struct held_out_source held_out; /* rows NULL: the version has no predictions */
};

/* Copies the bytes of a job's model, and the predictions of held-out rows, into a new part, chunk by
 * chunk, and waits for the commits. *out_predictions: bytes of the predictions. On failure the part
 * is dropped. PROBLEM_CONFLICT: the claim is lost. */
bool staging_write(struct store *store, const struct store_claim *claim,
                   const struct staging_model *model, int64_t *out_part, int64_t *out_predictions,
                   struct problem *problem);

#endif
