/* Gaussian class densities of a tile of rows, by whitening. */
#include "machine/gaussian_tiles.h"
#include "linalg/normals.h"
#include "linalg/tile.h"
#include "linalg/triangle.h"
#include "linalg/vector.h"

#include <math.h>

#define LN_2PI 1.8378770664093454835606594728112

size_t dni_gaussians_tile_work(bool whitened, size_t d) {
    return (whitened ? DNI_TILE_ROWS : 1) * (d + 1);
}

dn_status dni_gaussians_centre(const dni_gaussians *g, size_t K, size_t d, const dn_run *run,
                               double *centre, dn_error *err) {
    for (size_t k = 0; k < K; k++) {
        for (size_t j = 0; j < d; j++) {
            centre[k * d + j] = g->mean[k * d + j] - g->mean[j];
        }
    }
    return dni_lower_times_rows(run, g->whiten, d, centre, K, d, err);
}

/* Returns the terms of the log density of class k that do not depend on x. */
static double constant_of(const dni_gaussians *g, size_t k, size_t n_used) {
    const double log_det = g->log_det[g->covariance == DNI_COVARIANCE_SHARED ? 0 : k];
    return log(g->prior[k]) - 0.5 * (log_det + (double)n_used * LN_2PI);
}

static void diagonal_tile(const dni_gaussians *g, size_t K, size_t d, dn_matrix x, double *work,
                          double *joint) {
    const size_t n_used = dni_gaussians_n_used(g, d);
    for (size_t t = 0; t < x.n_rows; t++, joint += K) {
        const double *row = work;
        if (x.kind == DN_DENSE) {
            row = x.values + t * x.stride;
        } else {
            dni_tile_expand(dn_matrix_rows(x, t, 1), NULL, NULL, work);
        }
        for (size_t k = 0; k < K; k++) {
            joint[k] = constant_of(g, k, n_used);
        }
        dni_subtract_half_squares(row, g->mean, g->whiten, d, d, K, joint);
    }
}

dn_status dni_gaussians_joint_tile(const dni_gaussians *g, size_t K, size_t d, const double *centre,
                                   dn_matrix x, const dn_run *run, double *work, double *joint,
                                   dn_error *err) {
    if (g->covariance == DNI_COVARIANCE_DIAGONAL) {
        diagonal_tile(g, K, d, x, work, joint);
        return DN_OK;
    }
    const size_t n_used = dni_gaussians_n_used(g, d);
    const bool shared = g->covariance == DNI_COVARIANCE_SHARED;
    for (size_t k = 0; k < K; k++) {
        if (k == 0 || centre == NULL) {
            dni_tile_centre(x, g->mean + k * d, work);
            dn_status status = dni_lower_times_rows(run, g->whiten + (shared ? 0 : k * d * d), d,
                                                    work, x.n_rows, d, err);
            if (status != DN_OK) {
                return status;
            }
        }
        const double constant = constant_of(g, k, n_used);
        for (size_t t = 0; t < x.n_rows; t++) {
            const double *z = work + t * d;
            const double square =
                centre == NULL ? dni_dot(z, z, d) : dni_square_distance(z, centre + k * d, d);
            joint[t * K + k] = constant - 0.5 * square;
        }
    }
    return DN_OK;
}
