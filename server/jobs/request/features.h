/* The encoding of the inputs as features: the members of `features` in a job's body except include
 * and exclude. A client's request, the stored request and the document of a model have the same
 * form. */
#ifndef JOBS_FEATURES_H
#define JOBS_FEATURES_H

#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "base/memory/arena.h"
#include <discern/discern.h>

#define JOBS_MAX_BASES 16

/* A column of the dataset that the job uses. */
struct jobs_column {
    size_t index; /* index in the stored dataset */
    const char *name;
    dn_column_type type;
    size_t width;           /* DN_SPARSE: number of feature indices; otherwise 0 */
    uint32_t first_index;   /* DN_SPARSE: the number in the name of the first feature */
    dn_datetime_form form;  /* DN_DATETIME, `part`: how its cells are written; otherwise {0} */
    dn_date_part part;      /* DN_CATEGORICAL: this part of a datetime column; the name is
                             * "<column>:<part>" */
    const char *column;     /* name of the stored column; without `part` equal to `name` */
    dn_index_filter places; /* DN_SPARSE: the feature indices to use; otherwise all, {0} */
};

struct jobs_features {
    bool standardize;
    bool standardize_sparse; /* standardise sparse columns too, whose rows become dense */
    dn_missing_number missing_number;
    dn_missing_category missing_category;
    bool missing_indicator;
    bool automatic; /* encoding "auto": the caller sets `categorical` to what the algorithm needs */
    dn_categorical categorical;
    dn_unseen_rule unseen;
    dn_text_spec text;
    /* the parts of datetime columns that are inputs: bits 1 << dn_date_part; 0: the seconds */
    unsigned date_parts;
    dn_basis_spec *bases; /* [n_bases]; columns are indices of inputs; NULL: all numeric and
                             boolean inputs */
    size_t n_bases;
};

/* Returns the defaults: `standardize` of the algorithm, "encoding": "auto", otherwise the defaults
 * of encoder.h. */
struct jobs_features jobs_features_default(const dn_params *params);
/* Reads standardize, missing, categorical, text, datetime and basis of `object`, whose JSON pointer
 * is `parent`. Absent members leave *out unchanged. Adds every fault to `problem`.
 *
 *   inputs  [n_inputs] inputs of the job, in feature order; NULL: unknown, column names are not
 *   checked
 *   arena   holds the arrays of *out */
void jobs_features_read(const json_t *object, const char *parent, const struct jobs_column *inputs,
                        size_t n_inputs, struct arena *arena, struct jobs_features *out,
                        struct problem *problem);
/* Reads "datetime" of `object`, as jobs_features_read does, into a set of bits. */
void jobs_date_parts_read(const json_t *object, const char *parent, unsigned *out,
                          struct problem *problem);
/* Returns true if the input reads the same stored column as the one before it. */
static inline bool jobs_column_follows(const struct jobs_column *inputs, size_t i) {
    return inputs[i].part != DN_PART_NONE && i > 0 && inputs[i - 1].index == inputs[i].index;
}
/* Writes the members that jobs_features_read reads into the open object. */
void jobs_features_write(const struct jobs_features *features, const struct jobs_column *inputs,
                         size_t n_inputs, struct json_writer *w);
/* Returns the column as the core describes it. Borrows the name. */
dn_table_column jobs_table_column(const struct jobs_column *column);
/* Sets *out to the index filters of the columns, [n] in the arena; NULL if no column has a filter.
 * Returns false if out of memory. */
bool jobs_columns_places(const struct jobs_column *columns, size_t n, struct arena *arena,
                         const dn_index_filter **out);
/* Returns the encoder's description for a table whose column columns[i] is input i. Borrows
 * `columns` and the bases. The caller sets index_filters. */
dn_encoder_spec jobs_features_spec(const struct jobs_features *features, const size_t *columns,
                                   size_t n);

/* ---- bases (bases.c) ---- */
void jobs_bases_read(const json_t *object, const char *parent, const struct jobs_column *inputs,
                     size_t n_inputs, struct arena *arena, struct jobs_features *out,
                     struct problem *problem);
/* Returns the name of the kind, as in "type". */
const char *jobs_basis_kind_name(dn_basis_kind kind);
/* Writes a basis as an object with all defaults filled in. */
void jobs_basis_write(const dn_basis_spec *basis, const struct jobs_column *inputs, size_t n_inputs,
                      struct json_writer *w);
/* Whether the basis uses this input. */
bool jobs_basis_takes(const dn_basis_spec *basis, const struct jobs_column *inputs, size_t input);
/* Returns the number of inputs that the basis uses. */
size_t jobs_basis_width(const dn_basis_spec *basis, const struct jobs_column *inputs,
                        size_t n_inputs);

#endif
