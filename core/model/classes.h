/* The sorted classes of a target. Owns their memory, and finds a class by its value. */
#ifndef DNI_CLASSES_H
#define DNI_CLASSES_H

#include "base/string_set.h"
#include <discern/model.h>

typedef struct dni_classes {
    dn_classes view;      /* views of the members below */
    double *number;       /* numeric, boolean: [n] ascending; NULL otherwise */
    dni_string_set names; /* names of the classes, in the order of the classes */
} dni_classes;

/* Returns true if classes of this column type are numbers (numeric, boolean). */
bool dni_classes_numeric(dn_column_type type);

/* Create classes from copies of the values. The values must be strictly ascending; boolean numbers
 * must be 0 or 1. DN_ERR_CORRUPT: the values violate these rules; DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_classes_from_numbers(dn_column_type type, const double *number, size_t n,
                                               dni_classes *out, dn_error *err);
DN_MUST_USE dn_status dni_classes_from_strings(dn_column_type type, dn_strings names,
                                               dni_classes *out, dn_error *err);
DN_MUST_USE dn_status dni_classes_copy(const dni_classes *classes, dni_classes *out, dn_error *err);
/* Returns true if two lists have the same classes, as numbers or as texts. */
bool dni_classes_equal(const dn_classes *a, const dn_classes *b);
void dni_classes_done(dni_classes *classes);

/* Return the index of a class, or SIZE_MAX if there is none. */
size_t dni_classes_find_number(const dni_classes *classes, double number);
size_t dni_classes_find_text(const dni_classes *classes, const char *text, size_t length);

#endif
