/* Finds the tokens of the incremental JSON reader: a push-down automaton over the pieces. The bytes
 * of a token that is divided between pieces are collected in `scratch`, and the token is read when
 * it is complete, so the result does not depend on the pieces. For a string, first its closing
 * quote is found, then it is decoded (json_string.c). A word is a sequence of word characters: a
 * number, true, NaN. */
#include "formats/json/json_tokens.h"
#include "base/json/json_lexical.h"
#include "formats/json/json_string.h"
#include "formats/text/scan.h"
#include <discern/table.h>

#include <string.h>

static int64_t offset_of(const struct json_reader *r, const char *p) {
    return r->before + (p - r->piece);
}

/* ---- after a value ---- */
static bool in_object(const struct json_reader *r) {
    return r->depth > 0 && (r->objects >> (r->depth - 1) & 1) != 0;
}

static enum json_token_kind deliver(struct json_reader *r, struct json_token *token,
                                    enum json_token_kind kind) {
    if (kind == JSON_TOKEN_KEY) {
        r->expect = EXPECT_COLON;
    } else {
        r->expect = r->depth > 0 ? EXPECT_COMMA_OR_END : EXPECT_NOTHING;
    }
    token->kind = kind;
    return kind;
}

static enum json_token_kind open(struct json_reader *r, struct json_token *token, bool object) {
    if (r->depth == JSON_READER_DEPTH) {
        return json_reader_fault(r, token, r->token_at, "nested deeper than 64");
    }
    const uint64_t bit = UINT64_C(1) << r->depth;
    r->objects = object ? r->objects | bit : r->objects & ~bit;
    r->depth++;
    r->at++;
    r->expect = object ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
    token->kind = object ? JSON_TOKEN_BEGIN_OBJECT : JSON_TOKEN_BEGIN_ARRAY;
    return token->kind;
}

static enum json_token_kind shut(struct json_reader *r, struct json_token *token, bool object) {
    r->depth--;
    r->at++;
    return deliver(r, token, object ? JSON_TOKEN_END_OBJECT : JSON_TOKEN_END_ARRAY);
}

/* ---- words: numbers and literals ---- */
static bool word_byte(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.' || c == '_';
}

static bool is(const char *text, size_t n, const char *word) {
    return n == strlen(word) && memcmp(text, word, n) == 0;
}

/* Says what is wrong with a word that is no value. Other languages write values in other words. */
static const char *why_unknown(const char *text, size_t n) {
    static const char *const missing[] = {"nan", "NAN",  "inf",       "-inf", "infinity", "None",
                                          "nil", "NULL", "undefined", "NA",   "Null"};
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
        if (is(text, n, missing[i])) {
            return "unknown word where a value is expected: JSON has no NaN, None or NA, send null "
                   "for a missing value";
        }
    }
    if (is(text, n, "True") || is(text, n, "False") || is(text, n, "TRUE") ||
        is(text, n, "FALSE")) {
        return "unknown word where a value is expected: JSON has true and false";
    }
    return text[0] == '-' || (text[0] >= '0' && text[0] <= '9')
               ? "malformed number"
               : "unknown word where a value is expected";
}

static enum json_token_kind word_decide(struct json_reader *r, struct json_token *token,
                                        const char *text, size_t n) {
    token->text = text;
    token->length = n;
    /* A first byte from 'A' on is that of a word like true: the check for a number is skipped. */
    if (text[0] < 'A' && json_number_size(text, n) == n) {
        token->finite = dn_number_parse(text, n, &token->number);
        return deliver(r, token, JSON_TOKEN_NUMBER);
    }
    if (is(text, n, "true")) {
        return deliver(r, token, JSON_TOKEN_TRUE);
    }
    if (is(text, n, "false")) {
        return deliver(r, token, JSON_TOKEN_FALSE);
    }
    if (is(text, n, "null")) {
        return deliver(r, token, JSON_TOKEN_NULL);
    }
    if (is(text, n, "NaN") || is(text, n, "Infinity") || is(text, n, "-Infinity")) {
        return r->allow_not_finite
                   ? deliver(r, token, JSON_TOKEN_NOT_FINITE)
                   : json_reader_fault(
                         r, token, r->token_at,
                         "JSON has no NaN or Infinity: send null for a missing value");
    }
    return json_reader_fault(r, token, r->token_at, why_unknown(text, n));
}

