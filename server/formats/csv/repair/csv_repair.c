#include "formats/csv/repair/csv_repair.h"
#include "base/memory/array.h"
#include "formats/text/scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reports ---- */
static void report(struct csv_repair *r, enum csv_repair_kind kind, int64_t line, int64_t last,
                   int64_t column, const char *text) {
    if (r->handler.repaired != NULL) {
        r->handler.repaired(r->handler.rows.arg, kind, line, last, column, text);
    }
}

/* Reports the repair of a cell, whose text is shown. */
static void report_cell(struct csv_repair *r, enum csv_repair_kind kind,
                        const struct csv_raw_row *row, const struct csv_piece *piece,
                        const char *what) {
    char text[160], shown[TEXT_SHOWN];
    if (r->handler.repaired == NULL) {
        return;
    }
    const struct csv_row place = {.bytes = row->bytes, .line = row->line};
    int64_t line = 0, column = 0;
    csv_row_place(&place, piece->at, &line, &column);
    snprintf(text, sizeof text, "%s: %s", what,
             text_show(row->bytes + piece->from, piece->to - piece->from, shown));
    report(r, kind, line, 0, column, text);
}

static void report_lines(struct csv_repair *r, enum csv_repair_kind kind, int64_t from, int64_t to,
                         const char *what) {
    char text[120];
    if (from == to) {
        snprintf(text, sizeof text, "line %" PRId64 " %s", from, what);
    } else {
        snprintf(text, sizeof text, "lines %" PRId64 " to %" PRId64 " %s", from, to, what);
    }
    report(r, kind, from, to, 1, text);
}

/* Reports the preamble once it has ended. */
static void end_preamble(struct csv_repair *r) {
    if (r->preamble > 0) {
        report_lines(r, CSV_REPAIR_PREAMBLE, r->preamble, r->preamble_end,
                     "before the table left out");
        r->preamble = 0;
    }
}

/* ---- cells ---- */
static struct csv_cell *new_cell(struct csv_repair *r, size_t i) {
    while (i >= r->capacity) {
        if (!array_grow(&r->cells, &r->capacity, 64, sizeof *r->cells)) {
            r->no_memory = true;
            return NULL;
        }
    }
    return &r->cells[i];
}

static void aside_begin(struct csv_repair *r, struct csv_cell *cell) {
    cell->is_aside = true;
    cell->start = (uint32_t)r->aside.size;
}
static void aside_end(struct csv_repair *r, struct csv_cell *cell) {
    cell->length = (uint32_t)(r->aside.size - cell->start);
}

/* Sets the text of a cell whose quotes are doubled, because it lost its opening or closing
 * quote. */
static void put_quoted(struct csv_repair *r, const struct csv_raw_row *row, size_t from, size_t to,
                       struct csv_cell *cell) {
    const struct csv_piece piece = {.from = from, .to = to, .quoted = true};
    aside_begin(r, cell);
    csv_split_text(row->dialect, row->bytes, &piece, &r->aside);
    aside_end(r, cell);
}

/* Whether the text of the column is written in quotes, as far as the sample shows. */
static bool column_is_quoted(const struct csv_plan *p, size_t i, uint32_t percent) {
    return i < p->width && p->trait[i].cells > p->trait[i].empty &&
           csv_trait_is_quoted(&p->trait[i], percent);
}

/* Whether the opening quote of an unquoted cell is missing: the cell ends with a quote that has no
 * partner, and other cells of the column are quoted, or the cell has doubled quotes. */
static bool lost_opening(const struct csv_repair *r, const char *bytes,
                         const struct csv_piece *piece, size_t i) {
    const char quote = r->plan->dialect.quote;
    size_t n = 0, pairs = 0;
    if (quote == '\0' || bytes[piece->to - 1] != quote || r->plan->dialect.delimiter[0] == '\t') {
        return false;
    }
    for (size_t at = piece->from; at < piece->to; at++) {
        n += bytes[at] == quote;
        pairs += at > piece->from && bytes[at] == quote && bytes[at - 1] == quote;
    }
    return n % 2 == 1 && (pairs > 0 || (n == 1 && column_is_quoted(r->plan, i, 90)));
}

