/* The request of a job. One struct serves the body of a POST and the job that a worker runs: a POST
 * sets all members with jobs_request_read, which finds every fault and fills in defaults; a worker
 * sets the members of the first part with jobs_request_read_stored. */
#ifndef JOBS_JOB_REQUEST_H
#define JOBS_JOB_REQUEST_H

#include "base/ids.h"
#include "base/json/json_read.h"
#include "base/memory/arena.h"
#include "base/memory/buf.h"
#include "base/problem.h"
#include "formats/formats.h"
#include "jobs/request/features.h"
#include "jobs/source.h"
#include "store/store.h"
#include <discern/discern.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the part of a job's memory that the training may use. The rest, an eighth, caches encoded
 * chunks of the dataset for the passes after the first. */
static inline int64_t jobs_training_memory(int64_t memory_bytes) {
    return memory_bytes - memory_bytes / 8;
}

/* Limits of a job. In a request they are the defaults and the highest values. */
struct jobs_limits {
    double seconds; /* 0: no limit */
    int64_t memory_bytes;
    int64_t threads;
    /* Processes that train together; 1: the daemon alone. In the daemon's limits: the most; 0: it
     * has no --mpi. */
    int64_t ranks;
    int64_t ranks_above; /* the daemon's: a dataset of more bytes gets all ranks; 0: none does */
};

/* Lowers the limits of time, memory and threads to `most`, of which 0 is none. */
void jobs_limits_lower(struct jobs_limits *limits, const struct jobs_limits *most);

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
    /* target (if there is one), the n_inputs inputs and, if `weighted`, the weight: index in this
     * dataset, type of the job's column */
    const struct jobs_column *columns;
};

/* How the rows are divided into training and validation rows (dn_train_request). */
enum jobs_split_by { JOBS_SPLIT_NONE, JOBS_SPLIT_GROUP, JOBS_SPLIT_ORDER, JOBS_SPLIT_COLUMN };
struct jobs_split {
    enum jobs_split_by by;
    const char *name; /* name of the column; NULL with JOBS_SPLIT_NONE */
    size_t repeats; /* of the cross-validation, >= 1; 0: no validation, or the split of a search */
    struct jobs_column column; /* name NULL: the split has no column */
    bool is_input;             /* the column may be a feature; set by jobs_request_read only */
};

/* Sets of labels (dn_train_request). */
struct jobs_conformal {
    double coverage; /* > 0, < 1; 0: none */
    bool by_class;
};

/* Whether the new version of the model becomes live. */
enum jobs_promote { JOBS_PROMOTE_ALWAYS, JOBS_PROMOTE_NEVER, JOBS_PROMOTE_IF_BETTER };
struct jobs_promotion {
    enum jobs_promote kind;
    /* the metric that is compared with that of the live version, by dn_metric_name; with
     * JOBS_PROMOTE_IF_BETTER the new version must be better by at least `by` >= 0 */
    size_t metric;
    double by;
};

/* A candidate of a search. */
struct jobs_candidate {
    dn_params *params;
    size_t encoding;  /* index in jobs_search.encodings */
    size_t item;      /* index of the object that it comes from */
    const char *text; /* JSON object: algorithm, params and features as they were given */
};

/* A model search, which takes the place of algorithm and params. */
#define JOBS_LEAVE_ONE_OUT "leave_one_out" /* a value of "folds" */

struct jobs_search {
    size_t metric;           /* by dn_metric_name */
    size_t folds, repeats;   /* folds: also DN_LEAVE_ONE_OUT; both 0 with a column of marks */
    struct jobs_split split; /* of the folds; JOBS_SPLIT_NONE: that of the validation */
    bool halving;
    size_t trials; /* number of combinations drawn at random; 0: all are tried */
    bool one_standard_error;
    size_t combine;              /* number of members of a combination; 0: none is tried */
    double seconds;              /* time limit of the trials; 0: none */
    const char *candidates;      /* JSON array, as it was given; "auto" is replaced */
    const char *common;          /* JSON object: the options of "features" for all candidates */
    struct jobs_candidate *list; /* [n] */
    size_t n;
    struct jobs_features *encodings; /* [n_encodings] different ones */
    size_t n_encodings;
};

/* The encoding of an input. */
struct jobs_encoding {
    size_t n_features;  /* without features of bases; text: upper bound */
    double n_entries;   /* nonzero entries of all rows, of sparse and text columns; otherwise 0 */
    double n_words;     /* text: estimate of the number of distinct words; 0: another type, or
                       unknown */
    bool missing_level; /* categorical: missing values are a level */
    bool indicator;     /* numeric: one more feature is 1 if the value is missing */
    bool taken;         /* numeric: only the features of a basis remain, not the value itself */
};

