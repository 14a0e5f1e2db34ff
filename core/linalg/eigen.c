/* The null space over LAPACK, in stages: tridiagonal matrix, its eigenvalues, and only when some of them vanish those eigenvectors.
 *
 *   QᵀAQ = T (linalg/tridiagonal.h),   eigenvalues of T (dsterf),   T z = λ z for the wanted ones (dstemr, relatively robust representations),   A (Qz) = λ (Qz) (dormtr)
 *
 * Our row-major lower triangle is LAPACK's upper one; its columns of Z are our rows. */
#include "linalg/eigen.h"
#include "linalg/cholesky.h"
#include "linalg/step.h"
#include "linalg/tridiagonal.h"
#include "linalg/vector.h"

#include <assert.h>
#include <lapacke.h>
#include <string.h>

#define LEAST_VECTORS 32
#define MOST_OF_ALL 2049 /* order up to which all vectors are found where few cannot be */

/* What the stages hand on. */
struct stages {
    lapack_int n;
    double *a;           /* [n × n] the matrix, then the reflections of Q */
    double *vectors;     /* [n] each, below: */
    double *diagonal;    /* of T */
    double *subdiagonal; /* of T, n - 1 of them */
    double *tau;         /* scalars of the reflections */
    double *values;      /* eigenvalues, ascending */
    double *copy;        /* of diagonal and subdiagonal, [2n]: dsterf and dstemr eat them */
    double *work;        /* of the stage */
    lapack_int work_size;
    lapack_int *integers; /* [12n] work and support of dstemr */
};

static dn_status no_result(size_t n, dn_error *err) {
    return dn_error_set(err, DN_ERR_NUMERIC,
                        "the eigenvalues of a matrix of order %zu could not be computed", n);
}

static void copy_tridiagonal(const struct stages *s) {
    size_t n = (size_t)s->n;
    memcpy(s->copy, s->diagonal, n * sizeof(double));
    memcpy(s->copy + n, s->subdiagonal, (n - 1) * sizeof(double));
    s->copy[2 * n - 1] = 0;
}

/* Work of the reduction, of dstemr and of dormtr for any number of vectors. */
static lapack_int work_size_of(lapack_int n) {
    double reduce = (double)dni_tridiagonal_work((size_t)n), back = 0;
    lapack_int info = LAPACKE_dormtr_work(LAPACK_COL_MAJOR, 'L', 'U', 'N', n, n, NULL, n, NULL,
                                          NULL, n, &back, -1);
    assert(info == 0);
    (void)info;
    double most = reduce > back ? reduce : back;
    return most > 18.0 * (double)n ? (lapack_int)most : 18 * n;
}

static dn_status stages_alloc(const dn_run *run, struct stages *s, dn_error *err) {
    size_t n = (size_t)s->n;
    s->work_size = work_size_of(s->n);
    void *doubles = NULL, *integers = NULL;
    dn_status status = dn_run_alloc(run, 6 * n + (size_t)s->work_size, sizeof(double),
                                    "the eigenvalue solver", &doubles, err);
    if (status != DN_OK) {
        return status;
    }
    s->vectors = doubles;
    s->diagonal = s->vectors;
    s->subdiagonal = s->diagonal + n;
    s->tau = s->subdiagonal + n;
    s->values = s->tau + n;
    s->copy = s->values + n;
    s->work = s->copy + 2 * n;
    status = dn_run_alloc(run, 12 * n, sizeof(lapack_int), "the eigenvalue solver", &integers, err);
    s->integers = integers;
    return status;
}

