/* Reads "weight" and checks "class_weight" against the summary of the dataset. The training checks
 * what the summary does not have. */
#include "base/json/json_read.h"
#include "base/nearest.h"
#include "jobs/request/class_weights.h"
#include "jobs/request/job_request.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- weight ---- */

/* Refuses a column with an invalid weight if the summary proves that a row with a target has that
 * weight. */
static bool check_values(struct jobs_request *r, const struct schema_column *c) {
    const bool all_rows = jobs_request_has_classes(r) && r->target_missing == 0;
    if (c->missing >= r->data.n_rows || c->missing > (all_rows ? 0 : r->target_missing)) {
        return json_fault(r->problem, "", "weight",
                          "column \"%s\" is missing in %" PRId64 " of %" PRId64
                          " rows; every row needs a weight",
                          c->name, c->missing, r->data.n_rows);
    }
    if (all_rows && c->minimum < 0) {
        return json_fault(r->problem, "", "weight",
                          "column \"%s\" has negative values (down to %g); a weight is >= 0",
                          c->name, c->minimum);
    }
    if (c->maximum <= 0) {
        return json_fault(r->problem, "", "weight",
                          "column \"%s\" has no value above 0; at least one weight must be > 0",
                          c->name);
    }
    const double large = all_rows ? c->maximum : c->minimum,
                 small = all_rows && c->minimum > 0 ? c->minimum : c->maximum;
    if (large > DN_MAX_WEIGHT || small < DN_MIN_WEIGHT) {
        return json_fault(r->problem, "", "weight",
                          "column \"%s\" has the value %g; a weight is 0 or from 1e-100 to 1e100",
                          c->name, large > DN_MAX_WEIGHT ? large : small);
    }
    return true;
}

void jobs_weight_read(struct jobs_request *r, const json_t *root) {
    const char *name = NULL;
    if (!json_read_string(root, "weight", false, "", &name, r->problem) || !r->has_dataset) {
        return;
    }
    ptrdiff_t i = schema_find(&r->schema, name);
    if (i < 0) {
        jobs_refuse_column(r, "", "weight", name, "weight");
        return;
    }
    const struct schema_column *c = &r->schema.columns[i];
    if (r->has_target && r->target.index == (size_t)i) {
        json_fault(r->problem, "", "weight", "column \"%s\" is the target", name);
    } else if (c->type != DN_NUMERIC) {
        json_fault(r->problem, "", "weight", "column \"%s\" is %s; a weight is numeric", name,
                   dn_column_type_name(c->type));
    } else if (check_values(r, c)) {
        r->weighted = true;
        r->weight = jobs_column_of(c, (size_t)i);
    }
}

/* ---- class weights ---- */

/* Returns the classes as [[value, rows], …] if the summary lists all of them; otherwise NULL. */
static const json_t *list_classes(const struct jobs_request *r, const json_t *columns) {
    const json_t *top =
        r->has_target ? json_object_get(json_array_get(columns, r->target.index), "top") : NULL;
    return json_array_size(top) == r->n_classes ? top : NULL;
}

/* Returns the name of class i of the list; NULL: the class is a number. */
static const char *class_name(const json_t *classes, size_t i) {
    const json_t *value = json_array_get(json_array_get(classes, i), 0);
    return json_is_boolean(value) ? (json_is_true(value) ? "true" : "false")
                                  : json_string_value(value);
}

/* Returns false if the list has the names of all classes and `name` is not among them. */
static bool may_be_class(const json_t *classes, const char *name) {
    for (size_t i = 0; i < json_array_size(classes); i++) {
        const char *own = class_name(classes, i);
        if (!own || strcmp(own, name) == 0) {
            return true;
        }
    }
    return json_array_size(classes) == 0;
}

/* Writes the classes of the list without a weight as "a, b, c". Returns their number. */
static size_t find_missing(const json_t *classes, const json_t *given, struct buf *out) {
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(classes); i++) {
        const char *name = class_name(classes, i);
        if (name && !json_object_get(given, name)) {
            buf_printf(out, "%s\"%s\"", n++ > 0 ? ", " : "", name);
        }
    }
    return n;
}

