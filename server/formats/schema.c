/* Parses the JSON description of a stored table's columns. */
#include "base/json/json.h"
#include "formats/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool damaged(struct problem *problem, const char *what) {
    return problem_set(problem, PROBLEM_INTERNAL, "the stored list of columns is damaged: %s",
                       what);
}

static double number_of(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* Reads a date; NaN if the member is absent. */
static double date_of(const json_t *object, const char *key, const dn_datetime_form *form) {
    const json_t *value = json_object_get(object, key);
    double seconds = (double)NAN;
    return json_is_string(value) && dn_datetime_parse(json_string_value(value),
                                                      json_string_length(value), form, &seconds)
               ? seconds
               : (double)NAN;
}

/* Returns -1 if the member is absent or not a count. */
static int64_t count_of(const json_t *object, const char *key) {
    const double value = number_of(object, key);
    return value >= 0 && value < 9e15 ? (int64_t)value : -1;
}

static bool has_fraction(double x) {
    return isfinite(x) && x != floor(x);
}

static bool column_parse(const json_t *object, struct schema_column *out, struct problem *problem) {
    const char *name = json_string_value(json_object_get(object, "name"));
    const char *type = json_string_value(json_object_get(object, "type"));
    const double missing = number_of(object, "missing");
    if (name == NULL || type == NULL || !dn_column_type_parse(type, &out->type)) {
        return damaged(problem, "a column without name or type");
    }
    if (!(missing >= 0 && missing < 9e15)) {
        return damaged(problem, "a column without its number of missing values");
    }
    out->missing = (int64_t)missing;
    out->identifier = json_is_true(json_object_get(object, "identifier"));
    out->distinct_about = count_of(object, "distinct");
    out->distinct =
        json_is_true(json_object_get(object, "distinct_estimated")) ? -1 : out->distinct_about;
    out->distinct_above = count_of(object, "distinct_above");
    out->distinct_bytes = count_of(object, "distinct_bytes");
    out->minimum = number_of(object, "min");
    out->maximum = number_of(object, "max");
    const json_t *form = json_object_get(object, "form");
    if (out->type == DN_DATETIME && json_is_string(form)) {
        if (!dn_datetime_form_parse(json_string_value(form), json_string_length(form),
                                    &out->form)) {
            return damaged(problem, "a column of dates without a form");
        }
        out->minimum = date_of(object, "min", &out->form);
        out->maximum = date_of(object, "max", &out->form);
    }
    /* descriptions of earlier releases lack the member */
    out->fractions = json_is_true(json_object_get(object, "fractions")) ||
                     has_fraction(out->minimum) || has_fraction(out->maximum);
    out->width = count_of(object, "width") > 0 ? (size_t)count_of(object, "width") : 0;
    out->first_index = count_of(object, "first") > 0 ? (uint32_t)count_of(object, "first") : 0;
    out->entries = count_of(object, "entries");
    out->words = count_of(object, "words");
    out->distinct_words = count_of(object, "distinct_words");
    out->longest = count_of(object, "longest");
    out->text_bytes = count_of(object, "text_bytes");
    out->name = strdup(name);
    return out->name != NULL || problem_no_memory(problem);
}

bool schema_parse(const char *columns_json, struct schema *out, struct problem *problem) {
    struct schema schema = {0};
    json_t *array = json_parse_stored(columns_json, "list of columns", problem);
    bool well = array != NULL && (json_is_array(array) || damaged(problem, "no array"));
    if (well) {
        const size_t n = json_array_size(array);
        schema.columns = calloc(n > 0 ? n : 1, sizeof *schema.columns);
        well = schema.columns != NULL || problem_no_memory(problem);
        for (size_t i = 0; well && i < n; i++) {
            well = column_parse(json_array_get(array, i), &schema.columns[i], problem);
            schema.n = i + 1;
        }
    }
    json_decref(array);
    if (!well) {
        schema_done(&schema);
        return false;
    }
    *out = schema;
    return true;
}

void schema_done(struct schema *s) {
    for (size_t i = 0; i < s->n; i++) {
        free(s->columns[i].name);
    }
    free(s->columns);
    *s = (struct schema){0};
}

ptrdiff_t schema_find(const struct schema *s, const char *name) {
    for (size_t i = 0; i < s->n; i++) {
        if (strcmp(s->columns[i].name, name) == 0) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

bool schema_place_parse(const char *column, const char *name, uint64_t *number) {
    const size_t prefix = strlen(column);
    uint64_t read = 0;
    if (strncmp(name, column, prefix) != 0 || name[prefix] < '0' || name[prefix] > '9' ||
        (name[prefix] == '0' && name[prefix + 1] != '\0')) {
        return false;
    }
    for (const char *p = name + prefix; *p != '\0'; p++) {
        if (*p < '0' || *p > '9' || read > UINT32_MAX) {
            return false;
        }
        read = read * 10 + (uint64_t)(*p - '0');
    }
    *number = read;
    return true;
}
