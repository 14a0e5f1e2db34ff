/* Reads members by type, and collects all faults. */
#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "base/nearest.h"
#include "base/utf8.h"

#include <discern/number.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { QUOTED_MAX = 60 };

void json_describe(struct buf *out, const json_t *value) {
    char number[32];
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        buf_puts(out, "object");
        break;
    case JSON_ARRAY:
        buf_puts(out, "array");
        break;
    case JSON_STRING: {
        const char *s = json_string_value(value);
        const size_t n = json_string_length(value), cut = utf8_cut(s, n, QUOTED_MAX);
        buf_puts(out, "string ");
        json_escape(out, s, cut);
        buf_puts(out, cut < n ? " (cut)" : "");
        break;
    }
    case JSON_INTEGER:
    case JSON_REAL:
        (void)dn_number_format(json_number_value(value), number);
        buf_printf(out, "number %s", number);
        break;
    case JSON_TRUE:
        buf_puts(out, "boolean true");
        break;
    case JSON_FALSE:
        buf_puts(out, "boolean false");
        break;
    default:
        buf_puts(out, "null");
    }
}

void json_pointer_index(struct buf *out, const char *parent, size_t index) {
    buf_printf(out, "%s/%zu", parent, index);
}

bool json_fault(struct problem *problem, const char *parent, const char *key, const char *format,
                ...) {
    struct buf pointer = {0}, text = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    if (key != NULL) {
        json_pointer(&pointer, parent, key);
    } else {
        buf_puts(&pointer, parent);
    }
    const char *p = buf_cstr(&pointer), *t = buf_cstr(&text);
    if (p == NULL || t == NULL) {
        problem_no_memory(problem);
    } else {
        problem_add(problem, PROBLEM_INVALID, p, "%s", t);
    }
    buf_done(&pointer);
    buf_done(&text);
    return false;
}

bool json_refuse_value(struct problem *problem, const char *parent, const char *key,
                       const char *rule, const json_t *value) {
    struct buf got = {0};
    json_describe(&got, value);
    const char *text = buf_cstr(&got);
    json_fault(problem, parent, key, "must be %s, got %s", rule,
               text != NULL ? text : "another value");
    buf_done(&got);
    return false;
}

bool json_read_root(const json_t *value, const char *pointer, struct problem *problem) {
    return json_is_object(value) || json_refuse_value(problem, pointer, NULL, "an object", value);
}

const json_t *json_read_any(const json_t *object, const char *key, bool required,
                            const char *parent, struct problem *problem) {
    const json_t *value = json_object_get(object, key);
    if (value == NULL && required) {
        json_fault(problem, parent, key, "is missing");
    }
    return !required && json_is_null(value) ? NULL : value;
}

/* Returns the member if it has one of the JSON types in `types`, a sum of bits 1 << json_type.
 * NULL: the member is absent, or a fault was added. wanted: the types in words. */
static const json_t *read_typed(const json_t *object, const char *key, bool required,
                                const char *parent, unsigned types, const char *wanted,
                                struct problem *problem) {
    const json_t *value = json_read_any(object, key, required, parent, problem);
    if (value != NULL && (types >> json_typeof(value) & 1U) == 0) {
        json_refuse_value(problem, parent, key, wanted, value);
        return NULL;
    }
    return value;
}

bool json_read_string(const json_t *object, const char *key, bool required, const char *parent,
                      const char **out, struct problem *problem) {
    const json_t *value =
        read_typed(object, key, required, parent, 1U << JSON_STRING, "a string", problem);
    if (value != NULL) {
        *out = json_string_value(value);
    }
    return value != NULL;
}

bool json_read_number(const json_t *object, const char *key, bool required, const char *parent,
                      double *out, struct problem *problem) {
    const json_t *value = read_typed(object, key, required, parent,
                                     1U << JSON_INTEGER | 1U << JSON_REAL, "a number", problem);
    if (value != NULL) {
        *out = json_number_value(value);
    }
    return value != NULL;
}

bool json_read_int(const json_t *object, const char *key, bool required, const char *parent,
                   int64_t minimum, int64_t maximum, int64_t *out, struct problem *problem) {
    const json_t *value = json_read_any(object, key, required, parent, problem);
    if (value == NULL) {
        return false;
    }
    minimum = minimum < -JSON_READ_EXACT ? -JSON_READ_EXACT : minimum;
    maximum = maximum > JSON_READ_EXACT ? JSON_READ_EXACT : maximum;
    const double v = json_is_number(value) ? json_number_value(value) : 0.5;
    if (v != floor(v) || v < (double)minimum || v > (double)maximum) {
        char rule[96];
        (void)snprintf(rule, sizeof rule, "an integer from %" PRId64 " to %" PRId64, minimum,
                       maximum);
        return json_refuse_value(problem, parent, key, rule, value);
    }
    *out = (int64_t)v;
    return true;
}

