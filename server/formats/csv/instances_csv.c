/* Reads instances as separated text. Lines that begin with # are comments by the rule for tables.
 * The first line is a header if each of its cells names a column of the model, if one cell does and
 * none is a number, or if all are words and the model takes only numbers. The columns of a header
 * may have any order; instances_cells.c finds those of rows without a header. */
#include "base/memory/arena.h"
#include "base/nearest.h"
#include "formats/csv/csv.h"
#include "formats/csv/csv_heading.h"
#include "formats/csv/csv_separator.h"
#include "formats/csv/csv_sniff.h"
#include "formats/csv/format_csv.h"
#include "formats/csv/repair/csv_dialect.h"
#include "formats/csv/repair/csv_variant.h"
#include "formats/instances/instances.h"
#include "formats/table/table_options.h"
#include "formats/text/cell_hint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK = 256 * 1024 };

/* The state of reading one body. */
struct reading {
    struct instances *in;
    bool begun;                        /* the first line that is not a comment was read */
    const struct table_options *table; /* how the rows are found */
    int64_t header_left;               /* number of header lines that were not read yet */
    struct csv_heading heading;        /* the header lines so far, if there are several */
    struct slot *column;               /* [n] the slot of each cell; NULL: there are no names */
    /* number of cells expected in a line; before the first line was read: number of cells in the
     * first row of the sample */
    size_t n;
    /* line of a fault in a row that is not delivered yet and may be a comment; 0: there is no such
     * fault */
    int64_t stray_line;
    int64_t stray_column;
    const char *stray_text;
};

/* ---- header ---- */
enum { CASE_INPUTS = 1000 }; /* limit of is_almost_input, whose search takes time */

/* Whether the cell differs from the name of an input in the case of letters only. */
static bool is_almost_input(const struct instances *in, struct text cell) {
    bool found = false;
    for (size_t i = 0; !found && in->n_inputs <= CASE_INPUTS && i < in->n_inputs; i++) {
        const char *name = instances_name(in, i);
        found = nearest_same(cell.bytes, cell.n, name, strlen(name));
    }
    return found;
}

/* Whether the cell is a word, and not one for a missing value. */
static bool is_word(const struct instances *in, struct text cell) {
    const unsigned char c = cell.n > 0 ? (unsigned char)cell.bytes[0] : 0;
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
    double number = 0;
    return letter && !missing_has(in->missing, cell) && !cell_hint_missing(cell.bytes, cell.n) &&
           !dn_number_parse(cell.bytes, cell.n, &number);
}

/* Whether all inputs are numbers. */
static bool takes_only_numbers(const struct instances *in) {
    size_t i = 0;
    while (i < in->n_inputs && in->schema->type[i] == DN_NUMERIC) {
        i++;
    }
    return i > 0 && i == in->n_inputs;
}

/* Whether the first row may be a header, although no cell is a known name: the cell of a text is a
 * single word. */
static bool may_be_header(const struct instances *in, const struct csv_row *row) {
    for (size_t i = 0; i < row->n_cells; i++) {
        const struct slot slot = instances_cell_slot(in, i);
        const struct text t = csv_cell_trimmed(row, i);
        if (slot.input < in->n_inputs && in->schema->type[slot.input] == DN_TEXT &&
            is_word(in, t) && memchr(t.bytes, ' ', t.n) == NULL) {
            return true;
        }
    }
    return false;
}

/* A row of words without a known name is a header too if the model takes only numbers; the unknown
 * names are then reported with the nearest names. */
static bool is_header(struct instances *in, const struct csv_row *row) {
    size_t names = 0, numbers = 0, words = 0;
    for (size_t i = 0; i < row->n_cells && !in->stopped; i++) {
        const struct text t = csv_cell_trimmed(row, i);
        double number = 0;
        const struct slot slot = instances_find(in, t.bytes, t.n, i);
        names += instances_keep_named(in, t, slot).input != SIZE_MAX || is_almost_input(in, t) ||
                 names_find(&in->schema->reading.columns, t.bytes, t.n) >= 0;
        numbers += dn_number_parse(t.bytes, t.n, &number);
        words += is_word(in, t);
    }
    return names == row->n_cells || (names > 0 && numbers == 0) ||
           (words == row->n_cells && words > 1 && takes_only_numbers(in));
}

/* Returns the first cell that names the same column as an earlier cell; row->n_cells if there is
 * none. */
