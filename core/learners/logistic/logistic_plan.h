/* The plan of a fit of logistic regression: solver, uses of the linear problem, limits.
 *
 * A plan depends on the parameters and on the shape of the rows only, so that the same data always
 * get the same solver. */
#ifndef DNI_LOGISTIC_PLAN_H
#define DNI_LOGISTIC_PLAN_H

#include "learners/shared/linear/linear_rank.h"
#include "optimize/solver.h"
#include <discern/algorithm.h>

/* Largest width (features and intercept) of the metric of L-BFGS. */
#define DNI_LOGISTIC_MAX_METRIC 1025
/* Maximum number of variables for which a Hessian matrix is stored. With more, Newton's systems are
 * solved by conjugate gradients. */
#define DNI_LOGISTIC_MAX_HESSIAN 4096
/* Maximum width of a Hessian whose condition number is computed. */
#define DNI_LOGISTIC_MAX_CONDITION 201
/* Maximum of rows times iterations for which the weights and responses of IRLS are kept. */
#define DNI_LOGISTIC_MAX_IRLS 100000
/* Maximum number of variables for which Newton steps follow another solver without a penalty. */
#define DNI_LOGISTIC_MAX_POLISH 2000

/* One choice of the parameter "solver": its limits and its implementations. */
typedef struct dni_logistic_method {
    const char *name;
    bool centres;               /* uses centred and scaled columns */
    bool descends;              /* a descent with a learning rate; may start at random */
    bool needs_convexity;       /* refused for losses that are not convex */
    double tolerance;           /* value of tolerance "auto" */
    double most, visits, least; /* max_iterations "auto": visits/n_rows, from least to most */
    const dni_solver *smooth;   /* solver without an l1 penalty */
    const dni_solver *l1;       /* solver with an l1 penalty */
    const dni_solver *constant; /* solver with schedule "constant"; NULL: there is no schedule */
    const dni_solver *large;    /* with > DNI_LOGISTIC_MAX_HESSIAN variables; NULL: as with fewer */
    const dni_solver *full;     /* for step "full"; NULL: no full steps */
} dni_logistic_method;

typedef struct dni_logistic_plan {
    const dni_logistic_method *method;
    const dni_solver *solver;
    const dni_loss *loss;
    double lambda; /* "auto" resolved; 0: no penalty */
    double l1, l2; /* l1·‖w‖₁ + l2·‖w‖² */
    dni_intercept intercept;
    bool constant_rate;  /* schedule "constant" */
    size_t n_scores;     /* 1 for two classes */
    size_t width;        /* number of features, and 1 for the intercept */
    size_t n;            /* n_scores · width */
    bool full;           /* step "full" */
    bool conditions;     /* the condition number of each Hessian is computed */
    size_t n_irls;       /* rows · max_iterations with irls; otherwise 0 */
    bool wide;           /* fitted in the row space (logistic_wide.c) */
    bool check_wide;     /* a descent that dni_logistic_check_wide follows */
    bool check_steps;    /* dni_logistic_check_wide runs Newton steps */
    bool independent;    /* no column depends on others: the columns are coordinates */
    bool certifies;      /* separation is checked (logistic_separation.h) */
    bool polishes;       /* Newton steps follow L-BFGS, to detect weights that grow without bound */
    unsigned uses;       /* flags of dni_linear_uses for the fit */
    unsigned check_uses; /* flags of dni_linear_uses for the check after a descent; 0: none */
    double tolerance;    /* "auto" resolved */
    size_t max_iterations; /* 0: the objective is only evaluated at the start */
} dni_logistic_plan;

/* weight: Σv of the rows, for lambda "auto". If it is not known, n_rows gives the same solver,
 * limits and memory. */
dni_logistic_plan dni_logistic_make_plan(const dn_params *p, size_t n_rows, double weight,
                                         size_t n_features, size_t n_classes);
/* Returns the plan of the fit of `rank` coordinates for `plan`, a plan with `wide` or `check_wide`
 * for n_rows rows. Solver, limits and flags depend on n_rows and not on `rank`. */
dni_logistic_plan dni_logistic_plan_of_coordinates(const dni_logistic_plan *plan, size_t n_rows,
                                                   size_t rank);
/* Checks that the plan has a Hessian matrix for the parameters `step` and `irls`, and the limits of
 * `irls`. Otherwise returns DN_ERR_ARGUMENT with the field. */
DN_MUST_USE dn_status dni_logistic_check_newton(const dn_params *p, const dni_logistic_plan *plan,
                                                size_t n_rows, dn_error *err);

#endif
