/* Scores of raw rows by machines that stay in the encoded space: the rows are encoded, and
 * standardised where the encoder standardises, tile by tile. */
#ifndef DNI_ENCODED_SCORES_H
#define DNI_ENCODED_SCORES_H

#include "model/model_impl.h"

#define DNI_ENCODED_ROWS 64 /* rows of a tile at most */

/* Doubles of work for dni_encoded_scores; does not depend on the number of rows. */
size_t dni_encoded_scores_work(const dn_model *model);
/* scores [… × n_scores] of raw rows from `first` on, at most DNI_ENCODED_ROWS of them. Returns the
 * number of rows scored, at least one. A row's scores depend on it alone. */
size_t dni_encoded_scores(const dn_model *model, dn_raw_rows rows, size_t first, double *scores,
                          double *work);

#endif
