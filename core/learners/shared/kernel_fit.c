/* Kernels on training rows: completing them, their values, their support vectors. */
#include "learners/shared/kernel_fit.h"
#include "base/tasks.h"
#include "kernels/kernel_definite.h"
#include "kernels/width.h"
#include "learners/shared/kernel_factor.h"
#include "learners/shared/kernel_params.h"
#include "learners/shared/smo/smo.h"
#include "machine/support.h"

#include <math.h>
#include <string.h>

enum {
    EXACT_POINTS = 2000, /* so many or fewer have their Gram matrix in double */
    DUAL_BYTES = 512     /* of a machine while it is trained, its rows apart */
};

/* ---- the kernel ---- */
static dn_status complete(const dn_fit_input *input, const dn_run *run, dni_kernel_fit *fit,
                          dn_kernel *kernel, dn_error *err) {
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
        status = dn_run_alloc(run, d * d + 1, sizeof(double), "the factor of the covariance",
                              &memory, err);
        if (status != DN_OK) {
            return status;
        }
        fit->factor = kernel->factor = memory;
        status = dni_kernel_factor(input, given, run, fit->factor, err);
    }
    return status;
}

/* ---- its values ---- */
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
        dni_points_row_exact(e->points, i, first, n - first < step ? n - first : step,
                             e->gram + i * n + first, e->work + slot * e->room);
        status = dn_run_stop(e->run, err);
    }
    return status;
}

static dn_status make_exact(const dni_points *points, const dn_run *run, double *gram,
                            dn_error *err) {
    struct exact_rows e = {.run = run,
                           .points = points,
                           .gram = gram,
                           .room = dni_points_work(points)};
    void *work;
    dn_status status = dn_run_alloc(run, run->n_slots * e.room + 1, sizeof(double),
                                    "the work of kernel rows", &work, err);
    if (status != DN_OK) {
        return status;
    }
    e.work = work;
    status = dni_tasks_run(run, dni_points_n(points), exact_row, &e, err);
    dn_run_free(run, work);
    return status;
}

/* Bytes of a Gram matrix of n points; 0: there is none. */
static double gram_bytes(size_t n, double cache_bytes) {
    const double square = (double)n * (double)n,
                 bytes = square * (n <= EXACT_POINTS ? sizeof(double) : sizeof(float));
    return bytes <= cache_bytes ? bytes : 0;
}

static dn_status make_gram(const dni_svm_points *p, double cache_bytes, const dn_run *run,
                           dni_kernel_fit *fit, dni_gram *gram, dn_error *err) {
    *gram = (dni_gram){.n = p->n, .exact = p->given, .exact_rows = p->n <= EXACT_POINTS};
    if (p->given != NULL || gram_bytes(p->n, cache_bytes) == 0) {
        return DN_OK;
    }
    const bool exact = p->n <= EXACT_POINTS;
    dn_status status = dn_run_alloc(run, p->n * p->n + 1, exact ? sizeof(double) : sizeof(float),
                                    "the kernel's values (cache_mib)", &fit->gram, err);
    if (status != DN_OK) {
        return status;
    }
    if (exact) {
        gram->exact = fit->gram;
    } else {
        gram->single = fit->gram;
    }
    return exact ? make_exact(p->points, run, fit->gram, err)
                 : dni_points_gram(p->points, run, fit->gram, err);
}

/* Rows that have no length to be divided by. */
static void count_zero(const dni_svm_points *p, const dn_kernel *kernel, dni_kernel_fit *fit) {
    for (size_t i = 0; kernel->normalize && i < p->n; i++) {
        fit->n_rows += p->count[i];
        fit->n_zero += dni_points_self(p->points, i) > 0 ? 0 : p->count[i];
    }
}

dn_status dni_kernel_fit_prepare(const dn_fit_input *input, double cache_bytes, const dn_run *run,
                                 dni_kernel_fit *out, dn_kernel *kernel, dni_svm_points *points,
                                 dni_gram *gram, dn_error *err) {
    dni_kernel_fit fit = {.run = run};
    dni_svm_points p = {.run = run};
    *kernel = dni_kernel_of(input->params, input->rows->n_cols);
    const bool given = kernel->type == DN_KERNEL_PRECOMPUTED;
    dn_status status = complete(input, run, &fit, kernel, err);
    if (status == DN_OK) {
        status = dni_svm_points_gather(input, !given, run, &p, err);
    }
    if (status == DN_OK) {
        status = given ? dni_svm_points_given(&p, input, err)
                       : dni_svm_points_prepare(&p, kernel, input, err);
    }
    if (status == DN_OK) {
        status = make_gram(&p, cache_bytes, run, &fit, gram, err);
    }
    if (status != DN_OK) {
        dni_kernel_fit_done(&fit);
        dni_svm_points_done(&p);
        return status;
    }
    count_zero(&p, kernel, &fit);
    *out = fit;
    *points = p;
    return DN_OK;
}

