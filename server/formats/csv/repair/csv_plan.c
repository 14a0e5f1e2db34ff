#include "formats/csv/repair/csv_plan.h"
#include "formats/text/cell_hint.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES = 64 }; /* a name is compared with so many before it */

/* One row of the sample. */
struct shape {
    int64_t line;
    size_t n, filled, values;
    size_t words; /* number of words, as far as blanks show */
    bool first;   /* the first cell is not empty */
    bool blank;   /* a blank line precedes the row */
    bool sharp;   /* begins with # */
    /* of a row of one cell: for each of inner_delimiters, the number of different words between
     * them; 0: there are others */
    size_t inner[4];
};
struct shapes {
    struct shape row[CSV_SNIFF_ROWS];
    size_t n;
    char comment;
};
static const char inner_delimiters[] = " :^~";

void csv_plan_done(struct csv_plan *p) {
    free(p->trait);
    p->trait = NULL;
}

static bool is_word(struct text t) {
    bool letter = false;
    for (size_t i = 0; i < t.n; i++) {
        const unsigned char c = (unsigned char)t.bytes[i];
        letter = letter || ((c | 32) >= 'a' && (c | 32) <= 'z') || c >= 0x80;
    }
    return letter && !csv_is_value(t) && !csv_is_date(t);
}

/* The number of words between the delimiters in a text; 0: one is empty or a number, or occurs
 * twice. */
static size_t count_words(struct text t, char delimiter) {
    struct text word[NAMES];
    size_t n = 0, from = 0;
    for (size_t i = 0; i <= t.n; i++) {
        if (i < t.n && t.bytes[i] != delimiter) {
            continue;
        }
        struct text *w = &word[n];
        *w = text_trim(t.bytes + from, i - from);
        from = i + 1;
        for (size_t k = 0; k < n; k++) {
            if (w->n == word[k].n && memcmp(w->bytes, word[k].bytes, w->n) == 0) {
                return 0;
            }
        }
        if (!is_word(*w) || ++n == NAMES) {
            return 0;
        }
    }
    return n;
}

static bool shape_row(void *arg, const struct csv_raw_row *row) {
    struct shapes *s = arg;
    struct shape *shape = &s->row[s->n];
    *shape = (struct shape){.line = row->line,
                            .n = row->split->n,
                            .blank = row->blank,
                            .first = csv_split_trimmed(row->bytes, &row->split->piece[0]).n > 0,
                            .sharp = s->comment == '\0' && row->bytes[0] == '#'};
    csv_raw_count(row, &shape->filled, &shape->values);
    for (size_t i = 0; i < row->split->size; i++) {
        shape->words += row->bytes[i] == ' ';
    }
    shape->words += shape->filled;
    const struct text only = csv_split_trimmed(row->bytes, &row->split->piece[0]);
    for (size_t i = 0; i < sizeof inner_delimiters - 1 && row->split->n == 1 && s->n < 20; i++) {
        shape->inner[i] = count_words(only, inner_delimiters[i]);
    }
    return ++s->n < CSV_SNIFF_ROWS;
}

/* ---- columns ---- */
/* The rows that have the same number of cells. */
struct group {
    size_t n, rows;     /* number of cells; number of rows */
    size_t first, last; /* the first dense row; the last row */
    size_t filled, values, words;
};

static struct group group_of(const struct shapes *s, size_t n) {
    struct group g = {.n = n, .first = SIZE_MAX};
    for (size_t i = 0; i < s->n; i++) {
        if (s->row[i].n != n) {
            continue;
        }
        g.rows += !s->row[i].sharp;
        g.filled += s->row[i].filled;
        g.values += s->row[i].values;
        g.words += s->row[i].words;
        g.last = i;
        const bool dense =
            (i + 1 < s->n && s->row[i + 1].n == n) || (i + 2 < s->n && s->row[i + 2].n == n);
        g.first = g.first == SIZE_MAX && dense ? i : g.first;
    }
    return g;
}

