/* Products and distances of two rows. */
#include "kernels/pairs.h"

#include <math.h>

dni_row dni_row_of(dn_matrix x, size_t i) {
    if (x.kind == DN_DENSE) {
        return (dni_row){x.values + i * x.stride, NULL, x.n_cols};
    }
    return (dni_row){x.values + x.row_start[i], x.cols + x.row_start[i],
                     x.row_start[i + 1] - x.row_start[i]};
}

static double with(dni_form form, double sum, double x, double z) {
    const double step = x - z;
    switch (form) {
    case DNI_FORM_SQUARE:
        return sum + step * step;
    case DNI_FORM_MANHATTAN:
        return sum + fabs(step);
    case DNI_FORM_CHEBYSHEV:
        return fabs(step) > sum ? fabs(step) : sum;
    case DNI_FORM_PRODUCT:
    case DNI_FORM_COSINE:
    case DNI_FORM_EDIT:
        break;
    }
    return sum + x * z;
}

static size_t column(dni_row x, size_t e) {
    if (e >= x.n) {
        return SIZE_MAX;
    }
    return x.cols == NULL ? e : x.cols[e];
}

double dni_pair_measure(dni_form form, dni_row x, dni_row z) {
    double sum = 0;
    for (size_t a = 0, b = 0; a < x.n || b < z.n;) {
        const size_t i = column(x, a), j = column(z, b);
        sum = with(form, sum, i <= j ? x.values[a] : 0, j <= i ? z.values[b] : 0);
        a += i <= j;
        b += j <= i;
    }
    return sum;
}
