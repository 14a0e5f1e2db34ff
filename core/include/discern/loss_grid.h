/* The error surface of a linear model: a loss over one or two of its weights. The other weights
 * keep the values of the model.
 *
 *   L = Σ_i v_i ℓ_i / Σ_i v_i
 *
 * v_i is the weight of row i; there is no penalty and no class weight. The weights are those of raw
 * features (dn_linear): g = Σ_j w_j x_raw,j + w0.
 *
 * One score g for two classes (or one of several machines), t = 1 for rows of the positive class
 * and t = −1 for the others:
 *
 *   cross_entropy  ln(1 + e^{−tg})
 *   squared_error  ½ (p − r)²,  p = 1/(1 + e^{−g}),  r = 1 if t = 1, otherwise 0
 *                  least_squares: ½ (g − T)², with the target T that the score is fitted to
 *   hinge          max(0, 1 − tg)
 *   perceptron     max(0, −tg)
 *
 * K scores g_k fitted together, c the class of the row, h = max_{k≠c} g_k:
 *
 *   cross_entropy  ln Σ_k e^{g_k} − g_c
 *   squared_error  ½ Σ_k (p_k − r_k)²,  p = softmax(g),  r_c = 1, otherwise 0
 *                  least_squares: ½ Σ_k (g_k − T_k)²
 *   hinge          max(0, 1 − (g_c − h))
 *   perceptron     max(0, h − g_c)
 *
 * A calibration has no effect. Bishop, Pattern Recognition and Machine Learning, sections 4.3.2,
 * 4.1.7 and 7.1.2; Duda, Hart and Stork, Pattern Classification, section 5.12.1; Crammer and
 * Singer, JMLR 2, 2001; Glorot and Bengio, AISTATS 2010, figure 5. */
#ifndef DISCERN_LOSS_GRID_H
#define DISCERN_LOSS_GRID_H

#include <discern/api.h>
#include <discern/model.h>
#include <discern/run.h>
#include <discern/status.h>
#include <discern/table.h>
#include <stddef.h>

DN_BEGIN_DECLS

#define DN_MAX_LOSS_VALUES 1001            /* maximum number of values of one weight */
#define DN_MAX_LOSS_POINTS 250000          /* maximum number of points of a grid */
#define DN_MAX_LOSS_EVALUATIONS 2000000000 /* maximum number of rows times points */

typedef enum dn_loss {
    DN_LOSS_CROSS_ENTROPY,
    DN_LOSS_SQUARED_ERROR,
    DN_LOSS_HINGE,
    DN_LOSS_PERCEPTRON
} dn_loss;

/* A weight that varies. */
typedef struct dn_loss_axis {
    size_t feature;       /* index of a feature (dn_encoder_feature_name); n_features: w0 */
    const double *values; /* [n_values] finite */
    size_t n_values;      /* 1 … DN_MAX_LOSS_VALUES */
} dn_loss_axis;

typedef struct dn_loss_grid_options {
    size_t struct_size; /* sizeof, or 0: see api.h */
    dn_loss loss;
    size_t score; /* the row of dn_linear.w that varies. With several machines, the loss is that of
                   * the machine of this score; rows of neither of its classes are ignored */
    dn_loss_axis axis[2];
    size_t n_axes;      /* 1 or 2 */
    const char *weight; /* as in dn_evaluate_options */
    const char *target; /* as in dn_evaluate_options */
} dn_loss_grid_options;

/* Results. Made by the library; may grow at its end. */
typedef struct dn_loss_grid {
    size_t n_x, n_y; /* number of values of axis[0] and of axis[1]; n_y is 1 without a second
                      * axis */
    double *value;   /* [n_y × n_x] L; axis[0] varies fastest */
    size_t best;     /* index of the least value; of several equal values the first */
    size_t n_rows;   /* number of rows over which L is the mean */
} dn_loss_grid;

/* Returns true if the model has weights that can vary: its machines are linear and it has
 * classes other than inlier and outlier. */
bool dn_model_has_loss_grid(const dn_model *model);

/* Computes a loss of a labelled table over a grid of weights.
 *
 *   run  NULL is allowed
 *   out  set on success; free it with dn_loss_grid_free
 *
 * Errors: those of dn_model_evaluate. DN_ERR_ARGUMENT: the options are invalid (field "weights",
 * "score" or "loss"), or the model has no weights that can vary. DN_ERR_DATA: no row has a class;
 * more than DN_MAX_LOSS_EVALUATIONS rows times points; a score or a loss is not finite. Cost: one
 * pass over the table with a score of each row, then O(1) for each row and point. Memory: the class
 * indices and weights of the rows, one block of encoded rows, dn_run_sum of n_x n_y + 2 numbers.
 * The result does not depend on the number of threads. Polls run->stop at least once for each
 * DN_BLOCK_ROWS rows and each row of the grid. */
DN_MUST_USE dn_status dn_model_loss_grid(const dn_model *model,
                                         const dn_table_source *source,
                                         const dn_loss_grid_options *options,
                                         const dn_run *run,
                                         dn_loss_grid **out,
                                         dn_error *err);
void dn_loss_grid_free(dn_loss_grid *grid); /* NULL is allowed */

DN_END_DECLS

#endif
