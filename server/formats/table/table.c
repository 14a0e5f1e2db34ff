/* A table reader: finding out the format from the first bytes, the face, the notes. */
#include "formats/table/table.h"
#include "base/heap.h"
#include "base/json_write.h"
#include "formats/csv/csv_sniff.h"
#include "formats/formats.h"
#include "formats/json/json_sniff.h"
#include "formats/svmlight/svmlight.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How many of the first bytes are looked at: more only if a row is so long that two do not fit. */
enum { LOOK_FIRST = 64 * 1024, LOOK_MAX = 4 * 1024 * 1024 };
/* A body from which so much was read leaves many small pieces of freed memory behind, most of all
 * one of many columns. */
enum { GIVE_BACK_BYTES = 4 * 1024 * 1024 };

/* A row so wide, of a body sent as a form, is most likely a whole table without its line breaks. */
enum { FORM_COLUMNS = 100 };
#define FORM_HINT "curl -d takes the line breaks out of a file; send it with -T or --data-binary"

/* ---- the first bytes ---- */
static bool no_memory(struct wire_table *t) {
    problem_set(&t->builder.problem, PROBLEM_UNAVAILABLE, "no memory left");
    return table_stop(t);
}

static bool find_header(struct wire_table *t, const struct csv_sample *sample) {
    struct csv_header found = {0};
    if (t->append.on ? !table_append_header(t, sample, &found)
                     : !csv_sniff_header(sample, t->delimiter, t->first_cells, &t->builder.missing,
                                         &found)) {
        return no_memory(t);
    }
    t->header = found.header;
    if (found.again > 0) {
        table_warn(t,
                   "the first row was taken for the header, and line %" PRId64
                   " is the same again, as a row of data: leave it out, or say "
                   "header=false if both are data",
                   found.again);
    }
    if (found.doubtful && found.header) {
        table_warn(t, "the first row was taken for the header, though it has numbers: if it is "
                      "data, say header=false");
    } else if (found.doubtful) {
        table_warn(t, "the first row was taken for data, as it has numbers or tokens for missing: "
                      "if it is the header, say header=true");
    }
    return true;
}

/* The look must be longer, if it may. */
static bool look_further(struct wire_table *t, bool whole) {
    if (whole || t->look >= LOOK_MAX) {
        return false;
    }
    t->look *= 2;
    return true;
}

/* The format, as far as options and first bytes tell it. false: the look must be longer, or the
 * table is refused. */
static bool decide_format(struct wire_table *t, const char *bytes, size_t n, bool whole) {
    static const enum wire_format of[] = {[WIRE_CSV] = WIRE_CSV,
                                          [WIRE_TSV] = WIRE_CSV,
                                          [WIRE_JSON] = WIRE_JSON,
                                          [WIRE_NDJSON] = WIRE_NDJSON,
                                          [WIRE_SVMLIGHT] = WIRE_SVMLIGHT};
    if (t->options.format != WIRE_SNIFF) {
        t->format = of[t->options.format];
        return true;
    }
    t->format = WIRE_CSV;
    if (!json_sniff_looks(bytes, n)) {
        const bool separated =
            t->options.delimiter != '\0' ||
            t->options.header != WIRE_HEADER_AUTO; /* what is said of separated text only */
        if (table_svmlight_is_stored(t) || (!separated && svmlight_looks_like(bytes, n, whole))) {
            t->format = WIRE_SVMLIGHT;
        }
        return true;
    }
    const enum json_sniff found = json_sniff_lines(bytes, n, whole);
    if (found == JSON_SNIFF_NO_MEMORY) {
        return no_memory(t);
    }
    t->format = found == JSON_SNIFF_LINES ? WIRE_NDJSON : WIRE_JSON;
    return found != JSON_SNIFF_UNSURE || !look_further(t, whole);
}

/* Delimiter and header of separated text. false: the look must be longer, or the table is refused.
 */
static bool decide_csv(struct wire_table *t, const char *bytes, size_t n, bool whole) {
    const struct csv_sample sample = {.bytes = bytes,
                                      .n = n,
                                      .whole = whole,
                                      .comment = t->options.comment};
    struct csv_shape shape;
    t->delimiter = csv_sniff_delimiter(&sample, &shape);
    if (shape.rows < 2 && look_further(t, whole)) {
        return false;
    }
    if (t->options.delimiter != '\0' || t->options.format == WIRE_TSV) {
        t->delimiter = t->options.delimiter != '\0' ? t->options.delimiter : '\t';
        csv_sniff_shape(&sample, t->delimiter, &shape);
    }
    if (t->append.on && t->options.delimiter == '\0' && t->options.format != WIRE_TSV) {
        t->delimiter = table_append_delimiter(t, &sample, &shape);
    }
    if (shape.no_memory) {
        return no_memory(t);
    }
    t->first_cells = shape.cells;
    t->header = t->options.header == WIRE_HEADER_YES;
    return t->options.header != WIRE_HEADER_AUTO || find_header(t, &sample);
}

