/* Appending: adds the columns of the stored table with their types, and moves the new rows to a
 * newer version of the table. The columns of the body are mapped in table_append_columns.c, the
 * notes are written in table_append_notes.c. */
#include "formats/table/table_append.h"
#include "base/json/json.h"
#include "formats/csv/repair/csv_dialect.h"
#include "formats/instances/table_reading.h"
#include "formats/table/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool out_of_memory(struct problem *problem) {
    return problem_no_memory(problem);
}

/* ---- the stored table ---- */
/* The state of a stored column, with which the new rows continue. */
struct found {
    enum column_state state;
    bool forced;          /* the type was given, or the column is sparse */
    const json_t *reason; /* member "type_reason" of the column; NULL: none */
};

/* The parsed description of the stored table. */
struct stored {
    json_t *notes, *columns;
    struct schema schema;
    struct type_override *types; /* from the option `types` of the upload */
    size_t n_types;
    struct found *found; /* [schema.n] */
};

static enum column_state state_of_type(dn_column_type type) {
    switch (type) {
    case DN_NUMERIC:
        return COLUMN_NUMBERS;
    case DN_BOOLEAN:
        return COLUMN_BOOLEANS;
    case DN_SPARSE:
        return COLUMN_SPARSE;
    case DN_DATETIME:
        return COLUMN_DATES;
    case DN_CATEGORICAL:
    case DN_TEXT:
        break;
    }
    return COLUMN_STRINGS;
}

/* Whether the type of this column was given by the client. The notes of older daemons do not
 * contain this; the option `types` of the upload does. */
static bool was_given(const struct stored *s, const char *name) {
    if (json_object_get(json_object_get(s->notes, "types"), name) != NULL) {
        return true;
    }
    for (size_t i = 0; i < s->n_types; i++) {
        if (s->types[i].length == strlen(name) &&
            memcmp(s->types[i].name, name, s->types[i].length) == 0) {
            return true;
        }
    }
    return false;
}

static void stored_done(struct stored *s) {
    json_decref(s->notes);
    json_decref(s->columns);
    schema_done(&s->schema);
    free(s->types);
    free(s->found);
}

static bool stored_read(const struct table_stored *stored, struct stored *s,
                        struct problem *problem) {
    *s = (struct stored){.notes =
                             json_parse_stored(stored->notes, "description of the table", problem)};
    if (s->notes == NULL || !table_types_parse(stored->types, &s->types, &s->n_types, problem) ||
        !schema_parse(stored->columns, &s->schema, problem)) {
        return false;
    }
    s->columns = json_parse_stored(stored->columns, "description of the table", problem);
    s->found = calloc(s->schema.n + 1, sizeof *s->found);
    if (s->columns == NULL || s->found == NULL) {
        return problem->type != PROBLEM_NONE ? false : out_of_memory(problem);
    }
    for (size_t i = 0; i < s->schema.n; i++) {
        const struct schema_column *c = &s->schema.columns[i];
        s->found[i] =
            (struct found){.state = state_of_type(c->type),
                           .forced = c->type == DN_SPARSE || was_given(s, c->name),
                           .reason = json_object_get(json_array_get(s->columns, i), "type_reason")};
        if (!s->found[i].forced && c->missing == stored->n_rows) {
            s->found[i].state = COLUMN_UNKNOWN;
        }
    }
    return true;
}

/* Copies the stored reason of the column's type. A reason without a code was stored by an older
 * daemon: its description is kept unchanged. Returns false if out of memory. */
