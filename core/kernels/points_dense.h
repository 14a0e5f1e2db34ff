/* Dense points, and queries against them. */
#ifndef DNI_POINTS_DENSE_H
#define DNI_POINTS_DENSE_H

#include "kernels/points_kind.h"

struct dni_dense {
    void *memory, *single_memory; /* the blocks of the arrays */
    size_t d;                     /* columns of the panels */
    /* [d] ascending: the columns of the rows that are in the panels; the points are 0 in the
     * others. NULL: all */
    uint32_t *kept;
    uint32_t *columns; /* [columns of the rows] the array of `kept` */
    double *panels;    /* [panels × d × DNI_PANEL] */
    float *singles;    /* the same in float; NULL: not exact enough */
    /* [columns of the rows] subtracted from rows; NULL: nothing is subtracted */
    double *centre;
    double *row;     /* [columns of the rows] scratch; NULL without a centre */
    double greatest; /* rows with a larger ‖x‖² are measured in double precision */
    double scale;    /* factor by which rows are multiplied, if the kernel has no matrix */
};

/* Returns the index of column 0 of point i in panels and singles; column k is at this index + k
 * · DNI_PANEL. */
static inline size_t dni_dense_lane(const struct dni_dense *dense, size_t i) {
    return i / DNI_PANEL * dense->d * DNI_PANEL + i % DNI_PANEL;
}

/* Whether values are computed from products, to which columns of zeros contribute nothing. */
static inline bool dni_dense_of_products(const dni_points *points) {
    return points->expanded || points->form == DNI_FORM_PRODUCT || points->form == DNI_FORM_COSINE;
}

/* Centres and scales a row of all columns, or multiplies it by the factor, in place. */
void dni_dense_map(const dni_points *points, double *x);

/* Doubles of scratch for n queries of d columns, against panels of panel_d columns. */
size_t dni_dense_scratch(size_t d, size_t panel_d, size_t n);

/* The functions of the kind; see points_kind.h. */
size_t dni_dense_work(const dni_points *points, size_t n);
void dni_dense_take(const dni_points *points, const dni_points *from, size_t i, bool single,
                    dni_queries *queries);
void dni_dense_read(const dni_points *points, dni_row row, bool single, dni_queries *queries);
void dni_dense_values(const dni_points *points, const dni_queries *queries, size_t first, size_t n,
                      dni_wanted wanted);

#endif
