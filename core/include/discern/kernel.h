/* Kernels: inner products K(x, x') of rows in a space of many dimensions, or none. Bishop, PRML, chapter 6; Schölkopf and Smola, Learning with Kernels, chapters 2 and 13.
 *
 * Rows are encoded rows (encoder.h), standardised where the encoder standardises. Kernels of texts see them as rows too: a set of words, of label sequences, or a sequence of characters
 * (dn_text_weighting). */
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
    DN_KERNEL_SHARED_WORDS, /* |A ∩ B| of the words of two texts: x'z of rows of 0 and 1 */
    DN_KERNEL_SHARED_PATHS, /* Σ n_A n_B over the label sequences of two graphs: x'z of their counts */
    DN_KERNEL_PRECOMPUTED /* row i of the table holds K(x_i, x_j) at place j */
} dn_kernel_type;

const char *dn_kernel_type_name(dn_kernel_type type); /* as the parameter has it: "shared_words" */

/* D of DN_KERNEL_DISTANCE. */
typedef enum dn_metric {
    DN_METRIC_EUCLIDEAN, /* ‖x − z‖ */
    DN_METRIC_MANHATTAN, /* Σ|x_j − z_j| */
    DN_METRIC_CHEBYSHEV, /* max|x_j − z_j|; the kernel is not positive semidefinite for more than two columns */
    DN_METRIC_COSINE, /* 1 − x'z/(‖x‖‖z‖); a row of zeros is at distance 1 from all others, 0 from another row of zeros */
    DN_METRIC_EDIT /* Levenshtein distance of two texts, in characters of Unicode; the kernel is not positive semidefinite */
} dn_metric;
const char *dn_kernel_metric_name(dn_metric metric); /* "manhattan" */

/* A kernel with all that it needs. */
typedef struct dn_kernel {
    dn_kernel_type type;
    dn_metric metric;    /* distance */
    double gamma, coef0; /* polynomial; coef0 of sigmoid too */
    double scale;        /* sigmoid */
    double width;        /* rbf, distance: > 0 */
    unsigned degree;     /* polynomial: >= 1 */
    unsigned length;     /* shared_paths: most labels of a sequence */
    bool normalize;      /* K(x, z)/√(K(x, x) K(z, z)), 0 where one of them is not above 0 */
    double *
        factor; /* mahalanobis: A with A'A = S⁻¹, lower triangular, zeros above [n_features × n_features]; NULL otherwise */
    size_t n_features; /* columns of a row */
} dn_kernel;

/* S of a mahalanobis kernel: out [n_features × n_features], work likewise. A column that the factor leaves out has zeros. O(n_features³). */
void dn_kernel_covariance(const dn_kernel *kernel, double *out, double *work);

DN_END_DECLS

#endif
