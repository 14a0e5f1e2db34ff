/* Writes rows of stored tables as JSON objects. */
#include "base/json/json_write.h"
#include "formats/formats.h"
#include "formats/json/format_json.h"
#include "formats/text/view_cell.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_json_cell(const dn_column_view *view, size_t row, struct buf *out) {
    char room[DN_NUMBER_SIZE];
    struct text text;
    if (view->type == DN_NUMERIC) {
        json_double_write(view->number[row], out); /* null if missing */
    } else if (!view_cell(view, row, room, &text)) {
        buf_puts(out, "null");
    } else if (view_has_strings(view)) {
        json_escape(out, text.bytes, text.n);
    } else {
        buf_append(out, text.bytes, text.n);
    }
}

/* keys: the texts `"name":` of all columns, one after the other. key_end[j]: offset after the key
 * of column j. */
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

void sparse_rows_write(const struct sparse_rows *rows, size_t n, bool begun, struct buf *out) {
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
                json_double_write(rows->entries->number[k], out);
            }
        }
        buf_putc(out, '}');
    }
    out->failed |= name.failed;
    buf_done(&name);
}

/* lines: each row is a line; otherwise commas separate the rows. */
static void put_json_rows(bool lines, const dn_column_view *views, const char *const *names,
                          size_t n_columns, size_t first, size_t n, bool begun, struct buf *out) {
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
        if (!lines && (begun || i > first)) {
            buf_putc(out, ',');
        }
        put_json_row(views, &keys, key_end, n_columns, i, out);
        if (lines) {
            buf_putc(out, '\n');
        }
    }
    free(key_end);
    buf_done(&keys);
}

static void json_rows(const dn_column_view *views, const char *const *names, size_t n_columns,
                      size_t first, size_t n, bool begun, struct buf *out) {
    put_json_rows(false, views, names, n_columns, first, n, begun, out);
}

static void ndjson_rows(const dn_column_view *views, const char *const *names, size_t n_columns,
                        size_t first, size_t n, bool begun, struct buf *out) {
    put_json_rows(true, views, names, n_columns, first, n, begun, out);
}

const struct rows_writer json_rows_writer = {.document = true, .rows = json_rows};
const struct rows_writer ndjson_rows_writer = {.rows = ndjson_rows};
