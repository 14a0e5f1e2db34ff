/* A table reader: options, finding out the format from the first bytes, faults, the summary. */
#include "wire/table.h"
#include "base/heap.h"
#include "base/json_write.h"
#include "wire/csv_sniff.h"
#include "wire/wire.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many of the first bytes are looked at: more only if a row is so long that two do not fit. */
enum { LOOK_FIRST = 64 * 1024, LOOK_MAX = 4 * 1024 * 1024 };
/* A body from which so much was read leaves many small pieces of freed memory behind, most of all one of many columns. */
enum { GIVE_BACK_BYTES = 4 * 1024 * 1024 };

/* A row so wide, of a body sent as a form, is most likely a whole table without its line breaks. */
enum { FORM_COLUMNS = 100 };
#define FORM_HINT "curl -d takes the line breaks out of a file; send it with -T or --data-binary"

/* ---- faults ------------------------------------------------------------------------------------------------------------------------- */
static bool fault_take(struct wire_table *t, int64_t line, int64_t column, struct buf *text) {
    const char *detail = buf_cstr(text);
    t->builder.broken = true;
    if (t->n_faults++ >= WIRE_MAX_FAULTS) {
        t->problem.n_dropped++;
    } else if (line > 0) {
        problem_add_line(&t->problem, PROBLEM_INVALID_DATASET, line, column, "%s", detail != NULL ? detail : "");
    } else {
        problem_add(&t->problem, PROBLEM_INVALID_DATASET, "", "%s", detail != NULL ? detail : "");
    }
    buf_done(text);
    t->refused |= t->n_faults >= TABLE_MAX_FAULTS;
    return !t->refused;
}

bool table_fault(struct wire_table *t, int64_t line, int64_t column, const char *format, ...) {
    struct buf text = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    return fault_take(t, line, column, &text);
}

bool table_fatal(struct wire_table *t, int64_t line, int64_t column, const char *format, ...) {
    struct buf text = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    fault_take(t, line, column, &text);
    t->refused = true;
    return false;
}

bool table_stop(struct wire_table *t) {
    problem_done(&t->problem);
    problem_move(&t->problem, &t->builder.problem);
    t->refused = true;
    return false;
}

void table_warn(struct wire_table *t, const char *format, ...) {
    struct buf text = {0};
    va_list args;
    if (++t->n_warnings > BUILDER_MAX_WARNINGS) {
        return;
    }
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    if (!text.failed) {
        if (t->warnings.size > 0) {
            buf_putc(&t->warnings, ',');
        }
        json_escape(&t->warnings, text.data, text.size);
    }
    buf_done(&text);
}

/* The same problem again, for a caller that asks twice. */
static bool problem_again(struct problem *to, const struct problem *from) {
    problem_set(to, from->type, "%s", from->detail != NULL ? from->detail : "");
    for (size_t i = 0; i < from->n_errors; i++) {
        const struct problem_error *e = &from->errors[i];
        if (e->line > 0) {
            problem_add_line(to, from->type, e->line, e->column, "%s", e->detail != NULL ? e->detail : "");
        } else {
            problem_add(to, from->type, e->pointer, "%s", e->detail != NULL ? e->detail : "");
        }
    }
    to->n_dropped += from->n_dropped;
    return false;
}

/* ---- columns ------------------------------------------------------------------------------------------------------------------------ */
static bool has_control(struct text t) {
    for (size_t i = 0; i < t.n; i++) {
        if ((unsigned char)t.bytes[i] < 0x20 || t.bytes[i] == 0x7F) {
            return true;
        }
    }
    return false;
}

/* false: reading stops. */
static bool check_name(struct wire_table *t, struct text name, size_t position, const struct csv_row *row) {
    const ptrdiff_t same = names_find(&t->builder.names, name.bytes, name.n);
    char shown[TEXT_SHOWN];
    if (name.n <= WIRE_MAX_NAME && !has_control(name) && same < 0) {
        return true;
    }
    int64_t line = 0, column = 0;
    if (row != NULL) {
        csv_cell_place(row, position - 1, &line, &column);
    } else {
        wire_json_place(&t->json, &line, &column);
    }
    const char *as = text_show(name.bytes, name.n, shown);
    if (name.n > WIRE_MAX_NAME) {
        return table_fault(t, line, column, "column name %s is %zu bytes long, at most %d are allowed", as, name.n, WIRE_MAX_NAME);
    }
    if (same >= 0) {
        return table_fault(t, line, column, "column name %s is used twice: columns %td and %zu", as, same + 1, position);
    }
    return table_fault(t, line, column, "column name %s has a control character", as);
}

