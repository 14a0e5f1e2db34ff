/* The null space of a symmetric matrix, computed by LAPACK in stages: the tridiagonal matrix, its
 * eigenvalues, and the eigenvectors of the eigenvalues that are 0.
 *
 *   QᵀAQ = T           linalg/tridiagonal.h
 *   eigenvalues of T   dsterf
 *   T z = λ z          dstemr, multiple relatively robust representations (MRRR)
 *   A (Qz) = λ (Qz)    dormtr
 *
 * The row-major lower triangle of this library is an upper triangle for LAPACK; LAPACK's columns
 * of Z are rows here. */
#include "linalg/eigen.h"
#include "base/layout.h"
#include "linalg/cholesky.h"
#include "linalg/step.h"
#include "linalg/tridiagonal.h"
#include "linalg/vector.h"

#include <assert.h>
#include <lapacke.h>
#include <string.h>

#define MIN_VECTORS 32
#define CHUNK 512
#define WIDE_GAP 1e-6 /* relative to the largest eigenvalue */

struct eigen {
    lapack_int n;
    double *a;           /* [n × n] the matrix, then the reflections of Q */
    double *diagonal;    /* [n] diagonal of T */
    double *subdiagonal; /* [n] subdiagonal of T; n - 1 elements are used */
    double *tau;         /* [n] scalars τ of the reflections */
    double *values;      /* [n] eigenvalues, ascending */
    double *spare;       /* [n] eigenvalues that dstemr computes */
    double *copy;        /* [2n] copies of diagonal and subdiagonal, which dsterf and dstemr
                          * overwrite */
    double *work;        /* [work_size] */
    lapack_int work_size;
    lapack_int *integers; /* [12n] integer workspace and support of dstemr */
    void *memory;
};

static dn_status no_result(size_t n, dn_error *err) {
    return dn_error_set(err, DN_ERR_NUMERIC,
                        "the eigenvalues of a matrix of order %zu could not be computed", n);
}

static void copy_tridiagonal(const struct eigen *s) {
    size_t n = (size_t)s->n;
    memcpy(s->copy, s->diagonal, n * sizeof(double));
    memcpy(s->copy + n, s->subdiagonal, (n - 1) * sizeof(double));
    s->copy[2 * n - 1] = 0;
}

/* Returns the doubles of workspace that suffice for the reduction, for dstemr, and for dormtr with
 * any number of vectors. */
static lapack_int work_size_of(lapack_int n) {
    double reduce = (double)dni_tridiagonal_work((size_t)n), back = 0;
    lapack_int info = LAPACKE_dormtr_work(LAPACK_COL_MAJOR, 'L', 'U', 'N', n, n, NULL, n, NULL,
                                          NULL, n, &back, -1);
    assert(info == 0);
    (void)info;
    double most = reduce > back ? reduce : back;
    return most > 18.0 * (double)n ? (lapack_int)most : 18 * n;
}

static void eigen_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = *(const size_t *)shape;
    struct eigen *s = work;
    s->diagonal = dni_layout_doubles(layout, n);
    s->subdiagonal = dni_layout_doubles(layout, n);
    s->tau = dni_layout_doubles(layout, n);
    s->values = dni_layout_doubles(layout, n);
    s->spare = dni_layout_doubles(layout, n);
    s->copy = dni_layout_doubles(layout, 2 * n);
    s->work = dni_layout_doubles(layout, (size_t)work_size_of((lapack_int)n));
    s->integers = dni_layout_array(layout, 12 * n, sizeof *s->integers);
}

double dni_symmetric_null_memory(size_t n) {
    struct eigen unused;
    return n == 0 ? 0
                  : dni_layout_bytes(eigen_layout, &n, &unused) +
                        (double)n * (double)n * sizeof(double);
}

static dn_status eigen_alloc(const dn_run *run, struct eigen *s, dn_error *err) {
    const size_t n = (size_t)s->n;
    s->work_size = work_size_of(s->n);
    return dni_layout_take(run, eigen_layout, &n, s, "the eigenvalue solver", &s->memory, err);
}