/* Whether the rows of the group can be a table that stands above another one. */
static bool is_table(const struct shapes *s, const struct group *g) {
    if (g->first == SIZE_MAX || g->n < 2) {
        return false;
    }
    const struct shape *head = &s->row[g->first];
    const bool headed = g->rows >= 4 && g->n > 2 && head->values == 0 && head->filled == g->n &&
                        head[1].n == g->n && head[1].values > 0;
    const bool prose = g->values == 0 && g->words >= 3 * g->filled;
    return headed || (5 * g->rows >= s->n && !prose);
}

static struct group find_group(const struct shapes *s) {
    struct group best = {.n = s->n > 0 ? s->row[0].n : 0};
    for (size_t i = 0; i < s->n; i++) {
        const struct group g = group_of(s, s->row[i].n);
        if (g.first == SIZE_MAX || (g.n < 2 && best.n > 1)) {
            continue;
        }
        if (g.rows > best.rows || (g.n > 1 && best.n < 2)) {
            best = g;
        }
    }
    for (size_t i = 0; i < s->n; i++) {
        const struct group g = group_of(s, s->row[i].n);
        if (best.rows > 0 && is_table(s, &g) && g.last < best.first) {
            best = g;
        }
    }
    return best;
}

/* The row with which a table without faults begins. Rows with a text in the first cell only are
 * titles if a header follows them: a row without numbers and without empty cells. */
static size_t find_faultless_start(const struct shapes *s, size_t width) {
    size_t at = 0, titles = 0;
    while (at + 1 < s->n && width > 2 && s->row[at].values == 0 && at < 20 &&
           (s->row[at].filled == 0 || (s->row[at].filled == 1 && s->row[at].first))) {
        titles += s->row[at++].filled;
    }
    return titles > 0 && at < s->n && s->row[at].n == width && s->row[at].filled == width &&
                   s->row[at].values == 0
               ? at
               : 0;
}

/* The row with which the table begins. */
static size_t find_start(const struct shapes *s, const struct group *g) {
    const size_t first = g->rows > 0 ? g->first : 0;
    size_t at = first;
    if (at > 0) {
        const struct shape *before = &s->row[at - 1], *row = &s->row[at];
        const bool near = before->n > g->n || before->n + 1 == g->n,
                   below = row->values > 0 || !s->row[at + 1 < s->n ? at + 1 : at].values;
        at -= near && before->n > 1 && before->values == 0 && 2 * before->filled > g->n &&
              !before->sharp && !s->row[at].blank && below;
    }
    /* a header above rows that are divided in another way */
    for (size_t i = at; i-- > 0 && at == first && i + 8 > first && g->n > 2;) {
        const struct shape *row = &s->row[i];
        if (row->n == g->n && row->filled == g->n && row->values == 0 && !row->sharp &&
            s->row[first].values > 0 && s->row[i + 1].values > 0 && !s->row[first].blank) {
            return i;
        }
    }
    while (at + 1 < s->n && g->n > 2 && s->row[at].n >= g->n &&
           (s->row[at].filled == 0 || (s->row[at].filled == 1 && s->row[at].first)) &&
           s->row[at].values == 0 && at < first + 20) {
        at++;
    }
    /* rows of one cell only are not a title of nothing */
    return at < s->n && s->row[at].filled > 1 ? at : first;
}

/* ---- what the cells look like ---- */
struct study {
    struct csv_plan *plan;
    size_t seen;  /* number of rows of the table that were read */
    size_t taken; /* number of rows that describe the columns */
    size_t lone;  /* number of them that have one cell which is not empty */
};

bool csv_plan_is_heading(const struct csv_plan *p, const struct csv_raw_row *row) {
    bool any = false;
    for (size_t i = 0; i < p->width; i++) {
        const struct text text = csv_split_trimmed(row->bytes, &row->split->piece[i]);
        if (csv_trait_is_number(&p->trait[i])) {
            any = true;
            if (csv_is_nothing(text) || csv_is_value(text) ||
                cell_hint_missing(text.bytes, text.n)) {
                return false;
            }
        } else if (csv_is_value(text)) {
            return false;
        }
    }
    return any;
}

