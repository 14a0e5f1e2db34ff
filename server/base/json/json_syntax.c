/* Finds the rule of RFC 8259 that a text violates. Jansson has one code for all of them, and its
 * messages are not part of its interface. So after a refusal, which is rare, the text is parsed a
 * second time. */
#include "base/json/json_syntax.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum expect { EXPECT_VALUE, EXPECT_KEY, EXPECT_COLON, EXPECT_COMMA };

/* The state of parsing. rule: the first violated rule; NULL: none so far. */
struct walk {
    const char *at, *end;
    uint64_t objects; /* bit d is set if the container at depth d + 1 is an object */
    unsigned depth;
    const char *rule;
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns the byte at w->at + ahead; NUL after the end. */
static char peek(const struct walk *w, size_t ahead) {
    return (size_t)(w->end - w->at) > ahead ? w->at[ahead] : '\0';
}

static bool broken(struct walk *w, const char *rule) {
    w->rule = rule;
    return false;
}

static bool no_token(struct walk *w) {
    return broken(w, "what ends here is not JSON: a value is an object, an array, a string in "
                     "double quotes, a number, true, false or null");
}

/* Reads the four digits of the \u escape at w->at. */
static bool read_hex(struct walk *w, unsigned *out) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    *out = 0;
    for (size_t i = 0; i < 4; i++) {
        const char c = peek(w, 2 + i), *digit = c != '\0' ? strchr(digits, c) : NULL;
        if (digit == NULL) {
            return false;
        }
        *out = *out * 16 + (unsigned)((digit - digits) % 16);
    }
    return true;
}

static bool walk_escape(struct walk *w) {
    unsigned first = 0, second = 0;
    if (peek(w, 1) != '\0' && strchr("\"\\/bfnrt", peek(w, 1)) != NULL) {
        w->at += 2;
        return true;
    }
    if (peek(w, 1) != 'u' || !read_hex(w, &first)) {
        return broken(w, "the escape in the string is none of \\\", \\\\, \\/, \\b, \\f, \\n, "
                         "\\r, \\t and \\u with four hexadecimal digits");
    }
    w->at += 6;
    if (first < 0xD800 || first > 0xDFFF) {
        return true;
    }
    if (first > 0xDBFF || peek(w, 0) != '\\' || peek(w, 1) != 'u' || !read_hex(w, &second) ||
        second < 0xDC00 || second > 0xDFFF) {
        return broken(w, "the \\u escape is half of a surrogate pair without the other half");
    }
    w->at += 6;
    return true;
}

static bool walk_string(struct walk *w) {
    w->at++;
    while (w->at < w->end && *w->at != '"') {
        if (*w->at == '\n') {
            return broken(w, "the string goes over the end of its line; a line break in it is "
                             "written \\n");
        }
        if ((unsigned char)*w->at < 0x20) {
            return broken(w, "a control character in a string must be escaped");
        }
        if (*w->at != '\\') {
            w->at++;
        } else if (!walk_escape(w)) {
            return false;
        }
    }
    w->at += w->at < w->end;
    return true;
}

static bool walk_digits(struct walk *w) {
    const char *first = w->at;
    while (is_digit(peek(w, 0))) {
        w->at++;
    }
    return w->at > first;
}

static bool walk_number(struct walk *w) {
    w->at += *w->at == '-';
    const bool zero = peek(w, 0) == '0' && is_digit(peek(w, 1));
    if (zero || !walk_digits(w)) {
        return no_token(w);
    }
    if (peek(w, 0) == '.') {
        w->at++;
        if (!walk_digits(w)) {
            return no_token(w);
        }
    }
    if (peek(w, 0) == 'e' || peek(w, 0) == 'E') {
        w->at += peek(w, 1) == '+' || peek(w, 1) == '-' ? 2 : 1;
        if (!walk_digits(w)) {
            return no_token(w);
        }
    }
    return true;
}

static bool walk_word(struct walk *w) {
    static const char *const words[] = {"true", "false", "null"};
    const size_t left = (size_t)(w->end - w->at);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t n = strlen(words[i]);
        if (left >= n && memcmp(w->at, words[i], n) == 0) {
            w->at += n;
            return is_letter(peek(w, 0)) ? no_token(w) : true;
        }
    }
    return no_token(w);
}

static bool in_object(const struct walk *w) {
    return w->depth > 0 && (w->objects >> (w->depth - 1) & 1) != 0;
}

static void enter(struct walk *w, bool object) {
    const uint64_t bit = UINT64_C(1) << w->depth;
    w->objects = object ? w->objects | bit : w->objects & ~bit;
    w->depth++;
    w->at++;
}

/* Reads a value other than a container, or enters a container. */
static bool walk_value(struct walk *w, enum expect *expect) {
    const char c = *w->at;
    *expect = EXPECT_COMMA;
    if ((c == '{' || c == '[') && w->depth < 64) {
        enter(w, c == '{');
        *expect = c == '{' ? EXPECT_KEY : EXPECT_VALUE;
        return true;
    }
    if (c == '"') {
        return walk_string(w);
    }
    if (c == '-' || is_digit(c)) {
        return walk_number(w);
    }
    return strchr("]}:,", c) != NULL ? broken(w, "a value is expected here") : walk_word(w);
}

/* Reads one token. opened: the previous token opened a container, which may be closed at once. */
static bool walk_token(struct walk *w, enum expect *expect, bool opened) {
    const bool object = in_object(w);
    const char c = *w->at;
    if ((opened || *expect == EXPECT_COMMA) && w->depth > 0 && c == (object ? '}' : ']')) {
        w->depth--;
        w->at++;
        *expect = EXPECT_COMMA;
        return true;
    }
    switch (*expect) {
    case EXPECT_VALUE:
        return walk_value(w, expect);
    case EXPECT_KEY:
        *expect = EXPECT_COLON;
        return c == '"' ? walk_string(w)
               : opened ? broken(w, "a name in double quotes or } is expected here")
                        : broken(w, "a name in double quotes is expected here");
    case EXPECT_COLON:
        *expect = EXPECT_VALUE;
        w->at++;
        return c == ':' || broken(w, "a colon is expected here, between a name and its value");
    case EXPECT_COMMA:
        break;
    }
    *expect = object ? EXPECT_KEY : EXPECT_VALUE;
    w->at++;
    return c == ',' ||
           broken(w, object ? "a comma or } is expected here" : "a comma or ] is expected here");
}

const char *json_syntax_rule(const char *text, size_t size) {
    struct walk w = {.at = text, .end = text + size};
    enum expect expect = EXPECT_VALUE;
    bool well = true, opened = false;
    while (well && w.at < w.end && (w.depth > 0 || expect == EXPECT_VALUE)) {
        if (memchr(" \t\r\n", *w.at, 4) != NULL) {
            w.at++;
            continue;
        }
        const unsigned depth = w.depth;
        well = walk_token(&w, &expect, opened);
        opened = w.depth > depth;
    }
    if (w.rule == NULL) {
        (void)no_token(&w);
    }
    return w.rule;
}
