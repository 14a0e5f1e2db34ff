/* What a client asks of a job, judged and completed: every fault with its JSON pointer, every
 * parameter as it will be used. */
#ifndef API_JOB_SPEC_H
#define API_JOB_SPEC_H

#include "api/api.h"
#include "base/json/json_write.h"
#include "formats/formats.h"
#include "jobs/request/spec.h"
#include "jobs/source.h"
#include <jansson.h>

/* How a column that takes part will be encoded. */
struct job_encoding {
    size_t n_features; /* bases apart; of text as many as there can be */
    double n_entries;  /* of all rows that can be other than 0: sparse and text; 0 otherwise */
    double n_words; /* of text: different ones, about; 0 otherwise, and where the summary does not
                       tell */
    bool missing_level; /* categorical with missing values: a level of its own */
    bool indicator;     /* a number with missing values: a feature more that says so */
    bool taken;         /* a number that is no feature itself, because a basis has taken it */
};

/* A job as asked. {0} before reading; strings live in the arena. One thread. */
struct job_request {
    struct arena *arena;
    const struct api_app *app;
    struct problem *problem; /* faults are added here */
    struct buf warnings;     /* JSON strings, comma-separated */

    bool has_dataset;
    struct store_dataset dataset;
    struct schema schema;
    bool has_target;        /* … and it is a good one */
    bool targetless;        /* the algorithm has none */
    size_t n_classes;       /* of the target; without one 2 */
    int64_t target_missing; /* rows without a target, which training leaves out */

    bool has_inputs;                /* spec.inputs are chosen */
    struct job_encoding *encodings; /* [spec.n_inputs] */
    size_t n_features;
    double n_entries;    /* of all rows, of sparse and text inputs */
    double n_words;      /* different ones, of the text input that has most */
    bool has_validation; /* another dataset to validate on */
    bool threads_given,
        memory_given; /* the client said so itself; otherwise they are the daemon's */
    struct store_dataset validation;
    struct schema validation_schema;
    struct jobs_source_shape shape, validation_shape; /* of the two datasets; {0}: none */
    double memory;                                    /* expected bytes that training needs */

    struct jobs_spec spec;
};

/* Reads the body. false: problem has PROBLEM_INVALID with all faults, or another one (the store
 * failed). */
bool job_request_read(const json_t *root, const struct api_app *app, struct arena *arena,
                      struct job_request *out, struct problem *problem);
void job_request_done(struct job_request *r);
/* How many faults have been found so far. */
static inline size_t job_request_faults(const struct job_request *r) {
    return r->problem->n_errors + r->problem->n_dropped;
}
/* Whether it is known what the classes are. */
static inline bool job_request_has_classes(const struct job_request *r) {
    return r->has_target || r->targetless;
}
/* Adds a warning to the job. code: that of the training's warning which it announces, and which
 * replaces it; DN_WARNING_OTHER: there is none. */
void job_request_warn(struct job_request *r, dn_warning_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The answer of ?dry_run=true. */
void job_request_write(const struct job_request *r, struct buf *out);

/* ---- parts of reading, in files of their own ---- */
/* Dataset, target, weight, features: which columns take part and how (job_columns.c). */
void job_columns_read(struct job_request *r, const json_t *root);
/* Member "dataset" of an object: finds the version. *dataset and *schema are the caller's to free
 * when true. */
bool job_dataset_read(struct job_request *r, const json_t *object, bool required,
                      const char *parent, struct store_dataset *dataset, struct schema *schema);
/* A column as a job has it: borrows the name. */
struct jobs_column job_column(const struct schema_column *c, size_t index);
/* The fault that the dataset has no such column, or that it is one feature of a sparse column and
 * cannot be the `role` ("target"; NULL: it could); false (job_places.c). */
bool job_refuse_column(struct job_request *r, const char *parent, const char *key, const char *name,
                       const char *role);
/* The options of `features` (NULL: not given), when the inputs are chosen; the number of features
 * (job_features.c). */
void job_features_read(struct job_request *r, const json_t *features);
/* For a dry run: warns of the columns that standardising will make 0 in every row, as the training
 * itself would. */
void job_features_foresee(struct job_request *r);
/* How many features a basis makes. */
size_t job_basis_features(const struct job_request *r, size_t basis);
/* The encoder's description of a table whose columns [n_inputs] are the inputs; fills them in.
 * false: no memory. */
bool job_encoder_spec(const struct job_request *r, dn_table_column *columns, dn_encoder_spec *out);
/* weight: a column that is no input; class_weight (job_weights.c). */
void job_weight_read(struct job_request *r, const json_t *root);
void job_class_weight_check(struct job_request *r, const json_t *root);
/* validation (job_validation.c). */
void job_validation_read(struct job_request *r, const json_t *root);
/* The names of the features as a JSON array, or null where the summary does not know them all
 * (job_names.c). */
void job_names_write(const struct job_request *r, struct json_writer *w);

#endif
