/* Interior point of the linear support vector machine: what its files share. */
#ifndef DNI_SVM_INTERIOR_H
#define DNI_SVM_INTERIOR_H

#include "learners/svm/linear/svm_linear.h"

/* Sums of a pass behind the vectors it gives. */
enum { DNI_IP_PRODUCTS, DNI_IP_LOSS, DNI_IP_ALPHA, DNI_IP_SECOND, DNI_IP_SUMS };

typedef enum dni_ip_kind { DNI_IP_SMOOTH, DNI_IP_PLAIN } dni_ip_kind;

/* An iterate and the systems of its steps. With m = t f(x) the variables of a row are α, r = U − α, and the multipliers z of α >= 0 and s of r >= 0; those of all are
 * v = [w, w0]. */
typedef struct dni_interior {
    dni_svm_linear *svm;
    void *memory;
    double *room, *z, *s, *margin; /* [n] r, z, s, m; α is the svm's */
    double *omega;                 /* [n] ω */
    double *d_alpha, *d_z, *d_s,
        *d_margin; /* [n] the step; after prediction d_z and d_s hold the products Δα Δz and Δα Δs */
    double *v, *d_v;       /* [width] */
    double *first;         /* [2 × width] vectors of a pass, one behind the other */
    double *gram, *factor; /* [width × width] */
    double *scale;         /* [width] */
    double *
        shift; /* [width] the means of dense columns that are far from 0, for a free intercept; ones are [width] behind; NULL: none */
    double *
        residual; /* [width] Σ α t x̃ − R v, R the penalty's diagonal; a step of length a leaves 1 − a of it */
    double *sums;         /* [width² + width + DNI_IP_SUMS], or [2 width + DNI_IP_SUMS] */
    double penalty;       /* of w0: 0 or 1 */
    unsigned char *group; /* [n] polishing: dni_group */
    size_t *index;        /* [n] rows between the borders */
    dni_ip_kind kind;     /* what `form` weighs rows by */
    double knee, blur;    /* of the smooth loss U b ln(1 + exp((k − m)/b)) */
    double step;          /* taken by the rows at the next pass */
    double upper;         /* ΣU */
    double second; /* 1: the corrector takes the prediction's products; 0: it leaves them out */
    double target; /* σμ of the corrector: a row's products are to become U σμ */
    double products, loss, alpha; /* Σ αz + rs, Σ U max(0, 1 − m), Σα at the last pass */
} dni_interior;

/* ---- svm_interior_pass.c: what rows contribute ---- */
/* Takes the step that is due; gram ← Σ ω x̃ x̃ᵀ, first ← Σ ω t (1 − m) x̃ (smooth: Σ α t x̃), sums. x̃ = [x, 1]. */
DN_MUST_USE dn_status dni_interior_form(dni_interior *ip, dn_error *err);
/* The affine step along d_v: its products in d_z, d_s; first ← what the corrector adds to the right hand side, of σμ = 1 and of the products. *out_step: the longest
 * step that keeps all positive; *out_second: Σ of the products. */
DN_MUST_USE dn_status dni_interior_predict(dni_interior *ip, double *out_step, double *out_second,
                                           dn_error *err);
/* The step along d_v, in d_…; *out_step likewise. */
DN_MUST_USE dn_status dni_interior_correct(dni_interior *ip, double *out_step, dn_error *err);
/* d_margin ← t ⟨d_v, x̃⟩ */
DN_MUST_USE dn_status dni_interior_direct(dni_interior *ip, dn_error *err);

/* ---- svm_interior.c ---- */
/* gram ← gram + R, and without an intercept a row that leaves it 0. */
void dni_interior_penalise(dni_interior *ip);
/* b [width] ← p − R v, p = Σ α t x̃. */
void dni_interior_residual(const dni_interior *ip, const double *p, const double *v, double *b);
/* x [width] ← gram⁻¹ b [width], which is spoilt; `again`: with the factor of the last time. */
DN_MUST_USE dn_status dni_interior_solve(dni_interior *ip, double *b, double *x, bool again,
                                         dn_error *err);

/* ---- svm_smooth.c: Newton's method for a smooth loss, whose slopes are α well inside the box ---- */
/* From v = 0 to an iterate beside the logistic optimum at the same C. Two passes that form a matrix. */
DN_MUST_USE dn_status dni_interior_start(dni_interior *ip, dn_error *err);
/* From v to the optimum of the hinge blurred by so much, and the iterate beside it. Counts its steps as iterations, at most svm->options->max_iterations. */
DN_MUST_USE dn_status dni_interior_smooth(dni_interior *ip, double blur, dn_error *err);

/* ---- svm_polish.c ---- */
typedef enum dni_group { DNI_AT_ZERO, DNI_BETWEEN, DNI_AT_UPPER } dni_group;
/* From nearly optimal α (svm->alpha, room, z, s, and v) to those that solve the optimality conditions: rows at 0, at U and between are told apart, the equations of those between
 * are solved, what breaks a condition changes its group. *out_done: svm->alpha and v are exact; otherwise as before. */
DN_MUST_USE dn_status dni_svm_polish(dni_interior *ip, bool *out_done, dn_error *err);

#endif
