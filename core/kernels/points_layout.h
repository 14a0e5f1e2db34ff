/* What the layouts of points share: the set, queries made ready for it, and from what a layout measures to values of the kernel. */
#ifndef DNI_POINTS_LAYOUT_H
#define DNI_POINTS_LAYOUT_H

#include "kernels/kernel_impl.h"
#include "kernels/lanes.h"
#include "kernels/pairs.h"
#include "kernels/points.h"

typedef struct dni_layout dni_layout;

struct dni_points {
    const dn_run *run; /* of the memory */
    dn_kernel kernel;
    dni_form form;
    const dni_layout *layout;
    const dni_lanes *lanes;
    size_t n, d, added; /* points, columns; points that have come */
    void *own;          /* the layout's */
    bool expanded; /* it measures x'z where the form is a square, which is ‖x‖² + ‖z‖² − 2 x'z */
    double
        factor; /* the kernel is exp(−factor · measure), of the euclidean distance the root of it */
    double *
        square; /* [n, and up to a whole panel] ‖x‖² as the layout's products have it; NULL: not needed */
    double *
        square_single; /* [likewise] the same as products in float have it; NULL: nothing is measured in float */
    double *self; /* [likewise] K(x, x) before normalize; NULL: 1 */
};

/* A row that is measured against points. */
typedef struct dni_query {
    dni_row row;          /* sparse, bits; texts: not used */
    const uint64_t *bits; /* bits: of a row of 0 and 1; NULL: another */
    const uint32_t *text; /* texts: symbols [row.n] */
    double square, self;  /* as of points */
    bool single;          /* measured in float */
} dni_query;

#define DNI_QUERIES 64 /* most that are measured together */
typedef struct dni_queries {
    size_t n;
    dni_query of[DNI_QUERIES];
    double *work;
} dni_queries;

/* What is to be computed of the pairs of queries and points: one of the two is not NULL. Query q's values begin at q · stride. */
typedef struct dni_wanted {
    float *single;
    double *exact;
    size_t stride;
    bool distances; /* D or its square instead of K, exact */
} dni_wanted;

/* Rows whose memory is reckoned: so many, of so many columns and stored entries (INFINITY: dense), for a kernel of this form. */
typedef struct dni_rows_shape {
    double n, d, entries;
    dni_form form;
} dni_rows_shape;

struct dni_layout {
    /* Bytes of such rows, at most, from begin until they are points; of the work of DNI_QUERIES queries against them. */
    double (*memory)(const dni_rows_shape *shape);
    double (*work_memory)(const dni_rows_shape *shape);
    /* Room for n rows of points->d columns; n_entries: SIZE_MAX where rows come dense. Then rows first … of them; then they are made ready, perhaps in another layout. */
    dn_status (*begin)(dni_points *points, size_t n_entries, dn_error *err);
    void (*add)(dni_points *points, size_t first, dn_matrix x);
    dn_status (*end)(dni_points *points, dn_error *err);
    void (*free)(dni_points *points); /* of what begin has left, in whatever state */
    /* points->own of a set of some of `from`; square and self are there. */
    dn_status (*select)(dni_points *points, const dni_points *from, const uint32_t *list,
                        dn_error *err);
    size_t (*step)(
        const dni_points *points); /* dni_points_step's; NULL: by the number of columns */
    size_t
        block; /* points that are computed together even when a part of them is wanted; 0: none are */
    /* Doubles of work for n queries against the points. */
    size_t (*work)(const dni_points *points, size_t n);
    /* Makes query number queries->n of point i of `from`, which is a selection of the same points or they of it; of row x of n_features columns. single: values will be wanted in float. */
    void (*take)(const dni_points *points, const dni_points *from, size_t i, bool single,
                 dni_queries *queries);
    void (*read)(const dni_points *points, dni_row x, bool single, dni_queries *queries);
    /* Of all queries with points first … first + n − 1. */
    void (*values)(const dni_points *points, const dni_queries *queries, size_t first, size_t n,
                   dni_wanted wanted);
};

/* What has been measured of a query and points first … first + n − 1, to what is wanted: measure [n] is spoilt; `to` has the query's place in it. n is a whole panel where square and self have one. */
void dni_values_of(const dni_points *points, const dni_query *query, size_t first, size_t n,
                   double *measure, dni_wanted wanted, size_t to);
/* Room for `self` where it is needed, for `square` if `squares` or the form needs it: zeroes, for whole panels. */
DN_MUST_USE dn_status dni_points_room(dni_points *points, bool squares, dn_error *err);
/* Notes ‖x‖² of row i, and K(x, x). DN_ERR_NUMERIC: they are out of range. */
DN_MUST_USE dn_status dni_points_judge(dni_points *points, size_t i, double square, dn_error *err);

/* Bits instead of the rows' layout: room for them, all 0; bit (i, j) ← 1; the layout then, when the old one has been freed. Whether it pays for n rows whose columns have `hits` pairs of entries in common. */
bool dni_bits_pay(const dni_points *points, double hits);
DN_MUST_USE dn_status dni_bits_new(const dni_points *points, uint64_t **out, dn_error *err);
void dni_bits_set(uint64_t *bits, size_t d, size_t i, size_t j);
/* Bytes of rows as bits: at first beside the rows as they came, then all; of work. 0: sparse rows with so few entries do not become bits. */
double dni_bits_beside(const dni_rows_shape *shape);
double dni_bits_memory(const dni_rows_shape *shape);
double dni_bits_work_memory(const dni_rows_shape *shape);
DN_MUST_USE dn_status dni_bits_become(dni_points *points, uint64_t *bits, dn_error *err);

extern const dni_layout dni_layout_dense, dni_layout_sparse, dni_layout_bits, dni_layout_texts;

#endif
