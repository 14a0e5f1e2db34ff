/* The incremental JSON reader of tables and instances. It is fed a body in pieces and delivers
 * tokens. The tokens do not depend on how the body is divided into pieces. One thread.
 *
 * It accepts what RFC 8259 accepts, which a fuzzer compares with Jansson, except: nesting deeper
 * than JSON_READER_DEPTH, invalid UTF-8, NUL (the byte and \u0000), single surrogate escapes, a
 * string or a number longer than JSON_TOKEN_MAX bytes. The caller must find repeated keys.
 *
 * With `lines` it reads NDJSON: END_LINE follows each value, END the body. A line end within a
 * value is a fault, after which json_reader_next_line continues. */
#ifndef FORMATS_JSON_READER_H
#define FORMATS_JSON_READER_H

#include "base/buf.h"
#include "base/problem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_READER_DEPTH 64
/* Bytes of a token as written: all bytes of a cell of TABLE_MAX_CELL bytes may be \u escapes. */
#define JSON_TOKEN_MAX (6 * 1024 * 1024 + 2)

enum json_token_kind {
    JSON_TOKEN_MORE, /* the piece is read: feed another or close the reader */
    JSON_TOKEN_END,  /* closed, and the value was complete (lines: every value) */
    /* not JSON: json_reader_problem describes it. All further calls return it again */
    JSON_TOKEN_FAULT,
    JSON_TOKEN_BEGIN_ARRAY,
    JSON_TOKEN_END_ARRAY,
    JSON_TOKEN_BEGIN_OBJECT,
    JSON_TOKEN_END_OBJECT,
    JSON_TOKEN_KEY,
    JSON_TOKEN_STRING,
    JSON_TOKEN_NUMBER,
    JSON_TOKEN_TRUE,
    JSON_TOKEN_FALSE,
    JSON_TOKEN_NULL,
    /* the bare word NaN, Infinity or -Infinity: only with allow_not_finite, otherwise a fault */
    JSON_TOKEN_NOT_FINITE,
    JSON_TOKEN_END_LINE /* only with lines: the line of a complete value ends, or the body */
};

/* The token begins an array or an object. */
static inline bool json_token_begins(enum json_token_kind kind) {
    return kind == JSON_TOKEN_BEGIN_ARRAY || kind == JSON_TOKEN_BEGIN_OBJECT;
}

/* Codes of the faults that callers distinguish. */
enum json_reader_code {
    JSON_READER_SYNTAX, /* all others */
    JSON_READER_NO_MEMORY,
    JSON_READER_EMPTY, /* the body ends before the value */
    JSON_READER_ENDS_IN_CONTAINER,
    JSON_READER_ENDS_IN_STRING
};

struct json_token {
    enum json_token_kind kind;
    /* KEY, STRING: decoded; NUMBER and words: as written. Not NUL-terminated. Valid until the next
     * call */
    const char *text;
    size_t length; /* of text */
    double number; /* NUMBER: the value, if it is finite */
    bool finite;   /* NUMBER: the value is in the range of a double (1e999 is not) */
};

/* All members but allow_not_finite, lines and slack are private. */
struct json_reader {
    bool allow_not_finite; /* set after init, before the first piece */
    /* set after init, before the first piece: NDJSON, with a value on each line that is not blank
     */
    bool lines;
    bool skipping;        /* lines: the rest of the line is skipped */
    bool closed;          /* there are no more pieces */
    bool faulty;          /* JSON_TOKEN_FAULT was given */
    const char *piece;    /* the present piece */
    const char *at, *end; /* the next byte, and the end of the piece */
    /* bytes after the end that may be read, the first of them not part of a number. Set after a
     * piece is fed; 0 if not set. It makes short pieces faster */
    size_t slack;
    int64_t before;     /* bytes of all pieces before the present one */
    int64_t line;       /* line of `at`, from 1 */
    int64_t line_start; /* offset of the first byte of that line */
    int64_t token_at;   /* offset of the first byte of the present token, or of the fault */
    uint64_t objects;   /* bit d: the container at depth d + 1 is an object */
    unsigned depth;     /* number of open containers */
    int expect;         /* enum json_expect of json_tokens.h */
    /* enum json_partial of json_tokens.h: the token that the end of the piece divides */
    int partial;
    bool escaped;       /* in a divided string: the last byte was a backslash that is not escaped */
    bool decode;        /* the present string has escapes */
    struct buf scratch; /* the bytes of a divided token, and decoded strings */
    enum json_reader_code fault_code; /* of the fault */
    const char *fault;                /* description of the fault, a static text */
};

void json_reader_init(struct json_reader *r);
void json_reader_done(struct json_reader *r);
void json_reader_reset(struct json_reader *r); /* as init, but keeps the memory */
/* Feeds the next piece, after MORE or init. It must stay valid until json_reader_next returns MORE.
 */
void json_reader_feed(struct json_reader *r, const char *bytes, size_t n);
/* Ends the body. MORE does not occur any more. */
void json_reader_close(struct json_reader *r);
enum json_token_kind json_reader_next(struct json_reader *r, struct json_token *token);
/* lines: continues after the line of the fault, or of the present token, whose END_LINE is left
 * out. false: the fault is the end of the body or a lack of memory. */
bool json_reader_next_line(struct json_reader *r);
/* Within an array of numbers: reads up to `max` plain numbers that follow in the piece, with the
 * same result as json_reader_next. Stops before any other token, a long number, and the end of the
 * piece. Returns how many. */
size_t json_reader_numbers(struct json_reader *r, double *out, size_t max);
/* Whether the text of the token is in the piece and valid as long as it. Otherwise it is valid
 * until the next call. */
static inline bool json_token_is_of_piece(const struct json_reader *r,
                                          const struct json_token *token) {
    return token->text != r->scratch.data;
}
/* The line and the column (in bytes), both from 1, of the present token or of the fault. */
void json_reader_place(const struct json_reader *r, int64_t *line, int64_t *column);
static inline int64_t json_reader_column(const struct json_reader *r) {
    return r->token_at - r->line_start + 1;
}
/* Replaces *problem by the fault (PROBLEM_BAD_JSON with line and column). Returns false. */
bool json_reader_problem(const struct json_reader *r, struct problem *problem);

#endif