/* Reads a piece as the cell of column i. */
static void put_cell(struct csv_repair *r, const struct csv_raw_row *row,
                     const struct csv_piece *piece, size_t i, struct csv_cell *cell) {
    const struct csv_dialect *d = row->dialect;
    *cell = (struct csv_cell){.start = (uint32_t)piece->from,
                              .length = (uint32_t)(piece->to - piece->from),
                              .at = (uint32_t)piece->at,
                              .kind = CSV_TEXT,
                              .quoted = piece->quoted};
    if (piece->escaped) {
        aside_begin(r, cell);
        csv_split_text(d, row->bytes, piece, &r->aside);
        aside_end(r, cell);
    }
    if (piece->stray) {
        report_cell(r, CSV_REPAIR_STRAY, row, piece, "a quote is part of the cell");
    }
    if (piece->quoted && piece->from > piece->at + 1) {
        report_cell(r, CSV_REPAIR_STRAY, row, piece, "blanks before the quotes were left out");
    }
    if (piece->open) {
        const bool tabs = d->delimiter[0] == '\t'; /* such a quote is no fault, as in csv.h */
        bool literal = i < r->plan->width && r->plan->trait[i].cells > 0 &&
                       !column_is_quoted(r->plan, i, 50) && !piece->escaped;
        for (size_t at = piece->from; at < piece->to && literal; at++) {
            const bool pair =
                at + 1 < piece->to && row->bytes[at] == d->quote && row->bytes[at + 1] == d->quote;
            literal = !pair && (d->run || csv_split_delimiter(d, row->bytes, piece->to, at) == 0);
        }
        literal = literal || (tabs && !piece->escaped);
        cell->start -= literal;
        cell->length += literal;
        if (!literal && !piece->escaped) {
            put_quoted(r, row, piece->from, piece->to, cell);
        }
        if (!tabs) {
            report_cell(r, CSV_REPAIR_OPEN, row, piece,
                        literal ? "the quote is part of the cell" : "the quote was not closed");
        }
    } else if (!piece->quoted && !piece->escaped && cell->length > 0) {
        const char *text = row->bytes + piece->from;
        unsigned written = 0;
        if (scan_number(text, &cell->number, &written) == cell->length) {
            cell->kind = (uint8_t)written;
        } else if (lost_opening(r, row->bytes, piece, i)) {
            put_quoted(r, row, piece->from, piece->to - 1, cell);
            cell->quoted = true;
            report_cell(r, CSV_REPAIR_OPEN, row, piece, "the opening quote is missing");
        }
    }
}

static size_t count_quotes(struct text t, char quote) {
    size_t n = 0;
    for (size_t i = 0; i < t.n; i++) {
        n += t.bytes[i] == quote;
    }
    return n;
}

/* Joins `extra` pieces to piece `at`, with what is between them. */
static void put_joined(struct csv_repair *r, const struct csv_raw_row *row, size_t at, size_t extra,
                       struct csv_cell *cell) {
    const struct csv_piece *first = &row->split->piece[at], *last = first + extra;
    const char quote = row->dialect->quote;
    const size_t end = last->to + last->quoted, begin = first->open ? first->from : first->at;
    struct text t = text_trim(row->bytes + begin, end - begin);
    bool doubled = first->open;
    if (quote != '\0' && t.n > 1) {
        const bool begins = first->open || t.bytes[0] == quote, ends = t.bytes[t.n - 1] == quote;
        if (begins && !first->open && ends) {
            t.bytes++;
            t.n -= 2;
        } else if (ends && !last->quoted) {
            t.n--;
            doubled = true;
        } else if (begins && !first->open && count_quotes(t, quote) % 2 == 1) {
            t.bytes++; /* the closing quote is missing */
            t.n--;
            doubled = true;
        }
    }
    *cell = (struct csv_cell){.at = (uint32_t)first->at, .kind = CSV_TEXT, .quoted = true};
    if (doubled) {
        put_quoted(r, row, (size_t)(t.bytes - row->bytes), (size_t)(t.bytes - row->bytes) + t.n,
                   cell);
    } else {
        aside_begin(r, cell);
        buf_append(&r->aside, t.bytes, t.n);
        aside_end(r, cell);
    }
    const struct csv_piece shown = {.at = first->at,
                                    .from = (size_t)(t.bytes - row->bytes),
                                    .to = (size_t)(t.bytes - row->bytes) + t.n};
    report_cell(r, CSV_REPAIR_JOINED, row, &shown, "surplus cells were joined");
}

