/* Fisher's criterion over the angle (projection.h). The class means and the scatter matrices are
 * computed once. The maximum is the greatest eigenvalue of L⁻¹ S_B L⁻ᵀ with S_W = L Lᵀ. */
#include "base/argument.h"
#include "base/layout.h"
#include "evaluate/evaluate_table.h"
#include "model/model_impl.h"
#include <discern/projection.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_ANGLES = 181, POLL_ROWS = 65536 };
/* S_W is singular if 1 − r² is at most this, r the correlation of the columns within the
 * classes. */
#define SINGULAR 1e-14

/* A symmetric 2 × 2 matrix. */
struct symmetric {
    double xx, xy, yy;
};

struct shape {
    size_t n_rows, n_classes;
};

struct work {
    double *x, *y;           /* [n_rows] the columns */
    double *weight;          /* [n_classes] n_k */
    double *mean_x, *mean_y; /* [n_classes] m_k */
};

struct projection {
    const dn_table_source *source;
    const dn_run *run;
    const dn_projection_options *options;
    dni_model_labels labels;
    struct work work;
    size_t n_classes;
    struct symmetric between, within;
    dn_projection *out;
};

static void work_layout(dni_layout *layout, const void *shape, void *out) {
    const struct shape *s = shape;
    struct work *w = out;
    w->x = dni_layout_doubles(layout, s->n_rows);
    w->y = dni_layout_doubles(layout, s->n_rows);
    w->weight = dni_layout_doubles(layout, s->n_classes);
    w->mean_x = dni_layout_doubles(layout, s->n_classes);
    w->mean_y = dni_layout_doubles(layout, s->n_classes);
}

static double product(const struct symmetric *m, double x, double y) {
    return m->xx * x * x + 2 * m->xy * x * y + m->yy * y * y;
}

static void add_square(struct symmetric *m, double weight, double x, double y) {
    m->xx += weight * x * x;
    m->xy += weight * x * y;
    m->yy += weight * y * y;
}

/* out [n_rows] ← a numeric column. */
static dn_status read_column(const struct projection *p, const char *name, double *out,
                             dn_error *err) {
    const dn_table_source *source = p->source;
    size_t column = 0;
    while (column < source->n_cols && strcmp(source->columns[column].name, name) != 0) {
        column++;
    }
    if (column == source->n_cols) {
        return dni_error_at(dn_error_set(err, DN_ERR_DATA, "the data have no column \"%.128s\"",
                                         name),
                            name, -1, err);
    }
    if (source->columns[column].type != DN_NUMERIC) {
        return dni_error_at(dn_error_set(err, DN_ERR_DATA, "column \"%.128s\" must be numeric",
                                         name),
                            name, -1, err);
    }
    for (size_t c = 0; c < source->n_chunks; c++) {
        dn_column_view view;
        dn_status status = dn_run_stop(p->run, err);
        if (status == DN_OK) {
            status = source->column(source, c, column, 0, &view, err);
        }
        if (status != DN_OK) {
            return status;
        }
        memcpy(out + source->chunk_first_row[c], view.number, view.n_rows * sizeof *out);
    }
    return DN_OK;
}

/* Returns the weight of a row; 0: the row is ignored. */
static double weight_of(const struct projection *p, size_t i) {
    const bool used =
        p->labels.role[i] == DN_ROW_VALIDATE && !isnan(p->work.x[i]) && !isnan(p->work.y[i]);
    return !used ? 0 : p->labels.weight == NULL ? 1 : p->labels.weight[i];
}