bool table_add_column(struct wire_table *t, const char *bytes, size_t n, size_t position, const struct names *header,
                      const struct csv_row *row) {
    char made[64];
    struct text name = text_trim(bytes, n);
    if (name.n == 0) {
        name = (struct text){made, (size_t)snprintf(made, sizeof made, "c%zu", position)};
        for (size_t k = 2;
             names_find(&t->builder.names, name.bytes, name.n) >= 0 || (header && names_find(header, name.bytes, name.n) >= 0); k++) {
            name.n = (size_t)snprintf(made, sizeof made, "c%zu_%zu", position, k);
        }
        table_warn(t, "column %zu has no name: it is called \"%s\"", position, made);
    }
    const bool go_on = check_name(t, name, position, row);
    if (t->n_faults > 0) { /* the table is refused: a name that keeps the numbering */
        name = (struct text){made, (size_t)snprintf(made, sizeof made, "\001%zu", position)};
    }
    if (builder_add_column(&t->builder, name.bytes, name.n) != BUILDER_WELL) {
        return table_stop(t);
    }
    return go_on;
}

/* ---- the first bytes ---------------------------------------------------------------------------------------------------------------- */
/* The body begins like JSON. */
static bool looks_like_json(const char *bytes, size_t n) {
    size_t i = n >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (i < n && (bytes[i] == ' ' || bytes[i] == '\t' || bytes[i] == '\n' || bytes[i] == '\r')) {
        i++;
    }
    return i < n && (bytes[i] == '[' || bytes[i] == '{');
}

static bool find_header(struct wire_table *t, const char *bytes, size_t n, bool whole) {
    struct csv_header found = {0};
    if (!csv_sniff_header(bytes, n, whole, t->delimiter, &t->builder.missing, &found)) {
        problem_set(&t->builder.problem, PROBLEM_UNAVAILABLE, "no memory left");
        return table_stop(t);
    }
    t->header = found.header;
    if (found.doubtful && found.header) {
        table_warn(t, "the first row was taken for the header, though it has numbers: if it is data, say header=false");
    } else if (found.doubtful) {
        table_warn(t, "the first row was taken for data, as it has numbers or tokens for missing: if it is the header, say header=true");
    }
    return true;
}

/* Format, delimiter, header from the first t->look bytes (whole: there are no more). false: the look must be longer, or the table is refused. */
static bool decide(struct wire_table *t, bool whole) {
    const char *bytes = t->ahead.data != NULL ? t->ahead.data : "";
    const size_t n = t->ahead.size;
    t->format = t->options.format == WIRE_JSON || (t->options.format == WIRE_SNIFF && looks_like_json(bytes, n)) ? WIRE_JSON : WIRE_CSV;
    if (t->format == WIRE_JSON) {
        t->decided = true;
        wire_json_init(&t->json);
        return true;
    }
    size_t n_rows = 0;
    t->delimiter = csv_sniff_delimiter(bytes, n, whole, &n_rows);
    if (!whole && n_rows < 2 && t->look < LOOK_MAX) {
        t->look *= 2;
        return false;
    }
    if (t->options.delimiter != '\0' || t->options.format == WIRE_TSV) {
        t->delimiter = t->options.delimiter != '\0' ? t->options.delimiter : '\t';
    }
    t->header = t->options.header == WIRE_HEADER_YES;
    if (t->options.header == WIRE_HEADER_AUTO && !find_header(t, bytes, n, whole)) {
        return false;
    }
    t->decided = true;
    table_csv_begin(t);
    return true;
}

static bool consume(struct wire_table *t, const char *bytes, size_t n) {
    return t->format == WIRE_JSON ? table_json_feed(t, bytes, n) : table_csv_feed(t, bytes, n);
}

/* Reads what was looked at. */
static bool consume_ahead(struct wire_table *t) {
    const char *bytes = t->ahead.data != NULL ? t->ahead.data : "";
    const size_t mark = t->format == WIRE_JSON && t->ahead.size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    const bool well = consume(t, bytes + mark, t->ahead.size - mark);
    buf_done(&t->ahead);
    return well;
}

/* Takes bytes to look at and decides as soon as there are enough; *used of them were taken. */
static bool look_ahead(struct wire_table *t, const char *bytes, size_t n, size_t *used) {
    *used = 0;
    while (!t->decided && !t->refused && *used < n) {
        const size_t room = t->look - t->ahead.size, take = n - *used < room ? n - *used : room;
        buf_append(&t->ahead, bytes + *used, take);
        *used += take;
        if (t->ahead.failed) {
            problem_set(&t->builder.problem, PROBLEM_UNAVAILABLE, "no memory left");
            return table_stop(t);
        }
        if (t->ahead.size == t->look && decide(t, false) && !consume_ahead(t)) {
            return false;
        }
    }
    return !t->refused;
}

/* ---- the face ----------------------------------------------------------------------------------------------------------------------- */
struct wire_table *wire_table_new(const struct wire_table_options *options, const struct wire_table_sink *sink) {
    struct wire_table *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return NULL;
    }
    t->options = *options;
    t->look = LOOK_FIRST;
    t->sha256 = hash_sha256_new();
    struct problem problem = {0};
    if (t->sha256 == NULL || !builder_init(&t->builder, options, sink, &problem)) {
        /* options that wire_table_option has not seen may be wrong: told at the first call */
        if (problem.type != PROBLEM_BAD_REQUEST) {
            problem_done(&problem);
            wire_table_free(t);
            return NULL;
        }
        problem_move(&t->problem, &problem);
        t->refused = true;
    }
    return t;
}

