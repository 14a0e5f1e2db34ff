/* Encodes and delivers chunks, makes the summaries of columns, and ends a table: resolves the
 * types, reads chunks back, computes the content hash. */
#include "base/log/log.h"
#include "base/memory/heap.h"
#include "formats/summary/column_summary_saved.h"
#include "formats/summary/column_words.h"
#include "formats/table/table_builder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Returns the type with which chunks of a column in this state are decoded. Categorical and text
 * columns have the same chunks. */
static dn_column_type type_of_state(const struct column *c) {
    if (c->forced) {
        return c->type;
    }
    return c->state == COLUMN_STRINGS    ? DN_CATEGORICAL
           : c->state == COLUMN_BOOLEANS ? DN_BOOLEAN
           : c->state == COLUMN_DATES    ? DN_DATETIME
                                         : DN_NUMERIC;
}

/* ---- summaries ---- */
/* A column and the memory of its exact counts, in bytes. */
struct counts {
    bool texts; /* the column is a column of strings */
    size_t memory, column;
};

/* Order in which exact counts are dropped: columns of numbers first, because the counts of texts
 * decide between categorical and text; then by memory, the largest first. */
static int dearer_first(const void *a, const void *b) {
    const struct counts *x = a, *y = b;
    if (x->texts != y->texts) {
        return x->texts - y->texts;
    }
    return x->memory != y->memory ? (x->memory < y->memory) - (x->memory > y->memory)
                                  : (x->column > y->column) - (x->column < y->column);
}

static size_t summary_memory(const struct column_summary *s) {
    return column_summary_counts_memory(s) + column_summary_sketch_memory(s);
}

/* Subtract or add the memory of a column's summary. */
static void uncount(struct table_builder *b, const struct column *c) {
    b->counts_memory -= summary_memory(&c->summary);
    b->numbers_memory -= number_tally_memory(&c->summary.numbers);
}

static void count(struct table_builder *b, const struct column *c) {
    b->counts_memory += summary_memory(&c->summary);
    b->numbers_memory += number_tally_memory(&c->summary.numbers);
}

static size_t numbers_limit(const struct table_builder *b) {
    return BUILDER_NUMBERS_MEMORY - BUILDER_NUMBERS_LESS * b->n_columns;
}

/* Keeps the memory of exact counts within its limits: the largest counts are replaced by
 * sketches. */
static enum builder_status counts_limit(struct table_builder *b) {
    if (b->counts_memory <= BUILDER_COUNTS_MEMORY && b->numbers_memory <= numbers_limit(b)) {
        return BUILDER_WELL;
    }
    struct counts *counts = malloc(b->n_columns * sizeof *counts);
    if (counts == NULL) {
        return builder_no_memory(b);
    }
    for (size_t i = 0; i < b->n_columns; i++) {
        const struct column *c = &b->column[i];
        counts[i] = (struct counts){c->state == COLUMN_STRINGS,
                                    column_summary_counts_memory(&c->summary), i};
    }
    qsort(counts, b->n_columns, sizeof *counts, dearer_first);
    const size_t numbers_kept = numbers_limit(b) / 6 * 5;
    const bool many_numbers = b->numbers_memory > numbers_limit(b),
               much = b->counts_memory > BUILDER_COUNTS_MEMORY;
    bool well = true;
    for (size_t i = 0; i < b->n_columns && well; i++) {
        struct column *c = &b->column[counts[i].column];
        const bool needed = (much && b->counts_memory > BUILDER_COUNTS_KEPT) ||
                            (many_numbers && !counts[i].texts && b->numbers_memory > numbers_kept);
        if (needed && counts[i].memory > 0) {
            uncount(b, c);
            well = column_summary_drop_counts(&c->summary);
            count(b, c);
        }
    }
    free(counts);
    return well ? BUILDER_WELL : builder_no_memory(b);
}

