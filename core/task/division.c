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
        status =
            check_column(r, "calibration_group", r->calibration_grouped, r->calibration_group, err);
    }
    if (status == DN_OK) {
        status = check_column(r, "order", r->ordered, r->order, err);
    }
    return status == DN_OK ? check_column(r, "mark", r->marked, r->mark, err) : status;
}

/* ---- groups ---- */
/* *out ← the groups of the rows, by the values of a column. The caller frees out->group with
 * dn_run_free.
 *
 *   stratum  class index; NaN: the row is ignored */
static dn_status read_groups(const dn_train_request *r, size_t column, const double *stratum,
                             size_t n_strata, const dn_run *run, dni_grouped *out, dn_error *err) {
    const size_t n = r->source->n_rows;
    void *memory = NULL;
    size_t n_groups = 0;
    dn_status status =
        dn_run_alloc(run, n, sizeof(uint32_t), "the groups of the rows", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_row_groups_read(r->source, column, stratum, run, memory, &n_groups, err);
    if (status != DN_OK) {
        dn_run_free(run, memory);
        return status;
    }
    *out = (dni_grouped){.stratum = stratum,
                         .group = memory,
                         .n_rows = n,
                         .n_strata = n_strata,
                         .n_groups = n_groups};
    return DN_OK;
}

static void free_groups(const dni_grouped *groups, const dn_run *run) {
    dn_run_free(run, (void *)(uintptr_t)groups->group);
}

static dn_status grouped_holdout(const dn_train_request *r, const dn_run *run, dni_labels *l,
                                 dni_split *out, dn_error *err) {
    dni_grouped groups;
    dn_status status = read_groups(r, r->group, l->stratum, l->n_strata, run, &groups, err);
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
    dn_status status = read_groups(r, r->group, l->stratum, l->n_strata, run, &groups, err);
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

/* ---- the folds of a calibration ---- */
static dn_status refuse_calibration(const char *column, size_t n_groups, dn_error *err) {
    return dni_error_at(
        dn_error_set(
            err, DN_ERR_DATA,
            "the calibration keeps the groups of column \"%.64s\" together, and %zu of them "
            "can be held out (a group with all rows of a class cannot): it needs at least 2",
            column, n_groups),
        "calibrate", -1, err);
}

/* Divides the groups into at most *n_folds folds, none of which is empty. */
static dn_status calibration_folds(const dni_grouped *groups, const char *column, const dn_run *run,
                                   size_t *n_folds, uint16_t *fold, dn_error *err) {
    size_t n = *n_folds < groups->n_groups ? *n_folds : groups->n_groups, held = groups->n_groups;
    while (n >= 2) {
        dn_status status =
            dni_split_groups_folds(groups, n, DNI_STREAM_FOLDS, run, fold, &held, err);
        if (status != DN_OK) {
            return status;
        }
        if (held >= n) {
            *n_folds = n;
            return DN_OK;
        }
        n = held;
    }
    return refuse_calibration(column, held, err);
}

/* DN_ERR_DATA if no row of a class is held out. */
static dn_status check_held_classes(const dni_grouped *groups, const dni_labels *l, size_t n_folds,
                                    const uint16_t *fold, const char *column, const dn_run *run,
                                    dn_error *err) {
    void *memory = NULL;
    dn_status status = dn_run_alloc(run, groups->n_strata, sizeof(uint8_t),
                                    "the classes of a calibration", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    uint8_t *held = memory;
    size_t k = 0;
    for (size_t i = 0; i < groups->n_rows; i++) {
        if (!isnan(groups->stratum[i]) && fold[i] < n_folds) {
            held[(size_t)groups->stratum[i]] = 1;
        }
    }
    while (k < groups->n_strata && held[k] != 0) {
        k++;
    }
    dn_run_free(run, memory);
    return k == groups->n_strata
               ? DN_OK
               : dni_error_at(dn_error_set(err, DN_ERR_DATA,
                                           "the calibration keeps the groups of column \"%.64s\" "
                                           "together, and class \"%.64s\" has no row in a group "
                                           "that can be held out: it needs rows in 2 groups",
                                           column, l->class_name[k]),
                              "calibrate", -1, err);
}

dn_status dni_division_calibration(const dn_train_request *r, const dni_labels *l,
                                   const double *stratum, const dn_run *run, size_t *n_folds,
                                   uint16_t *fold, size_t *out_group, dn_error *err) {
    const size_t column = r->grouped               ? r->group
                          : r->calibration_grouped ? r->calibration_group
                                                   : SIZE_MAX;
    dni_grouped groups;
    *out_group = column;
    if (column == SIZE_MAX) {
        return dni_split_folds(stratum, r->source->n_rows, l->n_strata, *n_folds, DNI_STREAM_FOLDS,
                               run, fold, err);
    }
    const char *name = r->source->columns[column].name;
    dn_status status = read_groups(r, column, stratum, l->n_strata, run, &groups, err);
    if (status != DN_OK) {
        return status;
    }
    status = calibration_folds(&groups, name, run, n_folds, fold, err);
    if (status == DN_OK) {
        status = check_held_classes(&groups, l, *n_folds, fold, name, run, err);
    }
    free_groups(&groups, run);
    return status;
}

double dni_division_groups_memory(size_t n_rows, size_t n_classes, size_t n_folds) {
    /* the numbers of the groups, and at most one value of some 32 bytes for each row */
    return (double)n_rows * (sizeof(uint32_t) + 32) +
           dni_split_groups_memory(n_rows, n_classes, n_folds);
}

double dni_division_memory(const dn_train_request *r, size_t n_rows, size_t n_classes) {
    if (r->ordered) {
        return dni_split_order_memory(n_rows);
    }
    return r->grouped ? dni_division_groups_memory(n_rows, n_classes, r->folds == 0 ? 1 : r->folds)
                      : 0;
}
