/* Quantities of a Newton step of a fit with two classes: the condition number of the Hessian, and
 * the weighted least squares problem whose solution is the full step.
 *
 *   R_n = p_n (1 − p_n),   z_n = wᵀφ_n − (p_n − t_n)/R_n,   w_new = (ΦᵀRΦ)⁻¹ ΦᵀR z
 *
 * Bishop, PRML, section 4.3.3, equations 4.97–4.103; Hastie, Tibshirani and Friedman, ESL,
 * equations 4.26 and 4.27. */
#include "learners/logistic/logistic_fit.h"
#include "linalg/eigen.h"
#include "linalg/vector.h"

#include <float.h>
#include <math.h>

/* out [order × order], lower triangle ← the Hessian with respect to the original weights and
 * intercept (u = s w, c = b + Σ w m), without the row of an intercept that is fixed. Returns
 * `order`. */
static size_t to_original(const dni_linear_problem *p, const double *hessian, double *out) {
    const size_t width = p->width, d = width - 1,
                 order = p->intercept == DNI_INTERCEPT_NONE ? d : width;
    const double *last = hessian + d * width;
    for (size_t i = 0; i < order; i++) {
        const double m = i < d ? p->shift[i] : 1;
        for (size_t j = 0; j <= i; j++) {
            double sum = m * (j < d ? p->shift[j] : 1) * last[d];
            sum += j < d ? m * p->scale[j] * last[j] : 0;
            sum += i < d ? p->scale[i] * p->shift[j] * last[i] : 0;
            sum += i < d ? p->scale[i] * p->scale[j] * hessian[i * width + j] : 0;
            out[i * order + j] = sum;
        }
    }
    return order;
}

static dn_status find_condition(dni_logistic_fit *fit, const double *hessian, dn_error *err) {
    double least = 0, greatest = 0, *h = fit->arrays.hessian;
    const size_t order = to_original(&fit->problem, hessian, h);
    bool finite = fit->n_null == 0 && order > 0;
    for (size_t i = 0; finite && i < order; i++) {
        finite = dni_all_finite(h + i * order, i + 1);
    }
    fit->condition = (double)INFINITY;
    if (!finite) {
        return DN_OK;
    }
    dn_error why;
    dn_error_clear(&why);
    const dn_status status = dni_symmetric_extremes(fit->run, h, order, &least, &greatest, &why);
    if (status == DN_OK && least > (double)order * DBL_EPSILON * greatest) {
        fit->condition = greatest / least;
    }
    if (status == DN_OK || status == DN_ERR_NUMERIC) {
        return DN_OK;
    }
    if (err != NULL) {
        *err = why;
    }
    return status;
}

/* Stores R and z of the rows of a block. */
static dn_status irls_block(void *arg, const dn_block *block, size_t slot, dn_error *err) {
    dni_logistic_fit *fit = arg;
    const dni_linear_problem *p = &fit->problem;
    const size_t first = fit->n_hessians * p->rows->n_rows;
    double *scores = p->slots[slot].scores;
    dni_tiles tiles = dni_tiles_of(p->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *tile = &tiles.tile;
        double *weights = fit->arrays.irls_weights + first + tile->first_row,
               *response = fit->arrays.irls_response + first + tile->first_row;
        dni_tile_scores(tile->x, p->table, 1, scores);
        for (size_t t = 0; t < tile->x.n_rows; t++) {
            const double g = scores[t], e = exp(-fabs(g)), small = e / (1 + e), big = 1 / (1 + e);
            const bool second = tile->target[t] > 0.5;
            const double wrong = (g > 0) == second ? small : big; /* p of the wrong class */
            weights[t] = small * big;
            response[t] = g + (second ? wrong : -wrong) / weights[t];
        }
    }
    return tiles.status;
}

dn_status dni_logistic_note_hessian(dni_logistic_fit *fit, const double *hessian, dn_error *err) {
    dn_status status = DN_OK;
    if (fit->arrays.hessian != NULL && fit->run->progress != NULL) {
        status = find_condition(fit, hessian, err);
    }
    if (status == DN_OK && fit->arrays.irls_weights != NULL &&
        fit->n_hessians < fit->plan.max_iterations) {
        status = dn_run_each(fit->run, fit->problem.rows, irls_block, fit, err);
        fit->n_hessians++;
    }
    return status;
}

void dni_logistic_report_irls(dni_logistic_fit *fit) {
    const size_t n = fit->n_hessians * fit->problem.rows->n_rows;
    if (n > 0) {
        dn_report_list(fit->report, "irls_weights", fit->arrays.irls_weights, n);
        dn_report_list(fit->report, "irls_response", fit->arrays.irls_response, n);
    }
}
