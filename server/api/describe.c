/* Descriptions of machines as JSON. */
#include "api/describe.h"

static void put_key(struct json_writer *w, const char *key) {
    if (key != NULL) {
        json_put_key(w, key);
    }
}

/* ---- the visitor ---- */
static void begin_object(void *ctx, const char *name) {
    put_key(ctx, name);
    json_begin_object(ctx);
}

static void end_object(void *ctx) {
    json_end_object(ctx);
}

static void begin_array(void *ctx, const char *name) {
    put_key(ctx, name);
    json_begin_array(ctx);
}

static void end_array(void *ctx) {
    json_end_array(ctx);
}

static void number(void *ctx, const char *name, double value) {
    put_key(ctx, name);
    json_put_double(ctx, value);
}

static void integer(void *ctx, const char *name, int64_t value) {
    put_key(ctx, name);
    json_put_int(ctx, value);
}

static void boolean(void *ctx, const char *name, bool value) {
    put_key(ctx, name);
    json_put_bool(ctx, value);
}

static void text(void *ctx, const char *name, const char *bytes, size_t length) {
    put_key(ctx, name);
    if (bytes != NULL) {
        json_put_stringn(ctx, bytes, length);
    } else {
        json_put_null(ctx);
    }
}

static void array(void *ctx, const char *name, const dn_number_array *a) {
    if (a->n_dims == 2) {
        json_put_matrix(ctx, name, a->values, a->shape[0], a->shape[1]);
        return;
    }
    put_key(ctx, name);
    json_begin_array(ctx);
    for (size_t i = 0; i < a->shape[0]; i++) {
        json_put_double(ctx, a->values[i * a->stride]);
    }
    json_end_array(ctx);
}

dn_visitor api_json_visitor(struct json_writer *w, bool matrices) {
    return (dn_visitor){.ctx = w,
                        .matrices = matrices,
                        .begin_object = begin_object,
                        .end_object = end_object,
                        .begin_array = begin_array,
                        .end_array = end_array,
                        .number = number,
                        .integer = integer,
                        .boolean = boolean,
                        .text = text,
                        .array = array};
}
