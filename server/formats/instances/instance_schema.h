/* The inputs of a model, as the readers of instances need them. Private to formats; formats.h
 * declares the functions. */
#ifndef FORMATS_INSTANCE_SCHEMA_H
#define FORMATS_INSTANCE_SCHEMA_H

#include "formats/formats.h"

struct instance_schema {
    size_t n_inputs;
    size_t n_cells;         /* values of a row without names: one for each input, for a sparse input
                               one for each of its features; without the target */
    size_t block_rows;      /* most rows of a block */
    bool sparse;            /* the model has a sparse input */
    bool entries;           /* the model has a sparse input or a text input */
    uint8_t *type;          /* [n_inputs] dn_column_type */
    size_t *run;            /* [n_inputs + 1] number of numeric inputs in a row from input i on */
    struct missing missing; /* tokens for a missing value */
};

#endif
