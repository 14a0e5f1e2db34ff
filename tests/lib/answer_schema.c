/* Implements the subset of JSON Schema 2020-12 that the OpenAPI document uses. */
#include "lib/answer_schema.h"

#include <math.h>
#include <pthread.h>
#include <regex.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOCUMENT "server/api/operations/openapi.json"

static json_t *doc; /* the OpenAPI document; read once, then never changed */

static void document_read(void) {
    json_error_t error;
    doc = json_load_file(DOCUMENT, JSON_REJECT_DUPLICATES, &error);
    if (doc == NULL) {
        (void)fprintf(stderr, "%s: %s\n", DOCUMENT, error.text);
        abort();
    }
}

#define FAULT_BYTES 500
#define TYPE_FAULT "is not of the type of the schema"

/* ---- a value against a schema ---- */

/* The state of the comparison of one answer. */
struct check {
    char place[400]; /* JSON pointer of the current value */
    char *fault;     /* [size] the first fault; "": no fault */
    size_t size;
};

static bool refuse(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(struct check *c, const char *format, ...) {
    if (c->fault[0] == '\0') {
        char text[2 * FAULT_BYTES];
        va_list ap;
        va_start(ap, format);
        (void)vsnprintf(text, sizeof text, format, ap);
        va_end(ap);
        (void)snprintf(c->fault, c->size, "\"%s\" %s", c->place, text);
    }
    return false;
}

static bool valid(struct check *c, const json_t *schema, const json_t *value);

/* Whether a member of a value is valid. Its key is part of c->place during the check. */
static bool valid_member(struct check *c, const json_t *schema, const char *key,
                         const json_t *member) {
    const size_t n = strlen(c->place);
    (void)snprintf(c->place + n, sizeof c->place - n, "/%s", key);
    const bool good = valid(c, schema, member);
    c->place[n] = '\0';
    return good;
}

const json_t *answer_schema_resolve(const json_t *document, const json_t *schema) {
    const char *reference = json_string_value(json_object_get(schema, "$ref"));
    if (reference == NULL) {
        return schema;
    }
    const json_t *at = document;
    for (const char *part = reference + 2; *part != '\0';) {
        const size_t n = strcspn(part, "/");
        at = json_object_getn(at, part, n);
        part += n + (part[n] == '/');
    }
    return answer_schema_resolve(document, at);
}

static bool has_type(const json_t *value, const char *type) {
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return strcmp(type, "object") == 0;
    case JSON_ARRAY:
        return strcmp(type, "array") == 0;
    case JSON_STRING:
        return strcmp(type, "string") == 0;
    case JSON_INTEGER:
        return strcmp(type, "integer") == 0 || strcmp(type, "number") == 0;
    case JSON_REAL:
        return strcmp(type, "number") == 0 ||
               (strcmp(type, "integer") == 0 &&
                floor(json_real_value(value)) == json_real_value(value));
    case JSON_TRUE:
    case JSON_FALSE:
        return strcmp(type, "boolean") == 0;
    case JSON_NULL:
        return strcmp(type, "null") == 0;
    }
    return false;
}

static bool check_type(struct check *c, const json_t *schema, const json_t *value) {
    const json_t *type = json_object_get(schema, "type"), *one;
    bool good = type == NULL || (json_is_string(type) && has_type(value, json_string_value(type)));
    size_t i;
    json_array_foreach(type, i, one) {
        good = good || has_type(value, json_string_value(one));
    }
    return good || refuse(c, TYPE_FAULT);
}

static bool check_constants(struct check *c, const json_t *schema, const json_t *value) {
    const json_t *constant = json_object_get(schema, "const");
    const json_t *list = json_object_get(schema, "enum"), *one;
    bool good = list == NULL;
    size_t i;
    json_array_foreach(list, i, one) {
        good = good || json_equal(value, one);
    }
    return (good && (constant == NULL || json_equal(value, constant))) ||
           refuse(c, "is not a value of the schema: \"%.80s\"",
                  json_is_string(value) ? json_string_value(value) : "not a string");
}

/* Whether the value satisfies this bound of the schema, or the schema does not have the bound. */
static bool within(const json_t *schema, const char *keyword, double value, bool upper,
                   bool strict) {
    const json_t *bound = json_object_get(schema, keyword);
    const double limit = json_number_value(bound);
    return bound == NULL || (upper ? value < limit : value > limit) || (!strict && value == limit);
}

static bool check_bounds(struct check *c, const json_t *schema, const json_t *value) {
    const double number = json_number_value(value), n_bytes = (double)json_string_length(value),
                 n_items = (double)json_array_size(value);
    const bool good =
        (!json_is_number(value) || (within(schema, "minimum", number, false, false) &&
                                    within(schema, "maximum", number, true, false) &&
                                    within(schema, "exclusiveMinimum", number, false, true) &&
                                    within(schema, "exclusiveMaximum", number, true, true))) &&
        (!json_is_string(value) || (within(schema, "minLength", n_bytes, false, false) &&
                                    within(schema, "maxLength", n_bytes, true, false))) &&
        (!json_is_array(value) || (within(schema, "minItems", n_items, false, false) &&
                                   within(schema, "maxItems", n_items, true, false)));
    return good || refuse(c, "is out of the bounds of the schema");
}

