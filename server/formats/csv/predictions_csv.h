/* Predictions as CSV. Private to the writer of predictions. */
#ifndef WIRE_PREDICTIONS_CSV_H
#define WIRE_PREDICTIONS_CSV_H

#include "formats/formats.h"

void predictions_put_class(const struct wire_predictions *p, size_t k); /* as JSON, or as a cell */
/* The header; counts the columns. */
void predictions_csv_header(struct wire_predictions *p, const dn_prediction *will);
void predictions_csv_row(struct wire_predictions *p, const dn_prediction *rows, size_t i);

#endif
