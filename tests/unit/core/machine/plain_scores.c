#include "unit/core/machine/plain_scores.h"

void plain_support_row(const dni_support *support, size_t i, double *x) {
    const dn_matrix row = dn_matrix_rows(support->x, i, 1);
    memset(x, 0, row.n_cols * sizeof *x);
    if (row.kind == DN_DENSE) {
        memcpy(x, row.values, row.n_cols * sizeof *x);
    } else {
        for (size_t e = row.row_start[0]; e < row.row_start[1]; e++) {
            x[row.cols[e]] = row.values[e];
        }
    }
}

double plain_sum(const struct machine_view *machine, const double *x, double *size) {
    const dni_kernel_machine *m = dni_kernel_machine_of(machine->machine);
    const size_t d = machine->n_features;
    double sum = 0, sizes = 0, *s = xcalloc(d, sizeof *s);
    for (size_t i = 0; i < m->n; i++) {
        plain_support_row(m->support, m->index[i], s);
        const double v = m->coef[i] * plain_value(&m->support->kernel, s, x, d);
        sum += v;
        sizes += fabs(v);
    }
    free(s);
    if (size != NULL) {
        *size = sizes;
    }
    return sum;
}