/* Sets the members of a summary that are needed before its first value. */
static void summary_begin(const struct table_builder *b, struct column *c) {
    c->summary.n_columns = b->n_columns;
    c->summary.wordless = c->forced && c->type == DN_CATEGORICAL;
}

enum builder_status builder_unreadable(struct table_builder *b, const struct column *c,
                                       dn_status status, const dn_error *error) {
    if (status == DN_ERR_MEMORY) {
        return builder_no_memory(b);
    }
    problem_set(&b->problem, PROBLEM_INTERNAL, "column \"%s\": a chunk cannot be read back: %s",
                c->name, error->message);
    return BUILDER_STOP;
}

/* Decodes a chunk and adds it to the column's summary. */
static enum builder_status column_sum_up(struct table_builder *b, struct column *c,
                                         const void *bytes, size_t size) {
    dn_column_view view;
    dn_error error;
    dn_error_clear(&error);
    const dn_column_type type = type_of_state(c);
    const dn_status status = builder_decode(b, c, bytes, size, type, &view, &error);
    if (status != DN_OK) {
        return builder_unreadable(b, c, status, &error);
    }
    if (!c->summarised) {
        summary_begin(b, c);
        if (c->missing_before > 0 &&
            !column_summary_add_missing(&c->summary, type, c->missing_before)) {
            return builder_no_memory(b);
        }
    }
    c->summarised = true;
    uncount(b, c);
    const bool well = column_summary_add(&c->summary, &view);
    count(b, c);
    return well ? counts_limit(b) : builder_no_memory(b);
}

/* ---- delivering ---- */
/* Encodes the open chunk into b->blobs. */
static enum builder_status encode(struct table_builder *b) {
    if (builder_unstage(b) != BUILDER_WELL) {
        return BUILDER_STOP;
    }
    for (size_t i = 0; i < b->n_columns; i++) {
        struct column *c = &b->column[i];
        enum builder_status status = BUILDER_WELL;
        b->blobs[i] = (struct table_blob){0};
        b->n_blobs = i + 1;
        b->stage_takes[i] =
            c->state == COLUMN_UNKNOWN || c->state == COLUMN_NUMBERS ? STAGE_UNDECIDED : STAGE_NONE;
        b->settled = false;
        if (dn_column_builder_encode(c->builder, &b->blobs[i].bytes, &b->blobs[i].size, NULL) !=
            DN_OK) {
            status = builder_no_memory(b);
        } else if (c->state == COLUMN_UNKNOWN) {
            c->missing_before += (int64_t)b->rows;
        } else if (builder_has_date_mark(c)) {
            c->again = true; /* the values are known when the order of the dates is */
        } else if (!c->again) {
            status = column_sum_up(b, c, b->blobs[i].bytes, b->blobs[i].size);
        }
        if (status != BUILDER_WELL) {
            return status;
        }
    }
    return BUILDER_WELL;
}

enum builder_status builder_hand_over(struct table_builder *b, int64_t chunk, int64_t n_rows) {
    b->n_blobs = 0; /* the sink owns the blobs, also if it fails */
    if (!b->sink.chunk(b->sink.arg, chunk, n_rows, b->blobs, b->n_columns, &b->problem)) {
        return BUILDER_STOP;
    }
    b->n_chunks++;
    return BUILDER_WELL;
}

static void chunk_begin(struct table_builder *b) {
    b->rows = 0;
    b->string_bytes = 0;
}

enum builder_status builder_deliver(struct table_builder *b) {
    const int64_t rows = (int64_t)b->rows;
    const enum builder_status status = encode(b);
    chunk_begin(b);
    return status == BUILDER_WELL ? builder_hand_over(b, b->n_chunks + b->onto, rows) : status;
}

/* Keeps the only chunk of the appended rows undelivered, because it may be joined with stored
 * chunks (table_tail.h). */
