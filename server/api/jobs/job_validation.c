/* Reads and checks "validation": a holdout, folds, or another dataset; and the calibration. */
#include "api/jobs/job_spec.h"
#include "base/json/json_read.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- folds ---- */

/* Number of rows of the smallest class; 0: the summary does not list all classes. */
static int64_t smallest_class(const struct job_request *r) {
    struct problem ignored = {0};
    json_t *columns = json_parse(r->dataset.columns, strlen(r->dataset.columns), &ignored);
    const json_t *top = json_object_get(json_array_get(columns, r->spec.target.index), "top");
    double least = 0;
    problem_done(&ignored);
    for (size_t i = 0; json_array_size(top) == r->n_classes && i < r->n_classes; i++) {
        double rows = json_number_value(json_array_get(json_array_get(top, i), 1));
        least = i == 0 || rows < least ? rows : least;
    }
    json_decref(columns);
    return (int64_t)least;
}

/* Checks that every fold can have a row of every class. */
static void check_folds(struct job_request *r) {
    const int64_t folds = (int64_t)r->spec.folds;
    if (r->targetless && folds > r->dataset.n_rows) {
        json_fault(r->problem, "/validation", "folds",
                   "must be at most the number of rows, %" PRId64
                   ", so that every fold has a row; got %" PRId64,
                   r->dataset.n_rows, folds);
    }
    if (!r->has_target || folds == 0) {
        return;
    }
    const int64_t least = smallest_class(r), rows = r->dataset.n_rows - r->target_missing;
    if (least > 0 && folds > least) {
        json_fault(r->problem, "/validation", "folds",
                   "must be at most the number of rows of the smallest class of \"%s\", %" PRId64
                   ", so that every fold has a row of it; got %" PRId64,
                   r->spec.target.name, least, folds);
    } else if (folds > rows / (int64_t)r->n_classes) {
        json_fault(r->problem, "/validation", "folds",
                   "must be at most the number of rows of the smallest class; %" PRId64
                   " rows cannot have %zu classes with %" PRId64 " rows each",
                   rows, r->n_classes, folds);
    }
}

/* ---- calibration ---- */

/* Minimum number of training rows of a class with `rows` rows, over all fits. */
static int64_t rows_of_a_fit(const struct job_request *r, int64_t rows) {
    const int64_t folds = (int64_t)r->spec.folds;
    if (folds > 0) {
        return rows - (rows + folds - 1) / folds;
    }
    const int64_t left = rows - (int64_t)floor((double)rows * r->spec.holdout + 0.5);
    return left < 1 ? 1 : left;
}

/* Checks that every class has at least 2 training rows, and warns if it has fewer than folds. */
static void check_calibration(struct job_request *r) {
    const dn_params *params = r->spec.params;
    if (!r->has_target || !params || !dn_params_has(params, "calibrate") ||
        strcmp(dn_params_word(params, "calibrate"), "none") == 0) {
        return;
    }
    const int64_t all = smallest_class(r), least = all > 0 ? rows_of_a_fit(r, all) : 0,
                  folds = (int64_t)dn_params_number(params, "calibration_folds");
    if (all > 0 && least < 2) {
        json_fault(r->problem, "/params", "calibrate",
                   "needs at least 2 training rows of every class, and the smallest class of "
                   "\"%s\" has %" PRId64,
                   r->spec.target.name, least);
    } else if (all > 0 && least < folds) {
        job_request_warn(r, DN_WARNING_CALIBRATION_FOLDS,
                         "the calibration has %" PRId64 " folds, not %" PRId64
                         ": the smallest class has %" PRId64 " training rows",
                         least, folds, least);
    }
}

/* ---- another dataset ---- */

/* Whether a column of type `other` can be read as type `wanted`. Every type except sparse can be
 * read as text. */
static bool can_be_read(dn_column_type other, dn_column_type wanted) {
    return other == wanted || (wanted == DN_TEXT && other != DN_SPARSE);
}

/* Finds the column of the same name in the validation dataset. */
static bool find_column(struct job_request *r, const struct jobs_column *c, const char *what,
                        struct jobs_column *out) {
    const struct store_dataset *d = &r->validation;
    ptrdiff_t i = schema_find(&r->validation_schema, c->name);
    if (i < 0) {
        return json_fault(r->problem, "/validation", "dataset",
                          "dataset \"%s\" version %" PRId64 " has no column \"%s\", which is %s",
                          d->name, d->version, c->name, what);
    }
    const struct schema_column *other = &r->validation_schema.columns[i];
    if (!can_be_read(other->type, c->type)) {
        return json_fault(r->problem, "/validation", "dataset",
                          "column \"%s\" is %s in dataset \"%s\" version %" PRId64
                          " and %s in \"%s\"",
                          c->name, dn_column_type_name(other->type), d->name, d->version,
                          dn_column_type_name(c->type), r->dataset.name);
    }
    *out = job_column(other, (size_t)i);
    out->type = c->type;
    return true;
}

static void find_columns(struct job_request *r) {
    struct jobs_validation *v = &r->spec.validation;
    const size_t n = r->spec.n_inputs, first = jobs_spec_first_input(&r->spec);
    struct jobs_column *columns = arena_alloc(r->arena, (n + 2) * sizeof *columns);
    if (!columns) {
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for %zu columns", n);
        return;
    }
    if (first > 0 && find_column(r, &r->spec.target, "the target", &columns[0]) &&
        r->validation_schema.columns[columns[0].index].missing >= r->validation.n_rows &&
        r->validation.n_rows > 0) {
        json_fault(r->problem, "/validation", "dataset",
                   "column \"%s\", the target, is missing in every row of dataset \"%s\"",
                   r->spec.target.name, r->validation.name);
    }
    for (size_t i = 0; r->has_inputs && i < n; i++) {
        find_column(r, &r->spec.inputs[i], "an input", &columns[first + i]);
    }
    if (r->spec.weighted && schema_find(&r->validation_schema, r->spec.weight.name) >= 0) {
        v->weighted = find_column(r, &r->spec.weight, "the weight", &columns[first + n]);
    }
    v->columns = columns;
}

/* Reads the dataset to validate on. */
static void read_dataset(struct job_request *r, const json_t *validation) {
    r->has_validation = job_dataset_read(r, validation, false, "/validation", &r->validation,
                                         &r->validation_schema);
    if (!r->has_validation) {
        return;
    }
    r->spec.validation.dataset = r->validation.name;
    r->spec.validation.version = r->validation.version;
    r->spec.validation.id = r->validation.id;
    if (job_request_has_classes(r)) {
        find_columns(r);
    }
}

void job_validation_read(struct job_request *r, const json_t *root) {
    const json_t *validation = json_object_get(root, "validation");
    check_folds(r);
    if (json_is_object(validation)) {
        read_dataset(r, validation);
    }
    if (r->spec.curves && r->targetless) {
        json_fault(r->problem, "/validation", "curves",
                   "needs a target, and algorithm %s has none: curves compare scores with classes",
                   r->spec.algorithm->id);
    }
    check_calibration(r);
}