/* Format, delimiter, header from the first t->look bytes (whole: there are no more). false: the
 * look must be longer, or the table is refused. */
static bool decide(struct wire_table *t, bool whole) {
    const char *bytes = t->ahead.data != NULL ? t->ahead.data : "";
    const size_t n = t->ahead.size;
    memcpy(t->head, bytes, n < sizeof t->head ? n : sizeof t->head);
    if (!decide_format(t, bytes, n, whole) ||
        (t->format == WIRE_CSV && !decide_csv(t, bytes, n, whole))) {
        return false;
    }
    t->decided = true;
    if (t->format == WIRE_SVMLIGHT) {
        return table_svmlight_begin(t);
    }
    if (t->options.zero_based) {
        table_warn(t, "option \"zero_based\" was not used: the body is not svmlight");
    }
    if (table_svmlight_is_stored(t)) {
        return table_fatal(t, 0, 0, "rows of a sparse dataset are appended as text/x-svmlight");
    }
    if (t->format == WIRE_CSV) {
        table_csv_begin(t);
    } else {
        table_json_begin(t);
    }
    return true;
}

static bool consume(struct wire_table *t, const char *bytes, size_t n) {
    return t->format == WIRE_CSV        ? table_csv_feed(t, bytes, n)
           : t->format == WIRE_SVMLIGHT ? table_svmlight_feed(t, bytes, n)
                                        : table_json_feed(t, bytes, n);
}

/* Reads what was looked at. */
static bool consume_ahead(struct wire_table *t) {
    const char *bytes = t->ahead.data != NULL ? t->ahead.data : "";
    const bool json = t->format == WIRE_JSON ||
                      t->format == WIRE_NDJSON; /* the others pass over the mark themselves */
    const size_t mark = json && t->ahead.size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
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
            return no_memory(t);
        }
        if (t->ahead.size == t->look && decide(t, false) && !consume_ahead(t)) {
            return false;
        }
    }
    return !t->refused;
}

