/* The objective of a network over all rows: a forward and a backward pass for each tile of rows,
 * summed over the blocks.
 *
 *   two classes  ℓ = ln(1 + e^g) − r g,        ∂ℓ/∂g = σ(g) − r
 *   K classes    ℓ = ln Σ_k e^{g_k} − g_r,     ∂ℓ/∂g_k = p_k − [k = r]
 *   δ_L = v ∂ℓ/∂g,   δ_{l−1} = (δ_l W_lᵀ) ∘ h′
 *
 * Bishop, PRML, equations (5.54)-(5.56); Rumelhart, Hinton and Williams, Nature 323, 1986. Cost of
 * a pass: O(entries · units) per layer. Does not allocate. */
#include "learners/mlp/mlp_loss.h"
#include "base/layout.h"
#include "linalg/layer.h"
#include "linalg/step.h"
#include "linalg/tile.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */
struct loss_shape {
    const dni_layers *layers;
    size_t n_slots;
};

/* Rows of a tile: DNI_TILE_ROWS, fewer if the matrix products of a tile would take more than
 * DNI_STEP_FLOPS operations. Depends on the shape only. */
static size_t loss_tile_rows(const dni_layers *layers) {
    return dni_step_rows(DNI_TILE_ROWS, 6 * (double)dni_layers_numbers(layers), 16);
}

static void loss_layout(dni_layout *layout, const void *shape, void *work) {
    const struct loss_shape *s = shape;
    dni_mlp_loss *loss = work;
    const size_t n = dni_layers_numbers(s->layers), tiles = s->n_slots * loss_tile_rows(s->layers),
                 n_units = dni_layers_units(s->layers);
    loss->w = dni_layout_doubles(layout, n);
    loss->gradient = dni_layout_doubles(layout, n);
    loss->sums = dni_layout_doubles(layout, DNI_MLP_SUMS + n);
    loss->deviation = dni_layout_doubles(layout, s->layers->n_inputs);
    loss->outputs = dni_layout_matrix(layout, tiles, n_units);
    loss->delta = dni_layout_matrix(layout, tiles, n_units);
}

double dni_mlp_loss_memory(const dni_layers *layers, size_t n_rows, size_t n_slots) {
    const struct loss_shape shape = {layers, n_slots};
    dni_mlp_loss unused;
    return dni_layout_bytes(loss_layout, &shape, &unused) +
           dn_run_sum_memory(n_rows, n_slots, (double)dni_layers_numbers(layers) + DNI_MLP_SUMS);
}

/* ---- setup ---- */
/* out[0] += Σv of the training rows, out[1] += Σv of the validation rows. */
static dn_status weigh_block(const void *arg, const dn_block *block, size_t slot, double *out,
                             dn_error *err) {
    const dni_mlp_loss *loss = arg;
    (void)slot;
    (void)err;
    for (size_t t = 0; t < block->x.n_rows; t++) {
        out[loss->validation != NULL && loss->validation[block->first_row + t]] +=
            block->weight == NULL ? 1 : block->weight[t];
    }
    return DN_OK;
}

