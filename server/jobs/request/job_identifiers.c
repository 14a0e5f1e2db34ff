/* Leaves out identifiers and short texts: columns that tell the rows apart but describe none of
 * them. They are features only if features.include or a basis names them, or if there is no other
 * column. */
#include "jobs/request/job_request.h"

enum { NAMED = 20 }; /* limit of the names in a warning */

/* The kinds of columns, by their use as features. The columns of the first kind that a table has
 * are features. */
enum kind {
    KIND_FEATURE,
    KIND_SHORT_TEXT,      /* texts of few words, such as names */
    KIND_TEXT_IDENTIFIER, /* the same, and each row has another text */
    KIND_IDENTIFIER,
    N_KINDS
};

static enum kind find_kind(const struct jobs_request *r, size_t i) {
    const struct schema_column *c = &r->schema.columns[i];
    const int64_t rows = r->data.n_rows - c->missing;
    if (c->type == DN_TEXT && c->words >= 0 && c->words < SCHEMA_DOCUMENT_WORDS * rows) {
        return c->identifier ? KIND_TEXT_IDENTIFIER : KIND_SHORT_TEXT;
    }
    return c->identifier ? KIND_IDENTIFIER : KIND_FEATURE;
}

/* Whether the column has a value and can be a feature. */
static bool is_usable(const struct jobs_request *r, size_t i) {
    const struct schema_column *c = &r->schema.columns[i];
    return c->missing < r->data.n_rows && (c->type != DN_SPARSE || c->width > 0);
}

/* kinds [schema.n] ← the kind of each column. A column that a basis names is a feature. */
static void find_kinds(const struct jobs_request *r, const json_t *bases, enum kind *kinds) {
    for (size_t i = 0; i < r->schema.n; i++) {
        kinds[i] = find_kind(r, i);
    }
    for (size_t b = 0; b < json_array_size(bases) && b < JOBS_MAX_BASES; b++) {
        const json_t *columns = json_object_get(json_array_get(bases, b), "columns");
        for (size_t k = 0; k < json_array_size(columns) && k < r->schema.n; k++) {
            const char *name = json_string_value(json_array_get(columns, k));
            const ptrdiff_t i = name != NULL ? schema_find(&r->schema, name) : -1;
            if (i >= 0) {
                kinds[i] = KIND_FEATURE;
            }
        }
    }
}

/* The columns that a job may use: order [n] are their indices, kinds [schema.n]. */
struct candidates {
    const size_t *order;
    size_t n;
    const enum kind *kinds;
};

/* Writes `"a", "b" and 3 more` of the columns whose kind is first … last. Returns their number. */
static size_t list_names(const struct jobs_request *r, const struct candidates *c, enum kind first,
                         enum kind last, struct buf *out) {
    size_t found = 0;
    for (size_t k = 0; k < c->n; k++) {
        const size_t i = c->order[k];
        if (c->kinds[i] < first || c->kinds[i] > last || !is_usable(r, i)) {
            continue;
        }
        if (found < NAMED) {
            buf_printf(out, "%s\"%s\"", found == 0 ? "" : ", ", r->schema.columns[i].name);
        }
        found++;
    }
    if (found > NAMED) {
        buf_printf(out, " and %zu more", found - NAMED);
    }
    return found;
}

/* Warns of the columns whose kind is first … last, if there are any: before, names, after. */
static void warn(struct jobs_request *r, const struct candidates *c, enum kind first,
                 enum kind last, const char *before, const char *after) {
    struct buf names = {0};
    const size_t found = list_names(r, c, first, last, &names);
    if (found > 0 && buf_cstr(&names) != NULL) {
        jobs_request_warn(r, DN_WARNING_OTHER, "%s%s %s%s", before, found == 1 ? "" : "s",
                          buf_cstr(&names), after);
    }
    r->warnings.failed = r->warnings.failed || names.failed;
    buf_done(&names);
}

size_t jobs_identifiers_remove(struct jobs_request *r, const json_t *features, size_t *order,
                               size_t n) {
    enum kind *kinds = arena_alloc(r->arena, (r->schema.n + 1) * sizeof *kinds), least = N_KINDS;
    const struct candidates c = {order, n, kinds};
    if (kinds == NULL) {
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for %zu columns", r->schema.n);
        return n;
    }
    find_kinds(r, json_object_get(features, "basis"), kinds);
    for (size_t k = 0; k < n; k++) {
        least = is_usable(r, order[k]) && kinds[order[k]] < least ? kinds[order[k]] : least;
    }
    if (least == KIND_FEATURE) {
        warn(r, &c, KIND_SHORT_TEXT, KIND_SHORT_TEXT, "text column",
             ": left out (fewer than five words on average); features.include can name it");
    }
    if (least < KIND_IDENTIFIER) {
        warn(r, &c, least < KIND_TEXT_IDENTIFIER ? KIND_TEXT_IDENTIFIER : KIND_IDENTIFIER,
             KIND_IDENTIFIER, "column",
             ": left out because every row has another value, as in identifiers; features.include "
             "can "
             "name them");
    }
    if (least == KIND_TEXT_IDENTIFIER || least == KIND_IDENTIFIER) {
        warn(r, &c, least, least, "column",
             ": used although every row has another value, because no other column is left");
    }
    size_t kept = 0;
    for (size_t k = 0; k < n; k++) {
        if (!is_usable(r, order[k]) || kinds[order[k]] <= least) {
            order[kept++] = order[k];
        }
    }
    return kept;
}
