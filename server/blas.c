/* Address space for each thread that may be in GEMM, which maps about 200 MB. The daemon needs the
 * pthread build of OpenBLAS and sets it to one thread. */
#include "blas.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define PER_THREAD ((int64_t)256 << 20)

/* Returns the address space in use, in bytes; 0 if it is unknown. */
static int64_t address_space(void) {
    FILE *f = fopen("/proc/self/statm", "re");
    char line[128];
    if (!f) {
        return 0;
    }
    const long long pages = fgets(line, sizeof line, f) ? strtoll(line, NULL, 10) : 0;
    fclose(f);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

bool blas_prepare(int64_t n_threads, struct problem *problem) {
    struct rlimit limit;
    if (openblas_get_parallel() == OPENBLAS_SEQUENTIAL) {
        return problem_set(
            problem, PROBLEM_INTERNAL,
            "the OpenBLAS in use (%s) is a sequential build, which is not thread safe: install "
            "libopenblas0-pthread and make it the libopenblas.so.0 that is found",
            openblas_get_config());
    }
    openblas_set_num_threads(1);
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        int64_t left = (int64_t)limit.rlim_cur - address_space();
        if (left < n_threads * PER_THREAD) {
            return problem_set(
                problem, PROBLEM_INTERNAL,
                "the address space limit (ulimit -v) leaves %lld MiB, but %lld threads may use the "
                "linear algebra library and need 256 MiB each: raise it or lower --workers, "
                "--train-threads, --call-threads",
                (long long)(left >> 20), (long long)n_threads);
        }
    }
    return true;
}