static enum builder_status hold(struct table_builder *b) {
    b->tail.own = (int64_t)b->rows;
    b->tail.own_room = b->rows * b->n_columns * 8 + b->string_bytes;
    b->tail.held = true;
    const enum builder_status status = encode(b);
    chunk_begin(b);
    return status;
}

/* ---- the end ---- */
enum builder_status builder_read_again(struct table_builder *b, size_t i, int64_t first,
                                       builder_use *use, void *arg) {
    struct column *c = &b->column[i];
    struct buf bytes = {0};
    enum builder_status status = BUILDER_WELL;
    bool enough = false;
    for (int64_t chunk = first;
         chunk < b->stored_chunks + b->n_chunks && status == BUILDER_WELL && !enough; chunk++) {
        buf_clear(&bytes);
        if (!b->sink.reread(b->sink.arg, chunk, i, &bytes, &b->problem)) {
            status = BUILDER_STOP;
        } else {
            status = bytes.failed ? builder_no_memory(b)
                                  : use(arg, b, c, bytes.data, bytes.size, &enough);
        }
    }
    buf_done(&bytes);
    const bool held = b->tail.held && !enough;
    return status == BUILDER_WELL && held
               ? use(arg, b, c, b->blobs[i].bytes, b->blobs[i].size, &enough)
               : status;
}

static enum builder_status sum_up_again(void *arg, struct table_builder *b, struct column *c,
                                        const void *bytes, size_t size, bool *enough) {
    (void)arg;
    (void)enough;
    return column_sum_up(b, c, bytes, size);
}

/* Whether the loaded summary describes the stored rows of this column. */
static bool is_of_stored_rows(const struct table_builder *b, const struct column *c,
                              const struct column_summary *s) {
    return s->n_rows == b->stored_rows && s->n_columns == b->n_columns &&
           s->wordless == c->summary.wordless && s->sparse.first == c->summary.sparse.first;
}

/* Loads the saved summary of the stored rows. *loaded: set if there is a usable one, to which the
 * new rows are then added. */
static enum builder_status column_load(struct table_builder *b, size_t i, bool *loaded) {
    struct column *c = &b->column[i];
    struct buf saved = {0};
    struct column_summary s = {0};
    if (b->stored_summary == NULL || c->stored_state != c->state) {
        return BUILDER_WELL;
    }
    if (!b->stored_summary(b->sink.arg, i, &saved, &b->problem) || saved.failed) {
        const bool no_memory = saved.failed;
        buf_done(&saved);
        return no_memory ? builder_no_memory(b) : BUILDER_STOP;
    }
    const bool any = saved.size > 0;
    const enum column_summary_load_status status =
        column_summary_load(&s, type_of_state(c), saved.data, saved.size);
    buf_done(&saved);
    if (status == COLUMN_SUMMARY_NO_MEMORY) {
        return builder_no_memory(b);
    }
    summary_begin(b, c);
    *loaded = status == COLUMN_SUMMARY_LOADED && is_of_stored_rows(b, c, &s);
    if (!*loaded) {
        column_summary_done(&s);
        if (any) {
            log_warn("dataset.summary", log_str("column", c->name),
                     log_str("detail", "the saved summary cannot be used: the chunks are read"));
        }
        return BUILDER_WELL;
    }
    if (s.sparse.width < c->summary.sparse.width) {
        s.sparse.width = c->summary.sparse.width;
    }
    c->summary = s;
    c->summarised = true;
    count(b, c);
    return counts_limit(b);
}

/* Computes a summary from delivered chunks: for a column whose type fell after chunks had been
 * summarised, and for every column if rows are appended. In the second case the new rows are added
 * to the saved summary of the stored rows, or to a summary of missing cells if the column has no
 * others. */