static bool check_name(struct jobs_request *r, const json_t *classes, const char *name) {
    const struct schema_column *c = &r->schema.columns[r->target.index];
    double number = 0;
    if (!jobs_class_parse(c->type, name, &number)) {
        return json_fault(r->problem, "/class_weight", name,
                          "is not a value of the target \"%s\", which is %s", c->name,
                          dn_column_type_name(c->type));
    }
    if (c->type == DN_NUMERIC && (number < c->minimum || number > c->maximum)) {
        return json_fault(r->problem, "/class_weight", name,
                          "is not a value of the target \"%s\", which goes from %g to %g", c->name,
                          c->minimum, c->maximum);
    }
    if (c->type == DN_NUMERIC && r->n_classes == 2 && number != c->minimum &&
        number != c->maximum) {
        return json_fault(r->problem, "/class_weight", name,
                          "is not a value of the target \"%s\", which is %g or %g", c->name,
                          c->minimum, c->maximum);
    }
    if (!may_be_class(classes, name)) {
        struct nearest nearest = nearest_to(name, strlen(name));
        for (size_t i = 0; i < json_array_size(classes); i++) {
            nearest_offer(&nearest, class_name(classes, i), strlen(class_name(classes, i)));
        }
        return json_fault(r->problem, "/class_weight", name,
                          "is not a value of the target \"%s\"%s", c->name, nearest.hint);
    }
    return true;
}

static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Adds a fault and returns true if two names are the same number, as "0" and "0.0". */
static bool find_twice(struct jobs_request *r, const struct jobs_class_weights *w) {
    double *numbers = arena_alloc(r->arena, (w->n + 1) * sizeof *numbers);
    if (!r->has_target || r->schema.columns[r->target.index].type != DN_NUMERIC || !numbers) {
        return false;
    }
    for (size_t i = 0; i < w->n; i++) {
        jobs_class_parse(DN_NUMERIC, w->names[i], &numbers[i]);
    }
    qsort(numbers, w->n, sizeof *numbers, compare_numbers);
    for (size_t i = 1; i < w->n; i++) {
        if (numbers[i - 1] == numbers[i]) {
            json_fault(r->problem, "", "class_weight", "names the class %g twice", numbers[i]);
            return true;
        }
    }
    return false;
}

/* Checks that every class has one weight. good: all names are valid; otherwise the number of
 * weights is not checked. */
static void check_given(struct jobs_request *r, const json_t *given, const json_t *classes,
                        bool good) {
    const size_t n = json_object_size(given);
    struct buf missing = {0};
    if (find_missing(classes, given, &missing) > 0) {
        json_fault(r->problem, "", "class_weight", "has no weight for %s; every class needs one",
                   missing.failed ? "some class" : buf_cstr(&missing));
    } else if (good && !find_twice(r, &r->class_weights) && n != r->n_classes) {
        json_fault(r->problem, "", "class_weight",
                   "has %zu weights, but the target \"%s\" has %zu classes; each class needs one",
                   n, r->target.name, r->n_classes);
    }
    buf_done(&missing);
}

void jobs_class_weight_check(struct jobs_request *r, const json_t *root) {
    const struct jobs_class_weights *w = &r->class_weights;
    struct problem ignored = {0};
    if (w->kind != DN_CLASS_WEIGHT_NONE && r->targetless) {
        json_fault(r->problem, "", "class_weight",
                   "needs a target, and algorithm %s has none: leave it out, or give weights of "
                   "rows (weight)",
                   r->algorithm->id);
    }
    if (w->kind != DN_CLASS_WEIGHT_GIVEN || !r->has_target) {
        return;
    }
    json_t *columns = json_parse(r->data.columns, strlen(r->data.columns), &ignored);
    const json_t *classes = list_classes(r, columns);
    const size_t before = jobs_request_faults(r);
    for (size_t i = 0; i < w->n; i++) {
        (void)check_name(r, classes, w->names[i]);
    }
    check_given(r, json_object_get(root, "class_weight"), classes,
                jobs_request_faults(r) == before);
    problem_done(&ignored);
    json_decref(columns);
}
