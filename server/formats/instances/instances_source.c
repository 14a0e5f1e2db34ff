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
    CONVERT_TEXTS    /* texts are read as numbers or truth values */
};

struct source_column {
    enum conversion how;
    dn_column_type type; /* of the view */
    bool comma;          /* its numbers have decimal commas */
    /* [capacity] the converted cells of the current chunk */
    double *number;
    uint32_t *code;
    size_t capacity; /* 0: the arrays may be NULL */
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
                                            const dn_column_type *types) {
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
        s->columns[j] = inner->columns[j];
        s->columns[j].type = c->type = types[j];
        c->comma =
            s->in.comma != NULL && names_find(&schema->reading.commas, name, strlen(name)) >= 0;
        c->how = c->type == DN_SPARSE                              ? CONVERT_NOTHING
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
