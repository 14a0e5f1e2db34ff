/* What the longer black-box tests share, on top of daemon.h: one daemon a program, a client that is
 * as polite as curl and one that is not, looking at answers, recomputing what the daemon says.
 *
 * A test has nothing to clean up: answers and texts live until it ends (test_end frees them). */
#ifndef TESTS_API_SUPPORT_H
#define TESTS_API_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon.h"

#include <curl/curl.h>
#include <jansson.h>

/* Memory and time are not those of the product. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

/* ---- the daemon (service.c) ---- */
extern struct daemon the_daemon;
/* A new daemon on an empty database, after the end of the one before. flags: further ones, ending
 * in NULL, that stay; NULL: none. */
void service_start(const char *const *flags);
void service_restart(const char *const *flags); /* again, on the same database, on another port */
void service_stop(void); /* SIGTERM; fails the test unless it ends with exit 0 */
/* Stops it if it runs, holds the database to database_check, removes the folder. */
void service_end(void);
/* PRAGMA integrity_check and foreign_key_check; every version is whole and every chunk belongs to
 * something. The daemon must not run. */
void database_check(void);
const char *service_log(void); /* all that it has written to stderr since its first start */
/* Runs discernd to its end (a minute at most): the exit code, minus the signal. *out: what it
 * wrote. */
int discernd_run(const char *const *arguments, const char **out);

/* Fixtures. After each test the daemon, if the test left one, must be alive. */
int group_start(void **state); /* a daemon without further flags */
int group_end(void **state);
int test_end(void **state);
#define TEST(function) cmocka_unit_test_teardown(function, test_end)
#define RUN(tests) cmocka_run_group_tests(tests, group_start, group_end)
#define RUN_WITHOUT_DAEMON(tests)                                                                  \
    cmocka_run_group_tests(tests, NULL, group_end) /* tests start what they need */
