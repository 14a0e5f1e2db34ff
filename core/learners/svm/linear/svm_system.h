/* The linear system of a Newton or interior-point step for the linear support vector machine.
 *
 *   (R + Σ c_i x̃_i x̃_iᵀ) Δv = b,   x̃ = [x, 1],   v = [w, w0],   R = diag(1, …, 1, 0 or 1)
 *
 * The last entry of R is 1 for a penalised intercept, otherwise 0. Without an intercept the last
 * equation is Δw0 = 0. */
#ifndef DNI_SVM_SYSTEM_H
#define DNI_SVM_SYSTEM_H

#include "base/layout.h"
#include "learners/svm/linear/svm_problem.h"

typedef struct dni_svm_system {
    const dni_svm_problem *svm;
    double *gram, *factor; /* [width × width] */
    double *scale;         /* [width] scaling of the columns of `factor` */
    /* [2 × width] shift and scale of dni_tile_expand: the means of dense columns, then ones. NULL:
     * columns are not shifted. */
    double *shift;
    double penalty; /* factor of w0²/2 in the objective: 0 or 1 */
} dni_svm_system;

/* Reserves the arrays of *system, a dni_svm_system. width: a size_t *. */
void dni_svm_system_layout(dni_layout *layout, const void *width, void *system);
/* Sets the other members. Dense columns are shifted if a mean is large compared with its deviation,
 * because differences of large products would lose digits. They are shifted only with a free
 * intercept, which compensates for the shift. */
void dni_svm_system_init(dni_svm_system *system, const dni_svm_problem *svm);

/* gram [width × width] += Σ c x̃ x̃ᵀ over the rows of a tile, lower triangle.
 *
 *   x     at most DNI_TILE_ROWS rows
 *   slot  slot->omega [x.n_rows] are the c >= 0; slot->z, slot->work and slot->omega are
 *         overwritten
 *
 * Rows with c = 0 cost nothing. */
DN_MUST_USE dn_status dni_svm_system_add(const dni_svm_system *system, dn_matrix x,
                                         const dni_svm_slot *slot, double *gram, dn_error *err);

/* system->gram ← system->gram + R. Without an intercept sets the last row to that of the
 * identity. */
void dni_svm_system_penalise(dni_svm_system *system);

/* b [width] ← p − R v, where the caller passes p = Σ α t x̃. */
void dni_svm_system_residual(const dni_svm_system *system, const double *p, const double *v,
                             double *b);

/* x [width] ← gram⁻¹ b. Overwrites b [width]. again: reuse the last factorisation. DN_ERR_NUMERIC
 * if the matrix is not finite. */
DN_MUST_USE dn_status dni_svm_system_solve(dni_svm_system *system, double *b, double *x, bool again,
                                           dn_error *err);

#endif
