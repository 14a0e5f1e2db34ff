/* Primal-dual interior point of the linear support vector machine with a hinge: Mehrotra's predictor and corrector, normal equations in [w, w0].
 *
 *   rows:  m − 1 + s − z = 0,   α z = μ,   (U − α) s = μ,   w = Σ α t x,   Σ α t = 0 (free) or w0 (penalised)
 *   step:  (R + Σ ω x̃ x̃ᵀ) Δv = Σ α t x̃ − R v + Σ ω t ρ x̃,   x̃ = [x, 1],   R = diag(1, …, 1, 0 or 1)
 * svm_interior_pass.c has ω, ρ and what becomes of the rows; μ is U's share, so that rows of any weight are as far from their borders. It starts where a smooth loss leads
 * (svm_smooth.c). Where predictions lead in a circle a step does without them; where no step leads on (weights of many orders) the smooth loss is made ever sharper instead.
 * When the gap is small the solution is made exact (svm_polish.c), which also says which rows support it.
 *
 * Mehrotra, SIAM J. Optimization 2, 1992; Ferris and Munson, Interior-point methods for massive support vector machines, SIAM J. Optimization 13, 2002;
 * Nocedal and Wright, section 16.6. Some 20 iterations of O(n d²), d³ beside; of sparse rows their squared numbers of entries. */
#include "learners/svm/linear/svm_interior.h"
#include "linalg/cholesky.h"
#include "linalg/vector.h"
#include "optimize/definite.h"

#include <string.h>

enum { ROW_ARRAYS = 9, CAREFUL = 2, IDLE = 8 };
static const double CENTRING = 0.5; /* of a careful step */
static const double BLUNT = 0.1, SHARP = 1e-7,
                    SHARPER = 10; /* how far a smooth loss is from the hinge, in margins */

double dni_svm_interior_memory(size_t n_rows, size_t n_features, size_t n_slots) {
    const double n = (double)n_rows, width = (double)n_features + 1,
                 sums = width * width + 2 * width + DNI_IP_SUMS;
    return 8 * (ROW_ARRAYS * n + 8 * width + 2 * width * width + sums) +
           dn_run_sum_memory(n_rows, n_slots, sums) + n * (double)(sizeof(size_t) + 1);
}