/* Strings and arrays are allocated in an arena. Not thread-safe. */
struct jobs_request {
    const char *model, *dataset; /* names */
    int64_t dataset_version;
    struct jobs_column target;        /* name NULL: the algorithm has no target */
    const struct jobs_column *inputs; /* in feature order */
    size_t n_inputs;
    struct jobs_column weight; /* if `weighted`: a numeric column that is not an input */
    struct jobs_class_weights class_weights;
    dn_weights weights;   /* meaning of the weights */
    bool weighted;        /* `weight` is set */
    bool curves;          /* the metrics include ROC and other curves */
    const char *decision; /* JSON object: the decision rule that is asked for; NULL: none */
    bool held_out;        /* the predictions of held-out rows are stored with the model */
    bool of_updates; /* history and `snapshots` count changes of the weights (dn_run.updates) */
    /* NULL: no search. Otherwise algorithm, params and features are those of one candidate, and of
     * the winner after the search */
    struct jobs_search *search;
    const dn_algorithm *algorithm;
    dn_params *params; /* checked; freed by jobs_request_done */
    struct jobs_features features;
    double holdout;                    /* share of the rows; 0: no holdout */
    size_t folds;                      /* 0: no cross-validation; DN_LEAVE_ONE_OUT */
    struct jobs_validation validation; /* at most one of holdout, folds and validation is set */
    struct jobs_split split;           /* of the validation */
    struct jobs_promotion promotion;
    struct jobs_conformal conformal;
    int64_t expires_in; /* seconds from the end of the job until the model expires; 0: never */
    uint64_t seed;
    struct jobs_limits limits;
    const size_t *snapshots; /* [n_snapshots] iterations, ascending, without duplicates */
    size_t n_snapshots;
    const double *shares; /* [n_shares] of the learning curve: ascending, > 0, <= 1 */
    size_t n_shares;
    const char **warning_codes; /* [n_warnings] jobs_warning_code of each warning in the answer to
                                   the POST */
    size_t n_warnings;
    bool old_labels; /* stored by a release without the parameter `decision`, which has an effect */

    /* The members below are set by jobs_request_read only. */
    struct store *store;
    struct arena *arena;
    struct problem *problem; /* faults are added here */
    struct buf warnings;     /* JSON strings, comma-separated */

    bool has_dataset;                 /* `data` and `schema` are set */
    bool has_target;                  /* `target` is set and valid */
    bool targetless;                  /* the algorithm has no target */
    bool has_inputs;                  /* `inputs` is set and valid */
    bool has_validation;              /* `validation_data` and `validation_schema` are set */
    bool threads_given, memory_given; /* the client gave the limit; otherwise it is the daemon's */
    bool ranks_given;
    struct store_dataset data;
    struct schema schema;
    size_t n_classes;                /* distinct values of the target; 2 without a target */
    int64_t target_missing;          /* rows whose target is missing; training omits them */
    struct jobs_encoding *encodings; /* [n_inputs] */
    size_t n_features;
    double n_entries; /* nonzero entries of all rows, of sparse and text inputs */
    double n_words;   /* distinct words of the text input with the most */
    struct store_dataset validation_data;
    struct schema validation_schema;
    struct jobs_source_shape shape, validation_shape; /* sizes of the two datasets; {0}: none */
    double memory;                                    /* expected bytes that training needs */
};

/* Reads the body of a POST. Returns false if *problem is PROBLEM_INVALID with all faults, or the
 * error of the store. *out is set in both cases. */
bool jobs_request_read(const json_t *root, struct store *store, const struct jobs_limits *limits,
                       struct arena *arena, struct jobs_request *out, struct problem *problem);
void jobs_request_done(struct jobs_request *r);
/* Returns the index of the first input in the table that is trained on: 1 after a target, otherwise
 * 0. */
static inline size_t jobs_request_first_input(const struct jobs_request *r) {
    return r->target.name ? 1 : 0;
}
/* Returns the number of columns of the table that is trained on: the target if there is one, the
 * inputs, the weight if there is one, the columns of the splits (jobs_split_columns). */
size_t jobs_request_columns(const struct jobs_request *r);
/* Returns the stored name of a warning that both the POST and the training can report; "": any
 * other warning. */
