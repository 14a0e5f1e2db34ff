/* Reads and checks "validation": a holdout, folds, or another dataset; and the calibration and the
 * sets of labels, which need rows of each class. */
#include "base/json/json_read.h"
#include "base/nearest.h"
#include "jobs/request/class_weights.h"
#include "jobs/request/job_split.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- rows of the classes ---- */

/* What the summary of the dataset tells about the rows of each class. */
struct class_rows {
    const int64_t *rows; /* [n_classes]; NULL: the summary does not list all classes */
    int64_t smallest;    /* rows of the smallest class; 0: `rows` is NULL */
    int64_t single;      /* classes with one row; a lower bound if `rows` is NULL */
    int64_t all;         /* rows that have a class */
};

static struct class_rows count_class_rows(const struct jobs_request *r) {
    struct problem ignored = {0};
    const int64_t n_classes = (int64_t)r->n_classes;
    struct class_rows c = {.all = r->data.n_rows - r->target_missing};
    json_t *columns = json_parse(r->data.columns, strlen(r->data.columns), &ignored);
    const json_t *top = json_object_get(json_array_get(columns, r->target.index), "top");
    int64_t *rows = json_array_size(top) == r->n_classes
                        ? arena_alloc(r->arena, (r->n_classes + 1) * sizeof *rows)
                        : NULL;
    problem_done(&ignored);
    for (size_t i = 0; rows != NULL && i < r->n_classes; i++) {
        rows[i] = (int64_t)json_number_value(json_array_get(json_array_get(top, i), 1));
        c.smallest = i == 0 || rows[i] < c.smallest ? rows[i] : c.smallest;
        c.single += rows[i] == 1;
    }
    c.rows = rows;
    if (c.smallest == 0 && 2 * n_classes > c.all) {
        c.single = 2 * n_classes - c.all; /* the other classes have at least 2 rows */
    }
    json_decref(columns);
    return c;
}

/* ---- holdout ---- */

/* Checks that the holdout has a row. Every class keeps a training row. */
static void check_holdout(struct jobs_request *r) {
    if (r->holdout == 0 || !jobs_request_has_classes(r)) {
        return;
    }
    const int64_t rows = r->data.n_rows - r->target_missing,
                  wanted = (int64_t)floor((double)rows * r->holdout + 0.5),
                  most = rows - (r->targetless ? 1 : (int64_t)r->n_classes);
    if (wanted == 0 || most <= 0) {
        json_fault(r->problem, "/validation", "holdout",
                   "%g of %" PRId64 " rows%s gives a validation set of 0 rows%s", r->holdout, rows,
                   r->targetless ? "" : " with a class",
                   wanted > 0 ? ": a class keeps at least one training row" : "");
    }
}

/* ---- folds ---- */

static void check_leave_one_out(struct jobs_request *r, int64_t rows) {
    if (r->params && (r->targetless || !dn_params_is_linear(r->params))) {
        json_fault(
            r->problem, "/validation", "folds",
            "\"leave_one_out\" is for linear methods, and %s with these parameters is not linear",
            r->algorithm->id);
    } else if (rows > DN_MAX_LEAVE_ONE_OUT) {
        json_fault(r->problem, "/validation", "folds",
                   "\"leave_one_out\" is for at most %d rows, and there are %" PRId64,
                   DN_MAX_LEAVE_ONE_OUT, rows);
    }
}

void jobs_folds_warn(struct jobs_request *r, int64_t folds) {
    const struct class_rows c = count_class_rows(r);
    const int64_t smallest = c.smallest;
    if (smallest > 0 && folds > smallest) {
        jobs_request_warn(r, DN_WARNING_FOLD_CLASSES,
                          "the smallest class of \"%s\" has %" PRId64 " row%s for %" PRId64
                          " folds: classes will be missing from some folds",
                          r->target.name, smallest, smallest == 1 ? "" : "s", folds);
    } else if (folds > c.all / (int64_t)r->n_classes) {
        jobs_request_warn(r, DN_WARNING_FOLD_CLASSES,
                          "%" PRId64 " rows cannot have %zu classes with %" PRId64
                          " rows each: classes will be missing from some of the folds",
                          c.all, r->n_classes, folds);
    }
}

