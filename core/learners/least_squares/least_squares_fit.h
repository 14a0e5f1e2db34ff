/* Declarations shared by the files of least squares.
 *
 *   S = 1 score for two classes, with target T = −1 or 1
 *   S = K scores otherwise, with T_k = 1 for the class of the row and 0 for the others
 *   f = a (Σ_t v_t ‖T_t − g(x_t)‖² / Σv + λ‖W‖²),   a = ½ for S = 1, 1 otherwise
 *
 * With two classes the outputs are y_2 = (1 + g)/2 and y_1 = (1 − g)/2, and f is the sum of the
 * objectives of both. The linear problem has the loss dni_loss_squares and the penalty λ/2:
 * its objective is f/2a. */
#ifndef DNI_LEAST_SQUARES_FIT_H
#define DNI_LEAST_SQUARES_FIT_H

#include "learners/shared/linear/linear_problem.h"
#include <discern/algorithm.h>

typedef struct dni_least_squares {
    const dn_fit_input *input;
    const dn_run *run;
    dn_report *report;
    double lambda;
    double share;               /* a */
    double tolerance;           /* of the iterative solvers */
    size_t max_iterations;      /* of the iterative solvers */
    dni_linear_problem problem; /* set up by the solver */
    double *original;           /* [S × width] the solution: weights and intercepts for x */
} dni_least_squares;

/* Maximum number of columns for the closed form; its matrix then takes 512 MiB. */
#define DNI_LEAST_SQUARES_MAX_COLS 8192

/* The solvers. Each sets up fit->problem, sets fit->original to the minimiser and fills in the
 * report; the caller releases the problem, also after a failure. */
/* The closed form. */
DN_MUST_USE dn_status dni_least_squares_solve(dni_least_squares *fit, dn_error *err);
double dni_least_squares_solve_bytes(const dn_fit_shape *shape);
/* Conjugate gradients. */
DN_MUST_USE dn_status dni_least_squares_conjugate(dni_least_squares *fit, dn_error *err);
double dni_least_squares_conjugate_bytes(const dn_fit_shape *shape);
/* Gradient descent. */
DN_MUST_USE dn_status dni_least_squares_descend(dni_least_squares *fit, dn_error *err);
double dni_least_squares_descend_bytes(const dn_fit_shape *shape);

/* ---- least_squares_report.c ---- */
/* Fills in the part of the report that all solvers share. The last pass over the rows must have
 * been at the solution. penalty: ‖W‖². */
void dni_least_squares_describe(dni_least_squares *fit, double penalty, const char *solver);
/* Sets up fit->problem. uses: flags of dni_linear_uses. */
DN_MUST_USE dn_status dni_least_squares_init(dni_least_squares *fit, const dni_moments *moments,
                                             unsigned uses, dn_error *err);

#endif
