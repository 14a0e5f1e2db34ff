/* Computes from a scatter matrix the Cholesky factor of the correlations and the inverse Cholesky
 * factor of the covariance. The latter is used by Gaussian densities and the Mahalanobis
 * distance. */
#ifndef DNI_COVARIANCE_H
#define DNI_COVARIANCE_H

#include "learners/shared/scatter.h"

/* Result for a singular matrix. */
typedef struct dni_singular {
    bool found;       /* the matrix is singular */
    char reason[512]; /* for messages: what is singular, and its columns */
} dni_singular;

/* Input of dni_correlation_factor: a scatter matrix. */
typedef struct dni_correlation {
    const dn_fit_input *input; /* used for column names in messages */
    const dn_run *run;
    const double *scatter; /* [d × d] lower triangle */
    size_t d;
    const bool *constant; /* [d] columns left out: R has a row of the identity there */
    bool *marked;         /* [d] scratch */
    double shrinkage;     /* 0 … 1 (shrinkage.h) */
    size_t n_rows;      /* the scatter is a sum of squares of this many centred rows; 0: unknown */
    const char *matrix; /* for messages: name of the matrix, such as "the covariance of class a" */
    const char *remedy; /* for messages: remedy if R is singular; NULL: set or raise shrinkage */
    /* receives the reason if R is singular, which is then not an error; NULL: a singular R is an
     * error */
    dni_singular *singular;
} dni_correlation;

/* r [d × d] ← L with L Lᵀ = R, the shrunk correlation matrix. R is singular if an eigenvalue is at
 * most 1e-10 of the largest one, or, without shrinkage, if there are more than 256 columns and at
 * most as many rows as columns.
 *
 * Errors
 *   DN_ERR_DATA     R is singular; the message names columns
 *   DN_ERR_NUMERIC  R is not positive definite to working precision
 *   and those of dn_run_alloc and dn_run_stop
 *
 * Cost: O(d³/3), and 5/3 d³ more if R is nearly singular. */
DN_MUST_USE dn_status dni_correlation_factor(const dni_correlation *c, double *r, dn_error *err);
/* Upper bound of the bytes of working memory of dni_correlation_factor for d columns, unless it
 * computes all eigenvectors at once. */
double dni_correlation_memory(size_t d);

/* Input of dni_covariance_whiten: a covariance Σ and what messages say about it. */
typedef struct dni_covariance_task {
    const dn_fit_input *input;
    const dn_run *run;
    const dni_scatter *scatter; /* of any kind */
    size_t k;                   /* index of the class; SIZE_MAX: the pooled scatter */
    const bool *constant;       /* [d] columns left out; set by dni_scatter_constants */
    double divisor;             /* Σ = S / divisor, > 0 */
    size_t n_rows;              /* as in dni_correlation */
    double shrinkage;           /* 0 … 1 (shrinkage.h) */
    const double *matrix; /* [d × d] lower triangle, replaces the scatter; NULL: the scatter */
    const char *whose;    /* follows "the covariance" in messages; NULL: depends on k */
    const char *remedy;   /* for messages: remedy if Σ is singular; NULL: set or raise shrinkage */
    dni_singular *singular; /* as in dni_correlation; {0} before the call */
} dni_covariance_task;

/* Computes A with AᵀA = Σ⁻¹ for the pooled scatter or the scatter of one class.
 *
 *   whiten   [d × d] ← A, lower triangular, zeros above; the rows and columns of features that are
 *            left out are 0
 *   log_det  ← ln|Σ| of the features that are not left out
 *
 * Errors: DN_ERR_DATA if a column is constant in these rows only, or if all rows of the class are
 * equal; and those of dni_correlation_factor. The message names the columns. */
DN_MUST_USE dn_status dni_covariance_whiten(const dni_covariance_task *task, double *whiten,
                                            double *log_det, dn_error *err);
/* Like dni_covariance_whiten for a diagonal scatter: whiten [d] ← 1/σ of class k. */
DN_MUST_USE dn_status dni_covariance_whiten_diagonal(const dni_covariance_task *task,
                                                     double *whiten, double *log_det,
                                                     dn_error *err);
/* Maximum bytes of working memory of dni_covariance_whiten and dni_covariance_whiten_diagonal,
 * without their results. */
double dni_covariance_memory(dni_scatter_kind kind, size_t n_features);

#endif
