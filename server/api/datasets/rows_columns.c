/* Chooses the columns of a reply with rows, and reads them. */
#include "api/datasets/rows_columns.h"
#include "base/nearest.h"
#include "formats/text/cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rows_columns_done(struct rows_columns *c) {
    schema_done(&c->schema);
    free(c->read);
    free(c->rank);
    free(c->column);
    free(c->places);
    free(c->names);
    *c = (struct rows_columns){0};
}

static const struct schema_column *read_column(const struct rows_columns *c, size_t read) {
    return &c->schema.columns[c->read[read]];
}

/* ---- what there is ---- */

/* Returns the index of the sparse column of the table; SIZE_MAX: none. */
static size_t find_sparse(const struct schema *schema) {
    for (size_t i = 0; i < schema->n; i++) {
        if (schema->columns[i].type == DN_SPARSE) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* Sets *place to the index of the feature with a name such as "f17". Returns false if there is
 * none. */
static bool find_feature(const struct schema_column *sparse, const char *name, uint32_t *place) {
    uint64_t number = 0;
    if (!schema_place_parse(sparse->name, name, &number)) {
        return false;
    }
    if (number < sparse->first_index || number - sparse->first_index >= sparse->width) {
        return false;
    }
    *place = (uint32_t)(number - sparse->first_index);
    return true;
}

/* ---- choosing ---- */

/* Adds a stored column to those that are read. Returns its index among them. */
static size_t read_also(struct rows_columns *c, size_t stored) {
    if (c->rank[stored] == 0) {
        c->read[c->n_read++] = stored;
        c->rank[stored] = c->n_read;
    }
    if (c->schema.columns[stored].type == DN_SPARSE) {
        c->sparse = c->rank[stored] - 1;
    }
    return c->rank[stored] - 1;
}

static void take(struct rows_columns *c, size_t stored, bool is_feature, uint32_t place) {
    c->column[c->n++] = (struct rows_column){.name = c->schema.columns[stored].name,
                                             .read = read_also(c, stored),
                                             .is_feature = is_feature,
                                             .place = place};
}

/* Refuses the value of a query parameter that is not a column. Returns false. */
static bool refuse_name(const struct rows_columns *c, const char *parameter, const char *name,
                        struct problem *problem) {
    struct nearest nearest = nearest_to(name, strlen(name));
    for (size_t i = 0; i < c->schema.n; i++) {
        nearest_offer(&nearest, c->schema.columns[i].name, strlen(c->schema.columns[i].name));
    }
    return problem_set(
        problem, PROBLEM_BAD_REQUEST,
        "query parameter \"%s\" names \"%s\", which is not a column of the dataset%s", parameter,
        name, nearest.hint);
}

/* Adds the column or feature of that name. Returns false after setting the problem. */
static bool take_name(struct rows_columns *c, size_t sparse, const char *name,
                      struct problem *problem) {
    uint32_t place = 0;
    const bool is_feature =
        sparse != SIZE_MAX && find_feature(&c->schema.columns[sparse], name, &place);
    const ptrdiff_t found = is_feature ? (ptrdiff_t)sparse : schema_find(&c->schema, name);
    if (found < 0 || (!is_feature && (size_t)found == sparse)) {
        return refuse_name(c, "columns", name, problem);
    }
    for (size_t i = 0; i < c->n; i++) {
        if (c->read[c->column[i].read] == (size_t)found && c->column[i].place == place) {
            return problem_set(problem, PROBLEM_BAD_REQUEST,
                               "query parameter \"columns\" names \"%s\" twice", name);
        }
    }
    if (c->n == TABLE_MAX_COLUMNS) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "query parameter \"columns\" must name at most %d columns",
                           TABLE_MAX_COLUMNS);
    }
    take(c, (size_t)found, is_feature, place);
    return true;
}

