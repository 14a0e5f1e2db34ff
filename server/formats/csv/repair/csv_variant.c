#include "formats/csv/repair/csv_variant.h"
#include "base/memory/array.h"
#include "formats/csv/repair/csv_dialect.h"
#include "formats/text/scan.h"

#include <stdlib.h>
#include <string.h>

bool csv_variant_dialect(struct text delimiter, struct text quote, struct text escape,
                         struct csv_dialect *out) {
    *out = (struct csv_dialect){0};
    if (delimiter.n < 1 || delimiter.n > CSV_DIALECT_DELIMITER || quote.n > 1 || escape.n > 1) {
        return false;
    }
    out->n = (uint8_t)delimiter.n;
    memcpy(out->delimiter, delimiter.bytes, delimiter.n);
    out->run = delimiter.n == 1 && delimiter.bytes[0] == CSV_BLANKS;
    out->quote = quote.n > 0 ? quote.bytes[0] : '"';
    out->escape = escape.n > 0 ? escape.bytes[0] : '\0';
    return true;
}

bool csv_variant_needed(const struct csv_dialect *d) {
    return d->n > 1 || (d->n > 0 && (d->quote != '"' || d->escape != '\0'));
}

/* ---- rows ---- */
static void tell_fault(struct csv_variant *v, const struct csv_raw_row *row,
                       const struct csv_piece *piece) {
    const struct csv_row place = {.bytes = row->bytes, .line = row->line};
    int64_t line = 0, column = 0;
    csv_row_place(&place, piece->at, &line, &column);
    v->handler.fault(v->handler.arg, line, column, false,
                     piece->open ? "a quote is not closed"
                                 : "a quote within a quoted cell is neither doubled nor escaped");
}

static void put_cell(struct csv_variant *v, const struct csv_raw_row *row,
                     const struct csv_piece *piece, struct csv_cell *cell) {
    *cell = (struct csv_cell){.start = (uint32_t)piece->from,
                              .length = (uint32_t)(piece->to - piece->from),
                              .at = (uint32_t)piece->at,
                              .kind = CSV_TEXT,
                              .quoted = piece->quoted};
    unsigned written = 0;
    if (piece->escaped) {
        cell->is_aside = true;
        cell->start = (uint32_t)v->aside.size;
        csv_split_text(row->dialect, row->bytes, piece, &v->aside);
        cell->length = (uint32_t)(v->aside.size - cell->start);
    } else if (!piece->quoted && cell->length > 0 &&
               scan_number(row->bytes + piece->from, &cell->number, &written) == cell->length) {
        cell->kind = (uint8_t)written;
    }
}

static bool on_raw(void *arg, const struct csv_raw_row *row) {
    struct csv_variant *v = arg;
    const size_t n = row->split->n;
    struct csv_row out = {.bytes = row->bytes,
                          .n_cells = n,
                          .common = ~0u,
                          .size = row->split->size,
                          .line = row->line};
    while (n > v->capacity) {
        if (!array_grow(&v->cells, &v->capacity, 64, sizeof *v->cells)) {
            v->no_memory = true;
            return false;
        }
    }
    v->aside.size = 0;
    for (size_t i = 0; i < n; i++) {
        const struct csv_piece *piece = &row->split->piece[i];
        put_cell(v, row, piece, &v->cells[i]);
        out.common &= v->cells[i].kind;
        if ((piece->open || piece->stray) && v->handler.fault != NULL) {
            tell_fault(v, row, piece);
        }
    }
    v->no_memory = v->aside.failed;
    out.aside = v->aside.data != NULL ? v->aside.data : "";
    out.cells = v->cells;
    return !v->no_memory && v->handler.row(v->handler.arg, &out);
}

static void on_fault(void *arg, int64_t line, int64_t column, const char *text) {
    struct csv_variant *v = arg;
    if (v->handler.fault != NULL) {
        v->handler.fault(v->handler.arg, line, column, true, text);
    }
}

void csv_variant_init(struct csv_variant *v, const struct csv_dialect *dialect, char comment,
                      int64_t skip, const struct csv_handler *handler) {
    *v = (struct csv_variant){.dialect = *dialect, .handler = *handler};
    csv_raw_init(&v->raw, &v->dialect, 0, comment, skip,
                 &(struct csv_raw_handler){.row = on_raw, .fault = on_fault, .arg = v});
}

void csv_variant_done(struct csv_variant *v) {
    csv_raw_done(&v->raw);
    free(v->cells);
    buf_done(&v->aside);
}

bool csv_variant_feed(struct csv_variant *v, const char *bytes, size_t n) {
    const bool well = csv_raw_feed(&v->raw, bytes, n);
    v->no_memory |= v->raw.no_memory;
    return well;
}

bool csv_variant_end(struct csv_variant *v) {
    const bool well = csv_raw_end(&v->raw);
    v->no_memory |= v->raw.no_memory;
    return well;
}

bool csv_variant_sample(const struct csv_sample *sample, const void *arg,
                        const struct csv_handler *handler, size_t *unfinished) {
    struct csv_variant v;
    csv_variant_init(&v, arg, sample->comment, sample->skip, handler);
    if (csv_variant_feed(&v, sample->bytes, sample->n) && sample->whole) {
        csv_variant_end(&v);
    }
    if (unfinished != NULL) {
        *unfinished = 1;
    }
    csv_variant_done(&v);
    return !v.no_memory;
}

struct csv_sample csv_variant_by(const struct csv_sample *sample, const struct csv_dialect *d) {
    struct csv_sample by = *sample;
    by.rows = csv_variant_sample;
    by.arg = d;
    return by;
}

/* ---- which dialect ---- */
struct csv_dialect csv_variant_with(const struct csv_dialect *d, char delimiter) {
    struct csv_dialect with = *d;
    with.quote = d->n == 0 ? '"' : d->quote;
    if (delimiter != '\0' && (d->n == 0 || delimiter != csv_dialect_char(d))) {
        memset(with.delimiter, 0, sizeof with.delimiter);
        with.delimiter[0] = delimiter;
        with.n = 1;
        with.run = delimiter == CSV_BLANKS;
    }
    return with;
}
static bool measure_row(void *arg, const struct csv_raw_row *row) {
    struct csv_variant_fit *fit = arg;
    const struct csv_split *split = row->split;
    fit->cells = fit->rows == 0 ? split->n : fit->cells;
    fit->even += split->n == fit->cells;
    fit->faults += split->open + split->stray;
    for (size_t i = 0; i < split->n; i++) {
        fit->quoted += split->piece[i].quoted;
    }
    return ++fit->rows < CSV_SNIFF_ROWS;
}

bool csv_variant_measure(const struct csv_sample *sample, const struct csv_dialect *d,
                         struct csv_variant_fit *out) {
    *out = (struct csv_variant_fit){0};
    return csv_raw_sample(sample, d, 0, &(struct csv_raw_handler){.row = measure_row, .arg = out});
}

bool csv_variant_better(const struct csv_variant_fit *variant,
                        const struct csv_variant_fit *usual) {
    if (variant->fits != usual->fits) {
        return variant->fits;
    }
    /* the products are at most 1,000 × 1,000 */
    const size_t a = variant->even * usual->rows, b = usual->even * variant->rows;
    return a != b                             ? a > b
           : variant->quoted != usual->quoted ? variant->quoted > usual->quoted
                                              : variant->faults <= usual->faults;
}
