/* Reads one instance of JSON. Numbers are parsed straight into the matrix. */
#include "formats/json/instances_json.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void json_reading_done(struct json_reading *r) {
    json_reader_done(&r->json);
    buf_done(&r->pointer);
    free(r->column);
}

void json_skip(struct json_reading *r) {
    size_t depth = json_token_begins(r->token.kind);
    while (depth > 0 && !json_over(r)) {
        const enum json_token_kind kind = json_next(r);
        depth += json_token_begins(kind);
        depth -= kind == JSON_TOKEN_END_ARRAY || kind == JSON_TOKEN_END_OBJECT;
    }
}

/* ---- faults ---- */
/* Document: returns the JSON pointer of the current row or, if a key or a position is given, of
 * that value in the row (position SIZE_MAX and no key: the row). NDJSON: returns NULL. */
static const char *pointer_of(struct json_reading *r, const struct text *key, size_t position) {
    if (r->line > 0) {
        return NULL;
    }
    buf_clear(&r->pointer);
    buf_printf(&r->pointer, "%s/%zu", r->prefix, (size_t)r->in->n_begun - 1);
    if (key == NULL && position != SIZE_MAX) {
        buf_printf(&r->pointer, "/%zu", position);
    }
    if (key != NULL) {
        buf_putc(&r->pointer, '/');
    }
    /* escapes of RFC 6901 */
    for (size_t i = 0; key != NULL && i < key->n; i++) {
        if (key->bytes[i] == '~' || key->bytes[i] == '/') {
            buf_puts(&r->pointer, key->bytes[i] == '~' ? "~0" : "~1");
        } else {
            buf_putc(&r->pointer, key->bytes[i]);
        }
    }
    return buf_cstr(&r->pointer);
}

/* Reports a fault at the pointer or, in NDJSON, at the current token. In a document the message has
 * the number of the instance, which a client could not easily find otherwise. */