static enum builder_status column_again(struct table_builder *b, size_t i) {
    struct column *c = &b->column[i];
    bool loaded = false;
    c->missing_before = 0;
    if (b->onto && c->stored_state == COLUMN_UNKNOWN) {
        c->missing_before = b->stored_rows;
        loaded = true;
    } else if (b->onto && column_load(b, i, &loaded) != BUILDER_WELL) {
        return BUILDER_STOP;
    }
    return builder_read_again(b, i, loaded ? b->stored_chunks : 0, sum_up_again, NULL);
}

/* Sets c->documents: each row has another text, of SCHEMA_DOCUMENT_WORDS words or more on average.
 * Called if there are few texts. */
static enum builder_status find_documents(struct table_builder *b, struct column *c) {
    const struct tally *texts = &c->summary.texts;
    const int64_t present = c->summary.n_rows - c->summary.missing;
    if (c->summary.estimated || texts->n < 2 || (int64_t)texts->n != present) {
        return BUILDER_WELL;
    }
    struct column_words *words = column_summary_new_words(&c->summary);
    if (words == NULL) {
        return builder_no_memory(b);
    }
    for (size_t i = 0; i < texts->n; i++) {
        column_words_add(words, tally_text(texts, &texts->entry[i]), texts->entry[i].length, 1);
    }
    c->documents = words->n >= SCHEMA_DOCUMENT_WORDS * present;
    column_words_free(words);
    return BUILDER_WELL;
}

/* Whether the column has as many distinct texts as a text column. If they could not be counted, it
 * has (table_recount.c). */
static bool has_many_texts(const struct column *c) {
    const int64_t distinct = column_summary_distinct(&c->summary, DN_CATEGORICAL);
    return distinct < 0 || column_is_text((size_t)distinct, c->summary.n_rows - c->summary.missing);
}

/* Chooses between categorical and text. */
static enum builder_status find_string_type(struct table_builder *b, struct column *c) {
    const bool many = has_many_texts(c);
    const enum builder_status status = many ? BUILDER_WELL : find_documents(b, c);
    c->type = many || c->documents ? DN_TEXT : DN_CATEGORICAL;
    return status;
}

/* Completes the column's summary. */
static enum builder_status column_complete(struct table_builder *b, size_t i) {
    struct column *c = &b->column[i];
    if (c->again) {
        const enum builder_status status = column_again(b, i);
        if (status != BUILDER_WELL) {
            return status;
        }
    }
    if (!c->summarised) {
        summary_begin(b, c);
        if (!column_summary_add_missing(&c->summary, type_of_state(c), c->missing_before)) {
            return builder_no_memory(b);
        }
    }
    return BUILDER_WELL;
}

/* Determines the column's type. The summaries of all columns must be complete: each of them may
 * cause the exact counts of another to be dropped. */
static enum builder_status column_settle(struct table_builder *b, size_t i) {
    struct column *c = &b->column[i];
    if (builder_recount(b, i) != BUILDER_WELL) {
        return BUILDER_STOP;
    }
    if (!column_is_fixed(c)) {
        c->type = type_of_state(c);
        return c->state == COLUMN_STRINGS ? find_string_type(b, c) : BUILDER_WELL;
    }
    return BUILDER_WELL;
}

/* Frees the column builders before the description of the columns is written, which needs
 * memory. */
static void builders_free(struct table_builder *b) {
    for (size_t i = 0; i < b->n_columns; i++) {
        dn_column_builder_free(b->column[i].builder);
        b->column[i].builder = NULL;
    }
    if (b->n_columns >= BUILDER_MANY_COLUMNS) {
        heap_give_back();
    }
}

bool builder_finish(struct table_builder *b, struct problem *problem) {
    if (!builder_settle_marks(b, problem)) {
        return false;
    }
    builder_settle_dates(b);
    enum builder_status status = b->rows == 0                  ? BUILDER_WELL
                                 : b->onto && b->n_chunks == 0 ? hold(b)
                                                               : builder_deliver(b);
    for (size_t i = 0; i < b->n_columns && status == BUILDER_WELL; i++) {
        status = column_complete(b, i);
    }
    for (size_t i = 0; i < b->n_columns && status == BUILDER_WELL; i++) {
        status = column_settle(b, i);
    }
    if (status == BUILDER_WELL && b->onto && !table_tail_end(b)) {
        status = BUILDER_STOP;
    }
    builders_free(b);
    if (status != BUILDER_WELL) {
        problem_move(problem, &b->problem);
    }
    return status == BUILDER_WELL;
}

