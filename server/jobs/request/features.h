/* How the inputs of a job become features: the members of `features` in a job's body beside include
 * and exclude. The same text is what a client writes, what the stored specification holds and what
 * a model's description shows. */
#ifndef JOBS_FEATURES_H
#define JOBS_FEATURES_H

#include "base/arena.h"
#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include <discern/discern.h>

#define JOBS_MAX_BASES 16

/* A column that takes part. */
struct jobs_column {
    size_t index; /* in the stored dataset */
    const char *name;
    dn_column_type type;
    size_t width;           /* DN_SPARSE: places, as in dn_table_column; 0 otherwise */
    uint32_t first_index;   /* DN_SPARSE: what place 0 is called */
    dn_index_filter places; /* DN_SPARSE: those that are features; otherwise all, {0} */
};

struct jobs_features {
    bool standardize;
    bool standardize_sparse; /* sparse columns too: their rows are dense then */
    dn_missing_number missing_number;
    dn_missing_category missing_category;
    bool missing_indicator;
    bool automatic; /* the encoding of categories is not chosen yet: `categorical` is to be set by
                       what the algorithm needs */
    dn_categorical categorical;
    dn_unseen_rule unseen;
    dn_text_spec text;
    dn_basis_spec *bases; /* [n_bases]; columns are places among the inputs, NULL: all numeric and
                             boolean ones */
    size_t n_bases;
};

/* What stands where a client says nothing: standardising as the algorithm does, the rest as
 * encoder.h has it, the encoding automatic. */
struct jobs_features jobs_features_default(const dn_algorithm *algorithm);
/* Reads standardize, missing, categorical, text and basis of `object`, whose pointer is `parent`;
 * members that are not there leave *out as it is. inputs [n_inputs] are the job's, in feature
 * order; NULL: they are not known, and what depends on them is not judged. Every fault is noted.
 * Arrays live in the arena. */
void jobs_features_read(const json_t *object, const char *parent, const struct jobs_column *inputs,
                        size_t n_inputs, struct arena *arena, struct jobs_features *out,
                        struct problem *problem);
/* Writes the same members into the object that is open. */
void jobs_features_write(const struct jobs_features *features, const struct jobs_column *inputs,
                         size_t n_inputs, struct json_writer *w);
/* What a column is to the core. The name is borrowed. */
dn_table_column jobs_table_column(const struct jobs_column *column);
/* The places of columns[n] as an encoder's description has them, in the arena; NULL where all are
 * features. false: no memory. */
bool jobs_columns_places(const struct jobs_column *columns, size_t n, struct arena *arena,
                         const dn_index_filter **out);
/* The description for an encoder of a table whose column columns[i] is input i. Borrows `columns`
 * and the bases; the places are the caller's to add. */
dn_encoder_spec jobs_features_spec(const struct jobs_features *features, const size_t *columns,
                                   size_t n);

/* ---- bases (bases.c) ---- */
void jobs_bases_read(const json_t *object, const char *parent, const struct jobs_column *inputs,
                     size_t n_inputs, struct arena *arena, struct jobs_features *out,
                     struct problem *problem);
/* A kind's name as `type` has it. */
const char *jobs_basis_kind_name(dn_basis_kind kind);
/* One basis as the object a client writes, with all that it leaves out filled in. */
void jobs_basis_write(const dn_basis_spec *basis, const struct jobs_column *inputs, size_t n_inputs,
                      struct json_writer *w);
/* Whether column `input` is among those that the basis takes. */
bool jobs_basis_takes(const dn_basis_spec *basis, const struct jobs_column *inputs, size_t input);
/* How many of the inputs the basis takes. */
size_t jobs_basis_width(const dn_basis_spec *basis, const struct jobs_column *inputs,
                        size_t n_inputs);

#endif
