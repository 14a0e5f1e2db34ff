/* Scores of rows, tile by tile, into metrics. */
#include "evaluate/evaluate_rows.h"
#include "base/argument.h"
#include "base/tasks.h"
#include "linalg/tile.h"
#include "machine/machine_impl.h"
#include "model/calibration.h"
#include "model/kernel_scores.h"
#include "model/model_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct scorer {
    const dn_model *model;
    const dn_run *run;
    dn_metrics *metrics;
    size_t n_classes, n_scores, width;
    double *
        table; /* [n_scores × width] linear machines side by side, for sparse rows transposed; NULL for others and for raw rows */
    double *x; /* [width] an encoded row of other machines, expanded */
    double *work; /* of the machines, or of a prediction */
    double *
        layers; /* [DNI_TILE_ROWS × units] what the layers of a network say of a tile; NULL for others and for raw rows */
    double
        *kernels; /* [slots × kernel_work] of kernel machines; NULL for others and for raw rows */
    size_t kernel_work;    /* dni_kernel_scores_work */
    double *scores;        /* [DNI_TILE_ROWS × n_scores] */
    double *class_scores;  /* [DNI_TILE_ROWS × n_classes]; NULL without */
    double *probabilities; /* [DNI_TILE_ROWS × n_classes]; NULL without */
    double *coupling;
    double *weight; /* [DNI_TILE_ROWS] */
    dni_scores_fn
        *keep; /* receives the scores instead of the metrics; NULL: metrics are computed */
    void *keep_arg;
    size_t *truth, *predicted;
    void *numbers, *labels; /* the memory of all this */
};

/* ---- scorer ---- */
/* Linear machines side by side, intercepts behind their weights; or transposed. */
static void fill_table(struct scorer *t) {
    const dn_model *m = t->model;
    const size_t d = m->n_features, S = t->n_scores;
    const bool transposed = dn_encoder_is_sparse(m->encoder);
    for (size_t k = 0, row = 0; k < m->n_machines; k++) {
        for (size_t s = 0; s < dn_machine_n_scores(m->machines[k]); s++, row++) {
            const double *w = m->machines[k]->w + s * d;
            double *to = transposed ? t->table + row : t->table + row * t->width;
            const size_t step = transposed ? S : 1;
            for (size_t j = 0; j < d; j++) {
                to[j * step] = w[j];
            }
            to[d * step] = m->machines[k]->w0[s];
        }
    }
}

static bool has_class_scores(const dn_model *m, double *scores, double *class_scores) {
    memset(scores, 0, m->n_scores * sizeof *scores);
    return dn_decision_class_scores(m->decision, m->classes.shown.n, scores, class_scores);
}

/* Numbers of a tile in all layers of the model's networks; 0: there is none. */
static size_t layers_size(const dn_model *m) {
    size_t most = 0;
    for (size_t k = 0; k < m->n_machines; k++) {
        if (m->machines[k]->kind != DN_MACHINE_NETWORK) {
            return 0;
        }
        const dni_layers layers = dni_network_layers(m->machines[k]->network, m->n_features);
        const size_t units = dni_layers_units(&layers);
        most = units > most ? units : most;
    }
    return DNI_TILE_ROWS * most;
}

