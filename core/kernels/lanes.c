/* The versions of the innermost loops: portable, AVX2, AVX-512. The Makefile compiles this file
 * with -O3 -ffp-contract=fast. The compiler then vectorises loops over the lanes, and uses fused
 * multiply-add, which rounds x·y + z once, where the processor of the version has it. */
#include "kernels/lanes.h"
#include "base/cpu.h"

#include <math.h>
#include <string.h>

enum {
    SINGLE_COLUMNS = 64, /* columns of a partial sum in float */
    COLUMNS = 32         /* columns of a panel that are processed at a time */
};

#define LANES_NAME(f) plain_##f
#define LANES_FOR
#define LANES_SUM(s, x, y) ((s) + (x) * (y))
#define LANES_SUM_SINGLE LANES_SUM
#define LANES_COUNT dni_count_bits
#include "kernels/lanes_body.h"
#undef LANES_NAME
#undef LANES_FOR
#undef LANES_SUM
#undef LANES_SUM_SINGLE
#undef LANES_COUNT

#if DNI_HAVE_X86
#define LANES_SUM(s, x, y) fma(x, y, s)
#define LANES_SUM_SINGLE(s, x, y) fmaf(x, y, s)
#define LANES_COUNT DNI_COUNT_BITS
#define LANES_NAME(f) avx2_##f
#define LANES_FOR DNI_FOR_AVX2
#define LANES_BYTES 32
#define LANES_QUERIES 4
#include "kernels/lanes_body.h"
#undef LANES_NAME
#undef LANES_FOR
#undef LANES_BYTES
#undef LANES_QUERIES

/* ---- counts by columns ---- */
enum { SMALL_TABLE = 32 }; /* entries of a table that fits into two registers */

/* A word of a column selects, by its 64 bits, the byte counters that are increased. */
DNI_FOR_AVX512 static void avx512_tally(const uint64_t *planes, size_t stride, const uint8_t *set,
                                        size_t n_set, size_t n_words, uint8_t *counts) {
    const __m512i one = _mm512_set1_epi8(1);
    size_t w = 0;
    for (; w + 4 <= n_words; w += 4) {
        __m512i sum[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(),
                          _mm512_setzero_si512()};
        for (size_t s = 0; s < n_set; s++) {
            const uint64_t *plane = planes + set[s] * stride + w;
            for (size_t v = 0; v < 4; v++) {
                sum[v] = _mm512_mask_add_epi8(sum[v], plane[v], sum[v], one);
            }
        }
        for (size_t v = 0; v < 4; v++) {
            _mm512_storeu_si512(counts + (w + v) * 64, sum[v]);
        }
    }
    for (; w < n_words; w++) {
        __m512i sum = _mm512_setzero_si512();
        for (size_t s = 0; s < n_set; s++) {
            sum = _mm512_mask_add_epi8(sum, planes[set[s] * stride + w], sum, one);
        }
        _mm512_storeu_si512(counts + w * 64, sum);
    }
}

/* Returns the index of point j in the table of kernel values: the number of common 1 bits, or, with
 * `ones`, the number of bits that differ.
 *
 *   query_ones  number of 1 bits of the query
 *   ones        [n] number of 1 bits of each point; NULL: common bits are wanted */
DNI_ALWAYS_INLINE uint8_t table_index(const uint8_t *counts, const uint8_t *ones, size_t query_ones,
                                      size_t j) {
    return (uint8_t)(ones == NULL ? counts[j] : query_ones + ones[j] - 2 * (size_t)counts[j]);
}

/* Returns the sixteen values of table_index at counts and ones. */
DNI_FOR_AVX512 DNI_ALWAYS_INLINE __m512i table_indexes(const uint8_t *counts, const uint8_t *ones,
                                                       __m512i query_ones) {
    const __m512i count =
        _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)counts));
    if (ones == NULL) {
        return count;
    }
    const __m512i one = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)ones));
    return _mm512_sub_epi32(_mm512_add_epi32(query_ones, one), _mm512_add_epi32(count, count));
}

