/* The incremental JSON reader of table bodies and instances: fed bytes in any cuts, gives tokens,
 * and they depend on the bytes only.
 *
 * Strict RFC 8259, held to Jansson by a differential fuzzer. Beyond it refused: nesting deeper than
 * WIRE_JSON_DEPTH, invalid UTF-8, NUL (as a byte and as \u0000), lone surrogate escapes, a string
 * or a number longer than WIRE_JSON_TOKEN bytes. Repeated keys are the consumer's to find. One
 * thread. With `lines` it reads NDJSON: END_LINE behind each value, END at the end of the body; a
 * line end within a value is a fault, and wire_json_next_line goes on behind it. */
#ifndef WIRE_JSON_H
#define WIRE_JSON_H

#include "base/buf.h"
#include "base/problem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_JSON_DEPTH 64
#define WIRE_JSON_TOKEN                                                                            \
    (6 * 1024 * 1024 + 2) /* as written: a cell of WIRE_MAX_CELL bytes may be all \u escapes */

enum wire_json_kind {
    WIRE_JSON_MORE,  /* the piece is used up: feed another, or close */
    WIRE_JSON_END,   /* closed, and the one value was complete (lines: every value) */
    WIRE_JSON_FAULT, /* not JSON; wire_json_problem says what and where. Comes again for ever */
    WIRE_JSON_BEGIN_ARRAY,
    WIRE_JSON_END_ARRAY,
    WIRE_JSON_BEGIN_OBJECT,
    WIRE_JSON_END_OBJECT,
    WIRE_JSON_KEY,
    WIRE_JSON_STRING,
    WIRE_JSON_NUMBER,
    WIRE_JSON_TRUE,
    WIRE_JSON_FALSE,
    WIRE_JSON_NULL,
    WIRE_JSON_NOT_FINITE, /* NaN, Infinity, -Infinity as a bare word: only with allow_not_finite,
                             otherwise a fault */
    WIRE_JSON_END_LINE /* only with lines: the line of the value that was complete has ended (or the
                          body) */
};

/* Faults that callers treat differently. The texts are for people. */
enum wire_json_fault_code {
    WIRE_JSON_SYNTAX, /* all others */
    WIRE_JSON_NO_MEMORY,
    WIRE_JSON_EMPTY, /* the body ends before the value */
    WIRE_JSON_ENDS_IN_CONTAINER,
    WIRE_JSON_ENDS_IN_STRING
};

struct wire_json_token {
    enum wire_json_kind kind;
    const char *text; /* KEY, STRING: decoded UTF-8; NUMBER and words: as written. Valid until the
                         next call. Not NUL-terminated */
    size_t length;    /* of text */
    double number;    /* NUMBER that is finite */
    bool finite;      /* NUMBER: fits a double (1e999 does not) */
};

/* Fields are the reader's own but for allow_not_finite, lines and slack. */
struct wire_json {
    bool allow_not_finite; /* set after init, before the first piece */
    bool lines;            /* likewise: NDJSON, a value on each line but blank ones */
    bool skipping;         /* lines: the rest of a line is being passed over */
    bool closed;           /* no piece will follow */
    bool faulty;           /* WIRE_JSON_FAULT was given */
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
    int expect;         /* enum json_expect of json_reader.h */
    int partial;  /* enum json_partial of json_reader.h: a token that the end of a piece has cut */
    bool escaped; /* within a cut string: the last byte was a lone backslash */
    bool decode;  /* the string at hand has escapes */
    struct buf scratch; /* the raw bytes of a cut token; also where escapes are decoded */
    enum wire_json_fault_code fault_code; /* of the fault */
    const char *fault;                    /* what is wrong: a static text */
};

void wire_json_init(struct wire_json *r);
void wire_json_done(struct wire_json *r);
void wire_json_reset(struct wire_json *r); /* as init, but memory is kept */
/* The next piece: must stay until wire_json_next has said MORE. Only after MORE (or init). */
void wire_json_feed(struct wire_json *r, const char *bytes, size_t n);
/* The body is complete: MORE no longer comes. */
void wire_json_close(struct wire_json *r);
enum wire_json_kind wire_json_next(struct wire_json *r, struct wire_json_token *token);
/* lines: goes on behind the line that has the fault, or the token at hand (its END_LINE does not
 * come then). false: the fault is the end of the body, or no memory. */
bool wire_json_next_line(struct wire_json *r);
/* Bulk road within an array of numbers: reads up to `max` plain numbers that follow in the piece
 * into out, as wire_json_next would deliver them one by one; stops before whatever is not plain
 * (another kind, a long number, the end of the array or piece). Returns how many. */
size_t wire_json_numbers(struct wire_json *r, double *out, size_t max);
/* The text of the token at hand is a part of the piece and stays as long as that does; otherwise it
 * is gone with the next call. */
static inline bool wire_json_is_of_piece(const struct wire_json *r,
                                         const struct wire_json_token *token) {
    return token->text != r->scratch.data;
}
/* Line and column (bytes, both counted from 1) of the last token's first byte, or of the fault. */
void wire_json_place(const struct wire_json *r, int64_t *line, int64_t *column);
/* Makes the fault the problem (PROBLEM_BAD_JSON with line and column), in the place of any other.
 * Returns false. */
bool wire_json_problem(const struct wire_json *r, struct problem *problem);

#endif
