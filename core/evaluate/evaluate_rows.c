/* Scores rows and adds them to metrics. The tiles of a group are scored at the same time, on the
 * threads of the run; the rows are then added to the metrics in order. Neither the scores nor the
 * metrics depend on the number of tiles in a group. */
#include "evaluate/evaluate_rows.h"
#include "base/argument.h"
#include "base/group.h"
#include "base/layout.h"
#include "base/tasks.h"
#include "linalg/tile.h"
#include "machine/machine_dispatch.h"
#include "model/calibration.h"
#include "model/model_impl.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct scorer {
    const dn_model *model;
    const dn_run *run;
    dn_metrics *metrics, *pool; /* receive the rows; NULL: none */
    dn_held_out *held_out;      /* receives the predictions; NULL: none */
    size_t n_classes, n_scores, n_coupling;
    size_t n_tiles;       /* maximum number of tiles of a group */
    double *work;         /* workspace of the machines or of dn_model_predict */
    double *scores;       /* [n_tiles × DNI_TILE_ROWS × n_scores] */
    const double *given;  /* [n_rows × n_scores] dni_evaluate_input.scores; NULL: none */
    double *class_scores; /* [n_tiles × DNI_TILE_ROWS × n_classes]; NULL: there are none */
    double *rank_scores;  /* the same memory, if there are neither class scores nor probabilities */
    bool probable;        /* labels need the probabilities */
    const dn_rule *rule;  /* the rule for labels; NULL: none */
    double *probabilities; /* [n_tiles × DNI_TILE_ROWS × n_classes]; NULL: there are none */
    double *coupling;      /* [n_slots × n_coupling] work of dni_model_probabilities */
    double *weight;        /* [DNI_TILE_ROWS] */
    size_t *row;           /* [DNI_TILE_ROWS] rows of the source; set with `held_out` */
    size_t *truth;         /* [DNI_TILE_ROWS] */
    size_t *predicted;     /* [n_tiles × DNI_TILE_ROWS] */
    void *memory;          /* the allocation that contains the arrays above */
    /* receives the scores of each tile; NULL: the scores are added to `metrics` */
    dni_scores_fn *keep;
    void *keep_arg;
    dni_row_sink *sink; /* receives the rows that are added to `metrics`; NULL: none */
};

struct scorer_shape {
    size_t n_work, n_coupling; /* doubles of `work`, and of `coupling` for one slot */
    size_t n_scores, n_classes, n_slots;
};

/* Returns the maximum number of tiles of a group: at most the tiles of a block, and as few as one
 * if their scores take much memory. */
static size_t group_tiles(const struct scorer_shape *s) {
    const size_t numbers = (size_t)1 << 20,
                 of_tile = DNI_TILE_ROWS * (s->n_scores + 2 * s->n_classes + 1),
                 n = numbers / of_tile, most = DN_BLOCK_ROWS / DNI_TILE_ROWS;
    return s->n_slots == 1 || n < 1 ? 1 : n < most ? n : most;
}

static void scorer_layout(dni_layout *layout, const void *shape, void *out) {
    const struct scorer_shape *s = shape;
    struct scorer *t = out;
    const size_t n_rows = group_tiles(s) * DNI_TILE_ROWS;
    t->work = dni_layout_doubles(layout, s->n_work);
    t->scores = dni_layout_matrix(layout, n_rows, s->n_scores);
    t->class_scores = dni_layout_matrix(layout, n_rows, s->n_classes);
    t->probabilities = dni_layout_matrix(layout, n_rows, s->n_classes);
    t->coupling = dni_layout_matrix(layout, s->n_slots, s->n_coupling);
    t->weight = dni_layout_doubles(layout, DNI_TILE_ROWS);
    t->row = dni_layout_array(layout, DNI_TILE_ROWS, sizeof *t->row);
    t->truth = dni_layout_array(layout, DNI_TILE_ROWS, sizeof *t->truth);
    t->predicted = dni_layout_array(layout, n_rows, sizeof *t->predicted);
}

/* ---- scorer ---- */
/* Allocates and initializes all members except `metrics`. `raw`: the rows are raw, not encoded.
 * given: as in struct scorer. */