static size_t find_twice(struct reading *r, const struct csv_row *row) {
    struct names seen = {0};
    size_t i = 0;
    for (; i < row->n_cells; i++) {
        const struct text t = csv_cell_trimmed(row, i);
        if (names_find(&seen, t.bytes, t.n) >= 0) {
            break;
        }
        if (!names_add(&seen, t.bytes, t.n)) {
            instances_no_memory(r->in);
            break;
        }
    }
    names_done(&seen);
    return i;
}

struct taken {
    const struct names *so_far, *header;
};

static bool is_taken(const void *arg, const char *bytes, size_t n) {
    const struct taken *by = arg;
    return names_find(by->so_far, bytes, n) >= 0 || names_find(by->header, bytes, n) >= 0;
}

/* Gives repeated names of a header other names, as duplicates=rename of an upload does: name[i].
 * The texts are allocated in the arena. Returns false if out of memory. */
static bool rename_copies(const struct csv_row *row, struct text *name, struct arena *arena) {
    struct names so_far = {0}, header = {0};
    uint32_t *last = calloc(row->n_cells + 1, sizeof *last);
    bool well = last != NULL && csv_header_names(row, &header);
    for (size_t i = 0; i < row->n_cells && well; i++) {
        const ptrdiff_t same = names_find(&so_far, name[i].bytes, name[i].n);
        if (same >= 0 && name[i].n > 0 && name[i].n <= TABLE_MAX_NAME) {
            char made[NAMES_COPY];
            last[same] += last[same] == 0;
            name[i].n =
                names_copy(name[i], &last[same], is_taken, &(struct taken){&so_far, &header}, made);
            name[i].bytes = arena_strndup(arena, made, name[i].n);
            well = name[i].bytes != NULL;
        }
        well = well && (names_find(&so_far, name[i].bytes, name[i].n) >= 0 ||
                        names_add(&so_far, name[i].bytes, name[i].n));
    }
    names_done(&so_far);
    names_done(&header);
    free(last);
    return well;
}

/* Finds the slots of the columns with these names. row: the header, NULL: the names were given. */
static bool claim_names(struct reading *r, const struct text *names, size_t n,
                        const struct csv_row *row) {
    struct instances *in = r->in;
    const size_t twice =
        in->schema->sparse && row != NULL && !r->table->rename ? find_twice(r, row) : n;
    r->column = malloc((n + 1) * sizeof *r->column);
    if (r->column == NULL) {
        instances_no_memory(in);
        return false;
    }
    for (size_t i = 0; i < n && !in->stopped; i++) {
        const char *why = instances_claim(in, names[i], i, &r->column[i]);
        if (why != NULL || i == twice) {
            int64_t line = 0, column = 0;
            char shown[TEXT_SHOWN];
            r->column[i].input = SIZE_MAX;
            if (row != NULL) {
                csv_cell_place(row, i, &line, &column);
            }
            text_show(names[i].bytes, names[i].n, shown);
            instances_fault(in, NULL, line, column,
                            why != NULL ? "%s" : "the column %s comes twice",
                            why != NULL ? why : shown);
        }
    }
    r->n = n;
    in->header_line = row != NULL ? row->line : 0;
    instances_check_keep(in, NULL);
    return !in->stopped;
}

static bool read_header(struct reading *r, const struct csv_row *row) {
    struct text *name = malloc((row->n_cells + 1) * sizeof *name);
    struct arena arena = {0};
    bool well = name != NULL;
    for (size_t i = 0; i < row->n_cells && well; i++) {
        name[i] = csv_cell_trimmed(row, i);
    }
    well = well && (!r->table->rename || rename_copies(row, name, &arena));
    if (!well) {
        instances_no_memory(r->in);
    }
    well = well && claim_names(r, name, row->n_cells, row);
    arena_done(&arena);
    free(name);
    return well;
}

/* Reads the option `names`, which was checked before. */
static bool read_names(struct reading *r) {
    struct problem problem = {0};
    struct text *names = NULL;
    size_t n = 0;
    if (!table_names_parse(r->table->names, &names, &n, &problem)) {
        problem_done(&problem);
        instances_no_memory(r->in);
        return false;
    }
    const bool well = claim_names(r, names, n, NULL);
    free(names);
    return well;
}

