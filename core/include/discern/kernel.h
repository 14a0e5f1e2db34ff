/* Kernels: inner products K(x, z) of rows in a feature space of many, or infinitely many,
 * dimensions.
 *
 * Rows are encoded rows (encoder.h), standardised if the encoder standardises. Rows of kernels of
 * texts contain an encoded text: a set of words or of label sequences, or a sequence of characters
 * (dn_text_weighting).
 *
 * Sources: Bishop, PRML, chapter 6; Schölkopf and Smola, Learning with Kernels, chapters 2 and
 * 13. */
#ifndef DISCERN_KERNEL_H
#define DISCERN_KERNEL_H

#include <discern/api.h>
#include <stdbool.h>
#include <stddef.h>

DN_BEGIN_DECLS

typedef enum dn_kernel_type {
    DN_KERNEL_LINEAR,       /* x'z */
    DN_KERNEL_POLYNOMIAL,   /* (gamma x'z + coef0)^degree */
    DN_KERNEL_RBF,          /* exp(−‖x − z‖²/(2 width²)) */
    DN_KERNEL_SIGMOID,      /* tanh(scale x'z + coef0); not positive semidefinite */
    DN_KERNEL_MAHALANOBIS,  /* exp(−½ (x − z)'S⁻¹(x − z)) */
    DN_KERNEL_DISTANCE,     /* exp(−D(x, z)/(2 width²)) */
    DN_KERNEL_SHARED_WORDS, /* |A ∩ B|, where A and B are the sets of words of two texts: x'z of
                             * rows of 0 and 1 */
    DN_KERNEL_SHARED_PATHS, /* Σ n_A n_B over the label sequences of two graphs A and B: x'z of
                             * rows of counts */
    DN_KERNEL_PRECOMPUTED   /* column j of row i of the table is K(x_i, x_j) */
} dn_kernel_type;

const char *dn_kernel_type_name(dn_kernel_type type); /* value of the parameter `kernel`, such as
                                                       * "shared_words" */

/* The distance D(x, z) used by DN_KERNEL_DISTANCE. */
typedef enum dn_metric {
    DN_METRIC_EUCLIDEAN, /* ‖x − z‖ */
    DN_METRIC_MANHATTAN, /* Σ|x_j − z_j| */
    DN_METRIC_CHEBYSHEV, /* max|x_j − z_j|; kernel not positive semidefinite for more than two
                          * columns */
    DN_METRIC_COSINE, /* 1 − x'z/(‖x‖‖z‖); if only one of x and z is 0: 1; if both are: 0 */
    /* Levenshtein distance of texts in Unicode characters; kernel not positive semidefinite */
    DN_METRIC_EDIT
} dn_metric;
const char *dn_kernel_metric_name(dn_metric metric); /* "manhattan" */

/* A kernel with its parameters. Members that the type does not use are ignored. */
typedef struct dn_kernel {
    dn_kernel_type type;
    dn_metric metric;    /* distance */
    double gamma, coef0; /* polynomial: both; sigmoid: coef0 */
    double scale;        /* sigmoid */
    double width;        /* rbf, distance: > 0 */
    unsigned degree;     /* polynomial: >= 1 */
    unsigned length;     /* shared_paths: maximum number of labels of a sequence */
    bool normalize;      /* use K(x, z)/√(K(x, x) K(z, z)) instead; 0 if K(x, x) or K(z, z) is not
                          * positive */
    /* mahalanobis: A [n_features × n_features] with A'A = S⁻¹, lower triangular, zeros above;
     * otherwise NULL */
    double *factor;
    size_t n_features; /* number of features of a row */
} dn_kernel;

/* Computes the covariance matrix S of a mahalanobis kernel. O(n_features³).
 *
 *   out, work  [n_features × n_features]; columns that the factor omits are 0 in `out` */
void dn_kernel_covariance(const dn_kernel *kernel, double *out, double *work);

DN_END_DECLS

#endif
