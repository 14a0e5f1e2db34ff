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

/* The text without the spaces and tabs at its ends. */
struct text text_trim(const char *bytes, size_t n);
bool text_is(struct text t, const char *word);
/* Parses true and false, in any case. */
bool text_boolean(struct text t, bool *out);
/* Whether `number`, parsed from a text, is exactly what is written. false only for an integer that
 * a double cannot represent ("9007199254740993") and for a small number that became 0 ("1e-400").
 */
bool number_is_exact(const char *text, size_t n, double number);
/* For a message: writes the text in quotes, cut at 40 bytes, with control characters replaced.
 * Returns out. */
#define TEXT_SHOWN 64
const char *text_show(const char *bytes, size_t n, char out[TEXT_SHOWN]);

/* Whether number_is_exact must be called: false means that the number is exact. */
static inline bool number_may_be_inexact(size_t n, double number) {
    return n > 15 || (number == 0 && n > 5);
}

/* Reads the item at `list`, a comma-separated list in a query parameter ("columns", "types",
 * "missing"). Returns its end: a comma or the NUL.
 *
 * An item that begins with '"' ends at the closing quote; two quotes within it mean one, as in CSV.
 * *behind is the text from the closing quote to the comma. Any other item ends at the comma, and
 * *behind is empty. At most `room` bytes are written to `out`, without a NUL; *n is the length of
 * the whole item. NULL: a quote is not closed. */
const char *list_item(const char *list, char *out, size_t room, size_t *n, struct text *behind);

/* The tokens that mean a missing value. */
#define MISSING_MAX 64       /* limit of the tokens in the option `missing` */
#define MISSING_TOKEN_MAX 64 /* bytes of one */
struct missing {
    struct text token[5 + MISSING_MAX];
    size_t n;
    size_t n_further; /* items of the option that were read */
    bool begins[256]; /* whether a token begins with this byte */
    /* the tokens of the option. token[] points into it, so a struct missing must not be copied */
    char bytes[MISSING_MAX * MISSING_TOKEN_MAX];
};
/* Sets the five standard tokens (empty, NA, NaN, null, ?) and those of a comma-separated list
 * (list_item); NULL: no list. false: problem PROBLEM_BAD_REQUEST. */
bool missing_init(struct missing *m, const char *further, struct problem *problem);
/* Whether the text, which must be trimmed, is a token. */
static inline bool missing_has(const struct missing *m, struct text t);
bool missing_search(const struct missing *m, struct text t);
static inline bool missing_has(const struct missing *m, struct text t) {
    return t.n == 0 || (m->begins[(unsigned char)t.bytes[0]] && missing_search(m, t));
}

enum cell_says { CELL_MISSING, CELL_BOOLEAN, CELL_NUMBER, CELL_OTHER };
enum cell_says cell_says(const struct missing *m, const char *bytes, size_t n);

#endif