static dn_status prepare(const dn_model *m, bool raw, const double *given, const dn_run *run,
                         struct scorer *t, dn_error *err) {
    const size_t n_slots = raw || run == NULL ? 1 : run->n_slots;
    size_t n_work = 0;
    if (given == NULL) {
        n_work =
            raw ? dn_model_workspace(m) : dni_machines_work(m->machines, m->n_machines, n_slots);
    }
    const struct scorer_shape shape = {.n_work = n_work,
                                       .n_coupling = dni_probabilities_work(m),
                                       .n_scores = m->n_scores,
                                       .n_classes = m->classes.view.n,
                                       .n_slots = n_slots};
    *t = (struct scorer){.model = m,
                         .run = run,
                         .given = given,
                         .n_classes = shape.n_classes,
                         .n_scores = shape.n_scores,
                         .n_coupling = shape.n_coupling,
                         .n_tiles = group_tiles(&shape)};
    dn_status status =
        dni_layout_take(run, scorer_layout, &shape, t, "the scores", &t->memory, err);
    if (status != DN_OK) {
        return status;
    }
    if (!dn_model_has_probabilities(m)) {
        t->probabilities = NULL;
    }
    memset(t->scores, 0, m->n_scores * sizeof *t->scores);
    if (!dn_decision_has_class_scores(m->decision, shape.n_classes)) {
        if (t->probabilities == NULL &&
            dn_decision_rank_scores(m->decision, shape.n_classes, t->scores, t->class_scores)) {
            t->rank_scores = t->class_scores;
        }
        t->class_scores = NULL;
    }
    if (!raw && given == NULL) {
        dni_machines_prepare(m->machines, m->n_machines, dn_encoder_is_sparse(m->encoder), t->work);
    }
    return DN_OK;
}

/* The rows to evaluate. One of the two pointers is NULL. */
struct labelled_rows {
    const dni_evaluate_input *encoded;
    const dn_labelled_rows *raw;
    size_t n_rows;
    bool weighted, curves;
    dn_labels labels;
    const dn_rule *rule;
};

/* *out ← metrics for the rows `s` that the scorer scores. */
static dn_status new_metrics(const struct scorer *t, const struct labelled_rows *s, bool unranked,
                             const dn_run *run, dn_metrics **out, dn_error *err) {
    dn_metrics_options options = {.n_classes = t->n_classes,
                                  .n_rows = s->n_rows,
                                  .probabilities = t->probabilities != NULL,
                                  .class_scores = t->class_scores != NULL,
                                  .rank_scores = t->rank_scores != NULL,
                                  .weighted = s->weighted,
                                  .curves = s->curves,
                                  .unranked = unranked,
                                  .run = run,
                                  .sets = t->model->conformal};
    return dn_metrics_new(&options, out, err);
}

/* Sets the receivers of the rows beside t->metrics. Creates the metrics of the pool for its first
 * model. */
static dn_status take_receivers(struct scorer *t, const dni_evaluate_input *input, dn_error *err) {
    dni_pool *pool = input->pool;
    t->held_out = input->held_out;
    if (pool == NULL || pool->lost) {
        return DN_OK;
    }
    if (pool->metrics == NULL) {
        const struct labelled_rows all = {.n_rows = pool->n_rows,
                                          .weighted = input->weight != NULL,
                                          .curves = input->pool_curves};
        const dn_status status = new_metrics(t, &all, false, pool->run, &pool->metrics, err);
        if (status != DN_OK) {
            return status;
        }
    }
    t->pool = pool->metrics;
    return DN_OK;
}

static dn_status scorer_init(struct scorer *t, const dn_model *model, const struct labelled_rows *s,
                             bool unranked, const dn_run *run, dn_error *err) {
    const double *given = s->encoded != NULL ? s->encoded->scores : NULL;
    dn_status status = prepare(model, s->raw != NULL, given, run, t, err);
    t->rule = dni_rule_used(model, s->labels, s->rule);
    t->probable = dni_labels_need_probabilities(model, s->labels, t->rule);
    if (status == DN_OK && s->encoded != NULL) {
        status = take_receivers(t, s->encoded, err);
    }
    return status == DN_OK ? new_metrics(t, s, unranked, run, &t->metrics, err) : status;
}

/* Frees the scorer. If status is DN_OK, finishes its metrics and returns them in *out; otherwise
 * frees them. */
