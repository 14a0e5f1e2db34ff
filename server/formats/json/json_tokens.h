/* Shared by the files of the incremental JSON reader: json_reader.c (input, line numbers and
 * faults) and json_tokens.c (the automaton). Private to them. */
#ifndef FORMATS_JSON_TOKENS_H
#define FORMATS_JSON_TOKENS_H

#include "formats/json/json_reader.h"

enum json_expect {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_END,
    EXPECT_KEY,
    EXPECT_KEY_OR_END,
    EXPECT_COLON,
    EXPECT_COMMA_OR_END,
    EXPECT_NOTHING
};
enum json_partial { PARTIAL_NONE, PARTIAL_STRING, PARTIAL_WORD };

/* Sets a fault at this offset of the body, after which nothing is read. Returns
 * JSON_TOKEN_FAULT. */
enum json_token_kind json_reader_fault(struct json_reader *r, struct json_token *token,
                                       int64_t offset, const char *text);
/* Like json_reader_fault, at the current token, with the text of a code. */
enum json_token_kind json_reader_fault_of(struct json_reader *r, struct json_token *token,
                                          enum json_reader_code code);
/* Like json_reader_fault: the byte at r->at is not expected. */
enum json_token_kind json_reader_unexpected(struct json_reader *r, struct json_token *token);

#endif