/* Everything but the metrics. `raw`: for raw rows. */
static dn_status prepare(const dn_model *m, bool raw, const dn_run *run, struct scorer *t,
                         dn_error *err) {
    size_t K = m->classes.shown.n, S = m->n_scores, width = m->n_features + 1, tile = DNI_TILE_ROWS,
           coupling = dni_probabilities_work(m);
    size_t linear = m->linear && !raw ? S * width : 0,
           other = m->linear || m->support != NULL || raw ? 0 : width;
    size_t work = raw ? dn_model_workspace(m) : m->work, layers = raw ? 0 : layers_size(m);
    size_t each = m->support == NULL || raw ? 0 : dni_kernel_scores_work(m),
           kernels = (run == NULL ? 1 : run->n_slots) * each;
    *t = (struct scorer){
        .model = m, .run = run, .n_classes = K, .n_scores = S, .width = width, .kernel_work = each};
    dn_status status =
        dn_run_alloc(run,
                     linear + other + work + tile * (S + 2 * K + 1) + coupling + layers + kernels,
                     sizeof(double), "the scores", &t->numbers, err);
    if (status == DN_OK) {
        status = dn_run_alloc(run, 2 * tile, sizeof(size_t), "the labels", &t->labels, err);
    }
    if (status != DN_OK) {
        return status;
    }
    double *next = t->numbers;
    t->table = linear > 0 ? next : NULL;
    t->x = next + linear;
    t->work = t->x + other;
    t->scores = t->work + work;
    t->class_scores = t->scores + tile * S;
    t->probabilities = t->class_scores + tile * K;
    t->weight = t->probabilities + tile * K;
    t->coupling = t->weight + tile;
    t->layers = layers > 0 ? t->coupling + coupling : NULL;
    t->kernels = m->support == NULL || raw ? NULL : t->coupling + coupling + layers;
    t->truth = t->labels;
    t->predicted = t->truth + tile;
    if (!has_class_scores(m, t->scores, t->class_scores)) {
        t->class_scores = NULL;
    }
    if (!dn_model_has_probabilities(m)) {
        t->probabilities = NULL;
    }
    if (t->table != NULL) {
        fill_table(t);
    }
    return DN_OK;
}

/* The rows to evaluate: encoded or raw. */
struct subject {
    const dni_evaluate_input *encoded;
    const dn_labelled_rows *raw;
    size_t n_rows;
    bool weighted, curves;
};

static dn_status scorer_init(struct scorer *t, const dn_model *model, const struct subject *s,
                             bool unranked, const dn_run *run, dn_error *err) {
    dn_status status = prepare(model, s->raw != NULL, run, t, err);
    dn_metrics_options options = {.n_classes = t->n_classes,
                                  .n_rows = s->n_rows,
                                  .probabilities = t->probabilities != NULL,
                                  .class_scores = t->class_scores != NULL,
                                  .weighted = s->weighted,
                                  .curves = s->curves,
                                  .unranked = unranked,
                                  .run = run};
    return status == DN_OK ? dn_metrics_new(&options, &t->metrics, err) : status;
}

/* Frees the scorer. On success *out receives its metrics. */
static dn_status scorer_end(struct scorer *t, dn_status status, dn_metrics **out, dn_error *err) {
    dn_run_free(t->run, t->labels);
    dn_run_free(t->run, t->numbers);
    if (status == DN_OK) {
        status = dn_metrics_finish(t->metrics, err);
    }
    if (status == DN_OK) {
        *out = t->metrics;
    } else {
        dn_metrics_free(t->metrics);
    }
    return status;
}

/* n rows whose scores and classes are there. */
static void add_tile(const struct scorer *t, size_t n, const double *weight) {
    size_t K = t->n_classes;
    dn_decision decision = t->model->decision;
    for (size_t i = 0; i < n; i++) {
        const double *g = t->scores + i * t->n_scores;
        t->predicted[i] = dni_model_label(t->model, g);
        if (t->class_scores != NULL) {
            (void)dn_decision_class_scores(decision, K, g, t->class_scores + i * K);
        }
        if (t->probabilities != NULL) {
            dni_model_probabilities(t->model, g, t->probabilities + i * K, t->coupling);
        }
    }
    const dn_metrics_rows rows = {.n = n,
                                  .truth = t->truth,
                                  .predicted = t->predicted,
                                  .probabilities = t->probabilities,
                                  .class_scores = t->class_scores,
                                  .weight = weight};
    dn_metrics_add(t->metrics, &rows);
}

