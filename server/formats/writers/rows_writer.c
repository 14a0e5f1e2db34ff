/* Rows of stored tables as JSON objects, NDJSON, CSV and TSV. */
#include "base/json_write.h"
#include "formats/formats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_number(double x, struct buf *out) {
    if (buf_reserve(out, DN_NUMBER_SIZE)) {
        out->size += dn_number_format(x, out->data + out->size);
    }
}

/* String i of a view, not NUL-terminated; "" for an empty list. */
static const char *string_at(const dn_column_view *view, uint32_t code, size_t *n) {
    const uint32_t from = view->strings.start[code];
    *n = view->strings.start[code + 1] - from;
    return *n > 0 ? view->strings.bytes + from : "";
}

/* ---- CSV ---- */
/* Quoted when it must be, and when spaces at its ends could be lost on the way. */
static bool needs_quotes(const char *text, size_t n, char delimiter) {
    if (n == 0) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (text[i] == delimiter || text[i] == '"' || text[i] == '\n' || text[i] == '\r') {
            return true;
        }
    }
    return text[0] == ' ' || text[0] == '\t' || text[n - 1] == ' ' || text[n - 1] == '\t';
}

static void put_text(const char *text, size_t n, bool quoted, char delimiter, struct buf *out) {
    if (!quoted && !needs_quotes(text, n, delimiter)) {
        buf_append(out, text, n);
        return;
    }
    buf_putc(out, '"');
    for (size_t i = 0; i < n;) {
        const char *quote = memchr(text + i, '"', n - i);
        const size_t upto = quote != NULL ? (size_t)(quote - text) + 1 : n;
        buf_append(out, text + i, upto - i);
        if (quote != NULL) {
            buf_putc(out, '"');
        }
        i = upto;
    }
    buf_putc(out, '"');
}

void wire_csv_text(const char *text, size_t n, char delimiter, struct buf *out) {
    put_text(text, n, false, delimiter, out);
}

static void put_csv_cell(const dn_column_view *view, size_t row, char delimiter, struct buf *out) {
    size_t n = 0;
    switch (view->type) {
    case DN_NUMERIC:
        if (!isnan(view->number[row])) {
            put_number(view->number[row], out);
        }
        return;
    case DN_BOOLEAN:
        if (!isnan(view->number[row])) {
            buf_puts(out, view->number[row] != 0 ? "true" : "false");
        }
        return;
    case DN_CATEGORICAL:
    case DN_TEXT:
        if (view->code[row] != DN_CODE_MISSING) {
            const char *text = string_at(view, view->code[row], &n);
            wire_csv_text(text, n, delimiter, out);
        }
        return;
    case DN_SPARSE: /* has no cells */
        return;
    }
}

static void put_csv_row(const dn_column_view *views, size_t n_columns, size_t row, char delimiter,
                        struct buf *out) {
    const size_t before = out->size;
    for (size_t j = 0; j < n_columns; j++) {
        if (j > 0) {
            buf_putc(out, delimiter);
        }
        put_csv_cell(&views[j], row, delimiter, out);
    }
    if (out->size == before) {
        buf_puts(out, "\"\""); /* the one cell is missing: an empty line would be none */
    }
    buf_putc(out, '\n');
}

void wire_csv_header(const char *const *names, size_t n_columns, char delimiter, struct buf *out) {
    for (size_t j = 0; j < n_columns; j++) {
        if (j > 0) {
            buf_putc(out, delimiter);
        }
        const bool alone =
            n_columns == 1 &&
            strpbrk(names[j], ",;\t|") != NULL; /* nothing else tells that these separate nothing */
        put_text(names[j], strlen(names[j]), alone, delimiter, out);
    }
    buf_putc(out, '\n');
}

