/* Reads dataset, target and features.include and exclude: the columns that the job uses. */
#include "base/json/json_read.h"
#include "jobs/request/job_places.h"
#include "jobs/request/job_split.h"
#include "jobs/request/target_amounts.h"

#include <discern/encoder.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_CLASSES = 1000, /* the limit of dn_train */
    /* a numeric target with more different values is refused unless the client wants classes */
    MEASURED = 100,
    MANY_CLASSES = 20 /* a numeric target with more different values is warned of */
};

static const struct schema_column *column_at(const struct jobs_request *r, size_t i) {
    return &r->schema.columns[i];
}

struct jobs_column jobs_column_of(const struct schema_column *c, size_t index) {
    return (struct jobs_column){.index = index,
                                .name = c->name,
                                .column = c->name,
                                .type = c->type,
                                .width = c->width,
                                .first_index = c->first_index,
                                .form = c->form};
}

/* ---- dataset ---- */

bool jobs_dataset_read(struct jobs_request *r, const json_t *object, bool required,
                       const char *parent, struct store_dataset *dataset, struct schema *schema) {
    const char *text = NULL;
    char name[IDS_NAME_SIZE];
    int64_t version;
    struct problem why = {0};
    if (!json_read_string(object, "dataset", required, parent, &text, r->problem)) {
        return false;
    }
    if (!ids_reference_parse(text, name, &version)) {
        return json_fault(
            r->problem, parent, "dataset",
            "must be a dataset's name, or its name and version as in \"iris@2\", got \"%s\"", text);
    }
    if (!store_dataset_get(r->store, name, version, dataset, &why)) {
        if (why.type == PROBLEM_UNKNOWN_DATASET) {
            json_fault(r->problem, parent, "dataset", "%s",
                       why.detail ? why.detail : "there is no such dataset");
        } else {
            problem_done(r->problem); /* an error of the store replaces the faults found so far */
            problem_move(r->problem, &why);
        }
        problem_done(&why);
        return false;
    }
    schema_parse(dataset->columns, schema, r->problem);
    if (dataset->n_rows == 0) {
        json_fault(r->problem, parent, "dataset", "dataset \"%s\" has no rows", dataset->name);
    }
    return true;
}

static void read_dataset(struct jobs_request *r, const json_t *root) {
    r->has_dataset = jobs_dataset_read(r, root, true, "", &r->data, &r->schema);
    if (r->has_dataset) {
        r->dataset = r->data.name;
        r->dataset_version = r->data.version;
    }
}

/* ---- distinct values ---- */

enum { COUNT_SIZE = 64 };

/* Writes and returns a text such as "3 distinct values" or "more than 10000 distinct values". */
static const char *how_many(const struct schema_column *c, char out[COUNT_SIZE]) {
    if (c->distinct >= 0) {
        (void)snprintf(out, COUNT_SIZE, "%" PRId64 " distinct values", c->distinct);
    } else if (c->distinct_above >= 0) {
        (void)snprintf(out, COUNT_SIZE, "more than %" PRId64 " distinct values", c->distinct_above);
    } else {
        (void)snprintf(out, COUNT_SIZE, "distinct values too large to be counted");
    }
    return out;
}

/* ---- target ---- */

/* How the client wants the values of a numeric target to be used. */
enum target_as { TARGET_AUTO, TARGET_CLASSES };
static const char *const target_as_names[] = {
    [TARGET_AUTO] = "auto", [TARGET_CLASSES] = "classes", NULL};

/* Whether the values of a column are probably measurements and not classes: it is numeric and has
 * fractions or many different values. */
static bool is_measured(const struct schema_column *c) {
    return c->type == DN_NUMERIC && (c->fractions || c->distinct_about > MEASURED);
}