/* ---- encoded rows ---- */
/* One row of other machines; naive Bayes takes a sparse one as it is. */
static void score_row(const struct scorer *t, dn_matrix x, double *scores) {
    const dn_model *m = t->model;
    const double *row = x.values;
    dni_entry_part entries = {0};
    if (x.kind == DN_CSR) {
        entries = (dni_entry_part){x.cols + x.row_start[0], x.values + x.row_start[0],
                                   x.row_start[1] - x.row_start[0]};
        row = t->x;
    }
    for (size_t k = 0, expanded = 0; k < m->n_machines; k++) {
        const dn_machine *machine = m->machines[k];
        if (x.kind == DN_CSR && machine->naive_bayes != NULL) {
            (void)dni_machine_scores_entries(machine, &entries, 1, scores, t->work);
        } else {
            if (x.kind == DN_CSR && expanded++ == 0) {
                dni_tile_expand(x, NULL, NULL, t->x);
            }
            (void)dni_machine_scores(machine, row, scores, t->work);
        }
        scores += dn_machine_n_scores(machine);
    }
}

/* Networks go through matrix products: thousands of weights for each row. */
static dn_status score_layers(const struct scorer *t, dn_matrix x, dn_error *err) {
    for (size_t k = 0, first = 0; k < t->model->n_machines; k++) {
        const dn_machine *machine = t->model->machines[k];
        const dni_layers layers = dni_network_layers(machine->network, machine->n_features);
        const size_t own = dn_machine_n_scores(machine);
        dn_status status =
            dni_layers_forward(&layers, machine->network->w, x, t->run, t->layers, err);
        if (status != DN_OK) {
            return status;
        }
        const double *last = t->layers + x.n_rows * (dni_layers_units(&layers) - own);
        for (size_t i = 0; i < x.n_rows; i++) {
            memcpy(t->scores + i * t->n_scores + first, last + i * own, own * sizeof *last);
        }
        first += own;
    }
    return DN_OK;
}

struct queries {
    const struct scorer *scorer;
    dn_matrix x;
};

static dn_status score_queries(void *arg, size_t i, size_t slot, dn_error *err) {
    const struct queries *q = arg;
    const struct scorer *t = q->scorer;
    const size_t first = i * DNI_POINTS_QUERIES, left = q->x.n_rows - first;
    const dn_matrix x =
        dn_matrix_rows(q->x, first, left < DNI_POINTS_QUERIES ? left : DNI_POINTS_QUERIES);
    return dni_kernel_scores(t->model, x, t->run, t->scores + first * t->n_scores,
                             t->kernels + slot * t->kernel_work, err);
}

/* Every row meets every support vector: the run's threads share them. */
static dn_status score_kernels(const struct scorer *t, dn_matrix x, dn_error *err) {
    struct queries queries = {t, x};
    return dni_tasks_run(t->run, (x.n_rows + DNI_POINTS_QUERIES - 1) / DNI_POINTS_QUERIES,
                         score_queries, &queries, err);
}

static dn_status score_tile(const struct scorer *t, dn_matrix x, dn_error *err) {
    if (t->kernels != NULL) {
        return score_kernels(t, x, err);
    }
    if (t->layers != NULL) {
        return score_layers(t, x, err);
    }
    if (t->table != NULL) {
        dni_tile_scores(x, t->table, t->n_scores, t->scores);
        return DN_OK;
    }
    for (size_t i = 0; i < x.n_rows; i++) {
        score_row(t, dn_matrix_rows(x, i, 1), t->scores + i * t->n_scores);
    }
    return DN_OK;
}

/* Weights of the next n rows of the source that take part; *at: where the search goes on. */
static const double *next_weights(const struct scorer *t, const dni_evaluate_input *j, size_t n,
                                  size_t *at) {
    if (j->weight == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < n; (*at)++) {
        if (j->role[*at] == j->wanted) {
            t->weight[i++] = j->weight[*at];
        }
    }
    return t->weight;
}

