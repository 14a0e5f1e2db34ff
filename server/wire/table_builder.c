/* Cells into columns: inference and falls. Delivering chunks and the end are in table_chunks.c. */
#include "wire/table_builder.h"
#include "wire/scan.h"

#include <stdlib.h>
#include <string.h>

bool builder_init(struct table_builder *b, const struct wire_table_options *options, const struct wire_table_sink *sink,
                  struct problem *problem) {
    *b = (struct table_builder){.sink = *sink};
    if (!missing_init(&b->missing, options->missing, problem) || !table_types_parse(options->types, &b->types, &b->n_types, problem)) {
        return false;
    }
    for (size_t i = 0; i < b->missing.n; i++) {
        double number = 0;
        b->missing_numbers |= dn_number_parse(b->missing.token[i].bytes, b->missing.token[i].n, &number);
    }
    if (dn_column_chunk_new(&b->chunk, NULL) != DN_OK) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory left");
    }
    return true;
}

void builder_done(struct table_builder *b) {
    for (size_t i = 0; i < b->n_columns; i++) {
        struct column *c = &b->column[i];
        free(c->name);
        free(c->fell_text);
        dn_column_builder_free(c->builder);
        column_summary_done(&c->summary);
    }
    free(b->column);
    free(b->blobs);
    free(b->stage);
    free(b->stage_from);
    free(b->route);
    free(b->types);
    names_done(&b->names);
    dn_column_chunk_free(b->chunk);
    problem_done(&b->problem);
}

static enum builder_status out_of_memory(struct table_builder *b) {
    problem_set(&b->problem, PROBLEM_UNAVAILABLE, "no memory left");
    return BUILDER_STOP;
}

/* ---- columns ------------------------------------------------------------------------------------------------------------------------ */
static bool columns_grow(struct table_builder *b) {
    const size_t capacity = b->columns_capacity > 0 ? 2 * b->columns_capacity : 16;
    struct column *column = realloc(b->column, capacity * sizeof *column);
    if (column == NULL) {
        return false;
    }
    b->column = column;
    struct wire_blob *blobs = realloc(b->blobs, capacity * sizeof *blobs);
    if (blobs == NULL) {
        return false;
    }
    b->blobs = blobs;
    uint32_t *from = realloc(b->stage_from, capacity * sizeof *from);
    if (from == NULL) {
        return false;
    }
    b->stage_from = from;
    uint8_t *route = realloc(b->route, capacity * sizeof *route);
    if (route == NULL) {
        return false;
    }
    b->route = route;
    b->columns_capacity = capacity;
    return true;
}

static void force(struct column *c, dn_column_type type) {
    c->forced = true;
    c->type = type;
    c->state = type == DN_NUMERIC ? COLUMN_NUMBERS : type == DN_BOOLEAN ? COLUMN_BOOLEANS : COLUMN_STRINGS;
}

void builder_force(struct table_builder *b, size_t i, dn_column_type type) {
    if (!b->column[i].forced) {
        force(&b->column[i], type);
    }
}

static void column_override(struct table_builder *b, struct column *c, const char *name, size_t n) {
    for (size_t i = 0; i < b->n_types; i++) {
        struct type_override *type = &b->types[i];
        if (type->length == n && memcmp(type->name, name, n) == 0) {
            type->used = true;
            force(c, type->type);
        }
    }
}

static size_t chunk_rows(size_t n_columns) {
    size_t rows = 65536;
    while (rows > 64 && rows * n_columns * 8 > BUILDER_CHUNK_BYTES) {
        rows /= 2;
    }
    return rows;
}

