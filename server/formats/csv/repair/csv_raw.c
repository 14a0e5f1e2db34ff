#include "formats/csv/repair/csv_raw.h"
#include "formats/csv/csv_text.h"
#include "formats/csv/repair/csv_align.h"

#include <stdio.h>
#include <string.h>

void csv_raw_init(struct csv_raw *r, const struct csv_dialect *dialect, size_t width, char comment,
                  int64_t skip, const struct csv_raw_handler *handler) {
    *r = (struct csv_raw){.handler = *handler,
                          .dialect = dialect,
                          .width = width,
                          .comment = comment,
                          .skip = skip,
                          .work = CSV_SPLIT_WORK,
                          .line = 1};
}

void csv_raw_done(struct csv_raw *r) {
    text_input_done(&r->in);
    csv_split_done(&r->split);
    csv_split_done(&r->spare);
    csv_split_done(&r->other);
}

static bool out_of_memory(struct csv_raw *r) {
    r->stopped = r->no_memory = true;
    return false;
}

static int64_t line_ends(const char *text, size_t n, size_t *last) {
    int64_t lines = 0;
    *last = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\n' || (text[i] == '\r' && text[i + 1] != '\n')) {
            lines++;
            *last = i + 1;
        }
    }
    return lines;
}

static bool fault(struct csv_raw *r, size_t at, const char *text) {
    size_t last = 0;
    const int64_t lines = line_ends(r->in.data + r->row, at - r->row, &last);
    r->stopped = true;
    if (r->handler.fault != NULL) {
        r->handler.fault(r->handler.arg, r->line + lines, (int64_t)(at - r->row - last) + 1, text);
    }
    return false;
}

/* Skips the rest of a comment or of one of the first lines. Returns false if more bytes are
 * needed. */
static bool skip_line(struct csv_raw *r, bool final) {
    const char *data = r->in.data;
    while (r->row < r->in.checked && data[r->row] != '\n' && data[r->row] != '\r') {
        r->row++;
    }
    if (r->row >= r->in.checked ||
        (data[r->row] == '\r' && r->row + 1 == r->in.checked && !final)) {
        return false;
    }
    r->row += data[r->row] == '\r' && r->row + 1 < r->in.checked && data[r->row + 1] == '\n';
    r->row++;
    r->line++;
    r->skip -= r->skip > 0;
    r->within = false;
    return true;
}

/* Skips a blank line. Returns false if the line is not blank, or may not be blank. */
static bool skip_blank(struct csv_raw *r, bool final) {
    const char *data = r->in.data;
    size_t at = r->row;
    while (at < r->in.checked && (data[at] == ' ' || data[at] == '\t') && r->width != 1 &&
           (r->dialect->run || csv_split_delimiter(r->dialect, data, r->in.checked, at) == 0)) {
        at++;
    }
    if (at >= r->in.checked) {
        r->row = final ? at : r->row;
        return final;
    }
    if ((data[at] != '\n' && data[at] != '\r') ||
        (data[at] == '\r' && at + 1 == r->in.checked && !final)) {
        return false;
    }
    r->row = at;
    r->blank = true;
    return skip_line(r, final);
}

/* Checks the limits of a row. */
static bool check_limits(struct csv_raw *r) {
    char text[80];
    if (r->split.size > TABLE_MAX_ROW) {
        return fault(r, r->row, "row is longer than 16 MiB");
    }
    for (size_t i = 0; i < r->split.n; i++) {
        const struct csv_piece *piece = &r->split.piece[i];
        if (piece->to - piece->from > TABLE_MAX_CELL) {
            snprintf(text, sizeof text, "cell is longer than %d bytes", TABLE_MAX_CELL);
            return fault(r, r->row + piece->at, text);
        }
    }
    return true;
}

/* Whether the row is written with another quote character although it has the expected number of
 * cells: all its cells are empty, numbers, or within this character, and one of these is in a
 * column of quoted cells. */
static bool is_wrapped(const struct csv_raw *r, char quote) {
    bool found = false;
    for (size_t i = 0; i < r->split.n; i++) {
        const struct csv_piece *piece = &r->split.piece[i];
        const struct text t = csv_split_trimmed(r->in.data + r->row, piece);
        const bool within = t.n > 1 && t.bytes[0] == quote && t.bytes[t.n - 1] == quote;
        if (piece->quoted || (t.n > 0 && !within && !csv_is_value(t))) {
            return false;
        }
        found = found || (within && csv_trait_is_quoted(&r->trait[i], 50));
    }
    return found;
}

/* Whether the character is a delimiter of a single row only if the cells fit their columns. */
static bool is_in_texts(char c) {
    return c == ' ' || c == ':' || c == '^' || c == '~';
}

/* Whether the way to divide a row with dialect d is better than r->split: it gives the expected
 * number of cells. Blanks and colons are in many texts: the cells must also fit their columns, or
 * quotes must show that blanks divide them. */
