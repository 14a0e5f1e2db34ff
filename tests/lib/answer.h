/* Checks of answers. What differs is printed with the whole answer. */
#ifndef TESTS_LIB_ANSWER_H
#define TESTS_LIB_ANSWER_H

#include "lib/client.h"
#include "lib/memory.h"

/* The value of a header; NULL: the answer does not have it. */
const char *header_of(const struct response *r, const char *name);
/* The value at a pointer of RFC 6901; NULL: there is none. In an array -1 is the last element, -2 the
 * one before. */
json_t *json_find(const json_t *root, const char *pointer);

/* The next three return r, and fail the test on a difference. */
#define status_check(r, status_) status_check_at(r, status_, __FILE__, __LINE__)
/* The answer is a problem with this status and all members that a problem has. type:
 * "unknown-dataset"; NULL: any. */
#define problem_check(r, status_, type) problem_check_at(r, status_, type, __FILE__, __LINE__)
/* One of the problem's errors has this pointer, or this place "line 3". */
#define fault_check(r, place) fault_check_at(r, place, "", __FILE__, __LINE__)
/* … and a detail that contains the words. */
#define fault_contains(r, place, words) fault_check_at(r, place, words, __FILE__, __LINE__)

/* The value at a pointer in the answer, of any type, a string, a number, an integer; the size of
 * the array there. Fail the test if there is none. */
#define value_at(r, pointer) value_at_at(r, pointer, __FILE__, __LINE__)
#define string_at(r, pointer) string_at_at(r, pointer, __FILE__, __LINE__)
#define real_at(r, pointer) real_at_at(r, pointer, __FILE__, __LINE__)
#define whole_at(r, pointer) ((int64_t)real_at(r, pointer))
#define count_at(r, pointer) json_array_size(value_at(r, pointer))
#define has(r, pointer) (json_find((r)->json, pointer) != NULL)
/* A number, a string at a pointer in a JSON value. Fail the test if there is none. */
#define real_in(value, pointer) real_in_at(value, pointer, __FILE__, __LINE__)
#define string_in(value, pointer) string_in_at(value, pointer, __FILE__, __LINE__)
/* |a - b| <= relative * |b|; |a - b| <= tolerance. */
#define assert_close(a, b, relative) close_check(a, b, relative, __FILE__, __LINE__)
#define assert_near(a, b, tolerance) near_check(a, b, tolerance, __FILE__, __LINE__)
#define assert_json(r, pointer, expected)                                                          \
    json_check(value_at(r, pointer), quoted(expected), __FILE__, __LINE__)

/* Prints the message and the answer, and fails the test at this line. */
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

/* The value of a line of /metrics, named with its labels; NAN: there is no such line. */
double metric_at(const char *series);
/* Waits at most half a minute until the value is 0: the daemon releases what a call has reserved
 * after it has sent the answer. */
void metric_falls_to_zero(const char *series);

#endif