static bool take_reason(struct column *c, const json_t *reason) {
    const char *cell = json_string_value(json_object_get(reason, "cell")),
               *code = json_string_value(json_object_get(reason, "code")),
               *hint = json_string_value(json_object_get(reason, "hint")),
               *detail = json_string_value(json_object_get(reason, "detail"));
    if (cell == NULL || (code == NULL && detail == NULL)) {
        return true;
    }
    const bool numbers = code != NULL && strcmp(code, TYPE_AFTER_NUMBERS) == 0,
               dates = code != NULL && strcmp(code, TYPE_AFTER_DATES) == 0;
    type_reason_done(&c->reason);
    c->reason =
        (struct type_reason){.line = (int64_t)json_number_value(json_object_get(reason, "line")),
                             .row = (int64_t)json_number_value(json_object_get(reason, "row")),
                             .cell = strdup(cell),
                             .fell = numbers || dates ||
                                     (code != NULL && strcmp(code, TYPE_AFTER_BOOLEANS) == 0),
                             .numbers = numbers,
                             .dates = dates,
                             .hint = hint != NULL ? strdup(hint) : NULL,
                             .stored = true,
                             .appended = json_is_true(json_object_get(reason, "appended")),
                             .detail = code == NULL ? strdup(detail) : NULL};
    return c->reason.cell != NULL && (hint == NULL || c->reason.hint != NULL) &&
           (code != NULL || c->reason.detail != NULL);
}

/* ---- beginning ---- */
/* Keeps the type of a stored column whose type is known. */
static void keep_type(struct column *c, const struct schema_column *stored,
                      const struct found *found) {
    c->kept = !c->forced && found->state != COLUMN_UNKNOWN;
    c->type = c->kept ? stored->type : c->type;
}

static bool add_column(struct table *t, size_t i, const struct schema_column *c,
                       const struct found *found) {
    struct table_builder *b = &t->builder;
    const enum builder_status status =
        c->type == DN_SPARSE ? builder_add_sparse(b, c->name, c->first_index, c->width)
                             : builder_add_column(b, c->name, strlen(c->name));
    if (status != BUILDER_WELL) {
        return false;
    }
    if (found->forced) {
        builder_force(b, i, c->type,
                      dn_datetime_is_form(&c->form) ? c->form.orders
                                                    : DN_DATE_ANY | DN_DATE_COMPACT);
    }
    b->column[i].form = c->form;
    b->column[i].state = found->state;
    b->column[i].stored_state = found->state;
    if (!t->options.allow_type_change) {
        keep_type(&b->column[i], c, found);
        b->column[i].many_before =
            c->distinct_about > 0 &&
            column_is_text((size_t)c->distinct_about, t->builder.stored_rows - c->missing);
    }
    /* the summary is computed at the end, from the stored rows and then the new ones */
    b->column[i].again = true;
    t->append.began[i] = (uint8_t)found->state;
    return take_reason(&b->column[i], found->reason);
}

static bool take_notes(struct table *t, const struct table_stored *stored) {
    free(t->append.notes);
    t->append.notes = strdup(stored->notes);
    t->builder.stored_rows = stored->n_rows;
    t->builder.stored_chunks = stored->n_chunks;
    t->builder.stored_summary = stored->summary;
    t->builder.onto = true;
    return table_tail_set(&t->builder.tail, stored->tail, stored->n_tail) &&
           t->append.notes != NULL;
}

/* Finds the columns of numbers with decimal commas. */
static void take_commas(struct table *t, const json_t *notes) {
    const json_t *list = json_object_get(notes, "decimal_comma");
    for (size_t i = 0; i < t->builder.n_columns; i++) {
        t->builder.column[i].comma = false;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *name = json_array_get(list, i);
        const ptrdiff_t column =
            names_find(&t->builder.names, json_string_value(name), json_string_length(name));
        if (column >= 0) {
            t->builder.column[column].comma = true;
        }
    }
}

