/* One step of the interior-point method: passes over the rows and the normal equations. Each pass
 * reads a tile of rows once. The formulas are in svm_interior_step.h.
 *
 * Sources: Mehrotra, SIAM J. Optimization 2, 1992; Ferris and Munson, Interior-point methods for
 * massive support vector machines, SIAM J. Optimization 13, 2002; Nocedal and Wright, section
 * 16.6. */
#include "learners/svm/linear/svm_interior_step.h"
#include "base/cpu.h"
#include "base/layout.h"
#include "linalg/tile.h"
#include "linalg/vector.h"

#include <string.h>

static const double CENTRING = 0.5; /* σ of a careful step */

/* ---- memory ---- */
struct interior_shape {
    size_t n, width;
};

static void interior_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = ((const struct interior_shape *)shape)->n,
                 width = ((const struct interior_shape *)shape)->width;
    dni_interior *ip = work;
    ip->rest = dni_layout_doubles(layout, n);
    ip->z = dni_layout_doubles(layout, n);
    ip->s = dni_layout_doubles(layout, n);
    ip->margin = dni_layout_doubles(layout, n);
    ip->omega = dni_layout_doubles(layout, n);
    ip->d_alpha = dni_layout_doubles(layout, n);
    ip->pair = dni_layout_matrix(layout, 2, n);
    ip->d_margin = dni_layout_doubles(layout, n);
    ip->group = dni_layout_array(layout, n, sizeof *ip->group);
    ip->index = dni_layout_array(layout, n, sizeof *ip->index);
    ip->v = dni_layout_doubles(layout, width);
    ip->d_v = dni_layout_doubles(layout, width);
    ip->passed = dni_layout_matrix(layout, 2, width);
    ip->residual = dni_layout_doubles(layout, width);
    dni_svm_system_layout(layout, &width, &ip->system);
    ip->sums = dni_layout_matrix(layout, width + 2 + DNI_IP_SUMS, width);
}

double dni_svm_interior_memory(size_t n_rows, size_t n_features, size_t n_slots) {
    const struct interior_shape shape = {n_rows, n_features + 1};
    const double width = (double)n_features + 1;
    dni_interior scratch;
    return dni_layout_bytes(interior_layout, &shape, &scratch) +
           dn_run_sum_memory(n_rows, n_slots, width * width + width + DNI_IP_SUMS);
}

dn_status dni_interior_init(dni_interior *ip, dni_svm_problem *svm, dn_error *err) {
    const struct interior_shape shape = {svm->n, svm->width};
    *ip = (dni_interior){.svm = svm};
    if (svm->width > SIZE_MAX / 64 / svm->width) {
        return dn_error_set(err, DN_ERR_BUDGET,
                            "solver interior_point cannot address a matrix of %zu x %zu numbers: "
                            "try solver dual_coordinate_descent",
                            svm->width, svm->width);
    }
    dn_status status = dni_layout_take(svm->run, interior_layout, &shape, ip, "the interior point",
                                       &ip->memory, err);
    if (status != DN_OK) {
        return status;
    }
    ip->d_z = ip->pair;
    ip->d_s = ip->pair + svm->n;
    for (size_t i = 0; i < svm->n; i++) {
        ip->upper += svm->upper[i];
    }
    dni_svm_system_init(&ip->system, svm);
    return DN_OK;
}

void dni_interior_done(dni_interior *ip) {
    dn_run_free(ip->svm->run, ip->memory);
}

/* ---- the matrix ---- */
static size_t tile_rows(const dn_block *block, size_t first) {
    const size_t left = block->x.n_rows - first;
    return left < DNI_TILE_ROWS ? left : DNI_TILE_ROWS;
}

static bool has_weight(const dni_interior *ip, size_t i) {
    return ip->svm->upper[i] > 0;
}

/* Applies the last step to α, r, z, s and m of row i, and computes ω of the row. */
static void update_row(dni_interior *ip, size_t i) {
    const double step = ip->step;
    double *alpha = ip->svm->alpha;
    if (step > 0) {
        alpha[i] += step * ip->d_alpha[i];
        ip->rest[i] -= step * ip->d_alpha[i];
        ip->z[i] += step * ip->d_z[i];
        ip->s[i] += step * ip->d_s[i];
        ip->margin[i] += step * ip->d_margin[i];
    }
    const double a = alpha[i], r = ip->rest[i];
    ip->omega[i] = a * r / (ip->z[i] * r + ip->s[i] * a);
}

