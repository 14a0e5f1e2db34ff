/* Checks of answers. A failed check prints the difference and the whole answer. */
#ifndef TESTS_LIB_ANSWER_H
#define TESTS_LIB_ANSWER_H

#include "lib/client.h"
#include "lib/memory.h"

/* The value of a header; NULL: the answer does not have this header. */
const char *header_of(const struct response *r, const char *name);
/* The value at a JSON pointer (RFC 6901); NULL: there is none. In an array, -1 is the last element
 * and -2 the element before it. */
json_t *json_find(const json_t *root, const char *pointer);

/* The next three macros and fault_contains return r, and fail the test on a difference. */
#define status_check(r, status_) status_check_at(r, status_, __FILE__, __LINE__)
/* The answer is a problem document with this status and all members that a problem must have. type:
 * such as "unknown-dataset"; NULL: any type. */
#define problem_check(r, status_, type) problem_check_at(r, status_, type, __FILE__, __LINE__)
/* One of the problem's errors has this JSON pointer, or this place, such as "line 3". */
#define fault_check(r, place) fault_check_at(r, place, "", __FILE__, __LINE__)
/* As fault_check; the error's detail must also contain the words. */
#define fault_contains(r, place, words) fault_check_at(r, place, words, __FILE__, __LINE__)

/* The value at a pointer in the answer: of any type, as a string, as a number, as an integer; and
 * the length of the array at a pointer. They fail the test if there is no such value. */
#define value_at(r, pointer) value_at_at(r, pointer, __FILE__, __LINE__)
#define string_at(r, pointer) string_at_at(r, pointer, __FILE__, __LINE__)
#define real_at(r, pointer) real_at_at(r, pointer, __FILE__, __LINE__)
#define whole_at(r, pointer) ((int64_t)real_at(r, pointer))
#define count_at(r, pointer) json_array_size(value_at(r, pointer))
#define has(r, pointer) (json_find((r)->json, pointer) != NULL)
/* The number or the string at a pointer in a JSON value. They fail the test if there is no such
 * value. */
#define real_in(value, pointer) real_in_at(value, pointer, __FILE__, __LINE__)
#define string_in(value, pointer) string_in_at(value, pointer, __FILE__, __LINE__)
/* assert_close: |a - b| <= relative * |b|; assert_near: |a - b| <= tolerance. */
#define assert_close(a, b, relative) close_check(a, b, relative, __FILE__, __LINE__)
#define assert_near(a, b, tolerance) near_check(a, b, tolerance, __FILE__, __LINE__)
#define assert_json(r, pointer, expected)                                                          \
    json_check(value_at(r, pointer), quoted(expected), __FILE__, __LINE__)

/* Prints the message and the answer, and fails the test with this file and line. */
void answer_fail(const struct response *r, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
const struct response *status_check_at(const struct response *r, int status, const char *file,
                                       int line);
const struct response *problem_check_at(const struct response *r, int status, const char *type,
                                        const char *file, int line);
const struct response *fault_check_at(const struct response *r, const char *place,
                                      const char *words, const char *file, int line);
json_t *value_at_at(const struct response *r, const char *pointer, const char *file, int line);
const char *string_at_at(const struct response *r, const char *pointer, const char *file, int line);
double real_at_at(const struct response *r, const char *pointer, const char *file, int line);
double real_in_at(const json_t *value, const char *pointer, const char *file, int line);
const char *string_in_at(const json_t *value, const char *pointer, const char *file, int line);
void near_check(double a, double b, double tolerance, const char *file, int line);
void close_check(double a, double b, double relative, const char *file, int line);
void json_check(const json_t *value, const char *expected, const char *file, int line);

/* The value of the line of /metrics with this name and labels; NAN: there is no such line. */
double metric_at(const char *series);
/* Waits at most 30 seconds until the value is 0. (The daemon releases the memory of a call only
 * after it has sent the answer.) */
void metric_falls_to_zero(const char *series);

#endif
