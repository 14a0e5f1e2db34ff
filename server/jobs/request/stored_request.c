/* Writes and reads the stored request of a job. Options, parameters and features have the form that
 * a client sends; each set of columns is an object of lists of the same length. */
#include "jobs/decision.h"
#include "jobs/request/job_request.h"

#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "jobs/request/job_options.h"
#include "jobs/request/job_promotion.h"
#include "jobs/request/params.h"
#include "jobs/request/search/job_search.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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
    json_kv_begin_array(w, key);
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
    json_kv_begin_array(w, "places");
    for (; i < n; i++) {
        for (size_t k = 0; k < columns[i].places.n; k++) {
            json_put_int(w, columns[i].places.index[k]);
        }
    }
    json_end_array(w);
}

/* Writes the forms of datetime columns and of their parts, "" for others, and "parts", "seconds"
 * for others; nothing if there is no such column. */
static void write_forms(const struct jobs_column *columns, size_t n, struct json_writer *w) {
    char form[DN_DATETIME_FORM_SIZE];
    size_t i = 0;
    while (i < n && columns[i].type != DN_DATETIME && columns[i].part == DN_PART_NONE) {
        i++;
    }
    if (i == n) {
        return;
    }
    json_kv_begin_array(w, "forms");
    for (i = 0; i < n; i++) {
        json_put_stringn(w, form, dn_datetime_form_write(&columns[i].form, form));
    }
    json_end_array(w);
    json_kv_begin_array(w, "parts");
    for (i = 0; i < n; i++) {
        json_put_string(w, dn_date_part_name(columns[i].part));
    }
    json_end_array(w);
}

/* Writes columns as an object of lists of the same length. */
static void write_columns(const char *key, const struct jobs_column *columns, size_t n,
                          struct json_writer *w) {
    json_kv_begin_object(w, key);
    json_kv_begin_array(w, "names");
    for (size_t i = 0; i < n; i++) {
        json_put_string(w, columns[i].name);
    }
    json_end_array(w);
    json_kv_begin_array(w, "types");
    for (size_t i = 0; i < n; i++) {
        json_put_string(w, dn_column_type_name(columns[i].type));
    }
    json_end_array(w);
    write_list("indexes", columns, n, get_index, w);
    write_list("widths", columns, n, get_width, w);
    write_list("first_places", columns, n, get_first_index, w);
    write_forms(columns, n, w);
    write_filters(columns, n, w);
    json_end_object(w);
}

/* Writes the dataset version and the columns that the model is validated on. */
static void write_validation_source(const struct jobs_request *r, struct json_writer *w) {
    const struct jobs_validation *v = &r->validation;
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
                  jobs_request_first_input(r) + r->n_inputs + (v->weighted ? 1 : 0), w);
    json_end_object(w);
}

const char *jobs_warning_code(dn_warning_code code) {
    return code == DN_WARNING_CALIBRATION_FOLDS ? "calibration_folds"
           : code == DN_WARNING_FOLD_CLASSES    ? "fold_classes"
                                                : "";
}

void jobs_request_write_stored(const struct jobs_request *r, struct buf *out) {
    struct buf params = {0};
    struct json_writer w = json_writer_of(out);
    json_begin_object(&w);
    json_kv_string(&w, "model", r->model);
    json_kv_string(&w, "dataset", r->dataset);
    json_kv_int(&w, "dataset_version", r->dataset_version);
    json_kv_string(&w, "algorithm", r->algorithm->id);
    jobs_params_write(r->params, &params);
    json_kv_raw(&w, "params", buf_cstr(&params));
    json_kv_int(&w, "rules", r->params->rules);
    write_columns("target", &r->target, jobs_request_first_input(r), &w);
    write_columns("inputs", r->inputs, r->n_inputs, &w);
    write_columns("weight_column", &r->weight, r->weighted ? 1 : 0, &w);
    if (r->split.column.name != NULL) {
        write_columns("split_column", &r->split.column, 1, &w);
    }
    json_kv_begin_object(&w, "features");
    jobs_features_write(&r->features, r->inputs, r->n_inputs, &w);
    json_end_object(&w);
    jobs_options_write(r, true, &w);
    jobs_promotion_write(&r->promotion, &w);
    write_validation_source(r, &w);
    json_kv_double(&w, "seconds", r->limits.seconds);
    json_kv_int(&w, "memory_bytes", r->limits.memory_bytes);
    json_kv_int(&w, "threads", r->limits.threads);
    if (r->limits.ranks > 1) {
        json_kv_int(&w, "ranks", r->limits.ranks);
    }
    json_kv_bool(&w, "held_out", r->held_out);
    jobs_snapshots_write(r, &w);
    if (r->search != NULL) {
        jobs_search_write(r, true, &w);
        if (r->search->split.column.name != NULL) {
            write_columns("search_split_column", &r->search->split.column, 1, &w);
        }
    }
    json_kv_begin_array(&w, "warning_codes");
    for (size_t i = 0; i < r->n_warnings; i++) {
        json_put_string(&w, r->warning_codes[i]);
    }
    json_end_array(&w);
    json_end_object(&w);
    out->failed = out->failed || params.failed;
    buf_done(&params);
}

