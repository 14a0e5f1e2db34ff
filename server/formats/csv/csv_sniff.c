/* Detects the delimiter and the header of separated text. The sample is parsed once with each
 * candidate. */
#include "formats/csv/csv_sniff.h"
#include "formats/csv/csv.h"
#include "formats/csv/csv_separator.h"
#include "formats/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SAMPLE_MAX_CELLS is larger than the limit of a table, so that the delimiter of a table with too
 * many columns is still detected and the fault tells the number of columns. */
enum { SAMPLE_MAX_CELLS = 4 * TABLE_MAX_COLUMNS, SHARP_BEFORE = 256 };

bool csv_sample_read(const struct csv_sample *sample, char delimiter,
                     const struct csv_handler *handler, size_t *unfinished) {
    struct csv csv;
    if (sample->rows != NULL) {
        return sample->rows(sample, sample->arg, handler, unfinished);
    }
    csv_init(&csv, delimiter, TABLE_MAX_CELL, SAMPLE_MAX_CELLS, handler);
    csv.comment = sample->comment;
    csv_skip(&csv, sample->skip);
    if (csv_feed(&csv, sample->bytes, sample->n) && sample->whole) {
        csv_end(&csv);
    }
    const bool well = !csv.no_memory;
    if (unfinished != NULL) {
        /* after blanks no cell has begun */
        *unfinished = csv.n_cells + (delimiter != CSV_BLANKS || csv.scan > csv.cell);
    }
    csv_done(&csv);
    return well;
}

/* ---- delimiter ---- */
struct count {
    char delimiter;
    char comment;
    size_t rows;        /* number of rows that were counted */
    size_t cells;       /* number of cells in the first row */
    size_t agree;       /* number of rows with as many cells as the first row */
    size_t sharp;       /* number of rows that begin with # and precede the first row */
    size_t first_sharp; /* number of cells in the first row that begins with # */
    size_t agree_sharp; /* number of rows that begin with # and have first_sharp cells */
    /* numbers of cells of the first SHARP_BEFORE rows that begin with # */
    uint32_t seen[SHARP_BEFORE];
    size_t complete; /* number of complete rows that are no comments; 0: all rows begin with # */
    int64_t line;    /* line of the first row */
    size_t numbers;  /* CSV_BLANKS: number of unquoted cells that are numbers */
    /* The last rows that have equal numbers of cells, and the rows before them. run_numbers: as
     * `numbers`, in these rows */
    size_t run_rows, run_cells, run_numbers;
    size_t run_ended; /* number of these rows whose last cell is empty */
    int64_t run_line;
    size_t before, before_cells; /* number of rows; largest number of their cells */
    bool inner; /* one of the first two rows has a cell of several numbers between blanks */
    /* CSV_BLANKS, ; and |: an unquoted cell has a comma that is no decimal mark, a ; or a | */
    bool separator;
    bool commas; /* ; and |: a cell has a decimal comma */
    bool no_memory;
};

/* Counts a row that begins with # and precedes the first row. */
static void count_sharp(struct count *count, const struct csv_row *row) {
    if (count->sharp < SHARP_BEFORE) {
        count->seen[count->sharp] = (uint32_t)row->n_cells;
    }
    count->first_sharp = count->sharp == 0 ? row->n_cells : count->first_sharp;
    count->agree_sharp += row->n_cells == count->first_sharp;
    count->sharp++;
}

static bool has_separator(struct text t) {
    for (size_t i = 0; i < t.n; i++) {
        const char c = t.bytes[i];
        if (c == ';' || c == '|' || (c == ',' && !marks_is_comma(t))) {
            return true;
        }
    }
    return false;
}

/* Updates the evidence for runs of blanks and for a title. The cells are only looked at where it is
 * needed: most bodies have another delimiter. */
