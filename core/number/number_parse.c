/* Correctly rounded parsing. Three methods are tried in this order until one gives the result: one
 * operation on two exact doubles (Clinger); an interval of 192-bit products whose ends round to
 * the same double; strtod on at most 800 digits.
 *
 * The rounding mode must be to nearest, the default of C. strtod is called with an integer and an
 * exponent ("31415e-4"), so that the decimal point of the locale does not matter. */
#include "number/power10.h"
#include <discern/number.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A parsed number: digits · 10^exponent. */
struct decimal {
    uint64_t mantissa;       /* the first 19 significant digits */
    int64_t exponent;        /* decimal exponent of `mantissa` */
    bool cut;                /* true: nonzero digits follow the first 19 */
    bool negative;           /* a minus sign */
    const char *digits;      /* all digits, possibly with a point */
    const char *digits_end;  /* one past the last digit or the point */
    int64_t digits_exponent; /* decimal exponent if all digits are read as one integer */
};

#define MAX_DIGITS 19 /* every number of 19 digits fits 64 bits */
/* A larger exponent is replaced by this: no text has enough digits to compensate for it. */
#define EXPONENT_LIMIT INT64_C(100000000000000000)

static const double exact_power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static inline unsigned digit_of(char c) {
    return (unsigned)(unsigned char)c - '0';
}

/* Parses "[+-]? digits" at *at and moves *at past it. Returns false if there are no digits. */
static bool parse_exponent(const char **at, const char *end, int64_t *out) {
    const char *p = *at;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) {
        p++;
    }
    if (p == end || digit_of(*p) > 9) {
        return false;
    }
    int64_t value = 0;
    for (; p < end && digit_of(*p) <= 9; p++) {
        if (value < EXPONENT_LIMIT) {
            value = value * 10 + (int64_t)digit_of(*p);
        }
    }
    if (value > EXPONENT_LIMIT) {
        value = EXPONENT_LIMIT;
    }
    *out = negative ? -value : value;
    *at = p;
    return true;
}

/* Computes the mantissa from the first 19 significant digits of a number that has more digits. */
static void reread_mantissa(struct decimal *number) {
    uint64_t mantissa = 0;
    int kept = 0;
    int64_t dropped = 0;
    bool cut = false;
    for (const char *p = number->digits; p < number->digits_end; p++) {
        unsigned digit = digit_of(*p);
        if (digit > 9 || (kept == 0 && digit == 0)) {
            continue;
        }
        if (kept < MAX_DIGITS) {
            mantissa = mantissa * 10 + digit;
            kept++;
        } else {
            dropped++;
            cut = cut || digit != 0;
        }
    }
    number->mantissa = mantissa;
    number->exponent = number->digits_exponent + dropped;
    number->cut = cut;
}

/* Splits text by the grammar. Returns false if it is not a number. */
static inline bool parse_decimal(const char *text, size_t length, struct decimal *out) {
    const char *p = text, *end = text + length;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) {
        p++;
    }
    const char *first = p;
    uint64_t mantissa = 0; /* overflows with more than 19 digits; reread_mantissa then corrects
                            * it */
    for (; p < end && digit_of(*p) <= 9; p++) {
        mantissa = mantissa * 10 + digit_of(*p);
    }
    int64_t n_digits = p - first, n_fraction = 0;
    if (p < end && *p == '.') {
        const char *point = p++;
        for (; p < end && digit_of(*p) <= 9; p++) {
            mantissa = mantissa * 10 + digit_of(*p);
        }
        n_fraction = p - point - 1;
        n_digits += n_fraction;
    }
    if (n_digits == 0) {
        return false;
    }
    const char *digits_end = p;
    int64_t exponent = 0;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (!parse_exponent(&p, end, &exponent)) {
            return false;
        }
    }
    if (p != end) {
        return false;
    }
    *out = (struct decimal){.mantissa = mantissa,
                            .exponent = exponent - n_fraction,
                            .negative = negative,
                            .digits = first,
                            .digits_end = digits_end,
                            .digits_exponent = exponent - n_fraction};
    if (n_digits > MAX_DIGITS) {
        reread_mantissa(out);
    }
    return true;
}

/* Stores bits · 2^exponent, where `bits` has 53 bits and the highest is set. Returns false if the
 * result is not a normal number. */
static bool compose(uint64_t bits, int exponent, double *out) {
    if (exponent < -1074 || exponent > 971) {
        return false;
    }
    uint64_t pattern = (uint64_t)(exponent + 1075) << 52 | (bits & ((UINT64_C(1) << 52) - 1));
    memcpy(out, &pattern, sizeof *out);
    return true;
}

/* Rounds 64 bits, the highest of which is set, to 53 bits, ties to even. `sticky`: nonzero bits
 * follow below. *grow is added to the exponent. */
static uint64_t round_to_53(uint64_t high, bool sticky, int *grow) {
    uint64_t bits = high >> 11, rest = high & 0x7ff;
    if (rest > 0x400 || (rest == 0x400 && (sticky || (bits & 1) != 0))) {
        bits++;
    }
    *grow = 11;
    if (bits >> 53 != 0) {
        bits >>= 1;
        *grow = 12;
    }
    return bits;
}

