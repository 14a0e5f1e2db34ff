/* Polishing: computes the exact optimum from a point close to it, by an active-set method. The
 * initial groups of the rows are nearly those of the optimum.
 *
 * Each row is in one of three groups: α = 0, α = U, or 0 < α < U ("between"). The rows between must
 * satisfy t f = 1. Their α and w solve the equations
 *
 *   w = Σ α t x,   Σ α t = 0 (w0),   t_i f(x_i) = 1 for i between
 *
 * The method of multipliers solves these equations:
 *
 *   Δα = τ (1 − t f(v + Δv)),   (R + τ Σ x̃ x̃ᵀ) Δv = Σ α t x̃ − R v + τ Σ t (1 − t f(v)) x̃
 *
 * The method allows linearly dependent rows and needs a few steps with one factorisation. Then the
 * groups are corrected: an α beyond a bound is set to the bound, and a row at a bound whose margin
 * is on the wrong side of 1 becomes a row between. Both are repeated until no group changes.
 *
 * Sources: Gill, Murray and Wright, Practical Optimization, section 5.2; Bertsekas, Constrained
 * Optimization and Lagrange Multiplier Methods, chapter 2. */
#include "learners/svm/linear/svm_certificate.h"
#include "learners/svm/linear/svm_interior_step.h"
#include "linalg/tile.h"
#include "linalg/vector.h"

#include <string.h>

enum { ROUNDS = 12, ROUNDS_OF_ALL = 5, SWEEPS = 40 };
#define STIFFNESS 1e8 /* τ multiplied by the mean of ‖x̃‖² over the rows between */
#define EXACT 1e-9    /* tolerance of margins, and of α in units of scale_of */

struct polish {
    dni_interior *ip;
    double *v, *p, *b; /* [width] weights; Σ α t x̃; right-hand side */
    double typical;    /* typical size of α: Σα²/Σα */
    double tau;
    double margin_error; /* largest |1 − t f| of the rows between */
    double weight_error; /* largest absolute component of Σ α t x̃ − R v */
    size_t n;            /* number of rows in the group "between" */
};

/* Returns the unit for errors of α_i: its upper bound U, but at most `typical`, because U may be
 * much larger than all α. */
static double scale_of(const struct polish *p, size_t i) {
    return fmin(p->ip->svm->upper[i], p->typical);
}

static void classify(struct polish *p) {
    const dni_interior *ip = p->ip;
    const dni_svm_problem *svm = ip->svm;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < svm->n; i++) {
        sum += svm->alpha[i];
        squares += svm->alpha[i] * svm->alpha[i];
    }
    p->typical = sum > 0 ? squares / sum : 1;
    for (size_t i = 0; i < svm->n; i++) {
        const double size = scale_of(p, i);
        ip->group[i] = DNI_BETWEEN;
        if (!(svm->upper[i] > 0) || svm->alpha[i] < size * ip->z[i]) {
            ip->group[i] = DNI_AT_ZERO;
        } else if (ip->rest[i] < size * ip->s[i]) {
            ip->group[i] = DNI_AT_UPPER;
        }
    }
}

static void apply_groups(struct polish *p) {
    dni_svm_problem *svm = p->ip->svm;
    p->n = 0;
    for (size_t i = 0; i < svm->n; i++) {
        if (p->ip->group[i] == DNI_BETWEEN) {
            p->ip->index[p->n++] = i;
        } else {
            svm->alpha[i] = p->ip->group[i] == DNI_AT_ZERO ? 0 : svm->upper[i];
        }
    }
}

static dn_matrix row_of(const dni_svm_problem *svm, size_t i) {
    return dn_matrix_rows(svm->block[i / DN_BLOCK_ROWS], i % DN_BLOCK_ROWS, 1);
}