/* Checks that every fold can have a row. */
static void check_folds(struct jobs_request *r) {
    const bool one = r->folds == DN_LEAVE_ONE_OUT, random = r->split.by == JOBS_SPLIT_NONE;
    const int64_t folds = one ? 2 : (int64_t)r->folds;
    if (folds == 0 || !jobs_request_has_classes(r)) {
        return;
    }
    const struct class_rows c =
        r->targetless ? (struct class_rows){.all = r->data.n_rows} : count_class_rows(r);
    const int64_t rows = c.all - c.single;
    if (one) {
        check_leave_one_out(r, c.all);
    }
    if (folds > rows) {
        json_fault(r->problem, "/validation", "folds",
                   "must be at most the number of rows%s, %" PRId64
                   ", so that every fold has a row; got %" PRId64,
                   c.single > 0 ? " of classes with at least 2 rows" : "", rows, folds);
    } else if (!one && random && !r->targetless) {
        jobs_folds_warn(r, folds);
    }
}

/* ---- calibration ---- */

/* Returns the most rows of class k that a holdout may take, over all seeds: the integer part of the
 * class's share, and one more row if the class can get one of the rows that are left. These go to
 * the classes with the largest fractional parts; the seed orders classes with equal ones, so that
 * class k may be the first of them. */
static int64_t rows_held(const struct jobs_request *r, const struct class_rows *c, size_t k) {
    const double share = (double)c->rows[k] * r->holdout, part = share - floor(share);
    int64_t left = (int64_t)floor((double)c->all * r->holdout + 0.5);
    for (size_t i = 0; i < r->n_classes; i++) {
        const double other = (double)c->rows[i] * r->holdout;
        const bool before = other - floor(other) > part && (int64_t)other + 1 < c->rows[i];
        left -= (int64_t)fmin(floor(other), (double)(c->rows[i] - 1)) + before;
    }
    const int64_t held = (int64_t)share + (left > 0);
    return held < c->rows[k] ? held : c->rows[k] - 1;
}

/* Returns the minimum number of training rows of a class, over all fits and all seeds. */
static int64_t least_training_rows(const struct jobs_request *r, const struct class_rows *c) {
    const int64_t folds = (int64_t)r->folds;
    int64_t least = c->smallest;
    if (r->folds == DN_LEAVE_ONE_OUT || c->smallest == 1) {
        return c->smallest > 1 ? c->smallest - 1 : 1; /* a class of one row is in no fold */
    }
    if (folds > 0) {
        return c->smallest - (c->smallest + folds - 1) / folds;
    }
    for (size_t k = 0; r->holdout > 0 && k < r->n_classes; k++) {
        const int64_t rows = c->rows[k] - rows_held(r, c, k);
        least = rows < least ? rows : least;
    }
    return least;
}

/* Checks that the calibration has groups to keep together, as far as the summary of the dataset
 * tells: a holdout and each fold take at least one. Returns false after a fault or a warning. */
static bool check_calibration_groups(struct jobs_request *r, int64_t folds) {
    if (r->split.by != JOBS_SPLIT_GROUP || r->split.column.name == NULL) {
        return true;
    }
    const struct schema_column *c = &r->schema.columns[r->split.column.index];
    const int64_t left = c->distinct - 1;
    if (c->distinct < 0 || left >= folds) {
        return true;
    }
    if (left < 2) {
        return json_fault(r->problem, "/params", "calibrate",
                          "keeps the groups of column \"%s\" together and needs at least 2 of them "
                          "in the training rows; there are %" PRId64 " groups in all",
                          c->name, c->distinct);
    }
    jobs_request_warn(r, DN_WARNING_CALIBRATION_FOLDS,
                      "the calibration has at most %" PRId64 " folds, not %" PRId64
                      ": it keeps the %" PRId64 " groups of column \"%s\" together",
                      left, folds, c->distinct, c->name);
    return false;
}