const char *jobs_warning_code(dn_warning_code code);
/* Appends the request as the JSON body of a POST that names every value: the versions of the
 * datasets, the inputs, and all parameters, options and limits.
 *
 *   params  the parameters, a JSON object; NULL: those of `r` */
void jobs_request_write_resolved(const struct jobs_request *r, const char *params, struct buf *out);
/* Appends the request as the JSON text that is stored with the job. */
void jobs_request_write_stored(const struct jobs_request *r, struct buf *out);
/* Reads the stored JSON text, also of earlier releases. Strings and arrays are allocated in the
 * arena; jobs_request_done frees the parameters. PROBLEM_INTERNAL: the text is damaged, or has an
 * algorithm or a parameter that this release does not have. */
bool jobs_request_read_stored(const char *json, struct arena *arena, struct jobs_request *out,
                              struct problem *problem);
/* Turns PROBLEM_UNKNOWN_DATASET into the fault of a dataset that was deleted after it was looked
 * up. Other problems are not changed. */
void jobs_request_name_deleted(const struct jobs_request *r, struct problem *problem);
/* Returns the number of faults found so far. */
static inline size_t jobs_request_faults(const struct jobs_request *r) {
    return r->problem->n_errors + r->problem->n_dropped;
}
/* Whether n_classes is known. */
static inline bool jobs_request_has_classes(const struct jobs_request *r) {
    return r->has_target || r->targetless;
}
/* Adds a warning to the job. code: the training's warning with the same cause, which replaces this
 * warning; DN_WARNING_OTHER: none. */
void jobs_request_warn(struct jobs_request *r, dn_warning_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- parts of the reader ---- */
/* Reads dataset, target, weight and features (job_columns.c). */
void jobs_columns_read(struct jobs_request *r, const json_t *root);
/* Reads the member "dataset" of an object and finds its version. If true, the caller frees *dataset
 * and *schema. */
bool jobs_dataset_read(struct jobs_request *r, const json_t *object, bool required,
                       const char *parent, struct store_dataset *dataset, struct schema *schema);
/* Removes columns that tell the rows apart but describe none from order[n], the indices of the
 * columns that features.include would name, and warns of them (job_identifiers.c). Columns that
 * features.basis names remain; `features` may be NULL. Returns the number of columns that
 * remain. */
size_t jobs_identifiers_remove(struct jobs_request *r, const json_t *features, size_t *order,
                               size_t n);
/* Describes a column of the dataset. Borrows the name. */
struct jobs_column jobs_column_of(const struct schema_column *c, size_t index);
/* Adds the fault that the dataset has no such column, or, if `role` is not NULL, that a feature of
 * a sparse column cannot be the `role` ("target"). Returns false (job_places.c). */
bool jobs_refuse_column(struct jobs_request *r, const char *parent, const char *key,
                        const char *name, const char *role);
/* Reads the options of `features` (NULL: absent) after the inputs are set, and computes the number
 * of features (job_features.c). */
void jobs_encoding_read(struct jobs_request *r, const json_t *features);
/* For a dry run: warns of columns with one value, which standardisation makes 0 in every row. */
void jobs_encoding_foresee(struct jobs_request *r);
/* Returns the number of features of a basis. */
size_t jobs_basis_features(const struct jobs_request *r, size_t basis);
/* Describes the encoder for a table of the inputs. Also sets columns [n_inputs]. Returns false if
 * out of memory. */
bool jobs_encoder_spec(const struct jobs_request *r, dn_table_column *columns,
                       dn_encoder_spec *out);
/* Read "weight" and check the classes of "class_weight" (job_weights.c). */
void jobs_weight_read(struct jobs_request *r, const json_t *root);
void jobs_class_weight_check(struct jobs_request *r, const json_t *root);
/* Reads and checks the decision rule in "decision" (job_decision.c). Called after validation. */
void jobs_decision_read(struct jobs_request *r, const json_t *root);
/* Warns if a class has fewer rows than there are random folds (job_validation.c). The classes are
 * known. */
void jobs_folds_warn(struct jobs_request *r, int64_t folds);
/* Checks the parameters against the numbers of rows and features. Returns false after a fault. */
bool jobs_request_check_shape(struct jobs_request *r);
/* Returns the expected bytes of the training with these parameters. */
double jobs_request_memory(struct jobs_request *r);
/* Reads and checks "validation" (job_validation.c). */
void jobs_validation_read(struct jobs_request *r, const json_t *root);

#endif
