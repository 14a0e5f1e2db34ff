/* Checks and sets up the linear algebra library, before any thread uses it. */
#ifndef BLAS_H
#define BLAS_H

#include "base/problem.h"
#include <stdint.h>

/* Sets OpenBLAS to one thread for each call. n_threads: threads that may call it at the same time.
 * Returns false and sets problem, with a message that says what to do, in two cases: the library is
 * a sequential build (not thread safe); or RLIMIT_AS leaves less than 256 MiB for each of the
 * threads (OpenBLAS would then loop for ever). */
bool blas_prepare(int64_t n_threads, struct problem *problem);

#endif