static void refuse_measured(struct jobs_request *r, const struct schema_column *c) {
    const bool exact = c->distinct >= 0, above = !exact && c->distinct_above >= 0;
    const int64_t n = above ? c->distinct_above : c->distinct_about;
    struct buf cure = {0};
    if (exact && n <= MAX_CLASSES) {
        buf_puts(&cure, ". To use each value as a class, set \"target_as\":\"classes\"");
    } else {
        buf_printf(&cure, ", at most %d of them. Divide the values into a few ranges first",
                   MAX_CLASSES);
    }
    json_fault(r->problem, "", "target",
               "\"%s\" looks like a measured quantity (%s%" PRId64
               " different values%s); Discern learns classes%s",
               c->name,
               exact   ? ""
               : above ? "more than "
                       : "about ",
               n, c->distinct_about > MEASURED ? "" : ", not all of them whole numbers",
               buf_cstr(&cure) != NULL ? buf_cstr(&cure) : "");
    buf_done(&cure);
}

/* Refuses a categorical target whose values are many numbers, or fractions, with signs or units, as
 * a numeric one would be; warns of a few whole numbers. Returns true if it is refused. */
static bool refuse_amounts(struct jobs_request *r, const struct schema_column *c, size_t column,
                           bool as_classes) {
    struct target_amounts amounts;
    char count[COUNT_SIZE];
    if (c->type != DN_CATEGORICAL || as_classes || !jobs_target_amounts(r, column, &amounts)) {
        return false;
    }
    if (!amounts.fractions && c->distinct_about <= MEASURED) {
        jobs_request_warn(r, DN_WARNING_OTHER,
                          "the target \"%s\" has %s such as \"%s\", numbers with signs or units, "
                          "and each is a class; if it is a measured quantity, divide it into a few "
                          "ranges first",
                          c->name, how_many(c, count), amounts.example);
        return false;
    }
    json_fault(r->problem, "", "target",
               "\"%s\" looks like a measured quantity (%s such as \"%s\", numbers with signs or "
               "units); Discern learns classes. Divide the values into a few ranges first, or, to "
               "use each value as a class, set \"target_as\":\"classes\"",
               c->name, how_many(c, count), amounts.example);
    return true;
}

static void warn_of_many_classes(struct jobs_request *r, const struct schema_column *c) {
    if (c->type == DN_NUMERIC && c->distinct > MANY_CLASSES) {
        jobs_request_warn(r, DN_WARNING_OTHER,
                          "the target \"%s\" has %" PRId64
                          " different numbers, and each is a class; if it is a measured quantity, "
                          "divide it into a few ranges first",
                          c->name, c->distinct);
    }
}