static dn_status update_block(void *arg, const dn_block *block, size_t slot, dn_error *err) {
    dni_interior *ip = arg;
    (void)slot;
    (void)err;
    for (size_t i = block->first_row; i < block->first_row + block->x.n_rows; i++) {
        if (has_weight(ip, i)) {
            update_row(ip, i);
        }
    }
    return DN_OK;
}

/* Returns the weight of row i in the matrix of the step; 0: the row has no weight. *coef ← the
 * coefficient of the row in the right-hand side. Adds the values of the row to sums
 * [DNI_IP_SUMS]. */
static double row_weight(const dni_interior *ip, size_t i, double *coef, double *sums) {
    const dni_svm_problem *svm = ip->svm;
    const double u = svm->upper[i], t = svm->sign[i], a = svm->alpha[i], m = ip->margin[i];
    *coef = 0;
    if (!has_weight(ip, i)) {
        return 0;
    }
    if (ip->kind == DNI_IP_SMOOTH) { /* ∂loss/∂m = −α, curvature α r/(U b) */
        *coef = t * a;
        return a * ip->rest[i] / u / ip->width;
    }
    *coef = t * ip->omega[i] * (1 - m);
    sums[DNI_IP_PRODUCTS] += a * ip->z[i] + ip->rest[i] * ip->s[i];
    sums[DNI_IP_LOSS] += m < 1 ? u * (1 - m) : 0;
    sums[DNI_IP_ALPHA] += a;
    return ip->omega[i];
}

