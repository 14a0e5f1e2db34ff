/* The null space of the correlation matrix. */
#include "learners/shared/linear/linear_rank.h"
#include "linalg/eigen.h"
#include "linalg/qr.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

/* A column is marked if its entry in a unit combination is larger than this in absolute value. */
static const double PART = 1e-6;
/* Entries of separated combinations up to this absolute value are rounding errors and become 0. */
static const double NOISE = 1e-10;

/* gram [width × width] → [d × d]: removes the intercept. Constant columns get the diagonal 1. */
static void take_correlations(double *gram, size_t width, const dni_moments *moments) {
    const size_t d = width - 1;
    for (size_t i = 0; i < d; i++) {
        memmove(gram + i * d, gram + i * width, (i + 1) * sizeof *gram);
        for (size_t j = 0; j <= i; j++) {
            if (moments->deviation[i] == 0 || moments->deviation[j] == 0) {
                gram[i * d + j] = i == j;
            }
        }
    }
}

double dni_linear_null_space_bytes(size_t width) {
    return 8 * (2 * (double)width + 80) * (double)width;
}

/* Appends the unit vectors of the constant columns to the combinations null [*n × d]. */
static dn_status append_constants(const dn_run *run, const dni_moments *moments, size_t d,
                                  size_t *n, double **null, dn_error *err) {
    size_t all = *n;
    void *memory = NULL;
    for (size_t j = 0; j < d; j++) {
        all += moments->deviation[j] == 0;
    }
    if (all == *n) {
        return DN_OK;
    }
    const dn_status status =
        dn_run_alloc(run, all * d, sizeof(double), "the combinations of columns", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    double *next = memory;
    for (size_t i = 0; i < *n * d; i++) {
        next[i] = (*null)[i];
    }
    for (size_t j = 0; j < d; j++) {
        if (moments->deviation[j] == 0) {
            next[(*n)++ * d + j] = 1;
        }
    }
    dn_run_free(run, *null);
    *null = next;
    return DN_OK;
}

dn_status dni_linear_null_space(dni_linear_problem *problem, const dni_moments *moments,
                                size_t *out_n, double **out_null, dn_error *err) {
    const size_t width = problem->width;
    const dn_run *run = problem->run;
    void *gram = NULL;
    double *null = NULL;
    size_t n = 0;
    dn_status status =
        dn_run_alloc(run, width * width, sizeof(double), "the matrix of the features", &gram, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_linear_gram(problem, 1, gram, err);
    if (status == DN_OK) {
        take_correlations(gram, width, moments);
        status = dni_symmetric_null(run, gram, width - 1, DNI_RANK_SHARE, &n, &null, err);
    }
    dn_run_free(run, gram);
    if (status == DN_OK && n > 0 && null == NULL) {
        return dn_error_set(err, DN_ERR_NUMERIC,
                            "the weights are not unique, and the %zu combinations of columns "
                            "that no score depends on could not be computed: set lambda > 0",
                            n);
    }
    if (status == DN_OK) {
        status = append_constants(run, moments, width - 1, &n, &null, err);
    }
    if (status != DN_OK) {
        dn_run_free(run, null);
        return status;
    }
    *out_n = n;
    *out_null = null;
    return DN_OK;
}

/* Finds the entry of largest absolute value in rows r … n − 1 of null [n × d], and swaps its row
 * with row r. Returns its column. */
static size_t choose_pivot(double *null, size_t n, size_t d, size_t r) {
    size_t best = r * d;
    for (size_t i = r * d; i < n * d; i++) {
        best = fabs(null[i]) > fabs(null[best]) ? i : best;
    }
    for (size_t j = 0; best / d != r && j < d; j++) {
        const double t = null[r * d + j];
        null[r * d + j] = null[best / d * d + j];
        null[best / d * d + j] = t;
    }
    return best % d;
}

/* null [n × d] ← rows with the same span, each with a column in which all other rows are 0: the
 * reduced echelon form, by elimination with complete pivoting. */
static dn_status separate(const dn_run *run, double *null, size_t n, size_t d, dn_error *err) {
    for (size_t r = 0; r < n; r++) {
        const dn_status status = dn_run_stop(run, err);
        if (status != DN_OK) {
            return status;
        }
        const size_t column = choose_pivot(null, n, d, r);
        double *row = null + r * d;
        const double pivot = row[column];
        for (size_t j = 0; pivot != 0 && j < d; j++) {
            row[j] /= pivot;
        }
        for (size_t i = 0; i < n; i++) {
            if (i != r) {
                dni_axpy(-null[i * d + column], row, null + i * d, d);
                null[i * d + column] = 0;
            }
        }
    }
    for (size_t i = 0; i < n * d; i++) {
        null[i] = fabs(null[i]) > NOISE ? null[i] : 0;
    }
    return DN_OK;
}

dn_status dni_linear_raw_null(const dn_run *run, double *null, size_t n, size_t d,
                              const double *scale, dn_error *err) {
    const dn_status status = separate(run, null, n, d, err);
    for (size_t i = 0; status == DN_OK && i < n * d; i++) {
        null[i] /= scale[i % d] > 0 ? scale[i % d] : 1;
    }
    return status == DN_OK ? dni_orthonormal_rows(run, null, n, d, err) : status;
}

void dni_linear_mark_dependent(const double *null, size_t n_null, const dni_moments *moments,
                               size_t d, bool *marked) {
    for (size_t j = 0; j < d; j++) {
        marked[j] = false;
        for (size_t r = 0; r < n_null && moments->deviation[j] > 0 && !marked[j]; r++) {
            marked[j] = fabs(null[r * d + j]) > PART;
        }
    }
}