/* Takes the columns of the list ?columns=a,b. */
static bool take_named(struct rows_columns *c, size_t sparse, const char *list,
                       struct problem *problem) {
    char name[TABLE_MAX_NAME + 1];
    for (;; list++) {
        size_t n = 0;
        struct text behind;
        list = list_item(list, name, TABLE_MAX_NAME, &n, &behind);
        if (!list || behind.n > 0) {
            return problem_set(problem, PROBLEM_BAD_REQUEST,
                               "query parameter \"columns\": a name in quotes must end with a "
                               "quote, then a comma or the end");
        }
        if (n > TABLE_MAX_NAME) {
            return problem_set(problem, PROBLEM_BAD_REQUEST,
                               "query parameter \"columns\" has a name longer than %d bytes",
                               TABLE_MAX_NAME);
        }
        name[n] = '\0';
        if (!take_name(c, sparse, name, problem)) {
            return false;
        }
        if (!*list) {
            return true;
        }
    }
}

/* Takes all columns. The number of features is limited except for svmlight, which needs no
 * names. */
static bool take_all(struct rows_columns *c, size_t sparse, bool svmlight,
                     struct problem *problem) {
    const size_t width = sparse != SIZE_MAX ? c->schema.columns[sparse].width : 0;
    if (!svmlight && width > TABLE_MAX_COLUMNS) {
        return problem_set(problem, PROBLEM_NOT_ACCEPTABLE,
                           "the dataset has %zu features, more than the %d that rows may have: "
                           "request text/x-svmlight, or choose columns by ?columns=",
                           width, TABLE_MAX_COLUMNS);
    }
    for (size_t i = 0; i < c->schema.n; i++) {
        if (i != sparse) {
            take(c, i, false, 0);
        } else if (svmlight) {
            (void)read_also(c, i);
        }
        for (size_t place = 0; i == sparse && !svmlight && place < width; place++) {
            take(c, i, true, (uint32_t)place);
        }
    }
    c->all_places = svmlight && sparse != SIZE_MAX;
    return true;
}

/* ---- svmlight: the label, and features that are numbers ---- */

static bool find_label(struct rows_columns *c, size_t sparse, const char *label, size_t *stored,
                       struct problem *problem) {
    const size_t own = sparse == 0 ? 1 : 0; /* the label of a sparse dataset: it has two columns */
    if (!label && sparse == SIZE_MAX) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "query parameter \"label\" must name the column that becomes the label "
                           "of text/x-svmlight");
    }
    const ptrdiff_t found = label ? schema_find(&c->schema, label) : (ptrdiff_t)own;
    if (found < 0 || (size_t)found == sparse || (size_t)found >= c->schema.n) {
        return refuse_name(c, "label", label ? label : "", problem);
    }
    *stored = (size_t)found;
    return true;
}

static bool set_label_apart(struct rows_columns *c, size_t sparse, const char *label,
                            struct problem *problem) {
    size_t stored = 0, n = 0;
    if (!find_label(c, sparse, label, &stored, problem)) {
        return false;
    }
    c->label = read_also(c, stored);
    for (size_t i = 0; i < c->n; i++) {
        if (c->column[i].read != c->label) {
            c->column[n++] = c->column[i];
        }
    }
    c->n = n;
    for (size_t i = 0; i < c->n; i++) {
        const dn_column_type type = read_column(c, c->column[i].read)->type;
        if (type == DN_CATEGORICAL || type == DN_TEXT || type == DN_DATETIME) {
            return problem_set(problem, PROBLEM_NOT_ACCEPTABLE,
                               "text/x-svmlight has numbers only, but column \"%s\" is %s: choose "
                               "numeric and boolean columns by ?columns=",
                               c->column[i].name, dn_column_type_name(type));
        }
    }
    return true;
}

/* ---- names and indices of features ---- */

