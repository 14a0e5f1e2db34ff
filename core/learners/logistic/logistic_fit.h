/* Declarations shared by the files of logistic regression. */
#ifndef DNI_LOGISTIC_FIT_H
#define DNI_LOGISTIC_FIT_H

#include "learners/logistic/logistic_plan.h"
#include "learners/logistic/logistic_separation.h"

/* Arrays of a fit; their layout depends on the plan. */
typedef struct dni_logistic_arrays {
    double *x;     /* [n] the point */
    double *spare; /* [n] working memory */
    double *raw;   /* [n_scores × n_cols], then [n_scores]: weights, intercepts of a snapshot */
    bool *growing; /* [n_cols] columns of the separating direction */
    double *direction; /* [n] a separating direction; only with plan.certifies */
    double *diagonal;  /* [width] diagonal of the metric of L-BFGS; NULL: no metric */
    double *metric;    /* [width × width] Cholesky factor of the metric; NULL: use `diagonal` */
    double *hessian;   /* [width × width] for the condition number; only with plan.conditions */
    double *irls_weights, *irls_response; /* [n_irls] a number per row and iteration; NULL: none */
} dni_logistic_arrays;

typedef struct dni_logistic_fit {
    const dn_fit_input *input;
    const dn_run *run;
    dn_report *report;
    dni_logistic_plan plan;
    dni_moments moments;
    dni_linear_problem problem;
    dni_logistic_arrays arrays;
    void *memory; /* owns the arrays */
    /* [n_null × n_cols] basis of the combinations of columns that no score depends on; owned. */
    double *null_basis;
    size_t n_null;
    /* values at the last accepted point: */
    double measure;       /* largest component of the (sub)gradient in standardised variables */
    double gradient_norm; /* Euclidean norm of the (sub)gradient in the original variables */
    double loss;          /* Σ v ℓ */
    double first_measure; /* `measure` at the start; 0 until then */
    double first_norm;    /* `gradient_norm` at the start */
    double fraction;      /* progress reported so far, 0 … 1; never decreases */
    dn_progress last;     /* the last report; its iteration is 0 before the first */
    double last_step;     /* largest component of the previous step; 0: none */
    /* used only without a penalty: */
    double norm_bound; /* separation is checked when the norm of the weights exceeds this */
    size_t n_checks;   /* calls of dni_separation_check */
    size_t next_check; /* iteration before which separation is not checked again */
    dni_separation separation;
    bool polishing;        /* Newton steps after L-BFGS are running */
    size_t base_iteration; /* number of iterations of L-BFGS before the Newton steps */
    double condition;  /* condition number of the last Hessian; INFINITY: singular; 0: unknown */
    size_t n_hessians; /* number of Hessians whose IRLS weights and responses are stored */
    /* Fit of coordinates (logistic_wide.c): reports progress in place of
     * dni_linear_report_progress; else NULL. */
    void (*report_coordinates)(struct dni_logistic_fit *fit, dn_progress *progress);
    void *coordinates;
} dni_logistic_fit;

/* ---- logistic_fit.c ---- */
/* Implements dn_algorithm.fit. */
dn_status dni_logistic_run(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                           dn_report *report, dn_error *err);
/* Implements dn_algorithm.memory. */
double dni_logistic_fit_bytes(const dn_params *params, const dn_fit_shape *shape);

/* ---- logistic_solver.c ---- */
/* Runs the solver from x, and checks separation if it does not reach its tolerance. x: solver's
 * variables. */
DN_MUST_USE dn_status dni_logistic_solve(dni_logistic_fit *fit, double *x, dni_outcome *outcome,
                                         dn_error *err);
/* Bytes that dni_logistic_solve allocates. */
double dni_logistic_solver_bytes(const dni_logistic_plan *plan, size_t n_rows);

/* ---- logistic_wide.c: at most as many rows as columns, without a penalty ---- */
/* Like dni_logistic_solve, for a plan with `wide`: x ← the minimiser whose original weights have
 * the least norm. Adds a warning that names the columns that are not independent. */
DN_MUST_USE dn_status dni_logistic_solve_wide(dni_logistic_fit *fit, double *x,
                                              dni_outcome *outcome, dn_error *err);