static dn_status scorer_end(struct scorer *t, bool raw, dn_status status, dn_metrics **out,
                            dn_error *err) {
    dn_run_free(t->run, t->memory);
    if (status == DN_OK) {
        status = dn_metrics_finish(t->metrics, err);
    }
    if (!raw) { /* all ranks have metrics, or none */
        status = dni_group_agree(t->run, status, err);
    }
    if (status == DN_OK) {
        *out = t->metrics;
    } else {
        dn_metrics_free(t->metrics);
    }
    return status;
}

/* Computes labels, class scores and probabilities of the rows first … first + n − 1 of the group
 * from their scores. */
static void decide(const struct scorer *t, size_t first, size_t n, size_t slot) {
    const size_t K = t->n_classes;
    const dn_decision decision = t->model->decision;
    for (size_t i = first; i < first + n; i++) {
        const double *g = t->scores + i * t->n_scores;
        if (t->class_scores != NULL) {
            (void)dn_decision_class_scores(decision, K, g, t->class_scores + i * K);
        }
        if (t->rank_scores != NULL) {
            (void)dn_decision_rank_scores(decision, K, g, t->rank_scores + i * K);
        }
        if (t->probabilities != NULL) {
            dni_model_probabilities(t->model, g, t->probabilities + i * K,
                                    t->coupling + slot * t->n_coupling);
        }
        t->predicted[i] =
            dni_model_label(t->model, g, t->probable ? t->probabilities + i * K : NULL, t->rule);
    }
}

static void keep_rows(const struct scorer *t, size_t first, size_t n, const double *weight) {
    const dni_held_out_rows rows = {.n = n,
                                    .row = t->row,
                                    .truth = t->truth,
                                    .predicted = t->predicted + first,
                                    .weight = weight,
                                    .values = t->probabilities != NULL
                                                  ? t->probabilities + first * t->n_classes
                                                  : t->scores + first * t->n_scores};
    dni_held_out_add(t->held_out, &rows);
}

/* Adds the rows first … first + n − 1 of the group to the metrics. Their true classes are in
 * t->truth [n]. */
static void add_rows(const struct scorer *t, size_t first, size_t n, const double *weight) {
    const size_t at = first * t->n_classes;
    const dn_metrics_rows rows = {
        .n = n,
        .truth = t->truth,
        .predicted = t->predicted + first,
        .probabilities = t->probabilities == NULL ? NULL : t->probabilities + at,
        .class_scores = t->class_scores == NULL ? NULL : t->class_scores + at,
        .rank_scores = t->rank_scores == NULL ? NULL : t->rank_scores + at,
        .weight = weight};
    if (t->metrics != NULL) {
        dn_metrics_add(t->metrics, &rows);
    }
    if (t->pool != NULL) {
        dn_metrics_add(t->pool, &rows);
    }
    if (t->held_out != NULL) {
        keep_rows(t, first, n, weight);
    }
    if (t->sink != NULL) {
        t->sink->take(t->sink->arg, t->sink->n, &rows);
        t->sink->n += n;
    }
}

/* ---- encoded rows ---- */
/* Sets t->row, and returns the weights of the next n rows with role `wanted`; NULL: all 1. *at: the
 * number of the source row at which the search starts; updated. */
static const double *next_rows(const struct scorer *t, const dni_evaluate_input *j, size_t n,
                               size_t *at) {
    if (j->weight == NULL && t->held_out == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < n; (*at)++) {
        if (j->role[*at] == j->wanted) {
            t->row[i] = *at;
            t->weight[i++] = j->weight == NULL ? 1 : j->weight[*at];
        }
    }
    return j->weight == NULL ? NULL : t->weight;
}

/* A group: up to n_tiles consecutive tiles. */
struct group {
    const struct scorer *scorer;
    dn_matrix x;
    const double *given; /* scorer->given from the first row of the group on */
    const dn_run *run;   /* run of each task; NULL: one thread */
};

