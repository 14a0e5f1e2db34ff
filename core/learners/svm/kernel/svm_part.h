/* The machines of a fit with a kernel while they are trained: what svm_kernel.c (the whole), svm_part.c (one machine's dual) and svm_machines.c (what is left of them) share. */
#ifndef DNI_SVM_PART_H
#define DNI_SVM_PART_H

#include "learners/shared/kernel_fit.h"
#include "learners/svm/svm_solution.h"
#include <discern/decision.h>
#include <stdatomic.h>

/* One machine while it is trained. */
typedef struct dni_svm_part {
    size_t negative, positive; /* classes; negative SIZE_MAX: all others */
    uint32_t *list;            /* [n] points, the negative ones first */
    size_t n, n_negative;
    double *alpha, *g; /* [n] */
    double scale;      /* of α: 1, hard margin 2/distance² */
    dni_svm_solution solution;
    double iterations;
    bool converged;
    dn_stop_reason stop_reason;
} dni_svm_part;

typedef struct dni_svm_fit {
    const dn_fit_input *input;
    const dni_svm_options *options;
    const dn_run *run;
    dn_decision decision;
    dn_kernel kernel;
    dni_kernel_fit prepared;
    dni_svm_points points;
    dni_gram gram;
    dni_svm_part *parts; /* [n_parts] */
    size_t n_parts;
    atomic_size_t n_done; /* parts that are trained */
    bool definite;        /* the kernel is positive semidefinite, as far as one can tell */
    double least;         /* its least eigenvalue, as far as it was looked for; NaN: it was not */
} dni_svm_fit;

/* Hulls without slack. */
static inline bool dni_svm_is_hard(const dni_svm_fit *fit) {
    return isinf(fit->options->C);
}

/* Solves part i, and says what the solution is; `listens`: with progress, on the run's own thread. */
DN_MUST_USE dn_status dni_svm_part_train(const dni_svm_fit *fit, size_t i, const dn_run *run,
                                         bool listens, dn_error *err);

/* machines [n_parts] of the solved parts: kernel machines over the support vectors that they share, of a linear kernel their weights. On failure there are none. */
DN_MUST_USE dn_status dni_svm_machines(const dni_svm_fit *fit, dn_machine **machines,
                                       size_t *out_n_support, dn_error *err);
void dni_svm_part_report(const dni_svm_fit *fit, const dni_svm_part *part, size_t n_support,
                         dn_report *report);

#endif
