/* A Cholesky factor to which rows are added and from which they are removed.
 *
 * Source: Golub and Van Loan, Matrix Computations, section 6.5.4 (updating by rotations). */
#include "learners/svm/linear/svm_corral.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

/* Returns row i of the factor, which has i + 1 numbers. */
static double *row_of(const dni_corral *c, size_t i) {
    return c->factor + i * (i + 1) / 2;
}

void dni_corral_layout(dni_layout *layout, const void *shape, void *corral) {
    const size_t n = ((const dni_corral_shape *)shape)->capacity;
    dni_corral *c = corral;
    c->index = dni_layout_array(layout, n, sizeof *c->index);
    c->group = dni_layout_array(layout, n, sizeof *c->group);
    c->coef = dni_layout_doubles(layout, n);
    c->columns = dni_layout_matrix(layout, DNI_CORRAL_GROUPS, n);
    c->cosine = dni_layout_doubles(layout, n);
    c->sine = dni_layout_doubles(layout, n);
    c->row = dni_layout_doubles(layout, n + 1);
    c->factor = dni_layout_matrix(layout, n / 2 + 1, n + 1); /* at least n (n + 1)/2 */
}

void dni_corral_init(dni_corral *corral, size_t capacity, size_t n_groups, double penalty) {
    corral->n = 0;
    corral->capacity = capacity;
    corral->n_groups = n_groups;
    corral->penalty = penalty;
}

/* x ← L⁻¹x */
static void solve_lower(const dni_corral *c, double *x) {
    for (size_t i = 0; i < c->n; i++) {
        const double *l = row_of(c, i);
        x[i] = (x[i] - dni_dot(l, x, i)) / l[i];
    }
}

/* x ← L⁻ᵀx */
static void solve_upper(const dni_corral *c, double *x) {
    for (size_t i = c->n; i-- > 0;) {
        const double *l = row_of(c, i);
        x[i] /= l[i];
        dni_axpy(-x[i], l, x, i);
    }
}

bool dni_corral_add(dni_corral *c, size_t index, unsigned group, const double *products,
                    double square, double coef) {
    if (c->n == c->capacity) {
        return false;
    }
    double *l = row_of(c, c->n);
    for (size_t i = 0; i < c->n; i++) {
        l[i] = products[i] + (c->group[i] == group ? c->penalty : 0);
    }
    solve_lower(c, l);
    const double diagonal = square + c->penalty, rest = diagonal - dni_dot(l, l, c->n);
    if (!(rest > 1e-13 * diagonal)) {
        return false;
    }
    l[c->n] = sqrt(rest);
    c->index[c->n] = index;
    c->group[c->n] = (unsigned char)group;
    c->coef[c->n++] = coef;
    return true;
}

void dni_corral_remove(dni_corral *c, size_t k) {
    /* Moves row i + 1 to row i. A rotation of its last two columns makes its last number 0. */
    for (size_t i = k; i + 1 < c->n; i++) {
        memcpy(c->row, row_of(c, i + 1), (i + 2) * sizeof *c->row);
        for (size_t j = k; j < i; j++) {
            const double a = c->row[j], b = c->row[j + 1];
            c->row[j] = c->cosine[j] * a + c->sine[j] * b;
            c->row[j + 1] = c->cosine[j] * b - c->sine[j] * a;
        }
        const double a = c->row[i], b = c->row[i + 1], length = hypot(a, b);
        c->cosine[i] = a / length;
        c->sine[i] = b / length;
        c->row[i] = length;
        memcpy(row_of(c, i), c->row, (i + 1) * sizeof *c->row);
        c->index[i] = c->index[i + 1];
        c->group[i] = c->group[i + 1];
        c->coef[i] = c->coef[i + 1];
    }
    c->n--;
}

bool dni_corral_minimise(dni_corral *c, const double *linear, const double sums[DNI_CORRAL_GROUPS],
                         double *out) {
    const size_t n = c->n;
    /* With E as in svm_corral.h: schur = EᵀM⁻¹E; the minimiser is out + M⁻¹E · multiplier. */
    double schur[DNI_CORRAL_GROUPS][DNI_CORRAL_GROUPS] = {{0}},
           sum_residual[DNI_CORRAL_GROUPS] = {0}, multiplier[DNI_CORRAL_GROUPS] = {0};
    for (size_t g = 0; g < c->n_groups; g++) {
        double *column = c->columns + g * c->capacity;
        for (size_t i = 0; i < n; i++) {
            column[i] = c->group[i] == g;
        }
        solve_lower(c, column);
        solve_upper(c, column);
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = linear == NULL ? 0 : -linear[i];
    }
    if (linear != NULL) {
        solve_lower(c, out);
        solve_upper(c, out);
    }
    memcpy(sum_residual, sums, c->n_groups * sizeof *sums);
    for (size_t i = 0; i < n; i++) {
        sum_residual[c->group[i]] -= out[i];
        for (size_t g = 0; g < c->n_groups; g++) {
            schur[c->group[i]][g] += c->columns[g * c->capacity + i];
        }
    }
    if (c->n_groups == 1) {
        multiplier[0] = sum_residual[0] / schur[0][0];
    } else {
        const double determinant = schur[0][0] * schur[1][1] - schur[0][1] * schur[1][0];
        multiplier[0] =
            (sum_residual[0] * schur[1][1] - sum_residual[1] * schur[0][1]) / determinant;
        multiplier[1] =
            (sum_residual[1] * schur[0][0] - sum_residual[0] * schur[1][0]) / determinant;
    }
    for (size_t g = 0; g < c->n_groups; g++) {
        dni_axpy(multiplier[g], c->columns + g * c->capacity, out, n);
    }
    return dni_all_finite(out, n);
}