/* Looks up the low and the high 32 bits of the doubles separately, then interleaves them. */
DNI_FOR_AVX512 static void avx512_look_up(const uint8_t *counts, const uint8_t *ones,
                                          size_t query_ones, const double *table, size_t n_table,
                                          size_t n, double *out) {
    size_t j = 0;
    if (n_table <= SMALL_TABLE) {
        uint32_t halves[2 * SMALL_TABLE] = {0}, part[2][SMALL_TABLE];
        memcpy(halves, table, n_table * sizeof *table);
        for (size_t i = 0; i < SMALL_TABLE; i++) {
            part[0][i] = halves[2 * i];
            part[1][i] = halves[2 * i + 1];
        }
        const __m512i low0 = _mm512_loadu_si512(part[0]),
                      low1 = _mm512_loadu_si512(part[0] + SMALL_TABLE / 2);
        const __m512i high0 = _mm512_loadu_si512(part[1]),
                      high1 = _mm512_loadu_si512(part[1] + SMALL_TABLE / 2);
        const __m512i first =
            _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        const __m512i second =
            _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        const __m512i query_one = _mm512_set1_epi32((int)query_ones);
        for (; j + 16 <= n; j += 16) {
            const __m512i at = table_indexes(counts + j, ones == NULL ? NULL : ones + j, query_one);
            const __m512i low = _mm512_permutex2var_epi32(low0, at, low1),
                          high = _mm512_permutex2var_epi32(high0, at, high1);
            _mm512_storeu_si512(out + j, _mm512_permutex2var_epi32(low, first, high));
            _mm512_storeu_si512(out + j + 8, _mm512_permutex2var_epi32(low, second, high));
        }
    }
    for (; j < n; j++) {
        out[j] = table[table_index(counts, ones, query_ones, j)];
    }
}

DNI_FOR_AVX512 static void avx512_look_up_single(const uint8_t *counts, const uint8_t *ones,
                                                 size_t query_ones, const float *table,
                                                 size_t n_table, size_t n, float *out) {
    size_t j = 0;
    if (n_table <= SMALL_TABLE) {
        float all[SMALL_TABLE] = {0};
        memcpy(all, table, n_table * sizeof *table);
        const __m512 low = _mm512_loadu_ps(all), high = _mm512_loadu_ps(all + SMALL_TABLE / 2);
        const __m512i query_one = _mm512_set1_epi32((int)query_ones);
        for (; j + 16 <= n; j += 16) {
            _mm512_storeu_ps(out + j,
                             _mm512_permutex2var_ps(low,
                                                    table_indexes(counts + j,
                                                                  ones == NULL ? NULL : ones + j,
                                                                  query_one),
                                                    high));
        }
    }
    for (; j < n; j++) {
        out[j] = table[table_index(counts, ones, query_ones, j)];
    }
}

#define LANES_NAME(f) avx512_##f
#define LANES_TALLY
#define LANES_FOR DNI_FOR_AVX512
#define LANES_BYTES 64
#define LANES_QUERIES 8
#include "kernels/lanes_body.h"
#undef LANES_NAME
#undef LANES_FOR
#undef LANES_BYTES
#undef LANES_QUERIES
#endif

const dni_lanes *dni_lanes_version(size_t i) {
#if DNI_HAVE_X86
    if (i == 1 && dni_cpu_is_avx2()) {
        return &avx2_lanes;
    }
    if (i == 2 && dni_cpu_is_avx512()) {
        return &avx512_lanes;
    }
#endif
    return i == 0 ? &plain_lanes : NULL;
}

const dni_lanes *dni_lanes_best(void) {
    size_t i = 0;
    while (dni_lanes_version(i + 1) != NULL) {
        i++;
    }
    return dni_lanes_version(i);
}