/* Computes n_k, m_k and S_B. */
static dn_status sum_classes(struct projection *p, dn_error *err) {
    const struct work *w = &p->work;
    double n = 0, mean_x = 0, mean_y = 0;
    for (size_t i = 0; i < p->source->n_rows; i++) {
        const double weight = weight_of(p, i);
        dn_status status = i % POLL_ROWS == 0 ? dn_run_stop(p->run, err) : DN_OK;
        if (status != DN_OK) {
            return status;
        }
        if (weight > 0) {
            const size_t k = (size_t)p->labels.index[i];
            w->weight[k] += weight;
            w->mean_x[k] += weight * w->x[i];
            w->mean_y[k] += weight * w->y[i];
            p->out->n_rows++;
        }
    }
    if (p->out->n_rows == 0) {
        return dn_error_set(err, DN_ERR_DATA,
                            "no row has a class of the model and values of both columns");
    }
    for (size_t k = 0; k < p->n_classes; k++) {
        n += w->weight[k];
        mean_x += w->mean_x[k];
        mean_y += w->mean_y[k];
        w->mean_x[k] /= w->weight[k] > 0 ? w->weight[k] : 1;
        w->mean_y[k] /= w->weight[k] > 0 ? w->weight[k] : 1;
    }
    for (size_t k = 0; k < p->n_classes; k++) {
        add_square(&p->between, w->weight[k], w->mean_x[k] - mean_x / n, w->mean_y[k] - mean_y / n);
    }
    return DN_OK;
}

/* Computes S_W. */
static dn_status sum_scatter(struct projection *p, dn_error *err) {
    const struct work *w = &p->work;
    for (size_t i = 0; i < p->source->n_rows; i++) {
        const double weight = weight_of(p, i);
        dn_status status = i % POLL_ROWS == 0 ? dn_run_stop(p->run, err) : DN_OK;
        if (status != DN_OK) {
            return status;
        }
        if (weight > 0) {
            const size_t k = (size_t)p->labels.index[i];
            add_square(&p->within, weight, w->x[i] - w->mean_x[k], w->y[i] - w->mean_y[k]);
        }
    }
    const struct symmetric *m = &p->within;
    if (!isfinite(m->xx) || !isfinite(m->yy) || !isfinite(p->between.xx) ||
        !isfinite(p->between.yy)) {
        return dn_error_set(err, DN_ERR_DATA,
                            "the values are so large that their squares overflow");
    }
    const double r = m->xy / sqrt(m->xx) / sqrt(m->yy);
    if (!(m->xx > 0) || !(m->yy > 0) || !(1 - r * r > SINGULAR)) {
        return dn_error_set(err, DN_ERR_DATA,
                            "the scatter of the columns within the classes is singular: Fisher's "
                            "criterion has no maximum in this plane");
    }
    return DN_OK;
}

static double criterion(const struct projection *p, double x, double y) {
    return product(&p->between, x, y) / product(&p->within, x, y);
}

/* u ← (cos, sin) of an angle from −π to π, with the tangent of its half: compilers replace sin and
 * cos of one angle by sincos, which ISO C does not have. */
static void set_direction(double angle, double u[2]) {
    const double t = tan(angle / 2);
    u[0] = (1 - t * t) / (1 + t * t);
    u[1] = 2 * t / (1 + t * t);
}

/* Finds the direction of the maximum: u = L⁻ᵀ v, v the first eigenvector of A = L⁻¹ S_B L⁻ᵀ. */
static void find_best(const struct projection *p) {
    const struct symmetric *b = &p->between, *w = &p->within;
    const double l11 = sqrt(w->xx), t = w->xy / w->xx, l22 = sqrt(w->yy - w->xy * t);
    const double a11 = b->xx / w->xx, a12 = (b->xy - t * b->xx) / (l11 * l22),
                 a22 = (b->yy - 2 * t * b->xy + t * t * b->xx) / (l22 * l22);
    const double pi = acos(-1);
    double v[2];
    set_direction(atan2(2 * a12, a11 - a22) / 2, v);
    const double y = v[1] / l22, x = v[0] / l11 - t * y, angle = atan2(y, x);
    p->out->best_angle = angle < 0 ? angle + pi : angle < pi ? angle : 0;
    p->out->best_value = criterion(p, x, y);
}