/* gram ← R + τ Σ x̃ x̃ᵀ over the rows between. */
static dn_status form_matrix(struct polish *p, dn_error *err) {
    dni_interior *ip = p->ip;
    const dni_svm_problem *svm = ip->svm;
    const dni_svm_slot *slot = &svm->slots[0];
    const size_t width = svm->width;
    const double *ones = ip->system.shift == NULL ? NULL : ip->system.shift + width;
    dn_status status = DN_OK;
    memset(ip->system.gram, 0, width * width * sizeof *ip->system.gram);
    for (size_t first = 0, n; first < p->n && status == DN_OK; first += n) {
        n = p->n - first < DNI_TILE_ROWS ? p->n - first : DNI_TILE_ROWS;
        for (size_t k = 0; k < n && status == DN_OK; k++) {
            const dn_matrix row = row_of(svm, ip->index[first + k]);
            const double one = 1;
            if (row.kind == DN_CSR) {
                status = dni_tile_gram_sparse(svm->run, row, &one, 1, ip->system.gram, err);
            } else {
                dni_tile_expand(row, ip->system.shift, ones, slot->z + k * width);
            }
            slot->omega[k] = 1;
        }
        if (status == DN_OK && !svm->moments.sparse) {
            status = dni_tile_gram(svm->run, slot->z, n, width, slot->omega, 1, slot->work,
                                   ip->system.gram, err);
        }
    }
    double trace = 0;
    for (size_t j = 0; j < width; j++) {
        trace += ip->system.gram[j * width + j];
    }
    p->tau = trace > 0 ? STIFFNESS * (double)p->n / trace : 0;
    for (size_t j = 0; j < width * width; j++) {
        ip->system.gram[j] *= p->tau;
    }
    dni_svm_system_penalise(&ip->system);
    return status;
}

/* Returns x̃ᵀv for row i. */
static double score(const dni_svm_problem *svm, size_t i, const double *v) {
    return dni_svm_row_dot(svm, i, v) + v[svm->d];
}

static void add(const dni_svm_problem *svm, size_t i, double s, double *p) {
    dni_svm_row_add(svm, i, s, p);
    p[svm->d] += s;
}

/* Makes one step of the method of multipliers. Sets margin_error and weight_error to the errors
 * before the step. again: reuse the factorisation of the previous step. */
static dn_status step(struct polish *p, bool again, dn_error *err) {
    dni_interior *ip = p->ip;
    dni_svm_problem *svm = ip->svm;
    dni_svm_system_residual(&ip->system, p->p, p->v, p->b);
    p->margin_error = 0;
    p->weight_error = dni_max_abs(p->b, svm->width);
    for (size_t k = 0; k < p->n; k++) {
        const size_t i = ip->index[k];
        const double t = svm->sign[i], rho = 1 - t * score(svm, i, p->v);
        ip->d_z[k] = rho;
        p->margin_error = fmax(p->margin_error, fabs(rho));
        add(svm, i, p->tau * t * rho, p->b);
    }
    dn_status status = dni_svm_system_solve(&ip->system, p->b, ip->d_v, again, err);
    if (status == DN_OK) {
        status = dn_run_stop(svm->run, err);
    }
    if (status != DN_OK) {
        return status;
    }
    for (size_t k = 0; k < p->n; k++) {
        const size_t i = ip->index[k];
        const double t = svm->sign[i], change = p->tau * (ip->d_z[k] - t * score(svm, i, ip->d_v));
        svm->alpha[i] += change;
        add(svm, i, t * change, p->p);
    }
    dni_axpy(1, ip->d_v, p->v, svm->width);
    return DN_OK;
}

/* Solves the equations for the rows between. If there are none, w = Σ α t x, and w0 is the midpoint
 * of the interval of best intercepts. */
