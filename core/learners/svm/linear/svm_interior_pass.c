/* What the rows contribute to a step of the interior point: three passes, each reads a tile once.
 *
 *   ω = 1/(z/α + s/r)                                    rows' weights in the normal equations
 *   Δα = ω (ρ − Δm),  ρ = (1 − m) + σμ (1/α − 1/r) − ΔαΔz/α − ΔαΔs/r       (the products are the prediction's)
 *   Δz = (σμ − ΔαΔz − z Δα)/α − z,   Δs = (σμ + ΔαΔs + s Δα)/r − s
 * with U's share of σμ for each row: μ is the mean of the products, each in units of its U. 1 − m − s + z = 0 all along, from the start on, because m moves as far as z and s do. */
#include "learners/svm/linear/svm_interior.h"
#include "linalg/tile.h"

#include <string.h>

static size_t tile_rows(const dn_block *block, size_t first) {
    const size_t left = block->x.n_rows - first;
    return left < DNI_TILE_ROWS ? left : DNI_TILE_ROWS;
}

static bool counts(const dni_interior *ip, size_t i) {
    return ip->svm->upper[i] > 0;
}

static void step_row(dni_interior *ip, size_t i) {
    const double a = ip->step;
    ip->svm->alpha[i] += a * ip->d_alpha[i];
    ip->room[i] -= a * ip->d_alpha[i];
    ip->z[i] += a * ip->d_z[i];
    ip->s[i] += a * ip->d_s[i];
    ip->margin[i] += a * ip->d_margin[i];
}

/* Takes row i's step; its weight ω, and its coefficient in the right hand side. */
static double weigh(dni_interior *ip, size_t i, double *coef, double *sums) {
    const dni_svm_linear *svm = ip->svm;
    const double u = svm->upper[i], t = svm->sign[i];
    *coef = 0;
    if (!counts(ip, i)) {
        return 0;
    }
    if (ip->kind == DNI_IP_SMOOTH) { /* ∂/∂m of its loss is −α, its curvature α r/(U b) */
        *coef = t * svm->alpha[i];
        return svm->alpha[i] * ip->room[i] / u / ip->blur;
    }
    if (ip->step > 0) {
        step_row(ip, i);
    }
    const double m = ip->margin[i], a = svm->alpha[i], r = ip->room[i];
    ip->omega[i] = a * r / (ip->z[i] * r + ip->s[i] * a);
    *coef = t * ip->omega[i] * (1 - m);
    sums[DNI_IP_PRODUCTS] += a * ip->z[i] + r * ip->s[i];
    sums[DNI_IP_LOSS] += m < 1 ? u * (1 - m) : 0;
    sums[DNI_IP_ALPHA] += a;
    return ip->omega[i];
}

static dn_status form_block(void *arg, const dn_block *block, size_t slot_number, double *out,
                            dn_error *err) {
    dni_interior *ip = arg;
    const size_t width = ip->svm->width;
    const dni_svm_slot *slot = &ip->svm->slots[slot_number];
    double *vector = out + width * width, *sums = vector + width;
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        const size_t n = tile_rows(block, first), base = block->first_row + first;
        const dn_matrix x = dn_matrix_rows(block->x, first, n);
        for (size_t i = 0; i < n; i++) {
            slot->omega[i] = weigh(ip, base + i, &slot->coef[i], sums);
        }
        dni_tile_gradient(x, slot->coef, 1, vector);
        dn_status status;
        if (x.kind == DN_CSR && dni_tile_gram_sparse_pays(x)) {
            status = dni_tile_gram_sparse(ip->svm->run, x, slot->omega, 1, out, err);
        } else {
            dni_tile_expand(x, ip->shift, ip->shift == NULL ? NULL : ip->shift + width, slot->z);
            status = dni_tile_gram(ip->svm->run, slot->z, n, width, slot->omega, 1, slot->work, out,
                                   err);
        }
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

dn_status dni_interior_form(dni_interior *ip, dn_error *err) {
    const size_t width = ip->svm->width;
    dn_status status = dn_run_sum(ip->svm->run, ip->svm->input->rows, form_block, ip,
                                  width * width + width + DNI_IP_SUMS, ip->sums, err);
    if (status != DN_OK) {
        return status;
    }
    ip->step = 0;
    const double *sums = ip->sums + width * width + width;
    memcpy(ip->gram, ip->sums, width * width * sizeof *ip->gram);
    memcpy(ip->first, ip->sums + width * width, width * sizeof *ip->first);
    ip->products = sums[DNI_IP_PRODUCTS];
    ip->loss = sums[DNI_IP_LOSS];
    ip->alpha = sums[DNI_IP_ALPHA];
    return DN_OK;
}

/* How far the step leads into the border, as 1/step: the greatest so far and of this row. */
static inline double reach(double so_far, double a, double r, double z, double s, double d_alpha,
                           double d_z, double d_s) {
    const double alpha = d_alpha < 0 ? -d_alpha / a : d_alpha / r, up = -d_z / z, down = -d_s / s,
                 most = up > down ? up : down;
    const double row = alpha > most ? alpha : most;
    return row > so_far ? row : so_far;
}

static dn_status predict_block(void *arg, const dn_block *block, size_t slot_number, double *out,
                               dn_error *err) {
    dni_interior *ip = arg;
    const dni_svm_linear *svm = ip->svm;
    dni_svm_slot *slot = &svm->slots[slot_number];
    double *sums = out + 2 * svm->width, *coef = slot->coef;
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        const size_t n = tile_rows(block, first), base = block->first_row + first;
        const dn_matrix x = dn_matrix_rows(block->x, first, n);
        dn_status status = dn_run_stop(svm->run, err);
        if (status != DN_OK) {
            return status;
        }
        dni_tile_scores(x, ip->d_v, 1, slot->scores);
        for (size_t k = 0; k < n; k++) {
            const size_t i = base + k;
            coef[2 * k] = coef[2 * k + 1] = 0;
            if (!counts(ip, i)) {
                continue;
            }
            const double t = svm->sign[i], a = svm->alpha[i], r = ip->room[i], z = ip->z[i],
                         s = ip->s[i], omega = ip->omega[i];
            const double d_alpha = omega * (1 - ip->margin[i] - t * slot->scores[k]);
            const double d_z = -z - z * d_alpha / a, d_s = -s + s * d_alpha / r;
            slot->greatest = reach(slot->greatest, a, r, z, s, d_alpha, d_z, d_s);
            ip->d_z[i] = d_alpha * d_z;
            ip->d_s[i] = d_alpha * d_s;
            sums[DNI_IP_SECOND] += ip->d_z[i] - ip->d_s[i];
            coef[2 * k] = t * omega * svm->upper[i] * (1 / a - 1 / r);
            coef[2 * k + 1] = -t * omega * (ip->d_z[i] / a + ip->d_s[i] / r);
        }
        dni_tile_gradient(x, coef, 2, out);
    }
    return DN_OK;
}

