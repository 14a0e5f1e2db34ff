/* Dense rows in panels of DNI_PANEL points. A panel is stored column by column, in double precision
 * and, if that is exact enough, also in single precision.
 *
 * Inner products are computed from the unchanged rows. For squared distances the rows are centred,
 * then divided by the width or multiplied by the factor. The expansion ‖x‖² + ‖z‖² − 2 x'z of such
 * rows has an error of about 2⁻⁵³ times the largest ‖x‖². If this error is too large, because rows
 * are far from the centre, the squared differences are added instead, at half the speed. Columns in
 * which all points are 0 contribute nothing to products. They are omitted from the panels if there
 * are enough of them. */
#include "kernels/points_dense.h"

#include <math.h>
#include <string.h>

/* Single precision is used while 2⁻²⁴ max‖x‖²/2, the error of a kernel value if each squared norm
 * is rounded once, is less than this. The rounding of the partial sums can make the error three
 * times as large. */
#define MAX_SINGLE_ERROR 1e-6
/* Largest ‖x‖² for which the expanded squared distances are exact enough. */
#define MAX_EXPANDED_SQUARE 1e6
enum { OMIT_DIVISOR = 32 /* zero columns are omitted if they are at least 1/32 of the columns */ };

static size_t padded(size_t n) {
    return (n + DNI_PANEL - 1) / DNI_PANEL * DNI_PANEL;
}

static size_t n_panels(const dni_points *p) {
    return padded(p->n) / DNI_PANEL;
}

/* ---- memory ---- */
struct dense_shape {
    size_t n, d;    /* points, columns of the rows */
    size_t panel_d; /* columns of the panels */
    bool centred;
};

static void panels_layout(dni_layout *layout, const void *shape, void *work) {
    const struct dense_shape *s = shape;
    struct dni_dense *storage = work;
    storage->centre = s->centred ? dni_layout_doubles(layout, s->d) : NULL;
    storage->row = s->centred ? dni_layout_doubles(layout, s->d) : NULL;
    storage->columns = dni_layout_array(layout, s->d, sizeof *storage->columns);
    storage->panels = dni_layout_matrix(layout, padded(s->n), s->panel_d);
}

/* The arrays in single precision. */
struct singles {
    float *panels;
    double *square;
};

static void singles_layout(dni_layout *layout, const void *shape, void *work) {
    const struct dense_shape *s = shape;
    struct singles *singles = work;
    singles->panels = dni_layout_array(layout, padded(s->n), s->panel_d * sizeof *singles->panels);
    singles->square = dni_layout_doubles(layout, padded(s->n));
}

static dni_points_bytes memory(const dni_rows_shape *shape) {
    const struct dense_shape dense = {shape->n, shape->d, shape->d, shape->form == DNI_FORM_SQUARE};
    struct dni_dense storage;
    struct singles singles;
    const double panels = sizeof storage + dni_layout_bytes(panels_layout, &dense, &storage),
                 single = dense.centred ? dni_layout_bytes(singles_layout, &dense, &singles) : 0,
                 bits = dni_bits_memory(shape);
    return (dni_points_bytes){.kept = fmax(panels + single, bits),
                              .building = panels + fmax(single, bits)};
}

static double work_bound(const dni_rows_shape *shape, size_t n) {
    return fmax((double)dni_dense_scratch(shape->d, shape->d, n), dni_bits_work_bound(shape, n));
}

static void free_dense(dni_points *p) {
    struct dni_dense *storage = p->storage;
    if (storage == NULL) {
        return;
    }
    dn_run_free(p->run, storage->memory);
    dn_run_free(p->run, storage->single_memory);
    dn_run_free(p->run, storage);
    p->storage = NULL;
    p->square_single = NULL;
}

/* Reserves panels of d columns. */
static dn_status reserve(dni_points *p, size_t d, dn_error *err) {
    const struct dense_shape shape = {p->n, p->d, d, p->form == DNI_FORM_SQUARE};
    dn_status status = dn_run_alloc(p->run, 1, sizeof(struct dni_dense), "the points of a kernel",
                                    &p->storage, err);
    if (status != DN_OK) {
        return status;
    }
    struct dni_dense *storage = p->storage;
    storage->d = d;
    return dni_layout_take(p->run, panels_layout, &shape, storage, "the points of a kernel",
                           &storage->memory, err);
}

static dn_status reserve_singles(dni_points *p, dn_error *err) {
    struct dni_dense *storage = p->storage;
    const struct dense_shape shape = {.n = p->n, .panel_d = storage->d};
    struct singles singles;
    dn_status status = dni_layout_take(p->run, singles_layout, &shape, &singles,
                                       "the points of a kernel", &storage->single_memory, err);
    if (status != DN_OK) {
        return status;
    }
    storage->singles = singles.panels;
    p->square_single = singles.square;
    return DN_OK;
}

static dn_status begin(dni_points *p, size_t n_entries, dn_error *err) {
    (void)n_entries;
    return reserve(p, p->d, err);
}

