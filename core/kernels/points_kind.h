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
    const dn_run *run; /* of the memory */
    dn_kernel kernel;
    dni_form form;
    const dni_points_kind *kind;
    const dni_lanes *lanes;
    size_t n, d, added; /* points, columns; points added so far */
    void *own;          /* data of the kind of storage */
    bool expanded;      /* squared distances are computed as ‖x‖² + ‖z‖² − 2 x'z */
    /* The kernel is exp(−factor · measure); euclidean distance: of the measure's square root. */
    double factor;
    void *squares_memory; /* the block of `square` and `self` */
    /* [n, rounded up to whole panels] ‖x‖² as the kind's products compute it; NULL: not needed */
    double *square;
    double *self; /* [as square] K(x, x) before normalize; NULL: 1 */
    /* [as square] ‖x‖² in single precision, an array of the kind; NULL: not used */
    double *square_single;
};

/* A row that is compared with points. */
typedef struct dni_query {
    dni_row row;          /* sparse and bits; texts: its length only */
    const uint64_t *bits; /* bits: of a row of 0 and 1; NULL: a row of other numbers */
    const uint32_t *text; /* texts: symbols [row.n] */
    double square, self;  /* ‖x‖² and K(x, x) of the row */
    bool single;          /* values are computed in single precision */
} dni_query;

#define DNI_QUERIES 64 /* most queries that are processed together */
typedef struct dni_queries {
    size_t n;
    dni_query of[DNI_QUERIES];
    double *work;
} dni_queries;

/* What is computed for the pairs of queries and points. One of the two outputs is not NULL. The
 * values of query q begin at q · stride. */
typedef struct dni_wanted {
    float *single;
    double *exact;
    size_t stride;
    bool distances; /* D or its square instead of K, in `exact` */
} dni_wanted;

/* The shape of rows for estimates. */
typedef struct dni_rows_shape {
    size_t n, d;
    size_t n_entries; /* SIZE_MAX: dense */
    dni_form form;
} dni_rows_shape;

/* Upper bounds of the bytes of points. */
typedef struct dni_points_bytes {
    double kept, building; /* bytes after preparation; largest number of bytes before it */
} dni_points_bytes;

struct dni_points_kind {
    dni_points_bytes (*memory)(const dni_rows_shape *shape);
    /* Doubles of scratch for n queries, an upper bound. */
    double (*work_bound)(const dni_rows_shape *shape, size_t n);
    /* begin reserves memory for n rows of points->d columns, n_entries SIZE_MAX: dense; add stores
     * rows first …; end prepares them, possibly as another kind. */
    dn_status (*begin)(dni_points *points, size_t n_entries, dn_error *err);
    void (*add)(dni_points *points, size_t first, dn_matrix x);
    dn_status (*end)(dni_points *points, dn_error *err);
    /* Frees the memory that begin reserved; also after a failure. */
    void (*free)(dni_points *points);
    /* Makes points->own of some points of `from`; square and self are set. */
    dn_status (*select)(dni_points *points, const dni_points *from, const uint32_t *list,
                        dn_error *err);
    size_t (*step)(const dni_points *points); /* dni_points_step; NULL: by the number of columns */
    size_t block; /* points that are always computed together; 0: none */
    /* Doubles of scratch for n queries. */
    size_t (*work)(const dni_points *points, size_t n);
    /* Adds a query: point i of `from`, which is a selection of the same points, or the reverse; or
     * a row of n_features columns. single: values will be requested in single precision. */
    void (*take)(const dni_points *points, const dni_points *from, size_t i, bool single,
                 dni_queries *queries);
    void (*read)(const dni_points *points, dni_row x, bool single, dni_queries *queries);
    /* The values of all queries with points first … first + n − 1. */
    void (*values)(const dni_points *points, const dni_queries *queries, size_t first, size_t n,
                   dni_wanted wanted);
};

/* Converts the measures of a query with points first … first + n − 1 to values. measure [n] is
 * overwritten; `to` is the query's position in the output. n is a whole panel if square and self
 * are padded. */
void dni_values_of(const dni_points *points, const dni_query *query, size_t first, size_t n,
                   double *measure, dni_wanted wanted, size_t to);
/* Reserves `self` if it is needed, and `square` if the form needs it or values are expanded;
 * zeroed. */
DN_MUST_USE dn_status dni_points_reserve(dni_points *points, dn_error *err);
/* Upper bound of the bytes that dni_points_reserve allocates. */
double dni_points_squares_bytes(size_t n, dni_form form);
/* Stores ‖x‖² of row i, and K(x, x). Errors: DN_ERR_NUMERIC if they are out of range. */
DN_MUST_USE dn_status dni_points_check(dni_points *points, size_t i, double square, dn_error *err);

/* Bits instead of the rows' own kind: dni_bits_new reserves them, zeroed; dni_bits_set sets bit
 * (i, j); dni_bits_become changes the kind after the old one is freed, and owns the bits, also
 * after an error. dni_bits_pay: whether that is faster for rows whose columns have `hits` pairs of
 * entries in common. */
struct dni_bits;
bool dni_bits_pay(const dni_points *points, double hits);
DN_MUST_USE dn_status dni_bits_new(const dni_points *points, struct dni_bits **out, dn_error *err);
void dni_bits_set(struct dni_bits *bits, size_t i, size_t j);
DN_MUST_USE dn_status dni_bits_become(dni_points *points, struct dni_bits *bits, dn_error *err);
/* Upper bounds as those of a kind; 0: rows with so few entries never become bits. */
double dni_bits_memory(const dni_rows_shape *shape);
double dni_bits_work_bound(const dni_rows_shape *shape, size_t n);

extern const dni_points_kind dni_points_kind_dense, dni_points_kind_sparse, dni_points_kind_bits,
    dni_points_kind_texts;

#endif
