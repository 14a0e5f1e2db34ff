/* Status codes and the error a caller can show to a person.
 *
 * Every fallible function of the library returns a dn_status and takes a `dn_error *` last. `err` may be NULL. On failure outputs are
 * untouched. The first error wins: a dn_error whose code is already set is not overwritten. Thread safety: a dn_error belongs to one thread. */
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

/* enum, name, what it means */
#define DN_STATUS_LIST(X)                                                                          \
    X(DN_OK, "ok", "success")                                                                      \
    X(DN_ERR_ARGUMENT, "argument", "a parameter or an argument breaks a documented rule")          \
    X(DN_ERR_DATA, "data",                                                                         \
      "the data forbid what was asked (one class, no usable row, a column of the wrong type)")     \
    X(DN_ERR_NUMERIC, "numeric",                                                                   \
      "arithmetic left the finite numbers, or a matrix that must be definite is not")              \
    X(DN_ERR_MEMORY, "memory", "the system has no memory left")                                    \
    X(DN_ERR_BUDGET, "budget", "the work needs more memory than its budget allows")                \
    X(DN_ERR_STOPPED, "stopped", "the caller asked to stop")                                       \
    X(DN_ERR_TIME, "time", "the time limit ran out")                                               \
    X(DN_ERR_CORRUPT, "corrupt",                                                                   \
      "bytes that are not what they claim to be: damaged, truncated or foreign")                   \
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
    dn_status code; /* DN_OK: no error noted yet */
    char message
        [DN_MESSAGE_SIZE]; /* lower case, no period; names the thing, gives the value and the rule; UTF-8 */
    int64_t
        row; /* the row concerned (of a parameter that is a list: its item), counted from 0, or -1 */
    char field[DN_FIELD_SIZE]; /* the parameter or column concerned, or "" */
} dn_error;

/* Makes *err empty (code DN_OK, row -1). NULL is allowed. */
void dn_error_clear(dn_error *err);

/* Notes an error unless err is NULL or one is already noted. A message too long is cut at a UTF-8 border. Returns `code`, so that
 * `return dn_error_set(err, DN_ERR_DATA, "…")` reads well. */
dn_status dn_error_set(dn_error *err, dn_status code, const char *format, ...) DN_PRINTF(3, 4);

/* Adds the field or the row that the noted error concerns. */
void dn_error_set_field(dn_error *err, const char *field);
void dn_error_set_row(dn_error *err, int64_t row);

/* The code's short name ("argument"), and what it means. Static strings. */
const char *dn_status_name(dn_status code);
const char *dn_status_meaning(dn_status code);

DN_END_DECLS

#endif
