/* Dense rows in panels of DNI_PANEL points, column after column, in double and, where that is exact enough, in float as well.
 *
 * Products are of the rows as they are. For squared distances rows are centred first, then scaled by the width or multiplied by the factor; ‖x‖² + ‖z‖² − 2 x'z of such rows is off by some 2⁻⁵³ of the greatest ‖x‖², and
 * where that would show (rows far out) the squares of the differences are added up instead, at half the speed. */
#include "kernels/layout.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

#define LEAST_SINGLE 1e-6 /* what float may be off by */
#define FAR 1e6           /* squares of lengths from which expanded distances would show their rounding */
enum { LINE = 64 };       /* bytes of a cache line */

struct dense {
    void *memory, *single_memory;
    double *panels;  /* [n_panels × d × DNI_PANEL] */
    float *singles;  /* the same; NULL: float is not exact enough */
    double *centre;  /* [d] subtracted from rows; NULL: nothing is */
    double greatest; /* a row with a greater ‖x‖² is not measured in float */
    double scale;    /* rows are multiplied with, without a factor */
};

static size_t n_panels(const dni_points *p) {
    return (p->n + DNI_PANEL - 1) / DNI_PANEL;
}

static void *aligned(void *memory) {
    return (char *)memory + (LINE - (uintptr_t)memory % LINE) % LINE;
}

static size_t lane(const dni_points *p, size_t i) {
    return i / DNI_PANEL * p->d * DNI_PANEL + i % DNI_PANEL;
}

static dn_status room(const dni_points *p, size_t size, void **out, dn_error *err) {
    size_t count = n_panels(p) * DNI_PANEL;
    if (p->d > 0 && count > SIZE_MAX / 4 / size / p->d)
        return dn_error_set(err, DN_ERR_MEMORY, "the points of a kernel, %zu rows of %zu columns, are more than can be addressed", p->n,
                            p->d);
    return dn_run_alloc(p->run, count * p->d * size + LINE, 1, "the points of a kernel", out, err);
}

static void free_dense(dni_points *p) {
    struct dense *own = p->own;
    if (own == NULL)
        return;
    dn_run_free(p->run, own->memory);
    dn_run_free(p->run, own->single_memory);
    dn_run_free(p->run, own->centre);
    dn_run_free(p->run, own);
    p->own = NULL;
}

static double memory(const dni_rows_shape *shape) {
    const double numbers = (shape->n + DNI_PANEL) * shape->d, single = sizeof(float) * numbers + 2 * sizeof(double) * shape->d;
    return fmax(sizeof(double) * numbers + fmax(single, dni_bits_beside(shape)), dni_bits_memory(shape)) + 4 * LINE;
}

static double work_memory(const dni_rows_shape *shape) {
    return fmax(sizeof(double) * shape->d * (1 + 1.5 * DNI_QUERIES), dni_bits_work_memory(shape));
}

static dn_status begin(dni_points *p, size_t n_entries, dn_error *err) {
    void *memory = NULL;
    (void)n_entries;
    dn_status status = dn_run_alloc(p->run, 1, sizeof(struct dense), "the points of a kernel", &memory, err);
    struct dense *own = p->own = memory;
    if (status == DN_OK)
        status = room(p, sizeof(double), &own->memory, err);
    if (status == DN_OK)
        own->panels = aligned(own->memory);
    return status;
}

static void add(dni_points *p, size_t first, dn_matrix x) {
    struct dense *own = p->own;
    for (size_t i = 0; i < x.n_rows; i++) {
        const dni_row row = dni_row_of(x, i);
        double *to = own->panels + lane(p, first + i);
        for (size_t e = 0; e < row.n; e++)
            to[(row.cols == NULL ? e : row.cols[e]) * DNI_PANEL] = row.values[e];
    }
}

/* ---- rows of 0 and 1 ------------------------------------------------------------------------------------------------------------------------ */
/* *hits ← how many columns two rows have in common, in the mean. */
static bool is_binary(const dni_points *p, double *hits) {
    const struct dense *own = p->own;
    *hits = 0;
    for (size_t k = 0; k < p->d; k++) {
        double count = 0;
        for (size_t b = 0; b < n_panels(p); b++)
            for (size_t l = 0; l < DNI_PANEL; l++) {
                const double x = own->panels[(b * p->d + k) * DNI_PANEL + l];
                if (x != 0 && x != 1)
                    return false;
                count += x;
            }
        *hits += count / (double)p->n * count / (double)p->n;
    }
    return true;
}

static dn_status become_bits(dni_points *p, dn_error *err) {
    const struct dense *own = p->own;
    uint64_t *bits;
    dn_status status = dni_bits_new(p, &bits, err);
    if (status != DN_OK)
        return status;
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < p->d; k++)
            if (own->panels[lane(p, i) + k * DNI_PANEL] != 0)
                dni_bits_set(bits, p->d, i, k);
    free_dense(p);
    return dni_bits_become(p, bits, err);
}

