/* The request of a job while it is read and validated. Every fault has a JSON pointer; defaults are
 * filled in. */
#ifndef API_JOB_SPEC_H
#define API_JOB_SPEC_H

#include "api/api.h"
#include "base/json/json_write.h"
#include "formats/formats.h"
#include "jobs/request/spec.h"
#include "jobs/source.h"
#include <jansson.h>

/* The encoding of an input. */
struct job_encoding {
    size_t n_features;  /* without features of bases; text: upper bound */
    double n_entries;   /* nonzero entries of all rows, of sparse and text columns; otherwise 0 */
    double n_words;     /* text: estimate of the number of distinct words; 0: another type, or
                       unknown */
    bool missing_level; /* categorical: missing values are a level */
    bool indicator;     /* numeric: one more feature is 1 if the value is missing */
    bool taken;         /* numeric: only the features of a basis remain, not the value itself */
};

/* {0} before reading. Strings are allocated in the arena. Not thread-safe. */
struct job_request {
    struct arena *arena;
    const struct api_app *app;
    struct problem *problem; /* faults are added here */
    struct buf warnings;     /* JSON strings, comma-separated */

    bool has_dataset;
    struct store_dataset dataset;
    struct schema schema;
    bool has_target;        /* spec.target is set and valid */
    bool targetless;        /* the algorithm has no target */
    size_t n_classes;       /* distinct values of the target; 2 without a target */
    int64_t target_missing; /* rows whose target is missing; training omits them */

    bool has_inputs;                /* spec.inputs is set and valid */
    struct job_encoding *encodings; /* [spec.n_inputs] */
    size_t n_features;
    double n_entries;                 /* nonzero entries of all rows, of sparse and text inputs */
    double n_words;                   /* distinct words of the text input with the most */
    bool has_validation;              /* `validation` is set */
    bool threads_given, memory_given; /* the client gave the limit; otherwise it is the daemon's */
    struct store_dataset validation;
    struct schema validation_schema;
    struct jobs_source_shape shape, validation_shape; /* of the two datasets; {0}: none */
    double memory;                                    /* expected bytes that training needs */

    struct jobs_spec spec;
};

/* Reads the body. False: *problem is PROBLEM_INVALID with all faults, or the error of the store. */
bool job_request_read(const json_t *root, const struct api_app *app, struct arena *arena,
                      struct job_request *out, struct problem *problem);
void job_request_done(struct job_request *r);
/* Turns PROBLEM_UNKNOWN_DATASET into the fault of a dataset that was deleted after it was looked up.
 * Other problems are not changed. */
void job_request_name_deleted(const struct job_request *r, struct problem *problem);
/* The number of faults found so far. */
static inline size_t job_request_faults(const struct job_request *r) {
    return r->problem->n_errors + r->problem->n_dropped;
}
/* Whether n_classes is known. */
static inline bool job_request_has_classes(const struct job_request *r) {
    return r->has_target || r->targetless;
}
/* Adds a warning to the job. code: the training's warning with the same cause, which replaces this
 * warning; DN_WARNING_OTHER: none. */
void job_request_warn(struct job_request *r, dn_warning_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Writes the answer of ?dry_run=true. */
void job_request_write(const struct job_request *r, struct buf *out);

/* ---- parts of the reader ---- */
/* Reads dataset, target, weight and features (job_columns.c). */
void job_columns_read(struct job_request *r, const json_t *root);
/* Reads the member "dataset" of an object and finds its version. If true, the caller frees *dataset
 * and *schema. */
bool job_dataset_read(struct job_request *r, const json_t *object, bool required,
                      const char *parent, struct store_dataset *dataset, struct schema *schema);
/* Describes a column of the dataset. Borrows the name. */
struct jobs_column job_column(const struct schema_column *c, size_t index);
/* Adds the fault that the dataset has no such column, or, if `role` is not NULL, that a feature of
 * a sparse column cannot be the `role` ("target"). Returns false (job_places.c). */
bool job_refuse_column(struct job_request *r, const char *parent, const char *key, const char *name,
                       const char *role);
/* Reads the options of `features` (NULL: absent) after the inputs are set, and computes the number
 * of features (job_features.c). */
void job_features_read(struct job_request *r, const json_t *features);
/* For a dry run: warns of columns with one value, which standardisation makes 0 in every row. */
void job_features_foresee(struct job_request *r);
/* The number of features of a basis. */
size_t job_basis_features(const struct job_request *r, size_t basis);
/* Describes the encoder for a table of the inputs. Sets columns [n_inputs] too. False: no
 * memory. */
bool job_encoder_spec(const struct job_request *r, dn_table_column *columns, dn_encoder_spec *out);
/* Read "weight" and check the classes of "class_weight" (job_weights.c). */
void job_weight_read(struct job_request *r, const json_t *root);
void job_class_weight_check(struct job_request *r, const json_t *root);
/* Reads and checks "validation" (job_validation.c). */
void job_validation_read(struct job_request *r, const json_t *root);
/* Writes the names of the features as a JSON array; null if the summary does not have all of them
 * (job_names.c). */
void job_names_write(const struct job_request *r, struct json_writer *w);

#endif
