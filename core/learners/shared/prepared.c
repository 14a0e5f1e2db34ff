/* Prepares a kernel problem: estimates the kernel's parameters, gathers the points, computes the
 * Gram matrix. */
#include "learners/shared/prepared.h"
#include "base/run_memory.h"
#include "kernels/kernel_definite.h"
#include "kernels/width.h"
#include "learners/shared/kernel_factor.h"
#include "learners/shared/kernel_params.h"
#include "learners/shared/moments.h"
#include "learners/shared/smo/smo.h"
#include "linalg/vector.h"
#include "machine/kernel_machine.h"

#include <math.h>

/* maximum number of points whose Gram matrix has double precision */
enum { MAX_EXACT_POINTS = 2000 };

/* ---- the kernel ---- */
static bool needs_variances(const dn_kernel *kernel) {
    return kernel->type == DN_KERNEL_RBF && kernel->width == 0;
}

static bool needs_median(const dn_kernel *kernel) {
    return kernel->width == DNI_KERNEL_MEDIAN_WIDTH ||
           (kernel->type == DN_KERNEL_DISTANCE && kernel->width == 0);
}

/* *out ← √(½ Σ_j var_j), the width of rbf for "auto"; 1 if no column varies. Variances have the
 * divisor Σv: d standardised columns give the width √(d/2). The mean of ‖x − z‖² over all pairs of
 * rows is 4 times the square of this width, so that K = exp(−2) at the root mean square
 * distance. */
static dn_status find_rbf_width(const dn_fit_input *input, const dn_run *run, double *out,
                                dn_error *err) {
    dni_moments moments;
    const dn_status status = dni_moments_compute(input, run, &moments, err);
    if (status != DN_OK) {
        return status;
    }
    const double norm = dni_norm(moments.deviation, input->rows->n_cols);
    *out = norm > 0 ? norm / sqrt(2) : 1;
    dni_moments_done(&moments, run);
    return DN_OK;
}

