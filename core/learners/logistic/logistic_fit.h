/* One fit of logistic regression: what its files share. */
#ifndef DNI_LOGISTIC_FIT_H
#define DNI_LOGISTIC_FIT_H

#include "learners/logistic/logistic_loss.h"
#include "optimize/objective.h"
#include <discern/algorithm.h>

typedef enum dni_logistic_solver {
    DNI_LOGISTIC_NEWTON,
    DNI_LOGISTIC_LBFGS,
    DNI_LOGISTIC_DESCENT,
    DNI_LOGISTIC_SGD
} dni_logistic_solver;

/* Up to so many features (with the intercept) a matrix of them is decomposed: the metric of L-BFGS, rank at lambda = 0. */
#define DNI_LOGISTIC_MAX_METRIC 1025
#define DNI_LOGISTIC_MAX_RANK 2049
/* Up to so many variables newton's Hessian is a matrix; beyond, its systems are solved by conjugate gradients. */
#define DNI_LOGISTIC_MAX_HESSIAN 4096
/* Up to so many variables Newton steps behind another solver show at lambda = 0 if there is a minimum. */
#define DNI_LOGISTIC_MAX_POLISH 2000

/* What a fit with given parameters to data of a given shape will do: a function of these alone, so that the same data always take the same road. */
typedef struct dni_logistic_plan {
    dni_logistic_solver solver;
    bool squared;         /* the loss is the squared error */
    double l1, l2;        /* l1·‖w‖₁ + l2·‖w‖² */
    size_t n_scores;      /* 1 for two classes */
    size_t width;         /* features and the intercept */
    size_t n;             /* n_scores · width */
    bool products;        /* newton without a matrix */
    bool polishes;        /* L-BFGS ends with Newton steps, which show if the weights still grow */
    unsigned uses;        /* dni_logistic_uses */
    unsigned second_uses; /* of dni_logistic_second_look; 0: there is none */
    double tolerance;     /* the parameters', "auto" resolved */
    size_t max_iterations;
} dni_logistic_plan;

typedef struct dni_logistic_fit {
    const dn_fit_input *input;
    const dn_run *run;
    dn_report *report;
    dni_logistic_plan plan;
    dni_moments moments;
    dni_logistic loss; /* ctx of the objective is the fit, see logistic_watch.c */
    /* what the last accepted point was like */
    double measure;       /* largest component of the (sub)gradient in standardised variables */
    double gradient_norm; /* Euclidean, as stated */
    double first_measure; /* both at the start; 0 before */
    double first_norm;
    double
        norm_bound; /* lambda = 0: weights beyond it are growing for ever, unless it is shown that they are not */
    double fraction; /* of progress, never decreasing */
    bool polishing;  /* Newton steps after L-BFGS: their iterations count on from base_iteration */
    size_t base_iteration;
    size_t slow;      /* Newton steps that did not shrink although the gradient had vanished */
    double last_step; /* size of the one before; 0: there was none */
    bool
        separated; /* lambda = 0: some iterate had every row on its right side, so no minimum exists */
    bool certified;    /* lambda = 0: the iterate proves that a finite minimum exists */
    bool norm_checked; /* the certificate was asked for when the norm passed its bound */
    bool *growing;     /* [n_cols] columns whose weight grew most in the last step */
    double *raw;       /* [n_scores × n_cols] and [n_scores]: weights of a snapshot */
    /* features */
    double *metric; /* [width × width] Cholesky factor of L-BFGS's metric; NULL: metric_diagonal */
    double *diagonal;   /* [width]; NULL: no metric */
    double *null_basis; /* [n_null × n_cols] see dni_logistic; owned */
    size_t n_null;
} dni_logistic_fit;

/* ---- logistic.c ---- */
dni_logistic_plan dni_logistic_make_plan(const dn_params *p, size_t n_rows, size_t n_features,
                                         size_t n_classes);
const char *dni_logistic_solver_name(dni_logistic_solver solver);
/* A list to start from has a number for each variable. DN_ERR_ARGUMENT, field. */
DN_MUST_USE dn_status dni_logistic_check_start(const dn_params *p, const dni_logistic_plan *plan,
                                               dn_error *err);

/* ---- logistic_fit.c ---- */
/* dn_algorithm's fit. */
dn_status dni_logistic_run(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                           dn_report *report, dn_error *err);
/* Bytes of it. */
double dni_logistic_fit_memory(const dni_logistic_plan *plan, size_t n_rows, size_t n_features,
                               size_t n_classes, size_t n_slots);

/* ---- logistic_watch.c: who judges the iterates ---- */
DN_MUST_USE dn_status dni_logistic_watch_init(dni_logistic_fit *fit, dn_error *err);
/* The fit as the objective of a solver; max_iterations as the solver's. */
dni_objective dni_logistic_objective(dni_logistic_fit *fit);
/* Measure and norm of the gradient at the last evaluation. */
void dni_logistic_take_measure(dni_logistic_fit *fit);
/* Lambda = 0: whether the iterates have shown that there is no minimum. */
bool dni_logistic_found_separable(const dni_logistic_fit *fit, const dni_outcome *outcome);
/* Warnings for the way it ended; `converged`. */
void dni_logistic_judge(dni_logistic_fit *fit, const dni_outcome *outcome);

/* ---- logistic_second.c: what a descent without a penalty does not tell of itself ---- */
/* Warns of columns that depend on each other, with the weights x made those of least norm (*changed), and notes that the classes are separable (fit->separated). */
DN_MUST_USE dn_status dni_logistic_second_look(dni_logistic_fit *fit, double *x, bool *changed,
                                               dn_error *err);
double dni_logistic_second_memory(const dni_logistic_plan *plan, size_t n_rows, size_t n_features,
                                  size_t n_classes, size_t n_slots);

/* ---- logistic_metric.c: what the matrix of the features tells ---- */
/* Lambda = 0: finds the combinations of columns that no score sees, warns of them, and makes the Hessian definite there. */
DN_MUST_USE dn_status dni_logistic_find_rank(dni_logistic_fit *fit, dn_error *err);
/* Takes those combinations out of the weights: x becomes the minimiser of least norm (stated weights, intercept free). */
DN_MUST_USE dn_status dni_logistic_least_norm(dni_logistic_fit *fit, double *x, dn_error *err);
/* The metric of L-BFGS. */
DN_MUST_USE dn_status dni_logistic_make_metric(dni_logistic_fit *fit, dn_error *err);
void dni_logistic_precondition(void *ctx, double *v);

#endif
