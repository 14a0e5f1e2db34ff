/* The problem that the solvers of a linear support vector machine share: rows, signs, upper bounds,
 * and the passes over the rows.
 *
 *   w = Σ α_i t_i x_i,   0 <= α_i <= U_i
 *   U_i = C v_i; squared hinge: no upper bound, U_i is the factor of the loss; hard margin: 1
 *   free intercept: Σ α_i t_i = 0; penalised intercept: w0 = Σ α_i t_i
 *
 * Rows with weight 0 have U_i = 0 and are ignored. All rows are held in memory. */
#ifndef DNI_SVM_PROBLEM_H
#define DNI_SVM_PROBLEM_H

#include "learners/shared/moments.h"
#include "learners/svm/svm_solution.h"

/* Largest number of features, or of rows of a wide problem, for which a solver factorises a
 * matrix. */
enum { DNI_SVM_MAX_ORDER = 1000 };

/* True if the rows are replaced by n_rows coordinates that have the same inner products
 * (svm_wide.c), unless products with sparse rows are cheaper (svm_linear.c). */
bool dni_svm_is_wide(const dni_svm_options *options, size_t n_rows, size_t n_features);

/* Working memory of one slot. */
typedef struct dni_svm_slot {
    double *scores; /* [DNI_TILE_ROWS] */
    double *omega;  /* [DNI_TILE_ROWS] weights of the rows in a Gram matrix */
    double *coef;   /* [DNI_TILE_ROWS × 2] coefficients of dni_tile_gradient */
    /* for solvers that factorise a matrix; otherwise NULL: */
    double *z;      /* [DNI_TILE_ROWS × width] expanded rows */
    double *work;   /* [DNI_TILE_ROWS × width] working memory */
    double maximum; /* interior point: largest inverse_step over the rows of the slot */
} dni_svm_slot;

typedef struct dni_svm_problem {
    const dn_fit_input *input;
    const dni_svm_options *options;
    const dn_run *run;
    size_t n, d;  /* rows, features */
    size_t width; /* d + 1: the intercept is the last weight */
    dni_moments moments;
    size_t n_rows;         /* rows with weight > 0 */
    double weight[2];      /* Σv of each class */
    void *memory;          /* allocated block that holds the arrays below */
    dn_matrix *block;      /* [n_blocks] */
    double *sign;          /* [n] t */
    double *upper;         /* [n] U */
    double *alpha;         /* [n] dual variables of the solution */
    double *score;         /* [n] ⟨w, x⟩, without the intercept */
    double *w;             /* [width] weights and intercept of the solution */
    double *sums;          /* [width] result of dni_svm_combine */
    double *table;         /* [width] working memory */
    dni_svm_slot *slots;   /* [run->n_slots] */
    double *tile_vectors;  /* vectors of all slots */
    double *tile_matrices; /* matrices of all slots; NULL if not needed */
    size_t iterations;     /* number of iterations so far */
    dn_stop_reason reason; /* why the solver stopped, if the solution is not certified */
    double fraction;       /* progress reported so far, 0 … 1; never decreases */
} dni_svm_problem;

/* Allocates the working memory and sets the signs and the upper bounds. Call dni_svm_problem_done
 * also after a failure.
 *
 * Errors: DN_ERR_BUDGET or DN_ERR_MEMORY for sizes beyond the address space, DN_ERR_NUMERIC if
 * C times the weights overflows. */
DN_MUST_USE dn_status dni_svm_problem_init(dni_svm_problem *svm, const dn_fit_input *input,
                                           const dni_svm_options *options, const dn_run *run,
                                           dn_error *err);
void dni_svm_problem_done(dni_svm_problem *svm);
/* Bytes of working memory of a problem. */
double dni_svm_problem_memory(const dni_svm_options *options, size_t n_rows, size_t n_features,
                              size_t n_slots);

/* score [n] ← ⟨w, x⟩ + w0 for v = [w, w0]. */
DN_MUST_USE dn_status dni_svm_scores(dni_svm_problem *svm, const double *v, double *score,
                                     dn_error *err);
/* out [width] ← Σ α_i t_i [x_i, 1]. */
DN_MUST_USE dn_status dni_svm_combine(dni_svm_problem *svm, const double *alpha, double *out,
                                      dn_error *err);

/* Returns ⟨v, x_i⟩ without the intercept. */
double dni_svm_row_dot(const dni_svm_problem *svm, size_t i, const double *v);
/* v ← v + s x_i; v[d] is unchanged. */
void dni_svm_row_add(const dni_svm_problem *svm, size_t i, double s, double *v);
/* Returns the number of stored entries of row i. */
size_t dni_svm_row_entries(const dni_svm_problem *svm, size_t i);

/* Reports the progress after `iteration` of at most `most` iterations, and polls the stop flag.
 * gap: relative duality gap; gap and objective may be NaN. */
DN_MUST_USE dn_status dni_svm_progress(dni_svm_problem *svm, size_t iteration, size_t most,
                                       double gap, double objective, dn_error *err);
/* Sets *err to DN_ERR_NUMERIC: the arithmetic of `iteration` overflowed. Returns DN_ERR_NUMERIC. */
dn_status dni_svm_not_finite(const dni_svm_problem *svm, size_t iteration, dn_error *err);

/* The solvers. Each stores its result in svm->alpha, svm->w and *out. */
DN_MUST_USE dn_status dni_svm_interior(dni_svm_problem *svm, dni_svm_solution *out, dn_error *err);
double dni_svm_interior_memory(size_t n_rows, size_t n_features, size_t n_slots);
DN_MUST_USE dn_status dni_svm_coordinate(dni_svm_problem *svm, dni_svm_solution *out,
                                         dn_error *err);
double dni_svm_coordinate_memory(size_t n_rows, size_t n_features);
DN_MUST_USE dn_status dni_svm_newton(dni_svm_problem *svm, dni_svm_solution *out, dn_error *err);
double dni_svm_newton_memory(size_t n_rows, size_t n_features, size_t n_slots);
DN_MUST_USE dn_status dni_svm_hard(dni_svm_problem *svm, dni_svm_solution *out, dn_error *err);
double dni_svm_hard_memory(size_t n_rows, size_t n_features);
/* Improves a solution *out for hinge loss at which rounding errors have stopped the solver. With a
 * large C the solution is mostly that of the hard margin, whose α have no upper bounds. If so, the
 * solution is replaced; otherwise it is unchanged. The search ends when the dual objective exceeds
 * the primal objective of *out. */
DN_MUST_USE dn_status dni_svm_try_hard(dni_svm_problem *svm, dni_svm_solution *out, dn_error *err);
double dni_svm_try_hard_memory(size_t n_rows, size_t n_features);

#endif