enum builder_status builder_add_column(struct table_builder *b, const char *name, size_t n) {
    if (b->n_columns == b->columns_capacity && !columns_grow(b)) {
        return out_of_memory(b);
    }
    struct column c = {.state = COLUMN_UNKNOWN, .name = malloc(n + 1)};
    if (c.name == NULL || dn_column_builder_new(&c.builder, NULL) != DN_OK) {
        free(c.name);
        return out_of_memory(b);
    }
    memcpy(c.name, name, n);
    c.name[n] = '\0';
    column_override(b, &c, name, n);
    b->stage_from[b->n_columns] = 0;
    b->route[b->n_columns] = ROUTE_FRESH;
    b->column[b->n_columns++] = c;
    bool well = names_add(&b->names, c.name, n);
    for (size_t i = 0; well && i < b->rows; i++) {
        well = dn_column_builder_missing(c.builder, NULL) == DN_OK;
    }
    b->chunk_rows = chunk_rows(b->n_columns);
    return well ? BUILDER_WELL : out_of_memory(b);
}

const struct type_override *builder_unused_type(const struct table_builder *b, size_t *i) {
    for (; *i < b->n_types; (*i)++) {
        if (!b->types[*i].used) {
            return &b->types[(*i)++];
        }
    }
    return NULL;
}

static void set_route(struct table_builder *b, size_t i, enum column_route route) {
    b->n_stage_routes += (size_t)(route == ROUTE_STAGE) - (size_t)(b->route[i] == ROUTE_STAGE);
    b->route[i] = (uint8_t)route;
}

/* ---- cells ------------------------------------------------------------------------------------------------------------------------- */
/* The column can hold this cell only as a string: from here on it is one of strings. The first reason is kept for the notes. */
static void column_fall(struct table_builder *b, struct column *c, const char *text, size_t n) {
    if (c->state != COLUMN_UNKNOWN) {
        char shown[TEXT_SHOWN];
        c->fell_line = b->line;
        c->fell_text = strdup(text_show(text, n, shown)); /* NULL: the note goes without it */
        if (c->summarised) {
            c->again = true;
            b->counts_memory -= column_summary_counts_memory(&c->summary);
            column_summary_reset(&c->summary);
            c->uncounted = false;
        }
    }
    c->state = COLUMN_STRINGS;
    set_route(b, (size_t)(c - b->column), ROUTE_SLOW);
}

/* The numbers of column i on the stage go into its builder. */
static bool unstage(struct table_builder *b, size_t i) {
    const size_t from = b->stage_from[i];
    return from >= b->staged || dn_column_builder_numbers(b->column[i].builder, b->stage + from * b->n_columns + i, b->n_columns,
                                                          b->staged - from, NULL) == DN_OK;
}

enum builder_status builder_unstage(struct table_builder *b) {
    bool well = true;
    for (size_t i = 0; i < b->n_columns && b->staged > 0; i++) {
        well &= unstage(b, i);
        b->stage_from[i] = 0;
    }
    b->staged = 0;
    return well ? BUILDER_WELL : out_of_memory(b);
}

/* The cell of the row at hand in column i goes straight into its builder: those before it must be there. */
static dn_column_builder *straight(struct table_builder *b, struct column *c) {
    const size_t i = (size_t)(c - b->column);
    if (b->stage_from[i] < b->staged && !unstage(b, i)) {
        return NULL;
    }
    b->stage_from[i] = (uint32_t)b->staged + 1;
    return c->builder;
}

static enum builder_status put_string(struct table_builder *b, struct column *c, const char *text, size_t n) {
    b->string_bytes += n;
    if (b->broken) {
        return BUILDER_WELL;
    }
    dn_column_builder *builder = straight(b, c);
    return builder != NULL && dn_column_builder_string(builder, text, n, NULL) == DN_OK ? BUILDER_WELL : out_of_memory(b);
}

static enum builder_status put_number(struct table_builder *b, struct column *c, double number, const char *spelling, size_t n) {
    b->string_bytes += n;
    if (b->broken) {
        return BUILDER_WELL;
    }
    dn_column_builder *builder = straight(b, c);
    return builder != NULL && dn_column_builder_number(builder, number, spelling, n, NULL) == DN_OK ? BUILDER_WELL : out_of_memory(b);
}

