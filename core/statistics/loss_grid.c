/* The error surface over one or two weights (loss_grid.h).
 *
 * A row is scored once, with 0 for the weights that vary. It becomes a `line`, from which the loss
 * at a point (a, b) of the grid follows in O(1): the score that varies is s = base + a x + b y. The
 * scores of the other classes enter the line as constants. */
#include "base/argument.h"
#include "base/layout.h"
#include "evaluate/evaluate_table.h"
#include "learners/shared/linear/linear_loss.h"
#include "learners/shared/linear/target_coding.h"
#include "linalg/tile.h"
#include "linalg/tiles.h"
#include "linalg/vector.h"
#include "machine/linear.h"
#include "machine/probability.h"
#include "model/model_impl.h"
#include <discern/loss_grid.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct line {
    double sign;       /* 1: the row belongs to the class of the score, otherwise −1 */
    double base, x, y; /* the score that varies is base + a x + b y */
    double weight;
    double p, q; /* constants of the loss; see the functions `prepare` */
};

struct grid;

/* A loss. prepare: sets base, p and q of a line from the scores g of the row, of which g[moving]
 * has 0 for the weights that vary. value: the loss for the score s. */
struct loss {
    void (*prepare)(const struct grid *grid, const double *g, size_t truth, struct line *line);
    double (*value)(const struct line *line, double s);
};

struct shape {
    size_t n_scores, n_features, n_slots, n_sums;
};

struct work {
    double *raw;        /* [n_scores × (n_features + 1)] the weights that do not vary */
    double *table;      /* the same for encoded rows (linalg/tile.h) */
    double *scores;     /* [n_slots × DNI_TILE_ROWS × n_scores] */
    double *sums;       /* [n_points + 2] Σ vℓ at each point, Σ v, number of rows */
    struct line *lines; /* [n_slots × DNI_TILE_ROWS] */
};

struct grid {
    const dn_model *model;
    const dn_run *run;
    const dn_loss_grid_options *options;
    const struct loss *loss;
    size_t n_scores, moving;   /* number of scores of a row: K, or 1; index of the score that
                                * varies */
    size_t positive, negative; /* classes of one score; negative SIZE_MAX: all others */
    size_t n_points;
    dni_target_coding coding; /* coding of the targets; least_squares only */
    struct work work;
    dn_loss_grid *out;
};

static void work_layout(dni_layout *layout, const void *shape, void *out) {
    const struct shape *s = shape;
    struct work *w = out;
    w->raw = dni_layout_matrix(layout, s->n_scores, s->n_features + 1);
    w->table = dni_layout_matrix(layout, s->n_scores, s->n_features + 1);
    w->scores = dni_layout_matrix(layout, s->n_slots * DNI_TILE_ROWS, s->n_scores);
    w->sums = dni_layout_doubles(layout, s->n_sums);
    w->lines = dni_layout_array(layout, s->n_slots * DNI_TILE_ROWS, sizeof *w->lines);
}

/* ---- losses ---- */
static double sigmoid(double g) {
    double p[2];
    dni_sigmoid(g, p);
    return p[1];
}

/* Returns ln(1 + e^z). */
static double softplus(double z) {
    return z > 0 ? z + log1p(exp(-z)) : log1p(exp(z));
}

/* Returns the target of score k for a row of class `truth`. With one score k is 0. */
static double target_of(const struct grid *g, size_t k, size_t truth) {
    const size_t class = g->n_scores > 1 ? truth : truth == g->positive;
    return g->coding.scale * dni_squares_target(g->n_scores, k, class) + g->coding.shift;
}

/* Returns the greatest of the scores other than i and j. */
static double greatest_other(const struct grid *grid, const double *g, size_t i, size_t j) {
    double greatest = -(double)INFINITY;
    for (size_t k = 0; k < grid->n_scores; k++) {
        greatest = k != i && k != j && g[k] > greatest ? g[k] : greatest;
    }
    return greatest;
}

static void one_score(const struct grid *grid, const double *g, size_t truth, struct line *line) {
    (void)grid;
    (void)truth;
    line->base = g[0];
    line->p = line->q = 0;
}

