/* The linear problem: the objective for given rows, loss and penalty.
 *
 *   f(W, b) = Σ_t v_t ℓ(W x_t + b; class of t) / Σ_t v_t + λ‖W‖² + l1·‖W‖₁
 *
 * A free intercept b has no penalty. A penalised intercept adds λ‖b − o‖² + l1·‖b‖₁. Without an
 * intercept b = o: its derivatives are 0, so that solvers do not change it. o is the member
 * `origin`.
 *
 * Two sets of variables, each n = n_scores · width numbers, width = n_cols + 1:
 *
 *   original:  one row [w_k, b_k] for each score k
 *   solver's:  u_kj = s_j w_kj,  c_k = b_k + Σ_j w_kj m_j
 *
 * The solver's variables are the weights of columns (x − m)/s, which are not stored. With m = 0 and
 * s = 1 both sets are the same. Σ|w_kj| = Σ|u_kj|/s_j, and w_kj = 0 if and only if u_kj = 0.
 * Without an intercept, and with l1 on the intercept, m must be 0 (dni_moments_about_zero).
 *
 * Functions that a solver calls (evaluate, hessian, product, diagonal) have the signature of
 * optimize/objective.h; their `ctx` is the problem. Only one thread may use a problem at a time;
 * its passes over the rows use the threads of the run. Passes poll the run's stop flag before each
 * tile. */
#ifndef DNI_LINEAR_PROBLEM_H
#define DNI_LINEAR_PROBLEM_H

#include "base/layout.h"
#include "catalogue/intercept_params.h"
#include "learners/shared/linear/linear_loss.h"
#include "learners/shared/moments.h"
#include "optimize/lazy.h"
#include <discern/rows.h>
#include <discern/run.h>

/* Flags for the functions that the caller will call on a problem. Arrays are allocated for these
 * functions only. */
enum dni_linear_uses {
    DNI_LINEAR_STANDARDISE = 1, /* m, s: means and deviations of the columns; otherwise 0, 1 */
    DNI_LINEAR_HESSIAN = 2,     /* dni_linear_hessian */
    DNI_LINEAR_GRAM = 4,        /* dni_linear_gram */
    DNI_LINEAR_BATCH = 8,       /* dni_linear_batch, dni_linear_batch_lazily */
    DNI_LINEAR_PRODUCT = 16,    /* dni_linear_product, dni_linear_diagonal, dni_linear_pass_along */
    DNI_LINEAR_EXPAND = 32      /* passes compute (x − m)/s of each row, for dni_linear_pass */
};

/* The sizes that the layout of a problem depends on. */
typedef struct dni_linear_shape {
    size_t n_cols, n_classes, n_slots;
    unsigned uses;
    bool sparse;
} dni_linear_shape;

/* Arrays of one slot. An array whose comment names a flag of dni_linear_uses (without the prefix
 * DNI_LINEAR_) is allocated only with this flag. */
typedef struct dni_linear_slot {
    double *scores;  /* [DNI_TILE_ROWS × n_scores] */
    double *along;   /* [DNI_TILE_ROWS × n_scores] scores of a direction; PRODUCT */
    double *weights; /* [DNI_TILE_ROWS] coefficients of a Gram matrix */
    double *target;  /* [DNI_TILE_ROWS] targets of copied rows */
    double *z;       /* [DNI_TILE_ROWS × width] expanded rows; HESSIAN, GRAM, EXPAND */
    double *scratch; /* [DNI_TILE_ROWS × width] working memory; HESSIAN, GRAM */
} dni_linear_slot;