enum builder_status builder_missing(struct table_builder *b, size_t i) {
    struct column *c = &b->column[i];
    c->filled = b->n_rows + 1;
    if (b->broken) {
        return BUILDER_WELL;
    }
    dn_column_builder *builder = straight(b, c);
    return builder != NULL && dn_column_builder_missing(builder, NULL) == DN_OK ? BUILDER_WELL : out_of_memory(b);
}

enum builder_status builder_number(struct table_builder *b, size_t i, double number, const char *spelling, size_t n) {
    struct column *c = &b->column[i];
    c->filled = b->n_rows + 1;
    if (b->missing_numbers && missing_has(&b->missing, text_trim(spelling, n))) {
        return builder_missing(b, i);
    }
    switch (c->state) {
    case COLUMN_UNKNOWN:
        c->state = COLUMN_NUMBERS;
        return put_number(b, c, number, spelling, n);
    case COLUMN_NUMBERS:
        return put_number(b, c, number, spelling, n);
    case COLUMN_BOOLEANS:
        if (c->forced) {
            return number == 0 ? put_string(b, c, "0", 1) : number == 1 ? put_string(b, c, "1", 1) : BUILDER_MISFIT;
        }
        column_fall(b, c, spelling, n);
        break;
    case COLUMN_STRINGS:
        break;
    }
    return put_string(b, c, spelling, n);
}

enum builder_status builder_boolean(struct table_builder *b, size_t i, bool truth) {
    struct column *c = &b->column[i];
    const char *text = truth ? "true" : "false";
    const size_t n = truth ? 4 : 5;
    c->filled = b->n_rows + 1;
    switch (c->state) {
    case COLUMN_UNKNOWN:
        c->state = COLUMN_BOOLEANS;
        break;
    case COLUMN_NUMBERS:
        if (c->forced) {
            return BUILDER_MISFIT;
        }
        column_fall(b, c, text, n);
        break;
    case COLUMN_BOOLEANS:
    case COLUMN_STRINGS:
        break;
    }
    return put_string(b, c, text, n);
}

/* Text that is not missing, in a column that is not of strings; trimmed is the same without its spaces. */
static enum builder_status text_by_what_it_says(struct table_builder *b, struct column *c, const char *text, size_t n,
                                                struct text trimmed) {
    double number = 0;
    bool truth = false;
    const bool is_number = dn_number_parse(trimmed.bytes, trimmed.n, &number);
    const bool is_boolean = !is_number && text_boolean(trimmed, &truth);
    if (c->state == COLUMN_UNKNOWN && (is_number || is_boolean)) {
        c->state = is_number ? COLUMN_NUMBERS : COLUMN_BOOLEANS;
    }
    if (c->state == COLUMN_NUMBERS && is_number) {
        return put_number(b, c, number, text, n);
    }
    if (c->state == COLUMN_BOOLEANS && (is_boolean || (c->forced && (text_is(trimmed, "0") || text_is(trimmed, "1"))))) {
        return put_string(b, c, trimmed.bytes, trimmed.n);
    }
    if (c->forced) {
        return BUILDER_MISFIT;
    }
    column_fall(b, c, text, n);
    return put_string(b, c, text, n);
}

enum builder_status builder_text(struct table_builder *b, size_t i, const char *text, size_t n) {
    struct column *c = &b->column[i];
    const struct text trimmed = text_trim(text, n);
    if (missing_has(&b->missing, trimmed)) {
        return builder_missing(b, i);
    }
    c->filled = b->n_rows + 1;
    return c->state == COLUMN_STRINGS ? put_string(b, c, text, n) : text_by_what_it_says(b, c, text, n, trimmed);
}