void dni_kernel_fit_done(dni_kernel_fit *fit) {
    dn_run_free(fit->run, fit->factor);
    dn_run_free(fit->run, fit->gram);
    *fit = (dni_kernel_fit){0};
}

void dni_kernel_fit_forget(dni_kernel_fit *fit, dni_svm_points *points, dni_gram *gram) {
    dni_points_free(points->points);
    dn_run_free(points->run, points->given);
    dn_run_free(fit->run, fit->gram);
    points->points = NULL;
    points->given = NULL;
    fit->gram = NULL;
    *gram = (dni_gram){0};
}

/* ---- its memory ---- */
/* Until there are points. */
static double early_memory(const dn_kernel *kernel, const dn_fit_shape *shape) {
    const bool wide = kernel->type == DN_KERNEL_RBF || kernel->type == DN_KERNEL_DISTANCE;
    const double gathering =
        (double)shape->n_rows *
        (2 * sizeof(double) + 5 * sizeof(uint32_t)); /* numbers, rows, their table */
    if (wide && kernel->width == 0) {
        return fmax(gathering, dni_kernel_width_memory(kernel, shape->n_rows, shape->n_features,
                                                       shape->n_entries));
    }
    if (kernel->type == DN_KERNEL_MAHALANOBIS) {
        return fmax(gathering,
                    dni_kernel_factor_memory(shape->n_rows, shape->n_features, shape->n_slots));
    }
    return gathering;
}

/* Duals with their rows of the kernel while they are solved, and selections of the points: of active ones, and where a machine is not of all points, of its own. */
static double solving_memory(const dn_fit_shape *shape, const dni_kernel_machines *m,
                             double selection) {
    const size_t n = shape->n_rows;
    const double own =
        dni_smo_memory(n) + dni_smo_rows_memory(n, 0) + (double)n * (2 * sizeof(double) + 1);
    return (double)(m->at_once < m->per_row ? m->at_once : m->per_row) *
           (own + (m->n > 1 ? 2 : 1) * selection);
}

/* Values of the kernel, and who is at work on them: with all of them in double nothing else is needed. */
static double values_memory(const dn_kernel *kernel, const dn_fit_shape *shape, double cache_bytes,
                            const dni_kernel_machines *m) {
    const double n = (double)shape->n_rows, gram = gram_bytes(shape->n_rows, cache_bytes),
                 few = EXACT_POINTS;
    const double points =
        dni_points_memory(kernel, shape->n_rows, shape->n_features, shape->n_entries);
    const double work =
        (double)shape->n_slots *
        dni_points_work_memory(kernel, shape->n_rows, shape->n_features, shape->n_entries);
    const double sums = (double)shape->n_slots * DNI_POINTS_SUMS * sizeof(double);
    if (gram > 0 && shape->n_rows <= EXACT_POINTS) {
        return points + gram + work + solving_memory(shape, m, 0);
    }
    const double alike =
        fmin(cache_bytes,
             sizeof(double) * few * few); /* rows that are alike may leave few different ones */
    const double kept = gram > 0 ? fmax(gram, alike)
                                 : fmin(cache_bytes, (double)m->at_once * sizeof(float) * n * n);
    return points + kept + work + sums + solving_memory(shape, m, points);
}

/* What is left: support vectors, and each machine's own coefficients; of a linear kernel weights, those of the raw columns too. */
static double machines_memory(const dn_kernel *kernel, const dn_fit_shape *shape,
                              const dni_kernel_machines *m) {
    const double n = (double)shape->n_rows;
    if (kernel->type == DN_KERNEL_LINEAR && !kernel->normalize) {
        return 2 * sizeof(double) * (double)m->n * ((double)shape->n_features + 64);
    }
    const double support =
        dni_support_foretold(kernel, shape->n_rows,
                             kernel->type == DN_KERNEL_PRECOMPUTED ? n : shape->n_entries);
    return support + n * (sizeof(double) + sizeof(uint32_t)) +
           dni_kernel_machines_foretold(m->n, (double)m->per_row * n);
}

