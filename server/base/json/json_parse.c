/* Parses JSON texts into trees of Jansson. Jansson's own parser is not used: it writes beyond its
 * buffer if memory is short, because its lexer ignores that a buffer could not grow. Its functions
 * that make and change values are safe then. */
#include "base/json/json.h"
#include "base/json/json_lexical.h"
#include "base/utf8.h"
#include <discern/number.h>

#include <stdint.h>
#include <string.h>

enum { PARSE_MAX_DEPTH = 64 };

/* The state of parsing. failed: `problem` is set, and `at` has no meaning. */
struct parser {
    const char *text, *at, *end;
    unsigned depth;    /* of open arrays and objects */
    struct buf string; /* the string that was read last, decoded, with a NUL after it */
    bool failed;
    struct problem *problem;
};

/* Sets the problem with the line and the column of the byte at `at`. Lines end with LF; columns
 * count characters. Returns NULL. */
static json_t *refuse(struct parser *p, const char *at, const char *rule) {
    int64_t line = 1, column = 1;
    for (const char *c = p->text; c < at; c++) {
        if (*c == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)*c & 0xC0) != 0x80) {
            column++;
        }
    }
    problem_add_line(p->problem, PROBLEM_BAD_JSON, line, column, "%s", rule);
    p->failed = true;
    return NULL;
}

static json_t *no_memory(struct parser *p) {
    if (!p->failed) {
        problem_no_memory(p->problem);
        p->failed = true;
    }
    return NULL;
}

/* Reports that the text ends too early, at its last character. */
static bool refuse_end(struct parser *p) {
    const char *last = p->end - 1;
    while (last > p->text && ((unsigned char)*last & 0xC0) == 0x80) {
        last--;
    }
    refuse(p, last, "the text ends before the JSON document does");
    return false;
}

/* Skips blanks. Returns false at the end of the text, and reports it. */
static bool more(struct parser *p) {
    while (p->at < p->end && strchr(" \t\r\n", *p->at) != NULL) {
        p->at++;
    }
    return p->at < p->end || refuse_end(p);
}

/* Reads the string whose opening quote is at p->at into p->string. */
static bool read_string(struct parser *p) {
    p->string.size = 0;
    p->at++;
    for (;;) {
        const char *from = p->at;
        while (p->at < p->end && *p->at != '"' && *p->at != '\\' && (unsigned char)*p->at >= 0x20) {
            p->at++;
        }
        buf_append(&p->string, from, (size_t)(p->at - from));
        if (p->at == p->end) {
            return refuse_end(p);
        }
        if (*p->at == '"') {
            break;
        }
        char escaped[4], *out = escaped;
        const char *rule = *p->at == '\\' ? json_unescape(&p->at, p->end, &out)
                           : *p->at == '\n'
                               ? "the string goes over the end of its line; a line break in it is "
                                 "written \\n"
                               : "a control character in a string must be escaped";
        if (rule != NULL) {
            refuse(p, p->at, rule);
            return false;
        }
        buf_append(&p->string, escaped, (size_t)(out - escaped));
    }
    p->at++;
    buf_putc(&p->string, '\0');
    if (p->string.failed) {
        no_memory(p);
    }
    return !p->failed;
}

/* Whether the text at p->at begins with a word. */
static bool begins_with(const struct parser *p, const char *word) {
    const size_t n = strlen(word);
    return (size_t)(p->end - p->at) >= n && memcmp(p->at, word, n) == 0;
}

/* Reports a text that is no value. */
static json_t *no_value(struct parser *p) {
    return begins_with(p, "NaN") || begins_with(p, "Infinity") || begins_with(p, "-Infinity")
               ? refuse(p, p->at, "JSON has no NaN or Infinity: send null for a missing value")
               : refuse(p, p->at,
                        "this is not JSON: a value is an object, an array, a string in double "
                        "quotes, a number, true, false or null");
}

static json_t *read_number(struct parser *p) {
    const size_t n = json_number_size(p->at, (size_t)(p->end - p->at));
    double number = 0;
    if (n == 0) {
        return no_value(p);
    }
    if (!dn_number_parse(p->at, n, &number)) {
        return refuse(p, p->at, "the number is beyond the range of double precision");
    }
    p->at += n;
    json_t *value = json_real(number);
    return value != NULL ? value : no_memory(p);
}

static json_t *read_word(struct parser *p) {
    size_t n = 0;
    while (p->at + n < p->end &&
           ((p->at[n] >= 'a' && p->at[n] <= 'z') || (p->at[n] >= 'A' && p->at[n] <= 'Z'))) {
        n++;
    }
    const char *word = p->at;
    p->at += n;
    if (n == 4 && memcmp(word, "true", n) == 0) {
        return json_true();
    }
    if (n == 5 && memcmp(word, "false", n) == 0) {
        return json_false();
    }
    if (n == 4 && memcmp(word, "null", n) == 0) {
        return json_null();
    }
    p->at = word;
    return no_value(p);
}

static json_t *read_value(struct parser *p);

/* Reads the comma after a member, or the bracket that closes its container. Returns false at the
 * bracket, or after a failure. */
static bool next_member(struct parser *p, char close) {
    if (!more(p)) {
        return false;
    }
    if (*p->at != ',' && *p->at != close) {
        refuse(p, p->at,
               close == '}' ? "a comma or } is expected here" : "a comma or ] is expected here");
        return false;
    }
    return *p->at++ == ',';
}