/* Checks that every class has at least 2 training rows, and warns if it has fewer than folds. */
static void check_calibration(struct jobs_request *r) {
    const dn_params *params = r->params;
    if (!r->has_target || !params || !dn_params_has(params, "calibrate") ||
        strcmp(dn_params_word(params, "calibrate"), "none") == 0) {
        return;
    }
    const struct class_rows c = count_class_rows(r);
    const int64_t least = c.rows != NULL ? least_training_rows(r, &c) : 0,
                  folds = (int64_t)dn_params_number(params, "calibration_folds");
    if (c.rows != NULL && least < 2) {
        json_fault(r->problem, "/params", "calibrate",
                   "needs at least 2 training rows of every class, and a class of \"%s\" with "
                   "few rows may keep %" PRId64,
                   r->target.name, least);
    } else if (check_calibration_groups(r, folds) && c.rows != NULL && least < folds) {
        jobs_request_warn(r, DN_WARNING_CALIBRATION_FOLDS,
                          "the calibration has %" PRId64 " folds, not %" PRId64
                          ": the smallest class has %" PRId64 " training rows",
                          least, folds, least);
    }
}

/* ---- sets of labels ---- */

/* Returns the name of the class with the index in the summary of the dataset. */
static const char *class_name(const struct jobs_request *r, size_t k) {
    struct problem ignored = {0};
    char room[DN_NUMBER_SIZE];
    json_t *columns = json_parse(r->data.columns, strlen(r->data.columns), &ignored);
    const json_t *top = json_object_get(json_array_get(columns, r->target.index), "top");
    const char *text = jobs_class_text(json_array_get(json_array_get(top, k), 0), room),
               *name = text != NULL ? arena_strdup(r->arena, text) : NULL;
    problem_done(&ignored);
    json_decref(columns);
    return name != NULL ? name : "";
}

/* Refuses a coverage for which the validation cannot hold out enough rows, as far as the summary of
 * the dataset tells. The training counts the rows again. */
static void check_coverage_rows(struct jobs_request *r) {
    const struct class_rows c = count_class_rows(r);
    const int64_t least = (int64_t)dn_conformal_least_rows(r->conformal.coverage);
    char coverage[DN_NUMBER_SIZE];
    const bool drawn = r->holdout > 0 && r->split.by != JOBS_SPLIT_GROUP,
               by_class = drawn && r->split.by == JOBS_SPLIT_NONE;
    const int64_t all = drawn ? (int64_t)floor((double)c.all * r->holdout + 0.5)
                        : r->folds > 0 && r->split.by == JOBS_SPLIT_NONE ? c.all - c.single
                                                                         : c.all;
    (void)dn_number_format(r->conformal.coverage, coverage);
    if (!r->conformal.by_class && all < least) {
        json_fault(r->problem, "/conformal", "coverage",
                   "sets of labels with coverage %s need at least %" PRId64
                   " held-out rows, and the validation holds out at most %" PRId64,
                   coverage, least, all);
    }
    for (size_t k = 0; r->conformal.by_class && c.rows != NULL && k < r->n_classes; k++) {
        const int64_t rows = by_class ? rows_held(r, &c, k) : c.rows[k] == 1 ? 0 : c.rows[k];
        if (rows < least) {
            json_fault(r->problem, "/conformal", "coverage",
                       "sets of labels with coverage %s by class need at least %" PRId64
                       " held-out rows of each class, and of class \"%.100s\" the validation holds "
                       "out at most %" PRId64,
                       coverage, least, class_name(r, k), rows);
            return;
        }
    }
}

/* Refuses a coverage for which the validation dataset has too few rows. The training counts them
 * again, by class if asked. */
