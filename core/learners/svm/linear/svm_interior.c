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
#include "learners/svm/linear/svm_certificate.h"
#include "learners/svm/linear/svm_interior_step.h"
#include "linalg/cholesky.h"
#include "linalg/vector.h"
#include "optimize/definite.h"

#include <string.h>

enum { CAREFUL = 2, IDLE = 8 };
static const double BLUNT = 0.1, SHARP = 1e-7,
                    SHARPER = 10; /* how far a smooth loss is from the hinge, in margins */

/* ---- iterations ---- */
static double penalty_of(const dni_interior *ip, const double *v) {
    const size_t d = ip->svm->d;
    return (dni_dot(v, v, d) + ip->penalty * v[d] * v[d]) / 2;
}

/* The relative gap that v and α suggest, before anything is recomputed: what is left of w = Σ α t x̃ counts as a part of it. */
static double gap_of(const dni_interior *ip, double *out_primal) {
    const dni_svm_problem *svm = ip->svm;
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

/* α that are as good as at a border are put there: enough for the counts where polishing has not come to an end. */
static void snap(dni_interior *ip) {
    for (size_t i = 0; i < ip->svm->n; i++) {
        const double u = ip->svm->upper[i];
        if (ip->svm->alpha[i] <= 1e-7 * u) {
            ip->svm->alpha[i] = 0;
        } else if (ip->rest[i] <= 1e-7 * u) {
            ip->svm->alpha[i] = u;
        }
    }
    dni_svm_balance(ip->svm, ip->svm->alpha);
}

/* The solution that the iterate stands for, with α at the borders unless that costs the certificate. */
static dn_status conclude(dni_interior *ip, dni_svm_solution *out, dn_error *err) {
    dni_svm_problem *svm = ip->svm;
    double *kept = ip->d_alpha, *work = ip->d_z; /* two arrays, one behind the other */
    memcpy(kept, svm->alpha, svm->n * sizeof *kept);
    snap(ip);
    dn_status status = dni_svm_certify(svm, ip->v, work, out, err);
    if (status != DN_OK || out->certified) {
        return status;
    }
    memcpy(svm->alpha, kept, svm->n * sizeof *kept);
    dni_svm_balance(svm, svm->alpha);
    return dni_svm_certify(svm, ip->v, work, out, err);
}

/* Polishes. Not *out_done: everything is as it was, but for what dni_interior_form computes. */
static dn_status finish(dni_interior *ip, dni_svm_solution *out, bool *out_done, dn_error *err) {
    dni_svm_problem *svm = ip->svm;
    dn_status status = dni_svm_polish(ip, out_done, err);
    if (status == DN_OK && *out_done) {
        status = dni_svm_certify(svm, svm->w, ip->d_z, out, err);
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
    dni_svm_problem *svm = ip->svm;
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
    dni_svm_problem *svm = ip->svm;
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
        status = dni_svm_progress(svm, k, most, gap, primal, err);
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
        status = dni_interior_advance(ip, gap, idle >= CAREFUL, err);
        if (status != DN_OK) {
            return status;
        }
    }
}

dn_status dni_svm_interior(dni_svm_problem *svm, dni_svm_solution *out, dn_error *err) {
    dni_interior ip;
    dn_status status = dni_interior_init(&ip, svm, err);
    if (status == DN_OK) {
        status = dni_interior_start(&ip, err);
    }
    if (status == DN_OK) {
        status = iterate(&ip, out, err);
    }
    dni_interior_done(&ip);
    return status;
}
