/* Declarations shared by the files of least squares.
 *
 *   S = 1 score for two classes, with target T = −1 or 1
 *   S = K scores otherwise, with T_k = 1 for the class of the row and 0 for the others
 *   f = a (Σ_t v_t ‖T_t − g(x_t)‖² / Σv + λ‖W‖²)
 *
 * A penalised intercept b adds aλ‖b − o‖², o the value of g for the output y = 0; without an
 * intercept b = o. Given w, the best intercept is
 *
 *   b = o + (1 − κ)(T̄ − o − mᵀw),   κ = 0 (free), λ/(1 + λ) (penalised), 1 (none)
 *
 * With this b, f as a function of w is that of centred rows, T − T̄ and x − m, and one more row √κ
 * m with the target √κ (T̄ − o), where the rows have the weights v/Σv and the new row has 1.
 *
 * The solvers compute with these targets for every coding of the parameter "targets". The model has
 * the scores cg + b; c, b and a are those of target_coding.h. f is the objective of the coding:
 * with two classes and targets one_of_k the outputs are y_2 = (1 + g)/2 and y_1 = (1 − g)/2, and f,
 * with a = ½, is the sum of the objectives of both. The linear problem has the loss
 * dni_loss_squares and the penalty λ/2: its objective is f/2a. */
#ifndef DNI_LEAST_SQUARES_FIT_H
#define DNI_LEAST_SQUARES_FIT_H

#include "learners/shared/linear/linear_problem.h"
#include "learners/shared/linear/target_coding.h"
#include <discern/algorithm.h>

typedef struct dni_least_squares {
    const dn_fit_input *input;
    const dn_run *run;
    dn_report *report;
    double lambda; /* λ; for "auto", a provisional positive number before dni_least_squares_init */
    dni_target_coding coding;
    dni_intercept intercept;    /* penalised only with λ > 0 */
    double share;               /* κ; set by dni_least_squares_init */
    double tolerance;           /* used by the iterative solvers only */
    size_t max_iterations;      /* used by the iterative solvers only */
    dni_linear_problem problem; /* set up by the solver */
    double *original;           /* [S × width] the solution g: weights and intercepts for x */
} dni_least_squares;

/* Maximum number of columns for the closed form; its matrix then takes 512 MiB. */
#define DNI_LEAST_SQUARES_MAX_COLS 8192

/* The solvers. Each sets up fit->problem, sets fit->original to the minimiser and fills in the
 * report; the caller releases the problem, also after a failure. */
/* The closed form. */
DN_MUST_USE dn_status dni_least_squares_solve(dni_least_squares *fit, dn_error *err);
double dni_least_squares_solve_bytes(double lambda, const dn_fit_shape *shape);
/* The closed form for lambda = 0 and a shape for which dni_row_space_applies is true. */
DN_MUST_USE dn_status dni_least_squares_solve_wide(dni_least_squares *fit, dn_error *err);
double dni_least_squares_solve_wide_bytes(const dn_fit_shape *shape);
/* Conjugate gradients. */
DN_MUST_USE dn_status dni_least_squares_conjugate(dni_least_squares *fit, dn_error *err);
double dni_least_squares_conjugate_bytes(double lambda, const dn_fit_shape *shape);
/* Gradient descent. */
DN_MUST_USE dn_status dni_least_squares_descend(dni_least_squares *fit, dn_error *err);
double dni_least_squares_descend_bytes(double lambda, const dn_fit_shape *shape);

/* ---- least_squares_rank.c: dependent columns, for lambda = 0 ---- */
/* If any column is marked, adds the warning that the weights are not unique, with the names of the
 * marked columns. */
void dni_least_squares_warn_of_rank(dni_least_squares *fit, const bool *marked);
/* Calls dni_linear_null_space for the rows of the fit. */
DN_MUST_USE dn_status dni_least_squares_null_space(dni_least_squares *fit,
                                                   const dni_moments *moments, size_t *out_n,
                                                   double **out_null, dn_error *err);
double dni_least_squares_null_space_bytes(const dn_fit_shape *shape);
/* If lambda is 0: looks for dependent columns after an iterative solver, and adds the warning that
 * names them.
 *
 *   changed  *changed ← true if fit->original was replaced by the weights of least norm; NULL: it
 *            must not be replaced */
DN_MUST_USE dn_status dni_least_squares_check(dni_least_squares *fit, const dni_moments *moments,
                                              bool *changed, dn_error *err);
double dni_least_squares_check_bytes(double lambda, const dn_fit_shape *shape);

/* ---- least_squares_report.c ---- */
/* Fills in the part of the report that all solvers share. The last pass over the rows must have
 * been at the solution in fit->original. */
void dni_least_squares_describe(dni_least_squares *fit, const char *solver);
/* Returns the Euclidean norm of ∇f with respect to the weights and intercepts of cg + b. gradient:
 * [S × width] gradient of Σ v ½(T − g)² with respect to fit->original. */
double dni_least_squares_gradient_norm(const dni_least_squares *fit, const double *gradient);
/* Returns o + (1 − κ)(target − o), the best intercept of a score for weights with mᵀw = 0. target:
 * T̄ of the score. */
double dni_least_squares_base(const dni_least_squares *fit, double target);
/* Returns the factor that turns ∇(f/2a) into ∇f with respect to the weights and intercepts of cg +
 * b. */
double dni_least_squares_slope(const dni_least_squares *fit);
/* Like dni_linear_report_progress; a snapshot has the weights and intercepts of cg + b. */
void dni_least_squares_report_progress(const dni_least_squares *fit, const dn_run *run,
                                       const double *table, double *raw, dn_progress *progress);
/* Sets fit->lambda and fit->share, and prepares fit->problem. uses: flags of dni_linear_uses. */
DN_MUST_USE dn_status dni_least_squares_init(dni_least_squares *fit, const dni_moments *moments,
                                             unsigned uses, dn_error *err);

#endif
