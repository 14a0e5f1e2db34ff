/* Declarations that all kinds of points share: the set, the queries, and the conversion of
 * products and distances to kernel values. */
#ifndef DNI_POINTS_KIND_H
#define DNI_POINTS_KIND_H

#include "base/layout.h"
#include "kernels/kernel_impl.h"
#include "kernels/lanes.h"
#include "kernels/pairs.h"
#include "kernels/points.h"

typedef struct dni_points_kind dni_points_kind;

struct dni_points {
    const dn_run *run; /* the memory is charged to this run */
    dn_kernel kernel;
    dni_form form;
    const dni_points_kind *kind;
    const dni_lanes *lanes;
    size_t n, d;   /* points, columns */
    size_t added;  /* number of points added so far */
    void *storage; /* data of the kind */
    bool expanded; /* squared distances are computed as ‖x‖² + ‖z‖² − 2 x'z */
    /* For kernels of distances: K = exp(−factor · D), where D is the distance; for rbf and
     * mahalanobis D is the squared distance. */
    double factor;
    void *squares_memory; /* allocated block that holds `square` and `self` */
    /* [n, rounded up to whole panels] ‖x‖², rounded as the products of the kind; NULL: not
     * needed */
    double *square;
    double *self; /* [as square] K(x, x) before normalization; NULL: K(x, x) = 1 */
    /* [as square] ‖x‖² of the values in single precision; memory of the kind; NULL: not used */
    double *square_single;
};

/* A row that is compared with the points. */
typedef struct dni_query {
    dni_row row;          /* kinds sparse and bits: the row; texts: only row.n, the length */
    const uint64_t *bits; /* kind bits: the row as bits; NULL: it has numbers other than 0 and 1 */
    const uint32_t *text; /* kind texts: [row.n] symbols */
    double square, self;  /* ‖x‖² and K(x, x) of the row */
    bool single;          /* values are computed in single precision */
} dni_query;

#define DNI_QUERIES 64 /* maximum number of queries that are processed together */
typedef struct dni_queries {
    size_t n;
    dni_query of[DNI_QUERIES];
    double *work;
} dni_queries;

/* Where and in which form values are stored. Exactly one of `single` and `exact` is not NULL. The
 * values of query q start at index q · stride. */
typedef struct dni_output {
    float *single;
    double *exact;
    size_t stride;
    bool distances; /* store distances (rbf and mahalanobis: their squares) in `exact`, not K */
} dni_output;

/* The shape of rows, for estimates of memory. */
typedef struct dni_rows_shape {
    size_t n, d;
    size_t n_entries; /* SIZE_MAX: dense rows */
    dni_form form;
} dni_rows_shape;

/* Upper bounds of the bytes of points. */
typedef struct dni_points_bytes {
    double kept;     /* bytes of the prepared points */
    double building; /* peak while the points are prepared */
} dni_points_bytes;

struct dni_points_kind {
    dni_points_bytes (*memory)(const dni_rows_shape *shape);
    /* Returns an upper bound of `work` for rows of which only the shape is known. */
    double (*work_bound)(const dni_rows_shape *shape, size_t n);
    /* begin reserves memory for points->n rows of points->d columns; n_entries: number of stored
     * entries, SIZE_MAX for dense rows. add stores the rows of x as points first, first + 1 …. end
     * prepares the points; it may change their kind. */
    dn_status (*begin)(dni_points *points, size_t n_entries, dn_error *err);
    void (*add)(dni_points *points, size_t first, dn_matrix x);
    dn_status (*end)(dni_points *points, dn_error *err);
    /* Frees points->storage; also after a failure of begin, end or select. */
    void (*free)(dni_points *points);
    /* Copies the points list [points->n] of `from` to points->storage. The caller sets `square` and
     * `self`. */
    dn_status (*select)(dni_points *points, const dni_points *from, const uint32_t *list,
                        dn_error *err);
    size_t (*step)(const dni_points *points); /* dni_points_step; NULL: depends on columns */
    size_t block; /* number of points that are always computed together; 0: any number */
    /* Returns the number of doubles of scratch for n queries. */
    size_t (*work)(const dni_points *points, size_t n);
    /* Add a query: point i of `from`, or the row x of points->d columns. One of `points` and `from`
     * is a selection of the other, or they are the same. single: values may be computed in single
     * precision. */
    void (*add_point)(const dni_points *points, const dni_points *from, size_t i, bool single,
                      dni_queries *queries);
    void (*add_row)(const dni_points *points, dni_row x, bool single, dni_queries *queries);
    /* Computes the values of all queries with points first … first + n − 1. */
    void (*values)(const dni_points *points, const dni_queries *queries, size_t first, size_t n,
                   dni_output output);
};

/* Converts measure [n], the products or distances of a query with points first … first + n − 1, to
 * values, and stores them at index `to` of the output. Overwrites `measure`. */
void dni_values_of(const dni_points *points, const dni_query *query, size_t first, size_t n,
                   double *measure, const dni_output *output, size_t to);
/* Reserves `self` and `square`, filled with 0, if the form of the kernel needs them. */
DN_MUST_USE dn_status dni_points_reserve(dni_points *points, dn_error *err);
/* Returns an upper bound of the bytes that dni_points_reserve allocates. */
double dni_points_squares_bytes(size_t n, dni_form form);
/* Stores `square`, ‖x‖² of row i, and K(x, x). Errors: DN_ERR_NUMERIC if one of them is out of
 * range. */
DN_MUST_USE dn_status dni_points_check(dni_points *points, size_t i, double square, dn_error *err);

/* Conversion of dense or sparse points of 0 and 1 to kind bits. dni_bits_new reserves the bits, all
 * 0. dni_bits_set sets bit j of point i. dni_bits_become replaces the storage, which the caller has
 * freed, by the bits, and takes ownership of them, also after an error. dni_bits_are_faster is true
 * if the conversion makes kernel values faster; n_common: mean number of columns in which both of
 * two rows have a 1. */
struct dni_bits;
bool dni_bits_are_faster(const dni_points *points, double n_common);
DN_MUST_USE dn_status dni_bits_new(const dni_points *points, struct dni_bits **out, dn_error *err);
void dni_bits_set(struct dni_bits *bits, size_t i, size_t j);
DN_MUST_USE dn_status dni_bits_become(dni_points *points, struct dni_bits *bits, dn_error *err);
/* Return upper bounds of the bytes, and of the doubles of scratch, of rows that become bits; 0 if
 * they have too few entries to become bits. */
double dni_bits_memory(const dni_rows_shape *shape);
double dni_bits_work_bound(const dni_rows_shape *shape, size_t n);

extern const dni_points_kind dni_points_kind_dense, dni_points_kind_sparse, dni_points_kind_bits,
    dni_points_kind_texts;

#endif
