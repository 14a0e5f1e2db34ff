/* The objective of logistic regression as a solver sees it: a mean loss over rows plus a penalty, in variables of the solver's choice.
 *
 *   stated variables:   one row [w_k, b_k] for each score k, `width` = d + 1 numbers
 *   solver's variables: u_kj = s_j w_kj,  c_k = b_k + Σ_j w_kj m_j   (columns centred by m and divided by s, without ever being written)
 * With m = 0 and s = 1 the two are the same. The change is by one number for each weight, so Σ|w_kj| is Σ|u_kj|/s_j: a zero is a zero in both. */
#ifndef DNI_LOGISTIC_LOSS_H
#define DNI_LOGISTIC_LOSS_H

#include "learners/shared/moments.h"
#include "optimize/lazy.h"
#include <discern/rows.h>
#include <discern/run.h>

/* Working memory of one thread. */
typedef struct dni_logistic_slot {
    double *scores;  /* [DNI_TILE_ROWS × n_scores] scores, then residuals or probabilities */
    double *weights; /* [DNI_TILE_ROWS] coefficients of a Gram matrix */
    double
        *z; /* [DNI_TILE_ROWS × width] expanded rows; NULL without DNI_LOGISTIC_HESSIAN or _GRAM */
    double *scratch; /* [DNI_TILE_ROWS × width]; likewise */
    double *target;  /* [DNI_TILE_ROWS] of gathered rows */
    double *
        along; /* [DNI_TILE_ROWS × n_scores] scores of a direction; NULL without DNI_LOGISTIC_PRODUCT */
} dni_logistic_slot;

enum dni_logistic_uses {
    DNI_LOGISTIC_CHANGE = 1,  /* m and s are the columns' moments */
    DNI_LOGISTIC_HESSIAN = 2, /* dni_logistic_hessian will be called */
    DNI_LOGISTIC_GRAM = 4,    /* dni_logistic_gram will be called */
    DNI_LOGISTIC_BATCH = 8,   /* dni_logistic_batch or _batch_lazily will be called */
    DNI_LOGISTIC_PRODUCT = 16 /* dni_logistic_product and _diagonal will be called */
};

typedef struct dni_logistic {
    const dn_run *run; /* of the fit: its stop is polled within blocks too */
    const dn_rows *rows;
    size_t n_classes; /* K */
    size_t n_scores;  /* 1 for two classes, K otherwise */
    size_t width;     /* n_cols + 1 */
    size_t n;         /* n_scores · width */
    bool sparse;      /* rows are CSR: tables are held transposed in a pass */
    bool
        squared; /* the loss is ½Σ(y − r)², not the cross-entropy; the caller's to set after dni_logistic_init */
    double lambda; /* of λ‖w‖² */
    double l1;     /* of l1·‖w‖₁ */
    double *
        threshold; /* [n] the factors of |u| and |c| in the solver's variables: l1/s, and 0 for intercepts */
    double total_weight; /* Σv */
    double *shift;       /* [n_cols] m of the solver's variables */
    double *scale;       /* [n_cols] s of the solver's variables, > 0 */
    double *stated;      /* [n_scores × width] the stated variables of the last evaluation */
    double *
        gradient; /* [n_scores × width] of the objective without l1 in the stated variables, at the last evaluation */
    double *table;      /* [n] `stated` as a pass wants it (transposed when sparse) */
    double *sums;       /* [3 + n] what a pass gives */
    double wrong;       /* weight of the rows misclassified at the last evaluation */
    double unseparated; /* rows there whose score for the true class is not above every other */
    double u_floor;     /* dni_logistic_count_below's bound */
    size_t n_slots;
    dni_logistic_slot *slots; /* [n_slots] */
    void *memory;             /* what the vectors above point into */
    void *slot_memory;        /* what the slots point into */
    double *hessian_sums;     /* [pairs × width²]; NULL without DNI_LOGISTIC_HESSIAN */
    double *
        along; /* [n] a direction as a pass wants it, like `table`; NULL without DNI_LOGISTIC_PRODUCT */
    double *products; /* [2n] what a pass with it gives; NULL without DNI_LOGISTIC_PRODUCT */
    double *
        batch; /* gathered rows, or of sparse ones a batch's residuals; NULL without DNI_LOGISTIC_BATCH */
    size_t gram_stride; /* of dni_logistic_gram */
    const double *
        null_basis; /* [n_null × n_cols] unit directions of the solver's weights that no score sees; the Hessian is made definite there */
    size_t n_null;
} dni_logistic;

/* Sets up for rows whose moments are given. `uses` is a sum of dni_logistic_uses. *loss is to be freed with dni_logistic_done even after a failure. */
DN_MUST_USE dn_status dni_logistic_init(dni_logistic *loss, const dn_rows *rows, size_t n_classes,
                                        double lambda, const dni_moments *moments, unsigned uses,
                                        const dn_run *run, dn_error *err);