/* Let m be the class of the score that varies and c the class of the row. base: g_m − ln Σ_{k≠m}
 * e^{g_k}, g_m without the weights that vary. p: the term ln Σ_{k≠m} e^{g_k − g_c} that is added to
 * the loss if c ≠ m, otherwise 0. */
static void entropy_prepare(const struct grid *grid, const double *g, size_t truth,
                            struct line *line) {
    const double greatest = greatest_other(grid, g, grid->moving, SIZE_MAX);
    double sum = 0;
    for (size_t k = 0; k < grid->n_scores; k++) {
        sum += k == grid->moving ? 0 : exp(g[k] - greatest);
    }
    line->base = g[grid->moving] - (greatest + log(sum));
    line->p = truth == grid->moving ? 0 : greatest - g[truth] + log(sum);
    line->q = 0;
}

static double entropy_value(const struct line *line, double s) {
    return softplus(-line->sign * s) + line->p;
}

static double probability_value(const struct line *line, double s) {
    const double miss = sigmoid(-line->sign * s);
    return miss * miss / 2;
}

/* p: Σ π_k², q: Σ π_k, both over the classes k other than m and c. π is the softmax without class
 * m, so that p_k = (1 − p_m) π_k for k ≠ m. base, m and c as in entropy_prepare. */
static void probabilities_prepare(const struct grid *grid, const double *g, size_t truth,
                                  struct line *line) {
    const double greatest = greatest_other(grid, g, grid->moving, SIZE_MAX);
    double sum = 0, others = 0, squares = 0;
    for (size_t k = 0; k < grid->n_scores; k++) {
        const double e = k == grid->moving ? 0 : exp(g[k] - greatest);
        sum += e;
        others += k == truth ? 0 : e;
        squares += k == truth ? 0 : e * e;
    }
    line->base = g[grid->moving] - (greatest + log(sum));
    line->p = squares / (sum * sum);
    line->q = others / sum;
}

/* If c ≠ m, 1 − p_c is computed as p_m + (1 − p_m)(1 − π_c), without cancellation. */
static double probabilities_value(const struct line *line, double s) {
    const double rest = sigmoid(-s), own = sigmoid(s), miss = own + rest * line->q;
    return line->sign > 0 ? rest * rest * (1 + line->p) / 2
                          : (own * own + rest * rest * line->p + miss * miss) / 2;
}

/* p: the target of the score that varies; q: the loss of the other scores. */
static void squares_prepare(const struct grid *grid, const double *g, size_t truth,
                            struct line *line) {
    line->base = g[grid->moving];
    line->p = target_of(grid, grid->moving, truth);
    line->q = 0;
    for (size_t k = 0; k < grid->n_scores; k++) {
        const double e = g[k] - target_of(grid, k, truth);
        line->q += k == grid->moving ? 0 : e * e / 2;
    }
}

static double squares_value(const struct line *line, double s) {
    return (s - line->p) * (s - line->p) / 2 + line->q;
}

/* base: if c = m, the score that varies minus the greatest other score; otherwise the score that
 * varies minus g_c. p: if c ≠ m, the loss when the greatest rival of g_c is another score than g_m.
 * m and c as in entropy_prepare. */
static void margin_prepare(const struct grid *grid, const double *g, size_t truth, double margin,
                           struct line *line) {
    const size_t m = grid->moving;
    const double rival = greatest_other(grid, g, m, truth);
    line->base = g[m] - (truth == m ? rival : g[truth]);
    line->p = truth == m ? 0 : fmax(0, margin - g[truth] + rival);
    line->q = 0;
}

static void hinge_prepare(const struct grid *grid, const double *g, size_t truth,
                          struct line *line) {
    margin_prepare(grid, g, truth, 1, line);
}

static void perceptron_prepare(const struct grid *grid, const double *g, size_t truth,
                               struct line *line) {
    margin_prepare(grid, g, truth, 0, line);
}

/* Returns NaN for a score that is NaN. */
static double hinge_value(const struct line *line, double s) {
    const double miss = 1 - line->sign * s;
    return miss <= line->p ? line->p : miss;
}

