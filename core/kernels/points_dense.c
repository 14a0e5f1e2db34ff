/* Dense rows in panels of DNI_PANEL points, column after column, in double precision and, if that
 * is exact enough, in single precision too.
 *
 * Products are those of the rows themselves. For squared distances the rows are centred, then
 * scaled by the width or multiplied by the factor. ‖x‖² + ‖z‖² − 2 x'z of such rows has an error of
 * some 2⁻⁵³ of the largest ‖x‖²; if that is too large (rows far from the centre) the squared
 * differences are added instead, at half the speed. Columns in which all points are then 0
 * contribute nothing to products and are omitted from the panels if there are enough of them. */
#include "kernels/points_dense.h"

#include <math.h>
#include <string.h>

#define LEAST_SINGLE 1e-6 /* largest error of single precision */
#define FAR 1e6 /* squared lengths beyond which expanded squared distances are not exact enough */
enum {
    LINE = 64,      /* bytes of a cache line */
    LEAST_LESS = 32 /* columns are omitted if at least this part of them is 0 */
};

static size_t n_panels(const dni_points *p) {
    return (p->n + DNI_PANEL - 1) / DNI_PANEL;
}

static void *aligned(void *memory) {
    return (char *)memory + (LINE - (uintptr_t)memory % LINE) % LINE;
}

static dn_status room(const dni_points *p, size_t size, void **out, dn_error *err) {
    const size_t count = n_panels(p) * DNI_PANEL, d = ((const struct dni_dense *)p->own)->d;
    if (d > 0 && count > SIZE_MAX / 4 / size / d) {
        return dn_error_set(
            err, DN_ERR_MEMORY,
            "the points of a kernel, %zu rows of %zu columns, are more than can be addressed", p->n,
            d);
    }
    return dn_run_alloc(p->run, count * d * size + LINE, 1, "the points of a kernel", out, err);
}

static void free_dense(dni_points *p) {
    struct dni_dense *own = p->own;
    if (own == NULL) {
        return;
    }
    dn_run_free(p->run, own->memory);
    dn_run_free(p->run, own->single_memory);
    dn_run_free(p->run, own->centre);
    dn_run_free(p->run, own->kept);
    dn_run_free(p->run, own);
    p->own = NULL;
}

static double memory(const dni_rows_shape *shape) {
    const double numbers = (shape->n + DNI_PANEL) * shape->d;
    const double single =
        sizeof(float) * numbers + (2 * sizeof(double) + sizeof(uint32_t)) * shape->d;
    return fmax(sizeof(double) * numbers + fmax(single, dni_bits_beside(shape)),
                dni_bits_memory(shape)) +
           4 * LINE;
}

static double work_memory(const dni_rows_shape *shape) {
    return fmax(sizeof(double) * shape->d * (1 + 1.5 * DNI_QUERIES), dni_bits_work_memory(shape));
}

/* Reserves panels of d columns. */
static dn_status make(dni_points *p, size_t d, dn_error *err) {
    void *memory = NULL;
    dn_status status =
        dn_run_alloc(p->run, 1, sizeof(struct dni_dense), "the points of a kernel", &memory, err);
    struct dni_dense *own = p->own = memory;
    if (status != DN_OK) {
        return status;
    }
    own->d = d;
    status = room(p, sizeof(double), &own->memory, err);
    if (status == DN_OK) {
        own->panels = aligned(own->memory);
    }
    return status;
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
    uint64_t *bits;
    dn_status status = dni_bits_new(p, &bits, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < p->n; i++) {
        for (size_t k = 0; k < p->d; k++) {
            if (own->panels[dni_dense_lane(own, i) + k * DNI_PANEL] != 0) {
                dni_bits_set(bits, p->d, i, k);
            }
        }
    }
    free_dense(p);
    return dni_bits_become(p, bits, err);
}

/* ---- centring and scaling ---- */
static dn_status find_centre(dni_points *p, dn_error *err) {
    struct dni_dense *own = p->own;
    void *centre;
    dn_status status =
        dn_run_alloc(p->run, p->d, sizeof(double), "the points of a kernel", &centre, err);
    if (status != DN_OK) {
        return status;
    }
    own->centre = centre;
    for (size_t b = 0; b < n_panels(p); b++) {
        for (size_t k = 0; k < p->d; k++) {
            double sum = 0;
            for (size_t l = 0; l < DNI_PANEL; l++) { /* lanes without a row are 0 */
                sum += own->panels[(b * p->d + k) * DNI_PANEL + l] / (double)p->n;
            }
            own->centre[k] += sum;
        }
    }
    return DN_OK;
}