/* Sets the cells of a row as the alignment says, and reports its repair. head: a cell that is added
 * is a name. Returns false if out of memory. */
static bool put_cells(struct csv_repair *r, const struct csv_raw_row *row,
                      const struct csv_align *a, bool head) {
    const size_t width = r->plan->width, end = row->split->size;
    size_t from = 0; /* the next piece */
    char text[96];
    if (row->dialect->quote != r->plan->dialect.quote) {
        snprintf(text, sizeof text, "the quote character of the row is %c", row->dialect->quote);
        report(r, CSV_REPAIR_QUOTE, row->line, 0, 1, text);
    } else if (row->dialect->delimiter[0] != r->plan->dialect.delimiter[0]) {
        char shown[TEXT_SHOWN];
        snprintf(text, sizeof text, "the delimiter of the row is %s",
                 text_show(row->dialect->delimiter, 1, shown));
        report(r, CSV_REPAIR_DELIMITER, row->line, 0, 1, text);
    }
    for (size_t i = 0; i < width; i++) {
        struct csv_cell *cell = new_cell(r, i);
        if (cell == NULL) {
            return false;
        }
        if (a->how == CSV_ALIGN_ADD && i >= a->at && i < a->at + a->n) {
            const size_t at = from < row->split->n ? row->split->piece[from].at : end;
            *cell = (struct csv_cell){.start = (uint32_t)end, .at = (uint32_t)at};
            continue;
        }
        if (a->how == CSV_ALIGN_JOIN && i == a->at) {
            put_joined(r, row, from, a->n, cell);
            from += a->n + 1;
            continue;
        }
        from += (a->how == CSV_ALIGN_EMPTY || a->how == CSV_ALIGN_DROP) && i == a->at ? a->n : 0;
        put_cell(r, row, &row->split->piece[from++], i, cell);
    }
    const struct csv_row place = {.bytes = row->bytes, .line = row->line};
    int64_t line = row->line, column = 1;
    const size_t at = a->at < row->split->n ? row->split->piece[a->at].at : end;
    csv_row_place(&place, at, &line, &column);
    if (a->how == CSV_ALIGN_ADD) {
        snprintf(text, sizeof text, "row has %zu cell%s, expected %zu: added from column %zu on",
                 row->split->n, row->split->n == 1 ? "" : "s", width, a->at + 1);
        report(r, head ? CSV_REPAIR_HEADER : CSV_REPAIR_MISSING, line, 0, column, text);
    } else if (a->how == CSV_ALIGN_EMPTY || a->how == CSV_ALIGN_DROP) {
        snprintf(text, sizeof text,
                 "row has %zu cells, expected %zu: left out %zu from cell %zu on", row->split->n,
                 width, a->n, a->at + 1);
        report(r, a->how == CSV_ALIGN_DROP ? CSV_REPAIR_DROPPED : CSV_REPAIR_EMPTY, line, 0, column,
               text);
    }
    return true;
}

/* ---- rows ---- */
/* Delivers the cells of a row. Returns false if reading stops. */
static bool deliver(struct csv_repair *r, const struct csv_raw_row *row, size_t n) {
    struct csv_row out = {.bytes = row->bytes,
                          .aside = r->aside.data != NULL ? r->aside.data : "",
                          .cells = r->cells,
                          .n_cells = n,
                          .common = ~0u,
                          .size = row->split->size,
                          .line = row->line};
    for (size_t i = 0; i < n; i++) {
        out.common &= r->cells[i].kind;
    }
    const bool well = !r->no_memory && !r->aside.failed;
    r->no_memory = !well;
    const bool go_on = well && r->handler.rows.row(r->handler.rows.arg, &out);
    r->aside.size = 0;
    return go_on;
}

/* Delivers a row with the number of cells that it has: a comment. */
static bool deliver_comment(struct csv_repair *r, const struct csv_raw_row *row) {
    for (size_t i = 0; i < row->split->n; i++) {
        struct csv_cell *cell = new_cell(r, i);
        if (cell == NULL) {
            return false;
        }
        *cell = (struct csv_cell){.at = (uint32_t)row->split->piece[i].at};
    }
    return deliver(r, row, row->split->n);
}

