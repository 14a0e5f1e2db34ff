#include "formats/csv/repair/csv_split.h"
#include "base/memory/array.h"

#include <stdlib.h>
#include <string.h>

enum {
    WAY_LINES = 1,   /* quoted cells may span lines */
    WAY_STRICT = 2,  /* an unescaped quote within a cell ends the attempt */
    WAY_INNER = 4,   /* quotes of an inner quotation may be followed by a delimiter */
    WAY_TAKES = 8,   /* an open cell takes the rest of its line */
    WAY_OPENING = 16 /* a quote that looks like the first of a cell ends the search */
};
enum found { FOUND_CLOSE, FOUND_NONE, FOUND_MORE, FOUND_FAILS };
/* bytes that must follow a position before it is judged, unless the body ends */
enum { AHEAD = 4 };

/* What searches for quotes may cost, and the last answer of closes_later: it holds from the offset
 * `from` to the offset `upto`. */
struct search {
    size_t *work; /* bytes that may still be searched */
    size_t from, upto;
    bool closes;
};
struct text_of {
    const struct csv_dialect *d;
    const char *bytes;
    size_t n;
    bool final;
    struct search *search;
};

/* Counts the bytes of a search. Returns false, and leaves nothing, if they are more than may be
 * searched. */
static bool spend(const struct text_of *t, size_t bytes) {
    size_t *work = t->search->work;
    const bool enough = bytes <= *work;
    *work = enough ? *work - bytes : 0;
    return enough;
}

void csv_split_done(struct csv_split *s) {
    free(s->piece);
    *s = (struct csv_split){0};
}

static bool is_end(char c) {
    return c == '\n' || c == '\r';
}
static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

size_t csv_split_delimiter(const struct csv_dialect *d, const char *bytes, size_t n, size_t at) {
    if (at >= n) {
        return 0;
    }
    if (d->run) {
        size_t k = 0;
        while (at + k < n && is_blank(bytes[at + k])) {
            k++;
        }
        return k;
    }
    if (bytes[at] != d->delimiter[0]) {
        return 0;
    }
    for (size_t k = 1; k < d->n; k++) {
        if (at + k >= n || bytes[at + k] != d->delimiter[k]) {
            /* ", " at the end of a line may have lost its blank */
            const bool last = at + k >= n || is_end(bytes[at + k]);
            return last && d->delimiter[k] == ' ' ? k : 0;
        }
    }
    return d->n;
}

static size_t delimiter_at(const struct text_of *t, size_t at) {
    return csv_split_delimiter(t->d, t->bytes, t->n, at);
}

/* Skips blanks that are no delimiter. */
static size_t skip_blanks(const struct text_of *t, size_t at) {
    while (at < t->n && is_blank(t->bytes[at]) && delimiter_at(t, at) == 0) {
        at++;
    }
    return at;
}

static bool ends_cell(const struct text_of *t, size_t at) {
    return at >= t->n || is_end(t->bytes[at]) || delimiter_at(t, at) > 0;
}

static size_t run_of_quotes(const struct text_of *t, size_t at) {
    size_t k = 0;
    while (at + k < t->n && t->bytes[at + k] == t->d->quote) {
        k++;
    }
    return k;
}

/* Whether the quote at `at` looks like the first character of a quoted cell. */
static bool looks_opening(const struct text_of *t, size_t at) {
    size_t before = at;
    while (before > 0 && is_blank(t->bytes[before - 1]) && !t->d->run &&
           t->d->delimiter[t->d->n - 1] != t->bytes[before - 1]) {
        before--;
    }
    if (before == 0 || is_end(t->bytes[before - 1])) {
        return true;
    }
    return t->d->run ? is_blank(t->bytes[before - 1])
                     : before >= t->d->n && delimiter_at(t, before - t->d->n) == t->d->n;
}

/* Finds the first quote from *at on, in this line, that opens or closes a cell. Sets *at to its
 * offset, or to the end of the line. Returns whether it closes a cell. */
static bool find_sure_quote(const struct text_of *t, size_t *at) {
    while (*at < t->n && !is_end(t->bytes[*at])) {
        if (t->bytes[*at] != t->d->quote) {
            ++*at;
            continue;
        }
        if (looks_opening(t, *at)) {
            return false;
        }
        const size_t k = run_of_quotes(t, *at);
        if (k % 2 == 1 && ends_cell(t, skip_blanks(t, *at + k))) {
            return true;
        }
        *at += k;
    }
    return false;
}

