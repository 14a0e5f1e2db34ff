/* The reading of a table: written from its notes, parsed from the document of a model. */
#include "formats/instances/table_reading.h"
#include "base/json/json.h"
#include "base/json/json_write.h"

#include <stdlib.h>
#include <string.h>

static json_t *parse(const char *text) {
    struct problem ignored = {0};
    json_t *value = text != NULL ? json_parse(text, strlen(text), &ignored) : NULL;
    problem_done(&ignored);
    return value;
}

static char character(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return json_string_length(value) == 1 ? json_string_value(value)[0] : '\0';
}

static struct text text_of(const json_t *value) {
    return (struct text){json_string_value(value), json_string_length(value)};
}

static void put_character(const json_t *notes, const char *name, struct json_writer *w) {
    const char c = character(notes, name);
    if (c != '\0') {
        json_put_key(w, name);
        json_put_stringn(w, &c, 1);
    }
}

/* Writes the tokens beside the standard ones. */
static void put_missing(const json_t *notes, struct json_writer *w) {
    const json_t *all = json_object_get(notes, "missing");
    struct problem ignored = {0};
    struct missing standard;
    size_t n = 0;
    (void)missing_init(&standard, NULL, &ignored);
    for (size_t i = 0; i < json_array_size(all); i++) {
        const struct text token = text_of(json_array_get(all, i));
        if (token.bytes != NULL && !missing_has(&standard, token)) {
            if (n++ == 0) {
                json_kv_begin_array(w, "missing");
            }
            json_put_stringn(w, token.bytes, token.n);
        }
    }
    if (n > 0) {
        json_end_array(w);
    }
}

void table_reading_write(const char *notes, struct json_writer *w) {
    json_t *object = parse(notes);
    json_begin_object(w);
    put_character(object, "delimiter", w);
    put_character(object, "comment", w);
    put_missing(object, w);
    json_end_object(w);
    json_decref(object);
}

char *table_reading_document(const char *document) {
    struct buf out = {0};
    size_t size = 0;
    json_t *object = parse(document);
    const json_t *reading = json_object_get(object, "reading");
    char *text = reading != NULL ? json_dumps(reading, JSON_COMPACT) : NULL;
    bool well = document == NULL || (object != NULL && (reading == NULL || text != NULL));
    buf_puts(&out, "{");
    if (text != NULL) {
        buf_printf(&out, "\"reading\":%s", text);
    }
    buf_puts(&out, "}");
    free(text);
    json_decref(object);
    well = well && !out.failed;
    text = well ? buf_take(&out, &size) : NULL;
    buf_done(&out);
    return text;
}

bool table_reading_parse(const char *document, struct table_reading *out) {
    struct problem ignored = {0};
    json_t *object = parse(document);
    const json_t *reading = json_object_get(object, "reading"),
                 *missing = json_object_get(reading, "missing");
    bool well = (document == NULL || object != NULL) && missing_init(&out->missing, NULL, &ignored);
    out->delimiter = character(reading, "delimiter");
    out->comment = character(reading, "comment");
    for (size_t i = 0; well && i < json_array_size(missing); i++) {
        const struct text token = text_of(json_array_get(missing, i));
        well = token.bytes != NULL && missing_add(&out->missing, token);
    }
    json_decref(object);
    return well;
}