static void check_coverage_dataset(struct jobs_request *r) {
    const int64_t least = (int64_t)dn_conformal_least_rows(r->conformal.coverage);
    const ptrdiff_t target =
        r->has_target ? schema_find(&r->validation_schema, r->target.name) : -1;
    const int64_t rows = r->validation_data.n_rows -
                         (target >= 0 ? r->validation_schema.columns[target].missing : 0);
    char coverage[DN_NUMBER_SIZE];
    (void)dn_number_format(r->conformal.coverage, coverage);
    if (rows < least) {
        json_fault(r->problem, "/conformal", "coverage",
                   "sets of labels with coverage %s need at least %" PRId64
                   " rows, and dataset \"%s\" version %" PRId64 " has %" PRId64 " with a class",
                   coverage, least, r->validation_data.name, r->validation_data.version, rows);
    }
}

/* named: the validation names a dataset, which may be at fault */
static void check_conformal(struct jobs_request *r, bool named) {
    if (r->conformal.coverage == 0) {
        return;
    }
    if (r->targetless) {
        json_fault(r->problem, "", "conformal", "needs a target, and algorithm %s has none",
                   r->algorithm->id);
        return;
    }
    if (r->params != NULL && r->has_target &&
        !dn_params_have_probabilities(r->params, r->n_classes)) {
        json_fault(r->problem, "", "conformal",
                   "needs probabilities, and %s with these parameters has none: set "
                   "params.calibrate, if the algorithm has it",
                   r->algorithm->id);
    }
    if (r->has_validation) {
        check_coverage_dataset(r);
    } else if (named) {
        return;
    } else if (!(r->holdout > 0 || r->folds > 0 || r->split.by == JOBS_SPLIT_COLUMN)) {
        json_fault(r->problem, "", "conformal",
                   "needs validation by holdout, folds, column or dataset: its thresholds are "
                   "computed from rows that the model is not trained on");
    } else if (r->has_target && r->has_dataset) {
        check_coverage_rows(r);
    }
}

/* ---- another dataset ---- */

/* Whether a column of type `other` can be read as type `wanted`. Every type except sparse can be
 * read as text. */
static bool can_be_read(dn_column_type other, dn_column_type wanted) {
    return other == wanted || (wanted == DN_TEXT && other != DN_SPARSE);
}

/* Checks that the dates of the validation dataset mean the same as those of the job. */
static bool take_form(struct jobs_request *r, const struct jobs_column *c,
                      struct jobs_column *out) {
    char own[DN_DATETIME_FORM_SIZE], other[DN_DATETIME_FORM_SIZE];
    if (!dn_datetime_is_form(&out->form)) { /* all cells are missing */
        out->form = c->form;
    }
    if (dn_datetime_is_alike(&out->form, &c->form)) {
        return true;
    }
    (void)dn_datetime_form_write(&c->form, own);
    (void)dn_datetime_form_write(&out->form, other);
    return json_fault(r->problem, "/validation", "dataset",
                      "column \"%s\" has the form %s in dataset \"%s\" version %" PRId64
                      " and %s in \"%s\"",
                      c->column, other, r->validation_data.name, r->validation_data.version, own,
                      r->data.name);
}

/* Finds the column of the same name in the validation dataset. */
static bool find_column(struct jobs_request *r, const struct jobs_column *c, const char *what,
                        struct jobs_column *out) {
    const struct store_dataset *d = &r->validation_data;
    ptrdiff_t i = schema_find(&r->validation_schema, c->column);
    if (i < 0) {
        return json_fault(r->problem, "/validation", "dataset",
                          "dataset \"%s\" version %" PRId64 " has no column \"%s\", which is %s",
                          d->name, d->version, c->column, what);
    }
    const dn_column_type type = c->part != DN_PART_NONE ? DN_DATETIME : c->type;
    const struct schema_column *other = &r->validation_schema.columns[i];
    if (!can_be_read(other->type, type)) {
        return json_fault(r->problem, "/validation", "dataset",
                          "column \"%s\" is %s in dataset \"%s\" version %" PRId64
                          " and %s in \"%s\"",
                          c->column, dn_column_type_name(other->type), d->name, d->version,
                          dn_column_type_name(type), r->data.name);
    }
    *out = jobs_column_of(other, (size_t)i);
    out->name = c->name;
    out->type = c->type;
    out->part = c->part;
    if (type == DN_DATETIME) {
        return take_form(r, c, out);
    }
    return true;
}