dn_status dni_mlp_loss_init(dni_mlp_loss *loss, const dn_rows *rows, size_t n_classes,
                            const dni_layers *layers, double lambda, const dni_moments *moments,
                            const bool *validation, const dn_run *run, dn_error *err) {
    const struct loss_shape shape = {layers, run->n_slots};
    double weights[2];
    *loss = (dni_mlp_loss){.run = run,
                           .rows = rows,
                           .layers = *layers,
                           .n_classes = n_classes,
                           .n_scores = n_classes == 2 ? 1 : n_classes,
                           .n = dni_layers_numbers(layers),
                           .n_first = layers->n_inputs * layers->units[0],
                           .n_units = dni_layers_units(layers),
                           .tile_rows = loss_tile_rows(layers),
                           .sparse = moments->sparse,
                           .lambda = lambda,
                           .mean = moments->mean,
                           .validation = validation};
    if (loss->n > SIZE_MAX / 256) {
        return dn_error_set(
            err, DN_ERR_MEMORY,
            "the weights of the layers over %zu features are more than can be addressed",
            layers->n_inputs);
    }
    dn_status status =
        dni_layout_take(run, loss_layout, &shape, loss,
                        "the weights of the network and tiles of activations", &loss->memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = dn_run_sum(run, rows, &(dn_sum){weigh_block, loss, sizeof *loss, 2}, weights, err);
    if (status != DN_OK) {
        return status;
    }
    loss->training_weight = weights[0];
    loss->validation_weight = weights[1];
    for (size_t j = 0; j < rows->n_cols; j++) {
        loss->deviation[j] = moments->deviation[j] > 0 ? moments->deviation[j] : (double)INFINITY;
    }
    return DN_OK;
}

void dni_mlp_loss_done(dni_mlp_loss *loss) {
    dn_run_free(loss->run, loss->memory);
    *loss = (dni_mlp_loss){0};
}

/* ---- variables ---- */
void dni_mlp_network_weights(const dni_mlp_loss *loss, const double *x, double *w) {
    const size_t units = loss->layers.units[0], d = loss->rows->n_cols;
    double *bias = w + loss->n_first;
    memcpy(bias, x + loss->n_first, (loss->n - loss->n_first) * sizeof *x);
    for (size_t j = 0; j < d; j++) {
        const double s = 1 / loss->deviation[j];
        for (size_t k = 0; k < units; k++) {
            w[j * units + k] = x[j * units + k] * s;
        }
        dni_axpy(-loss->mean[j], w + j * units, bias, units);
    }
}

void dni_mlp_standardise_gradient(const dni_mlp_loss *loss, size_t first, size_t n,
                                  double *gradient) {
    const size_t units = loss->layers.units[0];
    const double *bias = gradient + loss->n_first;
    for (size_t j = first; j < first + n; j++) {
        const double s = 1 / loss->deviation[j], m = loss->mean[j];
        for (size_t k = 0; k < units; k++) {
            gradient[j * units + k] = (gradient[j * units + k] - m * bias[k]) * s;
        }
    }
}

/* Returns λ Σ w² and adds its gradient to `gradient`. Biases are not penalised. */
static double add_penalty(const dni_mlp_loss *loss, const double *w, double *gradient) {
    double sum = 0;
    for (size_t l = 0, at = 0; l < loss->layers.n_layers; l++) {
        const size_t units = loss->layers.units[l],
                     weights = dni_layers_inputs(&loss->layers, l) * units;
        sum += dni_dot(w + at, w + at, weights);
        dni_axpy(2 * loss->lambda, w + at, gradient + at, weights);
        at += weights + units;
    }
    return loss->lambda * sum;
}

/* ---- a tile of rows ---- */
/* Two classes: returns ∂ℓ/∂g for the score g. Sets *wrong and *loss. */
static double sigmoid_residual(double g, double target, bool *wrong, double *loss) {
    const double e = exp(-fabs(g)), p = g >= 0 ? 1 / (1 + e) : e / (1 + e);
    *wrong = (g > 0) != (target == 1);
    *loss = log1p(e) + (g > 0 ? g : 0) - (target == 1 ? g : 0);
    return p - target;
}

/* K classes: residual [K] ← ∂ℓ/∂g = p_k − [k = truth] for the scores g. Sets *wrong and *loss. */
static void softmax_residual(const double *g, size_t K, size_t truth, double *residual, bool *wrong,
                             double *loss) {
    size_t best = 0;
    double sum = 0;
    for (size_t k = 1; k < K; k++) {
        best = g[k] > g[best] ? k : best;
    }
    const double largest = g[best], score = g[truth];
    *wrong = best != truth;
    for (size_t k = 0; k < K; k++) {
        sum += residual[k] = exp(g[k] - largest);
    }
    for (size_t k = 0; k < K; k++) {
        residual[k] /= sum;
    }
    residual[truth] -= 1;
    *loss = log(sum) + (largest - score);
}

void dni_mlp_residuals(const dni_mlp_loss *loss, const double *scores, const double *target,
                       const double *weight, size_t n, double *residual, dni_mlp_totals *totals) {
    const size_t S = loss->n_scores;
    for (size_t t = 0; t < n; t++) {
        const double v = weight[t];
        double *r = residual + t * S, loss_of_row;
        bool wrong;
        if (S == 1) {
            r[0] = sigmoid_residual(scores[t], target[t], &wrong, &loss_of_row);
        } else {
            softmax_residual(scores + t * S, S, (size_t)target[t], r, &wrong, &loss_of_row);
        }
        totals->loss += v > 0 ? v * loss_of_row : 0;
        totals->misclassified += wrong ? v : 0;
        for (size_t k = 0; k < S; k++) {
            r[k] = v > 0 ? v * r[k] : 0; /* with v = 0 r[k] may be NaN */
        }
    }
}

dn_status dni_mlp_backward(const dni_mlp_loss *loss, const double *w, size_t n,
                           const double *outputs, double *delta, dn_error *err) {
    const dni_layers *layers = &loss->layers;
    const size_t last = layers->n_layers - 1;
    size_t at = n * (loss->n_units - layers->units[last]);
    const double *table = w + loss->n - (layers->units[last - 1] + 1) * layers->units[last];
    for (size_t l = last; l > 0; l--) {
        const size_t units = layers->units[l], inputs = layers->units[l - 1],
                     below = at - n * inputs;
        dn_status status = dn_run_stop(loss->run, err);
        if (status != DN_OK) {
            return status;
        }
        dni_layer_backward(delta + at, n, table, inputs, units, delta + below);
        dni_activation_slopes(layers->activation, outputs + below, delta + below, n * inputs);
        table -= (dni_layers_inputs(layers, l - 1) + 1) * inputs;
        at = below;
    }
    return DN_OK;
}

/* ---- a pass ---- */
/* v [n] ← the weights of the rows of a tile. `validation` selects the validation rows or the
 * training rows; the weights of all other rows are set to 0. */
static void tile_weights(const dni_mlp_loss *loss, const dn_block *block, size_t first, size_t n,
                         bool validation, double *v) {
    for (size_t t = 0; t < n; t++) {
        const bool chosen = loss->validation == NULL ||
                            loss->validation[block->first_row + first + t] == validation;
        v[t] = !chosen ? 0 : block->weight == NULL ? 1 : block->weight[first + t];
    }
}

/* Adds the gradient of a tile to table [n], one layer after another. */
static dn_status add_gradient(const dni_mlp_loss *loss, dn_matrix x, const double *outputs,
                              const double *delta, double *table, dn_error *err) {
    const size_t n = x.n_rows;
    for (size_t l = 0; l < loss->layers.n_layers; l++) {
        const size_t units = loss->layers.units[l];
        dni_layer_gradient(x, delta, units, table);
        dn_status status = dn_run_stop(loss->run, err);
        if (status != DN_OK) {
            return status;
        }
        table += (x.n_cols + 1) * units;
        x = dn_matrix_dense(outputs, n, units);
        outputs += n * units;
        delta += n * units;
    }
    return DN_OK;
}

static dn_status pass_tile(const dni_mlp_loss *loss, const dn_block *block, size_t first, size_t n,
                           size_t slot, double *out, dn_error *err) {
    const size_t last = n * (loss->n_units - loss->n_scores),
                 tile = slot * loss->tile_rows * loss->n_units;
    const double *target = block->target + first;
    const dn_matrix x = dn_matrix_rows(block->x, first, n);
    double *outputs = loss->outputs + tile, *delta = loss->delta + tile, v[DNI_TILE_ROWS];
    dni_mlp_totals training = {0}, validation = {0};
    dn_status status = dni_layers_forward(&loss->layers, loss->w, x, loss->run, outputs, err);
    if (status != DN_OK) {
        return status;
    }
    if (loss->validation != NULL) {
        tile_weights(loss, block, first, n, true, v);
        dni_mlp_residuals(loss, outputs + last, target, v, n, delta + last, &validation);
    }
    tile_weights(loss, block, first, n, false, v);
    dni_mlp_residuals(loss, outputs + last, target, v, n, delta + last, &training);
    out[0] += training.loss;
    out[1] += training.misclassified;
    out[2] += validation.loss;
    status = dni_mlp_backward(loss, loss->w, n, outputs, delta, err);
    return status == DN_OK ? add_gradient(loss, x, outputs, delta, out + DNI_MLP_SUMS, err)
                           : status;
}

static dn_status pass_block(const void *arg, const dn_block *block, size_t slot, double *out,
                            dn_error *err) {
    const dni_mlp_loss *loss = arg;
    for (size_t first = 0, n; first < block->x.n_rows; first += n) {
        const size_t left = block->x.n_rows - first;
        n = left < loss->tile_rows ? left : loss->tile_rows;
        dn_status status = pass_tile(loss, block, first, n, slot, out, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

dn_status dni_mlp_loss_evaluate(void *ctx, const dn_run *run, const double *x, double *value,
                                double *gradient, dn_error *err) {
    dni_mlp_loss *loss = ctx;
    dni_mlp_network_weights(loss, x, loss->w);
    dn_status status = dn_run_sum(run, loss->rows,
                                  &(dn_sum){pass_block, loss, sizeof *loss, DNI_MLP_SUMS + loss->n},
                                  loss->sums, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < loss->n; i++) {
        loss->gradient[i] = loss->sums[DNI_MLP_SUMS + i] / loss->training_weight;
    }
    *value = loss->sums[0] / loss->training_weight + add_penalty(loss, loss->w, loss->gradient);
    loss->misclassified = loss->sums[1];
    loss->validation_loss =
        loss->validation == NULL ? (double)NAN : loss->sums[2] / loss->validation_weight;
    memcpy(gradient, loss->gradient, loss->n * sizeof *gradient);
    dni_mlp_standardise_gradient(loss, 0, loss->rows->n_cols, gradient);
    return DN_OK;
}
