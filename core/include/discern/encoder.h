/* The feature encoder: from the columns of a table to the numbers x that learners see. Fitted on the training rows only, stored with the model.
 *
 * Two steps. A *raw row* is one double for each input column: the number itself (booleans 0, 1), the index of the category in the input's level list,
 * DN_UNSEEN for a category that training never saw, NaN for missing. The encoder turns raw rows into x ∈ R^d:
 *   numeric, boolean: one feature; missing → the training rows' weighted mean.
 *   categorical, K levels: K features of which one is 1 (1-of-K); missing is a level of its own ("(missing)") when training rows had it, otherwise
 *   missing and unseen categories give all zeros.
 * `standardize` (x − m)/s with m, s of the training rows (divisor Σv; s = 1 for a constant column) is part of the encoder's description; whether x is
 * delivered standardised or raw is said by `dn_encoder_standardizes`. It applies to numeric columns only (ALGORITHMS.md, Conventions). */
#ifndef DISCERN_ENCODER_H
#define DISCERN_ENCODER_H

#include <discern/rows.h>
#include <discern/run.h>
#include <discern/table.h>

#define DN_UNSEEN (-1.0)

/* Levels are part of a model and of every process that serves it: how many a categorical input may have, and how much text. */
#define DN_MAX_LEVELS 10000
#define DN_MAX_LEVEL_BYTES ((size_t)1 << 20)   /* of one input; of the classes of a target too */
#define DN_MAX_LEVELS_BYTES ((size_t)16 << 20) /* of all inputs */

/* Which rows of a source take part: role[row] for every row. NULL where a whole source is meant. */
enum dn_row_role { DN_ROW_SKIP = 0, DN_ROW_TRAIN = 1, DN_ROW_VALIDATE = 2 };

typedef struct dn_encoder_spec {
    const size_t
        *columns; /* the source's columns that are inputs, in feature order; DN_TEXT columns are refused (DN_ERR_DATA, field = name) */
    size_t n_columns;
    bool standardize;
    size_t max_levels; /* DN_ERR_DATA when a categorical column has more; 0: DN_MAX_LEVELS */
} dn_encoder_spec;

typedef struct dn_encoder dn_encoder; /* immutable once fitted, shared freely */

/* One input column of a fitted encoder. */
typedef struct dn_input {
    const char *name;
    dn_column_type type;
    dn_strings levels;  /* categorical: ascending by bytes; empty otherwise */
    bool missing_level; /* missing is a level of its own (the last feature of the input) */
    double fill;        /* numeric, boolean: what stands for missing */
    size_t first_feature, n_features;
} dn_input;

/* One pass (two when standardising) over the rows with role[row] == DN_ROW_TRAIN (NULL: all), by run's sum. weight: NULL or [source->n_rows]; a row of weight 0 counts as
 * none, also for the levels. A column is constant when its extremes are equal or its deviation is <= 1e-14 of their magnitude. A number that no training row has is filled with 0.
 * DN_ERR_DATA: no training row, no column, a text column, too many levels or too much text in them; DN_ERR_NUMERIC: a mean or deviation that is not finite; DN_ERR_ARGUMENT: a weight < 0 or not finite. */
DN_MUST_USE dn_status dn_encoder_fit(const dn_table_source *source, const dn_encoder_spec *spec, const uint8_t *role, const double *weight,
                                     const dn_run *run, dn_encoder **out, dn_error *err);
dn_encoder *dn_encoder_ref(dn_encoder *encoder); /* shared by counting: thread safe */
void dn_encoder_unref(dn_encoder *encoder);      /* NULL is allowed */

size_t dn_encoder_n_inputs(const dn_encoder *encoder);
const dn_input *dn_encoder_input(const dn_encoder *encoder, size_t i);
size_t dn_encoder_n_features(const dn_encoder *encoder);
bool dn_encoder_standardizes(const dn_encoder *encoder);
/* Mean and deviation by which feature j is standardised (0 and 1 for one that is not). [n_features], the encoder's. */
const double *dn_encoder_mean(const dn_encoder *encoder);
const double *dn_encoder_scale(const dn_encoder *encoder);
/* Name of feature j: "petal_length", "sex=female", "cabin=(missing)". No two features have the same: a column's name that contains '=' or begins with '"', and a level that begins with '"'
 * or reads "(missing)", is put in double quotes, those within it doubled. Writes at most size bytes with NUL, returns the length it would need. */
size_t dn_encoder_feature_name(const dn_encoder *encoder, size_t j, char *out, size_t size);

/* The level's index as a raw value, DN_UNSEEN if training never saw it. O(length) by hashing; thread safe. */
double dn_encoder_level(const dn_encoder *encoder, size_t input, const char *text, size_t length);

/* x of n_rows raw rows [n_rows × n_inputs] → out [n_rows × n_features] dense, standardised when the encoder standardises. No allocation, cannot fail. */
void dn_encoder_apply(const dn_encoder *encoder, const double *raw, size_t n_rows, double *out);

/* Rows of a source, encoded: those with role[row] == wanted, renumbered from 0 in order; target [source->n_rows] holds the class index of every source row
 * (copied for the selected rows only as blocks are asked for), weight likewise or NULL. Dense or CSR is chosen by the encoder's expected density (CSR below 1/4), standardised columns always dense ones.
 * With in_memory the encoded matrix is built once through run's allocator (DN_ERR_BUDGET when it does not fit: its message says the bytes needed), otherwise each block is
 * decoded and encoded anew at every call: bounded memory, the same blocks bit for bit; source->n_slots must then be at least run->n_slots. Inputs are found in the source by name and
 * must have their type (DN_ERR_DATA, field). CSR rows hold no zeros. source, encoder, role, target and weight must outlive it. */
DN_MUST_USE dn_status dn_rows_from_source(const dn_table_source *source, const dn_encoder *encoder, const uint8_t *role,
                                          enum dn_row_role wanted, const double *target, const double *weight, bool in_memory,
                                          const dn_run *run, dn_rows **out, dn_error *err);
/* Bytes that in_memory would take for n_rows rows, target and weight included; SIZE_MAX: more than can be addressed. */
size_t dn_encoder_rows_bytes(const dn_encoder *encoder, size_t n_rows);

#endif
