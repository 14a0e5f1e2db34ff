/* Reads text eight bytes at a time, and parses plain decimal numbers fast. In formats, compiler
 * extensions are used in this file only. A word is loaded so that the byte at the lowest address is
 * the least significant one on every machine. A mask has 0x80 in each byte that matches. */
#ifndef FORMATS_SCAN_H
#define FORMATS_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SCAN_LIKELY(x) __builtin_expect(!!(x), 1)
#define SCAN_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define SCAN_INLINE static inline __attribute__((always_inline))
/* Returns the index of the lowest set bit. The mask must not be 0. */
SCAN_INLINE size_t scan_lowest(uint64_t mask) {
    return (size_t)__builtin_ctzll(mask);
}
/* Returns the number of zero bits above the highest set bit. x must not be 0. */
SCAN_INLINE unsigned scan_leading_zeros(uint64_t x) {
    return (unsigned)__builtin_clzll(x);
}
#else
#define SCAN_LIKELY(x) (x)
#define SCAN_UNLIKELY(x) (x)
#define SCAN_INLINE static inline
SCAN_INLINE size_t scan_lowest(uint64_t mask) {
    size_t i = 0;
    while ((mask & 1) == 0) {
        mask >>= 1;
        i++;
    }
    return i;
}
SCAN_INLINE unsigned scan_leading_zeros(uint64_t x) {
    unsigned n = 0;
    for (; x >> 63 == 0; x <<= 1) {
        n++;
    }
    return n;
}
#endif

/* Returns the index of the lowest marked byte. The mask must not be 0. */
SCAN_INLINE size_t scan_first(uint64_t mask) {
    return scan_lowest(mask) >> 3;
}

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define SCAN_ONES UINT64_C(0x0101010101010101)
#define SCAN_HIGHS UINT64_C(0x8080808080808080)

/* Returns the eight bytes at p. Compilers turn this into one load. */
SCAN_INLINE uint64_t scan_load(const char *p) {
    const unsigned char *u = (const unsigned char *)p;
    return (uint64_t)u[0] | (uint64_t)u[1] << 8 | (uint64_t)u[2] << 16 | (uint64_t)u[3] << 24 |
           (uint64_t)u[4] << 32 | (uint64_t)u[5] << 40 | (uint64_t)u[6] << 48 |
           (uint64_t)u[7] << 56;
}

SCAN_INLINE uint64_t scan_repeat(char c) {
    return SCAN_ONES * (unsigned char)c;
}

/* Marks the bytes that equal the repeated byte. Only the lowest mark is exact: the borrow of the
 * subtraction may set wrong marks above it. */
SCAN_INLINE uint64_t scan_equal(uint64_t word, uint64_t repeated) {
    const uint64_t x = word ^ repeated;
    return (x - SCAN_ONES) & ~x & SCAN_HIGHS;
}

/* Marks the bytes below 0x20. Only the lowest mark is exact. */
SCAN_INLINE uint64_t scan_control(uint64_t word) {
    return (word - SCAN_ONES * 0x20) & ~word & SCAN_HIGHS;
}

/* Returns a mask for a 64-byte block: bit i is set if byte i equals a, b, c or d. */
#if defined(__SSE2__)
SCAN_INLINE uint64_t scan_marks16(const char *p, char a, char b, char c, char d) {
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
    const __m128i ab =
        _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8(a)), _mm_cmpeq_epi8(x, _mm_set1_epi8(b)));
    const __m128i cd =
        _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8(c)), _mm_cmpeq_epi8(x, _mm_set1_epi8(d)));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(ab, cd));
}
SCAN_INLINE uint64_t scan_marks(const char *p, char a, char b, char c, char d) {
    return scan_marks16(p, a, b, c, d) | scan_marks16(p + 16, a, b, c, d) << 16 |
           scan_marks16(p + 32, a, b, c, d) << 32 | scan_marks16(p + 48, a, b, c, d) << 48;
}
#else
/* Like scan_equal, but all marks are exact. */
SCAN_INLINE uint64_t scan_equal_all(uint64_t word, uint64_t repeated) {
    const uint64_t x = word ^ repeated;
    return ~(((x & ~SCAN_HIGHS) + ~SCAN_HIGHS) | x) & SCAN_HIGHS;
}
SCAN_INLINE uint64_t scan_marks(const char *p, char a, char b, char c, char d) {
    uint64_t marks = 0;
    for (unsigned i = 0; i < 8; i++) {
        const uint64_t w = scan_load(p + 8 * i);
        const uint64_t m = scan_equal_all(w, scan_repeat(a)) | scan_equal_all(w, scan_repeat(b)) |
                           scan_equal_all(w, scan_repeat(c)) | scan_equal_all(w, scan_repeat(d));
        /* The multiplication collects the eight marks in the highest byte. */
        marks |= ((m >> 7) * UINT64_C(0x0102040810204080) >> 56) << (8 * i);
    }
    return marks;
}
#endif

