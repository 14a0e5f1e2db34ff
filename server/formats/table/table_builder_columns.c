/* The columns of a table builder: adding columns, and the types given by the caller. */
#include "base/memory/array.h"
#include "formats/table/table_builder.h"

#include <stdlib.h>
#include <string.h>

static bool columns_grow(struct table_builder *b) {
    const size_t n = b->columns_capacity > 0 ? 2 * b->columns_capacity : 16;
    const bool grown = array_resize(&b->column, n, sizeof *b->column) &&
                       array_resize(&b->blobs, n, sizeof *b->blobs) &&
                       array_resize(&b->stage_from, n, sizeof *b->stage_from) &&
                       array_resize(&b->stage_takes, n, sizeof *b->stage_takes);
    b->columns_capacity = grown ? n : b->columns_capacity;
    return grown;
}

static void force(struct column *c, dn_column_type type, unsigned orders) {
    c->forced = true;
    c->orders = (uint8_t)orders;
    c->type = type;
    c->state = type == DN_NUMERIC    ? COLUMN_NUMBERS
               : type == DN_BOOLEAN  ? COLUMN_BOOLEANS
               : type == DN_DATETIME ? COLUMN_DATES
                                     : COLUMN_STRINGS;
}

void builder_force(struct table_builder *b, size_t i, dn_column_type type, unsigned orders) {
    if (!b->column[i].forced) {
        force(&b->column[i], type, orders);
    }
}

static void column_override(struct table_builder *b, struct column *c, const char *name, size_t n) {
    for (size_t i = 0; i < b->n_types; i++) {
        struct type_override *type = &b->types[i];
        if (type->length == n && memcmp(type->name, name, n) == 0) {
            type->used = true;
            force(c, type->type, type->orders);
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
        return builder_no_memory(b);
    }
    struct column c = {.state = COLUMN_UNKNOWN, .orders = DN_DATE_ANY, .name = malloc(n + 1)};
    if (c.name == NULL || dn_column_builder_new(&c.builder, NULL) != DN_OK) {
        free(c.name);
        return builder_no_memory(b);
    }
    memcpy(c.name, name, n);
    c.name[n] = '\0';
    column_override(b, &c, name, n);
    b->stage_from[b->n_columns] = 0;
    b->stage_takes[b->n_columns] = STAGE_UNDECIDED;
    b->settled = false;
    b->column[b->n_columns++] = c;
    bool well = names_add(&b->names, c.name, n);
    for (size_t i = 0; well && i < b->rows; i++) {
        well = dn_column_builder_missing(c.builder, NULL) == DN_OK;
    }
    b->chunk_rows = chunk_rows(b->n_columns);
    return well ? BUILDER_WELL : builder_no_memory(b);
}

dn_column_type builder_given_type(const struct table_builder *b, size_t i) {
    return column_is_fixed(&b->column[i]) ? b->column[i].type : DN_TEXT;
}

dn_column_type builder_given_type_of(const struct table_builder *b, const char *name, size_t n) {
    for (size_t i = 0; i < b->n_types; i++) {
        if (b->types[i].length == n && memcmp(b->types[i].name, name, n) == 0) {
            return b->types[i].type;
        }
    }
    return DN_TEXT;
}

unsigned builder_given_orders_of(const struct table_builder *b, const char *name, size_t n) {
    for (size_t i = 0; i < b->n_types; i++) {
        if (b->types[i].length == n && memcmp(b->types[i].name, name, n) == 0) {
            return b->types[i].orders;
        }
    }
    return DN_DATE_ANY;
}

enum builder_status builder_add_sparse(struct table_builder *b, const char *name, uint32_t first,
                                       size_t width) {
    struct type_override *types = b->types;
    const size_t n_types = b->n_types;
    b->types = NULL;
    b->n_types = 0; /* the option `types` must not change the type */
    const enum builder_status status = builder_add_column(b, name, strlen(name));
    b->types = types;
    b->n_types = n_types;
    if (status != BUILDER_WELL) {
        return status;
    }
    struct column *c = &b->column[b->n_columns - 1];
    c->forced = true;
    c->type = DN_SPARSE;
    c->state = COLUMN_SPARSE;
    c->summary.sparse.first = first;
    c->summary.sparse.width = width;
    return BUILDER_WELL;
}

const struct type_override *builder_unused_type(const struct table_builder *b, size_t *i) {
    for (; *i < b->n_types; (*i)++) {
        if (!b->types[*i].used) {
            return &b->types[(*i)++];
        }
    }
    return NULL;
}

/* ---- given types ---- */
bool builder_text_fits(const struct table_builder *b, const struct column *c, dn_column_type given,
                       const char *text, size_t n) {
    enum column_mark mark;
    double number = 0;
    bool truth = false;
    const struct text trimmed = text_trim(text, n);
    if (!builder_checks(given) || missing_has(&b->missing, trimmed)) {
        return true;
    }
    if (given == DN_DATETIME) {
        return builder_date_fits(c, DN_DATE_ANY | DN_DATE_COMPACT, trimmed);
    }
    return given == DN_NUMERIC
               ? builder_read_number(b, c, trimmed, &number, &mark)
               : text_boolean(trimmed, &truth) || text_is(trimmed, "0") || text_is(trimmed, "1");
}

bool builder_number_fits(const struct table_builder *b, const struct column *c,
                         dn_column_type given, double number, const char *spelling, size_t n) {
    if (given == DN_DATETIME) {
        return builder_text_fits(b, c, given, spelling, n);
    }
    return (given != DN_BOOLEAN && given != DN_DATETIME) ||
           (given == DN_BOOLEAN && (number == 0 || number == 1)) ||
           (b->missing.numbers && missing_has(&b->missing, text_trim(spelling, n)));
}

bool builder_boolean_fits(const struct table_builder *b, dn_column_type given, bool truth) {
    return (given != DN_NUMERIC && given != DN_DATETIME) ||
           missing_has(&b->missing, truth ? (struct text){"true", 4} : (struct text){"false", 5});
}

enum builder_status builder_entries(struct table_builder *b, size_t i, const uint32_t *place,
                                    const double *value, size_t n, size_t width) {
    struct column *c = &b->column[i];
    c->filled = b->n_rows + 1;
    c->summary.sparse.width = width > c->summary.sparse.width ? width : c->summary.sparse.width;
    /* Twice: while the summary is made, the chunk is in memory a second time. */
    b->string_bytes += 2 * n * (sizeof *place + sizeof *value);
    if (b->broken) {
        return BUILDER_WELL;
    }
    return dn_column_builder_entries(c->builder, place, value, n, NULL) == DN_OK
               ? BUILDER_WELL
               : builder_no_memory(b);
}