/* Whether a quote from `at` on closes a cell in this line, before one that opens a cell. */
static bool closes_later(const struct text_of *t, size_t at) {
    struct search *s = t->search;
    if (at < s->from || at > s->upto) {
        s->from = s->upto = at;
        s->closes = find_sure_quote(t, &s->upto);
        (void)spend(t, s->upto - at);
    }
    return s->closes;
}

static bool is_escape(const struct text_of *t, size_t at) {
    if (t->d->escape == '\0' || t->bytes[at] != t->d->escape || at + 1 >= t->n) {
        return false;
    }
    const char next = t->bytes[at + 1];
    return next == t->d->quote || next == t->d->escape || delimiter_at(t, at + 1) > 0;
}

/* Finds the quote that closes the quoted cell whose text begins at piece->from, and sets piece->to
 * to its offset. *searched: number of the bytes that were searched. */
static enum found search_close(const struct text_of *t, unsigned way, struct csv_piece *piece,
                               size_t *searched) {
    const size_t most = *t->search->work < TABLE_MAX_CELL ? *t->search->work : TABLE_MAX_CELL;
    size_t i = piece->from, strays = 0;
    for (;; *searched = i - piece->from) {
        if (i - piece->from > most) {
            return FOUND_NONE;
        }
        if (i >= t->n || (!t->final && i + AHEAD > t->n)) {
            return t->final ? FOUND_NONE : FOUND_MORE;
        }
        const char c = t->bytes[i];
        if (is_end(c)) {
            if ((way & WAY_LINES) == 0) {
                return FOUND_NONE;
            }
            piece->lines = true;
        }
        if (is_escape(t, i)) {
            piece->escaped = true;
            i += 2;
            continue;
        }
        if (c != t->d->quote) {
            i++;
            continue;
        }
        const size_t k = run_of_quotes(t, i), end = i + k, after = skip_blanks(t, end);
        if (!t->final && after + AHEAD > t->n) {
            return FOUND_MORE;
        }
        const bool ends = ends_cell(t, after);
        piece->escaped = piece->escaped || k > 1;
        if (ends && k % 2 == 1) {
            if ((way & WAY_INNER) != 0 && strays % 2 == 1 && closes_later(t, end)) {
                strays++;
                piece->stray = true;
                i = end;
                continue;
            }
            piece->to = end - 1;
            return FOUND_CLOSE;
        }
        if (ends && k == 2 && (way & WAY_STRICT) == 0 && looks_opening(t, i)) {
            if ((way & WAY_OPENING) != 0) {
                return FOUND_NONE; /* an empty quoted cell */
            }
            piece->over = true;
        }
        const bool may_close =
            (way & WAY_STRICT) == 0 && ((way & WAY_LINES) == 0 || (way & WAY_OPENING) != 0);
        if (ends && may_close && !closes_later(t, end)) {
            piece->stray = true;
            piece->to = end - 1;
            return FOUND_CLOSE;
        }
        if (!ends && k % 2 == 0 && piece->lines && (way & WAY_STRICT) == 0 && looks_opening(t, i)) {
            return FOUND_FAILS;
        }
        if (k % 2 == 1) {
            if ((way & WAY_OPENING) != 0 && looks_opening(t, i)) {
                return FOUND_NONE;
            }
            if ((way & WAY_STRICT) != 0 || (piece->lines && looks_opening(t, i))) {
                return FOUND_FAILS;
            }
            strays++;
            piece->stray = true;
            piece->over = piece->over || looks_opening(t, i);
        }
        i = end;
    }
}

/* As search_close, and counts what was searched. */
static enum found find_close(const struct text_of *t, unsigned way, struct csv_piece *piece) {
    size_t searched = 0;
    const enum found found = search_close(t, way, piece, &searched);
    (void)spend(t, searched);
    return found;
}

static bool push(struct csv_split *s, const struct csv_piece *piece) {
    if (s->n == s->capacity && !array_grow(&s->piece, &s->capacity, 16, sizeof *s->piece)) {
        return false;
    }
    s->piece[s->n++] = *piece;
    s->stray += piece->stray;
    s->open += piece->open;
    s->over += piece->over;
    return true;
}