/* Writes the names of the features in the filter of a sparse column, such as "f17". */
static void write_feature_names(const struct jobs_column *c, struct json_writer *w) {
    struct buf name = {0};
    for (size_t k = 0; k < c->places.n; k++) {
        buf_clear(&name);
        buf_printf(&name, "%s%" PRIu64, c->name, (uint64_t)c->first_index + c->places.index[k]);
        json_put_string(w, buf_cstr(&name));
    }
    w->out->failed = w->out->failed || name.failed;
    buf_done(&name);
}

/* Writes "include": the inputs, or the features of a sparse input that are used; and "exclude": the
 * features of sparse inputs that are not used. */
static void write_inputs(const struct jobs_request *r, struct json_writer *w) {
    json_kv_begin_array(w, "include");
    for (size_t i = 0; i < r->n_inputs; i++) {
        if (r->inputs[i].places.kind == DN_INDICES_KEPT) {
            write_feature_names(&r->inputs[i], w);
        } else if (!jobs_column_follows(r->inputs, i)) {
            json_put_string(w, r->inputs[i].column);
        }
    }
    json_end_array(w);
    json_kv_begin_array(w, "exclude");
    for (size_t i = 0; i < r->n_inputs; i++) {
        if (r->inputs[i].places.kind == DN_INDICES_DROPPED) {
            write_feature_names(&r->inputs[i], w);
        }
    }
    json_end_array(w);
}

void jobs_request_write_resolved(const struct jobs_request *r, const char *params,
                                 struct buf *out) {
    char reference[IDS_NAME_SIZE + 24];
    struct buf own = {0};
    struct json_writer w = json_writer_of(out);
    json_begin_object(&w);
    json_kv_string(&w, "model", r->model);
    (void)snprintf(reference, sizeof reference, "%s@%" PRId64, r->dataset, r->dataset_version);
    json_kv_string(&w, "dataset", reference);
    if (r->target.name != NULL) {
        json_kv_string(&w, "target", r->target.name);
        json_kv_string(&w, "target_as", "classes");
    }
    if (r->search != NULL) {
        jobs_search_write(r, false, &w);
    } else {
        json_kv_string(&w, "algorithm", r->algorithm->id);
        if (params == NULL) {
            jobs_params_write(r->params, &own);
            params = buf_cstr(&own);
        }
        json_kv_raw(&w, "params", params);
    }
    json_kv_begin_object(&w, "features");
    write_inputs(r, &w);
    if (r->search != NULL) {
        const size_t n = strlen(r->search->common);
        if (n > 2) { /* the members, without the braces */
            json_put_raw(&w, r->search->common + 1, n - 2);
        }
    } else {
        jobs_features_write(&r->features, r->inputs, r->n_inputs, &w);
    }
    json_end_object(&w);
    jobs_options_write(r, true, &w);
    jobs_promotion_write(&r->promotion, &w);
    jobs_limits_write(r, &w);
    if (r->search == NULL) {
        jobs_snapshots_write(r, &w);
    } else {
        jobs_learning_curve_write(r, &w);
    }
    json_end_object(&w);
    out->failed = out->failed || own.failed;
    buf_done(&own);
}

/* Reads the filters of sparse columns in the form that write_filters writes. */
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

