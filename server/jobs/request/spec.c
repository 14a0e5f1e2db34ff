/* Writes and reads the stored request of a job. Options, parameters and features have the form that
 * a client sends; each set of columns is an object of lists of the same length. */
#include "jobs/request/spec.h"

#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "jobs/request/job_options.h"
#include "jobs/request/params.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_INDEX ((int64_t)1 << 40)

/* The numbers of a column, each stored as a list with one item for each column. */
static int64_t get_index(const struct jobs_column *c) {
    return (int64_t)c->index;
}
static int64_t get_width(const struct jobs_column *c) {
    return (int64_t)c->width;
}
static int64_t get_first_index(const struct jobs_column *c) {
    return c->first_index;
}
static int64_t get_filter_kind(const struct jobs_column *c) {
    return c->places.kind;
}
static int64_t get_filter_size(const struct jobs_column *c) {
    return (int64_t)c->places.n;
}

static void write_list(const char *key, const struct jobs_column *columns, size_t n,
                       int64_t (*get)(const struct jobs_column *c), struct json_writer *w) {
    json_put_key(w, key);
    json_begin_array(w);
    for (size_t i = 0; i < n; i++) {
        json_put_int(w, get(&columns[i]));
    }
    json_end_array(w);
}

/* Writes the filters of sparse columns; nothing if no column has one. "places" has the feature
 * indices of all columns, one after the other. */
static void write_filters(const struct jobs_column *columns, size_t n, struct json_writer *w) {
    size_t i = 0;
    while (i < n && columns[i].places.kind == DN_INDICES_ALL) {
        i++;
    }
    if (i == n) {
        return;
    }
    write_list("places_kinds", columns, n, get_filter_kind, w);
    write_list("places_counts", columns, n, get_filter_size, w);
    json_put_key(w, "places");
    json_begin_array(w);
    for (; i < n; i++) {
        for (size_t k = 0; k < columns[i].places.n; k++) {
            json_put_int(w, columns[i].places.index[k]);
        }
    }
    json_end_array(w);
}

/* Writes columns as an object of lists of the same length. */
static void write_columns(const char *key, const struct jobs_column *columns, size_t n,
                          struct json_writer *w) {
    json_put_key(w, key);
    json_begin_object(w);
    json_put_key(w, "names");
    json_begin_array(w);
    for (size_t i = 0; i < n; i++) {
        json_put_string(w, columns[i].name);
    }
    json_end_array(w);
    json_put_key(w, "types");
    json_begin_array(w);
    for (size_t i = 0; i < n; i++) {
        json_put_string(w, dn_column_type_name(columns[i].type));
    }
    json_end_array(w);
    write_list("indexes", columns, n, get_index, w);
    write_list("widths", columns, n, get_width, w);
    write_list("first_places", columns, n, get_first_index, w);
    write_filters(columns, n, w);
    json_end_object(w);
}

/* Writes the dataset version and the columns that the model is validated on. */
static void write_validation_source(const struct jobs_spec *spec, struct json_writer *w) {
    const struct jobs_validation *v = &spec->validation;
    json_put_key(w, "validation_source");
    if (!v->dataset) {
        json_put_null(w);
        return;
    }
    json_begin_object(w);
    json_kv_string(w, "dataset", v->dataset);
    json_kv_int(w, "version", v->version);
    json_kv_int(w, "id", v->id);
    write_columns("columns", v->columns,
                  jobs_spec_first_input(spec) + spec->n_inputs + (v->weighted ? 1 : 0), w);
    json_end_object(w);
}

const char *jobs_warning_code(dn_warning_code code) {
    return code == DN_WARNING_CALIBRATION_FOLDS ? "calibration_folds" : "";
}

void jobs_spec_write(const struct jobs_spec *spec, struct buf *out) {
    struct json_writer w;
    struct buf params = {0};
    json_writer_init(&w, out);
    json_begin_object(&w);
    json_kv_string(&w, "model", spec->model);
    json_kv_string(&w, "dataset", spec->dataset);
    json_kv_int(&w, "dataset_version", spec->dataset_version);
    json_kv_string(&w, "algorithm", spec->algorithm->id);
    jobs_params_write(spec->params, &params);
    json_kv_raw(&w, "params", buf_cstr(&params));
    write_columns("target", &spec->target, jobs_spec_first_input(spec), &w);
    write_columns("inputs", spec->inputs, spec->n_inputs, &w);
    write_columns("weight_column", &spec->weight, spec->weighted ? 1 : 0, &w);
    json_put_key(&w, "features");
    json_begin_object(&w);
    jobs_features_write(&spec->features, spec->inputs, spec->n_inputs, &w);
    json_end_object(&w);
    jobs_options_write(spec, &w);
    write_validation_source(spec, &w);
    json_kv_double(&w, "seconds", spec->seconds);
    json_kv_int(&w, "memory_bytes", spec->memory_bytes);
    json_kv_int(&w, "threads", spec->threads);
    jobs_snapshots_write(spec, &w);
    json_put_key(&w, "warning_codes");
    json_begin_array(&w);
    for (size_t i = 0; i < spec->n_warnings; i++) {
        json_put_string(&w, spec->warning_codes[i]);
    }
    json_end_array(&w);
    json_end_object(&w);
    out->failed = out->failed || params.failed;
    buf_done(&params);
}

