/* Powers of ten with 128 bits, for parsing and formatting numbers. */
#ifndef DNI_POWER10_H
#define DNI_POWER10_H

#include "base/cpu.h"

#define DNI_POWER10_MIN (-342)
#define DNI_POWER10_MAX 324

/* dni_power10[k - DNI_POWER10_MIN] = floor(10^k · 2^(127 - L)) with L = dni_log2_power10(k): the
 * highest bit is set. Exact for 0 <= k <= 55. */
extern const dni_wide dni_power10[DNI_POWER10_MAX - DNI_POWER10_MIN + 1];

/* Returns floor(x / 2^n). The right shift of a negative x is implementation-defined in C. */
static inline int dni_floor_shift(int x, unsigned n) {
    return x >= 0 ? x >> n : -((-x + (1 << n) - 1) >> n);
}

/* Returns floor(log2(10^k)) for |k| <= 1233. */
static inline int dni_log2_power10(int k) {
    return dni_floor_shift(k * 1741647, 19);
}

#endif
