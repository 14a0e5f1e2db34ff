/* Raw rows of the table of vector_table.h. */
#ifndef TESTS_RAW_LISTS_H
#define TESTS_RAW_LISTS_H

#include "unit/core/encoder/vector_table.h"

/* The inputs are age, sparse column, kind and note. */
struct raw {
    double *value, *entry;
    uint32_t *feature;
    size_t *start, *truth;
    dn_raw_rows rows;
};

/* The first n rows. */
struct raw raw_of(const vector_table *t, const dn_encoder *encoder, size_t n);

void raw_done(struct raw *raw);

#endif
