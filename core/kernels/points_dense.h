/* Dense points, and queries against them. */
#ifndef DNI_POINTS_DENSE_H
#define DNI_POINTS_DENSE_H

#include "kernels/points_kind.h"

struct dni_dense {
    void *memory;        /* allocated block that holds all arrays except `singles` */
    void *single_memory; /* allocated block that holds `singles` and square_single */
    size_t d;            /* columns of the panels */
    /* [d] indices of the columns that are in the panels, ascending; all points are 0 in the other
     * columns. NULL: all columns are in the panels */
    uint32_t *kept;
    uint32_t *columns; /* [columns of the rows] memory of `kept` */
    double *panels;    /* [panels × d × DNI_PANEL] */
    float *singles;    /* `panels` in float; NULL: float is not exact enough */
    /* [columns of the rows] mean of the points, which is subtracted from rows; NULL: rows are not
     * centred */
    double *centre;
    double *row;              /* [columns of the rows] scratch; NULL if `centre` is NULL */
    double max_single_square; /* largest ‖x‖² of a query that is compared in single precision */
    double scale;             /* factor by which rows are multiplied; not for mahalanobis */
};

/* Returns the index of column 0 of point i in `panels` and in `singles`. The index of column k is
 * larger by k · DNI_PANEL. */
static inline size_t dni_dense_lane(const struct dni_dense *dense, size_t i) {
    return i / DNI_PANEL * dense->d * DNI_PANEL + i % DNI_PANEL;
}

/* Returns true if values are computed from inner products, to which zero columns contribute
 * nothing. */
static inline bool dni_dense_of_products(const dni_points *points) {
    return points->expanded || points->form == DNI_FORM_PRODUCT || points->form == DNI_FORM_COSINE;
}

/* Centres the row x [points->d] in place, then scales it or multiplies it by the factor. */
void dni_dense_map(const dni_points *points, double *x);

/* Returns the number of doubles of scratch for n queries of d columns and panels of panel_d
 * columns. */
size_t dni_dense_scratch(size_t d, size_t panel_d, size_t n);

/* Functions of dni_points_kind_dense, see points_kind.h. */
size_t dni_dense_work(const dni_points *points, size_t n);
void dni_dense_add_point(const dni_points *points, const dni_points *from, size_t i, bool single,
                         dni_queries *queries);
void dni_dense_add_row(const dni_points *points, dni_row row, bool single, dni_queries *queries);
void dni_dense_values(const dni_points *points, const dni_queries *queries, size_t first, size_t n,
                      dni_output wanted);

#endif
