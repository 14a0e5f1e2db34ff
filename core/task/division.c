/* Chooses the split that a request asks for. */
#include "task/division.h"
#include "base/argument.h"
#include "base/random.h"
#include "task/row_groups.h"
#include "task/split_column.h"
#include "task/split_groups.h"

#include <math.h>

/* ---- checks ---- */
static dn_status check_column(const dn_train_request *r, const char *field, bool set, size_t column,
                              dn_error *err) {
    if (!set) {
        return DN_OK;
    }
    if (column >= r->source->n_cols) {
        return dni_request_refuse(field, "must be a column of the table", err);
    }
    return column == r->target ? dni_request_refuse(field, "must not be the target", err) : DN_OK;
}

static dn_status check_folds(const dn_train_request *r, dn_error *err) {
    if (r->repeats > DN_MAX_REPEATS) {
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT, "must be at most %d (got %zu)",
                                         DN_MAX_REPEATS, r->repeats),
                            "repeats", -1, err);
    }
    if (r->repeats > 1 && (r->folds == 0 || r->folds == DN_LEAVE_ONE_OUT)) {
        return dni_request_refuse("repeats", "needs a number of folds", err);
    }
    if (r->repeats > 1 && r->ordered) {
        return dni_request_refuse("repeats", "must be 1 if the rows have an order", err);
    }
    if (dni_division_fits(r) > DN_MAX_FOLDS && r->folds != DN_LEAVE_ONE_OUT) {
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                         "%zu repeats of %zu folds are more than %d fits",
                                         r->repeats, r->folds, DN_MAX_FOLDS),
                            "repeats", -1, err);
    }
    return DN_OK;
}

dn_status dni_division_check(const dn_train_request *r, dn_error *err) {
    const bool divided = r->grouped || r->ordered;
    dn_status status = check_folds(r, err);
    if (status != DN_OK) {
        return status;
    }
    if (r->grouped && r->ordered) {
        return dni_request_refuse("order", "groups and an order exclude each other", err);
    }
    if (divided && r->holdout == 0 && (r->folds == 0 || r->folds == DN_LEAVE_ONE_OUT)) {
        return dni_request_refuse(r->grouped ? "group" : "order",
                                  "needs a holdout or a number of folds", err);
    }
    if (r->marked && (r->holdout > 0 || r->folds > 0 || r->validation != NULL || divided)) {
        return dni_request_refuse("mark", "marks exclude every other validation", err);
    }
    status = check_column(r, "group", r->grouped, r->group, err);
    if (status == DN_OK) {
        status = check_column(r, "order", r->ordered, r->order, err);
    }
    return status == DN_OK ? check_column(r, "mark", r->marked, r->mark, err) : status;
}

/* ---- groups ---- */
/* *out ← the groups of the rows. The caller frees out->group with dn_run_free. */
static dn_status read_groups(const dn_train_request *r, const dn_run *run, const dni_labels *l,
                             dni_grouped *out, dn_error *err) {
    const size_t n = r->source->n_rows;
    void *memory = NULL;
    size_t n_groups = 0;
    dn_status status =
        dn_run_alloc(run, n, sizeof(uint32_t), "the groups of the rows", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_row_groups_read(r->source, r->group, l->stratum, run, memory, &n_groups, err);
    if (status != DN_OK) {
        dn_run_free(run, memory);
        return status;
    }
    *out = (dni_grouped){.stratum = l->stratum,
                         .group = memory,
                         .n_rows = n,
                         .n_strata = l->n_strata,
                         .n_groups = n_groups};
    return DN_OK;
}

static void free_groups(const dni_grouped *groups, const dn_run *run) {
    dn_run_free(run, (void *)(uintptr_t)groups->group);
}

static dn_status grouped_holdout(const dn_train_request *r, const dn_run *run, dni_labels *l,
                                 dni_split *out, dn_error *err) {
    dni_grouped groups;
    dn_status status = read_groups(r, run, l, &groups, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_split_groups_holdout(&groups, r->holdout, run, l->role, out, err);
    free_groups(&groups, run);
    return status;
}

static dn_status grouped_folds(const dn_train_request *r, uint64_t stream, const dn_run *run,
                               const dni_labels *l, uint16_t *fold, dn_error *err) {
    dni_grouped groups;
    size_t held = 0;
    dn_status status = read_groups(r, run, l, &groups, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_split_groups_folds(&groups, r->folds, stream, run, fold, &held, err);
    free_groups(&groups, run);
    if (status == DN_OK && held < r->folds) {
        const char *name = r->source->columns[r->group].name;
        status = dni_error_at(
            dn_error_set(err, DN_ERR_DATA,
                         "%zu folds need at least %zu groups, and group column \"%.64s\" has %zu "
                         "that can be held out (a group with all rows of a class cannot): use "
                         "fewer folds",
                         r->folds, r->folds, name, held),
            name, -1, err);
    }
    return status;
}

/* ---- the division ---- */
dn_status dni_division_holdout(const dn_train_request *r, const dn_run *run, dni_labels *l,
                               dni_split *out, dn_error *err) {
    if (r->marked) {
        return dni_split_marks(r->source, r->mark, run, l, out, err);
    }
    if (r->holdout > 0 && r->grouped) {
        return grouped_holdout(r, run, l, out, err);
    }
    if (r->holdout > 0 && r->ordered) {
        return dni_split_order_holdout(r->source, r->order, r->holdout, run, l, out, err);
    }
    return dni_split_holdout(l->stratum, r->source->n_rows, l->n_strata, r->holdout, run, l->role,
                             out, err);
}

dn_status dni_division_folds(const dn_train_request *r, size_t repeat, const dn_run *run,
                             dni_labels *l, uint16_t *fold, dn_error *err) {
    const uint64_t stream =
        repeat == 0 ? (uint64_t)DNI_STREAM_FOLDS : DNI_STREAM_REPEATS + (uint64_t)repeat;
    if (r->grouped) {
        return grouped_folds(r, stream, run, l, fold, err);
    }
    if (r->ordered) {
        return dni_split_order_folds(r->source, r->order, r->folds, run, l, fold, err);
    }
    return dni_split_folds(l->stratum, r->source->n_rows, l->n_strata, r->folds, stream, run, fold,
                           err);
}

double dni_division_memory(const dn_train_request *r, size_t n_rows, size_t n_classes) {
    const size_t n_folds = r->folds == 0 ? 1 : r->folds;
    if (r->ordered) {
        return dni_split_order_memory(n_rows);
    }
    /* the numbers of the groups, and at most one value of some 32 bytes for each row */
    return r->grouped ? (double)n_rows * (sizeof(uint32_t) + 32) +
                            dni_split_groups_memory(n_rows, n_classes, n_folds)
                      : 0;
}