static int by_place(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool name_features(struct rows_columns *c, struct problem *problem) {
    size_t size = 1;
    for (size_t i = 0; i < c->n; i++) {
        c->n_places += c->column[i].is_feature;
    }
    if (c->n_places > 0) {
        size += c->n_places * (strlen(read_column(c, c->sparse)->name) + 12);
    }
    c->places = calloc(c->n_places + 1, sizeof *c->places);
    c->names = malloc(size);
    if (!c->places || !c->names) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to read %zu columns", c->n);
    }
    char *at = c->names;
    size_t k = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (c->column[i].is_feature) {
            c->places[k++] = c->column[i].place;
        }
    }
    qsort(c->places, c->n_places, sizeof *c->places, by_place);
    for (size_t i = 0; i < c->n; i++) {
        struct rows_column *column = &c->column[i];
        if (!column->is_feature) {
            continue;
        }
        const struct schema_column *sparse = read_column(c, column->read);
        const uint32_t *rank =
            bsearch(&column->place, c->places, c->n_places, sizeof *c->places, by_place);
        column->nth_place = (size_t)(rank - c->places);
        column->name = at;
        at += snprintf(at, size - (size_t)(at - c->names), "%s%" PRIu64, sparse->name,
                       (uint64_t)sparse->first_index + column->place) +
              1;
    }
    return true;
}

bool rows_columns_choose(const char *columns_json, const struct format *format, const char *list,
                         const char *label, struct rows_columns *out, struct problem *problem) {
    struct rows_columns c = {.sparse = SIZE_MAX};
    const bool svmlight = format->rows->entries;
    if (!schema_parse(columns_json, &c.schema, problem)) {
        return false;
    }
    const size_t sparse = find_sparse(&c.schema);
    c.read = calloc(c.schema.n + 1, sizeof *c.read);
    c.rank = calloc(c.schema.n + 1, sizeof *c.rank);
    c.column =
        calloc(c.schema.n + (sparse != SIZE_MAX ? TABLE_MAX_COLUMNS : 0) + 1, sizeof *c.column);
    if (!c.read || !c.rank || !c.column) {
        problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to read %zu columns", c.schema.n);
        rows_columns_done(&c);
        return false;
    }
    bool well = svmlight || !label ||
                problem_set(problem, PROBLEM_BAD_REQUEST,
                            "query parameter \"label\" is for text/x-svmlight");
    if (well) {
        well =
            list ? take_named(&c, sparse, list, problem) : take_all(&c, sparse, svmlight, problem);
    }
    if (well && svmlight) {
        well = set_label_apart(&c, sparse, label, problem);
    }
    if (well) {
        well = name_features(&c, problem);
    }
    if (well) {
        *out = c;
    } else {
        rows_columns_done(&c);
    }
    return well;
}

/* ---- reading ---- */

bool rows_chunk_new(const struct rows_columns *c, struct rows_chunk *out, struct problem *problem) {
    struct rows_chunk chunk = {.decoders = calloc(c->n_read + 1, sizeof(dn_column_chunk *)),
                               .views = calloc(c->n_read + 1, sizeof(dn_column_view))};
    if (chunk.decoders && chunk.views) {
        *out = chunk;
        return true;
    }
    rows_chunk_done(c, &chunk);
    problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to read %zu columns", c->n_read);
    return false;
}

void rows_chunk_done(const struct rows_columns *c, struct rows_chunk *chunk) {
    for (size_t i = 0; chunk->decoders && i < c->n_read; i++) {
        dn_column_chunk_free(chunk->decoders[i]);
    }
    free(chunk->decoders);
    free(chunk->views);
    buf_done(&chunk->blob);
    *chunk = (struct rows_chunk){0};
}

