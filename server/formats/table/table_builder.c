/* Adds cells to columns and infers the types. Chunks and the end of a table are in table_chunks.c.
 */
#include "formats/table/table_builder.h"
#include "base/utf8.h"
#include "formats/text/cell_hint.h"
#include "formats/text/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REASON_SHOWN = 64 }; /* length limit of type_reason.cell */

bool builder_init(struct table_builder *b, const struct table_options *options,
                  const struct table_sink *sink, struct problem *problem) {
    *b = (struct table_builder){.sink = *sink, .marks = options->marks};
    if (!missing_init(&b->missing, options->missing, problem) ||
        !table_types_parse(options->types, &b->types, &b->n_types, problem)) {
        return false;
    }
    if (dn_column_chunk_new(&b->chunk, NULL) != DN_OK) {
        return problem_no_memory(problem);
    }
    return true;
}

void type_reason_done(struct type_reason *reason) {
    free(reason->cell);
    free(reason->hint);
    free(reason->detail);
    *reason = (struct type_reason){0};
}

void builder_done(struct table_builder *b) {
    for (size_t i = 0; i < b->n_columns; i++) {
        struct column *c = &b->column[i];
        free(c->name);
        type_reason_done(&c->reason);
        free(c->inexact_text);
        free(c->zeros_text);
        dn_column_builder_free(c->builder);
        column_summary_done(&c->summary);
    }
    for (size_t i = 0; i < b->n_blobs; i++) {
        free(b->blobs[i].bytes);
    }
    free(b->column);
    free(b->blobs);
    table_tail_done(&b->tail);
    free(b->stage);
    free(b->stage_from);
    free(b->stage_takes);
    free(b->types);
    names_done(&b->names);
    dn_column_chunk_free(b->chunk);
    problem_done(&b->problem);
}

static void set_takes(struct table_builder *b, size_t i, uint64_t kinds) {
    b->settled = b->settled && b->stage_takes[i] == kinds;
    b->stage_takes[i] = kinds;
}

/* ---- cells ---- */
/* Copies n bytes into a new string. Returns NULL if out of memory. */
static char *copy_text(const char *text, size_t n) {
    char *copy = malloc(n + 1);
    if (copy != NULL) {
        memcpy(copy, text, n);
        copy[n] = '\0';
    }
    return copy;
}

void builder_note_reason(struct table_builder *b, struct column *c, const char *text, size_t n,
                         const char *hint) {
    const size_t cut = utf8_cut(text, n, REASON_SHOWN);
    type_reason_done(&c->reason);
    c->reason = (struct type_reason){.line = b->line,
                                     .row = b->stored_rows + b->n_rows + 1,
                                     /* NULL (no memory): the cell is not shown */
                                     .cell = copy_text(text, cut),
                                     .fell = c->state != COLUMN_UNKNOWN,
                                     .numbers = c->state == COLUMN_NUMBERS,
                                     .dates = c->state == COLUMN_DATES,
                                     .hint = hint != NULL ? copy_text(hint, strlen(hint)) : NULL,
                                     .appended = b->onto};
}

/* Changes the column to strings because of this cell. */
static void column_fall(struct table_builder *b, struct column *c, const char *text, size_t n) {
    char room[BUILDER_RULE_SIZE];
    const char *hint = builder_mark_hint(b, c, text_trim(text, n));
    if (hint == NULL && !cell_hint_missing(text, n)) {
        hint = builder_date_hint(c, text_trim(text, n), room);
    }
    c->form = (dn_datetime_form){0};
    builder_note_reason(b, c, text, n,
                        hint != NULL   ? hint
                        : b->separated ? cell_hint(text, n)
                                       : cell_hint_json(text, n));
    builder_fall(b, c);
}

void builder_fall(struct table_builder *b, struct column *c) {
    if (c->state != COLUMN_UNKNOWN && c->summarised) {
        c->again = true;
        b->counts_memory -=
            column_summary_counts_memory(&c->summary) + column_summary_sketch_memory(&c->summary);
        b->numbers_memory -= number_tally_memory(&c->summary.numbers);
        column_summary_reset(&c->summary);
    }
    c->state = COLUMN_STRINGS;
    set_takes(b, (size_t)(c - b->column), STAGE_NONE);
}

