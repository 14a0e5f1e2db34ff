/* Dense rows in panels of DNI_PANEL points, column after column, in double precision and, if
 * that is exact enough, in single precision too.
 *
 * Products are computed from the rows without centring or scaling. For squared distances the
 * rows are centred, then scaled by the width or multiplied by the factor. ‖x‖² + ‖z‖² − 2 x'z of
 * such rows has an error of some 2⁻⁵³ of the largest ‖x‖²; if that is too large (rows far from
 * the centre) the squared differences are added instead, at half the speed. Columns in which all
 * points are then 0 contribute nothing to products and are omitted from the panels if there are
 * enough of them. */
#include "kernels/points_dense.h"

#include <math.h>
#include <string.h>

#define LEAST_SINGLE 1e-6 /* largest permitted error of a value in single precision */
#define FAR 1e6 /* squared lengths beyond which expanded squared distances are not exact enough */
enum { LEAST_LESS = 32 /* zero columns are omitted if at least 1/32 of the columns is zero */ };

static size_t padded(size_t n) {
    return (n + DNI_PANEL - 1) / DNI_PANEL * DNI_PANEL;
}

static size_t n_panels(const dni_points *p) {
    return padded(p->n) / DNI_PANEL;
}

/* ---- memory ---- */
struct dense_shape {
    size_t n, d, panel_d; /* points, columns of the rows, columns of the panels */
    bool centred;
};

static void panels_layout(dni_layout *layout, const void *shape, void *work) {
    const struct dense_shape *s = shape;
    struct dni_dense *own = work;
    own->centre = s->centred ? dni_layout_doubles(layout, s->d) : NULL;
    own->row = s->centred ? dni_layout_doubles(layout, s->d) : NULL;
    own->columns = dni_layout_array(layout, s->d, sizeof *own->columns);
    own->panels = dni_layout_matrix(layout, padded(s->n), s->panel_d);
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
    struct dni_dense own;
    struct singles singles;
    const double panels = sizeof own + dni_layout_bytes(panels_layout, &dense, &own),
                 single = dense.centred ? dni_layout_bytes(singles_layout, &dense, &singles) : 0,
                 bits = dni_bits_memory(shape);
    return (dni_points_bytes){.kept = fmax(panels + single, bits),
                              .building = panels + fmax(single, bits)};
}

static double work_bound(const dni_rows_shape *shape, size_t n) {
    return fmax((double)dni_dense_scratch(shape->d, shape->d, n), dni_bits_work_bound(shape, n));
}

static void free_dense(dni_points *p) {
    struct dni_dense *own = p->own;
    if (own == NULL) {
        return;
    }
    dn_run_free(p->run, own->memory);
    dn_run_free(p->run, own->single_memory);
    dn_run_free(p->run, own);
    p->own = NULL;
    p->square_single = NULL;
}