size_t csv_plan_heading(const struct csv_plan *p, const struct csv_raw_row *row) {
    size_t columns = p->numbers;
    if (!csv_plan_is_heading(p, row)) {
        return 0;
    }
    for (size_t i = 0; i < p->width; i++) {
        const struct text text = csv_split_trimmed(row->bytes, &row->split->piece[i]);
        if (text.n == 0 || csv_is_date(text)) {
            return 0;
        }
        for (size_t k = i > NAMES ? i - NAMES : 0; k < i; k++) {
            const struct text name = csv_split_trimmed(row->bytes, &row->split->piece[k]);
            if (text.n == name.n && memcmp(text.bytes, name.bytes, text.n) == 0) {
                return 0;
            }
        }
        columns += csv_trait_is_date(&p->trait[i]);
    }
    return columns;
}

static bool study_row(void *arg, const struct csv_raw_row *row) {
    struct study *s = arg;
    struct csv_plan *p = s->plan;
    if (row->line < p->line || csv_plan_is_comment(p, row)) {
        return true;
    }
    if (s->seen++ < p->head) {
        return true;
    }
    const bool even = row->split->n == p->width, heading = even && csv_plan_is_heading(p, row);
    size_t filled = 0, values = 0;
    csv_raw_count(row, &filled, &values);
    const bool lone = filled == 1 && p->width > 2;
    if (s->taken > 1 &&
        ((row->blank && (!even || heading || lone)) || (heading && p->numbers > 1))) {
        return false;
    }
    if (even) {
        s->lone += lone;
        p->least = !lone && (s->taken == s->lone || filled < p->least) ? filled : p->least;
        s->taken++;
        p->numbers = 0;
        for (size_t i = 0; i < p->width; i++) {
            csv_trait_add(&p->trait[i], &p->dialect, row->bytes, &row->split->piece[i]);
            p->numbers += csv_trait_is_number(&p->trait[i]);
        }
    }
    return s->seen < CSV_SNIFF_ROWS;
}

/* The number of rows at the top of the table that have no number. */
static size_t head_rows(const struct shapes *s, size_t start) {
    size_t at = start;
    while (at < s->n && s->row[at].values == 0) {
        at++;
    }
    return at < s->n && at > start && at - start <= TABLE_MAX_HEADER_LINES ? at - start : 1;
}

/* Whether the text has digits and no letters: a number with a stray character, or a date. */
static bool is_digits(struct text t) {
    size_t digits = 0, letters = 0;
    for (size_t i = 0; i < t.n; i++) {
        const unsigned char c = (unsigned char)t.bytes[i];
        digits += c >= '0' && c <= '9';
        letters += ((c | 32) >= 'a' && (c | 32) <= 'z') || c >= 0x80;
    }
    return digits > 0 && letters == 0;
}

/* Whether a row below the first one is a header line: it has no number and no date, and words in
 * most columns of numbers. */
static bool is_header_line(const struct csv_plan *p, const struct csv_raw_row *row) {
    size_t words = 0;
    for (size_t i = 0; i < p->width && i < row->split->n; i++) {
        const struct text text = csv_split_trimmed(row->bytes, &row->split->piece[i]);
        const bool number = csv_trait_is_number(&p->trait[i]);
        if (csv_is_value(text) || csv_is_date(text) || (number && is_digits(text))) {
            return false;
        }
        words += number && !csv_is_nothing(text);
    }
    return 2 * words > p->numbers;
}

/* Ends the header at the first row that is no header line. */
static bool head_row(void *arg, const struct csv_raw_row *row) {
    struct study *s = arg;
    if (row->line < s->plan->line || csv_plan_is_comment(s->plan, row)) {
        return true;
    }
    if (s->seen > 0 && !is_header_line(s->plan, row)) {
        s->plan->head = s->seen;
        return false;
    }
    return ++s->seen < s->plan->head;
}

/* The delimiter by which the row above the table is its header; '\0': it is not. */
static char find_inner_header(const struct shapes *s, size_t start, size_t width) {
    if (start == 0 || width < 3 || s->row[start].values == 0 || s->row[start].blank ||
        s->row[start].n != width || s->row[start - 1].sharp) {
        return '\0';
    }
    for (size_t i = 0; i < sizeof inner_delimiters - 1; i++) {
        if (s->row[start - 1].inner[i] == width) {
            return inner_delimiters[i];
        }
    }
    return '\0';
}