static void count_cells(struct count *count, const struct csv_row *row) {
    size_t numbers = 0;
    const bool blanks = count->delimiter == CSV_BLANKS,
               decimals = (count->delimiter == ';' || count->delimiter == '|') && !count->separator,
               look = blanks || decimals || count->rows < 2;
    for (size_t i = 0; look && i < row->n_cells; i++) {
        const struct csv_cell *cell = &row->cells[i];
        const struct text text = {csv_cell_text(row, cell), cell->length};
        numbers += cell->kind != CSV_TEXT;
        if (cell->quoted) {
            count->commas = count->commas || (decimals && marks_is_comma(text));
        }
        if (cell->kind != CSV_TEXT || cell->quoted) {
            continue;
        }
        if (blanks || decimals) {
            const bool comma = marks_is_comma(text);
            count->separator = count->separator || has_separator(text);
            count->commas = count->commas || comma;
            numbers += comma;
        }
        if (!blanks && count->rows < 2 && !count->inner) {
            size_t n = 0;
            count->inner = csv_is_numbers(text_trim(text.bytes, text.n), &n) && n > 1;
        }
    }
    if (count->rows == 0) {
        count->line = row->line;
    }
    if (row->n_cells != count->run_cells) {
        count->before += count->run_rows;
        count->before_cells =
            count->run_cells > count->before_cells ? count->run_cells : count->before_cells;
        count->run_rows = count->run_numbers = count->run_ended = 0;
        count->run_cells = row->n_cells;
        count->run_line = row->line;
    }
    count->run_rows++;
    count->run_ended += row->n_cells > 0 && row->cells[row->n_cells - 1].length == 0;
    count->run_numbers += numbers;
    count->numbers += numbers;
}

static bool count_row(void *arg, const struct csv_row *row) {
    struct count *count = arg;
    const bool sharp = count->comment == '\0' && csv_begins_sharp(row);
    if (sharp && count->rows == 0) {
        count_sharp(count, row);
        return true;
    }
    if (count->rows == 0) {
        count->cells = row->n_cells;
        for (size_t i = 0; i < count->sharp && i < SHARP_BEFORE; i++) {
            count->agree += count->seen[i] == row->n_cells;
        }
        count->rows = count->agree;
    }
    if (sharp && row->n_cells != count->cells) {
        return true;
    }
    count_cells(count, row);
    count->agree += row->n_cells == count->cells;
    return ++count->rows < CSV_SNIFF_ROWS;
}

/* Counts rows with this delimiter. */
static void count_rows(const struct csv_sample *sample, char delimiter, struct count *count) {
    *count = (struct count){.delimiter = delimiter, .comment = sample->comment};
    size_t unfinished = 0;
    count->no_memory =
        !csv_sample_read(sample, delimiter, &(struct csv_handler){.row = count_row, .arg = count},
                         &unfinished);
    count->complete = count->rows;
    if (count->rows == 0 && count->sharp > 0) { /* all rows begin with # */
        count->rows = count->sharp < CSV_SNIFF_ROWS ? count->sharp : CSV_SNIFF_ROWS;
        count->agree = count->agree_sharp < count->rows ? count->agree_sharp : count->rows;
        count->cells = count->first_sharp;
    } else if (count->rows == 0) { /* no row is complete: the incomplete one is counted */
        count->rows = count->agree = 1;
        count->cells = unfinished;
    }
}

/* Whether a leaves commas only as decimal marks, and divides as large a share of the rows as the
 * comma. */
static bool has_decimals(const struct count *a, const struct count *b) {
    return b->delimiter == ',' && a->cells >= 2 && a->commas && !a->separator &&
           a->agree * b->rows >= b->agree * a->rows;
}

static bool better(const struct count *a, const struct count *b) {
    if ((a->cells >= 2) != (b->cells >= 2)) {
        return a->cells >= 2;
    }
    /* the products are at most 1,000 × 1,000 */
    const size_t share_a = a->agree * b->rows, share_b = b->agree * a->rows;
    if (share_a != share_b) {
        return share_a > share_b;
    }
    return b->delimiter != '\t' && a->cells > b->cells;
}

/* Whether the rows follow lines that look like a title. */
static bool is_titled(const struct count *c) {
    const size_t cells = c->run_rows * c->run_cells;
    return c->sharp == 0 && c->before > 0 && c->before_cells < c->run_cells &&
           (c->before == 1 || c->before_cells == 1) && c->run_rows >= 2 &&
           c->run_rows > c->before && (c->delimiter != CSV_BLANKS || 2 * c->run_numbers > cells);
}