/* Finds the end of an unquoted cell. Returns false if more bytes are needed. */
static bool find_plain_end(const struct text_of *t, bool line, struct csv_piece *piece) {
    size_t i = piece->from;
    for (;;) {
        if (!t->final && i + AHEAD > t->n) {
            return false;
        }
        if (i < t->n && is_escape(t, i)) {
            piece->escaped = true;
            i += 2;
        } else if (i >= t->n || is_end(t->bytes[i]) || (!line && delimiter_at(t, i) > 0)) {
            piece->to = i < t->n ? i : t->n;
            return true;
        } else {
            i++;
        }
    }
}

enum way_result { WAY_READ, WAY_NEEDS_MORE, WAY_FAILED, WAY_TOO_MANY, WAY_OUT_OF_MEMORY };

/* Reads the cell at `at`. *end: the offset of what follows it. */
static enum way_result read_cell(const struct text_of *t, unsigned way, size_t at, size_t *end,
                                 struct csv_piece *piece) {
    const size_t first = skip_blanks(t, at);
    *piece = (struct csv_piece){.at = at, .from = at};
    if (!t->final && first + AHEAD > t->n) {
        return WAY_NEEDS_MORE;
    }
    if (t->d->quote != '\0' && first < t->n && t->bytes[first] == t->d->quote) {
        piece->from = first + 1;
        switch (find_close(t, way, piece)) {
        case FOUND_CLOSE:
            if (piece->stray && t->d->delimiter[0] == '\t') {
                break; /* tab-separated text: not a quoted cell, as in csv.h */
            }
            piece->quoted = true;
            *end = skip_blanks(t, piece->to + 1);
            return WAY_READ;
        case FOUND_MORE:
            return WAY_NEEDS_MORE;
        case FOUND_FAILS:
            return WAY_FAILED;
        case FOUND_NONE:
            break;
        }
        if ((way & WAY_STRICT) != 0) {
            return WAY_FAILED;
        }
        *piece = (struct csv_piece){.at = at, .from = first + 1, .open = true};
    }
    if (!find_plain_end(t, piece->open && (way & WAY_TAKES) != 0, piece)) {
        return WAY_NEEDS_MORE;
    }
    *end = piece->to;
    return WAY_READ;
}

/* Whether so many cells and cells that span lines are those of one row. A row that takes the whole
 * body, because its quotes are open, must not be read to its end for each row. */
static bool is_one_row(size_t width, size_t cells, size_t spanning) {
    return width > 0 ? spanning == 0 || cells <= 2 * width + 64 : spanning <= 64;
}

static enum way_result read_row(const struct text_of *t, unsigned way, size_t width,
                                struct csv_split *out) {
    size_t spanning = 0;
    size_t at = t->d->run ? delimiter_at(t, 0) : 0;
    out->n = out->stray = out->open = out->over = 0;
    for (;;) {
        struct csv_piece piece;
        size_t end = 0;
        const enum way_result result = read_cell(t, way, at, &end, &piece);
        if (result != WAY_READ) {
            return result;
        }
        if (out->n == CSV_SPLIT_CELLS) {
            return WAY_TOO_MANY;
        }
        spanning += piece.lines;
        if (!is_one_row(width, out->n + 1, spanning)) {
            return WAY_FAILED;
        }
        if (!push(out, &piece)) {
            return WAY_OUT_OF_MEMORY;
        }
        size_t skip = delimiter_at(t, end);
        if (t->d->run && skip > 0 && (end + skip >= t->n || is_end(t->bytes[end + skip]))) {
            end += skip; /* blanks at the end of the line are no cell */
            skip = 0;
        }
        if (!t->final && end + skip + AHEAD > t->n) {
            return WAY_NEEDS_MORE;
        }
        if (skip == 0) {
            out->size = end;
            out->next = end + (end < t->n);
            out->next += end + 1 < t->n && t->bytes[end] == '\r' && t->bytes[end + 1] == '\n';
            return WAY_READ;
        }
        at = end + skip;
    }
}

static bool spans_lines(const struct csv_split *s) {
    bool found = false;
    for (size_t i = 0; i < s->n && !found; i++) {
        found = s->piece[i].lines;
    }
    return found;
}