static dn_status eigenvalues(const dn_run *run, struct stages *s, dn_error *err) {
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

/* vectors [m × n] ← the eigenvectors of T for its m least eigenvalues, by divide and conquer: all n of them, of which many eigenvalues that are equal cost little. */
static dn_status all_of_tridiagonal(const dn_run *run, struct stages *s, size_t m, double *vectors,
                                    dn_error *err) {
    size_t n = (size_t)s->n, work_size = 1 + 4 * n + n * n;
    void *room = NULL;
    dn_status status =
        dn_run_alloc(run, n * n + work_size, sizeof(double), "all eigenvectors", &room, err);
    if (status != DN_OK) {
        return status;
    }
    double *all = room;
    copy_tridiagonal(s);
    lapack_int info =
        LAPACKE_dstedc_work(LAPACK_COL_MAJOR, 'I', s->n, s->copy, s->copy + n, all, s->n,
                            all + n * n, (lapack_int)work_size, s->integers, 12 * s->n);
    if (info == 0) {
        memcpy(vectors, all, m * n * sizeof *vectors);
    }
    dn_run_free(run, room);
    return info == 0 ? DN_OK : no_result(n, err);
}

/* The same, of a few by dstemr. *found is false when neither can tell. */
static dn_status of_tridiagonal(const dn_run *run, struct stages *s, size_t m, double *vectors,
                                bool *out_found, dn_error *err) {
    size_t n = (size_t)s->n;
    copy_tridiagonal(s);
    lapack_int found = 0, *support = s->integers, *integers = support + 2 * n;
    lapack_logical try_rac = 1;
    lapack_int info =
        LAPACKE_dstemr_work(LAPACK_COL_MAJOR, 'V', 'I', s->n, s->copy, s->copy + n, 0, 0, 1,
                            (lapack_int)m, &found, s->values, vectors, s->n, (lapack_int)m, support,
                            &try_rac, s->work, s->work_size, integers, 10 * s->n);
    *out_found = info == 0 && (size_t)found == m;
    if (*out_found || n > MOST_OF_ALL) {
        return DN_OK;
    }
    *out_found = true;
    return all_of_tridiagonal(run, s, m, vectors, err);
}

/* vectors [m × n] ← the eigenvectors of the m least eigenvalues */
static dn_status eigenvectors(const dn_run *run, struct stages *s, size_t m, double *vectors,
                              bool *found, dn_error *err) {
    size_t n = (size_t)s->n;
    dn_status status = dn_run_stop(run, err);
    if (status == DN_OK) {
        status = of_tridiagonal(run, s, m, vectors, found, err);
    }
    if (status != DN_OK || !*found) {
        return status;
    }
    size_t step = dni_step_rows(m, 2 * (double)n * (double)n, LEAST_VECTORS);
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
    struct stages s = {.n = (lapack_int)n, .a = a};
    void *vectors = NULL;
    bool found = false;
    size_t m = 0;
    dn_status status = stages_alloc(run, &s, err);
    if (status == DN_OK) {
        status = eigenvalues(run, &s, err);
    }
    if (status == DN_OK) {
        while (m < n && s.values[m] <= share * s.values[n - 1]) {
            m++;
        }
    }
    if (status == DN_OK && m > 0) {
        status =
            dn_run_alloc(run, m * n, sizeof(double), "the combinations of columns", &vectors, err);
        if (status == DN_OK) {
            status = eigenvectors(run, &s, m, vectors, &found, err);
        }
        if (status == DN_OK && !found) {
            dn_run_free(run, vectors);
            vectors = NULL;
        }
    }
    dn_run_free(run, s.vectors);
    dn_run_free(run, s.integers);
    if (status != DN_OK) {
        dn_run_free(run, vectors);
        return status;
    }
    *out_n = m;
    *out_vectors = vectors;
    return DN_OK;
}

dn_status dni_symmetric_extremes(const dn_run *run, double *a, size_t n, double *least,
                                 double *greatest, dn_error *err) {
    assert(n > 0 && n <= DNI_MAX_ORDER);
    if (!lower_is_finite(a, n)) {
        return not_finite(n, err);
    }
    struct stages s = {.n = (lapack_int)n, .a = a};
    dn_status status = stages_alloc(run, &s, err);
    if (status == DN_OK) {
        status = eigenvalues(run, &s, err);
    }
    if (status == DN_OK) {
        *least = s.values[0];
        *greatest = s.values[n - 1];
    }
    dn_run_free(run, s.vectors);
    dn_run_free(run, s.integers);
    return status;
}