bool rows_chunk_read(const struct rows_columns *c, struct store *store,
                     const struct store_chunk *stored, size_t read, struct rows_chunk *chunk,
                     struct problem *problem) {
    const struct schema_column *column = read_column(c, read);
    dn_column_view *view = &chunk->views[read];
    dn_error err;
    dn_error_clear(&err);
    if (!chunk->decoders[read] && dn_column_chunk_new(&chunk->decoders[read], &err) != DN_OK) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "%s", err.message);
    }
    if (!store_chunk_read(store, stored, c->read[read], &chunk->blob, problem)) {
        return false;
    }
    const dn_status decoded =
        dn_column_chunk_decode(chunk->decoders[read], chunk->blob.data, chunk->blob.size,
                               schema_shown_type(column), view, &err);
    if (decoded != DN_OK) {
        return problem_set(problem,
                           decoded == DN_ERR_MEMORY ? PROBLEM_UNAVAILABLE : PROBLEM_INTERNAL,
                           "column \"%s\": %s", column->name, err.message);
    }
    if ((int64_t)view->n_rows != stored->n_rows) {
        return problem_set(problem, PROBLEM_INTERNAL,
                           "column \"%s\" has a chunk of %zu rows, expected %" PRId64, column->name,
                           view->n_rows, stored->n_rows);
    }
    return true;
}

/* ---- check of rows for svmlight ---- */

/* Returns the first row in [from, end) of the chunk whose value of column `read` svmlight cannot
 * have; `end`: there is none. */
static size_t first_wrong(const struct rows_columns *c, size_t read, const dn_column_view *view,
                          size_t from, size_t end) {
    struct text text;
    size_t i = from;
    if (read == c->label) {
        while (i < end && svmlight_label(view, i, &text)) {
            i++;
        }
    } else {
        while (i < end && !isnan(view->number[i])) {
            i++;
        }
    }
    return i;
}

/* Checks the rows [offset, end) of column `read`, which may have values that svmlight cannot
 * have. */
static bool check_column(const struct rows_columns *c, struct store *store,
                         const struct store_chunk *chunks, size_t n_chunks, size_t read,
                         int64_t offset, int64_t end, struct rows_chunk *chunk,
                         struct problem *problem) {
    for (size_t k = 0; k < n_chunks; k++) {
        const int64_t first = chunks[k].first_row, behind = first + chunks[k].n_rows;
        if (behind <= offset || first >= end) {
            continue;
        }
        if (!rows_chunk_read(c, store, &chunks[k], read, chunk, problem)) {
            return false;
        }
        const size_t from = (size_t)(offset > first ? offset - first : 0),
                     upto = (size_t)((end < behind ? end : behind) - first);
        const size_t wrong = first_wrong(c, read, &chunk->views[read], from, upto);
        if (wrong == upto) {
            continue;
        }
        return problem_set(
            problem, PROBLEM_NOT_ACCEPTABLE,
            read == c->label
                ? "column \"%s\" cannot be the label of text/x-svmlight: in row %" PRId64
                  " (counted from 1) it is empty or has a space, a comma, a colon or a #"
                : "column \"%s\" is missing in row %" PRId64
                  " (counted from 1), but text/x-svmlight has no missing values: choose other "
                  "columns by ?columns=",
            read_column(c, read)->name, first + (int64_t)wrong + 1);
    }
    return true;
}

bool rows_columns_check_svmlight(const struct rows_columns *c, struct store *store,
                                 const struct store_chunk *chunks, size_t n_chunks, int64_t offset,
                                 int64_t end, struct problem *problem) {
    struct rows_chunk chunk;
    if (!rows_chunk_new(c, &chunk, problem)) {
        return false;
    }
    bool well = true;
    for (size_t i = 0; well && i < c->n_read; i++) {
        const struct schema_column *column = read_column(c, i);
        const bool texts = schema_shown_type(column) == DN_TEXT || column->type == DN_CATEGORICAL;
        if (i == c->label ? texts : column->type != DN_SPARSE && column->missing > 0) {
            well = check_column(c, store, chunks, n_chunks, i, offset, end, &chunk, problem);
        }
    }
    rows_chunk_done(c, &chunk);
    return well;
}
