/* What compilers offer beyond ISO C for several kinds of one processor: functions for newer ones in a program that runs on older ones too, vectors, the number of bits. Elsewhere there is nothing
 * of it, and plain code does the same work. */
#ifndef DNI_CPU_H
#define DNI_CPU_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define DNI_HAVE_X86 1
/* Before a function: compiled for processors since 2013, since 2017; to be called only where dni_cpu_is_… says so. */
#define DNI_FOR_AVX2 __attribute__((target("avx2,fma,popcnt")))
#define DNI_FOR_AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,popcnt")))
/* A vector of so many bytes, that may lie anywhere. */
#define DNI_VECTOR(type, bytes)                                                                    \
    __attribute__((vector_size(bytes), aligned(sizeof(type)), may_alias)) type

static inline bool dni_cpu_is_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("popcnt");
}

/* Not in a build with the address sanitizer: the frames that gcc then keeps apart from the stack are aligned to 32 bytes, and vectors of 64 that lie in them are not where their instructions want them. */
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

/* Number of bits. DNI_COUNT_BITS is for functions of newer processors: elsewhere it would be a call. */
DNI_ALWAYS_INLINE unsigned dni_count_bits(uint64_t x) {
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (unsigned)(x * 0x0101010101010101 >> 56);
}
#if DNI_HAVE_X86
#define DNI_COUNT_BITS(x) ((unsigned)__builtin_popcountll(x))
#endif

/* Place of the lowest bit of x, which is not 0. */
DNI_ALWAYS_INLINE unsigned dni_lowest_bit(uint64_t x) {
    return dni_count_bits((x & (0 - x)) - 1);
}

#endif
