/* The rows of each point of a kernel method (svm_points.h). They are used to list the support
 * vectors of a machine by row. */
#ifndef DNI_POINT_ROWS_H
#define DNI_POINT_ROWS_H

#include "base/layout.h"
#include "learners/shared/smo/svm_points.h"
#include <discern/duals.h>

typedef struct dni_point_rows {
    uint32_t *row;   /* [n_rows] row indices, by point, ascending within a point */
    uint32_t *start; /* [n_rows + 1] position in `row` of the first row of each point */
} dni_point_rows;

/* Reserves the arrays. shape: a size_t *, the number of rows. */
void dni_point_rows_layout(dni_layout *layout, const void *shape, void *point_rows);
/* Fills the arrays of `out`, which dni_point_rows_layout has reserved for n_rows rows. */
void dni_point_rows_list(const dni_svm_points *points, size_t n_rows, dni_point_rows *out);
/* Stores a support vector for each row of point i in items, and returns their number. The
 * coefficient of `dual` is that of the point; it is divided among the rows in proportion to their
 * weights. */
size_t dni_point_rows_spread(const dni_point_rows *rows, const dni_svm_points *points, size_t i,
                             dn_dual dual, dn_dual *items);
/* Sorts support vectors by row. */
void dni_point_rows_sort(dn_dual *items, size_t n);

#endif