/* How bad a reading is. The number of cells counts most, then quotes that are not closed. */
static size_t badness(const struct csv_split *s, size_t width, unsigned way) {
    size_t distance = s->n > width ? s->n - width : width - s->n;
    if (distance > 1 && s->n > width && s->open == 1 && s->stray == 0) {
        distance = 1; /* the cells behind the open quote are parts of its cell */
    }
    /* a quote that the next quote of a later line closes is not the one that is open */
    const bool closed = (way & WAY_LINES) != 0 && (way & WAY_OPENING) != 0 && s->open == 1 &&
                        s->stray == 0 && spans_lines(s);
    return (width > 0 ? 8 * distance : 0) + (closed ? 2 : 3 * s->open) + 4 * s->over + s->stray +
           ((way & WAY_TAKES) != 0 ? 2 : 0) + ((way & WAY_LINES) != 0 && !closed ? 1 : 0);
}

/* Sets the text of a cell that ends at `end`: without its quotes if they enclose all of it. */
static void set_joined(const struct text_of *t, size_t end, struct csv_piece *piece) {
    const char quote = t->d->quote;
    const struct text text = text_trim(t->bytes + piece->at, end - piece->at);
    const size_t from = (size_t)(text.bytes - t->bytes), to = from + text.n;
    size_t quotes = 0, pairs = 0;
    for (size_t i = from; i < to; i++) {
        quotes += t->bytes[i] == quote;
    }
    piece->to = end;
    if (quotes == 0) {
        return;
    }
    const bool around = text.n > 1 && t->bytes[from] == quote && t->bytes[to - 1] == quote;
    for (size_t i = from + 1; around && i + 2 < to; i++) {
        const bool pair = t->bytes[i] == quote && t->bytes[i + 1] == quote;
        pairs += pair;
        i += pair;
    }
    piece->quoted = around && quotes == 2 * pairs + 2;
    piece->stray = !piece->quoted;
    if (piece->quoted) {
        piece->escaped = pairs > 0;
        piece->from = from + 1;
        piece->to = to - 1;
    }
}

/* Finds the end of a cell in which each quote opens or closes a part that may have delimiters and
 * line ends. *most: number of bytes that may still be searched. */
static enum way_result find_joined_end(const struct text_of *t, size_t *most, size_t *end,
                                       struct csv_piece *piece) {
    bool within = false;
    for (size_t i = piece->at;; i++) {
        if (!t->final && i + AHEAD > t->n) {
            return WAY_NEEDS_MORE;
        }
        if (i >= t->n && within) {
            return WAY_FAILED;
        }
        if (!within && ends_cell(t, i)) {
            *end = i;
            return WAY_READ;
        }
        if ((*most)-- == 0) {
            return WAY_FAILED;
        }
        const bool quote = t->bytes[i] == t->d->quote;
        const bool first = i == skip_blanks(t, piece->at);
        if (quote && (within ? looks_opening(t, i) && !first && t->bytes[i - 1] != t->d->quote
                             : !first && ends_cell(t, i + 1) && t->bytes[i - 1] != t->d->quote)) {
            return WAY_FAILED; /* a closing quote would open a part, or an opening one close it */
        }
        within = within != quote;
        piece->lines = piece->lines || (within && is_end(t->bytes[i]));
    }
}

enum csv_split_status csv_split_joined(const struct csv_dialect *d, const char *bytes, size_t n,
                                       bool final, size_t width, size_t *work,
                                       struct csv_split *out) {
    struct search search = {.work = work, .from = 1};
    const struct text_of t = {.d = d, .bytes = bytes, .n = n, .final = final, .search = &search};
    size_t at = 0, most = *work < TABLE_MAX_CELL ? *work : TABLE_MAX_CELL;
    const size_t before = most;
    enum way_result result = WAY_READ;
    out->n = out->stray = out->open = out->over = 0;
    for (;;) {
        struct csv_piece piece = {.at = at, .from = at};
        size_t end = 0;
        result = find_joined_end(&t, &most, &end, &piece);
        if (result == WAY_NEEDS_MORE) {
            return CSV_SPLIT_MORE; /* nothing is counted: the result is independent of the pieces */
        }
        if (result == WAY_FAILED || out->n == width) {
            out->n = 0;
            break;
        }
        set_joined(&t, end, &piece);
        if (!push(out, &piece)) {
            return CSV_SPLIT_NO_MEMORY;
        }
        const size_t skip = delimiter_at(&t, end);
        if (skip == 0) {
            out->size = end;
            out->next = end + (end < n);
            out->next += end + 1 < n && bytes[end] == '\r' && bytes[end + 1] == '\n';
            break;
        }
        at = end + skip;
    }
    (void)spend(&t, before - most);
    return CSV_SPLIT_WHOLE;
}

