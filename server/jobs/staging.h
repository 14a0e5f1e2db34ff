/* Staging the bytes of a model as chunks. */
#ifndef JOBS_STAGING_H
#define JOBS_STAGING_H

#include "base/problem.h"
#include "store/store.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies the bytes of a job's model into a new part, chunk by chunk, and waits for the commits. On
 * failure the part is dropped. PROBLEM_CONFLICT: the claim is lost. */
bool staging_write(struct store *store, const struct store_claim *claim, const void *bytes,
                   size_t size, int64_t *out_part, struct problem *problem);

#endif
