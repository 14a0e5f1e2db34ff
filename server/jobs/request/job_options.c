/* Reads and writes the options of a job. */
#include "jobs/request/job_options.h"
#include "jobs/request/job_promotion.h"
#include "jobs/request/job_split.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SNAPSHOTS = 1000, MAX_SHARES = 20, MAX_ITERATION = 1000000000 };

static void *allocate(struct arena *arena, size_t n, size_t size, struct problem *problem) {
    void *memory = arena_alloc(arena, (n + 1) * size);
    if (memory == NULL) {
        problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the job");
    }
    return memory;
}

/* ---- reading ---- */

static void read_model(const json_t *root, struct arena *arena, struct jobs_request *r,
                       struct problem *problem) {
    const char *name = NULL;
    if (!json_read_string(root, "model", true, "", &name, problem)) {
        return;
    }
    if (!ids_name_valid(name, strlen(name))) {
        json_fault(problem, "", "model", "%s, got \"%s\"", IDS_NAME_RULE, name);
    }
    r->model = arena_strdup(arena, name);
    if (r->model == NULL) {
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

/* Refuses a number that is not a part of the rows. */
static void refuse_share(struct problem *problem, const char *parent, const char *key,
                         double value) {
    char number[DN_NUMBER_SIZE];
    (void)dn_number_format(value, number);
    json_fault(problem, parent, key, "must be > 0 and < 1, got %s", number);
}

static void read_validation(const json_t *root, struct arena *arena, struct jobs_request *r,
                            struct problem *problem) {
    static const char *const known[] = {"holdout", "folds", "dataset", "column", "curves",
                                        "group",   "order", "repeats", NULL};
    enum { N_METHODS = 4 };
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
                   "must be null or have one of the members holdout, folds, dataset, column");
    }
    if (given > 1) {
        json_fault(problem, "", "validation",
                   "must have one of the members holdout, folds, dataset, column, got %zu of them",
                   given);
    }
    if (json_read_number(object, "holdout", false, "/validation", &r->holdout, problem) &&
        !(r->holdout > 0 && r->holdout < 1)) {
        refuse_share(problem, "/validation", "holdout", r->holdout);
    }
    const json_t *fold_value = json_object_get(object, "folds");
    if (json_is_string(fold_value) &&
        strcmp(json_string_value(fold_value), JOBS_LEAVE_ONE_OUT) == 0) {
        r->folds = DN_LEAVE_ONE_OUT;
    } else if (json_is_string(fold_value)) {
        json_refuse_value(problem, "/validation", "folds",
                          "an integer from 2 to 1000 or \"leave_one_out\"", fold_value);
    } else if (json_read_int(object, "folds", false, "/validation", 2, DN_MAX_FOLDS, &folds,
                             problem)) {
        r->folds = (size_t)folds;
    }
    jobs_split_read(object, arena, r, problem);
    json_read_bool(object, "curves", false, "/validation", &r->curves, problem);
}

static void read_conformal(const json_t *root, struct jobs_conformal *out,
                           struct problem *problem) {
    static const char *const known[] = {"coverage", "by_class", NULL};
    const json_t *object = NULL;
    if (!json_read_object(root, "conformal", false, "", &object, problem)) {
        return;
    }
    json_refuse_unknown(object, known, "/conformal", problem);
    if (json_read_number(object, "coverage", true, "/conformal", &out->coverage, problem) &&
        !(out->coverage > 0 && out->coverage < 1)) {
        refuse_share(problem, "/conformal", "coverage", out->coverage);
        out->coverage = 0;
    }
    json_read_bool(object, "by_class", false, "/conformal", &out->by_class, problem);
}

