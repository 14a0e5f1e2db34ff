/* Shared by the files of the incremental JSON reader: json_reader.c (input, places and faults) and
 * json_tokens.c (the automaton). Private to them. */
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

/* Sets a fault at this offset of the body, which ends the reading. Returns JSON_TOKEN_FAULT. */
enum json_token_kind json_reader_fault(struct json_reader *r, struct json_token *token,
                                       int64_t offset, const char *text);
/* As json_reader_fault, with the text of a code, at the present token. */
enum json_token_kind json_reader_fault_of(struct json_reader *r, struct json_token *token,
                                          enum json_reader_code code);
/* As json_reader_fault: the byte at `at` is not expected there. */
enum json_token_kind json_reader_unexpected(struct json_reader *r, struct json_token *token);

#endif
