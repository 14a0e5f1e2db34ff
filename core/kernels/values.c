/* Converts products and distances to kernel values. */
#include "kernels/points_kind.h"

#include <math.h>
#include <string.h>

#define MAX_SQUARE 1e300 /* limit of ‖x‖² */

/* ---- points ---- */
struct squares_shape {
    size_t n;
    bool square, self;
};

static void squares_layout(dni_layout *layout, const void *shape, void *work) {
    const struct squares_shape *s = shape;
    const size_t n = (s->n + DNI_PANEL - 1) / DNI_PANEL * DNI_PANEL;
    dni_points *p = work;
    p->square = s->square ? dni_layout_doubles(layout, n) : NULL;
    p->self = s->self ? dni_layout_doubles(layout, n) : NULL;
}

dn_status dni_points_reserve(dni_points *p, dn_error *err) {
    const struct squares_shape shape = {p->n, p->expanded || p->form == DNI_FORM_COSINE,
                                        p->form == DNI_FORM_PRODUCT};
    return dni_layout_take(p->run, squares_layout, &shape, p, "the points of a kernel",
                           &p->squares_memory, err);
}

double dni_points_squares_bytes(size_t n, dni_form form) {
    const struct squares_shape shape = {n, form == DNI_FORM_SQUARE || form == DNI_FORM_COSINE,
                                        form == DNI_FORM_PRODUCT};
    dni_points scratch;
    return dni_layout_bytes(squares_layout, &shape, &scratch);
}

#define REMEDY                                                                                     \
    "beyond the range of numbers: standardize the columns, leave out rows of extreme values, or "  \
    "choose other parameters of the kernel"

/* Sets *err to the error that `what` of point i is out of range. The row of the error is the index
 * of the point, which the caller replaces by the row of the table. For centred rows the error has
 * no row: one extreme row moves the mean, so that all centred rows become long. */
static dn_status refuse(const dni_points *p, size_t i, const char *what, dn_error *err) {
    if (p->form == DNI_FORM_SQUARE) {
        return dn_error_set(
            err, DN_ERR_NUMERIC,
            "the distances of the rows from their mean, in the kernel's units, are " REMEDY);
    }
    dn_status status = dn_error_set(err, DN_ERR_NUMERIC, "%s is " REMEDY, what);
    dn_error_set_row(err, (int64_t)i);
    return status;
}

dn_status dni_points_check(dni_points *p, size_t i, double square, dn_error *err) {
    if (!(square <= MAX_SQUARE)) {
        return refuse(p, i, "its length", err);
    }
    if (p->square != NULL) {
        p->square[i] = square;
    }
    if (p->form != DNI_FORM_PRODUCT) {
        return DN_OK;
    }
    /* With |coef0| instead of coef0, |K(x, z)| is at most the larger of K(x, x) and K(z, z). */
    dn_kernel absolute = p->kernel;
    absolute.coef0 = fabs(absolute.coef0);
    if (!(fabs(dni_kernel_of_product(&absolute, square)) <= DNI_MAX_SELF)) {
        return refuse(p, i, "its K(x, x)", err);
    }
    p->self[i] = dni_kernel_of_product(&p->kernel, square);
    return DN_OK;
}

/* ---- values ---- */
static void of_products(const dni_points *p, const dni_query *query, size_t first, size_t n,
                        double *t) {
    if (p->kernel.type == DN_KERNEL_POLYNOMIAL || p->kernel.type == DN_KERNEL_SIGMOID) {
        for (size_t k = 0; k < n; k++) {
            t[k] = dni_kernel_of_product(&p->kernel, t[k]);
        }
    }
    if (p->kernel.normalize) {
        for (size_t k = 0; k < n; k++) {
            t[k] = dni_kernel_normalized(t[k], query->self, p->self[first + k]);
        }
    }
}

static void to_distances(const dni_points *p, const dni_query *query, size_t first, size_t n,
                         double *t) {
    if (p->expanded) {
        p->lanes->expand(t, (query->single ? p->square_single : p->square) + first, query->square,
                         n);
    }
    if (p->form == DNI_FORM_COSINE) {
        for (size_t k = 0; k < n; k++) {
            t[k] = dni_cosine_distance(t[k], query->square, p->square[first + k]);
        }
    }
    if (p->form == DNI_FORM_SQUARE && p->kernel.type == DN_KERNEL_DISTANCE) {
        for (size_t k = 0; k < n; k++) {
            t[k] = sqrt(t[k]);
        }
    }
}

void dni_values_of(const dni_points *p, const dni_query *query, size_t first, size_t n,
                   double *measure, const dni_output *output, size_t to) {
    if (p->form == DNI_FORM_PRODUCT) {
        of_products(p, query, first, n, measure);
    } else if (p->form == DNI_FORM_COSINE && !isfinite(query->square)) {
        /* lanes->exponentials returns 0 for NaN, but here the value must be NaN. */
        for (size_t k = 0; k < n; k++) {
            measure[k] = (double)NAN;
        }
    } else {
        to_distances(p, query, first, n, measure);
        if (!output->distances) {
            for (size_t k = 0; k < n; k++) {
                measure[k] *= p->factor;
            }
            if (output->single != NULL) {
                p->lanes->exponentials_single(measure, n, output->single + to);
                return;
            }
            p->lanes->exponentials(measure, n);
        }
    }
    for (size_t k = 0; output->single != NULL && k < n; k++) {
        output->single[to + k] = (float)measure[k];
    }
    if (output->exact != NULL) {
        memcpy(output->exact + to, measure, n * sizeof *measure);
    }
}