static void swap(struct csv_split *a, struct csv_split *b) {
    const struct csv_split c = *a;
    *a = *b;
    *b = c;
}

/* Whether each line of the row that was read strictly is a row of `width` cells by itself. The
 * quotes of tab-separated text are then part of the cells, as in csv.h. */
static bool is_lines(const struct text_of *t, size_t width, const struct csv_split *strict,
                     struct csv_split *spare) {
    size_t at = 0, lines = 0;
    while (at < strict->size) {
        struct search search = {.work = t->search->work, .from = 1};
        const struct text_of rest = {.d = t->d,
                                     .bytes = t->bytes + at,
                                     .n = t->n - at,
                                     .final = t->final,
                                     .search = &search};
        if (read_row(&rest, WAY_OPENING, width, spare) != WAY_READ || spare->n != width) {
            return false;
        }
        at += spare->next;
        lines++;
    }
    return lines > 1;
}

enum csv_split_status csv_split_row(const struct csv_dialect *d, const char *bytes, size_t n,
                                    bool final, size_t width, size_t *work, struct csv_split *out,
                                    struct csv_split *spare) {
    static const unsigned ways[] = {
        WAY_LINES | WAY_STRICT, WAY_OPENING, 0, WAY_INNER, WAY_TAKES, WAY_LINES | WAY_INNER,
        WAY_LINES | WAY_OPENING};
    struct search search = {.work = work, .from = 1};
    const struct text_of t = {.d = d, .bytes = bytes, .n = n, .final = final, .search = &search};
    const size_t before = *work;
    bool have = false, many = false, by_lines = false;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const enum way_result result = read_row(&t, ways[i], width, spare);
        if (result == WAY_NEEDS_MORE) {
            *work = before; /* so that the result does not depend on the pieces of the body */
            return CSV_SPLIT_MORE;
        }
        if (result == WAY_OUT_OF_MEMORY) {
            return CSV_SPLIT_NO_MEMORY;
        }
        if (i == 0 && result == WAY_READ && width > 0 && d->delimiter[0] == '\t') {
            swap(out, spare);
            by_lines = is_lines(&t, width, out, spare);
            if (by_lines) {
                continue;
            }
            swap(out, spare);
        }
        if (result == WAY_FAILED || result == WAY_TOO_MANY) {
            many = many || result == WAY_TOO_MANY;
            continue;
        }
        const size_t bad = badness(spare, width, ways[i]);
        if (bad < best) {
            swap(out, spare);
            best = bad;
            have = true;
        }
        /* a strict reading is hardly ever wrong, unless a quote that is open takes whole rows */
        if (best == 0 || (i == 0 && out->n + 1 >= width) || ((width == 0 || by_lines) && i > 0)) {
            break;
        }
    }
    return have ? CSV_SPLIT_WHOLE : many ? CSV_SPLIT_TOO_MANY : CSV_SPLIT_NO_MEMORY;
}

void csv_split_text(const struct csv_dialect *d, const char *bytes, const struct csv_piece *piece,
                    struct buf *out) {
    const struct text_of t = {.d = d, .bytes = bytes, .n = piece->to + 1, .final = true};
    for (size_t i = piece->from; i < piece->to; i++) {
        const bool doubled =
            piece->quoted && bytes[i] == d->quote && i + 1 < piece->to && bytes[i + 1] == d->quote;
        if (doubled || (i + 1 < piece->to && is_escape(&t, i))) {
            i++;
        }
        buf_putc(out, bytes[i]);
    }
}

struct text csv_split_trimmed(const char *bytes, const struct csv_piece *piece) {
    return text_trim(bytes + piece->from, piece->to - piece->from);
}