/* Whether runs of blanks are chosen in place of `best`. titled: another delimiter shows a title. */
static bool takes_blanks(const struct count *blanks, const struct count *best, bool titled) {
    const bool even = blanks->cells >= 2 && blanks->agree == blanks->rows &&
                      (blanks->complete > 0 || blanks->sharp == 0);
    if (best->cells < 2) {
        return even && !(titled && blanks->separator);
    }
    /* of "2020 01,5" either the blank or the comma may be the delimiter; of "1,5 2,5" the blank */
    return even && blanks->rows >= 2 && !blanks->separator &&
           (best->delimiter != ',' || best->cells > 2 || best->agree < best->rows);
}

/* Whether rows that the comma divides are as well numbers between blanks, with decimal commas. */
static bool may_be_blanks(const struct count *blanks, const struct count *best) {
    return best->delimiter == ',' && best->inner && blanks->cells >= 2 && blanks->rows >= 2 &&
           blanks->agree == blanks->rows && !blanks->separator && blanks->commas &&
           blanks->numbers == blanks->rows * blanks->cells;
}

static struct csv_shape shape_of(const struct count *count) {
    struct csv_shape shape = {.rows = count->complete,
                              .cells = count->cells,
                              .numbers = count->numbers > 0,
                              .no_memory = count->no_memory};
    if (is_titled(count)) {
        shape.title = (struct csv_title){.line = count->line,
                                         .table = count->run_line,
                                         .cells = count->before_cells,
                                         .below = count->run_cells,
                                         .ended = count->run_ended == count->run_rows};
    }
    return shape;
}

char csv_sniff_delimiter(const struct csv_sample *sample, struct csv_shape *shape) {
    static const char candidates[] = {'\t', ',', ';', '|'};
    struct count best = {0}, titled = {0}, count;
    size_t blanks = 0;
    bool no_memory = false;
    for (size_t i = 0; i < sizeof candidates; i++) {
        if (candidates[i] == sample->comment) {
            continue;
        }
        count_rows(sample, candidates[i], &count);
        no_memory |= count.no_memory;
        if (best.delimiter == '\0' || better(&count, &best) || has_decimals(&count, &best) ||
            (best.cells < 2 && candidates[i] == ',')) {
            best = count;
        }
        if (is_titled(&count) && count.run_cells > titled.run_cells) {
            titled = count;
        }
    }
    if (best.cells < 2 || best.inner || best.agree < best.rows) {
        count_rows(sample, CSV_BLANKS, &count);
        no_memory |= count.no_memory;
        if (takes_blanks(&count, &best, titled.run_cells > 0)) {
            best = count;
        } else if (may_be_blanks(&count, &best)) {
            blanks = count.cells;
        } else if (best.cells < 2 && titled.run_cells == 0 && is_titled(&count)) {
            titled = count;
        }
    }
    if (titled.run_cells > 0 && best.delimiter != CSV_BLANKS &&
        (best.cells < 2 || best.agree <= 1)) {
        best = titled;
    }
    if (shape != NULL) {
        *shape = shape_of(&best);
        shape->blanks = blanks;
        shape->no_memory = no_memory;
    }
    return best.delimiter;
}

void csv_sniff_shape(const struct csv_sample *sample, char delimiter, struct csv_shape *shape) {
    struct count count;
    count_rows(sample, delimiter, &count);
    *shape = shape_of(&count);
}

/* ---- header ---- */
enum { FEW = 4 }; /* at most so many categories are few */

struct below {
    struct text name;    /* the trimmed cell of the first row, copied to evidence.text */
    enum cell_says says; /* what kind of cell the cell of the first row is */
    bool numbers;        /* a cell below is a number */
    bool booleans;       /* a cell below is a boolean */
    bool others;         /* a cell below is neither a number nor a boolean nor missing */
    bool repeated;       /* a cell below equals the cell of the first row */
    size_t value;        /* number of the first row with a number or a boolean; 0: none */
    size_t word;         /* number of the last row before it that is another text; 0: none */
    bool mixed;          /* another text occurs after it */
    uint64_t seen[FEW];  /* hashes of the first different texts below a word */
    size_t n_seen;       /* FEW + 1: there are more */
};