/* Like dni_logistic_check_result, for a plan with `check_wide`. */
DN_MUST_USE dn_status dni_logistic_check_wide(dni_logistic_fit *fit, double *x, bool *changed,
                                              dn_error *err);
/* Bytes that dni_logistic_solve_wide or dni_logistic_check_wide allocates. */
double dni_logistic_wide_bytes(const dni_logistic_plan *plan, const dn_fit_shape *shape);

/* ---- logistic_progress.c: stopping, progress, and the search for separable classes ---- */
/* Layout of dni_logistic_arrays for a dni_logistic_plan. */
void dni_logistic_layout(dni_layout *layout, const void *plan, void *arrays);
/* Returns the objective for a solver. It keeps a pointer to `fit`. */
dni_objective dni_logistic_objective(dni_logistic_fit *fit);
/* Sets measure, gradient_norm and loss from the last evaluation. */
void dni_logistic_take_measure(dni_logistic_fit *fit);
/* True if it is proved that there is no minimum. */
bool dni_logistic_found_separable(const dni_logistic_fit *fit);
/* Checks separation at x, the last point of a solver that did not reach its tolerance, unless the
 * answer is known. Sets fit->separation, and outcome->reason if the classes are separable and the
 * solver had made no progress. */
DN_MUST_USE dn_status dni_logistic_check_separation(dni_logistic_fit *fit, const double *x,
                                                    dni_outcome *outcome, dn_error *err);
/* Marks in arrays.growing the columns with the largest standardised weights in a direction,
 * solver's variables; none if `direction` is NULL. */
void dni_logistic_mark_growing(dni_logistic_fit *fit, const double *direction);
/* Sets converged and stop_reason of the report, and adds the warnings. */
void dni_logistic_report_end(dni_logistic_fit *fit, const dni_outcome *outcome);

/* ---- logistic_irls.c: condition number and IRLS quantities of a Newton step ---- */
/* Sets fit->condition and the next weights and responses of IRLS from the Hessian at the point of
 * problem.table. hessian: [n × n], lower triangle, of dni_linear_hessian. */
DN_MUST_USE dn_status dni_logistic_note_hessian(dni_logistic_fit *fit, const double *hessian,
                                                dn_error *err);
/* Adds the weights and responses of IRLS to the report, if any are stored. */
void dni_logistic_report_irls(dni_logistic_fit *fit);

/* ---- logistic_check.c: the check that follows a descent without a penalty ---- */
/* Looks for dependent columns; if there are any, adds a warning, sets x to the weights of least
 * norm, and *changed to true. Sets fit->separation if the classes are separable. Does nothing if
 * plan.check_uses is 0 and plan.check_wide is not set. */
DN_MUST_USE dn_status dni_logistic_check_result(dni_logistic_fit *fit, double *x, bool *changed,
                                                dn_error *err);
/* Bytes that dni_logistic_check_result allocates. */
double dni_logistic_check_bytes(const dni_logistic_plan *plan, const dn_fit_shape *shape);

/* ---- logistic_metric.c: uses of the correlation matrix of the features ---- */
/* True if a fit with this plan looks for dependent columns before the solver. */
bool dni_logistic_decomposes(const dni_logistic_plan *plan);
/* If any column is marked, adds the warning that the weights are not unique, with the names of the
 * marked columns. */
void dni_logistic_warn_of_rank(dni_logistic_fit *fit, const bool *marked);
/* Computes null_basis, adds a warning that names its columns, and makes the Hessian definite in its
 * directions. */
DN_MUST_USE dn_status dni_logistic_find_rank(dni_logistic_fit *fit, dn_error *err);
/* x ← the minimiser whose original weights have the least norm; intercepts are not in the norm.
 * Overwrites null_basis. */
DN_MUST_USE dn_status dni_logistic_least_norm(dni_logistic_fit *fit, double *x, dn_error *err);
/* Computes the metric of L-BFGS: arrays.diagonal and arrays.metric. */
DN_MUST_USE dn_status dni_logistic_make_metric(dni_logistic_fit *fit, dn_error *err);
/* v ← M⁻¹v; ctx is the fit. */
void dni_logistic_precondition(void *ctx, double *v);

#endif
