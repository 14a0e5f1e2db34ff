/* Rows of a training set. Pairs of classes are selected from the source anew, so that their blocks are cut at their own row numbers whether they are held in memory or
 * streamed; one against the rest is a view with other targets. */
#include "training/training_set.h"
#include "encoder/encoder_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A budget cannot be asked how much is left of it: what learner and judge will need is held while the rows are made. */
static bool hold_reserve(const dni_training_set *set, const dn_run *run, size_t n_rows,
                         size_t n_classes, void **out) {
    const dn_allocator *allocator = run->allocator;
    const dn_fit_shape shape = {.n_rows = n_rows,
                                .n_features = dn_encoder_n_features(set->encoder),
                                .n_classes = n_classes,
                                .n_slots = run->n_slots,
                                .n_entries = dni_encoder_stored_entries(set->encoder, n_rows)};
    double bytes = set->params->algorithm->memory(set->params, &shape);
    bytes = fmax(bytes, set->reserve);
    *out = NULL;
    if (allocator == NULL || bytes < 1) {
        return true;
    }
    if (bytes < (double)(SIZE_MAX / 4)) {
        *out = allocator->allocate(allocator->ctx, (size_t)bytes);
    }
    return *out != NULL;
}

/* Rows of the set by other roles and targets. */
static dn_status make_rows(const dni_training_set *set, const uint8_t *role, const double *target,
                           size_t n_rows, size_t n_classes, const dn_run *run, dn_rows **out,
                           bool *out_streamed, dn_error *err) {
    bool streams = (set->params->algorithm->flags & DN_ALGORITHM_STREAMS) != 0;
    void *reserved = NULL;
    dn_error refused = {0};
    dn_status status = DN_ERR_BUDGET;
    if (!streams || hold_reserve(set, run, n_rows, n_classes, &reserved)) {
        status = dn_rows_from_source(set->source, set->encoder, role, DN_ROW_TRAIN, target,
                                     set->weight, true, run, out, streams ? &refused : err);
    }
    if (reserved != NULL) {
        run->allocator->release(run->allocator->ctx, reserved);
    }
    *out_streamed = streams && (status == DN_ERR_BUDGET || status == DN_ERR_MEMORY);
    if (*out_streamed) {
        return dn_rows_from_source(set->source, set->encoder, role, DN_ROW_TRAIN, target,
                                   set->weight, false, run, out, err);
    }
    if (status != DN_OK && streams && err != NULL && err->code == DN_OK) {
        *err = refused;
    }
    return status;
}

dn_status dni_training_rows(const dni_training_set *set, const dn_run *run, dn_rows **out,
                            bool *out_streamed, dn_error *err) {
    return make_rows(set, set->role, set->index, set->n_rows, set->n_classes, run, out,
                     out_streamed, err);
}

/* ---- rows over other rows ---- */
struct other_rows {
    dn_rows rows; /* first: a dn_rows * is a struct other_rows * */
    const dn_rows *base;
    dn_rows *owned; /* base, when it is ours */
    dn_run run;     /* its allocator serves until the end */
    double positive;
    double *target; /* rest: [slots × DN_BLOCK_ROWS]; pair: [source rows] */
    uint8_t *role;  /* pair: [source rows] */
};

static void other_free(dn_rows *rows) {
    struct other_rows *self = (struct other_rows *)rows;
    dn_rows_free(self->owned);
    dn_run_free(&self->run, self->role);
    dn_run_free(&self->run, self->target);
    free(self);
}

static dn_status other_new(const dn_run *run, size_t n_targets, struct other_rows **out,
                           dn_error *err) {
    struct other_rows *self = calloc(1, sizeof *self);
    void *memory;
    if (self == NULL) {
        dn_error_set(err, DN_ERR_MEMORY,
                     "the rows need %zu bytes of memory, which the system does not have",
                     sizeof *self);
        return DN_ERR_MEMORY;
    }
    self->run = *run;
    dn_status status =
        dn_run_alloc(run, n_targets, sizeof(double), "the targets of a machine", &memory, err);
    if (status != DN_OK) {
        free(self);
        return status;
    }
    self->target = memory;
    *out = self;
    return DN_OK;
}