/* ---- centred, scaled ------------------------------------------------------------------------------------------------------------------------ */
static dn_status find_centre(dni_points *p, dn_error *err) {
    struct dense *own = p->own;
    void *centre;
    dn_status status = dn_run_alloc(p->run, p->d, sizeof(double), "the points of a kernel", &centre, err);
    if (status != DN_OK)
        return status;
    own->centre = centre;
    for (size_t b = 0; b < n_panels(p); b++)
        for (size_t k = 0; k < p->d; k++) {
            double sum = 0;
            for (size_t l = 0; l < DNI_PANEL; l++) /* what is not a row is 0 */
                sum += own->panels[(b * p->d + k) * DNI_PANEL + l] / (double)p->n;
            own->centre[k] += sum;
        }
    return DN_OK;
}

/* z [d], `stride` apart, ← A x for the lower triangular A */
static void times_factor(const double *a, size_t d, const double *x, double *z, size_t stride) {
    for (size_t i = 0; i < d; i++)
        z[i * stride] = dni_dot(a + i * d, x, i + 1);
}

/* z [d], `stride` apart, of the row x of d numbers in room, which is spoilt */
static void map_row(const dni_points *p, double *x, double *z, size_t stride) {
    const struct dense *own = p->own;
    for (size_t k = 0; own->centre != NULL && k < p->d; k++)
        x[k] -= own->centre[k];
    if (p->kernel.type == DN_KERNEL_MAHALANOBIS)
        times_factor(p->kernel.factor, p->d, x, z, stride);
    else
        for (size_t k = 0; k < p->d; k++)
            z[k * stride] = x[k] * own->scale;
}

static dn_status map_rows(dni_points *p, dn_error *err) {
    struct dense *own = p->own;
    void *memory = NULL;
    dn_status status = dn_run_alloc(p->run, p->d, sizeof(double), "the points of a kernel", &memory, err);
    double *x = memory;
    for (size_t i = 0; status == DN_OK && i < p->n; i++) {
        double *z = own->panels + lane(p, i);
        for (size_t k = 0; k < p->d; k++)
            x[k] = z[k * DNI_PANEL];
        map_row(p, x, z, DNI_PANEL);
        if (i % DNI_PANEL == 0)
            status = dn_run_stop(p->run, err);
    }
    dn_run_free(p->run, memory);
    return status;
}

static double square_of(const dni_points *p, size_t i) {
    const double *x = ((const struct dense *)p->own)->panels + lane(p, i);
    return p->lanes->square(x, p->d, DNI_PANEL);
}

static dn_status make_singles(dni_points *p, dn_error *err) {
    struct dense *own = p->own;
    void *square = NULL;
    dn_status status = room(p, sizeof(float), &own->single_memory, err);
    if (status == DN_OK)
        status = dn_run_alloc(p->run, n_panels(p) * DNI_PANEL, sizeof(double), "the points of a kernel", &square, err);
    if (status != DN_OK)
        return status;
    own->singles = aligned(own->single_memory);
    p->square_single = square;
    for (size_t b = 0; b < n_panels(p); b++) {
        const size_t at = b * p->d * DNI_PANEL;
        for (size_t k = 0; k < p->d * DNI_PANEL; k++)
            own->singles[at + k] = (float)own->panels[at + k];
        for (size_t l = 0; l < DNI_PANEL; l++)
            p->square_single[b * DNI_PANEL + l] = p->lanes->square_single(own->singles + at + l, p->d, DNI_PANEL);
        status = dn_run_stop(p->run, err);
        if (status != DN_OK)
            return status;
    }
    return DN_OK;
}

/* Squares and what follows from them: how distances are measured, and in what. */
static dn_status judge(dni_points *p, dn_error *err) {
    struct dense *own = p->own;
    const bool squares = p->form != DNI_FORM_MANHATTAN && p->form != DNI_FORM_CHEBYSHEV;
    double most = 0;
    for (size_t i = 0; i < p->n; i++) {
        const double square = squares ? square_of(p, i) : 0;
        dn_status status = dni_points_judge(p, i, square, err);
        if (status == DN_OK && i % DNI_PANEL == 0)
            status = dn_run_stop(p->run, err);
        if (status != DN_OK)
            return status;
        most = square > most ? square : most;
    }
    p->expanded = p->expanded && most <= FAR;
    own->greatest = 2 * LEAST_SINGLE * 0x1p24;
    return p->expanded && most < own->greatest ? make_singles(p, err) : DN_OK;
}

