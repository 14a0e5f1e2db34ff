/* Parses the input as a control message, and compares the tree with that of Jansson. The text of an
 * accepted document, without some members, is a document again; and it can be read as the stored
 * columns of a dataset. */
#include "base/json/json.h"
#include "base/json/json_brief.h"
#include "fuzz/support.h"

static void check_same(const char *body, size_t size, const json_t *ours, bool nul) {
    json_error_t error;
    json_t *theirs =
        json_loadb(body, size, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES,
                   &error);
    if (ours != NULL) {
        CHECK(theirs != NULL && json_equal(ours, theirs));
    } else if (theirs != NULL && !nul) {
        char *text = json_dumps(theirs, JSON_ENCODE_ANY | JSON_COMPACT);
        size_t depth = 0, deepest = 0;
        bool quoted = false;
        for (const char *c = text; c != NULL && *c != '\0'; c++) { /* Jansson goes deeper */
            if (quoted && *c == '\\') {
                c++;
            } else if (*c == '"') {
                quoted = !quoted;
            } else if (!quoted) {
                depth += *c == '[' || *c == '{';
                depth -= *c == ']' || *c == '}';
                deepest = depth > deepest ? depth : deepest;
            }
        }
        free(text);
        CHECK(deepest > 64);
    }
    json_decref(theirs);
}

static void check_brief(const json_t *tree) {
    static const char *const names[] = {"a", "metrics", "folds[", "details{", NULL},
                             *const picked[] = {"a", "id", NULL};
    char *text = json_dumps(tree, JSON_COMPACT | JSON_ENCODE_ANY);
    CHECK(text != NULL);
    struct buf brief = {0}, pick = {0};
    struct problem problem = {0};
    json_brief(&brief, text, names);
    json_t *again = json_parse(brief.data, brief.size, &problem);
    CHECK(again != NULL || tree == NULL);
    json_decref(again);
    if (json_is_object(tree)) {
        json_pick(&pick, text, picked);
        again = json_parse(pick.data, pick.size, &problem);
        CHECK(json_is_object(again) && json_object_size(again) <= 2);
        CHECK((json_object_get(again, "id") != NULL) == (json_object_get(tree, "id") != NULL));
        json_decref(again);
    }
    problem_done(&problem);
    buf_done(&brief);
    buf_done(&pick);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *body = fuzz_copy(data, size), *text = calloc(1, size + 1);
    struct problem problem = {0};
    struct schema schema = {0};
    size_t used = 0;
    CHECK(text != NULL);
    memcpy(text, body, size);
    json_t *tree = json_parse(body, size, &problem);
    CHECK(tree != NULL || problem.type == PROBLEM_BAD_JSON);
    const size_t mark = json_mark_size(body, size);
    check_same(body + mark, size - mark, tree, memchr(body, '\0', size) != NULL);
    if (tree != NULL) {
        check_brief(tree);
    }
    problem_done(&problem);
    problem = (struct problem){0};
    json_t *first = json_parse_first(body, size, &used, &problem);
    CHECK(tree == NULL || first == NULL || (used <= size && json_equal(tree, first)));
    CHECK(tree == NULL || first != NULL);
    json_decref(first);
    json_decref(tree);
    problem_done(&problem);
    problem = (struct problem){0};
    if (schema_parse(text, &schema, &problem)) {
        schema_done(&schema);
    } else {
        CHECK(problem.type == PROBLEM_INTERNAL);
    }
    problem_done(&problem);
    free(body);
    free(text);
    return 0;
}