/* Reads what write_filters wrote. */
static bool read_filters(const json_t *object, struct jobs_column *columns, size_t n,
                         struct arena *arena, struct problem *problem) {
    int64_t *kinds = NULL, *counts = NULL, *list = NULL;
    size_t n_kinds = 0, n_counts = 0, n_list = 0, used = 0;
    if (!json_read_ints(object, "places_kinds", false, "", DN_INDICES_ALL, DN_INDICES_DROPPED,
                        SIZE_MAX, arena, &kinds, &n_kinds, problem)) {
        return problem->type == PROBLEM_NONE;
    }
    if (!json_read_ints(object, "places_counts", true, "", 0, UINT32_MAX, SIZE_MAX, arena, &counts,
                        &n_counts, problem) ||
        !json_read_ints(object, "places", true, "", 0, UINT32_MAX, SIZE_MAX, arena, &list, &n_list,
                        problem) ||
        n_kinds != n || n_counts != n) {
        return false;
    }
    uint32_t *place = arena_alloc(arena, (n_list + 1) * sizeof *place);
    for (size_t i = 0; place && i < n; i++) {
        if ((size_t)counts[i] > n_list - used) {
            return false;
        }
        columns[i].places = (dn_index_filter){.kind = (dn_index_filter_kind)kinds[i],
                                              .index = place + used,
                                              .n = (size_t)counts[i]};
        for (size_t k = 0; k < columns[i].places.n; k++, used++) {
            place[used] = (uint32_t)list[used];
        }
    }
    return place != NULL && used == n_list;
}

static const struct jobs_column *read_columns(const json_t *root, const char *key,
                                              struct arena *arena, size_t *out_n,
                                              struct problem *problem) {
    const json_t *object = NULL;
    const char **names = NULL, **types = NULL;
    int64_t *indexes = NULL, *widths = NULL, *firsts = NULL;
    size_t n_names = 0, n_types = 0, n_indexes = 0, n_widths = 0, n_firsts = 0;
    if (!json_read_object(root, key, true, "", &object, problem) ||
        !json_read_strings(object, "names", true, "", SIZE_MAX, arena, &names, &n_names, problem) ||
        !json_read_strings(object, "types", true, "", SIZE_MAX, arena, &types, &n_types, problem) ||
        !json_read_ints(object, "indexes", true, "", 0, MAX_INDEX, SIZE_MAX, arena, &indexes,
                        &n_indexes, problem) ||
        !json_read_ints(object, "widths", true, "", 0, UINT32_MAX, SIZE_MAX, arena, &widths,
                        &n_widths, problem) ||
        !json_read_ints(object, "first_places", true, "", 0, UINT32_MAX, SIZE_MAX, arena, &firsts,
                        &n_firsts, problem)) {
        return NULL;
    }
    struct jobs_column *columns = arena_alloc(arena, (n_names + 1) * sizeof *columns);
    if (!columns || n_types != n_names || n_indexes != n_names || n_widths != n_names ||
        n_firsts != n_names) {
        return NULL;
    }
    for (size_t i = 0; i < n_names; i++) {
        columns[i].name = names[i];
        columns[i].index = (size_t)indexes[i];
        columns[i].width = (size_t)widths[i];
        columns[i].first_index = (uint32_t)firsts[i];
        columns[i].places = (dn_index_filter){.kind = DN_INDICES_ALL};
        if (!dn_column_type_parse(types[i], &columns[i].type)) {
            return NULL;
        }
    }
    if (!read_filters(object, columns, n_names, arena, problem)) {
        return NULL;
    }
    *out_n = n_names;
    return columns;
}

