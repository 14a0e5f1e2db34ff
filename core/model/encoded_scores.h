/* Scores of raw rows by machines that need encoded rows. The rows are encoded, and standardised if
 * the encoder standardises, tile by tile. */
#ifndef DNI_ENCODED_SCORES_H
#define DNI_ENCODED_SCORES_H

#include "model/model_impl.h"

#define DNI_ENCODED_ROWS 64 /* maximum number of rows in a tile */

/* Returns the bytes of `work` for dni_encoded_scores; they do not depend on the number of rows. */
size_t dni_encoded_scores_bytes(const dn_model *model);
/* Computes scores [n × n_scores] of the raw rows first … first + n − 1, where the function chooses
 * n from 1 to DNI_ENCODED_ROWS. Returns n. Requires first < rows.n. The scores of a row do not
 * depend on other rows. */
size_t dni_encoded_scores(const dn_model *model, dn_raw_rows rows, size_t first, double *scores,
                          void *work);

#endif
