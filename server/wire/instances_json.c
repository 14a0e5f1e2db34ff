/* Instances as JSON: {"instances": […]} or the bare array. An instance is read by instances_json_row.c. */
#include "wire/instances_json.h"

#include "base/json.h"

#include <string.h>

static void rows(struct json_reading *r) {
    while (json_next(r) != WIRE_JSON_END_ARRAY && !json_over(r)) {
        json_row(r);
    }
}

/* ---- the document ------------------------------------------------------------------------------------------------------------------- */
static void member(struct json_reading *r, bool *seen) {
    const struct text key = {r->token.text, r->token.length};
    if (text_is(key, "instances") && !*seen) {
        *seen = true;
        if (json_next(r) == WIRE_JSON_BEGIN_ARRAY) {
            rows(r);
        } else if (!json_over(r)) {
            instances_fault(r->in, "/instances", 0, 0, "\"instances\" must be an array");
            json_skip(r);
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
    json_next(r);
    json_skip(r);
}

static void document(struct json_reading *r) {
    bool seen = false;
    if (json_next(r) == WIRE_JSON_BEGIN_ARRAY) {
        r->prefix = "";
        rows(r);
    } else if (r->token.kind == WIRE_JSON_BEGIN_OBJECT) {
        while (json_next(r) == WIRE_JSON_KEY && !json_over(r)) {
            member(r, &seen);
        }
        if (!seen && !json_over(r)) {
            instances_fault(r->in, "/instances", 0, 0, "\"instances\" is missing");
        }
    } else if (!json_over(r)) {
        instances_fault(r->in, "", 0, 0, "the body must be an object with \"instances\", or an array");
    }
    if (!json_over(r)) {
        json_next(r); /* the end, or a fault */
    }
}

bool instances_read_json(struct instances *in, const char *body, size_t size, struct wire_instances *out) {
    struct json_reading r = {.in = in, .prefix = "/instances"};
    wire_json_init(&r.json);
    r.json.allow_not_finite = true; /* refused with row and column instead of as bad JSON */
    wire_json_feed(&r.json, body, size);
    wire_json_close(&r.json);
    document(&r);
    if (r.token.kind == WIRE_JSON_FAULT) {
        wire_json_problem(&r.json, in->problem);
    }
    const bool well = instances_finish(in, r.prefix, out);
    json_reading_done(&r);
    return well;
}
