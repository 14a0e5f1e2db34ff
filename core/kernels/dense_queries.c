/* Queries (rows that are compared with all points) of dense points. Queries are stored in groups of
 * DNI_GROUP, column by column, in double precision and, where that is exact enough, in single
 * precision. */
#include "kernels/points_dense.h"
#include "linalg/vector.h"

#include <string.h>

/* x [d] ← A x for the lower triangular A. Computed from the last element to the first, because
 * element i needs the old x_0 … x_i. */
static void times_factor(const double *a, size_t d, double *x) {
    for (size_t i = d; i-- > 0;) {
        x[i] = dni_dot(a + i * d, x, i + 1);
    }
}

void dni_dense_map(const dni_points *p, double *x) {
    const struct dni_dense *storage = p->storage;
    for (size_t k = 0; storage->centre != NULL && k < p->d; k++) {
        x[k] -= storage->centre[k];
    }
    if (p->kernel.type == DN_KERNEL_MAHALANOBIS) {
        times_factor(p->kernel.factor, p->d, x);
    } else {
        for (size_t k = 0; k < p->d; k++) {
            x[k] *= storage->scale;
        }
    }
}

/* ---- queries ---- */
/* Returns the size in doubles of a group of DNI_GROUP queries: a copy in double precision, and
 * after it one in single precision. The scratch of queries is one row, followed by the groups. */
static size_t group_doubles(size_t panel_d) {
    return panel_d * (DNI_GROUP + DNI_GROUP / 2);
}

static size_t group_size(const dni_points *p) {
    return group_doubles(((const struct dni_dense *)p->storage)->d);
}

size_t dni_dense_scratch(size_t d, size_t panel_d, size_t n) {
    return d + (n + DNI_GROUP - 1) / DNI_GROUP * group_doubles(panel_d);
}

size_t dni_dense_work(const dni_points *p, size_t n) {
    return dni_dense_scratch(p->d, ((const struct dni_dense *)p->storage)->d, n);
}

static double *group_of(const dni_points *p, const dni_queries *queries, size_t q) {
    return queries->work + p->d + q / DNI_GROUP * group_size(p);
}

static float *single_group_of(const dni_points *p, const dni_queries *queries, size_t q) {
    return (float *)(void *)(group_of(p, queries, q) +
                             ((const struct dni_dense *)p->storage)->d * DNI_GROUP);
}

void dni_dense_add_point(const dni_points *p, const dni_points *from, size_t i, bool single,
                         dni_queries *queries) {
    const struct dni_dense *source = from->storage;
    const size_t q = queries->n++;
    const double *x = source->panels + dni_dense_lane(source, i);
    double *to = group_of(p, queries, q) + q % DNI_GROUP;
    dni_query *query = &queries->of[q];
    *query = (dni_query){.single = single && source->singles != NULL};
    if (query->single) {
        const float *from_single = source->singles + dni_dense_lane(source, i);
        float *single_to = single_group_of(p, queries, q) + q % DNI_GROUP;
        for (size_t k = 0; k < source->d; k++) {
            single_to[k * DNI_GROUP] = from_single[k * DNI_PANEL];
        }
        query->square = from->square_single[i];
        return;
    }
    for (size_t k = 0; k < source->d; k++) {
        to[k * DNI_GROUP] = x[k * DNI_PANEL];
    }
    query->square = from->square == NULL ? 0 : from->square[i];
    query->self = from->self == NULL ? 1 : from->self[i];
}

/* Returns the sum of x_k² over the columns k that are not in the panels. */
static double square_of_omitted(const dni_points *p, const double *x) {
    const struct dni_dense *storage = p->storage;
    double sum = 0;
    for (size_t k = 0, next = 0; storage->kept != NULL && k < p->d; k++) {
        if (next < storage->d && storage->kept[next] == k) {
            next++;
        } else {
            sum += x[k] * x[k];
        }
    }
    return sum;
}

