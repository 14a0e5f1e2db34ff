#include "formats/csv/repair/csv_align.h"
#include "formats/text/marks.h"
#include "formats/text/scan.h"

#include <string.h>

enum { COST_NUMBER = 16, COST_SHAPE = CSV_ALIGN_MISFIT, COST_EMPTY = 4, SHAPE_MAX = 24 };

/* ---- columns ---- */
bool csv_is_value(struct text t) {
    double number = 0;
    unsigned written = 0;
    if (t.n == 0 || scan_number(t.bytes, &number, &written) == t.n) {
        return t.n > 0;
    }
    /* other numbers, such as 1e5 and 2,5, begin with a digit, a sign or a point */
    return strchr("0123456789+-.", t.bytes[0]) != NULL &&
           (dn_number_parse(t.bytes, t.n, &number) || marks_is_comma(t));
}

bool csv_is_nothing(struct text t) {
    return t.n == 0 || text_is(t, "NA") || text_is(t, "NaN") || text_is(t, "null") ||
           text_is(t, "?");
}

bool csv_is_date(struct text t) {
    dn_datetime_form form = {0};
    return dn_datetime_add(t.bytes, t.n, DN_DATE_ANY, &form);
}

/* The shape of a text: runs of digits and of letters count as one character. 0: it has none. */
static uint64_t shape_of(struct text t) {
    uint64_t hash = UINT64_C(14695981039346656037);
    char last = '\0';
    size_t n = 0;
    for (size_t i = 0; i < t.n; i++) {
        const unsigned char c = (unsigned char)t.bytes[i];
        const bool digit = c >= '0' && c <= '9', letter = (c | 32) >= 'a' && (c | 32) <= 'z';
        const char kind = (char)(digit ? '9' : letter || c >= 0x80 ? 'a' : (char)c);
        if (kind == last && (kind == '9' || kind == 'a')) {
            continue;
        }
        if (++n > SHAPE_MAX) {
            return 0;
        }
        hash = (hash ^ (unsigned char)kind) * UINT64_C(1099511628211);
        last = kind;
    }
    return hash | 1;
}

bool csv_piece_is_marked(const struct csv_dialect *d, const char *bytes,
                         const struct csv_piece *piece) {
    size_t quotes = 0;
    if (piece->quoted || d->quote == '\0' ||
        memchr(bytes + piece->from, d->quote, piece->to - piece->from) == NULL) {
        return false;
    }
    for (size_t i = piece->from; i < piece->to; i++) {
        quotes += bytes[i] == d->quote;
    }
    return quotes % 2 == 1;
}

void csv_trait_add(struct csv_trait *t, const struct csv_dialect *d, const char *bytes,
                   const struct csv_piece *piece) {
    const struct text text = csv_split_trimmed(bytes, piece);
    t->cells++;
    if (text.n == 0) {
        t->empty++;
        return;
    }
    const uint64_t shape = shape_of(text);
    const bool first = t->cells - t->empty == 1;
    t->shape = first || t->shape == shape ? shape : 0;
    t->quoted += piece->quoted;
    t->marks += csv_piece_is_marked(d, bytes, piece);
    t->numbers += csv_is_value(text);
    t->dates += csv_is_date(text);
    t->blanks += memchr(text.bytes, ' ', text.n) != NULL;
    if (piece->quoted) {
        bool holds = piece->escaped;
        for (size_t i = 0; i < text.n && !holds; i++) {
            holds = text.bytes[i] == '\n' || text.bytes[i] == '\r' ||
                    csv_split_delimiter(d, text.bytes, text.n, i) > 0;
        }
        t->holds += holds;
    }
}

/* ---- rows ---- */
static size_t cost_of(const struct csv_trait *t, const char *bytes, const struct csv_piece *piece) {
    const struct text text = csv_split_trimmed(bytes, piece);
    if (text.n == 0) {
        return t->empty == 0 && t->cells > 4 ? COST_EMPTY : 0;
    }
    if (t->cells == t->empty || csv_is_nothing(text)) {
        return 0;
    }
    const bool value = csv_is_value(text);
    if (csv_trait_is_number(t)) {
        return value ? 0 : COST_NUMBER;
    }
    return (value && t->numbers == 0) ||
                   (t->shape != 0 && t->cells - t->empty > 4 && shape_of(text) != t->shape)
               ? COST_SHAPE
               : 0;
}

static bool is_empty(const char *bytes, const struct csv_split *row, size_t from, size_t n) {
    for (size_t i = from; i < from + n; i++) {
        if (csv_split_trimmed(bytes, &row->piece[i]).n > 0) {
            return false;
        }
    }
    return true;
}

static struct csv_align add_cells(const struct csv_trait *trait, size_t width, const char *bytes,
                                  const struct csv_split *row) {
    const size_t n = row->n;
    struct csv_align best = {.how = CSV_ALIGN_ADD, .at = n, .n = width - n};
    for (size_t i = 0; i < n; i++) {
        best.cost += cost_of(&trait[i], bytes, &row->piece[i]);
    }
    /* the empty cell moves from the end to the beginning */
    size_t cost = best.cost;
    for (size_t i = n; best.n == 1 && i-- > 0;) {
        cost = cost - cost_of(&trait[i], bytes, &row->piece[i]) +
               cost_of(&trait[i + 1], bytes, &row->piece[i]);
        if (cost < best.cost) {
            best.at = i;
            best.cost = cost;
        }
    }
    return best;
}