static void add(dni_points *p, size_t first, dn_matrix x) {
    struct dni_dense *storage = p->storage;
    for (size_t i = 0; i < x.n_rows; i++) {
        const dni_row row = dni_row_of(x, i);
        double *to = storage->panels + dni_dense_lane(storage, first + i);
        for (size_t e = 0; e < row.n; e++) {
            to[(row.cols == NULL ? e : row.cols[e]) * DNI_PANEL] = row.values[e];
        }
    }
}

/* ---- rows of 0 and 1 ---- */
/* Returns true if all values are 0 or 1; *n_common is then the mean number of columns in which both
 * of two rows have a 1. */
static bool is_binary(const dni_points *p, double *n_common) {
    const struct dni_dense *storage = p->storage;
    *n_common = 0;
    for (size_t k = 0; k < p->d; k++) {
        double count = 0;
        for (size_t b = 0; b < n_panels(p); b++) {
            for (size_t l = 0; l < DNI_PANEL; l++) {
                const double x = storage->panels[(b * p->d + k) * DNI_PANEL + l];
                if (x != 0 && x != 1) {
                    return false;
                }
                count += x;
            }
        }
        *n_common += count / (double)p->n * count / (double)p->n;
    }
    return true;
}

static dn_status become_bits(dni_points *p, dn_error *err) {
    const struct dni_dense *storage = p->storage;
    struct dni_bits *bits;
    dn_status status = dni_bits_new(p, &bits, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < p->n; i++) {
        for (size_t k = 0; k < p->d; k++) {
            if (storage->panels[dni_dense_lane(storage, i) + k * DNI_PANEL] != 0) {
                dni_bits_set(bits, i, k);
            }
        }
    }
    free_dense(p);
    return dni_bits_become(p, bits, err);
}

/* ---- centring and scaling ---- */
static void find_centre(dni_points *p) {
    struct dni_dense *storage = p->storage;
    for (size_t b = 0; b < n_panels(p); b++) {
        for (size_t k = 0; k < p->d; k++) {
            double sum = 0;
            for (size_t l = 0; l < DNI_PANEL; l++) { /* lanes without a point are 0 */
                sum += storage->panels[(b * p->d + k) * DNI_PANEL + l] / (double)p->n;
            }
            storage->centre[k] += sum;
        }
    }
}

