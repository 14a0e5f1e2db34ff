/* One fit of least squares: what its files share.
 *
 *   S = 1 score for two classes, target T = −1, 1;   S = K otherwise, T_k = 1 for the own class and 0 for the others
 *   f = a (Σ_t v_t ‖T_t − g(x_t)‖² / Σv + λ‖W‖²),   a = ½ for S = 1, 1 otherwise
 * Of two classes the outputs y_2 = (1 + g)/2 and y_1 = (1 − g)/2 fit the targets 1 of 2: f is the objective of both together. */
#ifndef DNI_LEAST_SQUARES_FIT_H
#define DNI_LEAST_SQUARES_FIT_H

#include <discern/algorithm.h>

/* Scores of all rows against their targets. Variables are [w_k, b_k] for each score, `width` numbers; with a mean and a scale those of (x − mean)/scale. */
typedef struct dni_squares {
    const dn_run *run;
    const dn_rows *rows;
    size_t n_scores, width, n; /* S, n_cols + 1, S · width */
    bool sparse;               /* the blocks are CSR */
    double weight;             /* Σv */
    const double *mean;        /* [n_cols], NULL: x as it is */
    const double *scale;       /* [n_cols] > 0, with mean */
    double *table; /* [n] the variables as a pass wants them (transposed for sparse rows) */
    double *sums;  /* [2 + n] what a pass gives */
    bool
        targets; /* of the pass under way: T counts; false: it is 0, for the scores of a direction */
    double *gradient; /* [n] Σ v (g − T) [z, 1] at the last variables */
    double squares;   /* Σ v ‖T − g‖² there */
    double wrong;     /* weight of the rows misclassified there (meaningless without targets) */
    double *
        slot_memory; /* of each slot: scores [DNI_TILE_ROWS × S], and z [DNI_TILE_ROWS × width] when expanded */
    size_t slot_doubles;
} dni_squares;

/* `expanded`: mean and scale will be set. *squares is to be freed with dni_squares_done even after a failure. */
DN_MUST_USE dn_status dni_squares_init(dni_squares *squares, const dn_rows *rows, size_t n_classes,
                                       bool expanded, const dn_run *run, dn_error *err);
void dni_squares_done(dni_squares *squares);
/* Bytes that it takes, with what sums over blocks take beside. */
double dni_squares_memory(size_t n_rows, size_t n_cols, size_t n_classes, size_t n_slots,
                          bool expanded);
/* One pass over the rows: gradient, squares and wrong, of T = 0 without `targets`. */
DN_MUST_USE dn_status dni_squares_pass(dni_squares *squares, const double *variables, bool targets,
                                       dn_error *err);
/* Target of score s for a row of class k: 1 of K, or ±1. */
static inline double dni_squares_target(size_t n_scores, size_t s, size_t k) {
    return n_scores == 1 ? (k == 1 ? 1 : -1) : s == k;
}

typedef struct dni_least_squares {
    const dn_fit_input *input;
    const dn_run *run;
    dn_report *report;
    double lambda;
    double share;          /* a */
    double tolerance;      /* the iterative solvers' */
    size_t max_iterations; /* likewise */
    dni_squares squares;
    double *stated; /* [S × width] the answer: weights and intercepts of x */
} dni_least_squares;

/* More columns than this have no closed form: its matrix would take more than 512 MiB. */
#define DNI_LEAST_SQUARES_MAX_COLS 8192

/* stated ← the minimiser; fills the report. */
DN_MUST_USE dn_status dni_least_squares_solve(dni_least_squares *fit, dn_error *err);
double dni_least_squares_solve_memory(size_t n_rows, size_t n_cols, size_t n_classes,
                                      size_t n_slots);
/* The same by conjugate gradients. */
DN_MUST_USE dn_status dni_least_squares_conjugate(dni_least_squares *fit, dn_error *err);
double dni_least_squares_conjugate_memory(size_t n_rows, size_t n_cols, size_t n_classes,
                                          size_t n_slots);
/* The same by gradient descent. */
DN_MUST_USE dn_status dni_least_squares_descend(dni_least_squares *fit, dn_error *err);
double dni_least_squares_descend_memory(size_t n_rows, size_t n_cols, size_t n_classes,
                                        size_t n_slots);
/* What all report at their end: objective, sums of squares. penalty: ‖W‖². */
void dni_least_squares_describe(dni_least_squares *fit, double penalty, const char *solver);

#endif