/* The cost of joining the cells from `at` on, in addition to that of the other cells. SIZE_MAX: the
 * column is one of numbers or dates. */
static size_t join_cost(const struct csv_dialect *d, const struct csv_trait *t, const char *bytes,
                        const struct csv_split *row, size_t at, size_t extra) {
    const struct csv_piece *first = &row->piece[at], *last = &row->piece[at + extra];
    const struct text end = csv_split_trimmed(bytes, last);
    if (csv_trait_is_number(t) || csv_trait_is_date(t)) {
        return SIZE_MAX;
    }
    const bool formed = t->shape != 0 && t->cells - t->empty > 4 && t->blanks + t->numbers == 0;
    size_t cost = t->holds > 0 ? 3 : t->blanks > 0 ? 4 : formed ? 7 : 5;
    const bool begins = first->open || first->stray,
               ends = !last->quoted && end.n > 0 && end.bytes[end.n - 1] == d->quote;
    const bool blank = !first[1].quoted && bytes[first[1].at] == ' ';
    cost -= (size_t)begins + (size_t)ends + (size_t)blank;
    return cost + (is_empty(bytes, row, at, 1) || end.n == 0 ? 2 : 0);
}

static void take_better(struct csv_align *best, enum csv_align_how how, size_t at, size_t cost) {
    if (cost < best->cost) {
        best->how = how;
        best->at = at;
        best->cost = cost;
    }
}

static struct csv_align leave_cells(const struct csv_dialect *d, const struct csv_trait *trait,
                                    size_t width, const char *bytes, const struct csv_split *row,
                                    size_t *sums) {
    const size_t extra = row->n - width;
    size_t *before = sums, *after = sums + width + 1;
    struct csv_align best = {.n = extra, .cost = SIZE_MAX};
    before[0] = after[width] = 0;
    for (size_t i = 0; i < width; i++) {
        before[i + 1] = before[i] + cost_of(&trait[i], bytes, &row->piece[i]);
    }
    for (size_t i = width; i-- > 0;) {
        after[i] = after[i + 1] + cost_of(&trait[i], bytes, &row->piece[i + extra]);
    }
    /* from the end, where surplus delimiters are most usual */
    size_t empty = 0;
    for (size_t i = row->n; i-- > 0;) {
        empty = is_empty(bytes, row, i, 1) ? empty + 1 : 0;
        if (empty >= extra && i <= width) {
            /* in a column that often is empty, the cell is probably not a surplus one */
            const bool often =
                i < width && (trait[i].empty > 0 || (i >= extra && trait[i - extra].empty > 0));
            const size_t cost = i == width ? 0 : often ? 3 : 1;
            take_better(&best, CSV_ALIGN_EMPTY, i, before[i] + after[i] + cost);
        }
    }
    for (size_t i = 0; i < width; i++) {
        const size_t cost = join_cost(d, &trait[i], bytes, row, i, extra);
        if (cost != SIZE_MAX) {
            take_better(&best, CSV_ALIGN_JOIN, i, before[i] + after[i + 1] + cost);
        }
    }
    if (best.cost == SIZE_MAX) {
        take_better(&best, CSV_ALIGN_DROP, width, before[width] + 1);
    }
    return best;
}

bool csv_align_fits(const struct csv_trait *trait, size_t width, const char *bytes,
                    const struct csv_split *row) {
    size_t cost = 0, filled = 0, formed = 0;
    for (size_t i = 0; i < width; i++) {
        const struct csv_trait *t = &trait[i];
        const struct text text = csv_split_trimmed(bytes, &row->piece[i]);
        bool digit = false;
        for (size_t k = 0; k < text.n && !digit; k++) {
            digit = text.bytes[k] >= '0' && text.bytes[k] <= '9';
        }
        cost += cost_of(t, bytes, &row->piece[i]);
        filled += text.n > 0;
        formed += digit && (csv_trait_is_number(t) || csv_trait_is_date(t) || t->shape != 0);
    }
    return cost < CSV_ALIGN_MISFIT && formed > 0 && 3 * formed >= filled;
}

struct csv_align csv_align_row(const struct csv_dialect *d, const struct csv_trait *trait,
                               size_t width, const char *bytes, const struct csv_split *row,
                               size_t *sums) {
    if (row->n < width) {
        return add_cells(trait, width, bytes, row);
    }
    if (row->n > width) {
        return leave_cells(d, trait, width, bytes, row, sums);
    }
    struct csv_align even = {.how = CSV_ALIGN_EVEN};
    for (size_t i = 0; i < width; i++) {
        even.cost += cost_of(&trait[i], bytes, &row->piece[i]);
    }
    return even;
}