/* Estimates the kernel's width if it is "auto", and computes the factor of a mahalanobis kernel. */
static dn_status estimate_parameters(dni_prepared *p, const dn_fit_input *input, dn_error *err) {
    const size_t d = input->rows->n_cols;
    size_t n = 0;
    void *memory;
    if (needs_variances(&p->kernel)) {
        return find_rbf_width(input, p->run, &p->kernel.width, err);
    }
    if (needs_median(&p->kernel)) {
        return dni_kernel_width(&p->kernel, input->rows, p->run, &p->kernel.width, err);
    }
    if (p->kernel.type != DN_KERNEL_MAHALANOBIS) {
        return DN_OK;
    }
    const double *given = dn_params_list(input->params, "kernel.covariance", &n);
    dn_status status = dn_run_alloc(p->run, d * d + 1, sizeof(double),
                                    "the factor of the covariance", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    p->factor = p->kernel.factor = memory;
    return dni_kernel_factor(input, given, p->run, p->factor, err);
}

/* ---- the Gram matrix ---- */
/* Bytes of the Gram matrix of n points; 0 if it would exceed cache_bytes and is not stored. */
static double gram_bytes(size_t n, double cache_bytes) {
    const double square = (double)n * (double)n,
                 bytes = square * (n <= MAX_EXACT_POINTS ? sizeof(double) : sizeof(float));
    return bytes <= cache_bytes ? bytes : 0;
}

static dn_status make_gram(dni_prepared *p, double cache_bytes, dn_error *err) {
    const size_t n = p->points.n;
    const bool exact = n <= MAX_EXACT_POINTS;
    p->gram = (dni_gram){.n = n, .exact = p->points.given, .exact_rows = exact};
    if (p->points.given != NULL || gram_bytes(n, cache_bytes) == 0) {
        return DN_OK;
    }
    dn_status status = dni_run_alloc_raw(p->run, n * n + 1, exact ? sizeof(double) : sizeof(float),
                                         "the kernel's values (cache_mib)", &p->gram_memory, err);
    if (status != DN_OK) {
        return status;
    }
    p->gram.exact = exact ? p->gram_memory : NULL;
    p->gram.single = exact ? NULL : p->gram_memory;
    return dni_points_gram(p->points.points, p->run, exact ? NULL : p->gram_memory,
                           exact ? p->gram_memory : NULL, err);
}

static void count_zero(dni_prepared *p) {
    for (size_t i = 0; p->kernel.normalize && i < p->points.n; i++) {
        p->n_rows += p->points.count[i];
        p->n_zero += dni_points_self(p->points.points, i) > 0 ? 0 : p->points.count[i];
    }
}

static dn_status check_definite(dni_prepared *p, dn_error *err) {
    double greatest = 0;
    size_t rows = 0;
    p->definite = true;
    p->least_eigenvalue = (double)NAN;
    if (dni_kernel_is_definite(&p->kernel, p->kernel.n_features)) {
        return DN_OK;
    }
    dn_status status =
        p->points.given != NULL
            ? dni_matrix_extreme_eigenvalues(p->points.given, p->points.n, p->run,
                                             &p->least_eigenvalue, &greatest, err)
            : dni_kernel_extreme_eigenvalues(p->points.points, p->run, &p->least_eigenvalue,
                                             &greatest, &rows, err);
    if (status != DN_OK) {
        return status;
    }
    p->definite = p->least_eigenvalue >= -1e-8 * greatest;
    return DN_OK;
}

/* ---- the problem ---- */
static bool same_kernel(const dn_kernel *a, const dn_kernel *b) {
    return a->type == b->type && a->metric == b->metric && a->gamma == b->gamma &&
           a->coef0 == b->coef0 && a->scale == b->scale && a->width == b->width &&
           a->degree == b->degree && a->length == b->length && a->normalize == b->normalize &&
           a->n_features == b->n_features;
}

/* True if problem p can be used for `key`. Covariances are not compared: a problem with a given
 * covariance is never reused. */
static bool fits_key(const dni_prepared *p, const dni_prepared_key *key,
                     const dn_fit_input *input) {
    size_t n = 0;
    return p->key.rows == key->rows && p->key.role == key->role && p->key.seed == key->seed &&
           p->key.cache_bytes == key->cache_bytes && same_kernel(&p->key.kernel, &key->kernel) &&
           (key->kernel.type != DN_KERNEL_MAHALANOBIS ||
            dn_params_list(input->params, "kernel.covariance", &n) == NULL);
}

static dn_status prepare(dni_prepared *p, const dn_fit_input *input, dn_error *err) {
    const bool given = p->kernel.type == DN_KERNEL_PRECOMPUTED;
    dn_status status = estimate_parameters(p, input, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_svm_points_gather(input, !given, p->run, &p->points, err);
    if (status != DN_OK) {
        return status;
    }
    status = given ? dni_svm_points_given(&p->points, input, err)
                   : dni_svm_points_prepare(&p->points, &p->kernel, input, err);
    if (status != DN_OK) {
        return status;
    }
    status = make_gram(p, p->key.cache_bytes, err);
    if (status != DN_OK) {
        return status;
    }
    count_zero(p);
    return check_definite(p, err);
}

dn_status dni_prepared_get(const dn_fit_input *input, double cache_bytes, const dn_run *run,
                           dni_prepared **out, dn_error *err) {
    const dn_kernel kernel = dni_kernel_of(input->params, input->rows->n_cols);
    const dni_prepared_key key = {input->rows, input->role, run->seed, cache_bytes, kernel};
    void *memory;
    if (input->prepared != NULL && *input->prepared != NULL) {
        if (fits_key(*input->prepared, &key, input)) {
            *out = *input->prepared;
            return DN_OK;
        }
        dn_prepared_free(*input->prepared);
        *input->prepared = NULL;
    }
    dn_status status =
        dn_run_alloc(run, 1, sizeof(dni_prepared), "the prepared problem", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    dni_prepared *p = memory;
    *p = (dni_prepared){.run = run, .key = key, .kernel = kernel};
    status = prepare(p, input, err);
    if (status != DN_OK) {
        dn_prepared_free(p);
        return status;
    }
    p->shared = input->prepared != NULL;
    if (p->shared) {
        *input->prepared = p;
    }
    *out = p;
    return DN_OK;
}

static void free_values(dni_prepared *p) {
    dni_svm_points_drop_values(&p->points);
    dn_run_free(p->run, p->gram_memory);
    p->gram_memory = NULL;
    p->gram = (dni_gram){0};
}

void dni_prepared_drop_values(dni_prepared *p) {
    if (!p->shared) {
        free_values(p);
    }
}

void dni_prepared_release(dni_prepared *p) {
    if (p != NULL && !p->shared) {
        dn_prepared_free(p);
    }
}

void dn_prepared_free(dn_prepared *p) {
    if (p == NULL) {
        return;
    }
    const dn_run *run = p->run;
    free_values(p);
    dni_svm_points_done(&p->points);
    dn_run_free(run, p->duals.alpha);
    dn_run_free(run, p->support);
    dn_run_free(run, p->held.values);
    dn_run_free(run, p->factor);
    dn_run_free(run, p);
}

/* ---- memory ---- */
/* Bytes of working memory while the kernel's parameters are estimated and the points are
 * gathered. */
static double gathering_memory(const dn_kernel *kernel, const dn_fit_shape *shape) {
    const double gathering = dni_svm_points_gather_memory(shape->n_rows);
    if (needs_variances(kernel)) {
        return fmax(gathering, dni_moments_memory(shape->n_rows, shape->n_features,
                                                  shape->n_classes, shape->n_slots));
    }
    if (needs_median(kernel)) {
        return fmax(gathering, dni_kernel_width_memory(kernel, shape->n_rows, shape->n_features,
                                                       shape->n_entries));
    }
    if (kernel->type == DN_KERNEL_MAHALANOBIS) {
        return fmax(gathering,
                    dni_kernel_factor_memory(shape->n_rows, shape->n_features, shape->n_slots));
    }
    return gathering;
}

/* Bytes of the machines that are trained at the same time: for each machine its dual, its kernel
 * rows and up to two copies of points. The first copy holds the machine's points, unless it uses
 * all. The second holds either the active points or the support vectors. selection: bytes of one
 * copy. */
static double solving_memory(const dn_fit_shape *shape, const dni_kernel_machines *m,
                             double selection) {
    const double solver_bytes =
        dni_smo_memory(shape->n_rows) + dni_smo_rows_memory(shape->n_rows, 0);
    return (double)(m->n_parallel < m->n_per_row ? m->n_parallel : m->n_per_row) *
           (solver_bytes + m->solver_bytes + (m->n > 1 ? 2 : 1) * selection);
}

/* Bytes of the check for definiteness: a sample of the points and its kernel matrix. */
static double definite_memory(const dn_kernel *kernel, const dn_fit_shape *shape,
                              const dni_points_estimate *points) {
    const double rows = fmin((double)shape->n_rows, DNI_DEFINITE_ROWS);
    if (dni_kernel_is_definite(kernel, shape->n_features)) {
        return 0;
    }
    const double work = points == NULL ? 0 : (double)shape->n_slots * points->query_work;
    return dni_definite_memory(shape->n_rows, work) +
           (points == NULL ? 0 : points->kept * rows / (double)shape->n_rows);
}

/* Bytes of the points, of their Gram matrix or the cached rows, and of the duals. */
static double values_memory(const dn_kernel *kernel, const dn_fit_shape *shape, double cache_bytes,
                            const dni_kernel_machines *m) {
    const dni_points_estimate points =
        dni_points_memory(kernel, shape->n_rows, shape->n_features, shape->n_entries);
    const double n = (double)shape->n_rows, max_exact = MAX_EXACT_POINTS,
                 slots = (double)shape->n_slots, gram = gram_bytes(shape->n_rows, cache_bytes);
    if (gram > 0 && shape->n_rows <= MAX_EXACT_POINTS) { /* machines do not copy points then */
        return fmax(points.building, points.kept + gram +
                                         fmax(slots * points.query_work,
                                              fmax(definite_memory(kernel, shape, &points),
                                                   m->dual_bytes + solving_memory(shape, m, 0))));
    }
    const double sums = slots * (points.query_work + DNI_POINTS_SUMS * sizeof(double));
    /* Merging equal rows may leave MAX_EXACT_POINTS points or fewer. Then their matrix has double
     * precision. */
    const double exact = fmin(cache_bytes, sizeof(double) * max_exact * max_exact);
    const double matrix = gram > 0
                              ? fmax(gram, exact)
                              : fmin(cache_bytes, (double)m->n_parallel * sizeof(float) * n * n);
    return fmax(points.building, points.kept + matrix +
                                     fmax(definite_memory(kernel, shape, &points),
                                          m->dual_bytes + sums +
                                              solving_memory(shape, m, points.kept + points.work)));
}

/* Bytes of the matrix of a precomputed kernel and of the duals. */
static double given_memory(const dn_kernel *kernel, const dn_fit_shape *shape,
                           const dni_kernel_machines *m) {
    const double n = (double)shape->n_rows;
    return sizeof(double) * n * n + sizeof(uint32_t) * n +
           fmax(definite_memory(kernel, shape, NULL), m->dual_bytes + solving_memory(shape, m, 0));
}

/* Bytes while the machines are built from the duals and score the training rows: the support
 * vectors and the coefficients of each machine. For a linear kernel: the weights for encoded and
 * for raw columns. */
static double machines_memory(const dn_kernel *kernel, const dn_fit_shape *shape,
                              const dni_kernel_machines *m) {
    const size_t n = shape->n_rows;
    const double entries = kernel->type == DN_KERNEL_PRECOMPUTED ? (double)n : shape->n_entries;
    if (kernel->type == DN_KERNEL_LINEAR && !kernel->normalize) {
        return m->dual_bytes + 2 * sizeof(double) * (double)m->n * ((double)shape->n_features + 64);
    }
    return dni_support_estimate(kernel, n, entries) +
           dni_kernel_machines_estimate(m->n, (double)m->n_per_row * (double)n) +
           fmax(m->dual_bytes + m->result_bytes,
                dni_kernel_machines_work(kernel, n, entries, shape->n_slots));
}

double dni_prepared_memory(const dn_kernel *kernel, const dn_fit_shape *shape, double cache_bytes,
                           const dni_kernel_machines *m) {
    const double d = (double)shape->n_features,
                 factor = kernel->type == DN_KERNEL_MAHALANOBIS ? d * d * sizeof(double) : 0;
    const double values = kernel->type == DN_KERNEL_PRECOMPUTED
                              ? given_memory(kernel, shape, m)
                              : values_memory(kernel, shape, cache_bytes, m);
    return sizeof(dni_prepared) + factor + dni_svm_points_memory(shape->n_rows, shape->n_classes) +
           fmax(gathering_memory(kernel, shape), fmax(values, machines_memory(kernel, shape, m)));
}

/* ---- support vectors ---- */
/* For a precomputed kernel: each support vector is a row with a 1 in the column of its point. */
static void add_columns(const dni_svm_points *points, const uint32_t *number,
                        dni_support *support) {
    static const double one = 1;
    const size_t row_start[2] = {0, 1};
    for (size_t i = 0; i < points->n; i++) {
        if (number[i] < UINT32_MAX) {
            dni_support_add(support, dn_matrix_csr(row_start, &points->column[i], &one, 1,
                                                   support->kernel.n_features));
        }
    }
}

static void add_points(const dni_svm_points *points, const uint32_t *number, dni_support *support) {
    for (size_t i = 0; i < points->n; i++) {
        if (number[i] < UINT32_MAX) {
            dni_support_add(support, dni_svm_point(points, i));
        }
    }
}

/* Keeps the points of the support vectors, unless there is no memory for them. */
static void keep_support(dni_prepared *p, const uint32_t *number) {
    void *memory = p->support;
    if (!p->shared ||
        (memory == NULL && dn_run_alloc(p->run, p->points.n, sizeof *p->support,
                                        "the support vectors", &memory, NULL) != DN_OK)) {
        return;
    }
    p->support = memory;
    for (size_t i = 0; i < p->points.n; i++) {
        if (number[i] < UINT32_MAX) {
            p->support[number[i]] = (uint32_t)i;
        }
    }
}

dn_status dni_prepared_support(dni_prepared *problem, const uint32_t *number, size_t n,
                               dni_support **out, dn_error *err) {
    const dni_svm_points *points = &problem->points;
    const bool given = points->column != NULL;
    dni_support *support;
    size_t n_entries = 0;
    for (size_t i = 0; points->sparse && i < points->n; i++) {
        const dn_matrix row = dni_svm_point(points, i);
        n_entries += number[i] < UINT32_MAX ? row.row_start[1] - row.row_start[0] : 0;
    }
    const size_t capacity = given ? n : points->sparse ? n_entries : SIZE_MAX;
    dn_status status = dni_support_new(&problem->kernel, n, capacity, problem->run, &support, err);
    if (status != DN_OK) {
        return status;
    }
    if (given) {
        add_columns(points, number, support);
    } else {
        add_points(points, number, support);
    }
    status = dni_support_end(support, err);
    if (status != DN_OK) {
        dni_support_unref(support);
        return status;
    }
    keep_support(problem, number);
    *out = support;
    return DN_OK;
}

void dni_prepared_report(const dni_prepared *p, dn_report *report) {
    if (p->kernel.type == DN_KERNEL_RBF || p->kernel.type == DN_KERNEL_DISTANCE) {
        dn_report_number(report, "kernel_width", p->kernel.width);
    }
    if (p->n_zero > 0) {
        dn_report_warn(
            report, DN_WARNING_KERNEL_ZERO,
            "K(x, x) is not positive for %.0f of %.0f rows: their normalized kernel values are 0",
            p->n_zero, p->n_rows);
    }
}

const char *dni_prepared_remedy(dn_stop_reason stop_reason) {
    return stop_reason == DN_STOP_MAX_ITERATIONS
               ? ": try more max_iterations"
               : ", and further steps do not reduce the violation: try a larger tolerance";
}
