/* Parses the input as a token file. Of an accepted file, each token is found by its name, has scopes,
 * and has patterns that match themselves without their stars. */
#include "auth/tokens.h"
#include "fuzz/support.h"

static void check_token(const struct tokens *tokens, const struct auth_token *t) {
    CHECK(tokens_named(tokens, t->name) == t);
    CHECK(t->scopes != 0 && auth_token_permits(t, 0));
    CHECK((t->only == NULL) == (t->only_json == NULL));
    for (const char *at = t->only; at != NULL; at++) {
        char name[IDS_NAME_SIZE];
        size_t n = 0;
        for (; *at != '\0' && *at != ','; at++) {
            if (*at != '*') {
                name[n++] = *at;
            }
        }
        name[n] = '\0';
        CHECK(auth_token_matches(t, name));
        if (*at == '\0') {
            break;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct problem problem = {0};
    struct tokens *tokens = NULL;
    char *text = fuzz_copy(data, size);
    if (tokens_parse("tokens", text, size, &tokens, &problem)) {
        CHECK(problem.type == PROBLEM_NONE);
        for (size_t i = 0; i < tokens_count(tokens); i++) {
            check_token(tokens, tokens_at(tokens, i));
        }
        CHECK(tokens_find(tokens, text, size) == NULL);
    } else {
        CHECK(problem.detail != NULL);
    }
    tokens_unref(tokens);
    problem_done(&problem);
    free(text);
    return 0;
}