void dni_logistic_done(dni_logistic *loss, const dn_run *run);
/* Bytes that dni_logistic_init takes, with what sums over blocks take beside. */
double dni_logistic_memory(size_t n_rows, size_t n_cols, size_t n_classes, size_t n_slots,
                           unsigned uses);

/* The penalty gets l1·‖w‖₁ too (0 at first): sets `threshold`. */
void dni_logistic_set_l1(dni_logistic *loss, double l1);
/* Value and gradient at x (solver's variables) of all but l1·‖w‖₁; ctx is the dni_logistic. */
dn_status dni_logistic_evaluate(void *ctx, const dn_run *run, const double *x, double *value,
                                double *gradient, dn_error *err);
/* Hessian at x of the cross-entropy and the L2 penalty, made definite in the directions that the objective does not see (the same change of all classes;
 * null_basis). With l1 the same change of all classes is seen: there it stays semidefinite for the weights. */
dn_status dni_logistic_hessian(void *ctx, const dn_run *run, const double *x, double *hessian,
                               dn_error *err);
/* The same Hessian, not made definite, times v; and its diagonal, with 1 where it is 0. A pass over the rows each. logistic_product.c. */
dn_status dni_logistic_product(void *ctx, const dn_run *run, const double *x, const double *v,
                               double *product, dn_error *err);
dn_status dni_logistic_diagonal(void *ctx, const dn_run *run, const double *x, double *diagonal,
                                dn_error *err);
/* gram [width × width], lower triangle ← Σ v z zᵀ / Σv over every stride-th block, z a row in the solver's variables with its 1 behind. */
DN_MUST_USE dn_status dni_logistic_gram(dni_logistic *loss, const dn_run *run, size_t stride,
                                        double *gram, dn_error *err);
/* λmax of Σ v x̃x̃ᵀ/Σv, x̃ = [x, 1] in the stated variables, by power iteration from a seeded start. */
DN_MUST_USE dn_status dni_logistic_largest_eigenvalue(dni_logistic *loss, const dn_run *run,
                                                      double *out, dn_error *err);
/* How many rows have v(1 − p(true)) below `floor` at the last evaluation's variables. */
DN_MUST_USE dn_status dni_logistic_count_below(dni_logistic *loss, const dn_run *run, double floor,
                                               double *out, dn_error *err);
/* One step of stochastic descent in the stated variables (without DNI_LOGISTIC_CHANGE), as dni_sgd_settings wants it: dense rows, and sparse rows with the point as
 * dni_logistic_set_table lays it out. logistic_batch.c. */
dn_status dni_logistic_batch(dni_logistic *loss, const dn_block *block, const size_t *order,
                             size_t n_rows, double rate, double *x, double *weight, dn_error *err);
dn_status dni_logistic_batch_lazily(dni_logistic *loss, const dn_block *block, const size_t *order,
                                    size_t n_rows, double rate, dni_lazy *point, dn_error *err);
/* How many dense rows of `width` - 1 numbers a batch gathers at once. */
size_t dni_logistic_gathered_rows(size_t width);
/* Σv²/Σv: the weight that a row has on average over the weight there is; 1 without weights. One pass. */
DN_MUST_USE dn_status dni_logistic_typical_weight(dni_logistic *loss, const dn_run *run,
                                                  double *out, dn_error *err);

/* stated ← the stated variables of x, and back. */
void dni_logistic_state(const dni_logistic *loss, const double *x, double *stated);
void dni_logistic_unstate(const dni_logistic *loss, const double *stated, double *x);
/* table [n] ← the stated variables as dni_tile_scores wants them. */
void dni_logistic_set_table(const dni_logistic *loss, const double *stated, double *table);
/* Nothing holds the weights back: the minimum may not exist. */
static inline bool dni_logistic_unpenalised(const dni_logistic *loss) {
    return loss->lambda == 0 && loss->l1 == 0;
}

/* ---- logistic_residuals.c ---- */
/* What rows add to the loss and to the counts. */
typedef struct dni_logistic_tally {
    double loss;        /* Σ vℓ */
    double wrong;       /* Σv of the rows misclassified */
    double unseparated; /* rows whose score for the true class is not above every other */
} dni_logistic_tally;
/* scores [n_rows × n_scores] of a tile → v ∂ℓ/∂g, and its tally. */
void dni_logistic_residuals(const dni_logistic *loss, const dn_block *tile, double *scores,
                            dni_logistic_tally *tally);
/* Largest eigenvalue of the second derivatives of ℓ in the scores, over all scores. */
double dni_logistic_curvature(const dni_logistic *loss);

/* A tile of a block: rows first … of it, and its targets and weights. */
dn_block dni_logistic_tile(const dn_block *block, size_t first);

#endif