/* ---- JSON ---- */
static void put_json_cell(const dn_column_view *view, size_t row, struct buf *out) {
    size_t n = 0;
    switch (view->type) {
    case DN_NUMERIC:
        put_number(view->number[row], out); /* NaN is null */
        return;
    case DN_BOOLEAN:
        buf_puts(out, isnan(view->number[row]) ? "null"
                      : view->number[row] != 0 ? "true"
                                               : "false");
        return;
    case DN_CATEGORICAL:
    case DN_TEXT:
        if (view->code[row] == DN_CODE_MISSING) {
            buf_puts(out, "null");
        } else {
            const char *text = string_at(view, view->code[row], &n);
            json_escape(out, text, n);
        }
        return;
    case DN_SPARSE: /* has no cells */
        return;
    }
}

/* keys: `"name":` of each column, one after the other; key_end[j]: where that of column j ends. */
static void put_json_row(const dn_column_view *views, const struct buf *keys, const size_t *key_end,
                         size_t n_columns, size_t row, struct buf *out) {
    buf_putc(out, '{');
    for (size_t j = 0; j < n_columns; j++) {
        const size_t from = j > 0 ? key_end[j - 1] : 0;
        if (j > 0) {
            buf_putc(out, ',');
        }
        buf_append(out, keys->data + from, key_end[j] - from);
        put_json_cell(&views[j], row, out);
    }
    buf_putc(out, '}');
}

void wire_sparse_rows_write(const struct wire_sparse_rows *rows, size_t n, bool begun,
                            struct buf *out) {
    struct buf name = {0};
    for (size_t i = 0; i < n; i++) {
        buf_puts(out, begun || i > 0 ? ",{" : "{");
        json_escape(out, rows->label_name, strlen(rows->label_name));
        buf_putc(out, ':');
        put_json_cell(rows->label, i, out);
        for (size_t k = rows->entries->row_start[i]; k < rows->entries->row_start[i + 1]; k++) {
            if (rows->entries->number[k] != 0) {
                buf_clear(&name);
                buf_printf(&name, "%s%" PRIu64, rows->name,
                           (uint64_t)rows->first_index + rows->entries->index[k]);
                buf_putc(out, ',');
                json_escape(out, name.data, name.size);
                buf_putc(out, ':');
                put_number(rows->entries->number[k], out);
            }
        }
        buf_putc(out, '}');
    }
    out->failed |= name.failed;
    buf_done(&name);
}

static void put_json_rows(enum wire_row_format format, const dn_column_view *views,
                          const char *const *names, size_t n_columns, size_t first, size_t n,
                          bool begun, struct buf *out) {
    struct buf keys = {0};
    size_t *key_end = malloc((n_columns > 0 ? n_columns : 1) * sizeof *key_end);
    for (size_t j = 0; key_end != NULL && j < n_columns; j++) {
        json_escape(&keys, names[j], strlen(names[j]));
        buf_putc(&keys, ':');
        key_end[j] = keys.size;
    }
    if (key_end == NULL || keys.failed) {
        out->failed = true;
    }
    for (size_t i = first; i < first + n && !out->failed; i++) {
        if (format == WIRE_ROWS_JSON && (begun || i > first)) {
            buf_putc(out, ',');
        }
        put_json_row(views, &keys, key_end, n_columns, i, out);
        if (format == WIRE_ROWS_NDJSON) {
            buf_putc(out, '\n');
        }
    }
    free(key_end);
    buf_done(&keys);
}

void wire_rows_write(enum wire_row_format format, const dn_column_view *views,
                     const char *const *names, size_t n_columns, size_t first, size_t n, bool begun,
                     struct buf *out) {
    const char delimiter = format == WIRE_ROWS_TSV ? '\t' : ',';
    if (format != WIRE_ROWS_CSV && format != WIRE_ROWS_TSV) {
        put_json_rows(format, views, names, n_columns, first, n, begun, out);
        return;
    }
    for (size_t i = first; i < first + n; i++) {
        put_csv_row(views, n_columns, i, delimiter, out);
    }
}