/* Decides by the first row how many header lines there are, and reads the option `names`. */
static bool begin_rows(struct reading *r, const struct csv_row *row) {
    const struct table_options *o = r->table;
    const bool looks = o->header == TABLE_HEADER_AUTO && is_header(r->in, row);
    r->begun = true;
    r->header_left =
        o->header == TABLE_HEADER_YES ? (o->header_lines > 1 ? o->header_lines : 1) : looks;
    if (looks && o->names != NULL) {
        instances_fault(r->in, NULL, row->line, 1,
                        "the first row looks like a header: set header=true to replace its names "
                        "by those of the option \"names\", or header=false if it is data");
        r->in->stopped = true;
    }
    return !r->in->stopped && (o->names == NULL || read_names(r));
}

/* Reads a header line. */
static bool read_heading(struct reading *r, const struct csv_row *row) {
    struct csv_row joined = *row;
    /* no column has a name with a line end: on_error=repair of an upload has replaced it */
    const bool several = r->header_left > 1 || r->heading.lines > 0 || csv_heading_is_broken(row);
    r->header_left--;
    if (several && !csv_heading_add(&r->heading, row)) {
        instances_no_memory(r->in);
        return false;
    }
    if (r->header_left > 0 || r->table->names != NULL) {
        return true;
    }
    (void)csv_heading_mend(&r->heading);
    if (r->heading.n > row->n_cells) {
        instances_fault(r->in, NULL, row->line, 1,
                        "the last header line has %zu cell%s, and one above it has %zu",
                        row->n_cells, row->n_cells == 1 ? "" : "s", r->heading.n);
        r->in->stopped = true;
    } else if (several && !csv_heading_row(&r->heading, row, &joined)) {
        instances_no_memory(r->in);
    }
    return !r->in->stopped && read_header(r, &joined);
}

/* ---- rows ---- */
static void put_cell(struct reading *r, const struct csv_row *row, size_t i, struct slot slot,
                     double *out) {
    struct instances *in = r->in;
    const struct csv_cell *cell = &row->cells[i];
    const bool number =
        cell->kind != CSV_TEXT && slot.input < in->n_inputs && !in->missing->numbers && !in->marked;
    if (number && in->schema->type[slot.input] == DN_NUMERIC) {
        out[slot.input] = cell->number;
        return;
    }
    if (number && in->schema->type[slot.input] == DN_SPARSE) {
        if (cell->number != 0) {
            instances_put_entry(in, slot.input, slot.place, cell->number);
        }
        return;
    }
    const struct value value = {.kind = VALUE_TEXT,
                                .text = {csv_cell_text(row, cell), cell->length},
                                .bare = !cell->quoted};
    const char *why = instances_put(in, slot, &value);
    if (why != NULL) {
        int64_t line = 0, column = 0;
        csv_cell_place(row, i, &line, &column);
        instances_fault_cell(in, slot, line, column, why);
    }
}

static void fault_width(struct reading *r, const struct csv_row *row) {
    struct instances *in = r->in;
    struct buf expected = {0};
    int64_t line = 0, column = 0;
    csv_cell_place(row, row->n_cells > r->n ? r->n : row->n_cells, &line, &column);
    if (r->column != NULL || in->cells_known) {
        buf_printf(&expected, "%zu", r->n);
    } else {
        instances_put_expected(in, &expected);
    }
    instances_fault(in, NULL, line, column, "instance %zu has %zu cell%s, expected %s",
                    (size_t)in->n_begun - 1, row->n_cells, row->n_cells == 1 ? "" : "s",
                    buf_cstr(&expected) != NULL ? buf_cstr(&expected) : "another number");
    buf_done(&expected);
}

static bool on_row(void *arg, const struct csv_row *row) {
    struct reading *r = arg;
    struct instances *in = r->in;
    const int64_t stray_line = r->stray_line;
    r->stray_line = 0;
    if (csv_is_comment(row, r->n, in->comment)) {
        return true;
    }
    if (stray_line > 0) {
        instances_fault(in, NULL, stray_line, r->stray_column, "%s", r->stray_text);
    }
    if (!r->begun && !begin_rows(r, row)) {
        return false;
    }
    if (r->header_left > 0) {
        return read_heading(r, row);
    }
    if (r->column == NULL && !in->cells_known) {
        if (!instances_know_cells(in, row->n_cells, NULL, row->line)) {
            return false;
        }
        r->n = in->n_row;
        if (r->table->header == TABLE_HEADER_AUTO && row->n_cells == r->n &&
            may_be_header(in, row)) {
            instances_warn(in, "the first row was read as data, as it has no name of a column: if "
                               "it is the header, set header=true");
        }
    }
    double *out = instances_row(in);
    if (out == NULL) {
        return false;
    }
    if (row->n_cells != r->n) {
        fault_width(r, row);
        (void)instances_row_end(in);
        return !in->stopped;
    }
    for (size_t i = 0; i < r->n && !in->stopped; i++) {
        const struct slot slot = r->column != NULL ? r->column[i] : instances_cell_slot(in, i);
        if (slot.input != SIZE_MAX) {
            put_cell(r, row, i, slot, out);
        }
    }
    /* read_header has checked that no column is named twice */
    (void)instances_row_end(in);
    return !in->stopped;
}

