/* The table reader: chooses the format from the first bytes, passes the body to the reader of that
 * format, writes the notes. */
#include "formats/table/table.h"
#include "base/json/json_write.h"
#include "base/memory/heap.h"
#include "formats/formats.h"
#include "formats/text/foreign.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the first sample, and of the longest one. The sample grows only if it has fewer than two
 * rows. */
enum { LOOK_FIRST = 64 * 1024, LOOK_MAX = 4 * 1024 * 1024 };
/* A body of at least so many bytes leaves many small pieces of free memory, which heap_give_back
 * returns to the system. */
enum { GIVE_BACK_BYTES = 4 * 1024 * 1024 };

/* A single row of at least so many cells, sent as a form, is probably a table whose line breaks
 * were removed (curl -d does so). */
enum { FORM_COLUMNS = 100 };
#define FORM_HINT "curl -d removes the line breaks of a file; send it with -T or --data-binary"

/* ---- the first bytes ---- */
/* Doubles the size of the sample. Returns false if the sample is the whole body or has the largest
 * size. */
static bool look_further(struct table *t, bool whole) {
    if (whole || t->look >= LOOK_MAX) {
        return false;
    }
    t->look *= 2;
    return true;
}

/* Finds the reader of the body. Returns false if the sample must be longer or the table is
 * refused. */
static bool find_reader(struct table *t, const struct table_sample *sample) {
    if (t->options.format != NULL) {
        t->reader = t->options.format->table;
        return true;
    }
    for (size_t i = 0; formats[i] != NULL; i++) {
        const struct table_reader *reader = formats[i]->table;
        const enum table_sniff found = reader != NULL ? reader->sniff(t, sample) : TABLE_SNIFF_NO;
        if (found == TABLE_SNIFF_NO_MEMORY) {
            return table_no_memory(t);
        }
        if (found == TABLE_SNIFF_MORE && look_further(t, sample->whole)) {
            return false;
        }
        if (found != TABLE_SNIFF_NO) {
            t->reader = reader;
            return true;
        }
    }
    return table_fatal(t, 1, 1, "the format of the body is not known");
}

bool table_is_sparse(const struct table *t) {
    return t->append.on && t->builder.n_columns == 2 && t->builder.column[1].state == COLUMN_SPARSE;
}

/* Decides how to read the body from the first t->look bytes (whole: the sample is the whole body).
 * Returns false if the sample must be longer or the table is refused. */
static bool decide(struct table *t, bool whole) {
    const struct table_sample sample = {.bytes = t->ahead.data != NULL ? t->ahead.data : "",
                                        .n = t->ahead.size,
                                        .whole = whole};
    const char *foreign = foreign_body(sample.bytes, sample.n);
    if (foreign != NULL) {
        return table_fatal(t, 1, 1, "%s", foreign);
    }
    if (!find_reader(t, &sample)) {
        return false;
    }
    switch (t->reader->begin(t, &sample, !whole && t->look < LOOK_MAX)) {
    case TABLE_BEGIN_MORE:
        (void)look_further(t, whole);
        return false;
    case TABLE_BEGIN_REFUSED:
        return false;
    case TABLE_BEGUN:
        break;
    }
    t->decided = true;
    if (t->options.zero_based && (t->reader->options & TABLE_OPTION_ZERO_BASED) == 0) {
        table_warn(t, "option \"zero_based\" was not used: the body is not svmlight");
    }
    if (table_is_sparse(t) && !t->reader->sparse) {
        return table_fatal(t, 0, 0, "rows of a sparse dataset are appended as text/x-svmlight");
    }
    return true;
}

/* Passes the sample to the reader. */
static bool consume_ahead(struct table *t) {
    const char *bytes = t->ahead.data != NULL ? t->ahead.data : "";
    const bool well = t->reader->feed(t, bytes, t->ahead.size);
    buf_done(&t->ahead);
    return well;
}

/* Adds bytes to the sample, and decides how to read the body once the sample is long enough. *used:
 * number of bytes added. */
static bool look_ahead(struct table *t, const char *bytes, size_t n, size_t *used) {
    *used = 0;
    while (!t->decided && !t->refused && *used < n) {
        const size_t room = t->look - t->ahead.size, take = n - *used < room ? n - *used : room;
        buf_append(&t->ahead, bytes + *used, take);
        *used += take;
        if (t->ahead.failed) {
            return table_no_memory(t);
        }
        if (t->ahead.size == t->look && decide(t, false) && !consume_ahead(t)) {
            return false;
        }
    }
    return !t->refused;
}

