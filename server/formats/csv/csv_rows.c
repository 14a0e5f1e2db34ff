/* Writes rows of stored tables as separated text. */
#include "formats/csv/format_csv.h"
#include "formats/formats.h"
#include "formats/text/view_cell.h"

#include <string.h>

/* Whether a text must be quoted: it has a special character, or it begins or ends with a blank,
 * which other readers may remove. */
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

void csv_text_write(const char *text, size_t n, char delimiter, struct buf *out) {
    put_text(text, n, false, delimiter, out);
}

static void put_csv_cell(const dn_column_view *view, size_t row, char delimiter, struct buf *out) {
    char room[DN_NUMBER_SIZE];
    struct text text;
    if (!view_cell(view, row, room, &text)) {
        return;
    }
    if (view_has_strings(view)) {
        csv_text_write(text.bytes, text.n, delimiter, out);
    } else {
        buf_append(out, text.bytes, text.n);
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
        /* the only cell is missing; readers skip an empty line */
        buf_puts(out, "\"\"");
    }
    buf_putc(out, '\n');
}

static void put_header(const char *const *names, size_t n_columns, char delimiter,
                       struct buf *out) {
    for (size_t j = 0; j < n_columns; j++) {
        if (j > 0) {
            buf_putc(out, delimiter);
        }
        /* if there is only one name, a comma, semicolon, tab, | or blank in it could be taken for
         * the delimiter */
        const bool alone = n_columns == 1 && strpbrk(names[j], ",;\t| ") != NULL;
        put_text(names[j], strlen(names[j]), alone, delimiter, out);
    }
    buf_putc(out, '\n');
}

static void put_rows(const dn_column_view *views, size_t n_columns, size_t first, size_t n,
                     char delimiter, struct buf *out) {
    for (size_t i = first; i < first + n; i++) {
        put_csv_row(views, n_columns, i, delimiter, out);
    }
}

static void csv_header(const char *const *names, size_t n_columns, struct buf *out) {
    put_header(names, n_columns, ',', out);
}

static void tsv_header(const char *const *names, size_t n_columns, struct buf *out) {
    put_header(names, n_columns, '\t', out);
}

static void csv_rows(const dn_column_view *views, const char *const *names, size_t n_columns,
                     size_t first, size_t n, bool begun, struct buf *out) {
    (void)names;
    (void)begun;
    put_rows(views, n_columns, first, n, ',', out);
}

static void tsv_rows(const dn_column_view *views, const char *const *names, size_t n_columns,
                     size_t first, size_t n, bool begun, struct buf *out) {
    (void)names;
    (void)begun;
    put_rows(views, n_columns, first, n, '\t', out);
}

const struct rows_writer csv_rows_writer = {.header = csv_header, .rows = csv_rows};
const struct rows_writer tsv_rows_writer = {.header = tsv_header, .rows = tsv_rows};
