/* Sets of points: construction, rows of values, selections, queries. */
#include "kernels/points_kind.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* A row of kernel values is computed in parts of about 10 ms. */
enum {
    PART = 20000000, /* columns × points of a part */
    VALUE = 8,       /* cost of the kernel function of one value, in columns */
    MIN_PART = 1024  /* minimum number of points of a part */
};

static const dni_points_kind *kind_for(const dn_kernel *kernel, bool dense) {
    if (dni_kernel_form(kernel) == DNI_FORM_EDIT) {
        return &dni_points_kind_texts;
    }
    return dense || kernel->type == DN_KERNEL_MAHALANOBIS ? &dni_points_kind_dense
                                                          : &dni_points_kind_sparse;
}

/* Allocates a set of n points without values. */
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
    dn_run_free(points->run, points->squares_memory);
    dn_run_free(points->run, points);
}

dni_points_estimate dni_points_memory(const dn_kernel *kernel, size_t n_rows, size_t n_features,
                                      double n_entries) {
    const dni_form form = dni_kernel_form(kernel);
    const dni_points_kind *kind = kind_for(kernel, isinf(n_entries));
    /* The number of entries of texts is the number of characters, also for dense rows. */
    const double entries =
        form == DNI_FORM_EDIT ? fmin(n_entries, (double)n_rows * (double)n_features) : n_entries;
    const dni_rows_shape shape = {n_rows, n_features,
                                  entries < 0x1p62 ? (size_t)ceil(entries) : SIZE_MAX, form};
    const dni_points_bytes bytes = kind->memory(&shape);
    const double squares = sizeof(dni_points) + dni_points_squares_bytes(n_rows, form);
    return (dni_points_estimate){.kept = squares + bytes.kept,
                                 .building = squares + bytes.building,
                                 .work = sizeof(double) * kind->work_bound(&shape, 1),
                                 .query_work =
                                     sizeof(double) * kind->work_bound(&shape, DNI_QUERIES)};
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
    const size_t plain = PART / (points->d + VALUE), least = plain > MIN_PART ? plain : MIN_PART,
                 block = points->kind->block;
    if (points->kind->step != NULL) {
        return points->kind->step(points);
    }
    return block == 0 ? least : (least + block - 1) / block * block;
}

static void values(const dni_points *points, size_t i, size_t first, size_t n, dni_output output,
                   double *work) {
    dni_queries queries;
    queries.n = 0;
    queries.work = work;
    points->kind->add_point(points, points, i, output.single != NULL, &queries);
    points->kind->values(points, &queries, first, n, output);
}

void dni_points_row(const dni_points *points, size_t i, size_t first, size_t n, float *out,
                    double *work) {
    values(points, i, first, n, (dni_output){.single = out}, work);
}

void dni_points_row_exact(const dni_points *points, size_t i, size_t first, size_t n, double *out,
                          double *work) {
    values(points, i, first, n, (dni_output){.exact = out}, work);
}

void dni_points_distances(const dni_points *points, size_t i, size_t first, size_t n, double *out,
                          double *work) {
    values(points, i, first, n, (dni_output){.exact = out, .distances = true}, work);
}

/* ---- selections ---- */
static void copy_some(const double *from, const uint32_t *list, size_t n, double *to) {
    for (size_t k = 0; to != NULL && k < n; k++) {
        to[k] = from[list[k]];
    }
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
    if (from->squares_memory != NULL) {
        status = dni_points_reserve(points, err);
        if (status != DN_OK) {
            goto cleanup;
        }
        copy_some(from->square, list, n, points->square);
        copy_some(from->self, list, n, points->self);
    }
    status = points->kind->select(points, from, list, err);
    if (status == DN_OK) {
        *out = points;
        return DN_OK;
    }
cleanup:
    dni_points_free(points);
    return status;
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
        points->kind->add_row(points, dni_row_of(q, i), single, &queries);
    }
    const size_t part = dni_points_step(points);
    for (size_t first = 0, n; first < points->n; first += n) {
        n = run == NULL || points->n - first < part ? points->n - first : part;
        dn_status status = dn_run_stop(run, err);
        if (status != DN_OK) {
            return status;
        }
        points->kind->values(points, &queries, first, n,
                             (dni_output){.exact = out + first,
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