#define FLAGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- memory that lives until the test ends (memory.c). Any thread ---- */
void *keep(void *memory, void (*release)(void *)); /* returns memory */
void keep_free(void);
char *vtext(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *quoted(const char *format, ...)
    __attribute__((format(printf, 1,
                          2))); /* each ' becomes ": JSON that can be read in a C string */
const char *read_whole(const char *path,
                       size_t *size); /* a file; fails the test when it is not there */
const char *repeat(const char *piece, size_t times);
double now(void); /* monotonic seconds: for waiting, never for judging speed */
void pause_ms(int milliseconds);

/* ---- a client like curl (call.c) ---- */
struct response {
    int status;       /* 0: no answer came */
    const char *head; /* status line and headers, "" if none came */
    const char *body; /* NUL-terminated, never NULL */
    size_t size;      /* of the body */
    json_t *json;     /* the body of a JSON answer; NULL: it is none */
    bool closed;      /* talk: the daemon closed the connection */
    bool reset;       /* … by a reset */
    CURLcode code;    /* call */
};

struct request {
    const char *method;
    const char *path;
    const char *const *headers; /* "Name: value", ending in NULL; NULL: none. "Name:" removes one
                                   that curl would send */
    const char *body;           /* NULL: none */
    size_t size;                /* of the body; 0: its strlen */
    bool upload; /* as curl -T does: no Content-Type. Otherwise as curl -d: a form's, unless headers
                    have another */
    bool chunked;      /* with upload: of unknown length */
    const char *until; /* ends the transfer, with what has come, once the body holds this text */
    double seconds;    /* most it may take; 0: 280 */
};
/* Never fails the test: may be called on any thread. */
const struct response *call(const struct request *request);
/* These fail the test when no answer comes. Paths and JSON are formats; JSON as in quoted(). */
const struct response *call_get(const char *path, ...) __attribute__((format(printf, 1, 2)));
const struct response *call_get_with(const char *header, const char *path, ...)
    __attribute__((format(printf, 2, 3)));
const struct response *call_delete(const char *path, ...) __attribute__((format(printf, 1, 2)));
const struct response *call_json(const char *method, const char *path, const char *json, ...)
    __attribute__((format(printf, 3, 4)));
#define call_post(...) call_json("POST", __VA_ARGS__)
#define call_put(...) call_json("PUT", __VA_ARGS__)
#define call_patch(...) call_json("PATCH", __VA_ARGS__)
const struct response *call_upload(const char *path, const char *body); /* PUT as curl -T */
/* PUT of bytes with a further header or NULL; size 0: strlen. */
const struct response *call_upload_bytes(const char *path, const char *body, size_t size,
                                         const char *extra);
const struct response *
upload_file(const char *dataset, const char *file); /* of tests/data, or a path; must answer 201 */
#define HEADERS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- a client without manners (talk.c). Any thread ---- */
int talk_open(void); /* a connection to the daemon; −1: none */
/* Sends all, reads until the daemon closes the connection or `seconds` are over. The first answer
 * is taken apart. fd stays open. */
const struct response *talk(int fd, const void *bytes, size_t size, double seconds);
const struct response *
talk_once(const void *bytes, size_t size); /* on a connection of its own, for a minute at most */
const struct response *talk_text(const char *format, ...)
    __attribute__((format(printf, 1, 2))); /* … as text; begin with request line and Host */
const struct response *talk_parse(const char *bytes, size_t size); /* status 0: not an answer */

/* ---- looking at answers (check.c) ---- */
const char *header_of(const struct response *r,
                      const char *name);                    /* its value; NULL: there is none */
json_t *json_find(const json_t *root, const char *pointer); /* RFC 6901; NULL: nothing there */

/* All return r and fail the test with what the answer was. */
#define status_check(r, status_) status_check_at(r, status_, __FILE__, __LINE__)
/* The status, application/problem+json, and the members that every problem has. type:
 * "unknown-dataset"; NULL: any. */
#define problem_check(r, status_, type) problem_check_at(r, status_, type, __FILE__, __LINE__)
/* … and one of its errors has this pointer, or this "line 3". */
#define fault_check(r, place) fault_check_at(r, place, __FILE__, __LINE__)
#define value_at(r, pointer)                                                                       \
    value_at_at(r, pointer, __FILE__, __LINE__) /* the JSON value there: it must be there */
#define string_at(r, pointer) string_at_at(r, pointer, __FILE__, __LINE__) /* … a string */
#define real_at(r, pointer) real_at_at(r, pointer, __FILE__, __LINE__)     /* … a number */
#define whole_at(r, pointer) ((int64_t)real_at(r, pointer))
#define count_at(r, pointer) json_array_size(value_at(r, pointer))
#define has(r, pointer) (json_find((r)->json, pointer) != NULL)
#define assert_close(a, b, relative) close_check(a, b, relative, __FILE__, __LINE__)
#define assert_json(r, pointer, expected)                                                          \
    json_check(value_at(r, pointer), quoted(expected), __FILE__, __LINE__)
const struct response *status_check_at(const struct response *r, int status, const char *file,
                                       int line);
const struct response *problem_check_at(const struct response *r, int status, const char *type,
                                        const char *file, int line);
const struct response *fault_check_at(const struct response *r, const char *place, const char *file,
                                      int line);
json_t *value_at_at(const struct response *r, const char *pointer, const char *file, int line);
const char *string_at_at(const struct response *r, const char *pointer, const char *file, int line);
double real_at_at(const struct response *r, const char *pointer, const char *file, int line);
void close_check(double a, double b, double relative, const char *file, int line);
void json_check(const json_t *value, const char *expected, const char *file, int line);
double metric_value(const char *series); /* of /metrics, named with its labels; NAN: not there */
void metric_falls_to_zero(
    const char *series); /* in half a minute: what a call has held is given back when it has ended,
                            which is after its answer, and after its files are closed */

/* ---- jobs (check.c). A spec is JSON as in quoted() ---- */
int64_t job_post(const char *spec, ...)
    __attribute__((format(printf, 1, 2)));   /* must be accepted: its id */
const struct response *job_wait(int64_t id); /* the job once it has ended */
const struct response *job_wait_state(int64_t id,
                                      const char *state); /* … once it is in this state */
const struct response *job_train(const char *spec, ...)
    __attribute__((format(printf, 1, 2))); /* must succeed: the job */
/* A job that would run for hours if nobody stopped it. Dataset "digits" must be there. */
int64_t job_endless(const char *model);

/* ---- a table of tests/data, for recomputing what the daemon says (table.c) ---- */
struct table {
    size_t n_rows,
        n_cols;         /* n_cols: the numeric columns; the last column of the file is the label */
    const char **names; /* [n_cols + 1] */
    double *x;          /* [n_rows × n_cols] */
    const char **label; /* [n_rows] */
    double *mean, *std; /* [n_cols]: divisor n */
    const char **classes; /* [n_classes] ascending: numbers by value, strings by bytes */
    size_t n_classes;
    size_t *y; /* [n_rows]: index of the class */
};
const struct table *table_read(const char *path);

#endif
