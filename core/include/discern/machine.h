/* A machine: what a learner leaves, the functions of the encoded x that tell its classes apart.
 *
 *   two classes:  one score g, g > 0 chooses the second class
 *   K classes:    K scores, the greatest chooses
 *
 * A model has one machine, or, where K classes are told apart two at a time, many of two classes each (model.h: dn_decision). Kinds:
 *   linear       g = W x + w0
 *   gaussian     class densities N(m_k, Σ_k): g_k = ln P(C_k) + ln N(x; m_k, Σ_k), quadratic in x; two classes: g_2 − g_1
 *   naive bayes  g_k = ln P(C_k) + Σ_j ln p(x_j | C_k), the factors of features of several kinds; two classes: g_2 − g_1
 *   kernel       g = Σ_i c_i K(s_i, x) + w0 over support vectors s_i; of two classes only
 *   network      g = W_Lᵀ z_{L−1} + b_L behind layers of units z_l = h(W_lᵀ z_{l−1} + b_l), z_0 = x
 * A linear machine may hold class densities too (one covariance for all classes): they give ln P(x), the scores come from W. Only differences of the K scores mean
 * anything: those of such a machine are relative to the mean m of the training rows, w_k = Σ⁻¹(m_k − m), and what the textbook's have in common is left out. */
#ifndef DISCERN_MACHINE_H
#define DISCERN_MACHINE_H

#include <discern/api.h>
#include <discern/kernel.h>
#include <discern/matrix.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

DN_BEGIN_DECLS

typedef enum dn_machine_kind {
    DN_MACHINE_LINEAR,
    DN_MACHINE_GAUSSIAN,
    DN_MACHINE_NAIVE_BAYES,
    DN_MACHINE_KERNEL,
    DN_MACHINE_NETWORK
} dn_machine_kind;

typedef enum dn_covariance {
    DN_COVARIANCE_SHARED,
    DN_COVARIANCE_FULL,
    DN_COVARIANCE_DIAGONAL
} dn_covariance;

/* Class densities N(m_k, Σ_k) with priors. Bishop, PRML, section 4.2. A column that was constant in training is left out: the densities are those of the others, A has
 * zeros in its row and column, log_det is of the rest. */
typedef struct dn_gaussians {
    dn_covariance
        covariance; /* shared: one Σ; full: one for each class; diagonal: one for each class, without covariances */
    double *prior; /* [K] > 0, sum 1 */
    double *mean;  /* [K × d] */
    double *
        whiten; /* A with AᵀA = Σ⁻¹, lower triangular, zeros above: shared [d × d], full [K × d × d]; diagonal: its diagonals [K × d] */
    double *log_det; /* ln|Σ|: shared [1], else [K] */
} dn_gaussians;

/* How feature j enters a naive Bayes machine. */
typedef enum dn_factor {
    DN_FACTOR_GAUSSIAN, /* a = mean, b = variance > 0: ln N(x; a, b) */
    DN_FACTOR_BERNOULLI, /* a = ln P(1 | C), b = ln P(0 | C): x·a + (1 − x)·b, with 0·(−∞) = 0 */
    DN_FACTOR_COUNT, /* a = ln θ: x·a, 0 where x <= 0: one feature of a 1-of-K code, or the count of a word */
    DN_FACTOR_PRESENCE /* a = ln P(x > 0 | C), b = ln P(x <= 0 | C) */
} dn_factor;

/* Alpaydın, Introduction to Machine Learning, section 5.7; Bishop, PRML, section 4.2.3. a and b may be −∞ where smoothing is 0. */
typedef struct dn_naive_bayes {
    double *prior;         /* [K] > 0, sum 1 */
    unsigned char *factor; /* [d] dn_factor */
    double *a, *b;         /* [d × K], feature after feature */
    double *
        at_zero; /* [3 × K] of the library's own: what x = 0 says of each class (predict/bayes.h) */
} dn_naive_bayes;