static void read_target(struct jobs_request *r, const json_t *root) {
    const char *name = NULL;
    char count[COUNT_SIZE];
    size_t as = TARGET_AUTO;
    bool needed = !r->algorithm || (r->algorithm->flags & DN_ALGORITHM_TARGET);
    r->targetless = !needed;
    r->n_classes = r->targetless ? 2 : 0;
    if (json_read_choice(root, "target_as", false, "", target_as_names, &as, r->problem) &&
        !needed) {
        json_fault(r->problem, "", "target_as", "algorithm %s has no target: leave it out",
                   r->algorithm->id);
    }
    if (!json_read_string(root, "target", needed, "", &name, r->problem) || !r->has_dataset) {
        return;
    }
    if (!needed) {
        json_fault(r->problem, "", "target", "algorithm %s has no target: leave it out",
                   r->algorithm->id);
        return;
    }
    ptrdiff_t i = schema_find(&r->schema, name);
    if (i < 0) {
        jobs_refuse_column(r, "", "target", name, "target");
        return;
    }
    const struct schema_column *c = column_at(r, (size_t)i);
    if (c->missing >= r->data.n_rows) {
        json_fault(r->problem, "", "target",
                   "column \"%s\" has no value in any row; a target needs values", c->name);
    } else if (c->type == DN_DATETIME) {
        json_fault(r->problem, "", "target",
                   "column \"%s\" is datetime; a target is numeric, boolean or categorical. To use "
                   "each value as a class, upload the table with types=%s:categorical",
                   c->name, c->name);
    } else if (c->type == DN_TEXT || c->type == DN_SPARSE) {
        json_fault(r->problem, "", "target",
                   "column \"%s\" is %s; a target is numeric, boolean or categorical", c->name,
                   dn_column_type_name(c->type));
    } else if (c->distinct == 1 && c->missing > 0) {
        json_fault(r->problem, "", "target",
                   "column \"%s\" has one value only, and %" PRId64
                   " rows without one; at least two classes are needed (an upload with missing= "
                   "sets which words are missing values)",
                   c->name, c->missing);
    } else if (c->distinct == 1) {
        json_fault(r->problem, "", "target",
                   "column \"%s\" has one value only; at least two classes are needed", c->name);
    } else if (as != TARGET_CLASSES && is_measured(c)) {
        refuse_measured(r, c);
    } else if (c->distinct < 0 || c->distinct > MAX_CLASSES) {
        json_fault(r->problem, "", "target",
                   "column \"%s\" has %s; each would be a class, of which there may be at most %d",
                   c->name, how_many(c, count), MAX_CLASSES);
    } else if (c->distinct_bytes > (int64_t)DN_MAX_LEVEL_BYTES) {
        json_fault(r->problem, "", "target",
                   "column \"%s\" has %s of %" PRId64
                   " bytes in all; the names of classes may have at most %zu",
                   c->name, how_many(c, count), c->distinct_bytes, DN_MAX_LEVEL_BYTES);
    } else if (!refuse_amounts(r, c, (size_t)i, as == TARGET_CLASSES)) {
        r->has_target = true;
        r->n_classes = (size_t)c->distinct;
        r->target_missing = c->missing;
        r->target = jobs_column_of(c, (size_t)i);
        warn_of_many_classes(r, c);
    }
}

/* ---- features ---- */

/* How the lists include and exclude name a column. */
enum part {
    PART_NONE,
    PART_INCLUDED,
    PART_EXCLUDED,
    PART_SOME /* include names single features of a sparse column */
};

/* The contents of include and exclude, in the request's arena. */
struct chosen {
    enum part *parts; /* [schema.n] */
    size_t *order;    /* [n] indices of the columns of include, in order */
    size_t n;
    struct jobs_places included, excluded; /* single features of sparse columns */
    dn_index_filter *places;               /* [schema.n] */
};

static bool is_target(const struct jobs_request *r, size_t i) {
    return r->has_target && r->target.index == i;
}

static bool is_weight(const struct jobs_request *r, size_t i) {
    return r->weighted && r->weight.index == i;
}

/* Returns the reason why a column cannot be an input; NULL: it can. */
static const char *unusable(const struct jobs_request *r, size_t i) {
    const struct schema_column *c = column_at(r, i);
    return c->type == DN_SPARSE && c->width == 0 ? "has no entry in any row"
           : c->missing >= r->data.n_rows        ? "is missing in every row"
                                                 : NULL;
}

/* Refuses a categorical column whose levels are too many or too long for an encoder. If the summary
 * has no counts, the job checks them. */
static bool check_levels(struct jobs_request *r, const struct schema_column *c, const char *parent,
                         const char *key) {
    char count[COUNT_SIZE];
    if (c->type != DN_CATEGORICAL) {
        return true;
    }
    if (c->distinct > DN_MAX_LEVELS || c->distinct_above >= DN_MAX_LEVELS) {
        return json_fault(r->problem, parent, key,
                          "column \"%s\" has %s; a categorical feature may have at most %d",
                          c->name, how_many(c, count), DN_MAX_LEVELS);
    }
    if (c->distinct_bytes > (int64_t)DN_MAX_LEVEL_BYTES) {
        return json_fault(r->problem, parent, key,
                          "column \"%s\" has %s of %" PRId64
                          " bytes in all; the values of a categorical feature may have at most "
                          "%zu bytes in all",
                          c->name, how_many(c, count), c->distinct_bytes, DN_MAX_LEVEL_BYTES);
    }
    return true;
}

