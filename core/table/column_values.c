/* Encodings of numbers: selection, writing and reading. */
#include "table/column_values.h"

#include <float.h>
#include <math.h>
#include <string.h>

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Returns true if all n numbers are 32-bit integers, and extends the range *least ... *most to
 * include them. Branch-free: the sum of an integer and 1.5·2^52 has the integer in its lowest
 * bits; for other numbers (and -0), adding and subtracting 1.5·2^52 changes the number. */
static bool all_integers(const double *x, size_t n, int64_t *least, int64_t *most) {
    const double rounding = 6755399441055744.0;
    uint64_t wrong = 0;
    int64_t low = *least, high = *most;
    for (size_t i = 0; i < n; i++) {
        double y = x[i] + rounding;
        int64_t integer = (int64_t)(bits_of(y) - bits_of(rounding));
        /* For NaN the bits of the difference may be 0, but the integer is out of range. */
        wrong |= bits_of(y - rounding) ^ bits_of(x[i]);
        low = integer < low ? integer : low;
        high = integer > high ? integer : high;
    }
    if (wrong != 0 || low < INT32_MIN || high > INT32_MAX) {
        return false;
    }
    *least = low;
    *most = high;
    return true;
}

/* Returns true if eight numbers are integers from 0 to below 2^31, and ors their bits into *bits.
 * The method is that of all_integers, in a form that compilers vectorise. */
static inline bool eight_naturals(const double *x, uint64_t *bits) {
    const double rounding = 6755399441055744.0;
    uint64_t wrong = 0, all = 0;
    for (size_t i = 0; i < 8; i++) {
        double y = x[i] + rounding;
        all |= bits_of(y) - bits_of(rounding);
        wrong |= bits_of(y - rounding) ^ bits_of(x[i]);
    }
    if (wrong != 0 || all > INT32_MAX) {
        return false;
    }
    *bits |= all;
    return true;
}

static bool contains(const double *number, size_t n, double x) {
    for (size_t i = 0; i < n; i++) {
        if (number[i] == x) {
            return true;
        }
    }
    return false;
}

enum dni_column_encoding dni_column_encoding_of(const double *number, size_t n, bool *out_missing) {
    enum { SOME = 8 };
    int64_t least = 0, most = 0;
    uint64_t bits = 0; /* bitwise or of the integers; < 256 if and only if all of them are */
    bool missing = false;
    for (size_t first = 0; first < n; first += SOME) {
        size_t some = n - first < SOME ? n - first : SOME;
        if (some == SOME && eight_naturals(number + first, &bits)) {
            continue;
        }
        if (all_integers(number + first, some, &least, &most)) {
            continue;
        }
        for (size_t i = first; i < first + some; i++) { /* some of the eight are missing or not
                                                         * small integers */
            if (isnan(number[i])) {
                missing = true;
            } else if (!all_integers(number + i, 1, &least, &most)) {
                return DNI_COLUMN_F64;
            }
        }
    }
    *out_missing = missing;
    most = (int64_t)bits > most ? (int64_t)bits : most;
    if (least >= 0 && most <= UINT8_MAX &&
        !(missing && most == DNI_MISSING_U8 && contains(number, n, DNI_MISSING_U8))) {
        return DNI_COLUMN_U8;
    }
    if (least >= (missing ? DNI_MISSING_I16 + 1 : INT16_MIN) && most <= INT16_MAX) {
        return DNI_COLUMN_I16;
    }
    return missing && least == DNI_MISSING_I32 ? DNI_COLUMN_F64 : DNI_COLUMN_I32;
}

/* Returns the integer value of a number; `absent` if the number is missing. */
static inline int32_t integer_of(double x, int32_t absent) {
    return isnan(x) ? absent : (int32_t)x;
}