static bool deliver_row(struct csv_repair *r, const struct csv_raw_row *row) {
    struct csv_align a = {.how = CSV_ALIGN_EVEN};
    if (row->split->n != r->plan->width) {
        a = csv_align_row(row->dialect, r->plan->trait, r->plan->width, row->bytes, row->split,
                          r->sums);
    }
    r->taken++;
    return put_cells(r, row, &a, false) && deliver(r, row, r->plan->width);
}

/* Delivers one of the first rows, which may be a header: its cells are names. */
static bool deliver_head(struct csv_repair *r, const struct csv_raw_row *row) {
    const size_t width = r->plan->width, n = row->split->n;
    struct csv_align a = {.how = CSV_ALIGN_EVEN};
    bool names = false;
    if (n < width) {
        /* R writes no name for the column of row names */
        const struct csv_trait *first = &r->plan->trait[0];
        names = n + 1 == width && first->quoted == first->cells && first->cells > 1 &&
                r->plan->trait[width - 1].quoted < r->plan->trait[width - 1].cells;
        a = (struct csv_align){.how = CSV_ALIGN_ADD, .at = names ? 0 : n, .n = width - n};
    } else if (n > width) {
        a = (struct csv_align){.how = CSV_ALIGN_DROP, .at = width, .n = n - width};
        for (size_t i = n - width == 1 ? n : 0; i-- > 0;) {
            if (csv_split_trimmed(row->bytes, &row->split->piece[i]).n == 0) {
                a.how = CSV_ALIGN_EMPTY;
                a.at = i;
            }
        }
    }
    size_t filled = 0, values = 0;
    csv_raw_count(row, &filled, &values);
    if (r->taken++ == 0 && values == 0 && filled == n) {
        buf_append(&r->heading, row->bytes, row->split->size);
    }
    return put_cells(r, row, &a, names) && deliver(r, row, width);
}

/* ---- rows in doubt ---- */
static struct csv_raw_row held_row(struct csv_repair *r, const struct csv_repair_held *held) {
    const struct csv_raw_row row = {.bytes = r->held_bytes.data + held->offset,
                                    .split = &r->split,
                                    .dialect = &held->dialect,
                                    .line = held->line,
                                    .blank = held->blank};
    size_t work = CSV_SPLIT_WORK;
    const enum csv_split_status status =
        held->joined ? csv_split_joined(row.dialect, row.bytes, held->size, true, r->plan->width,
                                        &work, &r->split)
                     : csv_split_row(row.dialect, row.bytes, held->size, true, r->plan->width,
                                     &work, &r->split, &r->spare);
    if (status != CSV_SPLIT_WHOLE) {
        r->no_memory = true;
    }
    return row;
}

/* The first n rows held back are rows of the table; the others are left out. */
static bool release(struct csv_repair *r, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const struct csv_raw_row row = held_row(r, &r->held[i]);
        if (r->no_memory || !deliver_row(r, &row)) {
            return false;
        }
    }
    r->n_held = 0;
    r->held_bytes.size = 0;
    return true;
}

/* Adds the last row held back to the run. */
static void extend_run(struct csv_repair *r) {
    const size_t at = r->n_held - 1;
    const struct csv_repair_held *held = &r->held[at];
    if (at == 0 || held->n != held[-1].n) {
        r->run = (struct csv_repair_run){at, SIZE_MAX, SIZE_MAX, SIZE_MAX};
    }
    r->run.blank = held->blank && r->run.blank == SIZE_MAX ? at : r->run.blank;
    r->run.heading = held->heading && r->run.heading == SIZE_MAX ? at : r->run.heading;
    r->run.doubt = held->doubt ? at : r->run.doubt;
}

/* Whether a second table can begin with row i of the run. It has at least two rows. */
static bool is_second(const struct csv_repair *r, size_t i) {
    if (i == SIZE_MAX || i + 1 >= r->n_held || r->held[i].n < 2) {
        return false;
    }
    const struct csv_repair_held *head = &r->held[i];
    return (head->blank || (r->run.doubt != SIZE_MAX && r->run.doubt >= i)) &&
           (head->heading || head->blank || r->n_held - i > 2) &&
           (head->heading || !r->plan->faultless || head->n != r->plan->width);
}