/* The stored code of a reason, and its description. The codes must not change. */
struct reason_code {
    const char *code, *detail;
};

static struct reason_code reason_code_of(const struct column *c) {
    if (c->type == DN_BOOLEAN) {
        return (struct reason_code){TYPE_FIRST_BOOLEAN, "the first cell that is not missing"};
    }
    if (!c->reason.fell) {
        return (struct reason_code){TYPE_FIRST_TEXT,
                                    "the first cell that is not missing is not a number"};
    }
    if (c->reason.dates) {
        return (struct reason_code){TYPE_AFTER_DATES, "the cells before it are dates of one form"};
    }
    return c->reason.numbers
               ? (struct reason_code){TYPE_AFTER_NUMBERS, "the cells before it are numbers"}
               : (struct reason_code){TYPE_AFTER_BOOLEANS, "the cells before it are booleans"};
}

static void write_found_reason(const struct column *c, struct json_writer *w) {
    const struct type_reason *reason = &c->reason;
    const struct reason_code code = reason_code_of(c);
    struct buf text = {0};
    json_kv_int(w, "row", reason->row);
    json_kv_int(w, "line", reason->line);
    json_kv_string(w, "cell", reason->cell != NULL ? reason->cell : "");
    if (reason->detail != NULL) {
        json_kv_string(w, "detail", reason->detail);
        return;
    }
    buf_printf(&text, "%s%s%s%s%s", code.detail, reason->hint != NULL ? ": " : "",
               reason->hint != NULL ? reason->hint : "",
               reason->appended ? "; the line is one of the rows that were appended" : "",
               c->type != DN_TEXT ? ""
               : c->documents
                   ? "; text, as each row has another one, of five words or more on average"
                   : "; text for its many distinct values");
    const char *detail = buf_cstr(&text);
    json_kv_string(w, "detail", detail != NULL ? detail : "");
    buf_done(&text);
    json_kv_string(w, "code", code.code);
    if (reason->hint != NULL) {
        json_kv_string(w, "hint", reason->hint);
    }
    if (reason->appended) {
        json_kv_bool(w, "appended", true);
    }
}

/* Writes why a column has its type. A numeric column has no reason unless its type was given. */
static void write_reason(const struct column *c, struct json_writer *w) {
    const struct type_reason *reason = &c->reason;
    if (c->type == DN_SPARSE ||
        (!c->forced && (c->type == DN_NUMERIC || c->type == DN_DATETIME || reason->line == 0))) {
        return;
    }
    json_kv_begin_object(w, "type_reason");
    if (c->forced) {
        json_kv_string(w, "detail", "the type was given");
        json_kv_string(w, "code", TYPE_GIVEN);
    } else {
        write_found_reason(c, w);
    }
    json_end_object(w);
}

void builder_write_columns(const struct table_builder *b, struct json_writer *w) {
    json_begin_array(w);
    for (size_t i = 0; i < b->n_columns; i++) {
        column_summary_write(&b->column[i].summary, b->column[i].name, b->column[i].type,
                             &b->column[i].form, w);
        write_reason(&b->column[i], w);
        json_end_object(w);
    }
    json_end_array(w);
}

/* Hashes a number as 8 bytes, little-endian. */
static void add_u64(struct hash_blake2b *h, uint64_t x) {
    unsigned char form[8];
    for (size_t i = 0; i < 8; i++) {
        form[i] = (unsigned char)(x >> (8 * i));
    }
    hash_blake2b_add(h, form, sizeof form);
}

