/* The rows that a model is fitted to: a source, its encoder, who takes part with which class; and rows over it for a whole fit or for one of several machines. */
#ifndef DNI_TRAINING_SET_H
#define DNI_TRAINING_SET_H

#include <discern/algorithm.h>
#include <discern/decision.h>
#include <discern/encoder.h>

typedef struct dni_training_set {
    const dn_table_source *source;
    const dn_encoder *encoder;
    const uint8_t *role;  /* [source->n_rows] dn_row_role */
    const double *index;  /* [source->n_rows] class index; NULL without a target */
    const double *weight; /* [source->n_rows] or NULL */
    size_t n_rows;        /* with role DN_ROW_TRAIN */
    size_t n_classes;
    const dn_params *params;
    const char *const *class_names; /* [n_classes] */
    double
        reserve; /* bytes to leave in the run's budget when rows are kept in memory, beside what the learner needs: what judging the model will take */
} dni_training_set;

/* The training rows encoded: in memory when they fit beside what the learner needs, else streamed (for a learner that can; *out_streamed tells). */
DN_MUST_USE dn_status dni_training_rows(const dni_training_set *set, const dn_run *run,
                                        dn_rows **out, bool *out_streamed, dn_error *err);

/* The training rows of two classes alone, 0 for `negative` and 1 for `positive`, renumbered from 0. Owns what it is made of. */
DN_MUST_USE dn_status dni_training_pair(const dni_training_set *set, size_t negative,
                                        size_t positive, const dn_run *run, dn_rows **out,
                                        dn_error *err);
/* `base` with class 1 for `positive` and 0 for every other: borrows base. */
DN_MUST_USE dn_status dni_training_rest(const dn_rows *base, size_t positive, const dn_run *run,
                                        dn_rows **out, dn_error *err);

#endif
