/* Looking at answers, and jobs. What is not as expected is shown with the answer it came in. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { JOB_SECONDS = 600 };

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
    while (value != NULL && *pointer == '/') {
        char key[256];
        size_t n = 0;
        for (pointer++; *pointer != '\0' && *pointer != '/' && n < sizeof key - 1; pointer++) {
            bool escaped = *pointer == '~' && (pointer[1] == '0' || pointer[1] == '1');
            key[n++] = escaped ? (pointer[1] == '0' ? '~' : '/') : *pointer;
            pointer += escaped;
        }
        key[n] = '\0';
        value = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10))
                                     : json_object_get(value, key);
    }
    return value;
}

static void complain(const struct response *r, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void complain(const struct response *r, const char *file, int line, const char *format,
                     ...) {
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
        complain(r, file, line, "status %d, expected %d", r->status, status);
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
        complain(r, file, line, "no problem document");
    }
    const char *uri = json_string_value(json_object_get(r->json, "type"));
    if (uri == NULL || strncmp(uri, "/problems/", 10) != 0 ||
        (type != NULL && strcmp(uri + 10, type) != 0)) {
        complain(r, file, line, "type is not /problems/%s", type != NULL ? type : "…");
    }
    if (!is_text(r->json, "title") || !is_text(r->json, "detail")) {
        complain(r, file, line, "title or detail is missing");
    }
    if (json_integer_value(json_object_get(r->json, "status")) != status) {
        complain(r, file, line, "member status is not %d", status);
    }
    if (!is_text(r->json, "request_id") ||
        (id != NULL &&
         strcmp(id, json_string_value(json_object_get(r->json, "request_id"))) != 0)) {
        complain(r, file, line, "request_id is missing or not that of the header");
    }
    return r;
}

const struct response *fault_check_at(const struct response *r, const char *place, const char *file,
                                      int line) {
    const json_t *errors = json_object_get(r->json, "errors");
    for (size_t i = 0; i < json_array_size(errors); i++) {
        const json_t *e = json_array_get(errors, i);
        const char *pointer = json_string_value(json_object_get(e, "pointer"));
        const json_t *number = json_object_get(e, "line");
        if (!is_text(e, "detail")) {
            complain(r, file, line, "error %zu has no detail", i);
        }
        if (pointer != NULL && strcmp(pointer, place) == 0) {
            return r;
        }
        if (json_is_integer(number) &&
            strcmp(text("line %d", (int)json_integer_value(number)), place) == 0) {
            return r;
        }
    }
    complain(r, file, line, "no error at %s", place);
    return r;
}

json_t *value_at_at(const struct response *r, const char *pointer, const char *file, int line) {
    json_t *value = json_find(r->json, pointer);
    if (value == NULL) {
        complain(r, file, line, "nothing at %s", pointer);
    }
    return value;
}

const char *string_at_at(const struct response *r, const char *pointer, const char *file,
                         int line) {
    const json_t *value = value_at_at(r, pointer, file, line);
    if (!json_is_string(value)) {
        complain(r, file, line, "no string at %s", pointer);
    }
    return json_string_value(value);
}

double real_at_at(const struct response *r, const char *pointer, const char *file, int line) {
    const json_t *value = value_at_at(r, pointer, file, line);
    if (!json_is_number(value)) {
        complain(r, file, line, "no number at %s", pointer);
    }
    return json_number_value(value);
}

void close_check(double a, double b, double relative, const char *file, int line) {
    if (!(fabs(a - b) <= relative * fabs(b))) {
        print_error("%.17g, expected %.17g to relative %g (it is %g)\n", a, b, relative,
                    fabs(a - b) / fabs(b));
        _fail(file, line);
    }
}

/* Numbers are equal whether written 1 or 1.0. */
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

double metric_value(const char *series) {
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
    for (double end = now() + 30; (value = metric_value(series)) != 0 && now() < end;) {
        pause_ms(20);
    }
    if (value != 0) {
        fail_msg("%s is %.0f, and does not become 0", series, value);
    }
}

/* ---- jobs ---- */

static int64_t post_job(const char *spec) {
    const struct response *r = status_check(call_post("/v1/jobs", "%s", spec), 202);
    return whole_at(r, "/id");
}

int64_t job_post(const char *spec, ...) {
    va_list args;
    va_start(args, spec);
    const char *formatted = vtext(spec, args);
    va_end(args);
    return post_job(formatted);
}

static bool ended(const char *state) {
    return strcmp(state, "queued") != 0 && strcmp(state, "running") != 0;
}

const struct response *job_wait(int64_t id) {
    const struct response *r = NULL;
    for (double end = now() + JOB_SECONDS; now() < end;) {
        r = status_check(call_get("/v1/jobs/%lld?wait=30", (long long)id), 200);
        if (ended(string_at(r, "/state"))) {
            return r;
        }
    }
    fail_msg("job %lld does not end", (long long)id);
    return r;
}

const struct response *job_wait_state(int64_t id, const char *state) {
    const struct response *r = NULL;
    for (double end = now() + JOB_SECONDS; now() < end; pause_ms(10)) {
        r = status_check(call_get("/v1/jobs/%lld", (long long)id), 200);
        if (strcmp(string_at(r, "/state"), state) == 0) {
            return r;
        }
        if (ended(string_at(r, "/state"))) {
            break;
        }
    }
    complain(r, __FILE__, __LINE__, "job %lld does not become %s", (long long)id, state);
    return r;
}

const struct response *job_train(const char *spec, ...) {
    va_list args;
    va_start(args, spec);
    const char *formatted = vtext(spec, args);
    va_end(args);
    const struct response *r = job_wait(post_job(formatted));
    if (strcmp(string_at(r, "/state"), "succeeded") != 0) {
        complain(r, __FILE__, __LINE__, "the job did not succeed");
    }
    return r;
}

int64_t job_endless(const char *model) {
    return job_post("{'model':'%s','dataset':'digits','target':'class','algorithm':'logistic',"
                    "'params':{'solver':'gradient_descent','max_iterations':100000000,'learning_"
                    "rate':1e-12,'tolerance':1e-300}}",
                    model);
}