static dn_status get_memory(dni_interior *ip, dn_error *err) {
    const size_t n = ip->svm->n, width = ip->svm->width;
    void *memory;
    if (width > SIZE_MAX / 64 / width || n > SIZE_MAX / 128 - 4 * width * width) {
        dn_error_set(
            err, DN_ERR_BUDGET,
            "interior_point for %zu features cannot be addressed; try dual_coordinate_descent",
            ip->svm->d);
        return DN_ERR_BUDGET;
    }
    dn_status status =
        dn_run_alloc(ip->svm->run, n, sizeof *ip->index + 1, "the groups of rows", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    ip->index = memory;
    ip->group = (unsigned char *)(ip->index + n);
    status = dn_run_alloc(ip->svm->run,
                          ROW_ARRAYS * n + 8 * width + 2 * width * width +
                              (width * width + 2 * width + DNI_IP_SUMS),
                          sizeof(double), "the interior point", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    ip->memory = memory;
    ip->room = memory;
    ip->z = ip->room + n;
    ip->s = ip->z + n;
    ip->margin = ip->s + n;
    ip->omega = ip->margin + n;
    ip->d_alpha = ip->omega + n;
    ip->d_z = ip->d_alpha + n;
    ip->d_s = ip->d_z + n;
    ip->d_margin = ip->d_s + n;
    ip->v = ip->d_margin + n;
    ip->d_v = ip->v + width;
    ip->first = ip->d_v + width;
    ip->scale = ip->first + 2 * width;
    ip->shift = ip->scale + width;
    ip->residual = ip->shift + 2 * width;
    ip->gram = ip->residual + width;
    ip->factor = ip->gram + width * width;
    ip->sums = ip->factor + width * width;
    return DN_OK;
}

/* Dense columns far from 0 are centred before they are multiplied: the difference of large numbers afterwards would have lost its digits. Only a free intercept takes the
 * shift back. */
static void choose_shift(dni_interior *ip) {
    const dni_moments *m = &ip->svm->moments;
    const size_t d = ip->svm->d, width = ip->svm->width;
    bool far = false;
    for (size_t j = 0; j < d; j++) {
        far = far || fabs(m->mean[j]) > 4 * m->deviation[j];
    }
    if (!far || m->sparse || ip->svm->options->intercept != DNI_SVM_FREE) {
        ip->shift = NULL;
        return;
    }
    for (size_t j = 0; j < width; j++) {
        ip->shift[j] = j < d ? m->mean[j] : 0;
        ip->shift[width + j] = 1;
    }
}

/* ---- the normal equations ---- */
/* In centred columns the intercept is c = w0 + ⟨w, m⟩. */
dn_status dni_interior_solve(dni_interior *ip, double *b, double *x, bool again, dn_error *err) {
    const dni_svm_linear *svm = ip->svm;
    const size_t d = svm->d;
    bool solved = true;
    for (size_t j = 0; ip->shift != NULL && j < d; j++) {
        b[j] -= ip->shift[j] * b[d];
    }
    if (svm->options->intercept == DNI_SVM_NONE) {
        b[d] = 0;
    }
    const dni_definite system = {.matrix = ip->gram,
                                 .order = svm->width,
                                 .n = svm->width,
                                 .factor = ip->factor,
                                 .scale = ip->scale};
    dn_status status = DN_OK;
    if (again) {
        for (size_t j = 0; j < svm->width; j++) {
            x[j] = b[j] * ip->scale[j];
        }
        dni_cholesky_solve(ip->factor, svm->width, x, 1);
        for (size_t j = 0; j < svm->width; j++) {
            x[j] *= ip->scale[j];
        }
    } else {
        status = dni_definite_solve(&system, svm->run, b, x, &solved, err);
    }
    if (status != DN_OK) {
        return status;
    }
    for (size_t j = 0; ip->shift != NULL && j < d; j++) {
        x[d] -= ip->shift[j] * x[j];
    }
    return solved ? DN_OK : dni_svm_not_finite(svm, svm->iterations + 1, err);
}

void dni_interior_penalise(dni_interior *ip) {
    const size_t d = ip->svm->d, width = ip->svm->width;
    double *last = ip->gram + d * width;
    for (size_t j = 0; j < d; j++) {
        ip->gram[j * width + j] += 1;
    }
    last[d] += ip->penalty;
    if (ip->svm->options->intercept != DNI_SVM_NONE) {
        return;
    }
    memset(last, 0, width * sizeof *last);
    last[d] = 1;
}

void dni_interior_residual(const dni_interior *ip, const double *p, const double *v, double *b) {
    const size_t d = ip->svm->d;
    for (size_t j = 0; j < d; j++) {
        b[j] = p[j] - v[j];
    }
    b[d] = ip->svm->options->intercept == DNI_SVM_NONE ? 0 : p[d] - ip->penalty * v[d];
}

/* ---- iterations ---- */
static double penalty_of(const dni_interior *ip, const double *v) {
    const size_t d = ip->svm->d;
    return (dni_dot(v, v, d) + ip->penalty * v[d] * v[d]) / 2;
}

/* The relative gap that v and α suggest, before anything is recomputed: what is left of w = Σ α t x̃ counts as a part of it. */
static double gap_of(const dni_interior *ip, double *out_primal) {
    const dni_svm_linear *svm = ip->svm;
    const double primal = penalty_of(ip, ip->v) + ip->loss, *residual = ip->residual;
    const double free_part = svm->options->intercept == DNI_SVM_FREE
                                 ? fabs(residual[svm->d]) * (1 + fabs(ip->v[svm->d]))
                                 : 0;
    double square = 0;
    for (size_t j = 0; j < svm->width; j++) { /* Σ α t x̃ = R v + residual */
        const double p = ip->v[j] + residual[j];
        square += (j < svm->d ? 1 : ip->penalty) * p * p;
    }
    const double dual = ip->alpha - square / 2;
    *out_primal = primal;
    return (fabs(primal - dual) + free_part) / fmax(primal, 1e-300);
}

/* One step from where dni_interior_form has been. */
static dn_status advance(dni_interior *ip, double gap, bool careful, dn_error *err) {
    const dni_svm_linear *svm = ip->svm;
    const size_t width = svm->width;
    double *b = svm->table, longest, second;
    for (size_t j = 0; j < width; j++) {
        svm->w[j] =
            ip->residual[j] + ip->first[j]; /* of the prediction; the corrector adds to it */
    }
    memcpy(b, svm->w, width * sizeof *b);
    dn_status status = dni_interior_solve(ip, b, ip->d_v, false, err);
    if (status == DN_OK) {
        status = dni_interior_predict(ip, &longest, &second, err);
    }
    if (status != DN_OK) {
        return status;
    }
    const double a = fmin(1, longest), mu = ip->products / (2 * ip->upper);
    const double left = fmax(0, ((1 - a) * ip->products + a * a * second) / ip->products);
    ip->second = careful ? 0 : 1;
    ip->target = (careful ? CENTRING : left * left * left) * mu;
    for (size_t j = 0; j < width; j++) {
        b[j] = svm->w[j] + ip->target * ip->first[j] + ip->second * ip->first[width + j];
    }
    status = dni_interior_solve(ip, b, ip->d_v, true, err);
    if (status == DN_OK) {
        status = dni_interior_correct(ip, &longest, err);
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

/* α that are as good as at a border are put there: enough for the counts where polishing has not come to an end. */
static void snap(dni_interior *ip) {
    for (size_t i = 0; i < ip->svm->n; i++) {
        const double u = ip->svm->upper[i];
        if (ip->svm->alpha[i] <= 1e-7 * u) {
            ip->svm->alpha[i] = 0;
        } else if (ip->room[i] <= 1e-7 * u) {
            ip->svm->alpha[i] = u;
        }
    }
    dni_svm_balance(ip->svm, ip->svm->alpha);
}

/* The solution that the iterate stands for, with α at the borders unless that costs the certificate. */
static dn_status conclude(dni_interior *ip, dni_svm_solution *out, dn_error *err) {
    dni_svm_linear *svm = ip->svm;
    double *kept = ip->d_alpha, *work = ip->d_z; /* two arrays, one behind the other */
    memcpy(kept, svm->alpha, svm->n * sizeof *kept);
    snap(ip);
    dn_status status = dni_svm_judge(svm, ip->v, work, out, err);
    if (status != DN_OK || out->certified) {
        return status;
    }
    memcpy(svm->alpha, kept, svm->n * sizeof *kept);
    dni_svm_balance(svm, svm->alpha);
    return dni_svm_judge(svm, ip->v, work, out, err);
}

/* Polishes. Not *out_done: everything is as it was, but for what dni_interior_form computes. */
static dn_status finish(dni_interior *ip, dni_svm_solution *out, bool *out_done, dn_error *err) {
    dni_svm_linear *svm = ip->svm;
    dn_status status = dni_svm_polish(ip, out_done, err);
    if (status == DN_OK && *out_done) {
        status = dni_svm_judge(svm, svm->w, ip->d_z, out, err);
        if (status != DN_OK) {
            return status;
        }
        *out_done = out->certified;
        if (!*out_done) {
            memcpy(svm->alpha, ip->d_alpha, svm->n * sizeof *svm->alpha);
        }
    }
    return status == DN_OK && !*out_done ? dni_interior_form(ip, err) : status;
}

/* Where no step leads on: the smooth loss, ever sharper, until it can be polished. */
static dn_status sharpen(dni_interior *ip, dni_svm_solution *out, dn_error *err) {
    dni_svm_linear *svm = ip->svm;
    bool done = false;
    for (double blur = BLUNT; blur >= SHARP; blur /= SHARPER) {
        dn_status status = dni_interior_smooth(ip, blur, err);
        if (status == DN_OK) {
            status = finish(ip, out, &done, err);
        }
        if (status != DN_OK || done) {
            return status;
        }
        if (svm->iterations >= svm->options->max_iterations) {
            svm->reason = DN_STOP_MAX_ITERATIONS;
            break;
        }
    }
    return conclude(ip, out, err);
}

/* Goes on beyond the tolerance until polishing succeeds, or there are no more digits. */
static dn_status iterate(dni_interior *ip, dni_svm_solution *out, dn_error *err) {
    static const double enough[] = {1, 1e-3, 1e-6};
    dni_svm_linear *svm = ip->svm;
    const size_t most = svm->options->max_iterations;
    const double tolerance = svm->options->tolerance;
    double best = (double)INFINITY, least = (double)INFINITY;
    size_t tries = 0, idle = 0;
    bool done = false;
    for (size_t k = 0;; k++) {
        double primal;
        dn_status status = dni_interior_form(ip, err);
        if (status != DN_OK) {
            return status;
        }
        svm->iterations = k;
        const double gap = gap_of(ip, &primal);
        status = dni_svm_tell(svm, k, most, gap, primal, err);
        if (status != DN_OK) {
            return status;
        }
        if (!isfinite(gap)) {
            return dni_svm_not_finite(svm, k, err);
        }
        if (gap <= tolerance * enough[tries] / 2) {
            status = finish(ip, out, &done, err);
            if (status != DN_OK || done) {
                return status;
            }
            if (++tries == sizeof enough / sizeof *enough) {
                return conclude(ip, out, err);
            }
        }
        idle = gap < 0.9 * best || ip->products < 0.9 * least ? 0 : idle + 1;
        best = fmin(best, gap);
        least = fmin(least, ip->products);
        const bool spent = ip->products <= 1e-4 * tolerance * enough[tries] *
                                               primal; /* what is left of the gap is rounding */
        if (idle == IDLE || spent || k == most) {
            svm->reason = k < most
                              ? DN_STOP_NO_PROGRESS
                              : DN_STOP_MAX_ITERATIONS; /* unless the certificate says otherwise */
            return k < most ? sharpen(ip, out, err) : conclude(ip, out, err);
        }
        dni_interior_penalise(ip);
        status = advance(ip, gap, idle >= CAREFUL, err);
        if (status != DN_OK) {
            return status;
        }
    }
}

dn_status dni_svm_interior(dni_svm_linear *svm, dni_svm_solution *out, dn_error *err) {
    dni_interior ip = {.svm = svm, .penalty = svm->options->intercept == DNI_SVM_PENALISED ? 1 : 0};
    dn_status status = get_memory(&ip, err);
    for (size_t i = 0; i < svm->n; i++) {
        ip.upper += svm->upper[i];
    }
    if (status == DN_OK) {
        choose_shift(&ip);
        status = dni_interior_start(&ip, err);
    }
    if (status == DN_OK) {
        status = iterate(&ip, out, err);
    }
    dn_run_free(svm->run, ip.memory);
    dn_run_free(svm->run, ip.index);
    return status;
}
