/* Instances as JSON: {"instances": […]} or the bare array; each an array in input order or an object by names. Numbers go from the text into the matrix. */
#include "base/json.h"
#include "wire/instances.h"
#include "wire/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The reading of one body. */
struct reading {
    struct instances *in;
    struct wire_json json;
    struct wire_json_token token; /* the last one */
    const char *prefix;           /* pointer of the array: "" or "/instances" */
    struct buf why;               /* of the last refusal */
    struct buf pointer;
};

/* The next token; the body is whole, so MORE does not come. */
static enum wire_json_kind next(struct reading *r) {
    return wire_json_next(&r->json, &r->token);
}

static bool begins(enum wire_json_kind kind) {
    return kind == WIRE_JSON_BEGIN_ARRAY || kind == WIRE_JSON_BEGIN_OBJECT;
}

/* Nothing more to read: not JSON, or stopped. */
static bool over(const struct reading *r) {
    return r->token.kind == WIRE_JSON_FAULT || r->in->stopped;
}

/* Reads to the end of the value that the last token begins. */
static void skip(struct reading *r) {
    size_t depth = begins(r->token.kind);
    while (depth > 0 && !over(r)) {
        const enum wire_json_kind kind = next(r);
        depth += begins(kind);
        depth -= kind == WIRE_JSON_END_ARRAY || kind == WIRE_JSON_END_OBJECT;
    }
}

/* ---- faults ------------------------------------------------------------------------------------------------------------------------- */
static const char *row_pointer(struct reading *r) {
    buf_clear(&r->pointer);
    buf_printf(&r->pointer, "%s/%zu", r->prefix, r->in->rows.n - 1);
    return buf_cstr(&r->pointer);
}

/* Pointer of a value of the row at hand: by key, or by position when key is NULL. */
static const char *value_pointer(struct reading *r, const struct text *key, size_t position) {
    row_pointer(r);
    if (key == NULL) {
        buf_printf(&r->pointer, "/%zu", position);
        return buf_cstr(&r->pointer);
    }
    buf_putc(&r->pointer, '/');
    for (size_t i = 0; i < key->n; i++) { /* RFC 6901 */
        if (key->bytes[i] == '~' || key->bytes[i] == '/') {
            buf_puts(&r->pointer, key->bytes[i] == '~' ? "~0" : "~1");
        } else {
            buf_putc(&r->pointer, key->bytes[i]);
        }
    }
    return buf_cstr(&r->pointer);
}

/* ---- values ------------------------------------------------------------------------------------------------------------------------- */
static struct value value_of(const struct wire_json_token *token) {
    struct value value = {.kind = VALUE_NESTED, .text = {"", 0}};
    switch (token->kind) {
    case WIRE_JSON_NULL:
        value.kind = VALUE_MISSING;
        return value;
    case WIRE_JSON_TRUE:
        value.kind = VALUE_TRUE;
        break;
    case WIRE_JSON_FALSE:
        value.kind = VALUE_FALSE;
        break;
    case WIRE_JSON_STRING:
        value.kind = VALUE_STRING;
        break;
    case WIRE_JSON_NUMBER:
        value.kind = token->finite ? VALUE_NUMBER : VALUE_NOT_FINITE;
        value.number = token->number;
        break;
    case WIRE_JSON_NOT_FINITE:
        value.kind = VALUE_NOT_FINITE;
        break;
    default:
        return value;
    }
    value.text = (struct text){token->text, token->length};
    return value;
}

/* The value that the last token is (or begins) belongs to input i (n_inputs: the target). */
static void put(struct reading *r, size_t i, const struct text *key) {
    const struct value value = value_of(&r->token);
    buf_clear(&r->why);
    if (!instances_put(r->in, i, &value, &r->why)) {
        const char *why = buf_cstr(&r->why);
        instances_fault(r->in, value_pointer(r, key, i), 0, 0, "instance %zu, column \"%s\": %s", r->in->rows.n - 1,
                        instances_name(r->in, i), why != NULL ? why : "");
    }
    skip(r);
}

/* ---- rows --------------------------------------------------------------------------------------------------------------------------- */
static void array_row(struct reading *r, double *row) {
    struct instances *in = r->in;
    const size_t expected = in->n_inputs + in->labelled;
    size_t i = 0;
    in->all_named = true;
    for (;;) {
        if (i < in->n_inputs && in->run[i] > 0) {
            i += wire_json_numbers(&r->json, row + i, in->run[i]);
        }
        next(r);
        if (r->token.kind == WIRE_JSON_END_ARRAY || over(r)) {
            break;
        }
        if (i < expected) {
            put(r, i, NULL);
        } else {
            skip(r);
        }
        i++;
    }
    if (i != expected && !over(r)) {
        instances_fault(in, row_pointer(r), 0, 0, "instance %zu has %zu value%s, expected %zu%s", in->rows.n - 1, i, i == 1 ? "" : "s",
                        expected, in->labelled ? " (the target last)" : "");
    }
}

