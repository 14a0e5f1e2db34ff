/* The tables of a training, and the request of dn_train for them. */
#include "jobs/tables.h"

#include "jobs/request/class_weights.h"
#include "jobs/request/job_split.h"
#include <string.h>

/* Opens the dataset with the columns of jobs_request_columns. */
static bool open_source(struct store *store, int64_t dataset, const struct jobs_request *r,
                        size_t n_slots, int64_t kept, const dn_run *run, struct arena *arena,
                        struct jobs_source **out, struct problem *problem) {
    const size_t first = jobs_request_first_input(r);
    size_t n = first + r->n_inputs;
    struct jobs_column *columns =
        arena_alloc(arena, (jobs_request_columns(r) + 2) * sizeof *columns);
    if (!columns) {
        return problem_no_memory(problem);
    }
    if (first > 0) {
        columns[0] = r->target;
    }
    if (r->n_inputs > 0) {
        memcpy(columns + first, r->inputs, r->n_inputs * sizeof *columns);
    }
    if (r->weighted) {
        columns[n++] = r->weight;
    }
    n += jobs_split_columns(r, columns + n);
    return jobs_source_open(store, dataset, columns, n, n_slots, kept, run, out, problem);
}

static bool open_validation(struct store *store, const struct jobs_request *r, size_t n_slots,
                            int64_t kept, const dn_run *run, struct jobs_tables *tables,
                            struct problem *problem) {
    const struct jobs_validation *v = &r->validation;
    if (!v->dataset) {
        return true;
    }
    return store_dataset_get_by_id(store, v->id, &tables->validation_dataset, problem) &&
           jobs_source_open(store, v->id, v->columns,
                            jobs_request_first_input(r) + r->n_inputs + (v->weighted ? 1 : 0),
                            n_slots, kept, run, &tables->validation, problem);
}

bool jobs_tables_open(struct store *store, const struct store_job *job,
                      const struct jobs_request *r, size_t n_slots, const dn_run *run,
                      struct arena *arena, struct jobs_tables *out, struct problem *problem) {
    struct jobs_tables tables = {0};
    int64_t kept = r->limits.memory_bytes - jobs_training_memory(r->limits.memory_bytes);
    if (r->validation.dataset) {
        kept /= 2; /* each of the two tables gets half */
    }
    if (!store_dataset_get_by_id(store, job->dataset_id, &tables.dataset, problem) ||
        !open_source(store, job->dataset_id, r, n_slots, kept, run, arena, &tables.source,
                     problem) ||
        !open_validation(store, r, n_slots, kept, run, &tables, problem)) {
        jobs_tables_close(&tables);
        return false;
    }
    *out = tables;
    return true;
}

void jobs_tables_close(struct jobs_tables *tables) {
    jobs_source_close(tables->source);
    jobs_source_close(tables->validation);
    store_dataset_done(&tables->dataset);
    store_dataset_done(&tables->validation_dataset);
    *tables = (struct jobs_tables){0};
}

bool jobs_tables_request(const struct jobs_tables *tables, const struct jobs_request *r,
                         const dn_run *run, struct arena *arena, dn_train_request *out,
                         struct problem *problem) {
    const size_t first = jobs_request_first_input(r);
    dn_train_request request = {
        .source = jobs_source_table(tables->source),
        .params = r->params,
        .target = first == 0 ? DN_NO_TARGET : 0,
        .weighted = r->weighted,
        .weight = first + r->n_inputs,
        .class_weight = r->class_weights.kind,
        .weights = r->weights,
        .n_class_weights = r->class_weights.n,
        .holdout = r->holdout,
        .folds = r->folds,
        .curves = r->curves,
        .validation = tables->validation ? jobs_source_table(tables->validation) : NULL,
        .coverage = r->conformal.coverage,
        .coverage_by_class = r->conformal.by_class,
    };
    jobs_split_set(r, &request);
    size_t *inputs = arena_alloc(arena, (r->n_inputs + 1) * sizeof *inputs);
    for (size_t i = 0; inputs && i < r->n_inputs; i++) {
        inputs[i] = first + i;
    }
    if (!inputs) {
        return problem_no_memory(problem);
    }
    request.features = jobs_features_spec(&r->features, inputs, r->n_inputs);
    if (!jobs_columns_places(r->inputs, r->n_inputs, arena, &request.features.index_filters)) {
        return problem_no_memory(problem);
    }
    if (r->class_weights.kind == DN_CLASS_WEIGHT_GIVEN &&
        !jobs_class_weights_order(&r->class_weights, request.source, 0, run, arena,
                                  &request.class_weights, problem)) {
        return false;
    }
    *out = request;
    return true;
}
