/* Reads, checks and writes how the rows are divided for validation. */
#include "jobs/request/job_split.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char parent[] = "/validation", search_parent[] = "/search";

const char *const jobs_split_members[] = {"group", "order", "column", "repeats", NULL};

/* The members that name a column, by enum jobs_split_by. */
static const char *member_of(enum jobs_split_by by) {
    return by == JOBS_SPLIT_NONE ? NULL : jobs_split_members[by - JOBS_SPLIT_GROUP];
}

/* ---- reading ---- */

static void refuse_pairs(const struct jobs_request *r, bool has_dataset, bool repeated,
                         struct problem *problem) {
    const enum jobs_split_by by = r->split.by;
    const bool numbered = r->folds > 0 && r->folds != DN_LEAVE_ONE_OUT;
    if (by == JOBS_SPLIT_COLUMN && (r->holdout > 0 || r->folds > 0 || has_dataset)) {
        json_fault(problem, parent, "column",
                   "excludes holdout, folds and dataset: the column says which rows validate");
    } else if (by != JOBS_SPLIT_NONE && by != JOBS_SPLIT_COLUMN && !(r->holdout > 0) && !numbered) {
        json_fault(problem, parent, member_of(by), "needs holdout or a number of folds");
    }
    if (repeated && !numbered) {
        json_fault(problem, parent, "repeats", "needs a number of folds");
    } else if (repeated && by == JOBS_SPLIT_ORDER && r->split.repeats > 1) {
        json_fault(problem, parent, "repeats",
                   "must be 1 with order: the blocks of an order are always the same");
    } else if (repeated && r->folds * r->split.repeats > DN_MAX_FOLDS) {
        json_fault(problem, parent, "repeats", "%zu repeats of %zu folds are more than %d fits",
                   r->split.repeats, r->folds, DN_MAX_FOLDS);
    }
}

/* Reads the member that names a column. */
static void read_member(const json_t *object, const char *place, struct arena *arena,
                        struct jobs_split *out, struct problem *problem) {
    out->by = JOBS_SPLIT_NONE;
    for (int by = JOBS_SPLIT_GROUP; by <= JOBS_SPLIT_COLUMN; by++) {
        const char *name = NULL, *member = member_of((enum jobs_split_by)by);
        if (!json_read_string(object, member, false, place, &name, problem)) {
            continue;
        }
        if (out->by != JOBS_SPLIT_NONE) {
            json_fault(problem, place, member, "excludes %s: a split has one column",
                       member_of(out->by));
            continue;
        }
        out->by = (enum jobs_split_by)by;
        out->name = arena_strdup(arena, name);
        if (out->name == NULL) {
            problem_set(problem, PROBLEM_UNAVAILABLE, "no memory for the job");
            return;
        }
    }
}

void jobs_split_read(const json_t *validation, struct arena *arena, struct jobs_request *r,
                     struct problem *problem) {
    const json_t *dataset = json_object_get(validation, "dataset");
    int64_t repeats = 1;
    read_member(validation, parent, arena, &r->split, problem);
    const bool repeated =
        json_read_int(validation, "repeats", false, parent, 1, DN_MAX_REPEATS, &repeats, problem);
    r->split.repeats = (size_t)repeats;
    refuse_pairs(r, dataset != NULL && !json_is_null(dataset), repeated, problem);
}

void jobs_split_read_search(const json_t *search, struct arena *arena, struct jobs_split *out,
                            struct problem *problem) {
    read_member(search, search_parent, arena, out, problem);
}

/* Finds the column that a member of the object names. */
static void find_column(struct jobs_request *r, const json_t *object, const char *place,
                        struct jobs_split *out) {
    for (int by = JOBS_SPLIT_GROUP; by <= JOBS_SPLIT_COLUMN && r->has_dataset; by++) {
        const char *member = member_of((enum jobs_split_by)by),
                   *name = json_string_value(json_object_get(object, member));
        if (name == NULL) {
            continue; /* absent, or read_member reports it */
        }
        const ptrdiff_t i = schema_find(&r->schema, name);
        if (i < 0) {
            jobs_refuse_column(r, place, member, name, member);
        } else if (r->has_target && r->target.index == (size_t)i) {
            json_fault(r->problem, place, member, "column \"%s\" is the target", name);
        } else {
            out->column = jobs_column_of(&r->schema.columns[i], (size_t)i);
            out->is_input = by == JOBS_SPLIT_ORDER;
        }
    }
}

void jobs_split_find(struct jobs_request *r, const json_t *root) {
    find_column(r, json_object_get(root, "validation"), parent, &r->split);
    if (r->search != NULL) {
        find_column(r, json_object_get(root, "search"), search_parent, &r->search->split);
    }
}