static void on_fault(void *arg, int64_t line, int64_t column, bool fatal, const char *text) {
    struct reading *r = arg;
    if (fatal) {
        instances_fault(r->in, NULL, line, column, "%s", text);
        r->in->stopped = true;
    } else if (r->stray_line == 0) {
        r->stray_line = line;
        r->stray_column = column;
        r->stray_text = text;
    }
}

/* The first row of a sample. */
struct first_row {
    struct instances *in;
    size_t n_cells; /* number of cells of the sample's first row that is not a comment */
    bool header;
};

static bool on_first_row(void *arg, const struct csv_row *row) {
    struct first_row *first = arg;
    if (csv_is_comment(row, first->n_cells, first->in->comment)) {
        return true;
    }
    const struct table_options *o = first->in->options->table;
    first->header = (o != NULL && (o->names != NULL || o->header == TABLE_HEADER_YES)) ||
                    ((o == NULL || o->header == TABLE_HEADER_AUTO) && is_header(first->in, row));
    return false;
}

/* Detects the delimiter. If the body has no header, that of the training table is chosen if it
 * divides the first row into as many cells as a row without a header has. If that is one cell, it
 * may be a text with blanks: runs of blanks are then chosen only if they make a header of the first
 * row, or if the training table had them. */
static char find_delimiter(struct instances *in, const struct csv_sample *sample,
                           struct csv_shape *shape) {
    const char found = csv_sniff_delimiter(sample, shape), trained = in->schema->reading.delimiter;
    const bool other = trained != '\0' && trained != found && trained != sample->comment;
    struct first_row first = {.in = in, .n_cells = shape->cells};
    struct csv_shape by_trained = {0};
    if ((found != CSV_BLANKS && !other) || shape->no_memory) {
        return found;
    }
    if (!csv_sample_read(sample, found, &(struct csv_handler){.row = on_first_row, .arg = &first},
                         NULL)) {
        shape->no_memory = true;
    }
    if (other && !first.header) {
        csv_sniff_shape(sample, trained, &by_trained);
        shape->no_memory |= by_trained.no_memory;
    }
    /* a row of the inputs is likelier than one with all columns of the training table */
    const bool inputs =
        instances_is_plain(in, shape->cells) && !instances_is_plain(in, by_trained.cells);
    if (!inputs && instances_may_have(in, by_trained.cells)) {
        by_trained.no_memory = shape->no_memory;
        *shape = by_trained;
        return trained;
    }
    if (found == CSV_BLANKS && trained != CSV_BLANKS && !first.header &&
        instances_may_have(in, 1)) {
        csv_sniff_shape(sample, ',', shape);
        return ',';
    }
    return found;
}

/* Measures how the dialect divides the sample, and finds its shape. */
static bool measure(struct instances *in, const struct csv_sample *sample,
                    const struct csv_dialect *d, struct csv_variant_fit *out) {
    const struct csv_sample by = csv_variant_by(sample, d);
    struct first_row first = {.in = in};
    if (!csv_variant_measure(sample, d, out)) {
        return false;
    }
    first.n_cells = out->cells;
    const bool well =
        csv_sample_read(&by, d->delimiter[0],
                        &(struct csv_handler){.row = on_first_row, .arg = &first}, NULL);
    out->fits = first.header || instances_may_have(in, out->cells);
    return well;
}

/* Finds the dialect of the rows, if it is that of the training table and struct csv does not read
 * it. usual: the delimiter that is taken otherwise. Returns false if out of memory. */
