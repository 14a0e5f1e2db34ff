/* Kernels on training rows: completing them, their values, their support vectors. */
#include "learners/kernel_fit.h"
#include "data/tasks.h"
#include "kernels/definite.h"
#include "kernels/width.h"
#include "learners/kernel_factor.h"
#include "learners/kernel_params.h"
#include "predict/support.h"

#include <math.h>
#include <string.h>

enum { EXACT_POINTS = 2000 }; /* so many or fewer have their Gram matrix in double */

/* ---- the kernel --------------------------------------------------------------------------------------------------------------------------- */
static dn_status complete(const dn_fit_input *input, const dn_run *run, dni_kernel_fit *fit, dn_kernel *kernel, dn_error *err) {
    const bool wide = kernel->type == DN_KERNEL_RBF || kernel->type == DN_KERNEL_DISTANCE;
    size_t n = 0;
    void *memory;
    dn_status status = DN_OK;
    if (wide && kernel->width == 0) {
        status = dni_kernel_width(kernel, input->rows, run, &kernel->width, err);
    }
    if (kernel->type == DN_KERNEL_MAHALANOBIS) {
        const double *given = dn_params_list(input->params, "kernel.covariance", &n);
        const size_t d = input->rows->n_cols;
        status = dn_run_alloc(run, d * d + 1, sizeof(double), "the factor of the covariance", &memory, err);
        if (status != DN_OK)
            return status;
        fit->factor = kernel->factor = memory;
        status = dni_kernel_factor(input, given, run, fit->factor, err);
    }
    return status;
}

/* ---- its values --------------------------------------------------------------------------------------------------------------------------- */
struct exact_rows {
    const dn_run *run;
    const dni_points *points;
    double *gram, *work; /* work [slots × room] */
    size_t room;
};

static dn_status exact_row(void *arg, size_t i, size_t slot, dn_error *err) {
    const struct exact_rows *e = arg;
    const size_t n = dni_points_n(e->points), step = dni_points_step(e->points);
    dn_status status = DN_OK;
    for (size_t first = 0; first < n && status == DN_OK; first += step < n ? step : n) {
        dni_points_row_exact(e->points, i, first, n - first < step ? n - first : step, e->gram + i * n + first, e->work + slot * e->room);
        status = dn_run_stop(e->run, err);
    }
    return status;
}

static dn_status make_exact(const dni_points *points, const dn_run *run, double *gram, dn_error *err) {
    struct exact_rows e = {.run = run, .points = points, .gram = gram, .room = dni_points_work(points)};
    void *work;
    dn_status status = dn_run_alloc(run, run->n_slots * e.room + 1, sizeof(double), "the work of kernel rows", &work, err);
    if (status != DN_OK)
        return status;
    e.work = work;
    status = dni_tasks_run(run, dni_points_n(points), exact_row, &e, err);
    dn_run_free(run, work);
    return status;
}

/* Bytes of a Gram matrix of n points; 0: there is none. */
static double gram_bytes(size_t n, double cache_bytes) {
    const double square = (double)n * (double)n, bytes = square * (n <= EXACT_POINTS ? sizeof(double) : sizeof(float));
    return bytes <= cache_bytes ? bytes : 0;
}

static dn_status make_gram(const dni_svm_points *p, double cache_bytes, const dn_run *run, dni_kernel_fit *fit, dni_gram *gram,
                           dn_error *err) {
    *gram = (dni_gram){.n = p->n, .exact = p->given, .exact_rows = p->n <= EXACT_POINTS};
    if (p->given != NULL || gram_bytes(p->n, cache_bytes) == 0)
        return DN_OK;
    const bool exact = p->n <= EXACT_POINTS;
    dn_status status =
        dn_run_alloc(run, p->n * p->n + 1, exact ? sizeof(double) : sizeof(float), "the kernel's values (cache_mib)", &fit->gram, err);
    if (status != DN_OK)
        return status;
    if (exact)
        gram->exact = fit->gram;
    else
        gram->single = fit->gram;
    return exact ? make_exact(p->points, run, fit->gram, err) : dni_points_gram(p->points, run, fit->gram, err);
}