static void fill_curve(const struct projection *p) {
    const double pi = acos(-1);
    for (size_t i = 0; i < p->out->n_angles; i++) {
        const double angle = pi * (double)i / (double)(p->out->n_angles - 1);
        p->out->angle[i] = angle;
        double u[2];
        set_direction(angle, u);
        p->out->value[i] = criterion(p, u[0], u[1]);
    }
}

static dn_status measure(struct projection *p, const dn_model *model, const char *truth,
                         dn_error *err) {
    const struct shape shape = {p->source->n_rows, p->n_classes};
    void *memory = NULL;
    dn_status status =
        dni_model_labels_read(model, p->source, truth, p->options->weight, p->run, &p->labels, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status =
        dni_layout_take(p->run, work_layout, &shape, &p->work, "the two columns", &memory, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = read_column(p, p->options->column[0], p->work.x, err);
    if (status == DN_OK) {
        status = read_column(p, p->options->column[1], p->work.y, err);
    }
    if (status == DN_OK) {
        status = sum_classes(p, err);
    }
    if (status == DN_OK) {
        status = sum_scatter(p, err);
    }
    if (status == DN_OK) {
        find_best(p);
        fill_curve(p);
    }
cleanup:
    dn_run_free(p->run, memory);
    dn_run_free(p->run, p->labels.memory);
    return status;
}

static dn_projection *projection_new(size_t n_angles) {
    dn_projection *out = calloc(1, sizeof *out);
    if (out == NULL) {
        return NULL;
    }
    out->n_angles = n_angles;
    out->angle = calloc(n_angles, sizeof *out->angle);
    out->value = calloc(n_angles, sizeof *out->value);
    if (out->angle == NULL || out->value == NULL) {
        dn_projection_free(out);
        return NULL;
    }
    return out;
}

static dn_status check(const dn_model *model, const dn_table_source *source,
                       const dn_projection_options *options, const dn_run *run, dn_error *err) {
    dn_status status = dni_argument_call(source, run, options->struct_size, sizeof *options, err);
    if (status != DN_OK) {
        return status;
    }
    if (options->column[0] == NULL || options->column[1] == NULL ||
        strcmp(options->column[0], options->column[1]) == 0) {
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                         "columns must be the names of two different columns"),
                            "columns", -1, err);
    }
    if (options->n_angles == 1 || options->n_angles > DN_MAX_ANGLES) {
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                         "the number of angles must be from 2 to %d (got %zu)",
                                         DN_MAX_ANGLES, options->n_angles),
                            "angles", -1, err);
    }
    if (options->target == NULL && dn_model_target(model) == NULL) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "the model has no target: set the column of the true classes");
    }
    return DN_OK;
}

dn_status dn_model_projection(const dn_model *model, const dn_table_source *source,
                              const dn_projection_options *options, const dn_run *run,
                              dn_projection **out, dn_error *err) {
    const dn_run serial = dn_run_default();
    if (model == NULL || options == NULL || out == NULL) {
        return dni_argument_null(model == NULL     ? "model"
                                 : options == NULL ? "options"
                                                   : "out",
                                 err);
    }
    dn_status status = check(model, source, options, run, err);
    if (status != DN_OK) {
        return status;
    }
    struct projection p = {.source = source,
                           .run = run == NULL ? &serial : run,
                           .options = options,
                           .n_classes = dn_model_classes(model)->n};
    p.out = projection_new(options->n_angles == 0 ? DEFAULT_ANGLES : options->n_angles);
    if (p.out == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the curve");
    }
    status =
        measure(&p, model, options->target == NULL ? dn_model_target(model) : options->target, err);
    if (status != DN_OK) {
        dn_projection_free(p.out);
        return status;
    }
    *out = p.out;
    return DN_OK;
}

void dn_projection_free(dn_projection *projection) {
    if (projection == NULL) {
        return;
    }
    free(projection->angle);
    free(projection->value);
    free(projection);
}