/* Scores tile i of the group. */
static dn_status score_tile(void *arg, size_t i, size_t slot, dn_error *err) {
    const struct group *group = arg;
    const struct scorer *t = group->scorer;
    const size_t first = i * DNI_TILE_ROWS, left = group->x.n_rows - first,
                 n = left < DNI_TILE_ROWS ? left : DNI_TILE_ROWS;
    dn_status status = dn_run_stop(group->run, err);
    if (status == DN_OK && group->given != NULL) {
        memcpy(t->scores + first * t->n_scores, group->given + first * t->n_scores,
               n * t->n_scores * sizeof *t->scores);
    } else if (status == DN_OK) {
        status = dni_machines_score(t->model->machines, t->model->n_machines,
                                    dn_matrix_rows(group->x, first, n), group->run, slot,
                                    t->scores + first * t->n_scores, t->work, err);
    }
    if (status != DN_OK) {
        return status;
    }
    for (size_t r = first; r < first + n; r++) {
        if (!dni_model_scores_valid(t->model, t->scores + r * t->n_scores)) {
            return dn_error_set(err, DN_ERR_DATA,
                                "a row has values so large that its scores overflow");
        }
    }
    if (t->keep == NULL) {
        decide(t, first, n, slot);
    }
    return DN_OK;
}

/* Scores the tiles of a group: on all threads, unless the machines use the threads for a tile. */
static dn_status score_group(const struct scorer *t, dn_matrix x, const double *given,
                             dn_error *err) {
    const size_t n = (x.n_rows + DNI_TILE_ROWS - 1) / DNI_TILE_ROWS;
    struct group group = {t, x, given, t->run};
    if (t->run != NULL && t->run->n_slots > 1 && n > 1 &&
        !dni_machines_use_threads(t->model->machines[0])) {
        const dn_run inner = dni_task_run(t->run);
        group.run = &inner;
        return dni_tasks_run(t->run, n, score_tile, &group, err);
    }
    dn_status status = DN_OK;
    for (size_t i = 0; i < n && status == DN_OK; i++) {
        status = score_tile(&group, i, 0, err);
    }
    return status;
}

/* given: scores of the rows of the block or piece; NULL: they are computed. */
static dn_status score_piece(const struct scorer *t, const dni_evaluate_input *j,
                             const dn_block *block, const double *given, size_t *at,
                             dn_error *err) {
    const size_t most = t->n_tiles * DNI_TILE_ROWS;
    for (size_t start = 0, rows; start < block->x.n_rows; start += rows) {
        rows = block->x.n_rows - start < most ? block->x.n_rows - start : most;
        const dn_status status =
            score_group(t, dn_matrix_rows(block->x, start, rows),
                        given == NULL ? NULL : given + start * t->n_scores, err);
        if (status != DN_OK) {
            return status;
        }
        for (size_t first = 0; first < rows; first += DNI_TILE_ROWS) {
            const size_t n = rows - first < DNI_TILE_ROWS ? rows - first : DNI_TILE_ROWS;
            for (size_t i = 0; i < n; i++) {
                t->truth[i] = block->target == NULL ? 0 : (size_t)block->target[start + first + i];
            }
            const double *weight = next_rows(t, j, n, at);
            if (t->keep != NULL) {
                t->keep(t->keep_arg, t->scores + first * t->n_scores, t->truth, weight, n);
            } else {
                add_rows(t, first, n, weight);
            }
        }
    }
    return DN_OK;
}

/* Scores blocks first ... end - 1. *at: as in next_rows. */
static dn_status score_range(const struct scorer *t, const dni_evaluate_input *j, size_t first,
                             size_t end, size_t *at, dn_error *err) {
    for (size_t b = first; b < end; b++) {
        for (size_t k = 0; k < dn_rows_n_pieces(j->rows, b); k++) {
            dn_block block;
            dn_status status = dn_rows_piece(j->rows, b, k, 0, &block, err);
            if (status == DN_OK) {
                const double *given =
                    t->given == NULL ? NULL : t->given + block.first_row * t->n_scores;
                status = score_piece(t, j, &block, given, at, err);
            }
            if (status != DN_OK) {
                return status;
            }
        }
    }
    return DN_OK;
}

/* ---- encoded rows in a group of ranks ---- */
/* The scores and classes of this rank's rows, before they are sent to all ranks. */
struct own_scores {
    size_t n, n_scores; /* rows so far; scores of a row */
    double *scores;     /* [own rows × n_scores] */
    double *truth;      /* [own rows] */
};

static void store_scores(void *arg, const double *scores, const size_t *truth, const double *weight,
                         size_t n) {
    struct own_scores *own = arg;
    (void)weight;
    memcpy(own->scores + own->n * own->n_scores, scores, n * own->n_scores * sizeof *scores);
    for (size_t i = 0; i < n; i++) {
        own->truth[own->n + i] = (double)truth[i];
    }
    own->n += n;
}

