/* Reads and writes the options of a job. */
#include "jobs/request/job_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SNAPSHOTS = 1000, MAX_ITERATION = 1000000000 };

static void *allocate(struct arena *arena, size_t n, size_t size, struct problem *problem) {
    void *memory = arena_alloc(arena, (n + 1) * size);
    if (memory == NULL) {
        problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the job");
    }
    return memory;
}

/* ---- reading ---- */

static void read_model(const json_t *root, struct arena *arena, struct jobs_spec *spec,
                       struct problem *problem) {
    const char *name = NULL;
    if (!json_read_string(root, "model", true, "", &name, problem)) {
        return;
    }
    if (!ids_name_valid(name, strlen(name))) {
        json_fault(problem, "", "model", "%s, got \"%s\"", IDS_NAME_RULE, name);
    }
    spec->model = arena_strdup(arena, name);
    if (spec->model == NULL) {
        problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the job");
    }
}

/* Reads an object with one weight for each class. */
static void read_weights(const json_t *object, struct arena *arena, struct jobs_class_weights *out,
                         struct problem *problem) {
    const size_t n = json_object_size(object);
    const char **names = allocate(arena, n, sizeof *names, problem);
    double *values = allocate(arena, n, sizeof *values, problem);
    size_t i = 0;
    if (names == NULL || values == NULL) {
        return;
    }
    for (void *at = json_object_iter((json_t *)(uintptr_t)object); at != NULL;
         at = json_object_iter_next((json_t *)(uintptr_t)object, at), i++) {
        const char *name = json_object_iter_key(at);
        names[i] = arena_strdup(arena, name);
        values[i] = json_number_value(json_object_iter_value(at));
        if (names[i] == NULL) {
            problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the job");
            return;
        }
        if (!json_is_number(json_object_iter_value(at)) || !(values[i] >= DN_MIN_WEIGHT) ||
            values[i] > DN_MAX_WEIGHT) {
            json_refuse_value(problem, "/class_weight", name, "a number from 1e-100 to 1e100",
                              json_object_iter_value(at));
        }
    }
    *out = (struct jobs_class_weights){.kind = DN_CLASS_WEIGHT_GIVEN,
                                       .names = names,
                                       .values = values,
                                       .n = n};
}

static void read_class_weight(const json_t *root, struct arena *arena,
                              struct jobs_class_weights *out, struct problem *problem) {
    const json_t *value = json_read_any(root, "class_weight", false, "", problem);
    if (value == NULL) {
        return;
    }
    if (json_is_string(value) && strcmp(json_string_value(value), "balanced") == 0) {
        out->kind = DN_CLASS_WEIGHT_BALANCED;
    } else if (json_is_object(value)) {
        read_weights(value, arena, out, problem);
    } else {
        json_refuse_value(problem, "", "class_weight",
                          "\"balanced\", or an object of a weight for each class", value);
    }
}

static const char *const meanings[] = {
    [DN_WEIGHTS_RELATIVE] = "relative", [DN_WEIGHTS_FREQUENCIES] = "frequencies", NULL};

static void read_weights_meaning(const json_t *root, dn_weights *out, struct problem *problem) {
    size_t index = DN_WEIGHTS_RELATIVE;
    json_read_choice(root, "weights", false, "", meanings, &index, problem);
    *out = (dn_weights)index;
}

static void read_validation(const json_t *root, struct jobs_spec *spec, struct problem *problem) {
    static const char *const known[] = {"holdout", "folds", "dataset", "curves", NULL};
    enum { N_METHODS = 3 };
    const json_t *object = NULL;
    int64_t folds = 0;
    size_t given = 0;
    if (!json_read_object(root, "validation", false, "", &object, problem)) {
        return;
    }
    json_refuse_unknown(object, known, "/validation", problem);
    for (size_t i = 0; i < N_METHODS; i++) {
        const json_t *value = json_object_get(object, known[i]);
        given += value != NULL && !json_is_null(value);
    }
    if (json_object_size(object) == 0 ||
        (given == 0 && json_is_true(json_object_get(object, "curves")))) {
        json_fault(problem, "", "validation",
                   "must be null or have one of the members holdout, folds, dataset");
    }
    if (given > 1) {
        json_fault(problem, "", "validation",
                   "must have one of the members holdout, folds, dataset, got %zu of them", given);
    }
    if (json_read_number(object, "holdout", false, "/validation", &spec->holdout, problem) &&
        !(spec->holdout > 0 && spec->holdout < 1)) {
        json_fault(problem, "/validation", "holdout", "must be > 0 and < 1, got %g", spec->holdout);
    }
    if (json_read_int(object, "folds", false, "/validation", 2, DN_MAX_FOLDS, &folds, problem)) {
        spec->folds = (size_t)folds;
    }
    json_read_bool(object, "curves", false, "/validation", &spec->curves, problem);
    if (spec->curves && spec->folds > 0) {
        json_fault(
            problem, "/validation", "curves",
            "belongs to holdout or dataset: metrics of folds are means, which have no curves");
    }
}