/* The number of the row held back with which a second table begins, which goes on to the last one;
 * n_held: there is none. */
static size_t find_second(const struct csv_repair *r) {
    return r->n_held == 0                 ? 0
           : is_second(r, r->run.start)   ? r->run.start
           : is_second(r, r->run.blank)   ? r->run.blank
           : is_second(r, r->run.heading) ? r->run.heading
                                          : r->n_held;
}

/* Reports rows held back, from `from` to before `to`, as a footer. */
static void report_footer(struct csv_repair *r, size_t from, size_t to) {
    if (from < to) {
        report_lines(r, CSV_REPAIR_FOOTER, r->held[from].line, r->held[to - 1].last,
                     "after the table left out");
    }
}

/* The number of the first row held back that belongs to a footer, if there is no further row. A
 * single row of a table of two columns that has no blank may be one that misses a cell. */
static size_t find_footer(const struct csv_repair *r) {
    const size_t few = r->plan->width > 3 ? r->plan->width / 2 : 1;
    size_t first = r->n_held;
    if (r->plan->faultless && r->taken < 2) {
        return first; /* the table would have no rows */
    }
    while (first > 0 && r->held[first - 1].filled <= few && !r->held[first - 1].fits) {
        first--;
    }
    /* rows without any text at the end of a table without faults are rows of missing values */
    const bool kept = r->plan->faultless && r->second == 0;
    size_t padding = r->n_held;
    while (kept && padding > first && r->held[padding - 1].filled == 0) {
        padding--;
    }
    first = padding == first ? r->n_held : first;
    if (first + 1 == r->n_held && r->plan->width < 3) {
        const struct csv_repair_held *held = &r->held[first];
        const bool text = memchr(r->held_bytes.data + held->offset, ' ', held->size) != NULL;
        first += !held->blank && !held->doubt && !text && held->filled > 0;
    }
    return first;
}

/* The rows held back from `first` on are a second table. Returns false if reading stops. */
static bool begin_second(struct csv_repair *r, size_t first) {
    r->second = r->held[first].line;
    r->second_end = r->held[r->n_held - 1].last;
    r->n_held = first;
    const size_t footer = find_footer(r);
    report_footer(r, footer, first);
    return release(r, footer);
}

/* Whether the row, which looks like a heading of the table, begins another one: it stands above at
 * least two columns of numbers or dates, or below a blank line, or below titles that follow one. */
static bool is_names(const struct csv_repair *r, const struct csv_raw_row *row) {
    const size_t columns = r->taken > r->plan->head ? csv_plan_heading(r->plan, row) : 0;
    bool titles = r->n_held > 0 && r->held[0].blank;
    for (size_t i = 0; i < r->n_held && titles; i++) {
        titles = r->held[i].filled <= 1;
    }
    return columns > 1 || (columns > 0 && (row->blank || titles));
}

static bool hold(struct csv_repair *r, const struct csv_raw_row *row, size_t filled, size_t values,
                 bool doubt) {
    static const char slack[TEXT_INPUT_SLACK] = {0};
    if (r->n_held == r->held_capacity &&
        !array_grow(&r->held, &r->held_capacity, 64, sizeof *r->held)) {
        r->no_memory = true;
        return false;
    }
    const struct csv_repair_held held = {
        .offset = r->held_bytes.size,
        .size = row->split->size,
        .n = row->split->n,
        .filled = filled,
        .values = values,
        .dialect = *row->dialect,
        .joined = row->joined,
        .line = row->line,
        .last = row->last,
        .blank = row->blank,
        .doubt = doubt,
        .fits = !row->blank && row->split->n > 1 && row->split->n < r->plan->width && filled > 1 &&
                csv_align_fits(r->plan->trait, row->split->n, row->bytes, row->split),
        .heading = values == 0 && filled == row->split->n && filled > 1,
        .names = row->split->n == r->plan->width && is_names(r, row)};
    r->held[r->n_held++] = held;
    extend_run(r);
    buf_append(&r->held_bytes, row->bytes, row->split->size);
    buf_append(&r->held_bytes, slack, sizeof slack);
    r->no_memory |= r->held_bytes.failed;
    const size_t second = find_second(r);
    const bool sure = second < r->n_held && r->held[second].values == 0 &&
                      (r->held[second].blank || r->n_held - second > 2);
    if (r->no_memory) {
        return false;
    }
    if (sure) {
        return begin_second(r, second);
    }
    if (r->held_bytes.size + r->n_held * sizeof *r->held > CSV_REPAIR_BYTES) {
        return second < r->n_held ? begin_second(r, second) : release(r, r->n_held);
    }
    return true;
}