/* Reads the form and the part of a datetime column. */
static bool read_date(const char *form, const char *part, struct arena *arena,
                      struct jobs_column *c) {
    size_t k = 0;
    const size_t n = strlen(c->name), n_part = strlen(part) + 1;
    while (k < DN_DATE_PARTS && strcmp(part, dn_date_part_name((dn_date_part)k)) != 0) {
        k++;
    }
    if (k == DN_DATE_PARTS || !dn_datetime_form_parse(form, strlen(form), &c->form)) {
        return false;
    }
    c->part = (dn_date_part)k;
    if (c->part != DN_PART_NONE) {
        c->column = n > n_part ? arena_strndup(arena, c->name, n - n_part) : NULL;
    }
    return c->column != NULL;
}

static const struct jobs_column *read_columns(const json_t *root, const char *key,
                                              struct arena *arena, size_t *out_n,
                                              struct problem *problem) {
    const json_t *object = NULL;
    const char **names = NULL, **types = NULL, **forms = NULL, **parts = NULL;
    int64_t *indexes = NULL, *widths = NULL, *firsts = NULL;
    size_t n_names = 0, n_types = 0, n_indexes = 0, n_widths = 0, n_firsts = 0, n_forms = 0,
           n_parts = 0;
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
    if (json_object_get(object, "forms") != NULL &&
        (!json_read_strings(object, "forms", true, "", SIZE_MAX, arena, &forms, &n_forms,
                            problem) ||
         !json_read_strings(object, "parts", true, "", SIZE_MAX, arena, &parts, &n_parts,
                            problem) ||
         n_forms != n_names || n_parts != n_names)) {
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
        columns[i].column = names[i];
        columns[i].form = (dn_datetime_form){0};
        columns[i].part = DN_PART_NONE;
        if (!dn_column_type_parse(types[i], &columns[i].type) ||
            (columns[i].type == DN_DATETIME && forms == NULL) ||
            (forms != NULL && forms[i][0] != '\0' &&
             !read_date(forms[i], parts[i], arena, &columns[i]))) {
            return NULL;
        }
    }
    if (!read_filters(object, columns, n_names, arena, problem)) {
        return NULL;
    }
    *out_n = n_names;
    return columns;
}

static bool read_validation_source(const json_t *root, struct arena *arena, struct jobs_request *r,
                                   struct problem *problem) {
    const json_t *source = NULL;
    const char *name = NULL;
    size_t n = 0;
    const size_t least = jobs_request_first_input(r) + r->n_inputs;
    struct jobs_validation *v = &r->validation;
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
        return problem_set(problem, PROBLEM_INTERNAL,
                           "cannot read the columns of the validation dataset");
    }
    v->dataset = arena_strdup(arena, name);
    if (!v->dataset) {
        return problem_no_memory(problem);
    }
    v->weighted = n == least + 1;
    return n == least || v->weighted ||
           problem_set(problem, PROBLEM_INTERNAL,
                       "the validation dataset must have %zu or %zu columns (got %zu)", least,
                       least + 1, n);
}

/* Reads the column that divides the rows; jobs of earlier releases have none. */
static bool read_split_column(const json_t *root, const char *key, struct arena *arena,
                              struct jobs_split *split, struct problem *problem) {
    size_t n = 0;
    if (split->by == JOBS_SPLIT_NONE) {
        return true;
    }
    const struct jobs_column *column = read_columns(root, key, arena, &n, problem);
    if (column == NULL || n != 1) {
        return false;
    }
    split->column = column[0];
    return true;
}

/* Reads the members that refer to the columns: weight, split, features, validation dataset. */
static bool read_column_options(const json_t *root, struct arena *arena, struct jobs_request *r,
                                struct problem *problem) {
    const json_t *features = NULL;
    size_t n = 0;
    const struct jobs_column *weight = read_columns(root, "weight_column", arena, &n, problem);
    if (!weight || n > 1 || !read_split_column(root, "split_column", arena, &r->split, problem) ||
        !json_read_object(root, "features", true, "", &features, problem)) {
        return false;
    }
    r->weighted = n == 1;
    if (r->weighted) {
        r->weight = weight[0];
    }
    jobs_features_read(features, "", r->inputs, r->n_inputs, arena, &r->features, problem);
    return read_validation_source(root, arena, r, problem);
}