static dn_status end(dni_points *p, dn_error *err) {
    struct dense *own = p->own;
    double hits;
    dn_status status = DN_OK;
    if (is_binary(p, &hits) && dni_bits_pay(p, hits))
        return become_bits(p, err);
    own->scale = p->kernel.type == DN_KERNEL_RBF ? 1 / p->kernel.width : 1;
    p->expanded = p->kernel.type == DN_KERNEL_RBF || p->kernel.type == DN_KERNEL_MAHALANOBIS;
    p->factor = p->expanded ? 0.5 : p->factor;
    if (p->form == DNI_FORM_SQUARE)
        status = find_centre(p, err);
    if (status == DN_OK && p->form == DNI_FORM_SQUARE)
        status = map_rows(p, err);
    if (status == DN_OK)
        status = dni_points_room(p, false, err);
    return status == DN_OK ? judge(p, err) : status;
}

/* ---- queries -------------------------------------------------------------------------------------------------------------------------------- */
/* Work is a row, then the groups of queries, each in double and in float. */
static size_t group_size(const dni_points *p) {
    return p->d * (DNI_GROUP + DNI_GROUP / 2);
}

static size_t work(const dni_points *p, size_t n) {
    return p->d + (n + DNI_GROUP - 1) / DNI_GROUP * group_size(p);
}

static double *group_of(const dni_points *p, const dni_queries *queries, size_t q) {
    return queries->work + p->d + q / DNI_GROUP * group_size(p);
}

static float *single_group_of(const dni_points *p, const dni_queries *queries, size_t q) {
    return (float *)(void *)(group_of(p, queries, q) + p->d * DNI_GROUP);
}

static void take(const dni_points *p, const dni_points *from, size_t i, bool single, dni_queries *queries) {
    const struct dense *source = from->own;
    const size_t q = queries->n++;
    const double *x = source->panels + lane(from, i);
    double *to = group_of(p, queries, q) + q % DNI_GROUP;
    dni_query *query = &queries->of[q];
    *query = (dni_query){.single = single && source->singles != NULL};
    if (query->single) {
        const float *from_single = source->singles + lane(from, i);
        float *single_to = single_group_of(p, queries, q) + q % DNI_GROUP;
        for (size_t k = 0; k < p->d; k++)
            single_to[k * DNI_GROUP] = from_single[k * DNI_PANEL];
        query->square = from->square_single[i];
        return;
    }
    for (size_t k = 0; k < p->d; k++)
        to[k * DNI_GROUP] = x[k * DNI_PANEL];
    query->square = from->square == NULL ? 0 : from->square[i];
    query->self = from->self == NULL ? 1 : from->self[i];
}

static void read_row(const dni_points *p, dni_row row, bool single, dni_queries *queries) {
    const struct dense *own = p->own;
    const size_t q = queries->n++;
    double *x = queries->work, *to = group_of(p, queries, q) + q % DNI_GROUP;
    dni_query *query = &queries->of[q];
    memset(x, 0, p->d * sizeof *x);
    for (size_t e = 0; e < row.n; e++)
        x[row.cols == NULL ? e : row.cols[e]] = row.values[e];
    if (p->form == DNI_FORM_SQUARE)
        map_row(p, x, to, DNI_GROUP);
    else
        for (size_t k = 0; k < p->d; k++)
            to[k * DNI_GROUP] = x[k];
    *query = (dni_query){.square = p->lanes->square(to, p->d, DNI_GROUP)};
    query->self = p->form == DNI_FORM_PRODUCT ? dni_kernel_of_product(&p->kernel, query->square) : 1;
    query->single = single && own->singles != NULL && query->square < own->greatest;
    if (query->single) {
        float *single_to = single_group_of(p, queries, q) + q % DNI_GROUP;
        for (size_t k = 0; k < p->d; k++)
            single_to[k * DNI_GROUP] = (float)to[k * DNI_GROUP];
        query->square = p->lanes->square_single(single_to, p->d, DNI_GROUP);
    }
}

static void measure_exact(const dni_points *p, const dni_queries *queries, size_t panel, double *measure) {
    const struct dense *own = p->own;
    const double *points = own->panels + panel * p->d * DNI_PANEL, *groups = group_of(p, queries, 0);
    if (p->expanded || p->form == DNI_FORM_PRODUCT || p->form == DNI_FORM_COSINE)
        p->lanes->products(points, groups, group_size(p), p->d, queries->n, measure);
    else
        p->lanes->distances(p->form, points, groups, group_size(p), p->d, queries->n, measure);
}