static dn_status score_piece(const struct scorer *t, const dni_evaluate_input *j,
                             const dn_block *block, size_t *at, dn_error *err) {
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        size_t n =
            block->x.n_rows - first < DNI_TILE_ROWS ? block->x.n_rows - first : DNI_TILE_ROWS;
        dn_status status = dn_run_stop(t->run, err);
        if (status == DN_OK) {
            status = score_tile(t, dn_matrix_rows(block->x, first, n), err);
        }
        if (status != DN_OK) {
            return status;
        }
        for (size_t i = 0; i < n; i++) {
            if (!dni_model_scores_good(t->model, t->scores + i * t->n_scores)) {
                return dn_error_set(
                    err, DN_ERR_DATA,
                    "a row has values so large that its scores leave the finite numbers");
            }
        }
        for (size_t i = 0; i < n; i++) {
            t->truth[i] = block->target == NULL ? 0 : (size_t)block->target[first + i];
        }
        const double *weight = next_weights(t, j, n, at);
        if (t->keep != NULL) {
            t->keep(t->keep_arg, t->scores, t->truth, weight, n);
        } else {
            add_tile(t, n, weight);
        }
    }
    return DN_OK;
}

static dn_status score_blocks(const struct scorer *t, const dni_evaluate_input *j, dn_error *err) {
    size_t at = 0;
    for (size_t b = 0; b < j->rows->n_blocks; b++) {
        for (size_t k = 0; k < dn_rows_n_pieces(j->rows, b); k++) {
            dn_block block;
            dn_status status = dn_rows_piece(j->rows, b, k, 0, &block, err);
            if (status == DN_OK) {
                status = score_piece(t, j, &block, &at, err);
            }
            if (status != DN_OK) {
                return status;
            }
        }
    }
    return DN_OK;
}

/* ---- raw rows ---- */
static dn_status score_raw(const struct scorer *t, const dn_labelled_rows *rows, dn_error *err) {
    const size_t at_once =
        t->model->support != NULL ? dni_kernel_scores_rows(t->model) : DNI_TILE_ROWS;
    for (size_t first = 0, n; first < rows->raw.n; first += n) {
        n = rows->raw.n - first < at_once ? rows->raw.n - first : at_once;
        dn_status status = dn_run_stop(t->run, err);
        if (status != DN_OK) {
            return status;
        }
        const dn_prediction scores = {.scores = t->scores};
        size_t scored =
            dn_model_predict(t->model, dn_raw_part(rows->raw, t->model->n_inputs, first, n),
                             t->work, &scores);
        if (scored < n) {
            char why[DN_MESSAGE_SIZE];
            dn_model_predict_why(t->model, rows->raw, first + scored, why);
            status = dn_error_set(err, DN_ERR_DATA, "row %zu of those that have a class %s",
                                  first + scored, why);
            dn_error_set_row(err, (int64_t)(first + scored));
            return status;
        }
        memcpy(t->truth, rows->truth + first, n * sizeof *t->truth);
        add_tile(t, n, rows->weight == NULL ? NULL : rows->weight + first);
    }
    return DN_OK;
}

/* ---- both ---- */
static dn_status evaluate_once(const dn_model *model, const struct subject *s, bool unranked,
                               const dn_run *run, dn_metrics **out, dn_error *err) {
    struct scorer t;
    dn_status status = scorer_init(&t, model, s, unranked, run, err);
    if (status == DN_OK) {
        status = s->raw != NULL ? score_raw(&t, s->raw, err) : score_blocks(&t, s->encoded, err);
    }
    return scorer_end(&t, status, out, err);
}