/* Scores the blocks of this rank into *own. */
static dn_status score_own(const struct scorer *t, const dni_evaluate_input *j,
                           struct own_scores *own, dn_error *err) {
    size_t first, end, at = 0;
    struct scorer mine = *t;
    dni_evaluate_input plain = *j;
    mine.keep = store_scores;
    mine.keep_arg = own;
    mine.held_out = NULL;
    plain.weight = NULL;
    dni_group_own(t->run, j->rows->n_blocks, &first, &end);
    return score_range(&mine, &plain, first, end, &at, err);
}

/* Every rank scores its blocks. Then the scores of one block after the other are sent to all ranks,
 * which process them as if they had computed them. */
static dn_status score_in_group(const struct scorer *t, const dni_evaluate_input *j,
                                dn_error *err) {
    const size_t S = t->n_scores, n_blocks = j->rows->n_blocks;
    const dn_group *group = dni_group_of(t->run);
    struct own_scores own = {.n_scores = S};
    size_t first, end, at = 0, rank = 0;
    void *memory = NULL;
    dni_group_own(t->run, n_blocks, &first, &end);
    dn_status status =
        dn_run_alloc(t->run, (end - first + 1) * DN_BLOCK_ROWS, (S + 1) * sizeof(double),
                     "the scores of the rows", &memory, err);
    double *block_scores = memory; /* of one block, and behind them its classes */
    if (status == DN_OK) {
        own.scores = block_scores + (S + 1) * DN_BLOCK_ROWS;
        own.truth = own.scores + (end - first) * DN_BLOCK_ROWS * S;
        status = score_own(t, j, &own, err);
    }
    status = dni_group_agree(t->run, status, err);
    for (size_t b = 0; b < n_blocks && status == DN_OK; b++) {
        const size_t from = b * DN_BLOCK_ROWS, left = j->rows->n_rows - from,
                     n = left < DN_BLOCK_ROWS ? left : DN_BLOCK_ROWS;
        size_t rank_first, rank_end;
        do {
            dn_group_blocks(group->n_ranks, rank, n_blocks, &rank_first, &rank_end);
        } while (b >= rank_end && ++rank < group->n_ranks);
        if (rank == group->rank) {
            const size_t row = from - first * DN_BLOCK_ROWS;
            assert(own.scores != NULL && own.truth != NULL);
            memcpy(block_scores, own.scores + row * S, n * S * sizeof *block_scores);
            memcpy(block_scores + n * S, own.truth + row, n * sizeof *block_scores);
        }
        status = dni_group_send(t->run, DN_OK, rank, block_scores,
                                n * (S + 1) * sizeof *block_scores, err);
        if (status == DN_OK) {
            const dn_block block = {.first_row = from,
                                    .x = {.kind = DN_DENSE, .n_rows = n},
                                    .target = block_scores + n * S};
            status = score_piece(t, j, &block, block_scores, &at, err);
        }
    }
    dn_run_free(t->run, memory);
    return dni_group_agree(t->run, status, err);
}

static dn_status score_blocks(const struct scorer *t, const dni_evaluate_input *j, dn_error *err) {
    size_t at = 0;
    return dni_group_of(t->run) != NULL && t->given == NULL
               ? score_in_group(t, j, err)
               : score_range(t, j, 0, j->rows->n_blocks, &at, err);
}

/* ---- raw rows ---- */
static dn_status score_raw(const struct scorer *t, const dn_labelled_rows *rows, dn_error *err) {
    const size_t at_once = dni_machines_tile_rows(t->model->raw[0]);
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
            return dni_error_at(dn_error_set(err, DN_ERR_DATA,
                                             "of the rows that have a class, row %zu %s",
                                             first + scored, why),
                                NULL, (int64_t)(first + scored), err);
        }
        memcpy(t->truth, rows->truth + first, n * sizeof *t->truth);
        decide(t, 0, n, 0);
        add_rows(t, 0, n, rows->weight == NULL ? NULL : rows->weight + first);
    }
    return DN_OK;
}

