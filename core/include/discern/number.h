/* Numbers as text: the only parser and formatter of numbers in the library.
 *
 * Thread-safe: no state; independent of the locale. */
#ifndef DISCERN_NUMBER_H
#define DISCERN_NUMBER_H

#include <discern/api.h>
#include <stdbool.h>
#include <stddef.h>

DN_BEGIN_DECLS

/* Parses text[0 ... length - 1], which need not end with NUL, as a number:
 *
 *     [+-]? (digits [. digits*]? | . digits) ([eE] [+-]? digits)?
 *
 * The value is rounded to nearest, ties to even. Returns false, and leaves *out unchanged, if the
 * text has another form (spaces, hexadecimal, "inf", "nan") or the number is too large for a
 * double (1e999). A number that is too small (1e-999) becomes 0. */
bool dn_number_parse(const char *text, size_t length, double *out);

#define DN_NUMBER_SIZE 32

/* Writes the shortest text that dn_number_parse converts to the same double, followed by NUL. If
 * several texts are shortest, the one nearest to the value is written. The text is a JSON number:
 * without an exponent from 1e-6 to below 1e21 ("5.1", "100000000000000000000"), otherwise with an
 * exponent ("1e300", "1.5e-7"); negative zero is "-0". NaN and infinities are "null".
 *
 * Returns the length of the text, at most DN_NUMBER_SIZE - 1. */
size_t dn_number_format(double value, char out[DN_NUMBER_SIZE]);

DN_END_DECLS

#endif