/* ---- classes of another dataset ---- */

static void refuse_class(struct jobs_request *r, const char *name, int64_t rows,
                         const json_t *known) {
    char number[DN_NUMBER_SIZE];
    struct buf list = {0};
    struct nearest nearest = nearest_to(name, strlen(name));
    for (size_t i = 0; i < json_array_size(known); i++) {
        const char *text = jobs_class_text(json_array_get(json_array_get(known, i), 0), number);
        buf_printf(&list, "%s\"%.100s\"", i > 0 ? ", " : "", text);
        nearest_offer(&nearest, text, strlen(text));
    }
    const char *text = buf_cstr(&list);
    json_fault(r->problem, "/validation", "dataset",
               "%" PRId64 " row%s of dataset \"%s\" version %" PRId64
               " ha%s the class \"%.100s\", which target \"%s\" of dataset \"%s\" version %" PRId64
               " does not have: its classes are %s%s",
               rows, rows == 1 ? "" : "s", r->validation_data.name, r->validation_data.version,
               rows == 1 ? "s" : "ve", name, r->target.name, r->data.name, r->data.version,
               text != NULL ? text : "others", nearest.hint);
    buf_done(&list);
}

/* Refuses classes that the summary of the dataset does not have, if it lists all of them. */
static void check_listed_classes(struct jobs_request *r, size_t column) {
    struct problem ignored = {0};
    json_t *own = json_parse(r->data.columns, strlen(r->data.columns), &ignored),
           *other =
               json_parse(r->validation_data.columns, strlen(r->validation_data.columns), &ignored);
    const json_t *known = json_object_get(json_array_get(own, r->target.index), "top"),
                 *given = json_object_get(json_array_get(other, column), "top");
    for (size_t i = 0; json_array_size(known) == r->n_classes && i < json_array_size(given); i++) {
        const json_t *class = json_array_get(given, i), *value = json_array_get(class, 0);
        char number[DN_NUMBER_SIZE];
        size_t k = 0;
        while (k < r->n_classes &&
               !json_equal(json_array_get(json_array_get(known, k), 0), value)) {
            k++;
        }
        if (k == r->n_classes && jobs_class_text(value, number) != NULL) {
            refuse_class(r, jobs_class_text(value, number),
                         (int64_t)json_number_value(json_array_get(class, 1)), known);
        }
    }
    problem_done(&ignored);
    json_decref(own);
    json_decref(other);
}

/* Refuses numbers of a numeric target that are outside the range of its classes. */
static void check_class_range(struct jobs_request *r, const struct schema_column *other) {
    const struct schema_column *own = &r->schema.columns[r->target.index];
    const double ends[] = {other->minimum, other->maximum};
    for (size_t i = 0; i < 2; i++) {
        const bool between = ends[i] >= own->minimum && ends[i] <= own->maximum,
                   known = between &&
                           (r->n_classes > 2 || ends[i] == own->minimum || ends[i] == own->maximum);
        char value[DN_NUMBER_SIZE], least[DN_NUMBER_SIZE], most[DN_NUMBER_SIZE];
        if (known || isnan(ends[i]) || (i == 1 && ends[0] == ends[1])) {
            continue;
        }
        (void)dn_number_format(ends[i], value);
        (void)dn_number_format(own->minimum, least);
        (void)dn_number_format(own->maximum, most);
        json_fault(r->problem, "/validation", "dataset",
                   "dataset \"%s\" version %" PRId64
                   " has the class %s, which target \"%s\" of dataset \"%s\" version %" PRId64
                   " does not have: its classes %s %s %s %s",
                   r->validation_data.name, r->validation_data.version, value, r->target.name,
                   r->data.name, r->data.version, r->n_classes > 2 ? "go from" : "are", least,
                   r->n_classes > 2 ? "to" : "and", most);
    }
}