struct evidence {
    const struct missing *missing;
    const struct marks *marks; /* NULL: no cell has a decimal comma */
    bool detects;              /* decimal commas are detected */
    size_t cells;              /* number of cells of the first row, for csv_is_comment */
    char comment;
    size_t rows; /* number of rows so far, including the first one */
    /* line of the first row that repeats the first row cell by cell, if that has at least two
     * cells; 0: there is none */
    int64_t again;
    /* number of the first rows that may be titles, whether they go on, and the line of the row
     * behind them */
    size_t titles;
    bool in_titles;
    int64_t behind;
    int64_t line;         /* line of the first row */
    size_t n;             /* number of cells of the first row */
    struct below *column; /* [n] */
    char *text;           /* the trimmed texts of the first row, one after the other */
    bool no_memory;
};

static enum cell_says says_of(const struct evidence *e, struct text t) {
    const enum cell_says says = cell_says(e->missing, t.bytes, t.n);
    double number = 0;
    if (says != CELL_OTHER || e->marks == NULL) {
        return says;
    }
    return (e->detects ? marks_form(e->marks, t, &number) != MARKS_NO_NUMBER
                       : marks_number(e->marks, t, &number))
               ? CELL_NUMBER
               : CELL_OTHER;
}

/* Notes a row that may be a title, or the row behind such rows. A title is in the first cells, at
 * most half of them. */
static void note_title(struct evidence *e, const struct csv_row *row) {
    size_t filled = 0;
    while (filled < row->n_cells && csv_cell_trimmed(row, filled).n > 0) {
        filled++;
    }
    bool rest = false;
    for (size_t i = filled; i < row->n_cells && !rest; i++) {
        rest = csv_cell_trimmed(row, i).n > 0;
    }
    e->in_titles = row->n_cells == e->n && e->n >= 2 && !rest && 2 * filled <= e->n;
    e->titles += e->in_titles;
    e->behind = row->line;
}

/* Notes a text below a word of the first row. */
static void note_distinct(struct below *column, struct text t) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < t.n; i++) {
        hash = (hash ^ (unsigned char)t.bytes[i]) * UINT64_C(0x100000001b3);
    }
    for (size_t i = 0; i < column->n_seen; i++) {
        if (column->seen[i] == hash) {
            return;
        }
    }
    if (column->n_seen < FEW) {
        column->seen[column->n_seen] = hash;
    }
    column->n_seen++;
}

static bool first_row(struct evidence *e, const struct csv_row *row) {
    size_t size = 1;
    for (size_t i = 0; i < row->n_cells; i++) {
        size += row->cells[i].length;
    }
    e->n = row->n_cells;
    e->line = row->line;
    note_title(e, row);
    e->column = calloc(row->n_cells + 1, sizeof *e->column);
    e->text = malloc(size);
    if (e->column == NULL || e->text == NULL) {
        e->no_memory = true;
        return false;
    }
    size_t used = 0;
    for (size_t i = 0; i < row->n_cells; i++) {
        const struct text t = csv_cell_trimmed(row, i);
        memcpy(e->text + used, t.bytes, t.n);
        e->column[i].name = (struct text){e->text + used, t.n};
        e->column[i].says = says_of(e, t);
        used += t.n;
    }
    return true;
}

static bool is_first_again(const struct evidence *e, const struct csv_row *row) {
    bool same = row->n_cells == e->n && e->n > 1;
    for (size_t i = 0; i < e->n && same; i++) {
        const struct text t = csv_cell_trimmed(row, i);
        same = t.n == e->column[i].name.n && memcmp(t.bytes, e->column[i].name.bytes, t.n) == 0;
    }
    return same;
}

