/* The parameters of a kernel, for every algorithm that uses a kernel. In the parameter table there
 * is a row `kernel` for the type and rows `kernel.degree` … for the rest. In JSON the parameters
 * are one object: {"type": "rbf", "width": 2}. */
#ifndef DNI_KERNEL_PARAMS_H
#define DNI_KERNEL_PARAMS_H

#include "catalogue/param_rows.h"
#include "kernels/kernel_impl.h"
#include <discern/algorithm.h>

/* Rows of a parameter table. */
extern const char *const dni_kernel_type_meanings[], *const dni_kernel_metric_meanings[];
extern const dn_synonym dni_kernel_type_synonyms[], dni_kernel_metric_synonyms[];
extern const char *const dni_kernel_covariances[], *const dni_kernel_covariance_meanings[];
#define DNI_KERNEL_NUMBER(id, text, other, low, open)                                              \
    {                                                                                              \
        .name = id, .type = DN_PARAM_NUMBER, .meaning = text, .hint = other, .default_number = 1,  \
        .default_choice = "auto", .minimum = low, .maximum = (double)INFINITY,                     \
        .open_minimum = open, .open_maximum = true, .word = "auto"                                 \
    }
#define DNI_PARAMS_KERNEL(standard)                                                                \
    {.name = "kernel",                                                                             \
     .type = DN_PARAM_CHOICE,                                                                      \
     .meaning = "The kernel K(x, z): its type, or an object of type and parameters.",              \
     .default_choice = standard,                                                                   \
     .synonyms = dni_kernel_type_synonyms,                                                         \
     .choices = dni_kernel_types,                                                                  \
     .choice_meanings = dni_kernel_type_meanings},                                                 \
        DNI_KERNEL_NUMBER("kernel.gamma", "polynomial: the factor of x'z. auto: 1.",               \
                          "the gamma of exp(-gamma |x - z|^2) is width = 1/sqrt(2 gamma), that "   \
                          "of tanh(gamma x'z + coef0) is scale",                                   \
                          0, true),                                                                \
        DNI_KERNEL_NUMBER("kernel.coef0",                                                          \
                          "polynomial, sigmoid: the constant added to the product. auto: 1.",      \
                          NULL, -(double)INFINITY, true),                                          \
        {.name = "kernel.degree",                                                                  \
         .type = DN_PARAM_INTEGER,                                                                 \
         .meaning = "polynomial: its degree.",                                                     \
         .default_number = 2,                                                                      \
         .minimum = 1,                                                                             \
         .maximum = 100},                                                                          \
        DNI_KERNEL_NUMBER("kernel.scale", "sigmoid: the factor of x'z. auto: 2.", NULL,            \
                          -(double)INFINITY, true),                                                \
        DNI_KERNEL_NUMBER(                                                                         \
            "kernel.width",                                                                        \
            "rbf, distance: how far a row's influence reaches, in the units of the "               \
            "encoded columns. auto for rbf: the root of half the sum of the columns' "             \
            "variances, sqrt(d/2) for d standardised columns; auto for distance: "                 \
            "the root of the median distance between at most 1000 of the training rows, where a "  \
            "row of weight v counts as v rows. The "                                               \
            "gamma of exp(-gamma |x - z|^2) is 1/(2 width^2).",                                    \
            NULL, 0, true),                                                                        \
        {.name = "kernel.metric",                                                                  \
         .type = DN_PARAM_CHOICE,                                                                  \
         .meaning = "distance: the metric D.",                                                     \
         .default_choice = "euclidean",                                                            \
         .synonyms = dni_kernel_metric_synonyms,                                                   \
         .choices = dni_kernel_metrics,                                                            \
         .choice_meanings = dni_kernel_metric_meanings},                                           \
        {.name = "kernel.length",                                                                  \
         .type = DN_PARAM_INTEGER,                                                                 \
         .meaning = "shared_paths: the maximum number of labels of a path.",                       \
         .default_number = 3,                                                                      \
         .minimum = 1,                                                                             \
         .maximum = 8},                                                                            \
        {.name = "kernel.covariance",                                                              \
         .type = DN_PARAM_LIST,                                                                    \
         .meaning = "mahalanobis: the covariance matrix S of the features, a list of rows, in "    \
                    "the units of the raw columns; or estimated.",                                 \
         .default_choice = "estimated",                                                            \
         .minimum = -(double)INFINITY,                                                             \
         .maximum = (double)INFINITY,                                                              \
         .choices = dni_kernel_covariances,                                                        \
         .choice_meanings = dni_kernel_covariance_meanings,                                        \
         .matrix = true},                                                                          \
    {                                                                                              \
        .name = "kernel.normalize", .type = DN_PARAM_BOOLEAN,                                      \
        .meaning = "Divide K(x, z) by the root of K(x, x) K(z, z): every row has length 1 in the " \
                   "kernel's space. If K(x, x) or K(z, z) is not positive, the value is 0.",       \
        .default_number = 0                                                                        \
    }

/* Stands for the width "auto" of rbf under DN_RULES_FIRST, until the width is estimated. */
#define DNI_KERNEL_MEDIAN_WIDTH (-1.0)

/* Returns the kernel that the checked parameters describe. The width is 0 or
 * DNI_KERNEL_MEDIAN_WIDTH, and the factor is NULL, if they are estimated from the data (width auto,
 * mahalanobis). */
dn_kernel dni_kernel_of(const dn_params *params, size_t n_features);
/* Implements dn_algorithm.applies for the kernel's rows of the parameter table. Returns true for
 * all other rows. */
bool dni_kernel_param_applies(const dn_params *params, size_t i);
/* True if the kernel depends on the scale of the columns and the columns can be standardised. */
bool dni_kernel_takes_scale(const dn_kernel *kernel);
/* Returns, for messages, the parameter to change if all kernel values are nearly equal; NULL if the
 * kernel has no such parameter. */
const char *dni_kernel_advice(const dn_kernel *kernel);
/* Checks the rules between parameters of the kernel that do not depend on the data. For use in
 * dn_algorithm.check. */
DN_MUST_USE dn_status dni_kernel_params_check(const dn_params *params, dn_error *err);
/* Implements dn_algorithm.encoding for a precomputed kernel: as many numeric columns as rows,
 * without missing values, which are not standardised. */
DN_MUST_USE dn_status dni_precomputed_encoding(const dn_table_column *columns, size_t n_rows,
                                               dn_encoder_spec *spec, dn_error *err);
/* Replaces the value "auto" of kernel parameters by a number, where the number does not depend on
 * the data. */
DN_MUST_USE dn_status dni_kernel_params_resolve(dn_params *params, dn_error *err);
/* Checks the parameter kernel.covariance: n_features² numbers, symmetric, positive definite. */
DN_MUST_USE dn_status dni_kernel_params_shape(const dn_params *params, size_t n_features,
                                              dn_error *err);
/* Implements dn_algorithm.encoding: sets or checks the encoding that the kernel needs.
 *
 *   precomputed                  dni_precomputed_encoding
 *   shared_words, shared_paths,  one text column and nothing else; the kernel sets its encoding,
 *   distance with edit           and another encoding in `spec` is an error
 *   mahalanobis                  text columns and sparse columns are errors
 *   others                       `spec` is not changed
 *
 * Errors: DN_ERR_ARGUMENT. The field is "text" for an error in features.text, otherwise
 * "kernel". */
DN_MUST_USE dn_status dni_kernel_encoding(const dn_params *params, const dn_table_column *columns,
                                          size_t n_rows, dn_encoder_spec *spec, dn_error *err);

#endif