/* Reads a word from r->at on, or the rest of a word that began in an earlier piece. */
static enum json_token_kind word(struct json_reader *r, struct json_token *token) {
    const char *p = r->at;
    while (p < r->end && word_byte(*p)) {
        p++;
    }
    const size_t n = (size_t)(p - r->at);
    const bool cut = p == r->end && !r->closed;
    if (r->scratch.size + n > JSON_TOKEN_MAX) {
        return json_reader_fault(r, token, r->token_at, "number longer than 6 MiB");
    }
    if (!cut && r->partial == PARTIAL_NONE) {
        r->at = p;
        return word_decide(r, token, p - n, n);
    }
    buf_append(&r->scratch, r->at, n);
    r->at = p;
    if (r->scratch.failed) {
        return json_reader_fault_of(r, token, JSON_READER_NO_MEMORY);
    }
    if (cut) {
        r->partial = PARTIAL_WORD;
        token->kind = JSON_TOKEN_MORE;
        return JSON_TOKEN_MORE;
    }
    r->partial = PARTIAL_NONE;
    return word_decide(r, token, r->scratch.data, r->scratch.size);
}

/* Reads a plain number fast. Any other number is read by word(). */
static enum json_token_kind number(struct json_reader *r, struct json_token *token) {
    if ((size_t)(r->end - r->at) + r->slack > SCAN_NUMBER_READS) {
        unsigned written = 0;
        const size_t n = scan_number(r->at, &token->number, &written);
        const char *digits = r->at + (*r->at == '-');
        const bool zero_led = digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
        if (n > 0 && !zero_led && !word_byte(r->at[n])) {
            token->text = r->at;
            token->length = n;
            token->finite = true;
            r->at += n;
            return deliver(r, token, JSON_TOKEN_NUMBER);
        }
    }
    return word(r, token);
}

/* ---- strings ---- */
/* Completes a string token. raw: n bytes without the quotes. */
static enum json_token_kind string_decide(struct json_reader *r, struct json_token *token,
                                          const char *raw, size_t n) {
    const bool key = r->expect == EXPECT_KEY || r->expect == EXPECT_KEY_OR_END;
    size_t wrong = 0;
    const char *text = NULL;
    token->text = raw;
    token->length = n;
    if (r->decode) {
        if (raw != r->scratch.data) {
            buf_append(&r->scratch, raw, n); /* `scratch` was empty */
        }
        if (r->scratch.failed) {
            return json_reader_fault_of(r, token, JSON_READER_NO_MEMORY);
        }
        text = json_text_unescape(r->scratch.data, n, &token->length, &wrong);
        token->text = r->scratch.data;
    } else {
        text = json_text_check_utf8(raw, n, &wrong);
    }
    if (text != NULL) {
        return json_reader_fault(r, token, r->token_at + 1 + (int64_t)wrong, text);
    }
    return deliver(r, token, key ? JSON_TOKEN_KEY : JSON_TOKEN_STRING);
}