static bool read_validation_source(const json_t *root, struct arena *arena, struct jobs_spec *spec,
                                   struct problem *problem) {
    const json_t *source = NULL;
    const char *name = NULL;
    size_t n = 0;
    const size_t least = jobs_spec_first_input(spec) + spec->n_inputs;
    struct jobs_validation *v = &spec->validation;
    if (!json_read_object(root, "validation_source", false, "", &source, problem)) {
        return problem->type == PROBLEM_NONE;
    }
    if (!json_read_string(source, "dataset", true, "", &name, problem) ||
        !json_read_int(source, "version", true, "", 1, MAX_INDEX, &v->version, problem) ||
        !json_read_int(source, "id", true, "", 1, (int64_t)1 << 53, &v->id, problem)) {
        return false;
    }
    v->columns = read_columns(source, "columns", arena, &n, problem);
    if (!v->columns) {
        return problem_set(problem, PROBLEM_INTERNAL, "the columns of the validation dataset");
    }
    v->dataset = arena_strdup(arena, name);
    if (!v->dataset) {
        return problem_set(problem, PROBLEM_INTERNAL, "out of memory");
    }
    v->weighted = n == least + 1;
    return n == least || v->weighted ||
           problem_set(problem, PROBLEM_INTERNAL, "%zu columns of the validation dataset", n);
}

/* Reads the members that refer to the columns: weight, features, validation dataset. */
static bool read_column_options(const json_t *root, struct arena *arena, struct jobs_spec *spec,
                                struct problem *problem) {
    const json_t *features = NULL;
    size_t n = 0;
    const struct jobs_column *weight = read_columns(root, "weight_column", arena, &n, problem);
    if (!weight || n > 1 || !json_read_object(root, "features", true, "", &features, problem)) {
        return false;
    }
    spec->weighted = n == 1;
    if (spec->weighted) {
        spec->weight = weight[0];
    }
    jobs_features_read(features, "", spec->inputs, spec->n_inputs, arena, &spec->features, problem);
    return read_validation_source(root, arena, spec, problem);
}

static bool read_scalars(const json_t *root, struct arena *arena, struct jobs_spec *spec,
                         struct problem *problem) {
    const char *dataset = NULL;
    if (!json_read_string(root, "dataset", true, "", &dataset, problem) ||
        !json_read_int(root, "dataset_version", true, "", 1, MAX_INDEX, &spec->dataset_version,
                       problem) ||
        !json_read_number(root, "seconds", true, "", &spec->seconds, problem) ||
        !json_read_int(root, "memory_bytes", true, "", 1, (int64_t)1 << 53, &spec->memory_bytes,
                       problem) ||
        !json_read_int(root, "threads", true, "", 1, 1024, &spec->threads, problem)) {
        return false;
    }
    json_read_strings(root, "warning_codes", false, "", SIZE_MAX, arena, &spec->warning_codes,
                      &spec->n_warnings, problem); /* absent in jobs of older releases */
    spec->dataset = arena_strdup(arena, dataset);
    return spec->dataset != NULL || problem_set(problem, PROBLEM_INTERNAL, "out of memory");
}

/* Reads the target, which must be there exactly if the algorithm needs one. */
static bool read_target(const json_t *root, struct arena *arena, struct jobs_spec *spec,
                        struct problem *problem) {
    size_t n = 0;
    const struct jobs_column *target = read_columns(root, "target", arena, &n, problem);
    if (!target || n != (spec->algorithm->flags & DN_ALGORITHM_TARGET ? 1 : 0)) {
        return false;
    }
    if (n == 1) {
        spec->target = target[0];
    }
    return true;
}

bool jobs_spec_read(const char *json, struct arena *arena, struct jobs_spec *out,
                    struct problem *problem) {
    struct problem why = {0};
    struct jobs_spec spec = {0};
    json_t *root = json_parse(json, strlen(json), &why);
    if (root != NULL) {
        jobs_params_read(root, arena, &spec.params, &why);
        spec.algorithm = spec.params != NULL ? spec.params->algorithm : NULL;
        jobs_options_read(root, arena, &spec, &why);
        if (json_object_get(root, "weights") == NULL) { /* absent in jobs of older releases */
            spec.weights = DN_WEIGHTS_FREQUENCIES;
        }
    }
    bool good = spec.algorithm != NULL && read_scalars(root, arena, &spec, &why) &&
                read_target(root, arena, &spec, &why) &&
                (spec.inputs = read_columns(root, "inputs", arena, &spec.n_inputs, &why)) != NULL &&
                read_column_options(root, arena, &spec, &why) && !why.type;
    if (good) {
        *out = spec;
    } else {
        dn_params_free(spec.params);
        problem_set(problem, PROBLEM_INTERNAL,
                    "the stored specification of the job cannot be read: %s",
                    why.detail ? why.detail : "damaged");
    }
    problem_done(&why);
    json_decref(root);
    return good;
}

void jobs_spec_done(struct jobs_spec *spec) {
    dn_params_free(spec->params);
    spec->params = NULL;
}
