/* Compiler extensions: functions compiled for newer processors, vectors, bit counts, prefetching,
 * 128-bit products. For other compilers and processors the same functions are written in plain
 * C. */
#ifndef DNI_CPU_H
#define DNI_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define DNI_HAVE_X86 1
/* Attributes of functions compiled for processors of 2013 (AVX2) and of 2017 (AVX-512). Such a
 * function may be called only if dni_cpu_is_avx2 or dni_cpu_is_avx512 returns true. */
#define DNI_FOR_AVX2 __attribute__((target("avx2,fma,popcnt")))
#define DNI_FOR_AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,popcnt")))
/* A vector type of `bytes` bytes with elements of type `type`, aligned like one element. */
#define DNI_VECTOR(type, bytes)                                                                    \
    __attribute__((vector_size(bytes), aligned(sizeof(type)), may_alias)) type

static inline bool dni_cpu_is_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("popcnt");
}

/* Returns false under the address sanitizer: gcc then stores local variables outside the stack,
 * aligned to 32 bytes, but instructions for vectors of 64 bytes require an alignment of 64. */
static inline bool dni_cpu_is_avx512(void) {
#if defined(__SANITIZE_ADDRESS__)
    return false;
#endif
    return dni_cpu_is_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
}
#else
#define DNI_HAVE_X86 0
#endif

#if defined(__GNUC__)
#define DNI_ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define DNI_ALWAYS_INLINE static inline
#endif

/* Put before a loop with a constant number of at most 16 iterations. The compiler unrolls the loop,
 * so that an array indexed by the loop's variable can be kept in registers. */
#if defined(__clang__)
#define DNI_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define DNI_UNROLL _Pragma("GCC unroll 16")
#else
#define DNI_UNROLL
#endif

/* Returns the number of one bits of x. DNI_COUNT_BITS is for functions compiled for newer
 * processors; in other functions it would be compiled to a function call. */
DNI_ALWAYS_INLINE unsigned dni_count_bits(uint64_t x) {
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (unsigned)(x * 0x0101010101010101 >> 56);
}
#if DNI_HAVE_X86
#define DNI_COUNT_BITS(x) ((unsigned)__builtin_popcountll(x))
#endif

/* Returns the index of the lowest one bit of x; x > 0. */
DNI_ALWAYS_INLINE unsigned dni_lowest_bit(uint64_t x) {
    return dni_count_bits((x & (0 - x)) - 1);
}

/* Prefetches the first 32 of the n numbers at x; x need not be a valid address. It speeds up random
 * access to a table larger than the cache. */
static inline void dni_prefetch(const double *x, size_t n) {
#if defined(__GNUC__)
    enum { LINE = 8, MOST = 32 }; /* numbers */
    for (size_t i = 0; i < n && i < MOST; i += LINE) {
        __builtin_prefetch(x + i, 1);
    }
#else
    (void)x;
    (void)n;
#endif
}

/* ---- products of 64 × 64 → 128 bits ---- */
typedef struct dni_wide {
    uint64_t high, low;
} dni_wide;

/* Computes the product from 32-bit halves: the fallback for compilers without __int128, and the
 * reference of the tests. */
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

/* Returns the number of zero bits above the highest one bit of x; x > 0. */
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
