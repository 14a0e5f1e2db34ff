/* One fit of logistic regression: what its files share. */
#ifndef DNI_LEARNERS_LOGISTIC_FIT_H
#define DNI_LEARNERS_LOGISTIC_FIT_H

#include "learners/logistic_loss.h"
#include "optimize/objective.h"
#include <discern/algorithm.h>

typedef enum dni_logistic_solver { DNI_LOGISTIC_NEWTON, DNI_LOGISTIC_LBFGS, DNI_LOGISTIC_DESCENT, DNI_LOGISTIC_SGD } dni_logistic_solver;

/* Up to this many variables a matrix of the features is decomposed: rank at lambda = 0, the metric of L-BFGS. */
#define DNI_LOGISTIC_MAX_METRIC 1025
#define DNI_LOGISTIC_MAX_RANK 2049

typedef struct dni_logistic_fit {
    const dn_fit_input *input;
    const dn_run *run;
    dn_report *report;
    dni_logistic_solver solver;
    double tolerance;
    size_t max_iterations;
    dni_moments moments;
    dni_logistic loss; /* ctx of the objective is the fit, see logistic_watch.c */
    /* what the last accepted point was like */
    double measure;       /* largest component of the gradient in standardised variables */
    double gradient_norm; /* Euclidean, as stated */
    double first_measure; /* at the start; 0 before */
    double fraction;      /* of progress, never decreasing */
    bool polishing;       /* Newton steps after L-BFGS: their iterations count on from base_iteration */
    size_t base_iteration;
    size_t slow;       /* Newton steps in a row that reached the tolerance while the weights still grew */
    bool separated;    /* lambda = 0: some iterate had every row on its right side, so no minimum exists */
    bool certified;    /* lambda = 0: the iterate proves that a finite minimum exists */
    bool norm_checked; /* the certificate was asked for when the norm passed its bound */
    bool *growing;     /* [n_cols] columns whose weight grew most in the last step */
    double *raw;       /* [n_scores × n_cols] and [n_scores]: weights of a snapshot */
    /* features */
    double *metric;     /* [width × width] Cholesky factor of L-BFGS's metric; NULL: metric_diagonal */
    double *diagonal;   /* [width]; NULL: no metric */
    double *null_basis; /* [n_null × n_cols] see dni_logistic; owned */
    size_t n_null;
} dni_logistic_fit;

/* ---- logistic_watch.c: who judges the iterates ---- */
DN_MUST_USE dn_status dni_logistic_watch_init(dni_logistic_fit *fit, dn_error *err);
/* The fit as the objective of a solver; max_iterations as the solver's. */
dni_objective dni_logistic_objective(dni_logistic_fit *fit);
/* Largest component of the present gradient in standardised variables. */
double dni_logistic_measure(const dni_logistic_fit *fit);
/* Warnings for the way it ended; `converged`. */
void dni_logistic_judge(dni_logistic_fit *fit, const dni_outcome *outcome);

/* ---- logistic_metric.c: what the matrix of the features tells ---- */
/* Lambda = 0: finds the combinations of columns that no score sees, warns of them, and makes the Hessian definite there. */
DN_MUST_USE dn_status dni_logistic_find_rank(dni_logistic_fit *fit, dn_error *err);
/* Takes those combinations out of the weights: x becomes the minimiser of least norm (stated weights, intercept free). */
DN_MUST_USE dn_status dni_logistic_least_norm(dni_logistic_fit *fit, double *x, dn_error *err);
/* The metric of L-BFGS. */
DN_MUST_USE dn_status dni_logistic_make_metric(dni_logistic_fit *fit, dn_error *err);
void dni_logistic_precondition(void *ctx, double *v);

#endif