void dni_column_write_values(dni_writer *writer, enum dni_column_encoding encoding,
                             const double *number, size_t n) {
    unsigned char buffer[4096];
    if (encoding == DNI_COLUMN_F64) {
        dni_write_f64s(writer, number, n);
        return;
    }
    for (size_t first = 0; first < n; first += 1024) {
        size_t some = n - first < 1024 ? n - first : 1024, size = 0;
        const double *x = number + first;
        if (encoding == DNI_COLUMN_U8) {
            for (size_t i = 0; i < some; i++) {
                buffer[size++] = (unsigned char)integer_of(x[i], DNI_MISSING_U8);
            }
        } else if (encoding == DNI_COLUMN_I16) {
            for (size_t i = 0; i < some; i++) {
                uint32_t bits = (uint32_t)integer_of(x[i], DNI_MISSING_I16);
                buffer[size++] = (unsigned char)(bits & 0xff);
                buffer[size++] = (unsigned char)(bits >> 8 & 0xff);
            }
        } else {
            for (size_t i = 0; i < some; i++) {
                uint32_t bits = (uint32_t)integer_of(x[i], DNI_MISSING_I32);
                for (unsigned k = 0; k < 4; k++) {
                    buffer[size++] = (unsigned char)(bits >> (8 * k) & 0xff);
                }
            }
        }
        dni_write_bytes(writer, buffer, size);
    }
}

/* ---- back ---- */
size_t dni_column_value_size(enum dni_column_encoding encoding) {
    static const unsigned char size[] = {
        [DNI_COLUMN_U8] = 1, [DNI_COLUMN_I16] = 2, [DNI_COLUMN_I32] = 4, [DNI_COLUMN_F64] = 8};
    return size[encoding];
}

/* Decode i16 and i32 from two's complement, without implementation-defined conversions. */
static inline int32_t signed16(const unsigned char *at) {
    int32_t bits = at[0] | at[1] << 8;
    return bits >= 0x8000 ? bits - 0x10000 : bits;
}

static inline int32_t signed32(const unsigned char *at) {
    uint32_t bits = dni_get_u32(at);
    int32_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Copies n doubles. Returns false if one is infinite. */
static bool copy_f64(const unsigned char *from, double *out, size_t n) {
    dni_get_f64s(from, out, n);
    unsigned infinite = 0;
    for (size_t i = 0; i < n; i++) {
        infinite |= (unsigned)(fabs(out[i]) > DBL_MAX);
    }
    return infinite == 0;
}

static bool read_f64(const unsigned char *from, size_t n, double *out) {
    bool finite = true;
    for (size_t first = 0; first < n && finite; first += 2048) { /* each part is checked while it
                                                                  * is in the cache */
        size_t some = n - first < 2048 ? n - first : 2048;
        finite = copy_f64(from + 8 * first, out + first, some);
    }
    return finite;
}

static void read_integers(const unsigned char *restrict from, enum dni_column_encoding encoding,
                          size_t n, double *restrict out) {
    if (encoding == DNI_COLUMN_U8) {
        for (size_t i = 0; i < n; i++) {
            out[i] = from[i];
        }
    } else if (encoding == DNI_COLUMN_I16) {
        for (size_t i = 0; i < n; i++) {
            out[i] = signed16(from + 2 * i);
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            out[i] = signed32(from + 4 * i);
        }
    }
}

bool dni_column_read_values(const unsigned char *from, enum dni_column_encoding encoding,
                            bool has_missing, size_t n, double *out) {
    if (encoding == DNI_COLUMN_F64) {
        return read_f64(from, n, out);
    }
    read_integers(from, encoding, n, out);
    if (!has_missing) {
        return true;
    }
    double missing = encoding == DNI_COLUMN_U8    ? DNI_MISSING_U8
                     : encoding == DNI_COLUMN_I16 ? DNI_MISSING_I16
                                                  : (double)DNI_MISSING_I32;
    for (size_t i = 0; i < n; i++) {
        out[i] = out[i] == missing ? (double)NAN : out[i];
    }
    return true;
}