/* ---- public functions ---- */
struct table *table_new(const struct table_options *options, const struct table_sink *sink) {
    struct table *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return NULL;
    }
    t->options = *options;
    t->look = LOOK_FIRST;
    encoding_init(&t->encoding, options->encoding);
    struct problem problem = {0};
    if (!builder_init(&t->builder, options, sink, &problem)) {
        /* options that table_option_parse did not set may be invalid: the first call reports it */
        if (problem.type != PROBLEM_BAD_REQUEST) {
            problem_done(&problem);
            table_free(t);
            return NULL;
        }
        problem_move(&t->problem, &problem);
        t->refused = true;
    }
    return t;
}

struct table *table_new_onto(const struct table_options *options, const struct table_stored *stored,
                             const struct table_sink *sink, struct problem *problem) {
    struct table_options own = *options;
    own.types = own.label = NULL; /* the types and label of the stored table are used */
    own.label_at = 0;
    struct table *t = table_new(&own, sink);
    if (t == NULL) {
        problem_no_memory(problem);
    } else if (!table_append_open(t, stored, problem)) {
        table_free(t);
        t = NULL;
    }
    return t;
}

void table_free(struct table *t) {
    if (t == NULL) {
        return;
    }
    builder_done(&t->builder);
    if (t->reader != NULL) {
        t->reader->done(t);
    }
    table_faults_done(t);
    table_append_done(t);
    encoding_done(&t->encoding);
    buf_done(&t->ahead);
    buf_done(&t->columns);
    buf_done(&t->notes);
    buf_done(&t->declared);
    for (size_t i = 0; i < t->n_saved; i++) {
        free(t->saved[i].bytes);
    }
    free(t->saved);
    free(t->copies);
    const bool large = t->bytes >= GIVE_BACK_BYTES;
    free(t);
    if (large) {
        heap_give_back();
    }
}

/* Takes a piece of the body in UTF-8. Returns false if no more bytes are to be read. */
static bool take(void *arg, const char *bytes, size_t n) {
    struct table *t = arg;
    size_t used = 0;
    if ((t->decided || look_ahead(t, bytes, n, &used)) && t->decided && used < n) {
        t->reader->feed(t, bytes + used, n - used);
    }
    return !t->refused;
}

/* Converts bytes of the body to UTF-8 and reads them. */
static void convert(struct table *t, const char *bytes, size_t n, bool final) {
    char text[ENCODING_FAULT];
    int64_t line = 0, column = 0;
    switch (encoding_feed(&t->encoding, bytes, n, final, take, t)) {
    case ENCODING_INVALID:
        encoding_fault(&t->encoding, text, &line, &column);
        table_fatal(t, line, column, "%s", text);
        break;
    case ENCODING_NO_MEMORY:
        table_no_memory(t);
        break;
    case ENCODING_WELL:
    case ENCODING_STOPPED:
        break;
    }
}

bool table_feed(struct table *t, const char *bytes, size_t n, struct problem *problem) {
    if (!t->refused) {
        t->bytes += (int64_t)n;
        convert(t, bytes, n, false);
    }
    return !t->refused || table_problem_again(problem, &t->problem);
}

void table_cut(struct table *t) {
    t->cut = true;
}

/* Ends the reader. A table of which only a part is read may end within a row. */
static bool end_format(struct table *t) {
    return t->cut || t->reader->end(t);
}

/* Warns of given options that the format does not use. */
static void warn_of_unused(struct table *t) {
    const struct table_options *o = &t->options;
    const unsigned used = t->reader->options | t->used;
    const struct {
        const char *name;
        bool given;
        enum table_option bit;
    } options[] = {
        {"header", o->header != TABLE_HEADER_AUTO, TABLE_OPTION_HEADER},
        {"delimiter", o->delimiter != '\0', TABLE_OPTION_DELIMITER},
        /* an append uses the comment option of the upload */
        {"comment", o->comment != '\0' && !t->append.on, TABLE_OPTION_COMMENT},
        {"label", o->label != NULL || o->label_at > 0, TABLE_OPTION_LABEL},
        {"names", o->names != NULL, TABLE_OPTION_NAMES},
        {"skip_rows", o->skip_rows > 0, TABLE_OPTION_SKIP_ROWS},
        {"on_error=repair", o->on_error == TABLE_REPAIR, TABLE_OPTION_REPAIR},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (options[i].given && (used & options[i].bit) == 0) {
            table_warn(t, "option \"%s\" was not used: the body is %s", options[i].name,
                       t->reader->title);
        }
    }
}

