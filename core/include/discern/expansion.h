/* The weights of a kernel machine with a polynomial kernel of degree 1 or 2, whose feature space
 * has a finite dimension:
 *
 *   (γ x'z + c)² = φ(x)'φ(z),   φ(x) = (c, √(2γc) x_a, γ x_a², √2 γ x_a x_b),   a < b
 *    γ x'z + c   = φ(x)'φ(z),   φ(x) = (√c, √γ x_a)
 *
 * The machine is g(x) = w'φ(x) + w0 with w = Σ c_i φ(s_i) over its support vectors s_i, and a
 * polynomial in the raw features.
 *
 * Source: Bishop, PRML, section 6.2; Schölkopf and Smola, Learning with Kernels, section 2.1. */
#ifndef DISCERN_EXPANSION_H
#define DISCERN_EXPANSION_H

#include <discern/api.h>
#include <discern/model.h>
#include <stdbool.h>
#include <stddef.h>

DN_BEGIN_DECLS

/* Limits of an expansion: terms of a machine, and multiplications for all machines. */
#define DN_MAX_EXPANSION_TERMS 20000
#define DN_MAX_EXPANSION_COST 4e9

typedef enum dn_expansion_reason {
    DN_EXPANSION_AVAILABLE,
    DN_EXPANSION_KERNEL,     /* the model has no polynomial kernel */
    DN_EXPANSION_DEGREE,     /* the degree is above 2 */
    DN_EXPANSION_NORMALIZED, /* K(x, z)/√(K(x, x) K(z, z)) is not a polynomial */
    DN_EXPANSION_TOO_LARGE   /* a limit is exceeded */
} dn_expansion_reason;
const char *dn_expansion_reason_id(dn_expansion_reason reason);   /* "too_large" */
const char *dn_expansion_reason_text(dn_expansion_reason reason); /* a message without period */

/* Returns whether the machines of a model have an expansion. *out_degree: 1 or 2; *out_n_terms: d
 * for degree 1, d + d(d + 1)/2 for degree 2, with d features. Outputs are set only if the expansion
 * is available. */
dn_expansion_reason
dn_model_expands(const dn_model *model, unsigned *out_degree, size_t *out_n_terms);

/* The expansion of one machine. Terms: x_a in the order of the features; degree 2: then x_a x_b for
 * a <= b, row by row: x_1², x_1 x_2, …, x_2², … */
typedef struct dn_expansion {
    double *coef;    /* [n_terms] g = constant + Σ coef · term for raw features */
    double constant; /* includes w0 */
    /* [n_terms] components of w for encoded features, without that of the constant. NaN: γ c < 0,
     * so that φ is not real */
    double *weight;
    double constant_weight; /* component of w for the constant */
} dn_expansion;
/* Computes the expansion of machine i. Requires DN_EXPANSION_AVAILABLE and i < dn_model_n_machines;
 * the caller owns coef and weight. Cost: O(n d²) for n support vectors. DN_ERR_MEMORY. */
DN_MUST_USE dn_status dn_model_expand(const dn_model *model,
                                      size_t i,
                                      dn_expansion *out,
                                      dn_error *err);

DN_END_DECLS

#endif
