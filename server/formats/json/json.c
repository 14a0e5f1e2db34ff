/* The incremental JSON reader: pieces in, places and faults. What becomes of the bytes is in
 * json_tokens.c. */
#include "formats/json/json_reader.h"

void wire_json_init(struct wire_json *r) {
    *r = (struct wire_json){.line = 1, .expect = EXPECT_VALUE, .piece = "", .fault = ""};
    r->at = r->end = r->piece;
}

void wire_json_reset(struct wire_json *r) {
    struct buf scratch = r->scratch;
    wire_json_init(r);
    buf_clear(&scratch);
    r->scratch = scratch;
}

void wire_json_done(struct wire_json *r) {
    buf_done(&r->scratch);
}

void wire_json_feed(struct wire_json *r, const char *bytes, size_t n) {
    r->before += r->end - r->piece;
    r->piece = r->at = bytes;
    r->end = bytes + n;
    r->slack = 0;
}

void wire_json_close(struct wire_json *r) {
    r->closed = true;
}

void wire_json_place(const struct wire_json *r, int64_t *line, int64_t *column) {
    *line = r->line;
    *column = r->token_at - r->line_start + 1;
}

bool wire_json_problem(const struct wire_json *r, struct problem *problem) {
    problem_done(problem); /* whatever was found before: what is no JSON has no cells */
    int64_t line = 0, column = 0;
    if (r->fault_code == WIRE_JSON_NO_MEMORY) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "%s", r->fault);
    }
    wire_json_place(r, &line, &column);
    return problem_add_line(problem, PROBLEM_BAD_JSON, line, column, "%s", r->fault);
}

enum wire_json_kind wire_json_fault(struct wire_json *r, struct wire_json_token *token,
                                    int64_t offset, const char *text) {
    r->faulty = true;
    r->fault_code = WIRE_JSON_SYNTAX;
    r->fault = text;
    r->token_at = offset;
    token->kind = WIRE_JSON_FAULT;
    return WIRE_JSON_FAULT;
}

enum wire_json_kind wire_json_fault_of(struct wire_json *r, struct wire_json_token *token,
                                       enum wire_json_fault_code code) {
    static const char *const texts[] = {[WIRE_JSON_SYNTAX] = "not JSON",
                                        [WIRE_JSON_NO_MEMORY] = "no memory left",
                                        [WIRE_JSON_EMPTY] = "the body is empty",
                                        [WIRE_JSON_ENDS_IN_CONTAINER] =
                                            "the body ends within an array or object",
                                        [WIRE_JSON_ENDS_IN_STRING] =
                                            "the body ends within a string"};
    const enum wire_json_kind kind = wire_json_fault(r, token, r->token_at, texts[code]);
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

enum wire_json_kind wire_json_unexpected(struct wire_json *r, struct wire_json_token *token) {
    if (*r->at == '\0') {
        return wire_json_fault(r, token, r->token_at, "NUL byte");
    }
    return wire_json_fault(r, token, r->token_at, wanted[r->expect]);
}

bool wire_json_next_line(struct wire_json *r) {
    if (r->faulty && r->fault_code != WIRE_JSON_SYNTAX) {
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
