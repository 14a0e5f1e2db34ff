/* Asking a daemon: libcurl for requests as clients send them, a bare socket for those no library
 * would send. */
#ifndef TESTS_API_CLIENT_H
#define TESTS_API_CLIENT_H

#include "lib/daemon.h"

#include <jansson.h>
#include <stddef.h>

/* An answer. `json` is the parsed body where it is JSON. Free with answer_done. */
struct answer {
    long status; /* 0: none came */
    char *body;
    size_t size;
    char *head;   /* header lines of the last response */
    json_t *json; /* NULL: none */
};
void answer_done(struct answer *a);
/* The value of a header of the answer, without spaces around it; NULL: none. In a buffer of the
 * call's, 8 of them in turn. */
const char *answer_header(const struct answer *a, const char *name);
/* json at a dotted path: "result.metrics.train.accuracy", "items.0.name", "" the whole. NULL:
 * nothing there. */
json_t *at(const json_t *json, const char *path);
/* These fail the test when nothing of the type is there. */
double number_at(const json_t *json, const char *path);
const char *text_at(const json_t *json, const char *path);
bool is_null_at(const json_t *json, const char *path);
void expect_near(double value, double expected,
                 double tolerance); /* |value - expected| <= tolerance */

/* A request. headers: "Name: value" lines, NULL-terminated, or NULL. body NULL: none. Fails the
 * test when no answer comes. */
struct answer ask(const struct daemon *d, const char *method, const char *path,
                  const char *const *headers, const void *body, size_t size);
struct answer get(const struct daemon *d, const char *path);
struct answer get_with(const struct daemon *d, const char *path, const char *header);
struct answer send_text(const struct daemon *d, const char *method, const char *path,
                        const char *body); /* as curl -d: says no useful content type */
struct answer send_typed(const struct daemon *d, const char *method, const char *path,
                         const char *type, const char *body);
/* PUT of a file from tests/data (or a path). */
struct answer put_file(const struct daemon *d, const char *path, const char *file);
struct answer put_text(const struct daemon *d, const char *path, const char *body);

/* The answer is this problem: status, type, content type, all members there; it is freed. */
void expect_problem(struct answer a, long status, const char *name);
/* … and one of its errors has this pointer (or, pointer NULL, this line), and a detail that
 * contains `words`. */
void expect_fault(struct answer a, long status, const char *name, const char *pointer,
                  const char *words);
void expect_status(struct answer a, long status); /* freed */

/* Uploads tests/data/<name>.csv as dataset <name>. */
void upload(const struct daemon *d, const char *name);
/* Posts the job and waits for its end; the job object (the caller decrefs). Fails the test unless
 * the state is as expected. */
json_t *train(const struct daemon *d, const char *body, const char *state);

/* ---- a bare connection ---- */
int bare_open(const struct daemon *d);
void bare_send(int fd, const void *bytes,
               size_t n); /* a connection that the server closed is no failure */
void bare_text(int fd, const char *text);
/* All that comes until the server closes, at most `ms` of silence; NUL-terminated, the caller
 * frees. *closed: the server closed (false: silence). */
char *bare_read(int fd, long ms, bool *closed);
/* Appends to the text what comes until it has the words; fails the test when the stream ends
 * before. */
void bare_until(int fd, char *text, size_t size, const char *words);
/* Status of the first response in the text, 0: none. */
int bare_status(const char *text);
/* Sends, reads to the end (asserts that it comes), returns the text; the connection is closed. */
char *bare_exchange(const struct daemon *d, const char *request);

#endif
