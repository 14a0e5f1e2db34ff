/* Sets of points: construction, rows of values, selections, queries. */
#include "kernels/points_kind.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* ^A row is computed in parts of some 10 ms: PART columns times points, VALUE columns for the value
 * itself, LEAST_PART points. */
enum { PART = 20000000, VALUE = 8, LEAST_PART = 1024 };

static const dni_points_kind *kind_for(const dn_kernel *kernel, bool dense) {
    if (dni_kernel_form(kernel) == DNI_FORM_EDIT) {
        return &dni_points_kind_texts;
    }
    return dense || kernel->type == DN_KERNEL_MAHALANOBIS ? &dni_points_kind_dense
                                                          : &dni_points_kind_sparse;
}

/* Makes an empty set of n points. */
static dn_status make(const dn_kernel *kernel, const dni_points_kind *kind, size_t n,
                      const dn_run *run, dni_points **out, dn_error *err) {
    void *memory;
    dn_status status =
        dn_run_alloc(run, 1, sizeof(dni_points), "the points of a kernel", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    const double factor =
        kernel->type == DN_KERNEL_MAHALANOBIS ? 0.5 : 0.5 / kernel->width / kernel->width;
    dni_points *points = memory;
    *points = (dni_points){.run = run,
                           .kernel = *kernel,
                           .form = dni_kernel_form(kernel),
                           .kind = kind,
                           .lanes = dni_lanes_best(),
                           .n = n,
                           .d = kernel->n_features,
                           .factor = factor <= DBL_MAX ? factor : DBL_MAX};
    *out = points;
    return DN_OK;
}

dn_status dni_points_new(const dn_kernel *kernel, size_t n_rows, size_t n_entries,
                         const dn_run *run, dni_points **out, dn_error *err) {
    dni_points *points;
    dn_status status =
        make(kernel, kind_for(kernel, n_entries == SIZE_MAX), n_rows, run, &points, err);
    if (status != DN_OK) {
        return status;
    }
    status = points->kind->begin(points, n_entries, err);
    if (status != DN_OK) {
        dni_points_free(points);
        return status;
    }
    *out = points;
    return DN_OK;
}

void dni_points_add(dni_points *points, dn_matrix x) {
    assert(x.n_rows <= points->n - points->added && x.n_cols == points->d);
    points->kind->add(points, points->added, x);
    points->added += x.n_rows;
}

dn_status dni_points_end(dni_points *points, dn_error *err) {
    assert(points->added == points->n);
    return points->kind->end(points, err);
}

void dni_points_free(dni_points *points) {
    if (points == NULL) {
        return;
    }
    points->kind->free(points);
    dn_run_free(points->run, points->square);
    dn_run_free(points->run, points->square_single);
    dn_run_free(points->run, points->self);
    dn_run_free(points->run, points);
}

/* The shape of rows. Texts have as many entries as characters, also in dense rows. */
static dni_rows_shape shape_of(const dn_kernel *kernel, size_t n_rows, size_t n_features,
                               double n_entries) {
    const double n = (double)n_rows, d = (double)n_features;
    const dni_form form = dni_kernel_form(kernel);
    return (dni_rows_shape){n, d, form == DNI_FORM_EDIT ? fmin(n_entries, n * d) : n_entries, form};
}

double dni_points_memory(const dn_kernel *kernel, size_t n_rows, size_t n_features,
                         double n_entries) {
    const dni_rows_shape shape = shape_of(kernel, n_rows, n_features, n_entries);
    const double squares =
        dni_kernel_form(kernel) == DNI_FORM_EDIT ? 0 : 3 * sizeof(double) * (shape.n + DNI_PANEL);
    return sizeof(dni_points) + squares + kind_for(kernel, isinf(n_entries))->memory(&shape);
}

double dni_points_work_memory(const dn_kernel *kernel, size_t n_rows, size_t n_features,
                              double n_entries) {
    const dni_rows_shape shape = shape_of(kernel, n_rows, n_features, n_entries);
    return kind_for(kernel, isinf(n_entries))->work_memory(&shape);
}

size_t dni_points_n(const dni_points *points) {
    return points->n;
}

double dni_points_self(const dni_points *points, size_t i) {
    if (points->self == NULL) {
        return 1;
    }
    return points->kernel.normalize
               ? dni_kernel_normalized(points->self[i], points->self[i], points->self[i])
               : points->self[i];
}

/* ---- rows ---- */
size_t dni_points_work(const dni_points *points) {
    return points->kind->work(points, 1);
}

size_t dni_points_step(const dni_points *points) {
    const size_t plain = PART / (points->d + VALUE),
                 least = plain > LEAST_PART ? plain : LEAST_PART, block = points->kind->block;
    if (points->kind->step != NULL) {
        return points->kind->step(points);
    }
    return block == 0 ? least : (least + block - 1) / block * block;
}

static void values(const dni_points *points, size_t i, size_t first, size_t n, dni_wanted wanted,
                   double *work) {
    dni_queries queries;
    queries.n = 0;
    queries.work = work;
    points->kind->take(points, points, i, wanted.single != NULL, &queries);
    points->kind->values(points, &queries, first, n, wanted);
}

void dni_points_row(const dni_points *points, size_t i, size_t first, size_t n, float *out,
                    double *work) {
    values(points, i, first, n, (dni_wanted){.single = out}, work);
}

void dni_points_row_exact(const dni_points *points, size_t i, size_t first, size_t n, double *out,
                          double *work) {
    values(points, i, first, n, (dni_wanted){.exact = out}, work);
}

void dni_points_distances(const dni_points *points, size_t i, size_t first, size_t n, double *out,
                          double *work) {
    values(points, i, first, n, (dni_wanted){.exact = out, .distances = true}, work);
}

/* ---- selections ---- */
static dn_status copy_some(const dn_run *run, const double *from, const uint32_t *list, size_t n,
                           double **out, dn_error *err) {
    void *memory;
    dn_status status = from == NULL
                           ? DN_OK
                           : dn_run_alloc(run, (n + DNI_PANEL - 1) / DNI_PANEL * DNI_PANEL,
                                          sizeof(double), "the points of a kernel", &memory, err);
    if (from == NULL || status != DN_OK) {
        return status;
    }
    *out = memory;
    for (size_t k = 0; k < n; k++) {
        (*out)[k] = from[list[k]];
    }
    return DN_OK;
}

dn_status dni_points_select(const dni_points *from, const uint32_t *list, size_t n,
                            const dn_run *run, dni_points **out, dn_error *err) {
    dni_points *points;
    dn_status status = make(&from->kernel, from->kind, n, run, &points, err);
    if (status != DN_OK) {
        return status;
    }
    points->lanes = from->lanes;
    points->expanded = from->expanded;
    points->factor = from->factor;
    points->added = n;
    status = copy_some(run, from->square, list, n, &points->square, err);
    if (status == DN_OK) {
        status = copy_some(run, from->square_single, list, n, &points->square_single, err);
    }
    if (status == DN_OK) {
        status = copy_some(run, from->self, list, n, &points->self, err);
    }
    if (status == DN_OK) {
        status = points->kind->select(points, from, list, err);
    }
    if (status != DN_OK) {
        dni_points_free(points);
        return status;
    }
    *out = points;
    return DN_OK;
}

/* ---- queries ---- */
size_t dni_points_query_work(const dni_points *points) {
    return points->kind->work(points, DNI_POINTS_QUERIES);
}

static dn_status query(const dni_points *points, dn_matrix q, bool single, bool distances,
                       const dn_run *run, double *out, double *work, dn_error *err) {
    dni_queries queries;
    assert(q.n_rows <= DNI_POINTS_QUERIES && DNI_POINTS_QUERIES <= DNI_QUERIES);
    queries.n = 0;
    queries.work = work;
    for (size_t i = 0; i < q.n_rows; i++) {
        points->kind->read(points, dni_row_of(q, i), single, &queries);
    }
    const size_t part = dni_points_step(points);
    for (size_t first = 0, n; first < points->n; first += n) {
        n = run == NULL || points->n - first < part ? points->n - first : part;
        dn_status status = dn_run_stop(run, err);
        if (status != DN_OK) {
            return status;
        }
        points->kind->values(points, &queries, first, n,
                             (dni_wanted){.exact = out + first,
                                          .stride = points->n,
                                          .distances = distances});
    }
    return DN_OK;
}

dn_status dni_points_query(const dni_points *points, dn_matrix q, bool single, const dn_run *run,
                           double *k, double *work, dn_error *err) {
    return query(points, q, single, false, run, k, work, err);
}

dn_status dni_points_query_distances(const dni_points *points, dn_matrix q, const dn_run *run,
                                     double *distances, double *work, dn_error *err) {
    return query(points, q, false, true, run, distances, work, err);
}
