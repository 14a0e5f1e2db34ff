/* A source of columns of a stored table whose cells are read as those of instances: by the missing
 * words and the marks of the reading of a model or of a call. */
#include "formats/instances/instances.h"
#include "formats/text/view_cell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum conversion {
    CONVERT_NOTHING,
    CONVERT_WORDS,   /* strings that are tokens become missing */
    CONVERT_NUMBERS, /* numbers that are tokens become missing */
    CONVERT_TEXTS,   /* texts are read as numbers or truth values */
    CONVERT_DATES    /* texts are read as dates or parts of dates */
};

struct source_column {
    enum conversion how;
    dn_column_type type; /* of the view */
    bool comma;          /* its numbers have decimal commas */
    /* [capacity] the converted cells of the current chunk */
    double *number;
    uint32_t *code;
    size_t capacity;        /* 0: the arrays may be NULL */
    dn_column_chunk *chunk; /* CONVERT_DATES: the dates of the current chunk; NULL until needed */
};

struct instance_source {
    struct instances in; /* only its reading is used */
    struct problem ignored;
    const dn_table_source *inner;
    dn_table_source outer;
    dn_table_column *columns; /* [n_cols] */
    struct source_column *column;
};

bool instance_source_needed(const struct instance_schema *schema,
                            const struct instances_options *options) {
    const struct missing *missing =
        options->missing != NULL ? options->missing : &schema->reading.missing;
    return missing->n > MISSING_STANDARD || options->marks != NULL || schema->comma != NULL ||
           marks_any(&schema->reading.marks);
}

/* ---- cells ---- */
static bool grow(struct source_column *c, size_t n) {
    if (n > c->capacity) {
        free(c->number);
        free(c->code);
        c->number = malloc(n * sizeof *c->number);
        c->code = malloc(n * sizeof *c->code);
        c->capacity = c->number != NULL && c->code != NULL ? n : 0;
    }
    return n <= c->capacity;
}

static bool is_token(const struct instance_source *s, const dn_column_view *view, size_t row) {
    char room[DN_NUMBER_SIZE];
    struct text t;
    return !view_cell(view, row, room, &t) || missing_has(s->in.missing, text_trim(t.bytes, t.n));
}

static bool read_text(const struct instance_source *s, const struct source_column *c, struct text t,
                      double *out) {
    bool truth = text_is(t, "1");
    if (c->type == DN_NUMERIC) {
        return instances_number(&s->in, c->comma, t, out);
    }
    if (!truth && !text_is(t, "0") && !text_boolean(t, &truth)) {
        return false;
    }
    *out = truth ? 1 : 0;
    return true;
}

static dn_status refuse(const struct instance_source *s, size_t chunk, size_t column, size_t row,
                        struct text t, dn_error *err) {
    char shown[TEXT_SHOWN];
    const dn_table_column *c = &s->columns[column];
    const size_t at = s->inner->chunk_first_row[chunk] + row;
    dn_error_set_field(err, c->name);
    dn_error_set_row(err, (int64_t)at);
    return dn_error_set(err, DN_ERR_DATA,
                        "row %zu (counted from 1), column \"%.100s\": must be %s (got %s)", at + 1,
                        c->name, c->type == DN_NUMERIC ? "a finite number" : "true or false",
                        text_show(t.bytes, t.n, shown));
}

/* Encodes the texts again, without the tokens, and decodes them as dates. */
static dn_status read_dates(const struct instance_source *s, size_t chunk, size_t column,
                            const dn_column_view *view, dn_column_view *out, dn_error *err) {
    struct source_column *c = &s->column[column];
    const dn_table_column *as = &s->columns[column];
    dn_column_builder *builder = NULL;
    void *bytes = NULL;
    size_t size = 0;
    dn_status status = c->chunk == NULL ? dn_column_chunk_new(&c->chunk, err) : DN_OK;
    if (status == DN_OK) {
        status = dn_column_builder_new(&builder, err);
    }
    for (size_t i = 0; status == DN_OK && i < view->n_rows; i++) {
        char room[DN_NUMBER_SIZE];
        struct text t = {"", 0};
        status = is_token(s, view, i) || !view_cell(view, i, room, &t)
                     ? dn_column_builder_missing(builder, err)
                     : dn_column_builder_string(builder, t.bytes, t.n, err);
    }
    if (status == DN_OK) {
        status = dn_column_builder_encode(builder, &bytes, &size, err);
    }
    if (status == DN_OK) {
        status =
            as->part != DN_PART_NONE
                ? dn_column_chunk_decode_part(c->chunk, bytes, size, &as->form, as->part, out, err)
                : dn_column_chunk_decode_datetime(c->chunk, bytes, size, &as->form, out, err);
    }
    if (status == DN_ERR_DATA && err != NULL) {
        const dn_error cell = *err;
        const size_t at = s->inner->chunk_first_row[chunk] + (size_t)(cell.row < 0 ? 0 : cell.row);
        dn_error_clear(err);
        status =
            dn_error_set(err, DN_ERR_DATA, "row %zu (counted from 1), column \"%.100s\": %.300s",
                         at + 1, as->name, cell.message);
        dn_error_set_field(err, as->name);
        dn_error_set_row(err, (int64_t)at);
    }
    dn_column_builder_free(builder);
    free(bytes);
    return status;
}