static double perceptron_value(const struct line *line, double s) {
    const double miss = -line->sign * s;
    return miss <= line->p ? line->p : miss;
}

/* [loss][several scores] */
static const struct loss losses[][2] = {
    [DN_LOSS_CROSS_ENTROPY] = {{one_score, entropy_value}, {entropy_prepare, entropy_value}},
    [DN_LOSS_SQUARED_ERROR] = {{one_score, probability_value},
                               {probabilities_prepare, probabilities_value}},
    [DN_LOSS_HINGE] = {{one_score, hinge_value}, {hinge_prepare, hinge_value}},
    [DN_LOSS_PERCEPTRON] = {{one_score, perceptron_value}, {perceptron_prepare, perceptron_value}},
};
static const struct loss squares = {squares_prepare, squares_value};

/* ---- rows ---- */

/* Returns the raw value of feature j of row r; 1 for the intercept. */
static double value_of(const struct grid *g, dn_matrix x, size_t r, size_t j) {
    const double *mean = dn_encoder_mean(g->model->encoder),
                 *scale = dn_encoder_scale(g->model->encoder);
    double z = 0;
    if (j == x.n_cols) {
        return 1;
    }
    if (x.kind == DN_DENSE) {
        z = x.values[r * x.stride + j];
    }
    for (size_t e = x.kind == DN_CSR ? x.row_start[r] : 0;
         x.kind == DN_CSR && e < x.row_start[r + 1]; e++) {
        z = x.cols[e] == j ? x.values[e] : z;
    }
    return mean == NULL ? z : z * scale[j] + mean[j];
}

/* Makes the lines of the rows that belong to the classes of the score. Returns their number. */
static size_t make_lines(const struct grid *g, const dni_tile *t, const double *scores,
                         struct line *lines) {
    const dn_loss_axis *axis = g->options->axis;
    size_t n = 0;
    for (size_t r = 0; r < t->x.n_rows; r++) {
        const size_t truth = (size_t)t->target[r],
                     positive = g->n_scores > 1 ? g->moving : g->positive;
        if (truth != positive && g->negative != SIZE_MAX && truth != g->negative) {
            continue;
        }
        struct line *line = &lines[n++];
        line->sign = truth == positive ? 1 : -1;
        line->weight = t->weight[r];
        line->x = value_of(g, t->x, r, axis[0].feature);
        line->y = g->options->n_axes == 2 ? value_of(g, t->x, r, axis[1].feature) : 0;
        g->loss->prepare(g, scores + r * g->n_scores, truth, line);
    }
    return n;
}

/* out [n_points] += Σ vℓ */
static dn_status add_points(const struct grid *g, const struct line *lines, size_t n, double *out,
                            dn_error *err) {
    const dn_loss_axis *axis = g->options->axis;
    for (size_t j = 0; j < g->out->n_y; j++) {
        const double b = g->options->n_axes == 2 ? axis[1].values[j] : 0;
        const dn_status status = dn_run_stop(g->run, err);
        if (status != DN_OK) {
            return status;
        }
        for (size_t i = 0; i < g->out->n_x; i++) {
            const double a = axis[0].values[i];
            double sum = 0;
            for (size_t t = 0; t < n; t++) {
                const struct line *line = &lines[t];
                sum += line->weight * g->loss->value(line, line->base + b * line->y + a * line->x);
            }
            out[j * g->out->n_x + i] += sum;
        }
    }
    return DN_OK;
}