static dn_status solve_between(struct polish *p, dn_error *err) {
    dni_interior *ip = p->ip;
    dni_svm_problem *svm = ip->svm;
    double last = (double)INFINITY;
    dn_status status = dni_svm_combine(svm, svm->alpha, p->p, err);
    if (status == DN_OK && p->n == 0) {
        memcpy(p->v, p->p, svm->width * sizeof *p->v);
        p->v[svm->d] = ip->system.penalty * p->p[svm->d];
        p->margin_error =
            svm->options->intercept == DNI_SVM_FREE ? fabs(p->p[svm->d]) / p->typical : 0;
        if (svm->options->intercept != DNI_SVM_FREE) {
            return DN_OK;
        }
        double low, high;
        status = dni_svm_scores(svm, p->v, ip->d_margin, err);
        dni_svm_hinge_intercept(svm, ip->d_margin, ip->d_z, &low, &high);
        p->v[svm->d] = low + (high - low) / 2;
        return status;
    }
    if (status == DN_OK) {
        status = form_matrix(p, err);
    }
    for (size_t k = 0; k < SWEEPS && status == DN_OK; k++) {
        status = step(p, k > 0, err);
        const double left =
            p->margin_error + p->weight_error / fmax(dni_max_abs(p->v, svm->width), 1e-300);
        if (left <= 1e-14 || (k > 3 && p->margin_error <= EXACT && !(left < last / 2))) {
            break;
        }
        last = left;
    }
    return status;
}

/* Returns the violation of the optimality condition of row i. *to ← the group for the row if the
 * violation is positive. */
static double violation(const struct polish *p, size_t i, unsigned char *to) {
    const dni_interior *ip = p->ip;
    const double a = ip->svm->alpha[i], u = ip->svm->upper[i], m = ip->d_margin[i];
    switch (ip->group[i]) {
    case DNI_BETWEEN:
        *to = a < 0 ? DNI_AT_ZERO : DNI_AT_UPPER;
        return fmax(-a, a - u) / scale_of(p, i);
    case DNI_AT_ZERO:
        *to = DNI_BETWEEN;
        return u > 0 ? 1 - m : 0;
    default:
        *to = DNI_BETWEEN;
        return m - 1;
    }
}

/* Moves rows that violate their condition to another group: all of them, or only the row with the
 * largest violation. Returns false if there is no such row. */
static bool move_rows(struct polish *p, bool all) {
    dni_interior *ip = p->ip;
    size_t worst = 0, n = 0;
    double most = EXACT;
    unsigned char to;
    for (size_t i = 0; i < ip->svm->n; i++) {
        const double by = violation(p, i, &to);
        if (by > most) {
            most = by;
            worst = i;
        }
        n += by > EXACT;
        if (all && by > EXACT) {
            ip->group[i] = to;
        }
    }
    if (n > 0 && !all) {
        violation(p, worst, &to);
        ip->group[worst] = to;
    }
    return n > 0;
}

static dn_status run_rounds(struct polish *p, bool *out_done, dn_error *err) {
    dni_interior *ip = p->ip;
    dni_svm_problem *svm = ip->svm;
    for (size_t k = 0; k < ROUNDS; k++) {
        apply_groups(p);
        dn_status status = solve_between(p, err);
        if (status == DN_OK) {
            status = dni_svm_scores(svm, p->v, ip->d_margin, err);
        }
        if (status != DN_OK) {
            return status;
        }
        for (size_t i = 0; i < svm->n; i++) {
            ip->d_margin[i] *= svm->sign[i];
        }
        if (!dni_all_finite(p->v, svm->width)) {
            return DN_OK;
        }
        if (!move_rows(p, k < ROUNDS_OF_ALL)) {
            *out_done = p->margin_error <= EXACT;
            return DN_OK;
        }
    }
    return DN_OK;
}

dn_status dni_svm_polish(dni_interior *ip, bool *out_done, dn_error *err) {
    dni_svm_problem *svm = ip->svm;
    struct polish p = {.ip = ip, .v = svm->w, .p = ip->passed, .b = svm->table};
    bool done = false;
    memcpy(ip->d_alpha, svm->alpha, svm->n * sizeof *ip->d_alpha);
    memcpy(p.v, ip->v, svm->width * sizeof *p.v);
    classify(&p);
    dn_status status = run_rounds(&p, &done, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < svm->n; i++) {
        svm->alpha[i] = done ? fmin(fmax(svm->alpha[i], 0), svm->upper[i]) : ip->d_alpha[i];
    }
    *out_done = done;
    return DN_OK;
}
