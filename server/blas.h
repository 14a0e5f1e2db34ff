/* The linear algebra library, checked and set up before any thread uses it. */
#ifndef BLAS_H
#define BLAS_H

#include "base/problem.h"
#include <stdint.h>

/* Holds OpenBLAS to one thread a call. false, with one line that says what to do: the library is a
 * sequential build (not thread safe), or RLIMIT_AS leaves less than 256 MiB for each of n_threads
 * that may be inside it (it would spin for ever). */
bool blas_prepare(int64_t n_threads, struct problem *problem);

#endif
