/* Support vectors: the training rows with a dual variable α > 0 of a support vector machine
 * (algorithm "svm"), for each of its machines with two classes.
 *
 *   f(x) = Σ c_i K(x_i, x) + w0,   c_i = α_i t_i,   t_i = −1 in the first class, 1 in the second
 *
 * x is encoded, and standardised if the encoder standardises. Linear kernel: w = Σ c_i x_i for the
 * weights of encoded features, w_j/scale_j for those of raw features. Σ c_i is 0 if the intercept
 * is free, and w0 if it is penalised. The model stores rows of the training table by number, not
 * their values.
 *
 * Algorithm "one_class_svm": c_i = α_i, Σ α_i = 1, and the slack is max(0, −f(x)).
 *
 * Source: Cortes and Vapnik, Machine Learning 20, 1995; Bishop, PRML, section 7.1.1. */
#ifndef DISCERN_DUALS_H
#define DISCERN_DUALS_H

#include <discern/api.h>
#include <discern/model.h>
#include <stdbool.h>
#include <stddef.h>

DN_BEGIN_DECLS

/* A model with more support vectors in all its machines together does not store them. */
#define DN_MAX_DUALS 100000

/* One support vector. */
typedef struct dn_dual {
    size_t row;   /* index of the row in the training table */
    double coef;  /* c = α t */
    double slack; /* max(0, 1 − t f(x)); one_class_svm: max(0, −f(x)) */
    bool bounded; /* hinge loss: α is at its upper bound C v, where v is the weight of the row */
    bool inside;  /* slack > tolerance: inside the margin or beyond the surface; one_class_svm: an
                   * outlier. false: on the margin or surface */
} dn_dual;

/* The support vectors of one machine. */
typedef struct dn_duals {
    bool omitted; /* true: the model has more than DN_MAX_DUALS; n is 0 */
    size_t n;
    const dn_dual *items; /* [n] in ascending order of `row` */
    /* Linear kernel: the largest |w_j − Σ c_i x_ij| over the encoded features. It differs from 0
     * because the solver stops at a tolerance. Other kernels: 0 */
    double residual;
} dn_duals;

/* Returns the support vectors of machine i, which the model owns. NULL: the model is of another
 * algorithm, or was stored by a version of the library that stored no support vectors; or i >=
 * dn_model_n_machines. */
const dn_duals *dn_model_duals(const dn_model *model, size_t i);

DN_END_DECLS

#endif