/* ---- the face ---- */
struct wire_table *wire_table_new(const struct wire_table_options *options,
                                  const struct wire_table_sink *sink) {
    struct wire_table *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return NULL;
    }
    t->options = *options;
    t->look = LOOK_FIRST;
    struct problem problem = {0};
    if (!builder_init(&t->builder, options, sink, &problem)) {
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

struct wire_table *wire_table_new_onto(const struct wire_table_options *options,
                                       const struct wire_table_stored *stored,
                                       const struct wire_table_sink *sink,
                                       struct problem *problem) {
    struct wire_table_options own = *options;
    own.types = own.label = NULL; /* the stored table's hold */
    struct wire_table *t = wire_table_new(&own, sink);
    if (t == NULL) {
        problem_set(problem, PROBLEM_UNAVAILABLE, "no memory left");
    } else if (!table_append_open(t, stored, problem)) {
        wire_table_free(t);
        t = NULL;
    }
    return t;
}

void wire_table_free(struct wire_table *t) {
    if (t == NULL) {
        return;
    }
    builder_done(&t->builder);
    table_csv_done(t);
    table_json_done(t);
    table_svmlight_done(t);
    table_faults_done(t);
    table_append_done(t);
    buf_done(&t->ahead);
    buf_done(&t->columns);
    buf_done(&t->notes);
    buf_done(&t->declared);
    for (size_t i = 0; i < t->n_saved; i++) {
        free(t->saved[i].bytes);
    }
    free(t->saved);
    const bool large = t->bytes >= GIVE_BACK_BYTES;
    free(t);
    if (large) {
        heap_give_back();
    }
}

bool wire_table_feed(struct wire_table *t, const char *bytes, size_t n, struct problem *problem) {
    if (!t->refused) {
        size_t used = 0;
        t->bytes += (int64_t)n;
        if ((t->decided || look_ahead(t, bytes, n, &used)) && t->decided && used < n) {
            consume(t, bytes + used, n - used);
        }
    }
    return !t->refused || t->full || table_problem_again(problem, &t->problem);
}

bool wire_table_is_full(const struct wire_table *t) {
    return t->full;
}

void wire_table_cut(struct wire_table *t) {
    t->cut = true;
}

/* Of a table that is read in part the rest is not missed. */
static bool end_format(struct wire_table *t) {
    if (t->cut || t->full) {
        return true;
    }
    const bool well = t->format == WIRE_CSV        ? table_csv_end(t)
                      : t->format == WIRE_SVMLIGHT ? table_svmlight_end(t)
                                                   : table_json_end(t);
    return well || t->full;
}

/* What of the options is not for this format. */
static void warn_of_unused(struct wire_table *t) {
    const struct wire_table_options *o = &t->options;
    const bool csv = t->format == WIRE_CSV, lines = csv || t->format == WIRE_SVMLIGHT;
    const struct {
        const char *name;
        bool unused;
    } options[] = {{"header", o->header != WIRE_HEADER_AUTO && !csv},
                   {"delimiter", o->delimiter != '\0' && !csv},
                   {"comment", o->comment != '\0' && !lines &&
                                   !t->append.on}, /* of an append it may be the upload's */
                   {"label", o->label != NULL && !lines && !t->at.arrays}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (options[i].unused) {
            table_warn(t, "option \"%s\" was not used: the body is %s", options[i].name,
                       t->format == WIRE_SVMLIGHT ? "svmlight"
                       : t->format == WIRE_NDJSON ? "NDJSON"
                                                  : "JSON");
        }
    }
}

/* The rest of the body, and the rules that need the whole. */
static bool read_end(struct wire_table *t) {
    if (!t->decided && (!decide(t, true) || !consume_ahead(t)) && !t->full) {
        return false;
    }
    if (!end_format(t)) {
        return false;
    }
    const bool in_part = t->cut || t->full,
               keys = t->format == WIRE_JSON ||
                      t->format == WIRE_NDJSON; /* columns may come with any row */
    const struct type_override *unused = NULL;
    char shown[TEXT_SHOWN];
    table_judge_skipped(t);
    table_append_end(t);
    warn_of_unused(t);
    for (size_t i = 0; t->builder.n_columns > 0 && !(in_part && keys) &&
                       (unused = builder_unused_type(&t->builder, &i)) != NULL;) {
        table_fault(t, 0, 0, "option \"types\" names %s, which is no column of the table%s",
                    text_show(unused->name, unused->length, shown),
                    t->format == WIRE_SVMLIGHT
                        ? " whose type could be chosen: the features of svmlight are numbers"
                        : "");
    }
    if (t->builder.n_rows == 0 && t->n_faults == 0) {
        table_fault(t, 0, 0, "the table has no rows: %s%s",
                    in_part         ? "none ends in the part of the body that was read"
                    : t->bytes == 0 ? "the body is empty"
                    : t->named || t->at.columns_seen ? "there is only a header"
                                                     : "there is nothing in it",
                    t->options.form && t->bytes > 0 ? "; " FORM_HINT : "");
    } else if (t->options.form && t->builder.n_rows == 1 && t->builder.n_columns >= FORM_COLUMNS) {
        table_warn(t, "the table has one row of %zu columns: " FORM_HINT, t->builder.n_columns);
    }
    return t->n_faults == 0 && t->problem.type == PROBLEM_NONE;
}

static void write_notes(struct wire_table *t) {
    static const char *const formats[] = {[WIRE_CSV] = "csv",
                                          [WIRE_JSON] = "json",
                                          [WIRE_NDJSON] = "ndjson",
                                          [WIRE_SVMLIGHT] = "svmlight"};
    struct json_writer w;
    json_writer_init(&w, &t->notes);
    json_begin_object(&w);
    json_kv_string(&w, "format", formats[t->format]);
    if (t->format == WIRE_SVMLIGHT) {
        json_kv_bool(&w, "zero_based", t->svmlight.options.zero_based);
        json_kv_int(&w, "comments", t->svmlight.comments);
    }
    if (t->format == WIRE_CSV) {
        json_put_key(&w, "delimiter");
        json_put_stringn(&w, &t->delimiter, 1);
        json_kv_bool(&w, "header", t->header);
        json_kv_int(&w, "comments", table_csv_comments(t));
    }
    json_put_key(&w, "missing");
    json_begin_array(&w);
    for (size_t i = 0; i < t->builder.missing.n; i++) {
        json_put_stringn(&w, t->builder.missing.token[i].bytes, t->builder.missing.token[i].n);
    }
    json_end_array(&w);
    table_append_write_types(&t->builder, &w);
    table_write_skipped(t, &w);
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
    if ((t->refused && !t->full) || !read_end(t)) {
        t->refused = true;
        return table_problem_again(problem, &t->problem);
    }
    t->refused = true; /* nothing may follow */
    if (!builder_finish(&t->builder, problem)) {
        return false;
    }
    struct json_writer w;
    json_writer_init(&w, &t->columns);
    builder_write_columns(&t->builder, &w);
    write_notes(t);
    if (t->append.on && !table_append_notes(t)) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory left");
    }
    t->saved = calloc(t->builder.n_columns, sizeof *t->saved);
    t->n_saved = t->saved != NULL ? t->builder.n_columns : 0;
    struct wire_table_summary summary = {.n_rows = t->builder.stored_rows + t->builder.n_rows,
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
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory left");
    }
    *out = summary;
    builder_done(&t->builder);
    t->builder = (struct table_builder){0};
    if (summary.n_columns >= BUILDER_MANY_COLUMNS) {
        heap_give_back();
    }
    return true;
}