static bool save(const struct column *c, struct table_blob *out) {
    struct buf saved = {0};
    const bool well = column_summary_save(&c->summary, &saved);
    if (well) {
        out->bytes = buf_take(&saved, &out->size);
    }
    buf_done(&saved);
    return well && out->bytes != NULL;
}

/* The digest is BLAKE2b over "discern table 1" with its NUL, the numbers of rows and columns, and
 * for each column: the length and the bytes of its name, its type (one byte), the digest of its
 * values, and of a sparse column its first index and its width. */
bool builder_content(struct table_builder *b, struct table_blob *saved, char content[80]) {
    static const char form[] = "discern table 1";
    uint8_t digest[HASH_BLAKE2B_SIZE];
    struct hash_blake2b *h = hash_blake2b_new();
    bool well = h != NULL;
    if (well) {
        hash_blake2b_add(h, form, sizeof form);
        add_u64(h, (uint64_t)(b->stored_rows + b->n_rows));
        add_u64(h, b->n_columns);
    }
    for (size_t i = 0; well && i < b->n_columns; i++) {
        struct column *c = &b->column[i];
        well = save(c, &saved[i]) && column_summary_digest(&c->summary, digest);
        if (well) {
            add_u64(h, strlen(c->name));
            hash_blake2b_add(h, c->name, strlen(c->name));
            hash_blake2b_add(h, &(unsigned char){(unsigned char)c->type}, 1);
            hash_blake2b_add(h, digest, sizeof digest);
            if (c->type == DN_DATETIME) {
                char written[DN_DATETIME_FORM_SIZE];
                hash_blake2b_add(h, written, dn_datetime_form_write(&c->form, written));
            }
            if (c->type == DN_SPARSE) {
                add_u64(h, c->summary.sparse.first);
                add_u64(h, c->summary.sparse.width);
            }
            column_summary_done(&c->summary); /* its memory is needed for the next column */
        }
    }
    if (well) {
        hash_blake2b_end(h, digest);
        memcpy(content, "b2:", 3);
        hash_hex(digest, sizeof digest, content + 3);
    }
    hash_blake2b_free(h);
    return well;
}

/* ---- notes ---- */
static void warn(struct json_writer *w, struct buf *text, size_t *n) {
    if (++*n <= BUILDER_MAX_WARNINGS && !text->failed) {
        json_put_stringn(w, text->data, text->size);
    }
    buf_clear(text);
}

/* Warns of a column whose first cell is not a number although most of its cells are numbers. If the
 * first cells are numbers, builder_write_warnings names the first cell that is not. */
static void warn_of_numbers(const struct column *c, struct json_writer *w, struct buf *text,
                            size_t *n) {
    const int64_t cells = c->summary.n_rows - c->summary.missing;
    const int64_t numbers = column_summary_number_texts(&c->summary);
    char shown[TEXT_SHOWN];
    if (numbers > cells / 2 && numbers < cells) {
        const char *cell = c->reason.cell != NULL ? c->reason.cell : "";
        buf_printf(
            text,
            "column \"%s\": %s because of line %" PRId64 " (%s), although %" PRId64
            " of its %" PRId64
            " cells are numbers: name words for missing values in missing=; types=%s:numeric "
            "refuses the first cell that is no number",
            c->name, dn_column_type_name(c->type), c->reason.line,
            text_show(cell, strlen(cell), shown), numbers, cells, c->name);
        warn(w, text, n);
    }
}