/* Marks a column that item `index` of a list names. */
static void take_column(struct jobs_request *r, struct chosen *chosen, const char *parent,
                        const char *index, enum part part, size_t i) {
    const char *name = column_at(r, i)->name;
    enum part *parts = chosen->parts;
    if (parts[i] == part) {
        json_fault(r->problem, parent, index, "column \"%s\" is named twice", name);
    } else if (parts[i] == PART_SOME) {
        json_fault(
            r->problem, parent, index,
            "names the whole sparse column \"%s\", but include already names single features of "
            "it: use one or the other",
            name);
    } else if (parts[i] != PART_NONE) {
        json_fault(r->problem, parent, index, "column \"%s\" is in include and in exclude", name);
    } else if (is_target(r, i) && part == PART_INCLUDED) {
        json_fault(r->problem, parent, index, "column \"%s\" is the target", name);
    } else if (is_weight(r, i) && part == PART_INCLUDED) {
        json_fault(r->problem, parent, index, "column \"%s\" holds the weights", name);
    } else if (jobs_split_takes(r, i) != NULL && part == PART_INCLUDED) {
        json_fault(r->problem, parent, index, "column \"%s\" divides the rows for %s", name,
                   jobs_split_takes(r, i));
    } else if (part == PART_INCLUDED && unusable(r, i)) {
        json_fault(r->problem, parent, index, "column \"%s\" %s", name, unusable(r, i));
    } else if (part == PART_EXCLUDED || check_levels(r, column_at(r, i), parent, index)) {
        parts[i] = part;
        if (part == PART_INCLUDED) {
            chosen->order[chosen->n++] = i;
        }
    }
}

/* Marks one feature of a sparse column. */
static void take_place(struct jobs_request *r, struct chosen *chosen, const char *parent,
                       size_t index, const char *name, size_t n_names, enum part part,
                       size_t column, uint32_t place) {
    enum part *of = &chosen->parts[column];
    char key[24];
    (void)snprintf(key, sizeof key, "%zu", index);
    if (*of == PART_EXCLUDED || (*of == PART_INCLUDED && part == PART_INCLUDED)) {
        json_fault(r->problem, parent, key,
                   "\"%s\" is a feature of the sparse column \"%s\", which is in %s as a whole",
                   name, column_at(r, column)->name, *of == PART_EXCLUDED ? "exclude" : "include");
        return;
    }
    if (part == PART_INCLUDED && *of == PART_NONE) {
        *of = PART_SOME;
        chosen->order[chosen->n++] = column;
    }
    jobs_places_add(r, part == PART_INCLUDED ? &chosen->included : &chosen->excluded, n_names,
                    column, place, index);
}

/* Reads a list of names of columns and of single features of sparse columns. */
static void read_names(struct jobs_request *r, const json_t *features, const char *key,
                       enum part part, struct chosen *chosen) {
    const char **names = NULL;
    size_t n = 0, column = 0;
    uint32_t place = 0;
    char parent[32], index[24];
    if (!json_read_strings(features, key, false, "/features", jobs_places_most(r), r->arena, &names,
                           &n, r->problem)) {
        return;
    }
    (void)snprintf(parent, sizeof parent, "/features/%s", key);
    for (size_t k = 0; k < n; k++) {
        ptrdiff_t i = schema_find(&r->schema, names[k]);
        (void)snprintf(index, sizeof index, "%zu", k);
        if (i >= 0) {
            take_column(r, chosen, parent, index, part, (size_t)i);
        } else if (jobs_place_find(r, names[k], &column, &place)) {
            take_place(r, chosen, parent, k, names[k], n, part, column, place);
        } else {
            jobs_refuse_column(r, parent, index, names[k], NULL);
        }
    }
}

