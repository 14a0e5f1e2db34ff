/* Writes predictions as CSV or TSV. Private to the writer of predictions. */
#ifndef FORMATS_PREDICTIONS_CSV_H
#define FORMATS_PREDICTIONS_CSV_H

#include "formats/formats.h"

/* Writes class k: as JSON in JSON answers, otherwise as a cell. */
void predictions_put_class(const struct predictions_writer *p, size_t k);
/* Writes the header and sets the number of columns. */
void predictions_csv_header(struct predictions_writer *p, const dn_prediction *will);
void predictions_csv_row(struct predictions_writer *p, const dn_prediction *rows, size_t i);

#endif