void builder_inexact(struct table_builder *b, size_t i, size_t cells, double number,
                     const char *spelling, size_t n) {
    char shown[TEXT_SHOWN];
    struct column *c = &b->column[i];
    if (c->inexact_cells == 0) {
        c->inexact_line = b->line;
        c->inexact_text = strdup(text_show(spelling, n, shown));
        c->inexact_number = number;
    }
    c->inexact_cells += (int64_t)cells;
}

/* Records the first whole number of the column that begins with a zero: it may be a code. */
static void check_zeros(struct table_builder *b, struct column *c, const char *spelling, size_t n) {
    char shown[TEXT_SHOWN];
    const struct text t = text_trim(spelling, n);
    size_t digits = 1;
    if (t.n < 2 || t.bytes[0] != '0') {
        return;
    }
    while (digits < t.n && t.bytes[digits] >= '0' && t.bytes[digits] <= '9') {
        digits++;
    }
    if (digits == t.n) {
        c->zeros_line = b->line;
        c->zeros_text = strdup(text_show(t.bytes, t.n, shown));
    }
}

/* Returns the kinds of cells that the stage takes for a builder with this padding (digits after the
 * decimal point): canonical numbers with at least so many digits, and numbers padded to exactly so
 * many. */
static uint64_t kinds_under(const struct table_builder *b, const struct column *c,
                            unsigned padding) {
    if (padding >= CSV_PADDED - CSV_CANONICAL) {
        return STAGE_NONE; /* there is no kind for so many digits */
    }
    const uint64_t canonical = (CSV_KIND_BIT(CSV_PADDED) - CSV_KIND_BIT(CSV_CANONICAL)) &
                               ~(CSV_KIND_BIT(CSV_CANONICAL + padding) - 1);
    const uint64_t kinds = padding > 0 ? canonical | CSV_KIND_BIT(CSV_PADDED + padding) : canonical;
    if (!builder_has_commas(b) || c->mark == MARK_POINT) {
        return kinds;
    }
    /* the text of a number with a point is needed to decide what the point means; settle_grouped
     * decides by the number if there are three digits behind all points */
    const uint64_t three = CSV_KIND_BIT(CSV_CANONICAL + 3) | CSV_KIND_BIT(CSV_PADDED + 3);
    return kinds & (CSV_KIND_BIT(CSV_CANONICAL) | (c->mark == MARK_GROUPED ? three : 0));
}

/* Looks for a staged number of a grouped column whose point cannot separate thousands: 0.125 or
 * 1234.567. A stage of padded numbers has no other ones; otherwise whole numbers have no point. */
static void settle_grouped(struct table_builder *b, size_t i) {
    struct column *c = &b->column[i];
    const unsigned padding = dn_column_builder_padding(c->builder);
    for (size_t k = b->stage_from[i]; k < b->staged; k++) {
        const double x = b->stage[k * b->n_columns + i], size = fabs(x);
        if ((size < 1 || size >= 1000) && (padding > 0 || x != floor(x))) {
            builder_set_mark(b, c, MARK_POINT, NULL, 0);
            if (b->stage_takes[i] != STAGE_NONE && b->stage_takes[i] != STAGE_UNDECIDED) {
                set_takes(b, i, kinds_under(b, c, padding));
            }
            return;
        }
    }
}

/* Moves the staged numbers of column i into its builder. Returns false if out of memory. */
static bool unstage(struct table_builder *b, size_t i) {
    const size_t from = b->stage_from[i];
    if (SCAN_UNLIKELY(b->column[i].mark == MARK_GROUPED)) {
        settle_grouped(b, i);
    }
    dn_column_builder *builder = b->column[i].builder;
    return from >= b->staged ||
           dn_column_builder_numbers(builder, b->stage + from * b->n_columns + i, b->n_columns,
                                     b->staged - from, dn_column_builder_padding(builder),
                                     NULL) == DN_OK;
}

enum builder_status builder_unstage(struct table_builder *b) {
    bool well = true;
    for (size_t i = 0; i < b->n_columns && b->staged > 0; i++) {
        well &= unstage(b, i);
        b->stage_from[i] = 0;
    }
    b->staged = 0;
    return well ? BUILDER_WELL : builder_no_memory(b);
}

/* Returns the builder of column i for a cell of the current row, after moving the staged cells of
 * the rows before into it. Returns NULL if out of memory. */
