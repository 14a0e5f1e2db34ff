/* Prepared problems: an encoder and encoded training rows that outlive one fit.
 *
 * A prepared problem is encoded once and shared by
 *
 *   - the machines of one versus rest, which use the same rows with different targets;
 *   - the machines of one versus one, which select the rows of their classes (dni_prepared_pair);
 *   - fits with different values of parameters that do not affect the encoding (lambda, C): the
 *     caller sets dni_fit.prepared of the next fit to dni_prepared_ref of this object.
 *
 * Folds cannot share: the encoder of a fold computes means, scales, levels, vocabularies and bases
 * without the rows of the fold, so that its features differ. Fits with different class weights
 * cannot share, because the rows include weights and some encoders use them. */
#ifndef DNI_PREPARED_ROWS_H
#define DNI_PREPARED_ROWS_H

#include <discern/algorithm.h>
#include <discern/encoder.h>

typedef struct dni_prepared {
    /* set by the caller of dni_prepared_rows */
    const dn_table_source *source;
    dn_encoder *encoder;  /* owned */
    const uint8_t *role;  /* [source->n_rows] dn_row_role; borrowed, as are `index` and `weight` */
    const double *index;  /* [source->n_rows] class index; NULL: the task has no target */
    const double *weight; /* [source->n_rows]; NULL: all 1 */
    size_t n_rows;        /* number of rows with role DN_ROW_TRAIN */
    double rows_per_weight; /* see dn_fit_input */
    size_t n_classes;
    const char *const *class_names; /* [n_classes] */

    /* bytes of the memory budget that must remain available if the rows are kept in memory; the
     * evaluation needs these bytes after the fit */
    double reserve;

    dn_rows *rows; /* the training rows, encoded; NULL after dni_prepared_release_rows */
    bool streamed; /* rows are encoded from the source each time they are read */
    size_t n_refs;
} dni_prepared;

/* Allocates an empty object with one reference. DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_prepared_new(dni_prepared **out, dn_error *err);
dni_prepared *dni_prepared_ref(dni_prepared *prepared);
void dni_prepared_unref(dni_prepared *prepared); /* NULL is allowed */

/* Encodes the training rows. They are kept in memory if the rows, the learner and the evaluation
 * together fit in the memory budget. Otherwise they are streamed, if the algorithm supports it
 * (DN_ALGORITHM_STREAMS). */
DN_MUST_USE dn_status dni_prepared_rows(dni_prepared *prepared, const dn_params *params,
                                        const dn_run *run, dn_error *err);
void dni_prepared_release_rows(dni_prepared *prepared);

/* The indices of the prepared rows of each class. With this index the rows of a pair are found
 * without a pass over the rows of all classes. */
typedef struct dni_class_rows {
    size_t *row;   /* [n_rows] row indices, by class, ascending within a class; NULL: no index */
    size_t *start; /* [n_classes + 1] position in `row` of the first row of each class */
    void *memory;
} dni_class_rows;

/* Makes the index. If the rows are streamed, in a group of ranks, or without memory for it, *out has no index. The
 * caller releases it with dni_class_rows_done. */
DN_MUST_USE dn_status dni_class_rows_init(const dni_prepared *prepared, const dn_run *run,
                                          dni_class_rows *out, dn_error *err);
void dni_class_rows_done(dni_class_rows *index, const dn_run *run);

/* Returns the training rows of two classes, numbered from 0, with target 0 for `negative` and 1
 * for `positive`. The rows are copied from the prepared rows in memory. If there is no index, or if
 * there is no memory for a copy, the rows of the pair are encoded from the source. The blocks are
 * the same in all cases. *out must not outlive the prepared problem. */
DN_MUST_USE dn_status dni_prepared_pair(const dni_prepared *prepared, const dni_class_rows *index,
                                        const dn_params *params, size_t negative, size_t positive,
                                        const dn_run *run, dn_rows **out, dn_error *err);

/* Returns a view of the training rows with target 1 for class `positive` and 0 for all others. *out
 * must not outlive the prepared problem. */
DN_MUST_USE dn_status dni_prepared_rest(const dni_prepared *prepared, size_t positive,
                                        const dn_run *run, dn_rows **out, dn_error *err);

/* Returns the bytes of the targets and roles of the rows of a machine with two classes, and of
 * dni_class_rows. */
double dni_machine_rows_memory(size_t n_source_rows, size_t n_classes, size_t n_slots);

#endif