/* Rounds mantissa · 10^exponent, mantissa > 0. The power has 128 bits, so that the true product is
 * in [P, P + m), where P is the computed product and m the mantissa. If both ends round to the
 * same double, it is the result. `cut`: the mantissa represents the interval [mantissa, mantissa +
 * 1]. Returns false if the ends round to different doubles. */
static bool round_product(uint64_t mantissa, bool cut, int64_t exponent, double *out) {
    if (exponent < DNI_POWER10_MIN || exponent > DNI_POWER10_MAX) {
        return false;
    }
    int k = (int)exponent;
    unsigned shift = dni_leading_zeros(mantissa);
    uint64_t m = mantissa << shift;
    dni_wide power = dni_power10[k - DNI_POWER10_MIN];
    dni_wide upper = dni_wide_product(m, power.high), lower = dni_wide_product(m, power.low);
    uint64_t low = lower.low, middle = upper.low + lower.high;
    uint64_t high = upper.high + (middle < upper.low);
    /* Upper end of the interval: + m for the truncated power, unless the power is exact; + 2^shift
     * · (power + 1) for a truncated mantissa. */
    bool exact = k >= 0 && k <= 55;
    uint64_t add_low = exact ? 0 : m, add_middle = 0, add_high = 0;
    if (cut) {
        dni_wide more = {.high = power.high, .low = power.low};
        if (shift > 0) { /* shift < 64: the mantissa is > 0 */
            add_high = more.high >> (64 - shift);
            more.high = more.high << shift | more.low >> (64 - shift);
            more.low <<= shift;
        }
        uint64_t sum = add_low + more.low;
        add_middle = more.high + (sum < add_low);
        add_high += add_middle < more.high;
        add_low = sum;
        uint64_t tail = add_low + (UINT64_C(1) << shift);
        if (tail < add_low && ++add_middle == 0) {
            add_high++;
        }
        add_low = tail;
    }
    uint64_t end_low = low + add_low;
    uint64_t carry = end_low < low;
    uint64_t end_middle = middle + add_middle;
    uint64_t carry_high = end_middle < middle;
    end_middle += carry;
    carry_high += end_middle < carry;
    uint64_t end_high = high + add_high + carry_high;
    if (end_high < high) {
        return false; /* the upper end exceeds a power of two: strtod is used */
    }
    if (high >> 63 == 0) {
        if (end_high >> 63 != 0) {
            return false;
        }
        high = high << 1 | middle >> 63;
        middle <<= 1;
        end_high = end_high << 1 | end_middle >> 63;
        end_middle <<= 1;
        shift++;
    }
    int grow, end_grow;
    uint64_t bits = round_to_53(high, (middle | low) != 0, &grow);
    uint64_t end_bits = round_to_53(end_high, (end_middle | end_low) != 0, &end_grow);
    if (bits != end_bits || grow != end_grow) {
        return false;
    }
    /* value = high·2^128 · 2^(L - 127) · 2^-shift = bits · 2^(grow + 128 + L - 127 - shift) */
    return compose(bits, grow + 1 + dni_log2_power10(k) - (int)shift, out);
}

/* Parses the digits as one integer by strtod. The digits after the first 767 affect the result only
 * by whether any is nonzero. All digits after the first 800 are therefore replaced by a single 1 if
 * any of them is nonzero. */
static bool parse_by_strtod(const struct decimal *number, double *out) {
    char text[800 + 1 + 32];
    size_t n = 0;
    int64_t exponent = number->digits_exponent;
    bool rest = false;
    for (const char *p = number->digits; p < number->digits_end; p++) {
        unsigned digit = digit_of(*p);
        if (digit > 9 || (n == 0 && digit == 0)) {
            continue;
        }
        if (n < 800) {
            text[n++] = *p;
        } else {
            exponent++;
            rest = rest || digit != 0;
        }
    }
    if (rest) {
        text[n++] = '1';
        exponent--;
    }
    if (exponent > 400) {
        return false; /* at least 1e401 */
    }
    if (exponent < -2000) {
        *out = 0; /* at most 801 digits: below 1e-1199 */
        return true;
    }
    int e = (int)exponent;
    text[n++] = 'e';
    text[n++] = e < 0 ? '-' : '+';
    unsigned u = (unsigned)(e < 0 ? -e : e);
    for (unsigned unit = 1000; unit > 0; unit /= 10) {
        text[n++] = (char)('0' + u / unit % 10);
    }
    text[n] = '\0';
    *out = strtod(text, NULL);
    return isfinite(*out);
}

bool dn_number_parse(const char *text, size_t length, double *out) {
    struct decimal number;
    if (!parse_decimal(text, length, &number)) {
        return false;
    }
    double value;
    if (number.mantissa == 0) {
        value = 0;
    } else if (FLT_EVAL_METHOD == 0 && !number.cut && number.mantissa <= UINT64_C(1) << 53 &&
               number.exponent >= -22 && number.exponent <= 22) {
        /* Both numbers are exact doubles, so that one operation is rounded correctly. */
        value = (double)number.mantissa;
        if (number.exponent < 0) {
            value /= exact_power[-number.exponent];
        } else {
            value *= exact_power[number.exponent];
        }
    } else if (!round_product(number.mantissa, number.cut, number.exponent, &value) &&
               !parse_by_strtod(&number, &value)) {
        return false;
    }
    *out = number.negative ? -value : value;
    return true;
}