/* The key of the last token: which input, and is it right here? SIZE_MAX: its value is not read. */
static size_t key_input(struct reading *r, size_t expected) {
    struct instances *in = r->in;
    const struct text key = {r->token.text, r->token.length};
    char shown[TEXT_SHOWN];
    const size_t i = instances_find(in, key.bytes, key.n, expected);
    if (i == SIZE_MAX) {
        if (!in->stopped) {
            instances_fault(in, value_pointer(r, &key, 0), 0, 0, "instance %zu: the model has no column %s", in->rows.n - 1,
                            text_show(key.bytes, key.n, shown));
        }
        return SIZE_MAX;
    }
    if (in->named[i] == (int64_t)in->rows.n) {
        instances_fault(in, value_pointer(r, &key, 0), 0, 0, "instance %zu: the column %s comes twice", in->rows.n - 1,
                        text_show(key.bytes, key.n, shown));
        return SIZE_MAX;
    }
    in->named[i] = (int64_t)in->rows.n;
    return i;
}

static void object_row(struct reading *r) {
    struct instances *in = r->in;
    size_t expected = 0;
    while (next(r) == WIRE_JSON_KEY && !over(r)) {
        const size_t i = key_input(r, expected);
        next(r);
        if (i == SIZE_MAX) {
            skip(r);
            continue;
        }
        const char *name = instances_name(in, i);
        put(r, i, &(struct text){name, strlen(name)});
        expected = i + 1;
    }
}

static void rows(struct reading *r) {
    while (next(r) != WIRE_JSON_END_ARRAY && !over(r)) {
        double *row = instances_row(r->in);
        if (row == NULL) {
            return;
        }
        if (r->token.kind == WIRE_JSON_BEGIN_ARRAY) {
            array_row(r, row);
        } else if (r->token.kind == WIRE_JSON_BEGIN_OBJECT) {
            object_row(r);
        } else {
            instances_fault(r->in, row_pointer(r), 0, 0, "instance %zu must be an array or an object", r->in->rows.n - 1);
        }
    }
}

/* ---- the document ------------------------------------------------------------------------------------------------------------------- */
static void member(struct reading *r, bool *seen) {
    const struct text key = {r->token.text, r->token.length};
    if (text_is(key, "instances") && !*seen) {
        *seen = true;
        if (next(r) == WIRE_JSON_BEGIN_ARRAY) {
            rows(r);
        } else if (!over(r)) {
            instances_fault(r->in, "/instances", 0, 0, "\"instances\" must be an array");
            skip(r);
        }
        return;
    }
    char shown[TEXT_SHOWN];
    struct buf name = {0}, pointer = {0};
    buf_append(&name, key.bytes, key.n);
    const char *text = buf_cstr(&name);
    if (text != NULL) {
        json_pointer(&pointer, "", text);
    }
    instances_fault(r->in, buf_cstr(&pointer), 0, 0,
                    *seen && text_is(key, "instances") ? "member %s comes twice" : "unknown member %s: there is only \"instances\"",
                    text_show(key.bytes, key.n, shown));
    buf_done(&name);
    buf_done(&pointer);
    next(r);
    skip(r);
}

static void document(struct reading *r) {
    bool seen = false;
    if (next(r) == WIRE_JSON_BEGIN_ARRAY) {
        r->prefix = "";
        rows(r);
    } else if (r->token.kind == WIRE_JSON_BEGIN_OBJECT) {
        while (next(r) == WIRE_JSON_KEY && !over(r)) {
            member(r, &seen);
        }
        if (!seen && !over(r)) {
            instances_fault(r->in, "/instances", 0, 0, "\"instances\" is missing");
        }
    } else if (!over(r)) {
        instances_fault(r->in, "", 0, 0, "the body must be an object with \"instances\", or an array");
    }
    if (!over(r)) {
        next(r); /* the end, or a fault */
    }
}

bool instances_read_json(struct instances *in, const char *body, size_t size, struct wire_instances *out) {
    struct reading r = {.in = in, .prefix = "/instances"};
    wire_json_init(&r.json);
    r.json.allow_not_finite = true; /* refused with row and column instead of as bad JSON */
    wire_json_feed(&r.json, body, size);
    wire_json_close(&r.json);
    document(&r);
    if (r.token.kind == WIRE_JSON_FAULT) {
        wire_json_problem(&r.json, in->problem);
    }
    const bool well = instances_finish(in, r.prefix, out);
    wire_json_done(&r.json);
    buf_done(&r.why);
    buf_done(&r.pointer);
    return well;
}