enum builder_status builder_string(struct table_builder *b, size_t i, const char *text, size_t n) {
    struct column *c = &b->column[i];
    const struct text trimmed = text_trim(text, n);
    if (missing_has(&b->missing, trimmed)) {
        return builder_missing(b, i);
    }
    c->filled = b->n_rows + 1;
    if (c->forced && c->state != COLUMN_STRINGS) {
        return text_by_what_it_says(b, c, text, n, trimmed);
    }
    if (c->state != COLUMN_STRINGS) {
        column_fall(b, c, text, n);
    }
    return put_string(b, c, text, n);
}

/* ---- rows --------------------------------------------------------------------------------------------------------------------------- */
static bool stage_make(struct table_builder *b) {
    const size_t rows = BUILDER_STAGE_BYTES / sizeof *b->stage / b->n_columns;
    b->stage_rows = rows < 4 ? 4 : rows > 64 ? 64 : rows;
    b->stage = malloc(b->stage_rows * b->n_columns * sizeof *b->stage);
    return b->stage != NULL;
}

/* A plain number in a column that does not take the stage, at least not yet. A builder that begins a chunk with padded numbers ("1.50") wants to see how the others are written; one
 * that begins with a canonical number need not. */
static enum builder_status number_cell(struct table_builder *b, size_t i, const struct csv_row *row, const struct csv_cell *cell) {
    const enum builder_status status = builder_number(b, i, cell->number, csv_cell_text(row, cell), cell->length);
    if (b->route[i] == ROUTE_FRESH && b->column[i].state == COLUMN_NUMBERS) {
        set_route(b, i, cell->kind == CSV_CANONICAL && !b->missing_numbers ? ROUTE_STAGE : ROUTE_SLOW);
    }
    return status;
}

enum builder_status builder_csv_cells(struct table_builder *b, const struct csv_row *row, size_t *cell) {
    if (SCAN_UNLIKELY(b->stage == NULL) && !stage_make(b)) {
        return out_of_memory(b);
    }
    double *stage = b->stage + b->staged * b->n_columns;
    if (row->n_canonical == row->n_cells && b->n_stage_routes == b->n_columns) { /* nothing but numbers, as mostly in tables of numbers */
        for (size_t i = 0; i < row->n_cells; i++) {
            stage[i] = row->cells[i].number;
        }
        *cell = row->n_cells;
        return BUILDER_WELL;
    }
    for (size_t i = *cell; i < row->n_cells; i++) {
        const struct csv_cell *at = &row->cells[i];
        if (SCAN_LIKELY(at->kind == CSV_CANONICAL && b->route[i] == ROUTE_STAGE)) {
            stage[i] = at->number;
            continue;
        }
        const enum builder_status status =
            at->kind == CSV_TEXT ? builder_text(b, i, csv_cell_text(row, at), at->length) : number_cell(b, i, row, at);
        if (status != BUILDER_WELL) {
            *cell = i;
            return status;
        }
    }
    *cell = row->n_cells;
    return BUILDER_WELL;
}

enum builder_status builder_csv_row_end(struct table_builder *b) {
    if (!b->broken && ++b->staged == b->stage_rows && builder_unstage(b) != BUILDER_WELL) {
        return BUILDER_STOP;
    }
    return builder_row_end(b);
}

enum builder_status builder_fill_row(struct table_builder *b) {
    enum builder_status status = BUILDER_WELL;
    for (size_t i = 0; i < b->n_columns && status == BUILDER_WELL; i++) {
        if (!builder_is_filled(b, i)) {
            status = builder_missing(b, i);
        }
    }
    return status;
}

enum builder_status builder_row_end(struct table_builder *b) {
    b->n_rows++;
    b->rows++;
    if (b->broken) {
        return BUILDER_WELL;
    }
    if (b->rows < b->chunk_rows && b->rows * b->n_columns * 8 + b->string_bytes <= BUILDER_CHUNK_BYTES) {
        return BUILDER_WELL;
    }
    return builder_deliver(b);
}