/* Whether the row is that of the header again. */
static bool is_heading_again(const struct csv_repair *r, const struct csv_raw_row *row) {
    return row->split->size == r->heading.size && r->heading.size > 0 && row->split->n > 1 &&
           r->plan->numbers > 0 && memcmp(row->bytes, r->heading.data, r->heading.size) == 0;
}

/* Whether at most `most` cells of the row are not empty. */
static bool has_few(const struct csv_raw_row *row, size_t most) {
    size_t filled = 0;
    for (size_t i = 0; i < row->split->n && filled <= most; i++) {
        filled += csv_split_trimmed(row->bytes, &row->split->piece[i]).n > 0;
    }
    return filled <= most;
}

/* The number of the row held back with which a second table begins if `row`, which fits the
 * columns, follows: its names, with the titles above them. n_held: there is none. */
static size_t find_names(const struct csv_repair *r) {
    size_t at = r->n_held;
    if (at > 0 && r->held[at - 1].names) {
        at--;
        while (at > 0 && r->held[at - 1].filled <= 1) {
            at--;
        }
    }
    return at;
}

/* Whether the row is a line of dashes, as programs print between the names and the rows: at least
 * three in a run. One or two may be a word for a missing value. */
static bool is_rule(const struct csv_raw_row *row) {
    size_t run = 0, runs = 0;
    for (size_t i = 0; i < row->split->size; i++) {
        const char c = row->bytes[i];
        const bool dash = c == '-' || c == '=';
        if ((!dash && (c == '\0' || strchr("+|: \t\r\n", c) == NULL)) ||
            (!dash && run > 0 && run < 3)) {
            return false;
        }
        runs += dash && run == 0;
        run = dash ? run + 1 : 0;
    }
    return runs > 0 && (run == 0 || run > 2);
}

/* Takes a row below the header. */
static bool take_row(struct csv_repair *r, const struct csv_raw_row *given) {
    const struct csv_plan *p = r->plan;
    const size_t n = given->split->n;
    size_t filled = 0, values = 0;
    struct csv_raw_row copy = *given;
    const struct csv_raw_row *row = &copy;
    copy.blank = copy.blank || (r->n_held > 0 && r->held[r->n_held - 1].filled == 0);
    if (is_rule(row)) {
        report_lines(r, CSV_REPAIR_RULE, row->line, row->last, "is a rule and left out");
        return release(r, r->n_held);
    }
    if (is_heading_again(r, row)) {
        report_lines(r, CSV_REPAIR_AGAIN, row->line, row->last, "repeats the header and left out");
        return release(r, r->n_held);
    }
    const bool even = n == p->width, heading = even && csv_plan_is_heading(p, row);
    const bool padding = even && n > 1 && has_few(row, 0);
    const bool may = even && !heading && !row->blank && !padding && r->n_held == 0 &&
                     (p->least < 3 || !has_few(row, 1));
    if (may) {
        return deliver_row(r, row);
    }
    csv_raw_count(row, &filled, &values);
    const struct csv_align a =
        csv_align_row(row->dialect, p->trait, p->width, row->bytes, row->split, r->sums);
    const bool misfits = a.cost >= 2 * CSV_ALIGN_MISFIT;
    bool doubt = false;
    if (p->width < 2 || p->trait[0].cells == 0) {
        doubt = false;
    } else if (even) {
        const bool lone = filled == 1 && values == 0 &&
                          (!p->faultless || memchr(row->bytes, ' ', row->split->size) != NULL);
        const bool odd = misfits && !p->faultless;
        doubt = padding || (heading && (row->blank || p->numbers > 1 || is_names(r, row))) ||
                (row->blank && odd) || (lone && p->width > 3 && p->least > 2) ||
                (lone && p->width > 2 && row->blank) || (r->n_held > 0 && (odd || filled == 0));
    } else {
        doubt = true;
    }
    if (doubt) {
        return hold(r, row, filled, values, heading || misfits);
    }
    if (even && r->n_held > 0) {
        /* below a heading after a blank line is another table, even if it has the same columns */
        const struct csv_repair_held *last = &r->held[r->n_held - 1];
        const bool below = last->n == n && last->blank && last->values == 0 && last->filled == n;
        const size_t names = below ? r->n_held - 1 : find_names(r);
        if (names < r->n_held && r->taken > p->head) {
            const bool go_on = begin_second(r, names);
            r->second_end = row->last;
            return go_on;
        }
    }
    return release(r, r->n_held) && deliver_row(r, row);
}