dn_status dni_kernel_fit_prepare(const dn_fit_input *input, double cache_bytes, const dn_run *run, dni_kernel_fit *out, dn_kernel *kernel,
                                 dni_svm_points *points, dni_gram *gram, dn_error *err) {
    dni_kernel_fit fit = {.run = run};
    dni_svm_points p = {.run = run};
    *kernel = dni_kernel_of(input->params, input->rows->n_cols);
    const bool given = kernel->type == DN_KERNEL_PRECOMPUTED;
    dn_status status = complete(input, run, &fit, kernel, err);
    if (status == DN_OK)
        status = dni_svm_points_gather(input, !given, run, &p, err);
    if (status == DN_OK)
        status = given ? dni_svm_points_given(&p, input, err) : dni_svm_points_prepare(&p, kernel, input, err);
    if (status == DN_OK)
        status = make_gram(&p, cache_bytes, run, &fit, gram, err);
    if (status != DN_OK) {
        dni_kernel_fit_done(&fit);
        dni_svm_points_done(&p);
        return status;
    }
    *out = fit;
    *points = p;
    return DN_OK;
}

void dni_kernel_fit_done(dni_kernel_fit *fit) {
    dn_run_free(fit->run, fit->factor);
    dn_run_free(fit->run, fit->gram);
    *fit = (dni_kernel_fit){0};
}

double dni_kernel_fit_memory(const dn_kernel *kernel, size_t n_rows, double cache_bytes, size_t n_slots) {
    const double n = (double)n_rows, d = (double)kernel->n_features, gram = gram_bytes(n_rows, cache_bytes);
    const double lists = n * (4 * sizeof(double) + 2 * sizeof(uint32_t)) + 4 * 2 * 2 * n;
    const bool wide = kernel->type == DN_KERNEL_RBF || kernel->type == DN_KERNEL_DISTANCE;
    if (kernel->type == DN_KERNEL_PRECOMPUTED)
        return lists + 8 * n * n;
    double before = wide && kernel->width == 0 ? dni_kernel_width_memory(kernel, n_rows, kernel->n_features, n * d) : 0;
    if (kernel->type == DN_KERNEL_MAHALANOBIS)
        before += 8 * d * d + dni_kernel_factor_memory(n_rows, kernel->n_features, n_slots);
    /* rows of the kernel are kept, with copies of the points that are active in each thread, where there is no Gram matrix */
    const double points = dni_points_memory(kernel, n_rows, kernel->n_features, n * d);
    return lists + before + points + (gram > 0 ? gram : (double)n_slots * points + cache_bytes);
}

dn_status dni_kernel_fit_definite(const dni_svm_points *points, const dn_kernel *kernel, const dn_run *run, bool *out, double *least,
                                  dn_error *err) {
    double greatest = 0;
    size_t rows = 0;
    *out = true;
    *least = (double)NAN;
    if (dni_kernel_is_definite(kernel, kernel->n_features))
        return DN_OK;
    dn_status status = points->given != NULL ? dni_matrix_least_eigenvalue(points->given, points->n, run, least, &greatest, err)
                                             : dni_kernel_least_eigenvalue(points->points, run, least, &greatest, &rows, err);
    if (status == DN_OK)
        *out = *least >= -1e-8 * greatest;
    return status;
}

/* ---- support vectors ---------------------------------------------------------------------------------------------------------------------- */
/* Of a given kernel: the entry 1 at the point's column. */
static void add_places(const dni_svm_points *points, const uint32_t *number, dn_support *support) {
    static const double one = 1;
    for (size_t i = 0; i < points->n; i++) {
        const size_t row_start[2] = {0, 1};
        if (number[i] < UINT32_MAX)
            dni_support_add(support, dn_matrix_csr(row_start, &points->place[i], &one, 1, support->kernel.n_features));
    }
}

dn_status dni_kernel_fit_support(const dn_kernel *kernel, const dni_svm_points *points, const uint32_t *number, size_t n, dn_support **out,
                                 dn_error *err) {
    dn_support *support;
    size_t n_entries = 0;
    for (size_t i = 0; points->sparse && i < points->n; i++) {
        const dn_matrix row = dni_svm_point(points, i);
        n_entries += number[i] < UINT32_MAX ? row.row_start[1] - row.row_start[0] : 0;
    }
    const bool given = points->given != NULL;
    dn_status status = dni_support_new(kernel, n, given ? n : points->sparse ? n_entries : SIZE_MAX, &support, err);
    if (status != DN_OK)
        return status;
    for (size_t i = 0; !given && i < points->n; i++)
        if (number[i] < UINT32_MAX)
            dni_support_add(support, dni_svm_point(points, i));
    if (given)
        add_places(points, number, support);
    status = dni_support_end(support, err);
    if (status == DN_OK)
        *out = support;
    else
        dni_support_unref(support);
    return status;
}

void dni_kernel_fit_report(const dn_kernel *kernel, dn_report *report) {
    if (kernel->type == DN_KERNEL_RBF || kernel->type == DN_KERNEL_DISTANCE)
        dn_report_number(report, "kernel_width", kernel->width);
}
