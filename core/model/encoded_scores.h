/* Scores of raw rows by machines that stay in the encoded space: the rows are encoded, and
 * standardised where the encoder standardises, tile by tile. */
#ifndef DNI_ENCODED_SCORES_H
#define DNI_ENCODED_SCORES_H

#include "model/model_impl.h"

#define DNI_ENCODED_ROWS 64 /* maximum number of rows in a tile */

/* Bytes of work for dni_encoded_scores; does not depend on the number of rows. */
size_t dni_encoded_scores_bytes(const dn_model *model);
/* Computes scores [n × n_scores] of the raw rows first … first + n − 1. Returns n, which is
 * 1 … DNI_ENCODED_ROWS; requires first < rows.n. The scores of a row do not depend on other rows.
 * */
size_t dni_encoded_scores(const dn_model *model, dn_raw_rows rows, size_t first, double *scores,
                          void *work);

#endif