/* ---- both ---- */
static dn_status evaluate_once(const dn_model *model, const struct labelled_rows *s, bool unranked,
                               const dn_run *run, dn_metrics **out, dn_error *err) {
    struct scorer t;
    dn_status status = scorer_init(&t, model, s, unranked, run, err);
    t.sink = s->encoded != NULL ? s->encoded->sink : NULL;
    if (t.sink != NULL) {
        t.sink->n = 0;
    }
    if (s->raw == NULL) { /* a rank without memory ends the evaluation of all ranks */
        status = dni_group_agree(run, status, err);
    }
    if (status == DN_OK) {
        status = s->raw != NULL ? score_raw(&t, s->raw, err) : score_blocks(&t, s->encoded, err);
    }
    return scorer_end(&t, s->raw != NULL, status, out, err);
}

/* Before rows are scored again: removes their predictions, and the metrics of the pool. */
static void forget_rows(const dni_evaluate_input *input, size_t n_kept) {
    if (input->held_out != NULL) {
        dni_held_out_cut(input->held_out, n_kept);
    }
    if (input->pool != NULL) {
        dn_metrics_free(input->pool->metrics);
        input->pool->metrics = NULL;
        input->pool->lost = true;
    }
}

/* Evaluates the rows. If memory is exhausted, repeats the evaluation without ranking, which needs
 * no memory for the scores of all rows. */
static dn_status evaluate(const dn_model *model, const struct labelled_rows *s, const dn_run *run,
                          dn_metrics **out, dn_error *err) {
    dn_error why;
    dn_error_clear(&why);
    const size_t n_kept =
        s->encoded != NULL && s->encoded->held_out != NULL ? s->encoded->held_out->n : 0;
    dn_status status = evaluate_once(model, s, false, run, out, &why);
    if ((status == DN_ERR_BUDGET || status == DN_ERR_MEMORY) && !dni_group_ended(run)) {
        if (s->encoded != NULL) {
            forget_rows(s->encoded, n_kept);
        }
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
    dn_status status = prepare(model, false, NULL, run, &t, err);
    t.keep = fn;
    t.keep_arg = arg;
    status = dni_group_agree(run, status, err);
    if (status == DN_OK) {
        status = score_blocks(&t, input, err);
    }
    dn_run_free(run, t.memory);
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
        if (dni_model_label(c->model, scores + i * c->model->n_scores, NULL, NULL) == 1) {
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
    const struct labelled_rows subject = {.encoded = input,
                                          .n_rows = input->rows->n_rows,
                                          .weighted = input->weight != NULL,
                                          .curves = input->curves,
                                          .labels = input->labels,
                                          .rule = input->rule};
    return evaluate(model, &subject, run, out, err);
}

dn_status dni_evaluate_add(const dni_evaluate_input *input, const dn_model *model,
                           const dn_run *run, dn_error *err) {
    struct scorer t;
    dn_status status = prepare(model, false, NULL, run, &t, err);
    t.probable = dni_labels_need_probabilities(model, input->labels, NULL);
    if (status == DN_OK) {
        status = take_receivers(&t, input, err);
    }
    status = dni_group_agree(run, status, err);
    if (status == DN_OK) {
        status = score_blocks(&t, input, err);
    }
    dn_run_free(run, t.memory);
    return status;
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
    const struct labelled_rows subject = {.raw = rows,
                                          .n_rows = rows->raw.n,
                                          .weighted = rows->weight != NULL,
                                          .curves = curves,
                                          .labels = rows->labels,
                                          .rule = rows->rule};
    return evaluate(model, &subject, run, out, err);
}

/* ---- memory ---- */
double dni_evaluate_memory(size_t n_scores, size_t n_features, size_t n_classes, size_t n_slots,
                           bool densities) {
    /* machines with densities expand a row on each thread */
    const size_t n_rows = n_scores + 2 * (densities ? n_slots : 1);
    const struct scorer_shape shape = {.n_work = n_rows * (n_features + 1),
                                       .n_coupling = 4 * n_classes * n_classes,
                                       .n_scores = n_scores,
                                       .n_classes = n_classes,
                                       .n_slots = n_slots};
    struct scorer scorer;
    return dni_layout_bytes(scorer_layout, &shape, &scorer);
}

double dni_ranking_memory(size_t n_rows, size_t n_classes, bool weighted) {
    double columns = n_classes == 2 ? 1 : (double)n_classes, rows = (double)n_rows;
    return rows * columns > (double)DN_MAX_RANKED_SCORES
               ? 0
               : rows * (8 * columns + 20 + (weighted ? 8 : 0));
}