typedef struct dni_linear_problem {
    const dn_run *run;
    const dn_rows *rows;
    const dni_loss *loss; /* cross-entropy after dni_linear_init; the caller may replace it */
    size_t n_classes;
    size_t n_scores; /* 1 for two classes, n_classes otherwise */
    size_t width;    /* n_cols + 1 */
    size_t n;        /* n_scores · width */
    bool sparse;     /* the rows are sparse: passes use transposed tables (tile.h) */
    bool expands;    /* set up with DNI_LINEAR_EXPAND */
    double lambda, l1;
    /* dni_linear_init sets both to 0, which is a free intercept. The caller may change them
     * afterwards. */
    dni_intercept intercept;
    double origin;       /* o */
    double total_weight; /* Σ v */
    /* results of the last evaluation or pass */
    dni_loss_sums sums;
    double *original; /* [n_scores × width] point of the last evaluation */
    /* [n_scores × width]. After dni_linear_evaluate: gradient of f without l1, in the original
     * variables. After dni_linear_pass: Σ v (∂ℓ/∂g)[x, 1]. */
    double *gradient;
    /* arrays */
    double *shift, *scale; /* [n_cols] m, s > 0 */
    double *threshold;     /* [n] factors of |u| and |c|: l1/s, and 0 for intercepts */
    double *table;         /* [n] a point in the layout of dni_tile_scores */
    double *block_sums;    /* [3 + n] sums of a pass */
    double *along; /* [n] a direction in the layout of dni_tile_scores; PRODUCT, otherwise NULL */
    double *products;       /* [2n] sums of dni_linear_pass_along; PRODUCT, otherwise NULL */
    double *hessian_sums;   /* [n_scores (n_scores + 1)/2 × width²]; HESSIAN, otherwise NULL */
    double *batch;          /* copied dense rows, or the residuals of sparse rows; BATCH */
    dni_linear_slot *slots; /* [run->n_slots] */
    void *memory;           /* owns the arrays */
    /* Unit directions of the solver's weights, [n_null × n_cols], along which no score changes.
     * dni_linear_hessian adds curvature along them. Owned by the caller; n_null is 0 after
     * dni_linear_init. */
    const double *null_basis;
    size_t n_null;
    /* true: dni_linear_hessian does not replace diagonal entries that are 0 by 1, because the
     * penalty or null_basis gives curvature to the weights of constant columns */
    bool plain;
} dni_linear_problem;

/* ---- set-up: linear_problem.c ---- */
/* The dni_layout_fn of a dni_linear_problem with a dni_linear_shape. */
void dni_linear_layout(dni_layout *layout, const void *shape, void *problem);
/* Bytes of the layout and of the largest dn_run_sum over n_rows rows. */
double dni_linear_bytes(const dni_linear_shape *shape, size_t n_rows);

/* Sets up a problem with cross-entropy and the L2 penalty `lambda`.
 *
 *   moments   of the columns of `rows`
 *   uses      flags of dni_linear_uses
 *   problem   the caller releases it with dni_linear_done, also after a failure
 *
 * Errors: those of dn_run_alloc; DN_ERR_BUDGET: the number of variables exceeds what BLAS can
 * index. */
DN_MUST_USE dn_status dni_linear_init(dni_linear_problem *problem, const dn_rows *rows,
                                      size_t n_classes, double lambda, const dni_moments *moments,
                                      unsigned uses, const dn_run *run, dn_error *err);
void dni_linear_done(dni_linear_problem *problem);
/* Adds l1·‖W‖₁ to the penalty: sets `l1` and fills `threshold`, which the caller stores in
 * dni_objective.l1. Call it after `intercept` is set. */
void dni_linear_set_l1(dni_linear_problem *problem, double l1);
/* True if there is no penalty. Then a minimum may not exist. */
static inline bool dni_linear_unpenalised(const dni_linear_problem *problem) {
    return problem->lambda == 0 && problem->l1 == 0;
}

/* Converts the solver's variables x [n] to original variables, and original variables to x. */
void dni_linear_to_original(const dni_linear_problem *problem, const double *x, double *original);
void dni_linear_from_original(const dni_linear_problem *problem, const double *original, double *x);
/* Converts original variables to the layout of dni_tile_scores (`table` [n]), and a table of sums
 * to the layout of original variables. */
void dni_linear_set_table(const dni_linear_problem *problem, const double *original, double *table);
void dni_linear_read_table(const dni_linear_problem *problem, const double *table,
                           double *original);

