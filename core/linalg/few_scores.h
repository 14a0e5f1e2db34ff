/* Products of a tile of dense rows with the weights of a few classes. A matrix product of BLAS
 * packs the rows once more for so few columns; these loops read the rows where they are. */
#ifndef DNI_FEW_SCORES_H
#define DNI_FEW_SCORES_H

#include <discern/matrix.h>
#include <stdbool.h>
#include <stddef.h>

#define DNI_FEW_SCORES 16 /* maximum number of scores */

/* Returns whether the processor has the instructions (AVX2 and FMA) for the functions below. */
bool dni_few_scores_supported(void);

/* scores [x.n_rows × n_scores] += x wᵀ
 *
 *   x         dense
 *   w         [n_scores × width] the first x.n_cols numbers of each row are used
 *   n_scores  2 … DNI_FEW_SCORES
 *
 * The scores of a row do not depend on the other rows. */
void dni_few_scores(dn_matrix x, const double *w, size_t width, size_t n_scores, double *scores);
/* w [n_scores × width] += residualᵀ x for residual [x.n_rows × n_scores]; otherwise as
 * dni_few_scores. The order of the additions depends only on x.n_rows. */
void dni_few_gradient(dn_matrix x, const double *residual, size_t n_scores, double *w,
                      size_t width);

#endif