bool table_append_open(struct table *t, const struct table_stored *stored,
                       struct problem *problem) {
    struct table_append *a = &t->append;
    struct stored s;
    bool well = stored_read(stored, &s, problem);
    if (well) {
        const char *format = json_string_value(json_object_get(s.notes, "format"));
        a->on = true;
        a->header_lines = (int64_t)json_number_value(json_object_get(s.notes, "header_lines"));
        a->header_replaced = json_is_true(json_object_get(s.notes, "header_replaced"));
        /* an earlier version of discernd read the stored rows, and kept the blanks */
        t->builder.keeps_blanks = json_object_get(s.notes, "trimmed") == NULL && format != NULL &&
                                  strcmp(format, "csv") == 0;
        table_reading_dialect(s.notes, &a->dialect);
        a->delimiter = a->dialect.n > 0 ? csv_dialect_char(&a->dialect) : '\0';
        a->n_cells = s.schema.n;
        a->began = calloc(s.schema.n + 1, sizeof *a->began);
        a->listed = calloc(s.schema.n + 1, sizeof *a->listed);
        a->cells = calloc(s.schema.n + 1, sizeof *a->cells);
        well = a->began != NULL && a->listed != NULL && a->cells != NULL && take_notes(t, stored);
        for (size_t i = 0; well && i < s.schema.n; i++) {
            well = add_column(t, i, &s.schema.columns[i], &s.found[i]);
        }
        take_commas(t, s.notes);
        well = well || out_of_memory(problem);
    }
    stored_done(&s);
    return well;
}

void table_append_done(struct table *t) {
    free(t->append.notes);
    free(t->append.began);
    free(t->append.listed);
    free(t->append.column);
    free(t->append.cells);
    t->append = (struct table_append){0};
}

/* ---- a newer version of the stored table ---- */
/* Whether new rows that were read with the column in state `from` can follow rows after which the
 * column is in state `to`. Cells keep their spelling, so cells of any state can be added to a
 * column of strings. */
static bool can_follow(enum column_state from, enum column_state to) {
    return from == to || from == COLUMN_UNKNOWN || to == COLUMN_STRINGS;
}

static enum column_state join(enum column_state a, enum column_state b) {
    return a == b || b == COLUMN_UNKNOWN ? a : a == COLUMN_UNKNOWN ? b : COLUMN_STRINGS;
}

/* Whether the new rows, which ended with the column in state `own`, leave the type of a column in
 * state `now`. */
static bool keeps_type(enum column_state own, enum column_state now) {
    return now == COLUMN_UNKNOWN || join(own, now) == now;
}

static bool fits(const struct table *t, const struct stored *s) {
    bool well = s->schema.n == t->builder.n_columns;
    for (size_t i = 0; well && i < s->schema.n; i++) {
        const struct column *c = &t->builder.column[i];
        const struct schema_column *now = &s->schema.columns[i];
        well = strcmp(c->name, now->name) == 0 && c->forced == s->found[i].forced &&
               (c->forced ? c->type == now->type
                          : can_follow((enum column_state)t->append.began[i], s->found[i].state) &&
                                (t->options.allow_type_change ||
                                 keeps_type(c->state, s->found[i].state))) &&
               (c->type != DN_SPARSE || c->summary.sparse.first == now->first_index);
    }
    return well;
}

/* Moves the column to a newer version of the stored table, which has `later` more rows. */
static bool move(const struct table *t, struct column *c, const struct schema_column *now,
                 const struct found *found, int64_t later) {
    const bool theirs = c->forced || join(c->state, found->state) == found->state;
    c->stored_state = found->state;
    c->reason.row += c->reason.line > 0 && !c->reason.stored ? later : 0;
    if (c->state == COLUMN_SPARSE) {
        c->summary.sparse.width =
            now->width > c->summary.sparse.width ? now->width : c->summary.sparse.width;
    } else if (!c->forced) {
        c->state = join(c->state, found->state);
        if (!t->options.allow_type_change) {
            keep_type(c, now, found);
        }
    }
    return !theirs || take_reason(c, found->reason);
}

bool table_rebase(struct table *t, const struct table_stored *stored, struct problem *problem) {
    struct stored s;
    bool well = stored_read(stored, &s, problem);
    if (well && !fits(t, &s)) {
        well = problem_set(
            problem, PROBLEM_CONFLICT,
            "the columns of the dataset were changed while the rows were read: send them again");
    }
    if (well) {
        const int64_t later = stored->n_rows - t->builder.stored_rows;
        for (size_t i = 0; well && i < s.schema.n; i++) {
            well = move(t, &t->builder.column[i], &s.schema.columns[i], &s.found[i], later);
        }
        take_commas(t, s.notes);
        well = (well && take_notes(t, stored)) || out_of_memory(problem);
    }
    stored_done(&s);
    return well;
}
