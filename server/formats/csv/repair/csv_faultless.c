#include "formats/csv/repair/csv_faultless.h"
#include "formats/csv/repair/csv_align.h"
#include "formats/csv/repair/csv_raw.h"
#include "formats/text/scan.h"

#include <stdlib.h>

enum { LEAST_ROWS = 3, LEAST_CELLS = 3 };

/* ---- the usual dialect ---- */
struct plain {
    const struct csv_sample *sample;
    size_t cells; /* number of cells of the first row; 0: there was none */
    bool faulty;
};

static bool plain_row(void *arg, const struct csv_row *row) {
    struct plain *p = arg;
    if ((p->cells == 0 && p->sample->comment == '\0' && csv_begins_sharp(row)) ||
        csv_is_comment(row, p->cells, p->sample->comment)) {
        return true;
    }
    p->cells = p->cells > 0 ? p->cells : row->n_cells;
    p->faulty = p->faulty || row->n_cells != p->cells;
    return !p->faulty;
}

static void plain_fault(void *arg, int64_t line, int64_t column, bool fatal, const char *text) {
    (void)line;
    (void)column;
    (void)fatal;
    (void)text;
    ((struct plain *)arg)->faulty = true;
}

/* Rows of a sample that look like a table with a header. */
struct inner {
    size_t rows;  /* of the sample */
    size_t cells; /* number of cells of the header; 0: there was none */
    /* number of the rows below it with a number, which have as many cells, one more or one less */
    size_t below;
};

static bool inner_row(void *arg, const struct csv_raw_row *row) {
    struct inner *in = arg;
    const size_t n = row->split->n;
    size_t filled = 0, values = 0;
    csv_raw_count(row, &filled, &values);
    if (in->below == 0 && n >= LEAST_CELLS && filled == n && values == 0) {
        in->cells = n;
    } else {
        in->below += in->cells > 0 && n + 1 >= in->cells && n <= in->cells + 1 && values > 0;
    }
    return ++in->rows < CSV_SNIFF_ROWS;
}

/* Whether a usual delimiter shows a table within the lines of a table of one column. */
static bool find_inner(const struct csv_sample *sample, char delimiter, bool *found) {
    static const char usual[] = ",;\t|";
    for (size_t i = 0; i < sizeof usual - 1 && !*found; i++) {
        const struct csv_dialect d = {.delimiter = {usual[i]}, .n = 1, .quote = '"'};
        struct inner in = {0};
        if (usual[i] != delimiter && usual[i] != sample->comment &&
            !csv_raw_sample(sample, &d, 0,
                            &(struct csv_raw_handler){.row = inner_row, .arg = &in})) {
            return false;
        }
        *found = in.below > 1 && 2 * (in.below + 1) >= in.rows;
    }
    return true;
}

bool csv_faultless_check(const struct csv_sample *sample, char delimiter, size_t *cells) {
    struct plain p = {.sample = sample};
    bool inner = false;
    const bool well =
        csv_sample_read(sample, delimiter,
                        &(struct csv_handler){.row = plain_row, .fault = plain_fault, .arg = &p},
                        NULL) &&
        (p.cells != 1 || p.faulty || find_inner(sample, delimiter, &inner));
    *cells = p.faulty || inner ? 0 : p.cells;
    return well;
}

/* ---- other dialects ---- */
struct column {
    uint64_t hash; /* of the text in the first row */
    size_t length; /* of that text */
    bool differs;  /* another row has another text */
    /* number of cells below the first row that are not empty, and of those in quotes */
    size_t filled, quoted;
};
struct other {
    size_t rows, cells;
    struct column *column; /* [cells] */
    bool word;             /* a cell of the first row is not a number */
    bool named;            /* no cell of the first row is empty */
    bool lengths;          /* a cell differs in length from that of the first row */
    bool failed;           /* a row of another number of cells, or a quote without its partner */
    bool no_memory;
};

static uint64_t hash_of(struct text t) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < t.n; i++) {
        hash = (hash ^ (unsigned char)t.bytes[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

static bool is_number(struct text t) {
    double number = 0;
    unsigned written = 0;
    return t.n == 0 || scan_number(t.bytes, &number, &written) == t.n;
}

static bool other_row(void *arg, const struct csv_raw_row *row) {
    struct other *o = arg;
    if (o->rows == 0) {
        o->cells = row->split->n;
        o->column = calloc(o->cells, sizeof *o->column);
        o->no_memory = o->column == NULL;
    }
    o->failed = row->split->n != o->cells || row->split->open + row->split->stray > 0;
    if (o->failed || o->no_memory) {
        return false;
    }
    for (size_t i = 0; i < o->cells; i++) {
        struct column *column = &o->column[i];
        const struct text t = csv_split_trimmed(row->bytes, &row->split->piece[i]);
        if (o->rows == 0) {
            column->hash = hash_of(t);
            column->length = t.n;
            o->word = o->word || !is_number(t);
            o->named = (i == 0 || o->named) && t.n > 0;
            continue;
        }
        column->differs = column->differs || t.n != column->length || hash_of(t) != column->hash;
        o->lengths = o->lengths || t.n != column->length;
        column->filled += t.n > 0;
        column->quoted += t.n > 0 && row->split->piece[i].quoted;
    }
    o->rows++;
    return true;
}

/* Reads the sample. *out: free its columns. */
static bool read_other(const struct csv_sample *sample, const struct csv_dialect *d,
                       struct other *out) {
    *out = (struct other){0};
    return csv_raw_sample(sample, d, 0, &(struct csv_raw_handler){.row = other_row, .arg = out}) &&
           !out->no_memory;
}

bool csv_faultless_delimiter(const struct csv_sample *sample, const struct csv_dialect *d,
                             size_t cells, bool *strong) {
    struct other o;
    const bool well = read_other(sample, d, &o);
    *strong = !o.failed && o.rows > 0;
    if (cells > 1) {
        *strong = *strong && o.rows >= LEAST_ROWS && 2 * o.cells == cells + 1 && o.named;
    } else {
        *strong = *strong && o.rows >= LEAST_ROWS && o.cells >= LEAST_CELLS && o.word && o.lengths;
        for (size_t i = 0; i < o.cells && *strong; i++) {
            *strong = o.column[i].differs;
        }
    }
    free(o.column);
    return well;
}

bool csv_faultless_quote(const struct csv_sample *sample, const struct csv_dialect *d, size_t cells,
                         bool *strong) {
    struct other o;
    const bool well = read_other(sample, d, &o);
    bool all = false;
    for (size_t i = 0; well && i < o.cells; i++) {
        all = all || (o.column[i].filled >= LEAST_ROWS && o.column[i].quoted == o.column[i].filled);
    }
    *strong = well && !o.failed && (o.cells == cells || cells == 0) && all;
    free(o.column);
    return well;
}
