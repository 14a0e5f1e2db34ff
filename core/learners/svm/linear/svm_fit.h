/* What the parts of the support vector machine share: its problem, and what is said of a solution.
 *
 *   min ½‖w‖² + C Σ v_i s_i,  s_i = max(0, 1 − t_i f(x_i)),  f(x) = ⟨w, x⟩ + w0,  t_i = ±1 (the second class is +1), v_i the rows' weights
 *   squared hinge: C Σ v_i s_i².   Dual of the hinge: max Σα − ½ Σ α_i α_j t_i t_j K_ij,  0 <= α_i <= C v_i,  Σ α_i t_i = 0 (free intercept).
 *   hard margin (C = ∞): the nearest points of the two convex hulls; infeasible when their distance is <= 1e-9 max‖x‖.
 * Cortes and Vapnik, Machine Learning 20, 1995; Bishop, PRML, section 7.1; Schölkopf and Smola, Learning with Kernels, chapter 7. */
#ifndef DNI_SVM_FIT_H
#define DNI_SVM_FIT_H

#include <discern/algorithm.h>
#include <math.h>

typedef enum dni_svm_solver {
    DNI_SVM_INTERIOR_POINT,
    DNI_SVM_DUAL_COORDINATE_DESCENT,
    DNI_SVM_SMO
} dni_svm_solver;
typedef enum dni_svm_intercept {
    DNI_SVM_FREE,      /* not penalised */
    DNI_SVM_PENALISED, /* ½(‖w‖² + w0²): a feature that is always 1 */
    DNI_SVM_NONE       /* w0 = 0 */
} dni_svm_intercept;

typedef struct dni_svm_options {
    dni_svm_solver solver;
    dni_svm_intercept intercept;
    bool squared;     /* squared hinge loss */
    double C;         /* INFINITY: hard margin */
    double tolerance; /* relative duality gap (smo: KKT violation too) at which it is solved */
    size_t
        max_iterations; /* steps of the interior point, passes of coordinate descent, thousands of pairs of smo */
    double cache_bytes; /* smo: most memory of kernel rows */
} dni_svm_options;

/* What is said of a solution; NaN where there is nothing to say. */
typedef struct dni_svm_solution {
    double primal, dual; /* objectives; dual NaN: the kernel is not positive semidefinite */
    double gap;          /* (primal − dual)/max(|primal|, 1e-300); NaN as dual */
    bool certified; /* gap <= tolerance; smo, whose tolerance is of the conditions: ten times it */
    double
        kkt_violation; /* greatest violation of the optimality conditions of the dual, in units of t f; NaN: not computed */
    double w0, w0_low,
        w0_high; /* w0_low < w0_high: every value between is optimal, w0 is the middle; equal: there are free support vectors */
    double n_support, n_bounded; /* rows with α > 0, and of these with α = C v (hinge) */
    double n_slack_positive, n_slack_over_one,
        slack_sum; /* rows with s > tolerance (hinge: α = C v with s > tolerance; smo: more than the violation that is left), with t f < 0; Σ v s */
    double norm;   /* ‖w‖ in the space trained in */
    double margin,
        margin_raw; /* 1/‖w‖ there and in the raw features; raw NaN: there is none (kernels) */
    double spread;  /* between the greatest f of a row and the least */
} dni_svm_solution;

/* Whether the rows' scores are next to the same, where margins are 1. */
static inline bool dni_svm_tells_nothing(const dni_svm_solution *solution) {
    return solution->spread < 1e-6;
}
/* 1/‖w‖ in the raw features; scale [d] or NULL. NaN: w is 0. */
double dni_svm_raw_margin(const double *w, const double *scale, size_t d);

/* primal_objective, dual_objective, gap, certified, w0, w0_interval (a list of two), support_vectors, bounded_support_vectors, slack_positive, slack_over_one, slack_sum, norm, margin,
 * margin_raw: the names of the service's details. Warns of scores that are next to the same for all rows; advice: what to try of the kernel, NULL: nothing. */
void dni_svm_report(const dni_svm_solution *solution, double C, const char *advice,
                    dn_report *report);

/* Linear kernel, interior point or coordinate descent, a hard margin whatever the solver, two classes: leaves a linear machine. DN_ERR_DATA: no hard margin. */
DN_MUST_USE dn_status dni_svm_linear_fit(const dn_fit_input *input, const dni_svm_options *options,
                                         const dn_run *run, dn_machine *out, dn_report *report,
                                         dn_error *err);
/* Its working memory in bytes. */
double dni_svm_linear_memory(const dni_svm_options *options, size_t n_rows, size_t n_features,
                             size_t n_slots);

#endif