static dn_column_builder *straight(struct table_builder *b, struct column *c) {
    const size_t i = (size_t)(c - b->column);
    if (b->stage_from[i] < b->staged && !unstage(b, i)) {
        return NULL;
    }
    b->stage_from[i] = (uint32_t)b->staged + 1;
    return c->builder;
}

static enum builder_status put_string(struct table_builder *b, struct column *c, const char *text,
                                      size_t n) {
    b->string_bytes += n;
    if (b->broken) {
        return BUILDER_WELL;
    }
    dn_column_builder *builder = straight(b, c);
    return builder != NULL && dn_column_builder_string(builder, text, n, NULL) == DN_OK
               ? BUILDER_WELL
               : builder_no_memory(b);
}

static enum builder_status put_number(struct table_builder *b, struct column *c, double number,
                                      const char *spelling, size_t n) {
    b->string_bytes += n;
    if (b->broken) {
        return BUILDER_WELL;
    }
    if (SCAN_UNLIKELY(number_may_be_inexact(n, number)) && !number_is_exact(spelling, n, number)) {
        builder_inexact(b, (size_t)(c - b->column), 1, number, spelling, n);
    }
    if (c->zeros_line == 0) {
        check_zeros(b, c, spelling, n);
    }
    dn_column_builder *builder = straight(b, c);
    return builder != NULL && dn_column_builder_number(builder, number, spelling, n, NULL) == DN_OK
               ? BUILDER_WELL
               : builder_no_memory(b);
}

enum builder_status builder_missing(struct table_builder *b, size_t i) {
    struct column *c = &b->column[i];
    c->filled = b->n_rows + 1;
    if (b->broken) {
        return BUILDER_WELL;
    }
    dn_column_builder *builder = straight(b, c);
    return builder != NULL && dn_column_builder_missing(builder, NULL) == DN_OK
               ? BUILDER_WELL
               : builder_no_memory(b);
}

enum builder_status builder_number(struct table_builder *b, size_t i, double number,
                                   const char *spelling, size_t n) {
    struct column *c = &b->column[i];
    c->filled = b->n_rows + 1;
    if (b->missing.numbers && missing_has(&b->missing, text_trim(spelling, n))) {
        return builder_missing(b, i);
    }
    switch (c->state) {
    case COLUMN_UNKNOWN:
        c->state = COLUMN_NUMBERS;
        return put_number(b, c, number, spelling, n);
    case COLUMN_NUMBERS:
        return put_number(b, c, number, spelling, n);
    case COLUMN_BOOLEANS:
        if (column_is_fixed(c)) {
            return number == 0   ? put_string(b, c, "0", 1)
                   : number == 1 ? put_string(b, c, "1", 1)
                                 : BUILDER_MISFIT;
        }
        column_fall(b, c, spelling, n);
        break;
    case COLUMN_DATES:
        if (builder_take_date(b, c, spelling, n)) { /* YYYYMMDD */
            return put_string(b, c, spelling, n);
        }
        if (column_is_fixed(c)) {
            return BUILDER_MISFIT;
        }
        column_fall(b, c, spelling, n);
        break;
    case COLUMN_STRINGS:
    case COLUMN_SPARSE: /* a sparse column has entries, not cells */
        break;
    }
    c->signs.plain = true;
    return put_string(b, c, spelling, n);
}

enum builder_status builder_boolean(struct table_builder *b, size_t i, bool truth) {
    struct column *c = &b->column[i];
    const char *text = truth ? "true" : "false";
    const size_t n = truth ? 4 : 5;
    if (missing_has(&b->missing, (struct text){text, n})) {
        return builder_missing(b, i);
    }
    c->filled = b->n_rows + 1;
    switch (c->state) {
    case COLUMN_UNKNOWN:
        builder_note_reason(b, c, text, n, NULL);
        c->state = COLUMN_BOOLEANS;
        break;
    case COLUMN_NUMBERS:
    case COLUMN_DATES:
        if (column_is_fixed(c)) {
            return BUILDER_MISFIT;
        }
        column_fall(b, c, text, n);
        break;
    case COLUMN_BOOLEANS:
    case COLUMN_STRINGS:
    case COLUMN_SPARSE:
        break;
    }
    return put_string(b, c, text, n);
}

