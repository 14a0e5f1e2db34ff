/* The values of a column chunk of numbers as bytes (column_format.h has the layout). */
#ifndef DNI_COLUMN_VALUES_H
#define DNI_COLUMN_VALUES_H

#include "base/bytes.h"
#include "table/column_format.h"

/* The narrowest encoding that gives every number back, -0 included. *out_missing: some are NaN; only set when the encoding is none of f64. */
enum dni_column_encoding dni_column_encoding_of(const double *number, size_t n, bool *out_missing);
void dni_column_write_values(dni_writer *writer, enum dni_column_encoding encoding,
                             const double *number, size_t n);
/* Bytes of one value. */
size_t dni_column_value_size(enum dni_column_encoding encoding);
/* n values back out of their bytes; has_missing: integers that stand for NaN become it. false: one is infinite. */
bool dni_column_read_values(const unsigned char *from, enum dni_column_encoding encoding,
                            bool has_missing, size_t n, double *out);

#endif
