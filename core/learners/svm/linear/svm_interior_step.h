/* One step of the primal-dual interior point of the linear support vector machine with hinge loss:
 * passes over the rows, normal equations in [w, w0], predictor and corrector.
 *
 *   rows  m − 1 + s − z = 0,   α z = μ,   r s = μ,   r = U − α,   w = Σ α t x,
 *         Σ α t = 0 (free intercept) or w0 (penalised)
 *   step  (R + Σ ω x̃ x̃ᵀ) Δv = Σ α t x̃ − R v + Σ ω t ρ x̃
 *         x̃ = [x, 1],   R = diag(1, …, 1, 0 or 1)
 *         ω = 1/(z/α + s/r)
 *         Δα = ω (ρ − Δm),  ρ = (1 − m) + σμ (1/α − 1/r) − ΔαΔz/α − ΔαΔs/r
 *         Δz = (σμ − ΔαΔz − z Δα)/α − z,   Δs = (σμ + ΔαΔs + s Δα)/r − s
 *
 * m = t f(x) is a row's margin; z and s are the multipliers of α >= 0 and r >= 0. The products ΔαΔz
 * and ΔαΔs are those of the predictor. Each row's σμ is multiplied by its U: μ is the mean product
 * in units of U, so that rows of any weight are equally far from their bounds. 1 − m − s + z = 0
 * holds throughout, since m changes by as much as z − s. */
#ifndef DNI_SVM_INTERIOR_STEP_H
#define DNI_SVM_INTERIOR_STEP_H

#include "learners/svm/linear/svm_problem.h"

/* Scalars that a pass adds behind its vectors. */
enum { DNI_IP_PRODUCTS, DNI_IP_LOSS, DNI_IP_ALPHA, DNI_IP_SECOND, DNI_IP_SUMS };

/* How dni_interior_form weights the rows: by the curvature of the smooth loss, or by ω. */
typedef enum dni_ip_kind { DNI_IP_SMOOTH, DNI_IP_PLAIN } dni_ip_kind;

typedef enum dni_alpha_group { DNI_AT_ZERO, DNI_BETWEEN, DNI_AT_UPPER } dni_alpha_group;

/* An iterate and the system of its step. α is svm->alpha. */
typedef struct dni_interior {
    dni_svm_problem *svm;
    void *memory;
    double *rest;          /* [n] r = U − α */
    double *z, *s;         /* [n] multipliers */
    double *margin;        /* [n] m */
    double *omega;         /* [n] ω */
    double *d_alpha;       /* [n] step of α */
    double *pair;          /* [2n] d_z, then d_s; also scratch of dni_svm_certify */
    double *d_z, *d_s;     /* [n] steps; after the predictor the products ΔαΔz and ΔαΔs */
    double *d_margin;      /* [n] step of m */
    double *v, *d_v;       /* [width] v = [w, w0] and its step */
    double *first;         /* [2 × width] vectors that a pass computes, one after the other */
    double *gram, *factor; /* [width × width] */
    double *scale;         /* [width] of the factor */
    /* [2 × width] or NULL: means by which dense columns far from 0 are shifted when the intercept
     * is free, followed by ones */
    double *shift;
    double *residual;     /* [width] Σ α t x̃ − R v; a step of length a leaves 1 − a of it */
    double *sums;         /* [width² + 2 width + DNI_IP_SUMS] result of a pass */
    double penalty;       /* of w0: 0 or 1 */
    unsigned char *group; /* [n] polishing: dni_alpha_group */
    size_t *index;        /* [n] polishing: the rows between their bounds */
    dni_ip_kind kind;     /* how the rows are weighted */
    double centre, width; /* k and b of the smooth loss U b ln(1 + exp((k − m)/b)) */
    double step;          /* length of the step that the next pass applies to the rows */
    double upper;         /* ΣU */
    double second;        /* 1: the corrector uses the predictor's products; 0: it omits them */
    double target;        /* σμ of the corrector */
    double products;      /* Σ αz + rs at the last pass */
    double loss;          /* Σ U max(0, 1 − m) at the last pass */
    double alpha;         /* Σα at the last pass */
} dni_interior;

/* Allocates the iterate. dni_interior_done releases it, also after a failure. */
DN_MUST_USE dn_status dni_interior_init(dni_interior *ip, dni_svm_problem *svm, dn_error *err);
void dni_interior_done(dni_interior *ip);

/* Applies the pending step to the rows, then computes gram ← Σ ω x̃ x̃ᵀ, the products, the loss and
 * Σα, and first ← Σ ω t (1 − m) x̃ (smooth loss: Σ α t x̃). */
DN_MUST_USE dn_status dni_interior_form(dni_interior *ip, dn_error *err);

/* gram ← gram + R; without an intercept the last row and column are those of the identity. */
void dni_interior_penalise(dni_interior *ip);

/* b [width] ← p − R v, for p = Σ α t x̃. */
void dni_interior_residual(const dni_interior *ip, const double *p, const double *v, double *b);

/* x [width] ← gram⁻¹ b. b [width] is overwritten. `again` reuses the last factorisation. */
DN_MUST_USE dn_status dni_interior_solve(dni_interior *ip, double *b, double *x, bool again,
                                         dn_error *err);

/* One predictor-corrector step from the iterate that dni_interior_form has passed over. `careful`:
 * a centring step that omits the second-order products. */
DN_MUST_USE dn_status dni_interior_advance(dni_interior *ip, double gap, bool careful,
                                           dn_error *err);

/* d_margin ← t ⟨d_v, x̃⟩ */
DN_MUST_USE dn_status dni_interior_margin_step(dni_interior *ip, dn_error *err);

/* ---- svm_smooth.c: Newton's method for a smooth loss, whose slopes are α inside the box ---- */

/* From v = 0 to an iterate near the logistic optimum at the same C. Two passes that form a
 * matrix. */
DN_MUST_USE dn_status dni_interior_start(dni_interior *ip, dn_error *err);
/* From v to the optimum of the hinge smoothed over `width`. Its steps count as iterations, at most
 * svm->options->max_iterations. */
DN_MUST_USE dn_status dni_interior_smooth(dni_interior *ip, double width, dn_error *err);

/* ---- svm_polish.c ---- */

/* From nearly optimal α, rest, z, s and v to the α and w that solve the optimality conditions to
 * rounding. *out_done: svm->alpha and svm->w are that solution; else svm->alpha is unchanged. */
DN_MUST_USE dn_status dni_svm_polish(dni_interior *ip, bool *out_done, dn_error *err);

#endif