/* measure [queries × DNI_PANEL], in what each query is measured in. */
static void measure_panel(const dni_points *p, const dni_queries *queries, size_t panel, double *measure) {
    const struct dense *own = p->own;
    double exact[DNI_QUERIES * DNI_PANEL];
    size_t n_single = 0;
    for (size_t q = 0; q < queries->n; q++)
        n_single += queries->of[q].single;
    if (n_single > 0)
        p->lanes->products_single(own->singles + panel * p->d * DNI_PANEL, single_group_of(p, queries, 0), 2 * group_size(p), p->d,
                                  queries->n, measure);
    else
        measure_exact(p, queries, panel, measure);
    if (n_single == 0 || n_single == queries->n)
        return;
    measure_exact(p, queries, panel, exact);
    for (size_t q = 0; q < queries->n; q++)
        if (!queries->of[q].single)
            memcpy(measure + q * DNI_PANEL, exact + q * DNI_PANEL, DNI_PANEL * sizeof *measure);
}

/* A whole panel's values, of which lanes low … high − 1 are wanted at `to` and behind. */
static void finish(const dni_points *p, const dni_query *query, size_t panel, size_t low, size_t high, double *measure, dni_wanted wanted,
                   size_t to) {
    float single[DNI_PANEL];
    double exact[DNI_PANEL];
    dni_wanted whole = {.single = wanted.single == NULL ? NULL : single,
                        .exact = wanted.exact == NULL ? NULL : exact,
                        .distances = wanted.distances};
    dni_values_of(p, query, panel * DNI_PANEL, DNI_PANEL, measure, whole, 0);
    if (wanted.single != NULL)
        memcpy(wanted.single + to, single + low, (high - low) * sizeof *single);
    if (wanted.exact != NULL)
        memcpy(wanted.exact + to, exact + low, (high - low) * sizeof *exact);
}

static void values(const dni_points *p, const dni_queries *queries, size_t first, size_t n, dni_wanted wanted) {
    double measure[DNI_QUERIES * DNI_PANEL];
    for (size_t panel = first / DNI_PANEL; panel * DNI_PANEL < first + n; panel++) {
        const size_t start = panel * DNI_PANEL, low = start < first ? first - start : 0;
        const size_t high = first + n - start < DNI_PANEL ? first + n - start : DNI_PANEL;
        measure_panel(p, queries, panel, measure);
        for (size_t q = 0; q < queries->n; q++)
            finish(p, &queries->of[q], panel, low, high, measure + q * DNI_PANEL, wanted, q * wanted.stride + start + low - first);
    }
}

/* ---- selections ----------------------------------------------------------------------------------------------------------------------------- */
/* Lanes of a panel from wherever they are, column by column. */
#define GATHER(type, to, source)                                                                                                           \
    do {                                                                                                                                   \
        const type *lanes[DNI_PANEL];                                                                                                      \
        for (size_t l = 0; l < count; l++)                                                                                                 \
            lanes[l] = (source) + lane(from, list[b * DNI_PANEL + l]);                                                                     \
        for (size_t k = 0; k < p->d; k++)                                                                                                  \
            for (size_t l = 0; l < count; l++)                                                                                             \
                (to)[(b * p->d + k) * DNI_PANEL + l] = lanes[l][k * DNI_PANEL];                                                            \
    } while (0)

static dn_status select_points(dni_points *p, const dni_points *from, const uint32_t *list, dn_error *err) {
    const struct dense *source = from->own;
    dn_status status = begin(p, SIZE_MAX, err);
    struct dense *own = p->own;
    void *centre = NULL;
    if (status == DN_OK && source->singles != NULL)
        status = room(p, sizeof(float), &own->single_memory, err);
    if (status == DN_OK && source->centre != NULL)
        status = dn_run_alloc(p->run, p->d, sizeof(double), "the points of a kernel", &centre, err);
    if (status != DN_OK)
        return status;
    own->scale = source->scale;
    own->greatest = source->greatest;
    own->centre = centre;
    if (centre != NULL)
        memcpy(centre, source->centre, p->d * sizeof(double));
    own->singles = source->singles == NULL ? NULL : aligned(own->single_memory);
    for (size_t b = 0; b < n_panels(p); b++) {
        const size_t count = p->n - b * DNI_PANEL < DNI_PANEL ? p->n - b * DNI_PANEL : DNI_PANEL;
        GATHER(double, own->panels, source->panels);
        if (own->singles != NULL)
            GATHER(float, own->singles, source->singles);
        status = dn_run_stop(p->run, err);
        if (status != DN_OK)
            return status;
    }
    return DN_OK;
}

const dni_layout dni_layout_dense = {.memory = memory,
                                     .work_memory = work_memory,
                                     .begin = begin,
                                     .add = add,
                                     .end = end,
                                     .free = free_dense,
                                     .select = select_points,
                                     .work = work,
                                     .take = take,
                                     .read = read_row,
                                     .values = values};
