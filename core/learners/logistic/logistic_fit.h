/* One fit of logistic regression: what its files share. */
#ifndef DNI_LOGISTIC_FIT_H
#define DNI_LOGISTIC_FIT_H

#include "learners/logistic/logistic_plan.h"

/* Arrays of a fit; their layout depends on the plan. */
typedef struct dni_logistic_arrays {
    double *x;        /* [n] the point */
    double *spare;    /* [n] */
    double *raw;      /* [n_scores × n_cols] and [n_scores]: weights of a snapshot */
    bool *growing;    /* [n_cols] columns whose weight grew most in the last step */
    double *diagonal; /* [width] of the metric of L-BFGS; otherwise NULL */
    double *metric;   /* [width × width] its Cholesky factor; NULL: only the diagonal is used */
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
    /* Combinations of columns that no score depends on, [n_null × n_cols]; owned. */
    double *null_basis;
    size_t n_null;
    /* the last accepted point */
    double measure;       /* largest component of the (sub)gradient in standardised variables */
    double gradient_norm; /* its Euclidean norm in the stated variables */
    double first_measure; /* both at the start; 0 before */
    double first_norm;
    double fraction;  /* of progress, never decreasing */
    double last_step; /* size of the step before; 0: there was none */
    /* without a penalty */
    double norm_bound; /* weights of a larger norm grow without bound, unless `certified` */
    size_t slow;       /* Newton steps that did not shrink although the gradient had vanished */
    bool separated;    /* at some point every row was on its right side: there is no minimum */
    bool certified;    /* a point proved that a finite minimum exists */
    bool norm_checked; /* the proof was tried when the norm passed its bound */
    bool polishing;    /* Newton steps after L-BFGS; their iterations are counted from … */
    size_t base_iteration;
} dni_logistic_fit;

/* ---- logistic_fit.c ---- */
/* dn_algorithm's fit. */
dn_status dni_logistic_run(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                           dn_report *report, dn_error *err);
/* dn_algorithm's memory. */
double dni_logistic_fit_bytes(const dn_params *params, const dn_fit_shape *shape);

/* ---- logistic_progress.c: stopping, progress, and the search for separable classes ---- */
/* Layout of dni_logistic_arrays for a dni_logistic_plan. */
void dni_logistic_layout(dni_layout *layout, const void *plan, void *arrays);
/* The fit as the objective of a solver. The fit must stay at its address. */
dni_objective dni_logistic_objective(dni_logistic_fit *fit);
/* Sets measure and gradient_norm from the last evaluation. */
void dni_logistic_take_measure(dni_logistic_fit *fit);
/* Without a penalty: true if the points showed that there is no minimum. */
bool dni_logistic_found_separable(const dni_logistic_fit *fit, const dni_outcome *outcome);
/* Sets converged and stop_reason of the report, and warns. */
void dni_logistic_report_end(dni_logistic_fit *fit, const dni_outcome *outcome);

/* ---- logistic_second.c: the second look after a descent without a penalty ---- */
/* Warns of dependent columns and gives x the weights of least norm (*changed), and notes that the
 * classes are separable (fit->separated). Does nothing if plan.second_uses is 0. */
DN_MUST_USE dn_status dni_logistic_second_look(dni_logistic_fit *fit, double *x, bool *changed,
                                               dn_error *err);
/* Bytes that it allocates. */
double dni_logistic_second_bytes(const dni_logistic_plan *plan, const dn_fit_shape *shape);

/* ---- logistic_metric.c: uses of the correlation matrix of the features ---- */
/* True if a fit with this plan looks for dependent columns before the solver. */
bool dni_logistic_decomposes(const dni_logistic_plan *plan);
/* Bytes that dni_logistic_find_rank allocates at most, the null basis that it leaves included. An
 * estimate: the null basis depends on the data. */
double dni_logistic_rank_bytes(size_t width);
/* Finds null_basis, warns of its columns, and makes the Hessian definite along it. */
DN_MUST_USE dn_status dni_logistic_find_rank(dni_logistic_fit *fit, dn_error *err);
/* x ← the minimiser of least norm (stated weights, free intercepts). Changes null_basis. */
DN_MUST_USE dn_status dni_logistic_least_norm(dni_logistic_fit *fit, double *x, dn_error *err);
/* Computes the metric of L-BFGS. */
DN_MUST_USE dn_status dni_logistic_make_metric(dni_logistic_fit *fit, dn_error *err);
/* v ← M⁻¹v; ctx is the fit. */
void dni_logistic_precondition(void *ctx, double *v);

#endif
