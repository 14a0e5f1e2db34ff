/* Errors about the training rows that several methods report. Each function sets *err and returns
 * its status. */
#ifndef DNI_DATA_ERRORS_H
#define DNI_DATA_ERRORS_H

#include <discern/algorithm.h>

/* DN_ERR_DATA: the weights of the rows sum to `weight`, which is 0, negative or not finite. */
dn_status dni_error_weight_sum(double weight, dn_error *err);
/* DN_ERR_SOURCE: the source delivers dense and sparse blocks. */
dn_status dni_error_mixed_blocks(dn_error *err);
/* DN_ERR_NUMERIC: the squares of feature j overflow. */
dn_status dni_error_square_overflow(const dn_fit_input *input, size_t j, dn_error *err);
/* DN_ERR_DATA: all columns are constant. */
dn_status dni_error_all_constant(dn_error *err);

#endif