static bool takes(const struct jobs_split *split, size_t column) {
    return split->column.name != NULL && split->column.index == column && !split->is_input;
}

const char *jobs_split_takes(const struct jobs_request *r, size_t column) {
    return takes(&r->split, column)                                ? "the validation"
           : r->search != NULL && takes(&r->search->split, column) ? "the search"
                                                                   : NULL;
}

/* ---- checks ---- */

/* A split to check. */
struct checked {
    const struct jobs_split *split;
    const char *parent, *what; /* JSON pointer and name of the object with the split */
    size_t folds;              /* 0: a holdout, or marks */
};

/* Refuses missing values, if the summary proves that a row with a target has none. */
static bool check_missing(struct jobs_request *r, const struct checked *s,
                          const struct schema_column *c) {
    if (c->missing <= r->target_missing && c->missing < r->data.n_rows) {
        return true;
    }
    return json_fault(r->problem, s->parent, member_of(s->split->by),
                      "column \"%s\" is missing in %" PRId64 " of %" PRId64
                      " rows; every row needs a value",
                      c->name, c->missing, r->data.n_rows);
}

static void check_group(struct jobs_request *r, const struct checked *s,
                        const struct schema_column *c) {
    const int64_t least = s->folds > 0 ? (int64_t)s->folds : 2;
    if (c->type == DN_SPARSE) {
        json_fault(r->problem, s->parent, "group", "column \"%s\" is sparse; a group is one value",
                   c->name);
    } else if (check_missing(r, s, c) && c->distinct >= 0 && c->distinct < least) {
        json_fault(r->problem, s->parent, "group",
                   "column \"%s\" has %" PRId64 " group%s; %s%s needs at least %" PRId64, c->name,
                   c->distinct, c->distinct == 1 ? "" : "s", s->folds > 0 ? s->what : "a holdout",
                   s->folds > 0 ? " with these folds" : "", least);
    }
}

static void check_order(struct jobs_request *r, const struct checked *s,
                        const struct schema_column *c) {
    const size_t blocks = s->folds > 0 ? s->folds + 1 : 2;
    if (!dn_column_type_is_real(c->type)) {
        json_fault(r->problem, s->parent, "order",
                   "column \"%s\" is %s; an order is numeric or datetime", c->name,
                   dn_column_type_name(c->type));
    } else if (check_missing(r, s, c) && c->distinct >= 0 && c->distinct < (int64_t)blocks) {
        json_fault(r->problem, s->parent, "order",
                   "column \"%s\" has %" PRId64
                   " different values; rows with equal values stay together, and %zu blocks are "
                   "needed",
                   c->name, c->distinct, blocks);
    }
}

/* Returns the first value of the summary's list that does not mark rows; NULL: none is known. */
static const char *bad_mark(const struct jobs_split *split, const json_t *columns) {
    const json_t *top = json_object_get(json_array_get(columns, split->column.index), "top");
    for (size_t i = 0; i < json_array_size(top); i++) {
        const char *text = json_string_value(json_array_get(json_array_get(top, i), 0));
        bool training;
        if (text != NULL && !dn_row_mark_parse(text, strlen(text), &training)) {
            return text;
        }
    }
    return NULL;
}

static void check_marks(struct jobs_request *r, const struct checked *s,
                        const struct schema_column *c) {
    static const char rule[] = "true, 1 or \"train\" for training rows, and false, 0, \"test\" or "
                               "\"validation\" for validation rows";
    struct problem ignored = {0};
    json_t *columns = NULL;
    if (c->type == DN_SPARSE || c->type == DN_DATETIME) {
        json_fault(r->problem, s->parent, "column", "column \"%s\" is %s; it must have %s", c->name,
                   dn_column_type_name(c->type), rule);
        return;
    }
    if (!check_missing(r, s, c)) {
        return;
    }
    columns = json_parse(r->data.columns, strlen(r->data.columns), &ignored);
    const bool number = c->type == DN_NUMERIC;
    const char *bad = number ? NULL : bad_mark(s->split, columns);
    if (number && (c->minimum < 0 || c->maximum > 1 || c->fractions)) {
        json_fault(r->problem, s->parent, "column",
                   "column \"%s\" has values from %g to %g; it must have %s", c->name, c->minimum,
                   c->maximum, rule);
    } else if (bad != NULL) {
        json_fault(r->problem, s->parent, "column",
                   "column \"%s\" has the value \"%.100s\"; it must have %s", c->name, bad, rule);
    } else if (c->distinct == 1) {
        json_fault(r->problem, s->parent, "column",
                   "column \"%s\" has the same value in all rows; it must have %s", c->name, rule);
    }
    problem_done(&ignored);
    json_decref(columns);
}