/* Adds text that is not missing to a column of unknown type, numbers or booleans. trimmed: the text
 * without spaces at its ends. */
static enum builder_status text_by_what_it_says(struct table_builder *b, struct column *c,
                                                const char *text, size_t n, struct text trimmed) {
    double number = 0;
    bool truth = false;
    enum column_mark mark = c->mark;
    if (c->state == COLUMN_DATES && builder_take_date(b, c, text, n)) {
        return put_string(b, c, text, n);
    }
    const bool is_number = builder_read_number(b, c, trimmed, &number, &mark);
    const bool is_boolean = !is_number && text_boolean(trimmed, &truth);
    if (is_number && mark != c->mark &&
        (c->state == COLUMN_UNKNOWN || c->state == COLUMN_NUMBERS)) {
        builder_set_mark(b, c, mark, text, n);
    }
    if (c->state == COLUMN_UNKNOWN && !is_number && !is_boolean &&
        builder_take_date(b, c, text, n)) {
        return put_string(b, c, text, n);
    }
    if (c->state == COLUMN_UNKNOWN && (is_number || is_boolean)) {
        if (is_boolean) {
            builder_note_reason(b, c, text, n, NULL);
        }
        c->state = is_number ? COLUMN_NUMBERS : COLUMN_BOOLEANS;
    }
    if (c->state == COLUMN_NUMBERS && is_number) {
        return put_number(b, c, number, text, n);
    }
    if (c->state == COLUMN_BOOLEANS &&
        (is_boolean || (column_is_fixed(c) && (text_is(trimmed, "0") || text_is(trimmed, "1"))))) {
        return put_string(b, c, text, n);
    }
    if (column_is_fixed(c)) {
        return BUILDER_MISFIT;
    }
    const bool tracks = c->state != COLUMN_BOOLEANS && c->state != COLUMN_DATES;
    c->signs.plain |= c->state == COLUMN_NUMBERS;
    column_fall(b, c, text, n);
    if (!tracks || !marks_signs_add(&c->signs, trimmed)) {
        c->signs = (struct marks_signs){0};
    }
    return put_string(b, c, text, n);
}

enum builder_status builder_text(struct table_builder *b, size_t i, const char *text, size_t n) {
    struct column *c = &b->column[i];
    const struct text trimmed = text_trim(text, n);
    if (missing_has(&b->missing, trimmed)) {
        return builder_missing(b, i);
    }
    c->filled = b->n_rows + 1;
    if (c->state != COLUMN_STRINGS) {
        return text_by_what_it_says(b, c, text, n, trimmed);
    }
    if (SCAN_UNLIKELY(marks_signs_any(&c->signs)) && !marks_signs_add(&c->signs, trimmed)) {
        c->signs = (struct marks_signs){0};
    }
    return put_string(b, c, text, n);
}

enum builder_status builder_string(struct table_builder *b, size_t i, const char *text, size_t n) {
    struct column *c = &b->column[i];
    const struct text trimmed = text_trim(text, n);
    if (missing_has(&b->missing, trimmed)) {
        return builder_missing(b, i);
    }
    c->filled = b->n_rows + 1;
    if (column_is_fixed(c) && c->state != COLUMN_STRINGS) {
        return text_by_what_it_says(b, c, text, n, trimmed);
    }
    c->signs = (struct marks_signs){0};
    if ((c->state == COLUMN_UNKNOWN || c->state == COLUMN_DATES) &&
        builder_take_date(b, c, text, n)) {
        return put_string(b, c, text, n);
    }
    if (c->state != COLUMN_STRINGS) {
        column_fall(b, c, text, n);
    }
    return put_string(b, c, text, n);
}

/* ---- rows ---- */
static bool stage_make(struct table_builder *b) {
    const size_t rows = BUILDER_STAGE_BYTES / sizeof *b->stage / b->n_columns;
    b->stage_rows = rows < 4 ? 4 : rows > 64 ? 64 : rows;
    b->stage = malloc(b->stage_rows * b->n_columns * sizeof *b->stage);
    return b->stage != NULL;
}

/* Chooses the kinds of cells that the stage takes for a column of numbers, after a cell of this
 * kind was added to its builder. If the first number of a chunk is canonical, the builder needs no
 * texts until a padded number comes. After a padded number its number of digits determines the
 * kinds. */
