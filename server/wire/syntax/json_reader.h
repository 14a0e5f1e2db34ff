/* What the two files of the incremental JSON reader share: json.c (pieces in, places and faults) and json_tokens.c (the automaton). Private to them. */
#ifndef WIRE_JSON_READER_H
#define WIRE_JSON_READER_H

#include "wire/syntax/json.h"

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

/* Faults that are told from the others by their address: behind them no line can follow. */
extern const char wire_json_no_memory[], wire_json_ends_in_container[], wire_json_ends_in_string[];

/* Something is wrong at this offset of the body: makes the token a fault, and nothing else comes. Returns WIRE_JSON_FAULT. */
enum wire_json_kind wire_json_fault(struct wire_json *r, struct wire_json_token *token,
                                    int64_t offset, const char *text);
/* Likewise: the byte at `at` is not what is expected there. */
enum wire_json_kind wire_json_unexpected(struct wire_json *r, struct wire_json_token *token);

#endif
