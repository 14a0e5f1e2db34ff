/* The rows of each point, and support vectors by row. */
#include "learners/shared/smo/point_rows.h"

#include <stdlib.h>
#include <string.h>

void dni_point_rows_layout(dni_layout *layout, const void *shape, void *point_rows) {
    const size_t n_rows = *(const size_t *)shape;
    dni_point_rows *rows = point_rows;
    rows->row = dni_layout_array(layout, n_rows, sizeof *rows->row);
    rows->start = dni_layout_array(layout, n_rows + 1, sizeof *rows->start);
}

void dni_point_rows_list(const dni_svm_points *points, size_t n_rows, dni_point_rows *out) {
    memset(out->start, 0, (n_rows + 1) * sizeof *out->start);
    for (size_t r = 0; r < n_rows; r++) {
        if (points->point[r] != UINT32_MAX) {
            out->start[points->point[r] + 1]++;
        }
    }
    for (size_t i = 0; i < points->n; i++) {
        out->start[i + 1] += out->start[i];
    }
    for (size_t r = 0; r < n_rows; r++) {
        if (points->point[r] != UINT32_MAX) {
            out->row[out->start[points->point[r]]++] = (uint32_t)r;
        }
    }
    memmove(out->start + 1, out->start, points->n * sizeof *out->start);
    out->start[0] = 0;
}

size_t dni_point_rows_spread(const dni_point_rows *rows, const dni_svm_points *points, size_t i,
                             dn_dual dual, dn_dual *items) {
    const double each = dual.coef / points->weight[i];
    const size_t n = rows->start[i + 1] - rows->start[i];
    for (size_t k = 0; k < n; k++) {
        const uint32_t row = rows->row[rows->start[i] + k];
        const double *weight = points->blocks[row / DN_BLOCK_ROWS].weight;
        items[k] = dual;
        items[k].row = row;
        items[k].coef = each * (weight == NULL ? 1 : weight[row % DN_BLOCK_ROWS]);
    }
    return n;
}

/* Comparison for qsort: ascending rows. */
static int by_row(const void *a, const void *b) {
    const size_t x = ((const dn_dual *)a)->row, y = ((const dn_dual *)b)->row;
    return (x > y) - (x < y);
}

void dni_point_rows_sort(dn_dual *items, size_t n) {
    qsort(items, n, sizeof *items, by_row);
}