/* Returns the number of digits at the beginning of eight bytes. */
SCAN_INLINE size_t scan_digits(uint64_t word) {
    /* in x a digit is 0 … 9; `none` marks the other bytes. A carry changes only bytes above a
     * byte >= 0x80, which is marked itself, so the lowest mark is exact */
    const uint64_t x = word ^ (SCAN_ONES * 0x30);
    const uint64_t none = ((x + SCAN_ONES * 0x76) | x) & SCAN_HIGHS;
    return none == 0 ? 8 : scan_first(none);
}

/* Returns the value of eight digits, each a byte of 0 … 9. */
SCAN_INLINE uint64_t scan_decimal_word(uint64_t x) {
    x = x * 10 + (x >> 8); /* two digits in every other byte */
    return (((x & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x000F424000000064)) +
            (((x >> 16) & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x0000271000000001))) >>
           32;
}

/* Returns the value of the first n (1 … 8) digits of a word. */
SCAN_INLINE uint64_t scan_decimal(uint64_t word, size_t n) {
    /* The shift adds zeros as leading digits. */
    return scan_decimal_word((word ^ (SCAN_ONES * 0x30)) << (64 - 8 * n));
}

/* Returns 10^n, n <= 15. */
SCAN_INLINE uint64_t scan_power(size_t n) {
    static const uint64_t power[16] = {1,
                                       10,
                                       100,
                                       1000,
                                       10000,
                                       100000,
                                       1000000,
                                       10000000,
                                       100000000,
                                       UINT64_C(1000000000),
                                       UINT64_C(10000000000),
                                       UINT64_C(100000000000),
                                       UINT64_C(1000000000000),
                                       UINT64_C(10000000000000),
                                       UINT64_C(100000000000000),
                                       UINT64_C(1000000000000000)};
    return power[n];
}

/* Reads up to 15 digits at p. Returns their number (16: there are more) and sets *value. */
SCAN_INLINE size_t scan_run(const char *p, uint64_t *value) {
    const uint64_t first = scan_load(p);
    const size_t n = scan_digits(first);
    if (SCAN_LIKELY(n < 8)) {
        *value = n > 0 ? scan_decimal(first, n) : 0;
        return n;
    }
    const uint64_t second = scan_load(p + 8);
    const size_t more = scan_digits(second);
    if (more == 8) {
        return 16;
    }
    *value =
        scan_decimal(first, 8) * scan_power(more) + (more > 0 ? scan_decimal(second, more) : 0);
    return 8 + more;
}

/* Number of bytes that must be readable from the start of a number in scan_number: sign, 16 digits,
 * point, 16 digits. */
#define SCAN_NUMBER_READS 34

/* How a number is written. The number of digits after the decimal point, 0 … 15, is added to
 * SCAN_CANONICAL and SCAN_PADDED. */
enum scan_written {
    SCAN_OTHERWISE = 1,  /* any other form: "007", "0.0000001" */
    SCAN_CANONICAL = 16, /* as dn_number_format writes it */
    /* canonical, but with zeros after the last digit: "5.0", "1.50" */
    SCAN_PADDED = 32
};
SCAN_INLINE unsigned scan_written(bool otherwise, char last, size_t decimals) {
    /* computed without a branch, which the processor could not predict */
    const unsigned padded = last == '0';
    return otherwise
               ? SCAN_OTHERWISE
               : SCAN_CANONICAL + (SCAN_PADDED - SCAN_CANONICAL) * padded + (unsigned)decimals;
}

