/* The job's specification as text and back. Parameters are written by kind (numbers, words), columns as parallel lists: what the typed readers of base take. */
#include "jobs/spec.h"

#include "base/json_read.h"
#include "base/json_write.h"
#include "jobs/documents.h"
#include <string.h>

#define MAX_INDEX ((int64_t)1 << 40)

static void list_write(struct json_writer *w, const char *name, const dn_param_value *value) {
    json_put_key(w, name);
    json_begin_array(w);
    for (size_t i = 0; i < value->n_list; i++)
        json_put_double(w, value->list[i]);
    json_end_array(w);
}

void jobs_params_write(const dn_params *params, struct buf *out) {
    struct json_writer w;
    json_writer_init(&w, out);
    json_begin_object(&w);
    for (size_t i = 0; i < params->algorithm->n_params; i++) {
        const dn_param *p = &params->algorithm->params[i];
        const dn_param_value *v = &params->values[i];
        if (v->word)
            json_kv_string(&w, p->name, v->word);
        else if (v->list)
            list_write(&w, p->name, v);
        else if (p->type == DN_PARAM_BOOLEAN)
            json_kv_bool(&w, p->name, v->number != 0);
        else
            json_kv_double(&w, p->name, v->number);
    }
    json_end_object(&w);
}

static void params_write(const dn_params *params, struct json_writer *w) {
    json_put_key(w, "numbers");
    json_begin_object(w);
    for (size_t i = 0; i < params->algorithm->n_params; i++)
        if (!params->values[i].word && !params->values[i].list)
            json_kv_double(w, params->algorithm->params[i].name, params->values[i].number);
    json_end_object(w);
    json_put_key(w, "words");
    json_begin_object(w);
    for (size_t i = 0; i < params->algorithm->n_params; i++)
        if (params->values[i].word)
            json_kv_string(w, params->algorithm->params[i].name, params->values[i].word);
    json_end_object(w);
    json_put_key(w, "lists");
    json_begin_object(w);
    for (size_t i = 0; i < params->algorithm->n_params; i++)
        if (params->values[i].list)
            list_write(w, params->algorithm->params[i].name, &params->values[i]);
    json_end_object(w);
}

/* Columns as three lists of one length: names, types, indexes. */
static void columns_write(const struct jobs_column *columns, size_t n, struct json_writer *w) {
    json_put_key(w, "names");
    json_begin_array(w);
    for (size_t i = 0; i < n; i++)
        json_put_string(w, columns[i].name);
    json_end_array(w);
    json_put_key(w, "types");
    json_begin_array(w);
    for (size_t i = 0; i < n; i++)
        json_put_string(w, dn_column_type_name(columns[i].type));
    json_end_array(w);
    json_put_key(w, "indexes");
    json_begin_array(w);
    for (size_t i = 0; i < n; i++)
        json_put_int(w, (int64_t)columns[i].index);
    json_end_array(w);
}

void jobs_spec_write(const struct jobs_spec *spec, struct buf *out) {
    struct json_writer w;
    json_writer_init(&w, out);
    json_begin_object(&w);
    json_kv_string(&w, "model", spec->model);
    json_kv_string(&w, "dataset", spec->dataset);
    json_kv_int(&w, "dataset_version", spec->dataset_version);
    json_kv_string(&w, "algorithm", spec->algorithm->id);
    params_write(spec->params, &w);
    json_put_key(&w, "target");
    json_begin_object(&w);
    columns_write(&spec->target, 1, &w);
    json_end_object(&w);
    json_put_key(&w, "inputs");
    json_begin_object(&w);
    columns_write(spec->inputs, spec->n_inputs, &w);
    json_end_object(&w);
    json_kv_bool(&w, "standardize", spec->standardize);
    json_kv_double(&w, "holdout", spec->holdout);
    json_kv_int(&w, "seed", (int64_t)spec->seed);
    json_kv_double(&w, "seconds", spec->seconds);
    json_kv_int(&w, "memory_bytes", spec->memory_bytes);
    json_kv_int(&w, "threads", spec->threads);
    json_put_key(&w, "snapshots");
    json_begin_array(&w);
    for (size_t i = 0; i < spec->n_snapshots; i++)
        json_put_int(&w, (int64_t)spec->snapshots[i]);
    json_end_array(&w);
    json_end_object(&w);
}

static const struct jobs_column *columns_read(const json_t *root, const char *key, struct arena *arena, size_t *out_n,
                                              struct problem *problem) {
    const json_t *object = NULL;
    const char **names = NULL, **types = NULL;
    int64_t *indexes = NULL;
    size_t n_names = 0, n_types = 0, n_indexes = 0;
    if (!json_read_object(root, key, true, "", &object, problem) ||
        !json_read_strings(object, "names", true, "", SIZE_MAX, arena, &names, &n_names, problem) ||
        !json_read_strings(object, "types", true, "", SIZE_MAX, arena, &types, &n_types, problem) ||
        !json_read_ints(object, "indexes", true, "", 0, MAX_INDEX, SIZE_MAX, arena, &indexes, &n_indexes, problem))
        return NULL;
    struct jobs_column *columns = arena_alloc(arena, (n_names + 1) * sizeof *columns);
    if (!columns || n_types != n_names || n_indexes != n_names)
        return NULL;
    for (size_t i = 0; i < n_names; i++) {
        columns[i].name = names[i];
        columns[i].index = (size_t)indexes[i];
        if (!dn_column_type_parse(types[i], &columns[i].type))
            return NULL;
    }
    *out_n = n_names;
    return columns;
}