/* Reads the members of an array up to its closing bracket. */
static void read_array(struct parser *p, json_t *array) {
    if (more(p) && *p->at == ']') {
        p->at++;
        return;
    }
    do {
        json_t *value = p->failed ? NULL : read_value(p);
        if (value == NULL) {
            return;
        }
        if (json_array_append_new(array, value) != 0) {
            no_memory(p);
            return;
        }
    } while (next_member(p, ']'));
}

/* Reads the name at p->at, which the object must not have yet, and the colon after it. */
static bool read_name(struct parser *p, const json_t *object, bool first) {
    if (*p->at != '"') {
        refuse(p, p->at,
               first ? "a name in double quotes or } is expected here"
                     : "a name in double quotes is expected here");
        return false;
    }
    if (!read_string(p)) {
        return false;
    }
    if (json_object_get(object, p->string.data) != NULL) {
        refuse(p, p->at - 1, "duplicate name: the object has a member of this name already");
        return false;
    }
    if (!more(p)) {
        return false;
    }
    if (*p->at != ':') {
        refuse(p, p->at, "a colon is expected here, between a name and its value");
        return false;
    }
    p->at++;
    return true;
}

/* Reads the members of an object up to its closing brace. */
static void read_object(struct parser *p, json_t *object) {
    bool first = true;
    do {
        if (!more(p)) {
            return;
        }
        if (first && *p->at == '}') {
            p->at++;
            return;
        }
        if (!read_name(p, object, first)) {
            return;
        }
        char *name = strdup(p->string.data);
        json_t *value = name != NULL ? read_value(p) : NULL;
        const bool set = value != NULL && json_object_set_new_nocheck(object, name, value) == 0;
        free(name);
        if (!set) {
            no_memory(p); /* no effect if the value was refused */
            return;
        }
        first = false;
    } while (next_member(p, '}'));
}

static json_t *read_container(struct parser *p) {
    const bool object = *p->at == '{';
    if (p->depth == PARSE_MAX_DEPTH) {
        return refuse(p, p->at, "nested deeper than 64 levels");
    }
    json_t *container = object ? json_object() : json_array();
    if (container == NULL) {
        return no_memory(p);
    }
    p->at++;
    p->depth++;
    if (object) {
        read_object(p, container);
    } else {
        read_array(p, container);
    }
    p->depth--;
    if (p->failed) {
        json_decref(container);
        return NULL;
    }
    return container;
}

static json_t *read_value(struct parser *p) {
    if (!more(p)) {
        return NULL;
    }
    const char c = *p->at;
    if (c == '{' || c == '[') {
        return read_container(p);
    }
    if (c == '"') {
        json_t *value =
            read_string(p) ? json_stringn_nocheck(p->string.data, p->string.size - 1) : NULL;
        return value != NULL ? value : no_memory(p);
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        return read_number(p);
    }
    return strchr("]}:,", c) != NULL ? refuse(p, p->at, "a value is expected here") : read_word(p);
}

/* Refuses NUL bytes and invalid UTF-8, so that the parser need not look for them. */
static bool check_bytes(struct parser *p) {
    const char *nul = memchr(p->text, '\0', (size_t)(p->end - p->text));
    if (nul != NULL) {
        refuse(p, nul, "a NUL byte is not allowed in JSON");
        return false;
    }
    const char *wrong = p->text + utf8_valid_prefix(p->text, (size_t)(p->end - p->text));
    if (wrong < p->end) {
        char rule[64];
        snprintf(rule, sizeof rule, "byte 0x%02X is not valid UTF-8 here",
                 (unsigned)(unsigned char)*wrong);
        refuse(p, wrong, rule);
        return false;
    }
    return true;
}

json_t *json_parse_first(const char *text, size_t size, size_t *used, struct problem *problem) {
    const size_t mark = json_mark_size(text, size);
    struct parser p = {.text = text + mark,
                       .at = text + mark,
                       .end = text + size,
                       .problem = problem};
    while (p.at < p.end && strchr(" \t\r\n", *p.at) != NULL && *p.at != '\0') {
        p.at++;
    }
    json_t *root = NULL;
    if (p.at == p.end) {
        problem_set(problem, PROBLEM_BAD_JSON,
                    "the text is empty where a JSON document is expected");
    } else if (check_bytes(&p)) {
        root = read_value(&p);
    }
    buf_done(&p.string);
    *used = (size_t)(p.at - text);
    return root;
}

json_t *json_parse(const char *text, size_t size, struct problem *problem) {
    size_t used = 0;
    json_t *root = json_parse_first(text, size, &used, problem);
    struct parser p = {.text = text + json_mark_size(text, size), .problem = problem};
    const char *rest = text + used;
    while (root != NULL && rest < text + size) {
        if (strchr(" \t\r\n", *rest) == NULL) {
            refuse(&p, rest, "something follows the end of the JSON document");
            json_decref(root);
            root = NULL;
        }
        rest++;
    }
    return root;
}

json_t *json_parse_stored(const char *text, const char *what, struct problem *problem) {
    struct problem why = {0};
    json_t *root = json_parse(text, strlen(text), &why);
    if (why.type == PROBLEM_BAD_JSON) {
        problem_set_permanent(problem, PROBLEM_INTERNAL, "the stored %s is damaged: %s", what,
                              why.detail != NULL ? why.detail : "not JSON");
    } else if (root == NULL) {
        problem_no_memory(problem);
    }
    problem_done(&why);
    return root;
}