static dn_status form_block(const void *arg, const dn_block *block, size_t slot_number, double *out,
                            dn_error *err) {
    const dni_interior *ip = arg;
    const size_t width = ip->svm->width;
    const dni_svm_slot *slot = &ip->svm->slots[slot_number];
    double *vector = out + width * width, *sums = vector + width;
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        const size_t n = tile_rows(block, first), base = block->first_row + first;
        const dn_matrix x = dn_matrix_rows(block->x, first, n);
        for (size_t i = 0; i < n; i++) {
            slot->omega[i] = row_weight(ip, base + i, &slot->coef[i], sums);
        }
        dni_tile_gradient(x, slot->coef, 1, vector);
        dn_status status = dni_svm_system_add(&ip->system, x, slot, out, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

dn_status dni_interior_form(dni_interior *ip, dn_error *err) {
    const size_t width = ip->svm->width, n_sums = width * width + width + DNI_IP_SUMS;
    const dn_rows *rows = ip->svm->input->rows;
    if (ip->kind == DNI_IP_PLAIN) {
        dn_status status = dn_run_each(ip->svm->run, rows, update_block, ip, err);
        if (status != DN_OK) {
            return status;
        }
        ip->step = 0;
    }
    dn_status status = dn_run_sum(ip->svm->run, rows, &(dn_sum){form_block, ip, sizeof *ip, n_sums},
                                  ip->sums, err);
    if (status != DN_OK) {
        return status;
    }
    const double *sums = ip->sums + width * width + width;
    memcpy(ip->system.gram, ip->sums, width * width * sizeof *ip->system.gram);
    memcpy(ip->passed, ip->sums + width * width, width * sizeof *ip->passed);
    ip->products = sums[DNI_IP_PRODUCTS];
    ip->loss = sums[DNI_IP_LOSS];
    ip->alpha = sums[DNI_IP_ALPHA];
    return DN_OK;
}

/* ---- predictor and corrector ---- */
/* Returns the larger of `so_far` and 1/(the step length at which the first of α, r, z and s of the
 * row becomes 0). */
static inline double inverse_step(double so_far, double a, double r, double z, double s,
                                  double d_alpha, double d_z, double d_s) {
    const double alpha = d_alpha < 0 ? -d_alpha / a : d_alpha / r, up = -d_z / z, down = -d_s / s,
                 most = up > down ? up : down;
    const double row = alpha > most ? alpha : most;
    return row > so_far ? row : so_far;
}

static void clear_maxima(dni_interior *ip) {
    for (size_t i = 0; i < ip->svm->run->n_slots; i++) {
        ip->svm->slots[i].maximum = 0;
    }
}

/* Returns the largest step length that keeps α, r, z and s of all rows positive. */
static double longest_step(const dni_interior *ip) {
    double maximum = 0;
    for (size_t i = 0; i < ip->svm->run->n_slots; i++) {
        maximum = fmax(maximum, ip->svm->slots[i].maximum);
    }
    return maximum > 0 ? 1 / maximum : (double)INFINITY;
}

/* Calls `step` for every row with a weight above 0. d_margin: the change of the row's margin for
 * the step d_v. */
DNI_ALWAYS_INLINE dn_status step_block(dni_interior *ip, const dn_block *block, dni_svm_slot *slot,
                                       void (*step)(dni_interior *ip, size_t i, double d_margin,
                                                    dni_svm_slot *slot),
                                       dn_error *err) {
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        const size_t n = tile_rows(block, first), base = block->first_row + first;
        dn_status status = dn_run_stop(ip->svm->run, err);
        if (status != DN_OK) {
            return status;
        }
        dni_tile_scores(dn_matrix_rows(block->x, first, n), ip->d_v, 1, slot->scores);
        for (size_t k = 0; k < n; k++) {
            if (has_weight(ip, base + k)) {
                step(ip, base + k, ip->svm->sign[base + k] * slot->scores[k], slot);
            }
        }
    }
    return DN_OK;
}

/* Computes the predictor step (σ = 0) of a row: stores ΔαΔz in d_z and ΔαΔs in d_s. */
static inline void predict_row(dni_interior *ip, size_t i, double d_margin, dni_svm_slot *slot) {
    const double a = ip->svm->alpha[i], r = ip->rest[i], z = ip->z[i], s = ip->s[i];
    const double d_alpha = ip->omega[i] * (1 - ip->margin[i] - d_margin);
    const double d_z = -z - z * d_alpha / a, d_s = -s + s * d_alpha / r;
    slot->maximum = inverse_step(slot->maximum, a, r, z, s, d_alpha, d_z, d_s);
    ip->d_z[i] = d_alpha * d_z;
    ip->d_s[i] = d_alpha * d_s;
}

static dn_status predict_block(void *arg, const dn_block *block, size_t slot, dn_error *err) {
    dni_interior *ip = arg;
    return step_block(ip, block, &ip->svm->slots[slot], predict_row, err);
}

/* Computes the two vectors that the corrector adds to the right-hand side: one for σμ = 1, one for
 * the products ΔαΔz and ΔαΔs. */
static dn_status correction_block(const void *arg, const dn_block *block, size_t slot_number,
                                  double *out, dn_error *err) {
    const dni_interior *ip = arg;
    const dni_svm_problem *svm = ip->svm;
    double *sums = out + 2 * svm->width, *coef = svm->slots[slot_number].coef;
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        const size_t n = tile_rows(block, first), base = block->first_row + first;
        dn_status status = dn_run_stop(svm->run, err);
        if (status != DN_OK) {
            return status;
        }
        for (size_t k = 0; k < n; k++) {
            const size_t i = base + k;
            coef[2 * k] = coef[2 * k + 1] = 0;
            if (!has_weight(ip, i)) {
                continue;
            }
            const double t = svm->sign[i], a = svm->alpha[i], r = ip->rest[i], omega = ip->omega[i];
            sums[DNI_IP_SECOND] += ip->d_z[i] - ip->d_s[i];
            coef[2 * k] = t * omega * svm->upper[i] * (1 / a - 1 / r);
            coef[2 * k + 1] = -t * omega * (ip->d_z[i] / a + ip->d_s[i] / r);
        }
        dni_tile_gradient(dn_matrix_rows(block->x, first, n), coef, 2, out);
    }
    return DN_OK;
}

/* Copies the two vectors of correction_block to `passed`. dni_tile_gradient interleaves the two
 * vectors if the rows are sparse. */
static void split_residuals(dni_interior *ip) {
    const size_t width = ip->svm->width, step = ip->svm->moments.sparse ? 2 : 1,
                 second = ip->svm->moments.sparse ? 1 : width;
    for (size_t j = 0; j < width; j++) {
        ip->passed[j] = ip->sums[step * j];
        ip->passed[width + j] = ip->sums[step * j + second];
    }
}

/* Computes the predictor step of all rows for d_v. passed ← the two vectors of correction_block.
 * *out_step ← the largest step length. *out_second ← Σ ΔαΔz − ΔαΔs. */
