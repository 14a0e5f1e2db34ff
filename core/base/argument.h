/* Checks of the arguments that a caller of the library passes, and the place of an error. Each
 * failed check is DN_ERR_ARGUMENT, or DN_ERR_VERSION for a struct of a newer version, with a
 * message that names the argument. */
#ifndef DNI_ARGUMENT_H
#define DNI_ARGUMENT_H

#include <discern/run.h>
#include <discern/table.h>

/* Adds the parameter or column (NULL: none) and the row (-1: none) to an error that was recorded.
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

/* Reports that the argument of this name is NULL. Returns DN_ERR_ARGUMENT. */
dn_status dni_argument_null(const char *name, dn_error *err);

/* p is not NULL. */
DN_MUST_USE dn_status dni_argument_not_null(const void *p, const char *name, dn_error *err);

/* struct_size is 0 or `known`, the size of the struct in this version of the library. */
DN_MUST_USE dn_status dni_argument_struct(size_t struct_size, size_t known, const char *name,
                                          dn_error *err);

/* The run is NULL, or has a valid struct_size and at least one slot. */
DN_MUST_USE dn_status dni_argument_run(const dn_run *run, dn_error *err);

/* The source is not NULL, has a valid struct_size, columns, chunk borders and functions. */
DN_MUST_USE dn_status dni_argument_source(const dn_table_source *source, const char *name,
                                          dn_error *err);

#endif
