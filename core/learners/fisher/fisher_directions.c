/* The generalised eigenproblem of Fisher's criterion.
 *
 *   J(w) = wᵀS_B w / wᵀS_W w,   S_B = MᵀM with the rows √n_k (m_k − m),   S_B w = ρ S_W w
 *
 * in columns divided by √(S_W)_jj, where S_W is the matrix R of correlations within the classes: whatever their units, and shrinkage is (1 − s)R + sI.
 * A column that is constant in all rows is left out. R counts as singular when an eigenvalue is at most 1e-10 of the greatest, as for Gaussian densities; the eigenvectors
 * are asked for only when a pivot of Cholesky's is small. Bishop, PRML, section 4.1.6; Duda, Hart and Stork, section 3.8.3. */
#include "catalogue/report.h"
#include "learners/fisher/fisher_fit.h"
#include "learners/shared/shrinkage.h"
#include "linalg/cholesky.h"
#include "linalg/eigen.h"
#include "linalg/generalised.h"

#include <math.h>
#include <string.h>

#define SINGULAR 1e-10
#define SMALL_PIVOT 1e-5
#define SAME_MEANS 1e-24 /* of ρ: means that differ by 1e-12 deviations */
#define RANK 1e-20       /* of ρ_k/ρ_1: the means of the classes have no extent there */

struct problem {
    dni_fisher *fisher;
    double *r;      /* [d × d] shrunk correlations, then their Cholesky factor */
    double *scale;  /* [d] √(S_W)_jj; 1 for constant columns */
    bool *constant; /* [d] */
    bool *marked;   /* [d] columns to name */
    double shrinkage;
};

/* Finds the columns that are constant, and refuses those that are constant within every class only. */
static dn_status find_constants(struct problem *p, dn_error *err) {
    const dni_scatter *s = &p->fisher->scatter;
    size_t d = s->n_cols, constant = dni_scatter_constants(s, p->constant), perfect = 0;
    char names[DNI_NAMES_SIZE];
    for (size_t j = 0; j < d; j++) {
        double within = s->scatter[j * d + j];
        p->marked[j] = !(within > 0) && !p->constant[j];
        p->scale[j] = within > 0 ? sqrt(within) : 1;
        perfect += p->marked[j];
    }
    if (perfect > 0 && perfect + constant == d) {
        return dn_error_set(err, DN_ERR_DATA,
                            "no column varies within the classes: each class has a single row, or "
                            "rows that are all the same; classes need "
                            "more rows, or the columns tell them apart without error");
    }
    if (perfect > 0) {
        dni_feature_list(p->fisher->input, p->marked, 4, names);
        return dn_error_set(err, DN_ERR_DATA,
                            "columns are constant within every class but differ between them (%s): "
                            "they tell the classes apart without "
                            "error, J has no bound; leave their columns out",
                            names);
    }
    if (constant == d) {
        return dn_error_set(
            err, DN_ERR_DATA,
            "every column is constant: there is nothing to tell the classes apart by");
    }
    return DN_OK;
}

static void correlate(struct problem *p) {
    const dni_scatter *s = &p->fisher->scatter;
    size_t d = s->n_cols;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < i; j++) {
            p->r[i * d + j] = s->scatter[i * d + j] / p->scale[i] / p->scale[j];
        }
        p->r[i * d + i] = 1;
    }
    dni_shrinkage_apply(p->r, d, p->shrinkage);
}

/* DN_ERR_DATA when R is singular. r is spoilt. */
static dn_status check_rank(struct problem *p, dn_error *err) {
    size_t d = p->fisher->scatter.n_cols, n_null = 0, dependent = 0;
    double *null = NULL;
    correlate(p);
    dn_status status = dni_symmetric_null(p->fisher->run, p->r, d, SINGULAR, &n_null, &null, err);
    if (status == DN_OK && n_null > 0) {
        char names[DNI_NAMES_SIZE];
        for (size_t j = 0; j < d; j++) {
            p->marked[j] = null == NULL && !p->constant[j]; /* nobody could say which */
            for (size_t i = 0; null != NULL && i < n_null; i++) {
                p->marked[j] = p->marked[j] || fabs(null[i * d + j]) > 1e-6;
            }
            dependent += p->marked[j];
        }
        dni_feature_list(p->fisher->input, p->marked, 4, names);
        status = dn_error_set(err, DN_ERR_DATA,
                              "the scatter within the classes is singular, of rank %zu instead of "
                              "%zu: %zu columns are linear combinations of "
                              "others (%s): exclude some (categorical: drop_first), or %s",
                              d - n_null, d, dependent, names,
                              p->shrinkage > 0 ? "raise shrinkage" : "set shrinkage above 0");
    }
    dn_run_free(p->fisher->run, null);
    return status;
}

/* r ← the factor of the shrunk correlations. */
static dn_status factor(struct problem *p, dn_error *err) {
    size_t d = p->fisher->scatter.n_cols;
    bool definite = false, small = false;
    correlate(p);
    dn_status status = dni_cholesky(p->fisher->run, p->r, d, &definite, err);
    for (size_t j = 0; definite && j < d; j++) {
        small = small || !(p->r[j * d + j] * p->r[j * d + j] > SMALL_PIVOT);
    }
    if (status != DN_OK || (definite && !small)) {
        return status;
    }
    status = check_rank(p, err);
    if (status != DN_OK) {
        return status;
    }
    correlate(p);
    status = dni_cholesky(p->fisher->run, p->r, d, &definite, err);
    if (status == DN_OK && !definite) {
        status = dn_error_set(err, DN_ERR_NUMERIC,
                              "the scatter within the classes is not positive definite to working "
                              "precision: set shrinkage above 0");
    }
    return status;
}

