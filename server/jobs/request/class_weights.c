/* Sorts class weights like the core sorts classes, and compares the classes with the values of the
 * target. */
#include "jobs/request/class_weights.h"

#include "base/json/json_read.h"
#include "jobs/documents.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A class with its weight. */
struct given {
    const char *name;
    size_t length;
    double number; /* value of the class, if numeric or boolean */
    double weight;
    bool seen; /* the target has this value */
};

bool jobs_class_parse(dn_column_type type, const char *text, double *number) {
    if (type == DN_NUMERIC) {
        return dn_number_parse(text, strlen(text), number);
    }
    if (type != DN_BOOLEAN) {
        return true;
    }
    *number = strcmp(text, "true") == 0;
    return *number > 0 || strcmp(text, "false") == 0;
}

const char *jobs_class_text(const json_t *value, char room[DN_NUMBER_SIZE]) {
    if (json_is_number(value)) {
        (void)dn_number_format(json_number_value(value), room);
        return room;
    }
    return json_is_boolean(value) ? (json_is_true(value) ? "true" : "false")
                                  : json_string_value(value);
}

static int by_number(const void *a, const void *b) {
    double x = ((const struct given *)a)->number, y = ((const struct given *)b)->number;
    return (x > y) - (x < y);
}

static int compare_texts(const char *a, size_t n, const char *b, size_t m) {
    int c = memcmp(a, b, n < m ? n : m);
    return c != 0 ? c : (n > m) - (n < m);
}

static int by_text(const void *a, const void *b) {
    const struct given *x = a, *y = b;
    return compare_texts(x->name, x->length, y->name, y->length);
}

/* The search for values of the target among the classes. */
struct search {
    struct given *classes; /* [n] ascending */
    size_t n;
    dn_column_type type;
    struct problem *problem;
};

static void mark(struct search *s, const struct given *value) {
    struct given *found = bsearch(value, s->classes, s->n, sizeof *found,
                                  s->type == DN_CATEGORICAL ? by_text : by_number);
    char text[DN_NUMBER_SIZE];
    if (found) {
        found->seen = true;
    } else if (s->problem->n_errors > 0) {
        return; /* one class is reported: there may be as many classes as rows */
    } else if (s->type == DN_CATEGORICAL) {
        json_fault(s->problem, "", "class_weight", "has no weight for class \"%.*s\"",
                   (int)(value->length < 200 ? value->length : 200), value->name);
    } else {
        if (s->type == DN_NUMERIC) {
            (void)dn_number_format(value->number, text);
        }
        json_fault(s->problem, "", "class_weight", "has no weight for class %s",
                   s->type == DN_NUMERIC ? text
                   : value->number > 0   ? "true"
                                         : "false");
    }
}

static void mark_chunk(struct search *s, const dn_column_view *view) {
    double last = (double)INFINITY;
    if (s->type == DN_CATEGORICAL) {
        for (size_t i = 0; i < view->strings.n; i++) {
            mark(s, &(struct given){.name = view->strings.bytes + view->strings.start[i],
                                    .length = view->strings.start[i + 1] - view->strings.start[i]});
        }
        return;
    }
    for (size_t i = 0; i < view->n_rows; i++) {
        if (isnan(view->number[i]) || view->number[i] == last) {
            continue;
        }
        last = view->number[i];
        mark(s, &(struct given){.number = last});
    }
}

static bool read_target(struct search *s, const dn_table_source *source, size_t target,
                        const dn_run *run) {
    dn_error err;
    for (size_t chunk = 0; chunk < source->n_chunks; chunk++) {
        dn_column_view view;
        dn_error_clear(&err);
        if (source->column(source, chunk, target, 0, &view, &err) != DN_OK ||
            dn_run_stop(run, &err) != DN_OK) {
            jobs_problem_from_core(&err, NULL, s->problem);
            return false;
        }
        mark_chunk(s, &view);
    }
    return true;
}

bool jobs_class_weights_order(const struct jobs_class_weights *given, const dn_table_source *source,
                              size_t target, const dn_run *run, struct arena *arena,
                              const double **out, struct problem *problem) {
    struct given *classes = arena_alloc(arena, (given->n + 1) * sizeof *classes);
    double *weights = arena_alloc(arena, (given->n + 1) * sizeof *weights);
    struct search s = {.classes = classes,
                       .n = given->n,
                       .type = source->columns[target].type,
                       .problem = problem};
    if (!classes || !weights) {
        return problem_no_memory(problem);
    }
    for (size_t i = 0; i < given->n; i++) {
        classes[i] = (struct given){.name = given->names[i],
                                    .length = strlen(given->names[i]),
                                    .weight = given->values[i]};
        if (!jobs_class_parse(s.type, given->names[i], &classes[i].number)) {
            return json_fault(problem, "/class_weight", given->names[i], "is not a %s value",
                              dn_column_type_name(s.type));
        }
    }
    qsort(classes, given->n, sizeof *classes, s.type == DN_CATEGORICAL ? by_text : by_number);
    if (!read_target(&s, source, target, run)) {
        return false;
    }
    for (size_t i = 0; i < given->n; i++) {
        weights[i] = classes[i].weight;
        if (!classes[i].seen) {
            json_fault(problem, "/class_weight", classes[i].name,
                       "is not a value of the target \"%s\"", source->columns[target].name);
        }
    }
    *out = weights;
    return problem->type == PROBLEM_NONE;
}