void wire_table_free(struct wire_table *t) {
    if (t == NULL) {
        return;
    }
    builder_done(&t->builder);
    hash_sha256_free(t->sha256);
    csv_done(&t->csv);
    wire_json_done(&t->json);
    buf_done(&t->at.name);
    buf_done(&t->ahead);
    buf_done(&t->warnings);
    buf_done(&t->columns);
    buf_done(&t->notes);
    problem_done(&t->problem);
    const bool large = t->bytes >= GIVE_BACK_BYTES;
    free(t);
    if (large) {
        heap_give_back();
    }
}

bool wire_table_feed(struct wire_table *t, const char *bytes, size_t n, struct problem *problem) {
    if (!t->refused) {
        size_t used = 0;
        hash_sha256_add(t->sha256, bytes, n);
        t->bytes += (int64_t)n;
        if ((t->decided || look_ahead(t, bytes, n, &used)) && t->decided && used < n) {
            consume(t, bytes + used, n - used);
        }
    }
    return !t->refused || problem_again(problem, &t->problem);
}

/* The rest of the body, and the rules that need the whole. */
static bool read_end(struct wire_table *t) {
    if (!t->decided && (!decide(t, true) || !consume_ahead(t))) {
        return false;
    }
    if (!(t->format == WIRE_JSON ? table_json_end(t) : table_csv_end(t))) {
        return false;
    }
    const struct type_override *unused = NULL;
    char shown[TEXT_SHOWN];
    for (size_t i = 0; t->builder.n_columns > 0 && (unused = builder_unused_type(&t->builder, &i)) != NULL;) {
        table_fault(t, 0, 0, "option \"types\" names %s, which is no column of the table", text_show(unused->name, unused->length, shown));
    }
    if (t->builder.n_rows == 0 && t->n_faults == 0) {
        table_fault(t, 0, 0, "the table has no rows: %s%s",
                    t->bytes == 0              ? "the body is empty"
                    : t->builder.n_columns > 0 ? "there is only a header"
                                               : "there is nothing in it",
                    t->options.form && t->bytes > 0 ? "; " FORM_HINT : "");
    } else if (t->options.form && t->builder.n_rows == 1 && t->builder.n_columns >= FORM_COLUMNS) {
        table_warn(t, "the table has one row of %zu columns: " FORM_HINT, t->builder.n_columns);
    }
    if (t->comma_column > 0 && t->builder.column[t->comma_column - 1].state == COLUMN_STRINGS) {
        table_warn(t, "column \"%s\" has cells like %s, which are no numbers here: write decimal fractions with a point",
                   t->builder.column[t->comma_column - 1].name, t->comma_text);
    }
    return t->n_faults == 0 && t->problem.type == PROBLEM_NONE;
}

static void write_notes(struct wire_table *t) {
    struct json_writer w;
    json_writer_init(&w, &t->notes);
    json_begin_object(&w);
    json_kv_string(&w, "format", t->format == WIRE_JSON ? "json" : "csv");
    if (t->format == WIRE_CSV) {
        json_put_key(&w, "delimiter");
        json_put_stringn(&w, &t->delimiter, 1);
        json_kv_bool(&w, "header", t->header);
    }
    json_put_key(&w, "missing");
    json_begin_array(&w);
    for (size_t i = 0; i < t->builder.missing.n; i++) {
        json_put_stringn(&w, t->builder.missing.token[i].bytes, t->builder.missing.token[i].n);
    }
    json_end_array(&w);
    json_put_key(&w, "warnings");
    json_begin_array(&w);
    if (t->warnings.size > 0) {
        json_put_raw(&w, t->warnings.data, t->warnings.size);
    }
    builder_write_warnings(&t->builder, &w);
    json_end_array(&w);
    json_end_object(&w);
}

bool wire_table_end(struct wire_table *t, struct wire_table_summary *out, struct problem *problem) {
    if (t->refused || !read_end(t)) {
        t->refused = true;
        return problem_again(problem, &t->problem);
    }
    t->refused = true; /* nothing may follow */
    if (!builder_finish(&t->builder, problem)) {
        return false;
    }
    struct json_writer w;
    json_writer_init(&w, &t->columns);
    builder_write_columns(&t->builder, &w);
    write_notes(t);
    struct wire_table_summary summary = {.n_rows = t->builder.n_rows,
                                         .n_columns = (int64_t)t->builder.n_columns,
                                         .n_chunks = t->builder.n_chunks,
                                         .bytes = t->bytes,
                                         .columns = buf_cstr(&t->columns),
                                         .notes = buf_cstr(&t->notes)};
    if (summary.columns == NULL || summary.notes == NULL || !builder_content(&t->builder, summary.content)) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory left");
    }
    hash_sha256_hex(t->sha256, summary.sha256);
    *out = summary;
    return true;
}