/* Warns of numbers that a double does not hold exactly. of: what follows a line number. */
static void warn_of_inexact(const struct column *c, const char *of, struct json_writer *w,
                            struct buf *text, size_t *n) {
    char number[DN_NUMBER_SIZE];
    const char *cell = c->inexact_text != NULL ? c->inexact_text : "a number";
    (void)dn_number_format(c->inexact_number, number);
    buf_printf(text, "column \"%s\": a double does not hold ", c->name);
    if (c->inexact_cells > 1) {
        buf_printf(text, "%" PRId64 " of its numbers exactly, the first is ", c->inexact_cells);
    }
    buf_printf(text, "%s in line %" PRId64 "%s%s, it was read as %s", cell, c->inexact_line, of,
               c->inexact_cells > 1 ? "" : " exactly", number);
    if (c->type != DN_SPARSE) {
        buf_printf(text, ": an upload with types=%s:categorical keeps %s as written", c->name,
                   c->inexact_cells > 1 ? "them" : "it");
    }
    warn(w, text, n);
}

void builder_write_warnings(const struct table_builder *b, struct json_writer *w) {
    struct buf text = {0};
    const char *of = b->onto ? " of the appended rows" : "";
    size_t n = 0;
    for (size_t i = 0; i < b->n_columns; i++) {
        const struct column *c = &b->column[i];
        if (c->summary.missing == c->summary.n_rows) {
            buf_printf(&text, "column \"%s\": every cell is missing", c->name);
            warn(w, &text, &n);
        }
        if (c->reason.line > 0 && (!c->forced || c->mark == MARK_GROUPED) && !c->reason.stored &&
            (c->reason.fell || c->reason.hint != NULL)) {
            char shown[TEXT_SHOWN];
            const char *cell = c->reason.cell != NULL ? c->reason.cell : "";
            buf_printf(&text, "column \"%s\": %s because of line %" PRId64 "%s (%s)%s%s", c->name,
                       dn_column_type_name(c->type), c->reason.line, of,
                       text_show(cell, strlen(cell), shown), c->reason.hint != NULL ? ": " : "",
                       c->reason.hint != NULL ? c->reason.hint : "");
            warn(w, &text, &n);
        }
        if (c->reason.line > 0 && !c->forced && !b->onto && !c->reason.fell &&
            c->reason.hint == NULL && !c->reason.stored) {
            warn_of_numbers(c, w, &text, &n);
        }
        if (c->inexact_cells > 0 && (c->type == DN_NUMERIC || c->type == DN_SPARSE)) {
            warn_of_inexact(c, of, w, &text, &n);
        }
        if (c->zeros_line > 0 && c->type == DN_NUMERIC && !c->forced && !c->reason.stored) {
            buf_printf(&text,
                       "column \"%s\": %s in line %" PRId64
                       "%s was read as a number, without its leading zeros: declare the column "
                       "categorical (types=) to keep it as written",
                       c->name, c->zeros_text != NULL ? c->zeros_text : "a number", c->zeros_line,
                       of);
            warn(w, &text, &n);
        }
        if (c->type == DN_NUMERIC && !c->forced && !b->onto && !c->summary.undated &&
            c->summary.missing < c->summary.n_rows) {
            buf_printf(
                &text,
                "column \"%s\": all its numbers are dates of the form YYYYMMDD, and were read "
                "as numbers: types=%s:datetime reads them as dates, types=%s:numeric keeps "
                "the numbers",
                c->name, c->name, c->name);
            warn(w, &text, &n);
        }
        if (c->kept && c->type == DN_CATEGORICAL && !c->many_before && has_many_texts(c)) {
            buf_printf(&text,
                       "column \"%s\": it has so many different values that it would be text in an "
                       "upload; it stays categorical, unless allow_type_change=true is set",
                       c->name);
            warn(w, &text, &n);
        }
        if (c->summary.dropped && c->type == DN_CATEGORICAL) {
            buf_printf(
                &text,
                "column \"%s\": its distinct values take too much memory to count each of them",
                c->name);
            warn(w, &text, &n);
        }
    }
    if (n > BUILDER_MAX_WARNINGS) {
        buf_printf(&text, "and %zu more", n - BUILDER_MAX_WARNINGS);
        json_put_stringn(w, text.data != NULL ? text.data : "", text.size);
    }
    buf_done(&text);
}