static dn_status eigenvalues(const dn_run *run, struct eigen *s, dn_error *err) {
    size_t n = (size_t)s->n;
    dn_status status =
        dni_tridiagonal(run, s->a, n, s->diagonal, s->subdiagonal, s->tau, s->work, err);
    if (status == DN_OK) {
        status = dn_run_stop(run, err);
    }
    if (status != DN_OK) {
        return status;
    }
    copy_tridiagonal(s);
    lapack_int info = LAPACKE_dsterf_work(s->n, s->copy, s->copy + n);
    memcpy(s->values, s->copy, n * sizeof(double));
    return info == 0 && dni_all_finite(s->values, n) ? DN_OK : no_result(n, err);
}

/* vectors [m × n] ← the eigenvectors of T for its m smallest eigenvalues, by divide and conquer.
 * This method computes all n eigenvectors and is fast for equal eigenvalues. */
static dn_status all_eigenvectors(const dn_run *run, struct eigen *s, size_t m, double *vectors,
                                  dn_error *err) {
    size_t n = (size_t)s->n, work_size = 1 + 4 * n + n * n;
    void *memory = NULL;
    dn_status status =
        dn_run_alloc(run, n * n + work_size, sizeof(double), "all eigenvectors", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    double *all = memory;
    copy_tridiagonal(s);
    lapack_int info =
        LAPACKE_dstedc_work(LAPACK_COL_MAJOR, 'I', s->n, s->copy, s->copy + n, all, s->n,
                            all + n * n, (lapack_int)work_size, s->integers, 12 * s->n);
    if (info == 0) {
        memcpy(vectors, all, m * n * sizeof *vectors);
    }
    dn_run_free(run, memory);
    return info == 0 ? DN_OK : no_result(n, err);
}

/* Returns the end of the eigenvectors first … end − 1 that one call of dstemr computes: a call
 * computes about CHUNK vectors if wide gaps divide the m eigenvalues, so that the vectors of
 * different calls are orthogonal. */
static size_t chunk_end(const struct eigen *s, size_t first, size_t m, double largest) {
    for (size_t end = first + CHUNK; end < m; end++) {
        if (s->values[end] - s->values[end - 1] > WIDE_GAP * largest) {
            return end;
        }
    }
    return m;
}

/* vectors [m × n] ← the eigenvectors of T for its m smallest eigenvalues, by dstemr, which
 * computes only these; by all_eigenvectors if dstemr fails and n <= DNI_MAX_EIGEN. *out_found:
 * true if one of the methods succeeded. */
static dn_status tridiagonal_eigenvectors(const dn_run *run, struct eigen *s, size_t m,
                                          double *vectors, bool *out_found, dn_error *err) {
    size_t n = (size_t)s->n;
    const double largest = s->values[n - 1];
    lapack_int *support = s->integers, *integers = support + 2 * n;
    *out_found = true;
    for (size_t first = 0, end; *out_found && first < m; first = end) {
        end = chunk_end(s, first, m, largest);
        dn_status status = dn_run_stop(run, err);
        if (status != DN_OK) {
            return status;
        }
        copy_tridiagonal(s);
        lapack_int found = 0;
        lapack_logical try_rac = 1;
        lapack_int info =
            LAPACKE_dstemr_work(LAPACK_COL_MAJOR, 'V', 'I', s->n, s->copy, s->copy + n, 0, 0,
                                (lapack_int)first + 1, (lapack_int)end, &found, s->spare,
                                vectors + first * n, s->n, (lapack_int)(end - first), support,
                                &try_rac, s->work, s->work_size, integers, 10 * s->n);
        *out_found = info == 0 && (size_t)found == end - first;
    }
    if (*out_found || n > DNI_MAX_EIGEN) {
        return DN_OK;
    }
    *out_found = true;
    return all_eigenvectors(run, s, m, vectors, err);
}

/* vectors [m × n] ← the eigenvectors of A for its m smallest eigenvalues. */
static dn_status eigenvectors(const dn_run *run, struct eigen *s, size_t m, double *vectors,
                              bool *found, dn_error *err) {
    size_t n = (size_t)s->n;
    dn_status status = dn_run_stop(run, err);
    if (status == DN_OK) {
        status = tridiagonal_eigenvectors(run, s, m, vectors, found, err);
    }
    if (status != DN_OK || !*found) {
        return status;
    }
    size_t step = dni_step_rows(m, 2 * (double)n * (double)n, MIN_VECTORS);
    for (size_t first = 0, count; first < m; first += count) {
        count = m - first < step ? m - first : step;
        status = dn_run_stop(run, err);
        if (status != DN_OK) {
            return status;
        }
        lapack_int info =
            LAPACKE_dormtr_work(LAPACK_COL_MAJOR, 'L', 'U', 'N', s->n, (lapack_int)count, s->a,
                                s->n, s->tau, vectors + first * n, s->n, s->work, s->work_size);
        assert(info == 0);
        (void)info;
    }
    return DN_OK;
}

static bool lower_is_finite(const double *a, size_t n) {
    bool finite = true;
    for (size_t i = 0; finite && i < n; i++) {
        finite = dni_all_finite(a + i * n, i + 1);
    }
    return finite;
}

static dn_status not_finite(size_t n, dn_error *err) {
    return dn_error_set(err, DN_ERR_NUMERIC,
                        "a matrix of order %zu whose eigenvalues are needed is not finite", n);
}

dn_status dni_symmetric_null(const dn_run *run, double *a, size_t n, double share, size_t *out_n,
                             double **out_vectors, dn_error *err) {
    assert(n <= DNI_MAX_ORDER);
    *out_n = 0;
    *out_vectors = NULL;
    if (n == 0) {
        return DN_OK;
    }
    if (!lower_is_finite(a, n)) {
        return not_finite(n, err);
    }
    struct eigen s = {.n = (lapack_int)n, .a = a};
    void *vectors = NULL;
    bool found = true;
    size_t m = 0;
    dn_status status = eigen_alloc(run, &s, err);
    if (status != DN_OK) {
        return status;
    }
    status = eigenvalues(run, &s, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    while (m < n && s.values[m] <= share * s.values[n - 1]) {
        m++;
    }
    if (m > 0) {
        status =
            dn_run_alloc(run, m * n, sizeof(double), "the combinations of columns", &vectors, err);
        if (status != DN_OK) {
            goto cleanup;
        }
        status = eigenvectors(run, &s, m, vectors, &found, err);
    }
    if (status != DN_OK || !found) {
        dn_run_free(run, vectors);
        vectors = NULL;
    }
cleanup:
    dn_run_free(run, s.memory);
    if (status == DN_OK) {
        *out_n = m;
        *out_vectors = vectors;
    }
    return status;
}

double dni_symmetric_eigen_memory(size_t n) {
    struct eigen unused;
    return dni_layout_bytes(eigen_layout, &n, &unused) +
           sizeof(double) * (1 + 2 * (double)n * ((double)n + 2)); /* all_eigenvectors */
}

dn_status dni_symmetric_eigen(const dn_run *run, double *a, size_t n, double *values,
                              double *vectors, dn_error *err) {
    assert(n > 0 && n <= DNI_MAX_EIGEN);
    if (!lower_is_finite(a, n)) {
        return not_finite(n, err);
    }
    struct eigen s = {.n = (lapack_int)n, .a = a};
    bool found = false;
    dn_status status = eigen_alloc(run, &s, err);
    if (status != DN_OK) {
        return status;
    }
    status = eigenvalues(run, &s, err);
    if (status == DN_OK) {
        memcpy(values, s.values, n * sizeof *values);
        status = eigenvectors(run, &s, n, vectors, &found, err);
    }
    dn_run_free(run, s.memory);
    return status == DN_OK && !found ? no_result(n, err) : status;
}

dn_status dni_symmetric_extremes(const dn_run *run, double *a, size_t n, double *least,
                                 double *greatest, dn_error *err) {
    assert(n > 0 && n <= DNI_MAX_ORDER);
    if (!lower_is_finite(a, n)) {
        return not_finite(n, err);
    }
    struct eigen s = {.n = (lapack_int)n, .a = a};
    dn_status status = eigen_alloc(run, &s, err);
    if (status != DN_OK) {
        return status;
    }
    status = eigenvalues(run, &s, err);
    if (status == DN_OK) {
        *least = s.values[0];
        *greatest = s.values[n - 1];
    }
    dn_run_free(run, s.memory);
    return status;
}
