/* Formatting: the shortest text that is parsed to the same double (Schubfach).
 *
 * Every real in the rounding interval [(2c - 1)·2^(q-1), (2c + 1)·2^(q-1)] of a double v = c·2^q
 * is rounded to v (the ends only for even c; at a power of two the lower half is half as wide).
 * With k = floor(log10 of the width of the interval), at least one multiple of 10^k is inside the
 * interval, and a shortest number is among the multiples of 10^k and 10^(k+1) next to v. All
 * products are rounded to odd: comparisons of the products are then exact although the power of
 * ten is truncated to 128 bits. R. Giulietti, The Schubfach way to render doubles, 2020, sections
 * 8 and 9. */
#include "number/power10.h"
#include <discern/number.h>

#include <math.h>
#include <string.h>

/* The number digits · 10^exponent. */
struct shortest {
    uint64_t digits;
    int exponent;
};

/* Returns floor(g·x / 2^128), with the lowest bit set if the quotient is not exact. g is at most
 * one unit too large; the bound y > 1 allows for that. */
static uint64_t round_to_odd(dni_wide g, uint64_t x) {
    dni_wide low = dni_wide_product(g.low, x), high = dni_wide_product(g.high, x);
    uint64_t y = high.low + low.high;
    return (high.high + (y < high.low)) | (y > 1);
}

static struct shortest shortest_of(uint64_t fraction, unsigned biased) {
    uint64_t c = biased == 0 ? fraction : fraction | UINT64_C(1) << 52;
    int q = (biased == 0 ? 1 : (int)biased) - 1075;
    bool narrow_below = fraction == 0 && biased > 1;
    bool even = (c & 1) == 0;

    /* floor(log10(2^q)), or floor(log10(3/4·2^q)) for the narrower interval */
    int k = dni_floor_shift(q * 1262611 - (narrow_below ? 524031 : 0), 22);
    dni_wide g = dni_power10[-k - DNI_POWER10_MIN];
    if (++g.low == 0) {
        g.high++;
    }
    unsigned shift = (unsigned)(q + dni_log2_power10(-k) + 1);

    /* the ends of the interval, and v itself, in quarters of 10^k */
    uint64_t below = round_to_odd(g, (4 * c - 2 + narrow_below) << shift) + !even;
    uint64_t quarters = round_to_odd(g, 4 * c << shift);
    uint64_t above = round_to_odd(g, (4 * c + 2) << shift) - !even;

    uint64_t s = quarters / 4;
    if (s >= 10) {
        uint64_t tens = s / 10; /* the multiples of 10^(k+1) next to v: taken if exactly one of them
                                 * is inside the interval */
        bool low_inside = below <= 40 * tens, high_inside = 40 * tens + 40 <= above;
        if (low_inside != high_inside) {
            return (struct shortest){tens + high_inside, k + 1};
        }
    }
    bool low_inside = below <= 4 * s, high_inside = 4 * s + 4 <= above;
    if (low_inside != high_inside) {
        return (struct shortest){s + high_inside, k};
    }
    uint64_t middle = 4 * s + 2; /* both neighbours are inside: choose the nearer; if equally near,
                                  * the even one */
    return (struct shortest){s + (quarters > middle || (quarters == middle && (s & 1) != 0)), k};
}

/* Writes the decimal digits of x > 0, at most 20, and returns their number. */
static size_t put_digits(char *out, uint64_t x) {
    /* The builtin stores a pair at once; memcpy is a checked call with _FORTIFY_SOURCE=3. */
    static const char pairs[] = "000102030405060708091011121314151617181920212223242526272829303132"
                                "3334353637383940414243444546474849"
                                "505152535455565758596061626364656667686970717273747576777879808182"
                                "8384858687888990919293949596979899";
    char text[20];
    size_t at = sizeof text;
    while (x >= 100) {
        size_t pair = (size_t)(x % 100);
        x /= 100;
        at -= 2;
        __builtin_memcpy(text + at, pairs + 2 * pair, 2);
    }
    if (x >= 10) {
        at -= 2;
        __builtin_memcpy(text + at, pairs + 2 * x, 2);
    } else {
        text[--at] = (char)('0' + x);
    }
    memcpy(out, text + at, sizeof text - at);
    return sizeof text - at;
}

static struct shortest strip_zeros(struct shortest number) {
    while (number.digits % 10000 == 0) {
        number.digits /= 10000;
        number.exponent += 4;
    }
    while (number.digits % 10 == 0) {
        number.digits /= 10;
        number.exponent++;
    }
    return number;
}

/* Writes an exponent such as "e-7" or "e300". */
static size_t put_exponent(char *out, int exponent) {
    size_t n = 0;
    out[n++] = 'e';
    if (exponent < 0) {
        out[n++] = '-';
    }
    return n + put_digits(out + n, (uint64_t)(exponent < 0 ? -exponent : exponent));
}

/* Writes the number in plain notation from 1e-6 to below 1e21, otherwise as d.ddde±x. */
static size_t put_shortest(char *out, struct shortest number) {
    number = strip_zeros(number);
    char digits[20];
    size_t n = put_digits(digits, number.digits);
    int point = (int)n + number.exponent; /* number of digits before the decimal point */
    size_t length = 0;
    if (point > 21 || point < -5) {
        out[length++] = digits[0];
        if (n > 1) {
            out[length++] = '.';
            memcpy(out + length, digits + 1, n - 1);
            length += n - 1;
        }
        return length + put_exponent(out + length, point - 1);
    }
    if (point <= 0) {
        memcpy(out, "0.00000", 7);
        length = 2 + (size_t)-point;
        memcpy(out + length, digits, n);
        return length + n;
    }
    size_t before = (size_t)point;
    if (before >= n) {
        memcpy(out, digits, n);
        memset(out + n, '0', before - n);
        return before;
    }
    memcpy(out, digits, before);
    out[before] = '.';
    memcpy(out + before + 1, digits + before, n - before);
    return n + 1;
}

size_t dn_number_format(double value, char out[DN_NUMBER_SIZE]) {
    if (!isfinite(value)) {
        memcpy(out, "null", 5);
        return 4;
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    size_t length = 0;
    if (bits >> 63 != 0) {
        out[length++] = '-';
    }
    double magnitude = fabs(value);
    if (magnitude < 9007199254740992.0 && magnitude == (double)(uint64_t)magnitude) {
        length += put_digits(out + length, (uint64_t)magnitude);
    } else {
        uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
        length += put_shortest(out + length, shortest_of(fraction, (unsigned)(bits >> 52) & 0x7ff));
    }
    out[length] = '\0';
    return length;
}
