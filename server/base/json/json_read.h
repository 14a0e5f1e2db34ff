/* Typed reading of an object's members. Every fault is added to the problem (PROBLEM_INVALID with
 * the member's pointer) and reading goes on, so that a client learns all of them at once: read
 * everything, then check problem.type once. One thread.
 *
 * All: `parent` is the pointer of `object` ("" for the root). True: the member is there and right,
 * *out is set. False: absent (a fault only if `required`) or wrong (a fault); *out is untouched, so
 * a default put there before stays. null is absence where the member is optional, and a value of
 * the wrong type where it is required. */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include "base/arena.h"
#include "base/json/json.h"
#include "base/problem.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define JSON_READ_EXACT                                                                            \
    INT64_C(9007199254740991) /* 2^53 - 1: the last integer that no other rounds to */

/* Is it an object? Otherwise a fault at `pointer`. For the root of a document. */
bool json_read_root(const json_t *value, const char *pointer, struct problem *problem);

/* *out belongs to the JSON tree. */
bool json_read_string(const json_t *object, const char *key, bool required, const char *parent,
                      const char **out, struct problem *problem);
bool json_read_number(const json_t *object, const char *key, bool required, const char *parent,
                      double *out, struct problem *problem);
/* Integral and minimum <= value <= maximum; a number beyond ±JSON_READ_EXACT is refused whatever
 * the range: 2^53 may have been 2^53 + 1. */
bool json_read_int(const json_t *object, const char *key, bool required, const char *parent,
                   int64_t minimum, int64_t maximum, int64_t *out, struct problem *problem);
bool json_read_bool(const json_t *object, const char *key, bool required, const char *parent,
                    bool *out, struct problem *problem);
/* *out is borrowed from the tree. */
bool json_read_object(const json_t *object, const char *key, bool required, const char *parent,
                      const json_t **out, struct problem *problem);
bool json_read_array(const json_t *object, const char *key, bool required, const char *parent,
                     const json_t **out, struct problem *problem);
/* An array of at most `maximum` strings, copied into the arena (PROBLEM_INTERNAL when it has no
 * room). Each wrong item is a fault of its own. */
bool json_read_strings(const json_t *object, const char *key, bool required, const char *parent,
                       size_t maximum, struct arena *arena, const char ***out, size_t *out_n,
                       struct problem *problem);
/* An array of at most `most` integers from minimum to maximum (within ±JSON_READ_EXACT), in the
 * arena. Each wrong item is a fault of its own. */
bool json_read_ints(const json_t *object, const char *key, bool required, const char *parent,
                    int64_t minimum, int64_t maximum, size_t most, struct arena *arena,
                    int64_t **out, size_t *out_n, struct problem *problem);
/* An array of at most `most` finite numbers, in the arena. Each wrong item is a fault of its own.
 */
bool json_read_numbers(const json_t *object, const char *key, bool required, const char *parent,
                       size_t most, struct arena *arena, double **out, size_t *out_n,
                       struct problem *problem);
/* An array of at most `most` rows, each an array of `width` finite numbers (0: as many as the
 * first, at least one), one after the other in the arena. *out_n: how many rows. Each wrong row or
 * number is a fault of its own. */
bool json_read_rows(const json_t *object, const char *key, bool required, const char *parent,
                    size_t width, size_t most, struct arena *arena, double **out, size_t *out_n,
                    struct problem *problem);
/* One of the choices (NULL-terminated); *out is its index. */
bool json_read_choice(const json_t *object, const char *key, bool required, const char *parent,
                      const char *const *choices, size_t *out, struct problem *problem);
/* Any type; NULL when absent (then a fault if required). */
const json_t *json_read_any(const json_t *object, const char *key, bool required,
                            const char *parent, struct problem *problem);

/* Every member that is none of `allowed` (NULL-terminated) is a fault that lists what is known.
 * False if there was one. */
bool json_refuse_unknown(const json_t *object, const char *const *allowed, const char *parent,
                         struct problem *problem);

/* Adds a fault at member `key` of `parent`, or at `parent` itself when key is NULL. Returns false.
 */
bool json_fault(struct problem *problem, const char *parent, const char *key, const char *format,
                ...) __attribute__((format(printf, 4, 5)));
/* Adds the fault "must be `rule`, got …" with a description of the value. Returns false. */
bool json_refuse_value(struct problem *problem, const char *parent, const char *key,
                       const char *rule, const json_t *value);
/* A value in the user's words, for messages: "number 5", "string \"abc\"", "boolean true", "null",
 * "array", "object". Cut where long. Appends. */
void json_describe(struct buf *out, const json_t *value);
/* Pointer of item `index` of the array at `parent`. */
void json_pointer_index(struct buf *out, const char *parent, size_t index);

#endif