/* Ends the reader and checks the rules for whole tables. */
static bool read_end(struct table *t) {
    if (!t->cut) {
        convert(t, "", 0, true);
        if (t->refused) {
            return false;
        }
    }
    if (!t->decided && (!decide(t, true) || !consume_ahead(t))) {
        return false;
    }
    if (!end_format(t)) {
        return false;
    }
    const bool keys = t->reader->keyed;
    const struct type_override *unused = NULL;
    char shown[TEXT_SHOWN];
    char doubt[ENCODING_DOUBT];
    if (encoding_doubt(&t->encoding, doubt)) {
        table_warn(t, "%s", doubt);
    }
    table_judge_skipped(t);
    table_warn_of_repairs(t);
    table_append_end(t);
    warn_of_unused(t);
    for (size_t i = 0; t->builder.n_columns > 0 && !(t->cut && keys) &&
                       (unused = builder_unused_type(&t->builder, &i)) != NULL;) {
        const struct nearest near = table_nearest(t, unused->name, unused->length);
        table_fault(t, 0, 0, "option \"types\" names %s, which is not a column of the table%s",
                    text_show(unused->name, unused->length, shown),
                    t->reader->sparse
                        ? " whose type could be chosen: the features of svmlight are numbers"
                        : near.hint);
    }
    for (size_t i = 0; i < t->builder.n_columns; i++) {
        const struct column *c = &t->builder.column[i];
        if (builder_has_date_mark(c) && c->forced) {
            table_fault(t, c->reason.line, 0,
                        "column \"%s\": its dates may be day first or month first (%s): the type "
                        "datetime(dmy) or datetime(mdy) says which",
                        c->name, c->reason.cell != NULL ? c->reason.cell : "");
        }
    }
    if (t->builder.n_rows == 0 && t->n_faults == 0) {
        table_fault(t, 0, 0, "the table has no rows: %s%s",
                    t->cut          ? "no row is complete in the part of the body that was read"
                    : t->bytes == 0 ? "the body is empty"
                    : t->reader->has_names(t) ? "there is only a header"
                                              : "the body has no data",
                    t->options.form && t->bytes > 0 ? "; " FORM_HINT : "");
    } else if (t->options.form && t->builder.n_rows == 1 && t->builder.n_columns >= FORM_COLUMNS) {
        table_warn(t, "the table has one row of %zu columns: " FORM_HINT, t->builder.n_columns);
    }
    return t->n_faults == 0 && t->problem.type == PROBLEM_NONE;
}

static void write_notes(struct table *t) {
    struct json_writer w = json_writer_of(&t->notes);
    json_begin_object(&w);
    json_kv_string(&w, "format", t->reader->name);
    if (t->reader->write_notes != NULL) {
        t->reader->write_notes(t, &w);
    }
    if (t->options.comment != '\0') {
        json_put_key(&w, "comment");
        json_put_stringn(&w, &t->options.comment, 1);
    }
    builder_write_marks(&t->builder, false, &w);
    json_kv_begin_array(&w, "missing");
    for (size_t i = 0; i < t->builder.missing.n; i++) {
        json_put_stringn(&w, t->builder.missing.token[i].bytes, t->builder.missing.token[i].n);
    }
    json_end_array(&w);
    table_append_write_types(&t->builder, &w);
    table_write_skipped(t, &w);
    table_write_repairs(t, &w);
    json_kv_begin_array(&w, "warnings");
    if (t->warnings.size > 0) {
        json_put_raw(&w, t->warnings.data, t->warnings.size);
    }
    builder_write_warnings(&t->builder, &w);
    json_end_array(&w);
    json_end_object(&w);
}

int64_t table_rows_read(const struct table *t) {
    return t->n_ended + t->builder.n_rows + t->n_faulty;
}

bool table_end(struct table *t, struct table_summary *out, struct problem *problem) {
    if (t->refused || !read_end(t)) {
        t->refused = true;
        return table_problem_again(problem, &t->problem);
    }
    t->refused = true; /* further bytes are ignored */
    if (!builder_finish(&t->builder, problem)) {
        return false;
    }
    struct json_writer w = json_writer_of(&t->columns);
    builder_write_columns(&t->builder, &w);
    write_notes(t);
    if (t->append.on && !table_append_notes(t)) {
        return problem_no_memory(problem);
    }
    t->saved = calloc(t->builder.n_columns, sizeof *t->saved);
    t->n_saved = t->saved != NULL ? t->builder.n_columns : 0;
    struct table_summary summary = {.n_rows = t->builder.stored_rows + t->builder.n_rows,
                                    .n_columns = (int64_t)t->builder.n_columns,
                                    .n_chunks = t->builder.n_chunks,
                                    .n_taken = t->builder.tail.n_taken,
                                    .bytes = t->bytes,
                                    .columns = buf_cstr(&t->columns),
                                    .declared = buf_cstr(&t->declared),
                                    .notes = buf_cstr(&t->notes),
                                    .saved = t->saved};
    if (summary.columns == NULL || summary.declared == NULL || summary.notes == NULL ||
        t->saved == NULL || !builder_content(&t->builder, t->saved, summary.content)) {
        return problem_no_memory(problem);
    }
    *out = summary;
    t->n_ended = t->builder.n_rows;
    builder_done(&t->builder);
    t->builder = (struct table_builder){0};
    if (summary.n_columns >= BUILDER_MANY_COLUMNS) {
        heap_give_back();
    }
    return true;
}
