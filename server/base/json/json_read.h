/* Typed reading of an object's members. Every fault is added to the problem (PROBLEM_INVALID with
 * the member's pointer) and reading continues, so that a client gets all faults at once: read all
 * members, then check problem.type once. Used by one thread at a time.
 *
 * All functions: `parent` is the JSON pointer of `object` ("" for the root). They return true if
 * the member exists and is valid, and set *out. They return false if it is absent (a fault only if
 * `required`) or invalid (a fault); *out is then unchanged, so the caller can set a default before.
 * If a member is optional, null means that it is absent; if it is required, null is a value of the
 * wrong type. */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include "base/json/json.h"
#include "base/memory/arena.h"
#include "base/problem.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* 2^53 - 1: doubles represent this and all smaller integers >= 0 exactly and uniquely */
#define JSON_READ_EXACT INT64_C(9007199254740991)

/* Whether `value` is an object; otherwise adds a fault at `pointer`. For the root of a document. */
bool json_read_root(const json_t *value, const char *pointer, struct problem *problem);

/* Reads a string, which belongs to the JSON tree. */
bool json_read_string(const json_t *object, const char *key, bool required, const char *parent,
                      const char **out, struct problem *problem);
bool json_read_number(const json_t *object, const char *key, bool required, const char *parent,
                      double *out, struct problem *problem);
/* Reads an integer, minimum <= value <= maximum. Numbers beyond ±JSON_READ_EXACT are refused in
 * any case: 2^53 may have been written as 2^53 + 1. */
bool json_read_int(const json_t *object, const char *key, bool required, const char *parent,
                   int64_t minimum, int64_t maximum, int64_t *out, struct problem *problem);
bool json_read_bool(const json_t *object, const char *key, bool required, const char *parent,
                    bool *out, struct problem *problem);
/* Read an object or an array, which belongs to the JSON tree. */
bool json_read_object(const json_t *object, const char *key, bool required, const char *parent,
                      const json_t **out, struct problem *problem);
bool json_read_array(const json_t *object, const char *key, bool required, const char *parent,
                     const json_t **out, struct problem *problem);
/* Reads an array of at most `maximum` strings, copied into the arena (PROBLEM_INTERNAL if it has no
 * room). Each invalid item is a separate fault. */
bool json_read_strings(const json_t *object, const char *key, bool required, const char *parent,
                       size_t maximum, struct arena *arena, const char ***out, size_t *out_n,
                       struct problem *problem);
/* Reads an array of at most `most` integers from minimum to maximum (within ±JSON_READ_EXACT) into
 * the arena. Each invalid item is a separate fault. */
bool json_read_ints(const json_t *object, const char *key, bool required, const char *parent,
                    int64_t minimum, int64_t maximum, size_t most, struct arena *arena,
                    int64_t **out, size_t *out_n, struct problem *problem);
/* Reads an array of at most `most` finite numbers into the arena. Each invalid item is a separate
 * fault. */
bool json_read_numbers(const json_t *object, const char *key, bool required, const char *parent,
                       size_t most, struct arena *arena, double **out, size_t *out_n,
                       struct problem *problem);
/* Reads an array of at most `most` rows into the arena, one after the other. Each row is an array
 * of `width` finite numbers (width 0: as many as in the first row, at least one). *out_n: number of
 * rows. Each invalid row or number is a separate fault. */
bool json_read_rows(const json_t *object, const char *key, bool required, const char *parent,
                    size_t width, size_t most, struct arena *arena, double **out, size_t *out_n,
                    struct problem *problem);
/* Reads one of the choices (NULL-terminated list); *out is its index. */
bool json_read_choice(const json_t *object, const char *key, bool required, const char *parent,
                      const char *const *choices, size_t *out, struct problem *problem);
/* Returns a member of any type; NULL if it is absent (a fault if `required`). */
const json_t *json_read_any(const json_t *object, const char *key, bool required,
                            const char *parent, struct problem *problem);

/* Adds a fault for each member that is not in `allowed` (NULL-terminated list); the message lists
 * the allowed members. Returns false if there was such a member. */
bool json_refuse_unknown(const json_t *object, const char *const *allowed, const char *parent,
                         struct problem *problem);

/* Adds a fault at member `key` of `parent`; key NULL: at `parent` itself. Returns false. */
bool json_fault(struct problem *problem, const char *parent, const char *key, const char *format,
                ...) __attribute__((format(printf, 4, 5)));
/* Adds the fault "must be `rule`, got …" with a description of the value. Returns false. */
bool json_refuse_value(struct problem *problem, const char *parent, const char *key,
                       const char *rule, const json_t *value);
/* Appends a description of a value for messages: "number 5", "string \"abc\"", "boolean true",
 * "null", "array", "object". Long strings are truncated. */
void json_describe(struct buf *out, const json_t *value);
/* Appends the JSON pointer of item `index` of the array at `parent`. */
void json_pointer_index(struct buf *out, const char *parent, size_t index);

#endif
