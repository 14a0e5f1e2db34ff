/* Column means and deviations in two passes: the second on centred columns, so that a time stamp keeps its variance. */
#include "learners/shared/moments.h"
#include "catalogue/report.h"

#include <math.h>
#include <string.h>

struct pass {
    size_t n_classes, n_cols;
    const double *mean; /* [n_cols] */
};

/* out: Σv, number of sparse blocks, Σv by class, Σvx by column */
static dn_status first_block(void *arg, const dn_block *block, size_t slot, double *out,
                             dn_error *err) {
    (void)slot;
    (void)err;
    const struct pass *pass = arg;
    dn_matrix x = block->x;
    double *classes = out + 2, *columns = classes + pass->n_classes;
    out[1] += x.kind == DN_CSR;
    for (size_t t = 0; t < x.n_rows; t++) {
        double v = block->weight == NULL ? 1 : block->weight[t];
        out[0] += v;
        classes[(size_t)block->target[t]] += v;
        if (x.kind == DN_DENSE) {
            const double *row = x.values + t * x.stride;
            for (size_t j = 0; j < x.n_cols; j++) {
                columns[j] += v * row[j];
            }
        } else {
            for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
                columns[x.cols[e]] += v * x.values[e];
            }
        }
    }
    return DN_OK;
}

/* out: Σv(x − m)² by column; of sparse rows over their entries only, and Σv over the entries behind: the others add m² each. */
static dn_status second_block(void *arg, const dn_block *block, size_t slot, double *out,
                              dn_error *err) {
    (void)slot;
    (void)err;
    const struct pass *pass = arg;
    dn_matrix x = block->x;
    for (size_t t = 0; t < x.n_rows; t++) {
        double v = block->weight == NULL ? 1 : block->weight[t];
        if (x.kind == DN_DENSE) {
            const double *row = x.values + t * x.stride;
            for (size_t j = 0; j < x.n_cols; j++) {
                double c = row[j] - pass->mean[j];
                out[j] += v * c * c;
            }
        } else {
            for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
                double c = x.values[e] - pass->mean[x.cols[e]];
                out[x.cols[e]] += v * c * c;
                out[pass->n_cols + x.cols[e]] += v;
            }
        }
    }
    return DN_OK;
}

static dn_status compute(const dn_fit_input *input, const dn_run *run, double *sums, dni_moments *m,
                         dn_error *err) {
    const dn_rows *rows = input->rows;
    size_t d = rows->n_cols, n_classes = input->n_classes;
    struct pass pass = {n_classes, d, m->mean};
    dn_status status = dn_run_sum(run, rows, first_block, &pass, 2 + n_classes + d, sums, err);
    if (status != DN_OK) {
        return status;
    }
    m->weight = sums[0];
    if (!(m->weight > 0) || !isfinite(m->weight)) {
        return dn_error_set(err, DN_ERR_DATA,
                            "the weights of the rows must have a positive, finite sum (got %g)",
                            m->weight);
    }
    m->sparse = sums[1] > 0;
    if (m->sparse && sums[1] < (double)rows->n_blocks) {
        return dn_error_set(err, DN_ERR_SOURCE, "the rows mix dense and sparse blocks");
    }
    memcpy(m->class_weight, sums + 2, n_classes * sizeof(double));
    for (size_t j = 0; j < d; j++) {
        m->mean[j] = sums[2 + n_classes + j] / m->weight;
    }
    status = dn_run_sum(run, rows, second_block, &pass, m->sparse ? 2 * d : d, sums, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t j = 0; j < d; j++) {
        double sum = sums[j];
        if (m->sparse) {
            double absent = m->weight - sums[d + j];
            if (absent >
                1e-12 * m->weight) { /* not a rounding remainder of a column that is everywhere */
                sum += absent * m->mean[j] * m->mean[j];
            }
        }
        m->deviation[j] = sqrt(sum / m->weight);
        if (!isfinite(m->mean[j]) || !isfinite(m->deviation[j])) {
            char name[DN_FIELD_SIZE];
            dni_feature_name(input, j, name);
            return dn_error_set(err, DN_ERR_NUMERIC,
                                "feature \"%s\" has values so large that their squares leave the "
                                "finite numbers: standardise the columns, "
                                "or divide it by a power of ten",
                                name);
        }
        if (m->deviation[j] <=
            1e-13 * fabs(m->mean[j])) { /* constant but for the rounding of its mean */
            m->deviation[j] = 0;
        }
    }
    return DN_OK;
}

dn_status dni_moments_compute(const dn_fit_input *input, const dn_run *run, dni_moments *out,
                              dn_error *err) {
    size_t d = input->rows->n_cols, n_classes = input->n_classes;
    dni_moments m = {0};
    void *memory = NULL, *sums = NULL;
    dn_status status = dn_run_alloc(run, 2 * d + n_classes, sizeof(double),
                                    "the moments of the columns", &memory, err);
    if (status == DN_OK) {
        status = dn_run_alloc(run, 2 + n_classes + 2 * d, sizeof(double), "the sums of the columns",
                              &sums, err);
    }
    if (status == DN_OK) {
        m.mean = memory;
        m.deviation = m.mean + d;
        m.class_weight = m.mean + 2 * d;
        status = compute(input, run, sums, &m, err);
    }
    dn_run_free(run, sums);
    if (status == DN_OK) {
        *out = m;
    } else {
        dn_run_free(run, memory);
    }
    return status;
}

double dni_moments_memory(size_t n_rows, size_t n_cols, size_t n_classes, size_t n_slots) {
    double d = (double)n_cols, K = (double)n_classes,
           sums = 2 + K + 2 * d; /* sparse rows have two a column */
    return 8 * (2 * d + K + sums) + dn_run_sum_memory(n_rows, n_slots, sums);
}

void dni_moments_done(dni_moments *moments, const dn_run *run) {
    dn_run_free(run, moments->mean);
    *moments = (dni_moments){0};
}
