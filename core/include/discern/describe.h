/* Descriptions: a machine passes its parameters to a visitor, which converts them to JSON or
 * another format. Parameters are passed as members of the object that is open when the description
 * begins. */
#ifndef DISCERN_DESCRIBE_H
#define DISCERN_DESCRIBE_H

#include <discern/api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

DN_BEGIN_DECLS

/* An array of numbers with one or two dimensions. The values belong to the machine and are valid
 * during the call. */
typedef struct dn_number_array {
    const double *values;
    size_t n_dims;   /* 1 or 2 */
    size_t shape[2]; /* n_dims 1: shape[0] numbers, `stride` apart; n_dims 2: rows and columns, row
                      * by row */
    size_t stride;   /* n_dims == 1 */
} dn_number_array;

/* Functions that receive a description; none may be NULL. name: NULL for items of an array. */
typedef struct dn_visitor {
    void *ctx;
    bool matrices; /* true: also pass large arrays: covariances, layers, support vectors */
    void (*begin_object)(void *ctx, const char *name);
    void (*end_object)(void *ctx);
    void (*begin_array)(void *ctx, const char *name);
    void (*end_array)(void *ctx);
    void (*number)(void *ctx, const char *name, double value); /* NaN: not defined */
    void (*integer)(void *ctx, const char *name, int64_t value);
    void (*boolean)(void *ctx, const char *name, bool value);
    /* text [length] in UTF-8; text NULL: missing */
    void (*text)(void *ctx, const char *name, const char *text, size_t length);
    void (*array)(void *ctx, const char *name, const dn_number_array *array);
} dn_visitor;

/* Pass n numbers, or n_rows × n_cols numbers, to v->array. */
static inline void
dn_visit_vector(const dn_visitor *v, const char *name, const double *values, size_t n) {
    dn_number_array array;
    array.values = values;
    array.n_dims = 1;
    array.shape[0] = n;
    array.shape[1] = 1;
    array.stride = 1;
    v->array(v->ctx, name, &array);
}
static inline void dn_visit_matrix(
    const dn_visitor *v, const char *name, const double *values, size_t n_rows, size_t n_cols) {
    dn_number_array array;
    array.values = values;
    array.n_dims = 2;
    array.shape[0] = n_rows;
    array.shape[1] = n_cols;
    array.stride = 1;
    v->array(v->ctx, name, &array);
}

DN_END_DECLS

#endif
