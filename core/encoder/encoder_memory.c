/* Memory estimates of the fit of an encoder: the measured layouts of its parts, and what grows with
 * the data. */
#include "encoder/encoder_memory.h"

#include "encoder/basis/basis_fit.h"
#include "encoder/encoder_scan.h"
#include "encoder/encoder_sparse.h"
#include <math.h>

/* A level and its text in the set of one slot. The data decides; this is a typical size. */
#define LEVEL_BYTES 64

double dn_encoder_bases_memory(const dn_encoder_spec *spec, size_t n_rows, size_t n_classes,
                               size_t n_slots) {
    const size_t slots = n_slots == 0 ? 1 : n_slots;
    const double block = fmin((double)n_rows, DN_BLOCK_ROWS);
    double largest = 0, kept = 0;
    for (size_t b = 0; b < spec->n_bases; b++) {
        const dn_basis_spec *basis = &spec->bases[b];
        const size_t p = basis->columns == NULL ? spec->n_columns : basis->n_columns,
                     n = dn_basis_n_features(basis, p, n_classes);
        const double columns = (double)p, features = (double)n;
        /* a block of its columns in each slot, if all rows do not fit */
        const double rows = (double)slots * block * (columns + 2) * 8 + 3 * columns * 8;
        double work = spec->standardize ? dni_basis_moments_memory(n_rows, n, slots) : 0;
        if (basis->kind == DN_BASIS_GAUSSIAN && basis->points == NULL) {
            work = fmax(work, dni_basis_centres_memory(n_rows, p, n) +
                                  dn_run_sum_memory(n_rows, slots, features * (columns + 1) + 1));
        }
        if ((basis->kind == DN_BASIS_GAUSSIAN || basis->kind == DN_BASIS_RANDOM_FOURIER) &&
            basis->width == 0) {
            work = fmax(work, dni_basis_width_memory(n_rows, p));
        }
        if (basis->kind == DN_BASIS_FISHER) {
            const double sums = fmax(columns * columns, (double)n_classes * (columns + 1));
            /* the decomposition of S_W, while its null space is searched for */
            const double null_space = 3 * columns * columns * 8;
            work = fmax(work, dni_basis_fisher_memory(p, n_classes, slots) +
                                  fmax(null_space, dn_run_sum_memory(n_rows, slots, sums)));
        }
        largest = fmax(largest, rows + work);
        kept += 8 * features * (basis->kind == DN_BASIS_POLYNOMIAL ? 3 : columns + 3);
    }
    return largest + kept;
}

double dni_encoder_fit_memory(const dn_encoder_spec *spec, const dn_table_column *columns,
                              size_t n_rows, size_t n_levels, size_t n_slots) {
    const size_t n = spec->n_columns, slots = n_slots == 0 ? 1 : n_slots;
    double largest = dn_run_sum_memory(n_rows, slots, 2 * (double)n + 1);
    for (size_t i = 0; i < n; i++) {
        const dn_table_column *column = &columns[spec->columns[i]];
        if (column->type != DN_SPARSE) {
            continue;
        }
        dni_sparse_shape shape = {.n_features = column->width,
                                  .n_slots = slots,
                                  .moments = spec->standardize && spec->standardize_sparse};
        if (spec->index_filters != NULL) {
            shape.n_features = dn_index_filter_count(&spec->index_filters[i], column->width);
        }
        const double n_sums = shape.moments ? 1 + 2 * (double)shape.n_features : 1;
        largest =
            fmax(largest, dni_sparse_fit_memory(&shape) + dn_run_sum_memory(n_rows, slots, n_sums));
    }
    return dni_scan_memory(n, slots) + (double)slots * LEVEL_BYTES * (double)n_levels +
           (double)n * (2 * sizeof(double) + sizeof(bool)) + largest;
}
