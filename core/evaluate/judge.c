/* Scores of encoded rows, tile by tile, into metrics; and a model against a labelled source. */
#include "evaluate/judge.h"
#include "learners/target.h"
#include "linalg/tile.h"
#include "predict/machine.h"
#include "predict/model.h"

#include <math.h>
#include <string.h>

struct judge {
    const dn_model *model;
    size_t n_classes, n_scores, width;
    double *table;      /* [n_scores × width] linear machines side by side; NULL otherwise */
    double *transposed; /* the same for sparse rows */
    double *x;          /* [DNI_TILE_ROWS × width] rows of other machines, expanded; NULL for linear ones */
    double *work;
    double *scores;        /* [DNI_TILE_ROWS × n_scores] */
    double *probabilities; /* [DNI_TILE_ROWS × n_classes]; NULL without */
    double *coupling;
    size_t *truth, *predicted;
};

/* Scores of a tile of encoded rows. */
static void score_tile(const struct judge *t, dn_matrix x) {
    const dn_model *m = t->model;
    if (t->table != NULL) {
        dni_tile_scores(x, x.kind == DN_CSR ? t->transposed : t->table, t->n_scores, t->scores);
        return;
    }
    dni_tile_expand(x, NULL, NULL, t->x);
    for (size_t i = 0; i < x.n_rows; i++) {
        double *scores = t->scores + i * t->n_scores;
        for (size_t k = 0; k < m->n_machines; k++) {
            dni_machine_scores(&m->machines[k], t->x + i * t->width, scores, t->work);
            scores += dn_machine_n_scores(&m->machines[k]);
        }
    }
}

static void judge_tile(const struct judge *t, const dn_block *block, size_t first, size_t n, dn_metrics *metrics) {
    score_tile(t, dn_matrix_rows(block->x, first, n));
    for (size_t i = 0; i < n; i++) {
        const double *g = t->scores + i * t->n_scores;
        t->truth[i] = (size_t)block->target[first + i];
        t->predicted[i] = dn_decision_label(t->model->decision, t->n_classes, g);
        if (t->probabilities != NULL)
            dn_decision_probabilities(t->model->decision, t->n_classes, g, t->probabilities + i * t->n_classes, t->coupling);
    }
    dn_metrics_add(metrics, n, t->truth, t->predicted, t->probabilities, block->weight == NULL ? NULL : block->weight + first);
}

static dn_status judge_blocks(const struct judge *t, const dn_rows *rows, const dn_run *run, dn_metrics *metrics, dn_error *err) {
    for (size_t i = 0; i < rows->n_blocks; i++) {
        dn_block block;
        dn_status status = dn_rows_block(rows, i, 0, &block, err);
        if (status != DN_OK)
            return status;
        for (size_t first = 0; first < block.x.n_rows; first += DNI_TILE_ROWS) {
            status = dn_run_stop(run, err);
            if (status != DN_OK)
                return status;
            size_t n = block.x.n_rows - first < DNI_TILE_ROWS ? block.x.n_rows - first : DNI_TILE_ROWS;
            judge_tile(t, &block, first, n, metrics);
        }
    }
    return DN_OK;
}

/* Linear machines side by side, intercepts behind their weights. */
static void fill_table(struct judge *t) {
    const dn_model *m = t->model;
    double *to = t->table;
    for (size_t k = 0; k < m->n_machines; k++)
        for (size_t s = 0; s < dn_machine_n_scores(&m->machines[k]); s++, to += t->width) {
            memcpy(to, m->machines[k].w + s * m->n_features, m->n_features * sizeof *to);
            to[m->n_features] = m->machines[k].w0[s];
        }
    dni_transpose(t->table, t->n_scores, t->width, t->transposed);
}

/* Carves what a judge needs; *out_numbers and *out_labels are to be freed. */
static dn_status prepare(const dn_model *m, const dn_run *run, struct judge *t, void **out_numbers, void **out_labels, dn_error *err) {
    size_t K = m->classes.shown.n, S = m->n_scores, width = m->n_features + 1, tile = DNI_TILE_ROWS;
    size_t coupling = dn_decision_work(m->decision, K), linear = m->linear ? 2 * S * width : 0, other = m->linear ? 0 : tile * width;
    dn_status status =
        dn_run_alloc(run, linear + other + m->work + tile * (S + K) + coupling, sizeof(double), "the scores", out_numbers, err);
    if (status == DN_OK)
        status = dn_run_alloc(run, 2 * tile, sizeof(size_t), "the labels", out_labels, err);
    if (status != DN_OK)
        return status;
    *t = (struct judge){.model = m, .n_classes = K, .n_scores = S, .width = width, .truth = *out_labels};
    double *next = *out_numbers;
    t->table = m->linear ? next : NULL;
    t->transposed = next + linear / 2;
    t->x = m->linear ? NULL : next;
    next += linear + other;
    t->work = next;
    t->scores = next + m->work;
    t->coupling = t->scores + tile * S;
    t->probabilities = dn_model_has_probabilities(m) ? t->coupling + coupling : NULL;
    t->predicted = t->truth + tile;
    if (m->linear)
        fill_table(t);
    return DN_OK;
}

dn_status dni_judge_rows(const dn_rows *rows, const dn_model *model, const dn_run *run, dn_metrics **out, dn_error *err) {
    void *numbers = NULL, *labels = NULL;
    dn_metrics *metrics = NULL;
    struct judge t;
    dn_status status = prepare(model, run, &t, &numbers, &labels, err);
    if (status == DN_OK)
        status = dn_metrics_new(t.n_classes, &metrics, err);
    if (status == DN_OK)
        status = judge_blocks(&t, rows, run, metrics, err);
    dn_run_free(run, labels);
    dn_run_free(run, numbers);
    if (status != DN_OK) {
        dn_metrics_free(metrics);
        return status;
    }
    dn_metrics_finish(metrics);
    *out = metrics;
    return DN_OK;
}

static size_t find_column(const dn_table_source *source, const char *name) {
    for (size_t j = 0; j < source->n_cols; j++)
        if (strcmp(source->columns[j].name, name) == 0)
            return j;
    return SIZE_MAX;
}

dn_status dn_model_evaluate(const dn_model *model, const dn_table_source *source, const dn_run *run, dn_metrics **out, dn_error *err) {
    size_t target = find_column(source, model->target);
    if (target == SIZE_MAX) {
        dn_status status = dn_error_set(err, DN_ERR_DATA, "the data have no column \"%.128s\", the model's target", model->target);
        dn_error_set_field(err, model->target);
        return status;
    }
    void *index = NULL, *role = NULL;
    dn_rows *rows = NULL;
    dn_status status = dn_run_alloc(run, source->n_rows, sizeof(double), "the class indexes", &index, err);
    if (status == DN_OK)
        status = dn_run_alloc(run, source->n_rows, 1, "the roles of the rows", &role, err);
    if (status == DN_OK)
        status = dni_target_match(source, target, &model->classes, run, index, err);
    if (status == DN_OK) {
        uint8_t *roles = role;
        for (size_t i = 0; i < source->n_rows; i++)
            roles[i] = (uint8_t)(isnan(((double *)index)[i]) ? DN_ROW_SKIP : DN_ROW_TRAIN);
        status = dn_rows_from_source(source, model->encoder, role, DN_ROW_TRAIN, index, NULL, false, run, &rows, err);
    }
    if (status == DN_OK)
        status = dni_judge_rows(rows, model, run, out, err);
    dn_rows_free(rows);
    dn_run_free(run, role);
    dn_run_free(run, index);
    return status;
}