static int compare_sizes(const void *a, const void *b) {
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Reads the iterations, sorts them and drops duplicates. */
static void read_snapshots(const json_t *root, struct arena *arena, struct jobs_spec *spec,
                           struct problem *problem) {
    int64_t *numbers = NULL;
    size_t n = 0;
    if (!json_read_ints(root, "snapshots", false, "", 1, MAX_ITERATION, MAX_SNAPSHOTS, arena,
                        &numbers, &n, problem)) {
        return;
    }
    size_t *snapshots = allocate(arena, n, sizeof *snapshots, problem);
    if (snapshots == NULL) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        snapshots[i] = (size_t)numbers[i];
    }
    qsort(snapshots, n, sizeof *snapshots, compare_sizes);
    for (size_t i = 0; i < n; i++) {
        if (spec->n_snapshots == 0 || snapshots[spec->n_snapshots - 1] != snapshots[i]) {
            snapshots[spec->n_snapshots++] = snapshots[i];
        }
    }
    spec->snapshots = snapshots;
}

void jobs_options_read(const json_t *root, struct arena *arena, struct jobs_spec *spec,
                       struct problem *problem) {
    int64_t seed = 1;
    read_model(root, arena, spec, problem);
    read_class_weight(root, arena, &spec->class_weights, problem);
    read_weights_meaning(root, &spec->weights, problem);
    read_validation(root, spec, problem);
    json_read_int(root, "seed", false, "", 0, JSON_READ_EXACT, &seed, problem);
    spec->seed = (uint64_t)seed;
    read_snapshots(root, arena, spec, problem);
}

/* ---- writing ---- */

static void write_class_weight(const struct jobs_class_weights *c, struct json_writer *w) {
    json_put_key(w, "class_weight");
    if (c->kind == DN_CLASS_WEIGHT_NONE) {
        json_put_null(w);
    } else if (c->kind == DN_CLASS_WEIGHT_BALANCED) {
        json_put_string(w, "balanced");
    } else {
        json_begin_object(w);
        for (size_t i = 0; i < c->n; i++) {
            json_kv_double(w, c->names[i], c->values[i]);
        }
        json_end_object(w);
    }
}

static void write_validation(const struct jobs_spec *spec, struct json_writer *w) {
    char reference[IDS_NAME_SIZE + 24];
    json_put_key(w, "validation");
    if (spec->holdout == 0 && spec->folds == 0 && spec->validation.dataset == NULL) {
        json_put_null(w);
        return;
    }
    json_begin_object(w);
    if (spec->holdout > 0) {
        json_kv_double(w, "holdout", spec->holdout);
    } else if (spec->folds > 0) {
        json_kv_int(w, "folds", (int64_t)spec->folds);
    } else {
        (void)snprintf(reference, sizeof reference, "%s@%" PRId64, spec->validation.dataset,
                       spec->validation.version);
        json_kv_string(w, "dataset", reference);
    }
    if (spec->curves) {
        json_kv_bool(w, "curves", true);
    }
    json_end_object(w);
}

void jobs_options_write(const struct jobs_spec *spec, struct json_writer *w) {
    json_kv_string(w, "weight", spec->weighted ? spec->weight.name : NULL);
    json_kv_string(w, "weights", meanings[spec->weights]);
    write_class_weight(&spec->class_weights, w);
    write_validation(spec, w);
    json_kv_int(w, "seed", (int64_t)spec->seed);
}

void jobs_snapshots_write(const struct jobs_spec *spec, struct json_writer *w) {
    json_put_key(w, "snapshots");
    json_begin_array(w);
    for (size_t i = 0; i < spec->n_snapshots; i++) {
        json_put_int(w, (int64_t)spec->snapshots[i]);
    }
    json_end_array(w);
}
