/* The incremental JSON reader: input, line numbers and faults. json_tokens.c finds the tokens. */
#include "formats/json/json_tokens.h"

void json_reader_init(struct json_reader *r) {
    *r = (struct json_reader){.line = 1, .expect = EXPECT_VALUE, .piece = "", .fault = ""};
    r->at = r->end = r->piece;
}

void json_reader_reset(struct json_reader *r) {
    struct buf scratch = r->scratch;
    json_reader_init(r);
    buf_clear(&scratch);
    r->scratch = scratch;
}

void json_reader_done(struct json_reader *r) {
    buf_done(&r->scratch);
}

void json_reader_feed(struct json_reader *r, const char *bytes, size_t n) {
    r->before += r->end - r->piece;
    r->piece = r->at = bytes;
    r->end = bytes + n;
    r->slack = 0;
}

void json_reader_close(struct json_reader *r) {
    r->closed = true;
}

void json_reader_place(const struct json_reader *r, int64_t *line, int64_t *column) {
    *line = r->line;
    *column = json_reader_column(r);
}

bool json_reader_problem(const struct json_reader *r, struct problem *problem) {
    problem_done(problem); /* faults of cells are dropped, because the body is not JSON */
    int64_t line = 0, column = 0;
    if (r->fault_code == JSON_READER_NO_MEMORY) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "%s", r->fault);
    }
    json_reader_place(r, &line, &column);
    return problem_add_line(problem, PROBLEM_BAD_JSON, line, column, "%s", r->fault);
}

enum json_token_kind json_reader_fault(struct json_reader *r, struct json_token *token,
                                       int64_t offset, const char *text) {
    r->faulty = true;
    r->fault_code = JSON_READER_SYNTAX;
    r->fault = text;
    r->token_at = offset;
    token->kind = JSON_TOKEN_FAULT;
    return JSON_TOKEN_FAULT;
}

enum json_token_kind json_reader_fault_of(struct json_reader *r, struct json_token *token,
                                          enum json_reader_code code) {
    static const char *const texts[] = {[JSON_READER_SYNTAX] = "not JSON",
                                        [JSON_READER_NO_MEMORY] = "no memory left",
                                        [JSON_READER_EMPTY] = "the body is empty",
                                        [JSON_READER_ENDS_IN_CONTAINER] =
                                            "the body ends within an array or object",
                                        [JSON_READER_ENDS_IN_STRING] =
                                            "the body ends within a string"};
    const enum json_token_kind kind = json_reader_fault(r, token, r->token_at, texts[code]);
    r->fault_code = code;
    return kind;
}

static const char *const wanted[] = {
    [EXPECT_VALUE] = "a value is expected here",
    [EXPECT_VALUE_OR_END] = "a value or ] is expected here",
    [EXPECT_KEY] = "a key in quotes is expected here",
    [EXPECT_KEY_OR_END] = "a key in quotes or } is expected here",
    [EXPECT_COLON] = "a colon is expected here",
    [EXPECT_COMMA_OR_END] = "a comma or the end of the array or object is expected here",
    [EXPECT_NOTHING] = "nothing may follow the value"};

enum json_token_kind json_reader_unexpected(struct json_reader *r, struct json_token *token) {
    if (*r->at == '\0') {
        return json_reader_fault(r, token, r->token_at, "NUL byte");
    }
    return json_reader_fault(r, token, r->token_at, wanted[r->expect]);
}

bool json_reader_next_line(struct json_reader *r) {
    if (r->faulty && r->fault_code != JSON_READER_SYNTAX) {
        return false;
    }
    r->faulty = false;
    r->fault = "";
    r->partial = PARTIAL_NONE;
    r->depth = 0;
    r->expect = EXPECT_VALUE;
    r->skipping = true;
    return true;
}