/* direction ← the rows √n_k (m_k − m), scaled. */
static void between(const struct problem *p) {
    const dni_scatter *s = &p->fisher->scatter;
    size_t d = s->n_cols;
    for (size_t k = 0; k < s->n_classes; k++) {
        double root = sqrt(s->class_weight[k]);
        for (size_t j = 0; j < d; j++) {
            p->fisher->direction[k * d + j] =
                p->constant[j] ? 0 : root * ((s->class_mean[k * d + j] - s->mean[j]) / p->scale[j]);
        }
    }
}

/* How many directions there are, of at most K − 1. */
static dn_status count_components(const struct problem *p, dn_error *err) {
    dni_fisher *f = p->fisher;
    const dn_params *params = f->input->params;
    size_t K = f->scatter.n_classes, d = f->scatter.n_cols, most = K - 1, asked;
    for (size_t j = 0; j < f->scatter.n_cols; j++) {
        d -= p->constant[j];
    }
    if (!(f->value[0] > SAME_MEANS)) {
        return dn_error_set(
            err, DN_ERR_DATA,
            "the classes have the same means: no direction tells them apart by Fisher's criterion");
    }
    most = d < most ? d : most;
    f->n_components = 1;
    while (f->n_components < most && f->value[f->n_components] > RANK * f->value[0]) {
        f->n_components++;
    }
    if (f->n_components < most) {
        dn_report_warn(f->report,
                       "the means of the %zu classes lie in a space of %zu dimensions: there are "
                       "only so many directions",
                       K, f->n_components);
    }
    if (dn_params_word(params, "components") != NULL) {
        return DN_OK;
    }
    asked = (size_t)dn_params_number(params, "components");
    if (asked > f->n_components) {
        dn_report_warn(f->report, "components is %zu, but there are only %zu directions", asked,
                       f->n_components);
    } else {
        f->n_components = asked;
    }
    return DN_OK;
}

static dn_status solve(struct problem *p, dn_error *err) {
    dni_fisher *f = p->fisher;
    size_t d = f->scatter.n_cols, K = f->scatter.n_classes;
    dn_status status = find_constants(p, err);
    if (status == DN_OK) {
        status = dni_shrinkage_choose(f->input, f->run, f->scatter.class_mean, SIZE_MAX,
                                      f->scatter.scatter, f->scatter.weight, &p->shrinkage, err);
    }
    if (status == DN_OK) {
        status = factor(p, err);
    }
    if (status != DN_OK) {
        return status;
    }
    between(p);
    status = dni_generalised_eigen(f->run, p->r, d, f->direction, K, f->value, err);
    if (status == DN_OK) {
        status = count_components(p, err);
    }
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < f->n_components; i++) {
        for (size_t j = 0; j < d; j++) {
            f->direction[i * d + j] /= p->scale[j];
        }
    }
    dn_report_number(f->report, "shrinkage", p->shrinkage);
    return DN_OK;
}

dn_status dni_fisher_directions(dni_fisher *fisher, dn_error *err) {
    const dn_run *run = fisher->run;
    size_t d = fisher->input->rows->n_cols, K = fisher->input->n_classes;
    struct problem p = {.fisher = fisher};
    void *matrix = NULL, *marks = NULL, *directions = NULL;
    dn_status status =
        dni_scatter_compute(fisher->input, DNI_SCATTER_POOLED, run, &fisher->scatter, err);
    if (status == DN_OK) {
        status = dn_run_alloc(run, K * (d + 1), sizeof(double), "the directions", &directions, err);
    }
    if (status == DN_OK) {
        fisher->direction = directions;
        fisher->value = fisher->direction + K * d;
        status = dn_run_alloc(run, d * (d + 1), sizeof(double),
                              "the correlations within the classes", &matrix, err);
    }
    if (status == DN_OK) {
        status = dn_run_alloc(run, 2 * d, sizeof(bool), "the marks of the columns", &marks, err);
    }
    if (status == DN_OK) {
        p.r = matrix;
        p.scale = p.r + d * d;
        p.constant = marks;
        p.marked = p.constant + d;
        status = solve(&p, err);
    }
    dn_run_free(run, marks);
    dn_run_free(run, matrix);
    return status;
}

void dni_fisher_done(dni_fisher *fisher) {
    dn_run_free(fisher->run, fisher->direction);
    fisher->direction = fisher->value = NULL;
    dni_scatter_done(&fisher->scatter, fisher->run);
}

double dni_fisher_directions_memory(size_t n_rows, size_t n_cols, size_t n_classes,
                                    size_t n_slots) {
    double d = (double)n_cols, K = (double)n_classes;
    return dni_scatter_memory(DNI_SCATTER_POOLED, n_rows, n_cols, n_classes, n_slots) +
           8 * (d * (d + 1) + (d + 80) * d + d +
                K * (d + 1)); /* eigenvectors when singular, and their work */
}