void dni_dense_add_row(const dni_points *p, dni_row row, bool single, dni_queries *queries) {
    const struct dni_dense *storage = p->storage;
    const size_t q = queries->n++;
    double *x = queries->work, *to = group_of(p, queries, q) + q % DNI_GROUP;
    dni_query *query = &queries->of[q];
    memset(x, 0, p->d * sizeof *x);
    for (size_t e = 0; e < row.n; e++) {
        x[row.cols == NULL ? e : row.cols[e]] = row.values[e];
    }
    if (p->form == DNI_FORM_SQUARE) {
        dni_dense_map(p, x);
    }
    for (size_t k = 0; k < storage->d; k++) {
        to[k * DNI_GROUP] = x[storage->kept == NULL ? k : storage->kept[k]];
    }
    *query = (dni_query){.square = p->lanes->square(x, p->d, 1)};
    query->self =
        p->form == DNI_FORM_PRODUCT ? dni_kernel_of_product(&p->kernel, query->square) : 1;
    query->single =
        single && storage->singles != NULL && query->square < storage->max_single_square;
    if (query->single) {
        float *single_to = single_group_of(p, queries, q) + q % DNI_GROUP;
        for (size_t k = 0; k < storage->d; k++) {
            single_to[k * DNI_GROUP] = (float)to[k * DNI_GROUP];
        }
        query->square =
            p->lanes->square_single(single_to, storage->d, DNI_GROUP) + square_of_omitted(p, x);
    }
}

static void measure_exact(const dni_points *p, const dni_queries *queries, size_t panel,
                          double *measure) {
    const struct dni_dense *storage = p->storage;
    const double *points = storage->panels + panel * storage->d * DNI_PANEL,
                 *groups = group_of(p, queries, 0);
    if (dni_dense_of_products(p)) {
        p->lanes->products(points, groups, group_size(p), storage->d, queries->n, measure);
    } else {
        p->lanes->distances(p->form, points, groups, group_size(p), storage->d, queries->n,
                            measure);
    }
}

/* measure [queries × DNI_PANEL] ← products or distances of the queries and the points of a panel.
 * Each query has its own precision. */
static void measure_panel(const dni_points *p, const dni_queries *queries, size_t panel,
                          double *measure) {
    const struct dni_dense *storage = p->storage;
    size_t n_single = 0;
    for (size_t q = 0; q < queries->n; q++) {
        n_single += queries->of[q].single;
    }
    if (n_single > 0) {
        p->lanes->products_single(storage->singles + panel * storage->d * DNI_PANEL,
                                  single_group_of(p, queries, 0), 2 * group_size(p), storage->d,
                                  queries->n, measure);
    } else {
        measure_exact(p, queries, panel, measure);
    }
    if (n_single == 0 || n_single == queries->n) {
        return;
    }
    double exact[DNI_QUERIES * DNI_PANEL];
    measure_exact(p, queries, panel, exact);
    for (size_t q = 0; q < queries->n; q++) {
        if (!queries->of[q].single) {
            memcpy(measure + q * DNI_PANEL, exact + q * DNI_PANEL, DNI_PANEL * sizeof *measure);
        }
    }
}

/* Converts the products or distances `measure` of one query and a panel to kernel values. Stores
 * the values of the panel's points low … high − 1 at index `to` of the output. */
static void finish(const dni_points *p, const dni_query *query, size_t panel, size_t low,
                   size_t high, double *measure, const dni_output *output, size_t to) {
    if (low == 0 && high == DNI_PANEL) {
        dni_values_of(p, query, panel * DNI_PANEL, DNI_PANEL, measure, output, to);
        return;
    }
    float single[DNI_PANEL];
    double exact[DNI_PANEL];
    dni_output whole = {.single = output->single == NULL ? NULL : single,
                        .exact = output->exact == NULL ? NULL : exact,
                        .distances = output->distances};
    dni_values_of(p, query, panel * DNI_PANEL, DNI_PANEL, measure, &whole, 0);
    if (output->single != NULL) {
        memcpy(output->single + to, single + low, (high - low) * sizeof *single);
    }
    if (output->exact != NULL) {
        memcpy(output->exact + to, exact + low, (high - low) * sizeof *exact);
    }
}

void dni_dense_values(const dni_points *p, const dni_queries *queries, size_t first, size_t n,
                      dni_output output) {
    double measure[DNI_QUERIES * DNI_PANEL];
    for (size_t panel = first / DNI_PANEL; panel * DNI_PANEL < first + n; panel++) {
        const size_t start = panel * DNI_PANEL, low = start < first ? first - start : 0;
        const size_t high = first + n - start < DNI_PANEL ? first + n - start : DNI_PANEL;
        measure_panel(p, queries, panel, measure);
        for (size_t q = 0; q < queries->n; q++) {
            finish(p, &queries->of[q], panel, low, high, measure + q * DNI_PANEL, &output,
                   q * output.stride + start + low - first);
        }
    }
}