static bool is_better(const struct csv_raw *r, const struct csv_dialect *d) {
    const struct csv_split *s = &r->other;
    size_t quoted = 0;
    for (size_t i = 0; i < s->n; i++) {
        quoted += s->piece[i].quoted;
    }
    if (s->n != r->width || s->open + s->stray > 0) {
        return false;
    }
    if (d->quote != r->dialect->quote) {
        return quoted > 0;
    }
    if (r->line == r->head_line && d->delimiter[0] == r->head_delimiter) {
        return true;
    }
    return r->split.n < r->width && (r->split.n == 1 || r->width > 2) &&
           (!is_in_texts(d->delimiter[0]) || (quoted > 0 && r->split.n == 1 && !r->blank) ||
            csv_align_fits(r->trait, r->width, r->in.data + r->row, s));
}

/* Whether a character can be the quote or the delimiter of the row, which was divided in another
 * way. */
static bool is_candidate(const struct csv_raw *r, char c, bool quote) {
    if ((!quote && r->split.n == r->width) ||
        memchr(r->in.data + r->row, c, r->split.size) == NULL) {
        return false;
    }
    if (quote) {
        return r->split.n != r->width || is_wrapped(r, c);
    }
    return !is_in_texts(c) || (r->trait != NULL && !r->dialect->run);
}

/* Tries other delimiters and quote characters for a row that does not have the expected number of
 * cells, or whose quotes are other ones. */
static enum csv_split_status try_others(struct csv_raw *r, size_t n, bool final,
                                        const struct csv_dialect **dialect) {
    static const char quotes[] = "'`", others[] = "'`,;\t| :^~";
    for (size_t i = 0; i < sizeof others - 1; i++) {
        struct csv_dialect d = *r->dialect;
        const bool quote = i < sizeof quotes - 1;
        char c = others[i];
        if (quote) {
            c = d.quote == c ? '"' : c;
            d.quote = c;
        } else {
            d.delimiter[0] = c;
            d.n = 1;
            d.run = false;
        }
        if (!is_candidate(r, c, quote)) {
            continue;
        }
        const enum csv_split_status status =
            csv_split_row(&d, r->in.data + r->row, n, final, r->width, &r->work, &r->other,
                          &r->spare);
        if (status == CSV_SPLIT_MORE || status == CSV_SPLIT_NO_MEMORY) {
            return status;
        }
        if (status == CSV_SPLIT_WHOLE && is_better(r, &d)) {
            const struct csv_split swap = r->split;
            r->split = r->other;
            r->other = swap;
            r->row_dialect = d;
            *dialect = &r->row_dialect;
            break;
        }
    }
    return CSV_SPLIT_WHOLE;
}

/* Whether the delimiter before or behind a quoted cell may be missing in the row. */
static bool may_join(const struct csv_raw *r) {
    const char *bytes = r->in.data + r->row;
    const struct csv_split *s = &r->split;
    if (r->trait == NULL || r->dialect->run || r->dialect->delimiter[0] == '\t' ||
        r->dialect->quote == '\0' || r->dialect->escape != '\0' ||
        memchr(bytes, r->dialect->quote, s->size) == NULL) {
        return false;
    }
    bool found = s->open > 0 || (s->stray > 0 && s->n != r->width);
    for (size_t i = 0; i < s->n && !found; i++) {
        found = csv_piece_is_marked(r->dialect, bytes, &s->piece[i]);
    }
    return found;
}

/* Whether the row is better read with one cell less, because the delimiter before or behind a
 * quoted cell is missing: its quotes enclose delimiters or line ends, as other cells of its column do. */
static bool is_joined(const struct csv_raw *r) {
    const char *bytes = r->in.data + r->row;
    const struct csv_split *s = &r->other;
    if (s->n == 0 || s->n + 1 != r->width || s->stray != 1) {
        return false;
    }
    size_t at = 0;
    while (!s->piece[at].stray) {
        at++;
    }
    bool holds = s->piece[at].lines;
    for (size_t i = s->piece[at].from; i < s->piece[at].to && !holds; i++) {
        holds = csv_split_delimiter(r->dialect, bytes, s->piece[at].to, i) > 0;
    }
    const struct csv_trait *t = &r->trait[at];
    return holds && t[0].holds + t[1].holds > 0 && t[0].marks < 2;
}

/* Tries to read a row without the delimiter before or behind a quoted cell. */
static enum csv_split_status try_joined(struct csv_raw *r, size_t n, bool final, bool *joined) {
    if (!may_join(r)) {
        return CSV_SPLIT_WHOLE;
    }
    const enum csv_split_status status =
        csv_split_joined(r->dialect, r->in.data + r->row, n, final, r->width, &r->work, &r->other);
    *joined = status == CSV_SPLIT_WHOLE && is_joined(r);
    if (*joined) {
        const struct csv_split swap = r->split;
        r->split = r->other;
        r->other = swap;
    }
    return status;
}

