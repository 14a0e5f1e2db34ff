/* Parsed options of a table reader. Private to formats. */
#ifndef FORMATS_TABLE_OPTIONS_H
#define FORMATS_TABLE_OPTIONS_H

#include "formats/formats.h"

/* One "name:type" of the option `types`. */
struct type_override {
    const char *name; /* in the memory of the array */
    size_t length;
    dn_column_type type;
    bool used; /* a column of that name was found */
};
/* Parses the option `types` (NULL: none) into a malloc'ed array. false: PROBLEM_BAD_REQUEST. */
bool table_types_parse(const char *text, struct type_override **out, size_t *n,
                       struct problem *problem);

#endif
