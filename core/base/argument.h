/* Checks of arguments that a caller of the library passes, and the field and row of an error. A
 * failed check returns DN_ERR_ARGUMENT, or DN_ERR_VERSION for a struct of a newer version, with a
 * message that names the argument. */
#ifndef DNI_ARGUMENT_H
#define DNI_ARGUMENT_H

#include <discern/run.h>
#include <discern/table.h>

/* Adds the parameter or column name (NULL: none) and the row (-1: none) to an error that was set.
 * Returns status: `return dni_error_at(dn_error_set(err, …), column->name, row, err);` */
static inline dn_status dni_error_at(dn_status status, const char *field, int64_t row,
                                     dn_error *err) {
    if (field != NULL) {
        dn_error_set_field(err, field);
    }
    if (row >= 0) {
        dn_error_set_row(err, row);
    }
    return status;
}

/* Reports that the argument with this name is NULL. Returns DN_ERR_ARGUMENT. */
dn_status dni_argument_null(const char *name, dn_error *err);

/* Checks that p is not NULL. */
DN_MUST_USE dn_status dni_argument_not_null(const void *p, const char *name, dn_error *err);

/* Checks that struct_size is 0 or `known`, the size of the struct in this version of the
 * library. */
DN_MUST_USE dn_status dni_argument_struct(size_t struct_size, size_t known, const char *name,
                                          dn_error *err);

/* Checks the group of the run: struct_size, ranks, functions. A group excludes run->sum. */
DN_MUST_USE dn_status dni_argument_group(const dn_run *run, dn_error *err);

/* Checks that the run is NULL, or has a valid struct_size, at least one slot and a valid group. */
DN_MUST_USE dn_status dni_argument_run(const dn_run *run, dn_error *err);

/* Checks that the source is not NULL and has a valid struct_size, columns, chunk borders and
 * functions. */
DN_MUST_USE dn_status dni_argument_source(const dn_table_source *source, const char *name,
                                          dn_error *err);

/* Checks the arguments of a function that reads a table: calls dni_argument_source for "source",
 * dni_argument_run, and dni_argument_struct for "options". struct_size: that of the options, 0 if
 * they are NULL. */
DN_MUST_USE dn_status dni_argument_call(const dn_table_source *source, const dn_run *run,
                                        size_t struct_size, size_t known, dn_error *err);

#endif