static bool header_row(void *arg, const struct csv_row *row) {
    struct evidence *e = arg;
    if (csv_is_comment(row, e->cells, e->comment)) {
        return true;
    }
    if (e->rows++ == 0) {
        return first_row(e, row);
    }
    if (is_first_again(e, row)) {
        e->again = e->again > 0 ? e->again : row->line;
        return e->rows < CSV_SNIFF_ROWS;
    }
    if (e->in_titles || e->rows == 2) {
        note_title(e, row);
    }
    for (size_t i = 0; i < row->n_cells && i < e->n; i++) {
        struct below *column = &e->column[i];
        const struct text t = csv_cell_trimmed(row, i);
        const enum cell_says says = says_of(e, t);
        column->numbers |= says == CELL_NUMBER;
        column->booleans |= says == CELL_BOOLEAN;
        column->others |= says == CELL_OTHER;
        if (says == CELL_NUMBER || says == CELL_BOOLEAN) {
            column->value = column->value > 0 ? column->value : e->rows;
        } else if (says == CELL_OTHER) {
            column->mixed |= column->value > 0;
            column->word = column->value > 0 ? column->word : e->rows;
        }
        if (says == CELL_OTHER && column->says == CELL_OTHER && column->n_seen <= FEW) {
            note_distinct(column, t);
        }
        column->repeated |=
            t.n > 0 && t.n == column->name.n && memcmp(t.bytes, column->name.bytes, t.n) == 0;
    }
    return e->rows < CSV_SNIFF_ROWS;
}

static int by_text(const void *a, const void *b) {
    const struct text *x = &((const struct below *)a)->name, *y = &((const struct below *)b)->name;
    const int order = memcmp(x->bytes, y->bytes, x->n < y->n ? x->n : y->n);
    return order != 0 ? order : (x->n > y->n) - (x->n < y->n);
}

/* Whether a number can be a column name, such as 2020, 0 or 17: at most nine digits. */
static bool is_plain(struct text t) {
    size_t n = 0;
    while (n < t.n && t.bytes[n] >= '0' && t.bytes[n] <= '9') {
        n++;
    }
    return n == t.n && n > 0 && n <= 9;
}

/* What the first row and the rows below it are, over all columns. */
struct verdict {
    /* a cell of the first row is a word: not empty, and not a number, a boolean or a token for
     * missing */
    bool word;
    bool unnamed; /* a cell of the first row is empty */
    bool token;   /* a cell of the first row is a token for missing and not empty */
    bool value;   /* a cell of the first row is a number or a boolean */
    bool odd;     /* a cell of the first row is a boolean, or a number that cannot be a name */
    /* a cell of the first row occurs again in its column, or two cells of the first row are
     * equal */
    bool repeated;
    /* a column below a word or an empty cell has numbers but no other texts, or booleans but no
     * other texts */
    bool typed;
    bool apart;  /* a cell of the first row is a word above a few other categories */
    bool counts; /* the cells of the first row are 0, 1, 2 … or 1, 2, 3 … */
};

/* Whether the first row is at least three numbers 0, 1, 2 … or 1, 2, 3 …, after an empty cell or
 * not, as programs write the names of unnamed columns. */
static bool counts_up(const struct evidence *e) {
    const size_t from = e->n > 0 && e->column[0].name.n == 0;
    char number[24];
    if (e->n < from + 3 || e->column[from].name.n != 1 || e->rows < 3 || e->again > 0) {
        return false;
    }
    const size_t first = e->column[from].name.bytes[0] == '1';
    for (size_t i = from; i < e->n; i++) {
        snprintf(number, sizeof number, "%zu", i - from + first);
        if (!text_is(e->column[i].name, number)) {
            return false;
        }
    }
    return true;
}

/* Whether the first cell is a word that does not occur among the few categories below it. */
static bool is_apart(const struct evidence *e, const struct below *column) {
    return column->says == CELL_OTHER && !column->repeated && column->n_seen > 0 &&
           column->n_seen <= FEW && !column->numbers && !column->booleans &&
           e->rows > 2 * column->n_seen;
}

/* Combines the properties of all columns. Sorts e->column by name. */
static struct verdict judge(struct evidence *e) {
    struct verdict v = {0};
    for (size_t i = 0; i < e->n; i++) {
        const struct below *column = &e->column[i];
        const bool number = column->says == CELL_NUMBER, boolean = column->says == CELL_BOOLEAN;
        v.word |= column->says == CELL_OTHER;
        v.unnamed |= column->name.n == 0;
        v.token |= column->says == CELL_MISSING && column->name.n > 0;
        v.value |= number || boolean;
        v.odd |= boolean || (number && !is_plain(column->name));
        v.repeated |= column->repeated;
        v.apart |= is_apart(e, column);
        v.typed |= (column->says == CELL_OTHER || column->name.n == 0) &&
                   column->numbers != column->booleans && !column->others;
    }
    v.counts = counts_up(e);
    qsort(e->column, e->n, sizeof *e->column, by_text);
    for (size_t i = 1; i < e->n; i++) {
        v.repeated |= by_text(&e->column[i - 1], &e->column[i]) == 0 && e->column[i].name.n > 0;
    }
    v.repeated |= e->again > 0 && !v.typed;
    return v;
}

