/* 64 × 64 → 128 bit products, through the compiler's wide integer where it has one. */
#ifndef DNI_WIDE_H
#define DNI_WIDE_H

#include <stdint.h>

typedef struct dni_wide {
    uint64_t high, low;
} dni_wide;

/* Computed from 32-bit halves; also the reference in the tests. */
static inline dni_wide dni_wide_product_by_halves(uint64_t a, uint64_t b) {
    uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
    uint64_t low = a0 * b0, cross = a1 * b0 + (low >> 32), other = a0 * b1 + (cross & 0xffffffffu);
    return (dni_wide){.high = a1 * b1 + (cross >> 32) + (other >> 32),
                      .low = other << 32 | (low & 0xffffffffu)};
}

static inline dni_wide dni_wide_product(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (dni_wide){.high = (uint64_t)(product >> 64), .low = (uint64_t)product};
#else
    return dni_wide_product_by_halves(a, b);
#endif
}

/* The number of zero bits above the highest one bit; x > 0. */
static inline unsigned dni_leading_zeros(uint64_t x) {
#if defined(__GNUC__)
    return (unsigned)__builtin_clzll(x);
#else
    unsigned n = 0;
    for (; (x >> 63) == 0; x <<= 1) {
        n++;
    }
    return n;
#endif
}

#endif
