/* Single features of sparse columns in include and exclude: "f17" is feature 17 of column "f". The
 * job uses the features that include names, or all features except those that exclude names. */
#include "jobs/request/job_places.h"
#include "base/json/json_read.h"
#include "base/nearest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_SIZE = 24 };

/* Reads the number in a name such as "f17". Returns false if the name does not have this form for
 * this column. The number may be larger than the column has features. */
static bool read_place(const struct schema_column *c, const char *name, uint64_t *number) {
    return c->type == DN_SPARSE && schema_place_parse(c->name, name, number);
}

static bool has_place(const struct schema_column *c, uint64_t number) {
    return number >= c->first_index && number - c->first_index < c->width;
}

bool jobs_place_find(const struct jobs_request *r, const char *name, size_t *column,
                     uint32_t *place) {
    uint64_t number = 0;
    for (size_t i = 0; i < r->schema.n; i++) {
        if (read_place(&r->schema.columns[i], name, &number) &&
            has_place(&r->schema.columns[i], number)) {
            *column = i;
            *place = (uint32_t)(number - r->schema.columns[i].first_index);
            return true;
        }
    }
    return false;
}

/* ---- names that are not columns ---- */

/* Writes and returns the names of the columns that are not sparse. NULL: there are none, or no
 * memory. */
static const char *list_others(const struct jobs_request *r, struct buf *out) {
    size_t n = 0;
    for (size_t i = 0; i < r->schema.n; i++) {
        if (r->schema.columns[i].type != DN_SPARSE) {
            buf_printf(out, "%s\"%s\"", n++ > 0 ? ", " : "", r->schema.columns[i].name);
        }
    }
    return n > 0 ? buf_cstr(out) : NULL;
}

bool jobs_refuse_column(struct jobs_request *r, const char *parent, const char *key,
                        const char *name, const char *role) {
    uint64_t number = 0;
    for (size_t i = 0; i < r->schema.n; i++) {
        const struct schema_column *c = &r->schema.columns[i];
        if (!read_place(c, name, &number)) {
            continue;
        }
        if (!has_place(c, number) && c->width > 0) {
            return json_fault(
                r->problem, parent, key,
                "dataset \"%s\" version %" PRId64
                " has no column \"%s\": the features of its sparse column \"%s\" go from "
                "%s%" PRIu64 " to %s%" PRIu64,
                r->data.name, r->data.version, name, c->name, c->name, (uint64_t)c->first_index,
                c->name, c->first_index + (uint64_t)c->width - 1);
        }
        if (!has_place(c, number) || !role) {
            continue;
        }
        struct buf others = {0};
        const char *names = list_others(r, &others);
        json_fault(
            r->problem, parent, key,
            "\"%s\" is a feature of the sparse column \"%s\"; the %s must be a separate column%s%s "
            "(upload the rows as CSV to have a column for each feature)",
            name, c->name, role, names ? ": the dataset has " : "", names ? names : "");
        buf_done(&others);
        return false;
    }
    struct nearest nearest = nearest_to(name, strlen(name));
    /* the search is slow for many columns, so only the first 20 faults get a hint */
    for (size_t i = 0; i < r->schema.n && r->problem->n_errors < 20; i++) {
        nearest_offer(&nearest, r->schema.columns[i].name, strlen(r->schema.columns[i].name));
    }
    return json_fault(r->problem, parent, key,
                      "dataset \"%s\" version %" PRId64 " has no column \"%s\"%s", r->data.name,
                      r->data.version, name, nearest.hint);
}

/* ---- the lists ---- */

size_t jobs_places_most(const struct jobs_request *r) {
    size_t n = r->schema.n;
    for (size_t i = 0; i < r->schema.n; i++) {
        n += r->schema.columns[i].type == DN_SPARSE ? r->schema.columns[i].width : 0;
    }
    return n;
}

