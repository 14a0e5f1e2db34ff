/* Scores of encoded rows, tile by tile, into metrics; and a model against a labelled source. */
#include "evaluate/judge.h"
#include "learners/target.h"
#include "linalg/tile.h"
#include "predict/model.h"
#include "predict/probability.h"

#include <math.h>
#include <string.h>

struct judge {
    double *table;         /* [n_scores × (n_cols + 1)] */
    double *transposed;    /* the same for sparse rows */
    double *scores;        /* [DNI_TILE_ROWS × n_scores] */
    double *probabilities; /* [DNI_TILE_ROWS × n_classes]; NULL without */
    size_t *truth, *predicted;
};

static void judge_tile(const struct judge *t, const dn_block *block, size_t first, size_t n, size_t n_classes, size_t n_scores,
                       dn_metrics *metrics) {
    dn_matrix x = dn_matrix_rows(block->x, first, n);
    dni_tile_scores(x, x.kind == DN_CSR ? t->transposed : t->table, n_scores, t->scores);
    for (size_t i = 0; i < n; i++) {
        const double *g = t->scores + i * n_scores;
        t->truth[i] = (size_t)block->target[first + i];
        t->predicted[i] = dni_label(g, n_scores);
        if (t->probabilities == NULL)
            continue;
        if (n_scores == 1)
            dni_sigmoid(g[0], t->probabilities + i * n_classes);
        else
            dni_softmax(g, n_scores, t->probabilities + i * n_classes);
    }
    dn_metrics_add(metrics, n, t->truth, t->predicted, t->probabilities, block->weight == NULL ? NULL : block->weight + first);
}

static dn_status judge_blocks(const struct judge *t, const dn_rows *rows, size_t n_classes, size_t n_scores, const dn_run *run,
                              dn_metrics *metrics, dn_error *err) {
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
            judge_tile(t, &block, first, n, n_classes, n_scores, metrics);
        }
    }
    return DN_OK;
}

dn_status dni_judge_rows(const dn_rows *rows, size_t n_classes, size_t n_scores, const double *w, const double *w0, bool probabilities,
                         const dn_run *run, dn_metrics **out, dn_error *err) {
    size_t d = rows->n_cols, width = d + 1, tile = DNI_TILE_ROWS;
    void *numbers = NULL, *labels = NULL;
    dn_metrics *metrics = NULL;
    dn_status status = dn_run_alloc(run, 2 * n_scores * width + tile * (n_scores + n_classes), sizeof(double), "the scores", &numbers, err);
    if (status == DN_OK)
        status = dn_run_alloc(run, 2 * tile, sizeof(size_t), "the labels", &labels, err);
    if (status == DN_OK)
        status = dn_metrics_new(n_classes, &metrics, err);
    if (status == DN_OK) {
        double *next = numbers;
        struct judge t = {.table = next, .transposed = next + n_scores * width, .scores = next + 2 * n_scores * width};
        t.probabilities = probabilities ? t.scores + tile * n_scores : NULL;
        t.truth = labels;
        t.predicted = t.truth + tile;
        for (size_t k = 0; k < n_scores; k++) {
            memcpy(t.table + k * width, w + k * d, d * sizeof *w);
            t.table[k * width + d] = w0[k];
        }
        dni_transpose(t.table, n_scores, width, t.transposed);
        status = judge_blocks(&t, rows, n_classes, n_scores, run, metrics, err);
    }
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
        status = dni_judge_rows(rows, model->classes.shown.n, model->n_scores, model->w, model->w0, dn_model_has_probabilities(model), run,
                                out, err);
    dn_rows_free(rows);
    dn_run_free(run, role);
    dn_run_free(run, index);
    return status;
}
