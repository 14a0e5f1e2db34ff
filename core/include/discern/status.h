/* Status codes, and errors with a message for people.
 *
 * Every fallible function of the library returns a dn_status and takes a `dn_error *` last, which
 * may be NULL. On failure outputs are untouched. The first error wins: a dn_error that already has
 * a code is not overwritten. A dn_error belongs to one thread. */
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
    dn_status code; /* DN_OK: no error is recorded */

    /* UTF-8, lower case, without a final period: what is wrong, where, the value and the rule. */
    char message[DN_MESSAGE_SIZE];
    int64_t row;               /* the row concerned, or the item of a list, from 0; -1: none */
    char field[DN_FIELD_SIZE]; /* the parameter or column concerned; "": none */
} dn_error;

/* Clears *err: code DN_OK, row -1, no texts. NULL is allowed. */
void dn_error_clear(dn_error *err);

/* Records an error, unless err is NULL or has an error already. A message that is too long is cut
 * between two UTF-8 characters. Returns `code`. */
dn_status dn_error_set(dn_error *err, dn_status code, const char *format, ...) DN_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* the analyser does not know the value that another file returns */
#define dn_error_set(err, code, ...) (dn_error_set(err, code, __VA_ARGS__), (code))
#endif

/* Sets the field or the row of the recorded error. No effect if err is NULL or has no error. */
void dn_error_set_field(dn_error *err, const char *field);
void dn_error_set_row(dn_error *err, int64_t row);

/* The short name of a code ("argument"), and its meaning. Static strings. */
const char *dn_status_name(dn_status code);
const char *dn_status_meaning(dn_status code);

DN_END_DECLS

#endif