static dn_status map_rows(dni_points *p, dn_error *err) {
    struct dni_dense *own = p->own;
    void *memory = NULL;
    dn_status status =
        dn_run_alloc(p->run, p->d, sizeof(double), "the points of a kernel", &memory, err);
    double *x = memory;
    for (size_t i = 0; status == DN_OK && i < p->n; i++) {
        double *z = own->panels + dni_dense_lane(own, i);
        for (size_t k = 0; k < p->d; k++) {
            x[k] = z[k * DNI_PANEL];
        }
        dni_dense_map(p, x);
        for (size_t k = 0; k < p->d; k++) {
            z[k * DNI_PANEL] = x[k];
        }
        if (i % DNI_PANEL == 0) {
            status = dn_run_stop(p->run, err);
        }
    }
    dn_run_free(p->run, memory);
    return status;
}

static double square_of(const dni_points *p, size_t i) {
    const struct dni_dense *own = p->own;
    return p->lanes->square(own->panels + dni_dense_lane(own, i), p->d, DNI_PANEL);
}

static dn_status make_singles(dni_points *p, dn_error *err) {
    struct dni_dense *own = p->own;
    void *square = NULL;
    dn_status status = room(p, sizeof(float), &own->single_memory, err);
    if (status == DN_OK) {
        status = dn_run_alloc(p->run, n_panels(p) * DNI_PANEL, sizeof(double),
                              "the points of a kernel", &square, err);
    }
    if (status != DN_OK) {
        return status;
    }
    own->singles = aligned(own->single_memory);
    p->square_single = square;
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

/* Moves the kept columns of every panel together; none moves to a higher address. */
static dn_status leave_out_zeroes(dni_points *p, dn_error *err) {
    struct dni_dense *own = p->own;
    void *memory;
    size_t kept = 0;
    dn_status status =
        dn_run_alloc(p->run, p->d, sizeof *own->kept, "the points of a kernel", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    own->kept = memory;
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
        dn_run_free(p->run, own->kept);
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
static dn_status judge(dni_points *p, dn_error *err) {
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
    dn_status status = DN_OK;
    if (is_binary(p, &hits) && dni_bits_pay(p, hits)) {
        return become_bits(p, err);
    }
    own->scale = p->kernel.type == DN_KERNEL_RBF ? 1 / p->kernel.width : 1;
    p->expanded = p->kernel.type == DN_KERNEL_RBF || p->kernel.type == DN_KERNEL_MAHALANOBIS;
    p->factor = p->expanded ? 0.5 : p->factor;
    if (p->form == DNI_FORM_SQUARE) {
        status = find_centre(p, err);
    }
    if (status == DN_OK && p->form == DNI_FORM_SQUARE) {
        status = map_rows(p, err);
    }
    if (status == DN_OK) {
        status = dni_points_reserve(p, false, err);
    }
    return status == DN_OK ? judge(p, err) : status;
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
    struct dni_dense *own = p->own;
    void *centre = NULL, *kept = NULL;
    if (status == DN_OK && source->singles != NULL) {
        status = room(p, sizeof(float), &own->single_memory, err);
    }
    if (status == DN_OK && source->centre != NULL) {
        status = dn_run_alloc(p->run, p->d, sizeof(double), "the points of a kernel", &centre, err);
    }
    if (status == DN_OK) {
        own->centre = centre;
    }
    if (status == DN_OK && source->kept != NULL) {
        status =
            dn_run_alloc(p->run, own->d, sizeof *own->kept, "the points of a kernel", &kept, err);
    }
    if (status != DN_OK) {
        return status;
    }
    own->kept = kept;
    own->scale = source->scale;
    own->greatest = source->greatest;
    if (centre != NULL) {
        memcpy(centre, source->centre, p->d * sizeof(double));
    }
    if (kept != NULL) {
        memcpy(kept, source->kept, own->d * sizeof *own->kept);
    }
    own->singles = source->singles == NULL ? NULL : aligned(own->single_memory);
    for (size_t b = 0; b < n_panels(p); b++) {
        const size_t count = p->n - b * DNI_PANEL < DNI_PANEL ? p->n - b * DNI_PANEL : DNI_PANEL;
        GATHER(double, own->panels, source->panels);
        if (own->singles != NULL) {
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
                                               .work_memory = work_memory,
                                               .begin = begin,
                                               .add = add,
                                               .end = end,
                                               .free = free_dense,
                                               .select = select_points,
                                               .work = dni_dense_work,
                                               .take = dni_dense_take,
                                               .read = dni_dense_read,
                                               .values = dni_dense_values};
