/* What dense points are kept as; the queries against them. */
#ifndef DNI_POINTS_DENSE_H
#define DNI_POINTS_DENSE_H

#include "kernels/points_layout.h"

struct dni_dense {
    void *memory, *single_memory;
    size_t d; /* columns of the panels */
    uint32_t *
        kept; /* [d] ascending: which columns of the rows they are. The points are 0 in the others, which no product needs; NULL: they are all there */
    double *panels;  /* [panels × d × DNI_PANEL] */
    float *singles;  /* the same; NULL: float is not exact enough */
    double *centre;  /* [columns of the rows] subtracted from rows; NULL: nothing is */
    double greatest; /* a row with a greater ‖x‖² is not measured in float */
    double scale;    /* rows are multiplied with, without a factor */
};

/* Where point i begins in panels and singles: its number in column k is k · DNI_PANEL further. */
static inline size_t dni_dense_lane(const struct dni_dense *dense, size_t i) {
    return i / DNI_PANEL * dense->d * DNI_PANEL + i % DNI_PANEL;
}

/* Whether values come from products of rows, which columns of zeroes have no part in. */
static inline bool dni_dense_of_products(const dni_points *points) {
    return points->expanded || points->form == DNI_FORM_PRODUCT || points->form == DNI_FORM_COSINE;
}

/* A row x, of all columns, centred and scaled or multiplied by the factor: in its place. */
void dni_dense_map(const dni_points *points, double *x);

/* The layout's, as layout.h says. */
size_t dni_dense_work(const dni_points *points, size_t n);
void dni_dense_take(const dni_points *points, const dni_points *from, size_t i, bool single,
                    dni_queries *queries);
void dni_dense_read(const dni_points *points, dni_row row, bool single, dni_queries *queries);
void dni_dense_values(const dni_points *points, const dni_queries *queries, size_t first, size_t n,
                      dni_wanted wanted);

#endif