/* The scores that are kept for ranking may be what the rows themselves then lack memory for: once more without. */
static dn_status evaluate(const dn_model *model, const struct subject *s, const dn_run *run,
                          dn_metrics **out, dn_error *err) {
    dn_error why;
    dn_error_clear(&why);
    dn_status status = evaluate_once(model, s, false, run, out, &why);
    if (status == DN_ERR_BUDGET || status == DN_ERR_MEMORY) {
        status = evaluate_once(model, s, true, run, out, err);
        if (status == DN_OK) {
            (void)snprintf((*out)->warning, sizeof(*out)->warning,
                           "roc_auc and average_precision are not computed: %.400s", why.message);
        }
        return status;
    }
    if (status != DN_OK && err != NULL && err->code == DN_OK) {
        *err = why;
    }
    return status;
}

dn_status dni_score_rows(const dni_evaluate_input *input, const dn_model *model, const dn_run *run,
                         dni_scores_fn *fn, void *arg, dn_error *err) {
    struct scorer t;
    dn_status status = prepare(model, false, run, &t, err);
    t.keep = fn;
    t.keep_arg = arg;
    if (status == DN_OK) {
        status = score_blocks(&t, input, err);
    }
    dn_run_free(run, t.labels);
    dn_run_free(run, t.numbers);
    return status;
}

struct counting {
    const dn_model *model;
    dni_outlier_count count;
};

static void count_tile(void *arg, const double *scores, const size_t *truth, const double *weight,
                       size_t n) {
    struct counting *c = arg;
    (void)truth;
    for (size_t i = 0; i < n; i++) {
        const double v = weight == NULL ? 1 : weight[i];
        if (dni_model_label(c->model, scores + i * c->model->n_scores) == 1) {
            c->count.outliers += v;
        } else {
            c->count.inliers += v;
        }
        c->count.rows++;
    }
}

dn_status dni_count_outliers(const dni_evaluate_input *input, const dn_model *model,
                             const dn_run *run, dni_outlier_count *out, dn_error *err) {
    struct counting counting = {.model = model};
    dn_status status = dni_score_rows(input, model, run, count_tile, &counting, err);
    if (status == DN_OK) {
        *out = counting.count;
    }
    return status;
}

dn_status dni_evaluate_rows(const dni_evaluate_input *input, const dn_model *model,
                            const dn_run *run, dn_metrics **out, dn_error *err) {
    const struct subject subject = {.encoded = input,
                                    .n_rows = input->rows->n_rows,
                                    .weighted = input->weight != NULL,
                                    .curves = input->curves};
    return evaluate(model, &subject, run, out, err);
}

dn_status dn_model_evaluate_raw(const dn_model *model, const dn_labelled_rows *rows, bool curves,
                                const dn_run *run, dn_metrics **out, dn_error *err) {
    if (model == NULL || rows == NULL || out == NULL) {
        return dni_argument_null(model == NULL ? "model" : rows == NULL ? "rows" : "out", err);
    }
    if (rows->truth == NULL && rows->raw.n > 0) {
        return dni_argument_null("rows->truth", err);
    }
    dn_status checked = dni_argument_struct(rows->struct_size, sizeof *rows, "rows", err);
    if (checked == DN_OK) {
        checked = dni_argument_run(run, err);
    }
    if (checked != DN_OK) {
        return checked;
    }
    const struct subject subject = {.raw = rows,
                                    .n_rows = rows->raw.n,
                                    .weighted = rows->weight != NULL,
                                    .curves = curves};
    return evaluate(model, &subject, run, out, err);
}

/* ---- memory ---- */
double dni_evaluate_memory(size_t n_scores, size_t n_features, size_t n_classes) {
    double scores = (double)n_scores, classes = (double)n_classes, width = (double)n_features + 1;
    return 8 * (scores * width + 2 * width + DNI_TILE_ROWS * (scores + 2 * classes + 3) +
                4 * classes * classes);
}

double dni_ranking_memory(size_t n_rows, size_t n_classes, bool weighted) {
    double columns = n_classes == 2 ? 1 : (double)n_classes, rows = (double)n_rows;
    return rows * columns > (double)DN_MAX_RANKED_SCORES
               ? 0
               : rows * (8 * columns + 20 + (weighted ? 8 : 0));
}
