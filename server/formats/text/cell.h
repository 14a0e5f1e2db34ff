/* What the text of a cell says: missing, boolean, number, or just text. Shared by the readers of
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

/* Without the spaces and tabs around it. */
struct text text_trim(const char *bytes, size_t n);
bool text_is(struct text t, const char *word);
/* true/false in any case of letters. */
bool text_boolean(struct text t, bool *out);
/* Whether the number read from a text is what is written there: false only for an integer that no
 * double is ("9007199254740993"), and for what is so small that it became 0 ("1e-400"). */
bool number_is_exact(const char *text, size_t n, double number);
/* For a message: the text in quotes, cut at 40 bytes, control characters replaced. Returns out. */
#define TEXT_SHOWN 64
const char *text_show(const char *bytes, size_t n, char out[TEXT_SHOWN]);

/* Need that be asked? */
static inline bool number_may_be_inexact(size_t n, double number) {
    return n > 15 || (number == 0 && n > 5);
}

/* The tokens that stand for a missing value. */
#define MISSING_MAX 64       /* further tokens at most */
#define MISSING_TOKEN_MAX 64 /* bytes of one */
struct missing {
    struct text token[5 + MISSING_MAX];
    size_t n;
    size_t n_further; /* items of the list that were read */
    bool begins[256]; /* a token begins with this byte */
    char bytes[MISSING_MAX *
               MISSING_TOKEN_MAX]; /* of the further tokens: a struct missing is not copied */
};
/* The five that always count (empty, NA, NaN, null, ?) and those of a comma-separated list
 * (list_item.h; NULL: none). false: problem PROBLEM_BAD_REQUEST. */
bool missing_init(struct missing *m, const char *further, struct problem *problem);
/* The text must be trimmed. */
static inline bool missing_has(const struct missing *m, struct text t);
bool missing_search(const struct missing *m, struct text t);
static inline bool missing_has(const struct missing *m, struct text t) {
    return t.n == 0 || (m->begins[(unsigned char)t.bytes[0]] && missing_search(m, t));
}

enum cell_says { CELL_MISSING, CELL_BOOLEAN, CELL_NUMBER, CELL_OTHER };
enum cell_says cell_says(const struct missing *m, const char *bytes, size_t n);

#endif
