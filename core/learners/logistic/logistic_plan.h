/* What a fit of logistic regression will do: solver, uses of the linear problem, limits.
 *
 * A plan depends on the parameters and on the shape of the rows only, so that the same data always
 * get the same solver. */
#ifndef DNI_LOGISTIC_PLAN_H
#define DNI_LOGISTIC_PLAN_H

#include "learners/shared/linear/linear_problem.h"
#include "optimize/solver.h"
#include <discern/algorithm.h>

/* Largest width (features and intercept) of a matrix that is decomposed: of L-BFGS's metric, and to
 * find dependent columns. */
#define DNI_LOGISTIC_MAX_METRIC 1025
#define DNI_LOGISTIC_MAX_RANK 2049
/* Most variables of a Hessian matrix; beyond, Newton's systems are solved by conjugate
 * gradients. */
#define DNI_LOGISTIC_MAX_HESSIAN 4096
/* Most variables for which Newton steps follow another solver without a penalty. */
#define DNI_LOGISTIC_MAX_POLISH 2000

/* A choice of the parameter "solver": its limits, and the solvers it stands for. */
typedef struct dni_logistic_method {
    const char *name;
    bool centres;               /* works on centred and scaled columns */
    bool descends;              /* a descent at a learning rate; starts at random */
    bool needs_convexity;       /* refused for losses that are not convex */
    double tolerance;           /* of "auto" */
    double most, visits, least; /* iterations of "auto": visits/rows, within [least, most] */
    const dni_solver *smooth;   /* without l1 */
    const dni_solver *l1;       /* with l1 */
    const dni_solver *large;    /* beyond DNI_LOGISTIC_MAX_HESSIAN variables; NULL: as above */
} dni_logistic_method;

typedef struct dni_logistic_plan {
    const dni_logistic_method *method;
    const dni_solver *solver;
    const dni_loss *loss;
    double l1, l2;        /* l1·‖w‖₁ + l2·‖w‖² */
    size_t n_scores;      /* 1 for two classes */
    size_t width;         /* features and the intercept */
    size_t n;             /* n_scores · width */
    bool polishes;        /* Newton steps follow L-BFGS: they show if the weights still grow */
    unsigned uses;        /* dni_linear_uses */
    unsigned second_uses; /* of dni_logistic_second_look; 0: it is not needed */
    double tolerance;     /* "auto" resolved */
    size_t max_iterations;
} dni_logistic_plan;

dni_logistic_plan dni_logistic_make_plan(const dn_params *p, size_t n_rows, size_t n_features,
                                         size_t n_classes);
/* Checks that `init`, if it is a list, has a number for each variable. DN_ERR_ARGUMENT, field. */
DN_MUST_USE dn_status dni_logistic_check_start(const dn_params *p, const dni_logistic_plan *plan,
                                               dn_error *err);

#endif