static dn_status source_column(const dn_table_source *source, size_t chunk, size_t column,
                               size_t slot, dn_column_view *out, dn_error *err) {
    struct instance_source *s = source->ctx;
    struct source_column *c = &s->column[column];
    char room[DN_NUMBER_SIZE];
    dn_column_view view;
    const dn_status status = s->inner->column(s->inner, chunk, column, slot, &view, err);
    if (status != DN_OK || c->how == CONVERT_NOTHING) {
        *out = view;
        return status;
    }
    if (c->how == CONVERT_DATES) {
        return read_dates(s, chunk, column, &view, out, err);
    }
    if (!grow(c, view.n_rows + 1) || c->number == NULL || c->code == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory to read rows");
    }
    for (size_t i = 0; i < view.n_rows; i++) {
        const bool missing = is_token(s, &view, i);
        struct text t = {"", 0};
        if (c->how == CONVERT_WORDS) {
            c->code[i] = missing ? DN_CODE_MISSING : view.code[i];
        } else if (missing || c->how == CONVERT_NUMBERS) {
            c->number[i] = missing ? (double)NAN : view.number[i];
        } else if (view_cell(&view, i, room, &t)) {
            t = text_trim(t.bytes, t.n);
            if (!read_text(s, c, t, &c->number[i])) {
                return refuse(s, chunk, column, i, t, err);
            }
        }
    }
    *out =
        c->how == CONVERT_TEXTS ? (dn_column_view){.type = c->type, .n_rows = view.n_rows} : view;
    if (c->how == CONVERT_WORDS) {
        out->code = c->code;
    } else {
        out->number = c->number;
    }
    return DN_OK;
}

/* ---- the source ---- */
struct instance_source *instance_source_new(const dn_model *model,
                                            const struct instance_schema *schema,
                                            const struct instances_options *options,
                                            const dn_table_source *inner,
                                            const dn_table_column *as) {
    struct instance_source *s = calloc(1, sizeof *s);
    if (s == NULL || !instances_init(&s->in, model, schema, false, &s->ignored) ||
        !instances_use_options(&s->in, options)) {
        instance_source_free(s);
        return NULL;
    }
    instances_use_marks(&s->in, '\0');
    s->inner = inner;
    s->outer = *inner;
    s->outer.column = source_column;
    s->outer.ctx = s;
    s->columns = calloc(inner->n_cols + 1, sizeof *s->columns);
    s->column = calloc(inner->n_cols + 1, sizeof *s->column);
    if (s->columns == NULL || s->column == NULL) {
        instance_source_free(s);
        return NULL;
    }
    s->outer.columns = s->columns;
    for (size_t j = 0; j < inner->n_cols; j++) {
        struct source_column *c = &s->column[j];
        const char *name = inner->columns[j].name;
        s->columns[j] = as[j];
        s->columns[j].name = name;
        c->type = as[j].type;
        c->comma =
            s->in.comma != NULL && names_find(&schema->reading.commas, name, strlen(name)) >= 0;
        const bool dates = dn_datetime_is_form(&as[j].form);
        c->how = c->type == DN_SPARSE                              ? CONVERT_NOTHING
                 : dates                                           ? CONVERT_DATES
                 : c->type != inner->columns[j].type               ? CONVERT_TEXTS
                 : c->type == DN_CATEGORICAL || c->type == DN_TEXT ? CONVERT_WORDS
                 : s->in.missing->numbers                          ? CONVERT_NUMBERS
                                                                   : CONVERT_NOTHING;
    }
    return s;
}

void instance_source_free(struct instance_source *s) {
    if (s != NULL) {
        for (size_t j = 0; s->column != NULL && j < s->inner->n_cols; j++) {
            free(s->column[j].number);
            free(s->column[j].code);
            dn_column_chunk_free(s->column[j].chunk);
        }
        instances_done(&s->in);
        problem_done(&s->ignored);
        free(s->columns);
        free(s->column);
        free(s);
    }
}

const dn_table_source *instance_source_table(const struct instance_source *s) {
    return &s->outer;
}