static bool check_pattern(struct check *c, const json_t *schema, const json_t *value) {
    const char *pattern = json_string_value(json_object_get(schema, "pattern"));
    regex_t regex;
    if (pattern == NULL || !json_is_string(value)) {
        return true;
    }
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0) {
        return refuse(c, "has a pattern that is no extended regular expression: %s", pattern);
    }
    const bool good = regexec(&regex, json_string_value(value), 0, NULL, 0) == 0;
    regfree(&regex);
    return good || refuse(c, "does not match %s: \"%.80s\"", pattern, json_string_value(value));
}

static bool check_items(struct check *c, const json_t *schema, const json_t *value) {
    const json_t *items = json_object_get(schema, "items");
    const json_t *prefix = json_object_get(schema, "prefixItems");
    const json_t *item;
    size_t i;
    json_array_foreach(value, i, item) {
        const json_t *own = i < json_array_size(prefix) ? json_array_get(prefix, i) : items;
        char key[24];
        (void)snprintf(key, sizeof key, "%zu", i);
        if (own != NULL && !valid_member(c, own, key, item)) {
            return false;
        }
    }
    return true;
}

/* Sets described[i] to true if the schema describes the i-th member of the value. */
static bool check_members(struct check *c, const json_t *schema, const json_t *value,
                          bool *described) {
    const json_t *properties = json_object_get(schema, "properties"), *name;
    const json_t *others = json_object_get(schema, "additionalProperties");
    size_t i, n = 0;
    json_array_foreach(json_object_get(schema, "required"), i, name) {
        if (json_is_object(value) && json_object_get(value, json_string_value(name)) == NULL) {
            return refuse(c, "lacks \"%s\"", json_string_value(name));
        }
    }
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)value, key, member) {
        const json_t *own = json_object_get(properties, key);
        own = own != NULL ? own : others;
        described[n] = described[n] || (own != NULL && !json_is_false(own));
        if (json_is_object(own) && !valid_member(c, own, key, member)) {
            return false;
        }
        n++;
    }
    return true;
}

static bool apply(struct check *c, const json_t *schema, const json_t *value, bool *described);

/* Returns how many schemas of a list the value conforms to, and sets `described` of the members
 * that these schemas describe. fault[FAULT_BYTES]: why the value does not conform to the last of
 * the other schemas. */
static size_t count_matches(const struct check *c, const json_t *list, const json_t *value,
                            bool *described, char *fault) {
    const size_t n_members = json_object_size(value);
    size_t n = 0, i;
    const json_t *one;
    json_array_foreach(list, i, one) {
        char why[FAULT_BYTES] = "";
        struct check branch = *c;
        branch.fault = why;
        branch.size = sizeof why;
        bool *own = calloc(n_members + 1, sizeof *own);
        if (own != NULL && apply(&branch, one, value, own)) {
            n++;
            for (size_t k = 0; k < n_members; k++) {
                described[k] = described[k] || own[k];
            }
        } else if (strstr(why, TYPE_FAULT) == NULL) {
            memcpy(fault, why, sizeof why);
        }
        free(own);
    }
    return n;
}

static bool check_alternatives(struct check *c, const json_t *schema, const json_t *value,
                               bool *described) {
    const json_t *all = json_object_get(schema, "allOf"), *one;
    const json_t *any = json_object_get(schema, "anyOf"),
                 *single = json_object_get(schema, "oneOf");
    char fault[FAULT_BYTES] = "no schema has its type";
    size_t i, n;
    json_array_foreach(all, i, one) {
        if (!apply(c, one, value, described)) {
            return false;
        }
    }
    if (any != NULL && count_matches(c, any, value, described, fault) == 0) {
        return refuse(c, "matches no schema of anyOf: %s", fault);
    }
    if (single != NULL && (n = count_matches(c, single, value, described, fault)) != 1) {
        return refuse(c, "matches %zu schemas of oneOf: %s", n, fault);
    }
    return true;
}

/* Whether a schema has neither a type nor subschemas, and so permits any value. */
static bool permits_all(const json_t *schema) {
    static const char *const keywords[] = {"type",  "properties", "additionalProperties",
                                           "allOf", "anyOf",      "oneOf"};
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        if (json_object_get(schema, keywords[i]) != NULL) {
            return false;
        }
    }
    return true;
}

static bool apply(struct check *c, const json_t *schema, const json_t *value, bool *described) {
    schema = answer_schema_resolve(doc, schema);
    for (size_t i = 0; permits_all(schema) && i < json_object_size(value); i++) {
        described[i] = true;
    }
    return check_type(c, schema, value) && check_constants(c, schema, value) &&
           check_bounds(c, schema, value) && check_pattern(c, schema, value) &&
           check_items(c, schema, value) && check_members(c, schema, value, described) &&
           check_alternatives(c, schema, value, described);
}

