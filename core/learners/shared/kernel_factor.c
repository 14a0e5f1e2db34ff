/* Computes the factor A of the inverse of a covariance matrix. The matrix is given, or estimated as
 * for Gaussian densities. */
#include "learners/shared/kernel_factor.h"
#include "learners/shared/covariance.h"

/* ---- a view of the rows as one class: all targets are 0 ---- */
static const double no_target[DN_BLOCK_ROWS];

struct one_class {
    dn_rows rows; /* first member: a pointer to it is cast to struct one_class * */
    const dn_rows *inner;
};

static dn_status one_class_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out,
                                 dn_error *err) {
    dn_status status = dn_rows_block(((const struct one_class *)rows)->inner, i, slot, out, err);
    out->target = no_target;
    return status;
}

static dn_status one_class_piece(const dn_rows *rows, size_t i, size_t first, size_t n, size_t slot,
                                 dn_block *out, dn_error *err) {
    const dn_rows *inner = ((const struct one_class *)rows)->inner;
    dn_status status = inner->piece(inner, i, first, n, slot, out, err);
    out->target = no_target;
    return status;
}

static struct one_class as_one_class(const dn_rows *rows) {
    struct one_class one = {.rows = *rows, .inner = rows};
    one.rows.block = one_class_block;
    one.rows.piece = rows->piece == NULL ? NULL : one_class_piece;
    one.rows.free = NULL;
    return one;
}

/* ---- factors ---- */
/* factor ← the factor of the task's covariance. leave_out: constant columns are left out. */
static dn_status whiten(dni_covariance_task *task, bool leave_out, double *factor, dn_error *err) {
    void *marks = NULL;
    size_t d = task->scatter->n_cols;
    double log_det;
    dn_status status =
        dn_run_alloc(task->run, d, sizeof(bool), "the list of constant columns", &marks, err);
    task->constant = marks;
    if (status == DN_OK && leave_out && dni_scatter_constants(task->scatter, marks) == d) {
        status =
            dn_error_set(err, DN_ERR_DATA,
                         "every column is constant: there is no covariance for kernel mahalanobis");
    }
    if (status == DN_OK) {
        status = dni_covariance_whiten(task, factor, &log_det, err);
    }
    dn_run_free(task->run, marks);
    return status;
}

static dn_status estimated(const dn_fit_input *input, const dn_run *run, double *factor,
                           dn_error *err) {
    const struct one_class one = as_one_class(input->rows);
    dn_fit_input all = *input;
    dni_scatter scatter = {0};
    all.rows = &one.rows;
    all.n_classes = 1;
    dn_status status = dni_scatter_compute(&all, DNI_SCATTER_POOLED, run, &scatter, err);
    dni_covariance_task task = {.input = input,
                                .run = run,
                                .scatter = &scatter,
                                .k = SIZE_MAX,
                                .divisor = scatter.weight,
                                .whose = "of the training rows",
                                .remedy = "give a covariance"};
    if (status == DN_OK) {
        status = whiten(&task, true, factor, err);
    }
    dni_scatter_done(&scatter, run);
    return status;
}

static dn_status given(const dn_fit_input *input, const double *covariance, const dn_run *run,
                       double *factor, dn_error *err) {
    size_t d = input->rows->n_cols;
    void *memory = NULL;
    dn_status status = dn_run_alloc(run, d * d, sizeof(double), "the covariance", &memory, err);
    double *s = memory;
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j <= i; j++) {
            s[i * d + j] = covariance[i * d + j] /
                           (input->scale == NULL ? 1 : input->scale[i] * input->scale[j]);
        }
    }
    const dni_scatter scatter = {
        .kind = DNI_SCATTER_POOLED, .n_classes = 1, .n_cols = d, .weight = 1, .scatter = s};
    dni_covariance_task task = {.input = input,
                                .run = run,
                                .scatter = &scatter,
                                .k = SIZE_MAX,
                                .divisor = 1,
                                .whose = "that was given",
                                .remedy = "give one that is positive definite"};
    status = whiten(&task, false, factor, err);
    dn_run_free(run, memory);
    return status;
}

dn_status dni_kernel_factor(const dn_fit_input *input, const double *covariance, const dn_run *run,
                            double *factor, dn_error *err) {
    return covariance == NULL ? estimated(input, run, factor, err)
                              : given(input, covariance, run, factor, err);
}

double dni_kernel_factor_memory(size_t n_rows, size_t n_features, size_t n_slots) {
    double d = (double)n_features;
    return dni_scatter_memory(DNI_SCATTER_POOLED, n_rows, n_features, 1, n_slots) +
           dni_covariance_memory(DNI_SCATTER_POOLED, n_features) + d;
}
