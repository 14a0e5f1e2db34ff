/* Linear support vector machines with fewer rows than features: the rows are replaced by n
 * coordinates with the same inner products.
 *
 *   X Xᵀ = L Lᵀ,   L [n × rank]
 *
 * The problem depends on the rows only through X Xᵀ, and w is a combination of the rows, Σ β_i x_i.
 * With the rows l_i of L in place of x_i the dual solution α is the same, and w is Σ β_i l_i. The
 * result is certified with the rows x_i.
 *
 * Source: Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, section 18.3.5. */
#ifndef DNI_SVM_WIDE_H
#define DNI_SVM_WIDE_H

#include "learners/svm/linear/svm_problem.h"

typedef struct dni_svm_wide {
    dni_svm_problem *svm; /* the problem of the rows x_i */
    dn_fit_input input;   /* the problem of the rows l_i */
    void *memory;
    double *gram;     /* [n × n] X Xᵀ, lower triangle */
    double *factor;   /* [n × rank] L */
    double *diagonal; /* [n] diagonal of X Xᵀ − L Lᵀ */
    bool *chosen;     /* [n] rows that are pivots or have weight 0 */
    size_t *pivot;    /* [rank] the pivot rows, in the order of the columns of L */
    size_t rank;
    double *coef;            /* [n] coefficients β of w, with the sign t */
    double *v;               /* [d + 1] solution */
    double *target, *weight; /* [n] */
    double *vectors;         /* [n_slots × vector_size(d)] working memory */
    double *work;            /* [2n] working memory of dni_svm_certify */
    dn_rows *rows;           /* L as rows */
} dni_svm_wide;

/* Computes the coordinates. The caller calls dni_svm_wide_done also after a failure.
 *
 * Cost: O(n² d) for dense rows, O(n entries) for sparse rows, and O(n³). */
DN_MUST_USE dn_status dni_svm_wide_init(dni_svm_wide *wide, dni_svm_problem *svm, dn_error *err);
/* wide->svm ← the solution with α of `inner`, the problem of the rows l_i after its solver. *out
 * is the solution of `inner`, and becomes that of wide->svm. */
DN_MUST_USE dn_status dni_svm_wide_take(dni_svm_wide *wide, const dni_svm_problem *inner,
                                        dni_svm_solution *out, dn_error *err);
void dni_svm_wide_done(dni_svm_wide *wide);

/* Bytes of working memory, without the problem of the rows l_i. */
double dni_svm_wide_memory(size_t n_rows, size_t n_features, size_t n_slots);

#endif