/* The support vectors that the machines of a model share, and their kernel: rows of encoded x, standardised where the encoder standardises (a kernel of raw features would be another). */
typedef struct dn_support {
    size_t
        references; /* machines that have it; the library's own count, which one thread at a time changes */
    dn_kernel kernel; /* its factor is the support's */
    dn_matrix
        x; /* [n × d] dense or CSR; the arrays are the support's. precomputed: the entry 1 at the training table's row */
    struct dni_points *points; /* the library's own: x as prediction walks through it */
} dn_support;

/* Schölkopf and Smola, Learning with Kernels, section 7.4. */
typedef struct dn_kernel_machine {
    dn_support *support;
    size_t n;        /* support vectors of this machine */
    uint32_t *index; /* [n] ascending: rows of support->x */
    double *coef;    /* [n] c_i = α_i t_i, t_i = ±1; of one class α_i */
    double w0;
    double
        norm; /* √(Σ_ij c_i c_j K(s_i, s_j)), the length of w in the kernel's space; NaN when the kernel is not positive semidefinite and the sum is below 0 */
} dn_kernel_machine;

typedef enum dn_activation {
    DN_ACTIVATION_SIGMOID,
    DN_ACTIVATION_TANH,
    DN_ACTIVATION_RELU
} dn_activation;

#define DN_MAX_LAYERS 17 /* 16 of units and that of the scores */

/* Units in cascade. Bishop, PRML, section 5.1; Alpaydın, Introduction to Machine Learning, section 11.5. */
typedef struct dn_network {
    dn_activation
        activation;  /* h of every layer but the last, which gives the scores as they are */
    size_t n_layers; /* 2 … DN_MAX_LAYERS, with that of the scores */
    size_t units[DN_MAX_LAYERS]; /* [n_layers] >= 1; the last n_scores */
    double *
        w; /* layer after layer: the weights [inputs × units], input after input, and the biases [units]; inputs: n_features, then the units of the layer before */
} dn_network;

typedef struct dn_machine {
    dn_machine_kind kind;
    size_t n_classes, n_features;
    double *w, *w0;              /* linear: [n_scores × d], [n_scores]; NULL otherwise */
    dn_gaussians *gaussians;     /* gaussian; linear: the densities behind it, or NULL */
    dn_naive_bayes *naive_bayes; /* naive bayes; NULL otherwise */
    dn_kernel_machine *kernel;   /* kernel; NULL otherwise */
    dn_network *network;         /* network; NULL otherwise */
    double *
        projection; /* [n_components × d] rows are directions to project x on (Fisher); NULL: none */
    size_t n_components;
    double
        threshold; /* DN_DECISION_OUTLIER: >= 0, a score f < −threshold is an outlier's; 0 of other decisions */
} dn_machine;

/* 1 for two classes, K otherwise. */
static inline size_t dn_machine_n_scores(const dn_machine *machine) {
    return machine->n_classes == 2 ? 1 : machine->n_classes;
}

/* Σ_k of a machine with gaussians (shared: whatever k): out [d × d]; diagonal: out [d], the variances. work: [d × d], diagonal: unused. A column left out has
 * zeros. O(d³). */
void dn_machine_covariance(const dn_machine *machine, size_t k, double *out, double *work);
/* g_k(x) = xᵀW x + wᵀx + w0 = ln P(C_k) + ln N(x; m_k, Σ_k) of a machine with gaussians: W [d × d] = −½Σ_k⁻¹ (diagonal: [d], its diagonal), w [d] = Σ_k⁻¹m_k, *w0.
 * work [2d]. O(d³). */
void dn_machine_quadratic(
    const dn_machine *machine, size_t k, double *W, double *w, double *w0, double *work);

/* NULL and a half-filled one are allowed. */
void dn_machine_free(dn_machine *machine);

DN_END_DECLS

#endif
