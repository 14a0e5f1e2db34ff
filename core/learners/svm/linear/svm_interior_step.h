/* One step of the primal-dual interior-point method for the linear support vector machine with
 * hinge loss: passes over the rows, normal equations in [w, w0], predictor and corrector.
 *
 *   rows  m − 1 + s − z = 0,   α z = μ,   r s = μ,   r = U − α,   w = Σ α t x,
 *         Σ α t = 0 (free intercept) or w0 (penalised)
 *   step  (R + Σ ω x̃ x̃ᵀ) Δv = Σ α t x̃ − R v + Σ ω t ρ x̃
 *         x̃ = [x, 1],   R = diag(1, …, 1, 0 or 1)
 *         ω = 1/(z/α + s/r)
 *         Δα = ω (ρ − Δm),  ρ = (1 − m) + σμ (1/α − 1/r) − ΔαΔz/α − ΔαΔs/r
 *         Δz = (σμ − ΔαΔz − z Δα)/α − z,   Δs = (σμ + ΔαΔs + s Δα)/r − s
 *
 * m = t f(x) is the margin of a row; z and s are the multipliers of α >= 0 and r >= 0. The products
 * ΔαΔz and ΔαΔs are computed by the predictor. The target σμ of a row is multiplied by its U, and μ
 * is the mean of the products in units of U: the distance to the bounds is then in proportion to U
 * for rows of any weight. m − 1 + s − z = 0 holds for all iterates, because a step changes m by as
 * much as z − s. */
#ifndef DNI_SVM_INTERIOR_STEP_H
#define DNI_SVM_INTERIOR_STEP_H

#include "learners/svm/linear/svm_system.h"

/* Indices of the scalars that follow the vectors in the result of a pass. */
enum { DNI_IP_PRODUCTS, DNI_IP_LOSS, DNI_IP_ALPHA, DNI_IP_SECOND, DNI_IP_SUMS };

/* The weights of the rows in dni_interior_form: SMOOTH: curvature of the smooth loss; PLAIN: ω. */
typedef enum dni_ip_kind { DNI_IP_SMOOTH, DNI_IP_PLAIN } dni_ip_kind;

typedef enum dni_alpha_group { DNI_AT_ZERO, DNI_BETWEEN, DNI_AT_UPPER } dni_alpha_group;

/* An iterate, and the linear system of its step. α is in svm->alpha. */
typedef struct dni_interior {
    dni_svm_problem *svm;
    void *memory;
    double *rest;      /* [n] r = U − α */
    double *z, *s;     /* [n] multipliers */
    double *margin;    /* [n] m */
    double *omega;     /* [n] ω */
    double *d_alpha;   /* [n] Δα */
    double *pair;      /* [2n] d_z, then d_s; also working memory of dni_svm_certify */
    double *d_z, *d_s; /* [n] Δz, Δs; after the predictor the products ΔαΔz, ΔαΔs */
    double *d_margin;  /* [n] Δm */
    double *v, *d_v;   /* [width] v = [w, w0] and its step */
    /* [2 × width] vectors summed over the rows by the last pass: one by dni_interior_form, two by
     * the predictor. svm_smooth.c and svm_polish.c use them as working memory. */
    double *passed;
    dni_svm_system system; /* the linear system of a step */
    double *residual; /* [width] Σ α t x̃ − R v; a step of length a multiplies it by 1 − a */
    double *sums;     /* [width² + 2 width + DNI_IP_SUMS] result of a pass */
    unsigned char *group; /* [n] polishing: dni_alpha_group of each row */
    size_t *index;        /* [n] polishing: the rows with 0 < α < U */
    dni_ip_kind kind;     /* weights of the rows in dni_interior_form */
    double centre, width; /* k and b of the smooth loss U b ln(1 + exp((k − m)/b)) */
    double step;          /* length of the last step, which the next dni_interior_form applies */
    double upper;         /* ΣU */
    double second;        /* factor of ΔαΔz and ΔαΔs in the corrector: 1, or 0 to omit them */
    double target;        /* σμ of the corrector */
    double products;      /* Σ αz + rs in the last pass */
    double loss;          /* Σ U max(0, 1 − m) in the last pass */
    double alpha;         /* Σα in the last pass */
} dni_interior;

/* Allocates the arrays. The caller releases them with dni_interior_done, also after a failure. */
DN_MUST_USE dn_status dni_interior_init(dni_interior *ip, dni_svm_problem *svm, dn_error *err);
void dni_interior_done(dni_interior *ip);

/* Applies the last step to α, r, z, s and m of all rows. Then computes system.gram ← Σ ω x̃ x̃ᵀ,
 * `products`, `loss` and `alpha`, and passed ← Σ ω t (1 − m) x̃. For the smooth loss: gram with the
 * curvature instead of ω, and passed ← Σ α t x̃. */
DN_MUST_USE dn_status dni_interior_form(dni_interior *ip, dn_error *err);

/* Computes one predictor-corrector step. Call it after dni_interior_form and
 * dni_svm_system_penalise.
 *
 *   gap      relative gap; a smaller gap allows a step closer to the bounds
 *   careful  use σ = 0.5 and omit the second-order products */
DN_MUST_USE dn_status dni_interior_advance(dni_interior *ip, double gap, bool careful,
                                           dn_error *err);

/* d_margin ← t ⟨d_v, x̃⟩ */
DN_MUST_USE dn_status dni_interior_margin_step(dni_interior *ip, dn_error *err);

/* ---- svm_smooth.c: Newton's method for a smooth loss ---- */

/* Computes the first iterate, near the optimum of logistic regression with the same C, from v = 0.
 * Calls dni_interior_form twice. */
DN_MUST_USE dn_status dni_interior_start(dni_interior *ip, dn_error *err);
/* Minimises the hinge loss smoothed over `width`, starting at v. Its steps count as iterations, of
 * which there are at most svm->options->max_iterations. */
DN_MUST_USE dn_status dni_interior_smooth(dni_interior *ip, double width, dn_error *err);

/* ---- svm_polish.c ---- */

/* Computes α and w that satisfy the optimality conditions up to rounding errors, starting from
 * nearly optimal α, rest, z, s and v. *out_done ← true if svm->alpha and svm->w are set to that
 * solution; if false, svm->alpha is unchanged. */
DN_MUST_USE dn_status dni_svm_polish(dni_interior *ip, bool *out_done, dn_error *err);

#endif
