/* The reading of a table: written from its notes, parsed from the document of a model. */
#include "formats/instances/table_reading.h"
#include "base/json/json.h"
#include "base/json/json_write.h"
#include "formats/csv/repair/csv_dialect.h"
#include "formats/csv/repair/csv_variant.h"

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

void table_reading_dialect(const json_t *object, struct csv_dialect *out) {
    (void)csv_variant_dialect(text_of(json_object_get(object, "delimiter")),
                              text_of(json_object_get(object, "quote")),
                              text_of(json_object_get(object, "escape")), out);
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

static void put_commas(const json_t *names, struct json_writer *w) {
    if (json_array_size(names) > 0) {
        json_kv_begin_array(w, "decimal_comma");
        for (size_t i = 0; i < json_array_size(names); i++) {
            const struct text name = text_of(json_array_get(names, i));
            json_put_stringn(w, name.bytes != NULL ? name.bytes : "", name.n);
        }
        json_end_array(w);
    }
}

/* columns: JSON array of the columns of the table. */
static void put_columns(const json_t *columns, struct json_writer *w) {
    bool cells = json_array_size(columns) > 0;
    for (size_t i = 0; cells && i < json_array_size(columns); i++) {
        const char *type = json_string_value(json_object_get(json_array_get(columns, i), "type"));
        cells = type != NULL && strcmp(type, dn_column_type_name(DN_SPARSE)) != 0;
    }
    if (cells) {
        json_kv_begin_array(w, "columns");
        for (size_t i = 0; i < json_array_size(columns); i++) {
            const struct text name = text_of(json_object_get(json_array_get(columns, i), "name"));
            json_put_stringn(w, name.bytes != NULL ? name.bytes : "", name.n);
        }
        json_end_array(w);
    }
}

void table_reading_write(const char *notes, const char *columns, struct json_writer *w) {
    json_t *object = parse(notes), *list = parse(columns);
    json_begin_object(w);
    struct csv_dialect dialect;
    table_reading_dialect(object, &dialect);
    if (dialect.n > 0) {
        json_put_key(w, "delimiter");
        json_put_stringn(w, dialect.delimiter, dialect.n);
    }
    put_character(object, "quote", w);
    put_character(object, "escape", w);
    put_character(object, "comment", w);
    put_character(object, "decimal", w);
    put_character(object, "thousands", w);
    if (json_is_string(json_object_get(object, "strip"))) {
        json_kv_string(w, "strip", json_string_value(json_object_get(object, "strip")));
    }
    put_commas(json_object_get(object, "decimal_comma"), w);
    put_missing(object, w);
    if (json_is_true(json_object_get(object, "trimmed"))) {
        json_kv_bool(w, "trimmed", true);
    }
    put_columns(list, w);
    json_end_object(w);
    json_decref(object);
    json_decref(list);
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

/* Reads an array of distinct names. *bytes gets their texts. */
static bool parse_names(const json_t *names, struct names *out, char **bytes) {
    size_t size = 1, used = 0;
    for (size_t i = 0; i < json_array_size(names); i++) {
        size += json_string_length(json_array_get(names, i));
    }
    *bytes = malloc(size);
    bool well = *bytes != NULL;
    for (size_t i = 0; well && i < json_array_size(names); i++) {
        const struct text name = text_of(json_array_get(names, i));
        well = name.bytes != NULL;
        if (well) {
            memcpy(*bytes + used, name.bytes, name.n);
            well = names_add(out, *bytes + used, name.n);
            used += name.n;
        }
    }
    return well;
}

static bool parse_marks(const json_t *reading, struct marks *out) {
    struct problem ignored = {0};
    const json_t *strip = json_object_get(reading, "strip");
    *out = (struct marks){.decimal = character(reading, "decimal"),
                          .thousands = character(reading, "thousands")};
    const bool well = strip == NULL || (json_is_string(strip) &&
                                        marks_set_strip(out, json_string_value(strip), &ignored));
    problem_done(&ignored);
    return well;
}

void table_reading_done(struct table_reading *reading) {
    names_done(&reading->commas);
    names_done(&reading->columns);
    free(reading->comma_bytes);
    free(reading->column_bytes);
}

bool table_reading_parse(const char *document, struct table_reading *out) {
    struct problem ignored = {0};
    json_t *object = parse(document);
    const json_t *reading = json_object_get(object, "reading"),
                 *missing = json_object_get(reading, "missing");
    bool well = (document == NULL || object != NULL) && missing_init(&out->missing, NULL, &ignored);
    well =
        well && parse_marks(reading, &out->marks) &&
        parse_names(json_object_get(reading, "decimal_comma"), &out->commas, &out->comma_bytes) &&
        parse_names(json_object_get(reading, "columns"), &out->columns, &out->column_bytes);
    table_reading_dialect(reading, &out->dialect);
    out->delimiter = out->dialect.n > 0 ? csv_dialect_char(&out->dialect) : '\0';
    out->comment = character(reading, "comment");
    out->trimmed = json_is_true(json_object_get(reading, "trimmed"));
    for (size_t i = 0; well && i < json_array_size(missing); i++) {
        const struct text token = text_of(json_array_get(missing, i));
        well = token.bytes != NULL && missing_add(&out->missing, token);
    }
    json_decref(object);
    return well;
}
