/* Tokens of a text: words, or label sequences of a graph. Also the characters of a text. */
#ifndef DNI_TOKENS_H
#define DNI_TOKENS_H

#include "text/paths.h"
#include <discern/encoder.h>
#include <discern/text.h>

/* A tokeniser, used by one thread. Initialised by {0}. */
typedef struct dni_tokens {
    bool of_paths; /* true: label sequences of at most graph.length labels; false: words */
    dn_words words;
    dni_paths graph;
} dni_tokens;

static inline void dni_tokens_done(dni_tokens *tokens) {
    dni_paths_done(&tokens->graph);
}

/* Starts to read a text, which must remain valid until the last token was read.
 *
 *   keep_case  words only: true: case is not folded
 *   length     DN_TEXT_PATHS: maximum number of labels
 *
 * Errors: for paths those of dni_paths_begin; for words none. */
DN_MUST_USE static inline dn_status dni_tokens_begin(dni_tokens *tokens,
                                                     dn_text_weighting weighting, bool keep_case,
                                                     unsigned length, const char *text, size_t n,
                                                     dn_error *err) {
    tokens->of_paths = weighting == DN_TEXT_PATHS;
    if (!tokens->of_paths) {
        dn_words_begin(&tokens->words, text, n, keep_case);
        return DN_OK;
    }
    tokens->graph.length = length;
    return dni_paths_begin(&tokens->graph, text, n, err);
}

/* Reads the next token; *token is valid until the next call. Returns its length in bytes, 1 …
 * DN_MAX_WORD_BYTES; 0: no token is left. */
static inline size_t dni_tokens_next(dni_tokens *tokens, const char **token) {
    if (tokens->of_paths) {
        *token = tokens->graph.sequence;
        return dni_paths_next(&tokens->graph);
    }
    *token = tokens->words.word;
    return dn_words_next(&tokens->words);
}

/* Converts text [length] to code points, all > 0: U+FFFD replaces U+0000 and bytes that are not
 * valid UTF-8.
 *
 *   out  [DN_MAX_CHARACTERS]; NULL: the characters are only counted
 *
 * Errors: DN_ERR_DATA for more than DN_MAX_CHARACTERS characters; the message does not name the
 * column. */
DN_MUST_USE dn_status dni_characters(const char *text, size_t length, uint32_t *out, size_t *n,
                                     dn_error *err);

/* Adds the column and the row to the error of a text. Returns `status`. */
dn_status dni_text_error_at(dn_status status, const char *column, size_t row, dn_error *err);

#endif