static int compare_sizes(const void *a, const void *b) {
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static const char *const snapshots_of[] = {"iterations", "updates", NULL};

/* Reads the iterations, sorts them and drops duplicates. */
static void read_snapshots(const json_t *root, struct arena *arena, struct jobs_request *r,
                           struct problem *problem) {
    int64_t *numbers = NULL;
    size_t n = 0, of = 0;
    json_read_choice(root, "snapshots_of", false, "", snapshots_of, &of, problem);
    r->of_updates = of == 1;
    if (!json_read_ints(root, "snapshots", false, "", 0, MAX_ITERATION, MAX_SNAPSHOTS, arena,
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
        if (r->n_snapshots == 0 || snapshots[r->n_snapshots - 1] != snapshots[i]) {
            snapshots[r->n_snapshots++] = snapshots[i];
        }
    }
    r->snapshots = snapshots;
}

static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Reads the shares of the learning curve, sorts them and drops duplicates. */
static void read_learning_curve(const json_t *root, struct arena *arena, struct jobs_request *r,
                                struct problem *problem) {
    double *shares = NULL;
    size_t n = 0;
    if (!json_read_numbers(root, "learning_curve", false, "", MAX_SHARES, arena, &shares, &n,
                           problem)) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (!(shares[i] > 0 && shares[i] <= 1)) {
            char index[24];
            (void)snprintf(index, sizeof index, "%zu", i);
            json_fault(problem, "/learning_curve", index, "must be > 0 and <= 1, got %g",
                       shares[i]);
        }
    }
    if (n > 1) {
        qsort(shares, n, sizeof *shares, compare_numbers);
    }
    for (size_t i = 0; i < n; i++) {
        if (r->n_shares == 0 || shares[r->n_shares - 1] != shares[i]) {
            shares[r->n_shares++] = shares[i];
        }
    }
    r->shares = shares;
}

void jobs_options_read(const json_t *root, struct arena *arena, struct jobs_request *r,
                       struct problem *problem) {
    int64_t seed = 1;
    read_model(root, arena, r, problem);
    read_class_weight(root, arena, &r->class_weights, problem);
    read_weights_meaning(root, &r->weights, problem);
    read_validation(root, arena, r, problem);
    read_conformal(root, &r->conformal, problem);
    jobs_promotion_read(root, &r->promotion, problem);
    json_read_int(root, "expires_in", false, "", STORE_EXPIRES_MIN, STORE_EXPIRES_MAX,
                  &r->expires_in, problem);
    json_read_int(root, "seed", false, "", 0, JSON_READ_EXACT, &seed, problem);
    r->seed = (uint64_t)seed;
    read_snapshots(root, arena, r, problem);
    read_learning_curve(root, arena, r, problem);
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

static void write_validation(const struct jobs_request *r, struct json_writer *w) {
    char reference[IDS_NAME_SIZE + 24];
    json_put_key(w, "validation");
    if (r->holdout == 0 && r->folds == 0 && r->validation.dataset == NULL &&
        r->split.by == JOBS_SPLIT_NONE) {
        json_put_null(w);
        return;
    }
    json_begin_object(w);
    if (r->holdout > 0) {
        json_kv_double(w, "holdout", r->holdout);
    } else if (r->folds == DN_LEAVE_ONE_OUT) {
        json_kv_string(w, "folds", JOBS_LEAVE_ONE_OUT);
    } else if (r->folds > 0) {
        json_kv_int(w, "folds", (int64_t)r->folds);
    } else if (r->validation.dataset != NULL) {
        (void)snprintf(reference, sizeof reference, "%s@%" PRId64, r->validation.dataset,
                       r->validation.version);
        json_kv_string(w, "dataset", reference);
    }
    jobs_split_write(&r->split, w);
    if (r->curves) {
        json_kv_bool(w, "curves", true);
    }
    json_end_object(w);
}

void jobs_options_write(const struct jobs_request *r, bool rule, struct json_writer *w) {
    json_kv_string(w, "weight", r->weighted ? r->weight.name : NULL);
    json_kv_string(w, "weights", meanings[r->weights]);
    write_class_weight(&r->class_weights, w);
    write_validation(r, w);
    if (r->decision != NULL && rule) {
        json_kv_raw(w, "decision", r->decision);
    }
    if (r->conformal.coverage > 0 && rule) {
        json_kv_begin_object(w, "conformal");
        json_kv_double(w, "coverage", r->conformal.coverage);
        json_kv_bool(w, "by_class", r->conformal.by_class);
        json_end_object(w);
    }
    if (r->expires_in > 0 && rule) {
        json_kv_int(w, "expires_in", r->expires_in);
    }
    json_kv_int(w, "seed", (int64_t)r->seed);
}

void jobs_limits_write(const struct jobs_request *r, struct json_writer *w) {
    json_kv_begin_object(w, "limits");
    json_kv_double(w, "seconds", r->limits.seconds > 0 ? r->limits.seconds : (double)NAN);
    json_kv_int(w, "memory_mib", r->limits.memory_bytes >> 20);
    json_kv_int(w, "threads", r->limits.threads);
    if (r->limits.ranks > 1) {
        json_kv_int(w, "ranks", r->limits.ranks);
    }
    json_end_object(w);
}

void jobs_learning_curve_write(const struct jobs_request *r, struct json_writer *w) {
    if (r->n_shares > 0) {
        json_put_vector(w, "learning_curve", r->shares, r->n_shares);
    } else {
        json_kv_null(w, "learning_curve");
    }
}

void jobs_snapshots_write(const struct jobs_request *r, struct json_writer *w) {
    jobs_learning_curve_write(r, w);
    json_kv_begin_array(w, "snapshots");
    for (size_t i = 0; i < r->n_snapshots; i++) {
        json_put_int(w, (int64_t)r->snapshots[i]);
    }
    json_end_array(w);
    json_kv_string(w, "snapshots_of", snapshots_of[r->of_updates]);
}
