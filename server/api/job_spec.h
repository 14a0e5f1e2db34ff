/* What a client asks of a job, judged and completed: every fault with its JSON pointer, every parameter as it will be used. */
#ifndef API_JOB_SPEC_H
#define API_JOB_SPEC_H

#include "api/api.h"
#include "jobs/spec.h"
#include "wire/wire.h"
#include <jansson.h>

/* How a column that takes part will be encoded. */
struct job_encoding {
    size_t n_features;
    bool missing_level; /* categorical with missing values: a level of its own */
};

/* A job as asked. {0} before reading; strings live in the arena. One thread. */
struct job_request {
    struct arena *arena;
    const struct api_app *app;
    struct problem *problem; /* faults are added here */
    struct buf warnings;     /* JSON strings, comma-separated */

    bool has_dataset;
    struct store_dataset dataset;
    struct wire_schema schema;
    bool has_target;
    size_t n_classes;       /* of the target */
    int64_t target_missing; /* rows without a target, which training leaves out */

    struct job_encoding *encodings; /* [spec.n_inputs] */
    size_t n_features;
    double memory; /* bytes that training is reckoned to need */

    struct jobs_spec spec;
};

/* Reads the body. false: problem has PROBLEM_INVALID with all faults, or another one (the store failed). */
bool job_request_read(const json_t *root, const struct api_app *app, struct arena *arena, struct job_request *out, struct problem *problem);
void job_request_done(struct job_request *r);
/* Notes a warning that the job will carry. */
void job_request_warn(struct job_request *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The answer of ?dry_run=true. */
void job_request_write(const struct job_request *r, struct buf *out);

/* ---- parts of reading, in files of their own ---- */
/* A fault at every member of the object at `parent` that is not among `known`; those among `later` are said to be not supported yet. */
void job_refuse(struct job_request *r, const json_t *object, const char *parent, const char *const *known, const char *const *later);
/* Dataset, target, features: which columns take part and how (job_columns.c). */
void job_columns_read(struct job_request *r, const json_t *root);
/* Algorithm and its parameters (job_params.c). */
void job_params_read(struct job_request *r, const json_t *root);

#endif