/* ---- passes over the rows: linear_problem.c ---- */
/* Computes the value and the gradient of f without l1 at x, in the solver's variables. Sets
 * problem->original, gradient and sums. */
dn_status dni_linear_evaluate(void *ctx, const dn_run *run, const double *x, double *value,
                              double *gradient, dn_error *err);
/* Sets `sums` and `gradient` at `point`, without the penalty and without division by Σv. The point
 * has the original variables or, with EXPAND, the weights and intercepts for (x − m)/s. */
DN_MUST_USE dn_status dni_linear_pass(dni_linear_problem *problem, const double *point,
                                      dn_error *err);
/* *out ← λmax of Σ v x̃x̃ᵀ/Σv, x̃ = [x, 1], by power iteration from a random start (seed of the
 * run): at most 100 passes. DN_ERR_NUMERIC: λmax is 0 or not finite. Overwrites table and
 * block_sums. */
DN_MUST_USE dn_status dni_linear_largest_eigenvalue(dni_linear_problem *problem, double *out,
                                                    dn_error *err);
/* *out ← Σv²/Σv: the mean weight of a row that is drawn with probability v/Σv. */
DN_MUST_USE dn_status dni_linear_mean_drawn_weight(dni_linear_problem *problem, double *out,
                                                   dn_error *err);

/* ---- second derivatives as a matrix: linear_hessian.c ---- */
/* hessian [n × n], lower triangle ← Hessian of f without l1 at x. Curvature is added where the
 * Hessian would be singular: along null_basis, for constant columns, and along equal changes of the
 * variables of all classes, which do not change probabilities. With l1 equal changes of weights get
 * no curvature, because the penalty depends on them. */
dn_status dni_linear_hessian(void *ctx, const dn_run *run, const double *x, double *hessian,
                             dn_error *err);
/* gram [width × width], lower triangle ← Σ v zzᵀ/Σv over every stride-th block, z = [(x − m)/s,
 * 1]. */
DN_MUST_USE dn_status dni_linear_gram(dni_linear_problem *problem, size_t stride, double *gram,
                                      dn_error *err);

/* ---- second derivatives without a matrix: linear_product.c ---- */
/* product [n] ← H v [n], where H is the Hessian of f without l1 at x, without added curvature. One
 * pass. */
dn_status dni_linear_product(void *ctx, const dn_run *run, const double *x, const double *v,
                             double *product, dn_error *err);
/* diagonal [n] ← the diagonal of H, with 1 in place of 0. One pass. */
dn_status dni_linear_diagonal(void *ctx, const dn_run *run, const double *x, double *diagonal,
                              dn_error *err);
/* out [n] ← Σ v (∂²ℓ/∂g²)(q)[x, 1], q the scores of a direction in the original variables. The
 * derivatives are taken at the point in problem->table; a quadratic loss does not need it. `out`
 * may be problem->gradient. */
DN_MUST_USE dn_status dni_linear_pass_along(dni_linear_problem *problem, const double *direction,
                                            double *out, dn_error *err);

/* ---- steps of stochastic descent: linear_batch.c ---- */
/* Number of dense rows, of `width` − 1 numbers each, that dni_linear_batch copies at once. */
size_t dni_linear_gathered_rows(size_t width);
/* Implement dni_sgd_settings.step and .step_lazily: one step in the original variables, for a
 * problem without DNI_LINEAR_STANDARDISE. dni_linear_batch is for dense rows.
 * dni_linear_batch_lazily is for sparse rows; its point is transposed (dni_linear_set_table). */
dn_status dni_linear_batch(dni_linear_problem *problem, const dn_block *block, const size_t *order,
                           size_t n_rows, double rate, double *x, double *weight, dn_error *err);
dn_status dni_linear_batch_lazily(dni_linear_problem *problem, const dn_block *block,
                                  const size_t *order, size_t n_rows, double rate, dni_lazy *point,
                                  dn_error *err);

#endif