static dn_status map_rows(dni_points *p, dn_error *err) {
    struct dni_dense *storage = p->storage;
    for (size_t i = 0; i < p->n; i++) {
        double *z = storage->panels + dni_dense_lane(storage, i);
        for (size_t k = 0; k < p->d; k++) {
            storage->row[k] = z[k * DNI_PANEL];
        }
        dni_dense_map(p, storage->row);
        for (size_t k = 0; k < p->d; k++) {
            z[k * DNI_PANEL] = storage->row[k];
        }
        dn_status status = i % DNI_PANEL == 0 ? dn_run_stop(p->run, err) : DN_OK;
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

static double square_of(const dni_points *p, size_t i) {
    const struct dni_dense *storage = p->storage;
    return p->lanes->square(storage->panels + dni_dense_lane(storage, i), p->d, DNI_PANEL);
}

static dn_status make_singles(dni_points *p, dn_error *err) {
    struct dni_dense *storage = p->storage;
    dn_status status = reserve_singles(p, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t b = 0; b < n_panels(p); b++) {
        const size_t at = b * storage->d * DNI_PANEL;
        for (size_t k = 0; k < storage->d * DNI_PANEL; k++) {
            storage->singles[at + k] = (float)storage->panels[at + k];
        }
        for (size_t l = 0; l < DNI_PANEL; l++) {
            p->square_single[b * DNI_PANEL + l] =
                p->lanes->square_single(storage->singles + at + l, storage->d, DNI_PANEL);
        }
        status = dn_run_stop(p->run, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

/* ---- omitting columns of zeros ---- */
static bool is_zero(const dni_points *p, size_t k) {
    const struct dni_dense *storage = p->storage;
    for (size_t b = 0; b < n_panels(p); b++) {
        for (size_t l = 0; l < DNI_PANEL; l++) {
            if (storage->panels[(b * storage->d + k) * DNI_PANEL + l] != 0) {
                return false;
            }
        }
    }
    return true;
}

/* Removes zero columns from the panels: in every panel the remaining columns are moved together, to
 * lower addresses only. */
static dn_status omit_zero_columns(dni_points *p, dn_error *err) {
    struct dni_dense *storage = p->storage;
    size_t kept = 0;
    dn_status status = DN_OK;
    storage->kept = storage->columns;
    for (size_t k = 0; k < p->d && status == DN_OK; k++) {
        if (!is_zero(p, k)) {
            storage->kept[kept++] = (uint32_t)k;
        } else {
            status = dn_run_stop(p->run, err); /* poll: is_zero has read column k of all points */
        }
    }
    if (status != DN_OK) {
        return status;
    }
    if (p->d - kept < (p->d + OMIT_DIVISOR - 1) / OMIT_DIVISOR) {
        storage->kept = NULL;
        return DN_OK;
    }
    for (size_t b = 0; b < n_panels(p) && status == DN_OK; b++) {
        for (size_t k = 0; k < kept; k++) {
            memmove(storage->panels + (b * kept + k) * DNI_PANEL,
                    storage->panels + (b * p->d + storage->kept[k]) * DNI_PANEL,
                    DNI_PANEL * sizeof *storage->panels);
        }
        status = dn_run_stop(p->run, err);
    }
    storage->d = kept;
    return status;
}

/* ---- squares ---- */
/* Stores ‖x‖² of the points, and decides whether distances are expanded and in which precision they
 * are computed. */
static dn_status find_precision(dni_points *p, dn_error *err) {
    struct dni_dense *storage = p->storage;
    const bool squares = p->form != DNI_FORM_MANHATTAN && p->form != DNI_FORM_CHEBYSHEV;
    double largest = 0;
    for (size_t i = 0; i < p->n; i++) {
        const double square = squares ? square_of(p, i) : 0;
        dn_status status = dni_points_check(p, i, square, err);
        if (status == DN_OK && i % DNI_PANEL == 0) {
            status = dn_run_stop(p->run, err);
        }
        if (status != DN_OK) {
            return status;
        }
        largest = square > largest ? square : largest;
    }
    p->expanded = p->expanded && largest <= MAX_EXPANDED_SQUARE;
    storage->max_single_square = 2 * MAX_SINGLE_ERROR * 0x1p24;
    dn_status status = dni_dense_of_products(p) ? omit_zero_columns(p, err) : DN_OK;
    return status == DN_OK && p->expanded && largest < storage->max_single_square
               ? make_singles(p, err)
               : status;
}

static dn_status end(dni_points *p, dn_error *err) {
    struct dni_dense *storage = p->storage;
    double n_common;
    if (is_binary(p, &n_common) && dni_bits_are_faster(p, n_common)) {
        return become_bits(p, err);
    }
    storage->scale = p->kernel.type == DN_KERNEL_RBF ? 1 / p->kernel.width : 1;
    p->expanded = p->kernel.type == DN_KERNEL_RBF || p->kernel.type == DN_KERNEL_MAHALANOBIS;
    p->factor = p->expanded ? 0.5 : p->factor;
    if (storage->centre != NULL) {
        find_centre(p);
        dn_status status = map_rows(p, err);
        if (status != DN_OK) {
            return status;
        }
    }
    dn_status status = dni_points_reserve(p, err);
    return status == DN_OK ? find_precision(p, err) : status;
}

/* ---- selections ---- */
/* Copies the points list[b · DNI_PANEL …] of the panels `values` of `source` to panel b of `to`. */
#define GATHER(type, to, values)                                                                   \
    do {                                                                                           \
        const type *lanes[DNI_PANEL];                                                              \
        for (size_t l = 0; l < count; l++)                                                         \
            lanes[l] = (values) + dni_dense_lane(source, list[b * DNI_PANEL + l]);                 \
        for (size_t k = 0; k < storage->d; k++)                                                    \
            for (size_t l = 0; l < count; l++)                                                     \
                (to)[(b * storage->d + k) * DNI_PANEL + l] = lanes[l][k * DNI_PANEL];              \
    } while (0)

static dn_status select_points(dni_points *p, const dni_points *from, const uint32_t *list,
                               dn_error *err) {
    const struct dni_dense *source = from->storage;
    dn_status status = reserve(p, source->d, err);
    if (status == DN_OK && source->singles != NULL) {
        status = reserve_singles(p, err);
    }
    if (status != DN_OK) {
        return status;
    }
    struct dni_dense *storage = p->storage;
    storage->scale = source->scale;
    storage->max_single_square = source->max_single_square;
    if (storage->centre != NULL) {
        memcpy(storage->centre, source->centre, p->d * sizeof *storage->centre);
    }
    if (source->kept != NULL) {
        storage->kept =
            memcpy(storage->columns, source->columns, storage->d * sizeof *storage->columns);
    }
    for (size_t i = 0; source->singles != NULL && i < p->n; i++) {
        p->square_single[i] = from->square_single[list[i]];
    }
    for (size_t b = 0; b < n_panels(p); b++) {
        const size_t count = p->n - b * DNI_PANEL < DNI_PANEL ? p->n - b * DNI_PANEL : DNI_PANEL;
        GATHER(double, storage->panels, source->panels);
        if (source->singles != NULL && storage->singles != NULL) {
            GATHER(float, storage->singles, source->singles);
        }
        status = dn_run_stop(p->run, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

const dni_points_kind dni_points_kind_dense = {.memory = memory,
                                               .work_bound = work_bound,
                                               .begin = begin,
                                               .add = add,
                                               .end = end,
                                               .free = free_dense,
                                               .select = select_points,
                                               .work = dni_dense_work,
                                               .add_point = dni_dense_add_point,
                                               .add_row = dni_dense_add_row,
                                               .values = dni_dense_values};