/* Reads a string from r->at on, up to its closing quote or to the end of the piece. */
static enum json_token_kind string(struct json_reader *r, struct json_token *token) {
    const char *from = r->at;
    const size_t room = JSON_TOKEN_MAX - r->scratch.size;
    const char *limit = (size_t)(r->end - from) > room ? from + room : r->end;
    const char *p = json_text_end(from, limit, &r->escaped, &r->decode);
    const size_t n = (size_t)(p - from);
    const size_t seen = r->partial == PARTIAL_STRING ? r->scratch.size : 0;
    if (p == limit) {
        if (limit < r->end || n == room) {
            return json_reader_fault(r, token, r->token_at, "string longer than 6 MiB");
        }
        r->partial = PARTIAL_STRING;
        buf_append(&r->scratch, from, n);
        r->at = p;
        if (r->scratch.failed) {
            return json_reader_fault_of(r, token, JSON_READER_NO_MEMORY);
        }
        if (r->closed) {
            return json_reader_fault_of(r, token, JSON_READER_ENDS_IN_STRING);
        }
        token->kind = JSON_TOKEN_MORE;
        return JSON_TOKEN_MORE;
    }
    if (*p != '"') {
        return json_reader_fault(r, token, r->token_at + 1 + (int64_t)(seen + n),
                                 "control character in a string: it must be escaped");
    }
    r->at = p + 1;
    if (r->partial == PARTIAL_NONE) {
        return string_decide(r, token, from, n);
    }
    r->partial = PARTIAL_NONE;
    buf_append(&r->scratch, from, n);
    return r->scratch.failed
               ? json_reader_fault_of(r, token, JSON_READER_NO_MEMORY)
               : string_decide(r, token, r->scratch.data != NULL ? r->scratch.data : "",
                               r->scratch.size);
}

static enum json_token_kind string_begin(struct json_reader *r, struct json_token *token) {
    r->at++;
    r->escaped = false;
    r->decode = false;
    return string(r, token);
}

/* ---- between tokens ---- */
/* Returns the first byte that is not a space. With `lines` a line end is not a space. */
SCAN_INLINE const char *skip_space(struct json_reader *r, const char *p) {
    while (p < r->end && (unsigned char)*p <= ' ') {
        if (*p == '\n') {
            if (r->lines) {
                break;
            }
            r->line++;
            r->line_start = offset_of(r, p) + 1;
        } else if (*p != ' ' && *p != '\t' && *p != '\r') {
            break;
        }
        p++;
    }
    return p;
}

static enum json_token_kind value(struct json_reader *r, struct json_token *token) {
    const char c = *r->at;
    if (c == '"') {
        return string_begin(r, token);
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        return number(r, token);
    }
    if (c == '[' || c == '{') {
        return open(r, token, c == '{');
    }
    if (c == ']' && r->expect == EXPECT_VALUE_OR_END) {
        return shut(r, token, false);
    }
    return word_byte(c) ? word(r, token) : json_reader_unexpected(r, token);
}

/* ---- lines: NDJSON ---- */
/* Handles a line end between tokens. Returns true if there is a token: END_LINE, or a fault, which
 * does not consume the line end. */
static bool line_end(struct json_reader *r, struct json_token *token) {
    if (r->depth > 0) {
        json_reader_fault(r, token, r->token_at, "the line ends within an array or object");
        return true;
    }
    const bool told = r->expect == EXPECT_NOTHING;
    r->at++;
    r->line++;
    r->line_start = offset_of(r, r->at);
    r->expect = EXPECT_VALUE;
    token->kind = JSON_TOKEN_END_LINE;
    return told;
}

/* Skips the rest of the line. Returns false if the piece ends before the line. */
static bool line_pass(struct json_reader *r) {
    const char *end = r->at < r->end ? memchr(r->at, '\n', (size_t)(r->end - r->at)) : NULL;
    r->at = end != NULL ? end : r->end;
    r->skipping = end == NULL;
    return end != NULL;
}

/* Handles the end of the piece between tokens. */
static enum json_token_kind at_end(struct json_reader *r, struct json_token *token) {
    if (!r->closed) {
        token->kind = JSON_TOKEN_MORE;
        return JSON_TOKEN_MORE;
    }
    if (r->expect == EXPECT_NOTHING && r->lines) {
        r->expect = EXPECT_VALUE;
        token->kind = JSON_TOKEN_END_LINE;
        return JSON_TOKEN_END_LINE;
    }
    if (r->expect == EXPECT_NOTHING || (r->lines && r->depth == 0)) {
        token->kind = JSON_TOKEN_END;
        return JSON_TOKEN_END;
    }
    return json_reader_fault_of(r, token,
                                r->depth > 0 ? JSON_READER_ENDS_IN_CONTAINER : JSON_READER_EMPTY);
}