static bool read_scalars(const json_t *root, struct arena *arena, struct jobs_request *r,
                         struct problem *problem) {
    const char *dataset = NULL;
    if (!json_read_string(root, "dataset", true, "", &dataset, problem) ||
        !json_read_int(root, "dataset_version", true, "", 1, MAX_INDEX, &r->dataset_version,
                       problem) ||
        !json_read_number(root, "seconds", true, "", &r->limits.seconds, problem) ||
        !json_read_int(root, "memory_bytes", true, "", 1, (int64_t)1 << 53, &r->limits.memory_bytes,
                       problem) ||
        !json_read_int(root, "threads", true, "", 1, 1024, &r->limits.threads, problem)) {
        return false;
    }
    json_read_strings(root, "warning_codes", false, "", SIZE_MAX, arena, &r->warning_codes,
                      &r->n_warnings, problem); /* absent in jobs of older releases */
    r->limits.ranks = 1;
    json_read_int(root, "ranks", false, "", 1, DN_MAX_RANKS, &r->limits.ranks,
                  problem);                                             /* likewise */
    json_read_bool(root, "held_out", false, "", &r->held_out, problem); /* likewise */
    const json_t *rule = json_object_get(root, "decision");
    if (json_is_object(rule)) {
        struct buf text = {0};
        decision_text(rule, &text);
        r->decision = buf_cstr(&text) != NULL ? arena_strdup(arena, buf_cstr(&text)) : NULL;
        buf_done(&text);
        if (r->decision == NULL) {
            return problem_no_memory(problem);
        }
    }
    r->dataset = arena_strdup(arena, dataset);
    return r->dataset != NULL || problem_no_memory(problem);
}

/* Reads the rules of the parameters with the value "auto". */
static bool read_rules(const json_t *root, dn_params *params, struct problem *problem) {
    int64_t rules = DN_RULES_FIRST; /* absent in jobs of older releases */
    json_read_int(root, "rules", false, "", DN_RULES_FIRST, DN_RULES_CURRENT, &rules, problem);
    params->rules = (dn_rules)rules;
    return problem->type == PROBLEM_NONE;
}

/* Jobs of releases without the parameter `decision` keep the labels of the scores. */
static bool keep_decision(const json_t *root, struct jobs_request *r) {
    if (!dn_params_has(r->params, "decision") ||
        json_object_get(json_object_get(root, "params"), "decision") != NULL) {
        return true;
    }
    size_t i = 0;
    while (strcmp(r->algorithm->params[i].name, "decision") != 0) {
        i++;
    }
    r->old_labels = dn_params_applies(r->params, i);
    return dn_params_set_word(r->params, "decision", "scores", NULL) == DN_OK;
}

/* Reads the target. Fails if it is absent and the algorithm needs one, or the reverse. */
static bool read_target(const json_t *root, struct arena *arena, struct jobs_request *r,
                        struct problem *problem) {
    size_t n = 0;
    const struct jobs_column *target = read_columns(root, "target", arena, &n, problem);
    if (!target || n != (r->algorithm->flags & DN_ALGORITHM_TARGET ? 1 : 0)) {
        return false;
    }
    if (n == 1) {
        r->target = target[0];
    }
    return true;
}

bool jobs_request_read_stored(const char *json, struct arena *arena, struct jobs_request *out,
                              struct problem *problem) {
    struct problem why = {0};
    struct jobs_request r = {0};
    json_t *root = json_parse(json, strlen(json), &why);
    if (root != NULL) {
        jobs_params_read(root, arena, &r.params, &why);
        r.algorithm = r.params != NULL ? r.params->algorithm : NULL;
        jobs_options_read(root, arena, &r, &why);
        if (json_object_get(root, "weights") == NULL) { /* absent in jobs of older releases */
            r.weights = DN_WEIGHTS_FREQUENCIES;
        }
    }
    bool good = r.algorithm != NULL && read_rules(root, r.params, &why) &&
                keep_decision(root, &r) && read_scalars(root, arena, &r, &why) &&
                read_target(root, arena, &r, &why) &&
                (r.inputs = read_columns(root, "inputs", arena, &r.n_inputs, &why)) != NULL &&
                read_column_options(root, arena, &r, &why) && !why.type &&
                jobs_search_read_stored(root, arena, &r, &why) &&
                (r.search == NULL ||
                 read_split_column(root, "search_split_column", arena, &r.search->split, &why));
    if (good) {
        *out = r;
    } else {
        jobs_search_done(r.search);
        dn_params_free(r.params);
        if (why.type == PROBLEM_UNAVAILABLE) {
            problem_no_memory(problem);
        } else {
            problem_set(problem, PROBLEM_INTERNAL,
                        "the stored specification of the job cannot be read: %s",
                        why.detail ? why.detail : "damaged");
        }
    }
    problem_done(&why);
    json_decref(root);
    return good;
}