/* cells: number of cells of all rows, if there is no fault; otherwise 0. */
static bool find_structure(const struct csv_sample *sample, size_t width, size_t cells,
                           struct shapes *shapes, struct csv_plan *out) {
    const struct csv_raw_handler handler = {.row = shape_row, .arg = shapes};
    out->width = cells;
    for (size_t round = 0; round < 2; round++) { /* the second time, the width is known */
        shapes->n = 0;
        shapes->comment = sample->comment;
        if (!csv_raw_sample(sample, &out->dialect, out->width, &handler)) {
            return false;
        }
        if (shapes->n == 0 && round > 0) {
            break; /* with this width, the first row does not end in the sample */
        }
        struct group g = find_group(shapes);
        if (width > 0) {
            g = group_of(shapes, width);
            g.rows = g.first != SIZE_MAX ? g.rows : 0;
        }
        g = cells > 0 ? group_of(shapes, cells) : g;
        const size_t start =
            cells > 0 ? find_faultless_start(shapes, cells) : find_start(shapes, &g);
        out->width = g.n;
        out->head_delimiter = start < shapes->n ? find_inner_header(shapes, start, g.n) : '\0';
        if (out->head_delimiter != '\0') {
            out->line = shapes->row[start - 1].line;
            out->head = 1;
            out->head_cells = g.n;
            out->named = true;
            continue;
        }
        out->line = start < shapes->n ? shapes->row[start].line : 0;
        out->head = head_rows(shapes, start);
        out->head_cells = start < shapes->n ? shapes->row[start].n : 0;
        out->named = start < shapes->n && g.rows > 0 && out->head_cells != g.n &&
                     out->head_cells > 1 && shapes->row[start].values == 0;
        if (out->head_cells > g.n && shapes->row[start].filled == out->head_cells &&
            start + 1 < shapes->n && out->head_cells == g.n + 1) {
            out->width = out->head_cells; /* a header of one name more: no name is left out */
        }
    }
    return true;
}

static bool find_dialect(const struct csv_sample *sample, char given,
                         const struct csv_dialect *known, struct csv_dialect *out, size_t *cells) {
    if (known != NULL) {
        *out = *known;
        return true;
    }
    return csv_dialect_find(sample, given, out, cells);
}

bool csv_plan_make(const struct csv_sample *sample, char given, const struct csv_dialect *known,
                   size_t width, struct csv_plan *out) {
    struct csv_plan plan = {.comment = sample->comment, .skip = sample->skip};
    struct shapes *shapes = malloc(sizeof *shapes);
    size_t cells = 0;
    bool well = shapes != NULL && find_dialect(sample, given, known, &plan.dialect, &cells) &&
                find_structure(sample, width, cells, shapes, &plan);
    free(shapes);
    if (well && plan.width == 0) { /* no row ends in the sample */
        struct csv_shape shape;
        csv_sniff_shape(sample, csv_dialect_char(&plan.dialect), &shape);
        well = !shape.no_memory;
        plan.width = shape.cells > 0 ? shape.cells : 1;
    }
    if (well) {
        struct study study = {.plan = &plan};
        plan.trait = calloc(plan.width + 1, sizeof *plan.trait);
        plan.faultless = cells > 0;
        well = plan.trait != NULL &&
               csv_raw_sample(sample, &plan.dialect, plan.width,
                              &(struct csv_raw_handler){.row = study_row, .arg = &study});
        plan.least = 20 * study.lone > study.taken ? 1 : plan.least;
        study.seen = 0;
        well = well && (plan.head < 2 ||
                        csv_raw_sample(sample, &plan.dialect, plan.width,
                                       &(struct csv_raw_handler){.row = head_row, .arg = &study}));
    }
    if (!well) {
        csv_plan_done(&plan);
        return false;
    }
    const struct csv_trait *last = plan.trait + (plan.width > 0 ? plan.width - 1 : 0);
    if (plan.width > 2 && plan.head_cells + 1 == plan.width && last->cells > 0 &&
        last->cells == last->empty) {
        plan.width--; /* all rows end with a delimiter, except the header */
    }
    *out = plan;
    return true;
}
