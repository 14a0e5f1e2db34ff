/* A job as it will be run: complete, validated, self-contained (a worker needs nothing but this and
 * the dataset's chunks). Stored as JSON text. */
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

/* How much rows count by their class. */
struct jobs_class_weights {
    dn_class_weight kind;
    const char **names;   /* given: [n] the text of each class, as the client wrote it */
    const double *values; /* given: [n] > 0 */
    size_t n;
};

/* Labelled rows of another dataset version. */
struct jobs_validation {
    const char *dataset; /* NULL: none */
    int64_t version, id;
    bool weighted; /* its rows have weights too: a column of the same name */
    const struct jobs_column
        *columns; /* [n_inputs, and 1 with a target, and 1 when weighted] target, inputs and weight
                     as they are in it, each read as the job's column is */
};

struct jobs_spec {
    const char *model, *dataset; /* names */
    int64_t dataset_version;
    struct jobs_column target;        /* name NULL: the algorithm has none */
    const struct jobs_column *inputs; /* in feature order */
    size_t n_inputs;
    bool weighted;
    struct jobs_column weight; /* when weighted: a numeric column that is no input */
    struct jobs_class_weights class_weights;
    const dn_algorithm *algorithm;
    dn_params *params; /* owned by the spec when read back; complete and checked */
    struct jobs_features features;
    double holdout;                    /* 0: none */
    size_t folds;                      /* 0: none */
    struct jobs_validation validation; /* of the three at most one */
    bool curves; /* metrics of the training and the validation rows come with curves; not with folds
                  */
    uint64_t seed;
    double seconds; /* 0: no limit */
    int64_t memory_bytes;
    int64_t threads;
    const size_t *snapshots; /* ascending */
    size_t n_snapshots;
    const char **warning_codes; /* [n_warnings] of the warnings that the job was posted with: the
                                   jobs_warning_code of what a training would report; "": none */
    size_t n_warnings;
};

/* How many columns of the training's table there are before the inputs: the target, or nothing. */
static inline size_t jobs_spec_first_input(const struct jobs_spec *spec) {
    return spec->target.name ? 1 : 0;
}
/* The stored name of a warning that a post can report before the training does; "": any other. */
const char *jobs_warning_code(dn_warning_code code);
/* As JSON text: what a client may write of it as a client writes it, columns as parallel lists.
 * Seeds up to 2^53. */
void jobs_spec_write(const struct jobs_spec *spec, struct buf *out);
/* Back. Strings and arrays live in the arena, params are freed by jobs_spec_done. PROBLEM_INTERNAL:
 * the stored text is damaged, or names what this binary does not know. */
bool jobs_spec_read(const char *json, struct arena *arena, struct jobs_spec *out,
                    struct problem *problem);
void jobs_spec_done(struct jobs_spec *spec);

#endif
