/* What of a text becomes features of a vocabulary: its words, or the label sequences of the graph it tells; and its characters. */
#ifndef DNI_TOKENS_H
#define DNI_TOKENS_H

#include "text/paths.h"
#include <discern/encoder.h>
#include <discern/text.h>

/* A reader of tokens, one thread's. {0} is one that has read nothing. */
typedef struct dni_tokens {
    bool of_paths; /* label sequences of graph.length labels at most; else words */
    dn_words words;
    dni_paths graph;
} dni_tokens;

static inline void dni_tokens_done(dni_tokens *tokens) {
    dni_paths_done(&tokens->graph);
}

/* The tokens of a text, which must outlive the reading. keep_case: of words. length: DN_TEXT_PATHS, most labels of a path. Errors of dni_paths_begin; of words none. */
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

/* The next token's length, 1 … DN_MAX_WORD_BYTES, and where it is until the next call; 0: there is none. */
static inline size_t dni_tokens_next(dni_tokens *tokens, const char **token) {
    if (tokens->of_paths) {
        *token = tokens->graph.sequence;
        return dni_paths_next(&tokens->graph);
    }
    *token = tokens->words.word;
    return dn_words_next(&tokens->words);
}

/* The characters of text [length] as code points, all > 0: U+FFFD stands for a byte that is no UTF-8 and for U+0000. out [DN_MAX_CHARACTERS], or NULL: they are only counted.
 * DN_ERR_DATA: there are more; the message names no column. */
DN_MUST_USE dn_status dni_characters(const char *text, size_t length, uint32_t *out, size_t *n,
                                     dn_error *err);

/* Adds the column and the row to an error that a text has caused. */
dn_status dni_text_error_at(dn_status status, const char *column, size_t row, dn_error *err);

#endif
