/* The incremental JSON reader of table bodies and instances: fed bytes in any cuts, gives tokens,
 * and they depend on the bytes only.
 *
 * Strict RFC 8259, held to Jansson by a differential fuzzer. Beyond it refused: nesting deeper than
 * JSON_READER_DEPTH, invalid UTF-8, NUL (as a byte and as \u0000), lone surrogate escapes, a string
 * or a number longer than JSON_TOKEN_MAX bytes. Repeated keys are the consumer's to find. One
 * thread. With `lines` it reads NDJSON: END_LINE behind each value, END at the end of the body; a
 * line end within a value is a fault, and json_reader_next_line goes on behind it. */
#ifndef FORMATS_JSON_READER_H
#define FORMATS_JSON_READER_H

#include "base/buf.h"
#include "base/problem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_READER_DEPTH 64
#define JSON_TOKEN_MAX                                                                             \
    (6 * 1024 * 1024 + 2) /* as written: a cell of TABLE_MAX_CELL bytes may be all \u escapes */

enum json_token_kind {
    JSON_TOKEN_MORE,  /* the piece is used up: feed another, or close */
    JSON_TOKEN_END,   /* closed, and the one value was complete (lines: every value) */
    JSON_TOKEN_FAULT, /* not JSON; json_reader_problem says what and where. Comes again for ever */
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
    JSON_TOKEN_NOT_FINITE, /* NaN, Infinity, -Infinity as a bare word: only with allow_not_finite,
                             otherwise a fault */
    JSON_TOKEN_END_LINE    /* only with lines: the line of a complete value ends, or the body */
};

/* The token begins an array or an object. */
static inline bool json_token_begins(enum json_token_kind kind) {
    return kind == JSON_TOKEN_BEGIN_ARRAY || kind == JSON_TOKEN_BEGIN_OBJECT;
}

/* Faults that callers treat differently. The texts are for people. */
enum json_reader_code {
    JSON_READER_SYNTAX, /* all others */
    JSON_READER_NO_MEMORY,
    JSON_READER_EMPTY, /* the body ends before the value */
    JSON_READER_ENDS_IN_CONTAINER,
    JSON_READER_ENDS_IN_STRING
};

struct json_token {
    enum json_token_kind kind;
    const char *text; /* KEY, STRING: decoded UTF-8; NUMBER and words: as written. Valid until the
                         next call. Not NUL-terminated */
    size_t length;    /* of text */
    double number;    /* NUMBER that is finite */
    bool finite;      /* NUMBER: fits a double (1e999 does not) */
};

/* Fields are the reader's own but for allow_not_finite, lines and slack. */
struct json_reader {
    bool allow_not_finite; /* set after init, before the first piece */
    bool lines;            /* likewise: NDJSON, a value on each line but blank ones */
    bool skipping;         /* lines: the rest of a line is being passed over */
    bool closed;           /* no piece will follow */
    bool faulty;           /* JSON_TOKEN_FAULT was given */
    const char *piece;     /* the bytes being read */
    const char *at, *end;  /* the next byte, and the end of the piece */
    size_t slack;   /* bytes behind the end that may be read, the first of them no part of a number:
                       set after the piece is fed, or 0. Short pieces are read faster */
    int64_t before; /* bytes of all pieces before this one */
    int64_t line;   /* line of `at`, counted from 1 */
    int64_t line_start; /* offset of that line's first byte */
    int64_t token_at;   /* offset of the last token's first byte (of the fault, after one) */
    uint64_t objects;   /* bit d: the container at depth d + 1 is an object */
    unsigned depth;     /* open containers */
    int expect;         /* enum json_expect of json_tokens.h */
    int partial;  /* enum json_partial of json_tokens.h: a token that the end of a piece has cut */
    bool escaped; /* within a cut string: the last byte was a lone backslash */
    bool decode;  /* the string at hand has escapes */
    struct buf scratch; /* the raw bytes of a cut token; also where escapes are decoded */
    enum json_reader_code fault_code; /* of the fault */
    const char *fault;                /* what is wrong: a static text */
};

void json_reader_init(struct json_reader *r);
void json_reader_done(struct json_reader *r);
void json_reader_reset(struct json_reader *r); /* as init, but memory is kept */
/* The next piece: must stay until json_reader_next has said MORE. Only after MORE (or init). */
void json_reader_feed(struct json_reader *r, const char *bytes, size_t n);
/* The body is complete: MORE no longer comes. */
void json_reader_close(struct json_reader *r);
enum json_token_kind json_reader_next(struct json_reader *r, struct json_token *token);
/* lines: goes on behind the line that has the fault, or the token at hand (its END_LINE does not
 * come then). false: the fault is the end of the body, or no memory. */
bool json_reader_next_line(struct json_reader *r);
/* Bulk road within an array of numbers: reads up to `max` plain numbers that follow in the piece
 * into out, as json_reader_next would deliver them one by one; stops before whatever is not plain
 * (another kind, a long number, the end of the array or piece). Returns how many. */
size_t json_reader_numbers(struct json_reader *r, double *out, size_t max);
/* The text of the token at hand is a part of the piece and stays as long as that does; otherwise it
 * is gone with the next call. */
static inline bool json_token_is_of_piece(const struct json_reader *r,
                                          const struct json_token *token) {
    return token->text != r->scratch.data;
}
/* Line and column (bytes, both counted from 1) of the last token's first byte, or of the fault. */
void json_reader_place(const struct json_reader *r, int64_t *line, int64_t *column);
static inline int64_t json_reader_column(const struct json_reader *r) {
    return r->token_at - r->line_start + 1;
}
/* Makes the fault the problem (PROBLEM_BAD_JSON with line and column), in the place of any other.
 * Returns false. */
bool json_reader_problem(const struct json_reader *r, struct problem *problem);

#endif
