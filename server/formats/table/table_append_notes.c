/* The notes of a table with appended rows. The notes of the first upload stay, because its options
 * are used for later appends. The member "append" describes the latest append. Warnings of earlier
 * appends are moved to the list of warnings. */
#include "base/json/json.h"
#include "formats/table/table.h"
#include "formats/table/table_append.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_value(struct json_writer *w, const json_t *value);

static void put_members(struct json_writer *w, json_t *object, const char *const *but) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        bool left_out = false;
        for (size_t i = 0; but[i] != NULL; i++) {
            left_out = left_out || strcmp(key, but[i]) == 0;
        }
        if (!left_out) {
            json_put_key(w, key);
            put_value(w, value);
        }
    }
}

/* Copies a JSON value. Recursion is bounded: the notes are written by this program. */
static void put_value(struct json_writer *w, const json_t *value) {
    static const char *const none[] = {NULL};
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        json_begin_object(w);
        put_members(w, (json_t *)value, none);
        json_end_object(w);
        break;
    case JSON_ARRAY:
        json_begin_array(w);
        for (size_t i = 0; i < json_array_size(value); i++) {
            put_value(w, json_array_get(value, i));
        }
        json_end_array(w);
        break;
    case JSON_STRING:
        json_put_stringn(w, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
    case JSON_REAL:
        json_put_double(w, json_number_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        json_put_bool(w, json_is_true(value));
        break;
    case JSON_NULL:
        json_put_null(w);
        break;
    }
}

/* Writes a warning of the previous append. The range of its rows is put before it, because the line
 * numbers in the warning refer to the body of that append. */
static void put_appended(struct json_writer *w, const char *warning, int64_t first, int64_t last) {
    struct buf text = {0};
    buf_printf(&text, "rows %" PRId64 " to %" PRId64 ", appended: %s", first, last, warning);
    json_put_stringn(w, text.data != NULL ? text.data : "", text.size);
    w->out->failed |= text.failed;
    buf_done(&text);
}

/* Writes the latest BUILDER_MAX_WARNINGS warnings of the first upload and of the earlier appends.
 * n_rows: rows of the stored table. */
static void put_warnings(struct json_writer *w, const json_t *stored, int64_t n_rows) {
    const json_t *append = json_object_get(stored, "append");
    const json_t *const list[] = {json_object_get(stored, "warnings"),
                                  json_object_get(append, "warnings")};
    const size_t n = json_array_size(list[0]) + json_array_size(list[1]);
    const int64_t appended = (int64_t)json_number_value(json_object_get(append, "rows"));
    size_t at = 0;
    json_kv_begin_array(w, "warnings");
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < json_array_size(list[k]); i++) {
            const json_t *warning = json_array_get(list[k], i);
            const bool late = at++ + BUILDER_MAX_WARNINGS >= n;
            if (late && k == 1 && json_is_string(warning)) {
                put_appended(w, json_string_value(warning), n_rows - appended + 1, n_rows);
            } else if (late) {
                put_value(w, warning);
            }
        }
    }
    json_end_array(w);
}

static void write_all(const struct table *t, json_t *stored, json_t *own, struct buf *out) {
    static const char *const of_stored[] = {"append", "warnings", "decimal_comma", NULL},
                             *const of_own[] = {"types", NULL};
    struct json_writer w = json_writer_of(out);
    json_begin_object(&w);
    put_members(&w, stored, of_stored);
    builder_write_marks(&t->builder, true, &w);
    put_warnings(&w, stored, t->builder.stored_rows);
    json_kv_begin_object(&w, "append");
    json_kv_int(&w, "rows", t->builder.n_rows);
    json_kv_int(&w, "bytes", t->bytes);
    put_members(&w, own, of_own);
    json_end_object(&w);
    json_end_object(&w);
}

bool table_append_notes(struct table *t) {
    struct problem ignored = {0};
    struct buf all = {0};
    json_t *stored = json_parse(t->append.notes, strlen(t->append.notes), &ignored);
    json_t *own = t->notes.failed || t->notes.size == 0
                      ? NULL
                      : json_parse(t->notes.data, t->notes.size, &ignored);
    const bool well = stored != NULL && own != NULL;
    if (well) {
        write_all(t, stored, own, &all);
        buf_done(&t->notes);
        t->notes = all;
    }
    problem_done(&ignored);
    json_decref(stored);
    json_decref(own);
    return well;
}

void table_append_write_types(const struct table_builder *b, struct json_writer *w) {
    bool any = false;
    for (size_t i = 0; i < b->n_columns; i++) {
        const struct column *c = &b->column[i];
        const bool given = c->forced && c->type != DN_SPARSE;
        if (given && !any) {
            json_kv_begin_object(w, "types");
            any = true;
        }
        if (given) {
            json_kv_string(w, c->name, dn_column_type_name(c->type));
        }
    }
    if (any) {
        json_end_object(w);
    }
}