/* Reserves panels of d columns. */
static dn_status make(dni_points *p, size_t d, dn_error *err) {
    const struct dense_shape shape = {p->n, p->d, d, p->form == DNI_FORM_SQUARE};
    void *memory;
    dn_status status =
        dn_run_alloc(p->run, 1, sizeof(struct dni_dense), "the points of a kernel", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    struct dni_dense *own = p->own = memory;
    own->d = d;
    return dni_layout_take(p->run, panels_layout, &shape, own, "the points of a kernel",
                           &own->memory, err);
}

static dn_status make_single_room(dni_points *p, dn_error *err) {
    struct dni_dense *own = p->own;
    const struct dense_shape shape = {.n = p->n, .panel_d = own->d};
    struct singles singles;
    dn_status status = dni_layout_take(p->run, singles_layout, &shape, &singles,
                                       "the points of a kernel", &own->single_memory, err);
    if (status != DN_OK) {
        return status;
    }
    own->singles = singles.panels;
    p->square_single = singles.square;
    return DN_OK;
}

static dn_status begin(dni_points *p, size_t n_entries, dn_error *err) {
    (void)n_entries;
    return make(p, p->d, err);
}

static void add(dni_points *p, size_t first, dn_matrix x) {
    struct dni_dense *own = p->own;
    for (size_t i = 0; i < x.n_rows; i++) {
        const dni_row row = dni_row_of(x, i);
        double *to = own->panels + dni_dense_lane(own, first + i);
        for (size_t e = 0; e < row.n; e++) {
            to[(row.cols == NULL ? e : row.cols[e]) * DNI_PANEL] = row.values[e];
        }
    }
}

/* ---- rows of 0 and 1 ---- */
/* *hits ← the mean number of common columns of two rows. */
static bool is_binary(const dni_points *p, double *hits) {
    const struct dni_dense *own = p->own;
    *hits = 0;
    for (size_t k = 0; k < p->d; k++) {
        double count = 0;
        for (size_t b = 0; b < n_panels(p); b++) {
            for (size_t l = 0; l < DNI_PANEL; l++) {
                const double x = own->panels[(b * p->d + k) * DNI_PANEL + l];
                if (x != 0 && x != 1) {
                    return false;
                }
                count += x;
            }
        }
        *hits += count / (double)p->n * count / (double)p->n;
    }
    return true;
}

static dn_status become_bits(dni_points *p, dn_error *err) {
    const struct dni_dense *own = p->own;
    struct dni_bits *bits;
    dn_status status = dni_bits_new(p, &bits, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < p->n; i++) {
        for (size_t k = 0; k < p->d; k++) {
            if (own->panels[dni_dense_lane(own, i) + k * DNI_PANEL] != 0) {
                dni_bits_set(bits, i, k);
            }
        }
    }
    free_dense(p);
    return dni_bits_become(p, bits, err);
}

/* ---- centring and scaling ---- */
static void find_centre(dni_points *p) {
    struct dni_dense *own = p->own;
    for (size_t b = 0; b < n_panels(p); b++) {
        for (size_t k = 0; k < p->d; k++) {
            double sum = 0;
            for (size_t l = 0; l < DNI_PANEL; l++) { /* lanes without a row are 0 */
                sum += own->panels[(b * p->d + k) * DNI_PANEL + l] / (double)p->n;
            }
            own->centre[k] += sum;
        }
    }
}

static dn_status map_rows(dni_points *p, dn_error *err) {
    struct dni_dense *own = p->own;
    for (size_t i = 0; i < p->n; i++) {
        double *z = own->panels + dni_dense_lane(own, i);
        for (size_t k = 0; k < p->d; k++) {
            own->row[k] = z[k * DNI_PANEL];
        }
        dni_dense_map(p, own->row);
        for (size_t k = 0; k < p->d; k++) {
            z[k * DNI_PANEL] = own->row[k];
        }
        dn_status status = i % DNI_PANEL == 0 ? dn_run_stop(p->run, err) : DN_OK;
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

static double square_of(const dni_points *p, size_t i) {
    const struct dni_dense *own = p->own;
    return p->lanes->square(own->panels + dni_dense_lane(own, i), p->d, DNI_PANEL);
}

static dn_status make_singles(dni_points *p, dn_error *err) {
    struct dni_dense *own = p->own;
    dn_status status = make_single_room(p, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t b = 0; b < n_panels(p); b++) {
        const size_t at = b * own->d * DNI_PANEL;
        for (size_t k = 0; k < own->d * DNI_PANEL; k++) {
            own->singles[at + k] = (float)own->panels[at + k];
        }
        for (size_t l = 0; l < DNI_PANEL; l++) {
            p->square_single[b * DNI_PANEL + l] =
                p->lanes->square_single(own->singles + at + l, own->d, DNI_PANEL);
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
    const struct dni_dense *own = p->own;
    for (size_t b = 0; b < n_panels(p); b++) {
        for (size_t l = 0; l < DNI_PANEL; l++) {
            if (own->panels[(b * own->d + k) * DNI_PANEL + l] != 0) {
                return false;
            }
        }
    }
    return true;
}

/* Moves the kept columns of every panel together. No column moves to a higher address. */
static dn_status leave_out_zeroes(dni_points *p, dn_error *err) {
    struct dni_dense *own = p->own;
    size_t kept = 0;
    dn_status status = DN_OK;
    own->kept = own->columns;
    for (size_t k = 0; k < p->d && status == DN_OK; k++) {
        if (!is_zero(p, k)) {
            own->kept[kept++] = (uint32_t)k;
        } else {
            status = dn_run_stop(p->run, err); /* one pass over all points is done */
        }
    }
    if (status != DN_OK) {
        return status;
    }
    if (p->d - kept < (p->d + LEAST_LESS - 1) / LEAST_LESS) {
        own->kept = NULL;
        return DN_OK;
    }
    for (size_t b = 0; b < n_panels(p) && status == DN_OK; b++) {
        for (size_t k = 0; k < kept; k++) {
            memmove(own->panels + (b * kept + k) * DNI_PANEL,
                    own->panels + (b * p->d + own->kept[k]) * DNI_PANEL,
                    DNI_PANEL * sizeof *own->panels);
        }
        status = dn_run_stop(p->run, err);
    }
    own->d = kept;
    return status;
}

/* ---- squares ---- */
/* Stores the squares, and decides how distances are computed and in which precision. */
static dn_status find_precision(dni_points *p, dn_error *err) {
    struct dni_dense *own = p->own;
    const bool squares = p->form != DNI_FORM_MANHATTAN && p->form != DNI_FORM_CHEBYSHEV;
    double most = 0;
    for (size_t i = 0; i < p->n; i++) {
        const double square = squares ? square_of(p, i) : 0;
        dn_status status = dni_points_check(p, i, square, err);
        if (status == DN_OK && i % DNI_PANEL == 0) {
            status = dn_run_stop(p->run, err);
        }
        if (status != DN_OK) {
            return status;
        }
        most = square > most ? square : most;
    }
    p->expanded = p->expanded && most <= FAR;
    own->greatest = 2 * LEAST_SINGLE * 0x1p24;
    dn_status status = dni_dense_of_products(p) ? leave_out_zeroes(p, err) : DN_OK;
    return status == DN_OK && p->expanded && most < own->greatest ? make_singles(p, err) : status;
}

static dn_status end(dni_points *p, dn_error *err) {
    struct dni_dense *own = p->own;
    double hits;
    if (is_binary(p, &hits) && dni_bits_pay(p, hits)) {
        return become_bits(p, err);
    }
    own->scale = p->kernel.type == DN_KERNEL_RBF ? 1 / p->kernel.width : 1;
    p->expanded = p->kernel.type == DN_KERNEL_RBF || p->kernel.type == DN_KERNEL_MAHALANOBIS;
    p->factor = p->expanded ? 0.5 : p->factor;
    if (own->centre != NULL) {
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
/* Copies lanes of other panels, column by column. */
#define GATHER(type, to, values)                                                                   \
    do {                                                                                           \
        const type *lanes[DNI_PANEL];                                                              \
        for (size_t l = 0; l < count; l++)                                                         \
            lanes[l] = (values) + dni_dense_lane(source, list[b * DNI_PANEL + l]);                 \
        for (size_t k = 0; k < own->d; k++)                                                        \
            for (size_t l = 0; l < count; l++)                                                     \
                (to)[(b * own->d + k) * DNI_PANEL + l] = lanes[l][k * DNI_PANEL];                  \
    } while (0)

static dn_status select_points(dni_points *p, const dni_points *from, const uint32_t *list,
                               dn_error *err) {
    const struct dni_dense *source = from->own;
    dn_status status = make(p, source->d, err);
    if (status == DN_OK && source->singles != NULL) {
        status = make_single_room(p, err);
    }
    if (status != DN_OK) {
        return status;
    }
    struct dni_dense *own = p->own;
    own->scale = source->scale;
    own->greatest = source->greatest;
    if (own->centre != NULL) {
        memcpy(own->centre, source->centre, p->d * sizeof *own->centre);
    }
    if (source->kept != NULL) {
        own->kept = memcpy(own->columns, source->columns, own->d * sizeof *own->columns);
    }
    for (size_t i = 0; source->singles != NULL && i < p->n; i++) {
        p->square_single[i] = from->square_single[list[i]];
    }
    for (size_t b = 0; b < n_panels(p); b++) {
        const size_t count = p->n - b * DNI_PANEL < DNI_PANEL ? p->n - b * DNI_PANEL : DNI_PANEL;
        GATHER(double, own->panels, source->panels);
        if (source->singles != NULL && own->singles != NULL) {
            GATHER(float, own->singles, source->singles);
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
                                               .take = dni_dense_take,
                                               .read = dni_dense_read,
                                               .values = dni_dense_values};