static dn_status rest_targets(const struct other_rows *self, size_t slot, dn_status status,
                              dn_block *out) {
    double *target = self->target + slot * DN_BLOCK_ROWS;
    if (status != DN_OK) {
        return status;
    }
    for (size_t t = 0; t < out->x.n_rows; t++) {
        target[t] = out->target[t] == self->positive;
    }
    out->target = target;
    return DN_OK;
}

static dn_status rest_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out,
                            dn_error *err) {
    const struct other_rows *self = (const struct other_rows *)rows;
    return rest_targets(self, slot, dn_rows_block(self->base, i, slot, out, err), out);
}

static dn_status rest_piece(const dn_rows *rows, size_t i, size_t first, size_t n, size_t slot,
                            dn_block *out, dn_error *err) {
    const struct other_rows *self = (const struct other_rows *)rows;
    (void)n; /* both are cut alike */
    return rest_targets(self, slot,
                        dn_rows_piece(self->base, i, first / rows->piece_rows, slot, out, err),
                        out);
}

dn_status dni_training_rest(const dn_rows *base, size_t positive, const dn_run *run, dn_rows **out,
                            dn_error *err) {
    struct other_rows *self;
    size_t n_slots = base->n_slots < run->n_slots ? base->n_slots : run->n_slots;
    dn_status status = other_new(run, n_slots * DN_BLOCK_ROWS, &self, err);
    if (status != DN_OK) {
        return status;
    }
    self->base = base;
    self->positive = (double)positive;
    self->rows = *base;
    self->rows.n_slots = n_slots;
    self->rows.block = rest_block;
    self->rows.piece = rest_piece;
    self->rows.free = other_free;
    *out = &self->rows;
    return DN_OK;
}

static dn_status pair_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out,
                            dn_error *err) {
    const struct other_rows *self = (const struct other_rows *)rows;
    return dn_rows_block(self->base, i, slot, out, err);
}

static dn_status pair_piece(const dn_rows *rows, size_t i, size_t first, size_t n, size_t slot,
                            dn_block *out, dn_error *err) {
    const struct other_rows *self = (const struct other_rows *)rows;
    (void)n; /* both are cut alike */
    return dn_rows_piece(self->base, i, first / rows->piece_rows, slot, out, err);
}

dn_status dni_training_pair(const dni_training_set *set, size_t negative, size_t positive,
                            const dn_run *run, dn_rows **out, dn_error *err) {
    struct other_rows *self;
    size_t n = set->source->n_rows, n_rows = 0;
    void *role = NULL;
    dn_status status = other_new(run, n, &self, err);
    if (status != DN_OK) {
        return status;
    }
    status = dn_run_alloc(run, n, 1, "the roles of a pair's rows", &role, err);
    self->role = role;
    for (size_t t = 0; status == DN_OK && t < n; t++) {
        bool taken = set->role[t] == DN_ROW_TRAIN &&
                     (set->index[t] == (double)negative || set->index[t] == (double)positive);
        self->role[t] = taken ? DN_ROW_TRAIN : DN_ROW_SKIP;
        self->target[t] = taken && set->index[t] == (double)positive;
        n_rows += taken;
    }
    bool streamed;
    if (status == DN_OK) {
        status =
            make_rows(set, self->role, self->target, n_rows, 2, run, &self->owned, &streamed, err);
    }
    if (status != DN_OK) {
        other_free(&self->rows);
        return status;
    }
    self->base = self->owned;
    self->rows = *self->owned;
    self->rows.block = pair_block;
    self->rows.piece = pair_piece;
    self->rows.free = other_free;
    *out = &self->rows;
    return DN_OK;
}
