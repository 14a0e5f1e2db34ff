/* Reads and writes `features.basis`: a list of objects, one for each basis. A basis computes
 * features from numeric, datetime and boolean columns. */
#include "jobs/request/features.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEFAULT_DEGREE = 2, DEFAULT_FOURIER = 100, PLACE_SIZE = 200 };

static const char *const kinds[] = {"polynomial",     "gaussian", "distance",
                                    "random_fourier", "fisher",   NULL}; /* dn_basis_kind */

/* The members of each kind, in the order of dn_basis_kind. */
static const char *const members[][8] = {
    [DN_BASIS_POLYNOMIAL] = {"type", "columns", "keep", "degree", "interactions", NULL},
    [DN_BASIS_GAUSSIAN] = {"type", "columns", "keep", "standardize", "centres", "centers", "width",
                           NULL},
    [DN_BASIS_DISTANCE] = {"type", "columns", "keep", "standardize", "points", NULL},
    [DN_BASIS_RANDOM_FOURIER] = {"type", "columns", "keep", "standardize", "features", "width",
                                 NULL},
    [DN_BASIS_FISHER] = {"type", "columns", "keep", "standardize", "components", NULL},
};

/* The state of reading one basis. */
struct reading {
    const json_t *object;
    const char *place; /* JSON pointer of `object` */
    const struct jobs_column *inputs;
    size_t n_inputs;
    struct arena *arena;
    struct problem *problem;
    dn_basis_spec basis;
    size_t width; /* number of columns of the basis; 0: unknown */
};

const char *jobs_basis_kind_name(dn_basis_kind kind) {
    return kinds[kind];
}

static bool is_number(const struct jobs_column *c) {
    return dn_column_type_is_real(c->type) || c->type == DN_BOOLEAN;
}

bool jobs_basis_takes(const dn_basis_spec *basis, const struct jobs_column *inputs, size_t input) {
    if (!basis->columns) {
        return is_number(&inputs[input]);
    }
    for (size_t i = 0; i < basis->n_columns; i++) {
        if (basis->columns[i] == input) {
            return true;
        }
    }
    return false;
}

size_t jobs_basis_width(const dn_basis_spec *basis, const struct jobs_column *inputs,
                        size_t n_inputs) {
    size_t n = 0;
    if (basis->columns) {
        return basis->n_columns;
    }
    for (size_t i = 0; i < n_inputs; i++) {
        n += is_number(&inputs[i]);
    }
    return n;
}

static bool out_of_memory(struct problem *problem) {
    return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the job");
}

/* ---- the columns ---- */

