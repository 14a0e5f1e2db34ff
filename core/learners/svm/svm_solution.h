/* Support vector machines: the options of the problem, its solution, and the report of a fit.
 *
 *   min  ½‖w‖² + C Σ v_i s_i,   s_i = max(0, 1 − t_i f(x_i)),   f(x) = ⟨w, x⟩ + w0
 *
 * t_i is −1 for rows of the first class and 1 for rows of the second, v_i is the weight of row i.
 * Squared hinge loss: C Σ v_i s_i² instead.
 *
 * Dual of the hinge loss, free intercept:
 *
 *   max  Σ α_i − ½ Σ α_i α_j t_i t_j K_ij   subject to  0 <= α_i <= C v_i,  Σ α_i t_i = 0
 *
 * Hard margin (C = ∞): the nearest points of the convex hulls of the two classes. The problem
 * counts as infeasible if the distance of the hulls is at most 1e-9 max‖x‖.
 *
 * Sources: Cortes and Vapnik, Machine Learning 20, 1995; Bishop, PRML, section 7.1; Schölkopf and
 * Smola, Learning with Kernels, chapter 7. */
#ifndef DNI_SVM_SOLUTION_H
#define DNI_SVM_SOLUTION_H

#include <discern/algorithm.h>
#include <math.h>

typedef enum dni_svm_solver {
    DNI_SVM_INTERIOR_POINT,
    DNI_SVM_DUAL_COORDINATE_DESCENT,
    DNI_SVM_SMO,
    DNI_SVM_NEWTON /* squared hinge loss only */
} dni_svm_solver;

/* The names of the solvers, as in the parameter "solver". */
extern const char *const dni_svm_solver_names[];

typedef enum dni_svm_intercept {
    DNI_SVM_FREE,      /* w0 is not penalised */
    DNI_SVM_PENALISED, /* ½(‖w‖² + w0²): w0 is the weight of a feature that is always 1 */
    DNI_SVM_NONE       /* w0 = 0 */
} dni_svm_intercept;

typedef struct dni_svm_options {
    dni_svm_solver solver;
    dni_svm_intercept intercept;
    bool squared;     /* squared hinge loss */
    double C;         /* INFINITY: hard margin */
    double tolerance; /* relative duality gap; smo: violation of the optimality conditions */
    /* interior point, Newton: steps; coordinate descent: passes; smo: thousands of steps */
    size_t max_iterations;
    double cache_bytes; /* smo: limit of the bytes of cached kernel values */
} dni_svm_options;

/* A solution and its duality gap. Numbers that do not apply are NaN. n_…: number of rows for which
 * the condition holds. */
typedef struct dni_svm_solution {
    double primal;        /* objective */
    double dual;          /* dual objective; NaN if the kernel is not positive semidefinite */
    double gap;           /* (primal − dual)/max(|primal|, 1e-300); NaN if `dual` is NaN */
    bool certified;       /* gap <= tolerance; smo: gap <= 10·tolerance */
    double kkt_violation; /* largest violation of the optimality conditions, in units of t f */
    double w0;
    double w0_low, w0_high;  /* interval of optimal intercepts; w0 is its midpoint */
    double n_support;        /* α > 0 */
    double n_bounded;        /* hinge loss: α = C v */
    double n_slack_positive; /* s > tolerance (smo: s > kkt_violation); hinge: also α = C v */
    double n_slack_over_one; /* t f < 0 */
    double slack_sum;        /* Σ v s */
    double norm;       /* ‖w‖ for encoded features, or in the feature space of the kernel */
    double margin;     /* 1/‖w‖ */
    double margin_raw; /* 1/‖w‖ for raw features; NaN if the kernel is not linear */
    double spread;     /* (largest f) − (smallest f) over the rows */
} dni_svm_solution;

/* True if the scores of all rows are nearly equal: their spread is below 1e-6. Scores on the margin
 * are ±1. */
static inline bool dni_svm_is_constant(const dni_svm_solution *solution) {
    return solution->spread < 1e-6;
}

/* Returns 1/‖w‖ for the raw features; NaN if w is 0. w: [d] for encoded features; scale: [d] of the
 * encoder, or NULL for 1. */
double dni_svm_raw_margin(const double *w, const double *scale, size_t d);

/* Adds the solution to a report: primal_objective, dual_objective, gap, certified, kkt_violation,
 * w0, w0_interval (two numbers), support_vectors, bounded_support_vectors, slack_positive,
 * slack_over_one, slack_sum, norm, margin, margin_raw. Adds a warning if all scores are nearly the
 * same. advice: suggestion for this warning, or NULL. */
void dni_svm_report(const dni_svm_solution *solution, double C, const char *advice,
                    dn_report *report);

#endif
