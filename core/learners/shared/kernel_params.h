/* The parameters of a kernel, for every algorithm that has one. In the table they are `kernel`, its
 * type, and `kernel.degree` …; in JSON one object, {"type": "rbf", "width": 2}. */
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
        DNI_KERNEL_NUMBER("kernel.gamma", "polynomial: what x'z is multiplied with. auto: 1.",     \
                          "the gamma of exp(-gamma |x - z|^2) is width = 1/sqrt(2 gamma), that "   \
                          "of tanh(gamma x'z + coef0) is scale",                                   \
                          0, true),                                                                \
        DNI_KERNEL_NUMBER("kernel.coef0",                                                          \
                          "polynomial, sigmoid: what is added to the product. auto: 1.", NULL,     \
                          -(double)INFINITY, true),                                                \
        {.name = "kernel.degree",                                                                  \
         .type = DN_PARAM_INTEGER,                                                                 \
         .meaning = "polynomial: its degree.",                                                     \
         .default_number = 2,                                                                      \
         .minimum = 1,                                                                             \
         .maximum = 100},                                                                          \
        DNI_KERNEL_NUMBER("kernel.scale", "sigmoid: what x'z is multiplied with. auto: 2.", NULL,  \
                          -(double)INFINITY, true),                                                \
        DNI_KERNEL_NUMBER("kernel.width",                                                          \
                          "rbf, distance: how far a row's influence reaches, in the units of the " \
                          "encoded columns. auto: the median distance between "                    \
                          "at most 1000 of the training rows, each as often as it weighs. The "    \
                          "gamma of exp(-gamma |x - z|^2) is 1/(2 width^2).",                      \
                          NULL, 0, true),                                                          \
        {.name = "kernel.metric",                                                                  \
         .type = DN_PARAM_CHOICE,                                                                  \
         .meaning = "distance: which.",                                                            \
         .default_choice = "euclidean",                                                            \
         .synonyms = dni_kernel_metric_synonyms,                                                   \
         .choices = dni_kernel_metrics,                                                            \
         .choice_meanings = dni_kernel_metric_meanings},                                           \
        {.name = "kernel.length",                                                                  \
         .type = DN_PARAM_INTEGER,                                                                 \
         .meaning = "shared_paths: most labels of a path.",                                        \
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
                   "kernel's space. Where K(x, x) or "                                             \
                   "K(z, z) is not positive it is 0.",                                             \
        .default_number = 0                                                                        \
    }

/* The kernel that the checked parameters describe. Width and factor are 0 and NULL if they are
 * estimated from the data (width auto, mahalanobis). */
dn_kernel dni_kernel_of(const dn_params *params, size_t n_features);
/* The `applies` of an algorithm, for the rows of the table that belong to a kernel; true for all
 * others. */
bool dni_kernel_param_applies(const dn_params *params, size_t i);
/* Whether the kernel depends on the scale of the columns, and they can be standardised. */
bool dni_kernel_takes_scale(const dn_kernel *kernel);
/* What to change if all kernel values are nearly equal; NULL: the kernel has no such parameter. */
const char *dni_kernel_advice(const dn_kernel *kernel);
/* Checks the rules between the kernel's parameters that need no data; for an algorithm's
 * `check`. */
DN_MUST_USE dn_status dni_kernel_params_check(const dn_params *params, dn_error *err);
/* The `encoding` of a precomputed kernel: numeric columns, none missing, as many as the table has
 * rows, encoded as they are. */
DN_MUST_USE dn_status dni_precomputed_encoding(const dn_table_column *columns, size_t n_rows,
                                               dn_encoder_spec *spec, dn_error *err);
/* Replaces "auto" by its number where no data are needed. */
DN_MUST_USE dn_status dni_kernel_params_settle(dn_params *params, dn_error *err);
/* Checks a covariance: n × n numbers for n features, symmetric, positive definite. */
DN_MUST_USE dn_status dni_kernel_params_shape(const dn_params *params, size_t n_features,
                                              dn_error *err);
/* The `encoding` of an algorithm.
 *
 *   precomputed                  dni_precomputed_encoding
 *   shared_words, shared_paths,  one text column and nothing else; the kernel sets its encoding,
 *   distance with edit           and another encoding in `spec` is an error
 *   mahalanobis                  no text and no sparse column
 *   others                       texts as in `spec`
 *
 * Errors: DN_ERR_ARGUMENT with the field "kernel", or "text" for features.text. */
DN_MUST_USE dn_status dni_kernel_encoding(const dn_params *params, const dn_table_column *columns,
                                          size_t n_rows, dn_encoder_spec *spec, dn_error *err);

#endif