static void check_split(struct jobs_request *r, const struct checked *s) {
    if (s->split->by == JOBS_SPLIT_NONE || s->split->column.name == NULL) {
        return;
    }
    const struct schema_column *c = &r->schema.columns[s->split->column.index];
    if (s->split->by == JOBS_SPLIT_GROUP) {
        check_group(r, s, c);
    } else if (s->split->by == JOBS_SPLIT_ORDER) {
        check_order(r, s, c);
    } else {
        check_marks(r, s, c);
    }
}

void jobs_split_check(struct jobs_request *r) {
    const struct checked s = {&r->split, parent, "a validation", r->folds};
    check_split(r, &s);
}

void jobs_split_check_search(struct jobs_request *r) {
    const struct checked s = {&r->search->split, search_parent, "a search", r->search->folds};
    check_split(r, &s);
}

/* ---- writing ---- */

void jobs_split_write(const struct jobs_split *split, struct json_writer *w) {
    if (split->by != JOBS_SPLIT_NONE) {
        json_kv_string(w, member_of(split->by), split->name);
    }
    if (split->repeats > 1) {
        json_kv_int(w, "repeats", (int64_t)split->repeats);
    }
}

bool jobs_split_same(const struct jobs_split *split, const json_t *validation) {
    for (int by = JOBS_SPLIT_GROUP; by <= JOBS_SPLIT_COLUMN; by++) {
        const char *name =
            json_string_value(json_object_get(validation, member_of((enum jobs_split_by)by)));
        const char *own = split->by == (enum jobs_split_by)by ? split->name : NULL;
        if ((name == NULL) != (own == NULL) || (own != NULL && strcmp(name, own) != 0)) {
            return false;
        }
    }
    return true;
}

/* ---- the table that is trained on ---- */

const struct jobs_split *jobs_split_of_search(const struct jobs_request *r) {
    return r->search->split.by != JOBS_SPLIT_NONE ? &r->search->split : &r->split;
}

size_t jobs_split_columns(const struct jobs_request *r, struct jobs_column *out) {
    size_t n = 0;
    if (r->split.column.name != NULL) {
        out[n++] = r->split.column;
    }
    if (r->search != NULL && r->search->split.column.name != NULL) {
        out[n++] = r->search->split.column;
    }
    return n;
}

/* Returns the index of the first column of a split. */
static size_t first_split(const struct jobs_request *r) {
    return jobs_request_first_input(r) + r->n_inputs + (r->weighted ? 1 : 0);
}

size_t jobs_request_columns(const struct jobs_request *r) {
    struct jobs_column splits[2];
    return first_split(r) + jobs_split_columns(r, splits);
}

/* Returns the index of the column that divides the rows for the folds of a search. */
static size_t split_of_search_at(const struct jobs_request *r) {
    const bool own = r->search->split.by != JOBS_SPLIT_NONE;
    return first_split(r) + (own && r->split.column.name != NULL ? 1 : 0);
}

void jobs_split_set(const struct jobs_request *r, dn_train_request *out) {
    const struct jobs_split *split = &r->split;
    out->repeats = split->repeats;
    out->grouped = split->by == JOBS_SPLIT_GROUP;
    out->ordered = split->by == JOBS_SPLIT_ORDER;
    out->marked = split->by == JOBS_SPLIT_COLUMN;
    out->group = out->order = out->mark = first_split(r);
    if (r->search != NULL && r->search->split.by == JOBS_SPLIT_GROUP) {
        out->calibration_grouped = true;
        out->calibration_group = split_of_search_at(r);
    }
}

void jobs_split_set_search(const struct jobs_request *r, dn_search_request *out) {
    const struct jobs_split *split = jobs_split_of_search(r);
    out->grouped = split->by == JOBS_SPLIT_GROUP;
    out->ordered = split->by == JOBS_SPLIT_ORDER;
    out->marked = split == &r->search->split && split->by == JOBS_SPLIT_COLUMN;
    out->group = out->order = out->mark = split_of_search_at(r);
}

const char *jobs_split_pointer(const struct jobs_request *r, const char *column) {
    const struct jobs_split *own = r->search != NULL ? &r->search->split : NULL;
    if (own != NULL && own->by != JOBS_SPLIT_NONE && strcmp(own->name, column) == 0) {
        return own->by == JOBS_SPLIT_GROUP   ? "/search/group"
               : own->by == JOBS_SPLIT_ORDER ? "/search/order"
                                             : "/search/column";
    }
    if (r->split.by == JOBS_SPLIT_NONE || strcmp(r->split.name, column) != 0) {
        return NULL;
    }
    return r->split.by == JOBS_SPLIT_GROUP   ? "/validation/group"
           : r->split.by == JOBS_SPLIT_ORDER ? "/validation/order"
                                             : "/validation/column";
}
