#include "base/argument.h"

dn_status dni_argument_null(const char *name, dn_error *err) {
    return dn_error_set(err, DN_ERR_ARGUMENT, "%s must not be NULL", name);
}

dn_status dni_argument_not_null(const void *p, const char *name, dn_error *err) {
    return p != NULL ? DN_OK : dni_argument_null(name, err);
}

dn_status dni_argument_struct(size_t struct_size, size_t known, const char *name, dn_error *err) {
    if (struct_size > known) {
        return dn_error_set(err, DN_ERR_VERSION,
                            "%s has a struct_size of %zu bytes, but this version of the library "
                            "knows only %zu: the library is older than the headers",
                            name, struct_size, known);
    }
    if (struct_size != 0 && struct_size < known) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "%s has a struct_size of %zu bytes, but at least %zu are needed (0: "
                            "the size in version 0.1)",
                            name, struct_size, known);
    }
    return DN_OK;
}

dn_status dni_argument_group(const dn_run *run, dn_error *err) {
    const dn_group *group = run->group;
    if (group == NULL) {
        return DN_OK;
    }
    dn_status status = dni_argument_struct(group->struct_size, sizeof *group, "the group", err);
    if (status != DN_OK) {
        return status;
    }
    if (group->n_ranks < 1 || group->n_ranks > DN_MAX_RANKS) {
        return dn_error_set(err, DN_ERR_ARGUMENT, "a group must have 1 to %d ranks (got %zu)",
                            DN_MAX_RANKS, group->n_ranks);
    }
    if (group->rank >= group->n_ranks) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "the rank of a group must be less than its %zu ranks (got %zu)",
                            group->n_ranks, group->rank);
    }
    if (group->gather == NULL || group->exchange == NULL) {
        return dni_argument_null(group->gather == NULL ? "the function gather of the group"
                                                       : "the function exchange of the group",
                                 err);
    }
    return run->sum == NULL
               ? DN_OK
               : dn_error_set(err, DN_ERR_ARGUMENT, "a run with a group must have no function sum");
}

dn_status dni_argument_run(const dn_run *run, dn_error *err) {
    if (run == NULL) {
        return DN_OK;
    }
    dn_status status = dni_argument_struct(run->struct_size, sizeof *run, "the run", err);
    if (status != DN_OK) {
        return status;
    }
    if (run->n_slots == 0) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "the run must have at least one slot (n_slots is 0)");
    }
    return dni_argument_group(run, err);
}

dn_status dni_argument_source(const dn_table_source *source, const char *name, dn_error *err) {
    dn_status status = dni_argument_not_null(source, name, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_argument_struct(source->struct_size, sizeof *source, name, err);
    if (status != DN_OK) {
        return status;
    }
    const bool complete = source->column != NULL && source->n_slots > 0 &&
                          (source->columns != NULL || source->n_cols == 0) &&
                          (source->chunk_first_row != NULL || source->n_chunks == 0);
    if (!complete) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "%s needs columns, chunk_first_row, column and at least one slot",
                            name);
    }
    for (size_t i = 0; i <= source->n_chunks && source->n_chunks > 0; i++) {
        const size_t first = source->chunk_first_row[i];
        if (i == 0 ? first != 0 : first < source->chunk_first_row[i - 1]) {
            return dn_error_set(err, DN_ERR_ARGUMENT,
                                "%s: chunk_first_row must ascend from 0 (item %zu is %zu)", name, i,
                                first);
        }
    }
    const size_t n_rows = source->n_chunks == 0 ? 0 : source->chunk_first_row[source->n_chunks];
    return n_rows == source->n_rows ? DN_OK
                                    : dn_error_set(err, DN_ERR_ARGUMENT,
                                                   "%s has %zu rows, but its chunks end at row %zu",
                                                   name, source->n_rows, n_rows);
}

dn_status dni_argument_call(const dn_table_source *source, const dn_run *run, size_t struct_size,
                            size_t known, dn_error *err) {
    dn_status status = dni_argument_source(source, "source", err);
    if (status == DN_OK) {
        status = dni_argument_run(run, err);
    }
    return status == DN_OK ? dni_argument_struct(struct_size, known, "options", err) : status;
}