/* Sets every parameter that the text has; those it lacks keep their default. */
static bool params_read(const json_t *root, const dn_algorithm *algorithm, struct arena *arena, dn_params **out, struct problem *problem) {
    const json_t *numbers = NULL, *words = NULL, *lists = NULL;
    dn_error err;
    dn_error_clear(&err);
    if (!json_read_object(root, "numbers", true, "", &numbers, problem) || !json_read_object(root, "words", true, "", &words, problem) ||
        !json_read_object(root, "lists", true, "", &lists, problem))
        return false;
    dn_status s = dn_params_new(algorithm, out, &err);
    for (size_t i = 0; s == DN_OK && i < algorithm->n_params; i++) {
        const dn_param *p = &algorithm->params[i];
        const char *word = NULL;
        double number = 0, *list = NULL;
        size_t n = 0;
        if (json_read_numbers(lists, p->name, false, "", DN_MAX_LIST, arena, &list, &n, problem))
            s = dn_params_set_list(*out, p->name, list, n, &err);
        else if (json_read_string(words, p->name, false, "", &word, problem))
            s = dn_params_set_word(*out, p->name, word, &err);
        else if (json_read_number(numbers, p->name, false, "", &number, problem))
            s = p->type == DN_PARAM_BOOLEAN ? dn_params_set_boolean(*out, p->name, number != 0, &err)
                                            : dn_params_set_number(*out, p->name, number, &err);
    }
    if (s == DN_OK)
        s = dn_params_check(*out, &err);
    if (s != DN_OK)
        return problem_set(problem, PROBLEM_INTERNAL, "%s", err.message);
    return problem->type == PROBLEM_NONE;
}

static bool scalars_read(const json_t *root, struct arena *arena, struct jobs_spec *spec, struct problem *problem) {
    const char *model = NULL, *dataset = NULL, *algorithm = NULL;
    int64_t seed = 0, *snapshots = NULL;
    size_t n = 0;
    if (!json_read_string(root, "model", true, "", &model, problem) || !json_read_string(root, "dataset", true, "", &dataset, problem) ||
        !json_read_string(root, "algorithm", true, "", &algorithm, problem) ||
        !json_read_int(root, "dataset_version", true, "", 1, MAX_INDEX, &spec->dataset_version, problem) ||
        !json_read_bool(root, "standardize", true, "", &spec->standardize, problem) ||
        !json_read_number(root, "holdout", true, "", &spec->holdout, problem) ||
        !json_read_int(root, "seed", true, "", 0, (int64_t)1 << 53, &seed, problem) ||
        !json_read_number(root, "seconds", true, "", &spec->seconds, problem) ||
        !json_read_int(root, "memory_bytes", true, "", 1, (int64_t)1 << 53, &spec->memory_bytes, problem) ||
        !json_read_int(root, "threads", true, "", 1, 1024, &spec->threads, problem) ||
        !json_read_ints(root, "snapshots", true, "", 1, (int64_t)1 << 53, 100000, arena, &snapshots, &n, problem))
        return false;
    size_t *at = arena_alloc(arena, (n + 1) * sizeof *at);
    spec->model = arena_strdup(arena, model);
    spec->dataset = arena_strdup(arena, dataset);
    if (!at || !spec->model || !spec->dataset)
        return problem_set(problem, PROBLEM_INTERNAL, "out of memory");
    for (size_t i = 0; i < n; i++)
        at[i] = (size_t)snapshots[i];
    spec->snapshots = at;
    spec->n_snapshots = n;
    spec->seed = (uint64_t)seed;
    spec->algorithm = dn_algorithm_find(algorithm);
    if (!spec->algorithm)
        return problem_set(problem, PROBLEM_INTERNAL, "this binary knows no algorithm \"%s\"", algorithm);
    return true;
}

bool jobs_spec_read(const char *json, struct arena *arena, struct jobs_spec *out, struct problem *problem) {
    struct problem why = {0};
    struct jobs_spec spec = {0};
    json_t *root = json_parse(json, strlen(json), &why);
    size_t n = 0;
    const struct jobs_column *target = NULL;
    bool good = root && scalars_read(root, arena, &spec, &why) && params_read(root, spec.algorithm, arena, &spec.params, &why) &&
                (target = columns_read(root, "target", arena, &n, &why)) != NULL && n == 1 &&
                (spec.inputs = columns_read(root, "inputs", arena, &spec.n_inputs, &why)) != NULL;
    if (good) {
        spec.target = *target;
        *out = spec;
    } else {
        dn_params_free(spec.params);
        problem_set(problem, PROBLEM_INTERNAL, "the stored specification of the job cannot be read: %s",
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
