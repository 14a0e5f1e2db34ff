/* Predictions as CSV. Private to the writer of predictions. */
#ifndef FORMATS_PREDICTIONS_CSV_H
#define FORMATS_PREDICTIONS_CSV_H

#include "formats/formats.h"

void predictions_put_class(const struct predictions_writer *p,
                           size_t k); /* writes class k as JSON or as a cell, by the format */
/* Writes the header and sets the number of columns. */
void predictions_csv_header(struct predictions_writer *p, const dn_prediction *will);
void predictions_csv_row(struct predictions_writer *p, const dn_prediction *rows, size_t i);

#endif