static size_t find_input(const struct reading *r, const char *name) {
    for (size_t i = 0; i < r->n_inputs; i++) {
        if (strcmp(r->inputs[i].name, name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* Returns the sparse input whose features have names of this form, as "f17" of "f"; SIZE_MAX: there
 * is none. */
static size_t find_place(const struct reading *r, const char *name) {
    for (size_t i = 0; i < r->n_inputs; i++) {
        const size_t n = strlen(r->inputs[i].name);
        if (r->inputs[i].type == DN_SPARSE && strncmp(r->inputs[i].name, name, n) == 0 &&
            name[n] != '\0' && strspn(name + n, "0123456789") == strlen(name + n)) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* Adds the fault that no input is numeric, datetime or boolean. */
static void refuse_all(struct reading *r) {
    size_t i = 0;
    while (i < r->n_inputs && r->inputs[i].type != DN_SPARSE) {
        i++;
    }
    if (i < r->n_inputs) {
        json_fault(r->problem, r->place, NULL,
                   "has no column to use: \"%s\" is sparse, and a basis needs numeric, datetime or "
                   "boolean columns: upload the rows as CSV, with a column for each feature",
                   r->inputs[i].name);
    } else {
        json_fault(r->problem, r->place, NULL,
                   "has no column to use: no feature is numeric, datetime or boolean");
    }
}

static bool has_sparse(const struct reading *r) {
    for (size_t i = 0; r->inputs && i < r->n_inputs; i++) {
        if (r->inputs[i].type == DN_SPARSE) {
            return true;
        }
    }
    return false;
}

static bool take_column(struct reading *r, const char *parent, size_t k, const char *name,
                        size_t *columns, size_t *n) {
    char index[24];
    size_t input = find_input(r, name), sparse = find_place(r, name);
    (void)snprintf(index, sizeof index, "%zu", k);
    if (input == SIZE_MAX && sparse != SIZE_MAX) {
        return json_fault(
            r->problem, parent, index,
            "\"%s\" is a feature of the sparse column \"%s\"; a basis needs numeric, "
            "datetime or boolean columns: upload the rows as CSV, with a column for each feature",
            name, r->inputs[sparse].name);
    }
    if (input == SIZE_MAX) {
        return json_fault(r->problem, parent, index,
                          "\"%s\" is not a column that is a feature of this job", name);
    }
    if (!is_number(&r->inputs[input])) {
        return json_fault(r->problem, parent, index,
                          "column \"%s\" is %s; a basis needs numeric, datetime or boolean columns",
                          name, dn_column_type_name(r->inputs[input].type));
    }
    for (size_t i = 0; i < *n; i++) {
        if (columns[i] == input) {
            return json_fault(r->problem, parent, index, "column \"%s\" is named twice", name);
        }
    }
    columns[(*n)++] = input;
    return true;
}

static void read_columns(struct reading *r) {
    const char **names = NULL;
    size_t n = 0;
    char parent[PLACE_SIZE];
    const size_t most = r->inputs && !has_sparse(r)
                            ? r->n_inputs
                            : SIZE_MAX; /* names of sparse features are refused one by one */
    bool given = json_read_strings(r->object, "columns", false, r->place, most, r->arena, &names,
                                   &n, r->problem);
    if (!r->inputs) {
        return;
    }
    if (!given) {
        if (!json_read_any(r->object, "columns", false, r->place, r->problem) &&
            (r->width = jobs_basis_width(&r->basis, r->inputs, r->n_inputs)) == 0) {
            refuse_all(r);
        }
        return;
    }
    size_t *columns = arena_alloc(r->arena, (n + 1) * sizeof *columns);
    if (!columns) {
        out_of_memory(r->problem);
        return;
    }
    (void)snprintf(parent, sizeof parent, "%s/columns", r->place);
    if (n == 0) {
        json_fault(r->problem, r->place, "columns", "must name at least one column");
    }
    for (size_t k = 0; k < n; k++) {
        take_column(r, parent, k, names[k], columns, &r->basis.n_columns);
    }
    r->basis.columns = columns;
    r->width = r->basis.n_columns == n ? n : 0;
}

/* ---- the members of each kind ---- */

static void read_count(struct reading *r, const char *key, int64_t maximum, size_t *out) {
    int64_t value = 0;
    if (json_read_int(r->object, key, false, r->place, 1, maximum, &value, r->problem)) {
        *out = (size_t)value;
    }
}

/* Reads a number > 0, or "auto", which is stored as 0. */
static void read_width(struct reading *r) {
    const json_t *value = json_read_any(r->object, "width", false, r->place, r->problem);
    if (!value || (json_is_string(value) && strcmp(json_string_value(value), "auto") == 0)) {
        return;
    }
    double width = json_is_number(value) ? json_number_value(value) : (double)NAN;
    if (width > 0 && isfinite(width)) {
        r->basis.width = width;
        return;
    }
    json_refuse_value(r->problem, r->place, "width", "a number > 0, or \"auto\"", value);
}

/* Reads a list of points. */
static void read_points(struct reading *r, const char *key) {
    double *points = NULL;
    if (!json_read_rows(r->object, key, true, r->place, r->width, DN_MAX_BASIS_FEATURES, r->arena,
                        &points, &r->basis.n_points, r->problem)) {
        return;
    }
    if (r->basis.n_points == 0) {
        json_fault(r->problem, r->place, key, "must have at least one point");
    }
    r->basis.points = points;
}

/* Reads the centres, or the number of centres that k-means computes. */
static void read_centres(struct reading *r) {
    const char *key = json_object_get(r->object, "centers") ? "centers" : "centres";
    if (json_object_get(r->object, "centers") && json_object_get(r->object, "centres")) {
        json_fault(r->problem, r->place, "centers", "is the same as centres: give one of them");
    } else if (json_is_array(json_object_get(r->object, key))) {
        read_points(r, key);
    } else if (!json_object_get(r->object, key) || json_is_null(json_object_get(r->object, key))) {
        json_fault(r->problem, r->place, key,
                   "is missing: give a list of points, or the number of centres for k-means");
    } else {
        read_count(r, key, DN_MAX_BASIS_FEATURES, &r->basis.n_points);
    }
}

static void read_kind(struct reading *r) {
    dn_basis_spec *b = &r->basis;
    size_t degree = DEFAULT_DEGREE;
    switch (b->kind) {
    case DN_BASIS_POLYNOMIAL:
        b->interactions = true;
        read_count(r, "degree", DN_MAX_DEGREE, &degree);
        json_read_bool(r->object, "interactions", false, r->place, &b->interactions, r->problem);
        b->degree = (unsigned)degree;
        break;
    case DN_BASIS_GAUSSIAN:
        read_centres(r);
        read_width(r);
        break;
    case DN_BASIS_DISTANCE:
        read_points(r, "points");
        break;
    case DN_BASIS_RANDOM_FOURIER:
        b->n_features = DEFAULT_FOURIER;
        read_count(r, "features", DN_MAX_BASIS_FEATURES, &b->n_features);
        read_width(r);
        break;
    case DN_BASIS_FISHER:
        read_count(r, "components", DN_MAX_BASIS_FEATURES, &b->n_features);
        break;
    }
}

static void read_basis(struct reading *r) {
    size_t kind = 0;
    if (!json_read_choice(r->object, "type", true, r->place, kinds, &kind, r->problem)) {
        return;
    }
    r->basis.kind = (dn_basis_kind)kind;
    json_refuse_unknown(r->object, members[kind], r->place, r->problem);
    read_columns(r);
    json_read_bool(r->object, "keep", false, r->place, &r->basis.keep, r->problem);
    if (r->basis.kind == DN_BASIS_POLYNOMIAL && json_is_false(json_object_get(r->object, "keep"))) {
        json_fault(r->problem, r->place, "keep",
                   "must be true for a polynomial: its terms of degree 1 are the columns");
    }
    if (r->basis.kind != DN_BASIS_POLYNOMIAL) {
        json_read_bool(r->object, "standardize", false, r->place, &r->basis.standardize,
                       r->problem);
    }
    read_kind(r);
}

void jobs_bases_read(const json_t *object, const char *parent, const struct jobs_column *inputs,
                     size_t n_inputs, struct arena *arena, struct jobs_features *out,
                     struct problem *problem) {
    const json_t *list = NULL;
    if (!json_read_array(object, "basis", false, parent, &list, problem)) {
        return;
    }
    size_t n = json_array_size(list);
    if (n > JOBS_MAX_BASES) {
        json_fault(problem, parent, "basis", "must have at most %d items, got %zu", JOBS_MAX_BASES,
                   n);
        return;
    }
    out->bases = arena_alloc(arena, (n + 1) * sizeof *out->bases);
    if (!out->bases) {
        out_of_memory(problem);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        char place[PLACE_SIZE];
        (void)snprintf(place, sizeof place, "%s/basis/%zu", parent, i);
        struct reading r = {.object = json_array_get(list, i),
                            .place = place,
                            .inputs = inputs,
                            .n_inputs = n_inputs,
                            .arena = arena,
                            .problem = problem};
        if (json_read_root(r.object, place, problem)) {
            read_basis(&r);
        }
        out->bases[i] = r.basis;
    }
    out->n_bases = n;
}

/* ---- writing ---- */

static void write_points(const dn_basis_spec *b, const char *key, size_t width,
                         struct json_writer *w) {
    if (b->points == NULL) {
        json_kv_int(w, key, (int64_t)b->n_points);
    } else {
        json_put_matrix(w, key, b->points, b->n_points, width);
    }
}

static void write_width(const dn_basis_spec *b, struct json_writer *w) {
    if (b->width > 0) {
        json_kv_double(w, "width", b->width);
    } else {
        json_kv_string(w, "width", "auto");
    }
}

static void write_columns(const dn_basis_spec *b, const struct jobs_column *inputs, size_t n_inputs,
                          struct json_writer *w) {
    json_kv_begin_array(w, "columns");
    for (size_t i = 0; b->columns && i < b->n_columns; i++) {
        json_put_string(w, inputs[b->columns[i]].name);
    }
    for (size_t i = 0; !b->columns && i < n_inputs; i++) {
        if (is_number(&inputs[i])) {
            json_put_string(w, inputs[i].name);
        }
    }
    json_end_array(w);
}

void jobs_basis_write(const dn_basis_spec *b, const struct jobs_column *inputs, size_t n_inputs,
                      struct json_writer *w) {
    json_begin_object(w);
    json_kv_string(w, "type", kinds[b->kind]);
    write_columns(b, inputs, n_inputs, w);
    json_kv_bool(w, "keep", b->keep || b->kind == DN_BASIS_POLYNOMIAL);
    if (b->kind != DN_BASIS_POLYNOMIAL) {
        json_kv_bool(w, "standardize", b->standardize);
    }
    switch (b->kind) {
    case DN_BASIS_POLYNOMIAL:
        json_kv_int(w, "degree", b->degree);
        json_kv_bool(w, "interactions", b->interactions);
        break;
    case DN_BASIS_GAUSSIAN:
        write_points(b, "centres", jobs_basis_width(b, inputs, n_inputs), w);
        write_width(b, w);
        break;
    case DN_BASIS_DISTANCE:
        write_points(b, "points", jobs_basis_width(b, inputs, n_inputs), w);
        break;
    case DN_BASIS_RANDOM_FOURIER:
        json_kv_int(w, "features", (int64_t)b->n_features);
        write_width(b, w);
        break;
    case DN_BASIS_FISHER:
        if (b->n_features > 0) {
            json_kv_int(w, "components", (int64_t)b->n_features);
        } else {
            json_kv_null(w, "components");
        }
        break;
    }
    json_end_object(w);
}