double dni_kernel_fit_memory(const dn_kernel *kernel, const dn_fit_shape *shape, double cache_bytes,
                             const dni_kernel_machines *m) {
    const double n = (double)shape->n_rows, d = (double)shape->n_features,
                 sample = fmin(n, DNI_DEFINITE_ROWS);
    const double lists = n * (2 * sizeof(double) + 2 * sizeof(uint32_t)) +
                         (n / DN_BLOCK_ROWS + 1) * sizeof(dn_block);
    const double factor = kernel->type == DN_KERNEL_MAHALANOBIS ? d * d * sizeof(double) : 0;
    const double duals = (double)m->per_row * n * (2 * sizeof(double) + sizeof(uint32_t)) +
                         (double)m->n * DUAL_BYTES;
    const double given = sizeof(double) * n * n + n * sizeof(uint32_t);
    double values = kernel->type == DN_KERNEL_PRECOMPUTED
                        ? given + solving_memory(shape, m, 0)
                        : values_memory(kernel, shape, cache_bytes, m);
    if (!dni_kernel_is_definite(kernel, shape->n_features)) { /* a sample's matrix */
        values += sizeof(double) * sample * sample;
    }
    return lists + factor +
           fmax(early_memory(kernel, shape),
                duals + fmax(values, machines_memory(kernel, shape, m)));
}

/* ---- whether it is one ---- */
dn_status dni_kernel_fit_definite(const dni_svm_points *points, const dn_kernel *kernel,
                                  const dn_run *run, bool *out, double *least, dn_error *err) {
    double greatest = 0;
    size_t rows = 0;
    *out = true;
    *least = (double)NAN;
    if (dni_kernel_is_definite(kernel, kernel->n_features)) {
        return DN_OK;
    }
    dn_status status =
        points->given != NULL
            ? dni_matrix_least_eigenvalue(points->given, points->n, run, least, &greatest, err)
            : dni_kernel_least_eigenvalue(points->points, run, least, &greatest, &rows, err);
    if (status == DN_OK) {
        *out = *least >= -1e-8 * greatest;
    }
    return status;
}

/* ---- support vectors ---- */
/* Of a given kernel: the entry 1 at the point's column. */
static void add_places(const dni_svm_points *points, const uint32_t *number, dn_support *support) {
    static const double one = 1;
    for (size_t i = 0; i < points->n; i++) {
        const size_t row_start[2] = {0, 1};
        if (number[i] < UINT32_MAX) {
            dni_support_add(support, dn_matrix_csr(row_start, &points->place[i], &one, 1,
                                                   support->kernel.n_features));
        }
    }
}

dn_status dni_kernel_fit_support(const dn_kernel *kernel, const dni_svm_points *points,
                                 const uint32_t *number, size_t n, dn_support **out,
                                 dn_error *err) {
    dn_support *support;
    size_t n_entries = 0;
    for (size_t i = 0; points->sparse && i < points->n; i++) {
        const dn_matrix row = dni_svm_point(points, i);
        n_entries += number[i] < UINT32_MAX ? row.row_start[1] - row.row_start[0] : 0;
    }
    const bool given = points->place != NULL;
    dn_status status = dni_support_new(kernel, n,
                                       given            ? n
                                       : points->sparse ? n_entries
                                                        : SIZE_MAX,
                                       points->run, &support, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; !given && i < points->n; i++) {
        if (number[i] < UINT32_MAX) {
            dni_support_add(support, dni_svm_point(points, i));
        }
    }
    if (given) {
        add_places(points, number, support);
    }
    status = dni_support_end(support, err);
    if (status == DN_OK) {
        *out = support;
    } else {
        dni_support_unref(support);
    }
    return status;
}

void dni_kernel_fit_report(const dni_kernel_fit *fit, const dn_kernel *kernel, dn_report *report) {
    if (kernel->type == DN_KERNEL_RBF || kernel->type == DN_KERNEL_DISTANCE) {
        dn_report_number(report, "kernel_width", kernel->width);
    }
    if (fit->n_zero > 0) {
        dn_report_warn(
            report, "K(x, x) is not positive for %.0f of %.0f rows: normalized, their values are 0",
            fit->n_zero, fit->n_rows);
    }
}

const char *dni_kernel_fit_remedy(dn_stop_reason stop_reason) {
    return stop_reason == DN_STOP_MAX_ITERATIONS
               ? ": try more max_iterations"
               : ", and further steps do not make it less: try a larger tolerance";
}
