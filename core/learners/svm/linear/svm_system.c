/* The linear system of a step, in [w, w0]: its matrix, and its solution by Cholesky
 * factorisation. */
#include "learners/svm/linear/svm_system.h"
#include "linalg/cholesky.h"
#include "linalg/tile.h"
#include "optimize/definite.h"

#include <string.h>

void dni_svm_system_layout(dni_layout *layout, const void *width, void *system) {
    const size_t n = *(const size_t *)width;
    dni_svm_system *s = system;
    s->scale = dni_layout_doubles(layout, n);
    s->shift = dni_layout_matrix(layout, 2, n);
    s->gram = dni_layout_matrix(layout, n, n);
    s->factor = dni_layout_matrix(layout, n, n);
}

void dni_svm_system_init(dni_svm_system *system, const dni_svm_problem *svm) {
    const dni_moments *m = &svm->moments;
    const size_t d = svm->d, width = svm->width;
    bool far = false;
    system->svm = svm;
    system->penalty = svm->options->intercept == DNI_SVM_PENALISED ? 1 : 0;
    for (size_t j = 0; j < d; j++) {
        far = far || fabs(m->mean[j]) > 4 * m->deviation[j];
    }
    if (!far || m->sparse || svm->options->intercept != DNI_SVM_FREE) {
        system->shift = NULL;
        return;
    }
    for (size_t j = 0; j < width; j++) {
        system->shift[j] = j < d ? m->mean[j] : 0;
        system->shift[width + j] = 1;
    }
}

/* ---- the matrix ---- */
dn_status dni_svm_system_add(const dni_svm_system *system, dn_matrix x, const dni_svm_slot *slot,
                             double *gram, dn_error *err) {
    const dni_svm_problem *svm = system->svm;
    const size_t width = svm->width;
    const double *ones = system->shift == NULL ? NULL : system->shift + width;
    if (x.kind == DN_CSR && dni_tile_gram_sparse_is_cheaper(x)) {
        return dni_tile_gram_sparse(svm->run, x, slot->omega, 1, gram, err);
    }
    size_t n = 0;
    for (size_t i = 0; i < x.n_rows; i++) {
        if (slot->omega[i] != 0) {
            dni_tile_expand(dn_matrix_rows(x, i, 1), system->shift, ones, slot->z + n * width);
            slot->omega[n++] = slot->omega[i];
        }
    }
    return dni_tile_gram(svm->run, slot->z, n, width, slot->omega, 1, slot->work, gram, err);
}

void dni_svm_system_penalise(dni_svm_system *system) {
    const size_t d = system->svm->d, width = system->svm->width;
    double *last = system->gram + d * width;
    for (size_t j = 0; j < d; j++) {
        system->gram[j * width + j] += 1;
    }
    last[d] += system->penalty;
    if (system->svm->options->intercept != DNI_SVM_NONE) {
        return;
    }
    memset(last, 0, width * sizeof *last);
    last[d] = 1;
}

void dni_svm_system_residual(const dni_svm_system *system, const double *p, const double *v,
                             double *b) {
    const size_t d = system->svm->d;
    for (size_t j = 0; j < d; j++) {
        b[j] = p[j] - v[j];
    }
    b[d] = system->svm->options->intercept == DNI_SVM_NONE ? 0 : p[d] - system->penalty * v[d];
}

/* ---- the solution ---- */
/* x ← gram⁻¹ b with the factor of the previous solution. */
static void solve_again(const dni_svm_system *system, const double *b, double *x) {
    const size_t width = system->svm->width;
    for (size_t j = 0; j < width; j++) {
        x[j] = b[j] * system->scale[j];
    }
    dni_cholesky_solve(system->factor, width, x, 1);
    for (size_t j = 0; j < width; j++) {
        x[j] *= system->scale[j];
    }
}

/* With `shift` the system is solved for the intercept of centred columns, w0 + ⟨w, mean⟩. */
dn_status dni_svm_system_solve(dni_svm_system *system, double *b, double *x, bool again,
                               dn_error *err) {
    const dni_svm_problem *svm = system->svm;
    const size_t d = svm->d;
    bool solved = true;
    for (size_t j = 0; system->shift != NULL && j < d; j++) {
        b[j] -= system->shift[j] * b[d];
    }
    if (svm->options->intercept == DNI_SVM_NONE) {
        b[d] = 0;
    }
    const dni_definite definite = {.matrix = system->gram,
                                   .order = svm->width,
                                   .n = svm->width,
                                   .factor = system->factor,
                                   .scale = system->scale};
    dn_status status = DN_OK;
    if (again) {
        solve_again(system, b, x);
    } else {
        status = dni_definite_solve(&definite, svm->run, b, x, &solved, err);
    }
    if (status != DN_OK) {
        return status;
    }
    for (size_t j = 0; system->shift != NULL && j < d; j++) {
        x[d] -= system->shift[j] * x[j];
    }
    return solved ? DN_OK : dni_svm_not_finite(svm, svm->iterations + 1, err);
}
