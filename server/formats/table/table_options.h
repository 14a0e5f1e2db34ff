/* Parsed options of a table reader. Private to formats. */
#ifndef FORMATS_TABLE_OPTIONS_H
#define FORMATS_TABLE_OPTIONS_H

#include "formats/formats.h"

/* One "name:type" of the option `types`. */
struct type_override {
    const char *name; /* points into the memory of the array; not NUL-terminated */
    size_t length;
    dn_column_type type;
    uint8_t orders; /* DN_DATETIME: allowed orders of its dates (enum dn_date_order) */
    bool used;      /* the table has a column of that name */
};
/* Parses the option `types` (NULL: none) into a malloc'ed array. Returns false on failure and sets
 * problem: PROBLEM_BAD_REQUEST if the text is invalid. */
bool table_types_parse(const char *text, struct type_override **out, size_t *n,
                       struct problem *problem);

/* Parses the option `names` into a malloc'ed array, in whose memory the texts are. Returns false on
 * failure and sets problem: PROBLEM_BAD_REQUEST if the list is invalid. */
bool table_names_parse(const char *list, struct text **out, size_t *n, struct problem *problem);

#endif
