/* Errors about the training rows. */
#include "learners/shared/data_errors.h"
#include "catalogue/report.h"

dn_status dni_error_weight_sum(double weight, dn_error *err) {
    return dn_error_set(err, DN_ERR_DATA,
                        "the weights of the rows must have a positive, finite sum (got %g)",
                        weight);
}

dn_status dni_error_mixed_blocks(dn_error *err) {
    return dn_error_set(err, DN_ERR_SOURCE, "the rows mix dense and sparse blocks");
}

dn_status dni_error_square_overflow(const dn_fit_input *input, size_t j, dn_error *err) {
    char name[DN_FIELD_SIZE];
    dni_feature_name(input, j, name);
    return dn_error_set(err, DN_ERR_NUMERIC,
                        "feature \"%s\" has values so large that their squares overflow: "
                        "standardise the columns, or divide it by a power of ten",
                        name);
}

dn_status dni_error_all_constant(dn_error *err) {
    return dn_error_set(err, DN_ERR_DATA,
                        "every column is constant in the training rows: no method can separate the "
                        "classes");
}