static void clear_reach(dni_interior *ip) {
    for (size_t i = 0; i < ip->svm->run->n_slots; i++) {
        ip->svm->slots[i].greatest = 0;
    }
}

static double longest_step(const dni_interior *ip) {
    double greatest = 0;
    for (size_t i = 0; i < ip->svm->run->n_slots; i++) {
        greatest = fmax(greatest, ip->svm->slots[i].greatest);
    }
    return greatest > 0 ? 1 / greatest : (double)INFINITY;
}

/* What dni_tile_gradient has made of two residuals: of sparse rows column by column, of dense ones one table behind the other. */
static void take_both(dni_interior *ip) {
    const size_t width = ip->svm->width, step = ip->svm->moments.sparse ? 2 : 1,
                 second = ip->svm->moments.sparse ? 1 : width;
    for (size_t j = 0; j < width; j++) {
        ip->first[j] = ip->sums[step * j];
        ip->first[width + j] = ip->sums[step * j + second];
    }
}

dn_status dni_interior_predict(dni_interior *ip, double *out_step, double *out_second,
                               dn_error *err) {
    const size_t n_out = 2 * ip->svm->width + DNI_IP_SUMS;
    clear_reach(ip);
    dn_status status =
        dn_run_sum(ip->svm->run, ip->svm->input->rows, predict_block, ip, n_out, ip->sums, err);
    if (status != DN_OK) {
        return status;
    }
    take_both(ip);
    *out_step = longest_step(ip);
    *out_second = ip->sums[2 * ip->svm->width + DNI_IP_SECOND];
    return DN_OK;
}

static dn_status correct_block(void *arg, const dn_block *block, size_t slot_number, double *out,
                               dn_error *err) {
    dni_interior *ip = arg;
    const dni_svm_linear *svm = ip->svm;
    dni_svm_slot *slot = &svm->slots[slot_number];
    (void)out;
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        const size_t n = tile_rows(block, first), base = block->first_row + first;
        dn_status status = dn_run_stop(svm->run, err);
        if (status != DN_OK) {
            return status;
        }
        dni_tile_scores(dn_matrix_rows(block->x, first, n), ip->d_v, 1, slot->scores);
        for (size_t k = 0; k < n; k++) {
            const size_t i = base + k;
            if (!counts(ip, i)) {
                continue;
            }
            const double a = svm->alpha[i], r = ip->room[i], z = ip->z[i], s = ip->s[i],
                         d_margin = svm->sign[i] * slot->scores[k];
            const double centre = ip->target * svm->upper[i], up = centre - ip->second * ip->d_z[i],
                         down = centre + ip->second * ip->d_s[i];
            const double d_alpha =
                ip->omega[i] * (1 - ip->margin[i] + up / a - down / r - d_margin);
            ip->d_margin[i] = d_margin;
            ip->d_alpha[i] = d_alpha;
            ip->d_z[i] = (up - z * d_alpha) / a - z;
            ip->d_s[i] = (down + s * d_alpha) / r - s;
            slot->greatest = reach(slot->greatest, a, r, z, s, d_alpha, ip->d_z[i], ip->d_s[i]);
        }
    }
    return DN_OK;
}

dn_status dni_interior_correct(dni_interior *ip, double *out_step, dn_error *err) {
    double none;
    clear_reach(ip);
    dn_status status =
        dn_run_sum(ip->svm->run, ip->svm->input->rows, correct_block, ip, 1, &none, err);
    if (status == DN_OK) {
        *out_step = longest_step(ip);
    }
    return status;
}

dn_status dni_interior_direct(dni_interior *ip, dn_error *err) {
    dn_status status = dni_svm_scores(ip->svm, ip->d_v, ip->d_margin, err);
    for (size_t i = 0; status == DN_OK && i < ip->svm->n; i++) {
        ip->d_margin[i] *= ip->svm->sign[i];
    }
    return status;
}
