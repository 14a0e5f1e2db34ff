#include "lib/answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *header_of(const struct response *r, const char *name) {
    const size_t n = strlen(name);
    for (const char *line = strchr(r->head, '\n'); line != NULL; line = strchr(line + 1, '\n')) {
        if (strncasecmp(line + 1, name, n) != 0 || line[n + 1] != ':') {
            continue;
        }
        const char *value = line + n + 2;
        value += strspn(value, " \t");
        return text("%.*s", (int)strcspn(value, "\r\n"), value);
    }
    return NULL;
}

json_t *json_find(const json_t *root, const char *pointer) {
    json_t *value = (json_t *)(uintptr_t)root;
    assert_true(*pointer == '\0' || *pointer == '/');
    while (value != NULL && *pointer == '/') {
        char key[256];
        size_t n = 0;
        for (pointer++; *pointer != '\0' && *pointer != '/' && n < sizeof key - 1; pointer++) {
            bool escaped = *pointer == '~' && (pointer[1] == '0' || pointer[1] == '1');
            key[n++] = escaped ? (pointer[1] == '0' ? '~' : '/') : *pointer;
            pointer += escaped;
        }
        key[n] = '\0';
        long i = strtol(key, NULL, 10);
        i += i < 0 ? (long)json_array_size(value) : 0;
        value =
            json_is_array(value) ? json_array_get(value, (size_t)i) : json_object_get(value, key);
    }
    return value;
}

void answer_fail(const struct response *r, const char *file, int line, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vprint_error(format, args);
    va_end(args);
    print_error("\nthe answer was:\n%s\n%.3000s\n", r->status != 0 ? r->head : "(none)", r->body);
    _fail(file, line);
}

const struct response *status_check_at(const struct response *r, int status, const char *file,
                                       int line) {
    if (r->status != status) {
        answer_fail(r, file, line, "status %d, expected %d", r->status, status);
    }
    return r;
}

static bool is_text(const json_t *object, const char *key) {
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL && value[0] != '\0';
}

const struct response *problem_check_at(const struct response *r, int status, const char *type,
                                        const char *file, int line) {
    status_check_at(r, status, file, line);
    const char *media = header_of(r, "Content-Type"), *id = header_of(r, "X-Request-Id");
    if (media == NULL || strcasecmp(media, "application/problem+json") != 0 ||
        !json_is_object(r->json)) {
        answer_fail(r, file, line, "no problem document");
    }
    const char *uri = json_string_value(json_object_get(r->json, "type"));
    if (uri == NULL || strncmp(uri, "/problems/", 10) != 0 ||
        (type != NULL && strcmp(uri + 10, type) != 0)) {
        answer_fail(r, file, line, "type is not /problems/%s", type != NULL ? type : "…");
    }
    if (!is_text(r->json, "title") || !is_text(r->json, "detail")) {
        answer_fail(r, file, line, "title or detail is missing");
    }
    if (json_integer_value(json_object_get(r->json, "status")) != status) {
        answer_fail(r, file, line, "member status is not %d", status);
    }
    if (!is_text(r->json, "request_id") ||
        (id != NULL &&
         strcmp(id, json_string_value(json_object_get(r->json, "request_id"))) != 0)) {
        answer_fail(r, file, line, "request_id is missing or not that of the header");
    }
    return r;
}

const struct response *fault_check_at(const struct response *r, const char *place,
                                      const char *words, const char *file, int line) {
    const json_t *errors = json_object_get(r->json, "errors");
    for (size_t i = 0; i < json_array_size(errors); i++) {
        const json_t *e = json_array_get(errors, i), *number = json_object_get(e, "line");
        const char *own = json_string_value(json_object_get(e, "pointer"));
        if (!is_text(e, "detail")) {
            answer_fail(r, file, line, "error %zu has no detail", i);
        }
        if (json_is_integer(number)) {
            own = text("line %d", (int)json_integer_value(number));
        }
        if (own != NULL && strcmp(own, place) == 0 &&
            strstr(json_string_value(json_object_get(e, "detail")), words) != NULL) {
            return r;
        }
    }
    answer_fail(r, file, line, "no error at %s with \"%s\"", place, words);
    return r;
}

json_t *value_at_at(const struct response *r, const char *pointer, const char *file, int line) {
    json_t *value = json_find(r->json, pointer);
    if (value == NULL) {
        answer_fail(r, file, line, "nothing at %s", pointer);
    }
    return value;
}

const char *string_at_at(const struct response *r, const char *pointer, const char *file,
                         int line) {
    const json_t *value = value_at_at(r, pointer, file, line);
    if (!json_is_string(value)) {
        answer_fail(r, file, line, "no string at %s", pointer);
    }
    return json_string_value(value);
}

double real_at_at(const struct response *r, const char *pointer, const char *file, int line) {
    const json_t *value = value_at_at(r, pointer, file, line);
    if (!json_is_number(value)) {
        answer_fail(r, file, line, "no number at %s", pointer);
    }
    return json_number_value(value);
}

double real_in_at(const json_t *value, const char *pointer, const char *file, int line) {
    return real_at_at(&(struct response){.head = "",
                                         .body = "",
                                         .json = (json_t *)(uintptr_t)value},
                      pointer, file, line);
}

const char *string_in_at(const json_t *value, const char *pointer, const char *file, int line) {
    return string_at_at(&(struct response){.head = "",
                                           .body = "",
                                           .json = (json_t *)(uintptr_t)value},
                        pointer, file, line);
}

void near_check(double a, double b, double tolerance, const char *file, int line) {
    if (!(fabs(a - b) <= tolerance)) {
        print_error("%.17g, expected %.17g within %g\n", a, b, tolerance);
        _fail(file, line);
    }
}

void close_check(double a, double b, double relative, const char *file, int line) {
    if (!(fabs(a - b) <= relative * fabs(b))) {
        print_error("%.17g, expected %.17g to relative %g (it is %g)\n", a, b, relative,
                    fabs(a - b) / fabs(b));
        _fail(file, line);
    }
}

/* Compares two values; the numbers 1 and 1.0 are equal. */
static bool same(const json_t *a, const json_t *b) {
    if (json_is_number(a) && json_is_number(b)) {
        return json_number_value(a) == json_number_value(b);
    }
    if (!json_is_array(a) || !json_is_array(b)) {
        return json_equal(a, b);
    }
    bool equal = json_array_size(a) == json_array_size(b);
    for (size_t i = 0; equal && i < json_array_size(a); i++) {
        equal = same(json_array_get(a, i), json_array_get(b, i));
    }
    return equal;
}

static void release_json(void *json) {
    json_decref(json);
}

void json_check(const json_t *value, const char *expected, const char *file, int line) {
    json_t *wanted = keep(json_loads(expected, JSON_DECODE_ANY, NULL), release_json);
    if (!same(value, wanted)) {
        print_error("%s, expected %s\n",
                    (char *)keep(json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT), free),
                    expected);
        _fail(file, line);
    }
}

double metric_at(const char *series) {
    const struct response *r = status_check(call_get("/metrics"), 200);
    size_t n = strlen(series);
    for (const char *line = r->body; line != NULL;
         line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, series, n) == 0 && line[n] == ' ') {
            return strtod(line + n + 1, NULL);
        }
    }
    return (double)NAN;
}

void metric_falls_to_zero(const char *series) {
    double value;
    for (double end = now() + 30; (value = metric_at(series)) != 0 && now() < end;) {
        pause_ms(20);
    }
    if (value != 0) {
        fail_msg("%s is %.0f, and does not become 0", series, value);
    }
}