enum json_token_kind json_reader_next(struct json_reader *r, struct json_token *token) {
    if (SCAN_UNLIKELY(r->faulty)) {
        token->kind = JSON_TOKEN_FAULT;
        return JSON_TOKEN_FAULT;
    }
    if (SCAN_UNLIKELY(r->partial != PARTIAL_NONE)) {
        if (r->at == r->end && !r->closed) {
            token->kind = JSON_TOKEN_MORE;
            return JSON_TOKEN_MORE;
        }
        return r->partial == PARTIAL_STRING ? string(r, token) : word(r, token);
    }
    r->scratch.size = 0;
    if (SCAN_UNLIKELY(r->skipping) && !line_pass(r)) {
        return at_end(r, token);
    }
    for (;;) {
        r->at = skip_space(r, r->at);
        r->token_at = offset_of(r, r->at);
        if (r->at == r->end) {
            return at_end(r, token);
        }
        const char c = *r->at;
        /* only with `lines`; otherwise skip_space has skipped it */
        if (SCAN_UNLIKELY(c == '\n')) {
            if (line_end(r, token)) {
                return token->kind;
            }
            continue;
        }
        switch ((enum json_expect)r->expect) {
        case EXPECT_VALUE:
        case EXPECT_VALUE_OR_END:
            return value(r, token);
        case EXPECT_KEY:
        case EXPECT_KEY_OR_END:
            if (c == '"') {
                return string_begin(r, token);
            }
            return c == '}' && r->expect == EXPECT_KEY_OR_END ? shut(r, token, true)
                                                              : json_reader_unexpected(r, token);
        case EXPECT_COLON:
            if (c != ':') {
                return json_reader_unexpected(r, token);
            }
            r->expect = EXPECT_VALUE;
            break;
        case EXPECT_COMMA_OR_END:
            if (c == (in_object(r) ? '}' : ']')) {
                return shut(r, token, c == '}');
            }
            if (c != ',') {
                return json_reader_unexpected(r, token);
            }
            r->expect = in_object(r) ? EXPECT_KEY : EXPECT_VALUE;
            break;
        case EXPECT_NOTHING:
            return json_reader_unexpected(r, token);
        }
        r->at++; /* skips the comma or colon, which is not a token */
    }
}

size_t json_reader_numbers(struct json_reader *r, double *out, size_t max) {
    if (r->faulty || r->partial != PARTIAL_NONE || r->depth == 0 || in_object(r)) {
        return 0;
    }
    size_t n = 0;
    while (n < max) {
        r->at = skip_space(r, r->at); /* stored at once, so that each line end is counted once */
        if (r->expect == EXPECT_COMMA_OR_END) {
            if (r->at == r->end || *r->at != ',') {
                break;
            }
            r->expect = EXPECT_VALUE;
            r->at = skip_space(r, r->at + 1);
        }
        const char *p = r->at;
        if ((size_t)(r->end - p) + r->slack <= SCAN_NUMBER_READS || p == r->end) {
            break;
        }
        unsigned written = 0;
        const size_t length = scan_number(p, &out[n], &written);
        const char *digits = p + (*p == '-');
        if (length == 0 || (digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') ||
            word_byte(p[length])) {
            break;
        }
        r->at = p + length;
        r->expect = EXPECT_COMMA_OR_END;
        n++;
    }
    return n;
}

size_t json_reader_count(const struct json_reader *r) {
    size_t n = 0, depth = 1;
    bool quoted = false, begun = false;
    for (const char *p = r->at; p < r->end && depth > 0; p++) {
        if (quoted) {
            quoted = *p != '"';
            p += *p == '\\' && p + 1 < r->end;
            continue;
        }
        quoted = *p == '"';
        if (*p == ']' || *p == '}') {
            depth--;
        } else if (*p == ',' && depth == 1) {
            n++;
        } else {
            begun |= *p != ' ' && *p != '\t' && *p != '\r' && *p != '\n';
            depth += *p == '[' || *p == '{';
        }
    }
    return n + begun;
}
