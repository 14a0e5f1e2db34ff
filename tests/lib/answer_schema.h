/* Compares answers with the OpenAPI document. */
#ifndef TESTS_LIB_ANSWER_SCHEMA_H
#define TESTS_LIB_ANSWER_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* An answer to the request `method target`; the target does not include the base path. */
struct answer_seen {
    const char *method;
    const char *target;
    long status;
    const char *type;   /* Content-Type; NULL: the answer has none */
    const json_t *json; /* NULL: the body is not a JSON document */
    const char *body;   /* [size] used only if the body is NDJSON */
    size_t size;
};

/* Whether the document describes the answer: its status, its media type and, for JSON and NDJSON,
 * its schema. An object must not have members that its schema does not describe, unless
 * additionalProperties permits them. If false, `fault` is the reason. */
bool answer_conforms(const struct answer_seen *answer, char *fault, size_t size);
/* Checks an answer of an API test with answer_conforms. If an answer did not conform, the test
 * program fails when it ends. Any thread may call it. */
void answer_check(const struct answer_seen *answer);

/* Returns the schema that a "$ref" such as "#/a/b" refers to; the schema itself if it has no
 * "$ref". tests/unit/api/test_openapi.c checks that all references exist. */
const json_t *answer_schema_resolve(const json_t *document, const json_t *schema);

#endif