/* The number of the first rows that look like header lines; 0: they do not. */
static size_t several_lines(const struct evidence *e) {
    size_t first = SIZE_MAX; /* the first row with a value */
    for (size_t i = 0; i < e->n; i++) {
        const struct below *column = &e->column[i];
        if (column->says == CELL_NUMBER || column->says == CELL_BOOLEAN) {
            return 0;
        }
        first = column->value > 0 && column->value < first ? column->value : first;
    }
    for (size_t i = 0; i < e->n && first != SIZE_MAX; i++) {
        const struct below *column = &e->column[i];
        if (column->value == first && !column->mixed && column->word == first - 1 &&
            column->word >= 2 && e->rows >= first + 2) {
            return first - 1;
        }
    }
    return 0;
}

/* Whether row `at` (from 1) has words only, and the rows below it have numbers or booleans in a
 * column. */
static bool is_heading(const struct evidence *e, size_t at) {
    bool typed = false;
    for (size_t i = 0; i < e->n; i++) {
        const struct below *column = &e->column[i];
        if (column->value > 0 &&
            (column->value <= at || (column->value == at + 1 && column->word < at))) {
            return false;
        }
        typed |= column->value == at + 1 && column->word == at && !column->mixed;
    }
    return typed && e->rows >= at + 2;
}

/* Decides by the rules of csv_sniff.h. */
static void decide(struct evidence *e, struct csv_header *out) {
    *out = (struct csv_header){.lines = 1};
    if (e->n == 0) {
        return;
    }
    if (e->titles > 0 && is_heading(e, e->titles + 1)) {
        out->title = (struct csv_title){
            .line = e->line, .table = e->behind, .cells = e->n, .below = e->n, .padded = true};
        return;
    }
    out->several = several_lines(e);
    const bool second = e->titles == 0 && is_heading(e, 2);
    const struct verdict v = judge(e);
    if (!v.value && !v.token) {
        out->header = v.typed || (!v.unnamed && !v.repeated);
        out->doubtful = !out->header && v.word && v.unnamed && !v.repeated && e->rows > 1;
        out->title_rows = out->doubtful && e->titles > 0 ? e->behind - 1 : 0;
    } else {
        out->doubtful = v.word && !v.odd && !v.repeated;
        out->header = out->doubtful && v.typed && !v.token && !v.unnamed;
        out->doubtful = out->doubtful || v.counts || (v.apart && !v.odd);
        out->second = !out->header && v.word && second ? e->behind : 0;
    }
    out->again = out->header ? e->again : 0;
    out->typed = v.typed && v.word;
}

bool csv_sniff_header(const struct csv_sample *sample, char delimiter, size_t cells,
                      const struct missing *missing, const struct marks *marks,
                      struct csv_header *out) {
    struct evidence e = {.missing = missing,
                         .marks = marks,
                         .detects = marks != NULL && marks_detect(marks, delimiter),
                         .cells = cells,
                         .comment = sample->comment};
    const bool well = csv_sample_read(sample, delimiter,
                                      &(struct csv_handler){.row = header_row, .arg = &e}, NULL) &&
                      !e.no_memory;
    if (well) {
        decide(&e, out);
    }
    free(e.column);
    free(e.text);
    return well;
}

bool csv_header_names(const struct csv_row *row, struct names *out) {
    for (size_t i = 0; i < row->n_cells; i++) {
        const struct text name = csv_cell_trimmed(row, i);
        if (name.n > 0 && names_find(out, name.bytes, name.n) < 0 &&
            !names_add(out, name.bytes, name.n)) {
            return false;
        }
    }
    return true;
}
