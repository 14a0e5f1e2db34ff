/* Parses control messages with Jansson. A scan before that refuses what Jansson would not refuse
 * well: nesting too deep, NUL bytes, invalid UTF-8. Each refusal has a line and a column. Also:
 * JSON pointers. */
#include "base/json/json.h"
#include "base/json/json_syntax.h"
#include "base/utf8.h"

#include <string.h>

enum { PARSE_MAX_DEPTH = 64 };

/* Sets `problem` with the line and the column of the byte at offset `at`. Lines end with LF;
 * columns count characters. */
#define REFUSE_AT(problem, text, at, ...)                                                          \
    do {                                                                                           \
        int64_t line_, column_;                                                                    \
        place_of(text, at, &line_, &column_);                                                      \
        problem_add_line(problem, PROBLEM_BAD_JSON, line_, column_, __VA_ARGS__);                  \
    } while (0)

static void place_of(const char *text, size_t at, int64_t *line, int64_t *column) {
    *line = 1;
    *column = 1;
    for (size_t i = 0; i < at; i++) {
        if (text[i] == '\n') {
            ++*line;
            *column = 1;
        } else if (((unsigned char)text[i] & 0xC0) != 0x80) {
            ++*column;
        }
    }
    /* if `at` is a continuation byte, the loop has already counted its character */
    *column -= ((unsigned char)text[at] & 0xC0) == 0x80 && *column > 1 ? 1 : 0;
}

/* Checks the depth of brackets outside strings. As far as the text is JSON, this scan and Jansson
 * agree on where strings begin and end, so Jansson's recursion is not deeper than this count. */
static bool scan_depth(const char *text, size_t size, struct problem *problem) {
    size_t depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < size; i++) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') {
                i++;
            } else if (c == '"') {
                in_string = false;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > PARSE_MAX_DEPTH) {
                REFUSE_AT(problem, text, i, "nested deeper than %d levels", PARSE_MAX_DEPTH);
                return false;
            }
        } else if ((c == ']' || c == '}') && depth > 0) {
            depth--;
        }
    }
    return true;
}

static bool scan(const char *text, size_t size, struct problem *problem) {
    size_t space = 0;
    while (space < size && (text[space] == ' ' || text[space] == '\t' || text[space] == '\r' ||
                            text[space] == '\n')) {
        space++;
    }
    if (space == size) {
        return problem_set(problem, PROBLEM_BAD_JSON,
                           "the text is empty where a JSON document is expected");
    }
    const char *nul = memchr(text, '\0', size);
    if (nul != NULL) {
        REFUSE_AT(problem, text, (size_t)(nul - text), "a NUL byte is not allowed in JSON");
        return false;
    }
    const size_t valid = utf8_valid_prefix(text, size);
    if (valid < size) {
        REFUSE_AT(problem, text, valid, "byte 0x%02X is not valid UTF-8 here",
                  (unsigned)(unsigned char)text[valid]);
        return false;
    }
    return scan_depth(text, size, problem);
}

/* Converts a fault of Jansson. Its position is that of the last byte that was read: the end of a
 * wrong token. */
static void refuse_jansson(const char *text, size_t size, const json_error_t *error,
                           struct problem *problem) {
    /* json_error_unknown: out of memory in a constructor of Jansson */
    if (json_error_code(error) == json_error_out_of_memory ||
        json_error_code(error) == json_error_unknown) {
        problem_set(problem, PROBLEM_INTERNAL, "out of memory");
        return;
    }
    size_t at = error->position > 0 ? (size_t)error->position - 1 : 0;
    at = at < size ? at : size - 1;
    switch (json_error_code(error)) {
    case json_error_premature_end_of_input:
        REFUSE_AT(problem, text, at, "the text ends before the JSON document does");
        break;
    case json_error_end_of_input_expected:
        REFUSE_AT(problem, text, at, "something follows the end of the JSON document");
        break;
    case json_error_numeric_overflow:
        REFUSE_AT(problem, text, at, "the number is beyond the range of double precision");
        break;
    case json_error_duplicate_key:
        REFUSE_AT(problem, text, at,
                  "duplicate name: the object has a member of this name already");
        break;
    case json_error_null_character:
    case json_error_null_byte_in_key:
        REFUSE_AT(problem, text, at, "\\u0000 is not allowed in a string or a name");
        break;
    default:
        REFUSE_AT(problem, text, at, "%s", json_syntax_rule(text, size));
    }
}

size_t json_mark_size(const char *text, size_t size) {
    return size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

const char *json_first(const char *text, size_t size) {
    text += json_mark_size(text, size);
    return text + strspn(text, " \t\r\n");
}

json_t *json_parse(const char *text, size_t size, struct problem *problem) {
    const size_t mark = json_mark_size(text, size);
    text += mark;
    size -= mark;
    if (!scan(text, size, problem)) {
        return NULL;
    }
    json_error_t error;
    json_t *root =
        json_loadb(text, size, JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES | JSON_DECODE_ANY,
                   &error);
    if (root == NULL) {
        refuse_jansson(text, size, &error, problem);
    }
    return root;
}

void json_pointer(struct buf *out, const char *parent, const char *key) {
    buf_puts(out, parent);
    buf_putc(out, '/');
    for (; *key != '\0'; key++) {
        if (*key == '~') {
            buf_puts(out, "~0");
        } else if (*key == '/') {
            buf_puts(out, "~1");
        } else {
            buf_putc(out, *key);
        }
    }
}
