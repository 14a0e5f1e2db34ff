/* Status codes, and errors with a message for people.
 *
 * Every fallible function of the library returns a dn_status and has a last parameter `dn_error
 * *`, which may be NULL. On failure outputs are unchanged. A dn_error that already has a code is
 * not overwritten, so that it keeps the first error. A dn_error may be used by one thread only. */
#ifndef DISCERN_STATUS_H
#define DISCERN_STATUS_H

#include <discern/api.h>
#include <stdint.h>

DN_BEGIN_DECLS

#if defined(__GNUC__)
#define DN_MUST_USE __attribute__((warn_unused_result))
#define DN_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define DN_MUST_USE
#define DN_PRINTF(fmt, args)
#endif

/* enumerator, name, meaning */
#define DN_STATUS_LIST(X)                                                                          \
    X(DN_OK, "ok", "success")                                                                      \
    X(DN_ERR_ARGUMENT, "argument", "a parameter or an argument breaks a documented rule")          \
    X(DN_ERR_DATA, "data",                                                                         \
      "the data cannot be used (one class, no usable row, a column of the wrong type)")            \
    X(DN_ERR_NUMERIC, "numeric",                                                                   \
      "a result is not finite, or a matrix that must be definite is not")                          \
    X(DN_ERR_MEMORY, "memory", "the system has no memory left")                                    \
    X(DN_ERR_BUDGET, "budget", "the work needs more memory than its budget allows")                \
    X(DN_ERR_STOPPED, "stopped", "the caller asked to stop")                                       \
    X(DN_ERR_TIME, "time", "the time limit ran out")                                               \
    X(DN_ERR_CORRUPT, "corrupt", "bytes are damaged, truncated or of another format")              \
    X(DN_ERR_VERSION, "version", "bytes written by a newer version of the library")                \
    X(DN_ERR_SOURCE, "source", "the caller's data source failed to deliver")

typedef enum dn_status {
#define X(code, name, meaning) code,
    DN_STATUS_LIST(X)
#undef X
} dn_status;

#define DN_MESSAGE_SIZE 512
#define DN_FIELD_SIZE 128

typedef struct dn_error {
    dn_status code; /* DN_OK: no error is set */

    /* UTF-8, lower case, without a final period: what is wrong, where, the value and the rule */
    char message[DN_MESSAGE_SIZE];
    int64_t row;               /* index, from 0, of the invalid row or list element; -1: none */
    char field[DN_FIELD_SIZE]; /* name of the parameter or column with the error; "": none */
} dn_error;

/* Clears *err: code DN_OK, row -1, empty strings. NULL is allowed. */
void dn_error_clear(dn_error *err);

/* Sets an error, unless err is NULL or already has an error. A message that is too long is
 * truncated between two UTF-8 characters. Returns `code`. */
dn_status dn_error_set(dn_error *err, dn_status code, const char *format, ...) DN_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* the static analyser cannot see that the function returns `code` */
#define dn_error_set(err, code, ...) (dn_error_set(err, code, __VA_ARGS__), (code))
#endif

/* Sets the field or the row of an error. No effect if err is NULL or has no error. */
void dn_error_set_field(dn_error *err, const char *field);
void dn_error_set_row(dn_error *err, int64_t row);

/* Return the short name of a code ("argument"), and its meaning. Static strings. */
const char *dn_status_name(dn_status code);
const char *dn_status_meaning(dn_status code);

DN_END_DECLS

#endif
