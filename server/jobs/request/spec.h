/* The request of a job after validation, with all defaults filled in. It is stored as JSON text; a
 * worker needs only this and the chunks of the dataset. */
#ifndef JOBS_SPEC_H
#define JOBS_SPEC_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/ids.h"
#include "base/problem.h"
#include "jobs/request/features.h"
#include <discern/discern.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The weights of rows by their class. */
struct jobs_class_weights {
    dn_class_weight kind;
    const char **names;   /* [n] the classes, as text in the client's order; kind GIVEN only */
    const double *values; /* [n] in the order of `names`, > 0 */
    size_t n;
};

/* Validation on the rows of another dataset version. */
struct jobs_validation {
    const char *dataset; /* name; NULL: no validation on another dataset */
    int64_t version, id;
    bool weighted; /* the dataset has a column named as the weight column of the job */
    const struct jobs_column
        *columns; /* target (if there is one), the n_inputs inputs and, if `weighted`, the weight:
                     index in this dataset, type of the job's column */
};

struct jobs_spec {
    const char *model, *dataset; /* names */
    int64_t dataset_version;
    struct jobs_column target;        /* name NULL: the algorithm has no target */
    const struct jobs_column *inputs; /* in feature order */
    size_t n_inputs;
    bool weighted;
    struct jobs_column weight; /* if `weighted`: a numeric column that is not an input */
    struct jobs_class_weights class_weights;
    dn_weights weights; /* meaning of the weights */
    const dn_algorithm *algorithm;
    dn_params *params; /* checked; freed by jobs_spec_done */
    struct jobs_features features;
    double holdout;                    /* share of the rows; 0: no holdout */
    size_t folds;                      /* 0: no cross-validation */
    struct jobs_validation validation; /* at most one of holdout, folds and validation is set */
    bool curves; /* the metrics include ROC and other curves; false with folds */
    uint64_t seed;
    double seconds; /* 0: no limit */
    int64_t memory_bytes;
    int64_t threads;
    const size_t *snapshots; /* [n_snapshots] iterations, ascending, without duplicates */
    size_t n_snapshots;
    const char **warning_codes; /* [n_warnings] jobs_warning_code of each warning in the answer to
                                   the POST */
    size_t n_warnings;
};

/* The index of the first input in the table that is trained on: 1 after a target, otherwise 0. */
static inline size_t jobs_spec_first_input(const struct jobs_spec *spec) {
    return spec->target.name ? 1 : 0;
}
/* The stored name of a warning that both the POST and the training can report; "": any other
 * warning. */
const char *jobs_warning_code(dn_warning_code code);
/* Appends the stored JSON text. */
void jobs_spec_write(const struct jobs_spec *spec, struct buf *out);
/* Reads the stored JSON text, also of earlier releases. Strings and arrays are allocated in the
 * arena; jobs_spec_done frees the parameters. PROBLEM_INTERNAL: the text is damaged, or has an
 * algorithm or a parameter that this release does not have. */
bool jobs_spec_read(const char *json, struct arena *arena, struct jobs_spec *out,
                    struct problem *problem);
void jobs_spec_done(struct jobs_spec *spec);

#endif
