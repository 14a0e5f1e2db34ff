/* Categories of validation rows that no training row has. */
#ifndef DNI_UNSEEN_CATEGORIES_H
#define DNI_UNSEEN_CATEGORIES_H

#include <discern/algorithm.h>
#include <discern/encoder.h>

enum { DNI_UNSEEN_LISTED = 8 };

typedef struct dni_unseen_category {
    char column[DN_FIELD_SIZE], value[DN_FIELD_SIZE]; /* truncated as by dni_copy_name */
    size_t n_rows;
} dni_unseen_category;

/* The unseen categories that were counted. Begin with {0}. */
typedef struct dni_unseen {
    dni_unseen_category listed[DNI_UNSEEN_LISTED]; /* [n_listed] */
    size_t n_listed;
    size_t n_values; /* number of cells, also of categories that are not listed */
} dni_unseen;

/* Counts the cells of the categorical inputs that have an unseen category. May be called for
 * several encoders, each with its rows.
 *
 *   source  has columns with the names of the inputs
 *   role    [source->n_rows] only rows with DN_ROW_VALIDATE are counted; NULL: all rows */
DN_MUST_USE dn_status dni_unseen_count(const dn_encoder *encoder, const dn_table_source *source,
                                       const uint8_t *role, const dn_run *run, dni_unseen *unseen,
                                       dn_error *err);
/* Adds a warning (DN_WARNING_UNSEEN) if there are unseen categories. rows: names the rows, such as
 * "validation". */
void dni_unseen_warn(const dni_unseen *unseen, const char *rows, dn_report *report);

#endif
