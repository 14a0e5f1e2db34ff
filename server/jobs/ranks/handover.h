/* The result of a training as bytes, from the process that has trained to the daemon, which stores
 * it. Both are programs of the same build: the bytes hold structs as they are in memory. */
#ifndef JOBS_HANDOVER_H
#define JOBS_HANDOVER_H

#include "base/memory/buf.h"
#include "base/problem.h"
#include <discern/discern.h>
#include <stdbool.h>
#include <stddef.h>

/* Appends the result and the predictions of held-out rows (NULL: none). Returns DN_ERR_MEMORY, or
 * the error of dn_model_write. */
dn_status handover_write(const dn_train_result *result, const dn_held_out *held_out,
                         struct buf *out, dn_error *err);

/* Predictions that were handed over. */
struct handover_rows {
    dn_held_out rows; /* its arrays are in `bytes` */
    void *bytes;      /* NULL: there are none */
};
/* Reads a result. The caller frees it with dn_train_result_done, and *rows with
 * handover_rows_done. Returns false after setting PROBLEM_INTERNAL if the bytes are damaged or come
 * from another build, or PROBLEM_UNAVAILABLE if memory is short; nothing is to be freed then. */
bool handover_read(const void *bytes, size_t size, dn_train_result *result,
                   struct handover_rows *rows, struct problem *problem);
void handover_rows_done(struct handover_rows *rows); /* {0} is allowed */

#endif
