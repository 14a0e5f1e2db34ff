/* Ledoit and Wolf, "A well-conditioned estimator for large-dimensional covariance matrices",
 * Journal of Multivariate Analysis 88, 2004, section 3.2, for rows z = (x − m)/σ that are centred
 * and scaled within their classes. R = Σ v z zᵀ / n has a diagonal of ones, so that the target is
 * the identity.
 *
 *   δ² = ‖R − I‖²
 *   β² = min(δ², Σ v ‖z zᵀ − R‖² / n²) = min(δ², (Σ v ‖z‖⁴ / n − ‖R‖²) / n)
 *   s = β²/δ²
 *
 * with Frobenius norms and n = Σv for weights v of mean 1, or frequencies (dn_weights). β²
 * estimates the squared error of R, δ² is the squared distance from R to I. s minimises the
 * expected squared distance between the shrunk matrix and the true matrix. */
#include "learners/shared/shrinkage.h"
#include "learners/shared/learner.h"
#include "linalg/tiles.h"

#include <math.h>
#include <string.h>

const char *const dni_shrinkages[] = {"if_singular", "auto", NULL};
const char *const dni_shrinkage_meanings[] = {
    "0 if the matrix is regular, otherwise the same as auto, with a warning",
    "the estimate of Ledoit and Wolf from the rows", NULL};

struct shrinkage_pass {
    const dn_run *run;
    size_t only;           /* class whose rows are used; SIZE_MAX: rows of all classes */
    const double *mean;    /* [n_classes × d] */
    const double *scatter; /* [d × d] with the diagonal n σ² */
    double weight;
};

/* Returns ‖z‖² of row t. m: [d] mean of the class of the row. */
static double square_length(const struct shrinkage_pass *pass, dn_matrix x, size_t t,
                            const double *m) {
    size_t e = x.kind == DN_CSR ? x.row_start[t] : 0;
    double length = 0;
    for (size_t j = 0; j < x.n_cols; j++) {
        const double variance = pass->scatter[j * x.n_cols + j] / pass->weight;
        double value = 0;
        if (x.kind == DN_DENSE) {
            value = x.values[t * x.stride + j];
        } else if (e < x.row_start[t + 1] && x.cols[e] == j) {
            value = x.values[e++];
        }
        length += variance > 0 ? (value - m[j]) * (value - m[j]) / variance : 0;
    }
    return length;
}

/* out: Σ v ‖z‖⁴ */
static dn_status add_fourth_powers(const void *arg, const dn_block *block, size_t slot, double *out,
                                   dn_error *err) {
    (void)slot;
    const struct shrinkage_pass *pass = arg;
    dni_tiles tiles = dni_tiles_of(pass->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *tile = &tiles.tile;
        for (size_t t = 0; t < tile->x.n_rows; t++) {
            const size_t k = (size_t)tile->target[t];
            if (tile->weight[t] != 0 && (pass->only == SIZE_MAX || k == pass->only)) {
                double length = square_length(pass, tile->x, t, pass->mean + k * tile->x.n_cols);
                out[0] += tile->weight[t] * length * length;
            }
        }
    }
    return tiles.status;
}

bool dni_shrinkage_if_singular(const dn_params *params) {
    const char *word = dn_params_word(params, "shrinkage");
    return word != NULL && strcmp(word, "if_singular") == 0;
}

dn_status dni_shrinkage_choose(const dn_fit_input *input, const dn_run *run, const double *mean,
                               size_t only, const double *scatter, double weight, double *out,
                               dn_error *err) {
    if (dn_params_word(input->params, "shrinkage") == NULL) {
        *out = dn_params_number(input->params, "shrinkage");
        return DN_OK;
    }
    if (dni_shrinkage_if_singular(input->params)) {
        *out = 0;
        return DN_OK;
    }
    return dni_shrinkage_estimate(input, run, mean, only, scatter, weight, out, err);
}

dn_status dni_shrinkage_estimate(const dn_fit_input *input, const dn_run *run, const double *mean,
                                 size_t only, const double *scatter, double weight, double *out,
                                 dn_error *err) {
    const size_t d = input->rows->n_cols;
    struct shrinkage_pass pass = {run, only, mean, scatter, weight};
    double fourth, off = 0, ones = 0;
    dn_status status =
        dn_run_sum(run, input->rows, &(dn_sum){add_fourth_powers, &pass, sizeof pass, 1}, &fourth,
                   err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < d; i++) {
        ones += scatter[i * d + i] > 0;
        for (size_t j = 0; j < i; j++) {
            double product = sqrt(scatter[i * d + i]) * sqrt(scatter[j * d + j]);
            double r = product > 0 ? scatter[i * d + j] / product : 0;
            off += 2 * r * r;
        }
    }
    const double n = weight * dni_rows_per_weight(input),
                 error = fmax((fourth / weight - (off + ones)) / n, 0);
    *out = error < off ? error / off : 1; /* if R = I, s has no effect */
    return DN_OK;
}

dn_status dni_shrinkage_towards(const dn_fit_input *input, const dn_run *run, const double *mean,
                                size_t k, const double *scatter, double weight,
                                const double *target, double *out, dn_error *err) {
    const size_t d = input->rows->n_cols;
    const double n = weight * dni_rows_per_weight(input);
    const struct shrinkage_pass pass = {run, k, mean, target, 1};
    double fourth, square = 0, away = 0;
    dn_status status =
        dn_run_sum(run, input->rows, &(dn_sum){add_fourth_powers, &pass, sizeof pass, 1}, &fourth,
                   err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j <= i; j++) {
            const double product = sqrt(target[i * d + i]) * sqrt(target[j * d + j]);
            if (!(product > 0)) {
                continue;
            }
            const double c = scatter[i * d + j] / weight / product, t = target[i * d + j] / product,
                         times = i == j ? 1 : 2;
            square += times * c * c;
            away += times * (c - t) * (c - t);
        }
    }
    const double error = fmax((fourth / weight - square) / n, 0);
    *out = fmax(error < away ? error / away : 1, n > 1 ? 1 / n : 1);
    return DN_OK;
}

double dni_shrinkage_raise(double s) {
    return fmin(1, 10 * fmax(s, 1e-10));
}

void dni_shrinkage_apply(double *matrix, size_t d, double s) {
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < i; j++) {
            matrix[i * d + j] *= 1 - s;
        }
    }
}
