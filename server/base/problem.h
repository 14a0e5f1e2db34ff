/* Problems: the error type of all modules. A problem is set where the fault is found, and sent to
 * the client (RFC 9457) or stored as the `error` of a failed job.
 *
 * The list of types is closed and documented: GET /problems/{name} explains each type. */
#ifndef BASE_PROBLEM_H
#define BASE_PROBLEM_H

#include "base/json/json_write.h"
#include "base/memory/buf.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

/* enum constant, name in the type URI, HTTP status, title, meaning and what the client can do */
#define PROBLEM_LIST(X)                                                                            \
    X(PROBLEM_BAD_REQUEST, "bad-request", 400, "Bad request",                                      \
      "The request cannot be understood: its path, query, framing or syntax is malformed. The "    \
      "detail says where.")                                                                        \
    X(PROBLEM_BAD_JSON, "bad-json", 400, "Malformed JSON",                                         \
      "The body is not valid JSON, or it is nested too deeply. The detail names line and column.") \
    X(PROBLEM_BAD_FRAMING, "bad-framing", 400, "Bad framing",                                      \
      "The request's length or header framing is ambiguous (more than one Content-Length or "      \
      "Host, Content-Length with Transfer-Encoding…). The connection is closed.")                  \
    X(PROBLEM_UNAUTHORIZED, "unauthorized", 401, "Unauthorized",                                   \
      "The request needs a token that is known and has not expired, as Authorization: Bearer "     \
      "SECRET. WWW-Authenticate says what is wrong.")                                              \
    X(PROBLEM_FORBIDDEN, "forbidden", 403, "Forbidden",                                            \
      "The token does not permit this call: it lacks the scope, or it is for other datasets and "  \
      "models.")                                                                                   \
    X(PROBLEM_CROSS_ORIGIN, "cross-origin", 403, "Cross-origin request refused",                   \
      "A page of another origin sent this request. Start the daemon with --allow-origin to allow " \
      "it.")                                                                                       \
    X(PROBLEM_NOT_FOUND, "not-found", 404, "Not found",                                            \
      "There is no such route. GET /openapi.json lists them all.")                                 \
    X(PROBLEM_UNKNOWN_DATASET, "unknown-dataset", 404, "Unknown dataset",                          \
      "There is no dataset of that name, or no such version of it.")                               \
    X(PROBLEM_UNKNOWN_MODEL, "unknown-model", 404, "Unknown model",                                \
      "There is no model of that name, or no such version of it.")                                 \
    X(PROBLEM_UNKNOWN_JOB, "unknown-job", 404, "Unknown job", "There is no job of that id.")       \
    X(PROBLEM_UNKNOWN_ALGORITHM, "unknown-algorithm", 404, "Unknown algorithm",                    \
      "GET /v1/algorithms lists the catalogue.")                                                   \
    X(PROBLEM_UNKNOWN_PROBLEM, "unknown-problem", 404, "Unknown problem type",                     \
      "No problem type of that name exists.")                                                      \
    X(PROBLEM_METHOD_NOT_ALLOWED, "method-not-allowed", 405, "Method not allowed",                 \
      "The path exists, but not with this method; Allow lists its methods.")                       \
    X(PROBLEM_NOT_ACCEPTABLE, "not-acceptable", 406, "Not acceptable",                             \
      "This route can produce none of the formats in Accept.")                                     \
    X(PROBLEM_REQUEST_TIMEOUT, "request-timeout", 408, "Request timeout",                          \
      "The request did not arrive in time.")                                                       \
    X(PROBLEM_CONFLICT, "conflict", 409, "Conflict", "The state of the resource forbids this.")    \
    X(PROBLEM_IN_USE, "in-use", 409, "In use",                                                     \
      "A queued or running job uses it. Cancel the job or wait until it has ended.")               \
    X(PROBLEM_KEY_IN_USE, "idempotency-key-in-use", 409, "Idempotency-Key in use",                 \
      "A request with the same Idempotency-Key is in progress. Send it again later to get its "    \
      "answer.")                                                                                   \
    X(PROBLEM_LENGTH_REQUIRED, "length-required", 411, "Length required",                          \
      "The request needs a Content-Length or chunked encoding.")                                   \
    X(PROBLEM_PRECONDITION_FAILED, "precondition-failed", 412, "Precondition failed",              \
      "If-Match or If-None-Match does not hold for the current version.")                          \
    X(PROBLEM_BODY_TOO_LARGE, "body-too-large", 413, "Body too large",                             \
      "The body is larger than this route allows; the detail gives the limit and the option that " \
      "sets it.")                                                                                  \
    X(PROBLEM_ANSWER_TOO_LONG, "answer-too-long", 413, "Answer too long",                          \
      "The answer would hold more numbers than one answer may, or more bytes than --max-spool "    \
      "allows. Send the instances in parts, or ask for less of each.")                             \
    X(PROBLEM_URI_TOO_LONG, "uri-too-long", 414, "URI too long",                                   \
      "The request line is longer than 16 KiB.")                                                   \
    X(PROBLEM_UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", 415, "Unsupported media type",     \
      "This route does not accept the body's Content-Type or Content-Encoding.")                   \
    X(PROBLEM_EXPECTATION_FAILED, "expectation-failed", 417, "Expectation failed",                 \
      "Only Expect: 100-continue is supported.")                                                   \
    X(PROBLEM_MISDIRECTED, "misdirected", 421, "Misdirected request",                              \
      "The daemon does not answer for this Host. Start it with --allowed-host to add a host.")     \
    X(PROBLEM_INVALID, "invalid", 422, "Invalid content",                                          \
      "The body is well-formed but violates rules; errors lists each fault and its location.")     \
    X(PROBLEM_KEY_REUSED, "idempotency-key-reused", 422, "Idempotency-Key reused",                 \
      "The Idempotency-Key was used for another request in the last 24 hours. Use a new key for "  \
      "each request; a repetition must have the same method, path, query and body.")               \
    X(PROBLEM_INVALID_DATASET, "invalid-dataset", 422, "Invalid dataset",                          \
      "The table cannot be read; errors lists the faults with line and column.")                   \
    X(PROBLEM_INVALID_INSTANCES, "invalid-instances", 422, "Invalid instances",                    \
      "An instance does not fit the model; errors name the row and the column.")                   \
    X(PROBLEM_UNTRAINABLE, "untrainable", 422, "Data cannot be trained on",                        \
      "The job cannot use the dataset: it has only one class, no usable row, too many classes…")   \
    X(PROBLEM_TOO_MANY_REQUESTS, "too-many-requests", 429, "Too many requests",                    \
      "Too many connections from this address, or too many requests, rows, heavy calls or jobs "   \
      "of "                                                                                        \
      "this token. Retry-After says when to try again; GET /v1/limits shows limits and use.")      \
    X(PROBLEM_HEADERS_TOO_LARGE, "headers-too-large", 431, "Request header fields too large",      \
      "The header is larger than 12 KiB or has more than 100 fields.")                             \
    X(PROBLEM_INTERNAL, "internal", 500, "Internal error",                                         \
      "A defect of the daemon. The log has details under this request id.")                        \
    X(PROBLEM_NOT_IMPLEMENTED, "not-implemented", 501, "Unknown method",                           \
      "The daemon does not know this method.")                                                     \
    X(PROBLEM_UNAVAILABLE, "unavailable", 503, "Unavailable",                                      \
      "The daemon is starting, draining or at a limit: of connections, memory or waiting jobs; "   \
      "or its database cannot be written. "                                                        \
      "Retry-After says when to try again.")                                                       \
    X(PROBLEM_STORAGE_FULL, "storage-full", 507, "Storage full",                                   \
      "The disk of the database, or of --spool-dir, is full; nothing was stored.")                 \
    X(PROBLEM_QUOTA_EXCEEDED, "quota-exceeded", 507, "Quota exceeded",                             \
      "The token would store more bytes of datasets and models than it may; nothing was stored. "  \
      "Delete what is not needed. GET /v1/limits shows limits and use.")                           \
    X(PROBLEM_JOB_CRASHED, "job-crashed", 500, "Job crashed",                                      \
      "The daemon, or a rank of the training, ended while it ran this job, as often as "           \
      "--job-attempts allows.")                                                                    \
    X(PROBLEM_JOB_RANKS, "job-ranks", 500, "Ranks not started",                                    \
      "The command of --mpi has not started the ranks of the job; the detail has what it wrote.")  \
    X(PROBLEM_JOB_TIME, "job-time-limit", 422, "Time limit reached",                               \
      "The job ran longer than limits.seconds allows.")                                            \
    X(PROBLEM_JOB_MEMORY, "job-memory-limit", 422, "Memory limit reached",                         \
      "The job needs more memory than limits.memory_mib allows.")                                  \
    X(PROBLEM_JOB_NUMERIC, "job-numeric", 422, "Numerical failure",                                \
      "The arithmetic left the finite numbers; the detail names the iteration and the likely "     \
      "cause.")

enum problem_type {
    PROBLEM_NONE = 0,
#define X(code, name, status, title, meaning) code,
    PROBLEM_LIST(X)
#undef X
        PROBLEM_COUNT
};

#define PROBLEM_MAX_ERRORS 100 /* further faults are counted, but not listed */

/* One fault: its place is either a JSON pointer, or a line and a column of a text body. */
struct problem_error {
    char *pointer;  /* NULL: none */
    int64_t line;   /* from 1; 0: none */
    int64_t column; /* from 1; 0: none */
    char *detail;
};

/* {0} means "no problem". The first problem is kept: problem_set has no effect if a problem is set
 * already. Used by one thread at a time. */
struct problem {
    enum problem_type type;
    char *detail;                 /* NULL if out of memory */
    struct problem_error *errors; /* [n_errors] list of faults */
    size_t n_errors;
    size_t n_dropped; /* number of faults beyond PROBLEM_MAX_ERRORS */
    /* set by store functions: the stored data are damaged, so a retry would fail too */
    bool permanent;
    /* set by store functions: the database cannot be reached; a retry may succeed when it can */
    bool lost;
};

const char *problem_name(enum problem_type type);
int problem_status(enum problem_type type);
const char *problem_title(enum problem_type type);
const char *problem_meaning(enum problem_type type);
bool problem_find(const char *name, enum problem_type *out);

/* The functions that set a problem return false, so that the caller can write `return
 * problem_set(p, PROBLEM_INVALID, "…")`. p must not be NULL. Invalid UTF-8 in the text is
 * replaced. */
bool problem_set(struct problem *p, enum problem_type type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Like problem_set, for a failure that would occur again in a retry. */
bool problem_set_permanent(struct problem *p, enum problem_type type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets PROBLEM_UNAVAILABLE and `lost`. */
bool problem_set_lost(struct problem *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Sets PROBLEM_UNAVAILABLE, "out of memory". */
bool problem_no_memory(struct problem *p);
/* Add a fault. If no problem is set yet, they set the type, and a detail that contains this fault
 * and its place. If a problem of another type is set, they add nothing. Details are truncated to
 * 4,000 bytes, texts of faults and pointers to 1,000. pointer: RFC 6901, made by the caller
 * (json_pointer in base/json/json.h). */
bool problem_add(struct problem *p, enum problem_type type, const char *pointer, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));
bool problem_add_line(struct problem *p, enum problem_type type, int64_t line, int64_t column,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));
void problem_done(struct problem *p); /* frees the memory and sets {0} */
/* Copies type, detail, `permanent` and `lost` of `from`, but not its list of faults: to report one
 * failure to several callers. */
void problem_copy(struct problem *to, const struct problem *from);
/* `to` must be {0}; `from` becomes {0} */
void problem_move(struct problem *to, struct problem *from);
/* Appends the problem document.
 *
 *   base_path   put before the link in "type"; "" for a document that is stored:
 *               problem_put_stored adds the path when the document is sent
 *   request_id  NULL: none */
void problem_write(const struct problem *p, const char *base_path, const char *request_id,
                   struct buf *out);
/* Writes the member "type" of a problem document: the link BASE_PATH/problems/NAME. */
void problem_put_type(struct json_writer *w, const char *base_path, enum problem_type type);
/* Writes the member "error": a stored problem document, with the base path put before its link.
 * document: as problem_write wrote it; NULL is written as null. */
void problem_put_stored(struct json_writer *w, const char *base_path, const char *document);

#endif
