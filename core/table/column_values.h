/* The values of a column chunk of numbers as bytes (format: column_format.h). */
#ifndef DNI_COLUMN_VALUES_H
#define DNI_COLUMN_VALUES_H

#include "base/bytes.h"
#include "table/column_format.h"

/* Returns the narrowest encoding that reproduces every number, including -0. *out_missing: some
 * numbers are NaN; false for f64. */
enum dni_column_encoding dni_column_encoding_of(const double *number, size_t n, bool *out_missing);
void dni_column_write_values(dni_writer *writer, enum dni_column_encoding encoding,
                             const double *number, size_t n);
/* Returns the number of bytes of one value. */
size_t dni_column_value_size(enum dni_column_encoding encoding);
/* Reads n values. has_missing: the integer that encodes missing values is converted to NaN.
 * Returns false if a value is infinite. */
bool dni_column_read_values(const unsigned char *from, enum dni_column_encoding encoding,
                            bool has_missing, size_t n, double *out);

#endif