/* Checks the classes of the validation dataset as far as the summaries tell. The job finds the
 * others before it trains. */
static void check_classes(struct jobs_request *r, size_t column) {
    const struct schema_column *other = &r->validation_schema.columns[column];
    if (r->n_classes < 2 || other->missing >= r->validation_data.n_rows) {
        return;
    }
    if (other->type == DN_NUMERIC) {
        check_class_range(r, other);
    } else {
        check_listed_classes(r, column);
    }
}

static void find_columns(struct jobs_request *r) {
    struct jobs_validation *v = &r->validation;
    const size_t n = r->n_inputs, first = jobs_request_first_input(r);
    struct jobs_column *columns = arena_alloc(r->arena, (n + 2) * sizeof *columns);
    if (!columns) {
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for %zu columns", n);
        return;
    }
    if (first > 0 && find_column(r, &r->target, "the target", &columns[0])) {
        if (r->validation_schema.columns[columns[0].index].missing >= r->validation_data.n_rows &&
            r->validation_data.n_rows > 0) {
            json_fault(r->problem, "/validation", "dataset",
                       "column \"%s\", the target, is missing in every row of dataset \"%s\"",
                       r->target.name, r->validation_data.name);
        }
        check_classes(r, columns[0].index);
    }
    for (size_t i = 0; r->has_inputs && i < n; i++) {
        find_column(r, &r->inputs[i], "an input", &columns[first + i]);
    }
    if (r->weighted && schema_find(&r->validation_schema, r->weight.name) >= 0) {
        v->weighted = find_column(r, &r->weight, "the weight", &columns[first + n]);
    }
    v->columns = columns;
}

/* Reads the dataset to validate on. */
static void read_dataset(struct jobs_request *r, const json_t *validation) {
    r->has_validation = jobs_dataset_read(r, validation, false, "/validation", &r->validation_data,
                                          &r->validation_schema);
    if (!r->has_validation) {
        return;
    }
    r->validation.dataset = r->validation_data.name;
    r->validation.version = r->validation_data.version;
    r->validation.id = r->validation_data.id;
    if (jobs_request_has_classes(r)) {
        find_columns(r);
    }
}

void jobs_validation_read(struct jobs_request *r, const json_t *root) {
    const json_t *validation = json_object_get(root, "validation");
    if (!r->targetless && r->target_missing > 0 && r->target_missing < r->data.n_rows) {
        jobs_request_warn(r, DN_WARNING_OTHER,
                          "%" PRId64 " of %" PRId64
                          " rows have no value of the target \"%s\" and are left out",
                          r->target_missing, r->data.n_rows, r->target.name);
    }
    check_holdout(r);
    check_folds(r);
    jobs_split_check(r);
    if (json_is_object(validation)) {
        read_dataset(r, validation);
    }
    if (r->n_shares > 0 && r->targetless) {
        json_fault(r->problem, "", "learning_curve", "needs a target, and algorithm %s has none",
                   r->algorithm->id);
    } else if (r->n_shares > 0 && !(r->holdout > 0) &&
               (r->folds == 0 || r->folds == DN_LEAVE_ONE_OUT) && !r->has_validation &&
               r->split.by != JOBS_SPLIT_COLUMN) {
        json_fault(r->problem, "", "learning_curve",
                   "needs a validation: a holdout, a number of folds, a dataset or a column");
    }
    if (r->curves && r->targetless) {
        json_fault(r->problem, "/validation", "curves",
                   "needs a target, and algorithm %s has none: curves compare scores with classes",
                   r->algorithm->id);
    }
    check_calibration(r);
    check_conformal(r, json_is_string(json_object_get(validation, "dataset")));
}