/* Parses a number of the form -?digits(.digits)? with at most 15 significant digits. For other
 * forms use dn_number_parse. The value is correctly rounded: the digits (< 2^53) and the power of
 * ten (<= 10^15) are exact doubles, so only the division rounds. Returns the length of the number;
 * 0 if the text has another form or is too long. The caller must check the byte after the number.
 * *written: enum scan_written. */
SCAN_INLINE size_t scan_number(const char *p, double *value, unsigned *written) {
    static const double divisor[16] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    /* multiplication by ±1 is exact and needs no branch on the sign */
    static const double signs[2] = {1, -1};
    const bool negative = *p == '-';
    const char *digits = p + negative;
    uint64_t whole = 0;
    const size_t n = scan_run(digits, &whole);
    if (n == 0 || n > 15) {
        return 0;
    }
    const bool zero_led = (n > 1) & (digits[0] == '0');
    if (digits[n] != '.') {
        *value = signs[negative] * (double)(int64_t)whole;
        *written = scan_written(zero_led, '\0', 0);
        return n + negative;
    }
    uint64_t part = 0;
    const size_t m = scan_run(digits + n + 1, &part);
    if (m == 0 || m > 15 || ((n + m > 15) & (whole != 0))) {
        return 0;
    }
    const double v = (double)(int64_t)(whole * scan_power(m) + part) / divisor[m];
    *value = signs[negative] * v;
    /* Below 1e-6 dn_number_format writes an exponent, so this form is not canonical. */
    *written = scan_written(zero_led | ((v < 1e-6) & (v > 0)), digits[n + m], m);
    return n + 1 + m + negative;
}

/* Like scan_number for a text of known length n, with at most 8 bytes after the sign. Returns
 * whether the whole text is a number. Reads 8 bytes after the sign. */
SCAN_INLINE bool scan_short(const char *p, size_t n, double *value, unsigned *written) {
    static const double divisor[8] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    static const uint64_t behind[8] = {UINT64_C(0xFFFFFFFFFFFFFF00), UINT64_C(0xFFFFFFFFFFFF0000),
                                       UINT64_C(0xFFFFFFFFFF000000), UINT64_C(0xFFFFFFFF00000000),
                                       UINT64_C(0xFFFFFF0000000000), UINT64_C(0xFFFF000000000000),
                                       UINT64_C(0xFF00000000000000), 0};
    static const double signs[2] = {1, -1};
    const bool negative = *p == '-';
    const char *digits = p + negative;
    n -= negative;
    /* n is 0 or above 8 */
    if (SCAN_UNLIKELY(n - 1 > 7)) {
        return false;
    }
    /* The shift adds zeros as leading digits. */
    const uint64_t x = (scan_load(digits) ^ (SCAN_ONES * 0x30)) << (64 - 8 * n);
    /* marks bytes that are not digits, as in scan_digits */
    const uint64_t none = ((x + SCAN_ONES * 0x76) | x) & SCAN_HIGHS;
    if (none == 0) {
        *value = signs[negative] * (double)(int64_t)scan_decimal_word(x);
        *written = scan_written((n > 1) & (digits[0] == '0'), '\0', 0);
        return true;
    }
    const size_t point = scan_first(none), before = point - (8 - n), after = 7 - point;
    /* There is a character other than the one point, or no digit before or after the point. */
    if ((none & (none - 1)) != 0 || digits[before] != '.' || before - 1 >= n - 2) {
        return false;
    }
    /* Moves the digits before the point up by one byte, over the point. */
    const uint64_t shifted = x << 8, word = shifted ^ ((shifted ^ x) & behind[point]);
    *value = signs[negative] * ((double)(int64_t)scan_decimal_word(word) / divisor[after]);
    *written = scan_written((before > 1) & (digits[0] == '0'), digits[n - 1], after);
    return true;
}

#endif