static void fault(struct json_reading *r, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void fault(struct json_reading *r, const char *pointer, const char *format, ...) {
    struct buf text = {0};
    int64_t line = 0, column = 0;
    va_list args;
    if (r->line == 0) {
        buf_printf(&text, "instance %zu", (size_t)r->in->n_begun - 1);
    } else {
        json_reader_place(&r->json, &line, &column);
        buf_puts(&text, "the instance");
    }
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    const char *detail = buf_cstr(&text);
    instances_fault(r->in, pointer, r->line, column, "%s", detail != NULL ? detail : "");
    buf_done(&text);
}

/* ---- values ---- */
static struct value value_of(const struct json_token *token) {
    struct value value = {.kind = VALUE_NESTED, .text = {"", 0}};
    switch (token->kind) {
    case JSON_TOKEN_NULL:
        value.kind = VALUE_MISSING;
        return value;
    case JSON_TOKEN_TRUE:
        value.kind = VALUE_TRUE;
        break;
    case JSON_TOKEN_FALSE:
        value.kind = VALUE_FALSE;
        break;
    case JSON_TOKEN_STRING:
        value.kind = VALUE_STRING;
        break;
    case JSON_TOKEN_NUMBER:
        value.kind = token->finite ? VALUE_NUMBER : VALUE_NOT_FINITE;
        value.number = token->number;
        break;
    case JSON_TOKEN_NOT_FINITE:
        value.kind = VALUE_NOT_FINITE;
        break;
    default:
        return value;
    }
    value.text = (struct text){token->text, token->length};
    return value;
}

/* Stores the value that begins with the current token. keyed: the value has a key, not a
 * position. */
static void put(struct json_reading *r, struct slot slot, bool keyed, size_t position) {
    const struct value value = value_of(&r->token);
    const char *why = instances_put(r->in, slot, &value);
    if (why != NULL) {
        char shown[SLOT_SHOWN]; /* here, because compilers zero it */
        const char *name = instances_show(r->in, slot, shown);
        const struct text key = {name + 1, strlen(name) - 2}; /* the name without the quotes */
        fault(r, pointer_of(r, keyed ? &key : NULL, position), ", column %s: %s", name, why);
    }
    json_skip(r);
}

/* ---- arrays ---- */
enum { AT_ONCE = 256 };

/* Reads numbers of consecutive features of a sparse input, beginning with the feature of `slot`.
 * Returns the number of values read. */
static size_t sparse_numbers(struct json_reading *r, struct slot slot) {
    double number[AT_ONCE];
    const dn_input *input = dn_encoder_input(r->in->encoder, slot.input);
    const size_t feature =
        dn_encoder_sparse_feature(r->in->encoder, slot.input, (uint32_t)slot.place);
    const size_t left = input->first_feature + input->n_features - feature;
    const size_t n = json_reader_numbers(&r->json, number, left < AT_ONCE ? left : AT_ONCE);
    for (size_t k = 0; k < n; k++) {
        if (number[k] != 0) {
            instances_put_feature(r->in, feature + k, number[k]);
        }
    }
    return n;
}

/* Reads consecutive numbers from position i on, until there is a value that json_next must read.
 * Numbers of numeric inputs are stored in `row`, numbers of a sparse input as entries. Returns the
 * number of values read, which may be 0. */
static size_t plain_numbers(struct json_reading *r, double *row, size_t i) {
    struct instances *in = r->in;
    if (i >= in->schema->n_cells || in->cell != NULL || in->missing->numbers) {
        return 0;
    }
    const struct slot slot = instances_cell(in, i);
    if (in->schema->type[slot.input] == DN_SPARSE) {
        return sparse_numbers(r, slot);
    }
    return in->schema->run[slot.input] > 0
               ? json_reader_numbers(&r->json, row + slot.input, in->schema->run[slot.input])
               : 0;
}

/* Finds the columns of the values by the number of values in the first array. */
static void know_values(struct json_reading *r) {
    (void)instances_know_cells(r->in, json_reader_count(&r->json), pointer_of(r, NULL, SIZE_MAX),
                               r->line);
}

static void fault_width(struct json_reading *r, size_t n) {
    struct buf expected = {0};
    if (r->in->cells_known) {
        buf_printf(&expected, "%zu", r->in->n_row);
    } else {
        instances_put_expected(r->in, &expected);
    }
    fault(r, pointer_of(r, NULL, SIZE_MAX), " has %zu value%s, expected %s", n, n == 1 ? "" : "s",
          buf_cstr(&expected) != NULL ? buf_cstr(&expected) : "another number");
    buf_done(&expected);
}

static void array_row(struct json_reading *r, double *row) {
    struct instances *in = r->in;
    size_t i = 0;
    if (!in->cells_known) {
        know_values(r);
    }
    for (;;) {
        const size_t read = in->cells_known ? plain_numbers(r, row, i) : 0;
        i += read;
        if (read > 0 && i < in->schema->n_cells && in->schema->sparse) {
            continue;
        }
        json_next(r);
        if (r->token.kind == JSON_TOKEN_END_ARRAY || json_over(r)) {
            break;
        }
        const struct slot slot = in->cells_known && i < in->n_row ? instances_cell_slot(in, i)
                                                                  : (struct slot){SIZE_MAX, 0};
        if (slot.input != SIZE_MAX) {
            put(r, slot, false, i);
        } else {
            json_skip(r);
        }
        i++;
    }
    if ((!in->cells_known || i != in->n_row) && !json_over(r)) {
        fault_width(r, i);
    }
}

/* ---- objects ---- */
/* Returns the slot for a key that names a kept column. */
static struct slot kept_slot(struct json_reading *r, struct text key, struct slot kept) {
    struct instances *in = r->in;
    const struct slot used = instances_used(in, kept);
    char shown[TEXT_SHOWN];
    if (in->named[kept.input] == in->n_begun) {
        fault(r, pointer_of(r, &key, 0), ": the column %s comes twice",
              text_show(key.bytes, key.n, shown));
        return (struct slot){SIZE_MAX, 0};
    }
    in->named[kept.input] = in->n_begun;
    if (used.input != SIZE_MAX) {
        in->named[used.input] = in->n_begun;
    }
    r->nameless &= used.input >= in->n_inputs;
    return kept;
}

/* Returns the slot for the key in the current token. input SIZE_MAX: the value is to be skipped. */
static struct slot key_slot(struct json_reading *r, size_t expected) {
    struct instances *in = r->in;
    const struct slot nowhere = {SIZE_MAX, 0};
    const struct text key = {r->token.text, r->token.length};
    char shown[TEXT_SHOWN];
    const struct slot slot = instances_find(in, key.bytes, key.n, expected),
                      kept = instances_keep_named(in, key, slot);
    if (instances_is_kept(in, kept)) {
        return kept_slot(r, key, kept);
    }
    if (slot.input == SIZE_MAX || (slot.input == in->n_inputs && !in->labelled)) {
        const char *why = in->stopped ? NULL : instances_ignore(in, key, true);
        if (why != NULL) {
            fault(r, pointer_of(r, &key, 0), ": %s", why);
        }
        return nowhere;
    }
    /* the target is not a column of the inputs */
    r->nameless &= slot.input == in->n_inputs;
    if (slot.input < in->n_inputs && in->schema->type[slot.input] == DN_SPARSE) {
        return slot; /* instances_row_end finds features that are given twice */
    }
    if (in->named[slot.input] == in->n_begun) {
        fault(r, pointer_of(r, &key, 0), ": the column %s comes twice",
              text_show(key.bytes, key.n, shown));
        return nowhere;
    }
    in->named[slot.input] = in->n_begun;
    return slot;
}

static void object_row(struct json_reading *r) {
    size_t expected = 0, known = 0, unknown = 0;
    instances_object_begin(r->in);
    while (json_next(r) == JSON_TOKEN_KEY && !json_over(r)) {
        const struct slot slot = key_slot(r, expected);
        const struct slot used = instances_used(r->in, slot);
        known += used.input != SIZE_MAX;
        unknown += used.input == SIZE_MAX;
        json_next(r);
        if (slot.input == SIZE_MAX) {
            json_skip(r);
            continue;
        }
        put(r, slot, true, 0);
        expected = used.input != SIZE_MAX ? used.input + 1 : expected;
    }
    struct text name = {0};
    const char *why = json_over(r) ? NULL : instances_object_end(r->in, &name);
    if (why != NULL) {
        fault(r, pointer_of(r, &name, 0), ": %s", why);
    } else if (unknown > 0 && known == 0 && r->in->takes_extra && !json_over(r)) {
        fault(r, pointer_of(r, NULL, SIZE_MAX), " names no column of the model");
    }
}

static void fault_twice(struct json_reading *r, size_t feature) {
    char name[SLOT_SHOWN];
    (void)dn_encoder_feature_name(r->in->encoder, feature, name, sizeof name);
    const struct text key = {name, strlen(name)};
    fault(r, pointer_of(r, &key, 0), ": the column \"%s\" comes twice", name);
}

void json_row(struct json_reading *r) {
    double *row = instances_row(r->in);
    r->nameless = r->token.kind == JSON_TOKEN_BEGIN_OBJECT;
    if (row == NULL) {
        return;
    }
    if (r->token.kind == JSON_TOKEN_BEGIN_ARRAY) {
        array_row(r, row);
    } else if (r->token.kind == JSON_TOKEN_BEGIN_OBJECT) {
        object_row(r);
    } else {
        fault(r, pointer_of(r, NULL, SIZE_MAX), " must be an array or an object");
    }
    const size_t twice = instances_row_end(r->in);
    if (twice != SIZE_MAX) {
        fault_twice(r, twice);
    }
}

/* ---- a row of "rows" ---- */
static void listed_values(struct json_reading *r) {
    size_t i = 0;
    while (json_next(r) != JSON_TOKEN_END_ARRAY && !json_over(r)) {
        if (i < r->n_columns && r->column[i].input != SIZE_MAX) {
            put(r, r->column[i], false, i);
        } else {
            json_skip(r);
        }
        i++;
    }
    if (i != r->n_columns && !json_over(r)) {
        fault(r, pointer_of(r, NULL, SIZE_MAX), " has %zu value%s, expected %zu as \"columns\" has",
              i, i == 1 ? "" : "s", r->n_columns);
    }
}

void json_listed_row(struct json_reading *r) {
    if (instances_row(r->in) == NULL) {
        return;
    }
    if (r->token.kind == JSON_TOKEN_BEGIN_ARRAY) {
        listed_values(r);
    } else {
        fault(r, pointer_of(r, NULL, SIZE_MAX), " must be an array of the values of \"columns\"");
        json_skip(r);
    }
    const size_t twice = instances_row_end(r->in);
    if (twice != SIZE_MAX) {
        fault_twice(r, twice);
    }
}
