/* Codings of the class targets of least squares. */
#include "learners/shared/linear/target_coding.h"
#include "catalogue/param_rows.h"

const char *const dni_target_codings[] = {"one_of_k", "plus_minus", "zero_one", NULL};
const char *const dni_target_coding_meanings[] = {
    "one output for each class, which fits 1 for the rows of the class and 0 for the others; the "
    "class with the greatest output is predicted. With two classes the model has one score, the "
    "difference of the outputs, which fits -1 and 1. With a free intercept the two outputs add up "
    "to 1, and the sum of their squared errors is half the squared error of the score",
    "one output for each class, which fits 1 for the rows of the class and -1 for the others. Two "
    "classes have one output, which fits -1 for the first and 1 for the second class; above 0 the "
    "second class is predicted",
    "as one_of_k, but two classes have one output y, which fits 0 for the first and 1 for the "
    "second class; above 1/2 the second class is predicted. The score of the model is y - 1/2: add "
    "1/2 to its intercept to get the intercept of y",
    NULL};

dni_target_coding dni_target_coding_of(const dn_params *params, size_t n_classes) {
    const bool two = n_classes == 2;
    dni_target_coding coding = {.scale = 1, .share = two ? 0.5 : 1};
    if (dni_params_is(params, "targets", "plus_minus")) {
        coding = two ? (dni_target_coding){.scale = 1, .share = 1}
                     : (dni_target_coding){.scale = 2, .shift = -1, .zero = 0.5, .share = 4};
    } else if (two && dni_params_is(params, "targets", "zero_one")) {
        coding = (dni_target_coding){.scale = 0.5, .zero = -1, .share = 0.25};
    }
    return coding;
}
