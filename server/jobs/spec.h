/* A job as it will be run: complete, validated, self-contained (a worker needs nothing but this and the dataset's chunks). Stored as JSON text. */
#ifndef JOBS_SPEC_H
#define JOBS_SPEC_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/ids.h"
#include "base/problem.h"
#include <discern/discern.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A column that takes part. */
struct jobs_column {
    size_t index; /* in the stored dataset */
    const char *name;
    dn_column_type type;
};

struct jobs_spec {
    const char *model, *dataset; /* names */
    int64_t dataset_version;
    struct jobs_column target;
    const struct jobs_column *inputs; /* in feature order */
    size_t n_inputs;
    const dn_algorithm *algorithm;
    dn_params *params; /* owned by the spec when read back; complete and checked */
    bool standardize;
    double holdout; /* 0: none */
    uint64_t seed;
    double seconds; /* 0: no limit */
    int64_t memory_bytes;
    int64_t threads;
    const size_t *snapshots; /* ascending */
    size_t n_snapshots;
};

/* As JSON text: {"model":…,"dataset":{"name":…,"version":…},"target":{…},"inputs":[…],"algorithm":"…","params":{…},…}. Seeds up to 2^53. */
void jobs_spec_write(const struct jobs_spec *spec, struct buf *out);
/* Back. Strings and arrays live in the arena, params are freed by jobs_spec_done. PROBLEM_INTERNAL: the stored text is damaged, or names what this binary does not know. */
bool jobs_spec_read(const char *json, struct arena *arena, struct jobs_spec *out, struct problem *problem);
void jobs_spec_done(struct jobs_spec *spec);
/* The parameters as a JSON object: numbers, words, booleans as they would be given. */
void jobs_params_write(const dn_params *params, struct buf *out);

#endif
