/* Linear support vector machine: what its solvers share. They leave dual variables α within the box; dni_svm_judge makes of them a solution and its certificate.
 *
 *   w = Σ α_i t_i x_i,   0 <= α_i <= U_i,   U_i = C v_i (squared hinge: ∞),   free intercept: Σ α_i t_i = 0,   penalised: w0 = Σ α_i t_i
 * Rows live in memory: the algorithm does not stream. */
#ifndef DNI_SVM_LINEAR_H
#define DNI_SVM_LINEAR_H

#include "learners/shared/moments.h"
#include "learners/svm/linear/svm_fit.h"

/* Working memory of one thread. */
typedef struct dni_svm_slot {
    double *scores;  /* [DNI_TILE_ROWS] */
    double *omega;   /* [DNI_TILE_ROWS] weights of a Gram matrix */
    double *coef;    /* [DNI_TILE_ROWS × 2] coefficients of sums of rows */
    double *z;       /* [DNI_TILE_ROWS × width] expanded rows; NULL but for the interior point */
    double *work;    /* [DNI_TILE_ROWS × width] likewise */
    double greatest; /* of whatever a pass looks for: a maximum depends on no order */
} dni_svm_slot;

typedef struct dni_svm_linear {
    const dn_fit_input *input;
    const dni_svm_options *options;
    const dn_run *run;
    dn_report *report;
    size_t n, d, width; /* width = d + 1, the intercept behind */
    dni_moments moments;
    size_t n_rows;    /* with a weight */
    double weight[2]; /* Σv of each class */
    void *memory;     /* what the vectors point into */
    dn_matrix *block; /* [n_blocks] */
    double *sign;     /* [n] t */
    double *
        upper; /* [n] U; squared hinge: C v too; hard margin: 1. 0: the row has no weight, it is no row */
    double *alpha;       /* [n] */
    double *score;       /* [n] ⟨w, x⟩, without the intercept */
    double *w;           /* [width] */
    double *sums;        /* [2 width + 8] what a pass gives */
    double *table;       /* [2 width] */
    dni_svm_slot *slots; /* [run->n_slots] */
    void *slot_memory;
    /* how it went */
    size_t iterations;
    dn_stop_reason
        reason;      /* without a certificate: DN_STOP_MAX_ITERATIONS or DN_STOP_NO_PROGRESS */
    double fraction; /* of progress, never decreasing */
} dni_svm_linear;

/* ---- svm_rows.c ---- */
DN_MUST_USE dn_status dni_svm_init(dni_svm_linear *svm, const dn_fit_input *input,
                                   const dni_svm_options *options, const dn_run *run,
                                   dn_report *report, dn_error *err);
void dni_svm_done(dni_svm_linear *svm);
double dni_svm_memory(const dni_svm_options *options, size_t n_rows, size_t n_features,
                      size_t n_slots);
/* score [n] ← ⟨w, x⟩ + w0 for v = [w, w0]. */
DN_MUST_USE dn_status dni_svm_scores(dni_svm_linear *svm, const double *v, double *score,
                                     dn_error *err);
/* out [width] ← Σ α_i t_i [x_i, 1]. */
DN_MUST_USE dn_status dni_svm_combine(dni_svm_linear *svm, const double *alpha, double *out,
                                      dn_error *err);
/* ⟨v, x_i⟩ without intercept, and v ← v + s x_i, for one row. */
double dni_svm_row_dot(const dni_svm_linear *svm, size_t i, const double *v);
void dni_svm_row_add(const dni_svm_linear *svm, size_t i, double s, double *v);
/* Numbers of row i that are there. */
size_t dni_svm_row_entries(const dni_svm_linear *svm, size_t i);
/* Told once an iteration; polls stop. `gap` relative, NaN: not known; `objective` NaN likewise. */
DN_MUST_USE dn_status dni_svm_tell(dni_svm_linear *svm, size_t iteration, size_t most, double gap,
                                   double objective, dn_error *err);
/* The error of arithmetic that left the finite numbers. */
dn_status dni_svm_not_finite(const dni_svm_linear *svm, size_t iteration, dn_error *err);

/* ---- svm_intercept.c ---- */
/* The intercepts that minimise Σ U max(0, 1 − t(g + b)) [hinge] for g = svm->score: all of [*low, *high]. work [2n]. O(n). */
void dni_svm_hinge_intercept(const dni_svm_linear *svm, const double *score, double *work,
                             double *low, double *high);
/* The one that minimises Σ U max(0, 1 − t(g + b))². O(n) a step, some 10 steps. */
double dni_svm_squared_intercept(const dni_svm_linear *svm, const double *score, double start);

/* ---- svm_judge.c ---- */
/* Makes Σαt = 0 for a free intercept: α of the class that has more are made smaller by one factor, those below their border alone if that is enough. */
void dni_svm_balance(const dni_svm_linear *svm, double *alpha);
/* svm->w ← v with the best intercept (v NULL: w of svm->alpha; it may be svm->w), and all that is said of it and of svm->alpha. work [2n]. Two passes. */
DN_MUST_USE dn_status dni_svm_judge(dni_svm_linear *svm, const double *v, double *work,
                                    dni_svm_solution *out, dn_error *err);

/* ---- the solvers: leave svm->alpha, w, *out ---- */
DN_MUST_USE dn_status dni_svm_interior(dni_svm_linear *svm, dni_svm_solution *out, dn_error *err);
double dni_svm_interior_memory(size_t n_rows, size_t n_features, size_t n_slots);
DN_MUST_USE dn_status dni_svm_coordinate(dni_svm_linear *svm, dni_svm_solution *out, dn_error *err);
double dni_svm_coordinate_memory(const dni_svm_options *options, size_t n_rows, size_t n_features);
DN_MUST_USE dn_status dni_svm_hard(dni_svm_linear *svm, dni_svm_solution *out, dn_error *err);
double dni_svm_hard_memory(size_t n_rows, size_t n_features);

#endif
