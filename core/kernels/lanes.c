/* The makes of the innermost loops: plain, AVX2, AVX-512. Compiled with -O3 -ffp-contract=fast (Makefile): loops over the lanes become vectors, and x·y + z one rounding wherever the processor can,
 * in every function of a make alike. */
#include "kernels/lanes.h"
#include "linalg/cpu.h"

#include <math.h>
#include <string.h>

enum { SINGLE_COLUMNS = 64 }; /* of a partial sum in float */

#define LANES_NAME(f) plain_##f
#define LANES_FOR
#define LANES_SUM(s, x, y) ((s) + (x) * (y))
#define LANES_SUM_SINGLE LANES_SUM
#include "kernels/lanes_body.h"
#undef LANES_NAME
#undef LANES_FOR
#undef LANES_SUM
#undef LANES_SUM_SINGLE

#if DNI_HAVE_X86
#define LANES_SUM(s, x, y) fma(x, y, s)
#define LANES_SUM_SINGLE(s, x, y) fmaf(x, y, s)
#define LANES_NAME(f) avx2_##f
#define LANES_FOR DNI_FOR_AVX2
#define LANES_BYTES 32
#define LANES_AT_ONCE 4
#include "kernels/lanes_body.h"
#undef LANES_NAME
#undef LANES_FOR
#undef LANES_BYTES
#undef LANES_AT_ONCE

#define LANES_NAME(f) avx512_##f
#define LANES_FOR DNI_FOR_AVX512
#define LANES_BYTES 64
#define LANES_AT_ONCE 8
#include "kernels/lanes_body.h"
#undef LANES_NAME
#undef LANES_FOR
#undef LANES_BYTES
#undef LANES_AT_ONCE
#endif

const dni_lanes *dni_lanes_make(size_t i) {
#if DNI_HAVE_X86
    if (i == 1 && dni_cpu_is_avx2())
        return &avx2_lanes;
    if (i == 2 && dni_cpu_is_avx512())
        return &avx512_lanes;
#endif
    return i == 0 ? &plain_lanes : NULL;
}

const dni_lanes *dni_lanes_best(void) {
    size_t i = 0;
    while (dni_lanes_make(i + 1) != NULL)
        i++;
    return dni_lanes_make(i);
}