static bool on_raw(void *arg, const struct csv_raw_row *row) {
    struct csv_repair *r = arg;
    const struct csv_plan *p = r->plan;
    bool go_on = true;
    if (csv_plan_is_comment(p, row)) {
        go_on = deliver_comment(r, row);
    } else if (row->line < p->line) {
        r->preamble = r->preamble > 0 ? r->preamble : row->line;
        r->preamble_end = row->last;
    } else if (r->second > 0) {
        r->second_end = row->last;
    } else {
        end_preamble(r);
        go_on = r->taken < p->head && !is_heading_again(r, row) ? deliver_head(r, row)
                                                                : take_row(r, row);
    }
    r->stopped = r->stopped || !go_on;
    return go_on;
}

static void on_fault(void *arg, int64_t line, int64_t column, const char *text) {
    struct csv_repair *r = arg;
    r->stopped = true;
    if (r->handler.rows.fault != NULL) {
        r->handler.rows.fault(r->handler.rows.arg, line, column, true, text);
    }
}

/* At the end of the body: the rows held back are a second table, a footer, or rows of the table. */
static bool end_held(struct csv_repair *r) {
    const size_t second = find_second(r);
    if (second < r->n_held && !begin_second(r, second)) {
        return false;
    }
    const size_t footer = find_footer(r);
    report_footer(r, footer, r->n_held);
    const bool go_on = release(r, footer);
    if (r->second > 0) {
        report_lines(r, CSV_REPAIR_SECOND, r->second, r->second_end,
                     "are a second table and left out");
    }
    return go_on;
}

/* ---- public functions ---- */
bool csv_repair_init(struct csv_repair *r, const struct csv_plan *plan,
                     const struct csv_repair_handler *handler) {
    *r = (struct csv_repair){.plan = plan, .handler = *handler};
    csv_raw_init(&r->raw, &plan->dialect, plan->width, plan->comment, plan->skip,
                 &(struct csv_raw_handler){.row = on_raw, .fault = on_fault, .arg = r});
    r->raw.trait = plan->trait;
    r->raw.head_line = plan->head_delimiter != '\0' ? plan->line : 0;
    r->raw.head_delimiter = plan->head_delimiter;
    r->sums = calloc(2 * (plan->width + 1), sizeof *r->sums);
    return r->sums != NULL;
}

void csv_repair_done(struct csv_repair *r) {
    csv_raw_done(&r->raw);
    csv_split_done(&r->split);
    csv_split_done(&r->spare);
    free(r->cells);
    free(r->sums);
    buf_done(&r->aside);
    buf_done(&r->heading);
    buf_done(&r->held_bytes);
    free(r->held);
}

bool csv_repair_feed(struct csv_repair *r, const char *bytes, size_t n) {
    const bool well = csv_raw_feed(&r->raw, bytes, n);
    r->no_memory |= r->raw.no_memory;
    return well;
}

bool csv_repair_end(struct csv_repair *r) {
    bool well = csv_raw_end(&r->raw);
    if (well) {
        end_preamble(r);
        well = end_held(r);
    }
    r->no_memory |= r->raw.no_memory;
    return well && !r->no_memory;
}

bool csv_repair_sample(const struct csv_sample *sample, const void *arg,
                       const struct csv_handler *handler, size_t *unfinished) {
    struct csv_repair r;
    bool well = csv_repair_init(&r, arg, &(struct csv_repair_handler){.rows = *handler});
    if (well && csv_repair_feed(&r, sample->bytes, sample->n) && sample->whole) {
        csv_repair_end(&r);
    }
    well = well && !r.no_memory;
    if (unfinished != NULL) {
        *unfinished = r.plan->width;
    }
    csv_repair_done(&r);
    return well;
}