bool json_read_bool(const json_t *object, const char *key, bool required, const char *parent,
                    bool *out, struct problem *problem) {
    const json_t *value = read_typed(object, key, required, parent,
                                     1U << JSON_TRUE | 1U << JSON_FALSE, "a boolean", problem);
    if (value != NULL) {
        *out = json_is_true(value);
    }
    return value != NULL;
}

bool json_read_object(const json_t *object, const char *key, bool required, const char *parent,
                      const json_t **out, struct problem *problem) {
    const json_t *value =
        read_typed(object, key, required, parent, 1U << JSON_OBJECT, "an object", problem);
    if (value != NULL) {
        *out = value;
    }
    return value != NULL;
}

bool json_read_array(const json_t *object, const char *key, bool required, const char *parent,
                     const json_t **out, struct problem *problem) {
    const json_t *value =
        read_typed(object, key, required, parent, 1U << JSON_ARRAY, "an array", problem);
    if (value != NULL) {
        *out = value;
    }
    return value != NULL;
}

/* Returns an array of at most `most` items and their number in *n. NULL: the member is absent, or a
 * fault was added. */
static const json_t *read_list(const json_t *object, const char *key, bool required,
                               const char *parent, size_t most, size_t *n,
                               struct problem *problem) {
    const json_t *array = NULL;
    json_read_array(object, key, required, parent, &array, problem);
    *n = json_array_size(array);
    if (*n > most) {
        json_fault(problem, parent, key, "must have at most %zu items, got %zu", most, *n);
        return NULL;
    }
    return array;
}

/* Reports a fault of item `index` of the array that is member `key`. Returns false. */
static bool refuse_item(struct problem *problem, const char *parent, const char *key, size_t index,
                        const char *rule, const json_t *item) {
    struct buf array = {0};
    char number[24];
    json_pointer(&array, parent, key);
    (void)snprintf(number, sizeof number, "%zu", index);
    const char *pointer = buf_cstr(&array);
    if (pointer != NULL) {
        json_refuse_value(problem, pointer, number, rule, item);
    } else {
        problem_no_memory(problem);
    }
    buf_done(&array);
    return false;
}

bool json_read_strings(const json_t *object, const char *key, bool required, const char *parent,
                       size_t maximum, struct arena *arena, const char ***out, size_t *out_n,
                       struct problem *problem) {
    size_t n = 0;
    const json_t *array = read_list(object, key, required, parent, maximum, &n, problem);
    if (array == NULL) {
        return false;
    }
    const char **strings = arena_alloc(arena, n * sizeof *strings);
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(array, i);
        if (!json_is_string(item)) {
            good = refuse_item(problem, parent, key, i, "a string", item);
        } else if (strings != NULL) {
            strings[i] = arena_strdup(arena, json_string_value(item));
            if (strings[i] == NULL) {
                strings = NULL;
            }
        }
    }
    if (good && strings == NULL) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "out of memory while reading %s", key);
    }
    if (good) {
        *out = strings;
        *out_n = n;
    }
    return good;
}

bool json_read_numbers(const json_t *object, const char *key, bool required, const char *parent,
                       size_t most, struct arena *arena, double **out, size_t *out_n,
                       struct problem *problem) {
    size_t n = 0;
    const json_t *array = read_list(object, key, required, parent, most, &n, problem);
    if (array == NULL) {
        return false;
    }
    double *numbers = arena_alloc(arena, (n + 1) * sizeof *numbers);
    if (numbers == NULL) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "out of memory while reading %s", key);
    }
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(array, i);
        numbers[i] = json_is_number(item) ? json_number_value(item) : (double)INFINITY;
        if (!isfinite(numbers[i])) {
            good = refuse_item(problem, parent, key, i, "a finite number", item);
        }
    }
    if (good) {
        *out = numbers;
        *out_n = n;
    }
    return good;
}

bool json_read_ints(const json_t *object, const char *key, bool required, const char *parent,
                    int64_t minimum, int64_t maximum, size_t most, struct arena *arena,
                    int64_t **out, size_t *out_n, struct problem *problem) {
    size_t n = 0;
    const json_t *array = read_list(object, key, required, parent, most, &n, problem);
    if (array == NULL) {
        return false;
    }
    int64_t *numbers = arena_alloc(arena, (n + 1) * sizeof *numbers);
    if (numbers == NULL) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "out of memory while reading %s", key);
    }
    minimum = minimum < -JSON_READ_EXACT ? -JSON_READ_EXACT : minimum;
    maximum = maximum > JSON_READ_EXACT ? JSON_READ_EXACT : maximum;
    bool good = true;
    char rule[80];
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(array, i);
        const double value = json_is_number(item) ? json_number_value(item) : (double)minimum - 1;
        if (!json_is_number(item) || value != floor(value) || value < (double)minimum ||
            value > (double)maximum) {
            (void)snprintf(rule, sizeof rule, "an integer from %" PRId64 " to %" PRId64, minimum,
                           maximum);
            good = refuse_item(problem, parent, key, i, rule, item);
        } else {
            numbers[i] = (int64_t)value;
        }
    }
    if (good) {
        *out = numbers;
        *out_n = n;
    }
    return good;
}

