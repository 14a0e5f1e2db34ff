/* Classifies the text of a cell: missing, boolean, number, or other text. Shared by the readers of
 * tables and instances. */
#ifndef FORMATS_CELL_H
#define FORMATS_CELL_H

#include "base/problem.h"
#include <stdbool.h>
#include <stddef.h>

/* A piece of text, not NUL-terminated. */
struct text {
    const char *bytes;
    size_t n;
};

/* Returns the text without the spaces and tabs at its ends. */
struct text text_trim(const char *bytes, size_t n);
bool text_is(struct text t, const char *word);
/* Parses "true" and "false", case-insensitively. Returns false if the text is neither. */
bool text_boolean(struct text t, bool *out);
/* Whether the double `number`, read from the text, has exactly the written value. Returns false only
 * for digits before the decimal mark that a double cannot represent ("9007199254740993") and for a
 * small number that became 0 ("1e-400"). Other decimal fractions and numbers with an exponent are
 * not checked. Separators of thousands and signs around the number are permitted. */
bool number_is_exact(const char *text, size_t n, double number);
/* Writes the text for a message: in quotes, truncated to 40 bytes, with control characters
 * replaced. Returns out. */
#define TEXT_SHOWN 64
const char *text_show(const char *bytes, size_t n, char out[TEXT_SHOWN]);

/* Whether number_is_exact must be called. If the result is false, the number is exact. */
static inline bool number_may_be_inexact(size_t n, double number) {
    return n > 15 || (number == 0 && n > 5);
}

/* Reads the item at `list`, a comma-separated list in a query parameter ("columns", "types",
 * "missing"). Returns the end of the item: a comma or the NUL.
 *
 * An item that begins with '"' ends at the closing quote; two quotes within it mean one, as in CSV.
 * *behind is the text between the closing quote and the comma. Any other item ends at the comma,
 * and *behind is empty. At most `room` bytes are written to `out`, without a NUL; *n is the length
 * of the whole item. Returns NULL if a quote is not closed. */
const char *list_item(const char *list, char *out, size_t room, size_t *n, struct text *behind);

/* The tokens for missing values. */
#define MISSING_MAX 64       /* limit of the tokens in the option `missing` */
#define MISSING_TOKEN_MAX 64 /* limit of the bytes of a token */
#define MISSING_STANDARD 5
struct missing {
    struct text token[MISSING_STANDARD + MISSING_MAX];
    size_t n;
    size_t n_further; /* number of items of the option that were read */
    bool numbers;     /* a token is a number */
    bool begins[256]; /* [byte] whether a token begins with this byte */
    /* texts of the tokens of the option. token[] points here, so a struct missing must not be
     * copied */
    char bytes[MISSING_MAX * MISSING_TOKEN_MAX];
};
/* Sets the five standard tokens (empty, NA, NaN, null, ?) and the tokens of a comma-separated list
 * (list_item); NULL: no list. Returns false if the list is invalid and sets PROBLEM_BAD_REQUEST. */
bool missing_init(struct missing *m, const char *further, struct problem *problem);
/* Adds a token, which must be trimmed. Returns false if it is too long or there are too many. */
bool missing_add(struct missing *m, struct text token);
/* Whether the text, which must be trimmed, is a token but not a standard one. */
bool missing_is_further(const struct missing *m, struct text t);
/* Whether the text, which must be trimmed, is a token. */
static inline bool missing_has(const struct missing *m, struct text t);
bool missing_search(const struct missing *m, struct text t);
static inline bool missing_has(const struct missing *m, struct text t) {
    return t.n == 0 || (m->begins[(unsigned char)t.bytes[0]] && missing_search(m, t));
}

enum cell_says { CELL_MISSING, CELL_BOOLEAN, CELL_NUMBER, CELL_OTHER };
enum cell_says cell_says(const struct missing *m, const char *bytes, size_t n);

#endif
