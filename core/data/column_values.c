/* Which encoding a column's numbers fit, and the numbers in it. */
#include "data/column_values.h"

#include <math.h>
#include <string.h>

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Are all n numbers integers of 32 bits? Then *least and *most take them in. Without a branch on a value: 1.5·2^52 added to an integer leaves that integer in
 * the lowest bits, and added to anything else and taken away again gives another number. */
static bool all_integers(const double *x, size_t n, int64_t *least, int64_t *most) {
    const double rounding = 6755399441055744.0;
    uint64_t wrong = 0;
    int64_t low = *least, high = *most;
    for (size_t i = 0; i < n; i++) {
        double y = x[i] + rounding;
        int64_t integer = (int64_t)(bits_of(y) - bits_of(rounding));
        wrong |= (uint64_t)(y - rounding != x[i]) | (uint64_t)(bits_of(x[i]) == UINT64_C(1) << 63);
        low = integer < low ? integer : low;
        high = integer > high ? integer : high;
    }
    if (wrong != 0 || low < INT32_MIN || high > INT32_MAX)
        return false;
    *least = low;
    *most = high;
    return true;
}

enum dni_column_encoding dni_column_encoding_of(const double *number, size_t n, bool *out_missing) {
    enum { SOME = 64 };
    int64_t least = 0, most = 0;
    bool missing = false;
    for (size_t first = 0; first < n; first += SOME) {
        size_t some = n - first < SOME ? n - first : SOME;
        if (all_integers(number + first, some, &least, &most))
            continue;
        for (size_t i = first; i < first + some; i++) { /* missing ones among them, or no integers */
            if (isnan(number[i]))
                missing = true;
            else if (!all_integers(number + i, 1, &least, &most))
                return DNI_COLUMN_F64;
        }
    }
    *out_missing = missing;
    if (least >= 0 && most <= (missing ? DNI_MISSING_U8 - 1 : UINT8_MAX))
        return DNI_COLUMN_U8;
    if (least >= (missing ? DNI_MISSING_I16 + 1 : INT16_MIN) && most <= INT16_MAX)
        return DNI_COLUMN_I16;
    return missing && least == DNI_MISSING_I32 ? DNI_COLUMN_F64 : DNI_COLUMN_I32;
}

/* The integer of a number, `absent` for a missing one. */
static inline int32_t integer_of(double x, int32_t absent) {
    return isnan(x) ? absent : (int32_t)x;
}

void dni_column_write_values(dni_writer *writer, enum dni_column_encoding encoding, const double *number, size_t n) {
    unsigned char buffer[4096];
    if (encoding == DNI_COLUMN_F64) {
        dni_write_f64s(writer, number, n);
        return;
    }
    for (size_t first = 0; first < n; first += 1024) {
        size_t some = n - first < 1024 ? n - first : 1024, size = 0;
        const double *x = number + first;
        if (encoding == DNI_COLUMN_U8) {
            for (size_t i = 0; i < some; i++)
                buffer[size++] = (unsigned char)integer_of(x[i], DNI_MISSING_U8);
        } else if (encoding == DNI_COLUMN_I16) {
            for (size_t i = 0; i < some; i++) {
                uint32_t bits = (uint32_t)integer_of(x[i], DNI_MISSING_I16);
                buffer[size++] = (unsigned char)(bits & 0xff);
                buffer[size++] = (unsigned char)(bits >> 8 & 0xff);
            }
        } else {
            for (size_t i = 0; i < some; i++) {
                uint32_t bits = (uint32_t)integer_of(x[i], DNI_MISSING_I32);
                for (unsigned k = 0; k < 4; k++)
                    buffer[size++] = (unsigned char)(bits >> (8 * k) & 0xff);
            }
        }
        dni_write_bytes(writer, buffer, size);
    }
}