/* Reads one row of `width` numbers: item `index` of the array at `pointer`. */
static bool read_row(const json_t *row, const char *pointer, const char *index, size_t width,
                     double *out, struct problem *problem) {
    struct buf place = {0};
    bool good = true;
    if (!json_is_array(row)) {
        return json_refuse_value(problem, pointer, index, "an array of numbers", row);
    }
    if (json_array_size(row) != width) {
        return json_fault(problem, pointer, index, "must have %zu numbers, got %zu", width,
                          json_array_size(row));
    }
    json_pointer(&place, pointer, index);
    const char *parent = buf_cstr(&place);
    for (size_t j = 0; j < width; j++) {
        char number[24];
        const json_t *item = json_array_get(row, j);
        out[j] = json_is_number(item) ? json_number_value(item) : (double)INFINITY;
        (void)snprintf(number, sizeof number, "%zu", j);
        if (!isfinite(out[j])) {
            good = json_refuse_value(problem, parent != NULL ? parent : pointer, number,
                                     "a finite number", item);
        }
    }
    buf_done(&place);
    return good;
}

bool json_read_rows(const json_t *object, const char *key, bool required, const char *parent,
                    size_t width, size_t most, struct arena *arena, double **out, size_t *out_n,
                    struct problem *problem) {
    size_t n = 0;
    const json_t *array = read_list(object, key, required, parent, most, &n, problem);
    if (array == NULL) {
        return false;
    }
    if (width == 0 && n > 0) {
        width = json_array_size(json_array_get(array, 0));
        width = width > 0 ? width : 1;
    }
    /* all rows have the right length, so the array to allocate has as many numbers as the body */
    bool whole = true;
    for (size_t i = 0; i < n; i++) {
        whole = whole && json_array_size(json_array_get(array, i)) == width;
    }
    double *numbers = arena_alloc(arena, ((whole ? n * width : width) + 1) * sizeof *numbers);
    struct buf pointer = {0};
    json_pointer(&pointer, parent, key);
    const char *place = buf_cstr(&pointer);
    bool good = numbers != NULL && place != NULL;
    if (!good) {
        problem_set(problem, PROBLEM_UNAVAILABLE, "out of memory while reading %s", key);
    }
    for (size_t i = 0; numbers != NULL && place != NULL && i < n; i++) {
        char index[24];
        (void)snprintf(index, sizeof index, "%zu", i);
        good = read_row(json_array_get(array, i), place, index, width,
                        numbers + (whole ? i * width : 0), problem) &&
               good;
    }
    buf_done(&pointer);
    if (good) {
        *out = numbers;
        *out_n = n;
    }
    return good;
}

/* Appends the names as "a, b, c". */
static void list_names(struct buf *out, const char *const *names) {
    for (size_t i = 0; names[i] != NULL; i++) {
        buf_printf(out, "%s%s", i > 0 ? ", " : "", names[i]);
    }
}

bool json_read_choice(const json_t *object, const char *key, bool required, const char *parent,
                      const char *const *choices, size_t *out, struct problem *problem) {
    const json_t *value = json_read_any(object, key, required, parent, problem);
    if (value == NULL) {
        return false;
    }
    for (size_t i = 0; json_is_string(value) && choices[i] != NULL; i++) {
        if (strcmp(choices[i], json_string_value(value)) == 0) {
            *out = i;
            return true;
        }
    }
    struct buf rule = {0}, got = {0};
    list_names(&rule, choices);
    json_describe(&got, value);
    const char *names = buf_cstr(&rule), *what = buf_cstr(&got);
    const size_t n = json_is_string(value) ? json_string_length(value) : 0;
    struct nearest nearest = nearest_to(n > 0 ? json_string_value(value) : "", n);
    for (size_t i = 0; n > 0 && choices[i] != NULL; i++) {
        nearest_offer(&nearest, choices[i], strlen(choices[i]));
    }
    json_fault(problem, parent, key, "must be one of %s, got %s%s",
               names != NULL ? names : "the known values", what != NULL ? what : "something else",
               nearest.hint);
    buf_done(&rule);
    buf_done(&got);
    return false;
}

bool json_refuse_unknown(const json_t *object, const char *const *allowed, const char *parent,
                         struct problem *problem) {
    bool good = true;
    struct buf known = {0};
    list_names(&known, allowed);
    const char *list = buf_cstr(&known);
    for (void *at = json_object_iter((json_t *)(uintptr_t)object); at != NULL;
         at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
        const char *key = json_object_iter_key(at);
        size_t i = 0;
        while (allowed[i] != NULL && strcmp(allowed[i], key) != 0) {
            i++;
        }
        if (allowed[i] == NULL) {
            struct nearest nearest = nearest_to(key, strlen(key));
            for (i = 0; allowed[i] != NULL; i++) {
                nearest_offer(&nearest, allowed[i], strlen(allowed[i]));
            }
            json_fault(problem, parent, key, "is not a known member; known members: %s%s",
                       list == NULL || list[0] == '\0' ? "none" : list, nearest.hint);
            good = false;
        }
    }
    buf_done(&known);
    return good;
}
