/* Compares answers with the OpenAPI document. */
#ifndef TESTS_LIB_ANSWER_SCHEMA_H
#define TESTS_LIB_ANSWER_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* An answer to `method target`; the target has no base path. */
struct answer_seen {
    const char *method;
    const char *target;
    long status;
    const char *type;   /* Content-Type; NULL: none */
    const json_t *json; /* NULL: the body is no JSON document */
    const char *body;   /* [size] read if it is NDJSON */
    size_t size;
};

/* Whether the document describes the answer: status, media type and, of JSON and NDJSON, the schema. An
 * object must not have members that its schema does not describe, unless additionalProperties
 * permits them. false: `fault` has the reason. */
bool answer_conforms(const struct answer_seen *answer, char *fault, size_t size);
/* The same for each answer of an API test. The program fails at its end if an answer did not
 * conform. Any thread. */
void answer_check(const struct answer_seen *answer);

#endif