/* Checks the size of the levels of all categorical inputs together. */
static void check_all_levels(struct jobs_request *r) {
    int64_t bytes = 0;
    for (size_t k = 0; k < r->n_inputs; k++) {
        const struct schema_column *c = column_at(r, r->inputs[k].index);
        bytes += c->type == DN_CATEGORICAL && c->distinct_bytes > 0 ? c->distinct_bytes : 0;
    }
    if (bytes > (int64_t)DN_MAX_LEVELS_BYTES) {
        json_fault(r->problem, "", "features",
                   "the categorical features have distinct values of %" PRId64
                   " bytes in all; they may have at most %zu",
                   bytes, DN_MAX_LEVELS_BYTES);
    }
}

/* Adds the chosen parts of datetime column i to inputs[n_inputs]; its seconds if it has none of
 * them. */
static void take_date(struct jobs_request *r, struct jobs_column *inputs, unsigned parts,
                      size_t i) {
    const struct schema_column *c = column_at(r, i);
    unsigned own = 0;
    for (unsigned k = 0; k < DN_DATE_PARTS; k++) {
        own |= parts & (dn_datetime_has_part(&c->form, (dn_date_part)k) ? 1U << k : 0);
    }
    if (own == 0) {
        jobs_request_warn(r, DN_WARNING_OTHER,
                          "column \"%s\" has %s and none of the parts in features.datetime: its "
                          "seconds are the feature",
                          c->name, c->form.orders == 0 ? "times of day" : "dates without times");
        own = 1U << DN_PART_NONE;
    }
    for (unsigned k = 0; k < DN_DATE_PARTS; k++) {
        struct jobs_column *input = &inputs[r->n_inputs];
        if ((own & 1U << k) == 0) {
            continue;
        }
        *input = jobs_column_of(c, i);
        if (k != DN_PART_NONE) {
            const size_t size = strlen(c->name) + DN_DATE_PART_SIZE;
            char *name = arena_alloc(r->arena, size);
            if (name == NULL) {
                problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for the columns");
                return;
            }
            (void)snprintf(name, size, "%s:%s", c->name, dn_date_part_name((dn_date_part)k));
            if (schema_find(&r->schema, name) >= 0) {
                json_fault(r->problem, "/features/datetime", "parts",
                           "the %s of column \"%s\" would have the name of column \"%s\"",
                           dn_date_part_name((dn_date_part)k), c->name, name);
            }
            input->name = name;
            input->type = DN_CATEGORICAL;
            input->part = (dn_date_part)k;
        }
        r->n_inputs++;
    }
}

/* Returns the parts of datetime columns that the job takes. Faults are reported by
 * jobs_features_read. */
static unsigned parts_of(const json_t *features) {
    unsigned parts = 0;
    struct problem ignored = {0};
    if (features != NULL) {
        jobs_date_parts_read(features, "/features", &parts, &ignored);
    }
    problem_done(&ignored);
    return parts != 0 ? parts : 1U << DN_PART_NONE;
}

static void take_inputs(struct jobs_request *r, const json_t *features, const struct chosen *chosen,
                        bool by_name) {
    const size_t before = jobs_request_faults(r);
    const unsigned parts = parts_of(features);
    size_t n = chosen->n, n_dates = 0;
    for (size_t k = 0; k < n; k++) {
        n_dates += column_at(r, chosen->order[k])->type == DN_DATETIME;
    }
    struct jobs_column *inputs =
        arena_alloc(r->arena, (n + n_dates * (DN_DATE_PARTS - 1) + 1) * sizeof *inputs);
    if (!inputs) {
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for %zu columns", n);
        return;
    }
    for (size_t k = 0; k < n; k++) {
        const size_t i = chosen->order[k];
        const struct schema_column *c = column_at(r, i);
        const char *why = unusable(r, i);
        if (why) { /* the column is not in include: read_names refuses such columns there */
            jobs_request_warn(r, DN_WARNING_OTHER, "column \"%s\" %s: left out", c->name, why);
            continue;
        }
        if (!by_name && !check_levels(r, c, "", "features")) {
            continue;
        }
        if (c->type == DN_DATETIME) {
            take_date(r, inputs, parts, i);
            continue;
        }
        inputs[r->n_inputs] = jobs_column_of(c, i);
        inputs[r->n_inputs].places = chosen->places[i];
        r->n_inputs++;
    }
    r->inputs = inputs;
    check_all_levels(r);
    if (r->n_inputs == 0 && jobs_request_faults(r) == before) {
        json_fault(r->problem, "", "features", "no column is left to be a feature");
    }
    r->has_inputs = r->n_inputs > 0 && jobs_request_faults(r) == before;
}