static dn_status predict(dni_interior *ip, double *out_step, double *out_second, dn_error *err) {
    const dni_svm_problem *svm = ip->svm;
    const size_t n_out = 2 * svm->width + DNI_IP_SUMS;
    clear_maxima(ip);
    dn_status status = dn_run_each(svm->run, svm->input->rows, predict_block, ip, err);
    if (status != DN_OK) {
        return status;
    }
    status = dn_run_sum(svm->run, svm->input->rows,
                        &(dn_sum){correction_block, ip, sizeof *ip, n_out}, ip->sums, err);
    if (status != DN_OK) {
        return status;
    }
    split_residuals(ip);
    *out_step = longest_step(ip);
    *out_second = ip->sums[2 * svm->width + DNI_IP_SECOND];
    return DN_OK;
}

/* Computes the corrector step of a row: sets its d_margin, d_alpha, d_z and d_s. */
static inline void correct_row(dni_interior *ip, size_t i, double d_margin, dni_svm_slot *slot) {
    const double a = ip->svm->alpha[i], r = ip->rest[i], z = ip->z[i], s = ip->s[i];
    const double centre = ip->target * ip->svm->upper[i], up = centre - ip->second * ip->d_z[i],
                 down = centre + ip->second * ip->d_s[i];
    const double d_alpha = ip->omega[i] * (1 - ip->margin[i] + up / a - down / r - d_margin);
    ip->d_margin[i] = d_margin;
    ip->d_alpha[i] = d_alpha;
    ip->d_z[i] = (up - z * d_alpha) / a - z;
    ip->d_s[i] = (down + s * d_alpha) / r - s;
    slot->maximum = inverse_step(slot->maximum, a, r, z, s, d_alpha, ip->d_z[i], ip->d_s[i]);
}

static dn_status correct_block(void *arg, const dn_block *block, size_t slot, dn_error *err) {
    dni_interior *ip = arg;
    return step_block(ip, block, &ip->svm->slots[slot], correct_row, err);
}

/* Computes the corrector step of all rows for d_v. *out_step ← the largest step length. */
static dn_status correct(dni_interior *ip, double *out_step, dn_error *err) {
    clear_maxima(ip);
    dn_status status = dn_run_each(ip->svm->run, ip->svm->input->rows, correct_block, ip, err);
    if (status != DN_OK) {
        return status;
    }
    *out_step = longest_step(ip);
    return DN_OK;
}

dn_status dni_interior_margin_step(dni_interior *ip, dn_error *err) {
    dn_status status = dni_svm_scores(ip->svm, ip->d_v, ip->d_margin, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < ip->svm->n; i++) {
        ip->d_margin[i] *= ip->svm->sign[i];
    }
    return DN_OK;
}

/* ---- the step ---- */
dn_status dni_interior_advance(dni_interior *ip, double gap, bool careful, dn_error *err) {
    const dni_svm_problem *svm = ip->svm;
    const size_t width = svm->width;
    double *b = svm->table, longest, second;
    for (size_t j = 0; j < width; j++) {
        svm->w[j] = ip->residual[j] + ip->passed[j]; /* right-hand side of the predictor */
    }
    memcpy(b, svm->w, width * sizeof *b);
    dn_status status = dni_svm_system_solve(&ip->system, b, ip->d_v, false, err);
    if (status == DN_OK) {
        status = predict(ip, &longest, &second, err);
    }
    if (status != DN_OK) {
        return status;
    }
    const double a = fmin(1, longest), mu = ip->products / (2 * ip->upper);
    const double left = fmax(0, ((1 - a) * ip->products + a * a * second) / ip->products);
    ip->second = careful ? 0 : 1;
    ip->target = (careful ? CENTRING : left * left * left) * mu;
    for (size_t j = 0; j < width; j++) {
        b[j] = svm->w[j] + ip->target * ip->passed[j] + ip->second * ip->passed[width + j];
    }
    status = dni_svm_system_solve(&ip->system, b, ip->d_v, true, err);
    if (status == DN_OK) {
        status = correct(ip, &longest, err);
    }
    if (status != DN_OK) {
        return status;
    }
    ip->step = fmin(1, (1 - fmin(0.01, gap)) * longest);
    dni_axpy(ip->step, ip->d_v, ip->v, width);
    for (size_t j = 0; j < width; j++) {
        ip->residual[j] *= 1 - ip->step;
    }
    return DN_OK;
}
