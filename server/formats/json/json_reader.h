/* The incremental JSON reader of tables and instances. The caller passes a body in pieces; the
 * reader delivers tokens. The tokens do not depend on how the body is divided into pieces. Not
 * thread-safe.
 *
 * It accepts what RFC 8259 accepts (a fuzzer compares it with Jansson), except: nesting deeper than
 * JSON_READER_DEPTH, invalid UTF-8, NUL (the byte and \u0000), single surrogate escapes, a string
 * or a number longer than JSON_TOKEN_MAX bytes. It does not detect repeated keys; the caller must.
 *
 * With `lines` it reads NDJSON: END_LINE follows each value, and END the last line. A line end
 * within a value is a fault, after which json_reader_next_line continues. */
#ifndef FORMATS_JSON_READER_H
#define FORMATS_JSON_READER_H

#include "base/memory/buf.h"
#include "base/problem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_READER_DEPTH 64
/* Limit of the bytes of a token as written. A cell of TABLE_MAX_CELL bytes may be written with six
 * bytes (\u escapes) for each byte, and two quotes. */
#define JSON_TOKEN_MAX (6 * 1024 * 1024 + 2)

enum json_token_kind {
    JSON_TOKEN_MORE, /* the piece is read: feed the next piece or close the reader */
    JSON_TOKEN_END,  /* the reader is closed and the value is complete (lines: all values are) */
    /* not JSON: json_reader_problem describes the fault. All further calls return this kind */
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
    JSON_TOKEN_END_LINE /* only with `lines`: the end of a line with a complete value, or of the
                         * body after such a value */
};

/* Whether the token begins an array or an object. */
static inline bool json_token_begins(enum json_token_kind kind) {
    return kind == JSON_TOKEN_BEGIN_ARRAY || kind == JSON_TOKEN_BEGIN_OBJECT;
}

/* Codes of the faults that callers distinguish. */
enum json_reader_code {
    JSON_READER_SYNTAX, /* all other faults of syntax */
    JSON_READER_NO_MEMORY,
    JSON_READER_EMPTY, /* the body ends before a value begins */
    JSON_READER_ENDS_IN_CONTAINER,
    JSON_READER_ENDS_IN_STRING
};

struct json_token {
    enum json_token_kind kind;
    /* KEY, STRING: the decoded text; NUMBER, TRUE, FALSE, NOT_FINITE: as written. Not
     * NUL-terminated. Valid until the next call */
    const char *text;
    size_t length; /* length of `text` in bytes */
    double number; /* NUMBER: the value, if `finite` */
    bool finite;   /* NUMBER: the value is in the range of a double (1e999 is not) */
};

/* All members but allow_not_finite, lines and slack are private. */
struct json_reader {
    bool allow_not_finite; /* set after json_reader_init, before the first piece */
    /* set after json_reader_init, before the first piece: the body is NDJSON, with a value on each
     * line that is not blank */
    bool lines;
    bool skipping;        /* lines: the rest of the line is skipped */
    bool closed;          /* json_reader_close was called: there are no more pieces */
    bool faulty;          /* JSON_TOKEN_FAULT was returned */
    const char *piece;    /* the current piece */
    const char *at, *end; /* the next byte, and the end of the piece */
    /* number of bytes after the piece that may be read; the first of them must not be part of a
     * number. Set after json_reader_feed, which sets 0. Makes reading of short pieces faster */
    size_t slack;
    int64_t before;     /* bytes of all previous pieces */
    int64_t line;       /* line of `at`, from 1 */
    int64_t line_start; /* offset in the body of the first byte of that line */
    /* offset in the body of the first byte of the current token, or of the fault */
    int64_t token_at;
    uint64_t objects; /* bit d is set if the container at depth d + 1 is an object */
    unsigned depth;   /* number of open containers */
    int expect;       /* enum json_expect of json_tokens.h */
    /* enum json_partial of json_tokens.h: the kind of the token that began in an earlier piece */
    int partial;
    /* in a string that is not complete: the last byte was a backslash that is not escaped itself */
    bool escaped;
    bool decode;        /* the current string has escapes */
    struct buf scratch; /* the bytes of a token from several pieces, and decoded strings */
    enum json_reader_code fault_code; /* code of the fault */
    const char *fault;                /* description of the fault, a static text */
};

void json_reader_init(struct json_reader *r);
void json_reader_done(struct json_reader *r);
void json_reader_reset(struct json_reader *r); /* like json_reader_init, but keeps the memory */
/* Feeds the next piece, after MORE or json_reader_init. The piece must stay valid until
 * json_reader_next returns MORE. */
void json_reader_feed(struct json_reader *r, const char *bytes, size_t n);
/* Ends the body. After this MORE is not returned. */
void json_reader_close(struct json_reader *r);
enum json_token_kind json_reader_next(struct json_reader *r, struct json_token *token);
/* lines: after a fault, or at any token, skips the rest of the line. END_LINE is not returned for
 * that line. Returns false if the reader cannot continue: the fault is the end of the body or a
 * lack of memory. */
bool json_reader_next_line(struct json_reader *r);
/* Within an array of numbers: reads up to `max` plain numbers that follow in the piece. The values
 * are those of json_reader_next. Stops before any other token, a long number, and the end of the
 * piece. Returns the number of values read. */
size_t json_reader_numbers(struct json_reader *r, double *out, size_t max);
/* Behind the token BEGIN_ARRAY: counts the values of the array in the piece, without reading
 * them. */
size_t json_reader_count(const struct json_reader *r);
/* Whether the text of the token is in the piece, and valid as long as the piece is. Otherwise the
 * text is valid until the next call. */
static inline bool json_token_is_of_piece(const struct json_reader *r,
                                          const struct json_token *token) {
    return token->text != r->scratch.data;
}
/* Sets the line and the column (in bytes), both from 1, of the current token or of the fault. */
void json_reader_place(const struct json_reader *r, int64_t *line, int64_t *column);
static inline int64_t json_reader_column(const struct json_reader *r) {
    return r->token_at - r->line_start + 1;
}
/* Replaces *problem by the fault (PROBLEM_BAD_JSON with line and column). Returns false. */
bool json_reader_problem(const struct json_reader *r, struct problem *problem);

#endif