static dn_status add_block(const void *arg, const dn_block *block, size_t slot, double *out,
                           dn_error *err) {
    const struct grid *g = arg;
    double *scores = g->work.scores + slot * DNI_TILE_ROWS * g->n_scores;
    struct line *lines = g->work.lines + slot * DNI_TILE_ROWS;
    dni_tiles tiles = dni_tiles_of(g->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *t = &tiles.tile;
        dni_tile_scores(t->x, g->work.table, g->n_scores, scores);
        if (!dni_all_finite(scores, t->x.n_rows * g->n_scores)) {
            return dn_error_set(err, DN_ERR_DATA,
                                "a row has values so large that its scores overflow");
        }
        const size_t n = make_lines(g, t, scores, lines);
        for (size_t r = 0; r < n; r++) {
            out[g->n_points] += lines[r].weight;
        }
        out[g->n_points + 1] += (double)n;
        const dn_status status = add_points(g, lines, n, out, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return tiles.status;
}

/* Sets the table of the weights that do not vary. */
static void set_table(struct grid *g) {
    const dn_model *m = g->model;
    const size_t width = m->n_features + 1;
    for (size_t k = 0; k < g->n_scores; k++) {
        const size_t score = g->n_scores > 1 ? k : g->options->score;
        double *row = g->work.raw + k * width;
        memcpy(row, m->w + score * m->n_features, m->n_features * sizeof *row);
        row[m->n_features] = m->intercept[score];
        for (size_t a = 0; a < g->options->n_axes && k == g->moving; a++) {
            row[g->options->axis[a].feature] = 0;
        }
    }
    dni_linear_to_encoded(g->work.raw, g->n_scores, m->n_features, dn_encoder_mean(m->encoder),
                          dn_encoder_scale(m->encoder), g->work.table);
    if (dn_encoder_is_sparse(m->encoder)) {
        memcpy(g->work.raw, g->work.table, g->n_scores * width * sizeof(double));
        dni_transpose(g->work.raw, g->n_scores, width, g->work.table);
    }
}

/* Divides the sums by Σ v and finds the least value. */
static dn_status finish(const struct grid *g, dn_error *err) {
    const double *sums = g->work.sums;
    const dn_loss_axis *axis = g->options->axis;
    dn_loss_grid *out = g->out;
    out->n_rows = (size_t)sums[g->n_points + 1];
    if (out->n_rows == 0) {
        return dn_error_set(err, DN_ERR_DATA, "no row belongs to a class of the score");
    }
    for (size_t p = 0; p < g->n_points; p++) {
        out->value[p] = sums[p] / sums[g->n_points];
        if (!isfinite(out->value[p])) {
            return g->options->n_axes == 1
                       ? dn_error_set(err, DN_ERR_DATA, "the losses of the weight %g overflow",
                                      axis[0].values[p])
                       : dn_error_set(err, DN_ERR_DATA,
                                      "the losses of the weights %g and %g overflow",
                                      axis[0].values[p % out->n_x], axis[1].values[p / out->n_x]);
        }
        out->best = out->value[p] < out->value[out->best] ? p : out->best;
    }
    return DN_OK;
}

static dn_status measure(struct grid *g, const dn_table_source *source, dn_error *err) {
    const dn_model *m = g->model;
    const char *truth = g->options->target == NULL ? dn_model_target(m) : g->options->target;
    const struct shape shape = {g->n_scores, m->n_features, g->run->n_slots, g->n_points + 2};
    const dn_sum sum = {add_block, g, sizeof *g, g->n_points + 2};
    dni_model_labels labels = {0};
    dn_rows *rows = NULL;
    void *memory = NULL;
    dn_status status =
        dni_model_labels_read(m, source, truth, g->options->weight, g->run, &labels, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = dn_rows_from_source(source, m->encoder, labels.role, DN_ROW_VALIDATE, labels.index,
                                 labels.weight, false, g->run, &rows, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    if ((double)rows->n_rows * (double)g->n_points > DN_MAX_LOSS_EVALUATIONS) {
        status = dn_error_set(err, DN_ERR_DATA,
                              "%zu rows times %zu points of the grid are more than %d: take fewer "
                              "steps or fewer rows",
                              rows->n_rows, g->n_points, DN_MAX_LOSS_EVALUATIONS);
        goto cleanup;
    }
    status = dni_layout_take(g->run, work_layout, &shape, &g->work, "the losses", &memory, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    set_table(g);
    status = dn_run_sum(g->run, rows, &sum, g->work.sums, err);
    if (status == DN_OK) {
        status = finish(g, err);
    }
cleanup:
    dn_run_free(g->run, memory);
    dn_rows_free(rows);
    dn_run_free(g->run, labels.memory);
    return status;
}

/* ---- arguments ---- */
bool dn_model_has_loss_grid(const dn_model *model) {
    return model->linear && model->decision != DN_DECISION_OUTLIER;
}

static dn_status check_axes(const dn_model *model, const dn_loss_grid_options *o, dn_error *err) {
    double points = 1;
    bool valid = o->n_axes == 1 || o->n_axes == 2;
    for (size_t a = 0; valid && a < o->n_axes; a++) {
        const dn_loss_axis *axis = &o->axis[a];
        valid = axis->feature <= model->n_features && axis->n_values >= 1 &&
                axis->n_values <= DN_MAX_LOSS_VALUES && axis->values != NULL &&
                dni_all_finite(axis->values, axis->n_values);
        points *= (double)axis->n_values;
    }
    valid = valid && (o->n_axes == 1 || o->axis[0].feature != o->axis[1].feature);
    if (!valid || points > DN_MAX_LOSS_POINTS) {
        return dni_error_at(
            dn_error_set(err, DN_ERR_ARGUMENT,
                         "weights must be one or two different weights of the model, with 1 to %d "
                         "finite values each and at most %d points",
                         DN_MAX_LOSS_VALUES, DN_MAX_LOSS_POINTS),
            "weights", -1, err);
    }
    return DN_OK;
}

static dn_status check(const dn_model *model, const dn_table_source *source,
                       const dn_loss_grid_options *options, const dn_run *run, dn_error *err) {
    dn_status status = dni_argument_call(source, run, options->struct_size, sizeof *options, err);
    if (status != DN_OK) {
        return status;
    }
    if (!dn_model_has_loss_grid(model)) {
        return dn_error_set(
            err, DN_ERR_ARGUMENT,
            "only a model with linear discriminants of classes has losses over its weights");
    }
    if ((size_t)options->loss >= sizeof losses / sizeof losses[0]) {
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT, "there is no loss %d",
                                         (int)options->loss),
                            "loss", -1, err);
    }
    if (options->score >= model->n_scores) {
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                         "score must be below %zu, the number of scores (got %zu)",
                                         model->n_scores, options->score),
                            "score", -1, err);
    }
    return check_axes(model, options, err);
}

static dn_loss_grid *loss_grid_new(size_t n_x, size_t n_y) {
    dn_loss_grid *out = calloc(1, sizeof *out);
    if (out == NULL) {
        return NULL;
    }
    *out = (dn_loss_grid){.n_x = n_x, .n_y = n_y, .value = calloc(n_x * n_y, sizeof(double))};
    if (out->value == NULL) {
        dn_loss_grid_free(out);
        return NULL;
    }
    return out;
}

/* Chooses the score and its classes, the loss and its targets. */
static void choose(struct grid *g) {
    const dn_model *m = g->model;
    const size_t K = m->classes.view.n;
    dn_decision_machine(m->decision, K, g->options->score, &g->negative, &g->positive);
    const bool together = K > 2 && g->positive == SIZE_MAX;
    g->n_scores = together ? K : 1;
    g->moving = together ? g->options->score : 0;
    g->positive = K == 2 ? 1 : g->positive;
    g->loss = &losses[g->options->loss][together];
    if (g->options->loss == DN_LOSS_SQUARED_ERROR &&
        strcmp(m->params->algorithm->id, "least_squares") == 0) {
        g->loss = &squares;
        g->coding = dni_target_coding_of(m->params, together ? K : 2);
    }
}

dn_status dn_model_loss_grid(const dn_model *model, const dn_table_source *source,
                             const dn_loss_grid_options *options, const dn_run *run,
                             dn_loss_grid **out, dn_error *err) {
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
    struct grid g = {.model = model, .run = run == NULL ? &serial : run, .options = options};
    g.out = loss_grid_new(options->axis[0].n_values,
                          options->n_axes == 2 ? options->axis[1].n_values : 1);
    if (g.out == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the losses");
    }
    g.n_points = g.out->n_x * g.out->n_y;
    choose(&g);
    status = measure(&g, source, err);
    if (status != DN_OK) {
        dn_loss_grid_free(g.out);
        return status;
    }
    *out = g.out;
    return DN_OK;
}

void dn_loss_grid_free(dn_loss_grid *grid) {
    if (grid == NULL) {
        return;
    }
    free(grid->value);
    free(grid);
}
