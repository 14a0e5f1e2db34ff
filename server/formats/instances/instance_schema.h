/* The inputs of a model, as the readers of instances need them. Private to formats; formats.h
 * declares the functions. */
#ifndef FORMATS_INSTANCE_SCHEMA_H
#define FORMATS_INSTANCE_SCHEMA_H

#include "formats/formats.h"
#include "formats/instances/table_reading.h"

struct instance_schema {
    size_t n_inputs;
    /* number of values in a row without names: one for each input, for a sparse input one for each
     * of its features; the target is not counted */
    size_t n_cells;
    size_t block_rows; /* limit of the rows in a block */
    bool sparse;       /* the model has a sparse input */
    bool parts;        /* the model has an input that is a part of dates */
    bool shared;       /* several inputs read the same column: parts of dates */
    bool entries;      /* the model has a sparse input or a text input */
    /* [n_inputs] dn_column_type of the values; DN_DATETIME also for parts of dates */
    uint8_t *type;
    /* [n_inputs + 1] number of consecutive numeric inputs from input i on */
    size_t *run;
    /* [n_inputs + 1] the numbers of the input have decimal commas; the last element is for the
     * target. NULL: none */
    bool *comma;
    struct table_reading reading; /* of the table that the model was trained on */
};

#endif