static bool valid(struct check *c, const json_t *schema, const json_t *value) {
    bool *described = calloc(json_object_size(value) + 1, sizeof *described);
    if (described == NULL) {
        return refuse(c, "cannot be checked: out of memory");
    }
    bool good = apply(c, schema, value, described);
    const char *key;
    json_t *member;
    size_t i = 0;
    json_object_foreach((json_t *)(uintptr_t)value, key, member) {
        good =
            good && (described[i++] || refuse(c, "has a member \"%s\" that is not described", key));
    }
    free(described);
    return good;
}

/* ---- an answer against the document ---- */

/* Returns the number of literal segments of the template if the path matches it, else -1. */
static int match_path(const char *template, const char *path) {
    int n_literal = 0;
    while (*template == '/' && *path == '/') {
        const size_t n_template = strcspn(++template, "/"), n_path = strcspn(++path, "/?");
        const bool literal = *template != '{';
        if (n_path == 0 ||
            (literal && (n_template != n_path || memcmp(template, path, n_path) != 0))) {
            return -1;
        }
        n_literal += literal;
        template += n_template;
        path += n_path;
    }
    return *template == '\0' && (*path == '\0' || *path == '?') ? n_literal : -1;
}

/* The operation of the document for a request; NULL: the document has none. */
static const json_t *find_operation(const char *method, const char *target) {
    const json_t *best = NULL;
    const char *template;
    json_t *item;
    int most = -1;
    json_object_foreach(json_object_get(doc, "paths"), template, item) {
        const int n = match_path(template, target);
        if (n > most) {
            most = n;
            best = item;
        }
    }
    char key[16] = "";
    for (size_t i = 0; method[i] != '\0' && i + 1 < sizeof key; i++) {
        key[i] = (char)(method[i] | 0x20);
    }
    return json_object_get(best, strcmp(key, "head") == 0 ? "get" : key);
}

/* Checks only the first 100 lines of an NDJSON body, since the same code writes all lines. */
static bool valid_lines(struct check *c, const json_t *schema, const char *body, size_t size) {
    bool good = true;
    for (size_t i = 0; i < 100 && size > 0 && good; i++) {
        const char *end = memchr(body, '\n', size);
        const size_t n = end != NULL ? (size_t)(end - body) + 1 : size;
        json_t *line = json_loadb(body, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
        (void)snprintf(c->place, sizeof c->place, "line %zu: ", i + 1);
        good = line != NULL ? valid(c, schema, line) : refuse(c, "is no JSON");
        json_decref(line);
        body += n;
        size -= n;
    }
    return good;
}

bool answer_conforms(const struct answer_seen *answer, char *fault, size_t size) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, document_read);
    struct check c = {.fault = fault, .size = size};
    char status[24], type[80] = "";
    fault[0] = '\0';
    (void)snprintf(status, sizeof status, "%ld", answer->status);
    const json_t *operation = find_operation(answer->method, answer->target);
    const json_t *responses = json_object_get(operation, "responses");
    const json_t *response = json_object_get(responses, status);
    if (operation == NULL) { /* an unknown path or method, or a path below a base path */
        response = json_object_get(json_object_get(json_object_get(doc, "components"), "responses"),
                                   "Problem");
        if (answer->status < 400) {
            return true;
        }
    } else if (response == NULL && answer->status < 400) {
        return refuse(&c, "has status %s, which is not described", status);
    } else if (response == NULL) {
        response = json_object_get(responses, "default");
    }
    const json_t *content = json_object_get(answer_schema_resolve(doc, response), "content");
    if (answer->type == NULL) {
        return true;
    }
    (void)snprintf(type, sizeof type, "%.*s", (int)strcspn(answer->type, "; "), answer->type);
    const json_t *media = json_object_get(content, type);
    if (media == NULL) {
        return refuse(&c, "has status %s and media type %s, which are not described", status, type);
    }
    const json_t *schema = json_object_get(media, "schema");
    if (strcmp(type, "application/x-ndjson") == 0) {
        return valid_lines(&c, schema, answer->body, answer->size);
    }
    return answer->json == NULL || valid(&c, schema, answer->json);
}

static void fail_program(void) {
    (void)fflush(NULL);
    _exit(1);
}

static void fail_at_end(void) {
    (void)atexit(fail_program);
}

void answer_check(const struct answer_seen *answer) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char fault[2000];
    if (answer_conforms(answer, fault, sizeof fault)) {
        return;
    }
    char *text = answer->json != NULL ? json_dumps(answer->json, JSON_COMPACT) : NULL;
    (void)fprintf(stderr,
                  "# %s %s is answered %ld in contradiction to openapi.json: %s\n# %.600s\n",
                  answer->method, answer->target, answer->status, fault, text != NULL ? text : "");
    free(text);
    pthread_once(&once, fail_at_end);
}