bool jobs_places_add(struct jobs_request *r, struct jobs_places *list, size_t most, size_t column,
                     uint32_t place, size_t index) {
    if (!list->item) {
        list->item = arena_alloc(r->arena, (most + 1) * sizeof *list->item);
    }
    if (!list->item) {
        return problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for %zu columns", most);
    }
    list->item[list->n++] = (struct jobs_place){column, place, index};
    return true;
}

static int by_place(const void *a, const void *b) {
    const struct jobs_place *x = a, *y = b;
    if (x->column != y->column) {
        return x->column < y->column ? -1 : 1;
    }
    if (x->place != y->place) {
        return x->place < y->place ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool is_same(const struct jobs_place *a, const struct jobs_place *b) {
    return a->column == b->column && a->place == b->place;
}

static void refuse_place(struct jobs_request *r, const char *parent, const struct jobs_place *at,
                         const char *why) {
    const struct schema_column *c = &r->schema.columns[at->column];
    char key[KEY_SIZE];
    (void)snprintf(key, sizeof key, "%zu", at->index);
    json_fault(r->problem, parent, key, "column \"%s%" PRIu64 "\" %s", c->name,
               (uint64_t)c->first_index + at->place, why);
}

/* Sorts the list and adds a fault for each duplicate. */
static void sort(struct jobs_request *r, const char *parent, const struct jobs_places *list) {
    if (list->n > 0) {
        qsort(list->item, list->n, sizeof *list->item, by_place);
    }
    for (size_t k = 1; k < list->n; k++) {
        if (is_same(&list->item[k - 1], &list->item[k])) {
            refuse_place(r, parent, &list->item[k], "is named twice");
        }
    }
}

static void refuse_both(struct jobs_request *r, const struct jobs_places *included,
                        const struct jobs_places *excluded) {
    for (size_t k = 0, e = 0; k < included->n && e < excluded->n;) {
        const int order =
            by_place(&(struct jobs_place){included->item[k].column, included->item[k].place, 0},
                     &(struct jobs_place){excluded->item[e].column, excluded->item[e].place, 0});
        if (order == 0) {
            refuse_place(r, "/features/exclude", &excluded->item[e],
                         "is in include and in exclude");
        }
        k += order <= 0;
        e += order >= 0;
    }
}

/* Returns the filter of one column from its part of the sorted list. */
static dn_index_filter run_of(const struct jobs_request *r, const struct jobs_places *list,
                              size_t column, dn_index_filter_kind kind) {
    size_t first = 0, n = 0;
    while (first < list->n && list->item[first].column < column) {
        first++;
    }
    while (first + n < list->n && list->item[first + n].column == column) {
        n++;
    }
    uint32_t *place = n > 0 ? arena_alloc(r->arena, n * sizeof *place) : NULL;
    if (!place) {
        if (n > 0) {
            problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for %zu columns", n);
        }
        return (dn_index_filter){.kind = DN_INDICES_ALL};
    }
    for (size_t k = 0; k < n; k++) {
        place[k] = list->item[first + k].place;
    }
    return (dn_index_filter){.kind = kind, .index = place, .n = n};
}

void jobs_places_choose(struct jobs_request *r, const struct jobs_places *included,
                        const struct jobs_places *excluded, dn_index_filter *out) {
    const size_t before = jobs_request_faults(r);
    sort(r, "/features/include", included);
    sort(r, "/features/exclude", excluded);
    refuse_both(r, included, excluded);
    for (size_t i = 0; i < r->schema.n; i++) {
        out[i] = (dn_index_filter){.kind = DN_INDICES_ALL};
        if (r->schema.columns[i].type != DN_SPARSE || jobs_request_faults(r) != before) {
            continue;
        }
        out[i] = run_of(r, included, i, DN_INDICES_KEPT);
        if (out[i].kind == DN_INDICES_ALL) {
            out[i] = run_of(r, excluded, i, DN_INDICES_DROPPED);
        }
        if (out[i].kind == DN_INDICES_DROPPED && out[i].n == r->schema.columns[i].width) {
            json_fault(r->problem, "/features", "exclude",
                       "names all %zu features of the sparse column \"%s\": name the column itself",
                       out[i].n, r->schema.columns[i].name);
        }
    }
}
