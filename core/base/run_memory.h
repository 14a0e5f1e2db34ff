/* Uninitialised working memory of a run. */
#ifndef DNI_RUN_MEMORY_H
#define DNI_RUN_MEMORY_H

#include <discern/run.h>

/* Like dn_run_alloc, but the memory is not initialised, so that large arrays are not written
 * twice. Freed by dn_run_free. */
DN_MUST_USE dn_status dni_run_alloc_raw(const dn_run *run, size_t count, size_t size,
                                        const char *what, void **out, dn_error *err);

#endif