static bool find_variant(struct instances *in, const struct csv_sample *sample, char given,
                         char usual, struct csv_dialect *out) {
    const struct csv_dialect d = csv_variant_with(&in->schema->reading.dialect, given);
    const struct csv_dialect other = csv_variant_with(&(struct csv_dialect){0}, usual);
    struct csv_variant_fit fit, other_fit;
    *out = (struct csv_dialect){0};
    if (!csv_variant_needed(&d)) {
        return true;
    }
    if (!measure(in, sample, &d, &fit) || !measure(in, sample, &other, &other_fit)) {
        return false;
    }
    if (csv_variant_better(&fit, &other_fit)) {
        *out = d;
    }
    return true;
}

/* Reads the body in the dialect. Returns false if out of memory. */
static bool read_variant(struct reading *r, const struct csv_sample *sample,
                         const struct csv_dialect *d, const char *body, size_t size) {
    struct csv_variant v;
    csv_variant_init(&v, d, sample->comment, sample->skip,
                     &(struct csv_handler){.row = on_row, .fault = on_fault, .arg = r});
    if (csv_variant_feed(&v, body, size)) {
        csv_variant_end(&v);
    }
    csv_variant_done(&v);
    return !v.no_memory;
}

/* Reads the body in the usual dialect. Returns false if out of memory. */
static bool read_usual(struct reading *r, const struct csv_sample *sample, char delimiter,
                       const char *body, size_t size) {
    struct csv csv;
    csv_init(&csv, delimiter, TABLE_MAX_CELL, TABLE_MAX_COLUMNS,
             &(struct csv_handler){.row = on_row, .fault = on_fault, .arg = r});
    csv_skip(&csv, sample->skip);
    csv.comment = sample->comment;
    if (csv_feed(&csv, body, size)) {
        csv_end(&csv);
    }
    csv_done(&csv);
    return !csv.no_memory;
}

/* delimiter '\0': it is detected from the sample. */
static bool read_separated(struct instances *in, const char *body, size_t size, char delimiter,
                           struct instance_rows *out) {
    static const struct table_options usual = {0};
    const struct table_options *table = in->options->table != NULL ? in->options->table : &usual;
    struct reading r = {.in = in, .table = table};
    struct csv_dialect variant = {0};
    struct csv_sample sample = {.bytes = body,
                                .n = size < LOOK ? size : LOOK,
                                .whole = size <= LOOK,
                                .comment = in->comment,
                                .skip = table->skip_rows};
    struct csv_shape shape;
    if (csv_separator_line(&sample, &delimiter) == CSV_SEPARATOR_FOUND && sample.skip == 0) {
        sample.skip = 1;
    }
    delimiter = table->delimiter != '\0' ? table->delimiter : delimiter;
    const char given = delimiter;
    if (delimiter == '\0') {
        delimiter = find_delimiter(in, &sample, &shape);
    } else {
        csv_sniff_shape(&sample, delimiter, &shape);
    }
    bool memory = !shape.no_memory && find_variant(in, &sample, given, delimiter, &variant);
    if (variant.n > 0) {
        const struct csv_sample by = csv_variant_by(&sample, &variant);
        delimiter = csv_dialect_char(&variant);
        csv_sniff_shape(&by, delimiter, &shape);
    }
    instances_use_marks(in, delimiter);
    r.n = shape.cells;
    memory = memory && !shape.no_memory &&
             (variant.n > 0 ? read_variant(&r, &sample, &variant, body, size)
                            : read_usual(&r, &sample, delimiter, body, size));
    if (!memory) {
        instances_no_memory(in);
    }
    const bool well = instances_finish(in, NULL, out);
    csv_heading_done(&r.heading);
    free(r.column);
    return well;
}

static bool read_csv(struct instances *in, const char *body, size_t size,
                     struct instance_rows *out) {
    return read_separated(in, body, size, '\0', out);
}

static bool read_tsv(struct instances *in, const char *body, size_t size,
                     struct instance_rows *out) {
    return read_separated(in, body, size, '\t', out);
}

/* CSV accepts any body, after the other formats have refused it. */
static bool sniff_any(const char *body, size_t size) {
    (void)body;
    (void)size;
    return true;
}

static bool sniff_none(const char *body, size_t size) {
    (void)body;
    (void)size;
    return false; /* csv_instances detects tab-separated bodies too */
}

const struct instances_reader csv_instances = {.sniff = sniff_any, .read = read_csv};
const struct instances_reader tsv_instances = {.sniff = sniff_none, .read = read_tsv};