static void choose_takes(struct table_builder *b, size_t i, unsigned kind) {
    const bool undecided = b->stage_takes[i] == STAGE_UNDECIDED;
    const unsigned padding = dn_column_builder_padding(b->column[i].builder);
    const bool spelled =
        kind == CSV_NUMBER || (kind >= CSV_PADDED && padding == 0); /* the builder keeps the text */
    if (b->missing.numbers || (undecided && spelled)) {
        set_takes(b, i, STAGE_NONE);
    } else if (!undecided || kind != CSV_TEXT) {
        set_takes(b, i, kinds_under(b, &b->column[i], padding));
    }
}

/* Adds a cell that the stage does not take. */
static enum builder_status other_cell(struct table_builder *b, size_t i, const struct csv_row *row,
                                      const struct csv_cell *cell, double *stage) {
    const struct column *c = &b->column[i];
    struct text text = {csv_cell_text(row, cell), cell->length};
    if (cell->kind == CSV_TEXT && !cell->quoted && !b->keeps_blanks &&
        !(c->forced && c->type == DN_TEXT)) {
        text = text_trim(text.bytes, text.n);
    }
    const bool staged = b->stage_takes[i] != STAGE_NONE && b->stage_takes[i] != STAGE_UNDECIDED;
    if (SCAN_UNLIKELY(c->mark == MARK_GROUPED)) {
        settle_grouped(b, i); /* the cells before decide what this one may be */
    }
    if (staged && cell->kind == CSV_TEXT &&
        missing_has(&b->missing, text_trim(text.bytes, text.n))) {
        *stage = (double)NAN;
        return BUILDER_WELL;
    }
    const bool marked =
        cell->kind != CSV_TEXT && builder_has_commas(b) && memchr(text.bytes, '.', text.n) != NULL;
    const enum builder_status status = cell->kind == CSV_TEXT || marked
                                           ? builder_text(b, i, text.bytes, text.n)
                                           : builder_number(b, i, cell->number, text.bytes, text.n);
    if (b->stage_takes[i] != STAGE_NONE && b->column[i].state == COLUMN_NUMBERS) {
        choose_takes(b, i, cell->kind);
    }
    return status;
}

static void settle(struct table_builder *b) {
    const uint64_t canonical = CSV_KIND_BIT(CSV_PADDED) - CSV_KIND_BIT(CSV_CANONICAL);
    b->take_canonical = true;
    for (size_t i = 0; i < b->n_columns && b->take_canonical; i++) {
        b->take_canonical = b->stage_takes[i] == canonical;
    }
    b->settled = true;
}

enum builder_status builder_csv_cells(struct table_builder *b, const struct csv_row *row,
                                      size_t *cell) {
    if (SCAN_UNLIKELY(b->stage == NULL) && !stage_make(b)) {
        return builder_no_memory(b);
    }
    double *stage = b->stage + b->staged * b->n_columns;
    if (!b->settled) {
        settle(b);
    }
    /* The fast path: a row of canonical numbers. */
    if ((row->common & CSV_CANONICAL) != 0 && b->take_canonical) {
        for (size_t i = 0; i < row->n_cells; i++) {
            stage[i] = row->cells[i].number;
        }
        *cell = row->n_cells;
        return BUILDER_WELL;
    }
    const struct csv_cell *cells = row->cells;
    const uint64_t *takes = b->stage_takes;
    for (size_t i = *cell, n = row->n_cells; i < n; i++) {
        if (SCAN_LIKELY(takes[i] >> cells[i].kind & 1)) {
            stage[i] = cells[i].number;
            continue;
        }
        const enum builder_status status = other_cell(b, i, row, &cells[i], &stage[i]);
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

/* Whether the open chunk is full when it has `rows` rows. */
static bool is_full(const struct table_builder *b, size_t rows) {
    return rows >= b->chunk_rows || rows * b->n_columns * 8 + b->string_bytes > BUILDER_CHUNK_BYTES;
}

bool builder_closes_first(const struct table_builder *b) {
    return b->n_chunks == 0 && is_full(b, b->rows + 1);
}

enum builder_status builder_row_end(struct table_builder *b) {
    b->n_rows++;
    b->rows++;
    if (b->broken) {
        return BUILDER_WELL;
    }
    return is_full(b, b->rows) ? builder_deliver(b) : BUILDER_WELL;
}