/* Reads a row. Returns false if more bytes are needed, or reading stopped. */
static bool read_row(struct csv_raw *r, bool final) {
    const size_t n = r->in.checked - r->row, work = r->work;
    size_t last = 0;
    bool joined = false;
    char text[80];
    if (!final && n < r->tried + r->tried / 2) {
        return false;
    }
    const struct csv_dialect *dialect = r->dialect;
    enum csv_split_status status = csv_split_row(dialect, r->in.data + r->row, n, final, r->width,
                                                 &r->work, &r->split, &r->spare);
    if (status == CSV_SPLIT_WHOLE && r->width > 1 && (r->split.n != r->width || r->trait != NULL)) {
        status = try_others(r, n, final, &dialect);
    }
    if (status == CSV_SPLIT_WHOLE && r->width > 1 && dialect == r->dialect) {
        status = try_joined(r, n, final, &joined);
    }
    switch (status) {
    case CSV_SPLIT_NO_MEMORY:
        return out_of_memory(r);
    case CSV_SPLIT_TOO_MANY:
        snprintf(text, sizeof text, "row has more than %d cells", CSV_SPLIT_CELLS);
        return fault(r, r->row, text);
    case CSV_SPLIT_MORE:
        r->tried = n;
        r->work = work;
        /* a search for a closing quote goes TABLE_MAX_CELL bytes beyond the row */
        if (n > (size_t)2 * TABLE_MAX_ROW) {
            fault(r, r->row, "row is longer than 16 MiB");
        }
        return false;
    case CSV_SPLIT_WHOLE:
        break;
    }
    if (!check_limits(r)) {
        return false;
    }
    const char *bytes = r->in.data + r->row;
    const struct csv_raw_row row = {.bytes = bytes,
                                    .split = &r->split,
                                    .dialect = dialect,
                                    .joined = joined,
                                    .line = r->line,
                                    .last = r->line + line_ends(bytes, r->split.size, &last),
                                    .blank = r->blank};
    if (!r->handler.row(r->handler.arg, &row)) {
        r->stopped = true;
        return false;
    }
    r->line = row.last + (r->split.next > r->split.size);
    r->row += r->split.next;
    r->work += CSV_SPLIT_WORK_BYTE * r->split.next;
    r->work = r->work < CSV_SPLIT_WORK ? r->work : CSV_SPLIT_WORK;
    r->tried = 0;
    r->blank = false;
    return true;
}

/* Reads the checked bytes. */
static void drain(struct csv_raw *r, bool final) {
    bool go_on = true;
    while (go_on && !r->stopped && r->row < r->in.checked) {
        if (!r->within && r->skip == 0 && r->comment != '\0' && r->in.data[r->row] == r->comment) {
            r->comments++;
            r->within = true;
        }
        if (r->within || r->skip > 0) {
            go_on = skip_line(r, final);
        } else if (!skip_blank(r, final)) {
            go_on = read_row(r, final);
        }
    }
    if (!r->stopped && r->row > 0) {
        text_input_drop(&r->in, r->row);
        r->row = 0;
    }
}

static void take(struct csv_raw *r, const char *bytes, size_t n, bool final) {
    if (!text_input_append(&r->in, bytes, n)) {
        out_of_memory(r);
        return;
    }
    if (!r->in.started) {
        if (!text_input_start(&r->in, final)) {
            return;
        }
        r->row = r->in.checked;
    }
    const char *wrong = text_input_check(&r->in, final);
    drain(r, final && wrong == NULL);
    if (!r->stopped && wrong != NULL) {
        fault(r, r->in.checked, wrong);
    }
}

bool csv_raw_feed(struct csv_raw *r, const char *bytes, size_t n) {
    while (n > 0 && !r->stopped) {
        const size_t size = n < TEXT_INPUT_SLICE ? n : TEXT_INPUT_SLICE;
        take(r, bytes, size, false);
        bytes += size;
        n -= size;
    }
    return !r->stopped;
}

bool csv_raw_end(struct csv_raw *r) {
    if (!r->stopped) {
        take(r, "", 0, true);
    }
    return !r->stopped;
}

bool csv_raw_sample(const struct csv_sample *sample, const struct csv_dialect *dialect,
                    size_t width, const struct csv_raw_handler *handler) {
    struct csv_raw raw;
    csv_raw_init(&raw, dialect, width, sample->comment, sample->skip, handler);
    if (csv_raw_feed(&raw, sample->bytes, sample->n) && sample->whole) {
        csv_raw_end(&raw);
    }
    const bool well = !raw.no_memory;
    csv_raw_done(&raw);
    return well;
}

void csv_raw_count(const struct csv_raw_row *row, size_t *filled, size_t *values) {
    *filled = *values = 0;
    for (size_t i = 0; i < row->split->n; i++) {
        const struct text text = csv_split_trimmed(row->bytes, &row->split->piece[i]);
        *filled += text.n > 0;
        *values += csv_is_value(text);
    }
}