/* Without a target, warns of an input that is probably a column of classes: the first or last
 * column if it has few categories, or the label beside a sparse column. */
static void warn_of_classes(struct jobs_request *r) {
    enum { FEW = 20 };
    const size_t last = r->schema.n - 1;
    for (size_t k = 0; r->targetless && r->schema.n > 1 && k < r->n_inputs; k++) {
        const size_t i = r->inputs[k].index;
        const struct schema_column *c = column_at(r, i);
        const bool few = (c->type == DN_CATEGORICAL || c->type == DN_BOOLEAN) && c->distinct >= 2 &&
                         c->distinct <= FEW;
        const bool label = r->schema.n == 2 && column_at(r, last - i)->type == DN_SPARSE;
        if ((i == 0 || i == last) && (few || label)) {
            jobs_request_warn(r, DN_WARNING_OTHER,
                              "column \"%s\" is a feature: if its values are classes, "
                              "name it in features.exclude",
                              c->name);
        }
    }
}

static void choose_inputs(struct jobs_request *r, const json_t *features) {
    const size_t n_cols = r->schema.n;
    struct chosen chosen = {.parts = arena_alloc(r->arena, (n_cols + 1) * sizeof *chosen.parts),
                            .order = arena_alloc(r->arena, (n_cols + 1) * sizeof *chosen.order),
                            .places = arena_alloc(r->arena, (n_cols + 1) * sizeof *chosen.places)};
    if (!chosen.parts || !chosen.order || !chosen.places) {
        problem_set(r->problem, PROBLEM_UNAVAILABLE, "no memory for %zu columns", n_cols);
        return;
    }
    for (size_t i = 0; i < n_cols; i++) {
        chosen.parts[i] = PART_NONE;
    }
    const json_t *include =
        features ? json_read_any(features, "include", false, "/features", r->problem) : NULL;
    size_t before = jobs_request_faults(r);
    if (features) {
        read_names(r, features, "include", PART_INCLUDED, &chosen);
        read_names(r, features, "exclude", PART_EXCLUDED, &chosen);
    }
    jobs_places_choose(r, &chosen.included, &chosen.excluded, chosen.places);
    for (size_t i = 0; i < n_cols && !include; i++) {
        if (chosen.parts[i] == PART_NONE && !is_target(r, i) && !is_weight(r, i) &&
            jobs_split_takes(r, i) == NULL) {
            chosen.order[chosen.n++] = i;
        }
    }
    if (!include) {
        chosen.n = jobs_identifiers_remove(r, features, chosen.order, chosen.n);
    }
    /* Inputs are checked only if the target and the names are valid. */
    if (jobs_request_has_classes(r) && jobs_request_faults(r) == before) {
        take_inputs(r, features, &chosen, include != NULL);
    }
    if (!include && r->has_inputs) {
        warn_of_classes(r);
    }
}

void jobs_columns_read(struct jobs_request *r, const json_t *root) {
    static const char *const known[] = {"include",     "exclude",
                                        "standardize", "standardize_sparse",
                                        "missing",     "categorical",
                                        "text",        "datetime",
                                        "basis",       "unseen",
                                        NULL};
    const json_t *features = NULL;
    read_dataset(r, root);
    read_target(r, root);
    jobs_weight_read(r, root);
    jobs_split_find(r, root);
    if (json_read_object(root, "features", false, "", &features, r->problem)) {
        json_refuse_unknown(features, known, "/features", r->problem);
    }
    if (r->has_dataset) {
        choose_inputs(r, features);
    }
    jobs_encoding_read(r, features);
}
