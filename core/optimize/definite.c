/* Solves a linear system by Cholesky factorisation of the matrix scaled to diagonal 1. If the
 * factorisation fails, a multiple of the identity is added. Nocedal and Wright, Numerical
 * Optimization, section 3.4 (Algorithm 3.3). */
#include "optimize/definite.h"
#include "linalg/cholesky.h"
#include "linalg/vector.h"

#include <math.h>

static double entry(const dni_definite *s, size_t i, size_t j) {
    return s->index == NULL ? s->matrix[i * s->order + j]
                            : s->matrix[s->index[i] * s->order + s->index[j]];
}

/* factor ← D^−½ H D^−½ + shift·I, the lower triangle; D is the diagonal of H. */
static void equilibrate(const dni_definite *s, double shift) {
    for (size_t i = 0; i < s->n; i++) {
        for (size_t j = 0; j <= i; j++) {
            s->factor[i * s->n + j] = entry(s, i, j) * s->scale[i] * s->scale[j];
        }
        s->factor[i * s->n + i] += shift;
    }
}

dn_status dni_definite_solve(const dni_definite *system, const dn_run *run, const double *b,
                             double *x, bool *solved, dn_error *err) {
    size_t n = system->n;
    *solved = false;
    for (size_t i = 0; i < n; i++) {
        double h = entry(system, i, i);
        system->scale[i] = h > 0 ? 1 / sqrt(h) : 1;
    }
    for (double shift = 0; shift < 1e3; shift = shift == 0 ? 1e-12 : shift * 100) {
        bool definite;
        equilibrate(system, shift);
        dn_status status = dni_cholesky(run, system->factor, n, &definite, err);
        if (status != DN_OK) {
            return status;
        }
        for (size_t i = 0; definite && i < n && system->least_pivot > 0; i++) {
            const double pivot = system->factor[i * n + i];
            definite = pivot * pivot > system->least_pivot;
        }
        if (!definite && system->least_pivot > 0) {
            return DN_OK;
        }
        if (!definite) {
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            x[i] = b[i] * system->scale[i];
        }
        dni_cholesky_solve(system->factor, n, x, 1);
        for (size_t i = 0; i < n; i++) {
            x[i] *= system->scale[i];
        }
        if (dni_all_finite(x, n) && dni_dot(x, b, n) >= 0) {
            *solved = true;
            break;
        }
    }
    return DN_OK;
}
