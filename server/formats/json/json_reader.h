/* What the two files of the incremental JSON reader share: json.c (pieces in, places and faults)
 * and json_tokens.c (the automaton). Private to them. */
#ifndef WIRE_JSON_READER_H
#define WIRE_JSON_READER_H

#include "formats/json/json.h"

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

/* Something is wrong at this offset of the body: makes the token a fault, and nothing else comes.
 * Returns WIRE_JSON_FAULT. */
enum wire_json_kind wire_json_fault(struct wire_json *r, struct wire_json_token *token,
                                    int64_t offset, const char *text);
/* Likewise, with a code: the text is the code's. The place is that of the token at hand. */
enum wire_json_kind wire_json_fault_of(struct wire_json *r, struct wire_json_token *token,
                                       enum wire_json_fault_code code);
/* Likewise: the byte at `at` is not what is expected there. */
enum wire_json_kind wire_json_unexpected(struct wire_json *r, struct wire_json_token *token);

#endif
